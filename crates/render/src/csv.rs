//! CSV with one row for each point, for spreadsheets and data frames.
//!
//! The columns are `report::CSV_COLUMNS`, the same for every command. Reports of other versions can
//! have further axes and figures. Their columns follow at the end.

use super::text::{clean, cleaned};
use super::{Options, Renderer};
use report::{
    CSV_COLUMNS, Cause, Coordinate, CsvCell, CsvColumn, Dataset, Point, Report, csv_column,
};
use std::borrow::Cow;
use std::collections::BTreeSet;
use units::error::{Error, Result};

/// Renderer of the format `csv`: a row for each point, in base units.
pub(super) struct Csv;

impl Renderer for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["csv"]
    }

    fn help(&self) -> &'static str {
        "one row per point in base units (B/s, ns), the same columns for every command, empty \
         where there is no value"
    }

    fn render_finite(&self, report: &Report, _options: &Options) -> Result<Vec<u8>> {
        let cannot = |e: ::csv::Error| Error::failure(format!("cannot write CSV: {e}"));
        let axes = unknown_axes(report);
        let figures = unknown_figures(report);
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        let known = CSV_COLUMNS.iter().map(|column| column.name.to_owned());
        let titles = known.chain(axes.iter().map(|axis| axis_title(axis)));
        writer
            .write_record(titles.chain(figures.iter().map(|name| figure_title(name, &axes))))
            .map_err(cannot)?;
        for dataset in &report.datasets {
            for point in &dataset.points {
                let known = CSV_COLUMNS
                    .iter()
                    .map(|column| cell(column, dataset, point));
                let others = axes.iter().map(|axis| coordinate(point, axis));
                let also = point.outcome.measured().map(|m| &m.also);
                let rest = figures.iter().map(|name| {
                    also.and_then(|also| also.get(name))
                        .map(|value| number(*value))
                        .unwrap_or_default()
                });
                for field in known.chain(others).chain(rest) {
                    writer.write_field(field.as_bytes()).map_err(cannot)?;
                }
                writer.write_record(None::<&[u8]>).map_err(cannot)?;
            }
        }
        writer
            .into_inner()
            .map_err(|e| Error::failure(format!("cannot write CSV: {}", e.error())))
    }
}

/// Text of the cell of `point` in `column`.
fn cell<'a>(column: &CsvColumn, dataset: &'a Dataset, point: &'a Point) -> Cow<'a, str> {
    let measured = point.outcome.measured();
    let cell = match column.cell {
        CsvCell::Experiment => Some(cleaned(&dataset.experiment)),
        CsvCell::Quantity => Some(cleaned(&dataset.quantity.name)),
        CsvCell::Unit => Some(cleaned(&dataset.quantity.unit)),
        CsvCell::Better => Some(Cow::Borrowed(if dataset.quantity.higher_is_better {
            "more"
        } else {
            "less"
        })),
        CsvCell::Role => match (dataset.derived, dataset.auxiliary) {
            (true, _) => Some(Cow::Borrowed("derived")),
            (false, true) => Some(Cow::Borrowed("auxiliary")),
            (false, false) => None,
        },
        CsvCell::Status => Some(Cow::Borrowed(point.outcome.status())),
        CsvCell::Trust => measured.map(|m| Cow::Borrowed(m.verdict.grade.word())),
        CsvCell::Reason => match measured {
            Some(measured) => Some(Cow::Owned(clean(&measured.verdict.text()))),
            None => point.outcome.reason().map(cleaned),
        },
        CsvCell::Cause => measured
            .and_then(|m| m.verdict.reasons.first())
            .map(|reason| cause(reason.cause)),
        CsvCell::Axis => Some(coordinate(point, column.name)),
        CsvCell::Also => measured
            .and_then(|m| m.also.get(column.name))
            .map(|value| number(*value)),
        CsvCell::Figure(figure) => measured.and_then(figure.get).map(number),
    };
    cell.unwrap_or_default()
}

/// Name of a cause in reports, which programs may rely on.
fn cause(cause: Cause) -> Cow<'static, str> {
    let name = serde_json::to_value(cause).ok();
    Cow::Owned(
        name.and_then(|name| name.as_str().map(str::to_owned))
            .unwrap_or_default(),
    )
}

/// Axes of the report that have no column in `report::CSV_COLUMNS`, sorted by name.
fn unknown_axes(report: &Report) -> Vec<String> {
    let points = report.datasets.iter().flat_map(|d| &d.points);
    let known =
        |name: &str| csv_column(name).is_some_and(|column| matches!(column.cell, CsvCell::Axis));
    names(points.flat_map(|p| p.coordinates.keys()), known)
}

/// Further figures of the report that have no column in `report::CSV_COLUMNS`, sorted by name.
fn unknown_figures(report: &Report) -> Vec<String> {
    let points = report
        .datasets
        .iter()
        .flat_map(|d| &d.points)
        .filter_map(|p| p.outcome.measured());
    let known =
        |name: &str| csv_column(name).is_some_and(|column| matches!(column.cell, CsvCell::Also));
    names(points.flat_map(|m| m.also.keys()), known)
}

/// Names in `all` that are not `known`, each once. Each name is first looked up, because millions
/// of points share a few names and an insertion costs more.
fn names<'a>(all: impl Iterator<Item = &'a String>, known: impl Fn(&str) -> bool) -> Vec<String> {
    let mut names = BTreeSet::new();
    for name in all {
        if !names.contains(name) {
            names.insert(name);
        }
    }
    names
        .into_iter()
        .filter(|name| !known(name))
        .cloned()
        .collect()
}

/// Heading of a figure that is not in `report::CSV_COLUMNS`. A prefix is added if another column
/// has the same name.
fn figure_title(name: &str, axes: &[String]) -> String {
    let text = clean(name);
    let taken = csv_column(&text).is_some() || axes.iter().any(|axis| clean(axis) == text);
    if taken {
        format!("figure_{text}")
    } else {
        text
    }
}

/// Heading of an axis that is not in `report::CSV_COLUMNS`. A prefix is added if another column has
/// the same name.
fn axis_title(axis: &str) -> String {
    let text = clean(axis);
    if csv_column(&text).is_some() {
        format!("axis_{text}")
    } else {
        text
    }
}

/// Coordinate of the point on `axis` as text; empty if the point has none.
fn coordinate<'a>(point: &'a Point, axis: &str) -> Cow<'a, str> {
    match point.coordinates.get(axis) {
        None => Cow::Borrowed(""),
        Some(Coordinate::Name(name)) => cleaned(name),
        Some(Coordinate::Number(value)) => Cow::Owned(value.to_string()),
    }
}

/// A number as text, with 0 for -0.
fn number(value: f64) -> Cow<'static, str> {
    Cow::Owned((value + 0.0).to_string())
}
