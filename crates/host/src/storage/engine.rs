//! Requests, completions, and the trait of engines that carry requests out.

use super::buffers::IoBuffers;
use crate::os::{EINVAL, EIO};
use units::Nanos;
use units::error::Result;

/// Kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Transfer {
    /// Moves data from the target to the buffer.
    Read,
    /// Moves data from the buffer to the target.
    Write,
    /// Puts everything written so far, and the file's metadata, on the medium (fsync).
    Sync,
    /// Makes everything written so far readable after a crash (fdatasync).
    DataSync,
}

impl Transfer {
    /// True if the operation moves bytes, so that it uses offset, length and buffer.
    pub fn moves_data(self) -> bool {
        matches!(self, Transfer::Read | Transfer::Write)
    }
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoRequest {
    /// Number chosen by the caller, returned with the completion.
    pub tag: u64,
    /// Index of the target among those that the engine was opened with.
    pub target: usize,
    /// Index of the buffer, less than the queue depth. The buffer belongs to the engine until the completion
    /// is reaped.
    pub slot: usize,
    /// Offset in the target, in bytes.
    pub offset: u64,
    /// Number of bytes, at most the engine's block; unused by [`Transfer::Sync`] and
    /// [`Transfer::DataSync`].
    pub bytes: usize,
    /// Kind of operation.
    pub transfer: Transfer,
}

/// Result of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoCompletion {
    /// Number of the request.
    pub tag: u64,
    /// Bytes moved, or the error number of the system. The bytes may be fewer than requested: the
    /// target ended, or the device stopped half-way. 0 for a successful sync. An invalid request
    /// ends with [`INVALID`]: no such target or slot, a slot in flight, or more bytes than the
    /// block.
    pub result: std::result::Result<usize, i32>,
    /// [`crate::counter::ticks`] at the time when it was found complete.
    pub at: u64,
}

/// Error number of the system for "invalid argument" (EINVAL).
pub const INVALID: i32 = EINVAL;

/// Error number of the system for "input/output error" (EIO).
pub const IO_ERROR: i32 = EIO;

/// Longest wait for completions in one call of [`IoEngine::reap`].
pub const LONGEST_WAIT: Nanos = Nanos(1e9);

/// Carries requests out. An engine may be opened in any thread, and is then used by one thread
/// only.
pub trait IoEngine: Send {
    /// Submits requests in this order, and returns how many of the first ones were taken; fewer
    /// than all if the queue is full. A synchronous engine takes one, which is complete on return.
    ///
    /// # Errors
    /// The system rejected the queue as a whole. Failures of single requests appear in their
    /// completions.
    fn submit(&mut self, requests: &[IoRequest]) -> Result<usize>;

    /// Appends completions to `into`, including those that are complete already. Waits for at least
    /// `least` of the operations in flight, or for all if there are fewer.
    ///
    /// Waits about [`LONGEST_WAIT`] at most, so that the caller can give up on a device that hangs.
    /// Some engines have no such limit: `sync` and `mmap`, whose operations end before this call,
    /// and io_uring before Linux 5.11.
    ///
    /// # Errors
    /// The system did not return completions.
    fn reap(&mut self, least: usize, into: &mut Vec<IoCompletion>) -> Result<()>;

    /// The buffers, one for each slot; buffers in flight are inaccessible.
    fn buffers(&mut self) -> &mut IoBuffers;

    /// Differences from the settings, one sentence each: polling that the device does not support,
    /// buffers that could not be registered.
    fn remarks(&self) -> &[String] {
        &[]
    }
}

/// Settings of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineSettings {
    /// Largest number of operations in flight, at least 1; also the number of slots.
    pub depth: usize,
    /// Largest transfer in bytes, at least 1.
    pub block: usize,
    /// True if the targets were opened for direct I/O.
    pub direct: bool,
    /// Distance of every buffer from its page boundary, in bytes. Misaligned offsets are up to the
    /// caller.
    pub misalign: usize,
    /// Poll for completions instead of waiting for an interrupt, if the device supports it.
    pub poll: bool,
    /// Register buffers and files with the kernel in advance, if the engine can.
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
