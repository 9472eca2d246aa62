//! Capabilities of the processor beyond the base instruction set, which some kernels need.

use super::os;

/// The first word of hardware capabilities (`AT_HWCAP`); 0 if the operating system provides none.
/// The meaning of a bit depends on the architecture. A bit is only set if the operating system
/// supports the feature too.
pub fn capabilities() -> u64 {
    os::hardware_capabilities()[0]
}

/// The second word of hardware capabilities (`AT_HWCAP2`); 0 if the operating system provides none.
pub fn more_capabilities() -> u64 {
    os::hardware_capabilities()[1]
}

/// Number of bytes that one `cbo.zero` instruction of RISC-V sets to zero; `None` if programs may
/// not use it or the size is unknown.
pub fn zeroed_block() -> Option<u64> {
    os::zeroed_block()
}
