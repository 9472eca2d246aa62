//! Charts: which series are drawn over what, and what pictures, pages and terminals make of them.

use super::super::chart::{Body, Chart, Heat, Lines, charts};
use super::super::{NamedReport, Options, by_name};
use super::{render, reports};
use crate::results::{Coordinate, Outcome, Report, VerdictGrade};

fn named(name: &str, report: Report) -> NamedReport {
    NamedReport { name: name.to_owned(), report }
}

fn of(report: Report) -> Vec<Chart> {
    charts(&[named("one", report)])
}

fn lines(chart: &Chart) -> &Lines {
    let Body::Lines(lines) = &chart.body else { panic!("{chart:?}") };
    lines
}

fn heat(chart: &Chart) -> &Heat {
    let Body::Heat(heat) = &chart.body else { panic!("{chart:?}") };
    heat
}

fn with_chart(name: &str) -> Options {
    Options { chart: Some(name.to_owned()), ..Options::default() }
}

#[test]
fn the_default_profile_is_bandwidth_and_latency_by_size() {
    let charts = of(reports::default_profile());
    let titles: Vec<&str> = charts.iter().map(|c| c.title.as_str()).collect();
    assert_eq!(titles, ["bandwidth", "latency"]);
    let bandwidth = lines(&charts[0]);
    assert!(bandwidth.x.log && !bandwidth.names && bandwidth.x.title == "size");
    let names: Vec<&str> = bandwidth.series.iter().map(|s| s.name.as_str()).collect();
    // Neither the kernel nor the level, which follow from operation and size.
    let wanted = [
        "read, threads 1",
        "read, threads 2",
        "write, threads 1",
        "write, threads 2",
        "copy, threads 1",
        "copy, threads 2",
    ];
    assert_eq!(names, wanted);
    let marks: Vec<&str> = bandwidth.marks.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(marks, ["L1", "L2", "L3", "DRAM"]);
    assert_eq!(bandwidth.series[0].spots.len(), 4);
    assert!((bandwidth.series[0].spots[0].y - 612.0).abs() < 1e-9, "in the unit of tables");
    assert_eq!((bandwidth.series[0].color, bandwidth.series[1].color), (0, 0));
    assert_ne!(bandwidth.series[0].shape, bandwidth.series[1].shape);
    let grades = |grade| bandwidth.series.iter().flat_map(|s| &s.spots).filter(|s| s.grade == grade).count();
    assert_eq!((grades(VerdictGrade::Doubtful), grades(VerdictGrade::Rejected)), (2, 1));
    assert_eq!(lines(&charts[1]).series[0].name, "");
}

#[test]
fn several_reports_are_drawn_over_each_other() {
    let charts = charts(&[named("old", reports::single_experiment()), named("new", reports::single_experiment())]);
    assert_eq!(charts.len(), 1);
    let series: Vec<(&str, usize, usize)> =
        lines(&charts[0]).series.iter().map(|s| (s.name.as_str(), s.report, s.color)).collect();
    assert_eq!(series, [("old", 0, 0), ("new", 1, 0)]);
}

#[test]
fn names_are_an_axis_where_there_are_no_numbers() {
    let mut report = reports::single_experiment();
    for (point, word) in report.datasets[0].points.iter_mut().zip(["add", "mul", "div", "none"]) {
        point.coordinates = [("operation".to_owned(), Coordinate::Name(word.to_owned()))].into();
    }
    let charts = of(report);
    let drawn = lines(&charts[0]);
    assert!(drawn.names && drawn.series.len() == 1);
    let places: Vec<&str> = drawn.x.ticks.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(places, ["add", "mul", "div"]);
    assert_eq!(drawn.series[0].spots.iter().map(|s| s.x).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
}

#[test]
fn points_between_ends_are_heat_maps() {
    let charts = of(reports::matrix(3));
    let titles: Vec<&str> = charts.iter().map(|c| c.title.as_str()).collect();
    assert_eq!(titles, ["core-to-core: round trip, compare-and-swap", "core-to-core: round trip, exchange"]);
    let first = heat(&charts[0]);
    assert_eq!((first.rows.len(), first.columns.len()), (3, 3));
    assert!(first.cells[1][1].is_none() && first.cells[0][1].as_ref().unwrap().y == 16.0);
    // The pair that was not measured.
    assert!(heat(&charts[1]).cells[0][2].is_none());
    let nodes = of(reports::eight_nodes());
    assert_eq!((nodes.len(), heat(&nodes[0]).rows.len()), (1, 8));
    assert_eq!(heat(&nodes[0]).cells[3][3].as_ref().unwrap().y, 40.0);
}

#[test]
fn pictures_have_no_letters_that_another_machine_could_draw_otherwise() {
    let all = [
        reports::default_profile(),
        reports::single_experiment(),
        reports::matrix(3),
        reports::eight_nodes(),
        reports::empty(),
        reports::only_skipped(),
        reports::interrupted(),
        reports::hostile(),
    ];
    for (i, report) in all.iter().enumerate() {
        for dark in [false, true] {
            let options = Options { dark, ..Options::default() };
            let svg = render("svg", report, &options);
            assert!(svg.starts_with("<svg") && !svg.contains("<text") && !svg.contains("font-family"), "{i}");
            assert!(svg.len() < 600_000, "{i}: {}", svg.len());
            let ground = if dark { "#16181c" } else { "#ffffff" };
            assert!(svg.contains(ground), "{i}: {svg:.300}");
        }
    }
    let png = by_name("png").unwrap().render(&all[0], &with_chart("latency")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() < 500_000);
    // Width and height of the header.
    assert_eq!(png[16..24], [0, 0, 9, 96, 0, 0, 5, 70]);
    assert_ne!(png, by_name("png").unwrap().render(&all[0], &with_chart("bandwidth")).unwrap());
}

#[test]
fn heat_maps_of_384_cores_stay_small() {
    let report = reports::large_machine(384);
    let svg = render("svg", &report, &Options::default());
    assert!(svg.contains("data:image/png;base64,") && svg.len() < 500_000, "{}", svg.len());
    let text = render("table", &report, &with_chart("core-to-core"));
    assert!(text.lines().count() < 60 && text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn a_chart_that_is_not_there_is_answered_with_those_that_are() {
    for format in ["svg", "png", "table"] {
        let error = by_name(format).unwrap().render(&reports::default_profile(), &with_chart("latncy")).unwrap_err();
        let wanted = "no such chart in the report: 'latncy'; known are bandwidth, latency; did you mean 'latency'?";
        assert_eq!(error.to_string(), wanted);
    }
    assert!(by_name("table").unwrap().render(&reports::empty(), &with_chart("x")).is_err());
}

#[test]
fn terminals_get_lines_that_fit_and_colours_only_where_asked_for() {
    for report in [reports::default_profile(), reports::hostile(), reports::matrix(24), reports::eight_nodes()] {
        let name = report.datasets[0].experiment.clone();
        for width in [1, 40, 80, 200] {
            let options = Options { width: Some(width), ..with_chart(&name) };
            let text = render("table", &report, &options);
            assert!(text.lines().count() > 5 && !text.contains('\u{1b}'), "{text}");
            let most = usize::from(width.max(40));
            assert!(text.lines().all(|line| line.chars().count() <= most), "{width}: {text}");
        }
    }
    let options = Options { color: true, ..with_chart("latency") };
    let text = render("table", &reports::default_profile(), &options);
    assert!(text.contains("\u{1b}[34m") && text.matches("\u{1b}[34m").count() <= text.matches("\u{1b}[0m").count());
}

#[test]
fn a_page_has_everything_in_it_and_asks_nobody() {
    let page = render("html", &reports::default_profile(), &Options::default());
    assert!(page.starts_with("<!DOCTYPE html>") && page.len() < 2_500_000);
    for part in
        ["id=\"chart-0\"", "id=\"chart-1\"", "AMD EPYC 9575F", "memgauge run --profile default", "default-src 'none'"]
    {
        assert!(page.contains(part), "{part}");
    }
    for outside in ["src=\"http", "href=\"http", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let embedded = page.split("id=\"report-0\">").nth(1).unwrap().split("</script>").next().unwrap();
    assert_eq!(serde_json::from_str::<Report>(embedded).unwrap(), reports::default_profile());
}

#[test]
fn nothing_of_a_report_is_ever_code() {
    let evil = "</script><script>window.owned=1</script><img src=x onerror=owned()>\"'`<!--";
    let mut report = reports::hostile();
    report.datasets[1].experiment = evil.to_owned();
    report.findings[1].text = evil.to_owned();
    report.provenance.command_line.push(evil.to_owned());
    report.provenance.host.system.hostname.value = Some(evil.to_owned());
    for point in &mut report.datasets[1].points {
        point.coordinates.insert("level".to_owned(), Coordinate::Name(evil.to_owned()));
        point.coordinates.insert(evil.to_owned(), Coordinate::Name(evil.to_owned()));
    }
    let several = [named(evil, report.clone()), named("other", reports::empty())];
    let pages = [
        render("html", &report, &Options::default()),
        String::from_utf8(by_name("html").unwrap().render_all(&several, &Options::default()).unwrap()).unwrap(),
    ];
    for (i, page) in pages.iter().enumerate() {
        // Charts, reports, library, script: no more scripts than these, and each of them ends once.
        let scripts = 4 + i;
        assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (scripts, scripts));
        for word in ["<img", "<b>", "<!--"] {
            let inside = page.split("<script>\"use strict\"").next().unwrap();
            assert!(!inside.contains(word), "{word}");
        }
    }
    for format in ["svg", "markdown"] {
        let text = render(format, &report, &Options::default());
        assert!(!text.contains("<script") && !text.contains("<img"), "{format}");
    }
}

#[test]
fn one_report_formats_refuse_several() {
    let several = [named("a", reports::empty()), named("b", reports::default_profile())];
    for format in ["json", "csv", "jsonl", "markdown"] {
        let error = by_name(format).unwrap().render_all(&several, &Options::default()).unwrap_err().to_string();
        assert!(error.starts_with("too many reports for one output: 2 in"), "{error}");
    }
    let text = by_name("table").unwrap().render_all(&several, &Options::default()).unwrap();
    assert!(String::from_utf8(text).unwrap().starts_with("a\n\nmachine"));
}

#[test]
fn openmetrics_has_a_family_for_each_figure() {
    let text = render("openmetrics", &reports::default_profile(), &Options::default());
    assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1);
    assert!(
        text.contains("# TYPE memgauge_latency_seconds gauge\n# UNIT memgauge_latency_seconds seconds\n"),
        "{text}"
    );
    let line = text.lines().find(|l| l.starts_with("memgauge_bandwidth_bytes_per_second{")).unwrap();
    let wanted = "memgauge_bandwidth_bytes_per_second{experiment=\"bandwidth\",kernel=\"read-avx512\",level=\"L1\",operation=\"read\",\
                  pages=\"thp\",size_bytes=\"24576\",threads=\"1\"} 612000000000 ";
    assert!(line.starts_with(wanted), "{line}");
    assert!(line.rsplit(' ').next().unwrap().parse::<i64>().unwrap() > 1_500_000_000, "{line}");
    let mut twice = reports::single_experiment();
    let again = twice.datasets[0].points[0].clone();
    twice.datasets[0].points.push(again);
    let text = render("openmetrics", &twice, &Options::default());
    let mut seen = std::collections::BTreeSet::new();
    assert!(
        text.lines().filter(|l| !l.starts_with('#')).all(|l| seen.insert(l.rsplit_once("} ").unwrap().0.to_owned())),
        "{text}"
    );
    for line in render("openmetrics", &reports::hostile(), &Options::default()).lines().filter(|l| !l.starts_with('#'))
    {
        assert!(line.starts_with("memgauge_") && line.contains("\"} "), "{line}");
    }
}

#[test]
fn wild_points_are_drawn() {
    for value in [0.0, -0.0, f64::MAX / 2.0, f64::MIN_POSITIVE, -1.0] {
        let mut report = reports::default_profile();
        for (i, point) in report.datasets.iter_mut().flat_map(|d| d.points.iter_mut()).enumerate() {
            let size = if i % 2 == 0 { 0 } else { u64::MAX };
            point.coordinates.insert("size_bytes".into(), Coordinate::Number(size));
            point.outcome = Outcome::Measured(Box::new(reports::measured(value)));
        }
        for format in ["svg", "html"] {
            assert!(render(format, &report, &Options::default()).len() > 1000);
        }
        assert!(render("table", &report, &with_chart("latency")).lines().count() > 10);
    }
}
