//! Intervals by resampling, where no formula knows the structure of the samples.

use super::order::{COVERAGE, Interval, interval_rank, quantile_of_sorted, sorted};
use super::random::SplitMix64;

/// Resamples drawn for an interval: enough for its ends to have 10 resamples outside each.
const RESAMPLES: usize = 400;

/// At most about this many samples are resampled; more are thinned out evenly. That widens the interval a little and
/// bounds its cost to some hundredths of a second.
const MOST_SAMPLES: usize = 2048;

/// From this many samples on, their range has a coverage of 95% for the median.
const ENOUGH: usize = 6;

/// The 95% confidence interval of median(`a`) / median(`b`), for two independent sets of independent positive samples:
/// 0.9 is "a is 10% lower than b". By bootstrap percentiles; where a set has fewer than six samples, the range of all
/// ratios of a sample of one to a sample of the other, with what that attains. `None` for an empty set or any sample
/// that is not finite and above 0, or a ratio out of the range of numbers. The same `seed` gives the same interval.
///
/// Source: Efron and Tibshirani, "An introduction to the bootstrap", chapter 13 (percentile intervals); Kalibera and
/// Jones, "Rigorous benchmarking in reasonable time", ISMM 2013, for ratios as the way to compare.
pub fn ratio_interval(a: &[f64], b: &[f64], seed: u64) -> Option<Interval> {
    let (sorted_a, sorted_b) = (sorted(a)?, sorted(b)?);
    if *sorted_a.first()? <= 0.0 || *sorted_b.first()? <= 0.0 {
        return None;
    }
    let fewest = a.len().min(b.len());
    let interval = if fewest < ENOUGH {
        let (low, high) = (sorted_a.first()? / sorted_b.last()?, sorted_a.last()? / sorted_b.first()?);
        Interval { low, high, attained: interval_rank(fewest).1 }
    } else {
        let (a, b) = (thin(a, MOST_SAMPLES), thin(b, MOST_SAMPLES));
        let mut random = SplitMix64::new(seed);
        let mut drawn = Vec::new();
        let mut redrawn_median = |samples: &[f64]| {
            drawn.clear();
            draw(samples, &mut random, &mut drawn)?;
            median_in_place(&mut drawn)
        };
        resample(|| Some(redrawn_median(&a)? / redrawn_median(&b)?))?
    };
    (interval.low > 0.0 && interval.high.is_finite()).then_some(interval)
}

/// The interval between the outer percentiles of what `one` gives in many calls.
fn resample(one: impl FnMut() -> Option<f64>) -> Option<Interval> {
    let values: Option<Vec<f64>> = std::iter::repeat_with(one).take(RESAMPLES).collect();
    let values = sorted(&values?)?;
    let tail = (1.0 - COVERAGE) / 2.0;
    Some(Interval {
        low: quantile_of_sorted(&values, tail)?,
        high: quantile_of_sorted(&values, 1.0 - tail)?,
        attained: COVERAGE,
    })
}

/// One of `items`, each with the same probability.
fn pick<'a, T>(items: &'a [T], random: &mut SplitMix64) -> Option<&'a T> {
    items.get(random.below(items.len() as u64) as usize)
}

/// Adds as many of `samples` as there are to `drawn`, each drawn from all.
fn draw(samples: &[f64], random: &mut SplitMix64, drawn: &mut Vec<f64>) -> Option<()> {
    for _ in 0..samples.len() {
        drawn.push(*pick(samples, random)?);
    }
    Some(())
}

/// The median without sorting: the middle of an even number is the mean of the two, as in [`median`].
fn median_in_place(samples: &mut [f64]) -> Option<f64> {
    let middle = samples.len() / 2;
    if samples.is_empty() {
        return None;
    }
    let even = samples.len().is_multiple_of(2);
    let (below, &mut upper, _) = samples.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().max_by(f64::total_cmp).filter(|_| even).unwrap_or(upper);
    Some(lower / 2.0 + upper / 2.0)
}

/// At most about `most` of `samples`, evenly spaced in the order they were taken.
fn thin(samples: &[f64], most: usize) -> Vec<f64> {
    samples.iter().copied().step_by(samples.len().div_ceil(most.max(1)).max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::order::median;
    use super::super::order::tests::{exponential, normal};
    use super::*;

    #[test]
    fn ratio_interval_holds_what_it_promises() {
        for n in [7, 12, 40] {
            let mut random = SplitMix64::new(11);
            let trials = 200;
            let held = (0..trials)
                .filter(|&seed| {
                    let a: Vec<f64> = (0..n).map(|_| 90.0 + exponential(&mut random)).collect();
                    let b: Vec<f64> = (0..n).map(|_| 100.0 + 2.0 * exponential(&mut random)).collect();
                    let truth = (90.0 + std::f64::consts::LN_2) / (100.0 + 2.0 * std::f64::consts::LN_2);
                    ratio_interval(&a, &b, seed).unwrap().contains(truth)
                })
                .count();
            let share = held as f64 / trials as f64;
            assert!((0.92..=0.995).contains(&share), "{n}: {share}");
        }
    }

    #[test]
    fn same_seed_same_interval_and_scale_does_not_matter() {
        let mut random = SplitMix64::new(3);
        let [a, b] = [0; 2].map(|_| (0..9).map(|_| 100.0 + normal(&mut random)).collect::<Vec<f64>>());
        let eightfold = |samples: &[f64]| samples.iter().map(|s| s * 8.0).collect::<Vec<f64>>();
        let ratio = ratio_interval(&a, &b, 5).unwrap();
        assert_eq!(ratio_interval(&a, &b, 5), Some(ratio));
        assert_eq!(ratio_interval(&eightfold(&a), &eightfold(&b), 5), Some(ratio));
    }

    #[test]
    fn cost_is_bounded() {
        assert!((MOST_SAMPLES / 2..=MOST_SAMPLES).contains(&thin(&[1.0; 50_000], MOST_SAMPLES).len()));
        assert_eq!(thin(&[1.0, 2.0, 3.0], MOST_SAMPLES), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn ratios_of_few_or_senseless_samples() {
        let interval = ratio_interval(&[1.0, 2.0, 3.0], &[2.0, 4.0, 4.0, 4.0], 1).unwrap();
        assert_eq!(interval, Interval { low: 0.25, high: 1.5, attained: 0.75 });
        assert_eq!(ratio_interval(&[6.0; 9], &[3.0; 9], 1), Some(Interval { low: 2.0, high: 2.0, attained: 0.95 }));
        assert_eq!((ratio_interval(&[], &[1.0], 1), ratio_interval(&[1.0], &[], 1)), (None, None));
        assert_eq!((ratio_interval(&[1.0], &[0.0], 1), ratio_interval(&[-1.0; 8], &[1.0; 8], 1)), (None, None));
        assert_eq!(ratio_interval(&[f64::MAX; 8], &[0.5; 8], 1), None);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(ratio_interval(&[1.0, bad], &[1.0, 2.0], 1), None);
            assert_eq!(ratio_interval(&[1.0; 9], &[bad; 9], 1), None);
        }
    }

    #[test]
    fn the_quick_median_is_the_median() {
        let mut random = SplitMix64::new(9);
        for n in 1..50 {
            let samples: Vec<f64> = (0..n).map(|_| (normal(&mut random) * 4.0).round()).collect();
            assert_eq!(median_in_place(&mut samples.clone()), median(&samples));
        }
        assert_eq!(median_in_place(&mut []), None);
    }
}
