//! The topology of a system that reports it by calls.

use crate::reported::ReportedTopology;
use report::{Cache, Cpu, Node, Topology};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, CpuList};

/// Builds the topology from the reported parts. CPUs that are not online are left out. `memory` is
/// the machine's total memory, for a machine with a single NUMA node. `own_caches` returns the
/// caches that the processor itself describes, for a system that reports no caches. `None` if no
/// CPU is reported online.
pub fn topology(
    reported: &ReportedTopology,
    memory: Option<Bytes>,
    own_caches: impl Fn(&BTreeSet<u32>) -> (Vec<Cache>, String),
) -> Option<Topology> {
    let online: BTreeSet<u32> = reported.online.iter().copied().collect();
    if online.is_empty() {
        return None;
    }
    let (nodes, nodes_source) = nodes(reported, &online, memory);
    let (caches, caches_source) = match caches(reported, &online) {
        caches if caches.is_empty() => own_caches(&online),
        caches => (caches, reported.caches_source.clone()),
    };
    Some(Topology {
        cpus: cpus(reported, &online, &nodes),
        cpus_source: reported.cpus_source.clone(),
        caches,
        caches_source,
        nodes,
        nodes_source,
    })
}

/// The CPUs of `cpus` that are online, in rising order, each once.
fn kept(cpus: &[u32], online: &BTreeSet<u32>) -> Vec<u32> {
    let all: BTreeSet<u32> = cpus.iter().copied().collect();
    all.intersection(online).copied().collect()
}

fn cpus(reported: &ReportedTopology, online: &BTreeSet<u32>, nodes: &[Node]) -> Vec<Cpu> {
    let usable: Option<BTreeSet<u32>> = reported
        .usable
        .as_ref()
        .map(|cpus| cpus.iter().copied().collect());
    let kinds: BTreeSet<Option<&str>> = reported
        .cores
        .iter()
        .map(|core| core.kind.as_deref())
        .collect();
    let mut cpus: BTreeMap<u32, Cpu> = online
        .iter()
        .map(|&id| {
            let package = reported
                .packages
                .iter()
                .position(|members| members.contains(&id));
            let node = nodes.iter().find(|node| node.cpus.0.contains(&id));
            let cpu = Cpu {
                id,
                allowed: usable.as_ref().is_none_or(|list| list.contains(&id)),
                core: None,
                package: package.map(|package| package as u32),
                node: node.map(|node| node.id),
                siblings: vec![id],
                kind: None,
            };
            (id, cpu)
        })
        .collect();
    // Core numbers restart at 0 in each package, as on Linux.
    let mut numbers: BTreeMap<Option<u32>, u32> = BTreeMap::new();
    for core in &reported.cores {
        let siblings = kept(&core.cpus, online);
        let Some(first) = siblings.first().and_then(|first| cpus.get(first)) else {
            continue;
        };
        let next = numbers.entry(first.package).or_default();
        let number = *next;
        *next += 1;
        for id in &siblings {
            // If several cores name a CPU, it belongs to the first one.
            if let Some(cpu) = cpus.get_mut(id).filter(|cpu| cpu.core.is_none()) {
                cpu.core = Some(number);
                cpu.siblings.clone_from(&siblings);
                cpu.kind = core.kind.clone().filter(|_| kinds.len() > 1);
            }
        }
    }
    cpus.into_values().collect()
}

/// The reported caches, each once. Caches without a level, a size or an online CPU are left out.
fn caches(reported: &ReportedTopology, online: &BTreeSet<u32>) -> Vec<Cache> {
    let mut found = BTreeMap::new();
    for cache in &reported.caches {
        let cpus = kept(&cache.cpus.0, online);
        if cpus.is_empty() || cache.size.0 == 0 || cache.level == 0 {
            continue;
        }
        let cache = Cache {
            cpus: CpuList(cpus.clone()),
            ..cache.clone()
        };
        found
            .entry((cache.level, cache.kind, cpus))
            .or_insert(cache);
    }
    found.into_values().collect()
}

/// The NUMA nodes and the source. If no node has a CPU, the result is a single node with all CPUs.
fn nodes(
    reported: &ReportedTopology,
    online: &BTreeSet<u32>,
    memory: Option<Bytes>,
) -> (Vec<Node>, String) {
    let count = reported.nodes.len();
    let mut nodes: BTreeMap<u32, Node> = BTreeMap::new();
    let mut left = online.clone();
    for node in &reported.nodes {
        let cpus = kept(&node.cpus, &left);
        left.retain(|cpu| !cpus.contains(cpu));
        let distances = Some(&node.distances).filter(|all| all.len() == count);
        let made = Node {
            id: node.id,
            cpus: CpuList(cpus),
            memory: memory.filter(|_| count == 1),
            distances: match distances {
                Some(distances) => distances.clone(),
                None if count == 1 => vec![10],
                None => Vec::new(),
            },
            available: node.available.map(Bytes),
            ..Node::default()
        };
        nodes.entry(node.id).or_insert(made);
    }
    if nodes.values().any(|node| !node.cpus.0.is_empty()) {
        return (nodes.into_values().collect(), reported.nodes_source.clone());
    }
    let single = Node {
        cpus: CpuList(online.iter().copied().collect()),
        memory,
        distances: vec![10],
        ..Node::default()
    };
    (
        vec![single],
        "the system reports no nodes: taken as one node".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reported::{ReportedCore, ReportedNode};
    use report::CacheKind;

    fn core(cpus: &[u32], kind: &str) -> ReportedCore {
        ReportedCore {
            cpus: cpus.to_vec(),
            kind: Some(kind.to_owned()),
        }
    }

    fn cache(level: u32, size: Bytes, cpus: &[u32]) -> Cache {
        Cache {
            level,
            kind: CacheKind::Unified,
            size,
            line: None,
            ways: None,
            cpus: CpuList(cpus.to_vec()),
        }
    }

    fn made(reported: &ReportedTopology) -> Option<Topology> {
        topology(reported, Some(Bytes::gib(8)), |_| {
            (vec![], "own".to_owned())
        })
    }

    /// Two packages of two cores; the first core of the first package has two CPUs.
    fn two_packages() -> ReportedTopology {
        ReportedTopology {
            online: vec![0, 1, 2, 64, 65],
            usable: Some(vec![0, 64]),
            cores: vec![
                core(&[0, 1], "a"),
                core(&[2], "b"),
                core(&[64], "b"),
                core(&[65], "b"),
            ],
            packages: vec![vec![0, 1, 2], vec![64, 65]],
            caches: vec![
                cache(2, Bytes::mib(1), &[0, 1]),
                cache(3, Bytes::mib(8), &[64, 65, 66]),
            ],
            nodes: vec![
                ReportedNode {
                    id: 0,
                    cpus: vec![0, 1, 2],
                    available: Some(1 << 30),
                    distances: vec![],
                },
                ReportedNode {
                    id: 1,
                    cpus: vec![64, 65],
                    ..ReportedNode::default()
                },
            ],
            ..ReportedTopology::default()
        }
    }

    #[test]
    fn parts_are_put_together() {
        let made = made(&two_packages()).unwrap();
        let cpu = |id| made.cpus.iter().find(|cpu| cpu.id == id).unwrap();
        assert_eq!(made.allowed(), [0, 64]);
        assert_eq!(cpu(1).siblings, [0, 1]);
        assert_eq!((cpu(2).core, cpu(2).package), (Some(1), Some(0)));
        assert_eq!((cpu(65).core, cpu(65).package), (Some(1), Some(1)));
        assert_eq!(cpu(0).kind.as_deref(), Some("a"));
        assert_eq!(made.node_of(65), Some(1));
        assert_eq!(made.caches[1].cpus.0, [64, 65], "CPU 66 is not online");
        assert_eq!(made.nodes[0].available, Some(Bytes::gib(1)));
        assert_eq!(made.nodes[0].memory, None, "the total is of both nodes");
        assert!(made.nodes[0].distances.is_empty());
    }

    #[test]
    fn cores_of_one_kind_have_no_kind() {
        let mut reported = two_packages();
        reported.cores[0].kind = Some("b".to_owned());
        let made = made(&reported).unwrap();
        assert!(made.cpus.iter().all(|cpu| cpu.kind.is_none()));
    }

    #[test]
    fn missing_and_odd_parts_are_unknown() {
        assert_eq!(made(&ReportedTopology::default()), None);
        let reported = ReportedTopology {
            online: vec![3, 1],
            cores: vec![core(&[9], "a"), core(&[], "b")],
            caches: vec![cache(0, Bytes::mib(1), &[1]), cache(1, Bytes(0), &[1])],
            nodes: vec![ReportedNode::default()],
            ..ReportedTopology::default()
        };
        let made = made(&reported).unwrap();
        assert!(made.cpus.iter().all(|cpu| cpu.core.is_none()));
        assert_eq!(made.allowed(), [1, 3]);
        assert_eq!(made.caches_source, "own");
        assert_eq!(made.nodes.len(), 1);
        assert_eq!(made.nodes[0].cpus.0, [1, 3]);
        assert_eq!(made.nodes[0].memory, Some(Bytes::gib(8)));
    }
}
