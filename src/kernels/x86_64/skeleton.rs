//! The loops that all rows of x86-64 share. A row names its instructions, the skeleton walks.
//!
//! Every loop starts on a line of the instruction cache. What fills the gap before it is jumped over and named here: the
//! assembler's own padding differs with the processor that is compiled for, and with it would the digest.

use crate::kernels::stream::StreamCall;
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets in the skeletons and rows.
const _: () = assert!(offset_of!(StreamCall, lead) == 0 && offset_of!(StreamCall, delta) == 8);
const _: () = assert!(offset_of!(StreamCall, window) == 16 && offset_of!(StreamCall, offset) == 24);
const _: () = assert!(offset_of!(StreamCall, blocks) == 32 && offset_of!(StreamCall, table) == 40);
const _: () = assert!(offset_of!(StreamCall, distance) == 48 && offset_of!(StreamCall, pattern) == 64);
const _: () = assert!(offset_of!(StreamCall, checksum) == 72);

/// A streaming kernel: `fn(&mut StreamCall)`, System V register convention on every system.
///
/// In: `rdi` = `StreamCall` (see its fields for the offsets used here).
/// Out: `offset` (and `checksum` where the row has one) in the call.
/// Clobbers: rax, rcx, rdx, rsi, rdi, r8 to r11, flags, vector registers 0 to 7: all the caller's to save.
/// Memory: only what the contract says, between the loads of the call's fields and the stores to them. No fence in the
/// loop.
/// Timed: the loop; entry and exit cost about as much as one mispredicted branch and happen once per call.
///
/// In a row, `\d` is the offset within the block, `rax` the position in the leading stream, and `r9`, where the row
/// sets it in `turn`, the position in the second one.
///
/// One turn is 512 bytes. The wrap at the end of the window is a compare and a conditional move: the branch at the end
/// of a nested loop would be mispredicted once per pass, which costs 8% of an L1-sized pass. The dependency from one
/// position to the next is three cycles, below the four that the widest core needs for the loads of a block.
macro_rules! stream {
    ($(#[$doc:meta])* $name:ident {
        start: $start:expr, turn: $turn:expr, each: $each:expr, at: $at:expr, end: $end:expr $(,)?
    }) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub(in crate::kernels) unsafe extern "sysv64" fn $name(call: &mut crate::kernels::stream::StreamCall) {
            core::arch::naked_asm!(concat!(
                ".p2align 6\n",
                "mov rcx, [rdi + 32]\n", // blocks
                "test rcx, rcx\n",
                "jz 3f\n",
                "mov rsi, [rdi]\n", // lead
                "mov r10, [rdi + 8]\n", // delta
                "mov rdx, [rdi + 16]\n", // window
                "mov rax, [rdi + 24]\n", // offset
                "add rdx, rsi\n",
                "add rax, rsi\n",
                $start, "\n",
                "jmp 2f\n",
                ".p2align 6, 0xcc\n",
                "2:\n",
                $turn, "\n",
                ".irp d, ", $at, "\n",
                $each, "\n",
                ".endr\n",
                "add rax, 512\n",
                "cmp rax, rdx\n",
                "cmove rax, rsi\n",
                "dec rcx\n",
                "jnz 2b\n",
                "sub rax, rsi\n",
                "mov [rdi + 24], rax\n",
                $end, "\n",
                "3:\n",
                "ret\n",
                ".ascii \"memgauge-row-end\"\n",
            ))
        }
    };
}
pub(super) use stream;

/// Dependent additions: `fn(blocks)`, 128 to a block.
///
/// In: `rdi` = blocks, at least 1. Clobbers: rax, rcx, rdi, flags. Memory: none. Timed: one addition per cycle.
#[unsafe(naked)]
pub(in crate::kernels) unsafe extern "sysv64" fn add(blocks: usize) {
    naked_asm!(
        ".p2align 6",
        "xor eax, eax",
        "mov ecx, 3",
        "jmp 2f",
        ".p2align 6, 0xcc",
        "2:",
        ".rept 128",
        "add rax, rcx",
        ".endr",
        "dec rdi",
        "jnz 2b",
        "ret",
        ".ascii \"memgauge-row-end\"",
    )
}
