//! Generates random numbers that depend only on the seed, so that they are the same on every
//! machine.
//!
//! This module is in the lowest crate that needs random numbers. The tests of `stats` draw random
//! samples.

/// Increment of SplitMix64's state: 2^64 divided by the golden ratio, made odd.
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// The generator SplitMix64, with 64 bits of state and 64 bits per step. Every seed is equally
/// good. The generator must not be used for secrets.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014,
/// with the finaliser (Stafford's variant 13) of its Java implementation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator that gives the same numbers for the same `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// A uniformly distributed whole number in [0, n); 0 if `n` is 0.
    ///
    /// Source: Lemire, "Fast random integer generation in an interval", ACM TOMACS 29 (2019): the
    /// result is the high half of a product. Products with certain low halves are rejected, because
    /// they would make some results more probable.
    pub fn below(&mut self, n: u64) -> u64 {
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            let favoured = n.wrapping_neg() % n;
            while (product as u64) < favoured {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// A uniformly distributed number in [0, 1), a multiple of 2^-53.
    pub fn fraction(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Shuffles `items`. Every order has the same probability (Fisher and Yates, as in Knuth, TAOCP
    /// volume 2, algorithm P).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// A seed that is derived from `seed` for the purpose `domain` and the number `index`. Different
/// purposes and indices get unrelated seeds. A new purpose does not change the seeds of other
/// purposes.
///
/// `domain` is hashed by FNV-1a (Fowler, Noll and Vo). SplitMix64's finaliser combines the hash,
/// `seed` and `index`.
pub fn derive(seed: u64, domain: &str, index: u64) -> u64 {
    let hash = |h: u64, byte: u8| (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    let domain = domain.bytes().fold(0xCBF2_9CE4_8422_2325, hash);
    [domain, index]
        .into_iter()
        .fold(mix(seed.wrapping_add(GAMMA)), |folded, part| {
            mix(folded.wrapping_add(GAMMA) ^ mix(part.wrapping_add(GAMMA)))
        })
}

/// Stafford's variant 13 of the finaliser of MurmurHash3. It maps 64 bits to 64 bits, one to one.
fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_published_sequence() {
        // The first outputs of the reference implementation (Vigna's splitmix64.c) for the seed
        // 1234567.
        let mut random = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..5).map(|_| random.next_u64()).collect();
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(first, published);
    }

    #[test]
    fn below_is_even_and_in_range() {
        let mut random = SplitMix64::new(1);
        assert_eq!((random.below(0), random.below(1)), (0, 0));
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[random.below(7) as usize] += 1;
        }
        let chi2: f64 = counts
            .iter()
            .map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4)
            .sum();
        assert!(chi2 < 22.5, "{counts:?}"); // 6 degrees of freedom, one in a thousand
        // With 3/4 of the range of 64 bits and without rejection, the residues mod 3 would occur in
        // a ratio of 2:1:1.
        let large = 3u64 << 62;
        let mut residues = [0u32; 3];
        for _ in 0..30_000 {
            let value = random.below(large);
            assert!(value < large);
            residues[(value % 3) as usize] += 1;
        }
        assert!(
            residues.iter().all(|&c| (9_600..10_400).contains(&c)),
            "{residues:?}"
        );
    }

    #[test]
    fn fractions_fill_the_unit_interval() {
        let mut random = SplitMix64::new(2);
        let drawn: Vec<f64> = (0..10_000).map(|_| random.fraction()).collect();
        assert!(drawn.iter().all(|f| (0.0..1.0).contains(f)));
        assert!((drawn.iter().sum::<f64>() / 1e4 - 0.5).abs() < 0.015);
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut random = SplitMix64::new(3);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..24_000 {
            let mut items = [0, 1, 2, 3];
            random.shuffle(&mut items);
            *counts.entry(items).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 24);
        assert!(
            counts.values().all(|&c| (860..1_140).contains(&c)),
            "{counts:?}"
        );
        random.shuffle::<u8>(&mut []);
    }

    #[test]
    fn derived_seeds_are_apart() {
        let mut seen = BTreeSet::new();
        for seed in 0..10 {
            for domain in ["", "a", "chain", "rounds"] {
                for index in 0..50 {
                    assert!(
                        seen.insert(derive(seed, domain, index)),
                        "{seed} {domain} {index}"
                    );
                }
            }
        }
        assert_eq!(derive(1, "chain", 2), derive(1, "chain", 2));
        // Neighbouring indices differ in about half of the bits.
        let flipped: u32 = (0..1000)
            .map(|i| (derive(0, "a", i) ^ derive(0, "a", i + 1)).count_ones())
            .sum();
        assert!((31_000..33_000).contains(&flipped), "{flipped}");
    }
}
