//! The trait of a format.

use super::finite;
use super::request::{NamedReport, Options};
use report::Report;
use units::error::{Error, Result};

/// One format.
pub trait Renderer: Sync {
    /// Name after `--format`.
    fn name(&self) -> &'static str;

    /// File name extensions that stand for it, without the dot; none where another format has them.
    fn extensions(&self) -> &'static [&'static str];

    /// One line for `--help`.
    fn help(&self) -> &'static str;

    /// The options that change what it makes, by their names without dashes, of `verbose`,
    /// `scores`, `chart`, `title`, `theme`.
    fn options(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether its bytes are text.
    fn is_text(&self) -> bool {
        true
    }

    /// Several reports in one picture or page, all of whose measured values are finite; called
    /// through [`Renderer::render_all`]. Fails in formats that show one report.
    fn render_several(&self, reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
        match reports {
            [one] => self.render_finite(&one.report, options),
            many => Err(Error::usage(format!(
                "too many reports for one output: {} in {}; html, svg and png show several; type \
                 -o report.html",
                many.len(),
                self.name()
            ))),
        }
    }

    /// The bytes of a report all of whose measured values are finite; called through
    /// [`Renderer::render`].
    fn render_finite(&self, report: &Report, options: &Options) -> Result<Vec<u8>>;

    /// The notes on such a report; called through [`Renderer::notes`].
    fn notes_finite(&self, _report: &Report, _options: &Options) -> Result<String> {
        Ok(String::new())
    }

    /// Whether such a report has nothing that the format shows; called through
    /// [`Renderer::shows_nothing`].
    fn is_empty(&self, _report: &Report, _options: &Options) -> bool {
        false
    }

    /// The whole output, ending in a newline. Fails only where the format cannot express the
    /// report.
    fn render(&self, report: &Report, options: &Options) -> Result<Vec<u8>> {
        self.render_finite(&finite::finite(report), options)
    }

    /// One or several reports, as [`Renderer::render`].
    fn render_all(&self, reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
        self.render_several(&finite::all(reports), options)
    }

    /// Contents of a file of reports, in words; empty if they are obvious.
    fn contents(&self, _reports: &[NamedReport], _options: &Options) -> Result<String> {
        Ok(String::new())
    }

    /// Text that belongs beside the output, on stderr: empty, or whole lines.
    fn notes(&self, report: &Report, options: &Options) -> Result<String> {
        self.notes_finite(&finite::finite(report), options)
    }

    /// Whether the report has nothing that the format shows, so that the output is a heading at
    /// most.
    fn shows_nothing(&self, report: &Report, options: &Options) -> bool {
        self.is_empty(&finite::finite(report), options)
    }
}
