//! Detects samples that form two separate groups (a bimodal distribution).

use super::order::{median, sorted};

/// Two groups whose medians differ by less than this factor are not reported.
const LEAST_RATIO: f64 = 1.1;

/// A group with a smaller share or a smaller number of the samples counts as outliers.
const LEAST_SHARE: f64 = 0.1;
const LEAST_COUNT: usize = 8;

/// Two groups of n independent samples need a separation of at least `SEPARATION + BY_CHANCE / n`
/// plus the result of [`valley`]. For comparison: the halves of the uniform distribution have a
/// separation of 12^(1/2), and no valley between them. No other distribution with a single peak has
/// halves with a larger separation.
const SEPARATION: f64 = 3.1;
const BY_CHANCE: f64 = 80.0;

/// The two groups of a bimodal set of samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// Median of the lower group.
    pub low: f64,
    /// Median of the upper group.
    pub high: f64,
    /// Share of samples in the upper group.
    pub share_high: f64,
}

/// The two groups of a bimodal set of samples, in time order and any unit. The samples are split
/// where the sum of squares within both groups is least. The groups have to be further apart than
/// the halves of any distribution with a single peak, and need a valley between them. Each group
/// needs 10% of the samples and at least eight of them. The medians differ by a factor of at least
/// 1.1. Samples that resemble the samples before and after them count for less. Otherwise six
/// rounds at six levels would look like two groups. `None` if a condition fails, or if a value is
/// not finite and above 0.
///
/// Sources: Otsu, "A threshold selection method from gray-level histograms", IEEE Transactions on
/// Systems, Man, and Cybernetics 9 (1979) (the split); Ashman, Bird and Zepf, "Detecting bimodality
/// in astronomical datasets", Astronomical Journal 108 (1994) (the separation, D); the thresholds
/// are simulated, docs/method/shapes.md.
pub fn modes(samples: &[f64]) -> Option<Modes> {
    let ordered = sorted(samples).filter(|s| s.first().is_some_and(|&least| least > 0.0))?;
    let split = best_split(&ordered)?;
    let (lows, highs) = ordered.split_at_checked(split.at)?;
    let low = median(lows)?;
    let high = median(highs)?;
    let valley = valley(&ordered, low, high);
    let apart = split.separation > SEPARATION + BY_CHANCE / independent(samples) + valley;
    let two = apart && high >= low * LEAST_RATIO;
    two.then_some(Modes {
        low,
        high,
        share_high: highs.len() as f64 / ordered.len() as f64,
    })
}

/// Split of sorted values into two groups, and its quality.
struct Split {
    /// Number of values in the lower group.
    at: usize,
    /// Distance of the means divided by the root mean square of the two standard deviations.
    separation: f64,
}

/// The split of the sorted values `ordered` with the least sum of squares within both groups.
/// `None` if one group is too small at every split.
fn best_split(ordered: &[f64]) -> Option<Split> {
    let n = ordered.len();
    let least = ((n as f64 * LEAST_SHARE).ceil() as usize).max(LEAST_COUNT);
    // The median is subtracted from the values and the range is scaled to 1, so that squares keep
    // their precision.
    let middle = median(ordered)?;
    let range = ordered.last()? - ordered.first()?;
    let scaled: Vec<f64> = ordered.iter().map(|s| (s - middle) / range).collect();
    let all = scaled.iter().fold(Side::default(), |side, &x| side.with(x));
    let mut lows = Side::default();
    let mut best: Option<(f64, Split)> = None;
    for (before, &x) in scaled.iter().enumerate() {
        let highs = all.without(&lows);
        let within = lows.squares() + highs.squares();
        let allowed = before >= least && n - before >= least;
        if allowed && best.as_ref().is_none_or(|(least, _)| within < *least) {
            let spread = (lows.squares() / lows.count + highs.squares() / highs.count) / 2.0;
            let separation = (highs.mean() - lows.mean()) / spread.sqrt();
            best = Some((
                within,
                Split {
                    at: before,
                    separation,
                },
            ));
        }
        lows = lows.with(x);
    }
    best.map(|(_, split)| split)
}

/// Sums over the values of one group.
#[derive(Default)]
struct Side {
    count: f64,
    sum: f64,
    sum_of_squares: f64,
}

impl Side {
    fn with(&self, x: f64) -> Self {
        Self {
            count: self.count + 1.0,
            sum: self.sum + x,
            sum_of_squares: self.sum_of_squares + x * x,
        }
    }

    fn without(&self, other: &Self) -> Self {
        Self {
            count: self.count - other.count,
            sum: self.sum - other.sum,
            sum_of_squares: self.sum_of_squares - other.sum_of_squares,
        }
    }

    fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// Sum of squares around the mean.
    fn squares(&self) -> f64 {
        (self.sum_of_squares - self.sum * self.mean()).max(0.0)
    }
}

/// How full the valley between the medians `low` and `high` is: 0 if it is empty. The result is the
/// number of values near its middle, divided by the number of values near one of the medians. Of
/// the two medians, the one with fewer values near it is used.
fn valley(ordered: &[f64], low: f64, high: f64) -> f64 {
    let near = |share: f64| {
        let middle = low + (high - low) * share;
        let reach = (high - low) * 0.15;
        let end = ordered.partition_point(|&s| s <= middle + reach);
        end.saturating_sub(ordered.partition_point(|&s| s < middle - reach)) as f64
    };
    near(0.5) / near(0.0).min(near(1.0))
}

/// Effective number of independent samples. It is computed from the correlation between successive
/// samples, minus the correlation that independent samples may show by chance.
///
/// Source: Bayley and Hammersley, "The effective number of independent observations in an
/// autocorrelated time series", Supplement to the Journal of the Royal Statistical Society 8
/// (1946).
fn independent(samples: &[f64]) -> f64 {
    let n = samples.len() as f64;
    let mean = samples.iter().map(|s| s / n).sum::<f64>();
    let scale = samples.iter().map(|s| (s - mean).abs()).fold(0.0, f64::max);
    let off: Vec<f64> = samples.iter().map(|s| (s - mean) / scale).collect();
    let all: f64 = off.iter().map(|x| x * x).sum();
    let neighbours: f64 = off.iter().zip(off.iter().skip(1)).map(|(a, b)| a * b).sum();
    let alike = (neighbours / all - 1.0 / n.sqrt()).max(0.0);
    n * (1.0 - alike) / (1.0 + alike)
}

#[cfg(test)]
mod tests {
    use super::super::SplitMix64;
    use super::super::order::tests::{exponential, normal};
    use super::*;

    /// Share of trials in which `count` samples show two groups. `draw` returns the sample with a
    /// given number.
    fn found(
        count: usize,
        trials: usize,
        mut draw: impl FnMut(usize, &mut SplitMix64) -> f64,
    ) -> f64 {
        let mut random = SplitMix64::new(51);
        let mut one = || {
            let samples: Vec<f64> = (0..count).map(|i| draw(i, &mut random)).collect();
            usize::from(modes(&samples).is_some())
        };
        (0..trials).map(|_| one()).sum::<usize>() as f64 / trials as f64
    }

    #[test]
    fn one_kind_is_rarely_taken_for_two() {
        for count in [30, 60, 150] {
            let each = count / 6;
            let mut level = 0.0;
            let cases = [
                ("normal", found(count, 1000, |_, r| 10.0 + normal(r))),
                (
                    "exponential",
                    found(count, 1000, |_, r| 0.001 + exponential(r)),
                ),
                (
                    "lognormal",
                    found(count, 1000, |_, r| (0.5 * normal(r)).exp()),
                ),
                ("uniform", found(count, 1000, |_, r| 1.0 + r.fraction())),
                (
                    "drift",
                    found(count, 1000, |i, r| {
                        20.0 + 5.0 * i as f64 / count as f64 + normal(r)
                    }),
                ),
            ];
            for (name, share) in cases {
                assert!(share < 0.006, "{name}, {count} samples: {share}");
            }
            let by_round = found(count, 1000, |i, r| {
                level = if i % each == 0 {
                    10.0 + normal(r)
                } else {
                    level
                };
                level + 0.1 * normal(r)
            });
            assert!(by_round < 0.03, "{count} samples: {by_round}");
        }
    }

    #[test]
    fn two_kinds_are_found() {
        let mixed = |count, apart: f64| {
            found(count, 500, move |_, r| {
                20.0 + normal(r) + if r.fraction() < 0.4 { apart } else { 0.0 }
            })
        };
        assert!(
            mixed(625, 4.0) > 0.98
                && mixed(150, 4.0) > 0.6
                && mixed(150, 5.0) > 0.98
                && mixed(60, 6.0) > 0.97
        );
        let mut high = false;
        let by_round = found(150, 500, |i, r| {
            high = if i % 25 == 0 {
                r.fraction() < 0.4
            } else {
                high
            };
            20.0 + 0.1 * normal(r) + if high { 5.0 } else { 0.0 }
        });
        assert!(by_round > 0.9, "{by_round}"); // in 5%, all six rounds have one level
    }

    #[test]
    fn the_kinds_are_the_ones_mixed() {
        let mut random = SplitMix64::new(52);
        let mut samples: Vec<f64> = (0..100)
            .map(|i| if i < 40 { 80.0 } else { 100.0 } + normal(&mut random))
            .collect();
        random.shuffle(&mut samples);
        let found = modes(&samples).unwrap();
        assert!(
            (found.low - 80.0).abs() < 1.0
                && (found.high - 100.0).abs() < 1.0
                && found.share_high == 0.6
        );
        let near: Vec<f64> = samples.iter().map(|s| s + 200.0).collect();
        assert_eq!(modes(&near), None); // 7% apart
        let huge: Vec<f64> = samples.iter().map(|s| s * 1e300).collect();
        assert_eq!(modes(&huge).map(|m| m.share_high), Some(0.6));
    }

    #[test]
    fn outliers_are_no_kind_and_nonsense_has_none() {
        let few = |count: usize| -> Vec<f64> {
            (0..100)
                .map(|i| if i % 100 < count { 2.0 } else { 1.0 })
                .collect()
        };
        assert_eq!(modes(&few(9)), None);
        let mut tenth = few(12);
        SplitMix64::new(1).shuffle(&mut tenth);
        assert_eq!(
            modes(&tenth),
            Some(Modes {
                low: 1.0,
                high: 2.0,
                share_high: 0.12
            })
        );
        assert_eq!(
            (modes(&[]), modes(&[1.0, 2.0]), modes(&[1.0; 100])),
            (None, None, None)
        );
        let shifted = |by: f64| tenth.iter().map(|s| s + by).collect::<Vec<f64>>();
        assert_eq!(
            (
                modes(&shifted(-1.0)),
                modes(&shifted(f64::NAN)),
                modes(&shifted(f64::INFINITY))
            ),
            (None, None, None)
        );
        let wide: Vec<f64> = tenth
            .iter()
            .map(|&s| if s > 1.0 { f64::MAX } else { f64::MIN_POSITIVE })
            .collect();
        let _ = modes(&wide);
    }
}
