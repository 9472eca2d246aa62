//! I/O requests, completions, and the trait of storage engines.

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
    /// Writes all data and metadata of the file to the medium (fsync).
    Sync,
    /// Writes all data of the file to the medium, and metadata needed to read it (fdatasync).
    DataSync,
}

impl Transfer {
    /// True if the operation transfers data and so uses offset, length and buffer.
    pub fn moves_data(self) -> bool {
        matches!(self, Transfer::Read | Transfer::Write)
    }
}

/// A request for one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoRequest {
    /// Number chosen by the caller, returned with the completion.
    pub tag: u64,
    /// Index of the target among the targets that the engine was opened with.
    pub target: usize,
    /// Index of the buffer, less than the queue depth. The buffer belongs to the engine until the
    /// completion is reaped.
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
    /// Tag of the request.
    pub tag: u64,
    /// Number of bytes transferred (0 for a sync), or the error number of the system. Fewer bytes
    /// than requested mean that the target ended or the device stopped half-way. An invalid request
    /// ends with [`INVALID`]. A request is invalid if its target or slot does not exist, its slot
    /// is in flight, or its bytes exceed the block.
    pub result: std::result::Result<usize, i32>,
    /// Value of [`crate::counter::ticks`] at the moment when the engine found the operation
    /// complete.
    pub at: u64,
}

/// Error number of the system for "invalid argument" (EINVAL).
pub const INVALID: i32 = EINVAL;

/// Error number of the system for "input/output error" (EIO).
pub const IO_ERROR: i32 = EIO;

/// Approximate limit of the wait for completions in one call of [`IoEngine::reap`].
pub const LONGEST_WAIT: Nanos = Nanos(1e9);

/// A storage engine, which carries out requests. It may be opened in any thread, but is then used
/// by one thread only.
pub trait IoEngine: Send {
    /// Submits `requests` in order. Returns the number of requests taken, which is less than all if
    /// the queue is full. A synchronous engine takes one request and completes it.
    ///
    /// # Errors
    /// The system rejected the queue as a whole. The failure of a single request is in its
    /// completion.
    fn submit(&mut self, requests: &[IoRequest]) -> Result<usize>;

    /// Appends completions to `into`, including completions that exist already. Waits for at least
    /// `least` of the operations in flight, or for all if there are fewer.
    ///
    /// The wait ends after about [`LONGEST_WAIT`], so that the caller can give up on a device that
    /// hangs. `sync` and `mmap` do not wait here, because `submit` completes their operations.
    /// io_uring before Linux 5.11 waits without limit.
    ///
    /// # Errors
    /// The system did not return completions.
    fn reap(&mut self, least: usize, into: &mut Vec<IoCompletion>) -> Result<()>;

    /// The buffers, one for each slot. Buffers of operations in flight are inaccessible.
    fn buffers(&mut self) -> &mut IoBuffers;

    /// One sentence for each difference from the settings, such as polling that the device does not
    /// support or buffers that could not be registered.
    fn remarks(&self) -> &[String] {
        &[]
    }
}

/// Settings of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineSettings {
    /// Queue depth: the largest number of operations in flight and the number of slots, at least 1.
    pub depth: usize,
    /// Largest transfer in bytes, at least 1.
    pub block: usize,
    /// True if the targets were opened for direct I/O.
    pub direct: bool,
    /// Distance in bytes from a page boundary to each buffer. The caller may also misalign offsets.
    pub misalign: usize,
    /// True to poll for completions instead of waiting for interrupts, if the device supports it.
    pub poll: bool,
    /// True to register buffers and files with the kernel in advance, if the engine can.
    pub registered: bool,
}

impl Default for EngineSettings {
    /// Settings for one operation of 4 KiB at a time, direct, with aligned and registered buffers.
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
