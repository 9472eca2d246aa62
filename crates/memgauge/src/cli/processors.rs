//! `memgauge list processors`: published figures of core designs.

use super::terminal::terminal_width;
use host::documented::{CoreDesign, core_designs};
use report::{DocumentedFigure, DocumentedQuantity};
use serde::Serialize;
use units::error::{Error, Result};
use units::nearest_name;

/// Columns of the table of all designs, each with the quantities that its cells contain.
const COLUMNS: &[(&str, &[DocumentedQuantity])] = &[
    ("L1", &[DocumentedQuantity::L1dBytes]),
    ("L2", &[DocumentedQuantity::L2Bytes]),
    (
        "L1 / L2 / L3 cycles",
        &[
            DocumentedQuantity::L1dLatencyCycles,
            DocumentedQuantity::L2LatencyCycles,
            DocumentedQuantity::L3LatencyCycles,
        ],
    ),
    (
        "TLB entries",
        &[
            DocumentedQuantity::L1DtlbEntries4k,
            DocumentedQuantity::L2TlbEntries4k,
        ],
    ),
    (
        "load / store B",
        &[
            DocumentedQuantity::LoadBytesPerCycle,
            DocumentedQuantity::StoreBytesPerCycle,
        ],
    ),
    ("channels", &[DocumentedQuantity::MemoryChannels]),
];

/// Text that explains the table of all designs.
const LEGEND: &str = "\
- is unknown. Cycles: a load that hits, in core clock cycles. TLB entries: first data TLB and second
TLB, for 4 KiB pages. Load, store: L1 per cycle. Channels: memory of a socket.
memgauge list processors NAME lists all figures of a design, or of a processor such as graviton4,
with their sources.
";

/// A core design as listed.
#[derive(Debug, Serialize)]
pub struct DesignEntry {
    design: &'static str,
    processors: String,
    figures: Vec<DocumentedFigure>,
    sources: Vec<SourceEntry>,
}

/// A document as listed.
#[derive(Debug, Serialize)]
struct SourceEntry {
    title: &'static str,
    address: &'static str,
}

/// Designs that match `name`. Without a name, the result is all designs.
///
/// A design that has this name in upper or lower case is the only match. Otherwise every design
/// matches whose name or processors contain `name`. A name without a match is an error.
fn chosen(name: Option<&str>) -> Result<Vec<CoreDesign>> {
    let all = core_designs();
    let Some(name) = name else { return Ok(all) };
    let wanted = name.trim().to_lowercase();
    let is_named = |design: &&CoreDesign| design.name.to_lowercase() == wanted;
    let contains = |design: &&CoreDesign| {
        design.name.to_lowercase().contains(&wanted)
            || design.processors.to_lowercase().contains(&wanted)
    };
    let found: Vec<CoreDesign> = match all.iter().find(is_named) {
        Some(design) => vec![design.clone()],
        None => all.iter().filter(contains).cloned().collect(),
    };
    // An empty name is contained in every name, so it counts as unknown.
    if found.is_empty() || wanted.is_empty() {
        let names: Vec<&str> = all.iter().map(|design| design.name).collect();
        let near = nearest_name(name, &names)
            .map(|near| format!("did you mean '{near}'? "))
            .unwrap_or_default();
        return Err(Error::usage(format!(
            "unknown processor: '{name}'; {near}type memgauge list processors for all of them"
        )));
    }
    Ok(found)
}

/// Designs that match `name`, as data.
pub fn entries(name: Option<&str>) -> Result<Vec<DesignEntry>> {
    let entry = |design: CoreDesign| DesignEntry {
        design: design.name,
        processors: design.processors,
        figures: design.figures,
        sources: design
            .sources
            .iter()
            .map(|source| SourceEntry {
                title: source.title,
                address: source.address,
            })
            .collect(),
    };
    Ok(chosen(name)?.into_iter().map(entry).collect())
}

/// Table of designs. Without a name, it has the main figures of all designs, otherwise all figures
/// of the designs that match `name`.
pub fn table(name: Option<&str>) -> Result<String> {
    let designs = chosen(name)?;
    Ok(match name {
        None => main_figures(&designs),
        Some(_) => all_figures(&designs),
    })
}

fn main_figures(designs: &[CoreDesign]) -> String {
    let cell = |design: &CoreDesign, quantities: &[DocumentedQuantity]| {
        let value = |quantity: &DocumentedQuantity| {
            let figure = design.figure(*quantity);
            figure.map_or_else(|| "-".to_owned(), DocumentedFigure::value)
        };
        let values: Vec<String> = quantities.iter().map(value).collect();
        values.join(" / ")
    };
    let row = |design: &CoreDesign| {
        let mut cells = vec![design.name.to_owned()];
        cells.extend(COLUMNS.iter().map(|(_, of)| cell(design, of)));
        cells
    };
    let rows: Vec<Vec<String>> = designs.iter().map(row).collect();
    let mut headers = vec!["design"];
    headers.extend(COLUMNS.iter().map(|(heading, _)| heading));
    render::list_table(&headers, &rows, terminal_width()) + "\n" + LEGEND
}

fn all_figures(designs: &[CoreDesign]) -> String {
    let mut text = String::new();
    for design in designs {
        let row = |figure: &DocumentedFigure| {
            vec![
                figure.quantity.name().to_owned(),
                figure.value(),
                figure.source.clone(),
            ]
        };
        let rows: Vec<Vec<String>> = design.figures.iter().map(row).collect();
        text += &format!("{}: {}\n", design.name, design.processors);
        text += &render::list_table(&["quantity", "value", "source"], &rows, terminal_width());
        for source in &design.sources {
            text += &format!("{}: {}\n", source.title, source.address);
        }
        text += "\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(name: &str) -> Vec<&'static str> {
        let found = chosen(Some(name)).unwrap_or_default();
        found.iter().map(|design| design.name).collect()
    }

    #[test]
    fn names_mean_a_design_or_all_that_contain_them() {
        assert_eq!(names("ZEN 4"), ["Zen 4"]);
        assert_eq!(names("graviton4"), ["Neoverse V2"]);
        assert_eq!(names("granite rapids"), ["Redwood Cove (server)"]);
        assert_eq!(names("zen 5").len(), 1);
        assert_eq!(
            names("golden"),
            ["Golden Cove (client)", "Golden Cove (server)"]
        );
        assert_eq!(names(" ").len(), 0);
    }

    #[test]
    fn unknown_names_are_refused_with_a_similar_one() {
        let why = chosen(Some("Zen 44")).expect_err("no design").to_string();
        assert!(why.contains("did you mean 'Zen 4'?"), "{why}");
    }

    #[test]
    fn the_table_has_each_design_and_says_what_is_unknown() {
        let text = table(None).expect("a table");
        let row = |name: &str| {
            let rows: Vec<&str> = text.lines().filter(|l| l.starts_with(name)).collect();
            assert_eq!(rows.len(), 1, "{name}: {rows:?}");
            rows[0].split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            row("Zen 2 "),
            "Zen 2 32 KiB 512 KiB 4 / 12 / 39 64 / 2048 64 / 32 2..8"
        );
        assert_eq!(row("Darkmont "), "Darkmont - - - / - / - - / - - / - -");
        for design in core_designs() {
            row(&format!("{}  ", design.name));
        }
    }

    #[test]
    fn a_design_is_listed_with_its_documents() {
        let text = table(Some("haswell")).expect("a table");
        let figure = text.lines().find(|l| l.starts_with("l2_latency_cycles"));
        let figure = figure.expect("a figure");
        assert!(figure.contains("11..12"), "{figure}");
        assert!(figure.ends_with("Manual; 7-cpu.com: Haswell"), "{figure}");
        assert!(
            text.contains("7-cpu.com: Haswell: https://www.7-cpu.com/"),
            "{text}"
        );
    }
}
