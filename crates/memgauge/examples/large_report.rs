//! Prints the time and memory that reports of many points take in every format.
//!
//! `cargo run --release --example large_report -- REPORT.json 1000000 csv` repeats the points of a
//! report until there are this many.

use host::counter;
use render::{NamedReport, Options, RENDERERS};
use report::{Outcome, Report, read_saved};
use std::io::Write;
use std::path::Path;

/// Makes a report of `points` points: the points of `report` repeated, without their samples.
fn repeated(mut report: Report, points: u64) -> Report {
    report.datasets.sort_by_key(|d| d.points.len());
    let Some(mut dataset) = report.datasets.pop() else {
        return report;
    };
    for point in &mut dataset.points {
        if let Outcome::Measured(measured) = &mut point.outcome {
            measured.samples = Vec::new();
        }
    }
    let own = dataset.points.clone();
    dataset.points = own
        .iter()
        .cycle()
        .take(usize::try_from(points).unwrap_or(usize::MAX))
        .cloned()
        .collect();
    for (id, point) in (0..).zip(&mut dataset.points) {
        point.id = id;
    }
    Report {
        datasets: vec![dataset],
        ..report
    }
}

/// Memory of this process in MB, from the line `name` of its status. NaN if the system does not
/// report it.
fn memory(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .unwrap_or_default();
    let kib: f64 = line
        .split_whitespace()
        .find_map(|word| word.parse().ok())
        .unwrap_or(f64::NAN);
    kib * 1024.0 / 1e6
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [path, points, formats @ ..] = words.as_slice() else {
        return Err("arguments missing: REPORT.json POINTS [FORMAT...]".into());
    };
    let report = repeated(read_saved(Path::new(path))?.into_report(), points.parse()?);
    let reports = [NamedReport {
        name: "large".to_owned(),
        report,
    }];
    for renderer in RENDERERS
        .iter()
        .filter(|r| formats.is_empty() || formats.iter().any(|f| f == r.name()))
    {
        // After this write, Linux counts the peak of memory from zero.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let before = memory("VmRSS:");
        let start = counter::monotonic();
        let bytes = renderer.render_all(&reports, &Options::default())?.len() as f64;
        let seconds = (counter::monotonic() - start).secs();
        let peak = memory("VmHWM:") - before;
        writeln!(
            std::io::stdout(),
            "{}: {points} points, {:.1} MB in {seconds:.2} s, {peak:.0} MB beside the report's \
             {before:.0} MB",
            renderer.name(),
            bytes / 1e6
        )?;
    }
    Ok(())
}
