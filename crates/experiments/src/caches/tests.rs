//! Tests of the rules that derive caches from curves and probes. The curves and probes have known
//! answers.

use super::analysis::{
    CurvePoint, End, MeasuredLevel, followed, levels, matched, pairs, rises, ways,
};
use super::grid::{closer, coarse, stand_ins};
use stats::SplitMix64;
use units::Bytes;

const LINE: Bytes = Bytes(64);

/// A curve over the coarse grid, then over the fine grid around its rises.
fn curve(most: Bytes, steps: u32, mut load: impl FnMut(f64) -> f64) -> Vec<CurvePoint> {
    let mut spot = |size: Bytes, coarse: bool| {
        let latency = load(size.0 as f64);
        CurvePoint {
            size,
            latency,
            median: latency,
            coarse,
        }
    };
    let mut curve: Vec<CurvePoint> = coarse(Bytes(4096), most, steps, LINE)
        .into_iter()
        .map(|s| spot(s, true))
        .collect();
    let fine = closer(&curve, &stand_ins(most), 100, LINE);
    curve.extend(fine.into_iter().map(|s| spot(s, false)));
    curve.sort_by_key(|spot| spot.size);
    curve
}

/// Latencies of a hierarchy with these sizes in KiB and latencies in ns. A working set larger than
/// a cache has no hits in it. If `partial` is true, the part that fits has hits.
fn hierarchy(caches: &[(f64, f64)], memory: f64, partial: bool, size: f64) -> f64 {
    let mut held = 0.0;
    let mut load = 0.0;
    for (kib, ns) in caches {
        let ratio = size / (kib * 1024.0);
        let hits: f64 = if ratio <= 1.0 {
            1.0
        } else if partial {
            1.0 / ratio
        } else {
            0.0
        };
        load += ns * (hits.max(held) - held);
        held = hits.max(held);
    }
    load + memory * (1.0 - held)
}

fn near(end: Option<End>, kib: f64) -> bool {
    end.is_some_and(|end| (end.capacity.0 as f64 / (kib * 1024.0)).log2().abs() <= 1.0 / 16.0)
}

const CACHES: [(f64, f64); 3] = [(48.0, 1.0), (1280.0, 4.0), (24576.0, 14.0)];

#[test]
fn disturbed_places_are_no_levels() {
    let mut random = SplitMix64::new(5);
    let mut exactly = 0;
    let trials = 60;
    for trial in 0..trials {
        let partial = trial % 2 == 0;
        // One size in ten takes up to three times as long.
        let mut disturbed = |size: f64| {
            let wild = if random.fraction() < 0.1 {
                1.0 + 2.0 * random.fraction()
            } else {
                1.0
            };
            hierarchy(&CACHES, 100.0, partial, size) * wild * (1.0 + 0.02 * random.fraction())
        };
        let found = levels(&curve(Bytes::mib(256), 4, &mut disturbed));
        let ends = found.iter().filter_map(|level| level.end).count();
        assert_eq!(ends, 3, "{trial}: {found:?}");
        let right = |(level, (kib, ns)): &(&MeasuredLevel, (f64, f64))| {
            near(level.end, *kib) && (level.latency / ns - 1.0).abs() < 0.06
        };
        exactly += found.iter().zip(CACHES).filter(right).count();
    }
    assert!(
        exactly * 100 >= trials * 3 * 95,
        "{exactly} of {}",
        trials * 3
    );
}

#[test]
fn a_long_slope_is_one_end() {
    // The latency rises from 4 to 100 ns over three doublings, without a level in between.
    let slope = |size: f64| 4.0 * 25f64.powf(((size / 524_288.0).log2() / 3.0).clamp(0.0, 1.0));
    for steps in [2, 4, 8] {
        let found = levels(&curve(Bytes::mib(256), steps, slope));
        assert_eq!(found.len(), 2, "{steps}: {found:?}");
        let end = found[0].end.expect("an end");
        assert!(
            (Bytes::kib(512)..=Bytes::mib(4)).contains(&end.capacity),
            "{steps}: {found:?}"
        );
    }
}

/// Two measured curves. An entry is a size in cache lines, then the lower quartile and the median
/// of its samples in ns; `+` marks the fine grid. They come from a Zen 4 core in a virtual machine
/// with two CPUs. Its L3 of 32 MiB is shared with other machines. 24 November 2026.
const SHARED_L3: [&str; 2] = [
    "64 1.083 1.084; 76 1.083 1.093; 90 1.083 1.084; 107 1.083 1.084; 128 1.083 1.084; 152 \
     1.083 1.083; 181 1.083 1.091; 215 1.083 1.083; 256 1.083 1.084; 304 1.084 1.084; 362 \
     1.084 1.084; +378 1.084 1.084; +394 1.084 1.084; +412 1.084 1.084; 430 1.084 1.085; +449 \
     1.085 1.085; +469 1.089 1.089; +490 1.097 1.098; 512 1.281 1.289; +534 2.178 2.182; +558 \
     3.136 3.138; +583 3.821 3.822; 608 3.818 3.824; 724 3.8 3.807; 861 3.794 3.795; 1024 \
     3.803 3.828; 1217 3.798 3.819; 1448 3.803 3.804; 1722 3.805 3.824; 2048 3.807 3.827; \
     2435 3.802 3.81; 2896 3.807 3.816; 3444 3.804 3.859; 4096 3.805 3.826; 4871 3.824 3.846; \
     5792 3.838 3.862; 6888 3.855 3.877; 8192 3.858 3.885; +8933 3.878 3.908; +9328 3.903 \
     3.938; 9741 4.001 4.044; +10173 3.973 4.056; +10623 5.789 5.861; +11094 4.024 4.084; \
     11585 4.267 5.81; +12098 5.302 5.861; 13777 6.861 7.052; +15024 6.092 6.337; +15689 \
     7.419 7.572; 16384 6.834 7.068; +17109 6.955 7.606; +17866 8.89 9.08; +18657 8.639 \
     8.926; 19483 9.349 9.592; +20346 9.311 9.523; 23170 10.5 10.64; 27554 10.91 11.19; 32768 \
     11.33 11.51; 38967 11.44 11.69; 46340 11.4 11.91; 55108 11.64 11.97; 65536 11.97 12.37; \
     77935 12.16 12.48; +88752 12.48 12.98; 92681 12.49 13.16; +96785 12.52 13.09; +101070 \
     12.91 13.69; +105545 12.71 13.06; 110217 13.85 15.87; +115097 12.99 13.45; 131072 14.5 \
     16.09; 155871 17.92 28.28; 185363 21.87 32.6; 220435 26.96 45.18; 262144 33.73 65.17; \
     311743 47.86 59.14; +355009 25.84 47.97; 370727 50.68 67.41; +387141 36.38 46.87; \
     +404281 37.17 50.51; +422180 41.49 52.85; 440871 55.7 72.16; +460390 44.5 60.26; 524288 \
     71.57 79.46; 741455 97.44 101.1; 1048576 98.85 104.1; 1482910 100.5 101.9; 2097152 101.6 \
     105.1; 2965820 100.6 104.6; 4194304 102.4 105",
    "64 1.083 1.084; 76 1.083 1.084; 90 1.083 1.084; 107 1.083 1.084; 128 1.083 1.083; 152 \
     1.084 1.084; 181 1.083 1.084; 215 1.084 1.084; 256 1.084 1.084; 304 1.084 1.084; 362 \
     1.084 1.084; +378 1.084 1.084; +394 1.084 1.085; +412 1.084 1.086; 430 1.085 1.086; +449 \
     1.086 1.087; +469 1.09 1.127; +490 1.098 1.105; 512 1.233 1.236; +534 2.119 2.127; +558 \
     3.16 3.163; 608 3.805 3.806; 724 3.805 3.805; 861 3.798 3.798; 1024 3.798 3.798; 1217 \
     3.803 3.803; 1448 3.803 3.803; 1722 3.806 3.806; 2048 3.806 3.806; 2435 3.794 3.795; \
     2896 3.803 3.804; 3444 3.802 3.802; 4096 3.805 3.806; 4871 3.823 3.824; 5792 3.842 \
     3.874; +6049 3.837 3.841; +6316 3.831 3.843; +6596 3.841 3.912; 6888 3.854 3.897; +7193 \
     3.837 3.839; +7512 3.86 3.882; +7844 3.852 3.952; 8192 4.197 4.265; +8554 3.874 3.959; \
     +8933 3.848 3.974; +9328 3.854 4.046; 9741 4.681 4.756; 11585 5.314 5.385; 13777 5.856 \
     5.936; 16384 7.728 7.866; 19483 9.243 9.361; 23170 10.73 10.97; 27554 11.07 11.31; 32768 \
     11.26 11.54; 38967 11.43 11.69; 46340 11.42 11.69; 55108 11.89 12.31; 65536 12.05 12.31; \
     77935 12.05 12.43; +84989 13.14 14.92; +88752 12.77 13.87; 92681 12.65 13.41; +96785 \
     13.64 15.36; +101070 13.35 14.35; +105545 13.31 15.95; 110217 12.86 14.38; +115097 14.27 \
     15.58; +120193 14.05 20.71; 131072 13.95 14.68; 155871 15.12 18.52; 185363 20 27.61; \
     220435 24.75 34.92; 262144 20.63 32.1; +273750 60.81 84.69; +285870 40.69 63.5; +298526 \
     44.33 71.79; 311743 40.86 50.64; +325545 81.1 94.69; 370727 36.07 45.32; +387141 82.69 \
     101.4; +404281 63.55 80.5; +422180 84.03 100.5; 440871 52 61.11; 524288 52.68 71.2; \
     +571740 105.1 107.7; +623487 103.7 107.2; +679917 102.4 107.3; 741455 96.5 100.5; \
     1048576 100.1 102.5; 1482910 101.1 103.7; 2097152 100.4 102.8; 2965820 102.4 105.4; \
     4194304 101.3 104.1",
];

fn measured(curve: &str) -> Vec<CurvePoint> {
    let point = |text: &str| {
        let text = text.trim();
        let mut numbers = text.split(' ').map(|number| {
            let number = number.trim_start_matches('+');
            number.parse::<f64>().expect("a number")
        });
        let mut next = || numbers.next().expect("three numbers");
        CurvePoint {
            size: Bytes(next() as u64 * LINE.0),
            latency: next(),
            median: next(),
            coarse: !text.starts_with('+'),
        }
    };
    curve.split(';').map(point).collect()
}

#[test]
fn a_cache_of_which_neighbours_hold_a_part_is_one_level_and_its_slope_is_none() {
    for curve in SHARED_L3 {
        let found = levels(&measured(curve));
        assert_eq!(found.len(), 4, "{found:?}");
        let [first, second, third] = [0, 1, 2].map(|at| found[at].end.expect("an end"));
        assert!(near(Some(first), 33.0), "{found:?}");
        let second_mib = second.capacity.0 as f64 / f64::from(1 << 20);
        assert!((second_mib - 1.0).abs() < 0.1, "{found:?}");
        assert!(!first.varies && !second.varies && third.varies, "{found:?}");
        // The plateau ends between 5 and 8 MiB. Some samples hit in up to about 32 MiB.
        let plateau = Bytes::mib(5)..=Bytes::mib(8);
        assert!(plateau.contains(&third.capacity), "{third:?}");
        assert!(third.low == third.capacity && third.high <= Bytes::mib(32));
        assert!(third.high >= Bytes::mib(28), "{third:?}");
        let latencies: Vec<f64> = found.iter().map(|level| level.latency.round()).collect();
        assert!([11.0, 12.0].contains(&latencies[2]), "{found:?}");
        assert!((95.0..105.0).contains(&latencies[3]), "{found:?}");
        assert_eq!(latencies[..2], [1.0, 4.0]);
    }
}

#[test]
fn samples_that_differ_make_no_plateau_however_flat_their_quartile_is() {
    // From 8 to 32 MiB, the lower quartile is 40 ns. The median is 41 ns or 90 ns.
    let with_median = |median: f64| {
        let load =
            |size: f64| hierarchy(&[CACHES[0], CACHES[1], (8192.0, 12.0)], 100.0, false, size);
        let mut curve = curve(Bytes::mib(256), 4, load);
        for spot in &mut curve {
            if spot.size > Bytes::mib(8) && spot.size <= Bytes::mib(32) {
                (spot.latency, spot.median) = (40.0, median);
            }
        }
        levels(&curve)
    };
    assert_eq!(with_median(41.0).len(), 5);
    let mixture = with_median(90.0);
    assert_eq!(mixture.len(), 4, "{mixture:?}");
    assert!(near(mixture[2].end, 8192.0), "{mixture:?}");
}

#[test]
fn a_flat_curve_is_one_level_whatever_the_noise() {
    let mut random = SplitMix64::new(7);
    for trial in 0..300 {
        let noise = 0.01 * f64::from(1 + trial % 8);
        let flat = curve(Bytes::mib(256), 4, |_| {
            5.0 * (1.0 + noise * random.fraction())
        });
        assert_eq!(levels(&flat).len(), 1, "{trial}");
        assert!(rises(&flat).is_empty(), "{trial}");
    }
}

#[test]
fn nothing_of_nothing_and_of_nonsense() {
    assert!(levels(&[]).is_empty());
    let spot = |kib: u64, latency: f64| CurvePoint {
        size: Bytes::kib(kib),
        latency,
        median: latency,
        coarse: true,
    };
    assert_eq!(levels(&[spot(4, 1.0)]).len(), 1);
    for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        levels(&[
            spot(4, 1.0),
            spot(8, bad),
            spot(16, 1.0),
            spot(32, 3.0),
            spot(64, 3.0),
            spot(128, bad),
        ]);
    }
    levels(&[spot(8, 1.0), spot(4, 1.0), spot(4, 9.0)]);
}

#[test]
fn the_grids_are_as_dense_as_requested_and_within_what_was_planned() {
    for (steps, count) in [(2, 33), (4, 59), (8, 117)] {
        let sizes = coarse(Bytes(4096), Bytes::mib(256), steps, LINE);
        assert_eq!(sizes.len(), count, "{steps}");
        assert!(
            sizes.windows(2).all(|pair| pair[0] < pair[1])
                && sizes.iter().all(|s| s.0.is_multiple_of(64))
        );
        assert_eq!((sizes[0], sizes[count - 1]), (Bytes(4096), Bytes::mib(256)));
    }
    let latency = |size: f64| hierarchy(&CACHES, 100.0, false, size);
    let known = curve(Bytes::mib(256), 4, latency);
    let first: Vec<CurvePoint> = known.iter().copied().filter(|spot| spot.coarse).collect();
    let stand_ins = stand_ins(Bytes::mib(256));
    for most in [0, 1, 5, 20, 100] {
        let sizes = closer(&first, &stand_ins, most, LINE);
        assert!(sizes.len() <= most);
        // Each size has a placeholder that is no smaller.
        let mut room: Vec<Bytes> = stand_ins.iter().copied().take(most).collect();
        for size in sizes.iter().rev() {
            let place = room
                .iter()
                .rposition(|r| r >= size)
                .unwrap_or_else(|| panic!("{most}: {sizes:?}"));
            room.remove(place);
        }
    }
    assert!(
        closer(&known, &stand_ins, 100, LINE).len() < 3,
        "nothing is requested twice"
    );
}

#[test]
fn a_rise_of_a_few_tenths_of_a_nanosecond_is_no_level() {
    let with_step = |rise: f64| {
        let sizes = [(48.0, 1.0), (256.0, 1.0 + rise), (1024.0, 4.0)];
        levels(&curve(Bytes::mib(256), 4, |size| {
            hierarchy(&sizes, 95.0, false, size)
        }))
        .len()
    };
    assert_eq!((with_step(0.3), with_step(0.8)), (3, 4));
}

#[test]
fn what_is_reported_is_matched_by_order_or_by_size() {
    let mib = |sizes: &[u64]| sizes.iter().map(|&m| Bytes::mib(m)).collect::<Vec<Bytes>>();
    let pairs = |found: &[u64], reported: &[u64]| matched(&mib(found), &mib(reported));
    assert_eq!(
        pairs(&[1, 4, 30], &[1, 2, 480]),
        [Some(0), Some(1), Some(2)]
    );
    assert_eq!(pairs(&[1, 30], &[1, 2, 32]), [Some(0), Some(2)]);
    assert_eq!(pairs(&[1, 2], &[1, 2, 32]), [Some(0), Some(1)]);
    assert_eq!(pairs(&[1, 8, 32], &[1, 32]), [Some(0), None, Some(1)]);
    assert_eq!(pairs(&[1, 8], &[]), [None, None]);
    assert_eq!(pairs(&[], &[1]), []);
    assert_eq!(pairs(&[1; 20], &[1; 9]).len(), 20);
}

/// Mean latencies of pairs of loads at distances of 8 B to 1 KiB. A load takes 100 ns. A second
/// load in the same `line` takes 1 ns. A second load within `ahead` bytes takes the `share` of 100
/// ns.
fn loads(line: u64, ahead: u64, share: f64) -> Vec<(Bytes, f64)> {
    let load = |distance: u64| match 2 * distance {
        both if both <= line => 50.5,
        both if both <= ahead => 50.0 + 50.0 * share,
        _ => 100.0,
    };
    (0..8)
        .map(|i| 8 << i)
        .map(|d| (Bytes(d), load(d)))
        .collect()
}

#[test]
fn lines_and_neighbours_follow_from_pairs() {
    for line in [32, 64, 128, 256] {
        let shown = pairs(&loads(line, 0, 0.0), 1.0);
        assert_eq!((shown.line, shown.ahead), (Some(Bytes(line)), None));
        let shown = pairs(&loads(line, 2 * line, 0.4), 1.0);
        assert_eq!(
            (shown.line, shown.ahead.map(|(d, _)| d)),
            (Some(Bytes(line)), Some(Bytes(line)))
        );
        assert!(
            shown
                .ahead
                .is_some_and(|(_, share)| (share - 0.4).abs() < 0.01),
            "{shown:?}"
        );
    }
    // Every pair is cheap, or none is: the line is unknown.
    assert_eq!(pairs(&loads(1 << 20, 0, 0.0), 1.0).line, None);
    assert_eq!(pairs(&loads(0, 0, 0.0), 1.0).line, None);
    assert_eq!(pairs(&[], 1.0).line, None);
}

#[test]
fn strides_and_ways_are_read_off() {
    let strides = |shares: [f64; 4]| {
        followed(
            &[64, 128, 256, 512]
                .map(Bytes)
                .into_iter()
                .zip(shares)
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(
        strides([0.1, 0.2, 0.9, 1.0]),
        (Some(Bytes(128)), Some(Bytes(256)))
    );
    assert_eq!(strides([0.1; 4]), (Some(Bytes(512)), None));
    assert_eq!(strides([1.0; 4]), (None, Some(Bytes(64))));
    let set = |from: u64| [2, 4, 8, 9, 12, 16, 17].map(|n| (n, if n < from { 1.0 } else { 4.0 }));
    assert_eq!(ways(&set(9), 1.0, 4.0), Some((8, 8)));
    assert_eq!(ways(&set(12), 1.0, 4.0), Some((9, 11)));
    assert_eq!(
        (
            ways(&set(99), 1.0, 4.0),
            ways(&set(0), 1.0, 4.0),
            ways(&[], 1.0, 4.0)
        ),
        (None, None, None)
    );
    // Measured on a Zen 4 core: one line too many costs more than several.
    let zen = [
        (2, 1.09),
        (4, 1.09),
        (8, 1.1),
        (9, 6.66),
        (10, 4.72),
        (12, 4.61),
        (17, 4.64),
        (25, 4.68),
    ];
    assert_eq!(ways(&zen, 1.1, 3.8), Some((8, 8)));
    let mut loose = set(9);
    loose[5].1 = 1.0;
    assert_eq!(ways(&loose, 1.0, 4.0), None);
}

#[test]
fn two_caches_that_keep_a_part_four_times_apart_are_two() {
    for (memory, last) in [(85.0, 38.0), (110.0, 50.0), (150.0, 50.0)] {
        for fourth in [128u32 << 10, 160 << 10, 192 << 10] {
            let sizes = [
                (48.0, 1.0),
                (1024.0, 3.5),
                (32768.0, 14.0),
                (f64::from(fourth), last),
            ];
            let found = levels(&curve(Bytes::gib(1), 4, |size| {
                hierarchy(&sizes, memory, true, size)
            }));
            assert_eq!(found.len(), sizes.len() + 1, "{memory} {fourth}: {found:?}");
            for (level, (kib, ns)) in found.iter().zip(sizes) {
                let ratio = level.end.unwrap().capacity.0 as f64 / (kib * 1024.0);
                assert!(
                    (ratio - 1.0).abs() < 0.05 && (level.latency / ns - 1.0).abs() < 0.05,
                    "{level:?}"
                );
            }
        }
    }
}

#[test]
fn one_cache_that_wears_off_in_a_way_that_none_of_the_rules_know_is_one() {
    // Share of hits of a working set that is larger than the cache by a factor, for several
    // replacement policies.
    let ways: [fn(f64, f64) -> f64; 5] = [
        |ratio, width| ratio.max(1.0).powf(-width),
        |ratio, width| (1.0 - ratio.log2() / width).clamp(0.0, 1.0),
        |ratio, width| (0.5 - ratio.log2() / width).clamp(0.0, 1.0),
        |ratio, width| ((1.0 + width - ratio) / width).clamp(0.0, 1.0),
        |ratio, width| (-(ratio - 1.0).max(0.0) / width).exp(),
    ];
    for (at, kept) in ways.into_iter().enumerate() {
        for (size, width, memory) in [
            (8.0, 1.0, 85.0),
            (32.0, 2.0, 110.0),
            (32.0, 3.0, 150.0),
            (96.0, 4.0, 85.0),
        ] {
            let load = |bytes: f64| {
                if bytes <= 49152.0 {
                    1.0
                } else if bytes <= 1048576.0 {
                    3.5
                } else {
                    14.0 + (memory - 14.0) * (1.0 - kept(bytes / (size * 1048576.0), width))
                }
            };
            let found = levels(&curve(Bytes::gib(1), 4, load));
            assert_eq!(
                found.len(),
                4,
                "way {at}, {size} MiB, width {width}: {found:?}"
            );
        }
    }
}
