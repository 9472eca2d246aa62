//! Operations on shared words, and hand-offs of a line between two threads.

use super::mode::{Mode, Register, SSE2, TO_LOOP, baseline, register};
use crate::architecture::{HandOffs, Locks};
use crate::text::lines;

/// Parts of an operation on a shared word.
struct Operation {
    /// Does the operation. If the first try can fail, it jumps to 7 in `again`.
    take: &'static str,
    /// Ends the operation, after the additions inside.
    give: &'static str,
    /// Further tries. They end with a jump back to 8, right after the first try.
    again: &'static str,
    /// True if `again` starts on a line of its own also on x86. On x86-64 it always does.
    own_line: bool,
}

/// Operations without further tries.
const fn single(take: &'static str) -> Operation {
    Operation {
        take,
        give: "",
        again: "",
        own_line: false,
    }
}

/// Load, addition, `lock cmpxchg`. A failure has already loaded the new value.
const COMPARE_AND_SWAP: Operation = Operation {
    take: "mov $a, [$word]\nlea $t, [$a + 1]\nlock cmpxchg [$word], $t\njnz 7f\n8:",
    give: "",
    again: "7: inc $failed\npause\nlea $t, [$a + 1]\nlock cmpxchg [$word], $t\njnz 7b\njmp 8b",
    own_line: false,
};

/// Takes the lock by an exchange with 1. Polls the lock with `pause` while it is taken. Releases it
/// by an ordinary store, which no earlier access passes on x86.
const SPIN_LOCK: Operation = Operation {
    take: "mov eax, 1\nxchg [$word], $a\ntest $a, $a\njnz 7f\n8: inc $size ptr [$word + $bytes]",
    give: "mov $size ptr [$word], 0",
    again: "7: inc $failed\npause\ncmp $size ptr [$word], 0\njne 7b\n\
            mov eax, 1\nxchg [$word], $a\ntest $a, $a\njnz 7b\njmp 8b",
    own_line: true,
};

/// The only implementation. An exchange with memory is always atomic.
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

/// The kernel of `operation`. Timed are the operation, the additions inside and between, and one
/// compare and branch for each.
///
/// The loops of additions come first in the line on which the loop starts. `again` starts on a line
/// of its own, or on x86 follows the loop if all of it fits on one line. So no short loop straddles
/// two lines. The first operation enters at 2.
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

/// Registers of locks. `$size` and `$bytes` are those of a word.
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

/// The three ways to take and answer a value.
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

/// The hand-off that `take` tries once. It jumps to 3 if the value is not there yet.
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
