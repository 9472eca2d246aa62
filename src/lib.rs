//! memgauge measures the memory system of the machine it runs on and says how far each number can be trusted.
//!
//! The layers, top to bottom; each imports only what ARCHITECTURE.md's table allows (a test holds it):
//! `cli` reads arguments, `plan` decides what to measure, `run` measures it, `experiments` ask one question each,
//! `engine` obtains a number, `kernels` are the measured instructions, `host` is the machine, `analysis` judges
//! reports, `render` shows them, `results` is the data they share, `stats` and `units` are pure.

pub mod analysis;
pub mod cli;
pub mod engine;
pub mod error;
pub mod experiments;
pub mod host;
pub mod kernels;
pub mod plan;
pub mod render;
pub mod results;
pub mod run;
pub mod stats;
pub mod units;
