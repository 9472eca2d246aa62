//! Conditions of the machine that move results: a sentence each, with what to do about it.

use crate::results::{Finding, HostFacts};
use std::collections::BTreeMap;

/// A finding without numbers.
pub(super) fn sentence(kind: &str, text: String) -> Finding {
    Finding { kind: kind.to_owned(), text, values: BTreeMap::new() }
}

/// What the run was planned by although the system hides it (/proc or /sys masked): each with what was taken instead.
fn fallbacks(facts: &HostFacts) -> impl Iterator<Item = Finding> {
    let taken = [
        ("CPUs", &facts.topology.cpus_source),
        ("caches", &facts.topology.caches_source),
        ("memory", &facts.memory.total.source),
    ];
    // How `host` words a source that stands in for the usual one.
    let instead = |source: &str| source.contains("nothing usable") || source.contains("does not tell");
    let told = taken.into_iter().filter(move |(_, source)| instead(source));
    told.map(|(what, source)| sentence("fallback", format!("The system does not tell all about its {what}: {source}.")))
}

/// Conditions of the machine that move results, each with what to do about it.
pub(super) fn environment(facts: &HostFacts, cpus: usize) -> Vec<Finding> {
    let mut findings: Vec<Finding> = fallbacks(facts).collect();
    if let Some(name) = facts.system.emulation.get().filter(|name| *name != "none") {
        let text = format!(
            "The instructions are emulated by {name}: all figures are those of the emulator, and say nothing about a processor \
             that executes them itself."
        );
        findings.push(sentence("emulated", text));
    }
    if facts.system.pinning.get() == Some(&false) {
        let text =
            "This system lets nobody choose the CPU of a thread: threads may wander, and CPU numbers are those asked \
                    for, not those used."
                .to_owned();
        findings.push(sentence("not-pinned", text));
    }
    if let Some(&quota) = facts.system.cpu_quota.get().filter(|&&q| q < cpus as f64) {
        let text = format!(
            "The control group allows {quota:.1} cpus' worth of time, the run uses {cpus}: threads will be throttled; \
             type --threads 1 or raise the quota."
        );
        findings.push(sentence("cpu-quota", text));
    }
    if facts.pages.thp_mode.get().is_some_and(|mode| mode == "never") {
        let text = "Transparent huge pages are off: figures for large sizes include page walks.".to_owned();
        findings.push(sentence("no-huge-pages", text));
    }
    if let Some(&load) = facts.environment.load.get().filter(|&&load| load > 1.0) {
        let text = format!("The load average was {load:.1} at the start: others use this machine too.");
        findings.push(sentence("load", text));
    }
    findings
}
