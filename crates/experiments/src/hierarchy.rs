//! Levels of the memory hierarchy for a set of threads, and working sets that fit inside each
//! level.

use report::{CacheKind, HostFacts, Topology};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use units::{Bytes, ParseError};

/// The working set of all threads in memory is at least this many times the last-level cache. The
/// STREAM benchmark has the same rule, because caches serve a part of a smaller working set.
pub const MEMORY_FACTOR: u64 = 4;

/// If there is plenty of memory, the working set in memory has at least this many bytes. A virtual
/// machine whose CPUs move between the caches of its host uses more cache than it sees.
const AMPLE_MEMORY: u64 = 256 << 20;

/// There is plenty of memory if this many times [`AMPLE_MEMORY`] is usable. The factor is large
/// because streams, and chains in two kinds of pages, are mapped at once.
const DRAM_CACHE_MULTIPLE: u64 = 8;

/// A working set of this many times the size of a cache has few hits in the cache. A cyclic walk
/// under least-recently-used replacement has no hits. In a random walk, at most a quarter of the
/// loads hit.
const OUTSIDE: u64 = 4;

/// Name of the level beyond the last cache.
pub const MEMORY: &str = "DRAM";

/// The user's choice of a capacity of the last-level cache, which determines the working sets in
/// memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastLevel {
    /// Capacity of all last-level caches together.
    Given(Bytes),
    /// The capacity that the session finds by timing.
    Measured,
}

impl FromStr for LastLevel {
    type Err = ParseError;

    /// Reads `32MiB` or `measured`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || {
            ParseError::new(
                text,
                "a last level is a size of 1 KiB or more, or 'measured': 32MiB, measured",
            )
            .with_example("32MiB")
        };
        if text == "measured" {
            return Ok(Self::Measured);
        }
        match text.parse::<Bytes>() {
            Ok(size) if size >= Bytes::kib(1) => Ok(Self::Given(size)),
            _ => Err(wrong()),
        }
    }
}

/// Effective capacity of the last-level caches of some CPUs, if it differs from the capacity that
/// the system reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimedLastLevel {
    /// Larger than reported. One cache for each NUMA node is assumed, because the CPUs that share a
    /// cache are unknown.
    More(Bytes),
    /// Smaller than reported. Each cache is smaller in proportion.
    Less(Bytes),
}

/// One cache level for a set of threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// `L1`, `L2`...
    pub name: String,
    /// Capacity of a cache of this level, divided by the number of threads that use the cache. If
    /// CPUs differ, the smallest quotient.
    pub share: Bytes,
    /// True if CPUs of several cores share a cache of this level.
    pub shared: bool,
}

/// The memory hierarchy for the threads on a set of CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Levels {
    /// Cache levels, nearest first.
    pub caches: Vec<Level>,
    /// Working set of each thread that lies in memory, because it exceeds the caches.
    pub memory: Bytes,
    threads: u64,
    last_level: Bytes,
}

/// A working set that a profile measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Size of the working set of each thread.
    pub size: Bytes,
    /// Name of the level that serves the working set.
    pub level: String,
    /// Reason why the working set cannot lie in this level; `None` if it can.
    pub hidden: Option<String>,
}

impl Levels {
    /// The hierarchy for threads on `cpus`. `last_level` is the capacity of all last-level caches
    /// of the session.
    pub fn new(facts: &HostFacts, cpus: &[u32], last_level: Bytes) -> Self {
        let threads = cpus.len().max(1) as u64;
        let usable = facts
            .memory
            .usable
            .get()
            .map_or(u64::MAX, |usable| usable.0);
        let roomy = if usable >= AMPLE_MEMORY * DRAM_CACHE_MULTIPLE {
            AMPLE_MEMORY
        } else {
            0
        };
        // If no cache is known, the working set is 1 GiB. Only the largest servers have more
        // last-level cache.
        let all = if last_level.0 > 0 {
            last_level.0.saturating_mul(MEMORY_FACTOR).max(roomy)
        } else {
            1 << 30
        };
        let memory = Bytes(all.div_ceil(threads)).round_up(4096);
        let mut caches = levels(&facts.topology, cpus);
        // The user may give a smaller cache than the system reports. Then the share is at most that
        // size.
        if let Some(last) = caches.last_mut().filter(|_| last_level.0 > 0) {
            last.share = last.share.min(last_level);
        }
        Self {
            caches,
            memory,
            threads,
            last_level,
        }
    }

    /// Working set per thread well inside the cache level `index`. It is half of a thread's share
    /// of the level, or more if the nearer levels could hold most of that half. In a shared cache,
    /// it is at most four times the share of the nearer levels. A virtual machine may see more
    /// cache than it can use, and other machines evict idle lines.
    pub fn inside(&self, index: usize) -> Bytes {
        let level = &self.caches[index];
        let above = self.above(index).map_or(u64::MAX, |above| above.share.0);
        let least = if above == u64::MAX {
            0
        } else {
            above.saturating_mul(2).min(level.share.0 / 4 * 3)
        };
        let most = if level.shared {
            above.saturating_mul(OUTSIDE)
        } else {
            u64::MAX
        };
        Bytes((level.share.0 / 2).max(least).min(most).max(4096)).round_down(1024)
    }

    /// Reason why a working set in cache level `index` would also fit into a nearer level; `None`
    /// if it would not. With a thread on every core, a core's share of the last cache may be
    /// smaller than the core's own cache.
    pub fn hidden(&self, index: usize) -> Option<String> {
        let level = &self.caches[index];
        let above = self.above(index)?;
        (self.inside(index).0 < (above.share.0 / 4).saturating_mul(5)).then(|| {
            format!(
                "a thread has {} of {} and {} of {}: nothing lies in the one that the other does \
                 not hold",
                level.share, level.name, above.share, above.name
            )
        })
    }

    /// The level with the largest share among the levels nearer than `index`.
    fn above(&self, index: usize) -> Option<&Level> {
        self.caches[..index].iter().max_by_key(|level| level.share)
    }

    /// One working set for each level, memory last.
    pub fn targets(&self) -> Vec<Target> {
        let cache = |index: usize| Target {
            size: self.inside(index),
            level: self.caches[index].name.clone(),
            hidden: self.hidden(index),
        };
        let memory = Target {
            size: self.memory,
            level: self.name(self.memory),
            hidden: None,
        };
        (0..self.caches.len()).map(cache).chain([memory]).collect()
    }

    /// Name of the level of a working set of `size` per thread. The name is `between` if the last
    /// cache and memory both serve the working set, and `unknown` without known caches.
    pub fn name(&self, size: Bytes) -> String {
        let fits = self.caches.iter().find(|level| size <= level.share);
        match fits {
            Some(level) => level.name.clone(),
            None if self.last_level.0 == 0 => "unknown".to_owned(),
            None if size.0.saturating_mul(self.threads) >= least_in_memory(self.last_level) => {
                MEMORY.to_owned()
            }
            None => "between".to_owned(),
        }
    }

    /// Sizes that show each level and each boundary: inside, just below, at and above each
    /// capacity. The largest size is always `memory`. Without known caches, the sizes are all
    /// powers of two from 4 KiB.
    pub fn sweep(&self, memory: Bytes) -> Vec<Bytes> {
        let mut sizes: Vec<Bytes> = Vec::new();
        for (index, level) in self.caches.iter().enumerate() {
            let share = level.share.0;
            let above = [(share / 4).saturating_mul(5), share.saturating_mul(2)];
            sizes.push(self.inside(index));
            sizes.extend(
                [share / 4, share / 2, share / 4 * 3, share]
                    .into_iter()
                    .chain(above)
                    .map(Bytes),
            );
        }
        if self.caches.is_empty() {
            sizes.extend((12..u64::BITS).map(|exponent| Bytes(1 << exponent)));
        }
        let mut sizes: Vec<Bytes> = sizes.into_iter().map(|s| s.round_down(1024)).collect();
        // If two sizes differ by less than a tenth, only one is kept.
        let near = |a: Bytes, b: Bytes| u128::from(b.0) * 10 < u128::from(a.0) * 11;
        sizes.retain(|&s| s.0 >= 1024 && s < memory && !near(s, memory));
        sizes.sort_unstable();
        sizes.dedup_by(|b, a| near(*a, *b));
        sizes.push(memory);
        sizes
    }
}

/// Smallest working set of all threads in memory, for a last-level cache of this size. A thousandth
/// is subtracted, because rounding three streams to whole blocks makes a working set smaller.
fn least_in_memory(last_level: Bytes) -> u64 {
    let memory = last_level.0.saturating_mul(MEMORY_FACTOR);
    memory - memory / 1000
}

/// Cache levels that all of `cpus` have, nearest first.
fn levels(topology: &Topology, cpus: &[u32]) -> Vec<Level> {
    let used: BTreeSet<u32> = cpus.iter().copied().collect();
    let siblings: BTreeMap<u32, &[u32]> = topology
        .cpus
        .iter()
        .map(|c| (c.id, c.siblings.as_slice()))
        .collect();
    let mut levels: BTreeMap<u32, (Level, usize)> = BTreeMap::new();
    for cache in topology
        .caches
        .iter()
        .filter(|c| c.kind != CacheKind::Instruction && c.size.0 > 0)
    {
        let sharing = cache.cpus.0.iter().filter(|cpu| used.contains(cpu)).count();
        if sharing == 0 {
            continue;
        }
        let core = |cpu: &u32| siblings.get(cpu);
        let shared = cache
            .cpus
            .0
            .iter()
            .any(|cpu| core(cpu) != cache.cpus.0.first().and_then(core));
        let share = Bytes(cache.size.0 / sharing as u64);
        let new = Level {
            name: format!("L{}", cache.level),
            share,
            shared,
        };
        let (level, reached) = levels.entry(cache.level).or_insert((new, 0));
        level.share = level.share.min(share);
        level.shared |= shared;
        *reached += sharing;
    }
    // If only some CPUs have a cache, its level is left out.
    levels
        .into_values()
        .filter(|(_, reached)| *reached >= used.len())
        .map(|(level, _)| level)
        .collect()
}
