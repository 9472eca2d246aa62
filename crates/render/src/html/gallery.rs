//! The format `gallery`: a page that has a row, two small charts and a card for each machine.
//!
//! The page shows everything without its script, which sorts and filters only.

use super::{card, document_with, escape};
use crate::gallery::{
    Cell, Curve, CurvePoint, Gallery, Heading, bandwidth_curves, gallery, latency_curves, legend,
};
use crate::text::{clean, shorten};
use crate::{NamedReport, Options, Renderer};
use report::Report;
use std::collections::BTreeMap;
use units::error::Result;
use units::{Bytes, counted, fixed, significant};

/// Script of the page.
const SCRIPT: &str = include_str!("gallery.js");

/// Longest name of a machine, in characters.
const LONGEST_NAME: usize = 60;

/// Width and height of a chart, in the units of its SVG.
const WIDTH: f64 = 280.0;
const HEIGHT: f64 = 150.0;

/// Space around the plot of a chart, in the units of its SVG.
const LEFT: f64 = 30.0;
const BOTTOM: f64 = 16.0;
const MARGIN: f64 = 6.0;
const RIGHT: f64 = 16.0;

/// Factor between neighbouring ticks on the axis of sizes.
const SIZE_STEP: f64 = 16.0;

/// Renderer of the format `gallery`: machines side by side.
pub(crate) struct GalleryPage;

impl Renderer for GalleryPage {
    fn name(&self) -> &'static str {
        "gallery"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    fn help(&self) -> &'static str {
        "a page with machines side by side: sorted by any figure, filtered by core design"
    }

    fn options(&self) -> &'static [&'static str] {
        &["title"]
    }

    fn render_finite(&self, report: &Report, options: &Options) -> Result<Vec<u8>> {
        let alone = NamedReport {
            name: "report".to_owned(),
            report: report.clone(),
        };
        self.render_several(&[alone], options)
    }

    fn contents(&self, reports: &[NamedReport], _options: &Options) -> Result<String> {
        Ok(match reports.len() {
            0 | 1 => String::new(),
            count => {
                format!("{count} machines side by side; --format html draws them over each other")
            }
        })
    }

    fn render_several(&self, reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
        let title = options.title.as_ref().map_or_else(
            || format!("memgauge: {}", counted(reports.len(), "machine")),
            |title| clean(title),
        );
        let all = gallery(reports);
        let names: Vec<String> = reports
            .iter()
            .map(|named| shorten(&named.name, LONGEST_NAME))
            .collect();
        let mut body = format!("<header>\n<h1>{}</h1>\n</header>\n", escape(&title));
        body.push_str(&filter(&all));
        body.push_str(&table(&all));
        let latency = reports.iter().map(|named| latency_curves(&named.report));
        body.push_str(&charts(
            "Latency of a load over the working set, ns",
            &names,
            &all.designs,
            &latency.collect::<Vec<_>>(),
        ));
        let bandwidth = reports.iter().map(|named| bandwidth_curves(&named.report));
        body.push_str(&charts(
            "Bandwidth of loads over the working set of a thread, GB/s",
            &names,
            &all.designs,
            &bandwidth.collect::<Vec<_>>(),
        ));
        body.push_str("<h2>Machines</h2>\n<div class=\"machines\">\n");
        for (i, named) in reports.iter().enumerate() {
            body.push_str(&format!(
                "<details {}><summary>{}</summary>\n{}</details>\n",
                belongs(i, &all.designs[i]),
                escape(&names[i]),
                card(i, &names, named, options)
            ));
        }
        body.push_str("</div>\n");
        Ok(document_with(&title, &body, SCRIPT).into_bytes())
    }
}

/// Attributes for each element of a machine, by which the script sorts and filters.
fn belongs(machine: usize, design: &str) -> String {
    format!(
        "data-machine=\"{machine}\" data-design=\"{}\"",
        escape(design)
    )
}

/// Form to choose a core design. The form is hidden until the script makes it visible.
fn filter(gallery: &Gallery) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for design in &gallery.designs {
        *counts.entry(design).or_default() += 1;
    }
    let options: String = counts
        .iter()
        .map(|(design, count)| {
            let design = escape(design);
            format!("<option value=\"{design}\">{design} ({count})</option>")
        })
        .collect();
    format!(
        "<p id=\"filter\" hidden><label>Core design <select><option value=\"\">all</option>\
         {options}</select></label> <span id=\"shown\" role=\"status\"></span></p>\n"
    )
}

/// The table of all machines.
fn table(gallery: &Gallery) -> String {
    let rows: String = gallery
        .rows
        .iter()
        .enumerate()
        .map(|(i, cells)| {
            let mut cells = gallery.headings.iter().zip(cells);
            let name = cells.next().map(|(_, cell)| {
                format!(
                    "<th scope=\"row\" data-sort=\"{0}\"><a href=\"#machine-{i}\">{0}</a></th>",
                    escape(&cell.text)
                )
            });
            let others: String = cells
                .map(|(heading, cell)| written(heading, cell))
                .collect();
            format!(
                "<tr {}>{}{others}</tr>\n",
                belongs(i, &gallery.designs[i]),
                name.unwrap_or_default()
            )
        })
        .collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Machines\">\
         <table id=\"gallery\"><caption>Figures of all machines; a heading sorts by its column\
         </caption>\n<thead>{}</thead>\n<tbody>\n{rows}</tbody></table></div>\n\
         <p class=\"legend\">{}</p>\n",
        heads(&gallery.headings),
        escape(&legend(gallery))
    )
}

/// Two heading rows: one with the groups, and one with the columns of each group.
fn heads(headings: &[Heading]) -> String {
    let mut groups = String::new();
    let mut columns = String::new();
    for (i, heading) in headings.iter().enumerate() {
        let kind = if heading.is_number { "number" } else { "text" };
        let first = if heading.descends {
            "descending"
        } else {
            "ascending"
        };
        let sorted = format!("data-column=\"{i}\" data-kind=\"{kind}\" data-first=\"{first}\"");
        let title = escape(&heading.title);
        if heading.group.is_empty() {
            groups.push_str(&format!(
                "<th scope=\"col\" rowspan=\"2\" {sorted}>{title}</th>"
            ));
            continue;
        }
        columns.push_str(&format!("<th scope=\"col\" {sorted}>{title}</th>"));
        if i == 0 || headings[i - 1].group != heading.group {
            let width = headings.iter().filter(|h| h.group == heading.group).count();
            let group = escape(&heading.group);
            groups.push_str(&format!(
                "<th scope=\"colgroup\" colspan=\"{width}\">{group}</th>"
            ));
        }
    }
    format!("<tr>{groups}</tr>\n<tr>{columns}</tr>")
}

/// A cell of the table. An empty cell has the reason in its title.
fn written(heading: &Heading, cell: &Cell) -> String {
    let sort = match cell.number {
        // Adding 0.0 turns -0 into 0.
        Some(number) => (number + 0.0).to_string(),
        None => escape(&cell.text),
    };
    let class = match heading.is_number {
        true => " class=\"right\"",
        false => "",
    };
    let title = match cell.missing.is_empty() {
        true => String::new(),
        false => format!(" title=\"{}\"", escape(&cell.missing)),
    };
    format!(
        "<td{class}{title} data-sort=\"{sort}\">{}</td>",
        escape(&cell.text)
    )
}

/// The small charts of one kind, one for each machine, below `title`. All charts have the same
/// axes.
fn charts(title: &str, names: &[String], designs: &[String], all: &[Vec<Curve>]) -> String {
    let points = || all.iter().flatten().flat_map(|curve| &curve.points);
    let Some(axes) = Axes::new(points().copied()) else {
        return String::new();
    };
    let most = all.iter().max_by_key(|curves| curves.len());
    let key: String = most
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(i, curve)| format!("<span class=\"curve-{i}\">&#9679;</span> {}; ", curve.name))
        .collect();
    let mut text = format!(
        "<h2>{}</h2>\n<p class=\"legend\">{key}a hollow point is doubtful; all charts have the same \
         axes</p>\n<div class=\"histograms machines\">\n",
        escape(title)
    );
    for (i, curves) in all.iter().enumerate() {
        text.push_str(&format!(
            "<figure {}>{}<figcaption>{}</figcaption></figure>\n",
            belongs(i, &designs[i]),
            drawing(&axes, curves),
            escape(&names[i])
        ));
    }
    text + "</div>\n"
}

/// Logarithmic axes of sizes and values, which are long enough for all points.
#[derive(Debug, Clone, Copy)]
struct Axes {
    sizes: Range,
    values: Range,
}

/// Ends of a logarithmic axis: two different numbers above 0.
#[derive(Debug, Clone, Copy)]
struct Range {
    least: f64,
    most: f64,
}

impl Range {
    /// Range of `values` with a margin of a fifth at both ends; `None` without values.
    fn new(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let least = values.clone().reduce(f64::min)?;
        let most = values.reduce(f64::max)?;
        Some(Range {
            least: least / 1.2,
            most: most * 1.2,
        })
    }

    /// Position of `value` on the axis: 0 at the lower end, 1 at the upper end.
    fn share(self, value: f64) -> f64 {
        (value / self.least).ln() / (self.most / self.least).ln()
    }

    /// Whole powers of `step` within the range.
    fn powers(self, step: f64) -> Vec<f64> {
        let first = (self.least.ln() / step.ln()).ceil() as i32;
        let last = (self.most.ln() / step.ln()).floor() as i32;
        (first..=last).map(|power| step.powi(power)).collect()
    }

    /// Ticks: powers of ten within the range. If there are few, 1, 2 and 5 times each power.
    fn decades(self) -> Vec<f64> {
        let powers = self.powers(10.0);
        if powers.len() > 2 {
            return powers;
        }
        let least = 10_f64.powf(self.least.log10().floor());
        let all = (0..4).flat_map(|power| [1.0, 2.0, 5.0].map(|n| n * least * 10_f64.powi(power)));
        all.filter(|value| (self.least..=self.most).contains(value))
            .collect()
    }
}

impl Axes {
    fn new(points: impl Iterator<Item = CurvePoint> + Clone) -> Option<Self> {
        Some(Axes {
            sizes: Range::new(points.clone().map(|p| p.bytes))?,
            values: Range::new(points.map(|p| p.value))?,
        })
    }

    /// Horizontal position of a size in the SVG.
    fn x(&self, bytes: f64) -> String {
        fixed(LEFT + self.sizes.share(bytes) * (WIDTH - LEFT - RIGHT), 1)
    }

    /// Vertical position of a value in the SVG.
    fn y(&self, value: f64) -> String {
        let height = HEIGHT - BOTTOM - MARGIN;
        fixed(MARGIN + (1.0 - self.values.share(value)) * height, 1)
    }
}

/// A small chart as SVG. Hollow points are doubtful.
fn drawing(axes: &Axes, curves: &[Curve]) -> String {
    let mut text = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">");
    text.push_str(&format!("<title>{}</title>", escape(&told(curves))));
    let bottom = HEIGHT - BOTTOM;
    for bytes in axes.sizes.powers(SIZE_STEP) {
        let x = axes.x(bytes);
        text.push_str(&format!(
            "<path class=\"mark\" d=\"M{x} {MARGIN}V{bottom}\"/><text x=\"{x}\" y=\"{}\" \
             text-anchor=\"middle\">{}</text>",
            HEIGHT - 4.0,
            escape(&Bytes(bytes as u64).to_string())
        ));
    }
    for value in axes.values.decades() {
        let y = axes.y(value);
        text.push_str(&format!(
            "<path class=\"mark\" d=\"M{LEFT} {y}H{}\"/><text x=\"{}\" y=\"{y}\" dy=\"3\" \
             text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 3.0,
            significant(value)
        ));
    }
    if curves.iter().all(|curve| curve.points.is_empty()) {
        text.push_str(&format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">not in this report</text>",
            (LEFT + WIDTH) / 2.0,
            HEIGHT / 2.0
        ));
    }
    for (i, curve) in curves.iter().enumerate() {
        let places: Vec<String> = curve
            .points
            .iter()
            .map(|p| format!("{} {}", axes.x(p.bytes), axes.y(p.value)))
            .collect();
        text.push_str(&format!("<g class=\"curve-{i}\">"));
        if places.len() > 1 {
            text.push_str(&format!("<path d=\"M{}\"/>", places.join("L")));
        }
        for point in &curve.points {
            text.push_str(&format!(
                "<circle cx=\"{}\" cy=\"{}\" r=\"2\"{}><title>{}: {}{}</title></circle>",
                axes.x(point.bytes),
                axes.y(point.value),
                if point.is_doubtful {
                    " class=\"hollow\""
                } else {
                    ""
                },
                Bytes(point.bytes as u64),
                significant(point.value),
                if point.is_doubtful { "?" } else { "" },
            ));
        }
        text.push_str("</g>");
    }
    text + "</svg>"
}

/// Text with both ends of each curve, for readers who cannot see the chart.
fn told(curves: &[Curve]) -> String {
    let ends = |curve: &Curve| {
        let at = |point: &CurvePoint| {
            let size = Bytes(point.bytes as u64);
            format!("{} at {size}", significant(point.value))
        };
        match (curve.points.first(), curve.points.last()) {
            (Some(first), Some(last)) => format!("{}: {} to {}", curve.name, at(first), at(last)),
            _ => format!("{}: not in this report", curve.name),
        }
    };
    curves.iter().map(ends).collect::<Vec<_>>().join("; ")
}
