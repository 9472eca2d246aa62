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

/// Factor for the length of samples if threads share a CPU: 1 ms becomes 16 ms. An operating system
/// lets a thread run for about 3 ms before another thread gets the CPU.
const TURNS: f64 = 16.0;

/// A description of what threads execute. The speed of the execution can be sampled.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// Bandwidth of streaming threads.
    Stream(StreamWork),
    /// Latency of pointer chases.
    Chase(ChaseWork),
    /// Latency or throughput of an instruction.
    Instruction(InstructionWork),
    /// Rate of operations on shared or private cache lines.
    Lock(LockWork),
    /// Time of round trips of a cache line between two CPUs.
    HandOff(HandOffWork),
    /// Latency or bandwidth under background traffic.
    Loaded(LoadedWork),
    /// Work outside of memory.
    External(External),
}

/// Number of page-table entries in a cache line of 64 B. An entry has 8 bytes on all machines with
/// 64-bit addresses.
const ENTRIES_PER_LINE: u64 = 8;

impl Work {
    /// The CPU of each thread of the work.
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

    /// True if several threads of the work share a CPU and take turns.
    pub fn is_oversubscribed(&self) -> bool {
        let Work::Stream(w) = self else { return false };
        w.cpus.iter().collect::<BTreeSet<_>>().len() < w.cpus.len()
    }

    /// Factor for the length of samples. If threads share a CPU, each sample must contain several
    /// turns of each thread.
    pub fn sample_length_factor(&self) -> f64 {
        if self.is_oversubscribed() { TURNS } else { 1.0 }
    }

    /// Requested kind of pages; `None` for work without memory.
    pub fn pages(&self) -> Option<PageMode> {
        match self {
            Work::Stream(w) => Some(w.pages),
            Work::Chase(w) => Some(w.pages),
            Work::Loaded(w) => Some(w.pages()),
            Work::Instruction(_) | Work::Lock(_) | Work::HandOff(_) | Work::External(_) => None,
        }
    }

    /// The same work, with pages of the kind `pages` requested for its memory.
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

    /// NUMA nodes that were requested for the memory. `None` if each thread uses the node of its
    /// CPU, if threads request different nodes, or for work without memory.
    pub fn place(&self) -> Option<Place> {
        match self {
            Work::Stream(w) => w.place.clone(),
            Work::Chase(w) => w.node.map(Place::Node),
            Work::Loaded(w) => w.node().map(Place::Node),
            Work::Instruction(_) | Work::Lock(_) | Work::HandOff(_) | Work::External(_) => None,
        }
    }

    /// NUMA nodes on which the work's memory shall lie according to `facts`, in rising order
    /// without duplicates. These are the nodes of the requested place. If no place was requested,
    /// they are the nodes of the CPUs.
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

    /// NUMA nodes on which the memory of thread `index` shall lie, according to `facts`.
    pub fn memory_nodes_of(&self, index: usize, facts: &HostFacts) -> Vec<u32> {
        match (self.place(), self.cpus().get(index)) {
            // The windows of a loaded work are not in the order of its threads, so the result is
            // all its nodes.
            _ if matches!(self, Work::Loaded(_)) => self.memory_nodes(facts),
            _ if matches!(self, Work::Chase(w) if w.shared) => self.memory_nodes(facts),
            (None | Some(Place::Local), Some(&cpu)) => {
                vec![facts.topology.node_of(cpu).unwrap_or(0)]
            }
            _ => self.memory_nodes(facts),
        }
    }

    /// Bytes that all threads of the work walk through together.
    pub fn working_set(&self) -> Bytes {
        match self {
            Work::Stream(w) => Bytes(w.bytes.0.saturating_mul(w.cpus.len() as u64)),
            Work::Chase(w) => w.working_set(),
            Work::Loaded(w) => w.working_set(),
            Work::Instruction(_) | Work::Lock(_) | Work::HandOff(_) | Work::External(_) => Bytes(0),
        }
    }

    /// Number of loads, of all threads together, after which a chase has used nearly every cache
    /// line of its page tables. `page` is the page size. The result counts six loads for each line
    /// of page tables. After three loads for each line, measured latencies in memory were still too
    /// high. Zero for work without a chain.
    pub fn translations(&self, page: Bytes) -> u64 {
        let lines = |w: &ChaseWork| w.bytes.0 / (page.0.max(1) * ENTRIES_PER_LINE);
        self.chase().map_or(0, |w| {
            lines(w)
                .saturating_mul(6)
                .min(w.nodes())
                .saturating_mul(w.threads())
        })
    }

    /// Amount of work in one pass over the working set: payload bytes of streams, hops of chases.
    /// Zero for work on cores, on single cache lines and outside of memory.
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

    /// The value of the work if its threads do `amount` in `seconds`. The value is a rate per
    /// second, or the time in ns that one thread needs for one unit of the amount.
    pub fn value(&self, amount: u64, seconds: f64) -> f64 {
        match self.higher_is_better() {
            true => amount as f64 / seconds,
            false => seconds * 1e9 * self.chasing() as f64 / amount.max(1) as f64,
        }
    }

    /// The value of the work if its first thread does `amount` in `seconds`.
    pub fn value_of_first(&self, amount: u64, seconds: f64) -> f64 {
        self.value(amount.saturating_mul(self.chasing()), seconds)
    }

    /// The value of the work if its threads do the amount `per_nano` in each nanosecond.
    pub fn value_at(&self, per_nano: f64) -> f64 {
        match self.higher_is_better() {
            true => per_nano * 1e9,
            false => self.chasing() as f64 / per_nano,
        }
    }

    /// Number of threads of a chase; 1 for other work. The amount of a sample of a chase is the sum
    /// of the hops of all its threads.
    pub fn chasing(&self) -> u64 {
        if let Work::Chase(w) = self {
            w.threads().max(1)
        } else {
            1
        }
    }

    /// True if the value of the work is a rate, false if it is a time.
    pub fn higher_is_better(&self) -> bool {
        match self {
            Work::Stream(_) | Work::Lock(_) => true,
            Work::External(w) => w.work().higher_is_better(),
            Work::Chase(_) | Work::Instruction(_) | Work::HandOff(_) => false,
            Work::Loaded(w) => w.chase().is_none(),
        }
    }

    /// The chase, or the chase of the probe; `None` for other work.
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

    /// True if the work follows pointers without background traffic.
    pub fn is_chase_alone(&self) -> bool {
        match self {
            Work::Chase(_) => true,
            Work::Loaded(w) => w.chase().is_some() && w.traffic().is_empty(),
            _ => false,
        }
    }

    /// The external work; `None` for any other kind of work.
    pub fn external(&self) -> Option<&External> {
        match self {
            Work::External(w) => Some(w),
            _ => None,
        }
    }

    /// True if the threads compute all the time. External work may wait, and the clock of a waiting
    /// core says nothing about the work.
    pub fn computes(&self) -> bool {
        self.external().is_none()
    }

    /// Works whose kernels this work runs: the parts of loaded work, or this work alone.
    pub fn parts(&self) -> Vec<Work> {
        match self {
            Work::Loaded(w) => w.parts(),
            _ => vec![self.clone()],
        }
    }

    /// True if the working set fits into the last-level caches of the work's CPUs.
    pub fn fits_last_level(&self, facts: &HostFacts) -> bool {
        self.working_set() <= facts.topology.last_level_total(self.cpus())
    }

    /// Size of the data cache one level nearer than the last-level cache, for the first CPU of the
    /// work. Zero if there is none.
    pub fn inner_cache(&self, facts: &HostFacts) -> Bytes {
        self.cpus()
            .first()
            .map_or(Bytes(0), |&cpu| facts.topology.inner_cache_size(cpu))
    }

    /// NUMA node of the first CPU of the work, according to `facts`.
    pub fn node(&self, facts: &HostFacts) -> u32 {
        self.cpus()
            .first()
            .and_then(|&cpu| facts.topology.node_of(cpu))
            .unwrap_or(0)
    }
}

impl LoadedWork {
    /// Works whose kernels the loaded work runs. The work of the probe comes first.
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

    /// The kernel of the probe, if `kernel` finds a kernel for every part of the work. Otherwise
    /// the error is the reason why a part has no kernel.
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
