//! The rows of Armv7: general registers, Advanced SIMD (NEON).

mod chase;
mod instructions;
mod locks;
mod neon;
mod scalar;
mod skeleton;
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

const NO_NON_TEMPORAL: Row = Row::Unsupported("Armv7 has no non-temporal loads and stores");
const NO_DOUBLES: Row = Row::Unsupported("NEON of Armv7 has no doubles: see the scalar set");
const NO_STRING: Row = Row::Unsupported("Armv7 has no string instructions");
const NO_ZEROING: Row = Row::Unsupported("Armv7 has no instruction that zeroes a cache line");
const CHOSEN_BY_THE_LIBRARY: Row =
    Row::Unsupported("the C library chooses its registers itself: see the scalar set");

/// The sets by rising width. In both, `touch` loads general registers, because wider loads would
/// load more than one word of each line.
pub(super) static SETS: [Set; 2] = [
    Set {
        id: SetId::Scalar,
        bits: Bits::Fixed(32),
        needs: "Armv7 with VFPv3",
        present: || true,
        rows: StreamRows {
            read: Row::Code(scalar::read),
            read_sum: Row::Code(scalar::read_sum),
            read_nt: NO_NON_TEMPORAL,
            read_nta: NO_NON_TEMPORAL,
            read_prefetch: Row::Code(scalar::read_prefetch),
            read_4: Row::Code(scalar::read_4),
            read_unroll_64: Row::Code(scalar::read_unroll_64),
            read_unroll_128: Row::Code(scalar::read_unroll_128),
            read_unroll_256: Row::Code(scalar::read_unroll_256),
            touch: Row::Code(scalar::touch),
            touch_prefetch: Row::Code(scalar::touch_prefetch),
            write: Row::Code(scalar::write),
            write_nt: NO_NON_TEMPORAL,
            write_unroll_128: Row::Code(scalar::write_unroll_128),
            write_rep: NO_STRING,
            write_zero: NO_ZEROING,
            write_libc: Row::ReferenceKernel(libc::set),
            update: Row::Code(scalar::update),
            copy: Row::Code(scalar::copy),
            copy_nt: NO_NON_TEMPORAL,
            copy_unroll_128: Row::Code(scalar::copy_unroll_128),
            copy_rep: NO_STRING,
            copy_libc: Row::ReferenceKernel(libc::copy),
            scale: Row::Code(scalar::scale),
            scale_nt: NO_NON_TEMPORAL,
            add: Row::Code(scalar::add),
            add_nt: NO_NON_TEMPORAL,
            triad: Row::Code(scalar::triad),
            triad_nt: NO_NON_TEMPORAL,
            read_reverse: Row::Code(scalar::read_reverse),
            write_reverse: Row::Code(scalar::write_reverse),
            copy_reverse: Row::Code(scalar::copy_reverse),
            read_nt_reverse: NO_NON_TEMPORAL,
            write_nt_reverse: NO_NON_TEMPORAL,
            copy_nt_reverse: NO_NON_TEMPORAL,
            read_lines: Row::Code(scalar::read_lines),
            write_lines: Row::Code(scalar::write_lines),
            copy_lines: Row::Code(scalar::copy_lines),
            read_nt_lines: NO_NON_TEMPORAL,
            write_nt_lines: NO_NON_TEMPORAL,
            copy_nt_lines: NO_NON_TEMPORAL,
            read_chunks: Row::Code(scalar::read_chunks),
            write_chunks: Row::Code(scalar::write_chunks),
            copy_chunks: Row::Code(scalar::copy_chunks),
            read_nt_chunks: NO_NON_TEMPORAL,
            write_nt_chunks: NO_NON_TEMPORAL,
            copy_nt_chunks: NO_NON_TEMPORAL,
        },
    },
    Set {
        id: SetId::Neon,
        bits: Bits::Fixed(128),
        needs: "NEON",
        present: instructions::neon,
        rows: StreamRows {
            read: Row::Code(neon::read),
            read_sum: Row::Code(neon::read_sum),
            read_nt: NO_NON_TEMPORAL,
            read_nta: NO_NON_TEMPORAL,
            read_prefetch: Row::Code(neon::read_prefetch),
            read_4: Row::Code(neon::read_4),
            read_unroll_64: Row::Code(neon::read_unroll_64),
            read_unroll_128: Row::Code(neon::read_unroll_128),
            read_unroll_256: Row::Code(neon::read_unroll_256),
            touch: Row::Code(scalar::touch),
            touch_prefetch: Row::Code(scalar::touch_prefetch),
            write: Row::Code(neon::write),
            write_nt: NO_NON_TEMPORAL,
            write_unroll_128: Row::Code(neon::write_unroll_128),
            write_rep: NO_STRING,
            write_zero: NO_ZEROING,
            write_libc: CHOSEN_BY_THE_LIBRARY,
            update: Row::Code(neon::update),
            copy: Row::Code(neon::copy),
            copy_nt: NO_NON_TEMPORAL,
            copy_unroll_128: Row::Code(neon::copy_unroll_128),
            copy_rep: NO_STRING,
            copy_libc: CHOSEN_BY_THE_LIBRARY,
            scale: NO_DOUBLES,
            scale_nt: NO_DOUBLES,
            add: NO_DOUBLES,
            add_nt: NO_DOUBLES,
            triad: NO_DOUBLES,
            triad_nt: NO_DOUBLES,
            read_reverse: Row::Code(neon::read_reverse),
            write_reverse: Row::Code(neon::write_reverse),
            copy_reverse: Row::Code(neon::copy_reverse),
            read_nt_reverse: NO_NON_TEMPORAL,
            write_nt_reverse: NO_NON_TEMPORAL,
            copy_nt_reverse: NO_NON_TEMPORAL,
            read_lines: Row::Code(neon::read_lines),
            write_lines: Row::Code(neon::write_lines),
            copy_lines: Row::Code(neon::copy_lines),
            read_nt_lines: NO_NON_TEMPORAL,
            write_nt_lines: NO_NON_TEMPORAL,
            copy_nt_lines: NO_NON_TEMPORAL,
            read_chunks: Row::Code(neon::read_chunks),
            write_chunks: Row::Code(neon::write_chunks),
            copy_chunks: Row::Code(neon::copy_chunks),
            read_nt_chunks: NO_NON_TEMPORAL,
            write_nt_chunks: NO_NON_TEMPORAL,
            copy_nt_chunks: NO_NON_TEMPORAL,
        },
    },
];
