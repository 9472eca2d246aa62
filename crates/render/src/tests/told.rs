//! Tests that every renderer shows or counts every point, whatever its outcome.

use super::super::figures::share;
use super::super::{NamedReport, Options, RENDERERS, Renderer, by_name};
use super::{render, reports};
use report::{
    Cause, Coordinate, Fact, Limit, Outcome, PlacementStratum, Reason, Report, ReportVerdict,
    VcpuPlacement, VcpuPlacementEvidence, VerdictGrade,
};

/// Reports with solid points only, each with the index of the point that the tests give another
/// outcome.
fn solid_reports() -> Vec<(&'static str, Report, usize)> {
    let mut sweep = reports::single_experiment();
    sweep.datasets[0].points.pop();
    let all = [
        ("hierarchy", reports::default_profile(), 9),
        ("sweep", sweep, 1),
        ("matrix", reports::matrix(3), 4),
    ];
    all.into_iter()
        .map(|(name, mut report, at)| {
            for point in report.datasets.iter_mut().flat_map(|d| &mut d.points) {
                point.outcome = reports::outcome(reports::measured(10.0 + point.id as f64));
            }
            report.verdict = ReportVerdict::summarise(&report.datasets);
            (name, report, at)
        })
        .collect()
}

/// Every outcome except a solid number, each with two words. Text about the outcome must contain
/// one of the words.
fn ends() -> Vec<(Outcome, [&'static str; 2])> {
    let judged = |grade| {
        reports::outcome(reports::judged(
            reports::measured(700.0),
            grade,
            &["strange"],
        ))
    };
    let reason = || "why so".to_owned();
    vec![
        (judged(VerdictGrade::Doubtful), ["doubtful", "strange"]),
        (judged(VerdictGrade::Rejected), ["rejected", "strange"]),
        (Outcome::Skipped { reason: reason() }, ["skipped", "why so"]),
        (
            Outcome::Unsupported { reason: reason() },
            ["unsupported", "why so"],
        ),
        (Outcome::Failed { reason: reason() }, ["failed", "why so"]),
        (
            Outcome::Interrupted { reason: reason() },
            ["interrupted", "why so"],
        ),
        // A value that is not finite counts as failed.
        (
            reports::outcome(reports::measured(f64::NAN)),
            ["failed", "finite"],
        ),
    ]
}

/// Output for a report, followed by its notes.
fn shown(renderer: &dyn Renderer, report: &Report, options: &Options) -> Vec<u8> {
    let mut shown = renderer.render(report, options).unwrap();
    shown.extend(renderer.notes(report, options).unwrap().bytes());
    shown
}

/// The visible part of a page, without the data of its scripts.
fn visible(name: &str, shown: &[u8]) -> String {
    let text = String::from_utf8_lossy(shown).into_owned();
    let start = "<script type=\"application/json\"";
    if name == "html" {
        text.split(start).next().unwrap_or_default().to_owned()
    } else {
        text
    }
}

#[test]
fn no_renderer_keeps_silent_about_a_point() {
    let terminal = |charts: &[&str]| Options {
        width: Some(100),
        charts: charts.iter().map(|c| (*c).to_owned()).collect(),
        ..Options::default()
    };
    for (case, solid, at) in solid_reports() {
        let mut without = solid.clone();
        without.datasets[0].points.remove(at);
        for renderer in RENDERERS {
            let name = renderer.name();
            let all: &[&str] = if name == "table" { &["all"] } else { &[] };
            let options: &[Options] = if all.is_empty() {
                &[terminal(&[])]
            } else {
                &[terminal(&[]), terminal(all)]
            };
            for options in options {
                // A format without a place for such points names all of them in its notes.
                let nothing = name == "sc-membench" && renderer.shows_nothing(&solid, options);
                let [without, solid_shown] =
                    [&without, &solid].map(|report| shown(*renderer, report, options));
                for (end, words) in ends() {
                    let context = format!("{case}, {words:?} as {name} {:?}", options.charts);
                    let mut with = solid.clone();
                    with.datasets[0].points[at].outcome = end;
                    let with = shown(*renderer, &with, options);
                    assert!(
                        with != without,
                        "{context} is as if the point were not there"
                    );
                    if nothing {
                        continue;
                    }
                    assert!(
                        with != solid_shown,
                        "{context} is as if the point were solid"
                    );
                    let text = visible(name, &with);
                    let is_told = words.iter().any(|word| text.contains(word));
                    assert!(
                        is_told || ["svg", "png"].contains(&name),
                        "{context}: {text}"
                    );
                }
            }
        }
    }
}

#[test]
fn reports_drawn_together_tell_whose_points_are_missing() {
    let (_, solid, at) = solid_reports().swap_remove(1);
    let named = |name: &str, report: &Report| NamedReport {
        name: name.into(),
        report: report.clone(),
    };
    let mut with = solid.clone();
    with.datasets[0].points[at].outcome = Outcome::Failed {
        reason: "why so".into(),
    };
    let options = Options {
        charts: vec!["latency".into()],
        ..Options::default()
    };
    for renderer in RENDERERS
        .iter()
        .filter(|r| ["table", "html"].contains(&r.name()))
    {
        let bytes = renderer
            .render_all(&[named("good", &solid), named("poor", &with)], &options)
            .unwrap();
        let text = visible(renderer.name(), &bytes);
        assert!(
            text.contains("poor: 3 points: 1 without a number (1 failed)"),
            "{text}"
        );
        assert!(!text.contains("good: 3 points"), "{text}");
    }
}

#[test]
fn one_thing_is_singular_in_every_format() {
    let mut report = reports::one_point();
    report.plan.points = 1;
    report.verdict = ReportVerdict::summarise(&report.datasets);
    let mut doubtful = report.clone();
    for point in doubtful.datasets.iter_mut().flat_map(|d| &mut d.points) {
        point.outcome = reports::outcome(reports::judged(
            reports::measured(1.0),
            VerdictGrade::Doubtful,
            &["strange"],
        ));
        if let Outcome::Measured(measured) = &mut point.outcome {
            measured.summary.undisturbed_samples = 1;
        }
    }
    doubtful.verdict = ReportVerdict::summarise(&doubtful.datasets);
    let nouns = [
        "points", "reasons", "samples", "rounds", "threads", "rows", "charts", "reports", "sizes",
        "kernels",
    ];
    for report in [report, doubtful] {
        for renderer in RENDERERS
            .iter()
            .filter(|r| r.is_text() && !["json", "jsonl", "csv"].contains(&r.name()))
        {
            for charts in [vec![], vec!["all".to_owned()]] {
                let options = Options {
                    charts,
                    scores: true,
                    ..Options::default()
                };
                let bytes = shown(*renderer, &report, &options);
                let text = String::from_utf8(bytes).unwrap();
                let text = text.split("<script type=\"text/plain\"").next().unwrap();
                let words: Vec<&str> = text
                    .split(|c: char| !c.is_alphanumeric() && c != '.')
                    .collect();
                let wrong = words.windows(3).find(|w| {
                    w[0] == "1"
                        && (nouns.contains(&w[1])
                            || (["more", "other"].contains(&w[1]) && nouns.contains(&w[2])))
                });
                assert!(wrong.is_none(), "{}: {wrong:?}", renderer.name());
            }
        }
    }
}

/// A hierarchy of one level. Its table has no columns for some operations and numbers of threads.
/// Values count from 101 GB/s. The first point in the table and the last point outside of it are
/// doubtful.
fn more_than_the_table() -> Report {
    let mut points = Vec::new();
    for operation in ["read", "triad"] {
        for threads in [1, 2, 4, 8] {
            let id = points.len() as u64;
            let at = [
                ("operation", reports::name(operation)),
                ("kernel", reports::name(&format!("{operation}-avx512"))),
                ("level", reports::name("L1")),
                ("size_bytes", Coordinate::Number(16 << 10)),
                ("threads", Coordinate::Number(threads)),
            ];
            let grade = if [0, 7].contains(&id) {
                VerdictGrade::Doubtful
            } else {
                VerdictGrade::Solid
            };
            let measured = reports::judged(reports::measured((101 + id) as f64 * 1e9), grade, &[]);
            points.push(reports::point(id, &at, reports::outcome(measured)));
        }
    }
    reports::report("default", vec![reports::dataset("bandwidth", points)])
}

/// Bandwidth of writes at one level: 100 GB/s by ordinary stores, and the figures in `variants` by
/// other stores.
fn with_variants(variants: &[(&str, f64)]) -> Report {
    let plain = [("write", 100.0)];
    let points = plain.iter().chain(variants).enumerate();
    let points = points.map(|(id, (operation, gbs))| {
        let at = [
            ("operation", reports::name(operation)),
            ("level", reports::name("DRAM")),
            ("size_bytes", Coordinate::Number(1 << 30)),
            ("threads", Coordinate::Number(1)),
        ];
        let measured = reports::measured(gbs * 1e9);
        reports::point(id as u64, &at, reports::outcome(measured))
    });
    reports::report(
        "default",
        vec![reports::dataset("bandwidth", points.collect())],
    )
}

#[test]
fn the_two_fastest_variants_that_gain_have_rows() {
    let rows = |variants: &[(&str, f64)]| -> Vec<String> {
        let report = with_variants(variants);
        let text = by_name("table")
            .unwrap()
            .render(&report, &Options::default());
        let text = String::from_utf8(text.unwrap()).unwrap();
        text.lines()
            .filter_map(|line| line.strip_prefix("DRAM"))
            .map(|rest| rest.split_whitespace().next().unwrap().to_owned())
            .collect()
    };
    let all = [
        ("write-nt", 110.0),
        ("write-zero", 240.0),
        ("write-rep", 130.0),
        ("write-libc", 104.0),
    ];
    let found = rows(&all);
    assert_eq!(found[1..], ["zeroing", "rep"], "{found:?}");
    assert_eq!(rows(&[("write-nt", 104.0), ("write-libc", 90.0)]).len(), 1);
}

#[test]
fn points_without_a_column_are_counted_and_shown_on_request() {
    let report = more_than_the_table();
    let text = |format: &str, verbose: bool| {
        let options = Options {
            verbose,
            ..Options::default()
        };
        String::from_utf8(by_name(format).unwrap().render(&report, &options).unwrap()).unwrap()
    };
    let has = |text: &str, value: u64| {
        text.split(|c: char| !c.is_alphanumeric())
            .any(|w| w == value.to_string())
    };
    for format in ["table", "markdown"] {
        let brief = text(format, false);
        let verbose = text(format, true);
        assert!(brief.contains("6 more points"), "{brief}");
        assert!(
            has(&brief, 101) && has(&brief, 104) && !has(&brief, 102),
            "{brief}"
        );
        assert!((101..=108).all(|value| has(&verbose, value)), "{verbose}");
        assert!(!verbose.contains("more point"), "{verbose}");
    }
    assert!((101..=108).all(|value| has(&visible("html", text("html", false).as_bytes()), value)));
    let all = render("table", &reports::default_profile(), &Options::default());
    assert!(!all.contains("more point"), "{all}");
}

#[test]
fn the_verdict_names_the_grade_the_numbers_and_the_main_cause() {
    let line = |report: &Report, verbose: bool| {
        let options = Options {
            verbose,
            ..Options::default()
        };
        let text = render("table", report, &options);
        let line = text.lines().find(|line| line.starts_with("Trust"));
        line.unwrap().to_owned()
    };
    let mut report = more_than_the_table();
    assert!(line(&report, false).contains("doubtful: 2 of 8 numbers"));
    assert!(line(&report, true).contains("2 doubtful"));
    for point in &mut report.datasets[0].points {
        point.outcome = reports::outcome(reports::measured(1.0));
    }
    report.verdict = ReportVerdict::summarise(&report.datasets);
    assert!(line(&report, false).contains("solid"));
    let cause = Cause::CoreShared;
    let reason = Reason {
        cause,
        text: "shared".to_owned(),
        advice: "leave it idle".to_owned(),
    };
    for (point, grade) in [(0, VerdictGrade::Rejected), (1, VerdictGrade::Doubtful)] {
        if let Outcome::Measured(measured) = &mut report.datasets[0].points[point].outcome {
            measured.verdict.add(grade, reason.clone());
        }
    }
    report.verdict = ReportVerdict::summarise(&report.datasets);
    let text = line(&report, false);
    assert!(
        text.contains("rejected: 1 of 8 numbers") && text.contains(verdict::because(cause)),
        "{text}"
    );
}

#[test]
fn points_between_things_that_lack_an_end_have_a_table_of_their_own() {
    let mut report = reports::eight_nodes();
    let mut nowhere = report.datasets[0].points[9].clone();
    nowhere.coordinates.remove("memory_node");
    nowhere.outcome = reports::outcome(reports::measured(777e9));
    report.datasets[0].points.push(nowhere);
    assert!(render("table", &report, &Options::default()).contains("777"));
}

#[test]
fn the_share_of_a_limit_is_that_of_the_quietest_moments() {
    let mut measured = reports::measured(221.0);
    measured.limit = Some(Limit {
        value: 236.0,
        source: "the L1 ports".to_owned(),
        tolerance: 1.03,
    });
    let typical = share(&measured, true).unwrap();
    assert!((typical - 93.6).abs() < 0.1, "{typical}");
    measured.also.insert("undisturbed".to_owned(), 236.0);
    assert_eq!(share(&measured, true), Some(100.0));
    // Beyond the limit, the quietest moments had a higher core clock than the limit assumes.
    measured.also.insert("undisturbed".to_owned(), 253.0);
    assert_eq!(share(&measured, true), Some(typical));
}

/// The verdict line of a report on a screen.
fn trust_line(report: &Report) -> String {
    let text = render("table", report, &Options::default());
    let line = text.lines().find(|line| line.starts_with("Trust"));
    line.expect("a verdict").to_owned()
}

#[test]
fn numbers_that_count_and_are_not_above_are_named() {
    let with_grades = |weak: &[u64]| {
        let mut report = more_than_the_table();
        for point in report.datasets.iter_mut().flat_map(|d| &mut d.points) {
            if let Outcome::Measured(measured) = &mut point.outcome {
                measured.verdict.grade = match weak.contains(&point.id) {
                    true => VerdictGrade::Doubtful,
                    false => VerdictGrade::Solid,
                };
            }
        }
        report.verdict = ReportVerdict::summarise(&report.datasets);
        trust_line(&report)
    };
    // The table shows the points 0 and 3 of eight points.
    assert!(with_grades(&[]).contains("6 of them are not above"));
    assert!(with_grades(&[7]).contains("every number above is solid"));
    let above = with_grades(&[0, 7]);
    assert!(!above.contains("above"), "{above}");
}

#[test]
fn the_placement_of_virtual_cpus_stands_in_the_machine_line() {
    let first_line = |placements: &[VcpuPlacement]| {
        let mut report = more_than_the_table();
        report.provenance.host.system.virtualization = Fact::known("KVM".to_owned(), "test");
        let points = report.datasets.iter_mut().flat_map(|d| &mut d.points);
        for (point, placement) in points.zip(placements) {
            if let Outcome::Measured(measured) = &mut point.outcome {
                let stratum = PlacementStratum {
                    placement: *placement,
                    share: 1.0,
                    rounds: 6,
                    round_trip_ns: 54.0,
                    samples: 6,
                    median: Some(1e9),
                    ci_low: None,
                    ci_high: None,
                    confidence: None,
                };
                measured.evidence.vcpu_placement = Some(VcpuPlacementEvidence {
                    strata: vec![stratum],
                    ..Default::default()
                });
            }
        }
        let text = render("table", &report, &Options::default());
        text.lines().next().unwrap_or_default().to_owned()
    };
    let near = VcpuPlacement::SharedCache;
    let far = VcpuPlacement::SamePackage;
    assert!(!first_line(&[]).contains("vCPUs"));
    assert!(first_line(&[near; 3]).contains("vCPUs with a shared cache"));
    assert!(first_line(&[near, far]).contains("moves vCPUs"));
}
