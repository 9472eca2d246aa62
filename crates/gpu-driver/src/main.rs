//! Opens the drivers of GPUs for a statically linked memgauge, which can open no libraries. It is
//! linked dynamically against the C library of the system, and speaks with memgauge over its standard
//! input and output.

#![forbid(unsafe_code)]

use host::gpu::{DriversHere, serve};
use std::process::ExitCode;

fn main() -> ExitCode {
    match serve(&DriversHere, std::io::stdin(), std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
