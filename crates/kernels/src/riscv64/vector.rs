//! The streaming rows of the vector extension (RVV 1.0). The code is the same for every vector
//! length from 128 bits on.

use super::skeleton::{advance, align_loop, begin, enter, fill_line, finish, mark, place, stream};

/// Repeats `$each` for `\d` in steps of 64 bytes through a block.
macro_rules! every_64 {
    ($each:expr) => {
        concat!(".irp d,0,64,128,192,256,320,384,448\n", $each, "\n.endr")
    };
}

/// Repeats `$each` for the eight lines of an iteration, with separate vector registers `\v` for
/// each. `a1` is the line.
macro_rules! every_line {
    ($each:expr) => {
        concat!(
            ".irp v,0,4,8,12,16,20,24,28\n",
            "lwu a1, \\v(t6)\n",
            "slli a1, a1, 3\n",
            "add a1, a1, t3\n",
            $each,
            "\n.endr"
        )
    };
}

stream! {
    /// Loads of eight vector registers.
    read groups ["+v"] {
        start: "",
        body: "vle64.v v0, (t6)",
        end: "",
    }
}

stream! {
    /// Loads of eight vector registers, added up in eight others.
    read_sum groups ["+v"] {
        start: "vmv.v.i v8, 0",
        body: "vle64.v v0, (t6)\nvadd.vv v8, v8, v0",
        end: "vmv.s.x v16, zero\nvredsum.vs v16, v8, v16\nvmv.x.s a1, v16\nsd a1, 72(a0)",
    }
}

stream! {
    /// Loads of lines. Each line is prefetched by the hint of Zicbop, see the row of general
    /// registers.
    read_prefetch vectors_of_8 ["+v"] {
        start: "ld a5, 48(a0)",
        body: concat!(
            "add a2, t6, a5\n",
            ".irp v,0,4,8,12,16,20,24,28\nori zero, a2, 16*\\v+1\nvle64.v v\\v, (t6)\naddi t6, t6, 64\n.endr"
        ),
        end: "",
    }
}

stream! {
    /// Loads of eight vector registers from each of four streams.
    read_4 groups ["+v"] {
        start: "",
        body: "add a1, t6, t4\nadd a2, a1, t4\nadd a5, a2, t4\nvle64.v v0, (t6)\nvle64.v v8, (a1)\n\
             vle64.v v16, (a2)\nvle64.v v24, (a5)",
        end: "",
    }
}

stream! {
    /// One load of a line, one line per iteration.
    read_unroll_64 vectors_unrolled_64 ["+v"] {
        start: "",
        body: "vle64.v v0, (t6)",
        end: "",
    }
}

stream! {
    /// One load of two lines, two lines per iteration.
    read_unroll_128 vectors_unrolled_128 ["+v"] {
        start: "",
        body: "vle64.v v0, (t6)",
        end: "",
    }
}

stream! {
    /// Two loads of two lines each, four lines per iteration.
    read_unroll_256 vectors_unrolled_256 ["+v"] {
        start: "",
        body: "vle64.v v0, (t6)\naddi a1, t6, 128\nvle64.v v8, (a1)",
        end: "",
    }
}

stream! {
    /// One load of words that lie a line apart.
    touch vectors_of_8 ["+v"] {
        start: "li a5, 64",
        body: "vlse64.v v0, (t6), a5",
        end: "",
    }
}

stream! {
    /// One load of words that lie a line apart, each line prefetched.
    touch_prefetch vectors_of_8 ["+v"] {
        start: "li a5, 64\nld a4, 48(a0)",
        body: concat!("add a2, t6, a4\n", every_64!("ori zero, a2, \\d+1"), "\nvlse64.v v0, (t6), a5"),
        end: "",
    }
}

stream! {
    /// Stores of eight vector registers.
    write groups ["+v"] {
        start: "ld a4, 64(a0)\nvmv.v.x v0, a4",
        body: "vse64.v v0, (t6)",
        end: "",
    }
}

stream! {
    /// One store of two lines, two lines per iteration.
    write_unroll_128 vectors_unrolled_128 ["+v"] {
        start: "ld a4, 64(a0)\nvmv.v.x v0, a4",
        body: "vse64.v v0, (t6)",
        end: "",
    }
}

stream! {
    /// Loads and stores of eight vector registers.
    update groups ["+v"] {
        start: "ld a5, 64(a0)",
        body: "vle64.v v0, (t6)\nvxor.vx v0, v0, a5\nvse64.v v0, (t6)",
        end: "",
    }
}

stream! {
    /// Loads and stores of eight vector registers.
    copy groups ["+v"] {
        start: "",
        body: "add a1, t6, t4\nvle64.v v0, (t6)\nvse64.v v0, (a1)",
        end: "",
    }
}

stream! {
    /// One load and one store of two lines, two lines per iteration.
    copy_unroll_128 vectors_unrolled_128 ["+v"] {
        start: "",
        body: "add a1, t6, t4\nvle64.v v0, (t6)\nvse64.v v0, (a1)",
        end: "",
    }
}

stream! {
    /// Loads, multiplications and stores of doubles.
    scale groups ["+v"] {
        start: "fld fa0, 64(a0)",
        body: "add a1, t6, t4\nvle64.v v0, (t6)\nvfmul.vf v0, v0, fa0\nvse64.v v0, (a1)",
        end: "",
    }
}

stream! {
    /// Loads, additions and stores of doubles.
    add groups ["+v"] {
        start: "",
        body: "add a1, t6, t4\nadd a2, a1, t4\nvle64.v v0, (t6)\nvle64.v v8, (a1)\nvfadd.vv v0, v0, v8\n\
             vse64.v v0, (a2)",
        end: "",
    }
}

stream! {
    /// Loads, multiplications, additions and stores of doubles, rounded after each.
    triad groups ["+v"] {
        start: "fld fa0, 64(a0)",
        body: "add a1, t6, t4\nadd a2, a1, t4\nvle64.v v8, (a1)\nvle64.v v0, (t6)\nvfmul.vf v8, v8, fa0\n\
             vfadd.vv v0, v0, v8\nvse64.v v0, (a2)",
        end: "",
    }
}

stream! {
    /// Loads of one vector register, downwards, four per iteration.
    read_reverse groups_backward ["+v"] {
        start: "",
        body: ".irp v,0,1,2,3\nsub t6, t6, a7\nvle64.v v\\v, (t6)\n.endr",
        end: "",
    }
}

stream! {
    /// Stores of one vector register, downwards, four per iteration.
    write_reverse groups_backward ["+v"] {
        start: "ld a4, 64(a0)\nvmv.v.x v0, a4",
        body: ".rept 4\nsub t6, t6, a7\nvse64.v v0, (t6)\n.endr",
        end: "",
    }
}

stream! {
    /// Loads and stores of one vector register, downwards, four per iteration.
    copy_reverse groups_backward ["+v"] {
        start: "",
        body: "add a1, t6, t4\n.irp v,0,1,2,3\nsub t6, t6, a7\nvle64.v v\\v, (t6)\n.endr\n.irp v,0,1,2,3\n\
             sub a1, a1, a7\nvse64.v v\\v, (a1)\n.endr",
        end: "",
    }
}

stream! {
    /// Loads of one line.
    read_lines vector_lines ["+v"] {
        start: "",
        body: every_line!("vle64.v v\\v, (a1)"),
        end: "",
    }
}

stream! {
    /// Stores of one line.
    write_lines vector_lines ["+v"] {
        start: "ld a4, 64(a0)\nvmv.v.x v0, a4",
        body: every_line!("vse64.v v0, (a1)"),
        end: "",
    }
}

stream! {
    /// Loads and stores of one line.
    copy_lines vector_lines ["+v"] {
        start: "",
        body: every_line!("vle64.v v\\v, (a1)\nadd a1, a1, t4\nvse64.v v\\v, (a1)"),
        end: "",
    }
}

stream! {
    /// Loads of eight vector registers.
    read_chunks group_chunks ["+v"] {
        start: "",
        body: "vle64.v v0, (t6)",
        end: "",
    }
}

stream! {
    /// Stores of eight vector registers.
    write_chunks group_chunks ["+v"] {
        start: "ld a5, 64(a0)\nvmv.v.x v0, a5",
        body: "vse64.v v0, (t6)",
        end: "",
    }
}

stream! {
    /// Loads and stores of eight vector registers.
    copy_chunks group_chunks ["+v"] {
        start: "",
        body: "add a1, t6, t4\nvle64.v v0, (t6)\nvse64.v v0, (a1)",
        end: "",
    }
}

/// Bits of a vector register. Needs the vector extension.
///
/// - Out: `a0`.
/// - Clobbers: nothing else.
/// - Memory: none.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn register_bits() -> usize {
    core::arch::naked_asm!(
        ".option push",
        ".option arch, +v",
        "csrr a0, vlenb",
        "slli a0, a0, 3",
        "ret",
        ".option pop",
    )
}
