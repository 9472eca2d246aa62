//! Judges many machines by their peers: healthy, slow, unusual or inconclusive.
//!
//! The order of the files is that of the data: reports are collected, machines are grouped by
//! hardware, groups are split into populations, populations give references, and references give
//! verdicts on machines. docs/method/fleet.md says why. The changes of machines against their own
//! histories are judged in the same way.

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
