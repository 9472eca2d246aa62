//! Tests that the comparison of two sessions finds their differences, and no others.

use super::lab::{self, SEED, bandwidth, latency, request};
use super::machines::{self, Simulated};
use engine::Sampling;
use kernels::SetId;
use report::{Coordinate, Outcome, Report, VerdictGrade};
use stats::SplitMix64;
use units::Nanos;
use verdict::{
    Change, ComparedReport, Comparison, DEFAULT_FLOOR, Fraction, ReportSet, Settings, compare,
};

/// The report of a session with all of its rounds, of 16 points in four levels.
fn report(on: &Simulated, seed: u64, rounds: u32) -> Report {
    let sizes = "--sizes 16KiB,512KiB,4MiB,256MiB";
    let experiments = vec![
        bandwidth(&format!("{sizes} --ops read,write,copy --threads 1")),
        latency(&format!("{sizes} --pages thp")),
    ];
    let mut request = request(experiments, on);
    request.sampling = Sampling {
        length: Nanos::from_millis(1.0),
        in_memory: 1.0,
        per_round: 5,
        rounds,
        target: 0.0,
        most: None,
    };
    lab::seeded(on, request, seed)
}

fn compared(before: &Report, after: &Report) -> Comparison {
    compare(
        ComparedReport::new("before", before),
        ComparedReport::new("after", after),
        &Settings::default(),
    )
}

/// The plain machine with noise: a sample takes longer by up to this share.
fn jittery(jitter: f64) -> Simulated {
    let mut on = machines::plain();
    on.model.noise.jitter = jitter;
    on
}

#[test]
fn two_runs_of_an_undisturbed_machine_hardly_ever_differ() {
    let mut all = 0;
    let mut differ = 0;
    // The noise is far below the floor, about as large, and far above it. In the last case only the
    // interval protects from false differences.
    for (jitter, rounds) in [(0.01, 6), (0.1, 5), (0.1, 6), (1.0, 6), (3.0, 9)] {
        let on = jittery(jitter);
        let tallies = (0..15).map(|pair| {
            let seed = 2 * pair + 1000 * u64::from(rounds);
            compared(&report(&on, seed, rounds), &report(&on, seed + 1, rounds)).tally
        });
        let tallies: Vec<_> = tallies.collect();
        let here: usize = tallies.iter().map(|tally| tally.all()).sum();
        let false_ones: usize = tallies.iter().map(|tally| tally.worse + tally.better).sum();
        // The limit is 2% plus three standard deviations of this number of draws.
        assert!(
            here == 240 && false_ones <= 11,
            "jitter {jitter}: {false_ones} of {here}"
        );
        (all, differ) = (all + here, differ + false_ones);
    }
    assert!(differ * 50 <= all, "{differ} of {all}");
}

#[test]
fn a_level_that_became_slower_is_found_and_no_other() {
    for level in 0..4 {
        let on = jittery(0.02);
        let mut slower = on.clone();
        slower.model.levels[level].read.0 /= 1.1;
        slower.model.levels[level].latency.0 *= 1.1;
        let comparison = compared(&report(&on, 1, 6), &report(&slower, 2, 6));
        assert_eq!(comparison.tally.all(), 16);
        for (group, pair) in comparison.pairs() {
            let hit = pair
                .coordinates
                .get("level")
                .is_some_and(|l| l.to_string() == machines::LEVELS[level]);
            let wanted = if hit { Change::Worse } else { Change::Same };
            assert_eq!(
                pair.change, wanted,
                "{level}: {} {pair:?}",
                group.experiment
            );
            let ratio = pair.ratio.unwrap();
            let low = pair.ratio_low.unwrap();
            let high = pair.ratio_high.unwrap();
            let truth = match (hit, group.quantity.higher_is_better) {
                (false, _) => 1.0,
                (true, true) => 1.0 / 1.1,
                (true, false) => 1.1,
            };
            assert!(
                low <= ratio && ratio <= high && (ratio / truth - 1.0).abs() < 0.01,
                "{pair:?}"
            );
        }
        // The most important differences come first.
        assert!(
            comparison
                .groups
                .iter()
                .all(|g| g.pairs[0].change == Change::Worse),
            "{comparison:?}"
        );
        let back = compared(&report(&slower, 2, 6), &report(&on, 1, 6)).tally;
        assert_eq!((back.better, back.worse), (comparison.tally.worse, 0));
    }
}

#[test]
fn the_floor_is_the_users() {
    let on = jittery(0.002);
    let mut slower = on.clone();
    slower.model.levels[3].latency.0 *= 1.02;
    let before = report(&on, 1, 6);
    let after = report(&slower, 2, 6);
    assert_eq!(compared(&before, &after).tally.same, 16);
    let settings = Settings {
        floor: Fraction(0.01),
        ..Settings::default()
    };
    let tally = compare(
        ComparedReport::new("a", &before),
        ComparedReport::new("b", &after),
        &settings,
    )
    .tally;
    assert_eq!((tally.worse, tally.same), (1, 15));
    assert_eq!(DEFAULT_FLOOR, Fraction(0.03));
}

#[test]
fn rounds_too_few_for_a_judgement_give_none() {
    let on = jittery(0.01);
    let tally = compared(&report(&on, 1, 4), &report(&on, 2, 4)).tally;
    assert_eq!(tally.cannot_tell, tally.all());
    let mut slower = on.clone();
    slower
        .model
        .levels
        .iter_mut()
        .for_each(|l| l.latency.0 *= 2.0);
    let comparison = compared(&report(&on, 1, 4), &report(&slower, 2, 4));
    assert!(
        comparison
            .pairs()
            .all(|(_, p)| p.remark.as_deref() == Some("4 and 4 rounds are too few to tell"))
    );
}

#[test]
fn repetitions_are_values_of_one_point() {
    let on = jittery(0.01);
    let repeated = |seed| {
        let mut request = request(vec![latency("--sizes 16KiB")], &on);
        request.repeat = 3;
        request.sampling = Sampling {
            length: Nanos::from_millis(1.0),
            in_memory: 1.0,
            per_round: 3,
            rounds: 3,
            target: 0.0,
            most: None,
        };
        lab::seeded(&on, request, seed)
    };
    let comparison = compared(&repeated(1), &repeated(2));
    let pairs: Vec<_> = comparison.pairs().map(|(_, pair)| pair).collect();
    assert_eq!(
        (pairs.len(), pairs[0].before.values, pairs[0].change),
        (1, 9, Change::Same)
    );
    assert!(!pairs[0].coordinates.contains_key("repeat"));
}

#[test]
fn what_is_not_the_same_question_is_listed() {
    let on = jittery(0.01);
    let before = report(&on, SEED, 6);
    let mut after = before.clone();
    // The changes are another digest under the same name, another kernel, another size, a failed
    // point, and a missing dataset.
    let latencies = after.datasets.pop().unwrap();
    let points = &mut after.datasets[0].points;
    let kernel = |p: &report::Point| p.coordinates["kernel"].to_string();
    let changed = kernel(&points[0]);
    for used in after
        .provenance
        .kernels
        .iter_mut()
        .filter(|k| k.name == changed)
    {
        used.digest = Some("0123456789abcdef".to_owned());
    }
    let same_code = points.iter().filter(|p| kernel(p) != changed).count();
    let at = points.iter().position(|p| kernel(p) != changed).unwrap();
    points[at].coordinates.insert(
        "kernel".to_owned(),
        Coordinate::Name("write/of-another-kind".to_owned()),
    );
    points[at + 3]
        .coordinates
        .insert("size_bytes".to_owned(), Coordinate::Number(12_345));
    points[at + 6].outcome = Outcome::Failed {
        reason: "a thread lost its CPU".to_owned(),
    };
    let comparison = compared(&before, &after);
    let reasons: Vec<&str> = comparison
        .unaligned
        .iter()
        .map(|u| u.reason.as_str())
        .collect();
    let count = |words: &str| reasons.iter().filter(|r| r.contains(words)).count();
    assert_eq!(
        count("different machine code"),
        12 - same_code,
        "{reasons:?}"
    );
    assert_eq!(count("write/of-another-kind"), 1, "{reasons:?}");
    assert_eq!(count("only in the second report"), 1, "{reasons:?}");
    assert_eq!(
        count("only in the first report"),
        1 + latencies.points.len(),
        "{reasons:?}"
    );
    assert_eq!(
        count("failed in the second report: a thread lost its CPU"),
        1,
        "{reasons:?}"
    );
    assert_eq!(comparison.tally.all(), same_code - 3);
    let settings = Settings {
        any_kernel: true,
        ..Settings::default()
    };
    let all = compare(
        ComparedReport::new("a", &before),
        ComparedReport::new("b", &after),
        &settings,
    );
    assert_eq!(all.tally.all(), 12 - 2);
    let marked = all.pairs().filter(|(_, p)| {
        p.remark
            .as_deref()
            .is_some_and(|r| r.starts_with("different"))
    });
    assert_eq!(marked.count(), 12 - same_code + 1);
}

#[test]
fn functions_of_two_c_libraries_are_two_kernels() {
    let on = jittery(0.01);
    let with_library = |name: &str| {
        let mut report = report(&on, SEED, 6);
        for used in &mut report.provenance.kernels {
            used.digest = None;
            used.c_library = Some(name.to_owned());
        }
        report
    };
    let gnu = with_library("GNU C library 2.36");
    let other = with_library("musl");
    let same = compared(&gnu, &gnu.clone());
    assert!(same.unaligned.is_empty() && same.tally.all() > 0);
    let comparison = compared(&gnu, &other);
    // Latencies name no kernel, so they stay comparable.
    assert_eq!(comparison.tally.all(), 4);
    let reasons: Vec<&str> = comparison
        .unaligned
        .iter()
        .map(|u| u.reason.as_str())
        .collect();
    let names_both = |reason: &&str| reason.contains("2.36") && reason.contains("musl");
    assert_eq!(reasons.len(), 12, "{reasons:?}");
    assert!(reasons.iter().all(names_both), "{reasons:?}");
}

/// The plain machine with a choice of two kernels. Each reaches this share of the bandwidth.
fn with_choices(avx512: f64, avx2: f64) -> Simulated {
    let mut on = jittery(0.01);
    on.model.choices = vec![(SetId::Avx512, avx512), (SetId::Avx2, avx2)];
    on
}

#[test]
fn what_the_fastest_kernel_reaches_is_compared_whichever_wins() {
    let before = report(&with_choices(1.0, 0.96), 1, 6);
    let comparison = compared(&before, &report(&with_choices(0.96, 1.0), 2, 6));
    assert_eq!(
        (comparison.tally.same, comparison.unaligned.len()),
        (16, 0),
        "{comparison:?}"
    );
    let raced = |one: &Comparison| {
        let said =
            |r: &str| r.starts_with("fastest was") && r.contains("avx512") && r.contains("avx2");
        one.pairs()
            .filter(|(_, p)| p.remark.as_deref().is_some_and(said))
            .count()
    };
    assert_eq!(raced(&comparison), 12);
    let (_, pair) = comparison
        .pairs()
        .find(|(_, p)| p.remark.is_some())
        .unwrap();
    // The floor is three percent, increased by the factor 1 / 0.96 of the kernel selections.
    assert!(
        (pair.floor.0 - (1.03 / 0.96 - 1.0)).abs() < 0.02
            && !pair.coordinates.contains_key("kernel"),
        "{pair:?}"
    );
    // A difference of a tenth is still found, and only at its level.
    let mut slower = with_choices(0.96, 1.0);
    slower.model.levels[1].read.0 /= 1.15;
    let comparison = compared(&before, &report(&slower, 2, 6));
    assert_eq!(
        (comparison.tally.worse, comparison.tally.better),
        (3, 0),
        "{comparison:?}"
    );
    // The difference between the kernels is not reported as a difference between the machines.
    let mut between = with_choices(0.96, 1.0);
    between.model.levels[1].read.0 /= 1.05;
    assert_eq!(compared(&before, &report(&between, 2, 6)).tally.worse, 0);
}

#[test]
fn another_field_is_another_question() {
    let before = report(&with_choices(1.0, 0.96), 1, 6);
    let mut other = with_choices(0.96, 1.0);
    other.model.choices.push((SetId::Sse2, 0.5));
    let after = report(&other, 2, 6);
    let comparison = compared(&before, &after);
    let listed = comparison
        .unaligned
        .iter()
        .filter(|u| u.reason.starts_with("different kernels: "))
        .count();
    assert_eq!((listed, comparison.tally.all()), (12, 4), "{comparison:?}");
    // Selections are not comparable if the kernels may have other code.
    let mut newer = report(&with_choices(0.96, 1.0), 2, 6);
    newer.provenance.tool.version = "99".to_owned();
    assert_eq!(compared(&before, &newer).unaligned.len(), 12);
    let settings = Settings {
        any_kernel: true,
        ..Settings::default()
    };
    assert_eq!(
        compare(
            ComparedReport::new("a", &before),
            ComparedReport::new("b", &newer),
            &settings
        )
        .tally
        .all(),
        16
    );
}

#[test]
fn runs_in_which_near_equals_race_hardly_ever_differ() {
    let mut all = 0;
    let mut differ = 0;
    let mut others = 0;
    for pair in 0..20 {
        let mut on = with_choices(1.0, 0.99);
        on.model.noise.jitter = 0.05;
        let comparison = compared(&report(&on, 2 * pair, 6), &report(&on, 2 * pair + 1, 6));
        assert!(comparison.unaligned.is_empty());
        (all, differ) = (
            all + comparison.tally.all(),
            differ + comparison.tally.worse + comparison.tally.better,
        );
        others += comparison
            .pairs()
            .filter(|(_, p)| p.remark.is_some())
            .count();
    }
    assert!(
        all == 320 && differ * 50 <= all && others > 20,
        "{differ} of {all}, {others} by other kernels"
    );
}

#[test]
fn numbers_that_cannot_be_right_are_not_judged_and_machines_are_told_apart() {
    let on = jittery(0.01);
    let before = report(&on, 1, 6);
    let mut slower = on.clone();
    slower.model.levels[0].latency.0 *= 2.0;
    let mut after = report(&slower, 2, 6);
    assert_eq!(compared(&before, &after).tally.worse, 1);
    for point in after.datasets.iter_mut().flat_map(|d| &mut d.points) {
        if let Outcome::Measured(m) = &mut point.outcome {
            m.verdict.grade = VerdictGrade::Rejected;
        }
    }
    after.provenance.host.cpu.model_name.value = Some("Another".to_owned());
    let comparison = compared(&before, &after);
    assert_eq!(comparison.tally.cannot_tell, 16);
    assert!(
        comparison
            .pairs()
            .all(|(_, p)| p.remark.as_deref() == Some("rejected in the second report"))
    );
    assert_eq!(
        comparison.notes,
        ["different processors: Simulated / Another"]
    );
}

#[test]
fn a_run_with_somebody_on_its_core_throughout_is_told_from_one_without() {
    let on = jittery(0.01);
    let alone = report(&on, 1, 6);
    assert!(compared(&alone, &report(&on, 2, 6)).notes.is_empty());
    let mut shared = on.clone();
    shared.model.noise.shared_every = 1;
    let comparison = compared(&alone, &report(&shared, 2, 6));
    assert_eq!(comparison.notes.len(), 1);
    let note = &comparison.notes[0];
    assert!(
        note.contains("5.00 / 3.00 instructions per cycle")
            && note.contains("the second throughout"),
        "{note}"
    );
    assert!(compared(&report(&shared, 2, 6), &alone).notes[0].contains("the first throughout"));
}

/// Makes `count` sessions from the seed `seed` on. Each has a random factor on all values, so
/// sessions differ by 5%. Rounds of a session differ by 1%.
fn sessions(count: u64, seed: u64, speed: f64) -> ReportSet {
    let on = jittery(0.01);
    let mut random = SplitMix64::new(seed);
    let all = (0..count).map(|session| {
        let radius = (-2.0 * (1.0 - random.fraction()).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * random.fraction()).cos();
        let factor = speed * (0.05 * normal).exp();
        let mut one = report(&on, 1000 * seed + session, 6);
        for dataset in &mut one.datasets {
            let factor = match dataset.quantity.higher_is_better {
                true => factor,
                false => 1.0 / factor,
            };
            for point in &mut dataset.points {
                if let Outcome::Measured(measured) = &mut point.outcome {
                    measured.samples.iter_mut().for_each(|s| s.value *= factor);
                    measured.also.clear();
                }
            }
        }
        one
    });
    ReportSet::new(all.collect()).expect("reports")
}

#[test]
fn sets_of_sessions_differ_by_more_than_the_scatter_between_sessions() {
    let tally = |before: &ReportSet, after: &ReportSet| {
        let before = ComparedReport::of_set("before", before);
        let after = ComparedReport::of_set("after", after);
        compare(before, after, &Settings::default()).tally
    };
    let differ = |sizes: [u64; 2], speed: f64| {
        let pairs = 15;
        let each = (0..pairs).map(|pair| {
            let tally = tally(
                &sessions(sizes[0], 2 * pair, 1.0),
                &sessions(sizes[1], 2 * pair + 1, speed),
            );
            // The points of a session share its factor, so a pair of sessions counts once.
            usize::from(tally.worse + tally.better > 0)
        });
        each.sum::<usize>()
    };
    // The comparison reports differences between single sessions, but not between sets of them.
    assert!(differ([1, 1], 1.0) > 5);
    for sizes in [[6, 6], [3, 3], [1, 6]] {
        assert!(differ(sizes, 1.0) <= 2, "{sizes:?}");
    }
    // A real change is found, even with few reports.
    assert_eq!(differ([6, 6], 0.7), 15);
    assert_eq!(differ([4, 4], 0.5), 15);
    let comparison = tally(&sessions(6, 1, 1.0), &sessions(6, 2, 0.7));
    assert_eq!(
        (comparison.better, comparison.same),
        (0, 0),
        "{comparison:?}"
    );
}

#[test]
fn each_report_of_a_set_is_one_value() {
    let before = sessions(5, 3, 1.0);
    let after = sessions(2, 4, 1.0);
    let all = compare(
        ComparedReport::of_set("a", &before),
        ComparedReport::of_set("b", &after),
        &Settings::default(),
    );
    assert!(all.tally.all() > 0);
    for (_, pair) in all.pairs() {
        assert_eq!((pair.before.values, pair.after.values), (5, 2), "{pair:?}");
        assert!(pair.ratio_low.is_some() && !pair.coordinates.contains_key("repeat"));
    }
    assert_eq!(
        all.notes
            .iter()
            .filter(|note| note.contains("set of"))
            .count(),
        2
    );
    // A set of one report is compared like that report.
    let one = report(&jittery(0.01), 1, 6);
    let alone = ReportSet::new(vec![one.clone()]).expect("a report");
    let as_set = ComparedReport::of_set("a", &alone);
    let as_report = ComparedReport::new("a", &one);
    let settings = Settings::default();
    assert_eq!(
        compare(as_set, as_set, &settings),
        compare(as_report, as_report, &settings)
    );
    assert_eq!(ReportSet::new(Vec::new()), None);
}
