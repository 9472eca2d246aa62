//! Finds for each round how near to each other the host of a virtual machine ran its vCPUs.
//!
//! A host runs the vCPUs of its guests on any core. Two vCPUs may be on hardware threads of one
//! core, on cores with a common cache, or on cores without a common cache. The guest's kernel does
//! not see the placement. Round trips of a cache line between the two vCPUs show the placement. The
//! times of two placements differ by factors. See docs/method/virtual-cpus.md.

use super::baselines::Baselines;
use super::disturbance::disturbances;
use super::recorded::RecordedSample;
use crate::machine::{Machine, Observation};
use crate::work::{HandOffWork, Work};
use kernels::HandOff;
use report::{HostFacts, Places, Relation, VcpuPlacement};
use std::collections::{BTreeMap, BTreeSet};
use units::Nanos;

/// Largest number of pairs of CPUs whose hand-off is timed before and after a round. Each pair
/// takes some tens of microseconds. If there are more pairs, they take turns.
const PAIRS: usize = 6;

/// Sorted round trips belong to different placements if successive times differ by at least this
/// factor. Round trips of one placement scatter by tens of percents.
const APART: f64 = 1.5;

/// A placement counts only if a session has at least this number of readings of it. An interruption
/// can make a single reading too long.
const FEWEST_READINGS: usize = 2;

/// Upper limits of the round trips between two CPUs that share a core, a cache or a package.
///
/// The borders lie between published round trips. Published one-way latencies (README of
/// core-to-core-latency) were doubled. Hardware threads of a core: 8 to 20 ns. Cores of one core
/// complex of AMD Zen 1 to 3: 32 to 50 ns. Cores of one Intel or Arm package: 40 to 102 ns. Cores
/// of two complexes of one AMD package: 170 to 230 ns. Cores of two AMD packages: 394 ns. Cores of
/// two Intel packages: 216 to 272 ns.
struct Borders {
    same_core: Nanos,
    shared_cache: Nanos,
    same_package: Nanos,
}

impl Borders {
    /// Borders for processors of `vendor`, as CPUID spells it. AMD packages have several last-level
    /// caches; the packages of other vendors have one.
    fn for_vendor(vendor: Option<&str>) -> Self {
        let several_caches = matches!(vendor, Some("AuthenticAMD" | "HygonGenuine"));
        let (shared_cache, same_package) = if several_caches {
            (Nanos(90.0), Nanos(310.0))
        } else {
            (Nanos(160.0), Nanos(160.0))
        };
        Self {
            same_core: Nanos(27.0),
            shared_cache,
            same_package,
        }
    }

    fn placement(&self, round_trip: Nanos) -> VcpuPlacement {
        if round_trip < self.same_core {
            VcpuPlacement::SameCore
        } else if round_trip < self.shared_cache {
            VcpuPlacement::SharedCache
        } else if round_trip < self.same_package {
            VcpuPlacement::SamePackage
        } else {
            VcpuPlacement::OtherPackage
        }
    }
}

/// The placements of a session: groups of round trips that are far apart. The median of a group
/// determines its placement.
struct Placements {
    /// Longest round trip of each group in ns, and the group's placement; in rising order of the
    /// round trip. The placement is `None` if the group has too few readings.
    groups: Vec<(f64, Option<VcpuPlacement>)>,
}

impl Placements {
    /// Groups the round trips `times` of a session, in ns.
    fn find(mut times: Vec<f64>, borders: &Borders) -> Self {
        times.sort_by(f64::total_cmp);
        let groups = times.chunk_by(|shorter, longer| longer / shorter < APART);
        let named = groups.filter_map(|group| {
            let longest = *group.last()?;
            let median = Nanos(stats::median(group)?);
            let placement = borders.placement(median);
            Some((
                longest,
                (group.len() >= FEWEST_READINGS).then_some(placement),
            ))
        });
        Self {
            groups: named.collect(),
        }
    }

    /// Placement that a round trip of `time` ns shows; `None` if its group has too few readings.
    fn placement(&self, time: f64) -> Option<VcpuPlacement> {
        self.groups.iter().find(|group| time <= group.0)?.1
    }
}

/// Placement of the vCPUs on the host's cores in one round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RoundPlacement {
    /// The placement; `None` if no reading shows it.
    pub placement: Option<VcpuPlacement>,
    /// True if the placement changed between the readings before and after the round.
    pub moved: bool,
    /// Shortest median round trip of all pairs that were timed in the round, in ns.
    pub round_trip: f64,
}

/// Round trips between pairs of CPUs of a point, and the placements that the round trips show.
#[derive(Debug, Clone, Default)]
pub struct PlacementLog {
    readings: BTreeMap<[u32; 2], Vec<(u32, f64)>>,
    rounds: BTreeMap<u32, RoundPlacement>,
    headline: Option<VcpuPlacement>,
    one_core: bool,
}

impl PlacementLog {
    /// Times round trips of the pairs whose turn it is in `round`, and notes them here and in
    /// `baselines`.
    pub fn read(
        &mut self,
        machine: &mut dyn Machine,
        baselines: &mut Baselines,
        work: &Work,
        round: u32,
    ) {
        for pair in pairs(work, machine.facts(), round as usize) {
            let seen = machine.hand_off(pair);
            if let Some(time) = seen
                .and_then(|seen| round_trip(pair, &seen))
                .filter(|time| time.0 > 0.0)
            {
                self.readings.entry(pair).or_default().push((round, time.0));
                baselines.note_round_trip(pair, time.0);
            }
        }
    }

    /// Finds the placement of each round from all readings of the session, and sets `placement` and
    /// `host_moved` of the samples.
    pub(super) fn mark<'a>(
        &mut self,
        facts: &HostFacts,
        baselines: &Baselines,
        samples: impl Iterator<Item = &'a mut RecordedSample>,
    ) {
        if self.readings.is_empty() {
            return;
        }
        let vendor = facts.cpu.vendor.get().map(String::as_str);
        let borders = Borders::for_vendor(vendor);
        let placements = Placements::find(baselines.round_trips(), &borders);
        self.one_core = self.readings.values().any(|readings| {
            let times: Vec<f64> = readings.iter().map(|r| r.1).collect();
            stats::median(&times).is_some_and(|median| median < borders.same_core.0)
        });
        self.rounds = self.rounds_by(&placements);
        self.headline = self.most_frequent(&placements, baselines);
        for taken in samples {
            let round = self.rounds.get(&taken.round);
            taken.placement = round.and_then(|round| round.placement);
            taken.seen.host_moved = round.is_some_and(|round| round.moved);
        }
    }

    /// The placement of each round.
    ///
    /// If only one pair of vCPUs was timed, the round trips of this pair in the round decide. With
    /// several pairs, a round has the placement that is usual for most pairs. The exception is a
    /// round in which a pair was on one core, although the pair usually is not. The placement of
    /// this round is one core. Other moves are ignored, because the host moves some of many CPUs in
    /// every round.
    fn rounds_by(&self, placements: &Placements) -> BTreeMap<u32, RoundPlacement> {
        let usual: BTreeMap<[u32; 2], VcpuPlacement> = self
            .readings
            .iter()
            .filter_map(|(pair, readings)| {
                let all = readings.iter().filter_map(|r| placements.placement(r.1));
                Some((*pair, mode(all)?))
            })
            .collect();
        let of_most = mode(usual.values().copied());
        let several = self.readings.len() > 1;
        let mut rounds: BTreeMap<u32, RoundPlacement> = BTreeMap::new();
        for (pair, readings) in &self.readings {
            for in_round in readings.chunk_by(|a, b| a.0 == b.0) {
                let times: Vec<f64> = in_round.iter().map(|r| r.1).collect();
                let found: BTreeSet<VcpuPlacement> = times
                    .iter()
                    .filter_map(|&time| placements.placement(time))
                    .collect();
                let on_one_core = found.contains(&VcpuPlacement::SameCore)
                    && usual.get(pair) != Some(&VcpuPlacement::SameCore);
                let decides = !several || on_one_core;
                let this = RoundPlacement {
                    placement: if decides {
                        found.first().copied()
                    } else {
                        of_most
                    },
                    moved: decides && found.len() > 1,
                    round_trip: stats::median(&times).unwrap_or(f64::INFINITY),
                };
                let round = rounds.entry(in_round[0].0).or_insert(this);
                if on_one_core {
                    round.placement = this.placement;
                }
                round.moved |= this.moved;
                round.round_trip = round.round_trip.min(this.round_trip);
            }
        }
        rounds
    }

    /// The placement of the headline: the most frequent placement of the rounds. If only one pair
    /// of CPUs was timed, the pair's most frequent placement in the whole session is preferred.
    /// This requires that enough rounds of the point had it. All values of a table then have the
    /// same placement.
    fn most_frequent(
        &self,
        placements: &Placements,
        baselines: &Baselines,
    ) -> Option<VcpuPlacement> {
        let here = || {
            self.rounds
                .values()
                .filter(|r| !r.moved)
                .filter_map(|r| r.placement)
        };
        let of_session = match self.readings.keys().collect::<Vec<_>>().as_slice() {
            [pair] => {
                let times = baselines.round_trips_of(**pair).iter();
                mode(times.filter_map(|&time| placements.placement(time)))
            }
            _ => None,
        };
        of_session
            .filter(|placement| here().filter(|p| p == placement).count() >= FEWEST_ROUNDS)
            .or_else(|| mode(here()))
    }

    /// Placement of the headline; `None` without readings.
    pub(super) fn headline(&self) -> Option<VcpuPlacement> {
        self.headline
    }

    /// True if two CPUs were on one core most of the time, even if the topology says otherwise.
    pub(super) fn is_one_core(&self) -> bool {
        self.one_core
    }

    /// Placements of the rounds so far.
    pub(super) fn rounds(&self) -> impl Iterator<Item = &RoundPlacement> {
        self.rounds.values()
    }

    /// The two CPUs with the shortest round trip; `None` without readings.
    pub(super) fn nearest_pair(&self) -> Option<[u32; 2]> {
        let least = |readings: &[(u32, f64)]| {
            let times = readings.iter().map(|r| r.1);
            times.fold(f64::INFINITY, f64::min)
        };
        let pairs = self.readings.iter();
        let (pair, _) = pairs.min_by(|a, b| least(a.1).total_cmp(&least(b.1)))?;
        Some(*pair)
    }
}

/// The session's placement becomes the headline's only if at least this number of rounds of the
/// point had it. Fewer rounds give no 95% interval.
const FEWEST_ROUNDS: usize = 6;

/// The most frequent of `all` placements. If several are equally frequent, the result is the one in
/// which the CPUs are nearest. `None` without placements.
fn mode(all: impl Iterator<Item = VcpuPlacement>) -> Option<VcpuPlacement> {
    let mut counts: BTreeMap<VcpuPlacement, usize> = BTreeMap::new();
    for one in all {
        *counts.entry(one).or_default() += 1;
    }
    let (placement, _) = counts.into_iter().rev().max_by_key(|(_, count)| *count)?;
    Some(placement)
}

/// Time of one round trip between the CPUs of `pair`. `None` if a thread was interrupted, which
/// makes the reading too long.
fn round_trip(pair: [u32; 2], seen: &Observation) -> Option<Nanos> {
    let work = HandOffWork {
        kernel: HandOff::CompareAndSwap,
        cpus: pair,
        lines: 1,
    };
    let undisturbed = seen.amount > 0 && disturbances(&Work::HandOff(work), seen).is_empty();
    undisturbed.then(|| seen.elapsed * (1.0 / seen.amount as f64))
}

/// Pairs of CPUs of `work` to time in `round`. Pairs that share a core according to the topology
/// are left out. Empty outside of a virtual machine.
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
    // With many CPUs, only pairs with neighbouring numbers are timed. The host moves CPUs one at a
    // time, and there would be thousands of pairs.
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
    use report::VcpuPlacement::{OtherPackage, SameCore, SamePackage, SharedCache};

    fn borders(vendor: &str) -> Borders {
        Borders::for_vendor(Some(vendor))
    }

    /// The log of a pair whose round trips before and after each round are `times`, and the
    /// placements of a session with these readings only.
    fn logged(times: &[[f64; 2]]) -> (PlacementLog, Baselines, Placements) {
        let mut log = PlacementLog::default();
        let mut baselines = Baselines::default();
        for (round, both) in times.iter().enumerate() {
            for &time in both {
                let readings = log.readings.entry([0, 1]).or_default();
                readings.push((round as u32, time));
                baselines.note_round_trip([0, 1], time);
            }
        }
        let placements = Placements::find(baselines.round_trips(), &borders("AuthenticAMD"));
        log.rounds = log.rounds_by(&placements);
        log.headline = log.most_frequent(&placements, &baselines);
        (log, baselines, placements)
    }

    #[test]
    fn round_trips_are_named_by_published_figures() {
        for (vendor, time, expected) in [
            ("AuthenticAMD", 20.8, SameCore),
            ("AuthenticAMD", 50.7, SharedCache),
            ("AuthenticAMD", 219.0, SamePackage),
            ("AuthenticAMD", 394.0, OtherPackage),
            ("GenuineIntel", 16.2, SameCore),
            ("GenuineIntel", 102.0, SharedCache),
            ("GenuineIntel", 216.0, OtherPackage),
            ("0x41", 94.0, SharedCache),
        ] {
            assert_eq!(
                borders(vendor).placement(Nanos(time)),
                expected,
                "{vendor} {time}"
            );
        }
    }

    #[test]
    fn round_trips_of_one_placement_have_one_name() {
        let found = |times: &[f64]| {
            let placements = Placements::find(times.to_vec(), &borders("AuthenticAMD"));
            let mut named: Vec<_> = times.iter().map(|&t| placements.placement(t)).collect();
            named.dedup();
            named
        };
        // The times lie on both sides of a border, and their median decides.
        assert_eq!(found(&[70.0, 84.0, 88.0, 92.0, 97.0]), [Some(SharedCache)]);
        assert_eq!(
            found(&[21.0, 20.5, 51.0, 53.0, 219.0, 221.0]),
            [Some(SameCore), Some(SharedCache), Some(SamePackage)]
        );
        // A single long reading may have been interrupted.
        assert_eq!(found(&[51.0, 50.0, 900.0]), [Some(SharedCache), None]);
        assert_eq!(found(&[51.0]), [None]);
    }

    #[test]
    fn a_round_has_the_placement_before_and_after_it() {
        let near = [51.0, 50.5];
        let far = [219.0, 220.0];
        let (log, ..) = logged(&[far, near, [219.0, 50.9], far]);
        let rounds: Vec<_> = log.rounds().map(|r| (r.placement, r.moved)).collect();
        assert_eq!(
            rounds,
            [
                (Some(SamePackage), false),
                (Some(SharedCache), false),
                (Some(SharedCache), true),
                (Some(SamePackage), false)
            ]
        );
        assert_eq!(log.headline(), Some(SamePackage));
    }

    #[test]
    fn samples_of_a_round_in_which_the_host_moved_a_cpu_are_disturbed() {
        let far = [219.0, 220.0];
        let (mut log, baselines, _) = logged(&[far, [219.0, 50.9], [51.0, 50.5], far]);
        let mut facts = HostFacts::unknown("told by the test");
        facts.cpu.vendor = report::Fact::known("AuthenticAMD".to_owned(), "told by the test");
        let mut samples = [0, 1, 2, 3, 4].map(|round| RecordedSample {
            round,
            allocation: 0,
            placement: None,
            seen: Observation::default(),
        });
        log.mark(&facts, &baselines, samples.iter_mut());
        let seen = samples
            .each_ref()
            .map(|taken| (taken.placement, taken.seen.host_moved));
        assert_eq!(
            seen,
            [
                (Some(SamePackage), false),
                (Some(SharedCache), true),
                (Some(SharedCache), false),
                (Some(SamePackage), false),
                (None, false)
            ]
        );
    }

    #[test]
    fn the_headline_has_the_placement_of_most_of_the_session() {
        let near = [51.0, 50.5];
        let far = [219.0, 220.0];
        let (mut log, mut baselines, _) = logged(&[[near; 8].as_slice(), &[far; 7]].concat());
        let placements =
            |all: &Baselines| Placements::find(all.round_trips(), &borders("AuthenticAMD"));
        assert_eq!(log.headline(), Some(SharedCache));
        // Other points of the session were measured without a shared cache.
        (0..20).for_each(|_| baselines.note_round_trip([0, 1], 219.5));
        assert_eq!(
            log.most_frequent(&placements(&baselines), &baselines),
            Some(SamePackage)
        );
        // Now too few rounds of this point had the placement of the session.
        log.rounds.retain(|round, _| *round < 10);
        assert_eq!(
            log.most_frequent(&placements(&baselines), &baselines),
            Some(SharedCache)
        );
    }

    #[test]
    fn of_several_pairs_one_on_one_core_decides() {
        let mut log = PlacementLog::default();
        for round in 0..6 {
            for (pair, usual) in [([0, 1], 51.0), ([0, 2], 219.0), ([1, 2], 220.0)] {
                let on_one_core = round == 3 && pair == [0, 2];
                let time = if on_one_core { 20.7 } else { usual };
                log.readings.entry(pair).or_default().push((round, time));
            }
        }
        let all = log.readings.values().flatten().map(|r| r.1).chain([20.8]);
        let placements = Placements::find(all.collect(), &borders("AuthenticAMD"));
        log.rounds = log.rounds_by(&placements);
        let found: Vec<_> = log.rounds().filter_map(|r| r.placement).collect();
        let [usual, one_core] = [SamePackage, SameCore];
        assert_eq!(found, [usual, usual, usual, one_core, usual, usual]);
        assert_eq!(log.nearest_pair(), Some([0, 2]));
    }

    #[test]
    fn an_interrupted_reading_tells_nothing() {
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
}
