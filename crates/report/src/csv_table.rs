//! Reads memgauge's own CSV into a report, so that saved tables can be shown and compared.
//!
//! A table has no samples, no facts about the machine and little evidence. A file may contain
//! several tables. Headings between rows are therefore skipped.

use super::reading::brief;
use super::{
    Axis, CSV_COLUMNS, Cause, Coordinate, Coordinates, CsvCell, CsvColumn, Dataset, Evidence,
    Measured, Outcome, PlanSummary, Point, Provenance, Quantity, Reason, Report, ReportVerdict,
    RunStatus, SCHEMA_VERSION, Summary, Verdict, VerdictGrade, csv_column,
};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Nanos};

/// Columns without which a file is not read.
const NEEDED: [&str; 5] = ["experiment", "quantity", "unit", "status", "value"];

/// Longest heading of a file, in bytes.
const LONGEST_HEADING: usize = 16_384;

/// Source text of a fact that the CSV file does not have.
const UNKNOWN: &str = "not in the CSV";

/// True if `line`, the first line of a file, is a heading of memgauge's CSV.
pub(super) fn is_heading(line: &[u8]) -> bool {
    line.len() <= LONGEST_HEADING && line.starts_with(b"experiment,quantity,unit,")
}

/// Makes a report from `text`, the content of a CSV file. An error is one line of text.
pub(super) fn read(text: &[u8]) -> Result<Report, String> {
    let unreadable = |e: csv::Error| format!("CSV cannot be read: {}", brief(e.to_string()));
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text);
    let titles = reader.headers().map_err(unreadable)?.clone();
    if let Some(missing) = NEEDED
        .iter()
        .find(|name| !titles.iter().any(|title| title == **name))
    {
        return Err(format!("CSV lacks a column: '{missing}'"));
    }
    let columns: Vec<Title> = titles.iter().map(Title::read).collect();
    let mut datasets: Vec<Dataset> = Vec::new();
    let mut id = 0;
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        // In a file of several tables, each table has a heading.
        if record == titles {
            continue;
        }
        let line = record.position().map_or(0, csv::Position::line);
        let row =
            CsvRow::read(&columns, &record).map_err(|why| format!("CSV, line {line}: {why}"))?;
        row.add_to(&mut datasets, id);
        id += 1;
    }
    Ok(report(datasets, id))
}

/// Meaning of a column of the file.
enum Title {
    Known(&'static CsvColumn),
    /// An axis that this version does not know.
    Axis(String),
    /// A figure that this version does not know. The column is skipped.
    Passed,
}

impl Title {
    fn read(title: &str) -> Self {
        match (csv_column(title), title.strip_prefix("axis_")) {
            (Some(column), _) => Title::Known(column),
            (None, Some(axis)) => Title::Axis(axis.to_owned()),
            (None, None) if title.starts_with("figure_") => Title::Passed,
            (None, None) => Title::Axis(title.to_owned()),
        }
    }
}

/// A row of a file.
struct CsvRow {
    experiment: String,
    quantity: Quantity,
    role: String,
    coordinates: Coordinates,
    outcome: Outcome,
}

impl CsvRow {
    fn read(columns: &[Title], record: &csv::StringRecord) -> Result<Self, String> {
        if record.len() != columns.len() {
            return Err(format!(
                "{} fields; a row has {}",
                record.len(),
                columns.len()
            ));
        }
        let mut texts: BTreeMap<&str, &str> = BTreeMap::new();
        let mut coordinates = Coordinates::new();
        let mut measured = empty();
        for (title, text) in columns
            .iter()
            .zip(record)
            .filter(|(_, text)| !text.is_empty())
        {
            match title {
                Title::Axis(axis) => drop(coordinates.insert(axis.clone(), coordinate(text))),
                Title::Passed => {}
                Title::Known(column) => match column.cell {
                    CsvCell::Axis => {
                        drop(coordinates.insert(column.name.to_owned(), coordinate(text)))
                    }
                    CsvCell::Also => drop(
                        measured
                            .also
                            .insert(column.name.to_owned(), number(column.name, text)?),
                    ),
                    CsvCell::Figure(figure) => {
                        (figure.set)(&mut measured, number(column.name, text)?)
                    }
                    _ => drop(texts.insert(column.name, text)),
                },
            }
        }
        let text = |name: &str| texts.get(name).copied().unwrap_or_default();
        let unit = text("unit").to_owned();
        let higher_is_better = match text("better") {
            "more" => true,
            "less" => false,
            // Files of older versions lack the column `better`. In these files, only times (ns) are
            // better if they are lower.
            "" => unit != "ns",
            other => {
                return Err(format!(
                    "better is '{}'; it has to be more or less",
                    shown(other)
                ));
            }
        };
        let reason = text("reason").to_owned();
        let outcome = match text("status") {
            "measured" => {
                check(&mut measured, columns, record)?;
                measured.verdict = verdict(text("trust"), text("cause"), &reason)?;
                Outcome::Measured(Box::new(measured))
            }
            "skipped" => Outcome::Skipped { reason },
            "unsupported" => Outcome::Unsupported { reason },
            "interrupted" => Outcome::Interrupted { reason },
            "failed" => Outcome::Failed { reason },
            other => {
                return Err(format!(
                    "status is '{}'; it has to be measured, skipped, unsupported, interrupted or \
                     failed",
                    shown(other)
                ));
            }
        };
        Ok(CsvRow {
            experiment: text("experiment").to_owned(),
            quantity: Quantity {
                name: text("quantity").to_owned(),
                unit,
                higher_is_better,
            },
            role: text("role").to_owned(),
            coordinates,
            outcome,
        })
    }

    /// Appends the point to its dataset, which is created if it does not exist yet.
    fn add_to(self, datasets: &mut Vec<Dataset>, id: u64) {
        let auxiliary = self.role == "auxiliary";
        let derived = self.role == "derived";
        let same = |d: &Dataset| {
            d.experiment == self.experiment
                && d.quantity == self.quantity
                && d.auxiliary == auxiliary
                && d.derived == derived
        };
        let at = datasets.iter().position(same).unwrap_or_else(|| {
            datasets.push(Dataset {
                experiment: self.experiment.clone(),
                quantity: self.quantity.clone(),
                axes: Vec::new(),
                points: Vec::new(),
                auxiliary,
                derived,
            });
            datasets.len() - 1
        });
        datasets[at].points.push(Point {
            id,
            coordinates: self.coordinates,
            outcome: self.outcome,
        });
    }
}

/// Completes the figures of `measured`: an absent best value or interval is replaced by the median.
/// Fails if the row has no value.
fn check(
    measured: &mut Measured,
    columns: &[Title],
    record: &csv::StringRecord,
) -> Result<(), String> {
    let has = |name: &str| {
        let mut cells = columns.iter().zip(record);
        cells.any(|(title, text)| {
            matches!(title, Title::Known(c) if c.name == name) && !text.is_empty()
        })
    };
    if !has("value") {
        return Err("value is ''; a measured row has one".to_owned());
    }
    let summary = &mut measured.summary;
    if !has("best") {
        summary.best = summary.median;
    }
    match has("ci_low") && has("ci_high") {
        // Files of older versions do not state the confidence of their intervals. It was 95%.
        true if !has("confidence") => summary.confidence = 0.95,
        true => {}
        false => {
            (summary.ci_low, summary.ci_high, summary.confidence) =
                (summary.median, summary.median, 0.0)
        }
    }
    Ok(())
}

/// Makes a coordinate of the text of a cell. The coordinate is a number if the text has only digits
/// and no leading zero, otherwise a name.
fn coordinate(text: &str) -> Coordinate {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = digits && (text == "0" || !text.starts_with('0'));
    match text.parse() {
        Ok(number) if plain => Coordinate::Number(number),
        _ => Coordinate::Name(text.to_owned()),
    }
}

/// Parses `text`, a finite number that is not negative. An error names the column `name`.
fn number(name: &str, text: &str) -> Result<f64, String> {
    let value = text
        .parse::<f64>()
        .ok()
        .filter(|value| value.is_finite() && *value >= 0.0);
    value.ok_or_else(|| {
        format!(
            "{name} is '{}'; it has to be a number, 0 or above",
            shown(text)
        )
    })
}

/// At most 40 characters of `text` from the file, with control characters escaped.
fn shown(text: &str) -> String {
    text.escape_debug().take(40).collect()
}

/// Makes the verdict on a row from its columns `trust`, `cause` and `reason`. An unknown word in
/// `trust` is an error.
fn verdict(trust: &str, cause: &str, reason: &str) -> Result<Verdict, String> {
    let grade = match trust {
        "solid" | "" => VerdictGrade::Solid,
        "doubtful" => VerdictGrade::Doubtful,
        "rejected" => VerdictGrade::Rejected,
        other => {
            return Err(format!(
                "trust is '{}'; it has to be solid, doubtful or rejected",
                shown(other)
            ));
        }
    };
    let known = serde_json::from_value::<Cause>(cause.into());
    let reason = Reason {
        cause: known.unwrap_or(Cause::FewSamples),
        text: if reason.is_empty() {
            UNKNOWN.to_owned()
        } else {
            reason.to_owned()
        },
        advice: String::new(),
    };
    Ok(Verdict {
        grade,
        reasons: if grade == VerdictGrade::Solid {
            Vec::new()
        } else {
            vec![reason]
        },
    })
}

/// A measured point whose figures are all zero or absent, to be filled with the row's figures.
fn empty() -> Measured {
    let summary = Summary {
        median: 0.0,
        best: 0.0,
        ci_low: 0.0,
        ci_high: 0.0,
        confidence: 0.0,
        mad: None,
        mean: None,
        standard_deviation: None,
        coefficient_of_variation: None,
        undisturbed_samples: 0,
    };
    Measured {
        summary,
        also: BTreeMap::new(),
        load: None,
        storage: None,
        choice: None,
        limit: None,
        samples: Vec::new(),
        evidence: Evidence {
            unchecked: vec!["samples and evidence: not in the CSV".to_owned()],
            ..Evidence::default()
        },
        verdict: Verdict {
            grade: VerdictGrade::Solid,
            reasons: Vec::new(),
        },
    }
}

/// A report with these datasets. Facts about the session and the machine are unknown.
fn report(mut datasets: Vec<Dataset>, points: u64) -> Report {
    for dataset in &mut datasets {
        dataset.axes = axes(dataset);
    }
    let plan = PlanSummary {
        profile: "CSV".to_owned(),
        budget: Nanos::ZERO,
        planned: Nanos::ZERO,
        real: None,
        memory: Bytes(0),
        points,
        shortened: vec!["read from CSV: times and memory of its runs are unknown".to_owned()],
        phases: Vec::new(),
    };
    Report {
        schema_version: SCHEMA_VERSION,
        status: RunStatus::Complete,
        verdict: ReportVerdict::summarise(&datasets),
        provenance: Provenance::unknown("memgauge", UNKNOWN),
        plan,
        datasets,
        findings: Vec::new(),
        health: None,
    }
}

/// Axes of the points in `dataset`. Axes with a column come first, in the order of the columns.
fn axes(dataset: &Dataset) -> Vec<Axis> {
    let names: BTreeSet<&String> = dataset
        .points
        .iter()
        .flat_map(|point| point.coordinates.keys())
        .collect();
    let place = |name: &str| {
        CSV_COLUMNS
            .iter()
            .position(|column| column.name == name)
            .unwrap_or(usize::MAX)
    };
    let mut names: Vec<&String> = names.into_iter().collect();
    names.sort_by_key(|name| place(name));
    let unit = |name: &str| name.ends_with("_bytes").then(|| "B".to_owned());
    names
        .into_iter()
        .map(|name| Axis {
            name: name.clone(),
            unit: unit(name),
        })
        .collect()
}
