//! The storage engines, for `memgauge list engines`.

use super::terminal::terminal_width;
use host::storage::{EngineRow, IO_ENGINES};
use serde::Serialize;

/// An I/O engine as listed.
#[derive(Debug, Serialize)]
pub struct EngineEntry {
    name: &'static str,
    does: &'static str,
    /// True if a thread can have several operations in flight.
    asynchronous: bool,
    /// Reason why the engine cannot be used here; `null` if it can.
    unavailable: Option<String>,
}

/// All storage engines.
pub fn entries() -> Vec<EngineEntry> {
    let entry = |row: &EngineRow| EngineEntry {
        name: row.name,
        does: row.help,
        asynchronous: row.asynchronous,
        unavailable: (row.availability)().err(),
    };
    IO_ENGINES.iter().map(entry).collect()
}

/// The engines as a table.
pub fn table() -> String {
    let row = |e: EngineEntry| {
        let several = if e.asynchronous { "yes" } else { "no" };
        let here = e.unavailable.unwrap_or_else(|| "yes".to_owned());
        vec![
            e.name.to_owned(),
            several.to_owned(),
            here,
            e.does.to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = entries().into_iter().map(row).collect();
    render::list_table(
        &["engine", "depth above 1", "available here", "does"],
        &rows,
        terminal_width(),
    )
}
