//! Detects that the host of a virtual machine moved vCPUs closer to each other while a point was
//! measured.
//!
//! A host schedules the CPUs of its guests freely. Two CPUs of the guest may for a while be two
//! hardware threads of one core. That halves their read bandwidth from the first cache, and the
//! guest's kernel does not count it. The round trip of a cache line between the two CPUs shows it:
//! it is shorter by a factor of three to ten.

use super::disturbance::disturbances;
use super::recorded::RecordedSample;
use crate::machine::{Machine, Observation};
use crate::work::{HandOffWork, Work};
use kernels::HandOff;
use report::{HostFacts, Places, Relation, VcpuPlacementEvidence};
use std::collections::{BTreeMap, BTreeSet};
use units::Nanos;

/// Pairs whose hand-off is read around a round. Each takes some tens of microseconds. If there are
/// more pairs, they take turns.
const PAIRS: usize = 6;

/// Smallest factor between round trips of different distances. Round trips at one distance scatter
/// by tens of percents.
const APART: f64 = 2.5;

/// Fewest readings of a pair that have to lie above the others. A single long reading may have been
/// interrupted.
const FEWEST_FAR: usize = 2;

/// Longest round trip of two hardware threads of one core. Published round trips of such threads
/// are 8 to 21 ns, and those of the nearest two cores 32 ns and more (docs/method/core-to-core.md
/// has the sources).
pub const ONE_CORE: Nanos = Nanos(27.0);

/// Round trips of the pairs of a point, each with its round.
#[derive(Debug, Clone, Default)]
pub struct VcpuPlacement {
    readings: BTreeMap<[u32; 2], Vec<(u32, f64)>>,
}

impl VcpuPlacement {
    /// Reads the pairs whose turn it is in `round`.
    pub fn read(&mut self, machine: &mut dyn Machine, work: &Work, round: u32) {
        for pair in pairs(work, machine.facts(), round as usize) {
            let seen = machine.hand_off(pair);
            if let Some(time) = seen
                .and_then(|seen| round_trip(pair, &seen))
                .filter(|time| time.0 > 0.0)
            {
                self.readings.entry(pair).or_default().push((round, time.0));
            }
        }
    }

    /// Marks the samples of the rounds in which two CPUs were closer than usual.
    pub(super) fn mark<'a>(&self, samples: impl Iterator<Item = &'a mut RecordedSample>) {
        let closer = self.closer();
        for taken in samples {
            taken.seen.co_scheduled = closer.contains(&taken.round);
        }
    }

    /// Rounds in which two CPUs were closer than usual.
    fn closer(&self) -> BTreeSet<u32> {
        let below = |readings: &Vec<(u32, f64)>| {
            let border = border(readings).unwrap_or(0.0);
            readings
                .iter()
                .filter(|r| r.1 < border)
                .map(|r| r.0)
                .collect::<Vec<u32>>()
        };
        self.readings.values().flat_map(below).collect()
    }

    /// True if two CPUs were threads of one core most of the time, whatever the topology says.
    pub(super) fn is_one_core(&self) -> bool {
        let median = |readings: &Vec<(u32, f64)>| {
            stats::median(&readings.iter().map(|r| r.1).collect::<Vec<f64>>())
        };
        self.readings
            .values()
            .filter_map(median)
            .any(|median| median < ONE_CORE.0)
    }

    /// The evidence for the report; `None` without readings.
    pub fn evidence(&self) -> Option<VcpuPlacementEvidence> {
        let all = || self.readings.values().flatten();
        let rounds: BTreeSet<u32> = all().map(|r| r.0).collect();
        // The report shows the pair with the shortest round trip.
        let (pair, readings) = self
            .readings
            .iter()
            .min_by(|a, b| least(a.1).total_cmp(&least(b.1)))?;
        let border = border(readings).unwrap_or(0.0);
        let far: Vec<f64> = readings
            .iter()
            .map(|r| r.1)
            .filter(|&time| time >= border)
            .collect();
        Some(VcpuPlacementEvidence {
            cpus: *pair,
            co_scheduled_rounds: self.closer().len() as u64,
            one_core: self.is_one_core(),
            rounds: rounds.len() as u64,
            nearest_ns: least(readings),
            usual_ns: stats::median(&far)?,
        })
    }
}

/// Time of one round trip between `pair`; `None` if either thread was interrupted. An interrupted
/// reading is too long. A few of them would be taken for the usual distance, and then all others
/// for a short one.
fn round_trip(pair: [u32; 2], seen: &Observation) -> Option<Nanos> {
    let work = HandOffWork {
        kernel: HandOff::CompareAndSwap,
        cpus: pair,
        lines: 1,
    };
    let undisturbed = seen.amount > 0 && disturbances(&Work::HandOff(work), seen).is_empty();
    undisturbed.then(|| seen.elapsed * (1.0 / seen.amount as f64))
}

fn least(readings: &[(u32, f64)]) -> f64 {
    readings.iter().map(|r| r.1).fold(f64::INFINITY, f64::min)
}

/// Round-trip time below which a pair was closer than usual. It lies in the widest gap of the
/// readings; `None` if the gap is narrow or too few readings lie above it.
fn border(readings: &[(u32, f64)]) -> Option<f64> {
    let mut times: Vec<f64> = readings.iter().map(|r| r.1).collect();
    times.sort_by(f64::total_cmp);
    let last = times.len().checked_sub(FEWEST_FAR)?;
    let gaps = (1..=last).filter_map(|i| Some((*times.get(i - 1)?, *times.get(i)?)));
    let (low, high) = gaps.max_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)))?;
    (high / low >= APART).then(|| (low * high).sqrt())
}

/// Pairs of CPUs of `work` to probe in `round`. Empty outside of a virtual machine. Pairs that
/// share a core according to the topology are left out.
fn pairs(work: &Work, facts: &HostFacts, round: usize) -> Vec<[u32; 2]> {
    let is_virtual = facts
        .system
        .virtualization
        .get()
        .is_some_and(|name| name != "none");
    if !is_virtual || !work.computes() || work.is_oversubscribed() {
        return Vec::new();
    }
    let cpus: BTreeSet<u32> = work.cpus().iter().copied().collect();
    let cpus: Vec<u32> = cpus.into_iter().collect();
    if cpus.len() < 2 {
        return Vec::new();
    }
    let places = Places::new(&facts.topology);
    let apart = |pair: &[u32; 2]| places.relation(pair[0], pair[1]) != Relation::SameCore;
    // With many CPUs, only pairs with neighbouring numbers. The host moves CPUs one by one, and all
    // pairs would be thousands.
    let reach = if cpus.len() <= 2 * PAIRS {
        cpus.len()
    } else {
        2
    };
    let all: Vec<[u32; 2]> = (1..reach)
        .flat_map(|step| {
            cpus.windows(step + 1)
                .map(move |between| [between[0], between[step]])
        })
        .filter(apart)
        .collect();
    let count = all.len().min(PAIRS);
    all.iter()
        .copied()
        .cycle()
        .skip(round * count % all.len().max(1))
        .take(count)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Gaps;
    use host::noise::ThreadNoise;

    fn read_times(times: &[f64]) -> VcpuPlacement {
        let readings = times
            .iter()
            .enumerate()
            .map(|(round, &time)| (round as u32, time))
            .collect();
        VcpuPlacement {
            readings: BTreeMap::from([([0, 1], readings)]),
        }
    }

    #[test]
    fn rounds_with_short_hand_offs_among_long_ones_are_told() {
        let seen = read_times(&[150.0, 148.0, 17.0, 152.0, 16.0, 180.0]);
        assert_eq!(seen.closer(), BTreeSet::from([2, 4]));
        let told = seen.evidence().unwrap();
        assert_eq!(
            (
                told.cpus,
                told.co_scheduled_rounds,
                told.rounds,
                told.nearest_ns
            ),
            ([0, 1], 2, 6, 16.0)
        );
        assert!(
            (148.0..=152.0).contains(&told.usual_ns),
            "{}",
            told.usual_ns
        );
    }

    #[test]
    fn two_threads_of_a_core_are_known_by_their_round_trip() {
        for (times, one_core) in [
            (&[21.0, 20.0, 22.0][..], true),
            (&[16.0, 16.0, 54.0], true),
            (&[54.0, 53.0, 61.0], false),
            (&[34.0, 33.0], false),
            (&[21.0, 54.0, 55.0], false),
            (&[], false),
        ] {
            assert_eq!(read_times(times).is_one_core(), one_core, "{times:?}");
        }
    }

    #[test]
    fn a_look_that_was_interrupted_tells_nothing() {
        let quiet = ThreadNoise::default();
        let seen = |switches: u64, gap: f64, amount: u64| Observation {
            elapsed: Nanos(30e3),
            amount,
            noise: Some(ThreadNoise {
                involuntary_switches: switches,
                ..quiet
            }),
            gaps: Gaps {
                total: Nanos(gap),
                longest: Nanos(gap),
            },
            found_on: Some(vec![0, 1]),
            ..Default::default()
        };
        assert_eq!(round_trip([0, 1], &seen(0, 0.0, 200)), Some(Nanos(150.0)));
        for disturbed in [seen(1, 0.0, 200), seen(0, 20e3, 60), seen(0, 0.0, 0)] {
            assert_eq!(round_trip([0, 1], &disturbed), None, "{disturbed:?}");
        }
    }

    #[test]
    fn scatter_a_single_long_one_and_one_kind_only_are_no_move() {
        for times in [
            &[150.0, 90.0, 120.0, 200.0][..],
            &[17.0, 16.0, 17.0, 900.0],
            &[17.0; 5],
            &[150.0],
            &[],
        ] {
            assert!(read_times(times).closer().is_empty(), "{times:?}");
        }
        assert_eq!(read_times(&[]).evidence().map(|told| told.rounds), None);
        // Most readings are short and two are long: the two long ones show the usual placement.
        assert_eq!(
            read_times(&[17.0, 17.0, 150.0, 16.0, 140.0]).closer().len(),
            3
        );
    }
}
