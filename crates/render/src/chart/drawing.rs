//! Helpers that draw maps and plots with plotters.

use super::canvas::Canvas;
use super::scale::Scale;
use crate::text::shorten;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use std::fmt::Display;
use units::error::{Error, Result};

/// Name of the font, which plotters requires. The canvas ignores the name, because it has only one
/// font.
pub(super) const FONT: &str = "sans-serif";

/// Colours of background, text and lines of a picture.
#[derive(Clone, Copy)]
pub(super) struct Theme {
    pub(super) ground: RGBColor,
    pub(super) ink: RGBColor,
    pub(super) faint: RGBColor,
    pub(super) shade: RGBColor,
}

/// A part of the picture.
pub(super) type Area<'a> = DrawingArea<Canvas<'a>, Shift>;

/// A [`Scale`] that plotters can use as an axis.
pub(super) struct ScaleAxis(pub(super) Scale);

impl Ranged for ScaleAxis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        limit.0 + (f64::from(limit.1 - limit.0) * self.0.share(*value)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.0.ticks.iter().map(|(value, _)| *value).collect()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.0.low..self.0.high
    }
}

impl ValueFormatter<f64> for ScaleAxis {
    fn format_ext(&self, value: &f64) -> String {
        self.0
            .ticks
            .iter()
            .find(|(at, _)| at == value)
            .map(|(_, label)| shorten(label, 28))
            .unwrap_or_default()
    }
}

/// Makes the error for a failure of a drawing library.
pub(super) fn cannot(error: impl Display) -> Error {
    Error::failure(format!("cannot draw the chart: {error}"))
}

/// Text style with this size and colour.
pub(super) fn letters(size: i32, color: RGBColor) -> TextStyle<'static> {
    (FONT, size).into_font().color(&color)
}

/// Writes `text` with its upper left corner at `at`.
pub(super) fn write(
    area: &Area<'_>,
    text: &str,
    at: (i32, i32),
    style: &TextStyle<'_>,
) -> Result<()> {
    area.draw(&Text::new(text.to_owned(), at, style.clone()))
        .map_err(cannot)
}
