//! Pointer chains: built through atomics by any number of threads, proven to stay inside their
//! memory, then walked by one walker or by several at once.

use super::abi::kernel_fn;
use super::lines::{LINE, Lines};
use super::native;
use host::memory::{PageReading, Window};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use units::error::{Error, Result};

/// Hops in one turn of the chase loop with one walker.
pub const HOPS_PER_BLOCK: u64 = 64;

/// Hops of each walker in one turn of the chase loop with several.
const HOPS_OF_EACH: u64 = 8;

/// Walkers at most.
pub const MOST_WALKERS: usize = 32;

/// Arguments and results of the assembly; the layout is part of every skeleton.
#[repr(C)]
#[derive(Debug)]
pub(super) struct ChaseCall {
    /// Position of each walker; the code uses only its own.
    pub positions: [usize; MOST_WALKERS],
    /// Turns of the loop.
    pub blocks: usize,
    /// Wrapping sum of the words behind the pointers, for code that loads them.
    pub payload: usize,
}

/// The machine code for one number of walkers, with or without payload.
pub(super) type ChaseCode = kernel_fn!(&mut ChaseCall);

/// Hops of all walkers together in one turn of the loop.
pub fn hops_per_block(walkers: usize) -> u64 {
    if walkers <= 1 {
        HOPS_PER_BLOCK
    } else {
        HOPS_OF_EACH * walkers as u64
    }
}

/// Name of the kernel for `walkers`, with or without payload.
pub fn chase_name(walkers: usize, payload: bool) -> String {
    let name = if walkers <= 1 {
        "chase".to_owned()
    } else {
        format!("chase-{walkers}")
    };
    if payload { name + "-payload" } else { name }
}

/// The code for `walkers` (1 to [`MOST_WALKERS`]; others are brought into range).
fn code_for(walkers: usize, payload: bool) -> ChaseCode {
    let codes = if payload {
        &native::CHASES_WITH_PAYLOAD
    } else {
        &native::CHASES
    };
    codes[walkers.clamp(1, MOST_WALKERS) - 1]
}

/// Digest of the machine code for `walkers`.
pub fn chase_digest(walkers: usize, payload: bool) -> Option<String> {
    // SAFETY: it is a kernel.
    unsafe { super::digest::digest_of(code_for(walkers, payload) as *const u8) }
}

/// The machine code for `walkers`.
pub fn chase_code(walkers: usize, payload: bool) -> Option<Vec<u8>> {
    // SAFETY: it is a kernel.
    unsafe { super::digest::body_of(code_for(walkers, payload) as *const u8) }
}

/// Pointers that are written or read together.
const NODES_AT_ONCE: usize = 256;

/// Bytes of a chain from which on its lines are written past the caches: they would not stay there.
const PAST_CACHES: usize = 32 << 20;

/// On which line of its page each node lies, where there is one in each page: on the same one they
/// would share a few sets of every cache.
#[derive(Debug, Clone, Copy)]
struct Scatter {
    /// Lines of a page.
    lines: usize,
    /// Bytes of a line.
    line: usize,
    seed: u64,
}

impl Scatter {
    /// Bytes from the start of its page to node `node`. As many pages in a row as a page has lines
    /// have each line once, so that no set of a cache gets more of them than another one; on which
    /// line a row begins is chosen by a hash (the finaliser of Appleby's MurmurHash3).
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

/// Memory in which a chain is being built: node `i` lies at `i` × stride or, where each has a page,
/// somewhere in page `i`.
#[derive(Debug)]
pub struct UnverifiedChain {
    window: Window,
    stride: usize,
    scatter: Option<Scatter>,
    /// Bytes between the two nodes of a page, where there are two.
    pair: Option<usize>,
    /// Bytes of a node: the stride or, where each has a page, a line.
    node_bytes: usize,
    /// log2 of the stride where it is a power of two: a division per hop would slow down
    /// verification.
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
        let nodes = window.len().checked_div(stride).unwrap_or(0) as u64;
        Self::with_nodes(window, stride, nodes)
    }

    /// A chain of `nodes` nodes, `stride` bytes apart, at the start of `window`.
    ///
    /// # Errors
    /// As of [`new`](Self::new); there are no nodes, or more than fit.
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

    /// A chain of one node in each page of `page` bytes, on a line of `line` bytes of it that a
    /// hash with `seed` chooses. Nothing else of the pages is touched.
    ///
    /// # Errors
    /// The window does not start at a multiple of the page or has not one page; the page is no
    /// multiple of 8 or has no line; the line is 0 or no multiple of 8.
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

    /// A chain of two nodes in each block of `block` bytes. One is on a line of `line` bytes that a
    /// hash with `seed` chooses. The other is `distance` before or after it, in the same aligned
    /// piece of twice the distance. Node `2 i` and node `2 i + 1` share block `i`.
    ///
    /// # Errors
    /// As of [`one_per_page`](Self::one_per_page) with the block as page; the block is no power of
    /// two; the distance is none, below 8 or more than half a block.
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

    /// Bytes from the start of the window to node `node`, below `nodes()`: a multiple of 8, and the
    /// whole node lies in the window.
    fn place(&self, node: u64) -> usize {
        let (page, other) = match self.pair {
            Some(distance) => (node / 2, (node % 2) as usize * distance),
            None => (node, 0),
        };
        page as usize * self.stride
            + (self.scatter.map_or(0, |scatter| scatter.offset(page)) ^ other)
    }

    /// The node that lies `distance` bytes behind the start of the window, `None` where there is
    /// none.
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
    /// One of them is not below `nodes()`: the proof that no walk leaves the chain rests on it.
    pub fn link(&self, from: u64, to: u64) {
        assert!(
            from < self.nodes && to < self.nodes,
            "a link joins two nodes of the chain"
        );
        let words = self.window.words();
        let target = self.window.address() + self.place(to);
        words[self.place(from) / 8].store(target as u64, Relaxed);
    }

    /// Links all nodes of `part` by rising address. `fill` gets the first of some nodes in a row
    /// and writes their successors, or returns that it is to end there; then this returns false.
    ///
    /// # Panics
    /// As of [`link`](Self::link).
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

    /// Lines of the chain, to be written past the caches, if nodes are whole lines and more of them
    /// than caches hold.
    fn lines(&self) -> Option<Lines<'_>> {
        (self.shift == Some(LINE.trailing_zeros())
            && self.regular()
            && self.window.len() >= PAST_CACHES)
            .then(|| Lines::new(&self.window))
    }

    /// Links the nodes from `first` on to `targets`, writing all of their lines.
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

    /// Whether node `i` lies at `i` × stride, and the stride is a power of two.
    fn regular(&self) -> bool {
        self.shift.is_some() && self.scatter.is_none() && self.pair.is_none()
    }

    /// Puts into `pointers` the nodes that those from `first` on point to; `None` where one points
    /// to none.
    fn read(&self, first: u64, pointers: &mut [u64]) -> Option<()> {
        let Some(shift) = self.shift.filter(|_| self.regular()) else {
            for (pointer, node) in pointers.iter_mut().zip(first..) {
                *pointer = self.next(node)?;
            }
            return Some(());
        };
        // Without a branch for each node, and without asking what kind of chain it is.
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

    /// The node that node `from`, below `nodes()`, points to; `None` where it points to none of
    /// this chain's nodes.
    pub fn next(&self, from: u64) -> Option<u64> {
        let pointer = self.window.words().get(self.place(from) / 8)?.load(Relaxed) as usize;
        self.node_at(pointer.checked_sub(self.window.address())?)
    }

    /// Looks at every pointer of the nodes in `part`; `None` if one leads out of this chain.
    ///
    /// Links made later cannot break what was found: they join nodes of the chain.
    pub fn check(&self, part: Range<u64>) -> Option<ClosedPart> {
        self.check_with(part, |_, _| true)
    }

    /// As [`check`](Self::check), and tells `see` what was read, in the order of addresses: the
    /// first of some nodes in a row, and what they point to. Ends with `None` where `see` says so,
    /// too.
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

    /// A chain that may be walked: `parts` must cover every node. That all nodes form one cycle is
    /// the builder's to prove; that no walk leaves the window is proven here.
    ///
    /// # Errors
    /// A node is in none of the parts that were found closed in this very chain.
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

/// Proof that the nodes of a part of one chain point to nodes of the same chain.
#[derive(Debug)]
pub struct ClosedPart {
    part: Range<u64>,
    /// Of the chain; an address would not do, since another chain may be built there.
    identity: Arc<()>,
}

/// A chain that no walk can leave. Any number of threads may walk on it at once: nobody writes to
/// it.
#[derive(Debug)]
pub struct Chain {
    built: UnverifiedChain,
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

    /// Page evidence of the chain; see [`Window::inspect`]. The window itself is not handed out: a
    /// writer could lead the walk astray.
    pub fn inspect(&self, node_samples: usize) -> PageReading {
        self.built.window.inspect(node_samples)
    }

    /// Loads the pointers of `nodes`, as far as there are any, in the order of their addresses, one
    /// not waiting for another.
    pub fn load(&self, nodes: Range<u64>) {
        let mut pointers = [0; NODES_AT_ONCE];
        let end = nodes.end.min(self.nodes());
        for first in (nodes.start..end).step_by(NODES_AT_ONCE) {
            let count = (end - first).min(NODES_AT_ONCE as u64) as usize;
            // All of them point to nodes, or this were no chain.
            std::hint::black_box(self.built.read(first, &mut pointers[..count]));
        }
    }

    /// Takes the chain apart; its memory may be written again.
    pub fn into_window(self) -> Window {
        self.built.window
    }
}

/// Walkers of one thread on a chain.
#[derive(Debug)]
pub struct Walk {
    chain: Arc<Chain>,
    /// Position of each walker: at least one.
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

    /// Chain of the walk.
    pub fn chain(&self) -> &Arc<Chain> {
        &self.chain
    }

    /// The node that the first walker stands on.
    pub fn node(&self) -> u64 {
        self.walkers().next().unwrap_or(0)
    }

    /// The nodes that the walkers stand on.
    pub fn walkers(&self) -> impl Iterator<Item = u64> {
        self.positions.iter().filter_map(|p| {
            self.chain
                .built
                .node_at(p - self.chain.built.window.address())
        })
    }

    /// Whether walks load the words behind the pointers too.
    pub fn payload(&self) -> bool {
        self.payload
    }

    /// Lets one walker start from each of `nodes`. They are independent as long as none catches up
    /// with another: nodes that lie far apart on the cycle are the caller's business. With
    /// `payload` each hop also loads the word behind the pointer (of the same node), which no later
    /// hop waits for.
    ///
    /// # Errors
    /// No node or more than [`MOST_WALKERS`], a node that is not in the chain, or a payload where
    /// nodes have no room for one.
    pub fn start(&mut self, nodes: &[u64], payload: bool) -> Result<()> {
        let room = !payload || self.chain.built.node_bytes >= 2 * size_of::<u64>();
        if nodes.is_empty()
            || nodes.len() > MOST_WALKERS
            || nodes.iter().any(|&n| n >= self.chain.built.nodes)
            || !room
        {
            return Err(Error::failure(format!(
                "cannot walk {} nodes of {} B from {} of them at once; 1 to {MOST_WALKERS} \
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

    /// Goes on for `blocks` × [`hops_per_block`] hops from where the last walk ended; returns the
    /// sum of the payload, 0 without.
    ///
    /// The body of this call is timed.
    pub fn walk(&mut self, blocks: u64) -> usize {
        let mut left = blocks;
        let count = self.positions.len();
        let mut call = ChaseCall {
            positions: [0; MOST_WALKERS],
            blocks: 0,
            payload: 0,
        };
        call.positions[..count].copy_from_slice(&self.positions);
        while left > 0 {
            call.blocks = usize::try_from(left).unwrap_or(usize::MAX);
            left -= call.blocks as u64;
            // SAFETY: the positions are nodes, and `check` found that every node points to a node
            // of this window; a payload lies inside its node (see `start`). Nobody else can write
            // there: the window is owned by this chain and not handed out for writing. The code
            // uses baseline instructions only.
            unsafe { code_for(count, self.payload)(&mut call) };
        }
        self.positions.copy_from_slice(&call.positions[..count]);
        call.payload
    }
}

#[cfg(test)]
#[path = "chase_tests.rs"]
mod tests;
