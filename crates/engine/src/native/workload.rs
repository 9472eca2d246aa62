//! Works of the real machine in the form that is sampled. Each has a function that executes blocks
//! of a thread's share, and the amount of work in a block.

use crate::machine::{LONGEST_PREFILL, PREFILL_PASSES};
use crate::native::timed_sample::{Blocks, Run};
use crate::work::StreamWork;
use host::counter;
use host::memory::{PageReading, Window};
use kernels::{
    BLOCK_BYTES, Chain, IndexTable, InstructionKernel, LockKernel, Scratch, SharedLine,
    StreamKernel, StreamWalk, Walk, hops_per_block,
};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use units::error::Result;

/// Threads that stream through windows of their own.
#[derive(Debug)]
pub struct StreamRun {
    kernel: StreamKernel,
    shares: Vec<StreamShare>,
    distance: u64,
}

/// One thread's share of a streaming work: its memory and its position.
#[derive(Debug)]
pub struct StreamShare {
    /// Memory of the streams of the thread.
    pub window: Window,
    /// Order of the pieces of the streams, for kernels that follow an index table; `None` for other
    /// kernels.
    pub table: Option<IndexTable>,
    /// Offset at which the thread stopped and the next sample continues.
    offset: AtomicUsize,
}

impl StreamShare {
    /// The share of one thread of `work`, with its streams in `window`. If there is a `table`, the
    /// index table is built in this memory. If `fills`, doubles are written to the window first.
    pub fn new(
        work: &StreamWork,
        window: Window,
        table: Option<Window>,
        fills: bool,
    ) -> Result<Self> {
        let visits = work.contract().visits;
        let stream = work.stream_bytes();
        let table = match (&work.order, table) {
            (Some(order), Some(memory)) => Some(IndexTable::new(
                memory,
                visits,
                stream,
                order.pieces(visits, stream),
            )?),
            _ => None,
        };
        if fills {
            fill_with_numbers(&window);
        }
        Ok(Self {
            window,
            table,
            offset: AtomicUsize::new(0),
        })
    }

    fn walk(&self, kernel: &StreamKernel) -> Result<StreamWalk<'_>> {
        let all: Range<usize> = 0..self.window.len();
        match &self.table {
            Some(table) => StreamWalk::by_table(kernel.contract(), &self.window, all, table),
            None => StreamWalk::new(kernel.contract(), &self.window, all),
        }
    }
}

/// Writes doubles from 1 to 2 to the window. Other bits may be NaN or denormal numbers, and
/// processors may take 100 cycles for each of them.
fn fill_with_numbers(window: &Window) {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    for (i, word) in window.words().iter().enumerate() {
        word.store(
            1.0f64.to_bits() | (i as u64).wrapping_mul(SPREAD) >> 12,
            Ordering::Relaxed,
        );
    }
}

impl StreamRun {
    /// A work with one thread for each of `shares`. Kernels that prefetch do so `distance` bytes
    /// ahead of their loads.
    pub fn new(kernel: StreamKernel, shares: Vec<StreamShare>, distance: u64) -> Self {
        Self {
            kernel,
            shares,
            distance,
        }
    }

    /// Makes the next sample begin after `share` (0 to 1) of a pass over each window.
    pub fn start_at(&self, share: f64) {
        for one in &self.shares {
            if let Ok(mut walk) = one.walk(&self.kernel) {
                walk.start_at(share);
                one.offset.store(walk.offset(), Ordering::Relaxed);
            }
        }
    }

    /// Share (0 to 1) of the current pass over memory that the first thread has already done.
    pub fn share(&self) -> f64 {
        let Some(Ok(mut walk)) = self.shares.first().map(|one| one.walk(&self.kernel)) else {
            return 0.0;
        };
        walk.resume_at(self.shares[0].offset.load(Ordering::Relaxed));
        walk.share()
    }

    /// Page evidence of each window.
    pub fn inspect(&self, node_samples: usize) -> Vec<PageReading> {
        self.shares
            .iter()
            .map(|share| share.window.inspect(node_samples))
            .collect()
    }
}

impl Run for StreamRun {
    fn amount_per_block(&self) -> u64 {
        BLOCK_BYTES * self.kernel.contract().payload_factor()
    }

    fn with_share(&self, index: usize, measure: &mut dyn FnMut(&mut Blocks<'_>)) {
        let share = &self.shares[index];
        // The planner rounds sizes to whole blocks, so there always is a walk. Without a walk,
        // nothing would be measured, and the sample would fail for lack of a common window.
        if let Ok(mut walk) = share.walk(&self.kernel) {
            walk.set_distance(self.distance);
            walk.resume_at(share.offset.load(Ordering::Relaxed));
            measure(&mut |blocks| self.kernel.run(&mut walk, blocks));
            share.offset.store(walk.offset(), Ordering::Relaxed);
        }
    }
}

/// Threads with one or several walkers each, on separate chains or on a shared chain.
#[derive(Debug)]
pub struct ChaseRun {
    chains: Vec<Arc<Chain>>,
    /// Walk of each thread. Only that thread locks it.
    walks: Vec<Mutex<Walk>>,
    /// Number of walkers in each thread.
    walkers: usize,
}

impl ChaseRun {
    /// A chase with one thread for each of `walks`. The walks go through `chains`.
    pub fn new(chains: Vec<Arc<Chain>>, walks: Vec<Walk>) -> Self {
        let walkers = walks.first().map_or(1, |walk| walk.walkers().count());
        Self {
            chains,
            walks: walks.into_iter().map(Mutex::new).collect(),
            walkers,
        }
    }

    /// Page sizes and NUMA nodes of the memory of each chain, as the system reports them.
    pub fn inspect(&self, node_samples: usize) -> Vec<PageReading> {
        self.chains
            .iter()
            .map(|chain| chain.inspect(node_samples))
            .collect()
    }

    /// Loads all nodes of the chain of thread `index` [`PREFILL_PASSES`] times by rising address,
    /// for at most [`LONGEST_PREFILL`]. Some caches protect old lines, so that a new working set
    /// needs several passes. Passes in the order of the chain would take so long that other
    /// programs evict lines meanwhile. Several walkers at once would be fast enough, but load lines
    /// in random order. An L3 of Intel loses such lines within milliseconds, and keeps lines that
    /// were loaded by rising address.
    pub fn fill(&self, index: usize) {
        let Some(chain) = self.chains.get(index).or(self.chains.last()) else {
            return;
        };
        let end = counter::monotonic() + LONGEST_PREFILL;
        for _ in 0..PREFILL_PASSES {
            for first in (0..chain.nodes()).step_by(NODES_OF_A_FILL) {
                if counter::monotonic() >= end {
                    return;
                }
                chain.load(first..first + NODES_OF_A_FILL as u64);
            }
        }
    }
}

/// Number of nodes that a prefill loads between two readings of the clock.
const NODES_OF_A_FILL: usize = 4096;

impl Run for ChaseRun {
    fn amount_per_block(&self) -> u64 {
        hops_per_block(self.walkers)
    }

    fn with_share(&self, index: usize, measure: &mut dyn FnMut(&mut Blocks<'_>)) {
        if let Some(Ok(mut walk)) = self.walks.get(index).map(Mutex::lock) {
            measure(&mut |blocks| {
                walk.walk(blocks);
            });
        }
    }
}

/// One thread that repeats an instruction.
#[derive(Debug)]
pub struct InstructionRun {
    kernel: InstructionKernel,
}

impl InstructionRun {
    /// A work that repeats the instruction of `kernel`.
    pub fn new(kernel: InstructionKernel) -> Self {
        Self { kernel }
    }
}

impl Run for InstructionRun {
    fn amount_per_block(&self) -> u64 {
        self.kernel.per_iteration()
    }

    fn with_share(&self, _index: usize, measure: &mut dyn FnMut(&mut Blocks<'_>)) {
        let mut scratch = Scratch::new();
        measure(&mut |iterations| self.kernel.run(&mut scratch, iterations));
    }
}

/// Threads that repeat an operation, all on one shared cache line or each on its own cache line.
#[derive(Debug)]
pub struct LockRun {
    kernel: LockKernel,
    lines: Vec<SharedLine>,
    inside: u32,
    between: u32,
}

impl LockRun {
    /// Lock work on `lines` cache lines: one line that all threads share, or one line for each
    /// thread.
    pub fn new(kernel: LockKernel, lines: usize, inside: u32, between: u32) -> Self {
        let lines = (0..lines.max(1)).map(|_| SharedLine::default()).collect();
        Self {
            kernel,
            lines,
            inside,
            between,
        }
    }
}

impl Run for LockRun {
    fn amount_per_block(&self) -> u64 {
        1
    }

    fn with_share(&self, index: usize, measure: &mut dyn FnMut(&mut Blocks<'_>)) {
        let line = &self.lines[index % self.lines.len()];
        measure(&mut |iterations| {
            self.kernel.run(line, iterations, self.inside, self.between);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::memory::{Mapping, PageMode};
    use kernels::{self, Operation, Width};
    use units::Bytes;

    #[test]
    fn a_stream_goes_on_where_another_one_stopped_in_the_same_memory() {
        let bytes = Bytes::mib(1);
        let mapping = Mapping::new(bytes, PageMode::Base, Bytes(4096)).unwrap();
        let run = |operation| {
            let work = StreamWork::new(operation, Width::Widest, PageMode::Base, &[0], bytes);
            let window = mapping.take(0..bytes.to_usize()).unwrap();
            let kernel = kernels::select(operation, Width::Widest).unwrap();
            StreamRun::new(
                kernel,
                vec![StreamShare::new(&work, window, None, work.contract().on_doubles()).unwrap()],
                0,
            )
        };
        let first = run(Operation::Read);
        assert_eq!(first.share(), 0.0);
        first.with_share(0, &mut |blocks| blocks(512));
        let share = first.share();
        assert_eq!(share, 0.25);
        drop(first);
        // A copy has two streams, each half as long.
        let second = run(Operation::Copy);
        second.start_at(share);
        assert_eq!(second.share(), 0.25);
        second.with_share(0, &mut |blocks| blocks(256));
        assert_eq!(second.share(), 0.5);
        // The end of a pass is the start of the next one.
        second.start_at(1.0);
        assert_eq!(second.share(), 0.0);
    }
}
