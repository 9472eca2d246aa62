//! What was checked about a point, and what follows from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far a number can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
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

/// The judgement on a point with its reasons in plain words, worst first; empty for a solid one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// How far the number can be trusted.
    pub grade: VerdictGrade,
    /// Why it is not solid, short enough for a table.
    pub reasons: Vec<String>,
}

/// What was read back about the memory of a point; `null` where the system does not tell.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PageEvidence {
    /// Page size asked for, in bytes.
    pub asked_bytes: Option<u64>,
    /// Share (0 to 1) of the memory that lies in pages of the size asked for.
    pub granted_share: Option<f64>,
    /// The page size that holds most of the memory, in bytes.
    pub granted_bytes: Option<u64>,
    /// Share (0 to 1) of pages that are resident.
    pub resident_share: Option<f64>,
    /// NUMA nodes that sampled pages lie on, in rising order.
    pub nodes: Option<Vec<u32>>,
    /// The nodes of the CPUs that used it.
    pub expected_nodes: Option<Vec<u32>>,
}

/// What was checked around and during the samples of a point; `null` where it could not be read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The CPU that each thread was pinned to.
    pub cpus: Vec<u32>,
    /// Whether every thread was found on its CPU at the start and the end of every sample.
    pub affinity_held: Option<bool>,
    /// The memory.
    pub pages: PageEvidence,
    /// Page faults of the measuring threads during the samples (minor and major).
    pub page_faults: Option<u64>,
    /// Context switches that the measuring threads did not ask for, during the samples.
    pub involuntary_switches: Option<u64>,
    /// Time that the hypervisor took away from the CPUs used during the samples, in ns.
    pub stolen_ns: Option<f64>,
    /// Core clock in Hz before the first sample of a round, on the first CPU, median over the earlier half of rounds.
    pub core_hz_before: Option<f64>,
    /// The same after the last sample of a round, median over the later half of rounds.
    pub core_hz_after: Option<f64>,
    /// Memory that the threads of the point walked through, all together, in bytes.
    pub working_set_bytes: Option<u64>,
    /// Last-level cache that these CPUs share in, all instances together, in bytes.
    pub last_level_cache_bytes: Option<u64>,
    /// Relative error of the counter's calibration against the monotonic clock.
    pub clock_error: Option<f64>,
    /// Samples left out of the summary.
    pub dirty_samples: u64,
    /// Width of the confidence interval relative to the median.
    pub relative_spread: Option<f64>,
    /// Names of facts that could not be checked, with the reason.
    pub unchecked: Vec<String>,
}
