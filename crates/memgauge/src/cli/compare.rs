//! `memgauge compare BEFORE AFTER...`

use super::args::{CompareOptions, FailOn};
use super::exit::Exit;
use super::target::{is_stdout, put};
use super::terminal::{tell, terminal_width};
use super::{saved, state};
use render::{self, COMPARISON_FORMATS, NamedReport, Options};
use std::path::{Path, PathBuf};
use units::error::Result;
use verdict::{ComparedReport, Comparison, Settings, compare};

/// Compares reports with the first one. Exits with a failed check if `--fail-on` finds its
/// condition, or if two reports have no point in common.
pub fn run(options: &CompareOptions) -> Result<Exit> {
    let chosen = options
        .format
        .as_deref()
        .map(|name| COMPARISON_FORMATS.named(name))
        .transpose()?;
    let settings = Settings {
        floor: options.floor,
        floor_without_samples: options.floor_without_samples,
        any_kernel: options.any_kernel,
    };
    let named = |path: &PathBuf| -> Result<NamedReport> {
        let file = state::resolved(path)?;
        // A saved session is named by its file, wherever the folder of sessions is.
        let name = if file == *path {
            file.display().to_string()
        } else {
            short_name(&file)
        };
        Ok(NamedReport {
            name,
            report: saved::read(&file)?,
        })
    };
    let before = named(&options.before)?;
    let after = options
        .after
        .iter()
        .map(named)
        .collect::<Result<Vec<_>>>()?;
    let pair = |after: &NamedReport| {
        compare(
            ComparedReport::new(&before.name, &before.report),
            ComparedReport::new(&after.name, &after.report),
            &settings,
        )
    };
    let comparisons: Vec<Comparison> = after.iter().map(pair).collect();
    let reports: Vec<NamedReport> = std::iter::once(before).chain(after).collect();
    let to_file = options
        .output
        .as_deref()
        .is_some_and(|path| !is_stdout(path));
    let width = if to_file { None } else { terminal_width() };
    let shown = Options {
        verbose: options.verbose,
        width,
        ..Options::default()
    };
    let file = put(options.output.as_deref(), |path| {
        let format = COMPARISON_FORMATS.for_output(path, chosen)?;
        format.render(&comparisons, &reports, &shown)
    })?;
    if file {
        comparisons.iter().for_each(|one| {
            tell(&format!(
                "memgauge: {}: {}",
                one.after,
                render::comparison_summary(one)
            ))
        });
    }
    let strangers = comparisons.iter().filter(|one| one.tally.all() == 0);
    let strangers: Vec<&str> = strangers.map(|one| one.after.as_str()).collect();
    for name in &strangers {
        let before = &comparisons[0].before;
        tell(&format!(
            "memgauge: nothing to compare: {before} and {name} have no point in common"
        ));
    }
    let found = options
        .fail_on
        .is_some_and(|what| comparisons.iter().any(|one| fails(one, what)));
    Ok(if found || !strangers.is_empty() {
        Exit::CheckFailed
    } else {
        Exit::Done
    })
}

fn short_name(file: &Path) -> String {
    file.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// True if a comparison meets the condition of `--fail-on`.
fn fails(comparison: &Comparison, what: FailOn) -> bool {
    let tally = comparison.tally;
    match what {
        FailOn::Worse => tally.worse > 0,
        FailOn::CannotTell => tally.worse + tally.cannot_tell > 0,
    }
}
