//! Kernels that follow pointer chains, with 1 to 32 walkers. A walker follows the pointers from its
//! own position in a chain. With payload, a walker also loads a word after each pointer.

use super::walk::TO_LOOP;
use crate::text::{each, lines, repeat};

/// Registers of the walkers in order.
const REGISTERS: [&str; 9] = ["r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12"];

/// The chase kernel with `walkers` walkers. Each hop of a walker needs the result of its previous
/// hop. With `payload`, the word 8 bytes after each pointer is also loaded, and added up in `r2`.
///
/// The positions of the tenth and later walkers are in the call structure. The store buffer
/// forwards these positions, which adds a few cycles to a hop. A cache miss takes far longer.
pub(super) fn chase(walkers: usize, payload: bool) -> String {
    let held = &REGISTERS[..walkers.min(REGISTERS.len())];
    let hop = |at: &str| {
        let (load, add) = if payload {
            (format!("ldr r14, [{at}, #8]"), "add r2, r2, r14")
        } else {
            Default::default()
        };
        lines([&load, &format!("ldr {at}, [{at}]"), add])
    };
    let hops = lines([
        &each(held, |at| hop(at)),
        &each(held.len()..walkers, |walker| {
            let place = format!("[r0, #<positions>+{}]", 4 * walker);
            lines([
                &format!("ldr r3, {place}"),
                &hop("r3"),
                &format!("str r3, {place}"),
            ])
        }),
    ]);
    lines([
        "push {r3-r11, lr}\nldr r1, [r0, #<blocks>]\nmov r2, #0\nmov r3, r0",
        &each(held, |at| format!("ldr {at}, [r3], #4")),
        TO_LOOP,
        &repeat(if walkers == 1 { 64 } else { 8 }, &hops),
        "subs r1, r1, #1\nbne 2b\nmov r3, r0",
        &each(held, |at| format!("str {at}, [r3], #4")),
        "ldr r1, [r0, #<payload>]\nadd r1, r1, r2\nstr r1, [r0, #<payload>]",
        "pop {r3-r11, pc}",
    ])
}
