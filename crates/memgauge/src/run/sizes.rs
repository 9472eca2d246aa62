//! Memory sized by what the run itself finds of the last-level cache.

use super::Run;
use crate::plan::{Phase, Resized, Rest, resized};
use experiments::{LastLevel, Scope};
use report::Coordinate;
use units::Bytes;

impl Run<'_> {
    /// What experiments plan for by now.
    pub(super) fn scope(&self) -> Scope<'_> {
        let request = &self.plan.request;
        match self.resized {
            Some((Some(size), _)) => request.scope_by(&*self.machine, Some(size)),
            _ => request.scope(&*self.machine),
        }
    }

    /// The next phase. Before the first one after those that show the caches, memory is sized by
    /// what they showed.
    pub(super) fn next_phase(&mut self) -> Option<Phase> {
        let shows_caches =
            |phase: &Phase| phase.points.iter().any(|&i| self.points[i].sizes_memory);
        if !self.asked_caches && !self.phases.front().is_some_and(shows_caches) {
            self.asked_caches = true;
            self.size_memory();
        }
        self.phases.pop_front()
    }

    fn size_memory(&mut self) {
        let Some(shows) = self
            .points
            .iter()
            .find(|point| point.sizes_memory)
            .map(|point| point.experiment)
        else {
            return;
        };
        // In a run that is over nothing is sized any more: what was measured of the sweep may not
        // be all.
        if self.machine.interrupted() {
            return;
        }
        let repeat = (self.plan.request.repeat > 1).then_some(Coordinate::Number(0));
        let measured = self.so_far(repeat.as_ref(), shows);
        let left = self
            .phases
            .iter()
            .flat_map(|phase| &phase.points)
            .copied()
            .collect();
        let now = self.machine.now();
        let rest = Rest {
            left,
            budget: self.plan.request.budget - (now - self.started),
        };
        let found = resized(self.plan, &self.points, &rest, &measured, &*self.machine);
        let Some((text, change)) = found else {
            // Who asked for it is told that nothing came of it.
            if self.plan.request.last_level == Some(LastLevel::Measured) {
                let text = format!(
                    "Timing shows no last-level cache by which memory would have another size \
                     than by the {} that the system reports: it may be larger than the sweep, or \
                     there was no time to look so far.",
                    Bytes(self.last_level)
                );
                self.resized = Some((None, text));
            }
            return;
        };
        self.resized = Some((change.as_ref().map(|change| change.last_level), text));
        let Some(Resized {
            last_level,
            points,
            mut phases,
            sampling,
            estimate,
        }) = change
        else {
            return;
        };
        // Smaller memory leaves time, which further rounds may use: the run takes as long as was
        // said.
        let longer = ((self.plan.estimate - (now - self.started)).0 / estimate.0).max(1.0);
        phases
            .iter_mut()
            .for_each(|phase| phase.estimate = phase.estimate * longer);
        // What was skipped for want of room is measured after all.
        self.outcomes
            .retain(|&index, _| !points[index].resized || rest.left.contains(&index));
        self.points = points;
        self.phases = phases.into();
        self.sampling = sampling;
        self.last_level = last_level.0;
        self.estimate = now - self.started + estimate * longer;
        self.deadline = now;
        let most = self
            .phases
            .iter()
            .map(|phase| self.plan.memory_of(phase))
            .max()
            .unwrap_or_default();
        self.memory = self.memory.max(most);
        let rounds = |&index: &usize| u64::from(self.sampling_of(index).rounds);
        self.turns.1 = self.turns.0
            + self
                .phases
                .iter()
                .flat_map(|phase| &phase.points)
                .map(rounds)
                .sum::<u64>();
    }
}
