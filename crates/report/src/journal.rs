//! The journal: points as JSON Lines, written while a session measures, and its reader.
//!
//! A point gets a line after each of its rounds, with only the samples that earlier lines lack. The
//! last line of a point has all of its samples. The size of a journal is therefore linear in the
//! number of samples.

use super::reading::LARGEST_REPORT;
use super::{
    Axis, Cause, Dataset, DraftedPhase, Finding, KernelUsed, Measured, Outcome, PlanSummary, Point,
    Provenance, Quantity, Reason, Report, ReportVerdict, RunStatus, SCHEMA_VERSION, Sample,
    VerdictGrade, requested_coordinates,
};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use units::Bytes;

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum JournalLine {
    /// The first line: plan and provenance of the session.
    Run {
        /// Version of the report's schema.
        schema_version: u32,
        /// How to repeat the session; `finished` is the time of writing.
        provenance: Box<Provenance>,
        /// The plan.
        plan: Box<PlanSummary>,
        /// Every dataset with all planned points. Points without an outcome at the time of writing
        /// are `interrupted`.
        datasets: Vec<Dataset>,
    },
    /// A phase that was drafted from measured points.
    Phase(Box<JournalPhase>),
    /// A point after one of its rounds, or at its end.
    Point(Box<JournalPoint>),
    /// The last line of a session that finished or was interrupted; missing if it was killed.
    End(Box<RunEnd>),
}

impl JournalLine {
    /// The first line of a journal.
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

    /// The last line of the journal of the session that `report` describes.
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

/// `datasets` with the outcome of every point replaced by `interrupted`.
pub fn unmeasured(datasets: &[Dataset]) -> Vec<Dataset> {
    let mut datasets = datasets.to_vec();
    for point in datasets.iter_mut().flat_map(|d| &mut d.points) {
        point.outcome = Outcome::Interrupted {
            reason: "the session ended before this point".to_owned(),
        };
    }
    datasets
}

/// A point with the description of its dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JournalPoint {
    /// Name of the experiment.
    pub experiment: String,
    /// Quantity of the value.
    pub quantity: Quantity,
    /// Axes of its dataset.
    pub axes: Vec<Axis>,
    /// True if the point has all its rounds. A point is written after each round; the last line
    /// with its id counts.
    pub finished: bool,
    /// Samples in earlier lines, to which this line adds its samples. Left out if this line has all
    /// samples of the point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<EarlierSamples>,
    /// The point.
    pub point: Point,
}

/// A phase that was drafted, before any of its points is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JournalPhase {
    /// The drafted phase.
    #[serde(flatten)]
    pub drafted: DraftedPhase,
    /// Points that are new, or whose coordinates differ from those in the journal's first line.
    pub datasets: Vec<Dataset>,
}

/// Samples of a point in earlier lines of the same session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct EarlierSamples {
    /// Number of samples in the earlier lines.
    pub count: u64,
    /// Earlier samples that changed, because a later round judged them differently; left out if
    /// there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ChangedSample>,
}

/// A sample that replaces an earlier one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ChangedSample {
    /// Position among the samples of the point, from 0.
    pub index: u64,
    /// The new version of the sample.
    pub sample: Sample,
}

/// Makes the lines of a session's points, and remembers which samples were written.
#[derive(Debug, Default)]
pub struct PointLines {
    /// Samples written so far of each point that is not finished, by the id of the point.
    written: BTreeMap<u64, Vec<Sample>>,
}

impl PointLines {
    /// The line to write for `whole`, a point with all of its samples. If the point is finished,
    /// the line has all samples. Otherwise it has only samples that earlier lines lack.
    pub fn line(&mut self, whole: JournalPoint) -> JournalPoint {
        let mut line = whole;
        let earlier = self.written.remove(&line.point.id);
        if line.finished {
            return line;
        }
        if let Outcome::Measured(measured) = &mut line.point.outcome {
            let all = std::mem::take(&mut measured.samples);
            let known = earlier.filter(|known| known.len() <= all.len());
            let count = known.as_ref().map_or(0, Vec::len);
            measured.samples = all[count..].to_vec();
            line.earlier = known.map(|known| EarlierSamples {
                count: count as u64,
                changed: changed(&known, &all),
            });
            self.written.insert(line.point.id, all);
        }
        line
    }
}

/// Samples in `now` that differ from the sample at the same position in `before`.
fn changed(before: &[Sample], now: &[Sample]) -> Vec<ChangedSample> {
    let pairs = (0..).zip(before.iter().zip(now));
    pairs
        .filter(|(_, (before, now))| before != now)
        .map(|(index, (_, now))| ChangedSample {
            index,
            sample: now.clone(),
        })
        .collect()
}

/// Facts known only at the end of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RunEnd {
    /// Whether everything planned was measured.
    pub status: RunStatus,
    /// Verdict on the whole report.
    pub verdict: ReportVerdict,
    /// The plan, and the time that it really took.
    pub plan: PlanSummary,
    /// Findings.
    pub findings: Vec<Finding>,
    /// End of the session, RFC 3339, UTC.
    pub finished: String,
    /// Kernels that were used.
    pub kernels: Vec<KernelUsed>,
}

/// Limits for reading a journal, in bytes. Each round writes the figures and evidence of its point
/// again, so a journal may be many times as large as its report.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Largest size of the whole file.
    file: u64,
    /// Largest size of one line. The first line has all planned points, with about 300 bytes for
    /// each.
    line: u64,
    /// Largest sum over all points. A point adds the size of its latest line, and of the earlier
    /// samples that the line continues.
    kept: u64,
}

const LIMITS: Limits = Limits {
    file: 16 * LARGEST_REPORT.0,
    line: LARGEST_REPORT.0 / 4,
    kept: LARGEST_REPORT.0,
};

/// A journal that was read, converted to the report that its session would have written.
#[derive(Debug, Clone, PartialEq)]
pub struct Journal {
    /// The report. If the journal has no last line, the session counts as interrupted, and the only
    /// findings are the notes.
    pub report: Report,
    /// True if the journal has its last line, so that the session came to its end.
    pub ended: bool,
    /// One sentence for each missing or skipped part. The report has them as findings too.
    pub notes: Vec<String>,
}

/// True if `line` is the first line of a journal rather than a report. `line` may be truncated.
pub(super) fn is_journal_line(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Tag {
        #[serde(rename = "line")]
        _line: String,
    }
    line.starts_with(br#"{"line":"#) || serde_json::from_slice::<Tag>(line).is_ok()
}

/// Reads a journal line by line. Unreadable lines are skipped and counted in a note, because a
/// crash truncates the last line.
///
/// # Errors
/// The first line is missing, broken or of a newer version. The journal is too large, has several
/// sessions, or cannot be read. The error does not name the file.
pub fn read_journal(input: impl BufRead) -> Result<Journal, String> {
    read_within(LIMITS, input)
}

/// Like [`read_journal`], but with other limits.
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

/// Reads the next line into `line` and subtracts its length from `left`; Returns `false` at the end
/// of the input.
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

/// State of a reader in the middle of a journal.
struct Reader {
    report: Report,
    /// For each planned point: index of its dataset, its index in the dataset, and the bytes that
    /// it adds to `kept`.
    places: BTreeMap<u64, (usize, usize, u64)>,
    /// Samples of points that are not finished, which later lines continue.
    begun: BTreeMap<u64, Vec<Sample>>,
    /// Bytes of the latest line of each point, and of the samples in `begun`.
    kept: u64,
    end: Option<RunEnd>,
    unreadable: u64,
    unplanned: u64,
    /// Number of lines that continue samples although no earlier line has these samples.
    detached: u64,
    last_is_broken: bool,
}

/// Reason why the line of a point is skipped.
enum PassedOver {
    /// The plan has no such point.
    Unplanned,
    /// The line continues samples that no earlier line has.
    Detached,
}

impl Reader {
    fn start(first: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Probe {
            line: String,
            schema_version: Option<u32>,
        }
        let no_head = "a journal without its first line, which describes the session; nothing can \
            be read from it";
        let probe: Probe = serde_json::from_slice(first).map_err(|_| no_head.to_owned())?;
        if probe.line != "run" {
            return Err(no_head.to_owned());
        }
        if let Some(newer) = probe.schema_version.filter(|&v| v > SCHEMA_VERSION) {
            return Err(super::reading::newer(newer));
        }
        let head = serde_json::from_slice(first).map_err(|e| {
            super::reading::brief(format!("not a memgauge journal: its first line: {e}"))
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
            health: None,
        };
        let kept = first.len() as u64;
        Ok(Self {
            report,
            places,
            begun: BTreeMap::new(),
            kept,
            end: None,
            unreadable: 0,
            unplanned: 0,
            detached: 0,
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
                return Err("contains more than one session; each needs its own file".into());
            }
            Ok(JournalLine::Phase(phase)) => self.phase(*phase, line.len() as u64),
            Ok(JournalLine::Point(point)) => match self.place(*point, line.len() as u64) {
                Ok(()) => {}
                Err(PassedOver::Unplanned) => self.unplanned += 1,
                Err(PassedOver::Detached) => self.detached += 1,
            },
            Ok(JournalLine::End(end)) => self.end = Some(*end),
            Err(_) => self.unreadable += 1,
        }
        Ok(())
    }

    /// Puts the points of a phase into their datasets. Points that the plan did not have yet are
    /// appended; `end` puts them in order. A point with a planned number replaces the planned point
    /// if the planned point is not measured yet. Points of an unknown experiment count as
    /// unplanned.
    fn phase(&mut self, read: JournalPhase, length: u64) {
        self.kept = self.kept.saturating_add(length);
        for drafted in read.datasets {
            let named = |d: &Dataset| d.experiment == drafted.experiment && !d.derived;
            let Some(position) = self.report.datasets.iter().position(named) else {
                self.unplanned += drafted.points.len() as u64;
                continue;
            };
            for point in drafted.points {
                let points = &mut self.report.datasets[position].points;
                match self.places.get(&point.id) {
                    None => {
                        self.places.insert(point.id, (position, points.len(), 0));
                        points.push(point);
                    }
                    Some(&(dataset, place, _))
                        if dataset == position && points[place].outcome.measured().is_none() =>
                    {
                        points[place] = point;
                    }
                    Some(_) => self.unplanned += 1,
                }
            }
        }
        self.report.plan.phases.push(read.drafted);
    }

    /// Puts a measured point in place of the planned point with its number. The kernel and the
    /// number of threads may differ from the planned ones, because measuring may choose them.
    ///
    /// # Errors
    /// The plan has no such point, or samples that the line continues are missing.
    fn place(&mut self, read: JournalPoint, length: u64) -> Result<(), PassedOver> {
        let JournalPoint {
            experiment,
            quantity,
            axes,
            finished,
            earlier,
            mut point,
        } = read;
        let Some((dataset, place, from)) = self.places.get_mut(&point.id) else {
            return Err(PassedOver::Unplanned);
        };
        let dataset = &mut self.report.datasets[*dataset];
        let planned = &mut dataset.points[*place];
        let is_of_dataset = (&dataset.experiment, &dataset.quantity, &dataset.axes)
            == (&experiment, &quantity, &axes);
        let lies_there = requested_coordinates(&planned.coordinates)
            == requested_coordinates(&point.coordinates);
        if !is_of_dataset || !lies_there {
            return Err(PassedOver::Unplanned);
        }
        let begun = self.begun.remove(&point.id).unwrap_or_default();
        self.kept -= bytes_of(&begun);
        let mut continued = 0;
        if let Outcome::Measured(measured) = &mut point.outcome {
            if let Some(earlier) = earlier {
                continued = bytes_of(&begun);
                measured.samples = joined(begun, earlier, std::mem::take(&mut measured.samples))
                    .ok_or(PassedOver::Detached)?;
            }
            if !finished {
                self.kept = self.kept.saturating_add(bytes_of(&measured.samples));
                self.begun.insert(point.id, measured.samples.clone());
            }
        }
        // A resumed session measures an unfinished point again. Samples from before the
        // interruption count until there are more samples from after it.
        let samples = |outcome: &Outcome| outcome.measured().map_or(0, |m| m.samples.len());
        let is_cut_short = |m: &Measured| m.verdict.names(Cause::Interrupted);
        let ends_early = !finished || matches!(point.outcome, Outcome::Interrupted { .. });
        if ends_early
            && planned.outcome.measured().is_some_and(is_cut_short)
            && samples(&planned.outcome) > samples(&point.outcome)
        {
            return Ok(());
        }
        if !finished {
            cut_short(&mut point.outcome);
        }
        *planned = point;
        // The bytes of this line replace the bytes of the point's previous line in the sum.
        let kept = length.saturating_add(continued);
        self.kept = (self.kept - *from).saturating_add(kept);
        *from = kept;
        Ok(())
    }

    fn end(self) -> Journal {
        let Self {
            mut report,
            end,
            mut unreadable,
            unplanned,
            detached,
            last_is_broken,
            ..
        } = self;
        let follow_ups = report.plan.follow_up_points();
        for dataset in &mut report.datasets {
            dataset.arrange(|id| follow_ups.contains(&id));
        }
        let mut notes = Vec::new();
        if last_is_broken {
            unreadable -= 1;
            notes.push("the last line of the journal is incomplete and was skipped".to_owned());
        }
        if unreadable > 0 {
            notes.push(format!(
                "lines of the journal that cannot be read and were skipped: {unreadable}"
            ));
        }
        if unplanned > 0 {
            notes.push(format!(
                "points in the journal that were not planned and were skipped: {unplanned}"
            ));
        }
        if detached > 0 {
            notes.push(format!(
                "lines of the journal that continue missing samples and were skipped: \
                 {detached}"
            ));
        }
        let all = || report.datasets.iter().flat_map(|d| &d.points);
        let missing = all()
            .filter(|p| matches!(p.outcome, Outcome::Interrupted { .. }))
            .count();
        let ended = end.is_some();
        if !ended {
            notes.push(format!(
                "the session ended early; points that were not reached: {missing}"
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

/// All samples of a point: first `begun`, the samples of earlier lines, with the changes in
/// `earlier`; then the `new` samples. `None` if some of the earlier samples are missing.
fn joined(
    mut begun: Vec<Sample>,
    earlier: EarlierSamples,
    new: Vec<Sample>,
) -> Option<Vec<Sample>> {
    let count = usize::try_from(earlier.count).ok()?;
    if begun.len() < count {
        return None;
    }
    begun.truncate(count);
    for ChangedSample { index, sample } in earlier.changed {
        *begun.get_mut(usize::try_from(index).ok()?)? = sample;
    }
    begun.extend(new);
    Some(begun)
}

/// Bytes of memory that `samples` take.
fn bytes_of(samples: &[Sample]) -> u64 {
    let bytes = |sample: &Sample| {
        size_of::<Sample>()
            + sample.disturbance.as_ref().map_or(0, String::len)
            + size_of_val(sample.cpus.as_slice())
    };
    samples.iter().map(bytes).sum::<usize>() as u64
}

/// Marks a point that lacks rounds as interrupted and doubtful. Its samples are kept.
fn cut_short(outcome: &mut Outcome) {
    if let Outcome::Measured(measured) = outcome
        && !measured.verdict.names(Cause::Interrupted)
    {
        let text = "the session ended before all its rounds".to_owned();
        let advice = "let the session end, or continue it with --resume".to_owned();
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
    use super::super::{Coordinate, PhaseId};
    use super::*;
    use std::collections::BTreeSet;

    /// First line of a journal of two points, and the lines of these points.
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
                earlier: None,
                point,
            })))
        };
        (head, dataset.points.iter().map(dataset_of).collect())
    }

    /// The first line of the journal.
    fn first_line() -> String {
        lines().0
    }

    /// The point on the first line of [`lines`], with samples of these values.
    fn point_of(values: &[f64], finished: bool) -> JournalPoint {
        let points = lines().1;
        let line = serde_json::from_str(points.lines().next().unwrap()).unwrap();
        let JournalLine::Point(mut line) = line else {
            panic!("a point")
        };
        line.finished = finished;
        let Outcome::Measured(measured) = &mut line.point.outcome else {
            panic!("a number")
        };
        let sample = |&value: &f64| Sample {
            value,
            elapsed_ns: 1.0,
            work: 1,
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
        measured.samples = values.iter().map(sample).collect();
        *line
    }

    fn samples_of(point: &Point) -> Vec<Sample> {
        point.outcome.measured().unwrap().samples.clone()
    }

    fn text(line: JournalPoint) -> String {
        serde_json::to_string(&JournalLine::Point(Box::new(line))).unwrap() + "\n"
    }

    fn first_point(journal: &Journal) -> &Point {
        &journal.report.datasets[0].points[0]
    }

    /// A point after each of three rounds. The last round finds the second sample disturbed.
    fn rounds() -> Vec<JournalPoint> {
        let mut rounds = vec![
            point_of(&[1.0], false),
            point_of(&[1.0, 2.0], false),
            point_of(&[1.0, 2.0, 3.0], false),
        ];
        if let Outcome::Measured(measured) = &mut rounds[2].point.outcome {
            measured.samples[1].disturbance = Some("a test".to_owned());
        }
        rounds
    }

    #[test]
    fn lines_of_rounds_have_new_and_changed_samples_only_and_are_read_back_whole() {
        let rounds = rounds();
        let mut written = PointLines::default();
        let lines: Vec<JournalPoint> = rounds
            .iter()
            .map(|round| written.line(round.clone()))
            .collect();
        let counts: Vec<usize> = lines
            .iter()
            .map(|line| samples_of(&line.point).len())
            .collect();
        assert_eq!(counts, [1, 1, 1]);
        let changed = |line: &JournalPoint| line.earlier.as_ref().map(|e| e.changed.len());
        let changes: Vec<Option<usize>> = lines.iter().map(changed).collect();
        assert_eq!(changes, [None, Some(0), Some(1)]);
        let mut journal = first_line();
        for (line, whole) in lines.into_iter().zip(&rounds) {
            // A repeated line changes nothing.
            let line = text(line);
            journal += &line;
            journal += &line;
            let read = read_journal(journal.as_bytes()).unwrap();
            assert_eq!(
                samples_of(first_point(&read)),
                samples_of(&whole.point),
                "{journal}"
            );
            let verdict = &first_point(&read).outcome.measured().unwrap().verdict;
            assert!(verdict.names(Cause::Interrupted));
        }
        let end = point_of(&[1.0, 2.0, 3.0, 4.0], true);
        assert_eq!(written.line(end.clone()), end);
        journal += &text(end.clone());
        let read = read_journal(journal.as_bytes()).unwrap();
        assert_eq!(first_point(&read), &end.point);
    }

    #[test]
    fn a_line_whose_earlier_samples_are_missing_is_passed_over() {
        let rounds = rounds();
        let mut written = PointLines::default();
        let mut lines: Vec<String> = rounds
            .iter()
            .map(|round| text(written.line(round.clone())))
            .collect();
        lines.remove(1);
        let mut journal = first_line() + &lines.concat();
        let read = read_journal(journal.as_bytes()).unwrap();
        assert_eq!(samples_of(first_point(&read)), samples_of(&rounds[0].point));
        // One note is about the missing end, the other about the skipped line.
        assert_eq!(read.notes.len(), 2, "{:?}", read.notes);
        let end = point_of(&[1.0, 2.0, 3.0, 4.0], true);
        journal += &text(written.line(end.clone()));
        let read = read_journal(journal.as_bytes()).unwrap();
        assert_eq!(first_point(&read), &end.point);
        // No sample has these positions.
        for (count, index) in [(1, 1), (u64::MAX, 0), (0, u64::MAX)] {
            let mut line = rounds[1].clone();
            let sample = samples_of(&line.point)[0].clone();
            let changed = vec![ChangedSample { index, sample }];
            line.earlier = Some(EarlierSamples { count, changed });
            let journal = first_line() + &text(rounds[0].clone()) + &text(line);
            let read = read_journal(journal.as_bytes()).unwrap();
            assert_eq!(
                samples_of(first_point(&read)),
                samples_of(&rounds[0].point),
                "{count} {index}"
            );
            assert_eq!(read.notes.len(), 2, "{:?}", read.notes);
        }
    }

    /// The line of a phase of the first dataset, with one point of this size and number.
    fn phase_line(id: u64, size: u64) -> String {
        let report = read_journal(first_line().as_bytes()).unwrap().report;
        let mut dataset = report.datasets[0].clone();
        dataset.points.truncate(1);
        dataset.points[0].id = id;
        let at = ("size_bytes".to_owned(), Coordinate::Number(size));
        dataset.points[0].coordinates.extend([at]);
        let drafted = DraftedPhase {
            phase: PhaseId {
                sizes_memory: false,
                follow_up: Some(0),
            },
            last_level: None,
            finding: None,
            rooms: Vec::new(),
            points: vec![id],
        };
        let line = JournalLine::Phase(Box::new(JournalPhase {
            drafted,
            datasets: vec![dataset],
        }));
        serde_json::to_string(&line).unwrap() + "\n"
    }

    #[test]
    fn a_phase_adds_points_and_moves_unmeasured_ones() {
        let mut there = point_of(&[1.0], true);
        there.point.id = 77;
        let at = ("size_bytes".to_owned(), Coordinate::Number(4096));
        there.point.coordinates.extend([at]);
        // A point that no phase drafted is skipped.
        let journal = first_line() + &text(there.clone());
        let read = read_journal(journal.as_bytes()).unwrap();
        assert_eq!(read.report.datasets[0].points.len(), 2);
        let journal = first_line() + &phase_line(77, 4096) + &text(there.clone());
        let read = read_journal(journal.as_bytes()).unwrap();
        assert!(read.report.datasets[0].points.contains(&there.point));
        assert_eq!(read.report.plan.follow_up_points(), BTreeSet::from([77]));
        // A measured point stays in its place.
        for (line, moved) in [(String::new(), true), (text(point_of(&[1.0], true)), false)] {
            let id = first_point(&read).id;
            let journal = first_line() + &line + &phase_line(id, 8192);
            let read = read_journal(journal.as_bytes()).unwrap();
            let points = &read.report.datasets[0].points;
            let found = points.iter().find(|point| point.id == id).unwrap();
            assert_eq!(found.number("size_bytes") == Some(8192), moved);
        }
    }

    /// A continued session measures a point of its first part again. The samples of the first part
    /// count until the second part has more samples, in any number of lines.
    #[test]
    fn rounds_of_a_continuation_are_joined_apart_from_those_of_the_first_part() {
        let carried = text(point_of(&[7.0, 8.0], false));
        let mut journal = first_line() + &carried;
        let mut written = PointLines::default();
        let mut most = 2;
        for (round, values) in rounds()
            .into_iter()
            .zip([[7.0, 8.0], [1.0, 2.0], [1.0, 2.0]])
        {
            most = most.max(samples_of(&round.point).len());
            journal += &text(written.line(round));
            let read = read_journal(journal.as_bytes()).unwrap();
            let samples = samples_of(first_point(&read));
            assert_eq!(samples.len(), most);
            assert_eq!([samples[0].value, samples[1].value], values);
        }
    }

    #[test]
    fn samples_of_earlier_lines_count_for_what_is_kept() {
        let head = first_line();
        let mut rounds = rounds();
        let long = "x".repeat(10_000);
        for round in &mut rounds {
            if let Outcome::Measured(measured) = &mut round.point.outcome {
                for sample in &mut measured.samples {
                    sample.disturbance = Some(long.clone());
                }
            }
        }
        let samples = rounds
            .last()
            .map_or(0, |last| samples_of(&last.point).len());
        let mut written = PointLines::default();
        let lines = rounds.into_iter().map(|round| text(written.line(round)));
        let journal = head.clone() + &lines.collect::<String>();
        let within = |kept: usize| {
            let limits = Limits {
                file: 1 << 20,
                line: 1 << 20,
                kept: kept as u64,
            };
            read_within(limits, journal.as_bytes())
        };
        // Each sample counts twice: in its point, and among the samples that the next line
        // continues.
        let all = 2 * samples * long.len();
        assert!(within(head.len() + all).is_err());
        assert!(within(head.len() + all + 3 * long.len()).is_ok());
    }

    /// A journal whose first part had samples of a point that the second part did not reach.
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
