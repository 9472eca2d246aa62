//! Points as experiments draft them: at the start, and from what was measured.

use super::{PlannedPoint, Request, Room, pages};
use engine::PointCosts;
use experiments::{Draft, Scope};
use report::{Coordinate, Coordinates, Dataset, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use units::error::{Error, Result};

/// What experiments draft before anything is measured.
pub(super) struct Drafted {
    /// The points that are known, in the order of tables.
    pub points: Vec<PlannedPoint>,
    /// Placeholders for the points of follow-ups: each takes as much time and memory as any of
    /// these.
    pub placeholders: Vec<PlannedPoint>,
}

/// The points of all experiments and repeats. What lies at the same place as a point before it is
/// the same question asked twice and left out.
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
    let mut points = Vec::new();
    for repeat in repeats(request) {
        for (experiment, draft) in &known {
            let id = points.len();
            points.push(PlannedPoint::new(
                draft.clone(),
                DraftOrigin {
                    experiment: *experiment,
                    repeat: repeat.clone(),
                    follow_up: None,
                    id,
                },
                request,
                scope,
            ));
        }
    }
    let mut placeholders = Vec::new();
    for (follow_up, drafts) in follow_ups {
        for repeat in repeats(request) {
            for (experiment, draft) in &drafts {
                let id = points.len() + placeholders.len();
                placeholders.push(PlannedPoint::new(
                    draft.clone(),
                    DraftOrigin {
                        experiment: *experiment,
                        repeat: repeat.clone(),
                        follow_up: Some(follow_up),
                        id,
                    },
                    request,
                    scope,
                ));
            }
        }
    }
    Ok(Drafted {
        points,
        placeholders,
    })
}

/// The coordinate of each repeat; a single `None` where there is one only.
fn repeats(request: &Request) -> Vec<Option<Coordinate>> {
    let several = request.repeat > 1;
    let all = 0..u64::from(request.repeat.max(1));
    all.map(|repeat| several.then_some(Coordinate::Number(repeat)))
        .collect()
}

/// What a session knows about a draft beside the draft itself.
pub(super) struct DraftOrigin {
    /// Position of its experiment in the request.
    pub experiment: usize,
    /// The coordinate of its repeat; `None` where there is one only.
    pub repeat: Option<Coordinate>,
    /// The follow-up that drafts it; `None` for a point that is known at the start.
    pub follow_up: Option<usize>,
    /// Its number.
    pub id: usize,
}

impl PlannedPoint {
    /// The point that `draft` asks for at `place`.
    pub(super) fn new(
        draft: Draft,
        place: DraftOrigin,
        request: &Request,
        scope: &Scope<'_>,
    ) -> Self {
        let experiment = &request.experiments[place.experiment];
        let mut coordinates = draft.coordinates;
        coordinates.extend(place.repeat.map(|repeat| ("repeat".to_owned(), repeat)));
        let candidates = draft
            .work
            .as_ref()
            .map_or(0, |work| scope.machine.candidates(work).len());
        let costs = draft.work.as_ref().map_or(PointCosts::NONE, |work| {
            PointCosts::look_up(work, scope.machine)
        });
        Self {
            id: place.id as u64,
            experiment: place.experiment,
            coordinates,
            work: draft.work,
            bound: draft.bound,
            drop_priority: draft.drop_priority,
            candidates,
            costs,
            rebuilt: experiment.rebuilds_chains(),
            sizes_memory: experiment.sizes_memory(place.follow_up),
            windows: experiment.windows(),
            follow_up: place.follow_up,
        }
    }
}

/// The points of a session, as far as they have outcomes.
#[derive(Clone, Copy)]
pub struct Progressed<'a> {
    /// All points that are drafted.
    pub points: &'a [PlannedPoint],
    /// Their outcomes by position.
    pub outcomes: &'a BTreeMap<usize, Outcome>,
}

impl Progressed<'_> {
    /// The points of an experiment that have an outcome in one repeat, without the coordinate of
    /// the repeat.
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

/// The points of a follow-up that there is `room` for, from what was measured: none of them lies at
/// the place of another point. Their numbers begin with `first_id`.
pub fn draft_follow_up(
    request: &Request,
    scope: &Scope<'_>,
    follow_up: usize,
    room: &Room,
    so_far: Progressed<'_>,
    first_id: usize,
) -> Vec<PlannedPoint> {
    let measured = so_far.dataset(request, room.experiment, room.repeat.as_ref());
    let mut taken: BTreeSet<Coordinates> = measured
        .points
        .iter()
        .map(|point| point.coordinates.clone())
        .collect();
    let experiment = &request.experiments[room.experiment];
    let drafts = experiment.follow_up(scope, follow_up, room.points, &measured);
    drafts
        .into_iter()
        .map(|draft| pages::settled(draft, scope.facts()))
        .filter(|draft| taken.insert(draft.coordinates.clone()))
        .take(room.points)
        .zip(first_id..)
        .map(|(draft, id)| {
            let place = DraftOrigin {
                experiment: room.experiment,
                repeat: room.repeat.clone(),
                follow_up: Some(follow_up),
                id,
            };
            PlannedPoint::new(draft, place, request, scope)
        })
        .collect()
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
