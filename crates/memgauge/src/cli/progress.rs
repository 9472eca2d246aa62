//! Output while a session is running: a progress bar on a terminal, the journal on disk.

use super::terminal::tell;
use crate::run::Observer;
use indicatif::{ProgressBar, ProgressStyle};
use report::JournalLine;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use units::Nanos;

/// Number of steps of the progress bar. No terminal has enough columns to show more.
const STEPS: u64 = 1000;

/// The progress bar and the journal. There is a bar if standard error is a terminal, and a journal
/// if the report is saved.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    journal: Option<Journal>,
}

/// Place of the journal, which gets the points of a running session.
#[derive(Debug)]
pub enum JournalPlan {
    /// No journal.
    Nowhere,
    /// A new journal next to the report that has this path.
    Beside(PathBuf),
    /// The journal of the session that is continued. The new journal takes the name of the old one
    /// as soon as it contains all points of the old one.
    InPlaceOf(PathBuf),
}

/// A journal: complete lines of JSON.
#[derive(Debug)]
struct Journal {
    /// Final path of the journal.
    path: PathBuf,
    /// Temporary path, until the journal contains all points of the journal that it replaces.
    /// `None` if there is nothing to replace.
    temporary: Option<PathBuf>,
    /// Number of lines, without `carried`, that are still to be written before the journal gets its
    /// final name.
    known: usize,
    /// Lines of points that will be measured again. They are written right after the first line.
    carried: Vec<JournalLine>,
    /// The file, locked so that other processes see that the session is running.
    file: File,
    /// Total length of the complete lines, in bytes.
    whole: u64,
    broken: bool,
}

/// The two ends of a journal's name, which follow the name of its report. Further journals of the
/// same report have `-2`, `-3` and so on between these ends.
const JOURNAL: [&str; 2] = [".journal", ".jsonl"];

/// Path of the journal with the number `number` (from 1) of the session whose report is `path`.
fn journal_of(path: &Path, number: u64) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    let number = if number == 1 {
        String::new()
    } else {
        format!("-{number}")
    };
    name.push(format!("{}{number}{}", JOURNAL[0], JOURNAL[1]));
    path.with_file_name(name)
}

/// Path of the report to which the journal `path` belongs; `path` itself if it is no journal.
pub fn report_of(path: &Path) -> PathBuf {
    let report = |name: &str| {
        let (report, number) = name.strip_suffix(JOURNAL[1])?.rsplit_once(JOURNAL[0])?;
        let is_number = |text: &str| {
            text.strip_prefix('-')
                .is_some_and(|text| text.parse::<u64>().is_ok())
        };
        (!report.is_empty() && (number.is_empty() || is_number(number)))
            .then(|| path.with_file_name(report))
    };
    path.file_name()
        .and_then(|name| name.to_str())
        .and_then(report)
        .unwrap_or_else(|| path.to_owned())
}

/// All journals next to the report `path`, in the order of their numbers. Several sessions may have
/// left journals.
pub fn journals_of(path: &Path) -> impl Iterator<Item = PathBuf> {
    /// Largest number of journals of one report.
    const MOST: u64 = 100;
    let path = path.to_owned();
    (1..=MOST)
        .map(move |number| journal_of(&path, number))
        .filter(|journal| journal.exists())
}

/// True if another process has locked the journal `path`, because its session is running. Always
/// false on systems on which a lock would keep other programs from reading the file.
pub fn is_under_way(path: &Path) -> bool {
    let taken = |file: File| {
        matches!(
            file.try_lock_shared(),
            Err(std::fs::TryLockError::WouldBlock)
        )
    };
    has_advisory_locks() && File::open(path).is_ok_and(taken)
}

/// True on systems on which a locked file can still be read by others.
pub fn has_advisory_locks() -> bool {
    std::env::consts::FAMILY == "unix"
}

/// Locks `file` to mark the session as running. An error is ignored, because some file systems have
/// no locks.
fn claim(file: &File) {
    if has_advisory_locks() {
        let _ = file.lock();
    }
}

impl Progress {
    /// Opens the journal at the place `plan`, and tells the user if that fails. The first lines of
    /// the journal will be the line of the session, the lines `carried`, and lines for `known`
    /// points that need no measurement.
    pub fn new(plan: JournalPlan, carried: Vec<JournalLine>, known: usize) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {msg}").ok();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(STEPS);
            style.map_or_else(|| bar.clone(), |style| bar.clone().with_style(style))
        });
        let opened = match plan {
            JournalPlan::Nowhere => None,
            JournalPlan::Beside(report) => Some((open_beside(&report), report)),
            JournalPlan::InPlaceOf(path) => {
                let temporary = temporary_name(&path);
                let file =
                    File::create_new(&temporary).map(|file| (file, path.clone(), Some(temporary)));
                Some((file, path))
            }
        };
        let journal = opened.and_then(|(opened, near)| match opened {
            Ok((file, path, temporary)) => {
                claim(&file);
                Some(Journal {
                    path,
                    temporary,
                    known: known + 1,
                    carried,
                    file,
                    whole: 0,
                    broken: false,
                })
            }
            Err(e) => {
                tell(&format!(
                    "memgauge: no journal: {}: {e}; an aborted session will be lost",
                    near.display()
                ));
                None
            }
        });
        Self { bar, journal }
    }

    /// Prints `text` about the session if standard error is a terminal. Elsewhere it is not needed,
    /// because the result repeats it.
    pub fn announce(&self, text: &str) {
        if self.bar.is_some() {
            tell(text);
        }
    }

    /// Removes the bar, and the journal if the report was saved. Returns the path of a journal that
    /// stays.
    pub fn finish(self, report_saved: bool) -> Option<PathBuf> {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        let Journal {
            path,
            temporary,
            file,
            whole,
            broken,
            ..
        } = self.journal?;
        // A journal under its temporary name has fewer points than the old journal.
        if let Some(temporary) = &temporary {
            remove(temporary);
        }
        if report_saved || (whole == 0 && temporary.is_none()) {
            drop(file);
            remove(&path);
            return None;
        }
        // The partial last line is cut off. If that fails, readers skip the line.
        let _ = file.set_len(whole);
        if !path.exists() {
            return None;
        }
        let which = if broken {
            "the points finished while there was room"
        } else {
            "the finished points"
        };
        tell(&format!("memgauge: {which} are in {}", path.display()));
        Some(path)
    }
}

/// Opens a new journal next to `report`. Journals of other sessions stay.
fn open_beside(report: &Path) -> std::io::Result<(File, PathBuf, Option<PathBuf>)> {
    let mut number = 1;
    loop {
        let path = journal_of(report, number);
        match File::create_new(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            opened => return opened.map(|file| (file, path, None)),
        }
    }
}

/// A path next to `path` that no other process uses.
fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

/// Removes the journal at `path` if it exists. Tells the user about an error.
pub fn remove(path: &Path) {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            tell(&format!(
                "memgauge: cannot remove the journal {}: {e}",
                path.display()
            ));
        }
        _ => {}
    }
}

impl Journal {
    /// Counts a line that was written. After the last of the `known` lines, the journal gets its
    /// final name.
    fn take_name(&mut self) -> std::io::Result<()> {
        self.known = self.known.saturating_sub(1);
        if self.known > 0 {
            return Ok(());
        }
        let Some(temporary) = self.temporary.take() else {
            return Ok(());
        };
        let named = self
            .file
            .sync_data()
            .and_then(|()| std::fs::rename(&temporary, &self.path));
        if named.is_err() {
            self.temporary = Some(temporary);
        }
        named
    }
}

impl Observer for Progress {
    fn progress(&mut self, done: f64, left: Nanos, doing: &str) {
        if let Some(bar) = &self.bar {
            bar.set_position((done * STEPS as f64) as u64);
            bar.set_message(format!("{:.0} s left  {doing}", left.secs().ceil()));
        }
    }

    fn journal(&mut self, line: &JournalLine) -> Result<(), String> {
        let Some(journal) = self.journal.as_mut().filter(|j| !j.broken) else {
            return Ok(());
        };
        let mut lines = vec![line];
        let carried = std::mem::take(&mut journal.carried);
        lines.extend(&carried);
        let mut written = Ok(());
        for line in lines {
            let mut text = serde_json::to_string(line).map_err(|e| e.to_string())?;
            text.push('\n');
            // Each line is one write. A crash leaves complete lines and at most one partial line at
            // the end.
            written = written.and_then(|()| journal.file.write_all(text.as_bytes()));
            journal.whole += if written.is_err() {
                0
            } else {
                text.len() as u64
            };
        }
        let written = written.and_then(|()| journal.take_name());
        journal.broken = written.is_err();
        written.map_err(|e| format!("{}: {e}", journal.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journals_and_reports_find_each_other() {
        let report = Path::new("a/r.json");
        assert_eq!(journal_of(report, 1), Path::new("a/r.json.journal.jsonl"));
        assert_eq!(journal_of(report, 3), Path::new("a/r.json.journal-3.jsonl"));
        for number in 1..4 {
            assert_eq!(report_of(&journal_of(report, number)), report);
        }
        for name in [
            "r.json",
            "r.journal-x.jsonl",
            ".journal.jsonl",
            "r.journal-.jsonl",
        ] {
            assert_eq!(report_of(Path::new(name)), Path::new(name));
        }
    }

    #[test]
    fn a_new_journal_leaves_those_that_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("r.json");
        for number in 1..3 {
            let (mut file, path, _) = open_beside(&report).unwrap();
            assert_eq!(path, journal_of(&report, number));
            file.write_all(b"{}").unwrap();
        }
        assert_eq!(journals_of(&report).count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_run_that_is_under_way_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (file, path, _) = open_beside(&folder.path().join("r.json")).unwrap();
        assert!(!is_under_way(&path));
        claim(&file);
        assert!(is_under_way(&path));
        drop(file);
        assert!(!is_under_way(&path));
    }
}
