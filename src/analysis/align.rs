//! Which points of two reports ask the same question with the same ruler.

use crate::results::{Coordinates, Dataset, Outcome, Point, Provenance, Report, VerdictGrade, headline};
#[cfg(test)]
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The axis of `--repeat`: repetitions are more values of one point.
const REPEAT: &str = "repeat";
/// The axis of the kernel, which the machine may have chosen.
const KERNEL: &str = "kernel";
/// Axes that follow from the kernel where that was chosen.
const OF_CHOICE: [&str; 2] = [KERNEL, "prefetch_bytes"];

/// The points of one question in two reports.
#[derive(Debug, Clone)]
pub struct Aligned<'a> {
    /// Where they lie; without the repetition and, where the kernels differ, without those.
    pub coordinates: Coordinates,
    /// What they are called together with the dataset.
    pub dataset: &'a Dataset,
    /// The measured ones of the first report, one for each repetition.
    pub before: Vec<&'a Point>,
    /// The measured ones of the second report.
    pub after: Vec<&'a Point>,
    /// What was done differently although the question is the same: empty, or in words.
    pub ruler: Option<String>,
}

/// A question that only one report answers, or both with different rulers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Unaligned {
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the quantity.
    pub quantity: String,
    /// Where it lies.
    pub coordinates: Coordinates,
    /// Why it is not compared, in words.
    pub reason: String,
}

/// The points of one dataset by place.
type Places<'a> = BTreeMap<Coordinates, Vec<&'a Point>>;

/// Pairs the points of two reports: same experiment, quantity, unit and coordinates, kernel included, and the same machine code
/// of that kernel. With `any_kernel` those measured by different kernels are paired too, and say so; what is in
/// neither list was measured in neither report, or serves findings only. In the order of the first report.
pub fn align<'a>(before: &'a Report, after: &'a Report, any_kernel: bool) -> (Vec<Aligned<'a>>, Vec<Unaligned>) {
    let mut pairs = Pairs { rulers: Rulers::of(before, after), any_kernel, ..Pairs::default() };
    let mut seen = Vec::new();
    for dataset in headline(&before.datasets) {
        let same = |d: &&Dataset| d.experiment == dataset.experiment && d.quantity == dataset.quantity;
        let Some(other) = after.datasets.iter().find(same) else {
            pairs.all_alone(dataset, "only in the first report");
            continue;
        };
        seen.push(std::ptr::from_ref(other));
        pairs.dataset(dataset, other);
    }
    for dataset in headline(&after.datasets).filter(|d| !seen.contains(&std::ptr::from_ref(*d))) {
        pairs.all_alone(dataset, "only in the second report");
    }
    (pairs.aligned, pairs.unaligned)
}

/// What was found so far.
#[derive(Default)]
struct Pairs<'a> {
    rulers: Rulers<'a>,
    any_kernel: bool,
    aligned: Vec<Aligned<'a>>,
    unaligned: Vec<Unaligned>,
}

impl<'a> Pairs<'a> {
    /// Pairs two datasets of one quantity.
    fn dataset(&mut self, dataset: &'a Dataset, other: &'a Dataset) {
        let (places, mut others) = (places(dataset, &[REPEAT]), places(other, &[REPEAT]));
        let mut left: Places<'a> = Places::new();
        for coordinates in in_order(dataset) {
            let Some(points) = places.get(&coordinates).cloned() else { continue };
            match others.remove(&coordinates) {
                Some(twins) => self.pair(dataset, coordinates, (points, twins), None),
                None => drop(left.insert(coordinates, points)),
            }
        }
        self.by_other_kernels(dataset, left, others);
    }

    /// Pairs what is left of two datasets by everything but the kernel, where that is unique.
    fn by_other_kernels(&mut self, dataset: &'a Dataset, left: Places<'a>, others: Places<'a>) {
        let mut twins = by_question(others);
        for (question, mine) in by_question(left) {
            let theirs = twins.remove(&question).unwrap_or_default();
            if let ([(here, points)], [(there, others)]) = (mine.as_slice(), theirs.as_slice())
                && here.get(KERNEL) != there.get(KERNEL)
            {
                let name = |at: &Coordinates| at.get(KERNEL).map_or_else(|| "none".to_owned(), ToString::to_string);
                let ruler = format!("different kernels: {} and {}", name(here), name(there));
                self.pair(dataset, question, (points.clone(), others.clone()), Some(ruler));
                continue;
            }
            mine.iter().for_each(|(at, points)| self.alone(dataset, at, points, "only in the first report"));
            theirs.iter().for_each(|(at, points)| self.alone(dataset, at, points, "only in the second report"));
        }
        for (at, points) in twins.into_values().flatten() {
            self.alone(dataset, &at, &points, "only in the second report");
        }
    }

    /// Takes a pair in, or says why it is none.
    fn pair(
        &mut self,
        dataset: &'a Dataset,
        at: Coordinates,
        both: (Vec<&'a Point>, Vec<&'a Point>),
        other: Option<String>,
    ) {
        let ruler = other.or_else(|| self.rulers.differ(&at));
        let (before, after) = (measured(&both.0), measured(&both.1));
        let missing = [(&both.0, &before, "first"), (&both.1, &after, "second")]
            .into_iter()
            .find(|(_, measured, _)| measured.is_empty())
            .and_then(|(all, _, which)| all.first().map(|p| unmeasured(p, which)));
        match missing.or_else(|| ruler.clone().filter(|_| !self.any_kernel)) {
            Some(reason) => self.skip(dataset, at, reason),
            None => self.aligned.push(Aligned { coordinates: at, dataset, before, after, ruler }),
        }
    }

    /// Points that the other report does not have; those without a number are not missed.
    fn alone(&mut self, dataset: &Dataset, at: &Coordinates, points: &[&Point], reason: &str) {
        if points.iter().any(|p| p.outcome.measured().is_some()) {
            self.skip(dataset, at.clone(), reason.to_owned());
        }
    }

    fn all_alone(&mut self, dataset: &Dataset, reason: &str) {
        for (at, points) in places(dataset, &[REPEAT]) {
            self.alone(dataset, &at, &points, reason);
        }
    }

    fn skip(&mut self, dataset: &Dataset, coordinates: Coordinates, reason: String) {
        let (experiment, quantity) = (dataset.experiment.clone(), dataset.quantity.name.clone());
        self.unaligned.push(Unaligned { experiment, quantity, coordinates, reason });
    }
}

/// The measured ones of `points`: rejected ones only where there is no other.
fn measured<'a>(points: &[&'a Point]) -> Vec<&'a Point> {
    let with_number = points.iter().copied().filter(|p| p.outcome.measured().is_some());
    let all: Vec<&Point> = with_number.collect();
    let rejected = |p: &&Point| p.outcome.measured().is_some_and(|m| m.verdict.grade == VerdictGrade::Rejected);
    let good: Vec<&Point> = all.iter().copied().filter(|p| !rejected(p)).collect();
    if good.is_empty() { all } else { good }
}

/// Why a point of the `which` report has no number.
fn unmeasured(point: &Point, which: &str) -> String {
    let Outcome::Measured(_) = point.outcome else {
        let reason = point.outcome.reason().unwrap_or_default();
        return format!("{} in the {which} report: {reason}", point.outcome.status());
    };
    String::new()
}

/// The points of a dataset by their coordinates without those on `left_out`.
fn places<'a>(dataset: &'a Dataset, left_out: &[&str]) -> Places<'a> {
    let mut places = Places::new();
    for point in &dataset.points {
        places.entry(without(&point.coordinates, left_out)).or_default().push(point);
    }
    places
}

/// The same places in the order of the dataset.
fn in_order(dataset: &Dataset) -> Vec<Coordinates> {
    let mut seen = BTreeSet::new();
    let all = dataset.points.iter().map(|p| without(&p.coordinates, &[REPEAT]));
    all.filter(|at| seen.insert(at.clone())).collect()
}

/// Places by what is asked there, whatever kernel answers.
fn by_question(places: Places<'_>) -> BTreeMap<Coordinates, Vec<(Coordinates, Vec<&Point>)>> {
    let mut questions: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (at, points) in places {
        questions.entry(without(&at, &OF_CHOICE)).or_default().push((at, points));
    }
    questions
}

fn without(coordinates: &Coordinates, axes: &[&str]) -> Coordinates {
    let kept = coordinates.iter().filter(|(axis, _)| !axes.contains(&axis.as_str()));
    kept.map(|(axis, c)| (axis.clone(), c.clone())).collect()
}

/// The digests of the kernels of two reports.
#[derive(Default)]
struct Rulers<'a> {
    before: BTreeMap<&'a str, Option<&'a str>>,
    after: BTreeMap<&'a str, Option<&'a str>>,
}

impl<'a> Rulers<'a> {
    fn of(before: &'a Report, after: &'a Report) -> Self {
        let digests = |provenance: &'a Provenance| {
            provenance.kernels.iter().map(|k| (k.name.as_str(), k.digest.as_deref())).collect()
        };
        Self { before: digests(&before.provenance), after: digests(&after.provenance) }
    }

    /// How the machine code of the kernel at `coordinates` differs, if it does.
    fn differ(&self, coordinates: &Coordinates) -> Option<String> {
        let kernel = coordinates.get(KERNEL)?.to_string();
        let (a, b) = (self.before.get(kernel.as_str())?, self.after.get(kernel.as_str())?);
        match (a, b) {
            (Some(a), Some(b)) if a != b => Some(format!("different rulers: {kernel} is {a} and {b}")),
            _ => None,
        }
    }
}
