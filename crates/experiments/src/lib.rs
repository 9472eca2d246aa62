//! Experiments, one for each question. An experiment turns its settings into points to measure, and
//! derives findings from the measured dataset. The engine decides how a point is measured.
//!
//! An experiment is one file and one row in [`EXPERIMENTS`]. The row gives the experiment its
//! command with help, man page and completions, its name for `--only`, and its entry in lists of
//! experiments. A minimal example:
//!
//! ```ignore
//! // rows.rs
//!
//! /// Which rows of a memory bank to change between.
//! #[derive(Debug, Clone, clap::Args)]
//! pub struct Settings {
//!     /// Bytes between the rows: 8KiB,16KiB
//!     #[arg(long, value_name = "LIST", default_value = "8KiB")]
//!     pub distances: SizeList,
//! }
//!
//! impl Effects for Settings {} // Lists the options that matter only with others.
//!
//! impl CommandSettings for Settings {
//!     fn experiments(self) -> Vec<Box<dyn Experiment>> {
//!         vec![Box::new(RowChanges { distances: self.distances })]
//!     }
//! }
//!
//! impl Experiment for RowChanges {
//!     // name, quantity, axes; draft: the points to measure; findings: sentences about them
//! }
//!
//! // table.rs
//!
//! ExperimentRow {
//!     name: "rows",
//!     question: "how long does a load take that opens another row of a memory bank?",
//!     least: Some(Detail::Sweep),
//!     in_profile: |detail| Box::new(rows::RowChanges::in_profile(detail)),
//!     chosen: None,
//!     command: Some(ExperimentCommand::new::<rows::Settings>(
//!         "Latency of a load that opens another row of memory", // in the list of commands
//!         "rows --sizes 1GiB",                                  // the example in its help
//!         &[LastLevel],                                         // also takes --last-level
//!     )),
//! }
//! ```
//!
//! The line `pub mod rows;` in this file completes the example. An axis that no other experiment
//! has gets a column in `report/src/columns.rs`.

#![forbid(unsafe_code)]

pub mod bandwidth;
pub mod caches;
mod chains;
mod choices;
mod clusters;
mod command;
mod coordinates;
pub mod core_to_core;
mod cpus;
mod curve;
mod difference;
mod experiment;
mod hierarchy;
pub mod instructions;
pub mod latency;
mod lists;
pub mod loaded_latency;
pub mod locks;
mod nodes;
pub mod numa;
mod pairs;
pub mod patterns;
mod placement;
pub mod scaling;
mod series;
mod steps;
mod streams;
mod table;
pub mod tlb;
mod windows;

pub use choices::{Choices, MixedOperations};
pub use command::{
    CommandRequest, CommandSettings, Effect, Effects, ExperimentCommand, JudgedEffect,
    MachineOption,
};
pub use curve::{Saturation, saturation};
pub use difference::Figure;
pub use experiment::{
    Bound, Detail, Draft, Experiment, Scope, axis, bandwidth_quantity, bytes_axis, latency_quantity,
};
pub use hierarchy::{LastLevel, Level, Levels, Target, TimedLastLevel};
pub use lists::{
    ChainMode, ChainModes, Count, Counts, Density, HandOffs, Instructions, Interleavings,
    LineSharing, Lines, LockOperations, OperationSpec, Operations, OrderKind, Orders, PageModes,
    Pair, Pairs, Placement, Placements, Quantities, Region, Regions, Spread, Studied, Timings,
    Widths,
};
pub use patterns::OrderedOperations;
pub use table::{EXPERIMENTS, ExperimentRow, FromChoices};
pub use windows::WindowSettings;
