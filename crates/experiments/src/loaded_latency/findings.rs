//! Findings of the curves of latency over bandwidth.

use super::curve::{LOADED, LoadedCurve, curves};
use crate::difference::{ComparisonResult, Difference, Figure};
use crate::series::grouped;
use report::without;
use report::{Dataset, Finding, HostFacts};
use std::collections::BTreeMap;
use units::counted;

/// Shares of the highest bandwidth at which a finding gives the latency.
const SHARES: [(f64, &str); 3] = [(0.5, "50"), (0.8, "80"), (0.9, "90")];

/// Curves are compared at this share of the highest bandwidth that the slowest curve reaches.
const COMPARED_AT: f64 = 0.8;

/// All findings of `dataset`; `facts` describes its machine.
pub fn findings(dataset: &Dataset, facts: Option<&HostFacts>) -> Vec<Finding> {
    let curves = curves(dataset);
    let advice = advice(facts);
    let own = curves
        .iter()
        .flat_map(|curve| [along(curve, &curves), doubt(curve, &curves, &advice)])
        .flatten();
    let all: Vec<Finding> = own.collect();
    all.into_iter()
        .chain(compared(&curves, "mix"))
        .chain(compared(&curves, "node"))
        .collect()
}

/// Advice for a session in which background traffic cannot load the memory.
fn advice(facts: Option<&HostFacts>) -> String {
    let is_virtual = |facts: &&HostFacts| {
        facts
            .system
            .virtualization
            .get()
            .is_some_and(|name| name != "none")
    };
    match facts
        .filter(is_virtual)
        .map(|facts| facts.topology.cpus.len())
    {
        Some(cpus) => {
            format!("this virtual machine has {cpus} CPUs of a whole host")
        }
        None => "use more CPUs for traffic".to_owned(),
    }
}

/// Words for a curve: its traffic, and other coordinates that distinguish it among `all` curves.
fn named(curve: &LoadedCurve<'_>, all: &[LoadedCurve<'_>]) -> String {
    let differs = |axis: &&&str| {
        all.iter()
            .any(|other| other.place.get(**axis) != curve.place.get(**axis))
    };
    let also: Vec<String> = ["cpu", "node", "pages", "repeat"]
        .iter()
        .filter(differs)
        .filter_map(|axis| Some(format!("{axis} {}", curve.place.get(*axis)?)))
        .collect();
    let also = if also.is_empty() {
        String::new()
    } else {
        format!(" ({})", also.join(", "))
    };
    format!("{} traffic of {}{also}", curve.mix(), threads(curve))
}

/// Number of threads of the traffic as text: `1 thread`, `7 threads`.
fn threads(curve: &LoadedCurve<'_>) -> String {
    let threads = curve
        .place
        .get("threads")
        .map(ToString::to_string)
        .unwrap_or_default();
    counted(threads, "thread")
}

/// Finding about one curve: idle latency, latency at the shares of its highest bandwidth at which
/// loads take longer, and the knee.
pub(super) fn along(curve: &LoadedCurve<'_>, all: &[LoadedCurve<'_>]) -> Option<Finding> {
    let idle = Figure::new(curve.idle()?.point)?;
    let fastest = curve.fastest()?;
    let ns = idle.value;
    let most = fastest.bandwidth();
    let mut values = BTreeMap::from([("idle_ns".to_owned(), ns), ("highest".to_owned(), most)]);
    values.extend(
        fastest
            .load
            .map(|load| ("highest_bus_estimate".to_owned(), load.bus_estimate)),
    );
    let mut points = [idle.points.clone(), vec![fastest.point]].concat();
    let mut told = Vec::new();
    for (percent, there) in rising(curve, &idle, most) {
        values.insert(format!("ns_at_{percent}"), there.value);
        told.push(format!("{:.0} ns at {percent}%", there.value));
        points.extend(there.points);
    }
    let knee = curve.knee();
    let bends = match knee {
        Some(knee) if knee.latency.median > idle.high => {
            format!(
                "The curve bends at {:.1} GB/s ({:.0} ns)",
                knee.bandwidth() / 1e9,
                knee.latency.median
            )
        }
        Some(knee) => format!(
            "Loads are as fast as idle up to {:.1} GB/s",
            knee.bandwidth() / 1e9
        ),
        None => "The curve has no bend".to_owned(),
    };
    points.extend(knee.map(|knee| knee.point));
    values.extend(knee.map(|knee| ("knee".to_owned(), knee.bandwidth())));
    values.extend(knee.map(|knee| ("knee_ns".to_owned(), knee.latency.median)));
    let text = format!(
        "Under {} a load takes {ns:.0} ns idle, {} of {:.1} GB/s. {bends}.",
        named(curve, all),
        told.join(", "),
        most / 1e9
    );
    (!told.is_empty())
        .then(|| Some(Finding::resting_on(points, "loaded-latency", text)?.with(values)))?
}

/// Latencies at those [`SHARES`] of the bandwidth `most` at which loads take longer than `idle`.
/// According to the intervals, each latency is higher than the previous one, and no later latency
/// is lower.
fn rising<'a>(
    curve: &LoadedCurve<'a>,
    idle: &Figure<'a>,
    most: f64,
) -> Vec<(&'static str, Figure<'a>)> {
    let at = |(share, percent): (f64, &'static str)| Some((percent, curve.at(most * share)?));
    let all: Vec<(&str, Figure<'a>)> = SHARES.into_iter().filter_map(at).collect();
    let shows = |from: &Figure<'a>, to: &Figure<'a>| {
        Difference {
            from: from.clone(),
            to: to.clone(),
        }
        .shows()
    };
    let mut rising: Vec<(&'static str, Figure<'a>)> = Vec::new();
    for (place, (percent, there)) in all.iter().enumerate() {
        let before = rising.last().map_or(idle, |(_, before)| before);
        let falls = all[place + 1..]
            .iter()
            .any(|(_, later)| shows(there, later) == ComparisonResult::Lower);
        if shows(before, there) == ComparisonResult::Higher && !falls {
            rising.push((percent, there.clone()));
        }
    }
    rising
}

/// Finding about a curve that falls or hardly rises. `advice` is added if the traffic cannot load
/// the memory.
pub(super) fn doubt(
    curve: &LoadedCurve<'_>,
    all: &[LoadedCurve<'_>],
    advice: &str,
) -> Option<Finding> {
    let named = named(curve, all);
    if let Some((before, after)) = curve.fall().filter(|_| curve.idle().is_some()) {
        let from = before.latency.median;
        let to = after.latency.median;
        let text = format!(
            "Loads get faster under {named}: {from:.0} ns at {:.1} GB/s, {to:.0} ns at {:.1} GB/s. \
             Traffic may keep the clocks up, or the machine changed in between.",
            before.bandwidth() / 1e9,
            after.bandwidth() / 1e9
        );
        let fall = Difference::between(before.point, after.point)?;
        return fall.finding(
            "loaded-latency-falls",
            text,
            &[("from_ns", from), ("to_ns", to)],
        );
    }
    let fastest = curve.fastest()?;
    if curve.is_loaded() {
        return None;
    }
    let slowest = curve
        .slowed()
        .into_iter()
        .max_by(|a, b| a.ratio().total_cmp(&b.ratio()))?;
    let ratio = slowest.ratio();
    let times = match slowest.shows() {
        ComparisonResult::Higher => {
            format!("loads take at most {ratio:.2} times as long as idle, not {LOADED} times")
        }
        _ => "loads are as fast as idle".to_owned(),
    };
    let text = format!(
        "{} cannot load this memory: under {named} ({:.1} GB/s) {times}; {advice}.",
        threads(curve),
        fastest.bandwidth() / 1e9
    );
    slowest.finding(
        "loaded-latency-flat",
        text,
        &[("highest", fastest.bandwidth())],
    )
}

/// Findings that compare curves that differ only along `axis`, at a bandwidth that the slowest of
/// them nearly reaches.
fn compared(curves: &[LoadedCurve<'_>], axis: &str) -> Vec<Finding> {
    let along = curves.iter().filter(|curve| curve.place.contains_key(axis));
    let groups = grouped(along, |curve| without(&curve.place, &[axis]));
    let several = groups.into_iter().filter(|(_, group)| group.len() > 1);
    several
        .filter_map(|(_, group)| at_equal_bandwidth(&group, axis))
        .collect()
}

/// Finding that compares the latencies of the curves in `group` at equal bandwidth. `None` if the
/// intervals show neither a difference nor that the latencies are the same.
fn at_equal_bandwidth(group: &[&LoadedCurve<'_>], axis: &str) -> Option<Finding> {
    let most = group
        .iter()
        .map(|curve| curve.fastest().map(|spot| spot.bandwidth()))
        .collect::<Option<Vec<f64>>>()?;
    let bandwidth = most.into_iter().reduce(f64::min)? * COMPARED_AT;
    let mut values = BTreeMap::from([("bandwidth".to_owned(), bandwidth)]);
    let mut told = Vec::new();
    let mut figures: Vec<Figure<'_>> = Vec::new();
    for curve in group {
        let name = curve.place.get(axis)?.to_string();
        let there = curve.at(bandwidth)?;
        told.push(format!(
            "{:.0} ns {} {name}",
            there.value,
            if axis == "mix" { "under" } else { "on node" }
        ));
        values.insert(format!("{name}_ns"), there.value);
        figures.push(there);
    }
    figures.sort_by(|a, b| a.value.total_cmp(&b.value));
    let quickest = figures.first()?.clone();
    let slowest = figures.last()?.clone();
    if (Difference {
        from: quickest,
        to: slowest,
    })
    .shows()
        == ComparisonResult::Nothing
    {
        return None;
    }
    let whose = if axis == "mix" {
        String::new()
    } else {
        format!(" of {}", named(group[0], &[]))
    };
    let text = format!(
        "At the same {:.1} GB/s{whose} a load takes {}.",
        bandwidth / 1e9,
        told.join(", ")
    );
    let kind = if axis == "mix" {
        "loaded-latency-mixes"
    } else {
        "loaded-latency-nodes"
    };
    let points = figures.into_iter().flat_map(|figure| figure.points);
    Some(Finding::resting_on(points, kind, text)?.with(values))
}
