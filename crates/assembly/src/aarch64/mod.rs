//! AArch64: general registers, Advanced SIMD, SVE.
//!
//! All kernels follow the calling convention AAPCS64, so `x0` is the address of the call structure.
//! This table has the uses of registers for each kind of kernel:
//!
//! | register | streams | chases | locks | hand-offs | instructions |
//! |---|---|---|---|---|---|
//! | x0 | call | call | call | call | call |
//! | x1 | start of the first stream | iterations | free | free | iterations |
//! | x2 | end of the window or table | sum of the payload | word | word | scratch memory |
//! | x3 | iterations | position in memory | operations | answers | free |
//! | x4 | piece in the first stream | walker 1 | additions inside | free | free |
//! | x5 | distance between streams | walker 2 | additions between | free | free |
//! | x6 | free | walker 3 | free | awaited value | free |
//! | x7 | position in the table, or free | walker 4 | free | max_polls | free |
//! | x8 | entry by lines, or free | walker 5 | free | answer | free |
//! | x9 | entry by lines, or free | walker 6 | failed tries | polls left | free |
//! | x10 | entry by lines, SVE length, or free | walker 7 | sum | free | free |
//! | x11 | entry by lines, or free | walker 8 | additions left, or free | free | free |
//! | x12 | free | walker 9 | free | free | free |
//! | x13 | start of the table | walker 10 | free | free | free |
//! | x14 to x17 | free | walkers 11 to 14 | x14 and x15 free | unused | free |
//! | x19 to x28 | free, then saved | saved; walkers 15 to 24 | unused | unused | unused |
//! | x30 | unused | saved; a payload | unused | unused | unused |
//! | v0 to v7 | data | unused | unused | unused | free |
//! | v16 to v30 | sums in v16 to v19 | unused | unused | unused | free |
//! | v31 | operand | unused | unused | unused | free |
//! | p0 | elements to process (SVE) | unused | unused | unused | unused |
//!
//! Streaming kernels allocate free registers as needed: data from x14 on, sums from x8, the operand
//! from x12, further streams from x6. Addresses to prefetch are allocated from x9 on, the prefetch
//! distance from x12. With SVE, streams are allocated from x12 on, and the distance is in x17. If a
//! register is taken, the next free one is used.
//!
//! Kernels clobber the flags and all registers that they use, except the registers marked as saved.
//! The calibration loops use x0 to x4. x18 belongs to the platform. The low halves of v8 to v15
//! belong to the caller, so SVE kernels do not use z8 to z15.
//!
//! Every loop starts on a line of the instruction cache. The code jumps over the gap before the
//! loop. Fixed bytes fill the gap, so that the digest does not depend on the assembler's padding.

mod chase;
mod features;
mod instructions;
mod locks;
mod pieces;
mod registers;
mod sets;
mod streams;
mod walk;
mod whole_lines;

use crate::architecture::{Architecture, MAX_WALKERS, Reading};
use crate::text::{each, lines, repeat};
use pieces::counted_loop;

/// All kernels and tables for AArch64.
pub(crate) fn architecture() -> Architecture {
    let chase = |payload| (1..=MAX_WALKERS).map(move |walkers| chase::chase(walkers, payload));
    // The results go to four registers in turn, for cores without register renaming.
    let independent = each(1..=4, |to| format!("add x{to}, x0, x0"));
    let vector_bytes = ".arch_extension sve\ncntb x0\nret\n.arch_extension nosve";
    let zero_block = "mrs x0, dczid_el0\nret";
    let reading = |name, text| Reading { name, text };
    Architecture {
        abi: "C",
        begin: "",
        end: "",
        sets: sets::sets(),
        chases: chase(false).collect(),
        chases_with_payload: chase(true).collect(),
        locks: locks::locks(),
        hand_offs: locks::hand_offs(),
        instructions: instructions::rows(),
        dependent_adds: calibration("mov x1, 0\nmov x2, 3", &repeat(128, "add x1, x1, x2")),
        independent: calibration("", &repeat(32, &independent)),
        additions: calibration("mov x1, 0", "add x1, x1, x0"),
        readings: vec![
            reading("vector_bytes", vector_bytes),
            reading("zero_block", zero_block),
        ],
    }
}

/// A calibration kernel: `start`, then x0 iterations of `body`, which must only use registers.
fn calibration(start: &str, body: &str) -> String {
    lines([start, "b 2f", &counted_loop(2, "x0", body), "ret"])
}
