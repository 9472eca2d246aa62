//! Reads sc-membench's CSV into a report, to draw existing collections next to memgauge's.
//!
//! Conventions of sc-membench, from its source: sizes are KiB of one buffer for one thread.
//! Bandwidth is MiB/s although the heading says mb. A copy counts its buffer once. Bandwidth is the
//! best of the tries, latency the median. The file names no machine and no disturbance, so all its
//! points are doubtful.

mod rows;

pub use rows::{ScMembenchForm, ScMembenchLeftOut, Threads, sc_membench_form};

use super::reading::brief;
use super::{
    Axis, Cause, Coordinate, Coordinates, Dataset, Evidence, Measured, Outcome, PlanSummary, Point,
    Provenance, Quantity, Reason, Report, ReportVerdict, RunStatus, SCHEMA_VERSION, Sample,
    Summary, Verdict, VerdictGrade,
};
use units::{Bytes, Nanos};

/// The exact heading of a file.
pub const SC_MEMBENCH_HEADER: &str = "size_kb,operation,bandwidth_mb_s,latency_ns,\
     latency_stddev_ns,latency_samples,threads,iterations,elapsed_s";

/// Operations of sc-membench, in the order in which a file has them for each size.
pub const SC_MEMBENCH_OPERATIONS: [&str; 4] = ["read", "write", "copy", "latency"];

/// Bytes of a megabyte in sc-membench.
const MIB: f64 = 1_048_576.0;

/// Longest heading of a file, in bytes.
const LONGEST_HEADING: usize = 4096;

/// Factor for the half-width of the 95% interval of a median. The half-width is the factor times
/// the standard deviation, divided by the square root of the number of samples. A median of normal
/// values is less certain than a mean by the factor 1.2533, the root of pi / 2.
const INTERVAL: f64 = 1.96 * 1.2533;

/// True if `line`, the first line of a file, is a heading of sc-membench's CSV.
pub(super) fn is_heading(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&line[..line.len().min(LONGEST_HEADING)]);
    line.len() <= LONGEST_HEADING && text.split(',').any(|title| title.trim() == "size_kb")
}

/// Makes a report from the rows of a file. An error is one line of text.
pub(super) fn read(text: &[u8]) -> Result<Report, String> {
    let unreadable =
        |e: csv::Error| format!("sc-membench's CSV cannot be read: {}", brief(e.to_string()));
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text);
    let places = places(reader.headers().map_err(unreadable)?)?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let line = record.position().map_or(0, csv::Position::line);
        rows.push(
            ScMembenchRow::parse(&record, &places)
                .map_err(|why| format!("sc-membench's CSV, line {line}: {why}"))?,
        );
    }
    Ok(sc_membench_report(&rows))
}

/// For each known column, its index among the columns of the file. A missing or unknown column is
/// an error.
fn places(titles: &csv::StringRecord) -> Result<Vec<usize>, String> {
    let known: Vec<&str> = SC_MEMBENCH_HEADER.split(',').collect();
    if let Some(other) = titles.iter().find(|title| !known.contains(title)) {
        let other = shown(other);
        let known = known.join(", ");
        return Err(format!(
            "sc-membench's CSV has a column that is not known: '{other}'; known are {known}"
        ));
    }
    let place = |name: &&str| {
        let found = titles.iter().position(|title| title == *name);
        found.ok_or_else(|| format!("sc-membench's CSV lacks a column: '{name}'"))
    };
    known.iter().map(place).collect()
}

/// Number of buffers that a thread walks through in `operation`.
fn buffers(operation: &str) -> u64 {
    if operation == "copy" { 2 } else { 1 }
}

/// At most 40 characters of `text` from the file, with control characters escaped.
fn shown(text: &str) -> String {
    text.escape_debug().take(40).collect()
}

/// A row of a file, with values in base units.
#[derive(Debug, Clone, PartialEq)]
pub struct ScMembenchRow {
    /// One of [`SC_MEMBENCH_OPERATIONS`].
    pub operation: &'static str,
    /// Size of one buffer of one thread, in KiB.
    pub kib: u64,
    /// Number of threads.
    pub threads: u64,
    /// Bandwidth in B/s with the buffer counted once, or latency in ns; 0 if there is none.
    pub value: f64,
    /// Standard deviation of a latency's samples in ns; 0 for bandwidth.
    pub deviation: f64,
    /// Number of samples of a latency; 0 for bandwidth.
    pub samples: u64,
    /// Passes of each thread over the buffer, or number of samples of a latency.
    pub iterations: u64,
    /// Time of all iterations, or of all samples, in ns.
    pub elapsed_ns: f64,
}

impl ScMembenchRow {
    /// True if the row's operation is latency.
    pub fn is_latency(&self) -> bool {
        self.operation == "latency"
    }

    /// Index of the operation in [`SC_MEMBENCH_OPERATIONS`].
    pub fn place(&self) -> usize {
        SC_MEMBENCH_OPERATIONS
            .iter()
            .position(|known| *known == self.operation)
            .unwrap_or_default()
    }

    /// Bytes that a thread walks through: for a copy, both buffers. Saturates at `u64::MAX`.
    fn size(&self) -> u64 {
        self.kib.saturating_mul(1024 * buffers(self.operation))
    }

    fn parse(record: &csv::StringRecord, places: &[usize]) -> Result<Self, String> {
        if record.len() != places.len() {
            return Err(format!(
                "{} fields; a row has {}",
                record.len(),
                places.len()
            ));
        }
        let text = |column: usize| record.get(places[column]).unwrap_or_default();
        let broken = |column: usize, wanted: &str| {
            let name = SC_MEMBENCH_HEADER
                .split(',')
                .nth(column)
                .unwrap_or_default();
            format!("{name} is '{}'; it has to be {wanted}", shown(text(column)))
        };
        let count = |column: usize| {
            text(column)
                .parse::<u64>()
                .map_err(|_| broken(column, "a whole number"))
        };
        let number = |column: usize| {
            let value = text(column)
                .parse::<f64>()
                .ok()
                .filter(|v| v.is_finite() && *v >= 0.0);
            value.ok_or_else(|| broken(column, "a number, 0 or above"))
        };
        let operation = SC_MEMBENCH_OPERATIONS
            .into_iter()
            .find(|known| *known == text(1));
        let operation = operation.ok_or_else(|| broken(1, "read, write, copy or latency"))?;
        let buffers = buffers(operation);
        let kib = count(0)?;
        kib.checked_mul(1024 * buffers)
            .ok_or_else(|| broken(0, "a size in KiB"))?;
        let threads = count(6)?;
        if threads == 0 {
            return Err(broken(6, "1 or more"));
        }
        let value = if operation == "latency" {
            number(3)?
        } else {
            number(2)? * MIB
        };
        let elapsed_ns = number(8)? * 1e9;
        if !(value * buffers as f64).is_finite() || !elapsed_ns.is_finite() {
            return Err(broken(
                if value.is_finite() { 8 } else { 2 },
                "a number that a machine can reach",
            ));
        }
        Ok(ScMembenchRow {
            operation,
            kib,
            threads,
            value,
            deviation: number(4)?,
            samples: count(5)?,
            iterations: count(7)?,
            elapsed_ns,
        })
    }

    /// The row as a point of a report.
    fn point(&self, id: u64) -> Point {
        let mut coordinates = Coordinates::from([
            ("size_bytes".to_owned(), Coordinate::Number(self.size())),
            ("threads".to_owned(), Coordinate::Number(self.threads)),
        ]);
        if !self.is_latency() {
            coordinates.insert(
                "operation".to_owned(),
                Coordinate::Name(self.operation.to_owned()),
            );
        }
        let outcome = match self.value > 0.0 {
            true => Outcome::Measured(Box::new(self.measured())),
            false => Outcome::Failed {
                reason: "sc-membench has no number for it".to_owned(),
            },
        };
        Point {
            id,
            coordinates,
            outcome,
        }
    }

    fn measured(&self) -> Measured {
        let (value, half, also, undisturbed_samples) = match self.operation {
            "latency" => {
                let half = INTERVAL * self.deviation / (self.samples.max(1) as f64).sqrt();
                (self.value, half, None, self.samples)
            }
            operation => {
                let value = buffers(operation) as f64 * self.value;
                (value, 0.0, Some(("single_count", self.value)), 1)
            }
        };
        let work = match self.operation {
            "latency" => self.iterations,
            _ => self
                .iterations
                .saturating_mul(self.size())
                .saturating_mul(self.threads),
        };
        let high = value + half;
        let summary = Summary {
            median: value,
            best: value,
            ci_low: (value - half).max(0.0),
            ci_high: if high.is_finite() { high } else { value },
            confidence: if half > 0.0 { 0.95 } else { 0.0 },
            mad: None,
            mean: None,
            standard_deviation: self.is_latency().then_some(self.deviation),
            coefficient_of_variation: None,
            undisturbed_samples,
        };
        let sample = Sample {
            value,
            elapsed_ns: self.elapsed_ns,
            work,
            traffic: None,
            core_hz: None,
            round: 0,
            allocation: 0,
            gaps_ns: None,
            cpus: Vec::new(),
            placement: None,
            quietest: None,
            disturbance: None,
        };
        Measured {
            summary,
            also: also
                .map(|(name, value): (&str, f64)| (name.to_owned(), value))
                .into_iter()
                .collect(),
            load: None,
            storage: None,
            choice: None,
            limit: None,
            samples: vec![sample],
            evidence: Evidence {
                unchecked: vec!["everything: sc-membench's CSV has no evidence".to_owned()],
                ..Evidence::default()
            },
            verdict: doubt(),
        }
    }
}

/// Verdict on each number of sc-membench: doubtful, because there are no samples.
fn doubt() -> Verdict {
    let reason = Reason {
        cause: Cause::FewSamples,
        text: "sc-membench's figure, without samples and evidence".to_owned(),
        advice: "measure with memgauge on the same machine".to_owned(),
    };
    Verdict {
        grade: VerdictGrade::Doubtful,
        reasons: vec![reason],
    }
}

/// A report with a doubtful point for each row. Facts about the machine are unknown.
pub fn sc_membench_report(rows: &[ScMembenchRow]) -> Report {
    let mut datasets = Vec::new();
    let mut id = 0;
    for (name, unit, higher_is_better) in [("bandwidth", "B/s", true), ("latency", "ns", false)] {
        let mut points = Vec::new();
        for row in rows
            .iter()
            .filter(|row| row.is_latency() != higher_is_better)
        {
            points.push(row.point(id));
            id += 1;
        }
        let axis = |name: &str, unit: Option<&str>| Axis {
            name: name.to_owned(),
            unit: unit.map(str::to_owned),
        };
        if !points.is_empty() {
            datasets.push(Dataset {
                experiment: name.to_owned(),
                quantity: Quantity {
                    name: name.to_owned(),
                    unit: unit.to_owned(),
                    higher_is_better,
                },
                axes: vec![
                    axis("operation", None),
                    axis("size_bytes", Some("B")),
                    axis("threads", None),
                ],
                points,
                auxiliary: false,
                derived: false,
            });
        }
    }
    let elapsed = Nanos(
        rows.iter()
            .map(|row| row.elapsed_ns)
            .sum::<f64>()
            .min(f64::MAX),
    );
    Report {
        schema_version: SCHEMA_VERSION,
        status: RunStatus::Complete,
        verdict: ReportVerdict::summarise(&datasets),
        provenance: Provenance::unknown("sc-membench", "not in sc-membench's CSV"),
        plan: PlanSummary {
            profile: "sc-membench".to_owned(),
            budget: elapsed,
            planned: elapsed,
            real: Some(elapsed),
            memory: Bytes(
                rows.iter()
                    .map(|row| row.size().saturating_mul(row.threads))
                    .max()
                    .unwrap_or(0),
            ),
            points: rows.len() as u64,
            shortened: vec![
                "read from sc-membench's CSV: times and memory are those of its rows".to_owned(),
            ],
            phases: Vec::new(),
        },
        datasets,
        findings: Vec::new(),
        health: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(row: &str) -> String {
        format!("{SC_MEMBENCH_HEADER}\n{row}\n")
    }

    #[test]
    fn rows_are_points_in_our_units_and_doubtful() {
        let text = with("64,copy,2000.00,0,0,0,2,10,0.500000\n32,latency,0,2.00,0.20,4,1,4,0.3");
        assert!(
            is_heading(text.lines().next().unwrap().as_bytes())
                && !is_heading(b"{\"schema_version\":2}")
        );
        let report = read(text.as_bytes()).unwrap();
        let copy = &report.datasets[0].points[0];
        assert_eq!(
            (copy.number("size_bytes"), copy.number("threads")),
            (Some(128 << 10), Some(2))
        );
        let m = copy.outcome.measured().unwrap();
        // memgauge counts both directions, sc-membench one.
        assert_eq!(
            (m.summary.median, m.also["single_count"]),
            (4000.0 * MIB, 2000.0 * MIB)
        );
        assert_eq!(
            (m.verdict.grade, m.verdict.names(Cause::FewSamples)),
            (VerdictGrade::Doubtful, true)
        );
        let latency = report.datasets[1].points[0].outcome.measured().unwrap();
        assert_eq!(
            (latency.summary.median, latency.summary.undisturbed_samples),
            (2.0, 4)
        );
        // The interval reaches 1.96 * 1.2533 * 0.2 / 2 to either side of the median.
        assert!(
            (latency.summary.ci_high - 2.245_647).abs() < 1e-6,
            "{:?}",
            latency.summary
        );
        assert_eq!(report.verdict.grade, VerdictGrade::Doubtful);
        // A fact that sc-membench lacks is `null`, not zero.
        let clock = serde_json::to_value(&report.provenance.clock).unwrap();
        let unknown = ["rate", "error", "resolution", "overhead", "core"];
        assert!(
            unknown.iter().all(|field| clock[field].is_null()),
            "{clock}"
        );
    }

    #[test]
    fn what_is_broken_is_told_in_a_line() {
        for (text, wanted) in [
            (
                with("1,read,x,0,0,0,1,1,0"),
                "line 2: bandwidth_mb_s is 'x'; it has to be a number",
            ),
            (with("1,read,-1,0,0,0,1,1,0"), "bandwidth_mb_s is '-1'"),
            (with("1,read,1e308,0,0,0,1,1,0"), "that a machine can reach"),
            (with("1,flush,1,0,0,0,1,1,0"), "operation is 'flush'"),
            (with("1,read,1,0,0,0,0,1,0"), "threads is '0'"),
            (
                with("18014398509481984,copy,1,0,0,0,1,1,0"),
                "a size in KiB",
            ),
            (with("1,read"), "line 2: 2 fields; a row has 9"),
            (
                "size_kb,operation,colour\n".to_owned(),
                "a column that is not known: 'colour'",
            ),
            (
                "size_kb,operation\n".to_owned(),
                "lacks a column: 'bandwidth_mb_s'",
            ),
        ] {
            let why = read(text.as_bytes()).unwrap_err();
            assert!(
                why.contains(wanted) && why.lines().count() == 1 && why.chars().count() < 400,
                "{why}"
            );
        }
    }

    #[test]
    fn nothing_measured_is_no_number() {
        let report = read(with("1,read,0,0,0,0,1,1,0").as_bytes()).unwrap();
        assert_eq!(report.datasets[0].points[0].outcome.status(), "failed");
        assert!(
            read(format!("{SC_MEMBENCH_HEADER}\n").as_bytes())
                .unwrap()
                .datasets
                .is_empty()
        );
    }
}
