//! Locks and hand-offs of Armv7.
//!
//! Atomic operations acquire and release, with `dmb ish` before and after them. Compilers do the
//! same for the standard library's defaults.

use crate::handoff::{HandOffCall, HandOffRows};
use crate::locks::{LockCall, LockSet};
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets that the skeletons use.
const _: () = assert!(offset_of!(LockCall, word) == 0 && offset_of!(LockCall, turns) == 4);
const _: () = assert!(offset_of!(LockCall, inside) == 8 && offset_of!(LockCall, between) == 12);
const _: () = assert!(offset_of!(LockCall, failed_tries) == 16);
const _: () = assert!(offset_of!(HandOffCall, word) == 0 && offset_of!(HandOffCall, expected) == 4);
const _: () =
    assert!(offset_of!(HandOffCall, turns) == 8 && offset_of!(HandOffCall, patience) == 12);

/// `count` dependent additions, one per iteration: `fn(count)`. `count` is at least 1.
///
/// - In: `r0` = `count`.
/// - Clobbers: r0, r1, flags.
/// - Memory: none.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn work(count: usize) {
    naked_asm!(
        ".p2align 6",
        "mov r1, #0",
        "b 2f",
        ".p2align 6, 0xcc",
        "2:",
        "add r1, r1, r0",
        "subs r0, r0, #1",
        "bne 2b",
        "bx lr",
        ".ascii \"memgauge-row-end\"",
    )
}

/// Further tries, which are counted. They start on a line of their own. `$try` jumps to 7 if it
/// fails.
macro_rules! again {
    ($try:expr) => {
        concat!(
            ".p2align 6, 0xcc\n7: add r9, r9, #1\n isb\n ",
            $try,
            "\n b 8b"
        )
    };
}

/// A lock kernel: `fn(&mut LockCall)`.
///
/// - In: `r0` = `LockCall`.
/// - Out: `failed_tries` in the call.
/// - Clobbers: r1 to r3, r12, flags. Restored: r4 to r11.
/// - Timed: the operation, the additions inside and between, and one compare and branch for each.
///
/// In a row, `r2` is the word's address and `r9` counts failed tries; r7, r8, r11, r12 and lr are
/// free. If the first try can fail, `take` jumps to 7 in `again`. That code ends with a jump back
/// to 8, right after the first try.
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
                ".p2align 6\n",
                "push {{r3-r11, lr}}\n",
                "ldr r2, [r0]\n",
                "ldr r3, [r0, #4]\n",
                "ldr r4, [r0, #8]\n",
                "ldr r5, [r0, #12]\n",
                "mov r9, #0\n",
                "mov r10, #0\n",
                "b 2f\n",
                ".p2align 6, 0xcc\n",
                "3:\n",
                "add r10, r10, r11\n",
                "subs r11, r11, #1\n",
                "bne 3b\n",
                "4:\n",
                $give, "\n",
                "movs r11, r5\n",
                "beq 6f\n",
                "5:\n",
                "add r10, r10, r11\n",
                "subs r11, r11, #1\n",
                "bne 5b\n",
                "6:\n",
                "subs r3, r3, #1\n",
                "beq 9f\n",
                "2:\n",
                $take, "\n",
                "movs r11, r4\n",
                "bne 3b\n",
                "b 4b\n",
                "9:\n",
                "str r9, [r0, #16]\n",
                "pop {{r3-r11, pc}}\n",
                $again, "\n",
                ".ascii \"memgauge-row-end\"\n",
            ))
        }
    };
}

lock_kernel! {
    /// Load exclusive, addition and store exclusive until the store succeeds.
    atomic_add,
    "dmb ish\n ldrex r11, [r2]\n add r11, r11, #1\n strex r12, r11, [r2]\n cmp r12, #0\n bne 7f\n8: dmb ish",
    "",
    again!("ldrex r11, [r2]\n add r11, r11, #1\n strex r12, r11, [r2]\n cmp r12, #0\n bne 7b")
}

lock_kernel! {
    /// Load exclusive and store exclusive until the store succeeds.
    exchange,
    "dmb ish\n ldrex r11, [r2]\n strex r12, r3, [r2]\n cmp r12, #0\n bne 7f\n8: dmb ish",
    "",
    again!("ldrex r11, [r2]\n strex r12, r3, [r2]\n cmp r12, #0\n bne 7b")
}

lock_kernel! {
    /// Load and addition, then load exclusive, comparison and store exclusive. A failure has
    /// already loaded the new value.
    compare_and_swap,
    concat!(
        "ldr r12, [r2]\n dmb ish\n add r8, r12, #1\n",
        "ldrex r11, [r2]\n cmp r11, r12\n bne 7f\n strex r7, r8, [r2]\n cmp r7, #0\n bne 7f\n8: dmb ish"
    ),
    "",
    again!(concat!(
        "mov r12, r11\n add r8, r12, #1\n",
        "ldrex r11, [r2]\n cmp r11, r12\n bne 7b\n strex r7, r8, [r2]\n cmp r7, #0\n bne 7b"
    ))
}

lock_kernel! {
    /// Takes the lock by an exchange with 1, by load and store exclusive. Polls the lock while it
    /// is taken. A fence after taking the lock and one before its release keep the guarded accesses
    /// in between.
    spin_lock,
    concat!(
        "mov r12, #1\n ldrex r11, [r2]\n cmp r11, #0\n bne 7f\n strex r8, r12, [r2]\n cmp r8, #0\n bne 7f\n",
        "8: dmb ish\n ldr r11, [r2, #4]\n add r11, r11, #1\n str r11, [r2, #4]"
    ),
    "dmb ish\n mov r11, #0\n str r11, [r2]",
    again!(concat!(
        "ldr r11, [r2]\n cmp r11, #0\n bne 7b\n",
        "ldrex r11, [r2]\n cmp r11, #0\n bne 7b\n strex r8, r12, [r2]\n cmp r8, #0\n bne 7b"
    ))
}

lock_kernel! {
    /// Ordinary addition, then `dmb ish`.
    fence, "ldr r11, [r2]\n add r11, r11, #1\n str r11, [r2]\n dmb ish", "", ""
}

/// The only implementation of Armv7.
pub(crate) static LOCK_SETS: [LockSet; 1] = [LockSet {
    name: "ll-sc",
    needs: "Armv7",
    present: || true,
    atomic_add,
    exchange,
    compare_and_swap,
    spin_lock,
    fence,
}];

/// A hand-off: `fn(&mut HandOffCall)`.
///
/// - In: `r0` = `HandOffCall`.
/// - Out: `expected` and `turns` in the call.
/// - Clobbers: r1 to r3, r12, flags. Restored: r4 to r11.
///
/// In a row, `r2` is the word's address, `r6` the awaited value and `r8` the answer; r11 and r12
/// are free. A row jumps to 3 if the value is not there yet. The store depends on the branch before
/// it, and therefore cannot pass the load. No fence is needed, because only the word is handed
/// over.
macro_rules! handoff {
    ($(#[$doc:meta])* $name:ident, $body:expr) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "C" fn $name(call: &mut HandOffCall) {
            naked_asm!(concat!(
                ".p2align 6\n",
                "push {{r3-r11, lr}}\n",
                "ldr r2, [r0]\n",
                "ldr r6, [r0, #4]\n",
                "ldr r3, [r0, #8]\n",
                "ldr r7, [r0, #12]\n",
                "b 2f\n",
                ".p2align 6, 0xcc\n",
                "2:\n",
                "mov r9, r7\n",
                "add r8, r6, #1\n",
                "b 4f\n",
                "3:\n",
                "subs r9, r9, #1\n",
                "beq 5f\n",
                "4:\n",
                $body, "\n",
                "add r6, r6, #2\n",
                "subs r3, r3, #1\n",
                "bne 2b\n",
                "5:\n",
                "str r6, [r0, #4]\n",
                "str r3, [r0, #8]\n",
                "pop {{r3-r11, pc}}\n",
                ".ascii \"memgauge-row-end\"\n",
            ))
        }
    };
}

handoff! {
    /// Ordinary loads and an ordinary store.
    store_load, "ldr r11, [r2]\n cmp r11, r6\n bne 3b\n str r8, [r2]"
}

handoff! {
    /// Load exclusive, comparison and store exclusive until the store succeeds.
    swap_when_equal, "ldrex r11, [r2]\n cmp r11, r6\n bne 3b\n strex r12, r8, [r2]\n cmp r12, #0\n bne 3b"
}

handoff! {
    /// Ordinary loads, then load exclusive and store exclusive until the store succeeds.
    exchange_when_equal,
    "ldr r11, [r2]\n cmp r11, r6\n bne 3b\n7: ldrex r11, [r2]\n strex r12, r8, [r2]\n cmp r12, #0\n bne 7b"
}

/// The hand-offs of Armv7.
pub(crate) static HANDOFF: HandOffRows = HandOffRows {
    store_load,
    compare_and_swap: swap_when_equal,
    exchange: exchange_when_equal,
};
