//! Health of one machine: its figures compared with the expectations for its hardware.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Health of a machine: its figures compared with expectations of its hardware.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Health {
    /// Name of the method: `health-1`. Another name means other points or settings.
    pub method: String,
    /// Digest of the requested points and of the kernels' machine code. Reports with equal digests
    /// measured the same points with the same instructions.
    pub digest: String,
    /// State of the machine.
    pub state: HealthState,
    /// Reason for the state, in words; empty for a healthy machine.
    pub reason: String,
    /// Number of figures that were compared with an expectation.
    pub judged: u64,
    /// Figures that were slower than their threshold in the first measurement. Figures that were
    /// slow in the second measurement too come first. Among these and among the others, the figure
    /// farthest from its expected value comes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slower: Vec<HealthFigure>,
}

/// State of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HealthState {
    /// The machine is as fast as expected.
    Healthy,
    /// The machine is faster than expected.
    Unusual,
    /// The machine is slower than expected in two measurements, the second in fresh memory.
    Slow,
    /// The figures were compared, but the comparison does not allow a conclusion.
    Inconclusive,
    /// No figure was compared, because there were no expectations.
    NotJudged,
}

impl HealthState {
    /// The state in words.
    pub fn words(self) -> &'static str {
        match self {
            HealthState::Healthy => "healthy",
            HealthState::Unusual => "unusual",
            HealthState::Slow => "slow",
            HealthState::Inconclusive => "inconclusive",
            HealthState::NotJudged => "not judged",
        }
    }
}

/// A figure that was slower than its threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HealthFigure {
    /// Name of the quantity: `bandwidth DRAM read threads 2`.
    pub quantity: String,
    /// Base unit of the three values: `B/s`, `ns`.
    pub unit: String,
    /// The expected value.
    pub expected: f64,
    /// The value of the first measurement.
    pub measured: f64,
    /// The value of the second measurement, in fresh memory; left out if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<f64>,
    /// True if the figure was slower than its threshold in both measurements.
    pub is_slow: bool,
}
