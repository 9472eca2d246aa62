//! Facts about recorded machines. If files are missing, facts are unknown and not invented.

mod android;
mod firmware;
mod limits;
mod machines;
mod mutations;
mod power;
mod tree;

use super::*;
use report::{Cache, CacheKind, Node, Topology};
use tree::{Tree, overwrite, two_cpus};
use units::{Bytes, CpuList};

/// Caches of a kind and level.
fn caches(topology: &Topology, level: u32, kind: CacheKind) -> Vec<&Cache> {
    topology
        .caches
        .iter()
        .filter(|cache| (cache.level, cache.kind) == (level, kind))
        .collect()
}

#[test]
fn a_small_virtual_machine() {
    let facts = two_cpus()
        .file(
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "always [madvise] never\n",
        )
        .file(
            "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
            "2097152\n",
        )
        .file(
            "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages",
            "0\n",
        )
        .file(
            "/sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages",
            "0\n",
        )
        .file(
            "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
            "8\n",
        )
        .file(
            "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages",
            "3\n",
        )
        .file("/proc/loadavg", "0.25 0.10 0.01 1/100 999\n")
        .file("/proc/sys/kernel/osrelease", "6.1.0-test\n")
        .file("/proc/sys/kernel/hostname", "box\n")
        .file("/proc/sys/kernel/numa_balancing", "0\n")
        .file(
            "/sys/devices/system/cpu/vulnerabilities/meltdown",
            "Not affected\n",
        )
        .file(
            "/sys/devices/system/cpu/vulnerabilities/spectre_v2",
            "Mitigation: Retpolines\n",
        )
        .discover();
    let topology = &facts.topology;
    assert_eq!(
        topology.cpus.iter().map(|cpu| cpu.id).collect::<Vec<_>>(),
        [0, 1]
    );
    assert_eq!(topology.allowed(), [1], "{}", topology.cpus_source);
    assert_eq!(topology.cpus[1].siblings, [1]);
    assert_eq!(
        (
            topology.cpus[1].core,
            topology.cpus[1].package,
            topology.cpus[1].node
        ),
        (Some(1), Some(0), Some(0))
    );
    assert_eq!(caches(topology, 1, CacheKind::Data).len(), 2);
    let last = caches(topology, 3, CacheKind::Unified);
    assert_eq!(
        (last.len(), last[0].size, last[0].cpus.to_string()),
        (1, Bytes::mib(32), "0-1".to_owned())
    );
    assert_eq!((last[0].line, last[0].ways), (Some(Bytes(64)), Some(8)));
    assert_eq!(
        topology
            .data_caches(1)
            .iter()
            .map(|c| c.level)
            .collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert_eq!(facts.memory.total.value, Some(Bytes::gib(16)));
    assert_eq!(
        facts.memory.usable.value,
        Some(Bytes((8 << 30) - (8 << 30) / 10))
    );
    assert_eq!(facts.pages.thp_mode.value.as_deref(), Some("madvise"));
    assert_eq!(facts.pages.thp_size.value, Some(Bytes::mib(2)));
    let pools = facts.pages.huge_pools.value.unwrap();
    let pools: Vec<_> = pools
        .iter()
        .map(|pool| (pool.size, pool.total, pool.free))
        .collect();
    assert_eq!(pools, [(Bytes::mib(2), 8, 3), (Bytes::gib(1), 0, 0)]);
    assert_eq!(facts.environment.load.value, Some(0.25));
    assert_eq!(facts.environment.numa_balancing.value, Some(false));
    assert_eq!(facts.environment.smt.value, Some(false));
    assert_eq!(
        facts.environment.mitigations.value.unwrap(),
        ["spectre_v2: Mitigation: Retpolines"]
    );
    assert_eq!(facts.system.kernel.value.as_deref(), Some("6.1.0-test"));
    assert_eq!(facts.system.hostname.value.as_deref(), Some("box"));
    assert_eq!(facts.system.cpu_quota.value, None);
}

#[test]
fn no_files_at_all() {
    let facts = Tree::new().discover();
    let topology = &facts.topology;
    assert!(!topology.cpus.is_empty());
    assert!(
        topology.cpus_source.contains("sched_getaffinity"),
        "{}",
        topology.cpus_source
    );
    assert!(topology.allowed().len() == topology.cpus.len());
    assert_eq!(topology.nodes.len(), 1);
    let node = &topology.nodes[0];
    assert_eq!(
        (node.id, node.distances.as_slice(), node.cpus.0.len()),
        (0, &[10][..], topology.cpus.len())
    );
    assert!(
        topology.nodes_source.contains("taken as one node"),
        "{}",
        topology.nodes_source
    );
    assert!(
        topology
            .cpus
            .iter()
            .all(|cpu| cpu.node == Some(0) && cpu.siblings == [cpu.id] && cpu.core.is_none())
    );
    assert!(
        topology.caches_source.contains("CPUID") || topology.caches.is_empty(),
        "{}",
        topology.caches_source
    );
    if !topology.caches.is_empty() {
        assert!(
            topology.caches_source.contains("sharing is from CPUID"),
            "{}",
            topology.caches_source
        );
        assert!(!topology.data_caches(topology.cpus[0].id).is_empty());
    }
    assert!(
        facts.memory.total.source.starts_with("sysconf"),
        "{:?}",
        facts.memory.total
    );
    assert!(facts.memory.usable.value.unwrap() < facts.memory.total.value.unwrap());
    assert_eq!(facts.memory.cgroup.value, None);
    assert!(facts.system.kernel.source.contains("uname"));
    assert_eq!(facts.system.container.value, None);
    assert_eq!(facts.environment.load.value, None);
    assert_eq!(facts.environment.smt.value, None);
    assert_eq!(facts.pages.thp_mode.value, None);
    assert_eq!(facts.pages.huge_pools.value, None);
    assert!(facts.pages.base.0 >= 4096);
}

/// A tree with every file that is read.
fn everywhere() -> Tree {
    let mut tree = two_cpus()
        .cache(0, 4, (4, "Unified", "1K"), "0")
        .node(1, "1", 5, "1 2");
    for path in [
        "/proc/cpuinfo",
        "/proc/self/cgroup",
        "/proc/self/mountinfo",
        "/proc/loadavg",
        "/proc/stat",
        "/proc/sys/kernel/numa_balancing",
        "/proc/sys/kernel/osrelease",
        "/proc/sys/vm/overcommit_memory",
        "/run/systemd/container",
        "/sys/class/dmi/id/bios_version",
        "/sys/class/dmi/id/sys_vendor",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "/sys/devices/system/cpu/intel_pstate/no_turbo",
        "/sys/devices/system/cpu/cpu0/microcode/version",
        "/sys/devices/system/cpu/smt/active",
        "/sys/devices/system/cpu/vulnerabilities/x",
        "/sys/fs/cgroup/cpu.max",
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
        "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages",
        "/sys/kernel/mm/hugepages/hugepages-kB/nr_hugepages",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
    ] {
        tree = tree.file(path, "");
    }
    tree
}

#[test]
fn microcode_and_firmware_have_their_versions() {
    const DMI: &str = "/sys/class/dmi/id";
    let tree = Tree::new()
        .file("/proc/cpuinfo", "processor\t: 0\nmicrocode\t: 0xa101148\n")
        .file(&format!("{DMI}/bios_vendor"), "Vendor\n")
        .file(&format!("{DMI}/bios_date"), "01/31/2026\n");
    let facts = discover(&tree.files());
    assert_eq!(facts.cpu.microcode.value.as_deref(), Some("0xa101148"));
    let firmware = facts.system.firmware.value.as_deref();
    assert_eq!(firmware, Some("Vendor 01/31/2026"));
    let version = "/sys/devices/system/cpu/cpu0/microcode/version";
    let facts = discover(&tree.file(version, "0xa10114c\n").files());
    assert_eq!(facts.cpu.microcode.value.as_deref(), Some("0xa10114c"));
    let facts = discover(&Tree::new().files());
    assert_eq!(facts.cpu.microcode.value, None);
    assert_eq!(facts.system.firmware.value, None);
}

#[test]
fn empty_and_odd_files_are_like_missing_ones() {
    let odd = [
        "",
        "\n",
        "garbage",
        "-1",
        "0",
        "[",
        "]x[",
        "\u{fffd}",
        "999999999999999999999999",
        "18446744073709551615",
        "4294967295",
        "0-",
        "::",
        "0::/\n1:memory:/..\n",
        "max",
        "max 0",
        "0 0",
        "nan inf",
        "1 2 3 - cgroup",
        "a b c d e f - cgroup2 x y\n",
        "MemTotal: 0 kB\nMemAvailable: 99999999999999999 kB",
        "processor: 7\ncore id: x",
        "Node 0 MemTotal: -5 kB",
        "\0\0\0\0",
    ];
    let tree = everywhere();
    for text in odd {
        overwrite(tree.0.path(), text);
        let facts = tree.discover();
        assert!(!facts.topology.cpus.is_empty(), "{text:?}");
        assert!(!facts.topology.nodes.is_empty(), "{text:?}");
        for cache in &facts.topology.caches {
            assert!(
                cache.size.0 > 0 && !cache.cpus.0.is_empty(),
                "{text:?} {cache:?}"
            );
        }
        for fact in [
            &facts.memory.total,
            &facts.memory.available,
            &facts.memory.usable,
        ] {
            assert!(!fact.source.is_empty(), "{text:?}");
        }
        assert!(
            facts.memory.usable.value <= facts.memory.available.value,
            "{text:?} {:?}",
            facts.memory
        );
        assert!(
            facts.environment.load.value.is_none_or(f64::is_finite),
            "{text:?}"
        );
        assert!(
            facts
                .system
                .cpu_quota
                .value
                .is_none_or(|cpus| cpus > 0.0 && cpus.is_finite()),
            "{text:?}"
        );
        serde_json::to_string(&facts).unwrap();
    }
}

#[test]
fn two_nodes_with_smt() {
    let mut tree = Tree::new()
        .memory()
        .file("/sys/devices/system/cpu/online", "0-7\n")
        .file("/sys/devices/system/cpu/smt/active", "1\n")
        .file("/sys/devices/system/cpu/smt/control", "on\n")
        .node(0, "0-1,4-5", 1 << 20, "10 21")
        .node(1, "2-3,6-7", 2 << 20, "21 10");
    for cpu in 0..8u32 {
        let package = cpu % 4 / 2;
        let core = cpu % 2;
        let shared = format!(
            "{}-{},{}-{}",
            package * 2,
            package * 2 + 1,
            package * 2 + 4,
            package * 2 + 5
        );
        let pair = format!("{},{}", cpu % 4, cpu % 4 + 4);
        tree = tree
            .cpu(cpu, core, package, &pair)
            .cache(cpu, 0, (1, "Data", "32K"), &pair)
            .cache(cpu, 1, (3, "Unified", "16M"), &shared);
    }
    let facts = tree.discover();
    let topology = &facts.topology;
    assert_eq!(topology.cpus[6].siblings, [2, 6]);
    assert_eq!(
        (topology.cpus[6].package, topology.cpus[6].node),
        (Some(1), Some(1))
    );
    assert_eq!(topology.allowed().len(), 8, "no status file: all");
    assert_eq!(caches(topology, 1, CacheKind::Data).len(), 4);
    let last = caches(topology, 3, CacheKind::Unified);
    assert_eq!(
        last.iter().map(|c| c.cpus.to_string()).collect::<Vec<_>>(),
        ["0-1,4-5", "2-3,6-7"]
    );
    assert_eq!(topology.last_level_total(&[0, 4, 7]), Bytes::mib(32));
    let expected = Node {
        id: 1,
        cpus: CpuList(vec![2, 3, 6, 7]),
        memory: Some(Bytes::gib(2)),
        distances: vec![21, 10],
        ..Node::default()
    };
    assert_eq!(topology.nodes[1], expected);
    assert_eq!(facts.environment.smt.value, Some(true));
    assert!(facts.environment.smt.source.contains("control: on"));
}

#[test]
fn a_node_tells_what_may_be_taken_of_it() {
    let folder = |id: u32| format!("/sys/devices/system/node/node{id}/meminfo");
    let meminfo = "Node 1 MemTotal: 4000 kB\nNode 1 MemFree: 1000 kB\nNode 1 Active(file): 100 kB\n\
                   Node 1 Inactive(file): 20 kB\nNode 1 SReclaimable: 3 kB\n";
    let tree = two_cpus()
        .node(0, "0-1", 4000, "10 20")
        .node(1, "", 4000, "20 10")
        .file(&folder(1), meminfo);
    let weights = "/sys/kernel/mm/mempolicy/weighted_interleave";
    let nodes = tree
        .file("/proc/self/status", "Name: x\nMems_allowed_list:\t0,2-5\n")
        .file(&format!("{weights}/node0"), "9\n")
        .file(&format!("{weights}/node1"), "0\n")
        .discover()
        .topology
        .nodes;
    let told = |index: usize| {
        (
            nodes[index].available,
            nodes[index].allowed,
            nodes[index].weight,
        )
    };
    assert_eq!(
        told(0),
        (None, Some(true), Some(9)),
        "not all that counts as available is told"
    );
    assert_eq!(told(1), (Some(Bytes::kib(1123)), Some(false), None));
    assert_eq!(
        nodes[1].usable(),
        Some(Bytes(1123 * 1024 - 1123 * 1024 / 10))
    );
    let silent = two_cpus().discover().topology.nodes;
    assert_eq!(
        (silent[0].allowed, silent[0].weight, silent[0].usable()),
        (None, None, None)
    );
}

#[test]
fn a_node_without_cpus_is_memory_only() {
    let facts = two_cpus()
        .node(0, "0-1", 16777216, "10 20")
        .node(2, "", 4194304, "20 10")
        .discover();
    let nodes = &facts.topology.nodes;
    assert_eq!(nodes.len(), 2);
    let expected = Node {
        id: 2,
        cpus: CpuList(vec![]),
        memory: Some(Bytes::gib(4)),
        distances: vec![20, 10],
        ..Node::default()
    };
    assert_eq!(nodes[1], expected);
    assert!(facts.topology.cpus.iter().all(|cpu| cpu.node == Some(0)));
}

#[test]
fn a_machine_without_a_third_level() {
    let tree = two_cpus();
    for cpu in 0..2 {
        std::fs::remove_dir_all(
            tree.0
                .path()
                .join(format!("sys/devices/system/cpu/cpu{cpu}/cache/index3")),
        )
        .unwrap();
    }
    let topology = tree.discover().topology;
    assert_eq!(topology.data_caches(0).last().unwrap().level, 2);
    assert_eq!(topology.last_level_total(&[0, 1]), Bytes::mib(2));
    assert!(
        topology.caches_source.starts_with("/sys"),
        "{}",
        topology.caches_source
    );
}

#[test]
fn a_cache_that_does_not_tell_its_sharers_or_its_size() {
    let tree = two_cpus();
    let index = |cpu: u32, file: &str| {
        tree.0
            .path()
            .join(format!("sys/devices/system/cpu/cpu{cpu}/cache/{file}"))
    };
    std::fs::remove_file(index(1, "index3/shared_cpu_list")).unwrap();
    std::fs::write(index(0, "index2/size"), "0K\n").unwrap();
    let topology = tree.discover().topology;
    let last = caches(&topology, 3, CacheKind::Unified);
    assert_eq!(
        last.iter().map(|c| c.cpus.to_string()).collect::<Vec<_>>(),
        ["0-1", "1"]
    );
    assert_eq!(caches(&topology, 2, CacheKind::Unified).len(), 1);
    assert!(
        topology
            .caches_source
            .contains("1 entries without a usable size"),
        "{}",
        topology.caches_source
    );
    assert!(
        topology
            .caches_source
            .contains("1 entries do not report who shares them"),
        "{}",
        topology.caches_source
    );
}

#[test]
fn places_come_from_cpuinfo_where_sys_is_masked() {
    let block = |cpu: u32, core: u32, package: u32| {
        format!(
            "processor\t: {cpu}\nphysical id\t: {package}\ncore id\t\t: {core}\nflags\t\t: fpu\n"
        )
    };
    let blocks = [
        block(0, 0, 0),
        block(1, 0, 1),
        block(2, 0, 0),
        block(3, 1, 0),
    ]
    .join("\n");
    let topology = Tree::new()
        .file("/proc/cpuinfo", &blocks)
        .discover()
        .topology;
    assert_eq!(topology.cpus.len(), 4);
    assert_eq!(topology.cpus[2].siblings, [0, 2]);
    assert_eq!(
        topology.cpus[1].siblings,
        [1],
        "the same core number in another package"
    );
    assert!(
        topology.cpus_source.contains("online: /proc/cpuinfo"),
        "{}",
        topology.cpus_source
    );
    assert!(
        topology.cpus_source.ends_with("cores: /proc/cpuinfo"),
        "{}",
        topology.cpus_source
    );
}

/// Mounts of a machine with both versions of control groups; v1 has one folder for each controller.
const BOTH: &str = "\
31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";

#[test]
fn a_limit_of_version_one() {
    let memory = "/sys/fs/cgroup/memory/jobs/7";
    let tree = two_cpus()
        .file("/proc/self/mountinfo", BOTH)
        .file(
            "/proc/self/cgroup",
            "4:memory:/jobs/7\n2:cpu,cpuacct:/jobs\n0::/\n",
        )
        .file(&format!("{memory}/memory.limit_in_bytes"), "268435456\n")
        .file(&format!("{memory}/memory.usage_in_bytes"), "50331648\n")
        .file(
            &format!("{memory}/memory.stat"),
            "inactive_file 5\nhierarchical_memory_limit 9223372036854771712\ntotal_inactive_file \
             33554432\n",
        )
        .file(
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "9223372036854771712\n",
        )
        .file(
            "/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us",
            "150000\n",
        )
        .file(
            "/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us",
            "100000\n",
        )
        .file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
        .file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    let facts = tree.discover();
    assert_eq!(
        facts.memory.cgroup.value,
        Some(Bytes::mib(256 - 48 + 32)),
        "idle page cache can be had back"
    );
    assert!(
        facts
            .memory
            .cgroup
            .source
            .contains("memory.limit_in_bytes: limit 256 MiB"),
        "{:?}",
        facts.memory.cgroup
    );
    assert_eq!(facts.memory.usable.value, Some(Bytes::mib(240 - 96)));
    assert_eq!(facts.system.cpu_quota.value, Some(1.5));
    let hidden = tree
        .file(
            &format!("{memory}/memory.stat"),
            "hierarchical_memory_limit 134217728\n",
        )
        .discover();
    assert_eq!(
        hidden.memory.cgroup.value,
        Some(Bytes::mib(128 - 48)),
        "the limit of an ancestor out of sight"
    );
}

#[test]
fn the_tightest_of_nested_limits_of_version_two() {
    let tree = two_cpus()
        .file(
            "/proc/self/mountinfo",
            "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        )
        .file("/proc/self/cgroup", "0::/a.slice/b.scope\n")
        .file("/sys/fs/cgroup/a.slice/b.scope/memory.max", "max\n")
        .file("/sys/fs/cgroup/a.slice/b.scope/memory.current", "1048576\n")
        .file("/sys/fs/cgroup/a.slice/memory.max", "1073741824\n")
        .file("/sys/fs/cgroup/a.slice/memory.high", "max\n")
        .file("/sys/fs/cgroup/a.slice/memory.current", "805306368\n")
        .file(
            "/sys/fs/cgroup/a.slice/memory.stat",
            "anon 9\ninactive_file 268435456\n",
        )
        .file("/sys/fs/cgroup/a.slice/b.scope/cpu.max", "max 100000\n")
        .file("/sys/fs/cgroup/a.slice/cpu.max", "50000 100000\n");
    let facts = tree.discover();
    assert_eq!(facts.memory.cgroup.value, Some(Bytes::mib(512)));
    assert!(
        facts
            .memory
            .cgroup
            .source
            .starts_with("/sys/fs/cgroup/a.slice/memory.max"),
        "{:?}",
        facts.memory.cgroup
    );
    assert_eq!(facts.system.cpu_quota.value, Some(0.5));
    let tree = tree.file("/sys/fs/cgroup/a.slice/b.scope/memory.high", "201326592\n");
    assert_eq!(
        tree.discover().memory.cgroup.value,
        Some(Bytes::mib(191)),
        "throttling starts at memory.high"
    );
    let tree = tree.file("/sys/fs/cgroup/a.slice/memory.current", "99999999999\n");
    assert_eq!(
        tree.discover().memory.cgroup.value,
        Some(Bytes(0)),
        "more in use than allowed"
    );
}

#[test]
fn a_container_sees_its_own_group_as_the_top() {
    let mount = "41 31 0:38 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
    let tree = two_cpus()
        .file("/proc/self/mountinfo", mount)
        .file("/proc/self/cgroup", "0::/docker/abc\n")
        .file("/sys/fs/cgroup/memory.max", "536870912\n")
        .file("/.dockerenv", "");
    let facts = tree.discover();
    assert_eq!(facts.memory.cgroup.value, Some(Bytes::mib(512)));
    assert!(facts.memory.cgroup.source.contains("use unknown"));
    assert_eq!(facts.system.container.value.as_deref(), Some("docker"));
    let pod = tree
        .file("/proc/self/cgroup", "0::/kubepods.slice/pod1\n")
        .discover();
    assert_eq!(pod.system.container.value.as_deref(), Some("kubernetes"));
}

#[test]
fn groups_are_found_where_they_usually_are_without_mountinfo() {
    let facts = two_cpus()
        .file("/proc/self/cgroup", "4:memory:/x\n")
        .file("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1048576\n")
        .discover();
    assert_eq!(facts.memory.cgroup.value, Some(Bytes::mib(1)));
}

#[test]
fn governor_and_turbo() {
    let tree = two_cpus()
        .file(
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            "performance\n",
        )
        .file(
            "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
            "powersave\n",
        )
        .file("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    let environment = tree.discover().environment;
    assert_eq!(
        environment.governor.value.as_deref(),
        Some("performance, powersave")
    );
    assert_eq!(environment.turbo.value, Some(false));
    std::fs::remove_dir_all(tree.0.path().join("sys/devices/system/cpu/intel_pstate")).unwrap();
    let environment = tree
        .file("/sys/devices/system/cpu/cpufreq/boost", "1\n")
        .discover()
        .environment;
    assert_eq!(environment.turbo.value, Some(true));
}

#[test]
fn this_machine_is_described_consistently() {
    let facts = discover(&SystemFiles::real());
    let allowed = facts.topology.allowed();
    assert!(!allowed.is_empty());
    for cpu in &facts.topology.cpus {
        assert!(cpu.siblings.contains(&cpu.id));
        if let Some(node) = cpu.node {
            assert!(
                facts
                    .topology
                    .nodes
                    .iter()
                    .any(|n| n.id == node && n.cpus.0.contains(&cpu.id))
            );
        }
    }
    assert!(facts.memory.usable.value.unwrap() <= facts.memory.available.value.unwrap());
    assert_eq!(facts.system.os, std::env::consts::OS);
    assert!(!facts.cpu.architecture.is_empty());
}

#[test]
fn what_executes_the_instructions_is_not_made_up() {
    let emulation = Tree::new().memory().discover().system.emulation;
    assert_eq!(
        emulation.value.filter(|name| name != "QEMU (TCG)"),
        None,
        "{}",
        emulation.source
    );
}

#[test]
fn calls_answer_where_files_do_not() {
    use crate::reported::{Reported, ReportedPages};
    use report::{Fact, Swap};
    let told = |text: &str| Some((text.to_owned(), "a call".to_owned()));
    let nothing = Bytes(0);
    let swap = Swap {
        total: nothing,
        used: nothing,
    };
    let reported = Reported {
        microcode: told("0x17"),
        firmware: told("Vendor 1.0"),
        cpu_quota: Some((1.5, "a job".to_owned())),
        memory_left: Some((Bytes::mib(300), "a job".to_owned())),
        load: Some((2.5, "a call".to_owned())),
        swap: Some((swap, "a call".to_owned())),
        thread_request: Some(Fact::known("a class".to_owned(), "a hint")),
        pages: Some(ReportedPages {
            mode: Fact::known("never".to_owned(), "a call"),
            size: Fact::known(Bytes::mib(2), "a call"),
            pools: Fact::unknown("none"),
        }),
        ..Reported::default()
    };
    let without_files = put_together(&Tree::new().files(), &reported);
    let system = &without_files.system;
    assert_eq!(
        without_files.cpu.microcode.value.as_deref(),
        Some("0x17"),
        "{:?}",
        without_files.cpu.microcode
    );
    assert_eq!(system.firmware.value.as_deref(), Some("Vendor 1.0"));
    assert_eq!(system.cpu_quota.value, Some(1.5));
    assert_eq!(system.thread_request.value.as_deref(), Some("a class"));
    assert_eq!(without_files.memory.cgroup.value, Some(Bytes::mib(300)));
    assert_eq!(without_files.memory.swap.value, Some(swap));
    assert_eq!(without_files.pages.thp_mode.value.as_deref(), Some("never"));
    assert_eq!(without_files.environment.load.value, Some(2.5));
    // A file has priority over a call.
    let tree = two_cpus().file("/proc/loadavg", "0.25 0.10 0.01 1/100 999\n");
    let with_files = put_together(&tree.files(), &reported);
    assert_eq!(with_files.environment.load.value, Some(0.25));
}
