//! Default sampling of points.

use engine::{IN_MEMORY, Sampling};
use units::Nanos;

/// Rounds of each point, unless the user fixes the samples. The interval comes from the medians of
/// rounds. With 20 rounds it reaches from the 6th lowest to the 6th highest, so five bad rounds do
/// not move it. It is half as wide as that of six rounds with three times the samples, which take
/// as long.
pub(super) const ROUNDS: u32 = 20;

/// Sampling of single experiments and of the default profile.
pub fn default_sampling() -> Sampling {
    sampling(8, ROUNDS, 0.005)
}

/// Sampling with samples of one millisecond. A sample is shorter than the time between two timer
/// interrupts (4 ms, at least 1 ms), so that the median sample has none. It is 10^4 times as long
/// as a reading of the counter. Chains in memory have longer samples, see [`IN_MEMORY`].
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

/// Sampling with windows of `length` on storage, which the experiment may change.
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
