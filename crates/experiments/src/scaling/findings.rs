//! Findings from curves of bandwidth over the number of threads.

use crate::curve::saturation;
use crate::difference::{ComparisonResult, Difference, Figure};
use crate::hierarchy::MEMORY;
use crate::series::{grouped, unique};
use report::{Dataset, Finding, Measured, Point};
use std::collections::BTreeMap;
use units::{Bytes, significant};

/// A smaller relative difference of two placements is no finding, even if the intervals show it.
const LEAST_DIFFERENCE: f64 = 0.05;

/// A fairness below this value is a finding. The fairness is the bandwidth of the slowest thread as
/// a share of the fastest thread's.
const UNFAIR: f64 = 0.8;

/// Coordinates that all compared points share.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CommonCoordinates<'a> {
    kind: Option<&'a str>,
    level: &'a str,
    /// Working set of a thread; `None` in memory. The size tells points of the same level apart.
    size: Option<u64>,
    width: Option<&'a str>,
    pages: Option<&'a str>,
    repeat: Option<u64>,
}

impl<'a> CommonCoordinates<'a> {
    /// The coordinates of `point` that compared points must share. In memory, the working set of a
    /// thread depends on the number of threads, so the size is left out.
    fn containing(point: &'a Point) -> Self {
        let level = point.name("level").unwrap_or_default();
        Self {
            kind: point.name("kind"),
            level,
            size: point.number("size_bytes").filter(|_| level != MEMORY),
            width: point.name("width"),
            pages: point.name("pages"),
            repeat: point.number("repeat"),
        }
    }

    /// The coordinates as words for the end of a sentence: `memory on cpus 0-15`.
    fn text(&self) -> String {
        let level = match self.size {
            None => "memory".to_owned(),
            Some(size) => format!("{} ({} a thread)", self.level, Bytes(size)),
        };
        let kind = self
            .kind
            .filter(|kind| *kind != "all")
            .map(|kind| format!(" on {kind}"));
        format!("{level}{}", kind.unwrap_or_default())
    }
}

/// The usable points that have the same common coordinates.
struct ComparedPoints<'a> {
    group: CommonCoordinates<'a>,
    points: Vec<(&'a Point, &'a Measured)>,
}

impl<'a> ComparedPoints<'a> {
    fn operations(&self) -> Vec<&'a str> {
        unique(
            self.points
                .iter()
                .filter_map(|(point, _)| point.name("operation")),
        )
    }

    /// Points of an operation and placement by rising number of threads. Points with several
    /// threads on a CPU are left out.
    fn curve(&self, operation: &str, placement: &str) -> Vec<(u64, &'a Point, &'a Measured)> {
        let belongs = |point: &Point| {
            point.name("operation") == Some(operation)
                && point.name("placement") == Some(placement)
                && point.number("per_cpu").is_none()
        };
        let here = self.points.iter().filter(|(point, _)| belongs(point));
        let mut curve: Vec<_> = here
            .filter_map(|(point, m)| Some((point.number("threads")?, *point, *m)))
            .collect();
        curve.sort_by_key(|(threads, ..)| *threads);
        curve
    }

    fn placements(&self) -> Vec<&'a str> {
        unique(
            self.points
                .iter()
                .filter_map(|(point, _)| point.name("placement")),
        )
    }
}

/// Findings of all curves of a dataset.
pub fn findings(dataset: &Dataset) -> Vec<Finding> {
    let curves = groups(dataset);
    let of_group = |curves: &ComparedPoints<'_>| -> Vec<Finding> {
        let placements = curves.placements();
        let saturated = placements
            .iter()
            .filter_map(|placement| saturated(curves, placement));
        let others = [
            siblings(curves),
            oversubscribed(curves),
            placed(curves),
            unfair(curves),
        ];
        saturated.chain(others.into_iter().flatten()).collect()
    };
    curves
        .iter()
        .flat_map(of_group)
        .chain(of_kinds(&curves))
        .collect()
}

fn groups(dataset: &Dataset) -> Vec<ComparedPoints<'_>> {
    let measured = dataset
        .points
        .iter()
        .filter_map(|point| Some((point, point.usable()?)));
    grouped(measured, |(point, _)| CommonCoordinates::containing(point))
        .into_iter()
        .map(|(group, points)| ComparedPoints { group, points })
        .collect()
}

fn gb(rate: f64) -> f64 {
    rate / 1e9
}

fn figures<'a>(curve: &[(u64, &'a Point, &'a Measured)]) -> Vec<(u64, Figure<'a>)> {
    curve
        .iter()
        .filter_map(|(threads, point, _)| Some((*threads, Figure::new(point)?)))
        .collect()
}

/// Finding about the number of threads at which the curves of one placement saturate. `None` if the
/// intervals of no curve show it.
fn saturated(curves: &ComparedPoints<'_>, placement: &str) -> Option<Finding> {
    let mut words = Vec::new();
    let mut values = BTreeMap::new();
    let mut points = Vec::new();
    for operation in curves.operations() {
        let curve = figures(&curves.curve(operation, placement));
        let (Some(found), Some((most, _))) = (saturation(&curve), curve.last()) else {
            continue;
        };
        let at = format!("({:.1} GB/s with {})", gb(found.best), found.best_threads);
        let count = found.count();
        words.push(match words.is_empty() {
            true => format!(
                "{count} of {most} threads ({placement}) {} 95% of the highest {operation} \
                 bandwidth of {} {at}",
                found.reach(),
                curves.group.text()
            ),
            false => format!("for {operation} {count} {at}"),
        });
        for (name, value) in [
            ("threads", found.at_most as f64),
            ("threads_at_least", found.at_least as f64),
            ("reached", found.reached),
            ("best", found.best),
            ("best_threads", found.best_threads as f64),
        ] {
            values.insert(format!("{operation}_{name}"), value);
        }
        points.extend(found.points);
    }
    let text = format!("{}.", words.join(", "));
    Some(Finding::resting_on(points, &format!("scaling-{placement}"), text)?.with(values))
}

/// Text about `difference`: `gain 12% (446.0 GB/s to 500.0 GB/s)`, `lose ...`, or `the same within
/// 5% ...`. `None` if the intervals show neither a difference nor equality.
fn gain(difference: &Difference<'_>) -> Option<String> {
    let share = (difference.ratio() - 1.0) * 100.0;
    let figures = format!(
        "{:.1} GB/s to {:.1} GB/s",
        gb(difference.from.value),
        gb(difference.to.value)
    );
    match difference.shows() {
        ComparisonResult::Nothing => None,
        ComparisonResult::Same => Some(format!("the same within 5% ({figures})")),
        ComparisonResult::Higher => Some(format!("gain {share:.0}% ({figures})")),
        ComparisonResult::Lower => Some(format!("lose {:.0}% ({figures})", -share)),
    }
}

/// One finding about all operations for which `pair` finds two points whose intervals allow a
/// comparison. `name` is the kind of the finding, and `start` begins its text.
fn compared<'a>(
    curves: &ComparedPoints<'a>,
    name: &str,
    pair: impl Fn(&str) -> Option<(&'a Point, &'a Point)>,
    start: &str,
) -> Option<Finding> {
    let mut words = Vec::new();
    let mut values = BTreeMap::new();
    let mut points = Vec::new();
    for operation in curves.operations() {
        let Some(difference) = pair(operation).and_then(|(from, to)| Difference::between(from, to))
        else {
            continue;
        };
        let Some(gain) = gain(&difference) else {
            continue;
        };
        words.push(format!("{operation}: {gain}"));
        values.insert(operation.to_owned(), difference.ratio() - 1.0);
        points.extend(difference.points());
    }
    let text = format!("{start} ({}): {}.", curves.group.text(), words.join("; "));
    Some(Finding::resting_on(points, name, text)?.with(values))
}

/// Finding about the gain if all hardware threads of each core work instead of one.
fn siblings(curves: &ComparedPoints<'_>) -> Option<Finding> {
    let pair = |operation: &str| {
        let curve = curves.curve(operation, "spread");
        let (_, with, _) = *curve.last()?;
        let cores = with.number("cores")?;
        let (_, without, _) = *curve
            .iter()
            .find(|(threads, point, _)| *threads == cores && point.number("cores").is_none())?;
        Some((without, with))
    };
    compared(
        curves,
        "smt",
        pair,
        "All threads instead of one on each core",
    )
}

/// Finding about the cost of more threads than CPUs.
fn oversubscribed(curves: &ComparedPoints<'_>) -> Option<Finding> {
    let placement = *curves.placements().first()?;
    let pair = |operation: &str| {
        let crowd = curves.points.iter().find(|(point, _)| {
            let here = (point.name("operation"), point.name("placement"))
                == (Some(operation), Some(placement));
            here && point.number("per_cpu").is_some()
        });
        let (crowd, _) = *crowd?;
        let cpus = crowd.number("threads")? / crowd.number("per_cpu")?.max(1);
        let curve = curves.curve(operation, placement);
        let (_, without, _) = *curve.iter().find(|(threads, ..)| *threads == cpus)?;
        Some((without, crowd))
    };
    compared(
        curves,
        "oversubscription",
        pair,
        "Two threads on each CPU instead of one",
    )
}

/// Finding that compares spread with compact placement. It takes the number of threads with the
/// largest difference that the intervals show. An operation is left out if the intervals show
/// neither a difference nor that the placements are the same.
fn placed(curves: &ComparedPoints<'_>) -> Option<Finding> {
    let mut words = Vec::new();
    let mut values = BTreeMap::new();
    let mut points = Vec::new();
    for operation in curves.operations() {
        let spread = curves.curve(operation, "spread");
        let compact = curves.curve(operation, "compact");
        let both = spread.iter().filter_map(|(threads, spread, _)| {
            let (_, compact, _) = compact.iter().find(|(n, ..)| n == threads)?;
            Some((*threads, Difference::between(compact, spread)?))
        });
        let both: Vec<(u64, Difference<'_>)> = both.collect();
        let differ = both
            .iter()
            .filter(|(_, d)| d.is_shown() && (d.ratio() - 1.0).abs() > LEAST_DIFFERENCE);
        let size = |d: &Difference<'_>| d.ratio().ln().abs();
        let Some((threads, most)) = differ.max_by(|a, b| size(&a.1).total_cmp(&size(&b.1))) else {
            if !both.is_empty()
                && both
                    .iter()
                    .all(|(_, d)| d.shows() == ComparisonResult::Same)
            {
                words.push(format!("{operation}: the same within 5%"));
                values.insert(operation.to_owned(), 1.0);
                points.extend(both.iter().flat_map(|(_, d)| d.points()));
            }
            continue;
        };
        words.push(format!(
            "{operation}: {} times as much with {threads} threads ({:.1} GB/s against {:.1} GB/s)",
            significant(most.ratio()),
            gb(most.to.value),
            gb(most.from.value)
        ));
        values.insert(operation.to_owned(), most.ratio());
        values.insert(format!("{operation}_threads"), *threads as f64);
        points.extend(most.points());
    }
    let text = format!(
        "Spread against compact ({}): {}.",
        curves.group.text(),
        words.join("; ")
    );
    Some(Finding::resting_on(points, "placement-of-threads", text)?.with(values))
}

/// Finding about the point with the lowest fairness. `None` if no fairness is below [`UNFAIR`].
fn unfair(curves: &ComparedPoints<'_>) -> Option<Finding> {
    let shares = curves
        .points
        .iter()
        .filter_map(|(point, m)| Some((*m.also.get("fairness")?, *point)));
    let (least, point) = shares
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(share, _)| *share < UNFAIR)?;
    let threads = point.number("threads")?;
    let text = format!(
        "Of {threads} threads ({} of {}, {}) the slowest gets {:.0}% of what the fastest gets.",
        point.name("operation")?,
        curves.group.text(),
        point.name("placement")?,
        least * 100.0
    );
    let values = BTreeMap::from([
        ("fairness".to_owned(), least),
        ("threads".to_owned(), threads as f64),
    ]);
    Some(Finding::resting_on([point], "unfair", text)?.with(values))
}

/// Finding about the bandwidth of memory with one core and with all cores of each kind, for the
/// first operation. `None` for fewer than two kinds.
fn of_kinds(curves: &[ComparedPoints<'_>]) -> Option<Finding> {
    let mut words = Vec::new();
    let mut values = BTreeMap::new();
    let mut points = Vec::new();
    for curves in curves
        .iter()
        .filter(|c| c.group.level == MEMORY && c.group.kind.is_some_and(|kind| kind != "all"))
    {
        let operation = *curves.operations().first()?;
        let curve = curves.curve(operation, curves.placements().first()?);
        let ([(1, of_one, one), ..], Some((all, of_all, most))) = (&*curve, curve.last()) else {
            continue;
        };
        let kind = curves.group.kind.unwrap_or_default();
        let a = one.summary.median;
        let b = most.summary.median;
        let one = format!("{kind} {operation} {:.1} GB/s with one thread", gb(a));
        words.push(format!("{one} and {:.1} GB/s with {all}", gb(b)));
        values.insert(format!("kind_{}_one", words.len()), a);
        values.insert(format!("kind_{}_all", words.len()), b);
        points.extend([*of_one, *of_all]);
    }
    let text = format!("Cores of {} kinds: {}.", words.len(), words.join("; "));
    let finding = Finding::resting_on(points, "kinds-of-cores", text)?.with(values);
    (words.len() > 1).then_some(finding)
}

/// Finding about the tokens per second of a language model with `size` bytes of weights. The rate
/// is the highest bandwidth of `operation` at `level`, divided by `size`. Each token reads each
/// weight once. `None` if this bandwidth was not measured.
pub fn model(dataset: &Dataset, size: Bytes, operation: &str, level: &str) -> Option<Finding> {
    let of_level: Vec<ComparedPoints<'_>> = groups(dataset)
        .into_iter()
        .filter(|c| c.group.level == level)
        .collect();
    let curves = of_level.iter().flat_map(|c| {
        c.placements()
            .into_iter()
            .map(|placement| figures(&c.curve(operation, placement)))
            .collect::<Vec<_>>()
    });
    let highest = |curve: &[(u64, Figure<'_>)]| {
        curve
            .iter()
            .map(|(_, figure)| figure.value)
            .fold(0.0, f64::max)
    };
    let curve = curves.max_by(|a, b| highest(a).total_cmp(&highest(b)))?;
    let (best_threads, best) = curve
        .iter()
        .max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let tokens = best.value / size.0 as f64;
    let enough = saturation(&curve);
    let count = enough
        .as_ref()
        .map_or(best_threads.to_string(), |found| found.count());
    let threads = enough.as_ref().map_or(*best_threads, |found| found.at_most);
    let reached = enough.as_ref().map_or(best.value, |found| found.reached);
    let get = if threads == 1 {
        "thread gets"
    } else {
        "threads get"
    };
    let text = format!(
        "A language model with {:.1} GB of weights, each read once for a token, makes at most \
         {tokens:.1} tokens/s: memory sustains {:.1} GB/s, and {count} {get} {:.1} GB/s.",
        gb(size.0 as f64),
        gb(best.value),
        gb(reached)
    );
    let values = BTreeMap::from([
        ("model_bytes".to_owned(), size.0 as f64),
        ("tokens_per_second".to_owned(), tokens),
        ("sustained".to_owned(), best.value),
        ("threads".to_owned(), threads as f64),
    ]);
    let points = best
        .points
        .iter()
        .copied()
        .chain(enough.iter().flat_map(|found| found.points.iter().copied()));
    Some(Finding::resting_on(points, "tokens-per-second", text)?.with(values))
}
