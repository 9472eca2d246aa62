//! Data that can be verified, because every byte is a function of a seed and the offset in the
//! target. Any range can be generated again and compared with the data that were read.

use std::fmt;

/// Size of a unit in bytes. Each unit of data has a header of its own. No device has smaller
/// blocks.
const UNIT: usize = 512;

/// Content of generated data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filler {
    /// Random words that depend on the seed and do not compress. Each 512 bytes begin with a header
    /// that contains their position in the target.
    Incompressible,
    /// Zeros, which some devices do not store.
    Zeros,
    /// These bytes, repeated from the beginning of the target. Zeros if there are no bytes.
    Repeated(Vec<u8>),
}

/// Rule that gives the data for every offset of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    filler: Filler,
    seed: u64,
}

/// The first difference between data that were read and the expected data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// Offset of the first wrong byte in the target.
    pub at: u64,
    /// Expected byte.
    pub expected: u8,
    /// Byte that was read.
    pub found: u8,
    /// Probable origin of the wrong data.
    pub nature: Nature,
}

/// Probable origin of wrong data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// Zeros: the data were never written, or were lost.
    Zeros,
    /// Data of this pattern for another offset, which is given.
    Misplaced(u64),
    /// Data of a pattern with another seed, as from an earlier session.
    OtherSeed,
    /// Data of any other origin.
    Corrupt,
}

/// Mark in the first word of every unit of incompressible data. In the data, the mark is masked.
const MARK: u64 = 0x6d65_6d67_6175_6765;

/// Number of 64-bit words of a unit.
const WORDS: usize = UNIT / 8;

impl Pattern {
    /// A pattern with the content `filler`. Different sessions use different seeds.
    pub fn new(filler: Filler, seed: u64) -> Pattern {
        Pattern { filler, seed }
    }

    /// Fills `buffer` with the data for `offset`.
    pub fn fill(&self, buffer: &mut [u8], offset: u64) {
        match &self.filler {
            Filler::Zeros => buffer.fill(0),
            Filler::Repeated(bytes) => repeat(bytes, buffer, offset),
            Filler::Incompressible => {
                for (unit, from, part) in units(buffer.len(), offset) {
                    let words = self.words_of(unit);
                    let target = &mut buffer[part.clone()];
                    match target.len() {
                        UNIT => target
                            .chunks_exact_mut(8)
                            .zip(words)
                            .for_each(|(to, word)| to.copy_from_slice(&word)),
                        length => {
                            target.copy_from_slice(&words.as_flattened()[from..from + length])
                        }
                    }
                }
            }
        }
    }

    /// Compares data read at `offset` with the expected data.
    ///
    /// # Errors
    /// The first byte that differs, with the probable origin of the data around it.
    pub fn verify(&self, buffer: &[u8], offset: u64) -> Result<(), Mismatch> {
        let mut belongs = [0; UNIT];
        for (unit, _, part) in units(buffer.len(), offset) {
            let found = &buffer[part.clone()];
            let expected = &mut belongs[..part.len()];
            self.fill(expected, offset + part.start as u64);
            if found != expected {
                let at = found
                    .iter()
                    .zip(&*expected)
                    .position(|(a, b)| a != b)
                    .unwrap_or(0);
                let nature = self.nature(found, unit);
                let at_offset = offset + (part.start + at) as u64;
                return Err(Mismatch {
                    at: at_offset,
                    expected: expected[at],
                    found: found[at],
                    nature,
                });
            }
        }
        Ok(())
    }

    /// The words of unit `unit`. The first four are the mark, the position and the seed, each of
    /// them masked, and the mask itself.
    fn words_of(&self, unit: u64) -> [[u8; 8]; WORDS] {
        let start = mixed(self.seed ^ mixed(unit));
        let mask = mixed(start);
        let mut words = [[0; 8]; WORDS];
        let header = [
            MARK ^ mask,
            unit ^ mask.rotate_left(17),
            self.seed ^ mask.rotate_left(31),
            mask,
        ];
        for (at, word) in words.iter_mut().enumerate() {
            let value = header.get(at).copied();
            let value = value
                .unwrap_or_else(|| mixed(start.wrapping_add((at as u64).wrapping_mul(GOLDEN))));
            *word = value.to_le_bytes();
        }
        words
    }

    /// Probable origin of the data `found` in unit `unit`, or in a part of the unit.
    fn nature(&self, found: &[u8], unit: u64) -> Nature {
        if found.iter().all(|byte| *byte == 0) {
            return Nature::Zeros;
        }
        let word = |at: usize| {
            found
                .get(8 * at..8 * at + 8)
                .and_then(|bytes| bytes.try_into().ok())
                .map(u64::from_le_bytes)
        };
        let (Some(mark), Some(place), Some(seed), Some(mask)) =
            (word(0), word(1), word(2), word(3))
        else {
            return Nature::Corrupt;
        };
        let place = place ^ mask.rotate_left(17);
        let seed = seed ^ mask.rotate_left(31);
        if self.filler != Filler::Incompressible || mark ^ mask != MARK {
            Nature::Corrupt
        } else if seed != self.seed {
            Nature::OtherSeed
        } else if place != unit {
            Nature::Misplaced(place.saturating_mul(UNIT as u64))
        } else {
            Nature::Corrupt
        }
    }
}

/// The units that `length` bytes at `offset` touch. An item is the index of a unit, the offset of
/// the first byte in this unit, and the range of bytes in the unit.
fn units(length: usize, offset: u64) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut next = 0;
    std::iter::from_fn(move || {
        if next >= length {
            return None;
        }
        let at = offset.wrapping_add(next as u64);
        let from = (at % UNIT as u64) as usize;
        let part = next..length.min(next + UNIT - from);
        next = part.end;
        Some((at / UNIT as u64, from, part))
    })
}

/// Fills `buffer`, which begins at `offset` of the target, with `bytes`. The bytes are repeated
/// from the beginning of the target.
fn repeat(bytes: &[u8], buffer: &mut [u8], offset: u64) {
    if bytes.is_empty() {
        return buffer.fill(0);
    }
    let first = (offset % bytes.len() as u64) as usize;
    let endless = bytes.iter().cycle().skip(first);
    buffer
        .iter_mut()
        .zip(endless)
        .for_each(|(to, byte)| *to = *byte);
}

/// Odd number nearest to 2^64 divided by the golden ratio, whose multiples are spread evenly.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). Every bit of the result
/// depends on all bits of `value`.
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(GOLDEN);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "byte {} is {:#04x} instead of {:#04x}: ",
            self.at, self.found, self.expected
        )?;
        match self.nature {
            Nature::Zeros => f.write_str("zeros, never written or lost"),
            Nature::Misplaced(offset) => write!(f, "data that belongs at byte {offset}"),
            Nature::OtherSeed => f.write_str("data of another run"),
            Nature::Corrupt => f.write_str("damaged data"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(pattern: &Pattern, offset: u64, length: usize) -> Vec<u8> {
        let mut data = vec![0xee; length];
        pattern.fill(&mut data, offset);
        data
    }

    #[test]
    fn data_depends_on_its_place_only() {
        for filler in [
            Filler::Incompressible,
            Filler::Zeros,
            Filler::Repeated(b"seven b".to_vec()),
            Filler::Repeated(vec![]),
        ] {
            let pattern = Pattern::new(filler, 5);
            let whole = made(&pattern, 0, 5000);
            for (offset, length) in [
                (0, 0),
                (0, 1),
                (1, 1),
                (511, 2),
                (512, 512),
                (700, 4000),
                (4096, 904),
                (8, 24),
            ] {
                assert_eq!(
                    made(&pattern, offset as u64, length),
                    whole[offset..offset + length],
                    "{pattern:?}"
                );
                pattern
                    .verify(&whole[offset..offset + length], offset as u64)
                    .unwrap();
            }
        }
        assert!(
            made(&Pattern::new(Filler::Zeros, 0), 3, 700)
                .iter()
                .all(|byte| *byte == 0)
        );
        assert_eq!(
            made(&Pattern::new(Filler::Repeated(b"abc".to_vec()), 0), 4, 5),
            b"bcabc"
        );
        let far = Pattern::new(Filler::Incompressible, 5);
        far.verify(&made(&far, u64::MAX - 10, 10), u64::MAX - 10)
            .unwrap();
    }

    #[test]
    fn data_differs_everywhere_and_does_not_compress() {
        let pattern = Pattern::new(Filler::Incompressible, 5);
        let data = made(&pattern, 0, 1 << 20);
        let mut words: Vec<&[u8]> = data.chunks_exact(8).collect();
        words.sort_unstable();
        assert!(
            words.windows(2).all(|pair| pair[0] != pair[1]),
            "no word comes twice"
        );
        let mut counts = [0u32; 256];
        data.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        // Each value occurs 4096 times on average, with a standard deviation of 64.
        assert!(
            counts.iter().all(|count| (3600..4600).contains(count)),
            "{counts:?}"
        );
        let packed = entropy_bytes(&data);
        assert!(packed > data.len() * 98 / 100, "{packed} of {}", data.len());
    }

    /// Compressed size according to the entropy of pairs of bytes. With only eight samples per
    /// pair, the result is one hundredth too small.
    fn entropy_bytes(data: &[u8]) -> usize {
        let mut counts = vec![0u32; 65536];
        data.chunks_exact(2)
            .for_each(|pair| counts[usize::from(pair[0]) << 8 | usize::from(pair[1])] += 1);
        let all = (data.len() / 2) as f64;
        let bits: f64 = counts
            .iter()
            .filter(|n| **n > 0)
            .map(|n| f64::from(*n) * (all / f64::from(*n)).log2())
            .sum();
        (bits / 8.0) as usize
    }

    #[test]
    fn what_is_wrong_is_told() {
        let pattern = Pattern::new(Filler::Incompressible, 5);
        let good = made(&pattern, 4096, 2048);
        let nature = |data: &[u8]| pattern.verify(data, 4096).unwrap_err();
        let with = |at: usize, what: &[u8]| {
            let mut data = good.clone();
            data[at..at + what.len()].copy_from_slice(what);
            data
        };
        let misplaced = nature(&with(512, &made(&pattern, 1 << 30, 512)));
        assert_eq!(
            (misplaced.nature, misplaced.at / 512),
            (Nature::Misplaced(1 << 30), 9)
        );
        assert_eq!(nature(&with(1024, &[0; 512])).nature, Nature::Zeros);
        let other = made(&Pattern::new(Filler::Incompressible, 6), 4096, 2048);
        assert_eq!(nature(&other).nature, Nature::OtherSeed);
        let flipped = nature(&with(700, &[!good[700]]));
        let expected = Mismatch {
            at: 4796,
            expected: good[700],
            found: !good[700],
            nature: Nature::Corrupt,
        };
        assert_eq!(flipped, expected);
        assert_eq!(nature(&[1; 3]).nature, Nature::Corrupt);
        let zeros = Pattern::new(Filler::Zeros, 0)
            .verify(&[0, 0, 9], 10)
            .unwrap_err();
        assert_eq!((zeros.at, zeros.nature), (12, Nature::Corrupt));
        for text in [flipped.to_string(), misplaced.to_string()] {
            assert!(text.starts_with("byte ") && !text.contains('\n'), "{text}");
        }
    }

    #[test]
    fn every_changed_byte_is_found() {
        let pattern = Pattern::new(Filler::Incompressible, 1);
        let good = made(&pattern, 100, 1500);
        for at in 0..good.len() {
            let mut data = good.clone();
            data[at] ^= 1;
            assert_eq!(pattern.verify(&data, 100).unwrap_err().at, 100 + at as u64);
        }
    }
}
