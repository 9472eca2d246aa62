//! Opens the drivers of GPUs for a statically linked memgauge, which can open no libraries. It is
//! linked dynamically against the C library of the system, and speaks with memgauge over its standard
//! input and output.

#![forbid(unsafe_code)]

use host::gpu::{DriversHere, serve};
use std::process::ExitCode;

fn main() -> ExitCode {
    #[allow(
        clippy::exit,
        reason = "memgauge is gone, and the driver may never return"
    )]
    let gone = || std::process::exit(1);
    match serve(&DriversHere, std::io::stdin(), std::io::stdout(), gone) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
