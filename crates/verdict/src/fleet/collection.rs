//! Collects the reports of a fleet in little memory. Names and coordinates that occur several times
//! are stored once.

use super::hardware::HardwareGroup;
use report::{Coordinates, NodeReport, NodeValue, VerdictGrade, retain_requested};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Largest number of different quantities in a fleet. A report that would exceed this number is
/// left out.
const MAX_QUANTITIES: usize = 200_000;

/// Largest number of reports of one machine that are kept from before the requested moment, and
/// from after it. The oldest reports are dropped if there are more.
pub const MAX_HISTORY: usize = 64;

/// Number of collected reports at which reports beyond [`MAX_HISTORY`] are first dropped.
const FIRST_PRUNING: usize = 20_000;

/// A quantity in which machines are compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FleetQuantity {
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the quantity.
    pub quantity: String,
    /// Base unit.
    pub unit: String,
    /// True if a higher value is better.
    pub higher_is_better: bool,
    /// Coordinates as requested. Points with a cache level have no size here, because the size
    /// differs between sessions.
    pub coordinates: Coordinates,
}

impl FleetQuantity {
    /// The quantity that `value` belongs to.
    pub fn new(value: NodeValue) -> Self {
        let mut coordinates = value.coordinates;
        retain_requested(&mut coordinates);
        if coordinates.contains_key("level") {
            coordinates.remove("size_bytes");
        }
        Self {
            experiment: value.experiment,
            quantity: value.quantity,
            unit: value.unit,
            higher_is_better: value.higher_is_better,
            coordinates,
        }
    }
}

/// A value of one machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FleetValue {
    /// Index of the quantity in the fleet.
    pub(super) quantity: u32,
    /// Median in the quantity's unit, finite and above 0.
    pub(super) median: f32,
    /// Half the width of the value's confidence interval divided by the median; 0 if unknown.
    pub(super) spread: f32,
    /// True if the verdict on the value is doubtful.
    pub(super) is_doubtful: bool,
}

impl FleetValue {
    /// Logarithm of the speed. A higher result is faster, whether the quantity is a rate or a time.
    pub(super) fn speed(&self, quantity: &FleetQuantity) -> f64 {
        let logarithm = f64::from(self.median).ln();
        if quantity.higher_is_better {
            logarithm
        } else {
            -logarithm
        }
    }
}

/// A report of one machine.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NodeRecord {
    pub(super) name: Box<str>,
    /// File of the report, with the line if the file has several reports.
    pub(super) source: Box<str>,
    pub(super) started: Box<str>,
    /// Index of the machine's group of hardware.
    pub(super) group: u32,
    /// Index of the system's settings in the collection.
    pub(super) settings: u32,
    /// Values in the order of their quantities.
    pub(super) values: Box<[FleetValue]>,
    /// Number of rejected points in the report.
    pub(super) rejected: u64,
}

/// Known settings of a system, by name.
pub(super) type Settings = Vec<(&'static str, String)>;

/// A report that is not judged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// File of the report, with the line if the file has several reports.
    pub source: String,
    /// Reason, in words.
    pub reason: String,
}

/// Machines to be judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fleet {
    pub(super) quantities: Vec<FleetQuantity>,
    pub(super) groups: Vec<HardwareGroup>,
    pub(super) settings: Vec<Settings>,
    /// The newest report of each machine, by name.
    pub(super) nodes: Vec<NodeRecord>,
    /// Older reports of each machine, the oldest first. The lists are empty if no histories are
    /// kept.
    pub(super) histories: Vec<Vec<NodeRecord>>,
    /// Number of older reports of these machines that were dropped.
    pub(super) older: u64,
}

impl Fleet {
    /// Number of machines.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True if there is no machine.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

/// Reports that were read so far. Each thread fills a collection of its own, and
/// [`FleetCollection::merge`] joins the collections.
#[derive(Debug, Default)]
pub struct FleetCollection {
    quantities: Numbered<FleetQuantity>,
    groups: Numbered<HardwareGroup>,
    settings: Numbered<Settings>,
    nodes: Vec<NodeRecord>,
    /// The requested moment since which changes are judged; `None` if no histories are kept.
    since: Option<Box<str>>,
    /// Number of reports that were dropped because their machine has too many reports.
    dropped: u64,
    /// Number of collected reports at which reports beyond [`MAX_HISTORY`] are dropped again.
    prune_at: usize,
}

/// A set of things, each with a number from 0.
#[derive(Debug)]
struct Numbered<T> {
    numbers: HashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
        }
    }
}

impl<T: std::hash::Hash + Ord> Numbered<T> {
    /// Number of `thing`. A thing that is not known yet gets the next number.
    fn number(&mut self, thing: T) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(thing).or_insert(next)
    }

    /// All things in rising order, and a list with the new number of each thing at the index of its
    /// old number.
    fn sorted(self) -> (Vec<T>, Vec<u32>) {
        let mut all: Vec<(T, u32)> = self.numbers.into_iter().collect();
        all.sort_unstable();
        let mut renumbered = vec![0; all.len()];
        for (new, (_, old)) in all.iter().enumerate() {
            renumbered[*old as usize] = new as u32;
        }
        (
            all.into_iter().map(|(thing, _)| thing).collect(),
            renumbered,
        )
    }

    /// Adds the things of `other`. Returns a list with the new number of each thing at the index of
    /// its old number.
    fn merge(&mut self, other: Self) -> Vec<u32> {
        let mut renumbered = vec![0; other.numbers.len()];
        for (thing, old) in other.numbers {
            renumbered[old as usize] = self.number(thing);
        }
        renumbered
    }
}

impl FleetCollection {
    /// A collection that keeps two parts of each machine's history: the newest [`MAX_HISTORY`]
    /// reports from before `since` (RFC 3339, UTC), and equally many from `since` on.
    pub fn with_history(since: &str) -> Self {
        Self {
            since: Some(since.into()),
            prune_at: FIRST_PRUNING,
            ..Self::default()
        }
    }

    /// Adds the report of a machine that was read from `source`. If the report does not name the
    /// machine, its name is `source`.
    ///
    /// # Errors
    /// The report has no number that can be compared, or the fleet has too many quantities.
    pub fn add(&mut self, report: NodeReport, source: String) -> Result<(), String> {
        if self.quantities.numbers.len() + report.values.len() > MAX_QUANTITIES {
            return Err(format!(
                "more than {MAX_QUANTITIES} different quantities in all reports together"
            ));
        }
        let mut values: Vec<FleetValue> = Vec::with_capacity(report.values.len());
        for value in report.values {
            let median = value.median as f32;
            if !(median.is_normal() && median > 0.0) {
                continue;
            }
            let spread = value.spread.unwrap_or(0.0) as f32;
            let is_doubtful = value.grade != VerdictGrade::Solid;
            values.push(FleetValue {
                quantity: self.quantities.number(FleetQuantity::new(value)),
                median,
                spread: if spread.is_finite() { spread } else { 0.0 },
                is_doubtful,
            });
        }
        // A report may have several values of one quantity. Only the first is kept, so that each
        // machine counts once.
        values.sort_by_key(|value| value.quantity);
        values.dedup_by_key(|value| value.quantity);
        if values.is_empty() {
            return Err(match report.rejected {
                0 => "no measured point".to_owned(),
                _ => "every number is rejected".to_owned(),
            });
        }
        let name = report.host.filter(|name| !name.is_empty());
        self.nodes.push(NodeRecord {
            name: name.unwrap_or_else(|| source.clone()).into(),
            source: source.into(),
            started: report.started.into(),
            group: self.groups.number(HardwareGroup::new(&report.hardware)),
            settings: self.settings.number(report.settings),
            values: values.into(),
            rejected: report.rejected,
        });
        self.prune_if_large();
        Ok(())
    }

    /// Drops reports beyond [`MAX_HISTORY`] if many reports were added since the last time.
    fn prune_if_large(&mut self) {
        if self.since.is_some() && self.nodes.len() >= self.prune_at {
            self.prune();
            self.prune_at = FIRST_PRUNING.max(self.nodes.len() * 2);
        }
    }

    /// Keeps the newest reports of each machine: [`MAX_HISTORY`] from before the requested moment,
    /// and equally many from then on. Copies of a kept report stay, so that the result does not
    /// depend on the order of reading.
    fn prune(&mut self) {
        let Some(since) = self.since.as_deref() else {
            return;
        };
        self.nodes.sort_unstable_by(newest_first);
        let mut starts = 0;
        let mut keep = Vec::with_capacity(self.nodes.len());
        for (index, node) in self.nodes.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| &self.nodes[before]);
            let is_older = |one: &NodeRecord| &*one.started < since;
            let same = |before: &&NodeRecord| {
                before.is_of_machine(node) && is_older(before) == is_older(node)
            };
            match before.filter(same) {
                Some(before) => starts += usize::from(before.started != node.started),
                None => starts = 1,
            }
            keep.push(starts <= MAX_HISTORY);
        }
        let before = self.nodes.len();
        let mut keep = keep.into_iter();
        self.nodes.retain(|_| keep.next() == Some(true));
        self.dropped += (before - self.nodes.len()) as u64;
    }

    /// Adds all reports of `other`.
    pub fn merge(&mut self, other: Self) {
        let quantities = self.quantities.merge(other.quantities);
        let groups = self.groups.merge(other.groups);
        let settings = self.settings.merge(other.settings);
        let renumbered = other.nodes.into_iter().map(|mut node| {
            node.renumber(&quantities, &groups, &settings);
            node
        });
        self.nodes.extend(renumbered);
        self.dropped += other.dropped;
        self.prune_if_large();
    }

    /// Returns the machines, each with its newest report, and with older reports if histories are
    /// kept. The second result lists reports that occur twice. With histories, a host whose
    /// hardware changed is one machine. The result does not depend on the order of reading.
    pub fn finish(mut self) -> (Fleet, Vec<LeftOut>) {
        self.prune();
        let (quantities, new_quantities) = self.quantities.sorted();
        let (groups, new_groups) = self.groups.sorted();
        let (settings, new_settings) = self.settings.sorted();
        let mut nodes = self.nodes;
        for node in &mut nodes {
            node.renumber(&new_quantities, &new_groups, &new_settings);
        }
        nodes.sort_unstable_by(newest_first);
        let mut older = self.dropped;
        let mut histories: Vec<Vec<NodeRecord>> = Vec::new();
        let mut twice = Vec::new();
        let mut kept: Vec<NodeRecord> = Vec::with_capacity(nodes.len());
        // Start and source of the previous report in the loop, whichever machine it is of.
        let mut start: Box<str> = "".into();
        let mut source: Box<str> = "".into();
        for node in nodes {
            let is_known = kept.last().is_some_and(|last| last.is_of_machine(&node));
            if is_known && start == node.started {
                twice.push(LeftOut {
                    source: node.source.into(),
                    reason: format!("a second copy: machine and start are those of {source}"),
                });
                continue;
            }
            start.clone_from(&node.started);
            source.clone_from(&node.source);
            match histories.last_mut().filter(|_| is_known) {
                Some(history) if self.since.is_some() => history.push(node),
                Some(_) => older += 1,
                None => {
                    kept.push(node);
                    histories.push(Vec::new());
                }
            }
        }
        for history in &mut histories {
            history.reverse();
        }
        if self.since.is_some() {
            (kept, histories) = joined(kept, histories);
        }
        let fleet = Fleet {
            quantities,
            groups,
            settings,
            nodes: kept,
            histories,
            older,
        };
        (fleet, twice)
    }
}

/// Order of reports: by machine, the newest report of each machine first.
fn newest_first(a: &NodeRecord, b: &NodeRecord) -> Ordering {
    let machine = a.name.cmp(&b.name).then(a.group.cmp(&b.group));
    machine
        .then_with(|| b.started.cmp(&a.started))
        .then_with(|| a.source.cmp(&b.source))
}

/// Joins the reports of a host to one machine if its hardware changed. All reports with the old
/// hardware must be older than all reports with the new hardware. Otherwise the host remains
/// several machines with the same name.
fn joined(
    nodes: Vec<NodeRecord>,
    histories: Vec<Vec<NodeRecord>>,
) -> (Vec<NodeRecord>, Vec<Vec<NodeRecord>>) {
    let mut hosts: Vec<Vec<(NodeRecord, Vec<NodeRecord>)>> = Vec::new();
    for machine in nodes.into_iter().zip(histories) {
        match hosts.last_mut() {
            Some(host) if host[0].0.name == machine.0.name => host.push(machine),
            _ => hosts.push(vec![machine]),
        }
    }
    let mut nodes = Vec::with_capacity(hosts.len());
    let mut histories = Vec::with_capacity(hosts.len());
    for mut host in hosts {
        host.sort_by(|(a, _), (b, _)| a.started.cmp(&b.started));
        let first = |(node, history): &(NodeRecord, Vec<NodeRecord>)| {
            history.first().unwrap_or(node).started.clone()
        };
        if host.windows(2).all(|two| two[0].0.started < first(&two[1])) {
            let mut all = Vec::new();
            for (node, history) in host {
                all.extend(history);
                all.push(node);
            }
            nodes.extend(all.pop());
            histories.push(all);
        } else {
            host.sort_by_key(|(node, _)| node.group);
            for (node, history) in host {
                nodes.push(node);
                histories.push(history);
            }
        }
    }
    (nodes, histories)
}

impl NodeRecord {
    /// True if `other` is a report of the same machine: name and hardware are equal.
    fn is_of_machine(&self, other: &Self) -> bool {
        self.name == other.name && self.group == other.group
    }

    fn renumber(&mut self, quantities: &[u32], groups: &[u32], settings: &[u32]) {
        for value in &mut self.values {
            value.quantity = quantities[value.quantity as usize];
        }
        self.values.sort_unstable_by_key(|value| value.quantity);
        self.group = groups[self.group as usize];
        self.settings = settings[self.settings as usize];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::NodeHardware;

    fn report(number: usize) -> NodeReport {
        NodeReport {
            host: Some("one".to_owned()),
            started: format!("2026-01-01T00:{:02}:{:02}Z", number / 60, number % 60),
            hardware: NodeHardware::default(),
            settings: Vec::new(),
            values: vec![NodeValue {
                experiment: "e".to_owned(),
                quantity: "q".to_owned(),
                unit: "1/s".to_owned(),
                higher_is_better: true,
                coordinates: Coordinates::new(),
                median: 1.0,
                spread: None,
                grade: VerdictGrade::Solid,
            }],
            rejected: 0,
        }
    }

    #[test]
    fn pruning_while_reading_changes_only_the_memory_needed() {
        let since = report(500).started;
        let read = |prune_at: usize, numbers: &[usize]| {
            let mut all = FleetCollection::with_history(&since);
            all.prune_at = prune_at;
            for number in numbers {
                // Every tenth report is added twice.
                for copy in 0..1 + usize::from(number % 10 == 0) {
                    let source = format!("{number}-{copy}");
                    all.add(report(*number), source).expect("a report");
                    all.prune_at = all.prune_at.min(prune_at);
                }
            }
            all
        };
        let rising: Vec<usize> = (0..1000).collect();
        let falling: Vec<usize> = (0..1000).rev().collect();
        let whole = read(usize::MAX, &rising);
        let pruned = read(200, &falling);
        assert!(pruned.nodes.len() < 300, "{}", pruned.nodes.len());
        let (fleet, twice) = pruned.finish();
        assert_eq!(fleet.histories[0].len() + 1, 2 * MAX_HISTORY);
        assert_eq!((fleet, twice), whole.finish());
    }
}
