//! Tests the health of simulated machines whose state is known, with expectations from few peers.

mod noise;

use memgauge_verdict::{Expectations, FirstJudgement, FleetCollection, FleetSettings, judge_fleet};
use noise::{noise, normal};
use report::{HealthState, Report, SC_MEMBENCH_HEADER, node_report, parse_saved};
use stats::SplitMix64;

/// Operations and number of sizes. Each operation with each size is a quantity.
const OPERATIONS: [&str; 3] = ["read", "write", "copy"];
const SIZES: u64 = 12;

/// Number of good machines from which the expectations are learned.
const PEERS: usize = 6;

/// Standard deviation of the logarithm of a speed between machines, and between sessions of a
/// machine.
const SIGMA: f64 = 0.01;

/// Logarithms of the speeds of a machine. The largest `slow` sizes are slower by `by`.
fn machine(slow: u64, by: f64, random: &mut SplitMix64) -> Vec<f64> {
    let quantities = OPERATIONS.iter().flat_map(|_| 0..SIZES);
    quantities
        .map(|size| {
            let fault = if size + slow >= SIZES {
                (1.0 - by).ln()
            } else {
                0.0
            };
            SIGMA * normal(random) + fault
        })
        .collect()
}

/// Simulates a session on a machine with the speeds `machine`.
fn session(machine: &[f64], random: &mut SplitMix64) -> Report {
    let mut text = format!("{SC_MEMBENCH_HEADER}\n");
    let places = OPERATIONS
        .iter()
        .flat_map(|operation| (0..SIZES).map(move |size| (operation, size)));
    for ((operation, size), speed) in places.zip(machine) {
        let rate = 20_000.0 * (speed + SIGMA * noise(random)).exp();
        text += &format!("{},{operation},{rate:.2},0,0,0,1,1,1\n", 1 << size);
    }
    parse_saved(text.as_bytes()).expect("a table").into_report()
}

fn settings() -> FleetSettings {
    FleetSettings {
        false_alarms: 0.05,
        ..FleetSettings::default()
    }
}

/// Expectations of good machines.
fn expectations(random: &mut SplitMix64) -> Expectations {
    let mut fleet = FleetCollection::default();
    for peer in 0..PEERS {
        let machine = machine(0, 0.0, random);
        let report = node_report(&session(&machine, random)).expect("figures");
        fleet.add(report, format!("n{peer}")).expect("a machine");
    }
    judge_fleet(&fleet.finish().0, Vec::new(), &settings(), None).learned
}

/// The state of a machine after one measurement, or after two if a second one is needed.
fn state(machine: &[f64], expected: &Expectations, random: &mut SplitMix64) -> HealthState {
    let first = FirstJudgement::new(&session(machine, random), expected, &settings());
    if first.experiments().is_empty() {
        return first.without_repeat("").state;
    }
    let again = session(machine, random);
    first.with_repeat(&again, expected, &settings()).state
}

#[test]
fn sound_machines_are_not_slow() {
    let mut random = SplitMix64::new(1);
    let mut slow = 0;
    for _ in 0..300 {
        let expected = expectations(&mut random);
        let machine = machine(0, 0.0, &mut random);
        slow += u64::from(state(&machine, &expected, &mut random) == HealthState::Slow);
    }
    assert!(slow <= 3, "{slow}");
}

#[test]
fn slow_machines_are_found() {
    let mut random = SplitMix64::new(2);
    for (sizes, by, least) in [(2, 0.3, 95), (1, 0.2, 90), (SIZES, 0.12, 95)] {
        let mut slow = 0;
        for _ in 0..100 {
            let expected = expectations(&mut random);
            let machine = machine(sizes, by, &mut random);
            slow += u64::from(state(&machine, &expected, &mut random) == HealthState::Slow);
        }
        assert!(slow >= least, "{sizes} {by}: {slow}");
    }
}

#[test]
fn one_slow_figure_alone_is_inconclusive() {
    let mut random = SplitMix64::new(5);
    let expected = expectations(&mut random);
    let mut machine = machine(0, 0.0, &mut random);
    machine[0] -= 0.5;
    let found = state(&machine, &expected, &mut random);
    assert_eq!(found, HealthState::Inconclusive);
}

#[test]
fn a_fault_that_is_over_is_no_slow_machine() {
    let mut random = SplitMix64::new(3);
    let expected = expectations(&mut random);
    let faulty = machine(2, 0.3, &mut random);
    let sound = machine(0, 0.0, &mut random);
    let first = || {
        let session = session(&faulty, &mut SplitMix64::new(4));
        FirstJudgement::new(&session, &expected, &settings())
    };
    assert!(!first().experiments().is_empty());
    let again = session(&sound, &mut random);
    let health = first().with_repeat(&again, &expected, &settings());
    assert_eq!(health.state, HealthState::Healthy);
    assert!(health.slower.iter().all(|figure| figure.again.is_some()));
    let health = first().without_repeat("no time");
    assert_eq!(health.state, HealthState::Inconclusive);
    // A second measurement that lacks the slow figures makes the verdict inconclusive.
    let mut none = session(&sound, &mut random);
    none.datasets[0].points.truncate(3);
    let health = first().with_repeat(&none, &expected, &settings());
    assert_eq!(health.state, HealthState::Inconclusive);
    assert_eq!(
        FirstJudgement::none(&none).without_repeat("").state,
        HealthState::NotJudged
    );
}
