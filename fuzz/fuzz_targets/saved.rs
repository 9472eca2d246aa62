//! Reports and journals: read or refused in a line, read back the same from JSON Lines, shown in
//! every format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use experiments::{Detail, EXPERIMENTS};
use render::{Options, RENDERERS};
use report::{Report, Saved, parse_saved};

fuzz_target!(|data: &[u8]| {
    match parse_saved(data) {
        Err(why) => assert!(!why.is_empty() && why.chars().count() <= 400, "{why}"),
        Ok(saved) => look_at(saved.into_report(), data.len()),
    }
});

/// What `memgauge report` does with it: in the formats that can be read again, and in one of the
/// others by `turn`. All of them for each input leave five inputs a second.
fn look_at(mut report: Report, turn: usize) {
    for dataset in &mut report.datasets {
        if let Some(row) = EXPERIMENTS.iter().find(|row| row.name == dataset.experiment) {
            let experiment = (row.in_profile)(Detail::Brief);
            experiment.finish(dataset);
            let findings = experiment.findings(dataset);
            report.findings.extend(findings);
        }
    }
    let options = [Options::default(), Options { verbose: true, scores: true, ..Options::default() }];
    for (at, renderer) in RENDERERS.iter().enumerate() {
        let is_read_again = ["json", "jsonl"].contains(&renderer.name());
        if !is_read_again && at != turn % RENDERERS.len() {
            continue;
        }
        for options in &options {
            // A format may be unable to express it; that is said, not shown.
            let Ok(bytes) = renderer.render(&report, options) else { continue };
            let _ = renderer.notes(&report, options);
            if is_read_again {
                read_again(renderer.name(), &bytes);
            }
        }
    }
}

/// What was written can be read, and is written the same again.
fn read_again(format: &str, bytes: &[u8]) {
    // A report may have two points of one number, a journal may not.
    let Ok(saved) = parse_saved(bytes) else {
        assert!(format == "jsonl", "a report that was written cannot be read");
        return;
    };
    if let Saved::Report(report) = saved {
        let json = RENDERERS.iter().find(|r| r.name() == "json").expect("a format");
        assert_eq!(json.render(&report, &Options::default()).expect("it was written before"), bytes);
    }
}
