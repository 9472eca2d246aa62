//! Processors that tell nothing to a program without privileges: everything comes from the system.

use super::{Hypervisor, OwnCache, Signature};
use crate::units::Hertz;

/// Not told.
pub fn vendor() -> Option<String> {
    None
}

/// Not told.
pub fn brand() -> Option<String> {
    None
}

/// Not told.
pub fn signature() -> Option<Signature> {
    None
}

/// Extensions that the system says programs may use.
pub fn features() -> Option<Vec<String>> {
    #[cfg(target_arch = "aarch64")]
    {
        macro_rules! present {
            ($($name:tt)*) => {
                [$(($name, std::arch::is_aarch64_feature_detected!($name))),*]
            };
        }
        let all = present! { "neon" "asimd" "crc" "lse" "lse2" "rcpc" "dotprod" "bf16" "i8mm" "sve" "sve2" };
        return Some(all.iter().filter(|(_, there)| *there).map(|(name, _)| (*name).to_owned()).collect());
    }
    #[cfg(not(target_arch = "aarch64"))]
    None
}

/// Not told.
pub fn counter_rate() -> Option<(Hertz, &'static str)> {
    None
}

/// Not told.
pub fn counter_invariant() -> Option<bool> {
    None
}

/// Not told.
pub fn hypervisor() -> Option<Hypervisor> {
    None
}

/// Not told.
pub fn caches() -> Vec<OwnCache> {
    Vec::new()
}
