//! The rows of the general registers of x86-64, doubles in the low halves of the vector registers.

use super::skeleton::{backward, chunks, forward, line_pairs, lines, strings, unrolled, x86};
use crate::contract::StreamRows;
use crate::libc;
use crate::row::Row;
use crate::x86_shared::doubles::{double_rows, four};
use crate::x86_shared::offsets::{every_8, every_16, every_32, every_64};

/// Two loads and two stores: `$load!(offset)`, `$store!(offset)` are the addresses.
macro_rules! pair {
    ($store:literal, $from:literal, $to:literal) => {
        concat!(
            "mov r8, [",
            $from,
            "]\nmov r11, [",
            $from,
            " + 8]\n",
            $store,
            " [",
            $to,
            "], r8\n",
            $store,
            " [",
            $to,
            " + 8], r11\n"
        )
    };
}

forward! {
    /// Loads.
    read { start: "", turn: "", each: "mov r8, [rax + \\d]", at: every_8!(), end: "" }
}
forward! {
    /// Loads that are added up in four registers.
    read_sum {
        start: "xor r8d, r8d\nxor r9d, r9d\nxor r10d, r10d\nxor r11d, r11d",
        turn: "",
        each: "add r8, [rax + \\d]\nadd r9, [rax + \\d + 8]\nadd r10, [rax + \\d + 16]\n\
             add r11, [rax + \\d + 24]",
        at: every_32!(),
        end: "add r8, r9\nadd r10, r11\nadd r8, r10\nmov [rdi + 72], r8",
    }
}
forward! {
    /// Loads; each line is prefetched.
    read_prefetch {
        start: x86!(get distance),
        turn: "",
        each: "prefetcht0 [rax + r11 + \\d]\n.irp i, 0,8,16,24,32,40,48,56\nmov r8, [rax + \\d + \\i]\n.endr",
        at: every_64!(),
        end: "",
    }
}
forward! {
    /// Loads from four streams in turn.
    read_4 {
        start: "",
        turn: x86!(get second),
        each: "mov r8, [rax + \\d]\nmov r8, [r9 + \\d]\nmov r8, [rax + 2 * r10 + \\d]\n\
             mov r8, [r9 + 2 * r10 + \\d]",
        at: every_8!(),
        end: "",
    }
}
unrolled! { 64,
    /// Loads of one line per iteration.
    read_unroll_64 { start: "", turn: "", each: "mov r8, [rax + \\d]", at: "0,8,16,24,32,40,48,56", end: "" }
}
unrolled! { 128,
    /// Loads of two lines per iteration.
    read_unroll_128 {
        start: "",
        turn: "",
        each: ".irp i, 0,8,16,24,32,40,48,56\nmov r8, [rax + \\d + \\i]\n.endr",
        at: "0,64",
        end: "",
    }
}
unrolled! { 256,
    /// Loads of four lines per iteration.
    read_unroll_256 {
        start: "",
        turn: "",
        each: ".irp i, 0,8,16,24,32,40,48,56\nmov r8, [rax + \\d + \\i]\n.endr",
        at: "0,64,128,192",
        end: "",
    }
}
forward! {
    /// One load from each line.
    touch { start: "", turn: "", each: "mov r8, [rax + \\d]", at: every_64!(), end: "" }
}
forward! {
    /// One load from each line, and lines are prefetched.
    touch_prefetch {
        start: x86!(get distance),
        turn: "",
        each: "prefetcht0 [rax + r11 + \\d]\nmov r8, [rax + \\d]",
        at: every_64!(),
        end: "",
    }
}
forward! {
    /// Stores.
    write { start: "mov r8, [rdi + 64]", turn: "", each: "mov [rax + \\d], r8", at: every_8!(), end: "" }
}
forward! {
    /// Non-temporal stores.
    write_nt { start: "mov r8, [rdi + 64]", turn: "", each: "movnti [rax + \\d], r8",
        at: every_8!(), end: "sfence" }
}
unrolled! { 128,
    /// Stores of two lines per iteration.
    write_unroll_128 {
        start: "mov r8, [rdi + 64]",
        turn: "",
        each: ".irp i, 0,8,16,24,32,40,48,56\nmov [rax + \\d + \\i], r8\n.endr",
        at: "0,64",
        end: "",
    }
}
strings! {
    /// `rep stosb`.
    write_rep { start: "mov rax, [r8 + 64]", run: "rep stosb" }
}
forward! {
    /// `clzero`: zeroes the line that `rax` points to, like a non-temporal store (AMD APM vol. 3).
    /// After the last line `rax` is back at the block's start.
    write_zero {
        start: "",
        turn: "mov r9, rax",
        each: "clzero\nlea rax, [r9 + \\d]",
        at: "64,128,192,256,320,384,448,0",
        end: "sfence",
    }
}
forward! {
    /// Loads, exclusive or, and stores.
    update {
        start: "mov r8, [rdi + 64]",
        turn: "",
        each: concat!(
            "mov r9, [rax + \\d]\nmov r11, [rax + \\d + 8]\nxor r9, r8\nxor r11, r8\n",
            "mov [rax + \\d], r9\nmov [rax + \\d + 8], r11",
        ),
        at: every_16!(),
        end: "",
    }
}
forward! {
    /// Loads and stores.
    copy { start: "", turn: x86!(get second), each: pair!("mov", "rax + \\d", "r9 + \\d"),
        at: every_16!(), end: "" }
}
forward! {
    /// Loads and non-temporal stores.
    copy_nt {
        start: "",
        turn: x86!(get second),
        each: pair!("movnti", "rax + \\d", "r9 + \\d"),
        at: every_16!(),
        end: "sfence",
    }
}
unrolled! { 128,
    /// Loads and stores of two lines per iteration.
    copy_unroll_128 {
        start: "",
        turn: x86!(get second),
        each: pair!("mov", "rax + \\d", "r9 + \\d"),
        at: "0,16,32,48,64,80,96,112",
        end: "",
    }
}
strings! {
    /// `rep movsb`.
    copy_rep { start: "mov rdx, [r8 + 8]", run: "mov rsi, rdi\nadd rdi, rdx\nrep movsb\nmov rdi, rsi" }
}
backward! {
    /// Loads.
    read_reverse { start: "", turn: "", each: "mov r8, [rax - \\d - 8]", at: every_8!(), end: "" }
}
backward! {
    /// Stores.
    write_reverse { start: "mov r8, [rdi + 64]", turn: "", each: "mov [rax - \\d - 8], r8",
        at: every_8!(), end: "" }
}
backward! {
    /// Non-temporal stores.
    write_nt_reverse { start: "mov r8, [rdi + 64]", turn: "", each: "movnti [rax - \\d - 8], r8",
        at: every_8!(), end: "sfence" }
}
backward! {
    /// Loads and stores.
    copy_reverse {
        start: "",
        turn: x86!(get second),
        each: concat!(
            "mov r8, [rax - \\d - 8]\nmov r11, [rax - \\d - 16]\n",
            "mov [r9 - \\d - 8], r8\nmov [r9 - \\d - 16], r11",
        ),
        at: every_16!(),
        end: "",
    }
}
backward! {
    /// Loads and non-temporal stores.
    copy_nt_reverse {
        start: "",
        turn: x86!(get second),
        each: concat!(
            "mov r8, [rax - \\d - 8]\nmov r11, [rax - \\d - 16]\n",
            "movnti [r9 - \\d - 8], r8\nmovnti [r9 - \\d - 16], r11",
        ),
        at: every_16!(),
        end: "sfence",
    }
}
line_pairs! {
    /// Loads.
    read_lines {
        start: "",
        each: concat!(".irp i, 0,8,16,24,32,40,48,56\nmov r11, [", x86!(line), " + \\i]\n.endr"),
        end: "",
    }
}
lines! {
    /// Stores.
    write_lines {
        start: "mov r11, [rdi + 64]",
        each: concat!(x86!(get line), ".irp i, 0,8,16,24,32,40,48,56\nmov [\\l + \\i], r11\n.endr"),
        end: "",
    }
}
lines! {
    /// Non-temporal stores.
    write_nt_lines {
        start: "mov r11, [rdi + 64]",
        each: concat!(x86!(get line), ".irp i, 0,8,16,24,32,40,48,56\nmovnti [\\l + \\i], r11\n.endr"),
        end: "sfence",
    }
}
lines! {
    /// Loads and stores.
    copy_lines {
        start: x86!(get second stream),
        each: concat!(
            ".irp i, 0,8,16,24,32,40,48,56\nmov r11, [", x86!(line),
            " + \\i]\nmov [", x86!(second line), " + \\i], r11\n\
                 .endr",
        ),
        end: "",
    }
}
lines! {
    /// Loads and non-temporal stores.
    copy_nt_lines {
        start: x86!(get second stream),
        each: concat!(
            ".irp i, 0,8,16,24,32,40,48,56\nmov r11, [", x86!(line),
            " + \\i]\nmovnti [", x86!(second line), " + \\i], r11\n\
                 .endr",
        ),
        end: "sfence",
    }
}
chunks! {
    /// Loads.
    read_chunks { start: "", turn: "", each: "mov r8, [rax + \\d]", at: every_8!(), end: "" }
}
chunks! {
    /// Stores.
    write_chunks { start: "mov r8, [rdi + 64]", turn: "", each: "mov [rax + \\d], r8",
        at: every_8!(), end: "" }
}
chunks! {
    /// Non-temporal stores.
    write_nt_chunks { start: "mov r8, [rdi + 64]", turn: "", each: "movnti [rax + \\d], r8",
        at: every_8!(), end: "sfence" }
}
chunks! {
    /// Loads and stores.
    copy_chunks {
        start: "",
        turn: x86!(get chunk second),
        each: pair!("mov", "rax + \\d", "r9 + \\d"),
        at: every_16!(),
        end: "",
    }
}
chunks! {
    /// Loads and non-temporal stores.
    copy_nt_chunks {
        start: "",
        turn: x86!(get chunk second),
        each: pair!("movnti", "rax + \\d", "r9 + \\d"),
        at: every_16!(),
        end: "sfence",
    }
}

double_rows! {
    width: "8", groups: every_32!(), pattern: "movsd xmm0, qword ptr [rdi + 64]",
    load: "movsd xmm\\i, qword ptr ", mul: ("movsd xmm\\i, qword ptr ", "\nmulsd xmm\\i, xmm0"),
    add: "addsd xmm\\i, qword ptr ", store: ("movsd qword ptr ", ", xmm\\i"),
    nt: ("movq r11, xmm\\i\nmovnti ", ", r11"), leave: "",
}

/// Reason why there are no non-temporal loads.
const NO_LOADS: Row = Row::Unsupported("x86 has no non-temporal loads to general registers");

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
    read_prefetch: Row::Code(read_prefetch),
    read_4: Row::Code(read_4),
    read_unroll_64: Row::Code(read_unroll_64),
    read_unroll_128: Row::Code(read_unroll_128),
    read_unroll_256: Row::Code(read_unroll_256),
    touch: Row::Code(touch),
    touch_prefetch: Row::Code(touch_prefetch),
    write: Row::Code(write),
    write_nt: Row::Code(write_nt),
    write_unroll_128: Row::Code(write_unroll_128),
    write_rep: Row::Code(write_rep),
    write_zero: Row::Needs(clzero, "CLZERO", write_zero),
    write_libc: Row::ReferenceKernel(libc::set),
    update: Row::Code(update),
    copy: Row::Code(copy),
    copy_nt: Row::Code(copy_nt),
    copy_unroll_128: Row::Code(copy_unroll_128),
    copy_rep: Row::Code(copy_rep),
    copy_libc: Row::ReferenceKernel(libc::copy),
    scale: Row::Code(scale),
    scale_nt: Row::Code(scale_nt),
    add: Row::Code(add),
    add_nt: Row::Code(add_nt),
    triad: Row::Code(triad),
    triad_nt: Row::Code(triad_nt),
    read_reverse: Row::Code(read_reverse),
    write_reverse: Row::Code(write_reverse),
    copy_reverse: Row::Code(copy_reverse),
    read_nt_reverse: NO_LOADS,
    write_nt_reverse: Row::Code(write_nt_reverse),
    copy_nt_reverse: Row::Code(copy_nt_reverse),
    read_lines: Row::Code(read_lines),
    write_lines: Row::Code(write_lines),
    copy_lines: Row::Code(copy_lines),
    read_nt_lines: NO_LOADS,
    write_nt_lines: Row::Code(write_nt_lines),
    copy_nt_lines: Row::Code(copy_nt_lines),
    read_chunks: Row::Code(read_chunks),
    write_chunks: Row::Code(write_chunks),
    copy_chunks: Row::Code(copy_chunks),
    read_nt_chunks: NO_LOADS,
    write_nt_chunks: Row::Code(write_nt_chunks),
    copy_nt_chunks: Row::Code(copy_nt_chunks),
};
