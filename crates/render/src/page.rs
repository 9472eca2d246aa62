//! What a person is shown of a report, before it is drawn as text or Markdown.

use super::blocks::{Block, Labelled};
use super::figures::{axis_title, coordinate, fixed_axes};
use super::text::shorten;
use super::{Options, hierarchy, matrix, points, remarks};
use report::{CacheKind, Dataset, Point, Report, RunStatus, Topology};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use units::{Bytes, CpuList, counted};

/// What a person is shown of a report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Page {
    /// Machine and plan.
    pub(super) facts: Vec<Labelled>,
    /// The numbers.
    pub(super) blocks: Vec<Block>,
    /// What is to be said about them.
    pub(super) remarks: Vec<Labelled>,
}

/// Puts a page together.
pub(super) fn page(report: &Report, options: &Options) -> Page {
    let Tables {
        blocks,
        others,
        shown,
    } = tables(report, options);
    let mut remarks = remarks::remarks(report, options, |point| {
        shown.contains(&std::ptr::from_ref(point))
    });
    if !others.is_empty() {
        let text = format!(
            "{}; --verbose or --format csv shows them",
            others.join(", ")
        );
        remarks.insert(0, ("also".to_owned(), text));
    }
    Page {
        facts: facts(report),
        blocks,
        remarks,
    }
}

/// The tables of a report.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// The tables themselves.
    pub(super) blocks: Vec<Block>,
    /// What is left out of them where `verbose` is not asked for.
    others: Vec<String>,
    /// The points that have a row or a cell in them.
    shown: HashSet<*const Point>,
}

/// The tables, with what they leave out.
pub(super) fn tables(report: &Report, options: &Options) -> Tables {
    let mut tables = Tables::default();
    let whole = hierarchy::applies(report);
    if whole {
        tables.shown = hierarchy::shown(report);
        tables.blocks.push(hierarchy::block(report, options.bars));
    }
    for dataset in report.datasets.iter().filter(|d| !d.points.is_empty()) {
        tables.add(dataset, whole, options);
    }
    tables
        .blocks
        .retain(|block: &Block| !block.grid.rows.is_empty());
    tables
}

impl Tables {
    /// Adds what the `whole` hierarchy does not have of a dataset.
    fn add(&mut self, dataset: &Dataset, whole: bool, options: &Options) {
        let points = || dataset.points.iter().map(std::ptr::from_ref::<Point>);
        let missing = points().filter(|point| !self.shown.contains(point)).count();
        if missing == 0 {
            return;
        }
        if whole && !options.verbose {
            let told = match hierarchy::beyond(dataset, &self.shown) {
                _ if missing == dataset.points.len() => counted(missing, "point"),
                beyond if beyond.is_empty() => counted(missing, "more point"),
                beyond => format!("{} ({beyond})", counted(missing, "more point")),
            };
            self.others.push(format!("{} {told}", dataset.experiment));
            return;
        }
        if matrix::applies(dataset) {
            self.blocks
                .extend(matrix::blocks(dataset, &title(dataset), options.verbose));
            let rest = matrix::without_ends(dataset);
            self.blocks.extend(rest.map(|rest| Block {
                title: title(&rest),
                ..points::block(&rest, options)
            }));
            if matrix::is_large(dataset) && !options.verbose {
                return;
            }
        } else {
            self.blocks.push(Block {
                title: title(dataset),
                ..points::block(dataset, options)
            });
        }
        self.shown.extend(points());
    }
}

/// What a dataset is, and the coordinates that all of its points share.
fn title(dataset: &Dataset) -> String {
    let name = if dataset.experiment == dataset.quantity.name {
        dataset.experiment.clone()
    } else {
        format!("{}: {}", dataset.experiment, dataset.quantity.name)
    };
    let fixed = fixed_axes(dataset)
        .into_iter()
        .map(|(axis, c)| format!(", {} {}", axis_title(axis), coordinate(axis, c)));
    shorten(&(name + &fixed.collect::<String>()), 200)
}

/// Machine and plan.
pub(super) fn facts(report: &Report) -> Vec<Labelled> {
    let mut facts = vec![
        ("machine".to_owned(), machine(report)),
        (String::new(), memory(report)),
        ("plan".to_owned(), plan(report)),
    ];
    facts.extend(
        report
            .plan
            .shortened
            .iter()
            .map(|s| (String::new(), format!("shortened: {}", shorten(s, 160)))),
    );
    facts
}

/// Processor, CPUs, what lies between us and the hardware.
pub(super) fn machine(report: &Report) -> String {
    let host = &report.provenance.host;
    let known = |fact: Option<&String>, what: &str| {
        fact.map_or_else(|| format!("unknown {what}"), |text| shorten(text, 60))
    };
    let core = known(host.cpu.microarchitecture.get(), "core design");
    let mut parts = vec![format!(
        "{} ({core})",
        known(host.cpu.model_name.get(), host.cpu.architecture.as_str())
    )];
    let used = cpus_used(report);
    let there = host.topology.cpus.len();
    parts.push(match used.len() {
        0 => "no CPUs used".to_owned(),
        1 => format!("CPU {} of {there}", CpuList(used)),
        _ => format!(
            "CPUs {} of {there}",
            shorten(&CpuList(used).to_string(), 40)
        ),
    });
    parts.push(match host.system.virtualization.get().map(String::as_str) {
        None => "virtualised: unknown".to_owned(),
        Some("none") => "not virtualised".to_owned(),
        Some(name) => format!("virtualised by {}", shorten(name, 30)),
    });
    if let Some(kind) = host.system.container.get().filter(|kind| *kind != "none") {
        parts.push(format!("container {}", shorten(kind, 30)));
    }
    if report.provenance.tool.machine != "native" {
        parts.insert(
            0,
            format!(
                "NOT NATIVE: {}",
                shorten(&report.provenance.tool.machine, 60)
            ),
        );
    }
    parts.join(", ")
}

/// The CPUs that samples were taken on, or where there are none those that could have been used.
fn cpus_used(report: &Report) -> Vec<u32> {
    let measured = report
        .datasets
        .iter()
        .flat_map(|d| &d.points)
        .filter_map(|p| p.outcome.measured());
    let used: BTreeSet<u32> = measured
        .flat_map(|m| m.evidence.cpus.iter().copied())
        .collect();
    if used.is_empty() {
        report.provenance.host.topology.allowed()
    } else {
        used.into_iter().collect()
    }
}

/// Caches and memory.
fn memory(report: &Report) -> String {
    let host = &report.provenance.host;
    let size =
        |bytes: Option<&Bytes>| bytes.map_or_else(|| "unknown".to_owned(), ToString::to_string);
    format!(
        "{}; memory {}, usable {}",
        caches(&host.topology),
        size(host.memory.total.get()),
        size(host.memory.usable.get())
    )
}

/// Data caches by level, instances of one size counted.
fn caches(topology: &Topology) -> String {
    let mut levels: BTreeMap<u32, BTreeMap<Bytes, usize>> = BTreeMap::new();
    for cache in topology
        .caches
        .iter()
        .filter(|c| c.kind != CacheKind::Instruction)
    {
        *levels
            .entry(cache.level)
            .or_default()
            .entry(cache.size)
            .or_default() += 1;
    }
    if levels.is_empty() {
        return format!("caches unknown ({})", shorten(&topology.caches_source, 60));
    }
    let level = |(level, sizes): (&u32, &BTreeMap<Bytes, usize>)| {
        let sizes = sizes.iter().map(|(size, n)| {
            if *n == 1 {
                size.to_string()
            } else {
                format!("{n} x {size}")
            }
        });
        format!("L{level} {}", sizes.collect::<Vec<_>>().join(" + "))
    };
    levels.iter().map(level).collect::<Vec<_>>().join(", ")
}

/// What was planned and what became of it.
fn plan(report: &Report) -> String {
    let plan = &report.plan;
    let outcomes = report
        .datasets
        .iter()
        .filter(|d| !d.derived)
        .flat_map(|d| &d.points);
    let measured = outcomes.filter(|p| p.outcome.measured().is_some()).count();
    let took = plan
        .real
        .map_or_else(|| "not finished".to_owned(), |real| format!("took {real}"));
    let status = match report.status {
        RunStatus::Complete => "",
        RunStatus::Partial => "; partial",
        RunStatus::Interrupted => "; INTERRUPTED",
    };
    format!(
        "{}: planned {}, {took} (at most {}), {} mapped, {measured} of {} measured{status}",
        shorten(&plan.profile, 40),
        plan.planned,
        plan.budget,
        plan.memory,
        counted(usize::try_from(plan.points).unwrap_or(usize::MAX), "point"),
    )
}
