//! Features of RISC-V processors that kernels need.

use crate::native;
use host::cpu;

/// Always true: the target requires the baseline.
pub(crate) fn baseline() -> bool {
    true
}

/// True if programs may use version 1.0 of the vector extension. The operating system does not set
/// the `V` bit of the capabilities for older versions.
pub(crate) fn vectors() -> bool {
    cpu::capabilities() >> (b'V' - b'A') & 1 == 1
}

/// Length of the vector registers in bits; 0 without the vector extension.
pub(crate) fn vector_bits() -> u32 {
    if !vectors() {
        return 0;
    }
    // SAFETY: the vector extension is present.
    u32::try_from(unsafe { native::vector_bits() }).unwrap_or(0)
}

/// True if programs may use `cbo.zero` and it zeroes 64 B, as the kernels expect.
pub(crate) fn zeroes_lines() -> bool {
    cpu::zeroed_block() == Some(64)
}
