//! Tests of the gallery: figures with marks, reasons for blank cells, and the order of levels.

use super::super::gallery::{Cell, gallery, latency_curves};
use super::super::{NamedReport, Options, are_several_machines, by_name, machines_in_markdown};
use super::reports;
use report::{Fact, Outcome, Report, VerdictGrade, Withheld};

fn named(name: &str, report: Report) -> NamedReport {
    NamedReport {
        name: name.to_owned(),
        report,
    }
}

/// Returns `report` as the report of a machine with this host name.
fn on_host(report: &Report, host: &str) -> NamedReport {
    let mut report = report.clone();
    report.provenance.host.system.hostname = Fact::known(host.to_owned(), "");
    named("r", report)
}

/// The default profile without its points of a level.
fn without_level(level: &str) -> Report {
    let mut report = reports::default_profile();
    for dataset in &mut report.datasets {
        dataset.points.retain(|p| p.name("level") != Some(level));
    }
    report
}

/// Cell of the only row, in the column with this group and title.
fn cell(report: Report, group: &str, title: &str) -> Cell {
    let gallery = gallery(&[named("r", report)]);
    let here = |h: &super::super::gallery::Heading| h.group.starts_with(group) && h.title == title;
    let place = gallery.headings.iter().position(here).expect("a column");
    gallery.rows[0][place].clone()
}

/// The default profile, with `outcome` applied to the latency of L2.
fn with_l2(outcome: &dyn Fn(&mut Outcome)) -> Report {
    let mut report = reports::default_profile();
    let latency = report
        .datasets
        .iter_mut()
        .filter(|d| d.experiment == "latency");
    let points = latency.flat_map(|d| &mut d.points);
    points
        .filter(|p| p.name("level") == Some("L2"))
        .for_each(|p| outcome(&mut p.outcome));
    report
}

#[test]
fn figures_are_those_of_the_report() {
    let report = reports::default_profile();
    let read = cell(report.clone(), "read, one thread", "L1");
    assert_eq!((read.text.as_str(), read.number), ("612", Some(612.0)));
    assert_eq!(cell(report.clone(), "latency", "DRAM").text, "112");
    assert_eq!(cell(report.clone(), "read, most threads", "L2").text, "610");
    assert_eq!(cell(report, "", "date").text, "2026-01-02");
}

#[test]
fn a_doubtful_figure_has_a_mark_and_a_missing_one_a_reason() {
    let doubtful = with_l2(&|outcome| {
        let measured = reports::judged(reports::measured(5.0), VerdictGrade::Doubtful, &["why"]);
        *outcome = reports::outcome(measured);
    });
    assert_eq!(cell(doubtful, "latency", "L2").text, "5.00?");
    let skipped = with_l2(&|outcome| {
        *outcome = Outcome::Skipped {
            reason: "no time".to_owned(),
        }
    });
    let blank = Cell {
        missing: "no time".to_owned(),
        ..Cell::default()
    };
    assert_eq!(cell(skipped.clone(), "latency", "L2"), blank);
    let page = by_name("gallery").unwrap();
    let page = page.render(&skipped, &Options::default()).unwrap();
    let page = String::from_utf8(page).unwrap();
    let whole = "<td class=\"right\" title=\"no time\" data-sort=\"\"></td>";
    assert!(page.contains(whole), "{page}");
    let empty = cell(reports::empty(), "core to core", "nearest");
    assert!(
        empty.text.is_empty() && !empty.missing.is_empty(),
        "{empty:?}"
    );
}

#[test]
fn levels_are_in_their_order_whoever_has_them() {
    let all = [without_level("L2"), without_level("L3")].map(|report| named("r", report));
    let gallery = gallery(&all);
    let is_latency = |h: &&super::super::gallery::Heading| h.group.starts_with("latency");
    let titles = gallery.headings.iter().filter(is_latency);
    let titles: Vec<&str> = titles.map(|h| h.title.as_str()).collect();
    assert_eq!(titles, ["L1", "L2", "L3", "DRAM"]);
}

#[test]
fn a_machine_is_known_by_its_host_and_processor() {
    let report = reports::default_profile();
    let several = |all: &[NamedReport]| are_several_machines(all);
    assert!(!several(&[on_host(&report, "a"), on_host(&report, "a")]));
    assert!(several(&[on_host(&report, "a"), on_host(&report, "b")]));
    let mut shared = report.clone();
    shared.provenance.host.system.hostname = Fact::unknown("");
    shared.provenance.withheld.push(Withheld {
        part: "host name".to_owned(),
        reason: "private".to_owned(),
    });
    let shared = named("s", shared);
    assert!(several(&[shared.clone(), shared.clone()]));
    let mut table = report.clone();
    table.provenance.clock.rate = None;
    assert!(!several(&[on_host(&report, "a"), named("t", table)]));
}

#[test]
fn a_name_or_a_design_executes_nothing_and_breaks_no_table() {
    let evil = "</script><img src=x onerror=alert(1)>\" | a";
    let mut report = reports::hostile();
    report.provenance.host.cpu.microarchitecture = Fact::known(evil.to_owned(), "");
    report.provenance.host.cpu.model_name = Fact::unknown(evil);
    let all = [named(evil, report.clone()), named("b", report)];
    let page = by_name("gallery").unwrap();
    let page = page.render_all(&all, &Options::default()).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(!page.contains("<img") && !page.contains("<b>"), "{page}");
    assert_eq!(page.matches("<script").count(), 1);
    let text = machines_in_markdown(&all);
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 4);
    let bars = |row: &str| row.replace("\\|", "").matches('|').count();
    assert!(rows.iter().all(|row| bars(row) == bars(rows[0])), "{text}");
}

#[test]
fn a_curve_has_no_rejected_point_and_no_size_twice() {
    let sizes = |report: &Report| latency_curves(report).remove(0).points.len();
    let report = reports::default_profile();
    let whole = sizes(&report);
    assert_eq!(whole, 4);
    let rejected = with_l2(&|outcome| {
        let measured = reports::judged(reports::measured(5.0), VerdictGrade::Rejected, &["why"]);
        *outcome = reports::outcome(measured);
    });
    assert_eq!(sizes(&rejected), whole - 1);
}
