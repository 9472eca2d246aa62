//! Intervals by resampling, where no formula knows the structure of the samples.

use super::order::{COVERAGE, Interval, interval_rank, median, median_interval, quantile_of_sorted, sorted};
use super::random::SplitMix64;

/// Resamples drawn for an interval: enough for its ends to have 10 resamples outside each.
const RESAMPLES: usize = 400;

/// At most about this many samples are resampled; more are thinned out evenly. That widens the interval a little and
/// bounds its cost to some hundredths of a second.
const MOST_SAMPLES: usize = 2048;

/// From this many rounds or samples on, their range has a coverage of 95% for the median.
const ENOUGH: usize = 6;

/// The 95% confidence interval of the median of all samples where these come in rounds, and rounds may differ by more
/// than the samples within: the wider, end by end, of a bootstrap on both levels (rounds are redrawn, then samples
/// within each) and of [`median_interval`] of all samples. Below six rounds a bootstrap of rounds is too narrow, so
/// the range of the rounds' medians is taken in, and `attained` is what holds even if all variation lies between
/// rounds: 0.5, 0.75, 0.875, 0.9375 for 2 to 5 rounds. A single round says nothing of others and is taken as
/// independent samples. Empty rounds are left out; `None` for no samples or any that is not finite. The same `seed`
/// gives the same interval.
///
/// Sources: Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013 (levels of repetition);
/// Davison and Hinkley, "Bootstrap methods and their application", section 3.8 (hierarchical data; redrawing on both
/// levels errs to the wide side).
pub fn block_median_interval(groups: &[Vec<f64>], seed: u64) -> Option<Interval> {
    let rounds: Vec<&[f64]> = groups.iter().map(Vec::as_slice).filter(|g| !g.is_empty()).collect();
    let flat = median_interval(&rounds.concat())?;
    if rounds.len() < 2 {
        return Some(flat);
    }
    let mut ends = vec![flat.low, flat.high];
    let mut attained = flat.attained;
    if rounds.len() < ENOUGH {
        ends.extend(rounds.iter().filter_map(|r| median(r)));
        attained = attained.min(interval_rank(rounds.len()).1);
    }
    let thinned = thin_rounds(&rounds);
    let mut random = SplitMix64::new(seed);
    let mut drawn = Vec::new();
    let medians = resample(|| {
        drawn.clear();
        for _ in 0..thinned.len() {
            draw(pick(&thinned, &mut random)?, &mut random, &mut drawn)?;
        }
        median_in_place(&mut drawn)
    })?;
    ends.extend([medians.low, medians.high]);
    let ends = sorted(&ends)?;
    Some(Interval { low: *ends.first()?, high: *ends.last()?, attained: attained.min(medians.attained) })
}

/// The 95% confidence interval of median(`a`) / median(`b`), for two independent sets of independent positive samples:
/// 0.9 is "a is 10% lower than b". By bootstrap percentiles; where a set has fewer than six samples, the range of all
/// ratios of a sample of one to a sample of the other, with what that attains. `None` for an empty set or any sample
/// that is not finite and above 0, or a ratio out of the range of numbers. The same `seed` gives the same interval.
///
/// Source: Efron and Tibshirani, "An introduction to the bootstrap", chapter 13 (percentile intervals); Kalibera and
/// Jones (see [`block_median_interval`]) for ratios as the way to compare.
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

/// Rounds thinned out to at most about [`MOST_SAMPLES`] in all: fewer samples of each, then fewer rounds.
fn thin_rounds(rounds: &[&[f64]]) -> Vec<Vec<f64>> {
    let kept = rounds.iter().step_by(rounds.len().div_ceil(MOST_SAMPLES).max(1));
    let total: usize = rounds.iter().map(|r| r.len()).sum();
    let step = total.div_ceil(MOST_SAMPLES).max(1);
    kept.map(|r| thin(r, r.len().div_ceil(step))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::order::tests::{exponential, normal};
    use super::*;

    /// Rounds of `each` samples around 100; `between` and `within` are standard deviations.
    fn rounds(count: usize, each: usize, between: f64, within: f64, random: &mut SplitMix64) -> Vec<Vec<f64>> {
        (0..count)
            .map(|_| {
                let level = 100.0 + between * normal(random);
                (0..each).map(|_| level + within * normal(random)).collect()
            })
            .collect()
    }

    fn width(interval: Interval) -> f64 {
        interval.high - interval.low
    }

    #[test]
    fn rounds_that_differ_widen_the_interval() {
        let mut random = SplitMix64::new(1);
        let alike = rounds(8, 20, 0.0, 1.0, &mut random);
        let apart = rounds(8, 20, 5.0, 1.0, &mut random);
        let wider =
            |r: &[Vec<f64>]| width(block_median_interval(r, 1).unwrap()) / width(median_interval(&r.concat()).unwrap());
        assert!((1.0..2.5).contains(&wider(&alike)), "{}", wider(&alike));
        assert!(wider(&apart) > 2.0, "{}", wider(&apart));
    }

    #[test]
    fn block_interval_holds_what_it_promises() {
        for (between, within) in [(0.0, 1.0), (3.0, 0.5)] {
            for (count, least) in [(3, 0.75), (6, 0.9), (12, 0.91)] {
                let mut random = SplitMix64::new(7);
                let trials = 300;
                let held = (0..trials)
                    .filter(|&seed| {
                        let drawn = rounds(count, 7, between, within, &mut random);
                        block_median_interval(&drawn, seed).unwrap().contains(100.0)
                    })
                    .count();
                let share = held as f64 / trials as f64;
                assert!(share >= least - 0.03, "{count} rounds, {between} between: {share}");
            }
        }
    }

    #[test]
    fn few_rounds_attain_less_and_reach_every_round() {
        for (count, attained) in [(2, 0.5), (3, 0.75), (5, 0.9375), (6, 0.95)] {
            let drawn: Vec<Vec<f64>> = (0..count).map(|r| vec![f64::from(r); 9]).collect();
            let interval = block_median_interval(&drawn, 0).unwrap();
            assert_eq!(interval.attained, attained);
            if count < 6 {
                assert_eq!((interval.low, interval.high), (0.0, f64::from(count - 1)));
            }
        }
    }

    #[test]
    fn a_single_round_and_empty_ones() {
        let samples: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(block_median_interval(std::slice::from_ref(&samples), 3), median_interval(&samples));
        assert_eq!(block_median_interval(&[vec![], samples.clone(), vec![]], 3), median_interval(&samples));
        let constant = block_median_interval(&[vec![0.1; 5], vec![0.1; 7]], 3).unwrap();
        assert_eq!((constant.low, constant.high), (0.1, 0.1));
        assert_eq!((block_median_interval(&[], 1), block_median_interval(&[vec![], vec![]], 1)), (None, None));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(block_median_interval(&[vec![1.0, 2.0], vec![bad]], 1), None);
            assert_eq!(ratio_interval(&[1.0, bad], &[1.0, 2.0], 1), None);
            assert_eq!(ratio_interval(&[1.0; 9], &[bad; 9], 1), None);
        }
    }

    #[test]
    fn same_seed_same_interval_and_scale_does_not_matter() {
        let drawn = rounds(7, 9, 1.0, 1.0, &mut SplitMix64::new(3));
        let scaled: Vec<Vec<f64>> = drawn.iter().map(|r| r.iter().map(|s| s * 8.0).collect()).collect();
        let interval = block_median_interval(&drawn, 5).unwrap();
        let large = block_median_interval(&scaled, 5).unwrap();
        assert_eq!(block_median_interval(&drawn, 5), Some(interval));
        assert_eq!((large.low, large.high), (interval.low * 8.0, interval.high * 8.0));
        let ratio = ratio_interval(&drawn[0], &drawn[1], 5).unwrap();
        assert_eq!(ratio_interval(&drawn[0], &drawn[1], 5), Some(ratio));
        assert_eq!(ratio_interval(&scaled[0], &scaled[1], 5), Some(ratio));
    }

    #[test]
    fn cost_is_bounded() {
        let lengths = |r: &[Vec<f64>]| (r.len(), r.iter().map(Vec::len).sum::<usize>());
        let one_each = vec![[1.0].as_slice(); 100_000];
        let (count, total) = lengths(&thin_rounds(&one_each));
        assert!(count <= MOST_SAMPLES && total <= MOST_SAMPLES && count > MOST_SAMPLES / 2);
        let long = vec![1.0; 50_000];
        let (count, total) = lengths(&thin_rounds(&[&long, &long, &[1.0, 2.0]]));
        assert!(count == 3 && total <= MOST_SAMPLES + 3 && total > MOST_SAMPLES / 2);
        assert_eq!(thin_rounds(&[&[1.0, 2.0], &[3.0]]), [vec![1.0, 2.0], vec![3.0]]);
    }

    #[test]
    fn ratio_interval_holds_what_it_promises() {
        for n in [7, 12, 40] {
            let mut random = SplitMix64::new(11);
            let trials = 400;
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
    fn ratios_of_few_or_senseless_samples() {
        let interval = ratio_interval(&[1.0, 2.0, 3.0], &[2.0, 4.0, 4.0, 4.0], 1).unwrap();
        assert_eq!(interval, Interval { low: 0.25, high: 1.5, attained: 0.75 });
        assert_eq!(ratio_interval(&[6.0; 9], &[3.0; 9], 1), Some(Interval { low: 2.0, high: 2.0, attained: 0.95 }));
        assert_eq!((ratio_interval(&[], &[1.0], 1), ratio_interval(&[1.0], &[], 1)), (None, None));
        assert_eq!((ratio_interval(&[1.0], &[0.0], 1), ratio_interval(&[-1.0; 8], &[1.0; 8], 1)), (None, None));
        assert_eq!(ratio_interval(&[f64::MAX; 8], &[0.5; 8], 1), None);
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
