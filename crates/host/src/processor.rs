//! Facts that processor instructions report, without the operating system.

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

/// Family, model and stepping of a processor, in the vendor's numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// Family, including the extended family.
    pub family: u32,
    /// Model, including the extended model.
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

/// A cache of the current core, as the processor describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnCache {
    /// Level; 1 is nearest to the core.
    pub level: u32,
    /// Contents of the cache: data, instructions, or both.
    pub kind: CacheKind,
    /// Size of the cache.
    pub size: Bytes,
    /// Size of a cache line.
    pub line: Bytes,
    /// Associativity: number of ways.
    pub ways: u32,
    /// Largest number of logical CPUs that share the cache.
    pub sharers: u32,
}

/// The processor's answer whether the program runs under a hypervisor.
#[allow(dead_code, reason = "not every architecture tells")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hypervisor {
    /// The processor reports no hypervisor.
    Absent,
    /// The processor reports a hypervisor. The text is the name of this hypervisor, or says that it
    /// has none.
    Present(String),
}
