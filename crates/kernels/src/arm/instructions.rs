//! Instructions of Armv7, each timed alone.

use crate::instructions::{InstructionCall, InstructionRow, InstructionRows};
use core::arch::naked_asm;
use core::mem::offset_of;
use host::cpu;

// The offsets that the skeleton uses.
const _: () =
    assert!(offset_of!(InstructionCall, turns) == 0 && offset_of!(InstructionCall, scratch) == 4);

/// General registers, and words of the scratch memory.
macro_rules! general {
    () => {
        "4,5,6,7,8,9,10,11"
    };
}
/// The upper half of the 128-bit registers.
macro_rules! vectors {
    () => {
        "8,9,10,11,12,13,14,15"
    };
}
/// Doubles that every floating-point unit has and a callee may change.
macro_rules! doubles {
    () => {
        "1,2,3,4,5,6,7,1"
    };
}

/// An instruction kernel: `fn(&mut InstructionCall)`. An iteration does `$each` 32 times. `\r` goes
/// four times through the eight numbers of `$at`.
///
/// - In: `r0` = `InstructionCall`.
/// - Clobbers: r0 to r3, r12, flags, d0 to d7, d16 to d31. Restored: r4 to r11, lr.
/// - Memory: the scratch memory at `r2`, and 128 bytes of stack below the caller's if the row
///   pushes or pops.
/// - Timed: the instructions, and a count and a branch per iteration.
///
/// In a row, `r2` is the scratch memory; r3 to r12 and the vector registers are free. `turn` is
/// done once per iteration.
macro_rules! instruction {
    ($(#[$doc:meta])* $name:ident($at:ident) {
        start: $start:expr, turn: $turn:expr, each: $each:expr, end: $end:expr $(,)?
    }) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "C" fn $name(call: &mut InstructionCall) {
            naked_asm!(concat!(
                ".fpu neon\n",
                ".p2align 6\n",
                "push {{r3-r11, lr}}\n",
                "ldr r1, [r0]\n",
                "ldr r2, [r0, #4]\n",
                $start, "\n",
                "b 2f\n",
                ".p2align 6, 0xcc\n",
                "2:\n",
                $turn, "\n",
                ".rept 4\n",
                ".irp r, ", $at!(), "\n",
                $each, "\n",
                ".endr\n",
                ".endr\n",
                "subs r1, r1, #1\n",
                "bne 2b\n",
                $end, "\n",
                "pop {{r3-r11, pc}}\n",
                ".ascii \"memgauge-row-end\"\n",
                ".fpu vfpv3-d16\n",
            ))
        }
    };
    ($(#[$doc:meta])* $name:ident($at:ident), $each:expr) => {
        instruction! { $(#[$doc])* $name($at) { start: "", turn: "", each: $each, end: "" } }
    };
}

/// Number of times that an iteration of [`instruction!`] does `$each`.
const PER_TURN: u32 = 32;

// Registers. No instruction of a kernel reads its destinations `\r`.
instruction! {
    /// Copies a register that never changes.
    move_throughput(general), "mov r\\r, r3"
}
instruction! {
    /// Alternates between two registers, because some cores do nothing for a copy of a register to
    /// itself.
    move_latency(general), "mov r3, r12\n mov r12, r3"
}
instruction! {
    /// Adds two registers that never change.
    add_throughput(general), "add r\\r, r3, r12"
}
instruction! {
    /// Each addition needs the previous sum.
    add_latency(general) { start: "mov r12, #3", turn: "", each: "add r3, r3, r12", end: "" }
}
instruction! {
    /// All add to the same register. Eight counters would be eight chains.
    increment_throughput(general), "add r\\r, r3, #1"
}
instruction! {
    /// Each instruction needs the previous value of the counter.
    increment_latency(general), "add r3, r3, #1"
}
instruction! {
    /// 32 bits by 32 bits; the result is the low half of the product.
    multiply_throughput(general), "mul r\\r, r3, r12"
}
instruction! {
    /// Each multiplication needs the previous product.
    multiply_latency(general) { start: "mov r3, #3\n mov r12, #5", turn: "",
        each: "mul r3, r3, r12", end: "" }
}

// Memory.
instruction! {
    /// Loads eight words.
    load_throughput(general), "ldr r\\r, [r2, #4 * \\r]"
}
instruction! {
    /// Each load reads its own address from the word.
    load_latency(general) { start: "str r2, [r2]", turn: "", each: "ldr r2, [r2]", end: "" }
}
instruction! {
    /// Stores to eight words.
    store_throughput(general), "str r3, [r2, #4 * \\r]"
}
instruction! {
    /// Stores a word and loads it again.
    store_latency(general), "str r3, [r2]\n ldr r3, [r2]"
}
instruction! {
    /// Increments eight words.
    increment_memory_throughput(general),
        "ldr r\\r, [r2, #4 * \\r]\n add r\\r, r\\r, #1\n str r\\r, [r2, #4 * \\r]"
}
instruction! {
    /// Increments one word again and again.
    increment_memory_latency(general), "ldr r3, [r2]\n add r3, r3, #1\n str r3, [r2]"
}
instruction! {
    /// 32 pushes. The stack pointer is restored once per iteration.
    push(general) { start: "sub sp, sp, #128", turn: "add sp, sp, #128", each: "push {{r3}}",
        end: "add sp, sp, #128" }
}
instruction! {
    /// 32 pops from unwritten stack. The stack pointer is lowered once per iteration.
    pop(general) { start: "", turn: "sub sp, sp, #128", each: "pop {{r\\r}}", end: "" }
}
instruction! {
    /// Later instructions do not need the popped value.
    push_pop_throughput(general), "push {{r3}}\n pop {{r\\r}}"
}
instruction! {
    /// The next push needs the popped value.
    push_pop_latency(general), "push {{r3}}\n pop {{r3}}"
}

// Between general and vector registers.
instruction! {
    /// Moves to a quarter of a vector register.
    to_vector_32(doubles), "vmov s\\r, r3"
}
instruction! {
    /// Copies a register that never changes.
    from_vector_32(general), "vmov r\\r, s0"
}
instruction! {
    /// Later instructions do not need the returned value.
    to_and_back_throughput(general), "vmov s\\r, r3\n vmov r\\r, s\\r"
}
instruction! {
    /// The next move needs the returned value.
    to_and_back_latency(general), "vmov s0, r3\n vmov r3, s0"
}
instruction! {
    /// Inserts into seven vectors.
    insert_8_throughput(doubles), "vmov.8 d\\r[1], r3"
}
instruction! {
    /// Inserts into one vector and keeps its other elements, so each needs the previous result.
    insert_8_latency(general), "vmov.8 d0[1], r3"
}
instruction! {
    /// Extracts the second element.
    extract_8(general), "vmov.u8 r\\r, d0[1]"
}
instruction! {
    /// Inserts into seven vectors.
    insert_16_throughput(doubles), "vmov.16 d\\r[1], r3"
}
instruction! {
    /// Inserts into one vector and keeps its other elements, so each needs the previous result.
    insert_16_latency(general), "vmov.16 d0[1], r3"
}
instruction! {
    /// Extracts the second element.
    extract_16(general), "vmov.u16 r\\r, d0[1]"
}
instruction! {
    /// Inserts into seven vectors.
    insert_32_throughput(doubles), "vmov.32 d\\r[1], r3"
}
instruction! {
    /// Inserts into one vector and keeps its other elements, so each needs the previous result.
    insert_32_latency(general), "vmov.32 d0[1], r3"
}
instruction! {
    /// Extracts the second element.
    extract_32(general), "vmov.32 r\\r, d0[1]"
}

// Vectors.
instruction! {
    /// Copies a register that never changes.
    vector_move_64_throughput(doubles), "vmov.f64 d\\r, d0"
}
instruction! {
    /// Alternates between two registers, like the moves of general registers.
    vector_move_64_latency(general), "vmov.f64 d0, d1\n vmov.f64 d1, d0"
}
instruction! {
    /// Copies a register that never changes.
    vector_move_128_throughput(vectors), "vmov q\\r, q0"
}
instruction! {
    /// Alternates between two registers.
    vector_move_128_latency(general), "vmov q0, q1\n vmov q1, q0"
}
instruction! {
    /// Adds two 64-bit elements.
    vector_add_128_throughput(vectors), "vadd.i64 q\\r, q0, q1"
}
instruction! {
    /// Each addition needs the previous sums.
    vector_add_128_latency(general), "vadd.i64 q0, q0, q1"
}

// Fences.
instruction! {
    /// The fence has nothing to order except the previous fence.
    fence_store(general), "dmb ishst"
}
instruction! {
    /// The fence has nothing to order except the previous fence.
    fence_full(general), "dmb ish"
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
const NARROW: [InstructionRow; 2] =
    [InstructionRow::Unsupported("general registers have 32 bits"); 2];
const NOT_THIS_WIDE: [InstructionRow; 2] =
    [InstructionRow::Unsupported("vectors have 128 bits"); 2];
const NO_LOAD_FENCE: [InstructionRow; 2] =
    [InstructionRow::Unsupported("Armv7 has no fence for loads only: see fence-full"); 2];
const NO_LOCKED_FENCE: [InstructionRow; 2] = [InstructionRow::Unsupported(
    "atomic operations of Armv7 order nothing by themselves: see fence-full",
); 2];

/// True if the processor has Advanced SIMD: bit 12 of the hardware capabilities that the kernel
/// gives every program (Linux, arch/arm/include/uapi/asm/hwcap.h).
pub(crate) fn neon() -> bool {
    cpu::capabilities() >> 12 & 1 == 1
}

/// Row of a kernel with one timed instruction per `each`.
macro_rules! row {
    ($code:ident, $text:literal) => {
        InstructionRow::Code($code, PER_TURN, $text)
    };
}

/// Row of a kernel with one or two timed instructions per `each`. It needs Advanced SIMD.
macro_rules! neon_row {
    ($code:ident, $text:literal) => {
        InstructionRow::Needs(neon, "NEON", $code, PER_TURN, $text)
    };
    (2, $code:ident, $text:literal) => {
        InstructionRow::Needs(neon, "NEON", $code, 2 * PER_TURN, $text)
    };
}

/// The instructions of Armv7.
pub(crate) static INSTRUCTIONS: InstructionRows = InstructionRows {
    move_register: [
        row!(move_throughput, "mov r4, r3"),
        InstructionRow::Code(move_latency, 2 * PER_TURN, "mov r3, r12"),
    ],
    add: [
        row!(add_throughput, "add r4, r3, r12"),
        row!(add_latency, "add r3, r3, r12"),
    ],
    increment: [
        row!(increment_throughput, "add r4, r3, #1"),
        row!(increment_latency, "add r3, r3, #1"),
    ],
    multiply: [
        row!(multiply_throughput, "mul r4, r3, r12"),
        row!(multiply_latency, "mul r3, r3, r12"),
    ],
    load: [
        row!(load_throughput, "ldr r4, [r2]"),
        row!(load_latency, "ldr r2, [r2]"),
    ],
    store: [
        row!(store_throughput, "str r3, [r2]"),
        row!(store_latency, "str r3, [r2]; ldr r3, [r2]"),
    ],
    increment_memory: [
        row!(
            increment_memory_throughput,
            "ldr r4, [r2]; add r4, r4, #1; str r4, [r2]"
        ),
        row!(
            increment_memory_latency,
            "ldr r3, [r2]; add r3, r3, #1; str r3, [r2]"
        ),
    ],
    push: [row!(push, "push {r3}"), THROUGH_STACK],
    pop: [row!(pop, "pop {r4}"), THROUGH_STACK],
    push_pop: [
        row!(push_pop_throughput, "push {r3}; pop {r4}"),
        row!(push_pop_latency, "push {r3}; pop {r3}"),
    ],
    load_string_8: NO_STRING_LOAD,
    load_string_16: NO_STRING_LOAD,
    load_string_32: NO_STRING_LOAD,
    load_string_64: NO_STRING_LOAD,
    to_vector_32: [row!(to_vector_32, "vmov s1, r3"), ONE_WAY],
    to_vector_64: NARROW,
    from_vector_32: [row!(from_vector_32, "vmov r4, s0"), ONE_WAY],
    from_vector_64: NARROW,
    to_vector_and_back: [
        row!(to_and_back_throughput, "vmov s4, r3; vmov r4, s4"),
        row!(to_and_back_latency, "vmov s0, r3; vmov r3, s0"),
    ],
    insert_8: [
        neon_row!(insert_8_throughput, "vmov.8 d1[1], r3"),
        neon_row!(insert_8_latency, "vmov.8 d0[1], r3"),
    ],
    insert_16: [
        neon_row!(insert_16_throughput, "vmov.16 d1[1], r3"),
        neon_row!(insert_16_latency, "vmov.16 d0[1], r3"),
    ],
    insert_32: [
        row!(insert_32_throughput, "vmov.32 d1[1], r3"),
        row!(insert_32_latency, "vmov.32 d0[1], r3"),
    ],
    insert_64: NARROW,
    extract_8: [neon_row!(extract_8, "vmov.u8 r4, d0[1]"), ONE_WAY],
    extract_16: [neon_row!(extract_16, "vmov.u16 r4, d0[1]"), ONE_WAY],
    extract_32: [row!(extract_32, "vmov.32 r4, d0[1]"), ONE_WAY],
    extract_64: NARROW,
    vector_move_64: [
        row!(vector_move_64_throughput, "vmov.f64 d1, d0"),
        InstructionRow::Code(vector_move_64_latency, 2 * PER_TURN, "vmov.f64 d0, d1"),
    ],
    vector_move_128: [
        neon_row!(vector_move_128_throughput, "vmov q8, q0"),
        neon_row!(2, vector_move_128_latency, "vmov q0, q1"),
    ],
    vector_move_256: NOT_THIS_WIDE,
    vector_move_512: NOT_THIS_WIDE,
    vector_move_any: NOT_THIS_WIDE,
    vector_add_128: [
        neon_row!(vector_add_128_throughput, "vadd.i64 q8, q0, q1"),
        neon_row!(vector_add_128_latency, "vadd.i64 q0, q0, q1"),
    ],
    vector_add_256: NOT_THIS_WIDE,
    vector_add_512: NOT_THIS_WIDE,
    vector_add_any: NOT_THIS_WIDE,
    fence_load: NO_LOAD_FENCE,
    fence_store: [row!(fence_store, "dmb ishst"), NO_RESULT],
    fence_full: [row!(fence_full, "dmb ish"), NO_RESULT],
    fence_locked: NO_LOCKED_FENCE,
};
