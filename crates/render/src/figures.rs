//! Figures of a point as tables show them, and the choice of points for a summary.

pub(super) use report::printed_unit;

use report::{Coordinate, Dataset, Measured, Outcome, Point, Report, VerdictGrade};
use units::{Bytes, fixed, significant};

/// Datasets whose experiment and quantity have the name `quantity`: `bandwidth` or `latency`.
pub(super) fn datasets_of<'a>(
    report: &'a Report,
    quantity: &'a str,
) -> impl Iterator<Item = &'a Dataset> {
    report
        .datasets
        .iter()
        .filter(move |d| d.experiment == quantity && d.quantity.name == quantity)
}

/// True for a latency of the default kind: one thread, and a chain in random order through all of
/// its memory.
pub(super) fn is_plain_latency(point: &Point) -> bool {
    let alone = point.number("threads").is_none_or(|threads| threads == 1);
    alone
        && point
            .name("chain_mode")
            .is_none_or(|mode| mode == "global-random")
}

/// Median of a point times `factor`, marked `?` if doubtful and `!` if rejected; `-` without a
/// number.
pub(super) fn value(point: Option<&Point>, factor: f64) -> String {
    match point.and_then(|p| p.outcome.measured()) {
        None => "-".to_owned(),
        Some(m) => format!(
            "{}{}",
            significant(m.summary.median * factor),
            mark(m.verdict.grade)
        ),
    }
}

/// Mark of a grade, which follows a number; empty for a solid number.
pub(super) fn mark(grade: VerdictGrade) -> &'static str {
    match grade {
        VerdictGrade::Solid => "",
        VerdictGrade::Doubtful => "?",
        VerdictGrade::Rejected => "!",
    }
}

/// Half the width of the median's confidence interval, in percent of the median. `None` if there
/// are fewer than two undisturbed samples, or if the interval is unknown.
pub(super) fn spread(measured: &Measured) -> Option<f64> {
    let s = &measured.summary;
    let (low, high) = s.interval()?;
    let percent = (high - low) / 2.0 / s.median * 100.0;
    (s.undisturbed_samples >= 2 && percent.is_finite()).then_some(percent.abs())
}

/// Percentage of its limit that a point reaches. It is the value divided by the limit if more is
/// better, otherwise the limit divided by the value. The value is the undisturbed value if it is
/// known, otherwise the median. `None` without a limit.
///
/// The limit is that of the session's median core clock. An undisturbed value beyond the limit had
/// another clock, so the median takes its place.
pub(super) fn share(measured: &Measured, higher_is_better: bool) -> Option<f64> {
    let limit = measured.limit.as_ref()?;
    let share = |value: f64| {
        if higher_is_better {
            value / limit.value
        } else {
            limit.value / value
        }
    };
    let share = measured
        .undisturbed()
        .map(share)
        .filter(|share| *share <= limit.tolerance)
        .unwrap_or_else(|| share(measured.summary.median));
    (share.is_finite() && share > 0.0).then_some(share * 100.0)
}

/// A number in percent, with a decimal if it is below 10; empty for `None`.
pub(super) fn percent(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(v) if v >= 9.95 => format!("{v:.0}"),
        Some(v) => fixed(v, 1),
    }
}

/// Word for a point: the grade of its number, or its status if it has no number.
pub(super) fn trust(point: &Point) -> &'static str {
    match &point.outcome {
        Outcome::Measured(m) => m.verdict.grade.word(),
        other => other.status(),
    }
}

/// The best of several points of one kind. Measured points come before points without a number, and
/// rejected points after other measured points. Then the better value decides. `None` if there are
/// no points.
pub(super) fn best<'a>(
    points: impl Iterator<Item = &'a Point>,
    higher_is_better: bool,
) -> Option<&'a Point> {
    let rank = |point: &Point| match point.outcome.measured() {
        None => (0, 0.0),
        Some(m) => {
            let class = if m.verdict.grade == VerdictGrade::Rejected {
                1
            } else {
                2
            };
            (
                class,
                if higher_is_better {
                    m.summary.median
                } else {
                    -m.summary.median
                },
            )
        }
    };
    points.reduce(|a, b| {
        let x = rank(a);
        let y = rank(b);
        if y.0.cmp(&x.0).then(y.1.total_cmp(&x.1)).is_gt() {
            b
        } else {
            a
        }
    })
}

/// True if coordinates on the axis are in bytes.
fn is_bytes(axis: &str) -> bool {
    axis.ends_with("_bytes")
}

/// Heading of an axis.
pub(super) fn axis_title(axis: &str) -> String {
    axis.strip_suffix("_bytes")
        .unwrap_or(axis)
        .replace('_', " ")
}

/// A coordinate in words, for people.
pub(super) fn coordinate(axis: &str, coordinate: &Coordinate) -> String {
    match coordinate {
        Coordinate::Number(n) if is_bytes(axis) => Bytes(*n).to_string(),
        other => super::text::shorten(&other.to_string(), 32),
    }
}

/// Axes on which points of `dataset` differ: first its own axes, then others by name. A missing
/// coordinate differs from all others. The kernel counts only if it is one of the dataset's own
/// axes, because elsewhere it follows from the other axes.
pub(super) fn varying_axes(dataset: &Dataset) -> Vec<&str> {
    let named = |axis: &&str| *axis != "kernel" || dataset.axes.iter().any(|a| a.name == "kernel");
    axes(dataset)
        .into_iter()
        .filter(|axis| distinct(dataset, axis) > 1)
        .filter(named)
        .collect()
}

/// Axes on which all points share one coordinate, with that coordinate.
pub(super) fn fixed_axes(dataset: &Dataset) -> Vec<(&str, &Coordinate)> {
    let only = |axis| dataset.points.first().and_then(|p| p.coordinates.get(axis));
    let one = axes(dataset)
        .into_iter()
        .filter(|axis| distinct(dataset, axis) == 1);
    one.filter_map(|axis| Some((axis, only(axis)?))).collect()
}

/// Number of distinct coordinates on an axis. A missing coordinate counts as a coordinate of its
/// own.
fn distinct(dataset: &Dataset, axis: &str) -> usize {
    let all: std::collections::BTreeSet<_> = dataset
        .points
        .iter()
        .map(|p| p.coordinates.get(axis))
        .collect();
    all.len()
}

/// All axes of a dataset: its own axes, then further axes of its points by name.
fn axes(dataset: &Dataset) -> Vec<&str> {
    let mut axes: Vec<&str> = dataset.axes.iter().map(|a| a.name.as_str()).collect();
    let mut others: Vec<&str> = dataset
        .points
        .iter()
        .flat_map(|p| p.coordinates.keys().map(String::as_str))
        .collect();
    others.sort_unstable();
    axes.extend(others);
    let mut seen = std::collections::BTreeSet::new();
    axes.retain(|axis| seen.insert(*axis));
    axes
}
