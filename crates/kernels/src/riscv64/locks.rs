//! Locks and hand-offs of 64-bit RISC-V.

use super::skeleton::{align_loop, begin, fill_line, finish, mark};
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

/// `pause` (Zihintpause): a hint in the encoding of a fence, so it can be executed everywhere.
macro_rules! pause {
    () => {
        ".4byte 0x0100000f\n"
    };
}

/// Further tries, which are counted. They start on a line of their own. `$try` jumps to 7 if it
/// fails.
macro_rules! again {
    ($try:expr) => {
        concat!(
            fill_line!(),
            "7:\naddi a5, a5, 1\n",
            pause!(),
            $try,
            "\nj 8b\n"
        )
    };
}

/// A lock kernel: `fn(&mut LockCall)`.
///
/// - In: `a0` = `LockCall`.
/// - Out: `failed_tries` in the call.
/// - Clobbers: a1 to a6, t0 to t4.
/// - Timed: the operation, the additions inside and between, and one branch for each.
///
/// In a row, `a1` is the word's address, `a2` the number of operations left, and `a5` counts failed
/// tries; t1 to t4 are free. If the first try can fail, `take` jumps to 7 in `again`. That code
/// ends with a jump back to 8, right after the first try.
///
/// The loops of additions come first in the line on which the loop starts, and `again` starts on a
/// line of its own. So no short loop straddles two lines. The first operation enters at 2.
macro_rules! lock_kernel {
    ($(#[$doc:meta])* $name:ident, $take:expr, $give:expr, $again:expr) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "C" fn $name(call: &mut LockCall) {
            naked_asm!(concat!(
                begin!(),
                "ld a1, 0(a0)\n",
                "ld a2, 8(a0)\n",
                "ld a3, 16(a0)\n",
                "ld a4, 24(a0)\n",
                "li a5, 0\n",
                "li a6, 0\n",
                "j 2f\n",
                fill_line!(),
                "3:\n",
                "add a6, a6, t0\n",
                "addi t0, t0, -1\n",
                "bnez t0, 3b\n",
                "4:\n",
                $give, "\n",
                "mv t0, a4\n",
                "beqz t0, 6f\n",
                "5:\n",
                "add a6, a6, t0\n",
                "addi t0, t0, -1\n",
                "bnez t0, 5b\n",
                "6:\n",
                "addi a2, a2, -1\n",
                "beqz a2, 9f\n",
                "2:\n",
                $take, "\n",
                "mv t0, a3\n",
                "bnez t0, 3b\n",
                "j 4b\n",
                "9:\n",
                "sd a5, 32(a0)\n",
                "ret\n",
                $again,
                mark!(),
            ))
        }
    };
}

lock_kernel! {
    /// `amoadd.d.aqrl`.
    atomic_add, "li t1, 1\namoadd.d.aqrl t2, t1, (a1)", "", ""
}

lock_kernel! {
    /// `amoswap.d.aqrl`.
    exchange, "amoswap.d.aqrl t2, a2, (a1)", "", ""
}

lock_kernel! {
    /// Load and addition, then compare and swap by `lr.d` and `sc.d`. If the store fails although
    /// the word has not changed, it is tried again and not counted. No other thread caused that
    /// failure.
    compare_and_swap,
    concat!(
        "ld t1, 0(a1)\naddi t2, t1, 1\n",
        "20:\nlr.d.aqrl t3, (a1)\nbne t3, t1, 7f\nsc.d.rl t4, t2, (a1)\nbnez t4, 20b\n8:"
    ),
    "",
    again!(concat!(
        "mv t1, t3\naddi t2, t1, 1\n",
        "21:\nlr.d.aqrl t3, (a1)\nbne t3, t1, 7b\nsc.d.rl t4, t2, (a1)\nbnez t4, 21b"
    ))
}

lock_kernel! {
    /// Takes the lock by an exchange with 1. Polls the lock with `pause` while it is taken.
    /// Releases it by a store after a release fence.
    spin_lock,
    concat!(
        "li t1, 1\namoswap.d.aq t2, t1, (a1)\nbnez t2, 7f\n",
        "8:\nld t2, 8(a1)\naddi t2, t2, 1\nsd t2, 8(a1)"
    ),
    "fence rw, w\nsd zero, 0(a1)",
    again!("ld t2, 0(a1)\nbnez t2, 7b\namoswap.d.aq t2, t1, (a1)\nbnez t2, 7b")
}

lock_kernel! {
    /// Ordinary addition, then `fence rw, rw`.
    fence, "ld t1, 0(a1)\naddi t1, t1, 1\nsd t1, 0(a1)\nfence rw, rw", "", ""
}

/// The only implementation of RISC-V. The A extension has both AMOs and LR/SC.
pub(crate) static LOCK_SETS: [LockSet; 1] = [LockSet {
    name: "amo",
    needs: "RV64GC",
    present: || true,
    atomic_add,
    exchange,
    compare_and_swap,
    spin_lock,
    fence,
}];

/// A hand-off: `fn(&mut HandOffCall)`.
///
/// - In: `a0` = `HandOffCall`.
/// - Out: `expected` and `turns` in the call.
/// - Clobbers: a1 to a5, t1, t2.
///
/// In a row, `a1` is the word's address, `a2` the awaited value and `a4` the answer. A row jumps to
/// 3 if the value is not there yet.
macro_rules! handoff {
    ($(#[$doc:meta])* $name:ident, $body:expr) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "C" fn $name(call: &mut HandOffCall) {
            naked_asm!(concat!(
                begin!(),
                "ld a1, 0(a0)\n",
                "ld a2, 8(a0)\n",
                "ld a3, 16(a0)\n",
                align_loop!(),
                "ld a5, 24(a0)\n",
                "addi a4, a2, 1\n",
                "j 4f\n",
                "3:\n",
                "addi a5, a5, -1\n",
                "beqz a5, 5f\n",
                "4:\n",
                $body, "\n",
                "addi a2, a2, 2\n",
                "addi a3, a3, -1\n",
                "bnez a3, 2b\n",
                "5:\n",
                "sd a2, 8(a0)\n",
                "sd a3, 16(a0)\n",
                finish!(),
            ))
        }
    };
}

handoff! {
    /// Ordinary loads and an ordinary store. No fence is needed, because only one word is handed
    /// over.
    store_load, "ld t1, 0(a1)\nbne t1, a2, 3b\nsd a4, 0(a1)"
}

handoff! {
    /// `lr.d` and `sc.d` until they succeed.
    swap_when_equal, "lr.d.aqrl t1, (a1)\nbne t1, a2, 3b\nsc.d.rl t2, a4, (a1)\nbnez t2, 3b"
}

handoff! {
    /// Ordinary loads and `amoswap.d.aqrl`.
    exchange_when_equal, "ld t1, 0(a1)\nbne t1, a2, 3b\namoswap.d.aqrl t2, a4, (a1)"
}

/// The hand-offs of RISC-V.
pub(crate) static HANDOFF: HandOffRows = HandOffRows {
    store_load,
    compare_and_swap: swap_when_equal,
    exchange: exchange_when_equal,
};
