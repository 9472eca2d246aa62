//! Produces data to write, and compares read data with the data that was written.

use super::work::Content;
use host::storage::{Filler, Pattern};
use stats::{SplitMix64, derive};
use std::sync::Arc;

/// Buffers of at least this many bytes keep their random bytes from one write to the next. Smaller
/// buffers get other bytes for every write. Compressors do not look back far enough to find equal
/// bytes in two large blocks.
const LARGE: usize = 64 << 10;

/// Size in bytes of the pool of random data. Smaller blocks are copied from random offsets of this
/// pool.
const POOL: usize = 1 << 20;

/// Distance in bytes between the stamps in a block of random data. A stamp is a random number that
/// no other write has, so that a device finds no equal blocks.
const STAMP_DISTANCE: usize = 4096;

/// Seed of [`Content::Pattern`]. It is fixed, so that files of earlier sessions can be verified.
const PATTERN_SEED: u64 = 0x6d65_6d67;

/// Produces the data that one thread writes.
#[derive(Debug, Clone)]
pub struct Contents {
    content: Content,
    pattern: Pattern,
    pool: Arc<[u8]>,
    random: SplitMix64,
    /// True for each slot whose buffer contains random bytes.
    filled: Vec<bool>,
}

impl Contents {
    /// Data of kind `content`; `seed` determines its random parts.
    pub fn new(content: Content, seed: u64) -> Self {
        let pattern = Self::pattern(content, seed);
        let mut pool = vec![0; if content == Content::Random { POOL } else { 0 }];
        pattern.fill(&mut pool, 0);
        let random = SplitMix64::new(derive(seed, "io-content", 1));
        Self {
            content,
            pattern,
            pool: pool.into(),
            random,
            filled: Vec::new(),
        }
    }

    /// The bytes of a file with this kind of data, as a function of their offset.
    pub fn pattern(content: Content, seed: u64) -> Pattern {
        match content {
            Content::Random => Pattern::new(Filler::Incompressible, derive(seed, "io-content", 0)),
            Content::Zeros => Pattern::new(Filler::Zeros, 0),
            Content::Pattern => Pattern::new(Filler::Incompressible, PATTERN_SEED),
        }
    }

    /// Fills `buffer` with the data for a write at `offset` of a file. The buffer belongs to
    /// `slot`.
    pub fn make(&mut self, slot: usize, buffer: &mut [u8], offset: u64) {
        if self.content != Content::Random {
            return self.pattern.fill(buffer, offset);
        }
        let stamp = self.random.next_u64();
        if buffer.len() < LARGE {
            let from = (stamp as usize % (POOL - buffer.len())) & !7;
            buffer.copy_from_slice(&self.pool[from..from + buffer.len()]);
        } else {
            self.fill(slot, buffer, offset);
        }
        for part in buffer.chunks_exact_mut(STAMP_DISTANCE) {
            part[..8].copy_from_slice(&stamp.to_le_bytes());
        }
    }

    /// Fills a large buffer with random bytes, unless it still contains them. A write does not
    /// change the buffer.
    fn fill(&mut self, slot: usize, buffer: &mut [u8], offset: u64) {
        if self.filled.len() <= slot {
            self.filled.resize(slot + 1, false);
        }
        if !self.filled[slot] {
            self.pattern.fill(buffer, offset);
            self.filled[slot] = true;
        }
    }

    /// Notes that a read has overwritten the buffer of `slot`.
    pub fn overwritten(&mut self, slot: usize) {
        if let Some(filled) = self.filled.get_mut(slot) {
            *filled = false;
        }
    }

    /// True if `buffer`, which was read at `offset`, contains the bytes of the pattern at this
    /// offset.
    pub fn is_right(&self, buffer: &[u8], offset: u64) -> bool {
        self.pattern.verify(buffer, offset).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_random_blocks_are_alike_and_none_has_a_long_repetition() {
        for size in [512, 4096, 128 << 10] {
            let mut contents = Contents::new(Content::Random, 1);
            let mut first = vec![0; size];
            let mut second = vec![0; size];
            contents.make(0, &mut first, 0);
            contents.make(1, &mut second, 0);
            assert_ne!(first, second, "{size}");
            let before = second.clone();
            contents.make(1, &mut second, 0);
            let same = before
                .chunks(STAMP_DISTANCE)
                .zip(second.chunks(STAMP_DISTANCE))
                .filter(|(a, b)| a == b)
                .count();
            assert_eq!(same, 0, "every 4 KiB of the next write differs");
            for block in [first, second] {
                let words: std::collections::BTreeSet<&[u8]> = block.chunks(8).collect();
                assert!(
                    words.len() > block.len() / 8 - block.len() / STAMP_DISTANCE - 2,
                    "{size}: {}",
                    words.len()
                );
            }
        }
    }

    #[test]
    fn a_pattern_follows_from_the_place_alone() {
        let mut one = Contents::new(Content::Pattern, 1);
        let mut other = Contents::new(Content::Pattern, 2);
        let mut a = [0; 1000];
        let mut b = [0; 1000];
        one.make(0, &mut a, 12_345);
        other.make(5, &mut b, 12_345);
        assert!(a == b && one.is_right(&a, 12_345) && !one.is_right(&a, 12_346));
        a[999] ^= 1;
        assert!(!one.is_right(&a, 12_345));
    }

    #[test]
    fn what_was_read_into_a_buffer_is_not_written() {
        let mut contents = Contents::new(Content::Random, 1);
        let mut buffer = vec![0; LARGE];
        contents.make(0, &mut buffer, 0);
        buffer.fill(0);
        contents.overwritten(0);
        contents.make(0, &mut buffer, 0);
        assert!(buffer.iter().filter(|b| **b == 0).count() < LARGE / 100);
    }
}
