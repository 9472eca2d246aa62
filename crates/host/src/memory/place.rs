//! Place of memory on a machine of several nodes.

use std::fmt;
use units::CpuList;

/// Place that the system takes pages from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// From the node of the thread that touches them first.
    Local,
    /// From this node only.
    Node(u32),
    /// From each of these nodes in turn.
    Interleaved(Vec<u32>),
    /// From each of these nodes in turn, as many pages at a time as the administrator's weight of
    /// the node says.
    Weighted(Vec<u32>),
}

impl Place {
    /// Every node that pages may come from, as far as the place names them.
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
