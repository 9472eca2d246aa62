//! Instructions, each timed alone.
//!
//! In a text, `%` goes four times through the digits 0 to 7: eight registers, or eight words of the
//! scratch memory at `x2`. No instruction of a throughput kernel reads its destinations, except an
//! increment of memory. For latency, each needs the previous result.

use super::features::{LSE, SVE};
use super::pieces::{counted_loop, extended};
use crate::architecture::{Feature, InstructionRow};
use crate::instruction::Instruction;
use crate::text::each;

/// Repetitions in an iteration of the loop.
const REPETITIONS: usize = 32;

/// The row of `instruction`, or of several that are timed together. `back` is timed as well, but
/// not shown. `around` comes before the loop, first in every iteration, and after the loop. A count
/// and a branch per iteration are timed too. The extension of `needs` has the name of its check.
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

/// `instruction` alone.
fn alone(instruction: &str) -> InstructionRow {
    row(None, [""; 3], instruction, "")
}

/// Throughput of one instruction and latency of another.
fn both(throughput: &str, latency: &str) -> [InstructionRow; 2] {
    [alone(throughput), alone(latency)]
}

/// Like [`both`]; `start` comes before the loop for latency.
fn chained(throughput: &str, start: &str, latency: &str) -> [InstructionRow; 2] {
    [alone(throughput), row(None, [start, "", ""], latency, "")]
}

/// Copies of a register that never changes, and moves to and fro between two registers, because
/// some cores do nothing for a copy of a register to itself.
fn moves(copy: &str, there: &str, back: &str) -> [InstructionRow; 2] {
    [alone(copy), row(None, [""; 3], there, back)]
}

/// `instruction` of SVE, and `back`.
fn sve(instruction: &str, back: &str) -> InstructionRow {
    row(Some(SVE), [""; 3], instruction, back)
}

/// Inserts into element 1: of eight vectors, and of one. An insertion keeps the other elements.
fn insert(element: &str, from: &str) -> [InstructionRow; 2] {
    ["v2%", "v0"].map(|vector| alone(&format!("ins {vector}.{element}[1], {from}")))
}

/// Extracts element 1. The first one would be a plain move.
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

/// No row, for `reason`.
const fn none(reason: &'static str) -> InstructionRow {
    InstructionRow::Unsupported(reason)
}

/// Throughput and latency of every instruction.
pub(super) fn rows() -> Vec<[InstructionRow; 2]> {
    Instruction::ALL.into_iter().map(rows_of).collect()
}

/// Throughput and latency of `instruction`.
fn rows_of(instruction: Instruction) -> [InstructionRow; 2] {
    use Instruction::*;
    match instruction {
        Move => moves("mov x1%, x3", "mov x3, x4", "mov x4, x3"),
        Add => chained("add x1%, x3, x4", "mov x4, 3", "add x3, x3, x4"),
        // Eight counters would be eight chains, so all add to the same register.
        Increment => both("add x1%, x3, 1", "add x3, x3, 1"),
        Multiply => chained("mul x1%, x3, x4", "mov x3, 3\nmov x4, 5", "mul x3, x3, x4"),
        // For latency, the word at x2 is its own address.
        Load => chained("ldr x1%, [x2, 8 * %]", "str x2, [x2]", "ldr x2, [x2]"),
        Store => both("str x3, [x2, 8 * %]", "str x3, [x2]\nldr x3, [x2]"),
        IncrementMemory => both(
            "ldr x1%, [x2, 8 * %]\nadd x1%, x1%, 1\nstr x1%, [x2, 8 * %]",
            "ldr x3, [x2]\nadd x3, x3, 1\nstr x3, [x2]",
        ),
        // The stack pointer stays a multiple of 16, which the processor demands of every access
        // through it. Each iteration restores it. 512 B below the caller's stack are used.
        Push => {
            let around = ["sub sp, sp, 512", "add sp, sp, 512", "add sp, sp, 512"];
            [row(None, around, "str x3, [sp, -16]!", ""), THROUGH_STACK]
        }
        // The popped words have not been written.
        Pop => {
            let around = ["", "sub sp, sp, 512", ""];
            [row(None, around, "ldr x1%, [sp], 16", ""), THROUGH_STACK]
        }
        PushPop => {
            ["x1%", "x3"].map(|to| alone(&format!("str x3, [sp, -16]!\nldr {to}, [sp], 16")))
        }
        LoadString8 | LoadString16 | LoadString32 | LoadString64 => [NO_STRING_LOAD; 2],
        // Moves between kinds of registers clear the rest of their destination.
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
        // A fence has nothing to order except the previous fence.
        FenceLoad => [alone("dmb ishld"), NO_RESULT],
        FenceStore => [alone("dmb ishst"), NO_RESULT],
        FenceFull => [alone("dmb ish"), NO_RESULT],
        // Adds 0 to a word of the stack. With acquire and release, it orders earlier and later
        // accesses.
        FenceLocked => {
            let around = ["sub sp, sp, 16", "", "add sp, sp, 16"];
            let add = row(Some(LSE), around, "ldaddal xzr, x3, [sp]", "");
            [add, NO_RESULT]
        }
    }
}
