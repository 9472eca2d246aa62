//! The levels of the memory hierarchy as a set of threads sees them, and working sets that lie inside each.

use crate::results::HostFacts;
use crate::units::Bytes;

/// Memory is walked in working sets of at least this many times the last-level cache, all threads together (the rule
/// of STREAM: less is partly served from the cache).
pub const MEMORY_FACTOR: u64 = 4;

/// Memory is walked in at least this much where there is plenty: a virtual machine whose CPUs wander between the
/// host's caches has more of them than it is told.
const ROOMY: u64 = 256 << 20;

/// There is plenty where this many times as much may be used: streams and chains in two kinds of pages lie side by side.
const PLENTY: u64 = 8;

/// A working set this many times the level above's is hardly served by it: of a cyclic walk nothing stays there under
/// least-recently-used replacement, of a random one at most a quarter.
const OUTSIDE: u64 = 4;

/// Name of the level behind the last cache.
pub const MEMORY: &str = "DRAM";

/// One cache level as a set of threads sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// `L1`, `L2`...
    pub name: String,
    /// What each thread has of it when all use it at once.
    pub share: Bytes,
    /// Whether CPUs of several cores use one instance.
    pub shared: bool,
}

/// The hierarchy as the threads on `cpus` see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Levels {
    /// Cache levels, nearest first.
    pub caches: Vec<Level>,
    /// Working set of each thread that lies in memory whatever the caches keep.
    pub memory: Bytes,
    threads: u64,
    last_level: Bytes,
}

impl Levels {
    /// For threads on `cpus` of a run on which `last_level` bytes of last-level cache exist in all.
    pub fn new(facts: &HostFacts, cpus: &[u32], last_level: Bytes) -> Self {
        let caches = cpus.first().map(|&cpu| facts.topology.data_caches(cpu)).unwrap_or_default();
        let caches = caches
            .into_iter()
            .map(|cache| {
                let sharing = cpus.iter().filter(|cpu| cache.cpus.0.contains(cpu)).count().max(1) as u64;
                let core = |cpu: &u32| facts.topology.cpus.iter().find(|c| c.id == *cpu).map(|c| c.siblings.clone());
                let shared = cache.cpus.0.iter().any(|cpu| core(cpu) != cache.cpus.0.first().and_then(core));
                Level { name: format!("L{}", cache.level), share: Bytes(cache.size.0 / sharing), shared }
            })
            .collect();
        let threads = cpus.len().max(1) as u64;
        let usable = facts.memory.usable.get().map_or(u64::MAX, |usable| usable.0);
        let roomy = if usable >= ROOMY * PLENTY { ROOMY } else { 0 };
        // Without known caches: more than any last-level cache of today but the largest servers'.
        let all = if last_level.0 > 0 { last_level.0.saturating_mul(MEMORY_FACTOR).max(roomy) } else { 1 << 30 };
        let memory = Bytes(all.div_ceil(threads)).round_up(4096);
        Self { caches, memory, threads, last_level }
    }

    /// A working set per thread well inside cache level `index`: half of what a thread has of it. Of a cache that
    /// cores share, no more than four times the level above's: a virtual machine may be told of more than it is let
    /// use, and neighbours evict what is not used often.
    pub fn inside(&self, index: usize) -> Bytes {
        let level = &self.caches[index];
        let above = if index > 0 { self.caches[index - 1].share.0 } else { u64::MAX / OUTSIDE };
        let most = if level.shared { above * OUTSIDE } else { u64::MAX };
        Bytes((level.share.0 / 2).min(most).max(4096)).round_down(1024)
    }

    /// The level that a working set of `size` per thread lies in. Between the last cache and memory proper, where both
    /// serve it, it is `between`.
    pub fn name(&self, size: Bytes) -> String {
        let fits = self.caches.iter().find(|level| size <= level.share);
        match fits {
            Some(level) => level.name.clone(),
            None if self.last_level.0 == 0 => "unknown".to_owned(),
            None if size.0.saturating_mul(self.threads) >= self.last_level.0.saturating_mul(MEMORY_FACTOR) => {
                MEMORY.to_owned()
            }
            None => "between".to_owned(),
        }
    }

    /// Sizes that show each level and each boundary: inside, just below, at and above each capacity, up to memory.
    pub fn sweep(&self, memory: Bytes) -> Vec<Bytes> {
        let mut sizes: Vec<Bytes> = Vec::new();
        for (index, level) in self.caches.iter().enumerate() {
            let share = level.share.0;
            sizes.push(self.inside(index));
            sizes.extend([share / 4, share / 2, share / 4 * 3, share, share / 4 * 5, share * 2].map(Bytes));
        }
        let last = self.caches.last().map_or(32 << 20, |level| level.share.0);
        if self.caches.is_empty() {
            sizes.extend((12..).map(|exponent| Bytes(1 << exponent)).take_while(|size| size.0 <= last));
        }
        sizes.push(memory);
        let mut sizes: Vec<Bytes> = sizes.into_iter().map(|s| s.round_down(1024)).collect();
        sizes.retain(|s| s.0 >= 1024 && *s <= memory);
        sizes.sort_unstable();
        // Neighbours closer than a tenth show the same thing.
        sizes.dedup_by(|b, a| b.0 * 10 < a.0 * 11);
        sizes
    }
}
