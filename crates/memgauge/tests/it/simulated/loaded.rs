//! Tests latency under load. The curves must follow the cost model.

use super::lab::{self, Notes, Ran, request, run, run_with};
use super::machines::{self, CORE, LATENCY, READ, Simulated};
use engine::Machine;
use experiments::loaded_latency::LoadedLatency;
use experiments::{Detail, EXPERIMENTS, Experiment};
use memgauge::plan::Request;
use report::{Cause, Fact, Outcome, Point, RunStatus, VerdictGrade, read_journal};
use simulated::{LoadCost, NoiseModel};
use units::{BytesPerSecond, Nanos};

/// A machine of two sockets of 96 cores. Each socket is a node with its own L3.
fn large() -> Simulated {
    let mut machine = machines::two_nodes_of(96);
    machine.model.memory_total = BytesPerSecond(TOTAL);
    machine
}

const TOTAL: f64 = 400e9;

fn requested(options: &str, on: &Simulated) -> Request {
    request(vec![lab::loaded_latency(options)], on)
}

/// Expected traffic in B/s of `threads` readers with this pause, and expected latency of a load in
/// ns.
fn model(pause: u64, threads: usize, total: f64) -> (f64, f64) {
    let burst = if pause == 0 { 65536.0 } else { 4096.0 };
    let one = burst / (burst / READ[3] + pause as f64 / CORE);
    let all = one * threads as f64;
    (
        all.min(total),
        LATENCY[3] * LoadCost::default().factor(all / total),
    )
}

fn load(point: &Point) -> f64 {
    lab::measured(point).load.expect("traffic").median
}

/// The points of a mix as bandwidth in B/s and latency in ns, in rising order of bandwidth. The
/// idle point comes first.
fn curve(ran: &Ran, mix: &str, node: u64) -> Vec<(f64, f64)> {
    let here = |p: &&Point| p.number("node").is_none_or(|n| n == node);
    let in_mix = |mix: &'static str| move |p: &&Point| p.name("mix") == Some(mix);
    let idle = ran
        .points()
        .filter(here)
        .find(in_mix("idle"))
        .expect("an idle point");
    let mut all: Vec<&Point> = ran
        .points()
        .filter(here)
        .filter(|p| p.name("mix") == Some(mix))
        .collect();
    all.sort_by_key(|p| std::cmp::Reverse(p.number("pause_cycles")));
    let ns = |p: &Point| lab::measured(p).summary.median;
    std::iter::once((0.0, ns(idle)))
        .chain(all.into_iter().map(|p| (load(p), ns(p))))
        .collect()
}

fn near(a: f64, b: f64, share: f64) -> bool {
    (a / b - 1.0).abs() < share
}

#[test]
fn the_curve_is_that_of_the_model() {
    let on = large();
    let ran = run(&on, requested("--mixes 100:0 --node 0", &on));
    assert_eq!(ran.report.status, RunStatus::Complete);
    // The traffic uses all cores of the node except the measured one.
    assert!(
        ran.points()
            .all(|p| [0, 95].contains(&p.number("threads").unwrap()))
    );
    for point in ran.points().filter(|p| p.name("mix") == Some("100:0")) {
        let (bandwidth, ns) = model(point.number("pause_cycles").unwrap(), 95, TOTAL);
        let measured = lab::measured(point);
        assert!(
            near(load(point), bandwidth, 1e-3),
            "{:?}: {} against {bandwidth}",
            point.coordinates,
            load(point)
        );
        assert!(
            near(measured.summary.median, ns, 1e-3),
            "{:?}",
            point.coordinates
        );
        let seen = measured.load.unwrap();
        assert!(
            seen.ci_low <= seen.median
                && seen.median <= seen.ci_high
                && near(seen.bus_estimate, seen.median, 1e-9)
        );
        assert_eq!(
            measured.verdict.grade,
            VerdictGrade::Solid,
            "{}",
            measured.verdict.text()
        );
        assert!(
            measured
                .samples
                .iter()
                .all(|s| near(s.traffic.unwrap(), bandwidth, 1e-3))
        );
    }
    let points = curve(&ran, "100:0", 0);
    assert!(
        points
            .windows(2)
            .all(|p| p[1].0 >= p[0].0 * 0.999_999 && p[1].1 >= p[0].1 * 0.999_999),
        "{points:?}"
    );
    assert!(near(
        ran.finding("loaded-latency", "idle_ns"),
        LATENCY[3],
        1e-3
    ));
    assert!(near(ran.finding("loaded-latency", "highest"), TOTAL, 1e-3));
    for share in [50, 80, 90] {
        let cost = LoadCost::default().factor(f64::from(share) / 100.0);
        let found = ran.finding("loaded-latency", &format!("ns_at_{share}"));
        // The finding interpolates linearly between points.
        assert!(near(found, LATENCY[3] * cost, 0.12), "{share}%: {found}");
    }
    let knee = ran.finding("loaded-latency", "knee");
    assert!((0.5..0.95).contains(&(knee / TOTAL)), "{knee}");
    assert!(!ran.has_finding("loaded-latency-flat") && !ran.has_finding("loaded-latency-falls"));
}

#[test]
fn idle_is_what_latency_finds() {
    for on in [
        machines::plain(),
        machines::eight_cores(),
        machines::hybrid(),
        large(),
    ] {
        let both = vec![
            lab::loaded_latency("--mixes 100:0 --pauses 0 --points 0"),
            lab::latency(""),
        ];
        let ran = run(&on, request(both, &on));
        let largest = ran.report.datasets[1]
            .points
            .iter()
            .max_by_key(|p| p.number("size_bytes"))
            .expect("memory");
        let idle: Vec<&Point> = ran
            .points()
            .filter(|p| p.name("mix") == Some("idle"))
            .collect();
        assert_eq!(
            lab::measured(idle[0]).summary,
            lab::measured(largest).summary,
            "{}",
            on.name
        );
        assert_eq!(idle[0].number("size_bytes"), largest.number("size_bytes"));
        assert!(lab::measured(idle[0]).load.is_none());
    }
}

#[test]
fn points_are_added_where_the_curve_bends() {
    let on = large();
    let few = run(
        &on,
        requested(
            "--mixes 100:0 --node 0 --pauses 65536,4096,0 --points 0",
            &on,
        ),
    );
    let more = run(
        &on,
        requested(
            "--mixes 100:0 --node 0 --pauses 65536,4096,0 --points 6",
            &on,
        ),
    );
    // One of six placeholders was not needed. At the upper end there are no pauses left between
    // neighbours.
    assert_eq!((few.points().count(), more.points().count()), (4, 9));
    let pauses: Vec<u64> = more
        .points()
        .filter_map(|p| p.number("pause_cycles"))
        .collect();
    assert!(
        pauses.iter().all(|pause| pause.is_multiple_of(128)),
        "{pauses:?}"
    );
    // Each point stands between its neighbours.
    assert!(
        pauses.windows(2).all(|pair| pair[0] > pair[1]),
        "{pauses:?}"
    );
    // Interpolation between more points is nearer to the model everywhere.
    let error = |ran: &Ran| {
        let (x, y): (Vec<f64>, Vec<f64>) = curve(ran, "100:0", 0).into_iter().unzip();
        let at =
            |share: f64| stats::first_passing(&x, &y, share * TOTAL).expect("a curve to the end");
        let error =
            |share: f64| (at(share) / (LATENCY[3] * LoadCost::default().factor(share)) - 1.0).abs();
        (1..18)
            .map(|i| error(f64::from(i) * 0.05))
            .fold(0.0, f64::max)
    };
    assert!(
        error(&more) < error(&few) / 2.0,
        "{} {}",
        error(&more),
        error(&few)
    );
}

#[test]
fn mixes_are_compared_at_equal_bandwidth_and_stores_cost_more() {
    let on = large();
    let ran = run(&on, requested("--node 0", &on));
    let highest = |mix: &str| {
        curve(&ran, mix, 0)
            .into_iter()
            .map(|p| p.0)
            .fold(0.0, f64::max)
    };
    // An ordinary store crosses the bus twice, a non-temporal one once.
    assert!(near(highest("100:0"), TOTAL, 1e-3) && near(highest("0:100nt"), TOTAL, 1e-3));
    assert!(near(highest("50:50"), TOTAL / 1.5, 1e-3) && near(highest("0:100"), TOTAL / 2.0, 1e-3));
    let writes = ran
        .points()
        .filter(|p| p.name("mix") == Some("0:100"))
        .filter_map(|p| lab::measured(p).load);
    assert!(
        writes
            .into_iter()
            .all(|load| near(load.bus_estimate, 2.0 * load.median, 1e-9))
    );
    let at = |mix: &str| ran.finding("loaded-latency-mixes", &format!("{mix}_ns"));
    assert!(
        at("100:0") < at("75:25")
            && at("75:25") < at("67:33")
            && at("67:33") < at("50:50")
            && at("50:50") < at("0:100")
    );
    assert!(near(
        ran.finding("loaded-latency-mixes", "bandwidth"),
        0.8 * TOTAL / 2.0,
        1e-2
    ));
}

#[test]
fn traffic_above_what_memory_carries_rejects_its_points() {
    let on = large();
    let peak = Some(BytesPerSecond(0.5 * TOTAL));
    let ran = run(
        &on,
        Request {
            dram_peak: peak,
            ..requested("--mixes 100:0 --node 0", &on)
        },
    );
    let mut rejected = 0;
    let mut solid = 0;
    for point in ran.points() {
        let measured = lab::measured(point);
        let much = measured.load.is_some_and(|load| load.median > 0.5 * TOTAL);
        assert_eq!(
            measured.verdict.names(Cause::AboveLimit),
            much,
            "{:?}",
            point.coordinates
        );
        assert!(
            !much || measured.verdict.text().starts_with("its traffic is"),
            "{}",
            measured.verdict.text()
        );
        if much { rejected += 1 } else { solid += 1 }
    }
    assert!(rejected > 1 && solid > 1, "{rejected} {solid}");
}

#[test]
fn a_remote_node_has_curves_of_its_own() {
    let on = large();
    let ran = run(&on, requested("--mixes 100:0,0:100", &on));
    let nodes: std::collections::BTreeSet<u64> =
        ran.points().filter_map(|p| p.number("node")).collect();
    assert_eq!(nodes, [0, 1].into());
    assert_eq!(
        ran.points()
            .filter(|p| p.name("mix") == Some("idle"))
            .count(),
        2
    );
    assert_eq!(
        ran.report
            .findings
            .iter()
            .filter(|f| f.kind == "loaded-latency")
            .count(),
        4
    );
    assert_eq!(
        ran.report
            .findings
            .iter()
            .filter(|f| f.kind == "loaded-latency-nodes")
            .count(),
        2
    );
    for point in ran.points() {
        let nodes = lab::measured(point)
            .evidence
            .pages
            .expected_nodes
            .clone()
            .unwrap();
        assert_eq!(
            nodes,
            [point.number("node").unwrap() as u32],
            "{:?}",
            point.coordinates
        );
    }
}

#[test]
fn noise_of_any_seed_leaves_the_curve() {
    let mut on = large();
    on.model.noise = NoiseModel {
        jitter: 0.05,
        spike_every: 17,
        ..NoiseModel::default()
    };
    for seed in 0..8 {
        let request = Request {
            seed,
            ..requested("--mixes 100:0 --node 0 --points 2", &on)
        };
        let mut machine = on.machine(seed);
        let started = machine.now();
        let plan = memgauge::plan::make(request, &mut machine).expect("a plan");
        let invocation = memgauge::run::Invocation {
            version: "0".to_owned(),
            command_line: Vec::new(),
            launch: None,
            past: None,
        };
        let mut notes = Notes::default();
        let report = memgauge::run::execute(&plan, &mut machine, &mut notes, &invocation, started);
        let found = report
            .findings
            .iter()
            .find(|f| f.kind == "loaded-latency")
            .expect("a curve");
        assert!(
            near(found.values["idle_ns"], LATENCY[3], 0.06),
            "{seed}: {:?}",
            found.values
        );
        assert!(
            near(found.values["highest"], TOTAL, 0.06),
            "{seed}: {:?}",
            found.values
        );
        assert!(
            report
                .findings
                .iter()
                .all(|f| !f.kind.starts_with("loaded-latency-")),
            "{:?}",
            report.findings
        );
    }
}

#[test]
fn one_cpu_is_unsupported_with_a_reason() {
    let on = machines::one_allowed();
    let ran = run(&on, requested("", &on));
    for point in ran.points().filter(|p| p.name("mix") != Some("idle")) {
        let Outcome::Unsupported { reason } = &point.outcome else {
            panic!("{:?}", point.outcome)
        };
        assert!(reason.contains("cpu 37 only"), "{reason}");
    }
    assert!(!ran.has_finding("loaded-latency"));
    let tenants = run(&on, request(tenants("--victim 37"), &on));
    assert_eq!(
        tenants
            .points()
            .filter(|p| matches!(p.outcome, Outcome::Unsupported { .. }))
            .count(),
        4
    );
}

#[test]
fn a_quota_below_the_threads_is_named() {
    let mut on = machines::eight_cores();
    on.facts.system.cpu_quota = Fact::known(2.0, "simulated");
    on.model.noise = NoiseModel {
        throttled: 0.3,
        ..NoiseModel::default()
    };
    let ran = run(&on, requested("--mixes 100:0", &on));
    assert!(ran.has_finding("cpu-quota"));
    assert!(
        ran.points()
            .all(|p| lab::measured(p).verdict.names(Cause::Throttled))
    );
    // The quota leaves CPU time for only one thread of traffic next to the chase.
    assert!(
        ran.points()
            .all(|p| p.number("threads").is_some_and(|n| n < 2))
    );
    let noted = |said: &String| {
        said.contains("2.0 cpus' worth of time (simulated): traffic on 1 of 7 cpus")
    };
    assert!(
        ran.plan.adjusted.iter().any(noted),
        "{:?}",
        ran.plan.adjusted
    );
}

#[test]
fn what_a_quota_would_stop_is_not_measured_as_memory() {
    let mut on = machines::eight_cores();
    on.facts.system.cpu_quota = Fact::known(3.5, "simulated");
    let all: Vec<Box<dyn Experiment>> = vec![
        lab::loaded_latency("--mixes 100:0 --threads 3"),
        lab::loaded_latency("--mixes 100:0 --threads 2"),
    ];
    let ran = run(&on, request(all, &on));
    let of_three = &ran.report.datasets[0].points;
    for point in of_three.iter().filter(|p| p.name("mix") != Some("idle")) {
        let reason = lab::reasons(&point.outcome);
        assert!(
            reason.contains("allows 3.5 cpus' worth of time (simulated): 4 threads"),
            "{reason}"
        );
    }
    assert!(
        ran.report.datasets[1]
            .points
            .iter()
            .all(|p| p.outcome.measured().is_some())
    );
    on.facts.system.cpu_quota = Fact::known(1.5, "simulated");
    for ran in [
        run(&on, requested("", &on)),
        run(&on, request(tenants("--victim 0 --aggressor 1"), &on)),
    ] {
        let (alone, beside): (Vec<&Point>, Vec<&Point>) =
            ran.points().partition(|p| p.number("threads") == Some(0));
        assert!(alone.iter().all(|p| p.outcome.measured().is_some()) && !beside.is_empty());
        assert!(
            beside
                .iter()
                .all(|p| matches!(p.outcome, Outcome::Unsupported { .. })),
            "{beside:?}"
        );
    }
}

#[test]
fn kinds_of_cores_have_curves_of_their_own() {
    let on = machines::hybrid();
    let ran = run(
        &on,
        requested("--mixes 100:0 --pauses 4096,0 --points 0", &on),
    );
    let cpus: std::collections::BTreeSet<u64> =
        ran.points().filter_map(|p| p.number("cpu")).collect();
    assert_eq!(cpus, [0, 16].into());
    // The traffic uses all CPUs except the measured one and its sibling.
    let threads = |cpu: u64| {
        let here = |p: &&Point| p.number("cpu") == Some(cpu) && p.number("pause_cycles") == Some(0);
        ran.points().find(here).and_then(|p| p.number("threads"))
    };
    assert_eq!((threads(0), threads(16)), (Some(22), Some(23)));
    let told: Vec<&str> = ran
        .report
        .findings
        .iter()
        .filter(|f| f.kind == "loaded-latency")
        .map(|f| f.text.as_str())
        .collect();
    assert!(
        told.len() == 2 && told[0].contains("(cpu 0)") && told[1].contains("(cpu 16)"),
        "{told:?}"
    );
    for options in ["--cpu 16", "--traffic-cpus 16-23"] {
        let one = run(
            &on,
            requested(
                &format!("--mixes 100:0 --pauses 0 --points 0 {options}"),
                &on,
            ),
        );
        assert_eq!(one.points().count(), 2, "{options}");
    }
    let row = EXPERIMENTS
        .iter()
        .find(|row| row.name == "loaded-latency")
        .expect("a row");
    assert!(
        run(&on, request(vec![(row.in_profile)(Detail::Levels)], &on))
            .points()
            .all(|p| p.number("cpu") == Some(0))
    );
}

#[test]
fn traffic_that_cannot_load_the_memory_is_said_to() {
    let mut on = machines::plain();
    on.model.memory_total = BytesPerSecond(10.0 * READ[3]);
    let ran = run(&on, requested("--mixes 100:0", &on));
    assert!(ran.finding("loaded-latency-flat", "ratio") < 1.1);
    assert!(
        !run(&large(), requested("--mixes 100:0 --node 0", &large()))
            .has_finding("loaded-latency-flat")
    );
}

fn tenants(options: &str) -> Vec<Box<dyn Experiment>> {
    lab::command("loaded-latency", options).experiments
}

#[test]
fn a_aggressor_costs_its_victim_latency_and_bandwidth() {
    let on = machines::eight_cores();
    let total = on.model.memory_total.0;
    let ran = run(
        &on,
        request(tenants("--victim 2 --aggressor 0-1,3-7 --mixes 100:0"), &on),
    );
    assert_eq!(ran.report.datasets.len(), 2);
    let at = |operation: &str, aggressor: &str| {
        let found = ran.points().find(|p| {
            p.name("operation") == Some(operation) && p.name("aggressor") == Some(aggressor)
        });
        lab::measured(found.expect("a point")).summary.median
    };
    let aggressor = "0-1,3-7";
    assert!(near(at("victim-chase", "none"), LATENCY[3], 1e-3));
    assert!(near(
        at("victim-chase", aggressor),
        LATENCY[3] * LoadCost::default().factor(1.0),
        1e-3
    ));
    // Eight threads share a bandwidth that three threads can use up.
    assert!(near(at("victim-read", "none"), READ[3], 1e-3));
    assert!(near(at("victim-read", aggressor), total / 8.0, 1e-3));
    assert!(near(
        ran.finding("victim-bandwidth", "with_aggressor"),
        total / 8.0,
        1e-3
    ));
    assert!(near(
        ran.finding("victim-latency", "aggressor"),
        7.0 * READ[3].min(total / 7.0),
        1e-3
    ));
}

#[test]
fn a_aggressor_pushes_a_victim_out_of_a_shared_cache() {
    let on = machines::eight_cores();
    let ran = run(
        &on,
        request(
            tenants("--victim 0 --aggressor 1 --mixes 100:0 --size 8MiB"),
            &on,
        ),
    );
    let latency = |aggressor: &str| {
        ran.measured(&format!("operation=victim-chase aggressor={aggressor}"))
            .summary
            .median
    };
    assert!(near(latency("none"), LATENCY[2], 1e-3));
    assert!(latency("1") > LATENCY[3]);
}

#[test]
fn readers_and_writers_of_their_own() {
    let on = machines::eight_cores();
    let ran = run(
        &on,
        requested("--readers 3 --writers 1 --pauses 4096 --points 0", &on),
    );
    let point = ran.point("mix=3-readers-1-writers");
    assert_eq!(point.number("threads"), Some(4));
    let load = lab::measured(point).load.unwrap();
    let thread = |rate: f64| 4096.0 / (4096.0 / rate + 4096.0 / CORE);
    let reads = 3.0 * thread(READ[3]);
    let writes = thread(READ[3] / 4.0);
    let share = (on.model.memory_total.0 / (reads + 2.0 * writes)).min(1.0);
    assert!(
        near(load.median, (reads + writes) * share, 1e-3),
        "{load:?}"
    );
    assert!(
        near(load.bus_estimate, (reads + 2.0 * writes) * share, 1e-3),
        "{load:?}"
    );
}

#[test]
fn what_cannot_be_meant_is_refused_with_a_cure() {
    let on = machines::eight_cores();
    let wrong = [
        ("--threads 9", "type --threads 7"),
        ("--threads 0", "type --threads 7"),
        (
            "--readers 4 --writers 4",
            "1 to 7 next to cpu 0; type --readers 3 --writers 4",
        ),
        ("--readers 0", "type --readers 7"),
        ("--readers 0 --writers 0", "type --readers 7"),
        ("--writers 9", "type --writers 7"),
        ("--readers 90 --writers 1", "type --readers 7"),
        ("--traffic-cpus 0", "type --traffic-cpus 1-7"),
        ("--traffic-cpus 8", "type --traffic-cpus 1-7"),
        ("--cpu 0-1", "type --cpus 0"),
        ("--pauses 999999,1000000,1000000", ""),
        ("--size 1", "type --size"),
        ("--size 1TiB", "type --size"),
        ("--node 3", "type --memory-nodes 0"),
    ];
    for (options, advice) in wrong {
        match lab::plan(&on, requested(options, &on)) {
            Ok(_) => assert!(advice.is_empty(), "{options}"),
            Err(error) => assert!(
                !advice.is_empty() && error.to_string().contains(advice),
                "{options}: {error}"
            ),
        }
    }
    let plan = lab::plan(&on, requested("--pauses 1,128,200", &on)).expect("a plan");
    assert!(
        plan.adjusted
            .iter()
            .any(|said| said.contains("200 cycles was rounded up to 256")),
        "{:?}",
        plan.adjusted
    );
}

#[test]
fn profiles_take_their_share_of_the_time() {
    let on = machines::plain();
    let row = EXPERIMENTS
        .iter()
        .find(|row| row.name == "loaded-latency")
        .expect("a row");
    assert_eq!(row.least, Some(Detail::Levels));
    let estimate = |experiment: Box<dyn Experiment>| {
        let sampling = engine::Sampling {
            per_round: 8,
            rounds: 20,
            ..lab::sampling()
        };
        let plan = lab::plan(
            &on,
            Request {
                sampling,
                ..request(vec![experiment], &on)
            },
        )
        .expect("a plan");
        assert!(plan.shortened.is_empty(), "{:?}", plan.shortened);
        (plan.points.len(), plan.estimate)
    };
    let (points, time) = estimate((row.in_profile)(Detail::Levels));
    // The time is five seconds, plus the fifth that is reserved.
    assert!(
        (6..=8).contains(&points) && time < Nanos(6e9),
        "{points} points in {time}"
    );
    let (points, time) = estimate(Box::new(LoadedLatency::new(lab::parse(""))));
    assert!(
        points > 60 && time < Nanos(60e9),
        "{points} points in {time}"
    );
}

#[test]
fn a_run_on_every_machine_ends_and_its_journal_is_read_back() {
    for on in machines::all() {
        let ran = run(
            &on,
            requested("--mixes 100:0,0:100nt --pauses 4096,0 --points 2", &on),
        );
        assert_ne!(
            ran.report.status,
            RunStatus::Partial,
            "{}: {:?}",
            on.name,
            ran.report.datasets
        );
        let read = read_journal(ran.notes.journal().join("\n").as_bytes()).expect("a journal");
        assert_eq!(
            read.report.datasets[0].points, ran.report.datasets[0].points,
            "{}",
            on.name
        );
        let memory = ran.plan.memory();
        assert!(memory <= on.usable(), "{}: {memory}", on.name);
    }
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let on = machines::eight_cores();
    let whole = run(&on, requested("--mixes 100:0", &on))
        .report
        .plan
        .real
        .expect("a finished run");
    for i in 1..8 {
        let stop = whole * (f64::from(i) / 8.0);
        let ran = run_with(
            &on,
            requested("--mixes 100:0", &on),
            Notes::default(),
            Some(stop),
        );
        assert_eq!(ran.report.status, RunStatus::Interrupted);
        assert!(
            ran.points()
                .filter_map(|p| p.outcome.measured())
                .all(|m| m.summary.median >= LATENCY[3] * 0.99)
        );
    }
}
