//! Kinds of cores (such as performance and efficiency), as Linux and Android report them.

use super::super::files::SystemFiles;
use std::collections::{BTreeMap, BTreeSet};

const CPUS: &str = "/sys/devices/system/cpu";

/// Files that list the CPUs of each kind of core in Intel's hybrid processors, with the name of the
/// kind. The files belong to the devices for performance counters (Documentation/admin-guide/perf,
/// arch/x86/events/intel/core.c).
const HYBRID: [(&str, &str); 3] = [
    ("/sys/devices/cpu_core/cpus", "performance"),
    ("/sys/devices/cpu_atom/cpus", "efficiency"),
    ("/sys/devices/cpu_lowpower/cpus", "low power"),
];

/// Kind of core of each CPU in `online`. Empty if all cores are of one kind, or if the kind of some
/// core is unknown.
///
/// The best source is Intel's names of kinds. The second best is the capacity of a CPU: its
/// relative speed, at most 1024 (`cpu_capacity`, on Arm and RISC-V). The last resort is the highest
/// clock rate of a cluster (`cpufreq`, older Android).
pub fn kinds(files: &SystemFiles, online: &BTreeSet<u32>) -> BTreeMap<u32, String> {
    [by_name, by_capacity, by_cluster]
        .into_iter()
        .map(|read| read(files, online))
        .find(|kinds| {
            let different: BTreeSet<&String> = kinds.values().collect();
            kinds.len() == online.len() && different.len() > 1
        })
        .unwrap_or_default()
}

fn by_name(files: &SystemFiles, online: &BTreeSet<u32>) -> BTreeMap<u32, String> {
    let named = HYBRID.iter().flat_map(|(path, kind)| {
        let cpus = files.cpus(path).unwrap_or_default();
        cpus.into_iter().map(|cpu| (cpu, (*kind).to_owned()))
    });
    named.filter(|(cpu, _)| online.contains(cpu)).collect()
}

fn by_capacity(files: &SystemFiles, online: &BTreeSet<u32>) -> BTreeMap<u32, String> {
    let capacity = |&cpu: &u32| {
        let capacity: u32 = files.read_as(&format!("{CPUS}/cpu{cpu}/cpu_capacity"))?;
        (capacity > 0).then(|| (cpu, format!("capacity {capacity}")))
    };
    online.iter().filter_map(capacity).collect()
}

/// Kinds by the highest clock rate of a cluster. A cluster is a cpufreq policy of several CPUs. The
/// result is empty if every CPU has its own policy. In this case, the highest rates differ even
/// between cores of one kind.
fn by_cluster(files: &SystemFiles, online: &BTreeSet<u32>) -> BTreeMap<u32, String> {
    let mut found = BTreeMap::new();
    let mut clusters = 0;
    for name in files.names(&format!("{CPUS}/cpufreq")) {
        let folder = format!("{CPUS}/cpufreq/{name}");
        let rate: Option<u64> = files.read_as(&format!("{folder}/cpuinfo_max_freq"));
        let cpus: Option<BTreeSet<u32>> = files.read(&format!("{folder}/related_cpus")).and_then(
            // The CPUs in this file are separated by spaces, unlike in other lists.
            |text| {
                text.split_whitespace()
                    .map(|word| word.parse().ok())
                    .collect()
            },
        );
        let (Some(rate), Some(cpus)) = (rate.filter(|&rate| rate > 0), cpus) else {
            continue;
        };
        clusters += usize::from(cpus.len() > 1);
        let online = cpus.into_iter().filter(|cpu| online.contains(cpu));
        found.extend(online.map(|cpu| (cpu, format!("up to {} MHz", rate / 1000))));
    }
    if clusters == 0 {
        found.clear();
    }
    found
}
