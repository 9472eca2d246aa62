//! Computes the rates of simulated threads that share a CPU, a core, a last-level cache or a node.

use crate::cost_model::{CostModel, SharingModel};
use engine::{StreamWork, TableOrder};
use host::memory::Place;
use kernels::{AccessOrder, Width};
use report::{CacheKind, Cpu, HostFacts, Topology};
use std::collections::BTreeMap;
use units::BytesPerSecond;

/// Payload bytes per second of all threads of `work`, if the cache level or memory with the index
/// `level` serves them. The second value is the rate of the slowest thread divided by the rate of
/// the fastest.
pub fn stream_rate(
    model: &CostModel,
    facts: &HostFacts,
    work: &StreamWork,
    level: usize,
) -> (f64, f64) {
    let memory = level + 1 == model.levels.len();
    let contract = work.operation.contract();
    // A store takes twice as long as a load. Write-allocate has a cost only if the level is memory.
    let store = if contract.stores > 0 { 0.5 } else { 1.0 };
    let allocate = if memory {
        contract.payload_factor() as f64 / contract.bus_factor() as f64
    } else {
        1.0
    };
    let one = model.levels[level].read.0
        * if contract.loads > 0 && contract.stores > 0 {
            1.0
        } else {
            store
        };
    let total = memory.then_some((model.memory_total, store.max(0.75)));
    let shared = model.sharing.rates(&facts.topology, &work.cpus, one, total);
    let (all, fairness) = total
        .and_then(|(_, of)| Some((by_node(model, facts, work, one / of)? * of, 1.0)))
        .unwrap_or(shared);
    let choice = model
        .choices
        .iter()
        .find(|(id, _)| work.width == Width::Set(*id))
        .map_or(1.0, |c| c.1);
    let order = match (contract.visits, &work.order) {
        (AccessOrder::Backward, _) => 0.98,
        (_, Some(TableOrder::Strided(stride))) => (64.0 / stride.0 as f64).max(0.05),
        (_, Some(TableOrder::Random(block, _))) => block.0 as f64 / (block.0 as f64 + 256.0),
        _ => 1.0,
    };
    (all * allocate * choice * order, fairness)
}

/// Bytes per second that all threads of `work` together read from the memory of the nodes. `one` is
/// the rate of a thread without other threads. `None` if memory costs the same on all nodes.
fn by_node(model: &CostModel, facts: &HostFacts, work: &StreamWork, one: f64) -> Option<f64> {
    let node = |cpu: u32| facts.topology.node_of(cpu).unwrap_or(0);
    let threads: Vec<(u32, Place)> = work
        .cpus
        .iter()
        .map(|&cpu| (node(cpu), work.memory_of(cpu, facts)))
        .collect();
    model.nodes.rate(&threads, one, facts)
}

impl SharingModel {
    /// Rate of all threads on `cpus` together. The second value is the rate of the slowest thread
    /// divided by the rate of the fastest. `one` is the rate of one thread alone. For streams
    /// through memory, `memory` has the bandwidth of memory, and the share of this bandwidth that
    /// the operation can reach. `None` for other streams.
    pub fn rates(
        &self,
        topology: &Topology,
        cpus: &[u32],
        one: f64,
        memory: Option<(BytesPerSecond, f64)>,
    ) -> (f64, f64) {
        let mut rates = self.in_cores(topology, cpus, one);
        if let Some((total, reached)) = memory {
            let node = |cpu: u32| topology.node_of(cpu).unwrap_or(0);
            if let Some(limit) = self.cluster {
                let clusters = clusters(topology);
                let cluster = |cpu: u32| clusters.get(&cpu).copied().unwrap_or(cpu);
                limit_groups(cpus, &mut rates, cluster, limit.0 * reached);
            }
            if let Some(limit) = self.node {
                limit_groups(cpus, &mut rates, node, limit.0 * reached);
            }
            let limit = total.0 * reached;
            let beyond = (cpus.len() as f64 - (limit / one).ceil()).max(0.0);
            limit_groups(
                cpus,
                &mut rates,
                |_| 0,
                limit * (1.0 - self.crowding * beyond).max(0.1),
            );
        }
        let (least, most) = rates
            .iter()
            .fold((f64::INFINITY, 0.0), |(l, m), &r| (r.min(l), r.max(m)));
        (
            rates.iter().sum(),
            if most > 0.0 { least / most } else { 1.0 },
        )
    }

    /// Rate of each thread if only its CPU and its core, which it may share, limit it.
    fn in_cores(&self, topology: &Topology, cpus: &[u32], one: f64) -> Vec<f64> {
        let known: BTreeMap<u32, &Cpu> = topology.cpus.iter().map(|cpu| (cpu.id, cpu)).collect();
        let core = |cpu: u32| {
            known
                .get(&cpu)
                .and_then(|c| c.siblings.iter().min().copied())
                .unwrap_or(cpu)
        };
        let mut on_cpu: BTreeMap<u32, f64> = BTreeMap::new();
        for &cpu in cpus {
            *on_cpu.entry(cpu).or_default() += 1.0;
        }
        let mut in_core: BTreeMap<u32, f64> = BTreeMap::new();
        for &cpu in on_cpu.keys() {
            *in_core.entry(core(cpu)).or_default() += 1.0;
        }
        let rate = |&cpu: &u32| {
            let kind = self
                .slower
                .as_ref()
                .filter(|(slow, _)| slow.contains(&cpu))
                .map_or(1.0, |(_, share)| *share);
            let threads = on_cpu[&cpu];
            let turns = if threads > 1.0 {
                (1.0 - self.switching) / threads
            } else {
                1.0
            };
            let siblings = in_core[&core(cpu)];
            let core = self
                .core
                .filter(|_| siblings > 1.0)
                .map_or(1.0, |both| both / siblings);
            one * kind * turns * core
        };
        cpus.iter().map(rate).collect()
    }
}

/// Reduces `rates` so that the threads of each group together have at most the rate `limit`.
/// `group` returns the group of a CPU.
fn limit_groups(cpus: &[u32], rates: &mut [f64], group: impl Fn(u32) -> u32, limit: f64) {
    let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
    for (&cpu, &rate) in cpus.iter().zip(rates.iter()) {
        *sums.entry(group(cpu)).or_default() += rate;
    }
    for (&cpu, rate) in cpus.iter().zip(rates.iter_mut()) {
        let sum = sums[&group(cpu)];
        if sum > limit {
            *rate *= limit / sum;
        }
    }
}

/// Last-level cache of each CPU, identified by the lowest number of the CPUs that use this cache.
fn clusters(topology: &Topology) -> BTreeMap<u32, u32> {
    let mut last: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for cache in topology
        .caches
        .iter()
        .filter(|cache| cache.kind != CacheKind::Instruction)
    {
        let first = cache.cpus.0.iter().copied().min().unwrap_or_default();
        for cpu in &cache.cpus.0 {
            let known = last.entry(*cpu).or_insert((cache.level, first));
            *known = (*known).max((cache.level, first));
        }
    }
    last.into_iter()
        .map(|(cpu, (_, first))| (cpu, first))
        .collect()
}
