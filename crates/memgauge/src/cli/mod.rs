//! The command line. Only this module reads arguments and the environment, and writes to the
//! terminal.

#![forbid(unsafe_code)]

mod args;
mod catalogue;
mod common_options;
mod compare;
mod dry_run;
#[cfg(feature = "storage")]
mod engines;
mod exit;
mod expectations;
mod experiment_request;
mod fleet;
mod fleet_options;
mod folders;
mod formats;
mod generate;
mod given;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "gpu")]
mod gpu_drivers;
#[cfg(feature = "gpu")]
mod gpu_options;
#[cfg(feature = "gpu")]
mod gpus_of_machine;
mod health;
mod health_options;
#[cfg(feature = "storage")]
mod io;
#[cfg(feature = "storage")]
mod io_options;
mod launch;
mod list;
mod measure;
mod name_pattern;
mod node_lock;
mod output;
mod processors;
mod progress;
mod refusal;
mod resume;
mod runs;
mod sampling;
mod saved;
mod share;
mod since;
mod state;
mod target;
mod terminal;

use args::{Cli, Command};
use clap::FromArgMatches;
use exit::Exit;
pub use exit::{EXIT_CODES, ExitRow, markdown as exit_codes_in_markdown};
pub use sampling::default_sampling;
#[cfg(feature = "storage")]
pub use sampling::storage_sampling;
use std::ffi::OsString;
use std::io::Write;
use units::error::{Error, Kind, Result};

/// Runs the program with `arguments` (the program's name first) and returns its exit code, one of
/// [`EXIT_CODES`].
pub fn main(arguments: Vec<OsString>) -> u8 {
    let refused = host::privilege::refuse_elevated();
    // An error is ignored: the session works without the handler, and users cannot repair it.
    let _ = host::interrupt::report_file_limit();
    let words = arguments
        .iter()
        .map(|a| a.to_string_lossy().into_owned())
        .collect();
    let outcome = refused.and_then(|()| obey(&arguments, words));
    let exit = outcome.unwrap_or_else(|error| {
        // An error is ignored: if standard error is closed, there is no place for a message.
        let _ = writeln!(
            std::io::stderr(),
            "memgauge: {}",
            visible(&error.to_string())
        );
        match error.kind() {
            Kind::Usage => Exit::Usage,
            Kind::Failure => Exit::Failed,
        }
    });
    exit.code()
}

/// Executes the command in `arguments`. `words` are the same arguments as text.
fn obey(arguments: &[OsString], words: Vec<String>) -> Result<Exit> {
    #[cfg(feature = "gpu")]
    if let Some(served) = gpu_drivers::serve_if_asked(arguments) {
        return served;
    }
    match Parsed::parse(arguments)? {
        Parsed::Text(text) => output::to_stdout(text.as_bytes()).map(|()| Exit::Done),
        Parsed::Request(cli) => dispatch(*cli, words),
    }
}

/// Returns `message` as one line. Control characters, which quoted arguments may contain, are
/// escaped.
fn visible(message: &str) -> String {
    let shown = |c: char| {
        if c.is_control() {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    };
    message.chars().map(shown).collect()
}

/// Result of parsing the arguments.
enum Parsed {
    /// Text to print: help or the version.
    Text(String),
    /// A request to carry out.
    Request(Box<Cli>),
}

impl Parsed {
    fn parse(arguments: &[OsString]) -> Result<Self> {
        let matches = args::command().try_get_matches_from(arguments);
        match matches.and_then(|matches| Cli::from_arg_matches(&matches).map(|cli| (cli, matches)))
        {
            Ok((cli, matches)) => {
                given::check_effects(&cli, &matches)?;
                Ok(Parsed::Request(Box::new(cli)))
            }
            Err(e) if !e.use_stderr() => {
                let text = e.render().to_string();
                // clap writes `error: ` before the table that `--format help` prints.
                Ok(Parsed::Text(
                    text.strip_prefix("error: ")
                        .map_or_else(|| text.clone(), str::to_owned),
                ))
            }
            Err(e) => Err(Error::usage(refusal::refusal(&e, arguments))),
        }
    }
}

fn dispatch(cli: Cli, words: Vec<String>) -> Result<Exit> {
    match cli.command {
        None => measure::run(&cli.run, words),
        Some(Command::Run(options)) => measure::run(&options, words),
        Some(Command::Experiment(request)) => measure::experiment(request, words),
        #[cfg(feature = "storage")]
        Some(Command::Io(options)) => io::io(*options, words),
        #[cfg(feature = "gpu")]
        Some(Command::Gpu(options)) => gpu::gpu(*options, words),
        Some(Command::Health(options)) => health::run(*options, words),
        Some(Command::List(options)) => list::list(&options).map(|()| Exit::Done),
        Some(Command::Report(options)) => output::report(&options),
        Some(Command::Compare(options)) => compare::run(&options),
        Some(Command::Fleet(options)) => fleet::run(&options),
        Some(Command::Generate(options)) => generate::generate(options.what).map(|()| Exit::Done),
    }
}
