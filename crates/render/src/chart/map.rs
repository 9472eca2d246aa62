//! Draws a heat map in its part of a picture.

use super::canvas::{Canvas, Picture, TextStyle};
use super::drawing::{Area, ScaleAxis, Theme, cannot, letters, write};
use super::heat::Heat;
use super::model::Chart;
use super::scale::Scale;
use crate::text::shorten;
use plotters::prelude::*;
use plotters::style::colors::colormaps::{ColorMap, ViridisRGB};
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, FontTransform};
use std::ops::Range;
use tiny_skia::Pixmap;
use units::error::Result;

/// Largest number of names on an axis of a heat map. If there are more, every nth name is written.
const MAX_NAMES: usize = 24;

/// Largest number of cells for which a map has its values written in the cells.
const MAX_FIGURES: usize = 144;

/// Size of the letters in cells, in pixels.
const CELL_LETTERS: f32 = 15.0;

/// Number of colours of a large map. The eye does not distinguish more colours, and an image of few
/// colours compresses well.
const STEPS: usize = 64;

/// Area of the cells, in pixels.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// Columns of pixels, left to right.
    pub(super) x: Range<i32>,
    /// Rows of pixels, top to bottom.
    pub(super) y: Range<i32>,
}

/// True if the map has too many cells for values in them. Its cells then become an image.
pub(super) fn is_large(heat: &Heat) -> bool {
    heat.rows.len() * heat.columns.len() > MAX_FIGURES
}

/// Draws the axes and the legend of a heat map; returns the area of its cells.
pub(super) fn draw(area: &Area<'_>, chart: &Chart, heat: &Heat, theme: Theme) -> Result<Frame> {
    let (width, _) = area.dim_in_pixel();
    let (left, right) = area.split_horizontally(width as i32 - 180);
    // The vertical axis runs downwards, so that rows go from top to bottom.
    let axis = |title: &str, names: &[String]| {
        let step = names.len().div_ceil(MAX_NAMES).max(1);
        let mut scale = Scale::of_names(title.to_owned(), names);
        scale.ticks = scale.ticks.into_iter().step_by(step).collect();
        scale
    };
    let mut y = axis(&heat.row_title, &heat.rows);
    (y.low, y.high) = (y.high, y.low);
    let mut plot = ChartBuilder::on(&left)
        .x_label_area_size(50)
        .y_label_area_size(84)
        .build_cartesian_2d(
            ScaleAxis(axis(&heat.column_title, &heat.columns)),
            ScaleAxis(y),
        )
        .map_err(cannot)?;
    plot.configure_mesh()
        .disable_mesh()
        .x_desc(heat.column_title.clone())
        .y_desc(heat.row_title.clone())
        .axis_style(theme.ink)
        .axis_desc_style(letters(17, theme.ink))
        .label_style(letters(14, theme.ink))
        .draw()
        .map_err(cannot)?;
    let (x, y) = plot.plotting_area().get_pixel_range();
    legend_of_heat(&right, chart, heat, theme)?;
    Ok(Frame { x, y })
}

/// Draws the cells as an image with one pixel for each cell. The image stays small even for
/// hundreds of cores.
pub(super) fn cells(heat: &Heat) -> Result<Pixmap> {
    let size = |names: &[String]| u32::try_from(names.len()).unwrap_or(u32::MAX);
    let pixels = Pixmap::new(size(&heat.columns), size(&heat.rows));
    let mut pixels = pixels.ok_or_else(|| cannot("too many cells"))?;
    let cells = heat.cells.iter().flatten();
    for (pixel, cell) in pixels.pixels_mut().iter_mut().zip(cells) {
        let Some(spot) = cell else { continue };
        let RGBColor(r, g, b) =
            shade_of((heat.share(spot.y) * (STEPS - 1) as f64).round() / (STEPS - 1) as f64);
        *pixel = tiny_skia::ColorU8::from_rgba(r, g, b, 255).premultiply();
    }
    Ok(pixels)
}

/// Makes the SVG element that stretches the image of the cells over `frame`.
pub(super) fn image(heat: &Heat, frame: &Frame) -> Result<String> {
    let data = base64(&cells(heat)?.encode_png().map_err(cannot)?);
    Ok(format!(
        "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
         image-rendering=\"optimizeSpeed\" href=\"data:image/png;base64,{data}\"/>",
        frame.x.start,
        frame.y.start,
        frame.x.len(),
        frame.y.len(),
    ))
}

/// Draws the cells of a small map as squares with their values.
pub(super) fn squares(
    picture: &mut Picture,
    font: &[u8],
    heat: &Heat,
    frame: &Frame,
) -> Result<()> {
    paint(picture, heat, frame);
    let step =
        |range: &Range<i32>, names: &[String]| range.len() as f32 / names.len().max(1) as f32;
    let wide = step(&frame.x, &heat.columns);
    let high = step(&frame.y, &heat.rows);
    let mut canvas = Canvas::on(picture, font)?;
    for (row, cells) in heat.cells.iter().enumerate() {
        for (column, spot) in cells
            .iter()
            .enumerate()
            .filter_map(|(c, cell)| Some((c, cell.as_ref()?)))
        {
            let x = (column as f32 + 0.5) * wide;
            let y = (row as f32 + 0.5) * high;
            let rgb = if heat.share(spot.y) < 0.55 {
                (255, 255, 255)
            } else {
                (17, 17, 17)
            };
            let value = units::significant(spot.y);
            let mark = crate::figures::mark(spot.grade);
            let look = TextStyle {
                color: BackendColor { alpha: 1.0, rgb },
                h: HPos::Center,
                v: VPos::Center,
                turn: FontTransform::None,
            };
            let at = tiny_skia::Point::from_xy(frame.x.start as f32 + x, frame.y.start as f32 + y);
            canvas.write(&format!("{value}{mark}"), CELL_LETTERS, at, look);
        }
    }
    Ok(())
}

/// Fills the squares of a small map with their colours.
fn paint(picture: &mut Picture, heat: &Heat, frame: &Frame) {
    let wide = frame.x.len() as f32 / heat.columns.len() as f32;
    let high = frame.y.len() as f32 / heat.rows.len() as f32;
    for (row, cells) in heat.cells.iter().enumerate() {
        for (column, spot) in cells
            .iter()
            .enumerate()
            .filter_map(|(c, cell)| Some((c, cell.as_ref()?)))
        {
            let color = shade_of(heat.share(spot.y)).to_backend_color();
            let x = frame.x.start as f32 + column as f32 * wide;
            let y = frame.y.start as f32 + row as f32 * high;
            if let Some(cell) = tiny_skia::Rect::from_xywh(x, y, wide, high) {
                picture.rectangle(cell, color);
            }
        }
    }
}

/// Draws the scale of colours with its lowest and highest value.
fn legend_of_heat(area: &Area<'_>, chart: &Chart, heat: &Heat, theme: Theme) -> Result<()> {
    for step in 0..128 {
        let color = shade_of(1.0 - f64::from(step) / 127.0);
        area.draw(&Rectangle::new(
            [(20, 30 + 2 * step), (44, 32 + 2 * step)],
            color.filled(),
        ))
        .map_err(cannot)?;
    }
    let style = letters(14, theme.ink);
    write(area, &units::significant(heat.high), (52, 26), &style)?;
    write(area, &units::significant(heat.low), (52, 274), &style)?;
    write(area, &shorten(&chart.values, 22), (8, 300), &style)?;
    write(
        area,
        if chart.higher_is_better {
            "more is better"
        } else {
            "less is better"
        },
        (8, 322),
        &style,
    )
}

/// Colour at a position from 0 to 1. The colours are those of viridis, which is perceptually
/// uniform for all kinds of colour vision.
fn shade_of(share: f64) -> RGBColor {
    ViridisRGB.get_color_normalized(share, 0.0, 1.0)
}

/// Colours of a large map, from the lowest value to the highest.
pub(crate) fn steps() -> Vec<(u8, u8, u8)> {
    let rgb = |RGBColor(r, g, b)| (r, g, b);
    (0..STEPS)
        .map(|step| rgb(shade_of(step as f64 / (STEPS - 1) as f64)))
        .collect()
}

/// Base64 of `bytes`. Source: RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
