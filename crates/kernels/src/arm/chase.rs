//! Pointer chases of Armv7: 1 to 32 walkers, with and without payload.

use crate::MAX_WALKERS;
use crate::chase::{ChaseCall, ChaseCode};
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets that the skeleton uses.
const _: () =
    assert!(offset_of!(ChaseCall, blocks) == 128 && offset_of!(ChaseCall, payload) == 132);

/// One hop, with and without payload: of a walker in register `\r`, then of a walker whose position
/// is at `\place` in the call.
macro_rules! hop {
    (register) => {
        ".if {payload}\n ldr r14, [\\r, #8]\n ldr \\r, [\\r]\n add r2, r2, r14\n .else\n ldr \\r, [\\r]\n .endif"
    };
    (call) => {
        "ldr r3, [r0, #4 * \\place]\n .if {payload}\n ldr r14, [r3, #8]\n ldr r3, [r3]\n \
         add r2, r2, r14\n .else\n ldr r3, [r3]\n .endif\n str r3, [r0, #4 * \\place]"
    };
}

/// Repeats `$text` for every walker with a register of its own, `\r`.
macro_rules! each_walker {
    ($text:expr) => {
        concat!(
            ".set memgauge_place, 0\n",
            ".irp r, r4,r5,r6,r7,r8,r9,r10,r11,r12\n",
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
/// - In: `r0` = `ChaseCall`.
/// - Out: positions and payload in the call.
/// - Clobbers: r0 to r3, r12, flags. Restored: r4 to r11, lr.
/// - Memory: reads 4 bytes at each node, and with payload 4 bytes at offset 8 of the node.
/// - Timed: the hops. Each hop of a walker needs the previous one.
///
/// r1 counts iterations, and r2 adds up the payload. The positions of the tenth and later walkers
/// stay in the call. The store buffer forwards these positions. This costs a few cycles more per
/// hop, which is far below a miss. r3 and r14 are for such a position and a payload. The other
/// registers are walkers.
#[unsafe(naked)]
unsafe extern "C" fn chase<const WALKERS: usize, const PAYLOAD: usize>(call: &mut ChaseCall) {
    naked_asm!(
        ".p2align 6",
        "push {{r3-r11, lr}}",
        "ldr r1, [r0, #128]",
        "mov r2, #0",
        "mov r3, r0",
        each_walker!("ldr \\r, [r3], #4"),
        "b 2f",
        ".p2align 6, 0xcc",
        "2:",
        ".rept {hops}",
        each_walker!(hop!(register)),
        ".irp place, 9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
        ".if \\place < {walkers}",
        hop!(call),
        ".endif",
        ".endr",
        ".endr",
        "subs r1, r1, #1",
        "bne 2b",
        "mov r3, r0",
        each_walker!("str \\r, [r3], #4"),
        "ldr r1, [r0, #132]",
        "add r1, r1, r2",
        "str r1, [r0, #132]",
        "pop {{r3-r11, pc}}",
        ".ascii \"memgauge-row-end\"",
        walkers = const WALKERS,
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
