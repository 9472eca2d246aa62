//! The core clock's ruler: a chain of register additions, one per cycle on every processor of the last decades.

use super::native;

/// Dependent additions per block.
pub const ADDS_PER_BLOCK: u64 = 128;

/// Does `blocks` × [`ADDS_PER_BLOCK`] additions, each of which needs the one before it.
///
/// Register plus register: additions of a constant are folded away at rename by some cores (Golden Cove on).
pub fn dependent_adds(blocks: u64) {
    if blocks > 0 {
        // SAFETY: touches registers only, uses baseline instructions only, and ends after `blocks` turns.
        unsafe { (native::ADD)(blocks) }
    }
}

/// Digest of the machine code that adds.
pub fn adds_digest() -> Option<String> {
    // SAFETY: it is a kernel.
    unsafe { super::digest::digest_of(native::ADD as *const u8) }
}
