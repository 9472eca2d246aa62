//! Facts about unusual machines. The files are as in the kernel's documentation (Documentation/ABI,
//! admin-guide/cputopology.rst, admin-guide/mm).

use super::tree::Tree;
use crate::noise::Watch;
use report::{CacheKind, HostFacts, SystemActivity, Topology};
use units::Bytes;

const L1: (u32, &str, &str) = (1, "Data", "32K");
const L3: (u32, &str, &str) = (3, "Unified", "32768K");

/// Expected facts. A text has one list of CPUs for each core, package or cache, separated by `|`.
struct Expected {
    allowed: &'static str,
    cores: &'static str,
    packages: &'static str,
    /// Levels of data and unified caches, with the CPUs that share each cache of a level.
    caches: &'static [(u32, &'static str)],
    /// CPUs of each node, with its distances.
    nodes: &'static [(&'static str, &'static [u32])],
    /// Last-level cache of all CPUs together.
    last_level: Bytes,
}

fn joined(mut groups: Vec<Vec<u32>>) -> String {
    groups.sort();
    groups.dedup();
    let text = |cpus: Vec<u32>| units::CpuList(cpus).to_string();
    groups.into_iter().map(text).collect::<Vec<_>>().join("|")
}

fn check(name: &str, topology: &Topology, expected: &Expected) {
    let list = |cpus: Vec<u32>| units::CpuList(cpus).to_string();
    assert_eq!(
        list(topology.allowed()),
        expected.allowed,
        "{name}: allowed"
    );
    assert_eq!(
        joined(topology.cpus.iter().map(|c| c.siblings.clone()).collect()),
        expected.cores,
        "{name}: cores"
    );
    let package = |p| {
        topology
            .cpus
            .iter()
            .filter(|c| c.package == Some(p))
            .map(|c| c.id)
            .collect()
    };
    let packages = topology.cpus.iter().filter_map(|c| c.package);
    assert_eq!(
        joined(packages.map(package).collect()),
        expected.packages,
        "{name}: packages"
    );
    let mut levels: Vec<u32> = topology.caches.iter().map(|c| c.level).collect();
    levels.dedup();
    let sharers = |level: u32| {
        let caches = topology
            .caches
            .iter()
            .filter(|c| c.level == level && c.kind != CacheKind::Instruction);
        (level, joined(caches.map(|c| c.cpus.0.clone()).collect()))
    };
    let caches: Vec<_> = levels.into_iter().map(sharers).collect();
    let expected_caches: Vec<_> = expected
        .caches
        .iter()
        .map(|(level, text)| (*level, (*text).to_owned()))
        .collect();
    assert_eq!(caches, expected_caches, "{name}: caches");
    let nodes: Vec<_> = topology
        .nodes
        .iter()
        .map(|n| (n.cpus.to_string(), n.distances.clone()))
        .collect();
    let expected_nodes: Vec<_> = expected
        .nodes
        .iter()
        .map(|(cpus, far)| ((*cpus).to_owned(), far.to_vec()))
        .collect();
    assert_eq!(nodes, expected_nodes, "{name}: nodes");
    let all: Vec<u32> = topology.cpus.iter().map(|c| c.id).collect();
    assert_eq!(
        topology.last_level_total(&all),
        expected.last_level,
        "{name}: last level"
    );
}

/// Two sockets of four cores with two threads each; CPU numbers of a core's threads are 8 apart.
pub fn two_sockets() -> Tree {
    let mut tree = Tree::new()
        .memory()
        .file("/sys/devices/system/cpu/online", "0-15\n");
    for cpu in 0..16 {
        let core = cpu % 4;
        let package = cpu % 8 / 4;
        let pair = format!("{},{}", cpu % 8, cpu % 8 + 8);
        let socket = format!(
            "{}-{},{}-{}",
            package * 4,
            package * 4 + 3,
            package * 4 + 8,
            package * 4 + 11
        );
        tree = tree
            .cpu(cpu, core, package, &pair)
            .cache(cpu, 0, L1, &pair)
            .cache(cpu, 1, L3, &socket);
    }
    tree.node(0, "0-3,8-11", 64 << 20, "10 21")
        .node(1, "4-7,12-15", 64 << 20, "21 10")
}

/// The same sockets with two clusters each: each node is half of a socket, and a socket shares the
/// last-level cache.
fn clusters() -> Tree {
    two_sockets()
        .node(0, "0-1,8-9", 32 << 20, "10 12 21 21")
        .node(1, "2-3,10-11", 32 << 20, "12 10 21 21")
        .node(2, "4-5,12-13", 32 << 20, "21 21 10 12")
        .node(3, "6-7,14-15", 32 << 20, "21 21 12 10")
}

/// Two large cores with two threads each, and four small cores that share an L2 cache.
pub fn hybrid() -> Tree {
    let mut tree = Tree::new()
        .memory()
        .file("/sys/devices/system/cpu/online", "0-7\n")
        .node(0, "0-7", 16 << 20, "10");
    for cpu in 0..8u32 {
        let large = cpu < 4;
        let (core, siblings) = match large {
            true => (cpu / 2 * 4, format!("{}-{}", cpu / 2 * 2, cpu / 2 * 2 + 1)),
            false => (cpu + 4, cpu.to_string()),
        };
        let cluster = if large {
            siblings.clone()
        } else {
            "4-7".to_owned()
        };
        tree = tree
            .cpu(cpu, core, 0, &siblings)
            .cache(
                cpu,
                0,
                (1, "Data", if large { "48K" } else { "32K" }),
                &siblings,
            )
            .cache(
                cpu,
                1,
                (1, "Instruction", if large { "32K" } else { "64K" }),
                &siblings,
            )
            .cache(
                cpu,
                2,
                (2, "Unified", if large { "1280K" } else { "2048K" }),
                &cluster,
            )
            .cache(cpu, 3, (3, "Unified", "12288K"), "0-7");
    }
    tree
}

/// CPU 1 and the second socket are offline. Their folders stay, without topology and caches. The
/// kernel leaves offline CPUs out of other lists, but here one list still has them.
fn offline() -> Tree {
    let mut tree = Tree::new()
        .memory()
        .file("/sys/devices/system/cpu/online", "0,2-3\n")
        .node(0, "0-3", 1 << 20, "10");
    for cpu in [1, 4, 5] {
        tree = tree.file(&format!("/sys/devices/system/cpu/cpu{cpu}/online"), "0\n");
    }
    for cpu in [0, 2, 3] {
        let siblings = if cpu == 0 { "0-1" } else { "2-3" };
        tree = tree
            .cpu(cpu, cpu / 2, 0, siblings)
            .cache(cpu, 0, L1, siblings)
            .cache(cpu, 1, L3, "0-3");
    }
    tree
}

/// Four cores of an embedded processor: the L2 is the last level, base pages have 64 KiB.
fn embedded() -> Tree {
    let mut tree = Tree::new()
        .memory()
        .file("/sys/devices/system/cpu/online", "0-3\n");
    for cpu in 0..4 {
        tree = tree
            .cpu(cpu, cpu, 0, &cpu.to_string())
            .cache(cpu, 0, (1, "Data", "64K"), &cpu.to_string())
            .cache(cpu, 1, (2, "Unified", "512K"), "0-3");
    }
    tree.file(
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "[always] madvise never\n",
    )
    .file(
        "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
        "536870912\n",
    )
    .file(
        "/sys/kernel/mm/hugepages/hugepages-16777216kB/nr_hugepages",
        "0\n",
    )
    .file(
        "/sys/kernel/mm/hugepages/hugepages-16777216kB/free_hugepages",
        "0\n",
    )
    .file(
        "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
        "5\n",
    )
    .file(
        "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages",
        "5\n",
    )
    .file(
        "/sys/kernel/mm/hugepages/hugepages-524288kB/nr_hugepages",
        "2\n",
    )
    .file(
        "/sys/kernel/mm/hugepages/hugepages-524288kB/free_hugepages",
        "1\n",
    )
}

/// A container with namespaces: it has two of the machine's CPUs and its own group as the root.
/// Most of /proc and /sys is masked.
pub fn container() -> Tree {
    two_sockets()
        .file(
            "/proc/self/status",
            "Cpus_allowed_list:\t2,10\nMems_allowed_list:\t0-1\n",
        )
        .file("/proc/self/cgroup", "0::/\n")
        .file(
            "/proc/self/mountinfo",
            "41 31 0:38 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n",
        )
        .file("/sys/fs/cgroup/memory.max", "1073741824\n")
        .file("/sys/fs/cgroup/memory.current", "0\n")
        .file("/sys/fs/cgroup/cpu.max", "150000 100000\n")
        .file("/sys/firmware/mark", "")
        .file("/run/systemd/container", "podman\n")
}

/// Two sockets with Linux 3.10, in a cpuset with holes and a control group of version 1. This
/// kernel has older names of files. It reports neither an estimate of available memory nor a size
/// of transparent huge pages.
fn linux_3_10() -> Tree {
    let mut tree = two_sockets()
        .file("/proc/sys/kernel/osrelease", "3.10.0-1160.el7.x86_64\n")
        .file(
            "/proc/self/status",
            "Cpus_allowed_list:\t1,3-5,9\nMems_allowed_list:\t1\n",
        )
        .file(
            "/proc/meminfo",
            "MemTotal: 134217728 kB\nMemFree: 4096 kB\nCached: 1024 kB\n",
        )
        .file(
            "/proc/self/cgroup",
            "9:memory:/batch\n4:cpuset:/batch\n3:cpuacct,cpu:/batch\n",
        )
        .file(
            "/proc/self/mountinfo",
            "31 24 0:27 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory\n\
             32 24 0:28 / /sys/fs/cgroup/cpuset rw,nosuid - cgroup cgroup rw,cpuset\n",
        )
        .file(
            "/sys/fs/cgroup/memory/batch/memory.limit_in_bytes",
            "2097152\n",
        )
        .file("/sys/fs/cgroup/memory/batch/memory.usage_in_bytes", "0\n")
        .file(
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "[always] madvise never\n",
        );
    for cpu in 0..16 {
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
        let pair = format!("{},{}\n", cpu % 8, cpu % 8 + 8);
        tree = tree
            .without(&format!("{folder}/core_cpus_list"))
            .file(&format!("{folder}/thread_siblings_list"), pair);
    }
    tree
}

#[test]
fn an_old_kernel_names_its_files_differently() {
    let facts = linux_3_10().discover();
    let expected = Expected {
        allowed: "1,3-5,9",
        cores: "0,8|1,9|2,10|3,11|4,12|5,13|6,14|7,15",
        packages: "0-3,8-11|4-7,12-15",
        caches: &[
            (1, "0,8|1,9|2,10|3,11|4,12|5,13|6,14|7,15"),
            (3, "0-3,8-11|4-7,12-15"),
        ],
        nodes: &[("0-3,8-11", &[10, 21]), ("4-7,12-15", &[21, 10])],
        last_level: Bytes::mib(64),
    };
    check("Linux 3.10", &facts.topology, &expected);
    let allowed = facts.topology.nodes.iter().map(|node| node.allowed);
    assert_eq!(
        allowed.collect::<Vec<_>>(),
        [Some(false), Some(true)],
        "memory of node 1 only"
    );
    assert_eq!(facts.memory.available.value, Some(Bytes::mib(5)));
    assert_eq!(facts.memory.cgroup.value, Some(Bytes::mib(2)));
    assert_eq!(facts.pages.thp_mode.value.as_deref(), Some("always"));
    assert_eq!(
        facts.pages.thp_size.value, None,
        "this kernel does not tell"
    );
    assert_eq!(
        facts.system.kernel.value.as_deref(),
        Some("3.10.0-1160.el7.x86_64")
    );
}

/// A hybrid processor with CPUs that are offline or not allowed, and memory on a node without CPUs.
#[test]
fn hybrid_cpus_with_holes_and_memory_of_its_own() {
    let topology = hybrid()
        .file("/sys/devices/system/cpu/online", "0-2,4-5,7\n")
        .file(
            "/proc/self/status",
            "Cpus_allowed_list:\t1,4,7\nMems_allowed_list:\t0-1\n",
        )
        .without("/sys/devices/system/cpu/cpu3/topology")
        .without("/sys/devices/system/cpu/cpu3/cache")
        .without("/sys/devices/system/cpu/cpu6/topology")
        .without("/sys/devices/system/cpu/cpu6/cache")
        .node(0, "0-2,4-5,7", 16 << 20, "10 17")
        .node(1, "", 64 << 20, "17 10")
        .discover()
        .topology;
    let expected = Expected {
        allowed: "1,4,7",
        cores: "0-1|2|4|5|7",
        packages: "0-2,4-5,7",
        caches: &[(1, "0-1|2|4|5|7"), (2, "0-1|2|4-5,7"), (3, "0-2,4-5,7")],
        nodes: &[("0-2,4-5,7", &[10, 17]), ("", &[17, 10])],
        last_level: Bytes::mib(12),
    };
    check("hybrid with holes", &topology, &expected);
    let sizes = |cpu: u32| topology.data_caches(cpu).first().map(|cache| cache.size);
    assert_eq!(
        (sizes(1), sizes(7)),
        (Some(Bytes::kib(48)), Some(Bytes::kib(32)))
    );
}

#[test]
fn topologies() {
    let cores = "0,8|1,9|2,10|3,11|4,12|5,13|6,14|7,15";
    let sockets = "0-3,8-11|4-7,12-15";
    let server = Expected {
        allowed: "0-15",
        cores,
        packages: sockets,
        caches: &[
            (1, "0,8|1,9|2,10|3,11|4,12|5,13|6,14|7,15"),
            (3, "0-3,8-11|4-7,12-15"),
        ],
        nodes: &[("0-3,8-11", &[10, 21]), ("4-7,12-15", &[21, 10])],
        last_level: Bytes::mib(64),
    };
    check("two sockets", &two_sockets().discover().topology, &server);
    let nodes: &[(&str, &[u32])] = &[
        ("0-1,8-9", &[10, 12, 21, 21]),
        ("2-3,10-11", &[12, 10, 21, 21]),
        ("4-5,12-13", &[21, 21, 10, 12]),
        ("6-7,14-15", &[21, 21, 12, 10]),
    ];
    check(
        "clusters",
        &clusters().discover().topology,
        &Expected { nodes, ..server },
    );
    let nodes: &[(&str, &[u32])] = &[
        ("0-3,8-11", &[10, 21, 14]),
        ("4-7,12-15", &[21, 10, 24]),
        ("", &[14, 24, 10]),
    ];
    let cxl = two_sockets()
        .node(0, "0-3,8-11", 1, "10 21 14")
        .node(1, "4-7,12-15", 1, "21 10 24")
        .node(2, "", 128 << 20, "14 24 10");
    check(
        "memory only",
        &cxl.discover().topology,
        &Expected { nodes, ..server },
    );
    check(
        "container",
        &container().discover().topology,
        &Expected {
            allowed: "2,10",
            ..server
        },
    );
}

#[test]
fn topologies_of_small_machines() {
    let expected = Expected {
        allowed: "0-7",
        cores: "0-1|2-3|4|5|6|7",
        packages: "0-7",
        caches: &[(1, "0-1|2-3|4|5|6|7"), (2, "0-1|2-3|4-7"), (3, "0-7")],
        nodes: &[("0-7", &[10])],
        last_level: Bytes::mib(12),
    };
    let topology = hybrid().discover().topology;
    check("hybrid", &topology, &expected);
    let sizes = |cpu: u32| {
        topology
            .data_caches(cpu)
            .iter()
            .map(|c| c.size)
            .collect::<Vec<_>>()
    };
    assert_eq!(sizes(3), [Bytes::kib(48), Bytes::kib(1280), Bytes::mib(12)]);
    assert_eq!(sizes(4), [Bytes::kib(32), Bytes::mib(2), Bytes::mib(12)]);
    let expected = Expected {
        allowed: "0,2-3",
        cores: "0|2-3",
        packages: "0,2-3",
        caches: &[(1, "0|2-3"), (3, "0,2-3")],
        nodes: &[("0,2-3", &[10])],
        last_level: Bytes::mib(32),
    };
    check("offline", &offline().discover().topology, &expected);
    let expected = Expected {
        allowed: "0-3",
        cores: "0|1|2|3",
        packages: "0-3",
        caches: &[(1, "0|1|2|3"), (2, "0-3")],
        nodes: &[("0-3", &[10])],
        last_level: Bytes::kib(512),
    };
    check("embedded", &embedded().discover().topology, &expected);
}

#[test]
fn pages_of_a_system_with_large_base_pages() {
    let pages = embedded().discover().pages;
    assert_eq!(pages.thp_size.value, Some(Bytes::mib(512)));
    assert_eq!(pages.thp_mode.value.as_deref(), Some("always"));
    let pools = pages.huge_pools.value.unwrap();
    let pools: Vec<_> = pools
        .iter()
        .map(|pool| (pool.size, pool.total, pool.free))
        .collect();
    assert_eq!(
        pools,
        [
            (Bytes::mib(2), 5, 5),
            (Bytes::mib(512), 2, 1),
            (Bytes::gib(16), 0, 0)
        ]
    );
}

#[test]
fn a_container_hides_and_limits() {
    let tree = container();
    let HostFacts { memory, system, .. } = tree.discover();
    assert_eq!(
        memory.cgroup.value,
        Some(Bytes::gib(1)),
        "{:?}",
        memory.cgroup
    );
    assert!(
        memory.usable.source.starts_with("control group"),
        "{:?}",
        memory.usable
    );
    assert_eq!(system.cpu_quota.value, Some(1.5));
    assert_eq!(system.container.value.as_deref(), Some("podman"));
    assert!(memory.bus.source.contains("is missing"), "{:?}", memory.bus);
    let read = Watch::new(tree.files()).read(&[2, 10]);
    assert_eq!(
        read,
        SystemActivity {
            elapsed_ns: read.elapsed_ns,
            ..SystemActivity::default()
        }
    );
    let outside = tree
        .file("/proc/self/cgroup", "0::/../../system.slice/x\n")
        .discover();
    assert_eq!(
        outside.memory.cgroup.value,
        Some(Bytes::gib(1)),
        "a path that leaves the namespace"
    );
}
