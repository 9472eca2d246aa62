//! Tests `memgauge compare` as a user types it, on reports of real sessions. The test does not
//! check whether the sessions differ.

use crate::helper::{folder, json, read, typed};

const SHORT: &str = "bandwidth --ops read --sizes 16KiB --threads 1 --samples 6 --budget 20s -o";

#[test]
fn a_report_is_compared_with_itself_and_with_a_faster_copy() {
    let folder = folder();
    let run = typed(&format!("{SHORT} old.json"), folder.path());
    assert_eq!(run.code, Some(0), "{run:?}");
    let mut report = json(&read(&folder.path().join("old.json")));
    let outcome = &mut report["datasets"][0]["points"][0]["outcome"];
    // These samples are enough rounds for a judgement. All other figures, which depend on the
    // machine, are removed.
    outcome["also"] = serde_json::json!({});
    outcome["samples"][0]["quietest"] = serde_json::Value::Null;
    let sample = outcome["samples"][0].clone();
    let samples = |value: f64| -> Vec<serde_json::Value> {
        let one = |round: u32| {
            let mut one = sample.clone();
            (one["value"], one["round"], one["disturbance"]) =
                (value.into(), round.into(), serde_json::Value::Null);
            one
        };
        (0..6).map(one).collect()
    };
    outcome["verdict"] = serde_json::json!({"grade": "solid", "reasons": []});
    for (name, value) in [("old.json", 1e9), ("new.json", 1.5e9)] {
        report["datasets"][0]["points"][0]["outcome"]["samples"] = samples(value).into();
        std::fs::write(folder.path().join(name), report.to_string()).unwrap();
    }
    let tally = |words: &str, code: i32| {
        let run = typed(&format!("compare {words} --format json"), folder.path());
        assert_eq!(run.code, Some(code), "{run:?}");
        let tally = json(&run.stdout)["tally"].clone();
        ["worse", "better", "cannot_tell", "same"].map(|key| tally[key].as_u64().unwrap())
    };
    assert_eq!(
        tally("old.json old.json --fail-on cannot-tell", 0),
        [0, 0, 0, 1]
    );
    assert_eq!(tally("old.json new.json --fail-on worse", 0), [0, 1, 0, 0]);
    assert_eq!(tally("new.json old.json --fail-on worse", 4), [1, 0, 0, 0]);
    assert_eq!(tally("new.json old.json", 0), [1, 0, 0, 0]);
    assert_eq!(
        tally("new.json old.json --floor 60% --fail-on cannot-tell", 0),
        [0, 0, 0, 1]
    );
    let run = typed(
        "compare old.json new.json new.json -o changes.md",
        folder.path(),
    );
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 2, "{run:?}");
    assert!(read(&folder.path().join("changes.md")).contains("| better |"));
    let run = typed("compare old.json new.json -o changes.html", folder.path());
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:?}");
    let page = read(&folder.path().join("changes.html"));
    assert!(
        page.starts_with("<!DOCTYPE html>")
            && page.contains("<td>better</td>")
            && page.contains("id=\"report-1\"")
    );
}

#[test]
fn folders_are_sets_of_reports() {
    let folder = folder();
    let run = typed(&format!("{SHORT} one.json"), folder.path());
    assert_eq!(run.code, Some(0), "{run:?}");
    let report = json(&read(&folder.path().join("one.json")));
    let sample = report["datasets"][0]["points"][0]["outcome"]["samples"][0].clone();
    // The sessions differ by up to 4%. The rounds of a session are equal.
    let write = |set: &str, value: f64, count: u32| {
        std::fs::create_dir_all(folder.path().join(set)).unwrap();
        for session in 0..count {
            let mut report = report.clone();
            let value = value * (1.0 + 0.01 * f64::from(session % 5));
            let samples = (0..6).map(|round| {
                let mut one = sample.clone();
                (one["value"], one["round"]) = (value.into(), round.into());
                one["disturbance"] = serde_json::Value::Null;
                one
            });
            let outcome = &mut report["datasets"][0]["points"][0]["outcome"];
            outcome["samples"] = samples.collect::<Vec<_>>().into();
            outcome["verdict"] = serde_json::json!({"grade": "solid", "reasons": []});
            outcome["also"] = serde_json::json!({});
            let path = folder.path().join(set).join(format!("{session}.json"));
            std::fs::write(path, report.to_string()).unwrap();
        }
    };
    write("before", 1e9, 6);
    write("same", 1.005e9, 6);
    write("slow", 0.8e9, 3);
    write("empty", 1e9, 0);
    let tally = |words: &str, code: i32| {
        let run = typed(&format!("compare {words} --format json"), folder.path());
        assert_eq!(run.code, Some(code), "{run:?}");
        let found = json(&run.stdout);
        let values = found["groups"][0]["pairs"][0]["after"]["values"].as_u64();
        let counts = ["worse", "better", "cannot_tell", "same"];
        (
            counts.map(|key| found["tally"][key].as_u64().unwrap()),
            values.unwrap(),
        )
    };
    assert_eq!(tally("before slow --fail-on worse", 4), ([1, 0, 0, 0], 3));
    assert_eq!(tally("slow before", 0), ([0, 1, 0, 0], 6));
    let ([worse, better, ..], _) = tally("before same", 0);
    assert_eq!((worse, better), (0, 0));
    // The two sessions with the largest distance differ if they are compared as single reports.
    assert_eq!(tally("before/4.json same/0.json", 0).0, [1, 0, 0, 0]);
    let table = typed("compare before slow same -o sets.html", folder.path());
    assert_eq!(
        (table.code, table.stderr.lines().count()),
        (Some(0), 2),
        "{table:?}"
    );
    let table = typed("compare before slow", folder.path());
    assert!(table.stdout.contains("set of 6 reports"), "{table:?}");
    let refused = typed("compare before empty", folder.path());
    assert_eq!(
        (refused.code, refused.stderr.lines().count()),
        (Some(2), 1),
        "{refused:?}"
    );
    assert!(
        refused.stderr.contains("cannot read the reports: 'empty'"),
        "{refused:?}"
    );
}

#[test]
fn collections_of_sc_membench_are_read_or_refused_in_one_line() {
    let folder = folder();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let heading = "size_kb,operation,bandwidth_mb_s,latency_ns,latency_stddev_ns,latency_samples,\
         threads,iterations,elapsed_s";
    let good = format!(
        "{heading}\n32,read,1000.00,0,0,0,2,30,0.500000\n32,latency,0,2.00,0.20,9,1,9,0.300000\n"
    );
    write("good.csv", &good);
    let run = typed("report good.csv --format sc-membench", folder.path());
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(0), good.as_str()),
        "{run:?}"
    );
    let run = typed("report good.csv --format csv", folder.path());
    assert!(
        run.stdout.contains(",1048576000,") && run.stdout.contains("doubtful"),
        "{run:?}"
    );
    assert_eq!(
        typed("report good.csv good.csv -o both.html", folder.path()).code,
        Some(0)
    );
    assert_eq!(
        typed("compare good.csv good.csv", folder.path()).code,
        Some(0)
    );
    write("bad.csv", &good.replace("1000.00", "fast"));
    write("new.csv", &good.replace("elapsed_s", "elapsed_min"));
    for (words, part) in [
        ("report bad.csv", "line 2: bandwidth_mb_s is 'fast'"),
        (
            "report new.csv",
            "a column that is not known: 'elapsed_min'",
        ),
        ("run --resume good.csv", "nothing to continue: 'good.csv'"),
    ] {
        let run = typed(words, folder.path());
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(
            run.stderr.contains(part) && run.stderr.lines().count() == 1,
            "{words}: {run:?}"
        );
    }
}

#[test]
fn what_cannot_be_compared_is_refused_in_one_line() {
    let folder = folder();
    std::fs::write(folder.path().join("x.json"), "{}").unwrap();
    for (words, part) in [
        ("compare", "argument missing: BEFORE"),
        ("compare x.json", "argument missing: AFTER"),
        ("compare x.json x.json", "cannot read the report: 'x.json'"),
        (
            "compare x.json y.json --format xml",
            "invalid value for --format: 'xml'",
        ),
        (
            "compare x.json y.json --floor 3",
            "invalid value for --floor: '3'; a share is from 0%",
        ),
        (
            "compare x.json y.json --fail-on always",
            "invalid value for --fail-on: 'always'",
        ),
    ] {
        let run = typed(words, folder.path());
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(
            run.stderr.contains(part) && run.stderr.lines().count() == 1,
            "{words}: {run:?}"
        );
    }
}

#[test]
fn tables_are_compared_with_each_other_and_with_reports() {
    let folder = folder();
    let run = typed(&format!("{SHORT} r.json --format csv"), folder.path());
    std::fs::write(folder.path().join("r.csv"), &run.stdout).unwrap();
    let same = |words: &str| {
        let run = typed(&format!("compare {words} --format json"), folder.path());
        assert_eq!(run.code, Some(0), "{run:?}");
        let tally = json(&run.stdout)["tally"].clone();
        ["same", "cannot_tell"]
            .map(|key| tally[key].as_u64().unwrap())
            .iter()
            .sum::<u64>()
    };
    for words in ["r.json r.csv", "r.csv r.json", "r.csv r.csv"] {
        assert_eq!(same(words), 1, "{words}");
    }
    let text = std::fs::read_to_string(folder.path().join("r.csv")).unwrap();
    std::fs::write(folder.path().join("twice.csv"), format!("{text}{text}")).unwrap();
    assert_eq!(
        typed("report twice.csv --format csv", folder.path())
            .stdout
            .lines()
            .count(),
        3
    );
    for (broken, part) in [
        (
            text.replace(",measured,", ",guessed,"),
            "line 2: status is 'guessed'",
        ),
        (
            text.replace(",status,", ",state,"),
            "lacks a column: 'status'",
        ),
    ] {
        std::fs::write(folder.path().join("broken.csv"), broken).unwrap();
        let run = typed("report broken.csv", folder.path());
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(
            run.stderr.contains(part) && run.stderr.lines().count() == 1,
            "{run:?}"
        );
    }
    assert_eq!(typed("run --resume r.csv", folder.path()).code, Some(2));
    let run = typed(
        "compare r.csv r.csv --floor-without-samples 300%",
        folder.path(),
    );
    assert_eq!(run.code, Some(2), "{run:?}");
}
