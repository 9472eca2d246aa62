//! Processor capabilities that kernels beyond the baseline need.

use super::os;

/// The system's word of hardware capabilities (`AT_HWCAP`); 0 if it gives none. The meaning of a
/// bit depends on the architecture. A bit is set only if the system supports the registers too.
pub fn capabilities() -> u64 {
    os::hardware_capabilities()[0]
}

/// The system's second word of hardware capabilities (`AT_HWCAP2`); 0 if it gives none.
pub fn more_capabilities() -> u64 {
    os::hardware_capabilities()[1]
}

/// Bytes that RISC-V's `cbo.zero` sets to zero; `None` if programs may not use it or the size is
/// unknown.
pub fn zeroed_block() -> Option<u64> {
    os::zeroed_block()
}
