//! Charts as JSON data for the page's script.

use crate::chart::{
    Body, COLORS, Chart, ChartPoint, DASHES, Heat, Lines, MARKS, Numbers, RADIUS, Scale, steps,
};
use report::VerdictGrade;
use serde_json::{Value, json};
use units::{counted, significant};

/// Largest number of cells for which a heat map has a text for each cell. More texts would be most
/// of the page.
const MAX_WORDS: usize = 4096;

/// JSON for the script: all charts, the names of the reports, and the looks of series.
pub(super) fn charts(charts: &[&Chart], names: &[String]) -> Value {
    let color = |(r, g, b): &(u8, u8, u8)| format!("#{r:02x}{g:02x}{b:02x}");
    json!({
        "reports": names,
        "looks": {
            "colors": COLORS.iter().map(color).collect::<Vec<_>>(),
            "marks": MARKS,
            "radius": RADIUS,
            "dashes": DASHES,
            "steps": steps().iter().map(color).collect::<Vec<_>>(),
        },
        "charts": charts.iter().map(|one| chart(one)).collect::<Vec<_>>(),
    })
}

fn chart(chart: &Chart) -> Value {
    let (lines, heat) = match &chart.body {
        Body::Lines(body) => (Some(lines(body)), None),
        Body::Heat(body) => (None, Some(heat(body))),
    };
    json!({
        "values": chart.values,
        "lines": lines,
        "report": match &chart.body {
            Body::Heat(heat) => Some(heat.report),
            Body::Lines(_) => None,
        },
        "heat": heat,
    })
}

/// JSON for an axis. The script writes the numbers of ticks, because the user can zoom.
fn axis(scale: &Scale) -> Value {
    let names = || {
        scale
            .ticks
            .iter()
            .map(|(_, label)| label)
            .collect::<Vec<_>>()
    };
    json!({
        "title": scale.title,
        "low": scale.low,
        "high": scale.high,
        "log": scale.log,
        "numbers": match scale.numbers {
            Some(Numbers::Bytes) => Some("bytes"),
            Some(Numbers::Counts) => Some("counts"),
            Some(Numbers::Values) => Some("values"),
            None => None,
        },
        "names": scale.numbers.is_none().then(names),
    })
}

/// Grade of a point as a letter.
fn grade(spot: &ChartPoint) -> char {
    match spot.grade {
        VerdictGrade::Solid => 's',
        VerdictGrade::Doubtful => 'd',
        VerdictGrade::Rejected => 'r',
    }
}

fn lines(lines: &Lines) -> Value {
    let series = lines.series.iter().map(|series| {
        let column = |value: fn(&ChartPoint) -> f64| series.spots.iter().map(value).collect::<Vec<f64>>();
        let wide = series.spots.iter().any(|s| s.x_low < s.x || s.x_high > s.x);
        json!({
            "name": series.name,
            "report": series.report,
            "look": { "color": series.look.color, "mark": series.look.mark, "dash": series.look.dash },
            "x": column(|s| s.x),
            "xLow": wide.then(|| column(|s| s.x_low)),
            "xHigh": wide.then(|| column(|s| s.x_high)),
            "y": column(|s| s.y),
            "low": column(|s| s.low),
            "high": column(|s| s.high),
            "grades": series.spots.iter().map(grade).collect::<String>(),
            "words": series.spots.iter().map(words).collect::<Vec<_>>(),
        })
    });
    let marks = lines
        .marks
        .iter()
        .map(|mark| json!({ "name": mark.name, "from": mark.from.max(lines.x.low), "to": mark.to.min(lines.x.high) }));
    json!({
        "x": axis(&lines.x),
        "y": axis(&lines.y),
        "series": series.collect::<Vec<_>>(),
        "marks": marks.collect::<Vec<_>>(),
        "notes": lines.notes.iter().map(|n| json!({ "x": n.x, "y": n.y, "text": n.text })).collect::<Vec<_>>(),
    })
}

fn heat(heat: &Heat) -> Value {
    let small = heat.rows.len() * heat.columns.len() <= MAX_WORDS;
    let row = |row: &Vec<Option<ChartPoint>>| {
        row.iter()
            .map(|cell| cell.as_ref().map(|s| s.y))
            .collect::<Vec<_>>()
    };
    let told = |row: &Vec<Option<ChartPoint>>| {
        row.iter()
            .map(|cell| cell.as_ref().map(words))
            .collect::<Vec<_>>()
    };
    let grades = |row: &Vec<Option<ChartPoint>>| {
        row.iter()
            .map(|cell| cell.as_ref().map_or(' ', grade))
            .collect::<String>()
    };
    json!({
        "rowTitle": heat.row_title,
        "columnTitle": heat.column_title,
        "rows": heat.rows,
        "columns": heat.columns,
        "low": heat.low,
        "high": heat.high,
        "values": heat.cells.iter().map(row).collect::<Vec<_>>(),
        "grades": heat.cells.iter().map(grades).collect::<Vec<_>>(),
        "words": small.then(|| heat.cells.iter().map(told).collect::<Vec<_>>()),
    })
}

/// Text about a point: value, interval, number of samples, grade and [`ChartPoint::words`].
fn words(spot: &ChartPoint) -> String {
    format!(
        "{} ({} to {}), {}, {}: {}",
        significant(spot.y),
        significant(spot.low),
        significant(spot.high),
        counted(spot.samples, "sample"),
        spot.grade.word(),
        spot.words
    )
}
