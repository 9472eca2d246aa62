//! What the engine asks of a machine: the real one and the simulated one answer alike.

use super::io::{IoFile, IoSeen, IoTarget};
use super::issue::IssueRates;
use super::traffic::{LoadedWork, Traffic};
use super::window::{Chunks, Gaps};
use super::work::{ChaseWork, Work};
use crate::error::Error;
use crate::host::memory::{PageMode, Place, reserve_command};
use crate::host::noise::ThreadNoise;
use crate::results::{ClockFacts, HostFacts, KernelUsed, Node, Outcome, PageEvidence, Surroundings};
use crate::units::{Bytes, BytesPerSecond, Hertz, Nanos};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The user, a signal or a limit ended the run.
    Interrupted,
    /// This machine cannot do it, and why.
    Unsupported(String),
    /// It was tried and went wrong, and how.
    Failed(String),
    /// The time for it was over before it was done.
    OutOfTime,
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Failed(error.to_string())
    }
}

impl From<Trouble> for Outcome {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Interrupted => {
                Outcome::Interrupted { reason: "the run was interrupted before this point".to_owned() }
            }
            Trouble::Unsupported(reason) => Outcome::Unsupported { reason },
            Trouble::Failed(reason) => Outcome::Failed { reason },
            Trouble::OutOfTime => Outcome::Skipped { reason: "there was no time left for it".to_owned() },
        }
    }
}

/// What threads beside the measured one moved.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Beside {
    /// Payload bytes: what their loads and stores asked for.
    pub payload: f64,
    /// What that is on the memory bus by the kernels' contracts, in bytes: an estimate.
    pub bus: f64,
}

/// What one sample showed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observation {
    /// Length of the common window.
    pub elapsed: Nanos,
    /// Payload bytes (stream), hops (chase), instructions, operations of all threads, or round trips inside the window;
    /// where there is traffic beside the measured thread, of that thread only.
    pub amount: u64,
    /// What the traffic beside the measured thread moved inside the window, `None` for work of another kind.
    pub traffic: Option<Beside>,
    /// Page faults and context switches of the measuring threads, all together; `None` where not readable.
    pub noise: Option<ThreadNoise>,
    /// Time in gaps inside the sample, all threads together, and the longest of them.
    pub gaps: Gaps,
    /// The CPU that each thread was found on at the start or, where that differs from its own, at the end; `None` where
    /// not readable.
    pub found_on: Option<Vec<u32>>,
    /// What the thread that did least of it did of what the one that did most did, 1 with one thread; `None` where that
    /// is not known.
    pub fairness: Option<f64>,
    /// The parts in which the first thread did its work.
    pub chunks: Chunks,
    /// Core clock of the first thread's CPU right before and after, `None` where it cannot be established.
    pub core: Option<Hertz>,
    /// What was seen of storage, `None` for work of another kind.
    pub io: Option<Box<IoSeen>>,
    /// Whether the host of a virtual machine had moved two of its CPUs closer to each other than they usually are.
    pub closer: bool,
    /// Independent instructions that the core began per cycle right before and after, the least of all threads; `None` where that is
    /// not known.
    pub issue: Option<f64>,
    /// Whether that was so few that somebody else used the core.
    pub shared: bool,
}

/// What a mapping is for; streams and chains never share memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryUse {
    /// Threads stream through it.
    Streams,
    /// Chains lie in it.
    Chains,
}

/// One mapping: what for, in which pages, and where it lies.
pub type MemoryKey = (MemoryUse, PageMode, Place);

/// The memory that a set of works needs mapped at the same time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryPlan {
    /// Size of each mapping.
    pub mappings: BTreeMap<MemoryKey, Bytes>,
}

/// The mapping that `traffic` streams through.
pub fn traffic_key(traffic: &Traffic, facts: &HostFacts) -> MemoryKey {
    (MemoryUse::Streams, traffic.pages, Place::Node(traffic.memory_node(facts)))
}

/// The mapping that the first chain of `chase` lies in.
pub fn chain_key(chase: &ChaseWork, facts: &HostFacts) -> MemoryKey {
    (MemoryUse::Chains, chase.pages, Place::Node(chase.memory_node(facts)))
}

/// The memory that the streams of `work` need, by mapping.
pub fn traffic_memory(work: &LoadedWork, facts: &HostFacts) -> BTreeMap<MemoryKey, Bytes> {
    let mut needed: BTreeMap<MemoryKey, Bytes> = BTreeMap::new();
    for traffic in work.streaming() {
        let sum = needed.entry(traffic_key(traffic, facts)).or_default();
        *sum = *sum + traffic.slot();
    }
    needed
}

/// Distance that keeps the prefetchers of one thread out of the memory of the next.
const GAP: u64 = 4096;

/// Size of the pages that `mode` asks for on this machine: the default huge page where it asks for huge ones.
pub fn page_bytes(mode: PageMode, facts: &HostFacts) -> Bytes {
    let huge = facts.pages.thp_size.get().copied().unwrap_or(Bytes::mib(2));
    match mode {
        PageMode::Base => facts.pages.base,
        PageMode::Transparent | PageMode::Best => huge,
        PageMode::Pool(size) => size,
        // The smallest pool: gigabyte pages are asked for by nobody who does not say so.
        PageMode::Huge => facts.pages.huge_pools.get().and_then(|p| p.iter().map(|p| p.size).min()).unwrap_or(huge),
    }
}

/// Why this machine lacks the reserved huge pages that `work` alone needs; `None` where it has them, needs none, or does
/// not tell. Too few free pages are a reason to skip the work, none at all make it unsupported.
pub fn lacking_pages(work: &Work, facts: &HostFacts) -> Option<Outcome> {
    let pools = facts.pages.huge_pools.get()?;
    for (page, bytes) in MemoryPlan::of([work], facts, true).reserved(facts) {
        let needed = bytes.0 / page.0.max(1);
        let Some(pool) = pools.iter().find(|pool| pool.size == page) else {
            let reason = format!("the system has no pool of reserved huge pages of {page}; type --pages thp");
            return Some(Outcome::Unsupported { reason });
        };
        let free = pool.free;
        if free >= needed {
            continue;
        }
        let command = reserve_command(page, needed, pool.total, free);
        let reason =
            format!("{needed} reserved huge pages of {page} are needed, {free} are free; as root type {command}");
        return Some(if free == 0 { Outcome::Unsupported { reason } } else { Outcome::Skipped { reason } });
    }
    None
}

/// Streams up to this size are sampled at several places of their mapping ([`Machine::elsewhere`]), and that many of them are mapped at
/// least, where that is a small part of the memory.
const SMALL: RangeInclusive<Bytes> = Bytes::kib(128)..=Bytes::mib(2);
const PLACES: u64 = 16;
const PART: u64 = 64;

/// What is mapped at least for a thread that streams through `bytes`, which take up `slot`.
fn places(bytes: Bytes, slot: Bytes, facts: &HostFacts) -> Bytes {
    let several = Bytes(slot.0.max(Bytes::mib(1).0).saturating_mul(PLACES));
    let usable = facts.memory.usable.get().map_or(0, |usable| usable.0);
    if SMALL.contains(&bytes) && several.0 <= usable / PART { several } else { slot }
}

/// Bytes of its mapping that a thread or a chain with `bytes` of working set takes up.
pub fn slot(bytes: Bytes) -> Bytes {
    bytes.round_up(GAP) + Bytes(GAP)
}

/// The share (0 to 1) of memory at `place` that lies on `node` of `nodes`.
pub fn share_of(place: &Place, node: u32, nodes: &[Node]) -> f64 {
    let weight = |id: u32| match place {
        Place::Weighted(_) => f64::from(nodes.iter().find(|n| n.id == id).and_then(|n| n.weight).unwrap_or(1)),
        _ => 1.0,
    };
    let all: f64 = place.nodes().iter().map(|&id| weight(id)).sum();
    if place.nodes().contains(&node) { weight(node) / all } else { 0.0 }
}

impl MemoryPlan {
    /// What `works` need. Streams of different works use the same memory; every chain has its own, unless
    /// `chains_share`, when they are built anew each time in memory for the largest.
    pub fn of<'a>(works: impl IntoIterator<Item = &'a Work>, facts: &HostFacts, chains_share: bool) -> Self {
        let mut mappings: BTreeMap<MemoryKey, Bytes> = BTreeMap::new();
        let mut chains: BTreeSet<ChaseWork> = BTreeSet::new();
        for work in works {
            match work {
                Work::Stream(w) => {
                    for counted in w.counts() {
                        let mut here: BTreeMap<Place, Bytes> = BTreeMap::new();
                        for &cpu in &counted.cpus {
                            let sum = here.entry(counted.memory_of(cpu, facts)).or_default();
                            *sum = *sum + places(counted.bytes, counted.slot(), facts);
                        }
                        for (place, bytes) in here {
                            let size = mappings.entry((MemoryUse::Streams, w.pages, place)).or_default();
                            *size = (*size).max(bytes);
                        }
                    }
                }
                Work::Loaded(w) => {
                    for (key, bytes) in traffic_memory(w, facts) {
                        let size = mappings.entry(key).or_default();
                        *size = (*size).max(bytes);
                    }
                }
                Work::Chase(_) | Work::Instruction(_) | Work::Lock(_) | Work::HandOff(_) | Work::Io(_) => {}
            }
            let mut here: BTreeMap<MemoryKey, Bytes> = BTreeMap::new();
            for chain in work.chase().map(ChaseWork::chains).unwrap_or_default() {
                if chains_share || chains.insert(chain.clone()) {
                    let sum = here.entry(chain_key(&chain, facts)).or_default();
                    *sum = *sum + chain.slot();
                }
            }
            for (key, bytes) in here {
                let size = mappings.entry(key).or_default();
                *size = if chains_share { (*size).max(bytes) } else { *size + bytes };
            }
        }
        for ((_, pages, _), size) in &mut mappings {
            *size = size.round_up(page_bytes(*pages, facts).0);
        }
        Self { mappings }
    }

    /// All mappings together.
    pub fn total(&self) -> Bytes {
        self.mappings.values().copied().sum()
    }

    /// Bytes of each size of reserved huge pages.
    fn reserved(&self, facts: &HostFacts) -> BTreeMap<Bytes, Bytes> {
        let mut sums: BTreeMap<Bytes, Bytes> = BTreeMap::new();
        for ((_, pages, _), bytes) in self.mappings.iter().filter(|((_, pages, _), _)| pages.is_reserved()) {
            let sum = sums.entry(page_bytes(*pages, facts)).or_default();
            *sum = *sum + *bytes;
        }
        sums
    }

    /// Whether the pools of reserved huge pages have as many free as it needs. Where the system tells of no pools at all,
    /// they count as large enough.
    fn fits_pools(&self, facts: &HostFacts) -> bool {
        let Some(pools) = facts.pages.huge_pools.get() else { return true };
        let room = |page: &Bytes| pools.iter().find(|p| p.size == *page).map_or(0, |p| p.free.saturating_mul(page.0));
        self.reserved(facts).iter().all(|(page, bytes)| bytes.0 <= room(page))
    }

    /// Every mapping twice as large: the plan beside itself.
    pub fn twice(&self) -> Self {
        let double = |(key, bytes): (&MemoryKey, &Bytes)| (key.clone(), Bytes(bytes.0.saturating_mul(2)));
        Self { mappings: self.mappings.iter().map(double).collect() }
    }

    /// Whether it fits into what may be used of the machine, and of each node whose memory is known: what is bound to a
    /// node that has no more ends the process.
    pub fn fits(&self, facts: &HostFacts) -> bool {
        let nodes = &facts.topology.nodes;
        let usable = facts.memory.usable.get().is_none_or(|&usable| self.total() <= usable);
        let room = |node: &Node| node.usable().is_none_or(|usable| self.on_node(node.id, nodes) <= usable);
        usable && self.fits_pools(facts) && (nodes.len() < 2 || nodes.iter().all(room))
    }

    /// Bytes of it that come to lie on `node`: shares of what is interleaved are those of the weights.
    fn on_node(&self, node: u32, nodes: &[Node]) -> Bytes {
        let of = |(key, bytes): (&MemoryKey, &Bytes)| (bytes.0 as f64 * share_of(&key.2, node, nodes)).ceil() as u64;
        Bytes(self.mappings.iter().map(of).fold(0, u64::saturating_add))
    }
}

/// A machine that can be measured.
pub trait Machine {
    /// What is known about it.
    fn facts(&self) -> &HostFacts;

    /// Its clock, calibrated.
    fn clock(&self) -> &ClockFacts;

    /// How instructions are executed: `native`, `simulated`.
    fn description(&self) -> &str;

    /// Time since an arbitrary start.
    fn now(&self) -> Nanos;

    /// Date and time in RFC 3339, UTC.
    fn wall_clock(&self) -> String;

    /// Lets time pass; ends early when the run is interrupted.
    fn pause(&mut self, time: Nanos) -> Result<(), Trouble>;

    /// Whether the run shall end.
    fn interrupted(&self) -> bool;

    /// Rate at which fresh memory becomes usable with all threads at it, measured on a small piece.
    fn fault_rate(&mut self) -> BytesPerSecond;

    /// The kernel that would do `work`, or the reason why there is none here.
    fn kernel(&self, work: &Work) -> Result<KernelUsed, String>;

    /// The works that a work leaves the choice of, of which the fastest is to be found by measuring: itself where it
    /// leaves none.
    fn candidates(&self, work: &Work) -> Vec<Work>;

    /// What is known of a file before anything is done to it; nothing is made and nothing is written.
    ///
    /// # Errors
    /// It cannot be used, and why.
    fn look_at(&self, file: &IoFile, direct: bool) -> Result<IoTarget, Error>;

    /// Maps and faults in what `plan` says and gives up what was mapped before: `beside` it only afterwards, so that the
    /// system cannot hand out the same memory again.
    fn map(&mut self, plan: &MemoryPlan, beside: bool) -> Result<(), Trouble>;

    /// Makes ready to sample `work`: takes its memory, builds its chain.
    fn prepare(&mut self, work: &Work) -> Result<(), Trouble>;

    /// Lets streams that a cache could hold lie elsewhere in their mapping from the next preparation on, where there is room: which sets of
    /// a cache they fill is decided by where their pages lie in the memory of the machine, which differs from place to place.
    fn elsewhere(&mut self) {}

    /// Brings into the caches what they can hold of the chain that was prepared last. Samples follow at once: what lies in a
    /// cache that others share is theirs again within milliseconds.
    fn fill(&mut self) -> Result<(), Trouble> {
        Ok(())
    }

    /// Takes one sample of the work that was prepared last, for about `length`.
    fn sample(&mut self, work: &Work, length: Nanos) -> Result<Observation, Trouble>;

    /// Takes one sample of the work that was prepared last, in chunks of `amount` of its first thread each, as
    /// [`Observation::amount`] counts, or as near to that as whole blocks of its kernel come.
    fn sample_in_chunks(&mut self, work: &Work, amount: u64) -> Result<Observation, Trouble>;

    /// Core clock of `cpu` now, `None` where it cannot be established.
    fn core_clock(&mut self, cpu: u32) -> Option<Hertz>;

    /// What the cores began beside the samples of the run so far.
    fn issue_rates(&mut self) -> &mut IssueRates;

    /// What a round trip of a cache line between two CPUs takes now; `None` where it cannot be established.
    fn hand_off(&mut self, _pair: [u32; 2]) -> Option<Nanos> {
        None
    }

    /// What the system says about the pages of the work that was prepared last, and what it does not say.
    fn pages(&mut self, work: &Work) -> (PageEvidence, Vec<String>);

    /// What has happened on the machine, and on `cpus`, until now: counts and times since some start. The differences
    /// of two readings are what happened between them.
    fn surroundings(&mut self, cpus: &[u32]) -> Surroundings;

    /// How far the raw counter's rate since its calibration lies from it, relative; `None` where too little time has
    /// passed to tell.
    fn clock_drift(&mut self) -> Option<f64>;
}
