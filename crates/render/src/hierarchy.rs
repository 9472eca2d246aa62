//! Table of the memory hierarchy, with a row for each level. It fits on a screen.

use super::blocks::Block;
use super::figures::{best, datasets_of, is_plain_latency, percent, share, spread, value};
use super::grid::{Column, Grid};
use super::text::shorten;
use report::{CHOSEN_PROFILE, Coordinate, Dataset, Measured, Point, Report};
use std::collections::{BTreeSet, HashSet};
use units::{Bytes, significant};

/// Operations that have columns.
const OPERATIONS: [&str; 3] = ["read", "write", "copy"];

/// A variant: another way to execute the operations of [`OPERATIONS`].
struct Variant {
    /// Suffix of the operations' names.
    ending: &'static str,
    /// Word that follows the level in the name of the row.
    row: &'static str,
    meaning: &'static str,
}

const VARIANTS: [Variant; 5] = [
    Variant {
        ending: "nt",
        row: "nt",
        meaning: "non-temporal stores",
    },
    Variant {
        ending: "zero",
        row: "zeroing",
        meaning: "an instruction zeroes a whole cache line",
    },
    Variant {
        ending: "rep",
        row: "rep",
        meaning: "rep stosb, rep movsb",
    },
    Variant {
        ending: "direct",
        row: "direct",
        meaning: "movdir64b copies a line past the caches",
    },
    Variant {
        ending: "libc",
        row: "libc",
        meaning: "C library",
    },
];

/// A variant gets a row if its bandwidth divided by that of the plain operation is above this
/// number.
const GAIN: f64 = 1.05;

/// Largest number of rows of variants at a level.
const MAX_VARIANTS: usize = 2;

/// True if the report is about the whole hierarchy rather than a single experiment.
pub(super) fn applies(report: &Report) -> bool {
    let profile = report.plan.profile.as_str();
    let single =
        profile == CHOSEN_PROFILE || report.datasets.iter().any(|d| d.experiment == profile);
    !single && report.datasets.iter().any(shows)
}

/// True if points of this dataset have cells in the table.
pub(super) fn shows(dataset: &Dataset) -> bool {
    let name = dataset.quantity.name.as_str();
    let by_level = dataset.axes.iter().any(|a| a.name == "level")
        || dataset
            .points
            .iter()
            .any(|p| p.coordinates.contains_key("level"));
    dataset.experiment == name && matches!(name, "bandwidth" | "latency") && by_level
}

/// Points from which the rows are made.
struct Source<'a> {
    bandwidth: Vec<&'a Point>,
    latency: Vec<&'a Point>,
    operations: Vec<&'static str>,
    threads: Vec<u64>,
}

/// Points of one row: a level, with the plain operations or a variant of them.
struct LevelRow<'a> {
    level: &'a Coordinate,
    /// Variant of the operations; `None` for the plain ones.
    variant: Option<&'static Variant>,
    bandwidth: Vec<Option<&'a Point>>,
    latency: Option<&'a Point>,
}

/// Points of the report that have a cell in the table.
pub(super) fn shown(report: &Report) -> HashSet<*const Point> {
    let source = Source::new(report);
    let rows = source.rows();
    let points = rows
        .iter()
        .flat_map(|row| row.bandwidth.iter().chain([&row.latency]).flatten());
    points.map(|point| std::ptr::from_ref(*point)).collect()
}

/// Number of rows of variants.
pub(super) fn variant_rows(report: &Report) -> usize {
    let rows = Source::new(report).rows();
    rows.iter().filter(|row| row.variant.is_some()).count()
}

/// The table: a row for each level, in the order of appearance.
pub(super) fn block(report: &Report) -> Block {
    let source = Source::new(report);
    let rows = source.rows();
    let columns = source.columns();
    let cells: Vec<Vec<String>> = rows.iter().map(LevelRow::cells).collect();
    let marked = |mark| cells.iter().flatten().any(|c: &String| c.ends_with(mark));
    let mut legend = "CI: confidence interval, widest of the row".to_owned();
    if rows.iter().any(|r| r.share().is_some()) {
        legend.push_str("; limit: what the core's instructions allow");
    }
    for variant in &VARIANTS {
        let is_shown = |row: &LevelRow<'_>| row.variant.is_some_and(|v| v.ending == variant.ending);
        if rows.iter().any(is_shown) {
            legend.push_str(&format!("; {}: {}", variant.row, variant.meaning));
        }
    }
    if marked('?') {
        legend.push_str("; ? doubtful");
    }
    if marked('!') {
        legend.push_str("; ! rejected");
    }
    let keep: Vec<&str> = columns
        .iter()
        .map(|c| c.title.as_str())
        .filter(|t| t.starts_with("trust"))
        .collect();
    let grid = Grid {
        columns: columns.clone(),
        rows: cells,
    };
    let mut grid = grid.without_empty(&keep);
    for cell in grid.rows.iter_mut().flatten().filter(|c| c.is_empty()) {
        "-".clone_into(cell);
    }
    Block {
        title: String::new(),
        grid,
        legend,
    }
}

impl<'a> Source<'a> {
    /// Collects bandwidth and latency by level, and two numbers of threads: one and the largest.
    fn new(report: &'a Report) -> Self {
        let points = |quantity| {
            datasets_of(report, quantity)
                .filter(|d| shows(d))
                .flat_map(|d| &d.points)
        };
        let bandwidth: Vec<&Point> = points("bandwidth").collect();
        let counts: BTreeSet<u64> = bandwidth
            .iter()
            .filter_map(|p| p.number("threads"))
            .collect();
        let mut threads: Vec<u64> = counts
            .first()
            .into_iter()
            .chain(counts.last())
            .copied()
            .collect();
        threads.dedup();
        let there = |op: &&str| bandwidth.iter().any(|p| p.name("operation") == Some(op));
        Source {
            operations: OPERATIONS.into_iter().filter(there).collect(),
            latency: points("latency").filter(|p| is_plain_latency(p)).collect(),
            bandwidth,
            threads,
        }
    }

    /// Levels in the order in which points with them appear.
    fn levels(&self) -> Vec<&'a Coordinate> {
        let mut levels: Vec<&Coordinate> = Vec::new();
        for level in self
            .bandwidth
            .iter()
            .chain(&self.latency)
            .filter_map(|p| p.coordinates.get("level"))
        {
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
        levels
    }

    /// Makes a row for each level, followed by rows of the variants that are fastest at this level.
    fn rows(&self) -> Vec<LevelRow<'a>> {
        let mut rows = Vec::new();
        for level in self.levels() {
            let plain = self.row(level, None);
            let variants = VARIANTS
                .iter()
                .map(|variant| self.row(level, Some(variant)));
            let mut gaining: Vec<(f64, LevelRow<'a>)> = variants
                .map(|row| (row.gain(&plain), row))
                .filter(|(gain, _)| *gain > GAIN)
                .collect();
            gaining.sort_by(|a, b| b.0.total_cmp(&a.0));
            rows.push(plain);
            let fastest = gaining.into_iter().take(MAX_VARIANTS);
            rows.extend(fastest.map(|(_, row)| row));
        }
        rows
    }

    /// Makes a row with the best point of a level in each column. `variant` is `None` for a row of
    /// the plain operations.
    fn row(&self, level: &'a Coordinate, variant: Option<&'static Variant>) -> LevelRow<'a> {
        let here = |p: &&&Point| p.coordinates.get("level") == Some(level);
        let mut bandwidth = Vec::new();
        for operation in &self.operations {
            let name = match variant {
                None => (*operation).to_owned(),
                Some(variant) => format!("{operation}-{}", variant.ending),
            };
            for threads in &self.threads {
                let same = |p: &&&Point| {
                    p.name("operation") == Some(&name) && p.number("threads") == Some(*threads)
                };
                bandwidth.push(best(
                    self.bandwidth.iter().filter(here).filter(same).copied(),
                    true,
                ));
            }
        }
        let latency = self.latency.iter().filter(|_| variant.is_none());
        LevelRow {
            level,
            variant,
            bandwidth,
            latency: best(latency.filter(here).copied(), false),
        }
    }

    /// Headings, one for each cell of [`LevelRow::cells`].
    fn columns(&self) -> Vec<Column> {
        let mut columns = vec![Column::left("level"), Column::right("size per\nthread")];
        for operation in &self.operations {
            for threads in &self.threads {
                columns.push(Column::right(format!("{operation}\nGB/s\n{threads} thr")));
            }
        }
        columns.extend([
            Column::right("latency\nns"),
            Column::right("latency\ncycles").dropped_as(1),
            Column::right("% of\nlimit").dropped_as(2),
            Column::right("95% CI\n±%").dropped_as(3),
        ]);
        columns.push(Column::left("trust"));
        columns
    }
}

impl LevelRow<'_> {
    /// The measured points of the row.
    fn measured(&self) -> impl Iterator<Item = &Measured> {
        self.bandwidth
            .iter()
            .chain([&self.latency])
            .flatten()
            .filter_map(|p| p.outcome.measured())
    }

    /// Largest ratio of a bandwidth of this row to that of `plain` in the same column. 0 if no
    /// column has a figure in both rows.
    fn gain(&self, plain: &LevelRow<'_>) -> f64 {
        let median = |point: &Option<&Point>| Some(point.as_ref()?.usable()?.summary.median);
        let pairs = self.bandwidth.iter().zip(&plain.bandwidth);
        pairs
            .filter_map(|(this, plain)| Some(median(this)? / median(plain)?))
            .fold(0.0, f64::max)
    }

    /// Cells of the row, in the order of [`Source::columns`].
    fn cells(&self) -> Vec<String> {
        let latency = self.latency.and_then(|p| p.outcome.measured());
        let cycles = latency
            .and_then(|m| m.also.get("core_cycles"))
            .map(|c| significant(*c));
        let level = self.level.to_string();
        let name = match self.variant {
            None => level,
            Some(variant) => format!("{level} {}", variant.row),
        };
        let mut cells = vec![shorten(&name, 16), self.size()];
        cells.extend(self.bandwidth.iter().map(|p| value(*p, 1e-9)));
        cells.push(
            self.latency
                .map(|p| value(Some(p), 1.0))
                .unwrap_or_default(),
        );
        cells.push(cycles.unwrap_or_default());
        cells.push(percent(self.share()));
        cells.push(percent(self.measured().filter_map(spread).reduce(f64::max)));
        let worst = self.measured().map(|m| m.verdict.grade).max();
        cells.push(worst.map_or("-", |grade| grade.word()).to_owned());
        cells
    }

    /// Highest percentage of its limit that any bandwidth of the row reaches. `None` if no limit is
    /// known.
    fn share(&self) -> Option<f64> {
        let bandwidth = self
            .bandwidth
            .iter()
            .flatten()
            .filter_map(|p| p.outcome.measured());
        bandwidth.filter_map(|m| share(m, true)).reduce(f64::max)
    }

    /// Working set of a thread: one size, or a range from the smallest to the largest.
    fn size(&self) -> String {
        let sizes = |points: &[Option<&Point>]| -> BTreeSet<u64> {
            points
                .iter()
                .flatten()
                .filter_map(|p| p.number("size_bytes"))
                .collect()
        };
        let mut all = sizes(&self.bandwidth);
        if all.is_empty() {
            all = sizes(&[self.latency]);
        }
        match (all.first(), all.last()) {
            (Some(least), Some(most)) if least != most => {
                range(&Bytes(*least).to_string(), &Bytes(*most).to_string())
            }
            (Some(size), _) => Bytes(*size).to_string(),
            _ => String::new(),
        }
    }
}

/// A range in words, such as `128..256 MiB`. Both ends have units if the units differ.
fn range(least: &str, most: &str) -> String {
    match (least.split_once(' '), most.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number}..{most}"),
        _ => format!("{least}..{most}"),
    }
}
