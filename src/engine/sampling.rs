//! From a work to a number: warm-up, samples in rounds, the stop rule, and what is concluded from them.

use super::judge::judge;
use super::machine::{Machine, Observation, Trouble};
use super::race::{Chosen, race};
use super::work::Work;
use crate::results::{Evidence, Limit, Measured, Outcome, PageEvidence, Sample, Summary};
use crate::stats::{self, StopRule};
use crate::units::{Hertz, Nanos};
use std::collections::BTreeMap;

/// How a point is sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Length of one sample.
    pub length: Nanos,
    /// Samples in a round.
    pub per_round: u32,
    /// Rounds at most.
    pub rounds: u32,
    /// Half the width of the confidence interval relative to the median that is good enough to stop; 0 for never.
    pub target: f64,
    /// Samples of a point at most, where that is not what all its rounds make.
    pub most: Option<u32>,
}

impl Sampling {
    /// `samples` of each point, no more and no fewer, spread over as many of the rounds as it takes.
    pub fn exactly(self, samples: u32) -> Self {
        let rounds = self.rounds.min(samples).max(1);
        let per_round = samples.div_ceil(rounds);
        Self { per_round, rounds: samples.div_ceil(per_round.max(1)), target: 0.0, most: Some(samples), ..self }
    }

    /// Samples of a round before which `taken` were taken.
    fn in_round(&self, taken: usize) -> u32 {
        let left = self.most.map_or(u32::MAX, |most| most.saturating_sub(u32::try_from(taken).unwrap_or(u32::MAX)));
        self.per_round.min(left)
    }
}

/// Rounds before the stop rule may end a point: fewer have no 95% interval of the median where rounds differ.
const FEWEST_ROUNDS: u32 = 6;

/// Samples discarded at most at the start of a round, once the working set has been walked.
const MOST_WARM_UPS: usize = 8;

/// Time spent at most on walking a working set that could lie in a cache before it is sampled.
const LONGEST_WALK: Nanos = Nanos(100e6);

/// Two samples in a row that differ by less than this are warm.
const WARM: f64 = 0.02;

/// What has been seen of a point so far.
#[derive(Debug, Clone, Default)]
pub struct PointLog {
    samples: Vec<(u32, Observation)>,
    core_before: Vec<f64>,
    core_after: Vec<f64>,
    stolen: Option<Nanos>,
    pages: Option<(PageEvidence, Vec<String>)>,
    rounds: u32,
    enough: bool,
    trouble: Option<Trouble>,
    chosen: Option<Chosen>,
}

impl PointLog {
    /// What is measured at a point that asks for `asked`: the same, with the kernel that was found fastest where it
    /// left the choice.
    pub fn work<'a>(&'a self, asked: &'a Work) -> &'a Work {
        self.chosen.as_ref().map_or(asked, |chosen| &chosen.work)
    }

    /// Name of the kernel that was found fastest, `None` where there was no choice.
    pub fn winner(&self) -> Option<&str> {
        Some(&self.chosen.as_ref()?.choice.as_ref()?.kernel)
    }

    /// Whether no more rounds are wanted: the interval is inside the target, all rounds are done, or it failed.
    pub fn finished(&self, sampling: &Sampling) -> bool {
        self.rounds >= sampling.rounds || self.failed() || self.enough
    }

    /// Whether the interval of the median is inside the target.
    fn is_enough(&self, work: &Work, sampling: &Sampling) -> bool {
        let rule = StopRule { relative_width: sampling.target, minimum: 1, maximum: usize::MAX };
        self.rounds >= FEWEST_ROUNDS && sampling.target > 0.0 && rule.enough(&self.clean_groups(work))
    }

    /// Whether a round went wrong for a reason other than interruption.
    pub fn failed(&self) -> bool {
        matches!(self.trouble, Some(Trouble::Failed(_) | Trouble::Unsupported(_)))
    }

    /// Notes that the run ended before all rounds of the point were done.
    pub fn cut_short(&mut self) {
        self.trouble.get_or_insert(Trouble::Interrupted);
    }

    /// Whether the run ended before all rounds of the point were done.
    pub fn was_cut_short(&self) -> bool {
        self.trouble == Some(Trouble::Interrupted)
    }

    /// Rounds done.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Whether no sample was taken yet.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Values of the clean samples by round.
    fn clean_groups(&self, work: &Work) -> Vec<Vec<f64>> {
        let mut groups: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (round, o) in self.samples.iter().filter(|(_, o)| dirt(o).is_none()) {
            groups.entry(*round).or_default().push(value(work, o));
        }
        groups.into_values().collect()
    }
}

/// Takes one round of samples of `work` and adds them to `log`. The first round of a point may be cut short by an
/// interruption; what it has is kept.
pub fn sample_round(machine: &mut dyn Machine, work: &Work, sampling: &Sampling, log: &mut PointLog) {
    if let Err(trouble) = try_round(machine, work, sampling, log) {
        log.trouble = Some(trouble);
    }
}

fn try_round(machine: &mut dyn Machine, asked: &Work, sampling: &Sampling, log: &mut PointLog) -> Result<(), Trouble> {
    if log.chosen.is_none() {
        log.chosen = Some(race(machine, asked, sampling.length)?);
    }
    let work = &log.work(asked).clone();
    machine.prepare(work)?;
    warm_up(machine, work, sampling.length, MOST_WARM_UPS)?;
    let first_cpu = work.cpus().first().copied().unwrap_or(0);
    log.core_before.extend(machine.core_clock(first_cpu).map(|hz| hz.0));
    let stolen_before = machine.stolen(work.cpus());
    let round = log.rounds;
    let mut result = Ok(());
    for _ in 0..sampling.in_round(log.samples.len()) {
        match machine.sample(work, sampling.length) {
            Ok(observation) => log.samples.push((round, observation)),
            Err(trouble) => {
                result = Err(trouble);
                break;
            }
        }
    }
    let stolen = stolen_before.zip(machine.stolen(work.cpus())).map(|(before, after)| after - before);
    log.stolen = stolen.map(|s| log.stolen.unwrap_or(Nanos::ZERO) + s);
    log.core_after.extend(machine.core_clock(first_cpu).map(|hz| hz.0));
    if log.pages.is_none() {
        log.pages = Some(machine.pages(work));
    }
    result?;
    log.rounds += 1;
    log.enough = log.is_enough(work, sampling);
    Ok(())
}

/// Takes samples that do not count: until a working set that a cache could hold has been walked once, then until two
/// in a row agree or `most` were taken.
pub fn warm_up(machine: &mut dyn Machine, work: &Work, length: Nanos, most: usize) -> Result<(), Trouble> {
    let cached = work.working_set() <= machine.facts().topology.last_level_total(work.cpus());
    let end = machine.now() + LONGEST_WALK;
    let mut left = if cached { work.pass() } else { 0 };
    while left > 0 && machine.now() < end {
        left = left.saturating_sub(machine.sample(work, length)?.amount);
    }
    let mut last = value(work, &machine.sample(work, length)?);
    for _ in 1..most {
        let this = value(work, &machine.sample(work, length)?);
        if (this / last - 1.0).abs() < WARM {
            break;
        }
        last = this;
    }
    Ok(())
}

/// The quantity that an observation of `work` shows.
fn value(work: &Work, o: &Observation) -> f64 {
    work.value(o.amount, o.elapsed.secs())
}

/// Why a sample is left out of the summary.
fn dirt(o: &Observation) -> Option<String> {
    let mut reasons = Vec::new();
    if o.affinity_held == Some(false) {
        reasons.push("a thread was moved to another cpu".to_owned());
    }
    if let Some(n) = o.involuntary_switches.filter(|&n| n > 0) {
        reasons.push(format!("{n} involuntary context switches"));
    }
    if let Some(n) = o.page_faults.filter(|&n| n > 0) {
        reasons.push(format!("{n} page faults"));
    }
    (!reasons.is_empty()).then(|| reasons.join(", "))
}

/// What the outcome needs to know beyond the samples.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// Relative error of the clock's calibration.
    pub clock_error: f64,
    /// Last-level cache of the CPUs used, all instances together.
    pub last_level_cache: Option<u64>,
    /// Upper bound on the value as a function of the core clock.
    pub limit: Option<&'a dyn Fn(Hertz) -> Limit>,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// What came of a point.
pub fn conclude(log: &PointLog, asked: &Work, frame: &Frame<'_>) -> Outcome {
    let work = log.work(asked);
    let trouble = log.trouble.clone();
    if log.samples.is_empty() || log.failed() {
        return trouble.unwrap_or(Trouble::Failed("no sample was taken".to_owned())).into();
    }
    let clean = log.clean_groups(work);
    // With no clean sample there is still what was seen: the verdict says what it is worth.
    let groups = if clean.is_empty() { vec![all_values(log, work)] } else { clean };
    let Some(mut summary) = summarise(&groups, work, frame.seed) else {
        return Outcome::Failed { reason: "the samples have no finite median".to_owned() };
    };
    let dirty = log.samples.iter().filter(|(_, o)| dirt(o).is_some()).count() as u64;
    summary.clean_samples = log.samples.len() as u64 - dirty;
    let evidence = evidence(log, work, frame, dirty, &summary);
    let core = core_clock(log);
    let cycles = core_cycles(log, work);
    let limit = frame.limit.zip(core).map(|(limit, core)| limit(core));
    let elapsed = log.samples.iter().map(|(_, o)| o.elapsed).sum::<Nanos>();
    let interrupted = trouble == Some(Trouble::Interrupted);
    let verdict = judge(&summary, &evidence, limit.as_ref(), elapsed.0, interrupted);
    let also = also(work, &summary, cycles);
    let samples = log.samples.iter().map(|(round, o)| sample(work, *round, o)).collect();
    let choice = log.chosen.as_ref().and_then(|chosen| chosen.choice.clone());
    Outcome::Measured(Box::new(Measured { summary, also, choice, limit, samples, evidence, verdict }))
}

fn all_values(log: &PointLog, work: &Work) -> Vec<f64> {
    log.samples.iter().map(|(_, o)| value(work, o)).collect()
}

fn sample(work: &Work, round: u32, o: &Observation) -> Sample {
    let core_hz = o.core.map(|hz| hz.0);
    Sample { value: value(work, o), elapsed_ns: o.elapsed.0, work: o.amount, core_hz, round, dirty: dirt(o) }
}

/// The samples in a few figures; `clean_samples` is the caller's to fill in.
fn summarise(groups: &[Vec<f64>], work: &Work, seed: u64) -> Option<Summary> {
    let all = groups.concat();
    let interval = stats::block_median_interval(groups, seed)?;
    let best = all.iter().copied().reduce(if work.higher_is_better() { f64::max } else { f64::min })?;
    Some(Summary {
        median: stats::median(&all)?,
        best,
        ci_low: interval.low,
        ci_high: interval.high,
        mad: stats::mad(&all)?,
        clean_samples: 0,
    })
}

/// The core clock during the point, `None` where it could not be established.
fn core_clock(log: &PointLog) -> Option<Hertz> {
    let beside: Vec<f64> = log.samples.iter().filter_map(|(_, o)| o.core).map(|hz| hz.0).collect();
    stats::median(&beside).map(Hertz)
}

/// Median over the clean samples of the core cycles that a hop or an instruction took, each by the clock beside it.
fn core_cycles(log: &PointLog, work: &Work) -> Option<f64> {
    if work.higher_is_better() {
        return None;
    }
    let clean = log.samples.iter().filter(|(_, o)| dirt(o).is_none());
    let cycles: Option<Vec<f64>> = clean.map(|(_, o)| o.core.map(|hz| hz.cycles_in(Nanos(value(work, o))))).collect();
    stats::median(&cycles?)
}

/// The same quantity under other conventions.
fn also(work: &Work, summary: &Summary, core_cycles: Option<f64>) -> BTreeMap<String, f64> {
    match work {
        Work::Stream(w) => {
            let contract = w.operation.contract();
            let window = summary.median / contract.payload_factor() as f64;
            BTreeMap::from([
                ("single_count".to_owned(), window),
                ("bus_estimate".to_owned(), window * contract.bus_factor() as f64),
            ])
        }
        Work::Chase(_) => core_cycles.map(|cycles| ("core_cycles".to_owned(), cycles)).into_iter().collect(),
        Work::Instruction(_) => {
            let cycles = core_cycles.map(|c| [("core_cycles".to_owned(), c), ("per_cycle".to_owned(), 1.0 / c)]);
            let per_second = ("per_second".to_owned(), 1e9 / summary.median);
            cycles.into_iter().flatten().chain([per_second]).collect()
        }
        Work::Lock(w) => {
            let each = w.cpus.len() as f64 * 1e9 / summary.median;
            BTreeMap::from([("ns_per_operation".to_owned(), each)])
        }
    }
}

fn evidence(log: &PointLog, work: &Work, frame: &Frame<'_>, dirty: u64, summary: &Summary) -> Evidence {
    let all = |of: fn(&Observation) -> Option<u64>| log.samples.iter().map(|(_, o)| of(o)).sum::<Option<u64>>();
    let held: Option<Vec<bool>> = log.samples.iter().map(|(_, o)| o.affinity_held).collect();
    let (pages, unchecked) = log.pages.clone().unwrap_or_default();
    Evidence {
        cpus: work.cpus().to_vec(),
        affinity_held: held.map(|h| !h.contains(&false)),
        pages,
        page_faults: all(|o| o.page_faults),
        involuntary_switches: all(|o| o.involuntary_switches),
        stolen_ns: log.stolen.map(|s| s.0),
        core_hz_before: stats::median(&log.core_before[..log.core_before.len().div_ceil(2)]),
        core_hz_after: stats::median(&log.core_after[log.core_after.len() / 2..]),
        working_set_bytes: work.pages().map(|_| work.working_set().0),
        last_level_cache_bytes: frame.last_level_cache,
        clock_error: Some(frame.clock_error),
        dirty_samples: dirty,
        relative_spread: Some((summary.ci_high - summary.ci_low) / 2.0 / summary.median.abs())
            .filter(|s| s.is_finite()),
        unchecked,
    }
}
