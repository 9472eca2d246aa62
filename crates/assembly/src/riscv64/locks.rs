//! Operations on shared words, and hand-offs of a line between two threads.

use super::sets::RV64GC;
use super::walk::{FILL_LINE, TO_LOOP};
use crate::architecture::{HandOffs, Locks};
use crate::text::lines;

/// `pause` (Zihintpause). It is encoded as a fence, so every processor can execute it.
const PAUSE: &str = ".4byte 0x0100000f";

/// The only implementation. It uses the A extension, which has atomic instructions (AMO),
/// load-reserved and store-conditional (LR/SC).
pub(super) fn locks() -> Locks {
    Locks {
        name: "amo",
        needs: RV64GC,
        atomic_add: lock("li t1, 1\namoadd.d.aqrl t2, t1, (a1)", "", ""),
        exchange: lock("amoswap.d.aqrl t2, a2, (a1)", "", ""),
        // If the store fails although the word has not changed, the attempt is repeated but not
        // counted, because no other thread caused the failure.
        compare_and_swap: lock(
            "ld t1, 0(a1)\naddi t2, t1, 1\n\
             20:\nlr.d.aqrl t3, (a1)\nbne t3, t1, 7f\nsc.d.rl t4, t2, (a1)\nbnez t4, 20b\n8:",
            "",
            "mv t1, t3\naddi t2, t1, 1\n\
             21:\nlr.d.aqrl t3, (a1)\nbne t3, t1, 7b\nsc.d.rl t4, t2, (a1)\nbnez t4, 21b",
        ),
        // An exchange with 1 takes the lock. While the lock is taken, it is polled with `pause`. A
        // store after a release fence frees the lock.
        spin_lock: lock(
            "li t1, 1\namoswap.d.aq t2, t1, (a1)\nbnez t2, 7f\n\
             8:\nld t2, 8(a1)\naddi t2, t2, 1\nsd t2, 8(a1)",
            "fence rw, w\nsd zero, 0(a1)",
            "ld t2, 0(a1)\nbnez t2, 7b\namoswap.d.aq t2, t1, (a1)\nbnez t2, 7b",
        ),
        fence: lock(
            "ld t1, 0(a1)\naddi t1, t1, 1\nsd t1, 0(a1)\nfence rw, rw",
            "",
            "",
        ),
    }
}

/// A lock kernel. An operation executes `take`, the additions inside, and `give`. The timing covers
/// the operation, all additions, and a branch for each addition.
///
/// If the attempt in `take` fails, it jumps to label 7. There, `again` makes further attempts.
/// After a successful attempt, the kernel continues at label 8, right after the first attempt.
///
/// No short loop straddles two lines of the instruction cache. The loops of additions are at the
/// start of the kernel's loop, and `again` starts on a new line. The kernel enters its loop at
/// label 2.
fn lock(take: &str, give: &str, again: &str) -> String {
    let again = match again {
        "" => String::new(),
        _ => lines([FILL_LINE, "7:\naddi a5, a5, 1", PAUSE, again, "j 8b"]),
    };
    lines([
        "ld a1, <word>(a0)\nld a2, <iterations>(a0)\nld a3, <inside>(a0)\nld a4, <between>(a0)",
        "li a5, 0\nli a6, 0\nj 2f",
        FILL_LINE,
        "3:\nadd a6, a6, t0\naddi t0, t0, -1\nbnez t0, 3b\n4:",
        give,
        "mv t0, a4\nbeqz t0, 6f\n5:\nadd a6, a6, t0\naddi t0, t0, -1\nbnez t0, 5b",
        "6:\naddi a2, a2, -1\nbeqz a2, 9f\n2:",
        take,
        "mv t0, a3\nbnez t0, 3b\nj 4b\n9:\nsd a5, <failed_tries>(a0)\nret",
        &again,
    ])
}

/// The hand-off kernels. No fence is needed, because only one word is handed over.
pub(super) fn hand_offs() -> HandOffs {
    HandOffs {
        store_load: hand_off("ld t1, 0(a1)\nbne t1, a2, 3b\nsd a4, 0(a1)"),
        compare_and_swap: hand_off(
            "lr.d.aqrl t1, (a1)\nbne t1, a2, 3b\nsc.d.rl t2, a4, (a1)\nbnez t2, 3b",
        ),
        exchange: hand_off("ld t1, 0(a1)\nbne t1, a2, 3b\namoswap.d.aqrl t2, a4, (a1)"),
    }
}

/// The hand-off kernel that repeats `take`, which answers the awaited value. `take` jumps to label
/// 3 if the value has not arrived.
fn hand_off(take: &str) -> String {
    lines([
        "ld a1, <word>(a0)\nld a2, <expected>(a0)\nld a3, <iterations>(a0)",
        TO_LOOP,
        "ld a5, <max_polls>(a0)\naddi a4, a2, 1\nj 4f",
        "3:\naddi a5, a5, -1\nbeqz a5, 5f\n4:",
        take,
        "addi a2, a2, 2\naddi a3, a3, -1\nbnez a3, 2b",
        "5:\nsd a2, <expected>(a0)\nsd a3, <iterations>(a0)\nret",
    ])
}
