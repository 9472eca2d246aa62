//! The streaming rows of AArch64 in general registers; doubles in the scalar floating-point
//! registers.
//!
//! Loads whose values are not used all go to one pair of registers. Each load renames the pair, so
//! none waits for another. Copies use two pairs per group, so that loads run ahead of the stores.

use super::skeleton::{enter, leave, step, stream, turn};

/// Offsets within a block in steps of 16 bytes.
macro_rules! every_16 {
    () => {
        "0,16,32,48,64,80,96,112,128,144,160,176,192,208,224,240,256,272,288,304,320,336,352,368,\
            384,400,416,432,448,464,480,496"
    };
}
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
/// Offsets from the end of a block, descending in steps of 16 bytes.
macro_rules! back_16 {
    () => {
        "-16,-32,-48,-64,-80,-96,-112,-128,-144,-160,-176,-192,-208,-224,-240,-256,-272,-288,-304,\
            -320,-336,-352,-368,-384,-400,-416,-432,-448,-464,-480,-496,-512"
    };
}
/// Offsets from the end of a block, descending in steps of 32 bytes.
macro_rules! back_32 {
    () => {
        "-32,-64,-96,-128,-160,-192,-224,-256,-288,-320,-352,-384,-416,-448,-480,-512"
    };
}
/// Offsets within a line in steps of 16 bytes.
macro_rules! line_16 {
    () => {
        "0,16,32,48"
    };
}
/// Offsets within a line in steps of 32 bytes.
macro_rules! line_32 {
    () => {
        "0,32"
    };
}

stream! {
    /// 64-bit loads in pairs.
    read_scalar(forward) {
        start: "",
        turn: "",
        each: "ldp x14, x15, [x4, \\d]",
        at: every_16!(),
        end: "",
    }
}

stream! {
    /// 64-bit loads in pairs, added up in four registers.
    read_sum_scalar(forward) {
        start: concat!("mov x8, 0\n", "mov x9, 0\n", "mov x10, 0\n", "mov x11, 0\n"),
        turn: "",
        each: concat!("ldp x14, x15, [x4, \\d]\n", "ldp x16, x17, [x4, \\d + 16]\n",
            "add x8, x8, x14\n", "add x9, x9, x15\n", "add x10, x10, x16\n", "add x11, x11, x17\n"),
        at: every_32!(),
        end: concat!("add x8, x8, x9\n", "add x10, x10, x11\n", "add x8, x8, x10\n", "str x8, [x0, 72]\n"),
    }
}

stream! {
    /// 64-bit non-temporal loads in pairs.
    read_nt_scalar(forward) {
        start: "",
        turn: "",
        each: "ldnp x14, x15, [x4, \\d]",
        at: every_16!(),
        end: "",
    }
}

stream! {
    /// 64-bit non-temporal loads in pairs; lines are prefetched for one use.
    read_nta_scalar(forward) {
        start: "ldr x12, [x0, 48]",
        turn: "add x9, x4, x12",
        each: concat!("prfm pldl1strm, [x9, \\d]\n", "ldnp x14, x15, [x4, \\d]\n",
            "ldnp x14, x15, [x4, \\d + 16]\n", "ldnp x14, x15, [x4, \\d + 32]\n",
            "ldnp x14, x15, [x4, \\d + 48]\n"),
        at: every_64!(),
        end: "",
    }
}

stream! {
    /// 64-bit loads in pairs; lines are prefetched into L1.
    read_prefetch_scalar(forward) {
        start: "ldr x12, [x0, 48]",
        turn: "add x9, x4, x12",
        each: concat!("prfm pldl1keep, [x9, \\d]\n", "ldp x14, x15, [x4, \\d]\n",
            "ldp x14, x15, [x4, \\d + 16]\n", "ldp x14, x15, [x4, \\d + 32]\n",
            "ldp x14, x15, [x4, \\d + 48]\n"),
        at: every_64!(),
        end: "",
    }
}

stream! {
    /// 64-bit loads in pairs, from four streams in turn.
    read_4_scalar(forward) {
        start: "",
        turn: concat!("add x6, x4, x5\n", "add x7, x6, x5\n", "add x8, x7, x5\n"),
        each: concat!("ldp x14, x15, [x4, \\d]\n", "ldp x14, x15, [x6, \\d]\n",
            "ldp x14, x15, [x7, \\d]\n", "ldp x14, x15, [x8, \\d]\n"),
        at: every_16!(),
        end: "",
    }
}

stream! {
    /// 64-bit loads in pairs, one line per iteration.
    read_unroll_64_scalar(unrolled_64) {
        start: "",
        turn: "",
        each: "ldp x14, x15, [x4, \\d]",
        at: line_16!(),
        end: "",
    }
}

stream! {
    /// 64-bit loads in pairs, two lines per iteration.
    read_unroll_128_scalar(unrolled_128) {
        start: "",
        turn: "",
        each: "ldp x14, x15, [x4, \\d]",
        at: "0,16,32,48,64,80,96,112",
        end: "",
    }
}

stream! {
    /// 64-bit loads in pairs, four lines per iteration.
    read_unroll_256_scalar(unrolled_256) {
        start: "",
        turn: "",
        each: "ldp x14, x15, [x4, \\d]",
        at: "0,16,32,48,64,80,96,112,128,144,160,176,192,208,224,240",
        end: "",
    }
}

stream! {
    /// One 64-bit load per line.
    touch_scalar(forward) {
        start: "",
        turn: "",
        each: "ldr x14, [x4, \\d]",
        at: every_64!(),
        end: "",
    }
}

stream! {
    /// One 64-bit load per line; lines are prefetched into L1.
    touch_prefetch_scalar(forward) {
        start: "ldr x12, [x0, 48]",
        turn: "add x9, x4, x12",
        each: concat!("prfm pldl1keep, [x9, \\d]\n", "ldr x14, [x4, \\d]\n"),
        at: every_64!(),
        end: "",
    }
}

stream! {
    /// 64-bit stores in pairs.
    write_scalar(forward) {
        start: "ldr x12, [x0, 64]",
        turn: "",
        each: "stp x12, x12, [x4, \\d]",
        at: every_16!(),
        end: "",
    }
}

stream! {
    /// 64-bit non-temporal stores in pairs.
    write_nt_scalar(forward) {
        start: "ldr x12, [x0, 64]",
        turn: "",
        each: "stnp x12, x12, [x4, \\d]",
        at: every_16!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 64-bit stores in pairs, two lines per iteration.
    write_unroll_128_scalar(unrolled_128) {
        start: "ldr x12, [x0, 64]",
        turn: "",
        each: "stp x12, x12, [x4, \\d]",
        at: "0,16,32,48,64,80,96,112",
        end: "",
    }
}

stream! {
    /// 64-bit loads and stores in pairs, with exclusive or in between.
    update_scalar(forward) {
        start: "ldr x12, [x0, 64]",
        turn: "",
        each: concat!("ldp x14, x15, [x4, \\d]\n", "ldp x16, x17, [x4, \\d + 16]\n",
            "eor x14, x14, x12\n", "eor x15, x15, x12\n", "eor x16, x16, x12\n",
            "eor x17, x17, x12\n", "stp x14, x15, [x4, \\d]\n", "stp x16, x17, [x4, \\d + 16]\n"),
        at: every_32!(),
        end: "",
    }
}

stream! {
    /// 64-bit loads and stores in pairs.
    copy_scalar(forward) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp x14, x15, [x4, \\d]\n", "ldp x16, x17, [x4, \\d + 16]\n",
            "stp x14, x15, [x6, \\d]\n", "stp x16, x17, [x6, \\d + 16]\n"),
        at: every_32!(),
        end: "",
    }
}

stream! {
    /// 64-bit loads and non-temporal stores in pairs.
    copy_nt_scalar(forward) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp x14, x15, [x4, \\d]\n", "ldp x16, x17, [x4, \\d + 16]\n",
            "stnp x14, x15, [x6, \\d]\n", "stnp x16, x17, [x6, \\d + 16]\n"),
        at: every_32!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 64-bit loads and stores in pairs, two lines per iteration.
    copy_unroll_128_scalar(unrolled_128) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp x14, x15, [x4, \\d]\n", "ldp x16, x17, [x4, \\d + 16]\n",
            "stp x14, x15, [x6, \\d]\n", "stp x16, x17, [x6, \\d + 16]\n"),
        at: "0,32,64,96",
        end: "",
    }
}

stream! {
    /// Multiplies doubles in pairs.
    scale_scalar(forward) {
        start: "ldr d31, [x0, 64]",
        turn: "add x6, x4, x5",
        each: concat!("ldp d0, d1, [x4, \\d]\n", "ldp d2, d3, [x4, \\d + 16]\n",
            "fmul d0, d0, d31\n", "fmul d1, d1, d31\n", "fmul d2, d2, d31\n", "fmul d3, d3, d31\n",
            "stp d0, d1, [x6, \\d]\n", "stp d2, d3, [x6, \\d + 16]\n"),
        at: every_32!(),
        end: "",
    }
}

stream! {
    /// Adds doubles in pairs.
    add_scalar(forward) {
        start: "",
        turn: concat!("add x6, x4, x5\n", "add x7, x6, x5\n"),
        each: concat!("ldp d0, d1, [x4, \\d]\n", "ldp d2, d3, [x4, \\d + 16]\n",
            "ldp d4, d5, [x6, \\d]\n", "ldp d6, d7, [x6, \\d + 16]\n", "fadd d0, d0, d4\n",
            "fadd d1, d1, d5\n", "fadd d2, d2, d6\n", "fadd d3, d3, d7\n",
            "stp d0, d1, [x7, \\d]\n", "stp d2, d3, [x7, \\d + 16]\n"),
        at: every_32!(),
        end: "",
    }
}

stream! {
    /// Multiplies and adds doubles in pairs: two instructions, two roundings.
    triad_scalar(forward) {
        start: "ldr d31, [x0, 64]",
        turn: concat!("add x6, x4, x5\n", "add x7, x6, x5\n"),
        each: concat!("ldp d0, d1, [x4, \\d]\n", "ldp d2, d3, [x4, \\d + 16]\n",
            "ldp d4, d5, [x6, \\d]\n", "ldp d6, d7, [x6, \\d + 16]\n", "fmul d4, d4, d31\n",
            "fmul d5, d5, d31\n", "fmul d6, d6, d31\n", "fmul d7, d7, d31\n", "fadd d0, d0, d4\n",
            "fadd d1, d1, d5\n", "fadd d2, d2, d6\n", "fadd d3, d3, d7\n",
            "stp d0, d1, [x7, \\d]\n", "stp d2, d3, [x7, \\d + 16]\n"),
        at: every_32!(),
        end: "",
    }
}

stream! {
    /// Multiplies doubles in pairs. Non-temporal stores.
    scale_nt_scalar(forward) {
        start: "ldr d31, [x0, 64]",
        turn: "add x6, x4, x5",
        each: concat!("ldp d0, d1, [x4, \\d]\n", "ldp d2, d3, [x4, \\d + 16]\n",
            "fmul d0, d0, d31\n", "fmul d1, d1, d31\n", "fmul d2, d2, d31\n", "fmul d3, d3, d31\n",
            "stnp d0, d1, [x6, \\d]\n", "stnp d2, d3, [x6, \\d + 16]\n"),
        at: every_32!(),
        end: "dmb ishst",
    }
}

stream! {
    /// Adds doubles in pairs. Non-temporal stores.
    add_nt_scalar(forward) {
        start: "",
        turn: concat!("add x6, x4, x5\n", "add x7, x6, x5\n"),
        each: concat!("ldp d0, d1, [x4, \\d]\n", "ldp d2, d3, [x4, \\d + 16]\n",
            "ldp d4, d5, [x6, \\d]\n", "ldp d6, d7, [x6, \\d + 16]\n", "fadd d0, d0, d4\n",
            "fadd d1, d1, d5\n", "fadd d2, d2, d6\n", "fadd d3, d3, d7\n",
            "stnp d0, d1, [x7, \\d]\n", "stnp d2, d3, [x7, \\d + 16]\n"),
        at: every_32!(),
        end: "dmb ishst",
    }
}

stream! {
    /// Multiplies and adds doubles in pairs: two instructions, two roundings. Non-temporal stores.
    triad_nt_scalar(forward) {
        start: "ldr d31, [x0, 64]",
        turn: concat!("add x6, x4, x5\n", "add x7, x6, x5\n"),
        each: concat!("ldp d0, d1, [x4, \\d]\n", "ldp d2, d3, [x4, \\d + 16]\n",
            "ldp d4, d5, [x6, \\d]\n", "ldp d6, d7, [x6, \\d + 16]\n", "fmul d4, d4, d31\n",
            "fmul d5, d5, d31\n", "fmul d6, d6, d31\n", "fmul d7, d7, d31\n", "fadd d0, d0, d4\n",
            "fadd d1, d1, d5\n", "fadd d2, d2, d6\n", "fadd d3, d3, d7\n",
            "stnp d0, d1, [x7, \\d]\n", "stnp d2, d3, [x7, \\d + 16]\n"),
        at: every_32!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 64-bit loads in pairs.
    read_reverse_scalar(backward) {
        start: "",
        turn: "",
        each: "ldp x14, x15, [x4, \\d]",
        at: back_16!(),
        end: "",
    }
}

stream! {
    /// 64-bit non-temporal loads in pairs.
    read_nt_reverse_scalar(backward) {
        start: "",
        turn: "",
        each: "ldnp x14, x15, [x4, \\d]",
        at: back_16!(),
        end: "",
    }
}

stream! {
    /// 64-bit stores in pairs.
    write_reverse_scalar(backward) {
        start: "ldr x12, [x0, 64]",
        turn: "",
        each: "stp x12, x12, [x4, \\d]",
        at: back_16!(),
        end: "",
    }
}

stream! {
    /// 64-bit non-temporal stores in pairs.
    write_nt_reverse_scalar(backward) {
        start: "ldr x12, [x0, 64]",
        turn: "",
        each: "stnp x12, x12, [x4, \\d]",
        at: back_16!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 64-bit loads and stores in pairs.
    copy_reverse_scalar(backward) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp x16, x17, [x4, \\d + 16]\n", "ldp x14, x15, [x4, \\d]\n",
            "stp x16, x17, [x6, \\d + 16]\n", "stp x14, x15, [x6, \\d]\n"),
        at: back_32!(),
        end: "",
    }
}

stream! {
    /// 64-bit loads and non-temporal stores in pairs.
    copy_nt_reverse_scalar(backward) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp x16, x17, [x4, \\d + 16]\n", "ldp x14, x15, [x4, \\d]\n",
            "stnp x16, x17, [x6, \\d + 16]\n", "stnp x14, x15, [x6, \\d]\n"),
        at: back_32!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 64-bit loads in pairs.
    read_lines_scalar(lines) {
        start: "",
        turn: "",
        each: "ldp x14, x15, [x4, \\d]",
        at: line_16!(),
        end: "",
    }
}

stream! {
    /// 64-bit non-temporal loads in pairs.
    read_nt_lines_scalar(lines) {
        start: "",
        turn: "",
        each: "ldnp x14, x15, [x4, \\d]",
        at: line_16!(),
        end: "",
    }
}

stream! {
    /// 64-bit stores in pairs.
    write_lines_scalar(lines) {
        start: "ldr x12, [x0, 64]",
        turn: "",
        each: "stp x12, x12, [x4, \\d]",
        at: line_16!(),
        end: "",
    }
}

stream! {
    /// 64-bit non-temporal stores in pairs.
    write_nt_lines_scalar(lines) {
        start: "ldr x12, [x0, 64]",
        turn: "",
        each: "stnp x12, x12, [x4, \\d]",
        at: line_16!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 64-bit loads and stores in pairs.
    copy_lines_scalar(lines) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp x14, x15, [x4, \\d]\n", "ldp x16, x17, [x4, \\d + 16]\n",
            "stp x14, x15, [x6, \\d]\n", "stp x16, x17, [x6, \\d + 16]\n"),
        at: line_32!(),
        end: "",
    }
}

stream! {
    /// 64-bit loads and non-temporal stores in pairs.
    copy_nt_lines_scalar(lines) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp x14, x15, [x4, \\d]\n", "ldp x16, x17, [x4, \\d + 16]\n",
            "stnp x14, x15, [x6, \\d]\n", "stnp x16, x17, [x6, \\d + 16]\n"),
        at: line_32!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 64-bit loads in pairs.
    read_chunks_scalar(chunks) {
        start: "",
        turn: "",
        each: "ldp x14, x15, [x4, \\d]",
        at: every_16!(),
        end: "",
    }
}

stream! {
    /// 64-bit non-temporal loads in pairs.
    read_nt_chunks_scalar(chunks) {
        start: "",
        turn: "",
        each: "ldnp x14, x15, [x4, \\d]",
        at: every_16!(),
        end: "",
    }
}

stream! {
    /// 64-bit stores in pairs.
    write_chunks_scalar(chunks) {
        start: "ldr x12, [x0, 64]",
        turn: "",
        each: "stp x12, x12, [x4, \\d]",
        at: every_16!(),
        end: "",
    }
}

stream! {
    /// 64-bit non-temporal stores in pairs.
    write_nt_chunks_scalar(chunks) {
        start: "ldr x12, [x0, 64]",
        turn: "",
        each: "stnp x12, x12, [x4, \\d]",
        at: every_16!(),
        end: "dmb ishst",
    }
}

stream! {
    /// 64-bit loads and stores in pairs.
    copy_chunks_scalar(chunks) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp x14, x15, [x4, \\d]\n", "ldp x16, x17, [x4, \\d + 16]\n",
            "stp x14, x15, [x6, \\d]\n", "stp x16, x17, [x6, \\d + 16]\n"),
        at: every_32!(),
        end: "",
    }
}

stream! {
    /// 64-bit loads and non-temporal stores in pairs.
    copy_nt_chunks_scalar(chunks) {
        start: "",
        turn: "add x6, x4, x5",
        each: concat!("ldp x14, x15, [x4, \\d]\n", "ldp x16, x17, [x4, \\d + 16]\n",
            "stnp x14, x15, [x6, \\d]\n", "stnp x16, x17, [x6, \\d + 16]\n"),
        at: every_32!(),
        end: "dmb ishst",
    }
}

stream! {
    /// `dc zva` of blocks of 64, 32 or 16 B, as long as the processor says. Longer blocks leave the
    /// body early, by branches that always go the same way. See [`zeroes_blocks`].
    write_zero_scalar(forward) {
        start: concat!("mrs x12, dczid_el0\n", "and x12, x12, 15\n", "mov x14, 4\n", "lsl x12, x14, x12\n"),
        turn: concat!(
            "mov x14, x4\n",
            ".rept 8\n", "dc zva, x14\n", "add x14, x14, x12\n", ".endr\n",
            "tbnz x12, 6, 4f\n",
            ".rept 8\n", "dc zva, x14\n", "add x14, x14, x12\n", ".endr\n",
            "tbnz x12, 5, 4f\n",
            ".rept 16\n", "dc zva, x14\n", "add x14, x14, x12\n", ".endr\n",
            "4:\n",
        ),
        each: "",
        at: "0",
        end: "",
    }
}

/// Reads DCZID_EL0: whether `dc zva` is allowed, and the size of its block as a power of two of
/// words (Arm ARM, D17.2). Any program may read it.
///
/// - In: nothing.
/// - Out: `x0` = the register.
/// - Clobbers: nothing else.
/// - Memory: none.
#[unsafe(naked)]
unsafe extern "C" fn zero_block() -> usize {
    core::arch::naked_asm!("mrs x0, dczid_el0", "ret")
}

/// True if `dc zva` is allowed and zeroes 16 to 64 B. Streams start at multiples of 64 B, so a
/// longer block might begin before its stream.
pub(crate) fn zeroes_blocks() -> bool {
    // SAFETY: reads an identification register that every program may read.
    let found = unsafe { zero_block() };
    found & 16 == 0 && (2..=4).contains(&(found & 15))
}
