//! Pointer chains: built through atomics by any number of threads, proven to stay inside their memory, then walked.

use super::native;
use crate::error::{Error, Result};
use crate::host::memory::{PageReading, Window};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Hops in one turn of the chase loop.
pub const HOPS_PER_BLOCK: u64 = 64;

/// Pointers that are read before they are looked at together.
const NODES_AT_ONCE: usize = 256;

/// Memory in which a chain is being built: node `i` lies at `i` × stride.
#[derive(Debug)]
pub struct UnverifiedChain {
    window: Window,
    stride: usize,
    /// log2 of the stride where it is a power of two: a division per hop would slow down verification.
    shift: Option<u32>,
    nodes: u64,
    /// Tells it from any other chain, also from a later one in the same memory.
    identity: Arc<()>,
}

impl UnverifiedChain {
    /// A chain of as many nodes as fit, `stride` bytes apart.
    ///
    /// # Errors
    /// The stride is 0, no multiple of 8, or so large that not one node fits.
    pub fn new(window: Window, stride: usize) -> Result<Self> {
        let nodes = window.len().checked_div(stride).unwrap_or(0);
        if nodes == 0 || !stride.is_multiple_of(8) {
            return Err(Error::failure(format!(
                "cannot build a chain: stride {stride} B in {} B; a stride is a multiple of 8 that fits at least once",
                window.len()
            )));
        }
        let shift = stride.is_power_of_two().then(|| stride.trailing_zeros());
        Ok(Self { window, stride, shift, nodes: nodes as u64, identity: Arc::new(()) })
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Makes node `from` point to node `to`.
    ///
    /// # Panics
    /// One of them is not below `nodes()`: the proof that no walk leaves the chain rests on it.
    pub fn link(&self, from: u64, to: u64) {
        assert!(from < self.nodes && to < self.nodes, "a link joins two nodes of the chain");
        let words = self.window.words();
        let target = self.window.address() + to as usize * self.stride;
        words[from as usize * self.stride / 8].store(target as u64, Relaxed);
    }

    /// The node that node `from`, below `nodes()`, points to; `None` where it points to none of this chain's nodes.
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
        self.check_with(part, |_, _| true)
    }

    /// As [`check`](Self::check), and tells `see` what was read, in the order of addresses: the first of some nodes in a
    /// row, and what they point to. Ends with `None` where `see` says so, too.
    pub fn check_with(&self, part: Range<u64>, mut see: impl FnMut(u64, &[u64]) -> bool) -> Option<ClosedPart> {
        if part.end > self.nodes {
            return None;
        }
        let mut pointers = [0; NODES_AT_ONCE];
        let mut first = part.start;
        while first < part.end {
            let pointers = &mut pointers[..(part.end - first).min(NODES_AT_ONCE as u64) as usize];
            for (pointer, node) in pointers.iter_mut().zip(first..) {
                *pointer = self.next(node)?;
            }
            if !see(first, pointers) {
                return None;
            }
            first += pointers.len() as u64;
        }
        Some(ClosedPart { part, identity: Arc::clone(&self.identity) })
    }

    /// A chain that may be walked: `parts` must cover every node. That all nodes form one cycle is the builder's to
    /// prove; that no walk leaves the window is proven here.
    ///
    /// # Errors
    /// A node is in none of the parts that were found closed in this very chain.
    pub fn finish(self, mut parts: Vec<ClosedPart>) -> Result<Chain> {
        parts.sort_by_key(|p| p.part.start);
        let covered = parts
            .iter()
            .filter(|p| Arc::ptr_eq(&p.identity, &self.identity))
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
    /// Of the chain; an address would not do, since another chain may be built there.
    identity: Arc<()>,
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
        // SAFETY: it is a kernel.
        unsafe { super::digest::digest_of(native::CHASE as *const u8) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::memory::{Mapping, PageMode};
    use crate::units::Bytes;

    fn memory(bytes: usize) -> Window {
        let mapping = Mapping::new(Bytes(bytes as u64), PageMode::Base, Bytes(0)).unwrap();
        mapping.take(0..bytes).unwrap()
    }

    /// A chain of 8 nodes that all point to themselves.
    fn loops(window: Window) -> UnverifiedChain {
        let chain = UnverifiedChain::new(window, 64).unwrap();
        (0..chain.nodes()).for_each(|node| chain.link(node, node));
        chain
    }

    #[test]
    fn pointers_that_are_no_node_of_the_chain_are_refused() {
        for stride in [64, 72] {
            let chain = UnverifiedChain::new(memory(576), stride).unwrap();
            (0..chain.nodes()).for_each(|node| chain.link(node, 0));
            assert!(chain.check(0..chain.nodes()).is_some());
            let (start, end) = (chain.window.address(), chain.nodes() as usize * stride);
            for wrong in [0, 8, start - stride, start - 8, start + 1, start + 8, start + end, start + 100 * stride] {
                chain.window.words()[3 * stride / 8].store(wrong as u64, Relaxed);
                assert_eq!(chain.next(3), None, "stride {stride}: {wrong:#x} from {start:#x}");
                assert!(chain.check(0..chain.nodes()).is_none() && chain.check(3..4).is_none());
                assert!(chain.check(0..3).is_some() && chain.check(4..chain.nodes()).is_some());
            }
        }
    }

    #[test]
    fn the_proof_of_an_earlier_chain_in_the_same_memory_is_worth_nothing() {
        let first = loops(memory(512));
        let (proof, spare) = (first.check(0..8).unwrap(), first.check(0..8).unwrap());
        let window = first.finish(vec![proof]).unwrap().into_window();
        window.words()[0].store(0xdead, Relaxed);
        let second = UnverifiedChain::new(window, 64).unwrap();
        assert!(second.finish(vec![spare]).is_err(), "its first walk would follow a wild pointer");
    }
}
