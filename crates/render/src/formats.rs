//! The table of formats.

use super::renderer::Renderer;
use super::unknown::unknown;
use super::{chart, csv, html, json, jsonl, line, markdown, openmetrics, sc_membench, table, text};
use std::path::Path;
use units::error::{Error, Result};

/// All formats of reports, the default one first.
pub const RENDERERS: &[&dyn Renderer] = &[
    &table::Table,
    &json::Json,
    &jsonl::JsonLines,
    &csv::Csv,
    &line::Line,
    &markdown::Markdown,
    &sc_membench::ScMembench,
    &openmetrics::OpenMetrics,
    &html::Html,
    &html::GalleryPage,
    &chart::Svg,
    &chart::Png,
];

/// The renderer called `name`, in upper or lower case. The error suggests similar names.
pub fn by_name(name: &str) -> Result<&'static dyn Renderer> {
    let wanted = name.trim().to_ascii_lowercase();
    if let Some(found) = RENDERERS.iter().find(|r| r.name() == wanted) {
        return Ok(*found);
    }
    let known: Vec<&str> = RENDERERS.iter().map(|r| r.name()).collect();
    Err(unknown("unknown format", name, &known))
}

/// The renderer of files with the extension of `path`, in upper or lower case.
pub fn by_extension(path: &Path) -> Result<&'static dyn Renderer> {
    let given = path
        .extension()
        .map(|e| e.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default();
    if let Some(found) = RENDERERS
        .iter()
        .find(|r| r.extensions().contains(&given.as_str()))
    {
        return Ok(*found);
    }
    let known: Vec<&str> = RENDERERS
        .iter()
        .flat_map(|r| r.extensions().iter().copied())
        .collect();
    if given.is_empty() {
        let path = text::shorten(&path.to_string_lossy(), 120);
        let known = known.join(", ");
        return Err(Error::usage(format!(
            "no format for output file: '{path}'; its name has no extension, known are {known}; \
             add one or use --format"
        )));
    }
    Err(unknown("no format for extension", &given, &known))
}
