//! The rules, on curves and probes with known answers.

use super::analysis::{
    CurvePoint, End, MeasuredLevel, followed, levels, matched, pairs, rises, ways,
};
use super::grid::{closer, coarse, stand_ins};
use stats::SplitMix64;
use units::Bytes;

const LINE: Bytes = Bytes(64);

/// A curve over the coarse grid, then over the fine grid around its rises.
fn curve(most: Bytes, steps: u32, mut load: impl FnMut(f64) -> f64) -> Vec<CurvePoint> {
    let mut spot = |size: Bytes, coarse: bool| CurvePoint {
        size,
        latency: load(size.0 as f64),
        coarse,
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

/// Latencies of a hierarchy with these sizes in KiB and latencies in ns. With `partial`, a larger
/// working set hits for the part that the cache holds.
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
    // From 4 to 100 ns over three doublings: no level in between.
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

/// Pairs at 8 B to 1 KiB. A load takes 100 ns, one within `line` 1 ns, and one up to `ahead` the
/// given `share`.
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
