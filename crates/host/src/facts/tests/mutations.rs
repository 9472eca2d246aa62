//! Recorded machines with thousands of seeded changes to their files. No content leads to a panic,
//! and all facts are plausible.

use super::firmware::{DDR5, table};
use super::machines::{container, hybrid, two_sockets};
use super::tree::{Tree, two_cpus};
use crate::noise::Watch;
use report::{HostFacts, SystemActivity, Topology};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// `bytes` with one random change.
fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    const NUMBERS: [&str; 12] = [
        "0",
        "-1",
        "1",
        "18446744073709551615",
        "18446744073709551616",
        "9223372036854775807",
        "4294967295",
        "1e308",
        "nan",
        "inf",
        "0x7f",
        "0-70000",
    ];
    let mut new = bytes.to_vec();
    let at = random.below(new.len() + 1);
    match random.below(8) {
        0 if at < new.len() => new[at] ^= 1 << random.below(8),
        1 => new.truncate(at),
        2 => {
            let line = bytes
                .split(|&b| b == b'\n')
                .nth(random.below(4))
                .unwrap_or_default()
                .to_vec();
            new.extend(line.iter().chain(b"\n").copied());
        }
        3 | 4 => {
            // Replaces one number by another.
            let text = String::from_utf8_lossy(bytes).into_owned();
            let words: Vec<&str> = text
                .split(|c: char| !c.is_ascii_digit())
                .filter(|w| !w.is_empty())
                .collect();
            if !words.is_empty() {
                let word = words[random.below(words.len())];
                new = text
                    .replacen(word, NUMBERS[random.below(NUMBERS.len())], 1)
                    .into_bytes();
            }
        }
        5 => new.clear(),
        6 => new
            .splice(at..at, [0xFF, 0xC3, 0x28, 0, b'\n'])
            .for_each(drop),
        _ => new = (0..random.below(80)).map(|_| random.next() as u8).collect(),
    }
    new
}

/// Paths of all files below `folder`.
fn paths(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            paths(&path, found)
        } else {
            found.push(path)
        }
    }
}

/// Adds the files that a watch reads, and files that few machines have.
fn watched(tree: Tree) -> Tree {
    let mut tree = tree
        .file(
            "/proc/stat",
            "cpu  900000000 5 600 7 8 9 10 11 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu2 1 2 3 4 5 6 7 8 \
             0 0\nintr 5\n",
        )
        .file(
            "/proc/interrupts",
            "      CPU0   CPU2\n 1:  5  6  chip\nNMI: 7 8 \
             Non-maskable\nERR: 1\n",
        )
        .file(
            "/proc/pressure/cpu",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=77\n",
        )
        .file(
            "/proc/pressure/memory",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=78\nfull \
             total=5\n",
        )
        .file("/sys/class/hwmon/hwmon0/name", "coretemp\n")
        .file("/sys/class/hwmon/hwmon0/temp1_input", "45000\n")
        .file("/sys/class/hwmon/hwmon0/temp1_label", "Package id 0\n")
        .file("/sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n")
        .file("/sys/class/thermal/thermal_zone0/temp", "44000\n")
        .file(
            "/sys/fs/cgroup/cpu.stat",
            "usage_usec 9\nnr_throttled 1\nthrottled_usec 55\n",
        )
        .file("/sys/fs/cgroup/memory.stat", "inactive_file 4096\n")
        .file("/sys/firmware/dmi/tables/DMI", table(&[DDR5]))
        .file("/proc/loadavg", "0.5 0.4 0.3 1/2 3\n")
        .file("/proc/sys/vm/overcommit_memory", "2\n")
        .file(
            "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
            "2097152\n",
        )
        .file(
            "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
            "8\n",
        )
        .file(
            "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages",
            "3\n",
        );
    for cpu in [0, 2] {
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle");
        tree = tree
            .file(&format!("{folder}/core_throttle_count"), "3\n")
            .file(&format!("{folder}/package_throttle_count"), "4\n");
    }
    tree
}

fn rising(cpus: &[u32]) -> bool {
    cpus.windows(2).all(|pair| pair[0] < pair[1])
}

/// Fails unless the topology is plausible.
fn sensible_topology(topology: &Topology) {
    let online: Vec<u32> = topology.cpus.iter().map(|cpu| cpu.id).collect();
    assert!(!online.is_empty() && rising(&online), "{online:?}");
    let known =
        |cpus: &[u32]| rising(cpus) && cpus.iter().all(|cpu| online.binary_search(cpu).is_ok());
    for cpu in &topology.cpus {
        assert!(
            known(&cpu.siblings) && cpu.siblings.contains(&cpu.id),
            "{cpu:?}"
        );
        assert!(cpu.node.is_none_or(|id| {
            topology
                .nodes
                .iter()
                .any(|n| n.id == id && n.cpus.0.contains(&cpu.id))
        }));
    }
    let mut caches = BTreeSet::new();
    for cache in &topology.caches {
        assert!(
            cache.size.0 > 0 && cache.level > 0 && !cache.cpus.0.is_empty() && known(&cache.cpus.0),
            "{cache:?}"
        );
        assert!(
            cache.line.is_none_or(|l| l.0 > 0) && cache.ways != Some(0),
            "{cache:?}"
        );
        assert!(
            caches.insert((cache.level, cache.kind, cache.cpus.0.clone())),
            "twice: {cache:?}"
        );
    }
    topology.last_level_total(&online);
    assert!(
        rising(&topology.nodes.iter().map(|n| n.id).collect::<Vec<_>>()),
        "{:?}",
        topology.nodes
    );
    let mut on_nodes: Vec<u32> = topology
        .nodes
        .iter()
        .flat_map(|n| n.cpus.0.clone())
        .collect();
    on_nodes.sort_unstable();
    assert!(known(&on_nodes), "a CPU on two nodes: {:?}", topology.nodes);
    assert!(
        topology
            .nodes
            .iter()
            .all(|n| n.distances.is_empty() || n.distances.len() == topology.nodes.len())
    );
}

fn sensible(facts: &HostFacts) {
    sensible_topology(&facts.topology);
    let memory = &facts.memory;
    for bound in [
        memory.available.value,
        memory.cgroup.value,
        memory.rlimit.value,
        memory.total.value,
    ] {
        assert!(
            bound.is_none() || memory.usable.value <= bound,
            "{memory:?}"
        );
    }
    assert!(
        memory.total.value.is_none_or(|total| total.0 > 0),
        "{memory:?}"
    );
    assert!(
        memory.swap.value.is_none_or(|swap| swap.used <= swap.total),
        "{memory:?}"
    );
    assert!(
        memory.bus.value.is_none_or(|b| b.peak.0.is_finite()
            && b.peak.0 > 0.0
            && (1..=b.modules).contains(&b.channels)),
        "{memory:?}"
    );
    let pages = &facts.pages;
    assert!(
        pages
            .thp_size
            .value
            .is_none_or(|size| size > pages.base && size.0.is_power_of_two()),
        "{pages:?}"
    );
    for pool in pages.huge_pools.value.iter().flatten() {
        assert!(
            pool.size.0.is_power_of_two() && pool.free <= pool.total,
            "{pool:?}"
        );
    }
    assert!(
        facts
            .system
            .cpu_quota
            .value
            .is_none_or(|cpus| cpus > 0.0 && cpus.is_finite())
    );
    assert!(
        facts
            .environment
            .load
            .value
            .is_none_or(|load| load >= 0.0 && load.is_finite())
    );
    let text = serde_json::to_string(facts).unwrap();
    let back: HostFacts = serde_json::from_str(&text).unwrap();
    assert_eq!(&back, facts);
}

fn sensible_counts(read: &SystemActivity) {
    let times = [
        read.stolen_ns,
        read.throttled_ns,
        read.others_ns,
        read.cpu_pressure_ns,
        read.memory_pressure_ns,
    ];
    assert!(
        times
            .iter()
            .flatten()
            .all(|ns| ns.is_finite() && *ns >= 0.0),
        "{read:?}"
    );
    assert!(
        read.highest_celsius
            .is_none_or(|celsius| celsius > 0.0 && celsius < 150.0),
        "{read:?}"
    );
}

#[test]
fn changed_files_never_lead_to_panic_or_nonsense() {
    let mut random = Random(20_260_101);
    for (tree, rounds) in [
        (two_cpus(), 500),
        (two_sockets(), 100),
        (hybrid(), 150),
        (container(), 150),
    ] {
        let tree = watched(tree);
        let mut all = Vec::new();
        paths(tree.0.path(), &mut all);
        sensible(&tree.discover());
        let watch = Watch::new(tree.files());
        assert!(
            watch.read(&[0, 2]).interrupts == Some(26),
            "the tree is whole at first"
        );
        for _ in 0..rounds {
            let mut kept = Vec::new();
            for _ in 0..=random.below(8) {
                let path = &all[random.below(all.len())];
                let bytes = std::fs::read(path).unwrap();
                std::fs::write(path, mutated(&bytes, &mut random)).unwrap();
                kept.push((path, bytes));
            }
            sensible(&tree.discover());
            sensible_counts(&watch.read(&[0, 2]));
            sensible_counts(&Watch::new(tree.files()).read(&[0, 1]));
            for (path, bytes) in kept.into_iter().rev() {
                std::fs::write(path, bytes).unwrap();
            }
        }
    }
}
