//! Formats for results other than reports: comparisons, and verdicts on fleets.

use super::unknown::unknown;
use std::ops::Deref;
use std::path::Path;
use units::error::Result;

/// A format of a result. `F` is the type of the function that renders the result.
pub struct ResultFormat<F: 'static> {
    /// Name for `--format`.
    pub name: &'static str,
    /// File name extension of the format, without the dot.
    pub extension: &'static str,
    /// Description of the format, one line for `--format help`.
    pub help: &'static str,
    /// True if the format shows more with `--verbose`.
    pub verbose: bool,
    pub(super) render: F,
}

impl<F> std::fmt::Debug for ResultFormat<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// All formats of a kind of result, the default one first.
#[derive(Debug)]
pub struct ResultFormats<F: 'static> {
    /// Plural of the kind of result, for error messages.
    pub(super) results: &'static str,
    pub(super) rows: &'static [ResultFormat<F>],
}

impl<F> Deref for ResultFormats<F> {
    type Target = [ResultFormat<F>];

    fn deref(&self) -> &Self::Target {
        self.rows
    }
}

impl<F> ResultFormats<F> {
    /// The format called `name`, in upper or lower case.
    ///
    /// # Errors
    /// No format has this name. The message suggests similar names.
    pub fn named(&self, name: &str) -> Result<&'static ResultFormat<F>> {
        let wanted = name.trim().to_ascii_lowercase();
        let known: Vec<&str> = self.rows.iter().map(|f| f.name).collect();
        let found = self.rows.iter().find(|f| f.name == wanted);
        found.ok_or_else(|| unknown(&format!("unknown format of {}", self.results), name, &known))
    }

    /// Chooses the format of a result. With a path, it is the format for the extension, otherwise
    /// `chosen`. Without a path the result goes to standard output, as `chosen` or in the default
    /// format.
    ///
    /// # Errors
    /// The extension belongs to no format, and `chosen` is `None`.
    pub fn for_output(
        &self,
        path: Option<&Path>,
        chosen: Option<&'static ResultFormat<F>>,
    ) -> Result<&'static ResultFormat<F>> {
        let Some(path) = path else {
            return Ok(chosen.unwrap_or(&self.rows[0]));
        };
        let given = path
            .extension()
            .map(|e| e.to_string_lossy().to_ascii_lowercase())
            .unwrap_or_default();
        let known: Vec<&str> = self.rows.iter().map(|f| f.extension).collect();
        let found = self.rows.iter().find(|f| f.extension == given).or(chosen);
        found.ok_or_else(|| {
            unknown(
                &format!("no format of {} for extension", self.results),
                &given,
                &known,
            )
        })
    }

    /// True if `--verbose` shows more of a result in the file `output`, or in the format `format`.
    pub fn has_verbose(&self, output: Option<&Path>, format: Option<&str>) -> bool {
        let chosen = format.and_then(|name| self.named(name).ok());
        self.for_output(output, chosen)
            .is_ok_and(|format| format.verbose)
    }
}
