//! Compares each way in which a command can end with the table of exit codes.

use crate::helper::{folder, json, memgauge, put, read, typed};
use memgauge::cli::EXIT_CODES;
use std::path::Path;

/// Every command, which gets an option that it does not have.
const COMMANDS: [&str; 21] = [
    "",
    "run",
    "bandwidth",
    "latency",
    "scaling",
    "core-to-core",
    "loaded-latency",
    "numa",
    "patterns",
    "tlb",
    "caches",
    "instructions",
    "locks",
    "io",
    "gpu",
    "list",
    "report",
    "compare",
    "fleet",
    "health",
    "generate",
];

/// A session that takes a moment.
const SHORT: &str = "bandwidth --ops read --sizes 16KiB --threads 1 --samples 3 --budget 20s";

/// The exit code in the row of the table with this name.
fn code(name: &str) -> Option<i32> {
    let row = EXIT_CODES
        .iter()
        .find(|row| row.name == name)
        .expect("a row of the table");
    Some(row.code.parse().expect("a number"))
}

/// Commands, with the name of the way in which each ends and a word that it prints. Commands may
/// use the files of [`prepared`].
const ENDS: &[(&str, &str, &str)] = &[
    ("list experiments", "done", "core-to-core"),
    ("report a.json", "done", "bandwidth"),
    ("compare a.json a.json", "done", "1 point compared"),
    ("core-to-core --cpus {cpu} -o -", "done", "one cpu"),
    (
        "numa --ops read --measure bandwidth --size 1MiB --samples 3 --budget 20s -o -",
        "done",
        "local",
    ),
    (
        "bandwidth --ops read --sizes 16KiB --threads 1 --samples 3 --budget 20s --strict -o -",
        "incomplete",
        "less than solid",
    ),
    ("report missing.json", "usage", "cannot read the report"),
    (
        "compare a.json missing.json",
        "usage",
        "cannot read the report",
    ),
    ("latency --resume a.json", "usage", "nothing to continue"),
    (
        "bandwidth -o missing/folder.json",
        "usage",
        "cannot write the result",
    ),
    (
        "report a.json -o missing/folder.html",
        "usage",
        "cannot write the result",
    ),
    ("list kernels none", "usage", "unknown kernel"),
    (
        "compare a.json other.json",
        "check failed",
        "no point in common",
    ),
    (
        "compare a.json other.json --fail-on worse -o c.json",
        "check failed",
        "no point in common",
    ),
    (
        "compare a.json slower.json --fail-on worse",
        "check failed",
        "worse",
    ),
    ("compare a.json slower.json", "done", "worse"),
    (
        "io data --engine sync --depth 4 --time 1s -o -",
        "unsupported",
        "one operation at a time",
    ),
];

/// Writes reports and data into `folder`: `a.json`, a slower copy, a copy with other points, and a
/// file.
fn prepared(folder: &Path) {
    let run = typed(&format!("{SHORT} -o a.json"), folder);
    assert_eq!(run.code, code("done"), "{run:?}");
    let mut report = json(&read(&folder.join("a.json")));
    let outcome = &mut report["datasets"][0]["points"][0]["outcome"];
    outcome["verdict"] = serde_json::json!({"grade": "solid", "reasons": []});
    let sample = outcome["samples"][0].clone();
    let mut write = |name: &str, value: f64, size: u64| {
        let point = &mut report["datasets"][0]["points"][0];
        let one = |round: u32| {
            let mut one = sample.clone();
            one["value"] = value.into();
            // The copied sample may be disturbed on a busy machine.
            one["disturbance"] = serde_json::Value::Null;
            one["round"] = round.into();
            one
        };
        point["outcome"]["samples"] = (0..8).map(one).collect();
        point["coordinates"]["size_bytes"] = size.into();
        put(folder, name, report.to_string().as_bytes());
    };
    write("slower.json", 1e9, 16384);
    write("other.json", 2e9, 32768);
    write("a.json", 2e9, 16384);
    put(folder, "data", &[7; 64 << 10]);
}

#[test]
fn commands_end_with_the_codes_of_the_table() {
    let folder = folder();
    prepared(folder.path());
    let facts = json(&typed("list host --format json", folder.path()).stdout);
    let cpus = facts["topology"]["cpus"].as_array().expect("cpus");
    let cpu = cpus
        .iter()
        .find(|cpu| cpu["allowed"] == true)
        .expect("a cpu")["id"]
        .to_string();
    let mut wrong = Vec::new();
    for (words, end, says) in ENDS {
        let run = typed(&words.replace("{cpu}", &cpu), folder.path());
        if run.code != code(end)
            || !(run.stdout.clone() + &run.stderr).contains(says)
            || run.panicked()
        {
            wrong.push(format!(
                "{words}: {:?} in place of {end}, '{says}': {run:?}",
                run.code
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_command_refuses_what_it_does_not_know_with_the_same_code() {
    let folder = folder();
    for command in COMMANDS {
        let words: Vec<&str> = command
            .split_whitespace()
            .chain(["--no-such-option"])
            .collect();
        let run = memgauge(&words, folder.path());
        assert_eq!(run.code, code("usage"), "{command}: {run:?}");
    }
    let help = typed("--help", folder.path()).stdout;
    let listed = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1);
    let listed = listed
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next());
    for command in listed.filter(|name| *name != "help") {
        assert!(
            COMMANDS.contains(&command),
            "{command} is not in the table of this test"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_the_system_refuses_has_a_code_of_its_own() {
    let folder = folder();
    prepared(folder.path());
    for words in [
        "report a.json --format json -o /dev/full",
        &format!("{SHORT} --format json -o /dev/full"),
    ] {
        let run = typed(words, folder.path());
        assert_eq!(run.code, code("failed"), "{words}: {run:?}");
    }
}

/// A reader that closes the pipe does not change the exit code of a failed check.
#[cfg(unix)]
#[test]
fn a_closed_pipe_does_not_hide_a_failed_check() {
    let folder = folder();
    prepared(folder.path());
    let line =
        "(sleep 0.1; \"$M\" compare a.json slower.json --fail-on worse; echo $? > code) | true";
    crate::helper::shell(line, folder.path());
    assert_eq!(
        read(&folder.path().join("code")).trim().parse().ok(),
        code("check failed")
    );
}
