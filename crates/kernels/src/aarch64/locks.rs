//! Locks and hand-offs of AArch64.
//!
//! Atomic operations acquire and release, like those of x86 and like the standard library's
//! defaults.

use crate::handoff::{HandOffCall, HandOffRows};
use crate::locks::{LockCall, LockSet};
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets that the skeletons use.
const _: () = assert!(offset_of!(LockCall, word) == 0 && offset_of!(LockCall, turns) == 8);
const _: () = assert!(offset_of!(LockCall, inside) == 16 && offset_of!(LockCall, between) == 24);
const _: () = assert!(offset_of!(LockCall, failed_tries) == 32);
const _: () = assert!(offset_of!(HandOffCall, word) == 0 && offset_of!(HandOffCall, expected) == 8);
const _: () =
    assert!(offset_of!(HandOffCall, turns) == 16 && offset_of!(HandOffCall, patience) == 24);

/// `count` dependent additions, one per iteration: `fn(count)`. `count` is at least 1.
///
/// - In: `x0` = `count`.
/// - Clobbers: x0, x1, flags.
/// - Memory: none.
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

/// Further tries, which are counted. They start on a line of their own. `$try` jumps to 7 if it
/// fails.
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
/// - In: `x0` = `LockCall`.
/// - Out: `failed_tries` in the call.
/// - Clobbers: x1 to x15, flags.
/// - Timed: the operation, the additions inside and between, and one compare and branch for each.
///
/// In a row, `x2` is the word's address and `x9` counts failed tries; x11 to x15 are free. If the
/// first try can fail, `take` jumps to 7 in `again`. That code ends with a jump back to 8, right
/// after the first try.
///
/// The loops of additions come first in the line on which the loop starts, and `again` starts on a
/// line of its own. So no short loop straddles two lines. The first operation enters at 2.
///
/// A failed try is followed by `isb`, which waits for tens of cycles, like `pause` on x86. `yield`
/// does nothing on processors without hardware threads.
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
    /// Load exclusive, addition and store exclusive until the store succeeds.
    add_exclusive,
    "ldaxr x11, [x2]\n add x11, x11, 1\n stlxr w12, x11, [x2]\n cbnz w12, 7f\n8:",
    "",
    again!("ldaxr x11, [x2]\n add x11, x11, 1\n stlxr w12, x11, [x2]\n cbnz w12, 7b")
}

lock_kernel! {
    /// Load exclusive and store exclusive until the store succeeds.
    exchange_exclusive,
    "ldaxr x11, [x2]\n stlxr w12, x3, [x2]\n cbnz w12, 7f\n8:",
    "",
    again!("ldaxr x11, [x2]\n stlxr w12, x3, [x2]\n cbnz w12, 7b")
}

lock_kernel! {
    /// Load and addition, then load exclusive, comparison and store exclusive. A failure has
    /// already loaded the new value.
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
    /// Takes the lock by an exchange with 1, by load and store exclusive. Polls the lock while it
    /// is taken. Releases it by a store with release.
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
    /// `ldaddal`.
    add_lse, "mov x11, 1\n ldaddal x11, x12, [x2]", "", ""
}

lock_kernel! {
    /// `swpal`.
    exchange_lse, "swpal x3, x11, [x2]", "", ""
}

lock_kernel! {
    /// Load, addition, `casal`. A failure has already loaded the new value.
    compare_and_swap_lse,
    "ldr x12, [x2]\n add x13, x12, 1\n mov x11, x12\n casal x11, x13, [x2]\n cmp x11, x12\n b.ne 7f\n8:",
    "",
    again!("mov x12, x11\n add x13, x12, 1\n casal x11, x13, [x2]\n cmp x11, x12\n b.ne 7b")
}

lock_kernel! {
    /// Takes the lock by an exchange with 1, with acquire. Polls the lock while it is taken.
    /// Releases it by a store with release.
    spin_lock_lse,
    "mov x12, 1\n swpa x12, x11, [x2]\n cbnz x11, 7f\n\
     8:\n ldr x11, [x2, 8]\n add x11, x11, 1\n str x11, [x2, 8]",
    "stlr xzr, [x2]",
    again!("ldr x11, [x2]\n cbnz x11, 7b\n swpa x12, x11, [x2]\n cbnz x11, 7b")
}

lock_kernel! {
    /// Ordinary addition, then `dmb ish`.
    fence, "ldr x11, [x2]\n add x11, x11, 1\n str x11, [x2]\n dmb ish", "", ""
}

/// The implementations of AArch64: load and store exclusive, and single instructions since Armv8.1.
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
/// - In: `x0` = `HandOffCall`.
/// - Out: `expected` and `turns` in the call.
/// - Clobbers: x1 to x9, x11, x12, flags.
///
/// In a row, `x2` is the word's address, `x6` the awaited value and `x8` the answer; x11 and x12
/// are free. A row jumps to 3 if the value is not there yet. The store depends on the branch before
/// it, and therefore cannot pass the load.
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
    /// Load exclusive, comparison and store exclusive until the store succeeds.
    swap_when_equal, "ldaxr x11, [x2]\n cmp x11, x6\n b.ne 3b\n stlxr w12, x8, [x2]\n cbnz w12, 3b"
}

handoff! {
    /// Ordinary loads, then load exclusive and store exclusive until the store succeeds.
    exchange_when_equal,
    "ldr x11, [x2]\n cmp x11, x6\n b.ne 3b\n7: ldaxr x11, [x2]\n stlxr w12, x8, [x2]\n cbnz w12, 7b"
}

/// The hand-offs of AArch64.
pub(crate) static HANDOFF: HandOffRows = HandOffRows {
    store_load,
    compare_and_swap: swap_when_equal,
    exchange: exchange_when_equal,
};
