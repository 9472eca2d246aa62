//! A pseudo-random cycle through all nodes that is computed, not stored.

use kernels::Mixer;
use stats::{SplitMix64, derive};

/// Number of nodes whose places or successors are computed together, with vector instructions.
pub const BATCH: usize = 256;

/// Number of rounds of [`Mixer`]. With two rounds, some distances between successive nodes occur
/// more often than by chance.
const ROUNDS: usize = 3;

/// Additional rounds of the mixer for cycles of fewer than [`MORE_ROUNDS_BELOW`] nodes. Such a
/// small cycle has few possible factors, and three rounds mix too little.
const MORE_ROUNDS: usize = 3;
const MORE_ROUNDS_BELOW: u64 = 1 << 18;

/// An odd factor and its inverse. Their product is 1 modulo 2^64, and therefore also modulo any
/// smaller power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Factor {
    factor: u64,
    inverse: u64,
}

/// Endless iterator over the nodes of a cycle, in the order of the cycle.
#[derive(Debug, Clone)]
pub struct Order {
    cycle: Cycle,
    state: u64,
}

impl Order {
    /// Returns the next node. The cycle must have at least one node.
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

/// One cycle through the nodes [0, n), in an order derived from a seed.
///
/// Every node has a *state*, its image under a bijection of [0, span). The span is the least power
/// of two that is not below n. Repeated addition of an odd step to a state, modulo the span, visits
/// all states (a Weyl sequence). The cycle visits the nodes in this order of their states, and
/// skips states without a node. A successor is computed from the node alone, so any number of
/// threads can write and check a chain in the order of addresses.
///
/// The bijection is built like the finalisers of hash functions (Appleby's MurmurHash3; Steele, Lea
/// and Flood, OOPSLA 2014). In each round, a multiplication by an odd factor spreads a changed bit
/// to higher bits. An exclusive-or of the lower half with the upper half spreads the change to
/// lower bits. Unlike in those functions, the upper half is squared before the exclusive-or.
/// Without the square, three rounds leave traces of the constant step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    nodes: u64,
    /// The span minus 1.
    mask: u64,
    step: Factor,
    /// Maps states to nodes, or to numbers from n on for states without a node.
    mixer: Mixer,
}

impl Cycle {
    /// The cycle through [0, `nodes`) derived from `seed`.
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

    /// Number of values that the generator takes without naming a node of the chain.
    pub fn vacant(&self) -> u64 {
        if self.nodes == 0 {
            0
        } else {
            self.mask - (self.nodes - 1)
        }
    }

    /// Node at the start of arc `place`, when the circle is cut into `of` equal arcs. If no node is
    /// at the start, the result is the next node on the circle.
    pub fn at(&self, place: u64, of: u64) -> u64 {
        let states = u128::from(self.mask) + 1;
        self.from((states * u128::from(place) / u128::from(of.max(1))) as u64)
    }

    /// Node at place `place` of the circle. If the place has no node, the result is the next node
    /// on the circle, where the first place follows the last place.
    pub fn from(&self, place: u64) -> u64 {
        Order {
            cycle: self.clone(),
            state: place.wrapping_mul(self.step.factor) & self.mask,
        }
        .next()
    }

    /// The last place of the circle. The number of places is the number of states, a power of two.
    pub fn last_place(&self) -> u64 {
        self.mask
    }

    /// Replaces each node by its place on the circle.
    pub fn places(&self, nodes: &mut [u64]) {
        for nodes in nodes.chunks_mut(BATCH) {
            self.mixer.unmix(nodes);
            nodes
                .iter_mut()
                .for_each(|node| *node = node.wrapping_mul(self.step.inverse) & self.mask);
        }
    }

    /// All nodes in the order of the cycle, from state 0 on.
    pub fn order(&self) -> Order {
        Order {
            cycle: self.clone(),
            state: 0,
        }
    }

    /// Writes the successors of the nodes `first`, `first` + 1, ... to `next`. All these nodes must
    /// be below n.
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
        // The loop ends: after a whole turn at the latest, each state is again the state of its own
        // node. The loop has no branch for each state. Such a branch could not be predicted and
        // would cost more than the arithmetic.
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

    /// Total number of states that the pointers of the nodes `first`, `first` + 1, ... pass over.
    /// `next` contains the targets of these pointers. A pointer leads forward on the circle, where
    /// the first state follows the last state. A pointer from a node to itself passes over all
    /// other states. All these nodes must be below n.
    ///
    /// The proof that pointers form one cycle is based on this sum, see `native::chain_builder`.
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

    /// Writes the states of the nodes `first`, `first` + 1, ... to `states`.
    fn states(&self, first: u64, states: &mut [u64]) {
        for (state, node) in states.iter_mut().zip(first..) {
            *state = node;
        }
        self.mixer.unmix(states);
    }
}

impl Factor {
    /// A random factor that mixes numbers of `bits` bits. Factors near 0 or near the span hardly
    /// spread a changed bit to higher bits. Factors whose lower half is near its least or greatest
    /// value hardly do so either. Both kinds are rejected.
    fn random(random: &mut SplitMix64, bits: u32) -> Self {
        let carries = |x: u64, bits: u32| bits < 6 || !matches!(x >> (bits - 3) & 7, 0 | 7);
        let factor = loop {
            let factor = random.next_u64() | 1;
            if carries(factor, bits) && carries(factor, bits / 2) {
                break factor;
            }
        };
        // Newton's iteration. The lowest three bits of an odd number and of its inverse are the
        // same. Each step doubles the number of correct bits.
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
