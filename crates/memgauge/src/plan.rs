//! From a request and a machine to a plan: which points, in which memory, with how many samples, in
//! how much time.

#![forbid(unsafe_code)]

mod drafting;
mod estimate;
mod layout;
mod pages;
mod phase;
mod replay;
mod schedule;
mod sizes;
mod words;

use drafting::{Drafted, draft_points};
pub use drafting::{LARGEST_MAX_POINTS, Progressed, draft_follow_up};
use engine::{Machine, PointCosts, Sampling, Windows, Work};
use estimate::Cost;
use experiments::{Bound, Experiment, LastLevel, Scope};
pub use phase::{Batch, Phase, Reserve, Room};
pub use replay::open_rooms;
use report::{Coordinates, DraftedPhase, Outcome};
pub use schedule::{Rest, batches_of_phase, most_needed_first};
use schedule::{Schedule, schedule, too_little_time};
pub use sizes::{Remaining, Resized, resized};
use std::collections::BTreeSet;
use units::error::Result;
use units::{Bytes, BytesPerSecond, Nanos};

/// What is asked for.
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
    /// What the user says that the memory carries at most.
    pub dram_peak: Option<BytesPerSecond>,
    /// What memory is sized by, where that is not the last-level caches as the system reports them,
    /// or as timing shows them where they are larger.
    pub last_level: Option<LastLevel>,
    /// Pause before each point's turn.
    pub cooldown: Nanos,
    /// More points than this are refused.
    pub max_points: usize,
    /// When the run began by the machine's clock: the budget counts from there.
    pub started: Nanos,
}

impl Request {
    /// What its experiments plan for on `machine`.
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

/// A point that will be measured, or whose outcome is already known.
#[derive(Debug, Clone)]
pub struct PlannedPoint {
    /// Number within the plan.
    pub id: u64,
    /// Position of its experiment in the request.
    pub experiment: usize,
    /// Where it lies.
    pub coordinates: Coordinates,
    /// What to measure, or what is already known.
    pub work: std::result::Result<Work, Outcome>,
    /// What the value cannot exceed.
    pub bound: Bound,
    drop_priority: u8,
    /// Kernels that the work leaves the choice of.
    candidates: usize,
    /// Its costs on the machine.
    costs: PointCosts,
    /// Whether its chain is built anew at each of its turns.
    rebuilt: bool,
    /// Whether other experiments size memory by what it shows.
    pub sizes_memory: bool,
    /// Short windows whose distribution is taken too.
    pub windows: Option<Windows>,
    /// The follow-up that drafted it, from 0; `None` for a point that is known at the start.
    pub follow_up: Option<usize>,
}

/// What will be done.
pub struct Plan {
    /// What was asked for.
    pub request: Request,
    /// Every point that is drafted, in the order of tables. Its number is its position.
    pub points: Vec<PlannedPoint>,
    /// The phases of the session, one after another.
    pub phases: Vec<Phase>,
    /// How points are sampled where their experiment has no way of its own.
    pub sampling: Sampling,
    /// Expected time.
    pub estimate: Nanos,
    /// Rate at which fresh memory becomes usable.
    pub fault: BytesPerSecond,
    /// What was shortened or left out, in words.
    pub shortened: Vec<String>,
    /// Where points differ from what was asked for, in words.
    pub adjusted: Vec<String>,
    /// The phases that the session which this plan continues drafted from measured points.
    pub drafted: Vec<DraftedPhase>,
}

impl Plan {
    /// How points are sampled, in the way of their experiment where there is only one.
    pub fn sampling_shown(&self) -> Sampling {
        sampling_shown(&self.request, &self.points, &self.sampling)
    }

    /// How `point` is sampled.
    pub fn sampling_of(&self, point: &PlannedPoint) -> Sampling {
        self.request.sampling_of(point, &self.sampling)
    }

    /// Memory mapped at the same time, at most.
    pub fn memory(&self) -> Bytes {
        let reallocate = self.request.reallocate;
        let phases = self
            .phases
            .iter()
            .map(|phase| phase.most_memory(reallocate));
        phases.max().unwrap_or_default()
    }

    /// The batches of all phases that are drafted, one after another.
    pub fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.phases.iter().flat_map(|phase| &phase.batches)
    }

    /// Number of points, with those that follow-ups have room for.
    pub fn point_count(&self) -> usize {
        self.points.len() + self.phases.iter().map(Phase::room).sum::<usize>()
    }
}

/// Points left out and sizes rounded that are named one by one.
const MOST_NAMED: usize = 5;

/// Makes the plan. Nothing is measured but how fast fresh memory becomes usable.
pub fn make(request: Request, machine: &mut dyn Machine) -> Result<Plan> {
    let fault = machine.fault_rate();
    let Drafted {
        mut points,
        placeholders,
    } = draft_points(&request, &request.scope(machine))?;
    let adjusted = adjustments(&request, machine);
    let mut cost = Cost::new(machine, fault);
    cost.before = machine.now() - request.started;
    let rest = Rest {
        left: (0..points.len()).collect(),
        budget: request.budget,
    };
    let facts = machine.facts();
    let Schedule {
        phases,
        sampling,
        estimate,
        shortened,
        needed,
    } = schedule(&request, &mut points, placeholders, facts, cost, &rest);
    if let Some(needed) = needed {
        return Err(too_little_time(&request, &needed));
    }
    Ok(Plan {
        phases,
        points,
        sampling,
        estimate,
        fault,
        shortened,
        adjusted,
        drafted: Vec::new(),
        request,
    })
}

/// What the experiments have to say about their points, the first few one by one: a range by
/// factors may round all of its members.
fn adjustments(request: &Request, machine: &dyn Machine) -> Vec<String> {
    let scope = request.scope(machine);
    let mut all: Vec<String> = request
        .experiments
        .iter()
        .flat_map(|e| e.adjustments(&scope))
        .collect();
    let mut seen = BTreeSet::new();
    all.retain(|sentence| seen.insert(sentence.clone()));
    let more = all.len().saturating_sub(MOST_NAMED);
    all.truncate(MOST_NAMED);
    if more > 0 {
        let sizes = if more == 1 { "size was" } else { "sizes were" };
        all.push(format!("{more} more {sizes} rounded down"));
    }
    let reported = || scope.facts().topology.last_level_total(scope.cpus);
    if let Some(LastLevel::Given(given)) = request.last_level {
        all.push(format!(
            "memory is sized by a last-level cache of {given}, as given; the system reports {}",
            reported()
        ));
    }
    all
}

/// How points are sampled where points in general are by `general`: in the way of their experiment
/// where there is only one.
fn sampling_shown(request: &Request, points: &[PlannedPoint], general: &Sampling) -> Sampling {
    match (request.experiments.len(), points.first()) {
        (1, Some(point)) => request.sampling_of(point, general),
        _ => *general,
    }
}
