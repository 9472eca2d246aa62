//! Digests of machine code: equal digests mean that the same instructions were timed.
//!
//! Every skeleton aligns its body to 64 bytes and ends it with [`END_MARK`], so the body can be found from the
//! function's address: it starts at the next 64-byte boundary (what lies before is padding that depends on where the
//! linker put the function) and ends before the mark. The code is free of relocations, so its bytes do not depend on
//! the compiler's options, only on the instructions.

use sha2::{Digest, Sha256};

/// Ends every kernel's code; no instruction sequence of ours contains it.
pub(super) const END_MARK: &[u8; 16] = b"memgauge-row-end";

/// No kernel is longer than this.
const LONGEST_CODE: usize = 16 << 10;

/// The bytes of the body of the kernel at `code`, `None` where the end mark is missing.
pub(super) fn body_of(code: *const u8) -> Option<Vec<u8>> {
    let start = (code as usize).next_multiple_of(64) as *const u8;
    let mut body = Vec::new();
    while body.len() < LONGEST_CODE {
        // SAFETY: reads machine code of this program from the start of a kernel on; every kernel ends with the mark
        // (a test holds it), so reading stops inside the program's own text.
        body.push(unsafe { start.add(body.len()).read() });
        if body.ends_with(END_MARK) {
            body.truncate(body.len() - END_MARK.len());
            return Some(body);
        }
    }
    None
}

/// The first 16 hexadecimal digits of SHA-256 over the kernel's body.
pub fn digest_of(code: *const u8) -> Option<String> {
    let hash = Sha256::digest(body_of(code)?);
    Some(hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}
