//! The trait that every machine answers, and the data that a sample gives.

use crate::work::{ChaseWork, ExternalFigures, Invalid, MemoryPlan, Work};
use host::noise::ThreadNoise;
use report::{ClockFacts, HostFacts, KernelUsed, Outcome, PageEvidence, SystemActivity};
use units::error::Error;
use units::{BytesPerSecond, Hertz, Nanos};

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The user, a signal or a limit ended the run.
    Interrupted,
    /// This machine cannot do it, and why.
    Unsupported(String),
    /// It was tried and went wrong, and how.
    Failed(String),
    /// The time for it was over before it was done.
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
                reason: "the run was interrupted before this point".to_owned(),
            },
            Failure::Unsupported(reason) => Outcome::Unsupported { reason },
            Failure::Failed(reason) => Outcome::Failed { reason },
            Failure::OutOfTime => Outcome::Skipped {
                reason: "there was no time left for it".to_owned(),
            },
        }
    }
}

/// Bytes that background threads moved.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BackgroundTraffic {
    /// Payload bytes: those that loads and stores request.
    pub payload: f64,
    /// Estimated bytes on the memory bus, according to the kernels' contracts.
    pub bus: f64,
}

/// The equal parts in which a thread did its work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chunks {
    /// Work in each, as [`Observation::amount`] counts.
    pub amount: u64,
    /// Duration of each, in order.
    pub lengths: Vec<Nanos>,
}

/// Time in which a thread had work and made no progress: another program had its CPU, or the whole
/// machine stood still.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gaps {
    /// All of them together.
    pub total: Nanos,
    /// The longest.
    pub longest: Nanos,
}

/// Parts of a sample, with a reading of the counter between them: enough that the ends of the
/// common window are placed well and an interruption stays in one of them.
pub const CHUNKS: u64 = 16;

/// The blocks that come nearest to `amount` where each counts as `each`, at least one.
pub fn blocks_of(amount: u64, each: u64) -> u64 {
    let each = each.max(1);
    (amount.saturating_add(each / 2) / each).max(1)
}

/// One sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observation {
    /// Length of the common window.
    pub elapsed: Nanos,
    /// Payload bytes (stream), hops (chase), instructions, operations of all threads, or round
    /// trips inside the window; under background traffic, of the measured thread only.
    pub amount: u64,
    /// Background traffic inside the window; `None` for work without any.
    pub traffic: Option<BackgroundTraffic>,
    /// Page faults and context switches of the measuring threads, all together; `None` where not
    /// readable.
    pub noise: Option<ThreadNoise>,
    /// Time in gaps inside the sample, all threads together, and the longest of them.
    pub gaps: Gaps,
    /// The CPU that each thread was found on at the start or, where that differs from its own, at
    /// the end; `None` where not readable.
    pub found_on: Option<Vec<u32>>,
    /// Work of the slowest thread divided by that of the fastest, 1 with one thread; `None` if
    /// unknown.
    pub fairness: Option<f64>,
    /// The parts in which the first thread did its work.
    pub chunks: Chunks,
    /// Core clock of the first thread's CPU right before and after, `None` where it cannot be
    /// established.
    pub core: Option<Hertz>,
    /// Figures of a window of external work; `None` for other work.
    pub external: Option<ExternalFigures>,
    /// Whether the work has come to its end, so that there is nothing left to sample.
    pub is_last: bool,
    /// Whether two vCPUs were closer to each other than usual. The sampler sets it afterwards.
    pub co_scheduled: bool,
    /// Independent instructions that the core issued per cycle right before and after, the lowest
    /// of all threads; `None` if unknown.
    pub ipc: Option<f64>,
    /// Whether `ipc` shows that another hardware thread used the core. The sampler sets it
    /// afterwards.
    pub smt_interference: bool,
}

/// Passes through a chain that a cache could hold before it is sampled ([`Machine::fill`]). The
/// number is the same for every size: where it changes, latency changes too, which looks like the
/// end of a cache.
pub const PREFILL_PASSES: u64 = 4;

/// The time that these passes may take.
pub const LONGEST_PREFILL: Nanos = Nanos(200e6);

/// Costs of the steps of a measurement, as known before it. A plan adds them up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Start and end of a session: calibration, reading back pages, writing the report.
    pub session: Nanos,
    /// A round of a point without its samples: taking memory, readings of faults, steal and core
    /// clock.
    pub round: Nanos,
    /// Preparing a work alone, while kernels are compared.
    pub prepare: Nanos,
    /// A sample without its length: waking the threads, finding the chunk.
    pub sample: Nanos,
    /// Samples that warming up takes on average in caches, once the working set has been walked
    /// through.
    pub warm_ups: f64,
    /// The same beyond the caches.
    pub warm_ups_in_memory: f64,
    /// A hop of the many walkers that bring a chain into the caches ([`Machine::fill`]).
    pub filling_hop: Nanos,
    /// Making an entry of a table of pieces, which each round does again.
    pub table_entry: Nanos,
    /// Making a number of a stream of doubles, which other kernels leave as they are and tables do
    /// not.
    pub double: Nanos,
    /// A short window in multiples of its length: the core clock is read after every sixteen of
    /// them.
    pub window: f64,
}

impl Costs {
    /// Rough values from the virtual machines that memgauge was developed on. They only decide how
    /// much a plan holds: a session keeps its budget by the clock.
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

    /// Bytes per second that a thread walks through once, typically.
    const STREAMED: f64 = 40e9;

    /// Hops per second in the last cache or a little beyond, typically.
    const HOPS: f64 = 1e9 / 60.0;

    /// Hops per second in memory, typically.
    const HOPS_IN_MEMORY: f64 = 1e9 / 200.0;

    /// Writing and verifying a node of a chain with one thread, typically.
    const PER_NODE: Nanos = Nanos(45.0);

    /// Typical rate of `work` per second, in units of [`Observation::amount`].
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
            // A pass of these is far shorter than a sample.
            Work::Instruction(_) | Work::Lock(_) | Work::HandOff(_) | Work::External(_) => 1e9,
        }
    }

    /// Typical time to build the chains of `chase` with this number of threads.
    pub fn typical_build(chase: &ChaseWork, threads: usize) -> Nanos {
        let nodes = chase.nodes() * chase.chains().len() as u64;
        Self::PER_NODE * (nodes as f64 / threads.max(1) as f64)
    }
}

/// A machine that can be measured.
pub trait Machine {
    /// Facts about the machine.
    fn facts(&self) -> &HostFacts;

    /// Its clock, calibrated.
    fn clock(&self) -> &ClockFacts;

    /// The way instructions are executed: `native`, `simulated`.
    fn description(&self) -> &str;

    /// Time since an arbitrary start.
    fn now(&self) -> Nanos;

    /// Date and time in RFC 3339, UTC.
    fn wall_clock(&self) -> String;

    /// Lets time pass; ends early when the run is interrupted.
    fn pause(&mut self, time: Nanos) -> Result<(), Failure>;

    /// Whether the run shall end.
    fn interrupted(&self) -> bool;

    /// Rate at which fresh memory becomes usable with all threads at it, measured on a small piece.
    fn fault_rate(&mut self) -> BytesPerSecond;

    /// Costs of the steps of a measurement.
    fn costs(&self) -> Costs {
        Costs::TYPICAL
    }

    /// Expected rate of `work` per second, in units of [`Observation::amount`].
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

    /// The kernel that would do `work`, or the reason why there is none here.
    fn kernel(&self, work: &Work) -> Result<KernelUsed, String>;

    /// All concrete variants of `work` (kernels, numbers of threads) to choose from. A work that
    /// fixes both is its own only variant.
    fn candidates(&self, work: &Work) -> Vec<Work>;

    /// Maps and touches the memory of `plan`, and releases the previous mapping. With `beside`, the
    /// previous mapping is released only afterwards, so that the system cannot return its pages.
    ///
    /// # Errors
    /// [`Failure::OutOfTime`] if the memory was not usable at the time `until` of [`Machine::now`].
    fn map(&mut self, plan: &MemoryPlan, beside: bool, until: Nanos) -> Result<(), Failure>;

    /// Makes ready to sample `work`: takes its memory, builds its chain.
    fn prepare(&mut self, work: &Work) -> Result<(), Failure>;

    /// Shifts cache-sized streams to another offset of their mapping before the next preparation.
    /// The physical pages differ per offset, and so do the cache sets that they map to.
    fn shift_placement(&mut self) {}

    /// Prefills the caches with the chain that was prepared last. Samples follow at once, because
    /// neighbours take a shared cache back within milliseconds.
    fn fill(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Takes one sample of the work that was prepared last, for about `length`.
    fn sample(&mut self, work: &Work, length: Nanos) -> Result<Observation, Failure>;

    /// Takes one sample of the work that was prepared last. Each chunk has `amount` of its first
    /// thread, as [`Observation::amount`] counts, rounded to whole blocks of its kernel.
    fn sample_in_chunks(&mut self, work: &Work, amount: u64) -> Result<Observation, Failure>;

    /// Core clock of `cpu` now, `None` where it cannot be established.
    fn core_clock(&mut self, cpu: u32) -> Option<Hertz>;

    /// A few round trips of a cache line between two CPUs, taken now; `None` where they cannot be
    /// timed.
    fn hand_off(&mut self, _pair: [u32; 2]) -> Option<Observation> {
        None
    }

    /// Page evidence of the work that was prepared last, and a list of what the system does not
    /// tell.
    fn pages(&mut self, work: &Work) -> (PageEvidence, Vec<String>);

    /// Counters of the machine and of `cpus` since some start. The difference of two readings is
    /// the activity between them.
    fn system_activity(&mut self, cpus: &[u32]) -> SystemActivity;

    /// Relative deviation of the raw counter's rate since its calibration; `None` until enough time
    /// has passed.
    fn clock_drift(&mut self) -> Option<f64>;
}
