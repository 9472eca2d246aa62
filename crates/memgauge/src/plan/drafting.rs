//! Drafts the points of experiments: at the start, and later from measured points.

use super::{LARGEST_MAX_POINTS, PlannedPoint, Request, Room, pages};
use engine::PointCosts;
use experiments::{Draft, Scope};
use report::{Coordinate, Coordinates, Dataset, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use units::error::{Error, Result};

/// Points that experiments request before anything is measured.
pub(super) struct Drafted {
    /// Points that are known before the session, in the order of tables.
    pub points: Vec<PlannedPoint>,
    /// Placeholders for the points of follow-ups. A placeholder has the time and memory of the most
    /// expensive point that may take its place.
    pub placeholders: Vec<PlannedPoint>,
}

/// Drafts the points of all experiments and repeats. If two drafts of an experiment have the same
/// coordinates, the second one is left out.
///
/// # Errors
/// An experiment rejects its settings, or there are more points than the request allows.
pub(super) fn draft_points(request: &Request, scope: &Scope<'_>) -> Result<Drafted> {
    let mut known: Vec<(usize, Draft)> = Vec::new();
    let mut follow_ups: BTreeMap<usize, Vec<(usize, Draft)>> = BTreeMap::new();
    for (index, experiment) in request.experiments.iter().enumerate() {
        let mut seen = BTreeSet::new();
        let drafts = experiment
            .draft(scope)?
            .into_iter()
            .map(|draft| pages::settled(draft, scope.facts()));
        let new = drafts.filter(|draft| seen.insert(draft.coordinates.clone()));
        known.extend(new.map(|draft| (index, draft)));
        for (follow_up, drafts) in experiment.reserve(scope)?.into_iter().enumerate() {
            let drafts = drafts.into_iter().map(|draft| (index, draft));
            follow_ups.entry(follow_up).or_default().extend(drafts);
        }
    }
    let placeholders = follow_ups.values().map(Vec::len).sum::<usize>();
    check_count(known.len() + placeholders, request)?;
    let mut count = 0;
    let mut planned = |drafts: &[(usize, Draft)], follow_up: Option<usize>| {
        let mut points = Vec::new();
        for repeat in repeats(request) {
            for (experiment, draft) in drafts {
                let origin = DraftOrigin {
                    experiment: *experiment,
                    repeat: repeat.clone(),
                    follow_up,
                    id: count,
                };
                points.push(PlannedPoint::new(draft.clone(), origin, request, scope));
                count += 1;
            }
        }
        points
    };
    let points = planned(&known, None);
    let placeholders = follow_ups
        .iter()
        .flat_map(|(follow_up, drafts)| planned(drafts, Some(*follow_up)))
        .collect();
    Ok(Drafted {
        points,
        placeholders,
    })
}

/// Values of the coordinate `repeat`: a number for each repetition. The only value is `None` if the
/// session measures everything once.
fn repeats(request: &Request) -> Vec<Option<Coordinate>> {
    let several = request.repeat > 1;
    let all = 0..u64::from(request.repeat.max(1));
    all.map(|repeat| several.then_some(Coordinate::Number(repeat)))
        .collect()
}

/// Origin of a draft, and the number of the point that is made from it.
pub(super) struct DraftOrigin {
    /// Position of the experiment in the request.
    pub experiment: usize,
    /// Value of the coordinate `repeat`; `None` if the session measures everything once.
    pub repeat: Option<Coordinate>,
    /// Number of the follow-up that made the draft; `None` for a point that is known before the
    /// session.
    pub follow_up: Option<usize>,
    /// Number of the new point within the plan.
    pub id: usize,
}

impl PlannedPoint {
    /// Makes the point that `draft` requests, with its costs on the machine of `scope`.
    pub(super) fn new(
        draft: Draft,
        origin: DraftOrigin,
        request: &Request,
        scope: &Scope<'_>,
    ) -> Self {
        let experiment = &request.experiments[origin.experiment];
        let mut coordinates = draft.coordinates;
        coordinates.extend(origin.repeat.map(|repeat| ("repeat".to_owned(), repeat)));
        let candidates = draft
            .work
            .as_ref()
            .map_or(0, |work| scope.machine.candidates(work).len());
        let costs = draft.work.as_ref().map_or(PointCosts::NONE, |work| {
            PointCosts::look_up(work, scope.machine)
        });
        Self {
            id: origin.id as u64,
            experiment: origin.experiment,
            coordinates,
            work: draft.work,
            bound: draft.bound,
            drop_priority: draft.drop_priority,
            candidates,
            costs,
            rebuilt: experiment.rebuilds_chains(),
            sizes_memory: experiment.sizes_memory(origin.follow_up),
            windows: experiment.windows(),
            follow_up: origin.follow_up,
        }
    }
}

/// Outcomes of a session so far.
#[derive(Clone, Copy)]
pub struct ResultsSoFar<'a> {
    /// All drafted points.
    pub points: &'a [PlannedPoint],
    /// Outcomes of the measured points, by index of the point.
    pub outcomes: &'a BTreeMap<usize, Outcome>,
}

impl ResultsSoFar<'_> {
    /// Dataset of the points of an experiment that have an outcome in one repetition. Their
    /// coordinate `repeat` is removed.
    pub fn dataset(
        &self,
        request: &Request,
        experiment: usize,
        repeat: Option<&Coordinate>,
    ) -> Dataset {
        let here = |point: &PlannedPoint| {
            point.experiment == experiment && point.coordinates.get("repeat") == repeat
        };
        let known = self.points.iter().enumerate().filter(|(_, p)| here(p));
        let points = known.filter_map(|(index, planned)| {
            let mut point = planned.with(self.outcomes.get(&index)?.clone());
            point.coordinates.remove("repeat");
            Some(point)
        });
        let asks = &request.experiments[experiment];
        Dataset {
            experiment: asks.name().to_owned(),
            quantity: asks.quantity(),
            axes: asks.axes(),
            points: points.collect(),
            auxiliary: asks.is_auxiliary(),
            derived: false,
        }
    }
}

/// Drafts the points of a follow-up from measured points. There are at most `room.points` new
/// points, and no two have the same coordinates. The new points are numbered from `first_id` on.
pub fn draft_follow_up(
    request: &Request,
    scope: &Scope<'_>,
    room: &Room,
    results: ResultsSoFar<'_>,
    first_id: usize,
) -> Vec<PlannedPoint> {
    let measured = results.dataset(request, room.experiment, room.repeat.as_ref());
    let mut taken: BTreeSet<Coordinates> = measured
        .points
        .iter()
        .map(|point| point.coordinates.clone())
        .collect();
    let experiment = &request.experiments[room.experiment];
    let drafts = experiment.follow_up(scope, room.follow_up, room.points, &measured);
    drafts
        .into_iter()
        .map(|draft| pages::settled(draft, scope.facts()))
        .filter(|draft| taken.insert(draft.coordinates.clone()))
        .take(room.points)
        .zip(first_id..)
        .map(|(draft, id)| {
            let origin = DraftOrigin {
                experiment: room.experiment,
                repeat: room.repeat.clone(),
                follow_up: Some(room.follow_up),
                id,
            };
            PlannedPoint::new(draft, origin, request, scope)
        })
        .collect()
}

/// Fails if `each` points in every repetition are more than the request allows. The error advises a
/// `--max-points` that is large enough.
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
