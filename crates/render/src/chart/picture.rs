//! Draws charts and a caption in one picture, with plotters.

use super::canvas::{self, Canvas, Picture};
use super::drawing::{Theme, cannot, letters, write};
use super::heat::Heat;
use super::map::{self, Frame};
use super::model::{Body, Chart};
use super::plot::{self, Scene};
use crate::text::{clean, shorten, wrap};
use plotters::prelude::*;
use tiny_skia::{PixmapPaint, Transform};
use units::error::Result;

/// Width and height of a chart, in pixels at scale 1.
const SIZE: (u32, u32) = (1200, 675);

/// Largest number of charts that stand in one column, and largest number that stand in two.
const MAX_IN_COLUMN: usize = 3;
const MAX_IN_TWO: usize = 8;

/// Largest number of charts in a picture.
pub(super) const MAX_CHARTS: usize = 24;

/// Largest number of charts for which a PNG is twice as wide and high in pixels as the SVG.
/// High-resolution screens show the difference.
const MAX_FINE: usize = 4;

/// Heights in pixels: of a line of the caption, and of a title above several charts.
const LINE: u32 = 17;
const TITLE: u32 = 52;

/// Longest title, in characters, that is written in large letters.
const LONGEST_LARGE: usize = 90;

/// Number of characters that fit into a line of the caption below a single chart.
const LETTERS: usize = 175;

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

/// Content of a picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Content<'c> {
    /// Charts; only the first [`MAX_CHARTS`] are drawn.
    pub(super) charts: &'c [&'c Chart],
    /// Title that the user gives. It stands above several charts, or replaces the title of a single
    /// chart.
    pub(super) title: Option<&'c str>,
    /// Lines of the caption: the origin of the numbers, and notes on points and charts that are
    /// left out.
    pub(super) caption: &'c [String],
    /// True for light colours on a dark background.
    pub(super) dark: bool,
}

/// Makes the picture as SVG without text elements. It has shapes, and embedded images for large
/// heat maps.
pub(super) fn svg(content: Content<'_>) -> Result<String> {
    let (mut picture, maps) = drawn(content)?;
    for (heat, frame) in maps {
        picture.lay_over(&map::image(heat, &frame)?);
    }
    Ok(picture.svg())
}

/// The picture as PNG.
pub(super) fn png(content: Content<'_>) -> Result<Vec<u8>> {
    let scale = if content.charts.len() > MAX_FINE {
        1
    } else {
        2
    };
    let (picture, maps) = drawn(content)?;
    let mut pixels = picture.pixels(scale)?;
    for (heat, frame) in maps {
        let across = frame.x.len() as f32 / heat.columns.len() as f32;
        let down = frame.y.len() as f32 / heat.rows.len() as f32;
        let place = Transform::from_row(
            across,
            0.0,
            0.0,
            down,
            frame.x.start as f32,
            frame.y.start as f32,
        );
        let place = place.post_concat(Transform::from_scale(scale as f32, scale as f32));
        pixels.draw_pixmap(
            0,
            0,
            map::cells(heat)?.as_ref(),
            &PixmapPaint::default(),
            place,
            None,
        );
    }
    pixels.encode_png().map_err(cannot)
}

/// Area of one chart in a picture, in pixels.
struct ChartArea {
    left: u32,
    top: u32,
    height: u32,
}

/// Areas of the parts of a picture.
struct Layout {
    width: u32,
    height: u32,
    /// Area of each chart.
    areas: Vec<ChartArea>,
    /// Lines of the caption. `below` is the distance of the first line from the top, in pixels.
    caption: Vec<String>,
    below: u32,
}

impl Layout {
    fn new(content: Content<'_>) -> Self {
        let charts = &content.charts[..content.charts.len().min(MAX_CHARTS)];
        let columns = match charts.len() {
            n if n <= MAX_IN_COLUMN => 1,
            n if n <= MAX_IN_TWO => 2,
            _ => 3,
        };
        let mut y = if charts.len() != 1 && content.title.is_some() {
            TITLE
        } else {
            0
        };
        let mut areas = Vec::new();
        for row in charts.chunks(columns) {
            let high = row
                .iter()
                .map(|chart| height(chart))
                .max()
                .unwrap_or(SIZE.1);
            areas.extend((0..row.len()).map(|column| ChartArea {
                left: SIZE.0 * column as u32,
                top: y,
                height: high,
            }));
            y += high;
        }
        if charts.is_empty() {
            y += 60;
        }
        let width = SIZE.0 * columns as u32;
        let caption: Vec<String> = content
            .caption
            .iter()
            .flat_map(|line| wrap(line, LETTERS * columns))
            .collect();
        let room = if caption.is_empty() {
            0
        } else {
            LINE * caption.len() as u32 + 16
        };
        Self {
            width,
            height: y + room,
            areas,
            caption,
            below: y,
        }
    }
}

/// Height of a chart in pixels, including a legend below it.
fn height(chart: &Chart) -> u32 {
    match &chart.body {
        Body::Lines(lines) => SIZE.1 + plot::below(lines, SIZE.0 - 32),
        Body::Heat(_) => SIZE.1,
    }
}

/// Draws everything except the cells of large heat maps. Returns these maps, with the areas for
/// their cells.
fn drawn(content: Content<'_>) -> Result<(Picture, Vec<(&Heat, Frame)>)> {
    let font = canvas::font()?;
    let theme = if content.dark { DARK } else { LIGHT };
    let layout = Layout::new(content);
    let mut picture = Picture::new(layout.width, layout.height);
    let mut maps: Vec<(&Heat, Frame)> = Vec::new();
    {
        let root = Canvas::on(&mut picture, &font)?.into_drawing_area();
        root.fill(&theme.ground).map_err(cannot)?;
        let alone = content.charts.len() == 1;
        if let Some(title) = content.title.filter(|_| !alone) {
            write(
                &root,
                &shorten(title, 120),
                (24, 16),
                &letters(30, theme.ink),
            )?;
        }
        if content.charts.is_empty() {
            let y = if content.title.is_some() {
                TITLE as i32 + 16
            } else {
                24
            };
            write(
                &root,
                "no point was measured: nothing to draw",
                (24, y),
                &letters(20, theme.ink),
            )?;
        }
        for (chart, place) in content.charts.iter().zip(&layout.areas) {
            let area = root
                .clone()
                .shrink((place.left, place.top), (SIZE.0, place.height));
            let title = content.title.filter(|_| alone);
            let heading = title.map_or_else(|| shorten(&chart.title, 90), clean);
            let size = if heading.chars().count() > LONGEST_LARGE {
                16
            } else {
                26
            };
            write(&area, &heading, (24, 16), &letters(size, theme.ink))?;
            let subtitle = match title {
                Some(_) => format!("{}; {}", chart.title, chart.subtitle),
                None => chart.subtitle.clone(),
            };
            write(
                &area,
                &shorten(subtitle.trim_end_matches("; "), 150),
                (24, 50),
                &letters(15, theme.ink),
            )?;
            let below = area.margin(76, 12, 16, 16);
            match &chart.body {
                Body::Lines(lines) => plot::draw(
                    &below,
                    chart,
                    Scene {
                        root: &root,
                        lines,
                        theme,
                    },
                )?,
                Body::Heat(heat) => maps.push((heat, map::draw(&below, chart, heat, theme)?)),
            }
        }
        for (i, line) in layout.caption.iter().enumerate() {
            let y = layout.below + LINE * i as u32 + 4;
            write(&root, line, (24, y as i32), &letters(13, theme.ink))?;
        }
        root.present().map_err(cannot)?;
    }
    let (large, small): (Vec<_>, Vec<_>) =
        maps.into_iter().partition(|(heat, _)| map::is_large(heat));
    for (heat, frame) in small {
        map::squares(&mut picture, &font, heat, &frame)?;
    }
    Ok((picture, large))
}
