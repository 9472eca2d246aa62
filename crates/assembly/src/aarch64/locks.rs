//! Operations on shared words, and hand-offs of a line between two threads.
//!
//! Atomic operations have acquire and release semantics, like the atomic operations of x86.

use super::features::{BASELINE, LSE};
use super::pieces::extended;
use crate::architecture::{HandOffs, Locks};

/// The two implementations: loops of load-exclusive and store-exclusive, and the atomic
/// instructions of Armv8.1 (LSE).
pub(super) fn locks() -> Vec<Locks> {
    let fence = "ldr x11, [x2]\nadd x11, x11, 1\nstr x11, [x2]\ndmb ish";
    let add = "ldaxr x11, [x2]\nadd x11, x11, 1\nstlxr w12, x11, [x2]\ncbnz w12, 7f";
    let swap = "ldaxr x11, [x2]\ncmp x11, x12\nb.ne 7f\nstlxr w14, x13, [x2]\ncbnz w14, 7f";
    let lock = "ldaxr x11, [x2]\ncbnz x11, 7f\nstxr w13, x12, [x2]\ncbnz w13, 7f";
    let exclusive = Locks {
        name: "ll-sc",
        needs: BASELINE,
        atomic_add: simple(add),
        exchange: simple("ldaxr x11, [x2]\nstlxr w12, x3, [x2]\ncbnz w12, 7f"),
        compare_and_swap: compare_and_swap("", swap),
        spin_lock: spin_lock(lock),
        fence: simple(fence),
    };
    let swap = "casal x11, x13, [x2]\ncmp x11, x12\nb.ne 7f";
    let lse = |text: String| extended("lse", &text);
    let single = Locks {
        name: "lse",
        needs: LSE,
        atomic_add: lse(simple("mov x11, 1\nldaddal x11, x12, [x2]")),
        exchange: lse(simple("swpal x3, x11, [x2]")),
        compare_and_swap: lse(compare_and_swap("mov x11, x12", swap)),
        spin_lock: lse(spin_lock("swpa x12, x11, [x2]\ncbnz x11, 7f")),
        fence: simple(fence),
    };
    vec![exclusive, single]
}

/// A lock kernel whose operation is `attempt`, repeated until it succeeds.
fn simple(attempt: &str) -> String {
    kernel("", attempt, "", "", "")
}

/// The compare-and-swap kernel. It loads the word to x12 and puts the word plus 1 into x13.
/// `attempt` replaces x12 by x13 in memory. A failed attempt leaves the current value in x11.
fn compare_and_swap(prepare: &str, attempt: &str) -> String {
    let first = format!("ldr x12, [x2]\nadd x13, x12, 1\n{prepare}");
    kernel(&first, attempt, "mov x12, x11\nadd x13, x12, 1", "", "")
}

/// The spin-lock kernel. `attempt` takes the lock by exchanging it with x12 = 1. While the lock is
/// taken, it is polled. A store-release frees it.
fn spin_lock(attempt: &str) -> String {
    let guarded = "ldr x11, [x2, 8]\nadd x11, x11, 1\nstr x11, [x2, 8]";
    let poll = "ldr x11, [x2]\ncbnz x11, 7b";
    kernel("mov x12, 1", attempt, poll, guarded, "stlr xzr, [x2]")
}

/// A lock kernel. An operation executes `first`, `attempt` until it succeeds, `then`, the additions
/// inside, and `give`. `attempt` jumps to `7f` if it fails, and `again` precedes every further
/// attempt. The timing covers the operation, all additions, and a compare and branch for each
/// addition.
///
/// No short loop straddles two lines of the instruction cache. For this, the loops of additions are
/// at the start of the kernel's loop, and further attempts start on a new line. The kernel enters
/// its loop at label 2.
///
/// A failed attempt is counted and followed by `isb`, which waits for tens of cycles, like `pause`
/// on x86. `yield` would do nothing on processors without hardware threads.
fn kernel(first: &str, attempt: &str, again: &str, then: &str, give: &str) -> String {
    let retry = attempt.replace("7f", "7b");
    let retry = format!(".p2align 6, 0xcc\n7:\nadd x9, x9, 1\nisb\n{again}\n{retry}\nb 8b");
    let retry = if attempt.contains("7f") { &retry } else { "" };
    format!(
        "ldp x2, x3, [x0, <word>]\nldp x4, x5, [x0, <inside>]\nmov x9, 0\nmov x10, 0\nb 2f\n\
         .p2align 6, 0xcc\n3:\nadd x10, x10, x11\nsubs x11, x11, 1\nb.ne 3b\n\
         4:\n{give}\nmov x11, x5\ncbz x11, 6f\n\
         5:\nadd x10, x10, x11\nsubs x11, x11, 1\nb.ne 5b\n\
         6:\nsubs x3, x3, 1\nb.eq 9f\n\
         2:\n{first}\n{attempt}\n8:\n{then}\nmov x11, x4\ncbnz x11, 3b\nb 4b\n\
         9:\nstr x9, [x0, <failed_tries>]\nret\n{retry}"
    )
}

/// The hand-off kernels. A hand-off jumps to label 3 if the awaited value has not arrived. The
/// store of the answer depends on this branch, so it cannot become visible before the load.
pub(super) fn hand_offs() -> HandOffs {
    let load = "ldr x11, [x2]\ncmp x11, x6\nb.ne 3b";
    let swap = "ldaxr x11, [x2]\ncmp x11, x6\nb.ne 3b\nstlxr w12, x8, [x2]\ncbnz w12, 3b";
    let exchange = "7:\nldaxr x11, [x2]\nstlxr w12, x8, [x2]\ncbnz w12, 7b";
    HandOffs {
        store_load: hand_off(&format!("{load}\nstr x8, [x2]")),
        compare_and_swap: hand_off(swap),
        exchange: hand_off(&format!("{load}\n{exchange}")),
    }
}

/// The hand-off kernel that tries `answer` until it succeeds. `answer` replaces the value `x6` by
/// `x8` in the word at `x2`, or jumps to label 3.
fn hand_off(answer: &str) -> String {
    format!(
        "ldp x2, x6, [x0, <word>]\nldp x3, x7, [x0, <iterations>]\nb 2f\n.p2align 6, 0xcc\n\
         2:\nmov x9, x7\nadd x8, x6, 1\nb 4f\n3:\nsubs x9, x9, 1\nb.eq 5f\n\
         4:\n{answer}\nadd x6, x6, 2\nsubs x3, x3, 1\nb.ne 2b\n\
         5:\nstp x6, x3, [x0, <expected>]\nret"
    )
}
