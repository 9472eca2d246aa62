//! One row per point, for spreadsheets and data frames.

use super::text::clean;
use super::{Options, Renderer};
use crate::error::{Error, Result};
use crate::results::{Dataset, Measured, Point, Report};
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
                let known = COLUMNS.iter().map(|column| clean(&cell(dataset, point, column)));
                let others = extra.iter().map(|axis| clean(&coordinate(point, axis)));
                let also = point.outcome.measured().map(|m| &m.also);
                let rest = figures.iter().map(|name| also.and_then(|also| also.get(name)).map(ToString::to_string));
                writer.write_record(known.chain(others).chain(rest.map(Option::unwrap_or_default))).map_err(cannot)?;
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
fn cell(dataset: &Dataset, point: &Point, column: &str) -> String {
    match column {
        "experiment" => dataset.experiment.clone(),
        "quantity" => dataset.quantity.name.clone(),
        "unit" => dataset.quantity.unit.clone(),
        "status" => point.outcome.status().to_owned(),
        column if is_coordinate(column) => coordinate(point, column),
        column => match point.outcome.measured() {
            Some(measured) => figure(measured, column).unwrap_or_default(),
            None if column == "reason" => point.outcome.reason().unwrap_or_default().to_owned(),
            None => String::new(),
        },
    }
}

/// A coordinate as text, empty where the point has none.
fn coordinate(point: &Point, axis: &str) -> String {
    point.coordinates.get(axis).map(ToString::to_string).unwrap_or_default()
}

/// What a measured point has to say in a fixed column.
fn figure(measured: &Measured, column: &str) -> Option<String> {
    let number = |value: f64| Some(value.to_string());
    let summary = &measured.summary;
    match column {
        "value" => number(summary.median),
        "best" => number(summary.best),
        "ci_low" => number(summary.ci_low),
        "ci_high" => number(summary.ci_high),
        "mad" => number(summary.mad),
        "samples" => Some(summary.clean_samples.to_string()),
        "dirty_samples" => Some(measured.evidence.dirty_samples.to_string()),
        "page_bytes" => measured.evidence.pages.granted_bytes.map(|b| b.to_string()),
        "limit" => measured.limit.as_ref().map(|l| l.value.to_string()),
        "trust" => Some(measured.verdict.grade.word().to_owned()),
        "reason" => Some(measured.verdict.text()),
        "traffic" => number(measured.load?.median),
        "traffic_ci_low" => number(measured.load?.ci_low),
        "traffic_ci_high" => number(measured.load?.ci_high),
        "traffic_bus_estimate" => number(measured.load?.bus_estimate),
        name => measured.also.get(name).map(ToString::to_string),
    }
}
