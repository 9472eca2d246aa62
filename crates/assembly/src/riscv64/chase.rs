//! Kernels that follow pointer chains, with 1 to 32 walkers. A walker follows the pointers from its
//! own position in a chain. With payload, a walker also loads the word after each pointer.

use super::walk::TO_LOOP;
use crate::text::{each, lines, repeat};

/// Registers of the walkers in order.
const REGISTERS: [&str; 23] = [
    "a1", "a2", "a3", "a4", "a5", "a6", "a7", "t0", "t1", "t2", "ra", "s0", "s1", "s2", "s3", "s4",
    "s5", "s6", "s7", "s8", "s9", "s10", "s11",
];

/// Index in `REGISTERS` of the first register that has to be restored for the caller.
const FIRST_SAVED: usize = 10;

/// The chase kernel with `walkers` walkers. Each hop of a walker needs the result of its previous
/// hop. With `payload`, the word after each pointer is also loaded, and added up in `t4`.
///
/// `t3` counts iterations. The positions of the 24th and later walkers are in the call structure.
/// The store buffer forwards these positions, which adds a few cycles to a hop. A cache miss takes
/// far longer.
pub(super) fn chase(walkers: usize, payload: bool) -> String {
    let held = &REGISTERS[..walkers.min(REGISTERS.len())];
    let saved = &REGISTERS[FIRST_SAVED..];
    let position = |walker: usize| format!("<positions>+{}(a0)", 8 * walker);
    let hop = |at: &str| {
        let load_payload = if payload {
            format!("ld t5, 8({at})\nadd t4, t4, t5")
        } else {
            String::new()
        };
        lines([&load_payload, &format!("ld {at}, 0({at})")])
    };
    let hops = lines([
        &each(held, |at| hop(at)),
        &each(held.len()..walkers, |walker| {
            let place = position(walker);
            lines([
                &format!("ld t6, {place}"),
                &hop("t6"),
                &format!("sd t6, {place}"),
            ])
        }),
    ]);
    lines([
        &format!("addi sp, sp, -{}", 8 * saved.len() + 8),
        &each(saved.iter().enumerate(), |(i, register)| {
            format!("sd {register}, {}(sp)", 8 * i)
        }),
        "ld t3, <blocks>(a0)\nli t4, 0",
        &each(held.iter().enumerate(), |(walker, at)| {
            format!("ld {at}, {}", position(walker))
        }),
        TO_LOOP,
        &repeat(if walkers == 1 { 64 } else { 8 }, &hops),
        // A conditional branch reaches back 4 KiB, but loops with many walkers are longer.
        "addi t3, t3, -1\nbeqz t3, 3f\nj 2b\n3:",
        &each(held.iter().enumerate(), |(walker, at)| {
            format!("sd {at}, {}", position(walker))
        }),
        "ld t5, <payload>(a0)\nadd t4, t4, t5\nsd t4, <payload>(a0)",
        &each(saved.iter().enumerate(), |(i, register)| {
            format!("ld {register}, {}(sp)", 8 * i)
        }),
        &format!("addi sp, sp, {}\nret", 8 * saved.len() + 8),
    ])
}
