//! Relation of two CPUs in the topology, as the system reports it.

use super::host::{CacheKind, Topology};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The nearest resource that two CPUs share. Variants are in order, nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// The physical core.
    SameCore,
    /// A data cache of this level. The CPUs share no nearer resource.
    SharedCache(u32),
    /// The socket, but no cache.
    SamePackage,
    /// No resource, not even the socket.
    CrossPackage,
    /// The system does not report the relation.
    Unknown,
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Relation::SameCore => f.pad("same-core"),
            Relation::SharedCache(level) => f.pad(&format!("shared-l{level}")),
            Relation::SamePackage => f.pad("same-package"),
            Relation::CrossPackage => f.pad("cross-package"),
            Relation::Unknown => f.pad("unknown"),
        }
    }
}

impl FromStr for Relation {
    type Err = ();

    /// Parses the text form of a [`Relation`].
    fn from_str(text: &str) -> Result<Self, ()> {
        Ok(match text {
            "same-core" => Relation::SameCore,
            "same-package" => Relation::SamePackage,
            "cross-package" => Relation::CrossPackage,
            "unknown" => Relation::Unknown,
            _ => {
                let level = text.strip_prefix("shared-l").ok_or(())?;
                Relation::SharedCache(level.parse().map_err(|_| ())?)
            }
        })
    }
}

/// A cache, identified by its level and the lowest CPU that it serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheId {
    /// Level of the cache.
    pub level: u32,
    /// Lowest CPU that the cache serves.
    pub first_cpu: u32,
}

/// Position of a CPU in the topology. If CPUs are sorted by their positions, CPUs that share a
/// resource are neighbours.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct CpuPosition {
    package: Option<u32>,
    /// Caches of the CPU, from the last level to the first.
    caches: Vec<CacheId>,
    /// Lowest CPU number of the physical core.
    core: u32,
}

/// CPUs of one package that share a last-level cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheGroup {
    /// The package; `None` if unknown.
    pub package: Option<u32>,
    /// The cache; `None` if unknown.
    pub last_level: Option<CacheId>,
}

/// Positions of all CPUs of a topology. They are computed once, because hundreds of CPUs have tens
/// of thousands of pairs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Places(BTreeMap<u32, CpuPosition>);

impl Places {
    /// Finds the positions of the CPUs of `topology`.
    pub fn new(topology: &Topology) -> Self {
        let core = |siblings: &[u32], id: u32| siblings.iter().copied().min().unwrap_or(id);
        let place = |cpu: &super::Cpu| {
            let position = CpuPosition {
                package: cpu.package,
                caches: Vec::new(),
                core: core(&cpu.siblings, cpu.id),
            };
            (cpu.id, position)
        };
        let mut places: BTreeMap<u32, CpuPosition> = topology.cpus.iter().map(place).collect();
        for cache in topology
            .caches
            .iter()
            .filter(|cache| cache.kind != CacheKind::Instruction)
        {
            let first = cache.cpus.0.iter().copied().min().unwrap_or_default();
            for cpu in &cache.cpus.0 {
                if let Some(position) = places.get_mut(cpu) {
                    position.caches.push(CacheId {
                        level: cache.level,
                        first_cpu: first,
                    });
                }
            }
        }
        for position in places.values_mut() {
            position.caches.sort_unstable_by(|a, b| b.cmp(a));
        }
        Self(places)
    }

    /// Relation of CPUs `a` and `b`; `Unknown` if the topology lacks one of them.
    pub fn relation(&self, a: u32, b: u32) -> Relation {
        let (Some(a), Some(b)) = (self.0.get(&a), self.0.get(&b)) else {
            return Relation::Unknown;
        };
        let cache = a
            .caches
            .iter()
            .rev()
            .find(|cache| b.caches.contains(cache))
            .map(|cache| cache.level);
        match (cache, a.package, b.package) {
            _ if a.core == b.core && a.package == b.package => Relation::SameCore,
            (Some(1), ..) => Relation::SameCore,
            (Some(level), ..) => Relation::SharedCache(level),
            (None, Some(one), Some(other)) if one == other => Relation::SamePackage,
            (None, Some(_), Some(_)) => Relation::CrossPackage,
            (None, ..) => Relation::Unknown,
        }
    }

    /// `cpus` in an order in which CPUs that share a resource are neighbours: by package, caches,
    /// core and CPU number.
    pub fn ordered(&self, cpus: &[u32]) -> Vec<u32> {
        let mut ordered = cpus.to_vec();
        ordered.sort_by_key(|cpu| (self.0.get(cpu), *cpu));
        ordered
    }

    /// The package and the last-level cache of `cpu`. `None` if the topology lacks the CPU.
    pub fn group(&self, cpu: u32) -> Option<CacheGroup> {
        self.0.get(&cpu).map(|position| CacheGroup {
            package: position.package,
            last_level: position.caches.first().copied(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cache, Cpu};
    use super::*;
    use units::{Bytes, CpuList};

    /// A machine of two packages. Each package has two clusters, each cluster two cores, each core
    /// two threads. CPUs 0-7 are the first threads of the cores, CPUs 8-15 the second threads.
    fn topology() -> Topology {
        let cpu = |id: u32| Cpu {
            id,
            allowed: true,
            core: Some(id % 4),
            package: Some(id % 8 / 4),
            node: Some(id % 8 / 4),
            siblings: vec![id % 8, id % 8 + 8],
            kind: None,
        };
        let cache = |level: u32, first: u32, count: u32| Cache {
            level,
            kind: if level == 1 {
                CacheKind::Data
            } else {
                CacheKind::Unified
            },
            size: Bytes::kib(32),
            line: None,
            ways: None,
            cpus: CpuList(
                (first..first + count)
                    .chain(first + 8..first + 8 + count)
                    .collect(),
            ),
        };
        let caches = (0..8)
            .map(|c| cache(1, c, 1))
            .chain((0..8).map(|c| cache(2, c, 1)));
        let instructions = Cache {
            kind: CacheKind::Instruction,
            ..cache(1, 0, 8)
        };
        Topology {
            cpus: (0..16).map(cpu).collect(),
            cpus_source: String::new(),
            caches: caches
                .chain([0, 2, 4, 6].map(|c| cache(3, c, 2)))
                .chain([instructions])
                .collect(),
            caches_source: String::new(),
            nodes: Vec::new(),
            nodes_source: String::new(),
        }
    }

    #[test]
    fn pairs_are_told_apart_by_the_nearest_thing_they_share() {
        let places = Places::new(&topology());
        for (pair, relation) in [
            ((0, 8), "same-core"),
            ((0, 1), "shared-l3"),
            ((9, 0), "shared-l3"),
            ((0, 2), "same-package"),
            ((3, 4), "cross-package"),
            ((0, 99), "unknown"),
        ] {
            assert_eq!(
                places.relation(pair.0, pair.1).to_string(),
                relation,
                "{pair:?}"
            );
            assert_eq!(
                places.relation(pair.1, pair.0).to_string(),
                relation,
                "{pair:?}"
            );
        }
        let mut unknown = topology();
        unknown.caches.clear();
        unknown.cpus.iter_mut().for_each(|cpu| cpu.package = None);
        assert_eq!(Places::new(&unknown).relation(0, 1), Relation::Unknown);
        assert_eq!(Places::new(&unknown).relation(0, 8), Relation::SameCore);
    }

    #[test]
    fn neighbours_in_order_share_most() {
        let places = Places::new(&topology());
        let all: Vec<u32> = (0..16).rev().collect();
        assert_eq!(
            places.ordered(&all),
            [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]
        );
        assert_eq!(places.group(0), places.group(9));
        assert_ne!(places.group(0), places.group(2));
        assert_eq!(places.group(99), None);
    }
}
