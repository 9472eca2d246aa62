//! Storage: files and block devices opened safely, and the ways to move blocks to and from them.
//!
//! A [`Target`] is an opened file or device with what is known of it, an [`IoEngine`] carries
//! requests out on behalf of one thread, [`IO_ENGINES`] lists the engines there are. [`Pattern`]
//! makes data that can be told apart and verified, [`Faulty`] makes any engine fail on purpose.

mod buffers;
mod faults;
mod mmap;
mod null;
mod pattern;
mod ready;
mod sync;
mod targets;

#[cfg(test)]
mod tests;

pub use buffers::IoBuffers;
pub use faults::{Faults, Faulty};
pub use pattern::{Filler, Mismatch, Nature, Pattern};
pub use targets::{Access, Direct, Opening, Target, TargetKind, check_creation, is_named};

pub(crate) use ready::{Admission, Ready};
pub(crate) use sync::{number_of, synchronize};

use super::os;
use units::Nanos;
use units::error::Result;

/// What an operation does.
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
    /// Where in the target, in bytes.
    pub offset: u64,
    /// How many bytes, at most the engine's block; unused by [`Transfer::Sync`] and
    /// [`Transfer::DataSync`].
    pub bytes: usize,
    /// What to do.
    pub transfer: Transfer,
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoCompletion {
    /// The request's number.
    pub tag: u64,
    /// Bytes moved, which may be fewer than asked for (the target ended, the device gave up
    /// half-way), or the system's number of the error. 0 for a sync that succeeded. A request that
    /// no engine could carry out (no such target or slot, a slot in flight, more bytes than the
    /// block) ends with [`INVALID`].
    pub result: std::result::Result<usize, i32>,
    /// [`super::counter::ticks`] when it was found complete.
    pub at: u64,
}

/// The system's number for "invalid argument" (EINVAL).
pub const INVALID: i32 = os::EINVAL;

/// The system's number for "input/output error" (EIO).
pub const IO_ERROR: i32 = os::EIO;

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

    /// What the engine could not do as asked and did otherwise, each in one sentence: polling that
    /// the device refuses, buffers that could not be registered.
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

/// Makes an engine over targets, as a row of [`IO_ENGINES`] holds it.
pub type OpenEngine = fn(&[Target], &EngineSettings) -> Result<Box<dyn IoEngine>>;

/// One way to carry requests out.
pub struct EngineRow {
    /// What the user types.
    pub name: &'static str,
    /// One line for lists.
    pub help: &'static str,
    /// Whether it keeps more than one operation in flight.
    pub asynchronous: bool,
    /// Whether direct I/O passes by the page cache with it.
    pub bypasses_cache: bool,
    /// Whether it can be used here, and why not.
    pub availability: fn() -> std::result::Result<(), String>,
    /// An engine for one thread. It shares the opened targets with others.
    pub open: OpenEngine,
}

/// All engines. Those that this system lacks are rows too, and say why.
pub static IO_ENGINES: [EngineRow; 5] = [
    EngineRow {
        name: "sync",
        help: "one pread or pwrite at a time",
        asynchronous: false,
        bypasses_cache: true,
        availability: sync::availability,
        open: sync::open,
    },
    EngineRow {
        name: "aio",
        help: "Linux native asynchronous I/O (io_submit); asynchronous with direct I/O only",
        asynchronous: true,
        bypasses_cache: true,
        availability: os::native_aio_availability,
        open: os::open_native_aio,
    },
    EngineRow {
        name: "io_uring",
        help: "Linux io_uring with registered buffers and files; polling on request",
        asynchronous: true,
        bypasses_cache: true,
        availability: os::io_uring_availability,
        open: os::open_io_uring,
    },
    EngineRow {
        name: "mmap",
        help: "copies from and to a mapping of the file; always through the page cache",
        asynchronous: false,
        bypasses_cache: false,
        availability: mmap::availability,
        open: mmap::open,
    },
    EngineRow {
        name: "null",
        help: "nothing is moved: the cost of this program per operation",
        asynchronous: true,
        bypasses_cache: true,
        availability: null::availability,
        open: null::open,
    },
];

/// The engine called `name`.
pub fn engine_named(name: &str) -> Option<&'static EngineRow> {
    IO_ENGINES.iter().find(|row| row.name == name)
}

/// The engine nearest to one that cannot be used here: the next asynchronous one for those that
/// are, else `sync`.
pub fn nearest_available(row: &EngineRow) -> Option<&'static EngineRow> {
    let usable = |other: &&EngineRow| {
        other.name != row.name && other.name != "null" && (other.availability)().is_ok()
    };
    let alike = |other: &&EngineRow| usable(other) && other.asynchronous == row.asynchronous;
    IO_ENGINES
        .iter()
        .find(alike)
        .or_else(|| IO_ENGINES.iter().find(usable))
}
