//! The loops that all rows of AArch64 share. A row gives its instructions, and the skeleton
//! advances the position.
//!
//! Every loop starts on a line of the instruction cache. The code jumps over the gap before it,
//! which is filled with fixed bytes. So the digest does not depend on an assembler's padding.

use crate::stream_call::StreamCall;
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets that the skeletons and rows use.
const _: () = assert!(offset_of!(StreamCall, lead) == 0 && offset_of!(StreamCall, delta) == 8);
const _: () = assert!(offset_of!(StreamCall, window) == 16 && offset_of!(StreamCall, offset) == 24);
const _: () = assert!(offset_of!(StreamCall, blocks) == 32 && offset_of!(StreamCall, table) == 40);
const _: () =
    assert!(offset_of!(StreamCall, distance) == 48 && offset_of!(StreamCall, pattern) == 64);
const _: () = assert!(offset_of!(StreamCall, checksum) == 72);

/// Loads the fields of the call: `x1` = lead, `x3` = blocks, `x5` = delta. Skips to the end for 0
/// blocks. Other registers depend on the order:
/// - forward: `x4` = position, `x2` = end of the window;
/// - unrolled to shorter iterations: `x4` = position, `x2` = position of the last iteration, and
///   `x3` counts iterations;
/// - backward: `x4` = end of the next block;
/// - by an index table: `x7` = position in the table, `x13` = its start, `x2` = its end.
macro_rules! enter {
    (forward) => {
        concat!(enter!(fields), "add x2, x2, x1\n", "add x4, x4, x1\n")
    };
    (unrolled_64) => {
        concat!(
            enter!(fields),
            "add x2, x2, x1\n",
            "sub x2, x2, 64\n",
            "add x4, x4, x1\n",
            "lsl x3, x3, 3\n"
        )
    };
    (unrolled_128) => {
        concat!(
            enter!(fields),
            "add x2, x2, x1\n",
            "sub x2, x2, 128\n",
            "add x4, x4, x1\n",
            "lsl x3, x3, 2\n"
        )
    };
    (unrolled_256) => {
        concat!(
            enter!(fields),
            "add x2, x2, x1\n",
            "sub x2, x2, 256\n",
            "add x4, x4, x1\n",
            "lsl x3, x3, 1\n"
        )
    };
    (backward) => {
        concat!(enter!(fields), "add x2, x2, x1\n", "sub x4, x2, x4\n")
    };
    (lines) => {
        concat!(
            enter!(fields),
            "ldr x13, [x0, 40]\n",
            "add x2, x2, x13\n",
            "add x7, x4, x13\n"
        )
    };
    (chunks) => {
        enter!(lines)
    };
    (fields) => {
        concat!(
            ".p2align 6\n",
            "ldr x3, [x0, 32]\n", // blocks
            "cbz x3, 3f\n",
            "ldp x1, x5, [x0]\n",     // lead, delta
            "ldp x2, x4, [x0, 16]\n", // window, offset
        )
    };
}
pub(super) use enter;

/// Advances to the next block, and from the end of the window (or table) to the first one. There is
/// no branch, because the branch at the end of a nested loop would be mispredicted once per pass.
/// That costs several percent of an L1-sized pass.
macro_rules! step {
    (forward) => {
        "add x4, x4, 512\n cmp x4, x2\n csel x4, x1, x4, eq\n"
    };
    (unrolled_64) => {
        "cmp x4, x2\n add x4, x4, 64\n csel x4, x1, x4, eq\n"
    };
    (unrolled_128) => {
        "cmp x4, x2\n add x4, x4, 128\n csel x4, x1, x4, eq\n"
    };
    (unrolled_256) => {
        "cmp x4, x2\n add x4, x4, 256\n csel x4, x1, x4, eq\n"
    };
    (backward) => {
        "sub x4, x4, 512\n cmp x4, x1\n csel x4, x2, x4, eq\n"
    };
    (lines) => {
        "add x7, x7, 32\n cmp x7, x2\n csel x7, x13, x7, eq\n"
    };
    (chunks) => {
        "add x7, x7, 4\n cmp x7, x2\n csel x7, x13, x7, eq\n"
    };
}
pub(super) use step;

/// Stores the offset of the next block.
macro_rules! leave {
    (forward) => {
        "sub x4, x4, x1\n str x4, [x0, 24]\n"
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
        "sub x4, x2, x4\n str x4, [x0, 24]\n"
    };
    (lines) => {
        "sub x7, x7, x13\n str x7, [x0, 24]\n"
    };
    (chunks) => {
        leave!(lines)
    };
}
pub(super) use leave;

/// One iteration: `$turn` once per piece, then `$each` at every offset of `$at` from `x4`.
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
            ".irp e, 0,16\n",
            "ldp w8, w9, [x7, \\e]\n",
            "ldp w10, w11, [x7, \\e + 8]\n",
            ".irp p, x8,x9,x10,x11\n",
            "add x4, x1, \\p, lsl 3\n",
            turn!(forward, $turn, $each, $at),
            ".endr\n",
            ".endr\n",
        )
    };
    (chunks, $turn:expr, $each:expr, $at:expr) => {
        concat!(
            "ldr w4, [x7]\n",
            "add x4, x1, x4, lsl 3\n",
            turn!(forward, $turn, $each, $at)
        )
    };
}
pub(super) use turn;

/// A streaming kernel: `fn(&mut StreamCall)`, with the C convention (AAPCS64).
///
/// - In: `x0` = `StreamCall` (see its fields for the offsets used here).
/// - Out: `offset` in the call, and `checksum` if the row has one.
/// - Clobbers: x1 to x17, flags, v0 to v7, v16 to v31. Not x18, which belongs to the platform.
/// - Memory: only what the contract says, and the index table if there is one. All of it is
///   accessed between the loads of the call's fields and the stores to them. There is no fence in
///   the loop.
/// - Timed: the loop. Entry and exit cost about as much as one mispredicted branch, once per call.
///
/// In a row, `\d` is the offset within the piece, and `x4` the start of the piece in the first
/// stream. Backward, `x4` is the end of the piece, and the offsets are negative. Rows by an index
/// table must not change x7 to x11 and x13. x12 and x14 to x17 are free in all rows.
///
/// One iteration is 512 bytes, except in unrolled orders. The dependency from one position to the
/// next is three cycles. That is below the five cycles for the loads of a block with two 128-bit
/// pairs per cycle.
macro_rules! stream {
    ($(#[$doc:meta])* $name:ident($visits:ident) {
        start: $start:expr, turn: $turn:expr, each: $each:expr, at: $at:expr, end: $end:expr $(,)?
    }) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name(call: &mut crate::stream_call::StreamCall) {
            core::arch::naked_asm!(concat!(
                enter!($visits),
                $start, "\n",
                "b 2f\n",
                ".p2align 6, 0xcc\n",
                "2:\n",
                turn!($visits, $turn, $each, $at),
                step!($visits),
                "subs x3, x3, 1\n",
                "b.ne 2b\n",
                leave!($visits),
                $end, "\n",
                "3:\n",
                "ret\n",
                ".ascii \"memgauge-row-end\"\n",
            ))
        }
    };
}
pub(super) use stream;

/// Independent additions: `fn(blocks)`, 128 in each block. They go to four registers in turn, for
/// cores that do not rename.
///
/// - In: `x0` = blocks, at least 1.
/// - Clobbers: x0 to x4, flags.
/// - Memory: none.
/// - Timed: as many additions per cycle as the core can issue.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn issue(blocks: usize) {
    naked_asm!(
        ".p2align 6",
        "b 2f",
        ".p2align 6, 0xcc",
        "2:",
        ".rept 32",
        "add x1, x0, x0",
        "add x2, x0, x0",
        "add x3, x0, x0",
        "add x4, x0, x0",
        ".endr",
        "subs x0, x0, 1",
        "b.ne 2b",
        "ret",
        ".ascii \"memgauge-row-end\"",
    )
}

/// Dependent additions: `fn(blocks)`, 128 in each block.
///
/// - In: `x0` = blocks, at least 1.
/// - Clobbers: x0 to x2, flags.
/// - Memory: none.
/// - Timed: one addition per cycle.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn add(blocks: usize) {
    naked_asm!(
        ".p2align 6",
        "mov x1, 0",
        "mov x2, 3",
        "b 2f",
        ".p2align 6, 0xcc",
        "2:",
        ".rept 128",
        "add x1, x1, x2",
        ".endr",
        "subs x0, x0, 1",
        "b.ne 2b",
        "ret",
        ".ascii \"memgauge-row-end\"",
    )
}
