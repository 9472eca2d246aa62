//! The rows of AArch64: general registers, Advanced SIMD, SVE.

mod chase;
mod instructions;
mod locks;
mod neon;
mod scalar;
mod skeleton;
mod strings;
mod sve;
mod sve_skeleton;
#[cfg(test)]
pub(super) mod tests;

pub(super) use chase::{CHASES, CHASES_WITH_PAYLOAD};
pub(super) use instructions::INSTRUCTIONS;
pub(super) use locks::{HANDOFF, LOCK_SETS};

use super::abi::kernel_fn;
use super::contract::StreamRows;
use super::libc;
use super::row::Row;
use super::sets::{Bits, Set, SetId};

/// `blocks` × `REFERENCE_INSTRUCTIONS_PER_BLOCK` dependent additions.
pub(super) static ADD: kernel_fn!(usize) = skeleton::add;
/// Independent instructions, see `skeleton::issue`.
pub(super) static ISSUE: kernel_fn!(usize) = skeleton::issue;

/// The given number of dependent additions, one per iteration.
pub(super) static WORK: kernel_fn!(usize) = locks::work;

const NO_STRING: Row =
    Row::Unsupported("the string instructions use no vector registers: see the scalar set");
const CHOSEN_BY_THE_LIBRARY: Row =
    Row::Unsupported("the C library chooses its registers itself: see the scalar set");
const NO_REGISTERS: Row = Row::Unsupported("dc zva uses no vector registers: see the scalar set");

/// The sets by rising width. `is_aarch64_feature_detected!` also checks the system's support. In
/// all sets, `touch` loads general registers, because wider loads would load more than one word of
/// each line.
pub(super) static SETS: [Set; 3] = [
    Set {
        id: SetId::Scalar,
        bits: Bits::Fixed(64),
        needs: "AArch64",
        present: || true,
        rows: StreamRows {
            read: Row::Code(scalar::read_scalar),
            read_sum: Row::Code(scalar::read_sum_scalar),
            read_nt: Row::Code(scalar::read_nt_scalar),
            read_nta: Row::Code(scalar::read_nta_scalar),
            read_prefetch: Row::Code(scalar::read_prefetch_scalar),
            read_4: Row::Code(scalar::read_4_scalar),
            read_unroll_64: Row::Code(scalar::read_unroll_64_scalar),
            read_unroll_128: Row::Code(scalar::read_unroll_128_scalar),
            read_unroll_256: Row::Code(scalar::read_unroll_256_scalar),
            touch: Row::Code(scalar::touch_scalar),
            touch_prefetch: Row::Code(scalar::touch_prefetch_scalar),
            write: Row::Code(scalar::write_scalar),
            write_nt: Row::Code(scalar::write_nt_scalar),
            write_unroll_128: Row::Code(scalar::write_unroll_128_scalar),
            write_rep: Row::Needs(strings::present, "FEAT_MOPS", strings::write),
            write_zero: Row::Needs(
                scalar::zeroes_blocks,
                "DC ZVA of 16 to 64 B",
                scalar::write_zero_scalar,
            ),
            write_libc: Row::ReferenceKernel(libc::set),
            update: Row::Code(scalar::update_scalar),
            copy: Row::Code(scalar::copy_scalar),
            copy_nt: Row::Code(scalar::copy_nt_scalar),
            copy_unroll_128: Row::Code(scalar::copy_unroll_128_scalar),
            copy_rep: Row::Needs(strings::present, "FEAT_MOPS", strings::copy),
            copy_libc: Row::ReferenceKernel(libc::copy),
            scale: Row::Code(scalar::scale_scalar),
            scale_nt: Row::Code(scalar::scale_nt_scalar),
            add: Row::Code(scalar::add_scalar),
            add_nt: Row::Code(scalar::add_nt_scalar),
            triad: Row::Code(scalar::triad_scalar),
            triad_nt: Row::Code(scalar::triad_nt_scalar),
            read_reverse: Row::Code(scalar::read_reverse_scalar),
            write_reverse: Row::Code(scalar::write_reverse_scalar),
            copy_reverse: Row::Code(scalar::copy_reverse_scalar),
            read_nt_reverse: Row::Code(scalar::read_nt_reverse_scalar),
            write_nt_reverse: Row::Code(scalar::write_nt_reverse_scalar),
            copy_nt_reverse: Row::Code(scalar::copy_nt_reverse_scalar),
            read_lines: Row::Code(scalar::read_lines_scalar),
            write_lines: Row::Code(scalar::write_lines_scalar),
            copy_lines: Row::Code(scalar::copy_lines_scalar),
            read_nt_lines: Row::Code(scalar::read_nt_lines_scalar),
            write_nt_lines: Row::Code(scalar::write_nt_lines_scalar),
            copy_nt_lines: Row::Code(scalar::copy_nt_lines_scalar),
            read_chunks: Row::Code(scalar::read_chunks_scalar),
            write_chunks: Row::Code(scalar::write_chunks_scalar),
            copy_chunks: Row::Code(scalar::copy_chunks_scalar),
            read_nt_chunks: Row::Code(scalar::read_nt_chunks_scalar),
            write_nt_chunks: Row::Code(scalar::write_nt_chunks_scalar),
            copy_nt_chunks: Row::Code(scalar::copy_nt_chunks_scalar),
        },
    },
    Set {
        id: SetId::Neon,
        bits: Bits::Fixed(128),
        needs: "Advanced SIMD",
        present: || std::arch::is_aarch64_feature_detected!("neon"),
        rows: StreamRows {
            read: Row::Code(neon::read_neon),
            read_sum: Row::Code(neon::read_sum_neon),
            read_nt: Row::Code(neon::read_nt_neon),
            read_nta: Row::Code(neon::read_nta_neon),
            read_prefetch: Row::Code(neon::read_prefetch_neon),
            read_4: Row::Code(neon::read_4_neon),
            read_unroll_64: Row::Code(neon::read_unroll_64_neon),
            read_unroll_128: Row::Code(neon::read_unroll_128_neon),
            read_unroll_256: Row::Code(neon::read_unroll_256_neon),
            touch: Row::Code(scalar::touch_scalar),
            touch_prefetch: Row::Code(scalar::touch_prefetch_scalar),
            write: Row::Code(neon::write_neon),
            write_nt: Row::Code(neon::write_nt_neon),
            write_unroll_128: Row::Code(neon::write_unroll_128_neon),
            write_rep: NO_STRING,
            write_zero: NO_REGISTERS,
            write_libc: CHOSEN_BY_THE_LIBRARY,
            update: Row::Code(neon::update_neon),
            copy: Row::Code(neon::copy_neon),
            copy_nt: Row::Code(neon::copy_nt_neon),
            copy_unroll_128: Row::Code(neon::copy_unroll_128_neon),
            copy_rep: NO_STRING,
            copy_libc: CHOSEN_BY_THE_LIBRARY,
            scale: Row::Code(neon::scale_neon),
            scale_nt: Row::Code(neon::scale_nt_neon),
            add: Row::Code(neon::add_neon),
            add_nt: Row::Code(neon::add_nt_neon),
            triad: Row::Code(neon::triad_neon),
            triad_nt: Row::Code(neon::triad_nt_neon),
            read_reverse: Row::Code(neon::read_reverse_neon),
            write_reverse: Row::Code(neon::write_reverse_neon),
            copy_reverse: Row::Code(neon::copy_reverse_neon),
            read_nt_reverse: Row::Code(neon::read_nt_reverse_neon),
            write_nt_reverse: Row::Code(neon::write_nt_reverse_neon),
            copy_nt_reverse: Row::Code(neon::copy_nt_reverse_neon),
            read_lines: Row::Code(neon::read_lines_neon),
            write_lines: Row::Code(neon::write_lines_neon),
            copy_lines: Row::Code(neon::copy_lines_neon),
            read_nt_lines: Row::Code(neon::read_nt_lines_neon),
            write_nt_lines: Row::Code(neon::write_nt_lines_neon),
            copy_nt_lines: Row::Code(neon::copy_nt_lines_neon),
            read_chunks: Row::Code(neon::read_chunks_neon),
            write_chunks: Row::Code(neon::write_chunks_neon),
            copy_chunks: Row::Code(neon::copy_chunks_neon),
            read_nt_chunks: Row::Code(neon::read_nt_chunks_neon),
            write_nt_chunks: Row::Code(neon::write_nt_chunks_neon),
            copy_nt_chunks: Row::Code(neon::copy_nt_chunks_neon),
        },
    },
    Set {
        id: SetId::Sve,
        bits: Bits::Requested(sve::bits),
        needs: "SVE",
        present: sve::present,
        rows: StreamRows {
            read: Row::Code(sve::read),
            read_sum: Row::Code(sve::read_sum),
            read_nt: Row::Code(sve::read_nt),
            read_nta: Row::Code(sve::read_nta),
            read_prefetch: Row::Code(sve::read_prefetch),
            read_4: Row::Code(sve::read_4),
            read_unroll_64: Row::Code(sve::read_unroll_64),
            read_unroll_128: Row::Code(sve::read_unroll_128),
            read_unroll_256: Row::Code(sve::read_unroll_256),
            touch: Row::Code(scalar::touch_scalar),
            touch_prefetch: Row::Code(scalar::touch_prefetch_scalar),
            write: Row::Code(sve::write),
            write_nt: Row::Code(sve::write_nt),
            write_unroll_128: Row::Code(sve::write_unroll_128),
            write_rep: NO_STRING,
            write_zero: NO_REGISTERS,
            write_libc: CHOSEN_BY_THE_LIBRARY,
            update: Row::Code(sve::update),
            copy: Row::Code(sve::copy),
            copy_nt: Row::Code(sve::copy_nt),
            copy_unroll_128: Row::Code(sve::copy_unroll_128),
            copy_rep: NO_STRING,
            copy_libc: CHOSEN_BY_THE_LIBRARY,
            scale: Row::Code(sve::scale),
            scale_nt: Row::Code(sve::scale_nt),
            add: Row::Code(sve::add),
            add_nt: Row::Code(sve::add_nt),
            triad: Row::Code(sve::triad),
            triad_nt: Row::Code(sve::triad_nt),
            read_reverse: Row::Code(sve::read_reverse),
            write_reverse: Row::Code(sve::write_reverse),
            copy_reverse: Row::Code(sve::copy_reverse),
            read_nt_reverse: Row::Code(sve::read_nt_reverse),
            write_nt_reverse: Row::Code(sve::write_nt_reverse),
            copy_nt_reverse: Row::Code(sve::copy_nt_reverse),
            read_lines: Row::Code(sve::read_lines),
            write_lines: Row::Code(sve::write_lines),
            copy_lines: Row::Code(sve::copy_lines),
            read_nt_lines: Row::Code(sve::read_nt_lines),
            write_nt_lines: Row::Code(sve::write_nt_lines),
            copy_nt_lines: Row::Code(sve::copy_nt_lines),
            read_chunks: Row::Code(sve::read_chunks),
            write_chunks: Row::Code(sve::write_chunks),
            copy_chunks: Row::Code(sve::copy_chunks),
            read_nt_chunks: Row::Code(sve::read_nt_chunks),
            write_nt_chunks: Row::Code(sve::write_nt_chunks),
            copy_nt_chunks: Row::Code(sve::copy_nt_chunks),
        },
    },
];
