//! Processors without CPUID, for which most facts come from the operating system.

use super::{Hypervisor, OwnCache, Signature};
use units::Hertz;

/// Always `None`: no instruction of this architecture reports this value.
pub fn vendor() -> Option<String> {
    None
}

/// Always `None`: no instruction of this architecture reports this value.
pub fn brand() -> Option<String> {
    None
}

/// Always `None`: no instruction of this architecture reports this value.
pub fn signature() -> Option<Signature> {
    None
}

/// Instruction-set extensions that programs may use, as the operating system reports them.
pub fn features() -> Option<Vec<String>> {
    #[cfg(target_arch = "aarch64")]
    {
        macro_rules! present {
            ($($name:tt)*) => {
                [$(($name, std::arch::is_aarch64_feature_detected!($name))),*]
            };
        }
        let all = present! { "neon" "asimd" "crc" "lse" "lse2" "rcpc" "dotprod" "bf16" "i8mm" "sve" "sve2" };
        Some(
            all.iter()
                .filter(|(_, there)| *there)
                .map(|(name, _)| (*name).to_owned())
                .collect(),
        )
    }
    #[cfg(target_arch = "riscv64")]
    {
        // The word of hardware capabilities has a bit for each single-letter extension.
        let word = crate::cpu::capabilities();
        let letters = ('a'..='z').filter(|letter| word >> (*letter as u32 - 'a' as u32) & 1 == 1);
        (word != 0).then(|| letters.map(String::from).collect())
    }
    #[cfg(not(any(target_arch = "aarch64", target_arch = "riscv64")))]
    None
}

/// Frequency of the virtual counter and its source, a register that the firmware sets.
#[cfg(target_arch = "aarch64")]
pub fn counter_rate() -> Option<(Hertz, &'static str)> {
    let rate: u64;
    // SAFETY: programs may read the register wherever they may read the counter; nothing else is
    // touched.
    unsafe {
        std::arch::asm!("mrs {}, cntfrq_el0", out(reg) rate, options(nomem, nostack, preserves_flags))
    };
    // Firmware may leave the register zero.
    (rate > 0).then_some((Hertz(rate as f64), "CNTFRQ_EL0"))
}

/// Always `None`: no instruction of this architecture reports this value.
#[cfg(not(target_arch = "aarch64"))]
pub fn counter_rate() -> Option<(Hertz, &'static str)> {
    None
}

/// True on 64-bit Arm and RISC-V, whose counters have a constant rate; `None` elsewhere.
pub fn counter_invariant() -> Option<(bool, &'static str)> {
    let counts_time = cfg!(any(target_arch = "aarch64", target_arch = "riscv64"));
    counts_time.then_some((true, "the architecture: the counter counts time"))
}

/// Always `None`: no instruction of this architecture reports this value.
pub fn hypervisor() -> Option<Hypervisor> {
    None
}

/// Always empty: no instruction of this architecture describes caches.
pub fn caches() -> Vec<OwnCache> {
    Vec::new()
}
