//! Lengths and jumps of the instructions of x86 and x86-64 (Intel SDM vol. 2, chapter 2 and
//! appendix A).

use crate::tests::loops::Step;

/// True on x86-64.
const WIDE: bool = cfg!(target_arch = "x86_64");

/// The instruction at the start of `code`. `None` if the code ends within it, or if no kernel uses
/// it.
pub(crate) fn step(code: &[u8]) -> Option<Step> {
    let is_prefix = |byte: &u8| {
        matches!(byte, 0x66 | 0xf0 | 0xf2 | 0xf3) || WIDE && (0x40..0x50).contains(byte)
    };
    let start = code.iter().take_while(|byte| is_prefix(byte)).count();
    let wide_word = WIDE && code[..start].iter().any(|byte| byte & 0xf8 == 0x48);
    let rest = &code[start..];
    // VEX and EVEX replace prefixes and escape bytes. On 32-bit x86, their first bytes mean VEX or
    // EVEX only if the second byte is 0xc0 or more.
    let theirs = WIDE || rest.get(1).is_some_and(|byte| *byte >= 0xc0);
    let (before, map) = match *rest {
        [0xc5, _, ..] if theirs => (2, 1),
        [0xc4, map, _, ..] if theirs => (3, map & 0x1f),
        [0x62, map, _, _, ..] if theirs => (4, map & 7),
        [0x0f, 0x38, ..] => (2, 2),
        [0x0f, 0x3a, ..] => (2, 3),
        [0x0f, ..] => (1, 1),
        _ => (0, 0),
    };
    let op = *rest.get(before)?;
    let field = rest.get(before + 1).map_or(0, |modrm| modrm >> 3 & 7);
    let (has_modrm, immediate) = if map == 0 {
        one_byte(op, field, wide_word)?
    } else {
        escaped(map, op)?
    };
    let operands = if has_modrm {
        memory_operand(&rest[before + 1..])?
    } else {
        0
    };
    let length = before + 1 + operands;
    let constant = rest.get(length..length + immediate)?;
    let bytes = start + length + immediate;
    let to = |by: i32| Some(by as isize + bytes as isize);
    Some(match (map, op) {
        (0, 0x70..=0x7f) => Step {
            bytes,
            jump: to(i32::from(constant[0] as i8)),
            goes_on: true,
        },
        (0, 0xeb) => Step {
            bytes,
            jump: to(i32::from(constant[0] as i8)),
            goes_on: false,
        },
        (0, 0xe9) => Step {
            bytes,
            jump: to(i32::from_le_bytes(*constant.first_chunk()?)),
            goes_on: false,
        },
        (1, 0x80..=0x8f) => Step {
            bytes,
            jump: to(i32::from_le_bytes(*constant.first_chunk()?)),
            goes_on: true,
        },
        (0, 0xc3) => Step {
            bytes,
            jump: None,
            goes_on: false,
        },
        _ => Step::plain(bytes),
    })
}

/// For the instruction `op` of the first opcode map: whether it has a ModRM byte, and the size of
/// its constant in bytes. `field` is the middle field of the ModRM byte.
fn one_byte(op: u8, field: u8, wide_word: bool) -> Option<(bool, usize)> {
    Some(match op {
        0x00..0x40 if op & 7 < 4 => (true, 0), // arithmetic with memory or registers
        0x00..0x40 if op & 7 == 4 => (false, 1), // arithmetic of al with a constant
        0x00..0x40 if op & 7 == 5 => (false, 4), // arithmetic of eax with a constant
        0x40..0x60 => (false, 0),              // inc, dec (x86), push, pop
        0x70..0x80 | 0xeb => (false, 1),       // jumps
        0xe9 => (false, 4),                    // jmp
        0x80 | 0x83 | 0xc0 | 0xc1 | 0xc6 | 0x6b => (true, 1),
        0x81 | 0xc7 | 0x69 => (true, 4),
        0x84..=0x8d | 0x8f | 0xd0..0xd4 | 0xd8..0xe0 | 0xfe | 0xff => (true, 0),
        // test, xchg, mov, lea, shifts, x87
        0xf6 => (true, usize::from(field < 2)), // test with a constant, not, neg, mul, div
        0xf7 => (true, if field < 2 { 4 } else { 0 }),
        0x90 | 0x99 | 0xa4..0xa8 | 0xaa..0xb0 | 0xc3 => (false, 0),
        // nop or pause, cdq, string instructions, ret
        0xa8 => (false, 1),
        0xa9 => (false, 4),
        0xb0..0xb8 => (false, 1),
        0xb8..0xc0 => (false, if wide_word { 8 } else { 4 }),
        _ => return None,
    })
}

/// Like `one_byte`, for the maps behind escape bytes: 0F (1), 0F38 (2), 0F3A (3).
fn escaped(map: u8, op: u8) -> Option<(bool, usize)> {
    Some(match (map, op) {
        (1, 0x80..0x90) => (false, 4),               // jumps
        (1, 0x77 | 0xa2 | 0xc8..0xd0) => (false, 0), // vzeroupper, cpuid, bswap
        (1, 0x70..=0x73 | 0xa4 | 0xac | 0xba | 0xc2 | 0xc4..=0xc6) => (true, 1),
        (1, 0x05 | 0x0b | 0x31) => return None, // no kernel calls the system or traps
        (1 | 2, _) => (true, 0),
        (3, _) => (true, 1),
        _ => return None,
    })
}

/// Length of the ModRM byte at the start of `code` with its SIB byte and displacement, in bytes.
fn memory_operand(code: &[u8]) -> Option<usize> {
    let modrm = *code.first()?;
    let has_sib = modrm & 7 == 4 && modrm < 0xc0;
    let base = if has_sib {
        *code.get(1)? & 7
    } else {
        modrm & 7
    };
    let displacement = match modrm >> 6 {
        0 if base == 5 => 4,
        1 => 1,
        2 => 4,
        _ => 0,
    };
    Some(1 + usize::from(has_sib) + displacement)
}

#[test]
#[cfg(target_arch = "x86_64")]
fn lengths_and_jumps_are_understood() {
    for (code, jump, goes_on) in [
        (&[0x4c, 0x8b, 0x80, 1, 2, 3, 4][..], None, true), // mov r8, [rax + disp]
        (&[0x4e, 0x8b, 0x04, 0x16], None, true),           // mov r8, [rsi + 8 * r10]
        (&[0x44, 0x8b, 0x40, 0x1c], None, true),           // mov r8d, [rax + 28]
        (&[0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8], None, true), // mov rax, imm64
        (&[0x48, 0xc7, 0x02, 0, 0, 0, 0], None, true),     // mov qword ptr [rdx], 0
        (&[0x48, 0x05, 0, 2, 0, 0], None, true),           // add rax, 512
        (&[0xf0, 0x48, 0x0f, 0xc1, 0x02], None, true),     // lock xadd [rdx], rax
        (&[0xf3, 0x90], None, true),                       // pause
        (&[0xf3, 0xaa], None, true),                       // rep stosb
        (&[0x48, 0x0f, 0x44, 0xc6], None, true),           // cmove rax, rsi
        (&[0x66, 0x0f, 0x3a, 0x22, 0xc0, 0x01], None, true), // pinsrd xmm0, eax, 1
        (&[0xc5, 0xfd, 0x6f, 0x80, 1, 2, 3, 4], None, true), // vmovdqa ymm0, [rax + disp]
        (&[0xc4, 0xe3, 0x7d, 0x39, 0xc1, 0x01], None, true), // vextracti128 xmm1, ymm0, 1
        (&[0xc4, 0xe2, 0x7d, 0x2a, 0x00], None, true),     // vmovntdqa ymm0, [rax]
        (&[0xc5, 0xf8, 0x77], None, true),                 // vzeroupper
        (&[0x62, 0xf1, 0xfd, 0x48, 0x6f, 0x40, 0x01], None, true), // vmovdqa64 zmm0, [rax + 64]
        (&[0x62, 0xf3, 0xfd, 0x48, 0x3b, 0xc1, 0x01], None, true), // vextracti64x4 ymm1, zmm0, 1
        (&[0x0f, 0x01, 0xfc], None, true),                 // clzero
        (&[0x0f, 0xae, 0xf8], None, true),                 // sfence
        (&[0x75, 0xfa], Some(-4), true),                   // jnz
        (&[0xeb, 0x10], Some(18), false),                  // jmp
        (&[0x0f, 0x85, 0, 0xff, 0xff, 0xff], Some(-250), true), // jnz
        (&[0xe9, 0xfb, 0xff, 0xff, 0xff], Some(0), false), // jmp
        (&[0xc3], None, false),                            // ret
    ] {
        let whole = [code, &[0xcc; 8]].concat();
        assert_eq!(
            step(&whole),
            Some(Step {
                bytes: code.len(),
                jump,
                goes_on
            }),
            "{code:02x?}"
        );
    }
    for (code, why) in [
        (&[0xcc][..], "padding"),
        (&[0x75], "cut short"),
        (&[0x0f, 0x05], "a system call"),
    ] {
        assert_eq!(step(code), None, "{why}");
    }
}
