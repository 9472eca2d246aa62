//! What a value cannot exceed, with where that comes from.

use engine::Work;
use experiments::Bound;
use report::{ClockFacts, HostFacts, Limit, Node};
use std::collections::BTreeSet;
use units::{Bytes, BytesPerSecond, Hertz};

/// The error of a limit that rests on the core clock.
const CLOCK_ERROR: f64 = 1.03;

/// Nodes that differ by less than this in memory (firmware and kernel keep some) have as many
/// modules.
const ALIKE: f64 = 0.9;

/// Distance of a node from itself; nodes that the kernel only pretends to be several have it among
/// each other.
const OWN_DISTANCE: u32 = 10;

/// The base clock of the processor: the rate of the time-stamp counter of an x86 core design that
/// the table knows, which counts at that rate in all power states. `None` elsewhere and under an
/// emulator.
pub(super) fn base_clock(facts: &HostFacts, clock: &ClockFacts) -> Option<Hertz> {
    let emulated = facts
        .system
        .emulation
        .get()
        .is_some_and(|name| name != "none");
    let known =
        facts.cpu.microarchitecture.get().is_some() && facts.cpu.architecture.starts_with("x86");
    let counts = facts.cpu.counter_invariant.get() == Some(&true);
    clock.rate.filter(|_| known && counts && !emulated)
}

/// What is asked: the bound of a work on a machine.
pub(super) struct Question<'a> {
    pub bound: Bound,
    pub facts: &'a HostFacts,
    pub work: &'a Work,
    /// What the user says that the memory carries.
    pub memory: Option<BytesPerSecond>,
}

impl Question<'_> {
    /// The answer at a core clock; `None` where it is not known.
    pub(super) fn limit(&self, core: Option<Hertz>) -> Option<Limit> {
        match self.bound {
            Bound::Unknown => None,
            Bound::L1Ports => self.ports(core?),
            Bound::Memory => self.memory(),
        }
    }

    /// Loads and stores go through different ports at the same time; the slower direction decides.
    fn ports(&self, core: Hertz) -> Option<Limit> {
        let ports = self.facts.cpu.l1_ports.get()?;
        let Work::Stream(stream) = self.work else {
            return None;
        };
        let contract = stream.operation.contract();
        let cycles = |streams: u32, width: u32| f64::from(streams) / f64::from(width.max(1));
        let per_byte = cycles(contract.loads, ports.load_bytes)
            .max(cycles(contract.stores, ports.store_bytes));
        let threads = stream.cpus.len();
        let bytes_per_cycle = contract.payload_factor() as f64 / per_byte * threads as f64;
        let source = format!(
            "{core} x {bytes_per_cycle:.0} B that {threads} core(s) pass to and from L1 per cycle"
        );
        Some(Limit {
            value: core.0 * bytes_per_cycle,
            source,
            tolerance: CLOCK_ERROR,
        })
    }

    /// What the traffic beside the work cannot exceed; `None` where it is not known or there is no
    /// traffic.
    pub(super) fn of_traffic(&self) -> Option<Limit> {
        let Work::Loaded(loaded) = self.work else {
            return None;
        };
        let cpus: Vec<u32> = loaded.traffic().iter().map(|thread| thread.cpu).collect();
        let bytes: u64 = loaded
            .traffic()
            .iter()
            .fold(0, |sum, thread| sum.saturating_add(thread.bytes.0));
        let nodes: Option<BTreeSet<u32>> =
            loaded.traffic().iter().map(|thread| thread.node).collect();
        if cpus.is_empty() {
            None
        } else {
            self.carried(&cpus, Bytes(bytes), nodes.map(|nodes| nodes.len()))
        }
    }

    fn memory(&self) -> Option<Limit> {
        let nodes = self
            .work
            .place()
            .map(|_| self.work.memory_nodes(self.facts).len());
        self.carried(self.work.cpus(), self.work.working_set(), nodes)
    }

    /// Every payload byte of threads on `cpus` crosses the memory bus, but those that the last
    /// caches hold from one pass through `bytes` to the next. These were asked to lie on so many
    /// `nodes`, if on any.
    fn carried(&self, cpus: &[u32], bytes: Bytes, nodes: Option<usize>) -> Option<Limit> {
        let modules = &self.facts.memory.bus;
        let (peak, source) = match (self.memory, modules.get()) {
            (Some(peak), _) => (peak, "--dram-peak".to_owned()),
            (None, Some(bus)) => match nodes
                .zip(self.equal_nodes())
                .filter(|(used, all)| used < all)
            {
                None => (bus.peak, modules.source.clone()),
                Some((used, all)) => {
                    let peak = BytesPerSecond(bus.peak.0 * used as f64 / all as f64);
                    (peak, format!("{used} of {all} nodes, {}", modules.source))
                }
            },
            (None, None) => return None,
        };
        let cached = self.facts.topology.last_level_total(cpus).0 as f64;
        let held = (cached / (bytes.0 as f64).max(1.0)).min(0.9);
        Some(Limit {
            value: peak.0,
            source: format!("the memory's {peak} ({source})"),
            tolerance: 1.0 / (1.0 - held),
        })
    }

    /// How many nodes there are, where each has as many channels as the others: all have CPUs, as
    /// much memory, and are apart. The firmware counts the modules of all nodes together.
    fn equal_nodes(&self) -> Option<usize> {
        let nodes = &self.facts.topology.nodes;
        let channels = self.facts.memory.bus.get()?.channels as usize;
        let sizes = || {
            nodes
                .iter()
                .filter_map(|node| node.memory)
                .map(|bytes| bytes.0 as f64)
        };
        let least = sizes().reduce(f64::min)?;
        let most = sizes().reduce(f64::max)?;
        let apart = |(at, node): (usize, &Node)| {
            let mut others = node
                .distances
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at);
            node.distances.len() == nodes.len()
                && others.all(|(_, distance)| *distance > OWN_DISTANCE)
        };
        let alike = nodes
            .iter()
            .all(|node| !node.cpus.0.is_empty() && node.memory.is_some())
            && least >= most * ALIKE;
        let equal =
            alike && nodes.iter().enumerate().all(apart) && channels.is_multiple_of(nodes.len());
        equal.then_some(nodes.len())
    }
}
