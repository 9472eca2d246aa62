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
        for dataset in &report.datasets {
            for point in &dataset.points {
                let known = COLUMNS.iter().map(|column| cell(dataset, point, column));
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
    let axes: BTreeSet<&String> = points.flat_map(|p| p.coordinates.keys()).collect();
    axes.into_iter().filter(|a| !is_coordinate(a)).cloned().collect()
}

/// Further figures of points that have no column of their own, in the order of their names.
fn extra_figures(report: &Report) -> Vec<String> {
    let points = report.datasets.iter().flat_map(|d| &d.points).filter_map(|p| p.outcome.measured());
    let names: BTreeSet<&String> = points.flat_map(|m| m.also.keys()).collect();
    names.into_iter().filter(|name| !COLUMNS.contains(&name.as_str())).cloned().collect()
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

/// What a point has to say in a fixed column.
fn cell<'a>(dataset: &'a Dataset, point: &'a Point, column: &str) -> Cow<'a, str> {
    match column {
        "experiment" => cleaned(&dataset.experiment),
        "quantity" => cleaned(&dataset.quantity.name),
        "unit" => cleaned(&dataset.quantity.unit),
        "status" => Cow::Borrowed(point.outcome.status()),
        column if is_coordinate(column) => coordinate(point, column),
        column => match point.outcome.measured() {
            Some(measured) => figure(measured, column).unwrap_or_default(),
            None if column == "reason" => cleaned(point.outcome.reason().unwrap_or_default()),
            None => Cow::Borrowed(""),
        },
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

/// What a measured point has to say in a fixed column.
fn figure(measured: &Measured, column: &str) -> Option<Cow<'static, str>> {
    let summary = &measured.summary;
    Some(match column {
        "value" => number(summary.median),
        "best" => number(summary.best),
        "ci_low" => number(summary.ci_low),
        "ci_high" => number(summary.ci_high),
        "mad" => number(summary.mad),
        "samples" => number(summary.clean_samples),
        "dirty_samples" => number(measured.evidence.dirty_samples),
        "page_bytes" => number(measured.evidence.pages.granted_bytes?),
        "limit" => number(measured.limit.as_ref()?.value),
        "trust" => Cow::Borrowed(measured.verdict.grade.word()),
        "reason" => Cow::Owned(clean(&measured.verdict.text())),
        "traffic" => number(measured.load?.median),
        "traffic_ci_low" => number(measured.load?.ci_low),
        "traffic_ci_high" => number(measured.load?.ci_high),
        "traffic_bus_estimate" => number(measured.load?.bus_estimate),
        name => number(measured.also.get(name)?),
    })
}
