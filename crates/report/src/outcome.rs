//! Outcome of a point: a measured value with its spread and evidence, or the reason why there is
//! none.

use super::{Evidence, Storage, Verdict};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Outcome of a point. Every variant but the first says why there is no number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Outcome {
    /// There is a number, with the evidence for it.
    Measured(Box<Measured>),
    /// It could be measured, but there was no time or memory for it.
    Skipped {
        /// Why, in words.
        reason: String,
    },
    /// It cannot be measured here: the machine lacks it, or there is no such combination.
    Unsupported {
        /// Why, in words.
        reason: String,
    },
    /// The run ended before it was done.
    Interrupted {
        /// Why, in words.
        reason: String,
    },
    /// It was tried and went wrong.
    Failed {
        /// Why, in words.
        reason: String,
    },
}

impl Outcome {
    /// The measured value, if there is one.
    pub fn measured(&self) -> Option<&Measured> {
        match self {
            Outcome::Measured(m) => Some(m),
            _ => None,
        }
    }

    /// `measured`, `skipped`, `unsupported`, `interrupted` or `failed`.
    pub fn status(&self) -> &'static str {
        match self {
            Outcome::Measured(_) => "measured",
            Outcome::Skipped { .. } => "skipped",
            Outcome::Unsupported { .. } => "unsupported",
            Outcome::Interrupted { .. } => "interrupted",
            Outcome::Failed { .. } => "failed",
        }
    }

    /// Why there is no number, `None` where there is one.
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
    /// The undisturbed samples in a few figures, in the dataset's unit.
    pub summary: Summary,
    /// Further figures by name, in base units.
    ///
    /// - Bandwidth: `single_count` (a copy counted once), `bus_estimate` (with write-allocate
    ///   traffic), in B/s; of several threads `fairness`, the slowest as a share of the fastest.
    /// - Latency: `core_cycles`.
    /// - Instructions: `core_cycles`, `per_cycle`, `per_second`.
    /// - Locks: `ns_per_operation` (of one thread).
    /// - Core to core: `one_way_ns` (half the round trip), `core_cycles`.
    /// - Short windows: `p50`, `p90`, `p95`, `p99`, `p99_9`, `max` of the quantity in a window,
    ///   `windows` (their number), `window_ns`.
    /// - Storage: `bytes_per_second`, `latency_mean`, `latency_p50`, `_p90`, `_p99`, `_p99_9`,
    ///   `_p99_99`, `latency_max` (of every operation, in ns), `cpu_ns_per_operation`; of several
    ///   threads `fairness`; if there were any, `errors`, `short`, `behind`.
    pub also: BTreeMap<String, f64>,
    /// Background traffic; left out where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// Figures of operations on files and devices; left out for other kinds of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Box<Storage>>,
    /// Which kernel, or number of threads, was found fastest before the samples, and what the
    /// others reached; `null` where there was no choice.
    #[serde(default)]
    pub choice: Option<Choice>,
    /// The upper bound on the summary's value with its source, `null` where none is known.
    pub limit: Option<Limit>,
    /// Every sample taken, disturbed ones among them, in the order taken.
    pub samples: Vec<Sample>,
    /// Checks around and during the samples.
    pub evidence: Evidence,
    /// Verdict that follows from the evidence.
    pub verdict: Verdict,
}

impl Measured {
    /// Whether the figures come from a table, without the samples that they rest on.
    pub fn is_without_samples(&self) -> bool {
        self.samples.is_empty() || self.summary.mad.is_none()
    }

    /// The samples that the summary rests on: the undisturbed ones, or all where none is
    /// undisturbed.
    pub fn samples_of_summary(&self) -> impl Iterator<Item = &Sample> {
        let any = self
            .samples
            .iter()
            .any(|sample| sample.disturbance.is_none());
        self.samples
            .iter()
            .filter(move |sample| !any || sample.disturbance.is_none())
    }
}

/// Background traffic during the samples of the summary, in B/s.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Load {
    /// Median of what their loads and stores requested (payload), all threads together.
    pub median: f64,
    /// Lower end of the 95% confidence interval of that median.
    pub ci_low: f64,
    /// Upper end of the 95% confidence interval of that median.
    pub ci_high: f64,
    /// How often an interval made like this one holds the truth: below 0.95 where there were fewer
    /// than six rounds.
    pub confidence: f64,
    /// Median of what crossed the memory bus if nothing stayed in a cache and ordinary stores read
    /// their lines first.
    pub bus_estimate: f64,
}

/// A choice among kernels, or numbers of threads, that do the same work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Choice {
    /// The kernel that the samples are of.
    pub kernel: String,
    /// Everything that was tried, the fastest first.
    pub candidates: Vec<Candidate>,
}

/// A kernel that was tried, with a number of threads where that was the choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Candidate {
    /// Its name in `memgauge list kernels`.
    pub kernel: String,
    /// Threads, where their number was the choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    /// Working set of each of them, where their number was the choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// How far ahead it prefetched, `null` for one that does not.
    pub prefetch_distance_bytes: Option<u64>,
    /// Median of a few short samples, in the dataset's unit: to choose by, not to quote.
    pub median: f64,
    /// How many.
    pub samples: u64,
}

/// Value that the point cannot exceed (bandwidth) or fall below (latency).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Limit {
    /// In the dataset's unit.
    pub value: f64,
    /// Source of the limit, in words.
    pub source: String,
    /// Values up to this many times the limit are not rejected: its own error, and what caches may
    /// hold of the memory.
    #[serde(default = "exactly")]
    pub tolerance: f64,
}

/// Usual confidence of intervals.
fn usual() -> f64 {
    0.95
}

/// No tolerance.
fn exactly() -> f64 {
    1.0
}

/// The undisturbed samples of a point in a few figures, in the dataset's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Summary {
    /// The headline.
    pub median: f64,
    /// The best sample: highest bandwidth, lowest latency.
    pub best: f64,
    /// Lower end of the 95% confidence interval of the median.
    pub ci_low: f64,
    /// Upper end of the 95% confidence interval of the median.
    pub ci_high: f64,
    /// How often an interval made like this one holds the truth: below 0.95 where there were fewer
    /// than six rounds; 0 where nothing is known of the spread, and both ends are the median.
    #[serde(default = "usual")]
    pub confidence: f64,
    /// Median absolute deviation from the median, unscaled; `null` where the report is of another
    /// tool that does not tell.
    pub mad: Option<f64>,
    /// Mean of the undisturbed samples; `null` where the report is of an earlier version or of
    /// another tool that does not tell.
    #[serde(default)]
    pub mean: Option<f64>,
    /// Standard deviation of the undisturbed samples (n - 1); `null` for one sample, and as for the
    /// mean.
    #[serde(default)]
    pub standard_deviation: Option<f64>,
    /// Coefficient of variation: the standard deviation divided by the magnitude of the mean;
    /// `null` where the mean is 0, and as for the standard deviation.
    #[serde(default)]
    pub coefficient_of_variation: Option<f64>,
    /// How many undisturbed samples these figures rest on.
    pub undisturbed_samples: u64,
}

impl Summary {
    /// Both ends of the interval, `None` where nothing is known of it: no width would look like no
    /// doubt.
    pub fn interval(&self) -> Option<(f64, f64)> {
        (self.confidence > 0.0).then_some((self.ci_low, self.ci_high))
    }
}

/// One timed sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Sample {
    /// The quantity, in the dataset's unit.
    pub value: f64,
    /// Length of the common window that was counted.
    pub elapsed_ns: f64,
    /// Work in the window: payload bytes of all threads (bandwidth) or of the measured one, steps
    /// of the chain (latency), instructions, operations on locks, round trips.
    pub work: u64,
    /// Payload that threads beside the measured one moved in the window, in B/s; left out where
    /// there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<f64>,
    /// Core clock right before and after on the first CPU, `null` where it could not be
    /// established.
    pub core_hz: Option<f64>,
    /// Number of the round in which it was taken, from 0.
    pub round: u32,
    /// Number of the allocation of its memory, from 0.
    #[serde(default)]
    pub allocation: u32,
    /// Time in gaps inside it, all threads together: what single chunks took longer than three
    /// times the median chunk; left out where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps_ns: Option<f64>,
    /// The CPU that each thread was found on; left out where each was on its own and where the
    /// system does not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// Why it is left out of the summary, `null` for a undisturbed sample.
    pub disturbance: Option<String>,
}
