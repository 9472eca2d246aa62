//! Continues a session: drafts its recorded phases again, and takes over the outcomes of its
//! points.

use super::drafting::draft_follow_up;
use super::phase::open_rooms;
use super::point::drafted_place;
use super::sizes::{Remaining, size_by};
use super::{Phase, Plan, PlannedPoint, RemainingPoints, ResultsSoFar, Room, batches_of_phase};
use engine::{Machine, MemoryPlan};
use report::{Cause, Coordinates, DraftedPhase, HostFacts, Outcome, PhaseId, Point, Report};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, counted};

/// A point of an earlier session.
#[derive(Clone, Copy)]
struct EarlierPoint<'a> {
    /// Index in the request of the experiment to which the point belongs.
    experiment: usize,
    point: &'a Point,
}

/// Points of an earlier session, by number of the point.
type EarlierPoints<'a> = BTreeMap<u64, EarlierPoint<'a>>;

/// True if `outcome` is kept when its session is continued. Points that failed are measured again,
/// and so are points whose rounds were cut off by the end of the session.
pub fn is_final(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Measured(m) => !m.verdict.names(Cause::Interrupted),
        Outcome::Skipped { .. } | Outcome::Unsupported { .. } => true,
        Outcome::Interrupted { .. } | Outcome::Failed { .. } => false,
    }
}

impl Plan {
    /// Continues the session of the report `earlier`: drafts its recorded phases and takes over its
    /// final outcomes. Returns the number of points that need not be measured again.
    ///
    /// # Errors
    /// The session measured other experiments or points than this plan. The error describes the
    /// difference.
    pub fn continue_from(
        &mut self,
        earlier: &Report,
        machine: &dyn Machine,
    ) -> Result<u64, String> {
        // Derived datasets are left out, because they are computed again from the points.
        let datasets = || earlier.datasets.iter().filter(|dataset| !dataset.derived);
        let experiments: Vec<&str> = datasets().map(|d| d.experiment.as_str()).collect();
        self.check_experiments(&experiments)?;
        let points: EarlierPoints<'_> = datasets()
            .enumerate()
            .flat_map(|(experiment, dataset)| {
                dataset
                    .points
                    .iter()
                    .map(move |point| (point.id, EarlierPoint { experiment, point }))
            })
            .collect();
        for record in &earlier.plan.phases {
            match record.phase.follow_up {
                None => self.replay_sizes(record, &points, machine),
                Some(follow_up) => {
                    let follow_up = usize::try_from(follow_up).map_err(|e| e.to_string())?;
                    self.replay_follow_up(record, follow_up, &points, machine)?;
                }
            }
            self.drafted.push(record.clone());
        }
        self.check_points(&points)?;
        let known = points
            .into_iter()
            .filter(|(_, earlier)| is_final(&earlier.point.outcome))
            .map(|(id, earlier)| (id, earlier.point.outcome.clone()))
            .collect();
        Ok(self.take_over(known, machine.facts()))
    }

    /// Fails if the plan has other experiments than the earlier session.
    fn check_experiments(&self, earlier: &[&str]) -> Result<(), String> {
        let here: Vec<&str> = self.request.experiments.iter().map(|e| e.name()).collect();
        if here == earlier {
            return Ok(());
        }
        Err(format!(
            "it measures {:.100}, this command {}",
            earlier.join(", "),
            here.join(", ")
        ))
    }

    /// Fails if the plan, with all phases drafted, has other points than the earlier session.
    fn check_points(&self, earlier: &EarlierPoints<'_>) -> Result<(), String> {
        let here = self.points.len();
        if earlier.len() != here {
            return Err(format!(
                "it has {}, this command {here}",
                counted(earlier.len(), "point")
            ));
        }
        for planned in &self.points {
            let there = earlier.get(&planned.id);
            if there.is_some_and(|there| planned.is_at(there.point, there.experiment)) {
                continue;
            }
            let recorded = there.map_or_else(
                || "not there".to_owned(),
                |there| place(&there.point.coordinates),
            );
            return Err(format!(
                "its point {} is {recorded:.200}, that of this command {}",
                planned.id,
                place(&planned.coordinates)
            ));
        }
        Ok(())
    }

    /// Takes over the `known` outcomes, which are stored by number of their point. Memory that only
    /// points with such an outcome need is not mapped. Returns the count of points that need not be
    /// measured again.
    fn take_over(&mut self, mut known: BTreeMap<u64, Outcome>, facts: &HostFacts) -> u64 {
        let mut saved = 0;
        for point in &mut self.points {
            if let Some(outcome) = known.remove(&point.id) {
                saved += u64::from(point.work.is_ok());
                point.work = Err(outcome);
            }
        }
        let points = &self.points;
        for batch in self.phases.iter_mut().flat_map(|phase| &mut phase.batches) {
            let all = batch.points.len().max(1) as f64;
            batch.points.retain(|&index| points[index].work.is_ok());
            let left = batch.estimate * (batch.points.len() as f64 / all);
            self.estimate = self.estimate - (batch.estimate - left);
            batch.estimate = left;
            let works = batch
                .points
                .iter()
                .filter_map(|&index| points[index].work.as_ref().ok());
            batch.memory = MemoryPlan::for_works(works, facts, batch.chains_share);
        }
        for phase in &mut self.phases {
            phase.batches.retain(|batch| !batch.points.is_empty());
        }
        self.phases
            .retain(|phase| !phase.batches.is_empty() || phase.reserve.is_some());
        saved
    }

    /// Effective capacity of all last-level caches together, if memory is sized by it. `None` if
    /// memory is sized by the reported capacity.
    pub fn timed_last_level(&self) -> Option<Bytes> {
        self.drafted.iter().find_map(|record| record.last_level)
    }

    /// Changes the sizes of memory as the earlier session did, according to its phase `record`.
    fn replay_sizes(
        &mut self,
        record: &DraftedPhase,
        earlier: &EarlierPoints<'_>,
        machine: &dyn Machine,
    ) {
        let Some(last_level) = record.last_level else {
            return;
        };
        let recorded: BTreeSet<u64> = record.points.iter().copied().collect();
        let rest = RemainingPoints {
            left: self.positions_left(),
            budget: self.request.budget,
        };
        let rooms = open_rooms(&self.phases);
        let remaining = Remaining {
            points: &self.points,
            rest: &rest,
            rooms: &rooms,
        };
        let requested = |index: usize| recorded.contains(&(index as u64));
        let Some(change) = size_by(self, remaining, last_level, requested, machine) else {
            return;
        };
        // The change is made only if it has the recorded sizes. Other sizes would not match the
        // points of the report.
        let is_as_recorded = |&index: &usize| {
            let there = earlier.get(&(index as u64));
            there.is_some_and(|there| change.points[index].is_at(there.point, there.experiment))
        };
        if change.changed.iter().all(is_as_recorded) {
            self.points = change.points;
            self.phases = change.phases;
            self.sampling = change.sampling;
            self.estimate = change.estimate;
        }
    }

    /// Indices of all points that are still to be measured.
    fn positions_left(&self) -> BTreeSet<usize> {
        let points = self.batches().flat_map(|batch| &batch.points);
        points.copied().collect()
    }

    /// Adds the points of the follow-up `record` to the plan. A point that the experiment no longer
    /// drafts is skipped, unless the earlier session measured it.
    fn replay_follow_up(
        &mut self,
        record: &DraftedPhase,
        follow_up: usize,
        earlier: &EarlierPoints<'_>,
        machine: &dyn Machine,
    ) -> Result<(), String> {
        let first = self.points.len();
        let mut recorded = Vec::new();
        for (id, expected) in record.points.iter().zip(first as u64..) {
            let Some(there) = earlier.get(id).filter(|_| *id == expected) else {
                return Err(format!(
                    "its point {id} is not the one that this command drafts"
                ));
            };
            recorded.push(*there);
        }
        let drafts = self.follow_ups_again(record, follow_up, earlier, machine);
        for EarlierPoint { experiment, point } in recorded {
            let drafted = drafts.iter().find(|draft| draft.is_at(point, experiment));
            let mut planned = match drafted {
                Some(draft) => draft.clone(),
                None => PlannedPoint::without_work(
                    experiment,
                    drafted_place(point),
                    not_drafted_again(),
                    record.phase,
                ),
            };
            planned.id = point.id;
            self.points.push(planned);
        }
        self.take_reserve(record.phase, first, machine);
        Ok(())
    }

    /// Drafts the points of a follow-up of the earlier session again, from the measured points of
    /// that session.
    fn follow_ups_again(
        &self,
        record: &DraftedPhase,
        follow_up: usize,
        earlier: &EarlierPoints<'_>,
        machine: &dyn Machine,
    ) -> Vec<PlannedPoint> {
        let outcomes: BTreeMap<usize, Outcome> = (0..self.points.len())
            .filter_map(|index| {
                let there = earlier.get(&(index as u64))?;
                Some((index, there.point.outcome.clone()))
            })
            .collect();
        let results = ResultsSoFar {
            points: &self.points,
            outcomes: &outcomes,
        };
        let scope = match self.timed_last_level() {
            Some(size) => self.request.scope_by(machine, Some(size)),
            None => self.request.scope(machine),
        };
        let rooms = record.rooms.iter();
        let rooms = rooms.filter_map(|room| Room::from_record(room, follow_up, &self.request));
        rooms
            .flat_map(|room| draft_follow_up(&self.request, &scope, &room, results, 0))
            .collect()
    }

    /// Makes batches of the points from index `first` on. The batches get the time that is reserved
    /// for the phase `id`.
    fn take_reserve(&mut self, id: PhaseId, first: usize, machine: &dyn Machine) {
        let at = self.phases.iter().position(|phase| phase.id == id);
        let reserve = at.and_then(|at| self.phases[at].reserve.take());
        let reserved = reserve.map(|reserve| reserve.estimate);
        let batches = batches_of_phase(
            &self.request,
            &mut self.points,
            first,
            machine,
            &self.sampling,
            self.fault,
            reserved,
        );
        match at {
            Some(at) => self.phases[at].batches = batches,
            None => self.phases.push(Phase {
                id,
                batches,
                reserve: None,
            }),
        }
    }
}

/// All coordinates in words: `operation=read threads=1`.
fn place(coordinates: &Coordinates) -> String {
    coordinates
        .iter()
        .map(|(axis, at)| format!("{axis}={at}"))
        .collect::<Vec<_>>()
        .join(" ")
}

fn not_drafted_again() -> Outcome {
    Outcome::Skipped {
        reason: "the continued session has measured points that lead to other follow-ups"
            .to_owned(),
    }
}
