//! Statistics of the samples of a point: their course over time, and groups among them.

use stats::{self, Drift, Modes};

/// Properties of the values of a point beyond their median and spread.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SampleStatistics {
    /// A trend over the rounds that chance does not explain; `None` without one.
    pub drift: Option<Drift>,
    /// Two groups that the values form; `None` if they form one group.
    pub modes: Option<Modes>,
    /// Highest median of an allocation divided by the lowest. `None` unless allocations differ by
    /// more than the rounds of one allocation.
    pub placement: Option<f64>,
    /// Relative slow-down from the first to the last samples of a round, negative for a speed-up.
    /// `None` unless most rounds show it.
    pub within_round_trend: Option<f64>,
}

impl SampleStatistics {
    /// Computes the statistics of `allocations`: values by allocation and round. `rates` is true if
    /// higher values are faster. Caches are filled again every `samples_per_prefill` samples. The
    /// trend within rounds is therefore the trend between two prefills.
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
