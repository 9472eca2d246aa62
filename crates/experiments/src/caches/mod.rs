//! How many caches are there, what does each hold, and how do they behave?
//!
//! Method and limits: docs/method/caches.md.

mod analysis;
mod competition;
mod findings;
mod grid;
mod llc_check;
mod probes;
mod sentences;
mod sharing;
#[cfg(test)]
mod tests;

pub use analysis::{End, MeasuredLevel, Spot, levels};
pub use findings::measured_levels;

use crate::chain_modes::packed_window;
use crate::command::{CommandSettings, Effects};
use crate::experiment::{Bound, Detail, Draft, Experiment, Scope, axis, bytes_axis};
use crate::hierarchy::TimedLastLevel;
use crate::instructions::chosen_cpus;
use crate::latency::line_of;
use crate::lists::{Density, PageModes};
use engine::{ChainShape, ChaseWork, Sampling, Work, page_bytes};
use host::memory::PageMode;
use kernels::chase_name;
use report::{
    Axis, Coordinate, Coordinates, Dataset, Finding, HostFacts, Outcome, Quantity, Topology,
};
use stats::derive;
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

    /// CPUs to look at, one after another [default: the first that is allowed]
    #[arg(long, value_name = "LIST", alias = "cpu")]
    pub cpus: Option<CpuList>,
}

/// Less than 20 s with what comes before and after, unless a close look is asked for.
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

/// Chains over working sets of rising size, as an operation.
pub(super) const SWEEP: &str = "sweep";

/// Pairs of nodes at a distance.
pub(super) const PAIR: &str = "pair";

/// Nodes one stride after the other, and the same ones in random order.
pub(super) const STRIDE: &str = "stride";

/// Few nodes at a stride that puts them into one set.
pub(super) const WAYS: &str = "ways";

/// The experiment's name.
const NAME: &str = "caches";

/// A chase through most of a cache, alone and beside another CPU that goes through as much.
pub(super) const SHARED: &str = "shared";

/// The smallest working set: no first-level cache is known to be smaller.
const LEAST: Bytes = Bytes(4096);

/// The largest one by default is no less than this where there is plenty of memory, and no more
/// than that.
const AMPLE_MEMORY: Bytes = Bytes(256 << 20);
const MOST: Bytes = Bytes(1 << 30);

/// The largest one by default is no more than this part of what may be used.
const PART: u64 = 4;

/// The largest one is this many times the last-level cache that the system reports.
const BEYOND: u64 = 4;

/// What is gone through in huge pages before anything else is: 32 of the small pages that a virtual
/// machine's huge ones may be to its host, fewer than a first-level TLB has entries.
const WINDOW: Bytes = Bytes(128 << 10);

/// Samples of a point in a round, and rounds.
const PER_ROUND: u32 = 4;
const ROUNDS: u32 = 6;

/// The same in the default profile, and the length of a sample there.
const BRIEF_PER_ROUND: u32 = 3;
const BRIEF_ROUNDS: u32 = 5;
const BRIEF_SAMPLE: Nanos = Nanos(0.3e6);

/// The experiment.
#[derive(Debug, Clone)]
pub struct Caches {
    settings: Settings,
    /// Whether it has little time: only where the caches end is asked.
    brief: bool,
}

/// What one curve is of.
#[derive(Debug, Clone, Copy)]
struct Group {
    cpu: u32,
    pages: PageMode,
    line: Bytes,
    base: Bytes,
    huge: Bytes,
    /// The largest working set.
    most: Bytes,
    seed: u64,
}

impl Caches {
    /// With the user's settings.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            brief: false,
        }
    }

    /// As part of a profile.
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

    /// Without what was not asked because there is little time.
    fn told(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        let not_asked = ["cache-ways-unknown", "cache-sharing-unknown"];
        findings.retain(|finding| !self.brief || !not_asked.contains(&finding.kind.as_str()));
        findings
    }

    /// What stands in for the closer look at a curve.
    fn rooms(&self, group: &Group) -> Vec<Bytes> {
        grid::stand_ins(group.most)
            .into_iter()
            .step_by(if self.brief { 2 } else { 1 })
            .collect()
    }

    /// Every CPU and kind of pages to look at.
    fn groups(&self, scope: &Scope<'_>) -> Result<Vec<Group>> {
        let facts = scope.facts();
        let modes = self
            .settings
            .pages
            .as_ref()
            .map_or_else(|| vec![usual(facts)], |pages| pages.on(facts));
        let mut groups = Vec::new();
        for cpu in chosen_cpus(self.settings.cpus.as_ref(), "--cpus", scope)? {
            let most = self.largest(scope, cpu)?;
            groups.extend(modes.iter().map(|&pages| Group {
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

    /// The largest working set.
    fn largest(&self, scope: &Scope<'_>, cpu: u32) -> Result<Bytes> {
        let usable = scope.usable();
        if let Some(asked) = self.settings.max_size {
            let least = Bytes(LEAST.0 * 8);
            return if asked > usable || asked < least {
                Err(Error::usage(format!(
                    "largest working set not possible: {asked}; {least} to the {usable} that may \
                     be used; type --max-size {}",
                    AMPLE_MEMORY.min(usable.round_down(1 << 10)).typed()
                )))
            } else {
                Ok(asked.round_down(line_of(scope, cpu).0))
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

/// The pages in which chains do not show what TLBs cost, where the system has them.
fn usual(facts: &HostFacts) -> PageMode {
    let never = facts
        .pages
        .thp_mode
        .get()
        .is_none_or(|mode| mode == "never");
    if never {
        PageMode::Base
    } else {
        PageMode::Transparent
    }
}

impl Group {
    /// The order in which to go through a large working set: all of a few pages before the next, so
    /// that TLBs hardly show. A virtual machine's huge pages may be small ones of the host, whose
    /// search shows where a window has more than the TLB.
    fn order(&self) -> ChainShape {
        match self.pages {
            PageMode::Base => ChainShape::RandomBox(packed_window(self.base)),
            _ => ChainShape::RandomBox(WINDOW),
        }
    }

    fn chase(&self, operation: &str, bytes: Bytes, stride: Bytes, shape: ChainShape) -> ChaseWork {
        let seed = derive(self.seed, operation, bytes.0 ^ (stride.0 << 48));
        let Group { cpu, pages, .. } = *self;
        ChaseWork {
            pages,
            cpus: vec![cpu],
            shared: false,
            bytes,
            stride,
            shape,
            seed,
            walkers: 1,
            payload: false,
            node: None,
        }
    }

    /// A working set of so many bytes; `pass` 0 to discover, 1 to look more closely.
    fn sweep(&self, scope: &Scope<'_>, size: Bytes, pass: u64) -> Draft {
        let work = self.chase(SWEEP, size, self.line, self.order());
        self.draft(scope, SWEEP, work, &[("pass", pass)])
    }

    fn draft(
        &self,
        scope: &Scope<'_>,
        operation: &str,
        work: ChaseWork,
        more: &[(&str, u64)],
    ) -> Draft {
        let name = |text: &str| Coordinate::Name(text.to_owned());
        let mode = super::chain_modes::named(work.shape).0;
        let mut coordinates = Coordinates::from([
            ("operation".to_owned(), name(operation)),
            ("kernel".to_owned(), Coordinate::Name(chase_name(1, false))),
            ("pages".to_owned(), Coordinate::Name(self.pages.to_string())),
            ("chain_mode".to_owned(), Coordinate::Name(mode.to_string())),
            ("size_bytes".to_owned(), Coordinate::Number(work.bytes.0)),
            ("stride_bytes".to_owned(), Coordinate::Number(work.stride.0)),
            ("threads".to_owned(), Coordinate::Number(1)),
            ("cpu".to_owned(), Coordinate::Number(u64::from(self.cpu))),
        ]);
        coordinates.extend(
            more.iter()
                .map(|(axis, number)| ((*axis).to_owned(), Coordinate::Number(*number))),
        );
        let fits = work.slot() <= scope.usable();
        // What is asked first is needed most; of that, small working sets are.
        let rank = [SWEEP, PAIR, STRIDE, WAYS, SHARED]
            .iter()
            .position(|o| *o == operation)
            .unwrap_or(0)
            .min(1) as u8;
        let drop_priority = 2 + 64 * rank + work.bytes.0.max(1).ilog2() as u8;
        let reason = || {
            format!(
                "{} do not fit into the {} that may be used",
                work.bytes,
                scope.usable()
            )
        };
        let work = match scope.machine.kernel(&Work::Chase(work.clone())) {
            Err(reason) => Err(Outcome::Unsupported { reason }),
            Ok(_) if !fits => Err(Outcome::Skipped { reason: reason() }),
            Ok(_) => Ok(Work::Chase(work)),
        };
        Draft {
            coordinates,
            work,
            bound: Bound::Unknown,
            drop_priority,
        }
    }
}

impl Experiment for Caches {
    fn name(&self) -> &'static str {
        NAME
    }

    fn quantity(&self) -> Quantity {
        Quantity {
            name: "latency".to_owned(),
            unit: "ns".to_owned(),
            higher_is_better: false,
        }
    }

    fn axes(&self) -> Vec<Axis> {
        let names = [
            "operation",
            "pages",
            "chain_mode",
            "pass",
            "nodes",
            "partner",
            "kernel",
            "threads",
            "cpu",
        ];
        let sizes = [
            "size_bytes",
            "stride_bytes",
            "distance_bytes",
            "cache_bytes",
        ];
        names
            .map(axis)
            .into_iter()
            .chain(sizes.map(bytes_axis))
            .collect()
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
        // What could be drafted can be asked again.
        let groups = self.groups(scope).unwrap_or_default();
        let each = most / groups.len().max(1);
        let curve = |group: &Group| findings::curve(measured, group.cpu, &group.pages.to_string());
        if stage == 2 {
            let known: Vec<_> = groups
                .iter()
                .map(|group| (*group, levels(&curve(group))))
                .collect();
            return sharing::place(&known, scope, most);
        }
        let place = |group: &Group| {
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

    fn adjustments(&self, _scope: &Scope<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Both passes of the sweep.
    fn sizes_memory(&self, stage: Option<usize>) -> bool {
        stage.is_none_or(|stage| stage == 0)
    }

    fn is_auxiliary(&self) -> bool {
        true
    }

    /// Few samples: what an end rests on is many points that agree.
    fn sampling(&self, general: Sampling) -> Sampling {
        let (per_round, rounds) = if self.brief {
            (BRIEF_PER_ROUND, BRIEF_ROUNDS)
        } else {
            (PER_ROUND, ROUNDS)
        };
        let length = if self.brief {
            general.length.min(BRIEF_SAMPLE)
        } else {
            general.length
        };
        let per_round = general.per_round.min(per_round);
        let rounds = general.rounds.min(rounds);
        Sampling {
            length,
            in_memory: 1.0,
            per_round,
            rounds,
            target: 0.0,
            ..general
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
