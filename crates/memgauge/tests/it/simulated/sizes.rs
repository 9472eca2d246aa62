//! Tests sessions that size memory by the effective capacity of the last-level cache that they
//! measure.

use super::caches::{near, sampling, with};
use super::lab::{self, Notes, Ran, caches, request};
use super::machines::Simulated;
use experiments::{Experiment, LastLevel};
use memgauge::plan::Request;
use report::{Cause, Fact, Outcome, RunStatus, read_journal};
use std::collections::BTreeSet;
use units::{Bytes, BytesPerSecond, Nanos};

/// Two cores with a shared L3. The system reports `reported` MiB, its effective capacity is `holds`
/// MiB.
fn machine(reported: u64, holds: u64) -> Simulated {
    let mut on = with(
        &[
            (48, 12, false, 1.0),
            (1024, 16, false, 3.5),
            (reported << 10, 16, true, 12.0),
        ],
        95.0,
    );
    on.model.caches.holds = vec![Bytes::kib(48), Bytes::mib(1), Bytes::mib(holds)];
    on
}

/// A request for bandwidth and latency, with `caches` as the last experiment.
fn requested(on: &Simulated) -> Request {
    let experiments: Vec<Box<dyn Experiment>> = vec![
        lab::bandwidth("--ops read,copy"),
        lab::latency(""),
        caches("--max-size 512MiB"),
    ];
    Request {
        sampling: sampling(),
        ..request(experiments, on)
    }
}

/// Working sets, of all threads together, of the points of bandwidth and latency at the level DRAM.
/// Checks that no point is doubted for its size.
fn memory(ran: &Ran) -> Vec<u64> {
    let called = ran
        .points()
        .filter(|point| point.name("level") == Some("DRAM"));
    let measured = called
        .filter_map(|point| point.outcome.measured())
        .inspect(|m| {
            assert!(!m.verdict.names(Cause::CacheSize), "{}", m.verdict.text());
        });
    measured
        .filter_map(|m| m.evidence.working_set_bytes)
        .collect()
}

fn told(ran: &Ran) -> Vec<&str> {
    ran.report
        .findings
        .iter()
        .filter(|f| f.kind == "memory-size")
        .map(|f| f.text.as_str())
        .collect()
}

/// Experiments in the order of their first lines in the journal.
fn order(ran: &Ran) -> Vec<&'static str> {
    let experiment_of = |line: &String| {
        let names = ["bandwidth", "latency", "caches"];
        names
            .into_iter()
            .find(|name| line.contains(&format!("\"experiment\":\"{name}\"")))
    };
    let mut order: Vec<&str> = ran
        .notes
        .journal()
        .iter()
        .skip(1)
        .filter_map(experiment_of)
        .collect();
    order.dedup();
    order
}

#[test]
fn memory_is_larger_where_timing_shows_a_larger_cache_than_the_system_reports() {
    let on = machine(16, 100);
    let ran = lab::run(&on, requested(&on));
    assert_eq!(ran.report.status, RunStatus::Complete);
    let sizes = memory(&ran);
    assert!(
        sizes.len() > 4
            && sizes
                .iter()
                .all(|&size| near(size as f64, (400 << 20) as f64, 1.1)),
        "{sizes:?}"
    );
    let text = told(&ran);
    assert!(
        text.len() == 1 && text[0].contains("sized by the last-level cache of 9")
            || text[0].contains("cache of 10"),
        "{text:?}"
    );
    assert!(text[0].ends_with("the system reports 16 MiB."), "{text:?}");
    // The sweep is measured first, although it was requested last.
    assert_eq!(order(&ran)[..2], ["caches", "bandwidth"]);
    assert!(ran.report.plan.memory > ran.plan.memory());
    // The evidence has the same capacity of the caches as before.
    let before = lab::run(
        &on,
        Request {
            experiments: vec![lab::latency("")],
            ..requested(&on)
        },
    );
    let chases = |ran: &Ran, level: &str| -> Vec<u64> {
        let called = ran
            .points()
            .filter(|p| p.name("operation") == Some("chase") && p.name("level") == Some(level));
        called.filter_map(|p| p.number("size_bytes")).collect()
    };
    for level in ["L1", "L2", "L3"] {
        assert!(
            !chases(&ran, level).is_empty() && chases(&ran, level) == chases(&before, level),
            "{level}"
        );
    }
    assert!(memory(&before).iter().all(|&size| size == 256 << 20) && told(&before).is_empty());
    // The journal without its last line has the same datasets.
    let journal = ran.notes.journal()[..ran.notes.journal().len() - 1].join("\n");
    let read = read_journal(journal.as_bytes()).expect("a journal");
    assert_eq!(read.report.datasets, ran.notes_datasets());
}

impl Ran {
    /// Datasets as the journal has them, without parts that only the end of the session adds.
    fn notes_datasets(&self) -> Vec<report::Dataset> {
        let mut datasets = self.report.datasets.clone();
        datasets.retain(|dataset| !dataset.derived);
        for measured in datasets
            .iter_mut()
            .flat_map(|d| &mut d.points)
            .filter_map(|point| match &mut point.outcome {
                Outcome::Measured(measured) => Some(measured),
                _ => None,
            })
        {
            measured.evidence.measured_last_level_bytes = None;
        }
        datasets
    }
}

#[test]
fn a_smaller_cache_than_reported_sizes_memory_only_where_it_is_requested_to() {
    let on = machine(480, 24);
    let as_reported = lab::run(&on, requested(&on));
    let sizes = memory(&as_reported);
    assert!(
        !sizes.is_empty()
            && sizes
                .iter()
                .all(|&size| size.abs_diff((4 * 480) << 20) < 1 << 20),
        "{sizes:?}"
    );
    assert!(told(&as_reported).is_empty());
    let ran = lab::run(
        &on,
        Request {
            last_level: Some(LastLevel::Measured),
            ..requested(&on)
        },
    );
    // The working sets are never below 256 MiB if there is enough memory. Smaller ones at this
    // level belong to a sweep over sizes.
    let smaller = memory(&ran);
    assert!(
        smaller
            .iter()
            .all(|&size| ((4 * 23) << 20..257 << 20).contains(&size)),
        "{smaller:?}"
    );
    assert_eq!(
        smaller
            .iter()
            .filter(|size| size.abs_diff(256 << 20) < 1 << 20)
            .count(),
        sizes.len()
    );
    assert!(
        told(&ran)[0].ends_with("that timing shows; the system reports 480 MiB."),
        "{:?}",
        told(&ran)
    );
    // A size that the user gives takes precedence over both.
    let given = Request {
        last_level: Some(LastLevel::Given(Bytes::mib(100))),
        ..requested(&on)
    };
    let ran = lab::run(&on, given);
    assert!(
        memory(&ran)
            .iter()
            .all(|&size| size.abs_diff(400 << 20) < 1 << 20)
            && told(&ran).is_empty()
    );
}

#[test]
fn memory_that_there_was_no_room_for_is_sized_by_a_smaller_cache_that_timing_shows() {
    let mut on = machine(480, 24);
    on.facts.memory.usable = Fact::known(Bytes::gib(1), "a small container");
    let alone = lab::run(
        &on,
        Request {
            experiments: vec![lab::latency("")],
            ..requested(&on)
        },
    );
    assert!(memory(&alone).is_empty());
    let ran = lab::run(
        &on,
        Request {
            experiments: vec![lab::latency(""), caches("")],
            ..requested(&on)
        },
    );
    assert!(!memory(&ran).is_empty());
    assert!(
        memory(&ran)
            .iter()
            .all(|&size| near(size as f64, (96 << 20) as f64, 1.1)),
        "{:?}",
        memory(&ran)
    );
    assert!(
        told(&ran)[0].contains("because there was no room"),
        "{:?}",
        told(&ran)
    );
    assert!(ran.points().all(|point| point.outcome.measured().is_some()));
}

#[test]
fn nothing_changes_where_the_two_agree_or_no_end_shows() {
    for (reported, holds) in [(32, 32), (1024, 1024)] {
        let on = machine(reported, holds);
        let ran = lab::run(&on, requested(&on));
        assert!(told(&ran).is_empty(), "{:?}", told(&ran));
        let sizes = memory(&ran);
        let wanted = (4 * reported).max(256) << 20;
        assert!(
            !sizes.is_empty() && sizes.iter().all(|size| size.abs_diff(wanted) < 1 << 20),
            "{sizes:?}"
        );
        // A user who requested the measured capacity is told that nothing changed.
        let ran = lab::run(
            &on,
            Request {
                last_level: Some(LastLevel::Measured),
                ..requested(&on)
            },
        );
        assert_eq!(memory(&ran), sizes);
        assert!(
            told(&ran).len() == 1 && told(&ran)[0].starts_with("Timing shows no last-level"),
            "{:?}",
            told(&ran)
        );
    }
}

#[test]
fn points_are_never_left_out_for_larger_memory() {
    let mut on = machine(16, 120);
    // Mapping takes most of the time. There is time for the planned memory only.
    on.model.fault = BytesPerSecond(0.02e9);
    let fixed = |budget| Request {
        samples_fixed: true,
        budget,
        ..requested(&on)
    };
    let planned = |budget| lab::plan(&on, fixed(budget)).expect("a plan").estimate;
    let needed = planned(planned(Nanos(1e12)) / 1.2);
    let ran = lab::run(&on, fixed(needed));
    assert!(
        told(&ran).len() == 1 && told(&ran)[0].contains("there is no time"),
        "{:?}",
        told(&ran)
    );
    assert!(ran.points().all(|point| point.outcome.measured().is_some()));
    assert!(
        memory(&ran)
            .iter()
            .all(|&size| size.abs_diff(256 << 20) < 1 << 20),
        "{:?}",
        memory(&ran)
    );
}

#[test]
fn every_repeat_has_the_same_sizes() {
    let on = machine(16, 100);
    let ran = lab::run(
        &on,
        Request {
            repeat: 2,
            ..requested(&on)
        },
    );
    let reads = ran
        .points()
        .filter(|p| p.name("level") == Some("DRAM") && p.name("operation") == Some("chase"));
    let reads: Vec<u64> = reads.filter_map(|p| p.number("size_bytes")).collect();
    assert!(
        reads.len() >= 2
            && reads
                .iter()
                .all(|size| near(*size as f64, (400 << 20) as f64, 1.1)),
        "{reads:?}"
    );
    assert_eq!(reads.iter().collect::<BTreeSet<_>>().len(), 1);
}

#[test]
fn a_run_that_ended_after_memory_was_sized_goes_on_with_the_same_sizes() {
    let on = machine(16, 100);
    let whole = lab::run(&on, requested(&on));
    let took = whole.report.plan.real.expect("a finished run");
    let mut moved = 0;
    for part in [0.2, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97] {
        let first = lab::run_with(&on, requested(&on), Notes::default(), Some(took * part));
        assert_eq!(first.report.status, RunStatus::Interrupted, "{part}");
        let journal = first.notes.journal()[..first.notes.journal().len() - 1].join("\n");
        let read = read_journal(journal.as_bytes()).expect("a journal");
        assert!(
            read.notes.iter().all(|note| !note.contains("not planned")),
            "{:?}",
            read.notes
        );
        let lines = &first.notes.journal()[..first.notes.journal().len() - 1];
        let Ran { plan, report, .. } = lab::continued(&on, requested(&on), lines);
        moved += usize::from(plan.timed_last_level().is_some());
        assert_eq!(report.status, RunStatus::Complete, "{part}");
        let places = |datasets: &[report::Dataset]| -> Vec<_> {
            let points = datasets
                .iter()
                .filter(|d| d.experiment != "caches")
                .flat_map(|d| d.points.clone());
            points
                .filter(|p| p.name("kernel").is_some())
                .map(|p| (p.id, p.number("size_bytes")))
                .collect()
        };
        let told = report
            .findings
            .iter()
            .filter(|f| f.kind == "memory-size")
            .count();
        assert_eq!(
            (places(&report.datasets), told),
            (places(&whole.report.datasets), 1),
            "{part}"
        );
    }
    assert!((2..7).contains(&moved), "{moved}");
}
