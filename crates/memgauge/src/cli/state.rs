//! The user's folder of saved sessions: its path, its content, and the names `last` and `last~N`.

use super::progress::{is_under_way, journals_of, report_of};
use super::target::check_writable;
use super::terminal::quoted;
use report::{Provenance, ReportVerdict, RunStatus};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use units::error::{Error, Result};

/// Largest number of finished sessions in the folder. A report takes about a megabyte.
pub const MAX_RUNS: usize = 200;

/// Path of the folder of saved sessions. The error says why there is none.
pub fn folder() -> std::result::Result<PathBuf, String> {
    folder_on(std::env::consts::OS, |name| std::env::var_os(name))
}

/// Path of the folder on the system `os`. `variable` reads a variable of the environment. An
/// absolute path in `XDG_STATE_HOME` takes precedence on every system.
fn folder_on(
    os: &str,
    variable: impl Fn(&str) -> Option<OsString>,
) -> std::result::Result<PathBuf, String> {
    let absolute = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    if let Some(state) = absolute("XDG_STATE_HOME") {
        return Ok(state.join("memgauge"));
    }
    let (home, below) = match os {
        "windows" => ("LOCALAPPDATA", "memgauge"),
        "macos" => ("HOME", "Library/Application Support/memgauge"),
        _ => ("HOME", ".local/state/memgauge"),
    };
    match absolute(home) {
        Some(home) => Ok(home.join(below)),
        None => Err(format!("{home} does not name a folder")),
    }
}

/// Place for a report that the user did not name.
#[derive(Debug)]
pub struct UnnamedFile {
    /// Path of the file; `None` if no folder can be written to.
    pub file: Option<PathBuf>,
    /// Message for the user if the file is not in the folder of saved sessions.
    pub note: Option<String>,
}

/// Chooses the file for the report of a session of `profile` that starts at `stamp`. The folder of
/// saved sessions is tried first, then the working directory, then the folder for temporary files.
/// A dry run creates no folder.
pub fn place(stamp: &str, profile: &str, dry_run: bool) -> UnnamedFile {
    let saved = folder().and_then(|folder| {
        if !dry_run {
            std::fs::create_dir_all(&folder)
                .map_err(|e| format!("{}: {}", folder.display(), super::target::reason(&e)))?;
        }
        let file = free_name(&folder, stamp, profile);
        let writable = dry_run || check_writable(&file).is_ok();
        writable
            .then_some(file)
            .ok_or_else(|| format!("{}: it may not be written", folder.display()))
    });
    let why = match saved {
        Ok(file) => {
            return UnnamedFile {
                file: Some(file),
                note: None,
            };
        }
        Err(why) => why,
    };
    let name = |folder: &Path| {
        folder.join(format!(
            "memgauge-{stamp}-{}-{profile}.json",
            std::process::id()
        ))
    };
    let others = [name(Path::new("")), name(&std::env::temp_dir())];
    let file = others.into_iter().find(|file| check_writable(file).is_ok());
    let instead = match &file {
        Some(file) => format!("the report will be {}", file.display()),
        None => "the report is not saved; type -o FILE".to_owned(),
    };
    UnnamedFile {
        file,
        note: Some(format!(
            "cannot save in the folder of runs: {why}; {instead}"
        )),
    }
}

/// Start of a session, and its number among the sessions that started in the same second. Sessions
/// are sorted by both.
type Order = (String, u64);

/// Start and number from the name of a report. `20261123T050126-2-latency.json` is the second
/// session that started in its second. `None` for any other name.
fn order_of(path: &Path) -> Option<Order> {
    let name = path.file_name()?.to_str()?.strip_suffix(".json")?;
    let (stamp, rest) = name.split_once('-')?;
    let is_stamp = stamp.len() >= 15 && stamp.bytes().all(|b| b.is_ascii_digit() || b == b'T');
    let number = rest
        .split('-')
        .next()
        .and_then(|word| word.parse().ok())
        .unwrap_or(1);
    is_stamp.then(|| (stamp.to_owned(), number))
}

/// A free path in `folder`, which comes after all sessions that started in the same second.
fn free_name(folder: &Path, stamp: &str, profile: &str) -> PathBuf {
    let same = runs_in(folder)
        .into_iter()
        .filter(|run| run.order.0 == stamp)
        .map(|run| run.order.1)
        .max();
    folder.join(match same {
        None => format!("{stamp}-{profile}.json"),
        Some(before) => format!("{stamp}-{}-{profile}.json", before + 1),
    })
}

/// A session in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedRun {
    order: Order,
    /// The report, or the journal of an unfinished session.
    pub file: PathBuf,
    /// True if the session is still running.
    pub under_way: bool,
}

/// All sessions, newest first.
pub fn runs() -> Vec<SavedRun> {
    folder().map(|folder| runs_in(&folder)).unwrap_or_default()
}

fn runs_in(folder: &Path) -> Vec<SavedRun> {
    let entries = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    // Sessions are told apart by the name of their report, because a running or killed session has
    // only a journal.
    let mut reports: BTreeMap<Order, PathBuf> = BTreeMap::new();
    for path in entries {
        let report = report_of(&path);
        if let Some(order) = order_of(&report) {
            reports.entry(order).or_insert(report);
        }
    }
    let run = |(order, report): (Order, PathBuf)| {
        let journals: Vec<PathBuf> = journals_of(&report).collect();
        let under_way = journals.iter().any(|journal| is_under_way(journal));
        let file = if report.exists() {
            Some(report)
        } else {
            journals.last().cloned()
        };
        file.map(|file| SavedRun {
            order,
            file,
            under_way,
        })
    };
    reports.into_iter().rev().filter_map(run).collect()
}

/// The file that `path` stands for. `last` is the newest saved session, `last~1` the session before
/// it. A file that is called `last` takes precedence. Running sessions do not count.
pub fn resolved(path: &Path) -> Result<PathBuf> {
    let Some(back) = path
        .to_str()
        .and_then(steps_back)
        .filter(|_| !path.exists())
    else {
        return Ok(path.to_owned());
    };
    let folder = folder().map_err(|why| {
        Error::usage(format!(
            "no saved runs: '{}': {why}; type the name of a report",
            path.display()
        ))
    })?;
    let ended: Vec<SavedRun> = runs().into_iter().filter(|run| !run.under_way).collect();
    let count = ended.len();
    ended
        .into_iter()
        .nth(back)
        .map(|run| run.file)
        .ok_or_else(|| {
            let name = path.display();
            let folder = folder.display();
            Error::usage(format!(
                "no such run: '{name}'; {folder} has {count}, and a run with -o is not among them; \
             type memgauge list runs"
            ))
        })
}

/// Number of sessions to go back from the newest one: 0 for `last`, 2 for `last~2`. `None` for any
/// other name.
fn steps_back(name: &str) -> Option<usize> {
    match name.strip_prefix("last")? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}

/// Name of the session that is `back` sessions older than the newest one.
pub fn name_of(back: usize) -> String {
    if back == 0 {
        "last".to_owned()
    } else {
        format!("last~{back}")
    }
}

/// The parts of a report that a list of sessions shows.
#[derive(Debug, serde::Deserialize)]
pub struct Head {
    /// How the session ended.
    pub status: RunStatus,
    /// Verdict on the report.
    pub verdict: ReportVerdict,
    /// Provenance of the report.
    pub provenance: Provenance,
}

/// Reads the [`Head`] of the report at `path`. `None` if the file is no readable report.
pub fn head(path: &Path) -> Option<Head> {
    serde_json::from_reader(std::io::BufReader::new(std::fs::File::open(path).ok()?)).ok()
}

/// Removes the oldest complete sessions if there are more than [`MAX_RUNS`], and returns their
/// names. Unfinished sessions stay, because they can be continued.
pub fn drop_oldest() -> Vec<String> {
    folder()
        .map(|folder| drop_beyond(&folder, MAX_RUNS))
        .unwrap_or_default()
}

fn drop_beyond(folder: &Path, most: usize) -> Vec<String> {
    let is_complete = |run: &SavedRun| {
        let is_report = run.file == report_of(&run.file) && journals_of(&run.file).next().is_none();
        is_report && head(&run.file).is_some_and(|head| head.status == RunStatus::Complete)
    };
    let beyond = runs_in(folder).into_iter().skip(most).filter(is_complete);
    let removed = beyond.filter(|run| std::fs::remove_file(&run.file).is_ok());
    removed
        .map(|run| quoted(&run.file.to_string_lossy()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_folder_follows_the_system_and_the_environment() {
        let on = |os: &str, pairs: &[(&str, &str)]| {
            let get = |name: &str| {
                pairs
                    .iter()
                    .find(|pair| pair.0 == name)
                    .map(|pair| OsString::from(pair.1))
            };
            folder_on(os, get).map(|path| path.to_string_lossy().into_owned())
        };
        let home = ("HOME", "/home/a");
        assert_eq!(
            on("linux", &[home]),
            Ok("/home/a/.local/state/memgauge".to_owned())
        );
        assert_eq!(
            on("macos", &[home]),
            Ok("/home/a/Library/Application Support/memgauge".to_owned())
        );
        assert_eq!(
            on("linux", &[home, ("XDG_STATE_HOME", "/s")]),
            Ok("/s/memgauge".to_owned())
        );
        // A relative path in `XDG_STATE_HOME` does not count.
        assert_eq!(
            on("linux", &[home, ("XDG_STATE_HOME", "s")]),
            Ok("/home/a/.local/state/memgauge".to_owned())
        );
        assert!(on("linux", &[]).is_err() && on("linux", &[("HOME", "")]).is_err());
        assert!(on("windows", &[home]).unwrap_err().contains("LOCALAPPDATA"));
    }

    #[test]
    fn runs_are_ordered_by_their_start() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        for name in [
            "20260102T000000-latency.json",
            "20260102T000000-2-run.json.journal.jsonl",
            "20260101T235959-default.json",
            "20260102T000000-10-core-to-core.json",
            "20260101T235959-default.1.json.tmp",
            "other.json",
        ] {
            fs::write(at.join(name), "x").unwrap();
        }
        let names: Vec<String> = runs_in(at)
            .iter()
            .map(|run| run.file.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        let newest = [
            "20260102T000000-10-core-to-core.json",
            "20260102T000000-2-run.json.journal.jsonl",
        ];
        assert_eq!(
            names,
            [
                &newest[..],
                &[
                    "20260102T000000-latency.json",
                    "20260101T235959-default.json"
                ]
            ]
            .concat()
        );
        assert_eq!(
            free_name(at, "20260102T000000", "tlb"),
            at.join("20260102T000000-11-tlb.json")
        );
        assert_eq!(
            free_name(at, "20260103T000000", "tlb"),
            at.join("20260103T000000-tlb.json")
        );
    }

    #[test]
    fn names_of_runs_count_back() {
        assert_eq!(
            ["last", "last~0", "last~12"].map(steps_back),
            [Some(0), Some(0), Some(12)]
        );
        assert!(
            ["last~", "last~-1", "lasting", "first", "last~x"]
                .iter()
                .all(|name| steps_back(name).is_none())
        );
        assert_eq!((0..2).map(name_of).collect::<Vec<_>>(), ["last", "last~1"]);
    }

    #[test]
    fn only_complete_reports_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let text = format!("{}\n1,read,5,0,0,0,1,1,1\n", report::SC_MEMBENCH_HEADER);
        let mut report = report::parse_saved(text.as_bytes()).unwrap().into_report();
        let mut write = |name: &str, status| {
            report.status = status;
            fs::write(at.join(name), serde_json::to_string(&report).unwrap()).unwrap();
        };
        write("20260101T000001-a.json", RunStatus::Complete);
        write("20260101T000002-b.json", RunStatus::Interrupted);
        write("20260101T000003-c.json", RunStatus::Partial);
        write("20260101T000004-d.json", RunStatus::Complete);
        fs::write(at.join("20260101T000000-k.json.journal.jsonl"), "{").unwrap();
        assert!(
            drop_beyond(at, 4).is_empty(),
            "what is beyond can be continued"
        );
        assert_eq!(drop_beyond(at, 1).len(), 1);
        assert_eq!(fs::read_dir(at).unwrap().count(), 4);
    }
}
