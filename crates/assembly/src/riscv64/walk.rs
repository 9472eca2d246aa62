//! The loops of streaming kernels.

use crate::contract::{AccessOrder, BLOCK_BYTES};
use crate::text::lines;

/// Directive that fills the gap before the next line of the instruction cache. The gap is never
/// executed.
pub(super) const FILL_LINE: &str = ".p2align 6, 0xff";

/// Jumps to label 2, where a loop starts on a line of the instruction cache.
pub(super) const TO_LOOP: &str = "j 2f\n.p2align 6, 0xff\n2:";

/// Parts of a loop that depend on the order of visits.
#[derive(Debug)]
pub(super) struct Order {
    /// Instructions before the loop. They set `t2` to the offset of the last iteration, and also
    /// set the other registers that the order uses.
    pub enter: String,
    /// Instructions that set `t6` to the start of the piece in the first stream, or to its end in
    /// descending orders. For lines, they set `t6` to the address of eight entries of the table.
    pub place: &'static str,
    /// Instructions that advance the offset in `t1`, and set `a3` to 0 if the offset has to wrap
    /// around, else 1.
    pub advance: String,
}

/// Parts of a kernel that depend on its operation.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// Executed before the loop.
    pub start: String,
    /// The accesses of an iteration.
    pub accesses: String,
    /// Executed after the loop.
    pub end: String,
}

/// The order `visits`, with `iteration` bytes of each stream per iteration.
pub(super) fn order(visits: AccessOrder, iteration: u64) -> Order {
    let advance = |bytes: u64| format!("sltu a3, t1, t2\naddi t1, t1, {bytes}");
    let count = match BLOCK_BYTES / iteration {
        1 => String::new(),
        times => format!("\nslli t0, t0, {}", times.trailing_zeros()),
    };
    match visits {
        AccessOrder::Forward => Order {
            enter: format!("addi t2, t5, -{iteration}{count}"),
            place: "add t6, t3, t1",
            advance: advance(iteration),
        },
        AccessOrder::Backward => Order {
            enter: format!("addi t2, t5, -{iteration}{count}\nadd t3, t3, t5"),
            place: "sub t6, t3, t1",
            advance: advance(iteration),
        },
        AccessOrder::Lines => Order {
            enter: "addi t2, t5, -32\nld t5, <table>(a0)".into(),
            place: "add t6, t5, t1",
            advance: advance(32),
        },
        AccessOrder::Chunks => Order {
            enter: "addi t2, t5, -4\nld t5, <table>(a0)".into(),
            place: "add t6, t5, t1\nlwu t6, 0(t6)\nslli t6, t6, 3\nadd t6, t6, t3",
            advance: advance(4),
        },
    }
}

/// The streaming kernel of `body`.
///
/// The offset wraps around at the end of the window by a comparison and a mask. The branch at the
/// end of a nested loop would be mispredicted once per pass. The dependency chain from one offset
/// to the next takes three cycles. Entry and exit take about the time of one mispredicted branch,
/// once per call. There is no fence in the loop.
pub(super) fn walk(order: &Order, body: &Body) -> String {
    lines([
        "ld t0, <blocks>(a0)\nbeqz t0, 3f\nld t3, <lead>(a0)\nld t4, <delta>(a0)",
        "ld t5, <window>(a0)\nld t1, <offset>(a0)",
        &order.enter,
        &body.start,
        TO_LOOP,
        order.place,
        &order.advance,
        "neg a3, a3\nand t1, t1, a3",
        &body.accesses,
        "addi t0, t0, -1\nbnez t0, 2b\nsd t1, <offset>(a0)",
        &body.end,
        "3:\nret",
    ])
}
