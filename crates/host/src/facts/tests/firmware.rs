//! Memory devices in handmade tables of the firmware, according to DSP0134, 7.18.

use super::tree::Tree;
use crate::facts::smbios::memory_devices;
use report::{Fact, MemoryBus};

/// A structure of type `kind`. Its body has `length` bytes with `fields`, and `strings` follow it.
pub fn structure(kind: u8, length: usize, fields: &[(usize, &[u8])], strings: &[&str]) -> Vec<u8> {
    let mut bytes = vec![0; length];
    bytes[..2].copy_from_slice(&[kind, length as u8]);
    for (at, value) in fields {
        bytes[*at..at + value.len()].copy_from_slice(value);
    }
    for text in strings {
        bytes.extend(text.as_bytes());
        bytes.push(0);
    }
    bytes.extend(if strings.is_empty() {
        &[0, 0][..]
    } else {
        &[0][..]
    });
    bytes
}

/// A memory device of a test table.
#[derive(Clone, Copy)]
pub struct Module<'a> {
    locator: &'a str,
    bank: &'a str,
    /// Size in MiB.
    size: u16,
    bits: u16,
    speed: u16,
    array: u16,
}

pub const DDR5: Module = Module {
    locator: "DIMM 0",
    bank: "",
    size: 0x7FFF,
    bits: 64,
    speed: 4800,
    array: 7,
};

impl Module<'_> {
    fn structure(&self) -> Vec<u8> {
        let fields: [(usize, &[u8]); 9] = [
            (0x04, &self.array.to_le_bytes()),
            (0x08, &(self.bits.saturating_add(8)).to_le_bytes()),
            (0x0A, &self.bits.to_le_bytes()),
            (0x0C, &self.size.to_le_bytes()),
            (0x10, &[1, 2, 0x22]),
            (0x15, &5600u16.to_le_bytes()),
            (0x1C, &65536u32.to_le_bytes()),
            (0x20, &self.speed.to_le_bytes()),
            (0x28, &[3]),
        ];
        structure(
            17,
            0x5C,
            &fields,
            &[
                self.locator,
                if self.bank.is_empty() { "-" } else { self.bank },
                "Maker",
            ],
        )
    }
}

/// A table with some other structures, `modules` as memory devices, and an end.
pub fn table(modules: &[Module]) -> Vec<u8> {
    let mut bytes = structure(0, 0x1A, &[], &["Maker", "1.0"]);
    bytes.extend(structure(16, 0x17, &[], &[]));
    bytes.extend(modules.iter().flat_map(Module::structure));
    bytes.extend(structure(127, 4, &[], &[]));
    bytes
}

fn bus(table: &[u8]) -> Fact<MemoryBus> {
    Tree::new()
        .file("/sys/firmware/dmi/tables/DMI", table)
        .discover()
        .memory
        .bus
}

/// Locator and bank of a module.
type Names = (&'static str, &'static str);

/// Number of channels and GB/s of modules with these locators and banks.
fn named(names: &[Names]) -> Option<(u32, f64)> {
    let modules: Vec<Module> = names
        .iter()
        .map(|&(locator, bank)| Module {
            locator,
            bank,
            ..DDR5
        })
        .collect();
    bus(&table(&modules))
        .value
        .map(|bus| (bus.channels, bus.peak.gigabytes()))
}

#[test]
fn channels_are_told_by_their_names() {
    const ONE: f64 = 38.4; // 8 bytes x 4800 MT/s
    let cases: [(&[Names], Option<u32>); 16] = [
        (
            &[
                ("DIMM 0", "P0 CHANNEL A"),
                ("DIMM 1", "P0 CHANNEL A"),
                ("DIMM 0", "P0 CHANNEL B"),
            ],
            Some(2),
        ),
        (
            &[("DIMM 0", "P0 CHANNEL A"), ("DIMM 0", "P1 CHANNEL A")],
            Some(2),
        ),
        (
            &[("P0_DIMM_1", "CHANNEL A"), ("P1_DIMM_1", "CHANNEL A")],
            Some(2),
        ),
        (
            &[
                ("Controller0-ChannelA-DIMM0", "BANK 0"),
                ("Controller1-ChannelA-DIMM0", "BANK 0"),
            ],
            Some(2),
        ),
        (
            &[("ChannelA-DIMM0", "BANK 0"), ("ChannelA-DIMM1", "BANK 1")],
            Some(1),
        ),
        (
            &[
                ("P1-DIMMA1", "P0_Node0_Channel0_Dimm0"),
                ("P1-DIMMA2", "P0_Node0_Channel0_Dimm1"),
            ],
            Some(1),
        ),
        (
            &[
                ("DIMM000 J11", "SOCKET 0 CHANNEL 0 DIMM 0"),
                ("DIMM010 J5", "SOCKET 0 CHANNEL 1 DIMM 0"),
            ],
            Some(2),
        ),
        (
            &[
                ("DIMM_A1", "BANK 0"),
                ("DIMM_A2", "BANK 1"),
                ("DIMM_B1", "BANK 2"),
                ("DIMM_B2", "BANK 3"),
            ],
            Some(2),
        ),
        (
            &[
                ("CPU1_DIMM_A1", "NODE 1"),
                ("CPU2_DIMM_A1", "NODE 2"),
                ("CPU1_DIMM_B1", "NODE 1"),
            ],
            Some(3),
        ),
        (
            &[
                ("CPU0_C0D0", "_Node0_"),
                ("CPU0_C0D1", "_Node0_"),
                ("CPU0_C1D0", "_Node0_"),
            ],
            Some(2),
        ),
        (&[("A1", "")], Some(1)),
        (&[("A1", ""), ("A2", "")], None),
        (&[("PROC 1 DIMM 1", ""), ("PROC 1 DIMM 2", "")], None),
        (&[("DIMM_A1", ""), ("DIMM_A1", "")], None),
        (&[("DIMM_A1", ""), ("DIMM_A12", "")], None),
        (
            &[
                ("DIMM_A0", ""),
                ("DIMM_A1", ""),
                ("DIMM_A2", ""),
                ("DIMM_A3", ""),
            ],
            None,
        ),
    ];
    for (names, channels) in cases {
        let told = named(names);
        assert_eq!(told.map(|t| t.0), channels, "{names:?}");
        assert!(
            told.is_none_or(|(channels, rate)| (rate - f64::from(channels) * ONE).abs() < 1e-9),
            "{told:?}"
        );
    }
}

#[test]
fn a_server_with_empty_slots() {
    let slot = |locator, bank, size| Module {
        locator,
        bank,
        size,
        ..DDR5
    };
    let modules = [
        slot("DIMM 0", "P0 CHANNEL A", 0x7FFF),
        slot("DIMM 1", "P0 CHANNEL A", 0),
        slot("DIMM 0", "P0 CHANNEL B", 32767 / 2),
        slot("DIMM 0", "P0 CHANNEL C", 0),
    ];
    let bus = bus(&table(&modules));
    let expected = MemoryBus {
        channels: 2,
        modules: 2,
        peak: units::BytesPerSecond(76.8e9),
    };
    assert_eq!(bus.value, Some(expected));
    assert_eq!(
        bus.source,
        "/sys/firmware/dmi/tables/DMI: 2 channels x 64 bit x 4800 MT/s"
    );
}

#[test]
fn arrays_of_two_sockets_have_channels_of_their_own() {
    let module = |locator, array| Module {
        locator,
        array,
        ..DDR5
    };
    let all = [
        module("DIMM_A1", 1),
        module("DIMM_A2", 1),
        module("DIMM_A1", 2),
    ];
    assert_eq!(
        bus(&table(&all)).value.map(|b| (b.channels, b.modules)),
        Some((2, 3))
    );
}

#[test]
fn speeds_above_65535_are_in_another_field() {
    let fast = structure(
        17,
        0x5C,
        &[
            (0x0A, &[64, 0]),
            (0x0C, &[0, 16]),
            (0x20, &[0xFF, 0xFF]),
            (0x58, &70_000u32.to_le_bytes()),
        ],
        &[],
    );
    assert_eq!(
        bus(&fast).value.map(|b| b.peak.0),
        Some(8.0 * 70_000e6),
        "and no end is needed"
    );
    let without = structure(
        17,
        0x22,
        &[(0x0A, &[64, 0]), (0x0C, &[0, 16]), (0x20, &[0xFF, 0xFF])],
        &[],
    );
    assert_eq!(bus(&without).value, None);
}

#[test]
fn what_firmware_leaves_open_is_unknown() {
    let two = |one: Module<'static>| {
        table(&[
            Module {
                locator: "DIMM_A1",
                ..DDR5
            },
            Module {
                locator: "DIMM_B1",
                ..one
            },
        ])
    };
    let flash = structure(
        17,
        0x5C,
        &[
            (0x0A, &[64, 0]),
            (0x0C, &[0, 16]),
            (0x12, &[9]),
            (0x20, &[0, 9]),
        ],
        &[],
    );
    let old = structure(17, 0x1B, &[(0x0A, &[64, 0]), (0x0C, &[0, 16])], &["DIMM 0"]);
    let cases: [(Vec<u8>, &str); 9] = [
        (
            two(Module { speed: 0, ..DDR5 }),
            "reports no speed of 'DIMM_B1'",
        ),
        (two(Module { speed: 1, ..DDR5 }), "reports no speed"),
        (
            two(Module {
                bits: 0xFFFF,
                ..DDR5
            }),
            "reports no data width",
        ),
        (two(Module { bits: 0, ..DDR5 }), "reports no data width"),
        (
            two(Module {
                size: 0xFFFF,
                ..DDR5
            }),
            "whether there is memory in 'DIMM_B1'",
        ),
        (table(&[]), "lists no memory"),
        (flash, "lists no memory"),
        (old, "reports no speed"),
        (Vec::new(), "lists no memory"),
    ];
    for (table, why) in cases {
        let bus = bus(&table);
        assert_eq!(bus.value, None, "{why}");
        assert!(bus.source.contains(why), "{why}: {}", bus.source);
    }
    let masked = Tree::new().discover().memory.bus;
    assert!(
        masked.source.contains("is missing") && !masked.source.contains("EDAC"),
        "{}",
        masked.source
    );
    let edac = Tree::new()
        .file("/sys/devices/system/edac/mc/mc0/size_mb", "1")
        .discover()
        .memory
        .bus;
    assert!(
        edac.source
            .ends_with("EDAC knows the modules, but not their speed"),
        "{}",
        edac.source
    );
}

#[test]
fn a_table_that_is_cut_short_is_not_believed() {
    let modules = [
        Module {
            locator: "DIMM_A1",
            ..DDR5
        },
        Module {
            locator: "DIMM_B1",
            ..DDR5
        },
    ];
    let whole = table(&modules);
    assert_eq!(memory_devices(&whole).map(|all| all.len()), Some(2));
    // A table that is cut between two structures looks like an old table without an end.
    let mut ends = vec![0];
    let parts = [
        structure(0, 0x1A, &[], &["Maker", "1.0"]),
        structure(16, 0x17, &[], &[]),
    ];
    for part in parts
        .into_iter()
        .chain(modules.iter().map(Module::structure))
    {
        ends.push(ends[ends.len() - 1] + part.len());
    }
    for length in 0..whole.len() - 2 {
        let told = memory_devices(&whole[..length]);
        assert_eq!(
            told.is_some(),
            ends.contains(&length),
            "{length} of {}",
            whole.len()
        );
    }
    assert_eq!(
        memory_devices(&[17, 0, 0, 0, 0, 0]),
        None,
        "a structure without length"
    );
    assert_eq!(memory_devices(&[17, 255, 0, 0]), None);
    let wild = structure(17, 0x5C, &[(0x10, &[200, 255])], &["\u{1b}[31m"]);
    let devices = memory_devices(&wild).unwrap();
    assert_eq!(
        (devices[0].locator.as_str(), devices[0].bank.as_str()),
        ("", ""),
        "strings that are not there"
    );
}
