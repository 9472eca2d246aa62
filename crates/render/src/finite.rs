//! Removes figures that are not finite, so that no format prints NaN or infinity.

use super::NamedReport;
use report::{
    Dataset, Fact, Finding, HostFacts, Measured, Outcome, PlacementStratum, Point, Report, Summary,
};
use std::borrow::Cow;

/// Returns `report` itself if all of its measured values are finite, otherwise a repaired copy.
///
/// A point whose summary is not finite counts as failed. Optional figures that are not finite
/// become absent.
pub(super) fn finite(report: &Report) -> Cow<'_, Report> {
    if is_finite(report) {
        return Cow::Borrowed(report);
    }
    let mut report = report.clone();
    report
        .datasets
        .iter_mut()
        .flat_map(|d: &mut Dataset| d.points.iter_mut())
        .for_each(repair_point);
    repair_rest(&mut report);
    Cow::Owned(report)
}

/// Like [`finite`], for several reports.
pub(super) fn all(reports: &[NamedReport]) -> Cow<'_, [NamedReport]> {
    if reports.iter().all(|named| is_finite(&named.report)) {
        return Cow::Borrowed(reports);
    }
    let finite = |named: &NamedReport| NamedReport {
        report: finite(&named.report).into_owned(),
        name: named.name.clone(),
    };
    reports.iter().map(finite).collect()
}

/// True if no figure of the report has to be repaired.
fn is_finite(report: &Report) -> bool {
    let rest = Report {
        datasets: Vec::new(),
        schema_version: report.schema_version,
        status: report.status,
        verdict: report.verdict.clone(),
        provenance: report.provenance.clone(),
        plan: report.plan.clone(),
        findings: report.findings.clone(),
        health: report.health.clone(),
    };
    let mut repaired = rest.clone();
    repair_rest(&mut repaired);
    // NaN is not equal to itself, so the comparison is false if a NaN is left.
    repaired == rest && report.datasets.iter().flat_map(|d| &d.points).all(is_whole)
}

/// List of all optional figures of the evidence, as shared or mutable references.
macro_rules! figures {
    ($evidence:expr, $($reference:tt)+) => {
        [
            $($reference)+ $evidence.pages.granted_share,
            $($reference)+ $evidence.pages.resident_share,
            $($reference)+ $evidence.gaps_ns,
            $($reference)+ $evidence.longest_gap_ns,
            $($reference)+ $evidence.system_activity.stolen_ns,
            $($reference)+ $evidence.system_activity.throttled_ns,
            $($reference)+ $evidence.system_activity.others_ns,
            $($reference)+ $evidence.system_activity.cpu_pressure_ns,
            $($reference)+ $evidence.system_activity.memory_pressure_ns,
            $($reference)+ $evidence.system_activity.highest_celsius,
            $($reference)+ $evidence.core_hz_baseline,
            $($reference)+ $evidence.core_hz_median,
            $($reference)+ $evidence.core_hz_base,
            $($reference)+ $evidence.core_hz_least,
            $($reference)+ $evidence.core_hz_most,
            $($reference)+ $evidence.clock_drift,
            $($reference)+ $evidence.core_hz_before,
            $($reference)+ $evidence.core_hz_after,
            $($reference)+ $evidence.clock_error,
            $($reference)+ $evidence.relative_spread,
        ]
    };
}

/// True if [`repair_point`] would leave the point unchanged.
fn is_whole(point: &Point) -> bool {
    let Outcome::Measured(measured) = &point.outcome else {
        return true;
    };
    let mut summary = measured.summary;
    wild_figure(&summary).is_none()
        && spread(&mut summary)
            .into_iter()
            .flatten()
            .all(|f| f.is_finite())
        && measured.also.values().all(|v| v.is_finite())
        && measured
            .samples
            .iter()
            .all(|s| s.value.is_finite() && s.elapsed_ns.is_finite())
        && measured.limit.as_ref().is_none_or(|l| l.value.is_finite())
        && measured
            .evidence
            .vcpu_placement
            .as_ref()
            .is_none_or(|evidence| evidence.strata.iter().all(is_finite_stratum))
        && measured
            .evidence
            .smt_interference
            .as_ref()
            .is_none_or(|c| (c.baseline_ipc + c.lowest_ipc).is_finite())
        && figures!(measured.evidence, &)
            .into_iter()
            .flatten()
            .all(|f| f.is_finite())
}

/// Removes figures that are not finite from all parts of a report except its points.
fn repair_rest(report: &mut Report) {
    for Finding { values, .. } in &mut report.findings {
        values.retain(|_, v| v.is_finite());
    }
    drop_wild(&mut report.plan.real, |n| n.0);
    let clock = &mut report.provenance.clock;
    drop_wild(&mut clock.rate, |hz| hz.0);
    drop_wild(&mut clock.error, |e| *e);
    drop_wild(&mut clock.resolution, |n| n.0);
    drop_wild(&mut clock.overhead, |n| n.0);
    drop_wild(&mut clock.core, |hz| hz.0);
    repair_host(&mut report.provenance.host);
}

/// Path of the first required figure that is not finite, so that JSON cannot express it. `None` if
/// there is none.
pub(super) fn unwritable(report: &Report) -> Option<&'static str> {
    let required = [
        ("plan.budget", report.plan.budget.0),
        ("plan.planned", report.plan.planned.0),
    ];
    required
        .iter()
        .find(|(_, value)| !value.is_finite())
        .map(|(name, _)| *name)
}

/// Makes a point failed if its summary is not finite. Otherwise removes other figures that are not
/// finite.
fn repair_point(point: &mut Point) {
    let Outcome::Measured(measured) = &mut point.outcome else {
        return;
    };
    match wild_figure(&measured.summary) {
        Some(name) => {
            let reason = format!("the samples gave no finite {name}");
            point.outcome = Outcome::Failed { reason };
        }
        None => repair_measured(measured),
    }
}

/// Name of the first figure in a summary that is not finite; `None` if all are finite.
fn wild_figure(s: &Summary) -> Option<&'static str> {
    let figures = [
        ("median", s.median),
        ("best", s.best),
        ("ci_low", s.ci_low),
        ("ci_high", s.ci_high),
        ("confidence", s.confidence),
        ("mad", s.mad.unwrap_or(0.0)),
    ];
    figures
        .iter()
        .find(|(_, value)| !value.is_finite())
        .map(|(name, _)| *name)
}

/// References to the optional figures of a summary.
fn spread(summary: &mut Summary) -> [&mut Option<f64>; 3] {
    [
        &mut summary.mean,
        &mut summary.standard_deviation,
        &mut summary.coefficient_of_variation,
    ]
}

/// True if all figures of a stratum are finite.
fn is_finite_stratum(stratum: &PlacementStratum) -> bool {
    let figures = [
        stratum.median,
        stratum.ci_low,
        stratum.ci_high,
        stratum.confidence,
    ];
    figures
        .into_iter()
        .flatten()
        .chain([stratum.share, stratum.round_trip_ns])
        .all(f64::is_finite)
}

/// Removes optional figures, samples and strata that are not finite.
fn repair_measured(measured: &mut Measured) {
    measured.also.retain(|_, v| v.is_finite());
    for figure in spread(&mut measured.summary) {
        drop_wild(figure, |f| *f);
    }
    measured
        .samples
        .retain(|s| s.value.is_finite() && s.elapsed_ns.is_finite());
    drop_wild(&mut measured.limit, |l| l.value);
    if let Some(evidence) = &mut measured.evidence.vcpu_placement {
        evidence.strata.retain(is_finite_stratum);
    }
    drop_wild(&mut measured.evidence.smt_interference, |c| {
        c.baseline_ipc + c.lowest_ipc
    });
    for figure in figures!(measured.evidence, &mut) {
        drop_wild(figure, |f| *f);
    }
}

/// Makes facts of the machine unknown if their numbers are not finite.
fn repair_host(host: &mut HostFacts) {
    fact(&mut host.cpu.counter, |hz| hz.0);
    fact(&mut host.system.cpu_quota, |q| *q);
    fact(&mut host.environment.load, |l| *l);
    for gpu in &mut host.gpus {
        fact(&mut gpu.clock, |hz| hz.0);
        fact(&mut gpu.memory_clock, |hz| hz.0);
        fact(&mut gpu.power_limit, |watts| *watts);
        fact(&mut gpu.link, |link| {
            link.current.gigatransfers + link.highest.gigatransfers
        });
    }
}

/// Makes `fact` unknown if its number is not finite.
fn fact<T>(fact: &mut Fact<T>, number: impl Fn(&T) -> f64) {
    if fact.value.as_ref().is_some_and(|v| !number(v).is_finite()) {
        *fact = Fact::unknown(format!("not a finite number: {}", fact.source));
    }
}

/// Sets `slot` to `None` if its number is not finite.
fn drop_wild<T>(slot: &mut Option<T>, number: impl Fn(&T) -> f64) {
    if slot.as_ref().is_some_and(|v| !number(v).is_finite()) {
        *slot = None;
    }
}
