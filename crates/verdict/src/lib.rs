//! From reports to judgements: what differs between them, and whether that is more than chance.
//!
//! A judgement is data: nothing here prints, draws or decides an exit code.

#![forbid(unsafe_code)]

mod advice;
mod align;
mod compare;
mod judge;
mod sample_statistics;

pub use align::{Aligned, Unaligned, align};
pub use compare::{
    CONFIDENCE, Change, Comparison, DEFAULT_FLOOR, Pair, PairGroup, Settings, Share, Side, Tally,
    compare,
};
pub use judge::{GRANTED, SPREAD, VerdictInput, judge, reason};
pub use sample_statistics::SampleStatistics;
