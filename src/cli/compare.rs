//! `memgauge compare BEFORE AFTER...`

use super::args::{CompareOptions, FailOn};
use super::output::{put, tell};
use super::saved;
use crate::analysis::{Comparison, Settings, compare};
use crate::error::Result;
use crate::render::{self, Options};
use std::path::Path;

/// Compares reports with the first one; the exit code is 1 where `--fail-on` finds what it looks for.
pub fn run(options: &CompareOptions) -> Result<u8> {
    let chosen = options.format.as_deref().map(render::comparison_format).transpose()?;
    let settings = Settings { floor: options.floor, any_kernel: options.any_kernel };
    let before = saved::read(&options.before)?;
    let mut comparisons = Vec::new();
    for path in &options.after {
        let after = saved::read(path)?;
        comparisons.push(compare((&name(&options.before), &before), (&name(path), &after), &settings));
    }
    let shown = Options { verbose: options.verbose, ..Options::default() };
    let by_extension = |path: &Path| render::comparison_format_of(path).or_else(|e| chosen.ok_or(e));
    let default = || chosen.unwrap_or(&render::COMPARISON_FORMATS[0]);
    let file = put(options.output.as_deref(), |path| {
        let format = path.map_or_else(|| Ok(default()), by_extension)?;
        format.render(&comparisons, &shown)
    })?;
    if file {
        comparisons
            .iter()
            .for_each(|one| tell(&format!("memgauge: {}: {}", one.after, render::comparison_summary(one))));
    }
    Ok(u8::from(options.fail_on.is_some_and(|what| comparisons.iter().any(|one| fails(one, what)))))
}

/// What a report is called: its file.
fn name(path: &Path) -> String {
    path.display().to_string()
}

/// Whether a comparison has what `--fail-on` looks for.
fn fails(comparison: &Comparison, what: FailOn) -> bool {
    let tally = comparison.tally;
    match what {
        FailOn::Worse => tally.worse > 0,
        FailOn::CannotTell => tally.worse + tally.cannot_tell > 0,
    }
}
