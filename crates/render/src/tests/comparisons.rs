//! Comparisons in every format.

use super::super::{COMPARISON_FORMATS, NamedReport, Options, comparison_summary};
use super::reports;
use report::{Outcome, Report, Sample};
use std::path::Path;
use verdict::{ComparedReport, Comparison, Settings, compare};

/// Returns the report with all values times `factor`, and with six rounds for each point. The
/// rounds scatter within half a percent.
pub fn with_rounds(mut report: Report, factor: f64) -> Report {
    for point in report.datasets.iter_mut().flat_map(|d| &mut d.points) {
        let Outcome::Measured(m) = &mut point.outcome else {
            continue;
        };
        let first = m.samples[0].clone();
        m.summary.median *= factor;
        let value = |round: u32| m.summary.median * (1.0 + f64::from(round) * 1e-3);
        m.samples = (0..6)
            .map(|round| Sample {
                value: value(round),
                round,
                ..first.clone()
            })
            .collect();
    }
    report
}

/// Compares the default profile with a slower machine: bandwidth is lower by a tenth, latency is
/// the same.
pub fn slower() -> Comparison {
    let before = with_rounds(reports::default_profile(), 1.0);
    let mut after = with_rounds(reports::default_profile(), 0.9);
    after.datasets[1] = before.datasets[1].clone();
    after.provenance.host.environment.governor.value = Some("powersave".to_owned());
    compare(
        ComparedReport::new("old.json", &before),
        ComparedReport::new("new.json", &after),
        &Settings::default(),
    )
}

/// Reports like those that [`slower`] compares.
pub fn compared() -> [NamedReport; 2] {
    let before = with_rounds(reports::default_profile(), 1.0);
    let after = with_rounds(reports::default_profile(), 0.9);
    [("old.json", before), ("new.json", after)].map(|(name, report)| NamedReport {
        name: name.to_owned(),
        report,
    })
}

fn shown(format: &str, comparisons: &[Comparison], verbose: bool) -> String {
    let options = Options {
        verbose,
        ..Options::default()
    };
    String::from_utf8(
        COMPARISON_FORMATS
            .named(format)
            .unwrap()
            .render(comparisons, &compared(), &options)
            .unwrap(),
    )
    .unwrap()
}

#[test]
fn the_summary_line_comes_first_and_names_the_worst() {
    let comparison = slower();
    let line = comparison_summary(&comparison);
    assert!(
        line.starts_with(
            "24 points compared: 19 worse, 0 better, 4 the same within 3%, 1 cannot tell; worst: "
        ),
        "{line}"
    );
    assert!(
        line.contains("-10") && line.ends_with("not compared"),
        "{line}"
    );
    let text = shown("table", &[comparison], false);
    assert!(text.lines().nth(1).unwrap().starts_with("result"), "{text}");
    assert!(
        text.contains("4 points the same; --verbose shows them"),
        "{text}"
    );
}

#[test]
fn json_is_the_comparison_and_several_are_a_list() {
    let comparison = slower();
    let one: serde_json::Value =
        serde_json::from_str(&shown("json", std::slice::from_ref(&comparison), false)).unwrap();
    assert_eq!(
        (&one["tally"]["worse"], &one["floor"]),
        (&serde_json::json!(19), &serde_json::json!(0.03))
    );
    let pair = &one["groups"][0]["pairs"][0];
    assert_eq!(pair["change"], "worse");
    assert!(
        (pair["ratio"].as_f64().unwrap() - 0.9).abs() < 1e-9,
        "{pair}"
    );
    let both: serde_json::Value =
        serde_json::from_str(&shown("json", &[comparison.clone(), comparison], true)).unwrap();
    assert_eq!(both.as_array().unwrap().len(), 2);
}

#[test]
fn hostile_reports_are_compared_safely() {
    let mut after = with_rounds(reports::hostile(), 0.5);
    after.provenance.host.cpu.model_name.value = Some(format!("{} again", reports::HOSTILE));
    let comparison = compare(
        ComparedReport::new(reports::HOSTILE, &reports::hostile()),
        ComparedReport::new(reports::HOSTILE, &after),
        &Settings::default(),
    );
    for format in COMPARISON_FORMATS.iter() {
        for verbose in [false, true] {
            let text = shown(format.name, std::slice::from_ref(&comparison), verbose);
            assert!(
                !text.chars().any(super::safety::is_harmful),
                "{}: {text:?}",
                format.name
            );
            assert!(
                !["markdown", "html"].contains(&format.name) || !text.contains("<b>"),
                "{text}"
            );
        }
    }
}

#[test]
fn a_page_has_the_verdicts_on_top_and_the_reports_over_each_other() {
    let comparison = slower();
    let page = shown("html", std::slice::from_ref(&comparison), false);
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(place("24 points compared: 19 worse") < place("id=\"charts-part\""));
    assert!(page.contains("<td>worse</td>") && page.contains("4 points the same"));
    assert!(
        page.contains("\"reports\":[\"old.json\",\"new.json\"]")
            && page.contains("id=\"report-1\"")
    );
    assert_eq!(page.matches("<section id=\"comparison-").count(), 1);
}

#[test]
fn nothing_to_compare_is_said() {
    let comparison = compare(
        ComparedReport::new("a", &reports::empty()),
        ComparedReport::new("b", &reports::default_profile()),
        &Settings::default(),
    );
    let text = shown("table", &[comparison], false);
    assert!(
        text.contains("0 points compared") && text.contains("only in the second report"),
        "{text}"
    );
    let none = compare(
        ComparedReport::new("a", &reports::empty()),
        ComparedReport::new("b", &reports::empty()),
        &Settings::default(),
    );
    assert!(shown("markdown", std::slice::from_ref(&none), true).contains("0 points compared"));
    assert!(shown("table", &[none], true).contains("0 points compared"));
}

#[test]
fn formats_are_found_by_name_and_extension() {
    for format in COMPARISON_FORMATS.iter() {
        assert_eq!(
            COMPARISON_FORMATS
                .named(&format.name.to_uppercase())
                .unwrap()
                .name,
            format.name
        );
        assert_eq!(
            COMPARISON_FORMATS
                .for_output(
                    Some(Path::new(&format!("a.b/c.{}", format.extension))),
                    None
                )
                .unwrap()
                .name,
            format.name
        );
    }
    let error = COMPARISON_FORMATS.named("csv").unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown format of comparisons: 'csv'; known are table, markdown, json, html; type one of \
         these"
    );
    assert!(
        COMPARISON_FORMATS
            .for_output(Some(Path::new("x")), None)
            .is_err()
    );
}

/// A report of one bandwidth point, whose rounds have these values.
fn of_rounds(values: &[f64]) -> Report {
    let mut report = reports::one_point();
    let point = &mut report.datasets[0].points[0];
    let Outcome::Measured(m) = &mut point.outcome else {
        panic!("a measured point")
    };
    let first = m.samples[0].clone();
    let sample = |(round, value): (usize, &f64)| Sample {
        value: *value,
        round: round as u32,
        placement: None,
        quietest: None,
        disturbance: None,
        ..first.clone()
    };
    m.samples = values.iter().enumerate().map(sample).collect();
    // The summary's median is that of all samples, which may differ from the median of rounds.
    m.summary.median = values[0];
    report
}

#[test]
fn the_change_is_the_ratio_of_the_figures_beside_it_and_lies_in_the_interval() {
    let mut two_kinds = vec![100.0; 14];
    two_kinds.extend([130.0; 16]);
    let mut mostly_low = vec![100.0; 16];
    mostly_low.extend([130.0; 14]);
    let cases = [
        (
            vec![97.0, 98.0, 97.8, 99.0, 90.0, 97.8],
            vec![99.9, 96.0, 99.9, 101.0, 99.9, 85.0],
        ),
        (vec![1.0; 6], vec![1.0001; 6]),
        (vec![1.0; 6], vec![0.9999; 6]),
        (mostly_low, two_kinds),
        (vec![1.0; 3], vec![2.0; 3]),
    ];
    for (before, after) in cases {
        let comparison = compare(
            ComparedReport::new("a", &of_rounds(&before)),
            ComparedReport::new("b", &of_rounds(&after)),
            &Settings::default(),
        );
        let (_, pair) = comparison.pairs().next().unwrap();
        assert_eq!(pair.ratio.unwrap(), pair.after.median / pair.before.median);
        assert_eq!(Some(pair.before.median), stats::median(&before));
        if pair.change != verdict::Change::CannotTell {
            assert!(
                pair.ratio_low <= pair.ratio && pair.ratio <= pair.ratio_high,
                "{pair:?}"
            );
        }
        let text = shown("table", &[comparison], true);
        assert!(!text.contains("-0.0") && !text.contains("+0.0"), "{text}");
    }
}

/// A report read from sc-membench's CSV with these rows.
fn sc_membench(rows: &str) -> Report {
    let text = format!("{}\n{rows}\n", report::SC_MEMBENCH_HEADER);
    report::parse_saved(text.as_bytes()).unwrap().into_report()
}

#[test]
fn files_without_samples_are_judged_by_their_figures_and_a_floor_of_their_own() {
    let before = sc_membench("32,read,1000.00,0,0,0,2,30,0.5\n32,latency,0,2.00,0.20,9,1,9,0.3");
    let after = sc_membench("32,read,950.00,0,0,0,2,30,0.5\n32,latency,0,3.00,0.20,9,1,9,0.3");
    let found = |settings: &Settings| {
        let comparison = compare(
            ComparedReport::new("a", &before),
            ComparedReport::new("b", &after),
            settings,
        );
        let tally = comparison.tally;
        assert_eq!(comparison.without_samples(), 2);
        for format in COMPARISON_FORMATS.iter() {
            shown(format.name, std::slice::from_ref(&comparison), true);
        }
        [tally.worse, tally.better, tally.cannot_tell, tally.same]
    };
    assert_eq!(found(&Settings::default()), [1, 0, 0, 1]);
    let floor = |share: f64| Settings {
        floor_without_samples: verdict::Fraction(share),
        ..Settings::default()
    };
    assert_eq!(found(&floor(0.01)), [2, 0, 0, 0]);
    assert_eq!(found(&floor(0.6)), [0, 0, 0, 2]);
}

#[test]
fn a_report_is_compared_with_the_other_tools_file_in_that_tools_form() {
    let report = reports::default_profile();
    let form = report::sc_membench_form(&report, report::Threads::One);
    let file = report::sc_membench_report(&form.rows);
    let comparison = compare(
        ComparedReport::new("report", &report),
        ComparedReport::new("file", &file),
        &Settings::default(),
    );
    // Each row of the file has its point. The figure is the best bandwidth or the median latency.
    assert_eq!(
        (comparison.tally.same, comparison.tally.all()),
        (form.rows.len(), form.rows.len())
    );
    assert!(comparison.pairs().all(|(_, pair)| pair.ratio == Some(1.0)));
}

#[test]
fn what_differs_is_named_where_nothing_is_in_common() {
    let note = |a: &Report, b: &Report| {
        let comparison = compare(
            ComparedReport::new("a", a),
            ComparedReport::new("b", b),
            &Settings::default(),
        );
        assert_eq!(comparison.tally.all(), 0);
        comparison
            .notes
            .iter()
            .find(|note| note.starts_with("nothing in common"))
            .unwrap()
            .clone()
    };
    let small = sc_membench("32,read,1000.00,0,0,0,2,30,0.5");
    let large = sc_membench("64,read,1000.00,0,0,0,2,30,0.5");
    let text = note(&small, &large);
    assert!(
        text.contains("size 32 KiB / 64 KiB") && !text.contains("threads"),
        "{text}"
    );
    let latency = sc_membench("32,latency,0,2.00,0.20,9,1,9,0.3");
    assert!(note(&small, &latency).contains("experiments bandwidth / latency"));
    assert!(note(&small, &reports::empty()).contains("bandwidth / none"));
}
