//! Detects SMT interference: another hardware thread used the core during a sample. On a virtual
//! machine, this thread may belong to another guest.
//!
//! A core issues a fixed number of independent instructions per cycle and shares it among its
//! hardware threads. A short block of such instructions is timed at both ends of each sample. The
//! IPC of the block falls by a tenth or more when another thread of the core computes. Nothing else
//! lowers this IPC: the block uses no data caches and no memory, and IPC does not depend on the
//! clock.

use super::recorded::RecordedSample;
use crate::work::Work;
use report::{HostFacts, Places, Relation, SmtInterference, VcpuPlacement};

/// An IPC below this share of the core's baseline means that another thread used the core.
/// Undisturbed readings scatter by half a percent. At an IPC below 0.985 of the baseline, reads
/// from L2 are already slower.
const SHARED: f64 = 0.97;

/// An undisturbed core issues at least this share of its documented width (integer instructions per
/// cycle). Undisturbed cores were measured at 0.94 to 1.00 of the width.
const DOCUMENTED: f64 = 0.9;

/// If the measured baseline divided by the documented width is outside this range, the core has
/// another design than documented. The width is then ignored. Interference alone does not lower the
/// ratio below this range.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.4..=1.1;

/// The IPC baseline: `usual`, which the session measured, but at least [`DOCUMENTED`] of the
/// documented `integer_width`. `None` if `usual` is `None`. The width is needed if another thread
/// used the core during the whole session. The session then has no undisturbed reading.
pub(super) fn baseline(usual: Option<f64>, integer_width: Option<u32>) -> Option<f64> {
    let usual = usual?;
    let width = integer_width.map(f64::from);
    let width = width.filter(|width| PLAUSIBLE.contains(&(usual / width)));
    Some(width.map_or(usual, |width| usual.max(width * DOCUMENTED)))
}

/// True if no two threads of `work` share a core, according to the topology.
pub(super) fn apart(work: &Work, facts: &HostFacts) -> bool {
    if work.cpus().len() < 2 {
        return true;
    }
    let places = Places::new(&facts.topology);
    let same = |pair: &[u32]| {
        pair[0] == pair[1] || places.relation(pair[0], pair[1]) == Relation::SameCore
    };
    !places.ordered(work.cpus()).windows(2).any(same)
}

/// Marks the samples during which another program used the core. `usual` is the IPC baseline. A
/// sample is not marked if threads of the work itself were on one core.
pub(super) fn mark<'a>(samples: impl Iterator<Item = &'a mut RecordedSample>, usual: Option<f64>) {
    for taken in samples {
        let together = taken.placement == Some(VcpuPlacement::SameCore);
        taken.seen.smt_interference = !together
            && usual
                .zip(taken.seen.ipc)
                .is_some_and(|(usual, rate)| rate < usual * SHARED);
    }
}

/// The SMT interference for the report; `None` without a baseline or without readings.
pub(super) fn evidence(samples: &[RecordedSample], usual: Option<f64>) -> Option<SmtInterference> {
    let least = samples
        .iter()
        .filter_map(|taken| taken.seen.ipc)
        .reduce(f64::min);
    Some(SmtInterference {
        shared_samples: samples
            .iter()
            .filter(|taken| taken.seen.smt_interference)
            .count() as u64,
        baseline_ipc: usual?,
        lowest_ipc: least?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Observation;

    #[test]
    fn the_baseline_is_no_less_than_what_is_documented() {
        let cases = [
            (Some(5.69), Some(6), Some(5.69)), // Zen 5, alone
            (Some(3.2), Some(6), Some(5.4)),   // with interference all the time
            (Some(4.9), Some(5), Some(4.9)),   // Raptor Cove, alone
            (Some(4.9), None, Some(4.9)),
            (Some(1.0), Some(4), Some(1.0)), // an emulator
            (Some(6.0), Some(4), Some(6.0)), // another core
            (None, Some(4), None),
        ];
        for (usual, width, expected) in cases {
            assert_eq!(baseline(usual, width), expected, "{usual:?} {width:?}");
        }
    }

    #[test]
    fn samples_of_a_shared_core_are_marked_and_counted() {
        let taken = |rate: Option<f64>| RecordedSample {
            round: 0,
            allocation: 0,
            placement: None,
            seen: Observation {
                ipc: rate,
                ..Default::default()
            },
        };
        let mut samples = [Some(4.9), Some(4.8), Some(4.7), Some(2.4), None].map(taken);
        mark(samples.iter_mut(), Some(4.9));
        assert_eq!(
            samples.each_ref().map(|t| t.seen.smt_interference),
            [false, false, true, true, false]
        );
        let told = evidence(&samples, Some(4.9)).unwrap();
        assert_eq!(
            (told.shared_samples, told.baseline_ipc, told.lowest_ipc),
            (2, 4.9, 2.4)
        );
        // The work's own threads shared the core.
        samples[3].placement = Some(VcpuPlacement::SameCore);
        samples[2].placement = Some(VcpuPlacement::SharedCache);
        mark(samples.iter_mut(), Some(4.9));
        assert_eq!(
            samples.each_ref().map(|t| t.seen.smt_interference),
            [false, false, true, false, false]
        );
        mark(samples.iter_mut(), None);
        assert!(
            samples.iter().all(|t| !t.seen.smt_interference) && evidence(&samples, None).is_none()
        );
    }
}
