//! The loops of streaming kernels.

use crate::contract::{AccessOrder, BLOCK_BYTES, Contract};
use crate::text::{each, lines};

/// Jumps to label 2, where a loop starts on a line of the instruction cache.
pub(super) const TO_LOOP: &str = "b 2f\n.p2align 6, 0xcc\n2:";

/// Parts of a kernel that depend on its operation.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// Executed before the loop. `r10` is the address of the call structure.
    pub start: String,
    /// The accesses of a piece that starts at `r0`, or ends at `r0` in descending orders. They move
    /// `r0` past the piece.
    pub piece: String,
    /// Executed after the loop. `r3` is the address of the call structure.
    pub end: String,
}

/// Parts of a loop that depend on the order of visits.
struct Order {
    /// Converts the offset in `r0` and the length in `r2` to the position and the end of the walk.
    enter: &'static str,
    /// The pieces of an iteration.
    pieces: String,
    /// Advances in the table, and wraps around at the end. There is no branch, because the branch
    /// at the end of a nested loop would be mispredicted once per pass. This costs several percent
    /// of an L1-sized pass.
    step: &'static str,
    /// Computes the offset of the next iteration in the register `offset`.
    leave: &'static str,
    offset: &'static str,
}

/// Sets `r8` to the position in the index table and `r9` to the start of the table.
const ENTER_TABLE: &str = "ldr r9, [r10, #<table>]\nadd r2, r2, r9\nadd r8, r0, r9";

fn order(visits: AccessOrder, piece: &str) -> Order {
    match visits {
        AccessOrder::Forward => Order {
            enter: "add r2, r2, r1\nadd r0, r0, r1",
            pieces: piece.to_owned(),
            step: "cmp r0, r2\nmoveq r0, r1",
            leave: "sub r0, r0, r1",
            offset: "r0",
        },
        AccessOrder::Backward => Order {
            enter: "add r2, r2, r1\nsub r0, r2, r0",
            pieces: piece.to_owned(),
            step: "cmp r0, r1\nmoveq r0, r2",
            leave: "sub r0, r2, r0",
            offset: "r0",
        },
        AccessOrder::Lines => Order {
            enter: ENTER_TABLE,
            pieces: each((0..32).step_by(8), |entry| {
                lines([
                    &format!("ldr r10, [r8, #{entry}]\nldr r11, [r8, #{}]", entry + 4),
                    &format!("add r0, r1, r10, lsl #3\n{piece}"),
                    &format!("add r0, r1, r11, lsl #3\n{piece}"),
                ])
            }),
            step: "add r8, r8, #32\ncmp r8, r2\nmoveq r8, r9",
            leave: "sub r8, r8, r9",
            offset: "r8",
        },
        AccessOrder::Chunks => Order {
            enter: ENTER_TABLE,
            pieces: format!("ldr r10, [r8]\nadd r0, r1, r10, lsl #3\n{piece}"),
            step: "add r8, r8, #4\ncmp r8, r2\nmoveq r8, r9",
            leave: "sub r8, r8, r9",
            offset: "r8",
        },
    }
}

/// The streaming kernel of `body`. Entry and exit take about the time of one mispredicted branch,
/// once per call. There is no fence in the loop.
pub(super) fn walk(contract: &Contract, body: &Body) -> String {
    let order = order(contract.visits, &body.piece);
    let count = match BLOCK_BYTES / contract.iteration {
        1 => String::new(),
        times => format!("lsl r3, r3, #{}", times.trailing_zeros()),
    };
    lines([
        "push {r0, r4-r11, lr}\nmov r10, r0",
        "ldr r3, [r10, #<blocks>]\ncmp r3, #0\nbeq 3f\nldr r1, [r10, #<lead>]",
        "ldr r14, [r10, #<delta>]\nldr r2, [r10, #<window>]\nldr r0, [r10, #<offset>]",
        order.enter,
        &count,
        &body.start,
        TO_LOOP,
        &order.pieces,
        order.step,
        "subs r3, r3, #1\nbne 2b\nldr r3, [sp]",
        order.leave,
        &format!("str {}, [r3, #<offset>]", order.offset),
        &body.end,
        "3:\npop {r0, r4-r11, pc}",
    ])
}
