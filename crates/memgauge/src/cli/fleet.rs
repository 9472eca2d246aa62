//! `memgauge fleet FILE...`

use super::exit::Exit;
use super::expectations;
use super::fleet_options::FleetOptions;
use super::folders::files_in;
use super::since::Since;
use super::target::{is_stdout, put, reason, reason_in};
use super::terminal::{tell, terminal_width};
use render::{FLEET_FORMATS, Options, fleet_summary};
use report::read_node_reports;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use units::error::{Error, Result};
use verdict::{
    FleetCollection, FleetSettings, FleetVerdict, HistoryState, LeftOut, NodeState, judge_fleet,
    judge_fleet_since,
};

/// Extensions of files that are read from folders.
const EXTENSIONS: [&str; 3] = ["json", "jsonl", "ndjson"];

/// Largest number of threads that read files. More threads would only wait for storage.
const MAX_THREADS: usize = 16;

/// Size of the read buffer of a file, in bytes.
const BUFFER: usize = 64 << 10;

/// Judges the machines of all reports. Returns [`Exit::CheckFailed`] if a machine is slow or became
/// slower. Otherwise it returns [`Exit::Incomplete`] if an input was left out, or if a machine
/// could not be judged. With `--since`, it also returns [`Exit::Incomplete`] if no machine's
/// history could be judged.
pub fn run(options: &FleetOptions) -> Result<Exit> {
    let chosen = options
        .format
        .as_deref()
        .map(|name| FLEET_FORMATS.named(name))
        .transpose()?;
    let settings = FleetSettings {
        floor: options.floor,
        false_alarms: options.false_alarms,
        least_nodes: options.least_nodes.0 as usize,
    };
    let expected = options
        .expect
        .as_deref()
        .map(expectations::read)
        .transpose()?;
    let inputs = inputs(&options.files)?;
    let since = options.since.as_ref().map(Since::moment);
    let (collection, mut left_out) = read_all(&inputs, since.as_deref());
    let (fleet, twice) = collection.finish();
    left_out.extend(twice);
    left_out.sort();
    let expected = expected.as_ref();
    let verdict = match &since {
        None => judge_fleet(&fleet, left_out, &settings, expected),
        Some(since) => judge_fleet_since(&fleet, left_out, &settings, expected, since),
    };
    drop(fleet);
    if let Some(path) = &options.write_expectations {
        expectations::write(path, &verdict.learned)?;
    }
    let to_file = options
        .output
        .as_deref()
        .is_some_and(|path| !is_stdout(path));
    let shown = Options {
        verbose: options.verbose,
        width: if to_file { None } else { terminal_width() },
        ..Options::default()
    };
    let file = put(options.output.as_deref(), |path| {
        let format = FLEET_FORMATS.for_output(path, chosen)?;
        format.render(&verdict, &shown)
    })?;
    if file {
        tell(&format!("memgauge: {}", fleet_summary(&verdict)));
    }
    Ok(exit(&verdict))
}

/// Exit code for `verdict`.
fn exit(verdict: &FleetVerdict) -> Exit {
    let tally = verdict.tally();
    let count = |state: NodeState| tally[state as usize];
    let history = verdict.history.as_ref();
    let is_slower = history.is_some_and(|own| own.count(HistoryState::Slower) > 0);
    let has_no_history = history.is_some_and(|own| own.judged == 0);
    if count(NodeState::Slow) > 0 || is_slower {
        Exit::CheckFailed
    } else if count(NodeState::Inconclusive) > 0 || !verdict.left_out.is_empty() || has_no_history {
        Exit::Incomplete
    } else {
        Exit::Done
    }
}

/// Files to read: the files in `named`, and files with a known extension in the folders in `named`.
fn inputs(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in named {
        let refused = |e: &io::Error| {
            Error::usage(format!(
                "cannot read the reports: '{}': {}; files, folders of .json and .jsonl, and - can \
                 be read; type the name of one",
                path.display(),
                reason(e)
            ))
        };
        if is_stdin(path) {
            all.push(path.clone());
            continue;
        }
        let facts = fs::metadata(path).map_err(|e| refused(&e))?;
        if !facts.is_dir() {
            all.push(path.clone());
            continue;
        }
        let files = files_in(path, &EXTENSIONS).map_err(|e| refused(&e))?;
        if files.is_empty() {
            return Err(Error::usage(format!(
                "cannot read the reports: '{}' has no file that ends in .json, .jsonl or .ndjson; \
                 type the name of a folder of reports",
                path.display()
            )));
        }
        all.extend(files);
    }
    Ok(all)
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads all inputs with several threads. With `since`, the older reports of each machine are kept
/// too.
fn read_all(inputs: &[PathBuf], since: Option<&str>) -> (FleetCollection, Vec<LeftOut>) {
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, |n| n.get());
    let empty = || since.map_or_else(FleetCollection::default, FleetCollection::with_history);
    let work = || {
        let mut collection = empty();
        let mut left_out = Vec::new();
        while let Some(path) = inputs.get(next.fetch_add(1, Ordering::Relaxed)) {
            read(path, &mut collection, &mut left_out);
        }
        (collection, left_out)
    };
    let mut collection = empty();
    let mut left_out = Vec::new();
    thread::scope(|scope| {
        let count = threads.min(MAX_THREADS).min(inputs.len());
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            match worker.join() {
                Ok((own, own_left_out)) => {
                    collection.merge(own);
                    left_out.extend(own_left_out);
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    (collection, left_out)
}

/// Reads one input into `collection`. An input that cannot be read is added to `left_out`.
fn read(path: &Path, collection: &mut FleetCollection, left_out: &mut Vec<LeftOut>) {
    if is_stdin(path) {
        return read_from(io::stdin().lock(), "standard input", collection, left_out);
    }
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => read_from(
            BufReader::with_capacity(BUFFER, file),
            &name,
            collection,
            left_out,
        ),
        Err(error) => left_out.push(LeftOut {
            source: name,
            reason: reason(&error),
        }),
    }
}

fn read_from(
    input: impl BufRead,
    name: &str,
    collection: &mut FleetCollection,
    left_out: &mut Vec<LeftOut>,
) {
    read_node_reports(input, &mut |line, report| {
        let source = match line {
            0 => name.to_owned(),
            line => format!("{name}:{line}"),
        };
        let added = report.and_then(|report| collection.add(report, source.clone()));
        if let Err(why) = added {
            left_out.push(LeftOut {
                source,
                reason: reason_in(&why).to_owned(),
            });
        }
    });
}
