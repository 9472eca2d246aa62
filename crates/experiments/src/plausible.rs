//! What cannot be true of the points of a dataset taken together.

use crate::series::without;
use report::{Cause, Coordinates, Dataset, Outcome, VerdictGrade};
use std::collections::BTreeMap;
use units::Bytes;
use verdict::reason;

/// A latency below that of a smaller working set by more than this: less is what the core clock
/// does between points.
const BELOW: f64 = 0.9;

/// Rejects every latency that is below that of a smaller working set which differs in nothing else:
/// what holds less lies in a level at least as fast. The intervals must be apart too, and only
/// numbers that were not doubted bear witness.
pub fn reject_below_faster(dataset: &mut Dataset) {
    let mut places: BTreeMap<Coordinates, Vec<(u64, usize)>> = BTreeMap::new();
    for (index, point) in dataset.points.iter().enumerate() {
        let Some(size) = point.number("size_bytes") else {
            continue;
        };
        places
            .entry(without(&point.coordinates, &["size_bytes", "level"]))
            .or_default()
            .push((size, index));
    }
    for mut line in places.into_values() {
        line.sort_unstable();
        // The slowest of the smaller ones: its size and the lower end of its interval.
        let mut slowest: Option<(u64, f64)> = None;
        for (size, index) in line {
            let Outcome::Measured(measured) = &mut dataset.points[index].outcome else {
                continue;
            };
            let summary = measured.summary;
            if let Some((smaller, least)) =
                slowest.filter(|(_, least)| summary.ci_high < least * BELOW)
            {
                let text = format!(
                    "below the {least:.1} ns of {}, which is in a faster level",
                    Bytes(smaller)
                );
                measured.verdict.add(
                    VerdictGrade::Rejected,
                    reason(Cause::BelowFasterLevel, text),
                );
            } else if measured.verdict.grade == VerdictGrade::Solid
                && slowest.is_none_or(|(_, least)| summary.ci_low > least)
            {
                slowest = Some((size, summary.ci_low));
            }
        }
    }
}
