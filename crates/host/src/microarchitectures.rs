//! Table of core designs: name, width of the paths to the L1 data cache, and simple integer
//! instructions per cycle.
//!
//! Model numbers: Linux, arch/x86/include/asm/intel-family.h and arch/x86/kernel/cpu/amd.c. Widths:
//! Intel 64 and IA-32 Architectures Optimization Reference Manual (248966); AMD Software
//! Optimization Guides 55723 and 56305 (family 17h), 56665 and 57647 (family 19h), 58455 (family
//! 1Ah). Other widths are unknown: a wrong limit would reject valid measurements.

use super::processor::Signature;
use report::PortWidth;
use std::ops::RangeInclusive;

/// A core design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Microarchitecture {
    /// Name; two names if a processor has two kinds of core, the faster one first.
    pub name: &'static str,
    /// Bytes per cycle to and from the L1 data cache of the faster kind of core, or why they are
    /// unknown.
    pub ports: Result<PortWidth, &'static str>,
    /// Independent simple integer instructions per cycle. `None` if a processor has two kinds of
    /// core or no figure was checked.
    pub integer_width: Option<u32>,
}

/// Models of a family with one design.
struct DesignRow {
    vendor: &'static str,
    family: u32,
    models: &'static [RangeInclusive<u32>],
    name: &'static str,
    widths: Widths,
    integer_width: Option<u32>,
}

/// Bytes loaded and stored per cycle.
#[derive(Clone, Copy)]
enum Widths {
    /// With any instruction set.
    Known(u32, u32),
    /// Valid only without AVX-512, which later units of these models lack.
    WithoutAvx512(u32, u32),
    /// Not published in a form that was checked.
    Unknown,
}

use Widths::{Known, Unknown, WithoutAvx512};

const INTEL: &str = "GenuineIntel";
const AMD: &str = "AuthenticAMD";
const HYGON: &str = "HygonGenuine";

/// Makes a row of the table.
const fn row(
    vendor: &'static str,
    family: u32,
    models: &'static [RangeInclusive<u32>],
    name: &'static str,
    widths: Widths,
    integer_width: Option<u32>,
) -> DesignRow {
    DesignRow {
        vendor,
        family,
        models,
        name,
        widths,
        integer_width,
    }
}

#[rustfmt::skip]
const TABLE: &[DesignRow] = &[
    // Intel, large cores.
    row(INTEL, 6, &[0x1a..=0x1a, 0x1e..=0x1f, 0x2e..=0x2e], "Nehalem", Known(16, 16), Some(3)),
    row(INTEL, 6, &[0x25..=0x25, 0x2c..=0x2c, 0x2f..=0x2f], "Westmere", Known(16, 16), Some(3)),
    row(INTEL, 6, &[0x2a..=0x2a, 0x2d..=0x2d], "Sandy Bridge", Known(32, 16), Some(3)),
    row(INTEL, 6, &[0x3a..=0x3a, 0x3e..=0x3e], "Ivy Bridge", Known(32, 16), Some(3)),
    row(INTEL, 6, &[0x3c..=0x3c, 0x3f..=0x3f, 0x45..=0x46], "Haswell", Known(64, 32), Some(4)),
    row(INTEL, 6, &[0x3d..=0x3d, 0x47..=0x47, 0x4f..=0x4f, 0x56..=0x56], "Broadwell", Known(64, 32), Some(4)),
    row(INTEL, 6, &[0x4e..=0x4e, 0x5e..=0x5e, 0x8e..=0x8e], "Skylake", Known(64, 32), Some(4)),
    row(INTEL, 6, &[0x9e..=0x9e, 0xa5..=0xa6], "Skylake", Known(64, 32), Some(4)),
    // One model number for Skylake-SP, Cascade Lake and Cooper Lake, which have equal paths.
    row(INTEL, 6, &[0x55..=0x55], "Skylake-SP", Known(128, 64), Some(4)),
    row(INTEL, 6, &[0x66..=0x66], "Palm Cove", Unknown, Some(4)),
    row(INTEL, 6, &[0x6a..=0x6a, 0x6c..=0x6c, 0x7d..=0x7e], "Sunny Cove", Known(128, 64), Some(4)),
    row(INTEL, 6, &[0x8c..=0x8d], "Willow Cove", Known(128, 64), Some(4)),
    row(INTEL, 6, &[0xa7..=0xa7], "Cypress Cove", Known(128, 64), Some(4)),
    row(INTEL, 6, &[0x8f..=0x8f], "Golden Cove", Known(128, 64), Some(5)),
    row(INTEL, 6, &[0xcf..=0xcf], "Raptor Cove", Known(128, 64), Some(5)),
    row(INTEL, 6, &[0xad..=0xae], "Redwood Cove", Known(128, 64), Some(5)),
    // Intel, two kinds of core.
    row(INTEL, 6, &[0x97..=0x97, 0x9a..=0x9a], "Golden Cove, Gracemont", WithoutAvx512(96, 64), None),
    row(INTEL, 6, &[0xb7..=0xb7, 0xba..=0xba, 0xbf..=0xbf], "Raptor Cove, Gracemont", WithoutAvx512(96, 64), None),
    row(INTEL, 6, &[0xaa..=0xaa, 0xac..=0xac, 0xb5..=0xb5], "Redwood Cove, Crestmont", WithoutAvx512(96, 64), None),
    row(INTEL, 6, &[0xbd..=0xbd, 0xc5..=0xc6], "Lion Cove, Skymont", Unknown, None),
    row(INTEL, 6, &[0xcc..=0xcc], "Cougar Cove, Darkmont", Unknown, None),
    row(INTEL, 6, &[0x8a..=0x8a], "Sunny Cove, Tremont", Unknown, None),
    // Intel, small cores.
    row(INTEL, 6, &[0x37..=0x37, 0x4a..=0x4a, 0x4d..=0x4d], "Silvermont", Unknown, None),
    row(INTEL, 6, &[0x4c..=0x4c, 0x5a..=0x5a, 0x75..=0x75], "Airmont", Unknown, None),
    row(INTEL, 6, &[0x5c..=0x5c, 0x5f..=0x5f], "Goldmont", Known(16, 16), None),
    row(INTEL, 6, &[0x7a..=0x7a], "Goldmont Plus", Known(16, 16), None),
    row(INTEL, 6, &[0x86..=0x86, 0x96..=0x96, 0x9c..=0x9c], "Tremont", Unknown, None),
    row(INTEL, 6, &[0xbe..=0xbe], "Gracemont", Known(32, 32), None),
    row(INTEL, 6, &[0xaf..=0xaf, 0xb6..=0xb6], "Crestmont", Unknown, None),
    row(INTEL, 6, &[0xdd..=0xdd], "Darkmont", Unknown, None),
    row(INTEL, 6, &[0x57..=0x57, 0x85..=0x85], "Knights Landing", Known(128, 64), None),
    // AMD.
    row(AMD, 0x17, &[0x00..=0x2f, 0x50..=0x5f], "Zen 1", Known(32, 16), Some(4)),
    row(AMD, 0x17, &[0x30..=0x4f, 0x60..=0x7f, 0x90..=0x91, 0xa0..=0xaf], "Zen 2", Known(64, 32), Some(4)),
    row(AMD, 0x19, &[0x00..=0x0f, 0x20..=0x5f], "Zen 3", Known(64, 32), Some(4)),
    // One 512-bit load per cycle, one 512-bit store every other cycle.
    row(AMD, 0x19, &[0x10..=0x1f, 0x60..=0xaf], "Zen 4", Known(64, 32), Some(4)),
    // EPYC 9005 (including Zen 5c) and Ryzen 9000: full 512-bit paths.
    row(AMD, 0x1a, &[0x00..=0x1f, 0x40..=0x4f], "Zen 5", Known(128, 64), Some(6)),
    // Strix Point, Krackan Point, Strix Halo: some of these have a vector unit of half the width.
    row(AMD, 0x1a, &[0x20..=0x2f, 0x60..=0x7f, 0xd0..=0xd7], "Zen 5", Unknown, Some(6)),
    row(HYGON, 0x18, &[0x00..=0x03], "Zen 1", Known(32, 16), Some(4)),
];

/// Finds the design of a processor of `vendor` (in the spelling of CPUID); `None` if unknown.
/// `avx512` is true if programs may use AVX-512.
pub fn find(vendor: &str, signature: Signature, avx512: bool) -> Option<Microarchitecture> {
    let fits = |row: &&DesignRow| {
        row.vendor == vendor
            && row.family == signature.family
            && row
                .models
                .iter()
                .any(|models| models.contains(&signature.model))
    };
    let row = TABLE.iter().find(fits)?;
    let ports = match row.widths {
        Known(load_bytes, store_bytes) => Ok(PortWidth {
            load_bytes,
            store_bytes,
        }),
        WithoutAvx512(load_bytes, store_bytes) if !avx512 => Ok(PortWidth {
            load_bytes,
            store_bytes,
        }),
        WithoutAvx512(..) => {
            Err("this model is documented with AVX-512 switched off, and here it is on")
        }
        Unknown => Err("no documented width for this model in the table"),
    };
    Some(Microarchitecture {
        name: row.name,
        ports,
        integer_width: row.integer_width,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(vendor: &str, family: u32, model: u32) -> Option<(&'static str, Option<(u32, u32)>)> {
        let found = find(
            vendor,
            Signature {
                family,
                model,
                stepping: 0,
            },
            false,
        )?;
        Some((
            found.name,
            found.ports.ok().map(|p| (p.load_bytes, p.store_bytes)),
        ))
    }

    #[test]
    fn designs_by_vendor_family_and_model() {
        assert_eq!(named(AMD, 0x1a, 0x02), Some(("Zen 5", Some((128, 64)))));
        assert_eq!(named(AMD, 0x1a, 0x24), Some(("Zen 5", None)));
        assert_eq!(named(AMD, 0x19, 0x11), Some(("Zen 4", Some((64, 32)))));
        assert_eq!(named(AMD, 0x17, 0x31), Some(("Zen 2", Some((64, 32)))));
        assert_eq!(named(INTEL, 6, 0x55), Some(("Skylake-SP", Some((128, 64)))));
        assert_eq!(named(INTEL, 6, 0x9e), Some(("Skylake", Some((64, 32)))));
        assert_eq!(
            named(INTEL, 6, 0xad),
            Some(("Redwood Cove", Some((128, 64))))
        );
        assert_eq!(named(INTEL, 6, 0xaf), Some(("Crestmont", None)));
    }

    #[test]
    fn integer_widths_are_those_of_the_execution_units() {
        let width = |vendor, family, model| {
            find(
                vendor,
                Signature {
                    family,
                    model,
                    stepping: 0,
                },
                true,
            )
            .and_then(|design| design.integer_width)
        };
        assert_eq!(width(AMD, 0x1a, 0x02), Some(6));
        assert_eq!(width(AMD, 0x19, 0x11), Some(4));
        assert_eq!(width(INTEL, 6, 0xcf), Some(5));
        assert_eq!(width(INTEL, 6, 0x55), Some(4));
        assert_eq!(width(INTEL, 6, 0x97), None);
    }

    #[test]
    fn unknown_stays_unknown() {
        for (vendor, family, model) in [
            (AMD, 0x1a, 0x50),
            (AMD, 0x1b, 0),
            (INTEL, 6, 0xff),
            (INTEL, 0x1a, 2),
            ("", 6, 0x55),
        ] {
            assert_eq!(
                named(vendor, family, model),
                None,
                "{vendor} {family} {model}"
            );
        }
    }

    #[test]
    fn no_model_is_in_two_rows_and_stores_are_never_wider_than_loads() {
        for (i, a) in TABLE.iter().enumerate() {
            for b in TABLE
                .iter()
                .skip(i + 1)
                .filter(|b| (b.vendor, b.family) == (a.vendor, a.family))
            {
                let twice = a
                    .models
                    .iter()
                    .flat_map(|r| r.clone())
                    .find(|m| b.models.iter().any(|r| r.contains(m)));
                assert_eq!(twice, None, "{} and {}", a.name, b.name);
            }
            if let Known(load, store) | WithoutAvx512(load, store) = a.widths {
                assert!(load >= store && store >= 16 && load <= 128, "{}", a.name);
            }
        }
    }

    #[test]
    fn hybrid_widths_hold_only_without_avx512() {
        let signature = Signature {
            family: 6,
            model: 0x97,
            stepping: 2,
        };
        assert!(find(INTEL, signature, false).unwrap().ports.is_ok());
        assert!(find(INTEL, signature, true).unwrap().ports.is_err());
    }
}
