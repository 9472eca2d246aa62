//! Parses, runs, prints the error, sets the exit code.

fn main() {}
