//! `memgauge list processors`: published figures of core designs.

use super::terminal::terminal_width;
use host::documented::{CoreDesign, core_designs};
use report::{DocumentedFigure, DocumentedQuantity};
use serde::Serialize;
use units::error::{Error, Result};
use units::nearest_name;

/// Quantities of the table of all designs, with their headings.
const COLUMNS: &[(&str, DocumentedQuantity)] = &[
    ("L1", DocumentedQuantity::L1dBytes),
    ("L1 cycles", DocumentedQuantity::L1dLatencyCycles),
    ("L2", DocumentedQuantity::L2Bytes),
    ("L2 cycles", DocumentedQuantity::L2LatencyCycles),
    ("L3 cycles", DocumentedQuantity::L3LatencyCycles),
    ("data TLB", DocumentedQuantity::L1DtlbEntries4k),
    ("second TLB", DocumentedQuantity::L2TlbEntries4k),
    ("load B", DocumentedQuantity::LoadBytesPerCycle),
    ("store B", DocumentedQuantity::StoreBytesPerCycle),
    ("memory channels", DocumentedQuantity::MemoryChannels),
];

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

/// Designs that `name` means; all without a name.
///
/// A name means the design with this name, in capitals or not. If there is none, it means all
/// designs and processors whose names contain it.
fn chosen(name: Option<&str>) -> Result<Vec<CoreDesign>> {
    let all = core_designs();
    let Some(name) = name else { return Ok(all) };
    let wanted = name.to_lowercase();
    let is_named = |design: &&CoreDesign| design.name.to_lowercase() == wanted;
    let contains = |design: &&CoreDesign| {
        design.name.to_lowercase().contains(&wanted)
            || design.processors.to_lowercase().contains(&wanted)
    };
    let found: Vec<CoreDesign> = match all.iter().find(is_named) {
        Some(design) => vec![design.clone()],
        None => all.iter().filter(contains).cloned().collect(),
    };
    if found.is_empty() {
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

/// Designs as data.
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

/// Designs as a table: the main figures of all, or all figures of those that `name` means.
pub fn table(name: Option<&str>) -> Result<String> {
    let designs = chosen(name)?;
    Ok(match name {
        None => main_figures(&designs),
        Some(_) => all_figures(&designs),
    })
}

fn main_figures(designs: &[CoreDesign]) -> String {
    let row = |design: &CoreDesign| {
        let mut cells = vec![design.name.to_owned()];
        cells.extend(COLUMNS.iter().map(|(_, quantity)| {
            let figure = design.figure(*quantity);
            figure.map_or_else(|| "-".to_owned(), DocumentedFigure::value)
        }));
        cells.push(design.processors.clone());
        cells
    };
    let rows: Vec<Vec<String>> = designs.iter().map(row).collect();
    let mut headers = vec!["design"];
    headers.extend(COLUMNS.iter().map(|(heading, _)| heading));
    headers.push("processors");
    render::list_table(&headers, &rows, terminal_width())
        + "\ncycles: of a load that hits, by the core clock; TLB: entries for 4 KiB pages; load, \
           store: per cycle\n- unknown; memgauge list processors NAME lists all figures of a \
           design with their sources\n"
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
