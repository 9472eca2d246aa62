//! Opens the drivers of GPUs for a statically linked memgauge, which cannot load libraries. This
//! program is linked dynamically against the C library of the system. It exchanges messages with
//! memgauge over its standard input and output.

#![forbid(unsafe_code)]

use host::gpu::{DriversHere, serve};
use std::process::ExitCode;

fn main() -> ExitCode {
    match serve(&DriversHere, std::io::stdin(), std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
