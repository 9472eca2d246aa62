//! Charts made of characters: braille dots for series, shades for heat maps.

use super::heat::Heat;
use super::model::{Body, Chart};
use super::series::Lines;
use crate::text::shorten;
use units::{fixed, significant};

/// Height of the drawing without its axes, in lines of text.
const HEIGHT: usize = 18;

/// Colours of series as terminal codes: blue, yellow, green, magenta, cyan, red.
const COLORS: [u8; 6] = [34, 33, 32, 35, 36, 31];

/// Marks of series. Each series has its mark next to its name and at its points.
const MARKS: &str =
    "ox+*#@%=abcdefghijklmnpqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789αβγδεζηθικλμνξοπρστυφχψω";

/// Mark of all further series, if there are more series than [`MARKS`].
const OTHERS: char = '·';

/// Largest number of notes listed below a chart.
const MAX_NOTES: usize = 24;

/// Draws the chart in lines of at most `width` characters, each with its newline. With `color`,
/// series have colours of the terminal.
pub(crate) fn draw(chart: &Chart, width: u16, color: bool) -> String {
    let width = usize::from(width.max(40));
    let mut lines = vec![shorten(&chart.title, width)];
    if !chart.subtitle.is_empty() {
        lines.push(shorten(&chart.subtitle, width));
    }
    lines.push(shorten(&chart.values, width));
    match &chart.body {
        Body::Lines(body) => lines.extend(series(body, width, color)),
        Body::Heat(body) => lines.extend(heat(body, width)),
    }
    lines.extend(
        chart
            .undrawn()
            .map(|text| shorten(&format!("  {text}"), width)),
    );
    lines
        .iter()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

/// A character of the drawing and its colour.
type Cell = (char, Option<u8>);

/// A drawing made of cells. Braille dots are stored separately until a row is converted to text.
struct Canvas {
    cells: Vec<Vec<Cell>>,
    dots: Vec<Vec<u8>>,
    columns: usize,
}

impl Canvas {
    fn new(columns: usize) -> Self {
        Self {
            cells: vec![vec![(' ', None); columns]; HEIGHT],
            dots: vec![vec![0; columns]; HEIGHT],
            columns,
        }
    }

    /// Sets a braille dot. `x` and `y` are shares of width and height, from 0 to 1.
    fn dot(&mut self, x: f64, y: f64, color: Option<u8>) {
        if !(0.0..=1.0).contains(&x) || !(0.0..=1.0).contains(&y) {
            return;
        }
        let column = (x * (2 * self.columns - 1) as f64).round() as usize;
        let row = ((1.0 - y) * (4 * HEIGHT - 1) as f64).round() as usize;
        // Each dot of a braille character has a bit. Source: Unicode, chapter 21.
        let bit = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]][row % 4][column % 2];
        self.dots[row / 4][column / 2] |= bit;
        self.cells[row / 4][column / 2].1 = color;
    }

    /// Puts a character into a cell. `x` and `y` are shares of width and height, from 0 to 1.
    fn mark(&mut self, x: f64, y: f64, mark: char, color: Option<u8>) {
        if !(0.0..=1.0).contains(&x) || !(0.0..=1.0).contains(&y) {
            return;
        }
        let column = (x * (self.columns - 1) as f64).round() as usize;
        let row = ((1.0 - y) * (HEIGHT - 1) as f64).round() as usize;
        self.cells[row][column] = (mark, color);
    }

    /// The row with this index as text.
    fn row(&self, row: usize) -> String {
        let mut text = String::new();
        for (cell, dots) in self.cells[row].iter().zip(&self.dots[row]) {
            let braille = char::from_u32(0x2800 + u32::from(*dots)).filter(|_| *dots > 0);
            let shown = if cell.0 == ' ' {
                braille.unwrap_or(' ')
            } else {
                cell.0
            };
            match cell.1.filter(|_| shown != ' ') {
                Some(color) => text.push_str(&format!("\u{1b}[{color}m{shown}\u{1b}[0m")),
                None => text.push(shown),
            }
        }
        text
    }
}

/// Draws series with axes and names.
fn series(lines: &Lines, width: usize, color: bool) -> Vec<String> {
    let label = lines
        .y
        .ticks
        .iter()
        .map(|(_, text)| text.chars().count())
        .max()
        .unwrap_or(1)
        .min(12);
    let mut canvas = Canvas::new(width.saturating_sub(label + 2).max(10));
    let look = |color_of: usize| color.then(|| COLORS[color_of % COLORS.len()]);
    for series in &lines.series {
        let places: Vec<(f64, f64)> = series
            .spots
            .iter()
            .map(|s| (lines.x.share(s.x), lines.y.share(s.y)))
            .collect();
        for pair in places.windows(2).filter(|_| !lines.names) {
            let steps = 2 * canvas.columns;
            for step in 0..=steps {
                let share = step as f64 / steps as f64;
                let between = |a: f64, b: f64| a + (b - a) * share;
                canvas.dot(
                    between(pair[0].0, pair[1].0),
                    between(pair[0].1, pair[1].1),
                    look(series.look.color),
                );
            }
        }
    }
    let marks: Vec<char> = MARKS.chars().collect();
    let mark_of = |i: usize| marks.get(i).copied().unwrap_or(OTHERS);
    for (i, series) in lines.series.iter().enumerate() {
        for spot in &series.spots {
            canvas.mark(
                lines.x.share(spot.x),
                lines.y.share(spot.y),
                mark_of(i),
                look(series.look.color),
            );
        }
    }
    let mut left = vec![String::new(); HEIGHT];
    for (value, text) in &lines.y.ticks {
        let row = (1.0 - lines.y.share(*value)) * (HEIGHT - 1) as f64;
        left[(row.round().max(0.0) as usize).min(HEIGHT - 1)] = shorten(text, label);
    }
    let mut out: Vec<String> = (0..HEIGHT)
        .map(|row| format!("{:>label$} ┤{}", left[row], canvas.row(row)))
        .collect();
    out.push(format!("{:>label$} └{}", "", "─".repeat(canvas.columns)));
    out.push(format!("{:>label$}  {}", "", below(lines, canvas.columns)));
    if !lines.x.title.is_empty() {
        out.push(format!(
            "{:>label$}  {}",
            "",
            shorten(&lines.x.title, canvas.columns)
        ));
    }
    for (i, series) in lines
        .series
        .iter()
        .enumerate()
        .filter(|(_, s)| !s.name.is_empty())
        .take(marks.len())
    {
        let (before, after) = match look(series.look.color) {
            Some(color) => (format!("\u{1b}[{color}m"), "\u{1b}[0m"),
            None => (String::new(), ""),
        };
        out.push(format!(
            "  {before}{}{after} {}",
            mark_of(i),
            shorten(&series.name, width - 4)
        ));
    }
    for note in lines.notes.iter().take(MAX_NOTES) {
        // Whole numbers, such as counts of threads, are written without decimals.
        let x = if note.x.fract() == 0.0 {
            fixed(note.x, 0)
        } else {
            significant(note.x)
        };
        let place = format!("{} at {x}", significant(note.y));
        out.push(shorten(&format!("  {}: {place}", note.text), width));
    }
    if !lines.marks.is_empty() {
        let names: Vec<&str> = lines.marks.iter().map(|mark| mark.name.as_str()).collect();
        out.push(shorten(&format!("  levels: {}", names.join(", ")), width));
    }
    if lines.series.len() > marks.len() {
        out.push(format!(
            "  {OTHERS} {} more series",
            lines.series.len() - marks.len()
        ));
    }
    out
}

/// Line with the labels of the horizontal axis. Labels that would overlap are left out.
fn below(lines: &Lines, columns: usize) -> String {
    let mut text = String::new();
    for (value, label) in &lines.x.ticks {
        let middle =
            (lines.x.share(*value).clamp(0.0, 1.0) * (columns - 1) as f64).round() as usize;
        let label = shorten(label, 20);
        let size = label.chars().count();
        let start = middle
            .saturating_sub(size / 2)
            .min(columns.saturating_sub(size));
        let used = text.chars().count();
        if used == 0 || start > used {
            text.push_str(&" ".repeat(start - used.min(start)));
            text.push_str(&label);
        }
    }
    text
}

/// Draws a heat map. If there is not enough space, a character stands for several cells.
fn heat(heat: &Heat, width: usize) -> Vec<String> {
    const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
    let label = heat
        .rows
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(1)
        .min(12);
    let room = width.saturating_sub(label + 2).max(8) / 2;
    let across = heat.columns.len().div_ceil(room).max(1);
    let down = heat.rows.len().div_ceil(40).max(1);
    let step = across.max(down);
    let mut out = vec![format!(
        "rows {}, columns {}",
        heat.row_title, heat.column_title
    )];
    for first in (0..heat.rows.len()).step_by(step) {
        let rows = &heat.cells[first..(first + step).min(heat.cells.len())];
        let mut line = format!("{:>label$} ", shorten(&heat.rows[first], label));
        for column in (0..heat.columns.len()).step_by(step) {
            let cells = rows
                .iter()
                .flat_map(|row| &row[column..(column + step).min(row.len())])
                .flatten();
            let (sum, count) = cells.fold((0.0, 0.0), |(sum, n), spot| {
                (sum + heat.share(spot.y), n + 1.0)
            });
            let shade =
                SHADES[((sum / count * SHADES.len() as f64) as usize).min(SHADES.len() - 1)];
            line.push_str(&if count > 0.0 { shade } else { ' ' }.to_string().repeat(2));
        }
        out.push(line);
    }
    out.push(format!(
        "{} {} to {} {}",
        SHADES[0],
        significant(heat.low),
        SHADES[4],
        significant(heat.high)
    ));
    if step > 1 {
        out.push(format!("a character is the mean of {step} x {step} pairs"));
    }
    out
}
