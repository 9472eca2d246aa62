//! Expectations: references for known hardware, which are stored in a file and loaded for other
//! fleets.

use super::collection::{Fleet, FleetQuantity};
use super::populations::{Population, Setting, columns, value_in};
use super::references::{Reference, Side};
use report::Coordinates;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Version of the file format. The version rises when programs that know only the old version would
/// misread new files.
const VERSION: u32 = 1;

/// Expectations: references for known hardware.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expectations {
    /// Version of the file format.
    memgauge_expectations: u32,
    /// References for each group of known hardware.
    pub(super) groups: Vec<ExpectedGroup>,
}

/// A group of known hardware.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ExpectedGroup {
    /// Name of the group.
    pub(super) name: String,
    /// Digest of the group's facts.
    pub(super) digest: String,
    /// Facts of the hardware, for people who read the file.
    pub(super) facts: BTreeMap<String, String>,
    /// Populations of the group, by settings.
    pub(super) populations: Vec<ExpectedPopulation>,
}

/// A population of known hardware.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ExpectedPopulation {
    /// Settings that distinguish the population.
    #[serde(default)]
    pub(super) settings: Vec<Setting>,
    /// Expected quantities.
    pub(super) quantities: Vec<ExpectedQuantity>,
}

/// Expectation of one quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ExpectedQuantity {
    /// Name of the experiment.
    experiment: String,
    /// Name of the quantity.
    quantity: String,
    /// Base unit.
    unit: String,
    /// True if a higher value is better.
    higher_is_better: bool,
    /// Coordinates as requested.
    coordinates: Coordinates,
    /// Number of machines from which the expectation was learned.
    nodes: u64,
    /// Expected distribution on the slow side.
    slow: ExpectedSide,
    /// Expected distribution on the fast side. It equals `slow` if the machines form one group.
    fast: ExpectedSide,
    /// Typical half-width of the confidence interval of a machine's value, divided by the value.
    spread: f64,
    /// True if values of this quantity are usually doubtful.
    is_doubtful: bool,
}

/// One side of an expectation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ExpectedSide {
    /// Median in the unit of the quantity.
    median: f64,
    /// Standard deviation as a share of the median.
    scale: f64,
    /// Exponent with which the scale grows in the tails; 0 for a normal distribution.
    growth: f64,
    /// Degrees of freedom of the scale: more degrees mean that the scale is known better.
    freedom: f64,
}

impl ExpectedSide {
    fn new(side: Side, higher_is_better: bool) -> Self {
        let sign = if higher_is_better { 1.0 } else { -1.0 };
        Self {
            median: (sign * side.centre).exp(),
            scale: side.scale,
            growth: side.growth,
            freedom: side.freedom,
        }
    }

    /// Converts the side to logarithms of speeds. `None` if a figure is impossible.
    fn side(&self, higher_is_better: bool) -> Option<Side> {
        let sign = if higher_is_better { 1.0 } else { -1.0 };
        let side = Side {
            centre: sign * self.median.ln(),
            scale: self.scale,
            growth: self.growth,
            freedom: self.freedom,
        };
        let is_possible = side.centre.is_finite()
            && side.scale.is_finite()
            && side.scale > 0.0
            && (0.0..=2.0).contains(&side.growth)
            && side.freedom >= 0.0;
        is_possible.then_some(side)
    }
}

impl ExpectedQuantity {
    pub(super) fn new(quantity: &FleetQuantity, reference: &Reference) -> Self {
        let higher_is_better = quantity.higher_is_better;
        Self {
            experiment: quantity.experiment.clone(),
            quantity: quantity.quantity.clone(),
            unit: quantity.unit.clone(),
            higher_is_better,
            coordinates: quantity.coordinates.clone(),
            nodes: reference.nodes,
            slow: ExpectedSide::new(reference.slow, higher_is_better),
            fast: ExpectedSide::new(reference.fast, higher_is_better),
            spread: reference.spread,
            is_doubtful: reference.is_doubtful,
        }
    }

    fn key(&self) -> FleetQuantity {
        FleetQuantity {
            experiment: self.experiment.clone(),
            quantity: self.quantity.clone(),
            unit: self.unit.clone(),
            higher_is_better: self.higher_is_better,
            coordinates: self.coordinates.clone(),
        }
    }

    fn reference(&self) -> Option<Reference> {
        Some(Reference {
            nodes: self.nodes,
            slow: self.slow.side(self.higher_is_better)?,
            fast: self.fast.side(self.higher_is_better)?,
            spread: Some(self.spread).filter(|spread| spread.is_finite() && *spread >= 0.0)?,
            is_doubtful: self.is_doubtful,
            share_fast: None,
        })
    }
}

/// A population, with the reference of each of its columns in the same order. A column without a
/// reference has `None`.
pub(super) type Expected = (Population, Vec<Option<Reference>>);

impl Expectations {
    /// Expectations with these groups.
    pub(super) fn new(groups: Vec<ExpectedGroup>) -> Self {
        Self {
            memgauge_expectations: VERSION,
            groups,
        }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// True if there is no group.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Fault in expectations that were read from a file, in words; `None` if they are valid.
    pub fn fault(&self) -> Option<String> {
        if self.memgauge_expectations > VERSION {
            return Some(format!(
                "version {} is newer than this program's {VERSION}; update memgauge",
                self.memgauge_expectations
            ));
        }
        let quantities = self.groups.iter().flat_map(|group| {
            let all = group.populations.iter().flat_map(|part| &part.quantities);
            all.map(move |quantity| (group, quantity))
        });
        let (group, quantity) = quantities
            .into_iter()
            .find(|(_, quantity)| quantity.reference().is_none())?;
        Some(format!(
            "a figure of {} in the group {} is impossible",
            quantity.experiment, group.name
        ))
    }

    /// Divides `members` into the expected populations of the hardware with `digest`. The
    /// populations get their expected references. A machine whose settings fit no population joins
    /// the largest one. `None` if the hardware is unknown.
    pub(super) fn populations(
        &self,
        fleet: &Fleet,
        digest: &str,
        members: &[u32],
    ) -> Option<Vec<Expected>> {
        let known = self.groups.iter().find(|group| group.digest == digest)?;
        let size = |part: &ExpectedPopulation| part.quantities.iter().map(|q| q.nodes).max();
        let largest = (0..known.populations.len()).max_by_key(|i| size(&known.populations[*i]))?;
        let mut parts: Vec<Vec<u32>> = vec![Vec::new(); known.populations.len()];
        for node in members {
            let settings = &fleet.settings[fleet.nodes[*node as usize].settings as usize];
            let fits = |part: &ExpectedPopulation| {
                let all = &part.settings;
                all.iter()
                    .all(|s| value_in(settings, &s.name).unwrap_or("unknown") == s.value)
            };
            let place = known.populations.iter().position(fits).unwrap_or(largest);
            parts[place].push(*node);
        }
        let all = known.populations.iter().zip(parts);
        Some(
            all.filter(|(_, members)| !members.is_empty())
                .map(|(part, members)| {
                    let references: HashMap<FleetQuantity, Reference> = part
                        .quantities
                        .iter()
                        .filter_map(|quantity| Some((quantity.key(), quantity.reference()?)))
                        .collect();
                    let columns = columns(fleet, &members);
                    let found = columns
                        .iter()
                        .map(|column| {
                            let quantity = &fleet.quantities[column.quantity as usize];
                            references.get(quantity).copied()
                        })
                        .collect();
                    let population = Population {
                        settings: part.settings.clone(),
                        members,
                        columns,
                    };
                    (population, found)
                })
                .collect(),
        )
    }
}
