//! sc-membench's own CSV, for those who keep series of it.
//!
//! Its conventions, from its source: sizes are KiB of one buffer for one thread, bandwidth is MiB/s although the
//! heading says mb, a copy counts its buffer once, bandwidth is the best of the tries, latency the median.
//! It has no column for trust, so that rejected points are left out here.

use super::figures::{datasets_of, in_random_order};
use super::sc_scores::scores;
use super::{Options, Renderer};
use crate::error::Result;
use crate::results::{Measured, Point, Report, SC_MEMBENCH_HEADER, Sample, VerdictGrade};
use std::collections::BTreeMap;

/// The operations that this format knows, in the order in which each size has them.
pub(super) use crate::results::SC_MEMBENCH_OPERATIONS as OPERATIONS;
const MIB: f64 = 1_048_576.0;

/// `sc-membench`: drop-in CSV.
pub(super) struct ScMembench;

impl Renderer for ScMembench {
    fn name(&self) -> &'static str {
        "sc-membench"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn help(&self) -> &'static str {
        "CSV as sc-membench writes it: MiB/s, copy counted once, no rejected points; scores on stderr if asked for"
    }

    fn render_finite(&self, report: &Report, _options: &Options) -> Result<Vec<u8>> {
        let mut out = format!("{SC_MEMBENCH_HEADER}\n");
        for (key, row) in rows(report) {
            out.push_str(&line(key, &row));
        }
        Ok(out.into_bytes())
    }

    fn notes_finite(&self, report: &Report, options: &Options) -> Result<String> {
        Ok(if options.scores { scores(report) } else { String::new() })
    }
}

/// Size of one buffer in bytes, place in [`OPERATIONS`], threads.
pub(super) type Key = (u64, usize, u64);

/// What a row holds beside its key.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Row {
    /// Best MiB/s, passes over the buffer, seconds.
    Bandwidth { mib_s: f64, iterations: u64, elapsed_s: f64 },
    /// Median and standard deviation in ns, samples, seconds.
    Latency { ns: f64, stddev: f64, samples: u64, elapsed_s: f64 },
}

/// Every row in the order of the file: the best of the points that share a key.
pub(super) fn rows(report: &Report) -> BTreeMap<Key, Row> {
    let mut rows = BTreeMap::new();
    for point in datasets_of(report, "bandwidth").flat_map(|d| &d.points) {
        keep_best(&mut rows, bandwidth(point));
    }
    for point in datasets_of(report, "latency").flat_map(|d| &d.points).filter(|p| in_random_order(p)) {
        keep_best(&mut rows, latency(point));
    }
    rows
}

/// Puts a row in its place unless a better one is there.
fn keep_best(rows: &mut BTreeMap<Key, Row>, found: Option<(Key, Row)>) {
    let Some((key, row)) = found else { return };
    let better = match (rows.get(&key), &row) {
        (Some(Row::Bandwidth { mib_s: old, .. }), Row::Bandwidth { mib_s: new, .. }) => new > old,
        (Some(Row::Latency { ns: old, .. }), Row::Latency { ns: new, .. }) => new < old,
        _ => true,
    };
    if better {
        rows.insert(key, row);
    }
}

/// The row of a bandwidth point, `None` where this format has no place for it.
fn bandwidth(point: &Point) -> Option<(Key, Row)> {
    let measured = believed(point)?;
    let operation = OPERATIONS[..3].iter().position(|op| point.name("operation") == Some(op))?;
    let size = point.number("size_bytes")?;
    let threads = point.number("threads")?;
    let buffer = if OPERATIONS[operation] == "copy" { size / 2 } else { size };
    let clean = || clean(measured);
    let passes = clean().map(|s| s.work as f64).sum::<f64>() / (size as f64 * threads as f64);
    let row = Row::Bandwidth {
        mib_s: single_count(measured, operation)? / MIB,
        // A float beyond the range of u64 is cut to it, and 0/0 becomes 0.
        iterations: passes.round() as u64,
        elapsed_s: seconds(clean()),
    };
    Some(((buffer, operation, threads), row))
}

/// What was measured, unless it cannot be right.
fn believed(point: &Point) -> Option<&Measured> {
    point.outcome.measured().filter(|m| m.verdict.grade != VerdictGrade::Rejected)
}

/// The best sample in B/s with the buffer counted once.
///
/// The report has that convention for the median; the best sample differs from it by the same factor.
fn single_count(measured: &Measured, operation: usize) -> Option<f64> {
    let by_contract = if OPERATIONS[operation] == "copy" { 0.5 } else { 1.0 };
    let stated = measured.also.get("single_count").map(|single| single / measured.summary.median);
    let factor = stated.filter(|f| f.is_finite() && *f > 0.0).unwrap_or(by_contract);
    Some(measured.summary.best * factor).filter(|b| b.is_finite())
}

/// The row of a latency point, `None` where this format has no place for it.
fn latency(point: &Point) -> Option<(Key, Row)> {
    let measured = believed(point)?;
    let values: Vec<f64> = clean(measured).map(|s| s.value).collect();
    let row = Row::Latency {
        ns: measured.summary.median,
        stddev: measured.also.get("standard_deviation").copied().unwrap_or_else(|| deviation(&values)),
        samples: measured.summary.clean_samples,
        elapsed_s: seconds(clean(measured)),
    };
    Some(((point.number("size_bytes")?, 3, 1), row))
}

/// The samples that the summary rests on.
fn clean(measured: &Measured) -> impl Iterator<Item = &Sample> {
    measured.samples.iter().filter(|s| s.dirty.is_none())
}

/// How long samples took together.
fn seconds<'a>(samples: impl Iterator<Item = &'a Sample>) -> f64 {
    samples.map(|s| s.elapsed_ns).sum::<f64>() / 1e9
}

/// Standard deviation of a sample (n - 1), 0 where there are fewer than two, as that tool has it.
fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// A row as that tool prints it, with its numbers of decimals.
fn line((size, operation, threads): Key, row: &Row) -> String {
    let (size_kb, operation) = (size / 1024, OPERATIONS[operation]);
    match row {
        Row::Bandwidth { mib_s, iterations, elapsed_s } => {
            format!("{size_kb},{operation},{mib_s:.2},0,0,0,{threads},{iterations},{elapsed_s:.6}\n")
        }
        Row::Latency { ns, stddev, samples, elapsed_s } => {
            format!("{size_kb},{operation},0,{ns:.2},{stddev:.2},{samples},{threads},{samples},{elapsed_s:.6}\n")
        }
    }
}
