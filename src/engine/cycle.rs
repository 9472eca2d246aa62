//! A pseudo-random cycle through all nodes that is computed, not stored.

use super::{SplitMix64, derive};
use crate::kernels::{Vectorizable, with_widest_vectors};

/// Nodes that are computed at a time, with vector instructions.
pub const BATCH: usize = 256;

/// Rounds of the mixer. Two show strides that occur more often than by chance.
const ROUNDS: usize = 3;

/// Rounds that are added below this size, where there are too few factors to choose from for three rounds to do.
const MORE_ROUNDS: usize = 3;
const MORE_ROUNDS_BELOW: u64 = 1 << 18;

/// The lower half of a word.
const SHORT: u64 = u32::MAX as u64;

/// An odd factor and its inverse: their product is 1 modulo 2^64, and so modulo any smaller power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Factor {
    factor: u64,
    inverse: u64,
}

/// The nodes of a cycle in its order, again and again.
#[derive(Debug, Clone)]
pub struct Order {
    cycle: Cycle,
    state: u64,
}

impl Order {
    /// The next node. There must be one.
    #[allow(clippy::should_implement_trait, reason = "it has no end")]
    pub fn next(&mut self) -> u64 {
        loop {
            let mut mixed = [self.state];
            self.cycle.mix(&mut mixed);
            self.state = self.state.wrapping_add(self.cycle.step.factor) & self.cycle.mask;
            if mixed[0] < self.cycle.nodes || self.cycle.nodes == 0 {
                return mixed[0];
            }
        }
    }
}

/// One cycle through the nodes [0, n), in an order that belongs to a seed.
///
/// Every node has a *state*, its image under a bijection of [0, span), where the span is the least power of two that is
/// not below n. Adding an odd step to a state, modulo the span, goes through all states in turn (a Weyl sequence); that
/// is the order of the cycle, and states of numbers that are no nodes are passed over. What comes after a node needs
/// nothing but the node, so that any number of threads write and check a chain in the order of addresses.
///
/// The bijection is made as the finalisers of hash functions are (Appleby's MurmurHash3; Steele, Lea and Flood, OOPSLA
/// 2014), of rounds in which an odd multiplication carries changes upwards and exclusive-oring something of the upper
/// half to the lower half brings them down again. Here that is the square of the upper half: of the half itself three
/// rounds leave traces of the constant step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    nodes: u64,
    /// span - 1.
    mask: u64,
    /// Bits of the lower half of a state.
    low_bits: u32,
    /// Bits of the upper half, as many or one less: what is made of it must fit into the lower half.
    high_bits: u32,
    step: Factor,
    rounds: [Factor; ROUNDS],
    more: Vec<Factor>,
}

impl Cycle {
    /// The cycle through [0, `nodes`) that belongs to `seed`.
    pub fn new(nodes: u64, seed: u64) -> Self {
        let bits = u64::BITS - nodes.saturating_sub(1).leading_zeros();
        let mask = u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0);
        let mut random = SplitMix64::new(derive(seed, "cycle", nodes));
        let mut factor = || Factor::random(&mut random, bits);
        let (step, rounds) = (factor(), std::array::from_fn(|_| factor()));
        let more = (0..if nodes < MORE_ROUNDS_BELOW { MORE_ROUNDS } else { 0 }).map(|_| factor()).collect();
        Self { nodes, mask, low_bits: bits.div_ceil(2), high_bits: bits / 2, step, rounds, more }
    }

    /// States that no node has: span - n.
    pub fn vacant(&self) -> u64 {
        if self.nodes == 0 { 0 } else { self.mask - (self.nodes - 1) }
    }

    /// The node at place `place` of `of` equal arcs of the circle, or the first one after it.
    pub fn at(&self, place: u64, of: u64) -> u64 {
        let states = u128::from(self.mask) + 1;
        let steps = (states * u128::from(place) / u128::from(of.max(1))) as u64;
        Order { cycle: self.clone(), state: steps.wrapping_mul(self.step.factor) & self.mask }.next()
    }

    /// All nodes, one after the other in the order of the cycle.
    pub fn order(&self) -> Order {
        Order { cycle: self.clone(), state: 0 }
    }

    /// Puts into `next` what comes after the nodes from `first` on, all below n.
    pub fn successors(&self, first: u64, next: &mut [u64]) {
        for (next, first) in next.chunks_mut(BATCH).zip((first..).step_by(BATCH)) {
            with_widest_vectors(Successors { cycle: self, first, next });
        }
    }

    #[inline(always)]
    fn successors_of_batch(&self, first: u64, next: &mut [u64]) {
        let (mut states, mut mixed) = ([0; BATCH], [0; BATCH]);
        let mut slots: [usize; BATCH] = std::array::from_fn(|slot| slot);
        let mut open = next.len();
        self.states(first, &mut states[..open]);
        // Ends, since every state comes back to that of its own node at the latest. Which ones go on cannot be
        // predicted, and branching on each would take longer than all the arithmetic.
        while open > 0 {
            for (state, mixed) in states[..open].iter_mut().zip(&mut mixed) {
                *state = state.wrapping_add(self.step.factor) & self.mask;
                *mixed = *state;
            }
            self.mix(&mut mixed[..open]);
            let mut left = 0;
            for at in 0..open {
                next[slots[at]] = mixed[at];
                (slots[left], states[left]) = (slots[at], states[at]);
                left += usize::from(mixed[at] >= self.nodes);
            }
            open = left;
        }
    }

    /// How many states are passed over from each node from `first` on to the node in `next` that it points to, going
    /// forward and from the last state on to the first, added up. It is all states but its own where a node points to
    /// itself. All nodes are below n.
    ///
    /// The proof that pointers are one cycle rests on it, see `chain`.
    pub fn passed_over(&self, first: u64, next: &[u64]) -> u128 {
        let batches = next.chunks(BATCH).zip((first..).step_by(BATCH));
        batches.map(|(next, first)| with_widest_vectors(PassedOver { cycle: self, first, next })).sum()
    }

    #[inline(always)]
    fn passed_over_by_batch(&self, first: u64, next: &[u64]) -> u128 {
        let (mut from, mut to) = ([0; BATCH], [0; BATCH]);
        let (from, to) = (&mut from[..next.len()], &mut to[..next.len()]);
        self.states(first, from);
        to.copy_from_slice(next);
        self.unmix(to);
        let steps = |(from, to): (&u64, &u64)| to.wrapping_sub(*from).wrapping_mul(self.step.inverse);
        let passed = from.iter().zip(to.iter()).map(steps);
        passed.map(|steps| u128::from(steps.wrapping_sub(1) & self.mask)).sum()
    }

    /// The states of the nodes from `first` on.
    #[inline(always)]
    fn states(&self, first: u64, states: &mut [u64]) {
        for (state, node) in states.iter_mut().zip(first..) {
            *state = node;
        }
        self.unmix(states);
    }

    /// From states to nodes, or to numbers from n on.
    #[inline(always)]
    fn mix(&self, states: &mut [u64]) {
        if self.mask <= SHORT {
            self.mix_by(states, times_short);
        } else {
            self.mix_by(states, u64::wrapping_mul);
        }
    }

    #[inline(always)]
    fn mix_by(&self, states: &mut [u64], times: impl Fn(u64, u64) -> u64) {
        let round = |x: u64, by: &Factor| times(self.fold(x), by.factor) & self.mask;
        for x in states.iter_mut() {
            *x = self.rounds.iter().fold(*x, round);
        }
        for by in &self.more {
            states.iter_mut().for_each(|x| *x = round(*x, by));
        }
    }

    /// The inverse of `mix`.
    #[inline(always)]
    fn unmix(&self, nodes: &mut [u64]) {
        if self.mask <= SHORT {
            self.unmix_by(nodes, times_short);
        } else {
            self.unmix_by(nodes, u64::wrapping_mul);
        }
    }

    #[inline(always)]
    fn unmix_by(&self, nodes: &mut [u64], times: impl Fn(u64, u64) -> u64) {
        let round = |x: u64, by: &Factor| self.fold(times(x, by.inverse) & self.mask);
        for by in self.more.iter().rev() {
            nodes.iter_mut().for_each(|x| *x = round(*x, by));
        }
        for x in nodes.iter_mut() {
            *x = self.rounds.iter().rev().fold(*x, round);
        }
    }

    /// Exclusive-ors the upper half of the square of the upper half to the lower half; twice is not at all.
    #[inline(always)]
    fn fold(&self, x: u64) -> u64 {
        let high = x >> self.low_bits;
        x ^ (times_short(high, high) >> self.high_bits)
    }
}

/// A batch of [`Cycle::successors`].
struct Successors<'a> {
    cycle: &'a Cycle,
    first: u64,
    next: &'a mut [u64],
}

impl Vectorizable for Successors<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.cycle.successors_of_batch(self.first, self.next);
    }
}

/// A batch of [`Cycle::passed_over`].
struct PassedOver<'a> {
    cycle: &'a Cycle,
    first: u64,
    next: &'a [u64],
}

impl Vectorizable for PassedOver<'_> {
    type Output = u128;

    #[inline(always)]
    fn run(self) -> u128 {
        self.cycle.passed_over_by_batch(self.first, self.next)
    }
}

impl Factor {
    /// One that mixes numbers of `bits` bits. Near 0 or the span, or with such a lower half, it would hardly carry.
    fn random(random: &mut SplitMix64, bits: u32) -> Self {
        let carries = |x: u64, bits: u32| bits < 6 || !matches!(x >> (bits - 3) & 7, 0 | 7);
        let factor = loop {
            let factor = random.next_u64() | 1;
            if carries(factor, bits) && carries(factor, bits / 2) {
                break factor;
            }
        };
        // Newton's iteration: three bits of an odd number are its own inverse's, and every turn doubles them.
        let better = |x: u64, _| x.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(x)));
        Self { factor, inverse: (0..5).fold(factor, better) }
    }
}

/// The product of the lower halves: the multiplication that all vector instructions have.
#[inline(always)]
fn times_short(a: u64, b: u64) -> u64 {
    (a & SHORT) * (b & SHORT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const SEEDS: [u64; 4] = [0, 1, 42, u64::MAX];

    /// Sizes at which the order is examined: either number of rounds, powers of two and others.
    const EXAMINED: [u64; 4] = [1 << 16, 100_000, 300_001, 1 << 20];

    /// What each node points to.
    fn pointers(cycle: &Cycle) -> Vec<u64> {
        let mut next = vec![0; cycle.nodes as usize];
        cycle.successors(0, &mut next);
        next
    }

    /// The nodes in the order of the cycle, from node 0.
    fn walk(cycle: &Cycle) -> Vec<u64> {
        let pointers = pointers(cycle);
        let successor = |&node: &u64| Some(pointers[node as usize]).filter(|&next| next != 0);
        std::iter::successors(Some(0), successor).take(pointers.len() + 1).collect()
    }

    fn assert_single_cycle(nodes: u64, seed: u64) {
        let cycle = Cycle::new(nodes, seed);
        let walked = walk(&cycle);
        let mut seen = vec![false; nodes as usize];
        for &node in &walked {
            assert!(!std::mem::replace(&mut seen[node as usize], true), "{nodes} {seed}: {node} again");
        }
        assert_eq!(walked.len() as u64, nodes, "{nodes} {seed}");
        assert_eq!(pointers(&cycle)[walked[walked.len() - 1] as usize], 0, "{nodes} {seed}");
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
                assert_eq!(next[0], all[(i + 1) % all.len()], "after place {i} of {nodes}");
            }
            let arcs: Vec<u64> = (0..4).map(|place| cycle.at(place, 4)).collect();
            let places: Vec<usize> = arcs.iter().map(|n| all.iter().position(|m| m == n).unwrap()).collect();
            assert!(places[0] == 0 && places.windows(2).all(|pair| pair[0] <= pair[1]), "{places:?}");
            let near = |(arc, place): (usize, &usize)| place.abs_diff(arc * all.len() / 4) <= all.len() / 8 + 1;
            assert!(places.iter().enumerate().all(near), "{places:?} of {nodes}");
        }
    }

    #[test]
    fn every_small_size_is_one_cycle() {
        (1..=300).flat_map(|nodes| SEEDS.map(|seed| (nodes, seed))).for_each(|(n, seed)| assert_single_cycle(n, seed));
    }

    #[test]
    fn large_sizes_are_one_cycle() {
        for nodes in [65_535, 65_536, 65_537, MORE_ROUNDS_BELOW - 1, MORE_ROUNDS_BELOW, MORE_ROUNDS_BELOW + 1] {
            SEEDS.iter().for_each(|&seed| assert_single_cycle(nodes, seed));
        }
    }

    #[test]
    fn what_is_passed_over_are_the_vacant_states() {
        for nodes in (1..=300).chain([65_537, 100_000]) {
            let cycle = Cycle::new(nodes, 5);
            assert_eq!(nodes + cycle.vacant(), nodes.next_power_of_two());
            assert_eq!(cycle.passed_over(0, &pointers(&cycle)), u128::from(cycle.vacant()), "{nodes}");
            assert_eq!(cycle.passed_over(0, &[0]), u128::from(nodes.next_power_of_two() - 1));
        }
        assert_eq!(Cycle::new(0, 1).vacant(), 0);
    }

    #[test]
    fn the_largest_sizes_are_inverted() {
        for nodes in [u64::from(u32::MAX), 1 << 32, (1 << 32) + 1, (1 << 40) - 1, 1 << 63, u64::MAX - 1, u64::MAX] {
            let cycle = Cycle::new(nodes, 7);
            for first in [0, nodes / 3, nodes - BATCH as u64] {
                let mut states = [0; BATCH];
                cycle.states(first, &mut states);
                cycle.mix(&mut states);
                assert!(states.iter().copied().eq(first..first + BATCH as u64), "{nodes}");
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
            let (mut plain, mut vectors) = ([0; BATCH], [0; BATCH]);
            cycle.successors_of_batch(100, &mut plain);
            cycle.successors(100, &mut vectors);
            assert_eq!(plain, vectors, "{nodes}");
            assert_eq!(cycle.passed_over_by_batch(100, &plain), cycle.passed_over(100, &plain), "{nodes}");
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

    /// Standard deviations by which a chi-square exceeds its mean.
    fn excess(counts: impl Iterator<Item = u32>, expected: f64, freedom: f64) -> f64 {
        let chi2: f64 = counts.map(|c| (f64::from(c) - expected).powi(2) / expected).sum();
        (chi2 - freedom) / f64::sqrt(2.0 * freedom)
    }

    /// Of a 64 x 64 table of where a node lies in memory and where the node lies that is `hops` further on the cycle.
    /// Both margins of the table are fixed, hence 63 * 63 degrees of freedom.
    fn excess_of_position_table(order: &[u64], hops: usize) -> f64 {
        let n = order.len();
        let mut table = vec![0u32; 64 * 64];
        for (i, &node) in order.iter().enumerate() {
            let bucket = |node: u64| node as usize * 64 / n;
            table[bucket(node) * 64 + bucket(order[(i + hops) % n])] += 1;
        }
        excess(table.into_iter(), n as f64 / 4096.0, 63.0 * 63.0)
    }

    /// How often the most frequent of `values` below `bound` occurs.
    fn most_frequent(values: impl Iterator<Item = u64>, bound: u64) -> u32 {
        let mut counts = vec![0u32; bound as usize];
        values.for_each(|value| counts[value as usize] += 1);
        counts.into_iter().max().unwrap_or(0)
    }

    fn examine(check: impl Fn(&str, &[u64])) {
        for (nodes, seed) in EXAMINED.iter().flat_map(|&nodes| (0..2).map(move |seed| (nodes, seed))) {
            check(&format!("{nodes} nodes, seed {seed}"), &walk(&Cycle::new(nodes, seed)));
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
                // 64 nodes of a cache line each share a page of 4 KiB; by chance 64 of n successors do.
                let near = order.windows(hops + 1).filter(|w| w[0] / 64 == w[hops] / 64).count();
                // Mean 63 and about Poisson: 5 standard deviations.
                assert!((63 - 40..=63 + 40).contains(&near), "{name}, {hops} hops: {near}");
            }
        });
    }

    #[test]
    fn no_stride_stands_out() {
        examine(|name, order| {
            let n = order.len() as u64;
            for hops in [1, 2, 4] {
                let strides: Vec<u64> = order.windows(hops + 1).map(|w| (w[hops] + n - w[0]) % n).collect();
                // Each stride about once by chance; the most common of n Poisson(1) counts is 8 to 10.
                let most = most_frequent(strides.iter().copied(), n);
                assert!(most <= 14, "{name}, {hops} hops: {most}");
                let mut coarse = [0u32; 64];
                strides.iter().for_each(|stride| coarse[(stride * 64 / n) as usize] += 1);
                let excess = excess(coarse.into_iter(), n as f64 / 64.0, 63.0);
                assert!(excess < 5.0, "{name}, {hops} hops: {excess}");
            }
        });
    }

    #[test]
    fn strides_do_not_repeat() {
        // What a stride prefetcher waits for: the same stride twice, or strides that grow by the same amount.
        examine(|name, order| {
            let n = order.len() as u64;
            let strides: Vec<u64> = order.windows(2).map(|w| (w[1] + n - w[0]) % n).collect();
            let same = |gap: usize| strides.windows(gap + 1).filter(|w| w[0] == w[gap]).count();
            // About Poisson(1) for each gap.
            let repeats: Vec<usize> = (1..=8).map(same).collect();
            assert!(repeats.iter().all(|&r| r <= 9), "{name}: {repeats:?}");
            let growth = most_frequent(strides.windows(2).map(|w| (w[1] + n - w[0]) % n), n);
            assert!(growth <= 14, "{name}: {growth}");
        });
    }

    #[test]
    fn every_few_hops_go_to_other_pages() {
        // Any 64 hops in a row over 1024 pages and more meet about 62 different ones (a birthday count).
        examine(|name, order| {
            let pages = order.chunks_exact(64).map(|c| c.iter().map(|node| node / 64).collect::<BTreeSet<_>>().len());
            let pages: Vec<usize> = pages.collect();
            let mean = pages.iter().sum::<usize>() as f64 / pages.len() as f64;
            let all = order.len() as f64 / 64.0;
            let expected = all * (1.0 - (1.0 - 1.0 / all).powi(64));
            assert!((mean - expected).abs() < 0.3, "{name}: {mean}, expected {expected}");
            assert!(pages.iter().all(|&pages| pages >= 50), "{name}: {:?}", pages.iter().min());
        });
    }

    #[test]
    fn small_cycles_have_no_favourite_stride_either() {
        // A level-1 cache holds about 512 nodes: summed over many seeds, every stride is as frequent.
        for nodes in [256u64, 500, 512] {
            let mut counts = vec![0u32; nodes as usize];
            for seed in 0..400 {
                let next = pointers(&Cycle::new(nodes, seed));
                next.iter().zip(0..).for_each(|(next, node)| counts[((next + nodes - node) % nodes) as usize] += 1);
            }
            assert_eq!(counts[0], 0);
            let expected = 400.0 * nodes as f64 / (nodes - 1) as f64;
            let excess = excess(counts[1..].iter().copied(), expected, (nodes - 2) as f64);
            assert!(excess < 5.0, "{nodes}: {excess}");
        }
    }
}
