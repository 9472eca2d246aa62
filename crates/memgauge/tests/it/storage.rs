//! Tests `memgauge io` on files of its own. Other files are not written, no files are left behind,
//! and counts are right.

use crate::helper::{Finished, Running, folder, json, memgauge, names, program, put, read, typed};
use serde_json::Value;
use std::path::Path;

/// Options for short windows. The tests assert counts, no times.
const QUICK: &str = "--time 100ms --window 50ms -o r.json";

fn file(folder: &Path, name: &str, bytes: usize) -> Vec<u8> {
    let data: Vec<u8> = (0..bytes).map(|i| (i * 31 % 251) as u8).collect();
    put(folder, name, &data);
    data
}

/// Outcome of the only point of the report that `run` wrote.
fn point(run: &Finished, folder: &Path) -> Value {
    assert!(!run.panicked() && run.code.is_some(), "{run:?}");
    let report = json(&read(&folder.join("r.json")));
    report["datasets"][0]["points"][0]["outcome"].clone()
}

#[test]
fn a_file_is_read_and_stays_as_it_was() {
    let folder = folder();
    let data = file(folder.path(), "data", 1 << 20);
    for engine in ["sync", "mmap", "aio", "io_uring", "null"] {
        let run = typed(
            &format!("io data --pattern random --engine {engine} {QUICK}"),
            folder.path(),
        );
        let point = point(&run, folder.path());
        // If the system or the container lacks a feature, the reason advises another engine.
        if point["status"] == "unsupported" {
            assert!(
                point["reason"].as_str().unwrap().contains("--engine"),
                "{point}"
            );
            continue;
        }
        assert_eq!(
            (run.code, &point["status"]),
            (Some(0), &Value::from("measured")),
            "{engine}: {run:?}"
        );
        let storage = &point["storage"];
        assert_eq!(
            storage["bytes"].as_u64().unwrap(),
            storage["operations"].as_u64().unwrap() * 4096,
            "{engine}"
        );
        assert!(storage["operations"].as_u64().unwrap() > 0 && storage["short"] == 0);
    }
    assert_eq!(std::fs::read(folder.path().join("data")).unwrap(), data);
}

#[test]
fn a_mapped_file_is_buffered_and_never_direct() {
    let folder = folder();
    file(folder.path(), "data", 1 << 16);
    let run = typed(&format!("io data --engine mmap {QUICK}"), folder.path());
    assert_eq!(run.code, Some(0), "{run:?}");
    let report = json(&read(&folder.path().join("r.json")));
    let point = &report["datasets"][0]["points"][0];
    assert_eq!(point["coordinates"]["access"], "buffered");
    assert_eq!(point["outcome"]["storage"]["direct"], false);
    let run = typed(
        &format!("io data --engine mmap --direct {QUICK}"),
        folder.path(),
    );
    assert_eq!(run.code, Some(2), "{run:?}");
    let run = typed(
        "io data --engine mmap,sync --direct --buffered --dry-run",
        folder.path(),
    );
    assert_eq!(
        run.code,
        Some(2),
        "the mapped one has no direct access: {run:?}"
    );
}

#[test]
fn a_pass_reads_every_block_once_and_is_replayed() {
    let folder = folder();
    file(folder.path(), "data", 10 * 4096 + 100);
    let run = typed(
        "io data --operations 20 --threads 1 --engine sync --buffered --trace t.csv -o r.json",
        folder.path(),
    );
    assert_eq!(point(&run, folder.path())["storage"]["operations"], 20);
    let text = read(&folder.path().join("t.csv"));
    let trace = report::read_trace(&text).unwrap();
    let offsets: Vec<u64> = trace.iter().map(|r| r.offset / 4096).collect();
    assert_eq!(offsets, (0..10).chain(0..10).collect::<Vec<_>>());
    assert!(
        trace
            .iter()
            .all(|r| r.complete_ns > r.issue_ns && r.moved == Some(4096) && r.file == "data")
    );
    for timing in ["asap", "recorded"] {
        let words =
            format!("io --replay t.csv --timing {timing} --window 50ms --buffered -o r.json");
        let run = typed(&words, folder.path());
        assert_eq!(
            point(&run, folder.path())["storage"]["operations"],
            20,
            "{timing}: {run:?}"
        );
    }
    let again = typed("io data --trace t.csv -o r.json", folder.path());
    assert!(
        again.code == Some(2) && again.stderr.contains("a trace is a new file"),
        "{again:?}"
    );
}

#[test]
fn writes_of_a_trace_are_left_out_unless_they_are_allowed() {
    let folder = folder();
    let data = file(folder.path(), "disk", 64 << 10);
    put(
        folder.path(),
        "t",
        b"8,0 0 1 0.000000000 1 D R 0 + 8 [x]\n8,0 0 2 0.000001000 1 D W 8 + 8 [x]\n",
    );
    let run = typed("io disk --replay t --buffered -o r.json", folder.path());
    let storage = point(&run, folder.path())["storage"].clone();
    assert_eq!(
        (storage["operations"].as_u64(), &storage["writes"]),
        (Some(1), &Value::Null),
        "{run:?}"
    );
    assert!(run.stdout.contains("1 writes are left out"), "{run:?}");
    assert_eq!(std::fs::read(folder.path().join("disk")).unwrap(), data);
    let run = typed(
        "io disk --replay t --buffered --destroy-data disk -o r.json",
        folder.path(),
    );
    assert_eq!(
        point(&run, folder.path())["storage"]["operations"],
        2,
        "{run:?}"
    );
    let after = std::fs::read(folder.path().join("disk")).unwrap();
    assert!(
        after[..4096] == data[..4096]
            && after[4096..8192] != data[4096..8192]
            && after[8192..] == data[8192..]
    );
}

#[test]
fn a_file_that_a_run_makes_is_gone_or_kept_and_holds_what_was_written() {
    let folder = folder();
    let run = typed(
        &format!("io new --create 1MiB --ops write,read --verify {QUICK}"),
        folder.path(),
    );
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(names(folder.path()), ["r.json"], "{run:?}");
    let run = typed(
        &format!("io new --create 1MiB --keep --ops write --data pattern {QUICK}"),
        folder.path(),
    );
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(
        std::fs::metadata(folder.path().join("new")).unwrap().len(),
        1 << 20
    );
    let run = typed("io new --verify --operations 256 -o r.json", folder.path());
    assert_eq!(run.code, Some(0), "{run:?}");
    let right = point(&run, folder.path());
    assert_eq!(
        (&right["storage"]["wrong"], &right["storage"]["operations"]),
        (&Value::from(0), &Value::from(256))
    );
    let mut bytes = std::fs::read(folder.path().join("new")).unwrap();
    bytes[12_345] ^= 1;
    put(folder.path(), "new", &bytes);
    let run = typed("io new --verify --operations 256 -o r.json", folder.path());
    assert_eq!(run.code, Some(4), "a check that failed: {run:?}");
    let wrong = point(&run, folder.path());
    assert_eq!(
        (&wrong["storage"]["wrong"], &wrong["verdict"]["grade"]),
        (&Value::from(1), &Value::from("rejected"))
    );
}

/// Tests every request that could destroy a user's data without the user's consent.
#[test]
fn nothing_is_written_to_without_leave() {
    let folder = folder();
    let data = file(folder.path(), "data", 64 << 10);
    file(folder.path(), "other", 4096);
    let rows = [
        "io data --ops write",
        "io data --mix 1%",
        "io data --ops write --destroy-data other",
        "io data --ops write --destroy-data ./data",
        "io data --create 1MiB --ops write",
        "io link --create 1MiB --ops write",
        "io link --ops write --destroy-data data",
        "io data other --ops write --destroy-data other",
        "io data --create 1MiB --destroy-data data --ops write",
    ];
    #[cfg(unix)]
    std::os::unix::fs::symlink("data", folder.path().join("link")).unwrap();
    for words in rows {
        let run = typed(words, folder.path());
        assert_eq!(run.code, Some(2), "{words}: {run:?}");
        assert_eq!(
            std::fs::read(folder.path().join("data")).unwrap(),
            data,
            "{words}"
        );
    }
    let run = typed(
        &format!("io data --ops write --destroy-data data {QUICK}"),
        folder.path(),
    );
    assert_eq!(run.code, Some(0), "{run:?}");
    let after = std::fs::read(folder.path().join("data")).unwrap();
    assert!(
        after.len() == data.len() && after != data,
        "what was given up is written to"
    );
}

#[test]
fn files_that_cannot_be_measured_are_refused() {
    let folder = folder();
    put(folder.path(), "empty", b"");
    put(folder.path(), "small", b"123");
    put(folder.path(), "notes", b"no trace\n");
    let rows = [
        ("io empty", "it is empty"),
        ("io .", "it is a folder"),
        ("io missing", "cannot open missing"),
        ("io small", "block larger than the range"),
        ("io /dev/null", "device without blocks"),
        ("io --replay notes", "cannot replay: 'notes'"),
        ("io --replay missing", "cannot read the trace: 'missing'"),
        ("run --only io", "type memgauge io FILE"),
    ];
    for (words, text) in rows {
        let run = typed(words, folder.path());
        assert!(
            run.code == Some(2) && run.stderr.contains(text) && run.stderr.lines().count() == 1,
            "{words}: {run:?}"
        );
    }
}

#[test]
fn a_plan_makes_and_opens_nothing_for_writing() {
    let folder = folder();
    let run = memgauge(
        &[
            "io",
            "new",
            "--create",
            "1MiB",
            "--ops",
            "write",
            "--trace",
            "t.csv",
            "--dry-run",
        ],
        folder.path(),
    );
    assert!(
        run.code == Some(0) && run.stdout.contains("operation=write"),
        "{run:?}"
    );
    assert!(names(folder.path()).is_empty());
}

#[cfg(unix)]
#[test]
fn holes_are_told() {
    let folder = folder();
    let sparse = std::fs::File::create(folder.path().join("sparse")).unwrap();
    sparse.set_len(16 << 20).unwrap();
    let run = typed("io sparse --dry-run", folder.path());
    assert!(
        run.code == Some(0)
            && run
                .stdout
                .contains("16 MiB of its 16 MiB have no room on the device"),
        "{run:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_killed_run_leaves_no_file_and_the_windows_that_it_finished() {
    let folder = folder();
    let mut command = program(folder.path());
    let words = "io new --create 4MiB --ops write --time 2min --window 50ms --budget 1h --buffered -o r.json";
    command.args(words.split_whitespace());
    let mut running = Running::start(command);
    let journal = folder.path().join("r.json.journal.jsonl");
    let there =
        || std::fs::read_to_string(&journal).is_ok_and(|text| text.matches('\n').count() >= 2);
    running.wait_until("its journal", there);
    running.signal("KILL");
    let run = running.end(std::time::Duration::from_secs(10));
    assert!(run.code.is_none() && !run.timed_out, "{run:?}");
    assert_eq!(
        names(folder.path()),
        ["r.json.journal.jsonl"],
        "the file has no name that could stay"
    );
    let text = read(&journal);
    assert!(
        text.lines()
            .nth(1)
            .is_some_and(|line| line.contains("latency_p99")),
        "{text}"
    );
    let shown = typed("report r.json.journal.jsonl --format csv", folder.path());
    assert!(
        shown.code == Some(0) && shown.stdout.contains("bytes_per_second"),
        "{shown:?}"
    );
}

#[test]
fn latency_by_distance_is_in_every_form_and_made_anew() {
    let folder = folder();
    file(folder.path(), "data", 1 << 20);
    let words =
        "io data --pattern seekincr --stride 8 --buffered --engine sync --time 100ms --window 50ms";
    let run = typed(&format!("{words} -o r.json"), folder.path());
    assert_eq!(run.code, Some(0), "{run:?}");
    let both = |text: &str| {
        let datasets = json(text)["datasets"].as_array().expect("datasets").clone();
        let names: Vec<_> = datasets
            .iter()
            .map(|d| (d["experiment"].clone(), d["derived"].clone()))
            .collect();
        assert_eq!(
            names,
            [("io".into(), Value::Null), ("io-seeks".into(), true.into())],
            "{text}"
        );
        assert!(
            datasets[1]["points"]
                .as_array()
                .is_some_and(|points| points.len() > 2),
            "{text}"
        );
    };
    let text = read(&folder.path().join("r.json"));
    both(&text);
    let shown = typed("report r.json --format table", folder.path()).stdout;
    let told: Vec<&str> = shown.split_whitespace().collect();
    assert!(told.join(" ").contains("1 of 1 point"), "{shown}");
    assert!(
        told.contains(&"us") && !told.contains(&"ns"),
        "times of one kind: {shown}"
    );
    for form in [
        "--format table",
        "--format csv",
        "--format markdown",
        "--chart io-seeks",
    ] {
        let shown = typed(&format!("report r.json {form}"), folder.path());
        assert!(
            shown.code == Some(0) && shown.stdout.contains("distance"),
            "{form}: {shown:?}"
        );
    }
    // The journal has only measured datasets, so derived ones are removed.
    let lines = typed("report r.json --format jsonl", folder.path()).stdout;
    let is_own =
        |(at, line): &(usize, &str)| *at == 0 || !line.contains("\"experiment\":\"io-seeks\"");
    let mut lines: Vec<String> = lines
        .lines()
        .enumerate()
        .filter(is_own)
        .map(|(_, line)| line.to_owned())
        .collect();
    let mut head = json(&lines[0]);
    head["datasets"].as_array_mut().expect("datasets").pop();
    lines[0] = head.to_string();
    put(
        folder.path(),
        "j.jsonl",
        (lines.join("\n") + "\n").as_bytes(),
    );
    both(&typed("report j.jsonl --format json", folder.path()).stdout);
    // A continued session measures the planned points.
    let mut ended = json(&text);
    ended["status"] = "interrupted".into();
    ended["datasets"][0]["points"][0]["outcome"] =
        serde_json::json!({ "status": "interrupted", "reason": "ended" });
    put(folder.path(), "r.json", ended.to_string().as_bytes());
    let again = typed(&format!("{words} --resume r.json"), folder.path());
    assert_eq!(again.code, Some(0), "{again:?}");
    both(&read(&folder.path().join("r.json")));
}
