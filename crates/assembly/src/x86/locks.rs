//! Operations on shared words, and hand-offs of a line between two threads.

use super::mode::{Mode, Register, SSE2, TO_LOOP, baseline, register};
use crate::architecture::{HandOffs, Locks};
use crate::text::lines;

/// Instructions of an operation on a shared word.
struct Operation {
    /// The operation. A failed attempt jumps to label 7 in `again`.
    take: &'static str,
    /// The end of the operation, after the additions inside.
    give: &'static str,
    /// Further attempts after a failed one. They end with a jump to label 8, right after the first
    /// attempt.
    again: &'static str,
    /// True if `again` starts on a new line of the instruction cache on 32-bit x86. On x86-64, it
    /// always does.
    own_line: bool,
}

/// An operation that cannot fail.
const fn single(take: &'static str) -> Operation {
    Operation {
        take,
        give: "",
        again: "",
        own_line: false,
    }
}

/// Load, addition of 1, and `lock cmpxchg`, which loads the current value if it fails.
const COMPARE_AND_SWAP: Operation = Operation {
    take: "mov $a, [$word]\nlea $t, [$a + 1]\nlock cmpxchg [$word], $t\njnz 7f\n8:",
    give: "",
    again: "7: inc $failed\npause\nlea $t, [$a + 1]\nlock cmpxchg [$word], $t\njnz 7b\njmp 8b",
    own_line: false,
};

/// An exchange with 1 takes the lock. While the lock is taken, it is polled with `pause`. An
/// ordinary store frees the lock, because on x86 earlier accesses cannot be delayed past a store.
const SPIN_LOCK: Operation = Operation {
    take: "mov eax, 1\nxchg [$word], $a\ntest $a, $a\njnz 7f\n8: inc $size ptr [$word + $bytes]",
    give: "mov $size ptr [$word], 0",
    again: "7: inc $failed\npause\ncmp $size ptr [$word], 0\njne 7b\n\
            mov eax, 1\nxchg [$word], $a\ntest $a, $a\njnz 7b\njmp 8b",
    own_line: true,
};

/// The only implementation: `lock` prefixes. An exchange with memory is always atomic.
pub(super) fn locks(mode: Mode) -> Locks {
    Locks {
        name: "lock",
        needs: mode.choose(baseline(mode), SSE2),
        atomic_add: lock(mode, &single("mov eax, 1\nlock xadd [$word], $a")),
        exchange: lock(mode, &single("mov $a, $left\nxchg [$word], $a")),
        compare_and_swap: lock(mode, &COMPARE_AND_SWAP),
        spin_lock: lock(mode, &SPIN_LOCK),
        fence: lock(mode, &single("inc $size ptr [$word]\nmfence")),
    }
}

/// The lock kernel of `operation`. The timing covers the operation, the additions inside and
/// between, and a compare and branch for each addition.
///
/// No short loop straddles two lines of the instruction cache. For this, the loops of additions are
/// at the start of the kernel's loop, and `again` starts on a new line. On x86, `again` follows the
/// loop directly if both fit into one line. The kernel enters its loop at label 2.
fn lock(mode: Mode, operation: &Operation) -> String {
    let Operation {
        take,
        give,
        again,
        own_line,
    } = *operation;
    let align = match mode {
        _ if again.is_empty() => "",
        Mode::Bits32 if !own_line => "",
        _ => ".p2align 6, 0xcc",
    };
    let again = lines([align, again]);
    let body = lines([
        "jmp 2f\n.p2align 6, 0xcc",
        "3:\nadd $sum, $a\ndec $a\njnz 3b",
        "4:",
        give,
        mode.choose("mov $a, r8", "mov $a, [esp]"),
        "test $a, $a\njz 6f",
        "5:\nadd $sum, $a\ndec $a\njnz 5b",
        "6:\ndec $left\njz 9f",
        "2:",
        take,
        "mov $a, $inside\ntest $a, $a\njnz 3b\njmp 4b",
    ]);
    let text = match mode {
        Mode::Bits64 => lines([
            "mov $word, [rdi + <word>]\nmov $left, [rdi + <iterations>]",
            "mov $inside, [rdi + <inside>]\nmov r8, [rdi + <between>]",
            "xor r9d, r9d\nxor r10d, r10d",
            &body,
            "9:\nmov [rdi + <failed_tries>], $failed\nret",
            &again,
        ]),
        Mode::Bits32 => mode.framed(
            "eax",
            &lines([
                "mov $word, [eax + <word>]\nmov $left, [eax + <iterations>]",
                "mov $inside, [eax + <inside>]\npush dword ptr [eax + <between>]",
                "xor $failed, $failed\nxor $sum, $sum",
                &body,
                &again,
                "9:\npop eax\nmov eax, [esp + 20]\nmov [eax + <failed_tries>], $failed",
            ]),
        ),
    };
    mode.name_registers(&text, &LOCK_REGISTERS)
}

/// Registers of lock kernels. `$size` is the assembler's name of a word's size, `$bytes` its bytes.
const LOCK_REGISTERS: [Register; 9] = [
    register("$word", "rdx", "edx"),
    register("$left", "rcx", "ecx"),
    register("$inside", "rsi", "esi"),
    register("$failed", "r9", "ebx"),
    register("$sum", "r10", "edi"),
    register("$size", "qword", "dword"),
    register("$bytes", "8", "4"),
    register("$a", "rax", "eax"),
    register("$t", "r11", "ebp"),
];

/// The hand-off kernels.
pub(super) fn hand_offs(mode: Mode) -> HandOffs {
    HandOffs {
        store_load: hand_off(mode, "cmp [$word], $expected\njne 3b\nmov [$word], $answer"),
        compare_and_swap: hand_off(
            mode,
            "mov $a, $expected\nlock cmpxchg [$word], $answer\njnz 3b",
        ),
        exchange: hand_off(
            mode,
            "cmp [$word], $expected\njne 3b\nxchg [$word], $answer",
        ),
    }
}

/// The hand-off kernel that repeats `take`, which answers the awaited value. `take` jumps to label
/// 3 if the value has not arrived.
fn hand_off(mode: Mode, take: &str) -> String {
    let text = lines([
        "mov $word, [$call + <word>]\nmov $expected, [$call + <expected>]",
        "mov $left, [$call + <iterations>]",
        TO_LOOP,
        "mov $polls, [$call + <max_polls>]\nlea $answer, [$expected + 1]\njmp 4f",
        "3:\ndec $polls\njz 5f\n4:",
        take,
        "add $expected, 2\ndec $left\njnz 2b",
        "5:\nmov [$call + <expected>], $expected\nmov [$call + <iterations>], $left",
    ]);
    let names = [
        register("$call", "rdi", "ebp"),
        register("$word", "rdx", "edx"),
        register("$expected", "rsi", "esi"),
        register("$left", "rcx", "ecx"),
        register("$polls", "r9", "ebx"),
        register("$answer", "r8", "edi"),
        register("$a", "rax", "eax"),
    ];
    mode.name_registers(&mode.framed("ebp", &text), &names)
}
