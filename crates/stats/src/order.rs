//! Computes order statistics: median, quantiles, spread, and the confidence interval of the median.

/// Confidence of the computed intervals, if there are enough samples.
pub(super) const COVERAGE: f64 = 0.95;

/// A confidence interval and its actual confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end, in the unit of the samples.
    pub low: f64,
    /// Upper end, in the unit of the samples.
    pub high: f64,
    /// Confidence: the probability that an interval made in this way contains the true value. It is
    /// below 0.95 if there are too few samples, and 0 for a single sample.
    pub attained: f64,
}

impl Interval {
    /// Half the width divided by the magnitude of `value`: 0.01 is "plus or minus 1%". `None` if
    /// `value` is 0 or not finite.
    pub fn relative_half_width(&self, value: f64) -> Option<f64> {
        // Each end is halved first, because the difference of two large numbers of opposite sign
        // can overflow.
        let share = (self.high / 2.0 - self.low / 2.0) / value.abs();
        (value != 0.0 && share.is_finite() && value.is_finite()).then_some(share)
    }

    /// True if `value` lies in the interval, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The median: the middle sample, or the mean of the middle two. `None` without samples, or if a
/// sample is not finite.
pub fn median(samples: &[f64]) -> Option<f64> {
    quantile(samples, 0.5)
}

/// The `q` quantile, interpolated linearly between neighbouring samples. `None` without samples, if
/// a sample is not finite, or if `q` is outside [0, 1].
///
/// Source: Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician
/// 50 (1996), type 7 (the default of R and NumPy).
pub fn quantile(samples: &[f64], q: f64) -> Option<f64> {
    quantile_of_sorted(&sorted(samples)?, q)
}

/// The median absolute deviation from the median, unscaled. For a normal distribution, the standard
/// deviation is 1.4826 times as large. `None` without samples, or if a sample is not finite.
///
/// Source: Hampel, "The influence curve and its role in robust estimation", JASA 69 (1974).
pub fn mad(samples: &[f64]) -> Option<f64> {
    let middle = median(samples)?;
    let deviations: Vec<f64> = samples.iter().map(|s| (s - middle).abs()).collect();
    median(&deviations)
}

/// The mean. `None` without samples, if a sample is not finite, or if the sum overflows.
pub fn mean(samples: &[f64]) -> Option<f64> {
    let count = samples.len() as f64;
    let mean = samples.iter().map(|s| s / count).sum::<f64>();
    (!samples.is_empty() && mean.is_finite()).then_some(mean)
}

/// The sample standard deviation, with the divisor n - 1. `None` for fewer than two samples, if a
/// sample is not finite, or if a sum overflows.
pub fn standard_deviation(samples: &[f64]) -> Option<f64> {
    let mean = mean(samples)?;
    let freedom = samples
        .len()
        .checked_sub(1)
        .filter(|&freedom| freedom > 0)?;
    let squares: f64 = samples
        .iter()
        .map(|s| (s - mean).powi(2) / freedom as f64)
        .sum();
    Some(squares.sqrt()).filter(|deviation| deviation.is_finite())
}

/// The coefficient of variation: the standard deviation divided by the magnitude of the mean.
/// `None` if the mean is 0, or if there is no [`standard_deviation`].
pub fn coefficient_of_variation(samples: &[f64]) -> Option<f64> {
    let share = standard_deviation(samples)? / mean(samples)?.abs();
    share.is_finite().then_some(share)
}

/// The 95% confidence interval of the median from order statistics. The interval reaches from the
/// k-th smallest to the k-th largest sample. The number k is as large as possible: the true median
/// lies beyond each end with a probability of at most 2.5%. The confidence holds for every
/// distribution of independent samples. Fewer than six samples have no 95% interval. The result is
/// then the whole range of the samples, with its lower confidence in `attained`. `None` without
/// samples, or if a sample is not finite.
///
/// Source: Conover, "Practical nonparametric statistics", section 3.2. It is not interpolated like
/// the interval of Hettmansperger and Sheather (Statistics & Probability Letters 4, 1986), which is
/// narrower but does not hold for every distribution.
pub fn median_interval(samples: &[f64]) -> Option<Interval> {
    let sorted = sorted(samples)?;
    let (rank, attained) = interval_rank(sorted.len());
    Some(Interval {
        low: *sorted.get(rank)?,
        high: *sorted.get(sorted.len() - 1 - rank)?,
        attained,
    })
}

/// The interval of [`median_interval`] with its ends moved inwards, so that the confidence is 95%.
/// Each end is interpolated between two neighbouring order statistics, which assumes a smooth
/// distribution. `None` for fewer than six samples, which have no 95% interval, and if a sample is
/// not finite.
///
/// Source: Hettmansperger and Sheather, "Confidence intervals based on interpolated order
/// statistics", Statistics & Probability Letters 4 (1986). According to Nyblom, "Note on
/// interpolated order statistics", Statistics & Probability Letters 14 (1992), the confidence is
/// off by less than 1% for distributions from the uniform to the Cauchy.
pub(super) fn interpolated_interval(samples: &[f64]) -> Option<Interval> {
    let sorted = sorted(samples)?;
    let n = sorted.len();
    let (rank, outer) = interval_rank(n);
    if outer < COVERAGE {
        return None;
    }
    let count = (rank + 1) as f64;
    // Logarithm of the number of ways to choose `count` of n samples. The number itself can
    // overflow.
    let ways: f64 = (0..=rank)
        .map(|k| ((n - k) as f64 / (k + 1) as f64).ln())
        .sum();
    let step = 2.0 * (ways - n as f64 * std::f64::consts::LN_2).exp();
    let spare = ((outer - COVERAGE) / step).clamp(0.0, 1.0);
    let above = n as f64 - count;
    let share = (above * spare / (count + (above - count) * spare)).clamp(0.0, 1.0);
    Some(Interval {
        low: between(*sorted.get(rank)?, *sorted.get(rank + 1)?, share),
        high: between(
            *sorted.get(n - 2 - rank)?,
            *sorted.get(n - 1 - rank)?,
            1.0 - share,
        ),
        attained: COVERAGE,
    })
}

/// Index of the interval's lower end among `n` sorted samples, and the confidence of the interval.
/// The upper end has the same index counted from the largest sample. The computation uses that the
/// number of samples below the true median is binomial with probability 1/2.
pub(super) fn interval_rank(n: usize) -> (usize, f64) {
    let tail_allowed = (1.0 - COVERAGE) / 2.0;
    // The probability is a logarithm, because 2^-n underflows from n = 1075 on.
    let mut log_probability = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = log_probability.exp();
    let mut rank = 0;
    loop {
        log_probability += ((n - rank) as f64 / (rank + 1) as f64).ln();
        let next = tail + log_probability.exp();
        if next > tail_allowed || rank + 1 >= n.div_ceil(2) {
            return (rank, (1.0 - 2.0 * tail).max(0.0));
        }
        tail = next;
        rank += 1;
    }
}

/// A sorted copy of `samples`. `None` without samples, or if a sample is not finite.
pub(super) fn sorted(samples: &[f64]) -> Option<Vec<f64>> {
    if samples.is_empty() || !samples.iter().all(|s| s.is_finite()) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(sorted)
}

/// [`quantile`] of samples that the caller has sorted and found finite.
pub(super) fn quantile_of_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&q) || sorted.is_empty() {
        return None;
    }
    let position = (sorted.len() - 1) as f64 * q;
    let low = *sorted.get(position.floor() as usize)?;
    let high = *sorted.get(position.ceil() as usize)?;
    Some(between(low, high, position.fract()))
}

/// Linear interpolation: the value at `share` (0 to 1) of the way from `low` to `high`, never
/// outside of them. The formula avoids `high - low`, which may overflow.
fn between(low: f64, high: f64, share: f64) -> f64 {
    (low * (1.0 - share) + high * share).clamp(low, high)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::SplitMix64;
    use super::*;

    const BAD: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

    /// A random number from the standard normal distribution (Box and Muller 1958).
    pub fn normal(random: &mut SplitMix64) -> f64 {
        let radius = (-2.0 * (1.0 - random.fraction()).ln()).sqrt();
        radius * (std::f64::consts::TAU * random.fraction()).cos()
    }

    /// A random number from the exponential distribution with mean 1, whose median is ln 2.
    pub fn exponential(random: &mut SplitMix64) -> f64 {
        -(1.0 - random.fraction()).ln()
    }

    #[test]
    fn mean_deviation_and_variation_of_few_and_of_none() {
        assert_eq!(
            [
                mean(&[]),
                standard_deviation(&[]),
                coefficient_of_variation(&[])
            ],
            [None; 3]
        );
        assert_eq!(
            [
                mean(&[7.0]),
                standard_deviation(&[7.0]),
                coefficient_of_variation(&[7.0])
            ],
            [Some(7.0), None, None]
        );
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), Some(5.0));
        assert!((standard_deviation(&values).unwrap() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        let negative: Vec<f64> = values.iter().map(|value| -value).collect();
        assert_eq!(
            coefficient_of_variation(&negative),
            coefficient_of_variation(&values)
        );
        assert_eq!(
            coefficient_of_variation(&[-1.0, 1.0]),
            None,
            "a share of nothing"
        );
        assert_eq!(coefficient_of_variation(&[0.0, 0.0]), None);
        for wild in [f64::NAN, f64::INFINITY] {
            assert_eq!(
                [mean(&[1.0, wild]), standard_deviation(&[1.0, wild])],
                [None; 2]
            );
        }
        assert!(mean(&[f64::MAX, f64::MAX]).is_some());
        assert_eq!(
            standard_deviation(&[f64::MAX, -f64::MAX]),
            None,
            "larger than a number can be"
        );
    }

    #[test]
    fn known_values() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.25), Some(1.75)); // R: quantile(1:4, .25)
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.0), Some(1.0));
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 1.0), Some(4.0));
        assert_eq!(quantile(&[10.0, 20.0], 0.9), Some(19.0));
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
    }

    #[test]
    fn no_answer_rather_than_a_wrong_one() {
        assert_eq!(
            (
                median(&[]),
                mad(&[]),
                quantile(&[], 0.5),
                median_interval(&[])
            ),
            (None, None, None, None)
        );
        for bad in BAD {
            let samples = [1.0, bad, 2.0, 3.0, 4.0, 5.0, 6.0];
            assert_eq!(
                (median(&samples), mad(&samples), quantile(&samples, 0.1)),
                (None, None, None)
            );
            assert_eq!(median_interval(&samples), None);
            assert_eq!(quantile(&[1.0], bad), None);
        }
        assert_eq!(
            (quantile(&[1.0], -0.1), quantile(&[1.0], 1.1)),
            (None, None)
        );
    }

    #[test]
    fn one_sample_constants_and_extremes() {
        assert_eq!((median(&[7.0]), mad(&[7.0])), (Some(7.0), Some(0.0)));
        assert_eq!(
            median_interval(&[7.0]),
            Some(Interval {
                low: 7.0,
                high: 7.0,
                attained: 0.0
            })
        );
        let same = [0.1; 9];
        assert_eq!(
            (median(&same), mad(&same), quantile(&same, 0.3)),
            (Some(0.1), Some(0.0), Some(0.1))
        );
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
        assert_eq!(median(&[-f64::MAX, f64::MAX]), Some(0.0));
    }

    #[test]
    fn interval_ranks_are_the_tabled_ones() {
        // Ranks (counted from 1) and coverages of the sign-test interval, computed from the
        // binomial distribution by hand.
        for (n, rank, coverage) in [
            (2, 1, 0.5),
            (3, 1, 0.75),
            (5, 1, 0.9375),
            (6, 1, 0.96875),
            (8, 1, 0.9921875),
            (9, 2, 0.9609375),
        ] {
            assert_eq!(interval_rank(n).0 + 1, rank, "{n}");
            assert!((interval_rank(n).1 - coverage).abs() < 1e-12, "{n}");
        }
        for (n, rank) in [
            (10, 2),
            (15, 4),
            (20, 6),
            (25, 8),
            (30, 10),
            (50, 18),
            (100, 40),
        ] {
            assert_eq!(interval_rank(n).0 + 1, rank, "{n}");
        }
        for n in 6..3000 {
            let (rank, coverage) = interval_rank(n);
            assert!(
                (0.95..1.0).contains(&coverage) && rank < n / 2,
                "{n}: {coverage}"
            );
        }
        let (rank, coverage) = interval_rank(100_000);
        // The expected rank comes from the normal approximation.
        assert!((49_689..=49_691).contains(&(rank + 1)) && (coverage - 0.95).abs() < 0.001);
    }

    #[test]
    fn interval_holds_what_it_promises() {
        let mut random = SplitMix64::new(20_14);
        for n in [7, 8, 9, 11, 14, 20, 33, 50] {
            let mut normals = 0;
            let mut exponentials = 0;
            for _ in 0..2_000 {
                let drawn: Vec<f64> = (0..n).map(|_| normal(&mut random)).collect();
                normals += i32::from(median_interval(&drawn).unwrap().contains(0.0));
                let drawn: Vec<f64> = (0..n).map(|_| exponential(&mut random)).collect();
                exponentials += i32::from(
                    median_interval(&drawn)
                        .unwrap()
                        .contains(std::f64::consts::LN_2),
                );
            }
            // The interval is not too wide either: its coverage is near the stated one.
            let stated = median_interval(&vec![0.0; n]).unwrap().attained * 2_000.0;
            for found in [normals, exponentials] {
                assert!(found >= 1_860, "{n}: {found}");
                assert!(
                    (f64::from(found) - stated).abs() < 40.0,
                    "{n}: {found} {stated}"
                );
            }
        }
    }

    #[test]
    fn order_and_scale_do_not_matter() {
        let mut random = SplitMix64::new(5);
        let mut samples: Vec<f64> = (0..41).map(|_| exponential(&mut random)).collect();
        let before = (
            median(&samples),
            mad(&samples),
            median_interval(&samples),
            quantile(&samples, 0.9),
        );
        random.shuffle(&mut samples);
        assert_eq!(
            before,
            (
                median(&samples),
                mad(&samples),
                median_interval(&samples),
                quantile(&samples, 0.9)
            )
        );
        let scaled: Vec<f64> = samples.iter().map(|s| s * 1024.0).collect();
        let interval = median_interval(&samples).unwrap();
        let large = median_interval(&scaled).unwrap();
        assert_eq!(median(&scaled), median(&samples).map(|m| m * 1024.0));
        assert_eq!(
            (large.low, large.high),
            (interval.low * 1024.0, interval.high * 1024.0)
        );
    }

    #[test]
    fn half_width_is_relative() {
        let interval = Interval {
            low: 99.0,
            high: 101.0,
            attained: 0.95,
        };
        assert_eq!(interval.relative_half_width(100.0), Some(0.01));
        assert_eq!(interval.relative_half_width(-100.0), Some(0.01));
        assert_eq!(
            (
                interval.relative_half_width(0.0),
                interval.relative_half_width(f64::NAN)
            ),
            (None, None)
        );
    }
}
