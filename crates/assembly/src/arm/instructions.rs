//! Kernels that time single instructions.
//!
//! Throughput kernels write eight registers in turn, or one register that no instruction reads.
//! Latency kernels are one dependent chain. Their copies alternate between two registers, because
//! some cores eliminate a copy of a register to itself.

use super::sets::NEON;
use super::walk::TO_LOOP;
use crate::architecture::Feature;
use crate::architecture::InstructionRow::{self, Unsupported};
use crate::instruction::Instruction;
use crate::text::{each, lines, repeat};

/// Reason why a move in one direction has no latency kernel.
const ONE_WAY: &str =
    "a chain of them needs a way back to the other registers: see to-vector-and-back";
const THROUGH_STACK: &str = "one waits for another only through the stack pointer: see push-pop";
const NO_RESULT: &str = "a fence has no result that another could wait for";
const NO_STRING_LOAD: &str = "there is no string load";
const NARROW: &str = "general registers have 32 bits";
const NOT_THIS_WIDE: &str = "vectors have 128 bits";
const NO_LOAD_FENCE: &str = "Armv7 has no fence for loads only: see fence-full";
const NO_LOCKED_FENCE: &str =
    "atomic operations of Armv7 order nothing by themselves: see fence-full";

/// Numbers of the general registers that `%` stands for, and of words of the scratch memory.
const GENERAL: [u32; 8] = [4, 5, 6, 7, 8, 9, 10, 11];
/// Numbers of the upper half of the 128-bit registers, which `%` stands for.
const VECTORS: [u32; 8] = [8, 9, 10, 11, 12, 13, 14, 15];
/// Numbers of the double registers that every floating-point unit has and a callee may change.
const DOUBLES: [u32; 8] = [1, 2, 3, 4, 5, 6, 7, 1];

/// Writes the rows of one instruction.
#[derive(Clone, Copy)]
struct Writer {
    /// The instruction as lists show it.
    shown: &'static str,
    needs: Option<Feature>,
}

/// Instructions of a kernel around the timed instructions.
#[derive(Clone, Copy, Default)]
struct Around {
    /// Executed before the loop.
    start: &'static str,
    /// Executed at the start of each iteration.
    turn: &'static str,
    /// Executed after the loop.
    end: &'static str,
}

impl Writer {
    /// A kernel whose iterations execute `text` 32 times: four times with each of `numbers` in
    /// place of `%`. `count` is the number of instructions in `text`.
    fn row(self, around: Around, numbers: [u32; 8], text: &str, count: u32) -> InstructionRow {
        let all = each(numbers, |n| text.replace('%', &n.to_string()));
        let text = lines([
            "push {r3-r11, lr}\nldr r1, [r0, #<iterations>]\nldr r2, [r0, #<scratch>]",
            around.start,
            TO_LOOP,
            around.turn,
            &repeat(4, &all),
            "subs r1, r1, #1\nbne 2b",
            around.end,
            "pop {r3-r11, pc}",
        ]);
        let shown = self.shown.to_owned();
        InstructionRow::Code {
            text,
            per_iteration: 32 * count,
            shown,
            needs: self.needs,
        }
    }

    /// A kernel of `text`, with `%` replaced by the number of each general register, or of each
    /// word of the scratch memory.
    fn general(self, text: &str) -> InstructionRow {
        self.row(Around::default(), GENERAL, text, 1)
    }

    /// A kernel of `text`, with `%` replaced by the number of each double register.
    fn doubles(self, text: &str) -> InstructionRow {
        self.row(Around::default(), DOUBLES, text, 1)
    }

    /// A latency kernel: a dependent chain of `text`. `start` is executed before the loop.
    fn chain(self, start: &'static str, text: &str) -> InstructionRow {
        self.row(
            Around {
                start,
                ..Around::default()
            },
            GENERAL,
            text,
            1,
        )
    }
}

/// The throughput and latency rows of every instruction.
pub(super) fn rows() -> Vec<[InstructionRow; 2]> {
    Instruction::ALL.into_iter().map(pair).collect()
}

/// The throughput and latency rows of `instruction`.
fn pair(instruction: Instruction) -> [InstructionRow; 2] {
    let none = |reason| [Unsupported(reason), Unsupported(reason)];
    let w = |shown| Writer { shown, needs: None };
    let neon = |shown| Writer {
        shown,
        needs: Some(NEON),
    };
    let plain = Around::default();
    match instruction {
        Instruction::Move => [
            w("mov r4, r3").general("mov r%, r3"),
            w("mov r3, r12").row(plain, GENERAL, "mov r3, r12\nmov r12, r3", 2),
        ],
        Instruction::Add => [
            w("add r4, r3, r12").general("add r%, r3, r12"),
            w("add r3, r3, r12").chain("mov r12, #3", "add r3, r3, r12"),
        ],
        // In the throughput kernel, all additions read one register, which never changes.
        // Increments of eight registers in place would be eight dependent chains.
        Instruction::Increment => [
            w("add r4, r3, #1").general("add r%, r3, #1"),
            w("add r3, r3, #1").general("add r3, r3, #1"),
        ],
        Instruction::Multiply => [
            w("mul r4, r3, r12").general("mul r%, r3, r12"),
            w("mul r3, r3, r12").chain("mov r3, #3\nmov r12, #5", "mul r3, r3, r12"),
        ],
        Instruction::Load => [
            w("ldr r4, [r2]").general("ldr r%, [r2, #4 * %]"),
            w("ldr r2, [r2]").chain("str r2, [r2]", "ldr r2, [r2]"),
        ],
        Instruction::Store => [
            w("str r3, [r2]").general("str r3, [r2, #4 * %]"),
            w("str r3, [r2]; ldr r3, [r2]").general("str r3, [r2]\nldr r3, [r2]"),
        ],
        Instruction::IncrementMemory => [
            w("ldr r4, [r2]; add r4, r4, #1; str r4, [r2]")
                .general("ldr r%, [r2, #4 * %]\nadd r%, r%, #1\nstr r%, [r2, #4 * %]"),
            w("ldr r3, [r2]; add r3, r3, #1; str r3, [r2]")
                .general("ldr r3, [r2]\nadd r3, r3, #1\nstr r3, [r2]"),
        ],
        // The stack pointer is moved back once per iteration.
        Instruction::Push => {
            let (up, down) = ("add sp, sp, #128", "sub sp, sp, #128");
            let around = Around {
                start: down,
                turn: up,
                end: up,
            };
            [
                w("push {r3}").row(around, GENERAL, "push {r3}", 1),
                Unsupported(THROUGH_STACK),
            ]
        }
        Instruction::Pop => {
            let around = Around {
                turn: "sub sp, sp, #128",
                ..plain
            };
            [
                w("pop {r4}").row(around, GENERAL, "pop {r%}", 1),
                Unsupported(THROUGH_STACK),
            ]
        }
        Instruction::PushPop => [
            w("push {r3}; pop {r4}").general("push {r3}\npop {r%}"),
            w("push {r3}; pop {r3}").general("push {r3}\npop {r3}"),
        ],
        Instruction::LoadString8
        | Instruction::LoadString16
        | Instruction::LoadString32
        | Instruction::LoadString64 => none(NO_STRING_LOAD),
        Instruction::ToVector32 => [
            w("vmov s1, r3").doubles("vmov s%, r3"),
            Unsupported(ONE_WAY),
        ],
        Instruction::FromVector32 => [
            w("vmov r4, s0").general("vmov r%, s0"),
            Unsupported(ONE_WAY),
        ],
        Instruction::ToVectorAndBack => [
            w("vmov s4, r3; vmov r4, s4").general("vmov s%, r3\nvmov r%, s%"),
            w("vmov s0, r3; vmov r3, s0").general("vmov s0, r3\nvmov r3, s0"),
        ],
        Instruction::ToVector64
        | Instruction::FromVector64
        | Instruction::Insert64
        | Instruction::Extract64 => none(NARROW),
        // An insertion keeps the other elements, so it depends on the previous insertion.
        Instruction::Insert8 => [
            neon("vmov.8 d1[1], r3").doubles("vmov.8 d%[1], r3"),
            neon("vmov.8 d0[1], r3").general("vmov.8 d0[1], r3"),
        ],
        Instruction::Insert16 => [
            neon("vmov.16 d1[1], r3").doubles("vmov.16 d%[1], r3"),
            neon("vmov.16 d0[1], r3").general("vmov.16 d0[1], r3"),
        ],
        Instruction::Insert32 => [
            w("vmov.32 d1[1], r3").doubles("vmov.32 d%[1], r3"),
            w("vmov.32 d0[1], r3").general("vmov.32 d0[1], r3"),
        ],
        Instruction::Extract8 => [
            neon("vmov.u8 r4, d0[1]").general("vmov.u8 r%, d0[1]"),
            Unsupported(ONE_WAY),
        ],
        Instruction::Extract16 => [
            neon("vmov.u16 r4, d0[1]").general("vmov.u16 r%, d0[1]"),
            Unsupported(ONE_WAY),
        ],
        Instruction::Extract32 => [
            w("vmov.32 r4, d0[1]").general("vmov.32 r%, d0[1]"),
            Unsupported(ONE_WAY),
        ],
        Instruction::VectorMove64 => [
            w("vmov.f64 d1, d0").doubles("vmov.f64 d%, d0"),
            w("vmov.f64 d0, d1").row(plain, GENERAL, "vmov.f64 d0, d1\nvmov.f64 d1, d0", 2),
        ],
        Instruction::VectorMove128 => [
            neon("vmov q8, q0").row(plain, VECTORS, "vmov q%, q0", 1),
            neon("vmov q0, q1").row(plain, GENERAL, "vmov q0, q1\nvmov q1, q0", 2),
        ],
        Instruction::VectorAdd128 => [
            neon("vadd.i64 q8, q0, q1").row(plain, VECTORS, "vadd.i64 q%, q0, q1", 1),
            neon("vadd.i64 q0, q0, q1").general("vadd.i64 q0, q0, q1"),
        ],
        Instruction::VectorMove256
        | Instruction::VectorMove512
        | Instruction::VectorMoveAny
        | Instruction::VectorAdd256
        | Instruction::VectorAdd512
        | Instruction::VectorAddAny => none(NOT_THIS_WIDE),
        Instruction::FenceLoad => none(NO_LOAD_FENCE),
        // There is no memory access between fences, so a fence has nothing to wait for except the
        // previous fence.
        Instruction::FenceStore => [w("dmb ishst").general("dmb ishst"), Unsupported(NO_RESULT)],
        Instruction::FenceFull => [w("dmb ish").general("dmb ish"), Unsupported(NO_RESULT)],
        Instruction::FenceLocked => none(NO_LOCKED_FENCE),
    }
}
