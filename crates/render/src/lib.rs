//! Report to bytes: one renderer per format, all of them pure.
//!
//! A renderer reads datasets, not experiments, so that a new experiment is shown without a change
//! here. Nothing in this room measures, prints, exits or reads the environment. Text that others
//! chose (names, reasons, paths) never reaches a terminal with control characters in it, and a
//! number that is not finite is never written.

#![forbid(unsafe_code)]

mod bars;
mod chart;
mod comparison;
mod csv;
mod figures;
mod finite;
mod grid;
mod hierarchy;
mod host;
mod html;
mod json;
mod jsonl;
mod markdown;
mod matrix;
mod openmetrics;
mod page;
mod points;
mod remarks;
mod sc_membench;
mod sc_scores;
mod schema;
mod table;
#[cfg(test)]
mod tests;
mod text;

pub use comparison::{
    COMPARISON_FORMATS, ComparisonFormat, comparison_format, comparison_format_of,
    comparison_summary,
};
pub use host::host_table;
pub use schema::schema;

use grid::{Column, Grid};
use report::Report;
use std::path::Path;
use units::error::{Error, Result};

/// The width of charts in characters where the caller names none: fits the terminals that people
/// paste from.
pub const DEFAULT_WIDTH: u16 = 100;

/// What a caller may choose about a rendering; every renderer ignores what it has no use for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// Columns of the terminal; where absent, each row of a table is one line and charts take
    /// [`DEFAULT_WIDTH`].
    pub width: Option<u16>,
    /// Whether `notes` give scores that sum a run up, for the formats that have them.
    pub scores: bool,
    /// Where the report was saved, to be told to the reader.
    pub saved_to: Option<String>,
    /// Whether to show what a screen has no room for: every reason in full, every dataset.
    pub verbose: bool,
    /// The experiments whose charts are drawn; all of them in pictures, and none in text, where
    /// empty.
    pub charts: Vec<String>,
    /// What pictures and pages are called.
    pub title: Option<String>,
    /// Whether pictures are light on dark.
    pub dark: bool,
    /// Whether text may have a terminal's colours.
    pub color: bool,
    /// Whether tables for people may have bars and sparklines: at a terminal that can show them.
    pub bars: bool,
}

/// A report with what to call it among others.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedReport {
    /// What it is called.
    pub name: String,
    /// The report.
    pub report: Report,
}

/// One format.
pub trait Renderer: Sync {
    /// What `--format` calls it.
    fn name(&self) -> &'static str;

    /// File name extensions that stand for it, without the dot; none where another format has them.
    fn extensions(&self) -> &'static [&'static str];

    /// One line for `--help`.
    fn help(&self) -> &'static str;

    /// The options that change what it makes, by their names without dashes, of `verbose`,
    /// `scores`, `chart`, `title`, `theme`.
    fn options(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether its bytes are text.
    fn is_text(&self) -> bool {
        true
    }

    /// Several reports in one picture or page, all of whose measured values are finite; called
    /// through [`Renderer::render_all`]. Fails in formats that show one report.
    fn render_several(&self, reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
        match reports {
            [one] => self.render_finite(&one.report, options),
            many => Err(Error::usage(format!(
                "too many reports for one output: {} in {}; html, svg and png show several; type \
                 -o report.html",
                many.len(),
                self.name()
            ))),
        }
    }

    /// The bytes of a report all of whose measured values are finite; called through
    /// [`Renderer::render`].
    fn render_finite(&self, report: &Report, options: &Options) -> Result<Vec<u8>>;

    /// The notes on such a report; called through [`Renderer::notes`].
    fn notes_finite(&self, _report: &Report, _options: &Options) -> Result<String> {
        Ok(String::new())
    }

    /// Whether such a report has nothing that the format shows; called through
    /// [`Renderer::shows_nothing`].
    fn is_empty(&self, _report: &Report, _options: &Options) -> bool {
        false
    }

    /// The whole output, ending in a newline. Fails only where the format cannot express the
    /// report.
    fn render(&self, report: &Report, options: &Options) -> Result<Vec<u8>> {
        self.render_finite(&finite::finite(report), options)
    }

    /// One or several reports, as [`Renderer::render`].
    fn render_all(&self, reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
        self.render_several(&finite::all(reports), options)
    }

    /// What a file of reports shows, in words: empty where that goes without saying.
    fn contents(&self, _reports: &[NamedReport], _options: &Options) -> Result<String> {
        Ok(String::new())
    }

    /// Text that belongs beside the output, on stderr: empty, or whole lines.
    fn notes(&self, report: &Report, options: &Options) -> Result<String> {
        self.notes_finite(&finite::finite(report), options)
    }

    /// Whether the report has nothing that the format shows, so that the output is a heading at
    /// most.
    fn shows_nothing(&self, report: &Report, options: &Options) -> bool {
        self.is_empty(&finite::finite(report), options)
    }
}

/// Every format, the default one first.
pub const RENDERERS: &[&dyn Renderer] = &[
    &table::Table,
    &json::Json,
    &jsonl::JsonLines,
    &csv::Csv,
    &markdown::Markdown,
    &sc_membench::ScMembench,
    &openmetrics::OpenMetrics,
    &html::Html,
    &chart::Svg,
    &chart::Png,
];

/// The renderer that `--format name` asks for; upper or lower case.
pub fn by_name(name: &str) -> Result<&'static dyn Renderer> {
    let wanted = name.trim().to_ascii_lowercase();
    if let Some(found) = RENDERERS.iter().find(|r| r.name() == wanted) {
        return Ok(*found);
    }
    let known: Vec<&str> = RENDERERS.iter().map(|r| r.name()).collect();
    Err(unknown("unknown format", name, &known))
}

/// The renderer that stands for the extension of `path`; upper or lower case.
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

/// The error for a word that is not in a list, with the entries that look most like it.
fn unknown(what: &str, given: &str, known: &[&str]) -> Error {
    let lower = given.to_ascii_lowercase();
    let mut near: Vec<(f64, &str)> = known
        .iter()
        .map(|k| (strsim::jaro(&lower, k), *k))
        .collect();
    near.retain(|(likeness, _)| *likeness > 0.7);
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let cure = match near.as_slice() {
        [] => "type one of these".to_owned(),
        near => {
            let names: Vec<String> = near.iter().take(3).map(|(_, k)| format!("'{k}'")).collect();
            format!("did you mean {}?", names.join(" or "))
        }
    };
    Error::usage(format!(
        "{what}: '{}'; known are {}; {cure}",
        text::shorten(given, 60),
        known.join(", ")
    ))
}
