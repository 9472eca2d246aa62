//! The loop around single timed instructions of 32-bit x86, and the reasons why it lacks those that
//! need 64 bits.

use crate::instructions::{InstructionCall, InstructionRow};
use core::mem::offset_of;

// The offsets that the skeleton uses.
const _: () =
    assert!(offset_of!(InstructionCall, turns) == 0 && offset_of!(InstructionCall, scratch) == 4);

/// An instruction kernel: `fn(&mut InstructionCall)`, with the C convention.
///
/// - In: `[esp + 4]` = `InstructionCall`.
/// - Clobbers: eax, ecx, edx, flags, vector registers 0 to 7. Restored: ebx, esi, edi, ebp.
/// - Memory: the scratch memory at `esi` and the kernel's own stack.
/// - Timed: the instructions in `turn`, and two more for the loop (three for string loads, push and
///   pop).
macro_rules! timed {
    ($name:ident { start: $start:expr, turn: $turn:expr, end: $end:expr $(,)? }) => {
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name(call: &mut crate::instructions::InstructionCall) {
            core::arch::naked_asm!(concat!(
                ".p2align 6\n",
                "push ebx\n",
                "push esi\n",
                "push edi\n",
                "push ebp\n",
                "mov edi, [esp + 20]\n",
                "mov esi, [edi + 4]\n",
                "mov edi, [edi]\n",
                $start,
                "\n",
                "jmp 2f\n",
                ".p2align 6, 0xcc\n",
                "2:\n",
                $turn,
                "\n",
                "dec edi\n",
                "jnz 2b\n",
                $end,
                "\n",
                "pop ebp\n",
                "pop edi\n",
                "pop esi\n",
                "pop ebx\n",
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
        "eax"
    };
    (dx) => {
        "edx"
    };
    (si) => {
        "esi"
    };
    (sp) => {
        "esp"
    };
    (general) => {
        "eax,ecx,esi,ebx,ebp"
    };
    (general 32) => {
        "eax,ecx,esi,ebx,ebp"
    };
    (general rounds) => {
        "12"
    };
    (general count) => {
        60
    };
    (vectors) => {
        "0,1,2,3,4,5,6,7"
    };
    (vector rounds) => {
        "8"
    };
    (pointer) => {
        "dword"
    };
    (bytes) => {
        "4"
    };
    (movq) => {
        "movd"
    };
    (r) => {
        "r32"
    };
    (there and back) => {
        "movd xmm, r32; movd r32, xmm"
    };
}
pub(crate) use word;

const NARROW: InstructionRow =
    InstructionRow::Unsupported("32-bit x86 has no general registers of 64 bits");
pub(crate) const LOAD_STRING_64: InstructionRow = NARROW;
pub(crate) const TO_VECTOR_64: InstructionRow = NARROW;
pub(crate) const FROM_VECTOR_64: InstructionRow = NARROW;
pub(crate) const INSERT_64: [InstructionRow; 2] = [NARROW; 2];
pub(crate) const EXTRACT_64: InstructionRow = NARROW;
