//! The streaming rows of general registers, and of the scalar floating-point registers for doubles.
//!
//! Loads whose values are not used all go to one register. Copies and sums use four registers per
//! group. So loads run ahead of their uses even on cores that execute in order.

use super::skeleton::{advance, align_loop, begin, enter, fill_line, finish, mark, place, stream};

/// Repeats `$each` for `\d` in steps of 8 bytes through a block.
macro_rules! every_8 {
    ($each:expr) => {
        concat!(
            ".irp d,0,8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160,168,176,\
                184,192,200,208,216,224,232,240,248,256,264,272,280,288,296,304,312,320,328,336,\
                344,352,360,368,376,384,392,400,408,416,424,432,440,448,456,464,472,480,488,496,\
                504\n",
            $each, "\n.endr"
        )
    };
}

/// Repeats `$each` for `\d` in steps of 32 bytes through a block.
macro_rules! every_32 {
    ($each:expr) => {
        concat!(
            ".irp d,0,32,64,96,128,160,192,224,256,288,320,352,384,416,448,480\n",
            $each,
            "\n.endr"
        )
    };
}

/// Repeats `$each` for `\d` in steps of 64 bytes through a block.
macro_rules! every_64 {
    ($each:expr) => {
        concat!(".irp d,0,64,128,192,256,320,384,448\n", $each, "\n.endr")
    };
}

/// Repeats `$each` for `\d` in steps of 8 bytes through a line.
macro_rules! line_8 {
    ($each:expr) => {
        concat!(".irp d,0,8,16,24,32,40,48,56\n", $each, "\n.endr")
    };
}

/// Repeats `$each` for `\d` in steps of 8 bytes through two lines.
macro_rules! two_lines_8 {
    ($each:expr) => {
        concat!(
            ".irp d,0,8,16,24,32,40,48,56,64,72,80,88,96,104,112,120\n",
            $each,
            "\n.endr"
        )
    };
}

/// Repeats `$each` for the eight lines of an iteration. `\e` is the offset of the entry, and `a1`
/// the line.
macro_rules! every_line {
    ($each:expr) => {
        concat!(
            ".irp e,0,4,8,12,16,20,24,28\n",
            "lwu a1, \\e(t6)\n",
            "slli a1, a1, 3\n",
            "add a1, a1, t3\n",
            $each,
            "\n.endr"
        )
    };
}

stream! {
    /// 64-bit loads.
    read forward [] {
        start: "",
        body: every_8!("ld a4, \\d(t6)"),
        end: "",
    }
}

stream! {
    /// 64-bit loads, added up in four registers.
    read_sum forward [] {
        start: "li a1, 0\nli a2, 0\nli t4, 0\nli t5, 0",
        body: every_32!(
            "ld a4, \\d(t6)\nld a5, \\d+8(t6)\nld a6, \\d+16(t6)\nld a7, \\d+24(t6)\nadd a1, a1, a4\n\
             add a2, a2, a5\nadd t4, t4, a6\nadd t5, t5, a7"
        ),
        end: "add a1, a1, a2\nadd t4, t4, t5\nadd a1, a1, t4\nsd a1, 72(a0)",
    }
}

stream! {
    /// 64-bit loads. Each line is prefetched by the hint of Zicbop. `prefetch.r` is an ORI to x0,
    /// which processors without Zicbop execute without effect.
    read_prefetch forward [] {
        start: "ld a5, 48(a0)",
        body: concat!(
            "add a2, t6, a5\n",
            every_64!(
                "ori zero, a2, \\d+1\nld a4, \\d(t6)\nld a4, \\d+8(t6)\nld a4, \\d+16(t6)\n\
                 ld a4, \\d+24(t6)\nld a4, \\d+32(t6)\nld a4, \\d+40(t6)\nld a4, \\d+48(t6)\n\
                 ld a4, \\d+56(t6)"
            )
        ),
        end: "",
    }
}

stream! {
    /// 64-bit loads from four streams in turn.
    read_4 forward [] {
        start: "",
        body: concat!(
            "add a1, t6, t4\nadd a2, a1, t4\nadd a5, a2, t4\n",
            every_8!("ld a4, \\d(t6)\nld a4, \\d(a1)\nld a4, \\d(a2)\nld a4, \\d(a5)")
        ),
        end: "",
    }
}

stream! {
    /// 64-bit loads, one line per iteration.
    read_unroll_64 unrolled_64 [] {
        start: "",
        body: line_8!("ld a4, \\d(t6)"),
        end: "",
    }
}

stream! {
    /// 64-bit loads, two lines per iteration.
    read_unroll_128 unrolled_128 [] {
        start: "",
        body: two_lines_8!("ld a4, \\d(t6)"),
        end: "",
    }
}

stream! {
    /// 64-bit loads, four lines per iteration.
    read_unroll_256 unrolled_256 [] {
        start: "",
        body: concat!(two_lines_8!("ld a4, \\d(t6)"), "\n", two_lines_8!("ld a4, \\d + 128(t6)")),
        end: "",
    }
}

stream! {
    /// One 64-bit load per line.
    touch forward [] {
        start: "",
        body: every_64!("ld a4, \\d(t6)"),
        end: "",
    }
}

stream! {
    /// One 64-bit load per line. Each line is prefetched by `prefetch.r`.
    touch_prefetch forward [] {
        start: "ld a5, 48(a0)",
        body: concat!("add a2, t6, a5\n", every_64!("ori zero, a2, \\d+1\nld a4, \\d(t6)")),
        end: "",
    }
}

stream! {
    /// 64-bit stores.
    write forward [] {
        start: "ld a4, 64(a0)",
        body: every_8!("sd a4, \\d(t6)"),
        end: "",
    }
}

stream! {
    /// 64-bit stores, two lines per iteration.
    write_unroll_128 unrolled_128 [] {
        start: "ld a4, 64(a0)",
        body: two_lines_8!("sd a4, \\d(t6)"),
        end: "",
    }
}

stream! {
    /// `cbo.zero` on blocks of 64 bytes.
    write_zero forward [] {
        start: "",
        body: every_64!(".insn i 0x0f, 2, x0, x31, 4\naddi t6, t6, 64"),
        end: "",
    }
}

stream! {
    /// 64-bit loads and stores.
    update forward [] {
        start: "ld t5, 64(a0)",
        body: every_32!(
            "ld a4, \\d(t6)\nld a5, \\d+8(t6)\nld a6, \\d+16(t6)\nld a7, \\d+24(t6)\nxor a4, a4, t5\n\
             xor a5, a5, t5\nxor a6, a6, t5\nxor a7, a7, t5\nsd a4, \\d(t6)\nsd a5, \\d+8(t6)\n\
             sd a6, \\d+16(t6)\nsd a7, \\d+24(t6)"
        ),
        end: "",
    }
}

/// Four 64-bit loads at `\d` from `t6` and as many stores from `a1`.
macro_rules! copy_32 {
    () => {
        "ld a4, \\d(t6)\nld a5, \\d+8(t6)\nld a6, \\d+16(t6)\nld a7, \\d+24(t6)\nsd a4, \\d(a1)\n\
         sd a5, \\d+8(a1)\nsd a6, \\d+16(a1)\nsd a7, \\d+24(a1)"
    };
}

stream! {
    /// 64-bit loads and stores.
    copy forward [] {
        start: "",
        body: concat!("add a1, t6, t4\n", every_32!(copy_32!())),
        end: "",
    }
}

stream! {
    /// 64-bit loads and stores, two lines per iteration.
    copy_unroll_128 unrolled_128 [] {
        start: "",
        body: concat!("add a1, t6, t4\n.irp d,0,32,64,96\n", copy_32!(), "\n.endr"),
        end: "",
    }
}

stream! {
    /// Loads, multiplications and stores of doubles.
    scale forward [] {
        start: "fld fa0, 64(a0)",
        body: concat!(
            "add a1, t6, t4\n",
            every_32!(
                "fld fa1, \\d(t6)\nfld fa2, \\d+8(t6)\nfld fa3, \\d+16(t6)\nfld fa4, \\d+24(t6)\n\
                 fmul.d fa1, fa1, fa0\nfmul.d fa2, fa2, fa0\nfmul.d fa3, fa3, fa0\nfmul.d fa4, fa4, fa0\n\
                 fsd fa1, \\d(a1)\nfsd fa2, \\d+8(a1)\nfsd fa3, \\d+16(a1)\nfsd fa4, \\d+24(a1)"
            )
        ),
        end: "",
    }
}

stream! {
    /// Loads, additions and stores of doubles.
    add forward [] {
        start: "",
        body: concat!(
            "add a1, t6, t4\nadd a2, a1, t4\n",
            every_32!(
                "fld fa1, \\d(t6)\nfld fa2, \\d+8(t6)\nfld fa3, \\d+16(t6)\nfld fa4, \\d+24(t6)\n\
                 fld ft1, \\d(a1)\nfld ft2, \\d+8(a1)\nfld ft3, \\d+16(a1)\nfld ft4, \\d+24(a1)\n\
                 fadd.d fa1, fa1, ft1\nfadd.d fa2, fa2, ft2\nfadd.d fa3, fa3, ft3\nfadd.d fa4, fa4, ft4\n\
                 fsd fa1, \\d(a2)\nfsd fa2, \\d+8(a2)\nfsd fa3, \\d+16(a2)\nfsd fa4, \\d+24(a2)"
            )
        ),
        end: "",
    }
}

stream! {
    /// Loads, multiplications, additions and stores of doubles, rounded after each.
    triad forward [] {
        start: "fld fa0, 64(a0)",
        body: concat!(
            "add a1, t6, t4\nadd a2, a1, t4\n",
            every_32!(
                "fld ft1, \\d(a1)\nfld ft2, \\d+8(a1)\nfld ft3, \\d+16(a1)\nfld ft4, \\d+24(a1)\n\
                 fld fa1, \\d(t6)\nfld fa2, \\d+8(t6)\nfld fa3, \\d+16(t6)\nfld fa4, \\d+24(t6)\n\
                 fmul.d ft1, ft1, fa0\nfmul.d ft2, ft2, fa0\nfmul.d ft3, ft3, fa0\nfmul.d ft4, ft4, fa0\n\
                 fadd.d fa1, fa1, ft1\nfadd.d fa2, fa2, ft2\nfadd.d fa3, fa3, ft3\nfadd.d fa4, fa4, ft4\n\
                 fsd fa1, \\d(a2)\nfsd fa2, \\d+8(a2)\nfsd fa3, \\d+16(a2)\nfsd fa4, \\d+24(a2)"
            )
        ),
        end: "",
    }
}

stream! {
    /// 64-bit loads, downwards.
    read_reverse backward [] {
        start: "",
        body: every_8!("ld a4, -8-\\d(t6)"),
        end: "",
    }
}

stream! {
    /// 64-bit stores, downwards.
    write_reverse backward [] {
        start: "ld a4, 64(a0)",
        body: every_8!("sd a4, -8-\\d(t6)"),
        end: "",
    }
}

stream! {
    /// 64-bit loads and stores, downwards.
    copy_reverse backward [] {
        start: "",
        body: concat!(
            "add a1, t6, t4\n",
            every_32!(
                "ld a4, -8-\\d(t6)\nld a5, -16-\\d(t6)\nld a6, -24-\\d(t6)\nld a7, -32-\\d(t6)\n\
                 sd a4, -8-\\d(a1)\nsd a5, -16-\\d(a1)\nsd a6, -24-\\d(a1)\nsd a7, -32-\\d(a1)"
            )
        ),
        end: "",
    }
}

stream! {
    /// 64-bit loads.
    read_lines lines [] {
        start: "",
        body: every_line!(
            "ld a4, 0(a1)\nld a4, 8(a1)\nld a4, 16(a1)\nld a4, 24(a1)\nld a4, 32(a1)\nld a4, 40(a1)\n\
             ld a4, 48(a1)\nld a4, 56(a1)"
        ),
        end: "",
    }
}

stream! {
    /// 64-bit stores.
    write_lines lines [] {
        start: "ld a4, 64(a0)",
        body: every_line!(
            "sd a4, 0(a1)\nsd a4, 8(a1)\nsd a4, 16(a1)\nsd a4, 24(a1)\nsd a4, 32(a1)\nsd a4, 40(a1)\n\
             sd a4, 48(a1)\nsd a4, 56(a1)"
        ),
        end: "",
    }
}

stream! {
    /// 64-bit loads and stores.
    copy_lines lines [] {
        start: "",
        body: every_line!(
            "add a2, a1, t4\nld a4, 0(a1)\nld a5, 8(a1)\nld a6, 16(a1)\nld a7, 24(a1)\nsd a4, 0(a2)\n\
             sd a5, 8(a2)\nsd a6, 16(a2)\nsd a7, 24(a2)\nld a4, 32(a1)\nld a5, 40(a1)\nld a6, 48(a1)\n\
             ld a7, 56(a1)\nsd a4, 32(a2)\nsd a5, 40(a2)\nsd a6, 48(a2)\nsd a7, 56(a2)"
        ),
        end: "",
    }
}

stream! {
    /// 64-bit loads.
    read_chunks chunks [] {
        start: "",
        body: every_8!("ld a4, \\d(t6)"),
        end: "",
    }
}

stream! {
    /// 64-bit stores.
    write_chunks chunks [] {
        start: "ld a4, 64(a0)",
        body: every_8!("sd a4, \\d(t6)"),
        end: "",
    }
}

stream! {
    /// 64-bit loads and stores.
    copy_chunks chunks [] {
        start: "",
        body: concat!("add a1, t6, t4\n", every_32!(copy_32!())),
        end: "",
    }
}
