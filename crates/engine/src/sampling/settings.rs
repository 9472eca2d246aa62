//! Settings for the samples of a point.

use super::disturbance::disturbances;
use super::recorded::RecordedSample;
use crate::work::Work;
use units::Nanos;

/// Factor on the length of samples of chains that fit into no cache. A chase stops for a tenth of a
/// millisecond between two samples, and caches lose lines of page tables in each such pause. Loads
/// in samples of 1 ms take 5% longer than in samples of 8 ms of the same chain. In samples of 4 ms,
/// latencies are within 1% of those in samples of 8 ms, and 1 to 2% above a chase without pauses.
pub const IN_MEMORY: f64 = 4.0;

/// Largest number of rounds over which a fixed number of samples is spread. The number is limited,
/// because each round adds a line with all evidence so far to the journal.
const MAX_ROUNDS: u32 = 100;

/// Settings for the samples of a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Length of one sample.
    pub length: Nanos,
    /// Factor on the length of samples of a chain that fits into no cache, see [`IN_MEMORY`].
    pub in_memory: f64,
    /// Number of samples in a round.
    pub per_round: u32,
    /// Largest number of rounds.
    pub rounds: u32,
    /// Target for half the width of the confidence interval, relative to the median. A point ends
    /// when its interval is this narrow. With 0, a point never ends early.
    pub target: f64,
    /// Largest number of samples of a point; `None` if only the numbers of rounds and samples per
    /// round limit it.
    pub most: Option<u32>,
}

impl Sampling {
    /// Length of a sample of `work`. `could_hold` says whether its working set could fit into a
    /// cache. If most of the earlier `samples` were disturbed, the result is the short length,
    /// because long samples are disturbed more often.
    pub(super) fn length_of(
        &self,
        work: &Work,
        could_hold: bool,
        samples: &[RecordedSample],
    ) -> Nanos {
        let disturbed = samples
            .iter()
            .filter(|taken| !disturbances(work, &taken.seen).is_empty())
            .count();
        if 2 * disturbed > samples.len() {
            self.length
        } else {
            self.undisturbed(work, could_hold)
        }
    }

    /// Length of a sample of `work` while most samples are undisturbed. `could_hold` says whether
    /// its working set could fit into a cache.
    pub fn undisturbed(&self, work: &Work, could_hold: bool) -> Nanos {
        if !could_hold && work.is_chase_alone() {
            self.length * self.in_memory
        } else {
            self.length
        }
    }

    /// Settings for exactly `samples` samples. Many samples are spread over more rounds, because
    /// intervals are computed from rounds.
    pub fn exactly(self, samples: u32) -> Self {
        let wanted = samples.div_ceil(self.per_round.max(1)).min(MAX_ROUNDS);
        let rounds = self.rounds.max(wanted).min(samples).max(1);
        let per_round = samples.div_ceil(rounds);
        Self {
            per_round,
            rounds: samples.div_ceil(per_round.max(1)),
            target: 0.0,
            most: Some(samples),
            ..self
        }
    }

    /// Settings that spread the rounds evenly over `allocations` allocations and never end a point
    /// early. With 0 or 1 allocation, the settings stay the same. There are enough rounds to show
    /// whether values differ more between allocations than between rounds.
    pub fn over(self, allocations: u32) -> Self {
        let each = match allocations {
            0 | 1 => return self,
            2 => 3,
            _ => 2,
        };
        let rounds = self
            .rounds
            .max(allocations.saturating_mul(each))
            .next_multiple_of(allocations);
        Self {
            rounds,
            target: 0.0,
            ..self
        }
    }

    /// Number of samples in a round, after `taken` samples in earlier rounds.
    pub(super) fn in_round(&self, taken: usize) -> u32 {
        let left = self.most.map_or(u32::MAX, |most| {
            most.saturating_sub(u32::try_from(taken).unwrap_or(u32::MAX))
        });
        self.per_round.min(left)
    }
}
