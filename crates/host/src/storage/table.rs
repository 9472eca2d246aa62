//! The table of engines.

use super::engine::{EngineSettings, IoEngine};
use super::targets::Target;
use super::{mmap, null, sync};
use crate::os;
use units::error::Result;

/// Makes an engine over targets, as a row of [`IO_ENGINES`] holds it.
pub type OpenEngine = fn(&[Target], &EngineSettings) -> Result<Box<dyn IoEngine>>;

/// One way to carry requests out.
pub struct EngineRow {
    /// Name that the user types.
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

/// All engines. Engines that this system lacks are rows too, and say why.
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
