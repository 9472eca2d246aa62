//! Whole outputs against the files in `tests/golden/`.

use super::super::{Options, RENDERERS, host_table, list_table};
use super::{machine, reports};
use std::path::{Path, PathBuf};

/// Every output that is kept, by file name.
fn outputs() -> Vec<(String, Vec<u8>)> {
    let saved = Options { saved_to: Some("memgauge-report-1.json".into()), ..Options::default() };
    let cases = [
        ("default", reports::default_profile()),
        ("latency", reports::single_experiment()),
        ("empty", reports::empty()),
        ("interrupted", reports::interrupted()),
        ("matrix", reports::matrix(3)),
        ("matrix-large", reports::matrix(24)),
    ];
    let mut outputs = Vec::new();
    for (case, report) in &cases {
        for renderer in RENDERERS {
            // Pictures and pages are looked at, and tested by what is in them.
            if ["svg", "png", "html"].contains(&renderer.name()) {
                continue;
            }
            // Long, and nothing that the default report does not show already.
            let others = ["table", "markdown"];
            let long = renderer.name().starts_with("json") && *case != "latency";
            if long || case.starts_with("matrix") && !others.contains(&renderer.name()) {
                continue;
            }
            outputs.push((format!("{case}.{}", renderer.name()), renderer.render(report, &saved).unwrap()));
        }
    }
    let scores = Options { scores: true, ..Options::default() };
    let sc_membench = super::super::by_name("sc-membench").unwrap();
    outputs.push(("default.scores".into(), sc_membench.notes(&cases[0].1, &scores).unwrap().into_bytes()));
    let verbose = Options { verbose: true, width: Some(72), ..Options::default() };
    outputs.push(("default-verbose-72.table".into(), RENDERERS[0].render(&cases[0].1, &verbose).unwrap()));
    for (case, name) in [(0, "bandwidth"), (1, "latency"), (4, "core-to-core")] {
        let options = Options { chart: Some(name.into()), ..Options::default() };
        outputs
            .push((format!("{}.{name}.chart", cases[case].0), RENDERERS[0].render(&cases[case].1, &options).unwrap()));
    }
    for format in super::super::COMPARISON_FORMATS.iter().filter(|f| !["json", "html"].contains(&f.name)) {
        let bytes = format.render(&[super::comparisons::slower()], &[], &Options::default()).unwrap();
        outputs.push((format!("slower.comparison.{}", format.name), bytes));
    }
    outputs.push(("host.txt".into(), host_table(&machine::host()).into_bytes()));
    let rows = [["read-sse2", "16 B loads"], ["copy-avx512", "64 B loads and stores"]];
    let rows: Vec<Vec<String>> = rows.iter().map(|r| r.iter().map(|c| (*c).to_owned()).collect()).collect();
    outputs.push(("list.txt".into(), list_table(&["kernel", "what it does"], &rows).into_bytes()));
    outputs
}

/// Where the files are.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

#[test]
fn outputs_are_as_kept() {
    for (name, output) in outputs() {
        let kept = std::fs::read(folder().join(&name)).unwrap_or_default();
        let (output, kept) = (String::from_utf8_lossy(&output), String::from_utf8_lossy(&kept));
        let first = output.lines().zip(kept.lines()).position(|(a, b)| a != b);
        let line = first.unwrap_or_else(|| output.lines().count().min(kept.lines().count()));
        assert!(
            output == kept,
            "{name} differs from line {} on\n now: {:?}\nkept: {:?}\nthe module's head says how to renew it",
            line + 1,
            output.lines().nth(line),
            kept.lines().nth(line)
        );
    }
}

#[test]
fn no_file_is_kept_without_an_output() {
    let names: Vec<String> = outputs().into_iter().map(|(name, _)| name).collect();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(names.contains(&name), "{name}");
    }
}

#[test]
#[ignore = "writes the files that the other tests compare with"]
fn renew_golden_files() {
    std::fs::create_dir_all(folder()).unwrap();
    for (name, output) in outputs() {
        std::fs::write(folder().join(name), output).unwrap();
    }
}
