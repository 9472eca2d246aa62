//! The trait that every machine implements, and the data of a sample.

use crate::work::{ChaseWork, ExternalFigures, Invalid, MemoryPlan, Work};
use host::noise::ThreadNoise;
use report::{ClockFacts, HostFacts, KernelUsed, Outcome, PageEvidence, SystemActivity};
use units::error::Error;
use units::{BytesPerSecond, Hertz, Nanos};

/// Reason why a step of a measurement was not completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The user, a signal or a limit ended the session.
    Interrupted,
    /// This machine cannot do the step. The text is the reason.
    Unsupported(String),
    /// The step was tried and went wrong. The text is the reason.
    Failed(String),
    /// The time limit was reached before the step was done.
    OutOfTime,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Failed(error.to_string())
    }
}

impl From<Invalid> for Failure {
    fn from(Invalid(reason): Invalid) -> Self {
        Failure::Failed(reason)
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Interrupted => Outcome::Interrupted {
                reason: "the session was interrupted before this point".to_owned(),
            },
            Failure::Unsupported(reason) => Outcome::Unsupported { reason },
            Failure::Failed(reason) => Outcome::Failed { reason },
            Failure::OutOfTime => Outcome::Skipped {
                reason: "there was no time left for it".to_owned(),
            },
        }
    }
}

/// Bytes that the threads of the background traffic moved during a sample.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BackgroundTraffic {
    /// Payload bytes: bytes that loads and stores request.
    pub payload: f64,
    /// Estimated bytes on the memory bus, computed from the contracts of the kernels.
    pub bus: f64,
}

/// Chunks: equal parts of the work that one thread did in a sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chunks {
    /// Work in each chunk, in the unit of [`Observation::amount`].
    pub amount: u64,
    /// Durations of the chunks, in the order of time.
    pub lengths: Vec<Nanos>,
}

/// Time in which a thread had work and made no progress: another program had its CPU, or the whole
/// machine stood still.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gaps {
    /// Sum of all gaps.
    pub total: Nanos,
    /// Longest gap.
    pub longest: Nanos,
}

/// Number of chunks into which a thread divides its work in a sample. The thread reads the raw
/// counter after each chunk. With sixteen chunks, the work of each thread inside the common window
/// is known well enough. An interruption spoils only one chunk.
pub const CHUNKS: u64 = 16;

/// Number of blocks that together come closest to `amount` units of work; at least one. A block has
/// `each` units.
pub fn blocks_of(amount: u64, each: u64) -> u64 {
    let each = each.max(1);
    (amount.saturating_add(each / 2) / each).max(1)
}

/// Readings of one sample: one timed piece of work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observation {
    /// Length of the common window, in which all threads worked.
    pub elapsed: Nanos,
    /// Work of all threads inside the common window: payload bytes (stream), hops (chase),
    /// instructions, operations or round trips. Under background traffic, only the measured thread
    /// counts.
    pub amount: u64,
    /// Background traffic inside the common window; `None` for work without background traffic.
    pub traffic: Option<BackgroundTraffic>,
    /// Page faults and context switches of all measuring threads together; `None` if the system
    /// does not report them.
    pub noise: Option<ThreadNoise>,
    /// Time in gaps inside the sample: sum over all threads, and the longest gap.
    pub gaps: Gaps,
    /// CPU on which each thread was found. If a thread was on a wrong CPU at the start or the end
    /// of the sample, its entry is that wrong CPU. `None` if the system does not report CPUs.
    pub found_on: Option<Vec<u32>>,
    /// Work of the slowest thread divided by the work of the fastest thread; 1 with one thread,
    /// `None` if unknown.
    pub fairness: Option<f64>,
    /// Chunks of the first thread.
    pub chunks: Chunks,
    /// Rates in successive parts of the common window: work of all threads per nanosecond, in the
    /// unit of `amount`. Each part is about a sixteenth of the sample. Empty if unknown.
    pub parts: Vec<f64>,
    /// Core clock of the first thread's CPU, from readings right before and after the sample.
    /// `None` if unknown.
    pub core: Option<Hertz>,
    /// Figures of the sample if its work is external; `None` for any other work.
    pub external: Option<ExternalFigures>,
    /// True if the work came to its end and no further sample can be taken.
    pub is_last: bool,
    /// True if the host of the virtual machine moved a vCPU to another core during the round. The
    /// sampler sets the field after the sample.
    pub host_moved: bool,
    /// Instructions per core clock cycle (IPC) of a block of independent instructions, which is
    /// timed at both ends of the sample. The value is the lowest of all threads. `None` if unknown.
    pub ipc: Option<f64>,
    /// True if `ipc` shows SMT interference. The sampler sets the field after the sample.
    pub smt_interference: bool,
}

/// Number of times that [`Machine::fill`] loads all nodes of a chain that could fit into a cache.
/// The number is the same for chains of every size. If the number changed at some size, the latency
/// would change there too. This change would look like the end of a cache.
pub const PREFILL_PASSES: u64 = 4;

/// Time limit of a prefill, which is one call of [`Machine::fill`].
pub const LONGEST_PREFILL: Nanos = Nanos(200e6);

/// Expected costs of the steps of a measurement: times, and numbers of warm-up samples. A plan adds
/// up these costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Start and end of a session: calibration, reading pages back, writing the report.
    pub session: Nanos,
    /// A round of a point without its samples: assigning memory, and reading page faults, stolen
    /// time and core clock.
    pub round: Nanos,
    /// Preparation of one candidate during kernel selection.
    pub prepare: Nanos,
    /// Overhead of a sample: waking the threads, and finding the amount of work in a chunk.
    pub sample: Nanos,
    /// Average number of warm-up samples in a round, if the working set fits into the caches.
    pub warm_ups: f64,
    /// Average number of warm-up samples in a round, if the working set does not fit into the
    /// caches.
    pub warm_ups_in_memory: f64,
    /// Loading one node of a chain during the prefill ([`Machine::fill`]).
    pub filling_hop: Nanos,
    /// Writing one entry of an index table. Every round of a point writes its table again.
    pub table_entry: Nanos,
    /// Writing one double into the memory of a stream before its first sample. This memory contains
    /// only doubles from then on, until an index table overwrites them.
    pub double: Nanos,
    /// Time that a short window takes, divided by the length of the window. The time includes a
    /// reading of the core clock after every sixteen windows.
    pub window: f64,
}

impl Costs {
    /// Rough values from the virtual machines that memgauge was developed on. These values only
    /// decide how much work is planned. A session reads the clock to keep its time budget.
    pub const TYPICAL: Self = Self {
        session: Nanos(0.1e9),
        round: Nanos(3e6),
        prepare: Nanos(0.5e6),
        sample: Nanos(0.12e6),
        warm_ups: 2.0,
        warm_ups_in_memory: 5.0,
        filling_hop: Nanos(4.0),
        table_entry: Nanos(4.0),
        double: Nanos(1.5),
        window: 2.0,
    };

    /// Typical number of payload bytes per second that one thread streams.
    const STREAMED: f64 = 40e9;

    /// Typical number of hops per second of one thread, if its chain fits into the last-level
    /// cache.
    const HOPS: f64 = 1e9 / 60.0;

    /// Typical number of hops per second of one thread, if its chain fits into no cache.
    const HOPS_IN_MEMORY: f64 = 1e9 / 200.0;

    /// Typical time for one thread to write and verify a node of a chain.
    const PER_NODE: Nanos = Nanos(45.0);

    /// Typical rate of `work`, in units of [`Observation::amount`] per second.
    pub fn typical_rate(work: &Work, facts: &HostFacts) -> f64 {
        let hops = if work.fits_last_level(facts) {
            Self::HOPS
        } else {
            Self::HOPS_IN_MEMORY
        };
        match work {
            Work::Stream(stream) => Self::STREAMED * stream.cpus.len() as f64,
            Work::Chase(chase) => hops * chase.threads() as f64,
            Work::Loaded(_) => hops,
            // One pass of this work is far shorter than a sample.
            Work::Instruction(_) | Work::Lock(_) | Work::HandOff(_) | Work::External(_) => 1e9,
        }
    }

    /// Typical time to build the chains of `chase` with `threads` threads.
    pub fn typical_build(chase: &ChaseWork, threads: usize) -> Nanos {
        let nodes = chase.nodes() * chase.chains().len() as u64;
        Self::PER_NODE * (nodes as f64 / threads.max(1) as f64)
    }
}

/// A machine that can be measured.
pub trait Machine {
    /// Facts about the machine.
    fn facts(&self) -> &HostFacts;

    /// Facts about the calibrated clock.
    fn clock(&self) -> &ClockFacts;

    /// How the machine executes instructions, for the report: `native`, `simulated`, ...
    fn description(&self) -> &str;

    /// Time since an arbitrary moment. All calls count from the same moment.
    fn now(&self) -> Nanos;

    /// Date and time in RFC 3339, UTC.
    fn wall_clock(&self) -> String;

    /// Waits for `time`. The wait ends early if the session is interrupted.
    fn pause(&mut self, time: Nanos) -> Result<(), Failure>;

    /// True if a signal, the user or a limit has ended the session.
    fn interrupted(&self) -> bool;

    /// Bytes per second of a small new mapping that all threads together touch for the first time.
    fn fault_rate(&mut self) -> BytesPerSecond;

    /// Costs of the steps of a measurement.
    fn costs(&self) -> Costs {
        Costs::TYPICAL
    }

    /// Expected rate of `work`, in units of [`Observation::amount`] per second.
    fn expected_rate(&self, work: &Work) -> f64 {
        Costs::typical_rate(work, self.facts())
    }

    /// Expected time to build all chains of `chase`.
    fn expected_build(&self, chase: &ChaseWork) -> Nanos;

    /// Expected time to prepare external work before its first window.
    fn expected_preparation(&self, work: &Work) -> Nanos {
        work.external().map_or(Nanos::ZERO, |external| {
            external.work().expected_preparation()
        })
    }

    /// The kernel that would execute `work`, or the reason why this machine has none.
    fn kernel(&self, work: &Work) -> Result<KernelUsed, String>;

    /// All concrete variants of `work` (kernels, numbers of threads) to choose from. If `work`
    /// fixes the kernel and the number of threads, it is the only variant.
    fn candidates(&self, work: &Work) -> Vec<Work>;

    /// Maps and touches the memory of `plan`, and releases the previous mapping. With `keep_old`,
    /// the previous mapping is released only after the new mapping exists. The new mapping then
    /// cannot get the same physical pages.
    ///
    /// # Errors
    /// [`Failure::OutOfTime`] if not all pages were touched when [`Machine::now`] reached `until`.
    fn map(&mut self, plan: &MemoryPlan, keep_old: bool, until: Nanos) -> Result<(), Failure>;

    /// Prepares sampling of `work`: assigns its memory and builds its chain.
    fn prepare(&mut self, work: &Work) -> Result<(), Failure>;

    /// Makes the next preparation put cache-sized streams at another offset of their mapping. At
    /// another offset, streams have other physical pages, and therefore other cache sets.
    fn shift_placement(&mut self) {}

    /// Loads the chain that was prepared last into the caches. Take samples right after this call,
    /// because other programs evict its lines from a shared cache within milliseconds.
    fn fill(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Takes one sample, about `length` long, of the work that was prepared last.
    fn sample(&mut self, work: &Work, length: Nanos) -> Result<Observation, Failure>;

    /// Takes one sample of the work that was prepared last. In each chunk, the first thread does
    /// `amount` of work, rounded to whole blocks of its kernel. The unit is the same as in
    /// [`Observation::amount`].
    fn sample_in_chunks(&mut self, work: &Work, amount: u64) -> Result<Observation, Failure>;

    /// Core clock of `cpu` now; `None` if unknown.
    fn core_clock(&mut self, cpu: u32) -> Option<Hertz>;

    /// Times a few round trips of a cache line between the two CPUs of the pair. `None` if they
    /// cannot be timed.
    fn hand_off(&mut self, _pair: [u32; 2]) -> Option<Observation> {
        None
    }

    /// Page evidence (sizes and NUMA nodes of pages) of the work that was prepared last. The second
    /// value names the facts that the system does not report.
    fn pages(&mut self, work: &Work) -> (PageEvidence, Vec<String>);

    /// Activity counters of the machine and of `cpus` since an arbitrary start. The difference of
    /// two readings is the activity between them.
    fn system_activity(&mut self, cpus: &[u32]) -> SystemActivity;

    /// Relative deviation of the raw counter's rate from its calibrated rate. `None` until enough
    /// time has passed since the calibration.
    fn clock_drift(&mut self) -> Option<f64>;
}
