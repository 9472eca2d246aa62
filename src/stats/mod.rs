//! Pure mathematics: what a set of samples says, and how sure it is.
//!
//! Nothing here panics, whatever the numbers: empty sets and sets with a NaN or an infinity in them have no answer,
//! and no answer is `None` (or an empty list).
#![forbid(unsafe_code)]

mod bootstrap;
mod knees;
mod levels;
mod order;
mod random;
mod stop;

pub use bootstrap::{block_median_interval, ratio_interval};
pub use knees::{Knee, knees};
pub use levels::{Drift, Headline, Modes, drift, headline, modes, placement};
pub use order::{Interval, mad, median, median_interval, quantile};
pub use random::{SplitMix64, derive};
pub use stop::StopRule;
