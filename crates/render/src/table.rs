//! The format `table`: text that fits on one screen, for a person at a terminal.

use super::blocks::Labelled;
use super::grid::{Column, Grid};
use super::page::{Heading, page};
use super::text::{clean, shorten};
use super::{DEFAULT_WIDTH, NamedReport, Options, Renderer, bars, chart};
use report::Report;
use units::error::Result;

/// Labels of lines below the tables.
const LABELS: [&str; 7] = [
    "Missing ",
    "Health ",
    "Trust ",
    "Improve ",
    "Findings ",
    "Saved ",
    "More ",
];

/// Least number of spaces between the machine and the session, if both are on one line.
const NARROWEST_GAP: usize = 4;

/// Least width of a chart, in characters.
const NARROWEST: u16 = 40;

/// Renderer of the format `table`: the hierarchy on one screen, or the points of a single
/// experiment.
pub(super) struct Table;

impl Renderer for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["txt"]
    }

    fn help(&self) -> &'static str {
        "for people: machine, plan, numbers with their trust, findings"
    }

    fn options(&self) -> &'static [&'static str] {
        &["verbose", "chart"]
    }

    fn render_several(&self, reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
        match reports {
            [one] => self.render_finite(&one.report, options),
            many if !options.charts.is_empty() => drawn(many, options),
            many => {
                let heading =
                    |named: &NamedReport| format!("{}\n\n", shorten(&named.name, 200)).into_bytes();
                let mut out = Vec::new();
                for named in many {
                    out.extend(heading(named));
                    out.extend(self.render_finite(&named.report, options)?);
                    out.push(b'\n');
                }
                out.pop();
                Ok(out)
            }
        }
    }

    fn render_finite(&self, report: &Report, options: &Options) -> Result<Vec<u8>> {
        let width = options.width;
        if !options.charts.is_empty() {
            return drawn(
                &[NamedReport {
                    name: String::new(),
                    report: report.clone(),
                }],
                options,
            );
        }
        let page = page(report, options);
        let mut parts = vec![heading(&page.heading, width)];
        for block in &page.blocks {
            parts.push(
                prose(&block.title, width)
                    + &block.grid.to_text(width)
                    + &prose(&block.legend, width),
            );
        }
        if options.bars && !page.is_hierarchy {
            parts.push(bars::sweeps(report, width));
        }
        parts.retain(|part| !part.is_empty());
        if page.blocks.is_empty() {
            parts.push("no points\n".to_owned());
        }
        if !page.remarks.is_empty() {
            parts.push(labelled(page.remarks, width));
        }
        let text = parts.join("\n");
        let text = if options.color { coloured(&text) } else { text };
        Ok(text.into_bytes())
    }
}

/// Returns `text` with bold labels at the start of lines and coloured grades at their ends. Only
/// text of the program stands at these places, never foreign text.
fn coloured(text: &str) -> String {
    const GRADES: [(&str, &str); 3] = [("solid", "32"), ("doubtful", "33"), ("rejected", "31")];
    let one = |line: &str| {
        let label = LABELS.iter().find(|label| line.starts_with(**label));
        let start = label.map_or_else(String::new, |label| format!("\u{1b}[1m{label}\u{1b}[0m"));
        let rest = &line[label.map_or(0, |label| label.len())..];
        let grade = GRADES
            .iter()
            .find(|(grade, _)| rest.ends_with(&format!(" {grade}")));
        let Some((grade, colour)) = grade else {
            return format!("{start}{rest}\n");
        };
        let before = &rest[..rest.len() - grade.len()];
        format!("{start}{before}\u{1b}[{colour}m{grade}\u{1b}[0m\n")
    };
    text.lines().map(one).collect()
}

/// Draws charts made of characters, with the origin of their numbers.
fn drawn(reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
    let all = chart::charts(reports);
    let width = options.width.unwrap_or(DEFAULT_WIDTH).max(NARROWEST);
    let chosen = chart::chosen(&all, &options.charts)?;
    let title = options
        .title
        .as_ref()
        .map(|title| prose(&clean(title), options.width));
    let charts = chosen
        .iter()
        .map(|c| chart::to_terminal(c, width, options.color));
    let below = [
        chart::sources(reports),
        chart::outcomes(reports, &options.charts),
    ]
    .concat();
    let sources: String = below
        .iter()
        .map(|line| prose(line, options.width))
        .collect();
    Ok(title
        .into_iter()
        .chain(charts)
        .chain([sources])
        .collect::<Vec<_>>()
        .join("\n")
        .into_bytes())
}

/// Line with the machine, and with the session on its right if both fit. Otherwise the session has
/// a line of its own.
fn heading(heading: &Heading, width: Option<u16>) -> String {
    let length = |text: &str| text.chars().count();
    let gap = width.map(|width| {
        usize::from(width).saturating_sub(length(&heading.machine) + length(&heading.session))
    });
    let mut text = match gap.unwrap_or(NARROWEST_GAP) {
        gap if gap < NARROWEST_GAP => {
            prose(&heading.machine, width) + &prose(&heading.session, width)
        }
        gap => format!(
            "{}{}{}\n",
            heading.machine,
            " ".repeat(gap),
            heading.session
        ),
    };
    text.push_str(&prose(&heading.memory, width));
    for shortened in &heading.shortened {
        text.push_str(&prose(&format!("shortened: {shortened}"), width));
    }
    text
}

/// Writes labelled lines as text. A label that equals the previous label is not repeated.
fn labelled(lines: Vec<Labelled>, width: Option<u16>) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut last = String::new();
    for (label, text) in lines {
        rows.push(vec![
            if label == last {
                String::new()
            } else {
                label.clone()
            },
            text,
        ]);
        last = label;
    }
    Grid {
        columns: vec![Column::left(""), Column::left("")],
        rows,
    }
    .to_text(width)
}

/// Writes `text` as a paragraph, wrapped at `width`.
fn prose(text: &str, width: Option<u16>) -> String {
    if text.is_empty() {
        return String::new();
    }
    Grid {
        columns: vec![Column::left("")],
        rows: vec![vec![text.to_owned()]],
    }
    .to_text(width)
}
