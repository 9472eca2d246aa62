//! A machine for tests that computes its answers from a cost model. The same requests always get
//! the same answers, and the machine has a simulated clock.
//!
//! Experiments, planner, sampling and renderers are tested with this machine, without waiting, on
//! topologies that no test machine has. All figures come from the cost model. Each cache level has
//! a capacity, a bandwidth for one thread and a latency. The topology says which CPUs share a
//! cache. All threads share the bandwidth of memory.

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
