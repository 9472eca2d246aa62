//! Parts of a page: labelled lines, and tables with titles.

use super::grid::Grid;

/// A label, and the text that follows it on the line.
pub(super) type Labelled = (String, String);

/// A table with its title and legend.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Block {
    /// Title above the table; empty if the report has only one table.
    pub(super) title: String,
    /// The table.
    pub(super) grid: Grid,
    /// Legend below the table: meaning of columns and marks.
    pub(super) legend: String,
}
