//! Tests `memgauge fleet` as a user types it, on generated reports of machines whose faults are
//! known.

use crate::helper::{Finished, folder, json, memgauge, put, read, typed};
use serde_json::{Value, json};
use std::path::Path;

/// Number of quantities of a machine.
const QUANTITIES: u64 = 6;

/// Exit codes.
const DONE: i32 = 0;
const USAGE: i32 = 2;
const INCOMPLETE: i32 = 3;
const SLOW: i32 = 4;

/// Makes the report of the machine `name` with `speed` in all quantities. The machines of a group
/// have the same number of CPUs.
fn report(name: &str, cpus: u64, speed: f64, kernel: &str) -> Value {
    let fact = |value: Value| json!({"value": value, "source": "a test"});
    let points = (0..QUANTITIES).map(|threads| {
        // Machines differ by up to 1%.
        let seed = name
            .bytes()
            .fold(threads, |sum, byte| sum * 31 + u64::from(byte));
        let value = speed * (1.0 + (seed % 100) as f64 / 1e4) * 1e9;
        json!({
            "id": threads,
            "coordinates": {"level": "DRAM", "threads": threads, "kernel": name},
            "outcome": {
                "status": "measured",
                "summary": {"median": value, "ci_low": value * 0.99, "ci_high": value * 1.01},
                "samples": [{"value": value}],
                "verdict": {"grade": "solid", "reasons": []},
            },
        })
    });
    let cpu_list = (0..cpus).map(|id| json!({"id": id, "allowed": true}));
    json!({
        "schema_version": 3,
        "provenance": {
            "tool": {"name": "memgauge", "version": "1", "machine": "native"},
            "started": "2026-01-01T00:00:00Z",
            "host": {
                "cpu": {"architecture": "x86_64", "microarchitecture": fact("Zen 4".into())},
                "topology": {"cpus": cpu_list.collect::<Vec<_>>(), "nodes": [{}]},
                "memory": {"total": fact(8_000_000_000_u64.into())},
                "system": {
                    "os": "linux",
                    "kernel": fact(kernel.into()),
                    "hostname": fact(name.into()),
                },
            },
        },
        "datasets": [{
            "experiment": "bandwidth",
            "quantity": {"name": "bandwidth", "unit": "B/s", "higher_is_better": true},
            "axes": [],
            "points": points.collect::<Vec<_>>(),
        }],
    })
}

/// Writes reports of twelve machines. The machine with the number `slow` is 20% slower than the
/// others.
fn fleet(folder: &Path, slow: Option<usize>) {
    std::fs::create_dir_all(folder.join("reports/rack")).expect("a folder");
    for number in 0..12 {
        let speed = if slow == Some(number) { 0.8 } else { 1.0 };
        let place = if number < 6 {
            "reports"
        } else {
            "reports/rack"
        };
        let name = format!("node{number}");
        let text = report(&name, 2, speed, "6.1").to_string();
        put(folder, &format!("{place}/{name}.json"), text.as_bytes());
    }
}

fn run(words: &str, folder: &Path, code: i32) -> Finished {
    let run = typed(words, folder);
    assert_eq!(run.code, Some(code), "{words}: {run:?}");
    assert!(!run.panicked(), "{run:?}");
    run
}

/// Names of the machines in a state, from JSON Lines.
fn in_state(text: &str, state: &str) -> Vec<String> {
    let nodes = text.lines().map(json);
    nodes
        .filter(|node| node["state"] == state)
        .map(|node| node["node"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn figures_of_different_placements_of_virtual_cpus_are_not_compared() {
    let folder = folder();
    let write = |placed: bool| {
        for number in 0..14 {
            // Seven machines have vCPUs without a shared cache, so they are 1.6 times as fast as
            // the others.
            let apart = number % 2 == 0;
            let slow = if number == 3 { 0.8 } else { 1.0 };
            let speed = slow * if apart { 1.6 } else { 1.0 };
            let name = format!("node{number}");
            let mut report = report(&name, 2, speed, "6.1");
            let placement = if apart {
                "same-package"
            } else {
                "shared-cache"
            };
            let points = report["datasets"][0]["points"].as_array_mut();
            for point in points.into_iter().flatten().filter(|_| placed) {
                point["outcome"]["evidence"] =
                    json!({"vcpu_placement": {"strata": [{"placement": placement}]}});
            }
            let text = report.to_string();
            put(folder.path(), &format!("{name}.json"), text.as_bytes());
        }
    };
    write(true);
    let found = run("fleet . --format jsonl", folder.path(), SLOW);
    assert_eq!(in_state(&found.stdout, "slow"), ["node3"], "{found:?}");
    assert_eq!(in_state(&found.stdout, "healthy").len(), 13, "{found:?}");
    // Without known placements, all machines are compared with each other. Their differences hide
    // the slow machine.
    write(false);
    run("fleet .", folder.path(), DONE);
}

#[test]
fn without_a_machine_there_is_no_table() {
    let folder = folder();
    put(folder.path(), "broken.json", b"{");
    let found = run("fleet broken.json", folder.path(), INCOMPLETE);
    assert!(!found.stdout.contains("hardware"), "{found:?}");
    assert!(!found.stdout.contains("legend"), "{found:?}");
    assert!(found.stdout.contains("left out"), "{found:?}");
}

#[test]
fn a_slow_machine_is_found_and_the_exit_code_says_so() {
    let folder = folder();
    fleet(folder.path(), None);
    let healthy = run("fleet reports", folder.path(), DONE);
    assert!(healthy.stdout.contains("12 healthy"), "{healthy:?}");
    fleet(folder.path(), Some(7));
    let found = run("fleet reports --format jsonl", folder.path(), SLOW);
    assert_eq!(in_state(&found.stdout, "slow"), ["node7"], "{found:?}");
    assert_eq!(in_state(&found.stdout, "healthy").len(), 11);
    let table = run("fleet reports", folder.path(), SLOW).stdout;
    assert!(
        table.contains("node7") && table.contains("% below its peers"),
        "{table}"
    );
    assert!(table.lines().count() < 24, "{table}");
    // The floor is above the difference.
    run("fleet reports --floor 30%", folder.path(), DONE);
}

#[test]
fn faulty_inputs_are_left_out_with_a_reason_and_the_rest_is_judged() {
    let folder = folder();
    fleet(folder.path(), None);
    let whole = report("node0", 2, 1.0, "6.1").to_string();
    let mut future = report("later", 2, 1.0, "6.1");
    future["schema_version"] = 99.into();
    let future = future.to_string();
    let none = r#"{"schema_version":3,"datasets":[]}"#;
    for (name, text) in [
        ("broken.json", "{]"),
        ("cut.json", &whole[..whole.len() / 2]),
        ("empty.json", ""),
        ("future.json", &future),
        ("none.json", none),
        ("other.json", "[1, 2]"),
        ("zz-copy.json", &whole),
    ] {
        put(folder.path(), &format!("reports/{name}"), text.as_bytes());
    }
    let found = run("fleet reports --format json", folder.path(), INCOMPLETE);
    let document = json(&found.stdout);
    assert_eq!(document["tally"]["healthy"], 12, "{document}");
    let left_out = document["left_out"].as_array().expect("a list");
    let reasons: Vec<String> = left_out
        .iter()
        .map(|one| format!("{}: {}", one["source"], one["reason"]))
        .collect();
    assert_eq!(reasons.len(), 7, "{reasons:?}");
    for (name, word) in [
        ("broken", "not a memgauge report"),
        ("cut", "EOF"),
        ("future", "newer"),
        ("zz-copy", "second copy"),
    ] {
        let named = |one: &&String| one.contains(name) && one.contains(word);
        assert_eq!(
            reasons.iter().filter(named).count(),
            1,
            "{name}: {reasons:?}"
        );
    }
    // A slow machine determines the exit code, even if an input was left out.
    fleet(folder.path(), Some(3));
    run("fleet reports", folder.path(), SLOW);
    let missing = run("fleet missing", folder.path(), USAGE);
    assert!(
        missing.stderr.contains("cannot read the reports"),
        "{missing:?}"
    );
    std::fs::create_dir(folder.path().join("nothing")).expect("a folder");
    run("fleet nothing", folder.path(), USAGE);
}

#[cfg(unix)]
#[test]
fn json_lines_are_read_from_a_file_and_from_standard_input() {
    let folder = folder();
    fleet(folder.path(), Some(2));
    let shell = |line: &str| crate::helper::shell(line, folder.path());
    let gather = "cat reports/*.json reports/rack/*.json | sed 's/}{/}\\n{/g'";
    let made = shell(&format!(
        "{gather} > all.jsonl; echo >> all.jsonl; echo '{{\"cut' >> all.jsonl"
    ));
    assert_eq!(made.code, Some(DONE), "{made:?}");
    let file = run("fleet all.jsonl --format jsonl", folder.path(), SLOW);
    assert_eq!(in_state(&file.stdout, "slow"), ["node2"]);
    let piped = shell("\"$M\" fleet - --format jsonl < all.jsonl");
    assert_eq!(piped.code, Some(SLOW), "{piped:?}");
    assert_eq!(in_state(&piped.stdout, "slow"), ["node2"]);
    assert!(piped.stdout.contains("standard input:"), "{piped:?}");
    let table = run("fleet all.jsonl", folder.path(), SLOW).stdout;
    assert!(
        table.contains("all.jsonl:13: not a memgauge report"),
        "{table}"
    );
}

#[test]
fn a_small_group_needs_expectations() {
    let folder = folder();
    fleet(folder.path(), None);
    let alone = |name: &str, cpus: u64, speed: f64| {
        let text = report(name, cpus, speed, "6.1").to_string();
        put(folder.path(), &format!("{name}.json"), text.as_bytes());
    };
    alone("sound", 2, 1.0);
    alone("faulty", 2, 0.9);
    alone("unknown", 64, 1.0);
    let lonely = run("fleet faulty.json", folder.path(), INCOMPLETE);
    assert!(lonely.stdout.contains("a verdict needs 5"), "{lonely:?}");
    let learned = run(
        "fleet reports --write-expectations expected.json",
        folder.path(),
        DONE,
    );
    assert!(
        learned.stderr.contains("--expect expected.json"),
        "{learned:?}"
    );
    run(
        "fleet sound.json --expect expected.json",
        folder.path(),
        DONE,
    );
    let found = run(
        "fleet faulty.json --expect expected.json",
        folder.path(),
        SLOW,
    );
    assert!(found.stdout.contains("below what is expected"), "{found:?}");
    let unknown = run(
        "fleet unknown.json --expect expected.json",
        folder.path(),
        INCOMPLETE,
    );
    assert!(
        unknown.stdout.contains("--write-expectations"),
        "{unknown:?}"
    );
    for text in [
        "{}",
        "{\"memgauge_expectations\":99,\"groups\":[]}",
        "\u{0}",
    ] {
        put(folder.path(), "odd.json", text.as_bytes());
        let refused = run("fleet sound.json --expect odd.json", folder.path(), USAGE);
        assert!(
            refused.stderr.contains("cannot read the expectations"),
            "{refused:?}"
        );
    }
}

#[test]
fn a_setting_that_divides_a_group_is_named() {
    let folder = folder();
    for number in 0..40 {
        let is_new = number % 4 == 0;
        let kernel = if is_new { "6.8" } else { "6.1" };
        let speed = if is_new { 0.93 } else { 1.0 };
        let name = format!("n{number}");
        let text = report(&name, 2, speed, kernel).to_string();
        put(folder.path(), &format!("{name}.json"), text.as_bytes());
    }
    let found = run("fleet . --format json", folder.path(), DONE);
    let document = json(&found.stdout);
    let findings = document["findings"].as_array().expect("a list");
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0]["kind"], "fleet-setting");
    let text = findings[0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("10 machines with kernel 6.8 are 7"), "{text}");
}

#[test]
fn every_format_has_the_slow_machine() {
    let folder = folder();
    fleet(folder.path(), Some(7));
    // The name contains characters that could act on a page, a terminal or a spreadsheet.
    let odd = report("<b>\u{1b}\"x\"", 2, 0.7, "6.1").to_string();
    put(folder.path(), "reports/odd.json", odd.as_bytes());
    for extension in ["txt", "jsonl", "json", "csv", "prom", "html"] {
        let name = format!("result.{extension}");
        let made = memgauge(&["fleet", "reports", "-o", &name], folder.path());
        assert_eq!(made.code, Some(SLOW), "{made:?}");
        assert!(
            made.stderr.contains("13 machines in 1 group: 2 slow"),
            "{made:?}"
        );
        let text = read(&folder.path().join(&name));
        assert!(text.contains("node7"), "{name}: {text}");
        assert!(
            !text.contains('\u{1b}') && !text.contains("NaN"),
            "{name}: {text}"
        );
        assert!(text.ends_with('\n'), "{name}");
        if extension == "html" {
            assert!(!text.contains("<b>") && !text.contains("<script"), "{text}");
            assert!(text.contains("reports/rack/node7.json"), "{text}");
            assert_eq!(text.matches("<svg").count() as u64, QUANTITIES);
        }
    }
}

/// Writes ten daily reports of eight machines. A file has the reports of one machine or of one day.
/// From the report with the number `from` on, the machine `slow` is 12% slower than before.
fn histories(folder: &Path, slow: &str, from: usize) {
    std::fs::create_dir_all(folder.join("histories")).expect("a folder");
    for machine in 0..8 {
        let name = format!("node{machine}");
        let mut lines = String::new();
        for day in 0..10 {
            let is_slow = name == slow && day >= from;
            let mut report = report(&name, 2, if is_slow { 0.88 } else { 1.0 }, "6.1");
            report["provenance"]["started"] = format!("2026-11-{:02}T06:00:00Z", day + 1).into();
            lines.push_str(&format!("{report}\n"));
        }
        put(folder, &format!("histories/{name}.jsonl"), lines.as_bytes());
    }
}

#[test]
fn a_machine_that_became_slower_is_found_since_a_date() {
    let folder = folder();
    histories(folder.path(), "node5", 7);
    // The machine is also slow compared with its peers, which does not show when it became slower.
    let since = |words: &str, code: i32| {
        let run = run(&format!("fleet histories {words}"), folder.path(), code);
        run.stdout
    };
    let slower = |text: &str| -> Vec<Value> {
        let nodes = text.lines().map(json);
        nodes
            .filter(|node| node["history"]["state"] == "slower")
            .collect()
    };
    for when in [
        "2026-11-06",
        "2026-11-06T12:00",
        "2026-11-05T23:00:00-02:00",
    ] {
        let found = slower(&since(&format!("--since {when} --format jsonl"), SLOW));
        assert_eq!(found.len(), 1, "{when}: {found:?}");
        let change = &found[0]["history"]["change"];
        assert_eq!(found[0]["node"], "node5");
        assert_eq!(change["last_before"], "2026-11-07T06:00:00Z");
        assert_eq!(change["first_after"], "2026-11-08T06:00:00Z");
        let ratio = change["ratio"].as_f64().expect("a ratio");
        assert!((ratio - 0.88).abs() < 0.005, "{change}");
    }
    // The machine became slower before this date.
    let later = since("--since 2026-11-09 --format jsonl", SLOW);
    assert!(slower(&later).is_empty(), "{later}");
    let table = since("--since 2026-11-06", SLOW);
    assert!(table.contains("1 slower since 2026-11-06"), "{table}");
    assert!(table.lines().count() < 24, "{table}");
    // Without --since, older reports are only counted.
    let usual = since("--format jsonl", SLOW);
    assert!(
        json(usual.lines().next().unwrap_or("{}"))
            .get("history")
            .is_none()
    );
}

#[test]
fn a_slower_machine_alone_ends_with_the_code_of_a_slow_one() {
    let folder = folder();
    histories(folder.path(), "node5", 7);
    let only = "fleet histories/node5.jsonl --since";
    let found = run(&format!("{only} 2026-11-06"), folder.path(), SLOW);
    assert!(found.stdout.contains("12.0% slower"), "{found:?}");
    // There are too few reports before the first date, and none since the second one.
    run(&format!("{only} 2026-11-02"), folder.path(), INCOMPLETE);
    run(&format!("{only} 2027-01-01"), folder.path(), INCOMPLETE);
    // A fleet without changes is in order.
    histories(folder.path(), "none", 0);
    run("fleet histories --since 2026-11-06", folder.path(), DONE);
    let none = run(
        "fleet histories --since 2027-01-01",
        folder.path(),
        INCOMPLETE,
    );
    assert!(
        none.stdout.contains("8 machines without a later report"),
        "{none:?}"
    );
    for wrong in ["yesterday", "2026-13-01", "7", "-7d", "0d"] {
        let words = format!("fleet histories --since={wrong}");
        let refused = run(&words, folder.path(), USAGE);
        assert!(refused.stderr.contains("--since"), "{refused:?}");
        assert_eq!(refused.stderr.lines().count(), 1, "{refused:?}");
    }
}

#[test]
fn an_age_counts_from_now() {
    let folder = folder();
    histories(folder.path(), "node5", 7);
    // All reports are from the last hundred years, so none precedes the moment.
    let all = run(
        "fleet histories --since 5000w --format json",
        folder.path(),
        SLOW,
    );
    assert_eq!(
        json(&all.stdout)["history"]["tally"]["short-history"],
        8,
        "{all:?}"
    );
    let none = run(
        "fleet histories --since 1h --format json",
        folder.path(),
        SLOW,
    );
    let history = json(&none.stdout)["history"].clone();
    let since = history["since"].as_str().unwrap_or_default();
    assert!(since.ends_with('Z') && since > "2026-11", "{history}");
}

#[test]
fn every_format_has_the_slower_machine() {
    let folder = folder();
    // One machine is slower than it was, but no slower than its peers.
    for machine in 0..8 {
        for day in 0..10 {
            let name = format!("node{machine}");
            let speed = if machine == 5 && day < 7 { 1.12 } else { 1.0 };
            let mut report = report(&name, 2, speed, "6.1");
            report["provenance"]["started"] = format!("2026-11-{:02}T06:00:00Z", day + 1).into();
            let text = report.to_string();
            put(
                folder.path(),
                &format!("{name}-{day}.json"),
                text.as_bytes(),
            );
        }
    }
    run("fleet .", folder.path(), DONE);
    for extension in ["txt", "jsonl", "json", "csv", "prom", "html"] {
        let output = folder.path().join("out");
        std::fs::create_dir_all(&output).expect("a folder");
        let name = format!("out/result.{extension}");
        let words = ["fleet", ".", "--since", "2026-11-06", "-o", &name];
        let made = memgauge(&words, folder.path());
        assert_eq!(made.code, Some(SLOW), "{made:?}");
        assert!(
            made.stderr.contains("1 slower since 2026-11-06"),
            "{made:?}"
        );
        let text = read(&folder.path().join(&name));
        assert!(text.contains("slower"), "{name}: {text}");
        let reason = "between 2026-11-07T06:00 and 2026-11-08T06:00";
        match extension {
            "prom" => assert!(
                text.contains("memgauge_fleet_slower_ratio{node=\"node5\""),
                "{text}"
            ),
            "csv" => {
                let rows: Vec<&str> = text.lines().collect();
                assert!(
                    rows[0].ends_with(",history_reason") && rows.len() == 9,
                    "{text}"
                );
                assert!(
                    text.contains("2026-11-07T06:00:00Z,2026-11-08T06:00:00Z"),
                    "{text}"
                );
            }
            _ => assert!(
                text.contains("node5") && text.contains(reason),
                "{name}: {text}"
            ),
        }
        std::fs::remove_dir_all(output).expect("a folder to remove");
    }
}
