//! Instructions of 64-bit RISC-V, each timed alone.

use super::has_vectors;
use super::skeleton::{align_loop, begin, fill_line, finish, mark};
use crate::instructions::InstructionRow::{Code, Needs, Unsupported};
use crate::instructions::{InstructionCall, InstructionRow, InstructionRows};
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets that the skeleton uses.
const _: () =
    assert!(offset_of!(InstructionCall, turns) == 0 && offset_of!(InstructionCall, scratch) == 8);

/// An instruction kernel: `fn(&mut InstructionCall)`.
///
/// - In: `a0` = `InstructionCall`.
/// - Clobbers: a1 to a7, t0 to t6, vector registers, vl and vtype.
/// - Memory: the scratch memory, and the stack below the stack pointer, which is restored.
/// - Timed: the instructions, and an addition and a branch per iteration.
///
/// In a row, `a1` is the scratch memory and `t0` the number of iterations left. All other registers
/// in the list belong to the row.
macro_rules! instruction {
    ($name:ident [$($extension:literal)?] $start:expr, $body:expr, $end:expr) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name(call: &mut InstructionCall) {
            naked_asm!(concat!(
                begin!(),
                $(".option arch, ", $extension, "\n",)?
                "ld t0, 0(a0)\n",
                "ld a1, 8(a0)\n",
                $start, "\n",
                align_loop!(),
                $body, "\n",
                "addi t0, t0, -1\n",
                "bnez t0, 2b\n",
                $end, "\n",
                finish!(),
            ))
        }
    };
}

/// Repeats `$each` 64 times, eight times with each of eight registers `\r`.
macro_rules! on_registers {
    ($each:expr) => {
        concat!(
            ".rept 8\n.irp r,a2,a3,a4,a5,a6,a7,t1,t2\n",
            $each,
            "\n.endr\n.endr"
        )
    };
}

/// Repeats `$each` 64 times, eight times with each of eight vector registers `v\r`.
macro_rules! on_vectors {
    ($each:expr) => {
        concat!(
            ".rept 8\n.irp r,8,9,10,11,12,13,14,15\n",
            $each,
            "\n.endr\n.endr"
        )
    };
}

/// Repeats `$each` 64 times.
macro_rules! in_a_row {
    ($each:expr) => {
        concat!(".rept 64\n", $each, "\n.endr")
    };
}

/// Repeats `$each` 32 times with `\d` in steps of 64 bytes, so that each has a line of its own.
macro_rules! on_lines {
    ($each:expr) => {
        concat!(
            ".irp d,0,64,128,192,256,320,384,448,512,576,640,704,768,832,896,960,1024,1088,1152,\
                1216,1280,1344,1408,1472,1536,1600,1664,1728,1792,1856,1920,1984\n",
            $each,
            "\n.endr"
        )
    };
}

/// Sets vector operations to single registers of 64-bit elements.
macro_rules! vectors {
    () => {
        "vsetvli a2, zero, e64, m1, ta, ma"
    };
}

/// Sets vector operations to single registers of 32-bit elements.
macro_rules! vectors_32 {
    () => {
        "vsetvli a2, zero, e32, m1, ta, ma"
    };
}

instruction! { move_throughput [] "", on_registers!("mv \\r, t3"), "" }
instruction! { move_latency [] "", ".rept 32\nmv a2, a3\nmv a3, a2\n.endr", "" }
instruction! { add_throughput [] "", on_registers!("add \\r, t3, t4"), "" }
instruction! { add_latency [] "", in_a_row!("add a2, a2, t3"), "" }
instruction! { increment_throughput [] "", on_registers!("addi \\r, \\r, 1"), "" }
instruction! { increment_latency [] "", in_a_row!("addi a2, a2, 1"), "" }
instruction! { multiply_throughput [] "", on_registers!("mul \\r, t3, t4"), "" }
instruction! { multiply_latency [] "li a2, 1\nli t3, 3", in_a_row!("mul a2, a2, t3"), "" }
instruction! { load_throughput [] "", on_registers!("ld \\r, 0(a1)"), "" }
instruction! { load_latency [] "sd a1, 0(a1)", in_a_row!("ld a1, 0(a1)"), "" }
instruction! { store_throughput [] "", on_lines!("sd t3, \\d(a1)"), "" }
instruction! { store_latency [] "", in_a_row!("sd a2, 0(a1)\nld a2, 0(a1)"), "" }
instruction! {
    increment_memory_throughput [] "", on_lines!("ld a2, \\d(a1)\naddi a2, a2, 1\nsd a2, \\d(a1)"), ""
}
instruction! {
    increment_memory_latency [] "", in_a_row!("ld a2, 0(a1)\naddi a2, a2, 1\nsd a2, 0(a1)"), ""
}
instruction! { push_throughput [] "", concat!(in_a_row!("addi sp, sp, -16\nsd t3, 0(sp)"), "\n\
addi sp, sp, 1024"), "" }
instruction! {
    pop_throughput [] "", concat!("addi sp, sp, -1024\n", in_a_row!("ld a2, 0(sp)\naddi sp, sp, 16")), ""
}
instruction! {
    push_pop_throughput [] "", on_registers!("addi sp, sp, -16\nsd t3, 0(sp)\nld \\r, 0(sp)\n\
         addi sp, sp, 16"), ""
}
instruction! {
    push_pop_latency [] "", in_a_row!("addi sp, sp, -16\nsd a2, 0(sp)\nld a2, 0(sp)\naddi sp, sp, 16"), ""
}
instruction! { to_vector_32_throughput ["+v"] vectors_32!(), on_vectors!("vmv.s.x v\\r, t3"), "" }
instruction! { to_vector_64_throughput ["+v"] vectors!(), on_vectors!("vmv.s.x v\\r, t3"), "" }
instruction! { from_vector_32_throughput ["+v"] vectors_32!(), on_registers!("vmv.x.s \\r, v8"), "" }
instruction! { from_vector_64_throughput ["+v"] vectors!(), on_registers!("vmv.x.s \\r, v8"), "" }
instruction! {
    there_and_back_throughput ["+v"] vectors!(), on_vectors!("vmv.s.x v\\r, t3\nvmv.x.s a3, v\\r"), ""
}
instruction! { there_and_back_latency ["+v"] vectors!(), in_a_row!("vmv.s.x v8, a2\nvmv.x.s a2, v8"), "" }
instruction! { vector_move_throughput ["+v"] vectors!(), on_vectors!("vmv1r.v v\\r, v1"), "" }
instruction! { vector_move_latency ["+v"] vectors!(), ".rept 32\nvmv1r.v v8, v9\nvmv1r.v v9, v8\n.endr", "" }
instruction! { vector_add_throughput ["+v"] vectors!(), on_vectors!("vadd.vv v\\r, v1, v2"), "" }
instruction! { vector_add_latency ["+v"] vectors!(), in_a_row!("vadd.vv v8, v8, v1"), "" }
instruction! { fence_load_throughput [] "", in_a_row!("fence r, r"), "" }
instruction! { fence_store_throughput [] "", in_a_row!("fence w, w"), "" }
instruction! { fence_full_throughput [] "", in_a_row!("fence rw, rw"), "" }
instruction! {
    fence_locked_throughput [] "addi sp, sp, -16\nsd zero, 0(sp)", in_a_row!("amoor.d.aqrl zero, zero, (sp)"),
    "addi sp, sp, 16"
}

/// Feature that the vector kernels need.
const VECTORS: &str = "RVV 1.0";

/// Reason why an instruction has no latency of its own.
const NO_RESULT: InstructionRow =
    Unsupported("it gives no result that the next one could wait for");
const ONE_WAY: InstructionRow = Unsupported("timed together with the way back: to-vector-and-back");
const NO_STRINGS: [InstructionRow; 2] = [Unsupported("RISC-V has no string instructions"); 2];
const NO_INSERT: [InstructionRow; 2] =
    [Unsupported("RISC-V moves to element 0 of a vector only (vmv.s.x)"); 2];
const NO_EXTRACT: [InstructionRow; 2] =
    [Unsupported("RISC-V moves from element 0 of a vector only (vmv.x.s)"); 2];
const ANY_LENGTH: [InstructionRow; 2] = [Unsupported(
    "RISC-V's vectors are as long as the processor's: see the instruction for any length",
); 2];

/// The rows of every instruction.
pub(crate) static INSTRUCTIONS: InstructionRows = InstructionRows {
    move_register: [
        Code(move_throughput, 64, "mv"),
        Code(move_latency, 64, "mv"),
    ],
    add: [
        Code(add_throughput, 64, "add"),
        Code(add_latency, 64, "add"),
    ],
    increment: [
        Code(increment_throughput, 64, "addi"),
        Code(increment_latency, 64, "addi"),
    ],
    multiply: [
        Code(multiply_throughput, 64, "mul"),
        Code(multiply_latency, 64, "mul"),
    ],
    load: [
        Code(load_throughput, 64, "ld"),
        Code(load_latency, 64, "ld"),
    ],
    store: [
        Code(store_throughput, 32, "sd"),
        Code(store_latency, 64, "sd, ld"),
    ],
    increment_memory: [
        Code(increment_memory_throughput, 32, "ld, addi, sd"),
        Code(increment_memory_latency, 64, "ld, addi, sd"),
    ],
    push: [Code(push_throughput, 64, "addi sp, sd"), NO_RESULT],
    pop: [Code(pop_throughput, 64, "ld, addi sp"), NO_RESULT],
    push_pop: [
        Code(push_pop_throughput, 64, "addi sp, sd, ld, addi sp"),
        Code(push_pop_latency, 64, "addi sp, sd, ld, addi sp"),
    ],
    load_string_8: NO_STRINGS,
    load_string_16: NO_STRINGS,
    load_string_32: NO_STRINGS,
    load_string_64: NO_STRINGS,
    to_vector_32: [
        Needs(
            has_vectors,
            VECTORS,
            to_vector_32_throughput,
            64,
            "vmv.s.x, e32",
        ),
        ONE_WAY,
    ],
    to_vector_64: [
        Needs(
            has_vectors,
            VECTORS,
            to_vector_64_throughput,
            64,
            "vmv.s.x, e64",
        ),
        ONE_WAY,
    ],
    from_vector_32: [
        Needs(
            has_vectors,
            VECTORS,
            from_vector_32_throughput,
            64,
            "vmv.x.s, e32",
        ),
        ONE_WAY,
    ],
    from_vector_64: [
        Needs(
            has_vectors,
            VECTORS,
            from_vector_64_throughput,
            64,
            "vmv.x.s, e64",
        ),
        ONE_WAY,
    ],
    to_vector_and_back: [
        Needs(
            has_vectors,
            VECTORS,
            there_and_back_throughput,
            64,
            "vmv.s.x, vmv.x.s",
        ),
        Needs(
            has_vectors,
            VECTORS,
            there_and_back_latency,
            64,
            "vmv.s.x, vmv.x.s",
        ),
    ],
    insert_8: NO_INSERT,
    insert_16: NO_INSERT,
    insert_32: NO_INSERT,
    insert_64: NO_INSERT,
    extract_8: NO_EXTRACT,
    extract_16: NO_EXTRACT,
    extract_32: NO_EXTRACT,
    extract_64: NO_EXTRACT,
    vector_move_64: ANY_LENGTH,
    vector_move_128: ANY_LENGTH,
    vector_move_256: ANY_LENGTH,
    vector_move_512: ANY_LENGTH,
    vector_move_any: [
        Needs(has_vectors, VECTORS, vector_move_throughput, 64, "vmv1r.v"),
        Needs(has_vectors, VECTORS, vector_move_latency, 64, "vmv1r.v"),
    ],
    vector_add_128: ANY_LENGTH,
    vector_add_256: ANY_LENGTH,
    vector_add_512: ANY_LENGTH,
    vector_add_any: [
        Needs(has_vectors, VECTORS, vector_add_throughput, 64, "vadd.vv"),
        Needs(has_vectors, VECTORS, vector_add_latency, 64, "vadd.vv"),
    ],
    fence_load: [Code(fence_load_throughput, 64, "fence r, r"), NO_RESULT],
    fence_store: [Code(fence_store_throughput, 64, "fence w, w"), NO_RESULT],
    fence_full: [Code(fence_full_throughput, 64, "fence rw, rw"), NO_RESULT],
    fence_locked: [Code(fence_locked_throughput, 64, "amoor.d.aqrl"), NO_RESULT],
};
