//! The nodes to measure: nodes whose CPUs access memory, and nodes whose memory is accessed.

use super::findings::COMMAND;
use super::settings::Settings;
use crate::experiment::{Detail, Scope};
use crate::lists::Spread;
use crate::nodes::{available, with_memory};
use crate::series::unique;
use engine::share_of;
use host::memory::Place;
use report::Outcome;
use std::collections::{BTreeMap, BTreeSet};
use units::error::Result;
use units::{Bytes, CpuList, ThreadCount};

/// Drop priority of local memory. Remote and interleaved memory have higher numbers, so they are
/// dropped first when time is short.
pub const DROP_PRIORITY: u8 = 1;

/// Largest number of distances between nodes that the default profile measures.
const FEW: usize = 4;

/// Largest number of node pairs in the full profile. All pairs of four nodes fit; more nodes get a
/// choice of pairs.
const MANY: usize = 24;

/// A node whose CPUs access memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuNode {
    /// Id of the node.
    pub id: u32,
    /// CPUs of the session on the node.
    pub cpus: Vec<u32>,
    /// CPUs of the node that run a thread.
    pub threads: Vec<u32>,
}

/// The nodes with CPUs and the nodes with memory that are measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ends {
    /// Nodes with CPUs.
    pub cpu_nodes: Vec<CpuNode>,
    /// Pairs of an index into `cpu_nodes` and the id of a node with memory. Tables show the pairs
    /// in this order.
    pub pairs: Vec<(usize, u32)>,
    /// Nodes over which memory is interleaved.
    shared: Vec<u32>,
    /// Number of CPU nodes from which interleaved memory is measured: the first ones in
    /// `cpu_nodes`.
    pub spreading: usize,
}

impl Ends {
    /// The nodes that `settings` request. `None` in a profile with other experiments on a machine
    /// of one node, because the other experiments measure this node's memory.
    pub fn new(
        settings: &Settings,
        detail: Option<Detail>,
        scope: &Scope<'_>,
    ) -> Result<Option<Self>> {
        let topology = &scope.facts().topology;
        let memory = with_memory(scope);
        let named = settings.cpu_nodes.is_some() || settings.memory_nodes.is_some();
        let mut cpus = cpus_by_node(scope);
        let with_cpus: Vec<u32> = cpus.keys().copied().collect();
        let one = topology.nodes.len() < 2 || memory.len() < 2 && with_cpus.len() < 2;
        if one && !named && detail.is_some() && !is_all_that_is_requested(scope) {
            return Ok(None);
        }
        let cpu_ids = settings
            .cpu_nodes
            .as_ref()
            .map_or_else(|| with_cpus.clone(), |list| list.0.clone());
        available(
            &cpu_ids,
            &with_cpus,
            "nodes with CPUs of this session are",
            "--cpu-nodes",
        )?;
        let memory_ids = settings
            .memory_nodes
            .as_ref()
            .map_or_else(|| memory.clone(), |list| list.0.clone());
        available(
            &memory_ids,
            &memory,
            "nodes with memory are",
            "--memory-nodes",
        )?;
        let count = settings.threads()?;
        let cpu_nodes: Vec<CpuNode> = unique(cpu_ids)
            .into_iter()
            .map(|id| cpu_node(scope, id, cpus.remove(&id).unwrap_or_default(), count))
            .collect();
        let memory_ids = unique(memory_ids);
        let every = |cpus: usize| memory_ids.iter().map(move |&memory| (cpus, memory));
        let mut pairs: Vec<(usize, u32)> = (0..cpu_nodes.len()).flat_map(every).collect();
        let all = pairs.len();
        match detail {
            Some(Detail::Levels) => pairs = of_each_distance(scope, &cpu_nodes, &pairs),
            Some(_) => pairs = representative(scope, &cpu_nodes, &pairs),
            None => {}
        }
        let spreading = if pairs.len() < all {
            1
        } else {
            cpu_nodes.len()
        };
        let allowed = |id: &u32| {
            topology
                .node(*id)
                .is_none_or(|node| node.allowed != Some(false))
        };
        let shared: Vec<u32> = memory_ids.iter().copied().filter(allowed).collect();
        Ok(Some(Self {
            cpu_nodes,
            pairs,
            shared,
            spreading,
        }))
    }

    /// CPUs of all threads on all nodes.
    pub fn all_threads(&self) -> Vec<u32> {
        self.cpu_nodes
            .iter()
            .flat_map(|node| node.threads.iter().copied())
            .collect()
    }

    /// True if every node with CPUs also has memory that is measured.
    pub fn all_local(&self) -> bool {
        self.cpu_nodes
            .iter()
            .all(|node| self.shared.contains(&node.id))
    }

    /// Place of memory that is interleaved over the nodes. `None` if there is only one such node,
    /// or if `spread` is [`Spread::None`].
    pub fn interleaved(&self, spread: Spread) -> Option<Place> {
        let nodes = || self.shared.clone();
        match spread {
            _ if self.shared.len() < 2 => None,
            Spread::None => None,
            Spread::Even => Some(Place::Interleaved(nodes())),
            // If the kernel lacks weighted interleaving, the point is unsupported.
            Spread::Weighted => Some(Place::Weighted(nodes())),
        }
    }
}

/// CPUs of the session by NUMA node. If the system reports at most one node, all CPUs are on it.
fn cpus_by_node(scope: &Scope<'_>) -> BTreeMap<u32, Vec<u32>> {
    let topology = &scope.facts().topology;
    let only = match &topology.nodes[..] {
        [] => Some(0),
        [node] => Some(node.id),
        _ => None,
    };
    let known: BTreeMap<u32, u32> = topology
        .cpus
        .iter()
        .filter_map(|cpu| Some((cpu.id, cpu.node?)))
        .collect();
    let mut nodes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &cpu in scope.cpus {
        if let Some(node) = known.get(&cpu).copied().or(only) {
            nodes.entry(node).or_default().push(cpu);
        }
    }
    nodes
}

/// Node `id` with `cpus`, its CPUs of the session. `count` of these CPUs run a thread. Without a
/// count, one CPU of each physical core does.
fn cpu_node(scope: &Scope<'_>, id: u32, cpus: Vec<u32>, count: Option<ThreadCount>) -> CpuNode {
    let topology = &scope.facts().topology;
    let cores: BTreeMap<u32, u32> = topology
        .cpus
        .iter()
        .filter_map(|cpu| Some((cpu.id, cpu.siblings.iter().copied().min()?)))
        .collect();
    // The first hardware thread of every core comes before the second of any core.
    let mut threads_of_core: BTreeMap<u32, usize> = BTreeMap::new();
    let mut order: Vec<(usize, u32)> = Vec::new();
    for &cpu in &cpus {
        let core = cores.get(&cpu).copied().unwrap_or(cpu);
        let before = threads_of_core.entry(core).or_default();
        order.push((*before, cpu));
        *before += 1;
    }
    order.sort_by_key(|(position, _)| *position);
    let wanted = count
        .and_then(|count| count.resolve(cpus.len()))
        .unwrap_or(threads_of_core.len());
    let threads = order
        .into_iter()
        .map(|(_, cpu)| cpu)
        .take(wanted.max(1))
        .collect();
    CpuNode { id, cpus, threads }
}

/// One of `pairs` for each distance from one CPU node, local memory first. The first CPU node that
/// has memory is taken. The result has at most [`FEW`] pairs.
fn of_each_distance(
    scope: &Scope<'_>,
    cpu_nodes: &[CpuNode],
    pairs: &[(usize, u32)],
) -> Vec<(usize, u32)> {
    let local = pairs
        .iter()
        .find(|(cpus, memory)| cpu_nodes[*cpus].id == *memory);
    let Some(&(first, own)) = local.or(pairs.first()) else {
        return Vec::new();
    };
    let mut seen = BTreeSet::new();
    let mut chosen: Vec<(usize, u32)> = pairs
        .iter()
        .copied()
        .filter(|(cpus, _)| *cpus == first)
        .collect();
    chosen.sort_by_key(|(_, memory)| (*memory != own, *memory));
    chosen.retain(|(_, memory)| {
        seen.insert(
            scope
                .facts()
                .topology
                .distance(cpu_nodes[first].id, *memory),
        )
    });
    chosen.truncate(FEW);
    chosen
}

/// At most [`MANY`] of `pairs`, in the order of `pairs`. The pairs of [`of_each_distance`] are
/// preferred, then each node with its own memory, then all others.
fn representative(
    scope: &Scope<'_>,
    cpu_nodes: &[CpuNode],
    pairs: &[(usize, u32)],
) -> Vec<(usize, u32)> {
    let distances = of_each_distance(scope, cpu_nodes, pairs);
    let is_local = |(cpus, memory): &(usize, u32)| cpu_nodes[*cpus].id == *memory;
    let mut order: Vec<(usize, u32)> = pairs.to_vec();
    order.sort_by_key(|pair| {
        if distances.contains(pair) {
            0
        } else {
            2 - u8::from(is_local(pair))
        }
    });
    order.truncate(MANY);
    pairs
        .iter()
        .copied()
        .filter(|pair| order.contains(pair))
        .collect()
}

/// [`Outcome::Skipped`] or [`Outcome::Unsupported`] if `bytes` of memory at `place` are not
/// available. `None` if they are.
pub fn no_room(scope: &Scope<'_>, place: &Place, bytes: Bytes) -> Option<Outcome> {
    let topology = &scope.facts().topology;
    if let Some(outcome) = scope.no_room(bytes, bytes) {
        return Some(outcome);
    }
    if let Place::Weighted(nodes) = place
        && nodes
            .iter()
            .any(|&id| topology.node(id).is_some_and(|node| node.weight.is_none()))
    {
        let reason = "this system has no weights for interleaving (Linux 6.9 and newer have them)"
            .to_owned();
        return Some(Outcome::Unsupported { reason });
    }
    place.nodes().iter().find_map(|&id| {
        let node = topology.node(id)?;
        if node.allowed == Some(false) {
            let reason = format!(
                "this process may not use memory of node {id} \
                 (Mems_allowed_list)"
            );
            return Some(Outcome::Skipped { reason });
        }
        let share = Bytes((bytes.0 as f64 * share_of(place, id, &topology.nodes)).ceil() as u64);
        let usable = node.usable().filter(|&usable| share > usable)?;
        let reason = format!(
            "{share} do not fit into the {usable} that may be used of node {id}; type \
                 smaller --sizes"
        );
        Some(Outcome::Skipped { reason })
    })
}

/// True if the experiments of `memgauge numa` are the only experiments of the session.
fn is_all_that_is_requested(scope: &Scope<'_>) -> bool {
    scope
        .experiments
        .iter()
        .all(|name| ["numa", "numa-latency"].contains(name))
}

/// Texts about CPUs and pairs of nodes that are left out.
pub fn adjustments(settings: &Settings, detail: Option<Detail>, scope: &Scope<'_>) -> Vec<String> {
    let Ok(Some(ends)) = Ends::new(settings, detail, scope) else {
        return Vec::new();
    };
    let at_home: BTreeSet<u32> = cpus_by_node(scope).into_values().flatten().collect();
    let homeless: Vec<u32> = scope
        .cpus
        .iter()
        .copied()
        .filter(|cpu| !at_home.contains(cpu))
        .collect();
    let mut said = Vec::new();
    if !homeless.is_empty() {
        let cpus = CpuList(homeless);
        said.push(format!(
            "numa: the system does not report the node of cpus {cpus}, which are left out"
        ));
    }
    let idle: Vec<u32> = ends.cpu_nodes.iter().map(|node| node.id).collect();
    let without: Vec<u32> = with_memory(scope)
        .into_iter()
        .filter(|id| !idle.contains(id) && settings.cpu_nodes.is_none())
        .collect();
    if !without.is_empty() {
        let nodes = CpuList(without);
        said.push(format!(
            "numa: node {nodes} has no cpu of this session; its memory is measured from other nodes"
        ));
    }
    let all = ends.cpu_nodes.len() * with_memory(scope).len();
    if detail.is_some() && ends.pairs.len() < all {
        let chosen = ends.pairs.len();
        let which = if detail == Some(Detail::Levels) {
            "one of each distance"
        } else {
            "one of each distance among them"
        };
        said.push(format!(
            "numa: {chosen} of {all} pairs of nodes, {which}; memgauge {} has all",
            COMMAND
        ));
    }
    said
}
