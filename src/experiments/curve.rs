//! Bandwidth over the number of threads: where it saturates.

use crate::results::Summary;

/// Close to the best is this share of it.
pub const SATURATED: f64 = 0.95;

/// Where a curve is close to its best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// The fewest threads whose interval reaches 95% of the best.
    pub threads: u64,
    /// Whether their whole interval does.
    pub certain: bool,
    /// The median of that many.
    pub reached: f64,
    /// The highest median.
    pub best: f64,
    /// The fewest threads that have it.
    pub best_threads: u64,
}

/// The fewest threads that are close to the best of a curve over rising counts; `None` for an empty one.
pub fn saturation(curve: &[(u64, Summary)]) -> Option<Saturation> {
    let best = curve.iter().map(|(_, summary)| summary.median).max_by(f64::total_cmp)?;
    let (best_threads, _) = curve.iter().find(|(_, summary)| summary.median >= best)?;
    let (threads, summary) = curve.iter().find(|(_, summary)| summary.ci_high >= SATURATED * best)?;
    let certain = summary.ci_low >= SATURATED * best;
    Some(Saturation { threads: *threads, certain, reached: summary.median, best, best_threads: *best_threads })
}

/// Each of `items` once, in the order of their first appearance.
pub fn unique<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.fold(Vec::new(), |mut seen, item| {
        if !seen.contains(&item) {
            seen.push(item);
        }
        seen
    })
}

/// `text` with a capital first letter.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
