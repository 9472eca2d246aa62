//! Tests that two threads of this machine pass lines back and forth, and that they end. No time is
//! checked.

use crate::helper::{Finished, LIMIT, Running, cpus, folder, json, program, skipped, typed};
use serde_json::Value;
use std::time::Duration;

/// A session of every kernel with a few lines and a few samples.
const SHORT: &str =
    "core-to-core --kernel store-load,compare-and-swap,exchange --lines 3 --samples 3 --budget 10s";

fn ends_well(run: &Finished) {
    assert!(
        run.code == Some(0) && !run.timed_out && !run.panicked(),
        "{run:?}"
    );
}

/// True if there is only one CPU. The test is then reported as skipped.
fn alone(test: &str) -> bool {
    let alone = cpus() < 2;
    if alone {
        skipped(test, "one cpu only");
    }
    alone
}

#[test]
fn every_kernel_makes_round_trips_between_two_cpus() {
    if alone("round trips") {
        return;
    }
    let folder = folder();
    let run = typed(&format!("{SHORT} --format json -o -"), folder.path());
    ends_well(&run);
    let report = json(&run.stdout);
    let points = report["datasets"][0]["points"].as_array().expect("points");
    assert!(points.len() >= 6, "both directions of three kernels");
    for point in points {
        let outcome = &point["outcome"];
        assert_eq!(outcome["status"], "measured", "{point}");
        let median = &outcome["summary"]["median"];
        let one_way = &outcome["also"]["one_way_ns"];
        assert_eq!(median.as_f64().map(|ns| ns / 2.0), one_way.as_f64());
        // A sample consists of whole visits to the lines.
        let samples = outcome["samples"].as_array().expect("samples");
        assert!(
            samples
                .iter()
                .all(|s| s["work"].as_u64().is_some_and(|n| n > 0 && n % 64 == 0)),
            "{point}"
        );
        let cpus = [&point["coordinates"]["from"], &point["coordinates"]["to"]].map(Value::as_u64);
        let used: Vec<_> = outcome["evidence"]["cpus"]
            .as_array()
            .expect("cpus")
            .iter()
            .map(Value::as_u64)
            .collect();
        assert_eq!(used, cpus, "the pair that was requested");
    }
}

#[test]
fn the_table_is_a_matrix() {
    if alone("a matrix") {
        return;
    }
    let folder = folder();
    let run = typed("core-to-core --samples 3 --budget 10s -o -", folder.path());
    ends_well(&run);
    let has = |text: &str| run.stdout.contains(text);
    assert!(has("from / to") && has("round trip"), "{run:?}");
}

#[test]
fn one_cpu_is_answered() {
    let folder = folder();
    let run = typed("core-to-core --cpus 0 -o -", folder.path());
    assert!(!run.panicked() && !run.timed_out);
    if run.code != Some(2) {
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.stdout.contains("one cpu (0)"), "{run:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_run_is_interrupted_soon() {
    if alone("an interruption") {
        return;
    }
    let folder = folder();
    let mut command = program(folder.path());
    let words = "core-to-core --samples 600 --cooldown 300ms --budget 1h --lines 2 --kernel \
         exchange -o r.json";
    command.args(words.split_whitespace());
    let mut running = Running::start(command);
    let journal = folder.path().join("r.json.journal.jsonl");
    let there =
        || std::fs::read_to_string(&journal).is_ok_and(|text| text.matches('\n').count() >= 3);
    running.wait_until("its journal", there);
    running.signal("INT");
    let run = running.end(Duration::from_secs(10).min(LIMIT));
    assert!(
        !run.timed_out && !run.panicked() && run.code == Some(3),
        "{run:?}"
    );
    let report = json(&std::fs::read_to_string(folder.path().join("r.json")).expect("a report"));
    assert_eq!(report["status"], "interrupted");
}
