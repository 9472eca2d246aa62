//! What the matrices show: local against remote memory, the worst link, directions that differ, all nodes at once.

use crate::results::{Dataset, Finding, HostFacts, Point, Summary};
use crate::units::significant;
use std::collections::BTreeMap;

/// The command that measures all pairs.
pub const COMMAND: &str = "numa";

/// The row of all nodes' CPUs together.
pub const ALL: &str = "all";

/// The column of memory of each thread's own node.
pub const LOCAL: &str = "local";

/// Directions of a link that differ by more than this, and not by chance, are told.
const ASYMMETRIC: f64 = 0.1;

/// A measured pair of nodes.
#[derive(Clone, Copy)]
struct Link<'a> {
    from: u64,
    to: u64,
    distance: Option<u64>,
    threads: Option<u64>,
    summary: &'a Summary,
}

impl Link<'_> {
    fn value(&self) -> f64 {
        self.summary.median
    }

    fn is_local(&self) -> bool {
        self.from == self.to
    }
}

/// The measured pairs of nodes among `points`.
fn links<'a>(points: &[&'a Point]) -> Vec<Link<'a>> {
    let link = |p: &&'a Point| {
        let summary = &p.outcome.measured()?.summary;
        let (from, to) = (p.number("cpu_node")?, p.number("memory_node")?);
        Some(Link { from, to, distance: p.number("distance"), threads: p.number("threads"), summary })
    };
    points.iter().filter_map(link).collect()
}

/// The points of each operation and kind of pages, in the order of the dataset, with its name.
fn parts(dataset: &Dataset) -> Vec<(String, Vec<&Point>)> {
    let several = |axis: &str| {
        let first = dataset.points.first().map(|p| p.name(axis));
        dataset.points.iter().any(|p| Some(p.name(axis)) != first)
    };
    let pages = several("pages");
    let mut parts: Vec<(String, Vec<&Point>)> = Vec::new();
    for point in &dataset.points {
        let Some(operation) = point.name("operation") else { continue };
        let name = match point.name("pages").filter(|_| pages) {
            Some(pages) => format!("{operation} in {pages} pages"),
            None => operation.to_owned(),
        };
        match parts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => parts.push((name, vec![point])),
        }
    }
    parts
}

/// What is worth a sentence about bandwidth between nodes.
pub fn bandwidth(dataset: &Dataset) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, points) in parts(dataset) {
        let links = links(&points);
        let shown = |bytes: f64| format!("{} GB/s", significant(bytes / 1e9));
        findings.extend(by_distance(&name, &links, "numa-bandwidth", &shown));
        findings.extend(worst(&name, &links, true, &shown));
        findings.extend(asymmetric(&name, &links, &shown));
        findings.extend(together(&name, &points, &links, &shown));
    }
    findings
}

/// What is worth a sentence about latency between nodes.
pub fn latency(dataset: &Dataset) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, points) in parts(dataset) {
        let links = links(&points);
        let shown = |ns: f64| format!("{} ns", significant(ns));
        findings.extend(by_distance(&name, &links, "numa-latency", &shown));
        findings.extend(worst(&name, &links, false, &shown));
        findings.extend(asymmetric(&name, &links, &shown));
    }
    findings
}

/// What a machine of one node is: all its memory is local, with the values of that. `None` where `dataset` has no point,
/// and where the system tells of several nodes.
pub fn one_node(facts: &HostFacts, dataset: &Dataset) -> Option<Finding> {
    let topology = &facts.topology;
    if topology.nodes.len() > 1 || dataset.points.is_empty() {
        return None;
    }
    let unit = &dataset.quantity.unit;
    let mut values = BTreeMap::new();
    let mut words = Vec::new();
    for point in &dataset.points {
        let (Some(measured), Some(operation)) = (point.outcome.measured(), point.name("operation")) else { continue };
        let median = measured.summary.median;
        let shown = match unit.as_str() {
            "ns" => format!("{operation} {} ns", significant(median)),
            _ => format!("{operation} {} GB/s", significant(median / 1e9)),
        };
        values.entry(operation.to_owned()).or_insert(median);
        words.push(shown);
    }
    let source = &topology.nodes_source;
    let measured = if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) };
    let text = format!("This machine has one NUMA node ({source}); all its memory is local{measured}.");
    Some(Finding { kind: "one-node".to_owned(), text, values })
}

/// The mean of the values of `links`.
fn mean<'a>(links: impl Iterator<Item = &'a Link<'a>>) -> Option<(f64, usize)> {
    let values: Vec<f64> = links.map(Link::value).collect();
    (!values.is_empty()).then(|| (values.iter().sum::<f64>() / values.len() as f64, values.len()))
}

/// Local memory against that of each distance, beside what the system says of it.
fn by_distance(name: &str, links: &[Link<'_>], kind: &str, shown: &dyn Fn(f64) -> String) -> Option<Finding> {
    let (local, _) = mean(links.iter().filter(|link| link.is_local()))?;
    let own = links.iter().filter(|link| link.is_local()).find_map(|link| link.distance);
    let mut classes: BTreeMap<Option<u64>, Vec<&Link<'_>>> = BTreeMap::new();
    for link in links.iter().filter(|link| !link.is_local()) {
        classes.entry(link.distance).or_default().push(link);
    }
    let mut values = BTreeMap::from([("local".to_owned(), local)]);
    let mut words = Vec::new();
    for (distance, members) in classes {
        let Some((remote, count)) = mean(members.into_iter()) else { continue };
        let key = distance.map_or_else(|| "remote".to_owned(), |distance| format!("distance_{distance}"));
        values.insert(key, remote);
        let at = match (distance, own) {
            (Some(distance), Some(own)) if own > 0 => {
                format!("at distance {distance} (reported as {:.1} times as far)", distance as f64 / own as f64)
            }
            (Some(distance), _) => format!("at distance {distance}"),
            (None, _) => "remote".to_owned(),
        };
        let pairs = if count == 1 { String::new() } else { format!(", mean of {count} pairs") };
        words.push(format!("{} {at}, {:.2} of local{pairs}", shown(remote), remote / local));
    }
    let text = format!("NUMA {name}: {} from local memory, {}.", shown(local), words.join("; "));
    (!words.is_empty()).then(|| Finding { kind: kind.to_owned(), text, values })
}

/// The pair furthest from what the CPU node has of its own memory, where there are several remote ones.
fn worst(name: &str, links: &[Link<'_>], higher_is_better: bool, shown: &dyn Fn(f64) -> String) -> Option<Finding> {
    let own = |link: &Link<'_>| links.iter().find(|l| l.is_local() && l.from == link.from).map(Link::value);
    let remote: Vec<(f64, &Link<'_>)> =
        links.iter().filter(|l| !l.is_local()).filter_map(|l| Some((l.value() / own(l)?, l))).collect();
    let further = |a: f64, b: f64| if higher_is_better { b.total_cmp(&a) } else { a.total_cmp(&b) };
    let (ratio, link) = remote.iter().max_by(|a, b| further(a.0, b.0)).filter(|_| remote.len() > 1)?;
    let (from, to, value) = (link.from, link.to, link.value());
    let text = format!(
        "NUMA {name}: the worst link leads from node {from} to memory of node {to}: {}, {ratio:.2} of node {from}'s own.",
        shown(value)
    );
    let values = [("cpu_node", from as f64), ("memory_node", to as f64), ("value", value), ("ratio", *ratio)];
    let values = values.map(|(key, value)| (key.to_owned(), value)).into();
    Some(Finding { kind: "numa-worst-link".to_owned(), text, values })
}

/// Pairs of nodes whose two directions differ beyond their intervals, measured with as many threads.
fn asymmetric(name: &str, links: &[Link<'_>], shown: &dyn Fn(f64) -> String) -> Option<Finding> {
    let mut found: Vec<(f64, &Link<'_>, &Link<'_>)> = Vec::new();
    for there in links.iter().filter(|link| link.from < link.to) {
        let back = links.iter().find(|l| (l.from, l.to, l.threads) == (there.to, there.from, there.threads));
        let Some(back) = back else { continue };
        let (low, high) = if there.value() <= back.value() { (there, back) } else { (back, there) };
        let ratio = high.value() / low.value();
        if ratio > 1.0 + ASYMMETRIC && low.summary.ci_high < high.summary.ci_low {
            found.push((ratio, low, high));
        }
    }
    let count = found.len();
    let (ratio, low, high) = found.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let text = format!(
        "NUMA {name}: {count} {} by direction, most of all nodes {} and {}: {} from CPUs of node {}, {} \
         from those of node {}.",
        if count == 1 { "pair of nodes differs" } else { "pairs of nodes differ" },
        low.from,
        low.to,
        shown(low.value()),
        low.from,
        shown(high.value()),
        high.from
    );
    let values = BTreeMap::from([("pairs".to_owned(), count as f64), ("most_ratio".to_owned(), ratio)]);
    Some(Finding { kind: "numa-asymmetric".to_owned(), text, values })
}

/// All nodes on their own memory at once against the sum of what each has alone.
fn together(name: &str, points: &[&Point], links: &[Link<'_>], shown: &dyn Fn(f64) -> String) -> Option<Finding> {
    let all = |p: &&&Point| p.name("cpu_node") == Some(ALL) && p.name("memory_node") == Some(LOCAL);
    let total = points.iter().find(all)?.outcome.measured()?.summary.median;
    let local: Vec<&Link<'_>> = links.iter().filter(|link| link.is_local()).collect();
    // In a profile not every node is measured alone.
    let nodes: std::collections::BTreeSet<u64> = points.iter().filter_map(|p| p.number("cpu_node")).collect();
    let sum: f64 = local.iter().map(|link| link.value()).sum();
    let mut values = BTreeMap::from([("total".to_owned(), total)]);
    let text = if local.len() > 1 && local.len() == nodes.len() {
        values.insert("sum".to_owned(), sum);
        format!(
            "NUMA {name}: all nodes at once reach {} from their own memory, {:.0}% of the sum of {} nodes alone ({}).",
            shown(total),
            total / sum * 100.0,
            local.len(),
            shown(sum)
        )
    } else {
        format!("NUMA {name}: all nodes at once reach {} from their own memory.", shown(total))
    };
    Some(Finding { kind: "numa-total".to_owned(), text, values })
}
