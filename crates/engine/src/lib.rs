//! Turns a work (a description of what threads execute) into a value with its interval and
//! evidence.
//!
//! The modules. Each module imports only modules that stand above it in this list:
//! - [`work`]: kinds of work as data and arithmetic, and the memory that they need;
//! - [`pages`]: evidence about the pages of a work, compared with the pages that the work
//!   requested;
//! - [`machine`]: the trait of a machine that executes works, and the data of a sample;
//! - [`chain`]: the order of a pointer chain, and the proof that it is one cycle;
//! - [`native`]: the machine that this process runs on;
//! - [`sampling`]: takes samples of a work, and computes its value, interval and evidence.
//!
//! The crate `verdict` decides what a value means.

#![forbid(unsafe_code)]

pub mod chain;
pub mod machine;
pub mod native;
pub mod pages;
pub mod sampling;
pub mod work;

pub use machine::{
    BackgroundTraffic, CHUNKS, Chunks, Costs, Failure, Gaps, LONGEST_PREFILL, Machine, Observation,
    PREFILL_PASSES, blocks_of,
};
pub use native::{Clock, ExternalMeans, ExternalRunner, Member, RealMachine, StartBarrier, Team};
pub use sampling::{
    Baselines, DISTRIBUTION, Evaluation, EvaluationContext, IN_MEMORY, LONGEST_WALK, PointCosts,
    PointLog, SAMPLES_PER_PREFILL, Sampling, TimedPoint, Windows, evaluate, expected_fill,
    expected_time, fills, sample_round, warm_up_walk,
};
pub use work::{
    ChainShape, ChaseWork, External, ExternalFigures, ExternalWindow, ExternalWork, HandOffWork,
    InstructionWork, Invalid, LoadedWork, LockWork, MemoryKey, MemoryPlan, MemoryUse, Probe,
    StreamWork, TableOrder, Traffic, Work, chain_key, lacking_pages, page_bytes, share_of, slot,
    traffic_key, traffic_memory,
};
