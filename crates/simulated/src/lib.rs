//! A machine for tests that computes its answers from a cost model. Equal requests have equal
//! answers, and the clock is its own.
//!
//! With it, experiments, planner, sampling and renderers are tested without waiting, on topologies
//! that no test machine has. Its figures are those of the model. A level has a capacity, a
//! bandwidth for one thread and a latency; instances of a cache are shared as the topology says;
//! all threads share the bandwidth of memory.

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
