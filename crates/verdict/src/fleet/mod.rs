//! Compares many machines with their peers: healthy, slow, unusual or inconclusive.
//!
//! The data goes through these steps: reports are collected, machines are grouped by hardware,
//! groups are split into populations, populations give references, and references give verdicts on
//! machines. The changes of machines since a requested moment are judged in the same way.
//! docs/method/fleet.md has the reasons.

mod collection;
mod expectations;
mod hardware;
mod history;
mod history_verdict;
mod labels;
mod node_verdicts;
mod pooled_tail;
mod populations;
mod references;

pub use collection::{Fleet, FleetCollection, FleetQuantity, LeftOut, MAX_HISTORY};
pub use expectations::Expectations;
pub use hardware::HardwareGroup;
pub use history::judge_fleet_since;
pub use history_verdict::{FleetHistory, HistoryState, NodeChange, NodeHistory};
pub use node_verdicts::{
    FleetFinding, FleetSettings, FleetVerdict, GroupVerdict, NodeState, NodeVerdict, Outlier,
    PopulationQuantity, judge_fleet,
};
pub use populations::Setting;
