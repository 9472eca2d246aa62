//! Fits points into the available time and memory: shortens samples first, then drops points.

use super::estimate::{Cost, batch_time, estimate};
use super::layout::Layout;
use super::request::sampling_shown;
use super::words::{MAX_NAMED, describe_point, describe_sampling};
use super::{Batch, Phase, PlannedPoint, Request, Reserve, Room};
use engine::{Machine, Sampling, Work};
use report::{Coordinate, HostFacts, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use units::error::Error;
use units::{Bytes, BytesPerSecond, Nanos, counted};

/// A point is not shortened below this number of samples per round and this number of rounds.
const FEWEST_PER_ROUND: u32 = 4;
const FEWEST_ROUNDS: u32 = 3;

/// Advised budget divided by the time of the plan. The margin is needed because the rate of mapping
/// memory varies.
const BUDGET_MARGIN: f64 = 1.2;

/// Time added to an advised budget, because the time that a session takes to start varies.
const STARTING: Nanos = Nanos(1e9);

/// Share of the budget that mapping memory may take before the first sample.
const FIRST_MAPPING_SHARE: f64 = 0.2;

/// Share of the time of all rounds that is reserved for further rounds of points with wide
/// intervals.
const RESERVE: f64 = 0.2;

/// Phases and batches of a plan, and their time.
pub(super) struct Schedule {
    pub phases: Vec<Phase>,
    pub sampling: Sampling,
    pub estimate: Nanos,
    /// Sentences about shortened samples and points that were left out.
    pub shortened: Vec<String>,
    /// Time that the points need; `None` unless the budget is too small for a single point.
    pub needed: Option<Needed>,
}

/// Time that points need if their samples are as few and as short as allowed.
pub(super) struct Needed {
    /// Time of the fastest point.
    one: Nanos,
    all: Nanos,
    points: usize,
}

/// Makes the error for a budget that is too small for a single point. The error advises a budget
/// for all points.
pub(super) fn too_little_time(request: &Request, needed: &Needed) -> Error {
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

/// Points of a plan that are still to be measured.
pub struct RemainingPoints {
    /// Indices of the points in the plan.
    pub left: BTreeSet<usize>,
    /// Time in which the points are to be measured.
    pub budget: Nanos,
}

/// Makes batches of the points in `rest` and of the `placeholders` of follow-ups. Samples are
/// shortened until all fit into the budget. Points that still do not fit are then skipped.
pub(super) fn schedule(
    request: &Request,
    points: &mut Vec<PlannedPoint>,
    placeholders: Vec<PlannedPoint>,
    facts: &HostFacts,
    cost: Cost,
    rest: &RemainingPoints,
) -> Schedule {
    let known = points.len();
    points.extend(placeholders);
    let schedule = schedule_all(request, points, known, facts, cost, rest);
    points.truncate(known);
    schedule
}

/// Makes batches of `points`. Points from index `known` on are placeholders.
fn schedule_all(
    request: &Request,
    points: &mut [PlannedPoint],
    known: usize,
    facts: &HostFacts,
    cost: Cost,
    rest: &RemainingPoints,
) -> Schedule {
    let budget = rest.budget;
    let left: BTreeSet<usize> = rest
        .left
        .iter()
        .copied()
        .chain(known..points.len())
        .collect();
    let done: BTreeSet<usize> = (0..points.len())
        .filter(|index| !left.contains(index))
        .collect();
    let first_mapping = Bytes((cost.fault.0 * budget.secs() * FIRST_MAPPING_SHARE) as u64);
    let layout = Layout::new(facts, points).with_first_mapping(first_mapping);
    let too_large: Vec<usize> = left.iter().copied().filter(|&i| !layout.fits(i)).collect();
    let mut shortened = leave_out(points, known, &too_large, &layout.lacks_memory());
    let mut sampling = request.sampling.over(request.reallocate);
    let time = |points: &[PlannedPoint], left_out: &[usize], sampling: &Sampling| {
        let batches = layout.batches(points, &done.iter().chain(left_out).copied().collect());
        let estimate = estimate(points, &batches, request, sampling, cost);
        (batches, estimate)
    };
    let (mut batches, mut total) = time(points, &[], &sampling);
    while total > budget
        && let Some(shorter) = shorten(&sampling, request)
    {
        sampling = shorter;
        total = estimate(points, &batches, request, &sampling, cost);
    }
    let full = request.sampling.over(request.reallocate);
    if sampling != full {
        let [short, full] =
            [&sampling, &full].map(|general| sampling_shown(request, points, general));
        shortened.push(describe_sampling(&short, &full));
    }
    let mut needed = None;
    let all_take = total;
    let count = batches.iter().map(|batch| batch.points.len()).sum();
    if total > budget {
        // The plan gets shorter with each dropped point. A binary search therefore finds the least
        // number of dropped points.
        let mut order = least_needed_first(points);
        order.retain(|index| left.contains(index));
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
        (batches, total) = time(points, left_out, &sampling);
        let reason = format!(
            "does not fit into the budget of {}; allow more with --budget",
            request.budget
        );
        shortened.extend(leave_out(points, known, left_out, &reason));
    }
    if total > budget && !batches.is_empty() {
        needed = Some(Needed {
            one: total,
            all: all_take,
            points: count,
        });
    }
    let longer = 1.0 + reserve(&sampling, total, budget);
    for batch in &mut batches {
        batch.estimate = batch_time(points, batch, request, &sampling, cost) * longer;
    }
    Schedule {
        phases: into_phases(batches, points, known, request, &sampling),
        sampling,
        // The product is limited, because rounding must not make it exceed the budget.
        estimate: (total * longer).min(budget.max(total)),
        shortened,
        needed,
    }
}

/// Sorts `batches` into phases. Points from index `known` on are placeholders, and their batches
/// become the reserve of their phase.
fn into_phases(
    batches: Vec<Batch>,
    points: &[PlannedPoint],
    known: usize,
    request: &Request,
    sampling: &Sampling,
) -> Vec<Phase> {
    let mut phases: Vec<Phase> = Vec::new();
    for batch in batches {
        let Some(&first) = batch.points.first() else {
            continue;
        };
        let id = points[first].phase();
        let at = match phases.iter().position(|phase| phase.id == id) {
            Some(at) => at,
            None => {
                phases.push(Phase {
                    id,
                    batches: Vec::new(),
                    reserve: None,
                });
                phases.len() - 1
            }
        };
        if first < known {
            phases[at].batches.push(batch);
        } else {
            let reserve = phases[at].reserve.get_or_insert_default();
            add_to_reserve(reserve, &batch, points, request, sampling);
        }
    }
    // Phases that size memory come first, and follow-ups come last, in order of their numbers.
    phases.sort_by_key(|phase| (!phase.id.sizes_memory, phase.id.follow_up));
    phases
}

/// Adds the time, the memory and the number of the placeholders in `batch` to `reserve`.
fn add_to_reserve(
    reserve: &mut Reserve,
    batch: &Batch,
    points: &[PlannedPoint],
    request: &Request,
    sampling: &Sampling,
) {
    reserve.estimate += batch.estimate;
    reserve.memory = reserve.memory.max(batch.most_memory(request.reallocate));
    for point in batch.points.iter().map(|&index| &points[index]) {
        reserve.rounds += u64::from(request.sampling_of(point, sampling).rounds);
        let Some(follow_up) = point.follow_up else {
            continue;
        };
        let repeat = point.coordinates.get("repeat");
        let same = |room: &&mut Room| {
            room.experiment == point.experiment && room.repeat.as_ref() == repeat
        };
        match reserve.rooms.iter_mut().find(same) {
            Some(room) => room.points += 1,
            None => reserve.rooms.push(Room {
                follow_up,
                experiment: point.experiment,
                repeat: repeat.cloned(),
                points: 1,
            }),
        }
    }
}

/// Makes batches of the points from index `first` on, and divides the `reserved` time between them.
/// Points that do not fit into memory are skipped.
pub fn batches_of_phase(
    request: &Request,
    points: &mut [PlannedPoint],
    first: usize,
    machine: &dyn Machine,
    sampling: &Sampling,
    fault: BytesPerSecond,
    reserved: Option<Nanos>,
) -> Vec<Batch> {
    let layout = Layout::new(machine.facts(), points);
    let too_large: Vec<usize> = (first..points.len()).filter(|&i| !layout.fits(i)).collect();
    leave_out(points, points.len(), &too_large, &layout.lacks_memory());
    let mut batches = layout.batches(points, &(0..first).collect());
    let cost = Cost::new(machine, fault);
    for batch in &mut batches {
        batch.estimate = batch_time(points, batch, request, sampling, cost);
    }
    let all: Nanos = batches.iter().map(|batch| batch.estimate).sum();
    if let Some(reserved) = reserved.filter(|_| all > Nanos::ZERO) {
        for batch in &mut batches {
            batch.estimate = reserved * (batch.estimate.0 / all.0);
        }
    }
    batches
}

/// Share of `total`, the time of a plan, that is reserved for further rounds within the budget. 0
/// if the number of samples is fixed.
fn reserve(sampling: &Sampling, total: Nanos, budget: Nanos) -> f64 {
    let open = sampling.most.is_none() && sampling.target > 0.0;
    if open {
        (budget.0 / total.0 - 1.0).clamp(0.0, RESERVE)
    } else {
        0.0
    }
}

fn working_set(point: &PlannedPoint) -> Bytes {
    point
        .work
        .as_ref()
        .map(Work::working_set)
        .unwrap_or_default()
}

/// Skips the points at `positions` for `reason`. Returns sentences that name the first few points.
/// Placeholders, which begin at index `known`, are only counted.
fn leave_out(
    points: &mut [PlannedPoint],
    known: usize,
    positions: &[usize],
    reason: &str,
) -> Vec<String> {
    for &position in positions {
        points[position].work = Err(Outcome::Skipped {
            reason: reason.to_owned(),
        });
    }
    let (drafted, placeholders): (Vec<usize>, Vec<usize>) =
        positions.iter().partition(|&&position| position < known);
    let named = drafted
        .iter()
        .take(MAX_NAMED)
        .map(|&position| describe_point(&points[position].coordinates));
    let mut said: Vec<String> = named.map(|point| format!("left out {point}")).collect();
    let unnamed = [
        (drafted.len().saturating_sub(MAX_NAMED), "more point"),
        (placeholders.len(), "follow-up point"),
    ];
    said.extend(
        unnamed
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(n, what)| format!("left out {}", counted(n, what))),
    );
    said
}

/// Returns `sampling` made one step shorter; `None` if it cannot be shortened.
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

/// Points to be measured, in the order in which they are dropped when time is short. The order is
/// the reverse of [`most_needed_first`].
fn least_needed_first(points: &[PlannedPoint]) -> Vec<usize> {
    let mut order = most_needed_first(points);
    order.reverse();
    order
}

/// Points to be measured, the most needed first. Among points with equal drop priority, each
/// experiment gets a first point at each level of the memory hierarchy before a second one.
/// Otherwise points with small working sets come first.
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
