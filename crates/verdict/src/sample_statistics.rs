//! Statistics of the samples of a point over time and among themselves.

use stats::{self, Drift, Modes};

/// Properties of the values of a point beyond their median and spread.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SampleStatistics {
    /// A trend over the rounds that is not due to chance.
    pub drift: Option<Drift>,
    /// Two groups of values.
    pub modes: Option<Modes>,
    /// Highest median of an allocation relative to the lowest, if allocations differ by more than
    /// the rounds within them.
    pub placement: Option<f64>,
    /// Relative slow-down within rounds (negative if samples get faster), if most rounds share it.
    pub within_round_trend: Option<f64>,
}

impl SampleStatistics {
    /// Statistics of values by allocation and round. `rates` says that higher values are faster.
    /// Caches are filled again every `samples_per_prefill` samples, so the trend within rounds is
    /// the one between two fills.
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
