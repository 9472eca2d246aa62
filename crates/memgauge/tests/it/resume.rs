//! Tests real sessions that are ended and continued. Measured points do not change, and no point is
//! measured twice.
#![cfg(unix)]

use crate::helper::{
    Finished, LIMIT, Running, folder, json, names, program, put, read, shell, typed,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A session of some seconds, with one point in each of 30 repetitions.
const RUN: &str = "bandwidth --ops read --sizes 16KiB --threads 1 --samples 3 --repeat 30 \
     --cooldown 25ms --budget 1h";

const JOURNAL: &str = "r.json.journal.jsonl";

/// Starts a session whose report will be `r.json`. Ends it with `signal` when its journal has
/// `points` finished points.
fn ended(words: &str, signal: &str, points: usize, folder: &Path) -> Finished {
    let mut command = program(folder);
    command.args(words.split_whitespace());
    let mut running = Running::start(command);
    let journal = folder.join(JOURNAL);
    let there = || {
        std::fs::read_to_string(&journal)
            .is_ok_and(|text| text.matches("\"finished\":true").count() >= points)
    };
    running.wait_until("its journal", there);
    running.signal(signal);
    let run = running.end(LIMIT);
    assert!(!run.timed_out && !run.panicked(), "{run:?}");
    run
}

/// The points in a journal that have all their rounds, by number.
fn finished(folder: &Path) -> BTreeMap<u64, Value> {
    let text = read(&folder.join(JOURNAL));
    let whole = &text[..=text.rfind('\n').expect("a line")];
    let lines = whole
        .lines()
        .map(json)
        .filter(|l| l["line"] == "point" && l["finished"] == true);
    lines
        .map(|l| {
            (
                l["point"]["id"].as_u64().expect("a number"),
                l["point"].clone(),
            )
        })
        .collect()
}

/// All points of a report, by number.
fn points(report: &Value) -> BTreeMap<u64, Value> {
    let all = report["datasets"][0]["points"].as_array().expect("points");
    all.iter()
        .map(|p| (p["id"].as_u64().expect("a number"), p.clone()))
        .collect()
}

/// Continues the session from `file` to the end. Checks that the report has all points, and that
/// the points `kept` did not change. Returns the report.
fn continued(file: &str, kept: &BTreeMap<u64, Value>, folder: &Path) -> Value {
    let run = typed(&format!("{RUN} --resume {file}"), folder);
    assert!(run.code == Some(0) && !run.timed_out, "{run:?}");
    assert_eq!(
        names(folder),
        ["r.json"],
        "the report is in its place and no journal is left"
    );
    let report = json(&read(&folder.join("r.json")));
    assert_eq!(report["status"], "complete");
    let points = points(&report);
    assert_eq!(points.len(), 30);
    assert!(points.values().all(|p| {
        p["outcome"]["samples"]
            .as_array()
            .is_some_and(|all| all.len() >= 3)
    }));
    for (id, point) in kept {
        assert_eq!(&points[id], point, "a point that was finished is as it was");
    }
    assert!(
        !report.to_string().contains("\"cause\":\"interrupted\""),
        "what was cut short is measured again"
    );
    report
}

#[test]
fn a_killed_run_is_continued_and_so_is_its_continuation() {
    let folder = folder();
    let at = folder.path();
    ended(&format!("{RUN} --seed 5 -o r.json"), "KILL", 3, at);
    let first = finished(at);
    assert!(first.len() >= 2 && first.len() < 20, "{}", first.len());
    let head = json(
        read(&at.join(JOURNAL))
            .lines()
            .next()
            .expect("a first line"),
    );
    // The continuation is killed too. Its journal has the points of the first part, and more.
    ended(
        &format!("{RUN} --resume {JOURNAL}"),
        "KILL",
        first.len() + 2,
        at,
    );
    let second = finished(at);
    assert!(
        second.len() > first.len(),
        "{} {}",
        first.len(),
        second.len()
    );
    assert!(first.iter().all(|(id, point)| &second[id] == point));
    let report = continued(JOURNAL, &second, at);
    let provenance = &report["provenance"];
    assert_eq!(provenance["seed"], "5");
    assert_eq!(provenance["started"], head["provenance"]["started"]);
    assert_eq!(provenance["resumed"].as_array().map(Vec::len), Some(2));
    let said = |f: &Value| {
        f["kind"] == "resumed"
            && f["text"]
                .as_str()
                .is_some_and(|t| t.contains("of 30 points"))
    };
    assert!(
        report["findings"]
            .as_array()
            .is_some_and(|all| all.iter().any(said)),
        "{}",
        report["findings"]
    );
}

#[test]
fn an_interrupted_report_is_continued() {
    let folder = folder();
    ended(&format!("{RUN} -o r.json"), "INT", 3, folder.path());
    assert_eq!(names(folder.path()), ["r.json"]);
    let report = json(&read(&folder.path().join("r.json")));
    let whole = |p: &Value| {
        p["outcome"]["status"] == "measured" && !p.to_string().contains("\"interrupted\"")
    };
    let kept: BTreeMap<u64, Value> = points(&report)
        .into_iter()
        .filter(|(_, p)| whole(p))
        .collect();
    assert!(kept.len() >= 2 && kept.len() < 30);
    let report = continued("r.json", &kept, folder.path());
    assert!(report["plan"]["real"].as_f64().is_some_and(|ns| ns > 0.0));
    let run = typed(&format!("{RUN} --resume r.json"), folder.path());
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(
        run.stderr
            .starts_with("memgauge: nothing to continue: 'r.json' is complete; "),
        "{run:?}"
    );
}

#[test]
fn a_continuation_that_cannot_write_leaves_what_there_was() {
    let folder = folder();
    let at = folder.path();
    ended(&format!("{RUN} -o r.json"), "KILL", 3, at);
    let before = read(&at.join(JOURNAL));
    let run = shell(
        &format!("exec prlimit --fsize=2000 \"$M\" {RUN} --resume {JOURNAL}"),
        at,
    );
    assert!(
        !run.panicked() && run.code.is_some_and(|code| code != 0),
        "{run:?}"
    );
    assert_eq!(
        read(&at.join(JOURNAL)),
        before,
        "the old journal is untouched"
    );
    assert_eq!(names(at), [JOURNAL]);
}

/// Tests differences between two requests. The message has the difference and the command to type.
#[test]
fn another_request_or_machine_is_refused() {
    let folder = folder();
    let at = folder.path();
    ended(&format!("{RUN} --seed 5 -o r.json"), "KILL", 1, at);
    let text = read(&at.join(JOURNAL));
    let same = format!("type memgauge {RUN} --seed 5 -o r.json --resume {JOURNAL}");
    let other = [
        ("latency", "it measures bandwidth, this command latency"),
        (
            &RUN.replace("30", "29"),
            "it has 30 points, this command 29",
        ),
        (&RUN.replace("16KiB", "24KiB"), "its point 0 is "),
        (&format!("{RUN} --seed 6"), "its seed is 5, not 6"),
    ];
    for (words, difference) in other {
        let run = typed(&format!("{words} --resume {JOURNAL}"), at);
        assert_eq!(
            (run.code, run.stderr.lines().count()),
            (Some(2), 2),
            "{run:?}"
        );
        assert!(
            run.stderr
                .contains(&format!("cannot continue '{JOURNAL}': {difference}")),
            "{run:?}"
        );
        assert!(run.stderr.contains(&same), "{run:?}");
    }
    let head = json(text.lines().next().expect("a first line"));
    let model = &head["provenance"]["host"]["cpu"]["model_name"]["value"].to_string();
    let digest = head["provenance"]["kernels"][0]["digest"].to_string();
    let version = "\"version\":\"";
    for (old, new, difference) in [
        (
            model.as_str(),
            "\"Z80\"",
            "its processor is 'Z80', here it is '",
        ),
        (
            digest.as_str(),
            "\"0123456789abcdef\"",
            "has other instructions than the one here",
        ),
        (version, "\"version\":\"9", "its program's version is '9"),
        ("\"seed\":\"", "\"seed\":\"-", "its seed is '-5'"),
    ] {
        assert!(text.contains(old), "{old}");
        put(at, "edited.jsonl", text.replace(old, new).as_bytes());
        let run = typed(&format!("{RUN} --resume edited.jsonl"), at);
        assert_eq!((run.code, run.panicked()), (Some(2), false), "{run:?}");
        assert!(run.stderr.contains(difference), "{run:?}");
    }
    assert_eq!(read(&at.join(JOURNAL)), text);
    assert_eq!(names(at), ["edited.jsonl", JOURNAL]);
}

#[test]
fn a_dry_run_says_what_is_left() {
    let folder = folder();
    ended(&format!("{RUN} -o r.json"), "KILL", 3, folder.path());
    let done = finished(folder.path()).len();
    let run = typed(
        &format!("{RUN} --resume {JOURNAL} --dry-run"),
        folder.path(),
    );
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(
        run.stdout.matches("  measured before").count(),
        done,
        "{run:?}"
    );
    assert!(run.stdout.ends_with("json in r.json\n"), "{run:?}");
    assert_eq!(names(folder.path()), [JOURNAL]);
}
