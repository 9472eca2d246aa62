//! Upper bounds of values, with their sources.

use report::{ClockFacts, HostFacts, Limit, Node};
use units::{Bytes, BytesPerSecond, Hertz};

/// Relative error of a limit that depends on the core clock.
const CLOCK_ERROR: f64 = 1.03;

/// Nodes whose memory differs by less than this have the same number of modules; firmware and
/// kernel reserve some memory.
const ALIKE: f64 = 0.9;

/// Reported distance of a node from itself. Emulated nodes of a kernel report it between each
/// other.
const OWN_DISTANCE: u32 = 10;

/// Base clock of the processor. It is the rate of the time-stamp counter of known x86 core designs,
/// which counts at that rate in all power states. `None` on other processors and under an emulator.
pub fn base_clock(facts: &HostFacts, clock: &ClockFacts) -> Option<Hertz> {
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

/// Threads that load and store through the ports between their cores and the L1 data caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortTraffic {
    /// Streams that are loaded.
    pub loads: u32,
    /// Streams that are stored.
    pub stores: u32,
    /// Payload bytes per byte of each stream.
    pub payload_factor: u64,
    /// Number of threads.
    pub threads: usize,
}

/// Payload per second that the ports of the L1 data caches carry at the clock `core`. `None` if the
/// ports are unknown. Loads and stores use different ports at the same time, so the slower
/// direction decides.
pub fn port_limit(facts: &HostFacts, core: Hertz, traffic: PortTraffic) -> Option<Limit> {
    let ports = facts.cpu.l1_ports.get()?;
    let cycles = |streams: u32, width: u32| f64::from(streams) / f64::from(width.max(1));
    let per_byte =
        cycles(traffic.loads, ports.load_bytes).max(cycles(traffic.stores, ports.store_bytes));
    let threads = traffic.threads;
    let bytes_per_cycle = traffic.payload_factor as f64 / per_byte * threads as f64;
    let source = format!(
        "{core} x {bytes_per_cycle:.0} B that {threads} core(s) pass to and from L1 per cycle"
    );
    Some(Limit {
        value: core.0 * bytes_per_cycle,
        source,
        tolerance: CLOCK_ERROR,
    })
}

/// Threads that pass through memory repeatedly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryTraffic<'a> {
    /// CPUs of the threads.
    pub cpus: &'a [u32],
    /// Memory of all threads together.
    pub bytes: Bytes,
    /// Number of NUMA nodes requested for the memory; `None` without a request.
    pub nodes: Option<usize>,
    /// Peak rate that the user gives; `None` if it comes from the memory modules.
    pub given_peak: Option<BytesPerSecond>,
}

/// Payload per second that the memory carries. `None` if its peak is unknown. Every byte crosses
/// the memory bus, except those that the last-level caches keep from one pass to the next.
pub fn memory_limit(facts: &HostFacts, traffic: MemoryTraffic<'_>) -> Option<Limit> {
    let modules = &facts.memory.bus;
    let (peak, source) = match (traffic.given_peak, modules.get()) {
        (Some(peak), _) => (peak, "--dram-peak".to_owned()),
        (None, Some(bus)) => match traffic
            .nodes
            .zip(equal_nodes(facts))
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
    let cached = facts.topology.last_level_total(traffic.cpus).0 as f64;
    let kept = (cached / (traffic.bytes.0 as f64).max(1.0)).min(0.9);
    Some(Limit {
        value: peak.0,
        source: format!("the memory's {peak} ({source})"),
        tolerance: 1.0 / (1.0 - kept),
    })
}

/// Number of nodes, if each has the same number of channels: all have CPUs, the same size of
/// memory, and a distance above their own. The firmware counts the modules of all nodes together.
fn equal_nodes(facts: &HostFacts) -> Option<usize> {
    let nodes = &facts.topology.nodes;
    let channels = facts.memory.bus.get()?.channels as usize;
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
        node.distances.len() == nodes.len() && others.all(|(_, distance)| *distance > OWN_DISTANCE)
    };
    let alike = nodes
        .iter()
        .all(|node| !node.cpus.0.is_empty() && node.memory.is_some())
        && least >= most * ALIKE;
    let equal =
        alike && nodes.iter().enumerate().all(apart) && channels.is_multiple_of(nodes.len());
    equal.then_some(nodes.len())
}
