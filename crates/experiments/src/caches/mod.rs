//! How many caches are there, what is the capacity of each, and how do they behave?
//!
//! Method and limits: docs/method/caches.md.

mod analysis;
mod competition;
mod findings;
mod grid;
mod llc_check;
mod measured_curve;
mod points;
mod probes;
mod sentences;
mod sharing;
#[cfg(test)]
mod tests;

pub use analysis::MeasuredLevel;
pub use measured_curve::measured_levels;

use crate::chains::{few_samples, line_of};
use crate::command::{CommandSettings, Effects};
use crate::cpus::chosen_cpus;
use crate::experiment::{self, Detail, Draft, Experiment, Scope, axis};
use crate::hierarchy::TimedLastLevel;
use crate::lists::{Density, PageModes};
use analysis::levels;
use engine::{Sampling, page_bytes};
use host::memory::PageMode;
use points::SweptCpu;
use report::{Axis, Dataset, Finding, HostFacts, Quantity, Topology};
use units::error::{Error, Result};
use units::{Bytes, CpuList, Nanos};

/// Which caches to look for, and how closely.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Settings {
    /// Sizes to try: low (2 per doubling), medium (4), high (8)
    #[arg(long, value_name = "DENSITY", default_value = "medium")]
    pub density: Density,

    /// The largest working set [default: 4 times the reported last-level cache, from 256MiB to 1GiB
    /// where there is room]
    #[arg(long, value_name = "SIZE")]
    pub max_size: Option<Bytes>,

    /// Pages: 4k (base pages), thp (transparent huge pages), huge (reserved huge pages), best (the
    /// largest of these that there are) [default: thp where the system has them]
    #[arg(long, value_name = "LIST")]
    pub pages: Option<PageModes>,

    /// CPUs to measure, one after another [default: the first that is allowed]
    #[arg(long, value_name = "LIST", alias = "cpu")]
    pub cpus: Option<CpuList>,
}

/// Time budget of the whole experiment, a little below 20 s. High density has no such budget.
const BUDGET: Nanos = Nanos(19.5e9);

impl Effects for Settings {}

impl CommandSettings for Settings {
    fn experiments(self) -> Vec<Box<dyn Experiment>> {
        vec![Box::new(Caches::new(self))]
    }

    fn budget(&self) -> Option<Nanos> {
        (self.density != Density::High).then_some(BUDGET)
    }
}

/// The experiment's name.
const NAME: &str = "caches";

/// Smallest working set that is measured. No first-level cache is known to be smaller.
const LEAST: Bytes = Bytes(4096);

/// If there is plenty of memory, the default for the largest working set is at least this size.
const AMPLE_MEMORY: Bytes = Bytes(256 << 20);
/// The default for the largest working set is at most this size.
const MOST: Bytes = Bytes(1 << 30);

/// The default for the largest working set is at most 1/`PART` of the usable memory.
const PART: u64 = 4;

/// The default for the largest working set is the reported last-level cache times this factor.
const BEYOND: u64 = 4;

/// Number of samples of a point in each round.
const PER_ROUND: u32 = 4;
/// Number of rounds.
const ROUNDS: u32 = 6;

/// Number of samples of a point in each round, in the default profile.
const BRIEF_PER_ROUND: u32 = 3;
/// Number of rounds in the default profile.
const BRIEF_ROUNDS: u32 = 5;
/// Length of a sample in the default profile.
const BRIEF_SAMPLE: Nanos = Nanos(0.3e6);

/// The experiment `caches`.
#[derive(Debug, Clone)]
pub struct Caches {
    settings: Settings,
    /// True in the default profile, which measures only latencies and capacities.
    brief: bool,
}

impl Caches {
    /// The experiment with the settings of its own command.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            brief: false,
        }
    }

    /// The experiment as part of a profile. `detail` decides how densely sizes are measured, and
    /// whether other properties than capacities are measured.
    pub fn in_profile(detail: Detail) -> Self {
        let brief = detail != Detail::Sweep;
        let density = if brief { Density::Low } else { Density::Medium };
        Self {
            settings: Settings {
                density,
                max_size: None,
                pages: None,
                cpus: None,
            },
            brief,
        }
    }

    /// The `findings` to report. In the default profile, findings about properties that this
    /// profile does not measure are left out.
    fn told(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        let not_requested = ["cache-ways-unknown", "cache-sharing-unknown"];
        findings.retain(|finding| !self.brief || !not_requested.contains(&finding.kind.as_str()));
        findings
    }

    /// Sizes of the placeholders for the fine grid of a curve.
    fn rooms(&self, group: &SweptCpu) -> Vec<Bytes> {
        grid::stand_ins(group.most)
            .into_iter()
            .step_by(if self.brief { 2 } else { 1 })
            .collect()
    }

    /// Each combination of CPU and pages to measure.
    fn groups(&self, scope: &Scope<'_>) -> Result<Vec<SweptCpu>> {
        let facts = scope.facts();
        let modes = self
            .settings
            .pages
            .as_ref()
            .map_or_else(|| vec![usual(facts)], |pages| pages.on(facts));
        let mut groups = Vec::new();
        for cpu in chosen_cpus(self.settings.cpus.as_ref(), "--cpus", scope)? {
            let most = self.largest(scope, cpu)?;
            groups.extend(modes.iter().map(|&pages| SweptCpu {
                cpu,
                pages,
                line: line_of(scope, cpu),
                base: facts.pages.base,
                huge: page_bytes(pages, facts),
                most,
                seed: scope.seed,
            }));
        }
        Ok(groups)
    }

    /// The largest working set for `cpu`. Fails if the user's size is not possible.
    fn largest(&self, scope: &Scope<'_>, cpu: u32) -> Result<Bytes> {
        let usable = scope.usable();
        if let Some(requested) = self.settings.max_size {
            let least = Bytes(LEAST.0 * 8);
            return if requested > usable || requested < least {
                Err(Error::usage(format!(
                    "largest working set not possible: {requested}; {least} to the {usable} that may \
                     be used; type --max-size {}",
                    AMPLE_MEMORY.min(usable.round_down(1 << 10)).typed()
                )))
            } else {
                Ok(requested.round_down(line_of(scope, cpu).0))
            };
        }
        let last = scope
            .facts()
            .topology
            .data_caches(cpu)
            .last()
            .map_or(0, |cache| cache.size.0);
        let wanted = last.saturating_mul(BEYOND).clamp(
            AMPLE_MEMORY.0,
            if self.brief { AMPLE_MEMORY } else { MOST }.0,
        );
        Ok(Bytes(wanted.min(usable.0 / PART).max(LEAST.0 * 8)).round_down(LEAST.0))
    }
}

/// Default for the pages: transparent huge pages if the system has them, because TLB misses then
/// hardly lengthen loads.
fn usual(facts: &HostFacts) -> PageMode {
    if facts.pages.has_transparent() == Some(true) {
        PageMode::Transparent
    } else {
        PageMode::Base
    }
}

impl Experiment for Caches {
    fn name(&self) -> &'static str {
        NAME
    }

    fn quantity(&self) -> Quantity {
        experiment::latency_quantity()
    }

    fn axes(&self) -> Vec<Axis> {
        [
            "operation",
            "pages",
            "chain_mode",
            "pass",
            "nodes",
            "partner",
            "kernel",
            "threads",
            "cpu",
            "size_bytes",
            "stride_bytes",
            "distance_bytes",
            "cache_bytes",
        ]
        .map(axis)
        .to_vec()
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        let mut drafts = Vec::new();
        for group in self.groups(scope)? {
            let sizes = grid::coarse(LEAST, group.most, self.settings.density.steps(), group.line);
            drafts.extend(sizes.into_iter().map(|size| group.sweep(scope, size, 0)));
            scope.room_for(drafts.len())?;
        }
        Ok(drafts)
    }

    fn reserve(&self, scope: &Scope<'_>) -> Result<Vec<Vec<Draft>>> {
        let mut closer = Vec::new();
        let mut probes = Vec::new();
        let groups = self.groups(scope)?;
        let sharing = if self.brief {
            Vec::new()
        } else {
            sharing::stand_ins(&groups, scope)
        };
        for group in groups {
            let sizes = self.rooms(&group);
            closer.extend(sizes.into_iter().map(|size| group.sweep(scope, size, 1)));
            if !self.brief {
                probes.extend(probes::stand_ins(&group, scope));
            }
            scope.room_for(closer.len() + probes.len() + sharing.len())?;
        }
        Ok(vec![closer, probes, sharing])
    }

    fn follow_up(
        &self,
        scope: &Scope<'_>,
        stage: usize,
        most: usize,
        measured: &Dataset,
    ) -> Vec<Draft> {
        // The same settings were drafted before without an error, so that there are always groups.
        let groups = self.groups(scope).unwrap_or_default();
        let each = most / groups.len().max(1);
        let curve =
            |group: &SweptCpu| measured_curve::curve(measured, group.cpu, &group.pages.to_string());
        if stage == 2 {
            let known: Vec<_> = groups
                .iter()
                .map(|group| (*group, levels(&curve(group))))
                .collect();
            return sharing::place(&known, scope, most);
        }
        let place = |group: &SweptCpu| {
            let curve = curve(group);
            match stage {
                0 => {
                    let sizes = grid::closer(&curve, &self.rooms(group), each, group.line);
                    sizes
                        .into_iter()
                        .map(|size| group.sweep(scope, size, 1))
                        .collect()
                }
                1 => probes::place(group, scope, &levels(&curve), each),
                _ => Vec::new(),
            }
        };
        groups.iter().flat_map(place).collect()
    }

    /// True for both passes of the sweep: the first points, and the points of follow-up 0.
    fn sizes_memory(&self, stage: Option<usize>) -> bool {
        stage.is_none_or(|stage| stage == 0)
    }

    fn is_auxiliary(&self) -> bool {
        true
    }

    /// Few samples are enough for a point, because a capacity follows from many points that agree.
    fn sampling(&self, general: Sampling) -> Sampling {
        if self.brief {
            few_samples(general, BRIEF_PER_ROUND, BRIEF_ROUNDS, BRIEF_SAMPLE)
        } else {
            few_samples(general, PER_ROUND, ROUNDS, general.length)
        }
    }

    fn rebuilds_chains(&self) -> bool {
        true
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        self.told(findings::findings(dataset, None))
    }

    fn timed_last_level(
        &self,
        measured: &Dataset,
        topology: &Topology,
        cpus: &[u32],
    ) -> Option<TimedLastLevel> {
        llc_check::timed_last_level(measured, topology, cpus)
    }

    fn review(&self, datasets: &mut [Dataset], own: usize, topology: &Topology) {
        llc_check::review(datasets, own, topology);
    }

    fn findings_on(&self, facts: &HostFacts, dataset: &Dataset) -> Vec<Finding> {
        self.told(findings::findings(dataset, Some(&facts.topology)))
    }
}
