//! Two kinds of values among samples.

use super::order::{median, sorted};

/// Kinds less apart than this are not worth a word.
const LEAST_RATIO: f64 = 1.1;

/// Fewer of a kind than this share, or this count, are outliers.
const LEAST_SHARE: f64 = 0.1;
const LEAST_COUNT: usize = 5;

/// Separation that halves of evenly spread values reach, 12^(1/2), and a little; what few independent samples add to
/// it by chance, times their number.
const SEPARATION: f64 = 3.55;
const BY_CHANCE: f64 = 45.0;

/// Samples halfway between the kinds, as a share of those around the middle of the rarer kind, at most.
const VALLEY: f64 = 0.65;

/// Two kinds of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// The middle of the low ones.
    pub low: f64,
    /// The middle of the high ones.
    pub high: f64,
    /// Share of the high ones.
    pub share_high: f64,
}

/// Two kinds of values among samples in time order, in any unit: the split with the least sum of squares within
/// its sides, where the sides are further apart than those of any single hump would be, there is a valley between
/// them, each has 10% of the samples and five at least, and the middle of one is 1.1 times that of the other. Samples that
/// are like their neighbours count for fewer, so that six rounds at six levels are not two kinds. `None` otherwise,
/// for values not above 0 and for any that is not finite.
///
/// Sources: Otsu, "A threshold selection method from gray-level histograms", IEEE Transactions on Systems, Man, and
/// Cybernetics 9 (1979) (the split); Ashman, Bird and Zepf, "Detecting bimodality in astronomical datasets",
/// Astronomical Journal 108 (1994) (the separation, D); the thresholds are simulated, docs/method/statistics.md.
pub fn modes(samples: &[f64]) -> Option<Modes> {
    let ordered = sorted(samples).filter(|s| s.first().is_some_and(|&least| least > 0.0))?;
    let split = best_split(&ordered)?;
    let (lows, highs) = ordered.split_at_checked(split.at)?;
    let (low, high) = (median(lows)?, median(highs)?);
    let apart = split.separation > SEPARATION + BY_CHANCE / independent(samples);
    let two = apart && high >= low * LEAST_RATIO && valley(&ordered, low, high) < VALLEY;
    two.then_some(Modes { low, high, share_high: highs.len() as f64 / ordered.len() as f64 })
}

/// Where sorted values are split, and how well.
struct Split {
    /// Number of the low ones.
    at: usize,
    /// Distance of the means over the root mean square of the two standard deviations.
    separation: f64,
}

/// The split of `ordered` with the least sum of squares within both sides; `None` where the sides would be too small.
fn best_split(ordered: &[f64]) -> Option<Split> {
    let n = ordered.len();
    let least = ((n as f64 * LEAST_SHARE).ceil() as usize).max(LEAST_COUNT);
    // Around the middle and in units of the range, so that squares keep their digits.
    let (middle, range) = (median(ordered)?, ordered.last()? - ordered.first()?);
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
            best = Some((within, Split { at: before, separation }));
        }
        lows = lows.with(x);
    }
    best.map(|(_, split)| split)
}

/// Values on one side of a split.
#[derive(Default)]
struct Side {
    count: f64,
    sum: f64,
    sum_of_squares: f64,
}

impl Side {
    fn with(&self, x: f64) -> Self {
        Self { count: self.count + 1.0, sum: self.sum + x, sum_of_squares: self.sum_of_squares + x * x }
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

/// How many of `ordered` lie halfway between `low` and `high`, as a share of those around the rarer of the two.
fn valley(ordered: &[f64], low: f64, high: f64) -> f64 {
    let near = |share: f64| {
        let (middle, reach) = (low + (high - low) * share, (high - low) * 0.15);
        let end = ordered.partition_point(|&s| s <= middle + reach);
        end.saturating_sub(ordered.partition_point(|&s| s < middle - reach)) as f64
    };
    near(0.5) / near(0.0).min(near(1.0))
}

/// About how many independent samples say as much as these, by the correlation of each with the next beyond that
/// which independent ones could have.
///
/// Source: Bayley and Hammersley, "The effective number of independent observations in an autocorrelated time
/// series", Supplement to the Journal of the Royal Statistical Society 8 (1946).
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
