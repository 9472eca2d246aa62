//! Computes the effect of traffic on other work of the simulated machine: loads queue for memory,
//! and shared caches have less room.

use crate::cost_model::{CostModel, LoadCost};
use engine::{LoadedWork, Traffic};
use report::{CacheKind, Topology};
use std::collections::BTreeMap;
use units::Bytes;

impl LoadCost {
    /// Latency of a load divided by its latency in idle memory, if the share `used` of the
    /// bandwidth is in use.
    pub fn factor(&self, used: f64) -> f64 {
        let u = used.clamp(0.0, self.fullest);
        1.0 + self.queue * u / (1.0 - u)
    }
}

/// Working set of the thread on each CPU, by the number of the CPU.
pub type Sets = BTreeMap<u32, Bytes>;

/// Index of the cache level or memory that serves each thread of `sets`, by CPU. The level is that
/// of the nearest cache with room for the working sets of all threads that share the cache. If no
/// cache has room, the index is `memory`.
pub fn levels(topology: &Topology, sets: &Sets, memory: usize) -> BTreeMap<u32, usize> {
    let mut levels: BTreeMap<u32, usize> = sets.keys().map(|&cpu| (cpu, memory)).collect();
    for cache in topology
        .caches
        .iter()
        .filter(|c| c.kind != CacheKind::Instruction)
    {
        let sharing: Vec<u32> = cache
            .cpus
            .0
            .iter()
            .copied()
            .filter(|cpu| sets.contains_key(cpu))
            .collect();
        let together = sharing
            .iter()
            .fold(0u64, |sum, cpu| sum.saturating_add(sets[cpu].0));
        if together > cache.size.0 {
            continue;
        }
        for cpu in sharing {
            levels
                .entry(cpu)
                .and_modify(|level| *level = (*level).min(cache.level as usize - 1));
        }
    }
    levels
}

/// Traffic of the streaming threads of a work, in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TrafficRates {
    /// Payload of the background traffic.
    pub payload: f64,
    /// Bytes of the background traffic on the memory bus, including the reads of write-allocate.
    pub bus: f64,
    /// Payload of the probe, if it streams; otherwise 0.
    pub probe: f64,
    /// Share of the memory bandwidth that is in use.
    pub used: f64,
}

/// Traffic of the streaming threads of `work`, averaged over bursts and pauses. Threads whose
/// working sets fit into no cache share the bandwidth of memory.
pub fn moved(model: &CostModel, topology: &Topology, work: &LoadedWork) -> TrafficRates {
    let memory = model.levels.len() - 1;
    let levels = levels(topology, &sets(work), memory);
    let alone = |t: &Traffic| {
        let level = levels.get(&t.cpu).copied().unwrap_or(memory);
        (burst_rate(model, t, level), level == memory)
    };
    let crossing: f64 = work
        .streaming()
        .map(|t| (alone(t), t))
        .filter(|a| a.0.1)
        .map(|a| a.0.0 * a.1.bus_factor())
        .sum();
    let granted = (model.memory_total.0 / crossing.max(1.0)).min(1.0);
    let mut moved = TrafficRates {
        used: (crossing / model.memory_total.0).min(1.0),
        ..TrafficRates::default()
    };
    for (place, traffic) in work.streaming().enumerate() {
        let (rate, in_memory) = alone(traffic);
        let rate = if in_memory { rate * granted } else { rate };
        if place == 0 && work.chase().is_none() {
            moved.probe = rate;
        } else {
            moved.payload += rate;
            moved.bus += rate * traffic.bus_factor();
        }
    }
    moved
}

/// Payload bytes per second of a thread without other threads. Each burst is followed by its pause.
/// A store takes twice as long as a load. An ordinary store to memory takes longer still, because
/// of write-allocate.
fn burst_rate(model: &CostModel, traffic: &Traffic, level: usize) -> f64 {
    let read = model.levels[level].read.0;
    let allocate = if level + 1 == model.levels.len() {
        traffic.store.contract().bus_factor() as f64
    } else {
        1.0
    };
    let reads = f64::from(traffic.reads);
    let writes = f64::from(traffic.writes);
    let burst = traffic.burst_bytes() as f64;
    let pause =
        (traffic.pause_blocks() * kernels::REFERENCE_INSTRUCTIONS_PER_BLOCK) as f64 / model.core.0;
    let turn =
        reads * burst / read + writes * burst / (read / 2.0 / allocate) + (reads + writes) * pause;
    (reads + writes) * burst / turn
}

/// Working sets of the probe and of all streaming threads of `work`.
pub fn sets(work: &LoadedWork) -> Sets {
    let chase = work.chase().map(|w| (w.cpu(), w.touched()));
    chase
        .into_iter()
        .chain(work.streaming().map(|t| (t.cpu, t.bytes)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_grows_with_the_share_in_use_and_ends_somewhere() {
        let cost = LoadCost {
            queue: 0.5,
            fullest: 0.9,
        };
        assert_eq!([0.0, 0.5, 0.75].map(|u| cost.factor(u)), [1.0, 1.5, 2.5]);
        assert_eq!(cost.factor(1.0), cost.factor(0.9));
        assert!((cost.factor(0.9) - 5.5).abs() < 1e-9);
    }
}
