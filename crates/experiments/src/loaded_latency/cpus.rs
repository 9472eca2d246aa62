//! The CPU that is measured, and the CPUs of the background traffic.

use super::settings::Settings;
use crate::cpus::one_cpu;
use crate::experiment::Scope;
use crate::lists::Count;
use crate::placement::kinds;
use units::CpuList;
use units::error::{Error, Result};

/// CPUs that follow the chain, one after another: the requested CPU, or else the first CPU of the
/// session. The first CPU of each other kind of core is added, unless `one` is true or the user
/// chose CPUs.
pub fn probe_cpus(settings: &Settings, scope: &Scope<'_>, one: bool) -> Result<Vec<u32>> {
    let first = one_cpu(settings.cpus.as_ref(), "--cpus", scope)?;
    if one || settings.cpus.is_some() || settings.traffic_cpus.is_some() {
        return Ok(vec![first]);
    }
    let kinds = kinds(&scope.facts().topology, scope.cpus);
    let others = kinds
        .iter()
        .filter(|kind| !kind.0.contains(&first))
        .filter_map(|kind| kind.0.first().copied());
    Ok(std::iter::once(first).chain(others).collect())
}

/// The CPUs in `requested`, for traffic next to the chain on `cpu`. Fails if one of them is `cpu`
/// or does not belong to the session. The error names the `option`.
pub fn requested_cpus(
    requested: &CpuList,
    scope: &Scope<'_>,
    cpu: u32,
    option: &str,
) -> Result<Vec<u32>> {
    match requested
        .0
        .iter()
        .find(|other| **other == cpu || !scope.cpus.contains(other))
    {
        Some(bad) => {
            let allowed = CpuList(
                scope
                    .cpus
                    .iter()
                    .copied()
                    .filter(|other| *other != cpu)
                    .collect(),
            );
            Err(Error::usage(format!(
                "cpu not available: {bad}; background traffic for cpu {cpu} may use {allowed}; type \
                 {option} {allowed}"
            )))
        }
        None => Ok(requested.0.clone()),
    }
}

/// CPUs of the traffic for the chain on `cpu`. The user may request how many are used. Otherwise,
/// all suitable CPUs are used that the quota of CPU time allows.
pub fn traffic_cpus(settings: &Settings, scope: &Scope<'_>, cpu: u32) -> Result<Vec<u32>> {
    let mut cpus = match &settings.traffic_cpus {
        Some(requested) => requested_cpus(requested, scope, cpu, "--traffic-cpus")?,
        None => others(scope, cpu),
    };
    let apart = [settings.readers, settings.writers]
        .into_iter()
        .flatten()
        .map(|n| n.0)
        .reduce(u32::saturating_add);
    let Some(threads) = settings.threads.map(|n| n.0).or(apart) else {
        let quota = scope
            .facts()
            .system
            .cpu_quota
            .get()
            .filter(|_| settings.traffic_cpus.is_none());
        cpus.truncate(quota.map_or(usize::MAX, |quota| {
            (quota.floor() as usize).saturating_sub(1).max(1)
        }));
        return Ok(cpus);
    };
    if threads == 0 || threads as usize > cpus.len() && !cpus.is_empty() {
        return Err(Error::usage(format!(
            "threads of traffic not possible: {threads}; 1 to {} next to cpu {cpu}; type {}",
            cpus.len(),
            possible(settings, cpus.len())
        )));
    }
    cpus.truncate(threads as usize);
    Ok(cpus)
}

/// Options to type for `cpus` threads of traffic, in the user's proportion of readers to writers.
fn possible(settings: &Settings, cpus: usize) -> String {
    let count = |n: Option<Count>| n.map_or(0, |n| n.0 as usize);
    let readers = count(settings.readers);
    let writers = count(settings.writers);
    if settings.readers.or(settings.writers).is_none() {
        return format!("--threads {cpus}");
    }
    let writing = match readers.saturating_add(writers) {
        0 => 0,
        all => (cpus as f64 * writers as f64 / all as f64).round() as usize,
    };
    let options = [
        ("--readers", cpus - writing.min(cpus)),
        ("--writers", writing),
    ];
    let told: Vec<String> = options
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| format!("{name} {n}"))
        .collect();
    told.join(" ")
}

/// CPUs of the session for traffic: all CPUs on the NUMA node of `cpu` but not on its core. If
/// there are none, all other CPUs on the node. If the node has no other CPU, all other CPUs.
fn others(scope: &Scope<'_>, cpu: u32) -> Vec<u32> {
    let topology = &scope.facts().topology;
    let all: Vec<u32> = scope
        .cpus
        .iter()
        .copied()
        .filter(|other| *other != cpu)
        .collect();
    let siblings = topology
        .cpus
        .iter()
        .find(|c| c.id == cpu)
        .map(|c| c.siblings.clone())
        .unwrap_or_default();
    let near = |other: &u32| topology.node_of(*other) == topology.node_of(cpu);
    let steps: [&dyn Fn(&u32) -> bool; 2] = [
        &|other| near(other) && !siblings.contains(other),
        &|other| near(other),
    ];
    let chosen = steps.iter().map(|step| {
        all.iter()
            .copied()
            .filter(|other| step(other))
            .collect::<Vec<u32>>()
    });
    chosen
        .into_iter()
        .find(|cpus| !cpus.is_empty())
        .unwrap_or(all)
}

/// Reason why `threads` threads would exceed a quota of CPU time; `None` if they would not.
pub fn beyond_quota(scope: &Scope<'_>, threads: usize) -> Option<String> {
    let fact = &scope.facts().system.cpu_quota;
    let quota = fact.get().filter(|&&quota| quota < threads as f64)?;
    Some(format!(
        "the control group allows {quota:.1} cpus' worth of time ({}): {threads} threads would \
         show the quota, not the memory",
        fact.source
    ))
}

/// Remark that the quota of CPU time allows fewer threads of traffic than there are CPUs. `None` if
/// the quota does not limit the traffic, or if the user chose its CPUs or threads.
pub fn adjustments(settings: &Settings, scope: &Scope<'_>, one: bool) -> Option<String> {
    let fact = &scope.facts().system.cpu_quota;
    let quota = fact.get()?;
    let cpu = *probe_cpus(settings, scope, one).ok()?.first()?;
    let all = others(scope, cpu).len();
    let used = traffic_cpus(settings, scope, cpu).ok()?.len();
    let chosen = settings.traffic_cpus.is_some()
        || settings
            .threads
            .or(settings.readers)
            .or(settings.writers)
            .is_some();
    (!chosen && used < all).then(|| {
        format!(
            "loaded-latency: the control group allows {quota:.1} cpus' worth of time ({}): \
             traffic on {used} of {all} cpus",
            fact.source
        )
    })
}
