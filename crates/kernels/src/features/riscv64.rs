//! Features of RISC-V processors that kernels need.

use crate::native;
use host::cpu;

/// The baseline of the target.
pub(crate) fn baseline() -> bool {
    true
}

/// True if programs may use version 1.0 of the vector extension. The kernel does not set its bit
/// for older versions.
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

/// True if `cbo.zero` may be used and zeroes as many bytes as its row expects.
pub(crate) fn zeroes_lines() -> bool {
    cpu::zeroed_block() == Some(64)
}
