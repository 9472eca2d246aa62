//! The rows of the general registers of x86, doubles in the low halves of the vector registers.

use super::skeleton::{backward, chunks, forward, lines, strings, unrolled, x86};
use crate::contract::StreamRows;
use crate::libc;
use crate::row::Row;
use crate::x86_shared::doubles::{double_rows, four};
use crate::x86_shared::offsets::{every_4, every_8, every_32, every_64};

/// All words of a line.
macro_rules! words {
    ($text:literal) => {
        concat!(
            ".irp i, 0,4,8,12,16,20,24,28,32,36,40,44,48,52,56,60\n",
            $text,
            "\n.endr"
        )
    };
}

/// All pairs of words of a line.
macro_rules! pairs {
    ($text:literal) => {
        concat!(".irp i, 0,8,16,24,32,40,48,56\n", $text, "\n.endr")
    };
}

forward! {
    /// Loads.
    read { start: "", turn: "", each: "mov ebx, [eax + \\d]", at: every_4!(), end: "" }
}
forward! {
    /// Loads, added up in a pair of registers.
    read_sum {
        start: "xor ebx, ebx\nxor edi, edi",
        turn: "",
        each: "add ebx, [eax + \\d]\nadc edi, [eax + \\d + 4]",
        at: every_8!(),
        end: "mov [ebp + 40], ebx\nmov [ebp + 44], edi",
    }
}
forward! {
    /// Loads; each line is prefetched.
    read_prefetch {
        start: x86!(get distance),
        turn: "",
        each: concat!("prefetcht0 [eax + ebp + \\d]\n", words!("mov ebx, [eax + \\d + \\i]")),
        at: every_64!(),
        end: "",
    }
}
forward! {
    /// Loads from four streams in turn.
    read_4 {
        start: "",
        turn: x86!(get second),
        each: concat!(
            "mov ebp, [eax + \\d]\nmov ebp, [ebx + \\d]\n",
            "mov ebp, [eax + 2 * edi + \\d]\nmov ebp, [ebx + 2 * edi + \\d]",
        ),
        at: every_4!(),
        end: "",
    }
}
unrolled! { 64,
    /// Loads of one line per iteration.
    read_unroll_64 { start: "", turn: "", each: words!("mov ebx, [eax + \\i]"), at: "0", end: "" }
}
unrolled! { 128,
    /// Loads of two lines per iteration.
    read_unroll_128 { start: "", turn: "", each: words!("mov ebx, [eax + \\d + \\i]"), at: "0,64", end: "" }
}
unrolled! { 256,
    /// Loads of four lines per iteration.
    read_unroll_256 { start: "", turn: "", each: words!("mov ebx, [eax + \\d + \\i]"),
        at: "0,64,128,192", end: "" }
}
forward! {
    /// One load from each line.
    touch { start: "", turn: "", each: "mov ebx, [eax + \\d]", at: every_64!(), end: "" }
}
forward! {
    /// One load from each line, and lines are prefetched.
    touch_prefetch {
        start: x86!(get distance),
        turn: "",
        each: "prefetcht0 [eax + ebp + \\d]\nmov ebx, [eax + \\d]",
        at: every_64!(),
        end: "",
    }
}
forward! {
    /// Stores.
    write {
        start: "mov ebx, [ebp + 32]\nmov ebp, [ebp + 36]",
        turn: "",
        each: "mov [eax + \\d], ebx\nmov [eax + \\d + 4], ebp",
        at: every_8!(),
        end: "",
    }
}
forward! {
    /// Non-temporal stores.
    write_nt {
        start: "mov ebx, [ebp + 32]\nmov ebp, [ebp + 36]",
        turn: "",
        each: "movnti [eax + \\d], ebx\nmovnti [eax + \\d + 4], ebp",
        at: every_8!(),
        end: "sfence",
    }
}
unrolled! { 128,
    /// Stores of two lines per iteration.
    write_unroll_128 {
        start: "mov ebx, [ebp + 32]\nmov ebp, [ebp + 36]",
        turn: "",
        each: pairs!("mov [eax + \\d + \\i], ebx\nmov [eax + \\d + \\i + 4], ebp"),
        at: "0,64",
        end: "",
    }
}
strings! {
    /// `rep stosb`.
    write_rep { start: "mov eax, [esi + 32]", run: "rep stosb" }
}
forward! {
    /// `clzero`: zeroes the line that `eax` points to, like a non-temporal store (AMD APM vol. 3).
    /// After the last line `eax` is back at the block's start.
    write_zero {
        start: "",
        turn: "mov ebx, eax",
        each: "clzero\nlea eax, [ebx + \\d]",
        at: "64,128,192,256,320,384,448,0",
        end: "sfence",
    }
}
forward! {
    /// Loads, exclusive or, and stores.
    update {
        start: "mov ebx, [ebp + 32]\nmov ebp, [ebp + 36]",
        turn: "",
        each: concat!(
            "mov edi, [eax + \\d]\nxor edi, ebx\nmov [eax + \\d], edi\n",
            "mov edi, [eax + \\d + 4]\nxor edi, ebp\nmov [eax + \\d + 4], edi",
        ),
        at: every_8!(),
        end: "",
    }
}
forward! {
    /// Loads and stores.
    copy {
        start: "",
        turn: x86!(get second),
        each: "mov ebp, [eax + \\d]\nmov [ebx + \\d], ebp",
        at: every_4!(),
        end: "",
    }
}
forward! {
    /// Loads and non-temporal stores.
    copy_nt {
        start: "",
        turn: x86!(get second),
        each: "mov ebp, [eax + \\d]\nmovnti [ebx + \\d], ebp",
        at: every_4!(),
        end: "sfence",
    }
}
unrolled! { 128,
    /// Loads and stores of two lines per iteration.
    copy_unroll_128 {
        start: "",
        turn: x86!(get second),
        each: words!("mov ebp, [eax + \\d + \\i]\nmov [ebx + \\d + \\i], ebp"),
        at: "0,64",
        end: "",
    }
}
strings! {
    /// `rep movsb`.
    copy_rep { start: "mov eax, [esi + 4]", run: "mov esi, edi\nadd edi, eax\nrep movsb\nmov edi, esi" }
}
backward! {
    /// Loads.
    read_reverse { start: "", turn: "", each: "mov ebx, [eax - \\d - 4]", at: every_4!(), end: "" }
}
backward! {
    /// Stores.
    write_reverse {
        start: "mov ebx, [ebp + 32]\nmov ebp, [ebp + 36]",
        turn: "",
        each: "mov [eax - \\d - 4], ebp\nmov [eax - \\d - 8], ebx",
        at: every_8!(),
        end: "",
    }
}
backward! {
    /// Non-temporal stores.
    write_nt_reverse {
        start: "mov ebx, [ebp + 32]\nmov ebp, [ebp + 36]",
        turn: "",
        each: "movnti [eax - \\d - 4], ebp\nmovnti [eax - \\d - 8], ebx",
        at: every_8!(),
        end: "sfence",
    }
}
backward! {
    /// Loads and stores.
    copy_reverse {
        start: "",
        turn: x86!(get second),
        each: "mov ebp, [eax - \\d - 4]\nmov [ebx - \\d - 4], ebp",
        at: every_4!(),
        end: "",
    }
}
backward! {
    /// Loads and non-temporal stores.
    copy_nt_reverse {
        start: "",
        turn: x86!(get second),
        each: "mov ebp, [eax - \\d - 4]\nmovnti [ebx - \\d - 4], ebp",
        at: every_4!(),
        end: "sfence",
    }
}
lines! {
    /// Loads.
    read_lines { start: "", each: words!("mov ebp, [esi + 8 * \\l + \\i]"), end: "" }
}
lines! {
    /// Stores.
    write_lines {
        start: "mov edi, [ebp + 32]\nmov edx, [ebp + 36]",
        each: concat!(x86!(get line), pairs!("mov [\\l + \\i], edi\nmov [\\l + \\i + 4], edx")),
        end: "",
    }
}
lines! {
    /// Non-temporal stores.
    write_nt_lines {
        start: "mov edi, [ebp + 32]\nmov edx, [ebp + 36]",
        each: concat!(x86!(get line), pairs!("movnti [\\l + \\i], edi\nmovnti [\\l + \\i + 4], edx")),
        end: "sfence",
    }
}
lines! {
    /// Loads and stores.
    copy_lines {
        start: x86!(get second stream),
        each: words!("mov ebp, [esi + 8 * \\l + \\i]\nmov [edx + 8 * \\l + \\i], ebp"),
        end: "",
    }
}
lines! {
    /// Loads and non-temporal stores.
    copy_nt_lines {
        start: x86!(get second stream),
        each: words!("mov ebp, [esi + 8 * \\l + \\i]\nmovnti [edx + 8 * \\l + \\i], ebp"),
        end: "sfence",
    }
}
chunks! {
    /// Loads.
    read_chunks { start: "", turn: "", each: "mov ebp, [eax + \\d]", at: every_4!(), end: "" }
}
chunks! {
    /// Stores.
    write_chunks {
        start: "mov edi, [ebp + 32]\nmov edx, [ebp + 36]",
        turn: "",
        each: "mov [eax + \\d], edi\nmov [eax + \\d + 4], edx",
        at: every_8!(),
        end: "",
    }
}
chunks! {
    /// Non-temporal stores.
    write_nt_chunks {
        start: "mov edi, [ebp + 32]\nmov edx, [ebp + 36]",
        turn: "",
        each: "movnti [eax + \\d], edi\nmovnti [eax + \\d + 4], edx",
        at: every_8!(),
        end: "sfence",
    }
}
chunks! {
    /// Loads and stores.
    copy_chunks {
        start: "",
        turn: x86!(get chunk second),
        each: "mov ebp, [eax + \\d]\nmov [edx + \\d], ebp",
        at: every_4!(),
        end: "",
    }
}
chunks! {
    /// Loads and non-temporal stores.
    copy_nt_chunks {
        start: "",
        turn: x86!(get chunk second),
        each: "mov ebp, [eax + \\d]\nmovnti [edx + \\d], ebp",
        at: every_4!(),
        end: "sfence",
    }
}

double_rows! {
    rows scale add triad {
        "8", every_32!(), "movsd xmm0, qword ptr [ebp + 32]", "movsd xmm\\i, qword ptr ",
        "movsd xmm\\i, qword ptr ", "\nmulsd xmm\\i, xmm0", "addsd xmm\\i, qword ptr ", ""
    } "movsd qword ptr ", ", xmm\\i"
}

/// Reason why there are no non-temporal loads.
const NO_LOADS: Row = Row::Unsupported("x86 has no non-temporal loads to general registers");
/// Reason why there are no non-temporal stores of doubles.
const NO_DOUBLES: Row = Row::Unsupported("32-bit x86 has no non-temporal store of one double");

fn sse2() -> bool {
    is_x86_feature_detected!("sse2")
}

/// True if the processor has `clzero` (AMD APM vol. 3, CPUID 8000_0008 EBX bit 0).
fn clzero() -> bool {
    raw_cpuid::CpuId::new()
        .get_processor_capacity_feature_info()
        .is_some_and(|info| info.has_cl_zero())
}

/// A row for every contract.
pub(crate) const ROWS: StreamRows = StreamRows {
    read: Row::Code(read),
    read_sum: Row::Code(read_sum),
    read_nt: NO_LOADS,
    read_nta: NO_LOADS,
    read_prefetch: Row::Needs(sse2, "SSE2", read_prefetch),
    read_4: Row::Code(read_4),
    read_unroll_64: Row::Code(read_unroll_64),
    read_unroll_128: Row::Code(read_unroll_128),
    read_unroll_256: Row::Code(read_unroll_256),
    touch: Row::Code(touch),
    touch_prefetch: Row::Needs(sse2, "SSE2", touch_prefetch),
    write: Row::Code(write),
    write_nt: Row::Needs(sse2, "SSE2", write_nt),
    write_unroll_128: Row::Code(write_unroll_128),
    write_rep: Row::Code(write_rep),
    write_zero: Row::Needs(clzero, "CLZERO", write_zero),
    write_libc: Row::ReferenceKernel(libc::set),
    update: Row::Code(update),
    copy: Row::Code(copy),
    copy_nt: Row::Needs(sse2, "SSE2", copy_nt),
    copy_unroll_128: Row::Code(copy_unroll_128),
    copy_rep: Row::Code(copy_rep),
    copy_libc: Row::ReferenceKernel(libc::copy),
    scale: Row::Needs(sse2, "SSE2", scale),
    scale_nt: NO_DOUBLES,
    add: Row::Needs(sse2, "SSE2", add),
    add_nt: NO_DOUBLES,
    triad: Row::Needs(sse2, "SSE2", triad),
    triad_nt: NO_DOUBLES,
    read_reverse: Row::Code(read_reverse),
    write_reverse: Row::Code(write_reverse),
    copy_reverse: Row::Code(copy_reverse),
    read_nt_reverse: NO_LOADS,
    write_nt_reverse: Row::Needs(sse2, "SSE2", write_nt_reverse),
    copy_nt_reverse: Row::Needs(sse2, "SSE2", copy_nt_reverse),
    read_lines: Row::Code(read_lines),
    write_lines: Row::Code(write_lines),
    copy_lines: Row::Code(copy_lines),
    read_nt_lines: NO_LOADS,
    write_nt_lines: Row::Needs(sse2, "SSE2", write_nt_lines),
    copy_nt_lines: Row::Needs(sse2, "SSE2", copy_nt_lines),
    read_chunks: Row::Code(read_chunks),
    write_chunks: Row::Code(write_chunks),
    copy_chunks: Row::Code(copy_chunks),
    read_nt_chunks: NO_LOADS,
    write_nt_chunks: Row::Needs(sse2, "SSE2", write_nt_chunks),
    copy_nt_chunks: Row::Needs(sse2, "SSE2", copy_nt_chunks),
};
