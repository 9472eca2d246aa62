//! Operations on shared words, and hand-offs of a line between two threads.
//!
//! Atomic operations acquire and release, with `dmb ish` before and after them. Compilers do the
//! same for the standard library's defaults.

use super::sets::ARMV7;
use super::walk::TO_LOOP;
use crate::architecture::{HandOffs, Locks};
use crate::text::lines;

/// The only implementation. Exclusive loads and stores are tried until the store succeeds.
pub(super) fn locks() -> Locks {
    const ADD: &str = "ldrex r11, [r2]\nadd r11, r11, #1\nstrex r12, r11, [r2]\ncmp r12, #0\n";
    const EXCHANGE: &str = "ldrex r11, [r2]\nstrex r12, r3, [r2]\ncmp r12, #0\n";
    let around = |tries: &str| format!("dmb ish\n{tries}bne 7f\n8: dmb ish");
    // A failed comparison has already loaded the new value.
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
        // Polls the lock while it is taken. A fence after taking the lock and one before its
        // release keep the guarded accesses in between.
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

/// The kernel that takes by `take` and ends the operation by `give`. Timed are the operation, the
/// additions inside and between, and one compare and branch for each.
///
/// If the first try can fail, `take` jumps to 7, and `again` is a further try, which jumps to 7 if
/// it fails. It continues at 8, right after the first try. A failed try is followed by `isb`, which
/// waits for tens of cycles, like `pause` on x86. `yield` does nothing on processors without
/// hardware threads.
///
/// The loops of additions come first in the line on which the loop starts, and `again` starts on a
/// line of its own. So no short loop straddles two lines. The first operation enters at 2.
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

/// The three ways to take and answer a value. The store depends on the branch before it, and
/// therefore cannot pass the load. No fence is needed, because only the word is handed over.
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

/// The hand-off that `take` tries once. It jumps to 3 if the value is not there yet.
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
