//! Tests of the rule for TLB levels, on curves with known answers.

use super::analysis::{Boundary, CurveBoundaries, PagesSeen, RejectionReason, levels};
use stats::SplitMix64;

/// Lines in a 4 KiB page.
const RATIO: u64 = 64;

const ROUNDS: u32 = 12;

/// A simulated processor: the properties that determine the latency of a chain.
#[derive(Debug, Clone)]
struct Chip {
    /// Entries of each TLB, and the cost of a miss.
    tlbs: Vec<(f64, f64)>,
    /// Lines that each cache holds, and the latency of a load from it.
    caches: Vec<(f64, f64)>,
    memory: f64,
    /// Doublings of the number of pages from the first miss in a TLB to the number at which all
    /// loads miss.
    ramp: f64,
    /// Share of the rise behind the first cache that only the spread chain pays. A prefetcher of
    /// adjacent lines spares the packed chain this share.
    prefetched: f64,
    /// Lines of the spread chain that fit into a cache, relative to the packed chain. The number is
    /// below 1 if its lines fill the sets unevenly. It is above 1 if the lines of the packed chain
    /// collide.
    spread_fit: f64,
    /// Lines in a page.
    page_lines: u64,
}

/// Disturbances of a simulated chip.
#[derive(Debug, Clone, Copy, Default)]
struct Noise {
    /// Relative standard deviation between rounds.
    jitter: f64,
    /// Relative standard deviation between the chains of different passes, which lie in different
    /// memory.
    placement: f64,
    /// Share of rounds that take twice as long.
    wild: f64,
}

fn normal(random: &mut SplitMix64) -> f64 {
    let radius = (-2.0 * (1.0 - random.fraction()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.fraction()).cos()
}

impl Chip {
    /// A chip with these TLBs, and with caches of 48 KiB, 1 MiB and about 30 MiB.
    fn new(tlbs: &[(f64, f64)]) -> Self {
        let caches = vec![(768.0, 1.0), (16384.0, 3.5), (500e3, 12.0)];
        Self {
            tlbs: tlbs.to_vec(),
            caches,
            memory: 95.0,
            ramp: 0.0,
            prefetched: 0.0,
            spread_fit: 1.0,
            page_lines: RATIO,
        }
    }

    /// Latency of a chain of this many nodes in this many pages.
    fn load(&self, nodes: f64, pages: f64) -> f64 {
        let cache = self
            .caches
            .iter()
            .find(|(lines, _)| nodes <= *lines)
            .map_or(self.memory, |(_, load)| *load);
        let missing = |entries: f64| match (pages / entries).log2() {
            beyond if beyond <= 0.0 => 0.0,
            beyond if beyond >= self.ramp => 1.0,
            beyond => beyond / self.ramp,
        };
        cache
            + self
                .tlbs
                .iter()
                .map(|(entries, miss)| miss * missing(*entries))
                .sum::<f64>()
    }

    /// Latencies of both chains at each of `entries`.
    fn curve(&self, entries: &[u64], noise: Noise, random: &mut SplitMix64) -> Vec<PagesSeen> {
        entries
            .iter()
            .map(|&n| self.place(n, noise, random))
            .collect()
    }

    fn place(&self, entries: u64, noise: Noise, random: &mut SplitMix64) -> PagesSeen {
        let nodes = entries as f64;
        let beyond_first = self.caches.first().is_some_and(|(lines, _)| nodes > *lines);
        let rise = self
            .caches
            .get(1)
            .map_or(0.0, |second| second.1 - self.caches[0].1);
        let apart = if beyond_first {
            self.prefetched * rise
        } else {
            0.0
        };
        let spread = self.load(nodes / self.spread_fit, nodes) + apart;
        let packed = self.load(nodes, (nodes / self.page_lines as f64).ceil());
        let passes = [(); 2].map(|()| {
            let lies = [(); 2].map(|()| 1.0 + noise.placement * normal(random));
            let round = |round| {
                let mut seen = |value: f64, lies: f64| {
                    let wild = if random.fraction() < noise.wild {
                        2.0
                    } else {
                        1.0
                    };
                    value * lies * wild * (1.0 + noise.jitter * normal(random))
                };
                ((0, round), seen(spread, lies[0]) - seen(packed, lies[1]))
            };
            (0..ROUNDS).map(round).collect()
        });
        PagesSeen {
            entries,
            spread,
            packed,
            passes,
        }
    }
}

/// Numbers from 8 to `most`, with `steps` numbers in each doubling.
fn grid(steps: u32, most: u64) -> Vec<u64> {
    let number = |i: u32| (8.0 * (f64::from(i) / f64::from(steps)).exp2()).round() as u64;
    let mut numbers: Vec<u64> = (0..200).map(number).take_while(|&n| n <= most).collect();
    numbers.dedup();
    numbers
}

fn exact(chip: &Chip) -> CurveBoundaries {
    levels(
        &chip.curve(&grid(4, 65536), Noise::default(), &mut SplitMix64::new(1)),
        RATIO,
    )
}

fn ranges(found: &CurveBoundaries) -> Vec<(u64, u64)> {
    found.boundaries.iter().map(|b| (b.last, b.first)).collect()
}

#[test]
fn one_two_and_three_levels_are_found_where_they_are() {
    let levels = [(64.0, 2.0), (1536.0, 8.0), (10000.0, 20.0)];
    for count in 0..=levels.len() {
        let found = exact(&Chip::new(&levels[..count]));
        assert_eq!(
            ranges(&found),
            [(64, 76), (1448, 1722), (9742, 11585)][..count]
        );
        assert_eq!(found.rejected, []);
        for (boundary, (_, miss)) in found.boundaries.iter().zip(levels) {
            assert!(
                [boundary.cost, boundary.interval.low, boundary.interval.high]
                    .iter()
                    .all(|ns| (ns - miss).abs() < 1e-9),
                "{boundary:?}"
            );
            assert_eq!(boundary.settled, boundary.first);
        }
    }
}

#[test]
fn every_density_finds_the_levels() {
    let chip = Chip::new(&[(96.0, 1.8), (2048.0, 9.0)]);
    for (steps, expected) in [
        (2, [(91, 128), (2048, 2896)]),
        (4, [(91, 108), (2048, 2435)]),
        (8, [(91, 99), (2048, 2233)]),
    ] {
        let curve = chip.curve(
            &grid(steps, 65536),
            Noise::default(),
            &mut SplitMix64::new(1),
        );
        assert_eq!(ranges(&levels(&curve, RATIO)), expected, "{steps}");
    }
}

/// A chip like a Zen 4 core measured in a virtual machine, with 512 lines in L1. Behind L1, only
/// the spread chain pays `share` of the rise.
fn with_prefetch(share: f64) -> Chip {
    let mut chip = Chip::new(&[(72.0, 1.9), (3072.0, 15.0)]);
    chip.caches[0] = (512.0, 1.1);
    chip.prefetched = share;
    chip
}

#[test]
fn the_end_of_a_data_cache_is_no_tlb_and_hides_none_behind_it() {
    for share in [0.12, 0.25, 0.45] {
        for steps in [2, 4, 8] {
            let curve = with_prefetch(share).curve(
                &grid(steps, 16384),
                Noise::default(),
                &mut SplitMix64::new(1),
            );
            let found = levels(&curve, RATIO);
            let costs: Vec<f64> = found.boundaries.iter().map(|b| b.cost.round()).collect();
            assert_eq!(costs, [2.0, 15.0], "{share} {steps}");
            let entries = found.boundaries[1].last..=found.boundaries[1].first;
            assert!(entries.contains(&3072), "{share} {steps}: {entries:?}");
            let reasons: Vec<RejectionReason> = found.rejected.iter().map(|r| r.why).collect();
            assert_eq!(reasons, [RejectionReason::CacheEnds], "{share} {steps}");
        }
    }
}

#[test]
fn a_cache_that_the_chains_leave_at_different_sizes_is_no_tlb() {
    let tlbs = [(72.0, 1.9), (3072.0, 15.0)];
    for count in 0..=tlbs.len() {
        // Pages of 4 KiB and of 64 KiB.
        for page_lines in [RATIO, 1024] {
            for spread_fit in [0.5, 0.7, 0.85, 1.2, 1.5] {
                let chip = Chip {
                    spread_fit,
                    page_lines,
                    ..Chip::new(&tlbs[..count])
                };
                let mut random = SplitMix64::new(1);
                let curve = chip.curve(&grid(4, 65536), Noise::default(), &mut random);
                let found = levels(&curve, page_lines);
                let expected = &[(64, 76), (2896, 3444)][..count];
                assert_eq!(
                    ranges(&found),
                    expected,
                    "{page_lines} {spread_fit}: {found:?}"
                );
            }
        }
    }
}

#[test]
fn a_dip_where_the_packed_chain_leaves_a_cache_long_before_the_other_is_no_tlb() {
    let tlbs = [(72.0, 20.0), (5000.0, 30.0)];
    for count in 0..=tlbs.len() {
        let chip = Chip {
            spread_fit: 2.0,
            page_lines: 1024,
            ..Chip::new(&tlbs[..count])
        };
        let mut random = SplitMix64::new(1);
        let curve = chip.curve(&grid(4, 65536), Noise::default(), &mut random);
        let found = levels(&curve, chip.page_lines);
        assert_eq!(ranges(&found), [(64, 76), (4871, 5793)][..count]);
    }
}

#[test]
fn a_rise_of_a_fraction_of_a_nanosecond_is_too_small() {
    let found = exact(&Chip::new(&[(64.0, 2.0), (600.0, 0.3)]));
    assert_eq!(ranges(&found), [(64, 76)]);
    assert_eq!(why(&found), [RejectionReason::TooSmall]);
}

#[test]
fn walks_that_get_slower_are_no_tlb_of_their_own() {
    // The host backs large pages with small ones. Each miss in the first TLB then needs a walk.
    let found = exact(&Chip::new(&[(72.0, 14.0), (1200.0, 1.0)]));
    assert_eq!(ranges(&found), [(64, 76)]);
    assert_eq!(why(&found), [RejectionReason::BelowFormer]);
    // Page tables leave one cache after another.
    let found = exact(&Chip::new(&[
        (72.0, 1.9),
        (3072.0, 13.0),
        (5000.0, 8.0),
        (9000.0, 9.0),
        (15000.0, 9.0),
        (25000.0, 9.0),
        (40000.0, 9.0),
    ]));
    assert_eq!(ranges(&found), [(64, 76), (2896, 3444)], "{found:?}");
    assert!(
        found.boundaries[1].cost < 14.0,
        "slower walks are no part of the cost of a miss: {found:?}"
    );
    assert!(!found.rejected.is_empty());
}

#[test]
fn a_tlb_that_ends_with_a_data_cache_shows_where_its_miss_costs_more() {
    let mut chip = Chip::new(&[(64.0, 2.0), (512.0, 7.0)]);
    chip.caches[0] = (512.0, 1.1);
    assert_eq!(exact(&chip).boundaries.len(), 2);
}

#[test]
fn caches_that_end_in_both_chains_are_no_tlbs() {
    let mut chip = Chip::new(&[]);
    for lines in [20.0, 100.0, 700.0, 5000.0, 40000.0] {
        chip.caches = vec![(lines, 1.0), (lines * 8.0, 4.0)];
        let mut random = SplitMix64::new(lines as u64);
        for jitter in [0.0, 0.02] {
            let noise = Noise {
                jitter,
                ..Noise::default()
            };
            let found = levels(&chip.curve(&grid(4, 65536), noise, &mut random), RATIO);
            assert_eq!(found.boundaries, [], "{lines} {jitter}");
        }
    }
}

#[test]
fn a_transition_of_several_places_is_one_level_from_where_it_begins_to_its_middle() {
    for ramp in [0.5, 1.0, 1.5, 2.0] {
        let chip = Chip {
            ramp,
            ..Chip::new(&[(64.0, 4.0), (2048.0, 20.0)])
        };
        let found = exact(&chip);
        assert_eq!(
            found
                .boundaries
                .iter()
                .map(|b| b.last)
                .collect::<Vec<u64>>(),
            [64, 2048],
            "{ramp}: {found:?}"
        );
        for (boundary, entries) in found.boundaries.iter().zip([64.0, 2048.0]) {
            let middle = boundary.first as f64 / (entries * 2f64.powf(ramp / 2.0));
            assert!((0.99..=1.2).contains(&middle), "{ramp} {boundary:?}");
            assert!(
                (boundary.last..=boundary.first).contains(&boundary.entries),
                "{ramp} {boundary:?}"
            );
            let complete = entries * 2f64.powf(ramp);
            assert!(
                (boundary.settled as f64 / complete).log2().abs() < 0.3,
                "{ramp} {boundary:?}"
            );
        }
        // During a long transition, the packed chain begins to miss the first TLB.
        assert!(
            (found.boundaries[1].cost - 20.0).abs() < 4.1,
            "{ramp}: {found:?}"
        );
    }
}

#[test]
fn a_tlb_that_wears_off_has_its_entries_inside_of_the_range() {
    // Model of the curves of five sessions on a Raptor Cove core in a virtual machine. The manual
    // gives 96 and 2048 entries. With this number of pages, half of the loads miss already, as if
    // sets filled unevenly.
    let missing = |pages: f64, entries: f64, steepness: f64| {
        1.0 - 1.0 / (1.0 + (pages / entries).powf(steepness))
    };
    let spread =
        |n: u64| 2.4 * missing(n as f64, 96.0, 64.0) + 13.5 * missing(n as f64, 2048.0, 7.0);
    let values: Vec<f64> = grid(4, 16384).into_iter().map(spread).collect();
    let found = levels(&curve_through(&values), RATIO * 100);
    let [first, second] = &found.boundaries[..] else {
        panic!("{found:?}")
    };
    assert!(first.last <= 96 && 96 <= first.first, "{first:?}");
    assert!(
        second.last <= 2048 && 2048 <= second.first && second.first <= 2896,
        "{second:?}"
    );
    assert!(
        (second.last..=second.first).contains(&second.entries),
        "{second:?}"
    );
}

#[test]
fn the_tail_of_a_tlb_that_keeps_a_part_is_no_second_one_and_a_second_one_behind_it_is() {
    // With noise, some of the small steps in the tail look like the boundary of a second TLB.
    let missing = |pages: u64, entries: u64| 1.0 - (entries as f64 / pages as f64).min(1.0);
    for second in [None, Some(1024)] {
        let mut wrong = 0;
        for seed in 0..200 {
            let mut random = SplitMix64::new(seed);
            let cost = |n: u64| {
                1.2 * missing(n, 48) + second.map_or(0.0, |entries| 8.0 * missing(n, entries))
            };
            let values: Vec<f64> = grid(4, 8192).into_iter().map(cost).collect();
            let mut curve = curve_through(&values);
            for value in curve
                .iter_mut()
                .flat_map(|place| &mut place.passes)
                .flat_map(|pass| pass.values_mut())
            {
                *value += 0.06 * normal(&mut random);
            }
            let found = levels(&curve, RATIO * 100);
            let entries: Vec<u64> = [48].into_iter().chain(second).collect();
            let near = |(b, e): (&Boundary, &u64)| is_of(b, *e as f64, 2f64.powf(0.25) * 1.01);
            let right = found.boundaries.len() == entries.len()
                && found.boundaries.iter().zip(&entries).all(near);
            wrong += usize::from(!right);
        }
        // Without the rule for tails, 107 of the 200 curves without a second TLB are wrong.
        assert!(wrong <= 25, "{second:?}: {wrong} wrong of 200");
    }
}

/// Measured differences in ns of both passes, from 2435 pages on, for 4 numbers of pages in each
/// doubling. They come from a Zen 4 core with 72 and 3072 entries, in a virtual machine with two
/// CPUs. 24 November 2026. Walks get slower from 5000 pages on.
const SLOWER_WALKS: [&str; 2] = [
    "3.1 3.4; 8.0 11.5; 12.8 11.8; 16.2 16.2; 17.1 17.7; 19.7 18.1; 32.3 31.8; 28.2 32.3; \
     30.1 30.3; 28.5 36.1; 33.9 30.8; 30.5 33.5; 32.1 30.9; 34.7 32.5; 34.8 33.1; 41.4 38.8; \
     41.3 44.5; 54.4 54.5; 61.9 82.7; 68.5 97.3",
    "3.2 2.9; 8.5 10.0; 14.7 15.7; 18.2 15.6; 16.9 15.3; 26.8 26.9; 32.0 22.7; 22.9 32.8; \
     33.9 26.6; 36.3 33.4; 30.8 33.5; 35.9 31.2; 34.0 35.6; 33.8 36.6; 36.6 39.6; 38.8 39.9; \
     47.3 54.6; 135.9 113.6; 129.6 162.4; 122.8 156.5",
];

#[test]
fn walks_that_get_slower_behind_the_second_tlb_are_no_part_of_its_cost() {
    let pair = |text: &str| {
        let mut numbers = text.split_whitespace().map(|number| number.parse::<f64>());
        [(); 2].map(|()| numbers.next().expect("two numbers").expect("a number"))
    };
    for measured in SLOWER_WALKS {
        let mut values = vec![[0.0; 2]; 13];
        values.extend([[1.91; 2]; 12]);
        values.extend([[2.2; 2]; 8]);
        values.extend(measured.split(';').map(pair));
        let mut wrong = 0;
        for seed in 0..50 {
            let mut random = SplitMix64::new(seed);
            let mut curve = curve_through(&vec![0.0; values.len()]);
            for (place, passes) in curve.iter_mut().zip(&values) {
                place.spread = 3.0 + passes[0];
                for (pass, value) in place.passes.iter_mut().zip(passes) {
                    let noise = 0.01 + 0.04 * value;
                    pass.values_mut()
                        .for_each(|v| *v = value + noise * normal(&mut random));
                }
            }
            let found = levels(&curve, RATIO).boundaries;
            let right = found.len() > 1 && (11.0..17.0).contains(&found[1].cost);
            wrong += usize::from(!right);
        }
        assert!(wrong <= 10, "{measured}: {wrong} wrong of 50");
    }
}

#[test]
fn a_cost_that_rises_to_the_last_point_is_a_range() {
    // The values of a default session on a Zen 4 core, from 8 pages on, for two numbers of pages in
    // each doubling.
    let mut values = vec![0.0; 7];
    values.extend([1.9; 6]);
    values.extend([2.2, 2.2, 2.2, 2.3, 13.5, 21.9, 29.3, 34.4]);
    let mut curve = curve_through(&values);
    let entries = grid(2, 8192);
    for (place, entries) in curve.iter_mut().zip(&entries) {
        place.entries = *entries;
    }
    let found = levels(&curve, RATIO).boundaries;
    let walk = found.last().unwrap();
    assert!(!walk.is_followed_by_level(), "{walk:?}");
    assert!(
        walk.interval.low <= 13.5 && walk.interval.high >= 30.0,
        "{walk:?}"
    );
    assert!(found[0].is_followed_by_level(), "{found:?}");
    // With more points, the level after the rise shows.
    let mut longer = curve_through(&[values.as_slice(), &[34.4; 6]].concat());
    for (place, entries) in longer.iter_mut().zip(grid(2, 1 << 20)) {
        place.entries = entries;
    }
    let found = levels(&longer, 1 << 20).boundaries;
    assert!(found.last().unwrap().is_followed_by_level(), "{found:?}");
}

#[test]
fn a_slope_that_no_level_follows_is_no_third_tlb() {
    let mut values: Vec<f64> = vec![0.0; 30];
    values[8..].iter_mut().for_each(|v| *v = 2.0);
    values[16..].iter_mut().for_each(|v| *v = 10.0);
    for (at, value) in values[22..].iter_mut().enumerate() {
        *value += 3.0 * at as f64;
    }
    let mut curve = curve_through(&values);
    // In each round, the slope is steeper or flatter than in the others.
    for place in &mut curve[22..] {
        for (key, value) in place.passes.iter_mut().flat_map(|pass| pass.iter_mut()) {
            *value += f64::from(key.1 % 4) * (*value - 10.0) * 2.0;
        }
    }
    let found = levels(&curve, 1 << 20);
    assert_eq!(found.boundaries.len(), 2, "{found:?}");
}

/// A curve of differences without noise.
fn curve_through(values: &[f64]) -> Vec<PagesSeen> {
    let entries = grid(4, 1 << 20);
    let place = |(&entries, &value): (&u64, &f64)| {
        let pass = (0..ROUNDS)
            .map(|round| ((0, round), value))
            .collect::<super::analysis::Differences>();
        PagesSeen {
            entries,
            spread: 2.0 + value,
            packed: 2.0,
            passes: [pass.clone(), pass],
        }
    };
    entries.iter().zip(values).map(place).collect()
}

fn why(found: &CurveBoundaries) -> Vec<RejectionReason> {
    found.rejected.iter().map(|r| r.why).collect()
}

#[test]
fn what_does_not_last_is_rejected_with_the_reason() {
    let at = |places: &[(usize, f64)]| {
        let mut values = [0.0; 30];
        places.iter().for_each(|&(i, value)| values[i] = value);
        levels(&curve_through(&values), 1 << 20)
    };
    let stray = at(&[(10, 3.0)]);
    assert_eq!(
        (stray.boundaries.len(), why(&stray)),
        (0, vec![RejectionReason::NoPersistence])
    );
    let bump = at(&[(10, 3.0), (11, 3.0), (12, 3.0), (13, 3.0)]);
    let gone = grid(4, 65536)[14];
    assert_eq!(
        (bump.boundaries.len(), why(&bump)),
        (0, vec![RejectionReason::GoneAgain(gone)])
    );
    let end = at(&[(28, 3.0), (29, 3.0)]);
    assert_eq!(
        (end.boundaries.len(), why(&end)),
        (0, vec![RejectionReason::AtTheEnd])
    );
    assert_eq!(
        (end.rejected[0].last, end.rejected[0].first),
        (grid(4, 65536)[27], grid(4, 65536)[29])
    );
}

#[test]
fn what_only_one_pass_has_is_not_confirmed() {
    let mut values = [0.0; 30];
    values[12..].fill(3.0);
    let mut curve = curve_through(&values);
    curve
        .iter_mut()
        .for_each(|place| place.passes[1].values_mut().for_each(|v| *v = 0.0));
    let found = levels(&curve, RATIO);
    assert_eq!(
        (found.boundaries.len(), why(&found)),
        (0, vec![RejectionReason::NotConfirmed])
    );
    // A step that the second pass shows elsewhere does not count.
    let mut early = curve_through(&values);
    early[6..]
        .iter_mut()
        .for_each(|place| place.passes[1].values_mut().for_each(|v| *v = 3.0));
    let found = levels(&early, RATIO);
    assert_eq!(
        (found.boundaries.len(), why(&found)),
        (0, vec![RejectionReason::NotConfirmed])
    );
}

#[test]
fn an_interval_that_touches_the_floor_is_not_enough() {
    let mut values = [0.0; 30];
    values[12..].fill(1.0);
    let mut curve = curve_through(&values);
    // A third of the rounds show no rise.
    curve.iter_mut().for_each(|p| {
        p.passes[0]
            .iter_mut()
            .filter(|(k, _)| k.1 % 3 == 0)
            .for_each(|(_, v)| *v = 0.0)
    });
    let found = levels(&curve, RATIO);
    assert_eq!(
        (found.boundaries.len(), why(&found)),
        (0, vec![RejectionReason::TouchesFloor])
    );
    // With fewer than five rounds, there is neither a boundary nor a rejected rise.
    let mut curve = curve_through(&values);
    curve
        .iter_mut()
        .for_each(|p| p.passes[0].retain(|k, _| k.1 < 4));
    assert_eq!(levels(&curve, RATIO), CurveBoundaries::default());
}

#[test]
fn beyond_what_the_packed_chain_pays_for_too_a_fall_is_no_objection() {
    // The TLB has 64 entries. From 4096 nodes on, the packed chain needs 64 pages or more, so that
    // the difference falls.
    let found = exact(&Chip::new(&[(64.0, 3.0)]));
    assert_eq!(ranges(&found), [(64, 76)]);
    assert!((found.boundaries[0].cost - 3.0).abs() < 1e-9);
}

#[test]
fn nothing_in_little_or_nonsense() {
    assert_eq!(levels(&[], RATIO), CurveBoundaries::default());
    for n in 1..6 {
        assert_eq!(
            levels(&curve_through(&[0.0; 30])[..n], RATIO),
            CurveBoundaries::default()
        );
    }
    let mut curve = curve_through(&[1.0; 30]);
    curve[7].passes[0].values_mut().for_each(|v| *v = f64::NAN);
    curve[9].passes[1].clear();
    curve[11].passes[0]
        .values_mut()
        .for_each(|v| *v = f64::INFINITY);
    assert_eq!(levels(&curve, 0).boundaries, []);
}

/// A chip with 1 to 3 TLBs of realistic sizes and costs.
fn some_chip(random: &mut SplitMix64) -> Chip {
    let mut pick = |from: &[f64]| from[random.below(from.len() as u64) as usize];
    let first = (
        pick(&[16.0, 32.0, 40.0, 48.0, 64.0, 72.0, 96.0, 128.0]),
        pick(&[1.2, 1.8, 2.3, 3.0]),
    );
    let second = (
        pick(&[512.0, 1024.0, 1280.0, 1536.0, 2048.0, 3072.0, 4096.0]),
        pick(&[5.0, 8.0, 15.0, 30.0]),
    );
    let third = (
        pick(&[12000.0, 16384.0, 20000.0]),
        pick(&[10.0, 20.0, 40.0]),
    );
    let count = pick(&[1.0, 2.0, 2.0, 3.0]) as usize;
    let l1 = (
        pick(&[512.0, 768.0, 1024.0, 2048.0]),
        pick(&[0.9, 1.2, 2.0]),
    );
    let l2 = (
        pick(&[4096.0, 8192.0, 16384.0, 32768.0]),
        pick(&[3.5, 4.5, 6.0]),
    );
    let l3 = (pick(&[30000.0, 250e3, 500e3]), pick(&[12.0, 18.0, 25.0]));
    let ramp = pick(&[0.0, 0.0, 0.25, 0.5]);
    Chip {
        tlbs: [first, second, third][..count].to_vec(),
        caches: vec![l1, l2, l3],
        memory: 95.0,
        ramp,
        prefetched: 0.0,
        spread_fit: 1.0,
        page_lines: RATIO,
    }
}

/// True if `boundary` is that of a TLB with this many entries. Its range may miss them by the
/// factor `step`.
fn is_of(boundary: &Boundary, entries: f64, step: f64) -> bool {
    boundary.last as f64 / step <= entries && entries <= boundary.first as f64 * step
}

/// Counts over `count` chips: all TLBs, TLBs found within the stated range, and TLBs found within
/// one step of the grid. The last number counts chips with a boundary that is no TLB.
fn tally(count: u64, noise: Noise, seed: u64) -> (usize, usize, usize, usize) {
    let step = 2f64.powf(0.25) * 1.01;
    let mut all = 0;
    let mut exactly = 0;
    let mut nearly = 0;
    let mut invented = 0;
    for trial in 0..count {
        let mut random = SplitMix64::new(seed + trial);
        let chip = some_chip(&mut random);
        let found = levels(&chip.curve(&grid(4, 65536), noise, &mut random), RATIO).boundaries;
        all += chip.tlbs.len();
        exactly += chip
            .tlbs
            .iter()
            .filter(|(e, _)| found.iter().any(|b| is_of(b, *e, 1.0)))
            .count();
        nearly += chip
            .tlbs
            .iter()
            .filter(|(e, _)| found.iter().any(|b| is_of(b, *e, step)))
            .count();
        invented += usize::from(
            found
                .iter()
                .any(|b| !chip.tlbs.iter().any(|(e, _)| is_of(b, *e, step))),
        );
    }
    (all, exactly, nearly, invented)
}

#[test]
fn on_a_thousand_noisy_machines_levels_are_found_and_none_made_up() {
    let kinds = [
        Noise {
            jitter: 0.01,
            placement: 0.0,
            wild: 0.0,
        },
        Noise {
            jitter: 0.03,
            placement: 0.0,
            wild: 0.02,
        },
        Noise {
            jitter: 0.02,
            placement: 0.01,
            wild: 0.05,
        },
        Noise {
            jitter: 0.05,
            placement: 0.01,
            wild: 0.02,
        },
    ];
    let mut all = 0;
    let mut exactly = 0;
    let mut nearly = 0;
    let mut invented = 0;
    for (kind, seed) in kinds.into_iter().zip(0..) {
        let (a, e, n, i) = tally(250, kind, seed * 1000);
        println!(
            "{kind:?}: {e} in range and {n} within a step of {a} levels, {i} of 250 machines with \
             an invented one"
        );
        (all, exactly, nearly, invented) = (all + a, exactly + e, nearly + n, invented + i);
    }
    println!(
        "together: {exactly} in range, {nearly} within a step of {all}; {invented} of 1000 with \
         an invented one"
    );
    assert!(
        exactly * 100 >= all * 95 && nearly >= exactly,
        "{exactly} and {nearly} of {all}"
    );
    assert!(invented <= 10, "{invented}");
}

#[test]
fn on_a_thousand_machines_without_tlbs_none_is_made_up() {
    let mut invented = 0;
    for trial in 0..1000 {
        let mut random = SplitMix64::new(trial);
        let chip = Chip {
            tlbs: Vec::new(),
            ..some_chip(&mut random)
        };
        let noise = Noise {
            jitter: 0.01 * (1 + trial % 8) as f64,
            placement: 0.01,
            wild: 0.03,
        };
        invented += usize::from(
            !levels(&chip.curve(&grid(4, 65536), noise, &mut random), RATIO)
                .boundaries
                .is_empty(),
        );
    }
    println!("{invented} of 1000");
    assert!(invented <= 10, "{invented}");
}
