//! Samples in levels: allocations of the memory, rounds within each, samples within each round.

use super::bootstrap::block_median_interval;
use super::order::{Interval, median};

/// The middle of all samples, and where the true one lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Headline {
    /// Median of all samples.
    pub median: f64,
    /// Where the median of the process that they come from lies.
    pub interval: Interval,
}

/// A trend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Change from the first round to the last relative to the middle: 0.05 is 5% up.
    pub total: f64,
    /// Probability that rounds without a trend show one as plain.
    pub p: f64,
}

/// Two kinds of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// The middle of the low ones.
    pub low: f64,
    /// The middle of the high ones.
    pub high: f64,
    /// Share of the high ones.
    pub share_high: f64,
}

/// The middle of samples by allocation and round, and its 95% interval.
pub fn headline(allocations: &[Vec<Vec<f64>>]) -> Option<Headline> {
    let rounds = allocations.concat();
    Some(Headline { median: median(&rounds.concat())?, interval: block_median_interval(&rounds, 0)? })
}

/// A trend over the rounds.
pub fn drift(_allocations: &[Vec<Vec<f64>>]) -> Option<Drift> {
    None
}

/// Two kinds of values among samples.
pub fn modes(_samples: &[f64]) -> Option<Modes> {
    None
}

/// The highest median of an allocation relative to the lowest, where allocations differ beyond what their rounds do.
pub fn placement(_allocations: &[Vec<Vec<f64>>]) -> Option<f64> {
    None
}
