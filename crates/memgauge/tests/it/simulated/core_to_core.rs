//! Tests the experiment core-to-core on machines whose clusters are known.

use super::lab::{self, Notes, Ran, core_to_core, request, run_with};
use super::machines::{self, Simulated};
use experiments::{Detail, EXPERIMENTS, Experiment};
use kernels::HandOff;
use memgauge::plan::Request;
use render::{Options, by_name};
use report::RunStatus;
use std::collections::BTreeSet;
use units::Nanos;
use units::error::Kind;

fn run(on: &Simulated, options: &str) -> Ran {
    lab::run(on, request(vec![core_to_core(options)], on))
}

/// The experiment as a part of a profile.
fn in_profile(detail: Detail) -> Box<dyn Experiment> {
    let row = EXPERIMENTS
        .iter()
        .find(|row| row.name == "core-to-core")
        .expect("a row");
    (row.in_profile)(detail)
}

/// A machine of eight CPUs. All pairs have the same round trip.
fn flat() -> Simulated {
    let mut on = machines::eight_cores();
    on.model.noise.jitter = 0.05;
    on
}

/// The groups of CPUs in each finding about clusters.
fn groups(ran: &Ran) -> Vec<String> {
    let told = ran
        .report
        .findings
        .iter()
        .filter(|f| f.kind == "clusters")
        .map(|f| f.text.clone());
    let list = |text: String| Some(text.split_once(": ")?.1.split_once(";")?.0.to_owned());
    told.filter_map(list).collect()
}

fn assert_close(value: f64, expected: f64, what: &str) {
    assert!(
        (value / expected - 1.0).abs() < 1e-3,
        "{what}: {value} instead of {expected}"
    );
}

#[test]
fn clusters_of_a_known_machine_are_recovered_exactly() {
    for jitter in [0.0, 0.02] {
        let mut on = machines::two_sockets();
        on.model.noise.jitter = jitter;
        let ran = run(&on, "");
        assert_eq!(ran.points().count(), 16 * 15);
        let cores = "0-1 / 2-3 / 4-5 / 6-7 / 8-9 / 10-11 / 12-13 / 14-15";
        assert_eq!(
            groups(&ran),
            [cores, "0-3 / 4-7 / 8-11 / 12-15", "0-7 / 8-15"],
            "{jitter}"
        );
        assert!(!ran.has_finding("asymmetric"));
    }
}

#[test]
fn a_round_trip_is_told_by_relation_and_one_way_is_half() {
    let ran = run(
        &machines::two_sockets(),
        "--kernel compare-and-swap,store-load",
    );
    for (pair, relation, ns) in [
        ("from=0 to=1", "same-core", 16.0),
        ("from=1 to=0", "same-core", 16.0),
        ("from=0 to=3", "shared-l3", 80.0),
        ("from=0 to=5", "same-package", 200.0),
        ("from=15 to=5", "cross-package", 400.0),
    ] {
        for kernel in ["compare-and-swap", "store-load"] {
            let point = ran.point(&format!("operation={kernel} {pair}"));
            assert_eq!(point.name("relation"), Some(relation));
            assert_eq!(point.name("kernel"), Some(&*format!("hand-off/{kernel}")));
            let measured = lab::measured(point);
            assert_close(measured.summary.median, ns, pair);
            assert_close(measured.also["one_way_ns"], ns / 2.0, pair);
            assert_close(
                measured.also["core_cycles"],
                ns * machines::CORE / 1e9,
                pair,
            );
            assert_eq!(measured.evidence.cpus.len(), 2);
        }
    }
    let told: Vec<&str> = ran
        .report
        .findings
        .iter()
        .filter(|f| f.kind == "core-to-core")
        .map(|f| f.text.as_str())
        .collect();
    assert_eq!(told.len(), 2, "one for each kernel");
    assert!(told[0].contains("same-core 16"), "{told:?}");
    let kernels: BTreeSet<&str> = ran
        .report
        .provenance
        .kernels
        .iter()
        .map(|k| k.name.as_str())
        .collect();
    assert_eq!(
        kernels,
        BTreeSet::from(["hand-off/compare-and-swap", "hand-off/store-load"])
    );
    assert_eq!(ran.plan.memory().0, 0);
}

#[test]
fn clusters_that_the_system_hides_are_found_and_it_is_said_so() {
    let mut on = machines::eight_cores();
    on.model.hand_off.hidden = Some((4, Nanos(35.0)));
    let ran = run(&on, "");
    assert_eq!(groups(&ran), ["0-3 / 4-7"]);
    let finding = ran
        .report
        .findings
        .iter()
        .find(|f| f.kind == "clusters")
        .expect("a finding");
    assert!(
        finding.text.contains("the system calls both shared-l3"),
        "{}",
        finding.text
    );
    assert_close(finding.values["inside_ns"], 35.0, "inside");
    assert_close(finding.values["between_ns"], 80.0, "between");
}

#[test]
fn nothing_is_found_where_nothing_is() {
    for cpus in [2, 3, 8] {
        let mut on = flat();
        on.cpus.truncate(cpus);
        let ran = run(&on, "");
        assert_eq!(ran.points().count(), cpus * (cpus - 1));
        assert!(
            !ran.has_finding("clusters") && !ran.has_finding("asymmetric"),
            "{:?}",
            ran.report.findings
        );
    }
}

#[test]
fn pairs_that_differ_by_who_starts_are_told() {
    let mut on = machines::eight_cores();
    on.model.hand_off.asymmetry = 1.3;
    let ran = run(&on, "");
    assert_eq!(ran.finding("asymmetric", "pairs"), 28.0);
    assert_eq!(ran.finding("asymmetric", "of"), 28.0);
    assert_close(ran.finding("asymmetric", "most_ratio"), 1.3, "ratio");
}

#[test]
fn hundreds_of_cpus_are_planned_within_the_points_and_the_budget() {
    let on = machines::huge_l3();
    for budget in [60e9, 10e9, 5e9] {
        let plan = lab::plan(
            &on,
            Request {
                budget: Nanos(budget),
                ..request(vec![core_to_core("")], &on)
            },
        );
        let plan = plan.expect("a plan");
        assert!(
            plan.points.len() <= 1000 && plan.points.len() >= 998,
            "{}",
            plan.points.len()
        );
        assert!(plan.estimate.0 <= budget, "{} of {budget}", plan.estimate);
        assert!(
            plan.adjusted
                .iter()
                .any(|text| text.contains("of 147072 ordered pairs")),
            "{:?}",
            plan.adjusted
        );
        let kept = plan.points.iter().filter(|p| p.work.is_ok());
        let relations: BTreeSet<String> = kept
            .map(|p| p.coordinates["relation"].to_string())
            .collect();
        let expected = ["same-core", "same-package", "shared-l3"].map(str::to_owned);
        assert_eq!(
            relations,
            BTreeSet::from(expected),
            "every kind of pair is left in {budget}"
        );
        if budget < 10e9 {
            let left_out = plan
                .shortened
                .iter()
                .find(|s| s.contains("left out"))
                .expect("something is left out");
            assert!(
                left_out.contains("left out compare-and-swap from "),
                "{left_out}"
            );
        }
    }
    let more = Request {
        max_points: 3001,
        ..request(vec![core_to_core("")], &on)
    };
    assert_eq!(
        lab::plan(&on, more).expect("a plan").points.len(),
        3000,
        "--max-points allows more"
    );
}

#[test]
fn profiles_take_as_many_pairs_as_they_have_time_for() {
    for (on, detail, points) in [
        (machines::plain(), Detail::Levels, 2),
        (machines::eight_cores(), Detail::Levels, 56),
        (machines::two_sockets(), Detail::Levels, 56),
        (machines::two_sockets(), Detail::Sweep, 240),
        (machines::many_cpus(), Detail::Sweep, 240),
    ] {
        let plan = lab::plan(&on, request(vec![in_profile(detail)], &on)).expect("a plan");
        assert_eq!(plan.points.len(), points, "{}", on.name);
        let all = on.cpus.len() * (on.cpus.len() - 1);
        assert_eq!(
            !plan.adjusted.is_empty(),
            points < all,
            "{}: {:?}",
            on.name,
            plan.adjusted
        );
    }
}

#[test]
fn one_cpu_has_nobody_to_hand_over_to() {
    let ran = run(&machines::one_allowed(), "--kernel exchange,store-load");
    assert_eq!(ran.report.status, RunStatus::Complete);
    assert_eq!(ran.points().count(), 0, "there is no pair");
    assert!(
        ran.report
            .findings
            .iter()
            .any(|f| f.text.contains("one cpu (37)")),
        "{:?}",
        ran.report.findings
    );
}

#[test]
fn pairs_are_those_that_are_named() {
    let on = machines::eight_cores();
    let ran = run(&on, "--pairs 1-0,0:2,5:4,0-1 --kernel exchange");
    let pairs: Vec<_> = ran
        .points()
        .map(|p| (p.number("from").unwrap(), p.number("to").unwrap()))
        .collect();
    assert_eq!(pairs, [(0, 1), (0, 2), (1, 0), (5, 4)]);
    for (pairs, says) in [
        (
            "0-8",
            "cpu not available: 8; this session may use 0-7; type --pairs 0-1",
        ),
        ("9:1", "9"),
    ] {
        let error = lab::plan(
            &on,
            request(vec![core_to_core(&format!("--pairs {pairs}"))], &on),
        )
        .err()
        .unwrap();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.to_string().contains(says), "{error}");
    }
    let request = Request {
        max_points: 3,
        ..request(vec![core_to_core("--pairs 0-1,2-3")], &on)
    };
    assert!(
        lab::plan(&on, request)
            .err()
            .unwrap()
            .to_string()
            .contains("too many points")
    );
}

#[test]
fn kernels_named_twice_are_requested_once() {
    let ran = run(&machines::plain(), "--kernel exchange,exchange,store-load");
    assert_eq!(ran.points().count(), 4);
    assert_eq!(HandOff::ALL.len(), 3);
}

#[test]
fn an_interruption_keeps_what_was_measured() {
    let on = machines::eight_cores();
    let ran = run_with(
        &on,
        request(vec![core_to_core("")], &on),
        Notes::default(),
        Some(Nanos(0.5e9)),
    );
    assert_eq!(ran.report.status, RunStatus::Interrupted);
    let measured = ran
        .points()
        .filter(|p| p.outcome.measured().is_some())
        .count();
    assert!(measured > 0 && measured < 56, "{measured}");
}

#[test]
fn a_screen_shows_a_matrix_of_few_and_a_summary_of_many() {
    let table = |ran: &Ran| {
        let bytes = by_name("table")
            .unwrap()
            .render(&ran.report, &Options::default())
            .unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let few = table(&run(&machines::two_sockets(), ""));
    assert!(
        few.contains("from / to") && few.contains("rows from, columns to"),
        "{few}"
    );
    let many = table(&run(&machines::hybrid(), ""));
    assert!(
        !many.contains("from / to") && many.contains("same-core"),
        "{many}"
    );
}
