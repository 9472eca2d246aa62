//! Tests reports for other people: they name no person, host or place, and the program can read the
//! file.

use crate::helper::{Finished, finish, folder, json, memgauge, program, put, read, typed};
use serde_json::{Value, json};
use std::path::Path;

/// Names that a shared report must not contain, in lower case.
const SECRETS: [&str; 8] = [
    "build-node17",
    "acme.internal",
    "acme",
    "alice",
    "jo",
    "nightly-4711",
    "s3v7nx0k",
    "12:34",
];

/// A text with each secret at a place at which reports may have it.
const POISON: &str = "build-node17.acme.internal (Build-Node17), user alice at /home/alice/acme \
     lab/r.json, 'C:\\Users\\jo\\acme runs\\r.json', jo, \
     /sys/fs/cgroup/acme/nightly-4711/memory.max, /dev/disk/by-id/nvme-S3V7NX0K and \
     /mnt/acme/disk.img";

/// True if `report` still has the types that its format requires.
fn is_readable(report: &Value) -> bool {
    serde_json::from_value::<report::Report>(report.clone()).is_ok()
}

/// Adds all texts of `value` to `all`, names of members included.
fn texts<'a>(value: &'a Value, all: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => all.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, all)),
        Value::Object(members) => {
            for (name, member) in members {
                all.push(name);
                texts(member, all);
            }
        }
        _ => {}
    }
}

/// Adds the paths of all texts in `value` to `all`, as JSON pointers.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    match value {
        Value::String(_) => all.push(at.to_owned()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, &format!("{at}/{index}"), all);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                places(member, &format!("{at}/{name}"), all);
            }
        }
        _ => {}
    }
}

/// A measured report. Each text that the format does not fix contains the secrets.
fn poisoned(folder: &Path) -> Value {
    let line = "bandwidth --ops read --sizes 16KiB --threads 1 --samples 3 --budget 20s -o r.json";
    let run = typed(line, folder);
    assert_eq!(run.code, Some(0), "{run:?}");
    let mut report = json(&read(&folder.join("r.json")));
    let outcome = "/datasets/0/points/0/outcome";
    let measured = report.pointer_mut(outcome).expect("a point");
    measured["storage"] = json!({
        "engine": "sync",
        "files": ["/mnt/acme/disk.img", "nightly-4711.img"],
        "remarks": ["no direct I/O in nightly-4711.img"],
        "errors": {"failed at /mnt/acme/disk.img": 1}
    });
    let mut failed = report["datasets"][0]["points"][0].clone();
    failed["id"] = 99.into();
    failed["outcome"] = json!({"status": "failed", "reason": "cannot read"});
    let points = report["datasets"][0]["points"].as_array_mut();
    points.expect("points").push(failed);
    let finding = json!({"kind": "note", "text": "a note", "values": {}});
    report["findings"]
        .as_array_mut()
        .expect("findings")
        .push(finding);
    report["provenance"]["resumed"] = json!(["2026-11-24T12:34:56Z"]);
    report["provenance"]["launch"] =
        json!({"launcher": "slurm", "node": "s3v7nx0k", "job": "4711"});
    let mut all = Vec::new();
    places(&report, "", &mut all);
    let mut changed = 0;
    for place in all {
        let kept = report.pointer(&place).expect("a text").clone();
        let text = kept.as_str().expect("a text");
        let poison = match text.ends_with('Z') && text.contains('T') {
            true => "2026-11-24T12:34:56Z".to_owned(),
            false => format!("{text} {POISON}"),
        };
        *report.pointer_mut(&place).expect("a text") = poison.into();
        if is_readable(&report) {
            changed += 1;
        } else {
            *report.pointer_mut(&place).expect("a text") = kept;
        }
    }
    assert!(changed > 80, "{changed}");
    let host = &mut report["provenance"]["host"]["system"]["hostname"];
    host["value"] = "build-node17.acme.internal".into();
    report["provenance"]["host"]["system"]["kernel"]["value"] = "6.1.0-acme".into();
    report["provenance"]["command_line"] =
        json!(["/home/alice/memgauge", "-o", "nightly-4711.img"]);
    report
}

/// Shares the file called `name` as the user `jo`.
fn shared(name: &str, output: &str, folder: &Path) -> Finished {
    let mut command = program(folder);
    command.env("USER", "jo").env("LOGNAME", "acme");
    command.args(["report", name, "--share", "-o", output]);
    finish(command, crate::helper::LIMIT)
}

#[test]
fn no_secret_survives_in_any_text() {
    let folder = folder();
    let report = poisoned(folder.path());
    put(
        folder.path(),
        "poisoned.json",
        report.to_string().as_bytes(),
    );
    let run = shared("poisoned.json", "shared.json", folder.path());
    assert_eq!(run.code, Some(0), "{run:?}");
    let file = read(&folder.path().join("shared.json"));
    let result = json(&file);
    let mut all = Vec::new();
    texts(&result, &mut all);
    assert!(all.len() > 500);
    for text in all {
        let lower = text.to_ascii_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric());
        let is_word = |secret: &str| words.clone().any(|word| word == secret);
        let found: Vec<&str> = SECRETS
            .into_iter()
            .filter(|secret| match secret.len() {
                2 => is_word(secret),
                _ => lower.contains(secret),
            })
            .collect();
        assert!(found.is_empty(), "{found:?} in {text}");
    }
    let parts = result["provenance"]["withheld"].as_array().expect("a list");
    for part in [
        "host name",
        "command line",
        "time of day",
        "names of files",
        "node and job of the launcher",
        "samples",
    ] {
        assert!(parts.iter().any(|one| one["part"] == part), "{parts:?}");
        assert!(run.stderr.contains(part), "{part}: {run:?}");
    }
    // A page contains the report, and has a heading of its own.
    let run = shared("poisoned.json", "shared.html", folder.path());
    assert_eq!(run.code, Some(0), "{run:?}");
    let page = read(&folder.path().join("shared.html")).to_ascii_lowercase();
    assert!(!page.contains("build-node17") && !page.contains("alice"));
}

#[test]
fn shared_reports_are_read_compared_and_judged() {
    let folder = folder();
    let line = "latency --sizes 16KiB,64KiB --samples 3 --budget 20s -o r.json";
    assert_eq!(typed(line, folder.path()).code, Some(0));
    assert_eq!(shared("r.json", "shared.json", folder.path()).code, Some(0));
    let whole = json(&read(&folder.path().join("r.json")));
    let file = read(&folder.path().join("shared.json"));
    let outcome = |report: &Value| report["datasets"][0]["points"][0]["outcome"].clone();
    assert_eq!(outcome(&json(&file))["summary"], outcome(&whole)["summary"]);
    assert_eq!(outcome(&json(&file))["samples"], json!([]));
    for format in ["table", "csv", "markdown", "html", "openmetrics"] {
        let run = memgauge(
            &["report", "shared.json", "--format", format],
            folder.path(),
        );
        assert_eq!(run.code, Some(0), "{format}: {run:?}");
    }
    let run = typed("compare r.json shared.json --format json", folder.path());
    assert_eq!(json(&run.stdout)["tally"]["same"], 2, "{run:?}");
    let run = typed("fleet shared.json r.json --format json", folder.path());
    let nodes = json(&run.stdout)["nodes"].clone();
    assert!(
        nodes
            .as_array()
            .expect("machines")
            .iter()
            .any(|n| n["node"] == "shared.json"),
        "{run:?}"
    );
    // Sharing a shared report changes nothing.
    assert_eq!(
        shared("shared.json", "again.json", folder.path()).code,
        Some(0)
    );
    assert_eq!(read(&folder.path().join("again.json")), file);
}

/// Writes a copy of the report `r.json` that names another host.
fn on_host(host: &str, name: &str, folder: &Path) {
    let mut report = json(&read(&folder.join("r.json")));
    report["provenance"]["host"]["system"]["hostname"]["value"] = host.into();
    put(folder, name, report.to_string().as_bytes());
}

#[test]
fn a_page_of_several_machines_is_a_gallery() {
    let folder = folder();
    let line = "latency --sizes 16KiB --samples 3 --budget 20s -o r.json";
    assert_eq!(typed(line, folder.path()).code, Some(0));
    on_host("a", "a.json", folder.path());
    on_host("b", "b.json", folder.path());
    for (words, is_gallery) in [
        ("a.json b.json -o page.html", true),
        ("a.json a.json -o page.html", false),
        ("a.json b.json -o page.html --format html", false),
        ("a.json b.json -o page.html --chart latency", false),
        ("a.json a.json -o page.html --format gallery", true),
        ("a.json b.json -o page.html --share", true),
    ] {
        let run = typed(&format!("report {words}"), folder.path());
        assert_eq!(run.code, Some(0), "{words}: {run:?}");
        let page = read(&folder.path().join("page.html"));
        assert_eq!(
            page.contains("<table id=\"gallery\">"),
            is_gallery,
            "{words}"
        );
    }
    let run = typed(
        "report a.json b.json --format gallery --chart latency",
        folder.path(),
    );
    assert_eq!(run.code, Some(2), "{run:?}");
    let run = typed("report a.json b.json --format markdown", folder.path());
    let rows = run
        .stdout
        .lines()
        .filter(|line| line.starts_with('|'))
        .count();
    assert_eq!(rows, 4, "{run:?}");
}
