//! Computes the bytes that working sets use in their mapping, page sizes, and the shares of memory
//! on NUMA nodes.

use host::memory::{PageMode, Place};
use report::{HostFacts, Node};
use units::Bytes;

/// Bytes between the working sets of two threads, so that prefetchers do not reach into the next
/// set.
const GAP: u64 = 4096;

/// Bytes of the mapping that one thread or one chain uses, including the gap after it. Its working
/// set has `bytes`.
pub fn slot(bytes: Bytes) -> Bytes {
    bytes.round_up(GAP) + Bytes(GAP)
}

/// Size of the pages that `mode` requests on this machine.
pub fn page_bytes(mode: PageMode, facts: &HostFacts) -> Bytes {
    let huge = facts.pages.thp_size.get().copied().unwrap_or(Bytes::mib(2));
    match mode {
        PageMode::Base => facts.pages.base,
        PageMode::Transparent | PageMode::Best => huge,
        PageMode::Pool(size) => size,
        // The smallest pool is used. Pages of 1 GiB must be requested explicitly.
        PageMode::Huge => facts
            .pages
            .huge_pools
            .get()
            .and_then(|p| p.iter().map(|p| p.size).min())
            .unwrap_or(huge),
    }
}

/// Share (0 to 1) of memory that lies on NUMA node `node`, if `place` was requested for the memory.
/// `nodes` has the weights of all nodes.
pub fn share_of(place: &Place, node: u32, nodes: &[Node]) -> f64 {
    let weight = |id: u32| match place {
        Place::Weighted(_) => f64::from(
            nodes
                .iter()
                .find(|n| n.id == id)
                .and_then(|n| n.weight)
                .unwrap_or(1),
        ),
        _ => 1.0,
    };
    let all: f64 = place.nodes().iter().map(|&id| weight(id)).sum();
    if place.nodes().contains(&node) {
        weight(node) / all
    } else {
        0.0
    }
}
