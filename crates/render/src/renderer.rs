//! The trait of an output format.

use super::finite;
use super::request::{NamedReport, Options};
use report::Report;
use units::error::{Error, Result};

/// An output format.
pub trait Renderer: Sync {
    /// Name for `--format`.
    fn name(&self) -> &'static str;

    /// File name extensions that select this format, without the dot. Empty if another format has
    /// the extensions of such files.
    fn extensions(&self) -> &'static [&'static str];

    /// Description of the format, one line for `--help`.
    fn help(&self) -> &'static str;

    /// Names of options that change the output, without dashes: some of `verbose`, `scores`,
    /// `chart`, `title`, `theme`.
    fn options(&self) -> &'static [&'static str] {
        &[]
    }

    /// True if the output is text.
    fn is_text(&self) -> bool {
        true
    }

    /// Renders several reports in one picture or page. [`Renderer::render_all`] calls it with
    /// finite values only.
    ///
    /// # Errors
    /// The format shows one report only, or cannot express a report.
    fn render_several(&self, reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
        match reports {
            [one] => self.render_finite(&one.report, options),
            many => Err(Error::usage(format!(
                "too many reports for one output: {} in {}; html, gallery, markdown, svg and png \
                 show several; type -o report.html",
                many.len(),
                self.name()
            ))),
        }
    }

    /// Renders a report. [`Renderer::render`] calls it with finite values only.
    fn render_finite(&self, report: &Report, options: &Options) -> Result<Vec<u8>>;

    /// Makes the notes of [`Renderer::notes`], which calls it with finite values only.
    fn notes_finite(&self, _report: &Report, _options: &Options) -> Result<String> {
        Ok(String::new())
    }

    /// True if the report has nothing that the format shows. [`Renderer::shows_nothing`] calls it
    /// with finite values only.
    fn is_empty(&self, _report: &Report, _options: &Options) -> bool {
        false
    }

    /// Renders a report, with a newline at the end.
    ///
    /// # Errors
    /// The format cannot express the report.
    fn render(&self, report: &Report, options: &Options) -> Result<Vec<u8>> {
        self.render_finite(&finite::finite(report), options)
    }

    /// Renders one or several reports, with the same errors as [`Renderer::render`].
    fn render_all(&self, reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
        self.render_several(&finite::all(reports), options)
    }

    /// Description in words of what the output for `reports` shows, such as the titles of charts.
    /// Empty if there is nothing to add.
    fn contents(&self, _reports: &[NamedReport], _options: &Options) -> Result<String> {
        Ok(String::new())
    }

    /// Text for standard error that accompanies the output: empty, or whole lines.
    fn notes(&self, report: &Report, options: &Options) -> Result<String> {
        self.notes_finite(&finite::finite(report), options)
    }

    /// True if the report has nothing that the format shows. The output is then a heading at most.
    fn shows_nothing(&self, report: &Report, options: &Options) -> bool {
        self.is_empty(&finite::finite(report), options)
    }
}
