//! When there are enough samples.

use super::bootstrap::block_median_interval;
use super::order::{COVERAGE, median, median_interval};

/// Samples are taken until the median is known well enough, but never fewer than a minimum nor more than a maximum.
///
/// Source: Hoefler and Belli, "Scientific benchmarking of parallel computing systems", SC'15, rule on the number of
/// measurements: stop by the width of a non-parametric confidence interval of the median, with a cap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopRule {
    /// The interval's half-width as a share of the median that is good enough: 0.01 is plus or minus 1%.
    pub relative_width: f64,
    /// Fewer samples than this are never enough (unless it is above the maximum).
    pub minimum: usize,
    /// This many samples are always enough.
    pub maximum: usize,
}

impl StopRule {
    /// Whether the samples so far, by round, are enough. Fewer than six have no 95% interval and can be enough by the
    /// maximum only, and so can samples that are not finite. The intervals are those of [`median_interval`] and
    /// [`block_median_interval`]: rounds that differ ask for more samples than rounds that agree.
    pub fn enough(&self, groups: &[Vec<f64>]) -> bool {
        let count: usize = groups.iter().map(Vec::len).sum();
        count >= self.maximum || (count >= self.minimum && self.precise(groups).unwrap_or(false))
    }

    /// Whether the interval is inside the target, `None` where there is none.
    fn precise(&self, groups: &[Vec<f64>]) -> Option<bool> {
        let samples = groups.concat();
        let middle = median(&samples)?;
        let narrow = |low: f64, high: f64| high / 2.0 - low / 2.0 <= self.relative_width * middle.abs();
        // The plain interval costs next to nothing and is never the wider one.
        let plain = median_interval(&samples)?;
        if plain.attained < COVERAGE || !narrow(plain.low, plain.high) {
            return Some(false);
        }
        // Any seed would do; a fixed one makes the same samples stop at the same point.
        let blocks = block_median_interval(groups, 0)?;
        Some(narrow(blocks.low, blocks.high))
    }
}

#[cfg(test)]
mod tests {
    use super::super::SplitMix64;
    use super::super::order::tests::normal;
    use super::*;

    const RULE: StopRule = StopRule { relative_width: 0.01, minimum: 7, maximum: 60 };

    /// How many samples `rule` takes, in rounds of 5, of values around 100.
    fn taken(rule: StopRule, between: f64, within: f64) -> usize {
        let mut random = SplitMix64::new(4);
        let mut groups = Vec::new();
        while !rule.enough(&groups) {
            let level = 100.0 + between * normal(&mut random);
            groups.push((0..5).map(|_| level + within * normal(&mut random)).collect());
        }
        groups.concat().len()
    }

    #[test]
    fn steady_samples_stop_at_the_minimum_and_wild_ones_at_the_maximum() {
        assert_eq!(taken(RULE, 0.0, 0.0), 10);
        assert_eq!(taken(RULE, 0.0, 30.0), 60);
        let middling = taken(StopRule { maximum: 3000, ..RULE }, 0.0, 2.0);
        assert!((15..150).contains(&middling), "{middling}");
        // The same spread costs more where it lies between rounds.
        let by_round = taken(StopRule { maximum: 3000, ..RULE }, 2.0, 0.0);
        assert!(by_round > middling * 5 / 4, "{by_round} {middling}");
    }

    #[test]
    fn fewer_than_six_samples_are_not_precise() {
        let rule = StopRule { minimum: 1, ..RULE };
        assert!(!rule.enough(&[vec![100.0; 5]]));
        assert!(rule.enough(&[vec![100.0; 6]]));
        assert!(StopRule { maximum: 3, ..rule }.enough(&[vec![1.0, 2.0, 3.0]]));
    }

    #[test]
    fn nothing_and_nonsense() {
        assert!(!RULE.enough(&[]));
        assert!(!RULE.enough(&[vec![], vec![f64::NAN; 20]]));
        assert!(!RULE.enough(&[vec![f64::INFINITY; 20]]));
        assert!(RULE.enough(&[vec![f64::NAN; 60]]));
        assert!(RULE.enough(&[vec![0.0; 20]])); // exactly known
        assert!(!RULE.enough(&[(0..20).map(|i| f64::from(i % 2 * 2 - 1)).collect()])); // median 0
        assert!(!StopRule { relative_width: f64::NAN, ..RULE }.enough(&[vec![1.0; 20]]));
        assert!(StopRule { maximum: 0, ..RULE }.enough(&[]));
    }
}
