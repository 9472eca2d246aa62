//! Every renderer shows or tells every point, whatever became of it.

use super::super::{NamedReport, Options, RENDERERS, Renderer};
use super::reports;
use crate::results::{Outcome, Report, ReportVerdict, VerdictGrade};

/// Reports in which all points are solid, each with the point that gets another end.
fn solid_reports() -> Vec<(&'static str, Report, usize)> {
    let mut sweep = reports::single_experiment();
    sweep.datasets[0].points.pop();
    let all = [("hierarchy", reports::default_profile(), 9), ("sweep", sweep, 1), ("matrix", reports::matrix(3), 4)];
    all.into_iter()
        .map(|(name, mut report, at)| {
            for point in report.datasets.iter_mut().flat_map(|d| &mut d.points) {
                point.outcome = reports::outcome(reports::measured(10.0 + point.id as f64));
            }
            report.verdict = ReportVerdict::of(&report.datasets);
            (name, report, at)
        })
        .collect()
}

/// Every end but a solid number, with what a text that tells it has one of.
fn ends() -> Vec<(Outcome, [&'static str; 2])> {
    let judged = |grade| reports::outcome(reports::judged(reports::measured(700.0), grade, &["strange"]));
    let reason = || "why so".to_owned();
    vec![
        (judged(VerdictGrade::Doubtful), ["doubtful", "strange"]),
        (judged(VerdictGrade::Rejected), ["rejected", "strange"]),
        (Outcome::Skipped { reason: reason() }, ["skipped", "why so"]),
        (Outcome::Unsupported { reason: reason() }, ["unsupported", "why so"]),
        (Outcome::Failed { reason: reason() }, ["failed", "why so"]),
        (Outcome::Interrupted { reason: reason() }, ["interrupted", "why so"]),
        // What is not finite counts as failed.
        (reports::outcome(reports::measured(f64::NAN)), ["failed", "finite"]),
    ]
}

/// What is shown of a report alone, and beside another one where the format shows several; notes are a part of it.
fn shown(renderer: &dyn Renderer, report: &Report, options: &Options) -> Vec<u8> {
    let mut shown = renderer.render(report, options).unwrap();
    shown.extend(renderer.notes(report, options).unwrap().bytes());
    shown
}

/// A page without the data of its scripts, which nobody reads.
fn visible(name: &str, shown: &[u8]) -> String {
    let text = String::from_utf8_lossy(shown).into_owned();
    let start = "<script type=\"application/json\"";
    if name == "html" { text.split(start).next().unwrap_or_default().to_owned() } else { text }
}

#[test]
fn no_renderer_keeps_silent_about_a_point() {
    let terminal = |charts: &[&str]| Options {
        width: Some(100),
        charts: charts.iter().map(|c| (*c).to_owned()).collect(),
        ..Options::default()
    };
    for (case, solid, at) in solid_reports() {
        let mut without = solid.clone();
        without.datasets[0].points.remove(at);
        for renderer in RENDERERS {
            let name = renderer.name();
            let all: &[&str] = if name == "table" { &["all"] } else { &[] };
            let options: &[Options] = if all.is_empty() { &[terminal(&[])] } else { &[terminal(&[]), terminal(all)] };
            for options in options {
                // The form has no place for such points, and says so of all of them.
                let nothing = name == "sc-membench" && renderer.shows_nothing(&solid, options);
                let [without, solid_shown] = [&without, &solid].map(|report| shown(*renderer, report, options));
                for (end, words) in ends() {
                    let context = format!("{case}, {words:?} as {name} {:?}", options.charts);
                    let mut with = solid.clone();
                    with.datasets[0].points[at].outcome = end;
                    let with = shown(*renderer, &with, options);
                    assert!(with != without, "{context} is as if the point were not there");
                    if nothing {
                        continue;
                    }
                    assert!(with != solid_shown, "{context} is as if the point were solid");
                    let text = visible(name, &with);
                    let is_told = words.iter().any(|word| text.contains(word));
                    assert!(is_told || ["svg", "png"].contains(&name), "{context}: {text}");
                }
            }
        }
    }
}

#[test]
fn reports_drawn_together_tell_whose_points_are_missing() {
    let (_, solid, at) = solid_reports().swap_remove(1);
    let named = |name: &str, report: &Report| NamedReport { name: name.into(), report: report.clone() };
    let mut with = solid.clone();
    with.datasets[0].points[at].outcome = Outcome::Failed { reason: "why so".into() };
    let options = Options { charts: vec!["latency".into()], ..Options::default() };
    for renderer in RENDERERS.iter().filter(|r| ["table", "html"].contains(&r.name())) {
        let bytes = renderer.render_all(&[named("good", &solid), named("poor", &with)], &options).unwrap();
        let text = visible(renderer.name(), &bytes);
        assert!(text.contains("poor: 3 points: 1 without a number (1 failed)"), "{text}");
        assert!(!text.contains("good: 3 points"), "{text}");
    }
}

#[test]
fn one_thing_is_singular_in_every_format() {
    let mut report = reports::one_point();
    report.plan.points = 1;
    report.verdict = ReportVerdict::of(&report.datasets);
    let mut doubtful = report.clone();
    for point in doubtful.datasets.iter_mut().flat_map(|d| &mut d.points) {
        point.outcome = reports::outcome(reports::judged(reports::measured(1.0), VerdictGrade::Doubtful, &["strange"]));
        if let Outcome::Measured(measured) = &mut point.outcome {
            measured.summary.clean_samples = 1;
        }
    }
    doubtful.verdict = ReportVerdict::of(&doubtful.datasets);
    let nouns = ["points", "reasons", "samples", "rounds", "threads", "rows", "charts", "reports", "sizes", "kernels"];
    for report in [report, doubtful] {
        for renderer in RENDERERS.iter().filter(|r| r.is_text() && !["json", "jsonl", "csv"].contains(&r.name())) {
            for charts in [vec![], vec!["all".to_owned()]] {
                let options = Options { charts, scores: true, ..Options::default() };
                let bytes = shown(*renderer, &report, &options);
                let text = String::from_utf8(bytes).unwrap();
                let text = text.split("<script type=\"text/plain\"").next().unwrap();
                let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '.').collect();
                let wrong = words.windows(3).find(|w| {
                    w[0] == "1"
                        && (nouns.contains(&w[1]) || (["more", "other"].contains(&w[1]) && nouns.contains(&w[2])))
                });
                assert!(wrong.is_none(), "{}: {wrong:?}", renderer.name());
            }
        }
    }
}
