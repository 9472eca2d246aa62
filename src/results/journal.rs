//! The journal: the same points as JSON Lines, one line as each is finished, and how it is read back.

use super::{
    Axis, Cause, Dataset, Finding, KernelUsed, Outcome, PlanSummary, Point, Provenance, Quantity, Reason, Report,
    ReportVerdict, RunStatus, SCHEMA_VERSION, VerdictGrade,
};
use crate::units::Bytes;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read};

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum JournalLine {
    /// The first line: what ran where.
    Run {
        /// Version of the report's schema.
        schema_version: u32,
        /// How to repeat the run; `finished` is the time of writing.
        provenance: Box<Provenance>,
        /// What was planned.
        plan: Box<PlanSummary>,
        /// Every dataset with all planned points; those of which the outcome was not known are `interrupted`.
        datasets: Vec<Dataset>,
    },
    /// A finished point.
    Point(Box<JournalPoint>),
    /// The last line, of a run that came to its end: finished or interrupted, but not killed.
    End(Box<RunEnd>),
}

impl JournalLine {
    /// The first line of a journal of these.
    pub fn head(provenance: &Provenance, plan: &PlanSummary, datasets: Vec<Dataset>) -> Self {
        let plan = Box::new(PlanSummary { real: None, ..plan.clone() });
        JournalLine::Run { schema_version: SCHEMA_VERSION, provenance: Box::new(provenance.clone()), plan, datasets }
    }

    /// The last line of the journal of the run that `report` is of.
    pub fn end(report: &Report) -> Self {
        JournalLine::End(Box::new(RunEnd {
            status: report.status,
            verdict: report.verdict.clone(),
            plan: report.plan.clone(),
            findings: report.findings.clone(),
            finished: report.provenance.finished.clone(),
            kernels: report.provenance.kernels.clone(),
        }))
    }
}

/// `datasets` with outcomes left out: all points `interrupted`.
pub fn unmeasured(datasets: &[Dataset]) -> Vec<Dataset> {
    let mut datasets = datasets.to_vec();
    for point in datasets.iter_mut().flat_map(|d| &mut d.points) {
        point.outcome = Outcome::Interrupted { reason: "the run ended before this point".to_owned() };
    }
    datasets
}

/// A point with what its dataset says about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct JournalPoint {
    /// Name of the experiment.
    pub experiment: String,
    /// What the value is.
    pub quantity: Quantity,
    /// The axes of its dataset.
    pub axes: Vec<Axis>,
    /// Whether the point has all its rounds. A point is written after each round; the last line with its id counts.
    pub finished: bool,
    /// Whether the point was placed during the run, so that the first line does not have it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub placed: bool,
    /// The point.
    pub point: Point,
}

/// What is known only at the end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct RunEnd {
    /// Whether everything planned was measured.
    pub status: RunStatus,
    /// How far the numbers can be trusted, all together.
    pub verdict: ReportVerdict,
    /// What was planned, and how long it really took.
    pub plan: PlanSummary,
    /// What is worth a sentence.
    pub findings: Vec<Finding>,
    /// End of the run, RFC 3339, UTC.
    pub finished: String,
    /// The kernels that were used.
    pub kernels: Vec<KernelUsed>,
}

/// A larger file is not one of ours.
pub const LARGEST_JOURNAL: Bytes = Bytes::mib(1024);

/// A longer line is not one of ours.
const LONGEST_LINE: Bytes = Bytes::mib(256);

/// What a journal holds, as the report that the run would have left.
#[derive(Debug, Clone, PartialEq)]
pub struct Journal {
    /// The report. Without a last line its run counts as interrupted, and findings are only what is said here.
    pub report: Report,
    /// Whether the run came to its end and said so.
    pub ended: bool,
    /// What is missing or was passed over, a sentence each, also among the findings of the report.
    pub notes: Vec<String>,
}

/// Whether `line` is one of a journal rather than the beginning of a report; also where it is broken off.
pub(super) fn is_journal_line(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Tag {
        #[serde(rename = "line")]
        _line: String,
    }
    line.starts_with(br#"{"line":"#) || serde_json::from_slice::<Tag>(line).is_ok()
}

/// Reads a journal line by line. A line that cannot be read is passed over, counted and said: a crash leaves a last one.
///
/// # Errors
/// The first line, which says what ran where, is missing, broken or of a newer version; the journal is too large, holds
/// several runs, or cannot be read. In words, without the name of the file.
pub fn read_journal(mut input: impl BufRead) -> Result<Journal, String> {
    let mut left = LARGEST_JOURNAL.0;
    let first = next_line(&mut input, &mut left)?.unwrap_or_default();
    let mut reader = Reader::start(&first)?;
    while let Some(line) = next_line(&mut input, &mut left)? {
        reader.line(&line)?;
    }
    Ok(reader.end())
}

/// The next line, `None` at the end; takes its length off `left`.
fn next_line(input: &mut impl BufRead, left: &mut u64) -> Result<Option<Vec<u8>>, String> {
    let mut line = Vec::new();
    let longest = LONGEST_LINE.0.min(*left);
    let read = input.take(longest + 1).read_until(b'\n', &mut line).map_err(|e| e.to_string())? as u64;
    if read > longest {
        let limit = if longest < LONGEST_LINE.0 { LARGEST_JOURNAL } else { LONGEST_LINE };
        let what = if longest < LONGEST_LINE.0 { "larger" } else { "has a line longer" };
        return Err(format!("{what} than {limit}, not a journal"));
    }
    *left -= read;
    Ok((read > 0).then_some(line))
}

/// A journal as far as it was read.
struct Reader {
    report: Report,
    /// Position of every planned point: dataset and place in it.
    places: BTreeMap<u64, (usize, usize)>,
    /// Points that were placed during the run.
    placed: BTreeSet<u64>,
    end: Option<RunEnd>,
    unreadable: u64,
    unplanned: u64,
    last_is_broken: bool,
}

impl Reader {
    fn start(first: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Probe {
            line: String,
            schema_version: Option<u32>,
        }
        let no_head = "a journal without its first line, which says what ran where; nothing can be read from it";
        let probe: Probe = serde_json::from_slice(first).map_err(|_| no_head.to_owned())?;
        if probe.line != "run" {
            return Err(no_head.to_owned());
        }
        if let Some(newer) = probe.schema_version.filter(|&v| v > SCHEMA_VERSION) {
            return Err(super::store::newer(newer));
        }
        let head = serde_json::from_slice(first)
            .map_err(|e| super::store::brief(format!("not a memgauge journal: its first line: {e}")))?;
        let JournalLine::Run { schema_version, provenance, plan, datasets } = head else {
            return Err(no_head.to_owned());
        };
        let mut places = BTreeMap::new();
        for (d, dataset) in datasets.iter().enumerate() {
            for (p, point) in dataset.points.iter().enumerate() {
                if places.insert(point.id, (d, p)).is_some() {
                    return Err(format!("not a memgauge journal: two of its points have the number {}", point.id));
                }
            }
        }
        let status = RunStatus::Interrupted;
        let verdict = ReportVerdict::of(&[]);
        let (provenance, plan) = (*provenance, *plan);
        let report = Report { schema_version, status, verdict, provenance, plan, datasets, findings: Vec::new() };
        let placed = BTreeSet::new();
        Ok(Self { report, places, placed, end: None, unreadable: 0, unplanned: 0, last_is_broken: false })
    }

    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let read = serde_json::from_slice(line);
        self.last_is_broken = read.is_err();
        match read {
            Ok(JournalLine::Run { .. }) => return Err("holds more than one run; each belongs into its own file".into()),
            Ok(JournalLine::Point(point)) => self.unplanned += u64::from(!self.place(*point)),
            Ok(JournalLine::End(end)) => self.end = Some(*end),
            Err(_) => self.unreadable += 1,
        }
        Ok(())
    }

    /// Puts a point where it was planned, or for now at the end of its dataset if it was placed during the run; `false` where it
    /// was neither. The kernel may have been chosen by measuring.
    fn place(&mut self, read: JournalPoint) -> bool {
        let JournalPoint { experiment, quantity, axes, finished, placed, mut point } = read;
        if placed && !self.places.contains_key(&point.id) {
            let named = |d: &Dataset| d.experiment == experiment;
            let Some(dataset) = self.report.datasets.iter().position(named) else { return false };
            let points = &mut self.report.datasets[dataset].points;
            self.places.insert(point.id, (dataset, points.len()));
            self.placed.insert(point.id);
            points.push(point.clone());
        }
        let Some(&(dataset, place)) = self.places.get(&point.id) else { return false };
        let dataset = &mut self.report.datasets[dataset];
        let planned = &mut dataset.points[place];
        let but_kernel = |p: &Point| {
            let mut at = p.coordinates.clone();
            at.remove("kernel");
            at
        };
        let same = (&dataset.experiment, &dataset.quantity, &dataset.axes) == (&experiment, &quantity, &axes);
        if !same || but_kernel(planned) != but_kernel(&point) {
            return false;
        }
        if !finished {
            cut_short(&mut point.outcome);
        }
        *planned = point;
        true
    }

    fn end(self) -> Journal {
        let Self { mut report, placed, end, mut unreadable, unplanned, last_is_broken, .. } = self;
        report.datasets.iter_mut().for_each(|dataset| dataset.arrange(|id| placed.contains(&id)));
        let mut notes = Vec::new();
        if last_is_broken {
            unreadable -= 1;
            notes.push("the last line of the journal is broken off and was passed over".to_owned());
        }
        if unreadable > 0 {
            notes.push(format!("lines of the journal that cannot be read and were passed over: {unreadable}"));
        }
        if unplanned > 0 {
            notes.push(format!("points in the journal that were not planned and were passed over: {unplanned}"));
        }
        let all = || report.datasets.iter().flat_map(|d| &d.points);
        let missing = all().filter(|p| matches!(p.outcome, Outcome::Interrupted { .. })).count();
        let ended = end.is_some();
        if !ended {
            notes.push(format!("the run did not come to its end; points that it did not get to: {missing}"));
        }
        report.verdict = ReportVerdict::of(&report.datasets);
        if let Some(end) = end {
            report.status = if missing > 0 { RunStatus::Interrupted } else { end.status };
            report.plan = end.plan;
            report.findings = end.findings;
            report.provenance.finished = end.finished;
            report.provenance.kernels = end.kernels;
            if notes.is_empty() {
                report.verdict = end.verdict;
            }
        }
        let sentence = |text: &String| {
            let text = format!("{}{}.", text[..1].to_uppercase(), &text[1..]);
            Finding { kind: "journal".to_owned(), text, values: BTreeMap::new() }
        };
        report.findings.extend(notes.iter().map(sentence));
        Journal { report, ended, notes }
    }
}

/// Says of a point that lacks rounds that it does; what it has is worth showing.
fn cut_short(outcome: &mut Outcome) {
    if let Outcome::Measured(measured) = outcome
        && !measured.verdict.names(Cause::Interrupted)
    {
        let text = "the run ended before all its rounds".to_owned();
        let advice = "let the run end, or continue it with --resume".to_owned();
        measured.verdict.add(VerdictGrade::Doubtful, Reason { cause: Cause::Interrupted, text, advice });
    }
}
