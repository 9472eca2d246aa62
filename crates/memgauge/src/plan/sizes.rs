//! Memory sized again during a session, by the last-level cache that timing shows.

use super::drafting::{Drafted, draft_points};
use super::estimate::Cost;
use super::layout::Layout;
use super::schedule::{Schedule, schedule};
use super::{Phase, Plan, PlannedPoint, Rest, Room};
use engine::{Machine, Sampling};
use experiments::{LastLevel, TimedLastLevel};
use report::{Coordinate, Dataset, HostFacts, Outcome};
use std::collections::BTreeSet;
use units::{Bytes, Nanos, counted};

/// The rest of a plan, with memory sized by another last-level cache.
pub struct Resized {
    /// Effective capacity of the last-level caches together.
    pub last_level: Bytes,
    /// All points that are drafted, those that changed included.
    pub points: Vec<PlannedPoint>,
    /// Positions of the points that changed.
    pub changed: Vec<usize>,
    /// The phases that are left.
    pub phases: Vec<Phase>,
    /// How their points are sampled.
    pub sampling: Sampling,
    /// Expected time of these.
    pub estimate: Nanos,
}

/// A plan in the middle of a session.
#[derive(Clone, Copy)]
pub struct Remaining<'a> {
    /// All points that are drafted.
    pub points: &'a [PlannedPoint],
    /// Positions of those to be measured, and the time for all that is left.
    pub rest: &'a Rest,
    /// The rooms of follow-ups that are not drafted yet.
    pub rooms: &'a [Room],
}

/// Sizes memory by the sweep of caches in `measured`, for the points that are left and those that
/// the plan had no room for, within the time that is left. Gives a finding that says so, and the
/// new rest of the plan: `None` where points would have to be left out for it. Gives nothing where
/// the system reports what timing shows, or the user knows better.
///
/// More than is reported always counts: what is smaller would not be memory. Less does only where
/// the user asks for it, or where there is no room by what is reported: the next minute a neighbour
/// may leave the cache that the system reports.
pub fn resized(
    plan: &Plan,
    remaining: Remaining<'_>,
    measured: &Dataset,
    machine: &dyn Machine,
) -> Option<(String, Option<Resized>)> {
    let request = &plan.request;
    let facts = machine.facts();
    let Remaining { points, rest, .. } = remaining;
    let sweep = first_repeat(measured);
    let timed = request
        .experiments
        .iter()
        .find_map(|e| e.timed_last_level(&sweep, &facts.topology, &request.cpus))?;
    let (last_level, all) = match (timed, request.last_level) {
        (_, Some(LastLevel::Given(_))) => return None,
        (TimedLastLevel::More(size), _)
        | (TimedLastLevel::Less(size), Some(LastLevel::Measured)) => (size, true),
        (TimedLastLevel::Less(size), None) => (size, false),
    };
    let asked = |index: usize| (all && rest.left.contains(&index)) || had_no_room(&points[index]);
    let mut change = size_by(plan, remaining, last_level, asked, machine)?;
    let reported = facts.topology.last_level_total(&request.cpus);
    let room = change.phases.iter().map(Phase::room).sum::<usize>();
    let wanted_room = remaining.rooms.iter().map(|room| room.points).sum();
    let is_left_out = |&i: &usize| points[i].work.is_ok() && change.points[i].work.is_err();
    if room < wanted_room || rest.left.iter().any(is_left_out) {
        let text = format!(
            "Memory is sized by the reported last-level cache of {reported}, though timing shows \
             {last_level}: there is no time for larger sizes; type a longer --budget."
        );
        return Some((text, None));
    }
    // Points that there is still no room for stay as they were.
    change
        .changed
        .retain(|&index| change.points[index].work.is_ok());
    let is_changed = |index: &usize| change.changed.contains(index);
    for index in (0..points.len()).filter(|index| !is_changed(index)) {
        change.points[index] = points[index].clone();
    }
    let count = change
        .changed
        .iter()
        .filter(|&&i| change.points[i].work != points[i].work)
        .count();
    let what = match count {
        0 => "Memory begins past".to_owned(),
        _ => format!("The memory of {} is sized by", counted(count, "point")),
    };
    let why = if all {
        ""
    } else {
        ", because there was no room for sizes by the reported one"
    };
    let text = format!(
        "{what} the last-level cache of {last_level} that timing shows{why}; the system reports \
         {reported}."
    );
    (!change.changed.is_empty()).then_some((text, Some(change)))
}

/// The rest of a plan with memory sized by `last_level`, where that changes the points that are
/// `asked` for again. Points that there is no time for are skipped. `None` where the experiments
/// refuse such a size.
pub(super) fn size_by(
    plan: &Plan,
    remaining: Remaining<'_>,
    last_level: Bytes,
    asked: impl Fn(usize) -> bool,
    machine: &dyn Machine,
) -> Option<Resized> {
    let Remaining {
        points,
        rest,
        rooms,
    } = remaining;
    let request = &plan.request;
    let facts = machine.facts();
    let drafted = draft_points(request, &request.scope_by(machine, Some(last_level))).ok()?;
    let Redrafted {
        points: mut new,
        changed,
    } = redrafted(points, &drafted, asked, facts);
    let then = Rest {
        left: rest.left.iter().chain(&changed).copied().collect(),
        budget: rest.budget,
    };
    let placeholders = with_room(drafted.placeholders, rooms);
    let cost = Cost::new(machine, plan.fault);
    let schedule = schedule(request, &mut new, placeholders, facts, cost, &then);
    let Schedule {
        phases,
        sampling,
        estimate,
        ..
    } = schedule;
    Some(Resized {
        last_level,
        points: new,
        changed,
        phases,
        sampling,
        estimate,
    })
}

/// The `placeholders` that there is room for.
fn with_room(mut placeholders: Vec<PlannedPoint>, rooms: &[Room]) -> Vec<PlannedPoint> {
    let mut rooms = rooms.to_vec();
    placeholders.retain(|placeholder| {
        let room = rooms.iter_mut().find(|room| {
            placeholder.follow_up == Some(room.follow_up)
                && placeholder.experiment == room.experiment
                && placeholder.coordinates.get("repeat") == room.repeat.as_ref()
                && room.points > 0
        });
        room.map(|room| room.points -= 1).is_some()
    });
    placeholders
}

/// Whether the plan had no memory or no time for a point.
fn had_no_room(point: &PlannedPoint) -> bool {
    point.follow_up.is_none() && matches!(point.work, Err(Outcome::Skipped { .. }))
}

/// Points of which some are drafted again.
struct Redrafted {
    points: Vec<PlannedPoint>,
    /// Positions of those that differ from before.
    changed: Vec<usize>,
}

/// `points`, with those of `drafted` in place of what is `asked` for again, where they differ and
/// can be measured. An experiment that would have another number of points keeps what it has.
fn redrafted(
    points: &[PlannedPoint],
    drafted: &Drafted,
    asked: impl Fn(usize) -> bool,
    facts: &HostFacts,
) -> Redrafted {
    let layout = Layout::new(facts, &drafted.points);
    let of_experiment = |points: &[PlannedPoint], experiment: usize| -> Vec<usize> {
        let all = points.iter().enumerate();
        all.filter(|(_, p)| p.experiment == experiment && p.follow_up.is_none())
            .map(|(index, _)| index)
            .collect()
    };
    let mut new = points.to_vec();
    let mut changed = Vec::new();
    let experiments: BTreeSet<usize> = points.iter().map(|point| point.experiment).collect();
    for experiment in experiments {
        let here = of_experiment(points, experiment);
        let there = of_experiment(&drafted.points, experiment);
        if here.len() != there.len() {
            continue;
        }
        for (here, there) in here.into_iter().zip(there) {
            let old = &points[here];
            let draft = &drafted.points[there];
            let differs = draft.work != old.work || draft.coordinates != old.coordinates;
            if differs
                && asked(here)
                && !old.sizes_memory
                && draft.work.is_ok()
                && layout.fits(there)
            {
                changed.push(here);
                new[here] = PlannedPoint {
                    id: old.id,
                    ..draft.clone()
                };
            }
        }
    }
    changed.sort_unstable();
    Redrafted {
        points: new,
        changed,
    }
}

/// The points of the first repeat, which stands for all.
fn first_repeat(dataset: &Dataset) -> Dataset {
    let mut first = dataset.clone();
    first.points.retain(|point| {
        point
            .coordinates
            .get("repeat")
            .is_none_or(|repeat| *repeat == Coordinate::Number(0))
    });
    first
}
