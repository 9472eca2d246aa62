//! Collects latencies of operations by their distance from the previous operation.

use super::work::{IoWork, Order};
use report::{SeekLatencies, SeekWindow};
use stats::Histogram;
use std::collections::BTreeMap;
use units::Nanos;

/// Latencies of a thread in ns, by distance: one histogram for each doubling of the distance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SeekTimes(Vec<Histogram>);

impl SeekTimes {
    /// True if latencies of `work` are collected by distance: its order of blocks varies the
    /// distance of seeks.
    pub fn are_requested(work: &IoWork) -> bool {
        matches!(work.order, Order::SeekDistance(_) | Order::SeekGrowing(_))
    }

    /// Adds an operation of `nanos` ns, `distance` bytes away from the previous one.
    pub fn add(&mut self, distance: u64, nanos: u64) {
        let place = (u64::BITS - distance.leading_zeros()) as usize;
        if place >= self.0.len() {
            self.0.resize_with(place + 1, Histogram::default);
        }
        self.0[place].add(nanos);
    }
}

/// Latencies of all threads in a window. The outer key is the least distance of a doubling in
/// bytes. The inner map has the number of operations for each latency in ns, which is rounded by up
/// to 0.8%. Such maps take far less memory than a histogram for each window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seeks(BTreeMap<u64, BTreeMap<u64, u64>>);

impl Seeks {
    /// Adds the latencies of one thread.
    pub fn add(&mut self, lane: &SeekTimes) {
        for (place, histogram) in lane.0.iter().enumerate().filter(|(_, h)| h.count() > 0) {
            let least = place.checked_sub(1).map_or(0, |power| 1 << power);
            let counts = self.0.entry(least).or_default();
            for (nanos, count) in histogram.buckets() {
                *counts.entry(nanos).or_default() += count;
            }
        }
    }
}

/// The `q` quantile in ns: the least latency that a share `q` (0 to 1) of all operations does not
/// exceed. `None` without operations.
fn quantile(counts: &BTreeMap<u64, u64>, q: f64) -> Option<f64> {
    let total: u64 = counts.values().sum();
    let rank = ((q * total as f64).ceil() as u64).clamp(1, total.max(1));
    let mut seen = 0;
    let found = counts.iter().find(|(_, count)| {
        seen += **count;
        seen >= rank
    });
    found.map(|(nanos, _)| *nanos as f64)
}

/// Latencies of a point by distance. Each item of `windows` has the round, the length and the
/// latencies of a window.
pub fn by_distance<'a>(
    windows: impl Iterator<Item = (u32, Nanos, &'a Seeks)>,
) -> Vec<SeekLatencies> {
    let mut all: BTreeMap<u64, (BTreeMap<u64, u64>, Vec<SeekWindow>)> = BTreeMap::new();
    for (round, elapsed, seeks) in windows {
        for (&distance, counts) in &seeks.0 {
            let (together, windows) = all.entry(distance).or_default();
            let operations = counts.values().sum();
            let Some(p50_ns) = quantile(counts, 0.5) else {
                continue;
            };
            windows.push(SeekWindow {
                round,
                elapsed_ns: elapsed.0,
                operations,
                p50_ns,
            });
            counts
                .iter()
                .for_each(|(nanos, count)| *together.entry(*nanos).or_default() += count);
        }
    }
    let row =
        |(distance_bytes, (counts, windows)): (u64, (BTreeMap<u64, u64>, Vec<SeekWindow>))| {
            let at = |q: f64| quantile(&counts, q);
            let operations = counts.values().sum();
            Some(SeekLatencies {
                distance_bytes,
                operations,
                p50_ns: at(0.5)?,
                p99_ns: at(0.99)?,
                windows,
            })
        };
    all.into_iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_told_by_doublings_of_the_distance() {
        let mut lane = SeekTimes::default();
        for (distance, nanos) in [
            (0, 10),
            (1, 20),
            (4096, 100),
            (8191, 120),
            (8192, 200),
            (u64::MAX, 300),
        ] {
            lane.add(distance, nanos);
        }
        let mut seeks = Seeks::default();
        seeks.add(&lane);
        seeks.add(&lane);
        let windows = [(0, Nanos(5.0), &seeks), (1, Nanos(5.0), &seeks)];
        let all = by_distance(windows.into_iter());
        let told: Vec<_> = all
            .iter()
            .map(|s| (s.distance_bytes, s.operations, s.p50_ns, s.p99_ns))
            .collect();
        let wanted = [
            (0, 4, 10.0),
            (1, 4, 20.0),
            (4096, 8, 100.0),
            (8192, 4, 200.0),
            (1 << 63, 4, 300.0),
        ];
        // Latencies are rounded: buckets are 1 ns wide at 200 ns, and 2 ns wide at 300 ns.
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 0.008;
        assert_eq!(told.len(), wanted.len(), "{told:?}");
        for (told, wanted) in told.iter().zip(wanted) {
            assert!(
                (told.0, told.1) == (wanted.0, wanted.1) && close(told.2, wanted.2),
                "{told:?} {wanted:?}"
            );
        }
        assert!(close(told[2].3, 120.0), "{told:?}");
        let rounds: Vec<_> = all[2]
            .windows
            .iter()
            .map(|w| (w.round, w.operations, w.elapsed_ns))
            .collect();
        assert_eq!(rounds, [(0, 4, 5.0), (1, 4, 5.0)]);
    }
}
