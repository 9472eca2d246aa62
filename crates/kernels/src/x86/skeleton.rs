//! The loops that all rows of x86 share. A row gives its instructions, and the skeleton advances
//! the position.
//!
//! Every loop starts on a line of the instruction cache. The code jumps over the gap before it,
//! which is filled with fixed bytes. The assembler's own padding would depend on the target
//! processor, and so would the digest.

use crate::stream_call::StreamCall;
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets that the skeletons and rows use.
const _: () = assert!(offset_of!(StreamCall, lead) == 0 && offset_of!(StreamCall, delta) == 4);
const _: () = assert!(offset_of!(StreamCall, window) == 8 && offset_of!(StreamCall, offset) == 12);
const _: () = assert!(offset_of!(StreamCall, blocks) == 16 && offset_of!(StreamCall, table) == 20);
const _: () =
    assert!(offset_of!(StreamCall, distance) == 24 && offset_of!(StreamCall, pattern) == 32);
const _: () = assert!(offset_of!(StreamCall, checksum) == 40);

/// Names of registers and fields for the rows of both x86 architectures. The skeletons document the
/// use of each register.
macro_rules! x86 {
    (position) => {
        "eax"
    };
    (second) => {
        "ebx"
    };
    (third) => {
        "ebp"
    };
    (delta) => {
        "edi"
    };
    (distance) => {
        "ebp"
    };
    (chunk second) => {
        "edx"
    };
    (line) => {
        "esi + 8 * \\l"
    };
    (second line) => {
        "edx + 8 * \\l"
    };
    (get second) => {
        "lea ebx, [eax + edi]"
    };
    (get second and third) => {
        "lea ebx, [eax + edi]\nlea ebp, [eax + 2 * edi]"
    };
    (get chunk second) => {
        "lea edx, [eax + edi]"
    };
    (get line) => {
        "lea \\l, [esi + 8 * \\l]\n"
    };
    (get second stream) => {
        "lea edx, [esi + edi]"
    };
    (get distance) => {
        "mov ebp, [ebp + 24]"
    };
    (pattern) => {
        "[ebp + 32]"
    };
    (return low half of xmm0) => {
        "movq qword ptr [ebp + 40], xmm0\n"
    };
    (return low half of xmm0 by vmovq) => {
        "vmovq qword ptr [ebp + 40], xmm0\n"
    };
}
pub(crate) use x86;

/// A streaming kernel: `fn(&mut StreamCall)`, with the C convention.
///
/// - In: `[esp + 4]` = `StreamCall` (see its fields for the offsets used here).
/// - Out: `offset` in the call, and `checksum` if the row has one.
/// - Clobbers: eax, ecx, edx, flags, vector registers 0 to 7. Restored: ebx, esi, edi, ebp.
/// - Memory: only what the contract says, and the index table. All of it is accessed between the
///   loads of the call's fields and the stores to them. With a table, each iteration also loads one
///   word of the stack. There is no fence in the loop.
/// - Timed: the loop. Entry and exit cost about as much as one mispredicted branch, once per call.
///
/// Parts of an order: `enter` turns `eax` = offset and `edx` = length into the state of its
/// iterations. `find` finds the block, `step` advances and wraps, and `leave` leaves the offset in
/// `eax`.
///
/// Parts of a row: `start`, `turn`, `each` and `end`. `\d` is each item of the list `at`. In
/// `start` and `end`, `ebp` is the call. `ecx` counts blocks, `esi` is the start of the first
/// stream, and `edi` the distance between streams.
///
/// The wrap has no branch, as on x86-64.
macro_rules! walk {
    ($(#[$doc:meta])* $name:ident {
        start: $start:expr, turn: $turn:expr, each: $each:expr, at: $at:expr, end: $end:expr $(,)?
    } enter: $enter:expr, find: $find:expr, step: $step:expr, leave: $leave:expr) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name(call: &mut crate::stream_call::StreamCall) {
            core::arch::naked_asm!(concat!(
                ".p2align 6\n",
                "push ebx\n",
                "push esi\n",
                "push edi\n",
                "push ebp\n",
                "mov ebp, [esp + 20]\n",
                "mov ecx, [ebp + 16]\n", // blocks
                "test ecx, ecx\n",
                "jz 3f\n",
                "mov esi, [ebp]\n", // lead
                "mov edi, [ebp + 4]\n", // delta
                "mov edx, [ebp + 8]\n", // window
                "mov eax, [ebp + 12]\n", // offset
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
                "dec ecx\n",
                "jnz 2b\n",
                $leave, "\n",
                "mov ebp, [esp + 20]\n",
                "mov [ebp + 12], eax\n",
                $end, "\n",
                "3:\n",
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
pub(crate) use walk;

/// From low to high addresses: `eax` is the position in the first stream, `edx` its end. A row may
/// use ebx and ebp for the positions in the following streams.
macro_rules! forward {
    ($($row:tt)*) => {
        $crate::native::skeleton::walk! { $($row)*
            enter: "add edx, esi\nadd eax, esi",
            find: "",
            step: "add eax, 512\ncmp eax, edx\ncmove eax, esi",
            leave: "sub eax, esi"
        }
    };
}
pub(crate) use forward;

/// Like `forward`, but an iteration is this many bytes, a divisor of a block, and `ecx` counts
/// iterations. `edx` is the position of the last iteration.
macro_rules! unrolled {
    ($bytes:literal, $($row:tt)*) => {
        $crate::native::skeleton::walk! { $($row)*
            enter: concat!(
                "imul ecx, ecx, 512 / ", $bytes, "\nlea edx, [edx + esi - ", $bytes, "]\nadd eax, esi",
            ),
            find: "",
            step: concat!("cmp eax, edx\nlea eax, [eax + ", $bytes, "]\ncmove eax, esi"),
            leave: "sub eax, esi"
        }
    };
}
pub(crate) use unrolled;

/// From high to low addresses: `eax` is the end of the block, `edx` that of the window.
macro_rules! backward {
    ($($row:tt)*) => {
        $crate::native::skeleton::walk! { $($row)*
            enter: "add edx, esi\nneg eax\nadd eax, edx",
            find: "",
            step: "sub eax, 512\ncmp eax, esi\ncmove eax, edx",
            leave: "neg eax\nadd eax, edx"
        }
    };
}
pub(crate) use backward;

/// Blocks in the order of an index table. `eax` is the position in the first stream, as in
/// `forward`. `ebx` is the position in the table. The start and the end of the table are on the
/// stack, because a row needs free registers: edx and ebp, and edi with one stream. In `start`,
/// `ebp` is the call.
macro_rules! chunks {
    ($($row:tt)*) => {
        $crate::native::skeleton::walk! { $($row)*
            enter: "mov ebx, [ebp + 20]\nadd edx, ebx\nadd eax, ebx\npush ebx\npush edx\nmov ebx, eax",
            find: "mov eax, [ebx]\nshl eax, 3\nadd eax, esi",
            step: "add ebx, 4\ncmp ebx, [esp]\ncmove ebx, [esp + 4]",
            leave: "mov eax, ebx\npop edx\npop ebx\nsub eax, ebx"
        }
    };
}
pub(crate) use chunks;

/// Lines in the order of an index table, eight per iteration. `eax` is the position in the table.
/// The start and the end of the table are on the stack.
///
/// Within `each`, `\l` (ebx) is the entry of the line. An entry counts in units of 8 B, so that an
/// address can use it directly: `x86!(line)`. Copies use `x86!(second line)` with `edx`, which the
/// row sets. ebp is free, edx in other rows, and edi with one stream. In `start`, `ebp` is the
/// call. Stores first compute the address of each line, as on x86-64.
macro_rules! lines {
    ($(#[$doc:meta])* $name:ident { start: $start:expr, each: $each:expr, end: $end:expr $(,)? }) => {
        $crate::native::skeleton::walk! { $(#[$doc])* $name {
                start: $start,
                turn: "",
                each: concat!("mov ebx, [eax + \\d]\n.irp l, ebx\n", $each, "\n.endr"),
                at: "0,4,8,12,16,20,24,28",
                end: $end,
            }
            enter: "mov ebx, [ebp + 20]\nadd edx, ebx\nadd eax, ebx\npush ebx\npush edx",
            find: "",
            step: "add eax, 32\ncmp eax, [esp]\ncmove eax, [esp + 4]",
            leave: "pop edx\npop ebx\nsub eax, ebx"
        }
    };
}
// A general register has no room for two entries.
pub(crate) use {lines, lines as line_pairs};

/// One string instruction for each run of blocks up to the end of the window. A program would not
/// cut a run into pieces, and the start of the instruction costs tens of cycles.
///
/// - In: `[esp + 4]` = `StreamCall`.
/// - Out: `offset` in the call.
/// - Clobbers: eax, ecx, edx, flags. Restored: ebx, esi, edi, ebp. The convention guarantees a
///   clear direction flag.
/// - Timed: the string instructions. The code around one takes a few cycles.
///
/// `edi` is the position in the first stream, `edx` its start, `ebp` its end. `ebx` is the number
/// of blocks left. In `start`, `esi` is the call. `run` advances `edi` by `ecx` bytes.
macro_rules! strings {
    ($(#[$doc:meta])* $name:ident { start: $start:expr, run: $run:expr $(,)? }) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name(call: &mut crate::stream_call::StreamCall) {
            core::arch::naked_asm!(concat!(
                ".p2align 6\n",
                "push ebx\n",
                "push esi\n",
                "push edi\n",
                "push ebp\n",
                "mov esi, [esp + 20]\n",
                "mov ebx, [esi + 16]\n", // blocks
                "mov edx, [esi]\n", // lead
                "mov ebp, [esi + 8]\n", // window
                "mov edi, [esi + 12]\n", // offset
                "add ebp, edx\n",
                "add edi, edx\n",
                $start, "\n",
                "test ebx, ebx\n",
                "jz 3f\n",
                "jmp 2f\n",
                ".p2align 6, 0xcc\n",
                "2:\n",
                "mov ecx, ebp\n",
                "sub ecx, edi\n",
                "shr ecx, 9\n",
                "cmp ecx, ebx\n",
                "cmova ecx, ebx\n",
                "sub ebx, ecx\n",
                "shl ecx, 9\n",
                $run, "\n",
                "cmp edi, ebp\n",
                "cmove edi, edx\n",
                "test ebx, ebx\n",
                "jnz 2b\n",
                "sub edi, edx\n",
                "mov esi, [esp + 20]\n",
                "mov [esi + 12], edi\n",
                "3:\n",
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
pub(crate) use strings;

/// Independent instructions: `fn(blocks)`, 128 in each block. Tests of a register only write flags.
/// So no results have to be kept apart, and no core can resolve them at rename.
///
/// - In: `[esp + 4]` = blocks, at least 1.
/// - Clobbers: edx, flags.
/// - Memory: none.
/// - Timed: as many instructions per cycle as the core can issue.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn issue(blocks: usize) {
    naked_asm!(
        ".p2align 6",
        "mov edx, [esp + 4]",
        "jmp 2f",
        ".p2align 6, 0xcc",
        "2:",
        ".rept 128",
        "test edx, edx",
        ".endr",
        "dec edx",
        "jnz 2b",
        "ret",
        ".ascii \"memgauge-row-end\"",
    )
}

/// Dependent additions: `fn(blocks)`, 128 in each block.
///
/// - In: `[esp + 4]` = blocks, at least 1.
/// - Clobbers: eax, ecx, edx, flags.
/// - Memory: none.
/// - Timed: one addition per cycle.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn add(blocks: usize) {
    naked_asm!(
        ".p2align 6",
        "mov edx, [esp + 4]",
        "xor eax, eax",
        "mov ecx, 3",
        "jmp 2f",
        ".p2align 6, 0xcc",
        "2:",
        ".rept 128",
        "add eax, ecx",
        ".endr",
        "dec edx",
        "jnz 2b",
        "ret",
        ".ascii \"memgauge-row-end\"",
    )
}
