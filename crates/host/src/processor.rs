//! Facts from processor instructions, without the system.

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

/// Design of a processor, in the vendor's numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// Family, with the extended part.
    pub family: u32,
    /// Model, with the extended part.
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

/// A cache of the current core as the processor describes it; one of each kind, not every instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnCache {
    /// Level; 1 is nearest to the core.
    pub level: u32,
    /// Contents of the cache.
    pub kind: CacheKind,
    /// Size.
    pub size: Bytes,
    /// Size of a cache line.
    pub line: Bytes,
    /// Associativity.
    pub ways: u32,
    /// Largest number of logical CPUs that share the cache.
    pub sharers: u32,
}

/// Presence and name of a hypervisor.
#[allow(dead_code, reason = "not every architecture tells")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hypervisor {
    /// The processor reports no hypervisor.
    Absent,
    /// A hypervisor with its name, if it reports one.
    Present(String),
}
