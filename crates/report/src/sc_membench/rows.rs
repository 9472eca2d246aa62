//! Writes a report in the form of sc-membench's CSV: one row for each size and operation.
//!
//! Rules of sc-membench, from its source: bandwidth is the best of the tries, latency the median.
//! All rows of a file have the same number of threads. If sc-membench searched for the fastest
//! number, each row has its own. Latency is of one thread that follows a chain in random order. The
//! file has no column for trust.

use super::super::{
    Coordinates, Dataset, Measured, Outcome, Point, REQUESTED_THREADS, Report, VerdictGrade,
};
use super::{SC_MEMBENCH_OPERATIONS, ScMembenchRow, buffers};
use std::collections::{BTreeMap, BTreeSet};

/// Largest relative difference between a row's size and a whole number of KiB. A point with a
/// larger difference has no row.
const SIZE_ERROR: f64 = 0.01;

/// The numbers of threads whose points get rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// The number that selection found fastest at each point. Without selection, the largest
    /// number.
    One,
    /// All numbers of threads.
    Every,
}

/// A report in the form of sc-membench's CSV.
#[derive(Debug, Clone, PartialEq)]
pub struct ScMembenchForm {
    /// Rows in the order of the file: by size, operation and threads.
    pub rows: Vec<ScMembenchRow>,
    /// Number of rows whose points are doubtful. The form has no column for trust.
    pub doubtful: usize,
    /// Points that have no row.
    pub left_out: Vec<ScMembenchLeftOut>,
}

/// A point that has no row in the form.
#[derive(Debug, Clone, PartialEq)]
pub struct ScMembenchLeftOut {
    /// Name of the point's experiment.
    pub experiment: String,
    /// Name of the point's quantity.
    pub quantity: String,
    /// Coordinates of the point.
    pub coordinates: Coordinates,
    /// Reason for the missing row, in words.
    pub reason: String,
}

/// A row with the point that it was made from.
struct Candidate<'a> {
    dataset: &'a Dataset,
    point: &'a Point,
    doubtful: bool,
    row: ScMembenchRow,
}

/// Converts `report` to the form of sc-membench's CSV.
pub fn sc_membench_form(report: &Report, threads: Threads) -> ScMembenchForm {
    let mut left_out = Vec::new();
    let mut leave_out = |dataset: &Dataset, point: &Point, reason: String| {
        left_out.push(ScMembenchLeftOut {
            experiment: dataset.experiment.clone(),
            quantity: dataset.quantity.name.clone(),
            coordinates: point.coordinates.clone(),
            reason,
        });
    };
    let mut candidates = Vec::new();
    for dataset in &report.datasets {
        for point in &dataset.points {
            match row(dataset, point) {
                Ok((row, doubtful)) => candidates.push(Candidate {
                    dataset,
                    point,
                    doubtful,
                    row,
                }),
                Err(reason) => leave_out(dataset, point, reason),
            }
        }
    }
    if threads == Threads::One {
        let chosen = Chosen::among(&candidates);
        let (kept, others) = candidates
            .into_iter()
            .partition(|candidate| chosen.has(candidate));
        candidates = kept;
        others
            .iter()
            .for_each(|other| leave_out(other.dataset, other.point, chosen.reason(&other.row)));
    }
    let mut best: BTreeMap<(u64, usize, u64), Candidate<'_>> = BTreeMap::new();
    for candidate in candidates {
        let key = (
            candidate.row.kib,
            candidate.row.place(),
            candidate.row.threads,
        );
        let Some(there) = best.remove(&key) else {
            best.insert(key, candidate);
            continue;
        };
        let (winner, loser) = if is_better(&candidate, &there) {
            (candidate, there)
        } else {
            (there, candidate)
        };
        // Repeats of a point are like sc-membench's tries, and the best try gets the row.
        if !is_repetition(winner.point, loser.point) {
            leave_out(
                loser.dataset,
                loser.point,
                "a better point of the same size and operation has the row".to_owned(),
            );
        }
        best.insert(key, winner);
    }
    let doubtful = best.values().filter(|candidate| candidate.doubtful).count();
    ScMembenchForm {
        rows: best.into_values().map(|candidate| candidate.row).collect(),
        doubtful,
        left_out,
    }
}

/// Number of threads whose points get the bandwidth rows.
enum Chosen {
    /// The number that selection found fastest at each point.
    Best,
    /// The largest number of threads in the report.
    Most(u64),
}

impl Chosen {
    fn among(candidates: &[Candidate<'_>]) -> Self {
        let bandwidth = || {
            candidates
                .iter()
                .filter(|candidate| !candidate.row.is_latency())
        };
        match bandwidth().any(is_requested_best) {
            true => Chosen::Best,
            false => Chosen::Most(
                bandwidth()
                    .map(|candidate| candidate.row.threads)
                    .max()
                    .unwrap_or(1),
            ),
        }
    }

    fn has(&self, candidate: &Candidate<'_>) -> bool {
        candidate.row.is_latency()
            || match self {
                Chosen::Best => is_requested_best(candidate),
                Chosen::Most(threads) => candidate.row.threads == *threads,
            }
    }

    /// Reason why a point with another number of threads has no row.
    fn reason(&self, row: &ScMembenchRow) -> String {
        let rows = match self {
            Chosen::Best => "the number found fastest".to_owned(),
            Chosen::Most(threads) => threads.to_string(),
        };
        format!(
            "threads: {}; rows are of {rows}, --verbose has a row for each number",
            row.threads
        )
    }
}

/// True if the point's number of threads was found by selection.
fn is_requested_best(candidate: &Candidate<'_>) -> bool {
    candidate.point.coordinates.contains_key(REQUESTED_THREADS)
}

/// True if `candidate` is better than `there`, the candidate that has the row so far.
fn is_better(candidate: &Candidate<'_>, there: &Candidate<'_>) -> bool {
    let new = candidate.row.value;
    let old = there.row.value;
    if candidate.row.is_latency() {
        new < old
    } else {
        new > old
    }
}

/// True if the coordinates of two points differ in their repeat only.
fn is_repetition(one: &Point, other: &Point) -> bool {
    let axes: BTreeSet<&String> = one
        .coordinates
        .keys()
        .chain(other.coordinates.keys())
        .collect();
    axes.into_iter()
        .all(|axis| axis == "repeat" || one.coordinates.get(axis) == other.coordinates.get(axis))
}

/// Makes the row of a point. The second value is true if the point is doubtful. An error says why
/// the point has no row.
fn row(dataset: &Dataset, point: &Point) -> Result<(ScMembenchRow, bool), String> {
    let place = place(dataset, point)?;
    let measured = match &point.outcome {
        Outcome::Measured(measured) => measured,
        other => {
            return Err(format!(
                "{}: {}",
                other.status(),
                other.reason().unwrap_or_default()
            ));
        }
    };
    if measured.verdict.grade == VerdictGrade::Rejected {
        return Err(format!("rejected: {}", measured.verdict.text()));
    }
    let row = figures(&place, measured)
        .ok_or("the report has no samples of it, so no iterations and no time")?;
    Ok((row, measured.verdict.grade == VerdictGrade::Doubtful))
}

/// Position of a row in the file.
struct RowPosition {
    operation: &'static str,
    kib: u64,
    threads: u64,
    /// Bytes that a thread walks through.
    size: u64,
}

/// The row position of a point. An error says why the form has no row for the point.
fn place(dataset: &Dataset, point: &Point) -> Result<RowPosition, String> {
    let experiment = dataset.experiment.as_str();
    if experiment != dataset.quantity.name || !["bandwidth", "latency"].contains(&experiment) {
        return Err("only bandwidth and latency have rows".to_owned());
    }
    let operation = match experiment {
        "latency" => "latency",
        _ => {
            let bandwidth = SC_MEMBENCH_OPERATIONS
                .into_iter()
                .filter(|known| *known != "latency");
            let found = bandwidth
                .into_iter()
                .find(|known| point.name("operation") == Some(*known));
            found.ok_or("only read, write, copy and latency have rows")?
        }
    };
    let threads = if operation == "latency" {
        point.number("threads").or(Some(1))
    } else {
        point.number("threads")
    };
    let threads = threads.ok_or("it has no number of threads")?;
    if operation == "latency" {
        if threads != 1 {
            return Err("several threads at once: latency rows are of one".to_owned());
        }
        if point.name("region") == Some("shared") {
            return Err(
                "on a chain that threads share: latency rows are of a chain of one thread"
                    .to_owned(),
            );
        }
        if point.number("chains").is_some_and(|chains| chains != 1) {
            return Err("several chains at once: latency rows are of one".to_owned());
        }
        if point
            .name("chain_mode")
            .is_some_and(|mode| mode != "global-random")
        {
            return Err("not in random order over all of its memory: latency rows are".to_owned());
        }
    }
    let size = point.number("size_bytes").ok_or("it has no size")?;
    let exact = size as f64 / buffers(operation) as f64 / 1024.0;
    let kib = exact.round();
    if kib < 1.0 || (exact / kib - 1.0).abs() > SIZE_ERROR {
        return Err("its buffer is not a whole number of KiB".to_owned());
    }
    // The conversion is exact, because `kib` was rounded to a whole number and is below 2^54.
    Ok(RowPosition {
        operation,
        kib: kib as u64,
        threads,
        size,
    })
}

/// The row of a measured point; `None` if its samples have no work or no time.
fn figures(place: &RowPosition, measured: &Measured) -> Option<ScMembenchRow> {
    let samples = || measured.samples_of_summary();
    let elapsed_ns: f64 = samples().map(|sample| sample.elapsed_ns).sum();
    let work: u128 = samples().map(|sample| u128::from(sample.work)).sum();
    if work == 0 || elapsed_ns <= 0.0 {
        return None;
    }
    let row = ScMembenchRow {
        operation: place.operation,
        kib: place.kib,
        threads: place.threads,
        value: 0.0,
        deviation: 0.0,
        samples: 0,
        iterations: 0,
        elapsed_ns,
    };
    if place.operation != "latency" {
        // A pass counts as soon as it begins. A sample of a large buffer may end before its first
        // pass does.
        let pass = u128::from(place.size) * u128::from(place.threads.max(1));
        let iterations = u64::try_from(work.div_ceil(pass.max(1))).unwrap_or(u64::MAX);
        return Some(ScMembenchRow {
            value: single_count(place, measured)?,
            iterations,
            ..row
        });
    }
    let values: Vec<f64> = samples().map(|sample| sample.value).collect();
    let count = if measured.summary.undisturbed_samples > 0 {
        measured.summary.undisturbed_samples
    } else {
        values.len() as u64
    };
    let deviation = measured
        .summary
        .standard_deviation
        .unwrap_or_else(|| deviation(&values));
    let value = Some(measured.summary.median).filter(|ns| *ns > 0.0)?;
    Some(ScMembenchRow {
        value,
        deviation,
        samples: count,
        iterations: count,
        ..row
    })
}

/// The best sample in B/s, with the buffer of a copy counted once. `None` if the result is not a
/// positive number.
///
/// The report has only the median with this way of counting. The best sample is scaled by the same
/// factor as the median.
fn single_count(place: &RowPosition, measured: &Measured) -> Option<f64> {
    let stated = measured
        .also
        .get("single_count")
        .map(|single| single / measured.summary.median);
    let factor = stated
        .filter(|f| f.is_finite() && *f > 0.0)
        .unwrap_or(1.0 / buffers(place.operation) as f64);
    Some(measured.summary.best * factor).filter(|b| b.is_finite() && *b > 0.0)
}

/// Standard deviation of `values` (n - 1); 0 for fewer than two values, as in sc-membench.
fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}
