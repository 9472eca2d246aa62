//! How long a plan takes.

use super::{Phase, PlannedPoint, Request};
use crate::engine::{ChaseWork, FILLS, LONGEST_FILL, LONGEST_WALK, Sampling, Work, fills, race_samples, settling};
use crate::results::HostFacts;
use crate::units::{Bytes, BytesPerSecond, Nanos};

/// Rates that decide how long a plan takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub fault: BytesPerSecond,
    pub threads: f64,
    pub last_level: Bytes,
    /// The cache before the last one.
    pub nearer: Bytes,
    pub base_page: Bytes,
    /// Time that is behind us when the plan is made.
    pub before: Nanos,
}

impl Cost {
    /// Of what is requested on the machine with these `facts`, where fresh memory becomes usable at `fault`.
    pub fn of(request: &Request, facts: &HostFacts, fault: BytesPerSecond) -> Self {
        Self {
            fault,
            threads: request.cpus.len().max(1) as f64,
            last_level: facts.topology.last_level_total(&request.cpus),
            nearer: request.cpus.first().map_or(Bytes(0), |&cpu| facts.topology.before_last_level(cpu)),
            base_page: facts.pages.base,
            before: Nanos::ZERO,
        }
    }
}

/// What the start of a run takes: calibration, reading back pages, writing the report.
const FIXED: Nanos = Nanos(0.1e9);

/// Samples that warming up takes on average, in caches and beyond.
const WARM_UPS: f64 = 3.0;
const WARM_UPS_IN_MEMORY: f64 = 6.0;
const WARM_UPS_ON_STORAGE: f64 = 0.2;

/// What a file is written with before it is measured.
const FILLED: BytesPerSecond = BytesPerSecond(300e6);

/// What a turn of a point takes beside its samples: taking memory, readings of faults, steal and core clock.
const PER_TURN: Nanos = Nanos(3e6);

/// What a sample takes beside its length: waking the threads, finding the chunk.
const PER_SAMPLE: Nanos = Nanos(0.12e6);

/// What a thread walks through and what a hop takes, in the last cache or a little beyond.
const WALKED: BytesPerSecond = BytesPerSecond(40e9);
const PER_HOP: Nanos = Nanos(60.0);
const PER_HOP_IN_MEMORY: Nanos = Nanos(200.0);

/// What a hop takes of many walkers that bring a chain into the caches.
const PER_FILLING_HOP: Nanos = Nanos(4.0);

/// What an entry of a table of pieces takes to make: each turn makes them anew.
const PER_ENTRY: Nanos = Nanos(4.0);

/// What a number of a stream of doubles takes to make, which other kernels leave as they are and tables do not.
const PER_NUMBER: Nanos = Nanos(1.5);

/// What a short window takes in multiples of its length: the core clock is read beside every sixteen of them.
const PER_WINDOW: f64 = 2.0;

/// What one node of a chain takes to write and to verify with one thread.
const PER_NODE: Nanos = Nanos(45.0);

/// Expected time of the whole plan.
pub(super) fn estimate(
    points: &[PlannedPoint],
    phases: &[Phase],
    request: &Request,
    sampling: &Sampling,
    cost: Cost,
) -> Nanos {
    cost.before.max(FIXED) + phases.iter().map(|phase| phase_time(points, phase, request, sampling, cost)).sum()
}

/// Expected time of a phase.
pub(super) fn phase_time(
    points: &[PlannedPoint],
    phase: &Phase,
    request: &Request,
    sampling: &Sampling,
    cost: Cost,
) -> Nanos {
    let allocations = f64::from(request.reallocate.max(1));
    let mapping = Nanos::from_secs(phase.memory.total().0 as f64 / cost.fault.0) * allocations;
    let one = |point: &PlannedPoint| {
        let Ok(work) = &point.work else { return Nanos::ZERO };
        let sampling = &request.sampling_of(point, sampling);
        let built = if phase.chains_share { f64::from(sampling.rounds) } else { allocations };
        let chain = work
            .chase()
            .map_or(Nanos::ZERO, |w| PER_NODE * ((w.nodes() * w.chains().len() as u64) as f64 * built / cost.threads));
        let prepared = if point.candidates < 2 { 0.0 } else { point.candidates as f64 };
        let race =
            PER_TURN * prepared + (sampling.length * work.stretch() + PER_SAMPLE) * race_samples(point.candidates);
        let windows = point.windows.map_or(Nanos::ZERO, |w| w.length * f64::from(w.count) * PER_WINDOW);
        // Points share the file: the first one makes it.
        let filled = match work {
            Work::Io(w) if w.point == 0 => Nanos::from_secs(w.filled().0 as f64 / FILLED.0),
            _ => Nanos::ZERO,
        };
        filled + chain + race + windows + turn(work, request, sampling, &cost) * f64::from(sampling.rounds)
    };
    let points = || phase.points.iter().map(|&i| &points[i]);
    mapping + numbers(points(), allocations, sampling) + points().map(one).sum()
}

/// What the streams of doubles of a phase take to fill: the largest once for each of `allocations`, or all in each turn where
/// tables come to lie over them.
fn numbers<'a>(points: impl Iterator<Item = &'a PlannedPoint>, allocations: f64, sampling: &Sampling) -> Nanos {
    let streams = points.filter_map(|point| match &point.work {
        Ok(Work::Stream(work)) => Some(work),
        _ => None,
    });
    let (mut most, mut all, mut tables) = (0.0f64, 0.0, false);
    for work in streams {
        tables |= work.table_bytes() > 0;
        let numbers = if work.contract().on_doubles() { work.bytes.0 as f64 / 8.0 } else { 0.0 };
        (most, all) = (most.max(numbers), all + numbers);
    }
    PER_NUMBER * if tables { all * f64::from(sampling.rounds) } else { most * allocations }
}

/// Expected time of one turn of a point: what a cache may hold is walked once first, and beyond the caches the page tables
/// are, and samples take longer to agree.
fn turn(work: &Work, request: &Request, sampling: &Sampling, cost: &Cost) -> Nanos {
    let held = work.working_set() <= cost.last_level;
    let walk = match work {
        Work::Stream(_) => Nanos::from_secs(work.pass() as f64 / WALKED.0 / work.cpus().len().max(1) as f64),
        Work::Chase(w) => PER_HOP * (settling(work, cost.nearer) / w.threads().max(1)) as f64,
        Work::Loaded(w) => PER_HOP * w.chase().map_or(0, ChaseWork::nodes) as f64,
        Work::Instruction(_) | Work::Lock(_) | Work::HandOff(_) | Work::Io(_) => Nanos::ZERO,
    };
    let passes = |w: &ChaseWork| w.nodes().saturating_mul(FILLS);
    let fill = work.chase().map_or(Nanos::ZERO, |w| PER_FILLING_HOP * passes(w) as f64).min(LONGEST_FILL);
    let chasing = work.chase().map_or(1, |w| w.threads().max(1));
    let tables = PER_HOP_IN_MEMORY * (work.translations(cost.base_page) / chasing) as f64;
    let walk = match held {
        true => (fill + walk.min(LONGEST_WALK)) * f64::from(fills(work, cost.nearer, sampling.per_round)),
        false => tables.min(LONGEST_WALK),
    };
    let made = match work {
        Work::Stream(w) => PER_ENTRY * (w.table_bytes() / 8) as f64,
        _ => Nanos::ZERO,
    };
    let warm_ups = match work {
        Work::Io(_) => WARM_UPS_ON_STORAGE,
        _ if held => WARM_UPS,
        _ => WARM_UPS_IN_MEMORY,
    };
    PER_TURN
        + request.cooldown
        + made
        + walk
        + (sampling.undisturbed(work, held) * work.stretch() + PER_SAMPLE) * (f64::from(sampling.per_round) + warm_ups)
}
