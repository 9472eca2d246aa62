//! Renderers, which convert reports to bytes: one for each format. They have no side effects.
//!
//! A renderer depends on datasets, not on experiments, so a new experiment is shown without a
//! change of this crate. This crate does not measure, print, exit or read the environment. Foreign
//! text (names, reasons, paths) is written without control characters. Numbers that are not finite
//! are never written.

#![forbid(unsafe_code)]

mod bars;
mod blocks;
mod chart;
mod comparison;
mod comparison_formats;
mod csv;
mod figures;
mod finite;
mod fleet;
mod fleet_formats;
mod formats;
mod gallery;
mod grid;
mod hierarchy;
mod host;
mod html;
mod json;
mod jsonl;
mod line;
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
mod result_format;
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
pub use comparison_formats::{COMPARISON_FORMATS, RenderComparisons};
pub use fleet::fleet_summary;
pub use fleet_formats::{FLEET_FORMATS, RenderFleet};
pub use formats::{RENDERERS, by_extension, by_name};
pub use gallery::{are_several_machines, machines_in_markdown};
pub use host::{gpu_table, host_table};
pub use list::list_table;
pub use renderer::Renderer;
pub use request::{DEFAULT_WIDTH, NamedReport, Options, SavedReport};
pub use result_format::{ResultFormat, ResultFormats};
pub use schema::schema;
