//! Compares two reports point by point. A point is better, worse or the same, or the comparison
//! cannot tell.

use super::align::{Aligned, REPEAT, Unaligned, align};
use super::report_set::ReportSet;
use report::{
    Axis, Coordinate, Coordinates, Dataset, Measured, Point, Provenance, Quantity, Report,
    ScMembenchForm, ScMembenchLeftOut, Threads, VcpuPlacement, VerdictGrade, sc_membench_form,
    sc_membench_report,
};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;
use stats::{agrees, few_ratio_interval, median, ratio_interval};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use units::{Bytes, ParseError, counted};

/// Confidence of the interval of a ratio. If nothing changed, at most 2 of 100 intervals exclude
/// the ratio 1.
pub const CONFIDENCE: f64 = 0.98;

/// Floor of a comparison if the user sets none. Relative differences below the floor do not matter.
pub const DEFAULT_FLOOR: Fraction = Fraction(0.03);

/// Floor for points without samples. Such points do not show how much two sessions of one machine
/// differ. The best of three tries, which other tools report, differs by several percent.
pub const DEFAULT_FLOOR_WITHOUT_SAMPLES: Fraction = Fraction(0.1);

/// Largest number of values of an axis that are listed if two reports share no point.
const MAX_NAMED: usize = 4;

/// Undisturbed values are compared only if each report has at least this number of rounds whose
/// best values agree with the undisturbed value. Otherwise typical values are compared.
const FEWEST_ROUNDS: usize = 6;

/// An allocation counts as one value if each report has at least this number of allocations.
/// Otherwise each round counts as one value. All rounds of an allocation use the same pages, so
/// their values are not independent.
const ENOUGH_ALLOCATIONS: usize = 5;

/// A fraction: `3%` or `0.03`; at least 0 and below 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(transparent)]
pub struct Fraction(pub f64);

impl FromStr for Fraction {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || {
            ParseError::new(text, "a share is from 0% on and below 100%: 3%, 0.5%, 0.03")
                .with_example("3%")
        };
        let trimmed = text.trim();
        let (number, scale) = trimmed
            .strip_suffix('%')
            .map_or((trimmed, 1.0), |percent| (percent.trim_end(), 0.01));
        let share = number.parse::<f64>().map_err(|_| wrong())? * scale;
        if (0.0..1.0).contains(&share) {
            Ok(Fraction(share))
        } else {
            Err(wrong())
        }
    }
}

/// Settings of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Relative differences up to this floor do not matter.
    pub floor: Fraction,
    /// The floor for points without samples, which have only their reported values.
    pub floor_without_samples: Fraction,
    /// True if points of different kernels are compared.
    pub any_kernel: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            floor: DEFAULT_FLOOR,
            floor_without_samples: DEFAULT_FLOOR_WITHOUT_SAMPLES,
            any_kernel: false,
        }
    }
}

/// Change of a point from the first report to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// The value is worse by more than the floor, and chance does not explain it.
    Worse,
    /// The value is better by more than the floor, and chance does not explain it.
    Better,
    /// The interval of the ratio crosses the floor, or there is no interval.
    CannotTell,
    /// The whole interval of the ratio lies within the floor.
    Same,
}

impl Change {
    /// `worse`, `better`, `cannot tell` or `same`.
    pub fn word(self) -> &'static str {
        match self {
            Change::Worse => "worse",
            Change::Better => "better",
            Change::CannotTell => "cannot tell",
            Change::Same => "same",
        }
    }
}

/// A point in one of the reports.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ComparedPoint {
    /// Median of the compared values in the quantity's unit. A compared value is the median of a
    /// round, of an allocation or of a report of a set. Without samples, it is the reported figure
    /// of a repetition.
    pub median: f64,
    /// Number of compared values: rounds, allocations or reports. 0 without samples.
    pub values: u64,
    /// Worst verdict among the repetitions.
    pub grade: VerdictGrade,
}

/// A point in both reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Pair {
    /// Coordinates that the points of both reports share.
    pub coordinates: Coordinates,
    /// The point in the first report.
    pub before: ComparedPoint,
    /// The point in the second report.
    pub after: ComparedPoint,
    /// Median in the second report divided by the median in the first; `null` if the result is not
    /// a positive number.
    pub ratio: Option<f64>,
    /// Lower end of the ratio's interval; `null` if there are too few values.
    pub ratio_low: Option<f64>,
    /// Upper end of the ratio's interval; `null` if there are too few values.
    pub ratio_high: Option<f64>,
    /// True if undisturbed values are compared, false for typical values.
    pub is_undisturbed: bool,
    /// Change of the point.
    pub change: Change,
    /// Relative difference beyond which the point is better or worse. It is the floor of the
    /// comparison, increased by the difference of the selected kernels.
    pub floor: Fraction,
    /// Remark about the pair: different kernels, a rejected number, too few rounds.
    pub remark: Option<String>,
}

impl Pair {
    /// True if a report has no samples, so that the pair was judged by the reported values alone.
    pub fn is_without_samples(&self) -> bool {
        self.before.values == 0 || self.after.values == 0
    }

    /// Size of the difference, for sorting rows: magnitude of the ratio's logarithm, in millionths.
    pub fn size(&self) -> f64 {
        self.ratio
            .map_or(0.0, |ratio| (ratio.ln().abs() * 1e6).round())
    }
}

/// Pairs of one quantity of one experiment, sorted by how much they matter.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PairGroup {
    /// Name of the experiment.
    pub experiment: String,
    /// Quantity of the values.
    pub quantity: Quantity,
    /// The axes along which the points of the experiment differ.
    pub axes: Vec<Axis>,
    /// Pairs, sorted by change: worse, better, cannot tell, same. Pairs with the same change are
    /// sorted by the size of the difference, the largest first.
    pub pairs: Vec<Pair>,
}

/// Number of pairs with each result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Tally {
    /// Pairs that are worse.
    pub worse: usize,
    /// Pairs that are better.
    pub better: usize,
    /// Pairs for which the comparison cannot tell.
    pub cannot_tell: usize,
    /// Pairs that are the same.
    pub same: usize,
}

impl Tally {
    /// Number of all pairs.
    pub fn all(self) -> usize {
        self.worse + self.better + self.cannot_tell + self.same
    }
}

/// Comparison of two reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Comparison {
    /// Name of the first report.
    pub before: String,
    /// Name of the second report.
    pub after: String,
    /// Relative differences up to this floor do not matter.
    pub floor: Fraction,
    /// The floor for points without samples.
    pub floor_without_samples: Fraction,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Number of pairs with each result.
    pub tally: Tally,
    /// Texts about differences between the sessions: machine, program, settings of the system.
    pub notes: Vec<String>,
    /// Pairs in the order of the first report's experiments.
    pub groups: Vec<PairGroup>,
    /// Points that are not compared, each with the reason.
    pub unaligned: Vec<Unaligned>,
}

impl Comparison {
    /// Number of pairs in which one report has no samples. They were judged by their reported
    /// values alone.
    pub fn without_samples(&self) -> usize {
        self.pairs()
            .filter(|(_, pair)| pair.is_without_samples())
            .count()
    }

    /// Every pair with the group of its quantity.
    pub fn pairs(&self) -> impl Iterator<Item = (&PairGroup, &Pair)> {
        self.groups
            .iter()
            .flat_map(|group| group.pairs.iter().map(move |pair| (group, pair)))
    }
}

/// One of two compared reports.
#[derive(Debug, Clone, Copy)]
pub struct ComparedReport<'a> {
    /// Name of the report in the comparison.
    pub name: &'a str,
    /// The report, or all points of a set of reports.
    pub report: &'a Report,
    /// Provenance of each report of a set; empty if there is a single report.
    set: &'a [Provenance],
}

impl<'a> ComparedReport<'a> {
    /// `report` with the name `name`.
    pub fn new(name: &'a str, report: &'a Report) -> Self {
        Self {
            name,
            report,
            set: &[],
        }
    }

    /// `set` with the name `name`. A set of one report is that report.
    pub fn of_set(name: &'a str, set: &'a ReportSet) -> Self {
        let provenances = set.provenances();
        Self {
            name,
            report: set.report(),
            set: if provenances.len() > 1 {
                provenances
            } else {
                &[]
            },
        }
    }

    /// Provenance of each report of this side, at least one.
    fn provenances(&self) -> Vec<&'a Provenance> {
        match self.set {
            [] => vec![&self.report.provenance],
            set => set.iter().collect(),
        }
    }
}

/// Compares `after` with `before`.
///
/// A pair is better or worse if the whole interval of the ratio lies beyond the floor. The pair is
/// the same if the interval lies within the floor. Otherwise the comparison cannot tell. These are
/// two one-sided tests (Schuirmann 1987) at the level of [`CONFIDENCE`]. docs/method/compare.md has
/// the consequences for many points.
///
/// If `before` or `after` is a set of reports, each report counts as one value. The interval then
/// includes the scatter between sessions.
///
/// Points without samples are judged by their reported values and a separate floor. If one report
/// comes from sc-membench, the other report is converted to the form of sc-membench, so that both
/// follow the same conventions.
pub fn compare(
    before: ComparedReport<'_>,
    after: ComparedReport<'_>,
    settings: &Settings,
) -> Comparison {
    let form = [before.report, after.report]
        .iter()
        .any(|report| is_sc_membench(report));
    let first = InForm::new(before.report, form);
    let second = InForm::new(after.report, form);
    let (aligned, mut unaligned) = align(&first.report, &second.report, settings.any_kernel);
    unaligned.extend(first.without_row("first"));
    unaligned.extend(second.without_row("second"));
    let is_of_sets = !form && [before, after].iter().any(|side| !side.set.is_empty());
    let mut groups: Vec<PairGroup> = Vec::new();
    let mut tally = Tally::default();
    for one in aligned {
        let pair = judge(&one, settings, is_of_sets);
        match pair.change {
            Change::Worse => tally.worse += 1,
            Change::Better => tally.better += 1,
            Change::CannotTell => tally.cannot_tell += 1,
            Change::Same => tally.same += 1,
        }
        let experiment = &one.dataset.experiment;
        let quantity = &one.dataset.quantity;
        match groups
            .iter_mut()
            .find(|g| g.experiment == *experiment && g.quantity == *quantity)
        {
            Some(group) => group.pairs.push(pair),
            None => groups.push(PairGroup {
                experiment: experiment.clone(),
                quantity: quantity.clone(),
                axes: one.dataset.axes.clone(),
                pairs: vec![pair],
            }),
        }
    }
    for group in &mut groups {
        group
            .pairs
            .sort_by(|a, b| a.change.cmp(&b.change).then(b.size().total_cmp(&a.size())));
    }
    let mut notes = notes(before, after);
    // If both reports have a point that is not compared, its reason is listed. The text is then not
    // needed.
    if tally.all() == 0 && unaligned.iter().all(|one| one.is_alone) {
        notes.push(nothing_in_common(&first.report, &second.report));
    }
    Comparison {
        before: before.name.to_owned(),
        after: after.name.to_owned(),
        floor: settings.floor,
        floor_without_samples: settings.floor_without_samples,
        confidence: CONFIDENCE,
        tally,
        notes,
        groups,
        unaligned,
    }
}

/// True if a report was read from sc-membench's CSV.
fn is_sc_membench(report: &Report) -> bool {
    report.provenance.tool.name == "sc-membench" && report.provenance.is_unknown()
}

/// A report in the form in which it is compared, and its points that have no place in this form.
struct InForm<'a> {
    report: Cow<'a, Report>,
    left_out: Vec<ScMembenchLeftOut>,
}

impl<'a> InForm<'a> {
    /// `report` in sc-membench's form if `form` is true, otherwise unchanged.
    fn new(report: &'a Report, form: bool) -> Self {
        if !form {
            return InForm {
                report: Cow::Borrowed(report),
                left_out: Vec::new(),
            };
        }
        let ScMembenchForm { rows, left_out, .. } = sc_membench_form(report, Threads::Every);
        InForm {
            report: Cow::Owned(sc_membench_report(&rows)),
            left_out,
        }
    }

    /// Points that have no row in sc-membench's form.
    fn without_row(&self, which: &str) -> impl Iterator<Item = Unaligned> {
        self.left_out.iter().map(move |one| Unaligned {
            experiment: one.experiment.clone(),
            quantity: one.quantity.clone(),
            coordinates: one.coordinates.clone(),
            reason: format!(
                "no row in sc-membench's form in the {which} report: {}",
                one.reason
            ),
            is_alone: true,
        })
    }
}

/// Compares one point of two reports. If `is_of_sets` is true, each report counts as one value.
fn judge(one: &Aligned<'_>, settings: &Settings, is_of_sets: bool) -> Pair {
    let measured = one
        .before
        .iter()
        .chain(&one.after)
        .filter_map(|point| point.outcome.measured());
    let bare = !is_of_sets && measured.into_iter().any(Measured::is_without_samples);
    let common = CommonPlacement::find(&one.before, &one.after);
    let (mine, theirs) = match common {
        _ if bare => (Vec::new(), Vec::new()),
        CommonPlacement::None => (Vec::new(), Vec::new()),
        CommonPlacement::Unknown if is_of_sets => {
            (of_reports(&one.before, None), of_reports(&one.after, None))
        }
        CommonPlacement::Of(placement) if is_of_sets => (
            of_reports(&one.before, Some(placement)),
            of_reports(&one.after, Some(placement)),
        ),
        CommonPlacement::Unknown => values(&one.before, &one.after, None),
        CommonPlacement::Of(placement) => values(&one.before, &one.after, Some(placement)),
    };
    let higher_is_better = one.dataset.quantity.higher_is_better;
    let quiet = common
        .is_of_headlines(&one.before, &one.after)
        .then(|| match is_of_sets {
            true => undisturbed_of_reports(&one.before).zip(undisturbed_of_reports(&one.after)),
            false => undisturbed_values(&one.before, &one.after, higher_is_better),
        })
        .flatten();
    let is_undisturbed = quiet.is_some();
    let (mine, theirs) = quiet.unwrap_or((mine, theirs));
    let interval = ratio_interval(&mine, &theirs, CONFIDENCE).or_else(|| {
        let few = is_of_sets.then(|| few_ratio_interval(&mine, &theirs, CONFIDENCE));
        few.flatten()
    });
    let noun = if is_of_sets { "report" } else { "round" };
    let before = side(&one.before, &mine);
    let after = side(&one.after, &theirs);
    let ratio =
        Some(after.median / before.median).filter(|ratio| ratio.is_finite() && *ratio > 0.0);
    let floor = if bare {
        settings.floor_without_samples
    } else {
        settings.floor
    };
    let floors = Floors {
        same: floor,
        differ: Fraction((1.0 + floor.0) * one.apart.max(1.0) - 1.0),
    };
    let rejected = [(before, "first"), (after, "second")]
        .into_iter()
        .find(|(s, _)| s.grade == VerdictGrade::Rejected);
    let mut remarks = Vec::new();
    let change = match (rejected, ratio, interval) {
        (Some((_, which)), ..) => {
            remarks.push(format!("rejected in the {which} report"));
            Change::CannotTell
        }
        // Without samples there is no interval, so the ratio of the reported values is judged.
        (None, Some(ratio), _) if bare => floors.change(ratio, ratio, higher_is_better),
        (None, Some(ratio), Some(interval)) if interval.low <= ratio && ratio <= interval.high => {
            floors.change(interval.low, interval.high, higher_is_better)
        }
        (None, Some(_), Some(_)) => {
            remarks.push(format!(
                "{noun}s of several kinds: the change of the medians lies outside the interval"
            ));
            Change::CannotTell
        }
        (None, Some(_), None) if common == CommonPlacement::None => {
            remarks.push(
                "the hosts had placed the CPUs differently: no placement is in both reports"
                    .to_owned(),
            );
            Change::CannotTell
        }
        (None, None, _) => {
            remarks.push("no ratio of these figures".to_owned());
            Change::CannotTell
        }
        (None, Some(_), None) => {
            remarks.push(format!(
                "{} and {} are too few to tell",
                mine.len(),
                counted(theirs.len(), noun)
            ));
            Change::CannotTell
        }
    };
    remarks.extend(one.remark.clone());
    remarks.extend(common.remark(&one.before, &one.after));
    Pair {
        coordinates: one.coordinates.clone(),
        before,
        after,
        ratio,
        ratio_low: interval.map(|interval| interval.low),
        ratio_high: interval.map(|interval| interval.high),
        is_undisturbed,
        change,
        floor: floors.differ,
        remark: (!remarks.is_empty()).then(|| remarks.join("; ")),
    }
}

/// Thresholds of a comparison, as shares. Values within `same` of each other are the same. Values
/// more than `differ` apart are better or worse. A share reaches equally far up and down on a
/// logarithmic scale.
struct Floors {
    same: Fraction,
    /// At least `same`. If kernel selection chose different kernels, their difference in speed is
    /// added, because it is no difference between machines.
    differ: Fraction,
}

impl Floors {
    /// Change of a point whose ratio lies between `low` and `high`. The ends may be equal.
    fn change(&self, low: f64, high: f64, higher_is_better: bool) -> Change {
        let more = 1.0 + self.differ.0;
        let same = 1.0 + self.same.0;
        let (up, down) = if higher_is_better {
            (Change::Better, Change::Worse)
        } else {
            (Change::Worse, Change::Better)
        };
        if low > more {
            up
        } else if high < 1.0 / more {
            down
        } else if low >= 1.0 / same && high <= same {
            Change::Same
        } else {
            Change::CannotTell
        }
    }
}

/// Placement of vCPUs whose samples are compared, for one point of two reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommonPlacement {
    /// A report lacks the placement of its vCPUs, so that all samples are compared.
    Unknown,
    /// Only samples with this placement are compared.
    Of(VcpuPlacement),
    /// The reports have no placement in common, so that no samples are compared.
    None,
}

impl CommonPlacement {
    /// Finds the placement with the largest share of rounds in both reports. Of the two shares of a
    /// placement, the smaller one counts.
    fn find(before: &[&Point], after: &[&Point]) -> Self {
        let shares = [before, after].map(placement_shares);
        if shares.iter().any(BTreeMap::is_empty) {
            return Self::Unknown;
        }
        let rarer = |placement: &VcpuPlacement| {
            let of = |side: &BTreeMap<VcpuPlacement, f64>| side.get(placement).copied();
            Some(of(&shares[0])?.min(of(&shares[1])?))
        };
        shares[0]
            .keys()
            .filter_map(|placement| Some((rarer(placement)?, *placement)))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(Self::None, |(_, placement)| Self::Of(placement))
    }

    /// Remark that names the placement; `None` if the summaries of all points use it.
    fn remark(self, before: &[&Point], after: &[&Point]) -> Option<String> {
        match self {
            Self::Of(placement) if !self.is_of_headlines(before, after) => {
                Some(format!("compared for CPUs {}", placement.phrase()))
            }
            _ => None,
        }
    }

    /// True if the summaries of all points use this placement, or if placements are unknown.
    fn is_of_headlines(self, before: &[&Point], after: &[&Point]) -> bool {
        let mut all = before
            .iter()
            .chain(after)
            .filter_map(|p| p.outcome.measured());
        match self {
            Self::Unknown => true,
            Self::Of(placement) => all.all(|m| m.placement() == Some(placement)),
            Self::None => false,
        }
    }
}

/// For each report, the best values of the rounds that agree with the undisturbed value of their
/// point. `None` if a point has no undisturbed value, or if a report has too few such rounds.
fn undisturbed_values(
    before: &[&Point],
    after: &[&Point],
    higher_is_better: bool,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let bests = |points: &[&Point]| -> Option<Vec<f64>> {
        let mut values = Vec::new();
        for measured in points.iter().filter_map(|point| point.outcome.measured()) {
            let quietest = measured.undisturbed()?;
            let best_of_rounds = measured.best_of_rounds(higher_is_better);
            values.extend(best_of_rounds.into_iter().filter(|v| agrees(*v, quietest)));
        }
        (values.len() >= FEWEST_ROUNDS).then_some(values)
    };
    Some((bests(before)?, bests(after)?))
}

/// Share of rounds with each placement, averaged over the repetitions of a point. Empty if the
/// placement of a repetition is unknown.
fn placement_shares(points: &[&Point]) -> BTreeMap<VcpuPlacement, f64> {
    let mut shares: BTreeMap<VcpuPlacement, f64> = BTreeMap::new();
    for measured in points.iter().filter_map(|p| p.outcome.measured()) {
        let Some(evidence) = &measured.evidence.vcpu_placement else {
            return BTreeMap::new();
        };
        for stratum in evidence.strata.iter().filter(|s| s.samples > 0) {
            *shares.entry(stratum.placement).or_default() += stratum.share / points.len() as f64;
        }
    }
    shares
}

/// The compared values of both reports: medians of the undisturbed samples of each allocation, if
/// both reports have enough allocations. Otherwise they are medians of each round. If `placement`
/// is given, only samples with this placement of the vCPUs count.
fn values(
    before: &[&Point],
    after: &[&Point],
    placement: Option<VcpuPlacement>,
) -> (Vec<f64>, Vec<f64>) {
    let by = |points: &[&Point], whole: bool| rounds(points, placement, whole);
    let allocations = (by(before, true), by(after, true));
    match allocations.0.len().min(allocations.1.len()) >= ENOUGH_ALLOCATIONS {
        true => allocations,
        false => (by(before, false), by(after, false)),
    }
}

/// Medians of the undisturbed samples of each round, or of each allocation if `whole` is true. If
/// `placement` is given, only samples with this placement of the vCPUs count.
fn rounds(points: &[&Point], placement: Option<VcpuPlacement>, whole: bool) -> Vec<f64> {
    let mut groups: BTreeMap<(usize, u32, u32), Vec<f64>> = BTreeMap::new();
    for (repeat, point) in points.iter().enumerate() {
        let measured = point.outcome.measured().into_iter();
        for sample in measured.flat_map(|m| m.undisturbed_samples(placement)) {
            let round = if whole { 0 } else { sample.round };
            groups
                .entry((repeat, sample.allocation, round))
                .or_default()
                .push(sample.value);
        }
    }
    groups
        .values()
        .filter_map(|values| median(values))
        .collect()
}

/// The value of each report of a set: the median of its rounds, or its reported value without
/// samples. If `placement` is given, only samples with this placement of the vCPUs count.
fn of_reports(points: &[&Point], placement: Option<VcpuPlacement>) -> Vec<f64> {
    by_report(points)
        .values()
        .filter_map(|own| {
            let rounds = rounds(own, placement, false);
            let measured = own.iter().filter_map(|point| point.outcome.measured());
            let figures = measured.filter(|m| m.is_without_samples());
            let figures: Vec<f64> = figures.map(|m| m.summary.median).collect();
            median(&rounds).or_else(|| median(&figures))
        })
        .collect()
}

/// The undisturbed value of each report of a set; `None` if a point has none.
fn undisturbed_of_reports(points: &[&Point]) -> Option<Vec<f64>> {
    let of_report = |own: &Vec<&Point>| {
        let measured = own.iter().filter_map(|point| point.outcome.measured());
        let values: Option<Vec<f64>> = measured.map(Measured::undisturbed).collect();
        median(&values?)
    };
    by_report(points).values().map(of_report).collect()
}

/// Points of a set, grouped by the number of their report.
fn by_report<'a>(points: &[&'a Point]) -> BTreeMap<Option<&'a Coordinate>, Vec<&'a Point>> {
    let mut reports: BTreeMap<Option<&Coordinate>, Vec<&Point>> = BTreeMap::new();
    for point in points {
        let number = point.coordinates.get(REPEAT);
        reports.entry(number).or_default().push(point);
    }
    reports
}

/// Makes the figures of a point in one report. `values` are its compared values.
fn side(points: &[&Point], values: &[f64]) -> ComparedPoint {
    let measured: Vec<_> = points.iter().filter_map(|p| p.outcome.measured()).collect();
    let reported: Vec<f64> = measured.iter().map(|m| m.summary.median).collect();
    ComparedPoint {
        median: median(values)
            .or_else(|| median(&reported))
            .unwrap_or_default(),
        values: values.len() as u64,
        grade: measured
            .iter()
            .map(|m| m.verdict.grade)
            .max()
            .unwrap_or(VerdictGrade::Rejected),
    }
}

/// Text about two reports that have no point in common. It names the axes on which they share no
/// coordinate.
fn nothing_in_common(before: &Report, after: &Report) -> String {
    let measured = |dataset: &&Dataset| {
        dataset
            .points
            .iter()
            .any(|point| point.outcome.measured().is_some())
    };
    let experiments = |report: &Report| -> BTreeSet<String> {
        report
            .datasets
            .iter()
            .filter(measured)
            .map(|dataset| dataset.experiment.clone())
            .collect()
    };
    let names = [experiments(before), experiments(after)];
    if names[0].is_disjoint(&names[1]) {
        return format!(
            "nothing in common: experiments {} / {}",
            listed(&names[0]),
            listed(&names[1])
        );
    }
    let mut differ = Vec::new();
    for dataset in before.datasets.iter().filter(measured) {
        let same = |other: &&Dataset| {
            other.experiment == dataset.experiment && other.quantity == dataset.quantity
        };
        let Some(other) = after.datasets.iter().filter(measured).find(same) else {
            continue;
        };
        let axes: BTreeSet<&String> = [dataset, other]
            .into_iter()
            .flat_map(|d| &d.points)
            .flat_map(|point| point.coordinates.keys())
            .collect();
        for axis in axes {
            let both = [coordinates_on(axis, dataset), coordinates_on(axis, other)];
            if both[0].is_disjoint(&both[1]) {
                let axis = axis.trim_end_matches("_bytes").replace('_', " ");
                differ.push(format!(
                    "{} {axis} {} / {}",
                    dataset.experiment,
                    listed(&both[0]),
                    listed(&both[1])
                ));
            }
        }
    }
    match differ.is_empty() {
        true => {
            "nothing in common: no point is in both reports with the same coordinates".to_owned()
        }
        false => format!("nothing in common: {}", differ.join("; ")),
    }
}

/// Coordinates on one axis of the measured points of a dataset, as words.
fn coordinates_on(axis: &str, dataset: &Dataset) -> BTreeSet<String> {
    let measured = dataset
        .points
        .iter()
        .filter(|point| point.outcome.measured().is_some());
    let word = |point: &Point| match point.coordinates.get(axis) {
        Some(Coordinate::Number(bytes)) if axis.ends_with("_bytes") => Bytes(*bytes).to_string(),
        Some(other) => other.to_string(),
        None => "none".to_owned(),
    };
    measured.map(word).collect()
}

/// Joins the first few of `words`, and adds how many more there are.
fn listed(words: &BTreeSet<String>) -> String {
    let few: Vec<&str> = words.iter().take(MAX_NAMED).map(String::as_str).collect();
    match words.len().saturating_sub(MAX_NAMED) {
        _ if words.is_empty() => "none".to_owned(),
        0 => few.join(", "),
        more => format!("{} and {more} more", few.join(", ")),
    }
}

/// Texts about differences between two sessions, or two sets of sessions, except differences of
/// values.
fn notes(before: ComparedReport<'_>, after: ComparedReport<'_>) -> Vec<String> {
    let sides = [(before, "first"), (after, "second")];
    let mut notes: Vec<String> = sides
        .iter()
        .filter(|(side, _)| !side.set.is_empty())
        .map(|(side, which)| {
            let count = side.set.len();
            format!("the {which} is a set of {count} reports: each of them is one value")
        })
        .collect();
    let bare = sides
        .iter()
        .filter(|(side, _)| side.provenances().iter().any(|p| p.is_unknown()));
    let bare: Vec<String> = bare
        .map(|(_, which)| format!("the {which} report is a table: its machine is unknown"))
        .collect();
    if !bare.is_empty() {
        notes.extend(bare);
        return notes;
    }
    let all = |side: ComparedReport<'_>| -> Vec<Vec<(&'static str, String)>> {
        side.provenances().into_iter().map(facts).collect()
    };
    let mine = all(before);
    let theirs = all(after);
    for (place, (what, _)) in mine[0].iter().enumerate() {
        let values = |side: &[Vec<(&str, String)>]| -> BTreeSet<String> {
            side.iter().map(|facts| facts[place].1.clone()).collect()
        };
        let one = values(&mine);
        let other = values(&theirs);
        if one != other || one.len() > 1 {
            let [one, other] = [listed(&one), listed(&other)];
            notes.push(format!("different {what}: {one} / {other}"));
        }
    }
    notes.extend(beside_one_of_them(before.report, after.report));
    notes
}

/// Facts about a session that are mentioned if they differ between sessions.
fn facts(provenance: &Provenance) -> Vec<(&'static str, String)> {
    let host = &provenance.host;
    let known = |fact: Option<String>| fact.unwrap_or_else(|| "unknown".to_owned());
    vec![
        ("processors", known(host.cpu.model_name.get().cloned())),
        ("hosts", known(host.system.hostname.get().cloned())),
        (
            "versions of the program",
            format!("{} {}", provenance.tool.name, provenance.tool.version),
        ),
        ("ways to run", provenance.tool.machine.clone()),
        ("system kernels", known(host.system.kernel.get().cloned())),
        ("governors", known(host.environment.governor.get().cloned())),
        (
            "transparent huge pages",
            known(host.pages.thp_mode.get().cloned()),
        ),
        (
            "numbers of CPUs allowed",
            host.topology.allowed().len().to_string(),
        ),
    ]
}

/// A note is made only if the IPC baselines of cores of one design differ by more than this share.
const SAME_CORE: f64 = 0.05;

/// Makes a note if another hardware thread used the cores of one session all the time. A single
/// session cannot show this, because its baseline comes from its own samples.
fn beside_one_of_them(before: &Report, after: &Report) -> Option<String> {
    let model = |report: &Report| report.provenance.host.cpu.model_name.get().cloned();
    let alone = |report: &Report| {
        let points = report
            .datasets
            .iter()
            .flat_map(|d| &d.points)
            .filter_map(|p| p.outcome.measured());
        let of_one = points.map(|m| &m.evidence).filter(|e| e.cpus.len() == 1);
        of_one
            .filter_map(|e| e.smt_interference.as_ref())
            .map(|core| core.baseline_ipc)
            .reduce(f64::max)
    };
    let one = alone(before)?;
    let other = alone(after)?;
    let same = (one / other - 1.0).abs() <= SAME_CORE || model(before) != model(after);
    let which = if one < other { "first" } else { "second" };
    (!same).then(|| {
        format!(
            "different cores: they begin {one:.2} / {other:.2} instructions per cycle; \
             another program used those of the {which} throughout"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read() {
        let read = |text: &str| text.parse::<Fraction>().map(|share| share.0).ok();
        assert_eq!(
            (read("3%"), read(" 0.5 % "), read("0.03"), read("0")),
            (Some(0.03), Some(0.005), Some(0.03), Some(0.0))
        );
        for wrong in ["", "%", "3", "100%", "-1%", "nan", "inf%", "three"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        let error = "3".parse::<Fraction>().unwrap_err().to_string();
        assert_eq!(
            error,
            "'3'; a share is from 0% on and below 100%: 3%, 0.5%, 0.03"
        );
    }

    #[test]
    fn the_interval_decides() {
        let floors = Floors {
            same: Fraction(0.03),
            differ: Fraction(0.03),
        };
        let told = |low, high, higher_is_better| floors.change(low, high, higher_is_better);
        // The first expected change is for bandwidth, the second for latency.
        for (low, high, more, less) in [
            (1.04, 1.2, Change::Better, Change::Worse),
            (0.8, 0.96, Change::Worse, Change::Better),
            (0.98, 1.02, Change::Same, Change::Same),
            (1.02, 1.2, Change::CannotTell, Change::CannotTell),
            (0.5, 2.0, Change::CannotTell, Change::CannotTell),
            (0.9, 0.98, Change::CannotTell, Change::CannotTell),
        ] {
            assert_eq!(
                (told(low, high, true), told(low, high, false)),
                (more, less),
                "{low} {high}"
            );
        }
        // A difference as large as the difference of two selected kernels proves neither that the
        // machines differ nor that they are the same.
        let floors = Floors {
            same: Fraction(0.03),
            differ: Fraction(0.06),
        };
        assert_eq!(floors.change(1.04, 1.06, true), Change::CannotTell);
    }
}
