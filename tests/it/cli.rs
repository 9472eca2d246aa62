//! What a user sees of the program: exit codes, messages, and which stream they go to.
//!
//! A row is `(arguments, exit code, stream, what it contains)`. Arguments are separated by blanks; `{cpus+1}` stands for
//! one more than the CPUs that may be used. Every row is also held to the house rules for its exit code.

use crate::helper::{Finished, memgauge};
use std::path::Path;
use std::thread::available_parallelism;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Out,
    Err,
}
use Stream::{Err, Out};

type Row = (&'static str, i32, Stream, &'static str);

/// Requests that cannot be carried out as typed.
const USAGE: &[Row] = &[
    // Names, with the nearest one suggested.
    ("bandwidht", 2, Err, "did you mean 'bandwidth'"),
    ("run --only bandwith", 2, Err, "did you mean 'bandwidth'"),
    ("run --profile ful", 2, Err, "did you mean 'full'"),
    ("bandwidth --ops raed", 2, Err, "did you mean 'read'"),
    ("bandwidth --width 521", 2, Err, "did you mean '512'"),
    ("bandwidth --pages 4kb", 2, Err, "did you mean '4k'"),
    ("bandwidth --format jsn", 2, Err, "did you mean 'json'"),
    ("bandwidth --sise 4KiB", 2, Err, "--sizes"),
    ("list kernel", 2, Err, "did you mean 'kernels'"),
    ("generate shema", 2, Err, "did you mean 'schema'"),
    ("bandwidth --ops zzzzzzzz", 2, Err, "zzzzzzzz"),
    // Sizes.
    ("bandwidth --sizes 0", 2, Err, "0"),
    ("bandwidth --sizes 1", 2, Err, "1"),
    ("bandwidth --sizes 1B", 2, Err, "1 B"),
    ("latency --sizes 1", 2, Err, "1"),
    ("bandwidth --sizes 4097", 2, Err, "4097"),
    ("bandwidth --sizes 8EiB", 2, Err, "8EiB"),
    ("bandwidth --sizes 8192TiB", 2, Err, "8192 TiB"),
    ("latency --sizes 8192TiB", 2, Err, "8192 TiB"),
    ("bandwidth --sizes 99999999999999999999", 2, Err, "99999999999999999999"),
    ("bandwidth --sizes 99999999TiB", 2, Err, "16 EiB"),
    ("bandwidth --sizes -4096", 2, Err, "-4096"),
    ("bandwidth --sizes=-4096", 2, Err, "-4096"),
    ("bandwidth --sizes=", 2, Err, "size"),
    ("bandwidth --sizes ,", 2, Err, "size"),
    ("bandwidth --sizes 4KiB,", 2, Err, "size"),
    ("bandwidth --sizes 8KiB..4KiB", 2, Err, "8KiB..4KiB"),
    ("bandwidth --sizes 4KiB..8KiB:0", 2, Err, "step"),
    ("bandwidth --sizes 4KiB..8KiB:x1", 2, Err, "factor"),
    ("bandwidth --sizes four", 2, Err, "'four'"),
    ("bandwidth --sizes nan", 2, Err, "'nan'"),
    // Threads and CPUs.
    ("bandwidth --threads 0", 2, Err, "0"),
    ("bandwidth --threads -1", 2, Err, "-1"),
    ("bandwidth --threads {cpus+1}", 2, Err, "{cpus+1}"),
    ("bandwidth --threads 99999999999999999999", 2, Err, "99999999999999999999"),
    ("bandwidth --threads=", 2, Err, "thread"),
    ("bandwidth --threads some", 2, Err, "'some'"),
    ("bandwidth --cpus 1048575", 2, Err, "1048575"),
    ("bandwidth --cpus 3-1", 2, Err, "3-1"),
    ("bandwidth --cpus=", 2, Err, "CPU"),
    // Other numbers.
    ("bandwidth --budget 0", 2, Err, "budget"),
    ("bandwidth --budget 0s", 2, Err, "budget"),
    ("bandwidth --budget -5s", 2, Err, "-5s"),
    ("bandwidth --budget inf", 2, Err, "inf"),
    ("bandwidth --budget 5parsecs", 2, Err, "5parsecs"),
    ("bandwidth --seed elephant", 2, Err, "elephant"),
    ("bandwidth --seed -1", 2, Err, "-1"),
    ("bandwidth --seed 99999999999999999999", 2, Err, "99999999999999999999"),
    ("bandwidth --sizes 4KiB..64KiB:1KiB --max-points 3", 2, Err, "--max-points"),
    ("bandwidth --max-points 0", 2, Err, "0"),
    // Requests that contradict themselves.
    ("run --only bandwidth --skip bandwidth", 2, Err, "bandwidth"),
    ("bandwidth --cpus 0 --threads 2", 2, Err, "2"),
    ("bandwidth --quiet --verbose", 2, Err, "--verbose"),
    ("bandwidth --format csv -o out.json", 2, Err, "json"),
    // Files: found before anything is measured.
    ("bandwidth -o missing/folder/out.json", 2, Err, "missing/folder"),
    ("bandwidth -o .", 2, Err, "folder"),
    ("bandwidth -o out.xyz", 2, Err, ".xyz"),
    ("bandwidth --resume missing.journal.jsonl", 2, Err, "missing.journal.jsonl"),
    ("report missing.json", 2, Err, "missing.json"),
    ("compare missing.json other.json", 2, Err, "missing.json"),
    ("compare one.json", 2, Err, "AFTER"),
    ("health --expect missing.json", 2, Err, "missing.json"),
    ("fleet missing", 2, Err, "missing"),
];

/// Requests that measure nothing and succeed.
const ANSWERS: &[Row] = &[
    ("--version", 0, Out, env!("CARGO_PKG_VERSION")),
    ("--help", 0, Out, "bandwidth"),
    ("bandwidth --help", 0, Out, "--sizes"),
    ("list kernels", 0, Out, "read"),
    ("list experiments", 0, Out, "latency"),
    ("list host", 0, Out, "cpu"),
    ("generate man", 0, Out, ".TH"),
    ("generate completions bash", 0, Out, "memgauge"),
    ("generate schema", 0, Out, "$schema"),
    ("run --profile quick --dry-run", 0, Out, "bandwidth"),
    ("bandwidth --sizes 16KiB --dry-run", 0, Out, "16 KiB"),
];

/// Short measurements; what they measured is not looked at.
const MEASUREMENTS: &[Row] = &[
    ("bandwidth --ops read --sizes 16KiB --threads 1 --budget 500ms --format csv -o -", 0, Out, "bandwidth,"),
    ("bandwidth --ops copy --sizes 16KiB --threads 1 --budget 500ms --format json -o -", 0, Out, "\"datasets\""),
    ("bandwidth --sizes 16KiB --threads 1 --budget 500ms --format markdown -o -", 0, Out, "|"),
    ("latency --sizes 16KiB --pages 4k --budget 500ms --format csv -o -", 0, Out, "latency,"),
    ("bandwidth --sizes 16KiB --threads 1 --budget 500ms -o out.json", 0, Err, "out.json"),
];

/// Runs one row; returns every complaint about it.
fn check(row: &Row, folder: &Path) -> Vec<String> {
    let (typed, code, stream, contains) = *row;
    let beyond = (available_parallelism().map_or(1, |n| n.get()) + 1).to_string();
    let typed = typed.replace("{cpus+1}", &beyond);
    let contains = contains.replace("{cpus+1}", &beyond);
    let run = memgauge(&typed.split_whitespace().collect::<Vec<_>>(), folder);
    let mut complaints = house_rules(&run);
    if run.code != Some(code) {
        complaints.push(format!("exit code {:?} instead of {code}", run.code));
    }
    let text = if stream == Out { &run.stdout } else { &run.stderr };
    if !text.contains(&contains) {
        complaints.push(format!("{stream:?} lacks '{contains}'"));
    }
    let tell =
        |what| format!("memgauge {typed}: {what}\n    stdout: {:.300}\n    stderr: {:.300}", run.stdout, run.stderr);
    complaints.into_iter().map(tell).collect()
}

/// What holds for every run: it ends, it does not panic, and a refused request is one line on standard error.
fn house_rules(run: &Finished) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut expect = |holds: bool, what: &str| {
        if !holds {
            complaints.push(what.to_owned());
        }
    };
    expect(!run.timed_out, "does not end");
    expect(!run.stderr.contains("panicked") && !run.stderr.contains("RUST_BACKTRACE"), "panics");
    if run.code == Some(2) {
        expect(run.stdout.is_empty(), "writes to stdout although refused");
        expect(run.stderr.starts_with("memgauge: "), "the error does not start with 'memgauge: '");
        expect(run.stderr.ends_with('\n') && run.stderr.lines().count() == 1, "the error is not one line");
        expect(!run.stderr.contains("error:"), "the argument parser speaks for itself");
    }
    complaints
}

/// Checks all rows, each in a folder of its own, and fails with all complaints at once.
fn hold(rows: &[Row]) {
    let mut all = Vec::new();
    for row in rows {
        let folder = tempfile::tempdir().expect("a temporary folder");
        all.extend(check(row, folder.path()));
        if row.1 == 2 && std::fs::read_dir(folder.path()).is_ok_and(|mut entries| entries.next().is_some()) {
            all.push(format!("memgauge {}: leaves a file although refused", row.0));
        }
    }
    assert!(all.is_empty(), "{} complaints\n{}", all.len(), all.join("\n"));
}

#[test]
fn wrong_requests_are_refused_in_one_line() {
    hold(USAGE);
}

#[test]
fn questions_are_answered() {
    hold(ANSWERS);
}

#[test]
fn short_measurements_end_well() {
    hold(MEASUREMENTS);
}

#[test]
fn a_file_that_cannot_be_written_is_found_before_measuring() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("out.json")).expect("a folder in the file's place");
    // An hour would be spent if the file were only opened at the end.
    let run = memgauge(&["bandwidth", "--budget", "1h", "-o", "out.json"], folder.path());
    assert_eq!((run.code, house_rules(&run)), (Some(2), vec![]), "{run:?}");
}

#[test]
fn a_name_that_is_not_text_is_refused_without_a_panic() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for odd in ["", " ", "\u{1b}[31m", "ä", "a\nb"] {
        for args in [["bandwidth", "--sizes", odd], ["bandwidth", "--ops", odd], ["list", odd, "--quiet"]] {
            let run = memgauge(&args, folder.path());
            assert_eq!((run.code, house_rules(&run)), (Some(2), vec![]), "{args:?} {run:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut shell = std::process::Command::new("sh");
    // The exit code of the program itself, not of `head`, is written to a file.
    let line = format!("({} list kernels; echo $? > code) | head -c 1 > /dev/null", env!("CARGO_BIN_EXE_memgauge"));
    shell.args(["-c", &line]).current_dir(folder.path());
    let run = crate::helper::finish(shell, crate::helper::LIMIT);
    assert!(run.stderr.is_empty(), "{run:?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("code")).expect("a code").trim(), "0");
}
