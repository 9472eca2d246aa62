//! The streaming rows of AArch64 in the 128-bit registers of Advanced SIMD.
//!
//! Loads whose values are not used all go to one pair of registers. Each load renames the pair, so
//! none waits for another. Copies use two pairs per group, so that loads run ahead of the stores.

use super::skeleton::{enter, leave, step, stream, turn};

/// Offsets within a block in steps of 32 bytes.
macro_rules! every_32 {
    () => {
        "0,32,64,96,128,160,192,224,256,288,320,352,384,416,448,480"
    };
}
/// Offsets within a block in steps of 64 bytes.
macro_rules! every_64 {
    () => {
        "0,64,128,192,256,320,384,448"
    };
}
/// Offsets from the end of a block, descending in steps of 32 bytes.
macro_rules! back_32 {
    () => {
        "-32,-64,-96,-128,-160,-192,-224,-256,-288,-320,-352,-384,-416,-448,-480,-512"
    };
}
/// Offsets from the end of a block, descending in steps of 64 bytes.
macro_rules! back_64 {
    () => {
        "-64,-128,-192,-256,-320,-384,-448,-512"
    };
}
/// Offsets within a line in steps of 32 bytes.
macro_rules! line_32 {
    () => {
        "0,32"
    };
}
/// Offsets within a line in steps of 64 bytes.
macro_rules! line_64 {
    () => {
        "0"
    };
}

stream! {
    /// 128-bit loads in pairs.
    read_neon(forward) {
        start: "",
        turn: "",
        each: "ldp q0, q1, [x4, \\d]",
        at: every_32!(),
        end: "",
    }
}

stream! {
    /// 128-bit loads in pairs, added up in four registers.
    read_sum_neon(forward) {
        start: concat!("movi v16.2d, 0\n", "movi v17.2d, 0\n", "movi v18.2d, 0\n", "movi v19.2d, 0\n"),
        turn: "",
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q2, q3, [x4, \\d + 32]\n",
            "add v16.2d, v16.2d, v0.2d\n", "add v17.2d, v17.2d, v1.2d\n",
            "add v18.2d, v18.2d, v2.2d\n", "add v19.2d, v19.2d, v3.2d\n"),
        at: every_64!(),
        end: concat!("add v16.2d, v16.2d, v17.2d\n", "add v18.2d, v18.2d, v19.2d\n",
            "add v16.2d, v16.2d, v18.2d\n", "addp d16, v16.2d\n", "str d16, [x0, 72]\n"),
    }
}

stream! {
    /// 128-bit non-temporal loads in pairs.
    read_nt_neon(forward) {
        start: "",
        turn: "",
        each: "ldnp q0, q1, [x4, \\d]",
        at: every_32!(),
        end: "",
    }
}

stream! {
    /// 128-bit non-temporal loads in pairs; lines are prefetched for one use.
    read_nta_neon(forward) {
        start: "ldr x12, [x0, 48]",
        turn: "add x9, x4, x12",
        each: concat!("prfm pldl1strm, [x9, \\d]\n", "ldnp q0, q1, [x4, \\d]\n",
            "ldnp q0, q1, [x4, \\d + 32]\n"),
        at: every_64!(),
        end: "",
    }
}

stream! {
    /// 128-bit loads in pairs; lines are prefetched into L1.
    read_prefetch_neon(forward) {
        start: "ldr x12, [x0, 48]",
        turn: "add x9, x4, x12",
        each: concat!("prfm pldl1keep, [x9, \\d]\n", "ldp q0, q1, [x4, \\d]\n",
            "ldp q0, q1, [x4, \\d + 32]\n"),
        at: every_64!(),
        end: "",
    }
}

stream! {
    /// 128-bit loads in pairs, from four streams in turn.
    read_4_neon(forward) {
        start: "",
        turn: concat!("add x6, x4, x5\n", "add x7, x6, x5\n", "add x8, x7, x5\n"),
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q0, q1, [x6, \\d]\n",
            "ldp q0, q1, [x7, \\d]\n", "ldp q0, q1, [x8, \\d]\n"),
        at: every_32!(),
        end: "",
    }
}

stream! {
    /// 128-bit loads in pairs, one line per iteration.
    read_unroll_64_neon(unrolled_64) {
        start: "",
        turn: "",
        each: "ldp q0, q1, [x4, \\d]",
        at: line_32!(),
        end: "",
    }
}

stream! {
    /// 128-bit loads in pairs, two lines per iteration.
    read_unroll_128_neon(unrolled_128) {
        start: "",
        turn: "",
        each: "ldp q0, q1, [x4, \\d]",
        at: "0,32,64,96",
        end: "",
    }
}

stream! {
    /// 128-bit loads in pairs, four lines per iteration.
    read_unroll_256_neon(unrolled_256) {
        start: "",
        turn: "",
        each: "ldp q0, q1, [x4, \\d]",
        at: "0,32,64,96,128,160,192,224",
        end: "",
    }
}

stream! {
    /// 128-bit stores in pairs.
    write_neon(forward) {
        start: concat!("ldr x12, [x0, 64]\n", "dup v31.2d, x12\n"),
        turn: "",
        each: "stp q31, q31, [x4, \\d]",
        at: every_32!(),
        end: "",
    }
}

stream! {
    /// 128-bit non-temporal stores in pairs.
    write_nt_neon(forward) {
        start: concat!("ldr x12, [x0, 64]\n", "dup v31.2d, x12\n"),
        turn: "",
        each: "stnp q31, q31, [x4, \\d]",
        at: every_32!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 128-bit stores in pairs, two lines per iteration.
    write_unroll_128_neon(unrolled_128) {
        start: concat!("ldr x12, [x0, 64]\n", "dup v31.2d, x12\n"),
        turn: "",
        each: "stp q31, q31, [x4, \\d]",
        at: "0,32,64,96",
        end: "",
    }
}

stream! {
    /// 128-bit loads and stores in pairs, with exclusive or in between.
    update_neon(forward) {
        start: concat!("ldr x12, [x0, 64]\n", "dup v31.2d, x12\n"),
        turn: "",
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q2, q3, [x4, \\d + 32]\n",
            "eor v0.16b, v0.16b, v31.16b\n", "eor v1.16b, v1.16b, v31.16b\n",
            "eor v2.16b, v2.16b, v31.16b\n", "eor v3.16b, v3.16b, v31.16b\n",
            "stp q0, q1, [x4, \\d]\n", "stp q2, q3, [x4, \\d + 32]\n"),
        at: every_64!(),
        end: "",
    }
}

stream! {
    /// 128-bit loads and stores in pairs.
    copy_neon(forward) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q2, q3, [x4, \\d + 32]\n",
            "stp q0, q1, [x6, \\d]\n", "stp q2, q3, [x6, \\d + 32]\n"),
        at: every_64!(),
        end: "",
    }
}

stream! {
    /// 128-bit loads and non-temporal stores in pairs.
    copy_nt_neon(forward) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q2, q3, [x4, \\d + 32]\n",
            "stnp q0, q1, [x6, \\d]\n", "stnp q2, q3, [x6, \\d + 32]\n"),
        at: every_64!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 128-bit loads and stores in pairs, two lines per iteration.
    copy_unroll_128_neon(unrolled_128) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q2, q3, [x4, \\d + 32]\n",
            "stp q0, q1, [x6, \\d]\n", "stp q2, q3, [x6, \\d + 32]\n"),
        at: "0,64",
        end: "",
    }
}

stream! {
    /// Multiplies pairs of vectors of doubles.
    scale_neon(forward) {
        start: concat!("ldr x12, [x0, 64]\n", "dup v31.2d, x12\n"),
        turn: "add x6, x4, x5",
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q2, q3, [x4, \\d + 32]\n",
            "fmul v0.2d, v0.2d, v31.2d\n", "fmul v1.2d, v1.2d, v31.2d\n",
            "fmul v2.2d, v2.2d, v31.2d\n", "fmul v3.2d, v3.2d, v31.2d\n", "stp q0, q1, [x6, \\d]\n",
            "stp q2, q3, [x6, \\d + 32]\n"),
        at: every_64!(),
        end: "",
    }
}

stream! {
    /// Adds pairs of vectors of doubles.
    add_neon(forward) {
        start: "",
        turn: concat!("add x6, x4, x5\n", "add x7, x6, x5\n"),
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q2, q3, [x4, \\d + 32]\n",
            "ldp q4, q5, [x6, \\d]\n", "ldp q6, q7, [x6, \\d + 32]\n", "fadd v0.2d, v0.2d, v4.2d\n",
            "fadd v1.2d, v1.2d, v5.2d\n", "fadd v2.2d, v2.2d, v6.2d\n",
            "fadd v3.2d, v3.2d, v7.2d\n", "stp q0, q1, [x7, \\d]\n",
            "stp q2, q3, [x7, \\d + 32]\n"),
        at: every_64!(),
        end: "",
    }
}

stream! {
    /// Multiplies and adds pairs of vectors of doubles: two instructions, two roundings.
    triad_neon(forward) {
        start: concat!("ldr x12, [x0, 64]\n", "dup v31.2d, x12\n"),
        turn: concat!("add x6, x4, x5\n", "add x7, x6, x5\n"),
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q2, q3, [x4, \\d + 32]\n",
            "ldp q4, q5, [x6, \\d]\n", "ldp q6, q7, [x6, \\d + 32]\n",
            "fmul v4.2d, v4.2d, v31.2d\n", "fmul v5.2d, v5.2d, v31.2d\n",
            "fmul v6.2d, v6.2d, v31.2d\n", "fmul v7.2d, v7.2d, v31.2d\n",
            "fadd v0.2d, v0.2d, v4.2d\n", "fadd v1.2d, v1.2d, v5.2d\n",
            "fadd v2.2d, v2.2d, v6.2d\n", "fadd v3.2d, v3.2d, v7.2d\n", "stp q0, q1, [x7, \\d]\n",
            "stp q2, q3, [x7, \\d + 32]\n"),
        at: every_64!(),
        end: "",
    }
}

stream! {
    /// Multiplies pairs of vectors of doubles. Non-temporal stores.
    scale_nt_neon(forward) {
        start: concat!("ldr x12, [x0, 64]\n", "dup v31.2d, x12\n"),
        turn: "add x6, x4, x5",
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q2, q3, [x4, \\d + 32]\n",
            "fmul v0.2d, v0.2d, v31.2d\n", "fmul v1.2d, v1.2d, v31.2d\n",
            "fmul v2.2d, v2.2d, v31.2d\n", "fmul v3.2d, v3.2d, v31.2d\n",
            "stnp q0, q1, [x6, \\d]\n", "stnp q2, q3, [x6, \\d + 32]\n"),
        at: every_64!(),
        end: "dmb ishst",
    }
}

stream! {
    /// Adds pairs of vectors of doubles. Non-temporal stores.
    add_nt_neon(forward) {
        start: "",
        turn: concat!("add x6, x4, x5\n", "add x7, x6, x5\n"),
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q2, q3, [x4, \\d + 32]\n",
            "ldp q4, q5, [x6, \\d]\n", "ldp q6, q7, [x6, \\d + 32]\n", "fadd v0.2d, v0.2d, v4.2d\n",
            "fadd v1.2d, v1.2d, v5.2d\n", "fadd v2.2d, v2.2d, v6.2d\n",
            "fadd v3.2d, v3.2d, v7.2d\n", "stnp q0, q1, [x7, \\d]\n",
            "stnp q2, q3, [x7, \\d + 32]\n"),
        at: every_64!(),
        end: "dmb ishst",
    }
}

stream! {
    /// Multiplies and adds pairs of vectors of doubles: two instructions, two roundings.
    /// Non-temporal stores.
    triad_nt_neon(forward) {
        start: concat!("ldr x12, [x0, 64]\n", "dup v31.2d, x12\n"),
        turn: concat!("add x6, x4, x5\n", "add x7, x6, x5\n"),
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q2, q3, [x4, \\d + 32]\n",
            "ldp q4, q5, [x6, \\d]\n", "ldp q6, q7, [x6, \\d + 32]\n",
            "fmul v4.2d, v4.2d, v31.2d\n", "fmul v5.2d, v5.2d, v31.2d\n",
            "fmul v6.2d, v6.2d, v31.2d\n", "fmul v7.2d, v7.2d, v31.2d\n",
            "fadd v0.2d, v0.2d, v4.2d\n", "fadd v1.2d, v1.2d, v5.2d\n",
            "fadd v2.2d, v2.2d, v6.2d\n", "fadd v3.2d, v3.2d, v7.2d\n", "stnp q0, q1, [x7, \\d]\n",
            "stnp q2, q3, [x7, \\d + 32]\n"),
        at: every_64!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 128-bit loads in pairs.
    read_reverse_neon(backward) {
        start: "",
        turn: "",
        each: "ldp q0, q1, [x4, \\d]",
        at: back_32!(),
        end: "",
    }
}

stream! {
    /// 128-bit non-temporal loads in pairs.
    read_nt_reverse_neon(backward) {
        start: "",
        turn: "",
        each: "ldnp q0, q1, [x4, \\d]",
        at: back_32!(),
        end: "",
    }
}

stream! {
    /// 128-bit stores in pairs.
    write_reverse_neon(backward) {
        start: concat!("ldr x12, [x0, 64]\n", "dup v31.2d, x12\n"),
        turn: "",
        each: "stp q31, q31, [x4, \\d]",
        at: back_32!(),
        end: "",
    }
}

stream! {
    /// 128-bit non-temporal stores in pairs.
    write_nt_reverse_neon(backward) {
        start: concat!("ldr x12, [x0, 64]\n", "dup v31.2d, x12\n"),
        turn: "",
        each: "stnp q31, q31, [x4, \\d]",
        at: back_32!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 128-bit loads and stores in pairs.
    copy_reverse_neon(backward) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp q2, q3, [x4, \\d + 32]\n", "ldp q0, q1, [x4, \\d]\n",
            "stp q2, q3, [x6, \\d + 32]\n", "stp q0, q1, [x6, \\d]\n"),
        at: back_64!(),
        end: "",
    }
}

stream! {
    /// 128-bit loads and non-temporal stores in pairs.
    copy_nt_reverse_neon(backward) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp q2, q3, [x4, \\d + 32]\n", "ldp q0, q1, [x4, \\d]\n",
            "stnp q2, q3, [x6, \\d + 32]\n", "stnp q0, q1, [x6, \\d]\n"),
        at: back_64!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 128-bit loads in pairs.
    read_lines_neon(lines) {
        start: "",
        turn: "",
        each: "ldp q0, q1, [x4, \\d]",
        at: line_32!(),
        end: "",
    }
}

stream! {
    /// 128-bit non-temporal loads in pairs.
    read_nt_lines_neon(lines) {
        start: "",
        turn: "",
        each: "ldnp q0, q1, [x4, \\d]",
        at: line_32!(),
        end: "",
    }
}

stream! {
    /// 128-bit stores in pairs.
    write_lines_neon(lines) {
        start: concat!("ldr x12, [x0, 64]\n", "dup v31.2d, x12\n"),
        turn: "",
        each: "stp q31, q31, [x4, \\d]",
        at: line_32!(),
        end: "",
    }
}

stream! {
    /// 128-bit non-temporal stores in pairs.
    write_nt_lines_neon(lines) {
        start: concat!("ldr x12, [x0, 64]\n", "dup v31.2d, x12\n"),
        turn: "",
        each: "stnp q31, q31, [x4, \\d]",
        at: line_32!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 128-bit loads and stores in pairs.
    copy_lines_neon(lines) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q2, q3, [x4, \\d + 32]\n",
            "stp q0, q1, [x6, \\d]\n", "stp q2, q3, [x6, \\d + 32]\n"),
        at: line_64!(),
        end: "",
    }
}

stream! {
    /// 128-bit loads and non-temporal stores in pairs.
    copy_nt_lines_neon(lines) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q2, q3, [x4, \\d + 32]\n",
            "stnp q0, q1, [x6, \\d]\n", "stnp q2, q3, [x6, \\d + 32]\n"),
        at: line_64!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 128-bit loads in pairs.
    read_chunks_neon(chunks) {
        start: "",
        turn: "",
        each: "ldp q0, q1, [x4, \\d]",
        at: every_32!(),
        end: "",
    }
}

stream! {
    /// 128-bit non-temporal loads in pairs.
    read_nt_chunks_neon(chunks) {
        start: "",
        turn: "",
        each: "ldnp q0, q1, [x4, \\d]",
        at: every_32!(),
        end: "",
    }
}

stream! {
    /// 128-bit stores in pairs.
    write_chunks_neon(chunks) {
        start: concat!("ldr x12, [x0, 64]\n", "dup v31.2d, x12\n"),
        turn: "",
        each: "stp q31, q31, [x4, \\d]",
        at: every_32!(),
        end: "",
    }
}

stream! {
    /// 128-bit non-temporal stores in pairs.
    write_nt_chunks_neon(chunks) {
        start: concat!("ldr x12, [x0, 64]\n", "dup v31.2d, x12\n"),
        turn: "",
        each: "stnp q31, q31, [x4, \\d]",
        at: every_32!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 128-bit loads and stores in pairs.
    copy_chunks_neon(chunks) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q2, q3, [x4, \\d + 32]\n",
            "stp q0, q1, [x6, \\d]\n", "stp q2, q3, [x6, \\d + 32]\n"),
        at: every_64!(),
        end: "",
    }
}

stream! {
    /// 128-bit loads and non-temporal stores in pairs.
    copy_nt_chunks_neon(chunks) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp q0, q1, [x4, \\d]\n", "ldp q2, q3, [x4, \\d + 32]\n",
            "stnp q0, q1, [x6, \\d]\n", "stnp q2, q3, [x6, \\d + 32]\n"),
        at: every_64!(),
        end: "dmb ishst",
    }
}
