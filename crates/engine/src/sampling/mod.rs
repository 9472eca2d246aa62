//! From a work to a number: warm-up, samples in rounds, the stop rule, and what is concluded from
//! them.

mod baselines;
mod disturbance;
mod expected_time;
mod kernel_selection;
mod short_windows;
mod smt_interference;
mod summary;
mod system_activity;
mod vcpu_placement;

pub use baselines::Baselines;
pub use disturbance::disturbances;
pub use expected_time::{PointCosts, TimedPoint, expected_fill, expected_time};
pub use short_windows::{DISTRIBUTION, Windows};
pub use summary::{Evaluation, EvaluationContext, evaluate};

use crate::machine::{Failure, Machine, Observation};
use crate::pages::misplaced;
use crate::sampling::kernel_selection::{Selection, select_kernel};
use crate::sampling::system_activity::{between, together};
use crate::sampling::vcpu_placement::VcpuPlacement;
use crate::work::Work;
use report::{HostFacts, PageEvidence, SystemActivity};
use stats::{self, Headline, StopRule};
use std::collections::BTreeMap;
use units::{Bytes, Hertz, Nanos};

/// How a point is sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Length of one sample.
    pub length: Nanos,
    /// Samples of a chain that no cache could hold take so many times as long, see [`IN_MEMORY`].
    pub in_memory: f64,
    /// Samples in a round.
    pub per_round: u32,
    /// Rounds at most.
    pub rounds: u32,
    /// Half the width of the confidence interval relative to the median that is good enough to
    /// stop; 0 for never.
    pub target: f64,
    /// Samples of a point at most, where that is not what all its rounds make.
    pub most: Option<u32>,
}

impl Sampling {
    /// Length of a sample of `work`, which the caches could hold or not. Where most `samples`
    /// before it were disturbed, long ones would only be disturbed more often.
    fn length_of(&self, work: &Work, could_hold: bool, samples: &[RecordedSample]) -> Nanos {
        let disturbed = samples
            .iter()
            .filter(|taken| !disturbances(work, &taken.seen).is_empty())
            .count();
        if 2 * disturbed > samples.len() {
            self.length
        } else {
            self.undisturbed(work, could_hold)
        }
    }

    /// Length of a sample of `work` that nothing disturbs.
    pub fn undisturbed(&self, work: &Work, could_hold: bool) -> Nanos {
        if could_hold || !matches!(work, Work::Chase(_)) {
            self.length
        } else {
            self.length * self.in_memory
        }
    }

    /// `samples` of each point, no more and no fewer: in more rounds where they are many, since
    /// intervals come from rounds.
    pub fn exactly(self, samples: u32) -> Self {
        let wanted = samples.div_ceil(self.per_round.max(1)).min(MOST_ROUNDS);
        let rounds = self.rounds.max(wanted).min(samples).max(1);
        let per_round = samples.div_ceil(rounds);
        Self {
            per_round,
            rounds: samples.div_ceil(per_round.max(1)),
            target: 0.0,
            most: Some(samples),
            ..self
        }
    }

    /// With rounds in each of so many allocations, all of which are taken: enough of them to tell
    /// whether allocations differ by more than rounds do.
    pub fn over(self, allocations: u32) -> Self {
        let each = match allocations {
            0 | 1 => return self,
            2 => 3,
            _ => 2,
        };
        let rounds = self
            .rounds
            .max(allocations.saturating_mul(each))
            .next_multiple_of(allocations);
        Self {
            rounds,
            target: 0.0,
            ..self
        }
    }

    /// Samples of a round before which `taken` were taken.
    fn in_round(&self, taken: usize) -> u32 {
        let left = self.most.map_or(u32::MAX, |most| {
            most.saturating_sub(u32::try_from(taken).unwrap_or(u32::MAX))
        });
        self.per_round.min(left)
    }
}

/// Rounds that a fixed number of samples is spread over at most: each is a line of the journal with
/// all the evidence so far.
const MOST_ROUNDS: u32 = 100;

/// Rounds before the stop rule may end a point: fewer have no 95% interval of the median where
/// rounds differ.
const FEWEST_ROUNDS: u32 = 6;

/// Samples discarded at most at the start of a round, once the working set has been walked.
const MOST_WARM_UPS: usize = 8;

/// And of a chain that was filled.
const MOST_WARM_UPS_OF_PREFILLED: usize = 2;

/// Samples after which it is filled anew, as neighbours may take the cache within milliseconds:
/// more than a few are slower and slower.
pub const SAMPLES_PER_PREFILL: u32 = 4;

/// What samples of chains through memory are longer by. Between two samples a chase stands still
/// for a tenth of a millisecond, in which threads wake each other and the core's clock is read;
/// what the caches hold of page tables goes down with each pause, and loads take 5% longer in
/// samples of 1 ms than in samples of 8 ms of the same chain in turn. Of 4 ms they are within 1% of
/// these, and 1 to 2% above a chase that never stands still.
pub const IN_MEMORY: f64 = 4.0;

/// The longest chain that the time for filling it lasts for, twice through at a few GB/s. Where
/// this ends, chains are warmed up in another way, which looks like the end of a cache: no CPU
/// should have so large a one.
const LARGEST_PREFILL: Bytes = Bytes::mib(512);

/// The longest chain that is filled anew within a round: beyond, that takes longer than the
/// samples.
const LARGEST_REPEATED_PREFILL: Bytes = Bytes::mib(32);

/// Time spent at most on walking a working set that could lie in a cache, or page tables that do,
/// before it is sampled.
pub const LONGEST_WALK: Nanos = Nanos(100e6);

/// Largest part of the remaining time that kernel selection takes.
const SELECTION_SHARE: f64 = 0.25;

/// A window of external work that the end of the time cuts is not shorter than this.
const LEAST_WINDOW: Nanos = Nanos(10e6);

/// Two samples in a row that differ by less than this are warm.
const WARM: f64 = 0.02;

/// A sample with where it belongs.
#[derive(Debug, Clone)]
pub(super) struct RecordedSample {
    pub round: u32,
    pub allocation: u32,
    pub seen: Observation,
}

/// Samples and evidence of a point so far.
#[derive(Debug, Clone, Default)]
pub struct PointLog {
    pub(super) samples: Vec<RecordedSample>,
    pub(super) core_before: Vec<f64>,
    pub(super) core_after: Vec<f64>,
    pub(super) system_activity: Option<SystemActivity>,
    pub(super) clock_drift: Option<f64>,
    pub(super) vcpu_placement: VcpuPlacement,
    /// IPC of its cores while nobody else uses them.
    pub(super) baseline_ipc: Option<f64>,
    /// The core clock that its CPUs reach in this run.
    pub(super) baseline_clock: Option<Hertz>,
    pub(super) allocation: u32,
    /// The allocation that the pages were read back of last.
    pages_of: Option<u32>,
    pub(super) pages: Option<(PageEvidence, Vec<String>)>,
    rounds: u32,
    enough: bool,
    /// Whether the work has come to its end.
    exhausted: bool,
    pub(super) failure: Option<Failure>,
    pub(super) chosen: Option<Selection>,
    /// Short windows to take beside the samples.
    windows: Option<Windows>,
    in_windows: short_windows::Seen,
}

impl PointLog {
    /// Of a point of which nothing was seen yet, and of which short `windows` are taken too.
    pub fn new(windows: Option<Windows>) -> Self {
        Self {
            windows,
            ..Self::default()
        }
    }

    /// What is measured at a point that asks for `asked`: the same, with the kernel that was found
    /// fastest where it left the choice.
    pub fn work<'a>(&'a self, asked: &'a Work) -> &'a Work {
        self.chosen.as_ref().map_or(asked, |chosen| &chosen.work)
    }

    /// Name of the kernel that was found fastest, `None` where there was no choice.
    pub fn winner(&self) -> Option<&str> {
        Some(&self.chosen.as_ref()?.choice.as_ref()?.kernel)
    }

    /// Whether no more rounds are wanted: the interval is inside the target, all rounds are done,
    /// or it failed.
    pub fn finished(&self, sampling: &Sampling) -> bool {
        self.rounds >= sampling.rounds || self.failed() || self.enough
    }

    /// Whether further rounds would add nothing: the interval is inside the target, or it failed.
    pub fn needs_no_more(&self) -> bool {
        self.failed() || self.enough
    }

    /// Whether the interval of the median is inside the target.
    fn is_enough(&self, work: &Work, sampling: &Sampling) -> bool {
        let rule = StopRule {
            relative_width: sampling.target,
            minimum: 1,
            maximum: usize::MAX,
        };
        self.rounds >= FEWEST_ROUNDS
            && sampling.target > 0.0
            && rule.enough(&self.undisturbed_groups(work))
    }

    /// Half the width of the headline's interval relative to its median; `None` where there is no
    /// such thing.
    pub fn relative_spread(&self, asked: &Work) -> Option<f64> {
        let work = self.work(asked);
        let Headline { median, interval } =
            stats::headline(&self.headline_groups(work, |seen| value(work, seen)))?;
        Some((interval.high / 2.0 - interval.low / 2.0) / median.abs())
            .filter(|spread| spread.is_finite())
    }

    /// Whether a round went wrong for a reason other than interruption.
    pub fn failed(&self) -> bool {
        matches!(
            self.failure,
            Some(Failure::Failed(_) | Failure::Unsupported(_))
        )
    }

    /// Notes that the run ended before all rounds of the point were done.
    pub fn cut_short(&mut self) {
        self.failure.get_or_insert(Failure::Interrupted);
    }

    /// Whether the run ended before all rounds of the point were done.
    pub fn was_cut_short(&self) -> bool {
        self.failure == Some(Failure::Interrupted)
    }

    /// Rounds done.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Says that the next rounds are taken in a fresh allocation of the memory.
    pub fn reallocated(&mut self) {
        self.allocation += 1;
    }

    /// Whether no sample was taken yet.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Values of the undisturbed samples by allocation and round.
    pub(super) fn undisturbed_groups(&self, work: &Work) -> Vec<Vec<Vec<f64>>> {
        self.groups(
            |taken| disturbances(work, &taken.seen).is_empty(),
            |seen| value(work, seen),
        )
    }

    /// `figure` of the undisturbed samples by allocation and round; of all samples if every one was
    /// disturbed. The verdict says what they are worth.
    pub(super) fn headline_groups(
        &self,
        work: &Work,
        figure: impl Fn(&Observation) -> f64,
    ) -> Vec<Vec<Vec<f64>>> {
        let clean = self.groups(|taken| disturbances(work, &taken.seen).is_empty(), &figure);
        if clean.is_empty() {
            self.groups(|_| true, figure)
        } else {
            clean
        }
    }

    /// `figure` of the `wanted` samples by allocation and round.
    fn groups(
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

    /// What the first thread does in a nanosecond by the samples that the headline is of.
    fn pace(&self, work: &Work) -> Result<short_windows::Pace, Failure> {
        let of_first =
            |seen: &Observation| seen.amount as f64 / work.chasing() as f64 / seen.elapsed.0;
        let rates = self.headline_groups(work, of_first).concat().concat();
        let none = || Failure::Failed("no sample tells how much work a window has".to_owned());
        stats::median(&rates)
            .map(short_windows::Pace)
            .ok_or_else(none)
    }

    /// Reads back the pages of an allocation, once; of several the one with the least of the pages
    /// asked for counts. Fails where they do not lie where the work asked for.
    fn read_pages(&mut self, machine: &mut dyn Machine, work: &Work) -> Result<(), Failure> {
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

    /// Marks the samples that the host's or somebody else's use of the CPUs spoiled, by all that is
    /// known of that now.
    fn mark(&mut self, facts: &HostFacts, baselines: &Baselines, work: &Work) {
        self.vcpu_placement.mark(self.samples.iter_mut());
        let apart = smt_interference::apart(work, facts);
        // Threads that share a core by timing share what it begins: that is no other program's
        // doing.
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

    /// Notes what happened around a round.
    fn note(&mut self, around: &SystemActivity, clock_drift: Option<f64>) {
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

/// Takes one round of samples of `work` for `log`, and notes readings for the `baselines` of the
/// session. No sample begins after the time `until`. A round that ends there, or by an
/// interruption, keeps the samples that it has.
pub fn sample_round(
    machine: &mut dyn Machine,
    baselines: &mut Baselines,
    work: &Work,
    sampling: &Sampling,
    log: &mut PointLog,
    until: Nanos,
) {
    match try_round(machine, baselines, work, sampling, log, until) {
        Ok(()) | Err(Failure::OutOfTime) => {}
        Err(failure) => log.failure = Some(failure),
    }
}

/// One sample, if there is time for it. A window of external work is as short as the time that is
/// left.
pub(super) fn timely(
    machine: &mut dyn Machine,
    work: &Work,
    length: Nanos,
    until: Nanos,
) -> Result<Observation, Failure> {
    let left = until - machine.now();
    let is_external = work.external().is_some();
    let least = if is_external {
        LEAST_WINDOW.min(length)
    } else {
        Nanos::ZERO
    };
    if left <= least {
        return Err(Failure::OutOfTime);
    }
    let length = if is_external {
        length.min(left)
    } else {
        length
    };
    machine.sample(work, length)
}

fn try_round(
    machine: &mut dyn Machine,
    baselines: &mut Baselines,
    asked: &Work,
    sampling: &Sampling,
    log: &mut PointLog,
    until: Nanos,
) -> Result<(), Failure> {
    // A sample that would probably end after the time is over does not begin. A window of external
    // work is cut instead.
    let until = match asked {
        Work::External(_) => until,
        _ => {
            let fits = asked.fits_last_level(machine.facts());
            let length = sampling.undisturbed(asked, fits) * asked.sample_length_factor();
            until - baselines.expected_duration(length)
        }
    };
    if log.chosen.is_none() {
        // The selection must leave time for the samples.
        let now = machine.now();
        log.chosen = Some(select_kernel(
            machine,
            asked,
            sampling.length,
            now + (until - now) * SELECTION_SHARE,
        )?);
    }
    let work = &log.work(asked).clone();
    machine.shift_placement();
    machine.prepare(work)?;
    let computes = work.computes();
    let first_cpu = work.cpus().first().copied().filter(|_| computes);
    log.core_before.extend(
        first_cpu
            .and_then(|cpu| machine.core_clock(cpu))
            .map(|hz| hz.0),
    );
    log.vcpu_placement.read(machine, work, log.rounds);
    let before = machine.system_activity(work.cpus());
    let could_hold = work.fits_last_level(machine.facts());
    let length = sampling.length_of(work, could_hold, &log.samples);
    // Nothing comes between this and the samples: reading what the system says takes a millisecond
    // or two, in which an idle CPU loses a part of what its caches hold.
    warm_up(machine, work, length, MOST_WARM_UPS, until)?;
    let round = log.rounds;
    let samples_before = log.samples.len();
    let mut result = Ok(());
    let samples = sampling.in_round(log.samples.len());
    let fills = if could_hold {
        fills(work, work.inner_cache(machine.facts()), samples)
    } else {
        1
    };
    for taken in 0..samples {
        let anew = fills > 1 && taken > 0 && taken.is_multiple_of(SAMPLES_PER_PREFILL);
        let ready = if anew {
            warm_caches(machine, work, length, until)
        } else {
            Ok(())
        };
        let begun = machine.now();
        match ready.and_then(|()| timely(machine, work, length, until)) {
            Ok(seen) => {
                if computes {
                    let asked = length * work.sample_length_factor();
                    baselines.note_duration(asked, machine.now() - begun);
                }
                let is_last = seen.is_last;
                baselines.note(work, &seen);
                log.samples.push(RecordedSample {
                    round,
                    allocation: log.allocation,
                    seen,
                });
                if is_last {
                    log.exhausted = true;
                    break;
                }
            }
            Err(failure) => {
                result = Err(failure);
                break;
            }
        }
    }
    // Short windows come later: their disturbances are not those of the samples.
    let system_activity = machine.system_activity(work.cpus());
    log.note(&between(&before, &system_activity), machine.clock_drift());
    log.core_after.extend(
        first_cpu
            .and_then(|cpu| machine.core_clock(cpu))
            .map(|hz| hz.0),
    );
    log.vcpu_placement.read(machine, work, round);
    log.mark(machine.facts(), baselines, work);
    let placed = log.read_pages(machine, work);
    match result {
        // A part of a round is a round.
        Err(Failure::OutOfTime) if log.samples.len() > samples_before => {}
        other => other?,
    }
    placed?;
    log.rounds += 1;
    log.enough = log.exhausted || log.is_enough(work, sampling);
    if let Some(windows) = log.windows {
        let share = windows
            .count
            .div_ceil(sampling.rounds.max(1))
            .saturating_mul(log.rounds);
        let wanted = if log.enough { windows.count } else { share };
        let pace = log.pace(work)?;
        log.in_windows
            .take(machine, work, &windows, pace, wanted as usize, until)?;
    }
    Ok(())
}

/// Takes samples that do not count: until a working set that a cache could hold has been walked
/// once, and of a larger one the page tables behind it, which the caches do hold; then until two in
/// a row agree or `most` were taken.
///
/// Page tables are counted in base pages: a virtual machine's huge pages are base pages on many
/// hosts.
pub fn warm_up(
    machine: &mut dyn Machine,
    work: &Work,
    length: Nanos,
    most: usize,
    until: Nanos,
) -> Result<(), Failure> {
    if let Some(external) = work.external() {
        let share = external.work().warm_up();
        return if share > 0.0 {
            timely(machine, work, length * share, until).map(|_| ())
        } else {
            Ok(())
        };
    }
    warm_caches(machine, work, length, until)?;
    // A prefilled chain is warm, and only gets colder.
    let most = if work.fits_last_level(machine.facts()) && is_prefilled(work) {
        most.min(MOST_WARM_UPS_OF_PREFILLED)
    } else {
        most
    };
    let mut last = value(work, &timely(machine, work, length, until)?);
    for _ in 1..most {
        let this = value(work, &timely(machine, work, length, until)?);
        if (this / last - 1.0).abs() < WARM {
            break;
        }
        last = this;
    }
    Ok(())
}

/// Fills the caches, and walks what there is to walk once.
fn warm_caches(
    machine: &mut dyn Machine,
    work: &Work,
    length: Nanos,
    until: Nanos,
) -> Result<(), Failure> {
    machine.fill()?;
    let facts = machine.facts();
    let mut left = match work.fits_last_level(facts) {
        true => warm_up_walk(work, work.inner_cache(facts)),
        false => work.translations(facts.pages.base),
    };
    let end = machine.now() + LONGEST_WALK;
    while left > 0 && machine.now() < end {
        left = left.saturating_sub(timely(machine, work, length, until)?.amount);
    }
    Ok(())
}

/// How often `work`, which the caches could hold, is brought into them for `samples` in a row,
/// where the cache before the last one has `nearer` bytes: what lies in that one is nobody else's.
pub fn fills(work: &Work, nearer: Bytes, samples: u32) -> u32 {
    if is_prefilled(work)
        && work.working_set() > nearer
        && work.working_set() <= LARGEST_REPEATED_PREFILL
    {
        samples.div_ceil(SAMPLES_PER_PREFILL).max(1)
    } else {
        1
    }
}

/// Whether `work` is a chain that [`Machine::fill`] brings into the caches whole, if they can hold
/// it.
fn is_prefilled(work: &Work) -> bool {
    matches!(work, Work::Chase(chase) if chase.touched() <= LARGEST_PREFILL)
}

/// How much of a working set that a cache could hold is walked before it is sampled, where the
/// cache before the last one has `nearer` bytes: all of it, and of a chain that lies in the last
/// one already as much as the nearer one holds twice, which then has what it would have after any
/// longer walk.
pub fn warm_up_walk(work: &Work, nearer: Bytes) -> u64 {
    match work {
        Work::Chase(chase) if is_prefilled(work) => chase
            .nodes()
            .min(2 * nearer.0 / chase.stride.0.max(1))
            .saturating_mul(chase.threads()),
        _ => work.pass(),
    }
}

/// The quantity that an observation of `work` shows.
pub(super) fn value(work: &Work, o: &Observation) -> f64 {
    work.value(o.amount, o.elapsed.secs())
}
