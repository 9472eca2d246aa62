//! Collects the reports of a fleet in little memory: names and coordinates are kept once.

use super::hardware::HardwareGroup;
use report::{Coordinates, NodeReport, NodeValue, VerdictGrade, retain_requested};
use std::collections::HashMap;

/// Largest number of different quantities. A report that would exceed it is left out.
const MAX_QUANTITIES: usize = 200_000;

/// A quantity that machines are compared by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FleetQuantity {
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the quantity.
    pub quantity: String,
    /// Base unit.
    pub unit: String,
    /// True if more is better.
    pub higher_is_better: bool,
    /// Coordinates as requested. Points of a level have no size, which differs between sessions.
    pub coordinates: Coordinates,
}

impl FleetQuantity {
    /// The quantity of a value.
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
    /// Index of the quantity.
    pub(super) quantity: u32,
    /// Median in the quantity's unit, finite and above 0.
    pub(super) median: f32,
    /// Half of the interval as a share of the median; 0 if unknown.
    pub(super) spread: f32,
    /// True if the number is doubtful.
    pub(super) is_doubtful: bool,
}

impl FleetValue {
    /// Logarithm of the value; more is faster.
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
    /// File, with the line if it has several reports.
    pub(super) source: Box<str>,
    pub(super) started: Box<str>,
    /// Index of the group.
    pub(super) group: u32,
    /// Index of the settings.
    pub(super) settings: u32,
    /// Values in the order of their quantities.
    pub(super) values: Box<[FleetValue]>,
    /// Number of rejected points.
    pub(super) rejected: u64,
}

/// Known settings of a system, by name.
pub(super) type Settings = Vec<(&'static str, String)>;

/// An input that is not judged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// File, with the line if it has several reports.
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
    /// Number of older reports of these machines.
    pub(super) older: u64,
}

impl Fleet {
    /// Number of machines.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True without a machine.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

/// Reports while they are read. Several threads fill one each; [`FleetCollection::merge`] joins
/// them.
#[derive(Debug, Default)]
pub struct FleetCollection {
    quantities: Numbered<FleetQuantity>,
    groups: Numbered<HardwareGroup>,
    settings: Numbered<Settings>,
    nodes: Vec<NodeRecord>,
}

/// Different things, each with its number.
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
    /// Number of `thing`, a new one if it is new.
    fn number(&mut self, thing: T) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(thing).or_insert(next)
    }

    /// All things in their own order, and the new number of each by its old one.
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

    /// Adds the things of `other`; the number of each here by its number there.
    fn merge(&mut self, other: Self) -> Vec<u32> {
        let mut renumbered = vec![0; other.numbers.len()];
        for (thing, old) in other.numbers {
            renumbered[old as usize] = self.number(thing);
        }
        renumbered
    }
}

impl FleetCollection {
    /// Adds the report of a machine that was read from `source`. A machine without a name is
    /// called by its source.
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
        // A second value of the same quantity would count a machine twice.
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
        Ok(())
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
    }

    /// The machines, each with its newest report, and the reports that occur twice. The result does
    /// not depend on the order of reading.
    pub fn finish(self) -> (Fleet, Vec<LeftOut>) {
        let (quantities, new_quantities) = self.quantities.sorted();
        let (groups, new_groups) = self.groups.sorted();
        let (settings, new_settings) = self.settings.sorted();
        let mut nodes = self.nodes;
        for node in &mut nodes {
            node.renumber(&new_quantities, &new_groups, &new_settings);
        }
        nodes.sort_unstable_by(|a, b| {
            let machine = a.name.cmp(&b.name).then(a.group.cmp(&b.group));
            machine
                .then_with(|| b.started.cmp(&a.started))
                .then_with(|| a.source.cmp(&b.source))
        });
        let mut older = 0;
        let mut twice = Vec::new();
        let mut kept: Vec<NodeRecord> = Vec::with_capacity(nodes.len());
        // Start and source of the report before, of any machine.
        let mut start: Box<str> = "".into();
        let mut source: Box<str> = "".into();
        for node in nodes {
            let is_known = kept
                .last()
                .is_some_and(|last| last.name == node.name && last.group == node.group);
            if is_known && start == node.started {
                twice.push(LeftOut {
                    source: node.source.into(),
                    reason: format!("a second copy: machine and start are those of {source}"),
                });
                continue;
            }
            start.clone_from(&node.started);
            source.clone_from(&node.source);
            if is_known {
                older += 1;
            } else {
                kept.push(node);
            }
        }
        let fleet = Fleet {
            quantities,
            groups,
            settings,
            nodes: kept,
            older,
        };
        (fleet, twice)
    }
}

impl NodeRecord {
    fn renumber(&mut self, quantities: &[u32], groups: &[u32], settings: &[u32]) {
        for value in &mut self.values {
            value.quantity = quantities[value.quantity as usize];
        }
        self.values.sort_unstable_by_key(|value| value.quantity);
        self.group = groups[self.group as usize];
        self.settings = settings[self.settings as usize];
    }
}
