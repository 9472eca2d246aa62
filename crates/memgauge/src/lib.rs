//! The program: `cli` reads arguments, `plan` decides what to measure, `run` measures it.
//!
//! Everything else is a crate of its own; ARCHITECTURE.md has their list in import order.

#![forbid(unsafe_code)]

pub mod cli;
pub mod plan;
pub mod run;
