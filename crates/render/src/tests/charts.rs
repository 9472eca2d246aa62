//! Charts: their series and axes, and their form in pictures, pages and terminals.

use super::super::chart::{Body, Chart, Heat, Lines, charts};
use super::super::{NamedReport, Options, by_name};
use super::{render, reports};
use report::{Coordinate, Outcome, Report, VerdictGrade};

fn named(name: &str, report: Report) -> NamedReport {
    NamedReport {
        name: name.to_owned(),
        report,
    }
}

fn charts_of(report: Report) -> Vec<Chart> {
    charts(&[named("one", report)])
}

fn lines(chart: &Chart) -> &Lines {
    let Body::Lines(lines) = &chart.body else {
        panic!("{chart:?}")
    };
    lines
}

fn heat(chart: &Chart) -> &Heat {
    let Body::Heat(heat) = &chart.body else {
        panic!("{chart:?}")
    };
    heat
}

fn with_chart(name: &str) -> Options {
    Options {
        charts: vec![name.to_owned()],
        ..Options::default()
    }
}

#[test]
fn the_default_profile_is_bandwidth_and_latency_by_size() {
    let charts = charts_of(reports::default_profile());
    let titles: Vec<&str> = charts.iter().map(|c| c.title.as_str()).collect();
    assert_eq!(titles, ["bandwidth", "latency"]);
    let bandwidth = lines(&charts[0]);
    assert!(bandwidth.x.log && !bandwidth.names && bandwidth.x.title == "size");
    let names: Vec<&str> = bandwidth.series.iter().map(|s| s.name.as_str()).collect();
    // The names lack kernel and level, because these follow from operation and size.
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
    assert!(
        (bandwidth.series[0].spots[0].y - 612.0).abs() < 1e-9,
        "in the unit of tables"
    );
    let look = |i: usize| bandwidth.series[i].look;
    assert_eq!((look(0).color, look(1).color, look(2).color), (0, 0, 1));
    assert!(look(0).mark != look(1).mark && look(0).dash != look(1).dash);
    let grades = |grade| {
        bandwidth
            .series
            .iter()
            .flat_map(|s| &s.spots)
            .filter(|s| s.grade == grade)
            .count()
    };
    assert_eq!(
        (
            grades(VerdictGrade::Doubtful),
            grades(VerdictGrade::Rejected)
        ),
        (2, 1)
    );
    assert_eq!(lines(&charts[1]).series[0].name, "");
}

#[test]
fn several_reports_are_drawn_over_each_other() {
    let charts = charts(&[
        named("old", reports::single_experiment()),
        named("new", reports::single_experiment()),
    ]);
    assert_eq!(charts.len(), 1);
    let series: Vec<(&str, usize, usize, usize)> = lines(&charts[0])
        .series
        .iter()
        .map(|s| (s.name.as_str(), s.report, s.look.color, s.look.dash))
        .collect();
    assert_eq!(series, [("old", 0, 0, 0), ("new", 1, 0, 1)]);
}

#[test]
fn names_are_an_axis_where_there_are_no_numbers() {
    let mut report = reports::single_experiment();
    for (point, word) in report.datasets[0]
        .points
        .iter_mut()
        .zip(["add", "mul", "div", "none"])
    {
        point.coordinates = [("operation".to_owned(), Coordinate::Name(word.to_owned()))].into();
    }
    let charts = charts_of(report);
    let drawn = lines(&charts[0]);
    assert!(drawn.names && drawn.series.len() == 1);
    let places: Vec<&str> = drawn
        .x
        .ticks
        .iter()
        .map(|(_, name)| name.as_str())
        .collect();
    assert_eq!(places, ["add", "mul", "div"]);
    assert_eq!(
        drawn.series[0]
            .spots
            .iter()
            .map(|s| s.x)
            .collect::<Vec<_>>(),
        [0.0, 1.0, 2.0]
    );
}

#[test]
fn points_between_ends_are_heat_maps() {
    let charts = charts_of(reports::matrix(3));
    let titles: Vec<&str> = charts.iter().map(|c| c.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "core-to-core: round trip, compare-and-swap",
            "core-to-core: round trip, exchange"
        ]
    );
    let first = heat(&charts[0]);
    assert_eq!((first.rows.len(), first.columns.len()), (3, 3));
    assert!(first.cells[1][1].is_none() && first.cells[0][1].as_ref().unwrap().y == 16.0);
    // This pair was not measured.
    assert!(heat(&charts[1]).cells[0][2].is_none());
    let nodes = charts_of(reports::eight_nodes());
    assert_eq!((nodes.len(), heat(&nodes[0]).rows.len()), (1, 8));
    assert_eq!(heat(&nodes[0]).cells[3][3].as_ref().unwrap().y, 40.0);
}

/// A report of one experiment whose points have these coordinates and values.
fn experiment(
    name: &str,
    quantity: &str,
    points: Vec<(Vec<(&str, Coordinate)>, report::Measured)>,
) -> Report {
    let number = |(i, (at, m)): (usize, (Vec<(&str, Coordinate)>, _))| {
        reports::point(i as u64, &at, reports::outcome(m))
    };
    let points = points.into_iter().enumerate().map(number).collect();
    let dataset = report::Dataset {
        experiment: name.to_owned(),
        ..reports::dataset(quantity, points)
    };
    reports::report(name, vec![dataset])
}

fn finding(kind: &str, values: &[(&str, f64)]) -> report::Finding {
    let values = values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect();
    report::Finding::note(kind, String::new()).with(values)
}

#[test]
fn latency_beside_traffic_is_drawn_over_that_traffic() {
    let load = |gb: f64| report::Load {
        median: gb * 1e9,
        ci_low: gb * 0.9e9,
        ci_high: gb * 1.2e9,
        confidence: 0.95,
        bus_estimate: gb * 1e9,
    };
    let at = |mix: &str, pause: u64, gb: f64, ns: f64| {
        let at = vec![
            ("mix", reports::name(mix)),
            ("pause_cycles", Coordinate::Number(pause)),
            ("threads", Coordinate::Number(3)),
        ];
        (
            at,
            report::Measured {
                load: Some(load(gb)),
                ..reports::measured(ns)
            },
        )
    };
    let idle = (
        vec![
            ("mix", reports::name("idle")),
            ("threads", Coordinate::Number(0)),
        ],
        reports::measured(90.0),
    );
    // The second shortest pause carries more traffic than the shortest one, so the curve bends
    // back.
    let points = vec![
        idle,
        at("100:0", 0, 19.0, 300.0),
        at("100:0", 512, 20.0, 200.0),
        at("100:0", 65536, 1.0, 91.0),
        at("0:100", 0, 9.0, 400.0),
        at("0:100", 65536, 0.5, 95.0),
    ];
    let mut report = experiment("loaded-latency", "latency", points);
    report.findings.push(finding(
        "any",
        &[("knee", 20e9), ("knee_ns", 200.0), ("highest", 20e9)],
    ));
    let charts = charts_of(report.clone());
    assert_eq!(charts.len(), 1);
    let drawn = lines(&charts[0]);
    assert_eq!(
        (drawn.names, drawn.x.title.as_str()),
        (false, "background traffic in GB/s")
    );
    let names: Vec<&str> = drawn.series.iter().map(|s| s.name.as_str()).collect();
    // The idle point comes first, as the longest pause.
    assert_eq!(names, ["idle", "100:0", "0:100"]);
    let places = |i: usize| {
        drawn.series[i]
            .spots
            .iter()
            .map(|s| s.x.round())
            .collect::<Vec<_>>()
    };
    assert_eq!((places(1), places(0)), (vec![1.0, 20.0, 19.0], vec![0.0]));
    let spot = &drawn.series[1].spots[1];
    assert!(
        (spot.x_low - 18.0).abs() < 1e-9 && (spot.x_high - 24.0).abs() < 1e-9 && spot.y == 200.0,
        "{spot:?}"
    );
    assert_eq!(drawn.notes.len(), 1);
    assert!((drawn.notes[0].x - 20.0).abs() < 1e-9 && drawn.notes[0].y == 200.0);
    let text = render("table", &report, &with_chart("loaded-latency"));
    assert!(text.contains("knee: 200 at 20"), "{text}");
}

#[test]
fn the_point_where_threads_are_enough_is_marked() {
    let at = |placement: &str, threads: u64, gb: f64| {
        let at = vec![
            ("operation", reports::name("read")),
            ("placement", reports::name(placement)),
            ("size_bytes", Coordinate::Number((1 << 30) / threads)),
            ("threads", Coordinate::Number(threads)),
        ];
        (at, reports::measured(gb * 1e9))
    };
    let points = vec![
        at("spread", 1, 20.0),
        at("spread", 2, 39.0),
        at("spread", 4, 40.0),
        at("compact", 2, 30.0),
    ];
    let mut report = experiment("scaling", "bandwidth", points);
    let values = [
        ("read_threads", 2.0),
        ("read_reached", 39e9),
        ("read_best_threads", 4.0),
        ("read_best", 40e9),
    ];
    report.findings.push(finding("any", &values));
    report.findings.push(finding(
        "other",
        &[("read_threads", 2.0), ("read_reached", 1e9)],
    ));
    let charts = charts_of(report);
    let drawn = lines(&charts[0]);
    assert_eq!((drawn.x.title.as_str(), drawn.series.len()), ("threads", 2));
    let notes: Vec<(f64, f64, &str)> = drawn
        .notes
        .iter()
        .map(|n| (n.x, n.y.round(), n.text.as_str()))
        .collect();
    assert_eq!(notes, [(2.0, 39.0, "read: 95% of the highest (39.0 GB/s)")]);
}

#[test]
fn probes_are_drawn_apart_and_sizes_have_the_detected_levels() {
    let sweep = |size: u64, ns: f64| {
        let at = vec![
            ("operation", reports::name("sweep")),
            ("size_bytes", Coordinate::Number(size)),
            ("stride_bytes", Coordinate::Number(64)),
        ];
        (at, reports::measured(ns))
    };
    let ways = |nodes: u64| {
        let at = vec![
            ("operation", reports::name("ways")),
            ("nodes", Coordinate::Number(nodes)),
        ];
        (at, reports::measured(5.0))
    };
    let points = vec![
        sweep(8 << 10, 1.0),
        sweep(64 << 10, 3.0),
        sweep(8 << 20, 90.0),
        ways(8),
        ways(9),
    ];
    let mut report = experiment("caches", "latency", points);
    report.datasets[0].auxiliary = true;
    // The findings are not in the order of size, and one has no latency.
    report.findings.push(finding(
        "a",
        &[
            ("capacity_bytes", 1_048_576.0),
            ("level", 2.0),
            ("latency_ns", 3.0),
        ],
    ));
    report.findings.push(finding(
        "b",
        &[
            ("capacity_bytes", 32768.0),
            ("level", 1.0),
            ("latency_ns", 1.0),
        ],
    ));
    report
        .findings
        .push(finding("c", &[("capacity_bytes", 5000.0)]));
    let charts = charts_of(report);
    let titles: Vec<&str> = charts.iter().map(|c| c.title.as_str()).collect();
    assert_eq!(titles, ["caches: latency, sweep", "caches: latency, ways"]);
    let marks: Vec<(&str, f64)> = lines(&charts[0])
        .marks
        .iter()
        .map(|m| (m.name.as_str(), m.from))
        .collect();
    assert_eq!(
        marks,
        [
            ("L1 32.0 KiB", 0.0),
            ("L2 1.00 MiB", 32768.0),
            ("beyond", 1_048_576.0)
        ]
    );
    assert!(lines(&charts[1]).marks.is_empty());
}

#[test]
fn totals_are_not_in_the_map_between_nodes_and_repetitions_are_no_series() {
    let mut report = reports::eight_nodes();
    let mut total = report.datasets[0].points[0].clone();
    total
        .coordinates
        .insert("cpu_node".to_owned(), reports::name("all"));
    total
        .coordinates
        .insert("memory_node".to_owned(), reports::name("local"));
    report.datasets[0].points.push(total);
    let charts = charts_of(report);
    assert_eq!((charts.len(), heat(&charts[0]).rows.len()), (2, 8));
    assert!(
        charts[1].title.ends_with(", all together"),
        "{}",
        charts[1].title
    );
    let mut report = reports::default_profile();
    let dataset = &mut report.datasets[1];
    let mut again = dataset.points.clone();
    for (repeat, points) in [(0, &mut dataset.points), (1, &mut again)] {
        points.iter_mut().for_each(|p| {
            drop(
                p.coordinates
                    .insert("repeat".to_owned(), Coordinate::Number(repeat)),
            )
        });
    }
    let single = dataset
        .points
        .iter()
        .filter(|p| p.outcome.measured().is_some())
        .count();
    dataset.points.extend(again);
    let charts = charts_of(report);
    let drawn = lines(&charts[1]);
    assert_eq!(
        (drawn.series.len(), drawn.series[0].spots.len()),
        (1, 2 * single)
    );
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
            let options = Options {
                dark,
                ..Options::default()
            };
            let svg = render("svg", report, &options);
            assert!(
                svg.starts_with("<svg") && !svg.contains("<text") && !svg.contains("font-family"),
                "{i}"
            );
            assert!(svg.len() < 600_000, "{i}: {}", svg.len());
            let ground = if dark { "#16181c" } else { "#ffffff" };
            assert!(svg.contains(ground), "{i}: {svg:.300}");
        }
    }
    let png = by_name("png")
        .unwrap()
        .render(&all[0], &with_chart("latency"))
        .unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() < 500_000);
    // The PNG has twice the pixels of the SVG in each direction, and the caption below.
    assert_eq!(size(&png).0, 2400);
    assert!((1350..1500).contains(&size(&png).1), "{:?}", size(&png));
    assert_ne!(
        png,
        by_name("png")
            .unwrap()
            .render(&all[0], &with_chart("bandwidth"))
            .unwrap()
    );
}

/// Width and height in the header of a PNG.
fn size(png: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn heat_maps_of_384_cores_stay_small() {
    let report = reports::large_machine(384);
    let svg = render("svg", &report, &Options::default());
    assert!(
        svg.contains("data:image/png;base64,") && svg.len() < 500_000,
        "{}",
        svg.len()
    );
    let text = render("table", &report, &with_chart("core-to-core"));
    assert!(
        text.lines().count() < 60 && text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
}

fn picture(format: &str, reports: &[NamedReport], options: &Options) -> Vec<u8> {
    by_name(format)
        .unwrap()
        .render_all(reports, options)
        .unwrap()
}

/// Width and height in the head of an SVG.
fn svg_size(svg: &[u8]) -> (u32, u32) {
    let text = std::str::from_utf8(svg).unwrap();
    let number = |start: &str| {
        text.split(start)
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap()
            .parse()
            .unwrap()
    };
    (number("width=\""), number("height=\""))
}

#[test]
fn a_picture_has_every_chart_of_every_report() {
    let several = [
        named("one", reports::default_profile()),
        named("two", reports::matrix(3)),
    ];
    let contents = |options: &Options| by_name("svg").unwrap().contents(&several, options).unwrap();
    let wanted = "4 charts: bandwidth; latency; core-to-core: round trip, compare-and-swap, two; \
                  core-to-core: round trip, exchange, two";
    assert_eq!(contents(&Options::default()), wanted);
    let all = picture("svg", &several, &Options::default());
    let (width, height) = svg_size(&all);
    assert!(
        width == 2400 && (1350..1500).contains(&height),
        "{width} {height}"
    );
    assert_eq!(
        size(&picture("png", &several, &Options::default())),
        (2 * width, 2 * height)
    );
    // Every chart is drawn: the picture has the paths of the three single pictures, except two
    // captions.
    let fills = |svg: &[u8]| {
        String::from_utf8(svg.to_vec())
            .unwrap()
            .matches("<path")
            .count()
    };
    let alone: Vec<usize> = ["bandwidth", "latency", "core-to-core"]
        .map(|name| fills(&picture("svg", &several, &with_chart(name))))
        .to_vec();
    let caption = 4 + 1;
    assert_eq!(fills(&all) + 2 * caption, alone.iter().sum::<usize>());
    let two = Options {
        charts: vec!["latency".to_owned(), "Bandwidth".to_owned()],
        ..Options::default()
    };
    assert_eq!(contents(&two), "2 charts: bandwidth; latency");
    assert_eq!(contents(&with_chart("all")), wanted);
    let text = String::from_utf8(picture("table", &several, &with_chart("all"))).unwrap();
    assert!(
        [
            "bandwidth\n",
            "latency\n",
            "compare-and-swap, two\n",
            "exchange, two\n"
        ]
        .iter()
        .all(|t| text.contains(t))
    );
}

#[test]
fn charts_without_room_are_told() {
    let mut report = reports::single_experiment();
    let dataset = report.datasets[0].clone();
    report.datasets = (0..30)
        .map(|i| report::Dataset {
            experiment: format!("experiment-{i}"),
            ..dataset.clone()
        })
        .collect();
    let several = [named("one", report)];
    let contents = by_name("png")
        .unwrap()
        .contents(&several, &Options::default())
        .unwrap();
    assert!(
        contents.starts_with("24 charts: experiment-0"),
        "{contents}"
    );
    assert!(
        contents.contains("without 6 charts") && contents.contains("experiment-29"),
        "{contents}"
    );
    let (width, height) = svg_size(&picture("svg", &several, &Options::default()));
    assert!(
        width == 3600 && (5400..5600).contains(&height),
        "{width} {height}"
    );
}

#[test]
fn pictures_tell_machine_day_command_and_title() {
    let several = [
        named("old", reports::single_experiment()),
        named("new", reports::default_profile()),
    ];
    let lines = super::super::chart::sources(&several);
    assert_eq!(lines.len(), 4);
    assert!(
        lines[0].starts_with("old: bench: AMD EPYC 9575F"),
        "{lines:?}"
    );
    assert_eq!(
        lines[3],
        "2026-01-02 03:04 UTC: memgauge run --profile default"
    );
    // The text is drawn as outlines, so another command, machine or day gives another picture.
    let report = reports::single_experiment();
    let drawn = |report: &Report| render("svg", report, &Options::default());
    let mut others = [report.clone(), report.clone(), report.clone()];
    others[0].provenance.command_line.push("--seed".to_owned());
    others[1].provenance.started = "2026-01-03T03:04:05Z".to_owned();
    others[2].provenance.host.system.hostname.value = Some("other".to_owned());
    assert!(others.iter().all(|other| drawn(other) != drawn(&report)));
    let text = render("table", &report, &with_chart("latency"));
    assert!(
        text.contains("bench: AMD EPYC") && text.contains("2026-01-02 03:04 UTC: memgauge"),
        "{text}"
    );
    let titled = Options {
        title: Some("Two <machines>".to_owned()),
        ..with_chart("latency")
    };
    assert_ne!(
        render("svg", &report, &titled),
        render("svg", &report, &with_chart("latency"))
    );
    assert!(render("table", &report, &titled).starts_with("Two <machines>\n"));
    assert!(render("html", &report, &titled).contains("<title>Two &lt;machines&gt;</title>"));
}

#[test]
fn bandwidth_in_order_and_out_of_it_is_one_chart() {
    let at = |operation: &str, order: Option<&str>, size: u64, gb: f64| {
        let mut at = vec![
            ("operation", reports::name(operation)),
            ("size_bytes", Coordinate::Number(size)),
            ("threads", Coordinate::Number(1)),
        ];
        at.extend(order.map(|order| ("order", reports::name(order))));
        (at, reports::measured(gb * 1e9))
    };
    let in_order = |name: &str| {
        let all = ["read", "triad"]
            .map(|operation| [4096, 8192, 16384].map(|size| at(operation, None, size, 90.0)));
        experiment(name, "bandwidth", all.concat())
    };
    let out_of_order = |sizes: &[u64]| {
        let orders = ["forward", "random 64 B"].map(|order| {
            sizes
                .iter()
                .map(|size| at("read", Some(order), *size, 30.0))
                .collect::<Vec<_>>()
        });
        experiment("patterns", "bandwidth", orders.concat())
    };
    let apart = [
        named("a", in_order("bandwidth")),
        named("b", out_of_order(&[4096, 16384])),
    ];
    let mut together = in_order("bandwidth");
    together
        .datasets
        .extend(out_of_order(&[4096, 16384]).datasets);
    for (reports, wanted) in [
        (vec![named("one", together)], ["sequential", "random 64 B"]),
        (apart.to_vec(), ["sequential, a", "random 64 B, b"]),
    ] {
        let charts = charts(&reports);
        assert_eq!(charts.len(), 3);
        let both = lines(&charts[2]);
        assert_eq!(charts[2].name, "bandwidth+patterns");
        assert_eq!(both.x.title, "size");
        assert_eq!(
            both.series
                .iter()
                .map(|s| s.spots.len())
                .collect::<Vec<_>>(),
            [3, 2]
        );
        assert_eq!(
            both.series
                .iter()
                .map(|s| s.name.as_str())
                .collect::<Vec<_>>(),
            wanted
        );
        assert_ne!(both.series[0].look, both.series[1].look);
    }
    // With a single size there is no combined chart.
    assert_eq!(
        charts(&[apart[0].clone(), named("b", out_of_order(&[4096]))]).len(),
        2
    );
    assert_eq!(
        charts(&[named("a", in_order("scaling")), apart[1].clone()]).len(),
        2
    );
}

#[test]
fn every_one_of_many_series_has_a_name_and_a_look() {
    let at = |i: u64| {
        let at = vec![
            ("operation", reports::name(&format!("op{}", i / 2))),
            ("size_bytes", Coordinate::Number(4096 << (i % 2))),
        ];
        (at, reports::measured(1e9 * (1 + i) as f64))
    };
    let few = experiment("bandwidth", "bandwidth", (0..40).map(at).collect());
    let many = experiment("bandwidth", "bandwidth", (0..120).map(at).collect());
    let all = charts_of(many.clone());
    let looks: std::collections::BTreeSet<_> =
        lines(&all[0]).series.iter().map(|s| s.look).collect();
    assert_eq!(looks.len(), 60);
    // The names of few series fit next to the plot. The names of many series stand below it.
    let high =
        |report: &Report| svg_size(&render("svg", report, &Options::default()).into_bytes()).1;
    assert!(high(&many) > high(&few) + 100);
    let text = render("table", &many, &with_chart("bandwidth"));
    let named: Vec<&str> = text.lines().filter(|line| line.contains(" op")).collect();
    let marks: std::collections::BTreeSet<char> = named
        .iter()
        .filter_map(|l| l.trim().chars().next())
        .collect();
    assert_eq!((named.len(), marks.len()), (60, 60), "{text}");
}

#[test]
fn a_report_is_named_where_others_have_points_too() {
    let several = [
        named("one", reports::default_profile()),
        named("two", reports::matrix(3)),
    ];
    let charts = charts(&several);
    assert_eq!(lines(&charts[0]).series[0].name, "read, threads 1");
    assert!(
        charts[0].subtitle.starts_with("one: "),
        "{}",
        charts[0].subtitle
    );
}

#[test]
fn a_chart_that_is_not_there_is_answered_with_those_that_are() {
    for format in ["svg", "png", "table"] {
        let error = by_name(format)
            .unwrap()
            .render(&reports::default_profile(), &with_chart("latncy"))
            .unwrap_err();
        let wanted = "no such chart in the report: 'latncy'; known are bandwidth, latency, all; \
             did you mean 'latency'?";
        assert_eq!(error.to_string(), wanted);
    }
    assert!(
        by_name("table")
            .unwrap()
            .render(&reports::empty(), &with_chart("x"))
            .is_err()
    );
}

#[test]
fn terminals_get_lines_that_fit_and_colours_only_where_requested() {
    for report in [
        reports::default_profile(),
        reports::hostile(),
        reports::matrix(24),
        reports::eight_nodes(),
    ] {
        let name = report.datasets[0].experiment.clone();
        for width in [1, 40, 80, 200] {
            let options = Options {
                width: Some(width),
                ..with_chart(&name)
            };
            let text = render("table", &report, &options);
            assert!(
                text.lines().count() > 5 && !text.contains('\u{1b}'),
                "{text}"
            );
            let most = usize::from(width.max(40));
            assert!(
                text.lines().all(|line| line.chars().count() <= most),
                "{width}: {text}"
            );
        }
    }
    let options = Options {
        color: true,
        ..with_chart("latency")
    };
    let text = render("table", &reports::default_profile(), &options);
    assert!(
        text.contains("\u{1b}[34m")
            && text.matches("\u{1b}[34m").count() <= text.matches("\u{1b}[0m").count()
    );
}

#[test]
fn sparklines_are_drawn_for_single_experiments_at_terminals() {
    let mut report = reports::default_profile();
    report.plan.profile = "bandwidth".into();
    let plain = render("table", &report, &Options::default());
    let block = |c: char| ('\u{2581}'..='\u{258f}').contains(&c);
    assert!(!plain.contains(block));
    let drawn = render(
        "table",
        &report,
        &Options {
            bars: true,
            width: Some(100),
            ..Options::default()
        },
    );
    let line = drawn
        .lines()
        .find(|line| line.contains("bandwidth read, threads 1"))
        .unwrap();
    assert!(
        line.contains("to 612 ") && line.matches(block).count() == 4,
        "{drawn}"
    );
    assert!(
        drawn.lines().all(|line| line.chars().count() <= 100),
        "{drawn}"
    );
    assert!(
        !render(
            "markdown",
            &report,
            &Options {
                bars: true,
                ..Options::default()
            }
        )
        .contains(block)
    );
    assert!(
        render(
            "table",
            &reports::empty(),
            &Options {
                bars: true,
                ..Options::default()
            }
        )
        .contains("no points")
    );
}

#[test]
fn a_page_has_everything_in_it_and_asks_nobody() {
    let page = render("html", &reports::default_profile(), &Options::default());
    assert!(page.starts_with("<!DOCTYPE html>") && page.len() < 400_000);
    for part in [
        "id=\"chart-0\"",
        "id=\"chart-1\"",
        "AMD EPYC 9575F",
        "memgauge run --profile default",
        "default-src 'none'",
    ] {
        assert!(page.contains(part), "{part}");
    }
    for outside in ["src=\"http", "href=\"http", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    // Every address in the page refers to the page itself.
    assert!(
        page.split("url(")
            .skip(1)
            .all(|address| address.starts_with('#'))
    );
    let embedded = page
        .split("id=\"report-0\">")
        .nth(1)
        .unwrap()
        .split("</script>")
        .next()
        .unwrap();
    let packed =
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, embedded).unwrap();
    let text = miniz_oxide::inflate::decompress_to_vec_zlib(&packed).unwrap();
    assert_eq!(
        text,
        render("json", &reports::default_profile(), &Options::default()).into_bytes()
    );
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
        point
            .coordinates
            .insert("level".to_owned(), Coordinate::Name(evil.to_owned()));
        point
            .coordinates
            .insert(evil.to_owned(), Coordinate::Name(evil.to_owned()));
    }
    let several = [
        named(evil, report.clone()),
        named("other", reports::empty()),
    ];
    let pages = [
        render("html", &report, &Options::default()),
        String::from_utf8(
            by_name("html")
                .unwrap()
                .render_all(&several, &Options::default())
                .unwrap(),
        )
        .unwrap(),
    ];
    for (i, page) in pages.iter().enumerate() {
        // The page has a script for the charts, one for each report, and its own script. Each
        // script ends once.
        let scripts = 3 + i;
        assert_eq!(
            (
                page.matches("<script").count(),
                page.matches("</script").count()
            ),
            (scripts, scripts)
        );
        for word in ["<img", "<b>", "<!--"] {
            let inside = page.split("<script>\"use strict\"").next().unwrap();
            assert!(!inside.contains(word), "{word}");
        }
    }
    for format in ["svg", "markdown"] {
        let text = render(format, &report, &Options::default());
        assert!(
            !text.contains("<script") && !text.contains("<img"),
            "{format}"
        );
    }
}

#[test]
fn one_report_formats_refuse_several() {
    let several = [
        named("a", reports::empty()),
        named("b", reports::default_profile()),
    ];
    for format in ["json", "csv", "jsonl"] {
        let error = by_name(format)
            .unwrap()
            .render_all(&several, &Options::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("too many reports for one output: 2 in"),
            "{error}"
        );
    }
    let text = by_name("table")
        .unwrap()
        .render_all(&several, &Options::default())
        .unwrap();
    assert!(String::from_utf8(text).unwrap().starts_with("a\n\n"));
}

#[test]
fn openmetrics_has_a_family_for_each_figure() {
    let text = render(
        "openmetrics",
        &reports::default_profile(),
        &Options::default(),
    );
    assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1);
    assert!(
        text.contains(
            "# TYPE memgauge_latency_seconds gauge\n# UNIT memgauge_latency_seconds seconds\n"
        ),
        "{text}"
    );
    let line = text
        .lines()
        .find(|l| l.starts_with("memgauge_bandwidth_bytes_per_second{"))
        .unwrap();
    let wanted = "memgauge_bandwidth_bytes_per_second{experiment=\"bandwidth\",\
         kernel=\"read-avx512\",level=\"L1\",operation=\"read\",pages=\"thp\",size_bytes=\"24576\",threads=\"1\"} \
         612000000000 ";
    assert!(line.starts_with(wanted), "{line}");
    assert!(
        line.rsplit(' ').next().unwrap().parse::<i64>().unwrap() > 1_500_000_000,
        "{line}"
    );
    let mut twice = reports::single_experiment();
    let again = twice.datasets[0].points[0].clone();
    twice.datasets[0].points.push(again);
    let text = render("openmetrics", &twice, &Options::default());
    let mut seen = std::collections::BTreeSet::new();
    assert!(
        text.lines()
            .filter(|l| !l.starts_with('#'))
            .all(|l| seen.insert(l.rsplit_once("} ").unwrap().0.to_owned())),
        "{text}"
    );
    for line in render("openmetrics", &reports::hostile(), &Options::default())
        .lines()
        .filter(|l| !l.starts_with('#'))
    {
        assert!(
            line.starts_with("memgauge_") && line.contains("\"} "),
            "{line}"
        );
    }
}

#[test]
fn wild_points_are_drawn() {
    for value in [0.0, -0.0, f64::MAX / 2.0, f64::MIN_POSITIVE, -1.0] {
        let mut report = reports::default_profile();
        for (i, point) in report
            .datasets
            .iter_mut()
            .flat_map(|d| d.points.iter_mut())
            .enumerate()
        {
            let size = if i % 2 == 0 { 0 } else { u64::MAX };
            point
                .coordinates
                .insert("size_bytes".into(), Coordinate::Number(size));
            point.outcome = Outcome::Measured(Box::new(reports::measured(value)));
        }
        for format in ["svg", "html"] {
            assert!(render(format, &report, &Options::default()).len() > 1000);
        }
        assert!(
            render("table", &report, &with_chart("latency"))
                .lines()
                .count()
                > 10
        );
    }
}

#[test]
fn of_too_many_points_those_stay_that_stand_out() {
    let at = |i: u64, gb: f64| {
        let at = vec![
            (
                "operation",
                reports::name(if i.is_multiple_of(2) { "read" } else { "write" }),
            ),
            ("size_bytes", Coordinate::Number(4096 + 512 * (i / 2))),
        ];
        let mut m = reports::measured(gb * 1e9);
        m.samples.clear();
        (at, m)
    };
    let wild = |i: u64| match i {
        12_340 => 99.0,
        7_001 => 0.5,
        i => 10.0 + (i % 7) as f64,
    };
    let report = experiment(
        "bandwidth",
        "bandwidth",
        (0..20_000).map(|i| at(i, wild(i))).collect(),
    );
    let charts = charts_of(report.clone());
    let drawn = lines(&charts[0]);
    let spots: Vec<f64> = drawn
        .series
        .iter()
        .flat_map(|s| &s.spots)
        .map(|s| s.y)
        .collect();
    assert!(
        spots.len() <= super::super::chart::MAX_SPOTS
            && spots.len() + charts[0].not_drawn == 20_000,
        "{}",
        spots.len()
    );
    assert!(spots.contains(&99.0) && spots.contains(&0.5));
    assert!(
        drawn
            .series
            .iter()
            .all(|s| s.spots.windows(2).all(|pair| pair[0].x <= pair[1].x))
    );
    let page = render("html", &report, &Options::default());
    assert!(page.contains(&format!("{} points", charts[0].not_drawn)));
}

#[test]
fn numbers_that_have_no_place_in_a_map_are_counted() {
    let mut report = reports::eight_nodes();
    assert!(
        charts_of(report.clone())
            .iter()
            .all(|chart| chart.not_drawn == 0)
    );
    let points = &mut report.datasets[0].points;
    let mut same_place = points[9].clone();
    same_place.id = 1000;
    let mut nowhere = points[9].clone();
    nowhere.coordinates.remove("memory_node");
    points.extend([same_place, nowhere]);
    assert_eq!(
        charts_of(report.clone())
            .iter()
            .map(|chart| chart.not_drawn)
            .sum::<usize>(),
        2
    );
    for format in ["table", "html"] {
        assert!(
            render(format, &report, &with_chart("numa")).contains("2 points"),
            "{format}"
        );
    }
}
