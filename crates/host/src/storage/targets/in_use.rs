//! Checks that nobody else uses a target that is to be overwritten.

use super::device::{self, Mount};
use crate::facts::{SystemFiles, unescape};
use crate::os;
use crate::os::files::{DeviceNumber, FileKind, FileNumbers};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use units::error::{Error, Result};

/// Error message that a target is in use. No option overrides this check.
pub(super) fn busy(path: &Path, how: &str) -> Error {
    let path = path.display();
    Error::usage(format!(
        "cannot overwrite {path}: in use: {how}; only unused files and devices are overwritten; \
         name another"
    ))
}

/// Makes the checks that are possible before the target is opened. Returns an error if the target
/// is in use.
pub(super) fn check_before_opening(
    path: &Path,
    numbers: &FileNumbers,
    system: &SystemFiles,
) -> Result<()> {
    let used = match numbers.kind {
        FileKind::BlockDevice if !system.exists("/proc/self/mountinfo") => {
            Some("this system does not report what is mounted, so it may be".to_owned())
        }
        FileKind::BlockDevice => use_of_device(numbers.special, system),
        _ => use_of_file(path, numbers, system),
    };
    used.map_or(Ok(()), |how| Err(busy(path, &how)))
}

/// Makes the checks that need the open file. Returns an error if the target is in use. Otherwise
/// the result is the name of the method that found no use.
pub(super) fn check_opened(
    path: &Path,
    file: &File,
    numbers: &FileNumbers,
    system: &SystemFiles,
) -> Result<&'static str> {
    if numbers.kind == FileKind::BlockDevice {
        return Ok("opened for this process alone (O_EXCL); mounts, holders and swap looked up");
    }
    match os::is_sole_user(file) {
        Ok(true) => Ok("the kernel granted a write lease: nobody else had it open"),
        Ok(false) => Err(busy(
            path,
            "another program has it open (a write lease is refused)",
        )),
        Err(_) => match other_users(numbers, system).as_slice() {
            [] if system.exists("/proc/self/fd") => {
                Ok("no other program whose open files can be seen has it open")
            }
            [] => Ok("not checked: this system does not report who has a file open"),
            [first, ..] => Err(busy(path, &format!("process {first} has it open"))),
        },
    }
}

/// Use of a block device, of one of its partitions, or of the disk that contains it, in words.
/// `None` if unused.
pub(super) fn use_of_device(special: DeviceNumber, system: &SystemFiles) -> Option<String> {
    let mounts = device::mounts(system);
    let sources: Vec<_> = mounts
        .iter()
        .map(|mount| source_device(mount, system))
        .collect();
    let swaps = swap_areas(system);
    for member in family(special, system) {
        let name = device::names_of(system, member).map_or_else(String::new, |(name, _)| name);
        let mounted = mounts.iter().zip(&sources).find(|(mount, source)| {
            mount.device == member
                || **source == Some(member)
                || mount.source == format!("/dev/{name}")
        });
        if let Some((mount, _)) = mounted {
            return Some(format!("mounted on {}", mount.point));
        }
        if let Some(holder) = system
            .names(&format!("{}/holders", device::folder(member)))
            .first()
        {
            return Some(format!("part of {holder}"));
        }
        let swap = |area: &&String| {
            **area == format!("/dev/{name}") || special_of(area, system) == Some(member)
        };
        if swaps.iter().find(swap).is_some() {
            return Some("swap space".to_owned());
        }
    }
    None
}

/// The device `special` itself, its partitions, and the whole disk if the device is a partition.
/// Other partitions of the disk are not included.
fn family(special: DeviceNumber, system: &SystemFiles) -> Vec<DeviceNumber> {
    let number =
        |name: &str| device::parse_device(&system.read(&format!("/sys/class/block/{name}/dev"))?);
    let mut family = vec![special];
    let Some((name, disk)) = device::names_of(system, special) else {
        return family;
    };
    if disk != name {
        family.extend(number(&disk));
        return family;
    }
    let folder = device::folder(special);
    let parts = system
        .names(&folder)
        .into_iter()
        .filter(|part| system.exists(&format!("{folder}/{part}/partition")));
    family.extend(parts.filter_map(|part| number(&part)));
    family
}

/// Number of the device that is the source of a mount. For file systems with several devices, this
/// is the only link from the mount to a device.
fn source_device(mount: &Mount, system: &SystemFiles) -> Option<DeviceNumber> {
    special_of(&mount.source, system)
}

/// Number of the device at `path`; `None` if `system` does not describe this machine.
fn special_of(path: &str, system: &SystemFiles) -> Option<DeviceNumber> {
    system
        .is_real()
        .then(|| device::device_of_source(path))
        .flatten()
}

/// Files and devices in use as swap space.
fn swap_areas(system: &SystemFiles) -> Vec<String> {
    let text = system.read("/proc/swaps").unwrap_or_default();
    text.lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .map(unescape)
        .collect()
}

/// Use of a file by the kernel itself, in words. Lists of open files do not show such a use. `None`
/// if unused.
fn use_of_file(path: &Path, numbers: &FileNumbers, system: &SystemFiles) -> Option<String> {
    let same = |other: &str| {
        let found = std::fs::metadata(other)
            .ok()
            .map(|metadata| os::file_numbers(&metadata));
        Path::new(other) == path
            || found.is_some_and(|n| {
                n.inode != 0 && (n.device, n.inode) == (numbers.device, numbers.inode)
            })
    };
    if swap_areas(system).iter().any(|area| same(area)) {
        return Some("swap space".to_owned());
    }
    let loops = system
        .names("/sys/class/block")
        .into_iter()
        .filter(|name| name.starts_with("loop"));
    let backed = |name: &String| system.read(&format!("/sys/class/block/{name}/loop/backing_file"));
    let mut used = loops.filter(|name| backed(name).is_some_and(|file| same(&file)));
    used.next()
        .map(|name| format!("device /dev/{name} lies in it"))
}

/// Ids of other processes that have the file open, as far as `/proc` shows them to this user.
fn other_users(numbers: &FileNumbers, system: &SystemFiles) -> Vec<u32> {
    let own = std::process::id();
    let processes = system
        .names("/proc")
        .into_iter()
        .filter_map(|name| name.parse().ok())
        .filter(|id| *id != own);
    processes
        .filter(|id: &u32| has_open(*id, numbers).unwrap_or(false))
        .collect()
}

/// True if the process with the id `process` has the file open.
fn has_open(process: u32, numbers: &FileNumbers) -> io::Result<bool> {
    let folder = PathBuf::from(format!("/proc/{process}/fd"));
    for entry in std::fs::read_dir(folder)? {
        // Following the link leads to the open file, even if it was renamed.
        let Ok(metadata) = std::fs::metadata(entry?.path()) else {
            continue;
        };
        let found = os::file_numbers(&metadata);
        if found.kind == FileKind::Regular
            && (found.device, found.inode) == (numbers.device, numbers.inode)
        {
            return Ok(true);
        }
    }
    Ok(false)
}
