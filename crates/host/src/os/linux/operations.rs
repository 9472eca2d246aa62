//! Common part of the asynchronous engines.

use crate::storage::IoBuffers;

/// Operations in flight of an asynchronous engine. Each has a number below the depth while it
/// lasts.
#[derive(Debug)]
pub struct Operations {
    running: Vec<Option<Running>>,
    free: Vec<usize>,
}

/// An operation in flight.
#[derive(Debug, Clone, Copy)]
struct Running {
    tag: u64,
    slot: Option<usize>,
}

impl Operations {
    /// Makes a table for `depth` operations.
    pub fn new(depth: usize) -> Operations {
        Operations {
            running: vec![None; depth],
            free: (0..depth).rev().collect(),
        }
    }

    /// True if another operation can begin.
    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Number of operations in flight.
    pub fn in_flight(&self) -> usize {
        self.running.len() - self.free.len()
    }

    /// Number of a new operation, which uses the buffer of `slot`; `None` at full depth.
    pub fn begin(&mut self, tag: u64, slot: Option<usize>) -> Option<usize> {
        let at = self.free.pop()?;
        self.running[at] = Some(Running { tag, slot });
        Some(at)
    }

    /// Ends an operation and gives its buffer back. Returns its tag; `None` if no such operation is
    /// in flight.
    pub fn end(&mut self, at: usize, buffers: &mut IoBuffers) -> Option<u64> {
        let Running { tag, slot } = self.running.get_mut(at)?.take()?;
        self.free.push(at);
        if let Some(slot) = slot {
            buffers.give_back(slot);
        }
        Some(tag)
    }
}
