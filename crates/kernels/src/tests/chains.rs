//! Tests of the chains.

use super::*;
use host::memory::{Mapping, PageMode};
use units::Bytes;

fn memory(bytes: usize) -> Window {
    let mapping = Mapping::new(Bytes(bytes as u64), PageMode::Base, Bytes(0)).unwrap();
    mapping.take(0..bytes).unwrap()
}

/// A chain of 8 nodes that all point to themselves.
fn loops(window: Window) -> UnverifiedChain {
    let chain = UnverifiedChain::new(window, 64).unwrap();
    (0..chain.nodes()).for_each(|node| chain.link(node, node));
    chain
}

#[test]
fn pointers_that_are_no_node_of_the_chain_are_refused() {
    for stride in [64, 72] {
        let chain = UnverifiedChain::new(memory(576), stride).unwrap();
        (0..chain.nodes()).for_each(|node| chain.link(node, 0));
        assert!(chain.check(0..chain.nodes()).is_some());
        let start = chain.window.address();
        let end = chain.nodes() as usize * stride;
        for wrong in [
            0,
            8,
            start - stride,
            start - 8,
            start + 1,
            start + 8,
            start + end,
            start + 100 * stride,
        ] {
            chain.window.words()[3 * stride / 8].store(wrong as u64, Relaxed);
            assert_eq!(
                chain.next(3),
                None,
                "stride {stride}: {wrong:#x} from {start:#x}"
            );
            assert!(chain.check(0..chain.nodes()).is_none() && chain.check(3..4).is_none());
            assert!(chain.check(0..3).is_some() && chain.check(4..chain.nodes()).is_some());
        }
    }
}

#[test]
fn links_in_rows_are_the_same_as_single_ones_and_leave_the_rest_of_each_line() {
    for (bytes, past_caches) in [(64 * 1000, false), (PAST_CACHES, true)] {
        let chain = UnverifiedChain::new(memory(bytes), LINE).unwrap();
        chain.window.touch(0..bytes);
        assert_eq!(chain.lines().is_some(), past_caches);
        let nodes = chain.nodes();
        let to = |node: u64| (node * 7 + 3) % nodes;
        let fill = |first: u64, targets: &mut [u64]| {
            targets
                .iter_mut()
                .zip(first..)
                .for_each(|(target, node)| *target = to(node));
            true
        };
        assert!(chain.link_with(1..nodes - 300, fill) && chain.link_with(nodes - 300..nodes, fill));
        chain.link(0, to(0));
        assert!((0..nodes).all(|node| chain.next(node) == Some(to(node))));
        for (index, word) in chain
            .window
            .words()
            .iter()
            .enumerate()
            .filter(|(index, _)| index % 8 != 0)
        {
            assert_eq!(
                word.load(Relaxed),
                host::memory::initial_word(index),
                "word {index} of {bytes} B"
            );
        }
        assert!(chain.check(0..nodes).is_some());
        assert!(
            !chain.link_with(0..nodes, |first, _| first < 512),
            "it was requested to end"
        );
        let outside = |_: u64, targets: &mut [u64]| {
            targets.fill(nodes);
            true
        };
        let linked = std::panic::AssertUnwindSafe(|| chain.link_with(0..1, outside));
        assert!(
            std::panic::catch_unwind(linked).is_err(),
            "a link out of the chain"
        );
    }
}

#[test]
fn the_proof_of_an_earlier_chain_in_the_same_memory_is_worth_nothing() {
    let first = loops(memory(512));
    let proof = first.check(0..8).unwrap();
    let spare = first.check(0..8).unwrap();
    let window = first.finish(vec![proof]).unwrap().into_window();
    window.words()[0].store(0xdead, Relaxed);
    let second = UnverifiedChain::new(window, 64).unwrap();
    assert!(
        second.finish(vec![spare]).is_err(),
        "its first walk would follow a wild pointer"
    );
}

/// Pages of 4 KiB with a node in each.
fn pages(count: usize, seed: u64) -> UnverifiedChain {
    UnverifiedChain::one_per_page(memory(count * 4096), 4096, 64, seed).unwrap()
}

#[test]
fn one_node_lies_in_every_page_on_lines_of_all_kinds() {
    let chain = pages(4096, 3);
    assert_eq!(chain.nodes(), 4096);
    let mut lines = [0u32; 64];
    for node in 0..4096 {
        let place = chain.place(node);
        assert_eq!((place / 4096, place % 64), (node as usize, 0));
        lines[place % 4096 / 64] += 1;
    }
    assert_eq!(lines, [64; 64], "as many on each");
    assert!(
        (0..64).any(|node| chain.place(node) != pages(64, 4).place(node)),
        "seeds differ"
    );
}

#[test]
fn in_pages_only_the_nodes_are_written_and_only_pointers_to_nodes_are_accepted() {
    let chain = pages(16, 9);
    let before: Vec<u64> = chain
        .window
        .words()
        .iter()
        .map(|word| word.load(Relaxed))
        .collect();
    (0..16).for_each(|node| chain.link(node, (node + 1) % 16));
    let words = chain.window.words().iter().map(|word| word.load(Relaxed));
    let written: Vec<usize> = words
        .zip(before)
        .enumerate()
        .filter(|(_, (a, b))| a != b)
        .map(|(at, _)| at)
        .collect();
    assert_eq!(
        written,
        (0..16)
            .map(|node| chain.place(node) / 8)
            .collect::<Vec<_>>()
    );
    assert!(chain.check(0..16).is_some());
    let start = chain.window.address();
    let other = (chain.place(5) + 64) % 4096 + 5 * 4096;
    for wrong in [
        0,
        8,
        start + other,
        start + chain.place(5) + 8,
        start + 16 * 4096 + chain.place(0),
        usize::MAX,
    ] {
        chain.window.words()[chain.place(3) / 8].store(wrong as u64, Relaxed);
        assert_eq!(chain.next(3), None, "{wrong:#x} from {start:#x}");
        assert!(chain.check(0..16).is_none());
    }
}

#[test]
fn a_walk_over_pages_goes_from_node_to_node() {
    let chain = pages(10, 2);
    (0..10).for_each(|node| chain.link(node, (node + 3) % 10));
    let proof = chain.check(0..10).unwrap();
    let mut walk = Walk::new(Arc::new(chain.finish(vec![proof]).unwrap()));
    assert_eq!((walk.node(), walk.chain().stride()), (0, 4096));
    walk.walk(1);
    assert_eq!(walk.node(), HOPS_PER_BLOCK * 3 % 10);
    walk.start(&[7, 1], true).unwrap();
    walk.walk(1);
    assert_eq!(
        walk.walkers().collect::<Vec<_>>(),
        [(7 + 8 * 3) % 10, (1 + 8 * 3) % 10]
    );
}

#[test]
fn pages_that_cannot_have_a_node_each_are_refused() {
    let one = |bytes, page, line| UnverifiedChain::one_per_page(memory(bytes), page, line, 1);
    assert_eq!(one(8192, 4096, 4096).unwrap().nodes(), 2);
    assert_eq!(one(8192, 4096, 24).unwrap().nodes(), 2);
    for (bytes, page, line) in [
        (8192, 4096, 0),
        (8192, 4096, 12),
        (8192, 0, 64),
        (8192, 64, 128),
        (4096, 8192, 64),
    ] {
        assert!(one(bytes, page, line).is_err(), "{bytes} {page} {line}");
    }
    let mapping = Mapping::new(Bytes(16384), PageMode::Base, Bytes(0)).unwrap();
    assert!(
        UnverifiedChain::one_per_page(mapping.take(64..8256).unwrap(), 4096, 64, 1).is_err(),
        "not aligned"
    );
}
