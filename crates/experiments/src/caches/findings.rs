//! Findings about caches, from timing and from the system's report.

use super::analysis::End;
use super::measured_curve::{MeasuredCurve, finding, note};
use super::points::SWEEP;
use super::{competition, sentences};
use crate::series::{CpuSeries, by_cpu, not_rejected};
use report::{Cache, Dataset, Finding, Point, Topology};
use units::Bytes;

/// Timing and the system's report disagree about a capacity if the measured range and the reported
/// size are further apart than this factor.
const TOLERANCE: f64 = 1.25;

/// Exclusive caches appear as one cache with the sum of their sizes. The finding names this cause
/// only if the sum exceeds the outer cache by more than this factor. A smaller difference may come
/// from the physical placement of the memory.
const EXCLUSIVE_FACTOR: f64 = 1.12;

/// A sum of cache sizes explains a measured range if it is within this factor of the range.
const SUM_TOLERANCE: f64 = 1.05;

/// Findings for each CPU and kind of pages. `topology` has the caches that the system reports.
pub fn findings(dataset: &Dataset, topology: Option<&Topology>) -> Vec<Finding> {
    let counting = dataset.points.iter().filter(|p| not_rejected(p).is_some());
    let one = |series: CpuSeries<'_>| {
        let mode = series
            .pages
            .filter(|_| series.several_pages)
            .map(|mode| format!(" ({mode} pages)"))
            .unwrap_or_default();
        MeasuredCurve {
            on: mode.clone() + &series.on_cpu,
            mode,
            ..MeasuredCurve::new(series.points, topology)
        }
        .findings()
    };
    by_cpu(counting).into_iter().flat_map(one).collect()
}

impl<'a> MeasuredCurve<'a> {
    fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Some(granted) = self.lacking() {
            let text = format!(
                "Only {:.0}% of the memory{} is in huge pages: a step may come from a TLB.",
                granted * 100.0,
                self.on
            );
            findings.push(note(
                "cache-pages",
                text,
                &[("granted_share", Some(granted))],
            ));
        }
        findings.extend((0..self.ends().len()).filter_map(|index| self.level(index)));
        findings.extend(self.memory());
        findings.extend(self.unseen());
        findings.extend(sentences::findings(self));
        findings.extend(competition::findings(self));
        findings
    }

    /// Finding about the level at `index`. Its text is: `L1 takes 1.1 ns (4.0 cycles) a load, lower
    /// quartile; effective capacity 32 KiB (31 KiB to 33 KiB), 32 KiB reported.` If timing and
    /// report disagree, the likely causes follow.
    fn level(&self, index: usize) -> Option<Finding> {
        let latency = self.levels.get(index)?.latency;
        let end = self.levels.get(index)?.end?;
        let cache = self.pairs().get(index).copied().flatten();
        let Some(name) = self.name(index) else {
            return self.unreported(index);
        };
        let is_less = cache.is_none_or(|cache| less_than(&end, cache));
        let range = match (end.varies, is_less) {
            (true, true) => format!(", at times up to {}", rounded(end.high)),
            (true, false) => String::new(),
            _ => format!(" ({} to {})", rounded(end.low), rounded(end.high)),
        };
        let reported = match cache {
            Some(cache) => format!("{} reported", cache.size),
            None => "none reported".to_owned(),
        };
        let difference = cache.and_then(|cache| self.difference(&end, cache));
        let why = difference
            .as_ref()
            .map_or(String::new(), |(_, why)| format!(": {why}"));
        let text = format!(
            "{name}{} takes {}; effective capacity {}{range}, {reported}{why}.",
            self.on,
            self.load(latency),
            rounded(end.capacity),
        );
        let values = [
            ("level", self.number(index).map(f64::from)),
            ("capacity_bytes", Some(end.capacity.0 as f64)),
            ("low_bytes", Some(end.low.0 as f64)),
            ("high_bytes", Some(end.high.0 as f64)),
            ("latency_ns", Some(latency)),
            ("core_cycles", self.cycles.map(|cycles| cycles * latency)),
            ("reported_bytes", cache.map(|cache| cache.size.0 as f64)),
        ];
        let kind = difference.map_or("cache-level", |(kind, _)| kind);
        finding(self.around(index), kind, text, &values)
    }

    /// The points of the sweep, see [`SWEEP`].
    fn sweep(&self) -> impl Iterator<Item = &'a Point> {
        self.points
            .iter()
            .copied()
            .filter(|p| p.name("operation") == Some(SWEEP))
    }

    /// The points of the sweep that show the level at `index` and its end. These are the points
    /// from the end of the previous level to twice the end of this level.
    fn around(&self, index: usize) -> Vec<&'a Point> {
        let end = |index: usize| self.levels.get(index).and_then(|level| level.end);
        let from = index
            .checked_sub(1)
            .and_then(end)
            .map_or(0, |end| end.capacity.0);
        let to = end(index).map_or(u64::MAX, |end| end.high.0.saturating_mul(2));
        self.sweep()
            .filter(|p| {
                p.number("size_bytes")
                    .is_some_and(|size| size > from && size <= to)
            })
            .collect()
    }

    /// The latency as text: `1.1 ns (4.0 cycles) a load, lower quartile`.
    fn load(&self, latency: f64) -> String {
        let cycles = self
            .cycles
            .map(|cycles| format!(" ({:.1} cycles)", cycles * latency));
        // Tables show medians, so the text says that this latency is a quartile.
        format!(
            "{latency:.1} ns{} a load, lower quartile",
            cycles.unwrap_or_default()
        )
    }

    /// Finding about memory beyond the end of the last cache, up to the largest size of the sweep.
    fn memory(&self) -> Option<Finding> {
        let last = self.levels.last()?;
        let largest = self.curve.last()?.size;
        let load = self.load(last.latency);
        // The sweep does not show the end of a cache that is about as large as the largest measured
        // size.
        let larger = self.unseen_larger().map(|cache| {
            format!(
                " or the L{} of {} that the system reports",
                cache.level, cache.size
            )
        });
        let text = format!(
            "Past the caches{} lies memory{}: {load}, in up to {largest}.",
            self.on,
            larger.unwrap_or_default()
        );
        let values = [
            ("latency_ns", Some(last.latency)),
            (
                "core_cycles",
                self.cycles.map(|cycles| cycles * last.latency),
            ),
            ("largest_bytes", Some(largest.0 as f64)),
        ];
        finding(
            self.around(self.levels.len() - 1),
            "cache-memory",
            text,
            &values,
        )
    }

    /// Finding about a level that matches no reported cache. `None` if the system reports no caches
    /// at all.
    fn unreported(&self, index: usize) -> Option<Finding> {
        let latency = self.levels.get(index)?.latency;
        let capacity = self.levels.get(index)?.end?.capacity;
        let last = self.reported.last()?.level;
        let seen = self.pairs();
        let is_last = |cache: &&Cache| cache.level == last;
        let what = if seen.iter().take(index).flatten().any(is_last) {
            format!("a cache past L{last}, such as one on the memory's side")
        } else {
            "a part of a larger cache, or another cache".to_owned()
        };
        let text = format!(
            "A level{} that the system does not report takes {}; effective capacity {}: {what}.",
            self.on,
            self.load(latency),
            rounded(capacity),
        );
        let values = [
            ("capacity_bytes", Some(capacity.0 as f64)),
            ("latency_ns", Some(latency)),
        ];
        finding(self.around(index), "cache-disagrees", text, &values)
    }

    /// Kind of the finding about a level whose `end` differs from the reported `cache`, and the
    /// likely causes as text. `None` if timing and report agree.
    fn difference(&self, end: &End, cache: &Cache) -> Option<(&'static str, String)> {
        let low = end.low.0 as f64;
        let high = end.high.0 as f64;
        let size = cache.size.0 as f64;
        let nearer: u64 = self
            .reported
            .iter()
            .filter(|c| c.level < cache.level)
            .map(|c| c.size.0)
            .sum();
        let together = size + nearer as f64;
        if low > size
            && together > size * EXCLUSIVE_FACTOR
            && (low / SUM_TOLERANCE..=high * SUM_TOLERANCE).contains(&together)
        {
            let together = Bytes(together as u64);
            let why = format!(
                "it ends where it and the nearer caches are full ({together}), so it is exclusive"
            );
            return Some(("cache-exclusive", why));
        }
        let why = if end.varies && less_than(end, cache) {
            "neighbours use a part that varies"
        } else if high * TOLERANCE < size && cache.cpus.0.len() > 1 {
            "neighbours use the rest, or only a part is available here"
        } else if high * TOLERANCE < size {
            "it is partitioned, or pages use its sets unevenly"
        } else if low > size * TOLERANCE {
            "the system reports another cache, or a part of it"
        } else {
            return None;
        };
        Some(("cache-disagrees", why.to_owned()))
    }

    /// The last reported cache, if it is too large to end within the sweep and no level matches it.
    fn unseen_larger(&self) -> Option<&'a Cache> {
        let largest = self.curve.last()?.size;
        let last = self.reported.last().copied()?;
        let seen = self
            .pairs()
            .iter()
            .flatten()
            .any(|cache| cache.level == last.level);
        (!seen && last.size.0.saturating_mul(2) > largest.0).then_some(last)
    }

    /// Finding about reported caches that are small enough for the sweep, but that the sweep does
    /// not show.
    fn unseen(&self) -> Option<Finding> {
        let larger = self.unseen_larger().map(|cache| cache.level);
        let pairs = self.pairs();
        let seen = |cache: &Cache| {
            pairs.iter().flatten().any(|c| c.level == cache.level) || larger == Some(cache.level)
        };
        let missing: Vec<String> = self
            .reported
            .iter()
            .filter(|cache| !seen(cache))
            .map(|cache| format!("L{} of {}", cache.level, cache.size))
            .collect();
        let text = format!(
            "Timing{} does not show {} that the system reports: neighbours use it, or it is not \
             there.",
            self.on,
            missing.join(" and ")
        );
        let enough = !missing.is_empty() && !self.curve.is_empty();
        let points = self.sweep().filter(|_| enough);
        finding(
            points,
            "cache-disagrees",
            text,
            &[("missing", Some(missing.len() as f64))],
        )
    }
}

/// True if the size of the reported `cache` exceeds the capacity of `end` by more than the factor
/// [`TOLERANCE`].
fn less_than(end: &End, cache: &Cache) -> bool {
    end.capacity.0 as f64 * TOLERANCE < cache.size.0 as f64
}

/// A measured size with three digits: `31.3 KiB`, `1.04 MiB`, `33 MiB`.
fn rounded(size: Bytes) -> String {
    let units = [
        (1 << 30, "GiB"),
        (1 << 20, "MiB"),
        (1 << 10, "KiB"),
        (1, "B"),
    ];
    // 1023.9 KiB are 1 MiB with three digits.
    let (unit, name) = units
        .into_iter()
        .find(|(unit, _)| size.0 as f64 >= *unit as f64 * 0.9995)
        .unwrap_or((1, "B"));
    let value = size.0 as f64 / unit as f64;
    let digits = if value < 10.0 {
        2
    } else {
        usize::from(value < 100.0)
    };
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{text} {name}")
}
