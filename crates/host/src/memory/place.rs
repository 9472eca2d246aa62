//! Placement of memory on NUMA nodes.

use std::fmt;
use units::CpuList;

/// NUMA nodes from which the system takes the pages of a mapping.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The node of the thread that first touches a page.
    Local,
    /// This node only.
    Node(u32),
    /// Each of these nodes in turn.
    Interleaved(Vec<u32>),
    /// Each of these nodes in turn. The administrator's weight of a node is the number of
    /// successive pages on it.
    Weighted(Vec<u32>),
}

impl Place {
    /// The nodes of this place; empty for `Local`.
    pub fn nodes(&self) -> &[u32] {
        match self {
            Place::Local => &[],
            Place::Node(node) => std::slice::from_ref(node),
            Place::Interleaved(nodes) | Place::Weighted(nodes) => nodes,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Local => f.write_str("each thread's node"),
            Place::Node(node) => write!(f, "node {node}"),
            Place::Interleaved(nodes) => write!(f, "nodes {} interleaved", CpuList(nodes.clone())),
            Place::Weighted(nodes) => {
                write!(f, "nodes {} interleaved by weight", CpuList(nodes.clone()))
            }
        }
    }
}
