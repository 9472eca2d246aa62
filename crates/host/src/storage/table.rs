//! The table of storage engines.

use super::engine::{EngineSettings, IoEngine};
use super::targets::Target;
use super::{mmap, null, sync};
use crate::os;
use units::error::Result;

/// Type of the functions in [`IO_ENGINES`] that open an engine for the given targets.
pub type OpenEngine = fn(&[Target], &EngineSettings) -> Result<Box<dyn IoEngine>>;

/// A row of the table: one engine.
pub struct EngineRow {
    /// Name that users type.
    pub name: &'static str,
    /// Description in one line, for lists.
    pub help: &'static str,
    /// True if the engine keeps more than one operation in flight.
    pub asynchronous: bool,
    /// True if direct I/O with this engine bypasses the page cache.
    pub bypasses_cache: bool,
    /// Returns `Ok` if the engine can be used here. The error is the reason why not.
    pub availability: fn() -> std::result::Result<(), String>,
    /// Opens an engine for one thread. Engines of several threads share the targets.
    pub open: OpenEngine,
}

/// All engines. For an engine that cannot be used on this system, `availability` has the reason.
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
        help: "no transfer: the cost of this program per operation",
        asynchronous: true,
        bypasses_cache: true,
        availability: null::availability,
        open: null::open,
    },
];

/// The engine with the name `name`; `None` if there is none.
pub fn engine_named(name: &str) -> Option<&'static EngineRow> {
    IO_ENGINES.iter().find(|row| row.name == name)
}

/// Replacement for an engine that cannot be used here: an available engine with the same value of
/// `asynchronous`, else any available engine. `null` is never a replacement.
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
