//! Lists of the command line.

use super::grid::{Column, Grid};

/// A table for `memgauge list`, newline at the end: long cells are wrapped at `width`, rows are
/// lines without one.
pub fn list_table(headers: &[&str], rows: &[Vec<String>], width: Option<u16>) -> String {
    let columns = headers.iter().map(|h| Column::left(*h)).collect();
    Grid {
        columns,
        rows: rows.to_vec(),
    }
    .to_text(width)
}
