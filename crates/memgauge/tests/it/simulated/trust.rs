//! Tests that every fault that a simulated machine can have is named by its cause, with advice, and
//! that no other fault is named.

use super::lab::{self, Ran, bandwidth, core_to_core, latency, request};
use super::machines::{self, Simulated};
use engine::Sampling;
use experiments::Experiment;
use memgauge::plan::Request;
use report::{
    Cause, Coordinate, Fact, Measured, PlacementStratum, Point, Relation, RunStatus, VcpuPlacement,
    VerdictGrade,
};
use simulated::{NoiseModel, Spike};
use units::{BytesPerSecond, Nanos};
use verdict::Change;

/// A session of two points of each experiment with all their rounds, on the plain machine after
/// `change`.
fn with(change: impl FnOnce(&mut Simulated)) -> Ran {
    with_allocations(1, change)
}

fn with_allocations(allocations: u32, change: impl FnOnce(&mut Simulated)) -> Ran {
    let experiments = vec![
        bandwidth("--sizes 16KiB,1MiB --ops read --threads 1,2"),
        latency("--sizes 16KiB,1MiB"),
    ];
    run(6, allocations, experiments, change)
}

fn with_experiments(
    experiments: Vec<Box<dyn Experiment>>,
    change: impl FnOnce(&mut Simulated),
) -> Ran {
    run(60, 1, experiments, change)
}

fn run(
    rounds: u32,
    allocations: u32,
    experiments: Vec<Box<dyn Experiment>>,
    change: impl FnOnce(&mut Simulated),
) -> Ran {
    let mut on = machines::plain();
    on.model.noise = NoiseModel {
        jitter: 0.01,
        ..NoiseModel::default()
    };
    change(&mut on);
    let mut request = request(experiments, &on);
    request.reallocate = allocations;
    request.sampling = Sampling {
        length: Nanos::from_millis(1.0),
        in_memory: 1.0,
        per_round: 20,
        rounds,
        target: 0.0,
        most: None,
    };
    lab::run(&on, request)
}

/// Causes that the verdicts on the points name, each once.
fn causes(ran: &Ran) -> Vec<Cause> {
    let mut all: Vec<Cause> = ran
        .points()
        .flat_map(|p| lab::measured(p).verdict.reasons.iter().map(|r| r.cause))
        .collect();
    all.sort();
    all.dedup();
    all
}

/// True if the report has a finding of this kind.
fn finds(ran: &Ran, kind: &str) -> bool {
    ran.report.findings.iter().any(|f| f.kind == kind)
}

/// Function that gives a machine a fault.
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
    // Rare disturbances are no reason to doubt the other samples. Disturbed samples are counted and
    // kept.
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

/// A session on a virtual machine whose host moves its CPUs through `placements`, one after the
/// other.
fn moved_between(placements: &'static [Relation], kind: &str) -> Ran {
    with_experiments(
        vec![
            bandwidth("--sizes 16KiB,256MiB --ops read --threads 1,2"),
            latency("--sizes 16KiB"),
            core_to_core("--pairs 0:1"),
        ],
        |on| {
            on.facts.system.virtualization = Fact::known(kind.to_owned(), "told by the test");
            on.facts.cpu.vendor = Fact::known("AuthenticAMD".to_owned(), "told by the test");
            on.model.noise.placements = placements;
            on.model.hand_off.shared_last = Nanos(51.0);
        },
    )
}

/// The figures of each placement in the point of `experiment` with two CPUs and this working set.
fn strata(ran: &Ran, experiment: &str, size: Option<u64>) -> Vec<PlacementStratum> {
    let datasets = ran.report.datasets.iter();
    let mut points = datasets
        .filter(|dataset| dataset.experiment == experiment)
        .flat_map(|dataset| &dataset.points);
    let of_two = |p: &&Point| p.number("threads") != Some(1) && p.number("size_bytes") == size;
    points
        .find(of_two)
        .and_then(|point| lab::measured(point).evidence.vcpu_placement.clone())
        .map_or(Vec::new(), |evidence| evidence.strata)
}

const L1: Option<u64> = Some(16 << 10);
const MEMORY: Option<u64> = Some(256 << 20);
const COMPLEX: Relation = Relation::SharedCache(3);
const PACKAGE: Relation = Relation::SamePackage;
const CORE: Relation = Relation::SameCore;

#[test]
fn each_placement_of_the_cpus_has_a_number_of_its_own() {
    let cases: [(&'static [Relation], &[VcpuPlacement]); 7] = [
        (&[PACKAGE], &[VcpuPlacement::SamePackage]),
        (&[COMPLEX], &[VcpuPlacement::SharedCache]),
        (&[CORE], &[VcpuPlacement::SameCore]),
        (
            &[PACKAGE, PACKAGE, COMPLEX],
            &[VcpuPlacement::SamePackage, VcpuPlacement::SharedCache],
        ),
        (
            &[COMPLEX, COMPLEX, COMPLEX, CORE],
            &[VcpuPlacement::SharedCache, VcpuPlacement::SameCore],
        ),
        (
            &[PACKAGE, PACKAGE, PACKAGE, CORE],
            &[VcpuPlacement::SamePackage, VcpuPlacement::SameCore],
        ),
        (
            &[PACKAGE, PACKAGE, PACKAGE, PACKAGE, COMPLEX, COMPLEX, CORE],
            &[
                VcpuPlacement::SamePackage,
                VcpuPlacement::SharedCache,
                VcpuPlacement::SameCore,
            ],
        ),
    ];
    for (placements, expected) in cases {
        let ran = moved_between(placements, "KVM");
        assert_eq!(causes(&ran), [], "{placements:?}");
        for (experiment, size) in [
            ("bandwidth", L1),
            ("bandwidth", MEMORY),
            ("core-to-core", None),
        ] {
            let strata = strata(&ran, experiment, size);
            let found: Vec<VcpuPlacement> = strata.iter().map(|s| s.placement).collect();
            assert_eq!(found, expected, "{experiment} {placements:?}");
            let shares: f64 = strata.iter().map(|s| s.share).sum();
            assert!((shares - 1.0).abs() < 1e-9, "{strata:?}");
        }
        // The topology reports one complex, so this placement has no finding. With several
        // placements, memory depends on them.
        assert_eq!(finds(&ran, "vcpu-moves"), placements.len() > 1);
        let alone = placements.len() == 1 && placements != [COMPLEX];
        assert_eq!(finds(&ran, "vcpu-placement"), alone);
    }
}

#[test]
fn the_headline_is_that_of_the_usual_placement_and_others_stand_beside_it() {
    let ran = moved_between(&[PACKAGE, PACKAGE, COMPLEX, CORE], "KVM");
    let still = moved_between(&[PACKAGE], "KVM");
    for (before, after) in still.points().zip(ran.points()) {
        let before = lab::measured(before).summary.median;
        let after = lab::measured(after).summary.median;
        assert!((after / before - 1.0).abs() < 0.02, "{before} {after}");
    }
    let median = |strata: &[PlacementStratum], placement: VcpuPlacement| {
        let of_placement = strata.iter().find(|s| s.placement == placement);
        of_placement.unwrap().median.unwrap()
    };
    // The figure of the usual placement divided by the figures of the two others: one complex, and
    // one core.
    let ratios = |size: Option<u64>| {
        let strata = strata(&ran, "bandwidth", size);
        let usual = median(&strata, VcpuPlacement::SamePackage);
        let others = [VcpuPlacement::SharedCache, VcpuPlacement::SameCore];
        others.map(|other| (usual / median(&strata, other) * 10.0).round())
    };
    assert_eq!(ratios(MEMORY), [16.0, 20.0]);
    // The L1 cache belongs to a core, so it does not depend on the complex.
    assert_eq!(ratios(L1), [10.0, 20.0]);
    let mut findings = ran.report.findings.iter();
    let trips = findings.find(|f| f.kind == "core-to-core").unwrap();
    let share = |kind: &str| trips.values[&format!("{kind}_share")];
    let shares = ["same-package-by-timing", "shared-l3", "same-core-by-timing"].map(share);
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{trips:?}");
    assert_eq!(trips.text.matches("% of the time").count(), 3, "{trips:?}");
    let hand_off = strata(&ran, "core-to-core", None);
    let mut medians: Vec<f64> = hand_off.iter().map(|s| s.median.unwrap()).collect();
    medians.sort_by(f64::total_cmp);
    for (median, expected) in medians.into_iter().zip([16.0, 51.0, 200.0]) {
        assert!(
            (median / expected - 1.0).abs() < 0.02,
            "{median} {expected}"
        );
    }
}

#[test]
fn a_busy_machine_has_a_range_and_a_value_of_its_quietest_moments() {
    let quiet = with(|_| ());
    let busy = with(|on| {
        on.model.noise.spike = Spike::Neighbour;
        on.model.noise.spike_every = 2;
    });
    for (before, after) in quiet.points().zip(busy.points()) {
        let before: &Measured = lab::measured(before);
        let after: &Measured = lab::measured(after);
        let ratio = after.undisturbed().unwrap() / before.undisturbed().unwrap();
        assert!((ratio - 1.0).abs() < 0.01);
        assert!(after.also["undisturbed_share"] < 0.7);
        assert!((after.summary.median / before.summary.median - 1.0).abs() > 0.1);
    }
    assert!(!finds(&quiet, "range-over-time") && !finds(&quiet, "quietest-moments"));
    assert!(finds(&busy, "quietest-moments"));
    // One disturbed sample in three is enough for the finding about the range.
    let third = with(|on| {
        on.model.noise.spike = Spike::Neighbour;
        on.model.noise.spike_every = 3;
    });
    for ran in [busy, third] {
        let mut findings = ran.report.findings.iter();
        let range = findings.find(|f| f.kind == "range-over-time").unwrap();
        let ratio = range.values["range_1_high"] / range.values["range_1_low"];
        assert!((2.5..3.5).contains(&ratio), "{range:?}");
    }
}

#[test]
fn the_quietest_moments_of_a_busy_machine_are_compared() {
    let quiet = with(|_| ());
    let busy = with(|on| {
        on.model.noise.spike = Spike::Neighbour;
        on.model.noise.spike_every = 2;
    });
    let comparison = verdict::compare(
        verdict::ComparedReport::new("quiet", &quiet.report),
        verdict::ComparedReport::new("busy", &busy.report),
        &verdict::Settings::default(),
    );
    assert!(comparison.pairs().count() > 0);
    for (_, pair) in comparison.pairs() {
        assert!(pair.is_undisturbed, "{pair:?}");
        assert_eq!(pair.change, Change::Same, "{pair:?}");
    }
}

#[test]
fn placements_are_not_measured_outside_of_virtual_machines() {
    let bare = moved_between(&[PACKAGE, CORE], "none");
    let mut points = bare.points();
    assert!(points.all(|p| lab::measured(p).evidence.vcpu_placement.is_none()));
    assert!(!finds(&bare, "vcpu-moves") && !finds(&bare, "vcpu-placement"));
}

#[test]
fn machines_are_compared_with_the_same_placement() {
    let compared = |a: &'static [Relation], b: &'static [Relation]| {
        let first = moved_between(a, "KVM");
        let second = moved_between(b, "KVM");
        let comparison = verdict::compare(
            verdict::ComparedReport::new("a", &first.report),
            verdict::ComparedReport::new("b", &second.report),
            &verdict::Settings::default(),
        );
        let pairs: Vec<_> = comparison
            .pairs()
            .filter(|(group, pair)| {
                let two = pair.coordinates.get("threads") == Some(&Coordinate::Number(2));
                group.experiment == "bandwidth" && two
            })
            .map(|(_, pair)| pair.change)
            .collect();
        assert_eq!(pairs.len(), 2);
        pairs
    };
    // The two sessions had different placements most of the time, but both had samples in both
    // placements.
    let mixed = compared(&[PACKAGE, PACKAGE, COMPLEX], &[COMPLEX, COMPLEX, PACKAGE]);
    assert_eq!(mixed, [Change::Same; 2]);
    assert_eq!(compared(&[PACKAGE], &[COMPLEX]), [Change::CannotTell; 2]);
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
        // Samples with SMT interference are a fifth slower. The median is not affected by them.
        assert!(
            (after.summary.median / before.summary.median - 1.0).abs() < 0.02,
            "{:?}",
            after.summary
        );
        points += 1;
    }
    assert!(points > 2);
    // The core is shared most of the time. The cause is named if the core was alone often enough
    // for a baseline.
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
        // The interval is over allocations, not over the samples of one allocation.
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
    // The third level answers sooner than the second one.
    let ran = on(machines::LATENCY[1] * 0.5);
    assert_eq!(causes(&ran), [Cause::BelowFasterLevel]);
    let rejected: Vec<_> = ran
        .points()
        .filter(|p| lab::measured(p).verdict.grade == VerdictGrade::Rejected)
        .collect();
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0].number("size_bytes"), Some(8 << 20));
    // A level that is only a little faster can be explained by the core clock.
    assert_eq!(causes(&on(machines::LATENCY[1] * 0.95)), []);
}
