//! Features of Armv7 processors that kernels need.

use host::cpu;

/// Always true: the target requires the baseline.
pub(crate) fn baseline() -> bool {
    true
}

/// True if the processor has Advanced SIMD: bit 12 of the hardware capabilities that the operating
/// system gives every program (Linux, arch/arm/include/uapi/asm/hwcap.h).
pub(crate) fn neon() -> bool {
    cpu::capabilities() >> 12 & 1 == 1
}
