//! Default sampling of points.

use engine::{IN_MEMORY, Sampling};
use units::Nanos;

/// Number of rounds of each point, unless the user fixes the number of samples. The interval comes
/// from the medians of the rounds. With 20 rounds the interval reaches from the 6th lowest median
/// to the 6th highest. Five bad rounds therefore do not change it. Six rounds of three times as
/// many samples take as long, but their interval is twice as wide.
pub(super) const ROUNDS: u32 = 20;

/// Sampling of single experiments and of the default profile.
pub fn default_sampling() -> Sampling {
    sampling(8, ROUNDS, 0.005)
}

/// Sampling with samples of one millisecond. Timer interrupts are at least 1 ms apart, usually 4
/// ms, so the median sample has none. A reading of the clock takes 10^-4 of the time of a sample.
/// Chains in memory have longer samples, see [`IN_MEMORY`].
pub(super) fn sampling(per_round: u32, rounds: u32, target: f64) -> Sampling {
    Sampling {
        length: Nanos::from_millis(1.0),
        in_memory: IN_MEMORY,
        per_round,
        rounds,
        target,
        most: None,
    }
}

/// Sampling of storage with windows of `length`. The experiment may change this sampling.
#[cfg(feature = "storage")]
pub fn storage_sampling(length: Nanos) -> Sampling {
    Sampling {
        length,
        in_memory: 1.0,
        per_round: 2,
        rounds: 10,
        target: 0.01,
        most: None,
    }
}
