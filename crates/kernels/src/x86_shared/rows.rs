//! The vector rows of x86 and x86-64 that only differ in names between kinds of registers. The
//! loops (`forward!` and the other orders) and registers (`x86!`) are those of the module that uses
//! these macros.
//!
//! Loads whose values are not used all go to one register. Each load renames it, so none waits for
//! another. Sums and copies use four registers per group. So no addition waits for the previous
//! one, and loads run ahead of the stores.

/// `\d` bytes and `\i` registers of `$width` bytes above `$base`.
macro_rules! up {
    ($base:expr, $width:literal) => {
        concat!("[", $base, " + \\d + ", $width, " * \\i]")
    };
}
pub(crate) use up;

/// `\d` bytes and `\i` registers of `$width` bytes below `$base`.
macro_rules! down {
    ($base:expr, $width:literal) => {
        concat!("[", $base, " - \\d - ", $width, " * \\i - ", $width, "]")
    };
}
pub(crate) use down;

/// `\i` registers of `$width` bytes above `$base`.
macro_rules! within {
    ($base:expr, $width:literal) => {
        concat!("[", $base, " + ", $width, " * \\i]")
    };
}
pub(crate) use within;

/// Repeats an instruction for each `\i` of a list.
macro_rules! each {
    ($list:expr, $($text:expr),*) => {
        concat!(".irp i, ", $list, "\n", $($text,)* "\n.endr\n")
    };
}
pub(crate) use each;

/// Loads to registers `\i` of a list, then stores from them.
macro_rules! moves {
    ($list:expr, $register:literal, $load:literal $from:expr, $store:literal $to:expr) => {
        concat!(
            each!($list, $load, " ", $register, "\\i, ", $from),
            each!($list, $store, " ", $to, ", ", $register, "\\i"),
        )
    };
}
pub(crate) use moves;

/// Defines the rows that only differ in names between kinds of registers.
macro_rules! vector_rows {
    (
        width: $width:literal, register: $r:literal, accesses: $accesses:expr, groups: $groups:expr,
        line: $line:literal, lines: $lines:literal, load: $load:literal, store: $store:literal,
            nt: $nt:literal,
        pattern: $pattern:expr, xor: ($xor:literal, $xor_end:literal), leave: $leave:literal $(,)?
    ) => {
        load_rows! { $width, $r, $accesses, $line, $load, $leave }
        store_rows! { $width, $r, $accesses, $line, $store, $nt, $pattern, $leave }
        copy_rows! { $width, $r, $groups, $line, $load, $store, $nt, $leave }
        unrolled_rows! { $width, $r, $line, $lines, $load, $store, $pattern, $leave }
        forward! {
            /// Loads, exclusive or, and stores, in groups of four.
            update {
                start: $pattern,
                turn: "",
                each: concat!(
                    four!($xor, x86!(position), $width, $xor_end),
                    ".irp i, 1,2,3,4\n",
                    $store, " [", x86!(position), " + \\d + ", $width, " * \\i - ", $width, "], ", $r, "\\i\n\
                         .endr\n",
                ),
                at: $groups,
                end: $leave,
            }
        }
    };
}
pub(crate) use vector_rows;

/// Rows with shorter iterations: one line (`$line` registers) or two lines (`$lines`).
macro_rules! unrolled_rows {
    (
        $width:literal, $r:literal, $line:literal, $lines:literal, $load:literal, $store:literal,
            $pattern:expr,
        $leave:literal
    ) => {
        unrolled! { 64,
            /// Loads of one line per iteration.
            read_unroll_64 {
                start: "",
                turn: "",
                each: concat!($load, " ", $r, "0, [", x86!(position), " + ", $width, " * \\d]"),
                at: $line,
                end: $leave,
            }
        }
        unrolled! { 128,
            /// Loads of two lines per iteration.
            read_unroll_128 {
                start: "",
                turn: "",
                each: concat!($load, " ", $r, "0, [", x86!(position), " + ", $width, " * \\d]"),
                at: $lines,
                end: $leave,
            }
        }
        unrolled! { 256,
            /// Loads of four lines per iteration.
            read_unroll_256 {
                start: "",
                turn: "",
                each: each!($lines, $load, " ", $r, "0, ", up!(x86!(position), $width)),
                at: "0,128",
                end: $leave,
            }
        }
        unrolled! { 128,
            /// Stores of two lines per iteration.
            write_unroll_128 {
                start: $pattern,
                turn: "",
                each: concat!($store, " [", x86!(position), " + ", $width, " * \\d], ", $r, "0"),
                at: $lines,
                end: $leave,
            }
        }
        unrolled! { 128,
            /// Loads and stores of two lines per iteration.
            copy_unroll_128 {
                start: "",
                turn: x86!(get second),
                each: moves!($lines, $r, $load within!(x86!(position), $width),
                    $store within!(x86!(second), $width)),
                at: "0",
                end: $leave,
            }
        }
    };
}
pub(crate) use unrolled_rows;

macro_rules! load_rows {
    ($width:literal, $r:literal, $accesses:expr, $line:literal, $load:literal, $leave:literal) => {
        forward! {
            /// Loads.
            read {
                start: "",
                turn: "",
                each: concat!($load, " ", $r, "0, [", x86!(position), " + \\d]"),
                at: $accesses,
                end: $leave,
            }
        }
        forward! {
            /// Loads; each line is prefetched.
            read_prefetch {
                start: x86!(get distance),
                turn: "",
                each: concat!(
                    "prefetcht0 [", x86!(position), " + ", x86!(distance), " + \\d]\n",
                    each!($line, $load, " ", $r, "0, ", up!(x86!(position), $width)),
                ),
                at: every_64!(),
                end: $leave,
            }
        }
        forward! {
            /// Loads from four streams in turn.
            read_4 {
                start: "",
                turn: x86!(get second),
                each: concat!(
                    $load, " ", $r, "0, [", x86!(position), " + \\d]\n",
                    $load, " ", $r, "0, [", x86!(second), " + \\d]\n",
                    $load, " ", $r, "0, [", x86!(position), " + 2 * ", x86!(delta), " + \\d]\n",
                    $load, " ", $r, "0, [", x86!(second), " + 2 * ", x86!(delta), " + \\d]\n",
                ),
                at: $accesses,
                end: $leave,
            }
        }
        backward! {
            /// Loads.
            read_reverse {
                start: "",
                turn: "",
                each: concat!($load, " ", $r, "0, [", x86!(position), " - \\d - ", $width, "]"),
                at: $accesses,
                end: $leave,
            }
        }
        line_pairs! {
            /// Loads.
            read_lines {
                start: "",
                each: each!($line, $load, " ", $r, "0, ", within!(x86!(line), $width)),
                end: $leave,
            }
        }
        chunks! {
            /// Loads.
            read_chunks {
                start: "",
                turn: "",
                each: concat!($load, " ", $r, "0, [", x86!(position), " + \\d]"),
                at: $accesses,
                end: $leave,
            }
        }
    };
}
pub(crate) use load_rows;

macro_rules! store_rows {
    (
        $width:literal, $r:literal, $accesses:expr, $line:literal, $store:literal, $nt:literal, $pattern:expr,
        $leave:literal
    ) => {
        forward! {
            /// Stores.
            write {
                start: $pattern,
                turn: "",
                each: concat!($store, " [", x86!(position), " + \\d], ", $r, "0"),
                at: $accesses,
                end: $leave,
            }
        }
        forward! {
            /// Non-temporal stores.
            write_nt {
                start: $pattern,
                turn: "",
                each: concat!($nt, " [", x86!(position), " + \\d], ", $r, "0"),
                at: $accesses,
                end: concat!("sfence\n", $leave),
            }
        }
        backward! {
            /// Stores.
            write_reverse {
                start: $pattern,
                turn: "",
                each: concat!($store, " [", x86!(position), " - \\d - ", $width, "], ", $r, "0"),
                at: $accesses,
                end: $leave,
            }
        }
        backward! {
            /// Non-temporal stores.
            write_nt_reverse {
                start: $pattern,
                turn: "",
                each: concat!($nt, " [", x86!(position), " - \\d - ", $width, "], ", $r, "0"),
                at: $accesses,
                end: concat!("sfence\n", $leave),
            }
        }
        lines! {
            /// Stores.
            write_lines {
                start: $pattern,
                each: concat!(
                    x86!(get line),
                    each!($line, $store, " ", within!("\\l", $width), ", ", $r, "0"),
                ),
                end: $leave,
            }
        }
        lines! {
            /// Non-temporal stores.
            write_nt_lines {
                start: $pattern,
                each: concat!(
                    x86!(get line),
                    each!($line, $nt, " ", within!("\\l", $width), ", ", $r, "0"),
                ),
                end: concat!("sfence\n", $leave),
            }
        }
        chunks! {
            /// Stores.
            write_chunks {
                start: $pattern,
                turn: "",
                each: concat!($store, " [", x86!(position), " + \\d], ", $r, "0"),
                at: $accesses,
                end: $leave,
            }
        }
        chunks! {
            /// Non-temporal stores.
            write_nt_chunks {
                start: $pattern,
                turn: "",
                each: concat!($nt, " [", x86!(position), " + \\d], ", $r, "0"),
                at: $accesses,
                end: concat!("sfence\n", $leave),
            }
        }
    };
}
pub(crate) use store_rows;

macro_rules! copy_rows {
    (
        $width:literal, $r:literal, $groups:expr, $line:literal, $load:literal, $store:literal,
            $nt:literal, $leave:literal
    ) => {
        forward! {
            /// Loads and stores.
            copy {
                start: "",
                turn: x86!(get second),
                each: moves!("0,1,2,3", $r, $load up!(x86!(position), $width),
                    $store up!(x86!(second), $width)),
                at: $groups,
                end: $leave,
            }
        }
        forward! {
            /// Loads and non-temporal stores.
            copy_nt {
                start: "",
                turn: x86!(get second),
                each: moves!("0,1,2,3", $r, $load up!(x86!(position), $width), $nt up!(x86!(second), $width)),
                at: $groups,
                end: concat!("sfence\n", $leave),
            }
        }
        backward! {
            /// Loads and stores.
            copy_reverse {
                start: "",
                turn: x86!(get second),
                each: moves!("0,1,2,3", $r, $load down!(x86!(position), $width),
                    $store down!(x86!(second), $width)),
                at: $groups,
                end: $leave,
            }
        }
        backward! {
            /// Loads and non-temporal stores.
            copy_nt_reverse {
                start: "",
                turn: x86!(get second),
                each: moves!("0,1,2,3", $r, $load down!(x86!(position), $width),
                    $nt down!(x86!(second), $width)),
                at: $groups,
                end: concat!("sfence\n", $leave),
            }
        }
        lines! {
            /// Loads and stores.
            copy_lines {
                start: x86!(get second stream),
                each: moves!($line, $r, $load within!(x86!(line), $width),
                    $store within!(x86!(second line), $width)),
                end: $leave,
            }
        }
        lines! {
            /// Loads and non-temporal stores.
            copy_nt_lines {
                start: x86!(get second stream),
                each: moves!($line, $r, $load within!(x86!(line), $width),
                    $nt within!(x86!(second line), $width)),
                end: concat!("sfence\n", $leave),
            }
        }
        chunks! {
            /// Loads and stores.
            copy_chunks {
                start: "",
                turn: x86!(get chunk second),
                each: moves!("0,1,2,3", $r, $load up!(x86!(position), $width),
                    $store up!(x86!(chunk second), $width)),
                at: $groups,
                end: $leave,
            }
        }
        chunks! {
            /// Loads and non-temporal stores.
            copy_nt_chunks {
                start: "",
                turn: x86!(get chunk second),
                each: moves!("0,1,2,3", $r, $load up!(x86!(position), $width),
                    $nt up!(x86!(chunk second), $width)),
                at: $groups,
                end: concat!("sfence\n", $leave),
            }
        }
    };
}
pub(crate) use copy_rows;

/// Defines rows of non-temporal loads. They are only non-temporal if memory is not cached. On
/// write-back memory they are ordinary loads (Intel SDM vol. 1, 12.10.3).
macro_rules! non_temporal_loads {
    ($width:literal, $r:literal, $accesses:expr, $line:literal, $load:literal, $leave:literal) => {
        forward! {
            /// Non-temporal loads.
            read_nt {
                start: "",
                turn: "",
                each: concat!($load, " ", $r, "0, [", x86!(position), " + \\d]"),
                at: $accesses,
                end: $leave,
            }
        }
        forward! {
            /// Non-temporal loads, each line prefetched past the caches.
            read_nta {
                start: x86!(get distance),
                turn: "",
                each: concat!(
                    "prefetchnta [", x86!(position), " + ", x86!(distance), " + \\d]\n",
                    each!($line, $load, " ", $r, "0, ", up!(x86!(position), $width)),
                ),
                at: every_64!(),
                end: $leave,
            }
        }
        backward! {
            /// Non-temporal loads.
            read_nt_reverse {
                start: "",
                turn: "",
                each: concat!($load, " ", $r, "0, [", x86!(position), " - \\d - ", $width, "]"),
                at: $accesses,
                end: $leave,
            }
        }
        line_pairs! {
            /// Non-temporal loads.
            read_nt_lines {
                start: "",
                each: each!($line, $load, " ", $r, "0, ", within!(x86!(line), $width)),
                end: $leave,
            }
        }
        chunks! {
            /// Non-temporal loads.
            read_nt_chunks {
                start: "",
                turn: "",
                each: concat!($load, " ", $r, "0, [", x86!(position), " + \\d]"),
                at: $accesses,
                end: $leave,
            }
        }
    };
}
pub(crate) use non_temporal_loads;

/// Defines the rows with one load per line, of the register's width.
macro_rules! touches {
    ($r:literal, $load:literal, $leave:literal) => {
        forward! {
            /// One load from each line.
            touch {
                start: "",
                turn: "",
                each: concat!($load, " ", $r, "0, [", x86!(position), " + \\d]"),
                at: every_64!(),
                end: $leave,
            }
        }
        forward! {
            /// One load from each line, and lines are prefetched.
            touch_prefetch {
                start: x86!(get distance),
                turn: "",
                each: concat!(
                    "prefetcht0 [", x86!(position), " + ", x86!(distance), " + \\d]\n",
                    $load, " ", $r, "0, [", x86!(position), " + \\d]",
                ),
                at: every_64!(),
                end: $leave,
            }
        }
    };
}
pub(crate) use touches;

/// Defines the row that adds from memory to four registers. `$total` combines the four sums.
macro_rules! sums {
    ($width:literal, $groups:expr, $clear:literal, $add:literal, $total:expr) => {
        forward! {
            /// Loads that are added up in four registers.
            read_sum {
                start: each!("0,1,2,3", $clear),
                turn: "",
                each: each!("0,1,2,3", $add, up!(x86!(position), $width)),
                at: $groups,
                end: $total,
            }
        }
    };
}
pub(crate) use sums;
