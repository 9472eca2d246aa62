//! Computes the orders of pointer chains and of index tables, which are permutations.

pub(crate) mod order;
pub(crate) mod permutation;
mod table_order;
