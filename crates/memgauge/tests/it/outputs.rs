//! Tests short real sessions: every format, the places of results, and conversions of a saved
//! report. Only the presence and the form of values are checked.

use crate::helper::{Finished, folder, json, memgauge, names, put, read, skipped, state, typed};
use serde_json::Value;

/// A session with three points, one of each kind, which takes a moment.
const SHORT: &str =
    "bandwidth --ops read,copy,write-nt --sizes 16KiB --threads 1 --samples 3 --budget 20s";
const SC_HEADER: &str = "size_kb,operation,bandwidth_mb_s,latency_ns,latency_stddev_ns,\
     latency_samples,threads,iterations,elapsed_s";
const CSV_COLUMNS: &str = "experiment,quantity,unit,operation,kernel,level,size_bytes,threads,\
     page_bytes,status,value,best,ci_low,ci_high,samples,trust,reason,";
const FORMATS: [&str; 6] = ["table", "json", "jsonl", "csv", "markdown", "sc-membench"];

fn ends_well(run: &Finished) {
    assert!(
        run.code == Some(0) && !run.timed_out && !run.panicked(),
        "{run:?}"
    );
}

/// Fails unless `text` has the form that `format` promises.
fn has_form(format: &str, text: &str) {
    assert!(text.ends_with('\n'), "{format}: {text:.200}");
    match format {
        "table" => assert!(
            text.contains(" points") && text.contains("bandwidth"),
            "{text}"
        ),
        "json" => assert!(validator().is_valid(&json(text)), "{text:.500}"),
        "jsonl" => {
            let lines: Vec<Value> = text.lines().map(json).collect();
            let last = lines.len() - 1;
            assert!(
                last > 1 && lines[0]["line"] == "run" && lines[last]["line"] == "end",
                "{text:.200}"
            );
            let point =
                |l: &Value| l["line"] == "point" && l["point"]["outcome"]["status"].is_string();
            assert!(lines[1..last].iter().all(point));
        }
        "csv" => {
            assert!(text.starts_with(CSV_COLUMNS), "{text:.300}");
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let statuses = reader
                .records()
                .map(|row| row.expect("a row as long as the header")[9].to_owned());
            assert!(statuses.eq(["measured", "measured", "measured"]), "{text}");
        }
        "markdown" => assert!(text.contains("\n|") && text.contains("---"), "{text}"),
        "sc-membench" => {
            let mut lines = text.lines();
            assert_eq!(lines.next(), Some(SC_HEADER));
            assert!(
                lines.all(|l| l.split(',').count() == 9 && l.split(',').nth(6) == Some("1")),
                "{text}"
            );
        }
        other => panic!("{other} is no format"),
    }
}

/// Validator with the schema that the program prints.
fn validator() -> jsonschema::Validator {
    let run = typed("generate schema", folder().path());
    jsonschema::validator_for(&json(&run.stdout)).expect("a schema")
}

#[test]
fn every_format_has_its_form_on_standard_output() {
    for format in FORMATS {
        let folder = folder();
        let run = typed(&format!("{SHORT} --format {format} -o -"), folder.path());
        ends_well(&run);
        has_form(format, &run.stdout);
        assert_eq!(
            names(folder.path()),
            Vec::<String>::new(),
            "-o - saves nothing"
        );
    }
}

#[test]
fn the_extension_of_the_file_chooses_its_format() {
    for (file, format) in [
        ("o.json", "json"),
        ("o.jsonl", "jsonl"),
        ("o.csv", "csv"),
        ("o.md", "markdown"),
        ("o.TXT", "table"),
    ] {
        let folder = folder();
        let run = typed(&format!("{SHORT} -o {file}"), folder.path());
        ends_well(&run);
        has_form("table", &run.stdout);
        assert!(
            run.stdout.contains(&format!("saved     {file}")) || run.stdout.contains(file),
            "{run:?}"
        );
        assert_eq!(names(folder.path()), [file], "the report and no other file");
        has_form(format, &read(&folder.path().join(file)));
    }
}

#[test]
fn scores_are_on_standard_error_beside_the_csv() {
    let folder = folder();
    let words = "bandwidth --ops read,write,copy --sizes 16KiB,64KiB --threads 1 --samples 3 \
         --budget 60s -o - --format sc-membench --scores";
    let run = typed(words, folder.path());
    ends_well(&run);
    has_form("sc-membench", &run.stdout);
    assert!(run.stderr.to_lowercase().contains("score"), "{run:?}");
}

#[test]
fn without_a_name_reports_are_saved_side_by_side() {
    let folder = folder();
    // Two sessions of the same second must not overwrite each other's report.
    for _ in 0..2 {
        let run = typed(SHORT, folder.path());
        ends_well(&run);
        assert!(run.stderr.is_empty(), "{run:?}");
    }
    assert_eq!(
        names(folder.path()),
        Vec::<String>::new(),
        "nothing is left in the working directory"
    );
    let saved = state(folder.path());
    let names = names(&saved);
    assert_eq!(names.len(), 2, "{names:?}");
    for name in names {
        assert!(name.ends_with("-bandwidth.json"), "{name}");
        has_form("json", &read(&saved.join(name)));
    }
}

#[test]
fn a_saved_report_becomes_every_format() {
    let folder = folder();
    ends_well(&typed(&format!("{SHORT} -o saved.json"), folder.path()));
    let saved = read(&folder.path().join("saved.json"));
    for format in FORMATS {
        let run = typed(
            &format!("report saved.json --format {format}"),
            folder.path(),
        );
        ends_well(&run);
        has_form(format, &run.stdout);
        assert!(
            format != "json" || run.stdout == saved,
            "a report that is read and written again is the same"
        );
    }
    for (file, format) in [
        ("again.csv", "csv"),
        ("again.md", "markdown"),
        ("again.json", "json"),
        ("again.jsonl", "jsonl"),
    ] {
        let run = typed(&format!("report saved.json -o {file}"), folder.path());
        ends_well(&run);
        assert_eq!(run.stdout, "");
        has_form(format, &read(&folder.path().join(file)));
    }
    let back = typed("report again.jsonl --format json", folder.path());
    assert!(
        back.stdout == saved && back.stderr.is_empty(),
        "JSON Lines hold all of a report"
    );
    let verbose = typed("report saved.json --verbose", folder.path());
    ends_well(&verbose);
    has_form("table", &verbose.stdout);
    // The report has a version that does not exist yet.
    put(
        folder.path(),
        "newer.json",
        saved
            .replacen("\"schema_version\": ", "\"schema_version\": 9", 1)
            .as_bytes(),
    );
    let newer = typed("report newer.json", folder.path());
    assert!(
        newer.code == Some(2) && newer.stderr.contains("update memgauge"),
        "{newer:?}"
    );
    // The nesting is far too deep. In an unknown field it is skipped, in a known field it is
    // refused. The stack does not overflow in either case.
    let nest = format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000));
    put(
        folder.path(),
        "deep.json",
        saved
            .replacen('{', &format!("{{\"x\": {nest},"), 1)
            .as_bytes(),
    );
    ends_well(&typed("report deep.json", folder.path()));
    put(
        folder.path(),
        "deep.json",
        saved.replacen("\"complete\"", &nest, 1).as_bytes(),
    );
    let deep = typed("report deep.json", folder.path());
    assert!(
        deep.code == Some(2) && !deep.panicked() && deep.stderr.lines().count() == 1,
        "{deep:?}"
    );
}

#[test]
fn a_run_leaves_what_it_was_requested_in_its_report() {
    let folder = folder();
    let words = format!("{SHORT} --repeat 2 --cooldown 2ms --seed 77 --strict --verbose -o r.json");
    let run = typed(&words, folder.path());
    // On a shared machine some points are not solid, and points with three samples never are.
    assert!(!run.timed_out && !run.panicked(), "{run:?}");
    let report = json(&read(&folder.path().join("r.json")));
    assert_eq!(report["status"], "complete");
    assert_eq!(report["provenance"]["seed"], "77");
    let typed: Vec<&str> = words.split(' ').collect();
    let line = report["provenance"]["command_line"]
        .as_array()
        .expect("a list");
    assert!(
        line[1..]
            .iter()
            .map(|w| w.as_str().expect("words"))
            .eq(typed)
    );
    let points = report["datasets"][0]["points"].as_array().expect("points");
    let repeats = points
        .iter()
        .map(|p| p["coordinates"]["repeat"].as_u64().expect("which repeat"));
    assert_eq!(repeats.collect::<Vec<_>>(), [0, 0, 0, 1, 1, 1]);
    let taken = |p: &Value| p["outcome"]["samples"].as_array().expect("samples").len();
    assert!(
        points.iter().all(|p| taken(p) >= 3),
        "as many samples as were requested"
    );
    let weak = points
        .iter()
        .filter(|p| p["outcome"]["verdict"]["grade"] != "solid")
        .count();
    assert_eq!(
        run.code,
        Some(if weak > 0 { 3 } else { 0 }),
        "--strict fails exactly when something is less than solid"
    );
    assert!(
        weak == 0
            || run
                .stderr
                .contains(&format!("{weak} of 6 points less than solid")),
        "{run:?}"
    );
}

#[test]
fn the_same_seed_makes_the_same_plan() {
    let folder = folder();
    let points = |seed: &str| {
        let run = typed(
            &format!("run --profile quick --dry-run --seed {seed}"),
            folder.path(),
        );
        ends_well(&run);
        // The expected time depends on a measured rate, and so do the points that are left out for
        // lack of time. The list of points does not.
        let requested = |line: &str| {
            line.split("  skipped")
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        run.stdout
            .lines()
            .filter(|l| l.starts_with("  "))
            .map(requested)
            .collect::<Vec<_>>()
    };
    assert_eq!(points("5"), points("5"));
    let coordinates = |file: &str| {
        ends_well(&typed(
            &format!("{SHORT} --seed 5 -o {file}"),
            folder.path(),
        ));
        let report = json(&read(&folder.path().join(file)));
        let mut points = report["datasets"][0]["points"]
            .as_array()
            .expect("points")
            .clone();
        // The kernel is ignored, because a measurement selects it.
        points
            .iter_mut()
            .for_each(|p| p["coordinates"]["kernel"] = "any".into());
        points
            .iter()
            .map(|p| p["coordinates"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(coordinates("a.json"), coordinates("b.json"));
}

#[test]
fn a_dry_run_measures_and_saves_nothing() {
    let folder = folder();
    let run = typed("--dry-run --repeat 5 -o x.json", folder.path());
    ends_well(&run);
    assert!(
        run.stdout.contains("budget") && run.stdout.contains("memory"),
        "{run:?}"
    );
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn lists_are_for_people_and_for_programs() {
    let folder = folder();
    for (what, key) in [("kernels", "does"), ("experiments", "question")] {
        let table = typed(&format!("list {what}"), folder.path());
        ends_well(&table);
        assert!(table.stdout.contains(key), "{table:?}");
        let list = typed(&format!("list {what} --format json"), folder.path());
        ends_well(&list);
        let entries = json(&list.stdout);
        assert!(
            entries
                .as_array()
                .is_some_and(|all| all.iter().all(|e| e[key].is_string())),
            "{list:?}"
        );
    }
    let kernels = json(&typed("list kernels --format json", folder.path()).stdout);
    for k in kernels.as_array().expect("kernels") {
        let own = k["family"] != "reference" && k["unsupported"] == false;
        assert!(k["digest"].is_string() == own && k["code"].is_null(), "{k}");
        assert!(
            k["unsupported"] == false || k["unavailable"].is_string(),
            "{k}"
        );
    }
    let host = typed("list host --format json", folder.path());
    ends_well(&host);
    // The output has the same facts in the same form as a report.
    let facts: report::HostFacts =
        serde_json::from_str(&host.stdout).expect("the facts of a report");
    assert!(!facts.topology.cpus.is_empty());
    ends_well(&typed("list host", folder.path()));
}

#[test]
fn pages_from_a_pool_that_is_empty_fail_with_the_cure() {
    let pool = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let empty = |line: &str| line.split_whitespace().nth(1) == Some("0");
    if !pool
        .lines()
        .any(|l| l.starts_with("HugePages_Free:") && empty(l))
    {
        skipped(
            "an empty pool of huge pages",
            "huge pages are reserved here, or it is not known",
        );
        return;
    }
    let folder = folder();
    let run = memgauge(
        &[
            "latency",
            "--pages",
            "huge",
            "--sizes",
            "4MiB",
            "--samples",
            "3",
            "-o",
            "r.json",
        ],
        folder.path(),
    );
    assert_eq!(run.code, Some(5), "{run:?}");
    assert!(
        run.stderr.starts_with("memgauge: nothing was measured: ")
            && run.stderr.lines().count() == 1,
        "{run:?}"
    );
    assert!(
        run.stderr.contains("as root type echo") && run.stdout.contains("nr_hugepages"),
        "{run:?}"
    );
    assert_eq!(
        json(&read(&folder.path().join("r.json")))["status"],
        "complete"
    );
}

/// The digest in a list is the digest of the code that the list prints.
#[test]
fn the_code_of_a_kernel_is_printed_with_its_digest() {
    use sha2::{Digest, Sha256};
    let folder = folder();
    for name in [
        "read/scalar",
        "add/latency",
        "chase-7-payload",
        "hand-off/exchange",
        "dependent-adds",
    ] {
        let list = typed(
            &format!("list kernels {name} --code --format json"),
            folder.path(),
        );
        ends_well(&list);
        let entry = json(&list.stdout)[0].clone();
        let hex = entry["code"].as_str().expect("code");
        let bytes = (0..hex.len() / 2)
            .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("a byte"));
        let sum = Sha256::digest(bytes.collect::<Vec<u8>>());
        let digest: String = sum.iter().take(8).map(|b| format!("{b:02x}")).collect();
        assert_eq!(entry["digest"], digest, "{name}");
        let text = typed(&format!("list kernels {name} --code"), folder.path());
        ends_well(&text);
        let shown: String = text
            .stdout
            .lines()
            .filter(|l| !l.starts_with('#'))
            .flat_map(str::split_whitespace)
            .collect();
        assert_eq!(shown, hex, "{name}");
    }
    let several = json(&typed("list kernels triad --format json", folder.path()).stdout);
    assert!(
        several
            .as_array()
            .is_some_and(|all| all.len() >= 2 && all.iter().all(|k| k["family"] == "streaming"))
    );
    let libc = typed("list kernels copy-libc --code", folder.path());
    assert!(
        libc.stdout
            .contains("no machine code: it is not this program's code"),
        "{libc:?}"
    );
}

#[test]
fn a_report_names_the_c_library_of_a_kernel_that_calls_it() {
    let folder = folder();
    let run = typed(
        "bandwidth --ops write,copy-libc --width widest --sizes 16KiB --threads 1 --samples 3 \
         --budget 20s --format json",
        folder.path(),
    );
    let report = json(&run.stdout);
    let kernels = report["provenance"]["kernels"].as_array().expect("kernels");
    let library = |start: &str| {
        let is_it = |k: &&Value| {
            k["name"]
                .as_str()
                .is_some_and(|name| name.starts_with(start))
        };
        kernels.iter().find(is_it).map(|k| k["c_library"].clone())
    };
    assert_eq!(library("write/"), Some(Value::Null), "{kernels:?}");
    let named = library("copy-libc/").unwrap_or_default();
    let expected = if cfg!(target_env = "gnu") {
        "GNU C library 2."
    } else {
        ""
    };
    assert!(
        named
            .as_str()
            .is_some_and(|name| !name.is_empty() && name.starts_with(expected)),
        "{kernels:?}"
    );
}

#[test]
fn sc_membench_tells_what_has_no_row_and_ends_incomplete_where_nothing_has() {
    let folder = folder();
    let run = typed(
        "bandwidth --ops read,triad --sizes 1536,16KiB --threads 1 --samples 6 --budget 20s -o \
         r.json --format sc-membench",
        folder.path(),
    );
    let rows: Vec<&str> = run.stdout.lines().skip(1).collect();
    assert!(
        rows.iter().all(|row| row.starts_with("16,read,")),
        "{run:?}"
    );
    // Triads have no row, and neither has a size that is no whole number of KiB.
    assert!(
        run.stderr
            .lines()
            .filter(|line| line.starts_with("memgauge: note: no row: "))
            .count()
            >= 2,
        "{run:?}"
    );
    let run = typed(
        "latency --sizes 16KiB --chains 4 --samples 6 --budget 20s -o chains.json",
        folder.path(),
    );
    assert!(matches!(run.code, Some(0 | 3)), "{run:?}");
    for words in [
        "report chains.json --format sc-membench",
        "report chains.json --format sc-membench -o rows.mb",
    ] {
        let run = typed(words, folder.path());
        assert_eq!(run.code, Some(3), "{run:?}");
        assert!(run.stderr.contains("memgauge: no rows"), "{run:?}");
    }
    assert_eq!(
        typed("report chains.json --format csv", folder.path()).code,
        Some(0)
    );
}
