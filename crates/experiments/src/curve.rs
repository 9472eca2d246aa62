//! Bandwidth over the number of threads, and where it saturates.

use crate::difference::Figure;
use report::Point;

/// A count is close to the best if it reaches this share of it.
const SATURATED: f64 = 0.95;

/// Number of threads at which a curve saturates, as far as its intervals show.
#[derive(Debug, Clone)]
pub struct Saturation<'a> {
    /// Fewest threads whose interval reaches 95% of the best.
    pub at_least: u64,
    /// Fewest threads whose whole interval is above 95% of the best.
    pub at_most: u64,
    /// Median bandwidth of `at_most` threads.
    pub reached: f64,
    /// The highest median.
    pub best: f64,
    /// Fewest threads with the highest median.
    pub best_threads: u64,
    /// Points that support the result.
    pub points: Vec<&'a Point>,
}

/// Saturation of a curve over rising counts. `None` for fewer than two counts, or if the intervals
/// allow every count.
pub fn saturation<'a>(curve: &[(u64, Figure<'a>)]) -> Option<Saturation<'a>> {
    let best = curve
        .iter()
        .map(|(_, figure)| figure)
        .max_by(|a, b| a.value.total_cmp(&b.value))?;
    let best_at = curve
        .iter()
        .position(|(_, figure)| figure.value >= best.value)?;
    let first = curve
        .iter()
        .position(|(_, figure)| figure.high >= SATURATED * best.low)?;
    let surely = curve
        .iter()
        .position(|(_, figure)| figure.low >= SATURATED * best.high);
    let last = surely
        .map_or(best_at, |surely| surely.min(best_at))
        .max(first);
    if curve.len() < 2 || (first == 0 && last == curve.len() - 1) {
        return None;
    }
    let passed = curve[first..=last].iter().chain([&curve[best_at]]);
    Some(Saturation {
        at_least: curve[first].0,
        at_most: curve[last].0,
        reached: curve[last].1.value,
        best: best.value,
        best_threads: curve[best_at].0,
        points: passed
            .flat_map(|(_, figure)| figure.points.iter().copied())
            .collect(),
    })
}

impl Saturation<'_> {
    /// `2`, or `2 to 4` if the intervals leave it open.
    pub fn count(&self) -> String {
        match self.at_least == self.at_most {
            true => self.at_most.to_string(),
            false => format!("{} to {}", self.at_least, self.at_most),
        }
    }

    /// Verb that agrees with the count.
    pub fn reach(&self) -> &'static str {
        if self.at_most == 1 {
            "reaches"
        } else {
            "reach"
        }
    }
}
