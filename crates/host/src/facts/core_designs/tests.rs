//! Core designs of processors, identified by recorded data.

use super::*;
use crate::documented::{core_designs, integer_width, named, port_width};
use std::collections::BTreeSet;

/// Bytes that a core loads and stores per cycle.
#[derive(Clone, Copy)]
enum Width {
    Known(u32, u32),
    WithoutAvx512(u32, u32),
    Unknown,
}

use Width::{Known as Both, Unknown, WithoutAvx512};

/// Vendor, family, models at the ends of ranges, width of the paths to L1, and integer width.
type LimitRow = (&'static str, u32, &'static [u32], Width, Option<u32>);

/// Expected figures. Limits of measurements depend on them, so a change needs a better document.
#[rustfmt::skip]
const LIMITS: &[LimitRow] = &[
    (INTEL, 6, &[0x1a, 0x1e, 0x1f, 0x2e], Both(16, 16), Some(3)),
    (INTEL, 6, &[0x25, 0x2c, 0x2f], Both(16, 16), Some(3)),
    (INTEL, 6, &[0x2a, 0x2d], Both(32, 16), Some(3)),
    (INTEL, 6, &[0x3a, 0x3e], Both(32, 16), Some(3)),
    (INTEL, 6, &[0x3c, 0x3f, 0x45, 0x46], Both(64, 32), Some(4)),
    (INTEL, 6, &[0x3d, 0x47, 0x4f, 0x56], Both(64, 32), Some(4)),
    (INTEL, 6, &[0x4e, 0x5e, 0x8e], Both(64, 32), Some(4)),
    (INTEL, 6, &[0x9e, 0xa5, 0xa6], Both(64, 32), Some(4)),
    (INTEL, 6, &[0x55], Both(128, 64), Some(4)),
    (INTEL, 6, &[0x66], Unknown, Some(4)),
    (INTEL, 6, &[0x6a, 0x6c, 0x7d, 0x7e], Both(128, 64), Some(4)),
    (INTEL, 6, &[0x8c, 0x8d], Both(128, 64), Some(4)),
    (INTEL, 6, &[0xa7], Both(128, 64), Some(4)),
    (INTEL, 6, &[0x8f], Both(128, 64), Some(5)),
    (INTEL, 6, &[0xcf], Both(128, 64), Some(5)),
    (INTEL, 6, &[0xad, 0xae], Both(128, 64), Some(5)),
    (INTEL, 6, &[0x97, 0x9a], WithoutAvx512(96, 64), None),
    (INTEL, 6, &[0xb7, 0xba, 0xbf], WithoutAvx512(96, 64), None),
    (INTEL, 6, &[0xaa, 0xac, 0xb5], WithoutAvx512(96, 64), None),
    (INTEL, 6, &[0xbd, 0xc5, 0xc6], Unknown, None),
    (INTEL, 6, &[0xcc], Unknown, None),
    (INTEL, 6, &[0x8a], Unknown, None),
    (INTEL, 6, &[0x37, 0x4a, 0x4d], Unknown, None),
    (INTEL, 6, &[0x4c, 0x5a, 0x75], Unknown, None),
    (INTEL, 6, &[0x5c, 0x5f], Both(16, 16), None),
    (INTEL, 6, &[0x7a], Both(16, 16), None),
    (INTEL, 6, &[0x86, 0x96, 0x9c], Unknown, None),
    (INTEL, 6, &[0xbe], Both(32, 32), None),
    (INTEL, 6, &[0xaf, 0xb6], Unknown, None),
    (INTEL, 6, &[0xdd], Unknown, None),
    (INTEL, 6, &[0x57, 0x85], Both(128, 64), None),
    (AMD, 0x17, &[0x00, 0x2f, 0x50, 0x5f], Both(32, 16), Some(4)),
    (AMD, 0x17, &[0x30, 0x4f, 0x60, 0x7f, 0x90, 0x91, 0xa0, 0xaf], Both(64, 32), Some(4)),
    (AMD, 0x19, &[0x00, 0x0f, 0x20, 0x5f], Both(64, 32), Some(4)),
    (AMD, 0x19, &[0x10, 0x1f, 0x60, 0xaf], Both(64, 32), Some(4)),
    (AMD, 0x1a, &[0x00, 0x1f, 0x40, 0x4f], Both(128, 64), Some(6)),
    (AMD, 0x1a, &[0x20, 0x2f, 0x60, 0x7f, 0xd0, 0xd7], Unknown, Some(6)),
    (HYGON, 0x18, &[0x00, 0x03], Both(32, 16), Some(4)),
];

fn signature(family: u32, model: u32) -> Signature {
    Signature {
        family,
        model,
        stepping: 0,
    }
}

/// Names of the designs of a processor. The error is the reason why they are unknown.
fn designs_of(architecture: &str, cpuinfo: &str, brand: Option<&str>) -> Result<String, String> {
    find(&Known {
        architecture,
        vendor: None,
        signature: None,
        brand,
        cpuinfo,
    })
    .map(|(names, _)| names.join(", "))
}

/// `/proc/cpuinfo` of an Arm machine with one CPU for each implementer and part.
fn arm(cpus: &[(u32, u32)]) -> String {
    cpus.iter()
        .enumerate()
        .map(|(cpu, (implementer, part))| {
            format!(
                "processor\t: {cpu}\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\n\
                 CPU implementer\t: {implementer:#x}\nCPU architecture: 8\nCPU variant\t: 0x3\n\
                 CPU part\t: {part:#05x}\nCPU revision\t: 1\n\n"
            )
        })
        .collect()
}

/// `/proc/cpuinfo` of a RISC-V machine with two CPUs.
fn riscv(lines: &str) -> String {
    let cpu = |id: u32| format!("processor\t: {id}\nhart\t\t: {id}\nmmu\t\t: sv39\n{lines}\n");
    cpu(0) + &cpu(1)
}

#[test]
fn limits_of_x86_processors_stay_as_they_are() {
    for (vendor, family, models, width, integer) in LIMITS {
        for &model in *models {
            let place = format!("{vendor} {family:#x} {model:#x}");
            let names = by_model(vendor, signature(*family, model)).expect(&place);
            let designs = named(&names);
            assert_eq!(designs.len(), names.len(), "{place}");
            let ports = |avx512| {
                let ports = port_width(&designs, avx512).ok();
                ports.map(|ports| (ports.load_bytes, ports.store_bytes))
            };
            let (without, with) = match *width {
                Both(load, store) => (Some((load, store)), Some((load, store))),
                WithoutAvx512(load, store) => (Some((load, store)), None),
                Unknown => (None, None),
            };
            assert_eq!((ports(false), ports(true)), (without, with), "{place}");
            assert_eq!(integer_width(&designs), *integer, "{place}");
        }
    }
}

#[test]
fn x86_designs_by_vendor_family_and_model() {
    let name = |vendor, family, model| {
        by_model(vendor, signature(family, model)).map(|names| names.join(", "))
    };
    for (vendor, family, model, expected) in [
        (AMD, 0x1a, 0x02, "Zen 5"),
        (AMD, 0x1a, 0x11, "Zen 5c"),
        (AMD, 0x1a, 0x24, "Zen 5 (mobile)"),
        (AMD, 0x19, 0x11, "Zen 4"),
        (AMD, 0x19, 0xa0, "Zen 4c"),
        (AMD, 0x17, 0x31, "Zen 2"),
        (INTEL, 6, 0x55, "Skylake-SP"),
        (INTEL, 6, 0x9e, "Skylake"),
        (INTEL, 6, 0x6a, "Sunny Cove (server)"),
        (INTEL, 6, 0x7e, "Sunny Cove"),
        (INTEL, 6, 0xad, "Redwood Cove (server)"),
        (INTEL, 6, 0x97, "Golden Cove (client), Gracemont"),
        (INTEL, 6, 0xaf, "Crestmont"),
        (INTEL, 6, 0xbd, "Lion Cove, Skymont"),
    ] {
        assert_eq!(name(vendor, family, model).as_deref(), Some(expected));
    }
}

#[test]
fn unknown_x86_processors_stay_unknown() {
    for (vendor, family, model) in [
        (AMD, 0x1a, 0x50),
        (AMD, 0x1b, 0),
        (INTEL, 6, 0xff),
        (INTEL, 0x1a, 2),
        ("", 6, 0x55),
    ] {
        let found = find(&Known {
            architecture: "x86_64",
            vendor: Some(vendor),
            signature: Some(signature(family, model)),
            brand: Some("Apple M1"),
            cpuinfo: &arm(&[(ARM, 0xd0c)]),
        });
        let why = found.expect_err("no such processor");
        assert!(why.contains("is not in the table of core designs"), "{why}");
    }
    assert!(designs_of("x86_64", "", None).is_err());
}

#[test]
fn no_model_part_or_name_is_in_two_rows() {
    for (at, a) in MODELS.iter().enumerate() {
        for b in MODELS[at + 1..]
            .iter()
            .filter(|b| (b.vendor, b.family) == (a.vendor, a.family))
        {
            let mut models = a.models.iter().flat_map(|range| range.clone());
            let twice = models.find(|model| b.models.iter().any(|range| range.contains(model)));
            assert_eq!(twice, None, "{:?} and {:?}", a.designs, b.designs);
        }
    }
    let parts: BTreeSet<(u32, u32)> = PARTS.iter().map(|row| (row.0, row.1)).collect();
    assert_eq!(parts.len(), PARTS.len());
    let names: Vec<&str> = RISCV.iter().flat_map(|row| row.names).copied().collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
}

#[test]
fn every_design_that_can_be_found_has_figures_and_the_reverse() {
    let models = MODELS.iter().flat_map(|row| row.designs);
    let brands = BRANDS.iter().flat_map(|(_, designs)| *designs);
    let parts = PARTS.iter().map(|(_, _, name)| name);
    let riscv = RISCV.iter().map(|row| &row.design);
    let found: BTreeSet<&str> = models
        .chain(brands)
        .chain(parts)
        .chain(riscv)
        .copied()
        .collect();
    let listed: BTreeSet<&str> = core_designs().iter().map(|design| design.name).collect();
    assert_eq!(found, listed);
}

#[test]
fn arm_designs_by_implementer_and_part() {
    let name = |cpus| designs_of("aarch64", &arm(cpus), None);
    assert_eq!(name(&[(ARM, 0xd0c); 4]).as_deref(), Ok("Neoverse N1"));
    assert_eq!(name(&[(ARM, 0xd4f)]).as_deref(), Ok("Neoverse V2"));
    assert_eq!(name(&[(FUJITSU, 1)]).as_deref(), Ok("A64FX"));
    assert_eq!(
        name(&[(ARM, 0xd05), (ARM, 0xd05), (ARM, 0xd0b), (ARM, 0xd05)]).as_deref(),
        Ok("Cortex-A55, Cortex-A76")
    );
    assert_eq!(
        name(&[(APPLE, 0x22), (APPLE, 0x23)]).as_deref(),
        Ok("Icestorm, Firestorm")
    );
}

#[test]
fn unknown_arm_processors_stay_unknown() {
    let name = |cpus| designs_of("aarch64", &arm(cpus), None);
    assert_eq!(
        name(&[(ARM, 0xd0b), (ARM, 0xfff)]),
        Err("implementer 0x41 part 0xfff is not in the table of core designs".to_owned())
    );
    // Part 0xd0c is a core of Arm. Fujitsu has no part with this number.
    assert!(name(&[(FUJITSU, 0xd0c)]).is_err());
    assert!(name(&[]).is_err());
    let broken = arm(&[(ARM, 0xd0c)]).replace("0x41", "ARM");
    assert!(designs_of("aarch64", &broken, None).is_err());
    // An emulated program may read this file of its x86 host.
    let host = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n\n";
    assert!(designs_of("aarch64", host, None).is_err());
    assert!(designs_of("riscv64", &arm(&[(ARM, 0xd0c)]), None).is_err());
}

#[test]
fn apple_designs_by_brand() {
    let name = |brand| designs_of("aarch64", "", Some(brand));
    assert_eq!(name("Apple M1").as_deref(), Ok("Firestorm, Icestorm"));
    assert_eq!(name("Apple M2 Ultra").as_deref(), Ok("Avalanche, Blizzard"));
    assert_eq!(
        name("Apple M4 Pro").as_deref(),
        Ok("M4 performance core, M4 efficiency core")
    );
    for brand in ["Apple M10", "Apple M", "VirtualApple", "Apple"] {
        assert!(name(brand).is_err(), "{brand}");
    }
}

#[test]
fn riscv_designs_by_name_or_registers() {
    let name = |lines: &str| designs_of("riscv64", &riscv(lines), None);
    let u74 = "mvendorid\t: 0x489\nmarchid\t\t: 0x8000000000000007\nmimpid\t\t: 0x4210427\n";
    assert_eq!(name(u74).as_deref(), Ok("SiFive U74"));
    assert_eq!(
        name("uarch\t\t: sifive,u74-mc\n").as_deref(),
        Ok("SiFive U74")
    );
    let p550 = "mvendorid\t: 0x489\nmarchid\t\t: 0x8000000000000008\nmimpid\t\t: 0x6220425\n";
    assert_eq!(name(p550).as_deref(), Ok("SiFive P550"));
    let x60 = "mvendorid\t: 0x710\nmarchid\t\t: 0x8000000058000001\n";
    assert_eq!(name(x60).as_deref(), Ok("SpacemiT X60"));
    let c910 = "uarch\t\t: thead,c910\nmvendorid\t: 0x5b7\nmarchid\t\t: 0x0\n";
    assert_eq!(name(c910).as_deref(), Ok("T-Head C910"));
}

#[test]
fn unknown_riscv_processors_stay_unknown() {
    let name = |lines: &str| designs_of("riscv64", &riscv(lines), None);
    // C906 and C910 have the same values of these registers, so the design is unknown.
    assert_eq!(
        name("mvendorid\t: 0x5b7\nmarchid\t\t: 0x0\n"),
        Err("vendor 0x5b7 architecture 0x0 is not in the table of core designs".to_owned())
    );
    assert_eq!(
        name("uarch\t\t: sifive,bullet0\n"),
        Err("sifive,bullet0 is not in the table of core designs".to_owned())
    );
    assert!(name("").is_err());
    assert!(designs_of("riscv64", "", None).is_err());
    // Known RISC-V registers do not identify a machine of another architecture.
    let x60 = riscv("mvendorid\t: 0x710\nmarchid\t\t: 0x8000000058000001\n");
    assert!(designs_of("aarch64", &x60, None).is_err());
}
