//! Published figures of core designs, from the files in `data`.
//!
//! - `designs.csv`: name of each core design, and its processors joined by semicolons
//! - `processors.csv`: one figure per line, `low..high` if the documents give a range
//! - `sources.csv`: the documents
//!
//! Some figures are limits for measurements. So the files only contain figures from documents: a
//! wrong limit would reject valid measurements.

use report::{DocumentedFigure, DocumentedQuantity, PortWidth};

const DESIGNS: &str = include_str!("../data/designs.csv");
const FIGURES: &str = include_str!("../data/processors.csv");
const SOURCES: &str = include_str!("../data/sources.csv");

/// A document that states figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentedSource {
    /// Short name by which `processors.csv` refers to the document.
    pub key: &'static str,
    /// Title of the document.
    pub title: &'static str,
    /// Address of the document or of the site that has it.
    pub address: &'static str,
}

/// A core design with its figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreDesign {
    /// Name of the design.
    pub name: &'static str,
    /// Processors with cores of this design: `Graviton4, Grace, Axion`.
    pub processors: String,
    /// Documented figures of the design.
    pub figures: Vec<DocumentedFigure>,
    /// Documents that state the figures, each once.
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

/// The lines of a CSV file after its heading, split into `N` fields. Lines with another number of
/// fields are left out.
fn lines<const N: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    text.lines()
        .skip(1)
        .filter_map(|line| line.split(',').collect::<Vec<_>>().try_into().ok())
}

/// The smallest and largest value in `text`, which is a number such as `14` or a range such as
/// `11..12`. `None` for any other text.
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

/// The documents with the given keys, which are joined by semicolons. Unknown keys are left out.
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

/// The core designs with these names, in the order of `names`. Unknown names are left out.
pub(crate) fn named(names: &[&str]) -> Vec<CoreDesign> {
    let all = core_designs();
    names
        .iter()
        .filter_map(|name| all.iter().find(|design| design.name == *name))
        .cloned()
        .collect()
}

/// Most bytes per clock cycle that a core of the first of `designs` can load from its L1 data
/// cache, and store to it. The error is the reason why they are unknown. `avx512` is true if
/// programs may use AVX-512.
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

/// Largest number of independent simple integer instructions that a core executes per clock cycle.
/// If the documents give a range, the result is its lower end. `None` unless there is exactly one
/// design and its figure is documented.
pub(crate) fn integer_width(designs: &[CoreDesign]) -> Option<u32> {
    let [design] = designs else { return None };
    let figure = design.figure(DocumentedQuantity::IntegerWidth)?;
    u32::try_from(figure.low).ok()
}

#[cfg(test)]
mod tests;
