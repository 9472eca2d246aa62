//! Builds pointer chains at memory speed and proves that they are one cycle.
//!
//! Node `j` points to `P(P⁻¹(j) + 1 mod n)` for a keyed bijection `P` of the nodes: the n-cycle, conjugated, so one
//! cycle over all nodes whatever the key. Every node's successor can be computed by itself, so any number of threads
//! write the chain in the order of addresses.
//!
//! The proof walks what is in memory: the cycle is cut into segments of known first and last node and length, every
//! thread follows several at once (one walk alone would take as long as the measurement), every segment must end where
//! the next begins after exactly its length, and the sum of a hash over all nodes walked must be that over all nodes.

use super::machine::Trouble;
use super::{Permutation, Team};
use crate::host::interrupt::StopFlag;
use crate::kernels::{Chain, ClosedPart, UnverifiedChain};
use std::ops::Range;
use std::sync::Arc;

/// Segments that one thread follows at once: enough misses in flight to be limited by bandwidth, not by latency.
const WALKERS: usize = 16;

/// Nodes between two looks at the stop flag.
const STRETCH: u64 = 1 << 16;

/// Builds and verifies the chain with the threads of `cpus`.
pub fn build(chain: UnverifiedChain, seed: u64, team: &Team, cpus: &[u32], stop: &StopFlag) -> Result<Chain, Trouble> {
    let chain = Arc::new(chain);
    let order = Arc::new(Permutation::new(chain.nodes(), seed));
    let parts = cpus.len() as u64;
    let (shared, keyed, stopper) = (Arc::clone(&chain), Arc::clone(&order), stop.clone());
    let sums = team.run(cpus, move |member| {
        write_part(&shared, &keyed, part(shared.nodes(), member.index as u64, parts), &stopper)
    })?;
    let written = total(sums)?;

    let (shared, stopper) = (Arc::clone(&chain), stop.clone());
    let proofs = team.run(cpus, move |member| {
        let mine = part(shared.nodes(), member.index as u64, parts);
        let walked = follow_part(&shared, &order, mine.clone(), &stopper)?;
        Some((walked, shared.check(mine)))
    })?;
    let mut closed: Vec<ClosedPart> = Vec::new();
    let mut walked = Some(0u64);
    for proof in proofs {
        let (sum, part) = proof.ok_or(Trouble::Interrupted)?;
        walked = walked.zip(sum).map(|(a, b)| a.wrapping_add(b));
        closed.extend(part);
    }
    if walked != Some(written) {
        return Err(Trouble::Failed("the chain in memory is not one cycle over all nodes".to_owned()));
    }
    let chain = Arc::into_inner(chain).ok_or_else(|| Trouble::Failed("a thread kept the chain".to_owned()))?;
    Ok(chain.finish(closed)?)
}

/// The sums of all parts together; `None` among them means that the run was interrupted.
fn total(sums: Vec<Option<u64>>) -> Result<u64, Trouble> {
    let sums = sums.into_iter().collect::<Option<Vec<u64>>>().ok_or(Trouble::Interrupted)?;
    Ok(sums.into_iter().fold(0, u64::wrapping_add))
}

/// Part `index` of `parts` of the numbers below `n`.
fn part(n: u64, index: u64, parts: u64) -> Range<u64> {
    let at = |i: u64| (u128::from(n) * u128::from(i) / u128::from(parts)) as u64;
    at(index)..at(index + 1)
}

/// A hash whose sum over a set of nodes tells the set (multiply and xor-shift, as in SplitMix64).
fn hash(node: u64) -> u64 {
    let x = (node.wrapping_add(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ (x >> 31)
}

/// Writes the nodes of `nodes` in the order of their addresses; the sum of their hashes, `None` when interrupted.
fn write_part(chain: &UnverifiedChain, order: &Permutation, nodes: Range<u64>, stop: &StopFlag) -> Option<u64> {
    let mut sum = 0u64;
    for node in nodes {
        if node.is_multiple_of(STRETCH) && stop.is_set() {
            return None;
        }
        chain.link(node, order.successor(node));
        sum = sum.wrapping_add(hash(node));
    }
    Some(sum)
}

/// Follows the positions `positions` of the cycle in memory: the sum of the hashes of the nodes walked, `Some(None)`
/// where a segment does not end where it must, `None` when interrupted.
fn follow_part(
    chain: &UnverifiedChain,
    order: &Permutation,
    positions: Range<u64>,
    stop: &StopFlag,
) -> Option<Option<u64>> {
    let length = positions.end - positions.start;
    let segment = |i: usize| {
        let r = part(length, i as u64, WALKERS as u64);
        positions.start + r.start..positions.start + r.end
    };
    let last = |i: usize| order.apply(segment(i).end % chain.nodes());
    let mut node: [u64; WALKERS] = std::array::from_fn(|i| order.apply(segment(i).start % chain.nodes()));
    let common = (0..WALKERS).map(|i| segment(i).end - segment(i).start).min().unwrap_or(0);
    let mut sum = 0u64;
    for step in 0..common {
        if step.is_multiple_of(STRETCH) && stop.is_set() {
            return None;
        }
        for n in &mut node {
            sum = sum.wrapping_add(hash(*n));
            match chain.next(*n) {
                Some(next) => *n = next,
                None => return Some(None),
            }
        }
    }
    for (i, n) in node.iter_mut().enumerate() {
        // Segments differ in length by one at most.
        if segment(i).end - segment(i).start > common {
            sum = sum.wrapping_add(hash(*n));
            match chain.next(*n) {
                Some(next) => *n = next,
                None => return Some(None),
            }
        }
        if *n != last(i) {
            return Some(None);
        }
    }
    Some(Some(sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::memory::{Mapping, PageMode};
    use crate::host::pin;
    use crate::kernels::HOPS_PER_BLOCK;
    use crate::units::Bytes;

    fn memory(bytes: usize) -> UnverifiedChain {
        let mapping = Mapping::new(Bytes(bytes as u64), PageMode::Base, Bytes::mib(2)).unwrap();
        UnverifiedChain::new(mapping.take(0..bytes).unwrap(), 64).unwrap()
    }

    fn cpus() -> Vec<u32> {
        pin::current_affinity().unwrap().0.into_iter().take(2).collect()
    }

    #[test]
    fn a_chain_visits_every_node_once_and_returns() {
        let cpus = cpus();
        let team = Team::new(&cpus).unwrap();
        for nodes in [1u64, 2, 3, 15, 16, 17, 64, 1000, 4096] {
            let mut chain = build(memory(nodes as usize * 64), 7, &team, &cpus, &StopFlag::never()).unwrap();
            assert_eq!(chain.nodes(), nodes);
            // Walking one block more and more shows the cycle's length: the position repeats with the period n.
            let start = chain.node();
            let mut hops = 0;
            loop {
                chain.walk(1);
                hops += HOPS_PER_BLOCK;
                if chain.node() == start {
                    break;
                }
            }
            let gcd = |mut a: u64, mut b: u64| {
                while b > 0 {
                    (a, b) = (b, a % b);
                }
                a
            };
            assert_eq!(hops, nodes / gcd(nodes, HOPS_PER_BLOCK) * HOPS_PER_BLOCK, "{nodes} nodes");
        }
    }

    #[test]
    fn a_chain_that_is_not_one_cycle_is_refused() {
        let chain = memory(100 * 64);
        let order = Permutation::new(100, 3);
        let stop = StopFlag::never();
        let sum = write_part(&chain, &order, 0..100, &stop).unwrap();
        assert_eq!(follow_part(&chain, &order, 0..100, &stop), Some(Some(sum)));
        // A short cut past one node.
        let skipped = order.successor(42);
        chain.link(42, order.successor(skipped));
        assert_eq!(follow_part(&chain, &order, 0..100, &stop), Some(None));
    }

    #[test]
    fn an_interrupted_build_says_so() {
        let cpus = cpus();
        let team = Team::new(&cpus).unwrap();
        let stop = StopFlag::never();
        stop.set();
        let built = build(memory(64 << 10), 1, &team, &cpus, &stop);
        assert_eq!(built.err(), Some(Trouble::Interrupted));
    }
}
