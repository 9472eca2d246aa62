//! A chart as a picture, drawn by plotters.

use super::canvas::{self, Canvas, Look, Picture};
use super::scale::Scale;
use super::{Body, Chart, Heat, Lines, Series, Spot};
use crate::error::{Error, Result};
use crate::render::text::shorten;
use crate::results::VerdictGrade;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::colors::colormaps::{ColorMap, ViridisRGB};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters_backend::BackendColor;
use std::fmt::Display;
use tiny_skia::{Pixmap, PixmapPaint, Transform};

/// Width and height in pixels at scale 1.
pub(super) const SIZE: (u32, u32) = (1200, 675);

/// Pixels of a PNG for one of the SVG, for screens that show it so.
const SCALE: u32 = 2;

/// Width of the column in which series are named.
const LEGEND: u32 = 300;

/// More series are not named.
const MOST_NAMED: usize = 26;

/// Places on an axis of names are so many at most that are written; others are left out evenly.
const MOST_PLACES: usize = 80;

/// Names on an axis of a heat map are so many at most; others are left out evenly.
const MOST_NAMES: usize = 24;

/// Up to so many cells of a heat map have their value written into them.
const MOST_FIGURES: usize = 144;

/// Size of the letters in them, in pixels.
const CELL_LETTERS: f32 = 15.0;

/// What plotters is told: the canvas has one font only.
const FONT: &str = "sans-serif";

/// Colours that people with any kind of colour vision tell apart (Okabe and Ito, "Color universal design", 2008),
/// without the yellow that is too pale on white.
const PALETTE: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(127, 127, 127),
    RGBColor(148, 103, 189),
];

/// Ground, letters and lines of a picture.
#[derive(Clone, Copy)]
struct Theme {
    ground: RGBColor,
    ink: RGBColor,
    faint: RGBColor,
    shade: RGBColor,
}

const LIGHT: Theme = Theme {
    ground: RGBColor(255, 255, 255),
    ink: RGBColor(30, 30, 30),
    faint: RGBColor(215, 215, 215),
    shade: RGBColor(243, 243, 243),
};

const DARK: Theme = Theme {
    ground: RGBColor(22, 24, 28),
    ink: RGBColor(228, 228, 228),
    faint: RGBColor(70, 74, 80),
    shade: RGBColor(32, 35, 40),
};

/// A part of the picture.
type Area<'a> = DrawingArea<Canvas<'a>, plotters::coord::Shift>;
/// A plot in it.
type Plot<'a, 'b> = ChartContext<'b, Canvas<'a>, Cartesian2d<Drawn, Drawn>>;

/// A [`Scale`] as plotters asks for it.
struct Drawn(Scale);

impl Ranged for Drawn {
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

impl ValueFormatter<f64> for Drawn {
    fn format_ext(&self, value: &f64) -> String {
        self.0.ticks.iter().find(|(at, _)| at == value).map(|(_, label)| shorten(label, 28)).unwrap_or_default()
    }
}

/// The chart as SVG without any text left in it: only shapes, and for large heat maps one embedded image.
pub(super) fn svg(chart: Option<&Chart>, dark: bool) -> Result<String> {
    let (mut picture, frame) = drawn(chart, dark)?;
    if let (Some(Body::Heat(heat)), Some(frame)) = (chart.map(|c| &c.body), frame) {
        picture.lay_over(&image(heat, &frame)?);
    }
    Ok(picture.svg())
}

/// The chart as PNG, twice the size of the SVG for screens that show it so.
pub(super) fn png(chart: Option<&Chart>, dark: bool) -> Result<Vec<u8>> {
    let (picture, frame) = drawn(chart, dark)?;
    let mut pixels = picture.pixels(SCALE)?;
    if let (Some(Body::Heat(heat)), Some(frame)) = (chart.map(|c| &c.body), frame) {
        let (across, down) =
            (frame.0.len() as f32 / heat.columns.len() as f32, frame.1.len() as f32 / heat.rows.len() as f32);
        let place = Transform::from_row(across, 0.0, 0.0, down, frame.0.start as f32, frame.1.start as f32);
        let scale = Transform::from_scale(SCALE as f32, SCALE as f32);
        let paint = PixmapPaint::default();
        pixels.draw_pixmap(0, 0, cells(heat)?.as_ref(), &paint, place.post_concat(scale), None);
    }
    pixels.encode_png().map_err(cannot)
}

/// The error for what a library refuses.
fn cannot(error: impl Display) -> Error {
    Error::failure(format!("cannot draw the chart: {error}"))
}

/// Paints the cells of a small heat map; those of a large one are an image.
fn paint(picture: &mut Picture, heat: &Heat, frame: &Frame) {
    let (wide, high) =
        (frame.0.len() as f32 / heat.columns.len() as f32, frame.1.len() as f32 / heat.rows.len() as f32);
    for (row, cells) in heat.cells.iter().enumerate() {
        for (column, spot) in cells.iter().enumerate().filter_map(|(c, cell)| Some((c, cell.as_ref()?))) {
            let RGBColor(r, g, b) = shade_of(heat.share(spot.y));
            let (x, y) = (frame.0.start as f32 + column as f32 * wide, frame.1.start as f32 + row as f32 * high);
            if let Some(cell) = tiny_skia::Rect::from_xywh(x, y, wide, high) {
                picture.rectangle(cell, (r, g, b));
            }
        }
    }
}

/// The picture as plotters draws it; for a large heat map also where its cells lie, which are not in it yet.
fn drawn(chart: Option<&Chart>, dark: bool) -> Result<(Picture, Option<Frame>)> {
    let font = canvas::font()?;
    let theme = if dark { DARK } else { LIGHT };
    let mut picture = Picture::new(SIZE);
    let mut cells = None;
    {
        let root = Canvas::on(&mut picture, &font)?.into_drawing_area();
        root.fill(&theme.ground).map_err(cannot)?;
        match chart {
            None => write(&root, "no point was measured: nothing to draw", (24, 24), &letters(20, theme.ink))?,
            Some(chart) => {
                write(&root, &shorten(&chart.title, 90), (24, 16), &letters(26, theme.ink))?;
                write(&root, &shorten(&chart.subtitle, 130), (24, 50), &letters(15, theme.ink))?;
                let below = root.margin(76, 12, 16, 16);
                match &chart.body {
                    Body::Lines(lines) => draw_lines(&root, &below, (chart, lines), theme)?,
                    Body::Heat(heat) => cells = Some((heat, draw_heat(&below, chart, heat, theme)?)),
                }
            }
        }
        root.present().map_err(cannot)?;
    }
    let Some((heat, frame)) = cells else { return Ok((picture, None)) };
    if heat.rows.len() * heat.columns.len() > MOST_FIGURES {
        return Ok((picture, Some(frame)));
    }
    squares(&mut picture, &font, heat, &frame)?;
    Ok((picture, None))
}

/// Letters of a size and colour.
fn letters(size: i32, color: RGBColor) -> TextStyle<'static> {
    (FONT, size).into_font().color(&color)
}

/// Writes `text` with its upper left corner at `at`.
fn write(area: &Area<'_>, text: &str, at: (i32, i32), style: &TextStyle<'_>) -> Result<()> {
    area.draw(&Text::new(text.to_owned(), at, style.clone())).map_err(cannot)
}

/// Series, their names on the right.
fn draw_lines(root: &Area<'_>, area: &Area<'_>, (chart, lines): (&Chart, &Lines), theme: Theme) -> Result<()> {
    let named = lines.series.iter().any(|s| !s.name.is_empty());
    let width = i32::try_from(area.dim_in_pixel().0).unwrap_or(i32::MAX);
    let (left, right) = area.split_horizontally(if named { width - LEGEND as i32 } else { width - 8 });
    let mut x = lines.x.clone();
    if lines.names {
        x.ticks = x.ticks.into_iter().step_by(lines.x.ticks.len().div_ceil(MOST_PLACES).max(1)).collect();
    }
    let longest = x.ticks.iter().map(|(_, label)| label.chars().count().min(28)).max().unwrap_or(0);
    // Names that would run into each other are turned.
    let turned = lines.names && longest * x.ticks.len() > 100;
    let bottom = if turned { 30 + 8 * longest as u32 } else { 50 };
    let mut plot = ChartBuilder::on(&left)
        .x_label_area_size(bottom)
        .y_label_area_size(84)
        .margin_right(16)
        .margin_top(20)
        .build_cartesian_2d(Drawn(x.clone()), Drawn(lines.y.clone()))
        .map_err(cannot)?;
    shade(&mut plot, lines, theme)?;
    let turn = if turned { FontTransform::Rotate90 } else { FontTransform::None };
    let style = (FONT, if turned { 12 } else { 15 }).into_font().transform(turn).color(&theme.ink);
    let style = if turned { style.pos(Pos::new(HPos::Left, VPos::Center)) } else { style };
    plot.configure_mesh()
        .x_desc(lines.x.title.clone())
        .y_desc(chart.values.clone())
        .bold_line_style(theme.faint)
        .light_line_style(TRANSPARENT)
        .axis_style(theme.ink)
        .axis_desc_style(letters(17, theme.ink))
        .x_label_style(style)
        .y_label_style(letters(15, theme.ink))
        .x_labels(x.ticks.len().max(2))
        .draw()
        .map_err(cannot)?;
    for series in &lines.series {
        draw_series(root, &mut plot, (lines, series), theme)?;
    }
    circle_notes(root, &plot, lines, theme)?;
    if named { name_series(&right, lines, theme) } else { Ok(()) }
}

/// The named parts of the axis: every second one darker, the name at the top.
fn shade(plot: &mut Plot<'_, '_>, lines: &Lines, theme: Theme) -> Result<()> {
    for (i, mark) in lines.marks.iter().enumerate() {
        let (from, to) = (mark.from.max(lines.x.low), mark.to.min(lines.x.high));
        if i % 2 == 0 {
            let ground = Rectangle::new([(from, lines.y.low), (to, lines.y.high)], theme.shade.filled());
            plot.draw_series([ground]).map_err(cannot)?;
        }
        let style = letters(14, theme.ink).pos(Pos::new(HPos::Center, VPos::Bottom));
        let middle = if lines.x.log { (from * to).sqrt() } else { (from + to) / 2.0 };
        plot.draw_series([Text::new(mark.name.clone(), (middle, lines.y.high), style)]).map_err(cannot)?;
    }
    Ok(())
}

/// The places that are worth a name, each in a circle.
fn circle_notes(root: &Area<'_>, plot: &Plot<'_, '_>, lines: &Lines, theme: Theme) -> Result<()> {
    for note in &lines.notes {
        let (x, y) = plot.backend_coord(&(note.x, note.y));
        root.draw(&Circle::new((x, y), 9, theme.ink.stroke_width(2))).map_err(cannot)?;
        let right = lines.x.share(note.x) > 0.6;
        let (side, x) = if right { (HPos::Right, x - 12) } else { (HPos::Left, x + 12) };
        let style = letters(13, theme.ink).pos(Pos::new(side, VPos::Top));
        write(root, &shorten(&note.text, 48), (x, y + 8), &style)?;
    }
    Ok(())
}

/// The colour of a series.
fn color_of(series: &Series) -> RGBColor {
    PALETTE[series.color % PALETTE.len()]
}

/// A series: its line, intervals and points.
fn draw_series(
    root: &Area<'_>,
    plot: &mut Plot<'_, '_>,
    (lines, series): (&Lines, &Series),
    theme: Theme,
) -> Result<()> {
    let color = color_of(series);
    let stroke = color.stroke_width(if series.report == 0 { 2 } else { 1 });
    let places = series.spots.iter().map(|s| (s.x, s.y));
    if !lines.names && series.shape % 4 > 0 || series.report > 0 {
        let (on, off) = [(10, 5), (3, 4), (12, 3)][(series.shape + series.report) % 3];
        let dashes = DashedLineSeries::new(places, on, off, stroke);
        if !lines.names {
            plot.draw_series(dashes).map_err(cannot)?;
        }
    } else if !lines.names {
        plot.draw_series(LineSeries::new(places, stroke)).map_err(cannot)?;
    }
    let bar = |s: &Spot| PathElement::new(vec![(s.x, s.low), (s.x, s.high)], color.stroke_width(1));
    plot.draw_series(series.spots.iter().map(bar)).map_err(cannot)?;
    let across = |s: &Spot| PathElement::new(vec![(s.x_low, s.y), (s.x_high, s.y)], color.stroke_width(1));
    plot.draw_series(series.spots.iter().filter(|s| s.x_low < s.x_high).map(across)).map_err(cannot)?;
    for spot in &series.spots {
        draw_marker(root, plot.backend_coord(&(spot.x, spot.y)), series, (spot.grade, theme))?;
    }
    Ok(())
}

/// A point at a pixel: filled where solid, hollow where doubtful, a cross where rejected; its form tells series of one
/// colour apart.
fn draw_marker(area: &Area<'_>, at: (i32, i32), series: &Series, look: (VerdictGrade, Theme)) -> Result<()> {
    let (grade, theme) = look;
    let color = color_of(series);
    let (x, y) = at;
    let inside = if grade == VerdictGrade::Doubtful { theme.ground } else { color };
    let edge = color.stroke_width(2);
    let form: Vec<(i32, i32)> = match (grade, series.shape % 4) {
        (VerdictGrade::Rejected, _) => return area.draw(&Cross::new(at, 5, edge)).map_err(cannot),
        (_, 0) => {
            area.draw(&Circle::new(at, 4, inside.filled())).map_err(cannot)?;
            return area.draw(&Circle::new(at, 4, edge)).map_err(cannot);
        }
        (_, 1) => vec![(-4, -4), (4, -4), (4, 4), (-4, 4), (-4, -4)],
        (_, 2) => vec![(0, -6), (6, 4), (-6, 4), (0, -6)],
        _ => vec![(0, -6), (6, 0), (0, 6), (-6, 0), (0, -6)],
    };
    let form: Vec<(i32, i32)> = form.into_iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
    area.draw(&Polygon::new(form.clone(), inside.filled())).map_err(cannot)?;
    area.draw(&PathElement::new(form, edge)).map_err(cannot)
}

/// The names of the series, one below the other.
fn name_series(area: &Area<'_>, lines: &Lines, theme: Theme) -> Result<()> {
    let style = letters(14, theme.ink);
    for (row, series) in lines.series.iter().take(MOST_NAMED).enumerate() {
        let y = 24 + 20 * row as i32;
        let line = PathElement::new(vec![(4, y + 8), (30, y + 8)], color_of(series).stroke_width(2));
        area.draw(&line).map_err(cannot)?;
        draw_marker(area, (17, y + 8), series, (VerdictGrade::Solid, theme))?;
        let name = if series.name.is_empty() { "all others" } else { &series.name };
        write(area, &shorten(name, 34), (38, y), &style)?;
    }
    let more = lines.series.len().saturating_sub(MOST_NAMED);
    let mut y = 30 + 20 * lines.series.len().min(MOST_NAMED) as i32;
    let mut note = |text: String| {
        y += 18;
        write(area, &text, (4, y - 18), &letters(12, theme.ink))
    };
    if more > 0 {
        note(format!("and {more} more series"))?;
    }
    if lines.left_out > 0 {
        note(format!("{} points of further series left out", lines.left_out))?;
    }
    if lines.thinned > 0 {
        note(format!("{} points between others left out", lines.thinned))?;
    }
    let grades: Vec<VerdictGrade> = lines.series.iter().flat_map(|s| &s.spots).map(|s| s.grade).collect();
    if grades.contains(&VerdictGrade::Doubtful) {
        note("hollow: doubtful".to_owned())?;
    }
    if grades.contains(&VerdictGrade::Rejected) {
        note("cross: rejected".to_owned())?;
    }
    note("bars: 95% interval of the median".to_owned())
}

/// The frame of a heat map; tells where its cells belong.
fn draw_heat(area: &Area<'_>, chart: &Chart, heat: &Heat, theme: Theme) -> Result<Frame> {
    let (width, _) = area.dim_in_pixel();
    let (left, right) = area.split_horizontally(width as i32 - 180);
    // Rows from top to bottom: the axis runs downwards.
    let axis = |title: &str, names: &[String]| {
        let step = names.len().div_ceil(MOST_NAMES).max(1);
        let mut scale = Scale::of_names(title.to_owned(), names);
        scale.ticks = scale.ticks.into_iter().step_by(step).collect();
        scale
    };
    let mut y = axis(&heat.row_title, &heat.rows);
    (y.low, y.high) = (y.high, y.low);
    let mut plot = ChartBuilder::on(&left)
        .x_label_area_size(50)
        .y_label_area_size(84)
        .build_cartesian_2d(Drawn(axis(&heat.column_title, &heat.columns)), Drawn(y))
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
    Ok((x, y))
}

/// Where the cells lie, in pixels.
type Frame = (std::ops::Range<i32>, std::ops::Range<i32>);

/// The cells, a pixel for each, which stays small for hundreds of cores.
fn cells(heat: &Heat) -> Result<Pixmap> {
    let size = |names: &[String]| u32::try_from(names.len()).unwrap_or(u32::MAX);
    let pixels = Pixmap::new(size(&heat.columns), size(&heat.rows));
    let mut pixels = pixels.ok_or_else(|| cannot("too many cells"))?;
    let cells = heat.cells.iter().flatten();
    for (pixel, cell) in pixels.pixels_mut().iter_mut().zip(cells) {
        let Some(spot) = cell else { continue };
        // In 64 steps, which no eye tells apart and packs well.
        let RGBColor(r, g, b) = shade_of((heat.share(spot.y) * 63.0).round() / 63.0);
        *pixel = tiny_skia::ColorU8::from_rgba(r, g, b, 255).premultiply();
    }
    Ok(pixels)
}

/// The cells as an image that is stretched over `frame`.
fn image(heat: &Heat, frame: &Frame) -> Result<String> {
    let data = base64(&cells(heat)?.encode_png().map_err(cannot)?);
    Ok(format!(
        r#"<image x="{}" y="{}" width="{}" height="{}" preserveAspectRatio="none" image-rendering="optimizeSpeed" href="data:image/png;base64,{data}"/>"#,
        frame.0.start,
        frame.1.start,
        frame.0.len(),
        frame.1.len(),
    ))
}

/// The cells of a small map as squares with their values.
fn squares(picture: &mut Picture, font: &[u8], heat: &Heat, frame: &Frame) -> Result<()> {
    paint(picture, heat, frame);
    let step = |range: &std::ops::Range<i32>, names: &[String]| range.len() as f32 / names.len().max(1) as f32;
    let (wide, high) = (step(&frame.0, &heat.columns), step(&frame.1, &heat.rows));
    let mut canvas = Canvas::on(picture, font)?;
    for (row, cells) in heat.cells.iter().enumerate() {
        for (column, spot) in cells.iter().enumerate().filter_map(|(c, cell)| Some((c, cell.as_ref()?))) {
            let (x, y) = ((column as f32 + 0.5) * wide, (row as f32 + 0.5) * high);
            let rgb = if heat.share(spot.y) < 0.55 { (255, 255, 255) } else { (17, 17, 17) };
            let value = crate::units::significant(spot.y);
            let mark = crate::render::figures::mark(spot.grade);
            let look = Look {
                color: BackendColor { alpha: 1.0, rgb },
                h: HPos::Center,
                v: VPos::Center,
                turn: FontTransform::None,
            };
            let at = (frame.0.start as f32 + x, frame.1.start as f32 + y);
            canvas.write(&format!("{value}{mark}"), CELL_LETTERS, at, look);
        }
    }
    Ok(())
}

/// What the colours mean.
fn legend_of_heat(area: &Area<'_>, chart: &Chart, heat: &Heat, theme: Theme) -> Result<()> {
    for step in 0..128 {
        let color = shade_of(1.0 - f64::from(step) / 127.0);
        area.draw(&Rectangle::new([(20, 30 + 2 * step), (44, 32 + 2 * step)], color.filled())).map_err(cannot)?;
    }
    let style = letters(14, theme.ink);
    write(area, &crate::units::significant(heat.high), (52, 26), &style)?;
    write(area, &crate::units::significant(heat.low), (52, 274), &style)?;
    write(area, &shorten(&chart.values, 22), (8, 300), &style)?;
    write(area, if chart.higher_is_better { "more is better" } else { "less is better" }, (8, 322), &style)
}

/// The colour at a place from 0 to 1: viridis, which is even for the eye and for all kinds of colour vision.
fn shade_of(share: f64) -> RGBColor {
    ViridisRGB.get_color_normalized(share, 0.0, 1.0)
}

/// Source: RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
