//! System activity around a round, from `/proc` and `/sys`.
//!
//! Sources: proc_stat(5); Documentation/accounting/psi.rst; Documentation/scheduler/sched-bwc.rst
//! (`throttled_time`, ns) and admin-guide/cgroup-v2.rst (`throttled_usec`); the sysfs interface of
//! hwmon and of thermal zones (Documentation/hwmon/sysfs-interface.rst,
//! driver-api/thermal/sysfs-api.rst); arch/x86 `thermal_throttle`.

use crate::facts::{SystemFiles, Throttle};
use crate::{counter, os};
use report::SystemActivity;
use std::collections::{BTreeMap, BTreeSet};
use units::CpuList;

const STAT: &str = "/proc/stat";
const INTERRUPTS: &str = "/proc/interrupts";
const CPU_PRESSURE: &str = "/proc/pressure/cpu";
const MEMORY_PRESSURE: &str = "/proc/pressure/memory";
const CPUS: &str = "/sys/devices/system/cpu";
const HWMON: &str = "/sys/class/hwmon";
const ZONES: &str = "/sys/class/thermal";

/// Largest number of columns (CPUs) and bytes of `/proc/interrupts` for which the file is read. On
/// larger machines, the file has megabytes and takes milliseconds to read.
const MAX_COLUMNS: usize = 256;
const LONGEST_INTERRUPTS: usize = 256 << 10;

/// Largest number of CPUs for which the thermal throttles of each core are read. With more CPUs,
/// only the counts of packages are read, since each count is a file.
const MAX_CORE_COUNTS: usize = 64;

/// Largest number of temperature sensors that are read, because each read may interrupt a CPU.
const MAX_SENSORS: usize = 16;

/// Reads system activity during a session. The constructor finds out which files exist, so that
/// missing files cost nothing later.
#[derive(Debug)]
pub struct Watch {
    files: SystemFiles,
    stat: bool,
    interrupts: bool,
    cpu_pressure: bool,
    memory_pressure: bool,
    throttles: Vec<Throttle>,
    /// Package of each CPU for which the system counts thermal throttles.
    packages: BTreeMap<u32, u32>,
    sensors: Vec<String>,
}

impl Watch {
    /// A watch that reads `files`. Finding them takes milliseconds on a machine with many CPUs.
    pub fn new(files: SystemFiles) -> Self {
        let pressure = |path: &str| pressure(&files, path).is_some();
        Self {
            stat: files.read(STAT).is_some(),
            interrupts: interrupts_are_few(&files),
            cpu_pressure: pressure(CPU_PRESSURE),
            memory_pressure: pressure(MEMORY_PRESSURE),
            throttles: Throttle::all(&files),
            packages: packages(&files),
            sensors: sensors(&files),
            files,
        }
    }

    /// Reads all counts and times. They are relative to a fixed time in the past, so only the
    /// difference of two results has a meaning. Counts per CPU are added up over `cpus`. A value is
    /// `None` if it is unknown, even for only one of `cpus`.
    ///
    /// The CPU time of other processes has a resolution of a jiffy (10 ms) per CPU, while this
    /// process's own time is exact. The difference of two results can therefore be negative.
    /// `/proc/stat` counts the whole machine, even in a container.
    pub fn read(&self, cpus: &[u32]) -> SystemActivity {
        let files = &self.files;
        let stat = self.stat.then(|| files.read(STAT)).flatten();
        let own = os::process_cpu_ns();
        let busy = stat.as_deref().and_then(busy_jiffies).and_then(nanoseconds);
        let busy = busy.or_else(|| files.is_real().then(os::busy_ns).flatten());
        SystemActivity {
            elapsed_ns: counter::monotonic().0,
            stolen_ns: stat
                .as_deref()
                .and_then(|stat| stolen_jiffies(stat, cpus))
                .and_then(nanoseconds),
            throttled_ns: Throttle::sum(&self.throttles, files),
            others_ns: busy
                .zip(own)
                .map(|(busy, own)| busy - own as f64)
                .filter(|&others| others >= 0.0),
            cpu_pressure_ns: self
                .cpu_pressure
                .then(|| pressure(files, CPU_PRESSURE))
                .flatten(),
            memory_pressure_ns: self
                .memory_pressure
                .then(|| pressure(files, MEMORY_PRESSURE))
                .flatten(),
            interrupts: self
                .interrupts
                .then(|| interrupts(&files.read(INTERRUPTS)?, cpus))
                .flatten(),
            thermal_throttles: self.thermal_throttles(cpus),
            highest_celsius: self.highest_celsius(),
        }
    }

    /// Number of thermal throttles of the cores of `cpus` and of their packages. Each package
    /// counts once, because all of its CPUs show the same count.
    fn thermal_throttles(&self, cpus: &[u32]) -> Option<u64> {
        if self.packages.is_empty() {
            return None;
        }
        let count = |cpu: u32, what: &str| {
            self.files.read_as::<u64>(&format!(
                "{CPUS}/cpu{cpu}/thermal_throttle/{what}_throttle_count"
            ))
        };
        let mut sum = 0u64;
        let mut seen = BTreeSet::new();
        for &cpu in cpus {
            if seen.insert(self.packages.get(&cpu)?) {
                sum = sum.saturating_add(count(cpu, "package").unwrap_or(0));
            }
            if cpus.len() <= MAX_CORE_COUNTS {
                sum = sum.saturating_add(count(cpu, "core")?);
            }
        }
        Some(sum)
    }

    /// Highest temperature of the sensors in degrees Celsius. Impossible values are left out.
    fn highest_celsius(&self) -> Option<f64> {
        let shown = |path: &String| {
            self.files
                .read_as::<i64>(path)
                .filter(|milli| (1..150_000).contains(milli))
        };
        let highest = self.sensors.iter().filter_map(shown).max();
        highest.map(|milli| milli as f64 / 1000.0)
    }
}

/// Converts jiffies, the unit of `/proc/stat`, to ns. `None` if the length of a jiffy is unknown.
fn nanoseconds(jiffies: u64) -> Option<f64> {
    Some(jiffies as f64 * 1e9 / os::jiffies_per_second()?)
}

/// Steal time of `cpus` in jiffies: the hypervisor ran other guests while `cpus` had work.
fn stolen_jiffies(stat: &str, cpus: &[u32]) -> Option<u64> {
    const STEAL: usize = 7; // after the name: user nice system idle iowait irq softirq steal guest guest_nice
    let wanted: BTreeSet<u32> = cpus.iter().copied().collect();
    let mut found = BTreeMap::new();
    for line in stat.lines().take_while(|line| line.starts_with("cpu")) {
        let mut words = line.split_whitespace();
        let id = words
            .next()
            .and_then(|name| name.strip_prefix("cpu")?.parse::<u32>().ok());
        if let Some(id) = id.filter(|id| wanted.contains(id)) {
            found.insert(id, words.nth(STEAL)?.parse::<u64>().ok()?);
        }
    }
    let sum = found
        .values()
        .fold(0u64, |sum, &jiffies| sum.saturating_add(jiffies));
    (found.len() == wanted.len()).then_some(sum)
}

/// Busy time of all CPUs in jiffies: user (which includes guests), nice, system, irq and softirq.
fn busy_jiffies(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let mut words = line.split_whitespace().map(|word| word.parse::<u64>().ok());
    let mut sum = 0u64;
    for counts in [true, true, true, false, false, true, true] {
        let jiffies = words.next()??;
        sum = sum.saturating_add(if counts { jiffies } else { 0 });
    }
    Some(sum)
}

/// Time in ns for which at least one task waited for the resource of the pressure file `path`.
fn pressure(files: &SystemFiles, path: &str) -> Option<f64> {
    let text = files.read(path)?;
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line
        .split_whitespace()
        .find_map(|word| word.strip_prefix("total="))?;
    Some(total.parse::<u64>().ok()? as f64 * 1e3)
}

/// True if `/proc/interrupts` is small enough to be read in a short time.
fn interrupts_are_few(files: &SystemFiles) -> bool {
    let online = files
        .read_as::<CpuList>(&format!("{CPUS}/online"))
        .map(|list| list.0.len());
    let listed = || {
        let stat = files.read(STAT)?;
        Some(
            stat.lines()
                .take_while(|line| line.starts_with("cpu"))
                .count()
                .saturating_sub(1),
        )
    };
    let few = online
        .or_else(listed)
        .is_some_and(|count| count <= MAX_COLUMNS);
    few && files
        .read(INTERRUPTS)
        .is_some_and(|text| text.len() <= LONGEST_INTERRUPTS)
}

/// Number of interrupts of all kinds on `cpus`. `text` is the content of `/proc/interrupts`, whose
/// first line names the online CPUs.
fn interrupts(text: &str, cpus: &[u32]) -> Option<u64> {
    // Labels of lines with one count for the whole machine.
    const WHOLE: [&str; 3] = ["ERR", "MIS", "Err"];
    let mut lines = text.lines();
    let names = lines
        .next()?
        .split_whitespace()
        .map(|name| name.strip_prefix("CPU")?.parse::<u32>().ok());
    let columns: Vec<u32> = names.collect::<Option<_>>()?;
    let wanted: BTreeSet<u32> = cpus.iter().copied().collect();
    let picked: Vec<bool> = columns.iter().map(|cpu| wanted.contains(cpu)).collect();
    if picked.iter().filter(|&&is| is).count() != wanted.len() {
        return None;
    }
    let mut sum = 0u64;
    for line in lines {
        let (name, counts) = line.split_once(':')?;
        if WHOLE.contains(&name.trim()) {
            continue;
        }
        let mut words = counts.split_whitespace();
        for &is in &picked {
            let word = words.next()?;
            sum = sum.saturating_add(if is { word.parse().ok()? } else { 0 });
        }
    }
    Some(sum)
}

/// The CPUs for which the system counts thermal throttles, and the package of each.
fn packages(files: &SystemFiles) -> BTreeMap<u32, u32> {
    let package = |name: &String| {
        let cpu: u32 = name.strip_prefix("cpu")?.parse().ok()?;
        let folder = format!("{CPUS}/cpu{cpu}");
        files.read_as::<u64>(&format!("{folder}/thermal_throttle/core_throttle_count"))?;
        Some((
            cpu,
            files
                .read_as(&format!("{folder}/topology/physical_package_id"))
                .unwrap_or(0),
        ))
    };
    files.names(CPUS).iter().filter_map(package).collect()
}

/// Files with the temperature of the processor, from its own sensors, else from thermal zones.
fn sensors(files: &SystemFiles) -> Vec<String> {
    const DRIVERS: [&str; 4] = ["coretemp", "k10temp", "zenpower", "cpu_thermal"];
    let is = |path: String, fits: &dyn Fn(&str) -> bool| {
        files.read(&path).is_some_and(|kind| fits(&kind))
    };
    let mut found = Vec::new();
    for chip in files.names(HWMON) {
        let folder = format!("{HWMON}/{chip}");
        if is(format!("{folder}/name"), &|name| DRIVERS.contains(&name)) {
            found.extend(inputs(files, &folder));
        }
    }
    if found.is_empty() {
        let zones = files
            .names(ZONES)
            .into_iter()
            .filter(|name| name.starts_with("thermal_zone"));
        let processors = zones.filter(|zone| is(format!("{ZONES}/{zone}/type"), &is_processor));
        found.extend(processors.map(|zone| format!("{ZONES}/{zone}/temp")));
    }
    found.retain(|path| files.read(path).is_some());
    found.truncate(MAX_SENSORS);
    found
}

/// True if a thermal zone of this type belongs to the processor. Known types are Intel's package
/// and Android's names for Arm cores: `cpu-1-0-usr`, `mtktscpu`, `BIG`, `MID`, `LITTLE`.
fn is_processor(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    kind == "x86_pkg_temp" || kind.contains("cpu") || ["big", "mid", "little"].contains(&&*kind)
}

/// Temperature files of a sensor chip. If a file has the temperature of the whole package, which is
/// the highest of all cores, only this file is returned. The reason is that reading the file of a
/// core interrupts this core.
fn inputs(files: &SystemFiles, folder: &str) -> Vec<String> {
    const WHOLE: [&str; 3] = ["Package id", "Tdie", "Tctl"];
    let names = files.names(folder);
    let all: Vec<&str> = names
        .iter()
        .filter_map(|name| name.strip_suffix("_input"))
        .collect();
    let all: Vec<&str> = all
        .into_iter()
        .filter(|name| name.starts_with("temp"))
        .collect();
    let labelled = |word: &str| -> Vec<String> {
        let fits = |name: &&&str| {
            files
                .read(&format!("{folder}/{name}_label"))
                .is_some_and(|l| l.starts_with(word))
        };
        all.iter()
            .filter(fits)
            .map(|name| format!("{folder}/{name}_input"))
            .collect()
    };
    let whole = WHOLE
        .iter()
        .map(|word| labelled(word))
        .find(|found| !found.is_empty());
    whole.unwrap_or_else(|| {
        all.iter()
            .map(|name| format!("{folder}/{name}_input"))
            .collect()
    })
}

#[cfg(test)]
mod tests;
