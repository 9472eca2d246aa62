//! Branches of AArch64 (Arm Architecture Reference Manual, C4.1: branches, exception generating and
//! system instructions).

use crate::tests::loops::Step;

/// The instruction at the start of `code`; `None` if the code ends within it.
pub(crate) fn step(code: &[u8]) -> Option<Step> {
    let word = u32::from_le_bytes(*code.first_chunk()?);
    let jump = |lowest: u32, bits: u32| {
        Some((((word >> lowest) << (32 - bits)) as i32 >> (30 - bits)) as isize & !3)
    };
    let (jump, goes_on) = match word {
        w if w & 0xfc00_0000 == 0x1400_0000 => (jump(0, 26), false), // b
        w if w & 0xff00_0000 == 0x5400_0000 => (jump(5, 19), true),  // b.cond
        w if w & 0x7e00_0000 == 0x3400_0000 => (jump(5, 19), true),  // cbz, cbnz
        w if w & 0x7e00_0000 == 0x3600_0000 => (jump(5, 14), true),  // tbz, tbnz
        0xd65f_03c0 => (None, false),                                // ret
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
        (0x1400_0003, (Some(12), false)), // b .+12
        (0x17ff_ffff, (Some(-4), false)), // b .-4
        (0x54ff_ffc1, (Some(-8), true)),  // b.ne .-8
        (0xb400_0062, (Some(12), true)),  // cbz x2, .+12
        (0x35ff_ff8c, (Some(-16), true)), // cbnz w12, .-16
        (0x3740_00aa, (Some(20), true)),  // tbnz w10, 8, .+20
        (0xb707_ffe0, (Some(-4), true)),  // tbnz x0, 32, .-4
        (0xd65f_03c0, (None, false)),     // ret
        (0x8b02_0021, (None, true)),      // add x1, x1, x2
        (0xd503_3fdf, (None, true)),      // isb
    ] {
        assert_eq!(seen(word), Some(meaning), "{word:#x}");
    }
}
