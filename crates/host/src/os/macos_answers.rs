//! Interprets the results of macOS's calls. This module makes no calls, so it is tested everywhere.
//!
//! Source of the names: Apple, "Determining system capabilities" (sysctlbyname). Names without a
//! performance level describe the slowest kind of core.

use super::sysctl::Sysctl;
use crate::reported::{ReportedCore, ReportedTopology};
use report::{Cache, CacheKind, Fact};
use units::{Bytes, CpuList};

/// Largest accepted numbers of performance levels, and of CPUs in a performance level. Larger
/// answers are cut.
const MOST_LEVELS: u64 = 8;
const MOST_CPUS: u64 = 1024;

/// Kind of the cores on which macOS runs background work.
pub const EFFICIENCY: &str = "efficiency";

/// A performance level of macOS: one kind of core.
struct Level {
    /// Name of the kind of core; `None` if there is only one level.
    kind: Option<String>,
    /// Prefix of the sysctl names for this level.
    prefix: String,
    cpus: Vec<u32>,
    cores: u64,
}

/// The CPUs and caches. `None` if the kernel reports no CPUs.
///
/// macOS has no CPU numbers for programs. Here, CPUs are numbered from one performance level to the
/// next, the fastest level first. The CPUs of a cluster have successive numbers.
pub fn topology(kernel: &dyn Sysctl) -> Option<ReportedTopology> {
    let levels = levels(kernel);
    let online: Vec<u32> = levels.iter().flat_map(|level| level.cpus.clone()).collect();
    if online.is_empty() {
        return None;
    }
    let line = kernel.number("hw.cachelinesize").filter(|&line| line > 0);
    let mut found = ReportedTopology {
        packages: packages(kernel, &online),
        cpus_source: "sysctl hw.perflevel*.logicalcpu, hw.logicalcpu; numbers count through the \
                      performance levels, since macOS numbers no CPUs for programs"
            .to_owned(),
        caches_source: "sysctl hw.perflevel*, hw.l*cachesize, hw.cacheconfig".to_owned(),
        ..ReportedTopology::default()
    };
    for level in &levels {
        let threads = (level.cpus.len() as u64 / level.cores.max(1)).max(1);
        for cpus in level.cpus.chunks(threads as usize) {
            found.cores.push(ReportedCore {
                cpus: cpus.to_vec(),
                kind: level.kind.clone(),
            });
        }
        found.caches.extend(caches(kernel, level, threads, line));
    }
    found.online = online;
    Some(found)
}

fn levels(kernel: &dyn Sysctl) -> Vec<Level> {
    let count = kernel
        .number("hw.nperflevels")
        .unwrap_or(0)
        .min(MOST_LEVELS);
    let mut next = 0;
    let mut level = |prefix: String, kind: Option<String>| {
        let cpus = kernel
            .number(&format!("{prefix}.logicalcpu"))?
            .min(MOST_CPUS) as u32;
        let cores = kernel.number(&format!("{prefix}.physicalcpu"));
        let first = next;
        next += cpus;
        Some(Level {
            kind,
            prefix,
            cpus: (first..next).collect(),
            cores: cores.filter(|&cores| cores > 0).unwrap_or(u64::from(cpus)),
        })
    };
    let named: Vec<Level> = (0..count)
        .filter_map(|nth| {
            let prefix = format!("hw.perflevel{nth}");
            let name = kernel.text(&format!("{prefix}.name"));
            let name = name.map_or_else(
                || format!("performance level {nth}"),
                |name| name.to_lowercase(),
            );
            level(prefix, Some(name))
        })
        .collect();
    if named.is_empty() {
        level("hw".to_owned(), None).into_iter().collect()
    } else {
        named
    }
}

/// CPUs of each package. The function assumes that successive CPUs are divided evenly among the
/// packages.
fn packages(kernel: &dyn Sysctl, online: &[u32]) -> Vec<Vec<u32>> {
    let count = kernel
        .number("hw.packages")
        .unwrap_or(1)
        .clamp(1, MOST_CPUS) as usize;
    let each = online.len().div_ceil(count).max(1);
    online.chunks(each).map(<[u32]>::to_vec).collect()
}

/// Caches of the cores of one performance level (Apple's name for a kind of core). `threads` is the
/// number of CPUs of a core.
fn caches(kernel: &dyn Sysctl, level: &Level, threads: u64, line: Option<u64>) -> Vec<Cache> {
    let ask = |name: &str| kernel.number(&format!("{}.{name}", level.prefix));
    // Numbers of CPUs that share the memory and the caches of level 1, 2 and 3. On Apple's
    // processors they describe only one kind of core.
    let config = kernel.numbers("hw.cacheconfig");
    let sharers = |nth: usize| config.get(nth).copied().filter(|_| level.kind.is_none());
    let all = level.cpus.len() as u64;
    let second = ask("cpusperl2").or_else(|| sharers(2)).unwrap_or(threads);
    let third = ask("cpusperl3").or_else(|| sharers(3)).unwrap_or(all);
    let named = [
        ("l1icachesize", 1, CacheKind::Instruction, threads),
        ("l1dcachesize", 1, CacheKind::Data, threads),
        ("l2cachesize", 2, CacheKind::Unified, second),
        ("l3cachesize", 3, CacheKind::Unified, third),
    ];
    let mut found = Vec::new();
    for (name, number, kind, sharers) in named {
        let Some(size) = ask(name).filter(|&size| size > 0) else {
            continue;
        };
        let sharers = sharers.clamp(1, all.max(1)) as usize;
        found.extend(level.cpus.chunks(sharers).map(|cpus| Cache {
            level: number,
            kind,
            size: Bytes(size),
            line: line.map(Bytes),
            ways: None,
            cpus: CpuList(cpus.to_vec()),
        }));
    }
    found
}

/// Memory pressure in words (kern.memorystatus_vm_pressure_level, values of sys/event.h).
pub fn memory_pressure(kernel: &dyn Sysctl) -> Fact<String> {
    const NAME: &str = "kern.memorystatus_vm_pressure_level";
    let word = match kernel.number(NAME) {
        Some(1) => "normal",
        Some(2) => "warning",
        Some(4) => "critical",
        Some(other) => {
            return Fact::unknown(format!("{NAME} is {other}, which has no known meaning"));
        }
        None => return Fact::unknown(format!("no {NAME}")),
    };
    Fact::known(word.to_owned(), NAME)
}

/// Thermal state in words. The source is `state` (NSProcessInfoThermalState), else the thermal
/// level of Intel's processors. Of this level, only the value 0 has a known meaning.
pub fn thermal_state(kernel: &dyn Sysctl, state: Option<i64>) -> Fact<String> {
    const LEVEL: &str = "machdep.xcpm.cpu_thermal_level";
    let word = match state {
        Some(0) => "nominal",
        Some(1) => "fair",
        Some(2) => "serious",
        Some(3) => "critical",
        _ => {
            return match kernel.number(LEVEL) {
                Some(0) => Fact::known("nominal".to_owned(), LEVEL),
                Some(level) => Fact::known(format!("level {level}"), LEVEL),
                None => Fact::unknown(format!("neither NSProcessInfo nor {LEVEL} tells")),
            };
        }
    };
    Fact::known(word.to_owned(), "NSProcessInfo thermalState")
}

/// Power source, from the result `seconds` of IOPSGetTimeRemainingEstimate (`None` if the call does
/// not exist). The result is the battery's remaining time, -2 on mains, or -1 if the time is not
/// yet known.
pub fn power_source(seconds: Option<f64>) -> Fact<String> {
    const CALL: &str = "IOPSGetTimeRemainingEstimate";
    match seconds {
        Some(-2.0) => Fact::known("mains".to_owned(), CALL),
        Some(time) if time == -1.0 || time >= 0.0 => Fact::known("battery".to_owned(), CALL),
        _ => Fact::unknown(format!("{CALL} does not say")),
    }
}

/// True if low-power mode is on. `on` is the answer of NSProcessInfo; `None` before macOS 12.
pub fn power_saving(on: Option<bool>) -> Fact<bool> {
    match on {
        Some(on) => Fact::known(on, "NSProcessInfo lowPowerModeEnabled"),
        None => Fact::unknown("NSProcessInfo has no lowPowerModeEnabled, as before macOS 12"),
    }
}

/// True if a thread has to request the class for background work in order to run on a core of
/// `kind`.
pub fn is_background(kind: Option<&str>) -> bool {
    kind == Some(EFFICIENCY)
}

#[cfg(test)]
mod tests {
    use super::super::sysctl::Recorded;
    use super::*;

    /// Apple M1.
    const M1: Recorded = Recorded(
        "hw.packages: 1
hw.logicalcpu: 8
hw.physicalcpu: 8
hw.nperflevels: 2
hw.perflevel0.name: Performance
hw.perflevel0.physicalcpu: 4
hw.perflevel0.logicalcpu: 4
hw.perflevel0.l1icachesize: 196608
hw.perflevel0.l1dcachesize: 131072
hw.perflevel0.l2cachesize: 12582912
hw.perflevel0.cpusperl2: 4
hw.perflevel1.name: Efficiency
hw.perflevel1.physicalcpu: 4
hw.perflevel1.logicalcpu: 4
hw.perflevel1.l1icachesize: 131072
hw.perflevel1.l1dcachesize: 65536
hw.perflevel1.l2cachesize: 4194304
hw.perflevel1.cpusperl2: 4
hw.cachelinesize: 128
hw.cacheconfig: 8 1 4 0 0 0 0 0 0 0
hw.l1dcachesize: 65536
hw.l2cachesize: 4194304
kern.memorystatus_vm_pressure_level: 2",
    );

    /// Intel Core i7 with two threads per core.
    const INTEL: Recorded = Recorded(
        "hw.packages: 1
hw.logicalcpu: 8
hw.physicalcpu: 4
hw.cachelinesize: 64
hw.cacheconfig: 8 2 2 8 0 0 0 0 0 0
hw.l1icachesize: 32768
hw.l1dcachesize: 32768
hw.l2cachesize: 262144
hw.l3cachesize: 6291456
machdep.xcpm.cpu_thermal_level: 40",
    );

    fn sizes(topology: &ReportedTopology, cpu: u32) -> Vec<(u32, u64, usize)> {
        let here = topology
            .caches
            .iter()
            .filter(|cache| cache.cpus.0.contains(&cpu));
        here.filter(|cache| cache.kind != CacheKind::Instruction)
            .map(|cache| (cache.level, cache.size.0 >> 10, cache.cpus.0.len()))
            .collect()
    }

    #[test]
    fn two_kinds_of_cores() {
        let topology = topology(&M1).unwrap();
        assert_eq!(topology.online, (0..8).collect::<Vec<_>>());
        let kinds: Vec<_> = topology
            .cores
            .iter()
            .filter_map(|core| core.kind.as_deref())
            .collect();
        assert_eq!(kinds[..4], ["performance"; 4]);
        assert_eq!(kinds[4..], [EFFICIENCY; 4]);
        assert_eq!(sizes(&topology, 0), [(1, 128, 1), (2, 12288, 4)]);
        assert_eq!(sizes(&topology, 7), [(1, 64, 1), (2, 4096, 4)]);
        assert!(
            topology
                .caches
                .iter()
                .all(|cache| cache.line == Some(Bytes(128)))
        );
    }

    #[test]
    fn one_kind_of_core_with_two_threads() {
        let topology = topology(&INTEL).unwrap();
        assert_eq!(topology.cores.len(), 4);
        assert_eq!(topology.cores[3].cpus, [6, 7]);
        assert!(topology.cores.iter().all(|core| core.kind.is_none()));
        assert_eq!(sizes(&topology, 3), [(1, 32, 2), (2, 256, 2), (3, 6144, 8)]);
        assert_eq!(topology.packages, [(0..8).collect::<Vec<_>>()]);
    }

    #[test]
    fn odd_answers_are_unknown() {
        assert_eq!(topology(&Recorded("hw.nperflevels: 2")), None);
        assert_eq!(topology(&Recorded("")), None);
        let odd = Recorded(
            "hw.nperflevels: 99999999999\nhw.perflevel0.logicalcpu: 99999999999\n\
             hw.perflevel0.physicalcpu: 0\nhw.perflevel0.cpusperl2: 0\n\
             hw.perflevel0.l2cachesize: 4096\nhw.packages: 0",
        );
        let topology = topology(&odd).unwrap();
        assert_eq!(topology.online.len(), MOST_CPUS as usize);
        assert_eq!(
            topology.cores[0].kind.as_deref(),
            Some("performance level 0")
        );
        assert_eq!(topology.caches.len(), MOST_CPUS as usize);
    }

    #[test]
    fn conditions_have_their_names() {
        let word = |fact: Fact<String>| fact.value;
        assert_eq!(word(memory_pressure(&M1)).as_deref(), Some("warning"));
        assert_eq!(word(memory_pressure(&INTEL)), None);
        assert_eq!(
            word(thermal_state(&M1, Some(0))).as_deref(),
            Some("nominal")
        );
        assert_eq!(
            word(thermal_state(&INTEL, Some(3))).as_deref(),
            Some("critical")
        );
        assert_eq!(
            word(thermal_state(&INTEL, None)).as_deref(),
            Some("level 40")
        );
        assert_eq!(word(thermal_state(&M1, Some(9))), None);
        assert_eq!(word(power_source(Some(-2.0))).as_deref(), Some("mains"));
        assert_eq!(word(power_source(Some(-1.0))).as_deref(), Some("battery"));
        assert_eq!(word(power_source(Some(3600.0))).as_deref(), Some("battery"));
        assert_eq!(word(power_source(Some(f64::NAN))), None);
        assert_eq!(word(power_source(None)), None);
        assert_eq!(power_saving(Some(true)).value, Some(true));
        assert_eq!(power_saving(None).value, None);
        assert!(is_background(Some(EFFICIENCY)));
        assert!(!is_background(Some("performance")) && !is_background(None));
    }
}
