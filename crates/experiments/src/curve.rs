//! Bandwidth over the number of threads, and the number at which bandwidth saturates.

use crate::difference::Figure;
use report::Point;

/// A number of threads saturates the memory if its bandwidth reaches this share of the highest
/// bandwidth.
const SATURATED: f64 = 0.95;

/// The number of threads at which bandwidth saturates, as the range that the confidence intervals
/// allow.
#[derive(Debug, Clone)]
pub struct Saturation<'a> {
    /// Fewest threads that may reach 95% of the highest bandwidth, according to the intervals.
    pub at_least: u64,
    /// Fewest threads that surely reach 95% of the highest bandwidth, according to the intervals.
    /// If no number of threads surely does, `best_threads`.
    pub at_most: u64,
    /// Median bandwidth of `at_most` threads, in B/s.
    pub reached: f64,
    /// The highest median bandwidth of all numbers of threads, in B/s.
    pub best: f64,
    /// Fewest threads with the highest median bandwidth.
    pub best_threads: u64,
    /// Points that support the result.
    pub points: Vec<&'a Point>,
}

/// Saturation of a curve of bandwidth over rising numbers of threads. `None` for fewer than two
/// numbers, or if the intervals allow every number.
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
    /// The number of threads as text: `2`, or `2 to 4` if the intervals allow a range.
    pub fn count(&self) -> String {
        match self.at_least == self.at_most {
            true => self.at_most.to_string(),
            false => format!("{} to {}", self.at_least, self.at_most),
        }
    }

    /// The verb that agrees with the number of threads: `reach` or `reaches`.
    pub fn reach(&self) -> &'static str {
        if self.at_most == 1 {
            "reaches"
        } else {
            "reach"
        }
    }
}
