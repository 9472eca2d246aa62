//! Attempts to destroy data of others.

use super::*;
use std::io::Write;
use std::process::Command;

#[test]
fn a_file_that_was_given_up_is_overwritten() {
    let folder = folder();
    let path = data_file(&folder, 65536);
    let target = Target::open(&path, &opening(Access::Destroy, false)).unwrap();
    assert_eq!(
        (target.kind(), target.is_writable()),
        (TargetKind::File, true)
    );
    println!("{:?}", target.use_check());
    let mut engine =
        (engine_named("sync").unwrap().open)(std::slice::from_ref(&target), &settings(1, 4096))
            .unwrap();
    let fresh = pattern(99);
    let requests: Vec<_> = (0..16)
        .map(|number| block_request(4096, number, Transfer::Write))
        .collect();
    drive(
        engine.as_mut(),
        &requests,
        |request, data| fresh.fill(data, request.offset),
        |_, completion, _| {
            assert_eq!(completion.result, Ok(4096));
        },
    );
    drop((engine, target));
    fresh.verify(&std::fs::read(&path).unwrap(), 0).unwrap();
}

#[test]
fn a_file_that_others_have_open_is_left_alone() {
    let folder = folder();
    let path = data_file(&folder, 65536);
    let before = std::fs::read(&path).unwrap();
    let reading = |file: &Path| std::fs::File::open(file).unwrap();
    let writing = |file: &Path| std::fs::OpenOptions::new().write(true).open(file).unwrap();
    for open in [reading, writing] {
        let held = open(&path);
        let text = refused(&path, &opening(Access::Destroy, true));
        assert!(text.contains("in use"), "{text}");
        drop(held);
    }
    // Another program opens the file under another of its names.
    let other = folder.path().join("other");
    std::fs::hard_link(&path, &other).unwrap();
    let mut reader = Command::new("sh");
    reader
        .args(["-c", "exec 5<\"$0\"; echo open; exec sleep 60"])
        .arg(&other)
        .stdout(std::process::Stdio::piped());
    let mut reader = reader.spawn().unwrap();
    let mut word = [0; 4];
    std::io::Read::read_exact(reader.stdout.as_mut().unwrap(), &mut word).unwrap();
    let text = refused(&path, &opening(Access::Destroy, true));
    assert!(text.contains("in use"), "{text}");
    reader.kill().unwrap();
    reader.wait().unwrap();
    assert!(Target::open(&path, &opening(Access::Destroy, true)).is_ok());
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn names_are_compared_letter_for_letter() {
    let list = [PathBuf::from("/dev/sdz"), PathBuf::from("data")];
    assert!(is_named(Path::new("/dev/sdz"), &list) && is_named(Path::new("data"), &list));
    for other in [
        "/dev/sdz1",
        "/dev/sd",
        "/dev//sdz",
        "/dev/sdz/",
        "./data",
        "Data",
        "",
    ] {
        assert!(!is_named(Path::new(other), &list), "{other}");
    }
    assert!(!is_named(Path::new("data"), &[]));
}

/// Name of a loop device over a file. Dropping it removes the device.
struct Loop(String);

impl Loop {
    fn over(file: &Path) -> Option<Loop> {
        let output = Command::new("losetup")
            .args(["--find", "--show", "--partscan"])
            .arg(file)
            .output();
        match output {
            Ok(output) if output.status.success() => Some(Loop(
                String::from_utf8_lossy(&output.stdout).trim().to_owned(),
            )),
            Ok(output) => {
                println!(
                    "skipped: losetup: {}",
                    String::from_utf8_lossy(&output.stderr).trim()
                );
                None
            }
            Err(error) => {
                println!("skipped: losetup: {error}");
                None
            }
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

/// True if a command ran and succeeded; prints the reason if not.
fn done(command: &mut Command) -> bool {
    match command.output() {
        Ok(output) if output.status.success() => true,
        Ok(output) => {
            println!(
                "skipped: {command:?}: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            );
            false
        }
        Err(error) => {
            println!("skipped: {command:?}: {error}");
            false
        }
    }
}

#[test]
fn a_block_device_is_measured_and_its_file_protected() {
    let folder = folder();
    let path = data_file(&folder, 4 << 20);
    let Some(device) = Loop::over(&path) else {
        return;
    };
    let device_path = PathBuf::from(&device.0);
    let target = Target::open(&device_path, &opening(Access::Read, true)).unwrap();
    assert_eq!(
        (target.size(), target.kind(), target.file_system()),
        (4 << 20, TargetKind::BlockDevice, None)
    );
    assert_eq!(target.device(), device.0.strip_prefix("/dev/"));
    println!("{target:?}");
    for row in usable().into_iter().filter(|row| row.name != "null") {
        verify(row, &target, 4096, &pattern(SEED));
    }
    drop(target);
    let text = refused(&path, &opening(Access::Destroy, true));
    assert!(text.contains("lies in it"), "{text}");
    let target = Target::open(&device_path, &opening(Access::Destroy, true)).unwrap();
    assert!(target.use_check().is_some_and(|how| how.contains("O_EXCL")));
    // The device is claimed, so a second claim fails.
    assert!(refused(&device_path, &opening(Access::Destroy, true)).contains("in use"));
}

#[test]
fn a_mounted_device_is_left_alone() {
    let folder = folder();
    let path = data_file(&folder, 16 << 20);
    if !done(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&path)) {
        return;
    }
    let Some(device) = Loop::over(&path) else {
        return;
    };
    let point = folder.path().join("point with a space");
    std::fs::create_dir(&point).unwrap();
    if !done(Command::new("mount").arg(&device.0).arg(&point)) {
        return;
    }
    let text = Target::open(Path::new(&device.0), &opening(Access::Destroy, true)).map(drop);
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&device.0, &link).unwrap();
    let through_link = Target::open(&link, &opening(Access::Destroy, true)).map(drop);
    let reading = Target::open(Path::new(&device.0), &opening(Access::Read, true)).map(drop);
    assert!(done(Command::new("umount").arg(&point)));
    for text in [text, through_link] {
        let text = text.unwrap_err().to_string();
        assert!(
            text.contains("mounted on ") && text.contains("point with a space"),
            "{text}"
        );
    }
    reading.unwrap();
    assert!(
        Target::open(Path::new(&device.0), &opening(Access::Destroy, true)).is_ok(),
        "free again"
    );
}

/// First sector of a disk with two Linux partitions (master boot record: four entries of 16 bytes
/// from byte 446).
fn two_parts() -> [u8; 512] {
    let mut sector = [0; 512];
    for (entry, (start, sectors)) in [(2048u32, 30000u32), (34816, 30000)]
        .into_iter()
        .enumerate()
    {
        let entry = &mut sector[446 + 16 * entry..][..16];
        entry[4] = 0x83;
        entry[8..12].copy_from_slice(&start.to_le_bytes());
        entry[12..].copy_from_slice(&sectors.to_le_bytes());
    }
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    sector
}

#[test]
fn a_device_with_a_mounted_part_is_left_alone() {
    let folder = folder();
    let path = data_file(&folder, 32 << 20);
    std::fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .and_then(|mut file| file.write_all(&two_parts()))
        .unwrap();
    let Some(device) = Loop::over(&path) else {
        return;
    };
    let first = format!("{}p1", device.0);
    let second = format!("{}p2", device.0);
    for _ in 0..100 {
        if !Path::new(&second).exists() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
    if !done(Command::new("mkfs.ext4").args(["-q", "-F", &first])) {
        return;
    }
    let point = folder.path().join("point");
    std::fs::create_dir(&point).unwrap();
    if !done(Command::new("mount").arg(&first).arg(&point)) {
        return;
    }
    let destroy =
        |path: &str| Target::open(Path::new(path), &opening(Access::Destroy, true)).map(drop);
    let results = [destroy(&device.0), destroy(&first)];
    let other = destroy(&second);
    assert!(done(Command::new("umount").arg(&point)));
    for result in results {
        let text = result.unwrap_err().to_string();
        assert!(text.contains("mounted on "), "{text}");
    }
    other.unwrap();
}
