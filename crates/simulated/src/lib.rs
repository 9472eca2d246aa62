//! A machine that exists only as a cost model: the same requests, exact answers, its own clock.
//! Tests use it; no program does.
//!
//! It lets experiments, planner, sampling and renderers be tested on topologies no test machine
//! has, without waiting. Its figures are those of the model: a level has a capacity, a bandwidth
//! for one thread and a latency; instances of a cache are shared as the topology says; memory has a
//! bandwidth that all threads share.

#![forbid(unsafe_code)]

mod caches;
mod contention;
mod cost_model;
mod disturbances;
mod machine;
mod numa;
mod ping_pong;
mod sharing;
mod storage_model;
mod tlb;

pub use cost_model::{CacheCost, CostModel, LevelCost, LoadCost, SharingModel, TlbLevel};
pub use disturbances::{NoiseModel, Spike};
pub use machine::SimulatedMachine;
pub use numa::{Link, NodesCost};
pub use ping_pong::HandOffCost;
pub use storage_model::{SimulatedStorage, StorageModel};
