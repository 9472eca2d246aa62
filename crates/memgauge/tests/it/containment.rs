//! Tests that the program gives its caller no rights that the caller lacks.

#![cfg(unix)]

use crate::helper::{self, Finished, LIMIT, PROGRAM};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// User numbers of two users who are not root. They need no accounts.
const OWNER: u32 = 54_321;
const CALLER: u32 = 54_322;

/// Makes a copy of `program` in `folder` with this owner, group and mode.
fn lend(program: &Path, folder: &Path, owner: (u32, u32), mode: u32) -> PathBuf {
    let copy = folder.join(format!(
        "{:o}-{}",
        mode,
        program.file_name().expect("a name").to_string_lossy()
    ));
    std::fs::copy(program, &copy).expect("a copy");
    chown(&copy, Some(owner.0), Some(owner.1)).expect("root may give files away");
    std::fs::set_permissions(&copy, PermissionsExt::from_mode(mode)).expect("the mode can be set");
    copy
}

fn run_as_caller(program: &Path, args: &[&str]) -> Finished {
    let mut command = Command::new(program);
    command.args(args).current_dir("/").uid(CALLER).gid(CALLER);
    helper::finish(command, LIMIT)
}

/// Makes a folder in which the system respects set-user-ID programs. `None` if this test cannot
/// make such a folder; it prints why.
fn lending_folder(test: &str) -> Option<tempfile::TempDir> {
    let folder = helper::folder();
    let skip = |why: &str| {
        helper::skipped(test, why);
        None
    };
    if std::fs::metadata(folder.path()).expect("a folder").uid() != 0 {
        return skip("only root can lend its programs' rights to others");
    }
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755))
        .expect("root's own folder");
    let id = Path::new("/usr/bin/id");
    if !id.is_file() || chown(folder.path(), Some(OWNER), None).is_err() {
        return skip(
            "no /usr/bin/id to see whether rights are lent, or files cannot be given away",
        );
    }
    // A mount may ignore the mode, and a sandbox may forbid to change users.
    let lent = lend(id, folder.path(), (OWNER, OWNER), 0o4755);
    let told = std::panic::catch_unwind(|| run_as_caller(&lent, &["-u"]));
    match told {
        Ok(run) if run.stdout.trim() == OWNER.to_string() => Some(folder),
        _ => skip("set-user-ID programs have no effect here"),
    }
}

#[test]
fn it_does_not_run_with_borrowed_rights() {
    let Some(folder) = lending_folder("it_does_not_run_with_borrowed_rights") else {
        return;
    };
    let program = Path::new(PROGRAM);
    let plain = run_as_caller(
        &lend(program, folder.path(), (OWNER, OWNER), 0o755),
        &["--version"],
    );
    assert_eq!(
        plain.code,
        Some(0),
        "without the bits it is a program like any other: {plain:?}"
    );
    for (what, owner, mode) in [
        ("set-user-ID", (OWNER, OWNER), 0o4755),
        ("set-group-ID", (OWNER, OWNER), 0o2755),
        ("set-user-ID of root", (0, 0), 0o4755),
    ] {
        for args in [
            &["--version"][..],
            &["list", "kernels"],
            &["--no-such-option"],
        ] {
            let run = run_as_caller(&lend(program, folder.path(), owner, mode), args);
            assert_eq!(
                (run.code, run.stdout.as_str()),
                (Some(2), ""),
                "{what} {args:?}: {run:?}"
            );
            assert_eq!(run.stderr.lines().count(), 1, "{what}: {run:?}");
            assert!(
                run.stderr
                    .starts_with("memgauge: cannot run with rights that the caller lacks"),
                "{run:?}"
            );
        }
    }
    let own = run_as_caller(
        &lend(program, folder.path(), (CALLER, CALLER), 0o6755),
        &["--version"],
    );
    assert_eq!(
        own.code,
        Some(0),
        "the bits of the caller's own program lend nothing: {own:?}"
    );
}
