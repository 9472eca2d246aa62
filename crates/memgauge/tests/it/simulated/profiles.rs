//! Tests the built-in profiles on machines of every shape.

use super::lab::{self, sampling};
use super::machines::{self, Shape, Simulated};
use engine::Sampling;
use experiments::{Detail, EXPERIMENTS};
use memgauge::plan::Request;
use report::Outcome;
use std::collections::BTreeSet;
use units::Nanos;

/// The profiles as `memgauge run` sets them up: detail, budget in ns, samples of a round, rounds.
const PROFILES: [(Detail, f64, u32, u32); 3] = [
    (Detail::Brief, 15e9, 6, 10),
    (Detail::Levels, 60e9, 8, 20),
    (Detail::Sweep, 600e9, 12, 20),
];

fn built_in(on: &Simulated, profile: (Detail, f64, u32, u32)) -> Request {
    let (detail, budget, per_round, rounds) = profile;
    let rows = EXPERIMENTS
        .iter()
        .filter(|row| row.least.is_some_and(|least| least <= detail));
    let sampling = Sampling {
        per_round,
        rounds,
        in_memory: 4.0,
        ..sampling()
    };
    let experiments = rows.map(|row| (row.in_profile)(detail)).collect();
    Request {
        budget: Nanos(budget),
        sampling,
        max_points: 2000,
        ..lab::request(experiments, on)
    }
}

/// Largest number of points of a profile on any machine. It is well below the limit of `run`.
const MAX_POINTS: usize = 1600;

#[test]
fn every_profile_runs_as_it_is_on_machines_of_every_shape() {
    for cpus in [1, 2, 3, 8, 64, 192, 384, 1024] {
        for nodes in [1, 2, 4, 16] {
            // Each grouping of CPUs occurs with each number of CPUs.
            let (per_core, clusters) = if (nodes == 1 || nodes == 4) == (cpus % 3 == 2) {
                (1, 1)
            } else {
                (2, 4)
            };
            assert_runs(Shape {
                cpus,
                per_core,
                clusters,
                nodes,
            });
        }
    }
}

fn assert_runs(shape: Shape) {
    let on = machines::shaped(shape);
    for profile in PROFILES {
        let name = format!("{shape:?} {:?}", profile.0);
        let plan = lab::plan(&on, built_in(&on, profile))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(
            plan.points.len() <= MAX_POINTS,
            "{name}: {} points",
            plan.points.len()
        );
        assert!(
            plan.estimate <= plan.request.budget * 1.000_001,
            "{name}: {}",
            plan.estimate
        );
        let no_time = |outcome: &Outcome| {
            outcome
                .reason()
                .is_some_and(|reason| reason.contains("--budget"))
        };
        let left_out = plan
            .points
            .iter()
            .filter(|point| point.work.as_ref().is_err_and(no_time))
            .count();
        assert_eq!(left_out, 0, "{name}: {:?}", plan.shortened);
        assert!(
            plan.sampling.rounds >= 10 && plan.sampling.per_round >= 4,
            "{name}: {:?}",
            plan.shortened
        );
    }
}

#[test]
fn the_full_profile_shows_the_ends_and_every_kind_of_a_large_machine() {
    let on = machines::shaped(Shape {
        cpus: 1024,
        per_core: 2,
        clusters: 64,
        nodes: 16,
    });
    let plan = lab::plan(&on, built_in(&on, PROFILES[2])).unwrap();
    let names: Vec<&str> = plan.request.experiments.iter().map(|e| e.name()).collect();
    let values = |experiment: &str, axis: &str| -> BTreeSet<String> {
        let planned = plan
            .points
            .iter()
            .filter(|p| names[p.experiment] == experiment && p.work.is_ok());
        planned
            .filter_map(|p| p.coordinates.get(axis))
            .map(ToString::to_string)
            .collect()
    };
    assert!(
        values("scaling", "threads").is_superset(&["1", "512", "1024"].map(String::from).into())
    );
    assert_eq!(
        values("core-to-core", "relation").len(),
        3,
        "{:?}",
        values("core-to-core", "relation")
    );
    assert_eq!(values("numa", "distance").len(), 4);
    let local = plan.points.iter().filter(|p| {
        let node = |axis: &str| p.coordinates.get(axis).map(ToString::to_string);
        names[p.experiment] == "numa-latency" && node("cpu_node") == node("memory_node")
    });
    assert_eq!(local.count(), 16, "every node's own memory");
}

#[test]
fn the_number_of_points_that_a_refusal_advises_is_enough() {
    let on = machines::shaped(Shape {
        cpus: 64,
        per_core: 2,
        clusters: 4,
        nodes: 2,
    });
    let sizes = "--sizes 4KiB..1MiB:4KiB --threads 1,2";
    let requests: [fn(&Simulated, &str) -> Request; 4] = [
        |on, _| Request {
            max_points: 10,
            ..built_in(on, PROFILES[2])
        },
        |on, _| Request {
            max_points: 30,
            repeat: 3,
            ..built_in(on, PROFILES[1])
        },
        |on, _| Request {
            repeat: 7,
            max_points: 1000,
            ..lab::request(vec![lab::latency("--sizes 4KiB..1MiB:4KiB")], on)
        },
        |on, sizes| lab::request(vec![lab::bandwidth(sizes)], on),
    ];
    for request in requests {
        let refusal = lab::plan(&on, request(&on, sizes))
            .err()
            .expect("too many")
            .to_string();
        let advised = refusal
            .split("--max-points ")
            .nth(1)
            .unwrap_or_else(|| panic!("{refusal}"));
        let max_points = advised.parse().unwrap_or_else(|_| panic!("{refusal}"));
        let plan = lab::plan(
            &on,
            Request {
                max_points,
                ..request(&on, sizes)
            },
        );
        assert!(
            plan.is_ok(),
            "{refusal}, then {}",
            plan.err().map(|e| e.to_string()).unwrap_or_default()
        );
    }
    // A random choice of pairs stays within the limit, even if it is repeated.
    let repeated = Request {
        repeat: 10,
        ..lab::request(vec![lab::core_to_core("")], &on)
    };
    assert!(lab::plan(&on, repeated).unwrap().points.len() <= 1000);
}
