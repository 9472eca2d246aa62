//! Lists reasons why points have no number or are not solid. Each reason is listed with its points.

use super::blocks::Labelled;
use super::figures::{coordinate, varying_axes};
use super::text::shorten;
use report::{Cause, Dataset, Outcome, Point, Report, VerdictGrade};
use std::collections::{BTreeSet, HashMap};
use units::counted;

/// Largest number of reasons for missing numbers on a screen.
const MAX_MISSING: usize = 3;

/// Longest reason on a screen, in characters. memgauge's own reasons are shorter.
const LONGEST_ON_SCREEN: usize = 300;

/// Longest reason in the full list, in characters.
const LONGEST: usize = 1000;

/// A reason with its points.
struct Reason<'a> {
    /// Status of the points if they have no number, otherwise their grade.
    kind: &'static str,
    text: &'a str,
    /// Cause of the doubt; `None` for a missing number.
    cause: Option<Cause>,
    /// Advice; empty if none is known.
    advice: &'a str,
    points: Vec<String>,
}

/// A reason of one point.
struct PointReason<'a> {
    kind: &'static str,
    text: &'a str,
    cause: Option<Cause>,
    advice: &'a str,
}

/// Reasons for missing numbers, each with the number of its points. The most frequent reasons come
/// first.
pub(super) fn missing(report: &Report) -> Vec<Labelled> {
    let mut reasons = collect(report.datasets.iter(), missing_reason);
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.points.len()));
    let rest = reasons.len().saturating_sub(MAX_MISSING);
    let mut lines: Vec<String> = reasons
        .iter()
        .take(MAX_MISSING)
        .map(|reason| {
            let points = counted(reason.points.len(), "point");
            let text = shorten(reason.text, LONGEST_ON_SCREEN);
            format!("{points} {}: {}.", reason.kind, text.trim_end_matches('.'))
        })
        .collect();
    if rest > 0 {
        lines.push(format!("{}: --verbose.", counted(rest, "other reason")));
    }
    let label = |text| ("Missing".to_owned(), text);
    lines.into_iter().map(label).collect()
}

/// Reasons for missing numbers, each with all of its points.
pub(super) fn missing_in_full(report: &Report) -> Vec<Labelled> {
    in_full(collect(report.datasets.iter(), missing_reason))
}

/// Reasons for doubt with all of their points and with advice. Each cause has one line. Causes of
/// rejected points come first.
pub(super) fn doubts_in_full(report: &Report) -> Vec<Labelled> {
    // Datasets of percentiles are left out, because they repeat the doubts of points in other
    // datasets.
    let own = |dataset: &&Dataset| !dataset.axes.iter().any(|axis| axis.name == "percentile");
    let mut doubts = collect(report.datasets.iter().filter(own), doubts);
    doubts.sort_by_key(|reason| (reason.kind != VerdictGrade::Rejected.word(), reason.cause));
    in_full(doubts)
}

/// Reason why the point has no number; empty if it has one.
fn missing_reason(outcome: &Outcome) -> Vec<PointReason<'_>> {
    let one = |text| PointReason {
        kind: outcome.status(),
        text,
        cause: None,
        advice: "",
    };
    outcome.reason().map(one).into_iter().collect()
}

/// Reasons why a number is not solid; empty if it is solid.
fn doubts(outcome: &Outcome) -> Vec<PointReason<'_>> {
    let verdict = outcome.measured().map(|m| &m.verdict);
    let Some(verdict) = verdict.filter(|v| v.grade != VerdictGrade::Solid) else {
        return Vec::new();
    };
    let kind = verdict.grade.word();
    if verdict.reasons.is_empty() {
        return vec![PointReason {
            kind,
            text: "no reason was given",
            cause: None,
            advice: "",
        }];
    }
    let reasons = verdict.reasons.iter();
    reasons
        .map(|reason| PointReason {
            kind,
            text: &reason.text,
            cause: Some(reason.cause),
            advice: &reason.advice,
        })
        .collect()
}

/// Collects the reasons of all points. Each reason occurs once, with its points, in the order of
/// appearance.
fn collect<'a>(
    datasets: impl Iterator<Item = &'a Dataset>,
    reasons: impl Fn(&'a Outcome) -> Vec<PointReason<'a>>,
) -> Vec<Reason<'a>> {
    let mut all: Vec<Reason> = Vec::new();
    let mut places = HashMap::new();
    for dataset in datasets {
        let axes = telling_axes(dataset);
        for point in &dataset.points {
            for one in reasons(&point.outcome) {
                let place = *places.entry((one.kind, one.text)).or_insert_with(|| {
                    all.push(Reason {
                        kind: one.kind,
                        text: one.text,
                        cause: one.cause,
                        advice: one.advice,
                        points: Vec::new(),
                    });
                    all.len() - 1
                });
                all[place].points.push(label(dataset, point, &axes));
            }
        }
    }
    all
}

/// One line for each cause, or for each reason without a cause. Advice is a line of its own.
fn in_full(reasons: Vec<Reason>) -> Vec<Labelled> {
    let mut lines = Vec::new();
    let is_same =
        |a: &Reason, b: &Reason| a.cause.is_some() && (a.kind, a.cause) == (b.kind, b.cause);
    for alike in reasons.chunk_by(is_same) {
        let one = |reason: &Reason| {
            let text = shorten(reason.text, LONGEST);
            format!("{text}: {}", reason.points.join(", "))
        };
        let text: Vec<String> = alike.iter().map(one).collect();
        lines.push((capitalised(alike[0].kind), text.join("; ")));
        if !alike[0].advice.is_empty() {
            lines.push(("Advice".to_owned(), shorten(alike[0].advice, LONGEST)));
        }
    }
    lines
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Axes that the label of a point names: axes on which points differ. Axes that follow from the
/// operation, such as the kernel, are left out.
fn telling_axes(dataset: &Dataset) -> Vec<&str> {
    let pairs = |axis: &str| -> BTreeSet<_> {
        dataset
            .points
            .iter()
            .map(|p| (p.coordinates.get("operation"), p.coordinates.get(axis)))
            .collect()
    };
    let operations = pairs("operation").len();
    let mut axes = varying_axes(dataset);
    axes.retain(|axis| *axis == "operation" || operations < 2 || pairs(axis).len() > operations);
    axes
}

/// Short label of a point: `L3 copy x2`, `L2 latency`, `64 KiB read`.
fn label(dataset: &Dataset, point: &Point, varying: &[&str]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let level = point
        .coordinates
        .get("level")
        .map(|c| coordinate("level", c));
    let size = point
        .coordinates
        .get("size_bytes")
        .filter(|_| varying.contains(&"size_bytes"));
    parts.extend(level.or_else(|| size.map(|c| coordinate("size_bytes", c))));
    let what = point
        .coordinates
        .get("operation")
        .map(|c| coordinate("operation", c));
    parts.push(what.unwrap_or_else(|| shorten(&dataset.experiment, 32)));
    for axis in varying {
        let Some(c) = point.coordinates.get(*axis) else {
            continue;
        };
        match *axis {
            // The number of cores follows from the number of threads.
            "level" | "size_bytes" | "operation" | "cores" => {}
            "threads" => parts.push(format!("x{c}")),
            "per_cpu" => parts.push(format!("({c} per cpu)")),
            axis => parts.push(coordinate(axis, c)),
        }
    }
    parts.join(" ")
}
