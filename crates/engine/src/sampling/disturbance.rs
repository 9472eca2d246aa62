//! Disturbance of a sample: something happened during it that is not part of the measured work.

use crate::machine::Observation;
use crate::work::{ExternalWindow, Work};
use report::Cause;
use std::collections::BTreeMap;

/// Gaps are a disturbance only if they take more than this share (0 to 1) of the sample's time.
/// Shorter gaps change the value by less than the width of its interval.
const GAPS: f64 = 0.05;

/// Disturbances of a sample, each with its cause and a text; empty for an undisturbed sample.
pub fn disturbances(work: &Work, seen: &Observation) -> Vec<(Cause, String)> {
    let mut found = Vec::new();
    // Threads that share a CPU take turns. Waiting for a turn is part of their work.
    let takes_turns = || work.is_oversubscribed();
    let moved = moves(work, seen);
    if moved > 0 {
        found.push((Cause::Moved, "a thread was on another cpu".to_owned()));
    }
    if seen.host_moved {
        found.push((
            Cause::HostMoved,
            "the host moved a cpu during the round".to_owned(),
        ));
    }
    if seen.smt_interference {
        found.push((
            Cause::CoreShared,
            "another hardware thread used the core".to_owned(),
        ));
    }
    if let (Some(external), Some(window)) = (work.external(), external_window(seen, 0)) {
        found.extend(external.work().disturbance(&window));
        return found;
    }
    if let Some(noise) = seen.noise {
        let faults = noise.minor_faults.saturating_add(noise.major_faults);
        if faults > 0 {
            found.push((Cause::NotResident, format!("{faults} page faults")));
        }
        if noise.involuntary_switches > 0 && !takes_turns() {
            found.push((
                Cause::Others,
                format!(
                    "{} involuntary context switches",
                    noise.involuntary_switches
                ),
            ));
        }
        // Measured kernels never give up their CPU voluntarily. A kernel that waits for a page also
        // has a page fault.
        if noise.voluntary_switches > 0 && faults == 0 {
            found.push((Cause::Stopped, "a thread was stopped".to_owned()));
        }
    }
    if found.is_empty() && seen.gaps.total > seen.elapsed * GAPS && !takes_turns() {
        found.push((Cause::Stolen, format!("gaps of {} in all", seen.gaps.total)));
    }
    found
}

/// The sample of `round` as a window of external work; `None` for other work.
pub(super) fn external_window(seen: &Observation, round: u32) -> Option<ExternalWindow<'_>> {
    Some(ExternalWindow {
        figures: seen.external.as_ref()?,
        round,
        noise: seen.noise,
        found_on: seen.found_on.as_deref(),
    })
}

/// Number of threads that were not found on their own CPU; 0 if the system does not report CPUs.
pub fn moves(work: &Work, seen: &Observation) -> u64 {
    let Some(found_on) = &seen.found_on else {
        return 0;
    };
    found_on
        .iter()
        .zip(work.cpus())
        .filter(|(found, own)| found != own)
        .count() as u64
}

/// The most frequent cause of disturbance in the samples `seen`; `None` if all are undisturbed.
pub fn main_cause<'a>(work: &Work, seen: impl Iterator<Item = &'a Observation>) -> Option<Cause> {
    let mut counts: BTreeMap<Cause, usize> = BTreeMap::new();
    for (cause, _) in seen.flat_map(|observation| disturbances(work, observation)) {
        *counts.entry(cause).or_default() += 1;
    }
    counts
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .map(|(cause, _)| cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Gaps;
    use crate::{ChainShape, ChaseWork};
    use host::memory::PageMode;
    use host::noise::ThreadNoise;
    use units::{Bytes, Nanos};

    fn work() -> Work {
        let bytes = Bytes::kib(16);
        let stride = Bytes(64);
        let pages = PageMode::Base;
        Work::Chase(ChaseWork {
            bytes,
            stride,
            shape: ChainShape::GlobalRandom,
            pages,
            cpus: vec![3],
            shared: false,
            node: None,
            walkers: 1,
            payload: false,
            seed: 1,
        })
    }

    fn seen(noise: ThreadNoise, gap: f64, on: u32) -> Observation {
        let gaps = Gaps {
            total: Nanos(gap),
            longest: Nanos(gap),
        };
        Observation {
            elapsed: Nanos(1e6),
            noise: Some(noise),
            gaps,
            found_on: Some(vec![on]),
            ..Default::default()
        }
    }

    #[test]
    fn each_cause_is_told_from_the_others() {
        let quiet = ThreadNoise::default();
        let cases = [
            (seen(quiet, 0.0, 3), None),
            (seen(quiet, 0.04e6, 3), None),
            (seen(quiet, 0.06e6, 3), Some(Cause::Stolen)),
            (seen(quiet, 0.0, 2), Some(Cause::Moved)),
            (
                Observation {
                    host_moved: true,
                    ..seen(quiet, 0.0, 3)
                },
                Some(Cause::HostMoved),
            ),
            (
                Observation {
                    smt_interference: true,
                    ..seen(quiet, 0.0, 3)
                },
                Some(Cause::CoreShared),
            ),
            (
                seen(
                    ThreadNoise {
                        involuntary_switches: 1,
                        ..quiet
                    },
                    0.9e6,
                    3,
                ),
                Some(Cause::Others),
            ),
            (
                seen(
                    ThreadNoise {
                        voluntary_switches: 1,
                        ..quiet
                    },
                    0.9e6,
                    3,
                ),
                Some(Cause::Stopped),
            ),
            (
                seen(
                    ThreadNoise {
                        major_faults: 1,
                        voluntary_switches: 1,
                        ..quiet
                    },
                    0.9e6,
                    3,
                ),
                Some(Cause::NotResident),
            ),
        ];
        for (observation, cause) in &cases {
            let found = disturbances(&work(), observation);
            assert_eq!(
                found.first().map(|(cause, _)| *cause),
                *cause,
                "{observation:?}"
            );
        }
        let all: Vec<Observation> = cases.iter().map(|c| c.0.clone()).collect();
        assert_eq!(main_cause(&work(), all[..2].iter()), None);
        assert_eq!(
            main_cause(&work(), [&all[3], &all[6], &all[3]].into_iter()),
            Some(Cause::Moved)
        );
        let unknown = Observation {
            elapsed: Nanos(1e6),
            ..Default::default()
        };
        assert!(disturbances(&work(), &unknown).is_empty());
    }
}
