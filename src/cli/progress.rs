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
    path: PathBuf,
    file: File,
    /// Bytes of the lines that were written whole.
    whole: u64,
    broken: bool,
}

impl Progress {
    /// Opens the journal at `journal`. Without one, or where it cannot be opened, nothing is written down on the way.
    pub fn new(journal: Option<PathBuf>) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {msg}").ok();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(STEPS);
            style.map_or_else(|| bar.clone(), |style| bar.clone().with_style(style))
        });
        let journal = journal.and_then(|path| match File::create(&path) {
            Ok(file) => Some(Journal { path, file, whole: 0, broken: false }),
            Err(e) => {
                tell(&format!("memgauge: no journal: {}: {e}; an aborted run will be lost", path.display()));
                None
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

    /// Takes the bar away. The journal goes too when its report was saved.
    pub fn finish(self, report_saved: bool) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        let Some(Journal { path, file, whole, broken }) = self.journal else { return };
        if report_saved || whole == 0 {
            drop(file);
            return remove(&path);
        }
        // Half a line helps nobody; if it cannot be cut off, readers pass over it.
        let _ = file.set_len(whole);
        let which = if broken { "the points finished while there was room" } else { "the finished points" };
        tell(&format!("memgauge: {which} are in {}", path.display()));
    }
}

fn remove(path: &Path) {
    if let Err(e) = std::fs::remove_file(path) {
        tell(&format!("memgauge: cannot remove the journal {}: {e}", path.display()));
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
        journal.broken = written.is_err();
        journal.whole += if journal.broken { 0 } else { text.len() as u64 };
        written.map_err(|e| format!("{}: {e}", journal.path.display()))
    }
}
