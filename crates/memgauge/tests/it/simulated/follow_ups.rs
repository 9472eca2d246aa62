//! Tests follow-up points, which are drafted from measured points.

use super::lab::{self, Notes, Ran, request, run, run_with};
use super::machines::{self, Simulated};
use engine::{ChainShape, ChaseWork, Sampling, Work};
use experiments::{Bound, Draft, Experiment, Scope};
use host::memory::PageMode;
use memgauge::plan::Request;
use report::{
    Axis, Cause, Coordinate, Coordinates, Dataset, Finding, Outcome, Quantity, RunStatus,
    read_journal,
};
use std::collections::BTreeSet;
use units::error::Result;
use units::{Bytes, Nanos};

/// An experiment that finds the first size that is slower than the smallest one. Its follow-ups
/// halve the distance between this size and the size before it.
struct Halving {
    rebuilds: bool,
}

const DRAFTED: [u64; 4] = [16, 64, 256, 1024];

fn draft(kib: u64) -> Draft {
    let work = Work::Chase(ChaseWork {
        pages: PageMode::Transparent,
        cpus: vec![0],
        shared: false,
        node: None,
        bytes: Bytes::kib(kib),
        stride: Bytes(64),
        shape: ChainShape::GlobalRandom,
        seed: 1,
        walkers: 1,
        payload: false,
    });
    let coordinates = Coordinates::from([("size_bytes".to_owned(), Coordinate::Number(kib << 10))]);
    Draft {
        coordinates,
        work: Ok(work),
        bound: Bound::Unknown,
        drop_priority: 1,
    }
}

fn medians(measured: &Dataset) -> Vec<(u64, f64)> {
    let place = |p: &report::Point| {
        Some((
            p.number("size_bytes")? >> 10,
            p.outcome.measured()?.summary.median,
        ))
    };
    let mut all: Vec<(u64, f64)> = measured.points.iter().filter_map(place).collect();
    all.sort_by_key(|(size, _)| *size);
    all
}

impl Experiment for Halving {
    fn name(&self) -> &'static str {
        "halving"
    }

    fn quantity(&self) -> Quantity {
        Quantity {
            name: "latency".to_owned(),
            unit: "ns".to_owned(),
            higher_is_better: false,
        }
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis {
            name: "size_bytes".to_owned(),
            unit: Some("B".to_owned()),
        }]
    }

    fn draft(&self, _scope: &Scope<'_>) -> Result<Vec<Draft>> {
        Ok(DRAFTED.map(draft).to_vec())
    }

    fn reserve(&self, _scope: &Scope<'_>) -> Result<Vec<Vec<Draft>>> {
        Ok(vec![vec![draft(1024); 2], vec![draft(1024)]])
    }

    fn follow_up(
        &self,
        _scope: &Scope<'_>,
        _number: usize,
        most: usize,
        measured: &Dataset,
    ) -> Vec<Draft> {
        let known = medians(measured);
        let fast = known[0].1;
        let Some(at) = known.iter().position(|(_, ns)| *ns > fast * 1.5) else {
            return Vec::new();
        };
        let middle = known[at - 1].0.midpoint(known[at].0);
        // The first draft is a known point. It must not be measured again, nor count as a follow-up
        // point.
        [draft(known[at].0), draft(middle)]
            .into_iter()
            .take(most.max(1) + 1)
            .collect()
    }

    fn rebuilds_chains(&self) -> bool {
        self.rebuilds
    }

    fn findings(&self, _dataset: &Dataset) -> Vec<Finding> {
        Vec::new()
    }
}

fn requested(on: &Simulated, rebuilds: bool) -> Request {
    request(vec![Box::new(Halving { rebuilds })], on)
}

fn sizes(ran: &Ran) -> Vec<u64> {
    ran.points()
        .filter_map(|p| Some(p.number("size_bytes")? >> 10))
        .collect()
}

/// The L1 cache of the plain machine has 48 KiB.
#[test]
fn follow_ups_are_drafted_from_what_was_measured_before() {
    for rebuilds in [false, true] {
        let on = machines::plain();
        let ran = run(&on, requested(&on, rebuilds));
        // The follow-up points are halfway between 16 and 64 KiB, then between 40 and 64 KiB. Each
        // stands between its neighbours. One of three placeholders was not needed.
        assert_eq!(sizes(&ran), [16, 40, 52, 64, 256, 1024]);
        assert_eq!(ran.report.status, RunStatus::Complete);
        assert!(ran.points().all(|p| p.outcome.measured().is_some()));
        let ids: BTreeSet<u64> = ran.points().map(|p| p.id).collect();
        assert_eq!(ids.len(), 6);
        assert_eq!(ran.plan.phases.len(), 3);
        assert!(ran.plan.estimate >= ran.report.plan.real.expect("a finished run") * 0.8);
    }
}

#[test]
fn every_repeat_drafts_its_own_follow_ups() {
    let on = machines::plain();
    let ran = run(
        &on,
        Request {
            repeat: 2,
            ..requested(&on, true)
        },
    );
    for repeat in ["0", "1"] {
        let in_repeat = |p: &&report::Point| p.coordinates["repeat"].to_string() == repeat;
        let sizes: Vec<_> = ran
            .points()
            .filter(in_repeat)
            .filter_map(|p| Some(p.number("size_bytes")? >> 10))
            .collect();
        assert_eq!(sizes, [16, 40, 52, 64, 256, 1024]);
    }
}

#[test]
fn a_run_that_ends_early_has_no_points_that_nobody_requested() {
    let on = machines::plain();
    let whole = run(&on, requested(&on, true))
        .report
        .plan
        .real
        .expect("a finished run");
    let mut counts = BTreeSet::new();
    for i in 0..20 {
        let stop = whole * ((f64::from(i) + 0.5) / 20.0);
        let ran = run_with(&on, requested(&on, true), Notes::default(), Some(stop));
        assert_eq!(ran.report.status, RunStatus::Interrupted, "{stop}");
        assert!(
            DRAFTED.iter().all(|kib| sizes(&ran).contains(kib)) && sizes(&ran).is_sorted(),
            "{stop}"
        );
        counts.insert(sizes(&ran).len());
        // The journal without its last line has the same points.
        let journal = ran.notes.journal()[..ran.notes.journal().len() - 1].join("\n");
        let read = read_journal(journal.as_bytes()).expect("a journal");
        assert!(
            read.notes.iter().all(|note| !note.contains("not planned")),
            "{:?}",
            read.notes
        );
        let measured = |points: &[report::Point]| -> Vec<u64> {
            points
                .iter()
                .filter(|p| p.outcome.measured().is_some())
                .map(|p| p.id)
                .collect()
        };
        assert_eq!(
            measured(&read.report.datasets[0].points),
            measured(&ran.report.datasets[0].points)
        );
    }
    assert_eq!(counts, BTreeSet::from([4, 5, 6]));
}

/// A session that is killed at any line of its journal is continued with the phases that it
/// drafted. Each measured point stays the same, and every journal can be continued again.
#[test]
fn a_continued_run_replays_the_phases_that_were_drafted() {
    let on = machines::plain();
    for rebuilds in [false, true] {
        let whole = run(&on, requested(&on, rebuilds));
        let lines = &whole.notes.journal();
        let count = lines.len() - 1;
        for killed in (1..=count).filter(|line| line % 7 == 0 || *line == count) {
            let before = read_journal(lines[..killed].join("\n").as_bytes()).expect("a journal");
            let Ran { report, notes, .. } =
                lab::continued(&on, requested(&on, rebuilds), &lines[..killed]);
            assert_eq!(report.status, RunStatus::Complete, "{killed}");
            let known = before.report.datasets[0].points.iter();
            for point in known.filter(|p| p.outcome.measured().is_some()) {
                let is_whole = !lab::measured(point).verdict.names(Cause::Interrupted);
                let there = report.datasets[0].points.iter().find(|p| p.id == point.id);
                let there = there.expect("a point with the same number");
                assert_eq!(there.coordinates, point.coordinates, "{killed}");
                assert!(!is_whole || there.outcome == point.outcome, "{killed}");
            }
            let drafted = before.report.plan.phases.len();
            assert_eq!(report.plan.phases[..drafted], before.report.plan.phases[..]);
            assert_eq!(report.plan.phases.len(), 2, "{killed}");
            // The continuation is killed too.
            let half = &notes.journal()[..notes.journal().len() / 2];
            let again = lab::continued(&on, requested(&on, rebuilds), half).report;
            assert_eq!(again.status, RunStatus::Complete, "{killed}");
            assert_eq!(again.plan.phases[..drafted], before.report.plan.phases[..]);
            assert!(again.findings.iter().any(|f| f.kind == "resumed"));
        }
    }
}

#[test]
fn a_phase_that_cannot_be_drafted_again_is_refused_or_keeps_its_points() {
    let on = machines::plain();
    let whole = run(&on, requested(&on, true));
    let machine = on.machine(lab::SEED);
    let plan = || memgauge::plan::make(requested(&on, true), &mut on.machine(lab::SEED));
    // The record has a number that no point of the report has.
    let mut broken = whole.report.clone();
    broken.plan.phases[0].points[0] += 100;
    let refused = plan().expect("a plan").continue_from(&broken, &machine);
    assert!(refused.is_err());
    // The point has coordinates that the experiment no longer drafts. It keeps its outcome.
    let mut moved = whole.report.clone();
    let id = moved.plan.phases[0].points[0];
    let point = moved.datasets[0].points.iter_mut().find(|p| p.id == id);
    let point = point.expect("a point of the follow-up");
    let at = Coordinate::Number(48 << 10);
    point.coordinates.insert("size_bytes".to_owned(), at);
    let point = point.clone();
    let mut plan = plan().expect("a plan");
    plan.continue_from(&moved, &machine)
        .expect("the same numbers");
    assert!(plan.points[id as usize].is_at(&point, 0));
    assert_eq!(plan.points[id as usize].work, Err(point.outcome));
}

#[test]
fn follow_ups_that_time_does_not_allow_are_left_out_and_said() {
    let on = machines::plain();
    // Samples are as short as possible. Points that still do not fit are left out, points with most
    // memory first.
    let shortest = Sampling {
        length: Nanos(0.2e6),
        ..lab::sampling()
    };
    let fixed = |budget| Request {
        budget,
        sampling: shortest,
        samples_fixed: true,
        ..requested(&on, true)
    };
    let whole = lab::plan(&on, fixed(Nanos(60e9))).expect("a plan").estimate;
    let ran = run(&on, fixed(whole * 0.7));
    assert!(
        ran.report
            .plan
            .shortened
            .iter()
            .any(|said| said.contains("left out")),
        "{:?}",
        ran.report.plan
    );
    assert!(ran.points().count() < 6);
    assert!(
        ran.points()
            .all(|p| !matches!(p.outcome, Outcome::Interrupted { .. }))
    );
}
