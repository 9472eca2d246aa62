//! The order of a pointer chain and of a table, as a permutation of the nodes.

pub(crate) mod order;
pub(crate) mod permutation;
mod table_order;
