//! Computes the figures of a point and the evidence for these figures from its samples.

use super::disturbance::{self, disturbances, external_window};
use super::point_log::PointLog;
use super::recorded::{RecordedSample, value};
use super::smt_interference;
use super::vcpu_placement::RoundPlacement;
use crate::machine::{BackgroundTraffic, Failure, Observation};
use crate::work::{ExternalWindow, Probe, Work};
use host::noise::ThreadNoise;
use report::{
    Cause, Evidence, Limit, Load, Measured, Outcome, PlacementStratum, Sample, Summary,
    VcpuPlacement, VcpuPlacementEvidence, Verdict, VerdictGrade,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use units::{Hertz, Nanos};

/// Facts for the evaluation of a point that are not in its samples.
#[derive(Clone, Copy)]
pub struct EvaluationContext<'a> {
    /// Relative error of the clock's calibration; `None` if unknown.
    pub clock_error: Option<f64>,
    /// Size of the last-level caches of the measured CPUs together, in bytes; `None` if unknown.
    pub last_level_cache: Option<u64>,
    /// Function that computes a bound from the core clock. A rate cannot exceed the bound, or a
    /// time cannot fall below it. `None` if no bound is known.
    pub limit: Option<&'a dyn Fn(Option<Hertz>) -> Option<Limit>>,
    /// Base clock of the processor; `None` if unknown.
    pub base_clock: Option<Hertz>,
    /// Size of the machine's memory, in bytes; `None` if unknown.
    pub memory: Option<u64>,
}

/// Figures and evidence of a point, before the verdict.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// The point. Its verdict is not set yet.
    pub measured: Measured,
    /// Values of the samples that the headline uses, by allocation and round.
    pub groups: Vec<Vec<Vec<f64>>>,
    /// True if a higher value is better.
    pub higher_is_better: bool,
    /// The most frequent cause of disturbance among the samples; `None` if all are undisturbed.
    pub main_disturbance: Option<Cause>,
    /// Number of rounds that the samples come from.
    pub rounds: u32,
    /// True if the session ended before all rounds were done.
    pub interrupted: bool,
}

impl Evaluation {
    /// [`Outcome::Measured`] with the point, whose verdict is set to `verdict`.
    pub fn with_verdict(mut self, verdict: Verdict) -> Outcome {
        self.measured.verdict = verdict;
        Outcome::Measured(Box::new(self.measured))
    }
}

/// Evaluates the samples of a point.
///
/// # Errors
/// The point has no value. The error is its outcome, which has the reason.
pub fn evaluate(
    log: &PointLog,
    requested: &Work,
    frame: &EvaluationContext<'_>,
) -> Result<Evaluation, Outcome> {
    let work = log.work(requested);
    let failure = log.failure.clone();
    if log.samples.is_empty() || log.failed() {
        return Err(failure
            .unwrap_or(Failure::Failed("no sample was taken".to_owned()))
            .into());
    }
    let groups = log.headline_groups(work, |seen| value(work, seen));
    let Some(mut summary) = summarise(&groups, work) else {
        return Err(Outcome::Failed {
            reason: "the samples have no finite median".to_owned(),
        });
    };
    let disturbed = log
        .samples
        .iter()
        .filter(|t| !disturbances(work, &t.seen).is_empty())
        .count() as u64;
    summary.undisturbed_samples = log.samples.iter().filter(|t| log.counts(work, t)).count() as u64;
    let evidence = evidence(log, work, frame, disturbed, &summary);
    let mut also = also(work, &summary, core_cycles(log, work));
    also.extend(fairness(log, work).map(|share| ("fairness".to_owned(), share)));
    also.extend(log.in_windows.figures());
    let mut measured = Measured {
        load: load(log, work),
        storage: None,
        also,
        choice: log.chosen.as_ref().and_then(|chosen| chosen.choice.clone()),
        limit: frame.limit.and_then(|limit| limit(core_clock(log))),
        samples: log
            .samples
            .iter()
            .map(|taken| sample(work, taken))
            .collect(),
        evidence,
        summary,
        verdict: Verdict {
            grade: VerdictGrade::Solid,
            reasons: Vec::new(),
        },
    };
    let undisturbed = undisturbed(&measured, work.higher_is_better());
    measured.also.extend(undisturbed);
    if let Some(external) = work.external() {
        let windows = log.samples.iter();
        let windows: Vec<ExternalWindow<'_>> = windows
            .filter_map(|taken| external_window(&taken.seen, taken.round))
            .collect();
        external
            .work()
            .complete(&windows, frame.memory, &mut measured);
    }
    Ok(Evaluation {
        measured,
        groups,
        higher_is_better: work.higher_is_better(),
        main_disturbance: disturbance::main_cause(work, log.samples.iter().map(|t| &t.seen)),
        rounds: log.rounds(),
        interrupted: failure == Some(Failure::Interrupted),
    })
}

fn sample(work: &Work, taken: &RecordedSample) -> Sample {
    let seen = &taken.seen;
    let found = disturbances(work, seen);
    let found_on = seen
        .found_on
        .clone()
        .filter(|_| disturbance::moves(work, seen) > 0);
    Sample {
        value: value(work, seen),
        elapsed_ns: seen.elapsed.0,
        work: seen.amount,
        traffic: seen
            .traffic
            .map(|traffic| traffic.payload / seen.elapsed.secs()),
        core_hz: seen.core.map(|hz| hz.0),
        round: taken.round,
        allocation: taken.allocation,
        gaps_ns: Some(seen.gaps.total.0).filter(|&ns| ns > 0.0),
        cpus: found_on.unwrap_or_default(),
        placement: taken.placement,
        quietest: quietest_part(work, seen),
        disturbance: (!found.is_empty()).then(|| {
            found
                .into_iter()
                .map(|(_, text)| text)
                .collect::<Vec<_>>()
                .join(", ")
        }),
    }
}

/// Rates of the background traffic in the samples that the headline uses; `None` without traffic.
fn load(log: &PointLog, work: &Work) -> Option<Load> {
    let rates = |rate: fn(&BackgroundTraffic) -> f64| {
        let rate_of = |seen: &Observation| {
            seen.traffic
                .map_or(0.0, |traffic| rate(&traffic) / seen.elapsed.secs())
        };
        stats::headline(&log.headline_groups(work, rate_of))
    };
    log.samples.first()?.seen.traffic?;
    let payload = rates(|traffic| traffic.payload)?;
    let bus = rates(|traffic| traffic.bus)?;
    Some(Load {
        median: payload.median,
        ci_low: payload.interval.low,
        ci_high: payload.interval.high,
        confidence: payload.interval.attained,
        bus_estimate: bus.median,
    })
}

/// Summary of the values in `groups`; `None` if they have no finite median. The caller sets
/// `undisturbed_samples`.
fn summarise(groups: &[Vec<Vec<f64>>], work: &Work) -> Option<Summary> {
    let all = groups.concat().concat();
    let headline = stats::headline(groups)?;
    let best = all.iter().copied().reduce(if work.higher_is_better() {
        f64::max
    } else {
        f64::min
    })?;
    Some(Summary {
        median: headline.median,
        best,
        ci_low: headline.interval.low,
        ci_high: headline.interval.high,
        confidence: headline.interval.attained,
        mad: Some(stats::mad(&all)?),
        mean: stats::mean(&all),
        standard_deviation: stats::standard_deviation(&all),
        coefficient_of_variation: stats::coefficient_of_variation(&all),
        undisturbed_samples: 0,
    })
}

/// Core clocks around the samples that the headline may use, in Hz.
fn core_clocks(log: &PointLog, work: &Work) -> Vec<f64> {
    let counting = log.samples.iter().filter(|t| log.counts(work, t));
    counting
        .filter_map(|t| t.seen.core)
        .map(|hz| hz.0)
        .collect()
}

/// Median core clock of all samples; `None` if unknown.
fn core_clock(log: &PointLog) -> Option<Hertz> {
    let clocks: Vec<f64> = log
        .samples
        .iter()
        .filter_map(|t| t.seen.core)
        .map(|hz| hz.0)
        .collect();
    stats::median(&clocks).map(Hertz)
}

/// Median number of core clock cycles that a hop, an instruction or a round trip takes in the
/// undisturbed samples. The cycles of a sample are computed with the core clock around this sample.
/// `None` for rates, without undisturbed samples, or if a core clock is unknown.
fn core_cycles(log: &PointLog, work: &Work) -> Option<f64> {
    if work.higher_is_better() {
        return None;
    }
    let clean = log
        .samples
        .iter()
        .filter(|taken| log.counts(work, taken))
        .map(|taken| &taken.seen);
    let cycles: Option<Vec<f64>> = clean
        .map(|o| o.core.map(|hz| hz.cycles_in(Nanos(value(work, o)))))
        .collect();
    stats::median(&cycles?)
}

/// Work of the slowest thread divided by the work of the fastest thread. The result is the median
/// of the undisturbed samples, or of all samples if every one was disturbed; `None` for a single
/// thread.
fn fairness(log: &PointLog, work: &Work) -> Option<f64> {
    if !matches!(work, Work::Stream(w) if w.cpus.len() > 1) {
        return None;
    }
    let shares = |clean: bool| -> Vec<f64> {
        let wanted = log.samples.iter().filter(|t| !clean || log.counts(work, t));
        wanted.filter_map(|t| t.seen.fairness).collect()
    };
    stats::median(&shares(true)).or_else(|| stats::median(&shares(false)))
}

/// The value of a point in other units and conventions, by the names of [`Measured::also`].
fn also(work: &Work, summary: &Summary, core_cycles: Option<f64>) -> BTreeMap<String, f64> {
    match work {
        Work::Stream(w) => {
            let contract = w.operation.contract();
            let window = summary.median / contract.payload_factor() as f64;
            BTreeMap::from([
                ("single_count".to_owned(), window),
                (
                    "bus_estimate".to_owned(),
                    window * contract.bus_factor() as f64,
                ),
            ])
        }
        Work::Chase(_) => core_cycles
            .map(|cycles| ("core_cycles".to_owned(), cycles))
            .into_iter()
            .collect(),
        Work::Loaded(w) => match w.probe() {
            Probe::Chase(_) => core_cycles
                .map(|cycles| ("core_cycles".to_owned(), cycles))
                .into_iter()
                .collect(),
            Probe::Stream(stream) => BTreeMap::from([
                ("single_count".to_owned(), summary.median),
                (
                    "bus_estimate".to_owned(),
                    summary.median * stream.bus_factor(),
                ),
            ]),
        },
        Work::Instruction(_) => {
            let cycles = core_cycles.map(|c| {
                [
                    ("core_cycles".to_owned(), c),
                    ("per_cycle".to_owned(), 1.0 / c),
                ]
            });
            let per_second = ("per_second".to_owned(), 1e9 / summary.median);
            cycles.into_iter().flatten().chain([per_second]).collect()
        }
        Work::HandOff(_) => {
            let one_way = ("one_way_ns".to_owned(), summary.median / 2.0);
            core_cycles
                .map(|cycles| ("core_cycles".to_owned(), cycles))
                .into_iter()
                .chain([one_way])
                .collect()
        }
        Work::External(_) => BTreeMap::new(),
        Work::Lock(w) => {
            let each = w.cpus.len() as f64 * 1e9 / summary.median;
            BTreeMap::from([("ns_per_operation".to_owned(), each)])
        }
    }
}

/// Number of disturbed samples by their cause. A sample with several causes counts for its first
/// cause only.
fn disturbed_by(log: &PointLog, work: &Work) -> BTreeMap<Cause, u64> {
    let mut counts = BTreeMap::new();
    for (cause, _) in log
        .samples
        .iter()
        .filter_map(|taken| disturbances(work, &taken.seen).into_iter().next())
    {
        *counts.entry(cause).or_default() += 1;
    }
    counts
}

/// The value on which the fastest parts of the rounds agree, and the share of samples whose fastest
/// part has this value. Each result has its name in [`Measured::also`]. Empty if the rounds do not
/// agree.
fn undisturbed(measured: &Measured, higher_is_better: bool) -> Vec<(String, f64)> {
    let bests = measured.best_of_rounds(higher_is_better);
    let Some(value) = stats::quietest(&bests, higher_is_better) else {
        return Vec::new();
    };
    let samples: Vec<f64> = measured.quietest_parts().map(|(_, best)| best).collect();
    let agree = samples.iter().filter(|best| stats::agrees(**best, value));
    let share = agree.count() as f64 / samples.len() as f64;
    vec![
        ("undisturbed".to_owned(), value),
        ("undisturbed_share".to_owned(), share),
    ]
}

/// Value of `work` in the fastest part of a sample; `None` if the parts of the sample are unknown.
fn quietest_part(work: &Work, seen: &Observation) -> Option<f64> {
    let fastest = seen.parts.iter().copied().reduce(f64::max)?;
    Some(work.value_at(fastest))
}

/// Figures of each placement of the vCPUs on the host's cores; `None` without readings of the
/// placement.
fn vcpu_placement(log: &PointLog, work: &Work) -> Option<VcpuPlacementEvidence> {
    let placements = &log.vcpu_placement;
    let headline = placements.headline();
    let rounds: Vec<&RoundPlacement> = placements.rounds().collect();
    let known: BTreeSet<VcpuPlacement> = rounds.iter().filter_map(|r| r.placement).collect();
    let of_known = rounds.iter().filter(|r| r.placement.is_some()).count();
    let mut strata: Vec<PlacementStratum> = known
        .into_iter()
        .map(|placement| stratum(log, work, placement, of_known))
        .collect();
    strata.sort_by_key(|s| (Some(s.placement) != headline, Reverse(s.rounds)));
    Some(VcpuPlacementEvidence {
        cpus: placements.nearest_pair()?,
        rounds: rounds.len() as u64,
        moved_rounds: rounds.iter().filter(|r| r.moved).count() as u64,
        strata,
    })
}

/// Figures of the rounds with `placement`. `of_known` is the number of rounds whose placement is
/// known.
fn stratum(
    log: &PointLog,
    work: &Work,
    placement: VcpuPlacement,
    of_known: usize,
) -> PlacementStratum {
    let rounds: Vec<&RoundPlacement> = log
        .vcpu_placement
        .rounds()
        .filter(|round| round.placement == Some(placement))
        .collect();
    let round_trips: Vec<f64> = rounds.iter().map(|round| round.round_trip).collect();
    let groups = log.groups(
        |taken| taken.placement == Some(placement) && disturbances(work, &taken.seen).is_empty(),
        |seen| value(work, seen),
    );
    let figures = stats::headline(&groups);
    PlacementStratum {
        placement,
        share: rounds.len() as f64 / of_known.max(1) as f64,
        rounds: rounds.len() as u64,
        round_trip_ns: stats::median(&round_trips).unwrap_or_default(),
        samples: groups.iter().flatten().map(Vec::len).sum::<usize>() as u64,
        median: figures.as_ref().map(|f| f.median),
        ci_low: figures.as_ref().map(|f| f.interval.low),
        ci_high: figures.as_ref().map(|f| f.interval.high),
        confidence: figures.as_ref().map(|f| f.interval.attained),
    }
}

fn evidence(
    log: &PointLog,
    work: &Work,
    frame: &EvaluationContext<'_>,
    disturbed: u64,
    summary: &Summary,
) -> Evidence {
    let seen = || log.samples.iter().map(|t| &t.seen);
    let noise: Option<Vec<ThreadNoise>> = seen().map(|o| o.noise).collect();
    let noise = noise.map(|all| {
        all.into_iter()
            .fold(ThreadNoise::default(), ThreadNoise::plus)
    });
    let readable = seen().all(|o| o.found_on.is_some());
    let migrations = readable.then(|| seen().map(|o| disturbance::moves(work, o)).sum::<u64>());
    let (pages, unchecked) = log.pages.clone().unwrap_or_default();
    let core = core_clocks(log, work);
    Evidence {
        cpus: work.cpus().to_vec(),
        affinity_held: migrations.map(|count| count == 0),
        migrations,
        pages,
        minor_faults: noise.map(|n| n.minor_faults),
        major_faults: noise.map(|n| n.major_faults),
        voluntary_switches: noise.map(|n| n.voluntary_switches),
        involuntary_switches: noise.map(|n| n.involuntary_switches),
        gaps_ns: Some(seen().map(|o| o.gaps.total.0).sum()),
        longest_gap_ns: seen().map(|o| o.gaps.longest.0).reduce(f64::max),
        system_activity: log.system_activity.clone().unwrap_or_default(),
        vcpu_placement: vcpu_placement(log, work),
        smt_interference: smt_interference::evidence(&log.samples, log.baseline_ipc),
        core_hz_baseline: log.baseline_clock.map(|hz| hz.0),
        core_hz_median: core_clock(log).map(|hz| hz.0),
        core_hz_base: frame.base_clock.map(|hz| hz.0),
        core_hz_before: stats::median(&log.core_before[..log.core_before.len().div_ceil(2)]),
        core_hz_least: core.iter().copied().reduce(f64::min),
        core_hz_most: core.iter().copied().reduce(f64::max),
        core_hz_after: stats::median(&log.core_after[log.core_after.len() / 2..]),
        working_set_bytes: work.pages().map(|_| work.working_set().0),
        last_level_cache_bytes: frame.last_level_cache,
        measured_last_level_bytes: None,
        clock_error: frame.clock_error,
        clock_drift: log.clock_drift,
        disturbed_samples: disturbed,
        disturbed_by: disturbed_by(log, work),
        allocations: u64::from(log.allocation) + 1,
        relative_spread: Some((summary.ci_high - summary.ci_low) / 2.0 / summary.median.abs())
            .filter(|s| s.is_finite()),
        unchecked,
    }
}
