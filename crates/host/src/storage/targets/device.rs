//! Facts of Linux about the file system and the device below a file, from `/proc` and `/sys`;
//! unknown elsewhere.

use crate::facts::{self, SystemFiles, unescape};
use crate::os;
use crate::os::files::{FileKind, FileNumbers};
use std::fs::File;

/// Facts about the device of a file; `None` is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DeviceFacts {
    /// `ext4`, `xfs`, `tmpfs`; none for a device.
    pub file_system: Option<String>,
    /// The block device: `vda1`.
    pub device: Option<String>,
    /// Whether it turns.
    pub rotational: Option<bool>,
    /// Model name.
    pub model: Option<String>,
    /// Bytes of its smallest transfer.
    pub logical_block: Option<u32>,
    /// Whether it has queues whose completions can be polled for.
    pub polls: Option<bool>,
}

/// A line of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    /// Its number.
    pub id: u32,
    /// The device, or a number made up by file systems of several devices or none.
    pub device: (u32, u32),
    /// Mount point.
    pub point: String,
    /// The kind of file system.
    pub kind: String,
    /// Mounted source, as its kind names it: often a device.
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

/// Facts about a block device.
pub(super) fn facts_of_device(device: (u32, u32), system: &SystemFiles) -> DeviceFacts {
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

/// The folder of a device's facts.
pub(super) fn folder(device: (u32, u32)) -> String {
    format!("/sys/dev/block/{}:{}", device.0, device.1)
}

fn is_known(system: &SystemFiles, device: (u32, u32)) -> bool {
    system.exists(&folder(device))
}

/// The name of a device and that of the disk it is, or is a part of.
pub(super) fn names_of(system: &SystemFiles, device: (u32, u32)) -> Option<(String, String)> {
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

/// Major and minor number as they are written in `/sys` and mountinfo.
pub(super) fn parse_device(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The device that a mount's source names.
pub(super) fn device_of_source(source: &str) -> Option<(u32, u32)> {
    let metadata = std::path::Path::new(source)
        .is_absolute()
        .then(|| std::fs::metadata(source))?
        .ok()?;
    let numbers = os::file_numbers(&metadata);
    (numbers.kind == FileKind::BlockDevice).then_some(numbers.special)
}

/// The mount that an opened file belongs to.
fn mount_of(file: &File, system: &SystemFiles) -> Option<Mount> {
    let about = system.read(&format!("/proc/self/fdinfo/{}", os::descriptor(file)?))?;
    let id: u32 = facts::field(&about, "mnt_id")?.parse().ok()?;
    mounts(system).into_iter().find(|mount| mount.id == id)
}

/// All mounts that this process sees.
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
