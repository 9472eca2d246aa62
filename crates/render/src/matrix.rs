//! A dataset with two ends, such as CPUs, as a matrix: a row for each source and a column for each
//! destination.

use super::blocks::Block;
use super::figures::{axis_title, coordinate, percent, printed_unit, spread, value, varying_axes};
use super::grid::{Column, Grid};
use report::{Coordinate, Dataset, Measured, Point};
use std::collections::BTreeMap;
use units::significant;

/// Pairs of axes for rows and columns. In the last pair, the columns are percentiles and the rows
/// sizes.
const ENDS: [Ends; 3] = [
    ["from", "to"],
    ["cpu_node", "memory_node"],
    ["size_bytes", "percentile"],
];

/// Axes of rows and columns.
type Ends = [&'static str; 2];

/// Largest number of rows of a matrix on a screen. Larger matrices are summarised.
const MAX_ROWS: usize = 20;

/// True if the dataset has the axes of a matrix and a point with both ends.
pub(super) fn applies(dataset: &Dataset) -> bool {
    axes_of(dataset).is_some()
}

/// Axes for rows and columns of a dataset; `None` if it has no such pair.
fn axes_of(dataset: &Dataset) -> Option<Ends> {
    let named = |end: &&str| dataset.axes.iter().any(|axis| axis.name == *end);
    let between = |axes: &Ends| {
        dataset
            .points
            .iter()
            .any(|point| ends(point, *axes).is_some())
    };
    ENDS.into_iter()
        .find(|axes| axes.iter().all(named) && between(axes))
}

/// Makes a matrix for each combination of the other coordinates, with `title` in its heading.
/// Unless `verbose`, a matrix that is too large becomes a summary: a row for each class of pairs,
/// such as all pairs of CPUs with the same relation.
pub(super) fn blocks(dataset: &Dataset, title: &str, verbose: bool) -> Vec<Block> {
    let Some(axes) = axes_of(dataset) else {
        return Vec::new();
    };
    let by_ends = |axis: &&str| axes.contains(axis) || follows_from_ends(dataset, axes, axis);
    let (classes, others): (Vec<&str>, Vec<&str>) =
        varying_axes(dataset).into_iter().partition(by_ends);
    let classes: Vec<&str> = classes
        .into_iter()
        .filter(|axis| !axes.contains(axis))
        .collect();
    let mut parts: Vec<(Vec<Option<&Coordinate>>, Vec<&Point>)> = Vec::new();
    for point in dataset
        .points
        .iter()
        .filter(|point| ends(point, axes).is_some())
    {
        let key: Vec<_> = others
            .iter()
            .map(|axis| point.coordinates.get(*axis))
            .collect();
        match parts.iter_mut().find(|(known, _)| *known == key) {
            Some((_, points)) => points.push(point),
            None => parts.push((key, vec![point])),
        }
    }
    let block = |(key, points): (Vec<Option<&Coordinate>>, Vec<&Point>)| {
        let at = others
            .iter()
            .zip(key)
            .filter_map(|(axis, c)| Some((axis, c?)));
        let at: String = at
            .map(|(axis, c)| format!(", {} {}", axis_title(axis), coordinate(axis, c)))
            .collect();
        let order = order(&points, axes);
        let large = order.len() > MAX_ROWS && !verbose;
        let block = if large {
            summary(dataset, &points, &classes)
        } else {
            matrix(dataset, &points, &order, axes)
        };
        Block {
            title: format!("{title}{at}"),
            ..block
        }
    };
    parts.into_iter().map(block).collect()
}

/// The points of `dataset` that no matrix shows because they lack a coordinate for the row or the
/// column. `None` if there are no such points.
pub(super) fn without_ends(dataset: &Dataset) -> Option<Dataset> {
    let axes = axes_of(dataset)?;
    let points: Vec<Point> = dataset
        .points
        .iter()
        .filter(|point| ends(point, axes).is_none())
        .cloned()
        .collect();
    (!points.is_empty()).then(|| Dataset {
        points,
        ..dataset.clone()
    })
}

/// True if a matrix of `dataset` has too many rows for a screen, so that it is summarised.
pub(super) fn is_large(dataset: &Dataset) -> bool {
    let Some(axes) = axes_of(dataset) else {
        return false;
    };
    order(&dataset.points.iter().collect::<Vec<_>>(), axes).len() > MAX_ROWS
}

/// Coordinates of a point on the two axes; `None` if one is missing.
fn ends(point: &Point, axes: Ends) -> Option<(&Coordinate, &Coordinate)> {
    Some((
        point.coordinates.get(axes[0])?,
        point.coordinates.get(axes[1])?,
    ))
}

/// True if points with the same row and column always have the same coordinate on `axis`.
fn follows_from_ends(dataset: &Dataset, axes: Ends, axis: &str) -> bool {
    let mut known: BTreeMap<_, Option<&Coordinate>> = BTreeMap::new();
    let mut pairs = dataset
        .points
        .iter()
        .filter_map(|point| Some((ends(point, axes)?, point.coordinates.get(axis))));
    pairs.all(|(ends, at)| *known.entry(ends).or_insert(at) == at)
}

/// All coordinates of rows in the order of the dataset, then the remaining coordinates of columns.
fn order<'a>(points: &[&'a Point], axes: Ends) -> Vec<&'a Coordinate> {
    let pairs = || points.iter().filter_map(|point| ends(point, axes));
    let mut seen = std::collections::BTreeSet::new();
    let all = pairs()
        .map(|(from, _)| from)
        .chain(pairs().map(|(_, to)| to));
    all.filter(|end| seen.insert(*end)).collect()
}

/// Makes the matrix: a row for each source, and a column for each destination.
fn matrix(dataset: &Dataset, points: &[&Point], order: &[&Coordinate], axes: Ends) -> Block {
    let (factor, unit) = printed_unit(&dataset.quantity.unit);
    let by_ends: BTreeMap<_, &Point> = points
        .iter()
        .filter_map(|point| Some((ends(point, axes)?, *point)))
        .collect();
    let rows: Vec<&Coordinate> = order
        .iter()
        .copied()
        .filter(|end| by_ends.keys().any(|(from, _)| from == end))
        .collect();
    let columns: Vec<&Coordinate> = order
        .iter()
        .copied()
        .filter(|end| by_ends.keys().any(|(_, to)| to == end))
        .collect();
    let headings = columns
        .iter()
        .map(|to| Column::right(coordinate(axes[1], to)));
    let mut cells: Vec<Vec<String>> = Vec::new();
    for from in rows {
        let at = columns.iter().map(|&to| {
            by_ends
                .get(&(from, to))
                .map(|point| value(Some(*point), factor))
        });
        cells.push(
            [coordinate(axes[0], from)]
                .into_iter()
                .chain(at.map(Option::unwrap_or_default))
                .collect(),
        );
    }
    let grid = Grid {
        columns: [Column::right(format!(
            "{} / {}",
            axis_title(axes[0]),
            axis_title(axes[1])
        ))]
        .into_iter()
        .chain(headings)
        .collect(),
        rows: cells,
    };
    let spreads: Vec<f64> = measured(points).filter_map(spread).collect();
    let most = spreads.iter().copied().reduce(f64::max);
    let known = middle(spreads).zip(most).map(|(middle, most)| {
        format!(
            "; half the 95% CI: ± {}% (median), at most {}%",
            percent(Some(middle)),
            percent(Some(most))
        )
    });
    let marks = [('?', "doubtful"), ('!', "rejected")];
    let marked = |mark: char| grid.rows.iter().flatten().any(|cell| cell.ends_with(mark));
    let marks: String = marks
        .iter()
        .filter(|m| marked(m.0))
        .map(|(mark, word)| format!("; {mark} {word}"))
        .collect();
    let [from, to] = axes.map(axis_title);
    let legend = format!(
        "{} in {unit}, rows {from}, columns {to}{}{marks}",
        dataset.quantity.name,
        known.unwrap_or_default()
    );
    Block {
        title: String::new(),
        grid,
        legend,
    }
}

/// Makes the summary: a row for each class of pairs, the class with the lowest median first. A
/// class has equal coordinates on the axes `classes`.
fn summary(dataset: &Dataset, points: &[&Point], classes: &[&str]) -> Block {
    let (factor, unit) = printed_unit(&dataset.quantity.unit);
    let mut groups: BTreeMap<Vec<Option<&Coordinate>>, Vec<&Point>> = BTreeMap::new();
    for &point in points {
        let key = classes
            .iter()
            .map(|axis| point.coordinates.get(*axis))
            .collect();
        groups.entry(key).or_default().push(point);
    }
    let mut rows: Vec<(f64, Vec<String>)> = Vec::new();
    for (key, points) in groups {
        let medians: Vec<f64> = measured(&points)
            .map(|m| m.summary.median * factor)
            .collect();
        let ends = |pick: fn(f64, f64) -> f64| medians.iter().copied().reduce(pick);
        let shown = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), significant);
        let names = classes
            .iter()
            .zip(key)
            .map(|(axis, c)| c.map(|c| coordinate(axis, c)).unwrap_or_default());
        let worst = measured(&points).map(|m| m.verdict.grade).max();
        let median = middle(medians.clone());
        let mut row: Vec<String> = names.collect();
        row.extend([
            medians.len().to_string(),
            shown(median),
            shown(ends(f64::min)),
            shown(ends(f64::max)),
        ]);
        row.push(percent(middle(
            measured(&points).filter_map(spread).collect(),
        )));
        row.push(worst.map_or("-", |grade| grade.word()).to_owned());
        rows.push((median.unwrap_or(f64::MAX), row));
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut columns: Vec<Column> = classes
        .iter()
        .map(|axis| Column::left(axis_title(axis)))
        .collect();
    columns.push(Column::right("pairs\nmeasured"));
    let figures = [
        format!("{}\n{unit}", dataset.quantity.name),
        format!("least\n{unit}"),
        format!("most\n{unit}"),
    ];
    columns.extend(figures.map(Column::right));
    columns.push(Column::right("spread\n± %"));
    columns.push(Column::left("worst\ntrust"));
    let grid = Grid {
        columns,
        rows: rows.into_iter().map(|(_, row)| row).collect(),
    };
    let legend =
        "medians over pairs; --verbose shows the matrix, --format csv every pair".to_owned();
    Block {
        title: String::new(),
        grid,
        legend,
    }
}

fn measured<'a>(points: &'a [&Point]) -> impl Iterator<Item = &'a Measured> {
    points.iter().filter_map(|point| point.outcome.measured())
}

/// Median of `values`. If their count is even, it is the upper one of the two middle values. `None`
/// if there are no values.
fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
