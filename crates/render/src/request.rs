//! Reports to render, and options of rendering.

use report::Report;

/// Default width of charts, in characters. It fits the terminals from which people copy text.
pub const DEFAULT_WIDTH: u16 = 100;

/// Options of rendering. A renderer ignores options that it does not use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Columns of the terminal. If `None`, each row of a table is one line, and charts are
    /// [`DEFAULT_WIDTH`] wide.
    pub width: Option<u16>,
    /// True if `notes` should include scores of the session, in formats that have scores.
    pub scores: bool,
    /// Place of the saved report; `None` if it was not saved.
    pub saved_to: Option<SavedReport>,
    /// True to show parts that do not fit on a screen: every reason in full, and every dataset.
    pub verbose: bool,
    /// Experiments whose charts are drawn. If empty, pictures draw all charts and text draws none.
    pub charts: Vec<String>,
    /// Title of pictures and pages; `None` for a title made from their content.
    pub title: Option<String>,
    /// True for pictures with light colours on a dark background.
    pub dark: bool,
    /// True if text may have colours, as escape codes of a terminal.
    pub color: bool,
    /// True if tables for people may have bars and sparklines, which not every terminal can show.
    pub bars: bool,
}

/// Place where a report is saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedReport {
    /// Name that a user can type after `memgauge report`.
    pub name: String,
    /// True if `memgauge report` can read the file.
    pub is_readable: bool,
}

/// A report, with a name that distinguishes it from others.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedReport {
    /// Name of the report.
    pub name: String,
    /// The report.
    pub report: Report,
}
