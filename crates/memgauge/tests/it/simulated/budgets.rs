//! Tests that a session keeps its budget, whatever else is requested and whatever the machine does.

use super::lab::{self, Ran, request, sampling};
use super::machines::{self, Simulated};
use engine::{Baselines, Machine, MemoryPlan, PointLog, Sampling, StreamWork, Work, sample_round};
use experiments::{Detail, EXPERIMENTS, Experiment};
use host::memory::PageMode;
use kernels::{Operation, Width};
use memgauge::plan::Request;
use report::{Cause, Outcome};
use simulated::{NoiseModel, SimulatedMachine, Spike, StorageModel};
use std::collections::BTreeSet;
use units::error::Kind;
use units::{Bytes, BytesPerSecond, Nanos};

/// Largest time of a session, as a multiple of its budget.
const TOLERANCE: f64 = 1.1;

/// The budget that a refusal advises: the word after its `--budget`.
fn advised_budget(refusal: &str) -> Nanos {
    let word = refusal
        .split("--budget ")
        .nth(1)
        .unwrap_or_else(|| panic!("{refusal}"));
    word.parse().unwrap_or_else(|_| panic!("{refusal}"))
}

fn real(ran: &Ran) -> Nanos {
    ran.report.plan.real.expect("a finished run")
}

type Made = fn() -> Vec<Box<dyn Experiment>>;

fn in_profile(detail: Detail) -> Vec<Box<dyn Experiment>> {
    let rows = EXPERIMENTS
        .iter()
        .filter(|row| row.least.is_some_and(|least| least <= detail));
    rows.map(|row| (row.in_profile)(detail)).collect()
}

/// Runs the request, or the request with the advised budget if it is refused. Returns true if it
/// was refused.
fn assert_kept(
    name: &str,
    on: &Simulated,
    requested: &dyn Fn(Nanos) -> Request,
    budget: Nanos,
) -> bool {
    let plan = lab::plan(on, requested(budget));
    let (budget, refused) = match plan {
        Ok(_) => (budget, false),
        Err(error) => {
            assert_eq!(error.kind(), Kind::Usage, "{name}: {error}");
            let advised = advised_budget(&error.to_string());
            assert!(advised > budget, "{name}: {error}");
            let plan = lab::plan(on, requested(advised))
                .unwrap_or_else(|again| panic!("{name}: {error}, then {again}"));
            let left_out = plan
                .points
                .iter()
                .filter(|p| p.work.as_ref().is_err_and(wants_time))
                .count();
            assert_eq!(left_out, 0, "{name}: {error}, then {:?}", plan.shortened);
            (advised, true)
        }
    };
    // Requests that take hours even on the simulated clock are only planned.
    if budget <= Nanos(1000e9) {
        let ran = lab::run(on, requested(budget));
        assert!(
            real(&ran) <= budget * TOLERANCE,
            "{name}: {} of {budget}",
            real(&ran)
        );
        assert!(
            ran.points().any(|p| p.outcome.measured().is_some()),
            "{name}"
        );
    }
    refused
}

fn wants_time(outcome: &Outcome) -> bool {
    outcome
        .reason()
        .is_some_and(|reason| reason.contains("--budget"))
}

#[test]
fn a_budget_is_kept_or_refused_whatever_else_is_requested() {
    let made: [(&str, Made); 4] = [
        ("quick", || in_profile(Detail::Brief)),
        ("default", || in_profile(Detail::Levels)),
        ("scaling", || vec![lab::scaling("--oversubscribe")]),
        ("latency", || {
            vec![lab::latency("--sizes 4KiB..64MiB --windows 1000")]
        }),
    ];
    let mut busy = machines::plain();
    busy.model.noise = NoiseModel {
        jitter: 4.0,
        spike_every: 3,
        spike: Spike::Gap,
        steal: 0.5,
        others: 2.0,
        ..NoiseModel::default()
    };
    let mut refusals = [0, 0];
    for on in [machines::plain(), machines::eight_cores(), busy] {
        for (name, experiments) in made {
            for budget in [0.5e9, 4e9].map(Nanos) {
                for (cooldown, samples) in [
                    (0.0, None),
                    (20e6, None),
                    (100e9, None),
                    (0.0, Some(30)),
                    (0.0, Some(1_000_000)),
                ] {
                    let requested = |budget: Nanos| {
                        let plain = Sampling {
                            per_round: 6,
                            rounds: 10,
                            ..sampling()
                        };
                        Request {
                            cooldown: Nanos(cooldown),
                            sampling: samples.map_or(plain, |n| plain.exactly(n)),
                            samples_fixed: samples.is_some(),
                            budget,
                            ..request(experiments(), &on)
                        }
                    };
                    let name = format!(
                        "{} {name} in {budget}, cooldown {cooldown}, samples {samples:?}",
                        on.name
                    );
                    let refused = assert_kept(&name, &on, &requested, budget);
                    refusals[usize::from(refused)] += 1;
                }
            }
        }
    }
    assert!(refusals.iter().all(|&count| count > 10), "{refusals:?}");
}

#[test]
fn memory_that_takes_longer_than_the_budget_is_refused_with_the_time_it_needs() {
    let mut on = machines::plain();
    on.model.fault = BytesPerSecond(0.5e9);
    let requested = |budget| Request {
        budget,
        ..request(
            vec![lab::bandwidth("--sizes 4GiB --threads 1 --ops read")],
            &on,
        )
    };
    assert!(assert_kept("4 GiB", &on, &requested, Nanos(2e9)));
    let many = |budget| Request {
        reallocate: 50,
        ..requested(budget)
    };
    assert!(assert_kept("4 GiB fifty times", &on, &many, Nanos(20e9)));
}

/// Mapping is slow, as if other programs used all CPUs.
#[test]
fn a_mapping_that_is_slower_than_planned_keeps_the_budget_and_some_points() {
    let mut on = machines::plain();
    on.model.fault = BytesPerSecond(2e9);
    on.model.noise.slow_mapping = 4.0;
    for budget in [1.0, 2.0, 4.0].map(Nanos::from_secs) {
        let requested = Request {
            budget,
            ..request(in_profile(Detail::Brief), &on)
        };
        let ran = lab::run(&on, requested);
        assert!(real(&ran) <= budget * TOLERANCE, "{budget}: {}", real(&ran));
        let measured = ran.points().filter(|p| p.outcome.measured().is_some());
        let levels: BTreeSet<String> = measured
            .filter_map(|point| Some(point.name("level")?.to_owned()))
            .collect();
        assert!(
            levels.contains("L1") && levels.contains("L2"),
            "{budget}: {levels:?}"
        );
    }
}

#[test]
fn each_level_keeps_one_bandwidth_and_one_latency_when_time_is_short() {
    let experiments = || in_profile(Detail::Brief);
    let mut slow = machines::eight_cores();
    slow.model.noise = NoiseModel {
        jitter: 8.0,
        spike_every: 2,
        steal: 0.5,
        ..NoiseModel::default()
    };
    let mut cases = 0;
    for on in [machines::plain(), machines::eight_cores(), slow] {
        // The budget is enough for all points with samples as short as possible. Parts of it still
        // have room for one point of each kind at each level.
        let shortest = Request {
            budget: Nanos(1e6),
            ..request(experiments(), &on)
        };
        let advised = advised_budget(
            &lab::plan(&on, shortest)
                .err()
                .expect("too little time")
                .to_string(),
        );
        // The advised budget is reduced by its margins for other start times and other rates.
        let all = (advised - Nanos(1e9)) / 1.2;
        for share in [1.0, 0.8, 0.7, 0.6] {
            let ran = lab::run(
                &on,
                Request {
                    budget: all * share,
                    ..request(experiments(), &on)
                },
            );
            let missing = ran
                .points()
                .filter(|p| p.outcome.measured().is_none())
                .count();
            assert!(real(&ran) <= all * share * TOLERANCE);
            cases += usize::from(missing > 0);
            for (experiment, dataset) in ["bandwidth", "latency"].iter().zip(&ran.report.datasets) {
                let measured = dataset
                    .points
                    .iter()
                    .filter(|p| p.outcome.measured().is_some());
                let levels: BTreeSet<&str> = measured.filter_map(|p| p.name("level")).collect();
                assert_eq!(
                    levels.len(),
                    4,
                    "{} at {share}: {experiment} of {levels:?}, {missing} missing",
                    on.name
                );
            }
        }
    }
    assert!(cases > 3, "{cases}");
}

#[test]
fn a_batch_that_is_slow_leaves_the_later_ones_their_time() {
    // Streams and chains do not fit into memory at once, and streams take ten times as long as
    // planned.
    let mut on = machines::container("160 MiB", Bytes::mib(160));
    on.model.noise.jitter = 20.0;
    let planned = lab::plan(&on, request(in_profile(Detail::Brief), &on)).unwrap();
    assert!(planned.batches().count() > 1);
    let ran = lab::run(
        &on,
        Request {
            budget: planned.estimate,
            ..request(in_profile(Detail::Brief), &on)
        },
    );
    assert!(real(&ran) <= planned.estimate * TOLERANCE);
    for dataset in &ran.report.datasets {
        assert!(
            dataset
                .points
                .iter()
                .any(|p| p.outcome.measured().is_some()),
            "{}",
            dataset.experiment
        );
    }
}

#[test]
fn storage_has_shorter_windows_where_there_is_little_time() {
    let mut on = machines::plain();
    on.model.storage = StorageModel::default();
    for budget in [1e9, 3e9, 6e9, 12e9].map(Nanos) {
        let sampling = Sampling {
            length: Nanos(500e6),
            per_round: 2,
            rounds: 10,
            target: 0.01,
            ..sampling()
        };
        let requested = |options: &str| Request {
            budget,
            sampling,
            ..request(vec![lab::storage(options, &on)], &on)
        };
        let ran = lab::run(&on, requested("data"));
        assert!(
            real(&ran) <= budget * TOLERANCE,
            "{} of {budget}",
            real(&ran)
        );
        let point = ran.points().next().expect("a point");
        let windows = &lab::measured(point).samples;
        // The lengths of samples agree with the plan.
        let shown = ran.plan.sampling_shown();
        let longest = windows.iter().map(|s| s.elapsed_ns).fold(0.0, f64::max);
        assert!(
            (longest / shown.length.0 - 1.0).abs() < 0.05,
            "{longest} of {}",
            shown.length
        );
        assert!(windows.len() >= 6, "{budget}: {} windows", windows.len());
        assert!(
            ran.plan.shortened.is_empty() == (budget.0 == 12e9),
            "{:?}",
            ran.plan.shortened
        );
        // A length that the user requests is not shortened.
        let refused = lab::plan(&on, requested("data --window 1s"));
        assert_eq!(refused.is_err(), budget < Nanos(6.5e9), "{budget}");
    }
}

#[test]
fn what_is_left_of_the_budget_goes_to_points_that_are_not_solid() {
    let mut on = machines::plain();
    // The samples scatter widely, so few rounds give wide intervals.
    on.model.noise.jitter = 1.5;
    let short = Sampling {
        per_round: 4,
        rounds: 4,
        ..sampling()
    };
    let requested = |budget| Request {
        budget,
        sampling: short,
        ..request(in_profile(Detail::Brief), &on)
    };
    let weak = |ran: &Ran| {
        let names = |cause| {
            ran.points()
                .filter(|p| p.outcome.measured().is_some_and(|m| m.verdict.names(cause)))
                .count()
        };
        (names(Cause::FewSamples), names(Cause::Spread))
    };
    let planned = lab::plan(&on, requested(Nanos(60e9))).unwrap().estimate;
    let little = lab::run(&on, requested(planned));
    let much = lab::run(&on, requested(planned * 4.0));
    assert!(weak(&little).0 > 0, "{:?}", weak(&little));
    assert_eq!(weak(&much).0, 0, "{:?}", weak(&much));
    assert!(weak(&much).1 <= weak(&little).1);
    assert!(real(&much) > real(&little) * 1.2 && real(&much) <= planned * 4.0 * TOLERANCE);
    // If more rounds gain nothing, the time is not used.
    let quiet = machines::plain();
    let ran = lab::run(
        &quiet,
        Request {
            budget: Nanos(600e9),
            ..request(in_profile(Detail::Brief), &quiet)
        },
    );
    assert!(real(&ran) < Nanos(10e9), "{}", real(&ran));
}

#[test]
fn no_sample_begins_that_would_end_after_its_time() {
    let on = machines::plain();
    let mut machine = on.machine(lab::SEED);
    let work = Work::Stream(StreamWork::new(
        Operation::Read,
        Width::Best,
        PageMode::Base,
        &[0],
        Bytes::kib(16),
    ));
    let memory = MemoryPlan::for_works([&work], machine.facts(), true);
    machine
        .map(&memory, false, Nanos(f64::INFINITY))
        .expect("memory");
    let sampling = Sampling {
        length: Nanos(10e6),
        ..sampling()
    };
    let mut baselines = Baselines::default();
    let mut log = PointLog::default();
    let mut round = |machine: &mut SimulatedMachine, until: Nanos| {
        sample_round(machine, &mut baselines, &work, &sampling, &mut log, until);
    };
    round(&mut machine, Nanos(f64::INFINITY));
    // The time is enough to prepare, and for half of a sample.
    let until = machine.now() + Nanos(8e6);
    round(&mut machine, until);
    assert!(machine.now() <= until, "{} of {until}", machine.now());
}

#[test]
fn an_estimate_is_never_above_its_budget() {
    let on = machines::plain();
    for step in 0..200 {
        let budget = Nanos(3e9 + 37e6 * f64::from(step));
        let requested = Request {
            budget,
            ..request(in_profile(Detail::Brief), &on)
        };
        let plan = lab::plan(&on, requested).expect("a plan");
        assert!(plan.estimate <= budget, "{} of {budget}", plan.estimate);
    }
}
