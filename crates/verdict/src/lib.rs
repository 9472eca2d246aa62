//! Derives verdicts from reports: verdicts on points and machines, and differences between reports
//! that chance does not explain.
//!
//! A verdict is data: nothing in this crate prints, draws or decides an exit code.

#![forbid(unsafe_code)]

mod advice;
mod align;
mod compare;
mod dataset;
mod documented;
mod finding_kinds;
mod fleet;
mod health;
mod judge;
mod limits;
mod report_set;
mod sample_statistics;

pub use advice::{because, for_cause};
pub use align::{Aligned, Unaligned, align};
pub use compare::{
    CONFIDENCE, Change, ComparedPoint, ComparedReport, Comparison, DEFAULT_FLOOR, Fraction, Pair,
    PairGroup, Settings, Tally, compare,
};
pub use dataset::{TimedCache, doubt_by_timed_caches, reject_below_faster};
pub use documented::documented_levels;
pub use finding_kinds::{FINDING_KINDS, FindingKind, Worth, finding_kind};
pub use fleet::{
    Expectations, Fleet, FleetCollection, FleetFinding, FleetHistory, FleetQuantity, FleetSettings,
    FleetVerdict, GroupVerdict, HardwareGroup, HistoryState, LeftOut, MAX_HISTORY, NodeChange,
    NodeHistory, NodeState, NodeVerdict, Outlier, PopulationQuantity, Setting, judge_fleet,
    judge_fleet_since,
};
pub use health::{FirstJudgement, HEALTH_METHOD};
pub use judge::{GRANTED, SPREAD, VerdictInput, judge, reason};
pub use limits::{MemoryTraffic, PortTraffic, base_clock, memory_limit, port_limit};
pub use report_set::ReportSet;
pub use sample_statistics::SampleStatistics;
