//! Pairs points of two reports that measure the same thing with the same kernel.

use report::{
    Candidate, Choice, Coordinate, Coordinates, Dataset, Outcome, Point, Provenance,
    REQUESTED_THREADS, Report, VerdictGrade, headline,
};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Axis of `--repeat`. Points that differ on this axis only are repetitions of one point.
pub(super) const REPEAT: &str = "repeat";
/// Axis of the kernel's name.
const KERNEL: &str = "kernel";
/// Axes that are ignored if kernel selection chose the kernel, because their values depend on it.
const OF_CHOICE: [&str; 2] = [KERNEL, "prefetch_bytes"];
/// Axes that are ignored if selection chose the number of threads, because their values depend on
/// it.
const OF_COUNT: [&str; 2] = ["threads", "size_bytes"];

/// Points of two reports that measure the same thing, and are compared.
#[derive(Debug, Clone)]
pub struct Aligned<'a> {
    /// Coordinates that all these points share, without the axis of repetitions.
    pub coordinates: Coordinates,
    /// Dataset of the points in the first report.
    pub dataset: &'a Dataset,
    /// Measured points of the first report, one for each repetition.
    pub before: Vec<&'a Point>,
    /// Measured points of the second report, one for each repetition.
    pub after: Vec<&'a Point>,
    /// Difference in method, in words; `None` if the methods are equal.
    pub remark: Option<String>,
    /// Speed of the faster selected kernel divided by the speed of the other, according to the
    /// kernel selections. It is 1 if the same kernel won in both reports, or without selection.
    pub apart: f64,
}

/// A point that is not compared. Either only one report has it, or the reports used different
/// kernels or have no number for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Unaligned {
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the quantity.
    pub quantity: String,
    /// Coordinates of the point.
    pub coordinates: Coordinates,
    /// Reason why the point is not compared, in words.
    pub reason: String,
    /// True if only one report has the point.
    #[serde(skip)]
    pub is_alone: bool,
}

/// Points of a dataset by the coordinates that must be equal in both reports.
type Places<'a> = BTreeMap<Coordinates, Vec<&'a Point>>;

/// Pairs the points of two reports. Two points form a pair if experiment, quantity, unit and
/// coordinates are equal, including the kernel and its machine code. Points with selected kernels
/// are paired whichever kernel won, if the candidates were the same. With `any_kernel`, points of
/// different kernels are paired too, with a remark. Pairs are in the order of the first report. The
/// second list has the measured points without a partner. Auxiliary points are in neither list.
pub fn align<'a>(
    before: &'a Report,
    after: &'a Report,
    any_kernel: bool,
) -> (Vec<Aligned<'a>>, Vec<Unaligned>) {
    let mut pairs = Pairs {
        codes: KernelCodes::collect(before, after),
        any_kernel,
        ..Pairs::default()
    };
    let mut seen = Vec::new();
    for dataset in headline(&before.datasets) {
        let same =
            |d: &&Dataset| d.experiment == dataset.experiment && d.quantity == dataset.quantity;
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

/// Pairs and unpaired points found so far.
#[derive(Default)]
struct Pairs<'a> {
    codes: KernelCodes<'a>,
    any_kernel: bool,
    aligned: Vec<Aligned<'a>>,
    unaligned: Vec<Unaligned>,
}

impl<'a> Pairs<'a> {
    /// Pairs the points of two datasets that have the same quantity.
    fn dataset(&mut self, dataset: &'a Dataset, other: &'a Dataset) {
        let (places, mut others) = (places(dataset), places(other));
        let mut left: Places<'a> = Places::new();
        for coordinates in in_order(dataset) {
            let Some(points) = places.get(&coordinates).cloned() else {
                continue;
            };
            match others.remove(&coordinates) {
                Some(twins) => self.pair(dataset, points, twins),
                None => drop(left.insert(coordinates, points)),
            }
        }
        self.by_other_kernels(dataset, left, others);
    }

    /// Pairs the remaining points of two datasets, ignoring the kernel. Points are paired only if
    /// exactly one point of each dataset fits.
    fn by_other_kernels(&mut self, dataset: &'a Dataset, left: Places<'a>, others: Places<'a>) {
        let mut twins = by_question(others);
        for (question, mine) in by_question(left) {
            let theirs = twins.remove(&question).unwrap_or_default();
            if let ([(_, points)], [(_, others)]) = (mine.as_slice(), theirs.as_slice()) {
                self.pair(dataset, points.clone(), others.clone());
                continue;
            }
            mine.iter().for_each(|(at, points)| {
                self.alone(dataset, at, points, "only in the first report")
            });
            theirs.iter().for_each(|(at, points)| {
                self.alone(dataset, at, points, "only in the second report")
            });
        }
        for (at, points) in twins.into_values().flatten() {
            self.alone(dataset, &at, &points, "only in the second report");
        }
    }

    /// Adds a pair, or records the reason why the points are no pair.
    fn pair(&mut self, dataset: &'a Dataset, first: Vec<&'a Point>, second: Vec<&'a Point>) {
        let at = common(first.iter().chain(&second));
        let before = measured(&first);
        let after = measured(&second);
        let missing = [(&first, &before, "first"), (&second, &after, "second")]
            .into_iter()
            .find(|(_, measured, _)| measured.is_empty())
            .and_then(|(all, _, which)| all.first().map(|p| unmeasured(p, which)));
        if let Some(reason) = missing {
            return self.skip(dataset, at, reason);
        }
        let (remark, apart) = match self.codes.between(&before, &after) {
            KernelMatch::Same => (None, 1.0),
            KernelMatch::Selected { words, apart } => (Some(words), apart),
            KernelMatch::Different(words) if self.any_kernel => (Some(words), 1.0),
            KernelMatch::Different(words) => return self.skip(dataset, at, words),
        };
        self.aligned.push(Aligned {
            coordinates: at,
            dataset,
            before,
            after,
            remark,
            apart,
        });
    }

    /// Records `points`, which only one report has, as not compared. Points that were not measured
    /// are not recorded.
    fn alone(&mut self, dataset: &Dataset, at: &Coordinates, points: &[&Point], reason: &str) {
        if points.iter().any(|p| p.outcome.measured().is_some()) {
            self.skip(dataset, at.clone(), reason.to_owned());
            self.unaligned
                .last_mut()
                .into_iter()
                .for_each(|one| one.is_alone = true);
        }
    }

    fn all_alone(&mut self, dataset: &Dataset, reason: &str) {
        for (at, points) in places(dataset) {
            self.alone(dataset, &at, &points, reason);
        }
    }

    fn skip(&mut self, dataset: &Dataset, coordinates: Coordinates, reason: String) {
        let experiment = dataset.experiment.clone();
        let quantity = dataset.quantity.name.clone();
        self.unaligned.push(Unaligned {
            experiment,
            quantity,
            coordinates,
            reason,
            is_alone: false,
        });
    }
}

/// The measured points among `points`. Rejected points are included only if there are no others.
fn measured<'a>(points: &[&'a Point]) -> Vec<&'a Point> {
    let with_number = points
        .iter()
        .copied()
        .filter(|p| p.outcome.measured().is_some());
    let all: Vec<&Point> = with_number.collect();
    let rejected = |p: &&Point| {
        p.outcome
            .measured()
            .is_some_and(|m| m.verdict.grade == VerdictGrade::Rejected)
    };
    let good: Vec<&Point> = all.iter().copied().filter(|p| !rejected(p)).collect();
    if good.is_empty() { all } else { good }
}

/// Reason why a point of the `which` report has no number; empty for a measured point.
fn unmeasured(point: &Point, which: &str) -> String {
    let Outcome::Measured(_) = point.outcome else {
        let reason = point.outcome.reason().unwrap_or_default();
        return format!("{} in the {which} report: {reason}", point.outcome.status());
    };
    String::new()
}

/// Result of the kernel selection of a point; `None` if there was no selection.
fn race(point: &Point) -> Option<&Choice> {
    point.outcome.measured()?.choice.as_ref()
}

/// True if kernel selection chose the kernel of a point. A table has no results of selections. It
/// shows a selection by the width `best`, or by the axis of requested threads.
fn is_chosen(point: &Point) -> bool {
    race(point).is_some()
        || point.name("width") == Some("best")
        || point.coordinates.contains_key(REQUESTED_THREADS)
}

/// The coordinates by which points are paired. The repetition is left out, and so are coordinates
/// that kernel selection chose. A name that consists of digits becomes a number, because a table
/// does not distinguish the two.
fn question(point: &Point) -> Coordinates {
    let mut left_out = vec![REPEAT];
    if is_chosen(point) {
        left_out.extend(OF_CHOICE);
        if point.coordinates.contains_key(REQUESTED_THREADS) {
            left_out.extend(OF_COUNT);
        }
    }
    let mut requested = without(&point.coordinates, &left_out);
    for coordinate in requested.values_mut() {
        if let Coordinate::Name(name) = coordinate
            && let Ok(number) = name.parse::<u64>()
            && number.to_string() == *name
        {
            *coordinate = Coordinate::Number(number);
        }
    }
    requested
}

/// Points of a dataset by the coordinates by which they are paired.
fn places(dataset: &Dataset) -> Places<'_> {
    let mut places = Places::new();
    for point in &dataset.points {
        places.entry(question(point)).or_default().push(point);
    }
    places
}

/// The coordinates by which points are paired, each once, in the order of the dataset.
fn in_order(dataset: &Dataset) -> Vec<Coordinates> {
    let mut seen = BTreeSet::new();
    dataset
        .points
        .iter()
        .map(question)
        .filter(|at| seen.insert(at.clone()))
        .collect()
}

/// Coordinates and their points, grouped by all axes except the axes of the kernel.
fn by_question(places: Places<'_>) -> BTreeMap<Coordinates, Vec<(Coordinates, Vec<&Point>)>> {
    let mut questions: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (at, points) in places {
        questions
            .entry(without(&at, &OF_CHOICE))
            .or_default()
            .push((at, points));
    }
    questions
}

/// Coordinates that all `points` share, without the axis of repetitions.
fn common<'a>(mut points: impl Iterator<Item = &'a &'a Point>) -> Coordinates {
    let first = points
        .next()
        .map(|p| without(&p.coordinates, &[REPEAT]))
        .unwrap_or_default();
    points.fold(first, |mut at, point| {
        at.retain(|axis, c| point.coordinates.get(axis) == Some(c));
        at
    })
}

fn without(coordinates: &Coordinates, axes: &[&str]) -> Coordinates {
    let kept = coordinates
        .iter()
        .filter(|(axis, _)| !axes.contains(&axis.as_str()));
    kept.map(|(axis, c)| (axis.clone(), c.clone())).collect()
}

/// Result of comparing the kernels of two points.
enum KernelMatch {
    /// The kernels have the same machine code.
    Same,
    /// Different kernels won in selections among the same candidates.
    Selected {
        /// Remark with the names of the winners.
        words: String,
        /// Speed of the faster winner divided by the speed of the other, according to the
        /// selections.
        apart: f64,
    },
    /// The kernels have different machine code. The text describes the difference.
    Different(String),
}

/// Machine code of each kernel of two reports, as [`report::KernelUsed::code`] identifies it.
#[derive(Default)]
struct KernelCodes<'a> {
    before: BTreeMap<&'a str, Option<&'a str>>,
    after: BTreeMap<&'a str, Option<&'a str>>,
    /// True if the same version of memgauge wrote both reports. Equal names then mean equal code.
    one_version: bool,
    /// True if one of the reports was read from a table, which names neither code nor selections.
    table: bool,
}

impl<'a> KernelCodes<'a> {
    fn collect(before: &'a Report, after: &'a Report) -> Self {
        let codes = |provenance: &'a Provenance| {
            provenance
                .kernels
                .iter()
                .map(|k| (k.name.as_str(), k.code()))
                .collect()
        };
        let one = &before.provenance;
        let other = &after.provenance;
        Self {
            before: codes(one),
            after: codes(other),
            one_version: one.tool == other.tool,
            table: one.is_unknown() || other.is_unknown(),
        }
    }

    /// Compares the kernels of two lists of points, neither of which is empty.
    fn between(&self, before: &[&Point], after: &[&Point]) -> KernelMatch {
        let [one, other] = [before, after].map(kernels);
        if let Some(words) = one
            .intersection(&other)
            .find_map(|kernel| self.differ(kernel))
        {
            return KernelMatch::Different(words);
        }
        let races: Option<Vec<&Choice>> = before.iter().chain(after).map(|p| race(p)).collect();
        let raced = races
            .as_deref()
            .and_then(apart)
            .filter(|_| one.union(&other).all(|kernel| self.known(kernel)));
        let list = |names: &BTreeSet<String>| {
            names
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(", ")
        };
        match raced {
            Some(apart) if apart > 1.0 || one != other => {
                let percent = (apart - 1.0) * 100.0;
                let words = match one == other {
                    true => format!(
                        "fastest was not always the same choice; {percent:.1}% apart in the selections"
                    ),
                    false => {
                        format!(
                            "fastest was {}, then {}; {percent:.1}% apart in the selections",
                            list(&one),
                            list(&other)
                        )
                    }
                };
                KernelMatch::Selected { words, apart }
            }
            None if one != other
                && self.table
                && before.iter().chain(after).all(|p| is_chosen(p)) =>
            {
                let words = format!(
                    "fastest was {}, then {}; a table does not say how far apart",
                    list(&one),
                    list(&other)
                );
                KernelMatch::Selected { words, apart: 1.0 }
            }
            None if one != other => KernelMatch::Different(format!(
                "different kernels: {} and {}",
                list(&one),
                list(&other)
            )),
            _ => KernelMatch::Same,
        }
    }

    /// Difference in the machine code of a kernel, in words; `None` if none is known.
    fn differ(&self, kernel: &str) -> Option<String> {
        match (self.before.get(kernel)?, self.after.get(kernel)?) {
            (Some(a), Some(b)) if a != b => {
                Some(format!("different machine code: {kernel} is {a} and {b}"))
            }
            _ => None,
        }
    }

    /// True if a kernel is known to have the same machine code in both reports.
    fn known(&self, kernel: &str) -> bool {
        let both = self.before.get(kernel).zip(self.after.get(kernel));
        self.one_version || both.is_some_and(|(a, b)| a.is_some() && a == b)
    }
}

/// Names of the kernels of `points`.
fn kernels(points: &[&Point]) -> BTreeSet<String> {
    points
        .iter()
        .map(|p| {
            p.coordinates
                .get(KERNEL)
                .map_or_else(|| "none".to_owned(), ToString::to_string)
        })
        .collect()
}

/// Speed of the fastest winner of the kernel selections `races` divided by the speed of the slowest
/// winner. The result comes from the selection that shows the largest difference. `None` if the
/// selections had different candidates.
fn apart(races: &[&Choice]) -> Option<f64> {
    let who = |c: &Candidate| {
        (
            c.kernel.clone(),
            c.prefetch_distance_bytes,
            c.threads,
            c.size_bytes,
        )
    };
    let field = |race: &&Choice| race.candidates.iter().map(who).collect::<BTreeSet<_>>();
    let (first, rest) = races.split_first()?;
    let ran = field(first);
    if ran.is_empty() || rest.iter().any(|race| field(race) != ran) {
        return None;
    }
    let winners: BTreeSet<_> = races
        .iter()
        .filter_map(|race| race.candidates.first())
        .map(who)
        .collect();
    let reached = |race: &Choice| -> Vec<f64> {
        race.candidates
            .iter()
            .filter(|c| winners.contains(&who(c)))
            .map(|c| c.median)
            .collect()
    };
    let distances = races.iter().map(|race| {
        let values = reached(race);
        let ends = values
            .iter()
            .fold((f64::INFINITY, 0.0f64), |(low, high), v| {
                (low.min(*v), high.max(*v))
            });
        ends.1 / ends.0
    });
    let most = distances.fold(1.0, f64::max);
    most.is_finite().then_some(most)
}
