//! Computes the time of a round trip of a cache line between two CPUs of the simulated machine.

use report::Relation;
use units::Nanos;

/// Times of a round trip of a cache line between two CPUs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HandOffCost {
    /// Round trip between hardware threads of a core.
    pub same_core: Nanos,
    /// Round trip through a shared second-level cache.
    pub shared_l2: Nanos,
    /// Round trip through any other shared cache.
    pub shared_last: Nanos,
    /// Round trip within a package, or if the topology is unknown.
    pub same_package: Nanos,
    /// Round trip between packages.
    pub cross_package: Nanos,
    /// Groups of consecutive CPUs that the topology does not show: number of CPUs in a group, and
    /// round trip inside a group. `None` if there are no such groups.
    pub hidden: Option<(u32, Nanos)>,
    /// Factor on the time of round trips that the CPU with the higher number starts.
    pub asymmetry: f64,
}

impl Default for HandOffCost {
    /// Typical values of servers.
    fn default() -> Self {
        Self {
            same_core: Nanos(16.0),
            shared_l2: Nanos(40.0),
            shared_last: Nanos(80.0),
            same_package: Nanos(200.0),
            cross_package: Nanos(400.0),
            hidden: None,
            asymmetry: 1.0,
        }
    }
}

impl HandOffCost {
    /// Time of a round trip that `from` starts; it is the same for every kernel.
    pub(super) fn round_trip(&self, relation: Relation, from: u32, to: u32) -> Nanos {
        let hidden = self
            .hidden
            .filter(|(count, _)| from / (*count).max(1) == to / (*count).max(1));
        let one = match (relation, hidden) {
            (Relation::SameCore, _) => self.same_core,
            (_, Some((_, one))) => one,
            (Relation::SharedCache(2), _) => self.shared_l2,
            (Relation::SharedCache(_), _) => self.shared_last,
            (Relation::SamePackage | Relation::Unknown, _) => self.same_package,
            (Relation::CrossPackage, _) => self.cross_package,
        };
        one * if from > to { self.asymmetry } else { 1.0 }
    }
}
