//! What can be sampled: every kind of work with its settings.

use super::background::{LoadedWork, Probe};
use super::external::External;
use super::slots::slot;
use host::memory::{PageMode, Place};
use kernels::{
    Contract, HandOff, IndexTable, Instruction, LockOperation, Operation, PREFETCH_DISTANCE,
    Timing, Width,
};
use report::HostFacts;
use stats::derive;
use std::collections::BTreeSet;
use units::Bytes;

/// A sample of 1 ms becomes one of 16 ms: systems let a thread run for about 3 ms where another one
/// waits.
const TURNS: f64 = 16.0;

/// The order in which a table names the pieces of a stream.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TableOrder {
    /// One after the other: shows what the table itself costs.
    Forward,
    /// Every so many bytes, a multiple of 64; each further pass starts one line later, until all
    /// lines were visited.
    Strided(Bytes),
    /// Blocks of so many bytes, 64 to 4096 and a power of two, in the order of a permutation with
    /// this seed.
    Random(Bytes, u64),
}

/// Threads that stream through memory of their own, all at once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamWork {
    /// What is done to the memory.
    pub operation: Operation,
    /// With which registers.
    pub width: Width,
    /// Whether any kernel that answers the same question may be chosen, not only one of the
    /// operation.
    pub any_of_family: bool,
    /// In which pages.
    pub pages: PageMode,
    /// One thread on each of these CPUs; on one that is named twice, two.
    pub cpus: Vec<u32>,
    /// Working set of each thread, all streams of the operation together, without the table of an
    /// order.
    pub bytes: Bytes,
    /// For operations that follow a table.
    pub order: Option<TableOrder>,
    /// How far ahead operations that prefetch do so.
    pub distance: Bytes,
    /// Numbers of threads of which the fastest may be chosen, with the working set of each of them:
    /// on so many of the CPUs, the first ones. Empty where all of them are asked for.
    pub counts: Vec<(usize, Bytes)>,
    /// Where the memory of all threads shall lie; on the node of each thread without, where that is
    /// possible.
    pub place: Option<Place>,
}

impl StreamWork {
    /// `operation` on `bytes` for each of `cpus` at `width`, in the operation's own order.
    pub fn new(
        operation: Operation,
        width: Width,
        pages: PageMode,
        cpus: &[u32],
        bytes: Bytes,
    ) -> Self {
        let distance = Bytes(PREFETCH_DISTANCE);
        Self {
            operation,
            width,
            any_of_family: false,
            pages,
            cpus: cpus.to_vec(),
            bytes,
            order: None,
            distance,
            counts: Vec::new(),
            place: None,
        }
    }

    /// The works with the numbers of threads that may be chosen; itself where there is no choice.
    pub fn counts(&self) -> Vec<StreamWork> {
        let with = |&(count, bytes): &(usize, Bytes)| Self {
            cpus: self.cpus.iter().copied().take(count).collect(),
            bytes,
            counts: Vec::new(),
            ..self.clone()
        };
        if self.counts.is_empty() {
            vec![self.clone()]
        } else {
            self.counts.iter().map(with).collect()
        }
    }

    /// Where the memory of the thread on `cpu` lies by `facts`.
    pub fn memory_of(&self, cpu: u32, facts: &HostFacts) -> Place {
        match &self.place {
            None | Some(Place::Local) => Place::Node(facts.topology.node_of(cpu).unwrap_or(0)),
            Some(place) => place.clone(),
        }
    }

    /// What its operation promises.
    pub fn contract(&self) -> &'static Contract {
        self.operation.contract()
    }

    /// Length of each stream of a thread.
    pub fn stream_bytes(&self) -> u64 {
        self.bytes.0 / u64::from(self.contract().streams())
    }

    /// Bytes of the table of each thread, 0 where it follows none.
    pub fn table_bytes(&self) -> u64 {
        if self.order.is_some() {
            IndexTable::bytes_for(self.contract().visits, self.stream_bytes())
        } else {
            0
        }
    }

    /// Bytes of the mapping that each thread takes up.
    pub fn slot(&self) -> Bytes {
        match self.table_bytes() {
            0 => slot(self.bytes),
            table => slot(self.bytes) + slot(Bytes(table)),
        }
    }
}

/// The order in which a chain goes through its nodes. Whatever the shape, it is one cycle over all
/// of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ChainShape {
    /// A random cycle over all nodes: no window has a meaning to it.
    #[default]
    GlobalRandom,
    /// All nodes of a window of so many bytes before the next window: random inside each, and in a
    /// random order of windows.
    RandomBox(Bytes),
    /// The same random order inside every window, windows by rising address.
    SameRandomInBox(Bytes),
    /// A random order of its own inside every window, windows by rising address.
    DiffRandomInBox(Bytes),
    /// By rising address.
    Sequential,
    /// One node in every page of so many bytes, on a line of it that differs from page to page;
    /// pages in random order. The stride is that of lines, so that [`ChaseWork::nodes`] counts
    /// pages.
    OnePerPage(Bytes),
    /// Blocks in random order, and in each two nodes right after each other: one on a line that
    /// differs from block to block, the other `distance` beside it, inside the same aligned piece
    /// of twice the distance. The stride is that of lines.
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

    /// What all of its chains go through.
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

/// One thread that repeats an instruction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstructionWork {
    /// Which one.
    pub instruction: Instruction,
    /// Independent ones, or each waiting for the one before.
    pub timing: Timing,
    /// The CPU that does it.
    pub cpu: u32,
}

/// Threads that repeat an operation on a shared line, or each on its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockWork {
    /// What they do.
    pub operation: LockOperation,
    /// One thread on each of these CPUs.
    pub cpus: Vec<u32>,
    /// Whether all do it on the same line.
    pub shared: bool,
    /// Dependent additions inside.
    pub inside: u32,
    /// Dependent additions between one operation and the next.
    pub between: u32,
}

/// Two threads that hand a value to and fro.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandOffWork {
    /// How they take and answer it.
    pub kernel: HandOff,
    /// The CPU of the one that starts every round trip, and that of the one that answers.
    pub cpus: [u32; 2],
    /// Cache lines that serve in turn, half of them first touched by each of the two.
    pub lines: u32,
}

/// Something whose speed can be sampled.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// Bandwidth.
    Stream(StreamWork),
    /// Latency.
    Chase(ChaseWork),
    /// Instructions.
    Instruction(InstructionWork),
    /// Locks.
    Lock(LockWork),
    /// Core to core.
    HandOff(HandOffWork),
    /// Latency or bandwidth beside traffic.
    Loaded(LoadedWork),
    /// Work outside of memory.
    External(External),
}

/// Entries of a page table in a cache line: 8 bytes each on all machines with 64-bit addresses.
const ENTRIES_PER_LINE: u64 = 8;

impl Work {
    /// The CPUs that it runs on.
    pub fn cpus(&self) -> &[u32] {
        match self {
            Work::Stream(w) => &w.cpus,
            Work::Chase(w) => &w.cpus,
            Work::Instruction(w) => std::slice::from_ref(&w.cpu),
            Work::Lock(w) => &w.cpus,
            Work::HandOff(w) => &w.cpus,
            Work::Loaded(w) => w.cpus(),
            Work::External(w) => w.work().cpus(),
        }
    }

    /// Whether a CPU has several of its threads, which take turns.
    pub fn is_oversubscribed(&self) -> bool {
        let Work::Stream(w) = self else { return false };
        w.cpus.iter().collect::<BTreeSet<_>>().len() < w.cpus.len()
    }

    /// Samples take this many times as long as those of other works: threads that take turns have
    /// to have had several.
    pub fn sample_length_factor(&self) -> f64 {
        if self.is_oversubscribed() { TURNS } else { 1.0 }
    }

    /// The pages that it asks for, `None` where it walks through no memory.
    pub fn pages(&self) -> Option<PageMode> {
        match self {
            Work::Stream(w) => Some(w.pages),
            Work::Chase(w) => Some(w.pages),
            Work::Loaded(w) => Some(w.pages()),
            Work::Instruction(_) | Work::Lock(_) | Work::HandOff(_) | Work::External(_) => None,
        }
    }

    /// The same in other pages.
    pub fn in_pages(&self, pages: PageMode) -> Work {
        match self.clone() {
            Work::Stream(w) => Work::Stream(StreamWork { pages, ..w }),
            Work::Chase(w) => Work::Chase(ChaseWork { pages, ..w }),
            Work::Loaded(w) => Work::Loaded(w.in_pages(pages)),
            other @ (Work::Instruction(_)
            | Work::Lock(_)
            | Work::HandOff(_)
            | Work::External(_)) => other,
        }
    }

    /// The place that its memory was asked to lie on, `None` where that is left to the threads'
    /// nodes or there is none.
    pub fn place(&self) -> Option<Place> {
        match self {
            Work::Stream(w) => w.place.clone(),
            Work::Chase(w) => w.node.map(Place::Node),
            Work::Loaded(w) => w.node().map(Place::Node),
            Work::Instruction(_) | Work::Lock(_) | Work::HandOff(_) | Work::External(_) => None,
        }
    }

    /// The nodes that its memory is to lie on by `facts`, in rising order, each once: those of its
    /// place, else those of its CPUs.
    pub fn memory_nodes(&self, facts: &HostFacts) -> Vec<u32> {
        let nodes: BTreeSet<u32> = match self.place() {
            Some(place) if place != Place::Local => place.nodes().iter().copied().collect(),
            _ if let Work::Loaded(w) = self => w.memory_nodes(facts).into_iter().collect(),
            _ if let Work::Chase(w) = self => w
                .chains()
                .iter()
                .map(|chain| chain.memory_node(facts))
                .collect(),
            _ => self
                .cpus()
                .iter()
                .map(|&cpu| facts.topology.node_of(cpu).unwrap_or(0))
                .collect(),
        };
        nodes.into_iter().collect()
    }

    /// The nodes that the memory of its thread `index` is to lie on by `facts`.
    pub fn memory_nodes_of(&self, index: usize, facts: &HostFacts) -> Vec<u32> {
        match (self.place(), self.cpus().get(index)) {
            // Its windows are not in the order of its threads.
            _ if matches!(self, Work::Loaded(_)) => self.memory_nodes(facts),
            _ if matches!(self, Work::Chase(w) if w.shared) => self.memory_nodes(facts),
            (None | Some(Place::Local), Some(&cpu)) => {
                vec![facts.topology.node_of(cpu).unwrap_or(0)]
            }
            _ => self.memory_nodes(facts),
        }
    }

    /// Memory that its threads walk through, all together.
    pub fn working_set(&self) -> Bytes {
        match self {
            Work::Stream(w) => Bytes(w.bytes.0.saturating_mul(w.cpus.len() as u64)),
            Work::Chase(w) => w.working_set(),
            Work::Loaded(w) => w.working_set(),
            Work::Instruction(_) | Work::Lock(_) | Work::HandOff(_) | Work::External(_) => Bytes(0),
        }
    }

    /// Loads of all threads of a chase after which nearly every line of the page tables behind its
    /// memory has been used, where pages have `page` bytes, and most several times: six for each
    /// line (with three, memory came out slower). Zero for what follows no chain.
    pub fn translations(&self, page: Bytes) -> u64 {
        let lines = |w: &ChaseWork| w.bytes.0 / (page.0.max(1) * ENTRIES_PER_LINE);
        self.chase().map_or(0, |w| {
            lines(w)
                .saturating_mul(6)
                .min(w.nodes())
                .saturating_mul(w.threads())
        })
    }

    /// What walking everything once amounts to, as `Observation::amount` counts: payload bytes,
    /// hops, instructions, operations or round trips.
    pub fn pass(&self) -> u64 {
        match self {
            Work::Stream(w) => {
                let one = w
                    .stream_bytes()
                    .saturating_mul(w.contract().payload_factor());
                one.saturating_mul(w.cpus.len() as u64)
            }
            Work::Chase(w) => w.nodes().saturating_mul(w.threads()),
            Work::Loaded(w) => match w.probe() {
                Probe::Chase(chase) => chase.nodes(),
                Probe::Stream(stream) => stream.bytes.0,
            },
            Work::Instruction(_) | Work::Lock(_) | Work::HandOff(_) | Work::External(_) => 0,
        }
    }

    /// The quantity that `amount` in `seconds` shows: per second, or ns that a thread takes for
    /// each.
    pub fn value(&self, amount: u64, seconds: f64) -> f64 {
        match self.higher_is_better() {
            true => amount as f64 / seconds,
            false => seconds * 1e9 * self.chasing() as f64 / amount.max(1) as f64,
        }
    }

    /// The quantity that `amount` of its first thread in `seconds` shows.
    pub fn value_of_first(&self, amount: u64, seconds: f64) -> f64 {
        self.value(amount.saturating_mul(self.chasing()), seconds)
    }

    /// Threads whose loads an amount counts, 1 for what is no chase.
    pub fn chasing(&self) -> u64 {
        if let Work::Chase(w) = self {
            w.threads().max(1)
        } else {
            1
        }
    }

    /// Whether its quantity is a rate rather than a time.
    pub fn higher_is_better(&self) -> bool {
        match self {
            Work::Stream(_) | Work::Lock(_) | Work::External(_) => true,
            Work::Chase(_) | Work::Instruction(_) | Work::HandOff(_) => false,
            Work::Loaded(w) => w.chase().is_none(),
        }
    }

    /// The chain that it walks, if any.
    pub fn chase(&self) -> Option<&ChaseWork> {
        match self {
            Work::Chase(w) => Some(w),
            Work::Loaded(w) => w.chase(),
            Work::Stream(_)
            | Work::Instruction(_)
            | Work::Lock(_)
            | Work::HandOff(_)
            | Work::External(_) => None,
        }
    }

    /// The work that brings its own way to be done; `None` for work in memory and on cores.
    pub fn external(&self) -> Option<&External> {
        match self {
            Work::External(w) => Some(w),
            _ => None,
        }
    }

    /// Whether its threads compute all the time: a core that waits has no clock to speak of.
    pub fn computes(&self) -> bool {
        self.external().is_none()
    }

    /// The works whose kernels it runs: itself, but for one that is made of others.
    pub fn parts(&self) -> Vec<Work> {
        match self {
            Work::Loaded(w) => w.parts(),
            _ => vec![self.clone()],
        }
    }

    /// Whether the last-level caches of its CPUs could hold what it walks through.
    pub fn fits_last_level(&self, facts: &HostFacts) -> bool {
        self.working_set() <= facts.topology.last_level_total(self.cpus())
    }

    /// Size of the cache before the last one of its first CPU.
    pub fn inner_cache(&self, facts: &HostFacts) -> Bytes {
        self.cpus()
            .first()
            .map_or(Bytes(0), |&cpu| facts.topology.inner_cache_size(cpu))
    }

    /// The node on which its first CPU lies by `facts`.
    pub fn node(&self, facts: &HostFacts) -> u32 {
        self.cpus()
            .first()
            .and_then(|&cpu| facts.topology.node_of(cpu))
            .unwrap_or(0)
    }
}
