//! Facts about phones: clusters of cores, the cpuset of an app, thermal zones.

use super::tree::Tree;
use crate::noise::Watch;

const CPUS: &str = "/sys/devices/system/cpu";

/// Eight CPUs without caches or positions, as Android shows them to an app in the background.
fn phone() -> Tree {
    let tree = Tree::new()
        .memory()
        .file(&format!("{CPUS}/online"), "0-7\n")
        .file("/proc/self/status", "Cpus_allowed_list:\t0-3\n")
        .file("/proc/self/cgroup", "4:cpuset:/background\n3:cpu:/\n");
    (0..8).fold(tree, |tree, cpu| {
        tree.file(&format!("{CPUS}/cpu{cpu}/online"), "1\n")
    })
}

fn with_capacities(tree: Tree, capacities: [u32; 8]) -> Tree {
    capacities.iter().enumerate().fold(tree, |tree, (cpu, n)| {
        tree.file(&format!("{CPUS}/cpu{cpu}/cpu_capacity"), format!("{n}\n"))
    })
}

/// A cluster of CPUs with one clock.
fn with_policy(tree: Tree, first: u32, cpus: &str, kilohertz: u64) -> Tree {
    let folder = format!("{CPUS}/cpufreq/policy{first}");
    tree.file(&format!("{folder}/related_cpus"), format!("{cpus}\n"))
        .file(
            &format!("{folder}/cpuinfo_max_freq"),
            format!("{kilohertz}\n"),
        )
}

fn kinds(tree: &Tree) -> Vec<Option<String>> {
    let cpus = tree.discover().topology.cpus;
    cpus.into_iter().map(|cpu| cpu.kind).collect()
}

fn some(kind: &str) -> Option<String> {
    Some(kind.to_owned())
}

#[test]
fn clusters_by_capacity() {
    let tree = with_capacities(phone(), [160, 160, 160, 160, 498, 498, 498, 1024]);
    let kinds = kinds(&tree);
    assert_eq!(kinds[0], some("capacity 160"));
    assert_eq!(kinds[6], some("capacity 498"));
    assert_eq!(kinds[7], some("capacity 1024"));
}

#[test]
fn clusters_by_clock_rate() {
    let tree = with_policy(phone(), 0, "0 1 2 3", 1_800_000);
    let tree = with_policy(tree, 4, "4 5 6 7", 2_400_000);
    let kinds = kinds(&tree);
    assert_eq!(kinds[3], some("up to 1800 MHz"));
    assert_eq!(kinds[4], some("up to 2400 MHz"));
}

#[test]
fn no_kinds_without_a_difference_or_with_a_gap() {
    let alike = kinds(&with_capacities(phone(), [1024; 8]));
    assert_eq!(alike, vec![None; 8]);
    let gap = with_capacities(phone(), [160, 160, 160, 160, 1024, 1024, 1024, 1024])
        .without(&format!("{CPUS}/cpu5/cpu_capacity"));
    assert_eq!(kinds(&gap), vec![None; 8]);
    // If each CPU has its own clock, highest rates differ even between cores of one kind. The kinds
    // are then unknown.
    let own = (0..8).fold(phone(), |tree, cpu| {
        with_policy(
            tree,
            cpu,
            &cpu.to_string(),
            3_000_000 + 100_000 * u64::from(cpu),
        )
    });
    assert_eq!(kinds(&own), vec![None; 8]);
}

#[test]
fn names_of_intels_kinds() {
    let tree = phone()
        .file("/sys/devices/cpu_core/cpus", "0-3\n")
        .file("/sys/devices/cpu_atom/cpus", "4-7\n");
    let kinds = kinds(&with_capacities(tree, [1024, 1024, 1, 1, 1, 1, 1, 1]));
    assert_eq!(kinds[3], some("performance"));
    assert_eq!(kinds[4], some("efficiency"));
}

#[test]
fn the_cpuset_of_an_app() {
    let topology = phone().discover().topology;
    assert_eq!(topology.allowed(), [0, 1, 2, 3]);
    assert!(topology.cpus_source.contains("/background"));
    let root = phone().file("/proc/self/cgroup", "4:cpuset:/\n3:cpu:/x\n");
    assert!(!root.discover().topology.cpus_source.contains("cpuset"));
}

#[test]
fn thermal_zones_of_processors() {
    let zone = |tree: Tree, nth: u32, kind: &str, milli: u32| {
        let folder = format!("/sys/class/thermal/thermal_zone{nth}");
        tree.file(&format!("{folder}/type"), format!("{kind}\n"))
            .file(&format!("{folder}/temp"), format!("{milli}\n"))
    };
    let highest = |tree: &Tree| Watch::new(tree.files()).read(&[0]).highest_celsius;
    let tree = zone(phone(), 0, "battery", 90_000);
    assert_eq!(highest(&tree), None);
    let tree = zone(tree, 1, "cpu-1-0-usr", 41_000);
    let tree = zone(tree, 2, "mtktscpu", 43_000);
    assert_eq!(highest(&tree), Some(43.0));
    let tree = zone(tree, 3, "BIG", 47_500);
    assert_eq!(highest(&tree), Some(47.5));
}
