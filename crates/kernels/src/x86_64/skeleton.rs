//! The loops that all rows of x86-64 share. A row names its instructions, the skeleton walks.
//!
//! Every loop starts on a line of the instruction cache. The gap before it is jumped over and its
//! filling named here. The assembler's own padding differs with the target processor, and with it
//! the digest would.

use crate::stream_call::StreamCall;
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets in the skeletons and rows.
const _: () = assert!(offset_of!(StreamCall, lead) == 0 && offset_of!(StreamCall, delta) == 8);
const _: () = assert!(offset_of!(StreamCall, window) == 16 && offset_of!(StreamCall, offset) == 24);
const _: () = assert!(offset_of!(StreamCall, blocks) == 32 && offset_of!(StreamCall, table) == 40);
const _: () =
    assert!(offset_of!(StreamCall, distance) == 48 && offset_of!(StreamCall, pattern) == 64);
const _: () = assert!(offset_of!(StreamCall, checksum) == 72);

/// The registers and fields that rows of both x86 architectures name; see the skeletons for who
/// holds what when.
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

/// A streaming kernel: `fn(&mut StreamCall)`, System V register convention on every system.
///
/// In: `rdi` = `StreamCall` (see its fields for the offsets used here). Out: `offset` (and
/// `checksum` where the row has one) in the call. Clobbers: rax, rcx, rdx, rsi, rdi, r8 to r11,
/// flags, vector registers 0 to 7: all the caller's to save; rbx and rbp, where an order has to use
/// them, are put back. Memory: only what the contract says and the table that gives the order,
/// between the loads of the call's fields and the stores to them. No fence in the loop. Timed: the
/// loop; entry and exit cost about as much as one mispredicted branch and happen once per call.
///
/// Parts of an order: `enter` turns `rax` = offset and `rdx` = length into the state of its turns,
/// `find` finds the block, `step` moves on and wraps, `leave` stores the offset. In a row,
/// `\d` is what `at` lists. `start`, `turn`, `each` and `end` are the row's; `rcx` counts blocks,
/// `rsi` is the first stream's start, `r10` the distance between streams.
///
/// One turn is 512 bytes, but for `unrolled`. The wrap at the end of the window is a compare and a
/// conditional move: the branch at the end of a nested loop would be mispredicted once per pass,
/// which costs 8% of an L1-sized pass. The dependency from one position to the next is three
/// cycles, below the four that the widest core needs for the loads of a block.
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

/// From low to high addresses: `rax` is the position in the leading stream, `rdx` its end. A row
/// may set `r9` and `r8` to the positions in the streams behind it.
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

/// As `forward`, but a turn is this many bytes, a divisor of a block, and `rcx` counts those. `rdx`
/// is the last turn's place: the position waits two cycles for the one before it.
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

/// Blocks in the order of a table: `rax` is the position in the leading stream as in `forward`;
/// `rbx` is the place in the table, `rbp` its start, `rdx` its end. The next entry does not wait
/// for the block.
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

/// Lines in the order of a table, eight a turn: `rax` is the place in the table, `rbx` its start,
/// `rdx` its end. Within `each`, `\l` is the register with the line's entry, which counts in units
/// of 8 B, so that an address can take it as it is: `x86!(line)`, and for copies `x86!(second
/// line)` from where a row sets `r9`. r11 is free, and r9 where it is not that. Stores have an
/// instruction for the address of each line (`x86!(get line)`): with `rsi` in it, Zen 5 stores a
/// fifth less.
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

/// The same for kernels that only load: two entries in one load, because it is loads that a core
/// has too few of. r9 is not free.
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

/// A string instruction for each run of blocks up to the end of the window: a program would not cut
/// it into pieces, and its start costs tens of cycles.
///
/// In: `rdi` = `StreamCall`. Out: `offset` in the call. Clobbers: rax, rcx, rdx, rsi, rdi, r8 to
/// r11, flags. The direction flag is clear, as the convention has it. Timed: the string
/// instructions; the walk around one is a few cycles.
///
/// `rdi` is the position in the leading stream, `r10` its start, `r11` its end, `r9` the blocks
/// left, `r8` the call; `run` moves `rdi` on by `rcx` bytes.
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

/// Instructions that need nothing of each other: `fn(blocks)`, 128 to a block. Tests of a register
/// write flags only, so that there are neither results to keep apart nor any that could be known at
/// rename.
///
/// In: `rdi` = blocks, at least 1. Clobbers: rdi, flags. Memory: none. Timed: as many per cycle as
/// the core can begin.
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

/// Dependent additions: `fn(blocks)`, 128 to a block.
///
/// In: `rdi` = blocks, at least 1. Clobbers: rax, rcx, rdi, flags. Memory: none. Timed: one
/// addition per cycle.
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
