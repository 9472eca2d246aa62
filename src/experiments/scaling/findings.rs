//! What curves of bandwidth over the number of threads show.

use crate::experiments::curve::{Saturation, capitalized, saturation, unique};
use crate::experiments::hierarchy::MEMORY;
use crate::results::{Dataset, Finding, Measured, Point, Summary};
use crate::units::Bytes;
use std::collections::BTreeMap;

/// Differences below this are not worth a word, whatever the intervals say.
const WORTH: f64 = 0.05;

/// Threads of which the slowest gets less than this of what the fastest gets are worth a word.
const UNFAIR: f64 = 0.8;

/// What is the same for all points that are compared with each other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group<'a> {
    kind: Option<&'a str>,
    level: &'a str,
    /// Where the user named sizes: a level may have several.
    size: Option<u64>,
    width: Option<&'a str>,
    pages: Option<&'a str>,
    repeat: Option<u64>,
}

impl<'a> Group<'a> {
    /// The group of a point. In memory the working set of a thread follows from how many there are.
    fn of(point: &'a Point) -> Self {
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

    /// `memory, cpus 0-15` and the like, to be said behind what was measured.
    fn text(&self) -> String {
        let level = match self.size {
            None => "memory".to_owned(),
            Some(size) => format!("{} ({} a thread)", self.level, Bytes(size)),
        };
        let kind = self.kind.filter(|kind| *kind != "all").map(|kind| format!(" on {kind}"));
        format!("{level}{}", kind.unwrap_or_default())
    }
}

/// The measured points of one group, operation by operation.
struct Curves<'a> {
    group: Group<'a>,
    points: Vec<(&'a Point, &'a Measured)>,
}

impl<'a> Curves<'a> {
    fn operations(&self) -> Vec<&'a str> {
        unique(self.points.iter().filter_map(|(point, _)| point.name("operation")))
    }

    /// The points of an operation and placement by rising count, without those of several threads on a CPU.
    fn curve(&self, operation: &str, placement: &str) -> Vec<(u64, &'a Point, &'a Measured)> {
        let belongs = |point: &Point| {
            point.name("operation") == Some(operation)
                && point.name("placement") == Some(placement)
                && point.number("per_cpu").is_none()
        };
        let here = self.points.iter().filter(|(point, _)| belongs(point));
        let mut curve: Vec<_> = here.filter_map(|(point, m)| Some((point.number("threads")?, *point, *m))).collect();
        curve.sort_by_key(|(threads, ..)| *threads);
        curve
    }

    fn placements(&self) -> Vec<&'a str> {
        unique(self.points.iter().filter_map(|(point, _)| point.name("placement")))
    }
}

/// What all curves of a dataset show, a sentence for each thing.
pub fn of(dataset: &Dataset) -> Vec<Finding> {
    let curves = groups(dataset);
    let of_group = |curves: &Curves<'_>| -> Vec<Finding> {
        let placements = curves.placements();
        let saturated = placements.iter().filter_map(|placement| saturated(curves, placement));
        let others = [siblings(curves), oversubscribed(curves), placed(curves), unfair(curves)];
        saturated.chain(others.into_iter().flatten()).collect()
    };
    curves.iter().flat_map(of_group).chain(of_kinds(&curves)).collect()
}

fn groups(dataset: &Dataset) -> Vec<Curves<'_>> {
    let measured = || dataset.points.iter().filter_map(|point| Some((point, point.outcome.measured()?)));
    let of = |group: Group<'_>| measured().filter(|(point, _)| Group::of(point) == group).collect();
    let groups = unique(measured().map(|(point, _)| Group::of(point)));
    groups.into_iter().map(|group| Curves { points: of(group.clone()), group }).collect()
}

fn gb(rate: f64) -> f64 {
    rate / 1e9
}

fn finding(kind: String, text: String, values: BTreeMap<String, f64>) -> Finding {
    Finding { kind, text, values }
}

fn summaries(curve: &[(u64, &Point, &Measured)]) -> Vec<(u64, Summary)> {
    curve.iter().map(|(threads, _, m)| (*threads, m.summary)).collect()
}

/// Where the curves of one placement come close to their best; needs two counts.
fn saturated(curves: &Curves<'_>, placement: &str) -> Option<Finding> {
    let mut words = Vec::new();
    let mut values = BTreeMap::new();
    for operation in curves.operations() {
        let curve = summaries(&curves.curve(operation, placement));
        let (Some(found), Some((most, _)), true) = (saturation(&curve), curve.last(), curve.len() > 1) else {
            continue;
        };
        let Saturation { threads, certain, reached, best, best_threads } = found;
        let about = if certain { "" } else { "about " };
        let at = format!("({:.1} GB/s with {best_threads})", gb(best));
        words.push(match words.is_empty() {
            true => format!(
                "{about}{threads} of {most} threads ({placement}) reach 95% of the highest {operation} bandwidth of {} {at}",
                curves.group.text()
            ),
            false => format!("{about}{threads} that of {operation} {at}"),
        });
        for (name, value) in [
            ("threads", threads as f64),
            ("certain", f64::from(u8::from(certain))),
            ("reached", reached),
            ("best", best),
            ("best_threads", best_threads as f64),
        ] {
            values.insert(format!("{operation}_{name}"), value);
        }
    }
    let text = format!("{}.", capitalized(&words.join(", ")));
    (!words.is_empty()).then(|| finding(format!("scaling-{placement}"), text, values))
}

/// How two figures compare: by how much the second is more, and whether that is beyond their intervals.
fn change(from: &Measured, to: &Measured) -> (f64, bool) {
    let (a, b) = (&from.summary, &to.summary);
    (b.median / a.median - 1.0, a.ci_high < b.ci_low || b.ci_high < a.ci_low)
}

/// `gain 12% (446.0 to 500.0 GB/s)`, `lose ...`, `change nothing`.
fn gain(from: &Measured, to: &Measured) -> String {
    let (share, apart) = change(from, to);
    let figures = format!("{:.1} GB/s to {:.1} GB/s", gb(from.summary.median), gb(to.summary.median));
    match () {
        () if !apart => format!("change nothing beyond the intervals ({figures})"),
        () if share > 0.0 => format!("gain {:.0}% ({figures})", share * 100.0),
        () => format!("lose {:.0}% ({figures})", -share * 100.0),
    }
}

/// One sentence over all operations of which `pair` finds two points.
fn compared<'a>(
    curves: &Curves<'a>,
    name: &str,
    pair: impl Fn(&str) -> Option<(&'a Measured, &'a Measured)>,
    start: &str,
) -> Option<Finding> {
    let mut words = Vec::new();
    let mut values = BTreeMap::new();
    for operation in curves.operations() {
        let Some((from, to)) = pair(operation) else { continue };
        words.push(format!("{operation}: {}", gain(from, to)));
        values.insert(operation.to_owned(), change(from, to).0);
    }
    let text = format!("{start} ({}): {}.", curves.group.text(), words.join("; "));
    (!words.is_empty()).then(|| finding(name.to_owned(), text, values))
}

/// What the second threads of the cores add: all threads against one on each core.
fn siblings(curves: &Curves<'_>) -> Option<Finding> {
    let pair = |operation: &str| {
        let curve = curves.curve(operation, "spread");
        let (_, all, with) = *curve.last()?;
        let cores = all.number("cores")?;
        let (.., without) =
            *curve.iter().find(|(threads, point, _)| *threads == cores && point.number("cores").is_none())?;
        Some((without, with))
    };
    compared(curves, "smt", pair, "All threads instead of one on each core")
}

/// What more threads than CPUs cost.
fn oversubscribed(curves: &Curves<'_>) -> Option<Finding> {
    let placement = *curves.placements().first()?;
    let pair = |operation: &str| {
        let crowd = curves.points.iter().find(|(point, _)| {
            let here = (point.name("operation"), point.name("placement")) == (Some(operation), Some(placement));
            here && point.number("per_cpu").is_some()
        });
        let (crowd, with) = crowd?;
        let cpus = crowd.number("threads")? / crowd.number("per_cpu")?.max(1);
        let curve = curves.curve(operation, placement);
        let (.., without) = *curve.iter().find(|(threads, ..)| *threads == cpus)?;
        Some((without, *with))
    };
    compared(curves, "oversubscription", pair, "Two threads on each cpu instead of one")
}

/// Where one placement is better than the other: the count with the largest difference beyond the intervals.
fn placed(curves: &Curves<'_>) -> Option<Finding> {
    let mut words = Vec::new();
    let mut values = BTreeMap::new();
    for operation in curves.operations() {
        let (spread, compact) = (curves.curve(operation, "spread"), curves.curve(operation, "compact"));
        let both = spread.iter().filter_map(|(threads, _, spread)| {
            let (.., compact) = compact.iter().find(|(n, ..)| n == threads)?;
            Some((*threads, *spread, *compact))
        });
        let both: Vec<_> = both.collect();
        if both.is_empty() {
            continue;
        }
        let differ = both.iter().filter(|(_, spread, compact)| {
            let (share, apart) = change(compact, spread);
            apart && share.abs() > WORTH
        });
        let by = |a: &Measured, b: &Measured| (a.summary.median / b.summary.median).ln().abs();
        let most = differ.max_by(|a, b| by(a.1, a.2).total_cmp(&by(b.1, b.2)));
        let Some((threads, spread, compact)) = most else {
            words.push(format!("{operation}: the same within 5%"));
            values.insert(operation.to_owned(), 1.0);
            continue;
        };
        let (a, b) = (spread.summary.median, compact.summary.median);
        words.push(format!(
            "{operation}: {:.2} times as much with {threads} threads ({:.1} GB/s against {:.1} GB/s)",
            a / b,
            gb(a),
            gb(b)
        ));
        values.insert(operation.to_owned(), a / b);
        values.insert(format!("{operation}_threads"), *threads as f64);
    }
    let text = format!("Spread against compact ({}): {}.", curves.group.text(), words.join("; "));
    (!words.is_empty()).then(|| finding("placement-of-threads".to_owned(), text, values))
}

/// The point whose threads share least evenly.
fn unfair(curves: &Curves<'_>) -> Option<Finding> {
    let shares = curves.points.iter().filter_map(|(point, m)| Some((*m.also.get("fairness")?, *point)));
    let (least, point) = shares.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(share, _)| *share < UNFAIR)?;
    let threads = point.number("threads")?;
    let text = format!(
        "Of {threads} threads ({} of {}, {}) the slowest gets {:.0}% of what the fastest gets.",
        point.name("operation")?,
        curves.group.text(),
        point.name("placement")?,
        least * 100.0
    );
    let values = BTreeMap::from([("fairness".to_owned(), least), ("threads".to_owned(), threads as f64)]);
    Some(finding("unfair".to_owned(), text, values))
}

/// What cores of each kind reach, one and all of them, with the first operation.
fn of_kinds(curves: &[Curves<'_>]) -> Option<Finding> {
    let mut words = Vec::new();
    let mut values = BTreeMap::new();
    for curves in curves.iter().filter(|c| c.group.level == MEMORY && c.group.kind.is_some_and(|kind| kind != "all")) {
        let operation = *curves.operations().first()?;
        let curve = curves.curve(operation, curves.placements().first()?);
        let ([(1, _, one), ..], Some((all, _, most))) = (&*curve, curve.last()) else { continue };
        let kind = curves.group.kind.unwrap_or_default();
        let (a, b) = (one.summary.median, most.summary.median);
        let one = format!("{kind} {operation} {:.1} GB/s with one thread", gb(a));
        words.push(format!("{one} and {:.1} GB/s with {all}", gb(b)));
        values.insert(format!("kind_{}_one", words.len()), a);
        values.insert(format!("kind_{}_all", words.len()), b);
    }
    let text = format!("Cores of {} kinds: {}.", words.len(), words.join("; "));
    (words.len() > 1).then(|| finding("kinds-of-cores".to_owned(), text, values))
}

/// What the highest bandwidth of `operation` in memory means for a language model of `size` of which every weight is
/// read once for a token; `None` where that was not measured.
pub fn model(dataset: &Dataset, size: Bytes, operation: &str, level: &str) -> Option<Finding> {
    let curves = groups(dataset).into_iter().filter(|c| c.group.level == level);
    let found = curves.flat_map(|c| {
        let of = |placement: &&str| saturation(&summaries(&c.curve(operation, placement)));
        c.placements().iter().filter_map(of).collect::<Vec<_>>()
    });
    let Saturation { threads, reached, best, .. } = found.max_by(|a, b| a.best.total_cmp(&b.best))?;
    let tokens = best / size.0 as f64;
    let plural = if threads == 1 { "" } else { "s" };
    let text = format!(
        "A language model with {:.1} GB of weights, each read once for a token, makes at most {tokens:.1} tokens/s: memory \
         sustains {:.1} GB/s, of which {threads} thread{plural} get {:.1} GB/s.",
        gb(size.0 as f64),
        gb(best),
        gb(reached)
    );
    let values = BTreeMap::from([
        ("model_bytes".to_owned(), size.0 as f64),
        ("tokens_per_second".to_owned(), tokens),
        ("sustained".to_owned(), best),
        ("threads".to_owned(), threads as f64),
    ]);
    Some(finding("tokens-per-second".to_owned(), text, values))
}
