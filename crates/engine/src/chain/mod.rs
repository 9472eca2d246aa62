//! Orders of pointer chains and of index tables, as permutations of the nodes.

pub(crate) mod order;
pub(crate) mod permutation;
mod table_order;
