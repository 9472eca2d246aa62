//! Tests that the TLBs of simulated machines are found and none is invented, and that chains take
//! no more memory than the largest one.

use super::lab::{self, Ran, latency, request, tlb};
use super::machines::{self, PAGE_WALK, Simulated};
use experiments::{Detail, EXPERIMENTS};
use memgauge::plan::Request;
use report::{Fact, Finding, HugePool, Outcome, Point};
use simulated::TlbLevel;
use units::error::Kind;
use units::{Bytes, Nanos};

/// TLBs of the machine, nearest first: entries for base pages, entries for larger pages, and the
/// cost of a miss in ns.
const TLBS: [(u64, u64, f64); 3] = [(64, 32, 2.0), (1536, 1024, 9.0), (10000, 1500, 20.0)];

/// Two cores with the first `count` of these TLBs.
fn with(count: usize) -> Simulated {
    let mut on = machines::plain();
    on.model.tlb_reach = Bytes(u64::MAX);
    let level = |&(entries, huge, miss): &(u64, u64, f64)| TlbLevel {
        entries,
        huge,
        miss: Nanos(miss),
    };
    on.model.tlbs = TLBS.iter().take(count).map(level).collect();
    on
}

fn run(on: &Simulated, options: &str) -> Ran {
    lab::run(on, request(vec![tlb(options)], on))
}

fn of_kind<'a>(ran: &'a Ran, kind: &str) -> Vec<&'a Finding> {
    ran.report
        .findings
        .iter()
        .filter(|f| f.kind == kind)
        .collect()
}

/// Levels of TLBs that the findings report for pages of `page`: fewest entries, most entries, and
/// the cost of a miss in ns.
fn levels(ran: &Ran, page: Bytes) -> Vec<(u64, u64, f64)> {
    let here = of_kind(ran, "tlb-level")
        .into_iter()
        .filter(|f| f.values["page_bytes"] == page.0 as f64);
    let number = |f: &Finding, name: &str| f.values[name] as u64;
    here.map(|f| {
        (
            number(f, "entries_at_least"),
            number(f, "entries_below"),
            f.values["miss_ns"],
        )
    })
    .collect()
}

fn assert_levels(found: &[(u64, u64, f64)], expected: &[(u64, u64, f64)], what: &str) {
    let same = |(a, b): (&(u64, u64, f64), &(u64, u64, f64))| {
        (a.0, a.1) == (b.0, b.1) && (a.2 - b.2).abs() < 0.01 + 0.02 * b.2
    };
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(same),
        "{what}: {found:?}"
    );
}

#[test]
fn a_level_is_one_sentence_with_its_numbers() {
    let ran = run(&with(2), "--pages 4k");
    let texts: Vec<&str> = of_kind(&ran, "tlb-level")
        .iter()
        .map(|f| f.text.as_str())
        .collect();
    let expected = [
        "First-level TLB for 4 KiB pages: 64 to 76 entries (reach 256 KiB), a miss costs 2.0 ns \
         (2.0 to 2.0).",
        "Second-level TLB for 4 KiB pages: 1448 to 1722 entries (reach 5.7 MiB), a miss costs 9.0 \
         ns (9.0 to 9.0).",
    ];
    assert_eq!(texts, expected);
    assert!(
        !ran.has_finding("tlb-rejected") && !ran.has_finding("tlb-none"),
        "{:?}",
        ran.report.findings
    );
    assert_eq!(of_kind(&ran, "tlb-level")[1].values["level"], 2.0);
}

#[test]
fn none_to_three_levels_in_small_and_large_pages() {
    let base = [(64, 76, 2.0), (1448, 1722, 9.0), (9742, 11585, 20.0)];
    let large = [(32, 38, 2.0), (1024, 1218, 9.0), (1448, 1722, 20.0)];
    for count in 0..=3 {
        let ran = run(&with(count), "");
        assert_levels(&levels(&ran, Bytes::kib(4)), &base[..count], "4 KiB");
        // The third TLB is so near to the end of the measured range that nothing can confirm it.
        assert_levels(
            &levels(&ran, Bytes::mib(2)),
            &large[..count.min(2)],
            "2 MiB",
        );
        assert_eq!(
            of_kind(&ran, "tlb-none").len(),
            if count == 0 { 2 } else { 0 }
        );
        assert!(ran.points().all(|p| p.outcome.measured().is_some()));
    }
}

#[test]
fn base_pages_are_those_of_the_kernel() {
    for (base, most) in [(4, 65536), (16, 65536), (64, 16384)] {
        let mut on = with(2);
        on.facts.pages.base = Bytes::kib(base);
        let ran = run(&on, "--pages 4k");
        let page = Bytes::kib(base);
        assert_levels(
            &levels(&ran, page),
            &[(64, 76, 2.0), (1448, 1722, 9.0)],
            &page.to_string(),
        );
        assert_eq!(
            ran.points().filter_map(|p| p.number("entries")).max(),
            Some(most)
        );
        let text = &of_kind(&ran, "tlb-level")[0].text;
        assert!(text.contains(&format!("for {base} KiB pages")), "{text}");
    }
}

#[test]
fn caches_neither_hide_levels_nor_make_them() {
    // Both chains exceed L1 after 768 nodes, and L2 after 16384 nodes. If a miss costs less than
    // half of the cache's step at this place, it could be the cache's.
    for (entries, miss) in [(700, 2.0), (768, 2.0), (900, 2.0), (17000, 20.0)] {
        let mut on = with(1);
        on.model.tlbs[0].entries = entries;
        on.model.tlbs[0].miss = Nanos(miss);
        let found = levels(&run(&on, "--pages 4k"), Bytes::kib(4));
        assert!(
            found.len() == 1 && found[0].0 <= entries && entries < found[0].1,
            "{entries}: {found:?}"
        );
    }
    let mut on = with(0);
    on.model.partial_hits = true;
    let ran = run(&on, "");
    assert!(
        !ran.has_finding("tlb-level") && !ran.has_finding("tlb-rejected"),
        "{:?}",
        ran.report.findings
    );
}

#[test]
fn the_entries_of_tlbs_that_wear_off_lie_between_where_they_begin_to_and_half_of_it() {
    let mut on = with(2);
    on.model.partial_hits = true;
    let found = levels(&run(&on, "--pages 4k"), Bytes::kib(4));
    let ranges: Vec<(u64, u64)> = found.iter().map(|f| (f.0, f.1)).collect();
    // With random replacement, half of the entries are lost when twice as many pages are used.
    assert_eq!(ranges, [(64, 128), (1448, 2896)], "{found:?}");
}

#[test]
fn noise_neither_hides_nor_adds_levels() {
    for (jitter, spike_every) in [(0.02, 0), (0.2, 7)] {
        let mut on = with(2);
        (on.model.noise.jitter, on.model.noise.spike_every) = (jitter, spike_every);
        let found = levels(&run(&on, "--pages 4k"), Bytes::kib(4));
        assert!(found.len() == 2, "{jitter}: {found:?}");
        for ((last, first, _), (entries, _, _)) in found.iter().zip(TLBS) {
            assert!(*last <= entries && entries <= *first, "{jitter}: {found:?}");
        }
        let mut on = with(0);
        (on.model.noise.jitter, on.model.noise.spike_every) = (jitter, spike_every);
        assert!(!run(&on, "--pages 4k").has_finding("tlb-level"), "{jitter}");
    }
}

#[test]
fn one_tlb_is_one_level_whatever_the_caches_and_the_pages() {
    for base in [4, 64] {
        for (first, second) in [(16, 1024), (48, 512), (128, 4096)] {
            let mut on = with(1);
            on.facts.pages.base = Bytes::kib(base);
            for cache in &mut on.facts.topology.caches {
                match cache.level {
                    1 => cache.size = Bytes::kib(first),
                    2 => cache.size = Bytes::kib(second),
                    _ => {}
                }
            }
            let ran = run(&on, "--pages 4k");
            assert_levels(
                &levels(&ran, Bytes::kib(base)),
                &[(64, 76, 2.0)],
                &format!("{first} KiB and {second} KiB, {base} KiB pages"),
            );
        }
    }
}

#[test]
fn a_second_step_below_the_first_is_a_slower_walk() {
    let mut on = with(2);
    on.model.tlbs[0].miss = Nanos(14.0);
    on.model.tlbs[1].miss = Nanos(1.2);
    let ran = run(&on, "--pages 4k");
    assert_levels(&levels(&ran, Bytes::kib(4)), &[(64, 76, 14.0)], "a walk");
    let text = &of_kind(&ran, "tlb-rejected")[0].text;
    assert!(
        text.contains("1.2 ns from 1448 to 1722 (less than a miss in the TLB before it)"),
        "{text}"
    );
}

#[test]
fn the_simple_model_of_page_walks_is_a_tlb_of_one_level() {
    let ran = run(&machines::plain(), "--pages 4k");
    assert_levels(
        &levels(&ran, Bytes::kib(4)),
        &[(1448, 1722, PAGE_WALK)],
        "6 MiB",
    );
}

#[test]
fn huge_pages_that_were_not_granted_say_nothing() {
    let mut on = with(2);
    on.model.granted = 0.12;
    let ran = run(&on, "--pages thp");
    assert!(
        !ran.has_finding("tlb-level") && !ran.has_finding("tlb-none"),
        "{:?}",
        ran.report.findings
    );
    let text = &of_kind(&ran, "tlb-pages")[0].text;
    assert_eq!(
        text,
        "Only 12% of the memory (thp) is in huge pages: their TLBs do not show."
    );
}

#[test]
fn every_density_has_its_grid() {
    let mut all = Vec::new();
    for density in ["low", "medium", "high"] {
        let ran = run(
            &with(1),
            &format!("--pages 4k --max-pages 512 --density {density}"),
        );
        all.push((ran.points().count(), levels(&ran, Bytes::kib(4))[0]));
    }
    let places: Vec<usize> = all.iter().map(|(count, _)| count / 4).collect();
    assert_eq!(places, [13, 25, 48]);
    let ranges: Vec<(u64, u64)> = all.iter().map(|(_, found)| (found.0, found.1)).collect();
    assert_eq!(ranges, [(64, 91), (64, 76), (64, 70)]);
}

#[test]
fn no_more_memory_than_the_largest_chain_needs() {
    let on = with(2);
    let ran = run(&on, "");
    let base = 256 << 20;
    let large = 2048 * (2 << 20);
    let memory = ran.plan.memory().0;
    assert!(
        memory >= base + large && memory <= base + large + (16 << 20),
        "{memory}"
    );
    assert!(ran.plan.batches().all(|batch| batch.chains_share) && ran.plan.batches().count() == 1);
    // If the memory of two kinds of pages does not fit at once, the kinds are measured one after
    // the other.
    let mut on = with(2);
    on.facts.memory.usable = Fact::known(Bytes(large + (8 << 20)), "simulated");
    let ran = run(&on, "");
    assert_eq!(ran.plan.batches().count(), 2);
    assert!(ran.points().all(|p| p.outcome.measured().is_some()));
}

#[test]
fn other_experiments_keep_their_chains() {
    let on = with(2);
    let ran = lab::run(
        &on,
        request(
            vec![
                latency("--sizes 16KiB,1MiB"),
                tlb("--pages 4k --density low"),
            ],
            &on,
        ),
    );
    let share: Vec<bool> = ran.plan.batches().map(|batch| batch.chains_share).collect();
    assert_eq!(share, [false, true]);
    assert_eq!(levels(&ran, Bytes::kib(4)).len(), 2);
}

#[test]
fn what_does_not_fit_is_skipped_and_said() {
    for usable in [Bytes::mib(144), Bytes::mib(20)] {
        let mut on = with(2);
        on.facts.memory.usable = Fact::known(usable, "simulated");
        let ran = run(&on, "");
        let mut skipped = 0;
        for point in ran.points() {
            match &point.outcome {
                Outcome::Measured(_) => {}
                Outcome::Skipped { reason } => {
                    assert!(
                        reason.contains(&format!("do not fit into the {usable} that may be used")),
                        "{reason}"
                    );
                    skipped += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(skipped > 0 && ran.plan.memory() <= usable);
        assert_eq!(levels(&ran, Bytes::kib(4)).len(), 2, "{usable}");
        let largest = ran
            .points()
            .filter(|p| p.name("pages") == Some("thp") && p.outcome.measured().is_some());
        assert!(
            largest
                .filter_map(|p| p.number("entries"))
                .max()
                .is_none_or(|n| n << 21 < usable.0)
        );
    }
}

#[test]
fn reserved_pages_are_requested_where_there_are_some() {
    let mut on = with(1);
    let pool = HugePool {
        size: Bytes::mib(2),
        total: 200,
        free: 128,
    };
    let gigantic = HugePool {
        size: Bytes::gib(1),
        total: 4,
        free: 4,
    };
    let none_left = HugePool {
        size: Bytes::gib(16),
        total: 4,
        free: 0,
    };
    on.facts.pages.huge_pools = Fact::known(vec![pool, gigantic, none_left], "simulated");
    let ran = run(&on, "");
    let in_pages = |name: &str| {
        ran.points()
            .filter(|p| p.name("pages") == Some(name))
            .collect::<Vec<_>>()
    };
    let first: Vec<u64> = in_pages("huge-1GiB")
        .iter()
        .filter_map(|p| p.number("entries"))
        .collect();
    assert_eq!(first.first(), Some(&2), "a gigantic page is one of few");
    assert!(in_pages("huge-16GiB").is_empty());
    let huge = || in_pages("huge-2MiB").into_iter();
    let skipped = |p: &&Point| {
        matches!(&p.outcome, Outcome::Skipped { reason } if reason.contains("128 \
         are free"))
    };
    // Spread chains of 128 pages and more also need memory for their alignment.
    assert!(
        huge()
            .filter(skipped)
            .filter_map(|p| p.number("entries"))
            .min()
            == Some(128)
    );
    assert_eq!(
        huge()
            .filter(|p| p.outcome.measured().is_some())
            .filter_map(|p| p.number("entries"))
            .max(),
        Some(108)
    );
    let found = of_kind(&ran, "tlb-level")
        .into_iter()
        .filter(|f| f.values["page_bytes"] == (2 << 20) as f64);
    let texts: Vec<&str> = found.map(|f| f.text.as_str()).collect();
    assert!(
        texts.len() == 2
            && texts[0].contains("2 MiB pages (thp):")
            && texts[1].contains("2 MiB pages (huge-2MiB):")
    );
}

#[test]
fn few_rounds_say_nothing() {
    let on = with(1);
    let sampling = lab::sampling().exactly(4);
    let few = Request {
        sampling,
        samples_fixed: true,
        ..request(vec![tlb("--pages 4k --density low")], &on)
    };
    let ran = lab::run(&on, few);
    assert!(
        ran.has_finding("tlb-rounds") && !ran.has_finding("tlb-level"),
        "{:?}",
        ran.report.findings
    );
}

#[test]
fn each_cpu_has_its_own_sentence() {
    let ran = run(&with(1), "--pages 4k --cpu 0,1 --density low");
    let texts: Vec<&str> = of_kind(&ran, "tlb-level")
        .iter()
        .map(|f| f.text.as_str())
        .collect();
    assert!(
        texts.len() == 2 && texts[0].contains("pages on CPU 0:") && texts[1].contains("on CPU 1:"),
        "{texts:?}"
    );
}

#[test]
fn a_chain_that_cannot_be_told_is_refused() {
    let on = with(1);
    let error = lab::plan(&on, request(vec![tlb("--max-pages 7")], &on))
        .err()
        .expect("a refusal");
    assert_eq!(error.kind(), Kind::Usage);
    assert!(error.to_string().contains("too few pages: 7"), "{error}");
    let few = Request {
        max_points: 100,
        ..request(vec![tlb("")], &on)
    };
    assert!(
        lab::plan(&on, few)
            .err()
            .expect("a refusal")
            .to_string()
            .contains("too many points")
    );
}

#[test]
fn profiles_look_closely_where_there_is_time() {
    use experiments::EXPERIMENTS;
    let row = EXPERIMENTS
        .iter()
        .find(|row| row.name == "tlb")
        .expect("a row");
    let on = with(2);
    let points = |detail: Detail| {
        let plan = lab::plan(&on, request(vec![(row.in_profile)(detail)], &on)).expect("a plan");
        plan.points.len()
    };
    assert!(points(Detail::Levels) < points(Detail::Sweep));
}

#[test]
fn the_default_profile_finds_levels_in_little_time_and_does_not_count_the_points() {
    for (dtlb, stlb) in [(64, 1536), (96, 3072)] {
        let mut on = with(2);
        let level = |entries, miss| TlbLevel {
            entries,
            huge: entries,
            miss: Nanos(miss),
        };
        on.model.tlbs = vec![level(dtlb, 2.0), level(stlb, 9.0)];
        on.model.noise.jitter = 0.02;
        let rows = EXPERIMENTS
            .iter()
            .filter(|row| ["latency", "tlb"].contains(&row.name));
        let ran = lab::run(
            &on,
            request(
                rows.map(|row| (row.in_profile)(Detail::Levels)).collect(),
                &on,
            ),
        );
        let found = levels(&ran, Bytes::kib(4));
        let holds =
            |(low, high, _): (u64, u64, f64), entries: u64| low <= entries && entries <= high;
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(holds(found[0], dtlb) && holds(found[1], stlb), "{found:?}");
        let chases = ran
            .report
            .datasets
            .iter()
            .find(|d| d.experiment == "latency")
            .expect("latency")
            .points
            .len() as u64;
        assert_eq!(ran.report.verdict.points.values().sum::<u64>(), chases);
        let tlb = ran
            .plan
            .batches()
            .find(|batch| batch.chains_share)
            .expect("chains that are built anew");
        assert!(tlb.estimate.secs() < 5.0, "{}", tlb.estimate);
        // The few rounds of the spread chains are distributed over the whole batch.
        let rounds = |p: &Point| lab::measured(p).samples.iter().map(|s| s.round).max();
        assert!(
            ran.points()
                .filter(|p| p.name("operation") == Some("spread"))
                .all(|p| rounds(p) >= Some(5))
        );
    }
}
