//! The rows of x86-64: general registers, SSE2, AVX2, AVX-512F.

mod skeleton;
mod stream;
#[cfg(test)]
mod tests;

pub(super) use skeleton::{add as ADD_CODE, chase as CHASE_CODE};

use super::sets::{Row, Set, SetId, StreamRows};

/// `blocks` × `ADDS_PER_BLOCK` dependent additions.
pub(super) static ADD: unsafe extern "sysv64" fn(u64) = ADD_CODE;

/// Follows pointers from an address for `blocks` × `HOPS_PER_BLOCK` hops and returns where it got to.
pub(super) static CHASE: unsafe extern "sysv64" fn(usize, u64) -> usize = CHASE_CODE;

/// By rising width. `is_x86_feature_detected!` includes the operating system's part (XGETBV), so a set that is present
/// cannot raise an illegal instruction.
pub(super) static SETS: [Set; 4] = [
    Set {
        id: SetId::Scalar,
        bits: 64,
        needs: "x86-64",
        present: || true,
        rows: StreamRows {
            read: Row::Code(stream::read_scalar),
            read_sum: Row::Code(stream::read_sum_scalar),
            write: Row::Code(stream::write_scalar),
            write_nt: Row::Code(stream::write_nt_scalar),
            copy: Row::Code(stream::copy_scalar),
            copy_nt: Row::Code(stream::copy_nt_scalar),
        },
    },
    Set {
        id: SetId::Sse2,
        bits: 128,
        needs: "SSE2",
        present: || is_x86_feature_detected!("sse2"),
        rows: StreamRows {
            read: Row::Code(stream::read_sse2),
            read_sum: Row::Code(stream::read_sum_sse2),
            write: Row::Code(stream::write_sse2),
            write_nt: Row::Code(stream::write_nt_sse2),
            copy: Row::Code(stream::copy_sse2),
            copy_nt: Row::Code(stream::copy_nt_sse2),
        },
    },
    Set {
        id: SetId::Avx2,
        bits: 256,
        needs: "AVX2",
        present: || is_x86_feature_detected!("avx2"),
        rows: StreamRows {
            read: Row::Code(stream::read_avx2),
            read_sum: Row::Code(stream::read_sum_avx2),
            write: Row::Code(stream::write_avx2),
            write_nt: Row::Code(stream::write_nt_avx2),
            copy: Row::Code(stream::copy_avx2),
            copy_nt: Row::Code(stream::copy_nt_avx2),
        },
    },
    Set {
        id: SetId::Avx512,
        bits: 512,
        needs: "AVX-512F",
        present: || is_x86_feature_detected!("avx512f"),
        rows: StreamRows {
            read: Row::Code(stream::read_avx512),
            read_sum: Row::Code(stream::read_sum_avx512),
            write: Row::Code(stream::write_avx512),
            write_nt: Row::Code(stream::write_nt_avx512),
            copy: Row::Code(stream::copy_avx512),
            copy_nt: Row::Code(stream::copy_nt_avx512),
        },
    },
];
