//! Tests that each check names its cause and no other.

use super::*;
use report::PageEvidence;
use stats::{Drift, Modes};

struct Case {
    summary: Summary,
    evidence: Evidence,
    shape: SampleStatistics,
    main_disturbance: Option<Cause>,
    interrupted: bool,
}

fn good() -> Case {
    let summary = Summary {
        median: 100.0,
        best: 101.0,
        ci_low: 99.0,
        ci_high: 101.0,
        confidence: 0.95,
        mad: Some(0.5),
        mean: None,
        standard_deviation: None,
        coefficient_of_variation: None,
        undisturbed_samples: 20,
    };
    let pages = PageEvidence {
        requested_bytes: Some(2 << 20),
        granted_share: Some(1.0),
        resident_share: Some(1.0),
        nodes: Some(vec![0]),
        expected_nodes: Some(vec![0]),
        non_zero: Some(true),
        ..Default::default()
    };
    let system_activity = SystemActivity {
        elapsed_ns: 1e9,
        stolen_ns: Some(0.0),
        throttled_ns: Some(0.0),
        others_ns: Some(0.0),
        memory_pressure_ns: Some(0.0),
        thermal_throttles: Some(0),
        ..Default::default()
    };
    let evidence = Evidence {
        cpus: vec![0],
        affinity_held: Some(true),
        pages,
        system_activity,
        longest_gap_ns: Some(1e5),
        core_hz_before: Some(4e9),
        core_hz_after: Some(4e9),
        clock_error: Some(1e-6),
        clock_drift: Some(1e-6),
        relative_spread: Some(0.01),
        ..Default::default()
    };
    Case {
        summary,
        evidence,
        shape: SampleStatistics::default(),
        main_disturbance: None,
        interrupted: false,
    }
}

fn verdict(case: &Case, limit: Option<f64>) -> Verdict {
    let samples = case.summary.undisturbed_samples + case.evidence.disturbed_samples;
    verdict_of(case, limit, samples)
}

/// Verdict on a point with `samples` samples, including samples at other placements of its vCPUs.
fn verdict_of(case: &Case, limit: Option<f64>, samples: u64) -> Verdict {
    let limit = limit.map(|value| Limit {
        value,
        source: "the L1 ports".to_owned(),
        tolerance: 1.03,
    });
    judge(&VerdictInput {
        storage: None,
        summary: &case.summary,
        evidence: &case.evidence,
        shape: &case.shape,
        main_disturbance: case.main_disturbance,
        limit: limit.as_ref(),
        load: None,
        samples,
        machine_cpus: 2,
        rounds: 6,
        interrupted: case.interrupted,
    })
}

#[test]
fn samples_of_other_placements_count_as_undisturbed() {
    let mut case = good();
    case.evidence.disturbed_samples = 30;
    case.main_disturbance = Some(Cause::Others);
    assert_eq!(verdict(&case, None).grade, VerdictGrade::Doubtful);
    assert_eq!(verdict_of(&case, None, 100).grade, VerdictGrade::Solid);
}

#[test]
fn traffic_that_memory_cannot_carry_rejects_what_was_measured_beside_it() {
    let case = good();
    let load = Load {
        median: 120.0,
        ci_low: 119.0,
        ci_high: 121.0,
        confidence: 0.95,
        bus_estimate: 120.0,
    };
    let grade = |value: f64| {
        let limit = Limit {
            value,
            source: "the memory's 100 B/s".to_owned(),
            tolerance: 1.1,
        };
        let input = VerdictInput {
            summary: &case.summary,
            evidence: &case.evidence,
            shape: &case.shape,
            main_disturbance: None,
            limit: None,
            load: Some((&load, &limit)),
            storage: None,
            samples: case.summary.undisturbed_samples,
            machine_cpus: 2,
            rounds: 6,
            interrupted: false,
        };
        let verdict = judge(&input);
        (verdict.grade, verdict.text())
    };
    assert_eq!(grade(110.0), (VerdictGrade::Solid, String::new()));
    assert_eq!(
        grade(100.0),
        (
            VerdictGrade::Rejected,
            "its traffic is 120% of the memory's 100 B/s".to_owned()
        )
    );
}

#[test]
fn an_undisturbed_point_is_solid() {
    assert_eq!(verdict(&good(), None).grade, VerdictGrade::Solid);
    assert_eq!(verdict(&good(), Some(99.0)).grade, VerdictGrade::Solid);
    let nothing_known = Case {
        evidence: Evidence::default(),
        ..good()
    };
    assert_eq!(verdict(&nothing_known, None).grade, VerdictGrade::Solid);
}

#[test]
fn each_cause_is_named() {
    type Spoil = fn(&mut Case);
    let cases: [(Spoil, Cause, &str); 25] = [
        (|c| c.interrupted = true, Cause::Interrupted, "interrupted"),
        (
            |c| c.evidence.affinity_held = Some(false),
            Cause::Moved,
            "on other cpus",
        ),
        (
            |c| c.evidence.pages.granted_share = Some(0.4),
            Cause::PageSize,
            "40% of the memory is in 2 MiB pages",
        ),
        (
            |c| c.evidence.pages.resident_share = Some(0.5),
            Cause::NotResident,
            "50% of the memory is resident",
        ),
        (
            |c| c.evidence.pages.non_zero = Some(false),
            Cause::NotResident,
            "page of zeros",
        ),
        (
            |c| c.evidence.pages.nodes = Some(vec![0, 1]),
            Cause::Node,
            "memory on node [0, 1], threads on node [0]",
        ),
        (
            |c| c.evidence.disturbed_samples = 21,
            Cause::Disturbed,
            "21 of 41 samples were disturbed",
        ),
        (
            |c| (c.evidence.disturbed_samples, c.main_disturbance) = (21, Some(Cause::Others)),
            Cause::Others,
            "21 of 41 samples were disturbed by other programs",
        ),
        (|c| c.summary.confidence = 0.75, Cause::FewSamples, "75%"),
        (
            |c| c.summary.undisturbed_samples = 3,
            Cause::FewSamples,
            "only 3 undisturbed samples",
        ),
        (
            |c| c.evidence.system_activity.stolen_ns = Some(5e7),
            Cause::Stolen,
            "took 5% of the time",
        ),
        (
            |c| c.evidence.system_activity.throttled_ns = Some(4e8),
            Cause::Throttled,
            "quota stopped threads for 40%",
        ),
        (
            |c| c.evidence.system_activity.others_ns = Some(1e9),
            Cause::Others,
            "other programs used 1.0 cpus",
        ),
        (
            |c| c.evidence.system_activity.memory_pressure_ns = Some(2e8),
            Cause::MemoryPressure,
            "memory 20% of the time",
        ),
        (
            |c| c.evidence.core_hz_after = Some(3e9),
            Cause::CoreClock,
            "moved from 4.00 GHz to 3.00 GHz",
        ),
        (
            |c| {
                (c.evidence.core_hz_median, c.evidence.core_hz_baseline) =
                    (Some(1.97e9), Some(3.67e9))
            },
            Cause::CoreClock,
            "was 1.97 GHz, and is 3.67 GHz during the rest of the session",
        ),
        (
            |c| (c.evidence.core_hz_median, c.evidence.core_hz_base) = (Some(1.97e9), Some(2.6e9)),
            Cause::CoreClock,
            "is 2.60 GHz as base clock",
        ),
        (
            |c| c.evidence.system_activity.thermal_throttles = Some(2),
            Cause::Heat,
            "throttled itself 2 times",
        ),
        (
            |c| c.evidence.clock_error = Some(0.01),
            Cause::Counter,
            "less than 0.1%",
        ),
        (
            |c| c.evidence.clock_drift = Some(0.02),
            Cause::Counter,
            "off its calibration by 2.0%",
        ),
        (
            |c| c.evidence.longest_gap_ns = Some(2e9),
            Cause::Stopped,
            "stood still for 2.00 s",
        ),
        (
            |c| {
                c.shape.drift = Some(Drift {
                    total: -0.2,
                    p: 0.001,
                })
            },
            Cause::Drift,
            "fell by 20%",
        ),
        (
            |c| {
                c.shape.modes = Some(Modes {
                    low: 80.0,
                    high: 100.0,
                    share_high: 0.6,
                })
            },
            Cause::Bimodal,
            "25% apart, 60% of them high",
        ),
        (
            |c| c.shape.placement = Some(1.2),
            Cause::Placement,
            "allocations differ by 20%",
        ),
        (
            |c| c.evidence.relative_spread = Some(0.2),
            Cause::Spread,
            "±20%",
        ),
    ];
    for (spoil, cause, words) in cases {
        let mut case = good();
        spoil(&mut case);
        let verdict = verdict(&case, None);
        assert_eq!(verdict.grade, VerdictGrade::Doubtful, "{cause:?}");
        assert_eq!(verdict.reasons.len(), 1, "{:?}", verdict.reasons);
        assert_eq!(verdict.reasons[0].cause, cause);
        assert!(verdict.text().contains(words), "{}", verdict.text());
        assert!(!verdict.reasons[0].advice.is_empty() && verdict.names(cause));
    }
}

#[test]
fn what_goes_on_within_rounds_is_the_reason_of_a_doubt_and_no_doubt_of_its_own() {
    let mut case = good();
    case.shape.within_round_trend = Some(0.3);
    assert_eq!(verdict(&case, None).grade, VerdictGrade::Solid);
    case.evidence.relative_spread = Some(0.2);
    assert_eq!(
        verdict(&case, None).text(),
        "known to ±20% only; samples got slower by 30% within rounds"
    );
    case.shape.within_round_trend = Some(-0.3);
    assert!(
        verdict(&case, None).names(Cause::NonStationary)
            && verdict(&case, None).text().contains("faster by 30%")
    );
    case.shape.within_round_trend = Some(0.03);
    assert_eq!(verdict(&case, None).reasons.len(), 1);
}

#[test]
fn slower_is_longer_times_and_lower_rates() {
    let rounds = |of: fn(usize) -> f64| vec![(0..12).map(|_| (0..8).map(of).collect()).collect()];
    let rising = rounds(|at| 100.0 + 10.0 * (at % 4) as f64);
    let falling = rounds(|at| 100.0 / (1.0 + at as f64));
    assert!(
        SampleStatistics::describe(&rising, false, 4)
            .within_round_trend
            .is_some_and(|s| (s - 0.3).abs() < 1e-9)
    );
    assert!(
        SampleStatistics::describe(&rising, true, 4)
            .within_round_trend
            .is_some_and(|s| s < -0.2)
    );
    assert!(
        SampleStatistics::describe(&falling, true, 4)
            .within_round_trend
            .is_some_and(|s| s > 0.5)
    );
    assert_eq!(
        SampleStatistics::describe(&rounds(|_| 5.0), true, 4).within_round_trend,
        None
    );
}

#[test]
fn small_disturbances_are_none() {
    let mut case = good();
    let around = &mut case.evidence.system_activity;
    (around.stolen_ns, around.throttled_ns, around.others_ns) = (Some(9e6), Some(9e6), Some(2e8));
    around.memory_pressure_ns = Some(4e7);
    case.shape.drift = Some(Drift {
        total: 0.04,
        p: 0.001,
    });
    case.evidence.disturbed_samples = 20;
    assert_eq!(verdict(&case, None).grade, VerdictGrade::Solid);
}

#[test]
fn more_than_the_limit_is_rejected() {
    let verdict = verdict(&good(), Some(50.0));
    assert_eq!(verdict.grade, VerdictGrade::Rejected);
    assert_eq!(
        (verdict.text().as_str(), verdict.reasons[0].cause),
        ("200% of the L1 ports", Cause::AboveLimit)
    );
}
