//! System calls, one set of safe functions for each kind of system: the only place that asks which
//! system this is.
//!
//! A power that a system lacks is `None` or an error of kind `Unsupported`, never an invented
//! value.

// Calls on files and devices are used by `storage` alone.
#![cfg_attr(not(feature = "storage"), allow(dead_code, unused_imports))]

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub use linux::*;

#[cfg(any(target_os = "macos", target_os = "freebsd"))]
mod unix;
#[cfg(any(target_os = "macos", target_os = "freebsd"))]
pub use unix::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::*;

// Compiled in tests on Linux too, so that it cannot rot where nobody looks. Systems with a file of
// their own take from it what they lack.
#[cfg(any(not(any(target_os = "linux", target_os = "android")), test))]
#[cfg_attr(
    any(
        target_os = "linux",
        target_os = "android",
        target_os = "macos",
        target_os = "freebsd",
        windows
    ),
    allow(dead_code)
)]
mod portable;
#[cfg(all(
    feature = "storage",
    not(any(
        target_os = "linux",
        target_os = "android",
        target_os = "macos",
        target_os = "freebsd"
    ))
))]
pub use plain_engines::*;
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "freebsd",
    windows
)))]
pub use {plain_files::*, portable::*};

pub mod files;

#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "freebsd"
))]
mod posix_files;

#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "freebsd"
))]
mod posix_mapping;

#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "freebsd"
))]
mod guarded_copy;

#[cfg(any(target_os = "macos", target_os = "freebsd"))]
mod unix_files;

// Compiled in tests on Linux for the same reason.
#[cfg_attr(
    any(
        target_os = "linux",
        target_os = "android",
        target_os = "macos",
        target_os = "freebsd"
    ),
    allow(dead_code)
)]
mod plain_files;

#[cfg(feature = "storage")]
#[cfg_attr(any(target_os = "linux", target_os = "android"), allow(dead_code))]
mod plain_engines;

/// Counts of the page tables for a range of memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageCounts {
    /// Present, with memory of its own.
    pub present: u64,
    /// The part of `present` that is mapped in huge pages.
    pub huge: u64,
    /// Present, but only as the shared page of zeros.
    pub zero: u64,
}

/// A limit on this process's memory: its name (`RLIMIT_AS`), and the soft limit in bytes where
/// there is one.
pub type MemoryLimit = (&'static str, Option<u64>);
