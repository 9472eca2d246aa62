//! Pictures as formats.

use super::{alone, charts, chosen, picture};
use crate::error::Result;
use crate::render::{NamedReport, Options, Renderer};
use crate::results::Report;

/// `svg`: one chart as shapes.
pub(in crate::render) struct Svg;

impl Renderer for Svg {
    fn name(&self) -> &'static str {
        "svg"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["svg"]
    }

    fn help(&self) -> &'static str {
        "one chart (--chart) as a picture that can be scaled, letters as outlines"
    }

    fn render_finite(&self, report: &Report, options: &Options) -> Result<Vec<u8>> {
        self.render_several(&[alone(report)], options)
    }

    fn render_several(&self, reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
        let charts = charts(reports);
        Ok(picture::svg(chosen(&charts, options.chart.as_deref())?, options.dark)?.into_bytes())
    }
}

/// `png`: one chart as pixels.
pub(in crate::render) struct Png;

impl Renderer for Png {
    fn name(&self) -> &'static str {
        "png"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["png"]
    }

    fn help(&self) -> &'static str {
        "one chart (--chart) as a picture of 2400 x 1350 pixels"
    }

    fn is_text(&self) -> bool {
        false
    }

    fn render_finite(&self, report: &Report, options: &Options) -> Result<Vec<u8>> {
        self.render_several(&[alone(report)], options)
    }

    fn render_several(&self, reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
        let charts = charts(reports);
        picture::png(chosen(&charts, options.chart.as_deref())?, options.dark)
    }
}
