//! From reports to judgements: what differs between them, and whether that is more than chance.
//!
//! A judgement is data: nothing here prints, draws or decides an exit code.

#![forbid(unsafe_code)]

mod advice;
mod align;
mod compare;
mod judge;
mod shape;

pub use align::{Aligned, Unaligned, align};
pub use compare::{
    CONFIDENCE, Change, Comparison, DEFAULT_FLOOR, Pair, PairGroup, Settings, Share, Side, Tally,
    compare,
};
pub use judge::{Grounds, SPREAD, judge, reason};
pub use shape::Shape;
