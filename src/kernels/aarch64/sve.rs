//! The streaming rows of AArch64 in SVE registers, as long as the processor's are: 16 to 256 B.
//!
//! One turn is 512 bytes at every length, without a nested loop: its body is unrolled for the shortest vectors, and
//! longer ones leave it early, by branches that go the same way in every turn. Loads that are not used may all go to
//! one pair of registers: each renames it, none waits for another.

use super::skeleton::{enter, leave, step};

/// Bytes of a vector: `fn() -> bytes`, only where SVE is present.
///
/// In: nothing. Out: `x0`. Clobbers: nothing else. Memory: none.
#[unsafe(naked)]
unsafe extern "C" fn vector_bytes() -> usize {
    core::arch::naked_asm!(".arch_extension sve", "cntb x0", "ret", ".arch_extension nosve")
}

/// Bits of a vector, 0 where there are none.
pub(in crate::kernels) fn bits() -> u32 {
    if !std::arch::is_aarch64_feature_detected!("sve") {
        return 0;
    }
    // SAFETY: the processor and the system have SVE.
    let bytes = unsafe { vector_bytes() };
    u32::try_from(bytes * 8).unwrap_or(0)
}

/// Whether there is SVE with vectors that fill a block. Early processors were allowed lengths that are no powers of two;
/// none is known to have made use of it.
pub(in crate::kernels) fn present() -> bool {
    bits().is_power_of_two() && bits() <= 2048
}

/// Where the vectors of each stream are counted from: x12, x14, x15, x16.
macro_rules! bases {
    (1) => {
        "mov x12, x4\n"
    };
    (2) => {
        concat!(bases!(1), "add x14, x4, x5\n")
    };
    (3) => {
        concat!(bases!(2), "add x15, x14, x5\n")
    };
    (4) => {
        concat!(bases!(3), "add x16, x15, x5\n")
    };
}

/// Moves them by `$by` vectors: instructions reach eight down and seven up.
macro_rules! advance {
    (1, $by:literal) => {
        concat!("addvl x12, x12, ", $by, "\n")
    };
    (2, $by:literal) => {
        concat!(advance!(1, $by), "addvl x14, x14, ", $by, "\n")
    };
    (3, $by:literal) => {
        concat!(advance!(2, $by), "addvl x15, x15, ", $by, "\n")
    };
    (4, $by:literal) => {
        concat!(advance!(3, $by), "addvl x16, x16, ", $by, "\n")
    };
}

/// `$each` for every second vector of `$at`; it does two.
macro_rules! pairs {
    ($at:literal, $each:expr) => {
        concat!(".irp i, ", $at, "\n", $each, "\n", ".endr\n")
    };
}

/// One turn: `$turn` once, then `$each` for every pair of vectors of 512 bytes, or for every vector of eight lines.
/// `x10` is the length of a vector.
macro_rules! sve_turn {
    (forward, $streams:tt, $turn:expr, $each:expr) => {
        concat!(
            $turn,
            "\n",
            bases!($streams),
            pairs!("0", $each),
            "tbnz x10, 8, 4f\n",
            pairs!("2", $each),
            "tbnz x10, 7, 4f\n",
            pairs!("4,6", $each),
            "tbnz x10, 6, 4f\n",
            advance!($streams, "16"),
            pairs!("-8,-6,-4,-2", $each),
            "tbnz x10, 5, 4f\n",
            pairs!("0,2,4,6", $each),
            advance!($streams, "16"),
            pairs!("-8,-6,-4,-2", $each),
            "4:\n",
        )
    };
    (backward, $streams:tt, $turn:expr, $each:expr) => {
        concat!(
            $turn,
            "\n",
            bases!($streams),
            pairs!("-2", $each),
            "tbnz x10, 8, 4f\n",
            pairs!("-4", $each),
            "tbnz x10, 7, 4f\n",
            pairs!("-6,-8", $each),
            "tbnz x10, 6, 4f\n",
            advance!($streams, "-16"),
            pairs!("6,4,2,0", $each),
            "tbnz x10, 5, 4f\n",
            pairs!("-2,-4,-6,-8", $each),
            advance!($streams, "-16"),
            pairs!("6,4,2,0", $each),
            "4:\n",
        )
    };
    (chunks, $streams:tt, $turn:expr, $each:expr) => {
        concat!("ldr w4, [x7]\n", "add x4, x1, x4, lsl 6\n", sve_turn!(forward, $streams, $turn, $each))
    };
    (lines, $streams:tt, $at:literal, $each:expr) => {
        concat!(
            ".irp e, 0,16\n",
            "ldp w8, w9, [x7, \\e]\n",
            "ldp w10, w11, [x7, \\e + 8]\n",
            ".irp p, x8,x9,x10,x11\n",
            "add x4, x1, \\p, lsl 6\n",
            bases!($streams),
            pairs!($at, $each),
            ".endr\n",
            ".endr\n",
        )
    };
}

/// A streaming kernel of SVE: as the `stream!` of the other sets, with these differences.
///
/// Clobbers also: p0 and what of the vector registers lies beyond their low 64 bits, except v8 to v15's low halves; all
/// the caller's to save.
/// In a row `\i` is the first of two vectors, counted from the streams' bases x12, x14, x15, x16 (a row by lines: the one
/// vector), and p0 tells which elements of 64 bits are worked on: all, or the eight of a line where a vector is longer.
macro_rules! sve_stream {
    ($(#[$doc:meta])* $name:ident(lines, $streams:tt) {
        start: $start:expr, turn: $turn:expr, each: $each:expr, end: $end:expr $(,)?
    }) => {
        sve_stream! {
            @function $(#[$doc])* $name,
            concat!(
                enter!(lines),
                "mov x14, 8\n",
                "whilelo p0.d, xzr, x14\n",
                "rdvl x10, 1\n",
                $start, "\n",
                "tbnz x10, 4, 2f\n",
                "tbnz x10, 5, 5f\n",
                "b 6f\n",
                sve_stream!(@loop "2", step!(lines), sve_turn!(lines, $streams, "0,1,2,3", $each)),
                "b 4f\n",
                sve_stream!(@loop "5", step!(lines), sve_turn!(lines, $streams, "0,1", $each)),
                "b 4f\n",
                sve_stream!(@loop "6", step!(lines), sve_turn!(lines, $streams, "0", $each)),
                "4:\n",
                leave!(lines),
                $end, "\n",
            )
        }
    };
    ($(#[$doc:meta])* $name:ident($visits:ident, $streams:tt) {
        start: $start:expr, turn: $turn:expr, each: $each:expr, end: $end:expr $(,)?
    }) => {
        sve_stream! {
            @function $(#[$doc])* $name,
            concat!(
                enter!($visits),
                "ptrue p0.d\n",
                "rdvl x10, 1\n",
                $start, "\n",
                "b 2f\n",
                sve_stream!(@loop "2", step!($visits), sve_turn!($visits, $streams, $turn, $each)),
                leave!($visits),
                $end, "\n",
            )
        }
    };
    (@loop $label:literal, $step:expr, $turn:expr) => {
        concat!(".p2align 6, 0xcc\n", $label, ":\n", $turn, $step, "subs x3, x3, 1\n", "b.ne ", $label, "b\n")
    };
    (@function $(#[$doc:meta])* $name:ident, $text:expr) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub(in crate::kernels) unsafe extern "C" fn $name(call: &mut crate::kernels::stream::StreamCall) {
            core::arch::naked_asm!(concat!(
                ".arch_extension sve\n",
                $text,
                "3:\n",
                "ret\n",
                ".ascii \"memgauge-row-end\"\n",
                ".arch_extension nosve\n",
            ))
        }
    };
}

sve_stream! {
    /// Loads.
    read(forward, 1) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads, added up in four registers.
    read_sum(forward, 1) {
        start: concat!("mov z16.d, 0\n", "mov z17.d, 0\n", "mov z18.d, 0\n", "mov z19.d, 0\n"),
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", ".if \\i & 2\n", "add z18.d, z18.d, z0.d\n", "add z19.d, z19.d, z1.d\n", ".else\n", "add z16.d, z16.d, z0.d\n", "add z17.d, z17.d, z1.d\n", ".endif\n"),
        end: concat!("add z16.d, z16.d, z17.d\n", "add z18.d, z18.d, z19.d\n", "add z16.d, z16.d, z18.d\n", "uaddv d16, p0, z16.d\n", "str d16, [x0, 72]\n"),
    }
}

sve_stream! {
    /// Non-temporal loads.
    read_nt(forward, 1) {
        start: "",
        turn: "",
        each: concat!("ldnt1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ldnt1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Non-temporal loads; lines are prefetched for one use.
    read_nta(forward, 1) {
        start: "ldr x17, [x0, 48]",
        turn: concat!("add x9, x4, x17\n", "prfm pldl1strm, [x9, 0]\n", "prfm pldl1strm, [x9, 64]\n", "prfm pldl1strm, [x9, 128]\n", "prfm pldl1strm, [x9, 192]\n", "prfm pldl1strm, [x9, 256]\n", "prfm pldl1strm, [x9, 320]\n", "prfm pldl1strm, [x9, 384]\n", "prfm pldl1strm, [x9, 448]\n"),
        each: concat!("ldnt1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ldnt1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads; lines are prefetched into L1.
    read_prefetch(forward, 1) {
        start: "ldr x17, [x0, 48]",
        turn: concat!("add x9, x4, x17\n", "prfm pldl1keep, [x9, 0]\n", "prfm pldl1keep, [x9, 64]\n", "prfm pldl1keep, [x9, 128]\n", "prfm pldl1keep, [x9, 192]\n", "prfm pldl1keep, [x9, 256]\n", "prfm pldl1keep, [x9, 320]\n", "prfm pldl1keep, [x9, 384]\n", "prfm pldl1keep, [x9, 448]\n"),
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads from four streams in turn.
    read_4(forward, 4) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "ld1d {{z0.d}}, p0/z, [x14, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x14, \\i + 1, mul vl]\n", "ld1d {{z0.d}}, p0/z, [x15, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x15, \\i + 1, mul vl]\n", "ld1d {{z0.d}}, p0/z, [x16, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x16, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Stores.
    write(forward, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("st1d {{z31.d}}, p0, [x12, \\i, mul vl]\n", "st1d {{z31.d}}, p0, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Non-temporal stores.
    write_nt(forward, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("stnt1d {{z31.d}}, p0, [x12, \\i, mul vl]\n", "stnt1d {{z31.d}}, p0, [x12, \\i + 1, mul vl]\n"),
        end: "dmb ishst",
    }
}

sve_stream! {
    /// Loads and stores, exclusive or between.
    update(forward, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "eor z0.d, z0.d, z31.d\n", "eor z1.d, z1.d, z31.d\n", "st1d {{z0.d}}, p0, [x12, \\i, mul vl]\n", "st1d {{z1.d}}, p0, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads and stores.
    copy(forward, 2) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "st1d {{z0.d}}, p0, [x14, \\i, mul vl]\n", "st1d {{z1.d}}, p0, [x14, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Doubles, multiplied.
    scale(forward, 2) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "fmul z0.d, z0.d, z31.d\n", "fmul z1.d, z1.d, z31.d\n", "st1d {{z0.d}}, p0, [x14, \\i, mul vl]\n", "st1d {{z1.d}}, p0, [x14, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Doubles, added.
    add(forward, 3) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "ld1d {{z2.d}}, p0/z, [x14, \\i, mul vl]\n", "ld1d {{z3.d}}, p0/z, [x14, \\i + 1, mul vl]\n", "fadd z0.d, z0.d, z2.d\n", "fadd z1.d, z1.d, z3.d\n", "st1d {{z0.d}}, p0, [x15, \\i, mul vl]\n", "st1d {{z1.d}}, p0, [x15, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Doubles, multiplied and added: two instructions, two roundings.
    triad(forward, 3) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "ld1d {{z2.d}}, p0/z, [x14, \\i, mul vl]\n", "ld1d {{z3.d}}, p0/z, [x14, \\i + 1, mul vl]\n", "fmul z2.d, z2.d, z31.d\n", "fmul z3.d, z3.d, z31.d\n", "fadd z0.d, z0.d, z2.d\n", "fadd z1.d, z1.d, z3.d\n", "st1d {{z0.d}}, p0, [x15, \\i, mul vl]\n", "st1d {{z1.d}}, p0, [x15, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads and non-temporal stores.
    copy_nt(forward, 2) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "stnt1d {{z0.d}}, p0, [x14, \\i, mul vl]\n", "stnt1d {{z1.d}}, p0, [x14, \\i + 1, mul vl]\n"),
        end: "dmb ishst",
    }
}

sve_stream! {
    /// Doubles, multiplied. Non-temporal stores.
    scale_nt(forward, 2) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "fmul z0.d, z0.d, z31.d\n", "fmul z1.d, z1.d, z31.d\n", "stnt1d {{z0.d}}, p0, [x14, \\i, mul vl]\n", "stnt1d {{z1.d}}, p0, [x14, \\i + 1, mul vl]\n"),
        end: "dmb ishst",
    }
}

sve_stream! {
    /// Doubles, added. Non-temporal stores.
    add_nt(forward, 3) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "ld1d {{z2.d}}, p0/z, [x14, \\i, mul vl]\n", "ld1d {{z3.d}}, p0/z, [x14, \\i + 1, mul vl]\n", "fadd z0.d, z0.d, z2.d\n", "fadd z1.d, z1.d, z3.d\n", "stnt1d {{z0.d}}, p0, [x15, \\i, mul vl]\n", "stnt1d {{z1.d}}, p0, [x15, \\i + 1, mul vl]\n"),
        end: "dmb ishst",
    }
}

sve_stream! {
    /// Doubles, multiplied and added: two instructions, two roundings. Non-temporal stores.
    triad_nt(forward, 3) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "ld1d {{z2.d}}, p0/z, [x14, \\i, mul vl]\n", "ld1d {{z3.d}}, p0/z, [x14, \\i + 1, mul vl]\n", "fmul z2.d, z2.d, z31.d\n", "fmul z3.d, z3.d, z31.d\n", "fadd z0.d, z0.d, z2.d\n", "fadd z1.d, z1.d, z3.d\n", "stnt1d {{z0.d}}, p0, [x15, \\i, mul vl]\n", "stnt1d {{z1.d}}, p0, [x15, \\i + 1, mul vl]\n"),
        end: "dmb ishst",
    }
}

sve_stream! {
    /// Loads.
    read_reverse(backward, 1) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Stores.
    write_reverse(backward, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("st1d {{z31.d}}, p0, [x12, \\i + 1, mul vl]\n", "st1d {{z31.d}}, p0, [x12, \\i, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads and stores.
    copy_reverse(backward, 2) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "st1d {{z1.d}}, p0, [x14, \\i + 1, mul vl]\n", "st1d {{z0.d}}, p0, [x14, \\i, mul vl]\n"),
        end: "",
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
    /// Stores.
    write_lines(lines, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: "st1d {{z31.d}}, p0, [x12, \\i, mul vl]",
        end: "",
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
    /// Loads.
    read_chunks(chunks, 1) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Stores.
    write_chunks(chunks, 1) {
        start: concat!("ldr x14, [x0, 64]\n", "mov z31.d, x14\n"),
        turn: "",
        each: concat!("st1d {{z31.d}}, p0, [x12, \\i, mul vl]\n", "st1d {{z31.d}}, p0, [x12, \\i + 1, mul vl]\n"),
        end: "",
    }
}

sve_stream! {
    /// Loads and stores.
    copy_chunks(chunks, 2) {
        start: "",
        turn: "",
        each: concat!("ld1d {{z0.d}}, p0/z, [x12, \\i, mul vl]\n", "ld1d {{z1.d}}, p0/z, [x12, \\i + 1, mul vl]\n", "st1d {{z0.d}}, p0, [x14, \\i, mul vl]\n", "st1d {{z1.d}}, p0, [x14, \\i + 1, mul vl]\n"),
        end: "",
    }
}
