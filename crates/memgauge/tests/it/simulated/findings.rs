//! Tests findings on noisy machines against the properties of the simulated machine.

use super::lab::{self, Notes, bandwidth, loaded_latency, request};
use super::machines::{self, READ, Simulated};
use memgauge::plan::{self, Request};
use memgauge::run::{self, Invocation};
use report::Report;
use simulated::NoiseModel;
use units::Nanos;

/// The report of reads of memory by one and by eight threads, on a machine with noise from `seed`.
fn reads(on: &Simulated, seed: u64) -> Report {
    let experiment = bandwidth("--ops read --sizes 256MiB --threads 1,8");
    let request = Request {
        seed,
        ..request(vec![experiment], on)
    };
    let mut machine = on.machine(seed);
    let started = engine::Machine::now(&machine);
    let plan = plan::make(request, &mut machine).expect("a plan");
    let invocation = Invocation {
        version: "0".to_owned(),
        command_line: Vec::new(),
        launch: None,
        past: None,
    };
    run::execute(
        &plan,
        &mut machine,
        &mut Notes::default(),
        &invocation,
        started,
    )
}

/// Noise of four machines, each with one kind of disturbance.
fn noises() -> [NoiseModel; 4] {
    let quiet = NoiseModel::default();
    [
        NoiseModel {
            jitter: 0.3,
            ..quiet
        },
        NoiseModel {
            jitter: 0.1,
            spike_every: 5,
            ..quiet
        },
        NoiseModel {
            jitter: 0.1,
            shared_every: 3,
            ..quiet
        },
        NoiseModel {
            jitter: 0.05,
            others: 1.0,
            steal: 0.1,
            ..quiet
        },
    ]
}

#[test]
fn noise_of_any_seed_makes_no_difference_where_there_is_none() {
    for (index, noise) in noises().into_iter().enumerate() {
        let mut on = machines::eight_cores();
        // One thread reaches the whole bandwidth of the memory.
        on.model.memory_total.0 = READ[3];
        on.model.noise = noise;
        for seed in 0..10 {
            let report = reads(&on, seed);
            let false_ones = report
                .findings
                .iter()
                .filter(|f| f.kind == "memory-scaling")
                .count();
            assert_eq!(
                false_ones, 0,
                "noise {index}, seed {seed}: {:?}",
                report.findings
            );
        }
    }
}

#[test]
fn noise_of_any_seed_leaves_the_truth_in_the_interval() {
    for (index, noise) in noises().into_iter().enumerate() {
        let mut on = machines::eight_cores();
        on.model.noise = noise;
        for seed in 0..10 {
            let report = reads(&on, seed);
            for finding in report
                .findings
                .iter()
                .filter(|f| f.kind == "memory-scaling")
            {
                let low = finding.values["ratio_low"];
                let high = finding.values["ratio_high"];
                assert!(
                    low * 0.99 <= 2.9 && 2.9 <= high * 1.01,
                    "noise {index}, seed {seed}: {finding:?}"
                );
                assert!(!finding.points().is_empty() && finding.trust().is_some());
            }
        }
    }
}

#[test]
fn placeholders_reach_nobody() {
    let on = machines::eight_cores();
    let mut left_out = 0;
    for seconds in [0.5, 1.0, 2.0, 4.0, 8.0] {
        let experiment = loaded_latency("--mixes 100:0,0:100");
        let ran = lab::run(
            &on,
            Request {
                budget: Nanos(seconds * 1e9),
                ..request(vec![experiment], &on)
            },
        );
        let text = serde_json::to_string(&ran.report).expect("a report");
        // 1000000 cycles is the pause of every placeholder.
        assert!(
            !text.contains("1000000 cycles") && !text.contains("\"pause_cycles\":1000000"),
            "{seconds} s"
        );
        let shortened = &ran.report.plan.shortened;
        left_out += shortened
            .iter()
            .filter(|line| line.contains("follow-up"))
            .count();
        let measured = ran.points().count() as u64;
        assert_eq!(ran.report.plan.points, measured, "{seconds} s");
    }
    assert!(left_out > 0, "no budget was too short for them");
}
