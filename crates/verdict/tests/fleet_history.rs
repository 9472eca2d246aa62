//! Simulated histories of fleets whose changes are known.

mod noise;

use memgauge_verdict::{
    FleetCollection, FleetSettings, FleetVerdict, HistoryState, MAX_HISTORY, NodeState,
    NodeVerdict, judge_fleet_since,
};
use noise::{noise, normal};
use report::{Coordinate, Coordinates, NodeHardware, NodeReport, NodeValue, VerdictGrade};
use stats::SplitMix64;
use std::collections::BTreeMap;
use units::Bytes;

/// Number of quantities of a machine. The first [`OF_MEMORY`] depend on its memory, the others on
/// its cores.
const QUANTITIES: usize = 20;
const OF_MEMORY: usize = 8;

/// Share of machines that became slower, and of machines that always were slow.
const SLOWER: f64 = 0.005;
const ALWAYS_SLOW: f64 = 0.01;

/// Share of noisy machines, and the factor by which their noise is larger.
const NOISY: f64 = 0.02;
const NOISE: f64 = 4.0;

/// Machines get another kernel if the number of their group, modulo 4, is this number.
const UPDATED: usize = 1;

/// Effect of the other kernel on the first [`OF_UPDATE`] quantities, as a logarithm.
const UPDATE: f64 = -0.09;
const OF_UPDATE: usize = 5;

/// Number of reports of a machine, and number of reports before the requested moment.
#[derive(Debug, Clone, Copy)]
struct Dates {
    reports: usize,
    before: usize,
}

impl Dates {
    /// Start of the session with this number.
    fn start(self, report: usize) -> String {
        format!(
            "2026-{:02}-{:02}T06:00:00Z",
            1 + report / 28,
            1 + report % 28
        )
    }
}

/// The simulated history of a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Truth {
    /// The memory or the cores of the machine are slower by the share `by` from the report `from`
    /// on.
    Slower { by: f64, from: usize },
    /// The memory or the cores of the machine are slow in all reports.
    AlwaysSlow,
    /// The memory or the cores of the machine are slow since a report before the requested moment.
    SlowerBefore,
    /// The machine did not change, except for an update of its group.
    Steady,
}

/// A fleet, and the simulated history of each machine by name.
struct Simulated {
    fleet: FleetCollection,
    truth: BTreeMap<String, Truth>,
}

fn coordinates(quantity: usize) -> Coordinates {
    Coordinates::from([
        ("kernel".to_owned(), Coordinate::Name("any".to_owned())),
        ("threads".to_owned(), Coordinate::Number(quantity as u64)),
    ])
}

/// A report with these speeds, as logarithms.
fn report(host: &str, started: String, cpus: u64, kernel: &str, speeds: &[f64]) -> NodeReport {
    let values = speeds.iter().enumerate().map(|(quantity, speed)| {
        let higher_is_better = quantity % 4 != 0;
        NodeValue {
            experiment: "simulated".to_owned(),
            quantity: "speed".to_owned(),
            unit: "1/s".to_owned(),
            higher_is_better,
            coordinates: coordinates(quantity),
            median: if higher_is_better { *speed } else { -*speed }.exp(),
            spread: Some(0.01),
            grade: VerdictGrade::Solid,
        }
    });
    NodeReport {
        host: Some(host.to_owned()),
        started,
        hardware: NodeHardware {
            model: Some("model".to_owned()),
            cpus,
            memory: Some(Bytes::gib(256)),
            machine: "native".to_owned(),
            ..NodeHardware::default()
        },
        settings: vec![("kernel", kernel.to_owned())],
        values: values.collect(),
        rejected: 0,
    }
}

/// Simulates a fleet of `nodes` machines in `groups` groups. If `with_changes` is false, the fleet
/// has neither faults nor updates.
fn simulate(nodes: usize, groups: usize, dates: Dates, with_changes: bool, seed: u64) -> Simulated {
    let mut random = SplitMix64::new(seed);
    let mut fleet = FleetCollection::with_history(&dates.start(dates.before));
    let mut truth = BTreeMap::new();
    for node in 0..nodes {
        let group = node % groups;
        let name = format!("g{group}n{node}");
        let state = match random.fraction() {
            _ if !with_changes => Truth::Steady,
            x if x < SLOWER => Truth::Slower {
                by: 0.05 + 0.25 * random.fraction(),
                from: dates.before + random.below((dates.reports - dates.before) as u64) as usize,
            },
            x if x < SLOWER + ALWAYS_SLOW => Truth::AlwaysSlow,
            x if x < SLOWER + 2.0 * ALWAYS_SLOW => Truth::SlowerBefore,
            _ => Truth::Steady,
        };
        let is_noisy = random.fraction() < NOISY;
        let is_memory = random.below(2) == 0;
        // An update of a group reaches its machines on three different days.
        let update = dates.before + 3 + random.below(3) as usize;
        let own: Vec<f64> = (0..QUANTITIES)
            .map(|_| 0.005 * normal(&mut random))
            .collect();
        for number in 0..dates.reports {
            let is_updated = with_changes && group % 4 == UPDATED && number >= update;
            let common = 0.003 * normal(&mut random);
            let speeds: Vec<f64> = (0..QUANTITIES)
                .map(|quantity| {
                    let sigma = 0.003 + 0.005 * (quantity % 7) as f64 / 6.0;
                    let scale = sigma * if is_noisy { NOISE } else { 1.0 };
                    let fault = match state {
                        _ if is_memory != (quantity < OF_MEMORY) => 0.0,
                        Truth::Slower { by, from } if number >= from => (1.0 - by).ln(),
                        Truth::AlwaysSlow => -0.15,
                        Truth::SlowerBefore if number >= dates.before / 2 => -0.15,
                        _ => 0.0,
                    };
                    let update = if is_updated && quantity < OF_UPDATE {
                        UPDATE
                    } else {
                        0.0
                    };
                    let base = (1 + quantity + group) as f64;
                    base.ln() + own[quantity] + common + scale * noise(&mut random) + fault + update
                })
                .collect();
            let kernel = if is_updated { "6.12" } else { "6.1" };
            let report = report(
                &name,
                dates.start(number),
                64 + group as u64,
                kernel,
                &speeds,
            );
            fleet
                .add(report, format!("{name}-{number}"))
                .expect("a report");
        }
        truth.insert(name, state);
    }
    Simulated { fleet, truth }
}

fn judged(fleet: FleetCollection, since: &str) -> FleetVerdict {
    let (fleet, left_out) = fleet.finish();
    assert!(left_out.is_empty());
    judge_fleet_since(&fleet, left_out, &FleetSettings::default(), None, since)
}

fn state(node: &NodeVerdict) -> HistoryState {
    node.history.as_ref().expect("a history").state
}

/// Numbers of machines by simulated history and verdict.
#[derive(Debug, Default)]
struct Score {
    others: usize,
    others_slower: usize,
    small: usize,
    small_found: usize,
    large: usize,
    large_found: usize,
    /// Number of changes whose first report the verdict names exactly.
    dated: usize,
}

/// Simulates a fleet with changes, and checks the promises of docs/method/history.md.
fn hold(nodes: usize, groups: usize, dates: Dates, seed: u64) -> Score {
    let simulated = simulate(nodes, groups, dates, true, seed);
    let verdict = judged(simulated.fleet, &dates.start(dates.before));
    let mut score = Score::default();
    for node in &verdict.nodes {
        let is_slower = usize::from(state(node) == HistoryState::Slower);
        match simulated.truth[&node.node] {
            Truth::Slower { by, from } => {
                let change = node.history.as_ref().and_then(|own| own.change.as_ref());
                let at = change.map(|change| &change.first_after);
                let is_dated = at == Some(&dates.start(from));
                score.dated += usize::from(is_dated);
                // An update within a day of the fault changes the date that the verdict names.
                assert!(
                    is_dated || by < 0.08 || node.node.starts_with("g1n"),
                    "{by} {from} {node:?}"
                );
                if by < 0.08 {
                    score.small += 1;
                    score.small_found += is_slower;
                } else {
                    score.large += 1;
                    score.large_found += is_slower;
                    assert!(is_slower == 1, "{by} {from} {node:?}");
                }
            }
            truth => {
                score.others += 1;
                score.others_slower += is_slower;
                if truth == Truth::AlwaysSlow {
                    assert_eq!(node.state, NodeState::Slow, "{node:?}");
                }
            }
        }
    }
    assert_eq!(score.large_found, score.large, "{score:?}");
    assert!(
        score.others_slower as f64 <= 0.001 * score.others as f64,
        "{score:?}"
    );
    let updates = verdict
        .findings
        .iter()
        .filter(|one| one.kind == "fleet-change");
    let updates: Vec<&str> = updates.map(|one| one.text.as_str()).collect();
    assert_eq!(updates.len(), (groups + 2) / 4, "{updates:?}");
    for text in updates {
        assert!(text.contains("kernel from 6.1 to 6.12"), "{text}");
    }
    score
}

/// Number of fleets without changes in which a machine is called slower.
fn false_verdicts(fleets: u64, nodes: usize, groups: usize, dates: Dates) -> u64 {
    let found = (0..fleets).map(|seed| {
        let simulated = simulate(nodes, groups, dates, false, 1000 + seed);
        let verdict = judged(simulated.fleet, &dates.start(dates.before));
        let slower = verdict
            .history
            .expect("a history")
            .count(HistoryState::Slower);
        u64::from(slower > 0)
    });
    found.sum()
}

const TWENTY: Dates = Dates {
    reports: 20,
    before: 12,
};

#[test]
fn machines_that_became_slower_are_found_with_their_date() {
    hold(2_000, 5, TWENTY, 1);
}

#[test]
fn a_fleet_without_changes_has_no_slower_machine() {
    assert_eq!(false_verdicts(5, 200, 4, TWENTY), 0);
}

/// Reports of a group of machines. `speeds` returns the logarithm of a speed for the numbers of
/// machine, report and quantity. Quantities have noise of 0.5%.
fn group(
    machines: usize,
    dates: Dates,
    speeds: impl Fn(usize, usize, usize) -> f64,
) -> FleetCollection {
    let mut random = SplitMix64::new(7);
    let mut fleet = FleetCollection::with_history(&dates.start(dates.before));
    for machine in 0..machines {
        for number in 0..dates.reports {
            let speeds: Vec<f64> = (0..QUANTITIES)
                .map(|quantity| 0.005 * normal(&mut random) + speeds(machine, number, quantity))
                .collect();
            let name = format!("m{machine}");
            let report = report(&name, dates.start(number), 8, "6.1", &speeds);
            fleet
                .add(report, format!("{name}-{number}"))
                .expect("a report");
        }
    }
    fleet
}

/// Names of the machines in a state.
fn in_state(verdict: &FleetVerdict, wanted: HistoryState) -> Vec<&str> {
    let nodes = verdict.nodes.iter().filter(|node| state(node) == wanted);
    let mut names: Vec<&str> = nodes.map(|node| node.node.as_str()).collect();
    names.sort_unstable();
    names
}

fn judged_group(
    machines: usize,
    dates: Dates,
    speeds: impl Fn(usize, usize, usize) -> f64,
) -> FleetVerdict {
    judged(group(machines, dates, speeds), &dates.start(dates.before))
}

#[test]
fn a_machine_without_peers_is_judged_by_its_own_history() {
    let verdict = judged_group(1, TWENTY, |_, number, quantity| {
        if number == 19 && quantity < OF_MEMORY {
            -0.1
        } else {
            0.0
        }
    });
    assert_eq!(
        in_state(&verdict, HistoryState::Slower),
        ["m0"],
        "{verdict:?}"
    );
    let history = verdict.nodes[0].history.clone().expect("a history");
    let change = history.change.expect("a change");
    assert_eq!(verdict.nodes[0].state, NodeState::Inconclusive);
    assert_eq!(change.last_before, TWENTY.start(18));
    assert_eq!(change.first_after, TWENTY.start(19));
    assert_eq!((change.reports_before, change.reports_after), (12, 1));
    assert_eq!(change.quantities, OF_MEMORY);
    let (_, quantity) = &verdict.quantities[change.quantity];
    let slowdown = if quantity.higher_is_better {
        change.ratio.ln()
    } else {
        -change.ratio.ln()
    };
    assert!((slowdown + 0.1).abs() < 0.02, "{change:?}");
    let steady = judged_group(1, TWENTY, |_, _, _| 0.0);
    assert_eq!(in_state(&steady, HistoryState::NotSlower), ["m0"]);
}

#[test]
fn one_quantity_needs_a_second_report() {
    let slower = |reports: usize| {
        judged_group(8, TWENTY, move |machine, number, quantity| {
            let is_faulty = machine == 3 && quantity == 5 && number >= 20 - reports;
            if is_faulty { -0.06 } else { 0.0 }
        })
    };
    // The value is far from its peers, but less than twice the threshold. One report is not enough.
    let once = slower(1);
    assert_eq!(in_state(&once, HistoryState::Slower), [""; 0], "{once:?}");
    assert_eq!(in_state(&slower(2), HistoryState::Slower), ["m3"]);
}

#[test]
fn a_machine_that_recovered_or_changed_before_is_not_slower() {
    let verdict = judged_group(8, TWENTY, |machine, number, _| match machine {
        1 if (14..17).contains(&number) => -0.2,
        2 if number >= 5 => -0.2,
        3 if number < 5 => -0.2,
        // The machine changed shortly before the requested moment. Its history since that change is
        // too short.
        4 if number >= 10 => -0.2,
        _ => 0.0,
    });
    assert_eq!(
        in_state(&verdict, HistoryState::Slower),
        [""; 0],
        "{verdict:?}"
    );
    assert_eq!(in_state(&verdict, HistoryState::ShortHistory), ["m4"]);
    // Each machine has two changes, one of them before the requested moment. Only the later change
    // counts, whether it is the larger one or not.
    let later = |machine: usize, number: usize, _: usize| match machine {
        2 if number >= 13 => -0.4,
        2 if number >= 5 => -0.3,
        3 if number >= 13 => -0.7,
        3 if number >= 5 => -0.1,
        _ => 0.0,
    };
    let verdict = judged_group(16, TWENTY, later);
    assert_eq!(in_state(&verdict, HistoryState::Slower), ["m2", "m3"]);
    for node in verdict
        .nodes
        .iter()
        .filter(|node| state(node) == HistoryState::Slower)
    {
        let change = node.history.as_ref().and_then(|own| own.change.as_ref());
        let change = change.expect("a change");
        let reports = (change.reports_before, change.reports_after);
        assert_eq!(reports, (7, 7), "{node:?}");
    }
}

#[test]
fn a_machine_whose_quantities_changed_has_no_history() {
    let mut fleet = FleetCollection::with_history(&TWENTY.start(12));
    for number in 0..20 {
        let mut report = report("one", TWENTY.start(number), 8, "6.1", &[0.0; 4]);
        if number >= 12 {
            report
                .values
                .iter_mut()
                .for_each(|value| value.experiment = "other".to_owned());
        }
        fleet
            .add(report, format!("one-{number}"))
            .expect("a report");
    }
    let verdict = judged(fleet, &TWENTY.start(12));
    assert_eq!(in_state(&verdict, HistoryState::ShortHistory), ["one"]);
}

#[test]
fn a_common_change_is_one_finding_and_machines_are_judged_relative_to_it() {
    let verdict = judged_group(30, TWENTY, |machine, number, _| {
        let common = if number >= 15 { -0.1 } else { 0.0 };
        common
            + if machine == 4 && number >= 18 {
                -0.1
            } else {
                0.0
            }
    });
    assert_eq!(in_state(&verdict, HistoryState::Slower), ["m4"]);
    let findings = verdict
        .findings
        .iter()
        .filter(|one| one.kind == "fleet-change");
    let texts: Vec<&str> = findings.map(|one| one.text.as_str()).collect();
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(
        texts[0].contains("no known setting") && texts[0].contains("2026-01-16"),
        "{texts:?}"
    );
    // Many machines became slower, but not most. Each of them is therefore slower than its peers.
    let many = judged_group(30, TWENTY, |machine, number, _| {
        if machine % 3 == 0 && number >= 15 {
            -0.1
        } else {
            0.0
        }
    });
    assert_eq!(in_state(&many, HistoryState::Slower).len(), 10);
}

#[test]
fn changed_hardware_is_told_and_the_history_goes_on() {
    let dates = TWENTY;
    let mut fleet = group(8, dates, |_, _, _| 0.0);
    for number in 0..dates.reports {
        let has_lost = number >= 16;
        let speed = if has_lost { -0.2 } else { 0.0 };
        let mut report = report("lost", dates.start(number), 8, "6.1", &[speed; QUANTITIES]);
        if has_lost {
            report.hardware.memory = Some(Bytes::gib(192));
            // The signature was unknown before, so it did not change.
            report.hardware.signature = Some("25/97/2".to_owned());
        }
        fleet
            .add(report, format!("lost-{number}"))
            .expect("a report");
    }
    // Two machines have one name, so that the hardware under this name alternates.
    for number in 0..dates.reports {
        let cpus = 100 + (number % 2) as u64;
        let report = report(
            "twins",
            dates.start(number),
            cpus,
            "6.1",
            &[0.0; QUANTITIES],
        );
        fleet
            .add(report, format!("twins-{number}"))
            .expect("a report");
    }
    let verdict = judged(fleet, &dates.start(dates.before));
    assert_eq!(verdict.nodes.len(), 8 + 1 + 2);
    assert_eq!(in_state(&verdict, HistoryState::Slower), ["lost"]);
    let lost = verdict
        .nodes
        .iter()
        .find(|node| node.node == "lost")
        .expect("lost");
    let hardware = &lost.history.as_ref().expect("a history").hardware;
    assert!(
        hardware.contains("memory from 256 GiB to 192 GiB"),
        "{hardware}"
    );
    assert!(
        hardware.contains("2026-01-16") && hardware.contains("2026-01-17"),
        "{hardware}"
    );
    assert!(!hardware.contains("stepping"), "{hardware}");
    let findings = verdict
        .findings
        .iter()
        .filter(|one| one.kind == "fleet-hardware");
    assert_eq!(findings.count(), 1);
}

#[test]
fn machines_without_enough_reports_are_counted() {
    let dates = Dates {
        reports: 6,
        before: 2,
    };
    let verdict = judged_group(6, dates, |_, number, _| if number > 3 { -0.3 } else { 0.0 });
    let history = verdict.history.expect("a history");
    assert_eq!((history.judged, history.nodes), (0, [0, 0, 6, 0]));
    let none = Dates {
        reports: 4,
        before: 4,
    };
    let verdict = judged_group(6, none, |_, _, _| 0.0);
    assert_eq!(verdict.history.expect("a history").nodes, [0, 0, 0, 6]);
}

#[test]
fn histories_have_an_end_whatever_the_order_of_reading() {
    let dates = Dates {
        reports: 300,
        before: 200,
    };
    let add = |numbers: &mut dyn Iterator<Item = usize>| {
        let mut fleet = FleetCollection::with_history(&dates.start(dates.before));
        for number in numbers {
            let report = report("one", dates.start(number), 8, "6.1", &[0.0; QUANTITIES]);
            fleet
                .add(report, format!("one-{number}"))
                .expect("a report");
        }
        fleet
    };
    let whole = add(&mut (0..300)).finish();
    let mut parts = add(&mut (0..300).filter(|number| number % 2 == 1));
    parts.merge(add(&mut (0..300).rev().filter(|number| number % 2 == 0)));
    assert_eq!(parts.finish(), whole);
    let since = dates.start(dates.before);
    let verdict = judge_fleet_since(&whole.0, whole.1, &FleetSettings::default(), None, &since);
    let history = verdict.nodes[0].history.as_ref().expect("a history");
    assert_eq!(history.reports, 2 * MAX_HISTORY);
    assert_eq!(verdict.older, 300 - 2 * MAX_HISTORY as u64);
}

#[test]
#[ignore = "takes minutes"]
fn renew_the_verdicts_on_a_hundred_histories() {
    for (seed, dates) in [TWENTY; 20].into_iter().enumerate() {
        println!("{:?}", hold(2_000, 5, dates, 10 + seed as u64));
    }
    for (nodes, groups, dates) in [
        (200, 4, TWENTY),
        (
            200,
            4,
            Dates {
                reports: 6,
                before: 4,
            },
        ),
        (1, 1, TWENTY),
        (
            3,
            1,
            Dates {
                reports: 5,
                before: 4,
            },
        ),
    ] {
        let found = false_verdicts(100, nodes, groups, dates);
        println!(
            "{found} of 100 fleets of {nodes} without changes have a slower machine: {dates:?}"
        );
        assert!(found <= 5, "{found}");
    }
}
