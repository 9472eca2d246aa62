//! Summary with the formulas of sc-membench: peaks, weighted averages, three scores, and warnings
//! about the scores.

use report::{
    Report, RunStatus, SC_MEMBENCH_OPERATIONS as OPERATIONS, ScMembenchRow, VerdictGrade,
};
use std::collections::BTreeSet;
use std::fmt::Write;
use units::{Bytes, counted, fixed};

/// Bytes of the megabyte that sc-membench uses.
pub(super) const MIB: f64 = 1_048_576.0;

/// Least number of sizes in the default sweep of sc-membench, if there are three levels of cache.
const SIZES_OF_A_SWEEP: usize = 4;

/// Text with the scores for standard error, in whole lines.
pub(super) fn scores(report: &Report, rows: &[ScMembenchRow]) -> String {
    let threads = rows
        .iter()
        .filter(|row| !row.is_latency())
        .map(|row| row.threads)
        .max();
    let bandwidth = OPERATIONS[..3].iter();
    let peaks: Vec<(&str, f64, f64)> = bandwidth
        .filter_map(|name| {
            let of_operation = rows
                .iter()
                .filter(|row| row.operation == *name && Some(row.threads) == threads);
            let (peak, average) = peak_and_average(of_operation)?;
            Some((*name, peak, average))
        })
        .collect();
    let latency = rows
        .iter()
        .rev()
        .find(|row| row.is_latency())
        .map(|row| (row.kib.saturating_mul(1024), row.value));
    let mut out = String::from("scores by sc-membench's formulas\n");
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "  {:<10}{:>16}{:>24}",
        "operation", "peak MB/s", "weighted average MB/s"
    );
    for (name, peak, average) in &peaks {
        let _ = writeln!(
            out,
            "  {name:<10}{:>16}{:>24}",
            fixed(*peak, 1),
            fixed(*average, 1)
        );
    }
    if let Some((size, ns)) = latency {
        let _ = writeln!(
            out,
            "  best latency: {} ns ({}) at {} buffer",
            fixed(ns, 2),
            place(size),
            Bytes(size)
        );
    }
    let mean =
        (!peaks.is_empty()).then(|| peaks.iter().map(|p| p.1).sum::<f64>() / peaks.len() as f64);
    out.push_str(&three_scores(mean, latency.map(|l| l.1)));
    for warning in warnings(report, rows, threads) {
        let _ = writeln!(out, "  warning: {warning}");
    }
    out
}

/// Highest bandwidth, and the mean of all bandwidths weighted by the logarithm of the size in KiB.
/// Both are in MiB/s. `None` without rows.
fn peak_and_average<'a>(rows: impl Iterator<Item = &'a ScMembenchRow>) -> Option<(f64, f64)> {
    let mut peak = None::<f64>;
    let mut sum = 0.0;
    let mut weights = 0.0;
    for row in rows {
        let mib_s = row.value / MIB;
        let weight = (row.kib as f64 + 1.0).log2();
        peak = Some(peak.map_or(mib_s, |p| p.max(mib_s)));
        sum += weight * mib_s;
        weights += weight;
    }
    let peak = peak?;
    Some((peak, if weights > 0.0 { sum / weights } else { peak }))
}

/// Name of the level that sc-membench assigns to a chain of `size` bytes.
fn place(size: u64) -> &'static str {
    match size {
        s if s >= 64 << 20 => "RAM",
        s if s >= 1 << 20 => "L3 cache/RAM",
        _ => "L2/L3 cache",
    }
}

/// Text with the scores. A score is left out if there are too few rows for it.
fn three_scores(mean_peak: Option<f64>, latency_ns: Option<f64>) -> String {
    let bandwidth = mean_peak.map(|mean| mean / 1000.0);
    let latency = latency_ns.filter(|ns| *ns > 0.0).map(|ns| 1000.0 / ns);
    let mut out = String::new();
    if let Some(score) = bandwidth {
        out.push_str(&format!("  bandwidth score: {}\n", fixed(score, 1)));
    }
    if let Some(score) = latency {
        out.push_str(&format!("  latency score: {}\n", fixed(score, 1)));
    }
    match (bandwidth, latency) {
        (Some(b), Some(l)) => out.push_str(&format!(
            "  combined score: {}\n",
            fixed((b * l).max(0.0).sqrt() * 100.0, 0)
        )),
        (Some(b), None) => {
            out.push_str(&format!(
                "  combined score: {} (bandwidth only, no latency data)\n",
                fixed(b * 100.0, 0)
            ));
        }
        _ => out.push_str("  no combined score: no bandwidth was measured\n"),
    }
    out
}

/// Reasons why the scores may not be comparable. Conditions of sc-membench come before conditions
/// of memgauge.
fn warnings(report: &Report, rows: &[ScMembenchRow], threads: Option<u64>) -> Vec<String> {
    let mut warnings = Vec::new();
    let allowed = report.provenance.host.topology.allowed().len();
    if let Some(threads) = threads.filter(|t| usize::try_from(*t) != Ok(allowed)) {
        let threads = usize::try_from(threads).unwrap_or(usize::MAX);
        let text = format!(
            "measured with {}, not with all {allowed} CPUs",
            counted(threads, "thread")
        );
        warnings.push(format!(
            "{text}; scores compare only between equal thread counts"
        ));
    }
    if report.status == RunStatus::Interrupted || !report.plan.shortened.is_empty() {
        warnings.push(
            "the run was cut short or limited in time; scores compare only between full sweeps"
                .to_owned(),
        );
    }
    let sizes: BTreeSet<u64> = rows.iter().map(|row| row.kib).collect();
    if sizes.len() < SIZES_OF_A_SWEEP {
        warnings.push(format!(
            "only {}; scores compare only between full sweeps",
            counted(sizes.len(), "size")
        ));
    }
    let has_rows = |name: &&str| {
        let mut rows = rows.iter().filter(|row| row.operation == *name);
        rows.any(|row| row.is_latency() || Some(row.threads) == threads)
    };
    let missing: Vec<&str> = OPERATIONS
        .into_iter()
        .filter(|name| !has_rows(name))
        .collect();
    if !missing.is_empty() {
        warnings.push(format!(
            "not measured: {}; scores rest on the rest",
            missing.join(", ")
        ));
    }
    let points = report
        .datasets
        .iter()
        .flat_map(|d| &d.points)
        .filter_map(|p| p.outcome.measured());
    let rejected = points
        .filter(|m| m.verdict.grade == VerdictGrade::Rejected)
        .count();
    if rejected > 0 {
        warnings.push(format!(
            "left out as rejected: {}; --format table says why",
            counted(rejected, "point")
        ));
    }
    warnings.push(
        "kernels are memgauge's, not sc-membench's; compare with its own scores with care"
            .to_owned(),
    );
    warnings
}
