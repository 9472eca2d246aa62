//! How a number is obtained: clock, pinned threads, memory, chains, samples, and what is concluded from them.
//!
//! `machine` is what experiments may ask for; `real` answers with this machine, `simulated` with a cost model.

#![forbid(unsafe_code)]

mod advice;
mod cache_cost;
mod candidates;
mod chain;
mod clock;
mod conclusion;
mod contention;
mod cycle;
mod dirt;
mod distribution;
mod disturbances;
mod handoff;
mod handoff_cost;
mod io;
mod issue;
mod judge;
mod loaded;
mod machine;
mod nearness;
mod nodes_cost;
mod order;
mod pages;
mod prepared;
mod race;
mod real;
mod runs;
mod sample;
mod sampling;
mod shape;
mod sharing;
mod simulated;
mod surroundings;
mod team;
mod traffic;
mod translation;
mod window;
mod work;

pub use crate::stats::{SplitMix64, derive};
pub use cache_cost::CacheCost;
pub use clock::Clock;
pub use conclusion::{Frame, conclude};
pub use contention::LoadCost;
pub use distribution::{DISTRIBUTION, Windows};
pub use disturbances::{NoiseModel, Spike};
pub use handoff_cost::HandOffCost;
pub use io::{
    COUNTED_WINDOWS, Content, Flush, IoFile, IoSeen, IoTarget, IoWork, Order, Pace, Permission, Recording, Step,
    StorageModel,
};
pub use judge::{SPREAD, reason};
pub use machine::{
    Beside, Machine, MemoryKey, MemoryPlan, MemoryUse, Observation, Trouble, lacking_pages, page_bytes, share_of, slot,
};
pub use nodes_cost::{Link, NodesCost};
pub use race::race_samples;
pub use real::RealMachine;
pub use runs::{FILLS, LONGEST_FILL};
pub use sampling::{IN_MEMORY, LONGEST_WALK, PointLog, Sampling, fills, sample_round, settling};
pub use sharing::SharingModel;
pub use simulated::{CostModel, LevelCost, SimulatedMachine};
pub use team::{Member, Team};
pub use traffic::{LoadedWork, Probe, Traffic};
pub use translation::TlbLevel;
pub use window::{Chunks, Gaps};
pub use work::{ChainShape, ChaseWork, HandOffWork, InstructionWork, LockWork, StreamWork, TableOrder, Work};
