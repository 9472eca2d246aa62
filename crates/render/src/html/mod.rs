//! The format `html`: one self-contained page that needs no network and no server.
//!
//! Text of a report enters the page escaped, or as data in a script of type `application/json`,
//! which browsers never execute. The page's Content-Security-Policy allows only the page's own
//! scripts and styles, identified by their digests.

mod compared;
mod data;
mod fleet;
mod gallery;

pub(super) use compared::compared;
pub(super) use fleet::fleet;
pub(super) use gallery::GalleryPage;

use super::blocks::{Block, Labelled};
use super::chart::{Chart, charts, chosen, outcomes};
use super::grid::Grid;
use super::page::{page, tables as all_tables};
use super::provenance::{command_line, provenance};
use super::text::{clean, shorten};
use super::{NamedReport, Options, Renderer, host_table};
use base64::Engine;
use report::Report;
use sha2::{Digest, Sha256};
use units::counted;
use units::error::{Error, Result};

/// Style sheet of the page.
const STYLE: &str = include_str!("page.css");
/// Script that draws the charts.
const SCRIPT: &str = include_str!("page.js");

/// Level of deflate compression for the packed report. It reduces a report to about a tenth in a
/// short time.
const FAST_COMPRESSION: u8 = 4;

/// Width of the table of facts about the machine, in characters. Most sources then fit on a line. A
/// path that is broken into two lines could not be copied.
const HOST_WIDTH: u16 = 120;

/// Largest number of rows of a table that is shown unfolded.
const LONG_TABLE: usize = 40;
/// Largest number of rows of a table on the page. The page also carries the whole report in
/// compressed form, which has all rows.
const MAX_ROWS: usize = 5000;

/// Renderer of the format `html`: a page with charts.
pub(super) struct Html;

impl Renderer for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["html", "htm"]
    }

    fn help(&self) -> &'static str {
        "a page for browsers, alone and without network: charts, tables, the report itself"
    }

    fn options(&self) -> &'static [&'static str] {
        &["chart", "title"]
    }

    fn render_finite(&self, report: &Report, options: &Options) -> Result<Vec<u8>> {
        let name = report
            .provenance
            .host
            .system
            .hostname
            .get()
            .cloned()
            .unwrap_or_else(|| "report".to_owned());
        self.render_several(
            &[NamedReport {
                name,
                report: report.clone(),
            }],
            options,
        )
    }

    fn render_several(&self, reports: &[NamedReport], options: &Options) -> Result<Vec<u8>> {
        document(reports, options, "")
    }
}

/// Renders the page of `reports`. `first` is HTML that stands below the page's header.
fn document(reports: &[NamedReport], options: &Options, first: &str) -> Result<Vec<u8>> {
    let all = charts(reports);
    let charts = chosen(&all, &options.charts)?;
    let names: Vec<String> = reports
        .iter()
        .map(|named| shorten(&named.name, 60))
        .collect();
    let mut body = String::new();
    let title = options.title.as_ref().map_or_else(
        || format!("memgauge: {}", names.join(", ")),
        |title| clean(title),
    );
    body.push_str(&header(&title));
    body.push_str(first);
    if names.len() > 1 {
        body.push_str(&picker(&names));
    }
    for (i, named) in reports.iter().enumerate() {
        body.push_str(&card(i, &names, named, options));
    }
    body.push_str(&drawings(&charts, &outcomes(reports, &options.charts)));
    for (i, named) in reports.iter().enumerate() {
        body.push_str(&tables(i, &names, named));
    }
    for (i, named) in reports.iter().enumerate() {
        body.push_str(&repeat(i, &names, &named.report));
    }
    body.push_str(&script_data("charts", &data::charts(&charts, &names))?);
    for (i, named) in reports.iter().enumerate() {
        let json = super::json::Json.render(&named.report, options)?;
        body.push_str(&packed(
            &format!("report-{i}"),
            &miniz_oxide::deflate::compress_to_vec_zlib(&json, FAST_COMPRESSION),
        ));
    }
    Ok(whole(&title, &body).into_bytes())
}

/// Script element with `bytes` as Base64. Base64 needs no escapes in HTML.
fn packed(id: &str, bytes: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    format!("<script type=\"text/plain\" id=\"{id}\">{text}</script>\n")
}

/// The HTML document called `title` around `body`, with the script that draws charts.
fn whole(title: &str, body: &str) -> String {
    document_with(title, body, SCRIPT)
}

/// The HTML document called `title` around `body`. If `script` is empty, no script may run.
fn document_with(title: &str, body: &str, script: &str) -> String {
    let digest = |text: &str| {
        base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text.as_bytes()))
    };
    let style = digest(STYLE);
    let (allowed, script) = if script.is_empty() {
        (String::new(), String::new())
    } else {
        let allowed = format!("script-src 'sha256-{}'; ", digest(script));
        (allowed, format!("<script>{script}</script>\n"))
    };
    let policy = format!(
        "default-src 'none'; {allowed}style-src 'sha256-{style}'; img-src data:; base-uri 'none'; \
         form-action 'none'; require-trusted-types-for 'script'"
    );
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" \
         content=\"light \
         dark\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n{body}{script}</body>\n</html>\n"
    )
}

/// Header of the page with its navigation.
fn header(title: &str) -> String {
    format!(
        "<a class=\"skip\" href=\"#charts-part\">Skip to the \
         charts</a>\n<header>\n<h1>{}</h1>\n<nav aria-label=\"Parts of the page\"><a \
         href=\"#machine-0\">Machine</a> <a href=\"#charts-part\">Charts</a> <a \
         href=\"#tables-0\">Tables</a> <a href=\"#repeat-0\">How to repeat</a> <button \
         type=\"button\" id=\"theme\">Light or dark</button></nav>\n</header>\n",
        escape(title)
    )
}

/// Checkboxes for the reports that charts show.
fn picker(names: &[String]) -> String {
    let boxes: String = names
        .iter()
        .enumerate()
        .map(|(i, name)| {
            format!(
                "<label><input type=\"checkbox\" class=\"machine\" data-report=\"{i}\" checked> \
                 {}</label> ",
                escape(name)
            )
        })
        .collect();
    format!("<fieldset id=\"machines\"><legend>Reports in the charts</legend>{boxes}</fieldset>\n")
}

/// Suffix of a heading with the name of the report; empty if the page has only one.
fn heading_end(i: usize, names: &[String]) -> String {
    if names.len() > 1 {
        format!(": {}", escape(&names[i]))
    } else {
        String::new()
    }
}

/// Section about a report: machine, levels, trust and findings, as on a terminal. Details are
/// folded.
fn card(i: usize, names: &[String], named: &NamedReport, options: &Options) -> String {
    let with = |verbose| {
        let options = Options {
            verbose,
            saved_to: None,
            ..options.clone()
        };
        page(&named.report, &options)
    };
    let brief = with(false);
    let whole = with(true);
    let levels = match (brief.is_hierarchy, brief.blocks.first()) {
        (true, Some(levels)) => block(levels),
        _ => String::new(),
    };
    // The line `More` is left out: the page includes everything that `--verbose` shows.
    let remarks: Vec<Labelled> = brief
        .remarks
        .into_iter()
        .filter(|(label, _)| label != "More")
        .collect();
    format!(
        "<section id=\"machine-{i}\" class=\"card\">\n<h2>Machine{}</h2>\n{}{levels}{}<details>\
         <summary>Every finding and every reason for doubt</summary>{}</details>\n<details>\
         <summary>Every fact about the machine</summary><pre>{}</pre></details>\n</section>\n",
        heading_end(i, names),
        list(&brief.heading.labelled()),
        list(&remarks),
        list(&whole.remarks),
        escape_lines(&host_table(&named.report.provenance.host, Some(HOST_WIDTH)))
    )
}

/// Writes labelled lines as a list. A label that equals the previous label is not repeated.
fn list(lines: &[Labelled]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut items = String::new();
    let mut last = "";
    for (label, text) in lines {
        if label != last {
            items.push_str(&format!("<dt>{}</dt>", escape(label)));
        }
        items.push_str(&format!("<dd>{}</dd>\n", escape(text)));
        last = label;
    }
    format!("<dl>\n{items}</dl>\n")
}

/// Makes an element for each chart, with text for readers who cannot see it. `outcomes` are lines
/// about all charts, which stand above the charts.
fn drawings(charts: &[&Chart], outcomes: &[String]) -> String {
    let mut text = "<section id=\"charts-part\">\n<h2>Charts</h2>\n<noscript><p>Charts need \
         scripts; all numbers are in the tables below.</p></noscript>\n<p id=\"trouble\" \
         role=\"alert\" hidden></p>\n<p class=\"small\">A point tells its numbers under the \
         mouse. Dragging over a part enlarges it, Ctrl and the wheel too; dragging with Shift \
         moves it, a double click shows all. Names below a chart switch series off and on; a \
         double click on one leaves it alone.</p>\n"
        .to_owned();
    outcomes.iter().for_each(|line| text.push_str(&small(line)));
    if charts.is_empty() {
        text.push_str("<p>No point was measured: nothing to draw.</p>\n");
    }
    for (i, chart) in charts.iter().enumerate() {
        let not_drawn = chart.undrawn().map(|text| small(&text)).unwrap_or_default();
        let better = if chart.higher_is_better {
            "more is better"
        } else {
            "less is better"
        };
        text.push_str(&format!(
            "<figure class=\"drawn\" id=\"chart-{i}\"><figcaption><strong>{}</strong> \
             <span>({better})</span> <span>{}</span></figcaption>\n<div class=\"chart\" \
             {}></div>\n{not_drawn}<div class=\"series\" role=\"group\" \
             aria-label=\"Series\"></div></figure>\n",
            escape(&chart.title),
            escape(&chart.subtitle),
            by_keys(&format!("{}: {}", chart.title, chart.values)),
        ));
    }
    text + "</section>\n"
}

/// A paragraph in small letters.
fn small(text: &str) -> String {
    format!("<p class=\"small\">{}</p>\n", escape(text))
}

/// Attributes that make a chart usable with keyboard and screen reader. `what` describes it.
fn by_keys(what: &str) -> String {
    format!(
        "role=\"group\" aria-roledescription=\"chart\" tabindex=\"0\" aria-label=\"{}; arrow keys \
         read point by point and series by series, plus and minus enlarge and shrink, 0 shows \
         all; the numbers are in the tables below\"",
        escape(what)
    )
}

/// All tables of a report.
fn tables(i: usize, names: &[String], named: &NamedReport) -> String {
    let tables = all_tables(
        &named.report,
        &Options {
            verbose: true,
            ..Options::default()
        },
    );
    // The card shows the table of levels already, so it is left out here.
    let after_card = usize::from(tables.is_hierarchy);
    let blocks: String = tables.blocks.iter().skip(after_card).map(block).collect();
    format!(
        "<section id=\"tables-{i}\" class=\"tables\">\n<h2>Tables{}</h2>\n{blocks}</section>\n",
        heading_end(i, names)
    )
}

/// Writes one table. A long table is folded.
fn block(block: &Block) -> String {
    let Grid { columns, rows } = &block.grid;
    let side = |right: bool| if right { " class=\"right\"" } else { "" };
    let head: String = columns
        .iter()
        .map(|c| {
            format!(
                "<th scope=\"col\"{}>{}</th>",
                side(c.right),
                escape(&c.title)
            )
        })
        .collect();
    let cell = |(c, text): (&super::grid::Column, &String)| {
        format!("<td{}>{}</td>", side(c.right), escape(text))
    };
    let first = |(c, text): (&super::grid::Column, &String)| match c.right {
        true => cell((c, text)),
        false => format!("<th scope=\"row\">{}</th>", escape(text)),
    };
    let row = |row: &Vec<String>| {
        let mut cells = columns.iter().zip(row);
        let head = cells.next().map(first).unwrap_or_default();
        format!("<tr>{head}{}</tr>\n", cells.map(cell).collect::<String>())
    };
    let body: String = rows.iter().take(MAX_ROWS).map(row).collect();
    let more = match rows.len().saturating_sub(MAX_ROWS) {
        0 => String::new(),
        n => format!("<p>and {}, in the data</p>\n", counted(n, "more row")),
    };
    let title = if block.title.is_empty() {
        "Hierarchy".to_owned()
    } else {
        escape(&block.title)
    };
    let table = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"{title}\"><table><caption>{title}</caption>\
         <thead><tr>{head}</tr></thead>\n\
         <tbody>\n{body}</tbody></table></div>\n{more}<p \
         class=\"legend\">{}</p>\n",
        escape(&block.legend)
    );
    match rows.len() > LONG_TABLE {
        true => {
            format!(
                "<details><summary>{title}: {}</summary>\n{table}</details>\n",
                counted(rows.len(), "row")
            )
        }
        false => table,
    }
}

/// Section with the command that repeats the session, and with a button that downloads the report.
fn repeat(i: usize, names: &[String], report: &Report) -> String {
    let p = &report.provenance;
    format!(
        "<section id=\"repeat-{i}\">\n<h2>How to repeat{}</h2>\n<pre>{}</pre>\n<p>with \
         <code>--seed {}</code> for the same random choices.</p>\n<p \
         class=\"small\">{}</p>\n<p><button type=\"button\" class=\"download\" \
         data-report=\"{i}\">Download the report (JSON)</button></p>\n</section>\n",
        heading_end(i, names),
        escape(&shorten(&command_line(&p.command_line), 4000)),
        escape(&shorten(&p.seed, 80)),
        escape(&shorten(&provenance(p), 8000)),
    )
}

/// A script element with data for the page's script.
fn script_data(id: &str, value: &serde_json::Value) -> Result<String> {
    let text = serde_json::to_string(value)
        .map_err(|e| Error::failure(format!("cannot write page: {e}")))?;
    Ok(format!(
        "<script type=\"application/json\" id=\"{id}\">{}</script>\n",
        inert(&text)
    ))
}

/// JSON without characters that could end its script element. `<` occurs only in strings, where an
/// escape has the same meaning.
fn inert(json: &str) -> String {
    super::json::inert(json.replace('<', "\\u003c"))
}

/// Clean text, escaped for HTML including attributes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Like [`escape`], for text that keeps its line breaks.
fn escape_lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}
