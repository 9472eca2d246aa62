//! A plan brought to where the session was that it continues: the phases which that session drafted
//! from measured points are drafted again.

use super::phase::open_rooms;
use super::point::drafted_place;
use super::sizes::{Remaining, size_by};
use super::{Phase, Plan, PlannedPoint, Progressed, Rest, Room, batches_of_phase, draft_follow_up};
use engine::{Machine, MemoryPlan};
use report::{DraftedPhase, HostFacts, Outcome, PhaseId, Point, Report};
use std::collections::{BTreeMap, BTreeSet};
use units::Bytes;

/// Points of an earlier session by number: position of the experiment, and the point.
type Earlier<'a> = BTreeMap<u64, (usize, &'a Point)>;

impl Plan {
    /// Drafts the phases that `earlier`, the report of the session which this plan continues,
    /// records as drafted.
    ///
    /// # Errors
    /// The numbers of their points are not those that this plan gives, in words.
    pub fn replay(&mut self, earlier: &Report, machine: &dyn Machine) -> Result<(), String> {
        let points: Earlier<'_> = earlier
            .datasets
            .iter()
            .enumerate()
            .flat_map(|(experiment, d)| d.points.iter().map(move |p| (p.id, (experiment, p))))
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
        Ok(())
    }

    /// Takes over the outcomes of `known` points by number: these are not measured, and no memory is
    /// mapped for them alone. Returns how many points that saves.
    pub fn take_over(&mut self, mut known: BTreeMap<u64, Outcome>, facts: &HostFacts) -> u64 {
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

    /// The last-level cache that sizes memory by what timing showed; `None` where memory is sized
    /// by what the system reports.
    pub fn timed_last_level(&self) -> Option<Bytes> {
        self.drafted.iter().find_map(|record| record.last_level)
    }

    /// Sizes memory as `record` says.
    fn replay_sizes(&mut self, record: &DraftedPhase, earlier: &Earlier<'_>, on: &dyn Machine) {
        let Some(last_level) = record.last_level else {
            return;
        };
        let recorded: BTreeSet<u64> = record.points.iter().copied().collect();
        let rest = Rest {
            left: self.positions_left(),
            budget: self.request.budget,
        };
        let rooms = open_rooms(&self.phases);
        let remaining = Remaining {
            points: &self.points,
            rest: &rest,
            rooms: &rooms,
        };
        let asked = |index: usize| recorded.contains(&(index as u64));
        let Some(change) = size_by(self, remaining, last_level, asked, on) else {
            return;
        };
        // A point of another size than the record says would have another number in the report.
        let is_as_recorded = |&index: &usize| {
            let point = earlier.get(&(index as u64));
            point.is_some_and(|(d, point)| change.points[index].is_at(point, *d))
        };
        if change.changed.iter().all(is_as_recorded) {
            self.points = change.points;
            self.phases = change.phases;
            self.sampling = change.sampling;
            self.estimate = change.estimate;
        }
    }

    /// Positions of all points that are to be measured.
    fn positions_left(&self) -> BTreeSet<usize> {
        let points = self.batches().flat_map(|batch| &batch.points);
        points.copied().collect()
    }

    /// Drafts the points of a follow-up as `record` says. A point that the experiment would not
    /// draft any more keeps the outcome that it has.
    fn replay_follow_up(
        &mut self,
        record: &DraftedPhase,
        follow_up: usize,
        earlier: &Earlier<'_>,
        machine: &dyn Machine,
    ) -> Result<(), String> {
        let first = self.points.len();
        let mut recorded = Vec::new();
        for (id, expected) in record.points.iter().zip(first as u64..) {
            let point = earlier.get(id).filter(|_| *id == expected);
            let Some((experiment, point)) = point else {
                return Err(format!(
                    "its point {id} is not the one that this command drafts"
                ));
            };
            recorded.push((*experiment, *point));
        }
        let drafts = self.follow_ups_again(record, follow_up, earlier, machine);
        for (experiment, point) in recorded {
            let drafted = drafts.iter().find(|draft| draft.is_at(point, experiment));
            let planned = match drafted {
                Some(draft) => PlannedPoint {
                    id: point.id,
                    ..draft.clone()
                },
                None => PlannedPoint {
                    id: point.id,
                    experiment,
                    coordinates: drafted_place(point),
                    work: Err(not_drafted_again()),
                    follow_up: Some(follow_up),
                    sizes_memory: record.phase.sizes_memory,
                    ..self.points[0].clone()
                },
            };
            self.points.push(planned);
        }
        self.take_reserve(record.phase, first, machine);
        Ok(())
    }

    /// The points that experiments draft now for a follow-up, from what was measured before it.
    fn follow_ups_again(
        &self,
        record: &DraftedPhase,
        follow_up: usize,
        earlier: &Earlier<'_>,
        machine: &dyn Machine,
    ) -> Vec<PlannedPoint> {
        let outcomes: BTreeMap<usize, Outcome> = (0..self.points.len())
            .filter_map(|index| Some((index, earlier.get(&(index as u64))?.1.outcome.clone())))
            .collect();
        let so_far = Progressed {
            points: &self.points,
            outcomes: &outcomes,
        };
        let scope = match self.timed_last_level() {
            Some(size) => self.request.scope_by(machine, Some(size)),
            None => self.request.scope(machine),
        };
        let rooms = record.rooms.iter();
        let rooms = rooms.filter_map(|room| Room::of_record(room, &self.request));
        let drafts = rooms
            .flat_map(|room| draft_follow_up(&self.request, &scope, follow_up, &room, so_far, 0));
        drafts.collect()
    }

    /// Gives the time that was reserved for a phase to its points, from position `first` on.
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

fn not_drafted_again() -> Outcome {
    Outcome::Skipped {
        reason: "the continued session has measured points that lead to other follow-ups"
            .to_owned(),
    }
}
