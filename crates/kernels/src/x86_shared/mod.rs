//! Vector rows of x86 and x86-64. Both have the same names of registers, and only the first eight
//! are used. Addresses come from each architecture's `x86!`, and loops from its skeletons.

pub(crate) mod doubles;
pub(crate) mod instructions;
pub(crate) mod offsets;
mod rows;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod vectors;

use super::row::Row;

/// Reason why only the scalar set has string instructions.
pub(crate) const STRINGS: Row = Row::Unsupported(
    "string instructions use no vector registers; see write-rep/scalar and copy-rep/scalar",
);
/// Reason why only the scalar set zeroes cache lines.
pub(crate) const ZERO: Row = Row::Unsupported(
    "the instruction that zeroes cache lines uses no vector registers; see write-zero/scalar",
);
/// Reason why the C library is not listed with vector sets.
pub(crate) const LIBC: Row =
    Row::Unsupported("the C library chooses its own registers; it is listed with the scalar set");
/// Otherwise two operations would have the same instructions.
pub(crate) const WHOLE_LINES: Row = Row::Unsupported(
    "a 512-bit load is a whole line: this would be the code of read and read-prefetch",
);
