//! Derives the verdict on a point from its evidence. Each check has a threshold, a text and advice.

use crate::advice;
use crate::sample_statistics::SampleStatistics;
#[cfg(test)]
use report::SystemActivity;
use report::{Cause, Evidence, Limit, Load, Reason, Storage, Summary, Verdict, VerdictGrade};
use units::{Bytes, Hertz, Nanos, counted};

/// A point is doubtful if less than this share of its memory lies in pages of the requested size.
/// The page sizes then count as mixed.
pub const GRANTED: f64 = 0.9;

/// A point is doubtful if a hypervisor or a quota took more than this share of the time. A larger
/// share changes a median.
const MAX_STOLEN_SHARE: f64 = 0.01;

/// CPU time that other programs may use during the rounds of a point, as a number of CPUs. A point
/// is doubtful if they use more than this and `OTHERS_SHARE` together.
const OTHERS: f64 = 0.25;

/// CPU time that other programs may use in addition to `OTHERS`, as a share of all CPUs of the
/// machine.
const OTHERS_SHARE: f64 = 0.02;

/// Step in which the system counts CPU time.
const JIFFY: Nanos = Nanos(10e6);

/// A point is doubtful if a task waited for memory during more than this share of the time. The
/// system then reclaims or swaps memory.
const MEMORY_PRESSURE: f64 = 0.05;

/// A point is doubtful if the confidence of its interval is below this. The interval of five rounds
/// has 94%, that of four rounds 88%.
const LEAST_CONFIDENCE: f64 = 0.9;

/// A point is doubtful if the core clock changed by more than this share during the samples.
const CLOCK_MOVED: f64 = 0.05;

/// A point is doubtful if its core clock is below this share of the clock that the same CPUs reach
/// in the session. On some processors, wide vector instructions normally lower the clock by up to a
/// fifth.
const CLOCK_OF_RUN: f64 = 0.75;

/// A point is doubtful if its core clock is below this share of the processor's base clock.
const CLOCK_OF_BASE: f64 = 0.85;

/// A point is doubtful if the two calibrations of the counter differ by more than this share. The
/// same limit holds for the difference between the counter's rates at the start and at the end.
const CALIBRATION: f64 = 0.001;

/// A point is doubtful if half the width of its interval is more than this share of the median.
pub const SPREAD: f64 = 0.05;

/// A point is doubtful if its values form two groups and the smaller group has more than this share
/// of them. The median may then lie in either group.
const MINORITY: f64 = 0.3;

/// A point is doubtful if its values changed by more than this share from the first to the last
/// round, unless chance explains the change.
const DRIFT: f64 = 0.05;

/// A point is doubtful if more than this share of its samples is disturbed. The other samples are
/// then suspect too, because the disturbance probably reached them.
const MAX_DISTURBED: f64 = 0.5;

/// Like `MAX_DISTURBED`, for a disturbance that every sample is checked for (another hardware
/// thread on the core). In tests with two thirds of the samples disturbed, the other samples were
/// as fast as samples of undisturbed points.
const MAX_DISTURBED_OF_CHECKED: f64 = 0.8;

/// Fewest undisturbed samples for which a 95% interval of the median exists (1 - 2/2^n >= 0.95).
const FEWEST_SAMPLES: u64 = 6;

/// Facts that the verdict on a point depends on.
#[derive(Debug, Clone, Copy)]
pub struct VerdictInput<'a> {
    /// Summary of the samples.
    pub summary: &'a Summary,
    /// Evidence about the samples.
    pub evidence: &'a Evidence,
    /// Statistics of the samples: their trend over time, and groups of values.
    pub shape: &'a SampleStatistics,
    /// Cause of most of the disturbed samples; `None` without disturbed samples.
    pub main_disturbance: Option<Cause>,
    /// Upper bound of the value; `None` if unknown.
    pub limit: Option<&'a Limit>,
    /// Background traffic and its upper bound; `None` without traffic or bound.
    pub load: Option<(&'a Load, &'a Limit)>,
    /// Number of all samples, including disturbed samples and samples at other placements of vCPUs.
    pub samples: u64,
    /// Number of CPUs of the machine.
    pub machine_cpus: usize,
    /// Figures of storage operations; `None` for other experiments.
    pub storage: Option<&'a Storage>,
    /// Number of rounds that the samples come from.
    pub rounds: u32,
    /// True if the session ended before all rounds were done.
    pub interrupted: bool,
}

/// Derives the verdict on a point.
pub fn judge(input: &VerdictInput<'_>) -> Verdict {
    let mut verdict = Verdict {
        grade: VerdictGrade::Solid,
        reasons: Vec::new(),
    };
    if let Some(limit) = input
        .limit
        .filter(|l| input.summary.median > l.value * l.tolerance)
    {
        let share = input.summary.median / limit.value * 100.0;
        verdict.add(
            VerdictGrade::Rejected,
            reason(
                Cause::AboveLimit,
                format!("{share:.0}% of {}", limit.source),
            ),
        );
        return verdict;
    }
    if let Some(storage) = input.storage.filter(|s| s.wrong > 0) {
        let text = format!("{} blocks differ from what was written", storage.wrong);
        verdict.add(VerdictGrade::Rejected, reason(Cause::WrongData, text));
        return verdict;
    }
    if let Some((load, limit)) = input
        .load
        .filter(|(load, limit)| load.median > limit.value * limit.tolerance)
    {
        let share = load.median / limit.value * 100.0;
        let text = format!("its traffic is {share:.0}% of {}", limit.source);
        verdict.add(VerdictGrade::Rejected, reason(Cause::AboveLimit, text));
        return verdict;
    }
    let mut reasons = Vec::new();
    if input.interrupted {
        reasons.push(reason(
            Cause::Interrupted,
            "the session was interrupted before all its rounds".to_owned(),
        ));
    }
    reasons.extend(placement(input.evidence));
    reasons.extend(samples(input));
    reasons.extend(system_activity_reasons(input));
    reasons.extend(clocks(input.evidence));
    reasons.extend(shape(input.shape));
    reasons.extend(input.storage.map(on_storage).unwrap_or_default());
    if let Some(spread) = input.evidence.relative_spread.filter(|&s| s > SPREAD) {
        reasons.push(reason(
            Cause::Spread,
            format!("known to ±{:.0}% only", spread * 100.0),
        ));
    }
    reasons.extend(non_stationary(input.shape, &reasons));
    for reason in reasons {
        verdict.add(VerdictGrade::Doubtful, reason);
    }
    verdict
}

/// Makes the reason that samples got slower or faster within rounds, which explains scattered
/// values. `None` if `reasons` are not about scatter, or if there is no such trend.
fn non_stationary(shape: &SampleStatistics, reasons: &[Reason]) -> Option<Reason> {
    let scatters =
        |reason: &Reason| matches!(reason.cause, Cause::Spread | Cause::Bimodal | Cause::Drift);
    let within_round_trend = shape.within_round_trend.filter(|within_round_trend| {
        within_round_trend.abs() > DRIFT && reasons.iter().any(scatters)
    })?;
    let direction = if within_round_trend > 0.0 {
        "slower"
    } else {
        "faster"
    };
    let text = format!(
        "samples got {direction} by {:.0}% within rounds",
        within_round_trend.abs() * 100.0
    );
    Some(reason(Cause::NonStationary, text))
}

/// Makes a reason with `text` and the advice for its cause.
pub fn reason(cause: Cause, text: String) -> Reason {
    Reason {
        cause,
        text,
        advice: advice::for_cause(cause).to_owned(),
    }
}

/// Reasons to doubt a point: placement of threads and memory.
fn placement(evidence: &Evidence) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if evidence.affinity_held == Some(false) {
        let times = evidence.migrations.unwrap_or(1);
        reasons.push(reason(
            Cause::Moved,
            format!(
                "threads were found on other cpus {}",
                counted(times, "time")
            ),
        ));
    }
    let pages = &evidence.pages;
    if let (Some(share), Some(requested)) = (pages.granted_share, pages.requested_bytes)
        && share < GRANTED
    {
        reasons.push(reason(
            Cause::PageSize,
            format!(
                "{:.0}% of the memory is in {} pages",
                share * 100.0,
                Bytes(requested)
            ),
        ));
    }
    if let Some(share) = pages.resident_share.filter(|&s| s < 0.99) {
        reasons.push(reason(
            Cause::NotResident,
            format!("{:.0}% of the memory is resident", share * 100.0),
        ));
    }
    if pages.non_zero == Some(false) {
        reasons.push(reason(
            Cause::NotResident,
            "part of the memory is the system's page of zeros".to_owned(),
        ));
    }
    if let (Some(nodes), Some(expected)) = (&pages.nodes, &pages.expected_nodes)
        && nodes.iter().any(|n| !expected.contains(n))
    {
        let text = format!("memory on node {nodes:?}, threads on node {expected:?}");
        reasons.push(reason(Cause::Node, text));
    }
    if let (None, Some(place)) = (&pages.nodes, &pages.requested_placement) {
        reasons.push(reason(
            Cause::Node,
            format!("the system does not report whether its memory is on {place}"),
        ));
    }
    reasons
}

/// Reasons to doubt a point: disturbed samples, and too few samples.
fn samples(input: &VerdictInput<'_>) -> Vec<Reason> {
    let clean = input.summary.undisturbed_samples;
    let disturbed = input.evidence.disturbed_samples;
    let all = input.samples;
    let mut reasons = Vec::new();
    let cause = input.main_disturbance.unwrap_or(Cause::Disturbed);
    let most = if cause == Cause::CoreShared {
        MAX_DISTURBED_OF_CHECKED
    } else {
        MAX_DISTURBED
    };
    if disturbed as f64 > all as f64 * most {
        let by = advice::cause_phrase(cause);
        reasons.push(reason(
            cause,
            format!("{disturbed} of {all} samples were disturbed{by}"),
        ));
    }
    let confidence = input.summary.confidence;
    if confidence < LEAST_CONFIDENCE && clean >= FEWEST_SAMPLES {
        let text = format!(
            "too few rounds: the interval has a confidence of {:.0}%",
            confidence * 100.0
        );
        reasons.push(reason(Cause::FewSamples, text));
    }
    if clean < FEWEST_SAMPLES {
        reasons.push(reason(
            Cause::FewSamples,
            format!("only {clean} undisturbed samples"),
        ));
    }
    reasons
}

/// Reasons to doubt a point: other activity of the system.
fn system_activity_reasons(input: &VerdictInput<'_>) -> Vec<Reason> {
    let around = &input.evidence.system_activity;
    let elapsed = around.elapsed_ns.max(1.0);
    let cpus = input.evidence.cpus.len().max(1) as f64;
    let share = |time: Option<f64>| time.unwrap_or(0.0) / elapsed;
    let mut reasons = Vec::new();
    let stolen = share(around.stolen_ns) / cpus;
    if stolen > MAX_STOLEN_SHARE {
        reasons.push(reason(
            Cause::Stolen,
            format!("the hypervisor took {:.0}% of the time", stolen * 100.0),
        ));
    }
    let throttled = share(around.throttled_ns);
    if throttled > MAX_STOLEN_SHARE {
        let text = format!(
            "the cpu quota stopped threads for {:.0}% of the time",
            throttled * 100.0
        );
        reasons.push(reason(Cause::Throttled, text));
    }
    let others = share(around.others_ns);
    // Each reading has an error of half a step for every CPU. A round has two readings.
    let error = JIFFY.0 * (input.rounds as f64 * input.machine_cpus as f64 / 6.0).sqrt() / elapsed;
    if others > OTHERS + OTHERS_SHARE * input.machine_cpus as f64 + 3.0 * error {
        reasons.push(reason(
            Cause::Others,
            format!("other programs used {others:.1} cpus"),
        ));
    }
    let pressure = share(around.memory_pressure_ns);
    if pressure > MEMORY_PRESSURE {
        let text = format!(
            "programs waited for memory {:.0}% of the time",
            pressure * 100.0
        );
        reasons.push(reason(Cause::MemoryPressure, text));
    }
    reasons
}

/// Reasons to doubt a point: core clock and counter.
fn clocks(evidence: &Evidence) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if let (Some(before), Some(after)) = (evidence.core_hz_before, evidence.core_hz_after)
        && (after / before - 1.0).abs() > CLOCK_MOVED
    {
        let text = format!(
            "the core clock moved from {} to {}",
            Hertz(before),
            Hertz(after)
        );
        reasons.push(reason(Cause::CoreClock, text));
    }
    let clock = evidence.core_hz_median;
    let known = [
        (
            evidence.core_hz_baseline,
            CLOCK_OF_RUN,
            "during the rest of the session",
        ),
        (evidence.core_hz_base, CLOCK_OF_BASE, "as base clock"),
    ];
    let low = known
        .into_iter()
        .filter_map(|(known, share, place)| Some((clock?, known?, share, place)));
    for (clock, known, _, place) in low
        .filter(|(clock, known, share, _)| clock < &(known * share))
        .take(1)
    {
        let text = format!(
            "the core clock was {}, and is {} {place}",
            Hertz(clock),
            Hertz(known)
        );
        reasons.push(reason(Cause::CoreClock, text));
    }
    if let Some(times) = evidence
        .system_activity
        .thermal_throttles
        .filter(|&n| n > 0)
    {
        reasons.push(reason(
            Cause::Heat,
            format!("the processor throttled itself {}", counted(times, "time")),
        ));
    }
    if evidence.clock_error.is_some_and(|e| e > CALIBRATION) {
        reasons.push(reason(
            Cause::Counter,
            "the counter's rate is known to less than 0.1%".to_owned(),
        ));
    }
    if let Some(drift) = evidence.clock_drift.filter(|&d| d > CALIBRATION) {
        let text = format!(
            "the counter is off its calibration by {:.1}%",
            drift * 100.0
        );
        reasons.push(reason(Cause::Counter, text));
    }
    if let Some(gap) = evidence.longest_gap_ns.filter(|&ns| ns > LONG_STOP.0) {
        reasons.push(reason(
            Cause::Stopped,
            format!("all programs stood still for {}", Nanos(gap)),
        ));
    }
    reasons
}

/// A point is doubtful if more than this share of the operations that were due was never submitted.
/// These operations would have changed the latencies.
const BEHIND: f64 = 0.01;

/// Reasons to doubt a point: storage operations.
fn on_storage(storage: &Storage) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let failed = storage.failed();
    let range = Bytes(storage.range_bytes);
    let remark = storage.remarks.first().filter(|_| !storage.direct);
    match (
        remark,
        storage
            .memory_bytes
            .filter(|&memory| storage.range_bytes <= memory),
    ) {
        (Some(remark), _) => reasons.push(reason(
            Cause::PageCache,
            format!("the page cache answered: {remark}"),
        )),
        (None, Some(memory)) if !storage.direct => {
            let text = format!(
                "{range} fit into the memory of {}: the page cache can answer",
                Bytes(memory)
            );
            reasons.push(reason(Cause::PageCache, text));
        }
        _ => {}
    }
    if failed > 0 {
        let most = storage
            .errors
            .iter()
            .max_by_key(|(_, n)| **n)
            .map_or("", |(error, _)| error);
        let all = failed + storage.operations + storage.short;
        reasons.push(reason(
            Cause::IoErrors,
            format!("{failed} of {all} operations failed: {most}"),
        ));
    }
    if storage.short > 0 {
        reasons.push(reason(
            Cause::IoErrors,
            format!(
                "{} moved fewer bytes than requested",
                counted(storage.short, "transfer")
            ),
        ));
    }
    if storage.behind as f64 > storage.due as f64 * BEHIND {
        let text = format!(
            "{} of {} operations that were due were never started",
            storage.behind, storage.due
        );
        reasons.push(reason(Cause::Behind, text));
    }
    reasons
}

/// Length of a gap that shows that the thread or the machine was stopped. Other programs and
/// hypervisors keep a thread from its CPU for shorter times.
const LONG_STOP: Nanos = Nanos(0.5e9);

/// Reasons to doubt a point: distribution of the values.
fn shape(shape: &SampleStatistics) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if let Some(drift) = shape.drift.filter(|d| d.total.abs() > DRIFT) {
        let direction = if drift.total > 0.0 { "rose" } else { "fell" };
        let text = format!(
            "values {direction} by {:.0}% over its rounds",
            drift.total.abs() * 100.0
        );
        reasons.push(reason(Cause::Drift, text));
    }
    if let Some(modes) = shape
        .modes
        .filter(|m| m.share_high.min(1.0 - m.share_high) > MINORITY)
    {
        let apart = (modes.high / modes.low - 1.0) * 100.0;
        let text = format!(
            "two groups of values, {apart:.0}% apart, {:.0}% of them high",
            modes.share_high * 100.0
        );
        reasons.push(reason(Cause::Bimodal, text));
    }
    if let Some(ratio) = shape.placement {
        let text = format!("allocations differ by {:.0}%", (ratio - 1.0) * 100.0);
        reasons.push(reason(Cause::Placement, text));
    }
    reasons
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
