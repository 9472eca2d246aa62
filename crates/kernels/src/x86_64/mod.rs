//! The rows of x86-64: general registers, SSE2, AVX, AVX2, AVX-512F.

mod chase;
pub(super) mod instructions;
mod locks;
mod scalar;
pub(super) mod skeleton;
#[cfg(test)]
pub(super) mod tests;

pub(super) use chase::{CHASES, CHASES_WITH_PAYLOAD};
pub(super) use locks::{HANDOFF, LOCK_SETS};

use super::abi::kernel_fn;
use super::instructions::InstructionRows;
use super::sets::{Bits, Set, SetId};
use super::x86_shared::vectors;

/// `blocks` × `REFERENCE_INSTRUCTIONS_PER_BLOCK` dependent additions.
pub(super) static ADD: kernel_fn!(usize) = skeleton::add;
/// Independent instructions, see `skeleton::issue`.
pub(super) static ISSUE: kernel_fn!(usize) = skeleton::issue;

/// The given number of dependent additions, one per iteration.
pub(super) static WORK: kernel_fn!(usize) = locks::work;

/// The rows of every instruction.
pub(super) static INSTRUCTIONS: InstructionRows = super::x86_shared::instructions::ROWS;

/// The sets by rising width. `is_x86_feature_detected!` also checks the operating system's support
/// (XGETBV). So a set that is present cannot raise an illegal instruction.
pub(super) static SETS: [Set; 5] = [
    Set {
        id: SetId::Scalar,
        bits: Bits::Fixed(64),
        needs: "x86-64",
        present: || true,
        rows: scalar::ROWS,
    },
    Set {
        id: SetId::Sse2,
        bits: Bits::Fixed(128),
        needs: "SSE2",
        present: || is_x86_feature_detected!("sse2"),
        rows: vectors::sse2::ROWS,
    },
    Set {
        id: SetId::Avx,
        bits: Bits::Fixed(256),
        needs: "AVX",
        present: || is_x86_feature_detected!("avx"),
        rows: vectors::avx::ROWS,
    },
    Set {
        id: SetId::Avx2,
        bits: Bits::Fixed(256),
        needs: "AVX2",
        present: || is_x86_feature_detected!("avx2"),
        rows: vectors::avx2::ROWS,
    },
    Set {
        id: SetId::Avx512,
        bits: Bits::Fixed(512),
        needs: "AVX-512F",
        present: || is_x86_feature_detected!("avx512f"),
        rows: vectors::avx512::ROWS,
    },
];
