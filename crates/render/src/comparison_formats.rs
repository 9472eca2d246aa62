//! The formats of a comparison.

use super::comparison::{grid, head, heading, legend, reasons, remarks};
use super::grid::{Column, Grid, escape_markdown};
use super::html;
use super::json::inert;
use super::request::{NamedReport, Options};
use super::result_format::{ResultFormat, ResultFormats};
use units::counted;
use units::error::{Error, Result};
use verdict::Comparison;

/// Function that renders comparisons.
pub type RenderComparisons = fn(&[Comparison], &[NamedReport], &Options) -> Result<Vec<u8>>;

impl ResultFormat<RenderComparisons> {
    /// Renders all comparisons one after the other, with a newline at the end. `reports` are the
    /// compared reports; the first one is the baseline.
    pub fn render(
        &self,
        comparisons: &[Comparison],
        reports: &[NamedReport],
        options: &Options,
    ) -> Result<Vec<u8>> {
        (self.render)(comparisons, reports, options)
    }
}

/// The formats of comparisons.
pub const COMPARISON_FORMATS: ResultFormats<RenderComparisons> = ResultFormats {
    results: "comparisons",
    rows: FORMATS,
};

const FORMATS: &[ResultFormat<RenderComparisons>] = &[
    ResultFormat {
        name: "table",
        extension: "txt",
        help: "for people",
        verbose: true,
        render: table,
    },
    ResultFormat {
        name: "markdown",
        extension: "md",
        help: "for pull requests",
        verbose: true,
        render: markdown,
    },
    ResultFormat {
        name: "json",
        extension: "json",
        help: "every pair of points, for programs",
        verbose: false,
        render: json,
    },
    ResultFormat {
        name: "html",
        extension: "html",
        help: "a page with charts, readable offline",
        verbose: false,
        render: html::compared,
    },
];

/// Renders tables for people.
fn table(
    comparisons: &[Comparison],
    _reports: &[NamedReport],
    options: &Options,
) -> Result<Vec<u8>> {
    let width = options.width;
    let words = |rows: Vec<Vec<String>>| {
        let columns = rows.first().map_or(1, Vec::len);
        Grid {
            columns: vec![Column::left(""); columns],
            rows,
        }
        .to_text(width)
    };
    let mut parts = Vec::new();
    for comparison in comparisons {
        parts.push(words(head(comparison).into_iter().map(Vec::from).collect()));
        for group in &comparison.groups {
            let grid = grid(group, options.verbose);
            let same = group.pairs.len() - grid.rows.len();
            let mut text = words(vec![vec![heading(group)]]);
            if !grid.rows.is_empty() {
                text.push_str(&grid.to_text(width));
            }
            if same > 0 {
                text.push_str(&words(vec![vec![format!(
                    "{} the same; --verbose shows them",
                    counted(same, "point")
                )]]));
            }
            parts.push(text);
        }
        let mut last = Vec::new();
        let reasons = reasons(comparison.unaligned.iter(), options.verbose);
        last.extend(
            remarks(comparison, options.verbose)
                .into_iter()
                .map(|r| vec!["*".to_owned(), r]),
        );
        last.extend(
            reasons
                .into_iter()
                .map(|r| vec!["not compared".to_owned(), r]),
        );
        if comparison.tally.all() > 0 {
            last.push(vec!["legend".to_owned(), legend(comparison)]);
        }
        if !last.is_empty() {
            parts.push(words(last));
        }
    }
    Ok(parts.join("\n").into_bytes())
}

/// Renders Markdown for pull requests: changes are visible, all other points are folded.
fn markdown(
    comparisons: &[Comparison],
    _reports: &[NamedReport],
    options: &Options,
) -> Result<Vec<u8>> {
    let mut text = String::new();
    for comparison in comparisons {
        for [word, line] in head(comparison) {
            text.push_str(&format!("- **{word}**: {}\n", escape_markdown(&line)));
        }
        for group in &comparison.groups {
            let few = grid(group, options.verbose);
            let all = grid(group, true);
            text.push_str(&format!("\n### {}\n\n", escape_markdown(&heading(group))));
            if !few.rows.is_empty() {
                text.push_str(&few.to_markdown());
            }
            if few.rows.len() < all.rows.len() {
                let summary = format!("all {}", counted(all.rows.len(), "point"));
                let table = all.to_markdown();
                text.push_str(&format!(
                    "\n<details><summary>{summary}</summary>\n\n{table}\n</details>\n"
                ));
            }
        }
        text.push('\n');
        for remark in remarks(comparison, options.verbose) {
            text.push_str(&format!("- \\* {}\n", escape_markdown(&remark)));
        }
        for reason in reasons(comparison.unaligned.iter(), options.verbose) {
            text.push_str(&format!("- not compared: {}\n", escape_markdown(&reason)));
        }
        if comparison.tally.all() > 0 {
            text.push_str(&format!("\n{}\n\n", escape_markdown(&legend(comparison))));
        }
    }
    Ok(text.into_bytes())
}

/// Renders JSON: one comparison as an object, several as a list.
fn json(
    comparisons: &[Comparison],
    _reports: &[NamedReport],
    _options: &Options,
) -> Result<Vec<u8>> {
    let text = match comparisons {
        [one] => serde_json::to_string_pretty(one),
        many => serde_json::to_string_pretty(many),
    };
    let text = text.map_err(|e| Error::failure(format!("cannot write comparison: {e}")))?;
    Ok((inert(text) + "\n").into_bytes())
}
