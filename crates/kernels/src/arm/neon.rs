//! The streaming rows of Armv7 in the 128-bit registers of Advanced SIMD (NEON), two in each
//! instruction.

use super::skeleton::{enter, leave, step, stream, turn};

/// Indices of two accesses: 32 B each make a line.
macro_rules! times_2 {
    () => {
        "0,1"
    };
}
/// Indices of eight accesses: 64 B each make a block.
macro_rules! times_8 {
    () => {
        "0,1,2,3,4,5,6,7"
    };
}
/// Indices of sixteen accesses: 32 B each make a block.
macro_rules! times_16 {
    () => {
        "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
    };
}
/// Offsets of the lines of a block.
macro_rules! lines {
    () => {
        "0,64,128,192,256,320,384,448"
    };
}

stream! {
    /// Loads of two registers.
    read(forward) {
        start: "",
        turn: "",
        each: "vld1.64 {{d0-d3}}, [r0:256]!",
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Loads of two registers, added up in four.
    read_sum(forward) {
        start: concat!("vmov.i64 q8, #0\n", "vmov.i64 q9, #0\n", "vmov.i64 q10, #0\n", "vmov.i64 q11, #0\n"),
        turn: "",
        each: concat!("vld1.64 {{d0-d3}}, [r0:256]!\n", "vld1.64 {{d4-d7}}, [r0:256]!\n",
            "vadd.i64 q8, q8, q0\n", "vadd.i64 q9, q9, q1\n", "vadd.i64 q10, q10, q2\n",
            "vadd.i64 q11, q11, q3\n"),
        at: times_8!(),
        end: concat!("vadd.i64 q8, q8, q9\n", "vadd.i64 q10, q10, q11\n", "vadd.i64 q8, q8, q10\n",
            "vadd.i64 d16, d16, d17\n", "vstr d16, [r3, #40]\n"),
    }
}

stream! {
    /// Loads of two registers; lines are prefetched into L1.
    read_prefetch(forward) {
        start: "ldr r14, [r10, #24]",
        turn: "add r12, r0, r14",
        each: concat!("pld [r12, #\\d]\n", "vld1.64 {{d0-d3}}, [r0:256]!\n",
            "vld1.64 {{d0-d3}}, [r0:256]!\n"),
        at: lines!(),
        end: "",
    }
}

stream! {
    /// Loads of two registers, from four streams in turn.
    read_4(forward) {
        start: "",
        turn: concat!("add r12, r0, r14\n", "add r11, r12, r14\n", "add r10, r11, r14\n"),
        each: concat!("vld1.64 {{d0-d3}}, [r0:256]!\n", "vld1.64 {{d0-d3}}, [r12:256]!\n",
            "vld1.64 {{d0-d3}}, [r11:256]!\n", "vld1.64 {{d0-d3}}, [r10:256]!\n"),
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Loads of two registers, one line per iteration.
    read_unroll_64(unrolled_64) {
        start: "",
        turn: "",
        each: "vld1.64 {{d0-d3}}, [r0:256]!",
        at: times_2!(),
        end: "",
    }
}

stream! {
    /// Loads of two registers, two lines per iteration.
    read_unroll_128(unrolled_128) {
        start: "",
        turn: "",
        each: "vld1.64 {{d0-d3}}, [r0:256]!",
        at: "0,1,2,3",
        end: "",
    }
}

stream! {
    /// Loads of two registers, four lines per iteration.
    read_unroll_256(unrolled_256) {
        start: "",
        turn: "",
        each: "vld1.64 {{d0-d3}}, [r0:256]!",
        at: times_8!(),
        end: "",
    }
}

stream! {
    /// Stores of two registers.
    write(forward) {
        start: concat!("vldr d0, [r10, #32]\n", "vmov d1, d0\n", "vmov q1, q0\n"),
        turn: "",
        each: "vst1.64 {{d0-d3}}, [r0:256]!",
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Stores of two registers, two lines per iteration.
    write_unroll_128(unrolled_128) {
        start: concat!("vldr d0, [r10, #32]\n", "vmov d1, d0\n", "vmov q1, q0\n"),
        turn: "",
        each: "vst1.64 {{d0-d3}}, [r0:256]!",
        at: "0,1,2,3",
        end: "",
    }
}

stream! {
    /// Loads and stores of two registers, with exclusive or in between.
    update(forward) {
        start: concat!("vldr d16, [r10, #32]\n", "vmov d17, d16\n"),
        turn: "",
        each: concat!("vld1.64 {{d0-d3}}, [r0:256]\n", "veor q0, q0, q8\n", "veor q1, q1, q8\n",
            "vst1.64 {{d0-d3}}, [r0:256]!\n"),
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Loads and stores of two registers.
    copy(forward) {
        start: "",
        turn: "add r12, r0, r14",
        each: concat!("vld1.64 {{d0-d3}}, [r0:256]!\n", "vld1.64 {{d4-d7}}, [r0:256]!\n",
            "vst1.64 {{d0-d3}}, [r12:256]!\n", "vst1.64 {{d4-d7}}, [r12:256]!\n"),
        at: times_8!(),
        end: "",
    }
}

stream! {
    /// Loads and stores of two registers, two lines per iteration.
    copy_unroll_128(unrolled_128) {
        start: "",
        turn: "add r12, r0, r14",
        each: concat!("vld1.64 {{d0-d3}}, [r0:256]!\n", "vld1.64 {{d4-d7}}, [r0:256]!\n",
            "vst1.64 {{d0-d3}}, [r12:256]!\n", "vst1.64 {{d4-d7}}, [r12:256]!\n"),
        at: times_2!(),
        end: "",
    }
}

stream! {
    /// Loads of two registers.
    read_reverse(backward) {
        start: "",
        turn: "",
        each: "vldmdb r0!, {{d0-d3}}",
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Stores of two registers.
    write_reverse(backward) {
        start: concat!("vldr d0, [r10, #32]\n", "vmov d1, d0\n", "vmov q1, q0\n"),
        turn: "",
        each: "vstmdb r0!, {{d0-d3}}",
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Loads and stores of two registers.
    copy_reverse(backward) {
        start: "",
        turn: "add r12, r0, r14",
        each: concat!("vldmdb r0!, {{d0-d3}}\n", "vldmdb r0!, {{d4-d7}}\n",
            "vstmdb r12!, {{d0-d3}}\n", "vstmdb r12!, {{d4-d7}}\n"),
        at: times_8!(),
        end: "",
    }
}

stream! {
    /// Loads of two registers.
    read_lines(lines) {
        start: "",
        turn: "",
        each: "vld1.64 {{d0-d3}}, [r0:256]!",
        at: times_2!(),
        end: "",
    }
}

stream! {
    /// Stores of two registers.
    write_lines(lines) {
        start: concat!("vldr d0, [r10, #32]\n", "vmov d1, d0\n", "vmov q1, q0\n"),
        turn: "",
        each: "vst1.64 {{d0-d3}}, [r0:256]!",
        at: times_2!(),
        end: "",
    }
}

stream! {
    /// Loads and stores of two registers.
    copy_lines(lines) {
        start: "",
        turn: "add r12, r0, r14",
        each: concat!("vld1.64 {{d0-d3}}, [r0:256]!\n", "vld1.64 {{d4-d7}}, [r0:256]!\n",
            "vst1.64 {{d0-d3}}, [r12:256]!\n", "vst1.64 {{d4-d7}}, [r12:256]!\n"),
        at: "0",
        end: "",
    }
}

stream! {
    /// Loads of two registers.
    read_chunks(chunks) {
        start: "",
        turn: "",
        each: "vld1.64 {{d0-d3}}, [r0:256]!",
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Stores of two registers.
    write_chunks(chunks) {
        start: concat!("vldr d0, [r10, #32]\n", "vmov d1, d0\n", "vmov q1, q0\n"),
        turn: "",
        each: "vst1.64 {{d0-d3}}, [r0:256]!",
        at: times_16!(),
        end: "",
    }
}

stream! {
    /// Loads and stores of two registers.
    copy_chunks(chunks) {
        start: "",
        turn: "add r12, r0, r14",
        each: concat!("vld1.64 {{d0-d3}}, [r0:256]!\n", "vld1.64 {{d4-d7}}, [r0:256]!\n",
            "vst1.64 {{d0-d3}}, [r12:256]!\n", "vst1.64 {{d4-d7}}, [r12:256]!\n"),
        at: times_8!(),
        end: "",
    }
}
