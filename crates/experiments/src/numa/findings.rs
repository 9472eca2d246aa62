//! Findings from the matrices of values between NUMA nodes: local against remote memory, the
//! slowest pair, asymmetric pairs, and all nodes at once.

use crate::difference::{ComparisonResult, Difference, Figure};
use crate::series::grouped;
use report::{Dataset, Finding, HostFacts, Point};
use std::collections::BTreeMap;
use units::significant;

/// Name of the command that measures all pairs of nodes.
pub const COMMAND: &str = "numa";

/// Value of the axis `cpu_node` if the CPUs of all nodes have threads.
pub const ALL: &str = "all";

/// Value of the axis `memory_node` if each thread uses its local memory.
pub const LOCAL: &str = "local";

/// A pair of nodes is asymmetric if its values in the two directions differ by more than this share
/// and the intervals show it.
const ASYMMETRIC: f64 = 0.1;

/// A measured pair of nodes: CPUs of the node `from` use memory of the node `to`.
#[derive(Clone)]
struct Link<'a> {
    from: u64,
    to: u64,
    distance: Option<u64>,
    threads: Option<u64>,
    figure: Figure<'a>,
}

impl<'a> Link<'a> {
    fn value(&self) -> f64 {
        self.figure.value
    }

    /// `other` compared with this pair of nodes.
    fn against(&self, other: &Link<'a>) -> Difference<'a> {
        Difference {
            from: self.figure.clone(),
            to: other.figure.clone(),
        }
    }

    fn is_local(&self) -> bool {
        self.from == self.to
    }
}

/// The measured pairs of nodes among `points`.
fn links<'a>(points: &[&'a Point]) -> Vec<Link<'a>> {
    let link = |p: &&'a Point| {
        let figure = Figure::new(p)?;
        let from = p.number("cpu_node")?;
        let to = p.number("memory_node")?;
        Some(Link {
            from,
            to,
            distance: p.number("distance"),
            threads: p.number("threads"),
            figure,
        })
    };
    points.iter().filter_map(link).collect()
}

/// Groups of points with the same operation and kind of pages, in the order of the dataset. Each
/// group follows its name, such as `read in 4k pages`.
fn parts(dataset: &Dataset) -> Vec<(String, Vec<&Point>)> {
    let several = |axis: &str| {
        let first = dataset.points.first().map(|p| p.name(axis));
        dataset.points.iter().any(|p| Some(p.name(axis)) != first)
    };
    let pages = several("pages");
    let name = |point: &&Point| {
        let operation = point.name("operation").unwrap_or_default();
        match point.name("pages").filter(|_| pages) {
            Some(pages) => format!("{operation} in {pages} pages"),
            None => operation.to_owned(),
        }
    };
    let points = dataset
        .points
        .iter()
        .filter(|point| point.name("operation").is_some());
    grouped(points, name)
}

/// Findings about bandwidth between nodes.
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

/// Findings about latency between nodes.
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

/// Finding that all memory of a machine with one node is local. `None` if `dataset` has no point,
/// or if the system reports several nodes.
pub fn one_node(facts: &HostFacts, dataset: &Dataset) -> Option<Finding> {
    let topology = &facts.topology;
    if topology.nodes.len() > 1 || dataset.points.is_empty() {
        return None;
    }
    let unit = &dataset.quantity.unit;
    let mut values = BTreeMap::new();
    let mut words = Vec::new();
    let mut points = Vec::new();
    for point in &dataset.points {
        let (Some(measured), Some(operation)) = (point.usable(), point.name("operation")) else {
            continue;
        };
        let median = measured.summary.median;
        let shown = match unit.as_str() {
            "ns" => format!("{operation} {} ns", significant(median)),
            _ => format!("{operation} {} GB/s", significant(median / 1e9)),
        };
        values.entry(operation.to_owned()).or_insert(median);
        words.push(shown);
        points.push(point);
    }
    let source = &topology.nodes_source;
    let measured = if words.is_empty() {
        String::new()
    } else {
        format!(": {}", words.join(", "))
    };
    let text =
        format!("This machine has one NUMA node, so all memory is local{measured} ({source}).");
    let measured = Finding::resting_on(points, "one-node", text.clone());
    Some(
        measured
            .unwrap_or_else(|| Finding::note("one-node", text))
            .with(values),
    )
}

/// The mean of the figures of `links`. `None` for an empty list.
fn mean<'a>(links: &[&Link<'a>]) -> Option<Figure<'a>> {
    Figure::mean(
        &links
            .iter()
            .map(|link| link.figure.clone())
            .collect::<Vec<Figure<'a>>>(),
    )
}

/// Finding that compares local memory with memory at each distance, next to the reported distance.
/// A distance is left out if the intervals show no difference.
fn by_distance(
    name: &str,
    links: &[Link<'_>],
    kind: &str,
    shown: &dyn Fn(f64) -> String,
) -> Option<Finding> {
    let local = mean(
        &links
            .iter()
            .filter(|link| link.is_local())
            .collect::<Vec<_>>(),
    )?;
    let own = links
        .iter()
        .filter(|link| link.is_local())
        .find_map(|link| link.distance);
    let mut classes: BTreeMap<Option<u64>, Vec<&Link<'_>>> = BTreeMap::new();
    for link in links.iter().filter(|link| !link.is_local()) {
        classes.entry(link.distance).or_default().push(link);
    }
    let mut values = BTreeMap::from([("local".to_owned(), local.value)]);
    let mut words = Vec::new();
    let mut points = local.points.clone();
    for (distance, members) in classes {
        let Some(remote) = mean(&members) else {
            continue;
        };
        let difference = Difference {
            from: local.clone(),
            to: remote,
        };
        let compares = match difference.shows() {
            ComparisonResult::Nothing => continue,
            ComparisonResult::Same => "the same as local within 5%".to_owned(),
            ComparisonResult::Higher | ComparisonResult::Lower => {
                format!("{:.2} of local", difference.ratio())
            }
        };
        let key = distance.map_or_else(
            || "remote".to_owned(),
            |distance| format!("distance_{distance}"),
        );
        values.insert(key, difference.to.value);
        let at = match (distance, own) {
            (Some(distance), Some(own)) if own > 0 => {
                format!(
                    "at distance {distance} ({:.1} times the local one)",
                    distance as f64 / own as f64
                )
            }
            (Some(distance), _) => format!("at distance {distance}"),
            (None, _) => "remote".to_owned(),
        };
        let count = members.len();
        let pairs = if count == 1 {
            String::new()
        } else {
            format!(", mean of {count} pairs")
        };
        words.push(format!(
            "{} {at}, {compares}{pairs}",
            shown(difference.to.value)
        ));
        points.extend(difference.to.points);
    }
    let text = format!(
        "NUMA {name}: {} local, {}.",
        shown(local.value),
        words.join("; ")
    );
    let points = points.into_iter().filter(|_| !words.is_empty());
    Some(Finding::shown_by(points, kind, text)?.with(values))
}

/// Finding about the slowest pair of nodes, relative to local memory of its CPU node. `None`
/// without several remote pairs, or if the intervals do not show that the pair is slower.
fn worst(
    name: &str,
    links: &[Link<'_>],
    higher_is_better: bool,
    shown: &dyn Fn(f64) -> String,
) -> Option<Finding> {
    let own = |link: &Link<'_>| {
        links
            .iter()
            .find(|l| l.is_local() && l.from == link.from)
            .cloned()
    };
    let remote: Vec<(Difference<'_>, &Link<'_>)> = links
        .iter()
        .filter(|l| !l.is_local())
        .filter_map(|l| Some((own(l)?.against(l), l)))
        .collect();
    let further = |a: f64, b: f64| {
        if higher_is_better {
            b.total_cmp(&a)
        } else {
            a.total_cmp(&b)
        }
    };
    let worst = remote
        .iter()
        .max_by(|a, b| further(a.0.ratio(), b.0.ratio()));
    let (difference, link) = worst.filter(|_| remote.len() > 1)?;
    let worse = if higher_is_better {
        ComparisonResult::Lower
    } else {
        ComparisonResult::Higher
    };
    let from = link.from;
    let to = link.to;
    let value = link.value();
    let text = format!(
        "NUMA {name}: the slowest link is from node {from} to memory of node {to}: {}, {:.2} of \
         local.",
        shown(value),
        difference.ratio()
    );
    let values = [
        ("cpu_node", from as f64),
        ("memory_node", to as f64),
        ("value", value),
    ];
    (difference.shows() == worse).then(|| difference.finding("numa-worst-link", text, &values))?
}

/// Finding about pairs of nodes whose directions differ by more than [`ASYMMETRIC`], as the
/// intervals show. Both directions must have the same number of threads.
fn asymmetric(name: &str, links: &[Link<'_>], shown: &dyn Fn(f64) -> String) -> Option<Finding> {
    let mut found: Vec<(Difference<'_>, &Link<'_>, &Link<'_>)> = Vec::new();
    for there in links.iter().filter(|link| link.from < link.to) {
        let back = links
            .iter()
            .find(|l| (l.from, l.to, l.threads) == (there.to, there.from, there.threads));
        let Some(back) = back else { continue };
        let (low, high) = if there.value() <= back.value() {
            (there, back)
        } else {
            (back, there)
        };
        let difference = low.against(high);
        if difference.ratio() > 1.0 + ASYMMETRIC && difference.is_shown() {
            found.push((difference, low, high));
        }
    }
    let count = found.len();
    let points: Vec<&Point> = found
        .iter()
        .flat_map(|(difference, ..)| difference.points())
        .collect();
    let (most, low, high) = found
        .into_iter()
        .max_by(|a, b| a.0.ratio().total_cmp(&b.0.ratio()))?;
    let text = format!(
        "NUMA {name}: {count} {} by direction, most of all nodes {} and {}: {} from node {}, {} \
         from node {}.",
        if count == 1 {
            "pair of nodes differs"
        } else {
            "pairs of nodes differ"
        },
        low.from,
        low.to,
        shown(low.value()),
        low.from,
        shown(high.value()),
        high.from
    );
    let values = BTreeMap::from([
        ("pairs".to_owned(), count as f64),
        ("most_ratio".to_owned(), most.ratio()),
    ]);
    Some(Finding::shown_by(points, "numa-asymmetric", text)?.with(values))
}

/// Finding about the bandwidth of local memory with all nodes at once. It is compared with the sum
/// of the bandwidths of single nodes.
fn together(
    name: &str,
    points: &[&Point],
    links: &[Link<'_>],
    shown: &dyn Fn(f64) -> String,
) -> Option<Finding> {
    let all = |p: &&&Point| p.name("cpu_node") == Some(ALL) && p.name("memory_node") == Some(LOCAL);
    let total = Figure::new(points.iter().find(all)?)?;
    let local: Vec<&Link<'_>> = links.iter().filter(|link| link.is_local()).collect();
    // A profile may not measure every node alone. Then there is no sum.
    let nodes: std::collections::BTreeSet<u64> =
        points.iter().filter_map(|p| p.number("cpu_node")).collect();
    let mut values = BTreeMap::from([("total".to_owned(), total.value)]);
    let start = format!(
        "NUMA {name}: all nodes at once reach {} of local memory",
        shown(total.value)
    );
    let sum = Figure::sum(
        &local
            .iter()
            .map(|link| link.figure.clone())
            .collect::<Vec<Figure<'_>>>(),
    );
    let complete = local.len() > 1 && local.len() == nodes.len();
    let difference = sum.filter(|_| complete).map(|sum| Difference {
        from: sum,
        to: total.clone(),
    });
    let (text, points) =
        match difference.filter(|difference| difference.shows() != ComparisonResult::Nothing) {
            Some(difference) => {
                let sum = difference.from.value;
                values.insert("sum".to_owned(), sum);
                let share = difference.ratio() * 100.0;
                let compared = format!(
                    "{share:.0}% of the sum of {} nodes alone ({})",
                    local.len(),
                    shown(sum)
                );
                (
                    format!("{start}, {compared}."),
                    difference.points().collect(),
                )
            }
            None => (format!("{start}."), total.points),
        };
    Some(Finding::resting_on(points, "numa-total", text)?.with(values))
}
