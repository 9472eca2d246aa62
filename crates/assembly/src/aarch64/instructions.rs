//! Kernels that time single instructions.
//!
//! A kernel repeats the text of an instruction 32 times, with `%` replaced by the digits 0 to 7 in
//! turn. The digits number eight registers or eight words of the scratch memory at `x2`. In
//! throughput kernels no instruction reads the result of another, except increments of memory. In
//! latency kernels each instruction needs the previous result.

use super::features::{LSE, SVE};
use super::pieces::{counted_loop, extended};
use crate::architecture::{Feature, InstructionRow};
use crate::instruction::Instruction;
use crate::text::each;

/// Repetitions of the instruction in an iteration of the loop.
const REPETITIONS: usize = 32;

/// The table row for `instruction`, which may be several instructions that are timed together.
/// `back` is an instruction that is timed too, but not shown in lists. The texts of `around` are
/// executed before the loop, at the start of every iteration, and after the loop. The count and
/// branch of each iteration are also timed. `needs.check` is also the assembler's name of the
/// extension that the kernel enables.
fn row(needs: Option<Feature>, around: [&str; 3], instruction: &str, back: &str) -> InstructionRow {
    let [start, restore, end] = around;
    let digits = ["0", "1", "2", "3", "4", "5", "6", "7"].into_iter().cycle();
    let both = format!("{instruction}\n{back}");
    let repeated = each(digits.take(REPETITIONS), |digit| both.replace('%', digit));
    let counted = counted_loop(2, "x1", &format!("{restore}\n{repeated}"));
    let text = format!("ldp x1, x2, [x0, <iterations>]\n{start}\nb 2f\n{counted}\n{end}\nret");
    let shown = instruction.replace(", 8 * %", "").replace('%', "0");
    let instructions = if back.is_empty() { 1 } else { 2 };
    InstructionRow::Code {
        text: needs.map_or(text.clone(), |feature| extended(feature.check, &text)),
        per_iteration: instructions * REPETITIONS as u32,
        shown: shown.replace('\n', "; "),
        needs,
    }
}

/// The table row for `instruction`, which needs only the baseline.
fn alone(instruction: &str) -> InstructionRow {
    row(None, [""; 3], instruction, "")
}

/// The table rows for throughput and latency, with the texts `throughput` and `latency`.
fn both(throughput: &str, latency: &str) -> [InstructionRow; 2] {
    [alone(throughput), alone(latency)]
}

/// Like [`both`], with `start` executed before the loop of the latency kernel.
fn chained(throughput: &str, start: &str, latency: &str) -> [InstructionRow; 2] {
    [alone(throughput), row(None, [start, "", ""], latency, "")]
}

/// The rows of a move. Throughput copies a register that never changes. Latency moves a value
/// `there` and `back` between two registers, because some cores eliminate a copy to the same
/// register.
fn moves(copy: &str, there: &str, back: &str) -> [InstructionRow; 2] {
    [alone(copy), row(None, [""; 3], there, back)]
}

/// The table row for an instruction of SVE. `back` is timed too, but not shown.
fn sve(instruction: &str, back: &str) -> InstructionRow {
    row(Some(SVE), [""; 3], instruction, back)
}

/// The rows of an insertion into element 1: of eight vectors in turn for throughput, of one vector
/// for latency. An insertion keeps the other elements, so it depends on the previous insertion into
/// the same vector.
fn insert(element: &str, from: &str) -> [InstructionRow; 2] {
    ["v2%", "v0"].map(|vector| alone(&format!("ins {vector}.{element}[1], {from}")))
}

/// The rows of an extraction of element 1. An extraction of element 0 would be a plain move.
fn extract(to: &str, element: &str) -> [InstructionRow; 2] {
    [alone(&format!("umov {to}, v0.{element}[1]")), ONE_WAY]
}

const ONE_WAY: InstructionRow =
    none("a chain of them needs a way back to the other registers: see to-vector-and-back");
const THROUGH_STACK: InstructionRow =
    none("one waits for another only through the stack pointer: see push-pop");
const NO_RESULT: InstructionRow = none("a fence has no result that another could wait for");
const NO_STRING_LOAD: InstructionRow = none("there is no string load");
const NOT_THIS_WIDE: InstructionRow =
    none("vectors have 128 bits, or with SVE the processor's own length");

/// A row without a kernel, for the reason `reason`.
const fn none(reason: &'static str) -> InstructionRow {
    InstructionRow::Unsupported(reason)
}

/// The throughput and latency rows of every instruction.
pub(super) fn rows() -> Vec<[InstructionRow; 2]> {
    Instruction::ALL.into_iter().map(rows_of).collect()
}

/// The throughput and latency rows of `instruction`.
fn rows_of(instruction: Instruction) -> [InstructionRow; 2] {
    use Instruction::*;
    match instruction {
        Move => moves("mov x1%, x3", "mov x3, x4", "mov x4, x3"),
        Add => chained("add x1%, x3, x4", "mov x4, 3", "add x3, x3, x4"),
        // In the throughput kernel, all additions read one register, which never changes.
        // Increments of eight registers in place would be eight dependent chains.
        Increment => both("add x1%, x3, 1", "add x3, x3, 1"),
        Multiply => chained("mul x1%, x3, x4", "mov x3, 3\nmov x4, 5", "mul x3, x3, x4"),
        // In the latency kernel, the word at x2 contains its own address.
        Load => chained("ldr x1%, [x2, 8 * %]", "str x2, [x2]", "ldr x2, [x2]"),
        Store => both("str x3, [x2, 8 * %]", "str x3, [x2]\nldr x3, [x2]"),
        IncrementMemory => both(
            "ldr x1%, [x2, 8 * %]\nadd x1%, x1%, 1\nstr x1%, [x2, 8 * %]",
            "ldr x3, [x2]\nadd x3, x3, 1\nstr x3, [x2]",
        ),
        // The stack pointer stays a multiple of 16, because the processor requires this for
        // accesses through the stack pointer. Each iteration restores the stack pointer. The pushes
        // use 512 B below the caller's stack.
        Push => {
            let around = ["sub sp, sp, 512", "add sp, sp, 512", "add sp, sp, 512"];
            [row(None, around, "str x3, [sp, -16]!", ""), THROUGH_STACK]
        }
        // The kernel never writes the words that it pops, because their values do not matter.
        Pop => {
            let around = ["", "sub sp, sp, 512", ""];
            [row(None, around, "ldr x1%, [sp], 16", ""), THROUGH_STACK]
        }
        PushPop => {
            ["x1%", "x3"].map(|to| alone(&format!("str x3, [sp, -16]!\nldr {to}, [sp], 16")))
        }
        LoadString8 | LoadString16 | LoadString32 | LoadString64 => [NO_STRING_LOAD; 2],
        // A move to a vector register clears the rest of the register, so it does not wait for the
        // previous move.
        ToVector32 => [alone("fmov s2%, w3"), ONE_WAY],
        ToVector64 => [alone("fmov d2%, x3"), ONE_WAY],
        FromVector32 => [alone("fmov w1%, s0"), ONE_WAY],
        FromVector64 => [alone("fmov x1%, d0"), ONE_WAY],
        ToVectorAndBack => both("fmov d%, x3\nfmov x1%, d%", "fmov d0, x3\nfmov x3, d0"),
        Insert8 => insert("b", "w3"),
        Insert16 => insert("h", "w3"),
        Insert32 => insert("s", "w3"),
        Insert64 => insert("d", "x3"),
        Extract8 => extract("w1%", "b"),
        Extract16 => extract("w1%", "h"),
        Extract32 => extract("w1%", "s"),
        Extract64 => extract("x1%", "d"),
        VectorMove64 => moves("fmov d2%, d0", "fmov d0, d1", "fmov d1, d0"),
        VectorMove128 => {
            let there = "mov v0.16b, v1.16b";
            moves("mov v2%.16b, v0.16b", there, "mov v1.16b, v0.16b")
        }
        VectorMove256 | VectorMove512 | VectorAdd256 | VectorAdd512 => [NOT_THIS_WIDE; 2],
        VectorMoveAny => {
            let back = "mov z1.d, z0.d";
            [sve("mov z2%.d, z0.d", ""), sve("mov z0.d, z1.d", back)]
        }
        VectorAdd128 => both("add v2%.2d, v0.2d, v1.2d", "add v0.2d, v0.2d, v1.2d"),
        VectorAddAny => ["z2%", "z0"].map(|to| sve(&format!("add {to}.d, z0.d, z1.d"), "")),
        // There is no memory access between fences, so a fence has nothing to wait for except the
        // previous fence.
        FenceLoad => [alone("dmb ishld"), NO_RESULT],
        FenceStore => [alone("dmb ishst"), NO_RESULT],
        FenceFull => [alone("dmb ish"), NO_RESULT],
        // An atomic addition of 0 to a word of the stack. Its acquire and release semantics order
        // earlier and later accesses.
        FenceLocked => {
            let around = ["sub sp, sp, 16", "", "add sp, sp, 16"];
            let add = row(Some(LSE), around, "ldaddal xzr, x3, [sp]", "");
            [add, NO_RESULT]
        }
    }
}
