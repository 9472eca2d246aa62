//! Draws series over an axis in their part of a picture.

use super::drawing::{Area, FONT, ScaleAxis, Theme, cannot, letters, write};
use super::looks::{COLORS, DASHES, MARKS, RADIUS};
use super::model::Chart;
use super::series::{Lines, Series};
use super::spot::ChartPoint;
use crate::text::shorten;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use report::VerdictGrade;
use units::error::Result;

/// Largest number of series for which the legend is on the right of the plot. A larger legend
/// stands below the plot.
const MAX_ON_THE_RIGHT: usize = 24;

/// Height of a name in the legend, in pixels.
const ROW: u32 = 20;

/// Height that the legend reserves for explanations of marks, in pixels.
const REMARKS: u32 = 110;

/// Largest number of names on an axis. If there are more, every nth name is written.
const MAX_PLACES: usize = 80;

/// Longest name of a series, in characters.
const LONGEST_NAME: usize = 60;

/// A plot of the crate plotters in a part of the picture.
type Plot<'a, 'b> = ChartContext<'b, super::canvas::Canvas<'a>, Cartesian2d<ScaleAxis, ScaleAxis>>;

/// Content, area and look of a plot.
#[derive(Clone, Copy)]
pub(super) struct Scene<'s, 'a> {
    /// Area of the whole picture.
    pub(super) root: &'s Area<'a>,
    /// Series of the plot.
    pub(super) lines: &'s Lines,
    /// Colours of background, text and lines.
    pub(super) theme: Theme,
}

/// Layout of the legend, which has the names of the series.
struct Legend {
    /// Width of a column in pixels: a name and a piece of its line.
    width: u32,
    /// Number of names in a column.
    rows: usize,
    /// True if the legend lies below the plot.
    below: bool,
}

impl Legend {
    /// Layout of the legend for an area of `width` pixels; `None` if no series has a name.
    fn new(lines: &Lines, width: u32) -> Option<Self> {
        let longest = lines
            .series
            .iter()
            .map(|s| s.name.chars().count().min(LONGEST_NAME))
            .max()?;
        let named = lines.series.iter().any(|s| !s.name.is_empty());
        let column = (8 * longest as u32 + 70).clamp(170, 480);
        let below = lines.series.len() > MAX_ON_THE_RIGHT;
        let columns = if below {
            (width / column).max(1) as usize
        } else {
            1
        };
        named.then(|| Self {
            width: column,
            rows: lines.series.len().div_ceil(columns),
            below,
        })
    }
}

/// Height of the legend below the plot, in pixels; 0 if there is none, or if it is on the right.
pub(super) fn below(lines: &Lines, width: u32) -> u32 {
    Legend::new(lines, width)
        .filter(|legend| legend.below)
        .map_or(0, |legend| ROW * legend.rows as u32 + REMARKS)
}

/// Draws the series and their legend.
pub(super) fn draw(area: &Area<'_>, chart: &Chart, scene: Scene<'_, '_>) -> Result<()> {
    let Scene { lines, theme, .. } = scene;
    let (width, height) = area.dim_in_pixel();
    let legend = Legend::new(lines, width);
    let (left, names) = match &legend {
        None => area.split_horizontally(width.saturating_sub(8)),
        Some(legend) if legend.below => {
            area.split_vertically(height.saturating_sub(below(lines, width)))
        }
        Some(legend) => area.split_horizontally(width.saturating_sub(legend.width)),
    };
    let mut x = lines.x.clone();
    if lines.names {
        x.ticks = x
            .ticks
            .into_iter()
            .step_by(lines.x.ticks.len().div_ceil(MAX_PLACES).max(1))
            .collect();
    }
    let longest = x
        .ticks
        .iter()
        .map(|(_, label)| label.chars().count().min(28))
        .max()
        .unwrap_or(0);
    // Long names are rotated, because horizontal names would overlap.
    let turned = lines.names && longest * x.ticks.len() > 100;
    let bottom = if turned { 30 + 8 * longest as u32 } else { 50 };
    let mut plot = ChartBuilder::on(&left)
        .x_label_area_size(bottom)
        .y_label_area_size(84)
        .margin_right(16)
        .margin_top(20)
        .build_cartesian_2d(ScaleAxis(x.clone()), ScaleAxis(lines.y.clone()))
        .map_err(cannot)?;
    shade(&mut plot, lines, theme)?;
    let turn = if turned {
        FontTransform::Rotate90
    } else {
        FontTransform::None
    };
    let style = (FONT, if turned { 12 } else { 15 })
        .into_font()
        .transform(turn)
        .color(&theme.ink);
    let style = if turned {
        style.pos(Pos::new(HPos::Left, VPos::Center))
    } else {
        style
    };
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
        draw_series(&mut plot, series, scene)?;
    }
    circle_notes(&plot, scene)?;
    legend.map_or(Ok(()), |legend| name_series(&names, &legend, scene))
}

/// Shades every second named part of the axis, and writes the name of each part at the top.
fn shade(plot: &mut Plot<'_, '_>, lines: &Lines, theme: Theme) -> Result<()> {
    for (i, mark) in lines.marks.iter().enumerate() {
        let from = mark.from.max(lines.x.low);
        let to = mark.to.min(lines.x.high);
        if i % 2 == 0 {
            let ground = Rectangle::new(
                [(from, lines.y.low), (to, lines.y.high)],
                theme.shade.filled(),
            );
            plot.draw_series([ground]).map_err(cannot)?;
        }
        let style = letters(14, theme.ink).pos(Pos::new(HPos::Center, VPos::Bottom));
        let middle = if lines.x.log {
            (from * to).sqrt()
        } else {
            (from + to) / 2.0
        };
        plot.draw_series([Text::new(mark.name.clone(), (middle, lines.y.high), style)])
            .map_err(cannot)?;
    }
    Ok(())
}

/// Draws a circle and a text for each note.
fn circle_notes(plot: &Plot<'_, '_>, scene: Scene<'_, '_>) -> Result<()> {
    let Scene { root, lines, theme } = scene;
    for note in &lines.notes {
        let (x, y) = plot.backend_coord(&(note.x, note.y));
        root.draw(&Circle::new((x, y), 9, theme.ink.stroke_width(2)))
            .map_err(cannot)?;
        let right = lines.x.share(note.x) > 0.6;
        let (side, x) = if right {
            (HPos::Right, x - 12)
        } else {
            (HPos::Left, x + 12)
        };
        let style = letters(13, theme.ink).pos(Pos::new(side, VPos::Top));
        write(root, &shorten(&note.text, 48), (x, y + 8), &style)?;
    }
    Ok(())
}

/// The colour of a series.
fn color_of(series: &Series) -> RGBColor {
    let (r, g, b) = COLORS[series.look.color % COLORS.len()];
    RGBColor(r, g, b)
}

/// Draws a series: its line, intervals and points.
fn draw_series(plot: &mut Plot<'_, '_>, series: &Series, scene: Scene<'_, '_>) -> Result<()> {
    let color = color_of(series);
    if !scene.lines.names {
        let places: Vec<(i32, i32)> = series
            .spots
            .iter()
            .map(|s| plot.backend_coord(&(s.x, s.y)))
            .collect();
        draw_line(scene.root, &places, series)?;
    }
    let bar =
        |s: &ChartPoint| PathElement::new(vec![(s.x, s.low), (s.x, s.high)], color.stroke_width(1));
    plot.draw_series(series.spots.iter().map(bar))
        .map_err(cannot)?;
    let across = |s: &ChartPoint| {
        PathElement::new(vec![(s.x_low, s.y), (s.x_high, s.y)], color.stroke_width(1))
    };
    plot.draw_series(
        series
            .spots
            .iter()
            .filter(|s| s.x_low < s.x_high)
            .map(across),
    )
    .map_err(cannot)?;
    for spot in &series.spots {
        draw_mark(
            scene.root,
            plot.backend_coord(&(spot.x, spot.y)),
            series,
            spot.grade,
            scene.theme,
        )?;
    }
    Ok(())
}

/// Draws the line of a series through the pixels `places`.
fn draw_line(area: &Area<'_>, places: &[(i32, i32)], series: &Series) -> Result<()> {
    let stroke = color_of(series).stroke_width(2);
    for part in dashed(places, DASHES[series.look.dash % DASHES.len()]) {
        area.draw(&PathElement::new(part, stroke)).map_err(cannot)?;
    }
    Ok(())
}

/// Splits a line into strokes. `lengths` are the lengths of strokes and gaps, alternating. If
/// `lengths` is empty, the whole line is one stroke.
fn dashed(places: &[(i32, i32)], lengths: &[u32]) -> Vec<Vec<(i32, i32)>> {
    if lengths.is_empty() {
        return vec![places.to_vec()];
    }
    let mut strokes = Vec::new();
    let mut stroke: Vec<(i32, i32)> = places.first().copied().into_iter().collect();
    let mut turn = 0;
    let mut left = f64::from(lengths[0]);
    for pair in places.windows(2) {
        let wide = f64::from(pair[1].0 - pair[0].0);
        let high = f64::from(pair[1].1 - pair[0].1);
        let length = wide.hypot(high);
        let mut done = 0.0;
        while length - done > left {
            done += left;
            let place = (
                pair[0].0 + (wide * done / length).round() as i32,
                pair[0].1 + (high * done / length).round() as i32,
            );
            if turn % 2 == 0 {
                stroke.push(place);
                strokes.push(std::mem::take(&mut stroke));
            } else {
                stroke = vec![place];
            }
            turn += 1;
            left = f64::from(lengths[turn % lengths.len()].max(1));
        }
        left -= length - done;
        if turn % 2 == 0 {
            stroke.push(pair[1]);
        }
    }
    strokes.push(stroke);
    strokes.retain(|stroke| stroke.len() > 1);
    strokes
}

/// Draws the mark of a point. The mark is filled if the grade is solid, hollow if doubtful, and a
/// cross if rejected.
fn draw_mark(
    area: &Area<'_>,
    at: (i32, i32),
    series: &Series,
    grade: VerdictGrade,
    theme: Theme,
) -> Result<()> {
    let color = color_of(series);
    let inside = if grade == VerdictGrade::Doubtful {
        theme.ground
    } else {
        color
    };
    let edge = color.stroke_width(2);
    if grade == VerdictGrade::Rejected {
        return area.draw(&Cross::new(at, 5, edge)).map_err(cannot);
    }
    let form = MARKS[series.look.mark % MARKS.len()];
    let Some(first) = form.first() else {
        area.draw(&Circle::new(at, RADIUS, inside.filled()))
            .map_err(cannot)?;
        return area.draw(&Circle::new(at, RADIUS, edge)).map_err(cannot);
    };
    let corners: Vec<(i32, i32)> = form
        .iter()
        .chain([first])
        .map(|(dx, dy)| (at.0 + dx, at.1 + dy))
        .collect();
    area.draw(&Polygon::new(corners.clone(), inside.filled()))
        .map_err(cannot)?;
    area.draw(&PathElement::new(corners, edge)).map_err(cannot)
}

/// Draws the names of the series, each with its line and mark.
fn name_series(area: &Area<'_>, legend: &Legend, scene: Scene<'_, '_>) -> Result<()> {
    let Scene { lines, theme, .. } = scene;
    let style = letters(14, theme.ink);
    for (i, series) in lines.series.iter().enumerate() {
        let x = 4 + (legend.width as usize * (i / legend.rows.max(1))) as i32;
        let y = 24 + ROW as i32 * (i % legend.rows.max(1)) as i32;
        if !lines.names {
            draw_line(area, &[(x, y + 8), (x + 48, y + 8)], series)?;
        }
        draw_mark(area, (x + 24, y + 8), series, VerdictGrade::Solid, theme)?;
        let name = if series.name.is_empty() {
            "all others"
        } else {
            &series.name
        };
        write(area, &shorten(name, LONGEST_NAME), (x + 58, y), &style)?;
    }
    let mut y = 30 + ROW as i32 * legend.rows as i32;
    let mut note = |text: String| {
        y += 18;
        write(area, &text, (4, y - 18), &letters(12, theme.ink))
    };
    let grades: Vec<VerdictGrade> = lines
        .series
        .iter()
        .flat_map(|s| &s.spots)
        .map(|s| s.grade)
        .collect();
    if grades.contains(&VerdictGrade::Doubtful) {
        note("hollow: doubtful".to_owned())?;
    }
    if grades.contains(&VerdictGrade::Rejected) {
        note("cross: rejected".to_owned())?;
    }
    note("bars: 95% interval of the median".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_go_round_corners() {
        let line = [(0, 0), (10, 0), (10, 10)];
        assert_eq!(dashed(&line, &[]), [line.to_vec()]);
        assert_eq!(
            dashed(&line, &[6, 2]),
            [
                vec![(0, 0), (6, 0)],
                vec![(8, 0), (10, 0), (10, 4)],
                vec![(10, 6), (10, 10)]
            ]
        );
        assert!(dashed(&[(3, 3)], &[6, 2]).is_empty() && dashed(&[], &[6, 2]).is_empty());
    }
}
