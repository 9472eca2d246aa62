//! A user's request, from which a plan is made.

use super::PlannedPoint;
use engine::{Machine, Sampling};
use experiments::{Experiment, LastLevel, Scope};
use units::{Bytes, BytesPerSecond, Nanos};

/// Largest value of `--max-points`.
pub const LARGEST_MAX_POINTS: usize = 1_000_000;

/// Request for a session.
pub struct Request {
    /// Name of the profile, or of the single experiment.
    pub profile: String,
    /// The experiments with their settings.
    pub experiments: Vec<Box<dyn Experiment>>,
    /// The CPUs to use, in the order in which threads are placed.
    pub cpus: Vec<u32>,
    /// Time allowed for the whole session.
    pub budget: Nanos,
    /// Sampling of points if the budget is large enough.
    pub sampling: Sampling,
    /// True if the user fixed the number of samples, so that it must not be reduced.
    pub samples_fixed: bool,
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of repetitions of the whole plan.
    pub repeat: u32,
    /// Number of fresh allocations over which the rounds of a point are spread.
    pub reallocate: u32,
    /// Highest memory bandwidth, if the user gives it; `None` otherwise.
    pub dram_peak: Option<BytesPerSecond>,
    /// Last-level cache by which memory is sized. `None` means the reported size, or a larger size
    /// that timing shows.
    pub last_level: Option<LastLevel>,
    /// Pause before each round of a point.
    pub cooldown: Nanos,
    /// Largest number of points of a plan.
    pub max_points: usize,
    /// Start of the session by the machine's clock. The budget counts from this time.
    pub started: Nanos,
}

impl Request {
    /// Makes the description of `machine` and its limits, from which experiments draft their
    /// points.
    pub fn scope<'a>(&'a self, machine: &'a dyn Machine) -> Scope<'a> {
        let given = match self.last_level {
            Some(LastLevel::Given(size)) => Some(size),
            Some(LastLevel::Measured) | None => None,
        };
        self.scope_by(machine, given)
    }

    /// Like [`Request::scope`], with `last_level` as the capacity of all last-level caches.
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

    /// Sampling of `point`: the sampling of its experiment. It is shortened as much as the
    /// `general` sampling was. A number of samples that the user fixed takes precedence.
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

/// Sampling that messages show for the plan: the experiment's if there is one experiment, otherwise
/// `general`.
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
