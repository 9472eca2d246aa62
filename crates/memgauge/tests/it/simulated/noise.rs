//! Tests that disturbances of samples are detected, reported and, if possible, left out.

use super::lab::{self, Ran, bandwidth, latency, profile, request};
use super::machines::{self, LATENCY, READ, Simulated};
use engine::Sampling;
use experiments::Detail;
use memgauge::plan::Request;
use report::{RunStatus, VerdictGrade};
use simulated::NoiseModel;
use units::Nanos;

/// The plain machine with some noise.
fn noisy(change: impl FnOnce(&mut NoiseModel)) -> Simulated {
    let mut on = machines::plain();
    change(&mut on.model.noise);
    on
}

/// A session with all rounds of its points: bandwidth with one and two threads, and latency.
fn all_rounds(on: &Simulated) -> Ran {
    let experiments = vec![
        bandwidth("--sizes 16KiB --ops read --threads 1,2"),
        latency("--sizes 16KiB"),
    ];
    let mut request = request(experiments, on);
    request.sampling = Sampling {
        length: Nanos::from_millis(5.0),
        in_memory: 1.0,
        per_round: 10,
        rounds: 6,
        target: 0.0,
        most: None,
    };
    lab::run(on, request)
}

/// Asserts that every point is doubtful for this reason and no other.
fn assert_doubtful(ran: &Ran, words: &str) {
    assert_eq!(ran.report.status, RunStatus::Complete);
    for point in ran.points() {
        let m = lab::measured(point);
        assert_eq!(
            m.verdict.grade,
            VerdictGrade::Doubtful,
            "{:?}",
            point.coordinates
        );
        assert!(
            m.verdict.reasons.iter().all(|r| r.text.contains(words)),
            "{:?}",
            m.verdict.reasons
        );
    }
}

#[test]
fn without_noise_everything_is_solid_and_ends_early() {
    let on = machines::plain();
    let mut request = profile(Detail::Levels, &on);
    request.sampling.rounds = 9;
    let per_round = request.sampling.per_round as usize;
    let ran = lab::run(&on, request);
    for point in ran.points() {
        let m = lab::measured(point);
        assert_eq!(
            m.verdict.grade,
            VerdictGrade::Solid,
            "{:?}",
            m.verdict.reasons
        );
        // Six rounds are the fewest with a 95% interval of their median.
        assert_eq!(m.samples.len(), 6 * per_round);
        assert_eq!(m.samples.iter().map(|s| s.round).max(), Some(5));
        assert_eq!(m.evidence.disturbed_samples, 0);
    }
}

#[test]
fn jitter_widens_the_interval_around_the_truth() {
    let mut spreads = Vec::new();
    for jitter in [0.01, 0.04] {
        let ran = all_rounds(&noisy(|noise| noise.jitter = jitter));
        for (place, undisturbed) in [
            ("threads=1 operation=read", READ[0]),
            ("operation=chase", 1.0 / LATENCY[0]),
        ] {
            let m = ran.measured(place);
            assert_eq!(m.samples.len(), 60);
            // A sample takes longer by up to the share `jitter`, and by half of it at the median.
            let truth = undisturbed / (1.0 + jitter / 2.0);
            let truth = if place.contains("chase") {
                1.0 / truth
            } else {
                truth
            };
            assert!(
                m.summary.ci_low <= truth && truth <= m.summary.ci_high,
                "{place}: {:?}, {truth}",
                m.summary
            );
            let spread = m.evidence.relative_spread.unwrap();
            let half = (m.summary.ci_high - m.summary.ci_low) / 2.0 / m.summary.median;
            assert!((spread - half).abs() < 1e-12 && spread > 0.0 && spread < jitter);
            assert_eq!(
                m.verdict.grade,
                VerdictGrade::Solid,
                "{:?}",
                m.verdict.reasons
            );
            spreads.push(spread);
        }
    }
    assert!(
        spreads[2] > spreads[0] && spreads[3] > spreads[1],
        "{spreads:?}"
    );
}

#[test]
fn a_wide_interval_is_doubtful() {
    let ran = all_rounds(&noisy(|noise| noise.jitter = 2.0));
    assert_doubtful(&ran, "known to ±");
}

/// Number of solid points of the default profile, with ten rounds of one sample. Samples take
/// longer by up to the share `jitter`.
fn solid_points(jitter: f64, target: f64) -> usize {
    let on = noisy(|noise| noise.jitter = jitter);
    let sampling = Sampling {
        per_round: 1,
        rounds: 10,
        target,
        ..lab::sampling()
    };
    let request = || Request {
        sampling,
        ..profile(Detail::Levels, &on)
    };
    // The budget is the time of the plan with its reserve. The rest of a larger budget would make
    // more points solid.
    let budget = lab::plan(&on, request()).expect("a plan").estimate;
    let ran = lab::run(
        &on,
        Request {
            budget,
            ..request()
        },
    );
    let planned = ran.report.plan.planned;
    let real = ran
        .report
        .plan
        .real
        .expect("a finished run has taken its time");
    assert!(real <= planned * 1.15, "planned {planned}, took {real}");
    ran.points()
        .filter(|p| lab::measured(p).verdict.grade == VerdictGrade::Solid)
        .count()
}

#[test]
fn what_is_set_aside_goes_to_points_that_it_makes_solid() {
    // If the target is 0, the plan has no reserve. If all points shared the reserve equally, it
    // would make two of 34 points solid at the first jitter, and none at the second.
    let gained = [0.2, 0.25]
        .map(|jitter| solid_points(jitter, 0.005).saturating_sub(solid_points(jitter, 0.0)));
    assert!(gained.iter().sum::<usize>() >= 7, "{gained:?}");
}

#[test]
fn spikes_are_kept_but_left_out_of_the_headline() {
    let ran = all_rounds(&noisy(|noise| noise.spike_every = 7));
    for (place, truth) in [
        ("threads=2 operation=read", READ[0] * 2.0),
        ("operation=chase", LATENCY[0]),
    ] {
        let m = ran.measured(place);
        let disturbed: Vec<_> = m
            .samples
            .iter()
            .filter(|s| s.disturbance.is_some())
            .collect();
        assert!(
            disturbed.len() >= 6 && disturbed.len() <= 12,
            "{}",
            disturbed.len()
        );
        assert_eq!(m.samples.len(), 60);
        assert_eq!(m.evidence.disturbed_samples, disturbed.len() as u64);
        assert_eq!(m.summary.undisturbed_samples, 60 - disturbed.len() as u64);
        for sample in disturbed {
            assert!((sample.elapsed_ns / 15e6 - 1.0).abs() < 1e-9);
            assert_eq!(
                sample.disturbance.as_deref(),
                Some("1 involuntary context switches")
            );
        }
        for figure in [
            m.summary.median,
            m.summary.best,
            m.summary.ci_low,
            m.summary.ci_high,
        ] {
            assert!((figure / truth - 1.0).abs() < 1e-4, "{place}: {figure}");
        }
        assert_eq!(
            m.verdict.grade,
            VerdictGrade::Solid,
            "{:?}",
            m.verdict.reasons
        );
    }
}

#[test]
fn where_every_sample_is_disturbed_the_number_is_doubtful() {
    let ran = all_rounds(&noisy(|noise| noise.spike_every = 1));
    for point in ran.points() {
        let m = lab::measured(point);
        assert_eq!(
            (m.summary.undisturbed_samples, m.evidence.disturbed_samples),
            (0, 60)
        );
        assert!(
            m.verdict
                .reasons
                .iter()
                .any(|r| r.text == "60 of 60 samples were disturbed by other programs"),
            "{:?}",
            m.verdict
        );
    }
}

#[test]
fn stolen_time_is_the_hypervisors() {
    let ran = all_rounds(&noisy(|noise| noise.steal = 0.05));
    assert_doubtful(&ran, "the hypervisor took 5% of the time");
    let ran = all_rounds(&noisy(|noise| noise.steal = 0.005));
    assert!(
        ran.points()
            .all(|p| lab::measured(p).verdict.grade == VerdictGrade::Solid)
    );
}

#[test]
fn a_slow_drift_of_the_core_clock_is_named() {
    // The drift is 10% per second. It is too small to be seen within a round of 50 ms, but clear
    // between the first and the last round.
    let ran = all_rounds(&noisy(|noise| noise.drift = 0.1));
    for point in ran.points() {
        let m = lab::measured(point);
        let reasons = &m.verdict.reasons;
        assert!(
            reasons
                .iter()
                .any(|r| r.text.contains("the core clock moved from")),
            "{reasons:?}"
        );
        assert!(m.evidence.core_hz_after < m.evidence.core_hz_before);
    }
    let ran = all_rounds(&noisy(|noise| noise.drift = 0.001));
    assert!(
        ran.points()
            .all(|p| lab::measured(p).verdict.grade == VerdictGrade::Solid)
    );
}

#[test]
fn other_pages_than_requested_are_named() {
    let mut on = machines::plain();
    on.model.granted = 0.4;
    let ran = lab::run(
        &on,
        request(
            vec![bandwidth("--sizes 1MiB"), latency("--sizes 1MiB")],
            &on,
        ),
    );
    assert_doubtful(&ran, "40% of the memory is in 2 MiB pages");
}

#[test]
fn a_fixed_number_of_samples_is_taken_exactly() {
    for samples in [1u32, 3, 6, 7, 20, 61] {
        let on = machines::plain();
        let mut request = request(
            vec![bandwidth("--sizes 16KiB,1MiB"), latency("--sizes 16KiB")],
            &on,
        );
        request.sampling = request.sampling.exactly(samples);
        request.samples_fixed = true;
        let ran = lab::run(&on, request);
        for point in ran.points() {
            assert_eq!(lab::measured(point).samples.len(), samples as usize);
        }
    }
}

#[test]
fn a_fixed_number_of_samples_survives_a_small_budget() {
    let on = machines::plain();
    let mut request = request(vec![bandwidth("--sizes 16KiB --ops read")], &on);
    request.sampling = request.sampling.exactly(50);
    request.samples_fixed = true;
    request.budget = Nanos(0.3e9);
    let ran = lab::run(&on, request);
    for point in ran.points().filter(|p| p.outcome.measured().is_some()) {
        assert_eq!(lab::measured(point).samples.len(), 50);
        assert!(lab::measured(point).samples[0].elapsed_ns < 1e6);
    }
    assert!(!ran.plan.shortened.is_empty());
}

/// Longest and shortest sample, in ms, of a chain of `size` on this machine. Either all samples are
/// disturbed or none, according to `disturbed`.
fn sample_lengths(on: &Simulated, size: &str, disturbed: bool) -> [f64; 2] {
    let mut request = request(vec![latency(&format!("--sizes {size} --pages 4k"))], on);
    request.sampling.in_memory = 4.0;
    let ran = lab::run(on, request);
    let samples = &ran.measured("operation=chase").samples;
    assert!(
        samples
            .iter()
            .all(|sample| sample.disturbance.is_some() == disturbed)
    );
    let ends = |[least, most]: [f64; 2], ms: f64| [least.min(ms), most.max(ms)];
    samples
        .iter()
        .map(|sample| sample.elapsed_ns / 1e6)
        .fold([f64::INFINITY, 0.0], ends)
}

#[test]
fn chains_through_memory_stand_still_less_often_unless_that_disturbs_them() {
    let [shortest, longest] = sample_lengths(&machines::plain(), "16KiB", false);
    assert!(shortest > 0.9 && longest < 1.1, "{shortest} to {longest}");
    let [shortest, longest] = sample_lengths(&machines::plain(), "512MiB", false);
    assert!(shortest > 3.6 && longest < 4.4, "{shortest} to {longest}");
    let [shortest, longest] = sample_lengths(&noisy(|noise| noise.spike_every = 1), "512MiB", true);
    assert!(
        longest > 3.6 && shortest < longest / 2.0,
        "only the first round is long: {shortest} to {longest}"
    );
}

#[test]
fn the_plan_has_room_for_long_samples_in_memory() {
    let planned = |size: &str, in_memory: f64| {
        let mut request = request(
            vec![latency(&format!("--sizes {size} --pages 4k"))],
            &machines::plain(),
        );
        request.sampling.in_memory = in_memory;
        lab::plan(&machines::plain(), request)
            .expect("a plan")
            .estimate
    };
    // Each of 25 samples in six rounds is 3 ms longer, and the reserve grows accordingly.
    let longer = planned("512MiB", 4.0) - planned("512MiB", 1.0);
    assert!(longer > Nanos(450e6) && longer < Nanos(900e6), "{longer}");
    assert_eq!(planned("16KiB", 4.0), planned("16KiB", 1.0));
}
