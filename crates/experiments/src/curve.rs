//! Bandwidth over the number of threads: where it saturates.

use crate::difference::Figure;
use report::Point;

/// Close to the best is this share of it.
const SATURATED: f64 = 0.95;

/// Place where a curve comes close to its best, as far as its intervals show it.
#[derive(Debug, Clone)]
pub struct Saturation<'a> {
    /// The fewest threads that may reach 95% of the best by their interval.
    pub at_least: u64,
    /// The fewest threads that do by all of their interval.
    pub at_most: u64,
    /// The median of `at_most` threads.
    pub reached: f64,
    /// The highest median.
    pub best: f64,
    /// The fewest threads that have it.
    pub best_threads: u64,
    /// The points that this rests on.
    pub points: Vec<&'a Point>,
}

/// The threads that are close to the best of a curve over rising counts; `None` for fewer than two
/// counts, and where the intervals allow every one of them.
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
    /// `2`, or `2 to 4` where the intervals leave it open.
    pub fn count(&self) -> String {
        match self.at_least == self.at_most {
            true => self.at_most.to_string(),
            false => format!("{} to {}", self.at_least, self.at_most),
        }
    }

    /// The verb that goes with the count.
    pub fn reach(&self) -> &'static str {
        if self.at_most == 1 {
            "reaches"
        } else {
            "reach"
        }
    }
}
