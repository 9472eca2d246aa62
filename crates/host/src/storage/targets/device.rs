//! Facts about the file system and the device of a file, from Linux's `/proc` and `/sys`. On other
//! systems these facts are unknown.

use crate::facts::{self, SystemFiles, unescape};
use crate::os;
use crate::os::files::{DeviceNumber, FileKind, FileNumbers};
use std::fs::File;

/// Facts about the device of a file. `None` means unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DeviceFacts {
    /// File system: `ext4`, `xfs`, `tmpfs`; `None` for a device.
    pub file_system: Option<String>,
    /// Name of the block device: `vda1`.
    pub device: Option<String>,
    /// True if the device is a rotating disk.
    pub rotational: Option<bool>,
    /// Model name.
    pub model: Option<String>,
    /// Smallest transfer in bytes.
    pub logical_block: Option<u32>,
    /// True if the device has polled completion queues.
    pub polls: Option<bool>,
}

/// A line of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    /// Number of the mount.
    pub id: u32,
    /// Number of the device. File systems with several devices or without a device have an invented
    /// number.
    pub device: DeviceNumber,
    /// Mount point.
    pub point: String,
    /// Type of the file system.
    pub kind: String,
    /// Source of the mount, often a device. Its form depends on the file system.
    pub source: String,
}

/// Facts about an opened file.
pub(super) fn facts(file: &File, numbers: &FileNumbers, system: &SystemFiles) -> DeviceFacts {
    let mount = (numbers.kind != FileKind::BlockDevice)
        .then(|| mount_of(file, system))
        .flatten();
    let device = match (numbers.kind, &mount) {
        (FileKind::BlockDevice, _) => Some(numbers.special),
        (_, Some(mount)) if !is_known(system, numbers.device) => device_of_source(&mount.source),
        _ => Some(numbers.device),
    };
    let facts = device
        .map(|device| facts_of_device(device, system))
        .unwrap_or_default();
    DeviceFacts {
        file_system: mount.map(|mount| mount.kind),
        ..facts
    }
}

/// Facts about the block device with the number `device`.
pub(super) fn facts_of_device(device: DeviceNumber, system: &SystemFiles) -> DeviceFacts {
    let Some((name, disk)) = names_of(system, device) else {
        return DeviceFacts::default();
    };
    let disk = format!("/sys/class/block/{disk}");
    DeviceFacts {
        file_system: None,
        device: Some(name),
        rotational: system
            .read_as::<u8>(&format!("{disk}/queue/rotational"))
            .map(|turns| turns != 0),
        model: system.read(&format!("{disk}/device/model")),
        logical_block: system
            .read_as(&format!("{disk}/queue/logical_block_size"))
            .filter(|block: &u32| block.is_power_of_two()),
        polls: system
            .read_as::<u8>(&format!("{disk}/queue/io_poll"))
            .map(|polls| polls != 0),
    }
}

/// Folder in /sys with the facts about a device.
pub(super) fn folder(device: DeviceNumber) -> String {
    format!("/sys/dev/block/{}:{}", device.major, device.minor)
}

fn is_known(system: &SystemFiles, device: DeviceNumber) -> bool {
    system.exists(&folder(device))
}

/// Name of a device, and name of the disk that contains it, which may be the device itself.
pub(super) fn names_of(system: &SystemFiles, device: DeviceNumber) -> Option<(String, String)> {
    let folder = folder(device);
    let link = system.link(&folder)?;
    let mut parts = link.rsplit('/');
    let name = parts.next()?.to_owned();
    let disk = match system.exists(&format!("{folder}/partition")) {
        true => parts.next()?.to_owned(),
        false => name.clone(),
    };
    Some((name, disk))
}

/// Parses the number of a device in the form of `/sys` and mountinfo: `8:1`.
pub(super) fn parse_device(text: &str) -> Option<DeviceNumber> {
    let (major, minor) = text.trim().split_once(':')?;
    Some(DeviceNumber {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
    })
}

/// Number of the device at the path `source`; `None` if it is no block device.
pub(super) fn device_of_source(source: &str) -> Option<DeviceNumber> {
    let metadata = std::path::Path::new(source)
        .is_absolute()
        .then(|| std::fs::metadata(source))?
        .ok()?;
    let numbers = os::file_numbers(&metadata);
    (numbers.kind == FileKind::BlockDevice).then_some(numbers.special)
}

/// The mount that contains an opened file; `None` if unknown.
fn mount_of(file: &File, system: &SystemFiles) -> Option<Mount> {
    let about = system.read(&format!("/proc/self/fdinfo/{}", os::descriptor(file)?))?;
    let id: u32 = facts::field(&about, "mnt_id")?.parse().ok()?;
    mounts(system).into_iter().find(|mount| mount.id == id)
}

/// All mounts visible to this process.
pub(super) fn mounts(system: &SystemFiles) -> Vec<Mount> {
    system
        .read("/proc/self/mountinfo")
        .unwrap_or_default()
        .lines()
        .filter_map(mount)
        .collect()
}

fn mount(line: &str) -> Option<Mount> {
    let (mounted, what) = line.split_once(" - ")?;
    let mounted: Vec<&str> = mounted.split(' ').collect();
    let mut what = what.split(' ');
    Some(Mount {
        id: mounted.first()?.parse().ok()?,
        device: parse_device(mounted.get(2)?)?,
        point: unescape(mounted.get(4)?),
        kind: what.next()?.to_owned(),
        source: unescape(what.next()?),
    })
}
