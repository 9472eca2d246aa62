//! Memory sized anew during a run, by what timing shows of the last-level cache.

use super::layout::Layout;
use super::{Cost, Phase, Plan, PlannedPoint, Rest, Schedule, draft_points, schedule};
use engine::{Machine, Sampling};
use experiments::{LastLevel, TimedLastLevel};
use report::{Coordinate, Coordinates, Dataset, HostFacts, Outcome, Point, place_asked_for};
use std::collections::BTreeSet;
use units::{Bytes, Nanos, counted};

/// What is left of a plan, with memory sized by another last-level cache.
pub struct Resized {
    /// What the last-level caches hold together by timing.
    pub last_level: Bytes,
    /// All points, those that changed included.
    pub points: Vec<PlannedPoint>,
    /// Of the points that are left.
    pub phases: Vec<Phase>,
    /// How these are sampled.
    pub sampling: Sampling,
    /// Expected time of these.
    pub estimate: Nanos,
}

/// Sizes memory by the sweep of caches in `measured`, for those of `points` that are in the `rest`
/// of the plan and those that it had no room for, within the budget of that rest. Gives a sentence
/// that says so, and what is left then: nothing changes where points would have to be left out for
/// it. `None` where the system reports what timing shows, or the user knows better.
///
/// More than is reported always counts: what is smaller would not be memory. Less does only where
/// the user asks for it, or where there is no room by what is reported: the next minute a neighbour
/// may leave the cache that the system reports.
pub fn resized(
    plan: &Plan,
    points: &[PlannedPoint],
    rest: &Rest,
    measured: &Dataset,
    machine: &dyn Machine,
) -> Option<(String, Option<Resized>)> {
    let request = &plan.request;
    let facts = machine.facts();
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
    let drafted = draft_points(request, &request.scope_by(machine, Some(last_level))).ok()?;
    let asked = |index: usize| (all && rest.left.contains(&index)) || had_no_room(&points[index]);
    let mut new = redrafted(points, &drafted, asked, facts);
    let changed: BTreeSet<usize> = (0..new.len())
        .filter(|&i| new[i].resized && !points[i].resized)
        .collect();
    let cost = Cost::new(machine, plan.fault);
    let then = Rest {
        left: rest.left.union(&changed).copied().collect(),
        budget: rest.budget,
    };
    let Schedule {
        phases,
        sampling,
        estimate,
        ..
    } = schedule(request, &mut new, facts, cost, &then);
    let reported = facts.topology.last_level_total(&request.cpus);
    if rest
        .left
        .iter()
        .any(|&i| points[i].work.is_ok() && new[i].work.is_err())
    {
        let text = format!(
            "Memory is sized by the {reported} of last-level cache that the system reports: there \
             is no time for sizes by the {last_level} that timing shows; allow more with \
             --budget."
        );
        return Some((text, None));
    }
    // What there is no time for either is skipped as it was.
    let (room, none): (Vec<usize>, Vec<usize>) =
        changed.into_iter().partition(|&i| new[i].work.is_ok());
    none.into_iter()
        .for_each(|index| new[index] = points[index].clone());
    let count = room
        .iter()
        .filter(|&&i| new[i].work != points[i].work)
        .count();
    let what = match count {
        0 => "What is called memory goes by".to_owned(),
        _ => format!("The memory of {} is sized by", counted(count, "point")),
    };
    let why = if all {
        ""
    } else {
        ", where there was no room for memory by what the system reports"
    };
    let text = format!(
        "{what} a last-level cache of {last_level}, as timing shows{why}; the system reports \
         {reported}."
    );
    (!room.is_empty()).then_some((
        text,
        Some(Resized {
            last_level,
            points: new,
            phases,
            sampling,
            estimate,
        }),
    ))
}

impl Plan {
    /// Sizes memory as the run did that this plan is to continue, if it has come that far: it has
    /// then a measured point in `datasets` that lies where it was not planned.
    pub fn size_as_before(&mut self, datasets: &[Dataset], machine: &dyn Machine) {
        let Some(shows) = self
            .request
            .experiments
            .iter()
            .position(|e| e.sizes_memory(None))
        else {
            return;
        };
        let Some(sweep) = datasets.get(shows) else {
            return;
        };
        let left = self
            .phases
            .iter()
            .flat_map(|phase| &phase.points)
            .copied()
            .collect();
        let rest = Rest {
            left,
            budget: self.request.budget,
        };
        let found = resized(self, &self.points, &rest, sweep, machine);
        let Some((text, Some(change))) = found else {
            return;
        };
        let mut points = datasets
            .iter()
            .enumerate()
            .flat_map(|(d, dataset)| dataset.points.iter().map(move |p| (d, p)));
        let has_moved = |(d, point): (usize, &Point)| {
            let index = usize::try_from(point.id)
                .ok()
                .filter(|&index| index < self.points.len());
            let moved = |i: usize| {
                change.points[i].has_become(point, d) && !self.points[i].has_become(point, d)
            };
            point.outcome.measured().is_some() && index.is_some_and(moved)
        };
        if points.any(has_moved) {
            self.resized = Some((change.last_level, text));
            (self.points, self.phases) = (change.points, change.phases);
            (self.sampling, self.estimate) = (change.sampling, change.estimate);
        }
    }
}

impl PlannedPoint {
    /// Whether `point`, of the experiment at position `experiment`, came of this. Where kernels or
    /// numbers of threads raced, it has what won.
    pub fn has_become(&self, point: &Point, experiment: usize) -> bool {
        let raced = point.outcome.measured().is_some_and(|m| m.choice.is_some());
        let place = |at: &Coordinates| {
            if raced {
                place_asked_for(at)
            } else {
                at.clone()
            }
        };
        experiment == self.experiment && place(&point.coordinates) == place(&self.coordinates)
    }
}

/// Whether the plan had no memory or no time for a point.
fn had_no_room(point: &PlannedPoint) -> bool {
    point.stage.is_none() && matches!(point.work, Err(Outcome::Skipped { .. }))
}

/// `points`, with those of `drafted` in place of what is `asked` for again, where they differ and
/// can be measured. An experiment that would have another number of points keeps what it has.
fn redrafted(
    points: &[PlannedPoint],
    drafted: &[PlannedPoint],
    asked: impl Fn(usize) -> bool,
    facts: &HostFacts,
) -> Vec<PlannedPoint> {
    let layout = Layout::new(facts, drafted);
    let drafts_by_stage =
        |points: &[PlannedPoint], experiment: usize| -> Vec<(Option<usize>, usize)> {
            let all = points
                .iter()
                .enumerate()
                .filter(|(_, point)| point.experiment == experiment);
            all.map(|(index, point)| (point.stage, index)).collect()
        };
    let mut new = points.to_vec();
    let experiments: BTreeSet<usize> = points.iter().map(|point| point.experiment).collect();
    for experiment in experiments {
        let here = drafts_by_stage(points, experiment);
        let there = drafts_by_stage(drafted, experiment);
        if !here
            .iter()
            .map(|(stage, _)| stage)
            .eq(there.iter().map(|(stage, _)| stage))
        {
            continue;
        }
        for ((_, here), (_, there)) in here.into_iter().zip(there) {
            let old = &points[here];
            let draft = &drafted[there];
            let differs = draft.work != old.work || draft.coordinates != old.coordinates;
            if differs
                && asked(here)
                && !old.sizes_memory
                && draft.work.is_ok()
                && layout.fits(there)
            {
                new[here] = PlannedPoint {
                    id: old.id,
                    resized: true,
                    ..draft.clone()
                };
            }
        }
    }
    new
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
