//! Reports to render, and options of rendering.

use report::Report;

/// Default width of charts in characters: fits the terminals from which people paste.
pub const DEFAULT_WIDTH: u16 = 100;

/// Options of rendering; a renderer ignores options that it does not use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Columns of the terminal. If `None`, each row of a table is one line and charts take
    /// [`DEFAULT_WIDTH`].
    pub width: Option<u16>,
    /// True if `notes` include scores for the whole session, in formats that have them.
    pub scores: bool,
    /// The saved report; `None` if it was not saved.
    pub saved_to: Option<SavedReport>,
    /// True to show everything that does not fit on a screen: every reason in full, every dataset.
    pub verbose: bool,
    /// Experiments whose charts are drawn. If empty, pictures draw all charts and text draws none.
    pub charts: Vec<String>,
    /// Title of pictures and pages.
    pub title: Option<String>,
    /// True for pictures that are light on dark.
    pub dark: bool,
    /// True if text may have a terminal's colours.
    pub color: bool,
    /// True if tables for people may have bars and sparklines, which not every terminal can show.
    pub bars: bool,
}

/// Place of a saved report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedReport {
    /// Name as it can be typed after `memgauge report`.
    pub name: String,
    /// True if memgauge can read it.
    pub is_readable: bool,
}

/// A report with its name among others.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedReport {
    /// Name of the report.
    pub name: String,
    /// The report.
    pub report: Report,
}
