//! A mapping and what lies in it.

use crate::host::memory::Mapping;
use std::ops::Range;
use std::sync::Arc;

/// A mapping, faulted in, with how much of it chains have taken.
#[derive(Debug)]
pub(super) struct Arena {
    pub mapping: Arc<Mapping>,
    pub taken: u64,
    /// Where doubles lie that processors add and multiply at full speed. What kernels store over them leaves them so.
    numbers: Vec<Range<usize>>,
}

impl Arena {
    pub fn new(mapping: Arc<Mapping>) -> Self {
        Self { mapping, taken: 0, numbers: Vec::new() }
    }

    /// Whether all of `range` holds such doubles.
    pub fn has_numbers(&self, range: &Range<usize>) -> bool {
        self.numbers.iter().any(|known| known.start <= range.start && range.end <= known.end)
    }

    /// They were written to `range`.
    pub fn filled(&mut self, range: Range<usize>) {
        self.numbers.retain(|known| known.start < range.start || range.end < known.end);
        self.numbers.push(range);
    }

    /// Something else was written to `range`, such as a table, whose small integers are denormal doubles.
    pub fn spoiled(&mut self, range: &Range<usize>) {
        self.numbers.retain(|known| known.end <= range.start || range.end <= known.start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::memory::PageMode;
    use crate::units::Bytes;

    #[test]
    fn numbers_are_known_where_they_were_written_and_nothing_else_was() {
        let mapping = Mapping::new(Bytes(4096), PageMode::Base, Bytes(4096)).unwrap();
        let mut arena = Arena::new(mapping);
        assert!(!arena.has_numbers(&(0..100)));
        arena.filled(0..100);
        arena.filled(200..300);
        assert!(arena.has_numbers(&(0..100)) && arena.has_numbers(&(210..220)));
        assert!(!arena.has_numbers(&(0..300)), "there is a gap in between");
        arena.filled(0..300);
        assert!(arena.has_numbers(&(0..300)));
        assert_eq!(arena.numbers.len(), 1, "what lies inside is not kept beside it");
        arena.spoiled(&(300..400));
        assert!(arena.has_numbers(&(0..300)));
        arena.spoiled(&(299..400));
        assert!(!arena.has_numbers(&(0..100)));
    }
}
