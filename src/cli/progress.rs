//! What is shown and written while a run is under way: a progress bar on a terminal, the journal on disk.

use super::output::tell;
use crate::results::JournalLine;
use crate::run::Observer;
use crate::units::Nanos;
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Steps of the bar; finer than any terminal is wide.
const STEPS: u64 = 1000;

/// The bar, if standard error is a terminal, and the journal, if the report is saved.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    journal: Option<Journal>,
}

/// A file of whole lines.
#[derive(Debug)]
struct Journal {
    /// Its name at the end.
    path: PathBuf,
    /// Its name until the lines that are known from the start are written: an older journal of this name may hold them too,
    /// and stays until then.
    temporary: Option<PathBuf>,
    /// How many of these lines are left.
    known: usize,
    file: File,
    /// Bytes of the lines that were written whole.
    whole: u64,
    broken: bool,
}

impl Progress {
    /// Opens the journal at `journal`, the first `known` lines of which come before anything is measured. Without one, or
    /// where it cannot be opened, nothing is written down on the way.
    pub fn new(journal: Option<PathBuf>, known: usize) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {msg}").ok();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(STEPS);
            style.map_or_else(|| bar.clone(), |style| bar.clone().with_style(style))
        });
        let journal = journal.and_then(|path| {
            let temporary = temporary_name(&path);
            match File::create_new(&temporary) {
                Ok(file) => Some(Journal { path, temporary: Some(temporary), known, file, whole: 0, broken: false }),
                Err(e) => {
                    tell(&format!("memgauge: no journal: {}: {e}; an aborted run will be lost", path.display()));
                    None
                }
            }
        });
        Self { bar, journal }
    }

    /// Says what will be done before it is, on a terminal; the result says it again.
    pub fn announce(&self, text: &str) {
        if self.bar.is_some() {
            tell(text);
        }
    }

    /// Takes the bar away. The journal goes too when its report was saved. Returns the journal where one stays.
    pub fn finish(self, report_saved: bool) -> Option<PathBuf> {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        let Journal { path, temporary, file, whole, broken, .. } = self.journal?;
        // What never got its name is less than the older journal that has it.
        if let Some(temporary) = &temporary {
            remove(temporary);
        }
        if report_saved || (whole == 0 && temporary.is_none()) {
            drop(file);
            remove(&path);
            return None;
        }
        // Half a line helps nobody; if it cannot be cut off, readers pass over it.
        let _ = file.set_len(whole);
        if !path.exists() {
            return None;
        }
        let which = if broken { "the points finished while there was room" } else { "the finished points" };
        tell(&format!("memgauge: {which} are in {}", path.display()));
        Some(path)
    }
}

/// A name beside `path` that no other process uses.
fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

/// Removes a file that may have gone already.
fn remove(path: &Path) {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            tell(&format!("memgauge: cannot remove the journal {}: {e}", path.display()));
        }
        _ => {}
    }
}

impl Journal {
    /// Gives it its name once all lines that were known from the start are on the disk.
    fn take_name(&mut self) -> std::io::Result<()> {
        self.known = self.known.saturating_sub(1);
        if self.known > 0 {
            return Ok(());
        }
        let Some(temporary) = self.temporary.take() else { return Ok(()) };
        let named = self.file.sync_data().and_then(|()| std::fs::rename(&temporary, &self.path));
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
        let Some(journal) = self.journal.as_mut().filter(|j| !j.broken) else { return Ok(()) };
        let mut text = serde_json::to_string(line).map_err(|e| e.to_string())?;
        text.push('\n');
        // One write per line: a crash leaves whole lines and at most one broken last one.
        let written = journal.file.write_all(text.as_bytes());
        journal.whole += if written.is_err() { 0 } else { text.len() as u64 };
        let written = written.and_then(|()| journal.take_name());
        journal.broken = written.is_err();
        written.map_err(|e| format!("{}: {e}", journal.path.display()))
    }
}
