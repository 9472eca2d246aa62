//! The loop around single timed instructions of x86-64, and the instructions that need 64 bits.

use crate::instructions::{InstructionCall, InstructionRow};
use crate::x86_shared::instructions::{
    chain, chained, on_general, on_vectors, rounds, sse41, string_loads,
};
use core::mem::offset_of;

// The offsets that the skeleton uses.
const _: () =
    assert!(offset_of!(InstructionCall, turns) == 0 && offset_of!(InstructionCall, scratch) == 8);

/// An instruction kernel: `fn(&mut InstructionCall)`.
///
/// - In: `rdi` = `InstructionCall`.
/// - Clobbers: rax, rcx, rdx, rsi, rdi, r8 to r11, flags, vector registers 0 to 15. Restored: rbx.
/// - Memory: the scratch memory at `rsi` and the kernel's own stack.
/// - Timed: the instructions in `turn`, and two more for the loop (three for string loads, push and
///   pop).
macro_rules! timed {
    ($name:ident { start: $start:expr, turn: $turn:expr, end: $end:expr $(,)? }) => {
        #[unsafe(naked)]
        pub(crate) unsafe extern "sysv64" fn $name(
            call: &mut crate::instructions::InstructionCall,
        ) {
            core::arch::naked_asm!(concat!(
                ".p2align 6\n",
                "push rbx\n",
                "mov rsi, [rdi + 8]\n",
                "mov rdi, [rdi]\n",
                $start,
                "\n",
                "jmp 2f\n",
                ".p2align 6, 0xcc\n",
                "2:\n",
                $turn,
                "\n",
                "dec rdi\n",
                "jnz 2b\n",
                $end,
                "\n",
                "pop rbx\n",
                "ret\n",
                ".ascii \"memgauge-row-end\"\n",
            ))
        }
    };
}
pub(crate) use timed;

/// Names of registers of the machine's own width. `general` are all free registers except `dx`,
/// which is the operand of additions, and the loop counter.
macro_rules! word {
    (ax) => {
        "rax"
    };
    (dx) => {
        "rdx"
    };
    (si) => {
        "rsi"
    };
    (sp) => {
        "rsp"
    };
    (general) => {
        "rax,rcx,rsi,r8,r9,r10,r11,rbx"
    };
    (general 32) => {
        "eax,ecx,esi,r8d,r9d,r10d,r11d,ebx"
    };
    (general rounds) => {
        "8"
    };
    (general count) => {
        64
    };
    (vectors) => {
        "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
    };
    (vector rounds) => {
        "4"
    };
    (pointer) => {
        "qword"
    };
    (bytes) => {
        "8"
    };
    (movq) => {
        "movq"
    };
    (r) => {
        "r64"
    };
    (there and back) => {
        "movq xmm, r64; movq r64, xmm"
    };
}
pub(crate) use word;

string_loads! { string_loads_64, "lodsq" }
on_vectors! { to_vectors_64, "movq xmm\\r, rax", "" }
on_general! { from_vectors_64, "movq \\r, xmm0" }
on_vectors! { inserts_64, "pinsrq xmm\\r, rax, 1", "" }
chained! { insert_64_chain, "pinsrq xmm0, rax, 1" }
on_general! { extracts_64, "pextrq \\r, xmm0, 1" }

pub(crate) const LOAD_STRING_64: InstructionRow =
    InstructionRow::Code(string_loads_64, 64, "lodsq");
pub(crate) const TO_VECTOR_64: InstructionRow =
    InstructionRow::Code(to_vectors_64, 64, "movq xmm, r64");
pub(crate) const FROM_VECTOR_64: InstructionRow =
    InstructionRow::Code(from_vectors_64, 64, "movq r64, xmm");
pub(crate) const INSERT_64: [InstructionRow; 2] = [
    InstructionRow::Needs(sse41, "SSE4.1", inserts_64, 64, "pinsrq xmm, r64, imm8"),
    InstructionRow::Needs(
        sse41,
        "SSE4.1",
        insert_64_chain,
        64,
        "pinsrq xmm, r64, imm8",
    ),
];
pub(crate) const EXTRACT_64: InstructionRow =
    InstructionRow::Needs(sse41, "SSE4.1", extracts_64, 64, "pextrq r64, xmm, imm8");
