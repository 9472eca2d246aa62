//! STREAM's kernels on doubles: multiply, then add, with a rounding after each. The first register
//! is the scalar. Four more registers are for data, so that loads run ahead of the stores.

/// Defines the six rows on doubles of one kind of registers.
///
/// `mul` and `nt` have two parts, and the address comes between them. `mul` puts scalar times
/// memory into register `\i`, `add` adds memory to the register, and `store` and `nt` store it.
macro_rules! double_rows {
    (
        width: $width:literal, groups: $groups:expr, pattern: $pattern:expr,
        load: $load:literal, mul: ($mul:literal, $mul_end:literal), add: $add:literal,
        store: ($store:literal, $store_end:literal), nt: ($nt:literal, $nt_end:literal),
            leave: $leave:literal $(,)?
    ) => {
        $crate::x86_shared::doubles::double_rows! {
            rows scale add triad { $width, $groups, $pattern, $load, $mul, $mul_end, $add,
                $leave } $store, $store_end
        }
        $crate::x86_shared::doubles::double_rows! {
            rows scale_nt add_nt triad_nt { $width, $groups, $pattern, $load, $mul, $mul_end, $add,
                concat!("sfence\n", $leave) }
            $nt, $nt_end
        }
    };
    (
        rows $scale:ident $addition:ident $triad:ident {
            $width:literal, $groups:expr, $pattern:expr, $load:literal, $mul:literal,
                $mul_end:literal, $add:literal,
            $leave:expr
        } $store:literal, $store_end:literal
    ) => {
        forward! {
            /// Second = scalar x first.
            $scale {
                start: $pattern,
                turn: x86!(get second),
                each: concat!(
                    four!($mul, x86!(position), $width, $mul_end),
                    four!($store, x86!(second), $width, $store_end),
                ),
                at: $groups,
                end: $leave,
            }
        }
        forward! {
            /// Third = first + second.
            $addition {
                start: "",
                turn: x86!(get second and third),
                each: concat!(
                    four!($load, x86!(position), $width, ""),
                    four!($add, x86!(second), $width, ""),
                    four!($store, x86!(third), $width, $store_end),
                ),
                at: $groups,
                end: $leave,
            }
        }
        forward! {
            /// Third = first + scalar x second.
            $triad {
                start: $pattern,
                turn: x86!(get second and third),
                each: concat!(
                    four!($mul, x86!(second), $width, $mul_end),
                    four!($add, x86!(position), $width, ""),
                    four!($store, x86!(third), $width, $store_end),
                ),
                at: $groups,
                end: $leave,
            }
        }
    };
}
pub(crate) use double_rows;

/// An instruction with memory for each of the registers 1 to 4. Their memory lies one after the
/// other from `$base` + `\d` on, `$width` bytes each.
macro_rules! four {
    ($before:literal, $base:expr, $width:literal, $after:literal) => {
        concat!(
            ".irp i, 1,2,3,4\n",
            $before,
            "[",
            $base,
            " + \\d + ",
            $width,
            " * \\i - ",
            $width,
            "]",
            $after,
            "\n.endr\n"
        )
    };
}
pub(crate) use four;
