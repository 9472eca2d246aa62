//! The loops that all rows of 64-bit RISC-V share. A row gives its instructions, and the skeleton
//! advances the position.
//!
//! Every instruction takes four bytes (`norvc`) and no branch is rewritten (`norelax`), whatever
//! the target's defaults are. So neither the offset of an instruction nor the digest depends on
//! them. Every loop starts on a line of the instruction cache. The code jumps over the gap before
//! it, which is filled with fixed bytes.

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

/// Start of every kernel. The extensions of RV64G are named explicitly, because the assembler
/// forgets those of the target during link-time optimization (LTO).
macro_rules! begin {
    () => {
        ".option push\n.option norvc\n.option norelax\n.option arch, +m, +a, +f, +d\n.p2align 6\n"
    };
}

/// End of every kernel: the end mark.
macro_rules! mark {
    () => {
        ".ascii \"memgauge-row-end\"\n.option pop\n"
    };
}

/// The return and the end of the kernel.
macro_rules! finish {
    () => {
        concat!("ret\n", mark!())
    };
}

/// Fills the gap up to the next line of the instruction cache. The gap is never executed.
macro_rules! fill_line {
    () => {
        ".p2align 6, 0xff\n"
    };
}

/// Jumps over the gap to the first instruction of a loop, which is at label 2.
macro_rules! align_loop {
    () => {
        concat!("j 2f\n", fill_line!(), "2:\n")
    };
}

/// Sets up an order before the loop. `t2` becomes the last offset of the window.
///
/// Orders that are unrolled to shorter iterations count iterations in `t0`. The vector orders set
/// the vector length once: all 64-bit elements of a group of registers, at most 512 B. All lengths
/// are powers of two, so a block is a multiple of a group. `a7` is the length of a group in bytes.
macro_rules! enter {
    (forward) => {
        "addi t2, t5, -512\n"
    };
    (unrolled_64) => {
        "addi t2, t5, -64\nslli t0, t0, 3\n"
    };
    (unrolled_128) => {
        "addi t2, t5, -128\nslli t0, t0, 2\n"
    };
    (unrolled_256) => {
        "addi t2, t5, -256\nslli t0, t0, 1\n"
    };
    (vectors_unrolled_64) => {
        concat!("vsetivli zero, 8, e64, m4, ta, ma\n", enter!(unrolled_64))
    };
    (vectors_unrolled_128) => {
        concat!("vsetivli zero, 16, e64, m8, ta, ma\n", enter!(unrolled_128))
    };
    (vectors_unrolled_256) => {
        concat!("vsetivli zero, 16, e64, m8, ta, ma\n", enter!(unrolled_256))
    };
    (backward) => {
        "addi t2, t5, -512\nadd t3, t3, t5\n"
    };
    (lines) => {
        "addi t2, t5, -32\nld t5, 40(a0)\n"
    };
    (chunks) => {
        "addi t2, t5, -4\nld t5, 40(a0)\n"
    };
    (vectors_of_8) => {
        "vsetivli zero, 8, e64, m4, ta, ma\naddi t2, t5, -512\n"
    };
    (vector_lines) => {
        "vsetivli zero, 8, e64, m4, ta, ma\naddi t2, t5, -32\nld t5, 40(a0)\n"
    };
    (groups) => {
        "li a3, 64\nvsetvli a4, a3, e64, m8, ta, ma\nslli a7, a4, 3\ndivu a3, a3, a4\nmul t0, t0, a3\n\
         sub t2, t5, a7\n"
    };
    (groups_backward) => {
        "li a3, 16\nvsetvli a4, a3, e64, m1, ta, ma\nslli a7, a4, 3\nslli a6, a4, 5\ndivu a3, a3, a4\n\
         mul t0, t0, a3\nsub t2, t5, a6\nadd t3, t3, t5\n"
    };
    (group_chunks) => {
        "li a3, 64\nvsetvli a4, a3, e64, m8, ta, ma\nslli a7, a4, 3\ndivu a3, a3, a4\nmul t0, t0, a3\n\
         li a6, 0\naddi t2, t5, -4\nld t5, 40(a0)\n"
    };
}

/// Computes the place of this iteration in `t6`. This is the start of the block or group in the
/// first stream, or its end in descending orders. In orders of lines, it is the position of the
/// eight entries in the table.
macro_rules! place {
    (forward) => {
        "add t6, t3, t1\n"
    };
    (unrolled_64) => {
        "add t6, t3, t1\n"
    };
    (unrolled_128) => {
        "add t6, t3, t1\n"
    };
    (vectors_unrolled_64) => {
        "add t6, t3, t1\n"
    };
    (vectors_unrolled_128) => {
        "add t6, t3, t1\n"
    };
    (unrolled_256) => {
        "add t6, t3, t1\n"
    };
    (vectors_unrolled_256) => {
        "add t6, t3, t1\n"
    };
    (vectors_of_8) => {
        "add t6, t3, t1\n"
    };
    (groups) => {
        "add t6, t3, t1\n"
    };
    (backward) => {
        "sub t6, t3, t1\n"
    };
    (groups_backward) => {
        "sub t6, t3, t1\n"
    };
    (lines) => {
        "add t6, t5, t1\n"
    };
    (vector_lines) => {
        "add t6, t5, t1\n"
    };
    (chunks) => {
        "add t6, t5, t1\nlwu t6, 0(t6)\nslli t6, t6, 3\nadd t6, t6, t3\n"
    };
    (group_chunks) => {
        "add t6, t5, t1\nlwu t6, 0(t6)\nslli t6, t6, 3\nadd t6, t6, t3\nadd t6, t6, a6\n"
    };
}

/// Advances the offset. `a3` becomes 0 if the offset has to wrap, otherwise 1.
macro_rules! advance {
    (forward) => {
        "sltu a3, t1, t2\naddi t1, t1, 512\n"
    };
    (backward) => {
        "sltu a3, t1, t2\naddi t1, t1, 512\n"
    };
    (unrolled_64) => {
        "sltu a3, t1, t2\naddi t1, t1, 64\n"
    };
    (unrolled_128) => {
        "sltu a3, t1, t2\naddi t1, t1, 128\n"
    };
    (unrolled_256) => {
        "sltu a3, t1, t2\naddi t1, t1, 256\n"
    };
    (vectors_unrolled_64) => {
        advance!(unrolled_64)
    };
    (vectors_unrolled_128) => {
        advance!(unrolled_128)
    };
    (vectors_unrolled_256) => {
        advance!(unrolled_256)
    };
    (vectors_of_8) => {
        "sltu a3, t1, t2\naddi t1, t1, 512\n"
    };
    (lines) => {
        "sltu a3, t1, t2\naddi t1, t1, 32\n"
    };
    (vector_lines) => {
        "sltu a3, t1, t2\naddi t1, t1, 32\n"
    };
    (chunks) => {
        "sltu a3, t1, t2\naddi t1, t1, 4\n"
    };
    (groups) => {
        "sltu a3, t1, t2\nadd t1, t1, a7\n"
    };
    (groups_backward) => {
        "sltu a3, t1, t2\nadd t1, t1, a6\n"
    };
    // `a6` is the offset within the chunk. When it is 0 again, the next entry of the table follows.
    (group_chunks) => {
        "add a6, a6, a7\nandi a6, a6, 511\nsltu a3, t1, t2\nsnez a4, a6\nor a3, a3, a4\nxori a4, a4, 1\n\
         slli a4, a4, 2\nadd t1, t1, a4\n"
    };
}

/// A streaming kernel: `fn(&mut StreamCall)`.
///
/// - In: `a0` = `StreamCall` (see its fields for the offsets used here).
/// - Out: `offset` in the call, and `checksum` if the row has one.
/// - Clobbers: a1 to a7, t0 to t6, ft0 to ft11, fa0 to fa7, fflags, all vector registers, vl and
///   vtype.
/// - Memory: only what the contract says, and the index table if there is one. All of it is
///   accessed between the loads of the call's fields and the stores to them. There is no fence in
///   the loop.
/// - Timed: the loop. Entry and exit cost about as much as one mispredicted branch, once per call.
///
/// In a row, `t6` is the place (see `place`), `t3` the first stream, `t4` the distance to the next
/// one, and `t5` the index table. a1, a2, a4, a5 and the vector and floating-point registers belong
/// to the row. In orders without vectors, so do a6 and a7.
///
/// One iteration is 512 bytes, or 64, 128 or 256 in unrolled orders, or one group of registers with
/// vectors. The wrap at the end of the window is a comparison and a mask. The branch at the end of
/// a nested loop would be mispredicted once per pass. The dependency from one offset to the next is
/// three cycles.
macro_rules! stream {
    ($(#[$doc:meta])* $name:ident $order:ident [$($extension:literal)?] {
        start: $start:expr, body: $body:expr, end: $end:expr $(,)?
    }) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name(call: &mut crate::stream_call::StreamCall) {
            core::arch::naked_asm!(concat!(
                begin!(),
                $(".option arch, ", $extension, "\n",)?
                "ld t0, 32(a0)\n", // blocks
                "beqz t0, 3f\n",
                "ld t3, 0(a0)\n", // lead
                "ld t4, 8(a0)\n", // delta
                "ld t5, 16(a0)\n", // window
                "ld t1, 24(a0)\n", // offset
                enter!($order),
                $start, "\n",
                align_loop!(),
                place!($order),
                advance!($order),
                "neg a3, a3\n",
                "and t1, t1, a3\n",
                $body, "\n",
                "addi t0, t0, -1\n",
                "bnez t0, 2b\n",
                "sd t1, 24(a0)\n",
                $end, "\n",
                "3:\n",
                finish!(),
            ))
        }
    };
}
pub(super) use {advance, align_loop, begin, enter, fill_line, finish, mark, place, stream};

/// Independent additions: `fn(blocks)`, 128 in each block. They go to four registers in turn, for
/// cores that do not rename.
///
/// - In: `a0` = blocks, at least 1.
/// - Clobbers: a0 to a4.
/// - Memory: none.
/// - Timed: as many additions per cycle as the core can issue.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn issue(blocks: usize) {
    naked_asm!(concat!(
        begin!(),
        align_loop!(),
        ".rept 32\n",
        "add a1, a0, a0\n",
        "add a2, a0, a0\n",
        "add a3, a0, a0\n",
        "add a4, a0, a0\n",
        ".endr\n",
        "addi a0, a0, -1\n",
        "bnez a0, 2b\n",
        finish!(),
    ))
}

/// Dependent additions: `fn(blocks)`, 128 in each block.
///
/// - In: `a0` = blocks, at least 1.
/// - Clobbers: a0 to a2.
/// - Memory: none.
/// - Timed: one addition per cycle.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn add(blocks: usize) {
    naked_asm!(concat!(
        begin!(),
        "li a1, 0\n",
        "li a2, 3\n",
        align_loop!(),
        ".rept 128\n",
        "add a1, a1, a2\n",
        ".endr\n",
        "addi a0, a0, -1\n",
        "bnez a0, 2b\n",
        finish!(),
    ))
}

/// `count` dependent additions, one per iteration: `fn(count)`. `count` is at least 1.
///
/// - In: `a0` = `count`.
/// - Clobbers: a0, a1.
/// - Memory: none.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn work(count: usize) {
    naked_asm!(concat!(
        begin!(),
        "li a1, 0\n",
        align_loop!(),
        "add a1, a1, a0\n",
        "addi a0, a0, -1\n",
        "bnez a0, 2b\n",
        finish!(),
    ))
}
