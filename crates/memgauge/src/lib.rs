//! The program: `cli` reads arguments, `plan` decides what to measure, `run` measures it.
//!
//! All other parts are crates of their own. ARCHITECTURE.md lists them in import order.

#![forbid(unsafe_code)]

pub mod cli;
pub mod plan;
pub mod run;
