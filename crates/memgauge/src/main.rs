//! Parses, runs, prints the error, sets the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(memgauge::cli::main(std::env::args_os().collect()))
}
