//! Divides a group of machines with the same hardware into populations by settings that make a
//! difference.

use super::collection::Fleet;
use super::references::Column;
use serde::{Deserialize, Serialize};
use stats::{mad, median};
use std::collections::{BTreeMap, HashMap};

/// Two medians count as different only if they are more than this number of standard errors apart.
pub(super) const APART: f64 = 5.0;

/// Standard error of a median divided by the standard error of a mean, for a normal distribution.
const MEDIAN_ERROR: f64 = 1.2533;

/// Factor from a median absolute deviation to a standard deviation, for a normal distribution.
const MAD_SCALE: f64 = 1.4826;

/// Largest number of settings that distinguish a population.
const MAX_SPLITS: usize = 3;

/// A setting of a system.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Setting {
    /// Name of the setting.
    pub name: String,
    /// Value of the setting; `unknown` if the system does not report it.
    pub value: String,
}

/// Machines of a group that are compared with each other.
#[derive(Debug)]
pub(super) struct Population {
    /// Settings that distinguish the population in its group.
    pub(super) settings: Vec<Setting>,
    /// Indices of the population's machines in the fleet.
    pub(super) members: Vec<u32>,
    /// Positions of the values of each quantity, in the order of quantities.
    pub(super) columns: Vec<Places>,
}

/// Positions of the values of one quantity in the records of a population's machines.
#[derive(Debug)]
pub(super) struct Places {
    /// Index of the quantity.
    pub(super) quantity: u32,
    /// Position of each value.
    pub(super) places: Vec<Place>,
}

/// Position of a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Index of the machine in its population.
    pub(super) member: u32,
    /// Index of the value in the machine's record.
    pub(super) value: u32,
}

/// Difference between parts of a population that a setting makes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Split {
    /// Names of the settings that divide the machines in this way.
    pub(super) names: Vec<&'static str>,
    /// Values of the first of these settings: in the largest part, and in another part.
    pub(super) values: [String; 2],
    /// Number of machines in each of these two parts.
    pub(super) nodes: [usize; 2],
    /// Index of the quantity with the largest difference.
    pub(super) quantity: u32,
    /// Logarithm of the other part's speed in this quantity, relative to the largest part.
    pub(super) change: f64,
    /// Number of quantities with a difference.
    pub(super) quantities: usize,
}

/// Divides the machines `members` into populations. Returns the populations, and the splits by
/// settings that made them. Each population has at least `least` machines. `floor` is the logarithm
/// of the least difference.
pub(super) fn populations(
    fleet: &Fleet,
    members: Vec<u32>,
    least: usize,
    floor: f64,
) -> (Vec<Population>, Vec<Split>) {
    let whole = Population {
        columns: columns(fleet, &members),
        settings: Vec::new(),
        members,
    };
    let mut open = vec![whole];
    let mut done = Vec::new();
    let mut splits = Vec::new();
    while let Some(population) = open.pop() {
        let found = if population.settings.len() < MAX_SPLITS && population.members.len() > least {
            best_split(fleet, &population, least, floor)
        } else {
            None
        };
        match found {
            None => done.push(population),
            Some((split, parts)) => {
                splits.push(split);
                open.extend(parts.into_iter().map(|(value, members)| {
                    let mut settings = population.settings.clone();
                    settings.push(value);
                    Population {
                        columns: columns(fleet, &members),
                        settings,
                        members,
                    }
                }));
            }
        }
    }
    done.sort_by(|a, b| a.settings.cmp(&b.settings));
    (done, splits)
}

/// Positions of the values of `members`, by quantity.
pub(super) fn columns(fleet: &Fleet, members: &[u32]) -> Vec<Places> {
    let mut all: BTreeMap<u32, Vec<Place>> = BTreeMap::new();
    for (member, node) in (0..).zip(members) {
        let values = &fleet.nodes[*node as usize].values;
        for (value, figure) in (0..).zip(values.iter()) {
            all.entry(figure.quantity)
                .or_default()
                .push(Place { member, value });
        }
    }
    all.into_iter()
        .map(|(quantity, places)| Places { quantity, places })
        .collect()
}

impl Population {
    /// Logarithm of the speed of a value.
    pub(super) fn speed(&self, fleet: &Fleet, place: Place) -> f64 {
        let node = self.members[place.member as usize] as usize;
        let value = &fleet.nodes[node].values[place.value as usize];
        value.speed(&fleet.quantities[value.quantity as usize])
    }

    /// The values of a quantity at these positions.
    pub(super) fn column(&self, fleet: &Fleet, places: &[Place]) -> Column {
        let mut column = Column::default();
        for place in places {
            let node = self.members[place.member as usize] as usize;
            let value = &fleet.nodes[node].values[place.value as usize];
            column
                .speeds
                .push(value.speed(&fleet.quantities[value.quantity as usize]));
            column.spreads.push(f64::from(value.spread));
            column.doubtful += usize::from(value.is_doubtful);
        }
        column
    }
}

/// Parts of a population by the value of a setting.
type Parts = Vec<(Setting, Vec<u32>)>;

/// The setting that explains most of the differences between machines, and the parts of the
/// population. Machines with the same value of this setting are one part. `None` if no setting
/// makes a difference.
fn best_split(
    fleet: &Fleet,
    population: &Population,
    least: usize,
    floor: f64,
) -> Option<(Split, Parts)> {
    let used = |name: &str| population.settings.iter().any(|s| s.name == name);
    let mut best: Option<(f64, Split, Classes)> = None;
    for name in setting_names(fleet, population) {
        let Some(classes) = Classes::new(fleet, population, name, least).filter(|_| !used(name))
        else {
            continue;
        };
        if let Some((_, split, _)) = best
            .as_mut()
            .filter(|(_, _, first)| first.of_member == classes.of_member)
        {
            split.names.push(name);
            continue;
        }
        let Some((score, split)) = difference(fleet, population, name, &classes, least, floor)
        else {
            continue;
        };
        if best.as_ref().is_none_or(|(most, _, _)| score > *most) {
            best = Some((score, split, classes));
        }
    }
    let (_, split, classes) = best?;
    let name = split.names.first()?;
    let mut parts: Parts = classes
        .values
        .iter()
        .map(|value| {
            let setting = Setting {
                name: (*name).to_owned(),
                value: value.clone(),
            };
            (setting, Vec::new())
        })
        .collect();
    for (member, class) in population.members.iter().zip(&classes.of_member) {
        parts[*class as usize].1.push(*member);
    }
    Some((split, parts))
}

/// Names of the settings that have different values in the population.
fn setting_names(fleet: &Fleet, population: &Population) -> Vec<&'static str> {
    let mut seen: Vec<(&'static str, bool)> = Vec::new();
    let mut kinds: Vec<u32> = population
        .members
        .iter()
        .map(|node| fleet.nodes[*node as usize].settings)
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    let sets: Vec<_> = kinds
        .iter()
        .map(|kind| &fleet.settings[*kind as usize])
        .collect();
    let names = sets
        .iter()
        .flat_map(|set| set.iter().map(|(name, _)| *name));
    for name in names {
        if seen.iter().all(|(known, _)| *known != name) {
            let first = sets.first().and_then(|set| value_in(set, name));
            let varies = sets.iter().any(|set| value_in(set, name) != first);
            seen.push((name, varies));
        }
    }
    let varying = seen.into_iter().filter(|(_, varies)| *varies);
    varying.map(|(name, _)| name).collect()
}

/// Value of a setting; `None` if unknown.
pub(super) fn value_in<'a>(settings: &'a [(&'static str, String)], name: &str) -> Option<&'a str> {
    let found = settings.iter().find(|(own, _)| *own == name);
    found.map(|(_, value)| value.as_str())
}

/// Machines of a population, divided into classes by the value of a setting.
struct Classes {
    /// Value of each class, the most frequent value first.
    values: Vec<String>,
    /// Class of each member. Members with a rare value are in the first class.
    of_member: Vec<u32>,
}

impl Classes {
    /// Classes with at least `least` machines each; `None` if there are fewer than two.
    fn new(fleet: &Fleet, population: &Population, name: &str, least: usize) -> Option<Self> {
        let value = |node: &u32| {
            let settings = &fleet.settings[fleet.nodes[*node as usize].settings as usize];
            value_in(settings, name).unwrap_or("unknown")
        };
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for node in &population.members {
            *counts.entry(value(node)).or_default() += 1;
        }
        let mut frequent: Vec<(&str, usize)> = counts
            .into_iter()
            .filter(|(_, count)| *count >= least)
            .collect();
        frequent.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        if frequent.len() < 2 {
            return None;
        }
        let places: HashMap<&str, u32> = frequent
            .iter()
            .zip(0..)
            .map(|((value, _), class)| (*value, class))
            .collect();
        let of_member = population
            .members
            .iter()
            .map(|node| places.get(value(node)).copied().unwrap_or(0))
            .collect();
        Some(Self {
            values: frequent
                .into_iter()
                .map(|(value, _)| value.to_owned())
                .collect(),
            of_member,
        })
    }
}

/// Returns the sum over all quantities of the differences that a setting makes, and the largest
/// difference. `None` if no difference exceeds chance and the floor.
fn difference(
    fleet: &Fleet,
    population: &Population,
    name: &'static str,
    classes: &Classes,
    least: usize,
    floor: f64,
) -> Option<(f64, Split)> {
    let mut score = 0.0;
    let mut quantities = 0;
    let mut largest: Option<(f64, u32, usize)> = None;
    for column in &population.columns {
        let mut speeds: Vec<Vec<f64>> = vec![Vec::new(); classes.values.len()];
        for place in &column.places {
            let class = classes.of_member[place.member as usize] as usize;
            speeds[class].push(population.speed(fleet, *place));
        }
        let Some(change) = largest_change(&speeds, least, floor) else {
            continue;
        };
        score += change.by.abs();
        quantities += 1;
        if largest.is_none_or(|(most, _, _)| change.by.abs() > most.abs()) {
            largest = Some((change.by, column.quantity, change.class));
        }
    }
    let (change, quantity, class) = largest?;
    let count = |class: usize| {
        let of = classes.of_member.iter();
        of.filter(|own| **own as usize == class).count()
    };
    let split = Split {
        names: vec![name],
        values: [classes.values[0].clone(), classes.values[class].clone()],
        nodes: [count(0), count(class)],
        quantity,
        change,
        quantities,
    };
    Some((score, split))
}

/// Difference of the medians of a class and the first class.
struct Change {
    by: f64,
    class: usize,
}

/// The largest difference between the median of a class and the median of the first class. `None`
/// if no difference exceeds chance and the floor.
fn largest_change(speeds: &[Vec<f64>], least: usize, floor: f64) -> Option<Change> {
    let first = speeds.first().filter(|first| first.len() >= least)?;
    let centre = median(first)?;
    let scale = mad(first)? * MAD_SCALE;
    let mut best: Option<Change> = None;
    for (class, own) in speeds.iter().enumerate().skip(1) {
        if own.len() < least {
            continue;
        }
        let by = median(own)? - centre;
        // A class of few machines can have a small scale by chance, so the larger scale counts.
        let larger = scale.max(mad(own)? * MAD_SCALE);
        let machines = 1.0 / first.len() as f64 + 1.0 / own.len() as f64;
        let error = MEDIAN_ERROR * larger * machines.sqrt();
        let is_apart = by.abs() > floor && by.abs() > APART * error;
        if is_apart && best.as_ref().is_none_or(|best| by.abs() > best.by.abs()) {
            best = Some(Change { by, class });
        }
    }
    best
}
