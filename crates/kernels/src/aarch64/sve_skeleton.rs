//! The loops of the rows of SVE, for all lengths of vectors.
//!
//! One iteration is 512 bytes at every length, without a nested loop. Its body is unrolled for the
//! shortest vectors. Longer vectors leave it early, by branches that always go the same way. Orders
//! of lines and shorter iterations have a loop for each number of vectors in one.

/// Registers that the vectors of each stream are counted from: x12, x14, x15, x16.
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
pub(super) use bases;

/// Moves the bases by `$by` vectors, because instructions reach only eight vectors down and seven
/// up.
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
pub(super) use advance;

/// `$each` for every second vector of `$at`; it does two.
macro_rules! pairs {
    ($at:literal, $each:expr) => {
        concat!(".irp i, ", $at, "\n", $each, "\n", ".endr\n")
    };
}
pub(super) use pairs;

/// One iteration: `$turn` once, then `$each`. Each `$each` is a pair of vectors of the 512 bytes.
/// In `lines` and the `unrolled` orders, each `$each` handles one vector. `x10` is the length of a
/// vector.
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
    (unrolled, $streams:tt, $at:literal, $each:expr) => {
        concat!(bases!($streams), pairs!($at, $each))
    };
    (unrolled_twice, $streams:tt, $at:literal, $each:expr) => {
        concat!(
            sve_turn!(unrolled, $streams, $at, $each),
            advance!($streams, "8"),
            pairs!($at, $each)
        )
    };
    (chunks, $streams:tt, $turn:expr, $each:expr) => {
        concat!(
            "ldr w4, [x7]\n",
            "add x4, x1, x4, lsl 3\n",
            sve_turn!(forward, $streams, $turn, $each)
        )
    };
    (lines, $streams:tt, $at:literal, $each:expr) => {
        concat!(
            ".irp e, 0,16\n",
            "ldp w8, w9, [x7, \\e]\n",
            "ldp w10, w11, [x7, \\e + 8]\n",
            ".irp p, x8,x9,x10,x11\n",
            "add x4, x1, \\p, lsl 3\n",
            bases!($streams),
            pairs!($at, $each),
            ".endr\n",
            ".endr\n",
        )
    };
}
pub(super) use sve_turn;

/// A streaming kernel of SVE, like the `stream!` of the other sets with these differences.
///
/// - Clobbers also: p0, and the bits of all vector registers beyond the low 64 bits. Only the low
///   halves of v8 to v15 are kept.
/// - `\i` in a row is the first of two vectors, counted from the bases of the streams: x12, x14,
///   x15, x16. By lines and in shorter iterations, it is the only vector.
/// - p0 selects the 64-bit elements to process: all, or those of a line or an iteration if a vector
///   is longer.
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
    ($(#[$doc:meta])* $name:ident(unrolled_64, $streams:tt) {
        start: $start:expr, turn: $turn:expr, each: $each:expr, end: $end:expr $(,)?
    }) => {
        sve_stream! {
            @function $(#[$doc])* $name,
            concat!(
                enter!(unrolled_64),
                "mov x14, 8\n",
                "whilelo p0.d, xzr, x14\n",
                "rdvl x10, 1\n",
                $start, "\n",
                "tbnz x10, 4, 2f\n",
                "tbnz x10, 5, 5f\n",
                "b 6f\n",
                sve_stream!(@loop "2", step!(unrolled_64), sve_turn!(unrolled, $streams, "0,1,2,3", $each)),
                "b 4f\n",
                sve_stream!(@loop "5", step!(unrolled_64), sve_turn!(unrolled, $streams, "0,1", $each)),
                "b 4f\n",
                sve_stream!(@loop "6", step!(unrolled_64), sve_turn!(unrolled, $streams, "0", $each)),
                "4:\n",
                leave!(unrolled_64),
                $end, "\n",
            )
        }
    };
    ($(#[$doc:meta])* $name:ident(unrolled_128, $streams:tt) {
        start: $start:expr, turn: $turn:expr, each: $each:expr, end: $end:expr $(,)?
    }) => {
        sve_stream! {
            @function $(#[$doc])* $name,
            concat!(
                enter!(unrolled_128),
                "mov x14, 16\n",
                "whilelo p0.d, xzr, x14\n",
                "rdvl x10, 1\n",
                $start, "\n",
                "tbnz x10, 4, 2f\n",
                "tbnz x10, 5, 5f\n",
                "tbnz x10, 6, 6f\n",
                "b 7f\n",
                sve_stream!(@loop "2", step!(unrolled_128), sve_turn!(unrolled, $streams,
                    "0,1,2,3,4,5,6,7", $each)),
                "b 4f\n",
                sve_stream!(@loop "5", step!(unrolled_128), sve_turn!(unrolled, $streams, "0,1,2,3", $each)),
                "b 4f\n",
                sve_stream!(@loop "6", step!(unrolled_128), sve_turn!(unrolled, $streams, "0,1", $each)),
                "b 4f\n",
                sve_stream!(@loop "7", step!(unrolled_128), sve_turn!(unrolled, $streams, "0", $each)),
                "4:\n",
                leave!(unrolled_128),
                $end, "\n",
            )
        }
    };
    ($(#[$doc:meta])* $name:ident(unrolled_256, $streams:tt) {
        start: $start:expr, turn: $turn:expr, each: $each:expr, end: $end:expr $(,)?
    }) => {
        sve_stream! {
            @function $(#[$doc])* $name,
            concat!(
                enter!(unrolled_256),
                "mov x14, 32\n",
                "whilelo p0.d, xzr, x14\n",
                "rdvl x10, 1\n",
                $start, "\n",
                "tbnz x10, 4, 2f\n",
                "tbnz x10, 5, 5f\n",
                "tbnz x10, 6, 6f\n",
                "tbnz x10, 7, 7f\n",
                "b 9f\n",
                sve_stream!(@loop "2", step!(unrolled_256), sve_turn!(unrolled_twice, $streams,
                    "0,1,2,3,4,5,6,7", $each)),
                "b 4f\n",
                sve_stream!(@loop "5", step!(unrolled_256), sve_turn!(unrolled, $streams,
                    "0,1,2,3,4,5,6,7", $each)),
                "b 4f\n",
                sve_stream!(@loop "6", step!(unrolled_256), sve_turn!(unrolled, $streams, "0,1,2,3", $each)),
                "b 4f\n",
                sve_stream!(@loop "7", step!(unrolled_256), sve_turn!(unrolled, $streams, "0,1", $each)),
                "b 4f\n",
                sve_stream!(@loop "9", step!(unrolled_256), sve_turn!(unrolled, $streams, "0", $each)),
                "4:\n",
                leave!(unrolled_256),
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
        pub(crate) unsafe extern "C" fn $name(call: &mut crate::stream_call::StreamCall) {
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
pub(super) use sve_stream;
