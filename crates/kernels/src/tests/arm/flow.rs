//! Branches of Armv7 in the A32 encoding (Arm Architecture Reference Manual, F4.1: branch
//! instructions).

use crate::tests::loops::Step;

/// The instruction at the start of `code`; `None` if the code ends within it.
pub(crate) fn step(code: &[u8]) -> Option<Step> {
    let word = u32::from_le_bytes(*code.first_chunk()?);
    let always = word >> 28 == 0xe;
    let conditional = word >> 28 < 0xf;
    let (jump, goes_on) = match word & 0x0fff_ffff {
        // b: the distance counts from two instructions further on.
        w if conditional && w & 0x0f00_0000 == 0x0a00_0000 => {
            (Some(((w << 8) as i32 >> 6) as isize + 8), !always)
        }
        0x012f_ff1e => (None, !always), // bx lr
        w if conditional && w & 0x0fff_8000 == 0x08bd_8000 => (None, !always), // pop with pc
        _ => (None, true),
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
        (0xea00_0001, (Some(12), false)), // b .+12
        (0x1aff_fffc, (Some(-8), true)),  // bne .-8
        (0x0a00_0001, (Some(12), true)),  // beq .+12
        (0xe12f_ff1e, (None, false)),     // bx lr
        (0xe8bd_8ff8, (None, false)),     // pop {r3-r11, pc}
        (0xe8bd_4ff8, (None, true)),      // pop {r3-r11, lr}
        (0xe081_1000, (None, true)),      // add r1, r1, r0
        (0xf57f_f05b, (None, true)),      // dmb ish
    ] {
        assert_eq!(seen(word), Some(meaning), "{word:#x}");
    }
}
