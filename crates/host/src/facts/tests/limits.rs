//! Memory that a session may use, under every kind of limit.

use super::tree::{Tree, two_cpus};
use report::Swap;
use units::Bytes;

#[test]
fn limits_of_the_process_count_what_it_has() {
    let facts = two_cpus()
        .file(
            "/proc/self/limits",
            "Max data size             2147483648           unlimited            bytes\nMax \
             address space         1073741824           unlimited            bytes\n",
        )
        .discover();
    assert_eq!(
        facts.memory.rlimit.value,
        Some(Bytes::mib(1023)),
        "{:?}",
        facts.memory.rlimit
    );
    assert!(facts.memory.rlimit.source.contains("RLIMIT_AS"));
    assert!(
        facts.memory.usable.source.starts_with("process limit"),
        "{:?}",
        facts.memory.usable
    );
}

#[test]
fn strict_overcommit_bounds_what_is_available() {
    let meminfo = "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\nCommitLimit: 4194304 \
         kB\nCommitted_AS: 1048576 kB\n";
    let tree = two_cpus()
        .file("/proc/meminfo", meminfo)
        .file("/proc/sys/vm/overcommit_memory", "2\n");
    assert_eq!(tree.discover().memory.available.value, Some(Bytes::gib(3)));
    let tree = tree.file("/proc/sys/vm/overcommit_memory", "0\n");
    assert_eq!(tree.discover().memory.available.value, Some(Bytes::gib(8)));
}

#[test]
fn old_kernels_have_no_estimate_of_available_memory() {
    let meminfo = "MemTotal: 4096 kB\nMemFree: 1000 kB\nBuffers: 20 kB\nCached: 4 kB\n";
    let available = two_cpus()
        .file("/proc/meminfo", meminfo)
        .discover()
        .memory
        .available;
    assert_eq!(
        (available.value, available.source.contains("Cached")),
        (Some(Bytes::mib(1)), true)
    );
}

#[test]
fn memory_that_a_balloon_holds_is_not_available() {
    let node = |id: u32, free: u64| {
        format!(
            "Node {id} MemTotal: 4194304 kB\nNode {id} MemFree: {free} kB\nNode {id} \
             Active(file): 100 kB\nNode {id} Inactive(file): 20 kB\nNode {id} SReclaimable: 4 \
             kB\n"
        )
    };
    let path = |id: u32| format!("/sys/devices/system/node/node{id}/meminfo");
    let tree = two_cpus()
        .node(1, "", 1, "10 20")
        .file(&path(0), node(0, 900))
        .file(&path(1), node(1, 1048576 - 1148));
    assert_eq!(tree.discover().memory.available.value, Some(Bytes::gib(1)));
    let tree = tree.file(&path(0), node(0, 8 << 20));
    assert_eq!(
        tree.discover().memory.available.value,
        Some(Bytes::gib(8)),
        "the nodes have enough"
    );
    let tree = tree.file(&path(0), "Node 0 MemFree: 1 kB\n");
    assert_eq!(
        tree.discover().memory.available.value,
        Some(Bytes::gib(8)),
        "a node does not report"
    );
}

/// Two nodes with 1 and 4 GiB available.
fn two_nodes() -> Tree {
    let node = |id: u32, free: u64| {
        format!(
            "Node {id} MemTotal: 8388608 kB\nNode {id} MemFree: {free} kB\nNode {id} \
             Active(file): 24 kB\nNode {id} Inactive(file): 0 kB\nNode {id} SReclaimable: 0 kB\n"
        )
    };
    two_cpus()
        .node(1, "", 1, "10 20")
        .file(
            "/sys/devices/system/node/node0/meminfo",
            node(0, (1 << 20) - 24),
        )
        .file(
            "/sys/devices/system/node/node1/meminfo",
            node(1, (8 << 20) - 24),
        )
}

#[test]
fn a_cpuset_leaves_the_memory_of_its_nodes() {
    let status = |nodes: &str| format!("Name:\tx\nMems_allowed:\t1\nMems_allowed_list:\t{nodes}\n");
    let available = |nodes: &str| {
        two_nodes()
            .file("/proc/self/status", status(nodes))
            .discover()
            .memory
            .available
    };
    assert_eq!(
        available("0").value,
        Some(Bytes::gib(1)),
        "{:?}",
        available("0")
    );
    assert!(
        available("0")
            .source
            .contains("nodes allowed (0, Mems_allowed_list)"),
        "{:?}",
        available("0")
    );
    assert_eq!(available("0-1").value, Some(Bytes::gib(8)));
    assert_eq!(
        available("1").value,
        Some(Bytes::gib(8)),
        "no more than the machine has available"
    );
    for odd in ["", "x", "7", "0-"] {
        assert_eq!(available(odd).value, Some(Bytes::gib(8)), "{odd:?}");
    }
    let hidden = two_nodes()
        .file("/proc/self/status", status("0"))
        .without("/sys/devices/system/node/node0/meminfo");
    assert_eq!(
        hidden.discover().memory.available.value,
        Some(Bytes::gib(8)),
        "the node does not report"
    );
}

/// Each of the limits in turn is the tightest, and the usable memory follows it.
#[test]
fn usable_memory_follows_whoever_leaves_least() {
    let limits = |bytes: u64| {
        format!(
            "Max data size unlimited unlimited bytes\nMax address space {bytes} {bytes} bytes\n"
        )
    };
    let cases = [
        ("available", two_cpus(), Bytes::gib(8)),
        (
            "available",
            two_nodes().file("/proc/self/status", "Mems_allowed_list:\t0\n"),
            Bytes::gib(1),
        ),
        (
            "available",
            two_cpus()
                .file("/proc/sys/vm/overcommit_memory", "2\n")
                .file(
                    "/proc/meminfo",
                    "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\nCommitLimit: 3145728 \
                 kB\nCommitted_AS: 1048576 kB\n",
                ),
            Bytes::gib(2),
        ),
        (
            "process limit",
            two_cpus().file("/proc/self/limits", limits((3 << 30) + (1 << 20))),
            Bytes::gib(3),
        ),
        (
            "control group",
            two_cpus()
                .file("/proc/self/cgroup", "0::/x\n")
                .file("/sys/fs/cgroup/x/memory.max", "2147483648\n"),
            Bytes::gib(2),
        ),
        (
            "control group",
            two_cpus().file("/proc/self/cgroup", "3:memory:/x\n").file(
                "/sys/fs/cgroup/memory/x/memory.limit_in_bytes",
                "1073741824\n",
            ),
            Bytes::gib(1),
        ),
    ];
    for (who, tree, least) in cases {
        let usable = tree.discover().memory.usable;
        let reserve = Bytes((least.0 / 10).max(96 << 20));
        assert_eq!(
            usable.value,
            Some(Bytes(least.0 - reserve.0)),
            "{who} {usable:?}"
        );
        assert!(usable.source.starts_with(who), "{who} {usable:?}");
    }
}

#[test]
fn rules_for_memory_are_facts() {
    let memory = two_cpus()
        .file("/proc/sys/vm/overcommit_memory", "1\n")
        .file(
            "/proc/self/limits",
            "Max locked memory         8388608              8388608              bytes     \n",
        )
        .file(
            "/proc/meminfo",
            "MemTotal: 100 kB\nSwapTotal: 64 kB\nSwapFree: 16 kB\n",
        )
        .discover()
        .memory;
    assert_eq!(memory.overcommit.value.as_deref(), Some("always"));
    assert_eq!(memory.lock_limit.value, Some(Bytes::mib(8)));
    assert_eq!(
        memory.swap.value,
        Some(Swap {
            total: Bytes::kib(64),
            used: Bytes::kib(48)
        })
    );
    let memory = two_cpus()
        .file("/proc/sys/vm/overcommit_memory", "7\n")
        .file(
            "/proc/self/limits",
            "Max locked memory   unlimited   unlimited   bytes\n",
        )
        .discover()
        .memory;
    assert_eq!(memory.overcommit.value, None);
    assert_eq!(
        (
            memory.lock_limit.value,
            memory.lock_limit.source.contains("no limit")
        ),
        (None, true)
    );
    assert_eq!(memory.swap.value, None, "not none, but unknown");
}
