//! Orders in which chains go through their nodes. No order is stored. The successor of a node, and
//! the places that a pointer passes over, are computed from the indices of nodes alone. Any number
//! of threads can therefore write and check a chain.
//!
//! Every node has a place on a circle, as in [`Cycle`]. A chain goes from each occupied place to
//! the next occupied place. Some chains visit all nodes of one window (a piece of memory) before
//! the next window. In such a chain, the upper bits of a node's place are the place of its window.
//! The lower bits are the node's place inside the window.

use crate::chain::permutation::{BATCH, Cycle};
use crate::work::{ChainShape, ChaseWork};
use stats::{SplitMix64, derive};
use std::borrow::Cow;
use std::ops::Range;
use units::Bytes;

/// Largest number of windows in random order for which [`ChainOrder::at`] is exact. With more
/// windows its result is approximate.
const MAX_COUNTED: u64 = 4096;

/// The order of a chain: one cycle over all of its nodes.
#[derive(Debug, Clone)]
pub struct ChainOrder {
    nodes: u64,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    /// All nodes in random order.
    Random(Cycle),
    /// Nodes by rising address.
    Rising,
    /// All nodes of one window, then all nodes of the next window.
    Windows(Box<Windows>),
    /// Both nodes of a pair, then both nodes of the next pair. The [`Cycle`] is the random order of
    /// the pairs.
    Pairs(Cycle),
}

/// The order of a chain that visits all nodes of one window before it visits the next window.
#[derive(Debug, Clone)]
struct Windows {
    nodes: u64,
    /// Number of nodes in each window; the last window may have fewer.
    window: u64,
    count: u64,
    /// Random order of the windows; `None` for rising addresses.
    random: Option<Cycle>,
    /// Order of the nodes inside every whole window; `None` if the order differs from window to
    /// window.
    same: Option<Inside>,
    seed: u64,
    /// Base-2 logarithm of the number of places inside a whole window.
    bits: u32,
}

/// The order inside a window. Nodes are counted from the first node of the window.
#[derive(Debug, Clone)]
struct Inside {
    cycle: Cycle,
    /// Place at which the chain enters the window. The place is chosen at random, because place 0
    /// is always the place of node 0.
    entry: u64,
}

impl ChainOrder {
    /// The order of the chain of `work`.
    pub fn for_work(work: &ChaseWork) -> Self {
        Self::new(work.shape, work.nodes(), work.stride, work.seed)
    }

    /// The order of `nodes` nodes that lie `stride` bytes apart, derived from `seed`. The size of a
    /// window is rounded down to whole nodes, at least one.
    pub fn new(shape: ChainShape, nodes: u64, stride: Bytes, seed: u64) -> Self {
        let windows = |window: Bytes, random: bool, same: bool| {
            let window = (window.0 / stride.0.max(1)).clamp(1, nodes.max(1));
            Kind::Windows(Box::new(Windows::new((nodes, window), seed, random, same)))
        };
        let kind = match shape {
            ChainShape::GlobalRandom | ChainShape::OnePerPage(_) => {
                Kind::Random(Cycle::new(nodes, seed))
            }
            ChainShape::Sequential => Kind::Rising,
            ChainShape::RandomBox(window) => windows(window, true, false),
            ChainShape::SameRandomInBox(window) => windows(window, false, true),
            ChainShape::DiffRandomInBox(window) => windows(window, false, false),
            ChainShape::Pairs { .. } => Kind::Pairs(Cycle::new(nodes.div_ceil(2), seed)),
        };
        Self { nodes, kind }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The last place of the circle: a power of two minus one.
    fn last_place(&self) -> u64 {
        match &self.kind {
            Kind::Random(cycle) => cycle.last_place(),
            Kind::Rising => self.nodes.next_power_of_two() - 1,
            Kind::Windows(windows) => windows.last_place(),
            Kind::Pairs(cycle) => 2 * cycle.last_place() + 1,
        }
    }

    /// Number of places without a node.
    pub fn vacant(&self) -> u64 {
        match &self.kind {
            Kind::Random(cycle) => cycle.vacant(),
            _ if self.nodes == 0 => 0,
            _ => self.last_place() - (self.nodes - 1),
        }
    }

    /// Writes the successors of the nodes `first`, `first` + 1, ... to `next`. All these nodes must
    /// exist.
    pub fn successors(&self, first: u64, next: &mut [u64]) {
        match &self.kind {
            Kind::Random(cycle) => cycle.successors(first, next),
            Kind::Rising => {
                let after = |node: u64| if node + 1 < self.nodes { node + 1 } else { 0 };
                next.iter_mut()
                    .zip(first..)
                    .for_each(|(next, node)| *next = after(node));
            }
            Kind::Windows(windows) => windows.successors(first, next),
            Kind::Pairs(cycle) => self.successors_of_pairs(cycle, first, next),
        }
    }

    /// Total number of places that the pointers of the nodes `first`, `first` + 1, ... pass over.
    /// `next` contains the targets of these pointers. A pointer leads forward on the circle, where
    /// the first place follows the last place. A pointer from a node to itself passes over all
    /// other places. All these nodes and targets must exist.
    ///
    /// The proof that pointers form one cycle is based on this sum, see `native::chain_builder`.
    pub fn passed_over(&self, first: u64, next: &[u64]) -> u128 {
        match &self.kind {
            Kind::Random(cycle) => cycle.passed_over(first, next),
            Kind::Rising => {
                let passed = |(node, next): (u64, &u64)| between(node, *next, self.last_place());
                (first..).zip(next).map(passed).sum()
            }
            Kind::Windows(windows) => windows.passed_over(first, next),
            Kind::Pairs(cycle) => {
                let batches = next.chunks(BATCH).zip((first..).step_by(BATCH));
                batches
                    .map(|(next, first)| self.passed_over_by_pairs(cycle, first, next))
                    .sum()
            }
        }
    }

    /// First node of part `place`, if the order is cut into `of` nearly equal parts that are
    /// numbered from 0.
    pub fn at(&self, place: u64, of: u64) -> u64 {
        match &self.kind {
            Kind::Random(cycle) => cycle.at(place, of),
            Kind::Rising => share(u128::from(self.nodes), place, of) as u64,
            Kind::Windows(windows) => windows.at(place, of),
            Kind::Pairs(cycle) => 2 * cycle.at(place, of),
        }
    }

    /// [`ChainOrder::successors`] for pairs. The second node of a pair follows the first. Then
    /// comes the first node of the next pair.
    fn successors_of_pairs(&self, cycle: &Cycle, first: u64, next: &mut [u64]) {
        let mut pairs = [0; BATCH];
        for (next, first) in next.chunks_mut(BATCH).zip((first..).step_by(BATCH)) {
            let from = first / 2;
            let last = (first + next.len() as u64 - 1) / 2;
            // If a batch begins with the second node of a pair, its number of pairs is half its
            // number of nodes plus one. This is below BATCH.
            let pairs = &mut pairs[..(last - from + 1) as usize];
            cycle.successors(from, pairs);
            for (next, node) in next.iter_mut().zip(first..) {
                let alone = node + 1 >= self.nodes;
                *next = if node % 2 == 0 && !alone {
                    node + 1
                } else {
                    2 * pairs[(node / 2 - from) as usize]
                };
            }
        }
    }

    /// [`ChainOrder::passed_over`] for pairs and at most [`BATCH`] nodes. The place of a node is
    /// twice the place of its pair, plus one for the second node.
    fn passed_over_by_pairs(&self, cycle: &Cycle, first: u64, next: &[u64]) -> u128 {
        let mut from = [0; BATCH];
        let mut to = [0; BATCH];
        let from = &mut from[..next.len()];
        let to = &mut to[..next.len()];
        from.iter_mut()
            .zip(first..)
            .for_each(|(pair, node)| *pair = node / 2);
        to.iter_mut()
            .zip(next)
            .for_each(|(pair, node)| *pair = node / 2);
        cycle.places(from);
        cycle.places(to);
        let place = |pair: u64, node: u64| 2 * pair + node % 2;
        let passed = |(((from, to), next), node): (((&u64, &u64), &u64), u64)| {
            between(place(*from, node), place(*to, *next), self.last_place())
        };
        from.iter()
            .zip(to.iter())
            .zip(next)
            .zip(first..)
            .map(passed)
            .sum()
    }
}

/// Number of places between `from` and `to` on a circle, going forward. `last` is the last place of
/// the circle, a power of two minus one.
fn between(from: u64, to: u64, last: u64) -> u128 {
    u128::from(to.wrapping_sub(from).wrapping_sub(1) & last)
}

/// Index of the first item of part `place`, if `all` items are cut into `of` nearly equal parts
/// that are numbered from 0.
fn share(all: u128, place: u64, of: u64) -> u128 {
    all * u128::from(place) / u128::from(of.max(1))
}

impl Windows {
    fn new((nodes, window): (u64, u64), seed: u64, random: bool, same: bool) -> Self {
        let count = nodes.div_ceil(window);
        let random = random.then(|| Cycle::new(count, derive(seed, "windows", count)));
        let bits = window.next_power_of_two().trailing_zeros();
        let same = same.then(|| Inside::new(window, seed));
        Self {
            nodes,
            window,
            count,
            random,
            same,
            seed,
            bits,
        }
    }

    fn last_place(&self) -> u64 {
        (self.count.next_power_of_two() << self.bits) - 1
    }

    /// Number of nodes of window `window`.
    fn length(&self, window: u64) -> u64 {
        self.window.min(self.nodes - window * self.window)
    }

    /// The order inside window `window`.
    fn inside(&self, window: u64) -> Cow<'_, Inside> {
        let nodes = self.length(window);
        match &self.same {
            Some(same) if nodes == self.window => Cow::Borrowed(same),
            Some(_) => Cow::Owned(Inside::new(nodes, self.seed)),
            None => Cow::Owned(Inside::new(nodes, derive(self.seed, "window", window))),
        }
    }

    /// The place of window `window` in the order of the windows.
    fn place(&self, window: u64) -> u64 {
        let mut place = [window];
        if let Some(random) = &self.random {
            random.places(&mut place);
        }
        place[0]
    }

    /// The window after `window` in the order of the chain.
    fn following(&self, window: u64) -> u64 {
        let mut next = [if window + 1 < self.count {
            window + 1
        } else {
            0
        }];
        if let Some(random) = &self.random {
            random.successors(window, &mut next);
        }
        next[0]
    }

    /// The node at which window `window` is entered.
    fn entry(&self, window: u64) -> u64 {
        window * self.window + self.inside(window).first()
    }

    /// The windows that contain the `count` nodes from `first` on. Each item has the index of a
    /// window, and the position of the first requested node in this window. The third value is the
    /// range of the window's requested nodes in `0..count`.
    fn parts(&self, first: u64, count: usize) -> impl Iterator<Item = (u64, u64, Range<usize>)> {
        let size = self.window;
        let end = first + count as u64;
        (first / size..end.div_ceil(size)).map(move |window| {
            let base = window * size;
            let start = first.max(base);
            let stop = end.min(base + size);
            (
                window,
                start - base,
                (start - first) as usize..(stop - first) as usize,
            )
        })
    }

    fn successors(&self, first: u64, next: &mut [u64]) {
        for (window, inner, range) in self.parts(first, next.len()) {
            let inside = self.inside(window);
            let next = &mut next[range];
            inside.cycle.successors(inner, next);
            // The last node of a window leads to the next window, instead of the first node of its
            // own window.
            let first = inside.first();
            let last = next.iter().position(|&to| to == first);
            next.iter_mut().for_each(|to| *to += window * self.window);
            if let Some(last) = last {
                next[last] = self.entry(self.following(window));
            }
        }
    }

    fn passed_over(&self, first: u64, next: &[u64]) -> u128 {
        let mut passed = 0;
        for (window, inner, range) in self.parts(first, next.len()) {
            let inside = self.inside(window);
            let batches = next[range].chunks(BATCH).zip((inner..).step_by(BATCH));
            let gap_sum = |(next, inner)| self.passed_over_by_batch((window, &inside), inner, next);
            passed += batches.map(gap_sum).sum::<u128>();
        }
        passed
    }

    /// [`ChainOrder::passed_over`] for at most [`BATCH`] nodes of one window.
    fn passed_over_by_batch(
        &self,
        (window, inside): (u64, &Inside),
        inner: u64,
        next: &[u64],
    ) -> u128 {
        let mut from = [0; BATCH];
        let mut to = [0; BATCH];
        let from = &mut from[..next.len()];
        let to = &mut to[..next.len()];
        let base = window * self.window;
        let nodes = base..self.nodes.min(base + self.window);
        from.iter_mut()
            .zip(inner..)
            .for_each(|(from, node)| *from = node);
        to.iter_mut()
            .zip(next)
            .for_each(|(to, node)| *to = if nodes.contains(node) { node - base } else { 0 });
        inside.places(from);
        inside.places(to);
        let above = self.place(window) << self.bits;
        let mut passed = 0;
        for ((from, to), node) in from.iter().zip(to.iter()).zip(next) {
            let to = if nodes.contains(node) {
                above + to
            } else {
                self.place_of(*node)
            };
            passed += between(above + from, to, self.last_place());
        }
        passed
    }

    /// The place of a node on the circle of all places.
    fn place_of(&self, node: u64) -> u64 {
        let window = node / self.window;
        let mut inner = [node % self.window];
        self.inside(window).places(&mut inner);
        (self.place(window) << self.bits) + inner[0]
    }

    fn at(&self, place: u64, of: u64) -> u64 {
        let (window, inner) = self.window_at(share(u128::from(self.nodes), place, of) as u64);
        let inside = self.inside(window);
        let places = u128::from(inside.cycle.last_place()) + 1;
        let place = share(places, inner, self.length(window)) as u64;
        window * self.window + inside.cycle.from(inside.entry.wrapping_add(place))
    }

    /// The window that contains the node at position `place` of the chain's order. The second value
    /// is the number of nodes of this window that come before that node. The result is approximate
    /// for more than [`MAX_COUNTED`] windows in random order.
    fn window_at(&self, place: u64) -> (u64, u64) {
        let before = place / self.window;
        let inner = place % self.window;
        let Some(random) = &self.random else {
            return (before, inner);
        };
        if self.count > MAX_COUNTED {
            let places = u128::from(random.last_place()) + 1;
            return (random.from(share(places, before, self.count) as u64), inner);
        }
        let mut order = random.order();
        let mut left = place;
        loop {
            let window = order.next();
            match left.checked_sub(self.length(window)) {
                Some(less) => left = less,
                None => return (window, left),
            }
        }
    }
}

impl Inside {
    fn new(nodes: u64, seed: u64) -> Self {
        let cycle = Cycle::new(nodes, seed);
        let entry = SplitMix64::new(derive(seed, "entry", nodes)).next_u64() & cycle.last_place();
        Self { cycle, entry }
    }

    /// Node at which the chain enters the window.
    fn first(&self) -> u64 {
        self.cycle.from(self.entry)
    }

    /// Replaces each node by its place inside the window, counted from the entry.
    fn places(&self, nodes: &mut [u64]) {
        self.cycle.places(nodes);
        nodes
            .iter_mut()
            .for_each(|place| *place = place.wrapping_sub(self.entry) & self.cycle.last_place());
    }
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
