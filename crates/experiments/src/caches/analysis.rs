//! From a curve over sizes to levels, and from the probes to what caches do. Pure functions; the
//! rules and their constants are explained in docs/method/caches.md.

use stats::{CacheEnd, Knee, cache_ends, deviation, knees};
use std::ops::RangeInclusive;
use units::Bytes;

/// One size of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// The working set.
    pub size: Bytes,
    /// A load of it, in ns.
    pub latency: f64,
    /// Whether it is of the even grid on which levels are discovered.
    pub coarse: bool,
}

/// A level of the hierarchy as timing shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredLevel {
    /// A load that finds its line there, in ns.
    pub latency: f64,
    /// End of the level; `None` for the last one, which is memory unless a cache is larger than the
    /// largest size.
    pub end: Option<End>,
}

/// End of a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// The working set that explains the curve best.
    pub capacity: Bytes,
    /// The least one that explains it about as well.
    pub low: Bytes,
    /// The largest one that does.
    pub high: Bytes,
}

/// A rise of the curve as the coarse grid shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rise {
    /// The last size before it.
    pub last: Bytes,
    /// The first size in it.
    pub first: Bytes,
    /// The first size behind it.
    pub settled: Bytes,
}

/// Levels of a hierarchy differ by at least this, relatively.
const STEP: f64 = 0.2;

/// Share of a step that a fit has to confirm.
const CONFIRMED: f64 = 0.15;

/// Levels differ by at least this many ns: the next cache of every known core is several cycles
/// away.
const LEAST_RISE: f64 = 0.5;

/// Each cache is larger than the one before by at least this factor.
const APART: f64 = 2.0;

/// Between two ends a curve rises by less than this, relatively, over half a doubling somewhere:
/// else they are one.
const FLAT: f64 = 0.15;

/// Half a doubling, less what rounding to lines takes.
const HALF: f64 = 1.4;

/// The curve without what is lower again further on: a larger working set finds no more in any
/// cache, so that this is a disturbance. One place that is low alone counts for nothing.
fn settled(curve: &[CurvePoint]) -> Vec<CurvePoint> {
    let mut low = f64::INFINITY;
    let mut spots: Vec<CurvePoint> = Vec::with_capacity(curve.len());
    for (at, spot) in curve.iter().enumerate().rev() {
        if let Some(next) = curve.get(at + 1) {
            let both = curve
                .get(at + 2)
                .map_or(next.latency, |after| next.latency.max(after.latency));
            low = low.min(both);
        }
        spots.push(CurvePoint {
            latency: spot.latency.min(low),
            ..*spot
        });
    }
    spots.reverse();
    spots
}

/// The rises of a curve, by size.
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

/// The levels of a `curve` of rising sizes, nearest first: at least one, unless the curve is empty
/// or nonsense.
pub fn levels(curve: &[CurvePoint]) -> Vec<MeasuredLevel> {
    let curve = settled(curve);
    let x: Vec<f64> = curve.iter().map(|spot| spot.size.0 as f64).collect();
    let y: Vec<f64> = curve.iter().map(|spot| spot.latency).collect();
    let mut ranges: Vec<(f64, f64)> = rises_of(&curve)
        .iter()
        .map(|r| (r.last.0 as f64, r.settled.0 as f64))
        .collect();
    let mut ends = cache_ends(&x, &y, &ranges);
    // Each turn has one rise less.
    while let Some(at) = ends
        .windows(2)
        .position(|pair| !two_levels(&curve, &pair[0], &pair[1]))
    {
        if ends.len() < ranges.len() {
            break;
        }
        ranges[at].1 = ranges[at + 1].1;
        ranges.remove(at + 1);
        ends = cache_ends(&x, &y, &ranges);
    }
    let mut at = 0;
    while at < ends.len() && ends.len() == ranges.len() {
        // Each turn has one rise more, or goes to the next one.
        match split(&curve, &x, &y, &ranges, at, &ends) {
            Some((more, better)) => (ranges, ends) = (more, better),
            None => at += 1,
        }
    }
    ends.retain(|end| {
        end.after > end.before * (1.0 + CONFIRMED) && end.after - end.before >= LEAST_RISE
    });
    let bytes = |size: f64| Bytes(size.round() as u64);
    let mut levels: Vec<MeasuredLevel> = Vec::new();
    for end in &ends {
        let [capacity, low, high] = [end.capacity, end.low, end.high].map(bytes);
        levels.push(MeasuredLevel {
            latency: end.before,
            end: Some(End {
                capacity,
                low,
                high,
            }),
        });
    }
    let flat = || stats::median(&y);
    let last = ends.last().map(|end| end.after).or_else(flat);
    levels.extend(last.map(|latency| MeasuredLevel { latency, end: None }));
    levels
}

/// Ranges in which caches end, and the ends.
type Explained = (Vec<(f64, f64)>, Vec<CacheEnd>);

/// The ranges and ends with the one `at` a place made two, where the curve gets steeper again in
/// its rise and two caches explain what one does not.
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

/// Sizes around the flattest half of a doubling that has steeper ones on both sides within a rise,
/// to `1 / STEEPER` of their slopes; none where the curve only gets less steep.
fn valley(curve: &[CurvePoint], rise: RangeInclusive<f64>) -> impl Iterator<Item = f64> {
    let inside = |spot: &&CurvePoint| spot.coarse && rise.contains(&(spot.size.0 as f64));
    let spots: Vec<(f64, f64)> = curve
        .iter()
        .filter(inside)
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

/// Conditions for two ends: how much steeper a step has to become again, how much better two caches
/// have to explain it, and the share of loads that the second cache serves alone somewhere.
const STEEPER: f64 = 2.0;
const BETTER: f64 = 2.0;
const OWN: f64 = 0.5;

/// Whether something lies between two ends that is a level: they are far enough from each other,
/// and somewhere between them the curve is nearly flat.
fn two_levels(curve: &[CurvePoint], one: &CacheEnd, other: &CacheEnd) -> bool {
    let between: Vec<&CurvePoint> = curve
        .iter()
        .filter(|spot| {
            spot.coarse && (one.capacity..=other.capacity).contains(&(spot.size.0 as f64))
        })
        .collect();
    let half = |from: &&&CurvePoint| {
        let wide = |to: &&&CurvePoint| to.size.0 as f64 >= from.size.0 as f64 * HALF;
        between
            .iter()
            .find(wide)
            .is_some_and(|to| to.latency < from.latency * (1.0 + FLAT))
    };
    other.capacity >= one.capacity * APART && between.iter().any(|from| half(&from))
}

/// Which of the `reported` sizes belongs to each of those `found`, both rising: one after the other
/// where there are as many; else so that sizes differ as little as can be, by factors, and none is
/// left over of the fewer.
pub fn matched(found: &[Bytes], reported: &[Bytes]) -> Vec<Option<usize>> {
    let apart = |a: Bytes, b: Bytes| (a.0.max(1) as f64 / b.0.max(1) as f64).log2().abs();
    // By what is left of both: the least cost, and whether the first two belong together, or one of
    // them is left over.
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
    // No hierarchy is deeper; what a system reports beyond that is not worth the time.
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

/// Levels that take part in matching.
const DEEPEST: usize = 8;

/// The share of a load that the second of a pair inside a line may cost at most; the share that
/// another may cost more than that, and be inside one; and the share below which it is fetched
/// ahead.
const AT_MOST_WAITING: f64 = 0.5;
const FREE: f64 = 0.15;
const AHEAD: f64 = 0.8;

/// Effects between pairs of nodes at rising distances.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PairEffects {
    /// The line: twice the largest distance at which the second of two loads is free.
    pub line: Option<Bytes>,
    /// The largest distance within which the second load costs less than the first, though it is on
    /// another line; with what it costs of the first one.
    pub ahead: Option<(Bytes, f64)>,
}

/// Effects in `pairs` of distance and mean load, with rising distances, if the nearest cache takes
/// `near`. A pair inside a line takes (first + near) / 2; a pair far apart takes two loads.
pub fn pairs(pairs: &[(Bytes, f64)], near: f64) -> PairEffects {
    let Some(&(largest, apart)) = pairs.last() else {
        return PairEffects::default();
    };
    let second = |load: f64| (2.0 * load - apart - near) / (apart - near).max(f64::MIN_POSITIVE);
    // The nearest distance lies inside a line. It is not quite free: the second load waits until
    // the line is there.
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
    // Free at every distance, or at none: nothing is known of a line.
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

/// A stride is followed by a prefetcher where it takes less than this share of random order.
pub const FOLLOWED: f64 = 0.7;

/// The largest of the rising `strides` up to which all are followed, and the least that is not:
/// each with the share of random order that it takes.
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

/// The share of the way to the next level from which on a node more is one that does not fit.
const FULL: f64 = 0.3;

/// The ways of a cache, from the least to the most, by loads of rising numbers of nodes that share
/// a set: `here` is a load from the cache, `behind` one from the next. `None` where the set never
/// filled, or always was, or filled too late to tell.
///
/// A pass over n nodes takes n loads. One more node adds a load from here as long as all fit, and
/// at least one from the next level after that, for every replacement. The mean load alone would be
/// low as long as nearer caches have some of the nodes.
pub fn ways(loads: &[(u64, f64)], here: f64, behind: f64) -> Option<(u64, u64)> {
    let full = here + FULL * (behind - here);
    let mut before = 0;
    let mut passed = 0.0;
    let mut fits = Vec::new();
    for &(nodes, load) in loads {
        let pass = nodes as f64 * load;
        let added = (pass - passed) / nodes.saturating_sub(before).max(1) as f64;
        // One line too many can cost more than the next ones together: then a pass gets shorter,
        // and its loads stay long.
        let overshot = added < here / 2.0 && load > full;
        fits.push(added <= full && !overshot);
        (before, passed) = (nodes, pass);
    }
    // A full set stays full: the first place from which on all are.
    let first = fits.iter().rposition(|fits| *fits)? + 1;
    let more = loads.get(first)?.0;
    (first + 1 < loads.len()).then_some((loads[first - 1].0, more.saturating_sub(1)))
}
