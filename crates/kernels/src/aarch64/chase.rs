//! Pointer chases of AArch64: 1 to 32 walkers, with and without payload.

use crate::MOST_WALKERS;
use crate::chase::{ChaseCall, ChaseCode};
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets in the skeleton.
const _: () =
    assert!(offset_of!(ChaseCall, blocks) == 256 && offset_of!(ChaseCall, payload) == 264);

/// The hop of a walker in register `\r`, then of one whose position is `\place` in the call, with
/// and without payload.
macro_rules! hop {
    (register) => {
        ".if {payload}\n ldr x30, [\\r, 8]\n ldr \\r, [\\r]\n add x2, x2, x30\n .else\n ldr \\r, [\\r]\n .endif"
    };
    (call) => {
        "ldr x3, [x0, 8 * \\place]\n .if {payload}\n ldr x30, [x3, 8]\n ldr x3, [x3]\n \
         add x2, x2, x30\n .else\n ldr x3, [x3]\n .endif\n str x3, [x0, 8 * \\place]"
    };
}

/// `$text` for every walker that has a register, `\r`.
macro_rules! each_walker {
    ($text:expr) => {
        concat!(
            ".set memgauge_place, 0\n",
            ".irp r, x4,x5,x6,x7,x8,x9,x10,x11,x12,x13,x14,x15,x16,x17,x19,x20,x21,x22,x23,x24,x25,x26,x27,x28\n",
            ".if memgauge_place < {walkers}\n",
            $text,
            "\n.endif\n",
            ".set memgauge_place, memgauge_place + 1\n",
            ".endr\n",
        )
    };
}

/// A pointer chase: `fn(&mut ChaseCall)`.
///
/// In: `x0` = `ChaseCall`. Out: positions and payload in the call. Clobbers: x1 to x17, flags; x19
/// to x28 and x30 are put back. Memory: reads 8 bytes at each node, with payload 8 more behind
/// them; the positions of walkers from the 25th on lie in the call, which the store buffer forwards
/// (about 5 cycles a hop more, far below a miss). Timed: the hops; those of one walker each need
/// the one before.
///
/// x1 counts, x2 adds up, x3 and x30 hold a position from the call and a payload; the others are
/// walkers.
#[unsafe(naked)]
unsafe extern "C" fn chase<const WALKERS: usize, const PAYLOAD: usize>(call: &mut ChaseCall) {
    naked_asm!(
        ".p2align 6",
        "stp x19, x20, [sp, -96]!",
        "stp x21, x22, [sp, 16]",
        "stp x23, x24, [sp, 32]",
        "stp x25, x26, [sp, 48]",
        "stp x27, x28, [sp, 64]",
        "str x30, [sp, 80]",
        "ldr x1, [x0, 256]",
        "mov x2, 0",
        "mov x3, x0",
        each_walker!("ldr \\r, [x3], 8"),
        "b 2f",
        ".p2align 6, 0xcc",
        "2:",
        ".rept {hops}",
        each_walker!(hop!(register)),
        ".irp place, 24,25,26,27,28,29,30,31",
        ".if \\place < {walkers}",
        hop!(call),
        ".endif",
        ".endr",
        ".endr",
        "subs x1, x1, 1",
        "b.ne 2b",
        "mov x3, x0",
        each_walker!("str \\r, [x3], 8"),
        "ldr x1, [x0, 264]",
        "add x1, x1, x2",
        "str x1, [x0, 264]",
        "ldr x30, [sp, 80]",
        "ldp x27, x28, [sp, 64]",
        "ldp x25, x26, [sp, 48]",
        "ldp x23, x24, [sp, 32]",
        "ldp x21, x22, [sp, 16]",
        "ldp x19, x20, [sp], 96",
        "ret",
        ".ascii \"memgauge-row-end\"",
        walkers = const WALKERS,
        hops = const if WALKERS == 1 { 64 } else { 8 },
        payload = const PAYLOAD,
    )
}

/// By number of walkers.
pub(crate) static CHASES: [ChaseCode; MOST_WALKERS] = [
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

/// The same with payload.
pub(crate) static CHASES_WITH_PAYLOAD: [ChaseCode; MOST_WALKERS] = [
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
