//! Armv7 (A32): general registers, Advanced SIMD (NEON).
//!
//! At entry, `r0` is the address of the call structure. The uses of registers, for each kind of
//! kernel:
//!
//! | register | streams | chases | locks | hand-offs | instructions |
//! |---|---|---|---|---|---|
//! | r0 | position in the first stream | call | call | call | call |
//! | r1 | start of the first stream | iterations | free | free | iterations |
//! | r2 | end of the window or table | payload | word | word | scratch memory |
//! | r3 | iterations; in `end` the call | walkers in memory | operations | answers | operand |
//! | r4, r5 | data, or free | walkers | additions inside, between | unused | result |
//! | r6, r7 | data, or free | walkers | unused, free | awaited value, polls | result |
//! | r8, r9 | data; position in the table, its start | walkers | free, failed tries | answer, polls left | result |
//! | r10, r11 | data, streams, entries; at `start` the call | walkers | sum, additions left | unused, free | result |
//! | r12 | second stream, or free | walker | free | free | operand |
//! | r14 | distance between streams, or to prefetch | payload | unused | unused | unused |
//! | d0 to d7, q8 to q11 | data, sums | unused | unused | unused | free |
//!
//! r4 to r11 and lr are restored at the end. Loads and stores advance the position by writeback. An
//! update of the position takes one cycle, so positions stay ahead of the loads.
//!
//! Every loop starts on a line of the instruction cache. The code jumps over the gap before the
//! loop. Fixed bytes fill the gap, so that the digest does not depend on the assembler's padding.
//! All instructions are in the A32 encoding. There are no kernels for targets that compile to
//! Thumb.

mod chase;
mod instructions;
mod locks;
mod sets;
mod streams;
mod walk;

use crate::architecture::{Architecture, MAX_WALKERS};
use crate::text::{lines, repeat};

/// All kernels and tables for Armv7.
pub(crate) fn architecture() -> Architecture {
    let chases = |payload: bool| {
        (1..=MAX_WALKERS)
            .map(|n| chase::chase(n, payload))
            .collect()
    };
    Architecture {
        abi: "C",
        begin: ".fpu neon",
        end: ".fpu vfpv3-d16",
        sets: sets::sets(),
        chases: chases(false),
        chases_with_payload: chases(true),
        locks: vec![locks::locks()],
        hand_offs: locks::hand_offs(),
        instructions: instructions::rows(),
        dependent_adds: counted("mov r1, #0\nmov r2, #3", &repeat(128, "add r1, r1, r2")),
        // The results go to two registers in turn, for cores without register renaming.
        independent: counted("", &repeat(64, "add r1, r0, r0\nadd r2, r0, r0")),
        additions: counted("mov r1, #0", "add r1, r1, r0"),
        readings: Vec::new(),
    }
}

/// A calibration kernel: `start`, then `body` in a loop of `r0` iterations, the argument.
fn counted(start: &str, body: &str) -> String {
    lines([start, walk::TO_LOOP, body, "subs r0, r0, #1\nbne 2b\nbx lr"])
}
