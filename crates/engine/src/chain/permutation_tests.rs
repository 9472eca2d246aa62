//! Tests of the cycle and of its randomness.

use super::*;
use std::collections::BTreeSet;

const SEEDS: [u64; 4] = [0, 1, 42, u64::MAX];

/// Sizes at which the order is examined. They lie below and above [`MORE_ROUNDS_BELOW`], and are
/// powers of two and other sizes.
const EXAMINED: [u64; 4] = [1 << 16, 100_000, 300_001, 1 << 20];

/// Successors of all nodes.
fn pointers(cycle: &Cycle) -> Vec<u64> {
    let mut next = vec![0; cycle.nodes as usize];
    cycle.successors(0, &mut next);
    next
}

/// The nodes in the order of the cycle, from node 0.
fn walk(cycle: &Cycle) -> Vec<u64> {
    let pointers = pointers(cycle);
    let successor = |&node: &u64| Some(pointers[node as usize]).filter(|&next| next != 0);
    std::iter::successors(Some(0), successor)
        .take(pointers.len() + 1)
        .collect()
}

fn assert_single_cycle(nodes: u64, seed: u64) {
    let cycle = Cycle::new(nodes, seed);
    let walked = walk(&cycle);
    let mut seen = vec![false; nodes as usize];
    for &node in &walked {
        assert!(
            !std::mem::replace(&mut seen[node as usize], true),
            "{nodes} {seed}: {node} again"
        );
    }
    assert_eq!(walked.len() as u64, nodes, "{nodes} {seed}");
    assert_eq!(
        pointers(&cycle)[walked[walked.len() - 1] as usize],
        0,
        "{nodes} {seed}"
    );
}

#[test]
fn the_order_is_that_of_the_successors_and_arcs_are_places_in_it() {
    for nodes in [1, 2, 3, 64, 1000, 4097] {
        let cycle = Cycle::new(nodes, 9);
        let mut order = cycle.order();
        let all: Vec<u64> = (0..nodes).map(|_| order.next()).collect();
        for (i, &node) in all.iter().enumerate() {
            let mut next = [0];
            cycle.successors(node, &mut next);
            assert_eq!(
                next[0],
                all[(i + 1) % all.len()],
                "after place {i} of {nodes}"
            );
        }
        let arcs: Vec<u64> = (0..4).map(|place| cycle.at(place, 4)).collect();
        let places: Vec<usize> = arcs
            .iter()
            .map(|n| all.iter().position(|m| m == n).unwrap())
            .collect();
        assert!(
            places[0] == 0 && places.windows(2).all(|pair| pair[0] <= pair[1]),
            "{places:?}"
        );
        let near = |(arc, place): (usize, &usize)| {
            place.abs_diff(arc * all.len() / 4) <= all.len() / 8 + 1
        };
        assert!(places.iter().enumerate().all(near), "{places:?} of {nodes}");
    }
}

#[test]
fn every_small_size_is_one_cycle() {
    (1..=300)
        .flat_map(|nodes| SEEDS.map(|seed| (nodes, seed)))
        .for_each(|(n, seed)| assert_single_cycle(n, seed));
}

#[test]
fn large_sizes_are_one_cycle() {
    for nodes in [
        65_535,
        65_536,
        65_537,
        MORE_ROUNDS_BELOW - 1,
        MORE_ROUNDS_BELOW,
        MORE_ROUNDS_BELOW + 1,
    ] {
        SEEDS
            .iter()
            .for_each(|&seed| assert_single_cycle(nodes, seed));
    }
}

#[test]
fn what_is_passed_over_are_the_vacant_states() {
    for nodes in (1..=300).chain([65_537, 100_000]) {
        let cycle = Cycle::new(nodes, 5);
        assert_eq!(nodes + cycle.vacant(), nodes.next_power_of_two());
        assert_eq!(
            cycle.passed_over(0, &pointers(&cycle)),
            u128::from(cycle.vacant()),
            "{nodes}"
        );
        assert_eq!(
            cycle.passed_over(0, &[0]),
            u128::from(nodes.next_power_of_two() - 1)
        );
    }
    assert_eq!(Cycle::new(0, 1).vacant(), 0);
}

#[test]
fn the_largest_sizes_are_inverted() {
    for nodes in [
        u64::from(u32::MAX),
        1 << 32,
        (1 << 32) + 1,
        (1 << 40) - 1,
        1 << 63,
        u64::MAX - 1,
        u64::MAX,
    ] {
        let cycle = Cycle::new(nodes, 7);
        for first in [0, nodes / 3, nodes - BATCH as u64] {
            let mut states = [0; BATCH];
            cycle.states(first, &mut states);
            cycle.mixer.mix(&mut states);
            assert!(
                states.iter().copied().eq(first..first + BATCH as u64),
                "{nodes}"
            );
            let mut next = [0; BATCH];
            cycle.successors(first, &mut next);
            assert!(next.iter().all(|&node| node < nodes), "{nodes}");
        }
    }
}

#[test]
fn vectors_give_what_plain_code_gives() {
    for nodes in [1000, 1 << 20, (1 << 33) + 5] {
        let cycle = Cycle::new(nodes, 9);
        let mut plain = [0; BATCH];
        let mut vectors = [0; BATCH];
        cycle.successors_of_batch(100, &mut plain);
        cycle.successors(100, &mut vectors);
        assert_eq!(plain, vectors, "{nodes}");
        assert_eq!(
            cycle.passed_over_by_batch(100, &plain),
            cycle.passed_over(100, &plain),
            "{nodes}"
        );
    }
}

#[test]
fn seeds_and_sizes_give_different_orders() {
    let first = |nodes, seed| {
        let mut next = vec![0; 64];
        Cycle::new(nodes, seed).successors(0, &mut next);
        next
    };
    let all: BTreeSet<Vec<u64>> = (0..100).map(|seed| first(1 << 20, seed)).collect();
    assert_eq!(all.len(), 100);
    assert_ne!(first(1 << 20, 1)[..8], first((1 << 20) - 1, 1)[..8]);
    assert_eq!(first(1 << 20, 1), first(1 << 20, 1));
}

/// Distance of the chi-square of `counts` from its mean, in standard deviations.
fn excess(counts: impl Iterator<Item = u32>, expected: f64, freedom: f64) -> f64 {
    let chi2: f64 = counts
        .map(|c| (f64::from(c) - expected).powi(2) / expected)
        .sum();
    (chi2 - freedom) / f64::sqrt(2.0 * freedom)
}

/// Chi-square excess of a 64 x 64 table: position of a node in memory, and position of the node
/// `hops` further on the cycle. Both margins of the table are fixed, hence 63 * 63 degrees of
/// freedom.
fn excess_of_position_table(order: &[u64], hops: usize) -> f64 {
    let n = order.len();
    let mut table = vec![0u32; 64 * 64];
    for (i, &node) in order.iter().enumerate() {
        let bucket = |node: u64| node as usize * 64 / n;
        table[bucket(node) * 64 + bucket(order[(i + hops) % n])] += 1;
    }
    excess(table.into_iter(), n as f64 / 4096.0, 63.0 * 63.0)
}

/// Number of occurrences of the most frequent of `values`, which are below `bound`.
fn most_frequent(values: impl Iterator<Item = u64>, bound: u64) -> u32 {
    let mut counts = vec![0u32; bound as usize];
    values.for_each(|value| counts[value as usize] += 1);
    counts.into_iter().max().unwrap_or(0)
}

fn examine(check: impl Fn(&str, &[u64])) {
    for (nodes, seed) in EXAMINED
        .iter()
        .flat_map(|&nodes| (0..2).map(move |seed| (nodes, seed)))
    {
        check(
            &format!("{nodes} nodes, seed {seed}"),
            &walk(&Cycle::new(nodes, seed)),
        );
    }
}

#[test]
fn successors_are_spread_evenly() {
    examine(|name, order| {
        for hops in [1, 2, 8] {
            let excess = excess_of_position_table(order, hops);
            assert!(excess.abs() < 5.0, "{name}, {hops} hops: {excess}");
        }
    });
}

#[test]
fn successors_are_seldom_near() {
    examine(|name, order| {
        for hops in [1, 2, 4, 8] {
            // A page of 4 KiB contains 64 nodes of one cache line each. By chance, about 63 of n
            // successors lie on the page of their node.
            let near = order
                .windows(hops + 1)
                .filter(|w| w[0] / 64 == w[hops] / 64)
                .count();
            // This number has about a Poisson distribution, so that 40 are five standard
            // deviations.
            assert!(
                (63 - 40..=63 + 40).contains(&near),
                "{name}, {hops} hops: {near}"
            );
        }
    });
}

#[test]
fn no_stride_stands_out() {
    examine(|name, order| {
        let n = order.len() as u64;
        for hops in [1, 2, 4] {
            let strides: Vec<u64> = order
                .windows(hops + 1)
                .map(|w| (w[hops] + n - w[0]) % n)
                .collect();
            // By chance, each stride occurs about once, and the counts follow Poisson(1). The
            // highest of n such counts is 8 to 10.
            let most = most_frequent(strides.iter().copied(), n);
            assert!(most <= 14, "{name}, {hops} hops: {most}");
            let mut coarse = [0u32; 64];
            strides
                .iter()
                .for_each(|stride| coarse[(stride * 64 / n) as usize] += 1);
            let excess = excess(coarse.into_iter(), n as f64 / 64.0, 63.0);
            assert!(excess < 5.0, "{name}, {hops} hops: {excess}");
        }
    });
}

#[test]
fn strides_do_not_repeat() {
    // Patterns that stride prefetchers detect: a repeated stride, or strides that grow by a
    // constant.
    examine(|name, order| {
        let n = order.len() as u64;
        let strides: Vec<u64> = order.windows(2).map(|w| (w[1] + n - w[0]) % n).collect();
        let same = |gap: usize| strides.windows(gap + 1).filter(|w| w[0] == w[gap]).count();
        // The count for each gap is about Poisson(1).
        let repeats: Vec<usize> = (1..=8).map(same).collect();
        assert!(repeats.iter().all(|&r| r <= 9), "{name}: {repeats:?}");
        let growth = most_frequent(strides.windows(2).map(|w| (w[1] + n - w[0]) % n), n);
        assert!(growth <= 14, "{name}: {growth}");
    });
}

#[test]
fn every_few_hops_go_to_other_pages() {
    // 64 successive hops over 1024 pages or more meet about 62 different pages (a birthday count).
    examine(|name, order| {
        let pages = order.chunks_exact(64).map(|c| {
            c.iter()
                .map(|node| node / 64)
                .collect::<BTreeSet<_>>()
                .len()
        });
        let pages: Vec<usize> = pages.collect();
        let mean = pages.iter().sum::<usize>() as f64 / pages.len() as f64;
        let all = order.len() as f64 / 64.0;
        let expected = all * (1.0 - (1.0 - 1.0 / all).powi(64));
        assert!(
            (mean - expected).abs() < 0.3,
            "{name}: {mean}, expected {expected}"
        );
        assert!(
            pages.iter().all(|&pages| pages >= 50),
            "{name}: {:?}",
            pages.iter().min()
        );
    });
}

#[test]
fn small_cycles_have_no_favourite_stride_either() {
    // A level-1 cache has room for about 512 nodes. Over many seeds together, every stride has to
    // be equally frequent.
    for nodes in [256u64, 500, 512] {
        let mut counts = vec![0u32; nodes as usize];
        for seed in 0..400 {
            let next = pointers(&Cycle::new(nodes, seed));
            next.iter()
                .zip(0..)
                .for_each(|(next, node)| counts[((next + nodes - node) % nodes) as usize] += 1);
        }
        assert_eq!(counts[0], 0);
        let expected = 400.0 * nodes as f64 / (nodes - 1) as f64;
        let excess = excess(counts[1..].iter().copied(), expected, (nodes - 2) as f64);
        assert!(excess < 5.0, "{nodes}: {excess}");
    }
}
