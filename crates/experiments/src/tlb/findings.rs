//! Findings about the TLBs from the dataset of a session.

use super::analysis::{
    Boundary, CurveBoundaries, FEWEST_ROUNDS, PagesSeen, Rejected, RejectionReason, levels,
};
use crate::series::{CpuSeries, by_cpu, not_rejected};
use host::memory::PageMode;
use report::{Dataset, Finding, Measured, Point};
use stats::median;
use std::collections::BTreeMap;
use units::Bytes;
use verdict::GRANTED;

/// Operation: the chain with one node in each page.
pub const SPREAD: &str = "spread";

/// Operation: the chain with the same number of nodes on neighbouring lines.
pub const PACKED: &str = "packed";

/// Largest number of rejected rises that a finding names.
const MAX_NAMED: usize = 3;

/// The points of one curve over the number of pages.
#[derive(Default)]
struct PairedCurve<'a> {
    /// Points of the spread chain and of the packed chain, by number of pages and pass.
    pairs: BTreeMap<(u64, u64), [Option<&'a Point>; 2]>,
    /// Smallest share (0 to 1) of a spread chain's memory that is in the requested kind of pages.
    /// `None` if no spread chain's share is below [`GRANTED`].
    least_granted: Option<f64>,
}

/// Findings about each level of translation in each curve, and remarks about the measurement.
pub fn findings(dataset: &Dataset) -> Vec<Finding> {
    let one = |series: CpuSeries<'_>| {
        let mut curve = PairedCurve::default();
        for point in series.points {
            curve.add(point);
        }
        let mode = series
            .pages
            .map(|mode| mode.to_string())
            .filter(|mode| *mode != PageMode::Base.to_string())
            .map(|mode| format!(" ({mode})"));
        curve.findings(&(mode.unwrap_or_default() + &series.on_cpu))
    };
    by_cpu(&dataset.points).into_iter().flat_map(one).collect()
}

impl<'a> PairedCurve<'a> {
    fn add(&mut self, point: &'a Point) {
        let Some(measured) = not_rejected(point) else {
            return;
        };
        let (Some(entries), Some(pass)) = (point.number("entries"), point.number("pass")) else {
            return;
        };
        let which = match point.name("operation") {
            Some(SPREAD) => 0,
            Some(PACKED) => 1,
            _ => return,
        };
        let granted = measured.evidence.pages.granted_share.unwrap_or(0.0);
        if which == 0
            && point.name("pages") != Some(PageMode::Base.to_string().as_str())
            && granted < GRANTED
        {
            self.least_granted = Some(
                self.least_granted
                    .map_or(granted, |least| least.min(granted)),
            );
            return;
        }
        self.pairs.entry((entries, pass)).or_default()[which] = Some(point);
    }

    /// Bytes for each node: the size of a page in the spread chain, and the size of a line in the
    /// packed chain. `None` if a chain has no points.
    fn sizes(&self) -> Option<(Bytes, Bytes)> {
        let each = |which: usize| {
            let page = |(&(entries, _), pair): (&(u64, u64), &[Option<&Point>; 2])| {
                Some(Bytes(pair[which]?.number("size_bytes")? / entries.max(1)))
            };
            self.pairs.iter().find_map(page)
        };
        Some((each(0)?, each(1)?))
    }

    /// The numbers of pages at which the first pass has both chains, with the differences between
    /// the chains in each pass.
    fn curve(&self) -> Vec<PagesSeen> {
        let mut curve: Vec<PagesSeen> = Vec::new();
        for (&(entries, pass), pair) in &self.pairs {
            let [Some(spread), Some(packed)] = pair.map(|p| p.and_then(|p| p.outcome.measured()))
            else {
                continue;
            };
            if pass == 0 {
                let spread = spread.summary.median;
                let packed = packed.summary.median;
                curve.push(PagesSeen {
                    entries,
                    spread,
                    packed,
                    ..PagesSeen::default()
                });
            }
            let place = curve.last_mut().filter(|place| place.entries == entries);
            if let (Some(place), Ok(pass)) = (place, usize::try_from(pass)) {
                let packed = rounds(packed);
                let both = rounds(spread)
                    .into_iter()
                    .filter_map(|(k, value)| Some((k, value - packed.get(&k)?)));
                if let Some(differences) = place.passes.get_mut(pass) {
                    *differences = both.collect();
                }
            }
        }
        curve
    }

    /// Points with at least `least` and at most `most` pages.
    fn points(&self, least: u64, most: u64) -> Vec<&'a Point> {
        let inside = self
            .pairs
            .iter()
            .filter(|((entries, _), _)| (least..=most).contains(entries));
        inside
            .flat_map(|(_, pair)| pair.iter().copied().flatten())
            .collect()
    }

    /// Findings of this curve; `on` names its pages and CPU.
    fn findings(&self, on: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Some(granted) = self.least_granted {
            let text = format!(
                "Only {:.0}% of the memory{on} is in huge pages: their TLBs do not show.",
                granted * 100.0
            );
            let values = BTreeMap::from([("granted_share".to_owned(), granted)]);
            findings.push(Finding::note("tlb-pages", text).with(values));
        }
        let (Some((page, line)), mut curve) = (self.sizes(), self.curve()) else {
            return findings;
        };
        let Some(most) = curve.last().map(|place| place.entries) else {
            return findings;
        };
        let all = curve.len();
        curve.retain(|place| place.passes.iter().all(|pass| pass.len() >= FEWEST_ROUNDS));
        if curve.len() * 2 < all {
            let text = format!(
                "The TLBs for {page} pages{on} are unknown: most points have fewer than \
                 {FEWEST_ROUNDS} rounds."
            );
            findings.push(Finding::note("tlb-rounds", text));
            return findings;
        }
        let CurveBoundaries {
            boundaries,
            rejected,
        } = levels(&curve, page.0 / line.0.max(1));
        if boundaries.is_empty() {
            let text = format!("No TLB level shows up to {most} {page} pages{on}.");
            let values = [("page_bytes", page.0), ("entries", most)]
                .map(|(name, n)| (name.to_owned(), n as f64))
                .into();
            let none = Finding::shown_by(self.points(0, u64::MAX), "tlb-none", text);
            findings.extend(none.map(|finding| finding.with(values)));
        }
        for (index, boundary) in boundaries.iter().enumerate() {
            let points = self.points(boundary.last / 2, boundary.settled.saturating_mul(2));
            findings.extend(level(points, index, boundary, page, on));
        }
        findings.extend(not_counted(self.points(0, u64::MAX), &rejected, page, on));
        findings
    }
}

/// Median latency in ns of the undisturbed samples in each round, by allocation and round.
fn rounds(measured: &Measured) -> BTreeMap<(u32, u32), f64> {
    let mut rounds: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    for sample in measured
        .samples
        .iter()
        .filter(|sample| sample.disturbance.is_none())
    {
        rounds
            .entry((sample.allocation, sample.round))
            .or_default()
            .push(sample.value);
    }
    rounds
        .into_iter()
        .filter_map(|(round, values)| Some((round, median(&values)?)))
        .collect()
}

/// If a range of entries is wider than this factor, the finding also gives the most likely number.
const WIDE: f64 = 1.5;

/// Finding about a level: `First-level TLB for 4 KiB pages: 64 to 76 entries (reach 256 KiB), a
/// miss costs 2.1 ns (1.9 to 2.3).`
fn level(
    points: Vec<&Point>,
    index: usize,
    boundary: &Boundary,
    page: Bytes,
    on: &str,
) -> Option<Finding> {
    let name = match index {
        0 => "First-level TLB",
        1 => "Second-level TLB",
        // No processor is known to have a third data TLB.
        _ => "Further level of translation (a TLB, a walk cache or cached page tables)",
    };
    let Boundary {
        last,
        first,
        entries,
        settled,
        cost,
        interval,
        ..
    } = boundary;
    let reach = Bytes(last * page.0);
    let wide = *first as f64 > *last as f64 * WIDE;
    let likely = if wide {
        format!(", most likely about {entries}")
    } else {
        String::new()
    };
    let range = format!("{:.1} to {:.1}", interval.low, interval.high);
    let costs = match boundary.is_followed_by_level() {
        true => format!("{cost:.1} ns ({range})"),
        false => format!("{range} ns, rising to the last point"),
    };
    let text = format!(
        "{name} for {page} pages{on}: {last} to {first} entries{likely} (reach {reach}), a miss \
         costs {costs}."
    );
    let cost = boundary
        .is_followed_by_level()
        .then_some(("miss_ns", *cost));
    let values = [
        ("level", (index + 1) as f64),
        ("page_bytes", page.0 as f64),
        ("entries_at_least", *last as f64),
        ("entries_below", *first as f64),
        ("entries", *entries as f64),
        ("settled_entries", *settled as f64),
        ("reach_bytes", reach.0 as f64),
        ("miss_low_ns", interval.low),
        ("miss_high_ns", interval.high),
    ];
    let values = values
        .into_iter()
        .chain(cost)
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    Some(Finding::shown_by(points, "tlb-level", text)?.with(values))
}

/// Finding about the rises that are no levels, with the reasons. `None` without such rises.
fn not_counted(
    points: Vec<&Point>,
    rejected: &[Rejected],
    page: Bytes,
    on: &str,
) -> Option<Finding> {
    let one = |r: &Rejected| {
        let why = match r.why {
            RejectionReason::NoPersistence => "the next points are lower again".to_owned(),
            RejectionReason::GoneAgain(entries) => format!("absent from {entries} on"),
            RejectionReason::TouchesFloor => "within noise".to_owned(),
            RejectionReason::NotConfirmed => "not in the second pass".to_owned(),
            RejectionReason::AtTheEnd => "too near the last point; raise --max-pages".to_owned(),
            RejectionReason::TooSmall => "too little for a TLB miss".to_owned(),
            RejectionReason::BelowFormer => "less than a miss in the TLB before it".to_owned(),
            RejectionReason::CacheEnds => "a data cache ends there".to_owned(),
            RejectionReason::KeepsRising => "no level follows".to_owned(),
        };
        format!("{:.1} ns from {} to {} ({why})", r.rise, r.last, r.first)
    };
    let mut words: Vec<String> = rejected.iter().take(MAX_NAMED).map(one).collect();
    if rejected.len() > MAX_NAMED {
        words.push(format!("{} more", rejected.len() - MAX_NAMED));
    }
    let text = format!(
        "These steps for {page} pages{on} are no TLB level: {}.",
        words.join(", ")
    );
    let values = BTreeMap::from([("rejected".to_owned(), rejected.len() as f64)]);
    let points = points.into_iter().filter(|_| !rejected.is_empty());
    Some(Finding::shown_by(points, "tlb-rejected", text)?.with(values))
}
