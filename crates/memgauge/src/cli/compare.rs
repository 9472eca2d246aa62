//! `memgauge compare BEFORE AFTER...`

use super::args::{CompareOptions, FailOn};
use super::exit::Exit;
use super::folders::files_in;
use super::target::{is_stdout, put, reason};
use super::terminal::{tell, terminal_width};
use super::{saved, state};
use render::{self, COMPARISON_FORMATS, NamedReport, Options};
use std::path::Path;
use units::error::{Error, Result};
use verdict::{ComparedReport, Comparison, ReportSet, Settings, compare};

/// Compares the first report with each later one. A folder stands for the set of its reports.
/// Returns [`Exit::CheckFailed`] if the condition of `--fail-on` is met, or if two reports have no
/// point in common.
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
    let before = Side::read(&options.before)?;
    let after = options
        .after
        .iter()
        .map(|path| Side::read(path))
        .collect::<Result<Vec<_>>>()?;
    let pair = |after: &Side| compare(before.compared(), after.compared(), &settings);
    let comparisons: Vec<Comparison> = after.iter().map(pair).collect();
    let sides = std::iter::once(before).chain(after);
    let reports: Vec<NamedReport> = sides.map(Side::into_named).collect();
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

/// Extensions of the reports that are read from a folder.
const EXTENSIONS: [&str; 1] = ["json"];

/// A report, or the set of all reports in a folder.
struct Side {
    name: String,
    set: ReportSet,
}

impl Side {
    /// Reads the report that `path` names, such as `last`. If `path` is a folder, reads all of its
    /// reports.
    fn read(path: &Path) -> Result<Self> {
        let file = state::resolved(path)?;
        // A saved session is named by its file name alone, because the folder of sessions does not
        // matter.
        let name = if file == *path {
            file.display().to_string()
        } else {
            short_name(&file)
        };
        let refused = |why: &str| {
            Error::usage(format!(
                "cannot read the reports: '{}': {why}; a folder of reports (.json) is a set; type \
                 the name of one",
                path.display()
            ))
        };
        let files = if file.is_dir() {
            files_in(&file, &EXTENSIONS).map_err(|e| refused(&reason(&e)))?
        } else {
            vec![file]
        };
        let reports = files
            .iter()
            .map(|file| saved::read(file))
            .collect::<Result<Vec<_>>>()?;
        let set = ReportSet::new(reports).ok_or_else(|| refused("it has no file in .json"))?;
        Ok(Self { name, set })
    }

    fn compared(&self) -> ComparedReport<'_> {
        ComparedReport::of_set(&self.name, &self.set)
    }

    fn into_named(self) -> NamedReport {
        NamedReport {
            name: self.name,
            report: self.set.into_report(),
        }
    }
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
