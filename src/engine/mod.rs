//! How a number is obtained: clock, pinned threads, memory, chains, samples, and what is concluded from them.
//!
//! `machine` is what experiments may ask for; `real` answers with this machine, `simulated` with a cost model.

#![forbid(unsafe_code)]

mod chain;
mod clock;
mod cycle;
mod judge;
mod machine;
mod pages;
mod real;
mod sample;
mod sampling;
mod simulated;
mod team;
mod window;

pub use crate::stats::{SplitMix64, derive};
pub use clock::Clock;
pub use machine::{
    ChaseWork, Machine, MemoryKey, MemoryPlan, MemoryUse, Observation, StreamWork, Trouble, Work, page_bytes, slot,
};
pub use real::RealMachine;
pub use sampling::{Frame, PointLog, Sampling, conclude, sample_round};
pub use simulated::{CostModel, LevelCost, NoiseModel, SimulatedMachine};
pub use team::{Member, Team};
