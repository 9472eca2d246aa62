//! Kernels that time single instructions.
//!
//! Throughput kernels use all registers in turn, so that instructions do not wait for each other.
//! Each register is a chain of additions that take one clock cycle each. Eight chains suffice for
//! six additions per cycle, and the five chains of 32-bit x86 suffice for five. Latency kernels are
//! one dependent chain. A pair of moves there and back counts as one instruction.

use super::mode::{AVX, AVX2, AVX512, Mode, Register, SSE41, TO_LOOP, register};
use crate::architecture::{Feature, InstructionRow};
use crate::instruction::Instruction;
use crate::text::{each, lines, repeat};

/// Registers of instruction kernels. `$iterations` counts down, `$scratch` is the address of the
/// scratch memory, `$d` the operand of additions. `$size` is the assembler's name of a word's size,
/// and `$bytes` its bytes. `$r` is a general register in the text that lists show.
const REGISTERS: [Register; 9] = [
    register("$iterations", "rdi", "edi"),
    register("$scratch", "rsi", "esi"),
    register("$stack", "rsp", "esp"),
    register("$a", "rax", "eax"),
    register("$d", "rdx", "edx"),
    register("$size", "qword", "dword"),
    register("$bytes", "8", "4"),
    register("$movq", "movq", "movd"),
    register("$r", "r64", "r32"),
];

/// General registers that throughput kernels use in turn. The kernel restores rbx on x86-64, and
/// all callee-saved registers on x86.
fn general(mode: Mode) -> &'static [&'static str] {
    mode.choose(
        &["rax", "rcx", "rsi", "r8", "r9", "r10", "r11", "rbx"],
        &["eax", "ecx", "esi", "ebx", "ebp"],
    )
}

/// The low 32 bits of the registers of [`general`].
fn general_32(mode: Mode) -> &'static [&'static str] {
    mode.choose(
        &["eax", "ecx", "esi", "r8d", "r9d", "r10d", "r11d", "ebx"],
        &["eax", "ecx", "esi", "ebx", "ebp"],
    )
}

const ELIMINATED: &str = "most processors eliminate such moves at rename: a chain of them shows \
                          throughput, not latency";
const ONE_WAY: &str = "measured with its way back: see to-vector-and-back";
const STACK: &str = "measured through the stack: see push-pop";
const STRING: &str = "string loads wait for each other's pointer only, which is in their \
                      throughput; see load";
const NO_RESULT: &str = "a fence has no result that another could wait for";
const FIXED: &str = "vectors of x86 have fixed lengths";
const NARROW: &str = "32-bit x86 has no general registers of 64 bits";

/// Writes the rows of one instruction.
struct Writer {
    mode: Mode,
    /// The instruction as lists show it.
    shown: &'static str,
    needs: Option<Feature>,
    /// Instructions after the loop.
    end: &'static str,
}

impl Writer {
    /// A row whose kernel executes `start` and iterations of `body`. `body` has `per_iteration`
    /// timed instructions.
    fn row(&self, start: &str, body: &str, per_iteration: u32) -> InstructionRow {
        let (enter, leave) = self.mode.choose(
            (
                "push rbx\nmov rsi, [rdi + <scratch>]\nmov rdi, [rdi + <iterations>]",
                "pop rbx",
            ),
            (
                "mov esi, [edi + <scratch>]\nmov edi, [edi + <iterations>]",
                "",
            ),
        );
        let text = lines([
            enter,
            start,
            TO_LOOP,
            body,
            "dec $iterations\njnz 2b",
            self.end,
            leave,
        ]);
        let text = self.mode.framed("edi", &text);
        InstructionRow::Code {
            text: self.mode.name_registers(&text, &REGISTERS),
            per_iteration,
            shown: self.mode.name_registers(self.shown, &REGISTERS),
            needs: self.needs,
        }
    }

    /// A row whose iterations execute `text` with `%` replaced by `registers` in turn.
    fn in_turn(&self, registers: &[&str], text: &str) -> InstructionRow {
        let times = self.mode.choose(64, 60) / registers.len();
        let once = each(registers, |register| text.replace('%', register));
        self.row("", &repeat(times, &once), (times * registers.len()) as u32)
    }

    /// A row whose iterations execute `text` with `%` replaced by the general registers in turn.
    fn on_general(&self, text: &str) -> InstructionRow {
        self.in_turn(general(self.mode), text)
    }

    /// Like [`Writer::on_general`], with the low 32 bits of the registers.
    fn on_general_32(&self, text: &str) -> InstructionRow {
        self.in_turn(general_32(self.mode), text)
    }

    /// A row that executes `text` with `%` replaced by the numbers of vector registers in turn.
    fn on_vectors(&self, text: &str) -> InstructionRow {
        let registers = self.mode.choose(16, 8);
        let once = each(0..registers, |i| text.replace('%', &i.to_string()));
        self.row("", &repeat(64 / registers, &once), 64)
    }

    /// A row whose iterations execute `text` with `%` replaced by the offset of each of 64 words of
    /// the scratch memory.
    fn on_memory(&self, text: &str) -> InstructionRow {
        self.row(
            "",
            &each((0..512).step_by(8), |at| text.replace('%', &at.to_string())),
            64,
        )
    }

    /// A latency row: a dependent chain of 64 times `text` per iteration.
    fn chain(&self, text: &str) -> InstructionRow {
        self.row("", &repeat(64, text), 64)
    }

    /// The rows of string loads. Each iteration begins at the start of the scratch memory.
    fn string_loads(&self) -> [InstructionRow; 2] {
        let body = format!("mov $scratch, $d\n{}", repeat(64, self.shown));
        [
            self.row("mov $d, $scratch", &body, 64),
            InstructionRow::Unsupported(STRING),
        ]
    }

    /// The rows of an insertion: into registers in turn for throughput, register 0 for latency.
    fn inserts(&self, text: &str) -> [InstructionRow; 2] {
        [self.on_vectors(text), self.chain(&text.replace('%', "0"))]
    }
}

/// The throughput and latency rows of every instruction.
pub(super) fn rows(mode: Mode) -> Vec<[InstructionRow; 2]> {
    Instruction::ALL
        .into_iter()
        .map(|instruction| pair(mode, instruction))
        .collect()
}

/// The throughput and latency rows of `instruction`.
fn pair(mode: Mode, instruction: Instruction) -> [InstructionRow; 2] {
    use InstructionRow::Unsupported;
    let w = |shown| Writer {
        mode,
        shown,
        needs: None,
        end: "",
    };
    let with = |needs, shown| Writer {
        needs: Some(needs),
        ..w(shown)
    };
    let wide = |needs, shown| Writer {
        end: "vzeroupper",
        ..with(needs, shown)
    };
    let narrow = mode == Mode::Bits32;
    match instruction {
        Instruction::Move => [
            w("mov $r, $r").on_general("mov %, $d"),
            Unsupported(ELIMINATED),
        ],
        Instruction::Add => {
            let w = w("add $r, $r");
            [w.on_general("add %, $d"), w.chain("add $a, $d")]
        }
        Instruction::Increment => {
            let w = w("inc $r");
            [w.on_general("inc %"), w.chain("inc $a")]
        }
        Instruction::Multiply => {
            let w = w("imul $r, $r");
            [w.on_general("imul %, $d"), w.chain("imul $a, $d")]
        }
        Instruction::Load => {
            let w = w("mov $r, [mem]");
            let start = "mov [$scratch], $scratch\nmov $a, $scratch";
            let chain = w.row(start, &repeat(64, "mov $a, [$a]"), 64);
            [w.on_memory("mov $a, [$scratch + %]"), chain]
        }
        Instruction::Store => [
            w("mov [mem], $r").on_memory("mov [$scratch + %], $a"),
            w("mov [mem], $r; mov $r, [mem]").chain("mov [$scratch], $a\nmov $a, [$scratch]"),
        ],
        Instruction::IncrementMemory => {
            let w = w("inc [mem]");
            [
                w.on_memory("inc $size ptr [$scratch + %]"),
                w.chain("inc $size ptr [$scratch]"),
            ]
        }
        Instruction::Push => {
            let body = format!("{}\nadd $stack, 64 * $bytes", repeat(64, "push $a"));
            [w("push $r").row("", &body, 64), Unsupported(STACK)]
        }
        Instruction::Pop => {
            let body = format!("sub $stack, 64 * $bytes\n{}", repeat(64, "pop $a"));
            [w("pop $r").row("", &body, 64), Unsupported(STACK)]
        }
        Instruction::PushPop => {
            let w = w("push $r; pop $r");
            [w.chain("push $a\npop $d"), w.chain("push $a\npop $a")]
        }
        Instruction::LoadString8 => w("lodsb").string_loads(),
        Instruction::LoadString16 => w("lodsw").string_loads(),
        Instruction::LoadString32 => w("lodsd").string_loads(),
        Instruction::LoadString64 if narrow => [Unsupported(NARROW), Unsupported(STRING)],
        Instruction::LoadString64 => w("lodsq").string_loads(),
        Instruction::ToVector32 => [
            w("movd xmm, r32").on_vectors("movd xmm%, eax"),
            Unsupported(ONE_WAY),
        ],
        Instruction::ToVector64 if narrow => [Unsupported(NARROW), Unsupported(ONE_WAY)],
        Instruction::ToVector64 => [
            w("movq xmm, r64").on_vectors("movq xmm%, rax"),
            Unsupported(ONE_WAY),
        ],
        Instruction::FromVector32 => [
            w("movd r32, xmm").on_general_32("movd %, xmm0"),
            Unsupported(ONE_WAY),
        ],
        Instruction::FromVector64 if narrow => [Unsupported(NARROW), Unsupported(ONE_WAY)],
        Instruction::FromVector64 => [
            w("movq r64, xmm").on_general("movq %, xmm0"),
            Unsupported(ONE_WAY),
        ],
        Instruction::ToVectorAndBack => {
            let w = w("$movq xmm, $r; $movq $r, xmm");
            [
                w.on_vectors("$movq xmm%, $a\n$movq $d, xmm%"),
                w.chain("$movq xmm0, $a\n$movq $a, xmm0"),
            ]
        }
        Instruction::Insert8 => with(SSE41, "pinsrb xmm, r32, imm8").inserts("pinsrb xmm%, eax, 1"),
        Instruction::Insert16 => w("pinsrw xmm, r32, imm8").inserts("pinsrw xmm%, eax, 1"),
        Instruction::Insert32 => {
            with(SSE41, "pinsrd xmm, r32, imm8").inserts("pinsrd xmm%, eax, 1")
        }
        Instruction::Insert64 if narrow => [Unsupported(NARROW), Unsupported(NARROW)],
        Instruction::Insert64 => {
            with(SSE41, "pinsrq xmm, r64, imm8").inserts("pinsrq xmm%, rax, 1")
        }
        Instruction::Extract8 => [
            with(SSE41, "pextrb r32, xmm, imm8").on_general_32("pextrb %, xmm0, 1"),
            Unsupported(ONE_WAY),
        ],
        Instruction::Extract16 => [
            w("pextrw r32, xmm, imm8").on_general_32("pextrw %, xmm0, 1"),
            Unsupported(ONE_WAY),
        ],
        Instruction::Extract32 => [
            with(SSE41, "pextrd r32, xmm, imm8").on_general_32("pextrd %, xmm0, 1"),
            Unsupported(ONE_WAY),
        ],
        Instruction::Extract64 if narrow => [Unsupported(NARROW), Unsupported(ONE_WAY)],
        Instruction::Extract64 => [
            with(SSE41, "pextrq r64, xmm, imm8").on_general("pextrq %, xmm0, 1"),
            Unsupported(ONE_WAY),
        ],
        Instruction::VectorMove64 => {
            let w = w("movq xmm, xmm");
            let chain = repeat(32, "movq xmm1, xmm0\nmovq xmm0, xmm1");
            [w.on_vectors("movq xmm%, xmm0"), w.row("", &chain, 64)]
        }
        Instruction::VectorMove128 => [
            w("movdqa xmm, xmm").on_vectors("movdqa xmm%, xmm0"),
            Unsupported(ELIMINATED),
        ],
        Instruction::VectorMove256 => [
            wide(AVX, "vmovdqa ymm, ymm").on_vectors("vmovdqa ymm%, ymm0"),
            Unsupported(ELIMINATED),
        ],
        Instruction::VectorMove512 => [
            wide(AVX512, "vmovdqa64 zmm, zmm").on_vectors("vmovdqa64 zmm%, zmm0"),
            Unsupported(ELIMINATED),
        ],
        Instruction::VectorMoveAny | Instruction::VectorAddAny => {
            [Unsupported(FIXED), Unsupported(FIXED)]
        }
        Instruction::VectorAdd128 => {
            let w = w("paddq xmm, xmm");
            [
                w.on_vectors("paddq xmm%, xmm%"),
                w.chain("paddq xmm0, xmm1"),
            ]
        }
        Instruction::VectorAdd256 => {
            let w = wide(AVX2, "vpaddq ymm, ymm, ymm");
            [
                w.on_vectors("vpaddq ymm%, ymm%, ymm%"),
                w.chain("vpaddq ymm0, ymm0, ymm1"),
            ]
        }
        Instruction::VectorAdd512 => {
            let w = wide(AVX512, "vpaddq zmm, zmm, zmm");
            [
                w.on_vectors("vpaddq zmm%, zmm%, zmm%"),
                w.chain("vpaddq zmm0, zmm0, zmm1"),
            ]
        }
        Instruction::FenceLoad => [w("lfence").chain("lfence"), Unsupported(NO_RESULT)],
        Instruction::FenceStore => [w("sfence").chain("sfence"), Unsupported(NO_RESULT)],
        Instruction::FenceFull => [w("mfence").chain("mfence"), Unsupported(NO_RESULT)],
        Instruction::FenceLocked => [
            w("lock or [mem], 0").chain("lock or dword ptr [$stack - 8], 0"),
            Unsupported(NO_RESULT),
        ],
    }
}
