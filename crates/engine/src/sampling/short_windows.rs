//! Measures the distribution of a quantity over short windows, in addition to the headline from
//! continuous samples.
//!
//! A headline from samples of a millisecond hides single slow accesses. An access is slow during a
//! refresh of the memory, an interrupt or traffic of another program. Windows of some microseconds
//! show such accesses. The windows are kept apart from the samples, and no window is left out as
//! disturbed.

use crate::machine::{Failure, Machine, Observation};
use crate::work::Work;
use std::collections::BTreeMap;
use units::Nanos;

/// Number and length of the short windows of a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Windows {
    /// Number of windows in all rounds together.
    pub count: u32,
    /// Requested length of each window.
    pub length: Nanos,
}

/// Work per nanosecond of the first thread, in the unit of [`Observation::amount`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pace(pub f64);

impl Pace {
    /// Amount of work that takes `time`, at least 1.
    fn amount_in(self, time: Nanos) -> u64 {
        (self.0 * time.0).round().max(1.0) as u64
    }
}

/// Reported quantiles: the key of each quantile in the report, and its name in messages.
pub const DISTRIBUTION: [(&str, &str); 6] = [
    ("p50", "p50"),
    ("p90", "p90"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("p99_9", "p99.9"),
    ("max", "max"),
];

/// The probability of each quantile, in the order of [`DISTRIBUTION`].
const QUANTILES: [f64; 6] = [0.5, 0.9, 0.95, 0.99, 0.999, 1.0];

/// Values and lengths of the windows.
#[derive(Debug, Clone, Default)]
pub(super) struct WindowValues {
    values: Vec<f64>,
    nanos: Vec<f64>,
}

impl WindowValues {
    /// Number of windows so far.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// Takes samples of `work`, whose chunks are the windows, until there are `wanted` windows or
    /// the time is `until`. The amount of work in a window is computed from the requested length
    /// and `pace`. It is not found by a trial right before the windows, because the caches are
    /// disturbed at that time. Windows after such a trial were too short by up to a factor of ten.
    pub fn take(
        &mut self,
        machine: &mut dyn Machine,
        work: &Work,
        windows: &Windows,
        pace: Pace,
        wanted: usize,
        until: Nanos,
    ) -> Result<(), Failure> {
        let wanted = wanted.min(windows.count as usize);
        while self.count() < wanted && machine.now() < until {
            let seen = machine.sample_in_chunks(work, pace.amount_in(windows.length))?;
            let before = self.count();
            self.note(work, &seen, wanted);
            if self.count() == before {
                return Err(Failure::Failed("a sample has no windows".to_owned()));
            }
        }
        Ok(())
    }

    fn note(&mut self, work: &Work, seen: &Observation, wanted: usize) {
        for &length in seen.chunks.lengths.iter().take(wanted - self.count()) {
            self.values
                .push(work.value_of_first(seen.chunks.amount, length.secs()));
            self.nanos.push(length.0);
        }
    }

    /// Figures by key: the quantiles, the number of windows, and their median length in ns. Empty
    /// without windows.
    pub fn figures(&self) -> BTreeMap<String, f64> {
        let Some(length) = stats::median(&self.nanos) else {
            return BTreeMap::new();
        };
        let quantiles = DISTRIBUTION
            .iter()
            .zip(QUANTILES)
            .filter_map(|((name, _), q)| {
                Some(((*name).to_owned(), stats::quantile(&self.values, q)?))
            });
        let about = [
            ("windows".to_owned(), self.count() as f64),
            ("window_ns".to_owned(), length),
        ];
        quantiles.chain(about).collect()
    }
}
