//! Tests that a session takes the time that the sampler expects.

use super::lab::{self, request, sampling};
use super::machines::{self, Simulated};
use engine::Machine;
use experiments::{Detail, EXPERIMENTS, Experiment};
use kernels::SetId;
use memgauge::plan::Request;
use units::Nanos;

/// Largest relative difference between the simulated and the expected time. The sampler knows its
/// own steps, so only rounding is left. The design allows a tenth.
const TOLERANCE: f64 = 0.02;

/// Time of the trial that measures the rate of newly mapped memory. The trial is a part of the
/// start.
const TRIAL: Nanos = Nanos(2.1e6);

/// Runs `requested`. Returns the difference between its time and the expected one in words; `None`
/// if it is within the tolerance.
fn difference(on: &Simulated, requested: Request) -> Option<String> {
    let ran = lab::run(on, requested);
    // The simulated machine takes no time to start and to end.
    let expected = ran.plan.estimate - ran.machine.costs().session;
    let real = ran.report.plan.real.expect("a finished run");
    let ratio = (real - TRIAL).0 / expected.0;
    // Time of follow-up points that are not needed remains unused.
    let has_follow_ups = ran.plan.phases.iter().any(|phase| phase.reserve.is_some());
    let is_shorter = ratio < 1.0 - TOLERANCE && !has_follow_ups;
    (is_shorter || ratio > 1.0 + TOLERANCE).then(|| format!("{real} of {expected}"))
}

/// A request for a fixed number of samples, with a budget for all of them.
fn requested(experiments: Vec<Box<dyn Experiment>>, samples: u32, on: &Simulated) -> Request {
    let sampling = sampling().exactly(samples);
    Request {
        budget: Nanos(1e15),
        samples_fixed: true,
        sampling,
        ..request(experiments, on)
    }
}

#[test]
fn expected_time_of_every_experiment_is_the_simulated_time() {
    let mut wrong = Vec::new();
    let machines = [
        ("plain", machines::plain()),
        ("eight cores", machines::eight_cores()),
    ];
    for (machine, on) in &machines {
        for row in EXPERIMENTS.iter().filter(|row| row.least.is_some()) {
            for samples in [7, 100] {
                let experiment = (row.in_profile)(Detail::Levels);
                let name = experiment.name().to_owned();
                let difference = difference(on, requested(vec![experiment], samples, on));
                wrong.extend(
                    difference.map(|text| format!("{machine}, {name}, {samples} samples: {text}")),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn expected_time_follows_the_settings() {
    let mut choosing = machines::plain();
    choosing.model.choices = vec![(SetId::Scalar, 0.5), (SetId::Avx2, 1.0)];
    let plain = machines::plain();
    let bandwidth = || {
        vec![lab::bandwidth(
            "--ops read,triad --sizes 16KiB,1GiB --threads 1",
        )]
    };
    let latency = || vec![lab::latency("--sizes 16KiB,1MiB,1GiB")];
    let cases: [(&str, &Simulated, Request); 6] = [
        (
            "kernels to choose from",
            &choosing,
            requested(bandwidth(), 40, &choosing),
        ),
        (
            "pauses",
            &plain,
            Request {
                cooldown: Nanos(5e6),
                ..requested(bandwidth(), 40, &plain)
            },
        ),
        (
            "several allocations",
            &plain,
            Request {
                reallocate: 3,
                ..requested(latency(), 42, &plain)
            },
        ),
        (
            "repeats",
            &plain,
            Request {
                repeat: 2,
                ..requested(latency(), 40, &plain)
            },
        ),
        (
            "many threads",
            &plain,
            requested(
                vec![lab::latency(
                    "--sizes 1MiB --threads 1,2,all --region private,shared",
                )],
                40,
                &plain,
            ),
        ),
        (
            "patterns with tables",
            &plain,
            requested(
                vec![lab::patterns("--sizes 1MiB --orders random,strided")],
                40,
                &plain,
            ),
        ),
    ];
    for (name, on, requested) in cases {
        assert_eq!(difference(on, requested), None, "{name}");
    }
}
