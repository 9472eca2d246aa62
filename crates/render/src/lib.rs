//! Report to bytes: one renderer per format, all of them pure.
//!
//! A renderer reads datasets, not experiments, so that a new experiment is shown without a change
//! here. Nothing in this room measures, prints, exits or reads the environment. Text that others
//! chose (names, reasons, paths) never reaches a terminal with control characters in it, and a
//! number that is not finite is never written.

#![forbid(unsafe_code)]

mod bars;
mod blocks;
mod chart;
mod comparison;
mod comparison_formats;
mod csv;
mod figures;
mod finite;
mod formats;
mod grid;
mod hierarchy;
mod host;
mod html;
mod json;
mod jsonl;
mod list;
mod markdown;
mod matrix;
mod openmetrics;
mod page;
mod points;
mod provenance;
mod reasons;
mod remarks;
mod renderer;
mod request;
mod sc_membench;
mod sc_scores;
mod schema;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod trust;
mod unknown;

pub use comparison::comparison_summary;
pub use comparison_formats::{
    COMPARISON_FORMATS, ComparisonFormat, comparison_format, comparison_format_of,
};
pub use formats::{RENDERERS, by_extension, by_name};
pub use host::host_table;
pub use list::list_table;
pub use renderer::Renderer;
pub use request::{DEFAULT_WIDTH, NamedReport, Options, SavedReport};
pub use schema::schema;
