//! The vector rows of x86 and x86-64: SSE2, AVX, AVX2, AVX-512F.

use super::doubles::{double_rows, four};
use super::offsets::{every_16, every_32, every_64, every_128, every_256};
use super::rows::{
    copy_rows, down, each, load_rows, moves, non_temporal_loads, store_rows, sums, touches,
    unrolled_rows, up, vector_rows, within,
};
use super::{LIBC, STRINGS, WHOLE_LINES, ZERO};
use crate::contract::StreamRows;
use crate::native::skeleton::{backward, chunks, forward, line_pairs, lines, unrolled, x86};
use crate::row::Row;

/// Defines all rows of a module. The rows that differ between sets are arguments.
macro_rules! rows {
    ($($field:ident: $row:expr),* $(,)?) => {
        /// A row for every contract.
        pub(crate) const ROWS: StreamRows = StreamRows {
            $($field: $row,)*
            read: Row::Code(read),
            read_prefetch: Row::Code(read_prefetch),
            read_4: Row::Code(read_4),
            read_unroll_64: Row::Code(read_unroll_64),
            read_unroll_128: Row::Code(read_unroll_128),
            read_unroll_256: Row::Code(read_unroll_256),
            write: Row::Code(write),
            write_nt: Row::Code(write_nt),
            write_unroll_128: Row::Code(write_unroll_128),
            write_rep: STRINGS,
            write_zero: ZERO,
            write_libc: LIBC,
            update: Row::Code(update),
            copy: Row::Code(copy),
            copy_nt: Row::Code(copy_nt),
            copy_unroll_128: Row::Code(copy_unroll_128),
            copy_rep: STRINGS,
            copy_libc: LIBC,
            scale: Row::Code(scale),
            scale_nt: Row::Code(scale_nt),
            add: Row::Code(add),
            add_nt: Row::Code(add_nt),
            triad: Row::Code(triad),
            triad_nt: Row::Code(triad_nt),
            read_reverse: Row::Code(read_reverse),
            write_reverse: Row::Code(write_reverse),
            copy_reverse: Row::Code(copy_reverse),
            write_nt_reverse: Row::Code(write_nt_reverse),
            copy_nt_reverse: Row::Code(copy_nt_reverse),
            read_lines: Row::Code(read_lines),
            write_lines: Row::Code(write_lines),
            copy_lines: Row::Code(copy_lines),
            write_nt_lines: Row::Code(write_nt_lines),
            copy_nt_lines: Row::Code(copy_nt_lines),
            read_chunks: Row::Code(read_chunks),
            write_chunks: Row::Code(write_chunks),
            copy_chunks: Row::Code(copy_chunks),
            write_nt_chunks: Row::Code(write_nt_chunks),
            copy_nt_chunks: Row::Code(copy_nt_chunks),
        };
    };
}

/// Reason why AVX has no non-temporal loads.
const NEEDS_AVX2: &str = "256-bit non-temporal loads need AVX2";

/// SSE2: 128 bits.
pub(crate) mod sse2 {
    use super::*;

    vector_rows! {
        width: "16", register: "xmm", accesses: every_16!(), groups: every_64!(),
        line: "0,1,2,3", lines: "0,1,2,3,4,5,6,7", load: "movdqa", store: "movdqa", nt: "movntdq",
        pattern: concat!("movq xmm0, qword ptr ", x86!(pattern), "\npunpcklqdq xmm0, xmm0"),
        xor: ("movdqa xmm\\i, ", "\npxor xmm\\i, xmm0"), leave: "",
    }
    double_rows! {
        width: "16", groups: every_64!(),
        pattern: concat!("movq xmm0, qword ptr ", x86!(pattern), "\npunpcklqdq xmm0, xmm0"),
        load: "movapd xmm\\i, ", mul: ("movapd xmm\\i, ", "\nmulpd xmm\\i, xmm0"), add: "addpd xmm\\i, ",
        store: ("movapd ", ", xmm\\i"), nt: ("movntpd ", ", xmm\\i"), leave: "",
    }
    non_temporal_loads! { "16", "xmm", every_16!(), "0,1,2,3", "movntdqa", "" }
    touches! { "xmm", "movdqa", "" }
    sums! { "16", every_64!(), "pxor xmm\\i, xmm\\i", "paddq xmm\\i, ", concat!(
        "paddq xmm0, xmm1\npaddq xmm2, xmm3\npaddq xmm0, xmm2\npshufd xmm1, xmm0, 0x4e\npaddq xmm0, xmm1\n",
        x86!(return low half of xmm0),
    ) }

    fn sse41() -> bool {
        is_x86_feature_detected!("sse4.1")
    }

    rows! {
        read_sum: Row::Code(read_sum),
        read_nt: Row::Needs(sse41, "SSE4.1", read_nt),
        read_nta: Row::Needs(sse41, "SSE4.1", read_nta),
        read_nt_reverse: Row::Needs(sse41, "SSE4.1", read_nt_reverse),
        read_nt_lines: Row::Needs(sse41, "SSE4.1", read_nt_lines),
        read_nt_chunks: Row::Needs(sse41, "SSE4.1", read_nt_chunks),
        touch: Row::Code(touch),
        touch_prefetch: Row::Code(touch_prefetch),
    }
}

/// AVX: 256 bits, floating-point instructions only.
pub(crate) mod avx {
    use super::*;

    vector_rows! {
        width: "32", register: "ymm", accesses: every_32!(), groups: every_128!(),
        line: "0,1", lines: "0,1,2,3", load: "vmovaps", store: "vmovaps", nt: "vmovntps",
        pattern: concat!("vbroadcastsd ymm0, qword ptr ", x86!(pattern)),
        xor: ("vxorps ymm\\i, ymm0, ", ""), leave: "vzeroupper",
    }
    double_rows! {
        width: "32", groups: every_128!(), pattern: concat!("vbroadcastsd ymm0, qword ptr ", x86!(pattern)),
        load: "vmovapd ymm\\i, ", mul: ("vmulpd ymm\\i, ymm0, ", ""), add: "vaddpd ymm\\i, ymm\\i, ",
        store: ("vmovapd ", ", ymm\\i"), nt: ("vmovntpd ", ", ymm\\i"), leave: "vzeroupper",
    }
    touches! { "ymm", "vmovaps", "vzeroupper" }

    rows! {
        read_sum: Row::Unsupported("256-bit integer additions need AVX2"),
        read_nt: Row::Unsupported(NEEDS_AVX2),
        read_nta: Row::Unsupported(NEEDS_AVX2),
        read_nt_reverse: Row::Unsupported(NEEDS_AVX2),
        read_nt_lines: Row::Unsupported(NEEDS_AVX2),
        read_nt_chunks: Row::Unsupported(NEEDS_AVX2),
        touch: Row::Code(touch),
        touch_prefetch: Row::Code(touch_prefetch),
    }
}

/// AVX2: 256 bits.
pub(crate) mod avx2 {
    use super::avx::{add, add_nt, scale, scale_nt, triad, triad_nt};
    use super::*;

    vector_rows! {
        width: "32", register: "ymm", accesses: every_32!(), groups: every_128!(),
        line: "0,1", lines: "0,1,2,3", load: "vmovdqa", store: "vmovdqa", nt: "vmovntdq",
        pattern: concat!("vpbroadcastq ymm0, qword ptr ", x86!(pattern)),
        xor: ("vpxor ymm\\i, ymm0, ", ""), leave: "vzeroupper",
    }
    non_temporal_loads! { "32", "ymm", every_32!(), "0,1", "vmovntdqa", "vzeroupper" }
    touches! { "ymm", "vmovdqa", "vzeroupper" }
    sums! { "32", every_128!(), "vpxor xmm\\i, xmm\\i, xmm\\i", "vpaddq ymm\\i, ymm\\i, ", concat!(
        "vpaddq ymm0, ymm0, ymm1\nvpaddq ymm2, ymm2, ymm3\nvpaddq ymm0, ymm0, ymm2\n\
         vextracti128 xmm1, ymm0, 1\n",
        "vpaddq xmm0, xmm0, xmm1\nvpshufd xmm1, xmm0, 0x4e\nvpaddq xmm0, xmm0, xmm1\n",
        x86!(return low half of xmm0 by vmovq), "vzeroupper\n",
    ) }

    rows! {
        read_sum: Row::Code(read_sum),
        read_nt: Row::Code(read_nt),
        read_nta: Row::Code(read_nta),
        read_nt_reverse: Row::Code(read_nt_reverse),
        read_nt_lines: Row::Code(read_nt_lines),
        read_nt_chunks: Row::Code(read_nt_chunks),
        touch: Row::Code(touch),
        touch_prefetch: Row::Code(touch_prefetch),
    }
}

/// AVX-512F: 512 bits, so that a register is a line.
pub(crate) mod avx512 {
    use super::*;

    vector_rows! {
        width: "64", register: "zmm", accesses: every_64!(), groups: every_256!(),
        line: "0", lines: "0,1", load: "vmovdqa64", store: "vmovdqa64", nt: "vmovntdq",
        pattern: concat!("vpbroadcastq zmm0, qword ptr ", x86!(pattern)),
        xor: ("vpxorq zmm\\i, zmm0, ", ""), leave: "vzeroupper",
    }
    double_rows! {
        width: "64", groups: every_256!(), pattern: concat!("vbroadcastsd zmm0, qword ptr ", x86!(pattern)),
        load: "vmovapd zmm\\i, ", mul: ("vmulpd zmm\\i, zmm0, ", ""), add: "vaddpd zmm\\i, zmm\\i, ",
        store: ("vmovapd ", ", zmm\\i"), nt: ("vmovntpd ", ", zmm\\i"), leave: "vzeroupper",
    }
    non_temporal_loads! { "64", "zmm", every_64!(), "0", "vmovntdqa", "vzeroupper" }
    sums! { "64", every_256!(), "vpxor xmm\\i, xmm\\i, xmm\\i", "vpaddq zmm\\i, zmm\\i, ", concat!(
        "vpaddq zmm0, zmm0, zmm1\nvpaddq zmm2, zmm2, zmm3\nvpaddq zmm0, zmm0, zmm2\n\
         vextracti64x4 ymm1, zmm0, 1\n",
        "vpaddq ymm0, ymm0, ymm1\nvextracti128 xmm1, ymm0, 1\nvpaddq xmm0, xmm0, xmm1\n",
        "vpshufd xmm1, xmm0, 0x4e\nvpaddq xmm0, xmm0, xmm1\n",
        x86!(return low half of xmm0 by vmovq), "vzeroupper\n",
    ) }

    rows! {
        read_sum: Row::Code(read_sum),
        read_nt: Row::Code(read_nt),
        read_nta: Row::Code(read_nta),
        read_nt_reverse: Row::Code(read_nt_reverse),
        read_nt_lines: Row::Code(read_nt_lines),
        read_nt_chunks: Row::Code(read_nt_chunks),
        touch: WHOLE_LINES,
        touch_prefetch: WHOLE_LINES,
    }
}
