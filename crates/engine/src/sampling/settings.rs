//! How a point is sampled.

use super::disturbance::disturbances;
use super::recorded::RecordedSample;
use crate::work::Work;
use units::Nanos;

/// Factor for the length of samples of chains through memory. Between two samples a chase stands
/// still for a tenth of a millisecond. Caches lose page-table lines in each pause: loads take 5%
/// longer in samples of 1 ms than in samples of 8 ms of the same chain. Samples of 4 ms are within
/// 1% of those, and 1 to 2% above a chase without pauses.
pub const IN_MEMORY: f64 = 4.0;

/// Rounds that a fixed number of samples is spread over at most: each is a line of the journal with
/// all the evidence so far.
const MOST_ROUNDS: u32 = 100;

/// How a point is sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Length of one sample.
    pub length: Nanos,
    /// Factor for the length of samples of a chain that no cache could hold, see [`IN_MEMORY`].
    pub in_memory: f64,
    /// Samples in a round.
    pub per_round: u32,
    /// Rounds at most.
    pub rounds: u32,
    /// Half the width of the confidence interval relative to the median that is good enough to
    /// stop; 0 for never.
    pub target: f64,
    /// Samples of a point at most, where that is not what all its rounds make.
    pub most: Option<u32>,
}

impl Sampling {
    /// Length of a sample of `work`, by whether the caches could hold it. If most samples `before`
    /// it were disturbed, it has the short length: long ones are disturbed more often.
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

    /// Length of a sample of `work` that nothing disturbs.
    pub fn undisturbed(&self, work: &Work, could_hold: bool) -> Nanos {
        if !could_hold && work.is_chase_alone() {
            self.length * self.in_memory
        } else {
            self.length
        }
    }

    /// `samples` of each point, no more and no fewer: in more rounds where they are many, since
    /// intervals come from rounds.
    pub fn exactly(self, samples: u32) -> Self {
        let wanted = samples.div_ceil(self.per_round.max(1)).min(MOST_ROUNDS);
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

    /// Sampling with rounds in each of `allocations`, all of which are taken: enough of them to
    /// tell whether allocations differ by more than rounds do.
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

    /// Samples of a round before which `taken` were taken.
    pub(super) fn in_round(&self, taken: usize) -> u32 {
        let left = self.most.map_or(u32::MAX, |most| {
            most.saturating_sub(u32::try_from(taken).unwrap_or(u32::MAX))
        });
        self.per_round.min(left)
    }
}
