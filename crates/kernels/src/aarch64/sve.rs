//! The streaming rows of AArch64 in SVE registers. They are as long as the processor's: 16 to 256
//! B.
//!
//! Loads whose values are not used all go to one pair of registers. Each load renames the pair, so
//! none waits for another.

use super::skeleton::{enter, leave, step};
use super::sve_skeleton::{advance, bases, pairs, sve_stream, sve_turn};

/// Bytes of a vector: `fn() -> bytes`. Only call it if SVE is present.
///
/// - In: nothing.
/// - Out: `x0`.
/// - Clobbers: nothing else.
/// - Memory: none.
#[unsafe(naked)]
unsafe extern "C" fn vector_bytes() -> usize {
    core::arch::naked_asm!(
        ".arch_extension sve",
        "cntb x0",
        "ret",
        ".arch_extension nosve"
    )
}

/// Bits of a vector; 0 without SVE.
pub(crate) fn bits() -> u32 {
    if !std::arch::is_aarch64_feature_detected!("sve") {
        return 0;
    }
    // SAFETY: the processor and the system have SVE.
    let bytes = unsafe { vector_bytes() };
    u32::try_from(bytes * 8).unwrap_or(0)
}

/// True if there is SVE with vectors that divide a block. Early processors were allowed lengths
/// that are no powers of two, but none is known to have used one.
pub(crate) fn present() -> bool {
    bits().is_power_of_two() && bits() <= 2048
}

sve_stream! {
    /// Loads.
    read(forward, 1) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads that are added up in four registers.
    read_sum(forward, 1) {
        start: concat!("mov z16.d, 0\n", "mov z17.d, 0\n", "mov z18.d, 0\n", "mov z19.d, 0\n"),
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", ".if \\i & 2\n",
            "add z18.d, z18.d, z0.d\n", "add z19.d, z19.d, z1.d\n", ".else\n",
            "add z16.d, z16.d, z0.d\n", "add z17.d, z17.d, z1.d\n", ".endif\n"),
        end: concat!("add z16.d, z16.d, z17.d\n", "add z18.d, z18.d, z19.d\n",
            "add z16.d, z16.d, z18.d\n", "uaddv d16, p0, z16.d\n", "str d16, [x0, 72]\n"),
    }
}

sve_stream! {
    /// Non-temporal loads.
    read_nt(forward, 1) {
        start: "",
        turn: "",
        each: concat!("ldnt1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ldnt1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Non-temporal loads; lines are prefetched for one use.
    read_nta(forward, 1) {
        start: "ldr x17, [x0, 48]",
        turn: concat!("add x9, x4, x17\n", "prfm pldl1strm, [x9, 0]\n",
            "prfm pldl1strm, [x9, 64]\n", "prfm pldl1strm, [x9, 128]\n",
            "prfm pldl1strm, [x9, 192]\n", "prfm pldl1strm, [x9, 256]\n",
            "prfm pldl1strm, [x9, 320]\n", "prfm pldl1strm, [x9, 384]\n",
            "prfm pldl1strm, [x9, 448]\n"),
        each: concat!("ldnt1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ldnt1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads; lines are prefetched into L1.
    read_prefetch(forward, 1) {
        start: "ldr x17, [x0, 48]",
        turn: concat!("add x9, x4, x17\n", "prfm pldl1keep, [x9, 0]\n",
            "prfm pldl1keep, [x9, 64]\n", "prfm pldl1keep, [x9, 128]\n",
            "prfm pldl1keep, [x9, 192]\n", "prfm pldl1keep, [x9, 256]\n",
            "prfm pldl1keep, [x9, 320]\n", "prfm pldl1keep, [x9, 384]\n",
            "prfm pldl1keep, [x9, 448]\n"),
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads from four streams in turn.
    read_4(forward, 4) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n",
            "ld1d {{z0.d}}, p0/z, [x14, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x14, \\i + 1, mul vl]\n",
            "ld1d {{z0.d}}, p0/z, [x15, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x15, \\i + 1, mul vl]\n",
            "ld1d {{z0.d}}, p0/z, [x16, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x16, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads of one line per iteration.
    read_unroll_64(unrolled_64, 1) {
        start: "",
        turn: "",
        each: "ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]",
        end: "",
    }
}

sve_stream! {
    /// Loads of two lines per iteration.
    read_unroll_128(unrolled_128, 1) {
        start: "",
        turn: "",
        each: "ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]",
        end: "",
    }
}

sve_stream! {
    /// Loads of four lines per iteration.
    read_unroll_256(unrolled_256, 1) {
        start: "",
        turn: "",
        each: "ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]",
        end: "",
    }
}

sve_stream! {
    /// Stores.
    write(forward, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("st1d {{z31.d}}, p0, [x12, \\i, mul vl]\n",
            "st1d {{z31.d}}, p0, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Non-temporal stores.
    write_nt(forward, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("stnt1d {{z31.d}}, p0, [x12, \\i, mul vl]\n",
            "stnt1d {{z31.d}}, p0, [x12, \\i + 1, mul vl]\n"),
        end: "dmb ishst",
    }
}

sve_stream! {
    /// Stores of two lines per iteration.
    write_unroll_128(unrolled_128, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: "st1d {{z31.d}}, p0, [x12, \\i, mul vl]",
        end: "",
    }
}

sve_stream! {
    /// Loads, exclusive or, and stores.
    update(forward, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "eor z0.d, z0.d, z31.d\n",
            "eor z1.d, z1.d, z31.d\n", "st1d {{z0.d}}, p0, [x12, \\i, mul vl]\n",
            "st1d {{z1.d}}, p0, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads and stores.
    copy(forward, 2) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n",
            "st1d {{z0.d}}, p0, [x14, \\i, mul vl]\n",
            "st1d {{z1.d}}, p0, [x14, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads and stores of two lines per iteration.
    copy_unroll_128(unrolled_128, 2) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "st1d {{z0.d}}, p0, [x14, \\i, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Multiplies doubles.
    scale(forward, 2) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "fmul z0.d, z0.d, z31.d\n",
            "fmul z1.d, z1.d, z31.d\n", "st1d {{z0.d}}, p0, [x14, \\i, mul vl]\n",
            "st1d {{z1.d}}, p0, [x14, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Adds doubles.
    add(forward, 3) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n",
            "ld1d {{z2.d}}, p0/z, [x14, \\i, mul vl]\n",
            "ld1d {{z3.d}}, p0/z, [x14, \\i + 1, mul vl]\n", "fadd z0.d, z0.d, z2.d\n",
            "fadd z1.d, z1.d, z3.d\n", "st1d {{z0.d}}, p0, [x15, \\i, mul vl]\n",
            "st1d {{z1.d}}, p0, [x15, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Multiplies and adds doubles: two instructions, two roundings.
    triad(forward, 3) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n",
            "ld1d {{z2.d}}, p0/z, [x14, \\i, mul vl]\n",
            "ld1d {{z3.d}}, p0/z, [x14, \\i + 1, mul vl]\n", "fmul z2.d, z2.d, z31.d\n",
            "fmul z3.d, z3.d, z31.d\n", "fadd z0.d, z0.d, z2.d\n", "fadd z1.d, z1.d, z3.d\n",
            "st1d {{z0.d}}, p0, [x15, \\i, mul vl]\n",
            "st1d {{z1.d}}, p0, [x15, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads and non-temporal stores.
    copy_nt(forward, 2) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n",
            "stnt1d {{z0.d}}, p0, [x14, \\i, mul vl]\n",
            "stnt1d {{z1.d}}, p0, [x14, \\i + 1, mul vl]\n"),
        end: "dmb ishst",
    }
}

sve_stream! {
    /// Multiplies doubles. Non-temporal stores.
    scale_nt(forward, 2) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "fmul z0.d, z0.d, z31.d\n",
            "fmul z1.d, z1.d, z31.d\n", "stnt1d {{z0.d}}, p0, [x14, \\i, mul vl]\n",
            "stnt1d {{z1.d}}, p0, [x14, \\i + 1, mul vl]\n"),
        end: "dmb ishst",
    }
}

sve_stream! {
    /// Adds doubles. Non-temporal stores.
    add_nt(forward, 3) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n",
            "ld1d {{z2.d}}, p0/z, [x14, \\i, mul vl]\n",
            "ld1d {{z3.d}}, p0/z, [x14, \\i + 1, mul vl]\n", "fadd z0.d, z0.d, z2.d\n",
            "fadd z1.d, z1.d, z3.d\n", "stnt1d {{z0.d}}, p0, [x15, \\i, mul vl]\n",
            "stnt1d {{z1.d}}, p0, [x15, \\i + 1, mul vl]\n"),
        end: "dmb ishst",
    }
}

sve_stream! {
    /// Multiplies and adds doubles: two instructions, two roundings. Non-temporal stores.
    triad_nt(forward, 3) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n",
            "ld1d {{z2.d}}, p0/z, [x14, \\i, mul vl]\n",
            "ld1d {{z3.d}}, p0/z, [x14, \\i + 1, mul vl]\n", "fmul z2.d, z2.d, z31.d\n",
            "fmul z3.d, z3.d, z31.d\n", "fadd z0.d, z0.d, z2.d\n", "fadd z1.d, z1.d, z3.d\n",
            "stnt1d {{z0.d}}, p0, [x15, \\i, mul vl]\n",
            "stnt1d {{z1.d}}, p0, [x15, \\i + 1, mul vl]\n"),
        end: "dmb ishst",
    }
}

sve_stream! {
    /// Loads.
    read_reverse(backward, 1) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n",
            "ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Non-temporal loads.
    read_nt_reverse(backward, 1) {
        start: "",
        turn: "",
        each: concat!("ldnt1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n",
            "ldnt1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Stores.
    write_reverse(backward, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("st1d {{z31.d}}, p0, [x12, \\i + 1, mul vl]\n",
            "st1d {{z31.d}}, p0, [x12, \\i, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Non-temporal stores.
    write_nt_reverse(backward, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("stnt1d {{z31.d}}, p0, [x12, \\i + 1, mul vl]\n",
            "stnt1d {{z31.d}}, p0, [x12, \\i, mul vl]\n"),
        end: "dmb ishst",
    }
}

sve_stream! {
    /// Loads and stores.
    copy_reverse(backward, 2) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n",
            "ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "st1d {{z1.d}}, p0, [x14, \\i + 1, mul vl]\n",
            "st1d {{z0.d}}, p0, [x14, \\i, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads and non-temporal stores.
    copy_nt_reverse(backward, 2) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n",
            "ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "stnt1d {{z1.d}}, p0, [x14, \\i + 1, mul vl]\n",
            "stnt1d {{z0.d}}, p0, [x14, \\i, mul vl]\n"),
        end: "dmb ishst",
    }
}

sve_stream! {
    /// Loads.
    read_lines(lines, 1) {
        start: "",
        turn: "",
        each: "ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]",
        end: "",
    }
}

sve_stream! {
    /// Non-temporal loads.
    read_nt_lines(lines, 1) {
        start: "",
        turn: "",
        each: "ldnt1d {{z0.d}}, p0/z, [x12, \\i, mul vl]",
        end: "",
    }
}

sve_stream! {
    /// Stores.
    write_lines(lines, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: "st1d {{z31.d}}, p0, [x12, \\i, mul vl]",
        end: "",
    }
}

sve_stream! {
    /// Non-temporal stores.
    write_nt_lines(lines, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: "stnt1d {{z31.d}}, p0, [x12, \\i, mul vl]",
        end: "dmb ishst",
    }
}

sve_stream! {
    /// Loads and stores.
    copy_lines(lines, 2) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "st1d {{z0.d}}, p0, [x14, \\i, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads and non-temporal stores.
    copy_nt_lines(lines, 2) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "stnt1d {{z0.d}}, p0, [x14, \\i, mul vl]\n"),
        end: "dmb ishst",
    }
}

sve_stream! {
    /// Loads.
    read_chunks(chunks, 1) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Non-temporal loads.
    read_nt_chunks(chunks, 1) {
        start: "",
        turn: "",
        each: concat!("ldnt1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ldnt1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Stores.
    write_chunks(chunks, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("st1d {{z31.d}}, p0, [x12, \\i, mul vl]\n",
            "st1d {{z31.d}}, p0, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Non-temporal stores.
    write_nt_chunks(chunks, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("stnt1d {{z31.d}}, p0, [x12, \\i, mul vl]\n",
            "stnt1d {{z31.d}}, p0, [x12, \\i + 1, mul vl]\n"),
        end: "dmb ishst",
    }
}

sve_stream! {
    /// Loads and stores.
    copy_chunks(chunks, 2) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n",
            "st1d {{z0.d}}, p0, [x14, \\i, mul vl]\n",
            "st1d {{z1.d}}, p0, [x14, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads and non-temporal stores.
    copy_nt_chunks(chunks, 2) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n",
            "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n",
            "stnt1d {{z0.d}}, p0, [x14, \\i, mul vl]\n",
            "stnt1d {{z1.d}}, p0, [x14, \\i + 1, mul vl]\n"),
        end: "dmb ishst",
    }
}
