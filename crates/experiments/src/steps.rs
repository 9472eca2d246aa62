//! Findings about steps in a curve of values over sizes. A step shows where a level of the
//! hierarchy ends.

use crate::difference::{Difference, Figure};
use report::{Dataset, Finding, Point};
use stats::{self, Knee};
use std::collections::BTreeMap;
use units::Bytes;

/// A step counts only if the values of the curve before and after it differ by at least this share.
const STEP: f64 = 0.2;

/// A curve needs at least this many sizes for a search of steps.
const FEWEST_SIZES: usize = 8;

/// Number of points on each side of a step whose intervals must show the step.
const POINTS_PER_SIDE: usize = 2;

/// A curve over sizes with its steps.
struct Stepped<'a> {
    /// Points by rising size.
    points: Vec<(Bytes, &'a Point)>,
    /// The steps of the curve; at least one.
    knees: Vec<Knee>,
}

/// The curve of the points that `belongs` accepts, with the steps that the intervals show. `None`
/// if there are too few sizes or no step.
fn knees(dataset: &Dataset, belongs: impl Fn(&Point) -> bool) -> Option<Stepped<'_>> {
    let placed = |p| Some((Point::number(p, "size_bytes")?, p)).filter(|_| p.usable().is_some());
    // If several points have the same size (repeats), the curve has the last of them.
    let curve: BTreeMap<u64, &Point> = dataset
        .points
        .iter()
        .filter(|p| belongs(p))
        .filter_map(placed)
        .collect();
    if curve.len() < FEWEST_SIZES {
        return None;
    }
    let x: Vec<f64> = curve.keys().map(|&size| size as f64).collect();
    let y: Vec<f64> = curve
        .values()
        .filter_map(|p| Some(p.usable()?.summary.median))
        .collect();
    let mut knees = stats::knees(&x, &y, STEP);
    let points: Vec<(Bytes, &Point)> = curve
        .into_iter()
        .map(|(size, point)| (Bytes(size), point))
        .collect();
    knees.retain(|knee| is_shown(&points, knee));
    (!knees.is_empty()).then_some(Stepped { points, knees })
}

/// True if the intervals of the points around `knee` show that it is a step.
fn is_shown(points: &[(Bytes, &Point)], knee: &Knee) -> bool {
    let before = &points[knee.index.saturating_sub(POINTS_PER_SIDE)..knee.index];
    let after = &points[knee.settled..points.len().min(knee.settled + POINTS_PER_SIDE)];
    let both = mean(before).zip(mean(after));
    both.is_some_and(|(from, to)| Difference { from, to }.is_shown())
}

fn mean<'a>(part: &[(Bytes, &'a Point)]) -> Option<Figure<'a>> {
    Figure::mean(
        &part
            .iter()
            .filter_map(|(_, point)| Figure::new(point))
            .collect::<Vec<Figure<'a>>>(),
    )
}

/// Finding about the sizes after which the values of the curve change in a step. The text of the
/// finding calls the values `what`. `belongs` accepts the points of the curve. `None` if there are
/// too few sizes or no step.
pub fn steps(dataset: &Dataset, what: &str, belongs: impl Fn(&Point) -> bool) -> Option<Finding> {
    let Stepped { points, knees } = knees(dataset, belongs)?;
    let mut values = BTreeMap::new();
    let mut words = Vec::new();
    for knee in knees {
        let (last, _) = points.get(knee.index.checked_sub(1)?)?;
        words.push(format!("{last} ({:.2} times)", knee.ratio()));
        values.insert(format!("step_after_{}_bytes", last.0), knee.ratio());
    }
    let text = format!("{what} changes after {}.", words.join(", "));
    Some(Finding::shown_by(points.iter().map(|(_, point)| *point), "steps", text)?.with(values))
}

/// Finding about the sizes between which latency rises or falls in a step. `belongs` accepts the
/// points of the curve. `None` if there are too few sizes or no step.
pub fn rises(dataset: &Dataset, belongs: impl Fn(&Point) -> bool) -> Option<Finding> {
    let Stepped { points, knees } = knees(dataset, belongs)?;
    let mut values = BTreeMap::new();
    let mut words = Vec::new();
    for knee in knees {
        let passed = points.get(knee.index.checked_sub(1)?..=knee.settled)?;
        let (last, _) = passed.first()?;
        let (next, _) = passed.last()?;
        let verb = if knee.after > knee.before {
            "rises"
        } else {
            "falls"
        };
        let ends = ended(passed.iter().filter_map(|(_, point)| point.name("level")));
        words.push(format!(
            "{verb} from {:.1} to {:.1} ns between {last} and {next}{ends}",
            knee.before, knee.after
        ));
        values.insert(format!("step_after_{}_bytes", last.0), knee.ratio());
        values.insert(format!("ns_from_{}_bytes", next.0), knee.after);
    }
    let text = format!("Latency {}.", words.join(", "));
    Some(
        Finding::shown_by(
            points.iter().map(|(_, point)| *point),
            "latency-steps",
            text,
        )?
        .with(values),
    )
}

/// The caches that end along `levels`, as text: ` (L1 ends)`. `levels` has the level of the
/// hierarchy for each point, by rising size. The level of the last point does not end.
fn ended<'a>(levels: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = levels.collect();
    let last = names.last().copied();
    names.dedup();
    names.retain(|&name| Some(name) != last && name.starts_with('L'));
    match names[..] {
        [] => String::new(),
        [one] => format!(" ({one} ends)"),
        _ => format!(" ({} end)", names.join(" and ")),
    }
}
