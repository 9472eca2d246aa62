//! System calls, one set of safe functions for each kind of system: the only place that asks which system this is.
//!
//! What a system lacks is `None` or an error of kind `Unsupported`, never an invented value.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::*;

// Compiled in tests on Linux too, so that it cannot rot where nobody looks.
#[cfg(any(not(target_os = "linux"), test))]
#[cfg_attr(target_os = "linux", allow(dead_code))]
mod portable;
#[cfg(not(target_os = "linux"))]
pub use portable::*;

/// What the page tables say about a range of memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageCounts {
    /// Present, with memory of its own.
    pub present: u64,
    /// The part of `present` that is mapped in huge pages.
    pub huge: u64,
    /// Present, but only as the shared page of zeros.
    pub zero: u64,
}

/// A limit on this process's memory: its name, and the soft limit in bytes where there is one.
pub type MemoryLimit = (&'static str, Option<u64>);
