//! A mapping, the memory in it that chains have taken, and the ranges that contain doubles.

use host::memory::Mapping;
use stats::SplitMix64;
use std::ops::Range;
use std::sync::Arc;

/// A mapping whose pages were touched, and the number of its bytes that chains have taken.
#[derive(Debug)]
pub(super) struct Arena {
    pub mapping: Arc<Mapping>,
    pub taken: u64,
    /// Byte ranges of the mapping that contain only normal doubles. Processors add and multiply
    /// these at full speed. The stores of kernels also write normal doubles.
    numbers: Vec<Range<usize>>,
    /// Random numbers that choose the offsets of cache-sized working sets in the mapping.
    places: SplitMix64,
    now: u64,
}

/// Largest number of offsets for cache-sized working sets. The number is limited, because `numbers`
/// has a range for each offset.
const PLACES: u64 = 16;

/// Offsets of cache-sized working sets are multiples of this distance, the size of huge pages on
/// most systems.
const PLACE: usize = 2 << 20;

impl Arena {
    pub fn new(mapping: Arc<Mapping>) -> Self {
        Self {
            mapping,
            taken: 0,
            numbers: Vec::new(),
            places: SplitMix64::new(1),
            now: 0,
        }
    }

    /// Chooses another offset for cache-sized working sets.
    pub fn next_offset(&mut self) {
        self.now = self.places.next_u64();
    }

    /// Current offset for a working set of `bytes`. Offsets are as far apart as the mapping allows.
    pub fn start(&self, bytes: usize) -> usize {
        let steps = (self.mapping.len().saturating_sub(bytes) / PLACE) as u64;
        let count = (steps + 1).min(PLACES);
        let place = self.now % count;
        (place * (steps / (count - 1).max(1))) as usize * PLACE
    }

    /// True if `range` is known to contain only normal doubles.
    pub fn has_normal_floats(&self, range: &Range<usize>) -> bool {
        self.numbers
            .iter()
            .any(|known| known.start <= range.start && range.end <= known.end)
    }

    /// Notes that doubles were written to the whole of `range`.
    pub fn filled(&mut self, range: Range<usize>) {
        self.numbers
            .retain(|known| known.start < range.start || range.end < known.end);
        self.numbers.push(range);
    }

    /// Notes that other data, such as an index table, was written to `range`. The small integers of
    /// a table are slow denormal numbers if they are read as doubles.
    pub fn spoiled(&mut self, range: &Range<usize>) {
        self.numbers
            .retain(|known| known.end <= range.start || range.end <= known.start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::memory::PageMode;
    use std::collections::BTreeSet;
    use units::Bytes;

    #[test]
    fn places_are_inside_many_and_far_apart() {
        let mapping = Mapping::new(Bytes::mib(64), PageMode::Transparent, Bytes::mib(2)).unwrap();
        let mut arena = Arena::new(mapping);
        let mut starts = |bytes: usize| -> BTreeSet<usize> {
            let shift = |arena: &mut Arena| {
                arena.next_offset();
                arena.start(bytes)
            };
            (0..200).map(|_| shift(&mut arena)).collect()
        };
        assert_eq!(starts(1 << 20).len() as u64, PLACES);
        for bytes in [4096, 1 << 20, 3 << 20, 40 << 20, 63 << 20, 64 << 20] {
            let all = starts(bytes);
            assert!(
                all.iter()
                    .all(|start| start + bytes <= 64 << 20 && start.is_multiple_of(PLACE)),
                "{bytes}: {all:?}"
            );
            assert!(
                all.contains(&0) && (all.len() > 1) == (bytes <= 62 << 20),
                "{bytes}: {all:?}"
            );
        }
        assert!(
            starts(1 << 20).last().is_some_and(|last| *last >= 56 << 20),
            "to the end of the mapping"
        );
    }

    #[test]
    fn numbers_are_known_where_they_were_written_and_nothing_else_was() {
        let mapping = Mapping::new(Bytes(4096), PageMode::Base, Bytes(4096)).unwrap();
        let mut arena = Arena::new(mapping);
        assert!(!arena.has_normal_floats(&(0..100)));
        arena.filled(0..100);
        arena.filled(200..300);
        assert!(arena.has_normal_floats(&(0..100)) && arena.has_normal_floats(&(210..220)));
        assert!(
            !arena.has_normal_floats(&(0..300)),
            "there is a gap in between"
        );
        arena.filled(0..300);
        assert!(arena.has_normal_floats(&(0..300)));
        assert_eq!(
            arena.numbers.len(),
            1,
            "what lies inside is not kept beside it"
        );
        arena.spoiled(&(300..400));
        assert!(arena.has_normal_floats(&(0..300)));
        arena.spoiled(&(299..400));
        assert!(!arena.has_normal_floats(&(0..100)));
    }
}
