//! Tests chains of every shape on simulated time.

use super::lab::{self, latency, profile, request};
use super::machines::{self, LATENCY, PAGE_WALK, Simulated};
use engine::{
    Baselines, ChainShape, ChaseWork, Machine, MemoryPlan, PointLog, Sampling, Work, sample_round,
};
use experiments::{Detail, Experiment};
use host::memory::{PageMode, Place};
use render::{Options, by_name};
use report::{Outcome, VerdictGrade};
use units::{Bytes, Nanos};

fn assert_close(value: f64, expected: f64, what: &str) {
    assert!(
        (value / expected - 1.0).abs() < 1e-3,
        "{what}: {value} instead of {expected}"
    );
}

fn run(experiment: Box<dyn Experiment>) -> lab::Ran {
    let on = machines::plain();
    lab::run(&on, request(vec![experiment], &on))
}

#[test]
fn every_mode_is_a_point_with_the_cost_of_its_shape() {
    let modes = "global-random,random-box,same-random-in-box,diff-random-in-box,sequential";
    let ran = run(latency(&format!(
        "--sizes 256MiB --pages 4k --chain-mode {modes}"
    )));
    assert_close(
        ran.median("chain_mode=global-random"),
        LATENCY[3] + PAGE_WALK,
        "pages are looked for",
    );
    for mode in ["random-box", "same-random-in-box", "diff-random-in-box"] {
        assert_close(ran.median(&format!("chain_mode={mode}")), LATENCY[3], mode);
        assert_eq!(
            ran.point(&format!("chain_mode={mode}"))
                .number("window_bytes"),
            Some(1 << 20)
        );
    }
    assert_close(
        ran.median("chain_mode=sequential"),
        LATENCY[3] / 8.0,
        "prefetched",
    );
    for mode in ["global-random", "sequential"] {
        assert!(
            !ran.point(&format!("chain_mode={mode}"))
                .coordinates
                .contains_key("window_bytes"),
            "{mode}"
        );
    }
    assert_eq!(ran.points().count(), 5);
}

#[test]
fn windows_beyond_the_reach_of_the_tlb_pay_for_pages() {
    let at = |locality: &str| {
        let ran = run(latency(&format!(
            "--sizes 256MiB --pages 4k --chain-mode random-box --locality {locality}"
        )));
        ran.median("chain_mode=random-box")
    };
    assert_close(at("4KiB"), LATENCY[3], "a page");
    assert_close(at("6MiB"), LATENCY[3], "all that the TLB covers");
    assert_close(at("8MiB"), LATENCY[3] + PAGE_WALK, "more than that");
}

#[test]
fn the_window_is_an_axis_where_there_is_one() {
    let axes = |options: &str| -> Vec<String> {
        latency(options)
            .axes()
            .into_iter()
            .map(|axis| axis.name)
            .collect()
    };
    let has = |options: &str, name: &str| axes(options).contains(&name.to_owned());
    assert!(has("", "chain_mode") && !has("", "window_bytes"));
    assert!(has("--chain-mode sequential,random-box", "window_bytes"));
    assert!(!has("--chain-mode sequential", "window_bytes"));
}

#[test]
fn the_default_window_is_whole_nodes() {
    let window = |options: &str| {
        run(latency(options))
            .point("chain_mode=random-box")
            .number("window_bytes")
    };
    assert_eq!(
        window("--chain-mode random-box --sizes 4MiB --stride 96"),
        Some((1 << 20) / 96 * 96)
    );
    assert_eq!(
        window("--chain-mode random-box --sizes 8MiB --stride 1MiB"),
        Some(2 << 20)
    );
}

#[test]
fn windows_that_are_not_possible_are_refused() {
    let on = machines::plain();
    let refused = |options: &str, words: &[&str]| {
        let text = lab::plan(&on, request(vec![latency(options)], &on))
            .err()
            .expect(options)
            .to_string();
        assert!(
            words.iter().all(|word| text.contains(word)),
            "{options}: {text}"
        );
    };
    for (locality, advice) in [("0", "128"), ("64", "128"), ("100", "128"), ("200", "192")] {
        let options = format!("--chain-mode random-box --locality {locality}");
        let given = format!("window not possible: {locality} B");
        refused(
            &options,
            &[
                &given,
                "a multiple of the stride of 64 B",
                &format!("--locality {advice}"),
            ],
        );
    }
    refused(
        "--stride 4KiB --chain-mode random-box,sequential --locality 4KiB",
        &["two nodes or more"],
    );
}

fn packed_points(on: &Simulated, detail: Detail) -> Vec<String> {
    let plan = lab::plan(on, profile(detail, on)).expect("a plan");
    let packed = plan
        .points
        .iter()
        .filter(|p| p.coordinates.contains_key("window_bytes"));
    packed
        .map(|p| format!("{} {}", p.coordinates["level"], p.coordinates["pages"]))
        .collect()
}

#[test]
fn memory_is_measured_packed_once_in_the_profiles_that_look_at_pages() {
    let on = machines::plain();
    assert!(packed_points(&on, Detail::Brief).is_empty());
    assert_eq!(packed_points(&on, Detail::Levels), ["DRAM 4k"]);
    assert_eq!(packed_points(&on, Detail::Sweep), ["DRAM 4k"]);
    // Chains of gigabytes take seconds to build. The default profile has no time for them.
    let large = machines::large_l3_vm();
    assert!(packed_points(&large, Detail::Levels).is_empty());
    assert_eq!(packed_points(&large, Detail::Sweep), ["DRAM 4k"]);
}

#[test]
fn the_finding_has_memory_in_three_figures() {
    let on = machines::plain();
    let ran = lab::run(&on, profile(Detail::Levels, &on));
    let figure = |name: &str| ran.finding("page-walk-cost", name);
    assert_close(
        figure("base_pages_ns"),
        LATENCY[3] + PAGE_WALK,
        "base pages",
    );
    assert_close(figure("huge_pages_ns"), LATENCY[3], "huge pages");
    assert_close(figure("packed_ns"), LATENCY[3], "packed");
    let text = &ran
        .report
        .findings
        .iter()
        .find(|f| f.kind == "page-walk-cost")
        .expect("a finding")
        .text;
    let words =
        "add 30.0 ns (95% CI 30 to 30) to a memory load: 125.0 ns with 4 KiB pages, 95.0 ns with";
    assert!(text.contains(words), "{text}");
}

#[test]
fn without_huge_pages_the_packed_order_says_what_pages_cost_at_most() {
    let mut on = machines::plain();
    on.model.granted = 0.0;
    let ran = lab::run(&on, profile(Detail::Levels, &on));
    assert!(!ran.has_finding("page-walk-cost"));
    assert_close(
        ran.finding("page-locality", "base_pages_ns"),
        LATENCY[3] + PAGE_WALK,
        "base pages",
    );
    assert_close(
        ran.finding("page-locality", "packed_ns"),
        LATENCY[3],
        "packed",
    );
}

/// Latency of a chain over `pages` pages of `page` bytes, with one node in each page.
fn one_per_page(pages: u64, page: u64, mode: PageMode) -> f64 {
    let mut machine = machines::plain().machine(1);
    let work = Work::Chase(ChaseWork {
        pages: mode,
        cpus: vec![0],
        shared: false,
        node: None,
        bytes: Bytes(pages * page),
        stride: Bytes(64),
        shape: ChainShape::OnePerPage(Bytes(page)),
        seed: 1,
        walkers: 1,
        payload: false,
    });
    assert_eq!(
        (work.working_set(), work.pass()),
        (Bytes(pages * 64), pages)
    );
    machine
        .map(
            &MemoryPlan::for_works([&work], machine.facts(), false),
            false,
            units::Nanos(f64::INFINITY),
        )
        .expect("memory");
    machine.prepare(&work).expect("a chain");
    let seen = machine
        .sample(&work, Nanos::from_millis(1.0))
        .expect("a sample");
    work.value(seen.amount, seen.elapsed.secs())
}

#[test]
fn nodes_in_pages_of_their_own_fill_a_cache_by_lines_and_the_tlb_by_pages() {
    assert_close(
        one_per_page(512, 4096, PageMode::Base),
        LATENCY[0],
        "32 KiB of lines in 2 MiB of pages",
    );
    assert_close(
        one_per_page(1536, 4096, PageMode::Base),
        LATENCY[1],
        "96 KiB of lines in 6 MiB of pages",
    );
    assert_close(
        one_per_page(2048, 4096, PageMode::Base),
        LATENCY[1] + PAGE_WALK,
        "128 KiB of lines in 8 MiB",
    );
    assert_close(
        one_per_page(2048, 2 << 20, PageMode::Transparent),
        LATENCY[1],
        "huge pages",
    );
}

#[test]
fn memory_lies_on_the_node_requested() {
    let on = machines::eight_nodes();
    let ran = lab::run(
        &on,
        request(vec![latency("--sizes 256MiB --node 5 --cpu 0,63")], &on),
    );
    assert_eq!(ran.points().count(), 2);
    for cpu in [0, 63] {
        let point = ran.point(&format!("cpu={cpu} node=5"));
        let pages = &lab::measured(point).evidence.pages;
        assert_eq!(
            (&pages.nodes, &pages.expected_nodes),
            (&Some(vec![5]), &Some(vec![5]))
        );
        assert_eq!(
            lab::measured(point).verdict.grade,
            VerdictGrade::Solid,
            "{:?}",
            lab::measured(point).verdict
        );
    }
    assert!(
        ran.plan.phases[0].batches[0]
            .memory
            .mappings
            .keys()
            .all(|(_, _, place)| *place == Place::Node(5))
    );
    let refused = lab::plan(&on, request(vec![latency("--node 8")], &on))
        .err()
        .expect("no such node")
        .to_string();
    assert!(
        refused.contains("node not available: 8; nodes with memory are 0-7; type --memory-nodes 0"),
        "{refused}"
    );
}

#[test]
fn memory_that_lies_elsewhere_makes_the_point_fail() {
    let mut on = machines::eight_nodes();
    on.model.nodes.misplaced = Some(3);
    for (options, node) in [
        ("--sizes 256MiB --node 5", 5),
        ("--sizes 256MiB --node 3", 3),
    ] {
        let ran = lab::run(&on, request(vec![latency(options)], &on));
        let outcome = &ran.points().next().expect("a point").outcome;
        match node {
            3 => assert_eq!(
                outcome.measured().expect("a figure").verdict.grade,
                VerdictGrade::Solid
            ),
            _ => {
                assert!(matches!(outcome, Outcome::Failed { .. }), "{outcome:?}");
                assert_eq!(
                    lab::reasons(outcome),
                    "65536 of 65536 pages lie on other nodes (3); node 5 was requested"
                );
            }
        }
    }
}

#[test]
fn the_row_of_memory_shows_random_order_even_where_packed_is_faster() {
    let on = machines::plain();
    let mut report = lab::run(&on, profile(Detail::Levels, &on)).report;
    let points = report.datasets.iter_mut().flat_map(|d| &mut d.points);
    for point in points.filter(|p| p.coordinates.contains_key("window_bytes")) {
        let Outcome::Measured(measured) = &mut point.outcome else {
            panic!("{point:?}")
        };
        measured.summary.median = 7.77;
    }
    for format in ["table", "sc-membench"] {
        let bytes = by_name(format)
            .expect(format)
            .render(&report, &Options::default())
            .expect(format);
        let text = String::from_utf8(bytes).expect("text");
        assert!(
            !text.contains("7.77") && text.contains("95"),
            "{format}: {text}"
        );
    }
}

#[test]
fn chains_come_into_the_caches_right_before_they_are_sampled_and_again_where_others_could_take_them()
 {
    let sampling = Sampling {
        length: Nanos::from_millis(1.0),
        in_memory: 1.0,
        per_round: 8,
        rounds: 1,
        target: 0.0,
        most: None,
    };
    for (bytes, fills) in [
        (Bytes::kib(32), 1),
        (Bytes::mib(1), 1),
        (Bytes::mib(8), 2),
        (Bytes::mib(256), 1),
    ] {
        let mut machine = machines::plain().machine(1);
        let work = Work::Chase(ChaseWork {
            pages: PageMode::Transparent,
            cpus: vec![0],
            shared: false,
            node: None,
            bytes,
            stride: Bytes(64),
            shape: ChainShape::GlobalRandom,
            seed: 1,
            walkers: 1,
            payload: false,
        });
        machine
            .map(
                &MemoryPlan::for_works([&work], machine.facts(), false),
                false,
                units::Nanos(f64::INFINITY),
            )
            .expect("memory");
        sample_round(
            &mut machine,
            &mut Baselines::default(),
            &work,
            &sampling,
            &mut PointLog::default(),
            Nanos(f64::INFINITY),
        );
        let all = machine.samples();
        let [filled, looked] = &machine.calls;
        assert_eq!(
            looked,
            &[0, all],
            "{bytes}: the system is read before and after, with nothing between"
        );
        assert_eq!((filled.len(), filled[0]), (fills, 0), "{bytes}");
        // Neighbours could evict lines during the samples, so the samples follow soon after a
        // prefill.
        let last = filled[fills - 1];
        assert!(
            fills < 2 || (all - last <= 8 && last <= 12),
            "{bytes}: {filled:?} of {all}"
        );
    }
}
