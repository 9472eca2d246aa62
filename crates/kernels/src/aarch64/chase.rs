//! Pointer chases of AArch64: 1 to 32 walkers, with and without payload.

use crate::MAX_WALKERS;
use crate::chase::{ChaseCall, ChaseCode};
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets that the skeleton uses.
const _: () =
    assert!(offset_of!(ChaseCall, blocks) == 256 && offset_of!(ChaseCall, payload) == 264);

/// One hop, with and without payload: of a walker in register `\r`, then of a walker whose position
/// is at `\place` in the call.
macro_rules! hop {
    (register) => {
        ".if {payload}\n ldr x30, [\\r, 8]\n ldr \\r, [\\r]\n add x2, x2, x30\n .else\n ldr \\r, [\\r]\n .endif"
    };
    (call) => {
        "ldr x3, [x0, 8 * \\place]\n .if {payload}\n ldr x30, [x3, 8]\n ldr x3, [x3]\n \
         add x2, x2, x30\n .else\n ldr x3, [x3]\n .endif\n str x3, [x0, 8 * \\place]"
    };
}

/// Repeats `$text` for every walker with a register of its own, `\r`.
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
/// - In: `x0` = `ChaseCall`.
/// - Out: positions and payload in the call.
/// - Clobbers: x1 to x17, flags. Restored: x19 to x28, x30.
/// - Memory: reads 8 bytes at each node, and with payload the next 8 bytes too.
/// - Timed: the hops. Each hop of a walker needs the previous one.
///
/// x1 counts iterations, and x2 adds up the payload. The positions of the 25th and later walkers
/// stay in the call. The store buffer forwards these positions. This costs about 5 cycles more per
/// hop, which is far below a miss. x3 and x30 are for such a position and a payload. The other
/// registers are walkers.
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
