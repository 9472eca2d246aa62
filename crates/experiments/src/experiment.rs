//! Trait of experiments: from settings to points, and from measured points to findings.

use crate::hierarchy::TimedLastLevel;
use engine::{Machine, Sampling, Windows, Work};
use report::{Axis, Coordinates, Dataset, Finding, HostFacts, Outcome, Quantity, Topology};
use std::fmt::Display;
use units::error::{Error, Result};
use units::{Bytes, Nanos};

/// Detail of the measurement when the user names no sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// One point well inside each level: fewest points that tell the levels apart.
    Brief,
    /// The same, and what non-temporal stores and small pages make of memory.
    Levels,
    /// A sweep over sizes that shows the levels' boundaries.
    Sweep,
}

/// Points that are drafted at most to tell how many there would be.
const MAX_COUNTED: usize = 20_000;

/// Machine and limits that an experiment plans for.
pub struct Scope<'a> {
    /// The machine: its facts, and which kernels it has.
    pub machine: &'a dyn Machine,
    /// The CPUs of the run, in the order in which threads are placed.
    pub cpus: &'a [u32],
    /// Names of all experiments of the run.
    pub experiments: Vec<&'static str>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Points that are allowed in each repeat: what chooses its points takes no more of them.
    pub most_points: usize,
    /// Effective capacity of the last-level caches of the session together, if the user gives it or
    /// timing showed it.
    pub last_level: Option<Bytes>,
}

impl Scope<'_> {
    /// Refuses `count` points where that is far more than are allowed. To be asked while points are
    /// drafted: lists that multiply make more of them than memory holds. The plan refuses what is
    /// only a little more, since it knows the sum.
    pub fn room_for(&self, count: usize) -> Result<()> {
        let most = self.most_points.max(MAX_COUNTED);
        if count <= most {
            return Ok(());
        }
        Err(Error::usage(format!(
            "too many points: more than {most}; {} are allowed; type fewer values",
            self.most_points
        )))
    }

    /// `work`, or why this machine cannot do it.
    pub fn runnable(&self, work: Work) -> std::result::Result<Work, Outcome> {
        match self.machine.kernel(&work) {
            Ok(_) => Ok(work),
            Err(reason) => Err(Outcome::Unsupported { reason }),
        }
    }

    /// That `what`, which takes `needed`, does not fit into the memory of a run; `None` where it
    /// does.
    pub fn no_room(&self, needed: Bytes, what: impl Display) -> Option<Outcome> {
        let usable = self.usable();
        (needed > usable).then(|| Outcome::Skipped {
            reason: format!("{what} do not fit into the {usable} that may be used"),
        })
    }

    /// Facts about the machine.
    pub fn facts(&self) -> &HostFacts {
        self.machine.facts()
    }

    /// Memory that a session may map.
    pub fn usable(&self) -> Bytes {
        self.facts()
            .memory
            .usable
            .get()
            .copied()
            .unwrap_or(Bytes(u64::MAX))
    }

    /// All last-level caches that the CPUs of the run use, together: as is known or the system
    /// reports; zero where caches are unknown.
    pub fn last_level(&self) -> Bytes {
        self.last_level
            .unwrap_or_else(|| self.facts().topology.last_level_total(self.cpus))
    }

    /// Capacity of the last-level caches that `cpus` use. If the total is known to differ from the
    /// reported one, each cache differs in proportion.
    pub fn last_level_of(&self, cpus: &[u32]) -> Bytes {
        let reported = self.facts().topology.last_level_total(cpus);
        let all = self.facts().topology.last_level_total(self.cpus);
        let share =
            |known: Bytes| u128::from(known.0) * u128::from(reported.0) / u128::from(all.0.max(1));
        self.last_level.map_or(reported, |known| {
            Bytes(u64::try_from(share(known)).unwrap_or(u64::MAX))
        })
    }
}

/// An upper bound that can be computed for a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// None is known.
    Unknown,
    /// Bandwidth of the paths between the cores and their L1 data caches.
    L1Ports,
    /// Bandwidth of the memory modules.
    Memory,
}

/// A point that an experiment wants measured.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Coordinates of the point.
    pub coordinates: Coordinates,
    /// Work to measure, or the outcome if it is already known.
    pub work: std::result::Result<Work, Outcome>,
    /// Upper bound of the value.
    pub bound: Bound,
    /// When time is short, points of the highest number go first.
    pub drop_priority: u8,
}

impl Draft {
    /// Unsupported for the reason `hidden`, if there is one. A point that is unsupported already
    /// keeps its own reason.
    pub fn unless(mut self, hidden: Option<&String>) -> Self {
        if let Some(reason) =
            hidden.filter(|_| !matches!(self.work, Err(Outcome::Unsupported { .. })))
        {
            self.work = Err(Outcome::Unsupported {
                reason: reason.clone(),
            });
        }
        self
    }
}

/// Samples of memory are no shorter than this: reading the counter and starting the threads would
/// show.
const SHORTEST_SAMPLE: Nanos = Nanos(0.2e6);

/// One question about the machine, with the settings that make it precise.
pub trait Experiment {
    /// The name users type.
    fn name(&self) -> &'static str;

    /// Quantity of its values.
    fn quantity(&self) -> Quantity;

    /// The axes of its dataset.
    fn axes(&self) -> Vec<Axis>;

    /// The points to measure, in the order of tables. Fails on settings that this machine cannot
    /// meet.
    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>>;

    /// Differences between points and request, a sentence each: sizes that were rounded.
    fn adjustments(&self, scope: &Scope<'_>) -> Vec<String>;

    /// Whether its chains are built again in each round, in memory for the largest of them, because
    /// all of them together would take many times that.
    fn rebuilds_chains(&self) -> bool {
        false
    }

    /// Placeholders for points that are drafted once others are measured, a list for each
    /// follow-up: each takes as much time and memory as any point that [`Experiment::follow_up`]
    /// may draft in its place.
    fn reserve(&self, _scope: &Scope<'_>) -> Result<Vec<Vec<Draft>>> {
        Ok(Vec::new())
    }

    /// The points of the follow-up `number`, from 0, by what was `measured` before it. There is
    /// room for `most` of them. A point that is measured already is left out of them.
    fn follow_up(
        &self,
        _scope: &Scope<'_>,
        _number: usize,
        _most: usize,
        _measured: &Dataset,
    ) -> Vec<Draft> {
        Vec::new()
    }

    /// Whether other experiments size memory by its points: by those that are known at the start
    /// (`None`), or those of a follow-up. These points are measured before all others.
    fn sizes_memory(&self, _follow_up: Option<usize>) -> bool {
        false
    }

    /// Effective capacity of the last-level caches of `cpus` together, by its points in `measured`;
    /// `None` if it does not look at them, or finds the reported one.
    fn timed_last_level(
        &self,
        _measured: &Dataset,
        _topology: &Topology,
        _cpus: &[u32],
    ) -> Option<TimedLastLevel> {
        None
    }

    /// Adds to the points of the other `datasets` of a session what its own, that at `own`, shows
    /// of them.
    fn review(&self, _datasets: &mut [Dataset], _own: usize, _topology: &Topology) {}

    /// Whether its points only serve its findings, see [`Dataset::auxiliary`].
    fn is_auxiliary(&self) -> bool {
        false
    }

    /// How its points are sampled where points in `general` are so: other numbers of samples and
    /// rounds where many points tell something together. Never applied to samples that the user
    /// fixed.
    fn sampling(&self, general: Sampling) -> Sampling {
        general
    }

    /// Sampling for samples that are `share` (0 to 1) of the requested length, for want of time.
    fn sampling_within(&self, general: Sampling, _share: f64) -> Sampling {
        self.sampling(general)
    }

    /// The shortest sample that says something, however little time there is.
    fn shortest_sample(&self) -> Nanos {
        SHORTEST_SAMPLE
    }

    /// Short windows whose distribution is taken in addition to the samples of each point.
    fn windows(&self) -> Option<Windows> {
        None
    }

    /// Adds to measured points what only all of them together show: shares of one of them.
    fn finish(&self, _dataset: &mut Dataset) {}

    /// Something else that its points show, as points of their own: see [`Dataset::derived`].
    fn derived(&self, _dataset: &Dataset) -> Option<Dataset> {
        None
    }

    /// Findings of the measured points.
    fn findings(&self, dataset: &Dataset) -> Vec<Finding>;

    /// Findings on a machine with these reported `facts`, to stand next to the measurement.
    fn findings_on(&self, _facts: &HostFacts, dataset: &Dataset) -> Vec<Finding> {
        self.findings(dataset)
    }
}

/// An axis. The end of its name tells its unit: `size_bytes`, `pause_cycles`.
pub fn axis(name: &str) -> Axis {
    let unit = match name {
        _ if name.ends_with("_bytes") => Some("B"),
        _ if name.ends_with("_cycles") => Some("cycles"),
        _ => None,
    };
    Axis {
        name: name.to_owned(),
        unit: unit.map(str::to_owned),
    }
}

/// An axis in bytes.
pub fn bytes_axis(name: &str) -> Axis {
    Axis {
        name: name.to_owned(),
        unit: Some("B".to_owned()),
    }
}

/// The time of a load.
pub fn latency() -> Quantity {
    Quantity {
        name: "latency".to_owned(),
        unit: "ns".to_owned(),
        higher_is_better: false,
    }
}

/// The bytes that threads move in a second.
pub fn bandwidth() -> Quantity {
    Quantity {
        name: "bandwidth".to_owned(),
        unit: "B/s".to_owned(),
        higher_is_better: true,
    }
}
