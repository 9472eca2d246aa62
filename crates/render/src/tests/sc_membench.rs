//! Tests CSV and scores of sc-membench, with expected values computed by hand.

use super::super::{Options, by_name};
use super::render;
use super::reports::{self, dataset, judged, measured, name, outcome, point, report};
use report::{Coordinate, Measured, Outcome, Point, Report, Sample, Summary, VerdictGrade};

const MIB: f64 = 1_048_576.0;

/// A bandwidth point whose best payload rate is `mib_s` MiB/s. Its samples are `passes` passes in
/// half a second.
fn bandwidth(operation: &str, size: u64, threads: u64, mib_s: f64, passes: u64) -> Point {
    let sample = Sample {
        traffic: None,
        value: 1.0,
        elapsed_ns: 0.25e9,
        work: size * threads * passes / 2,
        core_hz: None,
        round: 0,
        allocation: 0,
        gaps_ns: None,
        cpus: Vec::new(),
        placement: None,
        quietest: None,
        disturbance: None,
    };
    let stolen = Sample {
        work: 1 << 50,
        elapsed_ns: 9e9,
        disturbance: Some("stolen".into()),
        ..sample.clone()
    };
    let best = mib_s * MIB;
    let summary = Summary {
        median: best * 0.9,
        best,
        ci_low: best * 0.8,
        ci_high: best,
        confidence: 0.95,
        mad: Some(0.0),
        mean: None,
        standard_deviation: None,
        coefficient_of_variation: None,
        undisturbed_samples: 2,
    };
    let single = if operation == "copy" { 0.5 } else { 1.0 };
    let m = Measured {
        summary,
        also: [("single_count".to_owned(), summary.median * single)].into(),
        samples: vec![sample.clone(), stolen, sample],
        ..measured(1.0)
    };
    let coordinates = [
        ("operation", name(operation)),
        ("size_bytes", Coordinate::Number(size)),
        ("threads", Coordinate::Number(threads)),
    ];
    point(0, &coordinates, outcome(m))
}

/// A latency point with samples of 0.9, 1.0 and 1.1 times `ns`.
fn latency(size: u64, ns: f64) -> Point {
    let sample = |f: f64| Sample {
        traffic: None,
        value: ns * f,
        elapsed_ns: 1e8,
        work: 1 << 20,
        core_hz: None,
        round: 0,
        allocation: 0,
        gaps_ns: None,
        cpus: Vec::new(),
        placement: None,
        quietest: None,
        disturbance: None,
    };
    let mut m = Measured {
        samples: [0.9, 1.0, 1.1].map(sample).to_vec(),
        ..measured(ns)
    };
    m.summary.standard_deviation = Some(0.1 * ns);
    point(
        0,
        &[
            ("size_bytes", Coordinate::Number(size)),
            ("threads", Coordinate::Number(1)),
        ],
        outcome(m),
    )
}

/// A sweep of two sizes with all four operations on both CPUs of the machine.
fn sweep() -> Report {
    let mut points = Vec::new();
    for (kib, mib_s) in [(1023u64, 2000.0), (63, 4000.0)] {
        points.push(bandwidth("copy", 2 * kib * 1024, 2, mib_s, 10));
        points.push(bandwidth("write", kib * 1024, 2, mib_s / 4.0, 20));
        points.push(bandwidth("triad", kib * 1024, 2, 9e9, 20));
        points.push(bandwidth("read", kib * 1024, 2, mib_s, 30));
    }
    let chains = vec![latency(1023 * 1024, 100.0), latency(63 * 1024, 2.0)];
    report(
        "default",
        vec![dataset("bandwidth", points), dataset("latency", chains)],
    )
}

#[test]
fn rows_are_as_that_tool_prints_them() {
    let expected = "\
size_kb,operation,bandwidth_mb_s,latency_ns,latency_stddev_ns,latency_samples,threads,iterations,elapsed_s
63,read,4000.00,0,0,0,2,30,0.500000
63,write,1000.00,0,0,0,2,20,0.500000
63,copy,2000.00,0,0,0,2,10,0.500000
63,latency,0,2.00,0.20,3,1,3,0.300000
1023,read,2000.00,0,0,0,2,30,0.500000
1023,write,500.00,0,0,0,2,20,0.500000
1023,copy,1000.00,0,0,0,2,10,0.500000
1023,latency,0,100.00,10.00,3,1,3,0.300000
";
    assert_eq!(
        render("sc-membench", &sweep(), &Options::default()),
        expected
    );
}

#[test]
fn the_best_of_points_with_one_key_is_kept_and_a_rejected_one_never() {
    let mut wrong = bandwidth("read", 4096, 2, 9e9, 1);
    let m = wrong.outcome.measured().unwrap().clone();
    wrong.outcome = outcome(judged(
        m,
        VerdictGrade::Rejected,
        &["more than the ports carry"],
    ));
    let points = vec![
        bandwidth("read", 4096, 2, 100.0, 1),
        bandwidth("read", 4096, 2, 300.0, 1),
        bandwidth("read", 4096, 2, 200.0, 1),
        bandwidth("read", 4096, 1, 50.0, 1),
        wrong,
    ];
    let chains = vec![latency(4096, 3.0), latency(4096, 1.0), latency(4096, 2.0)];
    let report = report(
        "default",
        vec![dataset("bandwidth", points), dataset("latency", chains)],
    );
    let text = render("sc-membench", &report, &Options::default());
    let rows: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(
        rows,
        [
            "4,read,300.00,0,0,0,2,1,0.500000",
            "4,latency,0,1.00,0.10,3,1,3,0.300000"
        ]
    );
    let every = Options {
        verbose: true,
        ..Options::default()
    };
    let text = render("sc-membench", &report, &every);
    assert!(
        text.contains("\n4,read,50.00,0,0,0,1,1,0.500000\n4,read,300.00,0,0,0,2,"),
        "{text}"
    );
    // A rejected point and a point with another number of threads have no row. Repetitions are
    // tries, whose best one has the row.
    let notes = notes(&report);
    assert_eq!(
        notes
            .lines()
            .filter(|line| line.starts_with("memgauge: note: no row: "))
            .count(),
        2,
        "{notes}"
    );
    assert!(
        notes.contains("rejected: more than the ports carry") && notes.contains("threads: 1"),
        "{notes}"
    );
}

/// Notes that accompany the file.
fn notes(report: &Report) -> String {
    by_name("sc-membench")
        .unwrap()
        .notes(report, &Options::default())
        .unwrap()
}

/// A report of these bandwidth and latency points.
fn both(bandwidth: Vec<Point>, latency: Vec<Point>) -> Report {
    report(
        "default",
        vec![dataset("bandwidth", bandwidth), dataset("latency", latency)],
    )
}

/// A latency point with one more coordinate.
fn latency_at(axis: &str, at: Coordinate, ns: f64) -> Point {
    let mut point = latency(64 << 10, ns);
    point.coordinates.insert(axis.to_owned(), at);
    point
}

#[test]
fn latency_rows_are_of_one_chain_and_one_thread_in_random_order() {
    let chains = vec![
        latency_at("chains", Coordinate::Number(1), 4.0),
        latency_at("chains", Coordinate::Number(4), 1.0),
        latency_at("threads", Coordinate::Number(2), 1.0),
        latency_at("region", name("private"), 5.0),
        latency_at("region", name("shared"), 1.0),
        latency_at("chain_mode", name("sequential"), 1.0),
    ];
    let report = both(Vec::new(), chains);
    let text = render("sc-membench", &report, &Options::default());
    assert_eq!(
        text.lines().skip(1).collect::<Vec<_>>(),
        ["64,latency,0,4.00,0.40,3,1,3,0.300000"]
    );
    let every = Options {
        verbose: true,
        ..Options::default()
    };
    assert_eq!(render("sc-membench", &report, &every), text);
    assert_eq!(notes(&report).lines().count(), 5, "{}", notes(&report));
}

#[test]
fn rows_have_time_and_iterations_and_sizes_of_whole_kib() {
    let mut disturbed = bandwidth("read", 64 << 10, 2, 100.0, 3);
    let Outcome::Measured(m) = &mut disturbed.outcome else {
        unreachable!()
    };
    m.samples
        .iter_mut()
        .for_each(|sample| sample.disturbance = Some("another thread ran".to_owned()));
    m.summary.undisturbed_samples = 0;
    let mut partial = bandwidth("write", 64 << 10, 2, 100.0, 1);
    let Outcome::Measured(m) = &mut partial.outcome else {
        unreachable!()
    };
    m.samples
        .iter_mut()
        .for_each(|sample| sample.work = 1 << 10);
    let mut bare = bandwidth("copy", 64 << 10, 2, 100.0, 1);
    let Outcome::Measured(m) = &mut bare.outcome else {
        unreachable!()
    };
    m.samples.clear();
    let points = vec![
        disturbed,
        partial,
        bare,
        bandwidth("read", 512, 2, 100.0, 1),
        bandwidth("read", 1536, 2, 100.0, 1),
        bandwidth("copy", 1024, 2, 100.0, 1),
        bandwidth("read", (1 << 20) + 256, 2, 100.0, 1),
    ];
    let report = both(points, Vec::new());
    let text = render("sc-membench", &report, &Options::default());
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip(1)
        .map(|row| row.split(',').collect())
        .collect();
    let sizes: Vec<(&str, &str)> = rows.iter().map(|row| (row[0], row[1])).collect();
    assert_eq!(sizes, [("64", "read"), ("64", "write"), ("1024", "read")]);
    for row in &rows {
        assert!(
            row[7].parse::<u64>().unwrap() > 0 && row[8].parse::<f64>().unwrap() > 0.0,
            "{row:?}"
        );
    }
    let left_out = report::sc_membench_form(&report, report::Threads::One).left_out;
    assert_eq!(left_out.len(), 4, "{left_out:?}");
}

#[test]
fn one_number_of_threads_has_rows_and_the_best_where_it_was_looked_for() {
    let mut best = bandwidth("read", 64 << 10, 2, 500.0, 1);
    best.coordinates
        .insert(report::REQUESTED_THREADS.to_owned(), name("best"));
    let points = vec![
        bandwidth("read", 64 << 10, 4, 100.0, 1),
        bandwidth("write", 64 << 10, 4, 50.0, 1),
        best,
    ];
    let text = render(
        "sc-membench",
        &both(points.clone(), Vec::new()),
        &Options::default(),
    );
    assert_eq!(
        text.lines().skip(1).collect::<Vec<_>>(),
        ["64,read,500.00,0,0,0,2,1,0.500000"]
    );
    let text = render(
        "sc-membench",
        &both(points[..2].to_vec(), Vec::new()),
        &Options::default(),
    );
    assert_eq!(text.lines().count(), 3, "{text}");
}

#[test]
fn a_report_without_rows_says_so() {
    let renderer = by_name("sc-membench").unwrap();
    let none = both(vec![bandwidth("triad", 4096, 2, 1.0, 1)], Vec::new());
    for report in [none, reports::empty(), reports::matrix(3)] {
        assert!(renderer.shows_nothing(&report, &Options::default()));
        assert!(
            notes(&report).starts_with("memgauge: no rows"),
            "{}",
            notes(&report)
        );
    }
    assert!(!renderer.shows_nothing(&sweep(), &Options::default()));
    for other in super::super::RENDERERS
        .iter()
        .filter(|other| other.name() != "sc-membench")
    {
        assert!(
            !other.shows_nothing(&sweep(), &Options::default()),
            "{}",
            other.name()
        );
    }
}

#[test]
fn that_tools_file_is_read_back_as_it_was_written() {
    let text = render("sc-membench", &sweep(), &Options::default());
    let read = report::parse_saved(text.as_bytes()).unwrap().into_report();
    assert_eq!(render("sc-membench", &read, &Options::default()), text);
    // The file has the points of the sweep. Their values agree to the number of digits in the file.
    for (i, count) in [(0, 6), (1, 2)] {
        let ours = &sweep().datasets[i];
        let theirs = &read.datasets[i];
        assert_eq!(
            (theirs.points.len(), &theirs.quantity),
            (count, &ours.quantity)
        );
        for point in &theirs.points {
            let at = |p: &&Point| {
                theirs
                    .axes
                    .iter()
                    .all(|a| p.coordinates.get(&a.name) == point.coordinates.get(&a.name))
            };
            let same = ours
                .points
                .iter()
                .find(at)
                .unwrap()
                .outcome
                .measured()
                .unwrap()
                .summary;
            let value = point.outcome.measured().unwrap().summary;
            let wanted = if i == 0 { same.best } else { same.median };
            assert!((value.median / wanted - 1.0).abs() < 1e-5, "{point:?}");
        }
    }
    for format in super::super::RENDERERS {
        format.render(&read, &Options::default()).unwrap();
    }
}

/// Notes that accompany the file, with scores.
fn scores(report: &Report) -> String {
    let options = Options {
        scores: true,
        ..Options::default()
    };
    by_name("sc-membench")
        .unwrap()
        .notes(report, &options)
        .unwrap()
}

#[test]
fn scores_follow_that_tools_formulas() {
    let text = scores(&sweep());
    // The weights are log2(63 + 1) = 6 and log2(1023 + 1) = 10. The average is (6 * 4000 + 10 *
    // 2000) / 16 = 2750.
    let row = |name: &str| {
        text.lines()
            .find(|l| l.trim_start().starts_with(name))
            .unwrap()
            .split_whitespace()
    };
    assert_eq!(
        row("read").collect::<Vec<_>>(),
        ["read", "4000.0", "2750.0"]
    );
    assert_eq!(
        row("write").collect::<Vec<_>>(),
        ["write", "1000.0", "687.5"]
    );
    assert_eq!(
        row("copy").collect::<Vec<_>>(),
        ["copy", "2000.0", "1375.0"]
    );
    // The latency is that of the largest size, not the lowest latency. Bandwidth score: mean of
    // peaks, 7000/3 MiB/s, gives 2.33. Latency score: 1000/100 = 10. Combined score: their root
    // times 100.
    assert!(
        text.contains("best latency: 100.00 ns (L2/L3 cache) at 1023 KiB buffer"),
        "{text}"
    );
    assert!(text.contains("bandwidth score: 2.3\n"), "{text}");
    assert!(text.contains("latency score: 10.0\n"), "{text}");
    assert!(text.contains("combined score: 483\n"), "{text}");
}

#[test]
fn scores_are_given_on_request_only_and_warn() {
    // Triads have no row, which is the only note.
    assert_eq!(notes(&sweep()).lines().count(), 1, "{}", notes(&sweep()));
    let whole = scores(&sweep());
    assert!(
        whole.contains("only 2 sizes") && !whole.contains("not with all"),
        "{whole}"
    );
    let mut cut = sweep();
    cut.plan.shortened.push("copy left out".into());
    assert!(scores(&cut).contains("cut short"));
    let one = report(
        "bandwidth",
        vec![dataset(
            "bandwidth",
            vec![bandwidth("read", 4096, 1, 100.0, 1)],
        )],
    );
    let text = scores(&one);
    assert!(
        text.contains("measured with 1 thread, not with all 2 CPUs"),
        "{text}"
    );
    assert!(
        text.contains("not measured: write, copy, latency"),
        "{text}"
    );
    assert!(
        text.contains("combined score: 10 (bandwidth only, no latency data)"),
        "{text}"
    );
    let text = scores(&reports::empty());
    assert!(text.contains("no combined score"), "{text}");
}

#[test]
fn what_that_tool_does_not_tell_is_shown_as_unknown() {
    let rows = "64,read,2000.00,0,0,0,2,10,0.5\n32,latency,0,2.00,0.00,4,1,4,0.3\n";
    let text = format!("{}\n{rows}", report::SC_MEMBENCH_HEADER);
    let report = report::parse_saved(text.as_bytes()).unwrap().into_report();
    let points = || {
        report
            .datasets
            .iter()
            .flat_map(|d| &d.points)
            .map(|p| p.outcome.measured().unwrap())
    };
    assert_eq!(points().count(), 2);
    assert!(
        points().all(|m| m.summary.mad.is_none() && super::super::figures::spread(m).is_none())
    );
    let table = render("csv", &report, &Options::default());
    let mut table = csv::Reader::from_reader(table.as_bytes());
    let titles = table.headers().unwrap().clone();
    for row in table.records().map(Result::unwrap) {
        let cell = |title: &str| &row[titles.iter().position(|t| t == title).unwrap()];
        assert!(
            !cell("value").is_empty()
                && ["mad", "ci_low", "ci_high"]
                    .iter()
                    .all(|t| cell(t).is_empty()),
            "{row:?}"
        );
    }
    let metrics = render("openmetrics", &report, &Options::default());
    assert!(
        metrics.contains("memgauge_bandwidth_bytes_per_second{") && !metrics.contains("_low_"),
        "{metrics}"
    );
    // Older reports have a number instead of `null`.
    let json = render("json", &report, &Options::default());
    assert_eq!(json.matches("\"mad\": null").count(), 2, "{json}");
    let old =
        report::parse_saved(json.replace("\"mad\": null", "\"mad\": 0.0").as_bytes()).unwrap();
    let old = old.into_report();
    assert_eq!(
        old.datasets[0].points[0]
            .outcome
            .measured()
            .unwrap()
            .summary
            .mad,
        Some(0.0)
    );
}
