//! Interprets the results of FreeBSD's calls. This module makes no calls, so it is tested
//! everywhere.
//!
//! Source: smp(4) for the form of kern.sched.topology_spec; sys/kern/sched_ule.c for its flags;
//! sys/vm/vm_phys.c for vm.phys_locality.

use super::sysctl::Sysctl;
use crate::reported::{ReportedCore, ReportedNode, ReportedPages, ReportedTopology};
use report::Fact;
use std::collections::BTreeMap;
use units::Bytes;

/// Largest number of NUMA nodes that is accepted. A larger answer of the kernel is cut to this
/// number.
const MOST_NODES: u64 = 64;

/// The CPUs and NUMA nodes. `usable` are the CPUs that this process may use. `None` if the kernel's
/// description of its CPU groups is missing or invalid.
pub fn topology(kernel: &dyn Sysctl, usable: Option<Vec<u32>>) -> Option<ReportedTopology> {
    const GROUPS: &str = "kern.sched.topology_spec";
    let text = kernel.text(GROUPS)?;
    let document = roxmltree::Document::parse(&text).ok()?;
    let groups: Vec<Group> = document
        .descendants()
        .filter(|node| node.has_tag_name("group"))
        .filter_map(group)
        .collect();
    // The outermost group has all CPUs.
    let online = groups
        .iter()
        .map(|group| &group.cpus)
        .max_by_key(|cpus| cpus.len())?;
    let mut found = ReportedTopology {
        online: online.clone(),
        usable,
        cpus_source: format!("sysctl {GROUPS}; allowed: cpuset_getaffinity"),
        caches_source: "none".to_owned(),
        nodes_source: "sysctl dev.cpu.*.%domain, vm.phys_locality".to_owned(),
        ..ReportedTopology::default()
    };
    // A CPU that is in no group of hardware threads is a core by itself.
    let mut threads: BTreeMap<u32, &Group> = BTreeMap::new();
    for group in groups.iter().filter(|group| group.one_core) {
        threads.extend(group.cpus.iter().map(|&cpu| (cpu, group)));
    }
    for &cpu in &found.online {
        let cpus = threads
            .get(&cpu)
            .map_or(vec![cpu], |group| group.cpus.clone());
        if cpus.first() == Some(&cpu) {
            found.cores.push(ReportedCore { cpus, kind: None });
        }
    }
    found.nodes = nodes(kernel, &found.online);
    Some(found)
}

/// A group of CPUs that share a cache or a core.
struct Group {
    cpus: Vec<u32>,
    /// True if the CPUs are hardware threads of one core.
    one_core: bool,
}

fn group(node: roxmltree::Node<'_, '_>) -> Option<Group> {
    let child = |name: &str| node.children().find(|child| child.has_tag_name(name));
    let list = child("cpu")?.text()?;
    let mut cpus: Vec<u32> = list
        .split(',')
        .map(|word| word.trim().parse().ok())
        .collect::<Option<_>>()?;
    cpus.sort_unstable();
    cpus.dedup();
    let flags = child("flags").map_or_else(Vec::new, |flags| {
        let names = flags.children().filter_map(|flag| flag.attribute("name"));
        names.map(str::to_owned).collect()
    });
    Some(Group {
        cpus,
        one_core: flags.iter().any(|flag| flag == "SMT" || flag == "HTT"),
    })
}

/// The NUMA nodes with their CPUs. Empty unless the kernel reports the node of every CPU.
fn nodes(kernel: &dyn Sysctl, online: &[u32]) -> Vec<ReportedNode> {
    let count = kernel
        .number("vm.ndomains")
        .unwrap_or(1)
        .clamp(1, MOST_NODES) as usize;
    let of_cpu = |cpu: &u32| {
        let node: u32 = kernel
            .text(&format!("dev.cpu.{cpu}.%domain"))?
            .parse()
            .ok()?;
        ((node as usize) < count).then_some((*cpu, node))
    };
    let Some(places) = online.iter().map(of_cpu).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let distances = distances(&kernel.text("vm.phys_locality").unwrap_or_default(), count);
    (0..count)
        .map(|id| ReportedNode {
            id: id as u32,
            cpus: places
                .iter()
                .filter(|(_, node)| *node as usize == id)
                .map(|(cpu, _)| *cpu)
                .collect(),
            available: None,
            distances: distances.get(id).cloned().unwrap_or_default(),
        })
        .collect()
}

/// Parses the distances from each of `count` nodes, given as lines such as `0: 10 21`. Empty if a
/// line is missing or has an unknown distance (-1).
fn distances(text: &str, count: usize) -> Vec<Vec<u32>> {
    let row = |line: &str| {
        let (node, numbers) = line.split_once(':')?;
        let node: usize = node.trim().parse().ok()?;
        let row: Option<Vec<u32>> = numbers.split_whitespace().map(|n| n.parse().ok()).collect();
        Some((node, row.filter(|row| row.len() == count)?))
    };
    let rows: BTreeMap<usize, Vec<u32>> = text.lines().filter_map(row).collect();
    if rows.len() == count {
        rows.into_values().collect()
    } else {
        Vec::new()
    }
}

/// Facts about superpages, which are FreeBSD's huge pages. The kernel promotes aligned memory to
/// superpages by itself. `sizes` are the page sizes in rising order (getpagesizes(3)).
pub fn pages(kernel: &dyn Sysctl, sizes: &[u64]) -> ReportedPages {
    const SWITCHES: [&str; 2] = ["vm.pmap.pg_ps_enabled", "vm.pmap.superpages_enabled"];
    let switch = SWITCHES
        .iter()
        .find_map(|name| Some((*name, kernel.number(name)?)));
    ReportedPages {
        mode: match switch {
            Some((name, 0)) => Fact::known("never".to_owned(), name),
            Some((name, _)) => Fact::known("always".to_owned(), name),
            None => Fact::unknown(format!("neither {} nor {}", SWITCHES[0], SWITCHES[1])),
        },
        size: match sizes.get(1) {
            Some(&size) => Fact::known(Bytes(size), "getpagesizes"),
            None => Fact::unknown("getpagesizes names no superpages"),
        },
        pools: Fact::unknown("FreeBSD has no pools of large pages for private memory"),
    }
}

/// Name of the hypervisor (kern.vm_guest).
pub fn hypervisor(kernel: &dyn Sysctl) -> Option<String> {
    kernel.text("kern.vm_guest")
}

/// Busy time in ns, computed from the counts of kern.cp_time: user, nice, system, interrupt, idle.
/// `rate` is the number of counts per second. `None` unless there are exactly these five counts and
/// `rate` is above 0.
pub fn busy_ns(counts: &[u64], rate: u64) -> Option<f64> {
    let [user, nice, system, interrupt, _idle] = counts else {
        return None;
    };
    let sum = [user, nice, system, interrupt]
        .into_iter()
        .fold(0u64, |sum, &count| sum.saturating_add(count));
    (rate > 0).then(|| sum as f64 * 1e9 / rate as f64)
}

#[cfg(test)]
mod tests {
    use super::super::sysctl::Recorded;
    use super::*;

    /// Recorded answers of a machine with two nodes, two cores with two threads, and one core with
    /// one thread.
    const TWO_NODES: Recorded = Recorded(
        "kern.sched.topology_spec: <groups>
 <group level=\"1\" cache-level=\"0\">
  <cpu count=\"5\" mask=\"1f,0,0,0\">0, 1, 2, 3, 4</cpu>
  <children>
   <group level=\"3\" cache-level=\"3\">
    <cpu count=\"2\" mask=\"3,0,0,0\">0, 1</cpu>
    <flags><flag name=\"THREAD\">THREAD group</flag><flag name=\"SMT\">SMT group</flag></flags>
   </group>
   <group level=\"3\" cache-level=\"3\">
    <cpu count=\"3\" mask=\"1c,0,0,0\">2, 3, 4</cpu>
    <children>
     <group level=\"5\" cache-level=\"2\">
      <cpu count=\"2\" mask=\"c,0,0,0\">2, 3</cpu>
      <flags><flag name=\"HTT\">HTT group</flag></flags>
     </group>
    </children>
   </group>
  </children>
 </group>
</groups>

vm.ndomains: 2
dev.cpu.0.%domain: 0
dev.cpu.1.%domain: 0
dev.cpu.2.%domain: 1
dev.cpu.3.%domain: 1
dev.cpu.4.%domain: 1
vm.pmap.pg_ps_enabled: 1
kern.vm_guest: bhyve",
    );

    #[test]
    fn groups_become_cores_and_nodes() {
        let topology = topology(&TWO_NODES, Some(vec![1])).unwrap();
        assert_eq!(topology.online, [0, 1, 2, 3, 4]);
        assert_eq!(topology.usable, Some(vec![1]));
        let cores: Vec<_> = topology
            .cores
            .iter()
            .map(|core| core.cpus.clone())
            .collect();
        assert_eq!(cores, [vec![0, 1], vec![2, 3], vec![4]]);
        let nodes: Vec<_> = topology
            .nodes
            .iter()
            .map(|node| node.cpus.clone())
            .collect();
        assert_eq!(nodes, [vec![0, 1], vec![2, 3, 4]]);
    }

    #[test]
    fn invalid_groups_are_unknown() {
        for text in [
            "kern.sched.topology_spec: <groups>",
            "kern.sched.topology_spec: <groups></groups>",
            "kern.sched.topology_spec: <groups><group><cpu>a, b</cpu></group></groups>",
            "hw.ncpu: 2",
        ] {
            assert_eq!(topology(&Recorded(text), None), None, "{text}");
        }
        let alone =
            Recorded("kern.sched.topology_spec: <groups><group><cpu>0</cpu></group></groups>");
        let topology = topology(&alone, None).unwrap();
        assert_eq!(topology.cores.len(), 1);
        assert!(topology.nodes.is_empty(), "no CPU says its node");
    }

    #[test]
    fn distances_need_every_node() {
        assert_eq!(distances("\n0: 10 21\n1: 21 10\n", 2), [[10, 21], [21, 10]]);
        assert!(distances("0: 10 -1\n1: -1 10", 2).is_empty());
        assert!(distances("0: 10 21\n1: -1 10", 2).is_empty());
        assert!(distances("0: 10", 2).is_empty());
    }

    #[test]
    fn superpages_and_busy_time() {
        let found = pages(&TWO_NODES, &[4096, 2 << 20, 1 << 30]);
        assert_eq!(found.mode.value.as_deref(), Some("always"));
        assert_eq!(found.size.value, Some(Bytes::mib(2)));
        assert_eq!(found.pools.value, None);
        let none = pages(&Recorded("vm.pmap.superpages_enabled: 0"), &[4096]);
        assert_eq!(none.mode.value.as_deref(), Some("never"));
        assert_eq!(none.size.value, None);
        assert_eq!(hypervisor(&TWO_NODES).as_deref(), Some("bhyve"));
        assert_eq!(busy_ns(&[1, 2, 3, 4, 100], 10), Some(1e9));
        assert_eq!(busy_ns(&[1, 2, 3, 4], 10), None);
        assert_eq!(busy_ns(&[1, 2, 3, 4, 5], 0), None);
    }
}
