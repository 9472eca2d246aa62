//! Computes capacities of caches from a curve of latency over the size of the working set.

/// The end of a cache on a curve of latency over size: working sets beyond it no longer fit into
/// the cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheEnd {
    /// Capacity of the cache that explains the curve best, in the unit of x.
    pub capacity: f64,
    /// Smallest capacity that explains the curve about as well as `capacity`. It is not above the
    /// nearest x at or below `capacity`.
    pub low: f64,
    /// Largest capacity that explains the curve about as well as `capacity`. It is not below the
    /// nearest x above `capacity`.
    pub high: f64,
    /// Latency of the cache itself, in the unit of y.
    pub before: f64,
    /// Latency of the level behind the cache, in the unit of y.
    pub after: f64,
    /// Index of the rise that belongs to this cache, among the rises that [`cache_ends`] was given.
    pub rise: usize,
    /// Replacement policy that explains the curve best.
    policy: ReplacementModel,
}

/// Model of a replacement policy: the hit rate as a function of the size of the working set.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ReplacementModel {
    /// Least recently used with evenly filled sets: a cyclic walk larger than the cache has no
    /// hits.
    Recent,
    /// Least recently used with unevenly filled sets. The hit rate is one half at the capacity. The
    /// field is the exponent with which the hit rate falls.
    Uneven(f64),
    /// Least recently used in sets of this many ways. Pages are mapped to the sets at random,
    /// because small pages have unrelated physical addresses.
    Scattered(u32),
    /// A fixed part of the working set, as large as the cache, stays in the cache. Some policies
    /// behave like this, because they do not insert streamed lines.
    Part,
    /// Random replacement: every miss evicts a random line.
    Chance,
}

/// All policies that are fitted to a curve.
const POLICIES: [ReplacementModel; 11] = [
    ReplacementModel::Recent,
    ReplacementModel::Uneven(64.0),
    ReplacementModel::Uneven(32.0),
    ReplacementModel::Uneven(16.0),
    ReplacementModel::Uneven(8.0),
    ReplacementModel::Uneven(5.0),
    ReplacementModel::Uneven(3.0),
    ReplacementModel::Scattered(8),
    ReplacementModel::Scattered(16),
    ReplacementModel::Part,
    ReplacementModel::Chance,
];

/// Number of capacities per doubling in the coarse search, and in the fine search after it.
const COARSE: f64 = 16.0;
const FINE: f64 = 128.0;

/// A fit uses points up to this many times the first x behind the rise, but no points beyond the
/// next rise. Later points are left out, because a level often rises a little towards its end.
const REACH: f64 = 2.0;

/// Number of iterations of the weighted least-squares fit. The iterations approximate least
/// absolute deviations.
const TURNS: usize = 4;

/// A capacity explains a curve about as well as the best capacity if its mean relative deviation is
/// at most the limit. The limit is the least deviation times `ABOUT`, plus `ABOUT_MORE`.
const ABOUT: f64 = 1.25;
const ABOUT_MORE: f64 = 0.001;

impl ReplacementModel {
    /// Hit rate, from 0 to 1. `ratio` is the size of the working set divided by the capacity of the
    /// cache.
    fn hits(self, ratio: f64) -> f64 {
        match self {
            ReplacementModel::Uneven(steepness) => 1.0 / (1.0 + ratio.powf(steepness)),
            ReplacementModel::Scattered(ways) => fewer_than(ways, ratio * f64::from(ways)),
            _ if ratio <= 1.0 => 1.0,
            ReplacementModel::Recent => 0.0,
            ReplacementModel::Part => 1.0 / ratio,
            ReplacementModel::Chance => by_chance(ratio),
        }
    }
}

/// Probability that a Poisson variable with this `mean` is below `count`. With `mean` other pages
/// per set and `count` ways, this is the probability that a page stays cached.
pub fn fewer_than(count: u32, mean: f64) -> f64 {
    let mut term = (-mean).exp();
    let mut sum = 0.0;
    for k in 1..=count {
        sum += term;
        term *= mean / f64::from(k);
    }
    sum
}

/// Hit rate h under random replacement. `ratio` is the size of the working set divided by the
/// capacity of the cache, and is above 1. The rate h is the solution below 1 of h = exp(-(1 - h)
/// ratio). The equation holds because every miss evicts each line with the same probability.
fn by_chance(ratio: f64) -> f64 {
    let mut low = 0.0;
    let mut high = 1.0 / ratio;
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if (-(1.0 - middle) * ratio).exp() > middle {
            low = middle
        } else {
            high = middle
        }
    }
    low
}

/// A cache that is nearer to the core than the cache that is being fitted. Its parameters are
/// already known.
#[derive(Debug, Clone, Copy)]
struct KnownCache {
    policy: ReplacementModel,
    capacity: f64,
    load: f64,
}

/// Fit of one capacity and one policy to a part of a curve, with its mean relative deviation.
#[derive(Debug, Clone, Copy)]
struct Fit {
    policy: ReplacementModel,
    capacity: f64,
    before: f64,
    after: f64,
    deviation: f64,
}

/// Finds the end of one cache for each of the `rises` of the curve `y` over rising `x`, in order.
/// Each rise is a pair: the last x before it, and the first x behind it. Rises that no cache
/// explains are left out. The result is empty if `x` does not rise, lengths differ, or a value is
/// not finite and above 0.
///
/// With hit rate h, the mean latency is h × the cache's latency + (1 - h) × the latency of the next
/// level. Just beyond the capacity, h depends on the replacement policy, which is unknown. Every
/// policy is tried with every capacity, and the result is the combination with the least absolute
/// deviations relative to y. In this way, both a jump and a bend give the capacity. Each of the two
/// fitted latencies is the latency of one level, even if every point of the curve mixes both
/// levels.
///
/// Sources: stack distances of a cyclic walk under LRU (Mattson et al., IBM Systems Journal 9,
/// 1970); random replacement (the fixed point above, as for the Che approximation with random
/// eviction); policies that keep a part of what is too large (Qureshi et al., "Adaptive insertion
/// policies for high performance caching", ISCA 2007); least absolute deviations by reweighted
/// squares (Schlossmacher, JASA 68, 1973).
pub fn cache_ends(x: &[f64], y: &[f64], rises: &[(f64, f64)]) -> Vec<CacheEnd> {
    let good = |v: &f64| v.is_finite() && *v > 0.0;
    let rising = x.windows(2).all(|pair| pair[0] < pair[1]);
    if x.len() != y.len() || !rising || !x.iter().chain(y).all(good) {
        return Vec::new();
    }
    let mut nearer: Vec<KnownCache> = Vec::new();
    let mut ends = Vec::new();
    for (at, &(from, to)) in rises.iter().enumerate() {
        let start = at
            .checked_sub(1)
            .map_or(0.0, |before| rises[before].1.min(from));
        let stop = rises
            .get(at + 1)
            .map_or(f64::INFINITY, |next| next.0.min(to * REACH).max(to));
        let first = x
            .partition_point(|v| *v < start)
            .min(x.partition_point(|v| *v <= from).saturating_sub(2));
        let last = x.partition_point(|v| *v <= stop);
        let Some((x, y)) = x.get(first..last).zip(y.get(first..last)) else {
            continue;
        };
        let Some(end) = Part {
            x,
            y,
            nearer: &nearer,
        }
        .end(from, to) else {
            continue;
        };
        nearer.push(end.known());
        ends.push(CacheEnd { rise: at, ..end });
    }
    ends
}

/// The part of a curve around one rise, and the caches that were found at earlier rises (`nearer`).
struct Part<'a> {
    x: &'a [f64],
    y: &'a [f64],
    nearer: &'a [KnownCache],
}

impl Part<'_> {
    /// The end of the cache whose capacity lies near the range from `from` to `to`. `None` if no
    /// policy fits.
    fn end(&self, from: f64, to: f64) -> Option<CacheEnd> {
        let low = from / std::f64::consts::SQRT_2;
        let high = to.max(from * std::f64::consts::SQRT_2);
        let coarse = self.fits(low, high, COARSE);
        let best = coarse
            .iter()
            .min_by(|a, b| a.deviation.total_cmp(&b.deviation))?;
        let near = 2f64.powf(1.0 / COARSE);
        let mut fits = self.fits(best.capacity / near, best.capacity * near, FINE);
        fits.extend(&coarse);
        let least = fits
            .iter()
            .map(|fit| fit.deviation)
            .min_by(f64::total_cmp)?;
        // If the curve jumps, all capacities between two points fit equally well. The middle of
        // these capacities is taken.
        let mut tied: Vec<&Fit> = fits
            .iter()
            .filter(|fit| fit.deviation <= least + 1e-9)
            .collect();
        tied.sort_by(|a, b| a.capacity.total_cmp(&b.capacity));
        let first = tied.first()?;
        let last = tied.last()?;
        let best = Fit {
            capacity: (first.capacity * last.capacity).sqrt(),
            ..**tied.get(tied.len() / 2)?
        };
        let about = |fit: &&Fit| fit.deviation <= least * ABOUT + ABOUT_MORE;
        let range =
            |(low, high): (f64, f64), fit: &Fit| (low.min(fit.capacity), high.max(fit.capacity));
        let (low, high) = fits
            .iter()
            .filter(about)
            .fold((best.capacity, best.capacity), range);
        let below = self
            .x
            .iter()
            .rev()
            .copied()
            .find(|x| *x <= best.capacity)
            .unwrap_or(best.capacity);
        let above = self
            .x
            .iter()
            .copied()
            .find(|x| *x > best.capacity)
            .unwrap_or(best.capacity);
        let low = low.min(below);
        let high = high.max(above);
        let Fit {
            policy,
            capacity,
            before,
            after,
            ..
        } = best;
        Some(CacheEnd {
            capacity,
            low,
            high,
            before,
            after,
            rise: 0,
            policy,
        })
    }

    /// Fits every policy with capacities from `low` to `high`. There are `steps` capacities per
    /// doubling.
    fn fits(&self, low: f64, high: f64, steps: f64) -> Vec<Fit> {
        let count = ((high / low).log2() * steps).ceil().clamp(0.0, 4096.0) as usize;
        let capacities = (0..=count).map(|i| low * 2f64.powf(i as f64 / steps));
        capacities
            .flat_map(|c| {
                POLICIES
                    .iter()
                    .filter_map(move |&policy| self.fit(policy, c))
            })
            .collect()
    }

    /// Fits the latencies of the cache and of the level behind it, for a given policy and capacity.
    /// `None` if the points do not determine both latencies.
    fn fit(&self, policy: ReplacementModel, capacity: f64) -> Option<Fit> {
        // y = known + before * in_cache + after * behind
        let terms: Vec<(f64, f64, f64)> = self
            .x
            .iter()
            .map(|&x| self.terms(policy, capacity, x))
            .collect();
        let mut weights: Vec<f64> = self.y.iter().map(|y| 1.0 / (y * y)).collect();
        let mut solved = None;
        for _ in 0..TURNS {
            let (before, after) = solve(&terms, self.y, &weights)?;
            let off = |((known, cache, behind), y): (&(f64, f64, f64), &f64)| {
                ((known + before * cache + after * behind - y) / y).abs()
            };
            let offs: Vec<f64> = terms.iter().zip(self.y).map(off).collect();
            let deviation = offs.iter().sum::<f64>() / offs.len() as f64;
            for ((weight, y), off) in weights.iter_mut().zip(self.y).zip(&offs) {
                *weight = 1.0 / (y * y * off.max(1e-6));
            }
            solved = Some(Fit {
                policy,
                capacity,
                before,
                after,
                deviation,
            });
        }
        solved.filter(|fit| fit.before > 0.0 && fit.after > fit.before)
    }

    /// Terms of the mean latency at `x`. The first is the time of loads that hit nearer caches. The
    /// others are the shares of loads that hit the fitted cache, and that miss it.
    fn terms(&self, policy: ReplacementModel, capacity: f64, x: f64) -> (f64, f64, f64) {
        let (known, held) = found_in(self.nearer, x);
        let hits = policy.hits(x / capacity).max(held);
        (known, hits - held, 1.0 - hits)
    }
}

/// Loads of a working set of the size `x` that hit one of `caches`: the part of the mean latency
/// that they add, and their share of all loads. `caches` are nearest first.
fn found_in(caches: &[KnownCache], x: f64) -> (f64, f64) {
    let add = |(sum, held): (f64, f64), cache: &KnownCache| {
        let hits = cache.policy.hits(x / cache.capacity).max(held);
        (sum + cache.load * (hits - held), hits)
    };
    caches.iter().fold((0.0, 0.0), add)
}

/// Mean absolute deviation, relative to y, between the curve and the latencies that the caches of
/// `ends` predict. `ends` are nearest first. `None` without points or ends.
pub fn deviation(x: &[f64], y: &[f64], ends: &[CacheEnd]) -> Option<f64> {
    let behind = ends.last()?.after;
    let caches: Vec<KnownCache> = ends.iter().map(CacheEnd::known).collect();
    let off = |(&x, &y): (&f64, &f64)| {
        let (known, held) = found_in(&caches, x);
        ((known + behind * (1.0 - held) - y) / y).abs()
    };
    let offs: Vec<f64> = x.iter().zip(y).map(off).collect();
    (!offs.is_empty()).then(|| offs.iter().sum::<f64>() / offs.len() as f64)
}

impl CacheEnd {
    fn known(&self) -> KnownCache {
        KnownCache {
            policy: self.policy,
            capacity: self.capacity,
            load: self.before,
        }
    }

    /// Share of the loads that miss the cache `nearer` and hit this cache, for a working set of the
    /// size `x`.
    pub fn own_share(&self, nearer: &CacheEnd, x: f64) -> f64 {
        let held = |end: &CacheEnd| end.policy.hits(x / end.capacity);
        (held(self) - held(nearer)).max(0.0)
    }
}

/// Weighted least squares: the factors f and g with which known + f a + g b is closest to `y`. Each
/// of `terms` is (known, a, b). `None` if the terms do not determine both factors.
fn solve(terms: &[(f64, f64, f64)], y: &[f64], weights: &[f64]) -> Option<(f64, f64)> {
    let mut aa = 0.0;
    let mut ab = 0.0;
    let mut bb = 0.0;
    let mut ay = 0.0;
    let mut by = 0.0;
    for (((known, a, b), y), w) in terms.iter().zip(y).zip(weights) {
        let y = y - known;
        aa += w * a * a;
        ab += w * a * b;
        bb += w * b * b;
        ay += w * a * y;
        by += w * b * y;
    }
    let determinant = aa * bb - ab * ab;
    if determinant.is_nan() || determinant <= 1e-9 * aa * bb {
        return None;
    }
    Some((
        (ay * bb - by * ab) / determinant,
        (by * aa - ay * ab) / determinant,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::SplitMix64;
    use super::super::order::tests::normal;
    use super::*;

    /// Capacity and latency of each cache, and the latency of memory last.
    const CACHES: [(f64, f64); 3] = [(48.0, 1.0), (2048.0, 3.5), (36000.0, 12.0)];
    const MEMORY: f64 = 95.0;

    /// Latency of a working set of the size `x` if all caches have this policy.
    fn load(policy: ReplacementModel, x: f64) -> f64 {
        let mut held = 0.0;
        let mut sum = 0.0;
        for (capacity, load) in CACHES {
            let hits = policy.hits(x / capacity).max(held);
            sum += load * (hits - held);
            held = hits;
        }
        sum + MEMORY * (1.0 - held)
    }

    /// Sizes of working sets: 4 per doubling, and 16 per doubling around each capacity.
    fn grid() -> Vec<f64> {
        let mut x: Vec<f64> = (0..64)
            .map(|i| 4.0 * 2f64.powf(f64::from(i) / 4.0))
            .collect();
        for (capacity, _) in CACHES {
            let start = 4.0 * 2f64.powf(((capacity / 4.0f64).log2() * 4.0).floor() / 4.0 - 0.25);
            x.extend((0..12).map(|i| start * 2f64.powf(f64::from(i) / 16.0)));
        }
        x.sort_by(f64::total_cmp);
        x.dedup_by(|b, a| *b / *a < 1.01);
        x
    }

    const RISES: [(f64, f64); 3] = [(46.0, 108.0), (1950.0, 4600.0), (32000.0, 90000.0)];

    fn close(a: f64, b: f64, share: f64) -> bool {
        (a / b - 1.0).abs() <= share
    }

    #[test]
    fn capacities_and_loads_are_found_however_the_caches_replace() {
        let x = grid();
        for policy in POLICIES {
            let y: Vec<f64> = x.iter().map(|&x| load(policy, x)).collect();
            let ends = cache_ends(&x, &y, &RISES);
            assert_eq!(ends.len(), 3, "{policy:?}");
            let loads = [1.0, 3.5, 12.0, MEMORY];
            for ((end, (capacity, _)), loads) in ends.iter().zip(CACHES).zip(loads.windows(2)) {
                assert!(
                    end.low <= capacity * 1.01 && capacity <= end.high * 1.01,
                    "{policy:?}: {end:?}"
                );
                // If the bend is long, many capacities explain it about as well.
                let long =
                    matches!(policy, ReplacementModel::Uneven(steepness) if steepness < 16.0);
                let width = if long || matches!(policy, ReplacementModel::Scattered(_)) {
                    1.5
                } else {
                    1.12
                };
                let near = if width > 1.2 { 0.1 } else { 0.045 };
                assert!(close(end.capacity, capacity, near), "{policy:?}: {end:?}");
                assert!(
                    end.low > capacity / width && end.high < capacity * width,
                    "{policy:?}: {end:?}"
                );
                let after = if width > 1.2 { 0.1 } else { 0.03 };
                assert!(
                    close(end.before, loads[0], 0.02) && close(end.after, loads[1], after),
                    "{policy:?}: {end:?}"
                );
            }
        }
    }

    #[test]
    fn noise_and_strays_move_them_little() {
        let x = grid();
        let mut random = SplitMix64::new(3);
        for trial in 0..30 {
            let policy = POLICIES[trial % POLICIES.len()];
            let mut y: Vec<f64> = x
                .iter()
                .map(|&x| load(policy, x) * (1.0 + 0.01 * normal(&mut random)))
                .collect();
            y[5 + trial] *= 1.5;
            let ends = cache_ends(&x, &y, &RISES);
            assert_eq!(ends.len(), 3, "{policy:?}");
            for (end, (capacity, _)) in ends.iter().zip(CACHES) {
                assert!(
                    close(end.capacity, capacity, 0.12),
                    "{trial} {policy:?}: {end:?}"
                );
            }
        }
    }

    #[test]
    fn random_replacement_keeps_what_its_equation_says() {
        for (ratio, share) in [
            (1.0001, 0.9998),
            (1.5, 0.4172),
            (2.0, 0.2032),
            (4.0, 0.0198),
        ] {
            assert!(
                (by_chance(ratio) - share).abs() < 2e-4,
                "{ratio}: {}",
                by_chance(ratio)
            );
        }
    }

    #[test]
    fn scattered_pages_fill_sets_by_chance() {
        // Poisson(16) is below 16 in 46.7%, Poisson(8) below 16 in 99.2%, Poisson(24) below 16 in
        // 3.4% of the cases.
        for (ratio, share) in [
            (1.0, 0.4667),
            (0.5, 0.9918),
            (1.5, 0.0344),
            (1e-9, 1.0),
            (1e6, 0.0),
        ] {
            assert!(
                (ReplacementModel::Scattered(16).hits(ratio) - share).abs() < 1e-3,
                "{ratio}"
            );
        }
    }

    #[test]
    fn nothing_of_nonsense() {
        let x = [1.0, 2.0, 4.0, 8.0];
        assert!(cache_ends(&[], &[], &[(1.0, 2.0)]).is_empty());
        assert!(cache_ends(&x, &[1.0; 3], &[(2.0, 4.0)]).is_empty());
        assert!(cache_ends(&[1.0, 2.0, 2.0, 3.0], &[1.0; 4], &[(2.0, 4.0)]).is_empty());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(cache_ends(&x, &[1.0, bad, 2.0, 2.0], &[(2.0, 4.0)]).is_empty());
        }
        // A falling or flat curve shows no end of a cache.
        assert!(cache_ends(&x, &[2.0, 2.0, 1.0, 1.0], &[(2.0, 4.0)]).is_empty());
        let flat = cache_ends(&x, &[1.0; 4], &[(2.0, 4.0)]);
        assert!(
            flat.iter().all(|end| end.after < end.before * 1.001),
            "{flat:?}"
        );
        for rises in [
            [(0.0, 0.0)],
            [(f64::NAN, 1.0)],
            [(8.0, 1.0)],
            [(1e300, 1e301)],
        ] {
            cache_ends(&x, &[1.0, 1.0, 2.0, 2.0], &rises);
        }
    }
}
