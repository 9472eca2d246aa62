//! Pointer chases of x86-64: 1 to 32 walkers, with and without payload.

use crate::MAX_WALKERS;
use crate::chase::{ChaseCall, ChaseCode};
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets that the skeleton uses.
const _: () =
    assert!(offset_of!(ChaseCall, blocks) == 256 && offset_of!(ChaseCall, payload) == 264);

/// A pointer chase: `fn(&mut ChaseCall)`.
///
/// - In: `rdi` = `ChaseCall`.
/// - Out: positions and payload in the call.
/// - Clobbers: rax, rcx, rdx, rsi, r8 to r11, flags. Restored: rbx, rbp, r12 to r15.
/// - Memory: reads 8 bytes at each node, and with payload the next 8 bytes too.
/// - Timed: the hops. Each hop of a walker needs the previous one.
///
/// The walkers' registers in order are rax, rcx, rdx, rsi, r8, r9, r10, rbx, rbp, r12, r13, r14.
/// With more than twelve walkers, the twelfth and later ones keep their positions in the call and
/// use r14 in turn. The store buffer forwards these positions. This costs about 4 cycles more per
/// hop, which is far below a miss. r15 counts iterations, and r11 adds up the payload.
#[unsafe(naked)]
unsafe extern "sysv64" fn chase<const WALKERS: usize, const PAYLOAD: usize>(call: &mut ChaseCall) {
    naked_asm!(
        ".p2align 6",
        ".irp r, rbx,rbp,r12,r13,r14,r15",
        "push \\r",
        ".endr",
        "mov r15, [rdi + 256]",
        "xor r11d, r11d",
        ".set place, 0",
        ".irp r, rax,rcx,rdx,rsi,r8,r9,r10,rbx,rbp,r12,r13,r14",
        ".if place < {held}",
        "mov \\r, [rdi + 8 * place]",
        ".endif",
        ".set place, place + 1",
        ".endr",
        "jmp 2f",
        ".p2align 6, 0xcc",
        "2:",
        ".rept {hops}",
        ".set place, 0",
        ".irp r, rax,rcx,rdx,rsi,r8,r9,r10,rbx,rbp,r12,r13,r14",
        ".if place < {held}",
        ".if {payload}",
        "add r11, [\\r + 8]",
        ".endif",
        "mov \\r, [\\r]",
        ".endif",
        ".set place, place + 1",
        ".endr",
        ".set place, {held}",
        ".rept {walkers} - {held}",
        "mov r14, [rdi + 8 * place]",
        ".if {payload}",
        "add r11, [r14 + 8]",
        ".endif",
        "mov r14, [r14]",
        "mov [rdi + 8 * place], r14",
        ".set place, place + 1",
        ".endr",
        ".endr",
        "dec r15",
        "jnz 2b",
        ".set place, 0",
        ".irp r, rax,rcx,rdx,rsi,r8,r9,r10,rbx,rbp,r12,r13,r14",
        ".if place < {held}",
        "mov [rdi + 8 * place], \\r",
        ".endif",
        ".set place, place + 1",
        ".endr",
        "add [rdi + 264], r11",
        ".irp r, r15,r14,r13,r12,rbp,rbx",
        "pop \\r",
        ".endr",
        "ret",
        ".ascii \"memgauge-row-end\"",
        walkers = const WALKERS,
        held = const if WALKERS > 12 { 11 } else { WALKERS },
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
