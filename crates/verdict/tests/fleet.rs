//! Simulated fleets whose faults are known.

mod noise;

use memgauge_verdict::{FleetCollection, FleetSettings, FleetVerdict, NodeState, judge_fleet};
use noise::{noise, normal};
use report::{Coordinate, Coordinates, NodeHardware, NodeReport, NodeValue, VerdictGrade};
use stats::SplitMix64;
use std::collections::BTreeMap;
use units::Bytes;

/// Number of quantities of a machine. The first [`OF_MEMORY`] depend on its memory, the others on
/// its cores.
const QUANTITIES: usize = 20;
const OF_MEMORY: usize = 8;

/// Share of slow machines in a fleet with faults.
const SLOW: f64 = 0.005;

/// Share of noisy machines, and the factor by which their noise is larger.
const NOISY: f64 = 0.02;
const NOISE: f64 = 4.0;

/// Number of machines in a group that is too small to be judged.
const SMALL_GROUP: usize = 3;

/// The simulated state of a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Truth {
    /// The memory or the cores of the machine are slower by this share.
    Slow(f64),
    /// All quantities of the machine are faster.
    Fast,
    /// The group of the machine is too small to be judged.
    Lonely,
    /// The machine has no fault.
    Sound,
}

/// A fleet, and the simulated state of each machine by name.
struct Simulated {
    fleet: FleetCollection,
    truth: BTreeMap<String, Truth>,
}

fn coordinates(quantity: usize) -> Coordinates {
    let level = if quantity < OF_MEMORY { "DRAM" } else { "L2" };
    Coordinates::from([
        ("level".to_owned(), Coordinate::Name(level.to_owned())),
        ("kernel".to_owned(), Coordinate::Name("any".to_owned())),
        ("threads".to_owned(), Coordinate::Number(quantity as u64)),
    ])
}

/// A fleet of about `nodes` machines in `groups` groups.
fn simulate(nodes: usize, groups: usize, with_faults: bool, seed: u64) -> Simulated {
    let mut random = SplitMix64::new(seed);
    let mut fleet = FleetCollection::default();
    let mut truth = BTreeMap::new();
    let fast_node = nodes / groups / 2;
    for group in 0..groups {
        let is_small = with_faults && group == groups - 1;
        // The sizes of groups differ by up to a factor of three.
        let usual = nodes / groups;
        let size = if is_small {
            SMALL_GROUP
        } else {
            usual / 2 + usual * (group % 3) / 2
        };
        let sigma: Vec<f64> = (0..QUANTITIES)
            .map(|_| 0.003 + 0.005 * random.fraction())
            .collect();
        let firmware_matters = with_faults && group % 6 == 1;
        let share_of_firmware = 0.1 + 0.3 * random.fraction();
        for node in 0..size {
            let name = format!("g{group}n{node}");
            let state = match random.fraction() {
                _ if is_small => Truth::Lonely,
                _ if with_faults && group == 0 && node == fast_node => Truth::Fast,
                x if with_faults && x < SLOW => Truth::Slow(0.05 + 0.25 * random.fraction()),
                _ => Truth::Sound,
            };
            let is_noisy = random.fraction() < NOISY;
            let is_memory = random.below(2) == 0;
            let has_other_firmware = random.fraction() < share_of_firmware;
            let common = 0.003 * normal(&mut random);
            let values = (0..QUANTITIES).map(|quantity| {
                let higher_is_better = quantity % 4 != 0;
                let scale = sigma[quantity] * if is_noisy { NOISE } else { 1.0 };
                let mut speed = common + scale * noise(&mut random);
                if firmware_matters && has_other_firmware && quantity < 5 {
                    speed -= 0.08;
                }
                match state {
                    Truth::Slow(by) if is_memory == (quantity < OF_MEMORY) => {
                        speed += (1.0 - by).ln();
                    }
                    Truth::Fast => speed += 0.15,
                    _ => {}
                }
                let base = (1 + quantity + group) as f64;
                let grade = if is_noisy && random.below(2) == 0 {
                    VerdictGrade::Doubtful
                } else {
                    VerdictGrade::Solid
                };
                NodeValue {
                    experiment: "simulated".to_owned(),
                    quantity: "speed".to_owned(),
                    unit: "1/s".to_owned(),
                    higher_is_better,
                    coordinates: coordinates(quantity),
                    median: base * if higher_is_better { speed } else { -speed }.exp(),
                    // Half of a 95% interval.
                    spread: Some(1.96 * scale),
                    grade,
                }
            });
            let firmware = if has_other_firmware { "1.2" } else { "1.1" };
            let report = NodeReport {
                host: Some(name.clone()),
                started: "2026-01-01T00:00:00Z".to_owned(),
                hardware: NodeHardware {
                    model: Some(format!("model {group}")),
                    cpus: 64,
                    memory: Some(Bytes::gib(256)),
                    machine: "native".to_owned(),
                    ..NodeHardware::default()
                },
                settings: vec![
                    ("firmware", firmware.to_owned()),
                    ("kernel", format!("6.{}", node % 3)),
                ],
                values: values.collect(),
                rejected: 0,
            };
            fleet.add(report, name.clone()).expect("a report");
            truth.insert(name, state);
        }
    }
    Simulated { fleet, truth }
}

/// Numbers of machines by simulated state and verdict.
#[derive(Debug, Default)]
struct Score {
    sound: usize,
    sound_slow: usize,
    sound_healthy: usize,
    small_faults: usize,
    small_faults_found: usize,
    large_faults: usize,
    large_faults_found: usize,
}

fn judged(simulated: Simulated) -> (FleetVerdict, BTreeMap<String, Truth>) {
    let (fleet, left_out) = simulated.fleet.finish();
    assert!(left_out.is_empty());
    let verdict = judge_fleet(&fleet, left_out, &FleetSettings::default(), None);
    (verdict, simulated.truth)
}

fn score(verdict: &FleetVerdict, truth: &BTreeMap<String, Truth>) -> Score {
    let mut score = Score::default();
    for node in &verdict.nodes {
        let is_slow = usize::from(node.state == NodeState::Slow);
        match truth[&node.node] {
            Truth::Slow(by) if by < 0.08 => {
                score.small_faults += 1;
                score.small_faults_found += is_slow;
            }
            Truth::Slow(by) => {
                score.large_faults += 1;
                score.large_faults_found += is_slow;
                assert!(is_slow == 1, "{by} {node:?}");
            }
            Truth::Fast => assert_eq!(node.state, NodeState::Unusual, "{node:?}"),
            Truth::Lonely => assert_eq!(node.state, NodeState::Inconclusive, "{node:?}"),
            Truth::Sound => {
                score.sound += 1;
                score.sound_slow += is_slow;
                score.sound_healthy += usize::from(node.state == NodeState::Healthy);
            }
        }
    }
    score
}

/// Simulates one fleet with faults, and checks the promises of docs/method/fleet.md.
fn hold(nodes: usize, groups: usize, seed: u64) -> Score {
    let (verdict, truth) = judged(simulate(nodes, groups, true, seed));
    let score = score(&verdict, &truth);
    assert_eq!(score.large_faults_found, score.large_faults, "{score:?}");
    assert!(
        score.small_faults_found as f64 >= 0.95 * score.small_faults as f64,
        "{score:?}"
    );
    assert!(
        score.sound_slow as f64 <= 0.001 * score.sound as f64,
        "{score:?}"
    );
    assert!(
        score.sound_healthy as f64 >= 0.98 * score.sound as f64,
        "{score:?}"
    );
    let with_firmware = verdict
        .findings
        .iter()
        .filter(|finding| finding.kind == "fleet-setting" && finding.text.contains("firmware"));
    // In every sixth group, from the second one on, the firmware makes machines slower.
    assert_eq!(with_firmware.count(), groups.saturating_sub(2) / 6 + 1);
    assert_eq!(verdict.findings.len(), groups.saturating_sub(2) / 6 + 1);
    score
}

/// Number of fleets without faults in which a machine is called slow.
fn false_verdicts(fleets: u64, nodes: usize, groups: usize) -> u64 {
    let found = (0..fleets).map(|seed| {
        let (verdict, _) = judged(simulate(nodes, groups, false, 1000 + seed));
        u64::from(verdict.tally()[0] > 0)
    });
    found.sum()
}

#[test]
fn slow_machines_of_a_fleet_are_found() {
    hold(5_000, 13, 1);
}

#[test]
fn a_fleet_without_faults_has_no_slow_machine() {
    assert_eq!(false_verdicts(6, 800, 4), 0);
}

/// The state of the one machine with a slow value in a fleet of `machines` machines.
fn state_with_one_slow_value(machines: usize) -> NodeState {
    let mut random = SplitMix64::new(5);
    let mut fleet = FleetCollection::default();
    for node in 0..machines {
        let values = (0..QUANTITIES).map(|quantity| {
            let is_faulty = node == 0 && quantity == 0;
            let speed = 0.005 * normal(&mut random) - if is_faulty { 0.5 } else { 0.0 };
            NodeValue {
                experiment: "simulated".to_owned(),
                quantity: "speed".to_owned(),
                unit: "1/s".to_owned(),
                higher_is_better: true,
                coordinates: coordinates(quantity),
                median: speed.exp(),
                spread: Some(0.01),
                grade: VerdictGrade::Solid,
            }
        });
        let report = NodeReport {
            host: Some(format!("n{node}")),
            started: "2026-01-01T00:00:00Z".to_owned(),
            hardware: NodeHardware::default(),
            settings: Vec::new(),
            values: values.collect(),
            rejected: 0,
        };
        fleet.add(report, format!("n{node}")).expect("a report");
    }
    let settings = FleetSettings::default();
    let verdict = judge_fleet(&fleet.finish().0, Vec::new(), &settings, None);
    let faulty = verdict.nodes.iter().find(|node| node.node == "n0");
    faulty.expect("the machine").state
}

#[test]
fn one_slow_value_is_enough_among_many_machines_only() {
    assert_eq!(state_with_one_slow_value(6), NodeState::Unusual);
    assert_eq!(state_with_one_slow_value(40), NodeState::Slow);
}

/// The groups have 5, 10 and 15 machines.
#[test]
fn small_groups_without_faults_have_no_slow_machine() {
    let found = false_verdicts(100, 60, 6);
    assert!(found <= 5, "{found}");
}

#[test]
#[ignore = "takes minutes"]
fn renew_the_verdicts_on_a_hundred_thousand_machines() {
    println!("{:?}", hold(100_000, 40, 2));
    let found = false_verdicts(100, 5_000, 20);
    println!("{found} of 100 fleets without faults have a slow machine");
    assert!(found <= 5, "{found}");
}
