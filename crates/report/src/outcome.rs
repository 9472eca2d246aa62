//! Outcome of a point: a measured value with its spread and evidence, or the reason why there is no
//! value.

use super::{Evidence, Storage, VcpuPlacement, Verdict};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Outcome of a point. Only [`Outcome::Measured`] has a number. The other variants have the reason
/// why there is no number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Outcome {
    /// The point has a number, with evidence.
    Measured(Box<Measured>),
    /// The point could be measured, but there was no time or memory for it.
    Skipped {
        /// Reason, in words.
        reason: String,
    },
    /// The point cannot be measured here: the machine lacks something, or the combination does not
    /// exist.
    Unsupported {
        /// Reason, in words.
        reason: String,
    },
    /// The session ended before the point was finished.
    Interrupted {
        /// Reason, in words.
        reason: String,
    },
    /// The point was tried and failed.
    Failed {
        /// Reason, in words.
        reason: String,
    },
}

impl Outcome {
    /// The measurement; `None` if the point was not measured.
    pub fn measured(&self) -> Option<&Measured> {
        match self {
            Outcome::Measured(m) => Some(m),
            _ => None,
        }
    }

    /// Name of the status: `measured`, `skipped`, `unsupported`, `interrupted` or `failed`.
    pub fn status(&self) -> &'static str {
        match self {
            Outcome::Measured(_) => "measured",
            Outcome::Skipped { .. } => "skipped",
            Outcome::Unsupported { .. } => "unsupported",
            Outcome::Interrupted { .. } => "interrupted",
            Outcome::Failed { .. } => "failed",
        }
    }

    /// Reason why there is no number; `None` for a measured point.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Outcome::Measured(_) => None,
            Outcome::Skipped { reason }
            | Outcome::Unsupported { reason }
            | Outcome::Interrupted { reason }
            | Outcome::Failed { reason } => Some(reason),
        }
    }
}

/// A measured point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Measured {
    /// Summary of the undisturbed samples, in the dataset's unit.
    pub summary: Summary,
    /// Further figures by name, in base units.
    ///
    /// - Bandwidth: `single_count` (each copied byte counted once) and `bus_estimate` (with the
    ///   lines that stores read first), in B/s. With several threads, `fairness`: the value of the
    ///   slowest thread divided by that of the fastest.
    /// - Latency: `core_cycles`, the latency in cycles of the core clock.
    /// - Instructions: `core_cycles` of one instruction; instructions `per_cycle` and `per_second`.
    /// - Locks: `ns_per_operation` (of one thread).
    /// - Core to core: `one_way_ns` (half the round trip), `core_cycles`.
    /// - Short windows: `p50`, `p90`, `p95`, `p99`, `p99_9` are percentiles of the quantity over
    ///   all windows. `max` is the slowest window, `windows` the number of windows, `window_ns` the
    ///   length of one.
    /// - `undisturbed`: the value on which the quietest moments of the rounds agree within 1%.
    ///   `undisturbed_share`: the share of samples with such a moment. Both are left out if the
    ///   rounds do not agree.
    /// - Storage: `bytes_per_second`, `cpu_ns_per_operation`. Latencies of reads and writes
    ///   together, in ns: `latency_mean`, `latency_p50`, `_p90`, `_p99`, `_p99_9`, `_p99_99`,
    ///   `latency_max`. With several threads, `fairness`. Numbers of operations, left out if 0:
    ///   `errors` (failed), `short` (fewer bytes than requested), `behind` (due but never begun).
    /// - GPUs: `device_share`, the time of a sample by the device's clock divided by its time by
    ///   the host's clock, median. `ns_per_transfer`. Medians of conditions after each sample:
    ///   `device_core_hz`, `device_memory_hz`, `device_celsius`, `device_watts`.
    ///   `power_limited_share`: the share of samples that ended at the power limit.
    pub also: BTreeMap<String, f64>,
    /// Background traffic; left out if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// Figures of operations on files and devices; left out for other kinds of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Box<Storage>>,
    /// Result of the selection that chose the kernel, or the number of threads, before the samples
    /// were taken. `null` if there was no selection.
    #[serde(default)]
    pub choice: Option<Choice>,
    /// Upper bound on bandwidth or lower bound on latency, with its source; `null` if unknown.
    pub limit: Option<Limit>,
    /// Every sample, disturbed ones included, in the order taken.
    pub samples: Vec<Sample>,
    /// Checks around and during the samples.
    pub evidence: Evidence,
    /// Verdict that follows from the evidence.
    pub verdict: Verdict,
}

impl Measured {
    /// True if the figures were read from a table, which has no samples.
    pub fn is_without_samples(&self) -> bool {
        self.samples.is_empty() || self.summary.mad.is_none()
    }

    /// Placement of the vCPUs on the host's cores in the rounds that the summary uses. `None` if it
    /// was not measured.
    pub fn placement(&self) -> Option<VcpuPlacement> {
        let evidence = self.evidence.vcpu_placement.as_ref()?;
        Some(evidence.headline()?.placement)
    }

    /// The value on which the quietest moments of the rounds agree, in the dataset's unit; `None`
    /// if the rounds do not agree.
    pub fn undisturbed(&self) -> Option<f64> {
        self.also.get("undisturbed").copied()
    }

    /// For each sample: its allocation and round, and its value in its quietest part. A sample is
    /// left out if its vCPU placement is not the summary's, or if a thread was on a wrong CPU.
    pub fn quietest_parts(&self) -> impl Iterator<Item = ((u32, u32), f64)> {
        let placement = self.placement();
        self.samples
            .iter()
            .filter(move |s| s.cpus.is_empty() && s.placement == placement)
            .filter_map(|s| Some(((s.allocation, s.round), s.quietest?)))
    }

    /// For each round, the second best value among the quietest parts of its samples, or the only
    /// value. The best value is not used, because a late reading of the counter may have made it
    /// too good.
    pub fn best_of_rounds(&self, higher_is_better: bool) -> Vec<f64> {
        let mut rounds: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
        for (round, value) in self.quietest_parts() {
            rounds.entry(round).or_default().push(value);
        }
        let second = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            if higher_is_better {
                values.reverse();
            }
            values.get(1).or(values.first()).copied()
        };
        rounds.into_values().filter_map(second).collect()
    }

    /// Undisturbed samples of the rounds with `placement`. `None` stands for all rounds.
    pub fn undisturbed_samples(
        &self,
        placement: Option<VcpuPlacement>,
    ) -> impl Iterator<Item = &Sample> {
        self.samples
            .iter()
            .filter(move |sample| sample.is_undisturbed_with(placement))
    }

    /// Samples that the summary uses: the undisturbed samples with the vCPU placement that the
    /// summary is about. If there are none, the summary uses all samples.
    pub fn samples_of_summary(&self) -> impl Iterator<Item = &Sample> {
        let placement = self.placement();
        let all = self.undisturbed_samples(placement).next().is_none();
        self.samples
            .iter()
            .filter(move |sample| all || sample.is_undisturbed_with(placement))
    }
}

/// Background traffic during the samples of the summary, in B/s.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Load {
    /// Median of the payload that the traffic's loads and stores requested, all threads together.
    pub median: f64,
    /// Lower end of the 95% confidence interval of that median.
    pub ci_low: f64,
    /// Upper end of the 95% confidence interval of that median.
    pub ci_high: f64,
    /// Probability that the interval contains the true median; below 0.95 with fewer than six
    /// rounds.
    pub confidence: f64,
    /// Median of the estimated traffic on the memory bus. The estimate assumes that no data stays
    /// in a cache and that ordinary stores read their lines first.
    pub bus_estimate: f64,
}

/// Result of a selection among kernels, or numbers of threads, that do the same work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Choice {
    /// Name of the selected kernel, with which the samples were taken.
    pub kernel: String,
    /// All candidates, the fastest first.
    pub candidates: Vec<Candidate>,
}

/// A candidate of a selection: a kernel, or a kernel with a number of threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Candidate {
    /// Name of the kernel in `memgauge list kernels`.
    pub kernel: String,
    /// Number of threads; left out unless the selection was among numbers of threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    /// Working set of each thread, in bytes; left out unless the selection was among numbers of
    /// threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Prefetch distance in bytes; `null` for a kernel without prefetching.
    pub prefetch_distance_bytes: Option<u64>,
    /// Median of a few short samples, in the dataset's unit. Only the selection uses it.
    pub median: f64,
    /// Number of these short samples.
    pub samples: u64,
}

/// Bound that the point cannot exceed (bandwidth) or fall below (latency).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Limit {
    /// Value of the bound, in the dataset's unit.
    pub value: f64,
    /// Source of the limit, in words.
    pub source: String,
    /// Factor by which a value may pass the bound without being rejected. The factor covers the
    /// error of the bound and the part of the memory that caches may contain.
    #[serde(default = "exactly")]
    pub tolerance: f64,
}

/// Default of [`Summary::confidence`].
fn usual() -> f64 {
    0.95
}

/// Default of [`Limit::tolerance`]: no tolerance.
fn exactly() -> f64 {
    1.0
}

/// Summary of the undisturbed samples of a point, in the dataset's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Summary {
    /// Median of the point, its main figure.
    pub median: f64,
    /// Best sample: highest bandwidth, lowest latency.
    pub best: f64,
    /// Lower end of the 95% confidence interval of the median.
    pub ci_low: f64,
    /// Upper end of the 95% confidence interval of the median.
    pub ci_high: f64,
    /// Probability that the interval contains the true median: below 0.95 with fewer than six
    /// rounds. 0 means that the spread is unknown and both ends are the median.
    #[serde(default = "usual")]
    pub confidence: f64,
    /// Median absolute deviation from the median, unscaled; `null` if another tool's report lacks
    /// it.
    pub mad: Option<f64>,
    /// Mean of the undisturbed samples; `null` if the report is of an older version, or of another
    /// tool that lacks it.
    #[serde(default)]
    pub mean: Option<f64>,
    /// Standard deviation of the undisturbed samples (n - 1); `null` for one sample, or if the mean
    /// is `null`.
    #[serde(default)]
    pub standard_deviation: Option<f64>,
    /// Coefficient of variation: standard deviation divided by the magnitude of the mean. `null` if
    /// the mean is 0 or the standard deviation is `null`.
    #[serde(default)]
    pub coefficient_of_variation: Option<f64>,
    /// Number of undisturbed samples that these figures rest on.
    pub undisturbed_samples: u64,
}

impl Summary {
    /// Both ends of the confidence interval; `None` if the spread is unknown, because an interval
    /// of zero width would look exact.
    pub fn interval(&self) -> Option<(f64, f64)> {
        (self.confidence > 0.0).then_some((self.ci_low, self.ci_high))
    }
}

/// One timed sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Sample {
    /// Value of the quantity, in the dataset's unit.
    pub value: f64,
    /// Length of the common window, in which all threads worked, in ns.
    pub elapsed_ns: f64,
    /// Amount of work in the window; its unit depends on the experiment. Bandwidth: payload bytes
    /// of all threads, or of the measured thread. Latency: steps of the chain. Other experiments:
    /// instructions, operations on locks, or round trips.
    pub work: u64,
    /// Payload of background traffic in the window, in B/s; left out if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<f64>,
    /// Core clock of the first CPU in Hz, from readings right before and after the sample; `null`
    /// if unknown.
    pub core_hz: Option<f64>,
    /// Number of the sample's round, from 0.
    pub round: u32,
    /// Number of the allocation of the sample's memory, from 0.
    #[serde(default)]
    pub allocation: u32,
    /// Time in gaps inside the sample, all threads together, in ns. A gap is a chunk of work that
    /// took more than three times its thread's median chunk. The time beyond one median chunk
    /// counts. Left out if there was no gap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps_ns: Option<f64>,
    /// CPU that each thread was found on. Left out if each thread was on its own CPU, or if the
    /// system does not report the CPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// Placement of the vCPUs in the sample's round; left out if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<VcpuPlacement>,
    /// Value of the quantity in the quietest (fastest) of about sixteen parts of the sample; left
    /// out if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quietest: Option<f64>,
    /// Reason why the sample is left out of the summary; `null` for an undisturbed sample.
    pub disturbance: Option<String>,
}

impl Sample {
    /// True if the sample is undisturbed and its round had `placement`; `None` accepts any
    /// placement.
    fn is_undisturbed_with(&self, placement: Option<VcpuPlacement>) -> bool {
        self.disturbance.is_none() && (placement.is_none() || self.placement == placement)
    }
}
