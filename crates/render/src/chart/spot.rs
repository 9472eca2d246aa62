//! Measured points, ready to be drawn.

use crate::figures::{axis_title, coordinate};
use crate::text::{clean, shorten};
use report::{Coordinate, Dataset, Finding, Point, VerdictGrade};

/// A measured point at its position in a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChartPoint {
    /// Value on the horizontal axis. On an axis of names, the index of the name.
    pub(crate) x: f64,
    /// Lower end of the confidence interval of `x` if it was measured, otherwise `x`.
    pub(crate) x_low: f64,
    /// Upper end of the confidence interval of `x` if it was measured, otherwise `x`.
    pub(crate) x_high: f64,
    /// Median in the unit of the chart.
    pub(crate) y: f64,
    /// Lower end of the confidence interval of `y`.
    pub(crate) low: f64,
    /// Upper end of the confidence interval of `y`.
    pub(crate) high: f64,
    /// Number of undisturbed samples.
    pub(crate) samples: u64,
    /// Grade of the verdict.
    pub(crate) grade: VerdictGrade,
    /// Coordinates of the point and reasons for doubt, without control characters.
    pub(crate) words: String,
}

/// The points of one quantity in one of several reports.
pub(crate) struct Part<'a> {
    /// Index of the report among the drawn reports.
    pub(crate) report: usize,
    /// Dataset of the quantity in that report.
    pub(crate) dataset: &'a Dataset,
    /// Findings of that report.
    pub(crate) findings: &'a [Finding],
}

/// All measured points of `parts`.
pub(super) fn measured<'a>(parts: &'a [Part<'_>]) -> impl Iterator<Item = &'a Point> {
    parts
        .iter()
        .flat_map(|part| &part.dataset.points)
        .filter(|p| p.outcome.measured().is_some())
}

/// Makes a chart point of `point` at `x`, with its values multiplied by `factor`. `None` if it has
/// no number.
pub(super) fn spot(point: &Point, x: f64, factor: f64) -> Option<ChartPoint> {
    let m = point.outcome.measured()?;
    let at: Vec<String> = point
        .coordinates
        .iter()
        .map(|(axis, c)| format!("{} {}", clean(&axis_title(axis)), coordinate(axis, c)))
        .collect();
    let why = m.verdict.text();
    let against = if why.is_empty() {
        String::new()
    } else {
        format!("; {why}")
    };
    let spot = ChartPoint {
        x,
        x_low: x,
        x_high: x,
        y: m.summary.median * factor,
        low: m.summary.ci_low * factor,
        high: m.summary.ci_high * factor,
        samples: m.summary.undisturbed_samples,
        grade: m.verdict.grade,
        words: shorten(&format!("{}{against}", at.join(", ")), 400),
    };
    [spot.x, spot.y, spot.low, spot.high]
        .iter()
        .all(|v| v.is_finite())
        .then_some(spot)
}

/// A coordinate as a number for an axis; `None` if it is a name.
pub(super) fn number(coordinate: Option<&Coordinate>) -> Option<f64> {
    match coordinate {
        Some(Coordinate::Number(n)) => Some(*n as f64),
        _ => None,
    }
}
