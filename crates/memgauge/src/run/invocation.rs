//! Facts about the start of a session, and the observer that is told about its progress.

use report::{JournalLine, KernelUsed, Launch};
use units::Nanos;

/// Receiver of progress and journal lines while a session is running.
pub trait Observer {
    /// Receives the progress: `done` is the share of the session from 0 to 1, `left` the expected
    /// remaining time. `doing` names the point that is measured.
    fn progress(&mut self, done: f64, left: Nanos, doing: &str);

    /// Receives a line for the journal. After an error the session goes on, and the report mentions
    /// the first error.
    fn journal(&mut self, line: &JournalLine) -> Result<(), String>;
}

/// The way in which the session was started. The report has a copy.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// Version of the program.
    pub version: String,
    /// Arguments as typed, the program's name first.
    pub command_line: Vec<String>,
    /// Rank and node of this process if a launcher started it; `None` otherwise.
    pub launch: Option<Launch>,
    /// The session that this one continues; `None` for a new session.
    pub past: Option<Past>,
}

/// Facts about the continued session, without its points.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// Start of the session, RFC 3339, UTC.
    pub started: String,
    /// Start of each earlier continuation, RFC 3339, UTC.
    pub resumed: Vec<String>,
    /// Kernels that the session used.
    pub kernels: Vec<KernelUsed>,
    /// Number of points that need not be measured again.
    pub settled: u64,
}
