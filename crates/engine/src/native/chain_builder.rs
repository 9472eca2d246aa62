//! Builds pointer chains at memory speed and proves that they are one cycle.
//!
//! There are two passes over the nodes by rising address, and each thread does a part of both. The
//! first pass writes to each node the pointer to its successor in a [`ChainOrder`]. The second pass
//! reads all pointers back from memory.
//!
//! The proof. Every node has a place on a circle, computed from the index of the node alone (see
//! `chain::order`). A pointer moves forward by one place plus the places that it passes over.
//! Whoever follows pointers ends in a loop, and the pointers of a loop together move forward by
//! whole turns of the circle. If all pointers together move forward by exactly one turn, there is
//! exactly one loop. The loop visits all nodes, because the pointer of a node outside the loop
//! would add to the sum. An error in the computed places can only make the check fail.

use crate::chain::order::ChainOrder;
use crate::machine::Failure;
use crate::native::workers::Team;
use host::interrupt::StopFlag;
use kernels::{Chain, ClosedPart, UnverifiedChain};
use std::ops::Range;
use std::sync::Arc;

/// Links the nodes of `chain` in `order`, and verifies the result, with the threads of `cpus`.
/// Fails if the pointers in memory are not one cycle over all nodes.
pub fn build(
    chain: UnverifiedChain,
    order: ChainOrder,
    team: &Team,
    cpus: &[u32],
    stop: &StopFlag,
) -> Result<Chain, Failure> {
    if order.nodes() != chain.nodes() {
        let requested = order.nodes();
        let there = chain.nodes();
        return Err(Failure::Failed(format!(
            "the memory has room for {there} of the chain's {requested} nodes"
        )));
    }
    let chain = Arc::new(chain);
    let order = Arc::new(order);
    let parts = cpus.len() as u64;
    let shared = Arc::clone(&chain);
    let keyed = Arc::clone(&order);
    let stopper = stop.clone();
    let written = team.run(cpus, move |member| {
        write_part(
            &shared,
            &keyed,
            part(shared.nodes(), member.index as u64, parts),
            &stopper,
        )
    })?;
    if written.contains(&None) {
        return Err(Failure::Interrupted);
    }
    let vacant = order.vacant();
    let shared = Arc::clone(&chain);
    let stopper = stop.clone();
    let proofs = team.run(cpus, move |member| {
        check_part(
            &shared,
            &order,
            part(shared.nodes(), member.index as u64, parts),
            &stopper,
        )
    })?;
    let proofs = proofs
        .into_iter()
        .collect::<Option<Vec<Proof>>>()
        .ok_or(Failure::Interrupted)?;
    let passed: u128 = proofs.iter().map(|proof| proof.passed).sum();
    if passed != u128::from(vacant) {
        return Err(Failure::Failed(
            "the chain in memory is not one cycle over all nodes".to_owned(),
        ));
    }
    let closed: Vec<ClosedPart> = proofs.into_iter().flat_map(|proof| proof.closed).collect();
    let chain = Arc::into_inner(chain)
        .ok_or_else(|| Failure::Failed("a thread did not release the chain".to_owned()))?;
    Ok(chain.finish(closed)?)
}

/// Part `index` of the numbers below `n`, which are cut into `parts` nearly equal parts.
fn part(n: u64, index: u64, parts: u64) -> Range<u64> {
    let at = |i: u64| (u128::from(n) * u128::from(i) / u128::from(parts)) as u64;
    at(index)..at(index + 1)
}

/// Writes the pointers of `nodes` by rising address; `None` if interrupted.
fn write_part(
    chain: &UnverifiedChain,
    order: &ChainOrder,
    nodes: Range<u64>,
    stop: &StopFlag,
) -> Option<()> {
    let written = chain.link_with(nodes, |first, next| {
        order.successors(first, next);
        !stop.is_set()
    });
    written.then_some(())
}

/// Result of checking a part of the nodes.
#[derive(Debug)]
struct Proof {
    /// Proof that all pointers of the part lead to nodes; `None` if a pointer leads elsewhere.
    closed: Option<ClosedPart>,
    /// Sum of the places that the pointers of the part pass over.
    passed: u128,
}

/// Reads the pointers of `nodes` back from memory and checks them; `None` if interrupted.
fn check_part(
    chain: &UnverifiedChain,
    order: &ChainOrder,
    nodes: Range<u64>,
    stop: &StopFlag,
) -> Option<Proof> {
    let mut passed = 0;
    let closed = chain.check_with(nodes, |first, next| {
        passed += order.passed_over(first, next);
        !stop.is_set()
    });
    (!stop.is_set()).then_some(Proof { closed, passed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChainShape;
    use host::memory::{Mapping, PageMode};
    use host::pin;
    use kernels::{HOPS_PER_BLOCK, Walk};
    use units::Bytes;

    const STRIDE: Bytes = Bytes(64);

    fn memory(bytes: usize) -> UnverifiedChain {
        let mapping = Mapping::new(Bytes(bytes as u64), PageMode::Base, Bytes::mib(2)).unwrap();
        UnverifiedChain::new(mapping.take(0..bytes).unwrap(), 64).unwrap()
    }

    /// Every shape, with windows of 17 nodes, and memory for `nodes` nodes of that shape.
    fn every(nodes: u64) -> Vec<(ChainOrder, UnverifiedChain)> {
        let window = Bytes(17 * STRIDE.0);
        let page = 4096;
        let shapes = [
            ChainShape::GlobalRandom,
            ChainShape::RandomBox(window),
            ChainShape::SameRandomInBox(window),
            ChainShape::DiffRandomInBox(window),
            ChainShape::Sequential,
            ChainShape::OnePerPage(Bytes(page as u64)),
            ChainShape::Pairs {
                block: Bytes(1024),
                distance: Bytes(128),
            },
        ];
        let chain = |shape| match shape {
            ChainShape::OnePerPage(_) => {
                let length = nodes as usize * page;
                let mapping =
                    Mapping::new(Bytes(length as u64), PageMode::Base, Bytes::mib(2)).unwrap();
                UnverifiedChain::one_per_page(mapping.take(0..length).unwrap(), page, 64, 5)
                    .unwrap()
            }
            // With an odd number of nodes, the last node has no partner. An order can have such a
            // node, but memory cannot.
            ChainShape::Pairs { block, distance } if nodes.is_multiple_of(2) => {
                let length = nodes as usize / 2 * block.to_usize();
                let mapping =
                    Mapping::new(Bytes(length as u64), PageMode::Base, Bytes::mib(2)).unwrap();
                let window = mapping.take(0..length).unwrap();
                UnverifiedChain::pairs(window, block.to_usize(), (distance.to_usize(), 64), 5)
                    .unwrap()
            }
            _ => memory(nodes as usize * 64),
        };
        shapes
            .map(|shape| (ChainOrder::new(shape, nodes, STRIDE, 7), chain(shape)))
            .into()
    }

    fn cpus() -> Vec<u32> {
        pin::current_affinity()
            .unwrap()
            .0
            .into_iter()
            .take(2)
            .collect()
    }

    #[test]
    fn a_chain_of_any_shape_visits_every_node_once_and_returns() {
        let cpus = cpus();
        let team = Team::new(&cpus).unwrap();
        for (nodes, (order, chain)) in [1u64, 2, 3, 16, 17, 18, 33, 64, 1000]
            .into_iter()
            .flat_map(|n| every(n).into_iter().map(move |e| (n, e)))
        {
            let what = format!("{nodes} nodes, {order:?}");
            let built = build(chain, order, &team, &cpus, &StopFlag::never()).unwrap();
            assert_eq!(built.nodes(), nodes);
            let mut walk = Walk::new(Arc::new(built));
            // The walk goes block by block until its position repeats. The number of hops shows the
            // period n, which is the length of the cycle.
            let start = walk.node();
            let mut hops = 0;
            loop {
                walk.walk(1);
                hops += HOPS_PER_BLOCK;
                if walk.node() == start {
                    break;
                }
            }
            let gcd = |mut a: u64, mut b: u64| {
                while b > 0 {
                    (a, b) = (b, a % b);
                }
                a
            };
            assert_eq!(
                hops,
                nodes / gcd(nodes, HOPS_PER_BLOCK) * HOPS_PER_BLOCK,
                "{what}"
            );
        }
    }

    #[test]
    fn a_chain_of_any_shape_that_is_not_one_cycle_is_refused() {
        for (order, chain) in every(100) {
            let stop = StopFlag::never();
            let passed = || check_part(&chain, &order, 0..100, &stop).unwrap().passed;
            write_part(&chain, &order, 0..100, &stop).unwrap();
            assert_eq!(passed(), u128::from(order.vacant()));
            let right = |node| {
                let mut next = [0];
                order.successors(node, &mut next);
                next[0]
            };
            let next = right(42);
            let far = right(right(42));
            // A short cut past one node, two cycles, a node that points to itself, and a node that
            // points back.
            for (from, to) in [
                (42, far),
                (42, 42),
                (far, next),
                (next, next),
                (far, 42),
                (0, 0),
                (99, 99),
            ] {
                chain.link(from, to);
                assert_ne!(
                    passed(),
                    u128::from(order.vacant()),
                    "{from} -> {to} of {order:?}"
                );
                chain.link(from, right(from));
            }
            assert_eq!(passed(), u128::from(order.vacant()));
        }
    }

    #[test]
    fn a_chain_in_memory_for_another_number_of_nodes_is_refused() {
        let cpus = cpus();
        let team = Team::new(&cpus).unwrap();
        let order = ChainOrder::new(ChainShape::Sequential, 65, STRIDE, 1);
        let built = build(memory(64 * 64), order, &team, &cpus, &StopFlag::never());
        let text = "the memory has room for 64 of the chain's 65 nodes";
        assert_eq!(built.err(), Some(Failure::Failed(text.to_owned())));
    }

    #[test]
    fn an_interrupted_build_says_so() {
        let cpus = cpus();
        let team = Team::new(&cpus).unwrap();
        let stop = StopFlag::never();
        stop.set();
        let order = ChainOrder::new(ChainShape::GlobalRandom, 1024, STRIDE, 1);
        let built = build(memory(64 << 10), order, &team, &cpus, &stop);
        assert_eq!(built.err(), Some(Failure::Interrupted));
    }
}
