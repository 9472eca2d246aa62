//! Identifies the core designs of a processor by data that the processor or the operating system
//! reports.
//!
//! x86: vendor, family and model (Linux, arch/x86/include/asm/intel-family.h and
//! arch/x86/kernel/cpu/amd.c). Arm: numbers of implementer and part
//! (arch/arm64/include/asm/cputype.h). RISC-V: registers of vendor and architecture (LLVM,
//! RISCVProcessors.td), or the name in the device tree.
//!
//! Variants of a design with different documented figures have names of their own. For example,
//! server cores may have another L2 cache.

use super::files::field;
use crate::processor::Signature;
use std::ops::RangeInclusive;

/// Names of the core designs of a processor. If an x86 processor has two core designs, the first
/// one is the faster.
type Designs = &'static [&'static str];

/// Models of an x86 family that have the same core designs.
struct ModelsRow {
    vendor: &'static str,
    family: u32,
    models: &'static [RangeInclusive<u32>],
    designs: Designs,
}

const INTEL: &str = "GenuineIntel";
const AMD: &str = "AuthenticAMD";
const HYGON: &str = "HygonGenuine";

/// A row of the table of x86 processors.
const fn row(
    vendor: &'static str,
    family: u32,
    models: &'static [RangeInclusive<u32>],
    designs: Designs,
) -> ModelsRow {
    ModelsRow {
        vendor,
        family,
        models,
        designs,
    }
}

#[rustfmt::skip]
const MODELS: &[ModelsRow] = &[
    // Intel processors with large cores.
    row(INTEL, 6, &[0x1a..=0x1a, 0x1e..=0x1f, 0x2e..=0x2e], &["Nehalem"]),
    row(INTEL, 6, &[0x25..=0x25, 0x2c..=0x2c, 0x2f..=0x2f], &["Westmere"]),
    row(INTEL, 6, &[0x2a..=0x2a, 0x2d..=0x2d], &["Sandy Bridge"]),
    row(INTEL, 6, &[0x3a..=0x3a, 0x3e..=0x3e], &["Ivy Bridge"]),
    row(INTEL, 6, &[0x3c..=0x3c, 0x3f..=0x3f, 0x45..=0x46], &["Haswell"]),
    row(INTEL, 6, &[0x3d..=0x3d, 0x47..=0x47, 0x4f..=0x4f, 0x56..=0x56], &["Broadwell"]),
    row(INTEL, 6, &[0x4e..=0x4e, 0x5e..=0x5e, 0x8e..=0x8e], &["Skylake"]),
    row(INTEL, 6, &[0x9e..=0x9e, 0xa5..=0xa6], &["Skylake"]),
    // Skylake-SP, Cascade Lake and Cooper Lake have the same model number and equal figures.
    row(INTEL, 6, &[0x55..=0x55], &["Skylake-SP"]),
    row(INTEL, 6, &[0x66..=0x66], &["Palm Cove"]),
    row(INTEL, 6, &[0x7d..=0x7e], &["Sunny Cove"]),
    row(INTEL, 6, &[0x6a..=0x6a, 0x6c..=0x6c], &["Sunny Cove (server)"]),
    row(INTEL, 6, &[0x8c..=0x8d], &["Willow Cove"]),
    row(INTEL, 6, &[0xa7..=0xa7], &["Cypress Cove"]),
    row(INTEL, 6, &[0x8f..=0x8f], &["Golden Cove (server)"]),
    row(INTEL, 6, &[0xcf..=0xcf], &["Raptor Cove (server)"]),
    row(INTEL, 6, &[0xad..=0xae], &["Redwood Cove (server)"]),
    // Intel processors with two kinds of core.
    row(INTEL, 6, &[0x97..=0x97, 0x9a..=0x9a], &["Golden Cove (client)", "Gracemont"]),
    row(INTEL, 6, &[0xb7..=0xb7, 0xba..=0xba], &["Raptor Cove (client)", "Gracemont"]),
    row(INTEL, 6, &[0xbf..=0xbf], &["Raptor Cove (client)", "Gracemont"]),
    row(INTEL, 6, &[0xaa..=0xaa, 0xac..=0xac], &["Redwood Cove (client)", "Crestmont"]),
    row(INTEL, 6, &[0xb5..=0xb5], &["Redwood Cove (client)", "Crestmont"]),
    row(INTEL, 6, &[0xbd..=0xbd, 0xc5..=0xc6], &["Lion Cove", "Skymont"]),
    row(INTEL, 6, &[0xcc..=0xcc], &["Cougar Cove", "Darkmont"]),
    row(INTEL, 6, &[0x8a..=0x8a], &["Sunny Cove (Lakefield)", "Tremont"]),
    // Intel processors with small cores.
    row(INTEL, 6, &[0x37..=0x37, 0x4a..=0x4a, 0x4d..=0x4d], &["Silvermont"]),
    row(INTEL, 6, &[0x4c..=0x4c, 0x5a..=0x5a, 0x75..=0x75], &["Airmont"]),
    row(INTEL, 6, &[0x5c..=0x5c, 0x5f..=0x5f], &["Goldmont"]),
    row(INTEL, 6, &[0x7a..=0x7a], &["Goldmont Plus"]),
    row(INTEL, 6, &[0x86..=0x86, 0x96..=0x96, 0x9c..=0x9c], &["Tremont"]),
    row(INTEL, 6, &[0xbe..=0xbe], &["Gracemont"]),
    row(INTEL, 6, &[0xaf..=0xaf, 0xb6..=0xb6], &["Crestmont"]),
    row(INTEL, 6, &[0xdd..=0xdd], &["Darkmont"]),
    row(INTEL, 6, &[0x57..=0x57, 0x85..=0x85], &["Knights Landing"]),
    // AMD processors.
    row(AMD, 0x17, &[0x00..=0x2f, 0x50..=0x5f], &["Zen 1"]),
    row(AMD, 0x17, &[0x30..=0x4f, 0x60..=0x7f, 0x90..=0x91, 0xa0..=0xaf], &["Zen 2"]),
    row(AMD, 0x19, &[0x00..=0x0f, 0x20..=0x5f], &["Zen 3"]),
    row(AMD, 0x19, &[0x10..=0x1f, 0x60..=0x9f], &["Zen 4"]),
    row(AMD, 0x19, &[0xa0..=0xaf], &["Zen 4c"]),
    // EPYC 9005 and Ryzen 9000 have full 512-bit data paths.
    row(AMD, 0x1a, &[0x00..=0x0f, 0x40..=0x4f], &["Zen 5"]),
    row(AMD, 0x1a, &[0x10..=0x1f], &["Zen 5c"]),
    // Strix Point, Krackan Point and Strix Halo. Some of these have vector units of half the width.
    row(AMD, 0x1a, &[0x20..=0x2f, 0x60..=0x7f, 0xd0..=0xd7], &["Zen 5 (mobile)"]),
    row(HYGON, 0x18, &[0x00..=0x03], &["Zen 1"]),
];

const ARM: u32 = 0x41;
const FUJITSU: u32 = 0x46;
const APPLE: u32 = 0x61;
const AMPERE: u32 = 0xc0;

/// Core designs of Arm processors, by the numbers of implementer and part in the main
/// identification register (MIDR).
const PARTS: &[(u32, u32, &str)] = &[
    (ARM, 0xd03, "Cortex-A53"),
    (ARM, 0xd04, "Cortex-A35"),
    (ARM, 0xd05, "Cortex-A55"),
    (ARM, 0xd07, "Cortex-A57"),
    (ARM, 0xd08, "Cortex-A72"),
    (ARM, 0xd09, "Cortex-A73"),
    (ARM, 0xd0a, "Cortex-A75"),
    (ARM, 0xd0b, "Cortex-A76"),
    (ARM, 0xd0c, "Neoverse N1"),
    (ARM, 0xd0d, "Cortex-A77"),
    (ARM, 0xd40, "Neoverse V1"),
    (ARM, 0xd41, "Cortex-A78"),
    // Cortex-A78AE: Cortex-A78 with a mode for safety.
    (ARM, 0xd42, "Cortex-A78"),
    (ARM, 0xd44, "Cortex-X1"),
    (ARM, 0xd46, "Cortex-A510"),
    (ARM, 0xd47, "Cortex-A710"),
    (ARM, 0xd48, "Cortex-X2"),
    (ARM, 0xd49, "Neoverse N2"),
    (ARM, 0xd4d, "Cortex-A715"),
    (ARM, 0xd4e, "Cortex-X3"),
    (ARM, 0xd4f, "Neoverse V2"),
    (ARM, 0xd81, "Cortex-A720"),
    (ARM, 0xd82, "Cortex-X4"),
    (ARM, 0xd84, "Neoverse V3"),
    (FUJITSU, 0x001, "A64FX"),
    (APPLE, 0x022, "Icestorm"),
    (APPLE, 0x023, "Firestorm"),
    (APPLE, 0x024, "Icestorm"),
    (APPLE, 0x025, "Firestorm"),
    (APPLE, 0x028, "Icestorm"),
    (APPLE, 0x029, "Firestorm"),
    (APPLE, 0x032, "Blizzard"),
    (APPLE, 0x033, "Avalanche"),
    (APPLE, 0x034, "Blizzard"),
    (APPLE, 0x035, "Avalanche"),
    (APPLE, 0x038, "Blizzard"),
    (APPLE, 0x039, "Avalanche"),
    (AMPERE, 0xac3, "AmpereOne"),
    (AMPERE, 0xac4, "AmpereOne"),
];

/// Core designs of Apple's processors, by model name without `Pro`, `Max` and `Ultra`.
const BRANDS: &[(&str, Designs)] = &[
    ("Apple M1", &["Firestorm", "Icestorm"]),
    ("Apple M2", &["Avalanche", "Blizzard"]),
    ("Apple M3", &["M3 performance core", "M3 efficiency core"]),
    ("Apple M4", &["M4 performance core", "M4 efficiency core"]),
];

/// A RISC-V core design and the data that identify it.
struct RiscvRow {
    /// Names in the device tree.
    names: &'static [&'static str],
    /// Values of the vendor and architecture registers. `None` if other designs have the same
    /// values.
    registers: Option<(u64, u64)>,
    design: &'static str,
}

const RISCV: &[RiscvRow] = &[
    RiscvRow {
        names: &["sifive,u74", "sifive,u74-mc"],
        registers: Some((0x489, 0x8000_0000_0000_0007)),
        design: "SiFive U74",
    },
    RiscvRow {
        names: &["sifive,p550"],
        registers: Some((0x489, 0x8000_0000_0000_0008)),
        design: "SiFive P550",
    },
    // C906 and C910 have the same values of these registers.
    RiscvRow {
        names: &["thead,c910", "thead,c920"],
        registers: None,
        design: "T-Head C910",
    },
    RiscvRow {
        names: &["spacemit,x60"],
        registers: Some((0x710, 0x8000_0000_5800_0001)),
        design: "SpacemiT X60",
    },
];

/// Data that identify the cores of a processor.
pub struct Known<'a> {
    /// Architecture of this program, as `std::env::consts::ARCH` names it.
    pub architecture: &'a str,
    /// Vendor in the spelling of CPUID.
    pub vendor: Option<&'a str>,
    /// Family and model from CPUID.
    pub signature: Option<Signature>,
    /// Model name.
    pub brand: Option<&'a str>,
    /// Text of `/proc/cpuinfo`. An emulated program may read the file of its host, which has the
    /// keys of another architecture.
    pub cpuinfo: &'a str,
}

/// Names of the core designs of a processor, and the source. The error is the reason why one of the
/// designs is unknown.
pub fn find(known: &Known<'_>) -> Result<(Vec<&'static str>, &'static str), String> {
    let apple = known.brand.and_then(by_brand);
    match (known.signature, known.architecture) {
        (Some(signature), _) => match by_model(known.vendor.unwrap_or_default(), signature) {
            Some(designs) => Ok((
                designs,
                "table of core designs, by vendor, family and model",
            )),
            None => Err(format!("{signature} is not in the table of core designs")),
        },
        (None, "aarch64" | "arm") => match apple {
            Some(designs) => Ok((designs, "table of core designs, by model name")),
            None => Ok((
                by_part(known.cpuinfo)?,
                "table of core designs, by implementer and part",
            )),
        },
        (None, "riscv64" | "riscv32") => Ok((
            by_riscv(known.cpuinfo)?,
            "table of core designs, by vendor and architecture",
        )),
        (None, _) => Err("family and model are unknown".to_owned()),
    }
}

/// Core designs of an x86 processor; `None` if the processor is not in the table.
fn by_model(vendor: &str, signature: Signature) -> Option<Vec<&'static str>> {
    let fits = |row: &&ModelsRow| {
        row.vendor == vendor
            && row.family == signature.family
            && row
                .models
                .iter()
                .any(|models| models.contains(&signature.model))
    };
    MODELS.iter().find(fits).map(|row| row.designs.to_vec())
}

/// Core designs of an Apple processor; `None` if the processor is not in the table.
fn by_brand(brand: &str) -> Option<Vec<&'static str>> {
    let fits = |(name, _): &&(&str, Designs)| {
        let rest = brand.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    BRANDS
        .iter()
        .find(fits)
        .map(|(_, designs)| designs.to_vec())
}

/// Parses a number in the form of `/proc/cpuinfo`: `0x41`.
fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Values of the keys `first` and `second` in `cpuinfo`, as pairs, each once. A CPU gives a pair if
/// it has both keys. Each paragraph of the text describes a CPU.
fn pairs(cpuinfo: &str, first: &str, second: &str) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for cpu in cpuinfo.split("\n\n") {
        let number = |key| field(cpu, key).and_then(hexadecimal);
        if let Some(pair) = number(first).zip(number(second))
            && !found.contains(&pair)
        {
            found.push(pair);
        }
    }
    found
}

/// Adds `name` to `designs` unless it is already there.
fn add(designs: &mut Vec<&'static str>, name: &'static str) {
    if !designs.contains(&name) {
        designs.push(name);
    }
}

/// Core designs of an Arm processor, in the order of its CPUs. The error names the unknown core.
fn by_part(cpuinfo: &str) -> Result<Vec<&'static str>, String> {
    let mut designs = Vec::new();
    for (implementer, part) in pairs(cpuinfo, "CPU implementer", "CPU part") {
        let fits =
            |row: &&(u32, u32, &str)| (u64::from(row.0), u64::from(row.1)) == (implementer, part);
        let Some((_, _, name)) = PARTS.iter().find(fits) else {
            return Err(format!(
                "implementer {implementer:#x} part {part:#x} is not in the table of core designs"
            ));
        };
        add(&mut designs, name);
    }
    if designs.is_empty() {
        return Err("the system does not tell implementer and part".to_owned());
    }
    Ok(designs)
}

/// Core designs of a RISC-V processor, in the order of its CPUs. The error names the unknown core.
fn by_riscv(cpuinfo: &str) -> Result<Vec<&'static str>, String> {
    let mut designs = Vec::new();
    for cpu in cpuinfo.split("\n\n").filter(|cpu| !cpu.trim().is_empty()) {
        let name = field(cpu, "uarch").unwrap_or_default();
        let registers = pairs(cpu, "mvendorid", "marchid").first().copied();
        let by_name = RISCV.iter().find(|row| row.names.contains(&name));
        let by_registers = RISCV
            .iter()
            .find(|row| row.registers.is_some() && row.registers == registers);
        let is_cpu = registers.is_some() || !name.is_empty();
        match by_name.or(by_registers) {
            Some(row) => add(&mut designs, row.design),
            None if is_cpu => {
                return Err(match registers {
                    Some((vendor, architecture)) => format!(
                        "vendor {vendor:#x} architecture {architecture:#x} is not in the table of \
                         core designs"
                    ),
                    None => format!("{name} is not in the table of core designs"),
                });
            }
            None => {}
        }
    }
    if designs.is_empty() {
        return Err("the system does not tell vendor and architecture".to_owned());
    }
    Ok(designs)
}

#[cfg(test)]
mod tests;
