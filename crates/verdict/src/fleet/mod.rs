//! Judges many machines by their peers: healthy, slow, unusual or inconclusive.
//!
//! The order of the files is that of the data: reports are collected, machines are grouped by
//! hardware, groups are split into populations, populations give references, and references give
//! verdicts on machines. docs/method/fleet.md says why.

mod collection;
mod expectations;
mod hardware;
mod labels;
mod node_verdicts;
mod pooled_tail;
mod populations;
mod references;

pub use collection::{Fleet, FleetCollection, FleetQuantity, LeftOut};
pub use expectations::Expectations;
pub use hardware::HardwareGroup;
pub use node_verdicts::{
    FleetFinding, FleetSettings, FleetVerdict, GroupVerdict, NodeState, NodeVerdict, Outlier,
    PopulationQuantity, judge_fleet,
};
pub use populations::Setting;
