//! Latency of a chain in the simulated caches.

use crate::contention::Sets;
use crate::cost_model::{CacheCost, CostModel};
use engine::{ChainShape, ChaseWork};
use report::Cache;
use stats::fewer_than;

/// Number of ways of each cache set, in caches whose sets are filled at random.
const WAYS: u32 = 16;

impl CacheCost {
    /// CPUs that share `cache` with `cpu` according to the model, without `cpu` itself. The
    /// reported facts may name other CPUs.
    fn sharing<'a>(&'a self, cache: &'a Cache, cpu: u32) -> impl Iterator<Item = &'a u32> {
        let group = self
            .shared
            .get(&cache.level)
            .and_then(|groups| groups.iter().find(|group| group.0.contains(&cpu)));
        group
            .unwrap_or(&cache.cpus)
            .0
            .iter()
            .filter(move |other| **other != cpu)
    }
}

impl CostModel {
    /// Mean latency in ns of a load of `work`, with the effects of prefetching, but without TLB
    /// misses. `caches` are the caches of the work's CPU, nearest first. `sets` has the working
    /// sets of all threads, including `work`. The latency of memory is multiplied by `factor`.
    pub(super) fn load(
        &self,
        caches: &[&Cache],
        work: &ChaseWork,
        (sets, factor): (&Sets, f64),
    ) -> f64 {
        let first = self.levels.first().map_or(0.0, |level| level.latency.0);
        let load = self.any_load(caches, work, (sets, factor));
        match work.shape {
            // Prefetchers run ahead of the chain: eight loads in flight share one miss.
            ChainShape::Sequential if work.stride <= self.caches.followed => {
                (load / 8.0).max(first)
            }
            ChainShape::Pairs { distance, .. } => {
                let fetched = self
                    .levels
                    .get(1)
                    .map_or(load, |level| level.latency.0.min(load));
                let second = match 2 * distance.0 {
                    both if both <= self.caches.line.0 => first,
                    both if both <= 2 * self.caches.line.0 && self.caches.adjacent => fetched,
                    _ => load,
                };
                f64::midpoint(load, second)
            }
            _ => load,
        }
    }

    /// Mean latency in ns without prefetching. With `partial_hits`, every cache contains a part of
    /// a working set that is too large for it. Otherwise the cache contains nothing of such a
    /// working set.
    fn any_load(&self, caches: &[&Cache], work: &ChaseWork, (sets, factor): (&Sets, f64)) -> f64 {
        let memory = self.levels.last().map_or(0.0, |level| level.latency.0) * factor;
        let mut held = 0.0;
        let mut mean = 0.0;
        let mut nearer = 0;
        for (at, cache) in caches.iter().enumerate() {
            let size = self.caches.holds.get(at).copied().unwrap_or(cache.size).0;
            let holds = size + if self.caches.exclusive { nearer } else { 0 };
            nearer = holds;
            let sharing = self
                .caches
                .sharing(cache, work.cpu())
                .filter_map(|cpu| sets.get(cpu));
            let others = sharing.fold(0u64, |sum, bytes| sum.saturating_add(bytes.0));
            let share = self
                .share((holds, size, others), cache, at + 1 == caches.len(), work)
                .max(held);
            let latency = self
                .levels
                .get(cache.level as usize - 1)
                .map_or(memory, |level| level.latency.0);
            mean += (share - held) * latency;
            held = share;
        }
        mean + (1.0 - held) * memory
    }

    /// Share (0 to 1) of the loads of `work` that hit `cache` or a nearer cache. `holds` is the
    /// size up to which a working set has hits. `size` is the cache's own size, and `others` are
    /// the bytes of it that other threads take. `last` is true for the last-level cache.
    fn share(
        &self,
        (holds, size, others): (u64, u64, u64),
        cache: &Cache,
        last: bool,
        work: &ChaseWork,
    ) -> f64 {
        let scattered = self.caches.scattered && cache.level > 1;
        let fits = |room: u64, needed: u64| {
            if scattered {
                fewer_than(WAYS, needed as f64 / room.max(1) as f64 * f64::from(WAYS))
            } else if needed <= room {
                1.0
            } else if self.partial_hits {
                room as f64 / needed as f64
            } else {
                0.0
            }
        };
        let line = self.caches.line.0.max(1);
        let ways = u64::from(cache.ways.unwrap_or(0));
        let scattered = matches!(
            work.shape,
            ChainShape::OnePerPage(_) | ChainShape::Pairs { .. }
        );
        let sparse = !scattered && work.stride.0 > line;
        if !self.caches.sets || !sparse {
            return fits(
                holds,
                self.lines(work).saturating_mul(line).saturating_add(others),
            );
        }
        let sets = size / line / ways.max(1);
        if last || ways == 0 || sets == 0 || !work.stride.0.is_multiple_of(line) {
            return fits(
                holds,
                work.nodes().saturating_mul(line).saturating_add(others),
            );
        }
        let used = sets / common(sets, work.stride.0 / line);
        fits(ways, work.nodes().div_ceil(used))
    }

    /// Number of different cache lines that one pass over the chain touches.
    fn lines(&self, work: &ChaseWork) -> u64 {
        let line = self.caches.line.0.max(1);
        match work.shape {
            ChainShape::Pairs { distance, .. } if 2 * distance.0 <= line => work.nodes() / 2,
            ChainShape::Pairs { .. } => work.nodes(),
            _ => work.touched().0.div_ceil(line),
        }
    }
}

/// Greatest common divisor of `a` and `b`.
fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}
