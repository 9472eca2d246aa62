//! Builds pointer chains at memory speed and proves that they are one cycle.
//!
//! Both passes go through the nodes in the order of their addresses, in as many parts as there are threads: the first
//! writes each node's successor on a [`Cycle`], the second reads all pointers back from memory.
//!
//! The proof. Every node has a state, computed from the node alone; think of the `span` possible states as places on a
//! circle. A pointer goes forward on it by one place and those that it passes over, 1 to `span` together. Whatever the
//! pointers are, following them ends in a loop, and around a loop they go forward by whole turns, at least one. So when
//! all pointers together go forward by one turn, there is one loop only, and as nothing is left for a node outside of
//! it, it goes through all of them. This holds whatever the states are: a fault in how they are computed could only make
//! the check fail.

use super::cycle::{BATCH, Cycle};
use super::machine::Trouble;
use super::team::Team;
use crate::host::interrupt::StopFlag;
use crate::kernels::{Chain, ClosedPart, UnverifiedChain};
use std::ops::Range;
use std::sync::Arc;

/// Builds and verifies the chain with the threads of `cpus`.
pub fn build(chain: UnverifiedChain, seed: u64, team: &Team, cpus: &[u32], stop: &StopFlag) -> Result<Chain, Trouble> {
    let chain = Arc::new(chain);
    let cycle = Arc::new(Cycle::new(chain.nodes(), seed));
    let parts = cpus.len() as u64;
    let (shared, keyed, stopper) = (Arc::clone(&chain), Arc::clone(&cycle), stop.clone());
    let written = team.run(cpus, move |member| {
        write_part(&shared, &keyed, part(shared.nodes(), member.index as u64, parts), &stopper)
    })?;
    if written.contains(&None) {
        return Err(Trouble::Interrupted);
    }
    let vacant = cycle.vacant();
    let (shared, stopper) = (Arc::clone(&chain), stop.clone());
    let proofs = team.run(cpus, move |member| {
        check_part(&shared, &cycle, part(shared.nodes(), member.index as u64, parts), &stopper)
    })?;
    let proofs = proofs.into_iter().collect::<Option<Vec<Proof>>>().ok_or(Trouble::Interrupted)?;
    let passed: u128 = proofs.iter().map(|proof| proof.passed).sum();
    if passed != u128::from(vacant) {
        return Err(Trouble::Failed("the chain in memory is not one cycle over all nodes".to_owned()));
    }
    let closed: Vec<ClosedPart> = proofs.into_iter().flat_map(|proof| proof.closed).collect();
    let chain = Arc::into_inner(chain).ok_or_else(|| Trouble::Failed("a thread kept the chain".to_owned()))?;
    Ok(chain.finish(closed)?)
}

/// Part `index` of `parts` of the numbers below `n`.
fn part(n: u64, index: u64, parts: u64) -> Range<u64> {
    let at = |i: u64| (u128::from(n) * u128::from(i) / u128::from(parts)) as u64;
    at(index)..at(index + 1)
}

/// Writes the nodes of `nodes` in the order of their addresses; `None` when interrupted.
fn write_part(chain: &UnverifiedChain, cycle: &Cycle, nodes: Range<u64>, stop: &StopFlag) -> Option<()> {
    let mut next = [0; BATCH];
    let mut first = nodes.start;
    while first < nodes.end {
        if stop.is_set() {
            return None;
        }
        let next = &mut next[..(nodes.end - first).min(BATCH as u64) as usize];
        cycle.successors(first, next);
        (first..).zip(next.iter()).for_each(|(node, &to)| chain.link(node, to));
        first += next.len() as u64;
    }
    Some(())
}

/// What was found out about a part of the nodes.
#[derive(Debug)]
struct Proof {
    /// That they point to nodes; `None` where one does not.
    closed: Option<ClosedPart>,
    /// States that their pointers pass over, together.
    passed: u128,
}

/// Reads the pointers of `nodes` back from memory; `None` when interrupted.
fn check_part(chain: &UnverifiedChain, cycle: &Cycle, nodes: Range<u64>, stop: &StopFlag) -> Option<Proof> {
    let mut passed = 0;
    let closed = chain.check_with(nodes, |first, next| {
        passed += cycle.passed_over(first, next);
        !stop.is_set()
    });
    (!stop.is_set()).then_some(Proof { closed, passed })
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
        let cycle = Cycle::new(100, 3);
        let stop = StopFlag::never();
        let passed = || check_part(&chain, &cycle, 0..100, &stop).unwrap().passed;
        write_part(&chain, &cycle, 0..100, &stop).unwrap();
        assert_eq!(passed(), u128::from(cycle.vacant()));
        let right = |node| {
            let mut next = [0];
            cycle.successors(node, &mut next);
            next[0]
        };
        let (next, far) = (right(42), right(right(42)));
        // A short cut past one node, two cycles, and a node that points to itself.
        for (from, to) in [(42, far), (42, 42), (far, next), (next, next)] {
            chain.link(from, to);
            assert_ne!(passed(), u128::from(cycle.vacant()), "{from} -> {to}");
            chain.link(from, right(from));
        }
        assert_eq!(passed(), u128::from(cycle.vacant()));
    }

    #[test]
    fn of_all_pointers_that_there_can_be_only_the_cycle_is_accepted() {
        for nodes in 1u64..=6 {
            let cycle = Cycle::new(nodes, 11);
            let mut right = vec![0; nodes as usize];
            cycle.successors(0, &mut right);
            let mut accepted = 0;
            for code in 0..nodes.pow(nodes as u32) {
                let pointers: Vec<u64> = (0..nodes).map(|node| code / nodes.pow(node as u32) % nodes).collect();
                if cycle.passed_over(0, &pointers) == u128::from(cycle.vacant()) {
                    assert_eq!(pointers, right);
                    accepted += 1;
                }
            }
            assert_eq!(accepted, 1, "{nodes}");
        }
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
