//! Figures of a point as tables show them, and which datasets a summary rests on.

use report::{Coordinate, Dataset, Measured, Outcome, Point, Report, VerdictGrade};
use units::{Bytes, fixed, significant};

/// Bandwidth by level, operation and threads, or latency by level: the datasets of the experiment
/// of that name.
pub(super) fn datasets_of<'a>(
    report: &'a Report,
    quantity: &'a str,
) -> impl Iterator<Item = &'a Dataset> {
    report
        .datasets
        .iter()
        .filter(move |d| d.experiment == quantity && d.quantity.name == quantity)
}

/// Whether a latency is the one that is meant by default: of one thread, of a chain in random order
/// over all of its memory.
pub(super) fn is_plain_latency(point: &Point) -> bool {
    let alone = point.number("threads").is_none_or(|threads| threads == 1);
    alone
        && point
            .name("chain_mode")
            .is_none_or(|mode| mode == "global-random")
}

/// The factor from a base unit to the one that tables use, and that one's name.
pub(super) fn table_unit(unit: &str) -> (f64, &str) {
    match unit {
        "B/s" => (1e-9, "GB/s"),
        "1/s" => (1e-6, "million/s"),
        other => (1.0, other),
    }
}

/// The headline of a point in `factor` times its unit, marked `?` where doubtful and `!` where
/// rejected, or `-`.
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

/// Mark behind a number that is not solid.
pub(super) fn mark(grade: VerdictGrade) -> &'static str {
    match grade {
        VerdictGrade::Solid => "",
        VerdictGrade::Doubtful => "?",
        VerdictGrade::Rejected => "!",
    }
}

/// Half the confidence interval of the median in percent of it; none from fewer than two clean
/// samples, and where nothing is known of the interval.
pub(super) fn spread(measured: &Measured) -> Option<f64> {
    let s = &measured.summary;
    let (low, high) = s.interval()?;
    let percent = (high - low) / 2.0 / s.median * 100.0;
    (s.undisturbed_samples >= 2 && percent.is_finite()).then_some(percent.abs())
}

/// How much of its limit a point reaches, in percent: bandwidth of the bound above, latency's bound
/// below of it.
pub(super) fn share(measured: &Measured, higher_is_better: bool) -> Option<f64> {
    let limit = measured.limit.as_ref()?.value;
    let value = measured.summary.median;
    let share = if higher_is_better {
        value / limit
    } else {
        limit / value
    };
    (share.is_finite() && share > 0.0).then_some(share * 100.0)
}

/// A percentage without a decimal where it is not needed.
pub(super) fn percent(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(v) if v >= 9.95 => format!("{v:.0}"),
        Some(v) => fixed(v, 1),
    }
}

/// The word on a point: its trust, or what became of it instead of a number.
pub(super) fn trust(point: &Point) -> &'static str {
    match &point.outcome {
        Outcome::Measured(m) => m.verdict.grade.word(),
        other => other.status(),
    }
}

/// The best of several points of one kind: measured before not measured, not rejected before
/// rejected, then by value.
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

/// Whether an axis counts bytes.
fn is_bytes(axis: &str) -> bool {
    axis.ends_with("_bytes")
}

/// The heading of an axis.
pub(super) fn axis_title(axis: &str) -> String {
    axis.strip_suffix("_bytes")
        .unwrap_or(axis)
        .replace('_', " ")
}

/// A coordinate as people read it.
pub(super) fn coordinate(axis: &str, coordinate: &Coordinate) -> String {
    match coordinate {
        Coordinate::Number(n) if is_bytes(axis) => Bytes(*n).to_string(),
        other => super::text::shorten(&other.to_string(), 32),
    }
}

/// The axes along which points of `dataset` differ or that some lack, in the order of its axes,
/// then of names. The kernel is shown where the dataset names it: elsewhere it follows from the
/// other axes.
pub(super) fn varying_axes(dataset: &Dataset) -> Vec<&str> {
    let named = |axis: &&str| *axis != "kernel" || dataset.axes.iter().any(|a| a.name == "kernel");
    axes(dataset)
        .into_iter()
        .filter(|axis| distinct(dataset, axis) > 1)
        .filter(named)
        .collect()
}

/// The axes on which all points share one coordinate, with it.
pub(super) fn fixed_axes(dataset: &Dataset) -> Vec<(&str, &Coordinate)> {
    let only = |axis| dataset.points.first().and_then(|p| p.coordinates.get(axis));
    let one = axes(dataset)
        .into_iter()
        .filter(|axis| distinct(dataset, axis) == 1);
    one.filter_map(|axis| Some((axis, only(axis)?))).collect()
}

/// How many different coordinates points have on an axis, having none counted as one.
fn distinct(dataset: &Dataset, axis: &str) -> usize {
    let all: std::collections::BTreeSet<_> = dataset
        .points
        .iter()
        .map(|p| p.coordinates.get(axis))
        .collect();
    all.len()
}

/// Every axis of a dataset: those it names, then those that only its points know.
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
