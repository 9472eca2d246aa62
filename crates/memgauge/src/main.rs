//! Entry point: passes the arguments to the library and exits with the code that it returns.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(memgauge::cli::main(std::env::args_os().collect()))
}
