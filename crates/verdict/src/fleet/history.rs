//! Compares machines with their own histories, and finds machines that became slower since a
//! requested moment.
//!
//! The changes of all machines are judged as a second fleet. A value of this fleet is a quantity's
//! ratio of after to before the change. A setting of this fleet is a changed setting. Peers then
//! show which changes are common, and the same thresholds limit chance. docs/method/history.md has
//! the reasons.

use super::collection::{Fleet, FleetQuantity, FleetValue, LeftOut, NodeRecord, Settings};
use super::expectations::{Expectations, Expected};
use super::hardware::distinct_names;
use super::history_verdict::{FleetHistory, HistoryState, NodeChange, NodeHistory};
use super::node_verdicts::{
    Figures, FleetFinding, FleetSettings, FleetVerdict, Groups, Judged, Judgement, NodeState,
    Outlier, in_unit, judge_fleet, percent_of, state, together,
};
use super::populations::{APART, Place, Population, columns, value_in};
use super::references::{HALF_INTERVAL, Scatter, support};
use stats::{Series, likely_change, median};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use units::{BytesPerSecond, Nanos, counted, fixed, significant};

/// Least number of reports from before the requested moment.
const LEAST_BEFORE: usize = 3;

/// Least number of reports between two changes, because a single report may come from a disturbed
/// session. The newest report is an exception: it may be the first one after a change.
const LEAST_BETWEEN: usize = 2;

/// A changed setting explains a common change if it changed in the same way in at least this share
/// of the machines.
const MOST: f64 = 0.8;

/// Largest number of settings and machines that a finding names.
const MAX_NAMED: usize = 3;

/// Judges each machine as [`judge_fleet`] does, and also by its own history since `since` (RFC
/// 3339, UTC). The reports of a machine after `since` may show one or more changes of speed. The
/// machine became slower if its reports after the last of these changes are slower than its reports
/// before `since`. This loss must exceed that of its peers by the thresholds of a fleet's values
/// and by the floor. A second quantity or a second report must agree. `fleet` must come from a
/// collection with a history.
pub fn judge_fleet_since(
    fleet: &Fleet,
    left_out: Vec<LeftOut>,
    settings: &FleetSettings,
    expected: Option<&Expectations>,
    since: &str,
) -> FleetVerdict {
    let mut verdict = judge_fleet(fleet, left_out, settings, expected);
    let floor = settings.floor.0.max(0.0).ln_1p();
    let machines: Vec<Machine<'_>> = (0..fleet.nodes.len())
        .map(|node| Machine::new(fleet, node, since))
        .collect();
    let scatters = Scatters::new(fleet, &machines, floor);
    let changes: Vec<Option<OwnChange>> = machines
        .iter()
        .map(|machine| OwnChange::new(fleet, machine, &scatters, floor))
        .collect();
    let judged = JudgedChanges::new(fleet, &machines, &changes, settings, floor);
    let names: Vec<String> = verdict
        .quantities
        .iter()
        .map(|(name, _)| name.clone())
        .collect();
    let mut counts = [0; 4];
    for node in &mut verdict.nodes {
        let machine = &machines[node.index];
        let change = judged.change(fleet, machine, node.index, changes[node.index].as_ref());
        let state = match (&change, &changes[node.index]) {
            (Some(_), _) => HistoryState::Slower,
            (None, Some(_)) => HistoryState::NotSlower,
            (None, None) if machine.first == machine.reports.len() => HistoryState::NoReport,
            (None, None) => HistoryState::ShortHistory,
        };
        counts[state as usize] += 1;
        let hardware = machine.hardware(fleet);
        node.history = Some(NodeHistory {
            state,
            reason: reason(
                state,
                machine,
                change.as_ref(),
                &verdict.quantities,
                &hardware,
            ),
            reports: machine.reports.len(),
            change,
            hardware,
        });
    }
    let findings = judged
        .findings(fleet, &machines, &changes, &names, since)
        .into_iter()
        .chain(hardware_findings(fleet, &machines));
    let digests: HashMap<String, usize> = verdict
        .groups
        .iter()
        .enumerate()
        .map(|(place, group)| (group.digest.clone(), place))
        .collect();
    let placed = findings.filter_map(|finding| {
        let group = *digests.get(&fleet.groups[finding.group].digest())?;
        Some(FleetFinding { group, ..finding })
    });
    verdict.findings.extend(placed);
    verdict.findings.sort_by_key(|finding| finding.group);
    verdict.history = Some(FleetHistory {
        since: since.to_owned(),
        nodes: counts,
        judged: judged.judgement.values,
    });
    verdict
}

/// All reports of a machine.
struct Machine<'a> {
    /// Reports, the oldest first.
    reports: Vec<&'a NodeRecord>,
    /// Index of the first report from the requested moment on.
    first: usize,
}

impl<'a> Machine<'a> {
    fn new(fleet: &'a Fleet, node: usize, since: &str) -> Self {
        let older = fleet.histories.get(node).map_or(&[][..], Vec::as_slice);
        let reports: Vec<&NodeRecord> = older.iter().chain([&fleet.nodes[node]]).collect();
        let first = reports.partition_point(|report| &*report.started < since);
        Self { reports, first }
    }

    /// Index of the last report before the requested moment; 0 if there is none.
    fn last_before(&self) -> usize {
        self.first.saturating_sub(1)
    }

    /// Index of the machine's hardware group before the requested moment.
    fn group(&self) -> u32 {
        self.reports[self.last_before()].group
    }

    /// Values of each quantity in time order, by index of the quantity.
    fn columns(&self, fleet: &Fleet) -> BTreeMap<u32, Vec<Dated>> {
        let mut all: BTreeMap<u32, Vec<Dated>> = BTreeMap::new();
        for (report, record) in self.reports.iter().enumerate() {
            for value in &record.values {
                all.entry(value.quantity).or_default().push(Dated {
                    report,
                    speed: value.speed(&fleet.quantities[value.quantity as usize]),
                    is_doubtful: value.is_doubtful,
                });
            }
        }
        all
    }

    /// Settings that changed since the requested moment, each with its old and new value.
    fn changed_settings(&self, fleet: &Fleet) -> Settings {
        let before = self.reports[self.last_before()].settings;
        let after = self.reports[self.reports.len() - 1].settings;
        if before == after {
            return Settings::new();
        }
        let before = &fleet.settings[before as usize];
        let after = &fleet.settings[after as usize];
        let mut names: Vec<&'static str> = after.iter().map(|(name, _)| *name).collect();
        let gone = before.iter().map(|(name, _)| *name);
        names.extend(gone.filter(|name| value_in(after, name).is_none()));
        let changed = names.into_iter().filter_map(|name| {
            let before = value_in(before, name).unwrap_or("unknown");
            let after = value_in(after, name).unwrap_or("unknown");
            (before != after).then(|| (name, format!("from {before} to {after}")))
        });
        changed.collect()
    }

    /// Text about hardware facts that changed since the requested moment, with the two sessions
    /// between which they changed. Empty if no fact changed. A fact that is unknown before or after
    /// did not change.
    fn hardware(&self, fleet: &Fleet) -> String {
        let facts = self.changed_hardware(fleet);
        let newest = self.reports[self.reports.len() - 1].group;
        let Some(place) = self.reports.iter().rposition(|one| one.group != newest) else {
            return String::new();
        };
        if facts.is_empty() {
            return facts;
        }
        let [before, after] = [place, place + 1].map(|report| day(&self.reports[report].started));
        format!("{facts} between {before} and {after}")
    }

    /// The changed facts in the text of [`Machine::hardware`], each with its old and new value.
    fn changed_hardware(&self, fleet: &Fleet) -> String {
        let newest = self.reports[self.reports.len() - 1].group;
        let old = &fleet.groups[self.group() as usize];
        let differences = old.differences(&fleet.groups[newest as usize]);
        let known = differences
            .iter()
            .filter(|row| row.iter().all(|value| value != "unknown"));
        let words: Vec<String> = known
            .map(|[name, before, after]| format!("{name} from {before} to {after}"))
            .collect();
        words.join(", ")
    }
}

/// A value with the report that it comes from.
#[derive(Debug, Clone, Copy)]
struct Dated {
    /// Index of the report.
    report: usize,
    /// Logarithm of the speed.
    speed: f64,
    is_doubtful: bool,
}

/// Speeds of the values that come from `reports`, in time order.
fn speeds(values: &[Dated], reports: &Range<usize>) -> Vec<f64> {
    let within = values.iter().filter(|one| reports.contains(&one.report));
    within.map(|one| one.speed).collect()
}

/// Scatter of values between the sessions of one machine, for each pair of hardware group and
/// quantity.
struct Scatters {
    pooled: HashMap<(u32, u32), Scatter>,
}

impl Scatters {
    fn new(fleet: &Fleet, machines: &[Machine<'_>], floor: f64) -> Self {
        let mut own: BTreeMap<u32, BTreeMap<u32, Vec<Scatter>>> = BTreeMap::new();
        for machine in machines {
            let group = own.entry(machine.group()).or_default();
            for (quantity, values) in machine.columns(fleet) {
                let all = speeds(&values, &(0..machine.reports.len()));
                let found = Scatter::of_neighbours(&all);
                group.entry(quantity).or_default().extend(found);
            }
        }
        let mut pooled = HashMap::new();
        for (group, quantities) in own {
            let typical = quantities.values().filter_map(|histories| {
                let scales: Vec<f64> = histories.iter().map(|one| one.scale).collect();
                median(&scales)
            });
            let typical = median(&typical.collect::<Vec<f64>>()).unwrap_or(0.0);
            for (quantity, histories) in quantities {
                if let Some(found) = Scatter::pooled(&histories, typical, floor) {
                    pooled.insert((group, quantity), found);
                }
            }
        }
        Self { pooled }
    }

    /// Scatter of each quantity between the sessions of one machine: its own scatter, averaged with
    /// the scatter of its peers. If a machine is noisier than its peers in most quantities, its
    /// peers' scatter is increased accordingly. Quantities without scatter of peers are left out.
    fn of_machine(
        &self,
        group: u32,
        columns: &BTreeMap<u32, Vec<Dated>>,
        reports: &Range<usize>,
    ) -> BTreeMap<u32, Scatter> {
        let known = columns.iter().filter_map(|(quantity, values)| {
            let pooled = *self.pooled.get(&(group, *quantity))?;
            let own = Scatter::of_neighbours(&speeds(values, reports));
            Some((*quantity, pooled, own))
        });
        let known: Vec<(u32, Scatter, Option<Scatter>)> = known.collect();
        let ratios = known
            .iter()
            .filter_map(|(_, pooled, own)| Some((*own)?.scale / pooled.scale));
        let noise = median(&ratios.collect::<Vec<f64>>())
            .unwrap_or(1.0)
            .max(1.0);
        let supported = known.into_iter().map(|(quantity, pooled, own)| {
            let assumed = pooled.scale * noise;
            let usual = Scatter {
                scale: assumed,
                ..pooled
            };
            (quantity, own.map_or(usual, |own| own.supported(assumed)))
        });
        supported.collect()
    }
}

/// The change of a machine from its history to its newest reports.
struct OwnChange {
    /// Range of the compared reports from before the requested moment.
    before: Range<usize>,
    /// Range of the reports after the last change since the requested moment. If nothing changed,
    /// the range has all reports since that moment.
    after: Range<usize>,
    /// For each quantity, the median after the change divided by the median before it.
    ratios: Vec<FleetValue>,
    /// Values of the quantities in `ratios`, in the same order.
    columns: Vec<Vec<Dated>>,
}

impl OwnChange {
    /// Finds the change of `machine`. `None` if too few reports precede the requested moment, if
    /// none follow it, or if earlier and later reports have no quantity in common.
    fn new(fleet: &Fleet, machine: &Machine<'_>, scatters: &Scatters, floor: f64) -> Option<Self> {
        let end = machine.reports.len();
        if machine.first < LEAST_BEFORE || machine.first == end {
            return None;
        }
        let columns = machine.columns(fleet);
        let scatters = scatters.of_machine(machine.group(), &columns, &(0..end));
        let series = scatters.iter().map(|(quantity, scatter)| Series {
            points: columns[quantity]
                .iter()
                .map(|one| (one.report, one.speed))
                .collect(),
            scale: scatter.scale,
        });
        let series: Vec<Series> = series.collect();
        let mut places = Vec::new();
        find_changes(&series, 0..end, end, floor, &mut places);
        let earlier = places.iter().rfind(|place| **place < machine.first);
        let later = places.iter().rfind(|place| **place > machine.first);
        let before = earlier.copied().unwrap_or(0)..machine.first;
        let after = later.copied().unwrap_or(machine.first)..end;
        let mut found = Self {
            before,
            after,
            ratios: Vec::new(),
            columns: Vec::new(),
        };
        for (quantity, values) in columns {
            let of = &fleet.quantities[quantity as usize];
            let scatter = scatters.get(&quantity);
            if let Some(ratio) = scatter.and_then(|own| found.ratio(of, &values, *own)) {
                found.ratios.push(FleetValue { quantity, ..ratio });
                found.columns.push(values);
            }
        }
        (!found.ratios.is_empty()).then_some(found)
    }

    /// Median of a quantity after the change divided by its median before the change. `None` if too
    /// few values precede the change.
    fn ratio(&self, of: &FleetQuantity, values: &[Dated], scatter: Scatter) -> Option<FleetValue> {
        let before = speeds(values, &self.before);
        let after = speeds(values, &self.after);
        if before.len() < LEAST_BEFORE {
            return None;
        }
        let change = median(&after)? - median(&before)?;
        let newer = values.iter().filter(|one| self.after.contains(&one.report));
        let doubtful = newer.filter(|one| one.is_doubtful).count();
        let error = scatter.scale * (1.0 / before.len() as f64 + 1.0 / after.len() as f64).sqrt();
        Some(FleetValue {
            quantity: 0,
            median: in_unit(change, of) as f32,
            spread: (HALF_INTERVAL * error) as f32,
            is_doubtful: doubtful * 2 >= after.len(),
        })
    }
}

/// Finds the changes among `reports`. Adds the index of the first report after each change to
/// `places`, in time order. In a change, the median of a quantity moves by more than the floor and
/// five standard errors.
fn find_changes(
    series: &[Series],
    reports: Range<usize>,
    end: usize,
    floor: f64,
    places: &mut Vec<usize>,
) {
    let is_open = reports.end == end;
    let Some(place) = likely_change(series, reports.clone(), LEAST_BETWEEN, is_open) else {
        return;
    };
    let before = reports.start..place;
    let after = place..reports.end;
    let changed = |one: &Series| {
        let within = |reports: &Range<usize>| -> Vec<f64> {
            let points = one.points.iter();
            let kept = points.filter(|(report, _)| reports.contains(report));
            kept.map(|(_, speed)| *speed).collect()
        };
        let earlier = within(&before);
        let later = within(&after);
        let change = median(&later)? - median(&earlier)?;
        let error = (1.0 / earlier.len() as f64 + 1.0 / later.len() as f64).sqrt() * one.scale;
        Some(change.abs() > floor && change.abs() > APART * error)
    };
    if series.iter().any(|one| changed(one) == Some(true)) {
        find_changes(series, before, end, floor, places);
        places.push(place);
        find_changes(series, after, end, floor, places);
    }
}

/// The changes of all machines, judged as a fleet.
struct JudgedChanges {
    /// A fleet of the machines that have a change. Its values are the ratios of the changes.
    changes: Fleet,
    judgement: Judgement,
    /// For each machine in `changes`, its index in the original fleet.
    nodes: Vec<usize>,
    /// For each machine in the original fleet, its index in `changes`.
    places: HashMap<usize, usize>,
    /// Number of slow quantities that together are enough for a verdict.
    together: usize,
    /// Logarithm of the floor.
    floor: f64,
}

impl JudgedChanges {
    fn new(
        fleet: &Fleet,
        machines: &[Machine<'_>],
        own: &[Option<OwnChange>],
        settings: &FleetSettings,
        floor: f64,
    ) -> Self {
        let mut numbers: BTreeMap<Settings, u32> = BTreeMap::new();
        let mut changes = Fleet {
            quantities: fleet.quantities.clone(),
            groups: fleet.groups.clone(),
            ..Fleet::default()
        };
        let mut nodes = Vec::new();
        let mut lengths = Vec::new();
        for (node, change) in own.iter().enumerate() {
            let Some(change) = change else { continue };
            lengths.push(change.before.len() as f64);
            let changed = machines[node].changed_settings(fleet);
            let next = numbers.len() as u32;
            let number = *numbers.entry(changed.clone()).or_insert(next);
            if number == next {
                changes.settings.push(changed);
            }
            nodes.push(node);
            changes.nodes.push(NodeRecord {
                name: "".into(),
                source: "".into(),
                started: "".into(),
                group: machines[node].group(),
                settings: number,
                values: change.ratios.clone().into(),
                rejected: 0,
            });
        }
        let least = settings.least_nodes.max(2);
        let few = |_: usize, members: &[u32]| {
            (members.len() < least).then(|| vec![without_peers(&changes, &lengths, members, floor)])
        };
        let judgement = Judgement::new(&changes, settings, Groups::One, &few);
        Self {
            together: together(&judgement.figures, settings.false_alarms),
            places: nodes
                .iter()
                .enumerate()
                .map(|(place, node)| (*node, place))
                .collect(),
            judgement,
            changes,
            nodes,
            floor,
        }
    }

    /// The change that made the machine at index `node` slower; `None` if it did not become slower.
    fn change(
        &self,
        fleet: &Fleet,
        machine: &Machine<'_>,
        node: usize,
        own: Option<&OwnChange>,
    ) -> Option<NodeChange> {
        let figures = &self.judgement.figures[*self.places.get(&node)?];
        let own = own?;
        let first = self.slowest(figures, own)?;
        let place = own
            .ratios
            .iter()
            .position(|ratio| ratio.quantity as usize == first.quantity)?;
        let quantity = &fleet.quantities[first.quantity];
        let middle = |reports: &Range<usize>| {
            Some(in_unit(
                median(&speeds(&own.columns[place], reports))?,
                quantity,
            ))
        };
        let before = middle(&own.before)?;
        let after = middle(&own.after)?;
        Some(NodeChange {
            quantity: first.quantity,
            before,
            after,
            ratio: after / before,
            common_ratio: first.median,
            z: first.z,
            last_before: machine.reports[own.after.start - 1].started.to_string(),
            first_after: machine.reports[own.after.start].started.to_string(),
            reports_before: own.before.len(),
            reports_after: own.after.len(),
            quantities: figures.outliers.iter().filter(|one| one.is_slow()).count(),
        })
    }

    /// The quantity that became slower by most; `None` if chance explains all changes.
    fn slowest<'f>(&self, figures: &'f Figures, own: &OwnChange) -> Option<&'f Outlier> {
        let mut slow = figures.outliers.iter().filter(|one| one.is_slow());
        match state(figures, &[], self.together, String::new).0 {
            NodeState::Slow => slow.next(),
            _ => slow.find(|one| one.is_beyond_chance && self.is_repeated(one, own)),
        }
    }

    /// True if each of the two newest reports on its own shows the change.
    fn is_repeated(&self, outlier: &Outlier, own: &OwnChange) -> bool {
        let with_values = own.ratios.iter().zip(&own.columns);
        let mut of_quantity =
            with_values.filter(|(ratio, _)| ratio.quantity as usize == outlier.quantity);
        let Some((ratio, values)) = of_quantity.next() else {
            return false;
        };
        let quantity = &self.changes.quantities[ratio.quantity as usize];
        let common = FleetValue {
            median: outlier.median as f32,
            ..*ratio
        };
        let usual =
            median(&speeds(values, &own.before)).map(|before| before + common.speed(quantity));
        let after = speeds(values, &own.after);
        let newest = after.iter().rev().take(2);
        let slower = newest.filter(|speed| usual.is_some_and(|usual| usual - **speed > self.floor));
        slower.count() == 2
    }

    /// Findings about changes that many machines of a group have in common.
    fn findings(
        &self,
        fleet: &Fleet,
        machines: &[Machine<'_>],
        own: &[Option<OwnChange>],
        names: &[String],
        since: &str,
    ) -> Vec<FleetFinding> {
        let titles = distinct_names(&fleet.groups);
        let common = self.judgement.parts.iter().filter_map(|part| {
            let change = self.common_change(part)?;
            let members = part.population.members.iter();
            let nodes: Vec<usize> = members.map(|place| self.nodes[*place as usize]).collect();
            let mut starts: Vec<&str> = nodes
                .iter()
                .filter_map(|node| {
                    let after = own[*node].as_ref()?.after.start;
                    Some(&*machines[*node].reports[after].started)
                })
                .collect();
            starts.sort_unstable();
            let changed = self.changed_settings(part);
            let cause = if changed.is_empty() {
                "no known setting changed".to_owned()
            } else {
                format!("changed: {}", changed.join(", "))
            };
            let quantities = match change.quantities - 1 {
                0 => String::new(),
                more => format!(" and {}", counted(more, "more quantity")),
            };
            Some(FleetFinding {
                kind: "fleet-change",
                group: part.group,
                text: format!(
                    "{}: {} became {} in {}{} from {} on; {cause}.",
                    titles[part.group],
                    counted(nodes.len(), "machine"),
                    percent_of(change.by),
                    names[change.quantity as usize],
                    quantities.replace("quantitys", "quantities"),
                    day(starts.get(starts.len() / 2).copied().unwrap_or(since)),
                ),
            })
        });
        common.collect()
    }

    /// The largest change that the machines of a population have in common. `None` if it is within
    /// the floor, or if the machines have no peers.
    fn common_change(&self, part: &Judged) -> Option<CommonChange> {
        let columns = part.population.columns.iter().zip(&part.references);
        let changes: Vec<(f64, u32)> = columns
            .filter_map(|(column, reference)| Some((reference.as_ref()?.centre(), column.quantity)))
            .filter(|(by, _)| by.abs() > self.floor)
            .collect();
        let largest = changes
            .iter()
            .max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))?;
        Some(CommonChange {
            by: largest.0,
            quantity: largest.1,
            quantities: changes.len(),
        })
    }

    /// Settings that changed in the same way in most machines of a population.
    fn changed_settings(&self, part: &Judged) -> Vec<String> {
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for place in &part.population.members {
            let settings = self.changes.nodes[*place as usize].settings;
            for (name, change) in &self.changes.settings[settings as usize] {
                *counts.entry((name, change)).or_default() += 1;
            }
        }
        let enough = part.population.members.len() as f64 * MOST;
        let most = counts
            .into_iter()
            .filter(|(_, count)| *count as f64 >= enough);
        most.map(|((name, change), _)| format!("{name} {change}"))
            .take(MAX_NAMED)
            .collect()
    }
}

/// A change that many machines have in common.
struct CommonChange {
    /// Logarithm of the speed after the change divided by the speed before.
    by: f64,
    /// Index of the quantity with the largest change.
    quantity: u32,
    /// Number of quantities with a change beyond the floor.
    quantities: usize,
}

/// Makes the population and the references of machines that have too few peers to show a common
/// change. The middle of these references is no change. Their scale comes from the scatter of the
/// machines' own histories. `lengths` are the numbers of compared reports from before the requested
/// moment, by machine.
fn without_peers(changes: &Fleet, lengths: &[f64], members: &[u32], floor: f64) -> Expected {
    let population = Population {
        settings: Vec::new(),
        columns: columns(changes, members),
        members: members.to_vec(),
    };
    let mut references: Vec<_> = population
        .columns
        .iter()
        .map(|column| {
            let spreads = population.column(changes, &column.places).spreads;
            let of_member =
                |place: &Place| lengths[population.members[place.member as usize] as usize];
            let reports: f64 = column.places.iter().map(of_member).sum();
            let scale = median(&spreads).unwrap_or(0.0) / HALF_INTERVAL;
            Scatter::of_reports(scale, reports).reference(spreads.len() as u64)
        })
        .collect();
    support(&mut references, floor);
    (population, references.into_iter().map(Some).collect())
}

/// Findings about machines whose hardware changed, one for each kind of change.
fn hardware_findings(fleet: &Fleet, machines: &[Machine<'_>]) -> Vec<FleetFinding> {
    let mut alike: BTreeMap<(u32, String), Vec<&str>> = BTreeMap::new();
    for machine in machines {
        let facts = machine.changed_hardware(fleet);
        let newest = machine.reports[machine.reports.len() - 1];
        if !facts.is_empty() {
            let names = alike.entry((newest.group, facts)).or_default();
            names.push(&newest.name);
        }
    }
    let finding = |((group, facts), names): ((u32, String), Vec<&str>)| {
        let named = names[..names.len().min(MAX_NAMED)].join(", ");
        let more = match names.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        FleetFinding {
            kind: "fleet-hardware",
            group: group as usize,
            text: format!("The hardware of {named}{more} changed: {facts}."),
        }
    };
    alike.into_iter().map(finding).collect()
}

/// Reason for the state of a machine, in words; empty for a machine that is not slower.
fn reason(
    state: HistoryState,
    machine: &Machine<'_>,
    change: Option<&NodeChange>,
    quantities: &[(String, FleetQuantity)],
    hardware: &str,
) -> String {
    let Some(change) = change else {
        return match state {
            HistoryState::ShortHistory => format!(
                "{} before that moment since its last change, and a verdict needs {LEAST_BEFORE}",
                counted(machine.first, "report")
            ),
            HistoryState::NoReport => "no report since that moment".to_owned(),
            HistoryState::Slower | HistoryState::NotSlower => String::new(),
        };
    };
    let (name, quantity) = &quantities[change.quantity];
    let speed = if quantity.higher_is_better {
        change.ratio.ln()
    } else {
        -change.ratio.ln()
    };
    let mut text = format!(
        "{name} {}: {} before, {} after, between {} and {}",
        percent_of(speed),
        with_unit(change.before, &quantity.unit),
        with_unit(change.after, &quantity.unit),
        day(&change.last_before),
        day(&change.first_after),
    );
    if (change.common_ratio.ln()).abs() > f64::EPSILON.sqrt() {
        let common = fixed((change.common_ratio - 1.0) * 100.0, 1);
        if common.trim_start_matches('-') != "0.0" {
            text.push_str(&format!("; {common}% is common to its peers"));
        }
    }
    match change.quantities.saturating_sub(1) {
        0 => text.push_str(&format!(
            "; {} agree",
            counted(change.reports_after, "report")
        )),
        1 => text.push_str("; one more quantity agrees"),
        more => text.push_str(&format!("; {more} more quantities agree")),
    }
    if !hardware.is_empty() {
        text.push_str(&format!("; its hardware changed: {hardware}"));
    }
    text
}

/// Formats a value with its unit, in the form that tables use.
fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "B/s" => BytesPerSecond(value).to_string(),
        "ns" => Nanos(value).to_string(),
        other => format!("{} {other}", significant(value)),
    }
}

/// Cuts a moment (RFC 3339) to the minute.
fn day(moment: &str) -> &str {
    moment.get(.."2026-01-01T00:00".len()).unwrap_or(moment)
}
