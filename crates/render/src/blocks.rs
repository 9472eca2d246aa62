//! The pieces of a page: lines with a word in front, tables with a title.

use super::grid::Grid;

/// A line with a word in front of it that says what it is about.
pub(super) type Labelled = (String, String);

/// One table with what it needs to be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Block {
    /// Above it; empty where the report has one table only.
    pub(super) title: String,
    /// The table.
    pub(super) grid: Grid,
    /// Below it: what columns and marks mean.
    pub(super) legend: String,
}
