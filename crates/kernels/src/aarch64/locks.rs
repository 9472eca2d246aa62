//! Locks and hand-offs of AArch64.
//!
//! Atomic operations acquire and release, as those of x86 do and as the standard library's defaults
//! would.

use crate::handoff::{HandOffCall, HandOffRows};
use crate::locks::{LockCall, LockSet};
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets in the skeletons.
const _: () = assert!(offset_of!(LockCall, word) == 0 && offset_of!(LockCall, turns) == 8);
const _: () = assert!(offset_of!(LockCall, inside) == 16 && offset_of!(LockCall, between) == 24);
const _: () = assert!(offset_of!(LockCall, vain) == 32);
const _: () = assert!(offset_of!(HandOffCall, word) == 0 && offset_of!(HandOffCall, expected) == 8);
const _: () =
    assert!(offset_of!(HandOffCall, turns) == 16 && offset_of!(HandOffCall, patience) == 24);

/// `count` dependent additions, one a turn: `fn(count)`, at least 1.
///
/// In: `x0`. Clobbers: x0, x1, flags. Memory: none.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn work(count: usize) {
    naked_asm!(
        ".p2align 6",
        "mov x1, 0",
        "b 2f",
        ".p2align 6, 0xcc",
        "2:",
        "add x1, x1, x0",
        "subs x0, x0, 1",
        "b.ne 2b",
        "ret",
        ".ascii \"memgauge-row-end\"",
    )
}

/// Further tries, counted, on a line of their own. `$try` jumps to 7 where it was vain.
macro_rules! again {
    ($try:expr) => {
        concat!(
            ".p2align 6, 0xcc\n7: add x9, x9, 1\n isb\n ",
            $try,
            "\n b 8b"
        )
    };
}

/// A lock kernel: `fn(&mut LockCall)`.
///
/// In: `x0` = `LockCall`. Out: `vain` in the call. Clobbers: x1 to x15, flags. In a row `x2` is the
/// word's address, `x9` counts vain tries, x11 to x15 are free. If the first try may be vain,
/// `take` jumps to 7 in `again`, which ends by a jump back to 8, behind the try. Timed: the
/// operation, the additions inside and between, one compare and branch for each.
///
/// The loops of additions come first in the line that the loop starts on, and `again` starts on a
/// line of its own: no short loop straddles two. The first operation enters at 2.
///
/// A vain try is followed by `isb`: it waits for tens of cycles, as `pause` does on x86, where
/// `yield` does nothing on processors without hardware threads.
macro_rules! lock_kernel {
    ($(#[$doc:meta])* $name:ident, $take:expr, $give:expr, $again:expr) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "C" fn $name(call: &mut LockCall) {
            naked_asm!(concat!(
                ".arch_extension lse\n",
                ".p2align 6\n",
                "ldp x2, x3, [x0]\n",
                "ldp x4, x5, [x0, 16]\n",
                "mov x9, 0\n",
                "mov x10, 0\n",
                "b 2f\n",
                ".p2align 6, 0xcc\n",
                "3:\n",
                "add x10, x10, x11\n",
                "subs x11, x11, 1\n",
                "b.ne 3b\n",
                "4:\n",
                $give, "\n",
                "mov x11, x5\n",
                "cbz x11, 6f\n",
                "5:\n",
                "add x10, x10, x11\n",
                "subs x11, x11, 1\n",
                "b.ne 5b\n",
                "6:\n",
                "subs x3, x3, 1\n",
                "b.eq 9f\n",
                "2:\n",
                $take, "\n",
                "mov x11, x4\n",
                "cbnz x11, 3b\n",
                "b 4b\n",
                "9:\n",
                "str x9, [x0, 32]\n",
                "ret\n",
                $again, "\n",
                ".ascii \"memgauge-row-end\"\n",
                ".arch_extension nolse\n",
            ))
        }
    };
}

lock_kernel! {
    /// Load exclusive, add, store exclusive until it succeeds.
    add_exclusive,
    "ldaxr x11, [x2]\n add x11, x11, 1\n stlxr w12, x11, [x2]\n cbnz w12, 7f\n8:",
    "",
    again!("ldaxr x11, [x2]\n add x11, x11, 1\n stlxr w12, x11, [x2]\n cbnz w12, 7b")
}

lock_kernel! {
    /// Load exclusive, store exclusive until it succeeds.
    exchange_exclusive,
    "ldaxr x11, [x2]\n stlxr w12, x3, [x2]\n cbnz w12, 7f\n8:",
    "",
    again!("ldaxr x11, [x2]\n stlxr w12, x3, [x2]\n cbnz w12, 7b")
}

lock_kernel! {
    /// Load, add; load exclusive, compare, store exclusive: a failure has loaded the new value.
    compare_and_swap_exclusive,
    concat!(
        "ldr x12, [x2]\n add x13, x12, 1\n",
        "ldaxr x11, [x2]\n cmp x11, x12\n b.ne 7f\n stlxr w14, x13, [x2]\n cbnz w14, 7f\n8:"
    ),
    "",
    again!(concat!(
        "mov x12, x11\n add x13, x12, 1\n",
        "ldaxr x11, [x2]\n cmp x11, x12\n b.ne 7b\n stlxr w14, x13, [x2]\n cbnz w14, 7b"
    ))
}

lock_kernel! {
    /// Exchange 1 for the lock by load and store exclusive; while it is taken, look at it. Given
    /// back by a store with release.
    spin_lock_exclusive,
    concat!(
        "mov x12, 1\n ldaxr x11, [x2]\n cbnz x11, 7f\n stxr w13, x12, [x2]\n cbnz w13, 7f\n8:\n",
        "ldr x11, [x2, 8]\n add x11, x11, 1\n str x11, [x2, 8]"
    ),
    "stlr xzr, [x2]",
    again!(concat!(
        "ldr x11, [x2]\n cbnz x11, 7b\n",
        "ldaxr x11, [x2]\n cbnz x11, 7b\n stxr w13, x12, [x2]\n cbnz w13, 7b"
    ))
}

lock_kernel! {
    /// `ldaddal`
    add_lse, "mov x11, 1\n ldaddal x11, x12, [x2]", "", ""
}

lock_kernel! {
    /// `swpal`
    exchange_lse, "swpal x3, x11, [x2]", "", ""
}

lock_kernel! {
    /// Load, add, `casal`; a failure has loaded the new value.
    compare_and_swap_lse,
    "ldr x12, [x2]\n add x13, x12, 1\n mov x11, x12\n casal x11, x13, [x2]\n cmp x11, x12\n b.ne 7f\n8:",
    "",
    again!("mov x12, x11\n add x13, x12, 1\n casal x11, x13, [x2]\n cmp x11, x12\n b.ne 7b")
}

lock_kernel! {
    /// Exchange 1 for the lock with acquire; while it is taken, look at it. Given back by a store
    /// with release.
    spin_lock_lse,
    "mov x12, 1\n swpa x12, x11, [x2]\n cbnz x11, 7f\n\
     8:\n ldr x11, [x2, 8]\n add x11, x11, 1\n str x11, [x2, 8]",
    "stlr xzr, [x2]",
    again!("ldr x11, [x2]\n cbnz x11, 7b\n swpa x12, x11, [x2]\n cbnz x11, 7b")
}

lock_kernel! {
    /// An ordinary addition, then `dmb ish`.
    fence, "ldr x11, [x2]\n add x11, x11, 1\n str x11, [x2]\n dmb ish", "", ""
}

/// The two ways of AArch64: load and store exclusive, and since Armv8.1 single instructions.
pub(crate) static LOCK_SETS: [LockSet; 2] = [
    LockSet {
        name: "ll-sc",
        needs: "AArch64",
        present: || true,
        atomic_add: add_exclusive,
        exchange: exchange_exclusive,
        compare_and_swap: compare_and_swap_exclusive,
        spin_lock: spin_lock_exclusive,
        fence,
    },
    LockSet {
        name: "lse",
        needs: "LSE",
        present: || std::arch::is_aarch64_feature_detected!("lse"),
        atomic_add: add_lse,
        exchange: exchange_lse,
        compare_and_swap: compare_and_swap_lse,
        spin_lock: spin_lock_lse,
        fence,
    },
];

/// A hand-off: `fn(&mut HandOffCall)`.
///
/// In: `x0` = `HandOffCall`. Out: `expected` and `turns` in the call. Clobbers: x1 to x9, x11, x12,
/// flags. In a row `x2` is the word's address, `x6` the value waited for, `x8` the answer, x11 and
/// x12 are free. A row jumps to 3 when the value is not there yet. The store depends on the branch
/// before it, and so cannot pass the load.
macro_rules! handoff {
    ($(#[$doc:meta])* $name:ident, $body:expr) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "C" fn $name(call: &mut HandOffCall) {
            naked_asm!(concat!(
                ".p2align 6\n",
                "ldp x2, x6, [x0]\n",
                "ldp x3, x7, [x0, 16]\n",
                "b 2f\n",
                ".p2align 6, 0xcc\n",
                "2:\n",
                "mov x9, x7\n",
                "add x8, x6, 1\n",
                "b 4f\n",
                "3:\n",
                "subs x9, x9, 1\n",
                "b.eq 5f\n",
                "4:\n",
                $body, "\n",
                "add x6, x6, 2\n",
                "subs x3, x3, 1\n",
                "b.ne 2b\n",
                "5:\n",
                "stp x6, x3, [x0, 8]\n",
                "ret\n",
                ".ascii \"memgauge-row-end\"\n",
            ))
        }
    };
}

handoff! {
    /// Ordinary loads and an ordinary store.
    store_load, "ldr x11, [x2]\n cmp x11, x6\n b.ne 3b\n str x8, [x2]"
}

handoff! {
    /// Load exclusive, compare and store exclusive until that succeeds.
    swap_when_equal, "ldaxr x11, [x2]\n cmp x11, x6\n b.ne 3b\n stlxr w12, x8, [x2]\n cbnz w12, 3b"
}

handoff! {
    /// Ordinary loads, then load exclusive and store exclusive until it succeeds.
    exchange_when_equal,
    "ldr x11, [x2]\n cmp x11, x6\n b.ne 3b\n7: ldaxr x11, [x2]\n stlxr w12, x8, [x2]\n cbnz w12, 7b"
}

/// The hand-offs of AArch64.
pub(crate) static HANDOFF: HandOffRows = HandOffRows {
    store_load,
    compare_and_swap: swap_when_equal,
    exchange: exchange_when_equal,
};
