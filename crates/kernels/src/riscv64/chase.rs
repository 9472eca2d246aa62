//! Pointer chases of 64-bit RISC-V: 1 to 32 walkers, with and without payload.

use super::skeleton::{align_loop, begin, fill_line, finish, mark};
use crate::MAX_WALKERS;
use crate::chase::{ChaseCall, ChaseCode};
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets that the skeleton uses.
const _: () =
    assert!(offset_of!(ChaseCall, blocks) == 256 && offset_of!(ChaseCall, payload) == 264);

/// Repeats `$each` for every walker with a register `\r` of its own. `place` is the number of the
/// walker.
macro_rules! in_registers {
    ($each:expr) => {
        concat!(
            ".set place, 0\n",
            ".irp r,a1,a2,a3,a4,a5,a6,a7,t0,t1,t2,ra,s0,s1,s2,s3,s4,s5,s6,s7,s8,s9,s10,s11\n",
            ".if place < {walkers}\n",
            $each,
            "\n.endif\n",
            ".set place, place + 1\n",
            ".endr\n"
        )
    };
}

/// Repeats `$each` for every walker without a register of its own.
macro_rules! in_memory {
    ($each:expr) => {
        concat!(
            ".set place, 23\n",
            ".rept 9\n",
            ".if place < {walkers}\n",
            $each,
            "\n.endif\n",
            ".set place, place + 1\n",
            ".endr\n"
        )
    };
}

/// Repeats `$each` for each register `\r` that the kernel has to restore. `saved` is its offset on
/// the stack.
macro_rules! saved {
    ($each:expr) => {
        concat!(
            ".set saved, 0\n",
            ".irp r,ra,s0,s1,s2,s3,s4,s5,s6,s7,s8,s9,s10,s11\n",
            $each,
            "\n.set saved, saved + 8\n",
            ".endr\n"
        )
    };
}

/// A pointer chase: `fn(&mut ChaseCall)`.
///
/// - In: `a0` = `ChaseCall`.
/// - Out: positions and payload in the call.
/// - Clobbers: a1 to a7, t0 to t6. Restored: ra, s0 to s11.
/// - Memory: reads 8 bytes at each node, and with payload the next 8 bytes too.
/// - Timed: the hops. Each hop of a walker needs the previous one.
///
/// t3 counts iterations, and t4 adds up the payload. The positions of the 24th and later walkers
/// stay in the call. The store buffer forwards these positions. This costs a few cycles more per
/// hop, which is far below a miss. t5 and t6 are for the payload and for walkers without a
/// register.
#[unsafe(naked)]
unsafe extern "C" fn chase<const WALKERS: usize, const PAYLOAD: usize>(call: &mut ChaseCall) {
    naked_asm!(
        concat!(
            begin!(),
            "addi sp, sp, -112\n",
            saved!("sd \\r, saved(sp)"),
            "ld t3, 256(a0)\n",
            "li t4, 0\n",
            in_registers!("ld \\r, 8 * place(a0)"),
            align_loop!(),
            ".rept {hops}\n",
            in_registers!(".if {payload}\nld t5, 8(\\r)\nadd t4, t4, t5\n.endif\nld \\r, 0(\\r)"),
            in_memory!(
                "ld t6, 8 * place(a0)\n.if {payload}\nld t5, 8(t6)\nadd t4, t4, t5\n.endif\nld t6, 0(t6)\n\
                 sd t6, 8 * place(a0)"
            ),
            ".endr\n",
            "addi t3, t3, -1\n",
            // A conditional branch reaches 4 KiB back; the loops of many walkers are longer.
            "beqz t3, 3f\n",
            "j 2b\n",
            "3:\n",
            in_registers!("sd \\r, 8 * place(a0)"),
            "ld t5, 264(a0)\n",
            "add t4, t4, t5\n",
            "sd t4, 264(a0)\n",
            saved!("ld \\r, saved(sp)"),
            "addi sp, sp, 112\n",
            finish!(),
        ),
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
