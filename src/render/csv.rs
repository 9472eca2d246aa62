//! One row per point, for spreadsheets and data frames.

use super::text::{clean, cleaned};
use super::{Options, Renderer};
use crate::error::{Error, Result};
use crate::results::{Coordinate, Dataset, Measured, Point, Report};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The columns that every file has, in this order; new ones are added at the end only.
pub(super) const COLUMNS: [&str; 34] = [
    "experiment",
    "quantity",
    "unit",
    "operation",
    "kernel",
    "level",
    "size_bytes",
    "threads",
    "page_bytes",
    "status",
    "value",
    "best",
    "ci_low",
    "ci_high",
    "samples",
    "trust",
    "reason",
    "single_count",
    "bus_estimate",
    "core_cycles",
    "limit",
    "pages",
    "stride_bytes",
    "repeat",
    "mad",
    "dirty_samples",
    "share_of_forward",
    "per_cycle",
    "per_second",
    "ns_per_operation",
    "traffic",
    "traffic_ci_low",
    "traffic_ci_high",
    "traffic_bus_estimate",
];

/// `csv`: long form, base units.
pub(super) struct Csv;

impl Renderer for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["csv"]
    }

    fn help(&self) -> &'static str {
        "one row per point in base units (B/s, ns), empty where there is no value"
    }

    fn render_finite(&self, report: &Report, _options: &Options) -> Result<Vec<u8>> {
        let cannot = |e: ::csv::Error| Error::failure(format!("cannot write CSV: {e}"));
        let (extra, figures) = (extra_axes(report), extra_figures(report));
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        let titles = COLUMNS.iter().map(|c| (*c).to_owned()).chain(extra.iter().map(|a| title(a)));
        let titles = titles.chain(figures.iter().map(|name| figure_title(name, &extra)));
        writer.write_record(titles).map_err(cannot)?;
        let known = COLUMNS.map(Column::of);
        for dataset in &report.datasets {
            for point in &dataset.points {
                let known = known.iter().map(|column| column.cell(dataset, point));
                let others = extra.iter().map(|axis| coordinate(point, axis));
                let also = point.outcome.measured().map(|m| &m.also);
                let rest =
                    figures.iter().map(|name| also.and_then(|also| also.get(name)).map_or(Cow::Borrowed(""), number));
                for field in known.chain(others).chain(rest) {
                    writer.write_field(field.as_bytes()).map_err(cannot)?;
                }
                writer.write_record(None::<&[u8]>).map_err(cannot)?;
            }
        }
        writer.into_inner().map_err(|e| Error::failure(format!("cannot write CSV: {}", e.error())))
    }
}

/// Axes that have no column of their own, in the order of their names.
fn extra_axes(report: &Report) -> Vec<String> {
    let points = report.datasets.iter().flat_map(|d| &d.points);
    let axes = names(points.flat_map(|p| p.coordinates.keys()));
    axes.into_iter().filter(|a| !is_coordinate(a)).cloned().collect()
}

/// Further figures of points that have no column of their own, in the order of their names.
fn extra_figures(report: &Report) -> Vec<String> {
    let points = report.datasets.iter().flat_map(|d| &d.points).filter_map(|p| p.outcome.measured());
    let names = names(points.flat_map(|m| m.also.keys()));
    names.into_iter().filter(|name| !COLUMNS.contains(&name.as_str())).cloned().collect()
}

/// Each of `all` once. Collecting them would keep and sort millions of the same few.
fn names<'a>(all: impl Iterator<Item = &'a String>) -> BTreeSet<&'a String> {
    let mut names = BTreeSet::new();
    for name in all {
        if !names.contains(name) {
            names.insert(name);
        }
    }
    names
}

/// The heading of a further figure; one that is called like an axis must not be mistaken for it.
fn figure_title(name: &str, axes: &[String]) -> String {
    let text = clean(name);
    if axes.iter().any(|axis| clean(axis) == text) { format!("figure_{text}") } else { text }
}

/// Whether a column of the fixed ones shows this axis.
fn is_coordinate(axis: &str) -> bool {
    matches!(axis, "operation" | "kernel" | "level" | "size_bytes" | "threads" | "pages" | "stride_bytes" | "repeat")
}

/// The heading of a further axis; one that is called like a fixed column must not be mistaken for it.
fn title(axis: &str) -> String {
    let axis = clean(axis);
    if COLUMNS.contains(&axis.as_str()) { format!("axis_{axis}") } else { axis }
}

/// A figure of a point that was measured, as text.
type Figure = fn(&Measured) -> Option<Cow<'static, str>>;

/// Where a fixed column is taken from: found once for all rows, of which there may be a million.
enum Column {
    Dataset(fn(&Dataset) -> &str),
    Status,
    Coordinate(&'static str),
    /// Of a point that was measured.
    Figure(Figure),
    /// A further figure of such a point.
    Also(&'static str),
    /// Why a number is less than solid, or why there is none.
    Reason,
}

impl Column {
    fn of(name: &'static str) -> Self {
        match name {
            "experiment" => Column::Dataset(|dataset| &dataset.experiment),
            "quantity" => Column::Dataset(|dataset| &dataset.quantity.name),
            "unit" => Column::Dataset(|dataset| &dataset.quantity.unit),
            "status" => Column::Status,
            "reason" => Column::Reason,
            axis if is_coordinate(axis) => Column::Coordinate(axis),
            name => figure(name).map_or(Column::Also(name), Column::Figure),
        }
    }

    /// What a point has to say in it.
    fn cell<'a>(&self, dataset: &'a Dataset, point: &'a Point) -> Cow<'a, str> {
        let measured = point.outcome.measured();
        let cell = match (self, measured) {
            (Column::Dataset(of), _) => Some(cleaned(of(dataset))),
            (Column::Status, _) => Some(Cow::Borrowed(point.outcome.status())),
            (Column::Coordinate(axis), _) => Some(coordinate(point, axis)),
            (Column::Reason, Some(measured)) => Some(Cow::Owned(clean(&measured.verdict.text()))),
            (Column::Reason, None) => point.outcome.reason().map(cleaned),
            (Column::Figure(of), Some(measured)) => of(measured),
            (Column::Also(name), Some(measured)) => measured.also.get(*name).map(number),
            (Column::Figure(_) | Column::Also(_), None) => None,
        };
        cell.unwrap_or_default()
    }
}

/// A coordinate as text, empty where the point has none.
fn coordinate<'a>(point: &'a Point, axis: &str) -> Cow<'a, str> {
    match point.coordinates.get(axis) {
        None => Cow::Borrowed(""),
        Some(Coordinate::Name(name)) => cleaned(name),
        Some(Coordinate::Number(value)) => number(value),
    }
}

/// A number as text.
fn number(value: impl ToString) -> Cow<'static, str> {
    Cow::Owned(value.to_string())
}

/// What a measured point has to say in a fixed column, `None` for one that shows a further figure.
fn figure(column: &str) -> Option<Figure> {
    Some(match column {
        "value" => |m| Some(number(m.summary.median)),
        "best" => |m| Some(number(m.summary.best)),
        "ci_low" => |m| m.summary.interval().map(|(low, _)| number(low)),
        "ci_high" => |m| m.summary.interval().map(|(_, high)| number(high)),
        "mad" => |m| m.summary.mad.map(number),
        "samples" => |m| Some(number(m.summary.clean_samples)),
        "dirty_samples" => |m| Some(number(m.evidence.dirty_samples)),
        "page_bytes" => |m| m.evidence.pages.granted_bytes.map(number),
        "limit" => |m| m.limit.as_ref().map(|limit| number(limit.value)),
        "trust" => |m| Some(Cow::Borrowed(m.verdict.grade.word())),
        "traffic" => |m| m.load.map(|load| number(load.median)),
        "traffic_ci_low" => |m| m.load.map(|load| number(load.ci_low)),
        "traffic_ci_high" => |m| m.load.map(|load| number(load.ci_high)),
        "traffic_bus_estimate" => |m| m.load.map(|load| number(load.bus_estimate)),
        _ => return None,
    })
}
