//! From a request and a machine to a plan: which points, in which memory, with how many samples, in
//! how much time.

#![forbid(unsafe_code)]

mod estimate;
mod layout;
mod pages;
mod sizes;

use engine::{Machine, MemoryPlan, PointCosts, Sampling, Windows, Work};
use estimate::{Cost, estimate, phase_time};
use experiments::{Bound, Draft, Experiment, LastLevel, Scope};
use layout::Layout;
use report::{Coordinate, Coordinates, HostFacts, Outcome};
pub use sizes::{Resized, resized};
use std::collections::{BTreeMap, BTreeSet};
use units::error::{Error, Result};
use units::{Bytes, BytesPerSecond, Nanos, counted};

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
    /// Which stage of its experiment it stands in for, 0 being the first; `None` for a point that
    /// was drafted.
    pub stage: Option<usize>,
    /// Whether it lies elsewhere than was planned, since memory was sized by what timing showed.
    pub resized: bool,
}

/// Points whose memory is mapped at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// The memory.
    pub memory: MemoryPlan,
    /// Positions in the plan's points.
    pub points: Vec<usize>,
    /// Whether chains are built anew each round, because all of them do not fit at once or would
    /// take far more memory than the largest.
    pub chains_share: bool,
    /// Whether fresh memory can be mapped before the old is given up.
    pub beside: bool,
    /// Expected time.
    pub estimate: Nanos,
}

/// What will be done.
pub struct Plan {
    /// What was asked for.
    pub request: Request,
    /// Every point, in the order of tables.
    pub points: Vec<PlannedPoint>,
    /// One after another.
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
    /// What sized memory by timing before the run that this plan continues ended, with the sentence
    /// about it.
    pub resized: Option<(Bytes, String)>,
}

impl Plan {
    /// How points are sampled, in the way of their experiment where there is only one.
    pub fn sampling_shown(&self) -> Sampling {
        shown(&self.request, &self.points, &self.sampling)
    }

    /// How `point` is sampled.
    pub fn sampling_of(&self, point: &PlannedPoint) -> Sampling {
        self.request.sampling_of(point, &self.sampling)
    }

    /// Memory mapped at the same time, at most.
    pub fn memory(&self) -> Bytes {
        self.phases
            .iter()
            .map(|phase| self.memory_of(phase))
            .max()
            .unwrap_or_default()
    }

    /// Memory mapped at the same time in a phase, at most.
    pub fn memory_of(&self, phase: &Phase) -> Bytes {
        let one = phase.memory.total();
        if phase.beside && self.request.reallocate > 1 {
            one + one
        } else {
            one
        }
    }
}

/// Samples and rounds below which a point says nothing.
const FEWEST_PER_ROUND: u32 = 4;
const FEWEST_ROUNDS: u32 = 3;

/// A budget that is advised is more than the plan by this factor: memory is mapped at another rate
/// each time.
const BUDGET_MARGIN: f64 = 1.2;

/// And by this much: starting takes another time in each run.
const STARTING: Nanos = Nanos(1e9);

/// Share of the time of all rounds that is set aside for more of them where points come out badly
/// known.
const RESERVE: f64 = 0.2;

/// Points left out and sizes rounded that are named one by one.
const MOST_NAMED: usize = 5;

/// Makes the plan. Nothing is measured but how fast fresh memory becomes usable.
pub fn make(request: Request, machine: &mut dyn Machine) -> Result<Plan> {
    let fault = machine.fault_rate();
    let mut points = draft_points(&request, &request.scope(machine))?;
    let adjusted = adjustments(&request, machine);
    let mut cost = Cost::new(machine, fault);
    cost.before = machine.now() - request.started;
    let rest = Rest {
        left: (0..points.len()).collect(),
        budget: request.budget,
    };
    let Schedule {
        phases,
        sampling,
        estimate,
        shortened,
        needed,
    } = schedule(&request, &mut points, machine.facts(), cost, &rest);
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
        resized: None,
        request,
    })
}

/// When what is measured, and in which memory.
struct Schedule {
    phases: Vec<Phase>,
    sampling: Sampling,
    estimate: Nanos,
    /// What was shortened or left out, in words.
    shortened: Vec<String>,
    /// The time that is needed at least, where not even one point fits.
    needed: Option<Needed>,
}

/// What points take with the fewest and shortest samples.
struct Needed {
    /// The one that takes least.
    one: Nanos,
    all: Nanos,
    points: usize,
}

/// The refusal of a budget that has no room for a single point. The budget that is advised has room
/// for all of them.
fn too_little_time(request: &Request, needed: &Needed) -> Error {
    let Needed { one, all, points } = *needed;
    let advised = (all * BUDGET_MARGIN + STARTING).secs();
    let advised = if advised < 10.0 {
        format!("{}ms", (advised * 1e3).ceil())
    } else {
        format!("{}s", advised.ceil())
    };
    let all = if points > 1 {
        format!(", all {points} take {all}")
    } else {
        String::new()
    };
    Error::usage(format!(
        "budget not possible: {}; one point takes {one} at least{all}; type --budget {advised}",
        request.budget
    ))
}

/// What is still to be measured of a plan.
pub struct Rest {
    /// Positions of its points.
    pub left: BTreeSet<usize>,
    /// Time for them.
    pub budget: Nanos,
}

/// Lays out those of `points` that are left, and shortens until they fit into their budget: points
/// that do not are skipped.
fn schedule(
    request: &Request,
    points: &mut [PlannedPoint],
    facts: &HostFacts,
    cost: Cost,
    rest: &Rest,
) -> Schedule {
    let budget = rest.budget;
    let all = points.len();
    let done: BTreeSet<usize> = (0..all)
        .filter(|index| !rest.left.contains(index))
        .collect();
    let layout = Layout::new(facts, points);
    let too_large: Vec<usize> = rest
        .left
        .iter()
        .copied()
        .filter(|&i| !layout.fits(i))
        .collect();
    let or_node = if facts.topology.nodes.len() > 1 {
        ", or into that of a node"
    } else {
        ""
    };
    let memory_reason = format!(
        "does not fit into the {} of memory that may be used{or_node}",
        layout.usable
    );
    let mut shortened = leave_out(points, &too_large, &memory_reason);
    let mut sampling = request.sampling.over(request.reallocate);
    let time = |points: &[PlannedPoint], left_out: &[usize], sampling: &Sampling| {
        let phases = layout.phases(points, &done.iter().chain(left_out).copied().collect());
        let estimate = estimate(points, &phases, request, sampling, cost);
        (phases, estimate)
    };
    let (mut phases, mut total) = time(points, &[], &sampling);
    while total > budget
        && let Some(shorter) = shorten(&sampling, request)
    {
        sampling = shorter;
        total = estimate(points, &phases, request, &sampling, cost);
    }
    let full = request.sampling.over(request.reallocate);
    if sampling != full {
        let [short, full] = [&sampling, &full].map(|general| shown(request, points, general));
        shortened.push(describe_sampling(&short, &full));
    }
    let mut needed = None;
    let all_take = total;
    let count = phases.iter().map(|phase| phase.points.len()).sum();
    if total > budget {
        // Each point left out makes the rest take less time, so that the fewest to leave out are
        // found by halving.
        let mut order = least_needed_first(points);
        order.retain(|index| rest.left.contains(index));
        let mut fewest = 1;
        let mut most = order.len().saturating_sub(1);
        while fewest < most {
            let middle = fewest.midpoint(most);
            let fits = time(points, &order[..middle], &sampling).1 <= budget;
            (fewest, most) = if fits {
                (fewest, middle)
            } else {
                (middle + 1, most)
            };
        }
        let left_out = &order[..most];
        (phases, total) = time(points, left_out, &sampling);
        let reason = format!(
            "does not fit into the budget of {}; allow more with --budget",
            request.budget
        );
        shortened.extend(leave_out(points, left_out, &reason));
    }
    if total > budget && !phases.is_empty() {
        needed = Some(Needed {
            one: total,
            all: all_take,
            points: count,
        });
    }
    let longer = 1.0 + reserve(&sampling, total, budget);
    for phase in &mut phases {
        phase.estimate = phase_time(points, phase, request, &sampling, cost) * longer;
    }
    Schedule {
        phases,
        sampling,
        // The product may round to more than the budget.
        estimate: (total * longer).min(budget.max(total)),
        shortened,
        needed,
    }
}

/// Share of the time of all rounds that is set aside for further ones of what takes `total`
/// without, as far as its budget allows: nothing where the number of samples is fixed.
fn reserve(sampling: &Sampling, total: Nanos, budget: Nanos) -> f64 {
    let open = sampling.most.is_none() && sampling.target > 0.0;
    if open {
        (budget.0 / total.0 - 1.0).clamp(0.0, RESERVE)
    } else {
        0.0
    }
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

/// The points of all experiments and repeats, then the stand-ins of each stage. What lies at the
/// same place as a point before it is the same question asked twice and left out.
fn draft_points(request: &Request, scope: &Scope<'_>) -> Result<Vec<PlannedPoint>> {
    let repeats = request.repeat.max(1);
    // By stage: all that were drafted, then stand-ins.
    let mut stages: BTreeMap<Option<usize>, Vec<(usize, Draft)>> = BTreeMap::new();
    for (index, experiment) in request.experiments.iter().enumerate() {
        let mut seen = BTreeSet::new();
        let drafts = experiment
            .draft(scope)?
            .into_iter()
            .map(|draft| pages::settled(draft, scope.facts()));
        let new = drafts.filter(|draft| seen.insert(draft.coordinates.clone()));
        stages
            .entry(None)
            .or_default()
            .extend(new.map(|draft| (index, draft)));
        for (stage, drafts) in experiment.reserve(scope)?.into_iter().enumerate() {
            stages
                .entry(Some(stage))
                .or_default()
                .extend(drafts.into_iter().map(|draft| (index, draft)));
        }
    }
    check_count(stages.values().map(Vec::len).sum(), request)?;
    let mut points = Vec::new();
    for (stage, drafts) in stages {
        for (repeat, (experiment, draft)) in
            (0..repeats).flat_map(|repeat| drafts.iter().map(move |d| (repeat, d)))
        {
            let mut coordinates = draft.coordinates.clone();
            if request.repeat > 1 {
                coordinates.insert("repeat".to_owned(), Coordinate::Number(u64::from(repeat)));
            }
            let &Draft {
                bound,
                drop_priority,
                ..
            } = draft;
            let work = draft.work.clone();
            let candidates = work
                .as_ref()
                .map_or(0, |work| scope.machine.candidates(work).len());
            let costs = work.as_ref().map_or(PointCosts::NONE, |work| {
                PointCosts::look_up(work, scope.machine)
            });
            let id = points.len() as u64;
            let experiment = *experiment;
            let rebuilt = request.experiments[experiment].rebuilds_chains();
            let windows = request.experiments[experiment].windows();
            let sizes_memory = request.experiments[experiment].sizes_memory(stage);
            points.push(PlannedPoint {
                windows,
                id,
                experiment,
                coordinates,
                work,
                bound,
                drop_priority,
                candidates,
                costs,
                rebuilt,
                sizes_memory,
                stage,
                resized: false,
            });
        }
    }
    Ok(points)
}

/// The largest number that `--max-points` takes.
pub const LARGEST_MAX_POINTS: usize = 1_000_000;

/// Refuses more points than are allowed, `each` of which are in every repeat. The number that is
/// advised is enough.
fn check_count(each: usize, request: &Request) -> Result<()> {
    let count = each.saturating_mul(request.repeat.max(1) as usize);
    let allowed = request.max_points;
    if count <= allowed {
        return Ok(());
    }
    let fewer = if request.repeat > 1 {
        "fewer values or repeats,"
    } else {
        "fewer values"
    };
    let more = if count <= LARGEST_MAX_POINTS {
        format!(" or --max-points {count}")
    } else {
        String::new()
    };
    Err(Error::usage(format!(
        "too many points: {count}; {allowed} are allowed; type {fewer}{more}"
    )))
}

fn working_set(point: &PlannedPoint) -> Bytes {
    point
        .work
        .as_ref()
        .map(Work::working_set)
        .unwrap_or_default()
}

/// Skips the points at `positions` for `reason` and says so, the first few by name. Placeholders
/// have no place yet: they are only counted.
fn leave_out(points: &mut [PlannedPoint], positions: &[usize], reason: &str) -> Vec<String> {
    for &position in positions {
        points[position].work = Err(Outcome::Skipped {
            reason: reason.to_owned(),
        });
    }
    let (drafted, placeholders): (Vec<usize>, Vec<usize>) = positions
        .iter()
        .partition(|&&position| points[position].stage.is_none());
    let named = drafted
        .iter()
        .take(MOST_NAMED)
        .map(|&position| describe(&points[position].coordinates));
    let mut said: Vec<String> = named.map(|point| format!("left out {point}")).collect();
    let rest = [
        (drafted.len().saturating_sub(MOST_NAMED), "more point"),
        (placeholders.len(), "follow-up point"),
    ];
    said.extend(
        rest.iter()
            .filter(|(count, _)| *count > 0)
            .map(|(n, what)| format!("left out {}", counted(n, what))),
    );
    said
}

/// The next shorter way to sample, `None` where nothing can be given up.
fn shorten(sampling: &Sampling, request: &Request) -> Option<Sampling> {
    let mut shorter = *sampling;
    let samples_fixed = request.samples_fixed;
    let shortest = request
        .experiments
        .iter()
        .map(|e| e.shortest_sample())
        .fold(sampling.length, Nanos::min);
    if sampling.per_round > FEWEST_PER_ROUND && !samples_fixed {
        shorter.per_round -= 1;
    } else if sampling.length > shortest {
        shorter.length = (sampling.length * 0.8).max(shortest);
    } else if sampling.rounds > FEWEST_ROUNDS.max(request.reallocate) && !samples_fixed {
        shorter.rounds -= 1;
    } else {
        return None;
    }
    Some(shorter)
}

/// The points that have a work, in the order in which they go when time is short: the opposite of
/// [`most_needed_first`].
fn least_needed_first(points: &[PlannedPoint]) -> Vec<usize> {
    let mut order = most_needed_first(points);
    order.reverse();
    order
}

/// The points that have a work, those that are needed most first. Of points that are needed alike,
/// each experiment has one at each level before any has a second one there. What takes least memory
/// comes first.
pub fn most_needed_first(points: &[PlannedPoint]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len())
        .filter(|&i| points[i].work.is_ok())
        .collect();
    order.sort_by_key(|&i| (points[i].drop_priority, working_set(&points[i]), i));
    let mut before: BTreeMap<(usize, Option<&Coordinate>), usize> = BTreeMap::new();
    let mut ranks = vec![0; points.len()];
    for &index in &order {
        let level = points[index].coordinates.get("level");
        let count = before.entry((points[index].experiment, level)).or_default();
        ranks[index] = *count;
        *count += 1;
    }
    order.sort_by_key(|&i| {
        (
            points[i].drop_priority,
            ranks[i],
            working_set(&points[i]),
            i,
        )
    });
    order
}

/// How points are sampled where points in general are by `general`: in the way of their experiment
/// where there is only one.
fn shown(request: &Request, points: &[PlannedPoint], general: &Sampling) -> Sampling {
    match (request.experiments.len(), points.first()) {
        (1, Some(point)) => request.sampling_of(point, general),
        _ => *general,
    }
}

/// `copy DRAM (2 threads, thp pages)`
fn describe(coordinates: &Coordinates) -> String {
    let coordinate = |axis: &str| {
        coordinates
            .get(axis)
            .map(ToString::to_string)
            .unwrap_or_default()
    };
    let threads = counted(coordinate("threads"), "thread");
    let size = match coordinates.get("size_bytes") {
        Some(Coordinate::Number(bytes)) => format!(" {}", Bytes(*bytes)),
        _ => String::new(),
    };
    if coordinates.contains_key("cpu_node") {
        let operation = coordinate("operation");
        let cpus = coordinate("cpu_node");
        let memory = coordinate("memory_node");
        return format!(
            "{operation} from node {cpus} to memory {memory} ({} pages)",
            coordinate("pages")
        );
    }
    if coordinates.contains_key("from") {
        return format!(
            "{} from {} to {}",
            coordinate("operation"),
            coordinate("from"),
            coordinate("to")
        );
    }
    if let Some(Coordinate::Number(block)) = coordinates.get("block_bytes") {
        let operation = coordinate("operation");
        let pattern = coordinate("pattern");
        let block = Bytes(*block);
        return format!(
            "{pattern} {operation} of {block} ({threads}, depth {}, {})",
            coordinate("depth"),
            coordinate("engine")
        );
    }
    if let (Some(mix), Some(pause)) = (coordinates.get("mix"), coordinates.get("pause_cycles")) {
        let coordinate = coordinate("operation");
        return format!(
            "{coordinate}{size} beside {mix} traffic of {threads}, pauses of {pause} cycles"
        );
    }
    format!(
        "{} {}{size} ({threads}, {} pages)",
        coordinate("operation"),
        coordinate("level"),
        coordinate("pages")
    )
}

/// `3 rounds of 4 samples of 1 ms instead of 6 of 10 of 5 ms`
fn describe_sampling(short: &Sampling, full: &Sampling) -> String {
    format!(
        "{} of {} of {} instead of {} of {} of {}",
        counted(short.rounds, "round"),
        counted(short.per_round, "sample"),
        short.length,
        full.rounds,
        full.per_round,
        full.length
    )
}
