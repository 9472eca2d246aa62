//! Points of the experiment: chains on one CPU in one kind of pages.

use crate::chains::{named, packed_window};
use crate::coordinates::{coordinates, name, number};
use crate::experiment::{Bound, Draft, Scope};
use engine::{ChainShape, ChaseWork, Work};
use host::memory::PageMode;
use kernels::chase_name;
use stats::derive;
use units::Bytes;

/// Operation: chains over working sets of rising size.
pub const SWEEP: &str = "sweep";

/// Operation: pairs of nodes at a given distance.
pub const PAIR: &str = "pair";

/// Operation: nodes one stride apart, by rising address or in random order.
pub const STRIDE: &str = "stride";

/// Operation: few nodes at a stride that puts them into one cache set.
pub const WAYS: &str = "ways";

/// Operation: a chain through most of a cache, alone or while another CPU reads as much.
pub const SHARED: &str = "shared";

/// Window of chains in huge pages: memory that a chain visits completely before it goes on. The
/// host may back a huge page with base pages. The window then spans 32 base pages, fewer than the
/// entries of a first-level TLB.
const WINDOW: Bytes = Bytes(128 << 10);

/// CPU and pages of one curve.
#[derive(Debug, Clone, Copy)]
pub struct SweptCpu {
    pub cpu: u32,
    pub pages: PageMode,
    pub line: Bytes,
    pub base: Bytes,
    pub huge: Bytes,
    /// The largest working set.
    pub most: Bytes,
    pub seed: u64,
}

impl SweptCpu {
    /// Order in which a chain visits a large working set: all lines of a few pages before the next
    /// pages. TLB misses then hardly show. A host may back huge pages with small pages, so a TLB
    /// must cover the window even then.
    pub fn order(&self) -> ChainShape {
        match self.pages {
            PageMode::Base => ChainShape::RandomBox(packed_window(self.base)),
            _ => ChainShape::RandomBox(WINDOW),
        }
    }

    pub fn chase(
        &self,
        operation: &str,
        bytes: Bytes,
        stride: Bytes,
        shape: ChainShape,
    ) -> ChaseWork {
        let seed = derive(self.seed, operation, bytes.0 ^ (stride.0 << 48));
        let SweptCpu { cpu, pages, .. } = *self;
        ChaseWork {
            pages,
            cpus: vec![cpu],
            shared: false,
            bytes,
            stride,
            shape,
            seed,
            walkers: 1,
            payload: false,
            node: None,
        }
    }

    /// Point of the sweep with a working set of size `size`. Pass 0 discovers levels, pass 1
    /// refines their ends.
    pub fn sweep(&self, scope: &Scope<'_>, size: Bytes, pass: u64) -> Draft {
        let work = self.chase(SWEEP, size, self.line, self.order());
        self.draft(scope, SWEEP, work, &[("pass", pass)])
    }

    pub fn draft(
        &self,
        scope: &Scope<'_>,
        operation: &str,
        work: ChaseWork,
        more: &[(&str, u64)],
    ) -> Draft {
        let mode = named(work.shape).0;
        let mut coordinates = coordinates([
            ("operation", name(operation)),
            ("kernel", name(chase_name(1, false))),
            ("pages", name(self.pages)),
            ("chain_mode", name(mode)),
            ("size_bytes", number(work.bytes.0)),
            ("stride_bytes", number(work.stride.0)),
            ("threads", number(1u64)),
            ("cpu", number(self.cpu)),
        ]);
        coordinates.extend(
            more.iter()
                .map(|(axis, amount)| ((*axis).to_owned(), number(*amount))),
        );
        // The sweep is needed most, and its small working sets most of all. These points have the
        // lowest drop priority.
        let rank = [SWEEP, PAIR, STRIDE, WAYS, SHARED]
            .iter()
            .position(|o| *o == operation)
            .unwrap_or(0)
            .min(1) as u8;
        let drop_priority = 2 + 64 * rank + work.bytes.0.max(1).ilog2() as u8;
        let no_room = scope.no_room(work.slot(), work.bytes);
        let work = scope
            .runnable(Work::Chase(work))
            .and_then(|work| no_room.map_or(Ok(work), Err));
        Draft {
            coordinates,
            work,
            bound: Bound::Unknown,
            drop_priority,
        }
    }
}
