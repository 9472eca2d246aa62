//! CSV in the form of sc-membench, for users who collect files of that tool.
//!
//! `report::sc_membench_form` decides which points have rows, according to the rules of
//! sc-membench. Notes list the points without a row.

use super::comparison::{HiddenPoint, reasons};
use super::sc_scores::{MIB, scores};
use super::{Options, Renderer};
use report::{
    Report, SC_MEMBENCH_HEADER, ScMembenchForm, ScMembenchRow, Threads, sc_membench_form,
};
use units::error::Result;
use units::{counted, fixed};

/// Renderer of the format `sc-membench`: CSV that can replace files of sc-membench.
pub(super) struct ScMembench;

impl Renderer for ScMembench {
    fn name(&self) -> &'static str {
        "sc-membench"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn help(&self) -> &'static str {
        "CSV as sc-membench writes it: MiB/s, copy counted once; on stderr what has no row, and \
         scores if requested"
    }

    fn options(&self) -> &'static [&'static str] {
        &["scores", "verbose"]
    }

    fn render_finite(&self, report: &Report, options: &Options) -> Result<Vec<u8>> {
        let mut out = format!("{SC_MEMBENCH_HEADER}\n");
        for row in form(report, options).rows {
            out.push_str(&line(&row));
        }
        Ok(out.into_bytes())
    }

    fn notes_finite(&self, report: &Report, options: &Options) -> Result<String> {
        let form = form(report, options);
        let mut notes = told(&form, options.verbose);
        if options.scores {
            notes.push_str(&scores(report, &form.rows));
        }
        Ok(notes)
    }

    fn is_empty(&self, report: &Report, options: &Options) -> bool {
        form(report, options).rows.is_empty()
    }
}

/// Rows of the file. With `verbose`, each number of threads has rows; otherwise only one number
/// has.
fn form(report: &Report, options: &Options) -> ScMembenchForm {
    sc_membench_form(
        report,
        if options.verbose {
            Threads::Every
        } else {
            Threads::One
        },
    )
}

/// Notes about facts that the file cannot express, in whole lines.
fn told(form: &ScMembenchForm, verbose: bool) -> String {
    let mut text = String::new();
    if form.rows.is_empty() {
        text.push_str("memgauge: no rows in sc-membench's form; --format csv has every point\n");
    }
    if form.doubtful > 0 {
        let rows = counted(form.rows.len(), "row");
        text.push_str(&format!(
            "memgauge: note: {} of {rows} doubtful; --format table says why\n",
            form.doubtful
        ));
    }
    let left_out = form.left_out.iter().map(|one| HiddenPoint {
        experiment: &one.experiment,
        coordinates: &one.coordinates,
        reason: &one.reason,
    });
    for line in reasons(left_out, verbose) {
        text.push_str(&format!("memgauge: note: no row: {line}\n"));
    }
    text
}

/// A row in the format of sc-membench, with as many decimals as that tool writes.
fn line(row: &ScMembenchRow) -> String {
    let ScMembenchRow {
        operation,
        kib,
        threads,
        value,
        deviation,
        samples,
        iterations,
        elapsed_ns,
    } = row;
    let seconds = fixed(elapsed_ns / 1e9, 6);
    match row.is_latency() {
        true => format!(
            "{kib},{operation},0,{},{},{samples},{threads},{iterations},{seconds}\n",
            fixed(*value, 2),
            fixed(*deviation, 2)
        ),
        false => format!(
            "{kib},{operation},{},0,0,0,{threads},{iterations},{seconds}\n",
            fixed(value / MIB, 2)
        ),
    }
}
