//! Branches, registers and single rows of this architecture.

pub(super) mod flow;
mod registers;
mod streams;
