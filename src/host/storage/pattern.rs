//! Data that can be told apart: a function of a seed and of the place in the target, so that any range of it can be
//! made, and what was read can be compared with what was written there.

use std::fmt;

/// Bytes that carry a mark of their own: the smallest block of any device.
const UNIT: usize = 512;

/// What data is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filler {
    /// Random words from the seed, which no compression makes smaller; each 512 bytes begin with their place.
    Incompressible,
    /// Zeros, which some devices do not store.
    Zeros,
    /// These bytes again and again, from the beginning of the target on; zeros if there are none.
    Repeated(Vec<u8>),
}

/// Data for every place of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    filler: Filler,
    seed: u64,
}

/// What is wrong with data that was read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// Place of the first wrong byte in the target.
    pub at: u64,
    /// The byte that belongs there.
    pub expected: u8,
    /// The byte that was there.
    pub found: u8,
    /// What the wrong data seems to be.
    pub nature: Nature,
}

/// What wrong data seems to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// Zeros: never written, or lost.
    Zeros,
    /// Data of this pattern that belongs elsewhere, at this offset.
    Misplaced(u64),
    /// Data of a pattern with another seed: an earlier run's.
    OtherSeed,
    /// None of these.
    Corrupt,
}

/// What every unit of incompressible data begins with, once unmasked.
const MARK: u64 = 0x6d65_6d67_6175_6765;

/// Words of a unit.
const WORDS: usize = UNIT / 8;

impl Pattern {
    /// Data made of `filler`; the seed tells the data of one run from that of another.
    pub fn new(filler: Filler, seed: u64) -> Pattern {
        Pattern { filler, seed }
    }

    /// Makes the data that belongs at `offset`, whatever the length.
    pub fn fill(&self, buffer: &mut [u8], offset: u64) {
        match &self.filler {
            Filler::Zeros => buffer.fill(0),
            Filler::Repeated(bytes) => repeat(bytes, buffer, offset),
            Filler::Incompressible => {
                for (unit, from, part) in units(buffer.len(), offset) {
                    let words = self.words_of(unit);
                    let target = &mut buffer[part.clone()];
                    match target.len() {
                        UNIT => target.chunks_exact_mut(8).zip(words).for_each(|(to, word)| to.copy_from_slice(&word)),
                        length => target.copy_from_slice(&words.as_flattened()[from..from + length]),
                    }
                }
            }
        }
    }

    /// Compares data read at `offset` with what belongs there.
    ///
    /// # Errors
    /// The first byte that differs, and what the data around it seems to be.
    pub fn verify(&self, buffer: &[u8], offset: u64) -> Result<(), Mismatch> {
        let mut belongs = [0; UNIT];
        for (unit, _, part) in units(buffer.len(), offset) {
            let (found, expected) = (&buffer[part.clone()], &mut belongs[..part.len()]);
            self.fill(expected, offset + part.start as u64);
            if found != expected {
                let at = found.iter().zip(&*expected).position(|(a, b)| a != b).unwrap_or(0);
                let nature = self.nature(found, unit);
                let at_offset = offset + (part.start + at) as u64;
                return Err(Mismatch { at: at_offset, expected: expected[at], found: found[at], nature });
            }
        }
        Ok(())
    }

    /// The words of one unit, of which the first four are mark, place, seed and the mask of these three.
    fn words_of(&self, unit: u64) -> [[u8; 8]; WORDS] {
        let start = mixed(self.seed ^ mixed(unit));
        let mask = mixed(start);
        let mut words = [[0; 8]; WORDS];
        let header = [MARK ^ mask, unit ^ mask.rotate_left(17), self.seed ^ mask.rotate_left(31), mask];
        for (at, word) in words.iter_mut().enumerate() {
            let value = header.get(at).copied();
            let value = value.unwrap_or_else(|| mixed(start.wrapping_add((at as u64).wrapping_mul(GOLDEN))));
            *word = value.to_le_bytes();
        }
        words
    }

    /// What the data of a unit, or of a part of it, seems to be.
    fn nature(&self, found: &[u8], unit: u64) -> Nature {
        if found.iter().all(|byte| *byte == 0) {
            return Nature::Zeros;
        }
        let word =
            |at: usize| found.get(8 * at..8 * at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
        let (Some(mark), Some(place), Some(seed), Some(mask)) = (word(0), word(1), word(2), word(3)) else {
            return Nature::Corrupt;
        };
        let (place, seed) = (place ^ mask.rotate_left(17), seed ^ mask.rotate_left(31));
        match () {
            () if self.filler != Filler::Incompressible || mark ^ mask != MARK => Nature::Corrupt,
            () if seed != self.seed => Nature::OtherSeed,
            () if place != unit => Nature::Misplaced(place.saturating_mul(UNIT as u64)),
            () => Nature::Corrupt,
        }
    }
}

/// The units that `length` bytes at `offset` touch: the unit's number, where in it the bytes begin, and which they are.
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

/// Fills with bytes that repeat from the beginning of the target on.
fn repeat(bytes: &[u8], buffer: &mut [u8], offset: u64) {
    if bytes.is_empty() {
        return buffer.fill(0);
    }
    let first = (offset % bytes.len() as u64) as usize;
    let endless = bytes.iter().cycle().skip(first);
    buffer.iter_mut().zip(endless).for_each(|(to, byte)| *to = *byte);
}

/// The odd number nearest to 2^64 over the golden ratio: multiples of it are spread evenly.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): every bit depends on all bits.
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(GOLDEN);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {} is {:#04x} instead of {:#04x}: ", self.at, self.found, self.expected)?;
        match self.nature {
            Nature::Zeros => f.write_str("zeros, never written or lost"),
            Nature::Misplaced(offset) => write!(f, "data that belongs at byte {offset}"),
            Nature::OtherSeed => f.write_str("data of another run"),
            Nature::Corrupt => f.write_str("damaged data"),
        }
    }
}
