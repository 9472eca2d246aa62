//! Branches of RISC-V (The RISC-V Instruction Set Manual, volume I: RV32I base integer instruction
//! set).

use crate::tests::loops::Step;

/// The instruction at the start of `code`; `None` if the code ends within it or if it has not four
/// bytes.
pub(crate) fn step(code: &[u8]) -> Option<Step> {
    let word = u32::from_le_bytes(*code.first_chunk()?);
    // The distance of a jump is in pieces. `sign` is the highest bit of the word, as the sign of
    // the distance. `piece` is one piece, at its place in the distance.
    let sign = |bits: u32| ((word as i32) >> 31 << bits) as isize;
    let piece = |lowest: u32, bits: u32, place: u32| {
        ((word >> lowest & ((1 << bits) - 1)) << place) as isize
    };
    let (jump, goes_on) = match (word & 0x7f, word >> 7 & 0x1f) {
        (0x63, _) => (
            Some(sign(12) | piece(7, 1, 11) | piece(25, 6, 5) | piece(8, 4, 1)),
            true,
        ),
        (0x6f, 0) => (
            Some(sign(20) | piece(12, 8, 12) | piece(20, 1, 11) | piece(21, 10, 1)),
            false,
        ),
        _ if word == 0x0000_8067 => (None, false), // ret
        _ if word & 3 == 3 => (None, true),
        _ => return None,
    };
    Some(Step {
        bytes: 4,
        jump,
        goes_on,
    })
}

#[test]
fn branches_are_understood() {
    let seen = |word: u32| step(&word.to_le_bytes()).map(|s| (s.jump, s.goes_on));
    for (word, meaning) in [
        (0x0000_0663, Some((Some(12), true))),  // beqz zero, .+12
        (0xfe05_1ce3, Some((Some(-8), true))),  // bnez a0, .-8
        (0x0100_006f, Some((Some(16), false))), // j .+16
        (0xff9f_f06f, Some((Some(-8), false))), // j .-8
        (0x0000_8067, Some((None, false))),     // ret
        (0x00a5_85b3, Some((None, true))),      // add a1, a1, a0
        (0x0100_000f, Some((None, true))),      // pause
        (0x0000_8082, None),                    // c.jr ra
    ] {
        assert_eq!(seen(word), meaning, "{word:#x}");
    }
}
