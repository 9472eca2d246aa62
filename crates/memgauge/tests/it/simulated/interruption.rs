//! Tests that a session that ends early keeps its results and says what is missing.

use super::lab::{self, Notes, Ran, profile, run_with};
use super::machines::{self, Simulated};
use engine::{Machine, Sampling};
use experiments::Detail;
use memgauge::plan::{self, Request};
use memgauge::run::{self, Invocation, Past};
use report::{
    Cause, JournalLine, KernelUsed, Measured, Outcome, Point, Report, RunStatus, SCHEMA_VERSION,
    VerdictGrade, read_journal,
};
use units::Nanos;

const TIMES: u32 = 20;

/// A machine on which no point stops early, and whose memory is too small for all points at once.
fn machine() -> Simulated {
    let mut on = machines::container("200 MiB", machines::mib(200));
    on.model.noise.jitter = 0.02;
    on
}

fn request(on: &Simulated) -> Request {
    let mut request = profile(Detail::Brief, on);
    request.sampling = Sampling {
        per_round: 5,
        target: 0.0,
        ..request.sampling
    };
    request.cooldown = Nanos::from_millis(1.0);
    request
}

fn complete(on: &Simulated) -> Ran {
    let ran = lab::run(on, request(on));
    assert_eq!(ran.report.status, RunStatus::Complete);
    assert!(ran.plan.batches().count() > 1);
    ran
}

/// Sessions that are interrupted at times spread over the duration of a complete one.
fn interrupted(on: &Simulated) -> impl Iterator<Item = Ran> {
    let whole = complete(on).report.plan.real.expect("a finished run");
    (0..TIMES).map(move |i| {
        let stop = whole * ((f64::from(i) + 0.5) / f64::from(TIMES));
        run_with(on, request(on), Notes::default(), Some(stop))
    })
}

fn places(ran: &Ran) -> Vec<(u64, String)> {
    ran.points()
        .map(|p| (p.id, format!("{:?}", p.coordinates)))
        .collect()
}

#[test]
fn a_report_is_complete_in_shape_whenever_the_run_ends() {
    let on = machine();
    let whole = complete(&on);
    let mut cut = 0;
    let mut missing = 0;
    let mut done = 0;
    for ran in interrupted(&on) {
        assert_eq!(ran.report.status, RunStatus::Interrupted);
        assert_eq!(places(&ran), places(&whole));
        for (point, full) in ran.points().zip(whole.points()) {
            match &point.outcome {
                Outcome::Measured(m) if m.samples.len() == lab::measured(full).samples.len() => {
                    assert_eq!(&point.outcome, &full.outcome);
                    done += 1;
                }
                Outcome::Measured(m) => {
                    assert!(!m.samples.is_empty());
                    assert_eq!(
                        m.verdict.grade,
                        VerdictGrade::Doubtful,
                        "{:?}",
                        point.coordinates
                    );
                    assert!(
                        m.verdict.reasons[0].text.contains("interrupted"),
                        "{:?}",
                        m.verdict.reasons
                    );
                    cut += 1;
                }
                Outcome::Interrupted { reason } => {
                    assert!(reason.contains("interrupted"));
                    missing += 1;
                }
                other => panic!("{:?}: {other:?}", point.coordinates),
            }
        }
    }
    assert!(
        cut > 50 && missing > 50 && done > 50,
        "{cut} {missing} {done}"
    );
}

#[test]
fn nothing_is_mapped_after_the_end() {
    let on = machine();
    let samples = request(&on).sampling.per_round * request(&on).sampling.rounds;
    for ran in interrupted(&on) {
        let points: Vec<&Point> = ran.points().collect();
        let done = |i: &usize| {
            points[*i]
                .outcome
                .measured()
                .is_some_and(|m| m.samples.len() == samples as usize)
        };
        let finished = ran
            .plan
            .batches()
            .take_while(|batch| batch.points.iter().all(done))
            .count();
        let mapped = ran.machine.mappings() as usize;
        assert!(
            mapped == finished || mapped == finished + 1,
            "{mapped} mappings for {finished} finished batches"
        );
    }
}

/// Checks the first and last lines of a journal. Returns its points, each with true if it is
/// finished.
fn journal(ran: &Ran) -> Vec<(bool, Point)> {
    let mut lines: Vec<JournalLine> = ran
        .notes
        .journal()
        .iter()
        .map(|l| serde_json::from_str(l).expect("a line of a journal"))
        .collect();
    assert_eq!(lines.pop(), Some(JournalLine::end(&ran.report)));
    match &lines[0] {
        JournalLine::Run {
            schema_version,
            provenance,
            ..
        } => {
            assert_eq!(*schema_version, SCHEMA_VERSION);
            assert_eq!(provenance.host, ran.report.provenance.host);
            assert_eq!(provenance.seed, ran.report.provenance.seed);
        }
        other => panic!("{other:?}"),
    }
    let point = |line: JournalLine| match line {
        JournalLine::Point(p) => {
            let dataset = ran
                .report
                .datasets
                .iter()
                .find(|d| d.experiment == p.experiment)
                .expect("its dataset");
            assert_eq!((&p.quantity, &p.axes), (&dataset.quantity, &dataset.axes));
            (p.finished, p.point)
        }
        other => panic!("{other:?}"),
    };
    lines.into_iter().skip(1).map(point).collect()
}

#[test]
fn the_journal_ends_every_point_as_it_is_in_the_report() {
    let on = machine();
    for ran in interrupted(&on).chain([complete(&on)]) {
        let lines = journal(&ran);
        let mut finished: Vec<Point> = lines
            .iter()
            .filter(|(done, _)| *done)
            .map(|(_, p)| p.clone())
            .collect();
        finished.sort_by_key(|p| p.id);
        assert_eq!(finished, ran.points().cloned().collect::<Vec<_>>());
        for (index, (done, point)) in lines.iter().enumerate() {
            let last = lines.iter().rposition(|(_, other)| other.id == point.id);
            assert_eq!(*done, last == Some(index), "{:?}", point.coordinates);
        }
    }
}

#[test]
fn a_journal_read_back_is_the_report() {
    let on = machine();
    for ran in interrupted(&on).chain([complete(&on)]) {
        let read = |lines: &[String]| read_journal(lines.join("\n").as_bytes()).expect("a journal");
        let mut journal = read(&ran.notes.journal());
        assert!(
            journal.ended && journal.notes.is_empty(),
            "{:?}",
            journal.notes
        );
        assert_eq!(journal.report, ran.report);
        // The session is killed before the last line.
        journal = read(&ran.notes.journal()[..ran.notes.journal().len() - 1]);
        assert_eq!(
            (journal.ended, journal.report.status),
            (false, RunStatus::Interrupted)
        );
        assert_eq!(journal.report.datasets, ran.report.datasets);
        assert_eq!(journal.report.verdict, ran.report.verdict);
    }
}

#[test]
fn a_journal_of_half_rounds_says_so() {
    let on = machine();
    let ran = complete(&on);
    // These lines are the first round of every point. No point has its last line.
    let half = read_journal(
        ran.notes.journal()[..=ran.plan.phases[0].batches[0].points.len()]
            .join("\n")
            .as_bytes(),
    );
    let report = half.expect("a journal").report;
    let measured: Vec<&Measured> = report
        .datasets
        .iter()
        .flat_map(|d| &d.points)
        .filter_map(|p| p.outcome.measured())
        .collect();
    assert_eq!(measured.len(), ran.plan.phases[0].batches[0].points.len());
    for measured in measured {
        assert!(
            measured.verdict.names(Cause::Interrupted)
                && measured.verdict.grade != VerdictGrade::Solid
        );
    }
}

#[test]
fn a_journal_cut_anywhere_holds_the_rounds_done_until_then() {
    let on = machine();
    let ran = complete(&on);
    let sampling = ran.plan.sampling;
    let mut rounds = vec![0; ran.plan.points.len()];
    for (at, (finished, point)) in journal(&ran).into_iter().enumerate() {
        let id = point.id as usize;
        rounds[id] += usize::from(!finished);
        // Each cut reads the journal from its beginning, so every seventh cut is enough.
        if at % 7 != 0 {
            continue;
        }
        // The first line is the line of the session.
        let text = ran.notes.journal()[..=at + 1].join("\n");
        let read = read_journal(text.as_bytes()).expect("a journal").report;
        let here = read.datasets.iter().flat_map(|d| &d.points);
        for ((here, whole), &rounds) in here.zip(ran.points()).zip(&rounds) {
            let samples = here.outcome.measured().map_or(&[][..], |m| &m.samples);
            assert_eq!(samples.len(), rounds * sampling.per_round as usize);
            assert!(lab::measured(whole).samples.starts_with(samples));
        }
    }
    assert!(rounds.iter().all(|&n| n == sampling.rounds as usize));
}

/// Bytes of the journal of one point with `rounds` rounds. Checks that the journal is read back as
/// in the report.
fn journal_bytes(rounds: u32) -> usize {
    let on = machine();
    let mut request = lab::request(
        vec![lab::bandwidth("--ops read --sizes 16KiB --threads 1")],
        &on,
    );
    request.sampling = Sampling {
        per_round: 5,
        rounds,
        target: 0.0,
        ..request.sampling
    };
    let ran = lab::run(&on, request);
    let points: Vec<&Point> = ran.points().collect();
    let samples = lab::measured(points[0]).samples.len();
    assert_eq!((points.len(), samples), (1, 5 * rounds as usize));
    // The lines are one for the session, one for each round, and one at the end of the point.
    let lines = &ran.notes.journal()[..rounds as usize + 2];
    let killed = |lines: &[String]| read_journal(lines.join("\n").as_bytes()).expect("a journal");
    assert_eq!(killed(lines).report.datasets, ran.report.datasets);
    // If the session is killed before the last line of the point, the point has the same samples
    // and figures.
    let report = killed(&lines[..=rounds as usize]).report;
    let read = lab::measured(&report.datasets[0].points[0]);
    let whole = lab::measured(points[0]);
    assert_eq!(read.samples, whole.samples);
    assert_eq!(read.evidence, whole.evidence);
    assert_eq!(read.summary, whole.summary);
    lines[1..].iter().map(String::len).sum()
}

#[test]
fn a_journal_grows_with_the_rounds_and_not_with_their_square() {
    let few = journal_bytes(10);
    let many = journal_bytes(100);
    assert!(many < 2 * 10 * few, "{few} B of 10 rounds, {many} B of 100");
}

#[test]
fn points_that_need_no_measuring_are_journaled_first() {
    let on = machines::container("20 MiB", machines::mib(20));
    let ran = lab::run(&on, profile(Detail::Levels, &on));
    let written = journal(&ran);
    let first = written
        .iter()
        .take_while(|(_, p)| p.outcome.measured().is_none())
        .count();
    assert!(
        first > 0
            && written[first..]
                .iter()
                .all(|(_, p)| p.outcome.measured().is_some())
    );
}

#[test]
fn a_journal_that_cannot_be_written_is_a_finding() {
    let on = machine();
    let whole = complete(&on);
    let mut ran = run_with(&on, request(&on), Notes::of_full_disk(), None);
    let but_end = |ran: &Ran| {
        ran.notes
            .journal()
            .split_last()
            .expect("a last line")
            .1
            .to_vec()
    };
    assert_eq!(but_end(&ran), but_end(&whole));
    let (at, finding) = ran
        .report
        .findings
        .iter()
        .enumerate()
        .find(|(_, f)| f.kind == "journal")
        .unwrap();
    assert!(
        finding.text.contains("no space left on device"),
        "{}",
        finding.text
    );
    ran.report.findings.remove(at);
    assert_eq!(ran.report, whole.report);
}

#[test]
fn the_status_is_not_read_out_of_words() {
    let mut on = machine();
    // The word occurs in texts that do not tell the status: a host name and a source.
    on.facts.system.hostname.value = Some("interrupted".to_owned());
    on.facts.topology.cpus_source = "interrupted".to_owned();
    assert_eq!(complete(&on).report.status, RunStatus::Complete);
}

#[test]
fn an_interruption_after_the_last_sample_changes_nothing() {
    let on = machine();
    let whole = complete(&on);
    let late = whole.report.plan.real.unwrap() + Nanos(1.0);
    let ran = run_with(&on, request(&on), Notes::default(), Some(late));
    assert_eq!(ran.report, whole.report);
}

#[test]
fn a_continued_run_has_the_outcomes_of_both_parts() {
    let on = machine();
    let whole = complete(&on);
    let mut machine = on.machine(lab::SEED);
    let mut plan = plan::make(request(&on), &mut machine).expect("a plan");
    // The plan is changed as if the first batch had been measured before, with a kernel of its own.
    let known = plan.phases[0].batches.remove(0).points;
    for &index in &known {
        plan.points[index].work = Err(whole.points().nth(index).expect("a point").outcome.clone());
    }
    let old = KernelUsed {
        name: "old".to_owned(),
        digest: None,
        c_library: None,
    };
    let started = "1999-12-31T23:59:59Z".to_owned();
    let settled = known.len() as u64;
    let resumed = vec!["then".to_owned()];
    let kernels = vec![old.clone()];
    let past = Past {
        started: started.clone(),
        resumed,
        kernels,
        settled,
    };
    let invocation = Invocation {
        version: "0.0.0".to_owned(),
        command_line: vec![],
        launch: None,
        past: Some(past),
    };
    let mut notes = Notes::default();
    let begin = machine.now();
    let report = run::execute(&plan, &mut machine, &mut notes, &invocation, begin);
    assert_eq!(report.status, RunStatus::Complete);
    assert_eq!(machine.mappings() as usize, plan.batches().count());
    let outcome = |report: &Report, id: usize| {
        report
            .datasets
            .iter()
            .flat_map(|d| &d.points)
            .nth(id)
            .map(|point| point.outcome.clone())
            .expect("a point")
    };
    assert!(
        known
            .iter()
            .all(|&id| outcome(&report, id) == outcome(&whole.report, id))
    );
    assert_eq!(
        places(&Ran {
            plan,
            report: report.clone(),
            notes: Notes::default(),
            machine
        }),
        places(&whole)
    );
    // Nothing of the first part is lost, whether the continuation is killed at once or not.
    for lines in [known.len() + 1, notes.journal().len()] {
        let read = read_journal(notes.journal()[..lines].join("\n").as_bytes())
            .expect("a journal")
            .report;
        assert!(
            known
                .iter()
                .all(|&id| outcome(&read, id) == outcome(&whole.report, id))
        );
        assert_eq!(
            (&read.provenance.started, read.provenance.resumed.len()),
            (&started, 2)
        );
        assert_eq!(read.provenance.kernels[0], old);
    }
    assert!(notes.progress[0].0 > 0.0, "what was done before counts");
}
