//! Marks and notes that findings add to charts: cache levels along the sizes, and notable points.
//!
//! The names of a finding's values decide what is marked. Its experiment does not matter.

use super::series::{Lines, Mark, Note};
use super::spot::Part;
use crate::figures::{mark, printed_unit};
use report::{Dataset, Finding, Point};
use std::collections::BTreeSet;
use units::significant;

/// Largest relative difference at which a number of a finding counts as equal to the number of a
/// point.
const SAME: f64 = 1e-9;

/// Marks of the cache levels along the sizes, made from findings with `capacity_bytes` and
/// `latency_ns`. Empty unless there is one report, and each size is the size of the memory in use.
pub(super) fn levels(parts: &[Part<'_>], merged: &Dataset) -> Vec<Mark> {
    let [one] = parts else { return Vec::new() };
    let strides: BTreeSet<Option<u64>> = merged
        .points
        .iter()
        .map(|p| p.number("stride_bytes"))
        .collect();
    if strides.len() > 1
        || merged
            .points
            .iter()
            .any(|p| p.coordinates.contains_key("entries"))
    {
        return Vec::new();
    }
    let end = |finding: &Finding| {
        let size = *finding.values.get("capacity_bytes")?;
        let level = finding.values.get("level").copied();
        let end = LevelEnd {
            size,
            level,
            doubt: doubt(finding),
        };
        (finding.values.contains_key("latency_ns") && size > 0.0).then_some(end)
    };
    let mut ends: Vec<LevelEnd> = one.findings.iter().filter_map(end).collect();
    ends.sort_by(|a, b| a.size.total_cmp(&b.size));
    // Levels are numbered in order if the level numbers of the findings do not rise with the size.
    let rising = ends.windows(2).all(|pair| pair[0].level < pair[1].level);
    let name = |place: usize, end: &LevelEnd| {
        let number = end.level.filter(|_| rising).unwrap_or((place + 1) as f64);
        format!("L{number:.0} {}{}", about(end.size), end.doubt)
    };
    let mut marks = Vec::new();
    let mut from = 0.0;
    for (place, end) in ends.iter().enumerate() {
        marks.push(Mark {
            name: name(place, end),
            from,
            to: end.size,
        });
        from = end.size;
    }
    if !marks.is_empty() {
        marks.push(Mark {
            name: "beyond".to_owned(),
            from,
            to: f64::MAX,
        });
    }
    marks
}

/// End of a cache level, according to a finding.
struct LevelEnd {
    size: f64,
    level: Option<f64>,
    doubt: &'static str,
}

/// Mark for the grade of a finding, which follows the finding's text in a chart. Empty for a solid
/// finding.
fn doubt(finding: &Finding) -> &'static str {
    finding.trust().map_or("", mark)
}

/// A size in words, with two or three digits.
fn about(bytes: f64) -> String {
    let (value, unit) = [(30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "B")]
        .into_iter()
        .map(|(power, unit)| (bytes / f64::from(1u32 << power), unit))
        .find(|(value, _)| *value >= 1.0)
        .unwrap_or((bytes, "B"));
    format!("{} {unit}", significant(value))
}

/// Makes notes at points of the chart that findings of the reports describe. A finding describes a
/// point by values with these names:
///
/// - `<operation>_threads`, `<operation>_reached`: number of threads at which bandwidth comes close
///   to its highest value, and this bandwidth.
/// - `knee`, `knee_ns`: traffic at which latency begins to rise, and the latency.
pub(super) fn notes(parts: &[Part<'_>], lines: &Lines, axis: Axis<'_>, factor: f64) -> Vec<Note> {
    let all = parts
        .iter()
        .flat_map(|part| part.findings.iter().map(move |finding| (part, finding)));
    let mut notes: Vec<Note> = match axis {
        Axis::Load(unit) => all
            .filter_map(|(_, finding)| knee(finding, unit, factor))
            .collect(),
        Axis::Of("threads") => all
            .flat_map(|(part, finding)| saturation(part, finding, factor))
            .collect(),
        Axis::Of(_) => Vec::new(),
    };
    let inside = |n: &Note| {
        (0.0..=1.0).contains(&lines.x.share(n.x)) && (0.0..=1.0).contains(&lines.y.share(n.y))
    };
    notes.retain(|note| note.x.is_finite() && note.y.is_finite() && inside(note));
    notes
}

/// Horizontal axis of a chart.
#[derive(Debug, Clone, Copy)]
pub(super) enum Axis<'a> {
    /// Background traffic. The number is the factor from bytes per second to the unit of the axis.
    Load(f64),
    /// Coordinates on the axis with this name.
    Of(&'a str),
}

/// Note at the knee of the latency that a finding describes; `None` if the finding has no knee.
fn knee(finding: &Finding, unit: f64, factor: f64) -> Option<Note> {
    let x = finding.values.get("knee")? * unit;
    let y = finding.values.get("knee_ns")? * factor;
    Some(Note {
        x,
        y,
        text: format!("knee{}", doubt(finding)),
    })
}

/// Notes at the points at which bandwidth reaches 95% of its highest value, according to a finding.
fn saturation(part: &Part<'_>, finding: &Finding, factor: f64) -> Vec<Note> {
    let told = finding.values.iter().filter_map(|(name, threads)| {
        let operation = name.strip_suffix("_threads")?;
        // If the finding gives a range of thread counts, there is no single point to mark.
        let at_least = finding.values.get(&format!("{operation}_threads_at_least"));
        let is_known = at_least.is_none_or(|at_least| at_least == threads);
        let reached = *finding.values.get(&format!("{operation}_reached"))?;
        is_known.then_some((operation, *threads, reached))
    });
    told.filter_map(|(operation, threads, reached)| {
        let at = |p: &&Point| {
            p.name("operation") == Some(operation)
                && p.number("threads").map(|n| n as f64) == Some(threads)
        };
        let median = |p: &Point| p.outcome.measured().map(|m| m.summary.median);
        let same = |p: &&Point| median(p).is_some_and(|m| (m - reached).abs() <= m.abs() * SAME);
        let point = part.dataset.points.iter().filter(at).find(same)?;
        let (_, unit) = printed_unit(&part.dataset.quantity.unit);
        let y = median(point)? * factor;
        let reached = significant(y);
        let doubt = doubt(finding);
        Some(Note {
            x: threads,
            y,
            text: format!("{operation}: 95% of the highest ({reached} {unit}){doubt}"),
        })
    })
    .collect()
}
