//! What is done with time that is left when all planned rounds of a phase are done.

use super::Run;
use crate::engine::{MemoryPlan, Work};
use crate::plan::Phase;
use crate::results::{Cause, Measured};
use crate::units::Nanos;

/// Fresh allocations at most for a second look, and rounds in each.
const SECOND_LOOKS: u32 = 5;
const ROUNDS_OF_A_LOOK: u32 = 3;

/// Rounds of a point at most, as a multiple of those planned, when others were done before their time. Rounds that
/// go on until an interval is narrow make it hold a little less often (docs/method/statistics.md).
const MOST_ROUNDS: u32 = 3;

impl Run<'_> {
    /// Gives the time that precise points did not need to the others, round by round.
    pub(super) fn go_on(&mut self, phase: &Phase) {
        let mut longest = Nanos::ZERO;
        for _ in 0..self.plan.sampling.rounds * (MOST_ROUNDS - 1) {
            let start = self.machine.now();
            let left: Vec<usize> = phase.points.iter().copied().filter(|i| self.is_unsettled(*i)).collect();
            if left.is_empty() || start + longest > self.deadline || self.plan.sampling.target <= 0.0 {
                return;
            }
            left.into_iter().for_each(|index| self.turn(index));
            longest = longest.max(self.machine.now() - start);
        }
    }

    /// Takes further rounds, in fresh allocations, of points that came out badly where it can matter which pages they
    /// got, while there is time: allocations then differ.
    pub(super) fn look_again(&mut self, phase: &Phase) {
        for _ in 0..SECOND_LOOKS {
            let points = self.suspects(phase);
            let works: Vec<&Work> = points.iter().filter_map(|&i| self.points[i].work.as_ref().ok()).collect();
            let memory = MemoryPlan::of(works.iter().copied(), self.machine.facts(), false);
            let mapping = Nanos::from_secs(memory.total().0 as f64 / self.plan.fault.0);
            let late = self.machine.now() + mapping > self.deadline;
            if points.is_empty() || late || self.allocate(&memory, phase.beside).is_err() {
                return;
            }
            for &index in &points {
                self.logs[index].reallocated();
            }
            for index in (0..ROUNDS_OF_A_LOOK).flat_map(|_| points.clone()) {
                self.turn(index);
            }
        }
    }

    /// Whether more rounds of a point can say more.
    fn is_unsettled(&self, index: usize) -> bool {
        let log = &self.logs[index];
        !self.outcomes.contains_key(&index) && !log.is_empty() && !log.needs_no_more()
    }

    /// The points of a phase that a second look may help: badly known, and in pages of which the system chose the
    /// places one by one (small ones, or a mixture) in a working set that caches indexed by address could hold.
    fn suspects(&self, phase: &Phase) -> Vec<usize> {
        let placed = |m: &Measured| {
            let pages = &m.evidence.pages;
            let small = pages.granted_bytes == Some(self.machine.facts().pages.base.0);
            let mixed = pages.granted_share.is_some_and(|share| share > 0.0 && share < 1.0);
            let held = m.evidence.working_set_bytes.is_some_and(|bytes| bytes <= self.last_level);
            (small && held) || mixed
        };
        let weak = |&index: &usize| {
            let Ok(work) = &self.points[index].work else { return false };
            let outcome = self.judged(index, &self.logs[index], work);
            let bad = |m: &&Measured| {
                [Cause::Spread, Cause::Bimodal, Cause::Placement].iter().any(|&cause| m.verdict.names(cause))
            };
            work.pages().is_some() && outcome.measured().filter(bad).is_some_and(placed)
        };
        let unsettled = phase.points.iter().copied().filter(|&i| !phase.chains_share && self.is_unsettled(i));
        unsettled.filter(weak).collect()
    }
}
