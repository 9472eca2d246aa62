//! Requests, completions, and the trait of whoever carries them out.

use super::buffers::IoBuffers;
use crate::os::{EINVAL, EIO};
use units::Nanos;
use units::error::Result;

/// Direction of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Transfer {
    /// From the target to the buffer.
    Read,
    /// From the buffer to the target.
    Write,
    /// Everything written so far, and what the system knows of the file, is on the medium
    /// afterwards (fsync).
    Sync,
    /// Everything written so far can be read after a crash (fdatasync).
    DataSync,
}

impl Transfer {
    /// Whether bytes are moved, so that offset, length and buffer count.
    pub fn moves_data(self) -> bool {
        matches!(self, Transfer::Read | Transfer::Write)
    }
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoRequest {
    /// The caller's number for it, handed back with the completion.
    pub tag: u64,
    /// Which of the targets that the engine was opened with.
    pub target: usize,
    /// Which of the engine's buffers; below the depth. It is the engine's until the completion is
    /// reaped.
    pub slot: usize,
    /// Offset in the target, in bytes.
    pub offset: u64,
    /// How many bytes, at most the engine's block; unused by [`Transfer::Sync`] and
    /// [`Transfer::DataSync`].
    pub bytes: usize,
    /// Direction.
    pub transfer: Transfer,
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoCompletion {
    /// The request's number.
    pub tag: u64,
    /// Bytes moved, which may be fewer than requested (the target ended, the device gave up
    /// half-way), or the system's number of the error. 0 for a sync that succeeded. A request that
    /// no engine could carry out (no such target or slot, a slot in flight, more bytes than the
    /// block) ends with [`INVALID`].
    pub result: std::result::Result<usize, i32>,
    /// [`crate::counter::ticks`] when it was found complete.
    pub at: u64,
}

/// The system's number for "invalid argument" (EINVAL).
pub const INVALID: i32 = EINVAL;

/// The system's number for "input/output error" (EIO).
pub const IO_ERROR: i32 = EIO;

/// For so long an engine waits for completions at a time.
pub const LONGEST_WAIT: Nanos = Nanos(1e9);

/// Carries requests out. An engine belongs to one thread at a time: open it anywhere, then use it
/// from one thread only.
pub trait IoEngine: Send {
    /// Hands requests over, in this order, and returns how many were taken: the first ones, fewer
    /// than all when the queue is full. An engine that is not asynchronous takes one and has
    /// carried it out when this returns.
    ///
    /// # Errors
    /// The system refused the queue as a whole; what fails in a single request is told by its
    /// completion.
    fn submit(&mut self, requests: &[IoRequest]) -> Result<usize>;

    /// Appends completions to `into`: waits for at least `least` of those in flight (all of them,
    /// if there are fewer), and takes along what is complete already. Waits for about
    /// [`LONGEST_WAIT`] at most and then brings what there is, so that its caller can give up on a
    /// device that hangs; where the system has no such limit (`sync` and `mmap`, whose operations
    /// are over before this is called; io_uring before Linux 5.11) nobody can.
    ///
    /// # Errors
    /// The system refused to tell of completions.
    fn reap(&mut self, least: usize, into: &mut Vec<IoCompletion>) -> Result<()>;

    /// The buffers, one for each slot; those in flight cannot be reached.
    fn buffers(&mut self) -> &mut IoBuffers;

    /// Differences from the request, each in one sentence: polling that the device refuses, buffers
    /// that could not be registered.
    fn remarks(&self) -> &[String] {
        &[]
    }
}

/// How an engine shall work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineSettings {
    /// Operations in flight at most, at least 1: the number of slots.
    pub depth: usize,
    /// Bytes of the largest transfer, at least 1.
    pub block: usize,
    /// Whether the targets were opened for direct I/O.
    pub direct: bool,
    /// Bytes by which every buffer is moved away from its page boundary; offsets are the caller's
    /// to move.
    pub misalign: usize,
    /// Look for completions in a loop instead of waiting for an interrupt, where the device allows
    /// it.
    pub poll: bool,
    /// Make buffers and files known to the kernel in advance, where the engine can.
    pub registered: bool,
}

impl Default for EngineSettings {
    /// One operation of 4 KiB at a time, direct, in aligned and registered buffers.
    fn default() -> Self {
        EngineSettings {
            depth: 1,
            block: 4096,
            direct: true,
            misalign: 0,
            poll: false,
            registered: true,
        }
    }
}
