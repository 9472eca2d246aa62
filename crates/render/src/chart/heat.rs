//! Heat maps of values between two ends, such as CPUs or nodes. Rows stand for one end, columns for
//! the other.

use super::spot::{ChartPoint, Part, spot};
use crate::figures::{axis_title, coordinate, varying_axes};
use crate::text::{clean, shorten};
use report::{Coordinate, Coordinates, Dataset};
use std::collections::{BTreeMap, BTreeSet};

/// Pairs of axes whose coordinates are the two ends of a value. The first axis of a pair gives the
/// rows.
const ENDS: [[&str; 2]; 2] = [["from", "to"], ["cpu_node", "memory_node"]];

/// Largest number of maps of one quantity.
const MAX_MAPS: usize = 60;

/// Least range of the colours, relative to the mean of the lowest and the highest value.
const LEAST_SPAN: f64 = 0.2;

/// A heat map: a value for each pair of ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Heat {
    /// Index of the map's report among the drawn reports.
    pub(crate) report: usize,
    /// Title of the axis of rows.
    pub(crate) row_title: String,
    /// Title of the axis of columns.
    pub(crate) column_title: String,
    /// Names of the rows, top to bottom.
    pub(crate) rows: Vec<String>,
    /// Names of the columns, left to right.
    pub(crate) columns: Vec<String>,
    /// Points by row and column; `None` for a pair that was not measured.
    pub(crate) cells: Vec<Vec<Option<ChartPoint>>>,
    /// Lowest value of the colour scale.
    pub(crate) low: f64,
    /// Highest value of the colour scale.
    pub(crate) high: f64,
}

impl Heat {
    /// Position of `value` between `low` and `high`, from 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.5
        }
    }
}

/// Points of one map, with the index of their report and their coordinates on the other axes.
type MapGroup<'a> = (usize, Vec<Option<&'a Coordinate>>, Vec<&'a report::Point>);

/// Makes a heat map for each report and each combination of coordinates on other axes, with a
/// suffix for its title. Empty if no point has two ends.
pub(super) fn heats(
    parts: &[Part<'_>],
    merged: &Dataset,
    names: &[String],
    factor: f64,
) -> Vec<(String, Heat)> {
    let has = |axes: &&[&str; 2]| {
        merged
            .points
            .iter()
            .any(|p| ends(&p.coordinates, axes).is_some())
    };
    let Some(axes) = ENDS.iter().find(has) else {
        return Vec::new();
    };
    let different = |axis: &str| {
        merged
            .points
            .iter()
            .filter_map(|p| p.coordinates.get(axis))
            .collect::<BTreeSet<_>>()
    };
    if axes.iter().all(|axis| different(axis).len() < 2) {
        return Vec::new();
    }
    let others = others(merged, axes);
    let mut groups: Vec<MapGroup<'_>> = Vec::new();
    for part in parts {
        let measured = part
            .dataset
            .points
            .iter()
            .filter(|p| p.outcome.measured().is_some());
        for point in measured.filter(|p| ends(&p.coordinates, axes).is_some()) {
            let key: Vec<_> = others
                .iter()
                .map(|axis| point.coordinates.get(*axis))
                .collect();
            let full = groups.len() >= MAX_MAPS;
            match groups
                .iter_mut()
                .find(|(report, known, _)| *report == part.report && *known == key)
            {
                Some((_, _, points)) => points.push(point),
                None if full => {}
                None => groups.push((part.report, key, vec![point])),
            }
        }
    }
    let named = |(report, key, points): MapGroup<'_>| {
        let told = others
            .iter()
            .zip(key)
            .filter_map(|(axis, c)| Some(format!(", {}", shorten(&coordinate(axis, c?), 40))));
        let from = (names.len() > 1).then(|| format!(", {}", names[report]));
        (
            told.chain(from).collect::<String>(),
            heat(&points, axes, factor, report),
        )
    };
    groups.into_iter().map(named).collect()
}

/// True if both ends of a point are numbers. False if an end is a name such as `all`, which stands
/// for several CPUs or nodes. `None` if the point does not have two ends.
pub(super) fn between(point: &report::Point) -> Option<bool> {
    let ends = ENDS
        .iter()
        .find_map(|axes| ends(&point.coordinates, axes))?;
    Some(ends.iter().all(|end| matches!(end, Coordinate::Number(_))))
}

/// Coordinates of a point on the two axes; `None` if one is missing.
fn ends<'a>(at: &'a Coordinates, axes: &[&str; 2]) -> Option<[&'a Coordinate; 2]> {
    Some([at.get(axes[0])?, at.get(axes[1])?])
}

/// Axes on which points differ although their ends are the same.
fn others<'a>(merged: &'a Dataset, axes: &[&str; 2]) -> Vec<&'a str> {
    let varying = varying_axes(merged)
        .into_iter()
        .filter(|axis| !axes.contains(axis));
    let follows = |axis: &&str| {
        let mut known = BTreeMap::new();
        let mut all = merged.points.iter().filter_map(|p| {
            Some((
                (p.id, ends(&p.coordinates, axes)?),
                p.coordinates.get(*axis),
            ))
        });
        all.all(|(ends, at)| *known.entry(ends).or_insert(at) == at)
    };
    varying.filter(|axis| !follows(axis)).collect()
}

/// Makes a map of `points`, with all values multiplied by `factor`.
fn heat(points: &[&report::Point], axes: &[&str; 2], factor: f64, report: usize) -> Heat {
    let side = |end: usize| -> Vec<&Coordinate> {
        let all: BTreeSet<&Coordinate> = points
            .iter()
            .filter_map(|p| p.coordinates.get(axes[end]))
            .collect();
        all.into_iter().collect()
    };
    let rows = side(0);
    let columns = side(1);
    let mut cells = vec![vec![None; columns.len()]; rows.len()];
    for point in points {
        let Some([from, to]) = ends(&point.coordinates, axes) else {
            continue;
        };
        if let (Ok(row), Ok(column)) = (rows.binary_search(&from), columns.binary_search(&to)) {
            cells[row][column] = spot(point, column as f64, factor);
        }
    }
    let values = || cells.iter().flatten().flatten().map(|s| s.y);
    let names =
        |end: usize, all: &[&Coordinate]| all.iter().map(|c| coordinate(axes[end], c)).collect();
    let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
        (l.min(v), h.max(v))
    });
    // The colours span a minimum range. With a smaller range, differences of a percent would look
    // large.
    let room = ((low.abs() + high.abs()) / 2.0 * LEAST_SPAN - (high - low)).max(0.0) / 2.0;
    Heat {
        report,
        row_title: clean(&axis_title(axes[0])),
        column_title: clean(&axis_title(axes[1])),
        rows: names(0, &rows),
        columns: names(1, &columns),
        low: low - room,
        high: high + room,
        cells,
    }
}
