//! Evidence of a point, and the verdict that follows from it.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How far a number can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum VerdictGrade {
    /// Nothing that was checked speaks against it.
    Solid,
    /// Something speaks against it; the reasons say what.
    Doubtful,
    /// It cannot be right, or is not what it is called.
    Rejected,
}

impl VerdictGrade {
    /// `solid`, `doubtful` or `rejected`.
    pub fn word(self) -> &'static str {
        match self {
            VerdictGrade::Solid => "solid",
            VerdictGrade::Doubtful => "doubtful",
            VerdictGrade::Rejected => "rejected",
        }
    }
}

/// Makes the enum of causes and the list of its variants from the same rows, so that no test of all
/// causes leaves one out.
macro_rules! causes {
    ($($(#[$attribute:meta])* $variant:ident,)+) => {
        /// Cause of a doubt; stable names for programs.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum Cause {
            $($(#[$attribute])* $variant,)+
        }

        impl Cause {
            /// Every cause, in the order of the enum.
            pub const ALL: &[Cause] = &[$(Cause::$variant),+];
        }
    };
}

causes! {
    /// More than an upper bound allows.
    AboveLimit,
    /// A lower latency than that of a smaller working set, which lies in a faster level.
    BelowFasterLevel,
    /// Not all planned rounds were done.
    Interrupted,
    /// A thread ran on another CPU than its own.
    Moved,
    /// Memory in pages of another size than requested.
    PageSize,
    /// Memory that is not there, or is the system's shared page of zeros.
    NotResident,
    /// Memory on another NUMA node than the threads.
    Node,
    /// Most samples were interrupted or faulted.
    Disturbed,
    /// Too few undisturbed samples for an interval.
    FewSamples,
    /// The hypervisor gave the CPU to others.
    Stolen,
    /// The host of a virtual machine moved its CPUs closer to each other for most of the time.
    HostMoved,
    /// Another hardware thread of the core computed for most of the time.
    CoreShared,
    /// The control group's quota of CPU time was used up.
    Throttled,
    /// Other programs ran on the CPUs of the run or beside them.
    Others,
    /// The system was short of memory.
    MemoryPressure,
    /// The process was stopped, or the machine stood still.
    Stopped,
    /// The core clock moved.
    CoreClock,
    /// The processor slowed itself down because it was hot.
    Heat,
    /// The raw counter's rate is not well known, or changed.
    Counter,
    /// Values rose or fell while the point was measured.
    Drift,
    /// Values of two kinds.
    Bimodal,
    /// Allocations of the same memory differ.
    Placement,
    /// The interval is too wide.
    Spread,
    /// Samples got slower or faster within rounds, which is why they scatter.
    NonStationary,
    /// A working set larger than the cache that it is called after holds by timing.
    CacheSize,
    /// Storage was not reached: the page cache answered, or could have.
    PageCache,
    /// Operations on storage failed, or moved fewer bytes than requested.
    IoErrors,
    /// Data that was read from storage differs from the data that was written.
    WrongData,
    /// Operations that were due under a rate limit were never begun.
    Behind,
}

impl Cause {
    /// Options with values that help against the cause when added to the command; empty if none
    /// does.
    pub fn options(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Cause::Spread | Cause::FewSamples => &[("--samples", "500")],
            Cause::Bimodal | Cause::Placement => &[("--reallocate", "6")],
            Cause::CacheSize => &[("--last-level", "measured")],
            Cause::Heat => &[("--cooldown", "500ms")],
            _ => &[],
        }
    }

    /// Disturbance of samples with this cause, in a few words.
    pub fn disturbance(self) -> &'static str {
        match self {
            Cause::Moved => "in which a thread was on another cpu",
            Cause::HostMoved => "in which the host had moved cpus closer together",
            Cause::CoreShared => "on a shared core",
            Cause::NotResident => "with page faults",
            Cause::Others => "with context switches",
            Cause::Stopped => "in which a thread was stopped",
            _ => "with gaps that the system does not count",
        }
    }
}

/// Why a number is not solid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Reason {
    /// Kind of reason.
    pub cause: Cause,
    /// In plain words with its numbers, short enough for a table.
    pub text: String,
    /// Advice for a solid number; empty if none is known to help.
    pub advice: String,
}

/// The judgement on a point with its reasons, worst first; empty for a solid one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Verdict {
    /// How far the number can be trusted.
    pub grade: VerdictGrade,
    /// Why it is not solid.
    pub reasons: Vec<Reason>,
}

impl Verdict {
    /// Adds a reason that makes the grade at least `grade`; the worst reasons come first.
    pub fn add(&mut self, grade: VerdictGrade, reason: Reason) {
        let place = if grade > self.grade {
            0
        } else {
            self.reasons.len()
        };
        self.grade = self.grade.max(grade);
        self.reasons.insert(place, reason);
    }

    /// The texts of the reasons, joined by semicolons.
    pub fn text(&self) -> String {
        self.reasons
            .iter()
            .map(|r| r.text.as_str())
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// Whether it names `cause`.
    pub fn names(&self, cause: Cause) -> bool {
        self.reasons.iter().any(|r| r.cause == cause)
    }
}

/// The judgement on a whole report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ReportVerdict {
    /// That of the worst point; of a report without a measured point: rejected.
    pub grade: VerdictGrade,
    /// Measured points by grade.
    pub points: BTreeMap<VerdictGrade, u64>,
    /// Every cause with the number of points that it concerns, the most frequent first.
    pub causes: Vec<CauseCount>,
}

/// How many points a cause concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CauseCount {
    /// The cause.
    pub cause: Cause,
    /// Points.
    pub points: u64,
    /// Advice of the first of these points.
    pub advice: String,
}

/// How many base pages lie on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NodePages {
    /// The node.
    pub node: u32,
    /// Pages.
    pub pages: u64,
}

/// Evidence about the memory of a point, read back from the system; `null` is unknown.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct PageEvidence {
    /// Requested page size, in bytes.
    pub asked_bytes: Option<u64>,
    /// Share (0 to 1) of the memory that lies in pages of the requested size.
    pub granted_share: Option<f64>,
    /// The page size that holds most of the memory, in bytes.
    pub granted_bytes: Option<u64>,
    /// Share (0 to 1) of pages that are resident.
    pub resident_share: Option<f64>,
    /// NUMA nodes that sampled pages lie on, in rising order.
    pub nodes: Option<Vec<u32>>,
    /// Sampled base pages by the node that they lie on: all of them where a place was requested,
    /// else samples.
    pub pages_by_node: Option<Vec<NodePages>>,
    /// Looked-at base pages on another node than the one that they were to lie on.
    pub elsewhere: Option<u64>,
    /// The place that was requested (`node 1`, `nodes 0-3 interleaved`); `null` where it was left
    /// to first touch.
    pub asked_place: Option<String>,
    /// The nodes that it was to lie on: those requested, else those of the CPUs that used it.
    pub expected_nodes: Option<Vec<u32>>,
    /// Whether every looked-at piece of the memory holds something else than zeros: reads of
    /// untouched memory go to one shared page.
    pub non_zero: Option<bool>,
}

/// Activity of the machine during the rounds of a point: sums over its rounds of the differences
/// between readings before and after each. `null` is unknown.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct SystemActivity {
    /// Time between the readings.
    pub elapsed_ns: f64,
    /// Time that the hypervisor gave to others while the CPUs used had work, all CPUs together
    /// (steps of 10 ms).
    pub stolen_ns: Option<f64>,
    /// Time for which the control group's quota kept threads from running, all CPUs together.
    pub throttled_ns: Option<f64>,
    /// CPU time that others used, on all CPUs of the system together: steps of 10 ms in each round,
    /// so that little use of short rounds can come out below zero.
    pub others_ns: Option<f64>,
    /// Time in which some task of the system waited for a CPU (pressure stall information).
    pub cpu_pressure_ns: Option<f64>,
    /// Time in which some task of the system waited for memory (pressure stall information).
    pub memory_pressure_ns: Option<f64>,
    /// Interrupts on the CPUs used, timer ticks among them.
    pub interrupts: Option<u64>,
    /// Times that the CPUs used slowed themselves down because of heat.
    pub thermal_throttles: Option<u64>,
    /// The highest temperature that any sensor of the processor showed, in degrees Celsius.
    pub highest_celsius: Option<f64>,
}

/// Round trips of a cache line between CPUs of a virtual machine, read before and after each round
/// of a point: its host may put two CPUs on one core for a while.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct VcpuPlacementEvidence {
    /// The two that were nearest to each other.
    pub cpus: [u32; 2],
    /// Rounds in which CPUs were closer than usual, by a factor of 2.5 or more: their samples are
    /// left out of the summary.
    pub co_scheduled_rounds: u64,
    /// Whether two of the CPUs were hardware threads of one core most of the time, by a round trip
    /// below 27 ns.
    #[serde(default)]
    pub one_core: bool,
    /// Rounds with a reading.
    pub rounds: u64,
    /// The shortest round trip, in ns.
    pub nearest_ns: f64,
    /// Usual round trip between these two, in ns.
    pub usual_ns: f64,
}

/// Independent instructions that a core began per cycle, read for some microseconds before and
/// after each sample: fewer than usual where somebody computes on another hardware thread of the
/// core, which may be another machine's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SmtInterference {
    /// Samples with a reading below 97% of the usual: they are left out of the summary.
    pub shared_samples: u64,
    /// Instructions per cycle that the cores begin while nobody else uses them, by all samples of
    /// the session on these CPUs. It is at least 90% of the documented width, if that is known.
    pub baseline_ipc: f64,
    /// The least that was read around a sample of the point.
    pub lowest_ipc: f64,
}

/// Checks around and during the samples of a point; `null` is unknown.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct Evidence {
    /// The CPU that each thread was pinned to.
    pub cpus: Vec<u32>,
    /// Whether every thread was found on its CPU at the start and the end of every sample.
    pub affinity_held: Option<bool>,
    /// Times that a thread was found on another CPU than its own.
    pub migrations: Option<u64>,
    /// The memory.
    pub pages: PageEvidence,
    /// Page faults of the measuring threads during the samples that needed no input.
    pub minor_faults: Option<u64>,
    /// Page faults of the measuring threads during the samples that waited for storage.
    pub major_faults: Option<u64>,
    /// Times that a measuring thread gave up its CPU during the samples: it waited, or was stopped.
    pub voluntary_switches: Option<u64>,
    /// Context switches that the measuring threads did not ask for, during the samples.
    pub involuntary_switches: Option<u64>,
    /// Time in gaps inside the samples: what single chunks of work took longer than three times the
    /// sample's median chunk, all threads together, in ns.
    pub gaps_ns: Option<f64>,
    /// The longest of these gaps, in ns.
    pub longest_gap_ns: Option<f64>,
    /// Activity of the machine meanwhile.
    pub system_activity: SystemActivity,
    /// How far the CPUs were from each other, of a virtual machine whose host may move them; `null`
    /// elsewhere.
    pub vcpu_placement: Option<VcpuPlacementEvidence>,
    /// Whether somebody else used the cores; `null` where it cannot be told.
    pub smt_interference: Option<SmtInterference>,
    /// The core clock in Hz that these CPUs reach in the run; `null` where too few samples tell.
    pub core_hz_baseline: Option<f64>,
    /// The median of the core clocks around all samples, in Hz.
    pub core_hz_median: Option<f64>,
    /// The least core clock in Hz that the processor promises without heat or a power limit (its
    /// base clock), where that is known from the rate of its counter.
    pub core_hz_base: Option<f64>,
    /// Core clock in Hz before the first sample of a round, on the first CPU, median over the
    /// earlier half of rounds.
    pub core_hz_before: Option<f64>,
    /// The lowest core clock around an undisturbed sample, in Hz.
    pub core_hz_least: Option<f64>,
    /// The highest core clock around an undisturbed sample, in Hz.
    pub core_hz_most: Option<f64>,
    /// The same as before, after the last sample of a round, median over the later half of rounds.
    pub core_hz_after: Option<f64>,
    /// Memory that the threads of the point walked through, all together, in bytes.
    pub working_set_bytes: Option<u64>,
    /// Last-level cache that these CPUs share in, all instances together, in bytes.
    pub last_level_cache_bytes: Option<u64>,
    /// Effective capacity of the last-level cache of these CPUs, in bytes, if the same session
    /// measured it; `null` otherwise.
    pub measured_last_level_bytes: Option<u64>,
    /// Relative error of the counter's calibration against the monotonic clock.
    pub clock_error: Option<f64>,
    /// How far the counter's rate over the whole run so far lies from its calibration, relative.
    pub clock_drift: Option<f64>,
    /// Samples left out of the summary.
    pub disturbed_samples: u64,
    /// The same samples by what disturbed them, each counted once: by its first cause where it has
    /// several.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub disturbed_by: BTreeMap<Cause, u64>,
    /// Fresh allocations of the memory that the samples are spread over.
    pub allocations: u64,
    /// Half the width of the confidence interval relative to the median.
    pub relative_spread: Option<f64>,
    /// Names of facts that could not be checked, with the reason.
    pub unchecked: Vec<String>,
}
