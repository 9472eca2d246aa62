//! The rows of x86-64: general registers, SSE2, AVX2, AVX-512F.

mod chase;
mod locks;
mod skeleton;
mod stream;
#[cfg(test)]
mod tests;

pub(super) use chase::{CHASES, CHASES_WITH_PAYLOAD};
pub(super) use locks::{HANDOFF, LOCK_SETS};

use super::abi::kernel_fn;
use super::contract::StreamRows;
use super::instructions::InstructionRows;
use super::sets::{Bits, Row, Set, SetId};

/// `blocks` × `ADDS_PER_BLOCK` dependent additions.
pub(super) static ADD: kernel_fn!(usize) = skeleton::add;

/// As many dependent additions as told, one a turn.
pub(super) static WORK: kernel_fn!(usize) = locks::work;

/// Every instruction.
pub(super) static INSTRUCTIONS: InstructionRows = InstructionRows::UNWRITTEN;

/// By rising width. `is_x86_feature_detected!` includes the operating system's part (XGETBV), so a set that is present
/// cannot raise an illegal instruction.
pub(super) static SETS: [Set; 4] = [
    Set {
        id: SetId::Scalar,
        bits: Bits::Fixed(64),
        needs: "x86-64",
        present: || true,
        rows: StreamRows {
            read: Row::Code(stream::read_scalar),
            read_sum: Row::Code(stream::read_sum_scalar),
            write: Row::Code(stream::write_scalar),
            write_nt: Row::Code(stream::write_nt_scalar),
            copy: Row::Code(stream::copy_scalar),
            copy_nt: Row::Code(stream::copy_nt_scalar),
            ..StreamRows::UNWRITTEN
        },
    },
    Set {
        id: SetId::Sse2,
        bits: Bits::Fixed(128),
        needs: "SSE2",
        present: || is_x86_feature_detected!("sse2"),
        rows: StreamRows {
            read: Row::Code(stream::read_sse2),
            read_sum: Row::Code(stream::read_sum_sse2),
            write: Row::Code(stream::write_sse2),
            write_nt: Row::Code(stream::write_nt_sse2),
            copy: Row::Code(stream::copy_sse2),
            copy_nt: Row::Code(stream::copy_nt_sse2),
            ..StreamRows::UNWRITTEN
        },
    },
    Set {
        id: SetId::Avx2,
        bits: Bits::Fixed(256),
        needs: "AVX2",
        present: || is_x86_feature_detected!("avx2"),
        rows: StreamRows {
            read: Row::Code(stream::read_avx2),
            read_sum: Row::Code(stream::read_sum_avx2),
            write: Row::Code(stream::write_avx2),
            write_nt: Row::Code(stream::write_nt_avx2),
            copy: Row::Code(stream::copy_avx2),
            copy_nt: Row::Code(stream::copy_nt_avx2),
            ..StreamRows::UNWRITTEN
        },
    },
    Set {
        id: SetId::Avx512,
        bits: Bits::Fixed(512),
        needs: "AVX-512F",
        present: || is_x86_feature_detected!("avx512f"),
        rows: StreamRows {
            read: Row::Code(stream::read_avx512),
            read_sum: Row::Code(stream::read_sum_avx512),
            write: Row::Code(stream::write_avx512),
            write_nt: Row::Code(stream::write_nt_avx512),
            copy: Row::Code(stream::copy_avx512),
            copy_nt: Row::Code(stream::copy_nt_avx512),
            ..StreamRows::UNWRITTEN
        },
    },
];
