//! Whether values in time order go anywhere, and whether neighbours are alike.

use super::levels::merged;
use super::order::median;

/// A trend by chance is taken for a real one this often.
const DRIFT_BY_CHANCE: f64 = 0.01;

/// Up to this many values the distribution of Kendall's statistic is counted, beyond the normal one is near enough.
const COUNTED: usize = 12;

/// A trend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Change from the first round to the last relative to the middle: 0.05 is 5% up.
    pub total: f64,
    /// Probability that rounds without a trend show one as plain.
    pub p: f64,
}

/// The trend over the rounds of all allocations in time order, `allocations[allocation][round][sample]`, in any unit.
/// `None` where rounds without a trend would show one as plain in more than 1 of 100 cases (always below six
/// rounds), where the middle is 0, and for no samples or any that is not finite.
///
/// Source: Mann, "Nonparametric tests against trend", Econometrica 13 (1945), two-sided; the change is the slope of
/// Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968), times the steps between the
/// rounds. More than 64 rounds are merged with their neighbours first.
pub fn drift(allocations: &[Vec<Vec<f64>>]) -> Option<Drift> {
    let rounds: Vec<Vec<f64>> = allocations.iter().flatten().filter(|r| !r.is_empty()).cloned().collect();
    let levels: Option<Vec<f64>> = merged(&rounds).iter().map(|r| median(r)).collect();
    let levels = levels?;
    let p = trend_by_chance(&levels);
    let total = slope(&levels)? * levels.len().saturating_sub(1) as f64 / median(&levels)?.abs();
    (p < DRIFT_BY_CHANCE && total.is_finite()).then_some(Drift { total, p })
}

/// The change of `levels` from one to the next: the median of the slopes of all pairs (Theil and Sen). `None` for
/// fewer than two or where a difference overflows.
pub(super) fn slope(levels: &[f64]) -> Option<f64> {
    let pairs = levels.iter().enumerate().flat_map(|(j, b)| {
        let earlier = levels.iter().take(j).enumerate();
        earlier.map(move |(i, a)| (b - a) / (j - i) as f64)
    });
    median(&pairs.collect::<Vec<f64>>())
}

/// The probability that values without a trend rise or fall as consistently as `levels` do (Mann and Kendall,
/// two-sided). Ties count as neither, which makes it larger than it need be.
pub(super) fn trend_by_chance(levels: &[f64]) -> f64 {
    let n = levels.len();
    let (mut rises, mut falls) = (0usize, 0usize);
    for (j, b) in levels.iter().enumerate() {
        rises += levels.iter().take(j).filter(|a| *a < b).count();
        falls += levels.iter().take(j).filter(|a| *a > b).count();
    }
    if n <= COUNTED {
        // The untied orders with as few pairs against the trend as this: a tie is half a pair against it.
        let against = (n * n.saturating_sub(1) / 2 - rises.abs_diff(falls)) / 2;
        let share: f64 = inversions(n).iter().take(against + 1).sum();
        return (2.0 * share).min(1.0);
    }
    let n = n as f64;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    two_sided((rises.abs_diff(falls) as f64 - 1.0).max(0.0) / deviation)
}

/// The shares of the orders of `n` values that have 0, 1, 2... pairs in falling order.
fn inversions(n: usize) -> Vec<f64> {
    let mut shares = vec![1.0];
    for count in 2..=n {
        // The new largest value has 0 to count - 1 of the others behind it, each with the same probability.
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

/// The probability that a standard normal value is further than `z` >= 0 from 0, to 2 in 10^7.
///
/// Source: Abramowitz and Stegun, "Handbook of mathematical functions", 7.1.26.
fn two_sided(z: f64) -> f64 {
    const TERMS: [f64; 5] = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.3275911 * x);
    TERMS.iter().fold(0.0, |sum, term| sum * t + term) * t * (-x * x).exp()
}

/// Whether neighbours among `levels` are more alike than `deviations` standard deviations of what independent ones
/// are, by the correlation of the ranks of each with the next.
///
/// Source: Wald and Wolfowitz, "An exact test for randomness in the non-parametric case based on serial correlation",
/// Annals of Mathematical Statistics 14 (1943): mean -1/n, variance about 1/n.
pub(super) fn neighbours_alike(levels: &[f64], deviations: f64) -> bool {
    let n = levels.len() as f64;
    // Twice the rank from the middle, with ties at the middle of their ranks.
    let rank = |x: &f64| {
        let below = levels.iter().filter(|y| *y < x).count() as f64;
        below - levels.iter().filter(|y| *y > x).count() as f64
    };
    let ranks: Vec<f64> = levels.iter().map(rank).collect();
    let all: f64 = ranks.iter().map(|r| r * r).sum();
    let neighbours: f64 = ranks.iter().zip(ranks.iter().skip(1)).map(|(a, b)| a * b).sum();
    neighbours > all * (deviations / n.sqrt() - 1.0 / n)
}
