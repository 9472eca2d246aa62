//! Tests damaged, edited and invented journals. Each is read or refused in one line, and none makes
//! the reader panic.

use crate::helper::{folder, json, memgauge, names, put, read, typed};
use render::{Options, RENDERERS};
use report::{LARGEST_REPORT, Outcome, Report, RunStatus, Saved, parse_saved};
use serde_json::Value;
use std::path::Path;

const FORMATS: [&str; 6] = ["table", "json", "jsonl", "csv", "markdown", "sc-membench"];

/// The lines of a finished session of a moment: the session, three points, the end.
fn lines() -> Vec<String> {
    let folder = folder();
    let words = "bandwidth --ops read,copy,write --sizes 16KiB --threads 1 --samples 3 --budget \
         60s -o r.jsonl";
    let run = typed(words, folder.path());
    assert_eq!(run.code, Some(0), "{run:?}");
    let lines: Vec<String> = read(&folder.path().join("r.jsonl"))
        .lines()
        .map(str::to_owned)
        .collect();
    assert_eq!(lines.len(), 5);
    lines
}

/// Reads a journal of these lines. Returns its report and its notes.
fn journal(lines: &[String]) -> Result<(Report, Vec<String>), String> {
    match parse_saved((lines.join("\n") + "\n").as_bytes())? {
        Saved::Journal(journal) => Ok((journal.report, journal.notes)),
        Saved::Report(_) => panic!("a journal was taken for a report"),
    }
}

fn measured(report: &Report) -> usize {
    report
        .datasets
        .iter()
        .flat_map(|d| &d.points)
        .filter(|p| p.outcome.measured().is_some())
        .count()
}

#[test]
fn a_journal_cut_at_any_byte_is_read_as_far_as_it_goes() {
    let lines = lines();
    let text = lines.join("\n") + "\n";
    let head = lines[0].len();
    let end = text.len();
    let whole = journal(&lines).expect("a journal");
    assert_eq!((whole.0.status, whole.1.len()), (RunStatus::Complete, 0));
    let mut read = [0; 4];
    for cut in (0..end - 1).filter(|cut| cut % 101 == 0 || lines.iter().any(|l| cut % l.len() < 2))
    {
        match parse_saved(&text.as_bytes()[..cut]) {
            Err(why) => assert!(cut < head && !why.is_empty(), "{cut}: {why}"),
            Ok(saved) => {
                let report = saved.into_report();
                read[measured(&report)] += 1;
                assert!(cut >= head);
                // The last line counts even without its newline.
                assert_eq!(
                    report.status == RunStatus::Complete,
                    cut >= end - 1,
                    "{cut}"
                );
                let lost = |p: &&report::Point| matches!(p.outcome, Outcome::Interrupted { .. });
                let lost = report.datasets[0].points.iter().filter(lost).count();
                assert_eq!(measured(&report) + lost, 3);
            }
        }
    }
    assert!(read.iter().all(|&n| n > 0), "{read:?}");
}

#[test]
fn lines_that_do_not_belong_are_counted_and_said() {
    let lines = lines();
    let with = |at: usize, line: &str| {
        let mut lines = lines.clone();
        lines.insert(at, line.to_owned());
        journal(&lines).expect("a journal")
    };
    let whole = journal(&lines).expect("a journal").0;
    let (report, notes) = with(2, "{\"line\":\"poi");
    assert_eq!(
        notes,
        ["lines of the journal that cannot be read and were skipped: 1"]
    );
    assert_eq!((measured(&report), report.status), (3, RunStatus::Complete));
    assert!(
        report.findings.iter().any(|f| f.kind == "journal"),
        "{:?}",
        report.findings
    );
    let (_, notes) = with(5, "{\"line\":\"poi");
    assert_eq!(
        notes,
        ["the last line of the journal is incomplete and was skipped"]
    );
    // Each of these changes makes a point one that was not planned: another number, experiment,
    // coordinate or unit.
    for (old, new) in [
        ("\"id\":0", "\"id\":7"),
        ("\"experiment\":\"bandwidth\"", "\"experiment\":\"latency\""),
        ("\"size_bytes\":16384", "\"size_bytes\":16385"),
        ("\"unit\":\"B/s\"", "\"unit\":\"ns\""),
    ] {
        assert!(lines[1].contains(old), "{old}");
        let (report, notes) = with(2, &lines[1].replacen(old, new, 1));
        assert_eq!(
            notes,
            ["points in the journal that were not planned and were skipped: 1"],
            "{new}"
        );
        assert_eq!(report.datasets, whole.datasets);
    }
    // The last line of a point counts. Blank lines are ignored.
    let again = lines[1].replacen(
        "\"status\":\"measured\"",
        "\"status\":\"failed\",\"reason\":\"later\"",
        1,
    );
    let (report, notes) = with(4, &again);
    assert!(
        notes.is_empty() && report.datasets[0].points[0].outcome.reason() == Some("later"),
        "{notes:?}"
    );
    assert_eq!(with(3, "  ").0, whole);
    let mut other = lines.clone();
    let at = other[4].find("\"kernels\":").expect("the kernels used");
    other[4].replace_range(at.., "\"kernels\":[]}");
    assert!(
        journal(&other)
            .expect("a journal")
            .0
            .provenance
            .kernels
            .is_empty(),
        "the end knows what was used"
    );
    assert_eq!(
        report.verdict.points.values().sum::<u64>(),
        3,
        "the verdict of the run's own end"
    );
}

#[test]
fn journals_that_are_none_are_refused() {
    let lines = lines();
    let edited = |old: &str, new: &str| {
        assert!(lines[0].contains(old), "{old}");
        lines[0].replacen(old, new, 1)
    };
    const ID: &str = "\"id\":1,\"coordinates\"";
    let long = "x".repeat(1 << 20);
    let rows: [(String, &str); 14] = [
        (lines[1].clone(), "a journal without its first line"),
        (lines[4].clone(), "a journal without its first line"),
        (
            lines[0][..200].to_owned(),
            "a journal without its first line",
        ),
        (
            "{\"line\":\"run\"}".to_owned(),
            "not a memgauge journal: its first line: missing field",
        ),
        (
            "{\"line\":7}".to_owned(),
            "a journal without its first line",
        ),
        (
            format!("{{\"line\":\"{long}\"}}"),
            "a journal without its first line",
        ),
        (
            edited("\"schema_version\":", "\"schema_version\":99"),
            "is newer than this program's",
        ),
        (
            edited(ID, "\"id\":0,\"coordinates\""),
            "two of its points have the number 0",
        ),
        (edited(ID, "\"id\":-1,\"coordinates\""), "invalid value"),
        (edited(ID, "\"id\":1e999,\"coordinates\""), "its first line"),
        (
            edited(ID, "\"id\":NaN,\"coordinates\""),
            "a journal without its first line",
        ),
        (
            edited(
                "\"status\":\"interrupted\"",
                &format!("\"status\":\"{long}\""),
            ),
            "unknown variant",
        ),
        (
            edited(
                ID,
                &format!(
                    "\"id\":{}1{},\"coordinates\"",
                    "[".repeat(9000),
                    "]".repeat(9000)
                ),
            ),
            "its first line",
        ),
        (
            format!("{}\n{}", lines[0], lines[0]),
            "contains more than one session",
        ),
    ];
    let folder = folder();
    for (text, why) in rows {
        put(folder.path(), "j.jsonl", text.as_bytes());
        for words in [
            &["report", "j.jsonl"][..],
            &["bandwidth", "--resume", "j.jsonl"],
        ] {
            let run = memgauge(words, folder.path());
            let one =
                run.stderr.lines().count() == 1 && run.stderr.len() < 500 && run.stdout.is_empty();
            assert!(
                run.code == Some(2) && !run.panicked() && one,
                "{why}: {run:?}"
            );
            assert!(
                run.stderr
                    .starts_with("memgauge: cannot read the report: 'j.jsonl': "),
                "{run:?}"
            );
            assert!(run.stderr.contains(why), "{why}: {run:?}");
        }
        assert_eq!(names(folder.path()), ["j.jsonl"]);
    }
}

/// Shows a journal in every format. No format may panic, and each must show something.
fn is_shown(folder: &Path, what: &str) {
    for format in FORMATS {
        let run = typed(&format!("report j.jsonl --format {format}"), folder);
        // The lines are from a real session. On a busy machine its only whole point may be
        // rejected. A format that has no place for rejected points then has no rows.
        if run.code == Some(3) && run.stderr.contains("no row: rejected") {
            continue;
        }
        assert!(
            run.code == Some(0) && !run.panicked() && !run.stdout.is_empty(),
            "{what} as {format}: {run:?}"
        );
        assert!(
            run.stderr
                .lines()
                .all(|l| l.starts_with("memgauge: note: ")),
            "{what}: {run:?}"
        );
    }
}

#[test]
fn hostile_lines_are_passed_over() {
    let lines = lines();
    let median = json(&lines[1])["point"]["outcome"]["summary"]["median"].to_string();
    let long = format!("\"{}\"", "\\u001b[31m\\u202e".repeat(1 << 16));
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let wrong = [
        "NaN", "1e999", "-1e999", "\"12\"", "null", "[]", "{}", &deep, "true", "\0",
    ];
    let folder = folder();
    for value in wrong {
        let bad = lines[1].replace(&median, value);
        assert_ne!(bad, lines[1]);
        let text = [&lines[0], &bad, &lines[2], &lines[3]]
            .map(|l| l.as_str())
            .join("\n");
        put(folder.path(), "j.jsonl", text.as_bytes());
        let run = typed("report j.jsonl --format json", folder.path());
        assert_eq!(run.code, Some(0), "{value:.20}: {run:?}");
        assert!(
            run.stderr.contains("cannot be read and were skipped: 1"),
            "{value:.20}: {run:?}"
        );
        assert_eq!(
            json(&run.stdout)["datasets"][0]["points"][0]["outcome"]["status"],
            "interrupted"
        );
    }
    // These journals are odd, but can be read.
    let kind = "\"kind\":\"";
    for (what, index, old, new) in [
        (
            "a long name of the profile",
            0,
            "\"profile\":\"bandwidth\"",
            format!("\"profile\":{long}"),
        ),
        (
            "a number that is not there",
            0,
            "\"real\":null",
            "\"real\":1e308".to_owned(),
        ),
        ("a negative median", 1, median.as_str(), "-1e308".to_owned()),
        ("a median of nothing", 1, median.as_str(), "0".to_owned()),
        (
            "a large number of points",
            0,
            "\"points\":3",
            "\"points\":18446744073709551615".to_owned(),
        ),
        (
            "a size beyond all",
            0,
            "\"size_bytes\":16384",
            "\"size_bytes\":18446744073709551615".to_owned(),
        ),
        (
            "findings from elsewhere",
            4,
            kind,
            format!("\"text\":{long},\"values\":{{}},\"kind\":\""),
        ),
    ] {
        let mut lines = lines.clone();
        if lines[index].contains(old) {
            lines[index] = lines[index].replacen(old, &new, 1);
        }
        put(folder.path(), "j.jsonl", lines.join("\n").as_bytes());
        is_shown(folder.path(), what);
    }
    let bytes = [
        lines[0].as_bytes(),
        b"\n\xff\xfe\n\0\0\0\n",
        lines[1].as_bytes(),
    ]
    .concat();
    put(folder.path(), "j.jsonl", &bytes);
    is_shown(folder.path(), "bytes that are no text");
}

/// A journal without an end gets the findings that its session would have made of its points.
#[test]
fn findings_are_read_out_of_the_points() {
    let folder = folder();
    let words = "locks --ops atomic-add --threads 1,all --samples 40 --budget 60s -o r.jsonl";
    let run = typed(words, folder.path());
    assert!(!run.timed_out && run.code == Some(0), "{run:?}");
    let text = read(&folder.path().join("r.jsonl"));
    let lines: Vec<&str> = text.lines().collect();
    put(
        folder.path(),
        "j.jsonl",
        lines[..lines.len() - 1].join("\n").as_bytes(),
    );
    let findings = |file: &str| -> Vec<Value> {
        let report = json(&typed(&format!("report {file} --format json"), folder.path()).stdout);
        let found = report["findings"].as_array().expect("findings");
        found
            .iter()
            .filter(|f| f["kind"] == "line-contention")
            .cloned()
            .collect()
    };
    assert_eq!(findings("j.jsonl"), findings("r.jsonl"));
    // If other programs use the machine, points may have no undisturbed samples, and then have no
    // finding.
    let report = json(&typed("report r.jsonl --format json", folder.path()).stdout);
    let points = report["datasets"][0]["points"]
        .as_array()
        .expect("points")
        .clone();
    let usable = |p: &Value| {
        p["outcome"]["summary"]["undisturbed_samples"]
            .as_u64()
            .is_some_and(|clean| clean >= 6)
    };
    if crate::helper::cpus() > 1 && points.iter().all(usable) {
        assert_eq!(findings("j.jsonl").len(), 1);
    }
}

/// Returns `report` with this number of points and samples per point, by repeating its own.
fn repeated(report: &Report, points: usize, samples: usize) -> Report {
    let mut report = report.clone();
    let dataset = &mut report.datasets[0];
    let own = dataset.points.clone();
    dataset.points = own.iter().cycle().take(points).cloned().collect();
    for (id, point) in (0..).zip(&mut dataset.points) {
        point.id = id;
        let Outcome::Measured(measured) = &mut point.outcome else {
            panic!("{point:?}")
        };
        let own = measured.samples.clone();
        measured.samples = own.iter().cycle().take(samples).cloned().collect();
    }
    report
}

/// Tests sizes that few users reach: a million points without samples, and a hundred thousand with
/// samples.
#[test]
fn what_is_written_can_be_read_back_however_large() {
    const POINTS: usize = 300;
    if cfg!(target_pointer_width = "32") {
        println!("skipped: as much memory has no addresses here");
        return;
    }
    let own = journal(&lines()).expect("a journal").0;
    for (most, samples) in [(1e6, 0), (1e5, 160)] {
        let report = repeated(&own, POINTS, samples);
        for renderer in RENDERERS
            .iter()
            .filter(|r| ["json", "jsonl"].contains(&r.name()))
        {
            let bytes = renderer
                .render(&report, &Options::default())
                .expect("a report");
            let read = parse_saved(bytes.as_slice())
                .expect("what was written")
                .into_report();
            assert_eq!(read.datasets, report.datasets, "{}", renderer.name());
            let of_all = |bytes: usize| (bytes / POINTS) as f64 * most;
            let limit = LARGEST_REPORT.0 as f64;
            assert!(
                of_all(bytes.len()) < limit,
                "{} {samples}: {} B a point",
                renderer.name(),
                bytes.len() / POINTS
            );
            // The first line of a journal lists all of its points.
            let first = bytes.iter().position(|b| *b == b'\n').expect("lines");
            assert!(
                of_all(first) < limit / 4.0,
                "{} {samples}: {first} B",
                renderer.name()
            );
        }
    }
}
