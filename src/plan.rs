//! From a request and a machine to a plan: which points, in which memory, with how many samples, in how much time.

#![forbid(unsafe_code)]

use crate::engine::{LONGEST_WALK, Machine, MemoryPlan, Sampling, Work, race_samples};
use crate::error::Result;
use crate::experiments::{Bound, Draft, Experiment, Scope};
use crate::results::{Coordinate, Coordinates, HostFacts, Outcome};
use crate::units::{Bytes, BytesPerSecond, Nanos};
use std::collections::BTreeSet;

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
    /// Pause before each point's turn.
    pub cooldown: Nanos,
    /// More points than this are refused.
    pub max_points: usize,
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
    expendable: u8,
    /// Kernels that the work leaves the choice of.
    candidates: usize,
    /// Whether its chain is built anew at each of its turns.
    rebuilt: bool,
}

/// Points whose memory is mapped at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// The memory.
    pub memory: MemoryPlan,
    /// Positions in the plan's points.
    pub points: Vec<usize>,
    /// Whether chains are built anew each round, because all of them do not fit at once or would take far more memory
    /// than the largest.
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
    /// How points are sampled.
    pub sampling: Sampling,
    /// Expected time.
    pub estimate: Nanos,
    /// Rate at which fresh memory becomes usable.
    pub fault: BytesPerSecond,
    /// What was shortened or left out, in words.
    pub shortened: Vec<String>,
    /// Where points differ from what was asked for, in words.
    pub adjusted: Vec<String>,
}

impl Plan {
    /// Memory mapped at the same time, at most.
    pub fn memory(&self) -> Bytes {
        let twice = |phase: &Phase| phase.beside && self.request.reallocate > 1;
        let of = |phase: &Phase| {
            let one = phase.memory.total();
            if twice(phase) { one + one } else { one }
        };
        self.phases.iter().map(of).max().unwrap_or_default()
    }
}

/// Rates that decide how long a plan takes.
#[derive(Debug, Clone, Copy)]
struct Cost {
    fault: BytesPerSecond,
    threads: f64,
    last_level: Bytes,
}

/// What the start of a run takes: calibration, reading back pages, writing the report.
const FIXED: Nanos = Nanos(0.1e9);

/// Samples that warming up takes on average, in caches and beyond.
const WARM_UPS: f64 = 3.0;
const WARM_UPS_IN_MEMORY: f64 = 6.0;

/// What a turn of a point takes beside its samples: taking memory, readings of faults, steal and core clock.
const PER_TURN: Nanos = Nanos(3e6);

/// What a sample takes beside its length: waking the threads, finding the chunk.
const PER_SAMPLE: Nanos = Nanos(0.12e6);

/// What a thread walks through and what a hop takes, in the last cache or a little beyond.
const WALKED: BytesPerSecond = BytesPerSecond(40e9);
const PER_HOP: Nanos = Nanos(60.0);

/// What an entry of a table of pieces takes to make, and a number of a stream of doubles: each turn makes them anew.
const PER_ENTRY: Nanos = Nanos(4.0);
const PER_NUMBER: Nanos = Nanos(1.0);

/// What one node of a chain takes to write and to verify with one thread.
const PER_NODE: Nanos = Nanos(45.0);

/// Samples and rounds below which a point says nothing.
const FEWEST_PER_ROUND: u32 = 4;
const FEWEST_ROUNDS: u32 = 3;
const SHORTEST_SAMPLE: Nanos = Nanos(0.2e6);

/// Points left out and sizes rounded that are named one by one.
const MOST_NAMED: usize = 5;

/// Makes the plan. Nothing is measured but how fast fresh memory becomes usable.
pub fn make(request: Request, machine: &mut dyn Machine) -> Result<Plan> {
    let cost = Cost {
        fault: machine.fault_rate(),
        threads: request.cpus.len().max(1) as f64,
        last_level: machine.facts().topology.last_level_total(&request.cpus),
    };
    let mut points = draft_points(&request, machine)?;
    let adjusted = adjustments(&request, machine);
    let facts = machine.facts();
    let layout = Layout {
        facts,
        usable: facts.memory.usable.get().copied().unwrap_or(Bytes(u64::MAX)),
        alone: points.iter().map(|p| MemoryPlan::of(p.work.as_ref().ok(), facts, false)).collect(),
    };
    let too_large: Vec<usize> = (0..points.len()).filter(|&i| !layout.alone[i].fits(facts)).collect();
    let or_node = if facts.topology.nodes.len() > 1 { ", or into that of a node" } else { "" };
    let memory_reason = format!("does not fit into the {} of memory that may be used{or_node}", layout.usable);
    let mut shortened = leave_out(&mut points, &too_large, &memory_reason);
    let mut sampling = request.sampling.over(request.reallocate);
    let time = |points: &[PlannedPoint], left_out: &[usize], sampling: &Sampling| {
        let phases = layout.phases(points, left_out);
        let estimate = estimate(points, &phases, &request, sampling, cost);
        (phases, estimate)
    };
    let (mut phases, mut total) = time(&points, &[], &sampling);
    while total > request.budget
        && let Some(shorter) = shorten(&sampling, &request)
    {
        sampling = shorter;
        total = estimate(&points, &phases, &request, &sampling, cost);
    }
    let full = request.sampling.over(request.reallocate);
    if sampling != full {
        shortened.push(describe_sampling(&sampling, &full));
    }
    if total > request.budget {
        // Each point left out makes the rest take less time, so that the fewest to leave out are found by halving.
        let order = least_needed_first(&points);
        let (mut fewest, mut most) = (1, order.len().saturating_sub(1));
        while fewest < most {
            let middle = fewest.midpoint(most);
            let fits = time(&points, &order[..middle], &sampling).1 <= request.budget;
            (fewest, most) = if fits { (fewest, middle) } else { (middle + 1, most) };
        }
        let left_out = &order[..most];
        (phases, total) = time(&points, left_out, &sampling);
        let reason = format!("does not fit into the budget of {}; allow more with --budget", request.budget);
        shortened.extend(leave_out(&mut points, left_out, &reason));
    }
    if total > request.budget && !phases.is_empty() {
        shortened.push(format!("even one point takes longer than the budget of {}", request.budget));
    }
    for phase in &mut phases {
        phase.estimate = phase_time(&points, phase, &request, &sampling, cost);
    }
    Ok(Plan { phases, points, sampling, estimate: total, fault: cost.fault, shortened, adjusted, request })
}

/// What the experiments have to say about their points, the first few one by one: a range by factors may round all of
/// its members.
fn adjustments(request: &Request, machine: &dyn Machine) -> Vec<String> {
    let scope = Scope { machine, cpus: &request.cpus, seed: request.seed, most_points: request.max_points };
    let mut all: Vec<String> = request.experiments.iter().flat_map(|e| e.adjustments(&scope)).collect();
    let mut seen = BTreeSet::new();
    all.retain(|sentence| seen.insert(sentence.clone()));
    let more = all.len().saturating_sub(MOST_NAMED);
    all.truncate(MOST_NAMED);
    if more > 0 {
        all.push(format!("{more} more sizes were rounded down"));
    }
    all
}

/// The points of all experiments and repeats. What lies at the same place as a point before it is the same question
/// asked twice and left out.
fn draft_points(request: &Request, machine: &dyn Machine) -> Result<Vec<PlannedPoint>> {
    let most_points = request.max_points;
    let scope = Scope { machine, cpus: &request.cpus, seed: request.seed, most_points };
    let mut drafts: Vec<(usize, Draft)> = Vec::new();
    for (index, experiment) in request.experiments.iter().enumerate() {
        let mut seen = BTreeSet::new();
        let new = experiment.draft(&scope)?.into_iter().filter(|draft| seen.insert(draft.coordinates.clone()));
        drafts.extend(new.map(|draft| (index, draft)));
        scope.room_for(drafts.len().saturating_mul(request.repeat.max(1) as usize))?;
    }
    let repeats = (0..request.repeat.max(1)).flat_map(|repeat| drafts.iter().cloned().map(move |d| (repeat, d)));
    let plan = |(id, (repeat, (experiment, draft))): (usize, (u32, (usize, Draft)))| {
        let mut coordinates = draft.coordinates;
        if request.repeat > 1 {
            coordinates.insert("repeat".to_owned(), Coordinate::Number(u64::from(repeat)));
        }
        let Draft { work, bound, expendable, .. } = draft;
        let candidates = work.as_ref().map_or(0, |work| machine.candidates(work).len());
        let rebuilt = request.experiments[experiment].rebuilds_chains();
        PlannedPoint { id: id as u64, experiment, coordinates, work, bound, expendable, candidates, rebuilt }
    };
    Ok(repeats.enumerate().map(plan).collect())
}

/// Which points share memory.
struct Layout<'a> {
    facts: &'a HostFacts,
    usable: Bytes,
    /// What each point needs if it is alone.
    alone: Vec<MemoryPlan>,
}

impl Layout<'_> {
    /// All points of a repeat share memory where that fits, else those of each kind of work and pages, else as many
    /// as fit; those whose chains are rebuilt are apart from the others. The points `left_out` are in no phase.
    fn phases(&self, points: &[PlannedPoint], left_out: &[usize]) -> Vec<Phase> {
        let left_out: BTreeSet<usize> = left_out.iter().copied().collect();
        let wanted: Vec<usize> =
            (0..points.len()).filter(|i| points[*i].work.is_ok() && !left_out.contains(i)).collect();
        let mut phases = Vec::new();
        let repeats = by_key(&wanted, |i| (points[i].coordinates.get("repeat"), points[i].rebuilt));
        for repeat in repeats {
            let rebuilt = repeat.first().is_some_and(|&i| points[i].rebuilt);
            let whole = self.phase(points, repeat.clone(), rebuilt);
            if whole.memory.fits(self.facts) {
                phases.push(whole);
                continue;
            }
            let kind = |i: usize| points[i].work.as_ref().ok().map(|w| (matches!(w, Work::Chase(_)), w.pages()));
            for part in by_key(&repeat, kind) {
                let own = self.phase(points, part.clone(), rebuilt);
                if own.memory.fits(self.facts) {
                    phases.push(own);
                } else {
                    phases.extend(self.pack(&part).into_iter().map(|group| self.phase(points, group, true)));
                }
            }
        }
        phases
    }

    fn phase(&self, points: &[PlannedPoint], members: Vec<usize>, chains_share: bool) -> Phase {
        let works = members.iter().filter_map(|&i| points[i].work.as_ref().ok());
        let memory = MemoryPlan::of(works, self.facts, chains_share);
        let beside = memory.twice().fits(self.facts);
        Phase { memory, points: members, chains_share, beside, estimate: Nanos::ZERO }
    }

    /// Groups of neighbours, each as large as fits when all of it uses the same memory.
    fn pack(&self, members: &[usize]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut used = MemoryPlan::default();
        for &index in members {
            let mut with = used.clone();
            for (key, &bytes) in &self.alone[index].mappings {
                let size = with.mappings.entry(key.clone()).or_default();
                *size = (*size).max(bytes);
            }
            match groups.last_mut().filter(|_| with.fits(self.facts)) {
                Some(group) => {
                    group.push(index);
                    used = with;
                }
                None => {
                    groups.push(vec![index]);
                    used = self.alone[index].clone();
                }
            }
        }
        groups
    }
}

/// `members` grouped by `key` in the order in which keys first appear.
fn by_key<K: PartialEq>(members: &[usize], key: impl Fn(usize) -> K) -> Vec<Vec<usize>> {
    let mut groups: Vec<(K, Vec<usize>)> = Vec::new();
    for &index in members {
        let k = key(index);
        match groups.iter_mut().find(|(known, _)| *known == k) {
            Some((_, group)) => group.push(index),
            None => groups.push((k, vec![index])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn working_set(point: &PlannedPoint) -> Bytes {
    point.work.as_ref().map(Work::working_set).unwrap_or_default()
}

/// Skips the points at `positions` for `reason` and says so, the first few by name.
fn leave_out(points: &mut [PlannedPoint], positions: &[usize], reason: &str) -> Vec<String> {
    let mut said = Vec::new();
    for (count, &position) in positions.iter().enumerate() {
        let point = &mut points[position];
        point.work = Err(Outcome::Skipped { reason: reason.to_owned() });
        if count < MOST_NAMED {
            said.push(format!("left out {}", describe(&point.coordinates)));
        }
    }
    if positions.len() > MOST_NAMED {
        said.push(format!("left out {} more points", positions.len() - MOST_NAMED));
    }
    said
}

/// The next shorter way to sample, `None` where nothing can be given up.
fn shorten(sampling: &Sampling, request: &Request) -> Option<Sampling> {
    let mut shorter = *sampling;
    let samples_fixed = request.samples_fixed;
    if sampling.per_round > FEWEST_PER_ROUND && !samples_fixed {
        shorter.per_round -= 1;
    } else if sampling.length > SHORTEST_SAMPLE {
        shorter.length = (sampling.length * 0.8).max(SHORTEST_SAMPLE);
    } else if sampling.rounds > FEWEST_ROUNDS.max(request.reallocate) && !samples_fixed {
        shorter.rounds -= 1;
    } else {
        return None;
    }
    Some(shorter)
}

/// The points that have a work, in the order in which they go when time is short: what is least needed first, of that
/// what takes most memory.
fn least_needed_first(points: &[PlannedPoint]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).filter(|&i| points[i].work.is_ok()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse((points[i].expendable, working_set(&points[i]), i)));
    order
}

/// `copy DRAM (2 threads, thp pages)`
fn describe(coordinates: &Coordinates) -> String {
    let of = |axis: &str| coordinates.get(axis).map(ToString::to_string).unwrap_or_default();
    let threads = of("threads");
    let plural = if threads == "1" { "" } else { "s" };
    let size = match coordinates.get("size_bytes") {
        Some(Coordinate::Number(bytes)) => format!(" {}", Bytes(*bytes)),
        _ => String::new(),
    };
    if coordinates.contains_key("cpu_node") {
        let (operation, cpus, memory) = (of("operation"), of("cpu_node"), of("memory_node"));
        return format!("{operation} from node {cpus} to memory {memory} ({} pages)", of("pages"));
    }
    if coordinates.contains_key("from") {
        return format!("{} from {} to {}", of("operation"), of("from"), of("to"));
    }
    format!("{} {}{size} ({threads} thread{plural}, {} pages)", of("operation"), of("level"), of("pages"))
}

/// `3 rounds of 4 samples of 1 ms instead of 6 of 10 of 5 ms`
fn describe_sampling(short: &Sampling, full: &Sampling) -> String {
    format!(
        "{} rounds of {} samples of {} instead of {} of {} of {}",
        short.rounds, short.per_round, short.length, full.rounds, full.per_round, full.length
    )
}

/// Expected time of the whole plan.
fn estimate(points: &[PlannedPoint], phases: &[Phase], request: &Request, sampling: &Sampling, cost: Cost) -> Nanos {
    FIXED + phases.iter().map(|phase| phase_time(points, phase, request, sampling, cost)).sum()
}

/// Expected time of a phase.
fn phase_time(points: &[PlannedPoint], phase: &Phase, request: &Request, sampling: &Sampling, cost: Cost) -> Nanos {
    let allocations = f64::from(request.reallocate.max(1));
    let mapping = Nanos::from_secs(phase.memory.total().0 as f64 / cost.fault.0) * allocations;
    let built = if phase.chains_share { f64::from(sampling.rounds) } else { allocations };
    let one = |point: &PlannedPoint| {
        let Ok(work) = &point.work else { return Nanos::ZERO };
        let chain = match work {
            Work::Chase(w) => PER_NODE * (w.nodes() as f64 * built / cost.threads),
            _ => Nanos::ZERO,
        };
        let prepared = if point.candidates < 2 { 0.0 } else { point.candidates as f64 };
        let race = PER_TURN * prepared + (sampling.length + PER_SAMPLE) * race_samples(point.candidates);
        chain + race + turn(work, request, sampling, cost.last_level) * f64::from(sampling.rounds)
    };
    mapping + phase.points.iter().map(|&i| one(&points[i])).sum()
}

/// Expected time of one turn of a point: what a cache may hold is walked once first, and beyond the caches samples take
/// longer to agree.
fn turn(work: &Work, request: &Request, sampling: &Sampling, last_level: Bytes) -> Nanos {
    let held = work.working_set() <= last_level;
    let walk = match work {
        Work::Stream(_) => Nanos::from_secs(work.pass() as f64 / WALKED.0 / work.cpus().len().max(1) as f64),
        Work::Chase(_) => PER_HOP * work.pass() as f64,
        Work::Instruction(_) | Work::Lock(_) | Work::HandOff(_) => Nanos::ZERO,
    };
    let walk = if held { walk.min(LONGEST_WALK) } else { Nanos::ZERO };
    let made = match work {
        Work::Stream(w) => {
            let numbers = if w.contract().on_doubles() { w.bytes.0 / 8 } else { 0 };
            PER_ENTRY * (w.table_bytes() / 8) as f64 + PER_NUMBER * numbers as f64
        }
        _ => Nanos::ZERO,
    };
    let warm_ups = if held { WARM_UPS } else { WARM_UPS_IN_MEMORY };
    PER_TURN
        + request.cooldown
        + made
        + walk
        + (sampling.length + PER_SAMPLE) * (f64::from(sampling.per_round) + warm_ups)
}
