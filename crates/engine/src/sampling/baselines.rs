//! Baselines of a session: IPC and core clock of its CPUs when nothing disturbs them, and the time
//! that samples take divided by their requested length.

use crate::machine::Observation;
use crate::work::Work;
use std::collections::BTreeMap;
use units::{Hertz, Nanos};

/// Largest number of readings that are kept for each set of CPUs. Kept readings are spread over the
/// whole session, because other programs may disturb many seconds in a row.
const MAX_READINGS: usize = 2048;

/// Fewest readings from which a baseline is computed.
const FEWEST_READINGS: usize = 20;

/// The baseline is this quantile of the readings. The highest reading is not used: a reading is too
/// high if the measurement of the clock was interrupted.
const TOP: f64 = 0.95;

/// Least share of the readings that must lie within [`PEAK`] of the baseline. If readings scatter
/// more, as in an emulator, there is no baseline.
const PEAK_SHARE: f64 = 0.1;

/// A reading supports a baseline if its relative distance from the baseline is at most this large.
const PEAK: f64 = 0.02;

/// Readings of a session, by the CPUs of the work that was measured.
#[derive(Debug, Clone, Default)]
pub struct Baselines {
    ipc: BTreeMap<Vec<u32>, Readings>,
    clocks: BTreeMap<Vec<u32>, Readings>,
    /// Round trips of a cache line between two CPUs, in ns.
    round_trips: BTreeMap<[u32; 2], Readings>,
    /// Requested lengths of all samples so far.
    lengths: Nanos,
    /// Durations of all samples so far.
    durations: Nanos,
}

/// A series of readings with a limited length. Each time the series is full, every second reading
/// is dropped.
#[derive(Debug, Clone, Default)]
struct Readings {
    kept: Vec<f64>,
    seen: u64,
    /// Number of halvings: the series keeps one of 2^`halvings` readings.
    halvings: u32,
}

impl Readings {
    fn note(&mut self, reading: f64) {
        if self.seen.is_multiple_of(1 << self.halvings.min(63)) {
            self.kept.push(reading);
        }
        self.seen += 1;
        if self.kept.len() >= MAX_READINGS {
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
    /// Notes the IPC and the core clock that `seen`, a sample of `work`, shows.
    pub fn note(&mut self, work: &Work, seen: &Observation) {
        let cpus = || work.cpus().to_vec();
        if let Some(clock) = seen
            .core
            .filter(|clock| clock.0.is_finite() && work.computes())
        {
            self.clocks.entry(cpus()).or_default().note(clock.0);
        }
        if let Some(ipc) = seen.ipc.filter(|ipc| ipc.is_finite()) {
            self.ipc.entry(cpus()).or_default().note(ipc);
        }
    }

    /// Notes a round trip of `time` ns between the CPUs of `pair`.
    pub fn note_round_trip(&mut self, pair: [u32; 2], time: f64) {
        self.round_trips.entry(pair).or_default().note(time);
    }

    /// Round trips between the CPUs of all pairs, in ns.
    pub fn round_trips(&self) -> Vec<f64> {
        let all = self.round_trips.values();
        all.flat_map(|readings| &readings.kept).copied().collect()
    }

    /// Round trips between the CPUs of `pair`, in ns.
    pub fn round_trips_of(&self, pair: [u32; 2]) -> &[f64] {
        self.round_trips
            .get(&pair)
            .map_or(&[], |readings| &readings.kept)
    }

    /// Notes that a sample with the requested length `requested` took the time `took`.
    pub fn note_duration(&mut self, requested: Nanos, took: Nanos) {
        self.lengths += requested;
        self.durations += took;
    }

    /// Expected duration of a sample of the length `requested`; zero before the first sample.
    pub fn expected_duration(&self, requested: Nanos) -> Nanos {
        if self.lengths > Nanos::ZERO {
            requested * (self.durations.0 / self.lengths.0)
        } else {
            Nanos::ZERO
        }
    }

    /// IPC baseline of the cores of `work`; `None` while the readings do not show one.
    ///
    /// The baseline of all CPUs of the work together is preferred, because two threads may share a
    /// core although the topology lists two cores. If there is no such baseline, the lowest
    /// baseline of the single CPUs counts.
    pub fn ipc(&self, work: &Work) -> Option<f64> {
        let baseline = |cpus: &[u32]| peak(self.ipc.get(cpus)?.kept.clone());
        let of_each = || {
            work.cpus()
                .iter()
                .map(|&cpu| baseline(&[cpu]))
                .collect::<Option<Vec<f64>>>()
        };
        baseline(work.cpus()).or_else(|| of_each()?.into_iter().reduce(f64::min))
    }

    /// Core clock that the CPUs of `work` reach in this session when nothing slows them. `None`
    /// while too few readings agree on a clock.
    pub fn clock(&self, work: &Work) -> Option<Hertz> {
        peak(self.clocks.get(work.cpus())?.kept.clone()).map(Hertz)
    }
}

/// The [`TOP`] quantile of the readings; `None` if too few readings lie near it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::LockWork;
    use kernels::LockOperation;

    #[test]
    fn a_sample_is_expected_to_take_as_long_as_those_before() {
        let mut baselines = Baselines::default();
        assert_eq!(baselines.expected_duration(Nanos(10.0)), Nanos::ZERO);
        baselines.note_duration(Nanos(1.0), Nanos(2.0));
        baselines.note_duration(Nanos(3.0), Nanos(10.0));
        assert_eq!(baselines.expected_duration(Nanos(10.0)), Nanos(30.0));
    }

    #[test]
    fn the_baseline_is_the_undisturbed_value() {
        // A core that is undisturbed for a sixth of the time has a baseline, even if its other
        // readings scatter.
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
        // Readings that scatter have no baseline.
        assert_eq!(peak((0..100).map(|i| 1.0 + 0.1 * i as f64).collect()), None);
        // A few readings are too high, because their clock measurement was interrupted.
        let high = (0..100).map(|i| if i < 3 { 6.2 } else { 4.9 }).collect();
        assert_eq!(peak(high), Some(4.9));
        // Two threads share a core, although the system does not know it. This is the normal state
        // of the machine, so that the few readings of a thread alone do not count.
        let together = (0..100).map(|i| if i < 4 { 4.9 } else { 2.45 }).collect();
        assert_eq!(peak(together), Some(2.45));
    }

    #[test]
    fn a_long_disturbance_does_not_replace_the_baseline() {
        let mut readings = Readings::default();
        (0..20_000).for_each(|_| readings.note(4.9));
        (0..60_000).for_each(|i| readings.note(2.0 + 0.00004 * f64::from(i)));
        assert!(readings.kept.len() < MAX_READINGS && readings.kept.len() >= MAX_READINGS / 2);
        assert_eq!(peak(readings.kept), Some(4.9));
    }

    #[test]
    fn several_cpus_have_a_baseline_of_their_own_or_the_lowest_of_each() {
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
        assert_eq!(rates.ipc(&lock(&[0])), Some(4.9));
        assert_eq!(
            rates.ipc(&lock(&[0, 1])),
            Some(4.8),
            "their own say nothing"
        );
        assert_eq!(rates.ipc(&lock(&[0, 2])), Some(2.4));
        assert_eq!(rates.ipc(&lock(&[0, 3])), None);
    }
}
