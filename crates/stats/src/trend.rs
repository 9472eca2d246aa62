//! Finds trends of values in time order, and correlation between successive values.

use super::groups::merged;
use super::order::median;

/// Significance level: the probability that values without a trend are reported to have one.
const DRIFT_BY_CHANCE: f64 = 0.01;

/// Up to this many values, the distribution of Kendall's statistic is counted exactly. For more
/// values, the normal approximation is close enough.
const COUNTED: usize = 12;

/// A trend of a measured quantity over the rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Change from the first round to the last, relative to the median: 0.05 is 5% up.
    pub total: f64,
    /// p-value: the probability that rounds without a trend rise or fall at least as consistently
    /// as these rounds by chance.
    pub p: f64,
}

/// The trend over the rounds of all allocations. `allocations[allocation][round][sample]` are in
/// time order and in any unit. `None` if the p-value is 0.01 or more, which is always so with fewer
/// than six rounds. `None` also without samples, if a sample is not finite, or if the median is 0.
///
/// Source: Mann, "Nonparametric tests against trend", Econometrica 13 (1945), two-sided. The change
/// is the slope of Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63
/// (1968), times the number of steps between rounds. If there are more than 64 rounds, neighbours
/// are merged first.
pub fn drift(allocations: &[Vec<Vec<f64>>]) -> Option<Drift> {
    let rounds: Vec<Vec<f64>> = allocations
        .iter()
        .flatten()
        .filter(|r| !r.is_empty())
        .cloned()
        .collect();
    let levels: Option<Vec<f64>> = merged(&rounds).iter().map(|r| median(r)).collect();
    let levels = levels?;
    let p = trend_by_chance(&levels);
    let total = slope(&levels)? * levels.len().saturating_sub(1) as f64 / median(&levels)?.abs();
    (p < DRIFT_BY_CHANCE && total.is_finite()).then_some(Drift { total, p })
}

/// Slope of `levels` per step: the median of the slopes of all pairs (Theil and Sen). `None` for
/// fewer than two levels, or if a difference overflows.
pub(super) fn slope(levels: &[f64]) -> Option<f64> {
    let pairs = levels.iter().enumerate().flat_map(|(j, b)| {
        let earlier = levels.iter().take(j).enumerate();
        earlier.map(move |(i, a)| (b - a) / (j - i) as f64)
    });
    median(&pairs.collect::<Vec<f64>>())
}

/// p-value: the probability that values without a trend rise or fall as consistently as `levels` by
/// chance (Mann and Kendall, two-sided). Equal values count as neither a rise nor a fall. Equal
/// values make the result too high rather than too low.
pub(super) fn trend_by_chance(levels: &[f64]) -> f64 {
    let n = levels.len();
    let mut rises = 0usize;
    let mut falls = 0usize;
    for (j, b) in levels.iter().enumerate() {
        rises += levels.iter().take(j).filter(|a| *a < b).count();
        falls += levels.iter().take(j).filter(|a| *a > b).count();
    }
    if n <= COUNTED {
        // Number of pairs that change against the trend. Two equal values count as half a pair. The
        // p-value is twice the share of all orders of distinct values that have at most this number
        // of such pairs.
        let against = (n * n.saturating_sub(1) / 2 - rises.abs_diff(falls)) / 2;
        let share: f64 = inversions(n).iter().take(against + 1).sum();
        return (2.0 * share).min(1.0);
    }
    let n = n as f64;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    two_sided((rises.abs_diff(falls) as f64 - 1.0).max(0.0) / deviation)
}

/// Distribution of the number of falling pairs: element k is the share of all orders of `n` values
/// that have k falling pairs.
fn inversions(n: usize) -> Vec<f64> {
    let mut shares = vec![1.0];
    for count in 2..=n {
        // Inserting a further, largest value adds 0 to `count` - 1 falling pairs. All these numbers
        // are equally probable.
        let mut next = vec![0.0; shares.len() + count - 1];
        for (pairs, share) in shares.iter().enumerate() {
            for slot in next.iter_mut().skip(pairs).take(count) {
                *slot += share / count as f64;
            }
        }
        shares = next;
    }
    shares
}

/// Probability that a standard normal value is further than `z` >= 0 from 0. The error is at most
/// 2e-7.
///
/// Source: Abramowitz and Stegun, "Handbook of mathematical functions", 7.1.26.
fn two_sided(z: f64) -> f64 {
    const TERMS: [f64; 5] = [
        1.061405429,
        -1.453152027,
        1.421413741,
        -0.284496736,
        0.254829592,
    ];
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.3275911 * x);
    TERMS.iter().fold(0.0, |sum, term| sum * t + term) * t * (-x * x).exp()
}

/// True if the rank correlation between successive `levels` exceeds the expected correlation of
/// independent values by more than `deviations` standard deviations.
///
/// Source: Wald and Wolfowitz, "An exact test for randomness in the non-parametric case based on
/// serial correlation", Annals of Mathematical Statistics 14 (1943): the correlation of independent
/// values has the mean -1/n and about the variance 1/n.
pub(super) fn neighbours_alike(levels: &[f64], deviations: f64) -> bool {
    let n = levels.len() as f64;
    // The result is twice the difference between the rank of x and the middle rank. Equal values
    // have the mean of their ranks.
    let rank = |x: &f64| {
        let below = levels.iter().filter(|y| *y < x).count() as f64;
        below - levels.iter().filter(|y| *y > x).count() as f64
    };
    let ranks: Vec<f64> = levels.iter().map(rank).collect();
    let all: f64 = ranks.iter().map(|r| r * r).sum();
    let neighbours: f64 = ranks
        .iter()
        .zip(ranks.iter().skip(1))
        .map(|(a, b)| a * b)
        .sum();
    neighbours > all * (deviations / n.sqrt() - 1.0 / n)
}

#[cfg(test)]
mod tests {
    use super::super::SplitMix64;
    use super::super::order::tests::{exponential, normal};
    use super::*;

    fn rounds(levels: &[f64]) -> Vec<Vec<Vec<f64>>> {
        vec![levels.iter().map(|&level| vec![level; 3]).collect()]
    }

    #[test]
    fn chances_are_the_counted_ones() {
        // Counted by hand: of the 24 orders of four values, 2 are monotone, and 8 are at most one
        // exchange from monotone. Of the 720 orders of six values, 2 are monotone.
        assert!((trend_by_chance(&[1.0, 2.0, 3.0, 4.0]) - 2.0 / 24.0).abs() < 1e-12);
        assert!((trend_by_chance(&[4.0, 3.0, 1.0, 2.0]) - 8.0 / 24.0).abs() < 1e-12);
        assert!((trend_by_chance(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) - 2.0 / 720.0).abs() < 1e-12);
        assert_eq!(
            (
                trend_by_chance(&[]),
                trend_by_chance(&[1.0]),
                trend_by_chance(&[2.0; 9])
            ),
            (1.0, 1.0, 1.0)
        );
        // For more than twelve values, the normal distribution is used. Of these 13 values, 72 more
        // pairs rise than fall. A continuity correction subtracts 1.
        assert!((two_sided(1.96) - 0.05).abs() < 1e-5 && (two_sided(0.0) - 1.0).abs() < 1e-6);
        let levels: Vec<f64> = (0..13)
            .map(|i| f64::from(if i < 3 { 2 - i } else { i }))
            .collect();
        assert!(
            (trend_by_chance(&levels) - two_sided(71.0 / (13.0 * 12.0 * 31.0f64 / 18.0).sqrt()))
                .abs()
                < 1e-12
        );
    }

    #[test]
    fn a_trend_is_found_with_its_size_and_sign() {
        let levels: Vec<f64> = (0..6).map(|i| 100.0 + f64::from(i)).collect();
        let found = drift(&rounds(&levels)).unwrap();
        assert!((found.total - 5.0 / 102.5).abs() < 1e-12 && found.p < 0.01);
        let falling: Vec<f64> = levels.iter().rev().copied().collect();
        assert!((drift(&rounds(&falling)).unwrap().total + 5.0 / 102.5).abs() < 1e-12);
        // A trend continues from one allocation to the next.
        let halves: Vec<Vec<Vec<f64>>> =
            levels.chunks(3).map(|half| rounds(half).concat()).collect();
        assert_eq!(drift(&halves), Some(found));
        // A single outlier hardly changes the trend.
        let mut wild: Vec<f64> = (0..12).map(|i| 100.0 + f64::from(i)).collect();
        wild[5] = 900.0;
        assert!((drift(&rounds(&wild)).unwrap().total - 0.103).abs() < 0.01);
    }

    #[test]
    fn chance_is_rarely_taken_for_a_trend_and_a_trend_rarely_missed() {
        let mut random = SplitMix64::new(31);
        let mut found = |count: usize, rise: f64, skewed: bool| {
            let trials = 1000;
            let one = |_| {
                let step = rise / (count - 1) as f64;
                let mut level = |i| {
                    let noise = if skewed {
                        exponential(&mut random)
                    } else {
                        normal(&mut random)
                    };
                    100.0 + noise + step * i as f64
                };
                usize::from(
                    drift(&rounds(&(0..count).map(&mut level).collect::<Vec<f64>>())).is_some(),
                )
            };
            (0..trials).map(one).sum::<usize>() as f64 / trials as f64
        };
        for count in [6, 8, 12, 13, 25] {
            assert!(
                found(count, 0.0, false) < 0.015 && found(count, 0.0, true) < 0.015,
                "{count}"
            );
        }
        assert!(found(6, 10.0, false) > 0.55 && found(8, 10.0, false) > 0.95);
        assert!(found(12, 6.0, false) > 0.95 && found(25, 4.0, false) > 0.95);
    }

    #[test]
    fn no_trend_in_little_or_nonsense() {
        assert_eq!((drift(&[]), drift(&[vec![], vec![vec![]]])), (None, None));
        assert_eq!(drift(&rounds(&[1.0, 2.0, 3.0, 4.0, 5.0])), None);
        assert_eq!(drift(&rounds(&[5.0; 30])), None);
        for bad in [f64::NAN, f64::INFINITY] {
            assert_eq!(drift(&rounds(&[1.0, 2.0, 3.0, 4.0, 5.0, bad])), None);
        }
        assert_eq!(
            drift(&rounds(&[-f64::MAX, -1.0, -0.5, 0.5, 1.0, f64::MAX])),
            None
        );
        assert_eq!(
            (slope(&[]), slope(&[1.0]), slope(&[1.0, 3.0, 5.0])),
            (None, None, Some(2.0))
        );
        let many: Vec<f64> = (0..5000).map(f64::from).collect();
        assert!((drift(&rounds(&many)).unwrap().total - 2.0).abs() < 0.1);
    }

    #[test]
    fn neighbours_are_alike_in_waves_only() {
        let wave: Vec<f64> = (0..24).map(|i| f64::from(i % 12 - 6).abs()).collect();
        let saw: Vec<f64> = (0..24).map(|i| f64::from(i % 2)).collect();
        assert!(
            neighbours_alike(&wave, 1.0)
                && !neighbours_alike(&saw, 0.0)
                && !neighbours_alike(&[3.0; 24], 0.5)
        );
    }
}
