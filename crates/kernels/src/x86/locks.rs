//! Locks and hand-offs of x86.

use crate::handoff::{HandOffCall, HandOffRows};
use crate::locks::{LockCall, LockSet};
use core::arch::naked_asm;
use core::mem::offset_of;

// The offsets in the skeletons.
const _: () = assert!(offset_of!(LockCall, word) == 0 && offset_of!(LockCall, turns) == 4);
const _: () = assert!(offset_of!(LockCall, inside) == 8 && offset_of!(LockCall, between) == 12);
const _: () = assert!(offset_of!(LockCall, vain) == 16);
const _: () = assert!(offset_of!(HandOffCall, word) == 0 && offset_of!(HandOffCall, expected) == 4);
const _: () =
    assert!(offset_of!(HandOffCall, turns) == 8 && offset_of!(HandOffCall, patience) == 12);

/// `count` dependent additions, one a turn: `fn(count)`, at least 1.
///
/// In: `[esp + 4]`. Clobbers: eax, ecx, flags. Memory: none.
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

/// A lock kernel: `fn(&mut LockCall)`, called as C does.
///
/// In: `[esp + 4]` = `LockCall`. Out: `vain` in the call. Clobbers: eax, ecx, edx, flags; ebx, esi,
/// edi, ebp are put back. In a row `edx` is the word's address, `ebx` counts vain tries, eax and
/// ebp are free. If the first try may be vain, `take` jumps to 7 in `again`, which ends by a jump
/// back to 8, behind the try. Timed: the operation, the additions inside and between, one compare
/// and branch for each.
///
/// The loops of additions come first in the line that the loop starts on, and `again` follows the
/// loop: on the same line where all of it fits, else on a line of its own. No short loop straddles
/// two. The first operation enters at 2.
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
    /// `lock xadd`
    atomic_add, "mov eax, 1\nlock xadd [edx], eax", "", ""
}

lock_kernel! {
    /// `xchg` with memory, which locks by itself.
    exchange, "mov eax, ecx\nxchg [edx], eax", "", ""
}

lock_kernel! {
    /// Load, add, `lock cmpxchg`; a failure has loaded the new value.
    compare_and_swap,
    "mov eax, [edx]\nlea ebp, [eax + 1]\nlock cmpxchg [edx], ebp\njnz 7f\n8:",
    "",
    "7: inc ebx\npause\nlea ebp, [eax + 1]\nlock cmpxchg [edx], ebp\njnz 7b\njmp 8b"
}

lock_kernel! {
    /// Exchange 1 for the lock; while it is taken, look at it with `pause`. Given back by an
    /// ordinary store, which no earlier access passes on x86.
    spin_lock,
    "mov eax, 1\nxchg [edx], eax\ntest eax, eax\njnz 7f\n8: inc dword ptr [edx + 4]",
    "mov dword ptr [edx], 0",
    concat!(
        ".p2align 6, 0xcc\n7: inc ebx\npause\ncmp dword ptr [edx], 0\njne 7b\n",
        "mov eax, 1\nxchg [edx], eax\ntest eax, eax\njnz 7b\njmp 8b"
    )
}

lock_kernel! {
    /// An ordinary addition, then `mfence`.
    fence, "inc dword ptr [edx]\nmfence", "", ""
}

/// The one way of x86.
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

/// A hand-off: `fn(&mut HandOffCall)`, called as C does.
///
/// In: `[esp + 4]` = `HandOffCall`. Out: `expected` and `turns` in the call. Clobbers: eax, ecx,
/// edx, flags; ebx, esi, edi, ebp are put back. In a row `edx` is the word's address, `esi` the
/// value waited for, `edi` the answer. A row jumps to 3 when the value is not there yet.
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
