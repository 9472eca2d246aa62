//! Tests of pointer chains: the walked nodes, and invalid chains.

use super::fenced;
use host::memory::{Mapping, PageMode, Window};
use memgauge_kernels::{
    HOPS_PER_BLOCK, MAX_WALKERS, REFERENCE_INSTRUCTIONS_PER_BLOCK, UnverifiedChain, Walk,
    chase_digest, dependent_adds, hops_per_block,
};
use stats::SplitMix64;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use units::Bytes;

/// A window of exactly `bytes` at the end of a mapping, right before its guard.
fn flush(bytes: usize) -> Window {
    let mapping = Mapping::new(Bytes(bytes as u64), PageMode::Base, Bytes(0)).expect("memory");
    mapping
        .take(mapping.len() - bytes..mapping.len())
        .expect("a part of a new mapping")
}

/// A chain over all of `window`, in which every node points to the node `step` further on.
fn ring(window: Window, stride: usize, step: u64) -> UnverifiedChain {
    let chain = UnverifiedChain::new(window, stride).expect("a chain");
    let nodes = chain.nodes();
    (0..nodes).for_each(|node| chain.link(node, (node + step) % nodes));
    chain
}

/// A walk on the chain, after the proof that all its pointers lead to its nodes.
fn closed(chain: UnverifiedChain) -> Walk {
    let proof = chain.check(0..chain.nodes()).expect("a closed chain");
    Walk::new(Arc::new(chain.finish(vec![proof]).expect("all is covered")))
}

#[test]
fn a_walk_makes_64_hops_a_block_and_goes_on_where_it_stopped() {
    // Strides of a line, of words, of no power of two, and of more than a page. The last node ends
    // at the guard or before.
    for (bytes, stride) in [
        (64, 64),
        (64, 8),
        (4096, 64),
        (960, 64),
        (8192, 8),
        (8192, 24),
        (576, 72),
        (65536, 4160),
    ] {
        let nodes = (bytes / stride) as u64;
        for step in [0, 1, nodes - 1, 5 % nodes] {
            let mut chain = closed(ring(flush(bytes), stride, step));
            assert_eq!(
                (chain.chain().nodes(), chain.chain().stride(), chain.node()),
                (nodes, stride, 0)
            );
            let mut blocks = 0;
            for more in [0, 1, 1, 2, 0, 3, nodes] {
                chain.walk(more);
                blocks += more;
                let expected = blocks * HOPS_PER_BLOCK * step % nodes;
                assert_eq!(
                    chain.node(),
                    expected,
                    "{nodes} nodes, stride {stride}, step {step}, {blocks} blocks"
                );
            }
        }
    }
}

#[test]
fn a_walk_returns_to_its_start_after_as_many_hops_as_there_are_nodes() {
    for nodes in [64u64, 128, 192, 1024] {
        let mut chain = closed(ring(flush(nodes as usize * 64), 64, 7));
        for block in 1..=nodes / HOPS_PER_BLOCK {
            assert_eq!(
                chain.node() == 0,
                block == 1,
                "{nodes} nodes: not before the last hop"
            );
            chain.walk(1);
        }
        assert_eq!(chain.node(), 0, "{nodes} nodes");
    }
}

#[test]
fn the_nodes_that_were_linked_are_read_back() {
    let chain = ring(flush(4096), 64, 3);
    for node in 0..64 {
        assert_eq!(chain.next(node), Some((node + 3) % 64));
    }
    chain.link(5, 5);
    assert_eq!(chain.next(5), Some(5));
}

#[test]
fn strides_that_make_no_chain_are_refused() {
    for stride in [0, 1, 7, 12, 4097, 4104, usize::MAX, usize::MAX - 7] {
        let message = UnverifiedChain::new(flush(4096), stride)
            .expect_err("no chain")
            .to_string();
        assert!(
            message.contains(&format!("stride {stride} B in 4096 B")),
            "{message}"
        );
    }
    assert_eq!(
        UnverifiedChain::new(flush(4096), 4096)
            .expect("one node")
            .nodes(),
        1
    );
}

#[test]
#[should_panic(expected = "a link joins two nodes of the chain")]
fn a_link_to_behind_the_last_node_is_not_written() {
    UnverifiedChain::new(flush(4096), 64)
        .expect("a chain")
        .link(0, 64);
}

#[test]
#[should_panic(expected = "a link joins two nodes of the chain")]
fn a_link_from_behind_the_last_node_is_not_written() {
    UnverifiedChain::new(flush(4096), 64)
        .expect("a chain")
        .link(64, 0);
}

#[test]
fn memory_that_is_no_chain_is_refused() {
    // Windows that are not linked: one of zeros, and one of other data.
    assert!(
        UnverifiedChain::new(flush(4096), 64)
            .expect("a chain")
            .check(0..1)
            .is_none()
    );
    let window = fenced(4096);
    window.touch(0..4096);
    let chain = UnverifiedChain::new(window, 64).expect("a chain");
    assert!(chain.check(0..64).is_none());
    // Only the nodes that are not linked yet are still wrong.
    (0..63).for_each(|node| chain.link(node, node + 1));
    assert!(
        chain.check(0..63).is_some()
            && chain.check(63..64).is_none()
            && chain.check(0..64).is_none()
    );
    let part = chain.check(0..63).expect("these are linked");
    assert!(chain.finish(vec![part]).is_err());
}

#[test]
fn parts_have_to_cover_the_chain() {
    let covered = |parts: &[std::ops::Range<u64>]| {
        let chain = ring(flush(4096), 64, 1);
        let proofs = parts
            .iter()
            .map(|part| chain.check(part.clone()).expect("all is linked"))
            .collect();
        chain.finish(proofs).is_ok()
    };
    #[allow(clippy::single_range_in_vec_init, reason = "they are parts")]
    for enough in [
        &[0..64][..],
        &[0..32, 32..64],
        &[32..64, 0..32],
        &[0..40, 20..64, 5..5],
        &[0..64, 3..4],
    ] {
        assert!(covered(enough), "{enough:?}");
    }
    #[allow(clippy::single_range_in_vec_init, reason = "they are parts")]
    for short in [
        &[][..],
        &[0..63],
        &[1..64],
        &[0..32, 33..64],
        &[0..31, 32..64, 32..64],
        &[0..0, 64..64],
    ] {
        assert!(!covered(short), "{short:?}");
    }
    assert!(
        ring(flush(4096), 64, 1).check(0..65).is_none(),
        "there are 64 nodes"
    );
    assert!(
        ring(flush(4096), 64, 1).check(0..u64::MAX).is_none(),
        "there are 64 nodes"
    );
}

#[test]
fn proofs_of_another_chain_are_worth_nothing() {
    let one = ring(flush(4096), 64, 1);
    let other = ring(flush(4096), 64, 1);
    let proof = other.check(0..64).expect("all is linked");
    assert!(one.finish(vec![proof]).is_err());
    // A chain also needs its own proof for every part, not only for one half.
    let one = ring(flush(4096), 64, 1);
    let halves = vec![
        one.check(0..32).expect("linked"),
        other.check(32..64).expect("linked"),
    ];
    assert!(one.finish(halves).is_err());
}

/// A chain of nodes of `stride` bytes in which node i points to node `next[i]`, and its payload
/// words.
fn with_payload(next: &[u64], stride: usize) -> (Walk, Vec<usize>) {
    let window = flush(next.len() * stride);
    let mut random = SplitMix64::new(stride as u64);
    let payload: Vec<u64> = next.iter().map(|_| random.next_u64()).collect();
    for (node, word) in payload.iter().enumerate() {
        window.words()[node * stride / 8 + 1].store(*word, Relaxed);
    }
    let chain = UnverifiedChain::new(window, stride).expect("a chain");
    for (from, to) in next.iter().enumerate() {
        chain.link(from as u64, *to);
    }
    // The payload is a word of the machine's own width, at offset 8 of the node.
    let loaded = |word: u64| {
        if cfg!(target_endian = "big") {
            (word >> (64 - usize::BITS)) as usize
        } else {
            word as usize
        }
    };
    (closed(chain), payload.into_iter().map(loaded).collect())
}

/// Node after `hops` hops from `node`, and the sum of the payload of the nodes on the way.
fn hop(next: &[u64], payload: &[usize], node: u64, hops: u64) -> (u64, usize) {
    (0..hops).fold((node, 0), |(at, sum), _| {
        (next[at as usize], sum.wrapping_add(payload[at as usize]))
    })
}

#[test]
fn several_walkers_end_where_each_would_alone() {
    const NODES: usize = 104; // whole lines with any stride
    let mut random = SplitMix64::new(17);
    // Any map of nodes to nodes. Walkers may meet, which makes no difference to their way.
    let next: Vec<u64> = (0..NODES)
        .map(|_| random.next_u64() % NODES as u64)
        .collect();
    for stride in [16, 64, 72] {
        let (mut chain, payload) = with_payload(&next, stride);
        for walkers in 1..=MAX_WALKERS {
            let each = hops_per_block(walkers) / walkers as u64;
            for with in [false, true] {
                let starts: Vec<u64> = (0..walkers)
                    .map(|_| random.next_u64() % NODES as u64)
                    .collect();
                chain.start(&starts, with).expect("nodes of the chain");
                let mut at = starts;
                for blocks in [0, 1, 2, 5] {
                    let ends: Vec<(u64, usize)> = at
                        .iter()
                        .map(|&node| hop(&next, &payload, node, each * blocks))
                        .collect();
                    let sum = ends.iter().fold(0usize, |sum, end| sum.wrapping_add(end.1));
                    at = ends.iter().map(|end| end.0).collect();
                    let what = format!(
                        "{walkers} walkers, payload {with}, {blocks} blocks, stride {stride}"
                    );
                    assert_eq!(chain.walk(blocks), if with { sum } else { 0 }, "{what}");
                    assert_eq!(chain.walkers().collect::<Vec<_>>(), at, "{what}");
                }
            }
        }
    }
}

#[test]
fn chains_of_fewer_nodes_than_fit_leave_the_rest_alone() {
    let chain = UnverifiedChain::with_nodes(flush(128), 24, 3).expect("a chain");
    (0..3).for_each(|node| chain.link(node, (node + 1) % 3));
    assert_eq!((chain.nodes(), chain.next(2)), (3, Some(0)));
    let mut walk = closed(chain);
    walk.walk(1);
    assert_eq!(walk.node(), HOPS_PER_BLOCK % 3);
    for nodes in [0, 6, u64::MAX] {
        assert!(
            UnverifiedChain::with_nodes(flush(128), 24, nodes).is_err(),
            "{nodes} nodes"
        );
    }
}

#[test]
fn several_threads_walk_on_one_chain() {
    let first = closed(ring(flush(4096), 64, 1));
    let mut second = Walk::new(first.chain().clone());
    second.start(&[32], false).expect("a node");
    let ends = std::thread::scope(|scope| {
        let walk = |mut walk: Walk, blocks: u64| {
            move || {
                walk.walk(blocks);
                walk.node()
            }
        };
        let threads = [
            scope.spawn(walk(first, 1000)),
            scope.spawn(walk(second, 3000)),
        ];
        threads.map(|thread| thread.join().expect("a walk that ends"))
    });
    assert_eq!(ends, [0, 32], "64 hops go round once");
}

#[test]
fn walkers_that_are_none_are_refused() {
    let mut chain = closed(ring(flush(4096), 8, 1));
    assert!(
        chain.start(&[0], true).is_err(),
        "a node of 8 B has no room for a payload"
    );
    let mut chain = closed(ring(flush(4096), 64, 1));
    for wrong in [&[][..], &[64], &[0, 1, u64::MAX], &[0; MAX_WALKERS + 1]] {
        let message = chain.start(wrong, false).expect_err("no start").to_string();
        assert!(message.contains("64 nodes of 64 B"), "{message}");
    }
    assert_eq!(
        chain.walkers().collect::<Vec<_>>(),
        [0],
        "a refused start changes nothing"
    );
}

#[test]
fn every_number_of_walkers_has_code_of_its_own() {
    let digests =
        |payload: bool| (1..=MAX_WALKERS).filter_map(move |walkers| chase_digest(walkers, payload));
    let all: BTreeSet<String> = digests(false).chain(digests(true)).collect();
    assert_eq!(all.len(), 2 * MAX_WALKERS);
}

#[test]
fn additions_end_after_any_number_of_blocks() {
    assert_eq!(REFERENCE_INSTRUCTIONS_PER_BLOCK, 128);
    for blocks in [0, 1, 2, 1000] {
        dependent_adds(blocks);
    }
}
