//! Rows and columns of text, independent of the format in which they are written.

use super::text::clean;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

/// Least width of a table, in characters. A terminal that reports a smaller width probably reports
/// a wrong one.
const NARROWEST: u16 = 40;

/// Longest cell, in characters, that widens its column if lines are not wrapped. If a longer cell
/// did so, it would push all other columns apart.
const LONGEST_ALIGNED: usize = 60;

/// Heading and alignment of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    /// Heading of the column; text output keeps its line breaks.
    pub(super) title: String,
    /// True for numbers, which are aligned to the right.
    pub(super) right: bool,
    /// Order in which columns are dropped if a table is too wide: the column with the highest
    /// number first. A column with 0 is never dropped.
    pub(super) drop_order: u8,
}

impl Column {
    /// A column of words.
    pub(super) fn left(title: impl Into<String>) -> Self {
        Column {
            title: title.into(),
            right: false,
            drop_order: 0,
        }
    }

    /// A column of numbers.
    pub(super) fn right(title: impl Into<String>) -> Self {
        Column {
            title: title.into(),
            right: true,
            drop_order: 0,
        }
    }

    /// Sets the drop order of the column.
    pub(super) fn dropped_as(self, drop_order: u8) -> Self {
        Column { drop_order, ..self }
    }
}

/// Rows and columns of raw text. The text is cleaned and escaped when it is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Grid {
    /// Columns from left to right.
    pub(super) columns: Vec<Column>,
    /// Rows, with a cell for each column.
    pub(super) rows: Vec<Vec<String>>,
}

impl Grid {
    /// The grid without columns whose cells are all empty. Columns with headings in `keep` stay.
    pub(super) fn without_empty(&self, keep: &[&str]) -> Grid {
        let used = |i: &usize| {
            keep.contains(&self.columns[*i].title.as_str())
                || self.rows.iter().any(|row| !row[*i].is_empty())
        };
        self.only(&(0..self.columns.len()).filter(used).collect::<Vec<_>>())
    }

    /// Writes text in aligned columns, at most `width` characters wide, with a newline at the end.
    /// Without a width each row is one line, so that programs can search rows.
    ///
    /// If the width is too small, columns with a drop order are dropped first. Then words are
    /// wrapped. A table with numbers is divided into several tables that repeat the first column,
    /// because a wrapped number would look like a smaller one. If all headings are empty, there is
    /// no heading line.
    pub(super) fn to_text(&self, width: Option<u16>) -> String {
        let Some(width) = width else {
            return self.in_lines();
        };
        let width = width.max(NARROWEST);
        let widths = self.draw().column_max_content_widths();
        let natural = |gap: u16| {
            widths
                .iter()
                .fold(0u16, |sum, w| sum.saturating_add(*w).saturating_add(gap))
        };
        let gap = if natural(2) <= width { 2 } else { 1 };
        if natural(gap) <= width {
            return self.aligned(width, gap);
        }
        let dropped = (0..self.columns.len())
            .filter(|&i| self.columns[i].drop_order > 0)
            .max_by_key(|&i| self.columns[i].drop_order);
        if let Some(dropped) = dropped {
            let kept: Vec<usize> = (0..self.columns.len()).filter(|&i| i != dropped).collect();
            return self.only(&kept).to_text(Some(width));
        }
        if self.columns.iter().all(|c| !c.right) {
            return self.aligned(width, 2);
        }
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let mut filled = width;
        for (column, own) in widths.iter().enumerate().skip(1) {
            filled = filled.saturating_add(own.saturating_add(gap));
            match parts.last_mut() {
                Some(part) if filled <= width => part.push(column),
                _ => {
                    parts.push(vec![0, column]);
                    filled = widths[0].saturating_add(*own).saturating_add(2 * gap);
                }
            }
        }
        parts
            .iter()
            .map(|columns| self.only(columns).aligned(width, gap))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The grid with only the columns at the indices `places`.
    fn only(&self, places: &[usize]) -> Grid {
        let rows = self
            .rows
            .iter()
            .map(|row| places.iter().map(|&i| row[i].clone()).collect());
        Grid {
            columns: places.iter().map(|&i| self.columns[i].clone()).collect(),
            rows: rows.collect(),
        }
    }

    /// Writes one line for each row, of any length. A long cell shifts the cells after it.
    fn in_lines(&self) -> String {
        let title = |column: &Column| column.title.split('\n').map(clean).collect::<Vec<String>>();
        let titles: Vec<Vec<String>> = self.columns.iter().map(title).collect();
        let height = titles.iter().map(Vec::len).max().unwrap_or(0);
        let line = |n: usize| {
            titles
                .iter()
                .map(|lines| lines.get(n).cloned().unwrap_or_default())
                .collect()
        };
        let mut lines: Vec<Vec<String>> = (0..height).map(line).collect();
        lines.retain(|cells| cells.iter().any(|cell| !cell.is_empty()));
        lines.extend(
            self.rows
                .iter()
                .map(|row| row.iter().map(|cell| clean(cell)).collect()),
        );
        let own =
            |cells: &Vec<String>, i: usize| cells.get(i).map_or(0, |cell| cell.chars().count());
        let aligned = |i| {
            lines
                .iter()
                .map(|cells| own(cells, i))
                .filter(|n| *n <= LONGEST_ALIGNED)
                .max()
        };
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|i| aligned(i).unwrap_or(0))
            .collect();
        let padded = |cells: &Vec<String>| {
            let cells = self.columns.iter().zip(cells).zip(&widths);
            let cell = |((column, text), &width): ((&Column, &String), &usize)| match column.right {
                true => format!("{text:>width$}"),
                false => format!("{text:<width$}"),
            };
            cells
                .map(cell)
                .collect::<Vec<_>>()
                .join("  ")
                .trim_end()
                .to_owned()
                + "\n"
        };
        lines.iter().map(padded).collect()
    }

    /// Writes text with `gap` spaces between columns. Cells are wrapped if necessary.
    fn aligned(&self, width: u16, gap: u16) -> String {
        let mut table = self.draw();
        table.set_width(width);
        for column in table.column_iter_mut() {
            column.set_padding((0, gap));
        }
        let mut text = table.trim_fmt();
        text.push('\n');
        text
    }

    /// The grid as a table of the crate comfy-table.
    fn draw(&self) -> Table {
        let mut table = Table::new();
        table
            .load_preset(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic);
        if self.columns.iter().any(|c| !c.title.is_empty()) {
            table.set_header(self.columns.iter().map(|c| cell(c, &clean_lines(&c.title))));
        }
        for row in &self.rows {
            table.add_row(
                self.columns
                    .iter()
                    .zip(row)
                    .map(|(c, text)| cell(c, &clean(text))),
            );
        }
        table
    }

    /// The grid as a table in GitHub Markdown, with a newline at the end.
    pub(super) fn to_markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(
            self.columns
                .iter()
                .map(|c| escape_markdown(&c.title))
                .collect(),
        );
        text.push_str(&line(
            self.columns
                .iter()
                .map(|c| if c.right { "--:" } else { "---" }.to_owned())
                .collect(),
        ));
        for row in &self.rows {
            text.push_str(&line(row.iter().map(|c| escape_markdown(c)).collect()));
        }
        text
    }
}

/// A cell with the alignment of its column.
fn cell(column: &Column, text: &str) -> Cell {
    let side = if column.right {
        CellAlignment::Right
    } else {
        CellAlignment::Left
    };
    Cell::new(text).set_alignment(side)
}

/// `text` with each line cleaned; line breaks stay.
fn clean_lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

/// `text`, cleaned and escaped for Markdown and HTML.
pub(super) fn escape_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}
