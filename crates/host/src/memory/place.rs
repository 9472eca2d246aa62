//! Placement of memory on a machine with several NUMA nodes.

use std::fmt;
use units::CpuList;

/// Nodes that the system takes pages from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The node of the thread that touches the pages first.
    Local,
    /// This node only.
    Node(u32),
    /// Each of these nodes in turn.
    Interleaved(Vec<u32>),
    /// Each of these nodes in turn, with as many pages in a row as the administrator's weight of
    /// the node.
    Weighted(Vec<u32>),
}

impl Place {
    /// Nodes that the place names; empty for `Local`.
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
