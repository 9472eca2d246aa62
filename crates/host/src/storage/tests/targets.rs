//! Opening targets: errors, created files, and files that remain.

use super::*;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// Names of the entries of a folder.
fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn what_is_no_file_is_refused_in_one_line() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("folder")).unwrap();
    std::fs::write(path("empty"), "").unwrap();
    std::fs::write(path("plain"), "x").unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(path("fifo"))
        .status()
        .unwrap();
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    std::os::unix::fs::symlink(path("nowhere"), path("dangling")).unwrap();
    std::os::unix::fs::symlink(path("loop"), path("loop")).unwrap();
    let table = [
        (path("missing"), "No such file"),
        (path("missing/deep"), "No such file"),
        (path("plain/below"), "Not a directory"),
        (path("dangling"), "No such file"),
        (path("loop"), "symbolic links"),
        (path("folder"), "it is a folder"),
        (path("empty"), "it is empty"),
        (path("fifo"), "it is a FIFO"),
        (path("socket"), "it is a socket"),
        (PathBuf::from("/dev/null"), "a device without blocks"),
        (PathBuf::from(""), "No such file"),
        (path(&"n".repeat(300)), "too long"),
    ];
    for (path, why) in table {
        for access in [Access::Read, Access::Destroy] {
            for direct in [false, true] {
                let text = refused(&path, &opening(access, direct));
                assert!(text.contains(why), "{why}: {text}");
            }
        }
    }
}

#[test]
fn what_may_not_be_read_is_refused() {
    let folder = folder();
    let path = data_file(&folder, 4096);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&path).is_ok() {
        println!("skipped: this user may open everything");
        return;
    }
    assert!(refused(&path, &opening(Access::Read, false)).contains("ermission denied"));
}

#[test]
fn a_file_is_read_as_it_is() {
    let folder = folder();
    let path = data_file(&folder, 12345);
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for path in [&path, &link] {
        let target = Target::open(path, &opening(Access::Read, false)).unwrap();
        assert_eq!(
            (target.size(), target.kind(), target.is_writable()),
            (12345, TargetKind::File, false)
        );
        assert_eq!(
            (target.path(), target.direct(), target.use_check()),
            (path.as_path(), &Direct::NotAsked, None)
        );
        assert!(target.file_system().is_some(), "the mount table names one");
        assert!(target.logical_block() >= 512);
        let _ = target.forget_cached();
        println!(
            "{:?} {:?} {:?}",
            target.device(),
            target.rotational(),
            target.model()
        );
    }
    let direct = Target::open(&path, &opening(Access::Read, true)).unwrap();
    println!("{:?}", direct.direct());
    if let Direct::Granted { memory, offset } = *direct.direct() {
        assert!(memory.is_power_of_two() && offset.is_power_of_two() && offset <= 4096);
    }
}

#[test]
fn a_file_system_in_memory_is_cache() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        println!("skipped: no /dev/shm");
        return;
    };
    let target = created(&folder, 8192, true);
    if target.file_system() != Some("tmpfs") {
        println!("skipped: /dev/shm is {:?}", target.file_system());
        return;
    }
    assert_eq!(
        target.direct(),
        &Direct::Refused("tmpfs keeps its files in memory".to_owned())
    );
    for row in usable().into_iter().filter(|row| row.name != "null") {
        verify(row, &target, 4096, &pattern(SEED));
    }
}

#[test]
fn a_created_file_has_no_name_and_all_its_bytes() {
    let folder = folder();
    for bytes in [1, 511, 4096, 1 << 20, (1 << 20) + 1, 3_333_333] {
        for path in [folder.path().to_path_buf(), folder.path().join("new")] {
            let target = Target::open(
                &path,
                &opening(Access::Create { bytes, keep: false }, false),
            )
            .unwrap();
            assert_eq!(
                (target.size(), target.kind(), target.is_writable()),
                (bytes, TargetKind::Created, true)
            );
            assert_eq!(entries(folder.path()), [""; 0]);
            let metadata = target.file().metadata().unwrap();
            assert_eq!((metadata.len(), metadata.nlink()), (bytes, 0));
            assert!(metadata.blocks() * 512 >= bytes, "really written");
            verify(engine_named("sync").unwrap(), &target, 4096, &pattern(SEED));
        }
    }
}

#[test]
fn a_kept_file_stays_and_only_that() {
    let folder = folder();
    let path = folder.path().join("kept");
    for filler in [
        Filler::Incompressible,
        Filler::Zeros,
        Filler::Repeated(b"abc".to_vec()),
    ] {
        let pattern = Pattern::new(filler, 3);
        let opening = Opening {
            pattern: pattern.clone(),
            ..opening(
                Access::Create {
                    bytes: 100_000,
                    keep: true,
                },
                true,
            )
        };
        drop(Target::open(&path, &opening).unwrap());
        assert_eq!(entries(folder.path()), ["kept"]);
        let data = std::fs::read(&path).unwrap();
        assert_eq!(data.len(), 100_000);
        pattern.verify(&data, 0).unwrap();
        let again = refused(&path, &opening);
        assert!(again.contains("it exists"), "{again}");
        assert_eq!(std::fs::read(&path).unwrap(), data);
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn nothing_is_created_where_something_is_or_nothing_fits() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("taken"), "precious").unwrap();
    std::os::unix::fs::symlink(path("elsewhere"), path("dangling")).unwrap();
    std::os::unix::fs::symlink(path("taken"), path("link")).unwrap();
    let before = entries(folder.path());
    let create = |bytes, keep| opening(Access::Create { bytes, keep }, true);
    for keep in [false, true] {
        for name in ["taken", "dangling", "link"] {
            assert!(
                refused(&path(name), &create(4096, keep)).contains("it exists"),
                "{name}"
            );
        }
        assert!(refused(&path("missing/new"), &create(4096, keep)).contains("No such file"));
        assert!(refused(&path("new"), &create(0, keep)).contains("empty file"));
        assert!(refused(&path("new"), &create(1 << 60, keep)).contains("are free there"));
        assert!(refused(&path("new"), &create(u64::MAX, keep)).contains("are free there"));
        let stopped = create(1 << 20, keep);
        stopped.stop.set();
        assert!(refused(&path("new"), &stopped).contains("interrupted"));
    }
    assert!(refused(folder.path(), &create(4096, true)).contains("name the file"));
    assert_eq!(entries(folder.path()), before);
    assert_eq!(std::fs::read(path("taken")).unwrap(), b"precious");
}

/// Starts this test program again with the ignored test `name` of this file, which works on
/// `folder`.
fn child(shell: &str, name: &str, folder: &Path) -> std::process::Child {
    std::process::Command::new("sh")
        .args([
            "-c",
            &format!("cd \"$1\" && {shell} exec \"$0\" --ignored --exact --nocapture \"$2\""),
        ])
        .arg(std::env::current_exe().unwrap())
        .arg(folder)
        .arg(crate::tests::name_of(module_path!(), name))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "started by a_limit_on_files_is_an_error in a process of its own"]
fn child_under_a_limit_on_files() {
    let create = |bytes| opening(Access::Create { bytes, keep: true }, false);
    let text = refused(Path::new("large"), &create(2 << 20));
    assert!(text.contains("ulimit -f"), "{text}");
    let target = Target::open(Path::new("small"), &create(1 << 20)).unwrap();
    // Writing beyond the limit is an error too, not a signal that ends the process.
    let beyond = IoRequest {
        offset: 1 << 20,
        ..block_request(4096, 0, Transfer::Write)
    };
    for row in usable()
        .into_iter()
        .filter(|row| row.bypasses_cache && row.name != "null")
    {
        let mut engine = (row.open)(std::slice::from_ref(&target), &settings(1, 4096)).unwrap();
        drive(
            engine.as_mut(),
            &[beyond],
            |_, _| {},
            |_, completion, _| assert!(completion.result.is_err()),
        );
    }
    println!("reached the end");
}

#[test]
fn a_limit_on_files_is_an_error() {
    let folder = folder();
    // The limit counts blocks of 512 bytes, so it is 1 MiB.
    let output = child(
        "ulimit -f 2048;",
        "child_under_a_limit_on_files",
        folder.path(),
    )
    .wait_with_output()
    .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && text.contains("reached the end"),
        "{text}"
    );
    assert_eq!(entries(folder.path()), ["small"]);
}

#[test]
#[ignore = "started by a_killed_run_leaves_no_file in a process of its own"]
fn child_that_is_killed() {
    let _target = Target::open(
        Path::new("new"),
        &opening(
            Access::Create {
                bytes: 1 << 20,
                keep: false,
            },
            true,
        ),
    )
    .unwrap();
    println!("created");
    std::thread::sleep(std::time::Duration::from_secs(60));
}

#[test]
fn a_killed_run_leaves_no_file() {
    use std::io::{BufRead, BufReader};
    let folder = folder();
    let mut child = child("", "child_that_is_killed", folder.path());
    let output = BufReader::new(child.stdout.take().unwrap());
    assert!(output.lines().any(|line| line.unwrap().contains("created")));
    assert_eq!(entries(folder.path()), [""; 0]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(entries(folder.path()), [""; 0]);
}
