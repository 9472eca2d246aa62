//! The trait of an output format.

use super::finite;
use super::request::{NamedReport, Options};
use report::Report;
use units::error::{Error, Result};

/// An output format.
pub trait Renderer: Sync {
    /// Name for `--format`.
    fn name(&self) -> &'static str;

    /// File name extensions of the format, without the dot; none if they belong to another format.
    fn extensions(&self) -> &'static [&'static str];

    /// One line for `--help`.
    fn help(&self) -> &'static str;

    /// Options that change the output, without dashes: some of `verbose`, `scores`, `chart`,
    /// `title`, `theme`.
    fn options(&self) -> &'static [&'static str] {
        &[]
    }

    /// True if the output is text.
    fn is_text(&self) -> bool {
        true
    }

    /// Renders several reports in one picture or page; called through [`Renderer::render_all`],
    /// with finite values only.
    ///
    /// # Errors
    /// The format shows one report only, or cannot express the report.
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

    /// Renders a report with finite values only; called through [`Renderer::render`].
    fn render_finite(&self, report: &Report, options: &Options) -> Result<Vec<u8>>;

    /// Notes on a report with finite values only; called through [`Renderer::notes`].
    fn notes_finite(&self, _report: &Report, _options: &Options) -> Result<String> {
        Ok(String::new())
    }

    /// True if the report has nothing that the format shows; called through
    /// [`Renderer::shows_nothing`].
    fn is_empty(&self, _report: &Report, _options: &Options) -> bool {
        false
    }

    /// Renders a report, ending in a newline.
    ///
    /// # Errors
    /// The format cannot express the report.
    fn render(&self, report: &Report, options: &Options) -> Result<Vec<u8>> {
        self.render_finite(&finite::finite(report), options)
    }

    /// Renders one or several reports, as [`Renderer::render`].
    fn render_all(&self, reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
        self.render_several(&finite::all(reports), options)
    }

    /// Description of the output for reports, in words; empty if obvious.
    fn contents(&self, _reports: &[NamedReport], _options: &Options) -> Result<String> {
        Ok(String::new())
    }

    /// Text for stderr that accompanies the output: empty, or whole lines.
    fn notes(&self, report: &Report, options: &Options) -> Result<String> {
        self.notes_finite(&finite::finite(report), options)
    }

    /// True if the report has nothing that the format shows, so that the output is a heading at
    /// most.
    fn shows_nothing(&self, report: &Report, options: &Options) -> bool {
        self.is_empty(&finite::finite(report), options)
    }
}
