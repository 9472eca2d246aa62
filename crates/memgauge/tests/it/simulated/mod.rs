//! Tests of planner, sampling, experiments, sessions and renderers on simulated machines. They have
//! exact answers on topologies that no test machine has, and need no waiting. Nothing depends on
//! the clock of the machine that runs the tests.

mod budgets;
mod cache_sharing;
mod caches;
mod chains;
mod comparing;
mod core_to_core;
mod distribution;
mod expected_time;
mod families;
mod findings;
mod follow_ups;
mod interruption;
pub mod lab;
mod levels;
mod limits;
mod loaded;
mod machines;
mod noise;
mod numa;
mod options;
mod pages;
mod profile;
mod profiles;
mod proof;
mod rendering;
mod scaling;
mod shapes;
mod sizes;
mod storage;
mod tables;
mod threads;
mod tlbs;
mod trust;
mod values;
