//! Recorded trees of `/proc` and `/sys`: disks, partitions, holders, swap.

// The trees consist of symbolic links.
#![cfg(unix)]

use super::*;
use crate::facts::SystemFiles;
use crate::os::files::DeviceNumber;
use tempfile::TempDir;

fn number(major: u32, minor: u32) -> DeviceNumber {
    DeviceNumber { major, minor }
}

/// A tree with two disks. `sda` (8:0) has two partitions (8:1, 8:2), the second held by `dm-0`
/// (253:0). `sdb` (8:16) has none.
fn tree() -> (TempDir, SystemFiles) {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let disks = "sys/devices/pci0/block";
    let devices = [
        ("sda", "8:0", ""),
        ("sda/sda1", "8:1", "1"),
        ("sda/sda2", "8:2", "2"),
        ("sdb", "8:16", ""),
        ("dm-0", "253:0", ""),
    ];
    for (path, number, part) in devices {
        write(&format!("{disks}/{path}/dev"), number);
        std::fs::create_dir_all(root.path().join(format!("{disks}/{path}/holders"))).unwrap();
        if !part.is_empty() {
            write(&format!("{disks}/{path}/partition"), part);
        }
        link(
            &root,
            &format!("sys/dev/block/{number}"),
            &format!("../../devices/pci0/block/{path}"),
        );
        let name = path.rsplit('/').next().unwrap();
        link(
            &root,
            &format!("sys/class/block/{name}"),
            &format!("../../devices/pci0/block/{path}"),
        );
    }
    write(&format!("{disks}/sda/sda2/holders/dm-0/dev"), "253:0");
    write(&format!("{disks}/sda/queue/rotational"), "1");
    write(&format!("{disks}/sda/queue/logical_block_size"), "4096");
    write(&format!("{disks}/sda/queue/io_poll"), "1");
    write(&format!("{disks}/sda/device/model"), "SPINNER 2000  ");
    write(&format!("{disks}/sdb/queue/logical_block_size"), "777");
    write("proc/self/mountinfo", "");
    let files = SystemFiles::under(root.path());
    (root, files)
}

fn link(root: &TempDir, name: &str, target: &str) {
    let name = root.path().join(name);
    std::fs::create_dir_all(name.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(target, name).unwrap();
}

fn mount_table(root: &TempDir, text: &str) {
    std::fs::write(root.path().join("proc/self/mountinfo"), text).unwrap();
}

#[test]
fn a_device_knows_its_disk() {
    let (_root, files) = tree();
    let part = device::facts_of_device(number(8, 1), &files);
    assert_eq!(
        (part.device.as_deref(), part.model.as_deref()),
        (Some("sda1"), Some("SPINNER 2000"))
    );
    assert_eq!(
        (part.rotational, part.logical_block, part.polls),
        (Some(true), Some(4096), Some(true))
    );
    let odd = device::facts_of_device(number(8, 16), &files);
    assert_eq!(
        (odd.device.as_deref(), odd.logical_block, odd.rotational),
        (Some("sdb"), None, None)
    );
    assert_eq!(
        device::facts_of_device(number(9, 9), &files),
        device::DeviceFacts::default()
    );
}

#[test]
fn users_of_a_device_and_of_its_relatives_are_found() {
    let (root, files) = tree();
    let used = |device| in_use::use_of_device(device, &files);
    // The second partition belongs to a mapped device: the partition and the disk are in use, the
    // first partition is not.
    assert_eq!(used(number(8, 0)).as_deref(), Some("part of dm-0"));
    assert_eq!(used(number(8, 2)).as_deref(), Some("part of dm-0"));
    assert_eq!(
        (
            used(number(8, 1)),
            used(number(8, 16)),
            used(number(253, 0))
        ),
        (None, None, None)
    );

    mount_table(
        &root,
        "36 35 8:1 / /mnt/with\\040space rw - ext4 /dev/sda1 rw\nodd line\n37 35 x:y / /z rw - a \
         b c\n",
    );
    assert_eq!(
        used(number(8, 1)).as_deref(),
        Some("mounted on /mnt/with space")
    );
    assert_eq!(
        used(number(8, 0)).as_deref(),
        Some("mounted on /mnt/with space")
    );
    assert_eq!((used(number(8, 16)), used(number(253, 0))), (None, None));

    // File systems with several devices have made-up numbers, but their source names a device.
    mount_table(
        &root,
        "36 35 0:44 /sub /data rw shared:1 master:2 - btrfs /dev/sdb rw,subvol=/sub\n",
    );
    assert_eq!(used(number(8, 16)).as_deref(), Some("mounted on /data"));

    mount_table(&root, "36 35 8:0 / /whole rw - xfs /dev/sda rw\n");
    assert_eq!(
        used(number(8, 1)).as_deref(),
        Some("mounted on /whole"),
        "a part of a disk that is mounted as a whole"
    );

    mount_table(&root, "");
    let swaps = "Filename\t\t\tType\t\tSize\tUsed\tPriority\n/dev/sdb    partition\t100\t0\t-2\n";
    std::fs::write(root.path().join("proc/swaps"), swaps).unwrap();
    assert_eq!(used(number(8, 16)).as_deref(), Some("swap space"));
    assert_eq!(used(number(8, 1)), None);
}

#[test]
fn an_unknown_device_is_judged_by_its_mounts() {
    let (root, files) = tree();
    assert_eq!(in_use::use_of_device(number(7, 7), &files), None);
    mount_table(&root, "36 35 7:7 / /image ro - iso9660 /dev/loop7 ro\n");
    assert_eq!(
        in_use::use_of_device(number(7, 7), &files).as_deref(),
        Some("mounted on /image")
    );
}

#[test]
fn lines_of_the_mount_table_are_read_as_the_kernel_writes_them() {
    let (root, files) = tree();
    let line = "29 1 254:0 /sub /a\\134b\\011c rw,relatime shared:1 - fuse.my-fs some\\040thing \
         rw,allow_other\n";
    mount_table(&root, line);
    let mounts = device::mounts(&files);
    let expected = device::Mount {
        id: 29,
        device: number(254, 0),
        point: "/a\\b\tc".to_owned(),
        kind: "fuse.my-fs".to_owned(),
        source: "some thing".to_owned(),
    };
    assert_eq!(mounts, [expected]);
    for odd in [
        "",
        " - ",
        "29 1 254:0 / /a rw",
        "a b c d e - f g h",
        "29 1 254 / /a rw - ext4 /dev/x rw",
        "\\0 - \\",
    ] {
        mount_table(&root, odd);
        assert_eq!(device::mounts(&files), [], "{odd}");
    }
}

#[test]
fn a_device_is_left_alone_where_mounts_are_not_told() {
    let root = tempfile::tempdir().unwrap();
    let device = FileNumbers {
        kind: FileKind::BlockDevice,
        size: 0,
        device: number(0, 6),
        special: number(8, 0),
        inode: 9,
        allocated: None,
    };
    let check =
        |files: &SystemFiles| in_use::check_before_opening(Path::new("/dev/sda"), &device, files);
    let text = check(&SystemFiles::under(root.path()))
        .unwrap_err()
        .to_string();
    assert!(text.contains("does not report what is mounted"), "{text}");
    let (_tree, files) = tree();
    assert!(
        check(&files)
            .unwrap_err()
            .to_string()
            .contains("part of dm-0")
    );
}
