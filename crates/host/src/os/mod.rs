//! System calls, as one set of safe functions with an implementation for each operating system. No
//! other module depends on the operating system.
//!
//! If a system lacks a function, the implementation for this system returns `None` or an error of
//! kind `Unsupported`, never an invented value.

// Only `storage` uses the calls on files and devices.
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

// This module is compiled on every system, so that it stays correct. Systems with a module of their
// own use its functions in place of calls that they lack.
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

#[cfg(feature = "gpu")]
mod processes;
#[cfg(feature = "gpu")]
pub use processes::{program_in_memory, start_apart};

// Modules that interpret the results of calls. Tests compile them on every system.
#[cfg(any(target_os = "freebsd", test))]
#[cfg_attr(not(target_os = "freebsd"), allow(dead_code))]
mod freebsd_answers;
#[cfg(any(target_os = "macos", test))]
#[cfg_attr(not(target_os = "macos"), allow(dead_code))]
mod macos_answers;
#[cfg(any(target_os = "macos", target_os = "freebsd", test))]
#[cfg_attr(not(any(target_os = "macos", target_os = "freebsd")), allow(dead_code))]
mod sysctl;

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
mod posix_process;

#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "freebsd"
))]
mod guarded_copy;

#[cfg(any(target_os = "macos", target_os = "freebsd"))]
mod unix_files;

// Tests on Linux also compile this module, so that it stays correct.
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

/// Numbers of bytes in a range of memory, by kind of page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageCounts {
    /// Bytes in resident pages with memory of their own.
    pub present: u64,
    /// Part of `present` that is mapped in huge pages.
    pub huge: u64,
    /// Bytes that are mapped to the shared page of zeros.
    pub zero: u64,
}

/// A limit on this process's memory: its name (`RLIMIT_AS`), and the soft limit in bytes, `None` if
/// unlimited.
pub type MemoryLimit = (&'static str, Option<u64>);
