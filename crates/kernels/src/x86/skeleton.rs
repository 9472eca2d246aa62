//! The loops that all rows of x86 share. A row names its instructions, the skeleton walks.
//!
//! Every loop starts on a line of the instruction cache. The gap before it is jumped over and its
//! filling named here. The assembler's own padding differs with the target processor, and with it
//! the digest would.

use crate::stream_call::StreamCall;
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets in the skeletons and rows.
const _: () = assert!(offset_of!(StreamCall, lead) == 0 && offset_of!(StreamCall, delta) == 4);
const _: () = assert!(offset_of!(StreamCall, window) == 8 && offset_of!(StreamCall, offset) == 12);
const _: () = assert!(offset_of!(StreamCall, blocks) == 16 && offset_of!(StreamCall, table) == 20);
const _: () =
    assert!(offset_of!(StreamCall, distance) == 24 && offset_of!(StreamCall, pattern) == 32);
const _: () = assert!(offset_of!(StreamCall, checksum) == 40);

/// The registers and fields that rows of both x86 architectures name; see the skeletons for who
/// holds what when.
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

/// A streaming kernel: `fn(&mut StreamCall)`, called as C does.
///
/// In: `[esp + 4]` = `StreamCall` (see its fields for the offsets used here). Out: `offset` (and
/// `checksum` where the row has one) in the call. Clobbers: eax, ecx, edx, flags, vector registers
/// 0 to 7; ebx, esi, edi, ebp are put back. Memory: only what the contract says and the table that
/// gives the order, between the loads of the call's fields and the stores to them; orders by a
/// table also load one word of the stack per turn. No fence in the loop. Timed: the loop; entry and
/// exit cost about as much as one mispredicted branch and happen once per call.
///
/// Parts of an order: `enter` turns `eax` = offset and `edx` = length into the state of its turns,
/// `find` finds the block, `step` moves on and wraps, `leave` leaves the offset in `eax`. In a row,
/// `\d` is what `at` lists. `start`, `turn`, `each` and `end` are the row's; in `start` and
/// `end`, `ebp` is the call. `ecx` counts blocks, `esi` is the first stream's start, `edi` the
/// distance between streams.
///
/// The wrap is branch-free as on x86-64.
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

/// From low to high addresses: `eax` is the position in the leading stream, `edx` its end. A row
/// may use ebx and ebp, for the positions in the streams behind it.
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

/// As `forward`, but a turn is this many bytes, a divisor of a block, and `ecx` counts those. `edx`
/// is the last turn's place.
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

/// Blocks in the order of a table: `eax` is the position in the leading stream as in `forward`;
/// `ebx` is the place in the table, whose start and end are on the stack, because a row has to have
/// two registers: edx, ebp, and edi if it has one stream. `ebp` is the call in `start`.
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

/// Lines in the order of a table, eight a turn: `eax` is the place in the table, whose start and
/// end are on the stack. Within `each`, `\l` (ebx) is the line's entry, which counts in units of 8
/// B, so that an address can take it as it is: `x86!(line)`, and for copies `x86!(second line)`
/// from where a row sets `edx`. ebp is free, edx where it is not that, and edi if there is one
/// stream. `ebp` is the call in `start`. Stores have an instruction for each address as on x86-64.
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
// A general register holds no two entries.
pub(crate) use {lines, lines as line_pairs};

/// A string instruction for each run of blocks up to the end of the window: a program would not cut
/// it into pieces, and its start costs tens of cycles.
///
/// In: `[esp + 4]` = `StreamCall`. Out: `offset` in the call. Clobbers: eax, ecx, edx, flags; ebx,
/// esi, edi, ebp are put back. The direction flag is clear, as the convention has it. Timed: the
/// string instructions; the walk around one is a few cycles.
///
/// `edi` is the position in the leading stream, `edx` its start, `ebp` its end, `ebx` the blocks
/// left; in `start`, `esi` is the call; `run` moves `edi` on by `ecx` bytes.
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

/// Instructions that need nothing of each other: `fn(blocks)`, 128 to a block. Tests of a register
/// write flags only, so that there are neither results to keep apart nor any that could be known at
/// rename.
///
/// In: `[esp + 4]` = blocks, at least 1. Clobbers: edx, flags. Memory: none. Timed: as many per
/// cycle as the core can begin.
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

/// Dependent additions: `fn(blocks)`, 128 to a block.
///
/// In: `[esp + 4]` = blocks, at least 1. Clobbers: eax, ecx, edx, flags. Memory: none. Timed: one
/// addition per cycle.
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
