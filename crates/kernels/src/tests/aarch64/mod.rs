//! Branches and registers of this architecture.

pub(super) mod flow;
mod registers;
