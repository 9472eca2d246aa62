//! The command `memgauge io`.

use super::common_options::MachineOptions;
use super::exit::Exit;
use super::io_options::IoOptions;
use super::measure::{Defaults, SINGLE_BUDGET, measure};
use super::sampling::storage_sampling;
use super::target::numbered;
use super::terminal::tell;
use experiments::Experiment;
use report::{TraceFormat, TraceWriter};
use std::fs::{File, OpenOptions};
use std::io::BufWriter;
use std::path::Path;
use storage::{FileLookup, Storage, StorageRunner, lookup, parse_trace};
use units::error::{Error, Result};

/// Largest trace, in bytes. A trace is read into memory as a whole.
const LARGEST_TRACE: u64 = 4 << 30;

/// Runs `memgauge io`. `words` is the command line.
pub fn io(options: IoOptions, words: Vec<String>) -> Result<Exit> {
    let IoOptions {
        settings,
        trace,
        pool,
        common,
    } = options;
    settings.check()?;
    let recorded = match &settings.replay {
        Some(path) => Some(parse_trace(path, &read(path)?)?),
        None => None,
    };
    let length = settings.window();
    let experiment = Storage::new(settings, recorded, FileLookup::new(lookup));
    let budget = experiment.time(common.repeat).max(SINGLE_BUDGET);
    // The experiment chooses windows and rounds, unless the user fixed the number of samples.
    let sampling = experiment.sampling(storage_sampling(length));
    let machine = MachineOptions {
        pool,
        ..MachineOptions::default()
    };
    measure(
        vec![Box::new(experiment)],
        &common,
        &machine,
        Defaults {
            budget,
            external: Some(Box::new(move |continued| {
                let mut runner = StorageRunner::default();
                if let Some(path) = &trace {
                    runner.record(create_trace(path, continued)?);
                }
                Ok(Box::new(runner))
            })),
            ..Defaults::new("io", sampling)
        },
        words,
    )
}

fn read(path: &Path) -> Result<String> {
    let wrong = |why: String| {
        let file = path.display();
        Error::usage(format!(
            "cannot read the trace: '{file}': {why}; traces are text; type the name of one"
        ))
    };
    let size = std::fs::metadata(path)
        .map_err(|e| wrong(e.to_string()))?
        .len();
    if size > LARGEST_TRACE {
        return Err(wrong(format!(
            "{size} B are more than the {LARGEST_TRACE} that are read"
        )));
    }
    std::fs::read_to_string(path).map_err(|e| wrong(e.to_string()))
}

/// Creates the file of a trace; an existing file is never overwritten. A `continued` session writes
/// to a new file with a free name next to the trace of the first part.
fn create_trace(path: &Path, continued: bool) -> Result<TraceWriter> {
    let free = || {
        (1..)
            .map(|number| numbered(path, number))
            .find(|name| !name.exists())
    };
    let other = if continued && path.exists() {
        free()
    } else {
        None
    };
    if let Some(other) = &other {
        let path = path.display();
        let other = other.display();
        tell(&format!(
            "memgauge: note: {path} has the trace of the first part; that of the rest goes to \
             {other}"
        ));
    }
    let path = other.as_deref().unwrap_or(path);
    let file: File = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(|e| {
            let file = path.display();
            Error::usage(format!(
                "cannot write the trace: '{file}': {e}; a trace is a new file; type another name"
            ))
        })?;
    let format = TraceFormat::from_name(&path.to_string_lossy());
    Ok(TraceWriter::new(format, Box::new(BufWriter::new(file))))
}
