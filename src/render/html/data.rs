//! Charts as the page's script reads them.

use crate::render::chart::{Body, Chart, Heat, Lines, Spot};
use crate::units::significant;
use serde_json::{Value, json};

/// Heat maps with more cells carry values only: words for each would be most of the page.
const MOST_WORDS: usize = 4096;

/// All charts, and what the reports are called.
pub(super) fn charts(charts: &[Chart], names: &[String]) -> Value {
    json!({ "reports": names, "charts": charts.iter().map(chart).collect::<Vec<_>>() })
}

fn chart(chart: &Chart) -> Value {
    let (lines, heat) = match &chart.body {
        Body::Lines(body) => (Some(lines(body)), None),
        Body::Heat(body) => (None, Some(heat(body))),
    };
    json!({
        "name": chart.name,
        "title": chart.title,
        "values": chart.values,
        "lines": lines,
        "report": match &chart.body {
            Body::Heat(heat) => Some(heat.report),
            Body::Lines(_) => None,
        },
        "heat": heat,
    })
}

fn lines(lines: &Lines) -> Value {
    let series = lines.series.iter().map(|series| {
        let of = |value: fn(&Spot) -> f64| series.spots.iter().map(value).collect::<Vec<f64>>();
        json!({
            "name": series.name,
            "report": series.report,
            "color": series.color,
            "shape": series.shape,
            "x": of(|s| s.x),
            "y": of(|s| s.y),
            "low": of(|s| s.low),
            "high": of(|s| s.high),
            "grade": series.spots.iter().map(|s| s.grade.word()).collect::<Vec<_>>(),
            "words": series.spots.iter().map(words).collect::<Vec<_>>(),
        })
    });
    let marks = lines
        .marks
        .iter()
        .map(|mark| json!({ "name": mark.name, "from": mark.from.max(lines.x.low), "to": mark.to.min(lines.x.high) }));
    json!({
        "title": lines.x.title,
        "log": lines.x.log,
        "names": lines.names,
        "range": [lines.x.low, lines.x.high],
        "ticks": lines.x.ticks.iter().map(|(value, _)| value).collect::<Vec<_>>(),
        "labels": lines.x.ticks.iter().map(|(_, label)| label).collect::<Vec<_>>(),
        "logValues": lines.y.log,
        "series": series.collect::<Vec<_>>(),
        "marks": marks.collect::<Vec<_>>(),
        "leftOut": lines.left_out,
    })
}

fn heat(heat: &Heat) -> Value {
    let small = heat.rows.len() * heat.columns.len() <= MOST_WORDS;
    let row = |row: &Vec<Option<Spot>>| row.iter().map(|cell| cell.as_ref().map(|s| s.y)).collect::<Vec<_>>();
    let told = |row: &Vec<Option<Spot>>| row.iter().map(|cell| cell.as_ref().map(words)).collect::<Vec<_>>();
    json!({
        "rowTitle": heat.row_title,
        "columnTitle": heat.column_title,
        "rows": heat.rows,
        "columns": heat.columns,
        "low": heat.low,
        "high": heat.high,
        "values": heat.cells.iter().map(row).collect::<Vec<_>>(),
        "words": small.then(|| heat.cells.iter().map(told).collect::<Vec<_>>()),
    })
}

/// What is to be told of a point beside its place.
fn words(spot: &Spot) -> String {
    format!(
        "{} ({} to {}), {} samples, {}: {}",
        significant(spot.y),
        significant(spot.low),
        significant(spot.high),
        spot.samples,
        spot.grade.word(),
        spot.words
    )
}
