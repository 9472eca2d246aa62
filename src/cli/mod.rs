//! The command line: the only reader of arguments and the environment, and the only writer to the terminal.

#![forbid(unsafe_code)]

mod args;
mod generate;
mod list;
mod measure;
mod output;
mod progress;

use crate::error::{Error, Kind, Result};
use args::{Cli, Command};
use clap::Parser;
use std::ffi::OsString;
use std::io::Write;

/// Runs the program with `arguments` (the program's name first) and returns its exit code: 0 all measured; 1 a step
/// failed, was interrupted or (with `--strict`) was not solid; 2 the request cannot be carried out as typed.
pub fn main(arguments: Vec<OsString>) -> u8 {
    let words = arguments.iter().map(|a| a.to_string_lossy().into_owned()).collect();
    let outcome = Parsed::or_error(Cli::try_parse_from(arguments)).and_then(|parsed| match parsed {
        Parsed::Text(text) => output::to_stdout(text.as_bytes()).map(|()| 0),
        Parsed::Request(cli) => dispatch(*cli, words),
    });
    match outcome {
        Ok(code) => code,
        Err(error) => match error.kind() {
            Kind::BrokenPipe => 0,
            kind => {
                // A closed standard error leaves nobody to tell.
                let _ = writeln!(std::io::stderr(), "memgauge: {error}");
                if kind == Kind::Usage { 2 } else { 1 }
            }
        },
    }
}

/// What the arguments ask for.
enum Parsed {
    /// Help or the version.
    Text(String),
    /// Something to do.
    Request(Box<Cli>),
}

impl Parsed {
    fn or_error(parsed: std::result::Result<Cli, clap::Error>) -> Result<Self> {
        match parsed {
            Ok(cli) => Ok(Parsed::Request(Box::new(cli))),
            Err(e) if !e.use_stderr() => Ok(Parsed::Text(e.render().to_string())),
            Err(e) => Err(Error::usage(one_line(&e.render().to_string()))),
        }
    }
}

/// clap's message as one line: what is wrong and the tips, without the usage block.
fn one_line(message: &str) -> String {
    let ends = |line: &str| line.starts_with("Usage:") || line.starts_with("For more information");
    let parts: Vec<&str> = message.lines().map(str::trim).take_while(|line| !ends(line)).collect();
    let text = parts.split(|line| line.is_empty()).map(|p| p.join(" ")).filter(|p| !p.is_empty());
    let text = text.collect::<Vec<String>>().join("; ");
    text.strip_prefix("error: ").unwrap_or(&text).replace("; tip: ", "; ")
}

fn dispatch(cli: Cli, words: Vec<String>) -> Result<u8> {
    match cli.command {
        None => measure::run(&cli.run, words),
        Some(Command::Run(options)) => measure::run(&options, words),
        Some(Command::Bandwidth(options)) => measure::bandwidth(options, words),
        Some(Command::Latency(options)) => measure::latency(options, words),
        Some(Command::List(options)) => list::list(&options).map(|()| 0),
        Some(Command::Report(options)) => output::report(&options).map(|()| 0),
        Some(Command::Generate(options)) => generate::generate(options.what).map(|()| 0),
    }
}
