//! The rows of 64-bit RISC-V: general registers, and the vector extension.

mod chase;
mod instructions;
mod locks;
mod scalar;
mod skeleton;
#[cfg(test)]
pub(super) mod tests;
mod vector;

pub(super) use chase::{CHASES, CHASES_WITH_PAYLOAD};
pub(super) use instructions::INSTRUCTIONS;
pub(super) use locks::{HANDOFF, LOCK_SETS};

use super::abi::kernel_fn;
use super::contract::StreamRows;
use super::libc;
use super::row::Row;
use super::sets::{Bits, Set, SetId};
use host::cpu;

/// `blocks` × `REFERENCE_INSTRUCTIONS_PER_BLOCK` dependent additions.
pub(super) static ADD: kernel_fn!(usize) = skeleton::add;
/// Independent instructions, see `skeleton::issue`.
pub(super) static ISSUE: kernel_fn!(usize) = skeleton::issue;

/// The given number of dependent additions, one per iteration.
pub(super) static WORK: kernel_fn!(usize) = skeleton::work;

/// True if programs may use version 1.0 of the vector extension. The kernel does not set its bit
/// for older versions.
fn has_vectors() -> bool {
    cpu::capabilities() >> (b'V' - b'A') & 1 == 1
}

/// Length of the vector registers in bits; 0 without the vector extension.
fn vector_bits() -> u32 {
    if !has_vectors() {
        return 0;
    }
    // SAFETY: the vector extension is present.
    u32::try_from(unsafe { vector::register_bits() }).unwrap_or(0)
}

/// True if `cbo.zero` may be used and zeroes as many bytes as its row expects.
fn zeroes_lines() -> bool {
    cpu::zeroed_block() == Some(64)
}

const NO_NON_TEMPORAL: Row = Row::Unsupported(
    "RISC-V has hints for non-temporal accesses only (Zihintntl), which processors are free to ignore",
);
const NO_STRINGS: Row = Row::Unsupported("RISC-V has no string instructions");
const NO_REGISTERS: Row = Row::Unsupported("no vector register takes part: see the set scalar");

const WRITE_ZERO: Row = Row::Needs(
    zeroes_lines,
    "Zicboz with blocks of 64 B",
    scalar::write_zero,
);

/// The sets by rising width.
pub(super) static SETS: [Set; 2] = [
    Set {
        id: SetId::Scalar,
        bits: Bits::Fixed(64),
        needs: "RV64GC",
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
            write_rep: NO_STRINGS,
            write_zero: WRITE_ZERO,
            write_libc: Row::ReferenceKernel(libc::set),
            update: Row::Code(scalar::update),
            copy: Row::Code(scalar::copy),
            copy_nt: NO_NON_TEMPORAL,
            copy_unroll_128: Row::Code(scalar::copy_unroll_128),
            copy_rep: NO_STRINGS,
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
        id: SetId::Rvv,
        bits: Bits::Requested(vector_bits),
        needs: "RVV 1.0",
        present: has_vectors,
        rows: StreamRows {
            read: Row::Code(vector::read),
            read_sum: Row::Code(vector::read_sum),
            read_nt: NO_NON_TEMPORAL,
            read_nta: NO_NON_TEMPORAL,
            read_prefetch: Row::Code(vector::read_prefetch),
            read_4: Row::Code(vector::read_4),
            read_unroll_64: Row::Code(vector::read_unroll_64),
            read_unroll_128: Row::Code(vector::read_unroll_128),
            read_unroll_256: Row::Code(vector::read_unroll_256),
            touch: Row::Code(vector::touch),
            touch_prefetch: Row::Code(vector::touch_prefetch),
            write: Row::Code(vector::write),
            write_nt: NO_NON_TEMPORAL,
            write_unroll_128: Row::Code(vector::write_unroll_128),
            write_rep: NO_STRINGS,
            write_zero: NO_REGISTERS,
            write_libc: NO_REGISTERS,
            update: Row::Code(vector::update),
            copy: Row::Code(vector::copy),
            copy_nt: NO_NON_TEMPORAL,
            copy_unroll_128: Row::Code(vector::copy_unroll_128),
            copy_rep: NO_STRINGS,
            copy_libc: NO_REGISTERS,
            scale: Row::Code(vector::scale),
            scale_nt: NO_NON_TEMPORAL,
            add: Row::Code(vector::add),
            add_nt: NO_NON_TEMPORAL,
            triad: Row::Code(vector::triad),
            triad_nt: NO_NON_TEMPORAL,
            read_reverse: Row::Code(vector::read_reverse),
            write_reverse: Row::Code(vector::write_reverse),
            copy_reverse: Row::Code(vector::copy_reverse),
            read_nt_reverse: NO_NON_TEMPORAL,
            write_nt_reverse: NO_NON_TEMPORAL,
            copy_nt_reverse: NO_NON_TEMPORAL,
            read_lines: Row::Code(vector::read_lines),
            write_lines: Row::Code(vector::write_lines),
            copy_lines: Row::Code(vector::copy_lines),
            read_nt_lines: NO_NON_TEMPORAL,
            write_nt_lines: NO_NON_TEMPORAL,
            copy_nt_lines: NO_NON_TEMPORAL,
            read_chunks: Row::Code(vector::read_chunks),
            write_chunks: Row::Code(vector::write_chunks),
            copy_chunks: Row::Code(vector::copy_chunks),
            read_nt_chunks: NO_NON_TEMPORAL,
            write_nt_chunks: NO_NON_TEMPORAL,
            copy_nt_chunks: NO_NON_TEMPORAL,
        },
    },
];
