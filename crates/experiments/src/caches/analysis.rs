//! Derives levels from a curve of latency over size, and properties of caches from further
//! measurements. The functions are pure. docs/method/caches.md explains their rules and constants.

use stats::{CacheEnd, Knee, cache_ends, deviation, knees};
use std::ops::RangeInclusive;
use units::Bytes;

/// One size of a curve of latency over size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Size of the working set.
    pub size: Bytes,
    /// Latency of a load in a working set of this size, in ns: the lower quartile of the samples.
    pub latency: f64,
    /// Median of the samples, in ns. The median is much higher than `latency` if only some samples
    /// had hits in a nearer level.
    pub median: f64,
    /// True if the size is on the coarse grid. Levels are only discovered on this grid.
    pub coarse: bool,
}

/// A level of the hierarchy, derived from timing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredLevel {
    /// Latency of a load that finds its line in this level, in ns.
    pub latency: f64,
    /// End of the level. `None` for the last level: memory, or a cache larger than the largest
    /// measured size.
    pub end: Option<End>,
}

/// End of a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// Capacity that explains the curve best. If `varies` is true, the largest size on the flat
    /// part of the curve before this end.
    pub capacity: Bytes,
    /// Smallest capacity that explains the curve about as well as `capacity`.
    pub low: Bytes,
    /// Largest capacity that explains the curve about as well as `capacity`.
    pub high: Bytes,
    /// True if the capacity differs from round to round.
    pub varies: bool,
}

/// A rise of the curve on the coarse grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rise {
    /// The last size before the rise.
    pub last: Bytes,
    /// The first size inside the rise.
    pub first: Bytes,
    /// The first size after the rise, on the next level.
    pub settled: Bytes,
}

/// Two levels are separate only if their latencies differ by at least this share of the lower
/// latency.
const STEP: f64 = 0.2;

/// A fitted end of a cache counts only if the latency after it is higher than before by more than
/// this share.
const CONFIRMED: f64 = 0.15;

/// Two levels are separate only if their latencies differ by at least this many ns. On every known
/// core, the next cache is several cycles slower.
const LEAST_RISE: f64 = 0.5;

/// Two caches are separate only if the outer one is larger than the nearer one by at least this
/// factor.
const APART: f64 = 2.0;

/// Two ends are separate only if the curve has a plateau between them. A plateau spans half a
/// doubling of size. Across it, the median of the last size exceeds the lower quartile of the first
/// size by less than this share.
const FLAT: f64 = 0.15;

/// A capacity counts as varying if the samples disagree at this number of sizes, or more, between
/// the plateau and the next level. One size is not enough: near the capacity, chance decides in
/// each round whether a working set fits.
const VARYING: usize = 2;

/// Least factor between two sizes that are half a doubling apart. It is a little below the square
/// root of 2, because sizes are rounded to whole lines.
const HALF: f64 = 1.4;

impl CurvePoint {
    /// True if the samples agree about the level that serves the loads of this size.
    fn is_steady(&self) -> bool {
        self.median <= self.latency * (1.0 + STEP)
    }
}

/// `curve` with latencies lowered where only disturbances can have raised them, see [`lowered`].
fn settled(curve: &[CurvePoint]) -> Vec<CurvePoint> {
    let latencies = lowered(curve.iter().map(|spot| spot.latency).collect());
    let medians = lowered(curve.iter().map(|spot| spot.median).collect());
    let values = latencies.into_iter().zip(medians);
    curve
        .iter()
        .zip(values)
        .map(|(spot, (latency, median))| CurvePoint {
            latency,
            median,
            ..*spot
        })
        .collect()
}

/// Lowers each of `values`, in the order of rising size, if two consecutive larger sizes both have
/// lower values. The reason is that a larger working set cannot have more hits. A single low value
/// is ignored, unless it is the last.
fn lowered(mut values: Vec<f64>) -> Vec<f64> {
    let original = values.clone();
    let mut low = f64::INFINITY;
    for (at, value) in values.iter_mut().enumerate().rev() {
        if let Some(next) = original.get(at + 1) {
            let both = original.get(at + 2).map_or(*next, |after| next.max(*after));
            low = low.min(both);
        }
        *value = value.min(low);
    }
    values
}

/// The rises of `curve`, by rising size.
pub fn rises(curve: &[CurvePoint]) -> Vec<Rise> {
    rises_of(&settled(curve))
}

fn rises_of(curve: &[CurvePoint]) -> Vec<Rise> {
    let coarse: Vec<&CurvePoint> = curve.iter().filter(|spot| spot.coarse).collect();
    let x: Vec<f64> = coarse.iter().map(|spot| spot.size.0 as f64).collect();
    let y: Vec<f64> = coarse.iter().map(|spot| spot.latency).collect();
    let rise = |knee: &Knee| {
        let last = coarse.get(knee.index.checked_sub(1)?)?.size;
        let first = coarse.get(knee.index)?.size;
        let settled = coarse.get(knee.settled)?.size;
        (knee.after > knee.before).then_some(Rise {
            last,
            first,
            settled,
        })
    };
    knees(&x, &y, STEP).iter().filter_map(rise).collect()
}

/// The levels that a `curve` of rising sizes shows, nearest level first. There is at least one
/// level, unless the curve is empty or has invalid values.
pub fn levels(curve: &[CurvePoint]) -> Vec<MeasuredLevel> {
    let curve = settled(curve);
    let x: Vec<f64> = curve.iter().map(|spot| spot.size.0 as f64).collect();
    let y: Vec<f64> = curve.iter().map(|spot| spot.latency).collect();
    let ranges = rises_of(&curve)
        .iter()
        .map(|r| (r.last.0 as f64, r.settled.0 as f64))
        .collect();
    let (mut ranges, mut ends) = explained(&x, &y, ranges);
    // Each iteration removes one rise, so the loop ends.
    while let Some(at) = ends
        .windows(2)
        .position(|pair| !two_levels(&curve, &pair[0], &pair[1]))
    {
        ranges[at].1 = ranges[at + 1].1;
        ranges.remove(at + 1);
        (ranges, ends) = explained(&x, &y, ranges);
    }
    let mut at = 0;
    while at < ends.len() {
        // Each iteration adds one rise, or goes on to the next rise.
        match split(&curve, &x, &y, &ranges, at, &ends) {
            Some((more, better)) => (ranges, ends) = (more, better),
            None => at += 1,
        }
    }
    ends.retain(|end| {
        end.after > end.before * (1.0 + CONFIRMED) && end.after - end.before >= LEAST_RISE
    });
    let mut levels: Vec<MeasuredLevel> = Vec::new();
    let mut nearer = 0.0;
    for end in &ends {
        levels.push(level(&curve, nearer, end));
        nearer = end.capacity;
    }
    let flat = || stats::median(&y);
    let last = ends.last().map(|end| end.after).or_else(flat);
    levels.extend(last.map(|latency| MeasuredLevel { latency, end: None }));
    levels
}

/// The level that ends at `end`, behind a cache of `nearer` bytes. If the samples disagree past the
/// plateau, the capacity varies: other users of the cache leave a different part of it free in each
/// round. The plateau then gives latency and effective capacity, which apply to most samples.
fn level(curve: &[CurvePoint], nearer: f64, end: &CacheEnd) -> MeasuredLevel {
    let bytes = |size: f64| Bytes(size.round() as u64);
    let coarse = || curve.iter().filter(|spot| spot.coarse);
    let flattest = plateau(curve, nearer..=end.capacity);
    let latency = flattest.map_or(end.before, |plateau| plateau.latency);
    let on_plateau = coarse().filter(|spot| spot.median <= latency * (1.0 + STEP));
    let capacity = on_plateau.map(|spot| spot.size).next_back();
    let has_hits = coarse().filter(|spot| spot.latency <= end.after / (1.0 + STEP));
    let mixtures: Vec<&CurvePoint> = has_hits.filter(|spot| Some(spot.size) > capacity).collect();
    let unsteady = mixtures.iter().filter(|spot| !spot.is_steady()).count();
    let is_less = |capacity: Bytes| unsteady >= VARYING && capacity < bytes(end.low);
    let varying = capacity.filter(|capacity| is_less(*capacity));
    if let Some((capacity, largest)) = varying.zip(mixtures.last()) {
        return MeasuredLevel {
            latency,
            end: Some(End {
                capacity,
                low: capacity,
                high: largest.size.min(bytes(end.high)).max(capacity),
                varies: true,
            }),
        };
    }
    MeasuredLevel {
        latency: end.before,
        end: Some(End {
            capacity: bytes(end.capacity),
            low: bytes(end.low),
            high: bytes(end.high),
            varies: false,
        }),
    }
}

/// The flattest stretch of a part of a curve, over half a doubling of size.
#[derive(Debug, Clone, Copy)]
struct Plateau {
    /// Latency in the middle of the plateau, in ns.
    latency: f64,
    /// Median of the plateau's largest size divided by the lower quartile of its smallest size.
    /// `rise` is large on a slope, and where samples differ.
    rise: f64,
}

/// The flattest stretch of `curve` over half a doubling (a factor of 1.4 in size), within `sizes`.
/// Only coarse points count. `None` if the coarse points span less than half a doubling.
fn plateau(curve: &[CurvePoint], sizes: RangeInclusive<f64>) -> Option<Plateau> {
    let inside = |spot: &&CurvePoint| spot.coarse && sizes.contains(&(spot.size.0 as f64));
    let spots: Vec<&CurvePoint> = curve.iter().filter(inside).collect();
    let from = |first: &&CurvePoint| {
        let wide = |spot: &&&CurvePoint| spot.size.0 as f64 >= first.size.0 as f64 * HALF;
        let last = spots.iter().find(wide)?;
        Some(Plateau {
            latency: (first.latency * last.latency).sqrt(),
            rise: last.median / first.latency,
        })
    };
    let all = spots.iter().filter_map(from);
    all.min_by(|a, b| a.rise.total_cmp(&b.rise))
}

/// Ranges of sizes in bytes that each contain the end of one cache, and these ends.
type Explained = (Vec<(f64, f64)>, Vec<CacheEnd>);

/// The ranges among `ranges` in which an end of a cache explains the curve, with these ends. `x`
/// are the sizes in bytes, `y` the latencies in ns.
fn explained(x: &[f64], y: &[f64], mut ranges: Vec<(f64, f64)>) -> Explained {
    loop {
        let ends = cache_ends(x, y, &ranges);
        if ends.len() == ranges.len() {
            return (ranges, ends);
        }
        // Without the dropped ranges, the ends of the remaining ranges must be fitted again.
        ranges = ends
            .iter()
            .filter_map(|end| ranges.get(end.rise))
            .copied()
            .collect();
    }
}

/// The ranges and ends after the rise with index `at` was split in two. `None` if the rise has no
/// flatter part inside ([`valley`]), or if two caches do not explain it better than one.
fn split(
    curve: &[CurvePoint],
    x: &[f64],
    y: &[f64],
    ranges: &[(f64, f64)],
    at: usize,
    ends: &[CacheEnd],
) -> Option<Explained> {
    let (from, to) = *ranges.get(at)?;
    let start = at
        .checked_sub(1)
        .map_or(0.0, |before| ranges[before].1.min(from));
    let stop = ranges.get(at + 1).map_or(f64::INFINITY, |next| next.0);
    let first = x.partition_point(|v| *v < start);
    let part = first..x.partition_point(|v| *v <= stop).max(first);
    let here = &x[part.clone()];
    let loads = &y[part];
    let alone = deviation(here, loads, ends)?;
    let halves = |middle: f64| {
        let mut more = ranges.to_vec();
        more.splice(at..=at, [(from, middle), (middle, to)]);
        let better = cache_ends(x, y, &more);
        let [one, other] = better.get(at..at + 2)? else {
            return None;
        };
        let level = better.len() == more.len()
            && other.capacity >= one.capacity * APART
            && [one, other]
                .iter()
                .all(|end| end.after > end.before * (1.0 + STEP))
            && here.iter().any(|&x| other.own_share(one, x) >= OWN);
        let both =
            deviation(here, loads, &better).filter(|&both| level && both <= alone / BETTER)?;
        Some((both, more, better))
    };
    let best = valley(curve, from..=to)
        .filter_map(halves)
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((best.1, best.2))
}

/// The smallest and the largest size of the flattest part of `rise`, over half a doubling. The
/// result is empty if the curve is not steeper by the factor [`STEEPER`] on both sides. It is also
/// empty if the capacity varies in this rise.
fn valley(curve: &[CurvePoint], rise: RangeInclusive<f64>) -> impl Iterator<Item = f64> {
    let inside = |spot: &&CurvePoint| spot.coarse && rise.contains(&(spot.size.0 as f64));
    let rising: Vec<&CurvePoint> = curve.iter().filter(inside).collect();
    let unsteady = rising.iter().filter(|spot| !spot.is_steady()).count();
    let spots: Vec<(f64, f64)> = rising
        .into_iter()
        .filter(|_| unsteady < VARYING)
        .map(|s| (s.size.0 as f64, s.latency))
        .collect();
    let piece = |&(size, load): &(f64, f64)| {
        let (next, after) = spots.iter().find(|spot| spot.0 >= size * HALF)?;
        Some((size, *next, (after - load) / (next / size).log2()))
    };
    let pieces: Vec<(f64, f64, f64)> = spots.iter().filter_map(piece).collect();
    let steepest =
        |pieces: &[(f64, f64, f64)]| pieces.iter().map(|piece| piece.2).fold(0.0, f64::max);
    let deep = |&at: &usize| {
        let before = steepest(&pieces[..at]);
        let behind = steepest(&pieces[at + 1..]);
        pieces[at].2 * STEEPER <= before.min(behind)
    };
    let flattest = (0..pieces.len())
        .filter(deep)
        .min_by(|a, b| pieces[*a].2.total_cmp(&pieces[*b].2));
    flattest
        .map(|at| [pieces[at].0, pieces[at].1])
        .into_iter()
        .flatten()
}

/// A rise is split in two only if it is steeper by this factor on both sides of a flatter part.
const STEEPER: f64 = 2.0;
/// A rise is split in two only if two caches reduce the error of one cache by this factor.
const BETTER: f64 = 2.0;
/// A rise is split in two only if, at some size, the second cache alone serves this share of the
/// loads.
const OWN: f64 = 0.5;

/// True if there is a level between two ends: the ends are far enough apart, and the curve has a
/// plateau between them. If only a part of a working set stays in a cache, its samples differ. So a
/// mixture of two levels is no plateau.
fn two_levels(curve: &[CurvePoint], one: &CacheEnd, other: &CacheEnd) -> bool {
    other.capacity >= one.capacity * APART
        && plateau(curve, one.capacity..=other.capacity)
            .is_some_and(|plateau| plateau.rise < 1.0 + FLAT)
}

/// For each size in `found`, the index of the size in `reported` that describes the same cache;
/// `None` if the size has no partner. Both lists are in rising order. Lists of equal length are
/// matched in order. Otherwise every size of the shorter list gets a partner, and the matching with
/// the smallest ratios between partners is taken.
pub fn matched(found: &[Bytes], reported: &[Bytes]) -> Vec<Option<usize>> {
    let apart = |a: Bytes, b: Bytes| (a.0.max(1) as f64 / b.0.max(1) as f64).log2().abs();
    // The cheapest matching of the remaining sizes. Either the first two sizes match, or one of
    // them gets no partner. `spare` is the number of sizes that must stay without a partner in each
    // list.
    fn best(
        found: &[Bytes],
        reported: &[Bytes],
        spare: (usize, usize),
        apart: &dyn Fn(Bytes, Bytes) -> f64,
    ) -> (f64, Vec<Option<usize>>) {
        let (Some((&f, more)), Some((&r, others))) = (found.split_first(), reported.split_first())
        else {
            return (0.0, vec![None; found.len()]);
        };
        let shift = |pairs: Vec<Option<usize>>| pairs.into_iter().map(|at| at.map(|at| at + 1));
        let (cost, pairs) = best(more, others, spare, apart);
        let mut least = (
            cost + apart(f, r),
            std::iter::once(Some(0)).chain(shift(pairs)).collect(),
        );
        if spare.0 > 0 {
            let (cost, pairs) = best(more, reported, (spare.0 - 1, 0), apart);
            if cost < least.0 {
                least = (cost, std::iter::once(None).chain(pairs).collect());
            }
        }
        if spare.1 > 0 {
            let (cost, pairs) = best(found, others, (0, spare.1 - 1), apart);
            if cost < least.0 {
                least = (cost, shift(pairs).collect());
            }
        }
        least
    }
    // A system may report any number of caches, so the lists are cut. No real hierarchy has more
    // than `DEEPEST` levels.
    let found_few = &found[..found.len().min(DEEPEST)];
    let reported = &reported[..reported.len().min(DEEPEST)];
    let spare = (
        found_few.len().saturating_sub(reported.len()),
        reported.len().saturating_sub(found_few.len()),
    );
    let mut pairs = best(found_few, reported, spare, &apart).1;
    pairs.resize(found.len(), None);
    pairs
}

/// Largest number of levels that take part in matching.
const DEEPEST: usize = 8;

/// At the smallest distance, the second load of a pair must take less than this share of the first
/// load. If both are in the same cache line, the second load only waits for the line.
const AT_MOST_WAITING: f64 = 0.5;
/// A second load is in the line of the first load if it takes little longer than at the smallest
/// distance. The limit is this share of the first load.
const FREE: f64 = 0.15;
/// The line of a second load was prefetched if the second load takes less than this share of the
/// first load.
const AHEAD: f64 = 0.8;

/// Effects that pairs of loads show at rising distances.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PairEffects {
    /// Size of a cache line: twice the largest distance at which the second of two loads costs
    /// almost nothing. `None` if the pairs do not show it.
    pub line: Option<Bytes>,
    /// Largest distance to another line at which the second load costs less than the first. The
    /// number is the cost of the second load as a share of the first. `None` without such a
    /// distance.
    pub ahead: Option<(Bytes, f64)>,
}

/// Effects that `pairs` show. Each pair is a distance and the mean latency of its two loads in ns,
/// by rising distance. `near` is the latency of the nearest cache. The mean of a pair inside a line
/// is (first + near) / 2. If the loads are far apart, both take the full latency.
pub fn pairs(pairs: &[(Bytes, f64)], near: f64) -> PairEffects {
    let Some(&(largest, apart)) = pairs.last() else {
        return PairEffects::default();
    };
    let second = |load: f64| (2.0 * load - apart - near) / (apart - near).max(f64::MIN_POSITIVE);
    // The nearest distance lies inside a line. Its second load is not free, because it waits until
    // the line has arrived.
    let inside = pairs
        .first()
        .map_or(1.0, |(_, load)| second(*load))
        .max(0.0);
    let free = |load: f64| inside < AT_MOST_WAITING && second(load) < inside + FREE;
    let free = pairs
        .iter()
        .take_while(|(_, load)| free(*load))
        .last()
        .map(|(distance, _)| *distance);
    // If the second load is cheap at every distance or at none, the size of a line is unknown.
    let Some(free) = free.filter(|&free| free < largest && apart > near * (1.0 + STEP)) else {
        return PairEffects::default();
    };
    let beyond = pairs.iter().skip_while(|(distance, _)| *distance <= free);
    let ahead = beyond.take_while(|(_, load)| second(*load) < AHEAD).last();
    let ahead = ahead.map(|&(distance, load)| (distance, second(load).max(0.0)));
    PairEffects {
        line: Some(Bytes(2 * free.0)),
        ahead,
    }
}

/// A stride is prefetched if its latency by rising address is less than this share of its latency
/// in random order.
pub const FOLLOWED: f64 = 0.7;

/// The largest of the rising `strides` up to which all are prefetched, and the smallest stride that
/// is not prefetched. Each is `None` if there is no such stride. Each of `strides` is a stride and
/// its latency, as a share of the latency in random order.
pub fn followed(strides: &[(Bytes, f64)]) -> (Option<Bytes>, Option<Bytes>) {
    let up_to = strides
        .iter()
        .take_while(|(_, share)| *share < FOLLOWED)
        .last()
        .map(|(stride, _)| *stride);
    let not = strides
        .iter()
        .find(|(_, share)| *share >= FOLLOWED)
        .map(|(stride, _)| *stride);
    (up_to, not)
}

/// A cache set counts as full if one more node adds a load that is longer than a hit. The load must
/// exceed a hit by more than this share of the difference between the next level's latency and a
/// hit.
const FULL: f64 = 0.3;

/// Least and largest number of ways that a cache can have according to `loads`. `loads` are mean
/// latencies by rising numbers of nodes in one set. `here` is the latency of this cache, `behind`
/// that of the next level. `None` if the set never filled, was always full, or was full only at the
/// last number of nodes.
///
/// A pass over n nodes takes n loads. While all nodes fit, one more node adds a load from this
/// cache. After that, it adds at least one load from the next level, for every replacement policy.
/// The mean latency would be misleading, because it stays low while nearer caches have some of the
/// nodes.
pub fn ways(loads: &[(u64, f64)], here: f64, behind: f64) -> Option<(u64, u64)> {
    let full = here + FULL * (behind - here);
    let mut before = 0;
    let mut passed = 0.0;
    let mut fits = Vec::new();
    for &(nodes, load) in loads {
        let pass = nodes as f64 * load;
        let added = (pass - passed) / nodes.saturating_sub(before).max(1) as f64;
        // The first node that does not fit can cost more than several such nodes together. A pass
        // then gets shorter with the next node, but its mean latency stays high.
        let overshot = added < here / 2.0 && load > full;
        fits.push(added <= full && !overshot);
        (before, passed) = (nodes, pass);
    }
    // A full set stays full, so the last number of nodes that fits is decisive.
    let first = fits.iter().rposition(|fits| *fits)? + 1;
    let more = loads.get(first)?.0;
    (first + 1 < loads.len()).then_some((loads[first - 1].0, more.saturating_sub(1)))
}
