//! Threads that follow pointers.

use super::slots::slot;
use host::memory::PageMode;
use report::HostFacts;
use stats::derive;
use units::Bytes;

/// The order in which a chain goes through its nodes. Whatever the shape, it is one cycle over all
/// of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ChainShape {
    /// A random cycle over all nodes: no window has a meaning to it.
    #[default]
    GlobalRandom,
    /// All nodes of a window of this many bytes before the next window: random inside each, and in
    /// a random order of windows.
    RandomBox(Bytes),
    /// The same random order inside every window, windows by rising address.
    SameRandomInBox(Bytes),
    /// A random order of its own inside every window, windows by rising address.
    DiffRandomInBox(Bytes),
    /// By rising address.
    Sequential,
    /// One node in every page of this many bytes, on a line that differs from page to page; pages
    /// in random order. The stride is that of lines, so that [`ChaseWork::nodes`] counts pages.
    OnePerPage(Bytes),
    /// Blocks in random order, and in each two nodes right after each other. One is on a line that
    /// differs from block to block, the other `distance` away, inside the same aligned piece of
    /// twice the distance. The stride is that of lines.
    Pairs {
        /// Bytes of a block, a power of two, at least twice the distance.
        block: Bytes,
        /// Bytes between the two, a power of two.
        distance: Bytes,
    },
}

/// Threads that follow pointers: each a chain of its own, or all of them the same one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChaseWork {
    /// In which pages.
    pub pages: PageMode,
    /// One thread on each of these CPUs, all at once; at least one.
    pub cpus: Vec<u32>,
    /// Whether all threads follow one chain, each from a place of its own; else each has a chain.
    pub shared: bool,
    /// The NUMA node of the memory; without, that of the CPU, of a shared chain that of the first.
    pub node: Option<u32>,
    /// Memory that each chain spans.
    pub bytes: Bytes,
    /// Distance between neighbouring nodes in memory.
    pub stride: Bytes,
    /// In which order.
    pub shape: ChainShape,
    /// Seed of the order of nodes.
    pub seed: u64,
    /// Walkers of each thread, which wait for their own loads only.
    pub walkers: u32,
    /// Whether each hop also loads the word behind the pointer.
    pub payload: bool,
}

impl ChaseWork {
    /// The first CPU.
    pub fn cpu(&self) -> u32 {
        self.cpus.first().copied().unwrap_or(0)
    }

    /// Number of threads.
    pub fn threads(&self) -> u64 {
        self.cpus.len() as u64
    }

    /// Each chain that it needs, as the work of one thread with one walker: how many walk on it is
    /// no matter of its memory, and which CPU does only where its node decides about the memory's.
    /// Chains differ in their seeds.
    pub fn chains(&self) -> Vec<Self> {
        let chain = |(index, &cpu): (usize, &u32)| Self {
            walkers: 1,
            payload: false,
            cpus: vec![if self.node.is_some() { 0 } else { cpu }],
            shared: false,
            seed: if index == 0 {
                self.seed
            } else {
                derive(self.seed, "thread", index as u64)
            },
            ..self.clone()
        };
        let count = if self.shared { 1 } else { self.cpus.len() };
        self.cpus
            .iter()
            .enumerate()
            .take(count)
            .map(chain)
            .collect()
    }

    /// The NUMA node that the memory of its first chain shall lie on by `facts`.
    pub fn memory_node(&self, facts: &HostFacts) -> u32 {
        self.node
            .or_else(|| facts.topology.node_of(self.cpu()))
            .unwrap_or(0)
    }

    /// Number of nodes of each chain.
    pub fn nodes(&self) -> u64 {
        match self.shape {
            ChainShape::OnePerPage(page) => self.bytes.0 / page.0.max(1),
            ChainShape::Pairs { block, .. } => self.bytes.0 / block.0.max(1) * 2,
            _ => self.bytes.0 / self.stride.0.max(1),
        }
    }

    /// Memory that a pass of one chain goes through: of pages with a node each only one line, of
    /// blocks with two at most two.
    pub fn touched(&self) -> Bytes {
        match self.shape {
            ChainShape::OnePerPage(_) | ChainShape::Pairs { .. } => {
                Bytes(self.nodes().saturating_mul(self.stride.0))
            }
            _ => self.bytes,
        }
    }

    /// Working set of all of its chains.
    pub fn working_set(&self) -> Bytes {
        let chains = if self.shared { 1 } else { self.threads() };
        Bytes(self.touched().0.saturating_mul(chains))
    }

    /// Memory in which its order jumps to and fro; none where it goes through by rising address.
    pub fn window(&self) -> Bytes {
        match self.shape {
            ChainShape::GlobalRandom | ChainShape::OnePerPage(_) | ChainShape::Pairs { .. } => {
                self.bytes
            }
            ChainShape::RandomBox(window)
            | ChainShape::SameRandomInBox(window)
            | ChainShape::DiffRandomInBox(window) => window.min(self.bytes),
            ChainShape::Sequential => Bytes(0),
        }
    }

    /// Bytes of the mapping that each chain takes up: pages with a node each start at multiples of
    /// their size.
    pub fn slot(&self) -> Bytes {
        match self.shape {
            ChainShape::OnePerPage(page) => self.bytes.round_up(page.0.max(1)) + page,
            _ => slot(self.bytes),
        }
    }
}
