//! Uses the time that remains after all planned rounds of a batch.

use super::Run;
use crate::plan::Batch;
use engine::{MemoryPlan, Work};
use report::{Cause, Measured};
use units::Nanos;
use verdict::SPREAD;

/// Largest number of fresh allocations of a re-measurement, and number of rounds in each.
const MAX_ALLOCATIONS: u32 = 5;
const ROUNDS_IN_EACH: u32 = 3;

/// Least time for samples that must remain for fresh memory to be mapped.
const LEAST_REST: Nanos = Nanos(50e6);

/// Largest number of rounds of a point, as a multiple of the requested number. If rounds stop as
/// soon as the interval is narrow, its coverage is a little lower. The limit keeps this effect
/// small (docs/method/statistics.md).
const MAX_ROUNDS: u32 = 3;

impl Run<'_> {
    /// Uses the time that the plan reserved, and time that precise points did not need. First come
    /// points that a few rounds can make solid. Then come points whose values may depend on their
    /// physical pages, and then all imprecise points.
    pub(super) fn use_what_is_left(&mut self, batch: &Batch) {
        self.take_extra_rounds(batch, self.deadline, Self::within_reach);
        // After a re-measurement, only its points have memory. The other points get more rounds at
        // the end of the session.
        if !self.remeasure(batch) {
            self.take_extra_rounds(batch, self.deadline, Self::unsettled);
            self.take_extra_rounds(batch, self.share_end, Self::weak);
        }
    }

    /// Uses the rest of the budget after all phases. Points with too few rounds or with wide
    /// intervals get further rounds in fresh memory, one batch after another.
    pub(super) fn use_the_rest_of_the_budget(&mut self) {
        if self.sampling.most.is_some() || self.sampling.target <= 0.0 || self.machine.interrupted()
        {
            return;
        }
        let end = self.started + self.plan.request.budget;
        let batches = std::mem::take(&mut self.past_batches);
        let mut wanting: Vec<(Batch, usize)> = Vec::new();
        for batch in batches {
            let points: Vec<usize> = batch
                .points
                .iter()
                .copied()
                .filter(|&index| self.is_weak(index))
                .collect();
            let works = points
                .iter()
                .filter_map(|&index| self.points[index].work.as_ref().ok());
            let memory = MemoryPlan::for_works(works, self.machine.facts(), batch.chains_share);
            let count = points.len();
            wanting.push((
                Batch {
                    memory,
                    points,
                    ..batch
                },
                count,
            ));
        }
        wanting.retain(|(_, count)| *count > 0);
        let mut left: usize = wanting.iter().map(|(_, count)| count).sum();
        for (batch, count) in wanting {
            let now = self.machine.now();
            self.share_end = now + (end - now) * (count as f64 / left as f64);
            self.cut = self.share_end;
            left -= count;
            let mapping = Nanos::from_secs(batch.memory.total().0 as f64 / self.plan.fault.0);
            // Fresh memory is mapped only if mapping takes at most half of the time.
            if self.machine.interrupted()
                || (self.share_end - now).0 < 2.0 * mapping.0 + LEAST_REST.0
            {
                continue;
            }
            if self.allocate(&batch.memory, false).is_err() {
                continue;
            }
            for &index in &batch.points {
                self.outcomes.remove(&index);
                self.logs[index].reallocated();
            }
            self.take_extra_rounds(&batch, self.share_end, Self::weak);
            for &index in &batch.points {
                self.conclude(index);
            }
        }
    }

    /// Largest number of rounds that a point may get.
    fn most_rounds(&self) -> u32 {
        self.sampling
            .rounds
            .max(self.plan.request.sampling.rounds)
            .saturating_mul(MAX_ROUNDS)
    }

    /// Takes further rounds of points of a batch until the time `until`. `which` selects the points
    /// before each round.
    fn take_extra_rounds(
        &mut self,
        batch: &Batch,
        until: Nanos,
        which: fn(&Self, &Batch) -> Vec<usize>,
    ) {
        for _ in 0..self.most_rounds() {
            let points = which(self, batch);
            if points.is_empty() || self.sampling.target <= 0.0 {
                return;
            }
            for index in points {
                if self.machine.now() > until || self.machine.interrupted() {
                    return;
                }
                self.visit(index);
            }
        }
    }

    /// Points of a batch that further rounds could make more precise.
    fn unsettled(&self, batch: &Batch) -> Vec<usize> {
        batch
            .points
            .iter()
            .copied()
            .filter(|&index| self.is_unsettled(index))
            .collect()
    }

    /// Points of a batch that have too few rounds, or too wide an interval, for a solid number.
    fn weak(&self, batch: &Batch) -> Vec<usize> {
        batch
            .points
            .iter()
            .copied()
            .filter(|&index| self.is_unsettled(index) && self.is_weak(index))
            .collect()
    }

    fn is_weak(&self, index: usize) -> bool {
        let point = &self.points[index];
        let log = &self.logs[index];
        let Ok(work) = &point.work else { return false };
        let serves_findings = self.plan.request.experiments[point.experiment].is_auxiliary();
        if serves_findings
            || log.is_empty()
            || log.needs_no_more()
            || log.rounds() >= self.most_rounds()
        {
            return false;
        }
        let judged = self.judged(index, log, work);
        let wants = |m: &Measured| {
            [Cause::Spread, Cause::FewSamples]
                .iter()
                .any(|&cause| m.verdict.names(cause))
        };
        judged.measured().is_some_and(wants)
    }

    /// Points of a batch whose intervals are too wide, but can become narrow enough in the
    /// remaining time. Points that need the fewest rounds come first.
    fn within_reach(&self, batch: &Batch) -> Vec<usize> {
        let missing = |index: usize| Some((self.missing_rounds(index)?, index));
        let mut points: Vec<(u32, usize)> = self
            .unsettled(batch)
            .into_iter()
            .filter_map(missing)
            .collect();
        points.sort_unstable();
        let now = self.machine.now();
        let left = self.deadline - now;
        let each = (now - self.started) / self.rounds.done.max(1) as f64;
        let mut needed = Nanos::ZERO;
        let fits = |&(rounds, _): &(u32, usize)| {
            needed += each * f64::from(rounds);
            needed <= left
        };
        points
            .into_iter()
            .take_while(fits)
            .map(|(_, index)| index)
            .collect()
    }

    /// Number of further rounds after which the interval of a point should be narrow enough. `None`
    /// if it is narrow already, or if the point would need more rounds than allowed. The width
    /// falls with the square root of the number of rounds.
    fn missing_rounds(&self, index: usize) -> Option<u32> {
        let log = &self.logs[index];
        let work = self.points[index].work.as_ref().ok()?;
        let spread = log
            .relative_spread(work)
            .filter(|&spread| spread > SPREAD)?;
        let needed = f64::from(log.rounds()) * (spread / SPREAD).powi(2);
        let most = f64::from(self.most_rounds());
        (needed <= most).then(|| (needed.ceil() as u32).saturating_sub(log.rounds()).max(1))
    }

    /// Takes further rounds of imprecise points that may depend on their pages, in fresh
    /// allocations. Stops when the time is used up. Returns true if fresh memory was mapped.
    fn remeasure(&mut self, batch: &Batch) -> bool {
        for look in 0..MAX_ALLOCATIONS {
            let points = self.suspects(batch);
            let works: Vec<&Work> = points
                .iter()
                .filter_map(|&i| self.points[i].work.as_ref().ok())
                .collect();
            let memory = MemoryPlan::for_works(works.iter().copied(), self.machine.facts(), false);
            let mapping = Nanos::from_secs(memory.total().0 as f64 / self.plan.fault.0);
            let late = self.machine.now() + mapping > self.deadline;
            if points.is_empty() || late {
                return look > 0;
            }
            if self.allocate(&memory, batch.keep_old).is_err() {
                return true;
            }
            for &index in &points {
                self.logs[index].reallocated();
            }
            for index in (0..ROUNDS_IN_EACH).flat_map(|_| points.clone()) {
                self.visit(index);
            }
        }
        true
    }

    /// True if further rounds could make the point at `index` more precise.
    fn is_unsettled(&self, index: usize) -> bool {
        let log = &self.logs[index];
        !self.outcomes.contains_key(&index) && !log.is_empty() && !log.needs_no_more()
    }

    /// Imprecise points of a batch that a re-measurement may improve. Their memory is in pages of
    /// several kinds, or it is in base pages and fits into the last-level cache. Conflicts in a
    /// cache can depend on the physical pages of such memory.
    fn suspects(&self, batch: &Batch) -> Vec<usize> {
        let placed = |m: &Measured| {
            let pages = &m.evidence.pages;
            let small = pages.granted_bytes == Some(self.machine.facts().pages.base.0);
            let mixed = pages
                .granted_share
                .is_some_and(|share| share > 0.0 && share < 1.0);
            let held = m
                .evidence
                .working_set_bytes
                .is_some_and(|bytes| bytes <= self.last_level);
            (small && held) || mixed
        };
        let weak = |&index: &usize| {
            let Ok(work) = &self.points[index].work else {
                return false;
            };
            let outcome = self.judged(index, &self.logs[index], work);
            let bad = |m: &&Measured| {
                [Cause::Spread, Cause::Bimodal, Cause::Placement]
                    .iter()
                    .any(|&cause| m.verdict.names(cause))
            };
            work.pages().is_some() && outcome.measured().filter(bad).is_some_and(placed)
        };
        let unsettled = batch
            .points
            .iter()
            .copied()
            .filter(|&i| !batch.chains_share && self.is_unsettled(i));
        unsettled.filter(weak).collect()
    }
}
