//! Every fault that can be put into a machine is named as what it is, by its cause, with advice;
//! and nothing else is.

use super::lab::{self, Ran, bandwidth, latency, request};
use super::machines::{self, Simulated};
use engine::Sampling;
use memgauge::plan::Request;
use report::{Cause, Fact, RunStatus, VerdictGrade};
use simulated::{NoiseModel, Spike};
use units::{BytesPerSecond, Nanos};

/// A run of two points of each experiment on the plain machine with some noise, all rounds of it.
fn with(change: impl FnOnce(&mut Simulated)) -> Ran {
    with_allocations(1, change)
}

fn with_allocations(allocations: u32, change: impl FnOnce(&mut Simulated)) -> Ran {
    let mut on = machines::plain();
    on.model.noise = NoiseModel {
        jitter: 0.01,
        ..NoiseModel::default()
    };
    change(&mut on);
    let experiments = vec![
        bandwidth("--sizes 16KiB,1MiB --ops read --threads 1,2"),
        latency("--sizes 16KiB,1MiB"),
    ];
    let mut request = request(experiments, &on);
    request.reallocate = allocations;
    request.sampling = Sampling {
        length: Nanos::from_millis(1.0),
        in_memory: 1.0,
        per_round: 20,
        rounds: 6,
        target: 0.0,
        most: None,
    };
    lab::run(&on, request)
}

/// The causes that the points name.
fn causes(ran: &Ran) -> Vec<Cause> {
    let mut all: Vec<Cause> = ran
        .points()
        .flat_map(|p| lab::measured(p).verdict.reasons.iter().map(|r| r.cause))
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Whether a finding of this kind is in the report.
fn finds(ran: &Ran, kind: &str) -> bool {
    ran.report.findings.iter().any(|f| f.kind == kind)
}

/// Makes a fault.
type Spoil = fn(&mut Simulated);

#[test]
fn without_a_fault_nothing_is_doubted() {
    let ran = with(|_| ());
    assert_eq!(causes(&ran), []);
    assert_eq!(ran.report.verdict.grade, VerdictGrade::Solid);
    assert_eq!(
        ran.report.verdict.points.get(&VerdictGrade::Solid),
        Some(&ran.points().count().try_into().unwrap())
    );
}

#[test]
fn each_fault_is_named_as_what_it_is() {
    let spike = |on: &mut Simulated, every: u64, kind: Spike| {
        on.model.noise.spike_every = every;
        on.model.noise.spike = kind;
    };
    fn every_sample(on: &mut Simulated, kind: Spike) {
        (on.model.noise.spike_every, on.model.noise.spike) = (1, kind);
    }
    let cases: [(Spoil, &[Cause]); 11] = [
        (
            |on| every_sample(on, Spike::Switch),
            &[Cause::Others, Cause::FewSamples],
        ),
        (
            |on| every_sample(on, Spike::Stop),
            &[Cause::Stopped, Cause::FewSamples],
        ),
        (
            |on| every_sample(on, Spike::Fault),
            &[Cause::NotResident, Cause::FewSamples],
        ),
        (
            |on| every_sample(on, Spike::Move),
            &[Cause::Moved, Cause::FewSamples],
        ),
        (
            |on| every_sample(on, Spike::Gap),
            &[Cause::Stolen, Cause::FewSamples],
        ),
        (|on| on.model.noise.steal = 0.05, &[Cause::Stolen]),
        (|on| on.model.noise.throttled = 0.3, &[Cause::Throttled]),
        (|on| on.model.noise.others = 1.0, &[Cause::Others]),
        (
            |on| on.model.noise.memory_pressure = 0.4,
            &[Cause::MemoryPressure],
        ),
        (
            |on| on.model.noise.throttles_per_second = 400.0,
            &[Cause::Heat],
        ),
        (|on| on.model.noise.counter_drift = 0.02, &[Cause::Counter]),
    ];
    for (spoil, expected) in cases {
        let ran = with(spoil);
        let mut expected = expected.to_vec();
        expected.sort();
        assert_eq!(causes(&ran), expected);
        assert_eq!(
            (ran.report.status, ran.report.verdict.grade),
            (RunStatus::Complete, VerdictGrade::Doubtful)
        );
        let first = &ran.report.verdict.causes[0];
        assert!(expected.contains(&first.cause) && !first.advice.is_empty());
        assert_eq!(first.points, ran.points().count() as u64);
    }
    // Now and then is no reason to doubt what is left, and what is left out is counted and kept.
    for kind in [
        Spike::Switch,
        Spike::Stop,
        Spike::Fault,
        Spike::Move,
        Spike::Gap,
    ] {
        let ran = with(|on| spike(on, 5, kind));
        for point in ran.points() {
            let m = lab::measured(point);
            let disturbed = m.samples.iter().filter(|s| s.disturbance.is_some()).count() as u64;
            assert!(
                disturbed >= 20 && disturbed == m.evidence.disturbed_samples,
                "{kind:?}: {disturbed}"
            );
            assert_eq!(
                disturbed,
                m.evidence.disturbed_by.values().sum::<u64>(),
                "each sample once"
            );
            assert_eq!(
                m.summary.undisturbed_samples + disturbed,
                m.samples.len() as u64
            );
            assert!(finds(&ran, "interruptions"));
            if kind != Spike::Move {
                assert_eq!(
                    m.verdict.grade,
                    VerdictGrade::Solid,
                    "{kind:?}: {}",
                    m.verdict.text()
                );
            }
        }
    }
}

#[test]
fn rounds_for_which_the_host_had_its_cpus_on_one_core_are_left_out() {
    let run = |kind: &str, every: u64| {
        with(|on| {
            on.facts.system.virtualization = Fact::known(kind.to_owned(), "told by the test");
            on.model.noise.co_scheduled_every = every;
        })
    };
    let still = run("KVM", 0);
    let moved = run("KVM", 4);
    assert_eq!(causes(&still), []);
    // Of six rounds what is left may be too little.
    assert!(
        causes(&moved)
            .iter()
            .all(|cause| *cause == Cause::FewSamples),
        "{:?}",
        causes(&moved)
    );
    let mut shared = 0;
    let mut closer = 0;
    for (before, after) in still.points().zip(moved.points()) {
        let threads = after.number("threads");
        let before = lab::measured(before);
        let after = lab::measured(after);
        assert!(
            (after.summary.median / before.summary.median - 1.0).abs() < 0.02,
            "{threads:?} threads: {:?}",
            after.summary
        );
        assert!(before.evidence.disturbed_samples == 0);
        let Some(told) = after.evidence.vcpu_placement.as_ref() else {
            assert_eq!(threads.unwrap_or(1), 1, "nothing is known of several");
            continue;
        };
        shared += 1;
        closer += told.co_scheduled_rounds;
        assert_eq!((told.cpus, told.rounds), ([0, 1], 6));
        assert!(after.evidence.disturbed_samples >= told.co_scheduled_rounds * 20);
    }
    assert!(
        shared == 2 && closer > 0 && finds(&moved, "interruptions"),
        "{closer} rounds of {shared} points"
    );
    // On a machine that is not virtual nobody moves them, and nothing is looked at.
    let bare = run("none", 4);
    assert!(
        bare.points()
            .all(|p| lab::measured(p).evidence.vcpu_placement.is_none())
    );
}

/// The causes of doubt of each point with this many threads.
fn causes_of(ran: &Ran, threads: u64) -> Vec<Vec<Cause>> {
    let points = ran
        .points()
        .filter(|p| p.number("threads").unwrap_or(1) == threads);
    points
        .map(|p| {
            lab::measured(p)
                .verdict
                .reasons
                .iter()
                .map(|r| r.cause)
                .collect()
        })
        .collect()
}

#[test]
fn cpus_that_are_on_one_core_for_the_whole_run_are_told_by_their_round_trip() {
    let ran = with(|on| {
        on.facts.system.virtualization = Fact::known("KVM".to_owned(), "told by the test");
        on.model.noise.co_scheduled_every = 1;
    });
    let two = causes_of(&ran, 2);
    assert!(
        !two.is_empty() && two.iter().all(|causes| causes == &[Cause::HostMoved]),
        "{two:?}"
    );
    assert!(causes_of(&ran, 1).iter().all(Vec::is_empty));
    // Nothing is left out: that is how this machine is.
    assert!(
        ran.points()
            .all(|p| lab::measured(p).evidence.disturbed_samples == 0)
    );
}

#[test]
fn a_core_that_is_shared_for_the_whole_run_is_told_by_its_documented_width() {
    let run = |width: Option<u32>| {
        with(|on| {
            on.facts.cpu.integer_width = Fact {
                value: width,
                source: "told by the test".to_owned(),
            };
            on.model.noise.shared_every = 1;
        })
    };
    let undocumented = run(None);
    let documented = run(Some(5));
    assert_eq!(causes(&undocumented), [], "nothing to hold it against");
    for point in documented.points() {
        let m = lab::measured(point);
        assert_eq!(m.evidence.disturbed_samples, m.samples.len() as u64);
        assert!(
            m.verdict
                .reasons
                .iter()
                .any(|r| r.cause == Cause::CoreShared),
            "{:?}",
            m.verdict
        );
    }
}

#[test]
fn a_core_clock_that_is_slow_for_the_whole_run_is_held_against_the_base_clock() {
    let run = |slow: f64, known: bool| {
        with(|on| {
            on.model.noise.slow_clock = slow;
            on.model.core = units::Hertz(1.2e9);
            if known {
                on.facts.cpu.microarchitecture =
                    Fact::known("Zen 5".to_owned(), "told by the test");
                on.facts.cpu.counter_invariant = Fact::known(true, "told by the test");
            }
        })
    };
    // The counter of the simulated machine runs at 1 GHz.
    assert_eq!(causes(&run(0.0, true)), []);
    assert_eq!(causes(&run(0.5, true)), [Cause::CoreClock]);
    assert_eq!(
        causes(&run(0.5, false)),
        [],
        "a counter of an unknown core says nothing of its clock"
    );
}

#[test]
fn samples_beside_which_somebody_else_used_the_core_are_left_out() {
    let run = |every: u64| with(|on| on.model.noise.shared_every = every);
    let still = run(0);
    let shared = run(4);
    assert_eq!(
        causes(&shared),
        [],
        "a quarter is left out and leaves enough"
    );
    assert!(finds(&shared, "interruptions") && !finds(&still, "interruptions"));
    let mut points = 0;
    for (before, after) in still.points().zip(shared.points()) {
        let before = lab::measured(before);
        let after = lab::measured(after);
        let told = after
            .evidence
            .smt_interference
            .as_ref()
            .expect("the simulated core can be read");
        assert_eq!(told.shared_samples, after.evidence.disturbed_samples);
        assert_eq!((told.baseline_ipc, told.lowest_ipc), (5.0, 3.0));
        let reasons = after
            .samples
            .iter()
            .filter_map(|s| s.disturbance.as_deref());
        assert!(
            reasons.clone().count() > 0
                && reasons
                    .clone()
                    .all(|r| r == "another hardware thread used the core")
        );
        // Shared samples are a fifth slower, and nothing of that is left in the figure.
        assert!(
            (after.summary.median / before.summary.median - 1.0).abs() < 0.02,
            "{:?}",
            after.summary
        );
        points += 1;
    }
    assert!(points > 2);
    // Most of the time: named, where it was alone often enough to know what that is like.
    let mostly = with(|on| {
        on.model.noise.shared_every = 1;
        on.model.noise.alone_every = 7;
    });
    assert_eq!(causes(&mostly), [Cause::FewSamples, Cause::CoreShared]);
    assert!(
        causes(&run(1)).is_empty(),
        "always: that is how this machine is"
    );
}

#[test]
fn pages_of_another_size_are_named() {
    assert_eq!(
        causes(&with(|on| on.model.granted = 0.4)),
        [Cause::PageSize]
    );
}

#[test]
fn a_drift_of_the_values_is_named_beside_that_of_the_clock() {
    let ran = with(|on| on.model.noise.drift = 0.5);
    assert_eq!(causes(&ran), [Cause::CoreClock, Cause::Drift]);
    assert!(finds(&ran, "drift") && !finds(&ran, "interruptions") && !finds(&ran, "placement"));
}

#[test]
fn pauses_are_advised_against_only_where_there_are_any() {
    let mut on = machines::plain();
    on.model.noise.drift = 0.5;
    let advice = |cooldown: Nanos| -> Vec<String> {
        let request = Request {
            cooldown,
            ..request(vec![latency("--sizes 16KiB,1MiB")], &on)
        };
        let ran = lab::run(&on, request);
        let reasons = ran
            .points()
            .flat_map(|p| lab::measured(p).verdict.reasons.clone());
        reasons
            .filter(|reason| reason.cause == Cause::CoreClock)
            .map(|reason| reason.advice)
            .collect()
    };
    let [none, some] = [Nanos::ZERO, Nanos(50e6)].map(advice);
    assert!(
        !none.is_empty() && none.iter().all(|text| !text.contains("cooldown")),
        "{none:?}"
    );
    assert!(
        !some.is_empty() && some.iter().all(|text| text.contains("cooldown")),
        "{some:?}"
    );
}

#[test]
fn allocations_that_differ_are_told_from_noise() {
    let ran = with_allocations(6, |on| on.model.noise.placement = 0.2);
    for point in ran.points() {
        let m = lab::measured(point);
        assert_eq!(m.evidence.allocations, 6);
        assert_eq!(m.samples.iter().map(|s| s.allocation).max(), Some(5));
        assert!(m.verdict.names(Cause::Placement), "{}", m.verdict.text());
        // The interval is one over allocations, not over the samples of any.
        let truth = [m.samples[0].value, m.samples[m.samples.len() - 1].value];
        assert!(
            truth
                .iter()
                .all(|v| m.summary.ci_low <= v * 1.02 && v * 0.98 <= m.summary.ci_high),
            "{:?}",
            m.summary
        );
    }
    assert!(finds(&ran, "placement"));
    let ran = with_allocations(6, |_| ());
    assert_eq!(causes(&ran), []);
}

#[test]
fn more_than_the_memory_carries_is_rejected_by_the_users_figure() {
    let measured = |peak: f64| {
        let on = machines::plain();
        let mut request = request(vec![bandwidth("--ops read --threads 1")], &on);
        request.dram_peak = Some(BytesPerSecond(peak));
        lab::run(&on, request)
    };
    let real = machines::READ[3];
    let ran = measured(real * 2.0);
    let in_memory: Vec<_> = ran
        .points()
        .filter(|p| p.name("level") == Some("DRAM"))
        .collect();
    assert!(!in_memory.is_empty());
    for point in &in_memory {
        let m = lab::measured(point);
        let limit = m.limit.as_ref().expect("a limit");
        assert!(
            limit.source.contains("--dram-peak")
                && (m.summary.median / limit.value - 0.5).abs() < 0.01
        );
        assert_eq!(m.verdict.grade, VerdictGrade::Solid, "{}", m.verdict.text());
    }
    let ran = measured(real / 2.0);
    for point in ran.points() {
        let m = lab::measured(point);
        let expected = if point.name("level") == Some("DRAM") {
            VerdictGrade::Rejected
        } else {
            VerdictGrade::Solid
        };
        assert_eq!(m.verdict.grade, expected, "{}", m.verdict.text());
        assert!(
            expected == VerdictGrade::Solid || m.verdict.text().starts_with("200% of the memory's")
        );
    }
    assert_eq!(ran.report.verdict.grade, VerdictGrade::Rejected);
}

#[test]
fn a_latency_below_that_of_a_faster_level_is_rejected() {
    let on = |third: f64| {
        let mut on = machines::plain();
        on.model.levels[2].latency = Nanos(third);
        let request = request(vec![latency("--sizes 16KiB,512KiB,8MiB,64MiB")], &on);
        lab::run(&on, request)
    };
    assert_eq!(causes(&on(machines::LATENCY[2])), []);
    // A third level that answers sooner than the second.
    let ran = on(machines::LATENCY[1] * 0.5);
    assert_eq!(causes(&ran), [Cause::BelowFasterLevel]);
    let rejected: Vec<_> = ran
        .points()
        .filter(|p| lab::measured(p).verdict.grade == VerdictGrade::Rejected)
        .collect();
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0].number("size_bytes"), Some(8 << 20));
    // One that is only a little sooner is the clock's doing.
    assert_eq!(causes(&on(machines::LATENCY[1] * 0.95)), []);
}
