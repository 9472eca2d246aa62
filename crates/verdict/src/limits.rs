//! Upper bounds of values, with their sources.

use report::{ClockFacts, HostFacts, Limit, Node};
use units::{Bytes, BytesPerSecond, Hertz};

/// Factor by which a value may exceed a limit that depends on the core clock.
const CLOCK_ERROR: f64 = 1.03;

/// The memory sizes of nodes count as equal if the smallest is at least this share of the largest.
/// Firmware and kernel reserve some memory.
const ALIKE: f64 = 0.9;

/// Reported distance of a node from itself. Emulated nodes report this distance to each other too.
const OWN_DISTANCE: u32 = 10;

/// Base clock of the processor. On known x86 core designs, the time-stamp counter runs at this rate
/// in all power states. `None` on other processors and under an emulator.
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

/// Loads and stores that threads do through the ports of their L1 data caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortTraffic {
    /// Number of streams (arrays) that the kernel loads.
    pub loads: u32,
    /// Number of streams that the kernel stores.
    pub stores: u32,
    /// Number of payload bytes for each byte of a stream.
    pub payload_factor: u64,
    /// Number of threads.
    pub threads: usize,
}

/// Largest payload per second that the ports of the L1 data caches carry at the core clock `core`.
/// `None` if the ports are unknown. Loads and stores use different ports at the same time, so the
/// slower of the two decides.
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

/// Threads that repeatedly stream through memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryTraffic<'a> {
    /// CPUs of the threads.
    pub cpus: &'a [u32],
    /// Working sets of all threads together.
    pub bytes: Bytes,
    /// Number of NUMA nodes that the user requests for the memory; `None` if the user requests
    /// none.
    pub nodes: Option<usize>,
    /// Peak rate that the user gives; `None` to use the rate of the memory modules.
    pub given_peak: Option<BytesPerSecond>,
}

/// Largest payload per second that the memory carries. `None` if the peak rate of the memory is
/// unknown. Every byte crosses the memory bus, except bytes that the last-level caches keep between
/// two passes.
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

/// Number of NUMA nodes if all nodes seem to have the same number of memory channels; otherwise
/// `None`. Such nodes have CPUs, the same size of memory, and a distance above [`OWN_DISTANCE`] to
/// each other. The firmware reports only the channels of all nodes together.
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
