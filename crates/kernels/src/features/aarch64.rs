//! Features of AArch64 processors. `is_aarch64_feature_detected!` also checks the system's support.

use crate::native;
use host::cpu;

/// True: every processor of the architecture has it.
pub(crate) fn baseline() -> bool {
    true
}

/// True if there is Advanced SIMD.
pub(crate) fn neon() -> bool {
    std::arch::is_aarch64_feature_detected!("neon")
}

/// True if there is SVE, with vectors of any length.
pub(crate) fn sve() -> bool {
    std::arch::is_aarch64_feature_detected!("sve")
}

/// Bits of an SVE vector; 0 without SVE.
pub(crate) fn sve_bits() -> u32 {
    if !sve() {
        return 0;
    }
    // SAFETY: the processor and the system have SVE.
    let bytes = unsafe { native::vector_bytes() };
    u32::try_from(bytes * 8).unwrap_or(0)
}

/// True if there is SVE with vectors that divide a block. Early processors were allowed lengths
/// that are no powers of two, but none is known to have used one.
pub(crate) fn sve_for_blocks() -> bool {
    let bits = sve_bits();
    bits.is_power_of_two() && bits <= 2048
}

/// True if there are atomic instructions (Armv8.1).
pub(crate) fn lse() -> bool {
    std::arch::is_aarch64_feature_detected!("lse")
}

/// True if programs may use the string instructions: HWCAP2_MOPS
/// (Documentation/arch/arm64/elf_hwcaps.rst).
pub(crate) fn mops() -> bool {
    cpu::more_capabilities() >> 43 & 1 == 1
}

/// True if `dc zva` is allowed and zeroes 16 to 64 B. DCZID_EL0 says whether it is, and has the
/// size of its block as a power of two of words (Arm ARM, D17.2). Streams start at multiples of
/// 64 B, so a longer block might begin before its stream.
pub(crate) fn zeroes_blocks() -> bool {
    // SAFETY: reads an identification register that every program may read.
    let found = unsafe { native::zero_block() };
    found & 16 == 0 && (2..=4).contains(&(found & 15))
}
