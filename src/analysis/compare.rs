//! Two reports point by point: better, worse, the same, or cannot be told.

use super::align::{Aligned, Unaligned, align};
use crate::results::{Axis, Coordinates, Point, Quantity, Report, VerdictGrade};
use crate::stats::{Ratio, median, ratio_interval};
use crate::units::ParseError;
#[cfg(test)]
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::str::FromStr;

/// What the interval of a ratio holds: a difference that is none gets outside of it in at most 2 of 100 comparisons.
pub const CONFIDENCE: f64 = 0.98;

/// Smaller differences matter to nobody, unless the user says otherwise.
pub const DEFAULT_FLOOR: Share = Share(0.03);

/// From this many allocations on each side on, an allocation counts as one value: its rounds share its pages.
const ENOUGH_ALLOCATIONS: usize = 5;

/// A part of something: `3%` or `0.03`; from 0 on and below 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(transparent)]
pub struct Share(pub f64);

impl FromStr for Share {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(text, "a share is from 0% on and below 100%: 3%, 0.5%, 0.03");
        let trimmed = text.trim();
        let (number, scale) = trimmed.strip_suffix('%').map_or((trimmed, 1.0), |percent| (percent.trim_end(), 0.01));
        let share = number.parse::<f64>().map_err(|_| wrong())? * scale;
        if (0.0..1.0).contains(&share) { Ok(Share(share)) } else { Err(wrong()) }
    }
}

/// How to compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Differences up to this share of the first value do not matter.
    pub floor: Share,
    /// Whether points are compared that were measured by different kernels.
    pub any_kernel: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { floor: DEFAULT_FLOOR, any_kernel: false }
    }
}

/// What became of a point from one report to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// By more than the floor, and not by chance.
    Worse,
    /// By more than the floor, and not by chance.
    Better,
    /// The interval reaches over the floor, or there is no interval.
    CannotTell,
    /// The whole interval lies within the floor.
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

/// A point as one report has it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Side {
    /// Its median, that of the repetitions' medians where there are several, in the quantity's unit.
    pub median: f64,
    /// How many rounds (or allocations) stand for it in the interval.
    pub values: u64,
    /// The worst verdict among its repetitions.
    pub grade: VerdictGrade,
}

/// A point in both reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Pair {
    /// Where it lies.
    pub coordinates: Coordinates,
    /// In the first report.
    pub before: Side,
    /// In the second report.
    pub after: Side,
    /// After divided by before, `null` where there are too few values.
    pub ratio: Option<f64>,
    /// Lower end of the ratio's interval.
    pub ratio_low: Option<f64>,
    /// Upper end of the ratio's interval.
    pub ratio_high: Option<f64>,
    /// What became of it.
    pub change: Change,
    /// Differences up to this share are not told from none: that of the comparison, and where different kernels won a race what lay
    /// between them there.
    pub floor: Share,
    /// What is to be said about it: different kernels, a rejected number, too few rounds.
    pub remark: Option<String>,
}

impl Pair {
    /// How far the values are apart, up or down, in steps of a millionth: what rows are sorted by.
    pub fn size(&self) -> f64 {
        self.ratio.map_or(0.0, |ratio| (ratio.ln().abs() * 1e6).round())
    }
}

/// The pairs of one quantity of one experiment, those that matter most first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct PairGroup {
    /// Name of the experiment.
    pub experiment: String,
    /// What the values are.
    pub quantity: Quantity,
    /// The axes along which the points of the experiment differ.
    pub axes: Vec<Axis>,
    /// Worse, better, cannot tell, same; in each the largest difference first.
    pub pairs: Vec<Pair>,
}

/// How many pairs came out how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Tally {
    /// Pairs that are worse.
    pub worse: usize,
    /// Pairs that are better.
    pub better: usize,
    /// Pairs of which it cannot be told.
    pub cannot_tell: usize,
    /// Pairs that are the same.
    pub same: usize,
}

impl Tally {
    /// All pairs.
    pub fn all(self) -> usize {
        self.worse + self.better + self.cannot_tell + self.same
    }
}

/// Two reports, point by point.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Comparison {
    /// What the first report is called.
    pub before: String,
    /// What the second report is called.
    pub after: String,
    /// Differences up to this share do not matter.
    pub floor: Share,
    /// What the intervals hold.
    pub confidence: f64,
    /// How many pairs came out how.
    pub tally: Tally,
    /// What differs between the runs that is no number: machine, program, settings of the system.
    pub notes: Vec<String>,
    /// The pairs, in the order of the first report's experiments.
    pub groups: Vec<PairGroup>,
    /// What is not compared, with the reason.
    pub unaligned: Vec<Unaligned>,
}

impl Comparison {
    /// Every pair with its quantity.
    pub fn pairs(&self) -> impl Iterator<Item = (&PairGroup, &Pair)> {
        self.groups.iter().flat_map(|group| group.pairs.iter().map(move |pair| (group, pair)))
    }
}

/// Compares `after` with `before`; both come with what to call them.
///
/// A pair is better or worse where the whole interval of the ratio lies beyond the floor, the same where it lies within, and
/// cannot be told otherwise: two one-sided tests (Schuirmann 1987) at the level of [`CONFIDENCE`]. docs/method/compare.md says
/// what this means for many points at once.
pub fn compare(before: (&str, &Report), after: (&str, &Report), settings: &Settings) -> Comparison {
    let (aligned, unaligned) = align(before.1, after.1, settings.any_kernel);
    let mut groups: Vec<PairGroup> = Vec::new();
    let mut tally = Tally::default();
    for one in aligned {
        let pair = judge(&one, settings.floor);
        match pair.change {
            Change::Worse => tally.worse += 1,
            Change::Better => tally.better += 1,
            Change::CannotTell => tally.cannot_tell += 1,
            Change::Same => tally.same += 1,
        }
        let (experiment, quantity) = (&one.dataset.experiment, &one.dataset.quantity);
        match groups.iter_mut().find(|g| g.experiment == *experiment && g.quantity == *quantity) {
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
        group.pairs.sort_by(|a, b| a.change.cmp(&b.change).then(b.size().total_cmp(&a.size())));
    }
    Comparison {
        before: before.0.to_owned(),
        after: after.0.to_owned(),
        floor: settings.floor,
        confidence: CONFIDENCE,
        tally,
        notes: notes(before.1, after.1),
        groups,
        unaligned,
    }
}

/// What became of one point.
fn judge(one: &Aligned<'_>, floor: Share) -> Pair {
    let (mine, theirs) = values(&one.before, &one.after);
    let ratio = ratio_interval(&mine, &theirs, CONFIDENCE);
    let (before, after) = (side(&one.before, mine.len()), side(&one.after, theirs.len()));
    let rejected = [(before, "first"), (after, "second")].into_iter().find(|(s, _)| s.grade == VerdictGrade::Rejected);
    let wide = if one.apart > 1.0 { Share((1.0 + floor.0) * one.apart - 1.0) } else { floor };
    let (change, why) = match (rejected, ratio) {
        (Some((_, which)), _) => (Change::CannotTell, Some(format!("rejected in the {which} report"))),
        (None, None) => {
            let few = format!("{} and {} rounds are too few to tell", mine.len(), theirs.len());
            (Change::CannotTell, Some(few))
        }
        (None, Some(ratio)) => (change(&ratio, (floor, wide), one.dataset.quantity.higher_is_better), None),
    };
    let remarks: Vec<String> = why.into_iter().chain(one.ruler.clone()).collect();
    Pair {
        coordinates: one.coordinates.clone(),
        before,
        after,
        ratio: ratio.map(|r| r.estimate),
        ratio_low: ratio.map(|r| r.interval.low),
        ratio_high: ratio.map(|r| r.interval.high),
        change,
        floor: wide,
        remark: (!remarks.is_empty()).then(|| remarks.join("; ")),
    }
}

/// Where the interval lies with regard to the floor, which is as far down as up in the logarithm: the same within the `floor`, better
/// or worse beyond the `wide` one.
fn change(ratio: &Ratio, (floor, wide): (Share, Share), higher_is_better: bool) -> Change {
    let (lower, upper) = (1.0 / (1.0 + wide.0), 1.0 + wide.0);
    let (least, most) = (1.0 / (1.0 + floor.0), 1.0 + floor.0);
    let interval = ratio.interval;
    match () {
        () if interval.low > upper && higher_is_better => Change::Better,
        () if interval.low > upper => Change::Worse,
        () if interval.high < lower && higher_is_better => Change::Worse,
        () if interval.high < lower => Change::Better,
        () if interval.low >= least && interval.high <= most => Change::Same,
        () => Change::CannotTell,
    }
}

/// The values that stand for a point on both sides: medians of the clean samples of allocations where there are enough of
/// them on both, of rounds otherwise.
fn values(before: &[&Point], after: &[&Point]) -> (Vec<f64>, Vec<f64>) {
    let by = |points: &[&Point], whole: bool| -> Vec<f64> {
        let mut groups: BTreeMap<(usize, u32, u32), Vec<f64>> = BTreeMap::new();
        for (repeat, point) in points.iter().enumerate() {
            let samples = point.outcome.measured().into_iter().flat_map(|m| &m.samples);
            for sample in samples.filter(|s| s.dirty.is_none()) {
                let round = if whole { 0 } else { sample.round };
                groups.entry((repeat, sample.allocation, round)).or_default().push(sample.value);
            }
        }
        groups.values().filter_map(|values| median(values)).collect()
    };
    let allocations = (by(before, true), by(after, true));
    match allocations.0.len().min(allocations.1.len()) >= ENOUGH_ALLOCATIONS {
        true => allocations,
        false => (by(before, false), by(after, false)),
    }
}

/// What a side is shown as.
fn side(points: &[&Point], values: usize) -> Side {
    let measured: Vec<_> = points.iter().filter_map(|p| p.outcome.measured()).collect();
    let medians: Vec<f64> = measured.iter().map(|m| m.summary.median).collect();
    Side {
        median: median(&medians).unwrap_or_default(),
        values: values as u64,
        grade: measured.iter().map(|m| m.verdict.grade).max().unwrap_or(VerdictGrade::Rejected),
    }
}

/// What differs between two runs beside their numbers.
fn notes(before: &Report, after: &Report) -> Vec<String> {
    let facts = |report: &Report| -> Vec<(&'static str, String)> {
        let (p, host) = (&report.provenance, &report.provenance.host);
        let known = |fact: Option<String>| fact.unwrap_or_else(|| "unknown".to_owned());
        vec![
            ("processors", known(host.cpu.model_name.get().cloned())),
            ("hosts", known(host.system.hostname.get().cloned())),
            ("versions of the program", format!("{} {}", p.tool.name, p.tool.version)),
            ("ways to run", p.tool.machine.clone()),
            ("system kernels", known(host.system.kernel.get().cloned())),
            ("governors", known(host.environment.governor.get().cloned())),
            ("transparent huge pages", known(host.pages.thp_mode.get().cloned())),
            ("numbers of CPUs allowed", host.topology.allowed().len().to_string()),
        ]
    };
    let both = facts(before).into_iter().zip(facts(after));
    let differ = both.filter(|((_, a), (_, b))| a != b);
    let differ = differ.map(|((what, a), (_, b))| format!("different {what}: {a} / {b}"));
    differ.chain(beside_one_of_them(before, after)).collect()
}

/// Cores of the same design begin as many instructions per cycle, to less than this.
const SAME_CORE: f64 = 0.05;

/// Whether somebody used the cores of one run for all of its time, which that run cannot know: to it, that is what its cores are.
fn beside_one_of_them(before: &Report, after: &Report) -> Option<String> {
    let model = |report: &Report| report.provenance.host.cpu.model_name.get().cloned();
    let alone = |report: &Report| {
        let points = report.datasets.iter().flat_map(|d| &d.points).filter_map(|p| p.outcome.measured());
        let of_one = points.map(|m| &m.evidence).filter(|e| e.cpus.len() == 1);
        of_one.filter_map(|e| e.shared_core.as_ref()).map(|core| core.usual_per_cycle).reduce(f64::max)
    };
    let (one, other) = (alone(before)?, alone(after)?);
    let same = (one / other - 1.0).abs() <= SAME_CORE || model(before) != model(after);
    let which = if one < other { "first" } else { "second" };
    (!same).then(|| {
        format!("different cores: they begin {one:.2} / {other:.2} instructions per cycle; somebody else used those of the {which} throughout")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Interval;

    #[test]
    fn shares_are_read() {
        let read = |text: &str| text.parse::<Share>().map(|share| share.0).ok();
        assert_eq!(
            (read("3%"), read(" 0.5 % "), read("0.03"), read("0")),
            (Some(0.03), Some(0.005), Some(0.03), Some(0.0))
        );
        for wrong in ["", "%", "3", "100%", "-1%", "nan", "inf%", "three"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        let error = "3".parse::<Share>().unwrap_err().to_string();
        assert_eq!(error, "'3'; a share is from 0% on and below 100%: 3%, 0.5%, 0.03");
    }

    #[test]
    fn the_interval_decides() {
        let told = |low, high, higher_is_better| {
            let ratio = Ratio { estimate: (low + high) / 2.0, interval: Interval { low, high, attained: 0.98 } };
            change(&ratio, (Share(0.03), Share(0.03)), higher_is_better)
        };
        // Bandwidth, then latency.
        for (low, high, more, less) in [
            (1.04, 1.2, Change::Better, Change::Worse),
            (0.8, 0.96, Change::Worse, Change::Better),
            (0.98, 1.02, Change::Same, Change::Same),
            (1.02, 1.2, Change::CannotTell, Change::CannotTell),
            (0.5, 2.0, Change::CannotTell, Change::CannotTell),
            (0.9, 0.98, Change::CannotTell, Change::CannotTell),
        ] {
            assert_eq!((told(low, high, true), told(low, high, false)), (more, less), "{low} {high}");
        }
        // What lies between two winners of a race is no difference between the machines, and no likeness of theirs.
        let ratio = Ratio { estimate: 1.05, interval: Interval { low: 1.04, high: 1.06, attained: 0.98 } };
        assert_eq!(change(&ratio, (Share(0.03), Share(0.06)), true), Change::CannotTell);
    }
}
