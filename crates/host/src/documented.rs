//! Published figures of core designs, from the files in `data`.
//!
//! - `designs.csv`: names of the designs, and their processors, joined by semicolons
//! - `processors.csv`: one figure a line, `low..high` if the documents give a range
//! - `sources.csv`: the documents
//!
//! A figure is left out unless a document has it: a wrong limit would reject valid measurements.

use report::{DocumentedFigure, DocumentedQuantity, PortWidth};

const DESIGNS: &str = include_str!("../data/designs.csv");
const FIGURES: &str = include_str!("../data/processors.csv");
const SOURCES: &str = include_str!("../data/sources.csv");

/// A document with figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentedSource {
    /// Name in `processors.csv`.
    pub key: &'static str,
    /// Title of the document.
    pub title: &'static str,
    /// Address of the document or of the site that has it.
    pub address: &'static str,
}

/// A core design with its figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreDesign {
    /// Name.
    pub name: &'static str,
    /// Processors with cores of this design: `Graviton4, Grace, Axion`.
    pub processors: String,
    /// Figures.
    pub figures: Vec<DocumentedFigure>,
    /// Documents that have the figures, without repetition.
    pub sources: Vec<DocumentedSource>,
}

impl CoreDesign {
    /// The figure for `quantity`; `None` if none is documented.
    pub fn figure(&self, quantity: DocumentedQuantity) -> Option<&DocumentedFigure> {
        self.figures
            .iter()
            .find(|figure| figure.quantity == quantity)
    }
}

/// Lines of a file after its heading, each split into exactly `N` fields. Other lines are left out.
fn lines<const N: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    text.lines()
        .skip(1)
        .filter_map(|line| line.split(',').collect::<Vec<_>>().try_into().ok())
}

/// Smallest and largest value of `14` or `11..12`.
fn range(text: &str) -> Option<(u64, u64)> {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    Some((low.parse().ok()?, high.parse().ok()?))
}

/// All documents, in the order of their file.
fn sources() -> Vec<DocumentedSource> {
    lines(SOURCES)
        .map(|[key, title, address]| DocumentedSource {
            key,
            title,
            address,
        })
        .collect()
}

/// Documents of a figure, whose keys are joined by semicolons.
fn sources_of(keys: &str, sources: &[DocumentedSource]) -> Vec<DocumentedSource> {
    keys.split(';')
        .filter_map(|key| sources.iter().find(|source| source.key == key))
        .copied()
        .collect()
}

/// All core designs with their figures, in the order of `designs.csv`.
pub fn core_designs() -> Vec<CoreDesign> {
    let documents = sources();
    let mut designs: Vec<CoreDesign> = lines(DESIGNS)
        .map(|[name, processors]| CoreDesign {
            name,
            processors: processors.replace(';', ","),
            figures: Vec::new(),
            sources: Vec::new(),
        })
        .collect();
    for [name, quantity, value, keys] in lines(FIGURES) {
        let design = designs.iter_mut().find(|design| design.name == name);
        let quantity = DocumentedQuantity::with_name(quantity);
        let (Some(design), Some(quantity), Some((low, high))) = (design, quantity, range(value))
        else {
            continue;
        };
        let found = sources_of(keys, &documents);
        let titles: Vec<&str> = found.iter().map(|source| source.title).collect();
        design.figures.push(DocumentedFigure {
            design: name.to_owned(),
            quantity,
            low,
            high,
            source: titles.join("; "),
        });
        for source in found {
            if !design.sources.contains(&source) {
                design.sources.push(source);
            }
        }
    }
    designs
}

/// The designs with these names, in the order of the names; unknown names are left out.
pub(crate) fn named(names: &[&str]) -> Vec<CoreDesign> {
    let all = core_designs();
    names
        .iter()
        .filter_map(|name| all.iter().find(|design| design.name == *name))
        .cloned()
        .collect()
}

/// Width of the paths to the L1 data cache of the first of `designs`, or the reason why it is
/// unknown. `avx512` is true if programs may use AVX-512.
pub(crate) fn port_width(designs: &[CoreDesign], avx512: bool) -> Result<PortWidth, &'static str> {
    use DocumentedQuantity::{
        LoadBytesPerCycle, LoadBytesPerCycleWithoutAvx512, StoreBytesPerCycle,
        StoreBytesPerCycleWithoutAvx512,
    };
    let design = designs.first().ok_or("the core design is unknown")?;
    let width = |loads, stores| {
        let bytes = |quantity| {
            design
                .figure(quantity)
                .and_then(|figure| u32::try_from(figure.high).ok())
        };
        Some(PortWidth {
            load_bytes: bytes(loads)?,
            store_bytes: bytes(stores)?,
        })
    };
    let without_avx512 = width(
        LoadBytesPerCycleWithoutAvx512,
        StoreBytesPerCycleWithoutAvx512,
    );
    match (width(LoadBytesPerCycle, StoreBytesPerCycle), without_avx512) {
        (Some(ports), _) => Ok(ports),
        (None, Some(ports)) if !avx512 => Ok(ports),
        (None, Some(_)) => {
            Err("this model is documented with AVX-512 switched off, and here it is on")
        }
        (None, None) => Err("no documented width for this model in the table"),
    }
}

/// Independent simple integer instructions per cycle. `None` if a processor has two kinds of core
/// or no figure was checked.
pub(crate) fn integer_width(designs: &[CoreDesign]) -> Option<u32> {
    let [design] = designs else { return None };
    let figure = design.figure(DocumentedQuantity::IntegerWidth)?;
    u32::try_from(figure.low).ok()
}

#[cfg(test)]
mod tests;
