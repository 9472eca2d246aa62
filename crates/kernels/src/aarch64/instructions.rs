//! Instructions of AArch64, each timed alone.

use crate::instructions::{InstructionCall, InstructionRow, InstructionRows};
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets that the skeleton uses.
const _: () =
    assert!(offset_of!(InstructionCall, turns) == 0 && offset_of!(InstructionCall, scratch) == 8);

/// An instruction kernel: `fn(&mut InstructionCall)`. An iteration does `$each` 32 times. `\r` goes
/// four times through eight registers, or through eight words of the scratch memory.
///
/// - In: `x0` = `InstructionCall`.
/// - Clobbers: x1 to x17, flags, v0 to v7, v16 to v31.
/// - Memory: the scratch memory at `x2`, and 512 bytes of stack below the caller's if the row
///   pushes or pops.
/// - Timed: the instructions, and a count and a branch per iteration.
///
/// In a row, `x2` is the scratch memory; x3 to x17 and the vector registers are free. `turn` is
/// done once per iteration.
macro_rules! instruction {
    ($(#[$doc:meta])* $name:ident { start: $start:expr, turn: $turn:expr, each: $each:expr, end: $end:expr $(,)? }) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "C" fn $name(call: &mut InstructionCall) {
            naked_asm!(concat!(
                ".arch_extension sve\n",
                ".arch_extension lse\n",
                ".p2align 6\n",
                "ldp x1, x2, [x0]\n",
                $start, "\n",
                "b 2f\n",
                ".p2align 6, 0xcc\n",
                "2:\n",
                $turn, "\n",
                ".irp r, 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7\n",
                $each, "\n",
                ".endr\n",
                "subs x1, x1, 1\n",
                "b.ne 2b\n",
                $end, "\n",
                "ret\n",
                ".ascii \"memgauge-row-end\"\n",
                ".arch_extension nolse\n",
                ".arch_extension nosve\n",
            ))
        }
    };
    ($(#[$doc:meta])* $name:ident, $each:expr) => {
        instruction! { $(#[$doc])* $name { start: "", turn: "", each: $each, end: "" } }
    };
}

/// Number of times that an iteration of [`instruction!`] does `$each`.
const PER_TURN: u32 = 32;

// Registers. No instruction of a kernel reads its destinations `\r`.
instruction! {
    /// Alternates between two registers, because some cores do nothing for a copy of a register to
    /// itself.
    move_latency, "mov x3, x4\n mov x4, x3"
}
instruction! {
    /// Copies a register that never changes.
    move_throughput, "mov x1\\r, x3"
}
instruction! {
    /// Adds two registers that never change.
    add_throughput, "add x1\\r, x3, x4"
}
instruction! {
    /// Each addition needs the previous sum.
    add_latency { start: "mov x4, 3", turn: "", each: "add x3, x3, x4", end: "" }
}
instruction! {
    /// All add to the same register. Eight counters would be eight chains.
    increment_throughput, "add x1\\r, x3, 1"
}
instruction! {
    /// Each instruction needs the previous value of the counter.
    increment_latency, "add x3, x3, 1"
}
instruction! {
    /// 64 bits by 64 bits; the result is the low half of the product.
    multiply_throughput, "mul x1\\r, x3, x4"
}
instruction! {
    /// Each multiplication needs the previous product.
    multiply_latency { start: "mov x3, 3\n mov x4, 5", turn: "", each: "mul x3, x3, x4", end: "" }
}

// Memory.
instruction! {
    /// Loads eight words.
    load_throughput, "ldr x1\\r, [x2, 8 * \\r]"
}
instruction! {
    /// Each load reads its own address from the word.
    load_latency { start: "str x2, [x2]", turn: "", each: "ldr x2, [x2]", end: "" }
}
instruction! {
    /// Stores to eight words.
    store_throughput, "str x3, [x2, 8 * \\r]"
}
instruction! {
    /// Stores a word and loads it again.
    store_latency, "str x3, [x2]\n ldr x3, [x2]"
}
instruction! {
    /// Increments eight words.
    increment_memory_throughput, "ldr x1\\r, [x2, 8 * \\r]\n add x1\\r, x1\\r, 1\n str x1\\r, [x2, 8 * \\r]"
}
instruction! {
    /// Increments one word again and again.
    increment_memory_latency, "ldr x3, [x2]\n add x3, x3, 1\n str x3, [x2]"
}

// The stack pointer stays a multiple of 16, which the processor demands of every access through it.
instruction! {
    /// 32 pushes. The stack pointer is restored once per iteration.
    push { start: "sub sp, sp, 512", turn: "add sp, sp, 512", each: "str x3, [sp, -16]!",
        end: "add sp, sp, 512" }
}
instruction! {
    /// 32 pops from unwritten stack. The stack pointer is lowered once per iteration.
    pop { start: "", turn: "sub sp, sp, 512", each: "ldr x1\\r, [sp], 16", end: "" }
}
instruction! {
    /// Later instructions do not need the popped value.
    push_pop_throughput, "str x3, [sp, -16]!\n ldr x1\\r, [sp], 16"
}
instruction! {
    /// The next push needs the popped value.
    push_pop_latency, "str x3, [sp, -16]!\n ldr x3, [sp], 16"
}

// Between general and vector registers.
instruction! {
    /// The instruction clears the rest of the vector register.
    to_vector_32, "fmov s2\\r, w3"
}
instruction! {
    /// The instruction clears the rest of the vector register.
    to_vector_64, "fmov d2\\r, x3"
}
instruction! {
    /// The instruction clears the upper half of the general register.
    from_vector_32, "fmov w1\\r, s0"
}
instruction! {
    /// Reads the low half of the vector register.
    from_vector_64, "fmov x1\\r, d0"
}
instruction! {
    /// Later instructions do not need the returned value.
    to_and_back_throughput, "fmov d\\r, x3\n fmov x1\\r, d\\r"
}
instruction! {
    /// The next move needs the returned value.
    to_and_back_latency, "fmov d0, x3\n fmov x3, d0"
}
instruction! {
    /// Inserts into eight vectors.
    insert_8_throughput, "ins v2\\r\\().b[1], w3"
}
instruction! {
    /// Inserts into one vector and keeps its other elements, so each needs the previous result.
    insert_8_latency, "ins v0.b[1], w3"
}
instruction! {
    /// Extracts the second element, because the first one would be a plain move.
    extract_8, "umov w1\\r, v0.b[1]"
}
instruction! {
    /// Inserts into eight vectors.
    insert_16_throughput, "ins v2\\r\\().h[1], w3"
}
instruction! {
    /// Inserts into one vector and keeps its other elements, so each needs the previous result.
    insert_16_latency, "ins v0.h[1], w3"
}
instruction! {
    /// Extracts the second element, because the first one would be a plain move.
    extract_16, "umov w1\\r, v0.h[1]"
}
instruction! {
    /// Inserts into eight vectors.
    insert_32_throughput, "ins v2\\r\\().s[1], w3"
}
instruction! {
    /// Inserts into one vector and keeps its other elements, so each needs the previous result.
    insert_32_latency, "ins v0.s[1], w3"
}
instruction! {
    /// Extracts the second element, because the first one would be a plain move.
    extract_32, "umov w1\\r, v0.s[1]"
}
instruction! {
    /// Inserts into eight vectors.
    insert_64_throughput, "ins v2\\r\\().d[1], x3"
}
instruction! {
    /// Inserts into one vector and keeps its other elements, so each needs the previous result.
    insert_64_latency, "ins v0.d[1], x3"
}
instruction! {
    /// Extracts the second element, because the first one would be a plain move.
    extract_64, "umov x1\\r, v0.d[1]"
}

// Vectors.
instruction! {
    /// Copies a register that never changes. The instruction clears the upper half.
    vector_move_64_throughput, "fmov d2\\r, d0"
}
instruction! {
    /// Alternates between two registers, like the moves of general registers.
    vector_move_64_latency, "fmov d0, d1\n fmov d1, d0"
}
instruction! {
    /// Copies a register that never changes.
    vector_move_128_throughput, "mov v2\\r\\().16b, v0.16b"
}
instruction! {
    /// Alternates between two registers.
    vector_move_128_latency, "mov v0.16b, v1.16b\n mov v1.16b, v0.16b"
}
instruction! {
    /// Copies a register that never changes.
    vector_move_any_throughput, "mov z2\\r\\().d, z0.d"
}
instruction! {
    /// Alternates between two registers.
    vector_move_any_latency, "mov z0.d, z1.d\n mov z1.d, z0.d"
}
instruction! {
    /// Adds two 64-bit elements.
    vector_add_128_throughput, "add v2\\r\\().2d, v0.2d, v1.2d"
}
instruction! {
    /// Each addition needs the previous sums.
    vector_add_128_latency, "add v0.2d, v0.2d, v1.2d"
}
instruction! {
    /// Adds 64-bit elements.
    vector_add_any_throughput, "add z2\\r\\().d, z0.d, z1.d"
}
instruction! {
    /// Each addition needs the previous sums.
    vector_add_any_latency, "add z0.d, z0.d, z1.d"
}

// Fences.
instruction! {
    /// The fence has nothing to order except the previous fence.
    fence_load, "dmb ishld"
}
instruction! {
    /// The fence has nothing to order except the previous fence.
    fence_store, "dmb ishst"
}
instruction! {
    /// The fence has nothing to order except the previous fence.
    fence_full, "dmb ish"
}
instruction! {
    /// Adds 0 to a word of the stack. With acquire and release, the instruction orders earlier and
    /// later accesses.
    fence_locked { start: "sub sp, sp, 16", turn: "", each: "ldaddal xzr, x3, [sp]", end: "add sp, sp, 16" }
}

/// Reason why a move in one direction has no latency.
const ONE_WAY: InstructionRow = InstructionRow::Unsupported(
    "a chain of them needs a way back to the other registers: see to-vector-and-back",
);
const THROUGH_STACK: InstructionRow = InstructionRow::Unsupported(
    "one waits for another only through the stack pointer: see push-pop",
);
const NO_RESULT: InstructionRow =
    InstructionRow::Unsupported("a fence has no result that another could wait for");
const NO_STRING_LOAD: [InstructionRow; 2] =
    [InstructionRow::Unsupported("there is no string load"); 2];
const NOT_THIS_WIDE: [InstructionRow; 2] =
    [InstructionRow::Unsupported("vectors have 128 bits, or with SVE the processor's own length");
        2];

/// True if the processor and the system have SVE.
fn sve() -> bool {
    std::arch::is_aarch64_feature_detected!("sve")
}

/// True if the processor has atomic instructions.
fn lse() -> bool {
    std::arch::is_aarch64_feature_detected!("lse")
}

/// Row of a kernel with one timed instruction per `each`.
macro_rules! row {
    ($code:ident, $text:literal) => {
        InstructionRow::Code($code, PER_TURN, $text)
    };
}

/// The instructions of AArch64.
pub(crate) static INSTRUCTIONS: InstructionRows = InstructionRows {
    move_register: [
        row!(move_throughput, "mov x10, x3"),
        InstructionRow::Code(move_latency, 2 * PER_TURN, "mov x3, x4"),
    ],
    add: [
        row!(add_throughput, "add x10, x3, x4"),
        row!(add_latency, "add x3, x3, x4"),
    ],
    increment: [
        row!(increment_throughput, "add x10, x3, 1"),
        row!(increment_latency, "add x3, x3, 1"),
    ],
    multiply: [
        row!(multiply_throughput, "mul x10, x3, x4"),
        row!(multiply_latency, "mul x3, x3, x4"),
    ],
    load: [
        row!(load_throughput, "ldr x10, [x2]"),
        row!(load_latency, "ldr x2, [x2]"),
    ],
    store: [
        row!(store_throughput, "str x3, [x2]"),
        row!(store_latency, "str x3, [x2]; ldr x3, [x2]"),
    ],
    increment_memory: [
        row!(
            increment_memory_throughput,
            "ldr x10, [x2]; add x10, x10, 1; str x10, [x2]"
        ),
        row!(
            increment_memory_latency,
            "ldr x3, [x2]; add x3, x3, 1; str x3, [x2]"
        ),
    ],
    push: [row!(push, "str x3, [sp, -16]!"), THROUGH_STACK],
    pop: [row!(pop, "ldr x10, [sp], 16"), THROUGH_STACK],
    push_pop: [
        row!(push_pop_throughput, "str x3, [sp, -16]!; ldr x10, [sp], 16"),
        row!(push_pop_latency, "str x3, [sp, -16]!; ldr x3, [sp], 16"),
    ],
    load_string_8: NO_STRING_LOAD,
    load_string_16: NO_STRING_LOAD,
    load_string_32: NO_STRING_LOAD,
    load_string_64: NO_STRING_LOAD,
    to_vector_32: [row!(to_vector_32, "fmov s20, w3"), ONE_WAY],
    to_vector_64: [row!(to_vector_64, "fmov d20, x3"), ONE_WAY],
    from_vector_32: [row!(from_vector_32, "fmov w10, s0"), ONE_WAY],
    from_vector_64: [row!(from_vector_64, "fmov x10, d0"), ONE_WAY],
    to_vector_and_back: [
        row!(to_and_back_throughput, "fmov d0, x3; fmov x10, d0"),
        row!(to_and_back_latency, "fmov d0, x3; fmov x3, d0"),
    ],
    insert_8: [
        row!(insert_8_throughput, "ins v20.b[1], w3"),
        row!(insert_8_latency, "ins v0.b[1], w3"),
    ],
    insert_16: [
        row!(insert_16_throughput, "ins v20.h[1], w3"),
        row!(insert_16_latency, "ins v0.h[1], w3"),
    ],
    insert_32: [
        row!(insert_32_throughput, "ins v20.s[1], w3"),
        row!(insert_32_latency, "ins v0.s[1], w3"),
    ],
    insert_64: [
        row!(insert_64_throughput, "ins v20.d[1], x3"),
        row!(insert_64_latency, "ins v0.d[1], x3"),
    ],
    extract_8: [row!(extract_8, "umov w10, v0.b[1]"), ONE_WAY],
    extract_16: [row!(extract_16, "umov w10, v0.h[1]"), ONE_WAY],
    extract_32: [row!(extract_32, "umov w10, v0.s[1]"), ONE_WAY],
    extract_64: [row!(extract_64, "umov x10, v0.d[1]"), ONE_WAY],
    vector_move_64: [
        row!(vector_move_64_throughput, "fmov d20, d0"),
        InstructionRow::Code(vector_move_64_latency, 2 * PER_TURN, "fmov d0, d1"),
    ],
    vector_move_128: [
        row!(vector_move_128_throughput, "mov v20.16b, v0.16b"),
        InstructionRow::Code(vector_move_128_latency, 2 * PER_TURN, "mov v0.16b, v1.16b"),
    ],
    vector_move_256: NOT_THIS_WIDE,
    vector_move_512: NOT_THIS_WIDE,
    vector_move_any: [
        InstructionRow::Needs(
            sve,
            "SVE",
            vector_move_any_throughput,
            PER_TURN,
            "mov z20.d, z0.d",
        ),
        InstructionRow::Needs(
            sve,
            "SVE",
            vector_move_any_latency,
            2 * PER_TURN,
            "mov z0.d, z1.d",
        ),
    ],
    vector_add_128: [
        row!(vector_add_128_throughput, "add v20.2d, v0.2d, v1.2d"),
        row!(vector_add_128_latency, "add v0.2d, v0.2d, v1.2d"),
    ],
    vector_add_256: NOT_THIS_WIDE,
    vector_add_512: NOT_THIS_WIDE,
    vector_add_any: [
        InstructionRow::Needs(
            sve,
            "SVE",
            vector_add_any_throughput,
            PER_TURN,
            "add z20.d, z0.d, z1.d",
        ),
        InstructionRow::Needs(
            sve,
            "SVE",
            vector_add_any_latency,
            PER_TURN,
            "add z0.d, z0.d, z1.d",
        ),
    ],
    fence_load: [row!(fence_load, "dmb ishld"), NO_RESULT],
    fence_store: [row!(fence_store, "dmb ishst"), NO_RESULT],
    fence_full: [row!(fence_full, "dmb ish"), NO_RESULT],
    fence_locked: [
        InstructionRow::Needs(lse, "LSE", fence_locked, PER_TURN, "ldaddal xzr, x3, [sp]"),
        NO_RESULT,
    ],
};
