//! From evidence to a verdict: each check has a threshold and words that fit into a table.

use crate::results::{Evidence, Limit, Summary, Verdict, VerdictGrade};
use crate::units::{Bytes, Hertz};

/// Less of the memory than this in the pages asked for makes the number one of mixed pages.
const GRANTED: f64 = 0.9;

/// More of the time than this taken by the hypervisor moves a median.
const STOLEN: f64 = 0.01;

/// A core clock that moved by more than this during the samples.
const CLOCK_MOVED: f64 = 0.05;

/// A counter whose two calibrations differ by more than this.
const CALIBRATION: f64 = 0.001;

/// A median known to less than this (half the interval's width relative to it).
const SPREAD: f64 = 0.05;

/// Fewer clean samples than this have no 95% interval of the median (1 - 2/2^n < 0.95).
const FEWEST_SAMPLES: u64 = 6;

/// A value above its limit by more than the limit's own error (the core clock is known to about 1%).
const ABOVE_LIMIT: f64 = 1.03;

/// Judges a point. `interrupted` says that its rounds were cut short, `elapsed_ns` is the length of all its samples.
pub fn judge(
    summary: &Summary,
    evidence: &Evidence,
    limit: Option<&Limit>,
    elapsed_ns: f64,
    interrupted: bool,
) -> Verdict {
    if let Some(limit) = limit.filter(|l| summary.median > l.value * ABOVE_LIMIT) {
        let share = summary.median / limit.value * 100.0;
        return Verdict {
            grade: VerdictGrade::Rejected,
            reasons: vec![format!("{share:.0}% of the {}", limit.source)],
        };
    }
    let mut reasons = Vec::new();
    if interrupted {
        reasons.push("the run was interrupted before all its rounds".to_owned());
    }
    reasons.extend(placement(evidence));
    reasons.extend(disturbance(summary, evidence, elapsed_ns));
    let grade = if reasons.is_empty() { VerdictGrade::Solid } else { VerdictGrade::Doubtful };
    Verdict { grade, reasons }
}

/// What speaks against where threads and memory were.
fn placement(evidence: &Evidence) -> Vec<String> {
    let mut reasons = Vec::new();
    if evidence.affinity_held == Some(false) {
        reasons.push("a thread was moved to another cpu".to_owned());
    }
    let pages = &evidence.pages;
    if let (Some(share), Some(asked)) = (pages.granted_share, pages.asked_bytes)
        && share < GRANTED
    {
        reasons.push(format!("{:.0}% of the memory is in {} pages", share * 100.0, Bytes(asked)));
    }
    if let Some(share) = pages.resident_share.filter(|&s| s < 0.99) {
        reasons.push(format!("{:.0}% of the memory is resident", share * 100.0));
    }
    if let (Some(nodes), Some(expected)) = (&pages.nodes, &pages.expected_nodes)
        && nodes.iter().any(|n| !expected.contains(n))
    {
        reasons.push(format!("memory on node {nodes:?}, threads on node {expected:?}"));
    }
    reasons
}

/// What speaks against the samples themselves.
fn disturbance(summary: &Summary, evidence: &Evidence, elapsed_ns: f64) -> Vec<String> {
    let mut reasons = Vec::new();
    let all = summary.clean_samples + evidence.dirty_samples;
    if evidence.dirty_samples * 2 > all {
        reasons.push(format!("{} of {all} samples were disturbed", evidence.dirty_samples));
    }
    if summary.clean_samples < FEWEST_SAMPLES {
        reasons.push(format!("only {} clean samples", summary.clean_samples));
    }
    let taken = evidence.stolen_ns.unwrap_or(0.0) / (elapsed_ns * evidence.cpus.len().max(1) as f64).max(1.0);
    if taken > STOLEN {
        reasons.push(format!("the hypervisor took {:.0}% of the time", taken * 100.0));
    }
    if let (Some(before), Some(after)) = (evidence.core_hz_before, evidence.core_hz_after)
        && (after / before - 1.0).abs() > CLOCK_MOVED
    {
        reasons.push(format!("the core clock moved from {} to {}", Hertz(before), Hertz(after)));
    }
    if evidence.clock_error.is_some_and(|e| e > CALIBRATION) {
        reasons.push("the counter's rate is known to less than 0.1%".to_owned());
    }
    if let Some(spread) = evidence.relative_spread.filter(|&s| s > SPREAD) {
        reasons.push(format!("known to ±{:.0}% only", spread * 100.0));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::PageEvidence;

    fn good() -> (Summary, Evidence) {
        let summary = Summary { median: 100.0, best: 101.0, ci_low: 99.0, ci_high: 101.0, mad: 0.5, clean_samples: 20 };
        let pages = PageEvidence {
            asked_bytes: Some(2 << 20),
            granted_share: Some(1.0),
            resident_share: Some(1.0),
            nodes: Some(vec![0]),
            expected_nodes: Some(vec![0]),
            ..Default::default()
        };
        let evidence = Evidence {
            cpus: vec![0],
            affinity_held: Some(true),
            pages,
            stolen_ns: Some(0.0),
            core_hz_before: Some(4e9),
            core_hz_after: Some(4e9),
            clock_error: Some(1e-6),
            relative_spread: Some(0.01),
            ..Default::default()
        };
        (summary, evidence)
    }

    #[test]
    fn an_undisturbed_point_is_solid() {
        let (summary, evidence) = good();
        assert_eq!(judge(&summary, &evidence, None, 1e9, false).grade, VerdictGrade::Solid);
        let limit = Limit { value: 99.0, source: "ports".to_owned() };
        assert_eq!(judge(&summary, &evidence, Some(&limit), 1e9, false).grade, VerdictGrade::Solid);
    }

    #[test]
    fn each_cause_is_named() {
        type Spoil = fn(&mut Summary, &mut Evidence);
        let cases: [(Spoil, &str); 10] = [
            (|_, e| e.affinity_held = Some(false), "moved to another cpu"),
            (|_, e| e.pages.granted_share = Some(0.4), "40% of the memory is in 2 MiB pages"),
            (|_, e| e.pages.resident_share = Some(0.5), "50% of the memory is resident"),
            (|_, e| e.pages.nodes = Some(vec![0, 1]), "memory on node [0, 1], threads on node [0]"),
            (|_, e| e.dirty_samples = 21, "21 of 41 samples were disturbed"),
            (|s, _| s.clean_samples = 3, "only 3 clean samples"),
            (|_, e| e.stolen_ns = Some(5e7), "took 5% of the time"),
            (|_, e| e.core_hz_after = Some(3e9), "moved from 4.00 GHz to 3.00 GHz"),
            (|_, e| e.clock_error = Some(0.01), "less than 0.1%"),
            (|_, e| e.relative_spread = Some(0.2), "±20%"),
        ];
        for (spoil, words) in cases {
            let (mut summary, mut evidence) = good();
            spoil(&mut summary, &mut evidence);
            let verdict = judge(&summary, &evidence, None, 1e9, false);
            assert_eq!(verdict.grade, VerdictGrade::Doubtful);
            assert_eq!(verdict.reasons.len(), 1);
            assert!(verdict.reasons[0].contains(words), "{:?}", verdict.reasons);
        }
    }

    #[test]
    fn more_than_the_limit_is_rejected() {
        let (summary, evidence) = good();
        let limit = Limit { value: 50.0, source: "L1 ports".to_owned() };
        let verdict = judge(&summary, &evidence, Some(&limit), 1e9, false);
        assert_eq!(verdict.grade, VerdictGrade::Rejected);
        assert_eq!(verdict.reasons, ["200% of the L1 ports"]);
    }

    #[test]
    fn an_interrupted_point_says_so() {
        let (summary, evidence) = good();
        assert!(judge(&summary, &evidence, None, 1e9, true).reasons[0].contains("interrupted"));
    }
}
