//! Locks and hand-offs of x86-64.

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
/// - In: `rdi` = `count`.
/// - Clobbers: rax, rdi, flags.
/// - Memory: none.
#[unsafe(naked)]
pub(crate) unsafe extern "sysv64" fn work(count: usize) {
    naked_asm!(
        ".p2align 6",
        "xor eax, eax",
        "jmp 2f",
        ".p2align 6, 0xcc",
        "2:",
        "add rax, rdi",
        "dec rdi",
        "jnz 2b",
        "ret",
        ".ascii \"memgauge-row-end\"",
    )
}

/// A lock kernel: `fn(&mut LockCall)`.
///
/// - In: `rdi` = `LockCall`.
/// - Out: `failed_tries` in the call.
/// - Clobbers: rax, rcx, rdx, rsi, r8 to r11, flags.
/// - Timed: the operation, the additions inside and between, and one compare and branch for each.
///
/// In a row, `rdx` is the word's address and `r9` counts failed tries; rax and r11 are free. If the
/// first try can fail, `take` jumps to 7 in `again`. That code ends with a jump back to 8, right
/// after the first try.
///
/// The loops of additions come first in the line on which the loop starts, and `again` starts on a
/// line of its own. So no short loop straddles two lines. The first operation enters at 2.
macro_rules! lock_kernel {
    ($(#[$doc:meta])* $name:ident, $take:expr, $give:expr, $again:expr) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "sysv64" fn $name(call: &mut LockCall) {
            naked_asm!(concat!(
                ".p2align 6\n",
                "mov rdx, [rdi]\n",
                "mov rcx, [rdi + 8]\n",
                "mov rsi, [rdi + 16]\n",
                "mov r8, [rdi + 24]\n",
                "xor r9d, r9d\n",
                "xor r10d, r10d\n",
                "jmp 2f\n",
                ".p2align 6, 0xcc\n",
                "3:\n",
                "add r10, rax\n",
                "dec rax\n",
                "jnz 3b\n",
                "4:\n",
                $give, "\n",
                "mov rax, r8\n",
                "test rax, rax\n",
                "jz 6f\n",
                "5:\n",
                "add r10, rax\n",
                "dec rax\n",
                "jnz 5b\n",
                "6:\n",
                "dec rcx\n",
                "jz 9f\n",
                "2:\n",
                $take, "\n",
                "mov rax, rsi\n",
                "test rax, rax\n",
                "jnz 3b\n",
                "jmp 4b\n",
                "9:\n",
                "mov [rdi + 32], r9\n",
                "ret\n",
                $again, "\n",
                ".ascii \"memgauge-row-end\"\n",
            ))
        }
    };
}

lock_kernel! {
    /// `lock xadd`.
    atomic_add, "mov eax, 1\nlock xadd [rdx], rax", "", ""
}

lock_kernel! {
    /// `xchg` with memory, which is always atomic.
    exchange, "mov rax, rcx\nxchg [rdx], rax", "", ""
}

lock_kernel! {
    /// Load, addition, `lock cmpxchg`. A failure has already loaded the new value.
    compare_and_swap,
    "mov rax, [rdx]\nlea r11, [rax + 1]\nlock cmpxchg [rdx], r11\njnz 7f\n8:",
    "",
    ".p2align 6, 0xcc\n7: inc r9\npause\nlea r11, [rax + 1]\nlock cmpxchg [rdx], r11\njnz 7b\njmp 8b"
}

lock_kernel! {
    /// Takes the lock by an exchange with 1. Polls the lock with `pause` while it is taken.
    /// Releases it by an ordinary store, which no earlier access passes on x86.
    spin_lock,
    "mov eax, 1\nxchg [rdx], rax\ntest rax, rax\njnz 7f\n8: inc qword ptr [rdx + 8]",
    "mov qword ptr [rdx], 0",
    concat!(
        ".p2align 6, 0xcc\n7: inc r9\npause\ncmp qword ptr [rdx], 0\njne 7b\n",
        "mov eax, 1\nxchg [rdx], rax\ntest rax, rax\njnz 7b\njmp 8b"
    )
}

lock_kernel! {
    /// Ordinary addition, then `mfence`.
    fence, "inc qword ptr [rdx]\nmfence", "", ""
}

/// The only implementation of x86-64.
pub(crate) static LOCK_SETS: [LockSet; 1] = [LockSet {
    name: "lock",
    needs: "x86-64",
    present: || true,
    atomic_add,
    exchange,
    compare_and_swap,
    spin_lock,
    fence,
}];

/// A hand-off: `fn(&mut HandOffCall)`.
///
/// - In: `rdi` = `HandOffCall`.
/// - Out: `expected` and `turns` in the call.
/// - Clobbers: rax, rcx, rdx, rsi, r8, r9, flags.
///
/// In a row, `rdx` is the word's address, `rsi` the awaited value and `r8` the answer. A row jumps
/// to 3 if the value is not there yet.
macro_rules! handoff {
    ($(#[$doc:meta])* $name:ident, $body:expr) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "sysv64" fn $name(call: &mut HandOffCall) {
            naked_asm!(concat!(
                ".p2align 6\n",
                "mov rdx, [rdi]\n",
                "mov rsi, [rdi + 8]\n",
                "mov rcx, [rdi + 16]\n",
                "jmp 2f\n",
                ".p2align 6, 0xcc\n",
                "2:\n",
                "mov r9, [rdi + 24]\n",
                "lea r8, [rsi + 1]\n",
                "jmp 4f\n",
                "3:\n",
                "dec r9\n",
                "jz 5f\n",
                "4:\n",
                $body, "\n",
                "add rsi, 2\n",
                "dec rcx\n",
                "jnz 2b\n",
                "5:\n",
                "mov [rdi + 8], rsi\n",
                "mov [rdi + 16], rcx\n",
                "ret\n",
                ".ascii \"memgauge-row-end\"\n",
            ))
        }
    };
}

handoff! {
    /// Ordinary loads and an ordinary store.
    store_load, "cmp [rdx], rsi\njne 3b\nmov [rdx], r8"
}

handoff! {
    /// `lock cmpxchg` until it succeeds.
    swap_when_equal, "mov rax, rsi\nlock cmpxchg [rdx], r8\njnz 3b"
}

handoff! {
    /// Ordinary loads and `xchg`.
    exchange_when_equal, "cmp [rdx], rsi\njne 3b\nxchg [rdx], r8"
}

/// The hand-offs of x86-64.
pub(crate) static HANDOFF: HandOffRows = HandOffRows {
    store_load,
    compare_and_swap: swap_when_equal,
    exchange: exchange_when_equal,
};
