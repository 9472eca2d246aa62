//! Facts about the position of a device on the PCI bus, from the files of Linux.

use crate::facts::SystemFiles;
use report::{Fact, GpuFacts, PciLink, PciRate};

/// Folder of all devices on the PCI bus.
const DEVICES: &str = "/sys/bus/pci/devices";

/// Adds the PCI link and the NUMA node of a device to its facts, if its address on the PCI bus is
/// known.
pub fn complete(facts: &mut GpuFacts, files: &SystemFiles) {
    let Some(address) = facts.pci_address.get() else {
        let reason = &facts.pci_address.source;
        facts.link = Fact::unknown(reason.clone());
        facts.numa_node = Fact::unknown(reason.clone());
        return;
    };
    let folder = format!("{DEVICES}/{address}");
    facts.link = link(files, &folder);
    facts.numa_node = numa_node(files, &folder);
}

fn numa_node(files: &SystemFiles, folder: &str) -> Fact<u32> {
    let path = format!("{folder}/numa_node");
    match files.read_as::<i64>(&path) {
        None => Fact::unknown(format!("{path} is missing")),
        // A negative number means that the firmware reports no node, or that the machine has only
        // one.
        Some(number) => match u32::try_from(number) {
            Ok(node) => Fact::known(node, path),
            Err(_) => Fact::unknown(format!("{path} is {number}: the firmware does not say")),
        },
    }
}

fn link(files: &SystemFiles, folder: &str) -> Fact<PciLink> {
    let rate = |which: &str| {
        let speed = files.read(&format!("{folder}/{which}_link_speed"))?;
        // The text is `16.0 GT/s PCIe` or `Unknown`.
        let gigatransfers = speed.split(' ').next()?.parse().ok()?;
        let lanes = files.read_as(&format!("{folder}/{which}_link_width"))?;
        Some(PciRate {
            gigatransfers,
            lanes,
        })
        .filter(|rate| rate.lanes > 0 && rate.gigatransfers > 0.0)
    };
    match (rate("current"), rate("max")) {
        (Some(current), Some(highest)) => Fact::known(
            PciLink { current, highest },
            format!(
                "{folder}/current_link_speed, current_link_width, max_link_speed, max_link_width"
            ),
        ),
        _ => Fact::unknown(format!(
            "{folder} has no speed of a link: a virtual machine hides it"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::GpuFacts;

    const ADDRESS: &str = "0000:65:00.0";

    /// Facts about a device with `files` in its folder of /sys.
    fn completed(files: &[(&str, &str)]) -> GpuFacts {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join(format!("sys/bus/pci/devices/{ADDRESS}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.join(name), text).expect("a file");
        }
        let mut facts = GpuFacts::unknown("test");
        facts.pci_address = Fact::known(ADDRESS.to_owned(), "test");
        complete(&mut facts, &SystemFiles::under(root.path()));
        facts
    }

    #[test]
    fn a_link_has_the_rate_that_was_negotiated_and_the_highest() {
        let facts = completed(&[
            ("current_link_speed", "8.0 GT/s PCIe\n"),
            ("current_link_width", "8\n"),
            ("max_link_speed", "16.0 GT/s PCIe\n"),
            ("max_link_width", "16\n"),
            ("numa_node", "1\n"),
        ]);
        let link = facts.link.get().expect("a link");
        assert_eq!(link.to_string(), "PCIe 3.0 x8; PCIe 4.0 x16 at most");
        // 8 GT/s on 8 lanes, with 128 bits of payload in 130 bits.
        assert!((link.current.bandwidth().0 - 7.877e9).abs() < 1e6);
        assert!((link.highest.bandwidth().0 - 31.508e9).abs() < 1e6);
        assert_eq!(facts.numa_node.get(), Some(&1));
    }

    #[test]
    fn unknown_links_have_a_reason() {
        let rows: [&[(&str, &str)]; 4] = [
            &[],
            &[("numa_node", "-1")],
            &[
                ("current_link_speed", "Unknown"),
                ("current_link_width", "0"),
                ("max_link_speed", "Unknown"),
                ("max_link_width", "255"),
            ],
            &[("current_link_speed", "8.0 GT/s PCIe")],
        ];
        for files in rows {
            let facts = completed(files);
            assert_eq!(facts.link.get(), None, "{files:?}");
            assert!(facts.link.source.contains(ADDRESS), "{files:?}");
            assert_eq!(facts.numa_node.get(), None, "{files:?}");
        }
        let mut nowhere = GpuFacts::unknown("no address");
        complete(&mut nowhere, &SystemFiles::under("/nowhere"));
        assert_eq!(nowhere.link.source, "no address");
    }
}
