//! Tests of the orders of chains.

use super::*;

const STRIDE: Bytes = Bytes(64);

/// Every shape that has windows, with windows of `nodes` nodes.
fn boxes(nodes: u64) -> [ChainShape; 3] {
    let window = Bytes(nodes * STRIDE.0);
    [
        ChainShape::RandomBox(window),
        ChainShape::SameRandomInBox(window),
        ChainShape::DiffRandomInBox(window),
    ]
}

/// Every shape. Windows have `window` nodes.
fn shapes(window: u64) -> Vec<ChainShape> {
    let pairs = ChainShape::Pairs {
        block: Bytes(2048),
        distance: Bytes(128),
    };
    let plain = [
        ChainShape::GlobalRandom,
        ChainShape::Sequential,
        ChainShape::OnePerPage(Bytes(4096)),
        pairs,
    ];
    boxes(window).into_iter().chain(plain).collect()
}

/// Numbers of nodes near every boundary of windows of `window` nodes.
fn sizes(window: u64) -> Vec<u64> {
    let near = |n: u64| [n.saturating_sub(1), n, n + 1];
    let mut sizes: Vec<u64> = [1, window, 2 * window, 5 * window]
        .into_iter()
        .flat_map(near)
        .collect();
    sizes.extend([2, 3, 4 * window + window / 2, 7 * window + window / 3 + 1]);
    sizes.retain(|&n| n > 0);
    sizes
}

fn order(shape: ChainShape, nodes: u64) -> ChainOrder {
    ChainOrder::new(shape, nodes, STRIDE, 7)
}

/// Successors of all nodes.
fn pointers(order: &ChainOrder) -> Vec<u64> {
    let mut next = vec![0; order.nodes() as usize];
    order.successors(0, &mut next);
    next
}

/// The nodes in the order of the chain, from `start` until a node repeats.
fn walk(order: &ChainOrder, start: u64) -> Vec<u64> {
    let pointers = pointers(order);
    let successor = |&node: &u64| Some(pointers[node as usize]).filter(|&next| next != start);
    std::iter::successors(Some(start), successor)
        .take(pointers.len() + 1)
        .collect()
}

fn every(check: impl Fn(&str, ChainShape, u64)) {
    for window in [1, 2, 3, 7, 64, 100, 300, 600] {
        for shape in shapes(window) {
            sizes(window)
                .into_iter()
                .for_each(|n| check(&format!("{n} nodes, {shape:?}"), shape, n));
        }
    }
}

#[test]
fn every_shape_visits_every_node_once_and_returns() {
    every(|what, shape, nodes| {
        let order = order(shape, nodes);
        let mut walked = walk(&order, 0);
        assert_eq!(
            pointers(&order)[walked[walked.len() - 1] as usize],
            0,
            "{what}"
        );
        walked.sort_unstable();
        assert!(walked.into_iter().eq(0..nodes), "{what}");
    });
}

#[test]
fn what_is_passed_over_are_the_vacant_places() {
    every(|what, shape, nodes| {
        let order = order(shape, nodes);
        assert_eq!(
            order.passed_over(0, &pointers(&order)),
            u128::from(order.vacant()),
            "{what}"
        );
    });
}

#[test]
fn parts_of_a_chain_are_those_of_the_whole() {
    for shape in shapes(300) {
        let order = order(shape, 2000);
        let whole = pointers(&order);
        let mut passed = 0;
        for (first, count) in [
            (0, 1),
            (1, 298),
            (299, 1),
            (300, 1),
            (301, 1200),
            (1501, 499),
        ] {
            let mut part = vec![0; count];
            order.successors(first, &mut part);
            assert_eq!(
                part,
                whole[first as usize..][..count],
                "{shape:?} from {first}"
            );
            passed += order.passed_over(first, &part);
        }
        assert_eq!(passed, u128::from(order.vacant()), "{shape:?}");
    }
}

#[test]
fn of_all_pointers_that_there_can_be_only_the_order_is_accepted() {
    for shape in [1, 2, 4].into_iter().flat_map(shapes) {
        for nodes in 1u64..=6 {
            let order = order(shape, nodes);
            let mut accepted = Vec::new();
            for code in 0..nodes.pow(nodes as u32) {
                let all: Vec<u64> = (0..nodes)
                    .map(|node| code / nodes.pow(node as u32) % nodes)
                    .collect();
                if order.passed_over(0, &all) == u128::from(order.vacant()) {
                    accepted.push(all);
                }
            }
            assert_eq!(accepted, [pointers(&order)], "{nodes} nodes, {shape:?}");
        }
    }
}

#[test]
fn the_nodes_of_a_window_follow_each_other() {
    for (window, nodes) in [
        (2, 20),
        (64, 640),
        (64, 650),
        (100, 1000),
        (100, 1001),
        (300, 3000),
        (300, 3299),
    ] {
        for shape in boxes(window) {
            let order = order(shape, nodes);
            let start = order.at(0, 1);
            let visited: Vec<u64> = walk(&order, start)
                .into_iter()
                .map(|node| node / window)
                .collect();
            let mut windows = visited.clone();
            windows.dedup();
            let count = nodes.div_ceil(window);
            assert_eq!(
                windows.len() as u64,
                count,
                "{shape:?}, {nodes} nodes: a window is not left and entered again"
            );
            let rising: Vec<u64> = (0..count).map(|i| (windows[0] + i) % count).collect();
            let random = matches!(shape, ChainShape::RandomBox(_));
            assert_eq!(
                windows == rising,
                !random,
                "{shape:?}, {nodes} nodes: {windows:?}"
            );
        }
    }
}

#[test]
fn the_two_of_a_pair_follow_each_other_and_pairs_are_in_random_order() {
    for nodes in [2, 3, 100, 513, 2000] {
        let order = order(
            ChainShape::Pairs {
                block: Bytes(2048),
                distance: Bytes(8),
            },
            nodes,
        );
        let walked = walk(&order, order.at(0, 1));
        let seconds = walked
            .windows(2)
            .filter(|pair| pair[0] % 2 == 0 && pair[1] == pair[0] + 1)
            .count() as u64;
        assert_eq!(seconds, nodes / 2, "{nodes} nodes");
        let hops = walked
            .windows(2)
            .filter(|pair| pair[0] % 2 == 1 && pair[1] == pair[0] + 1)
            .count() as u64;
        assert!(
            nodes < 100 || hops < nodes / 20,
            "{nodes} nodes: {hops} pairs follow their neighbour"
        );
    }
}

/// For each window, its nodes in the order of the visits, counted from the first node of the
/// window.
fn inside_each(shape: ChainShape, window: u64, nodes: u64) -> Vec<Vec<u64>> {
    let order = order(shape, nodes);
    let walked = walk(&order, order.at(0, 1));
    let in_window = |w: u64| {
        walked
            .iter()
            .filter(|&&node| node / window == w)
            .map(|node| node % window)
            .collect()
    };
    (0..nodes.div_ceil(window)).map(in_window).collect()
}

#[test]
fn the_order_inside_windows_is_as_named() {
    let [random, same, diff] = boxes(64);
    let rising: Vec<u64> = (0..64).collect();
    let inside = inside_each(same, 64, 650);
    assert!(
        inside[..10].iter().all(|order| *order == inside[0]),
        "one order for all whole windows"
    );
    assert_eq!(inside[10].len(), 10, "the last window is shorter");
    for shape in [random, diff] {
        let inside = inside_each(shape, 64, 6400);
        let mut different = inside.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), 100, "{shape:?}");
        let mut entries: Vec<u64> = inside.iter().map(|order| order[0]).collect();
        entries.sort_unstable();
        entries.dedup();
        assert!(
            entries.len() > 30,
            "{shape:?} enters windows at {entries:?}"
        );
    }
    for shape in boxes(64) {
        let hops = |order: &[u64]| {
            order
                .windows(2)
                .filter(|pair| pair[1] == pair[0] + 1)
                .count()
        };
        let neighbours: usize = inside_each(shape, 64, 6400)
            .iter()
            .map(|order| hops(order))
            .sum();
        // By chance, one hop in 64 leads to the node with the next number: 100 hops of 6400. If all
        // windows repeat one order, the number may be higher or lower.
        let most = if shape == same { 600 } else { 200 };
        assert!(neighbours < most, "{shape:?}: {neighbours}");
        assert!(
            inside_each(shape, 64, 6400)
                .iter()
                .all(|order| *order != rising),
            "{shape:?}"
        );
    }
}

#[test]
fn orders_differ_by_seed() {
    for shape in shapes(64)
        .into_iter()
        .filter(|shape| *shape != ChainShape::Sequential)
    {
        let chain = |seed| pointers(&ChainOrder::new(shape, 1000, STRIDE, seed));
        assert_ne!(chain(1), chain(2), "{shape:?}");
        assert_eq!(chain(1), chain(1), "{shape:?}");
    }
}

#[test]
fn walkers_start_far_from_each_other() {
    for shape in [64, 100, 1000, 4096].into_iter().flat_map(shapes) {
        for nodes in [1000, 4096, 5000] {
            let order = order(shape, nodes);
            let all = walk(&order, order.at(0, 1));
            let place = |node: u64| all.iter().position(|&n| n == node).unwrap();
            let places: Vec<usize> = (0..4).map(|i| place(order.at(i, 4))).collect();
            let near = |(i, place): (usize, &usize)| {
                place.abs_diff(i * all.len() / 4) <= all.len() / 8 + 1
            };
            assert!(
                places.iter().enumerate().all(near),
                "{nodes} nodes, {shape:?}: {places:?}"
            );
        }
    }
}

#[test]
fn the_largest_chains_have_places_for_all_nodes() {
    let nodes = (1 << 40) + 12345;
    for shape in shapes(16384) {
        let order = order(shape, nodes);
        for first in [0, nodes / 3, nodes - 300] {
            let mut next = [0; 300];
            order.successors(first, &mut next);
            assert!(next.iter().all(|&node| node < nodes), "{shape:?}");
            assert!(
                order.passed_over(first, &next) <= u128::from(order.vacant()),
                "{shape:?}"
            );
        }
    }
}
