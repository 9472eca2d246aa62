//! Reads saved results: reports, and journals of unfinished sessions.

use super::catalogue::experiment_named;
use super::target::reason_in;
use super::terminal::tell;
use experiments::Detail;
use report::{Journal, Report, Saved, add_derived, read_saved};
use std::path::Path;
use units::error::{Error, Result};

/// Reads the report at `path`. A journal is converted to a report, and notes on parts that it lacks
/// are printed.
pub fn read(path: &Path) -> Result<Report> {
    let saved = read_saved(path).map_err(|e| {
        let file = path.display();
        let why = reason_in(&e);
        Error::usage(format!(
            "cannot read the report: '{file}': {why}; reports (.json), journals (.jsonl) and CSV \
             of memgauge or sc-membench can be read; type the name of one"
        ))
    })?;
    Ok(match saved {
        Saved::Report(report) => *report,
        Saved::Journal(journal) => {
            for note in &journal.notes {
                tell(&format!("memgauge: note: {note}"));
            }
            completed(*journal)
        }
    })
}

/// Reads the report or journal at `path` without printing. `None` if it cannot be read.
pub fn read_quietly(path: &Path) -> Option<Report> {
    read_saved(path).ok().map(Saved::into_report)
}

/// Makes the report of `journal`, with the findings and derived data that its session would have
/// added.
fn completed(journal: Journal) -> Report {
    let Journal {
        mut report, ended, ..
    } = journal;
    let mut findings = Vec::new();
    let mut derived = Vec::new();
    let is_whole = report.datasets.iter().any(|dataset| dataset.derived);
    for dataset in &mut report.datasets {
        let Some(row) = experiment_named(&dataset.experiment) else {
            continue;
        };
        // Any detail will do here, because an experiment derives its findings from points alone.
        let experiment = (row.in_profile)(Detail::Brief);
        experiment.finish(dataset);
        derived.extend(experiment.derived(dataset).filter(|_| !is_whole));
        if !ended {
            findings.extend(experiment.findings_on(&report.provenance.host, dataset));
        }
    }
    add_derived(&mut report.datasets, derived);
    report.findings.extend(findings);
    report
}
