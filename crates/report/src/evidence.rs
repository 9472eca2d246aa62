//! Evidence of a point, and the verdict that is derived from it.

use super::VcpuPlacementEvidence;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How far a number can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum VerdictGrade {
    /// Every check passed.
    Solid,
    /// At least one check speaks against the number; the reasons name the checks.
    Doubtful,
    /// The number cannot be right, or it measures something else than its quantity.
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

/// Makes the enum of causes and the list of its variants from the same rows. Tests over all causes
/// are therefore complete.
macro_rules! causes {
    ($($(#[$attribute:meta])* $variant:ident,)+) => {
        /// Cause of a doubt about a number. Programs may rely on the serialised names.
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
    /// The value exceeds an upper bound.
    AboveLimit,
    /// The latency is lower than that of a smaller working set in a faster level.
    BelowFasterLevel,
    /// Not all planned rounds were done.
    Interrupted,
    /// A thread ran on another CPU than its own.
    Moved,
    /// Memory lies in pages of another size than requested.
    PageSize,
    /// Memory is not resident, or is the system's shared page of zeros.
    NotResident,
    /// Memory lies on another NUMA node than the threads.
    Node,
    /// Most samples were disturbed by interruptions or page faults.
    Disturbed,
    /// There are too few undisturbed samples, or too few rounds, for a reliable interval.
    FewSamples,
    /// The hypervisor gave the CPU to other guests.
    Stolen,
    /// The hypervisor moved the vCPUs between cores during most of the time.
    HostMoved,
    /// Another hardware thread of the core was in use during most of the time.
    CoreShared,
    /// The control group's quota of CPU time was used up.
    Throttled,
    /// Other programs ran on the CPUs of the session or on neighbouring ones.
    Others,
    /// The system was short of memory.
    MemoryPressure,
    /// The process was stopped, or the machine stood still.
    Stopped,
    /// The core clock changed.
    CoreClock,
    /// The processor slowed itself down because it was hot.
    Heat,
    /// The raw counter's rate is uncertain, or changed.
    Counter,
    /// Values rose or fell during the measurement of the point.
    Drift,
    /// Samples form two groups of values.
    Bimodal,
    /// Values differ between fresh allocations of the memory.
    Placement,
    /// The confidence interval is too wide.
    Spread,
    /// Samples got slower or faster within rounds, which explains their scatter.
    NonStationary,
    /// The working set exceeds the effective capacity of the cache that it is named after.
    CacheSize,
    /// The page cache answered requests instead of the storage, or may have answered them.
    PageCache,
    /// Operations on storage failed, or moved fewer bytes than requested.
    IoErrors,
    /// Data read from storage differs from the data written.
    WrongData,
    /// Operations that were due under a rate limit were never begun.
    Behind,
}

impl Cause {
    /// Options, each with a value, that help against this cause if a user adds them to the command.
    /// Empty if no option helps.
    pub fn options(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Cause::Spread | Cause::FewSamples => &[("--samples", "500")],
            Cause::Bimodal | Cause::Placement => &[("--reallocate", "6")],
            Cause::CacheSize => &[("--last-level", "measured")],
            Cause::Heat => &[("--cooldown", "500ms")],
            _ => &[],
        }
    }

    /// Phrase that describes samples with this disturbance. It follows the word "samples" in a
    /// message.
    pub fn disturbance(self) -> &'static str {
        match self {
            Cause::Moved => "in which a thread was on another cpu",
            Cause::HostMoved => "in which the host moved a vCPU",
            Cause::CoreShared => "on a shared core",
            Cause::NotResident => "with page faults",
            Cause::Others => "with context switches",
            Cause::Stopped => "in which a thread was stopped",
            _ => "with gaps that the system does not count",
        }
    }
}

/// One reason why a number is not solid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Reason {
    /// Kind of reason.
    pub cause: Cause,
    /// The reason in plain words with its numbers, short enough for a table.
    pub text: String,
    /// Advice on how to get a solid number; empty if there is none.
    pub advice: String,
}

/// Grade of a point with its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Verdict {
    /// How far the number can be trusted.
    pub grade: VerdictGrade,
    /// Reasons for a grade below solid, worst first; empty for a solid point.
    pub reasons: Vec<Reason>,
}

impl Verdict {
    /// Adds a reason. If `grade` is worse than the grade of the verdict, it becomes that grade, and
    /// the reason comes first. Otherwise the reason comes last.
    pub fn add(&mut self, grade: VerdictGrade, reason: Reason) {
        let place = if grade > self.grade {
            0
        } else {
            self.reasons.len()
        };
        self.grade = self.grade.max(grade);
        self.reasons.insert(place, reason);
    }

    /// Texts of the reasons, joined by semicolons.
    pub fn text(&self) -> String {
        self.reasons
            .iter()
            .map(|r| r.text.as_str())
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// True if one of the reasons has this cause.
    pub fn names(&self, cause: Cause) -> bool {
        self.reasons.iter().any(|r| r.cause == cause)
    }
}

/// Verdict on a whole report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ReportVerdict {
    /// Grade of the worst point; rejected if no point was measured.
    pub grade: VerdictGrade,
    /// Number of measured points by grade.
    pub points: BTreeMap<VerdictGrade, u64>,
    /// Every cause with the number of its points, the most frequent first.
    pub causes: Vec<CauseCount>,
}

/// Number of points that a cause concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CauseCount {
    /// The cause.
    pub cause: Cause,
    /// Number of points.
    pub points: u64,
    /// Advice from the verdict on the first of these points.
    pub advice: String,
}

/// Number of base pages on a NUMA node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NodePages {
    /// Number of the node.
    pub node: u32,
    /// Number of pages.
    pub pages: u64,
}

/// Evidence about the memory of a point, read back from the system; `null` means unknown.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct PageEvidence {
    /// Requested page size, in bytes.
    pub requested_bytes: Option<u64>,
    /// Share (0 to 1) of the memory that lies in pages of the requested size.
    pub granted_share: Option<f64>,
    /// Size of the pages that most of the memory lies in, in bytes.
    pub granted_bytes: Option<u64>,
    /// Share (0 to 1) of the memory's pages that are resident.
    pub resident_share: Option<f64>,
    /// NUMA nodes on which checked pages lie, in rising order.
    pub nodes: Option<Vec<u32>>,
    /// Number of checked base pages on each node. All pages are checked if a placement was
    /// requested, otherwise a sample of the pages.
    pub pages_by_node: Option<Vec<NodePages>>,
    /// Number of checked base pages that lie on none of the expected nodes.
    pub pages_on_other_nodes: Option<u64>,
    /// Requested placement (`node 1`, `nodes 0-3 interleaved`); `null` if none was requested. The
    /// system then places a page on the node of the thread that writes it first.
    pub requested_placement: Option<String>,
    /// Nodes on which the memory should lie: the requested nodes, or else the nodes of the CPUs
    /// that use the memory.
    pub expected_nodes: Option<Vec<u32>>,
    /// True if every checked piece of memory contains data that is not zero. Reads of memory that
    /// was never written would go to one shared page of zeros.
    pub non_zero: Option<bool>,
}

/// System activity during the rounds of a point. Each figure except `highest_celsius` is the
/// difference between readings before and after a round, summed over all rounds. `null` means
/// unknown.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct SystemActivity {
    /// Time between the readings, in ns.
    pub elapsed_ns: f64,
    /// Time that the hypervisor gave to other guests while the CPUs of the point had work, in ns.
    /// All CPUs are added, and the system counts in steps of 10 ms.
    pub stolen_ns: Option<f64>,
    /// Time for which the control group's quota kept threads from running, all CPUs together.
    pub throttled_ns: Option<f64>,
    /// CPU time of other programs on all CPUs of the system together. The system counts in steps of
    /// 10 ms. For short rounds, the result can therefore be below zero.
    pub others_ns: Option<f64>,
    /// Time in which at least one task of the system waited for a CPU (pressure stall information).
    pub cpu_pressure_ns: Option<f64>,
    /// Time in which at least one task of the system waited for memory (pressure stall
    /// information).
    pub memory_pressure_ns: Option<f64>,
    /// Number of interrupts on the CPUs of the point, timer ticks included.
    pub interrupts: Option<u64>,
    /// Number of times that the CPUs of the point slowed down because of heat.
    pub thermal_throttles: Option<u64>,
    /// Highest temperature of any sensor of the processor, in degrees Celsius.
    pub highest_celsius: Option<f64>,
}

/// Evidence of SMT interference: another hardware thread, even one of another virtual machine, used
/// the core. Independent instructions are timed for some microseconds before and after each sample.
/// Their number per cycle falls if the core is shared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SmtInterference {
    /// Number of samples with a reading below 97% of the baseline. The summary leaves them out.
    pub shared_samples: u64,
    /// Baseline: instructions per cycle while no other hardware thread uses the cores, from all
    /// samples of the session on these CPUs. The baseline is at least 90% of the documented number
    /// of instructions per cycle, if that number is known.
    pub baseline_ipc: f64,
    /// Lowest reading before or after a sample of the point.
    pub lowest_ipc: f64,
}

/// Checks around and during the samples of a point; `null` means unknown.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct Evidence {
    /// CPU that each thread was pinned to.
    pub cpus: Vec<u32>,
    /// True if every thread was on its CPU at the start and the end of every sample.
    pub affinity_held: Option<bool>,
    /// Number of times that a thread was found on another CPU than its own.
    pub migrations: Option<u64>,
    /// Evidence about the memory.
    pub pages: PageEvidence,
    /// Number of minor page faults of the measuring threads during the samples. A minor page fault
    /// needs no reading from storage.
    pub minor_faults: Option<u64>,
    /// Number of major page faults of the measuring threads during the samples. A major page fault
    /// waits for storage.
    pub major_faults: Option<u64>,
    /// Number of times that a measuring thread gave up its CPU during the samples, because it
    /// waited or was stopped.
    pub voluntary_switches: Option<u64>,
    /// Number of involuntary context switches of the measuring threads during the samples.
    pub involuntary_switches: Option<u64>,
    /// Time in gaps inside the samples, all threads together, in ns. A gap is a chunk of work that
    /// took more than three times the median chunk of its sample. The time beyond one median chunk
    /// counts.
    pub gaps_ns: Option<f64>,
    /// Longest gap, in ns.
    pub longest_gap_ns: Option<f64>,
    /// System activity during the rounds.
    pub system_activity: SystemActivity,
    /// Placement of the vCPUs round by round; `null` outside of a virtual machine and for a single
    /// thread.
    pub vcpu_placement: Option<VcpuPlacementEvidence>,
    /// Use of the cores by other hardware threads; `null` if it cannot be measured.
    pub smt_interference: Option<SmtInterference>,
    /// Core clock in Hz that the CPUs of the point reach in the session; `null` if there are too
    /// few samples.
    pub core_hz_baseline: Option<f64>,
    /// Median of the core clocks around all samples, in Hz.
    pub core_hz_median: Option<f64>,
    /// Base clock in Hz: the lowest core clock that the processor guarantees, unless heat or a
    /// power limit slows it. Known only if it follows from the rate of the counter.
    pub core_hz_base: Option<f64>,
    /// Core clock in Hz before the first sample of a round, on the first CPU: median over the
    /// earlier half of the rounds.
    pub core_hz_before: Option<f64>,
    /// Lowest core clock around an undisturbed sample, in Hz.
    pub core_hz_least: Option<f64>,
    /// Highest core clock around an undisturbed sample, in Hz.
    pub core_hz_most: Option<f64>,
    /// Core clock in Hz after the last sample of a round, on the first CPU: median over the later
    /// half of the rounds.
    pub core_hz_after: Option<f64>,
    /// Working sets of all threads of the point together, in bytes.
    pub working_set_bytes: Option<u64>,
    /// Size of all last-level caches of these CPUs together, in bytes.
    pub last_level_cache_bytes: Option<u64>,
    /// Effective capacity of the last-level caches of these CPUs, in bytes; `null` if the session
    /// did not measure it.
    pub measured_last_level_bytes: Option<u64>,
    /// Relative error of the counter's calibration against the monotonic clock.
    pub clock_error: Option<f64>,
    /// Relative difference between the counter's rate over the session so far and its calibration.
    pub clock_drift: Option<f64>,
    /// Number of disturbed samples. The summary leaves them out.
    pub disturbed_samples: u64,
    /// Number of disturbed samples by cause. A sample with several causes is counted under the
    /// first cause.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub disturbed_by: BTreeMap<Cause, u64>,
    /// Number of fresh allocations of memory that the samples are spread over.
    pub allocations: u64,
    /// Half the width of the confidence interval relative to the median.
    pub relative_spread: Option<f64>,
    /// Names of facts that could not be checked, each with the reason.
    pub unchecked: Vec<String>,
}
