//! Tests whether measurements in different allocations of memory differ.

use super::order::median;

/// Significance levels: probabilities that equal allocations are taken for different.
/// `NOTED_BY_CHANCE` is for the report of a difference, and `POOLED` for the confidence interval.
/// `POOLED` is higher, because the interval must not pool allocations that differ.
const NOTED_BY_CHANCE: f64 = 0.005;
const POOLED: f64 = 0.05;

/// Allocations that differ by less than this factor are not reported.
const LEAST_RATIO: f64 = 1.03;

/// The test needs at least this number of degrees of freedom of rounds within allocations.
const LEAST_WITHIN: usize = 3;

/// Highest median of an allocation divided by the lowest median of an allocation.
/// `allocations[allocation][round][sample]` are in time order. `None` if the ratio is at most 1.03,
/// or if the spread of rounds and a common trend explain the difference. `None` also if there are
/// fewer than two allocations of three rounds, or fewer than three of two rounds. `None` also if a
/// value is not finite and above 0.
///
/// Source: Fisher's analysis of covariance on the medians of rounds, with time as the covariate
/// (Scheffé, "The analysis of variance", chapter 6). The significance level is 0.5%.
pub fn placement(allocations: &[Vec<Vec<f64>>]) -> Option<f64> {
    let all: Option<Vec<f64>> = allocations
        .iter()
        .map(|a| a.concat())
        .filter(|a| !a.is_empty())
        .map(|a| median(&a))
        .collect();
    let all = all?;
    let lowest = all
        .iter()
        .copied()
        .reduce(f64::min)
        .filter(|&low| low > 0.0)?;
    let ratio = all.iter().copied().reduce(f64::max)? / lowest;
    let different = ratio > LEAST_RATIO && by_chance(allocations, true)? < NOTED_BY_CHANCE;
    (different && ratio.is_finite()).then_some(ratio)
}

/// True if allocations differ too much to pool their rounds. A trend counts as a difference.
pub(super) fn differ(allocations: &[Vec<Vec<f64>>]) -> bool {
    by_chance(allocations, false).is_some_and(|p| p < POOLED)
}

/// p-value of the differences between allocations: the probability that equal allocations differ
/// this much by chance. With `trend`, a common trend over time is fitted first. `None` for too few
/// rounds.
fn by_chance(allocations: &[Vec<Vec<f64>>], trend: bool) -> Option<f64> {
    let mut rounds = Vec::new();
    let mut groups = 0;
    for allocation in allocations {
        let levels: Option<Vec<f64>> = allocation
            .iter()
            .filter(|r| !r.is_empty())
            .map(|r| median(r))
            .collect();
        let levels = levels?;
        groups += usize::from(!levels.is_empty());
        rounds.extend(levels.into_iter().map(|level| (groups, level)));
    }
    let within = rounds.len().checked_sub(groups + usize::from(trend))?;
    if groups < 2 || within + usize::from(trend) < LEAST_WITHIN || within == 0 {
        return None;
    }
    // Levels are divided by the largest magnitude and times by the number of rounds, so that
    // squares neither overflow nor vanish.
    let scale = rounds
        .iter()
        .map(|r| r.1.abs())
        .reduce(f64::max)
        .filter(|&s| s > 0.0)?;
    let count = rounds.len() as f64;
    let points: Vec<Point> = rounds
        .iter()
        .enumerate()
        .map(|(i, &(group, level))| Point {
            group,
            time: i as f64 / count,
            level: level / scale,
        })
        .collect();
    let one_line = left_over(&points, |_| 0, trend)?;
    let line_each = left_over(&points, |p| p.group, trend)?;
    let between = (one_line - line_each).max(0.0) / (groups - 1) as f64;
    Some(f_by_chance(
        between,
        line_each / within as f64,
        groups - 1,
        within,
    ))
}

/// A round: its allocation, its time from 0 to 1, and its scaled median.
struct Point {
    group: usize,
    time: f64,
    level: f64,
}

/// Residual sum of squares after fitting a mean for each class and, with `trend`, one slope over
/// time for all classes. `None` if the sum is not finite.
fn left_over(points: &[Point], class: impl Fn(&Point) -> usize, trend: bool) -> Option<f64> {
    let mut levels = 0.0;
    let mut times = 0.0;
    let mut both = 0.0;
    for point in points {
        let mut mean = (0.0, 0.0, 0.0);
        for other in points.iter().filter(|p| class(p) == class(point)) {
            mean = (mean.0 + other.level, mean.1 + other.time, mean.2 + 1.0);
        }
        let level = point.level - mean.0 / mean.2;
        let time = point.time - mean.1 / mean.2;
        levels += level * level;
        times += time * time;
        both += level * time;
    }
    let fitted = if trend && times > 0.0 {
        both * both / times
    } else {
        0.0
    };
    Some((levels - fitted).max(0.0)).filter(|left| left.is_finite())
}

/// p-value of the F test: the probability that the ratio of the mean squares is at least this large
/// if the variances are equal. `between` and `within` are the degrees of freedom.
fn f_by_chance(mean_between: f64, mean_within: f64, between: usize, within: usize) -> f64 {
    let a = within as f64 / 2.0;
    let b = between as f64 / 2.0;
    let noise = within as f64 * mean_within;
    let signal = between as f64 * mean_between;
    // Equal values give sums of squares below this limit, because rounding errors are about 1e-16.
    if signal <= 1e-28 {
        return 1.0;
    }
    incomplete_beta(noise / (noise + signal), a, b)
}

/// The regularised incomplete beta function at `x`, which lies in [0, 1]. `a` and `b` are halves of
/// whole numbers. The integral of t^(a-1) (1-t)^(b-1) is computed with the substitution t = sin^2,
/// which makes the integrand smooth.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    const STEPS: usize = 200;
    let weight =
        |angle: f64| angle.sin().powf(2.0 * a - 1.0) * angle.cos().max(0.0).powf(2.0 * b - 1.0);
    // Simpson's rule.
    let integral = |to: f64| {
        let at = |i: usize| weight(to * i as f64 / STEPS as f64);
        let inner: f64 = (1..STEPS)
            .map(|i| at(i) * if i % 2 == 1 { 4.0 } else { 2.0 })
            .sum();
        (at(0) + inner + at(STEPS)) * to / (3 * STEPS) as f64
    };
    let part = integral(x.clamp(0.0, 1.0).sqrt().asin());
    (part / integral(std::f64::consts::FRAC_PI_2)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::SplitMix64;
    use super::super::order::tests::{exponential, normal};
    use super::*;

    /// Share of trials in which allocations are found to differ. `shape` has the numbers of
    /// allocations and of rounds in each. Values are around 20, and in the last allocation `apart`
    /// higher. They rise by `rise` over all rounds, and `noise` has a standard deviation of 1.
    fn found(shape: [usize; 2], apart: f64, rise: f64, noise: fn(&mut SplitMix64) -> f64) -> f64 {
        let mut random = SplitMix64::new(41);
        let trials = 600;
        let mut one = || {
            let mut level = |a: usize, r: usize| {
                let time = (a * shape[1] + r) as f64 / (shape[0] * shape[1] - 1) as f64;
                20.0 + rise * time
                    + noise(&mut random)
                    + if a + 1 == shape[0] { apart } else { 0.0 }
            };
            let mut allocation = |a| (0..shape[1]).map(|r| vec![level(a, r); 2]).collect();
            let drawn: Vec<Vec<Vec<f64>>> = (0..shape[0]).map(&mut allocation).collect();
            usize::from(placement(&drawn).is_some())
        };
        (0..trials).map(|_| one()).sum::<usize>() as f64 / trials as f64
    }

    #[test]
    fn allocations_that_are_alike_are_rarely_told_apart() {
        for shape in [[2, 3], [3, 2], [2, 6], [4, 3]] {
            let skewed: fn(&mut SplitMix64) -> f64 = |r| 2.0 * exponential(r);
            for (rise, noise) in [
                (0.0, normal as fn(&mut SplitMix64) -> f64),
                (0.0, skewed),
                (10.0, normal),
            ] {
                let found = found(shape, 0.0, rise, noise);
                assert!(found <= 0.012, "{shape:?} {rise}: {found}");
            }
        }
    }

    #[test]
    fn allocations_that_differ_are_told_apart() {
        assert!(found([2, 3], 30.0, 0.0, normal) > 0.98);
        assert!(found([2, 6], 10.0, 0.0, normal) > 0.98);
        assert!(found([4, 6], 5.0, 0.0, normal) > 0.95);
        assert!(found([4, 6], 0.1, 0.0, normal) < 0.02);
    }

    #[test]
    fn the_ratio_is_that_of_the_medians() {
        let rounds = |level: f64| vec![vec![level], vec![level + 0.01], vec![level - 0.01]];
        assert_eq!(placement(&[rounds(10.0), rounds(12.0), vec![]]), Some(1.2));
        assert_eq!(placement(&[rounds(100.0), rounds(102.9)]), None);
        assert!(differ(&[rounds(100.0), rounds(102.9)]));
    }

    #[test]
    fn no_answer_for_little_or_nonsense() {
        let three = |level: f64| vec![vec![level]; 3];
        assert_eq!(
            (
                placement(&[]),
                placement(&[three(1.0)]),
                placement(&[vec![], vec![]])
            ),
            (None, None, None)
        );
        // If each allocation has one round, the effects of allocations and rounds cannot be
        // separated.
        let single: Vec<Vec<Vec<f64>>> = (1..9).map(|level| vec![vec![f64::from(level)]]).collect();
        assert_eq!(placement(&single), None);
        assert_eq!(
            (
                placement(&[three(0.0), three(1.0)]),
                placement(&[three(-1.0), three(1.0)])
            ),
            (None, None)
        );
        assert_eq!(
            (
                placement(&[three(f64::NAN), three(1.0)]),
                differ(&[three(f64::INFINITY), three(1.0)])
            ),
            (None, false)
        );
        // The rounds of each allocation are equal. If the allocations are equal too, nothing
        // differs.
        assert_eq!(placement(&[three(1.0), three(1.0)]), None);
        assert_eq!(placement(&[three(1.0), three(2.0)]), Some(2.0));
        assert_eq!(placement(&[three(1e300), three(2e300)]), Some(2.0));
        assert_eq!(
            placement(&[three(f64::MIN_POSITIVE), three(f64::MAX)]),
            None
        );
    }

    #[test]
    fn chances_are_the_tabled_ones() {
        // Quantiles of the F distribution from tables, for the given degrees of freedom.
        for (ratio, between, within, p) in [
            (7.709, 1, 4, 0.05),
            (30.82, 2, 3, 0.01),
            (10.04, 1, 10, 0.01),
            (3.339, 5, 60, 0.01),
        ] {
            let found = f_by_chance(ratio, 1.0, between, within);
            assert!((found - p).abs() < p / 100.0, "{ratio}: {found}");
        }
        assert_eq!(
            (f_by_chance(0.0, 0.0, 1, 4), f_by_chance(1.0, 0.0, 1, 4)),
            (1.0, 0.0)
        );
    }
}
