//! Facts about the system: page sizes, kernel, virtualization, and settings that affect results.

use super::files::{SystemFiles, field};
use super::limits::called;
use super::processor::or_reported;
use super::{cgroup, power};
use crate::processor::{self, Hypervisor};
use crate::reported::Reported;
use crate::{os, pin, privilege};
use report::{Environment, Fact, HugePool, PageFacts, SystemFacts, Topology};
use std::collections::BTreeSet;
use units::Bytes;

const CPUS: &str = "/sys/devices/system/cpu";
const THP: &str = "/sys/kernel/mm/transparent_hugepage";
const POOLS: &str = "/sys/kernel/mm/hugepages";

/// Page sizes, and the settings for huge pages.
pub fn pages(files: &SystemFiles, reported: &Reported) -> PageFacts {
    if let Some(pages) = &reported.pages {
        return PageFacts {
            base: Bytes(os::page_size() as u64),
            thp_mode: pages.mode.clone(),
            thp_size: pages.size.clone(),
            thp_defrag: Fact::unknown("a setting of Linux only"),
            huge_pools: pages.pools.clone(),
        };
    }
    let enabled = format!("{THP}/enabled");
    let defrag = format!("{THP}/defrag");
    let chosen = |path: &str| {
        Some(
            files
                .read(path)?
                .split_once('[')?
                .1
                .split_once(']')?
                .0
                .to_owned(),
        )
    };
    let size_path = format!("{THP}/hpage_pmd_size");
    let size = files
        .read_as::<u64>(&size_path)
        .filter(|size| size.is_power_of_two() && *size > os::page_size() as u64);
    PageFacts {
        base: Bytes(os::page_size() as u64),
        thp_mode: match chosen(&enabled) {
            Some(mode) => Fact::known(mode, enabled),
            None => Fact::unknown(format!(
                "no mode in {enabled}: the kernel lacks transparent huge pages, or hides it"
            )),
        },
        thp_size: match size {
            Some(size) => Fact::known(Bytes(size), size_path),
            None => Fact::unknown(format!("no size in {size_path}")),
        },
        thp_defrag: match chosen(&defrag) {
            Some(mode) => Fact::known(mode, defrag),
            None => Fact::unknown(format!("no mode in {defrag}")),
        },
        huge_pools: huge_pools(files),
    }
}

/// Pools of reserved huge pages, in rising order of their page sizes.
fn huge_pools(files: &SystemFiles) -> Fact<Vec<HugePool>> {
    let pool = |name: &String| {
        let kilobytes: u64 = name
            .strip_prefix("hugepages-")?
            .strip_suffix("kB")?
            .parse()
            .ok()?;
        let number = |file: &str| files.read_as::<u64>(&format!("{POOLS}/{name}/{file}"));
        let size = Bytes(
            kilobytes
                .checked_mul(1024)
                .filter(|size| size.is_power_of_two())?,
        );
        let total = number("nr_hugepages")?;
        let free = number("free_hugepages")?;
        (free <= total).then_some(HugePool { size, total, free })
    };
    let mut pools: Vec<HugePool> = files.names(POOLS).iter().filter_map(pool).collect();
    pools.sort_by_key(|pool| pool.size);
    match pools.is_empty() {
        true => Fact::unknown(format!("no pools in {POOLS}")),
        false => Fact::known(pools, POOLS),
    }
}

/// Kernel, host name, virtualization, container and CPU quota.
pub fn system(files: &SystemFiles, reported: &Reported) -> SystemFacts {
    let named = |path: &str, call: fn() -> Option<String>| match (files.read(path), call()) {
        (Some(text), _) => Fact::known(text, path),
        (None, Some(text)) => Fact::known(text, called(os::NAME_CALL, path)),
        (None, None) => Fact::unknown(format!("neither {path} nor {} tells", os::NAME_CALL)),
    };
    SystemFacts {
        os: std::env::consts::OS.to_owned(),
        kernel: named("/proc/sys/kernel/osrelease", os::kernel_release),
        firmware: or_reported(firmware(files), reported.firmware.as_ref()),
        hostname: named("/proc/sys/kernel/hostname", os::host_name),
        virtualization: virtualization(files, reported),
        emulation: emulation(files),
        pinning: Fact::known(pin::can_pin(), "what this system offers"),
        thread_request: reported.thread_request.clone().unwrap_or_else(|| {
            Fact::unknown("no request is made: threads are pinned, or the system takes none")
        }),
        container: container(files),
        elevated: Fact::known(
            privilege::is_elevated(),
            "rights of the process and of its caller",
        ),
        cpu_quota: match cgroup::cpu_quota(files).or_else(|| reported.cpu_quota.clone()) {
            Some((cpus, source)) => Fact::known(cpus, source),
            None if os::HAS_SYSTEM_FILES => Fact::unknown("no CPU quota in the control groups"),
            None => Fact::unknown("no limit on CPU time is known here"),
        },
    }
}

/// Folder of the names of the machine and its firmware, which come from SMBIOS.
const DMI: &str = "/sys/class/dmi/id";

/// Vendor, version and date of the firmware.
fn firmware(files: &SystemFiles) -> Fact<String> {
    let words: Vec<String> = ["bios_vendor", "bios_version", "bios_date"]
        .iter()
        .filter_map(|name| files.read(&format!("{DMI}/{name}")))
        .collect();
    match words.is_empty() {
        true => Fact::unknown(format!("{DMI} is missing")),
        false => Fact::known(words.join(" "), DMI),
    }
}

/// Name of the hypervisor from CPUID, with the name of the machine from the firmware.
fn virtualization(files: &SystemFiles, reported: &Reported) -> Fact<String> {
    let words: Vec<String> = ["sys_vendor", "product_name"]
        .iter()
        .filter_map(|name| files.read(&format!("{DMI}/{name}")))
        .collect();
    let (machine, names) = match &reported.machine {
        Some((machine, source)) if words.is_empty() => (machine.clone(), source.as_str()),
        _ => (words.join(" "), DMI),
    };
    match processor::hypervisor() {
        Some(Hypervisor::Absent) => Fact::known("none".to_owned(), "CPUID leaf 1, hypervisor bit"),
        Some(Hypervisor::Present(name)) if machine.is_empty() => {
            Fact::known(name, "CPUID leaf 40000000h")
        }
        Some(Hypervisor::Present(name)) => Fact::known(
            format!("{name} ({machine})"),
            format!("CPUID leaf 40000000h and {names}"),
        ),
        None if let Some((name, source)) = &reported.hypervisor => {
            Fact::known(name.clone(), source.clone())
        }
        None if machine.is_empty() => Fact::unknown(format!(
            "the processor does not report, and {names} is missing"
        )),
        None => Fact::unknown(format!(
            "the processor does not report; {names} says {machine}"
        )),
    }
}

/// Name of the program that emulates the processor, or `none`.
fn emulation(files: &SystemFiles) -> Fact<String> {
    const OWN: &str = "/proc/self/exe";
    const THREAD: &str = "/proc/thread-self/exe";
    const CPUINFO: &str = "/proc/cpuinfo";
    if os::translated() {
        return Fact::known("Rosetta 2".to_owned(), "sysctl.proc_translated");
    }
    // Emulators intercept accesses to /proc/self/exe but not to /proc/thread-self/exe. So under
    // emulation the two links differ.
    let executables = (files.link(OWN), files.link(THREAD));
    if let (Some(told), Some(executed)) = &executables
        && told != executed
    {
        let name = executed.rsplit('/').next().unwrap_or_default();
        let name = if name.starts_with("qemu-") {
            "qemu-user"
        } else {
            name
        };
        return Fact::known(name.to_owned(), format!("{THREAD} is {executed}"));
    }
    let on_x86 = cfg!(any(target_arch = "x86_64", target_arch = "x86"));
    let cpuinfo = files.read(CPUINFO).unwrap_or_default();
    if !on_x86 && field(&cpuinfo, "cpu family").is_some() && field(&cpuinfo, "flags").is_some() {
        return Fact::known(
            "an emulator".to_owned(),
            format!("{CPUINFO} describes an x86 processor"),
        );
    }
    match (processor::hypervisor(), executables) {
        (Some(Hypervisor::Present(name)), _) if name == "QEMU" => {
            Fact::known("QEMU (TCG)".to_owned(), "CPUID leaf 40000000h")
        }
        (_, (Some(_), Some(_))) => Fact::known(
            "none".to_owned(),
            format!("{OWN} and {THREAD} are the same"),
        ),
        _ => Fact::unknown(format!("no {OWN} and {THREAD} to compare")),
    }
}

/// Kind of container, identified by certain files and by the names of control groups.
fn container(files: &SystemFiles) -> Fact<String> {
    // Words in names of control groups and the kinds that they mean, the more specific words first.
    const WORDS: [(&str, &str); 7] = [
        ("kubepods", "kubernetes"),
        ("libpod", "podman"),
        ("/docker/", "docker"),
        ("docker-", "docker"),
        ("cri-containerd", "containerd"),
        ("/lxc/", "lxc"),
        ("lxc.payload", "lxc"),
    ];
    const GROUPS: &str = "/proc/self/cgroup";
    let groups = files.read(GROUPS).unwrap_or_default();
    let by_group = WORDS.iter().find(|(word, _)| groups.contains(word));
    if let Some((_, kind)) = by_group.filter(|(_, kind)| *kind == "kubernetes") {
        return Fact::known((*kind).to_owned(), GROUPS);
    }
    for (mark, kind) in [("/run/.containerenv", "podman"), ("/.dockerenv", "docker")] {
        if files.exists(mark) {
            return Fact::known(kind.to_owned(), mark);
        }
    }
    if let Some(kind) = files.read("/run/systemd/container") {
        return Fact::known(kind, "/run/systemd/container");
    }
    match by_group {
        Some((_, kind)) => Fact::known((*kind).to_owned(), GROUPS),
        None => Fact::unknown(format!(
            "no mark of a container in /, /run or {GROUPS}; there may still be one"
        )),
    }
}

/// Settings and conditions that affect results.
pub fn environment(files: &SystemFiles, topology: &Topology, reported: &Reported) -> Environment {
    let conditions = reported.conditions.clone();
    let conditions = conditions.unwrap_or_else(|| power::conditions(files));
    let load = files
        .read("/proc/loadavg")
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    Environment {
        governor: governor(files, topology),
        turbo: turbo(files),
        smt: smt(files, topology),
        numa_balancing: match files.read_as::<u32>("/proc/sys/kernel/numa_balancing") {
            Some(mode) => Fact::known(mode != 0, "/proc/sys/kernel/numa_balancing"),
            None => Fact::unknown(
                "no /proc/sys/kernel/numa_balancing: the kernel lacks it, or hides it",
            ),
        },
        load: match load.filter(|load| load.is_finite() && *load >= 0.0) {
            Some(load) => Fact::known(load, "/proc/loadavg"),
            None => or_reported(
                Fact::unknown("no number in /proc/loadavg"),
                reported.load.as_ref(),
            ),
        },
        mitigations: mitigations(files),
        power_source: conditions.power_source,
        power_saving: conditions.power_saving,
        thermal_state: conditions.thermal_state,
        memory_pressure: conditions.memory_pressure,
    }
}

/// Frequency governors of the online CPUs, each once.
fn governor(files: &SystemFiles, topology: &Topology) -> Fact<String> {
    let read = |cpu: u32| files.read(&format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor"));
    let kinds: BTreeSet<String> = topology
        .cpus
        .iter()
        .filter_map(|cpu| read(cpu.id))
        .collect();
    match kinds.is_empty() {
        true => Fact::unknown(format!(
            "no {CPUS}/cpu*/cpufreq/scaling_governor, as usual in a virtual machine"
        )),
        false => Fact::known(
            kinds.into_iter().collect::<Vec<_>>().join(", "),
            format!("{CPUS}/cpu*/cpufreq"),
        ),
    }
}

/// True if the CPUs may run above their nominal clock rate.
fn turbo(files: &SystemFiles) -> Fact<bool> {
    let intel = format!("{CPUS}/intel_pstate/no_turbo");
    let boost = format!("{CPUS}/cpufreq/boost");
    match (files.read(&intel).as_deref(), files.read(&boost).as_deref()) {
        (Some(off @ ("0" | "1")), _) => Fact::known(off == "0", intel),
        (_, Some(on @ ("0" | "1"))) => Fact::known(on == "1", boost),
        _ => Fact::unknown(format!(
            "neither {intel} nor {boost}, as usual in a virtual machine"
        )),
    }
}

/// True if any core has more than one hardware thread. The source is the kernel's file
/// `smt/active`, else the topology.
fn smt(files: &SystemFiles, topology: &Topology) -> Fact<bool> {
    let active = format!("{CPUS}/smt/active");
    let control = files.read(&format!("{CPUS}/smt/control"));
    let control = control.map_or_else(String::new, |word| format!(", control: {word}"));
    match files.read(&active).as_deref() {
        Some(on @ ("0" | "1")) => Fact::known(on == "1", format!("{active}{control}")),
        _ if topology.cpus.iter().all(|cpu| cpu.core.is_none()) => {
            Fact::unknown(format!("neither {active} nor the topology tells"))
        }
        _ => {
            let shared = topology.cpus.iter().any(|cpu| cpu.siblings.len() > 1);
            Fact::known(shared, called("CPUs that share a core", &active))
        }
    }
}

/// Vulnerabilities that affect the processor, each with the state of its mitigation.
fn mitigations(files: &SystemFiles) -> Fact<Vec<String>> {
    let folder = format!("{CPUS}/vulnerabilities");
    let names = files.names(&folder);
    let state = |name: &String| Some((name.clone(), files.read(&format!("{folder}/{name}"))?));
    let states: Vec<(String, String)> = names.iter().filter_map(state).collect();
    if states.is_empty() {
        return Fact::unknown(format!("nothing in {folder}"));
    }
    let affected = states.iter().filter(|(_, state)| state != "Not affected");
    Fact::known(
        affected
            .map(|(name, state)| format!("{name}: {state}"))
            .collect(),
        folder,
    )
}
