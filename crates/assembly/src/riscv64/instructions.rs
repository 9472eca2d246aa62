//! Kernels that time single instructions.
//!
//! Throughput kernels use eight registers in turn, so that no instruction waits for another.
//! Latency kernels are one dependent chain.

use super::sets::RVV;
use super::walk::TO_LOOP;
use crate::architecture::InstructionRow::{self, Unsupported};
use crate::instruction::Instruction;
use crate::text::{each, lines, repeat};

const NO_RESULT: &str = "it gives no result that the next one could wait for";
const ONE_WAY: &str = "timed together with the way back: to-vector-and-back";
const NO_STRINGS: &str = "RISC-V has no string instructions";
const NO_INSERT: &str = "RISC-V moves to element 0 of a vector only (vmv.s.x)";
const NO_EXTRACT: &str = "RISC-V moves from element 0 of a vector only (vmv.x.s)";
const ANY_LENGTH: &str =
    "RISC-V's vectors are as long as the processor's: see the instruction for any length";

/// Writes the rows of one instruction.
struct Writer {
    /// The instruction as lists show it.
    shown: &'static str,
    /// Bits of a vector element; `None` for instructions without vectors.
    elements: Option<u32>,
}

impl Writer {
    /// A row whose kernel executes `start`, iterations of `body`, and `end`. `body` has
    /// `per_iteration` timed instructions.
    fn row(&self, start: &str, body: &str, end: &str, per_iteration: u32) -> InstructionRow {
        let vectors = self
            .elements
            .map(|bits| format!("vsetvli a2, zero, e{bits}, m1, ta, ma"));
        let text = lines([
            if vectors.is_some() {
                ".option arch, +v"
            } else {
                ""
            },
            "ld t0, <iterations>(a0)\nld a1, <scratch>(a0)",
            vectors.as_deref().unwrap_or_default(),
            start,
            TO_LOOP,
            body,
            "addi t0, t0, -1\nbnez t0, 2b",
            end,
            "ret",
        ]);
        let needs = vectors.map(|_| RVV);
        InstructionRow::Code {
            text,
            per_iteration,
            shown: self.shown.to_owned(),
            needs,
        }
    }

    /// A row that executes `text` 64 times, with `%` replaced by eight general registers in turn.
    fn on_general(&self, text: &str) -> InstructionRow {
        let registers = ["a2", "a3", "a4", "a5", "a6", "a7", "t1", "t2"];
        self.row(
            "",
            &repeat(8, &each(registers, |r| text.replace('%', r))),
            "",
            64,
        )
    }

    /// A row whose iterations execute `text` 64 times, with `%` replaced by the numbers of eight
    /// vector registers in turn.
    fn on_vectors(&self, text: &str) -> InstructionRow {
        let all = each(8..16, |i| text.replace('%', &i.to_string()));
        self.row("", &repeat(8, &all), "", 64)
    }

    /// A row whose iterations execute `text` 32 times, with `%` replaced by the offset of each of
    /// 32 lines of the scratch memory.
    fn on_lines(&self, text: &str) -> InstructionRow {
        let all = each((0..2048).step_by(64), |at| {
            text.replace('%', &at.to_string())
        });
        self.row("", &all, "", 32)
    }

    /// A latency row: a chain of 64 times `text` per iteration, with `start` before the loop.
    fn chain(&self, start: &str, text: &str) -> InstructionRow {
        self.row(start, &repeat(64, text), "", 64)
    }
}

/// The throughput and latency rows of every instruction.
pub(super) fn rows() -> Vec<[InstructionRow; 2]> {
    Instruction::ALL.into_iter().map(pair).collect()
}

/// The throughput and latency rows of `instruction`.
fn pair(instruction: Instruction) -> [InstructionRow; 2] {
    let none = |reason| [Unsupported(reason), Unsupported(reason)];
    let w = |shown| Writer {
        shown,
        elements: None,
    };
    let vectors = |shown| Writer {
        shown,
        elements: Some(64),
    };
    let narrow = |shown| Writer {
        shown,
        elements: Some(32),
    };
    match instruction {
        Instruction::Move => {
            let w = w("mv");
            let chain = repeat(32, "mv a2, a3\nmv a3, a2");
            [w.on_general("mv %, t3"), w.row("", &chain, "", 64)]
        }
        Instruction::Add => {
            let w = w("add");
            [w.on_general("add %, t3, t4"), w.chain("", "add a2, a2, t3")]
        }
        Instruction::Increment => {
            let w = w("addi");
            [w.on_general("addi %, %, 1"), w.chain("", "addi a2, a2, 1")]
        }
        Instruction::Multiply => {
            let w = w("mul");
            [
                w.on_general("mul %, t3, t4"),
                w.chain("li a2, 1\nli t3, 3", "mul a2, a2, t3"),
            ]
        }
        Instruction::Load => {
            let w = w("ld");
            [
                w.on_general("ld %, 0(a1)"),
                w.chain("sd a1, 0(a1)", "ld a1, 0(a1)"),
            ]
        }
        Instruction::Store => [
            w("sd").on_lines("sd t3, %(a1)"),
            w("sd, ld").chain("", "sd a2, 0(a1)\nld a2, 0(a1)"),
        ],
        Instruction::IncrementMemory => {
            let w = w("ld, addi, sd");
            [
                w.on_lines("ld a2, %(a1)\naddi a2, a2, 1\nsd a2, %(a1)"),
                w.chain("", "ld a2, 0(a1)\naddi a2, a2, 1\nsd a2, 0(a1)"),
            ]
        }
        Instruction::Push => {
            let pushes = repeat(64, "addi sp, sp, -16\nsd t3, 0(sp)");
            let body = format!("{pushes}\naddi sp, sp, 1024");
            [
                w("addi sp, sd").row("", &body, "", 64),
                Unsupported(NO_RESULT),
            ]
        }
        Instruction::Pop => {
            let pops = repeat(64, "ld a2, 0(sp)\naddi sp, sp, 16");
            let body = format!("addi sp, sp, -1024\n{pops}");
            [
                w("ld, addi sp").row("", &body, "", 64),
                Unsupported(NO_RESULT),
            ]
        }
        Instruction::PushPop => {
            let w = w("addi sp, sd, ld, addi sp");
            [
                w.on_general("addi sp, sp, -16\nsd t3, 0(sp)\nld %, 0(sp)\naddi sp, sp, 16"),
                w.chain(
                    "",
                    "addi sp, sp, -16\nsd a2, 0(sp)\nld a2, 0(sp)\naddi sp, sp, 16",
                ),
            ]
        }
        Instruction::LoadString8
        | Instruction::LoadString16
        | Instruction::LoadString32
        | Instruction::LoadString64 => none(NO_STRINGS),
        Instruction::ToVector32 => [
            narrow("vmv.s.x, e32").on_vectors("vmv.s.x v%, t3"),
            Unsupported(ONE_WAY),
        ],
        Instruction::ToVector64 => [
            vectors("vmv.s.x, e64").on_vectors("vmv.s.x v%, t3"),
            Unsupported(ONE_WAY),
        ],
        Instruction::FromVector32 => [
            narrow("vmv.x.s, e32").on_general("vmv.x.s %, v8"),
            Unsupported(ONE_WAY),
        ],
        Instruction::FromVector64 => [
            vectors("vmv.x.s, e64").on_general("vmv.x.s %, v8"),
            Unsupported(ONE_WAY),
        ],
        Instruction::ToVectorAndBack => {
            let w = vectors("vmv.s.x, vmv.x.s");
            [
                w.on_vectors("vmv.s.x v%, t3\nvmv.x.s a3, v%"),
                w.chain("", "vmv.s.x v8, a2\nvmv.x.s a2, v8"),
            ]
        }
        Instruction::Insert8
        | Instruction::Insert16
        | Instruction::Insert32
        | Instruction::Insert64 => none(NO_INSERT),
        Instruction::Extract8
        | Instruction::Extract16
        | Instruction::Extract32
        | Instruction::Extract64 => none(NO_EXTRACT),
        Instruction::VectorMove64
        | Instruction::VectorMove128
        | Instruction::VectorMove256
        | Instruction::VectorMove512
        | Instruction::VectorAdd128
        | Instruction::VectorAdd256
        | Instruction::VectorAdd512 => none(ANY_LENGTH),
        Instruction::VectorMoveAny => {
            let w = vectors("vmv1r.v");
            let chain = repeat(32, "vmv1r.v v8, v9\nvmv1r.v v9, v8");
            [w.on_vectors("vmv1r.v v%, v1"), w.row("", &chain, "", 64)]
        }
        Instruction::VectorAddAny => {
            let w = vectors("vadd.vv");
            [
                w.on_vectors("vadd.vv v%, v1, v2"),
                w.chain("", "vadd.vv v8, v8, v1"),
            ]
        }
        Instruction::FenceLoad => [
            w("fence r, r").chain("", "fence r, r"),
            Unsupported(NO_RESULT),
        ],
        Instruction::FenceStore => [
            w("fence w, w").chain("", "fence w, w"),
            Unsupported(NO_RESULT),
        ],
        Instruction::FenceFull => [
            w("fence rw, rw").chain("", "fence rw, rw"),
            Unsupported(NO_RESULT),
        ],
        Instruction::FenceLocked => {
            let body = repeat(64, "amoor.d.aqrl zero, zero, (sp)");
            let start = "addi sp, sp, -16\nsd zero, 0(sp)";
            [
                w("amoor.d.aqrl").row(start, &body, "addi sp, sp, 16", 64),
                Unsupported(NO_RESULT),
            ]
        }
    }
}
