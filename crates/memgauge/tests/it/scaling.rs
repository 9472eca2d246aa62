//! Tests that the requested numbers of threads of this machine stream together, or that the report
//! says what prevents it. No figure is checked.

use crate::helper::{Finished, cpus, folder, json, skipped, typed};
use serde_json::Value;

/// Options for a session of a few samples in a cache.
const SHORT: &str = "--sizes 16KiB --width widest --samples 3 --budget 20s";

fn points(report: &Value) -> Vec<Value> {
    report["datasets"][0]["points"]
        .as_array()
        .expect("points")
        .clone()
}

fn ends_well(run: &Finished) {
    assert!(
        run.code == Some(0) && !run.timed_out && !run.panicked(),
        "{run:?}"
    );
}

fn threads(point: &Value) -> u64 {
    point["coordinates"]["threads"]
        .as_u64()
        .expect("a number of threads")
}

#[test]
fn every_number_of_threads_streams_in_both_orders() {
    let folder = folder();
    let run = typed(
        &format!("scaling --placement spread,compact {SHORT} --format json -o -"),
        folder.path(),
    );
    ends_well(&run);
    let points = points(&json(&run.stdout));
    let measured = points
        .iter()
        .filter(|p| p["outcome"]["status"] == "measured");
    let all = measured.map(threads).max();
    assert_eq!(all, Some(cpus() as u64), "{}", run.stdout);
    for point in &points {
        let used = point["outcome"]["evidence"]["cpus"]
            .as_array()
            .expect("cpus")
            .len() as u64;
        assert_eq!(used, threads(point));
        let fairness = point["outcome"]["also"]["fairness"].as_f64();
        assert_eq!(fairness.is_some(), used > 1, "{point}");
        assert!(
            fairness.is_none_or(|share| (0.0..=1.0).contains(&share)),
            "{point}"
        );
    }
}

#[test]
fn two_threads_take_turns_on_each_cpu_or_it_says_why_not() {
    let folder = folder();
    let words = format!("scaling --oversubscribe --threads 1 --cpus 0 {SHORT} --format json -o -");
    let run = typed(&words, folder.path());
    if run.code == Some(2) {
        return skipped("two threads on a cpu", "cpu 0 may not be used");
    }
    ends_well(&run);
    let points = points(&json(&run.stdout));
    let crowded = points
        .iter()
        .find(|p| p["coordinates"]["per_cpu"] == 2)
        .expect("a point");
    assert_eq!(threads(crowded), 2);
    let outcome = &crowded["outcome"];
    match outcome["status"].as_str() {
        Some("measured") => {
            assert_eq!(outcome["evidence"]["cpus"], serde_json::json!([0, 0]));
            let longest = |o: &Value| {
                let all = o["samples"]
                    .as_array()
                    .expect("samples")
                    .iter()
                    .filter_map(|s| s["elapsed_ns"].as_f64());
                all.fold(0.0, f64::max)
            };
            assert!(longest(outcome) > 0.0);
        }
        _ => assert!(
            outcome["status"] == "unsupported"
                && outcome["reason"].as_str().is_some_and(|r| r.len() > 15)
        ),
    }
}

#[test]
fn the_best_number_of_threads_is_told_and_a_run_of_it_can_be_continued() {
    let folder = folder();
    let words = "bandwidth --ops read,copy --threads best --sizes 16KiB --width widest --samples \
         3 --budget 20s";
    ends_well(&typed(&format!("{words} -o r.json"), folder.path()));
    let text = std::fs::read_to_string(folder.path().join("r.json")).expect("a report");
    for point in points(&json(&text)) {
        assert_eq!(point["coordinates"]["requested_threads"], "best");
        let outcome = &point["outcome"];
        assert_eq!(
            outcome["evidence"]["cpus"].as_array().expect("cpus").len() as u64,
            threads(&point)
        );
        if cpus() > 1 {
            let candidates = outcome["choice"]["candidates"]
                .as_array()
                .expect("candidates");
            assert_eq!(candidates[0]["threads"].as_u64(), Some(threads(&point)));
            assert!(candidates.len() > 1);
        }
    }
    let again = typed(&format!("{words} --resume r.json"), folder.path());
    assert!(
        !again.panicked() && !again.stderr.contains("this command"),
        "{again:?}"
    );
}
