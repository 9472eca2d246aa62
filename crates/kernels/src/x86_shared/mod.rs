//! Vector rows of x86 and x86-64. Their registers are named alike (only the first eight are used);
//! addresses come from each architecture's `x86!`, loops from its skeletons.

pub(crate) mod doubles;
pub(crate) mod instructions;
pub(crate) mod offsets;
mod rows;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod vectors;

use super::row::Row;

/// No set but the scalar one has these.
pub(crate) const STRINGS: Row = Row::Unsupported(
    "string instructions use no vector registers; see write-rep/scalar and copy-rep/scalar",
);
/// No vector set has it.
pub(crate) const ZERO: Row = Row::Unsupported(
    "the instruction that zeroes cache lines uses no vector registers; see write-zero/scalar",
);
/// The scalar set has it.
pub(crate) const LIBC: Row =
    Row::Unsupported("the C library chooses its own registers; it is listed with the scalar set");
/// The same instructions would answer two questions.
pub(crate) const WHOLE_LINES: Row = Row::Unsupported(
    "a 512-bit load is a whole line: this would be the code of read and read-prefetch",
);
