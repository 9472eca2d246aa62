//! The topology of the machine: CPUs, caches and NUMA nodes.

mod kinds;
mod reported;

use super::files::{SystemFiles, field, kilobytes};
use super::limits::{allowed_nodes, reclaimable_on};
use crate::reported::ReportedTopology;
use crate::{os, processor};
use report::{Cache, CacheKind, Cpu, Node, Topology};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, CpuList};

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";
const CPUINFO: &str = "/proc/cpuinfo";
const WEIGHTS: &str = "/sys/kernel/mm/mempolicy/weighted_interleave";

/// Largest number of caches per CPU that are read. No processor has this many, so the limit only
/// matters for invalid files.
const MAX_CACHES: usize = 16;

/// Finds the topology: CPUs with cores and packages, caches with the CPUs that share them, and NUMA
/// nodes. `memory` is the machine's total memory, for a machine with a single NUMA node. `reported`
/// is the topology from calls, on systems without files.
pub fn discover(
    files: &SystemFiles,
    memory: Option<Bytes>,
    reported: Option<&ReportedTopology>,
) -> Topology {
    if let Some(topology) = reported.and_then(|r| reported::topology(r, memory, own_caches)) {
        return topology;
    }
    let (online, online_source) = online(files);
    let (allowed, allowed_source) = allowed(files);
    let (nodes, nodes_source) = nodes(files, &online, memory);
    let (places, places_source) = places(files, &online);
    let node_of: BTreeMap<u32, u32> = nodes
        .iter()
        .flat_map(|node| node.cpus.0.iter().map(move |&cpu| (cpu, node.id)))
        .collect();
    let kinds = kinds::kinds(files, &online);
    let cpus = online.iter().map(|&id| {
        let place = places.get(&id);
        Cpu {
            id,
            allowed: allowed.as_ref().is_none_or(|list| list.contains(&id)),
            core: place.and_then(|place| place.core),
            package: place.and_then(|place| place.package),
            node: node_of.get(&id).copied(),
            siblings: place.map_or_else(|| vec![id], |place| place.siblings.clone()),
            kind: kinds.get(&id).cloned(),
        }
    });
    let cpus: Vec<Cpu> = cpus.collect();
    let (caches, caches_source) = caches(files, &online);
    let cpus_source =
        format!("online: {online_source}; allowed: {allowed_source}; cores: {places_source}");
    Topology {
        cpus,
        cpus_source,
        caches,
        caches_source,
        nodes,
        nodes_source,
    }
}

/// The online CPUs, at least one, and the source.
fn online(files: &SystemFiles) -> (BTreeSet<u32>, String) {
    let path = format!("{CPUS}/online");
    if let Some(cpus) = files.cpus(&path) {
        // Every online CPU has a folder, unless a container masks all folders.
        let folders: BTreeSet<u32> = files
            .names(CPUS)
            .iter()
            .filter_map(|name| name.strip_prefix("cpu")?.parse().ok())
            .collect();
        let there: BTreeSet<u32> = cpus.intersection(&folders).copied().collect();
        return (if there.is_empty() { cpus } else { there }, path);
    }
    let blocks = cpuinfo_blocks(files);
    if !blocks.is_empty() {
        return (blocks.into_keys().collect(), CPUINFO.to_owned());
    }
    match os::allowed_cpus().filter(|cpus| !cpus.is_empty()) {
        Some(cpus) => (
            cpus.into_iter().collect(),
            format!(
                "{} (no list of CPUs: only those allowed)",
                os::AFFINITY_CALL
            ),
        ),
        None => {
            let count = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
            (
                (0..count).collect(),
                "number of threads that the standard library advises".to_owned(),
            )
        }
    }
}

/// CPUs that this process may use (`None` means all), with the source.
fn allowed(files: &SystemFiles) -> (Option<BTreeSet<u32>>, String) {
    let (cpus, source) = allowed_by_any_group(files);
    match cpuset(files) {
        Some(name) => (cpus, format!("{source}, in the cpuset {name}")),
        None => (cpus, source.to_owned()),
    }
}

/// Name of this process's cpuset (cgroup v1); `None` for the root cpuset. Android moves apps
/// between cpusets (`/top-app`, `/background`) as their windows come and go.
fn cpuset(files: &SystemFiles) -> Option<String> {
    let groups = files.read("/proc/self/cgroup")?;
    let name = groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let controllers = parts.next()?;
        let is_cpuset = controllers.split(',').any(|name| name == "cpuset");
        parts.next().filter(|_| is_cpuset)
    })?;
    (name != "/").then(|| name.to_owned())
}

fn allowed_by_any_group(files: &SystemFiles) -> (Option<BTreeSet<u32>>, &'static str) {
    let recorded = || {
        let status = files.read("/proc/self/status")?;
        let list: CpuList = field(&status, "Cpus_allowed_list")?.parse().ok()?;
        Some((Some(list.0.into_iter().collect()), "/proc/self/status"))
    };
    let called = || {
        Some((
            Some(os::allowed_cpus()?.into_iter().collect()),
            os::AFFINITY_CALL,
        ))
    };
    let unknown = (None, "all, since the system does not report");
    if files.is_real() {
        called().or_else(recorded)
    } else {
        recorded()
    }
    .unwrap_or(unknown)
}

/// Position of a CPU in the machine: its core, its package, and the CPUs on the same core.
struct CpuPosition {
    core: Option<u32>,
    package: Option<u32>,
    siblings: Vec<u32>,
}

/// The known positions of CPUs, from /sys, else from /proc/cpuinfo, and the source.
fn places(files: &SystemFiles, online: &BTreeSet<u32>) -> (BTreeMap<u32, CpuPosition>, String) {
    let mut places = BTreeMap::new();
    for &cpu in online {
        let folder = format!("{CPUS}/cpu{cpu}/topology");
        let core = files.read_as(&format!("{folder}/core_id"));
        let siblings = files
            .cpus(&format!("{folder}/core_cpus_list"))
            .or_else(|| files.cpus(&format!("{folder}/thread_siblings_list")));
        if core.is_none() && siblings.is_none() {
            continue;
        }
        let package = files.read_as(&format!("{folder}/physical_package_id"));
        let mut siblings: BTreeSet<u32> = siblings
            .unwrap_or_default()
            .intersection(online)
            .copied()
            .collect();
        siblings.insert(cpu);
        places.insert(
            cpu,
            CpuPosition {
                core,
                package,
                siblings: siblings.into_iter().collect(),
            },
        );
    }
    if !places.is_empty() {
        return (places, format!("{CPUS}/cpu*/topology"));
    }
    let blocks = cpuinfo_blocks(files);
    for (&cpu, &(core, package)) in blocks
        .iter()
        .filter(|(cpu, place)| online.contains(cpu) && place.0.is_some())
    {
        let same = |other: &&u32| **other == cpu || blocks.get(other) == Some(&(core, package));
        let siblings = online.iter().filter(same).copied().collect();
        places.insert(
            cpu,
            CpuPosition {
                core,
                package,
                siblings,
            },
        );
    }
    match places.is_empty() {
        true => (
            places,
            format!("unknown: nothing usable in {CPUS}/cpu*/topology or {CPUINFO}"),
        ),
        false => (places, CPUINFO.to_owned()),
    }
}

/// Core and package of each CPU according to /proc/cpuinfo.
fn cpuinfo_blocks(files: &SystemFiles) -> BTreeMap<u32, (Option<u32>, Option<u32>)> {
    let text = files.read(CPUINFO).unwrap_or_default();
    let number = |block: &str, key: &str| field(block, key).and_then(|value| value.parse().ok());
    text.split("\n\n")
        .filter_map(|block| {
            Some((
                number(block, "processor")?,
                (number(block, "core id"), number(block, "physical id")),
            ))
        })
        .collect()
}

/// All caches of the online CPUs, and the source.
fn caches(files: &SystemFiles, online: &BTreeSet<u32>) -> (Vec<Cache>, String) {
    let mut found: BTreeMap<(u32, CacheKind, Vec<u32>), Cache> = BTreeMap::new();
    let mut unreadable = 0;
    let mut unshared = 0;
    for &cpu in online {
        for index in 0..MAX_CACHES {
            let folder = format!("{CPUS}/cpu{cpu}/cache/index{index}");
            let Some(level) = files.read_as::<u32>(&format!("{folder}/level")) else {
                break;
            };
            let kind = files
                .read(&format!("{folder}/type"))
                .and_then(|text| cache_kind(&text));
            let Some(kind) = kind.filter(|_| level > 0) else {
                unreadable += 1;
                continue;
            };
            let mut sharers = files
                .cpus(&format!("{folder}/shared_cpu_list"))
                .unwrap_or_default();
            unshared += usize::from(sharers.is_empty());
            sharers.insert(cpu);
            let sharers: Vec<u32> = sharers.intersection(online).copied().collect();
            let key = (level, kind, sharers);
            if found.contains_key(&key) {
                continue;
            }
            match sysfs_cache(files, &folder, &key) {
                Some(cache) => drop(found.insert(key, cache)),
                None => unreadable += 1,
            }
        }
    }
    if found.is_empty() {
        return own_caches(online);
    }
    let mut source = format!("{CPUS}/cpu*/cache");
    if unreadable > 0 {
        source += &format!("; {unreadable} entries without a usable size or type are left out");
    }
    if unshared > 0 {
        source += &format!(
            "; {unshared} entries do not report who shares them and count as \
            private"
        );
    }
    (found.into_values().collect(), source)
}

/// Reads the cache in `folder` of /sys. `None` if its size is missing or zero.
fn sysfs_cache(
    files: &SystemFiles,
    folder: &str,
    key: &(u32, CacheKind, Vec<u32>),
) -> Option<Cache> {
    let size: Bytes = files
        .read_as(&format!("{folder}/size"))
        .filter(|size: &Bytes| size.0 > 0)?;
    let line: Option<u64> = files.read_as(&format!("{folder}/coherency_line_size"));
    let ways: Option<u32> = files.read_as(&format!("{folder}/ways_of_associativity"));
    Some(Cache {
        level: key.0,
        kind: key.1,
        size,
        line: line.filter(|&line| line > 0).map(Bytes),
        ways: ways.filter(|&ways| ways > 0),
        cpus: CpuList(key.2.clone()),
    })
}

fn cache_kind(text: &str) -> Option<CacheKind> {
    match text {
        "Data" => Some(CacheKind::Data),
        "Instruction" => Some(CacheKind::Instruction),
        "Unified" => Some(CacheKind::Unified),
        _ => None,
    }
}

/// The caches of the online CPUs, and the source. CPUID describes the caches of one core. For each
/// of these, the result has one cache for every group of CPUs that share it.
fn own_caches(online: &BTreeSet<u32>) -> (Vec<Cache>, String) {
    let mut caches = Vec::new();
    for own in processor::caches() {
        // In CPUID, the number of CPUs that share a cache is rounded up to a power of two. The
        // numbers of these CPUs only differ in the lowest bits.
        let room = own.sharers.checked_next_power_of_two().unwrap_or(u32::MAX);
        let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &cpu in online {
            groups.entry(cpu / room).or_default().push(cpu);
        }
        caches.extend(groups.into_values().map(|cpus| Cache {
            level: own.level,
            kind: own.kind,
            size: own.size,
            line: Some(own.line).filter(|line| line.0 > 0),
            ways: Some(own.ways).filter(|&ways| ways > 0),
            cpus: CpuList(cpus),
        }));
    }
    let missing = format!("nothing usable is in {CPUS}/cpu*/cache");
    let source = match (caches.is_empty(), os::HAS_SYSTEM_FILES) {
        (true, true) => format!("unknown: {missing}, and the processor does not report"),
        (true, false) => "unknown: neither the system nor the processor tells".to_owned(),
        (false, files) => {
            let why = if files {
                format!(", since {missing}")
            } else {
                String::new()
            };
            format!("CPUID{why}; sharing is from CPUID too, as if CPUs were numbered core by core")
        }
    };
    (caches, source)
}

/// The NUMA nodes and the source. If no node has a CPU, the result is a single node with all CPUs.
fn nodes(
    files: &SystemFiles,
    online: &BTreeSet<u32>,
    memory: Option<Bytes>,
) -> (Vec<Node>, String) {
    let ids: BTreeSet<u32> = files
        .names(NODES)
        .iter()
        .filter_map(|name| name.strip_prefix("node")?.parse().ok())
        .collect();
    let allowed = allowed_nodes(files);
    let mut odd = 0;
    let mut nodes = Vec::new();
    let mut left = online.clone();
    for &id in &ids {
        // If several nodes list a CPU, it belongs to the first one.
        let named = files
            .cpus(&format!("{NODES}/node{id}/cpulist"))
            .unwrap_or_default();
        let cpus: Vec<u32> = named.intersection(&left).copied().collect();
        left.retain(|cpu| !named.contains(cpu));
        let meminfo = files
            .read(&format!("{NODES}/node{id}/meminfo"))
            .unwrap_or_default();
        let text = files
            .read(&format!("{NODES}/node{id}/distance"))
            .unwrap_or_default();
        let distances: Option<Vec<u32>> = text
            .split_whitespace()
            .map(|word| word.parse().ok())
            .collect();
        let distances = distances.filter(|all| all.len() == ids.len());
        odd += usize::from(distances.is_none());
        nodes.push(Node {
            id,
            cpus: CpuList(cpus),
            memory: field(&meminfo, &format!("Node {id} MemTotal"))
                .and_then(kilobytes)
                .map(Bytes),
            distances: distances.unwrap_or_default(),
            available: reclaimable_on(files, &BTreeSet::from([id])).map(Bytes),
            allowed: allowed.as_ref().map(|nodes| nodes.contains(&id)),
            weight: files
                .read_as::<u32>(&format!("{WEIGHTS}/node{id}"))
                .filter(|&weight| weight > 0),
        });
    }
    if nodes.iter().all(|node| node.cpus.0.is_empty()) {
        let cpus = CpuList(online.iter().copied().collect());
        let what = if ids.is_empty() {
            "no nodes in"
        } else {
            "no CPU of any node in"
        };
        let source = format!("{what} {NODES}: taken as one node");
        return (
            vec![Node {
                id: 0,
                cpus,
                memory,
                distances: vec![10],
                ..Node::default()
            }],
            source,
        );
    }
    let source = match odd {
        0 => NODES.to_owned(),
        _ => format!("{NODES}; {odd} nodes without a usable list of distances"),
    };
    (nodes, source)
}
