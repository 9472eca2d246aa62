//! What the curves say, in sentences.

use super::curve::{Curve, curves};
use crate::results::{Coordinates, Dataset, Finding, HostFacts};
use std::collections::BTreeMap;

/// Shares of the highest bandwidth at which the latency is told.
const SHARES: [(f64, &str); 3] = [(0.5, "50"), (0.8, "80"), (0.9, "90")];

/// A curve that does not get this many times as slow as idle was hardly loaded.
const LOADED: f64 = 1.5;

/// Mixes are compared at this share of what the slowest of them reaches.
const COMPARED_AT: f64 = 0.8;

/// All findings; `facts` of the machine that the curves are of.
pub fn findings(dataset: &Dataset, facts: Option<&HostFacts>) -> Vec<Finding> {
    let curves = curves(dataset);
    let cure = cure(facts);
    let own = curves.iter().flat_map(|curve| [along(curve, &curves), doubt(curve, &curves, &cure)]).flatten();
    let all: Vec<Finding> = own.collect();
    all.into_iter().chain(compared(&curves, "mix")).chain(compared(&curves, "node")).collect()
}

/// What it would take to load memory that the traffic does not, to follow the words that it cannot.
fn cure(facts: Option<&HostFacts>) -> String {
    let is_virtual = |facts: &&HostFacts| facts.system.virtualization.get().is_some_and(|name| name != "none");
    match facts.filter(is_virtual).map(|facts| facts.topology.cpus.len()) {
        Some(cpus) => format!(", which is that of a whole host: this virtual machine has {cpus} of its CPUs"),
        None => "; it takes traffic from more CPUs".to_owned(),
    }
}

/// Which curve it is, in words: its traffic, and what else tells it from others.
fn named(curve: &Curve, all: &[Curve]) -> String {
    let differs = |axis: &&&str| all.iter().any(|other| other.place.get(**axis) != curve.place.get(**axis));
    let also: Vec<String> = ["cpu", "node", "pages", "repeat"]
        .iter()
        .filter(differs)
        .filter_map(|axis| Some(format!("{axis} {}", curve.place.get(*axis)?)))
        .collect();
    let also = if also.is_empty() { String::new() } else { format!(" ({})", also.join(", ")) };
    format!("{} traffic of {}{also}", curve.mix(), threads(curve))
}

/// `1 thread`, `7 threads`
fn threads(curve: &Curve) -> String {
    let threads = curve.place.get("threads").map(ToString::to_string).unwrap_or_default();
    let plural = if threads == "1" { "" } else { "s" };
    format!("{threads} thread{plural}")
}

/// The figures along one curve: idle, at shares of its highest bandwidth, and its knee.
pub(super) fn along(curve: &Curve, all: &[Curve]) -> Option<Finding> {
    let (idle, fastest) = (curve.idle()?.latency.median, curve.fastest()?);
    let most = fastest.bandwidth();
    let mut values = BTreeMap::from([("idle_ns".to_owned(), idle), ("highest".to_owned(), most)]);
    values.extend(fastest.load.map(|load| ("highest_bus_estimate".to_owned(), load.bus_estimate)));
    let mut told = Vec::new();
    for (share, percent) in SHARES {
        let Some(ns) = curve.at(most * share) else { continue };
        values.insert(format!("ns_at_{percent}"), ns);
        told.push(format!("{ns:.0} ns at {percent}%"));
    }
    let knee = curve.knee().map(|knee| (knee.bandwidth(), knee.latency.median));
    let bends = match knee {
        Some((bandwidth, ns)) => format!("it bends at {:.1} GB/s ({ns:.0} ns)", bandwidth / 1e9),
        None => "no bend is seen".to_owned(),
    };
    for (name, value) in [("knee", knee.map(|k| k.0)), ("knee_ns", knee.map(|k| k.1))] {
        values.extend(value.map(|value| (name.to_owned(), value)));
    }
    let text = format!(
        "Beside {}: a load takes {idle:.0} ns idle, {} of the highest {:.1} GB/s; {bends}.",
        named(curve, all),
        told.join(", "),
        most / 1e9
    );
    (!told.is_empty()).then(|| Finding { kind: "loaded-latency".to_owned(), text, values })
}

/// What is odd about a curve: it falls, or it hardly rises. `cure` follows the words that the traffic cannot load the memory.
pub(super) fn doubt(curve: &Curve, all: &[Curve], cure: &str) -> Option<Finding> {
    let idle = curve.idle()?.latency.median;
    let named = named(curve, all);
    if let Some((before, after)) = curve.fall() {
        let (from, to) = (before.latency.median, after.latency.median);
        let text = format!(
            "Beside {named}: loads take {from:.0} ns at {:.1} GB/s and only {to:.0} ns at {:.1} GB/s, outside both intervals: \
             traffic keeps clocks up that fall beside a single chase, or the machine changed between these points.",
            before.bandwidth() / 1e9,
            after.bandwidth() / 1e9
        );
        let values = BTreeMap::from([("from_ns".to_owned(), from), ("to_ns".to_owned(), to)]);
        return Some(Finding { kind: "loaded-latency-falls".to_owned(), text, values });
    }
    let (slowest, fastest) = (curve.slowest()?.latency.median, curve.fastest()?);
    if slowest >= idle * LOADED {
        return None;
    }
    let text = format!(
        "Beside {named}: {:.1} GB/s make loads take {:.2} times as long as idle at most, not {LOADED} times: {} cannot load \
         this memory{cure}.",
        fastest.bandwidth() / 1e9,
        slowest / idle,
        threads(curve)
    );
    let values = BTreeMap::from([("ratio".to_owned(), slowest / idle), ("highest".to_owned(), fastest.bandwidth())]);
    Some(Finding { kind: "loaded-latency-flat".to_owned(), text, values })
}

/// Curves that differ along `axis` only, at the same bandwidth: that of the slowest of them, nearly.
fn compared(curves: &[Curve], axis: &str) -> Vec<Finding> {
    let without = |curve: &Curve| -> Coordinates {
        curve.place.iter().filter(|(name, _)| *name != axis).map(|(n, c)| (n.clone(), c.clone())).collect()
    };
    let mut groups: Vec<(Coordinates, Vec<&Curve>)> = Vec::new();
    for curve in curves.iter().filter(|curve| curve.place.contains_key(axis)) {
        let place = without(curve);
        match groups.iter_mut().find(|(known, _)| *known == place) {
            Some((_, group)) => group.push(curve),
            None => groups.push((place, vec![curve])),
        }
    }
    let several = groups.into_iter().filter(|(_, group)| group.len() > 1);
    several.filter_map(|(_, group)| at_equal_bandwidth(&group, axis)).collect()
}

fn at_equal_bandwidth(group: &[&Curve], axis: &str) -> Option<Finding> {
    let most = group.iter().map(|curve| curve.fastest().map(|spot| spot.bandwidth())).collect::<Option<Vec<f64>>>()?;
    let bandwidth = most.into_iter().reduce(f64::min)? * COMPARED_AT;
    let mut values = BTreeMap::from([("bandwidth".to_owned(), bandwidth)]);
    let mut told = Vec::new();
    for curve in group {
        let (name, ns) = (curve.place.get(axis)?.to_string(), curve.at(bandwidth)?);
        told.push(format!("{ns:.0} ns {} {name}", if axis == "mix" { "beside" } else { "on node" }));
        values.insert(format!("{name}_ns"), ns);
    }
    let of = if axis == "mix" { String::new() } else { format!(" of {}", named(group[0], &[])) };
    let text = format!("At the same {:.1} GB/s{of}: a load takes {}.", bandwidth / 1e9, told.join(", "));
    let kind = if axis == "mix" { "loaded-latency-mixes" } else { "loaded-latency-nodes" };
    Some(Finding { kind: kind.to_owned(), text, values })
}
