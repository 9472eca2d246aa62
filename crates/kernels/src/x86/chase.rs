//! Pointer chases of x86: 1 to 32 walkers, with and without payload.

use crate::MAX_WALKERS;
use crate::chase::{ChaseCall, ChaseCode};
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets that the skeleton uses.
const _: () =
    assert!(offset_of!(ChaseCall, blocks) == 128 && offset_of!(ChaseCall, payload) == 132);

/// A pointer chase: `fn(&mut ChaseCall)`, with the C convention.
///
/// - In: `[esp + 4]` = `ChaseCall`.
/// - Out: positions and payload in the call.
/// - Clobbers: eax, ecx, edx, flags. Restored: ebx, esi, edi, ebp.
/// - Memory: reads 4 bytes at each node, and with payload 4 bytes at offset 8 of the node. The
///   iterations are counted in the call.
/// - Timed: the hops. Each hop of a walker needs the previous one.
///
/// The walkers' registers in order are eax, ecx, edx, esi, ebx. With more than five walkers, the
/// fifth and later ones keep their positions in the call and use ebx in turn. ebp is the call, and
/// edi adds up the payload.
#[unsafe(naked)]
unsafe extern "C" fn chase<const WALKERS: usize, const PAYLOAD: usize>(call: &mut ChaseCall) {
    naked_asm!(
        ".p2align 6",
        ".irp r, ebx,esi,edi,ebp",
        "push \\r",
        ".endr",
        "mov ebp, [esp + 20]",
        "xor edi, edi",
        ".set place, 0",
        ".irp r, eax,ecx,edx,esi,ebx",
        ".if place < {held}",
        "mov \\r, [ebp + 4 * place]",
        ".endif",
        ".set place, place + 1",
        ".endr",
        "jmp 2f",
        ".p2align 6, 0xcc",
        "2:",
        ".rept {hops}",
        ".set place, 0",
        ".irp r, eax,ecx,edx,esi,ebx",
        ".if place < {held}",
        ".if {payload}",
        "add edi, [\\r + 8]",
        ".endif",
        "mov \\r, [\\r]",
        ".endif",
        ".set place, place + 1",
        ".endr",
        ".set place, {held}",
        ".rept {walkers} - {held}",
        "mov ebx, [ebp + 4 * place]",
        ".if {payload}",
        "add edi, [ebx + 8]",
        ".endif",
        "mov ebx, [ebx]",
        "mov [ebp + 4 * place], ebx",
        ".set place, place + 1",
        ".endr",
        ".endr",
        "dec dword ptr [ebp + 128]",
        "jnz 2b",
        ".set place, 0",
        ".irp r, eax,ecx,edx,esi,ebx",
        ".if place < {held}",
        "mov [ebp + 4 * place], \\r",
        ".endif",
        ".set place, place + 1",
        ".endr",
        "add [ebp + 132], edi",
        ".irp r, ebp,edi,esi,ebx",
        "pop \\r",
        ".endr",
        "ret",
        ".ascii \"memgauge-row-end\"",
        walkers = const WALKERS,
        held = const if WALKERS > 5 { 4 } else { WALKERS },
        hops = const if WALKERS == 1 { 64 } else { 8 },
        payload = const PAYLOAD,
    )
}

/// The chases by number of walkers.
pub(crate) static CHASES: [ChaseCode; MAX_WALKERS] = [
    chase::<1, 0>,
    chase::<2, 0>,
    chase::<3, 0>,
    chase::<4, 0>,
    chase::<5, 0>,
    chase::<6, 0>,
    chase::<7, 0>,
    chase::<8, 0>,
    chase::<9, 0>,
    chase::<10, 0>,
    chase::<11, 0>,
    chase::<12, 0>,
    chase::<13, 0>,
    chase::<14, 0>,
    chase::<15, 0>,
    chase::<16, 0>,
    chase::<17, 0>,
    chase::<18, 0>,
    chase::<19, 0>,
    chase::<20, 0>,
    chase::<21, 0>,
    chase::<22, 0>,
    chase::<23, 0>,
    chase::<24, 0>,
    chase::<25, 0>,
    chase::<26, 0>,
    chase::<27, 0>,
    chase::<28, 0>,
    chase::<29, 0>,
    chase::<30, 0>,
    chase::<31, 0>,
    chase::<32, 0>,
];

/// The chases with payload, by number of walkers.
pub(crate) static CHASES_WITH_PAYLOAD: [ChaseCode; MAX_WALKERS] = [
    chase::<1, 1>,
    chase::<2, 1>,
    chase::<3, 1>,
    chase::<4, 1>,
    chase::<5, 1>,
    chase::<6, 1>,
    chase::<7, 1>,
    chase::<8, 1>,
    chase::<9, 1>,
    chase::<10, 1>,
    chase::<11, 1>,
    chase::<12, 1>,
    chase::<13, 1>,
    chase::<14, 1>,
    chase::<15, 1>,
    chase::<16, 1>,
    chase::<17, 1>,
    chase::<18, 1>,
    chase::<19, 1>,
    chase::<20, 1>,
    chase::<21, 1>,
    chase::<22, 1>,
    chase::<23, 1>,
    chase::<24, 1>,
    chase::<25, 1>,
    chase::<26, 1>,
    chase::<27, 1>,
    chase::<28, 1>,
    chase::<29, 1>,
    chase::<30, 1>,
    chase::<31, 1>,
    chase::<32, 1>,
];
