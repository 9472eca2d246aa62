//! Computes confidence intervals of the ratio of two sets of values.

use super::order::{Interval, mean, median, sorted};
use super::tails::student_tail;

/// If each set has at most this many values, the distribution of rank sums is counted exactly. For
/// more values, the normal approximation is good enough.
const EXACT: usize = 20;

/// Only every k-th value of a larger set is used, so that at most this many are left. This limits
/// the computing time, and only widens the interval.
const MOST: usize = 400;

/// Confidence interval of the ratio of `after` to `before`. Both are sets of independent, positive
/// values in the same unit. The interval contains the true ratio with at least the given
/// `confidence`, if both sets have the same distribution up to a factor. If nothing changed, 1 lies
/// outside the interval in at most 1 - `confidence` of all comparisons.
///
/// `None` if a value is not finite and above 0, if a ratio overflows, or if there are too few
/// values. A confidence of 0.98 needs two sets of five values, or a set of four and a set of six.
/// The interval inverts the rank-sum test of Wilcoxon, Mann and Whitney. The test uses logarithms,
/// which turn a factor into a shift.
///
/// Source: Hollander and Wolfe, "Nonparametric statistical methods", section 4.3 (Moses' interval).
pub fn ratio_interval(before: &[f64], after: &[f64], confidence: f64) -> Option<Interval> {
    let before = thin(&sorted(before)?);
    let after = thin(&sorted(after)?);
    if *before.first()? <= 0.0 || *after.first()? <= 0.0 || !(0.0..1.0).contains(&confidence) {
        return None;
    }
    let (outside, attained) = rank(before.len(), after.len(), confidence)?;
    let ratios: Vec<f64> = before
        .iter()
        .flat_map(|b| after.iter().map(move |a| a / b))
        .collect();
    let ratios = sorted(&ratios)?;
    let low = *ratios.get(outside)?;
    let high = *ratios.get(ratios.len() - 1 - outside)?;
    (low > 0.0).then_some(Interval {
        low,
        high,
        attained,
    })
}

/// Standard error of the median divided by the standard error of the mean, for a normal
/// distribution.
const MEDIAN_ERROR: f64 = 1.2533;

/// Like [`ratio_interval`], but for smaller sets: at least one value in each set, and four values
/// together. The interval is Student's interval around the ratio of the medians. It assumes that
/// the logarithms of both sets are normal with equal standard deviations. `None` for fewer values,
/// or if a value is not finite and above 0.
///
/// Source: Hollander and Wolfe, "Nonparametric statistical methods", section 4.2, for the interval
/// of means. The factor `MEDIAN_ERROR` widens it for medians.
pub fn few_ratio_interval(before: &[f64], after: &[f64], confidence: f64) -> Option<Interval> {
    let logarithms = |values: &[f64]| -> Option<Vec<f64>> {
        let positive = values.iter().all(|v| v.is_finite() && *v > 0.0);
        positive.then(|| values.iter().map(|v| v.ln()).collect())
    };
    let before = logarithms(before)?;
    let after = logarithms(after)?;
    let squares = |values: &[f64]| -> Option<f64> {
        let centre = mean(values)?;
        Some(values.iter().map(|v| (v - centre).powi(2)).sum())
    };
    let n = before.len() as f64;
    let m = after.len() as f64;
    let freedom = n + m - 2.0;
    let far = student_tail((1.0 - confidence) / 2.0, freedom)?;
    let scale = ((squares(&before)? + squares(&after)?) / freedom).sqrt();
    let half = far * scale * MEDIAN_ERROR * (1.0 / n + 1.0 / m).sqrt();
    let middle = median(&after)? - median(&before)?;
    Some(Interval {
        low: (middle - half).exp(),
        high: (middle + half).exp(),
        attained: confidence,
    })
}

/// Number of ratios that lie outside the interval on each side, and the confidence of the interval.
/// There are `n` x `m` ratios, one for each pair of values. `None` if there are too few values for
/// `confidence`.
fn rank(n: usize, m: usize, confidence: f64) -> Option<(usize, f64)> {
    let tail_allowed = (1.0 - confidence) / 2.0;
    if n.max(m) > EXACT {
        return Some((normal_rank(n, m, tail_allowed)?, confidence));
    }
    let ways = rank_sum_ways(n, m);
    let all: f64 = ways.iter().sum();
    let mut tail = 0.0;
    let mut inside = None;
    for (statistic, count) in ways.iter().enumerate() {
        let next = tail + count / all;
        if next > tail_allowed {
            break;
        }
        tail = next;
        inside = Some((statistic, 1.0 - 2.0 * tail));
    }
    inside
}

/// Number of ratios outside the interval on each side, from the normal approximation. It is one
/// less than rounding would give, which only widens the interval. `None` if there are too few
/// values.
fn normal_rank(n: usize, m: usize, tail: f64) -> Option<usize> {
    let n = n as f64;
    let m = m as f64;
    let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt();
    let rank = (n * m / 2.0 - normal_quantile(tail) * deviation - 1.0).floor();
    // The rank can be negative, for example with two values in one set. There is no interval then.
    (rank >= 0.0).then_some(rank as usize)
}

/// Quantile of the normal distribution: a value exceeds the mean by more than this number of
/// standard deviations with probability `tail`. `tail` must be below a half. The error is less than
/// 0.0005.
///
/// Source: Abramowitz and Stegun, "Handbook of mathematical functions", formula 26.2.23.
fn normal_quantile(tail: f64) -> f64 {
    let t = (-2.0 * tail.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

/// Distribution of the statistic of Mann and Whitney. Element u is the number of orders of `n` and
/// `m` values in which the statistic is u.
///
/// Source: Mann and Whitney, "On a test of whether one of two random variables is stochastically
/// larger than the other", Annals of Mathematical Statistics 18 (1947): the recursion that removes
/// the largest value.
fn rank_sum_ways(n: usize, m: usize) -> Vec<f64> {
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for i in 1..=n {
        let mut next = vec![vec![1.0]];
        for j in 1..=m {
            let mut ways = vec![0.0; i * j + 1];
            row[j]
                .iter()
                .enumerate()
                .for_each(|(u, count)| ways[u + j] += count);
            next[j - 1]
                .iter()
                .enumerate()
                .for_each(|(u, count)| ways[u] += count);
            next.push(ways);
        }
        row = next;
    }
    row.pop().unwrap_or_default()
}

/// Every k-th of `values`. k is the least number that leaves at most [`MOST`] values.
fn thin(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .copied()
        .step_by(values.len().div_ceil(MOST).max(1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::SplitMix64;
    use super::super::order::tests::{exponential, normal};
    use super::*;

    #[test]
    fn published_critical_values() {
        // Published critical values of the rank-sum statistic, two-sided at 0.02. Sets of four and
        // four values have none.
        for (n, m, outside) in [(5, 5, 1), (6, 6, 3), (10, 10, 19), (20, 20, 114)] {
            assert_eq!(rank(n, m, 0.98).unwrap().0, outside, "{n} {m}");
        }
        assert_eq!(rank(4, 4, 0.98), None);
        assert_eq!(rank(4, 6, 0.98).unwrap().0, 1);
        assert_eq!(rank_sum_ways(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
        assert_eq!((rank(0, 5, 0.98), rank(1, 5, 0.98)), (None, None));
    }

    #[test]
    fn the_approximation_continues_what_is_counted() {
        for (n, m) in [(21, 21), (6, 21), (30, 12)] {
            let ways = rank_sum_ways(n, m);
            let all: f64 = ways.iter().sum();
            let outside = normal_rank(n, m, 0.01).unwrap();
            let tail: f64 = ways[..=outside].iter().sum::<f64>() / all;
            assert!((0.007..=0.0101).contains(&tail), "{n} {m}: {tail}");
        }
    }

    #[test]
    fn the_interval_holds_what_it_promises() {
        for (n, m) in [(6, 6), (5, 9), (12, 12), (25, 6), (40, 40)] {
            let mut random = SplitMix64::new(11);
            let trials = 2000;
            let mut held = 0;
            for _ in 0..trials {
                let a: Vec<f64> = (0..n).map(|_| 100.0 + 3.0 * normal(&mut random)).collect();
                let b: Vec<f64> = (0..m).map(|_| 110.0 + 3.3 * normal(&mut random)).collect();
                held += u32::from(ratio_interval(&a, &b, 0.98).unwrap().contains(1.1));
            }
            let share = f64::from(held) / f64::from(trials);
            assert!((0.974..=0.998).contains(&share), "{n} {m}: {share}");
        }
    }

    #[test]
    fn skewed_values_do_not_fool_it() {
        let mut random = SplitMix64::new(5);
        let mut draw = |n: usize| {
            (0..n)
                .map(|_| 10.0 + exponential(&mut random).powi(3))
                .collect::<Vec<f64>>()
        };
        let trials = 2000;
        let held = (0..trials).filter(|_| {
            ratio_interval(&draw(6), &draw(6), 0.98)
                .unwrap()
                .contains(1.0)
        });
        assert!(held.count() as f64 / f64::from(trials) >= 0.98);
    }

    #[test]
    fn scale_does_not_matter_and_order_inverts() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0];
        let b = [2.0, 3.0, 5.0, 6.0, 7.0, 8.0];
        let ratio = ratio_interval(&a, &b, 0.98).unwrap();
        let eightfold = b.map(|v| v * 8.0);
        let scaled = ratio_interval(&a, &eightfold, 0.98).unwrap();
        assert_eq!(
            [scaled.low, scaled.high],
            [ratio.low * 8.0, ratio.high * 8.0]
        );
        let back = ratio_interval(&b, &a, 0.98).unwrap();
        assert!((back.low * ratio.high - 1.0).abs() < 1e-12);
        assert!(ratio.low < ratio.high && (0.98..1.0).contains(&ratio.attained));
    }

    #[test]
    fn intervals_of_few_values_hold_the_true_ratio() {
        let mut random = SplitMix64::new(6);
        for (n, m) in [(2, 2), (1, 3), (3, 3), (4, 4), (1, 9)] {
            let mut draw = |n: usize| -> Vec<f64> {
                (0..n).map(|_| (0.3 * normal(&mut random)).exp()).collect()
            };
            let trials = 3000;
            let held = (0..trials).filter(|_| {
                let found = few_ratio_interval(&draw(n), &draw(m), 0.98);
                found.expect("an interval").contains(1.0)
            });
            let share = held.count() as f64 / f64::from(trials);
            assert!((0.975..0.999).contains(&share), "{n} {m}: {share}");
        }
        let double = few_ratio_interval(&[1.0, 1.01, 0.99], &[2.0, 2.02, 1.98], 0.98);
        let double = double.expect("an interval");
        assert!(double.contains(2.0) && double.low > 1.8 && double.high < 2.2);
        for (before, after) in [
            (&[1.0][..], &[1.0, 1.0][..]),
            (&[], &[1.0; 5]),
            (&[0.0, 1.0, 1.0], &[1.0; 3]),
            (&[f64::NAN, 1.0, 1.0], &[1.0; 3]),
        ] {
            assert_eq!(few_ratio_interval(before, after, 0.98), None);
        }
    }

    #[test]
    fn senseless_values_have_no_ratio() {
        let six = [1.0; 6];
        for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            let wrong = [1.0, 1.0, 1.0, 1.0, 1.0, bad];
            assert_eq!(
                (
                    ratio_interval(&six, &wrong, 0.98),
                    ratio_interval(&wrong, &six, 0.98)
                ),
                (None, None)
            );
        }
        assert_eq!(ratio_interval(&[], &six, 0.98), None);
        assert_eq!(
            ratio_interval(&[f64::MIN_POSITIVE; 6], &[f64::MAX; 6], 0.98),
            None
        );
        assert_eq!(ratio_interval(&six, &six, 1.0), None);
        assert_eq!(ratio_interval(&six, &[2.0; 6], 0.98).unwrap().low, 2.0);
        let thinned = ratio_interval(&vec![1.0; 50_000], &vec![3.0; 50_000], 0.98).unwrap();
        assert_eq!([thinned.low, thinned.high], [3.0, 3.0]);
    }
}
