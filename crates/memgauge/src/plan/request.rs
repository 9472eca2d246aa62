//! Request of a user, from which a plan is made.

use super::PlannedPoint;
use engine::{Machine, Sampling};
use experiments::{Experiment, LastLevel, Scope};
use units::{Bytes, BytesPerSecond, Nanos};

/// Largest number that `--max-points` takes.
pub const LARGEST_MAX_POINTS: usize = 1_000_000;

/// Request for a session.
pub struct Request {
    /// Name of the profile, or of the single experiment.
    pub profile: String,
    /// The experiments with their settings.
    pub experiments: Vec<Box<dyn Experiment>>,
    /// The CPUs to use, in the order in which threads are placed.
    pub cpus: Vec<u32>,
    /// Time allowed for everything.
    pub budget: Nanos,
    /// How points are sampled when time allows.
    pub sampling: Sampling,
    /// Whether the number of samples is the user's and must not be lowered.
    pub samples_fixed: bool,
    /// Seed of every random choice.
    pub seed: u64,
    /// How often the whole plan is carried out.
    pub repeat: u32,
    /// Fresh allocations of the memory that the rounds of a point are spread over.
    pub reallocate: u32,
    /// Highest memory bandwidth, if the user gives it.
    pub dram_peak: Option<BytesPerSecond>,
    /// Last-level cache that sizes memory; `None` for the reported one, or a larger one that timing
    /// shows.
    pub last_level: Option<LastLevel>,
    /// Pause before each round of a point.
    pub cooldown: Nanos,
    /// More points than this are refused.
    pub max_points: usize,
    /// When the run began by the machine's clock: the budget counts from there.
    pub started: Nanos,
}

impl Request {
    /// Scope that its experiments plan for on `machine`.
    pub fn scope<'a>(&'a self, machine: &'a dyn Machine) -> Scope<'a> {
        let given = match self.last_level {
            Some(LastLevel::Given(size)) => Some(size),
            Some(LastLevel::Measured) | None => None,
        };
        self.scope_by(machine, given)
    }

    /// The same with last-level caches that are known to hold `last_level` together.
    pub fn scope_by<'a>(
        &'a self,
        machine: &'a dyn Machine,
        last_level: Option<Bytes>,
    ) -> Scope<'a> {
        let experiments = self.experiments.iter().map(|e| e.name()).collect();
        let most_points = self.max_points / self.repeat.max(1) as usize;
        Scope {
            machine,
            cpus: &self.cpus,
            experiments,
            seed: self.seed,
            most_points,
            last_level,
        }
    }

    /// How `point` is sampled where points in general are by `general`: as its experiment wants it,
    /// unless the user fixed the samples.
    pub fn sampling_of(&self, point: &PlannedPoint, general: &Sampling) -> Sampling {
        let experiment = &self.experiments[point.experiment];
        if self.samples_fixed {
            let least = experiment.shortest_sample().min(self.sampling.length);
            return Sampling {
                length: general.length.max(least),
                ..*general
            };
        }
        let share = general.length.0 / self.sampling.length.0;
        experiment
            .sampling_within(*general, share)
            .over(self.reallocate)
    }
}

/// How points are sampled where points in general are by `general`: in the way of their experiment
/// where there is only one.
pub(super) fn sampling_shown(
    request: &Request,
    points: &[PlannedPoint],
    general: &Sampling,
) -> Sampling {
    match (request.experiments.len(), points.first()) {
        (1, Some(point)) => request.sampling_of(point, general),
        _ => *general,
    }
}
