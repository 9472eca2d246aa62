//! How a run is started, and who is told about it.

use report::{JournalLine, KernelUsed};
use units::Nanos;

/// Messages while a session is running.
pub trait Observer {
    /// About `done` of 1 is behind us; `left` is the expected rest; `doing` says what is being
    /// done.
    fn progress(&mut self, done: f64, left: Nanos, doing: &str);

    /// A line for the journal. An error is told to the user once; the run goes on.
    fn journal(&mut self, line: &JournalLine) -> Result<(), String>;
}

/// How the run was started: goes into the report as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// Version of the program.
    pub version: String,
    /// Arguments as typed, the program's name first.
    pub command_line: Vec<String>,
    /// The run that this one continues.
    pub past: Option<Past>,
}

/// Facts about the session that another one continues, besides its points.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// When it was started, RFC 3339, UTC.
    pub started: String,
    /// When it was continued before.
    pub resumed: Vec<String>,
    /// The kernels that it used.
    pub kernels: Vec<KernelUsed>,
    /// Points taken over from it that need not be measured again.
    pub settled: u64,
}
