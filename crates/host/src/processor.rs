//! Facts that the processor gives about itself, without the system.

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
mod x86;
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
pub use x86::{
    brand, caches, counter_invariant, counter_rate, features, hypervisor, signature, vendor,
};

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
mod other;
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
pub use other::{
    brand, caches, counter_invariant, counter_rate, features, hypervisor, signature, vendor,
};

use report::CacheKind;
use std::fmt;
use units::Bytes;

/// Which design a processor is, as its vendor counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// Family, the extended part included.
    pub family: u32,
    /// Model, the extended part included.
    pub model: u32,
    /// Stepping.
    pub stepping: u32,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "family {} model {} stepping {}",
            self.family, self.model, self.stepping
        )
    }
}

/// A cache as the processor describes its own: one of a kind, not every instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnCache {
    /// 1 for the one nearest the core.
    pub level: u32,
    /// Contents of the cache.
    pub kind: CacheKind,
    /// Its size.
    pub size: Bytes,
    /// Its line.
    pub line: Bytes,
    /// Its associativity.
    pub ways: u32,
    /// Logical CPUs that share it, at most.
    pub sharers: u32,
}

/// Whether there is a hypervisor, and which.
#[allow(dead_code, reason = "not every architecture tells")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hypervisor {
    /// The processor says that there is none.
    Absent,
    /// There is one; its name, where it tells.
    Present(String),
}
