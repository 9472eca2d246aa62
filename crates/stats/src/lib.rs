//! Pure mathematics: statistics of samples, and the precision of these statistics.
//!
//! No function panics, whatever its numbers are. If the samples are empty or contain a NaN or an
//! infinity, the result is `None` or an empty list.
#![forbid(unsafe_code)]

mod bends;
mod capacity;
mod change_point;
#[cfg(test)]
mod coverage_tests;
mod groups;
mod histogram;
mod knees;
mod levels;
mod modes;
mod order;
mod placement;
mod quietest;
mod random;
mod ratio;
mod stop;
mod tails;
mod trend;
mod within;

pub use bends::{first_passing, knee_below_chord, unevenness};
pub use capacity::{CacheEnd, cache_ends, deviation, fewer_than};
pub use change_point::{Series, likely_change};
pub use histogram::Histogram;
pub use knees::{Knee, knees};
pub use levels::{Headline, headline};
pub use modes::{Modes, modes};
pub use order::{
    Interval, coefficient_of_variation, mad, mean, median, median_interval, quantile,
    standard_deviation,
};
pub use placement::placement;
pub use quietest::{agrees, quietest};
pub use random::{SplitMix64, derive};
pub use ratio::{few_ratio_interval, ratio_interval};
pub use stop::StopRule;
pub use tails::{normal_tail, student_tail};
pub use trend::{Drift, drift};
pub use within::within;
