//! The journal: the same points as JSON Lines, one line as each is finished, and how it is read
//! back.

use super::store::LARGEST_REPORT;
use super::{
    Axis, Cause, Dataset, Finding, KernelUsed, Measured, Outcome, PlanSummary, Point, Provenance,
    Quantity, Reason, Report, ReportVerdict, RunStatus, SCHEMA_VERSION, VerdictGrade,
    place_asked_for,
};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read};
use units::Bytes;

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
        /// Every dataset with all planned points; those of which the outcome was not known are
        /// `interrupted`.
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
        let plan = Box::new(PlanSummary {
            real: None,
            ..plan.clone()
        });
        JournalLine::Run {
            schema_version: SCHEMA_VERSION,
            provenance: Box::new(provenance.clone()),
            plan,
            datasets,
        }
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
        point.outcome = Outcome::Interrupted {
            reason: "the run ended before this point".to_owned(),
        };
    }
    datasets
}

/// A point with what its dataset says about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JournalPoint {
    /// Name of the experiment.
    pub experiment: String,
    /// What the value is.
    pub quantity: Quantity,
    /// The axes of its dataset.
    pub axes: Vec<Axis>,
    /// Whether the point has all its rounds. A point is written after each round; the last line
    /// with its id counts.
    pub finished: bool,
    /// Whether the point was placed during the run, so that the first line does not have it, or has
    /// it elsewhere.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub placed: bool,
    /// The point.
    pub point: Point,
}

/// What is known only at the end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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

/// What of a journal is read at most. Every point is written anew after each of its rounds, so that
/// a journal may be many times as large as what is kept of it.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Of the whole file, so that it ends.
    file: u64,
    /// Of one line. The first has all planned points: 300 bytes each.
    line: u64,
    /// Of the lines that count.
    kept: u64,
}

const LIMITS: Limits = Limits {
    file: 16 * LARGEST_REPORT.0,
    line: LARGEST_REPORT.0 / 4,
    kept: LARGEST_REPORT.0,
};

/// What a journal holds, as the report that the run would have left.
#[derive(Debug, Clone, PartialEq)]
pub struct Journal {
    /// The report. Without a last line its run counts as interrupted, and findings are only what is
    /// said here.
    pub report: Report,
    /// Whether the run came to its end and said so.
    pub ended: bool,
    /// What is missing or was passed over, a sentence each, also among the findings of the report.
    pub notes: Vec<String>,
}

/// Whether `line` is one of a journal rather than the beginning of a report; also where it is
/// broken off.
pub(super) fn is_journal_line(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Tag {
        #[serde(rename = "line")]
        _line: String,
    }
    line.starts_with(br#"{"line":"#) || serde_json::from_slice::<Tag>(line).is_ok()
}

/// Reads a journal line by line. A line that cannot be read is passed over, counted and said: a
/// crash leaves a last one.
///
/// # Errors
/// The first line, which says what ran where, is missing, broken or of a newer version; the journal
/// is too large, holds several runs, or cannot be read. In words, without the name of the file.
pub fn read_journal(input: impl BufRead) -> Result<Journal, String> {
    read_within(LIMITS, input)
}

/// The same within `limits`.
fn read_within(limits: Limits, mut input: impl BufRead) -> Result<Journal, String> {
    let mut left = limits.file;
    let mut line = Vec::new();
    next_line(&mut input, &mut line, (limits, &mut left))?;
    let mut reader = Reader::start(&line)?;
    while next_line(&mut input, &mut line, (limits, &mut left))? {
        reader.line(&line)?;
        if reader.kept > limits.kept {
            return Err(format!(
                "its points are larger than {}, not a journal",
                Bytes(limits.kept)
            ));
        }
    }
    Ok(reader.end())
}

/// Puts the next line into `line`, `false` at the end; takes its length off `left`.
fn next_line(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    (limits, left): (Limits, &mut u64),
) -> Result<bool, String> {
    line.clear();
    let longest = limits.line.min(*left);
    let read = input
        .take(longest + 1)
        .read_until(b'\n', line)
        .map_err(|e| e.to_string())? as u64;
    if read > longest {
        let (what, limit) = if longest < limits.line {
            ("larger", limits.file)
        } else {
            ("has a line longer", limits.line)
        };
        return Err(format!("{what} than {}, not a journal", Bytes(limit)));
    }
    *left -= read;
    Ok(read > 0)
}

/// A journal as far as it was read.
struct Reader {
    report: Report,
    /// Position of every planned point: dataset and place in it, and the length of the line that it
    /// is from.
    places: BTreeMap<u64, (usize, usize, u64)>,
    /// Bytes of the lines that count so far.
    kept: u64,
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
        let no_head = "a journal without its first line, which says what ran where; nothing can \
             be read from it";
        let probe: Probe = serde_json::from_slice(first).map_err(|_| no_head.to_owned())?;
        if probe.line != "run" {
            return Err(no_head.to_owned());
        }
        if let Some(newer) = probe.schema_version.filter(|&v| v > SCHEMA_VERSION) {
            return Err(super::store::newer(newer));
        }
        let head = serde_json::from_slice(first).map_err(|e| {
            super::store::brief(format!("not a memgauge journal: its first line: {e}"))
        })?;
        let JournalLine::Run {
            schema_version,
            provenance,
            plan,
            datasets,
        } = head
        else {
            return Err(no_head.to_owned());
        };
        let mut places = BTreeMap::new();
        for (d, dataset) in datasets.iter().enumerate() {
            for (p, point) in dataset.points.iter().enumerate() {
                if places.insert(point.id, (d, p, 0)).is_some() {
                    return Err(format!(
                        "not a memgauge journal: two of its points have the number {}",
                        point.id
                    ));
                }
            }
        }
        let status = RunStatus::Interrupted;
        let verdict = ReportVerdict::summarise(&[]);
        let provenance = *provenance;
        let plan = *plan;
        let report = Report {
            schema_version,
            status,
            verdict,
            provenance,
            plan,
            datasets,
            findings: Vec::new(),
        };
        let placed = BTreeSet::new();
        let kept = first.len() as u64;
        Ok(Self {
            report,
            places,
            kept,
            placed,
            end: None,
            unreadable: 0,
            unplanned: 0,
            last_is_broken: false,
        })
    }

    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let read = serde_json::from_slice(line);
        self.last_is_broken = read.is_err();
        match read {
            Ok(JournalLine::Run { .. }) => {
                return Err("holds more than one run; each belongs into its own file".into());
            }
            Ok(JournalLine::Point(point)) => {
                self.unplanned += u64::from(!self.place(*point, line.len() as u64))
            }
            Ok(JournalLine::End(end)) => self.end = Some(*end),
            Err(_) => self.unreadable += 1,
        }
        Ok(())
    }

    /// Puts a point where it was planned, or for now at the end of its dataset if it was placed
    /// during the run; `false` where it was neither. Kernel and threads may have been chosen by
    /// measuring, and what was not measured yet may have been placed elsewhere.
    fn place(&mut self, read: JournalPoint, length: u64) -> bool {
        let JournalPoint {
            experiment,
            quantity,
            axes,
            finished,
            placed,
            mut point,
        } = read;
        if placed && !self.places.contains_key(&point.id) {
            let named = |d: &Dataset| d.experiment == experiment;
            let Some(dataset) = self.report.datasets.iter().position(named) else {
                return false;
            };
            let points = &mut self.report.datasets[dataset].points;
            self.places.insert(point.id, (dataset, points.len(), 0));
            self.placed.insert(point.id);
            points.push(point.clone());
        }
        let Some((dataset, place, from)) = self.places.get_mut(&point.id) else {
            return false;
        };
        let dataset = &mut self.report.datasets[*dataset];
        let planned = &mut dataset.points[*place];
        let same = (&dataset.experiment, &dataset.quantity, &dataset.axes)
            == (&experiment, &quantity, &axes);
        let moved = placed && planned.outcome.measured().is_none();
        if !same
            || (!moved
                && place_asked_for(&planned.coordinates) != place_asked_for(&point.coordinates))
        {
            return false;
        }
        // A run that is continued starts such a point anew: what the first part had of it counts
        // until there is more.
        let samples = |outcome: &Outcome| outcome.measured().map_or(0, |m| m.samples.len());
        let is_cut_short = |m: &Measured| m.verdict.names(Cause::Interrupted);
        let ends_early = !finished || matches!(point.outcome, Outcome::Interrupted { .. });
        if ends_early
            && planned.outcome.measured().is_some_and(is_cut_short)
            && samples(&planned.outcome) > samples(&point.outcome)
        {
            return true;
        }
        if !finished {
            cut_short(&mut point.outcome);
        }
        *planned = point;
        // The line of an earlier round no longer counts.
        self.kept = (self.kept - *from).saturating_add(length);
        *from = length;
        true
    }

    fn end(self) -> Journal {
        let Self {
            mut report,
            placed,
            end,
            mut unreadable,
            unplanned,
            last_is_broken,
            ..
        } = self;
        report
            .datasets
            .iter_mut()
            .for_each(|dataset| dataset.arrange(|id| placed.contains(&id)));
        let mut notes = Vec::new();
        if last_is_broken {
            unreadable -= 1;
            notes.push("the last line of the journal is broken off and was passed over".to_owned());
        }
        if unreadable > 0 {
            notes.push(format!(
                "lines of the journal that cannot be read and were passed over: {unreadable}"
            ));
        }
        if unplanned > 0 {
            notes.push(format!(
                "points in the journal that were not planned and were passed over: {unplanned}"
            ));
        }
        let all = || report.datasets.iter().flat_map(|d| &d.points);
        let missing = all()
            .filter(|p| matches!(p.outcome, Outcome::Interrupted { .. }))
            .count();
        let ended = end.is_some();
        if !ended {
            notes.push(format!(
                "the run did not come to its end; points that it did not get to: {missing}"
            ));
        }
        report.verdict = ReportVerdict::summarise(&report.datasets);
        if let Some(end) = end {
            report.status = if missing > 0 {
                RunStatus::Interrupted
            } else {
                end.status
            };
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
            Finding::note("journal", text)
        };
        report.findings.extend(notes.iter().map(sentence));
        Journal {
            report,
            ended,
            notes,
        }
    }
}

/// Says of a point that lacks rounds that it does; what it has is worth showing.
fn cut_short(outcome: &mut Outcome) {
    if let Outcome::Measured(measured) = outcome
        && !measured.verdict.names(Cause::Interrupted)
    {
        let text = "the run ended before all its rounds".to_owned();
        let advice = "let the run end, or continue it with --resume".to_owned();
        measured.verdict.add(
            VerdictGrade::Doubtful,
            Reason {
                cause: Cause::Interrupted,
                text,
                advice,
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::sc_membench::{self, SC_MEMBENCH_HEADER};
    use super::*;

    /// The head of a journal of two points, and a line for each of them.
    fn lines() -> (String, String) {
        let text = format!("{SC_MEMBENCH_HEADER}\n1,read,5,0,0,0,1,1,1\n2,read,5,0,0,0,1,1,1\n");
        let report = sc_membench::read(text.as_bytes()).unwrap();
        let line = |line: &JournalLine| serde_json::to_string(line).unwrap() + "\n";
        let head = line(&JournalLine::head(
            &report.provenance,
            &report.plan,
            unmeasured(&report.datasets),
        ));
        let dataset = &report.datasets[0];
        let dataset_of = |point: &Point| {
            let Dataset {
                experiment,
                quantity,
                axes,
                ..
            } = dataset.clone();
            let point = point.clone();
            line(&JournalLine::Point(Box::new(JournalPoint {
                experiment,
                quantity,
                axes,
                finished: true,
                placed: false,
                point,
            })))
        };
        (head, dataset.points.iter().map(dataset_of).collect())
    }

    /// A journal whose first part had samples of a point that the second part did not get to.
    #[test]
    fn what_a_run_had_of_a_point_counts_until_its_continuation_has_more() {
        let (head, points) = lines();
        let part = points
            .lines()
            .next()
            .unwrap()
            .replace("\"finished\":true", "\"finished\":false");
        let mut point: JournalLine = serde_json::from_str(points.lines().next().unwrap()).unwrap();
        let JournalLine::Point(line) = &mut point else {
            panic!("a point")
        };
        line.point.outcome = Outcome::Interrupted {
            reason: "a test".to_owned(),
        };
        let none = serde_json::to_string(&point).unwrap();
        let measured = |text: String| {
            let report = read_journal(text.as_bytes()).unwrap().report;
            report.datasets[0].points[0].outcome.measured().is_some()
        };
        assert!(measured(format!("{head}{part}\n{none}\n")));
        assert!(!measured(format!("{head}{none}\n")));
    }

    #[test]
    fn what_is_kept_is_bounded_and_rounds_before_the_last_do_not_count() {
        let (head, points) = lines();
        let text = format!("{head}{}", points.repeat(50));
        let whole = text.len() as u64;
        let kept = (head.len() + points.len()) as u64;
        let limits = Limits {
            file: whole,
            line: head.len() as u64,
            kept,
        };
        let journal = read_within(limits, text.as_bytes()).unwrap();
        assert!(
            journal.report.datasets[0]
                .points
                .iter()
                .all(|p| p.outcome.measured().is_some()),
            "{journal:?}"
        );
        for (limits, why) in [
            (
                Limits {
                    kept: kept - 1,
                    ..limits
                },
                "its points are larger than",
            ),
            (
                Limits {
                    file: whole - 1,
                    ..limits
                },
                "larger than",
            ),
            (
                Limits {
                    line: limits.line - 1,
                    ..limits
                },
                "has a line longer than",
            ),
        ] {
            let said = read_within(limits, text.as_bytes()).unwrap_err();
            assert!(
                said.starts_with(why) && said.ends_with(", not a journal"),
                "{said}"
            );
        }
    }
}
