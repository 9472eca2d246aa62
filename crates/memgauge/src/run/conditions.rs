//! Findings about conditions of the machine that affect results, with advice.

use report::{Cause, Dataset, Finding, HostFacts, headline};
use std::collections::BTreeMap;
use units::{CpuList, counted};

/// Makes a finding that has no numbers.
pub(super) fn sentence(kind: &str, text: String) -> Finding {
    Finding::note(kind, text)
}

/// Makes a finding for each kind of facts that the system does not report. The finding names the
/// source that is used instead.
fn fallbacks(facts: &HostFacts) -> impl Iterator<Item = Finding> {
    let taken = [
        ("CPUs", &facts.topology.cpus_source),
        ("caches", &facts.topology.caches_source),
        ("memory", &facts.memory.total.source),
    ];
    // The crate `host` uses these words for a source that replaces the usual one.
    let instead =
        |source: &str| source.contains("nothing usable") || source.contains("does not report");
    let told = taken.into_iter().filter(move |(_, source)| instead(source));
    told.map(|(what, source)| {
        sentence(
            "fallback",
            format!("The system hides facts about its {what}: {source}."),
        )
    })
}

/// Text of a finding about a quota of CPU time that amounts to fewer CPUs than `cpus`; `None`
/// without such a quota.
fn too_little_time(facts: &HostFacts, cpus: &[u32]) -> Option<String> {
    let quota = &facts.system.cpu_quota;
    let allowed = quota
        .get()
        .filter(|&&allowed| allowed < cpus.len() as f64)?;
    let told = format!("The CPU quota allows {allowed:.1} CPUs ({})", quota.source);
    let whole = cpus
        .iter()
        .copied()
        .take(allowed.floor() as usize)
        .collect::<Vec<u32>>();
    Some(match whole.len() {
        0 => format!("{told}: even one thread is stopped for a part of the time; raise the quota."),
        n => format!(
            "{told}: more than {} at once are stopped for a part of the time; type --cpus {} or \
             raise the quota.",
            counted(n, "thread"),
            CpuList(whole)
        ),
    })
}

/// Text of a finding about a machine that saves power or is hot, because its clock may then be
/// lower. `None` for other machines.
fn less_speed(facts: &HostFacts) -> Option<String> {
    let conditions = &facts.environment;
    let mut told = Vec::new();
    if conditions
        .power_source
        .get()
        .is_some_and(|source| source == "battery")
    {
        told.push("runs on battery".to_owned());
    }
    if conditions.power_saving.get() == Some(&true) {
        told.push("saves power".to_owned());
    }
    if let Some(state) = conditions
        .thermal_state
        .get()
        .filter(|state| *state != "nominal")
    {
        told.push(format!("has the thermal state {state}"));
    }
    if told.is_empty() {
        return None;
    }
    Some(format!(
        "The machine {}: its clock rates may be below the usual ones; use mains and full power, \
         and let it cool.",
        told.join(" and ")
    ))
}

/// Findings about conditions of the machine that affect results, each with advice.
pub(super) fn environment(facts: &HostFacts, cpus: &[u32]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = fallbacks(facts).collect();
    if let Some(name) = facts.system.emulation.get().filter(|name| *name != "none") {
        let text = format!("{name} emulates the processor: all figures are those of the emulator.");
        findings.push(sentence("emulated", text));
    }
    if facts.system.pinning.get() == Some(&false) {
        let mut text =
            "This system does not pin threads: they may move between CPUs, and CPU numbers are \
             requests only."
                .to_owned();
        if let Some(request) = facts.system.thread_request.get() {
            text += &format!(" Threads were asked onto kinds of cores, as a hint ({request}).");
        }
        findings.push(sentence("not-pinned", text));
    }
    findings.extend(too_little_time(facts, cpus).map(|text| sentence("cpu-quota", text)));
    findings.extend(less_speed(facts).map(|text| sentence("less-speed", text)));
    if facts.pages.has_transparent() == Some(false) {
        let text = match facts.pages.lacks_transparent() {
            true => {
                "This system has no transparent huge pages: base pages take their place, and \
                 figures for large sizes include TLB misses."
            }
            false => "Transparent huge pages are off: figures for large sizes include TLB misses.",
        };
        findings.push(sentence("no-huge-pages", text.to_owned()));
    }
    if let Some(&load) = facts.environment.load.get().filter(|&&load| load > 1.0) {
        let text =
            format!("The load average was {load:.1} at the start: other programs are running.");
        findings.push(sentence("load", text));
    }
    findings
}

/// Findings about values that drift, form two groups, or depend on physical pages.
pub(super) fn shapes(datasets: &[Dataset]) -> Vec<Finding> {
    let told = [
        (Cause::Drift, "drift", "drifted while they were measured"),
        (Cause::Bimodal, "bimodal", "have two groups of values"),
        (
            Cause::Placement,
            "placement",
            "depend on their physical pages",
        ),
    ];
    let points = || {
        headline(datasets)
            .flat_map(|d| &d.points)
            .filter_map(|p| p.outcome.measured())
    };
    let all = points().count();
    let one = |(cause, kind, what): (Cause, &str, &str)| {
        let reasons: Vec<&str> = points()
            .filter_map(|m| m.verdict.reasons.iter().find(|r| r.cause == cause))
            .map(|r| r.text.as_str())
            .collect();
        let first = *reasons.first()?;
        let count = reasons.len();
        let mut finding = sentence(
            kind,
            format!(
                "Of {} {count} {what} (the first: {first}).",
                counted(all, "point")
            ),
        );
        finding.values.insert("points".to_owned(), count as f64);
        Some(finding)
    };
    told.into_iter().filter_map(one).collect()
}

/// Finding with the number of disturbed samples of all points. `None` if less than `LEAST_REPORTED`
/// of all samples were disturbed.
pub(super) fn interruptions(datasets: &[Dataset]) -> Option<Finding> {
    const LEAST_REPORTED: f64 = 0.05;
    let points = || {
        datasets
            .iter()
            .flat_map(|d| &d.points)
            .filter_map(|p| p.outcome.measured())
    };
    let disturbed: u64 = points().map(|m| m.evidence.disturbed_samples).sum();
    let all = disturbed.saturating_add(points().map(|m| m.summary.undisturbed_samples).sum());
    if (disturbed as f64) < LEAST_REPORTED * all as f64 || disturbed == 0 {
        return None;
    }
    let mut causes: BTreeMap<Cause, u64> = BTreeMap::new();
    for (cause, samples) in points().flat_map(|m| &m.evidence.disturbed_by) {
        *causes.entry(*cause).or_default() += samples;
    }
    let mut causes: Vec<(Cause, u64)> = causes.into_iter().collect();
    causes.sort_by_key(|(_, samples)| std::cmp::Reverse(*samples));
    let told: Vec<String> = causes
        .iter()
        .map(|(cause, samples)| format!("{samples} {}", cause.disturbance()))
        .collect();
    let by = if told.is_empty() {
        String::new()
    } else {
        format!(": {}", told.join(", "))
    };
    let mut finding = sentence(
        "interruptions",
        format!("{disturbed} of {all} samples were disturbed and are left out{by}."),
    );
    finding
        .values
        .insert("disturbed_samples".to_owned(), disturbed as f64);
    finding.values.insert("samples".to_owned(), all as f64);
    Some(finding)
}
