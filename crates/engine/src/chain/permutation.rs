//! A pseudo-random cycle through all nodes that is computed, not stored.

use kernels::Mixer;
use stats::{SplitMix64, derive};

/// Nodes that are computed at a time, with vector instructions.
pub const BATCH: usize = 256;

/// Rounds of the mixer. Two show strides that occur more often than by chance.
const ROUNDS: usize = 3;

/// Rounds that are added below this size, where there are too few factors to choose from for three
/// rounds to do.
const MORE_ROUNDS: usize = 3;
const MORE_ROUNDS_BELOW: u64 = 1 << 18;

/// An odd factor and its inverse: their product is 1 modulo 2^64, and so modulo any smaller power
/// of two.
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
            self.cycle.mixer.mix(&mut mixed);
            self.state = self.state.wrapping_add(self.cycle.step.factor) & self.cycle.mask;
            if mixed[0] < self.cycle.nodes || self.cycle.nodes == 0 {
                return mixed[0];
            }
        }
    }
}

/// One cycle through the nodes [0, n), in an order that belongs to a seed.
///
/// Every node has a *state*, its image under a bijection of [0, span). The span is the least power
/// of two that is not below n. Adding an odd step to a state, modulo the span, visits all states in
/// turn (a Weyl sequence). That is the order of the cycle; states of no node are passed over. A
/// successor needs nothing but the node, so any number of threads write and check a chain in the
/// order of addresses.
///
/// The bijection is made like the finalisers of hash functions (Appleby's MurmurHash3; Steele, Lea
/// and Flood, OOPSLA 2014). In a round, an odd multiplication carries changes upwards, and an
/// exclusive-or of the upper half brings them down again. Here the upper half is squared: without
/// that, three rounds leave traces of the constant step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    nodes: u64,
    /// span - 1.
    mask: u64,
    step: Factor,
    /// From states to nodes, or to numbers from n on.
    mixer: Mixer,
}

impl Cycle {
    /// The cycle through [0, `nodes`) that belongs to `seed`.
    pub fn new(nodes: u64, seed: u64) -> Self {
        let bits = u64::BITS - nodes.saturating_sub(1).leading_zeros();
        let mask = u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0);
        let mut random = SplitMix64::new(derive(seed, "cycle", nodes));
        let mut factor = || Factor::random(&mut random, bits);
        let step = factor();
        let rounds = ROUNDS
            + if nodes < MORE_ROUNDS_BELOW {
                MORE_ROUNDS
            } else {
                0
            };
        let rounds: Vec<Factor> = (0..rounds).map(|_| factor()).collect();
        let mixer = Mixer {
            mask,
            low_bits: bits.div_ceil(2),
            high_bits: bits / 2,
            factors: rounds.iter().map(|f| f.factor).collect(),
            inverses: rounds.iter().rev().map(|f| f.inverse).collect(),
        };
        Self {
            nodes,
            mask,
            step,
            mixer,
        }
    }

    /// States that no node has: span - n.
    pub fn vacant(&self) -> u64 {
        if self.nodes == 0 {
            0
        } else {
            self.mask - (self.nodes - 1)
        }
    }

    /// The node at place `place` of `of` equal arcs of the circle, or the first one after it.
    pub fn at(&self, place: u64, of: u64) -> u64 {
        let states = u128::from(self.mask) + 1;
        self.from((states * u128::from(place) / u128::from(of.max(1))) as u64)
    }

    /// The node at place `place` of the circle. Places continue from the last to the first. A place
    /// of no node stands for the first node after it.
    pub fn from(&self, place: u64) -> u64 {
        Order {
            cycle: self.clone(),
            state: place.wrapping_mul(self.step.factor) & self.mask,
        }
        .next()
    }

    /// The last place of the circle: there are as many as states, a power of two.
    pub fn last_place(&self) -> u64 {
        self.mask
    }

    /// Makes of each node its place on the circle.
    pub fn places(&self, nodes: &mut [u64]) {
        for nodes in nodes.chunks_mut(BATCH) {
            self.mixer.unmix(nodes);
            nodes
                .iter_mut()
                .for_each(|node| *node = node.wrapping_mul(self.step.inverse) & self.mask);
        }
    }

    /// All nodes, one after the other in the order of the cycle.
    pub fn order(&self) -> Order {
        Order {
            cycle: self.clone(),
            state: 0,
        }
    }

    /// Puts into `next` what comes after the nodes from `first` on, all below n.
    pub fn successors(&self, first: u64, next: &mut [u64]) {
        for (next, first) in next.chunks_mut(BATCH).zip((first..).step_by(BATCH)) {
            self.successors_of_batch(first, next);
        }
    }

    fn successors_of_batch(&self, first: u64, next: &mut [u64]) {
        let mut states = [0; BATCH];
        let mut mixed = [0; BATCH];
        let mut slots: [usize; BATCH] = std::array::from_fn(|slot| slot);
        let mut open = next.len();
        self.states(first, &mut states[..open]);
        // Ends, since every state comes back to that of its own node at the latest. Which ones go
        // on cannot be predicted, and branching on each would take longer than all the arithmetic.
        while open > 0 {
            for (state, mixed) in states[..open].iter_mut().zip(&mut mixed) {
                *state = state.wrapping_add(self.step.factor) & self.mask;
                *mixed = *state;
            }
            self.mixer.mix(&mut mixed[..open]);
            let mut left = 0;
            for at in 0..open {
                next[slots[at]] = mixed[at];
                (slots[left], states[left]) = (slots[at], states[at]);
                left += usize::from(mixed[at] >= self.nodes);
            }
            open = left;
        }
    }

    /// Sum, over the nodes from `first` on, of the states that are passed over on the way to the
    /// node in `next` that each points to. The way goes forward and continues from the last state
    /// to the first. A node that points to itself passes over all other states. All nodes are below
    /// n.
    ///
    /// The proof that pointers are one cycle rests on it, see `chain`.
    pub fn passed_over(&self, first: u64, next: &[u64]) -> u128 {
        let batches = next.chunks(BATCH).zip((first..).step_by(BATCH));
        batches
            .map(|(next, first)| self.passed_over_by_batch(first, next))
            .sum()
    }

    fn passed_over_by_batch(&self, first: u64, next: &[u64]) -> u128 {
        let mut from = [0; BATCH];
        let mut to = [0; BATCH];
        let from = &mut from[..next.len()];
        let to = &mut to[..next.len()];
        self.states(first, from);
        to.copy_from_slice(next);
        self.mixer.unmix(to);
        let steps =
            |(from, to): (&u64, &u64)| to.wrapping_sub(*from).wrapping_mul(self.step.inverse);
        let passed = from.iter().zip(to.iter()).map(steps);
        passed
            .map(|steps| u128::from(steps.wrapping_sub(1) & self.mask))
            .sum()
    }

    /// The states of the nodes from `first` on.
    fn states(&self, first: u64, states: &mut [u64]) {
        for (state, node) in states.iter_mut().zip(first..) {
            *state = node;
        }
        self.mixer.unmix(states);
    }
}

impl Factor {
    /// One that mixes numbers of `bits` bits. Near 0 or the span, or with such a lower half, it
    /// would hardly carry.
    fn random(random: &mut SplitMix64, bits: u32) -> Self {
        let carries = |x: u64, bits: u32| bits < 6 || !matches!(x >> (bits - 3) & 7, 0 | 7);
        let factor = loop {
            let factor = random.next_u64() | 1;
            if carries(factor, bits) && carries(factor, bits / 2) {
                break factor;
            }
        };
        // Newton's iteration: three bits of an odd number are its own inverse's, and every turn
        // doubles them.
        let better = |x: u64, _| x.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(x)));
        Self {
            factor,
            inverse: (0..5).fold(factor, better),
        }
    }
}

#[cfg(test)]
#[path = "permutation_tests.rs"]
mod tests;
