//! Tests with processes that fail in place of the process that opens drivers.

use super::{DriverLimits, DriverProcesses, DriverProgram};
use crate::gpu::Drivers;
use std::path::Path;
use std::time::Duration;
use units::error::Kind;

/// Reason why the devices cannot be listed if `script` runs in place of the program that opens
/// drivers.
fn reason(script: &str, reply: Duration) -> String {
    let drivers = DriverProcesses {
        program: DriverProgram::File("/bin/sh".into(), vec!["-c".into(), script.into()]),
        limits: DriverLimits {
            reply,
            end: Duration::from_millis(500),
        },
    };
    let why = drivers.devices().expect_err("no devices");
    assert_eq!(why.kind(), Kind::Failure);
    why.to_string()
}

#[test]
fn a_process_that_fails_is_told_with_its_reason() {
    if !Path::new("/bin/sh").exists() {
        return;
    }
    let long = Duration::from_secs(60);
    let rows = [
        // (script, patience, words of the reason)
        ("exit 3", long, "exit status: 3"),
        ("kill -SEGV $$", long, "signal: 11"),
        ("echo hello; exec sleep 100", long, "standard output"),
        (
            "exec sleep 100",
            Duration::from_millis(50),
            "did not return",
        ),
        // The process closes its output and continues.
        (
            "exec >&-; exec sleep 100",
            long,
            "the process of the driver ended",
        ),
    ];
    for (script, patience, words) in rows {
        let why = reason(script, patience);
        assert!(why.contains(words), "{script}: {why}");
    }
}

#[test]
fn a_program_that_does_not_exist_cannot_be_started() {
    let drivers = DriverProcesses {
        program: DriverProgram::File("/no/such/program".into(), Vec::new()),
        limits: DriverLimits::default(),
    };
    let why = drivers.devices().expect_err("no program").to_string();
    assert!(why.contains("cannot start"), "{why}");
}

/// A program in memory can be started like a file. `true` and `false` end without an answer.
#[test]
fn a_program_can_be_started_from_memory() {
    for (path, status) in [("/bin/true", "0"), ("/bin/false", "1")] {
        let Ok(program) = std::fs::read(path) else {
            return;
        };
        let drivers = DriverProcesses {
            program: DriverProgram::Embedded(program),
            limits: DriverLimits::default(),
        };
        let why = drivers.devices().expect_err("no devices").to_string();
        assert!(why.contains(&format!("exit status: {status}")), "{why}");
    }
}
