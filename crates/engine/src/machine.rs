//! What the engine asks of a machine: the real one and the simulated one answer alike.

use crate::io::{IoFile, IoSeen, IoTarget};
use crate::work::{Invalid, MemoryPlan, Work};
use host::noise::ThreadNoise;
use report::{ClockFacts, HostFacts, KernelUsed, Outcome, PageEvidence, Surroundings};
use units::error::Error;
use units::{BytesPerSecond, Hertz, Nanos};

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The user, a signal or a limit ended the run.
    Interrupted,
    /// This machine cannot do it, and why.
    Unsupported(String),
    /// It was tried and went wrong, and how.
    Failed(String),
    /// The time for it was over before it was done.
    OutOfTime,
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Failed(error.to_string())
    }
}

impl From<Invalid> for Trouble {
    fn from(Invalid(reason): Invalid) -> Self {
        Trouble::Failed(reason)
    }
}

impl From<Trouble> for Outcome {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Interrupted => {
                Outcome::Interrupted { reason: "the run was interrupted before this point".to_owned() }
            }
            Trouble::Unsupported(reason) => Outcome::Unsupported { reason },
            Trouble::Failed(reason) => Outcome::Failed { reason },
            Trouble::OutOfTime => Outcome::Skipped { reason: "there was no time left for it".to_owned() },
        }
    }
}

/// What threads beside the measured one moved.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Beside {
    /// Payload bytes: what their loads and stores asked for.
    pub payload: f64,
    /// What that is on the memory bus by the kernels' contracts, in bytes: an estimate.
    pub bus: f64,
}

/// The equal parts in which a thread did its work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chunks {
    /// Work in each, as [`Observation::amount`] counts.
    pub amount: u64,
    /// What each took, in order.
    pub lengths: Vec<Nanos>,
}

/// Time in which a thread got nowhere although it had work: somebody else had its CPU, or the whole machine stood still.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gaps {
    /// All of them together.
    pub total: Nanos,
    /// The longest.
    pub longest: Nanos,
}

/// Parts of a sample, with a reading of the counter between them: enough that the ends of the common window are placed well
/// and an interruption stays in one of them.
pub const CHUNKS: u64 = 16;

/// The blocks that come nearest to `amount` where each counts as `each`, at least one.
pub fn blocks_of(amount: u64, each: u64) -> u64 {
    let each = each.max(1);
    (amount.saturating_add(each / 2) / each).max(1)
}

/// What one sample showed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observation {
    /// Length of the common window.
    pub elapsed: Nanos,
    /// Payload bytes (stream), hops (chase), instructions, operations of all threads, or round trips inside the window;
    /// where there is traffic beside the measured thread, of that thread only.
    pub amount: u64,
    /// What the traffic beside the measured thread moved inside the window, `None` for work of another kind.
    pub traffic: Option<Beside>,
    /// Page faults and context switches of the measuring threads, all together; `None` where not readable.
    pub noise: Option<ThreadNoise>,
    /// Time in gaps inside the sample, all threads together, and the longest of them.
    pub gaps: Gaps,
    /// The CPU that each thread was found on at the start or, where that differs from its own, at the end; `None` where
    /// not readable.
    pub found_on: Option<Vec<u32>>,
    /// What the thread that did least of it did of what the one that did most did, 1 with one thread; `None` where that
    /// is not known.
    pub fairness: Option<f64>,
    /// The parts in which the first thread did its work.
    pub chunks: Chunks,
    /// Core clock of the first thread's CPU right before and after, `None` where it cannot be established.
    pub core: Option<Hertz>,
    /// What was seen of storage, `None` for work of another kind.
    pub io: Option<Box<IoSeen>>,
    /// Whether the host of a virtual machine had moved two of its CPUs closer to each other than they usually are.
    pub closer: bool,
    /// Independent instructions that the core began per cycle right before and after, the least of all threads; `None` where that is
    /// not known.
    pub issue: Option<f64>,
    /// Whether that was so few that somebody else used the core.
    pub shared: bool,
}

/// A machine that can be measured.
pub trait Machine {
    /// What is known about it.
    fn facts(&self) -> &HostFacts;

    /// Its clock, calibrated.
    fn clock(&self) -> &ClockFacts;

    /// How instructions are executed: `native`, `simulated`.
    fn description(&self) -> &str;

    /// Time since an arbitrary start.
    fn now(&self) -> Nanos;

    /// Date and time in RFC 3339, UTC.
    fn wall_clock(&self) -> String;

    /// Lets time pass; ends early when the run is interrupted.
    fn pause(&mut self, time: Nanos) -> Result<(), Trouble>;

    /// Whether the run shall end.
    fn interrupted(&self) -> bool;

    /// Rate at which fresh memory becomes usable with all threads at it, measured on a small piece.
    fn fault_rate(&mut self) -> BytesPerSecond;

    /// The kernel that would do `work`, or the reason why there is none here.
    fn kernel(&self, work: &Work) -> Result<KernelUsed, String>;

    /// The works that a work leaves the choice of, of which the fastest is to be found by measuring: itself where it
    /// leaves none.
    fn candidates(&self, work: &Work) -> Vec<Work>;

    /// What is known of a file before anything is done to it; nothing is made and nothing is written.
    ///
    /// # Errors
    /// It cannot be used, and why.
    fn look_at(&self, file: &IoFile, direct: bool) -> Result<IoTarget, Error>;

    /// Maps and faults in what `plan` says and gives up what was mapped before: `beside` it only afterwards, so that the
    /// system cannot hand out the same memory again.
    fn map(&mut self, plan: &MemoryPlan, beside: bool) -> Result<(), Trouble>;

    /// Makes ready to sample `work`: takes its memory, builds its chain.
    fn prepare(&mut self, work: &Work) -> Result<(), Trouble>;

    /// Lets streams that a cache could hold lie elsewhere in their mapping from the next preparation on, where there is room: which sets of
    /// a cache they fill is decided by where their pages lie in the memory of the machine, which differs from place to place.
    fn elsewhere(&mut self) {}

    /// Brings into the caches what they can hold of the chain that was prepared last. Samples follow at once: what lies in a
    /// cache that others share is theirs again within milliseconds.
    fn fill(&mut self) -> Result<(), Trouble> {
        Ok(())
    }

    /// Takes one sample of the work that was prepared last, for about `length`.
    fn sample(&mut self, work: &Work, length: Nanos) -> Result<Observation, Trouble>;

    /// Takes one sample of the work that was prepared last, in chunks of `amount` of its first thread each, as
    /// [`Observation::amount`] counts, or as near to that as whole blocks of its kernel come.
    fn sample_in_chunks(&mut self, work: &Work, amount: u64) -> Result<Observation, Trouble>;

    /// Core clock of `cpu` now, `None` where it cannot be established.
    fn core_clock(&mut self, cpu: u32) -> Option<Hertz>;

    /// A few round trips of a cache line between two CPUs, taken now; `None` where they cannot be timed.
    fn hand_off(&mut self, _pair: [u32; 2]) -> Option<Observation> {
        None
    }

    /// What the system says about the pages of the work that was prepared last, and what it does not say.
    fn pages(&mut self, work: &Work) -> (PageEvidence, Vec<String>);

    /// What has happened on the machine, and on `cpus`, until now: counts and times since some start. The differences
    /// of two readings are what happened between them.
    fn surroundings(&mut self, cpus: &[u32]) -> Surroundings;

    /// How far the raw counter's rate since its calibration lies from it, relative; `None` where too little time has
    /// passed to tell.
    fn clock_drift(&mut self) -> Option<f64>;
}
