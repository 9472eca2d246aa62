//! Figures that the maker of a core design, or others, published about it.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Makes [`DocumentedQuantity`] from rows of variant, name, unit and meaning.
macro_rules! quantities {
    ($($variant:ident, $name:literal, $unit:literal, $meaning:literal;)*) => {
        /// Quantity of a documented figure.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        pub enum DocumentedQuantity {
            $(
                #[doc = $meaning]
                #[serde(rename = $name)]
                $variant,
            )*
        }

        impl DocumentedQuantity {
            /// All quantities, from the core to the memory.
            pub const ALL: &[DocumentedQuantity] = &[$(DocumentedQuantity::$variant),*];

            /// Name in data files and reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(DocumentedQuantity::$variant => $name,)*
                }
            }

            /// Unit of the figure in words: `bytes`, `cycles`.
            pub fn unit(self) -> &'static str {
                match self {
                    $(DocumentedQuantity::$variant => $unit,)*
                }
            }

            /// Meaning of the figure in a sentence.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(DocumentedQuantity::$variant => $meaning,)*
                }
            }
        }
    };
}

quantities! {
    L1dBytes, "l1d_bytes", "bytes", "Size of the L1 data cache.";
    L1dWays, "l1d_ways", "ways", "Associativity of the L1 data cache.";
    L1dLineBytes, "l1d_line_bytes", "bytes", "Size of a line of the L1 data cache.";
    L1dLatencyCycles, "l1d_latency_cycles", "cycles",
        "Core cycles of a load that hits the L1 data cache and whose address is the loaded value.";
    L2Bytes, "l2_bytes", "bytes", "Size of one L2 cache, over the processors with this design.";
    L2Ways, "l2_ways", "ways", "Associativity of the L2 cache.";
    L2LatencyCycles, "l2_latency_cycles", "cycles",
        "Core cycles of a load that hits the L2 cache.";
    L3LatencyCycles, "l3_latency_cycles", "cycles",
        "Core cycles of a load that hits the L3 cache, if that cache runs at the core clock.";
    L1DtlbEntries4k, "l1_dtlb_entries_4k", "entries",
        "Entries of the first data TLB for loads of 4 KiB pages.";
    L1DtlbEntries2m, "l1_dtlb_entries_2m", "entries",
        "Entries of the first data TLB for loads of 2 MiB pages.";
    L1DtlbEntries1g, "l1_dtlb_entries_1g", "entries",
        "Entries of the first data TLB for loads of 1 GiB pages.";
    L2TlbEntries4k, "l2_tlb_entries_4k", "entries",
        "Entries of the second TLB for 4 KiB pages, some of which other page sizes may share.";
    L2TlbEntries16k, "l2_tlb_entries_16k", "entries",
        "Entries of the second TLB for 16 KiB pages.";
    L2TlbEntries2m, "l2_tlb_entries_2m", "entries",
        "Entries of the second TLB for 2 MiB pages, some of which other page sizes may share.";
    L2TlbEntries1g, "l2_tlb_entries_1g", "entries",
        "Entries of the second TLB for 1 GiB pages.";
    LoadBytesPerCycle, "load_bytes_per_cycle", "bytes per cycle",
        "Bytes that a core loads from the L1 data cache per cycle.";
    StoreBytesPerCycle, "store_bytes_per_cycle", "bytes per cycle",
        "Bytes that a core stores to the L1 data cache per cycle.";
    LoadBytesPerCycleWithoutAvx512, "load_bytes_per_cycle_without_avx512", "bytes per cycle",
        "Bytes that a core loads from the L1 data cache per cycle if AVX-512 is switched off.";
    StoreBytesPerCycleWithoutAvx512, "store_bytes_per_cycle_without_avx512", "bytes per cycle",
        "Bytes that a core stores to the L1 data cache per cycle if AVX-512 is switched off.";
    LoadsPerCycle, "loads_per_cycle", "per cycle", "Largest number of loads per cycle.";
    StoresPerCycle, "stores_per_cycle", "per cycle", "Largest number of stores per cycle.";
    L2ToL1BytesPerCycle, "l2_to_l1_bytes_per_cycle", "bytes per cycle",
        "Width of the path from the L2 cache to the L1 data cache.";
    IntegerWidth, "integer_width", "per cycle",
        "Independent simple integer instructions that a core executes per cycle.";
    RenameWidth, "rename_width", "per cycle",
        "Operations that a core renames per cycle; on cores without renaming, issues.";
    MemoryChannels, "memory_channels", "channels",
        "Memory channels of a socket, over the usual platforms of this design.";
}

impl DocumentedQuantity {
    /// The quantity with this name; `None` if there is none.
    pub fn with_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|quantity| quantity.name() == name)
    }
}

/// A published figure of a core design.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DocumentedFigure {
    /// Core design: `Zen 5`. A processor with two kinds of core has figures of both.
    pub design: String,
    /// Quantity that `low` and `high` are values of.
    pub quantity: DocumentedQuantity,
    /// Smallest published value.
    pub low: u64,
    /// Largest published value; equal to `low` if one value is published.
    pub high: u64,
    /// Titles of the documents that have the figure.
    pub source: String,
}

impl DocumentedFigure {
    /// Value or range without its unit: `14`, `11..12`. Bytes have a unit: `1280 KiB`, `1..2 MiB`.
    pub fn value(&self) -> String {
        if self.quantity.unit() != "bytes" {
            return joined(&self.low.to_string(), &self.high.to_string());
        }
        let low = Size::with_unit(self.low);
        let high = Size::with_unit(self.high);
        if low.unit == high.unit {
            let numbers = joined(&low.number.to_string(), &high.number.to_string());
            format!("{numbers} {}", low.unit)
        } else {
            format!("{} {}..{} {}", low.number, low.unit, high.number, high.unit)
        }
    }
}

/// `low..high`, or a single value if both are equal.
fn joined(low: &str, high: &str) -> String {
    if low == high {
        low.to_owned()
    } else {
        format!("{low}..{high}")
    }
}

/// Value or range with its unit: `14 cycles`, `2..12 channels`.
impl fmt::Display for DocumentedFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.quantity.unit() {
            "bytes" => f.write_str(&self.value()),
            unit => write!(f, "{} {unit}", self.value()),
        }
    }
}

/// A size as a number of the largest unit that divides it.
struct Size {
    number: u64,
    unit: &'static str,
}

impl Size {
    fn with_unit(bytes: u64) -> Self {
        let units = [(1 << 20, "MiB"), (1 << 10, "KiB")];
        let fitting = units.iter().find(|(size, _)| bytes.is_multiple_of(*size));
        let (size, unit) = fitting.copied().unwrap_or((1, "B"));
        Size {
            number: bytes / size,
            unit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn quantities_have_one_name_in_reports_and_data_files() {
        let mut names = BTreeSet::new();
        for quantity in DocumentedQuantity::ALL {
            let written = serde_json::to_string(quantity).unwrap();
            assert_eq!(written, format!("\"{}\"", quantity.name()));
            assert_eq!(
                DocumentedQuantity::with_name(quantity.name()),
                Some(*quantity)
            );
            assert!(names.insert(quantity.name()), "{quantity:?} twice");
        }
        assert_eq!(DocumentedQuantity::with_name("l1d_colour"), None);
    }

    #[test]
    fn names_say_the_unit() {
        for quantity in DocumentedQuantity::ALL {
            let name = quantity.name();
            let said = match quantity.unit() {
                "bytes" => name.ends_with("_bytes"),
                "ways" => name.ends_with("_ways"),
                "cycles" => name.ends_with("_cycles"),
                "entries" => name.contains("_entries_"),
                "channels" => name.ends_with("_channels"),
                "bytes per cycle" => name.contains("_bytes_per_cycle"),
                "per cycle" => name.ends_with("_per_cycle") || name.ends_with("_width"),
                other => panic!("{name}: unit {other}"),
            };
            assert!(said, "{name}: {}", quantity.unit());
        }
    }

    #[test]
    fn figures_as_text() {
        let text = |quantity, low, high| {
            let figure = DocumentedFigure {
                design: String::new(),
                quantity,
                low,
                high,
                source: String::new(),
            };
            figure.to_string()
        };
        use DocumentedQuantity::{L1dLineBytes, L2Bytes, L2LatencyCycles, MemoryChannels};
        assert_eq!(text(L2LatencyCycles, 14, 14), "14 cycles");
        assert_eq!(text(MemoryChannels, 2, 12), "2..12 channels");
        assert_eq!(text(L1dLineBytes, 64, 64), "64 B");
        assert_eq!(text(L2Bytes, 1280 << 10, 2 << 20), "1280 KiB..2 MiB");
        assert_eq!(text(L2Bytes, 1 << 20, 2 << 20), "1..2 MiB");
        assert_eq!(text(L2Bytes, 1280 << 10, 1280 << 10), "1280 KiB");
    }

    #[test]
    fn reports_without_documented_figures_are_read() {
        let host = crate::HostFacts::unknown("test");
        let mut value = serde_json::to_value(&host).unwrap();
        let cpu = value["cpu"].as_object_mut().unwrap();
        assert!(cpu.remove("documented").is_some());
        let read: crate::HostFacts = serde_json::from_value(value).unwrap();
        assert_eq!(read, host);
    }
}
