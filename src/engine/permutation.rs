//! A pseudo-random permutation that is computed, not stored, and the single cycle made from it.

use super::{SplitMix64, derive};

/// From this size on two pairs of rounds will do: four rounds make a permutation that cannot be told from a random one
/// by few queries, even by asking for inverses (Luby and Rackoff, SIAM J. Comput. 17, 1988). What "few" is shrinks with
/// the size: summed over some hundred seeds, cycles of 512 nodes out of four rounds show favoured strides, out of six
/// none. The small ones can afford it, their tables are in the level-1 cache.
const TWO_PAIRS_FROM: u64 = 1 << 20;

/// No table of a round has more entries.
const LARGEST_TABLE: u64 = 1 << 20;

/// Two rounds of the Feistel network. The round functions are tables of random numbers, which is as random as a
/// function gets, and twice as fast as computing one that mixes well.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rounds {
    /// By the low part, what is added to the high part: below b.
    to_high: Box<[u32]>,
    /// By the high part, what is exclusive-ored to the low part: below a.
    to_low: Box<[u32]>,
}

/// A keyed pseudo-random bijection of [0, n), and its inverse, in memory that grows with the square root of n: 96 KiB
/// for 2^25 indices, 16 MiB at most.
///
/// Source: Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002: a Feistel network generalised to a
/// product a * b >= n, and cycle walking for what is left over. Here a is the power of two near the square root of n
/// and b = ceil(n / a), so that splitting an index needs a shift in place of a division, and at most a - 1 of a * b
/// indices are left over: about one in sqrt(n) has to walk.
///
/// Above n = 2^40 the tables stop growing and the round functions see the lower 20 bits of each part only: still a
/// bijection and a single cycle, but less random. Indices from n on map to themselves, so every function here is a bijection of all of `u64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permutation {
    n: u64,
    /// log2 of a.
    low_bits: u32,
    /// b.
    high_count: u64,
    pairs: Vec<Rounds>,
}

impl Permutation {
    /// The permutation of [0, n) that belongs to `seed`.
    pub fn new(n: u64, seed: u64) -> Self {
        let bits = u64::BITS - n.saturating_sub(1).leading_zeros();
        let low_bits = bits.div_ceil(2);
        let mut random = SplitMix64::new(derive(seed, "permutation", n));
        let high_count = n.div_ceil(1 << low_bits);
        let mut table = |entries: u64, below: u64| -> Box<[u32]> {
            (0..entries.min(LARGEST_TABLE)).map(|_| random.below(below) as u32).collect()
        };
        let pairs = if n < TWO_PAIRS_FROM { 3 } else { 2 };
        let pairs = (0..pairs)
            .map(|_| Rounds { to_high: table(1 << low_bits, high_count), to_low: table(high_count, 1 << low_bits) })
            .collect();
        Self { n, low_bits, high_count, pairs }
    }

    /// How many indices it permutes: n.
    pub fn len(&self) -> u64 {
        self.n
    }

    /// Whether there is nothing to permute.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Where `i` goes.
    #[inline]
    pub fn apply(&self, i: u64) -> u64 {
        if i >= self.n {
            return i;
        }
        let mut j = self.forward(i);
        // Terminates: the cycle of i comes back to i, which is below n.
        while j >= self.n {
            j = self.forward(j);
        }
        j
    }

    /// Where `j` comes from: `invert(apply(i)) == i`.
    #[inline]
    pub fn invert(&self, j: u64) -> u64 {
        if j >= self.n {
            return j;
        }
        let mut i = self.backward(j);
        while i >= self.n {
            i = self.backward(i);
        }
        i
    }

    /// The next index after `j` on one cycle through all of [0, n): `apply(invert(j) + 1 mod n)`, the cycle
    /// 0 -> 1 -> ... -> n - 1 -> 0 with its members renamed. As it needs nothing but `j`, a pointer chain can be
    /// written in address order and by any number of threads.
    #[inline]
    pub fn successor(&self, j: u64) -> u64 {
        if j >= self.n {
            return j;
        }
        let next = self.invert(j) + 1;
        self.apply(if next == self.n { 0 } else { next })
    }

    /// The permutation as an endless sequence: `apply(from)`, `apply(from + 1)` and so on, from `n - 1` on to 0. Any n
    /// in a row are all of [0, n). It is also the cycle of [`successor`](Self::successor), from `apply(from)` on.
    /// Empty where `from` is not below n.
    pub fn walk(&self, from: u64) -> impl Iterator<Item = u64> + '_ {
        let mut i = from;
        std::iter::from_fn(move || {
            let j = (i < self.n).then(|| self.apply(i))?;
            i = if i + 1 == self.n { 0 } else { i + 1 };
            Some(j)
        })
    }

    /// The Feistel network on [0, a * b).
    #[inline]
    fn forward(&self, i: u64) -> u64 {
        let mask = (1 << self.low_bits) - 1;
        let (mut low, mut high) = (i & mask, i >> self.low_bits);
        for pair in &self.pairs {
            // The high part first: it is the low one in which an index differs from the next.
            let sum = high + look_up(&pair.to_high, low);
            high = sum.min(sum.wrapping_sub(self.high_count));
            low ^= look_up(&pair.to_low, high);
        }
        high << self.low_bits | low
    }

    /// The inverse of `forward`.
    #[inline]
    fn backward(&self, j: u64) -> u64 {
        let mask = (1 << self.low_bits) - 1;
        let (mut low, mut high) = (j & mask, j >> self.low_bits);
        for pair in self.pairs.iter().rev() {
            low ^= look_up(&pair.to_low, high);
            let difference = high.wrapping_sub(look_up(&pair.to_high, low));
            high = difference.min(difference.wrapping_add(self.high_count));
        }
        high << self.low_bits | low
    }
}

/// The round function `table` at `part`.
#[inline]
fn look_up(table: &[u32], part: u64) -> u64 {
    u64::from(table[(part & (LARGEST_TABLE - 1)) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEDS: [u64; 4] = [0, 1, 42, u64::MAX];

    fn assert_bijection(n: u64, seed: u64) {
        let permutation = Permutation::new(n, seed);
        let mut seen = vec![false; n as usize];
        for i in 0..n {
            let j = permutation.apply(i);
            assert!(j < n && !std::mem::replace(&mut seen[j as usize], true), "{n} {seed}: {i} -> {j}");
            assert_eq!(permutation.invert(j), i, "{n} {seed}");
        }
    }

    fn assert_single_cycle(n: u64, seed: u64) {
        let permutation = Permutation::new(n, seed);
        let (mut at, mut steps) = (0, 0);
        loop {
            at = permutation.successor(at);
            steps += 1;
            if at == 0 || steps > n {
                break;
            }
        }
        assert_eq!(steps, n, "{n} {seed}");
    }

    #[test]
    fn every_small_size_is_permuted_in_one_cycle() {
        for n in 1..=300 {
            for seed in SEEDS {
                assert_bijection(n, seed);
                assert_single_cycle(n, seed);
            }
        }
    }

    #[test]
    fn large_sizes_are_permuted_in_one_cycle() {
        for n in [65_535, 65_536, 65_537, 1_000_003, (1 << 20) + 1] {
            for seed in &SEEDS[..2] {
                assert_bijection(n, *seed);
                assert_single_cycle(n, *seed);
            }
        }
    }

    #[test]
    fn the_largest_sizes_are_inverted() {
        for n in [1 << 32, (1 << 32) + 1, (1 << 40) - 1, 1 << 63, u64::MAX - 1, u64::MAX] {
            let permutation = Permutation::new(n, 7);
            for i in (0..1000).chain(n - 1000..n) {
                let j = permutation.apply(i);
                assert!(j < n);
                assert_eq!(permutation.invert(j), i, "{n}");
            }
        }
    }

    #[test]
    fn what_is_outside_stays() {
        let permutation = Permutation::new(10, 1);
        for i in [10, 11, 16, u64::MAX] {
            assert_eq!((permutation.apply(i), permutation.invert(i), permutation.successor(i)), (i, i, i));
        }
        let empty = Permutation::new(0, 1);
        assert!(empty.is_empty() && empty.apply(0) == 0 && empty.successor(0) == 0);
        assert_eq!(
            (empty.walk(0).count(), permutation.walk(10).count(), permutation.walk(u64::MAX).count()),
            (0, 0, 0)
        );
    }

    #[test]
    fn a_walk_is_the_cycle() {
        let permutation = Permutation::new(1000, 3);
        assert_eq!(permutation.len(), 1000);
        let walked: Vec<u64> = permutation.walk(990).take(1500).collect();
        assert!(walked.windows(2).all(|pair| permutation.successor(pair[0]) == pair[1]));
        assert_eq!(walked[0], permutation.apply(990));
        assert_eq!(walked[10], permutation.apply(0));
        assert_eq!(walked[1000], walked[0]);
    }

    #[test]
    fn seeds_and_sizes_give_different_permutations() {
        let first = |n, seed| Permutation::new(n, seed).walk(0).take(64).collect::<Vec<_>>();
        let all: std::collections::BTreeSet<Vec<u64>> = (0..100).map(|seed| first(1 << 20, seed)).collect();
        assert_eq!(all.len(), 100);
        assert_ne!(first(1 << 20, 1)[..8], first((1 << 20) - 1, 1)[..8]);
        assert_eq!(first(1 << 20, 1), first(1 << 20, 1));
    }

    /// Chi-square of a 64 x 64 table of positions of a node and its successor, in standard deviations from its mean.
    /// Both margins of the table are fixed, hence 63 * 63 degrees of freedom.
    fn excess_of_position_table(n: u64, seed: u64) -> f64 {
        let permutation = Permutation::new(n, seed);
        let mut table = vec![0u32; 64 * 64];
        for j in 0..n {
            let bucket = |node: u64| (node * 64 / n) as usize;
            table[bucket(j) * 64 + bucket(permutation.successor(j))] += 1;
        }
        let expected = n as f64 / 4096.0;
        let chi2: f64 = table.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
        let freedom = 63.0 * 63.0;
        (chi2 - freedom) / f64::sqrt(2.0 * freedom)
    }

    #[test]
    fn successors_are_spread_evenly() {
        for seed in 0..8 {
            for n in [1 << 16, 100_000, 1 << 20] {
                let excess = excess_of_position_table(n, seed);
                assert!(excess.abs() < 5.0, "{n} {seed}: {excess}");
            }
        }
    }

    #[test]
    fn successors_are_seldom_near() {
        // 64 nodes of a cache line each share a page of 4 KiB; by chance 64 of n successors do.
        for (n, seed) in (0..8).flat_map(|seed| [(1u64 << 16, seed), (200_000, seed), (1 << 20, seed)]) {
            let permutation = Permutation::new(n, seed);
            let near = (0..n).filter(|&j| permutation.successor(j) / 64 == j / 64).count();
            // Mean 63 and about Poisson: 5 standard deviations.
            assert!((63 - 40..=63 + 40).contains(&near), "{n} {seed}: {near}");
        }
    }

    #[test]
    fn no_stride_stands_out() {
        for (n, seed) in (0..4).flat_map(|seed| [(1u64 << 16, seed), (200_000, seed), (1 << 20, seed)]) {
            let permutation = Permutation::new(n, seed);
            let mut counts = vec![0u32; n as usize];
            let mut distances = [0u32; 64];
            for j in 0..n {
                let stride = (permutation.successor(j) + n - j) % n;
                counts[stride as usize] += 1;
                distances[(stride * 64 / n) as usize] += 1;
            }
            // Each stride about once by chance; the most common of n Poisson(1) counts is 8 to 10.
            let most = counts.iter().max().copied().unwrap();
            assert!(most <= 14, "{n} {seed}: {most}");
            let expected = n as f64 / 64.0;
            let chi2: f64 = distances.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
            assert!(chi2 < 63.0 + 5.0 * f64::sqrt(126.0), "{n} {seed}: {chi2}");
        }
    }

    #[test]
    fn small_cycles_have_no_favourite_stride_either() {
        // A level-1 cache holds about 512 nodes: summed over many seeds, every stride is as frequent.
        for n in [256u64, 500, 512] {
            let mut counts = vec![0u32; n as usize];
            for seed in 0..400 {
                let permutation = Permutation::new(n, seed);
                for j in 0..n {
                    counts[((permutation.successor(j) + n - j) % n) as usize] += 1;
                }
            }
            assert_eq!(counts[0], 0);
            let (expected, freedom) = (400.0 * n as f64 / (n - 1) as f64, (n - 2) as f64);
            let chi2: f64 = counts[1..].iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
            let excess = (chi2 - freedom) / f64::sqrt(2.0 * freedom);
            assert!(excess < 5.0, "{n}: {excess}");
        }
    }
}
