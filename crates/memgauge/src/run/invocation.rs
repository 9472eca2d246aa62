//! How a session is started, and who observes it.

use report::{JournalLine, KernelUsed, Launch};
use units::Nanos;

/// Messages while a session is running.
pub trait Observer {
    /// Called when about `done` (0 to 1) of the session is done. `left` is the expected rest;
    /// `doing` says what is being done.
    fn progress(&mut self, done: f64, left: Nanos, doing: &str);

    /// Called with a line for the journal. An error is reported to the user once; the session goes
    /// on.
    fn journal(&mut self, line: &JournalLine) -> Result<(), String>;
}

/// How the session was started; copied into the report.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// Version of the program.
    pub version: String,
    /// Arguments as typed, the program's name first.
    pub command_line: Vec<String>,
    /// Place among the processes of a launcher; `None` without one.
    pub launch: Option<Launch>,
    /// The session that this one continues.
    pub past: Option<Past>,
}

/// Facts about the session that is continued, besides its points.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// Start of the session, RFC 3339, UTC.
    pub started: String,
    /// Times of earlier continuations.
    pub resumed: Vec<String>,
    /// Kernels that it used.
    pub kernels: Vec<KernelUsed>,
    /// Points taken over from it that need not be measured again.
    pub settled: u64,
}
