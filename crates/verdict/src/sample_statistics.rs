//! Statistics of the samples of a point over time and among themselves.

use stats::{self, Drift, Modes};

/// Properties of the values of a point beyond their median and spread.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SampleStatistics {
    /// A trend over the rounds that is not by chance.
    pub drift: Option<Drift>,
    /// Two groups of values.
    pub modes: Option<Modes>,
    /// The highest median of an allocation relative to the lowest, where allocations differ by more
    /// than the rounds within them.
    pub placement: Option<f64>,
    /// By how much samples get slower within rounds (faster below zero), where they do in most.
    pub within_round_trend: Option<f64>,
}

impl SampleStatistics {
    /// Describes values by allocation and round. Higher values are faster where `rates` is set.
    /// Caches are filled again every `samples_per_prefill` samples, so that a trend within rounds
    /// is looked for between fills.
    pub fn describe(
        allocations: &[Vec<Vec<f64>>],
        rates: bool,
        samples_per_prefill: usize,
    ) -> Self {
        let change = stats::within(allocations, samples_per_prefill);
        Self {
            within_round_trend: change.map(|change| {
                if rates {
                    1.0 / (1.0 + change) - 1.0
                } else {
                    change
                }
            }),
            drift: stats::drift(allocations),
            modes: stats::modes(&allocations.concat().concat()),
            placement: stats::placement(allocations),
        }
    }
}
