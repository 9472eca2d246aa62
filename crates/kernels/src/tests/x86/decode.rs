//! Effect of the kernels' instructions on memory (Intel SDM vol. 2: chapter 2 for prefixes,
//! chapters 3 to 5 for opcodes).

/// Bytes that the instruction at the start of `code` accesses, and whether the access bypasses the
/// caches. `None` for instructions that no kernel uses.
pub fn decode(code: &[u8]) -> Option<(usize, bool)> {
    match *code {
        [0x0f, 0x01, 0xfc, ..] => Some((64, true)),  // clzero
        _ if is_movdir64b(code) => Some((64, true)), // the flag belongs to its store
        [0xf3, 0xaa | 0xa4, ..] => Some((1, false)), // rep stosb, rep movsb: one step is one byte
        [0xc5, vex, op, ..] => vex_encoded(vex, 1, op),
        [0xc4, map, vex, op, ..] => vex_encoded(vex, map & 0x1f, op),
        #[cfg(target_arch = "x86_64")]
        [0x62, map, _, evex, op, ..] => Some((16 << (evex >> 5 & 3), vector(map & 7, op)?)),
        #[cfg(target_arch = "x86")]
        [0x62, map, _, evex, op, ..] if map >= 0xc0 => {
            Some((16 << (evex >> 5 & 3), vector(map & 7, op)?))
        }
        #[cfg(target_arch = "x86_64")]
        [0x48..=0x4f, 0x0f, 0xc3, ..] => Some((8, true)), // movnti
        #[cfg(target_arch = "x86_64")]
        [0x48..=0x4f, op, ..] => general(op).then_some((8, false)),
        #[cfg(target_arch = "x86")]
        [0x0f, 0xc3, ..] => Some((4, true)), // movnti
        [0x66, 0x40..=0x4f, 0x0f, 0x38, op, ..] | [0x66, 0x0f, 0x38, op, ..] => {
            Some((16, vector(2, op)?))
        }
        [0x66, 0x40..=0x4f, 0x0f, op, ..] | [0x66, 0x0f, op, ..] => Some((16, vector(1, op)?)),
        // movsd, addsd
        [0xf2, 0x40..=0x4f, 0x0f, op, ..] | [0xf2, 0x0f, op, ..] => {
            matches!(op, 0x10 | 0x11 | 0x58).then_some((8, false))
        }
        #[cfg(target_arch = "x86")]
        [op, ..] => general(op).then_some((4, false)),
        _ => None,
    }
}

/// True if `code` starts with `movdir64b`.
pub fn is_movdir64b(code: &[u8]) -> bool {
    matches!(
        *code,
        [0x66, 0x40..=0x4f, 0x0f, 0x38, 0xf8, ..] | [0x66, 0x0f, 0x38, 0xf8, ..]
    )
}

/// True if `op` is one of these instructions on general registers: add, adc, xor, mov to memory,
/// mov from memory.
fn general(op: u8) -> bool {
    matches!(op, 0x03 | 0x13 | 0x33 | 0x89 | 0x8b)
}

fn vex_encoded(vex: u8, map: u8, op: u8) -> Option<(usize, bool)> {
    let prefix = vex & 3; // none or 66
    let known = prefix == 1 || prefix == 0 && matches!(op, 0x28 | 0x29 | 0x2b | 0x57);
    known.then_some(())?;
    Some((if vex & 4 == 0 { 16 } else { 32 }, vector(map, op)?))
}

/// Whether the vector instruction `op` of opcode map 1 (0F) or 2 (0F38) bypasses the caches; `None`
/// for unknown instructions.
fn vector(map: u8, op: u8) -> Option<bool> {
    match (map, op) {
        // movap load and store, xorps, add, mul, movdqa load and store, paddq, pxor
        (1, 0x28 | 0x29 | 0x57 | 0x58 | 0x59 | 0x6f | 0x7f | 0xd4 | 0xef) => Some(false),
        (1, 0x2b | 0xe7) => Some(true), // movntp, movntdq
        (2, 0x2a) => Some(true),        // movntdqa
        _ => None,
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn instructions_are_understood() {
    for (code, meaning) in [
        (&[0x4c, 0x8b, 0x80][..], Some((8, false))), // mov r8, [rax + disp]
        (&[0x4d, 0x0f, 0xc3, 0x01], Some((8, true))), // movnti [r9], r8
        (&[0x66, 0x0f, 0x6f, 0x00], Some((16, false))), // movdqa xmm0, [rax]
        (&[0x66, 0x41, 0x0f, 0xe7, 0x01], Some((16, true))), // movntdq [r9], xmm0
        (&[0x66, 0x0f, 0x38, 0x2a, 0x00], Some((16, true))), // movntdqa xmm0, [rax]
        (&[0xf2, 0x0f, 0x10, 0x08], Some((8, false))), // movsd xmm1, [rax]
        (&[0xf2, 0x41, 0x0f, 0x58, 0x09], Some((8, false))), // addsd xmm1, [r9]
        (&[0xc5, 0xf9, 0x6f, 0x00], Some((16, false))), // vmovdqa xmm0, [rax]
        (&[0xc5, 0xfd, 0x6f, 0x00], Some((32, false))), // vmovdqa ymm0, [rax]
        (&[0xc5, 0xfc, 0x28, 0x00], Some((32, false))), // vmovaps ymm0, [rax]
        (&[0xc5, 0xfc, 0x2b, 0x00], Some((32, true))), // vmovntps [rax], ymm0
        (&[0xc4, 0xe2, 0x7d, 0x2a, 0x00], Some((32, true))), // vmovntdqa ymm0, [rax]
        (&[0xc4, 0xc1, 0x7d, 0xe7, 0x01], Some((32, true))), // vmovntdq [r9], ymm0
        (&[0x62, 0xf1, 0xfd, 0x48, 0x6f, 0x00], Some((64, false))), // vmovdqa64 zmm0, [rax]
        (&[0x62, 0xd1, 0x7d, 0x48, 0xe7, 0x01], Some((64, true))), // vmovntdq [r9], zmm0
        (&[0x62, 0xf2, 0x7d, 0x48, 0x2a, 0x00], Some((64, true))), // vmovntdqa zmm0, [rax]
        (&[0x62, 0xf1, 0xfd, 0x28, 0x6f, 0x00], Some((32, false))), // vmovdqa64 ymm0, [rax]
        (&[0x0f, 0x01, 0xfc], Some((64, true))),     // clzero
        (&[0x66, 0x44, 0x0f, 0x38, 0xf8, 0x08], Some((64, true))), // movdir64b r9, [rax]
        (&[0xf3, 0xaa], Some((1, false))),           // rep stosb
        (&[0x8b, 0x00], None),                       // mov eax, [rax]
        (&[0xc5, 0xfa, 0x6f, 0x00], None),           // vmovdqu xmm0, [rax]
    ] {
        assert_eq!(decode(code), meaning, "{code:02x?}");
    }
}
