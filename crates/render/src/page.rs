//! The parts of a report that people read. Renderers write them as text, Markdown or HTML.

use super::blocks::{Block, Labelled};
use super::figures::{axis_title, coordinate, fixed_axes};
use super::text::shorten;
use super::{Options, hierarchy, matrix, points, remarks};
use report::{CacheKind, Dataset, Point, Report, RunStatus, Topology, VcpuPlacement, headline};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use units::{Bytes, CpuList, counted};

/// The parts of a report that people read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Page {
    /// Lines about machine and session.
    pub(super) heading: Heading,
    /// Tables of figures.
    pub(super) blocks: Vec<Block>,
    /// Labelled lines below the tables.
    pub(super) remarks: Vec<Labelled>,
    /// True if the first table is the memory hierarchy.
    pub(super) is_hierarchy: bool,
}

/// Makes the page of a report.
pub(super) fn page(report: &Report, options: &Options) -> Page {
    let Tables {
        blocks,
        hidden,
        is_hierarchy,
        ..
    } = tables(report, options);
    let extra_rows = is_hierarchy.then(|| hierarchy::variant_rows(report));
    let remarks = match options.verbose {
        true => remarks::full(report, options),
        false => remarks::brief(report, options, hidden, extra_rows),
    };
    Page {
        heading: heading(report, options.verbose),
        blocks,
        remarks,
        is_hierarchy,
    }
}

/// The tables of a report.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) blocks: Vec<Block>,
    /// Number of points that no table shows.
    pub(super) hidden: usize,
    /// True if the first table is the memory hierarchy.
    pub(super) is_hierarchy: bool,
    /// Points that a table shows.
    shown: HashSet<*const Point>,
}

/// Makes the tables of a report. If the report has a table of the memory hierarchy, that table is
/// the only one, unless `verbose`.
pub(super) fn tables(report: &Report, options: &Options) -> Tables {
    let mut tables = Tables {
        is_hierarchy: hierarchy::applies(report),
        ..Tables::default()
    };
    if tables.is_hierarchy {
        tables.shown = hierarchy::shown(report);
        tables.blocks.push(hierarchy::block(report));
    }
    for dataset in report.datasets.iter().filter(|d| !d.points.is_empty()) {
        tables.add(dataset, options);
    }
    tables
        .blocks
        .retain(|block: &Block| !block.grid.rows.is_empty());
    tables
}

impl Tables {
    /// Adds the tables of a dataset, unless earlier tables show all of its points.
    fn add(&mut self, dataset: &Dataset, options: &Options) {
        let points = || dataset.points.iter().map(std::ptr::from_ref::<Point>);
        let missing = points().filter(|point| !self.shown.contains(point)).count();
        if missing == 0 {
            return;
        }
        if self.is_hierarchy && !options.verbose {
            self.hidden += if dataset.derived { 0 } else { missing };
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
                self.hidden += missing;
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

/// Name of a dataset, with the coordinates that all of its points share.
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

/// Machine and session in words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Heading {
    /// Processor, CPUs, and virtualisation.
    pub(super) machine: String,
    /// Caches and memory.
    pub(super) memory: String,
    /// Time of the session, and number of points.
    pub(super) session: String,
    /// Sentences about shortened samples and points that were left out.
    pub(super) shortened: Vec<String>,
}

impl Heading {
    /// The heading as labelled lines.
    pub(super) fn labelled(&self) -> Vec<Labelled> {
        let mut lines = vec![
            ("Machine".to_owned(), self.machine.clone()),
            ("Memory".to_owned(), self.memory.clone()),
            ("Session".to_owned(), self.session.clone()),
        ];
        let shortened = self.shortened.iter().cloned();
        lines.extend(shortened.map(|text| ("Shortened".to_owned(), text)));
        lines
    }
}

/// The heading of a report.
pub(super) fn heading(report: &Report, verbose: bool) -> Heading {
    // Points that were left out are listed as missing in another line.
    let is_told = |text: &&String| verbose || !text.starts_with("left out");
    let shortened = report.plan.shortened.iter().filter(is_told);
    Heading {
        machine: machine(report),
        memory: memory(report),
        session: session(report, verbose),
        shortened: shortened.map(|text| shorten(text, 160)).collect(),
    }
}

/// Processor, CPUs, and virtualisation or emulation.
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
        None => "virtualisation unknown".to_owned(),
        Some("none") => "bare metal".to_owned(),
        Some(name) => format!("{} guest{}", shorten(name, 30), placement(report)),
    });
    if let Some(kind) = host.system.container.get().filter(|kind| *kind != "none") {
        parts.push(format!("{} container", shorten(kind, 30)));
    }
    let gpus = host.gpus.iter();
    parts.extend(gpus.map(|gpu| {
        let kind = if gpu.kind == "gpu" { "GPU" } else { "device" };
        format!("{kind} {}", shorten(&gpu.name, 40))
    }));
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

/// Measured placement of the virtual CPUs on cores, as the end of a phrase; empty if unknown.
fn placement(report: &Report) -> String {
    let measured = headline(&report.datasets)
        .flat_map(|d| &d.points)
        .filter_map(|p| p.outcome.measured());
    let seen: BTreeSet<VcpuPlacement> = measured.filter_map(|m| m.placement()).collect();
    match (seen.first(), seen.len()) {
        (None, _) => String::new(),
        (Some(placement), 1) => format!(" (vCPUs {})", placement.phrase()),
        _ => " (its host moves vCPUs)".to_owned(),
    }
}

/// CPUs on which samples were taken. If there are no samples, CPUs that the process may use.
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

/// Caches and memory, in words.
fn memory(report: &Report) -> String {
    let host = &report.provenance.host;
    let size =
        |bytes: Option<&Bytes>| bytes.map_or_else(|| "unknown".to_owned(), ToString::to_string);
    format!(
        "{}; memory {}, {} of it usable",
        caches(&host.topology),
        size(host.memory.total.get()),
        size(host.memory.usable.get())
    )
}

/// Data caches by level, in words. Caches of the same size are counted together.
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

/// Time and number of points of the session, in words. With `verbose`, the plan is included.
fn session(report: &Report, verbose: bool) -> String {
    let plan = &report.plan;
    let points = report
        .datasets
        .iter()
        .filter(|d| !d.derived)
        .flat_map(|d| &d.points);
    let measured = points.filter(|p| p.outcome.measured().is_some()).count();
    let all = counted(usize::try_from(plan.points).unwrap_or(usize::MAX), "point");
    let took = plan
        .real
        .map_or_else(|| "not finished".to_owned(), |real| real.to_string());
    let status = match report.status {
        RunStatus::Complete => "",
        RunStatus::Partial => ", partial",
        RunStatus::Interrupted => ", INTERRUPTED",
    };
    if !verbose {
        return format!("{measured} of {all} in {took}{status}");
    }
    format!(
        "profile {}, planned {}, took {took} of at most {}, {} mapped, {measured} of {all} \
         measured{status}",
        shorten(&plan.profile, 40),
        plan.planned,
        plan.budget,
        plan.memory,
    )
}
