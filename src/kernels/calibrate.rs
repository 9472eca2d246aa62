//! The core clock's ruler: a chain of register additions, one per cycle on every processor of the last decades.

use super::native;

/// Dependent additions per block.
pub const ADDS_PER_BLOCK: u64 = 128;

/// Does `blocks` × [`ADDS_PER_BLOCK`] additions, each of which needs the one before it.
///
/// Register plus register: additions of a constant are folded away at rename by some cores (Golden Cove on).
pub fn dependent_adds(blocks: u64) {
    let mut left = blocks;
    while left > 0 {
        let part = usize::try_from(left).unwrap_or(usize::MAX);
        // SAFETY: touches registers only, uses baseline instructions only, and ends after `part` turns, at least one.
        unsafe { (native::ADD)(part) };
        left -= part as u64;
    }
}

/// Digest of the machine code that adds.
pub fn adds_digest() -> Option<String> {
    // SAFETY: it is a kernel.
    unsafe { super::digest::digest_of(native::ADD as *const u8) }
}

/// The machine code that adds.
pub fn adds_code() -> Option<Vec<u8>> {
    // SAFETY: it is a kernel.
    unsafe { super::digest::body_of(native::ADD as *const u8) }
}
