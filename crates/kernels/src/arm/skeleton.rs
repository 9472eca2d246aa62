//! The loops that all rows of Armv7 (A32) share. A row gives its instructions, and the skeleton
//! advances the position.
//!
//! Every loop starts on a line of the instruction cache. The code jumps over the gap before it,
//! which is filled with fixed bytes. So the digest does not depend on an assembler's padding. The
//! instructions are those of A32. There are no rows for targets that compile to Thumb.

use crate::stream_call::StreamCall;
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets that the skeletons and rows use.
const _: () = assert!(offset_of!(StreamCall, lead) == 0 && offset_of!(StreamCall, delta) == 4);
const _: () = assert!(offset_of!(StreamCall, window) == 8 && offset_of!(StreamCall, offset) == 12);
const _: () = assert!(offset_of!(StreamCall, blocks) == 16 && offset_of!(StreamCall, table) == 20);
const _: () =
    assert!(offset_of!(StreamCall, distance) == 24 && offset_of!(StreamCall, pattern) == 32);
const _: () = assert!(offset_of!(StreamCall, checksum) == 40);

/// Loads the fields of the call: `r1` = lead, `r3` = blocks, `r14` = delta. Skips to the end for 0
/// blocks. `r10` is the call until the row's `start` is over. Other registers depend on the order:
/// - forward: `r0` = position, `r2` = end of the window;
/// - unrolled to shorter iterations: like forward, but `r3` counts iterations;
/// - backward: `r0` = end of the next block;
/// - by an index table: `r8` = position in the table, `r9` = its start, `r2` = its end.
macro_rules! enter {
    (forward) => {
        concat!(enter!(fields), "add r2, r2, r1\n", "add r0, r0, r1\n")
    };
    (unrolled_64) => {
        concat!(enter!(forward), "lsl r3, r3, #3\n")
    };
    (unrolled_128) => {
        concat!(enter!(forward), "lsl r3, r3, #2\n")
    };
    (unrolled_256) => {
        concat!(enter!(forward), "lsl r3, r3, #1\n")
    };
    (backward) => {
        concat!(enter!(fields), "add r2, r2, r1\n", "sub r0, r2, r0\n")
    };
    (lines) => {
        concat!(
            enter!(fields),
            "ldr r9, [r10, #20]\n",
            "add r2, r2, r9\n",
            "add r8, r0, r9\n"
        )
    };
    (chunks) => {
        enter!(lines)
    };
    (fields) => {
        concat!(
            ".p2align 6\n",
            "push {{r0, r4-r11, lr}}\n",
            "mov r10, r0\n",
            "ldr r3, [r10, #16]\n", // blocks
            "cmp r3, #0\n",
            "beq 3f\n",
            "ldr r1, [r10]\n",      // lead
            "ldr r14, [r10, #4]\n", // delta
            "ldr r2, [r10, #8]\n",  // window
            "ldr r0, [r10, #12]\n", // offset
        )
    };
}
pub(super) use enter;

/// Advances to the next block, and from the end of the window (or table) to the first one. The
/// accesses of a row have already moved the position. There is no branch, because the branch at the
/// end of a nested loop would be mispredicted once per pass. That costs several percent of an
/// L1-sized pass.
macro_rules! step {
    (forward) => {
        "cmp r0, r2\n moveq r0, r1\n"
    };
    (unrolled_64) => {
        step!(forward)
    };
    (unrolled_128) => {
        step!(forward)
    };
    (unrolled_256) => {
        step!(forward)
    };
    (backward) => {
        "cmp r0, r1\n moveq r0, r2\n"
    };
    (lines) => {
        "add r8, r8, #32\n cmp r8, r2\n moveq r8, r9\n"
    };
    (chunks) => {
        "add r8, r8, #4\n cmp r8, r2\n moveq r8, r9\n"
    };
}
pub(super) use step;

/// Stores the offset of the next block. `r3` is the call from here on.
macro_rules! leave {
    (forward) => {
        "ldr r3, [sp]\n sub r0, r0, r1\n str r0, [r3, #12]\n"
    };
    (unrolled_64) => {
        leave!(forward)
    };
    (unrolled_128) => {
        leave!(forward)
    };
    (unrolled_256) => {
        leave!(forward)
    };
    (backward) => {
        "ldr r3, [sp]\n sub r0, r2, r0\n str r0, [r3, #12]\n"
    };
    (lines) => {
        "ldr r3, [sp]\n sub r8, r8, r9\n str r8, [r3, #12]\n"
    };
    (chunks) => {
        leave!(lines)
    };
}
pub(super) use leave;

/// One iteration: `$turn` once per piece, then `$each` for every `\d` of `$at`.
macro_rules! turn {
    (forward, $turn:expr, $each:expr, $at:expr) => {
        concat!($turn, "\n", ".irp d, ", $at, "\n", $each, "\n", ".endr\n")
    };
    (unrolled_64, $turn:expr, $each:expr, $at:expr) => {
        turn!(forward, $turn, $each, $at)
    };
    (unrolled_128, $turn:expr, $each:expr, $at:expr) => {
        turn!(forward, $turn, $each, $at)
    };
    (unrolled_256, $turn:expr, $each:expr, $at:expr) => {
        turn!(forward, $turn, $each, $at)
    };
    (backward, $turn:expr, $each:expr, $at:expr) => {
        turn!(forward, $turn, $each, $at)
    };
    (lines, $turn:expr, $each:expr, $at:expr) => {
        concat!(
            ".irp e, 0,8,16,24\n",
            "ldr r10, [r8, #\\e]\n",
            "ldr r11, [r8, #\\e + 4]\n",
            ".irp p, r10,r11\n",
            "add r0, r1, \\p, lsl #3\n",
            turn!(forward, $turn, $each, $at),
            ".endr\n",
            ".endr\n",
        )
    };
    (chunks, $turn:expr, $each:expr, $at:expr) => {
        concat!(
            "ldr r10, [r8]\n",
            "add r0, r1, r10, lsl #3\n",
            turn!(forward, $turn, $each, $at)
        )
    };
}
pub(super) use turn;

/// A streaming kernel: `fn(&mut StreamCall)`, with the C convention (AAPCS).
///
/// - In: `r0` = `StreamCall` (see its fields for the offsets used here).
/// - Out: `offset` in the call, and `checksum` if the row has one.
/// - Clobbers: r0 to r3, r12, flags, d0 to d7, d16 to d31. Restored: r4 to r11, lr.
/// - Memory: only what the contract says, the index table if there is one, and the saved registers.
///   Streams and table are accessed between the loads of the call's fields and the stores to them.
///   There is no fence in the loop.
/// - Timed: the loop. Entry and exit cost about as much as one mispredicted branch, once per call.
///
/// In a row, `r0` is the position in the first stream, which the row's own accesses advance. `r14`
/// is the distance to the next stream. r12 and r4 to r7 are free in all rows. Rows by an index
/// table must not change r8 to r11 and r14. In the other rows these are free too. The call is in
/// r10 for `start`, and in r3 for `end`.
///
/// One iteration is 512 bytes, except in unrolled orders. Each move of the position takes one
/// cycle, so the moves stay ahead of the loads.
macro_rules! stream {
    ($(#[$doc:meta])* $name:ident($visits:ident) {
        start: $start:expr, turn: $turn:expr, each: $each:expr, at: $at:expr, end: $end:expr $(,)?
    }) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name(call: &mut crate::stream_call::StreamCall) {
            core::arch::naked_asm!(concat!(
                ".fpu neon\n",
                enter!($visits),
                $start, "\n",
                "b 2f\n",
                ".p2align 6, 0xcc\n",
                "2:\n",
                turn!($visits, $turn, $each, $at),
                step!($visits),
                "subs r3, r3, #1\n",
                "bne 2b\n",
                leave!($visits),
                $end, "\n",
                "3:\n",
                "pop {{r0, r4-r11, pc}}\n",
                ".ascii \"memgauge-row-end\"\n",
                ".fpu vfpv3-d16\n",
            ))
        }
    };
}
pub(super) use stream;

/// Independent additions: `fn(blocks)`, 128 in each block. They go to two registers in turn, for
/// cores that do not rename.
///
/// - In: `r0` = blocks, at least 1.
/// - Clobbers: r0 to r2, flags.
/// - Memory: none.
/// - Timed: as many additions per cycle as the core can issue.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn issue(blocks: usize) {
    naked_asm!(
        ".p2align 6",
        "b 2f",
        ".p2align 6, 0xcc",
        "2:",
        ".rept 64",
        "add r1, r0, r0",
        "add r2, r0, r0",
        ".endr",
        "subs r0, r0, #1",
        "bne 2b",
        "bx lr",
        ".ascii \"memgauge-row-end\"",
    )
}

/// Dependent additions: `fn(blocks)`, 128 in each block.
///
/// - In: `r0` = blocks, at least 1.
/// - Clobbers: r0 to r2, flags.
/// - Memory: none.
/// - Timed: one addition per cycle.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn add(blocks: usize) {
    naked_asm!(
        ".p2align 6",
        "mov r1, #0",
        "mov r2, #3",
        "b 2f",
        ".p2align 6, 0xcc",
        "2:",
        ".rept 128",
        "add r1, r1, r2",
        ".endr",
        "subs r0, r0, #1",
        "bne 2b",
        "bx lr",
        ".ascii \"memgauge-row-end\"",
    )
}
