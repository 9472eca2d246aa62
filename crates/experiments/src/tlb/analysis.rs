//! Derives levels of address translation from pairs of chains. The spread chain has one node in
//! each page. The packed chain has its nodes on neighbouring lines. A boundary is a number of pages
//! above which the spread chain costs more than before, compared with the packed chain.
//!
//! The functions are pure. docs/method/tlb.md explains the rule for boundaries and its constants.

use stats::{CacheEnd, Interval, cache_ends, deviation, median, median_interval};
use std::collections::BTreeMap;

/// Latency of the spread chain minus that of the packed chain in ns, by allocation and round.
pub type Differences = BTreeMap<(u32, u32), f64>;

/// Latencies of both chains at one number of pages.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PagesSeen {
    /// Number of pages with one node each, which is the number of TLB entries that the chain needs.
    pub entries: u64,
    /// Latency of the spread chain in ns. The tolerated noise is a share of it.
    pub spread: f64,
    /// Latency of the packed chain in ns, which rises where a data cache ends.
    pub packed: f64,
    /// Differences between the chains in two passes, which use different pairs of chains. The first
    /// pass discovers levels, the second pass confirms them.
    pub passes: [Differences; 2],
}

/// A number of pages above which translation costs more.
#[derive(Debug, Clone, PartialEq)]
pub struct Boundary {
    /// Largest number of pages at which no part of the rise shows.
    pub last: u64,
    /// Smallest number of pages from which on at least half of the rise shows.
    pub first: u64,
    /// Number of TLB entries that explains the rise best. The number lies between `last` and
    /// `first`.
    pub entries: u64,
    /// Smallest number of pages at which the whole rise shows.
    pub settled: u64,
    /// Cost of a miss at this boundary in ns: the height of the curve's next level above the level
    /// before.
    pub cost: f64,
    /// Interval of the cost over all rounds of both passes.
    pub interval: Interval,
    /// Largest number of pages on the curve's level after the boundary.
    pub level_end: u64,
}

impl Boundary {
    /// True if the latency stops rising before the largest number of pages, so that a level
    /// follows. Otherwise the cost is a range only, from the start of the rise to its end.
    pub fn is_followed_by_level(&self) -> bool {
        self.level_end > self.settled
    }
}

/// Reason why a rise is no boundary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RejectionReason {
    /// Latency is low again at one of the next two numbers of pages.
    NoPersistence,
    /// From this many pages on, the rise is gone. A TLB cannot cause this.
    GoneAgain(u64),
    /// Noise alone may cause a rise of this height.
    TouchesFloor,
    /// The second pass does not show the rise, or shows it elsewhere.
    NotConfirmed,
    /// Too few numbers of pages were measured after the rise.
    AtTheEnd,
    /// The rise is the third or a later one, and no level follows it. Its cost is not known within
    /// a factor of [`STEADY`], or the next level is shorter than [`LASTING`].
    KeepsRising,
    /// A miss would cost less than [`LEAST_COST`].
    TooSmall,
    /// A miss would cost less than a miss in the first-level TLB. A walk of the page tables never
    /// costs less.
    BelowFormer,
    /// A data cache ends at this number of pages. Misses in this cache explain the rise, see
    /// [`SPARED`].
    CacheEnds,
}

/// A rise that is no boundary.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejected {
    /// Largest number of pages before the rise.
    pub last: u64,
    /// Smallest number of pages in the rise.
    pub first: u64,
    /// Height of the rise in ns.
    pub rise: f64,
    /// Reason why the rise is no boundary.
    pub why: RejectionReason,
}

impl Rejected {
    /// The rise of `boundary`, rejected for the reason `why`.
    fn from(boundary: &Boundary, why: RejectionReason) -> Self {
        Self {
            last: boundary.last,
            first: boundary.first,
            rise: boundary.cost,
            why,
        }
    }
}

/// Boundaries of a curve.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CurveBoundaries {
    /// Boundaries by rising number of pages.
    pub boundaries: Vec<Boundary>,
    /// Rises that are no boundaries, by rising number of pages. Neighbouring rises with the same
    /// reason are merged.
    pub rejected: Vec<Rejected>,
}

/// Differences below this many ns are noise. A tenth of a nanosecond is about a third of a core
/// cycle.
const LEAST: f64 = 0.1;

/// A rise is a boundary only if a miss costs at least this many ns. Even the quickest second-level
/// TLB takes several core cycles.
const LEAST_COST: f64 = 0.5;

/// The end of a data cache explains a difference up to this share of the cost of a miss in that
/// cache. A prefetcher of neighbouring lines spares the packed chain at most every second miss.
const SPARED: f64 = 0.5;

/// A rise counts only if its height is at least this share of the latency of a load. The physical
/// placement of memory can have effects of up to this share.
const SHARE: f64 = 0.03;

/// A rise counts only if its height is at least this many times the median change between
/// neighbouring numbers of pages.
const USUAL: f64 = 1.5;

/// Number of earlier changes from which the median for [`USUAL`] is computed.
const EARLIER: usize = 8;

/// A rise needs this many places (numbers of pages) above the level before it: its first place and
/// the next two.
const PERSISTENT: usize = 3;

/// A level's value is computed from its last places, at most this many.
const LEVEL: usize = 12;

/// Two rises with fewer than this number of places between them count as one.
const APART: usize = 2;

/// Fewest rounds from which an interval is computed.
pub const FEWEST_ROUNDS: usize = 5;

/// From the third boundary on, the upper end of the cost's interval must be at most this many times
/// the lower end. Page tables that leave the caches gradually cause a slope, whose cost is less
/// certain.
const STEADY: f64 = 1.5;

/// From the third boundary on, the next level's last number of pages must be at least this many
/// times its first. Slopes also have short levels.
const LASTING: f64 = 2.0;

/// Number of first boundaries to which [`STEADY`] and [`LASTING`] do not apply.
const TLBS: usize = 2;

/// A tail is a further rise that is due to the same TLB as the step before it. Its height is at
/// most this many times the height of that step.
const TAIL: f64 = 2.0;

/// Like [`TAIL`], for the tail of the second TLB or a later one. A larger rise there is a slower
/// walk, because page tables leave the caches.
const WALK_TAIL: f64 = 0.75;

/// One TLB explains a curve as well as two TLBs if its error of fit is at most this many times the
/// error with two.
const ABOUT: f64 = 1.25;

/// A rise is complete if the next step is at most this share of the steepest step of the rise.
const CREEP: f64 = 0.25;

/// A place before the boundary shows a trace of the rise if its height exceeds this share of the
/// rise.
const TRACE: f64 = 0.15;

/// Levels of translation in `curve`, which has rising numbers of pages. A page of the packed chain
/// holds the nodes of `ratio` pages of the spread chain. Above `ratio` times the pages of a
/// boundary, both chains miss in the same TLB, and the difference falls again.
pub fn levels(curve: &[PagesSeen], ratio: u64) -> CurveBoundaries {
    let middles: Vec<f64> = curve.iter().map(|p| middle(&p.passes[0])).collect();
    let mut scan = Scan {
        curve,
        middles,
        ratio,
        level: Plateau::from_members(curve, vec![0]),
        open: None,
        found: CurveBoundaries::default(),
    };
    let mut at = 1;
    while at < curve.len() {
        at = scan.step(at);
    }
    scan.close();
    scan.join_tails();
    scan.drop_what_is_no_tlb();
    scan.tell_entries();
    scan.tidy()
}

/// Median of the differences; 0 if there are none.
fn middle(differences: &Differences) -> f64 {
    let values: Vec<f64> = differences.values().copied().collect();
    median(&values).unwrap_or(0.0)
}

/// Places between two rises, with the median of their differences in each round of each pass.
#[derive(Debug, Clone)]
struct Plateau {
    members: Vec<usize>,
    values: [Differences; 2],
}

impl Plateau {
    fn from_members(curve: &[PagesSeen], members: Vec<usize>) -> Self {
        let recent = &members[members.len().saturating_sub(LEVEL)..];
        let values = [0, 1].map(|pass| {
            let mut rounds: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
            for (round, value) in recent
                .iter()
                .filter_map(|&i| curve.get(i))
                .flat_map(|p| &p.passes[pass])
            {
                rounds.entry(*round).or_default().push(*value);
            }
            rounds
                .into_iter()
                .filter_map(|(round, values)| Some((round, median(&values)?)))
                .collect()
        });
        Self { members, values }
    }

    fn with(&self, curve: &[PagesSeen], member: usize) -> Self {
        Self::from_members(
            curve,
            self.members.iter().copied().chain([member]).collect(),
        )
    }

    fn last(&self) -> usize {
        self.members.last().copied().unwrap_or(0)
    }
}

/// A boundary while the level after it is not complete yet.
#[derive(Debug, Clone)]
struct OpenBoundary {
    boundary: Boundary,
    before: Plateau,
    /// The first place that is clearly above the level before the boundary.
    plain: usize,
    /// The place at which the rise is complete.
    settled: usize,
    /// Height of the steepest step between two places of the rise.
    steepest: f64,
}

/// Result of comparing a place with the level before it.
enum PlaceLevel {
    Flat,
    Fallen,
    Risen(f64),
    Rejected(f64, RejectionReason),
    /// A single outlier, which is not recorded.
    Stray,
}

/// State of a walk through a curve. A *place* is an index of `curve`: one number of pages.
struct Scan<'a> {
    curve: &'a [PagesSeen],
    /// Median difference of each place in the first pass.
    middles: Vec<f64>,
    ratio: u64,
    level: Plateau,
    open: Option<OpenBoundary>,
    found: CurveBoundaries,
}

impl Scan<'_> {
    /// Examines place `at` and returns the next place to examine.
    fn step(&mut self, at: usize) -> usize {
        match self.look(at) {
            PlaceLevel::Flat => self.level = self.level.with(self.curve, at),
            PlaceLevel::Fallen => {
                self.close();
                self.level = Plateau::from_members(self.curve, vec![at]);
            }
            PlaceLevel::Stray => {}
            PlaceLevel::Rejected(rise, why) => return self.reject(at, rise, why),
            PlaceLevel::Risen(rise) => return self.rise(at, rise),
        }
        at + 1
    }

    fn look(&self, at: usize) -> PlaceLevel {
        let floor = self.floor(at);
        let up = |i: usize| self.above(0, i).map_or(0.0, |(rise, _)| rise);
        let next = (at + 1..at + PERSISTENT).filter(|&i| i < self.curve.len());
        let rise = up(at);
        if rise < -floor
            && next.clone().count() + 1 == PERSISTENT
            && next.clone().all(|i| up(i) < -floor)
        {
            // The level is lower if the packed chain misses in a TLB, or if the level is short. If
            // not, the packed chain has left a data cache first. The level then stays as it was,
            // because the spread chain leaves the same cache later.
            let is_lower = self.packed_misses(at) > 0.0 || self.level.members.len() < PERSISTENT;
            return if is_lower {
                PlaceLevel::Fallen
            } else {
                PlaceLevel::Stray
            };
        }
        // A place belongs to the level if noise may cause its height, or if its step is small after
        // a fresh rise.
        let near: Vec<f64> = self
            .level
            .members
            .iter()
            .rev()
            .take(PERSISTENT)
            .map(|&i| self.middles[i])
            .collect();
        let edge = self.middles[at] - median(&near).unwrap_or(f64::INFINITY);
        if rise <= floor || edge <= floor.max(self.creep()) {
            return PlaceLevel::Flat;
        }
        let plain = self
            .above(0, at)
            .is_some_and(|(_, interval)| interval.low > floor);
        let stray = |why| {
            if plain {
                PlaceLevel::Rejected(rise, why)
            } else {
                PlaceLevel::Stray
            }
        };
        if at + PERSISTENT > self.curve.len() {
            return stray(RejectionReason::AtTheEnd);
        }
        if next.clone().any(|i| up(i) <= floor) {
            return stray(RejectionReason::NoPersistence);
        }
        let Some((together, interval)) = self.together(0, at) else {
            return PlaceLevel::Stray;
        };
        if interval.low <= floor {
            return PlaceLevel::Rejected(together, RejectionReason::TouchesFloor);
        }
        if let Some(gone) = self.gone(at, together) {
            return PlaceLevel::Rejected(
                together,
                RejectionReason::GoneAgain(self.curve[gone].entries),
            );
        }
        let confirmed = self
            .together(1, at)
            .is_some_and(|(again, i)| i.low > floor && again >= together / 2.0);
        if confirmed && self.last_before(at, together).is_some() {
            PlaceLevel::Risen(together)
        } else {
            PlaceLevel::Rejected(together, RejectionReason::NotConfirmed)
        }
    }

    /// Cost in ns of the packed chain's misses at place `at` in the TLBs found so far. If the
    /// packed chain has more pages than a TLB has entries, both chains miss, and the difference
    /// between them falls.
    fn packed_misses(&self, at: usize) -> f64 {
        let open = self.open.iter().map(|open| &open.boundary);
        let pages = self.curve[at].entries / self.ratio.max(1);
        let found = self.found.boundaries.iter().chain(open);
        let missed = found.filter(|boundary| pages >= boundary.last);
        missed.map(|boundary| boundary.cost).sum()
    }

    /// Largest step in ns that does not end the level after a fresh rise. The step is 0 if this
    /// level has [`APART`] places or more.
    fn creep(&self) -> f64 {
        let open = self.open.as_ref();
        let fresh = open.filter(|_| self.level.members.len() < APART);
        fresh.map_or(0.0, |open| open.steepest * CREEP)
    }

    /// Largest difference in ns between place `at` and the level before it that noise alone can
    /// cause.
    fn floor(&self, at: usize) -> f64 {
        let first = at.saturating_sub(EARLIER).max(1);
        let effects: Vec<f64> = (first..at)
            .map(|i| (self.middles[i] - self.middles[i - 1]).abs())
            .collect();
        let usual = median(&effects).unwrap_or(0.0);
        LEAST
            .max(SHARE * self.curve[at - 1].spread)
            .max(USUAL * usual)
    }

    /// Height in ns of place `at` above the current level: the median over the rounds of `pass`,
    /// with its interval. `None` for fewer than [`FEWEST_ROUNDS`] rounds.
    fn above(&self, pass: usize, at: usize) -> Option<(f64, Interval)> {
        self.paired(pass, at..at + 1)
    }

    /// Height of the three places from `at` on, like [`Scan::above`]. Each round counts with the
    /// median of its three places.
    fn together(&self, pass: usize, at: usize) -> Option<(f64, Interval)> {
        self.paired(pass, at..at + PERSISTENT)
    }

    fn paired(&self, pass: usize, places: std::ops::Range<usize>) -> Option<(f64, Interval)> {
        let places = self.curve.get(places)?;
        let round = |(round, base): (&(u32, u32), &f64)| {
            let here: Option<Vec<f64>> = places
                .iter()
                .map(|p| p.passes[pass].get(round).copied())
                .collect();
            Some(median(&here?)? - base)
        };
        let rises: Vec<f64> = self.level.values[pass].iter().filter_map(round).collect();
        if rises.len() < FEWEST_ROUNDS {
            return None;
        }
        Some((median(&rises)?, median_interval(&rises)?))
    }

    /// The first place from which on the `rise` at `at` is gone. The differences are corrected for
    /// misses of the packed chain in TLBs found before. Only places count at which the packed chain
    /// has too few pages to cross the same boundary.
    fn gone(&self, at: usize, rise: f64) -> Option<usize> {
        let base = middle(&self.level.values[0]) + self.packed_misses(at);
        let end = self.curve[at].entries.saturating_mul(self.ratio);
        let low = |i: usize| self.middles[i] + self.packed_misses(i) - base < rise / 2.0;
        let behind = at + PERSISTENT..(self.curve.len() + 1).saturating_sub(PERSISTENT);
        let mut clear = behind.filter(|&i| self.curve[i + PERSISTENT - 1].entries < end);
        clear.find(|&i| (i..i + PERSISTENT).all(low))
    }

    /// The last place of the level that shows no trace of the `rise` at `at` in either pass. `None`
    /// if the second pass shows the rise much earlier.
    fn last_before(&self, at: usize, rise: f64) -> Option<usize> {
        let trace = |pass: usize, i: usize| {
            self.above(pass, i)
                .is_some_and(|(up, interval)| interval.low > 0.0 && up > TRACE * rise)
        };
        let clear = |&&i: &&usize| !trace(0, i) && !trace(1, i);
        let members = self.level.members.iter().rev();
        let first = self.level.members.first().copied();
        let found = members.take(PERSISTENT).find(clear).copied();
        // If every place shows a trace of the step, the level is too short. Then only its first
        // place is certain.
        found
            .or_else(|| first.filter(|_| self.level.members.len() <= PERSISTENT))
            .filter(|&i| i < at)
    }

    /// Records a rise that is no boundary. Returns the next place to examine.
    fn reject(&mut self, at: usize, rise: f64, why: RejectionReason) -> usize {
        let entries = |i: usize| self.curve[i].entries;
        let rejected = Rejected {
            last: entries(at - 1),
            first: entries(at),
            rise,
            why,
        };
        let same = |r: &Rejected| std::mem::discriminant(&r.why) == std::mem::discriminant(&why);
        let follows = self
            .found
            .rejected
            .last()
            .is_some_and(|r| r.first == rejected.last && same(r));
        match self.found.rejected.last_mut().filter(|_| follows) {
            Some(before) => before.first = rejected.first,
            None => self.found.rejected.push(rejected),
        }
        match why {
            RejectionReason::GoneAgain(entries) => self
                .curve
                .iter()
                .position(|p| p.entries == entries)
                .unwrap_or(at + 1),
            RejectionReason::NotConfirmed => {
                // The next level starts at this place, because the first pass shows the step.
                self.close();
                self.level = Plateau::from_members(self.curve, vec![at]);
                at + 1
            }
            _ => at + 1,
        }
    }

    /// Opens a boundary at place `at`. Returns the place after the end of its rise.
    fn rise(&mut self, at: usize, rise: f64) -> usize {
        let floor = self.floor(at);
        let mut settled = at;
        let mut steepest = self.middles[at] - self.middles[self.level.last()];
        while let Some(next) = self.middles.get(settled + 1) {
            let step = next - self.middles[settled];
            if step <= floor.max(steepest * CREEP) {
                break;
            }
            steepest = steepest.max(step);
            settled += 1;
        }
        let next = Plateau::from_members(self.curve, vec![settled]);
        let short = self.level.members.len() < APART;
        if let Some(open) = self.open.as_mut().filter(|_| short) {
            // Almost no place lies between this rise and the previous rise, so both are one rise.
            (open.settled, open.steepest, self.level) = (settled, steepest, next);
            return settled + 1;
        }
        let entries = |i: usize| self.curve[i].entries;
        let plain = |i: &usize| {
            let clear = |pass| {
                self.above(pass, *i)
                    .is_some_and(|(_, interval)| interval.low > floor)
            };
            clear(0) && clear(1)
        };
        let first = (at..at + PERSISTENT)
            .find(plain)
            .unwrap_or(at + PERSISTENT - 1);
        let last = self.last_before(at, rise).unwrap_or(at - 1);
        let interval = Interval {
            low: 0.0,
            high: 0.0,
            attained: 0.0,
        };
        let boundary = Boundary {
            last: entries(last),
            first: entries(first),
            entries: 0,
            settled: 0,
            cost: rise,
            interval,
            level_end: 0,
        };
        self.close();
        let before = std::mem::replace(&mut self.level, next);
        self.open = Some(OpenBoundary {
            boundary,
            before,
            plain: first,
            settled,
            steepest,
        });
        settled + 1
    }

    /// Completes the open boundary at the end of the current level. The cost is the difference
    /// between this level and the level before the boundary.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let rises = (0..2).flat_map(|pass| {
            let before = &open.before.values[pass];
            let after = self.level.values[pass].iter();
            after
                .filter_map(|(round, value)| Some(value - before.get(round)?))
                .collect::<Vec<f64>>()
        });
        let rises: Vec<f64> = rises.collect();
        let mut boundary = open.boundary;
        if let (Some(cost), Some(interval)) = (median(&rises), median_interval(&rises)) {
            (boundary.cost, boundary.interval) = (cost, interval);
        }
        let half = |i: &usize| {
            let up = |i: usize| {
                self.over(&open.before, i)
                    .is_none_or(|up| up >= boundary.cost / 2.0)
            };
            up(*i) && (*i + 1 >= self.curve.len() || up(*i + 1))
        };
        let first = (open.plain..open.settled)
            .find(half)
            .unwrap_or(open.settled.max(open.plain));
        boundary.first = self.curve[first].entries;
        boundary.settled = self.curve[open.settled].entries.max(boundary.first);
        boundary.level_end = self.curve[self.level.last()].entries;
        if !boundary.is_followed_by_level()
            && let Some(up) = self.over(&open.before, open.plain)
        {
            boundary.interval.low = boundary.interval.low.min(up);
        }
        self.found.boundaries.push(boundary);
    }

    /// Median height of place `at` above `level` over all rounds of both passes. `None` without a
    /// common round.
    fn over(&self, level: &Plateau, at: usize) -> Option<f64> {
        let rises = (0..2).flat_map(|pass| {
            let here = self.curve[at].passes[pass].iter();
            here.filter_map(move |(round, value)| Some(value - level.values[pass].get(round)?))
        });
        median(&rises.collect::<Vec<f64>>())
    }

    /// Rejects boundaries that the end of a data cache explains, and boundaries with too small a
    /// cost. The low end of the cost's interval decides.
    fn drop_what_is_no_tlb(&mut self) {
        let mut counted: Vec<Boundary> = Vec::new();
        for boundary in std::mem::take(&mut self.found.boundaries) {
            let cost = boundary.interval.low;
            let former = counted.first().filter(|_| counted.len() < TLBS);
            let why = if cost <= SPARED * self.packed_rise(&boundary) {
                Some(RejectionReason::CacheEnds)
            } else if cost < LEAST_COST {
                Some(RejectionReason::TooSmall)
            } else if former.is_some_and(|former| boundary.interval.high < former.interval.low) {
                Some(RejectionReason::BelowFormer)
            } else {
                None
            };
            match why {
                Some(why) => self.found.rejected.push(Rejected::from(&boundary, why)),
                None => counted.push(boundary),
            }
        }
        self.found.boundaries = counted;
    }

    /// Rise of the packed chain past `boundary` in ns. The packed chain has the same lines in far
    /// fewer pages, so its step is the end of a data cache. The spread chain may leave the cache a
    /// little earlier or later, which shifts the difference of the chains.
    fn packed_rise(&self, boundary: &Boundary) -> f64 {
        let index = |entries: u64| self.curve.partition_point(|place| place.entries < entries);
        let before = index(boundary.last).saturating_sub(1);
        let behind = (index(boundary.settled) + 1).min(self.curve.len() - 1);
        self.curve[behind].packed - self.curve[before].packed
    }

    /// Merges a boundary with the previous boundary if it is the tail of the previous rise. A TLB
    /// may keep some entries of a set of pages that is too large for it.
    fn join_tails(&mut self) {
        let mut at = 1;
        while at < self.found.boundaries.len() {
            if !self.is_tail(at) {
                at += 1;
                continue;
            }
            let tail = self.found.boundaries.remove(at);
            if let Some(one) = self.found.boundaries.get_mut(at - 1) {
                one.settled = tail.settled;
                one.level_end = tail.level_end;
                one.cost += tail.cost;
                one.interval.low += tail.interval.low;
                one.interval.high += tail.interval.high;
            }
        }
    }

    /// True if boundary `at` is the tail of the previous boundary. One TLB must explain the curve
    /// around both about as well as two TLBs. The second step must not be much larger than the
    /// first. Only places count at which the packed chain has no more pages than the first TLB has
    /// entries.
    fn is_tail(&self, at: usize) -> bool {
        let [one, other] = &self.found.boundaries[at - 1..=at] else {
            return false;
        };
        let start = at.checked_sub(2).map_or(0, |before| {
            self.found.boundaries[before].settled.min(one.last)
        });
        let stop = self
            .found
            .boundaries
            .get(at + 1)
            .map_or(u64::MAX, |next| next.last);
        let end = stop.min(one.last.saturating_mul(self.ratio));
        let before = &self.found.boundaries[..at];
        let tlbs = before.iter().filter(|b| b.cost >= LEAST_COST).count();
        let tail = if tlbs < TLBS { TAIL } else { WALK_TAIL };
        if other.cost > one.cost * tail || other.settled >= end {
            return false;
        }
        let (x, y) = self.loads(start..=end);
        let range = |from: u64, to: u64| (from as f64, to as f64);
        let two = cache_ends(
            &x,
            &y,
            &[
                range(one.last, one.settled),
                range(other.last, other.settled),
            ],
        );
        let single = cache_ends(&x, &y, &[range(one.last, other.settled.min(end))]);
        let off = |ends: &[CacheEnd]| deviation(&x, &y, ends);
        off(&single)
            .zip(off(&two))
            .is_some_and(|(single, two)| single <= two * ABOUT)
    }

    /// Numbers of pages in `range`, and a latency in ns for each. The latency is the spread chain's
    /// at the smallest number of pages, plus the difference between the chains.
    fn loads(&self, range: std::ops::RangeInclusive<u64>) -> (Vec<f64>, Vec<f64>) {
        let base = self.curve.first().map_or(0.0, |place| place.spread);
        let load = |place: &PagesSeen| {
            let both: Vec<f64> = place
                .passes
                .iter()
                .flat_map(|pass| pass.values().copied())
                .collect();
            (
                place.entries as f64,
                (base + median(&both).unwrap_or(0.0)).max(base / 2.0),
            )
        };
        self.curve
            .iter()
            .filter(|place| range.contains(&place.entries))
            .map(load)
            .unzip()
    }

    /// Finds for each boundary the number of entries that explains the curve best, over several
    /// replacement policies. The model expects latencies, so the latency of the smallest number of
    /// pages is added to the differences.
    fn tell_entries(&mut self) {
        let (x, y) = self.loads(0..=u64::MAX);
        let rises: Vec<(f64, f64)> = self
            .found
            .boundaries
            .iter()
            .map(|b| (b.last as f64, b.settled as f64))
            .collect();
        let ends = cache_ends(&x, &y, &rises);
        for boundary in &mut self.found.boundaries {
            let low = boundary.last as f64;
            let high = boundary.first as f64;
            let inside = ends
                .iter()
                .map(|end| end.capacity)
                .find(|capacity| (low..=high).contains(capacity));
            boundary.entries = inside.unwrap_or((low * high).sqrt()).round() as u64;
        }
    }

    /// The result without rejected rises inside an accepted rise, and without slopes that no level
    /// follows.
    fn tidy(self) -> CurveBoundaries {
        let CurveBoundaries {
            boundaries,
            mut rejected,
        } = self.found;
        rejected.retain(|r| {
            !boundaries
                .iter()
                .any(|b| r.first >= b.last && r.last <= b.settled)
        });
        let mut counted: Vec<Boundary> = Vec::new();
        for boundary in boundaries {
            let steady = boundary.interval.high <= boundary.interval.low * STEADY;
            let lasts = boundary.level_end as f64 >= boundary.settled as f64 * LASTING;
            if counted.len() < TLBS || steady && lasts {
                counted.push(boundary);
            } else {
                rejected.push(Rejected::from(&boundary, RejectionReason::KeepsRising));
            }
        }
        rejected.sort_by_key(|r| r.last);
        CurveBoundaries {
            boundaries: counted,
            rejected,
        }
    }
}
