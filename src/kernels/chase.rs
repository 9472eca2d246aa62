//! Pointer chains: built through atomics by any number of threads, proven to stay inside their memory, then walked.

use super::native;
use crate::error::{Error, Result};
use crate::host::memory::{PageReading, Window};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// Hops in one turn of the chase loop.
pub const HOPS_PER_BLOCK: u64 = 64;

/// Memory in which a chain is being built: node `i` lies at `i` × stride.
#[derive(Debug)]
pub struct UnverifiedChain {
    window: Window,
    stride: usize,
    /// log2 of the stride where it is a power of two: a division per hop would slow down verification.
    shift: Option<u32>,
    nodes: u64,
}

impl UnverifiedChain {
    /// A chain of as many nodes as fit, `stride` bytes (a multiple of 8) apart. At least one must fit.
    pub fn new(window: Window, stride: usize) -> Result<Self> {
        let nodes = window.len().checked_div(stride).unwrap_or(0);
        if nodes == 0 || !stride.is_multiple_of(8) {
            return Err(Error::failure(format!(
                "cannot build a chain: stride {stride} B in {} B; a stride is a multiple of 8 that fits at least once",
                window.len()
            )));
        }
        let shift = stride.is_power_of_two().then(|| stride.trailing_zeros());
        Ok(Self { window, stride, shift, nodes: nodes as u64 })
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Makes node `from` point to node `to`; both below `nodes()`.
    pub fn link(&self, from: u64, to: u64) {
        assert!(from < self.nodes && to < self.nodes, "a link joins two nodes of the chain");
        let words = self.window.words();
        let target = self.window.address() + to as usize * self.stride;
        words[from as usize * self.stride / 8].store(target as u64, Relaxed);
    }

    /// The node that node `from` points to; `None` where it points to none of this chain's nodes.
    pub fn next(&self, from: u64) -> Option<u64> {
        let pointer = self.window.words().get(from as usize * self.stride / 8)?.load(Relaxed) as usize;
        let distance = pointer.checked_sub(self.window.address())?;
        let node = match self.shift {
            Some(shift) => distance >> shift,
            None => distance / self.stride,
        };
        (node * self.stride == distance && (node as u64) < self.nodes).then_some(node as u64)
    }

    /// Looks at every pointer of the nodes in `part`; `None` if one leads out of this chain.
    ///
    /// Links made later cannot break what was found: they join nodes of the chain.
    pub fn check(&self, part: Range<u64>) -> Option<ClosedPart> {
        let closed = part.end <= self.nodes && part.clone().all(|node| self.next(node).is_some());
        closed.then(|| ClosedPart { part, address: self.window.address() })
    }

    /// A chain that may be walked: `parts` must cover every node. That all nodes form one cycle is the builder's to
    /// prove; that no walk leaves the window is proven here.
    pub fn finish(self, mut parts: Vec<ClosedPart>) -> Result<Chain> {
        parts.sort_by_key(|p| p.part.start);
        let covered = parts
            .iter()
            .filter(|p| p.address == self.window.address())
            .fold(0, |end, p| if p.part.start <= end { end.max(p.part.end) } else { end });
        if covered < self.nodes {
            return Err(Error::failure("the chain in memory is not the one that was written; its memory is faulty"));
        }
        let position = self.window.address();
        Ok(Chain { built: self, position })
    }
}

/// Proof that the nodes of a part of one chain point to nodes of the same chain.
#[derive(Debug)]
pub struct ClosedPart {
    part: Range<u64>,
    address: usize,
}

/// A chain that no walk can leave.
#[derive(Debug)]
pub struct Chain {
    built: UnverifiedChain,
    position: usize,
}

impl Chain {
    /// Number of nodes.
    pub fn nodes(&self) -> u64 {
        self.built.nodes
    }

    /// Bytes from one node to the next in memory.
    pub fn stride(&self) -> usize {
        self.built.stride
    }

    /// What the system says about the memory of the chain; see [`Window::inspect`]. The window itself is not handed
    /// out: who could write to it could lead the walk astray.
    pub fn inspect(&self, node_samples: usize) -> PageReading {
        self.built.window.inspect(node_samples)
    }

    /// The node that the walk stands on.
    pub fn node(&self) -> u64 {
        ((self.position - self.built.window.address()) / self.built.stride) as u64
    }

    /// Goes on for `blocks` × [`HOPS_PER_BLOCK`] hops from where the last walk ended.
    ///
    /// What is timed is the body of this call.
    pub fn walk(&mut self, blocks: u64) {
        // SAFETY: `position` is a node, and `check` found that every node points to a node of this window. Nobody
        // else can write there: the window is owned by this chain and not handed out for writing.
        self.position = unsafe { (native::CHASE)(self.position, blocks) };
    }

    /// Takes the chain apart; its memory may be written again.
    pub fn into_window(self) -> Window {
        self.built.window
    }

    /// Digest of the machine code that walks.
    pub fn kernel_digest() -> Option<String> {
        super::digest::digest_of(native::CHASE as *const u8)
    }
}
