//! Prepares hand-offs of cache lines between two threads. They are timed as the measured work
//! itself, or before and after the rounds of other works.

use super::RealMachine;
use super::ping_pong::{self, HandOffRun};
use super::timed_sample::{Length, Run, take};
use crate::machine::{Failure, Observation};
use crate::work::HandOffWork;
use host::memory::Window;
use kernels::HandOff;
use std::sync::Arc;
use units::Nanos;
use units::error::Result;

/// Number of cache lines on which [`RealMachine::round_trips`] times round trips. Several lines are
/// used, because the time of a round trip depends on the line.
const PROBE_LINES: u32 = 16;
/// Requested length of the sample in [`RealMachine::round_trips`].
const PROBE_TIME: Nanos = Nanos(30e3);

impl RealMachine {
    /// Prepares `work` with newly mapped lines. Each of its two threads maps and touches half of
    /// the lines.
    pub(super) fn prepare_hand_off(
        &self,
        work: &HandOffWork,
    ) -> std::result::Result<Arc<HandOffRun>, Failure> {
        let lines = work.lines;
        let halves = self.team.run(&work.cpus, move |member| {
            ping_pong::map_half(lines, member.index)
        })?;
        let halves = halves.into_iter().collect::<Result<Vec<Window>>>()?;
        let longest_wait_ticks = self.clock.ticks(ping_pong::LONGEST_WAIT);
        Ok(Arc::new(HandOffRun::new(
            work,
            halves,
            self.stop.clone(),
            longest_wait_ticks,
        )))
    }

    /// Times a few round trips between the CPUs of `pair`; `None` if the hand-off was given up.
    pub(super) fn round_trips(
        &mut self,
        pair: [u32; 2],
    ) -> std::result::Result<Option<Observation>, Failure> {
        let work = HandOffWork {
            kernel: HandOff::CompareAndSwap,
            cpus: pair,
            lines: PROBE_LINES,
        };
        let run = match self.lines.get(&pair) {
            Some(run) => Arc::clone(run),
            None => {
                let run = self.prepare_hand_off(&work)?;
                self.lines.insert(pair, Arc::clone(&run));
                run
            }
        };
        let length = Length::new(PROBE_TIME, &self.clock);
        let seen = take(&self.team, &pair, &run, length, &self.clock)?;
        Ok(Some(seen).filter(|_| run.is_whole()))
    }
}
