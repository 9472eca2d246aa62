//! Tests that timing finds the caches of simulated machines and invents none. Findings compare them
//! with the system's report.

use super::lab::{self, Ran, caches, request};
use super::machines::{self, Simulated};
use engine::Sampling;
use experiments::LastLevel;
use experiments::caches::{MeasuredLevel, measured_levels};
use memgauge::plan::Request;
use report::{
    Cache, CacheKind, Cause, DocumentedFigure, DocumentedQuantity, Fact, Finding, Measured,
    Outcome, Point, Report,
};
use units::error::Kind;
use units::{Bytes, CpuList, Nanos};

/// A cache: size in KiB, ways, whether both CPUs share it, and the time of a load in ns.
pub type Level = (u64, u32, bool, f64);

/// Factor between neighbouring sizes of the fine grid.
pub const STEP: f64 = 1.0443;

/// Makes a machine of two cores with these caches and memory behind them. `memory` is the time of a
/// load from memory in ns.
pub fn with(levels: &[Level], memory: f64) -> Simulated {
    let mut on = machines::plain();
    on.facts.topology.caches = caches_of(levels);
    let mut loads: Vec<f64> = levels.iter().map(|level| level.3).collect();
    loads.push(memory);
    let plain = on.model.levels[0];
    on.model.levels = loads
        .iter()
        .map(|&ns| simulated::LevelCost {
            latency: Nanos(ns),
            ..plain
        })
        .collect();
    on.model.tlb_reach = Bytes(u64::MAX);
    on.model.caches.sets = true;
    on
}

fn caches_of(levels: &[Level]) -> Vec<Cache> {
    let mut all = Vec::new();
    for (at, &(kib, ways, shared, _)) in levels.iter().enumerate() {
        let groups = if shared {
            vec![vec![0, 1]]
        } else {
            vec![vec![0], vec![1]]
        };
        all.extend(groups.into_iter().map(|cpus| Cache {
            level: at as u32 + 1,
            kind: if at == 0 {
                CacheKind::Data
            } else {
                CacheKind::Unified
            },
            size: Bytes::kib(kib),
            line: Some(Bytes(64)),
            ways: Some(ways),
            cpus: CpuList(cpus),
        }));
    }
    all
}

const TWO: [Level; 2] = [(32, 8, false, 1.0), (512, 8, true, 4.0)];
const THREE: [Level; 3] = [
    (48, 12, false, 1.0),
    (1024, 16, false, 3.5),
    (32 << 10, 16, true, 12.0),
];
const FOUR: [Level; 4] = [
    (32, 8, false, 1.1),
    (256, 4, false, 3.5),
    (8 << 10, 16, true, 11.0),
    (128 << 10, 16, true, 40.0),
];

pub fn sampling() -> Sampling {
    Sampling {
        length: Nanos::from_millis(1.0),
        in_memory: 1.0,
        per_round: 4,
        rounds: 6,
        target: 0.005,
        most: None,
    }
}

fn run(on: &Simulated, options: &str) -> Ran {
    // The budget is the command's. Chains of another gigabyte take longer.
    let budget = if options.contains("max-size") {
        Nanos(60e9)
    } else {
        Nanos(20e9)
    };
    lab::run(
        on,
        Request {
            sampling: sampling(),
            budget,
            ..request(vec![caches(options)], on)
        },
    )
}

pub fn found(ran: &Ran) -> Vec<MeasuredLevel> {
    let dataset = &ran.report.datasets[0];
    measured_levels(dataset, 0, dataset.points[0].name("pages").expect("pages"))
}

fn of_kind<'a>(ran: &'a Ran, kind: &str) -> Vec<&'a Finding> {
    ran.report
        .findings
        .iter()
        .filter(|f| f.kind == kind)
        .collect()
}

fn texts<'a>(ran: &'a Ran, kind: &str) -> Vec<&'a str> {
    of_kind(ran, kind).iter().map(|f| f.text.as_str()).collect()
}

pub fn near(a: f64, b: f64, factor: f64) -> bool {
    a <= b * factor && b <= a * factor
}

/// Asserts that every level of the machine is found within a step of the fine grid, with its load.
/// No other level may be found.
fn assert_found(ran: &Ran, levels: &[Level], memory: f64, what: &str) {
    let found = found(ran);
    assert_eq!(found.len(), levels.len() + 1, "{what}: {found:?}");
    for (found, (kib, _, _, ns)) in found.iter().zip(levels) {
        let end = found.end.unwrap_or_else(|| panic!("{what}: {found:?}"));
        let size = (kib << 10) as f64;
        assert!(
            near(end.capacity.0 as f64, size, STEP),
            "{what}: {found:?} for {kib} KiB"
        );
        assert!(
            end.low.0 as f64 <= size * STEP && size <= end.high.0 as f64 * STEP,
            "{what}: {found:?}"
        );
        assert!(
            near(found.latency, *ns, 1.02),
            "{what}: {found:?} for {ns} ns"
        );
    }
    assert!(
        found[levels.len()].end.is_none() && near(found[levels.len()].latency, memory, 1.03),
        "{what}: {found:?}"
    );
}

#[test]
fn two_three_and_four_levels_are_found_sharp_and_worn() {
    for levels in [&TWO[..], &THREE, &FOUR] {
        for partial in [false, true] {
            let mut on = with(levels, 95.0);
            on.model.partial_hits = partial;
            let ran = run(&on, "");
            assert_found(
                &ran,
                levels,
                95.0,
                &format!("{levels:?}, partial hits {partial}"),
            );
            assert!(
                !ran.has_finding("cache-disagrees"),
                "{:?}",
                texts(&ran, "cache-disagrees")
            );
            assert!(ran.plan.estimate <= Nanos(20e9), "{:?}", ran.plan.estimate);
            assert!(ran.points().all(|p| p.outcome.measured().is_some()));
        }
    }
}

#[test]
fn every_density_finds_the_levels() {
    let mut count = 0;
    for density in ["low", "medium", "high"] {
        let ran = run(&with(&THREE, 95.0), &format!("--density {density}"));
        assert_found(&ran, &THREE, 95.0, density);
        let coarse = ran.points().filter(|p| p.number("pass") == Some(0)).count();
        assert!(coarse > count, "{density}: {coarse}");
        count = coarse;
    }
}

#[test]
fn the_largest_caches_end_where_there_is_room_to_see_it() {
    let large = [
        (32, 8, false, 1.0),
        (2048, 16, false, 4.0),
        (1_153_434, 16, true, 30.0),
    ];
    let on = with(&large, 120.0);
    assert_found(&run(&on, "--max-size 4GiB"), &large, 120.0, "1.1 GB");
    // By default the sweep ends before the capacity of this cache. The report says that the cache
    // may be behind the last size, and does not call it memory.
    let ran = run(&on, "");
    assert!(
        ran.plan.memory() <= Bytes::gib(1) + Bytes::mib(4) && !ran.has_finding("cache-disagrees")
    );
    assert_eq!(found(&ran).len(), 3);
    assert_eq!(
        texts(&ran, "cache-memory"),
        [
            "Past the caches lies memory or the L3 of 1.1 GiB that the system reports: 30.0 ns \
             (120.0 cycles) a load, lower quartile, in up to 1 GiB."
        ]
    );
}

#[test]
fn a_level_is_one_sentence_with_its_numbers() {
    let ran = run(&with(&THREE, 95.0), "");
    let expected = [
        "L1 takes 1.0 ns (4.0 cycles) a load, lower quartile; effective capacity 48.2 KiB (47.2 \
         KiB to 49.3 KiB), 48 KiB reported.",
        "L2 takes 3.5 ns (14.0 cycles) a load, lower quartile; effective capacity 1.02 MiB (1 MiB \
         to 1.04 MiB), 1 MiB reported.",
        "L3 takes 12.0 ns (48.0 cycles) a load, lower quartile; effective capacity 32.7 MiB (32 \
         MiB to 34.9 MiB), 32 MiB reported.",
    ];
    assert_eq!(texts(&ran, "cache-level"), expected);
    let values = &of_kind(&ran, "cache-level")[1].values;
    assert_eq!(
        (values["level"], values["reported_bytes"]),
        (2.0, 1048576.0)
    );
}

#[test]
fn measured_levels_stand_beside_the_published_figures() {
    let with_figures = |l2_cycles: u64, emulation: &str| {
        let mut on = with(&THREE, 95.0);
        let figure = |quantity, value| DocumentedFigure {
            design: "A design".to_owned(),
            quantity,
            low: value,
            high: value,
            source: "told by the test".to_owned(),
        };
        on.facts.cpu.documented = vec![
            figure(DocumentedQuantity::L1dLatencyCycles, 4),
            figure(DocumentedQuantity::L2LatencyCycles, l2_cycles),
        ];
        on.facts.system.emulation = Fact::known(emulation.to_owned(), "told by the test");
        run(&on, "")
    };
    let values = |ran: &Ran| {
        let found = of_kind(ran, "documented");
        found
            .first()
            .map(|f| (f.values["compared"], f.values["disagree"]))
    };
    let agrees = with_figures(14, "none");
    assert_eq!(values(&agrees), Some((2.0, 0.0)));
    assert!(of_kind(&agrees, "documented-disagrees").is_empty());
    let differs = with_figures(20, "none");
    assert_eq!(values(&differs), Some((2.0, 1.0)));
    assert_eq!(of_kind(&differs, "documented-disagrees").len(), 1);
    assert_eq!(values(&with_figures(14, "qemu")), None);
}

#[test]
fn flat_curves_and_tlbs_in_base_pages_have_no_caches() {
    let none = with(&[], 5.0);
    let ran = run(&none, "");
    assert_eq!(found(&ran).len(), 1);
    assert!(!ran.has_finding("cache-level") && !ran.has_finding("cache-disagrees"));
    // The memory has base pages. The order of the chain stays in a few pages at a time.
    let mut small = with(&THREE, 95.0);
    small.facts.pages.thp_mode = Fact::known("never".to_owned(), "simulated");
    (small.model.tlb_reach, small.model.granted) = (Bytes::kib(256), 0.0);
    assert_found(&run(&small, ""), &THREE, 95.0, "base pages");
}

#[test]
fn what_was_not_granted_is_said() {
    let mut on = with(&THREE, 95.0);
    on.model.granted = 0.3;
    let ran = run(&on, "");
    assert_eq!(
        texts(&ran, "cache-pages"),
        ["Only 30% of the memory is in huge pages: a step may come from a TLB."]
    );
    assert!(texts(&ran, "cache-ways-unknown")[0].contains("huge pages were not granted"));
}

#[test]
fn lines_neighbours_strides_and_ways_are_those_of_the_machine() {
    let mut on = with(&THREE, 95.0);
    on.model.caches.followed = Bytes(1024);
    let ran = run(&on, "");
    assert_eq!(
        texts(&ran, "cache-line"),
        ["A line has 64 B; the system reports 64 B."]
    );
    assert_eq!(
        texts(&ran, "cache-adjacent"),
        ["Past L2 no neighbour is fetched with a line."]
    );
    assert_eq!(
        texts(&ran, "cache-stride-prefetch"),
        [
            "Past L2 strides up to 1 KiB are prefetched, 2 KiB is not (64 B takes 12% of the time \
             of random order)."
        ]
    );
    assert_eq!(
        texts(&ran, "cache-ways"),
        [
            "L1 has 12 ways; the system reports 12.",
            "L2 has 16 ways; the system reports 16."
        ]
    );
    assert_eq!(
        texts(&ran, "cache-ways-unknown"),
        [
            "The ways of L3 are unknown: its sets are chosen by a hash of the address on most \
             processors."
        ]
    );

    // The second cache has fewer ways than the first one.
    let ran = run(&with(&FOUR, 95.0), "");
    let expected = [
        "L1 has 8 ways; the system reports 8.",
        "L2 has at most 8 ways; the system reports 4.",
    ];
    assert_eq!(texts(&ran, "cache-ways"), expected);

    let mut other = with(&FOUR, 95.0);
    other.model.caches.line = Bytes(128);
    other.model.caches.adjacent = true;
    other.model.caches.followed = Bytes(0);
    let ran = run(&other, "");
    let line = of_kind(&ran, "cache-disagrees")
        .into_iter()
        .find(|f| f.values.contains_key("line_bytes"));
    assert_eq!(line.expect("a line").values["line_bytes"], 128.0);
    let text = texts(&ran, "cache-adjacent");
    assert!(
        text[0].contains("lines are fetched in pairs of 256 B"),
        "{text:?}"
    );
    let text = texts(&ran, "cache-stride-prefetch");
    assert!(
        text[0].contains("strides are not prefetched, not even 64 B"),
        "{text:?}"
    );
}

#[test]
fn sets_that_do_not_exist_have_no_ways() {
    let mut on = with(&THREE, 95.0);
    on.model.caches.sets = false;
    let ran = run(&on, "");
    // This cache has no sets. Lines far apart fill it like lines close together, so lines of
    // different sets do not fit either.
    assert!(
        !ran.has_finding("cache-ways"),
        "{:?}",
        texts(&ran, "cache-ways")
    );
    assert_eq!(of_kind(&ran, "cache-ways-unknown").len(), 3);
}

#[test]
fn what_differs_from_the_report_is_a_finding() {
    // A virtual machine sees the size of the host's L3, but gets only a part of it.
    let mut on = with(&[THREE[0], THREE[1], (480 << 10, 16, true, 12.0)], 95.0);
    on.model.caches.holds = vec![Bytes::kib(48), Bytes::mib(1), Bytes::mib(24)];
    let ran = run(&on, "");
    assert_found(
        &ran,
        &[THREE[0], THREE[1], (24 << 10, 16, true, 12.0)],
        95.0,
        "a part of the L3",
    );
    assert!(ran.plan.estimate <= Nanos(60e9));
    let text = texts(&ran, "cache-disagrees");
    assert!(
        text.len() == 1
            && text[0].starts_with("L3 takes")
            && text[0].contains("480 MiB reported: neighbours use the rest"),
        "{text:?}"
    );
    // The L3 has no space left for this machine.
    let mut on = with(&THREE, 95.0);
    on.model.caches.holds = vec![Bytes::kib(48), Bytes::mib(1), Bytes(0)];
    let ran = run(&on, "");
    assert_found(&ran, &THREE[..2], 95.0, "no L3");
    let text = texts(&ran, "cache-disagrees");
    assert!(
        text.len() == 1
            && text[0].starts_with("Timing does not show L3 of 32 MiB that the system reports"),
        "{text:?}"
    );
    // The system does not report one of the levels.
    let mut on = with(&FOUR, 95.0);
    on.facts.topology.caches.retain(|cache| cache.level < 4);
    on.model.levels.truncate(3);
    on.model.levels.push(simulated::LevelCost {
        latency: Nanos(95.0),
        ..on.model.levels[0]
    });
    on.model.caches.holds = vec![Bytes::kib(32), Bytes::kib(64), Bytes::mib(8)];
    let ran = run(&on, "");
    assert!(
        texts(&ran, "cache-disagrees")[0].starts_with("L2 takes"),
        "{:?}",
        texts(&ran, "cache-disagrees")
    );
}

#[test]
fn a_level_that_is_not_reported_among_others_has_no_name_of_theirs() {
    let on = with(&FOUR, 95.0);
    let ran = run(&on, "");
    let dataset = ran
        .report
        .datasets
        .iter()
        .find(|d| d.experiment == "caches")
        .expect("the sweep");
    // The system does not report the third of four caches. The step in the curve looks as if
    // neighbours had left a part of the fourth one.
    let mut facts = on.facts.clone();
    facts.topology.caches.retain(|cache| cache.level != 3);
    facts
        .topology
        .caches
        .iter_mut()
        .filter(|cache| cache.level == 4)
        .for_each(|cache| cache.level = 3);
    let findings = caches("").findings_on(&facts, dataset);
    let named = findings
        .iter()
        .filter(|f| f.kind == "cache-level")
        .map(|f| f.values["level"] as u64);
    assert_eq!(named.collect::<Vec<u64>>(), [1, 2, 3]);
    let unreported: Vec<f64> = findings
        .iter()
        .filter(|f| f.kind == "cache-disagrees" && f.values.contains_key("latency_ns"))
        .map(|f| f.values["capacity_bytes"] / f64::from(8 << 20))
        .collect();
    assert!(
        unreported.len() == 1 && (unreported[0] - 1.0).abs() < 0.1,
        "{unreported:?}"
    );
}

/// Findings about levels. Each begins with the name of a cache, or says that there is none.
fn about_levels(findings: &[Finding]) -> Vec<&Finding> {
    let is_about = |f: &&Finding| f.values.contains_key("latency_ns") && f.kind != "cache-memory";
    findings.iter().filter(is_about).collect()
}

/// Reports of sweeps with several seeds, on a machine whose neighbours leave `least` to `most`
/// bytes of the L3.
fn shared_with_neighbours(least: Bytes, most: Bytes) -> Vec<Report> {
    let mut on = with(&THREE, 95.0);
    on.model.partial_hits = true;
    on.model.noise.jitter = 0.02;
    on.model.caches.holds = vec![Bytes::kib(48), Bytes::mib(1), most];
    on.model.caches.left_by_neighbours = Some((least, most));
    let sweep = |seed| {
        let requested = Request {
            sampling: sampling(),
            budget: Nanos(20e9),
            ..request(vec![caches("")], &on)
        };
        lab::seeded(&on, requested, seed)
    };
    (0..8).map(sweep).collect()
}

#[test]
fn an_l3_of_which_neighbours_hold_a_part_is_one_finding() {
    for report in shared_with_neighbours(Bytes::mib(6), Bytes::mib(32)) {
        let levels = about_levels(&report.findings);
        let named: Vec<u64> = levels.iter().map(|f| f.values["level"] as u64).collect();
        assert_eq!(named, [1, 2, 3], "{levels:?}");
        let last = levels[2];
        assert!(near(last.values["latency_ns"], 12.0, 1.1), "{last:?}");
        let capacity = last.values["capacity_bytes"] / f64::from(1 << 20);
        assert!((6.0..=22.0).contains(&capacity), "{last:?}");
        assert_eq!(last.kind, "cache-disagrees");
        let words = "32 MiB reported: neighbours use a part that varies";
        assert!(last.text.contains(words), "{last:?}");
    }
}

#[test]
fn a_slope_without_a_plateau_is_no_level() {
    for report in shared_with_neighbours(Bytes::kib(256), Bytes::mib(8)) {
        let levels = about_levels(&report.findings);
        let named: Vec<u64> = levels.iter().map(|f| f.values["level"] as u64).collect();
        assert_eq!(named, [1, 2], "{levels:?}");
        let unseen = "Timing does not show L3 of 32 MiB that the system reports";
        assert!(report.findings.iter().any(|f| f.text.starts_with(unseen)));
    }
}

#[test]
fn a_cache_on_the_side_of_the_memory_is_a_level_without_a_name() {
    let on = with(&FOUR, 95.0);
    let ran = run(&on, "");
    let mut facts = on.facts.clone();
    facts.topology.caches.retain(|cache| cache.level < 4);
    let findings = caches("").findings_on(&facts, &ran.report.datasets[0]);
    let levels = about_levels(&findings);
    assert_eq!(levels.len(), 4, "{levels:?}");
    assert!(levels[..3].iter().all(|f| f.kind == "cache-level"));
    assert_eq!(
        levels[3].text,
        "A level that the system does not report takes 40.0 ns (160.0 cycles) a load, lower \
         quartile; effective capacity 131 MiB: a cache past L3, such as one on the memory's side."
    );
}

#[test]
fn without_an_l3_and_in_pages_of_64_kib_the_levels_are_the_same() {
    for levels in [&TWO[..], &THREE] {
        let mut on = with(levels, 95.0);
        on.facts.pages.base = Bytes::kib(64);
        on.facts.pages.thp_mode = Fact::known("never".to_owned(), "simulated");
        (on.model.tlb_reach, on.model.granted) = (Bytes::mib(4), 0.0);
        let ran = run(&on, "");
        assert_found(&ran, levels, 95.0, "64 KiB pages");
        assert_eq!(about_levels(&ran.report.findings).len(), levels.len());
    }
}

#[test]
fn caches_that_hold_different_lines_end_together() {
    let levels = [
        (64, 8, false, 1.0),
        (256, 8, false, 4.0),
        (1024, 16, true, 12.0),
    ];
    for exclusive in [false, true] {
        let mut on = with(&levels, 95.0);
        on.model.caches.exclusive = exclusive;
        let ran = run(&on, "");
        let ends = |add: u64| if exclusive { add } else { 0 };
        let expected = [
            (64, 8, false, 1.0),
            (256 + ends(64), 8, false, 4.0),
            (1024 + ends(320), 16, true, 12.0),
        ];
        assert_found(&ran, &expected, 95.0, "exclusive");
        assert_eq!(
            of_kind(&ran, "cache-exclusive").len(),
            if exclusive { 2 } else { 0 }
        );
        assert!(
            !ran.has_finding("cache-disagrees"),
            "{:?}",
            texts(&ran, "cache-disagrees")
        );
    }
}

#[test]
fn caches_that_are_not_reported_are_found_all_the_same() {
    let mut on = with(&THREE, 95.0);
    on.model.levels = vec![on.model.levels[3]];
    on.facts.topology.caches.clear();
    let ran = run(&on, "");
    assert_eq!(found(&ran).len(), 1);
    assert!(!ran.has_finding("cache-disagrees"));
}

#[test]
fn little_memory_and_many_cpus_are_no_trouble() {
    for usable in [Bytes::mib(20), Bytes::mib(144)] {
        let mut on = with(&TWO, 95.0);
        on.facts.memory.usable = Fact::known(usable, "simulated");
        let ran = run(&on, "");
        assert!(ran.plan.memory() <= usable);
        assert_found(&ran, &TWO, 95.0, &usable.to_string());
        assert!(
            ran.points()
                .all(|p| !matches!(p.outcome, Outcome::Failed { .. }))
        );
    }
    for on in machines::all() {
        let ran = run(&on, "--density low");
        assert!(
            ran.points()
                .all(|p| !matches!(p.outcome, Outcome::Failed { .. })),
            "{}",
            on.name
        );
        assert!(ran.plan.memory() <= on.usable(), "{}", on.name);
    }
    let ran = run(&with(&TWO, 95.0), "--cpu 0,1 --density low");
    let text = texts(&ran, "cache-level");
    assert!(
        text.len() == 4
            && text[0].starts_with("L1 on CPU 0 takes")
            && text[2].starts_with("L1 on CPU 1 takes"),
        "{text:?}"
    );
}

#[test]
fn a_short_budget_measures_less_and_nothing_wrong() {
    let on = with(&THREE, 95.0);
    for budget in [0.5e9, 2e9, 6e9] {
        let requested = Request {
            sampling: sampling(),
            budget: Nanos(budget),
            ..request(vec![caches("")], &on)
        };
        let ran = lab::run(&on, requested);
        assert!(ran.plan.estimate <= Nanos(budget) * 1.05, "{budget}");
        assert!(
            ran.points()
                .all(|p| !matches!(p.outcome, Outcome::Failed { .. })),
            "{budget}"
        );
        assert!(
            !ran.has_finding("cache-ways") || texts(&ran, "cache-ways")[0].contains("12 ways"),
            "{budget}"
        );
    }
}

#[test]
fn points_are_held_against_the_last_level_that_timing_shows() {
    for (holds, fits) in [(24, false), (480, true)] {
        let mut on = with(&[THREE[0], THREE[1], (480 << 10, 16, true, 12.0)], 95.0);
        on.model.caches.holds = vec![Bytes::kib(48), Bytes::mib(1), Bytes::mib(holds)];
        let experiments = vec![lab::latency("--sizes 256KiB,40MiB,2GiB"), caches("")];
        let ran = lab::run(
            &on,
            Request {
                sampling: sampling(),
                ..request(experiments, &on)
            },
        );
        for (level, doubted) in [("L2", false), ("L3", !fits), ("DRAM", false)] {
            let measured = ran.measured(&format!("operation=chase level={level} pages=thp"));
            let found = measured
                .evidence
                .measured_last_level_bytes
                .expect("an L3 was found") as f64;
            assert!(
                (found / Bytes::mib(holds).0 as f64 - 1.0).abs() < 0.1,
                "{found}"
            );
            assert_eq!(
                measured.verdict.names(Cause::CacheSize),
                doubted,
                "{level}: {:?}",
                measured.verdict
            );
        }
        if !fits {
            let text = ran
                .measured("operation=chase level=L3 pages=thp")
                .verdict
                .text();
            assert!(text.starts_with("its 40 MiB exceed the 24"), "{text}");
        }
    }
    // The cache is larger than the user says, so it answers work that was sized as memory.
    let mut on = with(&[THREE[0], THREE[1], (16 << 10, 16, true, 12.0)], 95.0);
    on.model.caches.holds = vec![Bytes::kib(48), Bytes::mib(1), Bytes::mib(300)];
    let experiments = vec![
        lab::latency("--sizes 512MiB,2GiB"),
        caches("--max-size 4GiB"),
    ];
    let last_level = Some(LastLevel::Given(Bytes::mib(16)));
    let ran = lab::run(
        &on,
        Request {
            sampling: sampling(),
            last_level,
            ..request(experiments, &on)
        },
    );
    for (size, doubted) in [("512 MiB", true), ("2 GiB", false)] {
        let of_size =
            |m: &&Measured| m.evidence.working_set_bytes == Some(size.parse::<Bytes>().unwrap().0);
        let requested =
            |p: &&Point| p.name("level") == Some("DRAM") && p.name("operation") == Some("chase");
        let mut measured = ran
            .points()
            .filter(requested)
            .filter_map(|p| p.outcome.measured())
            .filter(of_size);
        let verdict = &measured.next().expect(size).verdict;
        assert_eq!(
            verdict.names(Cause::CacheSize),
            doubted,
            "{size}: {}",
            verdict.text()
        );
    }
    // If only the system reports the small size, the smaller working set is not called memory.
    let experiments = vec![
        lab::latency("--sizes 512MiB,2GiB"),
        caches("--max-size 4GiB"),
    ];
    let ran = lab::run(
        &on,
        Request {
            sampling: sampling(),
            ..request(experiments, &on)
        },
    );
    let level = |bytes: u64| {
        let mut requested = ran
            .points()
            .filter(|p| p.name("operation") == Some("chase"));
        requested
            .find(|p| p.number("size_bytes") == Some(bytes))
            .and_then(|p| p.name("level"))
            .map(str::to_owned)
    };
    assert_eq!(
        (level(512 << 20).as_deref(), level(2 << 30).as_deref()),
        (Some("between"), Some("DRAM"))
    );
    let said = texts(&ran, "memory-size");
    assert!(
        said.len() == 1 && said[0].starts_with("Memory begins past the last-level cache of"),
        "{said:?}"
    );
    // Without the experiment `caches`, the effective capacity is unknown.
    let ran = lab::run(
        &with(&THREE, 95.0),
        request(vec![lab::latency("--sizes 8MiB")], &with(&THREE, 95.0)),
    );
    assert_eq!(
        ran.measured("operation=chase level=L3 pages=thp")
            .evidence
            .measured_last_level_bytes,
        None
    );
}

#[test]
fn what_cannot_be_requested_is_refused() {
    let on = with(&TWO, 95.0);
    for (options, words) in [
        (
            "--max-size 1KiB",
            "largest working set not possible: 1 KiB; 32 KiB to the 24 GiB that may be used",
        ),
        ("--max-size 1TiB", "largest working set not possible: 1 TiB"),
        ("--cpu 9", "cpu not available: 9"),
    ] {
        let error = lab::plan(&on, request(vec![caches(options)], &on))
            .err()
            .expect("a refusal");
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn the_default_profile_finds_where_caches_end_and_says_nothing_of_what_it_did_not_ask() {
    use experiments::{Detail, EXPERIMENTS};
    let row = EXPERIMENTS
        .iter()
        .find(|row| row.name == "caches")
        .expect("a row");
    for levels in [&TWO[..], &THREE] {
        let on = with(levels, 95.0);
        let requested = Request {
            sampling: lab::sampling(),
            ..request(vec![(row.in_profile)(Detail::Levels)], &on)
        };
        let ran = lab::run(&on, requested);
        assert_found(&ran, levels, 95.0, "in the profile");
        assert!(ran.plan.estimate <= Nanos(8e9), "{:?}", ran.plan.estimate);
        assert!(
            ran.report.datasets[0].auxiliary && ran.plan.memory() <= Bytes::mib(300),
            "{}",
            ran.plan.memory()
        );
        let kinds: Vec<&str> = ran
            .report
            .findings
            .iter()
            .map(|f| f.kind.as_str())
            .collect();
        let not_requested = [
            "cache-ways-unknown",
            "cache-sharing-unknown",
            "cache-line",
            "cache-ways",
        ];
        assert!(
            !kinds.iter().any(|kind| not_requested.contains(kind)),
            "{kinds:?}"
        );
    }
}
