//! The curve of one CPU in one kind of pages: its sweep, its levels, and the reported caches.

use super::analysis::{CurvePoint, End, MeasuredLevel, levels, matched};
use super::points::SWEEP;
use crate::series::not_rejected;
use host::memory::PageMode;
use report::{Cache, Dataset, Finding, Point, Topology};
use stats::{median, quantile};
use std::collections::BTreeMap;
use units::Bytes;
use verdict::GRANTED;

/// The curve of one CPU in one kind of pages, with the points of its probes.
pub struct MeasuredCurve<'a> {
    /// All points of the CPU and pages that are not rejected.
    pub points: Vec<&'a Point>,
    /// The points of the sweep, by rising size.
    pub curve: Vec<CurvePoint>,
    /// Levels of the curve.
    pub levels: Vec<MeasuredLevel>,
    /// The caches that the system reports for the CPU, nearest first.
    pub reported: Vec<&'a Cache>,
    /// Core cycles per nanosecond, if known.
    pub cycles: Option<f64>,
    /// Words that name the pages and the CPU, if the dataset has several.
    pub on: String,
    /// Words that name the pages, if the dataset has several kinds.
    pub mode: String,
    /// Topology that the system reports.
    pub topology: Option<&'a Topology>,
    /// CPU that followed the chains, if known.
    pub cpu: Option<u32>,
}

/// Levels of the sweep of `cpu` in `pages` (`4k`, `thp`, `huge`) in a dataset of this experiment,
/// nearest first. Empty without such a sweep.
pub fn measured_levels(dataset: &Dataset, cpu: u32, pages: &str) -> Vec<MeasuredLevel> {
    levels(&curve(dataset, cpu, pages))
}

/// The curve of latency over size that the sweep of `cpu` in `pages` shows, by rising size.
pub fn curve(dataset: &Dataset, cpu: u32, pages: &str) -> Vec<CurvePoint> {
    let belongs =
        |p: &&Point| p.number("cpu") == Some(u64::from(cpu)) && p.name("pages") == Some(pages);
    curve_of(dataset.points.iter().filter(belongs))
}

/// Lower quartile of the point's undisturbed samples, because disturbances only make loads longer.
/// `None` if the point is not measured, or is rejected.
pub fn value(point: &Point) -> Option<f64> {
    quantile(&undisturbed(point)?, 0.25)
}

/// Values of the point's undisturbed samples. `None` if the point is not measured, or is rejected.
fn undisturbed(point: &Point) -> Option<Vec<f64>> {
    let samples = &not_rejected(point)?.samples;
    let undisturbed = samples.iter().filter(|s| s.disturbance.is_none());
    Some(undisturbed.map(|sample| sample.value).collect())
}

fn curve_of<'a>(points: impl Iterator<Item = &'a Point>) -> Vec<CurvePoint> {
    let spot = |p: &Point| {
        let size = Bytes(p.number("size_bytes")?);
        let latency = value(p)?;
        let median = median(&undisturbed(p)?)?;
        Some((
            size,
            CurvePoint {
                size,
                latency,
                median,
                coarse: p.number("pass") == Some(0),
            },
        ))
    };
    let sweep = points.filter(|p| p.name("operation") == Some(SWEEP));
    // A size that was measured in both passes keeps the point of the first pass.
    let mut by_size: BTreeMap<Bytes, CurvePoint> = BTreeMap::new();
    for (size, spot) in sweep.filter_map(spot) {
        if spot.coarse || !by_size.contains_key(&size) {
            by_size.insert(size, spot);
        }
    }
    by_size.into_values().collect()
}

impl<'a> MeasuredCurve<'a> {
    /// The curve of `points`, with the caches that the system reports.
    pub fn new(points: Vec<&'a Point>, topology: Option<&'a Topology>) -> Self {
        let curve = curve_of(points.iter().copied());
        let levels = levels(&curve);
        let cpu = points
            .first()
            .and_then(|p| p.number("cpu"))
            .and_then(|cpu| u32::try_from(cpu).ok());
        let reported = topology
            .zip(cpu)
            .map(|(topology, cpu)| topology.data_caches(cpu))
            .unwrap_or_default();
        let cycles: Vec<f64> = points
            .iter()
            .filter_map(|p| not_rejected(p))
            .filter_map(|m| Some(m.also.get("core_cycles")? / m.summary.median))
            .collect();
        let cycles = median(&cycles);
        let on = String::new();
        let mode = String::new();
        Self {
            points,
            curve,
            levels,
            reported,
            cycles,
            on,
            mode,
            topology,
            cpu,
        }
    }

    /// Ends of the levels, nearest first.
    pub fn ends(&self) -> Vec<End> {
        self.levels.iter().filter_map(|level| level.end).collect()
    }

    /// The reported cache that matches each level with an end; `None` if no cache matches.
    pub fn pairs(&self) -> Vec<Option<&'a Cache>> {
        let found: Vec<Bytes> = self.ends().iter().map(|end| end.capacity).collect();
        let sizes: Vec<Bytes> = self.reported.iter().map(|cache| cache.size).collect();
        matched(&found, &sizes)
            .into_iter()
            .map(|at| self.reported.get(at?).copied())
            .collect()
    }

    /// Number of the level at `index`: 2 for L2. The number is the level of the matching reported
    /// cache. If the system reports no caches, the number is the position of the level. `None` if
    /// no reported cache matches.
    pub fn number(&self, index: usize) -> Option<u32> {
        let by_place = u32::try_from(index + 1)
            .ok()
            .filter(|_| self.reported.is_empty());
        self.pairs()
            .get(index)
            .copied()
            .flatten()
            .map(|cache| cache.level)
            .or(by_place)
    }

    /// Name of the level at `index`: `L2`. `None` for a level without a number.
    pub fn name(&self, index: usize) -> Option<String> {
        self.number(index).map(|level| format!("L{level}"))
    }

    /// Indices of all levels that have a name. No two levels have the same name.
    pub fn named(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.ends().len()).filter(|&index| self.number(index).is_some())
    }

    /// Smallest share (0 to 1) of a point's memory that is in huge pages. `None` if no point's
    /// share is below [`GRANTED`].
    pub fn lacking(&self) -> Option<f64> {
        let huge = self
            .points
            .iter()
            .filter(|p| p.name("pages") != Some(PageMode::Base.to_string().as_str()));
        let granted = huge.filter_map(|p| not_rejected(p)?.evidence.pages.granted_share);
        granted
            .min_by(f64::total_cmp)
            .filter(|granted| *granted < GRANTED)
    }

    /// The points with `operation` that probe the cache at `index`.
    pub fn points_about(&self, operation: &str, index: usize) -> Vec<&'a Point> {
        // A probe belongs to the cache that was known when the probe was placed. Later points of
        // the sweep may shift this capacity, so the nearest cache by size counts.
        let ends = self.ends();
        let nearest = |bytes: u64| {
            let apart = |capacity: Bytes| {
                (capacity.0.max(1) as f64 / bytes.max(1) as f64)
                    .log2()
                    .abs()
            };
            (0..ends.len())
                .min_by(|a, b| apart(ends[*a].capacity).total_cmp(&apart(ends[*b].capacity)))
        };
        let about = |p: &&&Point| {
            p.name("operation") == Some(operation)
                && p.number("cache_bytes").and_then(nearest) == Some(index)
        };
        self.points.iter().filter(about).copied().collect()
    }
}

/// A finding that `points` show together. Values that are `None` are left out.
pub fn finding<'a>(
    points: impl IntoIterator<Item = &'a Point>,
    kind: &str,
    text: String,
    values: &[(&str, Option<f64>)],
) -> Option<Finding> {
    Some(Finding::shown_by(points, kind, text)?.with(known(values)))
}

/// A finding about something that was not or could not be measured. Values that are `None` are left
/// out.
pub fn note(kind: &str, text: String, values: &[(&str, Option<f64>)]) -> Finding {
    Finding::note(kind, text).with(known(values))
}

fn known(values: &[(&str, Option<f64>)]) -> BTreeMap<String, f64> {
    values
        .iter()
        .filter_map(|(name, value)| Some(((*name).to_owned(), (*value)?)))
        .collect()
}
