//! Sparklines and bars for terminals, drawn with the block elements of Unicode.

use super::NamedReport;
use super::chart::{self, Body};
use super::grid::{Column, Grid};
use super::text::shorten;
use report::Report;
use units::{counted, significant};

/// Block elements in rising height, in steps of an eighth of a character.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Longest sparkline, in characters. If a sweep has more points, each character stands for several
/// neighbouring points.
const LONGEST: usize = 40;

/// Least number of points for which a sweep gets a sparkline. Fewer points are easier to read as
/// numbers.
const SHORTEST: usize = 4;

/// Largest number of sparklines in a report. Charts drawn with `--chart` show all sweeps.
const MOST: usize = 16;

/// Makes a sparkline of values from 0 to 1. If there are more than [`LONGEST`] values, neighbouring
/// values are averaged.
fn sparkline(shares: &[f64]) -> String {
    let together = shares.len().div_ceil(LONGEST).max(1);
    let height = |some: &[f64]| {
        let mean = some.iter().sum::<f64>() / some.len() as f64;
        HEIGHTS[((mean.clamp(0.0, 1.0) * 7.0).round() as usize).min(7)]
    };
    shares.chunks(together).map(height).collect()
}

/// Makes a line with a sparkline for each sweep of a report. Lines are at most `width` wide. Empty
/// if the report has no sweep.
pub(super) fn sweeps(report: &Report, width: Option<u16>) -> String {
    let charts = chart::charts(&[NamedReport {
        name: String::new(),
        report: report.clone(),
    }]);
    let mut rows = Vec::new();
    for chart in &charts {
        let Body::Lines(lines) = &chart.body else {
            continue;
        };
        let sweeps = lines
            .series
            .iter()
            .filter(|s| !lines.names && s.spots.len() >= SHORTEST);
        rows.extend(sweeps.map(|series| {
            let shares: Vec<f64> = series.spots.iter().map(|s| lines.y.share(s.y)).collect();
            let ends = series
                .spots
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), s| {
                    (l.min(s.y), h.max(s.y))
                });
            let name = if series.name.is_empty() {
                chart.name.clone()
            } else {
                format!("{} {}", chart.name, series.name)
            };
            let values = format!("{} to {}", significant(ends.0), significant(ends.1));
            let over = format!(
                "{} over {}",
                shorten(&chart.values, 30),
                shorten(&lines.x.title, 30)
            );
            vec![shorten(&name, 40), sparkline(&shares), values, over]
        }));
    }
    if rows.is_empty() {
        return String::new();
    }
    let more = rows.len().saturating_sub(MOST);
    rows.truncate(MOST);
    if more > 0 {
        rows.push(vec![
            format!("and {}; --chart draws them", counted(more, "sweep")),
            String::new(),
            String::new(),
            String::new(),
        ]);
    }
    Grid {
        columns: vec![Column::left(""); 4],
        rows,
    }
    .to_text(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_and_columns_are_as_long_as_their_values() {
        assert_eq!(sparkline(&[0.0, 0.5, 1.0, 9.0, -1.0]), "▁▅██▁");
        assert_eq!(sparkline(&[0.0; 100]).chars().count(), 34);
    }
}
