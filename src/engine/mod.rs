//! How a number is obtained.
#![forbid(unsafe_code)]

mod permutation;

pub use crate::stats::{SplitMix64, derive};
pub use permutation::Permutation;
