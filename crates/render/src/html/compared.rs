//! Page of comparisons: changes first, then charts of all reports.

use super::{block, escape, heading_end, list};
use crate::blocks::{Block, Labelled};
use crate::comparison::{grid, head, heading, legend, reasons, remarks};
use crate::text::shorten;
use crate::{NamedReport, Options, finite};
use units::counted;
use units::error::Result;
use verdict::Comparison;

/// Renders the page of all comparisons, with charts of the compared reports.
pub(crate) fn compared(
    comparisons: &[Comparison],
    reports: &[NamedReport],
    options: &Options,
) -> Result<Vec<u8>> {
    let names: Vec<String> = comparisons
        .iter()
        .map(|one| shorten(&one.after, 60))
        .collect();
    let parts = comparisons
        .iter()
        .enumerate()
        .map(|(i, one)| part(i, &names, one));
    super::document(&finite::all(reports), options, &parts.collect::<String>())
}

/// Part of the page for one comparison. Verdicts and changes are visible, all other points are
/// folded.
fn part(i: usize, names: &[String], comparison: &Comparison) -> String {
    let mut words: Vec<Labelled> = head(comparison)
        .into_iter()
        .map(|[word, text]| (word, text))
        .collect();
    words.extend(
        remarks(comparison, false)
            .into_iter()
            .map(|text| ("*".to_owned(), text)),
    );
    words.extend(
        reasons(comparison.unaligned.iter(), false)
            .into_iter()
            .map(|text| ("not compared".to_owned(), text)),
    );
    let mut text = format!(
        "<section id=\"comparison-{i}\" class=\"card\">\n<h2>Comparison{}</h2>\n",
        heading_end(i, names)
    );
    text.push_str(&list(&words));
    for group in &comparison.groups {
        let changed = grid(group, false);
        let all = grid(group, true);
        let same = all.rows.len() - changed.rows.len();
        if !changed.rows.is_empty() {
            text.push_str(&block(&Block {
                title: heading(group),
                grid: changed,
                legend: legend(comparison),
            }));
        }
        if same > 0 {
            let summary = format!("{}: {} the same", heading(group), counted(same, "point"));
            let whole = block(&Block {
                title: format!("{}, all", heading(group)),
                grid: all,
                legend: String::new(),
            });
            text.push_str(&format!(
                "<details><summary>{}</summary>\n{whole}</details>\n",
                escape(&summary)
            ));
        }
    }
    text + "</section>\n"
}
