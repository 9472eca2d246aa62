//! From paired chains to levels of address translation: at how many pages it begins to cost that
//! the nodes of a chain are spread over them.
//!
//! Pure functions; the rule and its constants are explained in docs/method/tlb.md.

use stats::{CacheEnd, Interval, cache_ends, deviation, median, median_interval};
use std::collections::BTreeMap;

/// Spread less packed in ns, by allocation and round.
pub type Differences = BTreeMap<(u32, u32), f64>;

/// Latencies with one number of pages.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PagesSeen {
    /// Pages, each with one node: entries that a TLB needs for them.
    pub entries: u64,
    /// One load of the spread chain, in ns: what noise is relative to.
    pub spread: f64,
    /// One load of the packed chain, in ns: it rises where a data cache ends.
    pub packed: f64,
    /// Cost of spreading, in two passes with chains of their own: one discovers levels, one
    /// confirms them.
    pub passes: [Differences; 2],
}

/// A number of pages beyond which translation costs more.
#[derive(Debug, Clone, PartialEq)]
pub struct Boundary {
    /// The most pages at which nothing of the rise is seen.
    pub last: u64,
    /// The fewest pages from which on at least half of the rise is there.
    pub first: u64,
    /// The number of entries, between the two, that explains the rise best.
    pub entries: u64,
    /// The fewest pages at which it is complete.
    pub settled: u64,
    /// Extra time of a load past this boundary, in ns: the difference of the levels before and
    /// after.
    pub cost: f64,
    /// How well that is known, over all rounds of both passes.
    pub interval: Interval,
}

/// Why a rise is no boundary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Why {
    /// The next two places lie lower again.
    NoPersistence,
    /// It is gone from this many pages on: a chain that does not fit never fits again.
    GoneAgain(u64),
    /// Noise alone may rise as far.
    TouchesFloor,
    /// The second pass does not have it, or has it elsewhere.
    NotConfirmed,
    /// Too few places behind it to know.
    AtTheEnd,
    /// A third one or further that no level follows: what it costs is not known to a factor of
    /// [`STEADY`].
    KeepsRising,
    /// A miss would cost less than [`LEAST_COST`].
    TooSmall,
    /// A data cache ends there, which costs the packed chain as much or more.
    CacheEnds,
}

/// A rise that is no boundary.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejected {
    /// The most pages before it.
    pub last: u64,
    /// The fewest pages in it.
    pub first: u64,
    /// How far it rises, in ns.
    pub rise: f64,
    /// Why it does not count.
    pub why: Why,
}

/// Boundaries of a curve.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CurveBoundaries {
    /// By rising number of pages.
    pub boundaries: Vec<Boundary>,
    /// By rising number of pages, alike neighbours once.
    pub rejected: Vec<Rejected>,
}

/// Effects below this many ns are noise: a tenth of a nanosecond is a third of a core cycle.
const LEAST: f64 = 0.1;

/// A miss that costs less than this many ns is no level of translation: even the quickest
/// second-level TLB takes several core cycles.
const LEAST_COST: f64 = 0.5;

/// The end of a data cache explains a difference up to this share of what that cache's miss costs:
/// a prefetcher that brings the neighbour of each line spares the packed chain every second miss at
/// most.
const SPARED: f64 = 0.5;

/// Effects below this share of the load's time are no level: where memory lies moves latencies by
/// as much.
const SHARE: f64 = 0.03;

/// Effects below this many times the usual one from a place to the next are no level.
const USUAL: f64 = 1.5;

/// Number of earlier effects that make the usual one.
const EARLIER: usize = 8;

/// Places that have to be up for a rise to count: its first and the next two.
const PERSISTENT: usize = 3;

/// Places of a level that its value is taken from, at most: the last ones.
const LEVEL: usize = 12;

/// Two rises with fewer places between them are one.
const APART: usize = 2;

/// Rounds below which no interval is worth its name.
pub const FEWEST_ROUNDS: usize = 5;

/// Beyond the second boundary, how many times its low end the high end of the interval of a cost
/// may be: page tables that leave the caches bit by bit make a slope that has no such level behind
/// it.
const STEADY: f64 = 1.5;

/// Boundaries that need not be so steady.
const TLBS: usize = 2;

/// Largest factor by which the tail of a step may exceed the step itself: most is lost first.
const TAIL: f64 = 2.0;

/// One TLB explains about as well as two what lies off it by no more than this many times as much.
const ABOUT: f64 = 1.25;

/// A place before a boundary has some of the rise from this share of it on.
const TRACE: f64 = 0.15;

/// Levels of translation in `curve`, by rising number of pages. A packed chain needs one page for
/// `ratio` pages of the spread one, so that beyond that many times a boundary both chains pay for
/// it
/// and the difference falls again.
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

/// The median of differences, 0 for none.
fn middle(differences: &Differences) -> f64 {
    let values: Vec<f64> = differences.values().copied().collect();
    median(&values).unwrap_or(0.0)
}

/// Places between two rises, and their common value in each round of each pass.
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

/// A boundary whose level after it still grows.
#[derive(Debug, Clone)]
struct Open {
    boundary: Boundary,
    before: Plateau,
    /// The first place that is plainly up.
    plain: usize,
    settled: usize,
}

/// A place compared with the level before it.
enum Look {
    Flat,
    Fallen,
    Risen(f64),
    Rejected(f64, Why),
    /// A stray that is not worth a word.
    Stray,
}

/// A pass over the places of a curve.
struct Scan<'a> {
    curve: &'a [PagesSeen],
    /// Median difference of each place in the first pass.
    middles: Vec<f64>,
    ratio: u64,
    level: Plateau,
    open: Option<Open>,
    found: CurveBoundaries,
}

impl Scan<'_> {
    /// Looks at place `at` and says which is next.
    fn step(&mut self, at: usize) -> usize {
        match self.look(at) {
            Look::Flat => self.level = self.level.with(self.curve, at),
            Look::Fallen => {
                self.close();
                self.level = Plateau::from_members(self.curve, vec![at]);
            }
            Look::Stray => {}
            Look::Rejected(rise, why) => return self.reject(at, rise, why),
            Look::Risen(rise) => return self.rise(at, rise),
        }
        at + 1
    }

    fn look(&self, at: usize) -> Look {
        let floor = self.floor(at);
        let up = |i: usize| self.above(0, i).map_or(0.0, |(rise, _)| rise);
        let next = (at + 1..at + PERSISTENT).filter(|&i| i < self.curve.len());
        let rise = up(at);
        if rise < -floor
            && next.clone().count() + 1 == PERSISTENT
            && next.clone().all(|i| up(i) < -floor)
        {
            return Look::Fallen;
        }
        // A step that is as long as the usual one is the tail of the step before.
        let near: Vec<f64> = self
            .level
            .members
            .iter()
            .rev()
            .take(PERSISTENT)
            .map(|&i| self.middles[i])
            .collect();
        let edge = self.middles[at] - median(&near).unwrap_or(f64::INFINITY);
        if rise <= floor || edge <= floor {
            return Look::Flat;
        }
        let plain = self
            .above(0, at)
            .is_some_and(|(_, interval)| interval.low > floor);
        let stray = |why| {
            if plain {
                Look::Rejected(rise, why)
            } else {
                Look::Stray
            }
        };
        if at + PERSISTENT > self.curve.len() {
            return stray(Why::AtTheEnd);
        }
        if next.clone().any(|i| up(i) <= floor) {
            return stray(Why::NoPersistence);
        }
        let Some((together, interval)) = self.together(0, at) else {
            return Look::Stray;
        };
        if interval.low <= floor {
            return Look::Rejected(together, Why::TouchesFloor);
        }
        if let Some(gone) = self.gone(at, together) {
            return Look::Rejected(together, Why::GoneAgain(self.curve[gone].entries));
        }
        let confirmed = self
            .together(1, at)
            .is_some_and(|(again, i)| i.low > floor && again >= together / 2.0);
        if confirmed && self.last_before(at, together).is_some() {
            Look::Risen(together)
        } else {
            Look::Rejected(together, Why::NotConfirmed)
        }
    }

    /// Difference of place `at` and the level before it that noise alone can cause.
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

    /// How far place `at` lies above the level, paired by round: the median with its interval.
    fn above(&self, pass: usize, at: usize) -> Option<(f64, Interval)> {
        self.paired(pass, at..at + 1)
    }

    /// The same of a place and the next two together, by the middle one of each round.
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

    /// The first place from which on a `rise` at `at` is not there any more, as long as the packed
    /// chain stays clear of what the spread one rises by.
    fn gone(&self, at: usize, rise: f64) -> Option<usize> {
        let base = middle(&self.level.values[0]);
        let end = self.curve[at].entries.saturating_mul(self.ratio);
        let low = |i: usize| self.middles[i] - base < rise / 2.0;
        let behind = at + PERSISTENT..(self.curve.len() + 1).saturating_sub(PERSISTENT);
        let mut clear = behind.filter(|&i| self.curve[i + PERSISTENT - 1].entries < end);
        clear.find(|&i| (i..i + PERSISTENT).all(low))
    }

    /// The last place of the level that has no trace of the `rise` at `at` in either pass; `None`
    /// where the second pass has it long before the first.
    fn last_before(&self, at: usize, rise: f64) -> Option<usize> {
        let trace = |pass: usize, i: usize| {
            self.above(pass, i)
                .is_some_and(|(up, interval)| interval.low > 0.0 && up > TRACE * rise)
        };
        let clear = |&&i: &&usize| !trace(0, i) && !trace(1, i);
        let members = self.level.members.iter().rev();
        let first = self.level.members.first().copied();
        let found = members.take(PERSISTENT).find(clear).copied();
        // A level with a trace of the step everywhere is too short to tell; only its first place is
        // known.
        found
            .or_else(|| first.filter(|_| self.level.members.len() <= PERSISTENT))
            .filter(|&i| i < at)
    }

    /// Notes a rise that does not count; its places belong to no level.
    fn reject(&mut self, at: usize, rise: f64, why: Why) -> usize {
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
            Why::GoneAgain(entries) => self
                .curve
                .iter()
                .position(|p| p.entries == entries)
                .unwrap_or(at + 1),
            Why::NotConfirmed => {
                // Later places start again from here: this pass has the step.
                self.close();
                self.level = Plateau::from_members(self.curve, vec![at]);
                at + 1
            }
            _ => at + 1,
        }
    }

    /// Notes a boundary at `at` and goes to the place where its rise is complete.
    fn rise(&mut self, at: usize, rise: f64) -> usize {
        let floor = self.floor(at);
        let mut settled = at;
        let mut steepest = self.middles[at] - self.middles[self.level.last()];
        while let Some(next) = self.middles.get(settled + 1) {
            let step = next - self.middles[settled];
            if step <= floor.max(steepest / 4.0) {
                break;
            }
            steepest = steepest.max(step);
            settled += 1;
        }
        let next = Plateau::from_members(self.curve, vec![settled]);
        let short = self.level.members.len() < APART;
        if let Some(open) = self.open.as_mut().filter(|_| short) {
            // Hardly anything lies between this rise and the one before: they are one.
            (open.settled, self.level) = (settled, next);
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
        };
        self.close();
        let before = std::mem::replace(&mut self.level, next);
        self.open = Some(Open {
            boundary,
            before,
            plain: first,
            settled,
        });
        settled + 1
    }

    /// Finishes the boundary before the level that ends now: its cost is the difference of the two.
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
        self.found.boundaries.push(boundary);
    }

    /// How far place `at` lies above `level`, over all rounds of both passes.
    fn over(&self, level: &Plateau, at: usize) -> Option<f64> {
        let rises = (0..2).flat_map(|pass| {
            let here = self.curve[at].passes[pass].iter();
            here.filter_map(move |(round, value)| Some(value - level.values[pass].get(round)?))
        });
        median(&rises.collect::<Vec<f64>>())
    }

    /// Rejects boundaries whose miss costs next to nothing, and those that the end of a data cache
    /// explains.
    fn drop_what_is_no_tlb(&mut self) {
        let mut counted = Vec::new();
        for boundary in std::mem::take(&mut self.found.boundaries) {
            let why = if boundary.cost < LEAST_COST {
                Some(Why::TooSmall)
            } else if boundary.cost <= SPARED * self.packed_rise(&boundary) {
                Some(Why::CacheEnds)
            } else {
                None
            };
            let Boundary {
                last,
                first,
                cost: rise,
                ..
            } = boundary;
            match why {
                Some(why) => self.found.rejected.push(Rejected {
                    last,
                    first,
                    rise,
                    why,
                }),
                None => counted.push(boundary),
            }
        }
        self.found.boundaries = counted;
    }

    /// Extra time of the packed chain past `boundary`, in ns. That chain has the same lines in far
    /// fewer pages, so its step is the end of a data cache and not of a TLB. The spread chain may
    /// leave that cache a little earlier or later, which shifts the difference.
    fn packed_rise(&self, boundary: &Boundary) -> f64 {
        let index = |entries: u64| self.curve.partition_point(|place| place.entries < entries);
        let before = index(boundary.last).saturating_sub(1);
        let behind = (index(boundary.settled) + 1).min(self.curve.len() - 1);
        self.curve[behind].packed - self.curve[before].packed
    }

    /// Adds boundaries to the one before that are the tail of its rise: a TLB may keep a part of
    /// what is too large for it.
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
                one.cost += tail.cost;
                one.interval.low += tail.interval.low;
                one.interval.high += tail.interval.high;
            }
        }
    }

    /// Whether one TLB explains the curve around boundary `at` and the one before about as well as
    /// two, with no much larger step at the second. Only places count at which the packed chain has
    /// no more pages than the first TLB has entries.
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
        if other.cost > one.cost * TAIL || other.settled >= end {
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

    /// Latency of the fewest pages plus the difference at each number of pages in
    /// `range`.
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

    /// The number of entries of each boundary: what explains the curve best by one of the ways in
    /// which caches replace; as no cache ends in differences, they are added to what a load of the
    /// fewest pages takes.
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

    /// Without what was rejected in the middle of a rise that counts, and without slopes that no
    /// level follows.
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
            if counted.len() < TLBS || boundary.interval.high <= boundary.interval.low * STEADY {
                counted.push(boundary);
            } else {
                let Boundary {
                    last,
                    first,
                    cost: rise,
                    ..
                } = boundary;
                rejected.push(Rejected {
                    last,
                    first,
                    rise,
                    why: Why::KeepsRising,
                });
            }
        }
        rejected.sort_by_key(|r| r.last);
        CurveBoundaries {
            boundaries: counted,
            rejected,
        }
    }
}
