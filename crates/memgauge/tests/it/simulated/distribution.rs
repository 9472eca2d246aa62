//! Tests the distribution of times over short windows.

use super::lab::{Ran, core_to_core, latency, measured, plan, request, run};
use super::machines;
use kernels::HOPS_PER_BLOCK;
use render::{Options, by_name};
use report::{Dataset, Measured};
use simulated::Spike;

const CHASE: &str = "--sizes 1GiB --stride 64";

/// The first measured point. Later points are derived from it.
fn first(ran: &Ran) -> &Measured {
    measured(&ran.report.datasets[0].points[0])
}

fn derived(ran: &Ran) -> Option<&Dataset> {
    ran.report.datasets.iter().find(|dataset| dataset.derived)
}

#[test]
fn windows_are_as_many_as_requested_and_the_nearest_whole_turns() {
    let on = machines::plain();
    for (requested, count, nanos) in [
        ("--windows 100", 100.0, 10e3),
        ("--windows 5003 --window 2us", 5003.0, 2e3),
    ] {
        let ran = run(
            &on,
            request(vec![latency(&format!("{CHASE} {requested}"))], &on),
        );
        let Measured { also, summary, .. } = first(&ran);
        assert_eq!(also["windows"], count);
        let turn = summary.median * HOPS_PER_BLOCK as f64;
        let nearest = (nanos / turn).round().max(1.0) * turn;
        assert!((also["window_ns"] / nearest - 1.0).abs() < 1e-3, "{also:?}");
        assert_eq!(ran.finding("latency-windows", "windows"), count);
    }
}

/// A sample that determines by itself how much work fills a window begins with caches that were
/// just disturbed.
#[test]
fn windows_are_as_long_as_requested_wherever_samples_begin() {
    for short in [0, 2, 12] {
        let mut on = machines::plain();
        on.model.noise.short_chunks = short;
        for (place, requested) in [
            ("16KiB", 10e3),
            ("16KiB", 1e3),
            ("256KiB", 10e3),
            ("8MiB", 20e3),
            ("1GiB", 110e3),
        ] {
            let options = format!("--sizes {place} --windows 1000 --window {requested}ns");
            let ran = run(&on, request(vec![latency(&options)], &on));
            let length = first(&ran).also["window_ns"];
            assert!(
                (length / requested - 1.0).abs() < 0.04,
                "{options}, {short} times too short: {length}"
            );
        }
    }
}

#[test]
fn which_windows_are_possible_is_said_beforehand() {
    let on = machines::plain();
    let said = |options: &str| {
        plan(&on, request(vec![latency(options)], &on))
            .expect("a plan")
            .adjusted
            .join("\n")
    };
    assert!(said("--sizes 1GiB --windows 1000").contains("--window 110us"));
    for met in [
        "--sizes 1GiB --windows 1000 --window 110us",
        "--sizes 16KiB --windows 1000",
        "--sizes 1GiB",
    ] {
        assert_eq!(said(met), "", "{met}");
    }
}

#[test]
fn percentiles_are_points_of_their_own() {
    let on = machines::plain();
    let requested = request(
        vec![latency("--sizes 16KiB,1GiB --windows 1000 --window 200us")],
        &on,
    );
    let ran = run(
        &on,
        memgauge::plan::Request {
            profile: "latency".to_owned(),
            ..requested
        },
    );
    let windows = derived(&ran).expect("a dataset of the windows");
    assert_eq!(
        (windows.experiment.as_str(), windows.points.len()),
        ("latency-windows", 2 * 6)
    );
    for point in &windows.points {
        let figure = point
            .name("percentile")
            .expect("a percentile")
            .replace('.', "_");
        let same_size = |p: &&report::Point| p.number("size_bytes") == point.number("size_bytes");
        let whole = ran.report.datasets[0]
            .points
            .iter()
            .find(same_size)
            .expect("the point that it is of");
        assert_eq!(
            measured(point).summary.median,
            measured(whole).also[&figure]
        );
        assert_eq!(
            measured(point).summary.interval(),
            None,
            "nothing is known of it"
        );
    }
    let text = |name: &str, options: &Options| {
        let renderer = by_name(name).expect("a renderer");
        String::from_utf8(renderer.render(&ran.report, options).expect("bytes")).expect("text")
    };
    let table = text("table", &Options::default());
    assert!(
        ["p50", "p99.9", "max"]
            .iter()
            .all(|name| table.contains(name)),
        "{table}"
    );
    let chart = text(
        "table",
        &Options {
            charts: vec!["latency-windows".to_owned()],
            ..Options::default()
        },
    );
    assert!(chart.contains("p99.9"), "{chart}");
    assert!(derived(&run(&on, request(vec![latency(CHASE)], &on))).is_none());
}

#[test]
fn round_trips_have_percentiles_too() {
    let on = machines::plain();
    let ran = run(&on, request(vec![core_to_core("--windows 500")], &on));
    assert_eq!(first(&ran).also["windows"], 500.0);
    let windows = derived(&ran).expect("a dataset of the windows");
    assert_eq!(
        (windows.experiment.as_str(), windows.points.len()),
        ("core-to-core-windows", 2 * 6)
    );
    assert_eq!(ran.finding("round-trip-windows", "windows"), 500.0);
    for (options, word) in [
        ("--windows 99", "100 to 1000000"),
        ("--windows 500 --window 1ns", "type --window 10us"),
    ] {
        let refused = plan(&on, request(vec![core_to_core(options)], &on))
            .err()
            .expect(options)
            .to_string();
        assert!(refused.contains(word), "{options}: {refused}");
    }
}

#[test]
fn what_the_headline_leaves_out_is_in_the_slowest_window() {
    let mut on = machines::plain();
    on.model.noise.spike_every = 8;
    on.model.noise.spike = Spike::Stop;
    let plain = run(&on, request(vec![latency(CHASE)], &on));
    let ran = run(
        &on,
        request(vec![latency(&format!("{CHASE} --windows 10000"))], &on),
    );
    let headline = first(&ran).summary.median;
    assert_eq!(headline, first(&plain).summary.median);
    let also = &first(&ran).also;
    assert!((also["p50"] / headline - 1.0).abs() < 0.01, "{also:?}");
    assert!(
        (also["p99"] / headline - 1.0).abs() < 0.01,
        "one window in 128 holds a gap: {also:?}"
    );
    // The gap is as long as 32 windows, and lies in one of them.
    assert!((also["max"] / headline - 33.0).abs() < 0.5, "{also:?}");
    assert_eq!(also["p99_9"], also["max"]);
    assert!(!first(&plain).also.contains_key("p50"));
}

#[test]
fn their_time_is_part_of_the_plan() {
    let on = machines::plain();
    let estimate = |options: &str| {
        plan(&on, request(vec![latency(options)], &on))
            .expect("a plan")
            .estimate
    };
    let more = estimate(&format!("{CHASE} --windows 100000 --window 100us")) - estimate(CHASE);
    assert!(more.secs() >= 10.0, "{more}");
    let ran = run(
        &on,
        request(
            vec![latency(&format!("{CHASE} --windows 100000 --window 100us"))],
            &on,
        ),
    );
    let real = ran.report.plan.real.expect("a finished run");
    assert!(
        real <= ran.plan.estimate * 1.05,
        "{real} {}",
        ran.plan.estimate
    );
}

#[test]
fn windows_that_show_nothing_are_refused() {
    let on = machines::plain();
    for (options, word) in [
        ("--windows 0", "windows not possible: 0"),
        ("--windows 99", "100 to 1000000"),
        (
            "--windows 1000 --window 1ns",
            "window not possible: 1.00 ns",
        ),
        ("--windows 1000 --window 1s", "type --window 10us"),
    ] {
        let refused = plan(&on, request(vec![latency(options)], &on))
            .err()
            .expect(options)
            .to_string();
        assert!(refused.contains(word), "{options}: {refused}");
    }
}
