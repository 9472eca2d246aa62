//! Tests properties of every report in every format.

use super::super::{Options, RENDERERS, Renderer, by_name};
use super::reports;
use super::safety::signed_zero;
use report::Report;

/// Reports of every kind: complete, partial, without points, with heat maps, with many points.
fn cases() -> Vec<(&'static str, Report)> {
    vec![
        ("default", reports::default_profile()),
        ("latency", reports::single_experiment()),
        ("empty", reports::empty()),
        ("one-point", reports::one_point()),
        ("interrupted", reports::interrupted()),
        ("rejected", reports::rejected()),
        ("matrix", reports::matrix(3)),
        ("matrix-large", reports::matrix(12)),
        ("eight-nodes", reports::eight_nodes()),
        ("cores-24", reports::large_machine(24)),
    ]
}

/// Options for text output.
fn options() -> Vec<Options> {
    let width = |width, verbose| Options {
        width,
        verbose,
        ..Options::default()
    };
    vec![
        width(None, false),
        width(Some(72), true),
        width(Some(100), false),
    ]
}

fn text(renderer: &dyn Renderer, report: &Report, options: &Options) -> String {
    let bytes = renderer.render(report, options).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Medians of all measured points, auxiliary datasets included.
fn medians(report: &Report) -> Vec<f64> {
    let points = report.datasets.iter().flat_map(|d| &d.points);
    points
        .filter_map(|point| Some(point.outcome.measured()?.summary.median))
        .collect()
}

/// All numbers in `text`.
fn numbers(text: &str) -> Vec<f64> {
    let mut all: Vec<f64> = text
        .split(|c: char| !(c.is_ascii_digit() || ".eE+-".contains(c)))
        .filter_map(|word| word.parse().ok())
        .collect();
    all.sort_by(f64::total_cmp);
    all
}

#[test]
fn data_formats_have_every_median() {
    for (case, report) in cases() {
        for format in ["csv", "json", "jsonl", "openmetrics"] {
            let renderer = by_name(format).unwrap();
            let numbers = numbers(&text(renderer, &report, &Options::default()));
            for median in medians(&report) {
                let at = numbers.partition_point(|&n| n < median * (1.0 - 1e-9));
                let found = numbers.get(at).is_some_and(|&n| n <= median * (1.0 + 1e-9));
                // OpenMetrics has times in seconds.
                let seconds = median * 1e-9;
                let at = numbers.partition_point(|&n| n < seconds * (1.0 - 1e-9));
                let scaled = format == "openmetrics"
                    && numbers
                        .get(at)
                        .is_some_and(|&n| n <= seconds * (1.0 + 1e-9));
                assert!(found || scaled, "{case} {format}: {median}");
            }
        }
    }
}

#[test]
fn text_has_no_number_that_is_none() {
    for (case, report) in cases() {
        for renderer in RENDERERS.iter().filter(|r| r.is_text()) {
            for options in options() {
                let text = text(*renderer, &report, &options);
                // Scripts and packed data of a page are not visible text.
                let seen = text.split("<script").next().unwrap_or_default();
                for word in ["NaN", "nan", "inf", "Infinity"] {
                    let found = seen
                        .split(|c: char| !c.is_alphanumeric())
                        .any(|part| part == word);
                    assert!(!found, "{case} {}: {word}", renderer.name());
                }
                assert_eq!(signed_zero(seen), None, "{case} {}", renderer.name());
            }
        }
    }
}

#[test]
fn rows_of_a_table_have_as_many_columns_as_its_head() {
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    for (case, report) in cases() {
        for options in options() {
            let markdown = text(by_name("markdown").unwrap(), &report, &options);
            let mut columns = None;
            for line in markdown.lines() {
                if !line.starts_with('|') {
                    columns = None;
                    continue;
                }
                let expected = *columns.get_or_insert(bars(line));
                assert_eq!(bars(line), expected, "{case}: {line}");
            }
            let csv = text(by_name("csv").unwrap(), &report, &options);
            let mut records = csv::ReaderBuilder::new();
            let mut records = records.flexible(true).from_reader(csv.as_bytes());
            let head = records.headers().unwrap().len();
            for record in records.records() {
                assert_eq!(record.unwrap().len(), head, "{case}");
            }
        }
    }
}

#[test]
fn lines_fit_the_terminal_and_every_output_ends_with_one() {
    for (case, report) in cases() {
        for options in options() {
            let table = text(by_name("table").unwrap(), &report, &options);
            let widest = table.lines().map(|line| line.chars().count()).max();
            let width = options.width.map_or(usize::MAX, usize::from);
            assert!(
                widest.unwrap_or(0) <= width,
                "{case}: {widest:?} of {width}"
            );
            for renderer in RENDERERS.iter().filter(|r| r.is_text()) {
                let text = text(*renderer, &report, &options);
                assert!(text.ends_with('\n'), "{case} {}", renderer.name());
            }
        }
    }
}
