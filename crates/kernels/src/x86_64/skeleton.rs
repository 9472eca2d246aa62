//! The loops that all rows of x86-64 share. A row gives its instructions, and the skeleton advances
//! the position.
//!
//! Every loop starts on a line of the instruction cache. The code jumps over the gap before it,
//! which is filled with fixed bytes. The assembler's own padding would depend on the target
//! processor, and so would the digest.

use crate::stream_call::StreamCall;
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets that the skeletons and rows use.
const _: () = assert!(offset_of!(StreamCall, lead) == 0 && offset_of!(StreamCall, delta) == 8);
const _: () = assert!(offset_of!(StreamCall, window) == 16 && offset_of!(StreamCall, offset) == 24);
const _: () = assert!(offset_of!(StreamCall, blocks) == 32 && offset_of!(StreamCall, table) == 40);
const _: () =
    assert!(offset_of!(StreamCall, distance) == 48 && offset_of!(StreamCall, pattern) == 64);
const _: () = assert!(offset_of!(StreamCall, checksum) == 72);

/// Names of registers and fields for the rows of both x86 architectures. The skeletons document the
/// use of each register.
macro_rules! x86 {
    (position) => {
        "rax"
    };
    (second) => {
        "r9"
    };
    (third) => {
        "r8"
    };
    (delta) => {
        "r10"
    };
    (distance) => {
        "r11"
    };
    (chunk second) => {
        "r9"
    };
    (line) => {
        "rsi + 8 * \\l"
    };
    (second line) => {
        "r9 + 8 * \\l"
    };
    (get second) => {
        "lea r9, [rax + r10]"
    };
    (get second and third) => {
        "lea r9, [rax + r10]\nlea r8, [rax + 2 * r10]"
    };
    (get chunk second) => {
        "lea r9, [rax + r10]"
    };
    (get line) => {
        "lea \\l, [rsi + 8 * \\l]\n"
    };
    (get second stream) => {
        "lea r9, [rsi + r10]"
    };
    (get distance) => {
        "mov r11, [rdi + 48]"
    };
    (pattern) => {
        "[rdi + 64]"
    };
    (return low half of xmm0) => {
        "movq rcx, xmm0\nmov [rdi + 72], rcx\n"
    };
    (return low half of xmm0 by vmovq) => {
        "vmovq rcx, xmm0\nmov [rdi + 72], rcx\n"
    };
}
pub(crate) use x86;

/// A streaming kernel: `fn(&mut StreamCall)`. It uses the System V convention on every system.
///
/// - In: `rdi` = `StreamCall` (see its fields for the offsets used here).
/// - Out: `offset` in the call, and `checksum` if the row has one.
/// - Clobbers: rax, rcx, rdx, rsi, rdi, r8 to r11, flags, vector registers 0 to 7. Restored, if an
///   order uses them: rbx, rbp.
/// - Memory: only what the contract says, and the index table. All of it is accessed between the
///   loads of the call's fields and the stores to them. There is no fence in the loop.
/// - Timed: the loop. Entry and exit cost about as much as one mispredicted branch, once per call.
///
/// Parts of an order: `enter` turns `rax` = offset and `rdx` = length into the state of its
/// iterations. `find` finds the block, `step` advances and wraps, and `leave` stores the offset.
///
/// Parts of a row: `start`, `turn`, `each` and `end`. `\d` is each item of the list `at`. `rcx`
/// counts blocks, `rsi` is the start of the first stream, and `r10` the distance between streams.
///
/// One iteration is 512 bytes, except in `unrolled`. The wrap at the end of the window is a compare
/// and a conditional move. The branch at the end of a nested loop would be mispredicted once per
/// pass, which costs 8% of an L1-sized pass. The dependency from one position to the next is three
/// cycles. That is below the four that the widest core needs for the loads of a block.
macro_rules! walk {
    ($(#[$doc:meta])* $name:ident {
        start: $start:expr, turn: $turn:expr, each: $each:expr, at: $at:expr, end: $end:expr $(,)?
    } enter: $enter:expr, find: $find:expr, step: $step:expr, leave: $leave:expr) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub(crate) unsafe extern "sysv64" fn $name(call: &mut crate::stream_call::StreamCall) {
            core::arch::naked_asm!(concat!(
                ".p2align 6\n",
                "mov rcx, [rdi + 32]\n", // blocks
                "test rcx, rcx\n",
                "jz 3f\n",
                "mov rsi, [rdi]\n", // lead
                "mov r10, [rdi + 8]\n", // delta
                "mov rdx, [rdi + 16]\n", // window
                "mov rax, [rdi + 24]\n", // offset
                $enter, "\n",
                $start, "\n",
                "jmp 2f\n",
                ".p2align 6, 0xcc\n",
                "2:\n",
                $find, "\n",
                $turn, "\n",
                ".irp d, ", $at, "\n",
                $each, "\n",
                ".endr\n",
                $step, "\n",
                "dec rcx\n",
                "jnz 2b\n",
                $leave, "\n",
                $end, "\n",
                "3:\n",
                "ret\n",
                ".ascii \"memgauge-row-end\"\n",
            ))
        }
    };
}
pub(crate) use walk;

/// From low to high addresses: `rax` is the position in the first stream, `rdx` its end. A row may
/// set `r9` and `r8` to the positions in the following streams.
macro_rules! forward {
    ($($row:tt)*) => {
        $crate::native::skeleton::walk! { $($row)*
            enter: "add rdx, rsi\nadd rax, rsi",
            find: "",
            step: "add rax, 512\ncmp rax, rdx\ncmove rax, rsi",
            leave: "sub rax, rsi\nmov [rdi + 24], rax"
        }
    };
}
pub(crate) use forward;

/// Like `forward`, but an iteration is this many bytes, a divisor of a block, and `rcx` counts
/// iterations. `rdx` is the position of the last iteration, so that a position only waits two
/// cycles for the previous one.
macro_rules! unrolled {
    ($bytes:literal, $($row:tt)*) => {
        $crate::native::skeleton::walk! { $($row)*
            enter: concat!(
                "imul rcx, rcx, 512 / ", $bytes, "\nlea rdx, [rdx + rsi - ", $bytes, "]\nadd rax, rsi",
            ),
            find: "",
            step: concat!("cmp rax, rdx\nlea rax, [rax + ", $bytes, "]\ncmove rax, rsi"),
            leave: "sub rax, rsi\nmov [rdi + 24], rax"
        }
    };
}
pub(crate) use unrolled;

/// From high to low addresses: `rax` is the end of the block, `rdx` that of the window.
macro_rules! backward {
    ($($row:tt)*) => {
        $crate::native::skeleton::walk! { $($row)*
            enter: "add rdx, rsi\nneg rax\nadd rax, rdx",
            find: "",
            step: "sub rax, 512\ncmp rax, rsi\ncmove rax, rdx",
            leave: "sub rdx, rax\nmov [rdi + 24], rdx"
        }
    };
}
pub(crate) use backward;

/// Blocks in the order of an index table. `rax` is the position in the first stream, as in
/// `forward`. `rbx` is the position in the table, `rbp` its start, `rdx` its end. The next entry
/// does not wait for the block.
macro_rules! chunks {
    ($($row:tt)*) => {
        $crate::native::skeleton::walk! { $($row)*
            enter: "push rbx\npush rbp\nmov rbp, [rdi + 40]\nlea rbx, [rbp + rax]\nadd rdx, rbp",
            find: "mov eax, [rbx]\nshl rax, 3\nadd rax, rsi",
            step: "add rbx, 4\ncmp rbx, rdx\ncmove rbx, rbp",
            leave: "sub rbx, rbp\nmov [rdi + 24], rbx\npop rbp\npop rbx"
        }
    };
}
pub(crate) use chunks;

/// Lines in the order of an index table, eight per iteration. `rax` is the position in the table,
/// `rbx` its start, `rdx` its end.
///
/// Within `each`, `\l` is the register with the entry of the line. An entry counts in units of 8 B,
/// so that an address can use it directly: `x86!(line)`. Copies use `x86!(second line)` with `r9`,
/// which the row sets. r11 is free, and so is r9 in other rows. Stores first compute the address of
/// each line (`x86!(get line)`). With `rsi` in each address, Zen 5 stores a fifth less.
macro_rules! lines {
    ($(#[$doc:meta])* $name:ident { start: $start:expr, each: $each:expr, end: $end:expr $(,)? }) => {
        $crate::native::skeleton::by_lines! { $(#[$doc])* $name {
            start: $start,
            each: concat!("mov r8d, [rax + \\d]\n.irp l, r8\n", $each, "\n.endr"),
            at: "0,4,8,12,16,20,24,28",
            end: $end,
        } }
    };
}
pub(crate) use lines;

/// Like `lines`, for kernels that only load. One load reads two entries, because loads limit these
/// kernels. r9 is not free.
macro_rules! line_pairs {
    ($(#[$doc:meta])* $name:ident { start: $start:expr, each: $each:expr, end: $end:expr $(,)? }) => {
        $crate::native::skeleton::by_lines! { $(#[$doc])* $name {
            start: $start,
            each: concat!("mov r8, [rax + \\d]\nmov r9d, r8d\nshr r8, 32\n.irp l, r9,r8\n", $each, "\n.endr"),
            at: "0,8,16,24",
            end: $end,
        } }
    };
}
pub(crate) use line_pairs;

macro_rules! by_lines {
    ($(#[$doc:meta])* $name:ident { start: $start:expr, each: $each:expr, at: $at:literal, end: $end:expr $(,)? }) => {
        $crate::native::skeleton::walk! { $(#[$doc])* $name {
                start: $start,
                turn: "",
                each: $each,
                at: $at,
                end: $end,
            }
            enter: "push rbx\nmov rbx, [rdi + 40]\nadd rax, rbx\nadd rdx, rbx",
            find: "",
            step: "add rax, 32\ncmp rax, rdx\ncmove rax, rbx",
            leave: "sub rax, rbx\nmov [rdi + 24], rax\npop rbx"
        }
    };
}
pub(crate) use by_lines;

/// One string instruction for each run of blocks up to the end of the window. A program would not
/// cut a run into pieces, and the start of the instruction costs tens of cycles.
///
/// - In: `rdi` = `StreamCall`.
/// - Out: `offset` in the call.
/// - Clobbers: rax, rcx, rdx, rsi, rdi, r8 to r11, flags. The convention guarantees a clear
///   direction flag.
/// - Timed: the string instructions. The code around one takes a few cycles.
///
/// `rdi` is the position in the first stream, `r10` its start, `r11` its end. `r9` is the number of
/// blocks left, and `r8` the call. `run` advances `rdi` by `rcx` bytes.
macro_rules! strings {
    ($(#[$doc:meta])* $name:ident { start: $start:expr, run: $run:expr $(,)? }) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub(crate) unsafe extern "sysv64" fn $name(call: &mut crate::stream_call::StreamCall) {
            core::arch::naked_asm!(concat!(
                ".p2align 6\n",
                "mov r8, rdi\n",
                "mov r9, [r8 + 32]\n", // blocks
                "mov r10, [r8]\n", // lead
                "mov r11, [r8 + 16]\n", // window
                "mov rdi, [r8 + 24]\n", // offset
                "add r11, r10\n",
                "add rdi, r10\n",
                $start, "\n",
                "test r9, r9\n",
                "jz 3f\n",
                "jmp 2f\n",
                ".p2align 6, 0xcc\n",
                "2:\n",
                "mov rcx, r11\n",
                "sub rcx, rdi\n",
                "shr rcx, 9\n",
                "cmp rcx, r9\n",
                "cmova rcx, r9\n",
                "sub r9, rcx\n",
                "shl rcx, 9\n",
                $run, "\n",
                "cmp rdi, r11\n",
                "cmove rdi, r10\n",
                "test r9, r9\n",
                "jnz 2b\n",
                "sub rdi, r10\n",
                "mov [r8 + 24], rdi\n",
                "3:\n",
                "ret\n",
                ".ascii \"memgauge-row-end\"\n",
            ))
        }
    };
}
pub(crate) use strings;

/// Independent instructions: `fn(blocks)`, 128 in each block. Tests of a register only write flags.
/// So no results have to be kept apart, and no core can resolve them at rename.
///
/// - In: `rdi` = blocks, at least 1.
/// - Clobbers: rdi, flags.
/// - Memory: none.
/// - Timed: as many instructions per cycle as the core can issue.
#[unsafe(naked)]
pub(crate) unsafe extern "sysv64" fn issue(blocks: usize) {
    naked_asm!(
        ".p2align 6",
        "jmp 2f",
        ".p2align 6, 0xcc",
        "2:",
        ".rept 128",
        "test rdi, rdi",
        ".endr",
        "dec rdi",
        "jnz 2b",
        "ret",
        ".ascii \"memgauge-row-end\"",
    )
}

/// Dependent additions: `fn(blocks)`, 128 in each block.
///
/// - In: `rdi` = blocks, at least 1.
/// - Clobbers: rax, rcx, rdi, flags.
/// - Memory: none.
/// - Timed: one addition per cycle.
#[unsafe(naked)]
pub(crate) unsafe extern "sysv64" fn add(blocks: usize) {
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
