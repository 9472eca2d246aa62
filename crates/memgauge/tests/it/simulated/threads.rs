//! Tests chases by several threads at once, each on a chain of its own or all on one chain.

use super::lab::{self, Ran, latency, measured, plan, request, run};
use super::machines::{self, LATENCY};
use engine::{ChainShape, ChaseWork, MemoryPlan, Work};
use host::memory::{PageMode, Place};
use render::{Options, by_name};
use report::{Coordinate, Point};
use simulated::LoadCost;
use units::{Bytes, BytesPerSecond};

fn ran(options: &str) -> Ran {
    ran_on(&machines::plain(), options)
}

/// A session of `memgauge latency` with these options.
fn ran_on(on: &machines::Simulated, options: &str) -> Ran {
    run(
        on,
        memgauge::plan::Request {
            profile: "latency".to_owned(),
            ..request(vec![latency(options)], on)
        },
    )
}

fn close(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 1e-3
}

/// Two cores share 32 MiB. Two chains of 24 MiB do not fit into this cache, but one chain that both
/// threads follow does.
#[test]
fn private_chains_compete_for_a_cache_and_a_shared_one_does_not() {
    let ran = ran("--sizes 24MiB --threads 1,2 --region private,shared");
    let at = |place: &str| ran.median(place);
    for alone in [
        "threads=1 region=private",
        "threads=1 region=shared",
        "threads=2 region=shared",
    ] {
        assert!(close(at(alone), LATENCY[2]), "{alone}: {}", at(alone));
    }
    assert!(
        at("threads=2 region=private") >= LATENCY[3],
        "{}",
        at("threads=2 region=private")
    );
    let levels: Vec<Option<&str>> = ran.points().map(|p| p.name("level")).collect();
    assert_eq!(
        levels,
        [Some("L3"), Some("between"), Some("L3"), Some("L3")]
    );
}

#[test]
fn a_load_is_that_of_a_thread_and_memory_is_shared() {
    // Two chains take nearly half of the bandwidth of this memory. This makes a difference that is
    // worth a finding.
    let mut on = machines::plain();
    on.model.memory_total = BytesPerSecond(3e9);
    let ran = ran_on(&on, "--sizes 1GiB --threads 1,2");
    let two = ran.measured("threads=2");
    let used = 2.0 * 64.0 / LATENCY[3] * 1e9 / on.model.memory_total.0;
    let expected = LATENCY[3] * LoadCost::default().factor(used);
    assert!(
        close(two.summary.median, expected),
        "{} instead of {expected}",
        two.summary.median
    );
    for sample in &two.samples {
        let each = sample.elapsed_ns * 2.0 / sample.work as f64;
        assert!(close(sample.value, each), "{sample:?}");
    }
    assert_eq!(two.evidence.cpus, [0, 1]);
    assert_eq!(two.evidence.working_set_bytes, Some(2 << 30));
    assert!(close(
        ran.finding("latency-of-threads-private", "one_ns"),
        LATENCY[3]
    ));
    assert!(close(
        ran.finding("latency-of-threads-private", "several_ns"),
        expected
    ));
    assert!(!ran.has_finding("latency-of-threads-shared"));
}

/// Intervals that do not distinguish one thread from several give no finding.
#[test]
fn threads_that_make_no_difference_are_no_finding() {
    assert!(
        !ran("--sizes 16KiB --threads 1,2 --region private,shared")
            .has_finding("latency-of-threads-private")
    );
}

#[test]
fn the_region_is_an_axis_where_there_are_several_threads() {
    let regions = |options: &str| -> Vec<Option<String>> {
        let region = |point: &Point| point.name("region").map(str::to_owned);
        ran(options).points().map(region).collect()
    };
    let shared = Some("shared".to_owned());
    assert_eq!(regions("--sizes 16KiB"), [None]);
    assert_eq!(regions("--sizes 16KiB --threads 1 --shared"), [None]);
    assert_eq!(
        regions("--sizes 16KiB --threads 1,all --shared"),
        [shared.clone(), shared]
    );
    let several = ran("--sizes 16KiB,64MiB --threads 1,2 --region private,shared");
    for name in ["table", "csv", "json"] {
        let renderer = by_name(name).expect("a renderer");
        let text = String::from_utf8(
            renderer
                .render(&several.report, &Options::default())
                .expect("bytes"),
        );
        let text = text.expect("text");
        assert!(
            ["region", "threads", "private", "shared"]
                .iter()
                .all(|word| text.contains(word)),
            "{name}: {text}"
        );
    }
    let options = Options {
        charts: vec!["latency".to_owned()],
        ..Options::default()
    };
    let chart = by_name("table")
        .expect("a renderer")
        .render(&several.report, &options)
        .expect("a chart");
    let chart = String::from_utf8(chart).expect("text");
    assert!(
        chart.contains("private") && chart.contains("shared"),
        "series of each"
    );
}

/// Private chains need memory for each thread. A shared chain needs memory once.
#[test]
fn memory_is_planned_for_every_chain() {
    let on = machines::plain();
    let facts = on.machine(1);
    let facts = engine::Machine::facts(&facts);
    let work = |shared: bool, node: Option<u32>| ChaseWork {
        pages: PageMode::Transparent,
        cpus: vec![0, 1],
        shared,
        node,
        bytes: Bytes::mib(64),
        stride: Bytes(64),
        shape: ChainShape::GlobalRandom,
        seed: 1,
        walkers: 2,
        payload: true,
    };
    for node in [None, Some(0)] {
        for (shared, chains) in [(false, 2), (true, 1)] {
            let work = work(shared, node);
            assert_eq!(work.chains().len(), chains);
            assert!(
                work.chains()
                    .iter()
                    .all(|chain| chain.walkers == 1 && chain.cpus.len() == 1 && !chain.payload)
            );
            for share in [false, true] {
                let plan = MemoryPlan::for_works([&Work::Chase(work.clone())], facts, share);
                let least = 64 * chains as u64;
                assert!(
                    (least..least + 8).contains(&(plan.total().0 >> 20)),
                    "{shared} {share}: {}",
                    plan.total()
                );
            }
        }
    }
    let on = machines::two_sockets();
    let spread = ChaseWork {
        cpus: vec![0, 8],
        ..work(false, None)
    };
    let on_each = Work::Chase(spread.clone()).memory_nodes(&on.facts);
    assert_eq!(on_each.len(), on.facts.topology.nodes.len().min(2));
    let shared = Work::Chase(ChaseWork {
        shared: true,
        ..spread
    });
    assert_eq!(
        shared.memory_nodes(&on.facts),
        [on.facts.topology.node_of(0).unwrap_or(0)]
    );
    assert_eq!(shared.place(), None::<Place>);
}

#[test]
fn requests_that_are_not_possible_are_refused() {
    let on = machines::plain();
    for (options, word) in [
        ("--threads 3", "too many threads: 3"),
        ("--threads best", "thread count not possible: best"),
        ("--threads 1,2 --cpus 0", "too many threads: 2"),
        ("--threads 2 --cpus 0,2", "cpu not available: 2"),
        ("--threads 2 --sizes 48GiB", "for each of 2 threads"),
    ] {
        let refused = plan(&on, request(vec![latency(options)], &on))
            .err()
            .expect(options)
            .to_string();
        assert!(refused.contains(word), "{options}: {refused}");
    }
    let crowded = ran("--threads 2 --shared --sizes 128 --chains 2");
    assert!(crowded.points().all(|point| {
        point
            .outcome
            .reason()
            .is_some_and(|why| why.contains("4 chains at once"))
    }));
}

#[test]
fn threads_run_on_the_cpus_that_are_named() {
    let on = machines::two_sockets();
    let cpus = |options: &str| -> Vec<Vec<u32>> {
        let ran = ran_on(&on, options);
        ran.points()
            .map(|point| measured(point).evidence.cpus.clone())
            .collect()
    };
    assert_eq!(
        cpus("--sizes 16KiB --threads 1,2 --cpus 3,1"),
        [vec![3], vec![3, 1]]
    );
    assert_eq!(
        cpus("--sizes 16KiB --threads all --cpus 5,2,4"),
        [[5, 2, 4]]
    );
    assert_eq!(cpus("--sizes 16KiB --threads 1 --cpus 3,1"), [[3], [1]]);
}

#[test]
fn lists_of_windows_and_nodes_multiply() {
    let modes = "--chain-mode global-random,random-box,diff-random-in-box --locality 4KiB,64KiB";
    let ran = ran(&format!("--sizes 1MiB {modes}"));
    let windows: Vec<Option<u64>> = ran
        .points()
        .map(|point| point.number("window_bytes"))
        .collect();
    assert_eq!(
        windows,
        [None, Some(4096), Some(65536), Some(4096), Some(65536)]
    );
    let on = machines::eight_nodes();
    let nodes = |experiment| -> Vec<Option<u64>> {
        let ran = run(&on, request(vec![experiment], &on));
        ran.points().map(|point| point.number("node")).collect()
    };
    assert_eq!(
        nodes(latency("--sizes 1MiB --memory-nodes 0,3-4")),
        [Some(0), Some(3), Some(4)]
    );
    let bandwidth =
        lab::bandwidth("--sizes 1MiB --ops read --threads 1 --width 512 --memory-nodes 5,1");
    assert_eq!(nodes(bandwidth), [Some(5), Some(1)]);
    let loaded =
        lab::loaded_latency("--mixes 100:0 --pauses 0 --points 0 --memory-nodes 0,2 --cpu 0");
    let mut of_loaded = nodes(loaded);
    of_loaded.dedup();
    assert!(
        of_loaded.contains(&Some(0)) && of_loaded.contains(&Some(2)),
        "{of_loaded:?}"
    );
    let refused = plan(&on, request(vec![latency("--memory-nodes 0,64")], &on))
        .err()
        .expect("no such node")
        .to_string();
    assert!(refused.contains("node not available: 64"), "{refused}");
}

#[test]
fn mean_deviation_and_variation_are_those_of_the_undisturbed_samples() {
    let mut on = machines::plain();
    on.model.noise.jitter = 0.05;
    on.model.noise.spike_every = 9;
    let ran = ran_on(&on, "--sizes 16KiB");
    let point = measured(ran.points().next().expect("a point"));
    let values: Vec<f64> = point
        .samples
        .iter()
        .filter(|s| s.disturbance.is_none())
        .map(|s| s.value)
        .collect();
    assert!(
        values.len() < point.samples.len() && values.len() > 2,
        "some are disturbed"
    );
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (values.len() - 1) as f64).sqrt();
    let summary = &point.summary;
    // The median of these samples is nearly their mean.
    assert!(
        (summary.mean.expect("a mean") / mean - 1.0).abs() < 1e-9
            && (summary.median / mean - 1.0).abs() > 1e-6
    );
    assert!(close(
        summary.standard_deviation.expect("a deviation"),
        deviation
    ));
    assert!(close(
        summary.coefficient_of_variation.expect("a share"),
        deviation / mean
    ));
    let csv = by_name("csv")
        .expect("a renderer")
        .render(&ran.report, &Options::default())
        .expect("bytes");
    let csv = String::from_utf8(csv).expect("text");
    let cell = |name: &str| {
        let at = csv
            .lines()
            .next()
            .expect("a header")
            .split(',')
            .position(|title| title == name)
            .expect(name);
        csv.lines()
            .nth(1)
            .expect("a row")
            .split(',')
            .nth(at)
            .map(str::parse::<f64>)
    };
    assert_eq!(cell("mean"), Some(Ok(summary.mean.expect("a mean"))));
    assert_eq!(
        cell("coefficient_of_variation"),
        Some(Ok(summary.coefficient_of_variation.expect("a share")))
    );
    let table = |verbose: bool| {
        let options = Options {
            verbose,
            ..Options::default()
        };
        String::from_utf8(
            by_name("table")
                .expect("a renderer")
                .render(&ran.report, &options)
                .expect("bytes"),
        )
        .expect("text")
    };
    assert!(
        table(true).contains("CV")
            && table(true).contains("std dev")
            && !table(false).contains("std dev")
    );
    let at = |point: &Point| point.coordinates.get("threads").cloned();
    assert_eq!(
        ran.points().map(at).collect::<Vec<_>>(),
        [Some(Coordinate::Number(1))]
    );
}
