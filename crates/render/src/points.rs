//! A dataset as a table: a row for each point, a column for each axis along which they differ.

use super::bars::with_bars;
use super::figures::{axis_title, coordinate, percent, share, spread, table_unit, trust, value, varying_axes};
use super::grid::{Column, Grid};
use super::page::Block;
use report::{Dataset, Measured, Point};
use units::significant;

/// The points of a dataset in the order of the plan; with `bars` beside the shares of limits.
pub(super) fn block(dataset: &Dataset, bars: bool) -> Block {
    let axes = varying_axes(dataset);
    // Times of storage are in us in every column.
    let of_storage =
        dataset.points.iter().filter_map(|p| p.outcome.measured()).any(|m| also(m, "latency_p50").is_some());
    let (factor, unit) = match table_unit(&dataset.quantity.unit) {
        (_, "ns") if of_storage => (1e-3, "us"),
        other => other,
    };
    let name = dataset.quantity.name.as_str();
    let mut columns: Vec<Column> = axes.iter().map(|axis| axis_column(dataset, axis)).collect();
    columns.extend([
        Column::right(format!("{name}\n{unit}")),
        Column::right(format!("best\n{unit}")),
        Column::right("MB/s"),
        Column::right("mean\nus"),
        Column::right("p50\nus"),
        Column::right("p99\nus"),
        Column::right("p99.9\nus"),
        Column::right("max\nus"),
        Column::right("CPU us\neach"),
        Column::right("traffic\nGB/s"),
        Column::right("on the\nbus GB/s"),
        Column::right("core\ncycles"),
        Column::right("per\ncycle"),
        Column::right("ns each\nthread"),
        Column::right("of\nforward %"),
        Column::right("operations"),
        Column::right("fair\n%"),
        Column::right("limit\n%"),
        Column::right("spread\n± %"),
        Column::right("samples"),
        Column::left("trust"),
    ]);
    let row = |point: &Point| -> Vec<String> {
        let at = |axis: &&str| point.coordinates.get(*axis).map(|c| coordinate(axis, c)).unwrap_or_default();
        axes.iter().map(at).chain(figures(dataset, point, factor)).collect()
    };
    let keep: Vec<String> =
        columns.iter().map(|c| c.title.clone()).filter(|t| t.starts_with(name) || t == "trust").collect();
    let keep: Vec<&str> = keep.iter().map(String::as_str).collect();
    let grid = Grid { rows: dataset.points.iter().map(row).collect(), columns };
    let share = |point: &Point| share(point.outcome.measured()?, dataset.quantity.higher_is_better);
    let shares: Vec<Option<f64>> = dataset.points.iter().map(share).collect();
    let grid = if bars { with_bars(grid, &shares) } else { grid }.without_empty(&keep);
    let spread = grid.columns.iter().any(|c| c.title.starts_with("spread"));
    let legend = if spread { "spread: half the 95% confidence interval of the median" } else { "" };
    Block { title: String::new(), grid, legend: legend.to_owned() }
}

/// The column of an axis: names on the left, numbers on the right.
fn axis_column(dataset: &Dataset, axis: &str) -> Column {
    let names = dataset.points.iter().any(|p| p.name(axis).is_some());
    if names { Column::left(axis_title(axis)) } else { Column::right(axis_title(axis)) }
}

/// The cells behind the axes, empty where a column may be left out.
fn figures(dataset: &Dataset, point: &Point, factor: f64) -> [String; 21] {
    let word = trust(point).to_owned();
    match point.outcome.measured() {
        None => {
            let mut cells = [const { String::new() }; 21];
            (cells[0], cells[1], cells[20]) = ("-".to_owned(), "-".to_owned(), word);
            cells
        }
        Some(m) => [
            value(Some(point), factor),
            significant(m.summary.best * factor),
            also(m, "bytes_per_second").map(|rate| significant(rate / 1e6)).unwrap_or_default(),
            micros(m, "latency_mean"),
            micros(m, "latency_p50"),
            micros(m, "latency_p99"),
            micros(m, "latency_p99_9"),
            micros(m, "latency_max"),
            micros(m, "cpu_ns_per_operation"),
            m.load.map(|load| significant(load.median / 1e9)).unwrap_or_default(),
            m.load.map(|load| significant(load.bus_estimate / 1e9)).unwrap_or_default(),
            also(m, "core_cycles").map(significant).unwrap_or_default(),
            also(m, "per_cycle").map(significant).unwrap_or_default(),
            also(m, "ns_per_operation").map(significant).unwrap_or_default(),
            percent(also(m, "share_of_forward").map(|share| share * 100.0)),
            also(m, "operations").map(|count| count.to_string()).unwrap_or_default(),
            percent(also(m, "fairness").map(|share| share * 100.0)),
            percent(share(m, dataset.quantity.higher_is_better)),
            percent(spread(m)),
            m.summary.clean_samples.to_string(),
            word,
        ],
    }
}

/// A time in us, empty where there is none.
fn micros(measured: &Measured, name: &str) -> String {
    also(measured, name).map(|ns| significant(ns / 1e3)).unwrap_or_default()
}

/// The point's quantity under another convention.
fn also(measured: &Measured, name: &str) -> Option<f64> {
    measured.also.get(name).copied()
}
