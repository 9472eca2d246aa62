//! Digests of machine code: equal digests mean that the same instructions were timed.
//!
//! Every kernel starts at a multiple of 64 bytes and ends with [`END_MARK`]. The body of a function
//! is the code from the first 64-byte boundary at or after its address up to the mark. The bytes
//! before this boundary are padding, which depends on the linker. The body has no relocations, so
//! its bytes depend on the instructions only, not on the compiler's options.

use sha2::{Digest, Sha256};

/// Mark after the code of every kernel. No kernel contains this sequence of bytes.
const END_MARK: &[u8; 16] = b"memgauge-row-end";

/// Limit for the length of a kernel and its end mark in bytes.
const LONGEST_CODE: usize = 16 << 10;

/// The bytes of `code` before the end mark. `None` if the first 16 KiB have no mark.
fn before_mark(code: impl Iterator<Item = u8>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    for byte in code.take(LONGEST_CODE) {
        body.push(byte);
        if body.ends_with(END_MARK) {
            body.truncate(body.len() - END_MARK.len());
            return Some(body);
        }
    }
    None
}

/// The body of the kernel at `code`; `None` if the end mark is missing.
///
/// # Safety
/// `code` is the address of a kernel of this program, which ends with the mark.
pub(super) unsafe fn body_of(code: *const u8) -> Option<Vec<u8>> {
    let start = (code as usize).next_multiple_of(64) as *const u8;
    // SAFETY: the caller's kernel lies in the program's text from `start` on, and reading stops at
    // its mark.
    before_mark((0..).map(|i| unsafe { start.add(i).read() }))
}

/// The first 16 hexadecimal digits of SHA-256 over `body`.
fn digest(body: &[u8]) -> String {
    Sha256::digest(body)
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Digest of the body of the kernel at `code`; `None` if the end mark is missing.
///
/// # Safety
/// `code` is the address of a kernel of this program, which ends with the mark.
pub(super) unsafe fn digest_of(code: *const u8) -> Option<String> {
    // SAFETY: the caller promises what `body_of` requires.
    unsafe { body_of(code) }.map(|body| digest(&body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CoreReference, HandOff, MAX_WALKERS, all_instructions, all_locks, all_rows, chase_code,
        chase_digest, chase_name,
    };
    use std::collections::{BTreeMap, BTreeSet};

    /// Name and body of every kernel of this architecture, including kernels that this processor
    /// cannot execute.
    fn bodies() -> Vec<(String, Vec<u8>)> {
        let rows = all_rows()
            .into_iter()
            .filter(|row| row.digest().is_some())
            .map(|row| (row.name(), row.code()));
        let numbers = (1..=MAX_WALKERS).flat_map(|walkers| [(walkers, false), (walkers, true)]);
        let chases = numbers
            .map(|(walkers, payload)| (chase_name(walkers, payload), chase_code(walkers, payload)));
        let instructions = all_instructions()
            .into_iter()
            .filter(|i| i.unsupported().is_none());
        let instructions = instructions.map(|i| (i.name(), i.code()));
        let locks = all_locks()
            .into_iter()
            .filter(|l| l.digest().is_some())
            .map(|l| (l.name(), l.code()));
        let handoffs = HandOff::ALL.map(|h| (format!("hand-off {h}"), h.code()));
        let all = rows
            .chain(chases)
            .chain(instructions)
            .chain(locks)
            .chain(handoffs);
        let all = all.chain(
            CoreReference::ALL.map(|reference| (reference.name().to_owned(), reference.code())),
        );
        all.map(|(name, body)| (name.clone(), body.expect(&name)))
            .collect()
    }

    #[test]
    fn every_body_is_found_and_whole() {
        for (name, body) in bodies() {
            assert!(
                body.len() > 32 && body.len() < LONGEST_CODE / 2,
                "{name}: {} bytes",
                body.len()
            );
            let text = String::from_utf8_lossy(&body);
            assert!(
                !text.contains("memgauge"),
                "{name}: runs on into another kernel"
            );
        }
    }

    /// The assembler's choice of padding NOPs depends on `-C target-cpu`. On other architectures
    /// these bytes may be part of any instruction.
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    #[test]
    fn no_body_holds_padding_of_the_assemblers_choice() {
        for (name, body) in bodies() {
            let nop = body
                .windows(2)
                .position(|bytes| matches!(bytes, [0x0f, 0x1f] | [0x66, 0x90]));
            assert_eq!(nop, None, "{name}: a NOP of several bytes");
        }
    }

    #[test]
    fn digests_are_distinct_and_stable() {
        let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, body) in bodies() {
            names.entry(digest(&body)).or_default().push(name);
        }
        for (digest, names) in &names {
            assert!(
                digest.len() == 16 && digest.chars().all(|c| c.is_ascii_hexdigit()),
                "{digest}"
            );
            // A set may use a row of a narrower set. Then the operation is the same.
            let questions: BTreeSet<&str> = names
                .iter()
                .filter_map(|name| name.split('/').next())
                .collect();
            assert_eq!(questions.len(), 1, "one code answers {names:?}");
        }
        for row in all_rows() {
            assert_eq!(row.digest(), row.digest());
            if let Ok(kernel) = row.kernel() {
                assert_eq!(kernel.digest(), row.digest(), "{}", row.name());
            }
        }
        assert!(names.contains_key(&chase_digest(1, false).unwrap()));
    }

    #[test]
    fn any_changed_byte_changes_the_digest() {
        for (name, body) in bodies() {
            let original = digest(&body);
            let mut changed = body.clone();
            for place in 0..body.len() {
                changed[place] ^= 0x40;
                assert_ne!(digest(&changed), original, "{name}: byte {place}");
                changed[place] = body[place];
            }
            changed.push(0x90);
            assert_ne!(digest(&changed), original, "{name}: one byte more");
            assert_ne!(
                digest(&body[..body.len() - 1]),
                original,
                "{name}: one byte less"
            );
        }
    }

    #[test]
    fn the_body_ends_at_the_first_mark() {
        let found = |bytes: &[u8]| before_mark(bytes.iter().copied());
        assert_eq!(found(b"\xc3memgauge-row-end and more"), Some(vec![0xc3]));
        assert_eq!(
            found(b"abmemgauge-row-endcdmemgauge-row-end"),
            Some(b"ab".to_vec())
        );
        assert_eq!(
            found(b"memgaugememgauge-row-end"),
            Some(b"memgauge".to_vec())
        );
        assert_eq!(found(b"memgauge-row-end"), Some(vec![]));
        for unmarked in [&b""[..], b"memgauge-row-en", b"memgauge-row-enD"] {
            assert_eq!(found(unmarked), None);
        }
        assert_eq!(
            before_mark(std::iter::repeat(0x90)),
            None,
            "the search has an end"
        );
    }

    /// Compares with the examples of FIPS 180-4.
    #[test]
    fn the_digest_is_sha_256_cut_short() {
        assert_eq!(digest(b""), "e3b0c44298fc1c14");
        assert_eq!(digest(b"abc"), "ba7816bf8f01cfea");
    }
}
