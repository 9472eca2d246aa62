//! The points of the experiment: chases on one CPU in one kind of pages.

use crate::chains::{named, packed_window};
use crate::coordinates::{coordinates, name, number};
use crate::experiment::{Bound, Draft, Scope};
use engine::{ChainShape, ChaseWork, Work};
use host::memory::PageMode;
use kernels::chase_name;
use stats::derive;
use units::Bytes;

/// Chains over working sets of rising size, as an operation.
pub const SWEEP: &str = "sweep";

/// Pairs of nodes at a distance.
pub const PAIR: &str = "pair";

/// Nodes one stride after the other, and the same ones in random order.
pub const STRIDE: &str = "stride";

/// Few nodes at a stride that puts them into one set.
pub const WAYS: &str = "ways";

/// A chase through most of a cache, alone and next to another CPU that goes through as much.
pub const SHARED: &str = "shared";

/// Window of chains in huge pages. It has 32 small pages, in case the host backs a huge page with
/// small ones: fewer than a first-level TLB has entries.
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
    /// The order in which to go through a large working set: all of a few pages before the next, so
    /// that TLBs hardly show. A virtual machine's huge pages may be small ones of the host, whose
    /// search shows where a window has more than the TLB.
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

    /// A working set of this size; `pass` 0 to discover, 1 to refine.
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
        // Early questions are needed most, and among them small working sets.
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
