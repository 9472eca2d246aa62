//! A dataset as a table: a row for each point, and a column for each axis on which points differ.

use super::Options;
use super::blocks::Block;
use super::figures::{
    axis_title, coordinate, percent, printed_unit, share, spread, trust, value, varying_axes,
};
use super::grid::{Column, Grid};
use report::{Dataset, Measured, Point};
use units::significant;

/// Makes the table of the points of a dataset, in the order of the plan. Depending on `options`, it
/// has bars for the percentages of limits, and all figures of the spread.
pub(super) fn block(dataset: &Dataset, options: &Options) -> Block {
    let axes = varying_axes(dataset);
    let shown = shown(dataset, options.verbose);
    let columns = axes.iter().map(|axis| axis_column(dataset, axis));
    let columns: Vec<Column> = columns
        .chain(shown.iter().map(|figure| figure.column.clone()))
        .collect();
    let row = |point: &Point| -> Vec<String> {
        let at = |axis: &&str| {
            point
                .coordinates
                .get(*axis)
                .map(|c| coordinate(axis, c))
                .unwrap_or_default()
        };
        axes.iter()
            .map(at)
            .chain(shown.iter().map(|figure| (figure.cell)(point)))
            .collect()
    };
    let keep: Vec<&str> = shown
        .iter()
        .filter(|f| f.always)
        .map(|f| f.column.title.as_str())
        .collect();
    let grid = Grid {
        rows: dataset.points.iter().map(row).collect(),
        columns,
    }
    .without_empty(&keep);
    let spread = grid.columns.iter().any(|c| c.title.starts_with("spread"));
    let legend = if spread {
        "spread: half the 95% confidence interval of the median"
    } else {
        ""
    };
    Block {
        title: String::new(),
        grid,
        legend: legend.to_owned(),
    }
}

/// Column of an axis: names are aligned left, numbers right.
fn axis_column(dataset: &Dataset, axis: &str) -> Column {
    let names = dataset.points.iter().any(|p| p.name(axis).is_some());
    if names {
        Column::left(axis_title(axis))
    } else {
        Column::right(axis_title(axis))
    }
}

/// A column to the right of the columns of axes.
struct ShownColumn<'a> {
    column: Column,
    /// True if the column stays even if all of its cells are empty.
    always: bool,
    cell: Box<dyn Fn(&Point) -> String + 'a>,
}

/// Function that makes the text of a column for a measured point; `None` for an empty cell.
type OfMeasured = Box<dyn Fn(&Measured) -> Option<String>>;

/// Columns to the right of the columns of axes. A cell is empty if the column does not apply to the
/// point.
fn shown(dataset: &Dataset, verbose: bool) -> Vec<ShownColumn<'_>> {
    // All times of a storage dataset are written in us.
    let (factor, unit) = match printed_unit(&dataset.quantity.unit) {
        (_, "ns") if has(dataset, "latency_p50") => (1e-3, "us"),
        other => other,
    };
    let name = dataset.quantity.name.as_str();
    let higher_is_better = dataset.quantity.higher_is_better;
    let mut all = vec![
        ShownColumn {
            column: Column::right(format!("{name}\n{unit}")),
            always: true,
            cell: Box::new(move |point| value(Some(point), factor)),
        },
        ShownColumn {
            column: Column::right(format!("best\n{unit}")),
            always: false,
            cell: Box::new(move |point| match point.outcome.measured() {
                None => "-".to_owned(),
                Some(m) => significant(m.summary.best * factor),
            }),
        },
    ];
    let mut add = |title: &str, figure: OfMeasured| {
        all.push(ShownColumn {
            column: Column::right(title),
            always: false,
            cell: Box::new(move |point| {
                point
                    .outcome
                    .measured()
                    .and_then(&figure)
                    .unwrap_or_default()
            }),
        });
    };
    if verbose {
        let in_unit = move |value: Option<f64>| Some(significant(value? * factor));
        add(
            &format!("mean\n{unit}"),
            Box::new(move |m| in_unit(m.summary.mean)),
        );
        add(
            &format!("std dev\n{unit}"),
            Box::new(move |m| in_unit(m.summary.standard_deviation)),
        );
        add(
            "CV\n%",
            Box::new(|m| Some(percent(Some(m.summary.coefficient_of_variation? * 100.0)))),
        );
        add(
            &format!("MAD\n{unit}"),
            Box::new(move |m| in_unit(m.summary.mad)),
        );
    }
    let micros = |name: &'static str| move |m: &Measured| Some(significant(also(m, name)? / 1e3));
    let plain = |name: &'static str| move |m: &Measured| also(m, name).map(significant);
    let share_of =
        |name: &'static str| move |m: &Measured| Some(percent(Some(also(m, name)? * 100.0)));
    add(
        "MB/s",
        Box::new(|m| Some(significant(also(m, "bytes_per_second")? / 1e6))),
    );
    add("mean\nus", Box::new(micros("latency_mean")));
    add("p50\nus", Box::new(micros("latency_p50")));
    add("p99\nus", Box::new(micros("latency_p99")));
    add("p99.9\nus", Box::new(micros("latency_p99_9")));
    add("max\nus", Box::new(micros("latency_max")));
    add("CPU us\neach", Box::new(micros("cpu_ns_per_operation")));
    add(
        "traffic\nGB/s",
        Box::new(|m| Some(significant(m.load?.median / 1e9))),
    );
    add(
        "on the\nbus GB/s",
        Box::new(|m| Some(significant(m.load?.bus_estimate / 1e9))),
    );
    add("core\ncycles", Box::new(plain("core_cycles")));
    add("per\ncycle", Box::new(plain("per_cycle")));
    add("ns each\nthread", Box::new(plain("ns_per_operation")));
    add("of\nforward %", Box::new(share_of("share_of_forward")));
    add(
        "operations",
        Box::new(|m| also(m, "operations").map(|count| count.to_string())),
    );
    add("fair\n%", Box::new(share_of("fairness")));
    add(
        "limit\n%",
        Box::new(move |m| Some(percent(share(m, higher_is_better)))),
    );
    add("spread\n± %", Box::new(|m| Some(percent(spread(m)))));
    add(
        "samples",
        Box::new(|m| Some(m.summary.undisturbed_samples.to_string())),
    );
    all.push(ShownColumn {
        column: Column::left("trust"),
        always: true,
        cell: Box::new(|point| trust(point).to_owned()),
    });
    all
}

/// True if any point of the dataset has the further figure `figure`.
fn has(dataset: &Dataset, figure: &str) -> bool {
    dataset
        .points
        .iter()
        .filter_map(|p| p.outcome.measured())
        .any(|m| also(m, figure).is_some())
}

/// The further figure `name` of a point.
fn also(measured: &Measured, name: &str) -> Option<f64> {
    measured.also.get(name).copied()
}
