//! Reports to render, and options.

use report::Report;

/// The width of charts in characters where the caller names none: fits the terminals that people
/// paste from.
pub const DEFAULT_WIDTH: u16 = 100;

/// Options of a rendering; a renderer ignores options that it has no use for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Columns of the terminal; where absent, each row of a table is one line and charts take
    /// [`DEFAULT_WIDTH`].
    pub width: Option<u16>,
    /// Whether `notes` give scores that sum a run up, for the formats that have them.
    pub scores: bool,
    /// The saved report; `None` if it was not saved.
    pub saved_to: Option<SavedReport>,
    /// Whether to show what a screen has no room for: every reason in full, every dataset.
    pub verbose: bool,
    /// The experiments whose charts are drawn; all of them in pictures, and none in text, where
    /// empty.
    pub charts: Vec<String>,
    /// Title of pictures and pages.
    pub title: Option<String>,
    /// Whether pictures are light on dark.
    pub dark: bool,
    /// Whether text may have a terminal's colours.
    pub color: bool,
    /// Whether tables for people may have bars and sparklines: at a terminal that can show them.
    pub bars: bool,
}

/// The place of a saved report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedReport {
    /// Its name as it can be typed after `memgauge report`.
    pub name: String,
    /// Whether memgauge can read it.
    pub is_readable: bool,
}

/// A report with what to call it among others.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedReport {
    /// Name of the report.
    pub name: String,
    /// The report.
    pub report: Report,
}
