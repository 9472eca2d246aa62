//! The integration tests, one binary: what holds between rooms and what a user sees of the program.

mod advice;
mod architecture;
mod bad_places;
mod chains;
mod cli;
mod comparing;
mod containment;
mod control_groups;
mod core_to_core;
mod documents;
mod exit_codes;
mod generated;
mod helper;
mod import_cycles;
mod interruption;
mod journals;
mod loaded;
mod odd_requests;
mod outputs;
mod prose;
mod resume;
mod saved_runs;
mod scaling;
mod simulated;
mod source;
mod storage;
