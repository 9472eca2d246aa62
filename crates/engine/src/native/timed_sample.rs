//! One sample on the real machine: every thread times chunks of its work with the raw counter.

use super::{Clock, Team};
pub use crate::machine::BackgroundTraffic;
use crate::machine::{CHUNKS, Chunks, Failure, Gaps, Observation, blocks_of};
use crate::native::common_window::{Stamps, common_window, gap_ticks, parts};
use crate::native::workers::{Member, StartBarrier};
use host::noise::ThreadNoise;
use host::{counter, pin};
use kernels::{CoreReference, REFERENCE_INSTRUCTIONS_PER_BLOCK};
use std::sync::Arc;
use units::{Hertz, Nanos};

/// Largest number of counter readings of a thread in a sample. The thread ends its sample when it
/// has this number of readings.
const MAX_STAMPS: usize = 1024;

/// Length of a sample, in time or in work.
#[derive(Debug, Clone, Copy)]
pub struct Length {
    /// Length in ticks of the raw counter.
    pub ticks: u64,
    /// Number of blocks of independent instructions that are timed for the IPC of the core.
    pub issue_blocks: u64,
    /// Work of a measured thread in each of [`CHUNKS`] chunks, in the unit of
    /// [`Observation::amount`]. `None` if `ticks` determines the length.
    pub chunk: Option<u64>,
}

impl Length {
    /// Length of a sample of `time`. If the raw counter has few ticks per second, more blocks of
    /// independent instructions are timed.
    pub fn new(time: Nanos, clock: &Clock) -> Self {
        let ticks = clock.ticks(ISSUE_TIME);
        Self {
            ticks: clock.ticks(time),
            issue_blocks: ISSUE_BLOCKS * ISSUE_TICKS.div_ceil(ticks).min(LONGEST_ISSUE),
            chunk: None,
        }
    }

    /// Length of a sample with [`CHUNKS`] chunks of `amount` of work each.
    pub fn in_chunks(amount: u64, clock: &Clock) -> Self {
        Self {
            chunk: Some(amount),
            ..Self::new(Nanos::ZERO, clock)
        }
    }
}

/// Function that executes a given number of blocks of a thread's share.
pub type Blocks<'a> = dyn FnMut(u64) + 'a;

/// Work that the threads of a sample execute. Each thread has its own share of the work.
pub trait Run: Send + Sync + 'static {
    /// Amount of one block of the kernel: payload bytes, hops, instructions, operations or round
    /// trips.
    fn amount_per_block(&self) -> u64;

    /// Calls `measure` with a function that executes a given number of blocks of the share of
    /// thread `index`.
    fn with_share(&self, index: usize, measure: &mut dyn FnMut(&mut Blocks<'_>));

    /// Prepares the next sample, before any thread of the sample starts.
    fn begin(&self) {}

    /// True if thread `index` only answers another thread, see [`Run::answer`]. An answering thread
    /// is not timed, because the other thread times their common work.
    fn answers(&self, _index: usize) -> bool {
        false
    }

    /// Answers the timed thread until the sample is over.
    fn answer(&self, _index: usize) {}

    /// Background traffic of one block of thread `index`, counted apart from the measured work;
    /// `None` for a measured thread.
    fn background(&self, _index: usize) -> Option<BackgroundTraffic> {
        None
    }

    /// True if the threads of the last sample did all the work that was timed, so that the sample
    /// is valid.
    fn is_whole(&self) -> bool {
        true
    }
}

/// Number of blocks of dependent additions that measure the core clock before and after each
/// sample. They take about 20 us. The clock is measured around each sample, because the clock of a
/// core may vary by some percent within a round.
const CLOCK_BLOCKS: u64 = 640;

/// Number of blocks of independent instructions that are timed to find SMT interference.
const ISSUE_BLOCKS: u64 = 320;
/// Approximate time of [`ISSUE_BLOCKS`] blocks at an IPC of five.
const ISSUE_TIME: Nanos = Nanos(3e3);

/// The timed independent instructions shall take at least this number of ticks. One tick is then at
/// most half a percent of their time. If the counter has few ticks per second, more blocks are
/// timed.
const ISSUE_TICKS: u64 = 200;
/// Largest factor by which the number of these blocks is raised for such a counter.
const LONGEST_ISSUE: u64 = 8;

/// Ticks of the reference measurements of the core around one sample.
#[derive(Debug, Clone, Copy)]
struct ReferenceReading {
    /// Ticks of the dependent additions: before and after the sample.
    clock: [u64; 2],
    /// Ticks of the independent instructions: after all threads have begun, and after the sample.
    /// With several threads the second value repeats the first value, because other threads may
    /// already have ended after the sample.
    issue: [u64; 2],
    /// Number of blocks of independent instructions that each `issue` value times.
    issue_blocks: u64,
}

impl ReferenceReading {
    /// Core clock according to the dependent additions.
    fn core(&self, clock: &Clock) -> Hertz {
        let cycles = (2 * CLOCK_BLOCKS * REFERENCE_INSTRUCTIONS_PER_BLOCK) as f64;
        Hertz(cycles / clock.nanos(self.clock[0] + self.clock[1]).secs())
    }

    /// IPC of the independent instructions; `None` if they took too few ticks. The length of a core
    /// clock cycle comes from the shorter of the two `clock` values, because nothing interrupted
    /// it.
    fn issue(&self) -> Option<f64> {
        let slower = self.issue[0].max(self.issue[1]);
        let cycle = self.clock[0].min(self.clock[1]) as f64 / CLOCK_BLOCKS as f64;
        (slower >= ISSUE_TICKS / 2 && cycle > 0.0)
            .then(|| cycle * self.issue_blocks as f64 / slower as f64)
    }
}

/// Readings of one thread in one sample.
struct ThreadReadings {
    /// Reference measurements of the core; `None` for a thread that only answered.
    ruled: Option<ReferenceReading>,
    /// Counter readings before, between and after the thread's chunks; `None` for a thread that
    /// only answered.
    stamps: Option<Stamps>,
    noise: Option<ThreadNoise>,
    /// CPU on which the thread was found, see [`Observation::found_on`].
    found_on: Option<u32>,
}

/// Number of tries to take a sample. If the system keeps a thread from its CPU for the whole
/// sample, the threads have no common window. The sample is then tried again, twice as long.
const TRIES: usize = 5;

/// Takes one sample of `run` with a thread on each of `cpus`.
pub fn take<R: Run>(
    team: &Team,
    cpus: &[u32],
    run: &Arc<R>,
    length: Length,
    clock: &Clock,
) -> Result<Observation, Failure> {
    let mut length = length;
    for _ in 0..TRIES {
        if let Some(observation) = take_once(team, cpus, Arc::clone(run), length, clock)? {
            return Ok(observation);
        }
        // The next try is twice as long, so that it outlasts the time slice of the program that had
        // the CPU.
        length.ticks = length.ticks.saturating_mul(2);
    }
    Err(Failure::Failed(format!(
        "the threads were not running at the same time in {TRIES} tries"
    )))
}

/// One try to take a sample; `None` if the threads have no common window.
fn take_once<R: Run>(
    team: &Team,
    cpus: &[u32],
    run: Arc<R>,
    length: Length,
    clock: &Clock,
) -> Result<Option<Observation>, Failure> {
    let timed: Vec<usize> = (0..cpus.len())
        .filter(|&index| !run.answers(index))
        .collect();
    let barrier = StartBarrier::new(timed.len());
    run.begin();
    let shared = Arc::clone(&run);
    let seen = team.run(cpus, move |member| {
        let run = &shared;
        if run.answers(member.index) {
            return Some(answer_untimed(member, || run.answer(member.index)));
        }
        let mut seen = None;
        let chunk = length
            .chunk
            .map(|amount| blocks_of(amount, run.amount_per_block()));
        run.with_share(member.index, &mut |blocks| {
            seen = Some(measure(blocks, member, &barrier, length, chunk))
        });
        seen
    })?;
    let seen: Vec<ThreadReadings> = seen.into_iter().flatten().collect();
    let stamps: Vec<Stamps> = seen.iter().filter_map(|s| s.stamps.clone()).collect();
    let all = stamps.len() == timed.len() && seen.len() == cpus.len() && run.is_whole();
    let common = if all { common_window(&stamps) } else { None };
    let Some(common) = common else {
        return Ok(None);
    };
    let (amount, traffic) = counted(run.as_ref(), &timed, &common.amounts);
    let parts = parts(&stamps)
        .iter()
        .map(|part| counted(run.as_ref(), &timed, &part.amounts).0 / clock.nanos(part.ticks).0)
        .collect();
    let core = seen
        .first()
        .and_then(|s| s.ruled)
        .filter(|r| r.clock[0] + r.clock[1] > 0)
        .map(|r| r.core(clock));
    let issue = seen
        .iter()
        .filter_map(|s| s.ruled)
        .filter_map(|r| r.issue())
        .reduce(f64::min);
    let noise = seen.iter().map(|s| s.noise).collect::<Option<Vec<_>>>();
    let gaps = stamps
        .iter()
        .map(gap_ticks)
        .fold((0, 0), |sum, gap| (sum.0 + gap.0, gap.1.max(sum.1)));
    let chunks = stamps.first().map(|first| Chunks {
        amount: first.chunk.saturating_mul(run.amount_per_block()),
        lengths: first
            .ticks
            .windows(2)
            .map(|pair| clock.nanos(pair[1].saturating_sub(pair[0])))
            .collect(),
    });
    Ok(Some(Observation {
        elapsed: clock.nanos(common.ticks),
        amount: amount.round() as u64,
        traffic,
        noise: noise.map(|all| {
            all.into_iter()
                .fold(ThreadNoise::default(), ThreadNoise::plus)
        }),
        gaps: Gaps {
            total: clock.nanos(gaps.0),
            longest: clock.nanos(gaps.1),
        },
        found_on: seen.iter().map(|s| s.found_on).collect(),
        // The blocks of probe and traffic are different work, so that their ratio has no meaning.
        fairness: traffic.is_none().then(|| common.fairness()),
        chunks: chunks.unwrap_or_default(),
        parts,
        core,
        external: None,
        is_last: false,
        host_moved: false,
        ipc: issue,
        smt_interference: false,
    }))
}

/// Measured amount, and background traffic, of the threads in `timed`. `blocks` has the number of
/// blocks that each of these threads executed.
fn counted<R: Run>(run: &R, timed: &[usize], blocks: &[f64]) -> (f64, Option<BackgroundTraffic>) {
    let mut amount = 0.0;
    let mut traffic = None;
    for (&index, blocks) in timed.iter().zip(blocks) {
        match run.background(index) {
            None => amount += blocks * run.amount_per_block() as f64,
            Some(each) => {
                let sum: &mut BackgroundTraffic = traffic.get_or_insert_default();
                sum.payload += blocks * each.payload;
                sum.bus += blocks * each.bus;
            }
        }
    }
    (amount, traffic)
}

/// Finds the number of blocks in a chunk, waits for the other threads, and times chunks until the
/// sample is long enough. If `chunk` gives this number, one untimed chunk serves as warm-up.
fn measure(
    blocks: &mut Blocks<'_>,
    member: Member,
    barrier: &StartBarrier,
    length: Length,
    chunk: Option<u64>,
) -> ThreadReadings {
    let mut ticks = Vec::with_capacity(MAX_STAMPS);
    let clock_before = reference_ticks(CoreReference::DependentAdds, CLOCK_BLOCKS);
    let fixed = chunk.inspect(|&chunk| blocks(chunk));
    let chunk = fixed.unwrap_or_else(|| blocks_per_chunk(blocks, (length.ticks / CHUNKS).max(1)));
    let before = pin::current_cpu();
    barrier.wait();
    let issue_before = issue_ticks(length.issue_blocks);
    let noise = ThreadNoise::of_this_thread();
    ticks.push(counter::ticks());
    let end = ticks[0].saturating_add(length.ticks);
    let goes_on = |ticks: &[u64]| match fixed {
        Some(_) => ticks.len() as u64 <= CHUNKS,
        None => ticks[ticks.len() - 1] < end && ticks.len() < MAX_STAMPS,
    };
    while goes_on(&ticks) {
        blocks(chunk);
        ticks.push(counter::ticks());
    }
    let noise =
        noise.and_then(|earlier| ThreadNoise::of_this_thread().map(|later| later.since(earlier)));
    let found_on = found_on(before, member);
    let issue_after = if barrier.is_alone() {
        issue_ticks(length.issue_blocks)
    } else {
        issue_before
    };
    let clock = [
        clock_before,
        reference_ticks(CoreReference::DependentAdds, CLOCK_BLOCKS),
    ];
    let ruled = Some(ReferenceReading {
        clock,
        issue: [issue_before, issue_after],
        issue_blocks: length.issue_blocks,
    });
    ThreadReadings {
        ruled,
        stamps: Some(Stamps { ticks, chunk }),
        noise,
        found_on,
    }
}

/// Executes `answer` on a thread that only answers. The thread's context switches do not count,
/// because it begins before the timed part and ends after it. If the thread loses its CPU in
/// between, the timed thread has a gap.
fn answer_untimed(member: Member, answer: impl FnOnce()) -> ThreadReadings {
    let before = pin::current_cpu();
    answer();
    ThreadReadings {
        ruled: None,
        stamps: None,
        noise: Some(ThreadNoise::default()),
        found_on: found_on(before, member),
    }
}

/// CPU on which the thread was found. The result is `before` if this is not the CPU to which the
/// thread is pinned, otherwise the current CPU.
fn found_on(before: Option<u32>, member: Member) -> Option<u32> {
    if before == Some(member.cpu) {
        pin::current_cpu()
    } else {
        before
    }
}

/// Ticks that `blocks` blocks of a reference measurement take now.
fn reference_ticks(reference: CoreReference, blocks: u64) -> u64 {
    let start = counter::ticks();
    reference.run(blocks);
    counter::ticks().saturating_sub(start)
}

/// Ticks that the independent instructions take now. This is the smaller of two readings, because
/// an interruption may have spoiled the other one.
fn issue_ticks(blocks: u64) -> u64 {
    let read = || reference_ticks(CoreReference::Independent, blocks);
    read().min(read())
}

/// Number of blocks that take `chunk_ticks`. Doubles the number until the blocks take a quarter of
/// a chunk, then scales up. The trials also warm the caches.
fn blocks_per_chunk(blocks: &mut Blocks<'_>, chunk_ticks: u64) -> u64 {
    let mut count = 1u64;
    loop {
        let start = counter::ticks();
        blocks(count);
        let took = counter::ticks().saturating_sub(start);
        if took >= chunk_ticks / 4 || count >= 1 << 40 {
            let scaled = count as f64 * chunk_ticks as f64 / took.max(1) as f64;
            return (scaled as u64).max(1);
        }
        count *= 2;
    }
}
