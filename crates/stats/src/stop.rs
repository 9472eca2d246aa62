//! The stop rule: decides whether a point has enough samples.

use super::levels::{Headline, headline};
use super::order::COVERAGE;

/// Rule that ends sampling when the confidence interval of the median is narrow enough. The rule
/// has a minimum and a maximum number of samples.
///
/// Source: Hoefler and Belli, "Scientific benchmarking of parallel computing systems", SC'15, rule
/// on the number of measurements. It ends sampling according to the width of a non-parametric
/// confidence interval of the median, at the latest after a maximum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopRule {
    /// Largest half width of the interval, relative to the median: 0.01 is plus or minus 1%.
    pub relative_width: f64,
    /// Fewer samples than this are not enough, unless there are at least `maximum` samples.
    pub minimum: usize,
    /// This many samples are always enough.
    pub maximum: usize,
}

impl StopRule {
    /// True if `allocations[allocation][round][sample]` has enough samples for the interval of
    /// [`headline`]. Rounds that differ widen this interval, so that more rounds are needed.
    /// Without a 95% interval, only the maximum ends sampling. Two to five rounds have no 95%
    /// interval. The same holds for two to five allocations that differ, and for fewer than six
    /// samples of one round.
    pub fn enough(&self, allocations: &[Vec<Vec<f64>>]) -> bool {
        let count: usize = allocations.iter().flatten().map(Vec::len).sum();
        count >= self.maximum
            || (count >= self.minimum && self.precise(allocations).unwrap_or(false))
    }

    /// True if the interval has 95% confidence and is narrow enough. `None` if there is no
    /// interval.
    fn precise(&self, allocations: &[Vec<Vec<f64>>]) -> Option<bool> {
        let Headline { median, interval } = headline(allocations)?;
        let narrow = interval.high / 2.0 - interval.low / 2.0 <= self.relative_width * median.abs();
        Some(interval.attained >= COVERAGE && narrow)
    }
}

#[cfg(test)]
mod tests {
    use super::super::SplitMix64;
    use super::super::order::tests::normal;
    use super::*;

    const RULE: StopRule = StopRule {
        relative_width: 0.01,
        minimum: 7,
        maximum: 60,
    };

    fn enough(rule: StopRule, rounds: &[Vec<f64>]) -> bool {
        rule.enough(&[rounds.to_vec()])
    }

    /// Number of samples that `rule` takes in rounds of 5, for values around 100.
    fn taken(rule: StopRule, between: f64, within: f64) -> usize {
        let mut random = SplitMix64::new(4);
        let mut groups = Vec::new();
        while !enough(rule, &groups) {
            let level = 100.0 + between * normal(&mut random);
            groups.push(
                (0..5)
                    .map(|_| level + within * normal(&mut random))
                    .collect(),
            );
        }
        groups.concat().len()
    }

    #[test]
    fn steady_samples_stop_at_the_minimum_and_wild_ones_at_the_maximum() {
        // Two to five rounds have no 95% interval.
        assert_eq!(taken(RULE, 0.0, 0.0), 30);
        assert_eq!(
            taken(
                StopRule {
                    minimum: 41,
                    ..RULE
                },
                0.0,
                0.0
            ),
            45
        );
        assert_eq!(taken(RULE, 0.0, 30.0), 60);
        let many = StopRule {
            maximum: 3000,
            ..RULE
        };
        let middling = taken(many, 0.0, 3.0);
        assert!((35..300).contains(&middling), "{middling}");
        // The same spread needs more samples if it is a spread between rounds.
        let by_round = taken(many, 3.0, 0.0);
        assert!(by_round > middling * 2, "{by_round} {middling}");
    }

    #[test]
    fn few_allocations_that_differ_are_never_precise() {
        let allocation = |level: f64| vec![vec![level; 5]; 6];
        let rule = StopRule {
            maximum: 1000,
            ..RULE
        };
        assert!(rule.enough(&[allocation(100.0), allocation(100.0)]));
        assert!(!rule.enough(&[allocation(100.0), allocation(100.5)]));
        assert!(rule.enough(&[100.0, 100.5, 100.2, 100.3, 100.4, 100.1].map(allocation)));
    }

    #[test]
    fn fewer_than_six_samples_are_not_precise() {
        let rule = StopRule { minimum: 1, ..RULE };
        assert!(!enough(rule, &[vec![100.0; 5]]));
        assert!(enough(rule, &[vec![100.0; 6]]));
        assert!(enough(
            StopRule { maximum: 3, ..rule },
            &[vec![1.0, 2.0, 3.0]]
        ));
    }

    #[test]
    fn nothing_and_nonsense() {
        assert!(!enough(RULE, &[]));
        assert!(!enough(RULE, &[vec![], vec![f64::NAN; 20]]));
        assert!(!enough(RULE, &[vec![f64::INFINITY; 20]]));
        assert!(enough(RULE, &[vec![f64::NAN; 60]]));
        assert!(enough(RULE, &[vec![0.0; 20]])); // exactly known
        assert!(!enough(
            RULE,
            &[(0..20).map(|i| f64::from(i % 2 * 2 - 1)).collect()]
        )); // median 0
        assert!(!enough(
            StopRule {
                relative_width: f64::NAN,
                ..RULE
            },
            &[vec![1.0; 20]]
        ));
        assert!(enough(StopRule { maximum: 0, ..RULE }, &[]));
    }
}
