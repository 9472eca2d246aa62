//! The levels of the memory hierarchy as a set of threads sees them, and working sets that lie
//! inside each.

use report::{CacheKind, HostFacts, Topology};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use units::{Bytes, ParseError};

/// Memory is walked in working sets of at least this many times the last-level cache, all threads
/// together (the rule of STREAM: less is partly served from the cache).
pub const MEMORY_FACTOR: u64 = 4;

/// Memory is walked in at least this much if there is plenty: a virtual machine whose CPUs wander
/// between the host's caches uses more of them than it sees.
const AMPLE_MEMORY: u64 = 256 << 20;

/// There is plenty where this many times as much may be used: streams and chains in two kinds of
/// pages lie side by side.
const DRAM_CACHE_MULTIPLE: u64 = 8;

/// A working set this many times the level above's is hardly served by it: of a cyclic walk nothing
/// stays there under least-recently-used replacement, of a random one at most a quarter.
const OUTSIDE: u64 = 4;

/// Name of the level behind the last cache.
pub const MEMORY: &str = "DRAM";

/// Last-level cache by which memory is sized, if the user says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastLevel {
    /// Last-level caches that hold so much together.
    Given(Bytes),
    /// The one that the session finds by timing.
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

/// Effective capacity of the last-level caches of some CPUs together, if it is not the reported
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimedLastLevel {
    /// More. It is not the reported cache, or not all of it, so its sharing is unknown: there is
    /// one for each node.
    More(Bytes),
    /// Less, each in proportion.
    Less(Bytes),
}

/// One cache level as a set of threads sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// `L1`, `L2`...
    pub name: String,
    /// Share of each thread when all use it at once; of unequal CPUs the smallest one.
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

/// A working set that a profile measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Working set of each thread.
    pub size: Bytes,
    /// The level that it lies in.
    pub level: String,
    /// Why it cannot lie there alone, `None` where it can.
    pub hidden: Option<String>,
}

impl Levels {
    /// For threads on `cpus` of a run on which `last_level` bytes of last-level cache exist in all.
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
        // Without known caches: more than any last-level cache of today but the largest servers'.
        let all = if last_level.0 > 0 {
            last_level.0.saturating_mul(MEMORY_FACTOR).max(roomy)
        } else {
            1 << 30
        };
        let memory = Bytes(all.div_ceil(threads)).round_up(4096);
        let mut caches = levels(&facts.topology, cpus);
        // The user knows of less than the system reports.
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

    /// A working set per thread well inside cache level `index`: half of a thread's part of it,
    /// more if the level above holds most of that. In a shared cache no more than four times the
    /// level above: a virtual machine may see more than it can use, and neighbours evict idle
    /// lines.
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

    /// Why no working set lies in cache level `index` rather than above it, `None` where one does:
    /// with a thread on every core, its share of the last cache may be no larger than the core's
    /// own.
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

    /// The largest share of a level nearer than `index`.
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

    /// The level that a working set of `size` per thread lies in. Between the last cache and memory
    /// proper, where both serve it, it is `between`.
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
    /// capacity, up to `memory`, which is always one of them. Without a known cache, every
    /// doubling.
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
        // Neighbours closer than a tenth show the same thing.
        let near = |a: Bytes, b: Bytes| u128::from(b.0) * 10 < u128::from(a.0) * 11;
        sizes.retain(|&s| s.0 >= 1024 && s < memory && !near(s, memory));
        sizes.sort_unstable();
        sizes.dedup_by(|b, a| near(*a, *b));
        sizes.push(memory);
        sizes
    }
}

/// Least working set of all threads together in memory, with a last-level cache of this size. It is
/// a thousandth smaller, because three streams of whole blocks lose as much.
fn least_in_memory(last_level: Bytes) -> u64 {
    let memory = last_level.0.saturating_mul(MEMORY_FACTOR);
    memory - memory / 1000
}

/// The cache levels that all of `cpus` have, nearest first.
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
    // A cache that only some CPUs have serves only some threads: it is no level of all.
    levels
        .into_values()
        .filter(|(_, reached)| *reached >= used.len())
        .map(|(level, _)| level)
        .collect()
}
