//! Threads that follow pointers.

use super::slots::slot;
use host::memory::PageMode;
use report::HostFacts;
use stats::derive;
use units::Bytes;

/// The order in which a chain goes through its nodes. In every shape, a chain is one cycle over all
/// of its nodes. A window is a piece of memory whose nodes the chain visits before it enters the
/// next window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ChainShape {
    /// A random cycle over all nodes, without windows.
    #[default]
    GlobalRandom,
    /// Windows of this many bytes in random order. The order of the nodes inside each window is
    /// random.
    RandomBox(Bytes),
    /// Windows of this many bytes by rising address. All windows have the same random order of
    /// nodes inside.
    SameRandomInBox(Bytes),
    /// Windows of this many bytes by rising address. Each window has a different random order of
    /// nodes inside.
    DiffRandomInBox(Bytes),
    /// Nodes by rising address.
    Sequential,
    /// One node in every page of this many bytes, and pages in random order. The position of the
    /// node's cache line in the page differs from page to page. [`ChaseWork::stride`] is then the
    /// size of a cache line.
    OnePerPage(Bytes),
    /// Blocks of memory with two nodes each, in random order. The chain visits the two nodes of a
    /// block one after the other. One of the nodes lies on a cache line whose position in the block
    /// differs from block to block. The other node is `distance` bytes away. Both nodes lie in the
    /// same aligned piece of memory of twice the distance. [`ChaseWork::stride`] is then the size
    /// of a cache line.
    Pairs {
        /// Bytes of a block, a power of two, at least twice the distance.
        block: Bytes,
        /// Bytes between the two nodes, a power of two.
        distance: Bytes,
    },
}

/// Threads that follow pointers. Either each thread has its own chain, or all threads share a
/// chain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChaseWork {
    /// Kind of pages that is requested for the memory.
    pub pages: PageMode,
    /// CPUs with one thread each; at least one CPU. All threads follow pointers at the same time.
    pub cpus: Vec<u32>,
    /// True if all threads follow one chain, each from a different node. False if each thread has
    /// its own chain.
    pub shared: bool,
    /// NUMA node of the memory; `None` for the node of each thread's CPU, or of the first CPU if
    /// the chain is shared.
    pub node: Option<u32>,
    /// Size of the memory over which the nodes of each chain are spread.
    pub bytes: Bytes,
    /// Distance in bytes between nodes that are neighbours in memory.
    pub stride: Bytes,
    /// Order in which a chain goes through its nodes.
    pub shape: ChainShape,
    /// Seed from which the order is derived.
    pub seed: u64,
    /// Number of walkers in each thread. Each walker follows the chain from a different node, and
    /// waits only for its own loads.
    pub walkers: u32,
    /// True if each hop also loads the word after the pointer.
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

    /// The chains of the work, each as a work of one thread with one walker. Works that differ only
    /// in their number of walkers have the same chains. A chain keeps its CPU only if the CPU
    /// determines the NUMA node of the memory. The chains of a work differ in their seeds.
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

    /// NUMA node on which the memory of the first chain shall lie, according to `facts`.
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

    /// Memory that one pass over one chain touches. A page with one node counts as one cache line,
    /// and a block with two nodes as two cache lines.
    pub fn touched(&self) -> Bytes {
        match self.shape {
            ChainShape::OnePerPage(_) | ChainShape::Pairs { .. } => {
                Bytes(self.nodes().saturating_mul(self.stride.0))
            }
            _ => self.bytes,
        }
    }

    /// Working set of all chains of the work together.
    pub fn working_set(&self) -> Bytes {
        let chains = if self.shared { 1 } else { self.threads() };
        Bytes(self.touched().0.saturating_mul(chains))
    }

    /// Size of the windows inside which successive nodes are in random order. The size is zero for
    /// rising addresses, and [`ChaseWork::bytes`] for a random order without windows.
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

    /// Bytes of the mapping that each chain uses. A chain with one node in each page uses one page
    /// more, because the chain starts at a multiple of the page size.
    pub fn slot(&self) -> Bytes {
        match self.shape {
            ChainShape::OnePerPage(page) => self.bytes.round_up(page.0.max(1)) + page,
            _ => slot(self.bytes),
        }
    }
}
