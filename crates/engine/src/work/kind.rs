//! Every kind of work that can be sampled.

use super::background::{LoadedWork, Probe, Traffic};
use super::chase::ChaseWork;
use super::external::External;
use super::on_core::{HandOffWork, InstructionWork, LockWork};
use super::stream::StreamWork;
use host::memory::{PageMode, Place};
use report::{HostFacts, KernelUsed};
use std::collections::BTreeSet;
use units::Bytes;

/// A sample of 1 ms becomes one of 16 ms: systems let a thread run for about 3 ms where another one
/// waits.
const TURNS: f64 = 16.0;

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
    /// Latency or bandwidth under background traffic.
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

    /// Loads of all threads of a chase after which nearly every line of its page tables has been
    /// used, for pages of `page` bytes. That is six loads for each line; with three, memory came
    /// out slower. Zero for work without a chain.
    pub fn translations(&self, page: Bytes) -> u64 {
        let lines = |w: &ChaseWork| w.bytes.0 / (page.0.max(1) * ENTRIES_PER_LINE);
        self.chase().map_or(0, |w| {
            lines(w)
                .saturating_mul(6)
                .min(w.nodes())
                .saturating_mul(w.threads())
        })
    }

    /// Amount of one pass over the working set, as `Observation::amount` counts: payload bytes,
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

    /// Whether it follows pointers without background traffic.
    pub fn is_chase_alone(&self) -> bool {
        match self {
            Work::Chase(_) => true,
            Work::Loaded(w) => w.chase().is_some() && w.traffic().is_empty(),
            _ => false,
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

impl LoadedWork {
    /// The works whose kernels it runs, the probe's first.
    pub fn parts(&self) -> Vec<Work> {
        let chase = self.chase().cloned().map(Work::Chase);
        let mut parts: Vec<Work> = chase.into_iter().collect();
        let mut known = BTreeSet::new();
        for stream in self.streaming().flat_map(Traffic::streams) {
            if known.insert(stream.operation) {
                parts.push(Work::Stream(stream));
            }
        }
        parts
    }

    /// The kernel of the probe, where `kernel` knows those of all parts; the reason why there is
    /// none for one of them.
    pub fn kernels(
        &self,
        kernel: impl Fn(&Work) -> Result<KernelUsed, String>,
    ) -> Result<KernelUsed, String> {
        let all = self
            .parts()
            .iter()
            .map(kernel)
            .collect::<Result<Vec<_>, String>>()?;
        all.into_iter()
            .next()
            .ok_or_else(|| "there is nothing to measure".to_owned())
    }
}
