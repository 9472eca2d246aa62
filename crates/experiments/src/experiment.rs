//! The trait of experiments: from settings to points, and from measured points to findings.

use crate::hierarchy::TimedLastLevel;
use engine::{Machine, Sampling, Windows, Work};
use report::{Axis, Coordinates, Dataset, Finding, HostFacts, Outcome, Quantity, Topology};
use std::fmt::Display;
use units::error::{Error, Result};
use units::{Bytes, Nanos};

/// Detail with which an experiment measures in a profile, or if the user names no sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// One point inside each level of the hierarchy: the fewest points that distinguish the levels.
    Brief,
    /// The points of `Brief`, and more points in memory: non-temporal stores and base pages.
    Levels,
    /// A sweep over sizes that shows the boundaries of levels.
    Sweep,
}

/// An experiment may draft this many points even if fewer are allowed. The plan then counts the
/// points for its error message.
const MAX_COUNTED: usize = 20_000;

/// The machine, and the limits that an experiment plans for.
pub struct Scope<'a> {
    /// The machine: its facts and its kernels.
    pub machine: &'a dyn Machine,
    /// CPUs of the session, in the order in which threads are placed.
    pub cpus: &'a [u32],
    /// Names of all experiments in the session.
    pub experiments: Vec<&'static str>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of points allowed in each repeat of the session. An experiment that chooses its own
    /// points takes no more.
    pub most_points: usize,
    /// Effective capacity of all last-level caches of the session, if the user gave it or timing
    /// showed it. `None` if the reported capacity counts.
    pub last_level: Option<Bytes>,
}

impl Scope<'_> {
    /// Fails if `count` points are far more than allowed. Experiments call this function while they
    /// draft, because all combinations of long lists may not fit into memory. The plan reports a
    /// smaller excess, because only the plan knows the sum of all experiments.
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

    /// `work`, or the outcome `Unsupported` with the reason if this machine has no kernel for it.
    pub fn runnable(&self, work: Work) -> std::result::Result<Work, Outcome> {
        match self.machine.kernel(&work) {
            Ok(_) => Ok(work),
            Err(reason) => Err(Outcome::Unsupported { reason }),
        }
    }

    /// [`Outcome::Skipped`] if a point's memory of `needed` bytes does not fit into the usable
    /// memory. `None` if it fits. In the reason, `what` names the memory.
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

    /// Bytes of memory that a session may map.
    pub fn usable(&self) -> Bytes {
        self.facts()
            .memory
            .usable
            .get()
            .copied()
            .unwrap_or(Bytes(u64::MAX))
    }

    /// Capacity of all last-level caches that the CPUs of the session use: the effective capacity
    /// if it is known, or else the reported capacity. Zero if caches are unknown.
    pub fn last_level(&self) -> Bytes {
        self.last_level
            .unwrap_or_else(|| self.facts().topology.last_level_total(self.cpus))
    }

    /// Capacity of the last-level caches of `cpus`. If the effective capacity of the session is
    /// known, each reported capacity is scaled in proportion.
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

/// Kind of an upper bound that can be computed for the value of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// No bound is known.
    Unknown,
    /// Bandwidth of the paths between the cores and their L1 data caches.
    L1Ports,
    /// Bandwidth of the memory modules.
    Memory,
}

/// A point that an experiment requests.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Coordinates of the point.
    pub coordinates: Coordinates,
    /// Work to measure, or the outcome of the point if it is known before the measurement.
    pub work: std::result::Result<Work, Outcome>,
    /// Kind of the upper bound for the value of the point.
    pub bound: Bound,
    /// When time is short, points with the highest priority number are dropped first.
    pub drop_priority: u8,
}

impl Draft {
    /// The draft with the outcome [`Outcome::Unsupported`] for the reason in `hidden`. The draft is
    /// unchanged if `hidden` is `None`, or if it is unsupported already.
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

/// Shortest sample in memory. In shorter samples, counter readings and thread starts would show.
const SHORTEST_SAMPLE: Nanos = Nanos(0.2e6);

/// An experiment: a question about the machine, and the settings that make the question precise.
pub trait Experiment {
    /// Name of the experiment, as users type it.
    fn name(&self) -> &'static str;

    /// Quantity of the values.
    fn quantity(&self) -> Quantity;

    /// Axes of the dataset.
    fn axes(&self) -> Vec<Axis>;

    /// The points to measure, in the order in which tables show them. Fails if this machine cannot
    /// measure with these settings.
    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>>;

    /// Texts about points that differ from the request, for example rounded sizes.
    fn adjustments(&self, _scope: &Scope<'_>) -> Vec<String> {
        Vec::new()
    }

    /// True if each round builds the chains again, one after another in the same memory. Separate
    /// memory for each chain would take many times the space.
    fn rebuilds_chains(&self) -> bool {
        false
    }

    /// Placeholders for points that are drafted after other points were measured, one list for each
    /// follow-up. A placeholder takes at least as much time and memory as the point that
    /// [`Experiment::follow_up`] drafts in its place.
    fn reserve(&self, _scope: &Scope<'_>) -> Result<Vec<Vec<Draft>>> {
        Ok(Vec::new())
    }

    /// Points of follow-up `number` (from 0), derived from the points in `measured`. The result has
    /// at most `most` points, and none that was measured before.
    fn follow_up(
        &self,
        _scope: &Scope<'_>,
        _number: usize,
        _most: usize,
        _measured: &Dataset,
    ) -> Vec<Draft> {
        Vec::new()
    }

    /// True if other experiments choose their working sets according to points of this experiment.
    /// These points are measured first. The argument is the number of a follow-up, or `None` for
    /// the points of [`Experiment::draft`].
    fn sizes_memory(&self, _follow_up: Option<usize>) -> bool {
        false
    }

    /// Effective capacity of the last-level caches of `cpus`, according to the points in
    /// `measured`. `None` if the experiment does not measure this capacity, or if it is the
    /// reported capacity.
    fn timed_last_level(
        &self,
        _measured: &Dataset,
        _topology: &Topology,
        _cpus: &[u32],
    ) -> Option<TimedLastLevel> {
        None
    }

    /// Checks the points of all other `datasets` of a session against the dataset of this
    /// experiment, which has the index `own`.
    fn review(&self, _datasets: &mut [Dataset], _own: usize, _topology: &Topology) {}

    /// True if the points only serve findings, see [`Dataset::auxiliary`].
    fn is_auxiliary(&self) -> bool {
        false
    }

    /// Sampling of this experiment's points, derived from the `general` sampling. An experiment may
    /// take fewer samples and rounds if many points support one result. This function is not called
    /// if the user fixed the number of samples.
    fn sampling(&self, general: Sampling) -> Sampling {
        general
    }

    /// Sampling for a session that is short of time. Its samples have the `share` (0 to 1) of the
    /// requested length.
    fn sampling_within(&self, general: Sampling, _share: f64) -> Sampling {
        self.sampling(general)
    }

    /// Shortest sample that is still useful. When time is short, samples are no shorter than this.
    fn shortest_sample(&self) -> Nanos {
        SHORTEST_SAMPLE
    }

    /// Short windows that are timed in addition to the samples of each point; `None` for no
    /// windows.
    fn windows(&self) -> Option<Windows> {
        None
    }

    /// Adds to measured points the values that are computed from several points, for example
    /// shares.
    fn finish(&self, _dataset: &mut Dataset) {}

    /// A dataset that is computed from the measured points, see [`Dataset::derived`]. `None` if the
    /// experiment has none.
    fn derived(&self, _dataset: &Dataset) -> Option<Dataset> {
        None
    }

    /// Findings of the measured points.
    fn findings(&self, dataset: &Dataset) -> Vec<Finding>;

    /// Findings of the measured points that may also use the `facts` that the system reports.
    fn findings_on(&self, _facts: &HostFacts, dataset: &Dataset) -> Vec<Finding> {
        self.findings(dataset)
    }
}

/// An axis named `name`. The end of the name gives the unit: `size_bytes`, `pause_cycles`.
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

/// An axis named `name`, in bytes.
pub fn bytes_axis(name: &str) -> Axis {
    Axis {
        name: name.to_owned(),
        unit: Some("B".to_owned()),
    }
}

/// The quantity latency: the time of a load.
pub fn latency_quantity() -> Quantity {
    Quantity {
        name: "latency".to_owned(),
        unit: "ns".to_owned(),
        higher_is_better: false,
    }
}

/// The quantity bandwidth: the bytes that threads move per second.
pub fn bandwidth_quantity() -> Quantity {
    Quantity {
        name: "bandwidth".to_owned(),
        unit: "B/s".to_owned(),
        higher_is_better: true,
    }
}
