//! The log of a point: its samples, and readings of the machine around its rounds.

use super::baselines::Baselines;
use super::disturbance::disturbances;
use super::kernel_selection::Selection;
use super::recorded::{RecordedSample, value};
use super::settings::Sampling;
use super::short_windows::{self, Windows};
use super::smt_interference;
use super::system_activity::together;
use super::vcpu_placement::PlacementLog;
use crate::machine::{Failure, Machine, Observation};
use crate::pages::misplaced;
use crate::work::Work;
use report::{HostFacts, PageEvidence, SystemActivity};
use stats::{self, Headline, StopRule};
use std::collections::BTreeMap;
use units::Hertz;

/// Fewest rounds before the stop rule may end a point. Fewer rounds give no 95% interval of the
/// median if the values differ from round to round.
const FEWEST_ROUNDS: u32 = 6;

/// Samples and evidence of a point so far.
#[derive(Debug, Clone, Default)]
pub struct PointLog {
    pub(super) samples: Vec<RecordedSample>,
    pub(super) core_before: Vec<f64>,
    pub(super) core_after: Vec<f64>,
    pub(super) system_activity: Option<SystemActivity>,
    pub(super) clock_drift: Option<f64>,
    pub(super) vcpu_placement: PlacementLog,
    /// IPC baseline of the cores of the work.
    pub(super) baseline_ipc: Option<f64>,
    /// Core clock that the CPUs of the work reach in this session.
    pub(super) baseline_clock: Option<Hertz>,
    pub(super) allocation: u32,
    /// Number of the allocation whose pages were read back last.
    pub(super) pages_of: Option<u32>,
    pub(super) pages: Option<(PageEvidence, Vec<String>)>,
    pub(super) rounds: u32,
    pub(super) enough: bool,
    /// True if the work came to its end, so that no further sample can be taken.
    pub(super) exhausted: bool,
    pub(super) failure: Option<Failure>,
    pub(super) chosen: Option<Selection>,
    /// Short windows to take in addition to the samples.
    pub(super) windows: Option<Windows>,
    pub(super) in_windows: short_windows::WindowValues,
}

impl PointLog {
    /// Log of a point without samples yet. `windows` are its short windows; `None` for no windows.
    pub fn new(windows: Option<Windows>) -> Self {
        Self {
            windows,
            ..Self::default()
        }
    }

    /// The measured work: `requested`, with the selected kernel if `requested` left a choice.
    pub fn work<'a>(&'a self, requested: &'a Work) -> &'a Work {
        self.chosen
            .as_ref()
            .map_or(requested, |chosen| &chosen.work)
    }

    /// Name of the selected kernel; `None` if there was no choice between candidates.
    pub fn winner(&self) -> Option<&str> {
        Some(&self.chosen.as_ref()?.choice.as_ref()?.kernel)
    }

    /// True if no more rounds are planned: the interval of the median is narrower than the target,
    /// all rounds are done, or the point failed.
    pub fn finished(&self, sampling: &Sampling) -> bool {
        self.rounds >= sampling.rounds || self.failed() || self.enough
    }

    /// True if further rounds would add nothing: the interval of the median is narrower than the
    /// target, or the point failed.
    pub fn needs_no_more(&self) -> bool {
        self.failed() || self.enough
    }

    /// True if the interval of the median is narrower than the target, and enough rounds with the
    /// headline's placement of vCPUs are done.
    pub(super) fn is_enough(&self, work: &Work, sampling: &Sampling) -> bool {
        let rule = StopRule {
            relative_width: sampling.target,
            minimum: 1,
            maximum: usize::MAX,
        };
        self.rounds_of_headline() >= FEWEST_ROUNDS
            && sampling.target > 0.0
            && rule.enough(&self.undisturbed_groups(work))
    }

    /// Number of rounds done with the headline's placement of vCPUs.
    fn rounds_of_headline(&self) -> u32 {
        let placements = &self.vcpu_placement;
        match placements.headline() {
            None => self.rounds,
            headline => {
                let rounds = placements.rounds();
                rounds.filter(|round| round.placement == headline).count() as u32
            }
        }
    }

    /// Half the width of the headline's interval, divided by the median. `None` without samples, or
    /// if the result is not finite.
    pub fn relative_spread(&self, requested: &Work) -> Option<f64> {
        let work = self.work(requested);
        let Headline { median, interval } =
            stats::headline(&self.headline_groups(work, |seen| value(work, seen)))?;
        Some((interval.high / 2.0 - interval.low / 2.0) / median.abs())
            .filter(|spread| spread.is_finite())
    }

    /// True if a round failed or is unsupported. An interruption or a lack of time is no failure
    /// here.
    pub fn failed(&self) -> bool {
        matches!(
            self.failure,
            Some(Failure::Failed(_) | Failure::Unsupported(_))
        )
    }

    /// Notes that the session ended before all rounds of the point were done.
    pub fn cut_short(&mut self) {
        self.failure.get_or_insert(Failure::Interrupted);
    }

    /// True if the session ended before all rounds of the point were done.
    pub fn was_cut_short(&self) -> bool {
        self.failure == Some(Failure::Interrupted)
    }

    /// Number of rounds done.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Notes that the next rounds are taken in a fresh allocation of the memory.
    pub fn reallocated(&mut self) {
        self.allocation += 1;
    }

    /// True if no sample was taken yet.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Values of the undisturbed samples with the headline's placement of vCPUs, by allocation and
    /// round.
    pub(super) fn undisturbed_groups(&self, work: &Work) -> Vec<Vec<Vec<f64>>> {
        self.groups(|taken| self.counts(work, taken), |seen| value(work, seen))
    }

    /// True if the headline may use the sample: the sample is undisturbed, and its round had the
    /// headline's placement of vCPUs.
    pub(super) fn counts(&self, work: &Work, taken: &RecordedSample) -> bool {
        let headline = self.vcpu_placement.headline();
        disturbances(work, &taken.seen).is_empty()
            && (headline.is_none() || taken.placement == headline)
    }

    /// Results of `figure` for the samples that the headline uses, by allocation and round. If all
    /// samples are disturbed, the headline uses all of them, and the verdict says so.
    pub(super) fn headline_groups(
        &self,
        work: &Work,
        figure: impl Fn(&Observation) -> f64,
    ) -> Vec<Vec<Vec<f64>>> {
        let undisturbed = self.groups(|taken| self.counts(work, taken), &figure);
        if undisturbed.is_empty() {
            self.groups(|_| true, figure)
        } else {
            undisturbed
        }
    }

    /// Results of `figure` for the samples for which `wanted` is true, by allocation and round.
    pub(super) fn groups(
        &self,
        wanted: impl Fn(&RecordedSample) -> bool,
        figure: impl Fn(&Observation) -> f64,
    ) -> Vec<Vec<Vec<f64>>> {
        let mut groups: BTreeMap<u32, BTreeMap<u32, Vec<f64>>> = BTreeMap::new();
        for taken in self.samples.iter().filter(|taken| wanted(taken)) {
            let rounds = groups.entry(taken.allocation).or_default();
            rounds
                .entry(taken.round)
                .or_default()
                .push(figure(&taken.seen));
        }
        groups
            .into_values()
            .map(|rounds| rounds.into_values().collect())
            .collect()
    }

    /// Median work per nanosecond of the first thread, from the samples of the headline.
    pub(super) fn pace(&self, work: &Work) -> Result<short_windows::Pace, Failure> {
        let of_first =
            |seen: &Observation| seen.amount as f64 / work.chasing() as f64 / seen.elapsed.0;
        let rates = self.headline_groups(work, of_first).concat().concat();
        let none = || {
            Failure::Failed(
                "no sample shows how much work fits into a \
            window"
                    .to_owned(),
            )
        };
        stats::median(&rates)
            .map(short_windows::Pace)
            .ok_or_else(none)
    }

    /// Asks the machine once for each allocation which pages the allocation got. The log keeps the
    /// page evidence of the allocation with the smallest share of requested pages. Fails if pages
    /// are not on the requested nodes.
    pub(super) fn read_pages(
        &mut self,
        machine: &mut dyn Machine,
        work: &Work,
    ) -> Result<(), Failure> {
        if self.pages_of == Some(self.allocation) {
            return Ok(());
        }
        self.pages_of = Some(self.allocation);
        let new = machine.pages(work);
        if let Some(text) = misplaced(work, &new.0, machine.facts()) {
            return Err(Failure::Failed(text));
        }
        let worse = |old: &(PageEvidence, Vec<String>)| new.0.granted_share < old.0.granted_share;
        if self.pages.as_ref().is_none_or(worse) {
            self.pages = Some(new);
        }
        Ok(())
    }

    /// Marks the samples that a moved vCPU or SMT interference disturbed, according to all readings
    /// so far.
    pub(super) fn mark(&mut self, facts: &HostFacts, baselines: &Baselines, work: &Work) {
        self.vcpu_placement
            .mark(facts, baselines, self.samples.iter_mut());
        let apart = smt_interference::apart(work, facts);
        // If threads of the work share one core, they themselves lower its IPC. The documented
        // number of instructions per cycle is then no baseline.
        let emulated = facts
            .system
            .emulation
            .get()
            .is_some_and(|name| name != "none");
        let documented = !emulated && !self.vcpu_placement.is_one_core();
        let width = facts
            .cpu
            .integer_width
            .get()
            .copied()
            .filter(|_| documented);
        let usual = baselines.ipc(work).filter(|_| apart);
        self.baseline_ipc = smt_interference::baseline(usual, width);
        self.baseline_clock = baselines.clock(work);
        smt_interference::mark(self.samples.iter_mut(), self.baseline_ipc);
    }

    /// Adds the system activity and the clock drift of one round to the log.
    pub(super) fn note(&mut self, around: &SystemActivity, clock_drift: Option<f64>) {
        self.system_activity = Some(
            self.system_activity
                .as_ref()
                .map_or_else(|| around.clone(), |s| together(s, around)),
        );
        self.clock_drift = clock_drift
            .into_iter()
            .chain(self.clock_drift)
            .reduce(f64::max);
    }
}
