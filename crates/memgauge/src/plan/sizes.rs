//! Changes the sizes of memory during a session if timing shows another size of the last-level
//! cache.

use super::drafting::{Drafted, draft_points};
use super::estimate::Cost;
use super::layout::Layout;
use super::schedule::{Schedule, schedule};
use super::{Phase, Plan, PlannedPoint, RemainingPoints, Room};
use engine::{Machine, Sampling};
use experiments::{LastLevel, TimedLastLevel};
use report::{Coordinate, Dataset, HostFacts, Outcome};
use std::collections::BTreeSet;
use units::{Bytes, Nanos, counted};

/// The rest of a plan, with its memory sized by the effective capacity of the last-level cache.
pub struct Resized {
    /// Effective capacity of all last-level caches.
    pub last_level: Bytes,
    /// All drafted points, including those that changed.
    pub points: Vec<PlannedPoint>,
    /// Indices of the points that changed.
    pub changed: Vec<usize>,
    /// Remaining phases.
    pub phases: Vec<Phase>,
    /// Sampling of the points in these phases.
    pub sampling: Sampling,
    /// Expected time of the remaining phases.
    pub estimate: Nanos,
}

/// A plan in the middle of a session.
#[derive(Clone, Copy)]
pub struct Remaining<'a> {
    /// All drafted points.
    pub points: &'a [PlannedPoint],
    /// Indices of the points to be measured, and the time that remains.
    pub rest: &'a RemainingPoints,
    /// Limits of follow-ups that are not drafted yet.
    pub rooms: &'a [Room],
}

/// Sizes memory by the capacity of the last-level cache that timing shows. `measured` is the
/// dataset of the sweep `caches`. Points change only if they remain to be measured or did not fit
/// before. Returns a finding and the new rest of the plan. The rest is `None` if points would have
/// to be dropped. Returns `None` if nothing changes.
///
/// A capacity above the reported one always counts, because working sets sized by the reported one
/// would lie in the cache. A smaller capacity counts only if the user requests it, or if there is
/// no room otherwise. The reason is that another program may have used the cache during the sweep,
/// and may soon leave it.
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
    let requested =
        |index: usize| (all && rest.left.contains(&index)) || had_no_room(&points[index]);
    let mut change = size_by(plan, remaining, last_level, requested, machine)?;
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
    // Points that still do not fit keep their old state.
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

/// Makes the rest of a plan whose memory is sized by `last_level`. Only points that `requested`
/// accepts may change. Points for which there is no time are skipped. `None` if an experiment
/// rejects the size.
pub(super) fn size_by(
    plan: &Plan,
    remaining: Remaining<'_>,
    last_level: Bytes,
    requested: impl Fn(usize) -> bool,
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
    } = redrafted(points, &drafted, requested, facts);
    let then = RemainingPoints {
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

/// Returns as many of the `placeholders` as `rooms` allow.
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

/// True if the point was skipped for lack of memory or time.
fn had_no_room(point: &PlannedPoint) -> bool {
    point.follow_up.is_none() && matches!(point.work, Err(Outcome::Skipped { .. }))
}

/// Points of a plan after some of them were replaced.
struct Redrafted {
    points: Vec<PlannedPoint>,
    /// Indices of the replaced points.
    changed: Vec<usize>,
}

/// Replaces each point that `requested` accepts by its counterpart in `drafted`, if the counterpart
/// differs and can be measured. An experiment whose number of points would change keeps its old
/// points.
fn redrafted(
    points: &[PlannedPoint],
    drafted: &Drafted,
    requested: impl Fn(usize) -> bool,
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
                && requested(here)
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

/// Points of the first repeat, which stands for all repeats.
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
