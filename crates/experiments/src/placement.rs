//! Order in which CPUs get threads, and the numbers of threads that fill a core, cluster, node or
//! socket.

use crate::lists::Placement;
use crate::series::grouped;
use report::{CacheKind, Places, Topology};
use std::collections::{BTreeMap, BTreeSet};
use units::CpuList;

/// Position of a CPU: ids of its package, node, cluster (CPUs that share a last-level cache) and
/// core.
type Position = [u32; 4];

/// Up to this number of CPUs, every number of threads is measured; above it, a selection.
const ALL_COUNTS: usize = 32;

/// CPUs with their positions in the machine.
pub struct Placing {
    /// CPUs in the order in which they were given.
    cpus: Vec<(u32, Position)>,
}

impl Placing {
    /// Positions of `cpus` on a machine with this topology. All CPUs whose package is unknown count
    /// as one package. The same holds for nodes and clusters. A CPU whose core is unknown has a
    /// core of its own.
    pub fn new(topology: &Topology, cpus: &[u32]) -> Self {
        let places = Places::new(topology);
        let known: BTreeMap<u32, &report::Cpu> =
            topology.cpus.iter().map(|cpu| (cpu.id, cpu)).collect();
        let position = |&id: &u32| {
            let cpu = known.get(&id);
            let cluster = places
                .group(id)
                .and_then(|group| group.last_level)
                .map_or(0, |cache| cache.first_cpu);
            let core = cpu
                .and_then(|cpu| cpu.siblings.iter().min().copied())
                .unwrap_or(id);
            let (package, node) = cpu.map_or((None, None), |cpu| (cpu.package, cpu.node));
            (id, [package.unwrap_or(0), node.unwrap_or(0), cluster, core])
        };
        Self {
            cpus: cpus.iter().map(position).collect(),
        }
    }

    /// CPUs in the order of `placement`.
    pub fn order(&self, placement: Placement) -> Vec<u32> {
        let ids = |cpus: Vec<(u32, Position)>| cpus.into_iter().map(|(id, _)| id).collect();
        match placement {
            Placement::Compact => {
                let mut cpus = self.cpus.clone();
                cpus.sort_by_key(|(id, position)| (*position, *id));
                ids(cpus)
            }
            Placement::Spread => {
                let mut rounds: BTreeMap<usize, Vec<(u32, Position)>> = BTreeMap::new();
                let mut in_core: BTreeMap<Position, usize> = BTreeMap::new();
                for &(id, position) in &self.cpus {
                    let round = in_core.entry(position).or_default();
                    rounds.entry(*round).or_default().push((id, position));
                    *round += 1;
                }
                ids(rounds
                    .into_values()
                    .flat_map(|cpus| interleaved(cpus, 0))
                    .collect())
            }
        }
    }

    /// Number of CPUs.
    pub fn len(&self) -> usize {
        self.cpus.len()
    }

    /// Number of physical cores of `cpus`, which must be some of these CPUs.
    pub fn cores_of(&self, cpus: &[u32]) -> usize {
        let used: BTreeSet<u32> = cpus.iter().copied().collect();
        let used = self.cpus.iter().filter(|(id, _)| used.contains(id));
        used.map(|(_, position)| position)
            .collect::<BTreeSet<_>>()
            .len()
    }

    /// Number of packages (`depth` 1), nodes (2), clusters (3) or cores (4) of these CPUs.
    fn count(&self, depth: usize) -> usize {
        self.cpus
            .iter()
            .map(|(_, position)| &position[..depth])
            .collect::<BTreeSet<_>>()
            .len()
    }

    /// Numbers of threads to measure, rising. On at most `ALL_COUNTS` CPUs, these are all
    /// numbers. On more CPUs, they are a selection. It has the numbers at which every socket, node,
    /// cluster or core has a thread. It also has the numbers at which a socket, node or cluster is
    /// full.
    pub fn counts(&self) -> Vec<usize> {
        let all = self.cpus.len();
        if all <= ALL_COUNTS {
            return (1..=all).collect();
        }
        let ladder = (0..usize::BITS - 1).flat_map(|exponent| [1 << exponent, 3 << exponent]);
        let mut counts: BTreeSet<usize> = ladder.filter(|&count| count < all).collect();
        counts.extend((1..=4).map(|depth| self.count(depth)));
        let mut compact: Vec<Position> = self.cpus.iter().map(|(_, position)| *position).collect();
        compact.sort_unstable();
        // Numbers of CPUs in compact order after which the next CPU is in another cluster. A CPU in
        // another node or socket is in another cluster too.
        let ends = (1..all).filter(|&count| compact[count][..3] != compact[count - 1][..3]);
        // If each core has its own last-level cache, every number would fill a cluster.
        if self.count(3) < self.count(4) {
            counts.extend(ends);
        } else {
            counts.extend(ends.filter(|&count| compact[count][..2] != compact[count - 1][..2]));
        }
        counts.insert(all);
        counts.into_iter().collect()
    }

    /// At most `most` numbers of threads; `most` is at least 3. They are one thread, one per core,
    /// one per CPU, and numbers that close the largest gaps.
    pub fn few_counts(&self, most: usize) -> Vec<usize> {
        let counts = self.counts();
        let mut kept: BTreeSet<usize> = counts
            .iter()
            .copied()
            .filter(|&n| n == 1 || n == self.cpus.len())
            .collect();
        kept.extend(counts.iter().copied().filter(|&n| n == self.count(4)));
        let apart = |kept: &BTreeSet<usize>, n: usize| {
            let ratios = kept.iter().map(|&k| (n as f64 / k as f64).ln().abs());
            ratios.fold(f64::INFINITY, f64::min)
        };
        while kept.len() < most.min(counts.len()) {
            let farthest = counts
                .iter()
                .copied()
                .rev()
                .max_by(|&a, &b| apart(&kept, a).total_cmp(&apart(&kept, b)));
            kept.extend(farthest);
        }
        kept.into_iter().collect()
    }
}

/// `cpus` in an order that takes one CPU of each group in turn. CPUs of a group have the same
/// position up to `depth`. Inside a group, CPUs are put in order in the same way, for the next
/// depth.
fn interleaved(cpus: Vec<(u32, Position)>, depth: usize) -> Vec<(u32, Position)> {
    if depth == 3 {
        return cpus;
    }
    let groups: Vec<Vec<_>> = grouped(cpus, |cpu| cpu.1[depth])
        .into_iter()
        .map(|(_, group)| interleaved(group, depth + 1))
        .collect();
    let longest = groups.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .flat_map(|round| {
            groups
                .iter()
                .filter_map(move |group| group.get(round).copied())
        })
        .collect()
}

/// `cpus` by kind of core, in the order in which the kinds first appear. Cores have different kinds
/// if the system says so, or if their L1 or L2 caches differ in size. One group if all cores are
/// alike or nothing is known about them.
pub fn kinds(topology: &Topology, cpus: &[u32]) -> Vec<CpuList> {
    let mut sizes: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
    for cache in topology
        .caches
        .iter()
        .filter(|cache| cache.kind != CacheKind::Instruction && cache.level <= 2)
    {
        for &cpu in &cache.cpus.0 {
            sizes
                .entry(cpu)
                .or_default()
                .insert(cache.level, cache.size.0);
        }
    }
    let named: BTreeMap<u32, &str> = topology
        .cpus
        .iter()
        .filter_map(|cpu| Some((cpu.id, cpu.kind.as_deref()?)))
        .collect();
    grouped(cpus.iter().copied(), |cpu| (named.get(cpu), sizes.get(cpu)))
        .into_iter()
        .map(|(_, group)| CpuList(group))
        .collect()
}
