//! Tests bandwidth over the number of threads, on machines whose curves are known.

use super::lab::{self, Notes, Ran, bandwidth, request, run_on, scaling};
use super::machines::{self, READ, Simulated, known};
use engine::Work;
use experiments::{Detail, EXPERIMENTS, Experiment};
use kernels::SetId;
use memgauge::plan::Plan;
use report::{Dataset, Outcome, Point, RunStatus, read_journal};
use simulated::SharingModel;
use std::collections::BTreeSet;
use units::{Bytes, BytesPerSecond};

fn run(on: &Simulated, options: &str) -> Ran {
    lab::run(on, request(vec![scaling(options)], on))
}

/// The experiment `name` as a part of a profile.
fn in_profile(name: &str, detail: Detail) -> Box<dyn Experiment> {
    let row = EXPERIMENTS
        .iter()
        .find(|row| row.name == name)
        .expect("a row");
    (row.in_profile)(detail)
}

fn assert_close(value: f64, expected: f64, what: &str) {
    assert!(
        (value / expected - 1.0).abs() < 1e-3,
        "{what}: {value} instead of {expected}"
    );
}

/// The text of the only finding of a kind.
fn told<'a>(ran: &'a Ran, kind: &str) -> &'a str {
    let all: Vec<&str> = ran
        .report
        .findings
        .iter()
        .filter(|f| f.kind == kind)
        .map(|f| f.text.as_str())
        .collect();
    assert_eq!(all.len(), 1, "{kind}: {:?}", ran.report.findings);
    all[0]
}

/// Numbers of threads of the points that `wanted` accepts.
fn counts(ran: &Ran, wanted: impl Fn(&Point) -> bool) -> Vec<u64> {
    ran.points()
        .filter(|p| wanted(p))
        .filter_map(|p| p.number("threads"))
        .collect()
}

/// CPUs of the point with the most threads, in the order of its threads.
fn widest(plan: &Plan, placement: &str) -> Vec<u32> {
    let here = plan
        .points
        .iter()
        .filter(|p| p.coordinates["placement"].to_string() == placement);
    let works = here.filter_map(|p| p.work.as_ref().ok());
    works
        .map(|work| work.cpus().to_vec())
        .max_by_key(Vec::len)
        .expect("a point")
}

/// Eight cores. Each reaches a fifteenth of the memory bandwidth.
fn roomy() -> Simulated {
    let mut on = machines::eight_cores();
    on.model.memory_total = BytesPerSecond(15.0 * READ[3]);
    on
}

#[test]
fn three_streams_of_whole_blocks_are_memory_too() {
    let mut on = machines::large_l3_vm();
    let last = on
        .facts
        .topology
        .caches
        .iter_mut()
        .filter(|cache| cache.level == 3);
    // Four times this cache is no multiple of three blocks.
    last.for_each(|cache| cache.size = Bytes::mib(260));
    let ran = run(&on, "--ops read,triad");
    let levels: BTreeSet<&str> = ran.points().filter_map(|p| p.name("level")).collect();
    assert_eq!(
        levels,
        BTreeSet::from(["DRAM"]),
        "{:?}",
        ran.points().map(|p| &p.coordinates).collect::<Vec<_>>()
    );
}

#[test]
fn every_count_of_few_cpus_is_measured_and_the_knee_found() {
    let on = machines::eight_cores();
    let ran = run(&on, "--ops read,write,copy");
    assert_eq!(
        counts(&ran, |p| p.name("operation") == Some("read")),
        [1, 2, 3, 4, 5, 6, 7, 8]
    );
    for threads in 1..=8 {
        let place = format!("operation=read threads={threads}");
        let expected = (threads as f64 * READ[3]).min(2.9 * READ[3]);
        assert_close(ran.median(&place), expected, &place);
        assert_eq!(ran.point(&place).name("level"), Some("DRAM"));
        assert_eq!(ran.point(&place).name("placement"), Some("spread"));
        assert_eq!(
            ran.measured(&place).also.get("fairness").copied(),
            (threads > 1).then_some(1.0)
        );
    }
    let text = "3 of 8 threads (spread) reach 95% of the highest read bandwidth of memory (43.5 \
         GB/s with 3), for write 5 (16.3 GB/s with 5), for copy 3 (21.8 GB/s with 3).";
    assert_eq!(told(&ran, "scaling-spread"), text);
    let value = |name: &str| ran.finding("scaling-spread", name);
    assert_eq!(
        (
            value("read_threads"),
            value("read_best_threads"),
            value("read_threads_at_least")
        ),
        (3.0, 3.0, 3.0)
    );
    assert_close(value("read_best"), 2.9 * READ[3], "best");
    for kind in [
        "smt",
        "oversubscription",
        "placement-of-threads",
        "unfair",
        "kinds-of-cores",
        "tokens-per-second",
    ] {
        assert!(!ran.has_finding(kind), "{kind}");
    }
}

#[test]
fn a_large_machine_is_recovered_in_both_placements() {
    let on = machines::two_sockets_of_96();
    let ran = run(&on, "--placement spread,compact");
    assert_eq!(ran.report.status, RunStatus::Complete);
    let ladder = counts(&ran, |p| p.name("placement") == Some("spread"));
    assert_eq!(
        ladder,
        counts(&ran, |p| p.name("placement") == Some("compact")),
        "the same counts in both"
    );
    // The numbers are a ladder. They also include one thread in every socket, node, cluster or
    // core, the ends of clusters, nodes and sockets, and all CPUs.
    for count in [
        1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
    ]
    .into_iter()
    .chain((16..384).step_by(16))
    {
        assert!(ladder.contains(&count), "{count}: {ladder:?}");
    }
    assert!(ladder.is_sorted());
    let value = |kind: &str, name: &str| ran.finding(kind, name);
    // Each thread reads 15 GB/s, until every node reaches its 150 GB/s.
    assert_eq!(value("scaling-spread", "read_threads"), 48.0);
    assert_eq!(value("scaling-spread", "read_best_threads"), 48.0);
    // Three full nodes and two clusters of the last node read 450 + 140 GB/s. With a third cluster,
    // the whole bandwidth is reached.
    assert_eq!(value("scaling-compact", "read_threads"), 320.0);
    assert_eq!(value("scaling-compact", "read_best_threads"), 336.0);
    for placement in ["spread", "compact"] {
        assert_close(
            value(&format!("scaling-{placement}"), "read_best"),
            600e9,
            placement,
        );
    }
    for (place, expected) in [
        ("placement=spread threads=32", 480e9),
        ("placement=compact threads=2", 15e9),
        ("placement=compact threads=16", 70e9),
        ("placement=compact threads=32", 140e9),
        ("placement=compact threads=96", 150e9),
        ("placement=compact threads=192", 300e9),
    ] {
        assert_close(ran.median(place), expected, place);
    }
    assert_close(
        value("placement-of-threads", "read"),
        4.0,
        "600 against 150 GB/s",
    );
    assert!(value("smt", "read").abs() < 1e-3, "the same");
}

#[test]
fn threads_behind_a_full_cache_get_less_than_their_fellows() {
    let ran = run(&machines::two_sockets_of_96(), "--placement spread,compact");
    let fairness = |place: &str| ran.measured(place).also["fairness"];
    // 16 threads share 70 GB/s. The eight threads of the next cluster read as much as four cores
    // can.
    assert_close(
        fairness("placement=compact threads=24"),
        (70.0 / 16.0) / (60.0 / 8.0),
        "compact",
    );
    assert_close(fairness("placement=spread threads=48"), 1.0, "spread");
    assert_eq!(
        ran.point("placement=compact threads=24").number("cores"),
        Some(12)
    );
    assert_eq!(
        ran.point("placement=spread threads=24").number("cores"),
        None
    );
    // The worst case is a node whose 96 threads share 150 GB/s. The first cluster of the next node
    // has 70 GB/s for 16 threads.
    assert_close(
        ran.finding("unfair", "fairness"),
        (150.0 / 96.0) / (70.0 / 16.0),
        "the worst",
    );
    assert!([112.0, 208.0, 304.0].contains(&ran.finding("unfair", "threads")));
}

#[test]
fn spread_takes_turns_and_compact_fills_up() {
    let on = machines::two_sockets_of_96();
    let plan = lab::plan(
        &on,
        request(vec![scaling("--placement spread,compact")], &on),
    )
    .expect("a plan");
    let spread = widest(&plan, "spread");
    assert_eq!(
        spread[..8],
        [0, 96, 48, 144, 8, 104, 56, 152],
        "sockets, then their nodes, then their clusters"
    );
    let clusters: BTreeSet<u32> = spread[..24].iter().map(|cpu| cpu / 8).collect();
    assert_eq!(clusters.len(), 24);
    assert!(
        spread[..192].iter().all(|&cpu| cpu < 192) && spread[192..].iter().all(|&cpu| cpu >= 192)
    );
    let compact = widest(&plan, "compact");
    assert_eq!(compact[..4], [0, 192, 1, 193]);
    let expected: Vec<u32> = (0..192).flat_map(|core| [core, core + 192]).collect();
    assert_eq!(compact, expected);
    for order in [spread, compact] {
        assert_eq!(
            order.iter().copied().collect::<BTreeSet<u32>>(),
            (0..384).collect()
        );
    }
    // The CPUs of fewer threads are the first CPUs of more threads.
    for points in plan.points.chunks(plan.points.len() / 2) {
        let works: Vec<&Work> = points.iter().filter_map(|p| p.work.as_ref().ok()).collect();
        assert!(
            works
                .windows(2)
                .all(|pair| pair[1].cpus().starts_with(pair[0].cpus()))
        );
    }
}

#[test]
fn the_gain_from_second_threads_is_that_of_the_model() {
    let mut on = machines::two_sockets_of_96();
    on.model.memory_total = BytesPerSecond(1e15);
    on.model.sharing = SharingModel {
        core: Some(1.2),
        ..SharingModel::default()
    };
    let ran = run(&on, "");
    assert_close(ran.finding("smt", "read"), 0.2, "gain");
    assert!(
        told(&ran, "smt").contains("read: gain 20% (2880.0 GB/s to 3456.0 GB/s)"),
        "{}",
        told(&ran, "smt")
    );
    on.model.sharing.core = Some(0.9);
    assert_close(run(&on, "").finding("smt", "read"), -0.1, "loss");
}

#[test]
fn two_threads_on_each_cpu_lose_what_switching_costs() {
    let mut on = roomy();
    on.model.sharing.switching = 0.1;
    let ran = run(&on, "--oversubscribe --ops read,write");
    let point = ran.point("operation=read threads=16");
    assert_eq!(
        (point.number("per_cpu"), point.number("cores")),
        (Some(2), Some(8))
    );
    let cpus = &lab::measured(point).evidence.cpus;
    assert_eq!(cpus[..8], cpus[8..], "each cpu twice");
    assert_close(
        ran.median("operation=read threads=16"),
        0.9 * 8.0 * READ[3],
        "read",
    );
    assert_close(ran.finding("oversubscription", "read"), -0.1, "loss");
    assert_close(ran.finding("oversubscription", "write"), -0.1, "loss");
    // The curve ends with one thread on each CPU.
    assert!(
        told(&ran, "scaling-spread").starts_with("8 of 8 threads"),
        "{}",
        told(&ran, "scaling-spread")
    );
    assert!(!ran.has_finding("smt"));
}

#[test]
fn threads_that_take_turns_are_not_disturbed_by_each_other() {
    let mut on = roomy();
    on.model.noise.spike_every = 1;
    let ran = run(&on, "--oversubscribe --threads all");
    assert_eq!(
        lab::measured(ran.point("threads=16"))
            .evidence
            .disturbed_samples,
        0,
        "a switch is part of it"
    );
    assert!(
        lab::measured(ran.point("threads=8"))
            .evidence
            .disturbed_samples
            > 0,
        "a switch is a disturbance"
    );
}

#[test]
fn kinds_of_cores_have_curves_of_their_own() {
    let mut on = machines::hybrid();
    on.model.memory_total = BytesPerSecond(90e9);
    on.model.sharing.slower = Some(((16..24).collect(), 0.5));
    let ran = run(&on, "");
    let kinds: BTreeSet<&str> = ran.points().filter_map(|p| p.name("kind")).collect();
    assert_eq!(kinds, BTreeSet::from(["all", "cpus 0-15", "cpus 16-23"]));
    assert_eq!(
        counts(&ran, |p| p.name("kind") == Some("cpus 16-23")),
        (1..=8).collect::<Vec<u64>>()
    );
    assert_eq!(
        counts(&ran, |p| p.name("kind") == Some("cpus 0-15")).len(),
        16
    );
    assert_eq!(counts(&ran, |p| p.name("kind") == Some("all")).len(), 24);
    for (name, expected) in [
        ("kind_1_one", READ[3]),
        ("kind_1_all", 90e9),
        ("kind_2_one", READ[3] / 2.0),
        ("kind_2_all", 8.0 * READ[3] / 2.0),
    ] {
        assert_close(ran.finding("kinds-of-cores", name), expected, name);
    }
    let told: Vec<&str> = ran
        .report
        .findings
        .iter()
        .filter(|f| f.kind == "scaling-spread")
        .map(|f| f.text.as_str())
        .collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[1].starts_with("6 of 16 threads") && told[1].contains("of memory on cpus 0-15"),
        "{told:?}"
    );
    assert!(
        told[2].starts_with("8 of 8 threads") && told[2].contains("of memory on cpus 16-23"),
        "{told:?}"
    );
    // The findings are about the large cores, then about the small ones. Threads on both kinds
    // together are not fair.
    assert!(ran.has_finding("unfair"));
    assert!(
        run(&machines::eight_cores(), "")
            .points()
            .all(|p| p.name("kind").is_none()),
        "one kind has no name"
    );
}

#[test]
fn holes_and_offline_cpus_are_walked_around() {
    let mut on = machines::two_sockets_of_96();
    // The set of CPUs has holes: the second thread of a core without its first one, two whole
    // cores, and a CPU of the other socket.
    on.cpus = vec![195, 8, 200, 9, 201, 100];
    // CPU 292 is offline, so its sibling is alone on its core.
    on.facts.topology.cpus.retain(|cpu| cpu.id != 292);
    for cpu in &mut on.facts.topology.cpus {
        cpu.allowed = on.cpus.contains(&cpu.id);
        cpu.siblings.retain(|id| *id != 292);
    }
    let plan = lab::plan(
        &on,
        request(vec![scaling("--placement spread,compact")], &on),
    )
    .expect("a plan");
    assert_eq!(
        widest(&plan, "spread"),
        [195, 100, 8, 9, 200, 201],
        "a socket each, a cluster each, a core each"
    );
    assert_eq!(widest(&plan, "compact"), [195, 8, 200, 9, 201, 100]);
    assert_eq!(plan.points.len(), 12);
    let ran = run(&on, "");
    assert_eq!(
        counts(&ran, |p| p.outcome.measured().is_some()),
        [1, 2, 3, 4, 5, 6]
    );
    assert_eq!(ran.point("threads=6").number("cores"), Some(4));
}

#[test]
fn cpus_that_the_system_tells_nothing_about_are_cores_of_one_socket() {
    let mut on = machines::eight_cores();
    on.facts.topology.caches.clear();
    on.model.levels.drain(..3);
    for cpu in &mut on.facts.topology.cpus {
        (cpu.core, cpu.package, cpu.node, cpu.siblings) = (None, None, None, Vec::new());
    }
    let ran = run(&on, "--placement spread,compact");
    assert_eq!(widest(&ran.plan, "spread"), on.cpus);
    assert_eq!(widest(&ran.plan, "compact"), on.cpus);
    assert!(
        ran.points()
            .all(|p| p.number("cores").is_none() && p.name("level") == Some("unknown"))
    );
}

#[test]
fn what_a_quota_would_stop_is_not_measured_as_memory() {
    let mut on = machines::eight_cores();
    on.facts.system.cpu_quota = known(2.5);
    let ran = run(&on, "--placement spread,compact --oversubscribe");
    assert_eq!(
        counts(&ran, |p| p.outcome.measured().is_some()),
        [1, 2, 1, 2]
    );
    for point in ran.points().filter(|p| p.number("threads") > Some(2)) {
        assert!(
            matches!(point.outcome, Outcome::Unsupported { .. }),
            "{point:?}"
        );
        assert!(
            lab::reasons(&point.outcome).contains("allows 2.5 cpus' worth of time (simulated)"),
            "{point:?}"
        );
    }
    let named = |text: &String| {
        text.contains("allows 2.5 cpus' worth of time") && text.contains("not measured")
    };
    assert_eq!(
        ran.plan.adjusted.iter().filter(|text| named(text)).count(),
        1,
        "before the run"
    );
    assert!(told(&ran, "scaling-compact").starts_with("2 of 2 threads"));
    on.facts.system.cpu_quota = known(0.5);
    assert!(
        run(&on, "")
            .points()
            .all(|p| matches!(p.outcome, Outcome::Unsupported { .. }))
    );
    on.facts.system.cpu_quota = known(8.0);
    let ran = run(&on, "");
    assert!(ran.plan.adjusted.is_empty() && ran.points().all(|p| p.outcome.measured().is_some()));
}

#[test]
fn where_threads_cannot_be_pinned_only_their_number_is_measured() {
    let mut on = machines::hybrid();
    on.facts.system.pinning = known(false);
    let ran = run(&on, "--placement spread,compact --threads 1,all");
    for point in ran.points() {
        let free = (point.name("kind"), point.name("placement")) == (Some("all"), Some("spread"));
        assert_eq!(point.outcome.measured().is_some(), free, "{point:?}");
        assert!(
            free || lab::reasons(&point.outcome).contains("cannot pin threads"),
            "{point:?}"
        );
    }
}

#[test]
fn threads_that_are_asked_onto_kinds_of_cores_have_curves_of_each_kind() {
    let mut on = machines::hybrid();
    on.facts.system.pinning = known(false);
    on.facts.system.thread_request = known("a class".to_owned());
    for cpu in &mut on.facts.topology.cpus {
        cpu.kind = Some(
            if cpu.id < 16 {
                "performance"
            } else {
                "efficiency"
            }
            .to_owned(),
        );
    }
    let ran = run(&on, "--placement spread,compact --threads 1,all");
    let kinds: BTreeSet<&str> = ran.points().filter_map(|p| p.name("kind")).collect();
    let expected = ["all", "efficiency cpus 16-23", "performance cpus 0-15"];
    assert_eq!(kinds, BTreeSet::from(expected));
    for point in ran.points() {
        let spread = point.name("placement") == Some("spread");
        assert_eq!(point.outcome.measured().is_some(), spread, "{point:?}");
    }
    assert!(ran.has_finding("not-pinned"));
}

#[test]
fn cores_of_different_kinds_may_have_equal_caches() {
    let mut on = machines::eight_cores();
    assert!(run(&on, "").points().all(|p| p.name("kind").is_none()));
    for cpu in &mut on.facts.topology.cpus {
        cpu.kind = Some(format!("efficiency class {}", u32::from(cpu.id < 4)));
    }
    let ran = run(&on, "");
    assert!(
        ran.points()
            .any(|p| p.name("kind") == Some("efficiency class 1 cpus 0-3"))
    );
}

#[test]
fn a_system_without_transparent_huge_pages_gives_base_pages() {
    let mut on = machines::plain();
    on.facts.pages.thp_mode = known("none".to_owned());
    let ran = run(&on, "--threads 1 --pages 4k,thp");
    assert!(ran.points().count() > 0);
    assert!(ran.points().all(|p| p.name("pages") == Some("4k")));
    assert!(ran.has_finding("no-huge-pages"));
    // If transparent huge pages are only switched off, the points are requested, because the user
    // can switch the pages on.
    on.facts.pages.thp_mode = known("never".to_owned());
    let ran = run(&on, "--threads 1 --pages 4k,thp");
    assert!(ran.points().any(|p| p.name("pages") == Some("thp")));
}

#[test]
fn a_machine_that_saves_power_or_is_hot_is_named() {
    let finding = |change: &dyn Fn(&mut report::Environment)| {
        let mut on = machines::plain();
        change(&mut on.facts.environment);
        run(&on, "--threads 1").has_finding("less-speed")
    };
    assert!(!finding(&|_| ()));
    assert!(!finding(&|e| e.power_source = known("mains".to_owned())));
    assert!(!finding(&|e| e.power_saving = known(false)));
    assert!(!finding(&|e| e.thermal_state = known("nominal".to_owned())));
    assert!(finding(&|e| e.power_source = known("battery".to_owned())));
    assert!(finding(&|e| e.power_saving = known(true)));
    assert!(finding(&|e| e.thermal_state = known("serious".to_owned())));
}

#[test]
fn noise_does_not_make_memory_saturate_earlier_by_more_than_a_step() {
    let mut on = machines::two_sockets_of_96();
    on.model.noise.jitter = 0.1;
    on.model.noise.spike_every = 7;
    let ladder = [24, 32, 48, 64, 80];
    for seed in 0..8 {
        let experiment = scaling("--threads 1,8,16,24,32,48,64,80,96,192");
        let ran = run_on(
            on.machine(seed),
            request(vec![experiment], &on),
            Notes::default(),
            None,
        );
        let found = ran.finding("scaling-spread", "read_threads") as u64;
        let step = ladder
            .iter()
            .position(|&n| n == found)
            .unwrap_or_else(|| panic!("{seed}: {found}"));
        assert!((1..=3).contains(&step), "{seed}: {found}");
    }
}

/// Eight cores. More than three threads disturb each other.
fn crowded() -> Simulated {
    let mut on = machines::eight_cores();
    on.model.sharing.crowding = 0.05;
    on
}

#[test]
fn the_best_count_need_not_be_all() {
    let ran = run(&crowded(), "");
    assert_eq!(ran.finding("scaling-spread", "read_best_threads"), 3.0);
    assert_close(
        ran.median("threads=8"),
        2.9 * READ[3] * 0.75,
        "five more than needed",
    );
}

#[test]
fn the_best_number_of_threads_wins_the_race_and_the_others_are_kept() {
    let on = crowded();
    let ran = lab::run(
        &on,
        request(
            vec![bandwidth(
                "--ops read --sizes 256MiB,16KiB --threads 8,best",
            )],
            &on,
        ),
    );
    let best = |level: &str| {
        let here = |p: &&Point| {
            p.name("level") == Some(level) && p.name("requested_threads") == Some("best")
        };
        let found: Vec<&Point> = ran.points().filter(here).collect();
        assert_eq!(found.len(), 1);
        found[0]
    };
    assert_eq!(
        (best("DRAM").number("threads"), best("L1").number("threads")),
        (Some(3), Some(8))
    );
    let measured = lab::measured(best("DRAM"));
    assert_close(measured.summary.median, 2.9 * READ[3], "with three");
    assert_eq!(measured.evidence.cpus, [0, 1, 2]);
    let choice = measured.choice.as_ref().expect("a choice");
    assert_eq!(choice.candidates[0].threads, Some(3));
    let tried: BTreeSet<u64> = choice.candidates.iter().filter_map(|c| c.threads).collect();
    // 256 MiB lie in memory with one thread too, so all numbers are candidates.
    assert_eq!(tried, (1..=8).collect());
    let one = choice
        .candidates
        .iter()
        .find(|c| c.threads == Some(1))
        .expect("one thread was tried");
    assert_close(one.median, READ[3], "one thread");
    assert_eq!(
        ran.point("level=DRAM threads=8").name("requested_threads"),
        None
    );
    assert!(
        ran.notes
            .journal()
            .iter()
            .any(|line| line.contains("\"requested_threads\":\"best\""))
    );
    // A killed session keeps all candidates.
    let killed = ran.notes.journal()[..ran.notes.journal().len() - 1].join("\n");
    let read = read_journal(killed.as_bytes()).expect("a journal");
    assert!(
        read.notes.iter().all(|note| !note.contains("not planned")),
        "{:?}",
        read.notes
    );
    assert_eq!(
        read.report.datasets[0].points,
        ran.report.datasets[0].points
    );
}

#[test]
fn counts_and_kernels_race_together() {
    let mut on = crowded();
    on.model.choices = vec![(SetId::Avx512, 0.8), (SetId::Avx2, 1.0)];
    let ran = lab::run(
        &on,
        request(
            vec![bandwidth("--ops read --sizes 256MiB --threads best")],
            &on,
        ),
    );
    let point = ran.points().next().expect("a point");
    assert_eq!(
        (point.number("threads"), point.name("kernel")),
        (Some(3), Some("read/simulated-avx2"))
    );
    assert_eq!(
        lab::measured(point)
            .choice
            .as_ref()
            .expect("a choice")
            .candidates
            .len(),
        16
    );
    assert_eq!(ran.report.provenance.kernels.len(), 1);
}

#[test]
fn counts_that_race_in_memory_walk_through_the_same_in_all() {
    let on = machines::two_sockets_of_96();
    let ran = lab::run(
        &on,
        request(
            vec![bandwidth("--ops read,copy --threads best --sizes 12MiB")],
            &on,
        ),
    );
    for point in ran.points() {
        // 12 MiB for each of 384 threads lie in memory. For few threads they lie in the L3, so
        // small numbers are no candidates.
        let candidates = &lab::measured(point)
            .choice
            .as_ref()
            .expect("a choice")
            .candidates;
        assert!(
            candidates
                .iter()
                .all(|c| c.threads >= Some(192) && c.size_bytes == Some(12 << 20)),
            "{candidates:?}"
        );
    }
    let ran = lab::run(
        &on,
        request(vec![bandwidth("--ops read --threads best")], &on),
    );
    let memory = ran
        .points()
        .filter(|p| p.name("level") == Some("DRAM"))
        .last()
        .expect("memory");
    let candidates = &lab::measured(memory)
        .choice
        .as_ref()
        .expect("a choice")
        .candidates;
    assert!(candidates.len() >= 8, "{candidates:?}");
    let total = 4 * on.last_level().0;
    for candidate in candidates {
        let all = candidate.threads.unwrap() * candidate.size_bytes.unwrap();
        assert!(all >= total && all < total + (2 << 20), "{candidate:?}");
    }
    let plan = lab::plan(&machines::one_allowed(), {
        request(
            vec![bandwidth("--ops read --sizes 16KiB --threads best")],
            &machines::one_allowed(),
        )
    });
    let alone = &plan.expect("a plan").points[0];
    assert_eq!(
        alone.coordinates["threads"].to_string(),
        "1",
        "one number is no choice"
    );
}

#[test]
fn a_model_of_a_size_makes_so_many_tokens() {
    let on = machines::eight_cores();
    let ran = run(&on, "--model-size 8GB --ops write,read");
    let value = |name: &str| ran.finding("tokens-per-second", name);
    assert_close(value("tokens_per_second"), 2.9 * READ[3] / 8e9, "tokens");
    assert_close(value("sustained"), 2.9 * READ[3], "GB/s");
    assert_eq!(value("threads"), 3.0);
    let text = told(&ran, "tokens-per-second");
    assert!(
        text.contains("8.0 GB of weights")
            && text.contains("at most 5.4 tokens/s")
            && text.contains("3 threads"),
        "{text}"
    );
    let ran = run(&on, "--model-size 80GB");
    assert!(
        ran.plan
            .adjusted
            .iter()
            .any(|text| text.contains("does not fit into")),
        "{:?}",
        ran.plan.adjusted
    );
}

#[test]
fn other_levels_have_curves_too() {
    let ran = run(&machines::eight_cores(), "--sizes 16KiB,512KiB --ops read");
    for (level, read) in [("L1", READ[0]), ("L2", READ[1])] {
        assert_close(
            ran.median(&format!("level={level} threads=5")),
            5.0 * read,
            level,
        );
    }
    let told: Vec<&str> = ran
        .report
        .findings
        .iter()
        .filter(|f| f.kind == "scaling-spread")
        .map(|f| f.text.as_str())
        .collect();
    assert!(
        told.len() == 2 && told[0].contains("of L1 (16 KiB a thread)"),
        "{told:?}"
    );
}

fn dataset<'a>(ran: &'a Ran, name: &str) -> &'a Dataset {
    ran.report
        .datasets
        .iter()
        .find(|d| d.experiment == name)
        .expect("a dataset")
}

#[test]
fn the_default_profile_has_a_short_ladder() {
    let profile = |on: &Simulated, names: &[&str]| {
        lab::run(
            on,
            request(
                names
                    .iter()
                    .map(|name| in_profile(name, Detail::Levels))
                    .collect(),
                on,
            ),
        )
    };
    for on in [
        machines::two_sockets_of_96(),
        machines::many_cpus(),
        machines::eight_cores(),
        machines::hybrid(),
    ] {
        let plan = lab::plan(
            &on,
            request(vec![in_profile("scaling", Detail::Levels)], &on),
        )
        .expect("a plan");
        assert!(
            (3..=9).contains(&plan.points.len()),
            "{}: {}",
            on.name,
            plan.points.len()
        );
        let mapping = plan.memory().0 as f64 / plan.fault.0;
        let measuring = plan.estimate.secs() - mapping;
        assert!(
            measuring < 4.5,
            "{}: {measuring} s beside the memory that bandwidth maps too",
            on.name
        );
    }
    let on = machines::two_sockets_of_96();
    let ran = profile(&on, &["scaling"]);
    assert_eq!(counts(&ran, |_| true), [1, 3, 6, 12, 24, 48, 96, 192, 384]);
    // With two CPUs, the points of `bandwidth` are all that `scaling` would measure.
    let two = machines::plain();
    let both = profile(&two, &["bandwidth", "scaling"]);
    assert!(dataset(&both, "scaling").points.is_empty());
    assert_eq!(
        counts(&profile(&two, &["scaling"]), |p| p
            .outcome
            .measured()
            .is_some()),
        [1, 2]
    );
    let full = lab::plan(
        &on,
        request(vec![in_profile("scaling", Detail::Sweep)], &on),
    )
    .expect("a plan");
    assert_eq!(full.points.len(), 4 * 2 * 12);
}

#[test]
fn every_machine_has_its_curve() {
    let few = |on: &Simulated| on.cpus.len() < 100;
    for on in machines::all().into_iter().filter(few) {
        let ran = run(
            &on,
            "--placement spread,compact --oversubscribe --ops triad",
        );
        for point in ran.points() {
            let said =
                point.outcome.measured().is_some() || !lab::reasons(&point.outcome).is_empty();
            assert!(
                said && !matches!(point.outcome, Outcome::Failed { .. }),
                "{}: {point:?}",
                on.name
            );
        }
        let most = counts(&ran, |p| p.number("per_cpu").is_none())
            .into_iter()
            .max();
        assert_eq!(most, Some(on.cpus.len() as u64), "{}", on.name);
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let on = machines::eight_cores();
    for (options, words) in [
        ("--threads 9", "too many threads: 9; 8 CPUs may be used"),
        ("--threads best", "thread count not possible: best"),
        ("--model-size 0", "model size not possible: 0 B"),
        ("--model-size 8GB --ops write", "model size without reads"),
        ("--sizes 10", "too small a size: 10 B"),
        ("--sizes 8TiB --threads 1", "too much memory: 8 TiB; "),
        (
            "--sizes 8TiB --threads 2",
            "too much memory: 8 TiB for each of 2 threads; ",
        ),
    ] {
        let refused = lab::plan(&on, request(vec![scaling(options)], &on))
            .err()
            .expect(options)
            .to_string();
        assert!(refused.contains(words), "{options}: {refused}");
    }
    let on = machines::many_cpus();
    let mut large = request(
        vec![scaling(
            "--placement spread,compact --ops read,write,copy,triad",
        )],
        &on,
    );
    large.max_points = 10;
    assert!(
        lab::plan(&on, large)
            .err()
            .expect("too many")
            .to_string()
            .contains("too many points")
    );
}
