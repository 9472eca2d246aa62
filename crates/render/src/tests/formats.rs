//! Properties that each format guarantees.

use super::super::{Options, RENDERERS, by_extension, by_name, list_table, schema};
use super::render;
use super::reports::{self, name, point};
use report::{Coordinate, JournalLine, Outcome, Report, VerdictGrade};
use std::path::Path;

#[test]
fn every_format_is_found_by_its_name_and_extensions() {
    let mut extensions = std::collections::BTreeSet::new();
    for renderer in RENDERERS {
        assert_eq!(
            by_name(&renderer.name().to_uppercase()).unwrap().name(),
            renderer.name()
        );
        assert!(
            renderer.help().len() <= 120 && !renderer.help().is_empty(),
            "{}",
            renderer.name()
        );
        for extension in renderer.extensions() {
            assert!(
                extensions.insert(*extension),
                "{extension} stands for two formats"
            );
            let path = format!("some.dir/report.{}", extension.to_uppercase());
            assert_eq!(
                by_extension(Path::new(&path)).unwrap().name(),
                renderer.name()
            );
        }
    }
}

#[test]
fn an_unknown_format_is_answered_with_the_nearest() {
    let say = |given: &str| by_name(given).err().unwrap().to_string();
    assert_eq!(
        say("tabel"),
        "unknown format: 'tabel'; known are table, json, jsonl, csv, line, markdown, \
         sc-membench, openmetrics, html, gallery, svg, png; did you mean 'table'?"
    );
    assert!(
        say("zzz").ends_with("png; type one of these"),
        "{}",
        say("zzz")
    );
    assert!(
        say("\u{1b}[2J").contains(r"'\u{1b}[2J'"),
        "{}",
        say("\u{1b}[2J")
    );
    let say = |path: &str| by_extension(Path::new(path)).err().unwrap().to_string();
    assert!(
        say("a/b.jsn").contains("did you mean 'json' or 'jsonl'"),
        "{}",
        say("a/b.jsn")
    );
    assert!(say("report").contains("no extension"), "{}", say("report"));
}

#[test]
fn json_is_the_report_again() {
    for report in [
        reports::default_profile(),
        reports::hostile(),
        reports::empty(),
    ] {
        let text = render("json", &report, &Options::default());
        assert!(text.ends_with("}\n") && text.starts_with("{\n  \"schema_version\""));
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }
}

#[test]
fn json_lines_are_a_journal() {
    let report = reports::default_profile();
    let text = render("jsonl", &report, &Options::default());
    let lines: Vec<JournalLine> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 1 + 28 + 1);
    assert!(
        matches!(&lines[29], JournalLine::End { .. }),
        "{:?}",
        lines[29]
    );
    assert!(
        matches!(&lines[0], JournalLine::Run { provenance, .. } if **provenance == report.provenance)
    );
    let JournalLine::Point(last) = &lines[28] else {
        panic!("{:?}", lines[28])
    };
    assert_eq!(last.experiment, "latency");
    assert_eq!(&last.point, report.datasets[1].points.last().unwrap());
}

#[test]
fn csv_keeps_its_columns() {
    let first = "experiment,quantity,unit,operation,kernel,level,size_bytes,threads,page_bytes,\
         status,value,best,ci_low,ci_high,samples,trust,reason,";
    for report in [
        reports::default_profile(),
        reports::empty(),
        reports::hostile(),
    ] {
        assert!(render("csv", &report, &Options::default()).starts_with(first));
    }
}

#[test]
fn csv_has_a_row_for_each_point_and_a_column_for_each_axis() {
    let report = reports::hostile();
    let text = render("csv", &report, &Options::default());
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let column = |title: &str| header.iter().position(|h| h == title).unwrap();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(
        rows.len(),
        report
            .datasets
            .iter()
            .map(|d| d.points.len())
            .sum::<usize>()
    );
    assert_eq!(
        &rows[0][column("axis_value")],
        "an axis called like a column"
    );
    assert_eq!(&rows[0][column("value")], "612000000000");
    assert_eq!(&rows[0][column("page_bytes")], "2097152");
    assert_eq!(&rows[0][column("disturbed_samples")], "1");
    let copy = rows
        .iter()
        .find(|r| &r[column("operation")] == "copy")
        .unwrap();
    assert_eq!(&copy[column("single_count")], "244800000000");
    let failed = rows
        .iter()
        .find(|r| &r[column("status")] == "failed")
        .unwrap();
    assert!(failed[column("value")].is_empty() && failed[column("trust")].is_empty());
    assert!(failed[column("reason")].contains("üñ漢字"));
}

#[test]
fn csv_joins_the_reasons_of_a_verdict() {
    let text = render("csv", &reports::default_profile(), &Options::default());
    assert!(text.contains(
        ",doubtful,the core clock fell by 4% during samples; other tenants share this L3,"
    ));
}

#[test]
fn a_healthy_default_run_fits_one_screen() {
    let mut report = reports::default_profile();
    for point in report.datasets.iter_mut().flat_map(|d| d.points.iter_mut()) {
        point.outcome = reports::outcome(reports::measured(1.0));
    }
    let text = render(
        "table",
        &report,
        &Options {
            saved_to: Some(reports::saved("r.json")),
            ..Options::default()
        },
    );
    assert!(text.lines().count() <= 24, "{text}");
}

#[test]
fn tables_keep_to_the_width_and_to_their_numbers() {
    for report in [
        reports::default_profile(),
        reports::single_experiment(),
        reports::hostile(),
    ] {
        for width in [Some(100), Some(60), Some(140), Some(1)] {
            let text = render(
                "table",
                &report,
                &Options {
                    width,
                    ..Options::default()
                },
            );
            let most = usize::from(width.unwrap_or_default().max(40));
            for line in text.lines() {
                // Some characters of the hostile text are two columns wide. Lines then have fewer
                // characters.
                assert!(line.chars().count() <= most, "{width:?}: {line}");
                assert_eq!(line, line.trim_end());
            }
        }
    }
    let narrow = Options {
        width: Some(40),
        ..Options::default()
    };
    let text = render("table", &reports::default_profile(), &narrow);
    for number in ["612", "1224", "612!", "65.5", "41.6", "9.92", "112"] {
        assert!(
            text.split_whitespace().any(|word| word == number),
            "{number}:\n{text}"
        );
    }
}

#[test]
fn of_several_points_for_a_cell_the_best_that_is_not_rejected_is_shown() {
    let at = |id, kernel: &str, outcome| {
        let axes = [
            ("level", name("L1")),
            ("operation", name("read")),
            ("threads", Coordinate::Number(1)),
            ("kernel", name(kernel)),
        ];
        point(id, &axes, outcome)
    };
    let wrong = reports::judged(
        reports::measured(900e9),
        VerdictGrade::Rejected,
        &["more than the ports carry"],
    );
    let points = vec![
        at(0, "a", reports::outcome(reports::measured(111e9))),
        at(1, "b", reports::outcome(reports::measured(222e9))),
        at(2, "c", reports::outcome(wrong)),
        at(
            3,
            "d",
            Outcome::Failed {
                reason: "gone".into(),
            },
        ),
    ];
    let report = reports::report("default", vec![reports::dataset("bandwidth", points)]);
    let text = render("table", &report, &Options::default());
    let row = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let expected = ["L1", "222", "0.5", "solid"];
    assert!(text.lines().any(|line| row(line) == expected), "{text}");
    let verbose = Options {
        verbose: true,
        ..Options::default()
    };
    let text = render("table", &report, &verbose);
    assert!(
        text.contains("more than the ports carry: L1 read c"),
        "{text}"
    );
}

#[test]
fn other_datasets_are_counted_and_shown_on_request() {
    let mut report = reports::default_profile();
    let mut tlb = reports::single_experiment().datasets.remove(0);
    tlb.experiment = "tlb".into();
    report.datasets.push(tlb);
    let text = render("table", &report, &Options::default());
    assert!(
        text.contains("4 more points") && !text.contains("88.0"),
        "{text}"
    );
    let text = render(
        "table",
        &report,
        &Options {
            verbose: true,
            ..Options::default()
        },
    );
    assert!(
        text.contains("tlb: latency") && text.contains("88.0"),
        "{text}"
    );
}

#[test]
fn many_reasons_are_counted_and_shown_on_request() {
    let mut report = reports::default_profile();
    for (i, point) in report.datasets[0].points.iter_mut().enumerate() {
        point.outcome = Outcome::Failed {
            reason: format!("reason {i}."),
        };
    }
    let text = render("table", &report, &Options::default());
    assert!(
        text.contains("21 other reasons") && !text.contains("reason 23."),
        "{text}"
    );
    let text = render(
        "table",
        &report,
        &Options {
            verbose: true,
            ..Options::default()
        },
    );
    assert!(text.contains("reason 23."), "{text}");
}

#[test]
fn markdown_cells_stay_in_their_cells() {
    let text = render("markdown", &reports::hostile(), &Options::default());
    let unescaped = |line: &str| {
        line.replace(r"\\", "")
            .replace(r"\|", "")
            .matches('|')
            .count()
    };
    for table in text.split("\n\n").filter(|part| part.contains("| --- |")) {
        let bars: std::collections::BTreeSet<usize> = table
            .lines()
            .filter(|l| l.starts_with('|'))
            .map(unescaped)
            .collect();
        assert_eq!(bars.len(), 1, "{table}");
    }
    assert!(!text.contains("<b>"));
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with("- **"))
    {
        assert!(!line.replace(r"\`", "").contains('`'), "{line}");
    }
}

#[test]
fn markdown_says_where_the_numbers_come_from() {
    let text = render("markdown", &reports::default_profile(), &Options::default());
    for word in [
        "memgauge 0.1.0",
        "AMD EPYC 9575F",
        "5d41402abc4b2a76",
        "memgauge run --profile default",
        "11400714",
    ] {
        assert!(text.contains(word), "{word}");
    }
}

#[test]
fn lists_are_aligned() {
    let rows = vec![
        vec!["a".to_owned(), "b\nc".to_owned()],
        vec!["long".to_owned(), "d".to_owned()],
    ];
    for width in [None, Some(100)] {
        assert_eq!(
            list_table(&["x", "y"], &rows, width),
            "x     y\na     b c\nlong  d\n"
        );
        assert_eq!(list_table(&["x", "y"], &[], width), "x  y\n");
    }
}

#[test]
fn without_a_terminal_each_row_is_one_line() {
    let long = "word ".repeat(40).trim_end().to_owned();
    let rows = vec![
        vec!["a".to_owned(), long.clone(), "end".to_owned()],
        vec!["b".into(), "c".into(), "d".into()],
    ];
    let text = list_table(&["x", "y", "z"], &rows, None);
    assert_eq!(text, format!("x  y  z\na  {long}  end\nb  c  d\n"));
    assert!(
        list_table(&["x", "y", "z"], &rows, Some(100))
            .lines()
            .count()
            > 3
    );
    // Without a width, tables with numbers are not divided, and remarks are not wrapped.
    for report in [
        reports::default_profile(),
        reports::hostile(),
        reports::matrix(24),
    ] {
        let lines = |width| {
            render(
                "table",
                &report,
                &Options {
                    width,
                    verbose: true,
                    ..Options::default()
                },
            )
        };
        let piped = lines(None);
        let narrow = lines(Some(40));
        assert!(piped.lines().count() < narrow.lines().count());
        assert!(piped.lines().all(|line| line == line.trim_end()));
        let wide = lines(Some(u16::MAX));
        assert_eq!(piped.lines().count(), wide.lines().count());
    }
}

#[test]
fn the_schema_accepts_our_reports_and_refuses_broken_ones() {
    let schema: serde_json::Value = serde_json::from_str(schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let all = [
        reports::default_profile(),
        reports::single_experiment(),
        reports::empty(),
        reports::only_skipped(),
        reports::interrupted(),
        reports::hostile(),
    ];
    for report in &all {
        let value = serde_json::from_str(&render("json", report, &Options::default())).unwrap();
        let wrong: Vec<String> = validator
            .iter_errors(&value)
            .map(|e| format!("{} at {}", e, e.instance_path))
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
    let good = serde_json::to_value(&all[0]).unwrap();
    let median = "/datasets/0/points/0/outcome/summary/median";
    for (place, value) in [
        (median, serde_json::json!(null)),
        (median, serde_json::json!("612")),
        (
            "/datasets/0/points/0/outcome/status",
            serde_json::json!("perhaps"),
        ),
        (
            "/datasets/0/points/0/outcome/verdict/grade",
            serde_json::json!("fine"),
        ),
        (
            "/schema_version",
            serde_json::json!(report::SCHEMA_VERSION + 1),
        ),
        ("/provenance", serde_json::json!({})),
    ] {
        let mut broken = good.clone();
        *broken.pointer_mut(place).unwrap() = value;
        assert!(!validator.is_valid(&broken), "{place}");
    }
    assert_eq!(
        schema["$id"],
        format!("urn:memgauge:report:{}", report::SCHEMA_VERSION)
    );
}

#[test]
fn points_between_things_are_a_matrix() {
    let text = render("table", &reports::matrix(3), &Options::default());
    let rows = |text: &str| -> Vec<Vec<String>> {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        text.lines().map(words).collect()
    };
    let has = |row: &[&str]| rows(&text).iter().any(|r| r == row);
    assert!(has(&["from", "/", "to", "0", "1", "2"]), "{text}");
    // The diagonal of the matrix is empty.
    assert!(
        has(&["0", "16", "82"]) || has(&["0", "16.0", "82.0"]),
        "{text}"
    );
    assert!(
        text.contains("operation compare-and-swap") && text.contains("operation exchange"),
        "{text}"
    );
    assert!(
        text.contains("90.2?") && text.contains("? doubtful"),
        "{text}"
    );
    let large = render("table", &reports::matrix(24), &Options::default());
    assert!(
        !large.contains("from / to") && large.contains("same-core") && large.contains("--verbose"),
        "{large}"
    );
    let verbose = Options {
        verbose: true,
        ..Options::default()
    };
    assert!(render("table", &reports::matrix(24), &verbose).contains("from / to"));
    let csv = render("csv", &reports::matrix(24), &Options::default());
    assert_eq!(csv.lines().count(), 1 + 2 * 24 * 23, "every pair");
}

#[test]
fn colours_of_a_screen_change_nothing_else() {
    let report = reports::default_profile();
    let plain = Options {
        width: Some(100),
        ..Options::default()
    };
    let coloured = Options {
        color: true,
        ..plain.clone()
    };
    let mut text = render("table", &report, &coloured);
    assert!(
        text.contains("\u{1b}[32msolid") && text.contains("\u{1b}[1mTrust"),
        "{text}"
    );
    for code in ["0", "1", "31", "32", "33"] {
        text = text.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(text, render("table", &report, &plain));
}
