//! Points that are placed once others are measured.

use super::{Run, point_of};
use crate::plan::{Phase, PlannedPoint};
use report::{Coordinate, Coordinates, Dataset, Outcome, Point};
use std::collections::BTreeSet;

/// What a stand-in is of: repeat, experiment, stage.
type Stage = (Option<Coordinate>, usize, usize);

impl Run<'_> {
    /// Replaces the stand-ins of the stages that begin with `phase` by the points that their
    /// experiments want there. Nothing is placed any more in a run that is over: what was to be
    /// asked is then not known.
    pub(super) fn place_points(&mut self, phase: &Phase) {
        let stages: BTreeSet<Stage> = phase
            .points
            .iter()
            .filter_map(|&i| stage_of(&self.points[i]))
            .collect();
        for stage in stages {
            if !self.placed.insert(stage.clone()) {
                continue;
            }
            self.interrupted |= self.machine.interrupted();
            self.place_stage(&stage);
        }
    }

    fn place_stage(&mut self, stage: &Stage) {
        let (repeat, experiment, number) = stage;
        let of_stage =
            |point: &PlannedPoint| stage_of(point).as_ref() == Some(stage) && point.work.is_ok();
        let free: Vec<usize> = (0..self.points.len())
            .filter(|&i| of_stage(&self.points[i]))
            .collect();
        let measured = self.so_far(repeat.as_ref(), *experiment);
        let asks = &self.plan.request.experiments[*experiment];
        let mut known: BTreeSet<Coordinates> = measured
            .points
            .iter()
            .map(|p| p.coordinates.clone())
            .collect();
        let scope = self.scope();
        let over = self.machine.interrupted();
        let mut wanted = if over {
            Vec::new()
        } else {
            asks.place(&scope, *number, free.len(), &measured)
        };
        wanted.retain(|draft| known.insert(draft.coordinates.clone()));
        let mut wanted = wanted.into_iter();
        for index in free {
            match wanted.next() {
                Some(draft) => {
                    let point = &mut self.points[index];
                    point.coordinates = draft.coordinates;
                    point
                        .coordinates
                        .extend(repeat.clone().map(|repeat| ("repeat".to_owned(), repeat)));
                    (point.work, point.bound) = (draft.work, draft.bound);
                    let known = self.points[index]
                        .work
                        .clone()
                        .err()
                        .or_else(|| self.measured_before(index));
                    if let Some(outcome) = known {
                        self.settle(index, outcome);
                    }
                }
                // Nobody asks for it: what it would be an outcome of does not exist.
                None => {
                    self.points[index].work = Err(Outcome::Skipped {
                        reason: "not needed".to_owned(),
                    })
                }
            }
        }
    }

    /// What the run that this one continues has of a placed point.
    fn measured_before(&mut self, index: usize) -> Option<Outcome> {
        let here = &self.points[index];
        let same = |(experiment, p): &&(usize, Point)| {
            *experiment == here.experiment && p.coordinates == here.coordinates
        };
        let outcome = self
            .past?
            .placed
            .iter()
            .find(same)
            .map(|(_, point)| point.outcome.clone())?;
        self.resumed_points += 1;
        Some(outcome)
    }

    /// What was measured of an experiment in one repeat, without the number of the repeat.
    pub(super) fn so_far(&self, repeat: Option<&Coordinate>, experiment: usize) -> Dataset {
        let asks = &self.plan.request.experiments[experiment];
        let here =
            |p: &PlannedPoint| p.experiment == experiment && p.coordinates.get("repeat") == repeat;
        let points = self
            .points
            .iter()
            .enumerate()
            .filter(|(_, p)| here(p))
            .filter_map(|(index, planned)| {
                let mut point = point_of(planned, self.outcomes.get(&index)?.clone());
                point.coordinates.remove("repeat");
                Some(point)
            });
        let points = points.collect();
        let quantity = asks.quantity();
        let axes = asks.axes();
        let auxiliary = asks.is_auxiliary();
        Dataset {
            experiment: asks.name().to_owned(),
            quantity,
            axes,
            points,
            auxiliary,
            derived: false,
        }
    }
}

fn stage_of(point: &PlannedPoint) -> Option<Stage> {
    Some((
        point.coordinates.get("repeat").cloned(),
        point.experiment,
        point.stage?,
    ))
}
