//! Verdicts on points that depend on other points of the same dataset.

use super::judge::reason;
use report::without;
use report::{Cause, Coordinates, Dataset, Outcome, Point, VerdictGrade};
use std::collections::{BTreeMap, BTreeSet};
use units::Bytes;

/// A latency below this share of the latency of a smaller working set is impossible. Smaller
/// differences come from the core clock.
const BELOW: f64 = 0.9;

/// Rejects every latency that is below the latency of a smaller working set with otherwise equal
/// coordinates. A smaller working set lies in a level that is at least as fast. The two intervals
/// must not overlap, and the point of the smaller working set must be solid.
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
        // Size and lower end of the interval of the slowest smaller working set so far.
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

/// A working set exceeds a cache if it is larger by this factor. Sizes are measured in steps, so
/// the capacity of a cache is known only to one step.
const BEYOND: f64 = 1.25;

/// Smallest working set in memory, as a multiple of the last-level cache's effective capacity.
/// Below this multiple, the cache may answer more than half of the loads of a pointer chain in
/// random order.
const MEMORY_AT_LEAST: f64 = 2.0;

/// A last-level cache whose capacity was found by timing.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedCache {
    /// CPUs that share the cache, according to the system's report.
    pub cpus: BTreeSet<u32>,
    /// Name of the cache, according to the system's report: `L3`.
    pub level: String,
    /// Effective capacity of the cache.
    pub capacity: Bytes,
    /// Smallest capacity that explains the measured latencies about as well as `capacity`.
    pub low: Bytes,
    /// Largest capacity that explains the measured latencies about as well as `capacity`.
    pub high: Bytes,
}

/// Adds the effective capacity of the last-level cache to the evidence of each of `points`. A point
/// becomes doubtful if its level is this cache but its working set does not fit into the cache. A
/// point whose level is `memory` becomes doubtful if the cache may answer its loads.
pub fn doubt_by_timed_caches<'a>(
    points: impl Iterator<Item = &'a mut Point>,
    caches: &[TimedCache],
    memory: &str,
) {
    for point in points {
        let Outcome::Measured(measured) = &mut point.outcome else {
            continue;
        };
        let Some(bytes) = measured.evidence.working_set_bytes else {
            continue;
        };
        let cpus = &measured.evidence.cpus;
        let behind = |cache: &&TimedCache| cpus.iter().all(|cpu| cache.cpus.contains(cpu));
        let Some(cache) = caches.iter().find(behind) else {
            continue;
        };
        measured.evidence.measured_last_level_bytes = Some(cache.capacity.0);
        let set = Bytes(bytes);
        let TimedCache {
            level, capacity, ..
        } = cache;
        let called = |name: &str| {
            let level = point.coordinates.get("level");
            level.is_some_and(|level| level.to_string() == name)
        };
        let text = if called(level) && bytes as f64 > cache.high.0 as f64 * BEYOND {
            format!("its {set} exceed the {capacity} that {level} has by timing")
        } else if called(memory) && (bytes as f64) < cache.low.0 as f64 * MEMORY_AT_LEAST {
            format!("its {set} are less than twice the {capacity} that {level} has by timing")
        } else {
            continue;
        };
        measured
            .verdict
            .add(VerdictGrade::Doubtful, reason(Cause::CacheSize, text));
    }
}
