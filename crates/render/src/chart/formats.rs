//! Renderers that draw pictures.

use super::caption::{outcomes, sources};
use super::choice::{alone, charts, chosen, names};
use super::model::Chart;
use super::picture::{self, Content, MAX_CHARTS};
use crate::{NamedReport, Options, Renderer};
use report::Report;
use units::counted;
use units::error::Result;

/// Renderer of the format `svg`: charts as SVG shapes.
pub(crate) struct Svg;

impl Renderer for Svg {
    fn name(&self) -> &'static str {
        "svg"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["svg"]
    }

    fn help(&self) -> &'static str {
        "charts (all, or --chart) in one picture that can be scaled, letters as outlines"
    }

    fn options(&self) -> &'static [&'static str] {
        &["chart", "theme", "title"]
    }

    fn render_finite(&self, report: &Report, options: &Options) -> Result<Vec<u8>> {
        self.render_several(&[alone(report)], options)
    }

    fn render_several(&self, reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
        with_content(reports, options, |content| {
            Ok(picture::svg(content)?.into_bytes())
        })
    }

    fn contents(&self, reports: &[NamedReport], options: &Options) -> Result<String> {
        contents(reports, options)
    }
}

/// Renderer of the format `png`: charts as pixels.
pub(crate) struct Png;

impl Renderer for Png {
    fn name(&self) -> &'static str {
        "png"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["png"]
    }

    fn help(&self) -> &'static str {
        "charts (all, or --chart) in one picture of pixels, 2400 to a chart's width up to four \
         charts"
    }

    fn options(&self) -> &'static [&'static str] {
        &["chart", "theme", "title"]
    }

    fn is_text(&self) -> bool {
        false
    }

    fn render_finite(&self, report: &Report, options: &Options) -> Result<Vec<u8>> {
        self.render_several(&[alone(report)], options)
    }

    fn render_several(&self, reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
        with_content(reports, options, picture::png)
    }

    fn contents(&self, reports: &[NamedReport], options: &Options) -> Result<String> {
        contents(reports, options)
    }
}

/// Calls a drawing function with the requested charts, their title and their caption.
fn with_content(
    reports: &[NamedReport],
    options: &Options,
    draw: impl FnOnce(Content<'_>) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    let all = charts(reports);
    let charts = chosen(&all, &options.charts)?;
    let mut caption = sources(reports);
    caption.extend(outcomes(reports, &options.charts));
    let undrawn = |chart: &&Chart| Some(format!("{}: {}", chart.title, chart.undrawn()?));
    caption.extend(charts.iter().take(MAX_CHARTS).filter_map(undrawn));
    caption.extend(left_out(&charts));
    draw(Content {
        charts: &charts,
        title: options.title.as_deref(),
        caption: &caption,
        dark: options.dark,
    })
}

/// Note about charts for which the picture has no room; `None` if all fit.
fn left_out(charts: &[&Chart]) -> Option<String> {
    let rest = charts.get(MAX_CHARTS..).filter(|rest| !rest.is_empty())?;
    let names = names(rest.iter().copied()).join(", ");
    Some(format!(
        "without {} that have no room: {names} (--chart draws them, .html has all)",
        counted(rest.len(), "chart")
    ))
}

/// Titles of the drawn charts, and a note about charts for which there is no room.
fn contents(reports: &[NamedReport], options: &Options) -> Result<String> {
    let all = charts(reports);
    let charts = chosen(&all, &options.charts)?;
    let drawn = &charts[..charts.len().min(MAX_CHARTS)];
    let titles: Vec<&str> = drawn.iter().map(|chart| chart.title.as_str()).collect();
    let without = left_out(&charts)
        .map(|text| format!("; {text}"))
        .unwrap_or_default();
    Ok(match titles.as_slice() {
        [] => "no point was measured: nothing to draw".to_owned(),
        titles => format!(
            "{}: {}{without}",
            counted(titles.len(), "chart"),
            titles.join("; ")
        ),
    })
}
