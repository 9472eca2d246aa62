//! x86-64 and 32-bit x86: general registers, SSE2, AVX, AVX2, AVX-512F.
//!
//! x86-64 and x86 share the text of every kernel. `$name` in a text stands for a general register:
//!
//! | name | x86-64 | x86 | holds, in streams |
//! |---|---|---|---|
//! | `$call` | rdi | ebp | address of the call; on x86 only in `start` and after the loop |
//! | `$blocks` | rcx | ecx | iterations left |
//! | `$start` | rsi | esi | start of the first stream |
//! | `$delta` | r10 | edi | distance from one stream to the next |
//! | `$position` | rax | eax | position in the first stream; by lines, in the index table |
//! | `$end` | rdx | edx | end of the window or of the table; on x86 with a table, on the stack |
//! | `$second` | r9 | ebx; edx with a table | position in the second stream; by lines, its start |
//! | `$third` | r8 | ebp | position in the third stream |
//! | `$distance` | r11 | ebp | prefetch distance |
//! | `$index` | rbx | ebx | by chunks, position in the index table |
//! | `$table` | rbx, by chunks rbp | on the stack | start of the index table |
//!
//! Vector registers 0 to 7 are data. Callee-saved registers are restored: rbx, rbp and r12 to r15
//! on x86-64, ebx, esi, edi and ebp on x86. Kernels of x86-64 use the System V convention on every
//! system, Windows included, so that the code is the same everywhere.
//!
//! Every loop starts on a line of the instruction cache. The code jumps over the gap before the
//! loop. Fixed bytes fill the gap. The assembler's own padding would depend on the target
//! processor, and so would the digest.

mod calibration;
mod chase;
mod instructions;
mod locks;
mod mode;
mod sets;
mod streams;
mod strings;
mod walk;

pub(crate) use mode::Mode;

use crate::architecture::{Architecture, MAX_WALKERS};
use crate::text::repeat;
use calibration::counted;

/// All kernels and tables for `mode`.
pub(crate) fn architecture(mode: Mode) -> Architecture {
    let chases = |payload: bool| {
        (1..=MAX_WALKERS)
            .map(|n| chase::chase(mode, n, payload))
            .collect()
    };
    Architecture {
        abi: mode.choose("sysv64", "C"),
        begin: "",
        end: "",
        sets: sets::sets(mode),
        chases: chases(false),
        chases_with_payload: chases(true),
        locks: vec![locks::locks(mode)],
        hand_offs: locks::hand_offs(mode),
        instructions: instructions::rows(mode),
        dependent_adds: counted(mode, "mov ecx, 3", &repeat(128, "add $a, $c")),
        // The instruction `test` only writes flags. So the instructions are independent, and no
        // core eliminates them at register renaming.
        independent: counted(mode, "", &repeat(128, "test $n, $n")),
        additions: counted(mode, "", "add $a, $n"),
        readings: Vec::new(),
    }
}
