//! Machines with the same hardware: a group, its name and its digest.

use report::NodeHardware;
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, counted};

/// Text that is part of every digest's input, so that digests for other purposes have other inputs.
const DIGEST_OF: &str = "hardware of a fleet";

/// Number of steps between a power of two and the next. Memory sizes are rounded up to a step,
/// because firmware and kernel withhold a few percent of the modules' size.
const STEPS_OF_MEMORY: u64 = 8;

/// Largest number of facts that are added to distinguish groups of the same name.
const MAX_DISTINCT: usize = 2;

/// Hardware facts that the machines of a group have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HardwareGroup {
    /// Short name for people. Two groups can have the same name.
    pub name: String,
    /// Known facts by name, in a fixed order.
    pub facts: Vec<(&'static str, String)>,
}

impl HardwareGroup {
    /// The group of a machine with `hardware`.
    pub fn new(hardware: &NodeHardware) -> Self {
        let memory = hardware.memory.map(nominal);
        let modules = hardware.modules.map(|bus| {
            let modules = counted(bus.modules, "module");
            format!("{modules} in {}", counted(bus.channels, "channel"))
        });
        let rate = hardware.modules.map(|bus| bus.peak.to_string());
        let virtualization = hardware.virtualization.as_deref();
        let hypervisor = virtualization.filter(|name| *name != "none");
        let all = [
            ("architecture", Some(hardware.architecture.clone())),
            ("model", hardware.model.clone()),
            ("stepping", hardware.signature.clone()),
            ("core design", hardware.core_design.clone()),
            ("CPUs", Some(hardware.cpus.to_string())),
            ("memory", memory.map(|size| size.to_string())),
            ("memory modules", modules),
            ("memory rate", rate),
            ("kernel family", Some(kernel_family(hardware))),
            ("hypervisor", virtualization.map(str::to_owned)),
            (
                "execution",
                Some(hardware.machine.clone()).filter(|machine| machine != "native"),
            ),
        ];
        let processor = [&hardware.core_design, &hardware.model]
            .into_iter()
            .flatten()
            .next()
            .unwrap_or(&hardware.architecture);
        let parts = [
            Some(processor.clone()),
            Some(counted(hardware.cpus, "CPU")),
            memory.map(|size| size.to_string()),
            hypervisor.map(str::to_owned),
        ];
        Self {
            name: parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
            facts: all
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?)))
                .collect(),
        }
    }

    /// Digest of the facts: eight hexadecimal digits. Groups with equal facts have equal digests.
    pub fn digest(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.facts {
            text.push_str(name);
            text.push('\0');
            text.push_str(value);
            text.push('\0');
        }
        let hash = stats::derive(text.len() as u64, &(text + DIGEST_OF), 0);
        format!("{:08x}", hash >> 32)
    }

    /// Facts that `self` and `other` do not have in common. Each has its name, the value in `self`
    /// and the value in `other`. A missing value is `unknown`.
    pub(super) fn differences(&self, other: &Self) -> Vec<[String; 3]> {
        let value = |group: &Self, name: &str| {
            let found = group.facts.iter().find(|(own, _)| *own == name);
            found.map_or_else(|| "unknown".to_owned(), |(_, value)| value.clone())
        };
        let mut names: Vec<&str> = self.facts.iter().map(|(name, _)| *name).collect();
        names.extend(other.facts.iter().map(|(name, _)| *name));
        names.dedup();
        let mut all = Vec::new();
        for name in names {
            let row = [name.to_owned(), value(self, name), value(other, name)];
            if row[1] != row[2] && !all.contains(&row) {
                all.push(row);
            }
        }
        all
    }
}

/// Makes a name for each group. If groups have the same name, up to two facts that differ are added
/// to it.
pub(super) fn distinct_names(groups: &[HardwareGroup]) -> Vec<String> {
    let mut alike: BTreeMap<&str, Vec<&HardwareGroup>> = BTreeMap::new();
    for group in groups {
        alike.entry(&group.name).or_default().push(group);
    }
    let varying = alike.into_iter().map(|(name, groups)| {
        let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut holders: BTreeMap<&str, usize> = BTreeMap::new();
        for (fact, value) in groups.iter().flat_map(|group| &group.facts) {
            values.entry(fact).or_default().insert(value);
            *holders.entry(fact).or_default() += 1;
        }
        let differs = |fact: &&str| values[fact].len() > 1 || holders[fact] < groups.len();
        let facts: Vec<&str> = values.keys().copied().filter(differs).collect();
        (name, facts)
    });
    let varying: BTreeMap<&str, Vec<&str>> = varying.collect();
    let title = |group: &HardwareGroup| {
        let facts = varying
            .get(group.name.as_str())
            .map_or(&[][..], Vec::as_slice);
        let more = group
            .facts
            .iter()
            .filter(|(name, _)| facts.contains(name))
            .take(MAX_DISTINCT);
        more.fold(group.name.clone(), |title, (_, value)| {
            format!("{title}, {value}")
        })
    };
    groups.iter().map(title).collect()
}

/// Operating system and the first number of its kernel's release.
fn kernel_family(hardware: &NodeHardware) -> String {
    let release = hardware.kernel.as_deref().unwrap_or_default();
    let digits: String = release
        .chars()
        .take_while(char::is_ascii_digit)
        .take(4)
        .collect();
    format!("{} {digits}", hardware.os).trim_end().to_owned()
}

/// Estimates the installed memory of a system that reports `size`.
fn nominal(size: Bytes) -> Bytes {
    let step = (1_u64 << (63 - size.0.max(1).leading_zeros())) / STEPS_OF_MEMORY;
    let step = step.max(1);
    Bytes(size.0.div_ceil(step).saturating_mul(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_rounded_to_the_size_of_the_modules() {
        let gib = |x: f64| Bytes((x * f64::from(1 << 30)) as u64);
        for (seen, modules) in [
            (0.95, 1.0),
            (7.6, 8.0),
            (23.5, 24.0),
            (62.7, 64.0),
            (187.5, 192.0),
            (503.6, 512.0),
            (512.0, 512.0),
            (2015.0, 2048.0),
        ] {
            assert_eq!(nominal(gib(seen)), gib(modules), "{seen}");
        }
        for size in [0, 1, 7, u64::MAX] {
            assert!(nominal(Bytes(size)).0 >= size);
        }
    }

    #[test]
    fn groups_have_a_name_and_a_digest() {
        let mut hardware = NodeHardware {
            core_design: Some("Zen 4".to_owned()),
            cpus: 2,
            memory: Some(Bytes(25_276_502_016)),
            os: "linux".to_owned(),
            kernel: Some("6.18.44-x".to_owned()),
            virtualization: Some("KVM".to_owned()),
            machine: "native".to_owned(),
            ..NodeHardware::default()
        };
        let group = HardwareGroup::new(&hardware);
        assert_eq!(group.name, "Zen 4, 2 CPUs, 24 GiB, KVM");
        assert!(
            group
                .facts
                .contains(&("kernel family", "linux 6".to_owned()))
        );
        hardware.kernel = Some("6.1".to_owned());
        assert_eq!(HardwareGroup::new(&hardware).digest(), group.digest());
        hardware.cpus = 4;
        let other = HardwareGroup::new(&hardware);
        assert_ne!(other.digest(), group.digest());
        assert_eq!(other.differences(&group), [["CPUs", "4", "2"]]);
        hardware.model = Some("EPYC".to_owned());
        let names = distinct_names(&[other.clone(), group.clone(), HardwareGroup::new(&hardware)]);
        assert_eq!(names[1..], [group.name, other.name.clone() + ", EPYC"]);
    }
}
