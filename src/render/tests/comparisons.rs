//! Comparisons as they are shown.

use super::super::{COMPARISON_FORMATS, Options, comparison_format, comparison_format_of, comparison_summary};
use super::reports;
use crate::analysis::{Comparison, Settings, compare};
use crate::results::{Outcome, Report, Sample};
use std::path::Path;

/// A report whose points have six rounds within half a percent, all values times `factor`.
pub fn with_rounds(mut report: Report, factor: f64) -> Report {
    for point in report.datasets.iter_mut().flat_map(|d| &mut d.points) {
        let Outcome::Measured(m) = &mut point.outcome else { continue };
        let first = m.samples[0].clone();
        m.summary.median *= factor;
        let value = |round: u32| m.summary.median * (1.0 + f64::from(round) * 1e-3);
        m.samples = (0..6).map(|round| Sample { value: value(round), round, ..first.clone() }).collect();
    }
    report
}

/// What a slower machine gives, against the default profile: bandwidth down by a tenth, latency as it was.
pub fn slower() -> Comparison {
    let before = with_rounds(reports::default_profile(), 1.0);
    let mut after = with_rounds(reports::default_profile(), 0.9);
    after.datasets[1] = before.datasets[1].clone();
    after.provenance.host.environment.governor.value = Some("powersave".to_owned());
    compare(("old.json", &before), ("new.json", &after), &Settings::default())
}

fn shown(format: &str, comparisons: &[Comparison], verbose: bool) -> String {
    let options = Options { verbose, ..Options::default() };
    String::from_utf8(comparison_format(format).unwrap().render(comparisons, &options).unwrap()).unwrap()
}

#[test]
fn the_summary_line_comes_first_and_names_the_worst() {
    let comparison = slower();
    let line = comparison_summary(&comparison);
    assert!(
        line.starts_with("24 points compared: 19 worse, 0 better, 4 the same within 3%, 1 cannot tell; worst: "),
        "{line}"
    );
    assert!(line.contains("-10") && line.ends_with("not compared"), "{line}");
    let text = shown("table", &[comparison], false);
    assert!(text.lines().nth(1).unwrap().starts_with("result"), "{text}");
    assert!(text.contains("4 points the same; --verbose shows them"), "{text}");
}

#[test]
fn json_is_the_comparison_and_several_are_a_list() {
    let comparison = slower();
    let one: serde_json::Value =
        serde_json::from_str(&shown("json", std::slice::from_ref(&comparison), false)).unwrap();
    assert_eq!((&one["tally"]["worse"], &one["floor"]), (&serde_json::json!(19), &serde_json::json!(0.03)));
    let pair = &one["groups"][0]["pairs"][0];
    assert_eq!(pair["change"], "worse");
    assert!((pair["ratio"].as_f64().unwrap() - 0.9).abs() < 1e-9, "{pair}");
    let both: serde_json::Value =
        serde_json::from_str(&shown("json", &[comparison.clone(), comparison], true)).unwrap();
    assert_eq!(both.as_array().unwrap().len(), 2);
}

#[test]
fn hostile_reports_are_compared_safely() {
    let mut after = with_rounds(reports::hostile(), 0.5);
    after.provenance.host.cpu.model_name.value = Some(format!("{} again", reports::HOSTILE));
    let comparison = compare((reports::HOSTILE, &reports::hostile()), (reports::HOSTILE, &after), &Settings::default());
    for format in COMPARISON_FORMATS {
        for verbose in [false, true] {
            let text = shown(format.name, std::slice::from_ref(&comparison), verbose);
            assert!(!text.chars().any(super::safety::is_harmful), "{}: {text:?}", format.name);
            assert!(format.name != "markdown" || !text.contains("<b>"), "{text}");
        }
    }
}

#[test]
fn nothing_to_compare_is_said() {
    let comparison = compare(("a", &reports::empty()), ("b", &reports::default_profile()), &Settings::default());
    let text = shown("table", &[comparison], false);
    assert!(text.contains("0 points compared") && text.contains("only in the second report"), "{text}");
    let none = compare(("a", &reports::empty()), ("b", &reports::empty()), &Settings::default());
    assert!(shown("markdown", std::slice::from_ref(&none), true).contains("0 points compared"));
    assert!(shown("table", &[none], true).contains("0 points compared"));
}

#[test]
fn formats_are_found_by_name_and_extension() {
    for format in COMPARISON_FORMATS {
        assert_eq!(comparison_format(&format.name.to_uppercase()).unwrap().name, format.name);
        assert_eq!(comparison_format_of(Path::new(&format!("a.b/c.{}", format.extension))).unwrap().name, format.name);
    }
    let error = comparison_format("csv").unwrap_err().to_string();
    assert_eq!(error, "unknown format of comparisons: 'csv'; known are table, markdown, json; type one of these");
    assert!(comparison_format_of(Path::new("x")).is_err());
}
