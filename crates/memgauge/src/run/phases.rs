//! Drafts the phases of a session from measured points: memory sizing and follow-ups
//! (docs/method/phases.md).

use super::{Run, unmeasured_datasets};
use crate::plan::{
    Batch, Phase, Remaining, RemainingPoints, Reserve, Resized, ResultsSoFar, batches_of_phase,
    draft_follow_up, open_rooms, resized,
};
use experiments::{LastLevel, Scope};
use report::{Coordinate, DraftedPhase, JournalLine, JournalPhase, PhaseId};
use std::collections::BTreeSet;
use units::Bytes;

/// Phase of the points that are drafted at the start and do not size the memory of others.
const MAIN: PhaseId = PhaseId {
    sizes_memory: false,
    follow_up: None,
};

impl Run<'_> {
    /// Scope for drafting, with the effective capacity of the last-level cache if memory is sized
    /// by it.
    pub(super) fn scope(&self) -> Scope<'_> {
        let request = &self.plan.request;
        match self.drafted.iter().find_map(|record| record.last_level) {
            Some(size) => request.scope_by(&*self.machine, Some(size)),
            None => request.scope(&*self.machine),
        }
    }

    /// Returns the next phase; `None` at the end. After the phases that measure the caches, memory
    /// is sized by their result.
    pub(super) fn next_phase(&mut self) -> Option<Phase> {
        let shows_caches = self
            .phases
            .front()
            .is_some_and(|phase| phase.id.sizes_memory);
        let is_sized =
            self.requested_caches || self.drafted.iter().any(|record| record.phase == MAIN);
        if !shows_caches && !is_sized {
            self.requested_caches = true;
            self.size_memory();
        }
        self.phases.pop_front()
    }

    /// Makes the batches of `phase` the current ones. A follow-up is drafted from the points
    /// measured before. It is not drafted if the session was interrupted, because too few points
    /// are measured then.
    pub(super) fn draft(&mut self, phase: Phase) {
        let Some(reserve) = phase.reserve else {
            self.batches = phase.batches.into();
            return;
        };
        self.batches = phase.batches.into();
        if self.machine.interrupted() {
            self.interrupted = true;
            return;
        }
        let batches = self.draft_follow_up(phase.id, &reserve);
        self.batches.extend(batches);
    }

    fn draft_follow_up(&mut self, id: PhaseId, reserve: &Reserve) -> Vec<Batch> {
        let first = self.points.len();
        let rooms = reserve
            .rooms
            .iter()
            .map(|room| room.to_record(&self.plan.request));
        let rooms = rooms.collect();
        let mut new = Vec::new();
        for room in &reserve.rooms {
            let results = ResultsSoFar {
                points: &self.points,
                outcomes: &self.outcomes,
            };
            let first_id = first + new.len();
            let request = &self.plan.request;
            let scope = self.scope();
            new.extend(draft_follow_up(request, &scope, room, results, first_id));
        }
        self.points.extend(new);
        let batches = batches_of_phase(
            &self.plan.request,
            &mut self.points,
            first,
            &*self.machine,
            &self.sampling,
            self.plan.fault,
            Some(reserve.estimate),
        );
        if batches.is_empty() {
            // No follow-up point is needed, so the reserved time is added to the deadline of later
            // batches.
            self.deadline += reserve.estimate;
        }
        self.add_logs();
        self.record(DraftedPhase {
            phase: id,
            last_level: None,
            finding: None,
            rooms,
            points: (first as u64..self.points.len() as u64).collect(),
        });
        self.settle_known(first);
        let rounds = batches
            .iter()
            .flat_map(|batch| &batch.points)
            .map(|&index| u64::from(self.sampling_of(index).rounds))
            .sum::<u64>();
        self.rounds.all = self.rounds.all.saturating_sub(reserve.rounds) + rounds;
        batches
    }

    /// Adds a drafted phase to the records, and writes it with its points to the journal.
    fn record(&mut self, drafted: DraftedPhase) {
        let new: BTreeSet<u64> = drafted.points.iter().copied().collect();
        let mut datasets = unmeasured_datasets(self.plan, &self.points, |index| {
            new.contains(&(index as u64))
        });
        datasets.retain(|dataset| !dataset.points.is_empty());
        self.drafted.push(drafted.clone());
        self.write(&JournalLine::Phase(Box::new(JournalPhase {
            drafted,
            datasets,
        })));
    }

    fn size_memory(&mut self) {
        let sizing = self.points.iter().find(|point| point.sizes_memory);
        let Some(sizing) = sizing.map(|point| point.experiment) else {
            return;
        };
        // After an interruption the sweep may be incomplete, so memory keeps its sizes.
        if self.machine.interrupted() {
            return;
        }
        let repeat = (self.plan.request.repeat > 1).then_some(Coordinate::Number(0));
        let results = ResultsSoFar {
            points: &self.points,
            outcomes: &self.outcomes,
        };
        let measured = results.dataset(&self.plan.request, sizing, repeat.as_ref());
        let batches = self.phases.iter().flat_map(|phase| &phase.batches);
        let now = self.machine.now();
        let rest = RemainingPoints {
            left: batches.flat_map(|batch| &batch.points).copied().collect(),
            budget: self.plan.request.budget - (now - self.started),
        };
        let rooms = open_rooms(&self.phases);
        let remaining = Remaining {
            points: &self.points,
            rest: &rest,
            rooms: &rooms,
        };
        let found = resized(self.plan, remaining, &measured, &*self.machine);
        let (finding, change) = match found {
            Some(found) => found,
            // A user who typed `--last-level measured` gets a finding that nothing changed.
            None if self.plan.request.last_level == Some(LastLevel::Measured) => {
                let text = format!(
                    "Timing shows no last-level cache other than the {} that the system reports: \
                     it may be larger than the sweep, or there was no time to look.",
                    Bytes(self.last_level)
                );
                (text, None)
            }
            None => return,
        };
        let mut record = DraftedPhase {
            phase: MAIN,
            last_level: None,
            finding: Some(finding),
            rooms: Vec::new(),
            points: Vec::new(),
        };
        if let Some(change) = change {
            record.last_level = Some(change.last_level);
            record.points = change.changed.iter().map(|&index| index as u64).collect();
            self.take_sizes(change, &rest);
        }
        self.record(record);
    }

    /// Replaces the points and phases of the session by those of `change`.
    fn take_sizes(&mut self, change: Resized, rest: &RemainingPoints) {
        let Resized {
            last_level,
            points,
            changed,
            mut phases,
            sampling,
            estimate,
        } = change;
        // If smaller memory saves time, the time is left for further rounds. The announced time
        // does not change.
        let now = self.machine.now();
        let longer = ((self.plan.estimate - (now - self.started)).0 / estimate.0).max(1.0);
        for phase in &mut phases {
            for batch in &mut phase.batches {
                batch.estimate = batch.estimate * longer;
            }
            if let Some(reserve) = &mut phase.reserve {
                reserve.estimate = reserve.estimate * longer;
            }
        }
        // A changed point that was skipped before loses its outcome, so that it is measured.
        let changed: BTreeSet<usize> = changed.into_iter().collect();
        self.outcomes
            .retain(|index, _| !changed.contains(index) || rest.left.contains(index));
        self.points = points;
        self.phases = phases.into();
        self.sampling = sampling;
        self.last_level = last_level.0;
        self.estimate = now - self.started + estimate * longer;
        self.deadline = now;
        let reallocate = self.plan.request.reallocate;
        let most = self
            .phases
            .iter()
            .map(|phase| phase.most_memory(reallocate))
            .max();
        self.memory = self.memory.max(most.unwrap_or_default());
        self.rounds.all = self.rounds.done + self.rounds_left();
    }

    /// Number of rounds that all remaining points need together.
    pub(super) fn rounds_left(&self) -> u64 {
        let rounds = |phase: &Phase| {
            let points = phase.batches.iter().flat_map(|batch| &batch.points);
            let drafted = points.map(|&index| u64::from(self.sampling_of(index).rounds));
            let reserved = phase.reserve.iter().map(|reserve| reserve.rounds);
            drafted.chain(reserved).sum::<u64>()
        };
        self.phases.iter().map(rounds).sum()
    }
}
