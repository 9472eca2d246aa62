//! From a request and a machine to a plan: which points, in which memory, with how many samples, in how much time.

#![forbid(unsafe_code)]

use crate::engine::{Machine, MemoryPlan, Sampling, Work};
use crate::error::{Error, Result};
use crate::experiments::{Bound, Draft, Experiment, Scope};
use crate::results::{Coordinate, Coordinates, Outcome};
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
}

/// Points whose memory is mapped at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// The memory.
    pub memory: MemoryPlan,
    /// Positions in the plan's points.
    pub points: Vec<usize>,
    /// Whether chains are built anew each round, because all of them do not fit at once.
    pub chains_share: bool,
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
    /// What was shortened or left out, in words.
    pub shortened: Vec<String>,
    /// Where points differ from what was asked for, in words.
    pub adjusted: Vec<String>,
}

impl Plan {
    /// Memory mapped at the same time, at most.
    pub fn memory(&self) -> Bytes {
        self.phases.iter().map(|phase| phase.memory.total()).max().unwrap_or_default()
    }
}

/// Rates that decide how long a plan takes.
#[derive(Debug, Clone, Copy)]
struct Cost {
    fault: BytesPerSecond,
    threads: f64,
}

/// What the start of a run takes: calibration, reading back pages, writing the report.
const FIXED: Nanos = Nanos(0.15e9);

/// Samples that warming up takes on average.
const WARM_UPS: f64 = 3.0;

/// What a turn of a point takes beside its samples: taking memory, readings of faults, steal and core clock.
const PER_TURN: Nanos = Nanos(3e6);

/// What one node of a chain takes to write and to verify with one thread.
const PER_NODE: Nanos = Nanos(45.0);

/// Samples and rounds below which a point says nothing.
const FEWEST_PER_ROUND: u32 = 4;
const FEWEST_ROUNDS: u32 = 3;
const SHORTEST_SAMPLE: Nanos = Nanos(1e6);

/// Lists that ask for no more points than this are drafted before they are counted: what they name twice counts once.
const DRAFTED_ANYWAY: usize = 10_000;

/// Makes the plan. Nothing is measured but how fast fresh memory becomes usable.
pub fn make(request: Request, machine: &mut dyn Machine) -> Result<Plan> {
    let cost = Cost { fault: machine.fault_rate(), threads: request.cpus.len().max(1) as f64 };
    let mut points = draft_points(&request, machine)?;
    let usable = machine.facts().memory.usable.get().copied().unwrap_or(Bytes(u64::MAX));
    let adjusted = adjustments(&request, machine);
    let mut shortened = Vec::new();
    let mut sampling = request.sampling;
    loop {
        let phases = phases(&points, machine, usable);
        if let Some(largest) = too_large(&points, &phases, usable) {
            skip(&mut points[largest], format!("does not fit into the {usable} of memory that may be used"));
            continue;
        }
        let estimate = estimate(&points, &phases, &request, &sampling, cost);
        if estimate <= request.budget {
            return Ok(Plan { phases, points, sampling, estimate, shortened, adjusted, request });
        }
        if let Some(shorter) = shorten(&sampling, request.samples_fixed) {
            sampling = shorter;
            continue;
        }
        let Some(next) = most_expendable(&points) else {
            shortened.push(format!("even one point takes longer than the budget of {}", request.budget));
            return Ok(Plan { phases, points, sampling, estimate, shortened, adjusted, request });
        };
        shortened.push(format!("left out {}", describe(&points[next].coordinates)));
        skip(
            &mut points[next],
            format!("does not fit into the budget of {}; allow more with --budget", request.budget),
        );
    }
}

/// What the experiments have to say about their points.
fn adjustments(request: &Request, machine: &dyn Machine) -> Vec<String> {
    let scope = Scope { machine, cpus: &request.cpus, seed: request.seed };
    let mut all: Vec<String> = request.experiments.iter().flat_map(|e| e.adjustments(&scope)).collect();
    let mut seen = BTreeSet::new();
    all.retain(|sentence| seen.insert(sentence.clone()));
    all
}

/// The points of all experiments and repeats, each once: a list may name the same thing twice.
fn draft_points(request: &Request, machine: &dyn Machine) -> Result<Vec<PlannedPoint>> {
    let scope = Scope { machine, cpus: &request.cpus, seed: request.seed };
    let mut drafts: Vec<(usize, Draft)> = Vec::new();
    for (index, experiment) in request.experiments.iter().enumerate() {
        // Drafts of a list that is far too long would themselves fill the memory.
        if experiment.asked() > DRAFTED_ANYWAY {
            refuse_above(request, experiment.asked())?;
        }
        let mut seen = BTreeSet::new();
        let new = experiment.draft(&scope)?.into_iter().filter(|draft| seen.insert(draft.coordinates.clone()));
        drafts.extend(new.map(|draft| (index, draft)));
        refuse_above(request, drafts.len())?;
    }
    let repeats = (0..request.repeat.max(1)).flat_map(|repeat| drafts.iter().cloned().map(move |d| (repeat, d)));
    let plan = |(id, (repeat, (experiment, draft))): (usize, (u32, (usize, Draft)))| {
        let mut coordinates = draft.coordinates;
        if request.repeat > 1 {
            coordinates.insert("repeat".to_owned(), Coordinate::Number(u64::from(repeat)));
        }
        let Draft { work, bound, expendable, .. } = draft;
        PlannedPoint { id: id as u64, experiment, coordinates, work, bound, expendable }
    };
    Ok(repeats.enumerate().map(plan).collect())
}

/// Fails when `count` points, as often as they are repeated, are more than the request allows.
fn refuse_above(request: &Request, count: usize) -> Result<()> {
    let count = count.saturating_mul(request.repeat as usize);
    if count <= request.max_points {
        return Ok(());
    }
    Err(Error::usage(format!(
        "too many points: {count} or more; {} are allowed; type fewer values or --max-points {count}",
        request.max_points
    )))
}

/// Which points share memory: all of a repeat where that fits, else streams and chains of each kind of pages apart.
fn phases(points: &[PlannedPoint], machine: &dyn Machine, usable: Bytes) -> Vec<Phase> {
    let facts = machine.facts();
    let phase = |members: Vec<usize>, chains_share: bool| {
        let works = members.iter().filter_map(|&i| points[i].work.as_ref().ok());
        Phase { memory: MemoryPlan::of(works, facts, chains_share), points: members, chains_share }
    };
    let mut phases = Vec::new();
    for members in by_key(points, |p| p.coordinates.get("repeat").cloned()) {
        let whole = phase(members.clone(), false);
        if whole.memory.total() <= usable {
            phases.push(whole);
            continue;
        }
        let kind = |p: &PlannedPoint| p.work.as_ref().ok().map(|w| (matches!(w, Work::Chase(_)), w.pages()));
        for part in by_key(points, kind) {
            let part: Vec<usize> = part.into_iter().filter(|i| members.contains(i)).collect();
            let own = phase(part.clone(), false);
            phases.push(if own.memory.total() <= usable { own } else { phase(part, true) });
        }
    }
    phases.retain(|p| !p.points.is_empty());
    phases
}

/// Positions of the points that have a work, grouped by `key` in the order in which keys first appear.
fn by_key<K: PartialEq>(points: &[PlannedPoint], key: impl Fn(&PlannedPoint) -> K) -> Vec<Vec<usize>> {
    let mut groups: Vec<(K, Vec<usize>)> = Vec::new();
    for (index, point) in points.iter().enumerate().filter(|(_, p)| p.work.is_ok()) {
        let k = key(point);
        match groups.iter_mut().find(|(known, _)| *known == k) {
            Some((_, members)) => members.push(index),
            None => groups.push((k, vec![index])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

/// The point with the largest working set of a phase that does not fit.
fn too_large(points: &[PlannedPoint], phases: &[Phase], usable: Bytes) -> Option<usize> {
    let phase = phases.iter().find(|phase| phase.memory.total() > usable)?;
    phase.points.iter().copied().max_by_key(|&i| working_set(&points[i]))
}

fn working_set(point: &PlannedPoint) -> Bytes {
    point.work.as_ref().map(Work::working_set).unwrap_or_default()
}

fn skip(point: &mut PlannedPoint, reason: String) {
    point.work = Err(Outcome::Skipped { reason });
}

/// The next shorter way to sample, `None` where nothing can be given up.
fn shorten(sampling: &Sampling, samples_fixed: bool) -> Option<Sampling> {
    let mut shorter = *sampling;
    if sampling.per_round > FEWEST_PER_ROUND && !samples_fixed {
        shorter.per_round -= 1;
    } else if sampling.length > SHORTEST_SAMPLE {
        shorter.length = (sampling.length * 0.8).max(SHORTEST_SAMPLE);
    } else if sampling.rounds > FEWEST_ROUNDS && !samples_fixed {
        shorter.rounds -= 1;
    } else {
        return None;
    }
    Some(shorter)
}

/// What goes first when time is short: what is least needed, of that what takes most memory. The last point stays.
fn most_expendable(points: &[PlannedPoint]) -> Option<usize> {
    let left = points.iter().enumerate().filter(|(_, p)| p.work.is_ok());
    if left.clone().count() <= 1 {
        return None;
    }
    left.max_by_key(|(_, p)| (p.expendable, working_set(p))).map(|(index, _)| index)
}

/// `copy DRAM, 2 threads`
fn describe(coordinates: &Coordinates) -> String {
    let of = |axis: &str| coordinates.get(axis).map(ToString::to_string).unwrap_or_default();
    format!("{} {} ({} threads, {} pages)", of("operation"), of("level"), of("threads"), of("pages"))
}

/// Expected time of the whole plan.
fn estimate(points: &[PlannedPoint], phases: &[Phase], request: &Request, sampling: &Sampling, cost: Cost) -> Nanos {
    let turn = PER_TURN + request.cooldown + sampling.length * (f64::from(sampling.per_round) + WARM_UPS);
    let of_phase = |phase: &Phase| {
        let mapping = Nanos::from_secs(phase.memory.total().0 as f64 / cost.fault.0);
        let built = if phase.chains_share { f64::from(sampling.rounds) } else { 1.0 };
        let chains = phase.points.iter().filter_map(|&i| match &points[i].work {
            Ok(Work::Chase(w)) => Some(PER_NODE * ((w.bytes.0 / w.stride.0) as f64 * built / cost.threads)),
            _ => None,
        });
        let turns = phase.points.len() as f64 * f64::from(sampling.rounds);
        mapping + chains.sum() + turn * turns
    };
    FIXED + phases.iter().map(of_phase).sum()
}
