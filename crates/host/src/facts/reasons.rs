//! Reasons for unknown facts on systems without `/proc` and `/sys`.

use report::{Fact, HostFacts};

/// Reason for an unknown fact that Linux reports in a file.
const NO_CALL: &str = "no call that memgauge makes on this system reports it";

/// Replaces reasons that name missing files of Linux, because such reasons explain nothing on other
/// systems.
pub fn without_files(facts: &mut HostFacts) {
    let cpu = &mut facts.cpu;
    for fact in [
        &mut cpu.vendor,
        &mut cpu.model_name,
        &mut cpu.signature,
        &mut cpu.microarchitecture,
        &mut cpu.microcode,
    ] {
        plain(fact);
    }
    plain(&mut cpu.counter);
    let memory = &mut facts.memory;
    for fact in [
        &mut memory.total,
        &mut memory.available,
        &mut memory.cgroup,
        &mut memory.rlimit,
        &mut memory.usable,
        &mut memory.lock_limit,
    ] {
        plain(fact);
    }
    plain(&mut memory.overcommit);
    plain(&mut memory.swap);
    plain(&mut memory.bus);
    let pages = &mut facts.pages;
    plain(&mut pages.thp_mode);
    plain(&mut pages.thp_size);
    plain(&mut pages.thp_defrag);
    plain(&mut pages.huge_pools);
    let system = &mut facts.system;
    for fact in [
        &mut system.kernel,
        &mut system.firmware,
        &mut system.hostname,
        &mut system.virtualization,
        &mut system.emulation,
        &mut system.container,
    ] {
        plain(fact);
    }
    plain(&mut system.cpu_quota);
    let environment = &mut facts.environment;
    for fact in [
        &mut environment.governor,
        &mut environment.power_source,
        &mut environment.thermal_state,
        &mut environment.memory_pressure,
    ] {
        plain(fact);
    }
    for fact in [
        &mut environment.turbo,
        &mut environment.smt,
        &mut environment.numa_balancing,
        &mut environment.power_saving,
    ] {
        plain(fact);
    }
    plain(&mut environment.load);
    plain(&mut environment.mitigations);
}

/// Replaces the reason of `fact` if the fact is unknown and its reason names a file of Linux.
fn plain<T>(fact: &mut Fact<T>) {
    let of_linux = ["/proc", "/sys", "/run", "control group", "RLIMIT"];
    let named = of_linux.iter().any(|word| fact.source.contains(word));
    if fact.value.is_none() && named {
        NO_CALL.clone_into(&mut fact.source);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::SystemFiles;

    #[test]
    fn no_reason_names_a_file_of_linux() {
        let mut facts = crate::facts::discover(&SystemFiles::under("/nowhere"));
        let text = |facts: &HostFacts| serde_json::to_string(facts).unwrap();
        assert!(text(&facts).contains("no number in /proc/loadavg"));
        let governor = facts.environment.governor.source.clone();
        without_files(&mut facts);
        assert_ne!(facts.environment.governor.source, governor);
        assert_eq!(facts.environment.load.source, NO_CALL);
        // Sources of known facts stay, and so do texts about the whole topology.
        facts.memory = HostFacts::unknown("x").memory;
        facts.topology = HostFacts::unknown("x").topology;
        // The kernel and the host name are left out, because Linux asks uname for them without
        // files.
        facts.system.kernel = HostFacts::unknown("x").system.kernel;
        facts.system.hostname = HostFacts::unknown("x").system.hostname;
        let left = text(&facts);
        for path in ["/proc", "/sys", "control group"] {
            assert!(!left.contains(path), "{path} in {left}");
        }
    }
}
