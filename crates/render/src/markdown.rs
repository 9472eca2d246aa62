//! The same page for an issue, a wiki or a chat.

use super::grid::escape_markdown;
use super::page::{Labelled, page};
use super::text::shorten;
use super::{Options, Renderer};
use report::{Provenance, Report};
use units::error::Result;

/// `markdown`: GitHub's tables and a paragraph on where the numbers come from.
pub(super) struct Markdown;

impl Renderer for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["md", "markdown"]
    }

    fn help(&self) -> &'static str {
        "the table as GitHub Markdown, with where the numbers come from"
    }

    fn options(&self) -> &'static [&'static str] {
        &["verbose"]
    }

    fn render_finite(&self, report: &Report, options: &Options) -> Result<Vec<u8>> {
        let page = page(
            report,
            &Options {
                bars: false,
                ..options.clone()
            },
        );
        let mut parts = vec![list(&page.facts)];
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
}

/// A list of lines with a word in front; a line without one belongs to the word above.
fn list(lines: &[Labelled]) -> String {
    let mut text = String::new();
    for (label, line) in lines {
        let line = escape_markdown(line);
        match label.as_str() {
            "" => text.push_str(&format!("  - {line}\n")),
            label => text.push_str(&format!("- **{}**: {line}\n", escape_markdown(label))),
        }
    }
    text
}

/// What is needed to repeat the run and to say whether another one used the same ruler.
pub(super) fn provenance(provenance: &Provenance) -> String {
    let tool = &provenance.tool;
    let kernels: Vec<String> = provenance
        .kernels
        .iter()
        .map(|k| {
            format!(
                "{} {}",
                shorten(&k.name, 60),
                shorten(k.digest.as_deref().unwrap_or("(not of this program)"), 80)
            )
        })
        .collect();
    let kernels = if kernels.is_empty() {
        "none".to_owned()
    } else {
        kernels.join(", ")
    };
    format!(
        "{} {} ({}), started {}, finished {}, seed {}, command line: {}. Kernels: {kernels}.",
        tool.name,
        tool.version,
        tool.machine,
        provenance.started,
        provenance.finished,
        provenance.seed,
        shorten(&command_line(&provenance.command_line), 1000),
    )
}

/// Arguments as a shell would need them, as far as quotes go.
pub(super) fn command_line(arguments: &[String]) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=.,/:+@%".contains(c);
    let quote = |a: &String| match !a.is_empty() && a.chars().all(plain) {
        true => a.clone(),
        false => format!("'{}'", a.replace('\'', r"'\''")),
    };
    arguments.iter().map(quote).collect::<Vec<_>>().join(" ")
}
