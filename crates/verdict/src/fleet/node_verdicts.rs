//! Verdicts on machines, and findings about groups of machines.

use super::collection::{Fleet, FleetQuantity, LeftOut};
use super::expectations::{
    Expectations, Expected, ExpectedGroup, ExpectedPopulation, ExpectedQuantity,
};
use super::hardware::{HardwareGroup, distinct_names};
use super::history_verdict::{FleetHistory, NodeHistory};
use super::labels::labels;
use super::pooled_tail::PooledTail;
use super::populations::{Place, Population, Setting, Split, populations};
use super::references::{HALF_INTERVAL, Reference, Side, support};
use crate::compare::{DEFAULT_FLOOR, Fraction};
use serde::Serialize;
use std::collections::BTreeMap;
use units::{counted, fixed, significant};

/// Probability that chance alone moves a value far enough to confirm a slow value of another
/// quantity.
const SECOND: f64 = 0.001;

/// A machine with this many distant values has a fault. Its values are then left out when the tails
/// of chance are estimated.
const MANY: u8 = 3;

/// Fewest machines whose values show the tails of chance. With fewer machines, most of a tail may
/// be the values of one faulty machine.
const LEAST_FOR_TAILS: usize = 20;

/// Fewest slow quantities that together make a machine slow, even if none of them is beyond its
/// threshold.
const ENOUGH_TOGETHER: usize = 4;

/// A single quantity makes a machine slow if it is beyond its threshold by this factor.
const FAR_BEYOND: f64 = 2.0;

/// Factor that widens the scale for a doubtful value if the values of its peers are not doubtful.
const DOUBT: f64 = 2.0;

/// If the uncertainty of a value widens its scale by more than this factor, the value counts as not
/// judged.
const UNCERTAIN: f64 = 3.0;

/// Number of bars in a histogram.
const BARS: usize = 48;

/// Range of a histogram on each side, in multiples of the threshold.
const REACH: f64 = 1.6;

/// Settings of the verdict on a fleet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FleetSettings {
    /// Relative differences up to this floor do not matter.
    pub floor: Fraction,
    /// Expected number of values that chance alone puts beyond their threshold, over all machines
    /// and quantities.
    pub false_alarms: f64,
    /// Least number of machines that are compared with each other.
    pub least_nodes: usize,
}

impl Default for FleetSettings {
    fn default() -> Self {
        Self {
            floor: DEFAULT_FLOOR,
            false_alarms: 1.0,
            least_nodes: 5,
        }
    }
}

/// State of a machine, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeState {
    /// The machine is slower than its peers, by more than chance and the floor.
    Slow,
    /// The machine is faster than its peers, or slower in one quantity that no other quantity
    /// confirms.
    Unusual,
    /// The machine is not judged. It has too few peers, or its values are too uncertain.
    Inconclusive,
    /// The machine is as fast as its peers.
    Healthy,
}

impl NodeState {
    /// Every state, worst first.
    pub const ALL: [NodeState; 4] = [
        NodeState::Slow,
        NodeState::Unusual,
        NodeState::Inconclusive,
        NodeState::Healthy,
    ];

    /// Name of the state: `slow`, `unusual`, `inconclusive` or `healthy`.
    pub fn word(self) -> &'static str {
        match self {
            NodeState::Slow => "slow",
            NodeState::Unusual => "unusual",
            NodeState::Inconclusive => "inconclusive",
            NodeState::Healthy => "healthy",
        }
    }
}

/// A value of a machine that is far from the values of its peers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outlier {
    /// Index in [`FleetVerdict::quantities`].
    pub quantity: usize,
    /// The value, in the quantity's unit.
    pub value: f64,
    /// Median of the peers, or the expected value.
    pub median: f64,
    /// The value divided by the median, minus 1.
    pub change: f64,
    /// Distance from the median, in standard deviations of the peers; positive for a slow value.
    pub z: f64,
    /// True if chance alone does not explain the value in a fleet of this size.
    pub is_beyond_chance: bool,
    /// True if the verdict on the value is doubtful.
    pub is_doubtful: bool,
    #[serde(skip)]
    distance: f64,
    /// True if the value is so far beyond its threshold that no second value has to agree.
    #[serde(skip)]
    is_far: bool,
}

impl Outlier {
    /// True if the value is slower than the values of the peers.
    pub fn is_slow(&self) -> bool {
        self.z > 0.0
    }
}

/// Verdict on a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeVerdict {
    /// Name of the machine.
    pub node: String,
    /// File of the machine's report, with the line if the file has several.
    pub source: String,
    /// Start of the machine's session.
    pub started: String,
    /// Index in [`FleetVerdict::groups`].
    pub group: usize,
    /// State of the machine.
    pub state: NodeState,
    /// Reason, in words; empty for a healthy machine.
    pub reason: String,
    /// Number of judged values.
    pub judged: u64,
    /// Outliers among the values, the farthest first.
    pub outliers: Vec<Outlier>,
    /// Verdict on the machine's history; `None` unless histories are judged.
    pub history: Option<NodeHistory>,
    /// Index of the machine in the fleet.
    #[serde(skip)]
    pub(super) index: usize,
}

/// A judged quantity of a population.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PopulationQuantity {
    /// Index in [`FleetVerdict::quantities`].
    pub quantity: usize,
    /// Settings that distinguish the population in its group.
    pub settings: Vec<Setting>,
    /// Number of machines with a value.
    pub nodes: usize,
    /// Median of the machines, or the expected value.
    pub median: f64,
    /// Relative change from the median at which a value counts as slow.
    pub slow_from: f64,
    /// Histogram of the logarithm of the speed: number of machines in each bar.
    pub counts: Vec<u32>,
    /// Left end of the histogram: logarithm of a speed divided by the median speed.
    pub left: f64,
    /// Right end of the histogram, in the same form.
    pub right: f64,
}

/// Machines with the same hardware.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupVerdict {
    /// Short name of the hardware.
    pub name: String,
    /// Digest of the hardware's facts.
    pub digest: String,
    /// Facts of the hardware.
    pub facts: BTreeMap<String, String>,
    /// Number of machines by state, in the order of [`NodeState::ALL`].
    pub nodes: [usize; 4],
    /// Quantities that were judged.
    pub quantities: Vec<PopulationQuantity>,
}

/// A finding about a whole group of machines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetFinding {
    /// Name of the kind in [`crate::FINDING_KINDS`].
    pub kind: &'static str,
    /// Index in [`FleetVerdict::groups`].
    pub group: usize,
    /// The finding in words.
    pub text: String,
}

/// Verdict on a fleet.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetVerdict {
    /// Machines, the worst first.
    pub nodes: Vec<NodeVerdict>,
    /// Groups, the largest first.
    pub groups: Vec<GroupVerdict>,
    /// Findings on groups.
    pub findings: Vec<FleetFinding>,
    /// Quantities, each with its short name.
    pub quantities: Vec<(String, FleetQuantity)>,
    /// Number of judged values.
    pub judged: u64,
    /// Number of reports that are older than the judged report of the same machine.
    pub older: u64,
    /// Reports that were not judged.
    pub left_out: Vec<LeftOut>,
    /// Settings of the verdict.
    pub settings: FleetSettings,
    /// References learned from this fleet, which can serve as expectations for other fleets.
    pub learned: Expectations,
    /// Verdict on the histories of the machines; `None` unless it was requested.
    pub history: Option<FleetHistory>,
}

impl FleetVerdict {
    /// Number of machines by state, in the order of [`NodeState::ALL`].
    pub fn tally(&self) -> [usize; 4] {
        let mut all = [0; 4];
        for group in &self.groups {
            for (sum, count) in all.iter_mut().zip(group.nodes) {
                *sum += count;
            }
        }
        all
    }
}

/// A population with the references of its quantities.
pub(super) struct Judged {
    pub(super) group: usize,
    pub(super) population: Population,
    pub(super) references: Vec<Option<Reference>>,
    is_expected: bool,
}

/// Number of judged values of a machine and its outliers, collected while quantities are judged.
#[derive(Default)]
pub(super) struct Figures {
    pub(super) judged: u64,
    certain: u64,
    is_expected: bool,
    /// Outliers among the values, the farthest first.
    pub(super) outliers: Vec<Outlier>,
}

/// Compares each machine with its peers, or with `expected` if it has the machine's hardware.
///
/// A machine is slow if one value lies beyond its threshold and a second quantity agrees. Chance
/// puts [`FleetSettings::false_alarms`] values of the whole fleet beyond the thresholds. One
/// quantity is enough at twice the threshold. Several quantities are enough together if chance
/// moves each of them so far in one of a thousand machines only. Their number must exceed the
/// number of fast quantities of most machines. Values within the floor do not count. `left_out`
/// becomes part of the result.
pub fn judge_fleet(
    fleet: &Fleet,
    left_out: Vec<LeftOut>,
    settings: &FleetSettings,
    expected: Option<&Expectations>,
) -> FleetVerdict {
    let names = labels(&fleet.quantities);
    let titles = distinct_names(&fleet.groups);
    let known = |group: usize, members: &[u32]| {
        expected?.populations(fleet, &fleet.groups[group].digest(), members)
    };
    let judgement = Judgement::new(fleet, settings, Groups::MayBeTwo, &known);
    let findings = judgement.findings(fleet, &titles, &names);
    let learned = learn(fleet, &judgement.parts);
    let mut groups: Vec<GroupVerdict> = fleet
        .groups
        .iter()
        .zip(titles.clone())
        .zip(judgement.quantities)
        .map(|((group, name), quantities)| GroupVerdict {
            name,
            digest: group.digest(),
            facts: facts(group),
            nodes: [0; 4],
            quantities,
        })
        .collect();
    let together = together(&judgement.figures, settings.false_alarms);
    let peers = Peers {
        groups: &fleet.groups,
        titles: &titles,
        sizes: judgement.sizes,
        least: judgement.least,
        is_learnt: expected.is_some(),
    };
    let mut nodes: Vec<(f64, NodeVerdict)> = Vec::with_capacity(fleet.nodes.len());
    for (index, (record, figures)) in fleet.nodes.iter().zip(judgement.figures).enumerate() {
        let group = record.group as usize;
        let (state, reason) = state(&figures, &names, together, || peers.reason(group));
        groups[group].nodes[state as usize] += 1;
        let farthest = figures.outliers.first().map_or(0.0, |one| one.distance);
        let verdict = NodeVerdict {
            node: record.name.to_string(),
            source: record.source.to_string(),
            started: record.started.to_string(),
            group,
            state,
            reason,
            judged: figures.judged,
            outliers: figures.outliers,
            history: None,
            index,
        };
        nodes.push((farthest, verdict));
    }
    nodes.sort_by(|(a, one), (b, other)| one.state.cmp(&other.state).then(b.total_cmp(a)));
    let mut verdict = FleetVerdict {
        nodes: nodes.into_iter().map(|(_, node)| node).collect(),
        groups,
        findings,
        quantities: names.into_iter().zip(fleet.quantities.clone()).collect(),
        judged: judgement.values,
        older: fleet.older,
        left_out,
        settings: *settings,
        learned,
        history: None,
    };
    verdict.largest_first();
    verdict
}

/// Number of groups of machines that the values of one quantity may form, if no setting explains
/// the groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Groups {
    /// The values may form two groups. Each machine is compared with its own group.
    MayBeTwo,
    /// The values are taken as one group. All machines are compared with the larger group.
    One,
}

/// Function that gets the index of a group and its machines. It returns their expected populations
/// and references, or `None` for unknown hardware.
type KnownGroup<'a> = dyn Fn(usize, &[u32]) -> Option<Vec<Expected>> + 'a;

/// References of populations, and the values that are far from them.
pub(super) struct Judgement {
    /// Populations with their references.
    pub(super) parts: Vec<Judged>,
    /// Settings that divide a group into populations, with the index of the group.
    splits: Vec<(usize, Split)>,
    /// Figures of each machine.
    pub(super) figures: Vec<Figures>,
    /// Judged quantities of each group.
    quantities: Vec<Vec<PopulationQuantity>>,
    /// Number of machines of each group.
    sizes: Vec<usize>,
    /// Least number of machines that are compared with each other.
    least: usize,
    /// Logarithm of the floor.
    floor: f64,
    /// Number of judged values.
    pub(super) values: u64,
}

impl Judgement {
    /// Judges all values. If `known` has references for a group, its machines are compared with
    /// these references, otherwise with each other.
    pub(super) fn new(
        fleet: &Fleet,
        settings: &FleetSettings,
        groups: Groups,
        known: &KnownGroup<'_>,
    ) -> Self {
        let floor = settings.floor.0.max(0.0).ln_1p();
        let least = settings.least_nodes.max(2);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); fleet.groups.len()];
        for (index, node) in (0..).zip(&fleet.nodes) {
            members[node.group as usize].push(index);
        }
        let sizes = members.iter().map(Vec::len).collect();
        let mut parts = Vec::new();
        let mut splits = Vec::new();
        for (group, members) in members.into_iter().enumerate() {
            if let Some(known) = known(group, &members) {
                parts.extend(known.into_iter().map(|(population, references)| Judged {
                    group,
                    population,
                    references,
                    is_expected: true,
                }));
            } else if members.len() >= least {
                let (found, found_splits) = populations(fleet, members, least, floor);
                splits.extend(found_splits.into_iter().map(|split| (group, split)));
                parts.extend(found.into_iter().map(|population| Judged {
                    group,
                    references: measured_references(fleet, &population, groups, least, floor),
                    population,
                    is_expected: false,
                }));
            }
        }
        let values: u64 = parts.iter().map(Judged::values).sum();
        let chance = (settings.false_alarms.max(0.0) / (2.0 * values.max(1) as f64)).min(0.5);
        let tails = Tails::new(fleet, &parts);
        let mut limits = tails.limits(chance, floor);
        if groups == Groups::One {
            // The values are changes of machines. Each value comes from many reports of one
            // machine, so one value can be enough.
            limits.has_exact_intervals = false;
            limits.one_is_enough = true;
        }
        let mut figures: Vec<Figures> = Vec::new();
        figures.resize_with(fleet.nodes.len(), Figures::default);
        let mut quantities: Vec<Vec<PopulationQuantity>> = vec![Vec::new(); fleet.groups.len()];
        for part in &parts {
            quantities[part.group].extend(part.judge(fleet, &limits, &mut figures));
        }
        for own in &mut figures {
            own.outliers
                .sort_by(|a, b| b.distance.total_cmp(&a.distance));
        }
        Self {
            parts,
            splits,
            figures,
            quantities,
            sizes,
            least,
            floor,
            values,
        }
    }

    /// Findings on all groups, in the order of the groups.
    fn findings(&self, fleet: &Fleet, titles: &[String], names: &[String]) -> Vec<FleetFinding> {
        let mut findings: Vec<FleetFinding> = self
            .splits
            .iter()
            .map(|(group, split)| FleetFinding {
                kind: "fleet-setting",
                group: *group,
                text: split_text(&titles[*group], split, names),
            })
            .collect();
        for part in &self.parts {
            let title = &titles[part.group];
            findings.extend(if part.is_expected {
                shift(fleet, part, title, names, self.least, self.floor)
            } else {
                two_groups(part, title, names)
            });
        }
        findings
    }
}

impl FleetVerdict {
    /// Puts the groups in order of size, largest first.
    fn largest_first(&mut self) {
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        let size = |group: &usize| self.groups[*group].nodes.iter().sum::<usize>();
        order.sort_by_key(|group| std::cmp::Reverse(size(group)));
        let mut places = vec![0; order.len()];
        for (place, group) in order.iter().enumerate() {
            places[*group] = place;
        }
        let mut groups: Vec<Option<GroupVerdict>> = self.groups.drain(..).map(Some).collect();
        self.groups = order.iter().filter_map(|g| groups[*g].take()).collect();
        for node in &mut self.nodes {
            node.group = places[node.group];
        }
        for finding in &mut self.findings {
            finding.group = places[finding.group];
        }
        self.findings.sort_by_key(|finding| finding.group);
    }
}

/// References of a population's quantities, one for each column. A quantity that fewer than `least`
/// machines have gets `None`.
fn measured_references(
    fleet: &Fleet,
    population: &Population,
    groups: Groups,
    least: usize,
    floor: f64,
) -> Vec<Option<Reference>> {
    let mut places = Vec::new();
    let mut found = Vec::new();
    for (place, column) in population.columns.iter().enumerate() {
        if column.places.len() < least {
            continue;
        }
        let values = population.column(fleet, &column.places);
        if let Some(reference) = Reference::new(&values, floor) {
            places.push(place);
            found.push(match groups {
                Groups::MayBeTwo => reference,
                Groups::One => reference.of_larger_group(),
            });
        }
    }
    support(&mut found, floor);
    let mut all = vec![None; population.columns.len()];
    for (place, reference) in places.into_iter().zip(found) {
        all[place] = Some(reference);
    }
    all
}

impl Judged {
    /// Number of values whose quantity has a reference.
    fn values(&self) -> u64 {
        let columns = self.population.columns.iter().zip(&self.references);
        columns
            .filter(|(_, reference)| reference.is_some())
            .map(|(column, _)| column.places.len() as u64)
            .sum()
    }

    /// Judges all values of the population, and adds outliers to the figures of their machines.
    fn judge(
        &self,
        fleet: &Fleet,
        limits: &Limits,
        figures: &mut [Figures],
    ) -> Vec<PopulationQuantity> {
        let mut all = Vec::new();
        for node in &self.population.members {
            figures[*node as usize].is_expected = self.is_expected;
        }
        for (column, reference) in self.population.columns.iter().zip(&self.references) {
            let Some(reference) = reference else { continue };
            let thresholds = Thresholds::new(reference, limits);
            let quantity = &fleet.quantities[column.quantity as usize];
            let mut bars = Bars::new(reference, &thresholds);
            for place in &column.places {
                let node = self.population.members[place.member as usize] as usize;
                let speed = self.population.speed(fleet, *place);
                bars.add(speed);
                let widening = self.widening(fleet, *place, reference);
                let own = &mut figures[node];
                own.judged += 1;
                own.certain += u64::from(widening.factor(reference) <= UNCERTAIN);
                let is_doubtful = fleet.nodes[node].values[place.value as usize].is_doubtful;
                let outlier = thresholds.outlier(speed, &widening).map(|found| Outlier {
                    quantity: column.quantity as usize,
                    is_doubtful,
                    ..found.in_unit(quantity)
                });
                own.outliers.extend(outlier);
            }
            let threshold = thresholds.slow.far.max(limits.floor);
            let slow_from = in_unit(reference.slow.centre - threshold, quantity);
            all.push(PopulationQuantity {
                quantity: column.quantity as usize,
                settings: self.population.settings.clone(),
                nodes: column.places.len(),
                median: in_unit(reference.centre(), quantity),
                slow_from: slow_from / in_unit(reference.slow.centre, quantity) - 1.0,
                counts: bars.counts,
                left: bars.left - reference.centre(),
                right: bars.right - reference.centre(),
            });
        }
        all
    }

    /// Calls `each` for every value. Its arguments: index of the machine, reference, true for a
    /// value slower than the middle, distance from the middle in standard deviations.
    fn each_distance(&self, fleet: &Fleet, mut each: impl FnMut(usize, &Reference, bool, f64)) {
        for (column, reference) in self.population.columns.iter().zip(&self.references) {
            let Some(reference) = reference else { continue };
            for place in &column.places {
                let node = self.population.members[place.member as usize] as usize;
                let speed = self.population.speed(fleet, *place);
                let widening = self.widening(fleet, *place, reference).factor(reference);
                let slower = reference.slow.centre - speed;
                let faster = speed - reference.fast.centre;
                if slower > faster {
                    let z = slower / (reference.slow.scale * widening);
                    each(node, reference, true, z);
                } else {
                    let z = faster / (reference.fast.scale * widening);
                    each(node, reference, false, z);
                }
            }
        }
    }

    /// Compares the uncertainty of a value with the uncertainty of its peers' values.
    fn widening(&self, fleet: &Fleet, place: Place, reference: &Reference) -> Widening {
        let node = self.population.members[place.member as usize] as usize;
        let value = &fleet.nodes[node].values[place.value as usize];
        let excess = f64::from(value.spread).powi(2) - reference.spread.powi(2);
        Widening {
            own: excess.max(0.0).sqrt() / HALF_INTERVAL,
            doubt: if value.is_doubtful && !reference.is_doubtful {
                DOUBT
            } else {
                1.0
            },
        }
    }
}

/// Uncertainty of a value beyond the uncertainty of its peers' values.
#[derive(Debug, Clone, Copy)]
struct Widening {
    /// Standard deviation by which the value is more uncertain than its peers' values: the root of
    /// the difference of the variances. 0 if the value is less uncertain.
    own: f64,
    /// Factor that widens the scale for a doubtful value if the values of its peers are not
    /// doubtful; otherwise 1.
    doubt: f64,
}

impl Widening {
    /// Factor by which the uncertainty of the value widens the scale of `reference`.
    fn factor(&self, reference: &Reference) -> f64 {
        self.on(reference.slow.scale.max(reference.fast.scale))
    }

    /// Factor by which the uncertainty of the value widens `scale`.
    fn on(&self, scale: f64) -> f64 {
        scale.hypot(self.own) / scale * self.doubt
    }

    /// `distance`, widened by the value's uncertainty. `known` is the same distance in standard
    /// deviations, for a standard deviation that is known exactly, like that of the value itself.
    fn widened(&self, distance: f64, known: f64) -> f64 {
        distance.hypot(self.own * known) * self.doubt
    }
}

/// Converts the logarithm of a speed to a value in the unit of its quantity.
pub(super) fn in_unit(speed: f64, quantity: &FleetQuantity) -> f64 {
    if quantity.higher_is_better {
        speed.exp()
    } else {
        (-speed).exp()
    }
}

/// Distances of all machines' values from the middle, in standard deviations, pooled by side.
#[derive(Default)]
struct Tails {
    /// True if there are enough machines to estimate the tails.
    are_seen: bool,
    slow: PooledTail,
    fast: PooledTail,
}

/// Distances that chance reaches in the pooled values, in standard deviations: `near` with the
/// probability [`SECOND`], `far` with the probability of a false alarm.
#[derive(Debug, Clone, Copy)]
struct PooledLimits {
    near: f64,
    far: f64,
}

/// Limits that apply to all values of a fleet.
#[derive(Debug)]
struct Limits {
    /// Probability that chance moves a value beyond its threshold.
    chance: f64,
    /// Logarithm of the floor.
    floor: f64,
    /// True if the interval of a value comes from many samples, as in a measurement. The interval
    /// of a change comes from few reports.
    has_exact_intervals: bool,
    /// True if one value far beyond its threshold is enough. If there are too few machines to know
    /// the tails, such a value may be chance.
    one_is_enough: bool,
    slow: PooledLimits,
    fast: PooledLimits,
}

impl Tails {
    /// Estimates the tails from all values, without machines that have many distant values.
    fn new(fleet: &Fleet, judged: &[Judged]) -> Self {
        let mut distant: Vec<u8> = vec![0; fleet.nodes.len()];
        for part in judged {
            part.each_distance(fleet, |node, reference, is_slow, z| {
                let side = if is_slow {
                    reference.slow
                } else {
                    reference.fast
                };
                if z * side.scale > side.distance(SECOND) {
                    distant[node] = distant[node].saturating_add(1);
                }
            });
        }
        let mut tails = Self::default();
        let machines: usize = judged
            .iter()
            .map(|part| part.population.members.len())
            .sum();
        tails.are_seen = machines >= LEAST_FOR_TAILS;
        if !tails.are_seen {
            return tails;
        }
        for part in judged {
            part.each_distance(fleet, |node, _, is_slow, z| {
                if distant[node] < MANY {
                    tails.slow.add(if is_slow { z } else { -z });
                    tails.fast.add(if is_slow { -z } else { z });
                }
            });
        }
        tails.slow.sort();
        tails.fast.sort();
        tails
    }

    /// Limits for values whose intervals come from many samples. `chance` is the probability of a
    /// false alarm, `floor` the logarithm of the floor.
    fn limits(&self, chance: f64, floor: f64) -> Limits {
        let pooled = |tail: &PooledTail| PooledLimits {
            near: tail.beyond(SECOND),
            far: tail.beyond(chance),
        };
        Limits {
            chance,
            floor,
            has_exact_intervals: true,
            one_is_enough: self.are_seen,
            slow: pooled(&self.slow),
            fast: pooled(&self.fast),
        }
    }
}

/// Distances from the middle on one side. Beyond `near`, a value confirms another. Beyond `far`,
/// chance does not explain it.
struct SideThresholds {
    side: Side,
    near: f64,
    far: f64,
    /// The distances `near` and `far` in standard deviations, for a scale that is known exactly.
    known_near: f64,
    known_far: f64,
}

/// Distances from the middle at which a value counts as slow or fast.
struct Thresholds {
    slow: SideThresholds,
    fast: SideThresholds,
    floor: f64,
    one_is_enough: bool,
}

/// An outlier whose figures are logarithms of speeds, before conversion to the quantity's unit.
struct Found {
    centre: f64,
    speed: f64,
    z: f64,
    distance: f64,
    is_beyond_chance: bool,
    is_far: bool,
}

impl Found {
    fn in_unit(self, quantity: &FleetQuantity) -> Outlier {
        let value = in_unit(self.speed, quantity);
        let median = in_unit(self.centre, quantity);
        Outlier {
            quantity: 0,
            value,
            median,
            change: value / median - 1.0,
            z: self.z,
            is_beyond_chance: self.is_beyond_chance,
            is_doubtful: false,
            distance: self.distance,
            is_far: self.is_far,
        }
    }
}

impl Thresholds {
    fn new(reference: &Reference, limits: &Limits) -> Self {
        let thresholds = |side: Side, pooled: PooledLimits| {
            let near = side.distance(SECOND).max(pooled.near * side.scale);
            let far = side.distance(limits.chance).max(pooled.far * side.scale);
            let known = |p: f64, pooled: f64, distance: f64| {
                if limits.has_exact_intervals {
                    side.known(p).max(pooled)
                } else {
                    distance / side.scale
                }
            };
            SideThresholds {
                side,
                near,
                far,
                known_near: known(SECOND, pooled.near, near),
                known_far: known(limits.chance, pooled.far, far),
            }
        };
        Self {
            slow: thresholds(reference.slow, limits.slow),
            fast: thresholds(reference.fast, limits.fast),
            floor: limits.floor,
            one_is_enough: limits.one_is_enough,
        }
    }

    /// Makes an outlier of a machine with this speed; `None` if it is about as fast as its peers.
    fn outlier(&self, speed: f64, widening: &Widening) -> Option<Found> {
        let slower = self.slow.side.centre - speed;
        let faster = speed - self.fast.side.centre;
        let (own, distance, sign) = if slower > faster {
            (&self.slow, slower, 1.0)
        } else {
            (&self.fast, faster, -1.0)
        };
        let far = widening.widened(own.far, own.known_far).max(self.floor);
        let near = widening.widened(own.near, own.known_near).max(self.floor);
        (distance > near).then(|| Found {
            centre: own.side.centre,
            speed,
            z: sign * distance / (own.side.scale * widening.on(own.side.scale)),
            distance,
            is_beyond_chance: distance > far,
            is_far: self.one_is_enough && distance > far * FAR_BEYOND,
        })
    }
}

/// A histogram that is being filled.
struct Bars {
    left: f64,
    right: f64,
    counts: Vec<u32>,
}

impl Bars {
    fn new(reference: &Reference, thresholds: &Thresholds) -> Self {
        let reach = |side: &SideThresholds| {
            if side.far.is_finite() {
                side.far * REACH
            } else {
                1.0
            }
        };
        let slowest = reference.slow.centre.min(reference.fast.centre);
        let fastest = reference.slow.centre.max(reference.fast.centre);
        Self {
            left: slowest - reach(&thresholds.slow),
            right: fastest + reach(&thresholds.fast),
            counts: vec![0; BARS],
        }
    }

    /// Counts a machine. Speeds beyond the ends of the histogram count in the outermost bars.
    fn add(&mut self, speed: f64) {
        let share = (speed - self.left) / (self.right - self.left);
        // The conversion to an integer saturates, so that any setting is valid.
        let bar = ((share * BARS as f64).max(0.0) as usize).min(BARS - 1);
        self.counts[bar] = self.counts[bar].saturating_add(1);
    }
}

/// Number of slow quantities that together make a machine slow. Fast quantities show how many
/// outliers chance brings together: at most `false_alarms` machines, or one, have as many fast
/// quantities.
pub(super) fn together(figures: &[Figures], false_alarms: f64) -> usize {
    let mut counts: Vec<usize> = figures
        .iter()
        .map(|own| own.outliers.iter().filter(|one| !one.is_slow()).count())
        .collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    // The conversion to an integer saturates.
    let allowed = false_alarms.max(1.0) as usize;
    let largest = counts.get(allowed).copied().unwrap_or(0);
    ENOUGH_TOGETHER.max(largest + 1)
}

/// Returns the state of a machine, and the reason in words. `together` is the number of slow
/// quantities that are enough together. `without_peers` makes the reason for a machine without
/// references.
pub(super) fn state(
    figures: &Figures,
    names: &[String],
    together: usize,
    without_peers: impl Fn() -> String,
) -> (NodeState, String) {
    let than = if figures.is_expected {
        "what is expected"
    } else {
        "its peers"
    };
    for (is_slow, state) in [(true, NodeState::Slow), (false, NodeState::Unusual)] {
        let side: Vec<&Outlier> = figures
            .outliers
            .iter()
            .filter(|one| one.is_slow() == is_slow)
            .collect();
        let far = side.iter().find(|one| one.is_far);
        let beyond = side.iter().find(|one| one.is_beyond_chance);
        let confirmed = beyond.filter(|_| side.len() > 1);
        let many = side.first().filter(|_| is_slow && side.len() >= together);
        let Some(first) = far.or(confirmed).or(many) else {
            continue;
        };
        let mut reason = outlier_text(first, names, than);
        match side.len() - 1 {
            0 => reason.push_str("; no second quantity, but twice the threshold"),
            1 => reason.push_str("; one more quantity agrees"),
            more => reason.push_str(&format!("; {more} more quantities agree")),
        }
        return (state, reason);
    }
    if let Some(alone) = figures.outliers.iter().find(|one| one.is_beyond_chance) {
        let reason = outlier_text(alone, names, than);
        return (
            NodeState::Unusual,
            format!("{reason}; no second quantity agrees: measure again"),
        );
    }
    if figures.judged == 0 {
        return (NodeState::Inconclusive, without_peers());
    }
    if figures.certain < figures.judged.min(2) {
        let reason = "its numbers are too uncertain: measure again, or with a larger --budget";
        return (NodeState::Inconclusive, reason.to_owned());
    }
    (NodeState::Healthy, String::new())
}

/// Text about an outlier: quantity, difference in percent, and distance in standard deviations.
fn outlier_text(outlier: &Outlier, names: &[String], than: &str) -> String {
    let name = names.get(outlier.quantity).map_or("", String::as_str);
    let side = if outlier.change < 0.0 {
        "below"
    } else {
        "above"
    };
    let percent = fixed(outlier.change.abs() * 100.0, 1);
    let z = significant(outlier.z.abs());
    format!("{name} {percent}% {side} {than} (z {z})")
}

/// Facts of a group by name.
fn facts(group: &HardwareGroup) -> BTreeMap<String, String> {
    let named = |(name, value): &(&'static str, String)| ((*name).to_owned(), value.clone());
    group.facts.iter().map(named).collect()
}

/// Sizes of the groups, from which the reason is made why a machine has no reference.
struct Peers<'a> {
    groups: &'a [HardwareGroup],
    titles: &'a [String],
    sizes: Vec<usize>,
    least: usize,
    /// True if expectations were given. The reason then also names the way to learn an expectation.
    is_learnt: bool,
}

impl Peers<'_> {
    /// Reason why the quantities of a machine in `group` have no reference.
    fn reason(&self, group: usize) -> String {
        let size = self.sizes[group];
        if size >= self.least {
            return format!(
                "no quantity that at least {} machines with its hardware and settings have",
                self.least
            );
        }
        let own = &self.groups[group];
        let others = (0..self.sizes.len()).filter(|other| self.sizes[*other] >= self.least);
        let nearest = others
            .map(|other| (own.differences(&self.groups[other]), other))
            .min_by_key(|(differences, _)| differences.len());
        let mut text = format!(
            "{} with this hardware, and a verdict needs {}",
            counted(size, "machine"),
            self.least
        );
        if self.is_learnt {
            text.push_str(
                " or an expectation: type memgauge fleet FOLDER --write-expectations FILE for a \
                 fleet that has it",
            );
        }
        if let Some((differences, other)) = nearest {
            let [name, own, there] = match differences.first() {
                Some(row) => row.each_ref().map(String::as_str),
                None => return text,
            };
            let more = match differences.len() - 1 {
                0 => String::new(),
                more => format!(" and {}", counted(more, "more fact")),
            };
            text.push_str(&format!(
                "; unlike {}, its {name} is {own} instead of {there}{more}",
                self.titles[other]
            ));
        }
        text
    }
}

/// Text for a change of the logarithm of a speed: percent, and `slower` or `faster`.
pub(super) fn percent_of(change: f64) -> String {
    let word = if change < 0.0 { "slower" } else { "faster" };
    let share = if change < 0.0 {
        -change.exp_m1()
    } else {
        change.exp_m1()
    };
    format!("{}% {word}", fixed(share * 100.0, 1))
}

/// Text about the difference that a setting makes.
fn split_text(group: &str, split: &Split, names: &[String]) -> String {
    let [usual, other] = &split.values;
    let [many, few] = split.nodes;
    let name = names
        .get(split.quantity as usize)
        .map_or("", String::as_str);
    let setting = split.names.first().copied().unwrap_or_default();
    let mut text = format!(
        "{group}: {} with {setting} {other} are {} in {name} than {many} with {usual}",
        counted(few, "machine"),
        percent_of(split.change),
    );
    match split.quantities - 1 {
        0 => {}
        1 => text.push_str("; another quantity differs too"),
        more => text.push_str(&format!("; {more} more quantities differ too")),
    }
    if split.names.len() > 1 {
        let others = split.names[1..].join(", ");
        text.push_str(&format!("; {others} differ between the same machines"));
    }
    text + "."
}

/// Finding about a quantity with two groups of machines that no setting explains. If a population
/// has several such quantities, the finding is about the one whose groups are furthest apart.
fn two_groups(part: &Judged, group: &str, names: &[String]) -> Option<FleetFinding> {
    let columns = part.population.columns.iter().zip(&part.references);
    let with_two = columns.filter_map(|(column, reference)| {
        let reference = reference.as_ref()?;
        Some((column, reference, reference.share_fast?))
    });
    let all: Vec<_> = with_two.collect();
    let gap = |reference: &Reference| reference.fast.centre - reference.slow.centre;
    let (column, reference, share) = all.iter().max_by(|a, b| gap(a.1).total_cmp(&gap(b.1)))?;
    let name = &names[column.quantity as usize];
    let slow = fixed((1.0 - share) * 100.0, 0);
    let mut text = format!(
        "{group}: {slow}% of {} are {} than the others in {name}, and no known setting explains it",
        counted(column.places.len(), "machine"),
        percent_of(-gap(reference)),
    );
    if all.len() > 1 {
        let more = all.len() - 1;
        let quantities = if more == 1 {
            "quantity has"
        } else {
            "quantities have"
        };
        text.push_str(&format!("; {more} more {quantities} two groups"));
    }
    Some(FleetFinding {
        kind: "fleet-populations",
        group: part.group,
        text: text + ".",
    })
}

/// Finding about a population whose median differs from the expected median. The finding names the
/// quantity with the largest shift.
fn shift(
    fleet: &Fleet,
    part: &Judged,
    title: &str,
    names: &[String],
    least: usize,
    floor: f64,
) -> Option<FleetFinding> {
    let mut largest: Option<(f64, u32, usize)> = None;
    for (column, reference) in part.population.columns.iter().zip(&part.references) {
        let Some(reference) = reference.filter(|_| column.places.len() >= least) else {
            continue;
        };
        let values = part.population.column(fleet, &column.places);
        let Some(middle) = stats::median(&values.speeds) else {
            continue;
        };
        let change = if middle < reference.slow.centre {
            middle - reference.slow.centre
        } else {
            (middle - reference.fast.centre).max(0.0)
        };
        if change.abs() > floor && largest.is_none_or(|(most, _, _)| change.abs() > most.abs()) {
            largest = Some((change, column.quantity, column.places.len()));
        }
    }
    let (change, quantity, nodes) = largest?;
    Some(FleetFinding {
        kind: "fleet-expectation",
        group: part.group,
        text: format!(
            "{title}: the median of {} is {} in {} than expected.",
            counted(nodes, "machine"),
            percent_of(change),
            names[quantity as usize]
        ),
    })
}

/// Makes expectations of a fleet that was judged: the typical values of each population of machines
/// become the values that later reports are compared with.
fn learn(fleet: &Fleet, judged: &[Judged]) -> Expectations {
    let mut groups: BTreeMap<usize, ExpectedGroup> = BTreeMap::new();
    for part in judged {
        let hardware = &fleet.groups[part.group];
        let columns = part.population.columns.iter().zip(&part.references);
        let quantities = columns.filter_map(|(column, reference)| {
            let quantity = &fleet.quantities[column.quantity as usize];
            Some(ExpectedQuantity::new(quantity, reference.as_ref()?))
        });
        let population = ExpectedPopulation {
            settings: part.population.settings.clone(),
            quantities: quantities.collect(),
        };
        groups
            .entry(part.group)
            .or_insert_with(|| ExpectedGroup {
                name: hardware.name.clone(),
                digest: hardware.digest(),
                facts: facts(hardware),
                populations: Vec::new(),
            })
            .populations
            .push(population);
    }
    Expectations::new(groups.into_values().collect())
}
