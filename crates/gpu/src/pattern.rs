//! Chains of indices for the latency of a device.

use stats::SplitMix64;

/// A chain of indices in random order: one cycle through all nodes.
#[derive(Debug, Clone)]
pub struct ChainTable {
    /// For each index, the index that follows it in the chain. Only every `spacing`-th index is a
    /// node.
    pub next: Vec<u32>,
    /// Indices of all nodes in the order in which they are visited, beginning with 0.
    pub order: Vec<u32>,
}

impl ChainTable {
    /// A chain of `nodes` nodes that are `spacing` indices apart. `seed` chooses the order.
    ///
    /// Any order of all nodes makes one cycle, because the last node leads back to the first node.
    pub fn new(nodes: u32, spacing: u32, seed: u64) -> Self {
        let mut order: Vec<u32> = (0..nodes).collect();
        let mut random = SplitMix64::new(seed);
        if let Some(rest) = order.get_mut(1..) {
            random.shuffle(rest);
        }
        order.iter_mut().for_each(|node| *node *= spacing);
        let mut next = vec![0; nodes as usize * spacing as usize];
        let followers = order.iter().cycle().skip(1);
        for (&node, &follower) in order.iter().zip(followers) {
            next[node as usize] = follower;
        }
        Self { next, order }
    }
}

/// Index that is reached after `hops` hops from the first node of `order`.
pub fn after(order: &[u32], hops: u64) -> u32 {
    let nodes = order.len().max(1) as u64;
    let at = (hops % nodes) as usize;
    order.get(at).copied().unwrap_or(0)
}
