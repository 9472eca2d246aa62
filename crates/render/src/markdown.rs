//! The report as Markdown for an issue, a wiki or a chat.

use super::blocks::Labelled;
use super::gallery::machines_in_markdown;
use super::grid::escape_markdown;
use super::page::page;
use super::provenance::provenance;
use super::{NamedReport, Options, Renderer};
use report::Report;
use units::error::Result;

/// Renderer of the format `markdown`: GitHub tables, and a paragraph about the origin of the
/// numbers.
pub(super) struct Markdown;

impl Renderer for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["md", "markdown"]
    }

    fn help(&self) -> &'static str {
        "the table as GitHub Markdown, with the origin of the numbers; of several reports a row each"
    }

    fn options(&self) -> &'static [&'static str] {
        &["verbose"]
    }

    fn render_finite(&self, report: &Report, options: &Options) -> Result<Vec<u8>> {
        let page = page(report, options);
        let mut parts = vec![list(&page.heading.labelled())];
        for block in &page.blocks {
            if !block.title.is_empty() {
                parts.push(format!("### {}\n", escape_markdown(&block.title)));
            }
            parts.push(block.grid.to_markdown());
            if !block.legend.is_empty() {
                parts.push(format!("{}\n", escape_markdown(&block.legend)));
            }
        }
        if page.blocks.is_empty() {
            parts.push("No points.\n".to_owned());
        }
        if !page.remarks.is_empty() {
            parts.push(list(&page.remarks));
        }
        parts.push(format!(
            "{}\n",
            escape_markdown(&provenance(&report.provenance))
        ));
        Ok(parts.join("\n").into_bytes())
    }

    fn render_several(&self, reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
        match reports {
            [one] => self.render_finite(&one.report, options),
            many => Ok(machines_in_markdown(many).into_bytes()),
        }
    }
}

/// Writes labelled lines as a list. Consecutive lines with the same label become a sublist.
fn list(lines: &[Labelled]) -> String {
    let mut text = String::new();
    let mut last = "";
    for (label, line) in lines {
        let line = escape_markdown(line);
        match label.as_str() {
            label if label == last => text.push_str(&format!("  - {line}\n")),
            label => text.push_str(&format!("- **{}**: {line}\n", escape_markdown(label))),
        }
        last = label;
    }
    text
}
