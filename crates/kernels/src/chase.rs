//! Pointer chains and the walkers that follow them. Any number of threads build a chain through
//! atomics. A chain can be walked after a proof that all pointers stay inside its memory.

use super::abi::kernel_fn;
use super::lines::{LINE, Lines};
use super::native;
use assembly::MAX_WALKERS;
use host::memory::{PageReading, Window};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use units::error::{Error, Result};

/// Hops (loads of a pointer) in one iteration of the chase loop with one walker.
pub const HOPS_PER_BLOCK: u64 = 64;

/// Hops of each walker in one iteration of the chase loop with several walkers.
const HOPS_OF_EACH: u64 = 8;

/// Arguments and results of chase kernels. The assembly in the crate `assembly` names these fields.
#[repr(C)]
#[derive(Debug)]
pub(super) struct ChaseCall {
    /// Address of the node at which each walker is. A kernel for n walkers only uses the first n
    /// addresses.
    pub positions: [usize; MAX_WALKERS],
    /// Iterations of the loop.
    pub blocks: usize,
    /// Wrapping sum of the payloads. A payload is the word after a pointer. Kernels without payload
    /// leave the sum unchanged.
    pub payload: usize,
}

/// The machine code of one chase kernel.
pub(super) type ChaseCode = kernel_fn!(&mut ChaseCall);

/// Hops of all `walkers` together in one iteration of the chase loop.
pub fn hops_per_block(walkers: usize) -> u64 {
    if walkers <= 1 {
        HOPS_PER_BLOCK
    } else {
        HOPS_OF_EACH * walkers as u64
    }
}

/// Name of the kernel for `walkers` walkers, with or without payload.
pub fn chase_name(walkers: usize, payload: bool) -> String {
    let name = if walkers <= 1 {
        "chase".to_owned()
    } else {
        format!("chase-{walkers}")
    };
    if payload { name + "-payload" } else { name }
}

/// The kernel for `walkers` walkers. The number is clamped to 1..=[`MAX_WALKERS`].
fn code_for(walkers: usize, payload: bool) -> ChaseCode {
    let codes = if payload {
        &native::CHASES_WITH_PAYLOAD
    } else {
        &native::CHASES
    };
    codes[walkers.clamp(1, MAX_WALKERS) - 1]
}

/// Digest of the machine code of the kernel for `walkers` walkers; `None` if the end mark is
/// missing.
pub fn chase_digest(walkers: usize, payload: bool) -> Option<String> {
    // SAFETY: the address is that of a kernel.
    unsafe { super::digest::digest_of(code_for(walkers, payload) as *const u8) }
}

/// The machine code of the kernel for `walkers` walkers; `None` if the end mark is missing.
pub fn chase_code(walkers: usize, payload: bool) -> Option<Vec<u8>> {
    // SAFETY: the address is that of a kernel.
    unsafe { super::digest::body_of(code_for(walkers, payload) as *const u8) }
}

/// Number of pointers that are written or read in one batch.
const NODES_AT_ONCE: usize = 256;

/// Chains of at least this many bytes are written with stores that bypass the caches, because their
/// cache lines would not stay there.
const PAST_CACHES: usize = 32 << 20;

/// Chooses the cache line of each node in a chain with one node per page. If all nodes were on the
/// same line of their pages, the nodes would share a few sets of every cache.
#[derive(Debug, Clone, Copy)]
struct Scatter {
    /// Number of cache lines in a page.
    lines: usize,
    /// Bytes of a cache line.
    line: usize,
    seed: u64,
}

impl Scatter {
    /// Offset of node `node` in its page, in bytes. A row is a group of as many successive pages as
    /// a page has lines. The nodes of a row use every line of a page once, so all sets of a cache
    /// get the same number of nodes. A hash of the row's number (Appleby's MurmurHash3 finaliser)
    /// chooses the line of the node in the row's first page.
    fn offset(self, node: u64) -> usize {
        let row = node / self.lines as u64;
        let place = (node % self.lines as u64) as usize;
        let mut hash = self.seed ^ row.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^= hash >> 33;
        let first = ((u128::from(hash) * self.lines as u128) >> u64::BITS) as usize;
        (first + place) % self.lines * self.line
    }
}

/// Memory in which a chain is being built. Node `i` lies at offset `i` × stride in a plain chain.
/// In a chain with one node per page, a hash chooses the line of node `i` in page `i`.
#[derive(Debug)]
pub struct UnverifiedChain {
    window: Window,
    stride: usize,
    scatter: Option<Scatter>,
    /// Distance in bytes between the two nodes of a block; `None` if the nodes are not in pairs.
    pair: Option<usize>,
    /// Bytes of a node: the stride, or a cache line in a chain with one node per page. In a chain
    /// of pairs, a node has at most a line and at most the distance between the two nodes.
    node_bytes: usize,
    /// log2 of the stride; `None` if the stride is no power of two. Finding the node at an address
    /// then takes a division.
    shift: Option<u32>,
    nodes: u64,
    /// Identity of this chain. A later chain in the same memory has another identity.
    identity: Arc<()>,
}

impl UnverifiedChain {
    /// A chain of all nodes that fit into `window`, `stride` bytes apart.
    ///
    /// # Errors
    /// The stride is 0, no multiple of 8, or larger than the window.
    pub fn new(window: Window, stride: usize) -> Result<Self> {
        let nodes = window.len().checked_div(stride).unwrap_or(0) as u64;
        Self::with_nodes(window, stride, nodes)
    }

    /// A chain of `nodes` nodes, `stride` bytes apart, at the start of `window`.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new), or `nodes` is 0 or does not fit.
    pub fn with_nodes(window: Window, stride: usize, nodes: u64) -> Result<Self> {
        let room = window.len().checked_div(stride).unwrap_or(0) as u64;
        if nodes == 0 || nodes > room || !stride.is_multiple_of(8) {
            return Err(Error::failure(format!(
                "cannot build a chain: stride {stride} B in {} B; a stride is a multiple of 8 \
                 that fits at least once",
                window.len()
            )));
        }
        let shift = stride.is_power_of_two().then(|| stride.trailing_zeros());
        let scatter = None;
        let node_bytes = stride;
        Ok(Self {
            window,
            stride,
            scatter,
            pair: None,
            node_bytes,
            shift,
            nodes,
            identity: Arc::new(()),
        })
    }

    /// A chain of one node in each page of `page` bytes. The node is on a line of `line` bytes that
    /// a hash with `seed` chooses. The other lines of a page are not touched.
    ///
    /// # Errors
    /// The window does not start at a multiple of the page size or is shorter than a page. The page
    /// size is no multiple of 8 or less than a line. The line is 0 or no multiple of 8.
    pub fn one_per_page(window: Window, page: usize, line: usize, seed: u64) -> Result<Self> {
        let lines = page.checked_div(line).unwrap_or(0);
        if lines == 0
            || !line.is_multiple_of(8)
            || page == 0
            || !window.address().is_multiple_of(page)
        {
            return Err(Error::failure(format!(
                "cannot put a node into each page: lines of {line} B in pages of {page} B; a line \
                 is a multiple of 8 that fits at least once, and memory starts at a multiple of \
                 the page"
            )));
        }
        let chain = Self::new(window, page)?;
        Ok(Self {
            scatter: Some(Scatter { lines, line, seed }),
            node_bytes: line,
            ..chain
        })
    }

    /// A chain of two nodes in each block of `block` bytes. One node is on a line of `line` bytes
    /// that a hash with `seed` chooses. The other node is `distance` bytes before or after the
    /// first. Both are in the same aligned piece of 2 × `distance` bytes. Nodes `2 i` and `2 i + 1`
    /// share block `i`.
    ///
    /// # Errors
    /// The errors of [`one_per_page`](Self::one_per_page) with the block as page. The block is no
    /// power of two. The distance is no power of two, below 8 or more than half a block.
    pub fn pairs(
        window: Window,
        block: usize,
        (distance, line): (usize, usize),
        seed: u64,
    ) -> Result<Self> {
        if !block.is_power_of_two()
            || !distance.is_power_of_two()
            || distance < 8
            || distance > block / 2
        {
            return Err(Error::failure(format!(
                "cannot put two nodes into each block: {distance} B apart in blocks of {block} B; \
                 both are powers of two, and the distance is 8 B to half a block"
            )));
        }
        let chain = Self::one_per_page(window, block, line, seed)?;
        let nodes = 2 * chain.nodes;
        let node_bytes = line.min(distance);
        Ok(Self {
            pair: Some(distance),
            nodes,
            node_bytes,
            ..chain
        })
    }

    /// Offset of node `node` in the window, in bytes. `node` must be below `nodes()`. The offset is
    /// a multiple of 8, and the whole node lies in the window.
    fn place(&self, node: u64) -> usize {
        let (page, other) = match self.pair {
            Some(distance) => (node / 2, (node % 2) as usize * distance),
            None => (node, 0),
        };
        page as usize * self.stride
            + (self.scatter.map_or(0, |scatter| scatter.offset(page)) ^ other)
    }

    /// The node that starts `distance` bytes after the start of the window; `None` if no node does.
    fn node_at(&self, distance: usize) -> Option<u64> {
        let page = match self.shift {
            Some(shift) => distance >> shift,
            None => distance / self.stride,
        } as u64;
        let (first, second) = if self.pair.is_some() {
            (2 * page, 2 * page + 1)
        } else {
            (page, page)
        };
        [first, second]
            .into_iter()
            .find(|&node| node < self.nodes && self.place(node) == distance)
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Makes node `from` point to node `to`.
    ///
    /// # Panics
    /// `from` or `to` is not below `nodes()`. The proof that no walk leaves the chain depends on
    /// this check.
    pub fn link(&self, from: u64, to: u64) {
        assert!(
            from < self.nodes && to < self.nodes,
            "a link joins two nodes of the chain"
        );
        let words = self.window.words();
        let target = self.window.address() + self.place(to);
        words[self.place(from) / 8].store(target as u64, Relaxed);
    }

    /// Links all nodes of `part`, in batches by rising address. `fill` gets the index of a batch's
    /// first node, and a slice for the targets of the batch's nodes. If `fill` returns false, the
    /// linking stops and this function returns false, otherwise true.
    ///
    /// # Panics
    /// See [`link`](Self::link).
    pub fn link_with(
        &self,
        part: Range<u64>,
        mut fill: impl FnMut(u64, &mut [u64]) -> bool,
    ) -> bool {
        let mut targets = [0; NODES_AT_ONCE];
        let mut lines = self.lines();
        let mut first = part.start;
        while first < part.end {
            let targets = &mut targets[..(part.end - first).min(NODES_AT_ONCE as u64) as usize];
            if !fill(first, targets) {
                return false;
            }
            match &mut lines {
                Some(lines) => self.link_by_lines(first, targets, lines),
                None => (first..)
                    .zip(targets.iter())
                    .for_each(|(node, &to)| self.link(node, to)),
            }
            first += targets.len() as u64;
        }
        true
    }

    /// The lines of the chain, for stores that bypass the caches. `None` if nodes are not whole
    /// lines, or if the chain may fit into a cache.
    fn lines(&self) -> Option<Lines<'_>> {
        (self.shift == Some(LINE.trailing_zeros())
            && self.regular()
            && self.window.len() >= PAST_CACHES)
            .then(|| Lines::new(&self.window))
    }

    /// Makes the nodes from `first` on point to `targets`. Whole lines are written.
    fn link_by_lines(&self, first: u64, targets: &[u64], lines: &mut Lines) {
        let highest = targets
            .iter()
            .fold(first + targets.len() as u64 - 1, |highest, &to| {
                highest.max(to)
            });
        assert!(
            targets.is_empty() || highest < self.nodes,
            "a link joins two nodes of the chain"
        );
        let start = self.window.address();
        for (node, &to) in (first as usize..).zip(targets) {
            lines.write(node, (start + to as usize * LINE) as u64);
        }
    }

    /// True if node `i` lies at `i` × stride and the stride is a power of two.
    fn regular(&self) -> bool {
        self.shift.is_some() && self.scatter.is_none() && self.pair.is_none()
    }

    /// Fills `pointers` with the targets of successive nodes, beginning with node `first`. `None`
    /// if a target is no node of this chain.
    fn read(&self, first: u64, pointers: &mut [u64]) -> Option<()> {
        let Some(shift) = self.shift.filter(|_| self.regular()) else {
            for (pointer, node) in pointers.iter_mut().zip(first..) {
                *pointer = self.next(node)?;
            }
            return Some(());
        };
        // The path for regular chains is faster, because it has no branch for each node.
        let start = self.window.address() as u64;
        let within = self.stride as u64 - 1;
        let words = self
            .window
            .words()
            .get(first as usize * self.stride / 8..)?
            .iter()
            .step_by(self.stride / 8);
        let mut astray = 0;
        let mut highest = 0;
        for (pointer, word) in pointers.iter_mut().zip(words) {
            let distance = word.load(Relaxed).wrapping_sub(start);
            astray |= distance & within;
            *pointer = distance >> shift;
            highest = highest.max(*pointer);
        }
        (astray == 0 && highest < self.nodes).then_some(())
    }

    /// The node to which node `from` points. `None` if the pointer leads to no node of this chain.
    /// `from` must be below `nodes()`.
    pub fn next(&self, from: u64) -> Option<u64> {
        let pointer = self.window.words().get(self.place(from) / 8)?.load(Relaxed) as usize;
        self.node_at(pointer.checked_sub(self.window.address())?)
    }

    /// Proves that all nodes in `part` point to nodes of this chain. `None` if a node does not.
    ///
    /// Later calls of [`link`](Self::link) do not invalidate the proof, because they only link
    /// nodes of this chain.
    pub fn check(&self, part: Range<u64>) -> Option<ClosedPart> {
        self.check_with(part, |_, _| true)
    }

    /// Like [`check`](Self::check), but passes the nodes and their targets to `see`, in batches by
    /// rising address. The arguments of `see` are the first node of a batch and the targets of the
    /// batch. The result is `None` also if `see` returns false.
    pub fn check_with(
        &self,
        part: Range<u64>,
        mut see: impl FnMut(u64, &[u64]) -> bool,
    ) -> Option<ClosedPart> {
        if part.end > self.nodes {
            return None;
        }
        let mut pointers = [0; NODES_AT_ONCE];
        let mut first = part.start;
        while first < part.end {
            let pointers = &mut pointers[..(part.end - first).min(NODES_AT_ONCE as u64) as usize];
            self.read(first, pointers)?;
            if !see(first, pointers) {
                return None;
            }
            first += pointers.len() as u64;
        }
        Some(ClosedPart {
            part,
            identity: Arc::clone(&self.identity),
        })
    }

    /// A chain that can be walked. `parts` must cover every node, which proves that no walk leaves
    /// the window. The caller has to prove that all nodes form one closed cycle.
    ///
    /// # Errors
    /// A node is in none of the `parts` that [`check`](Self::check) returned for this chain.
    pub fn finish(self, mut parts: Vec<ClosedPart>) -> Result<Chain> {
        parts.sort_by_key(|p| p.part.start);
        let covered = parts
            .iter()
            .filter(|p| Arc::ptr_eq(&p.identity, &self.identity))
            .fold(0, |end, p| {
                if p.part.start <= end {
                    end.max(p.part.end)
                } else {
                    end
                }
            });
        if covered < self.nodes {
            return Err(Error::failure(
                "the chain in memory is not the one that was written; its memory is faulty",
            ));
        }
        Ok(Chain { built: self })
    }
}

/// Proof that the nodes in a part of one chain point to nodes of the same chain.
#[derive(Debug)]
pub struct ClosedPart {
    part: Range<u64>,
    /// Identity of the chain. The address of a chain is no identity, because another chain may be
    /// built there.
    identity: Arc<()>,
}

/// A chain that no walk can leave. Any number of threads may walk it at once, because its memory is
/// never written.
#[derive(Debug)]
pub struct Chain {
    built: UnverifiedChain,
}

impl Chain {
    /// Number of nodes.
    pub fn nodes(&self) -> u64 {
        self.built.nodes
    }

    /// Bytes from one node to the next in memory; the page size for a chain with one node per page.
    pub fn stride(&self) -> usize {
        self.built.stride
    }

    /// Page evidence of the chain, see [`Window::inspect`]. The window itself stays private,
    /// because a write to the window could make a walker leave it.
    pub fn inspect(&self, node_samples: usize) -> PageReading {
        self.built.window.inspect(node_samples)
    }

    /// Loads the pointers of `nodes` in the order of addresses. The loads are independent of each
    /// other. Nodes beyond the end are ignored.
    pub fn load(&self, nodes: Range<u64>) {
        let mut pointers = [0; NODES_AT_ONCE];
        let end = nodes.end.min(self.nodes());
        for first in (nodes.start..end).step_by(NODES_AT_ONCE) {
            let count = (end - first).min(NODES_AT_ONCE as u64) as usize;
            // The result cannot be `None`, because all pointers of a `Chain` were checked.
            std::hint::black_box(self.built.read(first, &mut pointers[..count]));
        }
    }

    /// The memory of the chain, which may be written again.
    pub fn into_window(self) -> Window {
        self.built.window
    }
}

/// The walkers of one thread on a chain, with their positions.
#[derive(Debug)]
pub struct Walk {
    chain: Arc<Chain>,
    /// Address of the node at which each walker is. There is at least one walker.
    positions: Vec<usize>,
    payload: bool,
}

impl Walk {
    /// One walker on the first node of `chain`, without payload.
    pub fn new(chain: Arc<Chain>) -> Self {
        let positions = vec![chain.built.window.address() + chain.built.place(0)];
        Self {
            chain,
            positions,
            payload: false,
        }
    }

    /// The chain that is walked.
    pub fn chain(&self) -> &Arc<Chain> {
        &self.chain
    }

    /// Node at which the first walker is.
    pub fn node(&self) -> u64 {
        self.walkers().next().unwrap_or(0)
    }

    /// Nodes at which the walkers are.
    pub fn walkers(&self) -> impl Iterator<Item = u64> {
        self.positions.iter().filter_map(|p| {
            self.chain
                .built
                .node_at(p - self.chain.built.window.address())
        })
    }

    /// True if each hop also loads the payload, the word after the pointer.
    pub fn payload(&self) -> bool {
        self.payload
    }

    /// Starts one walker at each of `nodes`. The caller chooses nodes that are far apart on the
    /// cycle, because walkers are only independent while no walker catches up with another. With
    /// `payload`, each hop also loads the word after the pointer. No later hop waits for that word.
    ///
    /// # Errors
    /// There is no node, or more than [`MAX_WALKERS`]. A node is not in the chain. `payload` is
    /// true and a node is too short for a second word.
    pub fn start(&mut self, nodes: &[u64], payload: bool) -> Result<()> {
        let room = !payload || self.chain.built.node_bytes >= 2 * size_of::<u64>();
        if nodes.is_empty()
            || nodes.len() > MAX_WALKERS
            || nodes.iter().any(|&n| n >= self.chain.built.nodes)
            || !room
        {
            return Err(Error::failure(format!(
                "cannot walk {} nodes of {} B from {} of them at once; 1 to {MAX_WALKERS} \
                 walkers are possible, with payload in nodes of 16 B or more",
                self.chain.built.nodes,
                self.chain.built.node_bytes,
                nodes.len()
            )));
        }
        let address =
            |&node: &u64| self.chain.built.window.address() + self.chain.built.place(node);
        self.positions = nodes.iter().map(address).collect();
        self.payload = payload;
        Ok(())
    }

    /// Moves all walkers on, `blocks` × [`hops_per_block`] hops in total. Returns the wrapping sum
    /// of the payload; 0 without payload.
    ///
    /// The body of this call is timed.
    pub fn walk(&mut self, blocks: u64) -> usize {
        let mut left = blocks;
        let count = self.positions.len();
        let mut call = ChaseCall {
            positions: [0; MAX_WALKERS],
            blocks: 0,
            payload: 0,
        };
        call.positions[..count].copy_from_slice(&self.positions);
        while left > 0 {
            call.blocks = usize::try_from(left).unwrap_or(usize::MAX);
            left -= call.blocks as u64;
            // SAFETY: the positions are nodes, and `check` found that every node points to a node
            // of this window. A payload lies inside its node (see `start`). Nobody else can write
            // there: this chain owns the window and never gives it out for writing. The code uses
            // baseline instructions only.
            unsafe { code_for(count, self.payload)(&mut call) };
        }
        self.positions.copy_from_slice(&call.positions[..count]);
        call.payload
    }
}

#[cfg(test)]
#[path = "tests/chains.rs"]
mod tests;
