//! Features of AArch64 processors. `is_aarch64_feature_detected!` also checks the system's support.

use crate::native;
use host::cpu;

/// Always true: every AArch64 processor has the baseline.
pub(crate) fn baseline() -> bool {
    true
}

/// True if programs may use Advanced SIMD.
pub(crate) fn neon() -> bool {
    std::arch::is_aarch64_feature_detected!("neon")
}

/// True if programs may use SVE, whatever the length of its vectors is.
pub(crate) fn sve() -> bool {
    std::arch::is_aarch64_feature_detected!("sve")
}

/// Length of an SVE vector in bits; 0 without SVE.
pub(crate) fn sve_bits() -> u32 {
    if !sve() {
        return 0;
    }
    // SAFETY: the processor and the system have SVE.
    let bytes = unsafe { native::vector_bytes() };
    u32::try_from(bytes * 8).unwrap_or(0)
}

/// True if programs may use SVE and its vectors divide a block of 512 B. Early versions of SVE
/// allowed lengths that are no powers of two, but no processor is known to have used one.
pub(crate) fn sve_for_blocks() -> bool {
    let bits = sve_bits();
    bits.is_power_of_two() && bits <= 2048
}

/// True if programs may use the atomic instructions of Armv8.1 (LSE).
pub(crate) fn lse() -> bool {
    std::arch::is_aarch64_feature_detected!("lse")
}

/// True if programs may use the memory copy and set instructions, FEAT_MOPS: HWCAP2_MOPS
/// (Documentation/arch/arm64/elf_hwcaps.rst).
pub(crate) fn mops() -> bool {
    cpu::more_capabilities() >> 43 & 1 == 1
}

/// True if programs may use `dc zva` and it zeroes blocks of 16 to 64 B. The register DCZID_EL0 has
/// a bit that prohibits `dc zva`, and log2 of the block size in words of 4 B (Arm ARM, D17.2).
/// Streams start at multiples of 64 B, so a longer block might begin before its stream.
pub(crate) fn zeroes_blocks() -> bool {
    // SAFETY: reads an identification register that every program may read.
    let found = unsafe { native::zero_block() };
    found & 16 == 0 && (2..=4).contains(&(found & 15))
}
