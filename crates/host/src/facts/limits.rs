//! Memory size, and the part of the memory that a session may use.

use super::files::{SystemFiles, field, kilobytes};
use super::processor::or_reported;
use super::{bus, cgroup};
use crate::os;
use crate::reported::Reported;
use report::{Fact, MemoryFacts, Swap};
use std::collections::BTreeSet;
use units::{Bytes, CpuList};

const MEMINFO: &str = "/proc/meminfo";

const LIMITS: &str = "/proc/self/limits";

const NODES: &str = "/sys/devices/system/node";

/// Smallest reserve in [`usable`], unless memory is very scarce. Page tables, thread stacks, the
/// report and other programs need the reserve.
const LEAST_RESERVE: Bytes = Bytes::mib(96);

/// All facts about memory.
pub fn memory(files: &SystemFiles, reported: &Reported) -> MemoryFacts {
    let meminfo = files.read(MEMINFO).unwrap_or_default();
    let total = match (
        field(&meminfo, "MemTotal")
            .and_then(kilobytes)
            .filter(|&n| n > 0),
        os::physical_memory(),
    ) {
        (Some(bytes), _) => Fact::known(Bytes(bytes), MEMINFO),
        (None, Some(bytes)) => Fact::known(Bytes(bytes), called(os::MEMORY_CALL, MEMINFO)),
        (None, None) => Fact::unknown(format!("neither {MEMINFO} nor the system tells")),
    };
    let swap = match (
        field(&meminfo, "SwapTotal").and_then(kilobytes),
        field(&meminfo, "SwapFree").and_then(kilobytes),
    ) {
        (Some(total), Some(free)) => Fact::known(
            Swap {
                total: Bytes(total),
                used: Bytes(total.saturating_sub(free)),
            },
            MEMINFO,
        ),
        _ => Fact::unknown(format!("{MEMINFO} does not report")),
    };
    let swap = or_reported(swap, reported.swap.as_ref());
    let available = available(files, &meminfo, total.value);
    let cgroup = match cgroup::memory_left(files) {
        Some(found) => Fact::known(found.left, found.source),
        None if cgroup::hierarchies(files, "memory").is_empty() => {
            Fact::unknown("no control groups for memory")
        }
        None => Fact::unknown("the control groups set no memory limit"),
    };
    let cgroup = or_reported(cgroup, reported.memory_left.as_ref());
    let rlimit = rlimit(files);
    let usable = usable(&[
        ("available", &available),
        ("control group", &cgroup),
        ("process limit", &rlimit),
    ]);
    let overcommit = overcommit(files);
    let lock_limit = lock_limit(files);
    let bus = bus::bus(files, reported.firmware_tables.as_ref());
    MemoryFacts {
        total,
        available,
        cgroup,
        rlimit,
        usable,
        overcommit,
        lock_limit,
        swap,
        bus,
    }
}

/// Source of a fact that the system call `call` reported. On Linux, the text also names the file
/// `path`, which did not report the fact.
pub(super) fn called(call: &str, path: &str) -> String {
    if os::HAS_SYSTEM_FILES {
        format!("{call}, since {path} does not report")
    } else {
        call.to_owned()
    }
}

const OVERCOMMIT: &str = "/proc/sys/vm/overcommit_memory";

/// The system's policy on overcommitting memory (Documentation/mm/overcommit-accounting.rst).
fn overcommit(files: &SystemFiles) -> Fact<String> {
    let name = match files.read(OVERCOMMIT).as_deref() {
        Some("0") => "heuristic",
        Some("1") => "always",
        Some("2") => "strict",
        Some(_) => return Fact::unknown(format!("no known mode in {OVERCOMMIT}")),
        None => return Fact::unknown(format!("no {OVERCOMMIT}")),
    };
    Fact::known(name.to_owned(), OVERCOMMIT)
}

/// The soft limit of this process on locked memory.
fn lock_limit(files: &SystemFiles) -> Fact<Bytes> {
    match soft_limit(files, "Max locked memory", "RLIMIT_MEMLOCK") {
        (Some(limit), source) => Fact::known(Bytes(limit), source),
        (None, source) => Fact::unknown(format!("no limit is set (RLIMIT_MEMLOCK, {source})")),
    }
}

/// A soft limit of this process in bytes (`None` if unlimited), with its source. The limit comes
/// from the row `title` of the table in /proc. If the row is missing, the limit comes from
/// getrlimit, which calls it `name`.
fn soft_limit(files: &SystemFiles, title: &str, name: &str) -> (Option<u64>, &'static str) {
    let table = files.read(LIMITS).unwrap_or_default();
    match table
        .lines()
        .find_map(|line| line.strip_prefix(title)?.split_whitespace().next())
    {
        Some("unlimited") => (None, LIMITS),
        Some(word) if word.parse::<u64>().is_ok() => (word.parse().ok(), LIMITS),
        _ => (
            os::memory_limits()
                .into_iter()
                .find(|(of, _)| *of == name)
                .and_then(|(_, l)| l),
            "getrlimit",
        ),
    }
}

/// Memory that can be allocated without swapping out other programs.
fn available(files: &SystemFiles, meminfo: &str, total: Option<Bytes>) -> Fact<Bytes> {
    let value = |key: &str| field(meminfo, key).and_then(kilobytes);
    let (bytes, source) = match (value("MemAvailable"), value("MemFree"), os::free_memory()) {
        (Some(bytes), _, _) => (bytes, format!("{MEMINFO}, MemAvailable")),
        (None, Some(free), _) => {
            let cache = value("Buffers")
                .unwrap_or(0)
                .saturating_add(value("Cached").unwrap_or(0));
            (
                free.saturating_add(cache),
                format!("{MEMINFO}, MemFree + Buffers + Cached"),
            )
        }
        (None, None, Some(bytes)) => (
            bytes,
            format!("{}; free memory only", called(os::MEMORY_CALL, MEMINFO)),
        ),
        (None, None, None) => {
            return Fact::unknown(format!("neither {MEMINFO} nor the system tells"));
        }
    };
    let bytes = total.map_or(bytes, |total| bytes.min(total.0));
    // Under strict overcommit accounting, a mapping counts at once, even if it is never touched.
    let strict = files.read(OVERCOMMIT).as_deref() == Some("2");
    let commit = value("CommitLimit")
        .zip(value("Committed_AS"))
        .map(|(limit, held)| limit.saturating_sub(held));
    if let Some(left) = commit.filter(|&left| strict && left < bytes) {
        return Fact::known(
            Bytes(left),
            format!("{MEMINFO}, CommitLimit - Committed_AS (strict overcommit)"),
        );
    }
    if let Some((there, nodes)) = on_allowed_nodes(files).filter(|(there, _)| *there < bytes) {
        let source = format!(
            "{NODES}: free and reclaimable on the nodes allowed ({nodes}, Mems_allowed_list)"
        );
        return Fact::known(Bytes(there), source);
    }
    match reclaimable_on(files, &node_ids(files)).filter(|&there| there < bytes / 10 * 9) {
        Some(there) => Fact::known(
            Bytes(there),
            format!(
                "{NODES}: free and reclaimable, far below the {} of {} (a balloon holds the rest?)",
                Bytes(bytes),
                source.split([',', ';']).next().unwrap_or(&source)
            ),
        ),
        None => Fact::known(Bytes(bytes), source),
    }
}

/// NUMA nodes on which the cpuset lets this process allocate memory. The set may contain nodes that
/// do not exist. `None` if the system does not report the set.
pub(super) fn allowed_nodes(files: &SystemFiles) -> Option<BTreeSet<u32>> {
    let status = files.read("/proc/self/status")?;
    let allowed: CpuList = field(&status, "Mems_allowed_list")?.parse().ok()?;
    Some(allowed.0.into_iter().collect())
}

/// Free and reclaimable memory in bytes on the NUMA nodes that the cpuset allows, and these nodes.
/// `None` if the cpuset allows all nodes.
fn on_allowed_nodes(files: &SystemFiles) -> Option<(u64, CpuList)> {
    let all = node_ids(files);
    let allowed = allowed_nodes(files)?;
    let usable: BTreeSet<u32> = all.intersection(&allowed).copied().collect();
    if usable.len() == all.len() || usable.is_empty() {
        return None;
    }
    Some((
        reclaimable_on(files, &usable)?,
        CpuList(usable.into_iter().collect()),
    ))
}

/// Numbers of the existing NUMA nodes.
fn node_ids(files: &SystemFiles) -> BTreeSet<u32> {
    files
        .names(NODES)
        .into_iter()
        .filter_map(|name| name.strip_prefix("node")?.parse().ok())
        .collect()
}

/// Total memory on `nodes` that is free or can be reclaimed at once, in bytes. `None` unless every
/// node reports its memory. In a virtual machine, /proc/meminfo may also count memory that a
/// balloon gave to the host. The host would first have to return this memory.
pub(super) fn reclaimable_on(files: &SystemFiles, nodes: &BTreeSet<u32>) -> Option<u64> {
    let mut sum = None;
    for id in nodes {
        let meminfo = files.read(&format!("{NODES}/node{id}/meminfo"))?;
        for key in ["MemFree", "Active(file)", "Inactive(file)", "SReclaimable"] {
            let bytes = field(&meminfo, &format!("Node {id} {key}")).and_then(kilobytes)?;
            sum = Some(bytes.saturating_add(sum.unwrap_or(0)));
        }
    }
    sum
}

/// Memory that the tighter of the limits RLIMIT_AS and RLIMIT_DATA leaves to this process.
fn rlimit(files: &SystemFiles) -> Fact<Bytes> {
    let status = files.read("/proc/self/status").unwrap_or_default();
    let mut told = Vec::new();
    for (title, name, held) in [
        ("Max address space", "RLIMIT_AS", "VmSize"),
        ("Max data size", "RLIMIT_DATA", "VmData"),
    ] {
        let (limit, source) = soft_limit(files, title, name);
        let used = field(&status, held).and_then(kilobytes);
        if let Some(limit) = limit {
            let held = used.map_or_else(
                || "use unknown".to_owned(),
                |used| format!("{} in use", Bytes(used)),
            );
            let left = Bytes(limit.saturating_sub(used.unwrap_or(0)));
            told.push(Fact::known(
                left,
                format!("{source}, {name}: limit {}, {held}", Bytes(limit)),
            ));
        }
    }
    let tightest = told.into_iter().min_by_key(|fact| fact.value);
    tightest.unwrap_or_else(|| Fact::unknown("no limit is set (RLIMIT_AS, RLIMIT_DATA)"))
}

/// The least of the known `bounds` minus a reserve. The reserve is a tenth of the bound or 96 MiB,
/// whichever is more, but at most half of the bound.
fn usable(bounds: &[(&str, &Fact<Bytes>)]) -> Fact<Bytes> {
    let known = bounds
        .iter()
        .filter_map(|(name, fact)| Some((*name, fact.value?)));
    let Some((name, least)) = known.min_by_key(|(_, bytes)| *bytes) else {
        return Fact::unknown("nothing tells how much memory is available");
    };
    let reserve = Bytes((least.0 / 10).max(LEAST_RESERVE.0).min(least.0 / 2));
    Fact::known(
        Bytes(least.0 - reserve.0),
        format!("{name} ({least}) less a reserve of {reserve}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usable_memory_keeps_a_reserve_and_is_never_nothing_for_nothing() {
        let usable_of = |bytes: u64| {
            usable(&[("x", &Fact::known(Bytes(bytes), ""))])
                .value
                .unwrap()
        };
        assert_eq!(usable_of(256 << 20), Bytes::mib(160));
        assert_eq!(usable_of(200 << 20), Bytes::mib(104));
        assert_eq!(usable_of(64 << 20), Bytes::mib(32));
        assert_eq!(usable_of(100 << 30), Bytes::gib(90));
        assert_eq!(usable_of(0), Bytes(0));
        assert_eq!(usable_of(u64::MAX).0, u64::MAX - u64::MAX / 10);
        assert_eq!(usable(&[("x", &Fact::unknown("why"))]).value, None);
    }
}
