//! Tests the safety of every output: no control characters, no number that is not finite, no panic.

use super::super::{COMPARISON_FORMATS, Options, RENDERERS, host_table, list_table};
use super::comparisons::with_rounds;
use super::{machine, render, reports};
use report::{Fact, Limit, Outcome, Report, parse_saved};
use std::collections::BTreeMap;
use units::{Bytes, Hertz, Nanos};
use verdict::{ComparedReport, Settings, compare};

/// All options that change the output.
fn all_options() -> Vec<Options> {
    let some = |width, scores, verbose| Options {
        width,
        scores,
        verbose,
        saved_to: Some(reports::saved(reports::HOSTILE)),
        ..Options::default()
    };
    vec![
        Options::default(),
        some(Some(0), true, true),
        some(Some(u16::MAX), true, false),
        some(None, false, true),
    ]
}

/// Every output and every note of a report in every format.
fn every_output(report: &Report) -> Vec<(String, String)> {
    let mut outputs = Vec::new();
    for options in all_options() {
        for renderer in RENDERERS.iter().filter(|r| r.is_text()) {
            let name = format!("{} with {options:?}", renderer.name());
            let bytes = renderer.render(report, &options).unwrap();
            // The rest of the page is packed Base64 data, which is not text.
            let text = String::from_utf8(bytes).unwrap();
            let text = text
                .split("<script type=\"text/plain\"")
                .next()
                .unwrap()
                .to_owned();
            outputs.push((name.clone(), text));
            outputs.push((name, renderer.notes(report, &options).unwrap()));
        }
    }
    outputs
}

/// True if no output may contain this character.
pub fn is_harmful(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n') || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

#[test]
fn every_kind_of_report_is_rendered_in_every_format() {
    let all = [
        reports::default_profile(),
        reports::single_experiment(),
        reports::empty(),
        reports::only_skipped(),
        reports::interrupted(),
        reports::hostile(),
    ];
    for report in &all {
        for (name, output) in every_output(report) {
            assert!(
                output.is_empty() || output.ends_with('\n'),
                "{name}: {output}"
            );
            assert!(!output.chars().any(is_harmful), "{name}: {output:?}");
        }
    }
}

#[test]
fn hostile_text_stays_readable() {
    let report = reports::hostile();
    for format in ["table", "csv", "markdown"] {
        let text = render(
            format,
            &report,
            &Options {
                verbose: true,
                ..Options::default()
            },
        );
        assert!(text.contains("漢字"), "{format}");
    }
    // The table has the text shortened. Formats for programs have the whole text.
    assert!(render("table", &report, &Options::default()).len() < 20_000);
    assert!(render("csv", &report, &Options::default()).len() > 100_000);
}

#[test]
fn json_loses_no_character_to_its_escapes() {
    let text = render("json", &reports::hostile(), &Options::default());
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["plan"]["profile"], reports::HOSTILE);
}

#[test]
fn the_host_table_is_safe_and_says_what_is_unknown() {
    let mut host = machine::host();
    host.cpu.vendor = Fact::unknown(reports::HOSTILE);
    host.system.hostname = Fact::known(reports::HOSTILE.into(), "x\u{1b}[0m");
    host.topology.caches.clear();
    host.topology.caches_source = "this system does not report".into();
    host.topology.nodes.clear();
    host.topology.cpus[1].core = None;
    host.environment.load = Fact::known(f64::NAN, "nowhere");
    let text = host_table(&host, Some(120));
    assert!(!text.chars().any(is_harmful), "{text:?}");
    assert!(!text.contains("NaN"));
    let caches = text.lines().find(|l| l.starts_with("caches ")).unwrap();
    assert!(
        caches.contains("unknown") && caches.contains("this system does not report"),
        "{caches}"
    );
    let cores = text.lines().find(|l| l.starts_with("cores")).unwrap();
    assert!(cores.contains("unknown"), "{cores}");
}

#[test]
fn the_host_table_has_documented_figures_by_core_design() {
    let mut host = machine::host();
    let mut small = host.cpu.documented[0].clone();
    small.design = "Small core".to_owned();
    small.low = 11;
    host.cpu.documented.push(small);
    let text = host_table(&host, None);
    let lines: Vec<&str> = text.lines().collect();
    let begin = lines
        .iter()
        .position(|line| line.starts_with("DOCUMENTED FOR ZEN 5"))
        .unwrap();
    for (line, value) in [
        (1, "14 cycles"),
        (2, "2..12 channels"),
        (4, "11..14 cycles"),
    ] {
        let row = lines[begin + line];
        assert!(row.contains(value) && row.contains("guide 58455"), "{row}");
    }
    assert!(lines[begin + 3].starts_with("DOCUMENTED FOR SMALL CORE"));
}

#[test]
fn a_large_machine_has_a_readable_host_table() {
    let mut host = machine::host();
    let first = host.topology.cpus[0].clone();
    host.topology.cpus = (0..1024)
        .map(|id| report::Cpu {
            id,
            core: Some(id % 512),
            siblings: vec![id % 512, id % 512 + 512],
            ..first.clone()
        })
        .collect();
    let text = host_table(&host, Some(120));
    assert!(
        text.contains("1024 CPUs: 0-1023") && text.contains("and 480 more"),
        "{text}"
    );
    assert!(text.lines().count() < 84);
}

#[test]
fn every_fact_is_in_the_host_table() {
    // The table has each text of the facts, wherever it is in the document.
    let mut host = machine::host();
    host.gpus.push(machine::gpu());
    let text: String = host_table(&host, Some(120)).split_whitespace().collect();
    let value = serde_json::to_value(&host).unwrap();
    let mut open = vec![&value];
    while let Some(next) = open.pop() {
        match next {
            serde_json::Value::Object(fields) => open.extend(fields.values()),
            serde_json::Value::Array(items) => open.extend(items),
            serde_json::Value::String(word) => {
                let plain: String = word.split_whitespace().collect();
                // A long word is broken into two lines, with text of other columns in between. Only
                // its start is searched.
                assert!(text.contains(&plain[..plain.len().min(20)]), "{word}");
            }
            _ => {}
        }
    }
}

/// A report in which every number is `wild`.
fn wild(wild: f64) -> Report {
    let mut report = reports::default_profile();
    for point in report.datasets.iter_mut().flat_map(|d| d.points.iter_mut()) {
        let place = point.id % 7;
        let Outcome::Measured(m) = &mut point.outcome else {
            continue;
        };
        let s = &mut m.summary;
        let figures = [
            &mut s.median,
            &mut s.best,
            &mut s.ci_low,
            &mut s.ci_high,
            s.mad.get_or_insert(0.0),
        ];
        if let Some(figure) = figures.into_iter().nth(place as usize) {
            *figure = wild;
        }
        m.also.insert("core_cycles".into(), wild);
        (m.summary.mean, m.summary.standard_deviation) = (Some(wild), Some(wild));
        m.summary.coefficient_of_variation = Some(wild);
        m.limit = Some(Limit {
            value: wild,
            source: "nowhere".into(),
            tolerance: 1.0,
        });
        m.samples[0].value = wild;
        m.samples[1].elapsed_ns = wild;
        m.evidence.system_activity.stolen_ns = Some(wild);
        m.evidence.relative_spread = Some(wild);
        m.evidence.clock_error = Some(wild);
        m.evidence.pages.granted_share = Some(wild);
    }
    report.findings[0].values.insert("wild".into(), wild);
    report.plan.real = Some(Nanos(wild));
    report.provenance.clock.core = Some(Hertz(wild));
    report.provenance.clock.rate = Some(Hertz(wild));
    report.provenance.clock.error = Some(wild);
    report.provenance.clock.resolution = Some(Nanos(wild));
    report.provenance.clock.overhead = Some(Nanos(wild));
    report.provenance.host.environment.load.value = Some(wild);
    report.provenance.host.system.cpu_quota.value = Some(wild);
    report.provenance.host.cpu.counter.value = Some(Hertz(wild));
    report
}

#[test]
fn a_number_that_is_none_is_never_written() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let report = wild(value);
        for (name, output) in every_output(&report) {
            for word in output.split(|c: char| !c.is_alphanumeric()) {
                assert!(
                    !["nan", "inf"].contains(&word.to_lowercase().as_str()),
                    "{name}: {output}"
                );
            }
        }
        let text = render("json", &report, &Options::default());
        let read: Report = serde_json::from_str(&text).expect("null only where it may be");
        let first = &read.datasets[0].points[0].outcome;
        assert_eq!(first.reason(), Some("the samples gave no finite median"));
        assert!(read.datasets[0].points[5].outcome.measured().is_some());
    }
}

/// Finds the first number in `text` that is -0, and returns it with the text around it. Dates and
/// ranges do not count.
pub(super) fn signed_zero(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let joined = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_'))
    };
    text.match_indices("-0").map(|(at, _)| at).find_map(|at| {
        let zeros = bytes[at + 1..]
            .iter()
            .take_while(|b| matches!(b, b'0' | b'.'))
            .count();
        let full_stop = usize::from(bytes.get(at + zeros) == Some(&b'.'));
        let alone =
            (at == 0 || !(joined(at - 1) || bytes[at - 1] == b'-')) && !joined(at + 1 + zeros);
        let from = text.floor_char_boundary(at.saturating_sub(40));
        let to = text.ceil_char_boundary(at + 20);
        (alone && full_stop <= zeros).then(|| &text[from..to])
    })
}

#[test]
fn no_zero_has_a_sign() {
    for (text, wrong) in [
        ("x -0 y", true),
        ("[-0.00]", true),
        ("-0.0", true),
        ("\t-0%", true),
        ("-0.05", false),
    ] {
        assert_eq!(signed_zero(text).is_some(), wrong, "{text}");
    }
    for text in ["0-0", "2026-01-02", "a-0", "-0x", "--0", "-0.001"] {
        assert_eq!(signed_zero(text), None);
    }
    for value in [-0.0, 0.0, -1e-12, -1e-300, -0.004] {
        let mut report = wild(value);
        for sample in report
            .datasets
            .iter_mut()
            .flat_map(|d| &mut d.points)
            .flat_map(|point| match &mut point.outcome {
                Outcome::Measured(m) => m.samples.iter_mut(),
                _ => [].iter_mut(),
            })
        {
            sample.value = value;
        }
        for point in report.datasets.iter_mut().flat_map(|d| &mut d.points) {
            let Outcome::Measured(m) = &mut point.outcome else {
                continue;
            };
            let s = &mut m.summary;
            (s.median, s.best, s.ci_low, s.ci_high) = (value, value, value, value);
            (
                s.mad,
                s.mean,
                s.standard_deviation,
                s.coefficient_of_variation,
            ) = (Some(value), Some(value), Some(value), Some(value));
            m.also.values_mut().for_each(|figure| *figure = value);
        }
        let mut outputs = every_output(&report);
        let drawn = Options {
            charts: vec!["all".into()],
            ..Options::default()
        };
        outputs.push(("chart".into(), render("table", &report, &drawn)));
        let same = compare(
            ComparedReport::new("a", &report),
            ComparedReport::new("b", &report),
            &Settings::default(),
        );
        let before = with_rounds(reports::default_profile(), 1.0);
        let after = with_rounds(reports::default_profile(), 1.0 + value);
        let near = compare(
            ComparedReport::new("a", &before),
            ComparedReport::new("b", &after),
            &Settings::default(),
        );
        let verbose = Options {
            verbose: true,
            ..Options::default()
        };
        for format in COMPARISON_FORMATS
            .iter()
            .filter(|format| format.name != "html")
        {
            let bytes = format
                .render(&[same.clone(), near.clone()], &[], &verbose)
                .unwrap();
            outputs.push((
                format!("{} of a comparison", format.name),
                String::from_utf8(bytes).unwrap(),
            ));
        }
        for (name, output) in outputs {
            assert_eq!(signed_zero(&output), None, "{value:?} in {name}");
            for word in output.split(|c: char| !c.is_alphanumeric()) {
                assert!(
                    !["nan", "inf"].contains(&word.to_lowercase().as_str()),
                    "{value:?} in {name}"
                );
            }
        }
    }
}

#[test]
fn json_refuses_what_it_cannot_express() {
    let mut report = reports::empty();
    report.plan.budget = Nanos(f64::NAN);
    for format in ["json", "jsonl"] {
        let error = super::by_name(format)
            .unwrap()
            .render(&report, &Options::default())
            .unwrap_err();
        assert!(error.to_string().contains("plan.budget"), "{error}");
    }
}

#[test]
fn extreme_figures_are_rendered() {
    for value in [0.0, -0.0, f64::MAX, f64::MIN_POSITIVE, -1.0] {
        let mut report = reports::default_profile();
        for point in report.datasets.iter_mut().flat_map(|d| d.points.iter_mut()) {
            point
                .coordinates
                .insert("size_bytes".into(), report::Coordinate::Number(0));
            point
                .coordinates
                .insert("threads".into(), report::Coordinate::Number(u64::MAX));
            let mut m = reports::measured(value);
            m.limit = Some(Limit {
                value,
                source: "nowhere".into(),
                tolerance: 1.0,
            });
            m.summary.undisturbed_samples = 0;
            m.samples.clear();
            point.outcome = reports::outcome(m);
        }
        report.plan.memory = Bytes(u64::MAX);
        report.plan.points = u64::MAX;
        for (name, output) in every_output(&report) {
            assert!(
                !output.contains("NaN") && !output.contains("inf,"),
                "{name}: {output}"
            );
        }
    }
}

#[test]
fn many_points_are_rendered_in_every_format() {
    let mut m = reports::measured(1.0);
    m.samples.clear();
    let mut point = |i: u64| {
        let at = [
            (
                "operation",
                reports::name(["read", "write", "copy", "scale"][(i % 4) as usize]),
            ),
            (
                "size_bytes",
                report::Coordinate::Number(1024 * (1 + i / 40)),
            ),
            ("threads", report::Coordinate::Number(i / 4 % 10)),
        ];
        m.summary.median = (1 + i % 1000) as f64 * 1e6;
        reports::point(i, &at, reports::outcome(m.clone()))
    };
    let points = (0..4_000).map(&mut point).collect();
    let report = reports::report("bandwidth", vec![reports::dataset("bandwidth", points)]);
    for renderer in RENDERERS {
        assert!(
            !renderer
                .render(&report, &Options::default())
                .unwrap()
                .is_empty(),
            "{}",
            renderer.name()
        );
    }
}

/// Adds the paths of all values in a document to `found`, one path of each kind. All elements of a
/// list are of one kind.
fn places(value: &serde_json::Value, at: &str, kind: &str, found: &mut BTreeMap<String, String>) {
    found
        .entry(kind.to_owned())
        .or_insert_with(|| at.to_owned());
    match value {
        serde_json::Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| {
                let step = name.replace('~', "~0").replace('/', "~1");
                places(
                    value,
                    &format!("{at}/{step}"),
                    &format!("{kind}/{step}"),
                    found,
                );
            });
        }
        serde_json::Value::Array(items) => items.iter().enumerate().for_each(|(i, value)| {
            places(value, &format!("{at}/{i}"), &format!("{kind}/*"), found)
        }),
        _ => {}
    }
}

/// The document without the value at the path `place`.
fn without(document: &serde_json::Value, place: &str) -> serde_json::Value {
    let mut document = document.clone();
    let Some((parent, field)) = place.rsplit_once('/') else {
        return serde_json::Value::Null;
    };
    match document.pointer_mut(parent) {
        Some(serde_json::Value::Object(fields)) => {
            drop(fields.remove(&field.replace("~1", "/").replace("~0", "~")))
        }
        Some(serde_json::Value::Array(items)) => {
            drop(items.remove(field.parse::<usize>().unwrap()))
        }
        _ => {}
    }
    document
}

#[test]
fn reports_that_lack_a_field_or_have_another_kind_of_value_are_shown_or_refused() {
    let whole = serde_json::to_value(reports::one_point()).unwrap();
    let mut found = BTreeMap::new();
    places(&whole, "", "", &mut found);
    assert!(found.len() > 150, "{}", found.len());
    let mut shown = 0;
    let mut refused = 0;
    for place in found.values() {
        let with = |value: serde_json::Value| {
            let mut changed = whole.clone();
            *changed.pointer_mut(place).unwrap() = value;
            changed
        };
        let changed = [
            without(&whole, place),
            with(serde_json::Value::Null),
            with("x".into()),
            with((-1).into()),
            with(1.7e308.into()),
            with(u64::MAX.into()),
            with(serde_json::json!([])),
            with(serde_json::json!({})),
        ];
        for document in changed {
            let text = serde_json::to_vec(&document).unwrap();
            match parse_saved(text.as_slice()) {
                Err(why) => {
                    refused += 1;
                    assert!(
                        why.lines().count() == 1 && why.chars().count() < 300,
                        "{place}: {why}"
                    );
                }
                Ok(saved) => {
                    shown += 1;
                    let report = saved.into_report();
                    for format in ["table", "csv", "openmetrics"] {
                        if let Ok(bytes) = super::by_name(format)
                            .unwrap()
                            .render(&report, &Options::default())
                        {
                            assert!(
                                !String::from_utf8(bytes).unwrap().chars().any(is_harmful),
                                "{place} {format}"
                            );
                        }
                    }
                }
            }
        }
    }
    assert!(shown > 100 && refused > 500, "{shown} {refused}");
}

#[test]
fn rows_that_are_too_short_or_too_long_do_not_panic() {
    let rows = vec![
        vec!["one".to_owned()],
        vec!["a".to_owned(), "b".to_owned(), "c".to_owned()],
        Vec::new(),
    ];
    for width in [None, Some(100)] {
        assert!(list_table(&["x", "y"], &rows, width).contains("one"));
    }
}
