//! Table of the operations in flight, for the engines aio and io_uring.

use crate::storage::IoBuffers;

/// The operations in flight of an asynchronous engine. Each has a number below the queue depth.
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
    /// A table for up to `depth` operations.
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

    /// Adds an operation with the tag `tag` on the buffer of `slot`, and returns its number. A sync
    /// has no `slot`. The result is `None` if the table is full.
    pub fn begin(&mut self, tag: u64, slot: Option<usize>) -> Option<usize> {
        let at = self.free.pop()?;
        self.running[at] = Some(Running { tag, slot });
        Some(at)
    }

    /// Removes operation `at` and gives its buffer back. Returns the operation's tag; `None` if it
    /// is not in flight.
    pub fn end(&mut self, at: usize, buffers: &mut IoBuffers) -> Option<u64> {
        let Running { tag, slot } = self.running.get_mut(at)?.take()?;
        self.free.push(at);
        if let Some(slot) = slot {
            buffers.give_back(slot);
        }
        Some(tag)
    }
}
