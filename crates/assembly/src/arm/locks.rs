//! Operations on shared words, and hand-offs of a line between two threads.
//!
//! A `dmb ish` before and after each atomic operation gives it acquire and release semantics.
//! Compilers generate the same code.

use super::sets::ARMV7;
use super::walk::TO_LOOP;
use crate::architecture::{HandOffs, Locks};
use crate::text::lines;

/// The only implementation: loops of load-exclusive and store-exclusive until the store succeeds.
pub(super) fn locks() -> Locks {
    const ADD: &str = "ldrex r11, [r2]\nadd r11, r11, #1\nstrex r12, r11, [r2]\ncmp r12, #0\n";
    const EXCHANGE: &str = "ldrex r11, [r2]\nstrex r12, r3, [r2]\ncmp r12, #0\n";
    let around = |tries: &str| format!("dmb ish\n{tries}bne 7f\n8: dmb ish");
    // A failed comparison has already loaded the current value, so a further attempt does not load
    // it again.
    let swap = |to: &str| {
        format!("ldrex r11, [r2]\ncmp r11, r12\nbne {to}\nstrex r7, r8, [r2]\ncmp r7, #0\nbne {to}")
    };
    let take = |to: &str| {
        format!("ldrex r11, [r2]\ncmp r11, #0\nbne {to}\nstrex r8, r12, [r2]\ncmp r8, #0\nbne {to}")
    };
    Locks {
        name: "ll-sc",
        needs: ARMV7,
        atomic_add: lock(&around(ADD), "", &format!("{ADD}bne 7b")),
        exchange: lock(&around(EXCHANGE), "", &format!("{EXCHANGE}bne 7b")),
        compare_and_swap: lock(
            &format!(
                "ldr r12, [r2]\ndmb ish\nadd r8, r12, #1\n{}\n8: dmb ish",
                swap("7f")
            ),
            "",
            &format!("mov r12, r11\nadd r8, r12, #1\n{}", swap("7b")),
        ),
        // While the lock is taken, it is polled. A fence after taking the lock and a fence before
        // its release keep the guarded accesses between them.
        spin_lock: lock(
            &lines([
                "mov r12, #1",
                &take("7f"),
                "8: dmb ish\nldr r11, [r2, #4]\nadd r11, r11, #1\nstr r11, [r2, #4]",
            ]),
            "dmb ish\nmov r11, #0\nstr r11, [r2]",
            &format!("ldr r11, [r2]\ncmp r11, #0\nbne 7b\n{}", take("7b")),
        ),
        fence: lock(
            "ldr r11, [r2]\nadd r11, r11, #1\nstr r11, [r2]\ndmb ish",
            "",
            "",
        ),
    }
}

/// A lock kernel. An operation executes `take`, the additions inside, and `give`. The timing covers
/// the operation, all additions, and a compare and branch for each addition.
///
/// If the attempt in `take` fails, it jumps to label 7. There, `again` makes further attempts.
/// After a successful attempt, the kernel continues at label 8, right after the first attempt. A
/// failed attempt is followed by `isb`, which waits for tens of cycles, like `pause` on x86.
/// `yield` would do nothing on processors without hardware threads.
///
/// No short loop straddles two lines of the instruction cache. The loops of additions are at the
/// start of the kernel's loop, and `again` starts on a new line. The kernel enters its loop at
/// label 2.
fn lock(take: &str, give: &str, again: &str) -> String {
    let again = match again {
        "" => String::new(),
        _ => format!(".p2align 6, 0xcc\n7: add r9, r9, #1\nisb\n{again}\nb 8b"),
    };
    lines([
        "push {r3-r11, lr}",
        "ldr r2, [r0, #<word>]\nldr r3, [r0, #<iterations>]",
        "ldr r4, [r0, #<inside>]\nldr r5, [r0, #<between>]",
        "mov r9, #0\nmov r10, #0\nb 2f\n.p2align 6, 0xcc",
        "3:\nadd r10, r10, r11\nsubs r11, r11, #1\nbne 3b\n4:",
        give,
        "movs r11, r5\nbeq 6f\n5:\nadd r10, r10, r11\nsubs r11, r11, #1\nbne 5b",
        "6:\nsubs r3, r3, #1\nbeq 9f\n2:",
        take,
        "movs r11, r4\nbne 3b\nb 4b\n9:\nstr r9, [r0, #<failed_tries>]\npop {r3-r11, pc}",
        &again,
    ])
}

/// The hand-off kernels. The store of the answer depends on the branch before it, so it cannot
/// become visible before the load. No fence is needed, because only one word is handed over.
pub(super) fn hand_offs() -> HandOffs {
    const WAIT: &str = "ldr r11, [r2]\ncmp r11, r6\nbne 3b\n";
    HandOffs {
        store_load: hand_off(&format!("{WAIT}str r8, [r2]")),
        compare_and_swap: hand_off(
            "ldrex r11, [r2]\ncmp r11, r6\nbne 3b\nstrex r12, r8, [r2]\ncmp r12, #0\nbne 3b",
        ),
        exchange: hand_off(&format!(
            "{WAIT}7: ldrex r11, [r2]\nstrex r12, r8, [r2]\ncmp r12, #0\nbne 7b"
        )),
    }
}

/// The hand-off kernel that repeats `take`, which answers the awaited value. `take` jumps to label
/// 3 if the value has not arrived.
fn hand_off(take: &str) -> String {
    lines([
        "push {r3-r11, lr}",
        "ldr r2, [r0, #<word>]\nldr r6, [r0, #<expected>]",
        "ldr r3, [r0, #<iterations>]\nldr r7, [r0, #<max_polls>]",
        TO_LOOP,
        "mov r9, r7\nadd r8, r6, #1\nb 4f\n3:\nsubs r9, r9, #1\nbeq 5f\n4:",
        take,
        "add r6, r6, #2\nsubs r3, r3, #1\nbne 2b",
        "5:\nstr r6, [r0, #<expected>]\nstr r3, [r0, #<iterations>]\npop {r3-r11, pc}",
    ])
}
