//! Locks and hand-offs of x86.

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
/// - In: `[esp + 4]` = `count`.
/// - Clobbers: eax, ecx, flags.
/// - Memory: none.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn work(count: usize) {
    naked_asm!(
        ".p2align 6",
        "mov ecx, [esp + 4]",
        "xor eax, eax",
        "jmp 2f",
        ".p2align 6, 0xcc",
        "2:",
        "add eax, ecx",
        "dec ecx",
        "jnz 2b",
        "ret",
        ".ascii \"memgauge-row-end\"",
    )
}

/// A lock kernel: `fn(&mut LockCall)`, with the C convention.
///
/// - In: `[esp + 4]` = `LockCall`.
/// - Out: `failed_tries` in the call.
/// - Clobbers: eax, ecx, edx, flags. Restored: ebx, esi, edi, ebp.
/// - Timed: the operation, the additions inside and between, and one compare and branch for each.
///
/// In a row, `edx` is the word's address and `ebx` counts failed tries; eax and ebp are free. If
/// the first try can fail, `take` jumps to 7 in `again`. That code ends with a jump back to 8,
/// right after the first try.
///
/// The loops of additions come first in the line on which the loop starts. `again` follows the
/// loop, on the same line if all of it fits, otherwise on a line of its own. So no short loop
/// straddles two lines. The first operation enters at 2.
macro_rules! lock_kernel {
    ($(#[$doc:meta])* $name:ident, $take:expr, $give:expr, $again:expr) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "C" fn $name(call: &mut LockCall) {
            naked_asm!(concat!(
                ".p2align 6\n",
                "push ebx\n",
                "push esi\n",
                "push edi\n",
                "push ebp\n",
                "mov eax, [esp + 20]\n",
                "mov edx, [eax]\n",
                "mov ecx, [eax + 4]\n",
                "mov esi, [eax + 8]\n",
                "push dword ptr [eax + 12]\n",
                "xor ebx, ebx\n",
                "xor edi, edi\n",
                "jmp 2f\n",
                ".p2align 6, 0xcc\n",
                "3:\n",
                "add edi, eax\n",
                "dec eax\n",
                "jnz 3b\n",
                "4:\n",
                $give, "\n",
                "mov eax, [esp]\n",
                "test eax, eax\n",
                "jz 6f\n",
                "5:\n",
                "add edi, eax\n",
                "dec eax\n",
                "jnz 5b\n",
                "6:\n",
                "dec ecx\n",
                "jz 9f\n",
                "2:\n",
                $take, "\n",
                "mov eax, esi\n",
                "test eax, eax\n",
                "jnz 3b\n",
                "jmp 4b\n",
                $again, "\n",
                "9:\n",
                "pop eax\n",
                "mov eax, [esp + 20]\n",
                "mov [eax + 16], ebx\n",
                "pop ebp\n",
                "pop edi\n",
                "pop esi\n",
                "pop ebx\n",
                "ret\n",
                ".ascii \"memgauge-row-end\"\n",
            ))
        }
    };
}

lock_kernel! {
    /// `lock xadd`.
    atomic_add, "mov eax, 1\nlock xadd [edx], eax", "", ""
}

lock_kernel! {
    /// `xchg` with memory, which is always atomic.
    exchange, "mov eax, ecx\nxchg [edx], eax", "", ""
}

lock_kernel! {
    /// Load, addition, `lock cmpxchg`. A failure has already loaded the new value.
    compare_and_swap,
    "mov eax, [edx]\nlea ebp, [eax + 1]\nlock cmpxchg [edx], ebp\njnz 7f\n8:",
    "",
    "7: inc ebx\npause\nlea ebp, [eax + 1]\nlock cmpxchg [edx], ebp\njnz 7b\njmp 8b"
}

lock_kernel! {
    /// Takes the lock by an exchange with 1. Polls the lock with `pause` while it is taken.
    /// Releases it by an ordinary store, which no earlier access passes on x86.
    spin_lock,
    "mov eax, 1\nxchg [edx], eax\ntest eax, eax\njnz 7f\n8: inc dword ptr [edx + 4]",
    "mov dword ptr [edx], 0",
    concat!(
        ".p2align 6, 0xcc\n7: inc ebx\npause\ncmp dword ptr [edx], 0\njne 7b\n",
        "mov eax, 1\nxchg [edx], eax\ntest eax, eax\njnz 7b\njmp 8b"
    )
}

lock_kernel! {
    /// Ordinary addition, then `mfence`.
    fence, "inc dword ptr [edx]\nmfence", "", ""
}

/// The only implementation of x86.
pub(crate) static LOCK_SETS: [LockSet; 1] = [LockSet {
    name: "lock",
    needs: "SSE2",
    present: || is_x86_feature_detected!("sse2"),
    atomic_add,
    exchange,
    compare_and_swap,
    spin_lock,
    fence,
}];

/// A hand-off: `fn(&mut HandOffCall)`, with the C convention.
///
/// - In: `[esp + 4]` = `HandOffCall`.
/// - Out: `expected` and `turns` in the call.
/// - Clobbers: eax, ecx, edx, flags. Restored: ebx, esi, edi, ebp.
///
/// In a row, `edx` is the word's address, `esi` the awaited value and `edi` the answer. A row jumps
/// to 3 if the value is not there yet.
macro_rules! handoff {
    ($(#[$doc:meta])* $name:ident, $body:expr) => {
        $(#[$doc])*
        #[unsafe(naked)]
        unsafe extern "C" fn $name(call: &mut HandOffCall) {
            naked_asm!(concat!(
                ".p2align 6\n",
                "push ebx\n",
                "push esi\n",
                "push edi\n",
                "push ebp\n",
                "mov ebp, [esp + 20]\n",
                "mov edx, [ebp]\n",
                "mov esi, [ebp + 4]\n",
                "mov ecx, [ebp + 8]\n",
                "jmp 2f\n",
                ".p2align 6, 0xcc\n",
                "2:\n",
                "mov ebx, [ebp + 12]\n",
                "lea edi, [esi + 1]\n",
                "jmp 4f\n",
                "3:\n",
                "dec ebx\n",
                "jz 5f\n",
                "4:\n",
                $body, "\n",
                "add esi, 2\n",
                "dec ecx\n",
                "jnz 2b\n",
                "5:\n",
                "mov [ebp + 4], esi\n",
                "mov [ebp + 8], ecx\n",
                "pop ebp\n",
                "pop edi\n",
                "pop esi\n",
                "pop ebx\n",
                "ret\n",
                ".ascii \"memgauge-row-end\"\n",
            ))
        }
    };
}

handoff! {
    /// Ordinary loads and an ordinary store.
    store_load, "cmp [edx], esi\njne 3b\nmov [edx], edi"
}

handoff! {
    /// `lock cmpxchg` until it succeeds.
    swap_when_equal, "mov eax, esi\nlock cmpxchg [edx], edi\njnz 3b"
}

handoff! {
    /// Ordinary loads and `xchg`.
    exchange_when_equal, "cmp [edx], esi\njne 3b\nxchg [edx], edi"
}

/// The hand-offs of x86.
pub(crate) static HANDOFF: HandOffRows = HandOffRows {
    store_load,
    compare_and_swap: swap_when_equal,
    exchange: exchange_when_equal,
};
