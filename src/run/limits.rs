//! What a value cannot exceed, with where that comes from.

use crate::engine::Work;
use crate::experiments::Bound;
use crate::results::{HostFacts, Limit};
use crate::units::{BytesPerSecond, Hertz};

/// The error of a limit that rests on the core clock.
const CLOCK_ERROR: f64 = 1.03;

/// What is asked: the bound of a work on a machine.
pub(super) struct Question<'a> {
    pub bound: Bound,
    pub facts: &'a HostFacts,
    pub work: &'a Work,
    /// What the user says that the memory carries.
    pub memory: Option<BytesPerSecond>,
}

impl Question<'_> {
    /// The answer at a core clock; `None` where it is not known.
    pub(super) fn limit(&self, core: Option<Hertz>) -> Option<Limit> {
        match self.bound {
            Bound::Unknown => None,
            Bound::L1Ports => self.ports(core?),
            Bound::Memory => self.memory(),
        }
    }

    /// Loads and stores go through different ports at the same time; the slower direction decides.
    fn ports(&self, core: Hertz) -> Option<Limit> {
        let ports = self.facts.cpu.l1_ports.get()?;
        let Work::Stream(stream) = self.work else { return None };
        let contract = stream.operation.contract();
        let cycles = |streams: u32, width: u32| f64::from(streams) / f64::from(width.max(1));
        let per_byte = cycles(contract.loads, ports.load_bytes).max(cycles(contract.stores, ports.store_bytes));
        let threads = stream.cpus.len();
        let bytes_per_cycle = contract.payload_factor() as f64 / per_byte * threads as f64;
        let source = format!("{core} x {bytes_per_cycle:.0} B that {threads} core(s) pass to and from L1 per cycle");
        Some(Limit { value: core.0 * bytes_per_cycle, source, tolerance: CLOCK_ERROR })
    }

    /// Every payload byte crosses the memory bus, but those that the last caches hold from one pass to the next.
    fn memory(&self) -> Option<Limit> {
        let modules = &self.facts.memory.bus;
        let (peak, source) = match (self.memory, modules.get()) {
            (Some(peak), _) => (peak, "--dram-peak"),
            (None, Some(bus)) => (bus.peak, modules.source.as_str()),
            (None, None) => return None,
        };
        let cached = self.facts.topology.last_level_total(self.work.cpus()).0 as f64;
        let held = (cached / (self.work.working_set().0 as f64).max(1.0)).min(0.9);
        Some(Limit { value: peak.0, source: format!("the memory's {peak} ({source})"), tolerance: 1.0 / (1.0 - held) })
    }
}
