//! Tests that measured values agree with the cost model, for every way of counting bytes.

use super::lab::{self, Ran, bandwidth, latency, profile, request};
use super::machines::{self, CORE, LATENCY, MEMORY_TOTAL, PAGE_WALK, READ};
use experiments::Detail;
use report::{PortWidth, VerdictGrade};

fn assert_close(value: f64, expected: f64, what: &str) {
    assert!(
        (value / expected - 1.0).abs() < 1e-4,
        "{what}: {value} instead of {expected}"
    );
}

fn default_profile() -> Ran {
    let on = machines::plain();
    lab::run(&on, profile(Detail::Levels, &on))
}

#[test]
fn bandwidth_is_that_of_the_level() {
    let ran = default_profile();
    for threads in [1.0, 2.0] {
        for (level, read) in ["L1", "L2", "L3"].iter().zip(READ) {
            let at = |operation: &str| {
                ran.median(&format!(
                    "operation={operation} level={level} threads={threads}"
                ))
            };
            assert_close(at("read"), read * threads, level);
            assert_close(at("write"), read * threads / 2.0, level);
            assert_close(at("copy"), read * threads, level);
        }
    }
    // A store that misses reads its line first. In memory, this is half of the traffic of a write,
    // and a third of the traffic of a copy.
    let one = |operation: &str| ran.median(&format!("operation={operation} level=DRAM threads=1"));
    assert_close(one("read"), READ[3], "read");
    assert_close(one("write"), READ[3] / 4.0, "write");
    assert_close(one("write-nt"), READ[3] / 2.0, "write-nt");
    assert_close(one("copy"), READ[3] * 2.0 / 3.0, "copy");
    assert_close(one("copy-nt"), READ[3], "copy-nt");
    assert_close(
        ran.median("operation=read level=DRAM threads=2"),
        MEMORY_TOTAL,
        "read",
    );
}

#[test]
fn other_conventions_follow_from_the_contract() {
    let ran = default_profile();
    // The factors are the payload per byte counted once, and the bytes on the bus per byte counted
    // once.
    let factors = [
        ("read", 1.0, 1.0),
        ("write", 1.0, 2.0),
        ("write-nt", 1.0, 1.0),
        ("copy", 2.0, 3.0),
        ("copy-nt", 2.0, 2.0),
    ];
    for (operation, payload, bus) in factors {
        let m = ran.measured(&format!("operation={operation} level=DRAM threads=1"));
        assert_close(
            m.also["single_count"],
            m.summary.median / payload,
            operation,
        );
        assert_close(
            m.also["bus_estimate"],
            m.summary.median / payload * bus,
            operation,
        );
    }
}

#[test]
fn latency_is_that_of_the_level_and_cycles_are_those_of_the_core() {
    let ran = default_profile();
    for (level, nanos) in machines::LEVELS.iter().zip(LATENCY) {
        let m = ran.measured(&format!("operation=chase level={level} pages=thp"));
        assert_close(m.summary.median, nanos, level);
        assert_close(m.also["core_cycles"], nanos * CORE / 1e9, level);
    }
    assert_close(
        ran.median("operation=chase level=DRAM pages=4k chain_mode=global-random"),
        LATENCY[3] + PAGE_WALK,
        "4k",
    );
}

#[test]
fn page_walks_are_paid_beyond_the_reach_only() {
    let on = machines::plain();
    let ran = lab::run(
        &on,
        request(vec![latency("--sizes 4MiB,8MiB --pages 4k,thp")], &on),
    );
    let at =
        |size: u64, pages: &str| ran.median(&format!("size_bytes={} pages={pages}", size << 20));
    for (size, pages) in [(4, "4k"), (4, "thp"), (8, "thp")] {
        assert_close(at(size, pages), LATENCY[2], pages);
    }
    assert_close(at(8, "4k"), LATENCY[2] + PAGE_WALK, "4k");
}

#[test]
fn findings_carry_the_numbers_of_the_points() {
    let ran = default_profile();
    assert_close(
        ran.finding("page-walk-cost", "base_pages_ns"),
        LATENCY[3] + PAGE_WALK,
        "base pages",
    );
    assert_close(
        ran.finding("page-walk-cost", "huge_pages_ns"),
        LATENCY[3],
        "huge pages",
    );
    assert_close(ran.finding("memory-scaling", "one"), READ[3], "one");
    assert_close(ran.finding("memory-scaling", "all"), MEMORY_TOTAL, "all");
    let ratio = ran.finding("non-temporal-stores", "non_temporal")
        / ran.finding("non-temporal-stores", "ordinary");
    assert_close(ratio, 2.0, "non-temporal");
    let ratio = ran.finding("whole-line-stores", "whole_lines")
        / ran.finding("whole-line-stores", "ordinary");
    assert_close(ratio, 2.0, "whole lines");
}

#[test]
fn base_pages_are_called_what_they_are() {
    let mut on = machines::large_base_pages();
    on.model.granted = 1.0;
    let ran = lab::run(&on, profile(Detail::Levels, &on));
    let text = ran
        .report
        .findings
        .iter()
        .find(|f| f.kind == "page-walk-cost")
        .map(|f| f.text.clone());
    assert!(
        text.as_ref().is_some_and(|t| t.contains("16 KiB pages,")),
        "{text:?}"
    );
    // Without huge pages there is no comparison with base pages.
    let on = machines::large_base_pages();
    let ran = lab::run(&on, profile(Detail::Levels, &on));
    assert!(!ran.has_finding("page-walk-cost"));
    assert!(ran.has_finding("no-huge-pages"));
}

#[test]
fn one_thread_has_nothing_to_scale_against() {
    let on = machines::one_allowed();
    let ran = lab::run(&on, profile(Detail::Levels, &on));
    assert!(!ran.has_finding("memory-scaling"));
    assert!(ran.points().all(|p| lab::measured(p).evidence.cpus == [37]));
}

#[test]
fn each_thread_of_many_has_its_own_cache() {
    let on = machines::eight_nodes();
    let ran = lab::run(&on, profile(Detail::Brief, &on));
    for (level, read) in ["L1", "L2", "L3"].iter().zip(READ) {
        assert_close(
            ran.median(&format!("operation=read level={level} threads=64")),
            read * 64.0,
            level,
        );
    }
    let m = ran.measured("operation=read level=DRAM threads=64");
    assert_eq!(m.evidence.pages.nodes, Some((0..8).collect()));
    assert_eq!(m.evidence.last_level_cache_bytes, Some(256 << 20));
}

#[test]
fn more_than_the_ports_carry_is_rejected() {
    let mut on = machines::plain();
    // 200 GB/s at 4 GHz are 50 bytes per cycle.
    on.facts.cpu.l1_ports.value = Some(PortWidth {
        load_bytes: 32,
        store_bytes: 64,
    });
    let ran = lab::run(
        &on,
        request(vec![bandwidth("--sizes 16KiB,1MiB --ops read,write")], &on),
    );
    for threads in [1, 2] {
        let read = ran.measured(&format!("operation=read level=L1 threads={threads}"));
        assert_eq!(read.verdict.grade, VerdictGrade::Rejected);
        assert_close(
            read.limit.as_ref().unwrap().value,
            32.0 * CORE * f64::from(threads),
            "limit",
        );
        let write = ran.measured(&format!("operation=write level=L1 threads={threads}"));
        assert_eq!(write.verdict.grade, VerdictGrade::Solid);
    }
    assert!(
        ran.points()
            .filter(|p| p.name("level") != Some("L1"))
            .all(|p| lab::measured(p).limit.is_none())
    );
}
