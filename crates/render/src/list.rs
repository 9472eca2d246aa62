//! Tables of `memgauge list`.

use super::grid::{Column, Grid};

/// Writes a table for `memgauge list`, with a newline at the end. Cells are wrapped at `width`.
/// Without a width each row is one line.
pub fn list_table(headers: &[&str], rows: &[Vec<String>], width: Option<u16>) -> String {
    let columns = headers.iter().map(|h| Column::left(*h)).collect();
    Grid {
        columns,
        rows: rows.to_vec(),
    }
    .to_text(width)
}
