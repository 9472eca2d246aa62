//! Makes a table of many machines: a row for each machine, with the figures by which users choose
//! one.

use super::NamedReport;
use super::figures::{best, datasets_of, is_plain_latency, mark, value};
use super::grid::{Column, Grid};
use super::hierarchy::shows;
use super::text::{shorten, wrap};
use report::{Dataset, Finding, Outcome, Point, Report, VerdictGrade};
use std::collections::BTreeSet;
use units::{Bytes, significant};

/// Longest text of a cell, in characters.
const LONGEST: usize = 60;

/// Longest line of the legend in Markdown, in characters.
const LONGEST_LINE: usize = 100;

/// Reason for an empty cell if the report has no point for it.
const NOT_MEASURED: &str = "not in this report";

/// Operation whose bandwidth the gallery shows.
const OPERATION: &str = "read";

/// A column of the gallery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heading {
    /// Heading that this column shares with its neighbours; empty if it shares none.
    pub(super) group: String,
    /// Title of the column.
    pub(super) title: String,
    /// True if the column has numbers.
    pub(super) is_number: bool,
    /// True if the largest value of the column is the best one.
    pub(super) descends: bool,
}

/// A cell of the gallery.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Cell {
    /// The figure with its mark; empty if there is none.
    pub(super) text: String,
    /// Number by which machines are sorted; `None` if the cell is empty or has words.
    pub(super) number: Option<f64>,
    /// Reason why the cell has no figure; empty if it has one.
    pub(super) missing: String,
}

/// The gallery of some reports.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Gallery {
    /// Columns from left to right; the first has the names of the machines.
    pub(super) headings: Vec<Heading>,
    /// A row for each report, with a cell for each column.
    pub(super) rows: Vec<Vec<Cell>>,
    /// Core design of each report.
    pub(super) designs: Vec<String>,
}

/// True if the reports are of several machines. Host name and processor tell machines apart. Each
/// shared report counts as a machine of its own, because it has no host name. Tables of other tools
/// do not count.
pub fn are_several_machines(reports: &[NamedReport]) -> bool {
    let known = reports.iter().map(|named| &named.report.provenance);
    let known = known.filter(|provenance| !provenance.is_unknown());
    let (shared, named): (Vec<_>, Vec<_>) = known.partition(|provenance| provenance.is_shared());
    let machines: BTreeSet<_> = named
        .iter()
        .map(|p| (p.host.system.hostname.get(), p.host.cpu.model_name.get()))
        .collect();
    shared.len() + machines.len() > 1
}

/// A table of machines in GitHub Markdown, with its legend: one row for each report.
pub fn machines_in_markdown(reports: &[NamedReport]) -> String {
    let gallery = gallery(reports);
    let column = |heading: &Heading| {
        let title = match heading.group.is_empty() {
            true => heading.title.clone(),
            false => format!("{} {}", heading.title, heading.group),
        };
        match heading.is_number {
            true => Column::right(title),
            false => Column::left(title),
        }
    };
    let row = |cells: &Vec<Cell>| cells.iter().map(|cell| cell.text.clone()).collect();
    let grid = Grid {
        columns: gallery.headings.iter().map(column).collect(),
        rows: gallery.rows.iter().map(row).collect(),
    };
    format!(
        "{}\n{}\n",
        grid.without_empty(&[]).to_markdown(),
        wrap(&legend(&gallery), LONGEST_LINE).join("\n")
    )
}

/// Legend of the columns and marks.
pub(super) fn legend(gallery: &Gallery) -> String {
    let mut legend = "read: GB/s that loads of one thread, or of most threads, carry; latency: ns of \
         a load that depends on the one before; TLB miss: ns that a load from memory takes longer \
         in base pages than in huge ones; core to core: ns of a round trip, between the nearest and \
         the farthest CPUs"
        .to_owned();
    let cells = || gallery.rows.iter().flatten();
    for (sign, meaning) in [('?', "doubtful"), ('!', "rejected")] {
        if cells().any(|cell| cell.number.is_some() && cell.text.ends_with(sign)) {
            legend.push_str(&format!("; {sign} {meaning}"));
        }
    }
    if cells().any(|cell| !cell.missing.is_empty()) {
        legend.push_str("; blank: no figure");
    }
    legend
}

/// The gallery of `reports`.
pub(super) fn gallery(reports: &[NamedReport]) -> Gallery {
    let levels = levels(reports);
    Gallery {
        headings: headings(&levels),
        rows: reports.iter().map(|named| row(named, &levels)).collect(),
        designs: reports.iter().map(|named| design(&named.report)).collect(),
    }
}

fn headings(levels: &[String]) -> Vec<Heading> {
    let text = |title: &str| Heading {
        group: String::new(),
        title: title.to_owned(),
        is_number: false,
        descends: false,
    };
    let number = |group: &str, title: &str, descends: bool| Heading {
        group: group.to_owned(),
        title: title.to_owned(),
        is_number: true,
        descends,
    };
    let by_level = |group: &'static str, descends: bool| {
        levels
            .iter()
            .map(move |level| number(group, level, descends))
    };
    let mut all = vec![text("machine"), text("core design"), text("model")];
    all.extend([number("", "CPUs", true), number("", "memory", true)]);
    all.extend(by_level("read, one thread, GB/s", true));
    all.extend(by_level("read, most threads, GB/s", true));
    all.extend(by_level("latency, ns", false));
    all.push(number("", "TLB miss, ns", false));
    all.push(number("core to core, ns", "nearest", false));
    all.push(number("core to core, ns", "farthest", false));
    all.extend([text("date"), text("verdict")]);
    all
}

/// Cells of a report.
fn row(named: &NamedReport, levels: &[String]) -> Vec<Cell> {
    let report = &named.report;
    let host = &report.provenance.host;
    let cpus = host.topology.cpus.len();
    let mut cells = vec![
        Cell::text(&named.name),
        Cell::text(&design(report)),
        match host.cpu.model_name.get() {
            Some(model) => Cell::text(model),
            None => Cell::missing(&host.cpu.model_name.source),
        },
        match cpus {
            0 => Cell::missing(&host.topology.cpus_source),
            count => Cell::number(count as f64, count.to_string()),
        },
        match host.memory.total.get() {
            Some(Bytes(bytes)) => Cell::number(*bytes as f64, Bytes(*bytes).to_string()),
            None => Cell::missing(&host.memory.total.source),
        },
    ];
    let reads = reads(report);
    let counts: BTreeSet<u64> = reads.iter().filter_map(|p| p.number("threads")).collect();
    let most = counts.last().copied().filter(|most| *most > 1);
    for threads in [Some(1), most] {
        let of_threads = |p: &&&Point| threads.is_some() && p.number("threads") == threads;
        let points: Vec<&Point> = reads.iter().filter(of_threads).copied().collect();
        cells.extend(levels.iter().map(|level| at_level(&points, level, true)));
    }
    let latencies = datasets_of(report, "latency").filter(|d| shows(d));
    let latencies: Vec<&Point> = latencies
        .flat_map(|d| &d.points)
        .filter(|p| is_plain_latency(p))
        .collect();
    cells.extend(
        levels
            .iter()
            .map(|level| at_level(&latencies, level, false)),
    );
    cells.push(tlb_miss(report));
    cells.extend(round_trips(report));
    cells.push(Cell::text(
        report.provenance.started.get(..10).unwrap_or_default(),
    ));
    cells.push(verdict(report));
    cells
}

/// Core design of the report's machine, or `unknown`.
fn design(report: &Report) -> String {
    let known = report.provenance.host.cpu.microarchitecture.get();
    known.map_or_else(|| "unknown".to_owned(), |name| shorten(name, LONGEST))
}

/// Points with the bandwidth of [`OPERATION`], from the datasets that the table of the memory
/// hierarchy shows.
fn reads(report: &Report) -> Vec<&Point> {
    let points = datasets_of(report, "bandwidth").filter(|d| shows(d));
    let points = points.flat_map(|d| &d.points);
    points
        .filter(|p| p.name("operation") == Some(OPERATION))
        .collect()
}

/// Names of all levels: caches in ascending order, then the others as they appear.
fn levels(reports: &[NamedReport]) -> Vec<String> {
    let mut levels: Vec<String> = Vec::new();
    for named in reports {
        let datasets = named.report.datasets.iter().filter(|d| shows(d));
        for name in datasets
            .flat_map(|d| &d.points)
            .filter_map(|p| p.name("level"))
        {
            if !levels.iter().any(|level| level == name) {
                levels.push(name.to_owned());
            }
        }
    }
    let is_cache = |level: &str| {
        level
            .strip_prefix('L')
            .is_some_and(|n| n.parse::<u32>().is_ok())
    };
    let (mut caches, others): (Vec<String>, Vec<String>) =
        levels.into_iter().partition(|level| is_cache(level));
    caches.sort();
    [caches, others].concat()
}

/// Cell with the best of `points` at a level.
fn at_level(points: &[&Point], level: &str, higher_is_better: bool) -> Cell {
    let here = points.iter().filter(|p| p.name("level") == Some(level));
    let factor = if higher_is_better { 1e-9 } else { 1.0 };
    best(here.copied(), higher_is_better).map_or_else(
        || Cell::missing(NOT_MEASURED),
        |point| Cell::point(point, factor),
    )
}

/// Cell with the cost of a TLB miss, from the finding `page-walk-cost`.
fn tlb_miss(report: &Report) -> Cell {
    let finding = report
        .findings
        .iter()
        .find(|one| one.kind == "page-walk-cost");
    let cost = |finding: &Finding| {
        let ns = finding
            .values
            .get("cost_ns")
            .copied()
            .filter(|ns| ns.is_finite())?;
        let mark = if finding.is_doubtful() { "?" } else { "" };
        Some(Cell::number(ns, significant(ns) + mark))
    };
    finding
        .and_then(cost)
        .unwrap_or_else(|| Cell::missing(NOT_MEASURED))
}

/// Cells with the shortest and the longest round trip between two CPUs.
fn round_trips(report: &Report) -> [Cell; 2] {
    let is_of_lines = |d: &&Dataset| d.experiment == "core-to-core" && !d.derived;
    let datasets = report.datasets.iter().filter(is_of_lines);
    let all: Vec<&Point> = datasets.flat_map(|d| &d.points).collect();
    let measured: Vec<&Point> = all
        .iter()
        .filter(|p| p.usable().is_some())
        .copied()
        .collect();
    // If no pair has a usable number, the cell shows the reason of the first pair.
    let points = if measured.is_empty() { all } else { measured };
    [false, true].map(|farthest| {
        let point = best(points.iter().copied(), farthest);
        point.map_or_else(
            || Cell::missing(NOT_MEASURED),
            |point| Cell::point(point, 1.0),
        )
    })
}

/// Cell with the verdict on a report. Cells are sorted by grade.
fn verdict(report: &Report) -> Cell {
    let measured = report.verdict.points.values().any(|count| *count > 0);
    if !measured {
        return Cell::missing("nothing was measured");
    }
    let grade = report.verdict.grade;
    let rank = match grade {
        VerdictGrade::Solid => 0.0,
        VerdictGrade::Doubtful => 1.0,
        VerdictGrade::Rejected => 2.0,
    };
    Cell::number(rank, grade.word().to_owned())
}

impl Cell {
    fn text(text: &str) -> Self {
        Cell {
            text: shorten(text, LONGEST),
            ..Cell::default()
        }
    }

    fn number(number: f64, text: String) -> Self {
        Cell {
            text,
            number: Some(number),
            missing: String::new(),
        }
    }

    fn missing(reason: &str) -> Self {
        Cell {
            missing: shorten(reason, 200),
            ..Cell::default()
        }
    }

    /// Cell with the figure of a point, or with the reason why the point has none.
    fn point(point: &Point, factor: f64) -> Self {
        match &point.outcome {
            Outcome::Measured(m) => {
                Cell::number(m.summary.median * factor, value(Some(point), factor))
            }
            other => Cell::missing(other.reason().unwrap_or(NOT_MEASURED)),
        }
    }
}

/// A curve of a machine: medians over the working set, in ascending order of size.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Curve {
    /// Name of the curve.
    pub(super) name: &'static str,
    /// Points that are not rejected.
    pub(super) points: Vec<CurvePoint>,
}

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CurvePoint {
    /// Working set of a thread, in bytes.
    pub(super) bytes: f64,
    /// Median, in the unit in which tables print it.
    pub(super) value: f64,
    /// True if the point is doubtful.
    pub(super) is_doubtful: bool,
}

/// Latency over the working set: the sweep of `caches`. Without a sweep, the curve has the latency
/// points of the levels.
pub(super) fn latency_curves(report: &Report) -> Vec<Curve> {
    let is_sweep = |p: &&Point| p.name("operation") == Some("sweep") && p.number("pass") == Some(0);
    let caches = report.datasets.iter().filter(|d| d.experiment == "caches");
    let sweep = caches.flat_map(|d| &d.points).filter(is_sweep);
    let mut curve = Curve::new("latency", sweep, 1.0);
    if curve.points.len() < 2 {
        let plain = datasets_of(report, "latency").flat_map(|d| &d.points);
        curve = Curve::new("latency", plain.filter(|p| is_plain_latency(p)), 1.0);
    }
    vec![curve]
}

/// Bandwidth of loads over the working set: a curve of one thread, and one of most threads.
pub(super) fn bandwidth_curves(report: &Report) -> Vec<Curve> {
    let points = datasets_of(report, "bandwidth").flat_map(|d| &d.points);
    let reads: Vec<&Point> = points
        .filter(|p| p.name("operation") == Some(OPERATION))
        .collect();
    let counts: BTreeSet<u64> = reads.iter().filter_map(|p| p.number("threads")).collect();
    let of = |name, threads: Option<u64>| {
        let points = reads.iter().copied();
        Curve::new(
            name,
            points.filter(|p| p.number("threads") == threads),
            1e-9,
        )
    };
    let mut curves = vec![of("one thread", Some(1))];
    if let Some(most) = counts.last().filter(|most| **most > 1) {
        curves.push(of("most threads", Some(*most)));
    }
    curves
}

impl Curve {
    /// Makes a curve of the points that have a size and a number that is not rejected. If several
    /// points have the same size, the first one counts.
    fn new<'a>(name: &'static str, points: impl Iterator<Item = &'a Point>, factor: f64) -> Self {
        let place = |point: &Point| {
            let measured = point.usable()?;
            let bytes = point.number("size_bytes").filter(|bytes| *bytes > 0)? as f64;
            let value = measured.summary.median * factor;
            (value.is_finite() && value > 0.0).then_some(CurvePoint {
                bytes,
                value,
                is_doubtful: !mark(measured.verdict.grade).is_empty(),
            })
        };
        let mut points: Vec<CurvePoint> = points.filter_map(place).collect();
        points.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
        points.dedup_by(|a, b| a.bytes == b.bytes);
        Curve { name, points }
    }
}
