//! 64-bit RISC-V: general registers, and the vector extension (RVV 1.0).
//!
//! `a0` is the address of the call structure in all kernels. This table has the uses of the other
//! registers:
//!
//! | register | streams | chases | locks | hand-offs | instructions |
//! |---|---|---|---|---|---|
//! | a1 | second stream; by lines a line | walker | word | word | scratch memory |
//! | a2 | third stream | walker | operations | awaited value | free |
//! | a3 | 0 if the offset wraps, else 1 | walker | additions inside | answers | free |
//! | a4 | data | walker | additions between | answer | free |
//! | a5 | data, or the prefetch distance | walker | failed tries | polls left | free |
//! | a6, a7 | data; with vectors place and length of a group | walkers | sum, unused | unused | free |
//! | t0 | iterations | walker | additions left | unused | iterations |
//! | t1, t2 | offset, last offset | walkers | free | free | free |
//! | t3 | start of the first stream; its end if descending | iterations | free | unused | free |
//! | t4 | distance between streams | payload | free | unused | free |
//! | t5 | index table, or free | a payload | unused | unused | free |
//! | t6 | place of the iteration | walkers in memory | unused | unused | free |
//! | ra, s0 to s11 | unused | walkers, saved | unused | unused | unused |
//! | fa0 to fa4, ft1 to ft4 | scalar, data | unused | unused | unused | unused |
//! | v0 to v31 | data | unused | unused | unused | free |
//!
//! Compressed instructions are off (`norvc`), and the linker rewrites no branch (`norelax`). So
//! neither the offset of an instruction nor the digest depends on the target's defaults. The
//! extensions of RV64G are enabled explicitly, because the assembler loses the extensions of the
//! target during link-time optimization. Every loop starts on a line of the instruction cache. The
//! code jumps over the gap before the loop. Fixed bytes fill the gap.

mod chase;
mod instructions;
mod locks;
mod scalar;
mod sets;
mod vectors;
mod walk;

use crate::architecture::{Architecture, MAX_WALKERS, Reading};
use crate::text::{lines, repeat};

/// All kernels and tables for 64-bit RISC-V.
pub(crate) fn architecture() -> Architecture {
    let chases = |payload: bool| {
        (1..=MAX_WALKERS)
            .map(|n| chase::chase(n, payload))
            .collect()
    };
    Architecture {
        abi: "C",
        begin: ".option push\n.option norvc\n.option norelax\n.option arch, +m, +a, +f, +d",
        end: ".option pop",
        sets: sets::sets(),
        chases: chases(false),
        chases_with_payload: chases(true),
        locks: vec![locks::locks()],
        hand_offs: locks::hand_offs(),
        instructions: instructions::rows(),
        dependent_adds: counted("li a1, 0\nli a2, 3", &repeat(128, "add a1, a1, a2")),
        // The results go to four registers in turn, for cores without register renaming.
        independent: counted(
            "",
            &repeat(
                32,
                "add a1, a0, a0\nadd a2, a0, a0\nadd a3, a0, a0\nadd a4, a0, a0",
            ),
        ),
        additions: counted("li a1, 0", "add a1, a1, a0"),
        readings: vec![Reading {
            name: "vector_bits",
            text: ".option push\n.option arch, +v\ncsrr a0, vlenb\nslli a0, a0, 3\nret\n.option pop",
        }],
    }
}

/// A calibration kernel: `start`, then `body` in a loop of `a0` iterations, the argument.
fn counted(start: &str, body: &str) -> String {
    lines([
        start,
        walk::TO_LOOP,
        body,
        "addi a0, a0, -1\nbnez a0, 2b\nret",
    ])
}
