//! Whether somebody else used the core of a sample: the other hardware thread of the core, which
//! inside a virtual machine may be another machine's.
//!
//! A core begins as many independent instructions per cycle as it is wide, and shares that among
//! its hardware threads. How many it begins for this thread, read for a few microseconds beside
//! each sample, falls by a tenth or more when the other thread computes, and nothing else makes it
//! fall: it needs neither caches nor memory, and a slower clock slows both rulers.

use crate::machine::Observation;
use crate::sampling::RecordedSample;
use crate::work::Work;
use report::{HostFacts, Places, Relation, SmtInterference};
use std::collections::BTreeMap;
use units::{Hertz, Nanos};

/// A core that begins less than this share of what it usually begins is shared. Undisturbed
/// readings scatter by half a percent, and from 0.985 down reads from L2 are slower.
const SHARED: f64 = 0.97;

/// Readings kept of each set of CPUs, spread over the whole run: somebody else may stay for many
/// seconds.
const MOST_READINGS: usize = 2048;

/// Readings before anything is said.
const FEWEST_READINGS: usize = 20;

/// What a core begins while nobody else uses it is near the top of its readings: a few of them come
/// out too high, where the clock beside them was interrupted.
const TOP: f64 = 0.95;

/// At least this share of the readings lies as near as [`PEAK`] to what is usual. Where they
/// scatter more (an emulator), they say nothing.
const PEAK_SHARE: f64 = 0.1;

/// How near that is.
const PEAK: f64 = 0.02;

/// A core that nobody else uses begins at least this share of its documented width: readings of
/// such cores lie between 0.94 and 1.00 of it.
const DOCUMENTED: f64 = 0.9;

/// Baselines beyond these shares of the documented width are of another core than the documented
/// one: two hardware threads leave each other more than the lower share.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.4..=1.1;

/// What the cores of a run began, and at what clock, by the CPUs that were measured together.
#[derive(Debug, Clone, Default)]
pub struct Baselines {
    readings: BTreeMap<Vec<u32>, Readings>,
    clocks: BTreeMap<Vec<u32>, Readings>,
    /// Lengths asked for, of all samples so far.
    lengths: Nanos,
    /// What they took.
    durations: Nanos,
}

/// Every so many of the readings, so that a few stand for all.
#[derive(Debug, Clone, Default)]
struct Readings {
    kept: Vec<f64>,
    seen: u64,
    /// One of 2 to the power of this is kept.
    halvings: u32,
}

impl Readings {
    fn note(&mut self, rate: f64) {
        if self.seen.is_multiple_of(1 << self.halvings.min(63)) {
            self.kept.push(rate);
        }
        self.seen += 1;
        if self.kept.len() >= MOST_READINGS {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.halvings += 1;
        }
    }
}

impl Baselines {
    /// Notes what a sample of `work` showed.
    pub fn note(&mut self, work: &Work, seen: &Observation) {
        if let Some(clock) = seen
            .core
            .filter(|clock| clock.0.is_finite() && !matches!(work, Work::Io(_)))
        {
            self.clocks
                .entry(work.cpus().to_vec())
                .or_default()
                .note(clock.0);
        }
        let Some(rate) = seen.ipc.filter(|rate| rate.is_finite()) else {
            return;
        };
        self.readings
            .entry(work.cpus().to_vec())
            .or_default()
            .note(rate);
    }

    /// Notes that a sample for which `asked` was asked took `took`.
    pub fn note_duration(&mut self, asked: Nanos, took: Nanos) {
        self.lengths += asked;
        self.durations += took;
    }

    /// How long a sample takes for which `asked` is asked, by the samples so far; zero before the first.
    pub fn expected_duration(&self, asked: Nanos) -> Nanos {
        if self.lengths > Nanos::ZERO {
            asked * (self.durations.0 / self.lengths.0)
        } else {
            Nanos::ZERO
        }
    }

    /// What the cores of `work` begin while nobody else uses them, in instructions per cycle, by
    /// what was seen so far; `None` where that cannot be told.
    ///
    /// Several threads may share a core that the topology has as two: their own readings together
    /// decide, and only where these show nothing those of each CPU alone.
    pub fn usual(&self, work: &Work) -> Option<f64> {
        let peak_of = |cpus: &[u32]| peak(self.readings.get(cpus)?.kept.clone());
        let of_each = || {
            work.cpus()
                .iter()
                .map(|&cpu| peak_of(&[cpu]))
                .collect::<Option<Vec<f64>>>()
        };
        peak_of(work.cpus()).or_else(|| of_each()?.into_iter().reduce(f64::min))
    }

    /// The core clock that the CPUs of `work` reach in this run, by what was seen so far; `None`
    /// where that cannot be told.
    pub fn baseline_clock(&self, work: &Work) -> Option<Hertz> {
        peak(self.clocks.get(work.cpus())?.kept.clone()).map(Hertz)
    }
}

/// What the cores begin while nobody else uses them: `usual` by the run itself, but no less than
/// what is documented of cores with this `integer_width`. A run that somebody shared the core with
/// from beginning to end has no such moment.
pub(super) fn baseline(usual: Option<f64>, integer_width: Option<u32>) -> Option<f64> {
    let usual = usual?;
    let width = integer_width.map(f64::from);
    let width = width.filter(|width| PLAUSIBLE.contains(&(usual / width)));
    Some(width.map_or(usual, |width| usual.max(width * DOCUMENTED)))
}

/// The value at the share [`TOP`] of the readings in rising order, if enough of them lie near it.
fn peak(mut readings: Vec<f64>) -> Option<f64> {
    if readings.len() < FEWEST_READINGS {
        return None;
    }
    readings.sort_by(f64::total_cmp);
    let usual = *readings.get((readings.len() as f64 * TOP) as usize)?;
    let near = readings
        .iter()
        .filter(|&&rate| (rate / usual - 1.0).abs() <= PEAK)
        .count();
    (near as f64 >= readings.len() as f64 * PEAK_SHARE).then_some(usual)
}

/// Whether each thread of `work` has a core that no other one of them uses, by the topology.
pub(super) fn apart(work: &Work, facts: &HostFacts) -> bool {
    let places = Places::new(&facts.topology);
    let same = |pair: &[u32]| {
        pair[0] == pair[1] || places.relation(pair[0], pair[1]) == Relation::SameCore
    };
    !places.ordered(work.cpus()).windows(2).any(same)
}

/// Marks the samples beside which the core was shared, where `usual` is what it begins alone.
pub(super) fn mark<'a>(samples: impl Iterator<Item = &'a mut RecordedSample>, usual: Option<f64>) {
    for taken in samples {
        taken.seen.smt_interference = usual
            .zip(taken.seen.ipc)
            .is_some_and(|(usual, rate)| rate < usual * SHARED);
    }
}

/// What is to be said of the samples of a point; `None` where nothing can be told.
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
    use crate::work::LockWork;
    use kernels::LockOperation;

    #[test]
    fn what_is_usual_is_what_the_core_begins_alone() {
        // A sixth of the time alone is enough, whatever the rest shows.
        let mixed = |alone: usize, shared: usize| {
            let low = (0..shared).map(|i| 2.0 + 2.4 * (i as f64 / shared as f64));
            peak(
                (0..alone)
                    .map(|i| 4.89 + 0.001 * (i % 10) as f64)
                    .chain(low)
                    .collect(),
            )
        };
        assert!((mixed(100, 0).unwrap() - 4.9).abs() < 0.01);
        assert!((mixed(16, 84).unwrap() - 4.9).abs() < 0.01);
        assert_eq!(mixed(19, 0), None, "too few");
        // Nothing but scatter.
        assert_eq!(peak((0..100).map(|i| 1.0 + 0.1 * i as f64).collect()), None);
        // A few readings whose clock was interrupted.
        let high = (0..100).map(|i| if i < 3 { 6.2 } else { 4.9 }).collect();
        assert_eq!(peak(high), Some(4.9));
        // Threads that share a core unknown to the system: that is how this machine is, and the few
        // that read alone are no measure.
        let together = (0..100).map(|i| if i < 4 { 4.9 } else { 2.45 }).collect();
        assert_eq!(peak(together), Some(2.45));
    }

    #[test]
    fn the_baseline_is_no_less_than_what_is_documented() {
        let cases = [
            (Some(5.69), Some(6), Some(5.69)), // Zen 5, alone
            (Some(3.2), Some(6), Some(5.4)),   // beside somebody from beginning to end
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
    fn what_was_usual_is_not_forgotten_while_somebody_stays() {
        let mut readings = Readings::default();
        (0..20_000).for_each(|_| readings.note(4.9));
        (0..60_000).for_each(|i| readings.note(2.0 + 0.00004 * f64::from(i)));
        assert!(readings.kept.len() < MOST_READINGS && readings.kept.len() >= MOST_READINGS / 2);
        assert_eq!(peak(readings.kept), Some(4.9));
    }

    #[test]
    fn several_cpus_are_held_against_themselves_and_else_against_each_alone() {
        let lock = |cpus: &[u32]| {
            let operation = LockOperation::ALL[0];
            let shared = false;
            Work::Lock(LockWork {
                operation,
                cpus: cpus.to_vec(),
                shared,
                inside: 0,
                between: 0,
            })
        };
        let seen = |rate: f64| Observation {
            ipc: Some(rate),
            ..Default::default()
        };
        let mut rates = Baselines::default();
        for i in 0..50 {
            rates.note(&lock(&[0]), &seen(4.9));
            rates.note(&lock(&[1]), &seen(4.8));
            rates.note(&lock(&[0, 1]), &seen(1.0 + 0.07 * f64::from(i)));
            rates.note(&lock(&[0, 2]), &seen(2.4));
        }
        assert_eq!(rates.usual(&lock(&[0])), Some(4.9));
        assert_eq!(
            rates.usual(&lock(&[0, 1])),
            Some(4.8),
            "their own say nothing"
        );
        assert_eq!(rates.usual(&lock(&[0, 2])), Some(2.4));
        assert_eq!(rates.usual(&lock(&[0, 3])), None);
    }

    #[test]
    fn samples_of_a_shared_core_are_marked_and_counted() {
        let taken = |rate: Option<f64>| RecordedSample {
            round: 0,
            allocation: 0,
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
        mark(samples.iter_mut(), None);
        assert!(
            samples.iter().all(|t| !t.seen.smt_interference) && evidence(&samples, None).is_none()
        );
    }
}
