//! Tests that every format shows every report, and that the same seed gives the same report.

use super::lab::{self, Notes, Ran, bandwidth, latency, profile, request, run_with};
use super::machines;
use engine::Work;
use experiments::{Detail, EXPERIMENTS};
use memgauge::plan::Request;
use render::{Options, RENDERERS, SavedReport, by_name, schema};
use report::{JournalLine, Report};
use units::Nanos;

/// Reports of every kind: all machines, noise, an interruption, no points.
fn reports() -> Vec<(String, Report)> {
    let mut all: Vec<(String, Report)> = Vec::new();
    let mut add = |name: &str, ran: Ran| all.push((name.to_owned(), ran.report));
    for on in machines::all() {
        add(on.name, lab::run(&on, profile(Detail::Brief, &on)));
    }
    let plain = machines::plain();
    let mut noisy = plain.clone();
    noisy.model.noise.jitter = 0.1;
    noisy.model.noise.spike_every = 3;
    noisy.model.noise.steal = 0.1;
    noisy.model.noise.drift = 0.1;
    noisy.model.granted = 0.4;
    add("noise", lab::run(&noisy, profile(Detail::Brief, &noisy)));
    for stop in [0.0, 0.1e9, 1e9, 3e9] {
        add(
            "interrupted",
            run_with(
                &plain,
                profile(Detail::Levels, &plain),
                Notes::default(),
                Some(Nanos(stop)),
            ),
        );
    }
    for budget in [1e9, 0.3e9] {
        add(
            "budget",
            lab::run(
                &plain,
                Request {
                    budget: Nanos(budget),
                    ..profile(Detail::Levels, &plain)
                },
            ),
        );
    }
    add("sweep", lab::run(&plain, profile(Detail::Sweep, &plain)));
    add(
        "repeats",
        lab::run(
            &plain,
            Request {
                repeat: 3,
                ..profile(Detail::Brief, &plain)
            },
        ),
    );
    add(
        "one experiment",
        lab::run(
            &plain,
            request(
                vec![bandwidth("--sizes 4KiB --width 64 --ops read,copy-nt")],
                &plain,
            ),
        ),
    );
    add(
        "strides",
        lab::run(
            &plain,
            request(
                vec![latency("--sizes 1MiB --stride 64,4096 --cpu 0,1")],
                &plain,
            ),
        ),
    );
    add("nothing", lab::run(&plain, request(Vec::new(), &plain)));
    all
}

#[test]
fn every_format_shows_every_report() {
    let schema: serde_json::Value = serde_json::from_str(schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (place, (name, report)) in reports().into_iter().enumerate() {
        // Without optimisation a picture takes seconds, so only the first report is drawn here. The
        // tests of the renderers draw all pictures.
        let drawn = |name: &str| place == 0 || !["svg", "png"].contains(&name);
        for renderer in RENDERERS.iter().filter(|r| drawn(r.name())) {
            let options = Options {
                scores: true,
                verbose: true,
                ..Options::default()
            };
            // The other formats ignore these options.
            let twice = ["table", "markdown", "sc-membench"].contains(&renderer.name());
            for options in [Options::default(), options]
                .into_iter()
                .take(if twice { 2 } else { 1 })
            {
                let bytes = renderer
                    .render(&report, &options)
                    .unwrap_or_else(|e| panic!("{name}: {e}"));
                if !renderer.is_text() {
                    assert!(!bytes.is_empty(), "{name} as {}", renderer.name());
                    continue;
                }
                // The rest of the page is packed data, which is not text of the report.
                let text = String::from_utf8(bytes).unwrap();
                let text = text.split("<script type=\"text/plain\"").next().unwrap();
                assert!(text.ends_with('\n'), "{name} as {}", renderer.name());
                for word in ["NaN", "inf ", " nan"] {
                    assert!(
                        !text.contains(word),
                        "{name} as {}: {word}",
                        renderer.name()
                    );
                }
                renderer
                    .notes(&report, &options)
                    .unwrap_or_else(|e| panic!("{name}: {e}"));
            }
        }
        let json = by_name("json")
            .unwrap()
            .render(&report, &Options::default())
            .unwrap();
        assert_eq!(
            serde_json::from_slice::<Report>(&json).unwrap(),
            report,
            "{name}"
        );
        let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let complaints: Vec<String> = validator
            .iter_errors(&value)
            .map(|e| e.to_string())
            .collect();
        assert!(complaints.is_empty(), "{name}: {complaints:?}");
    }
}

#[test]
fn a_report_as_lines_has_the_points_of_the_journal() {
    let on = machines::plain();
    let ran = lab::run(&on, profile(Detail::Brief, &on));
    let lines = by_name("jsonl")
        .unwrap()
        .render(&ran.report, &Options::default())
        .unwrap();
    let points = |text: &str| -> Vec<_> {
        let point = |line: &str| match serde_json::from_str(line).unwrap() {
            JournalLine::Point(p) if p.finished => Some(p.point),
            _ => None,
        };
        let mut points: Vec<_> = text.lines().filter_map(point).collect();
        points.sort_by_key(|p| p.id);
        points
    };
    assert_eq!(
        points(&String::from_utf8(lines).unwrap()),
        points(&ran.notes.journal().join("\n"))
    );
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let mut on = machines::hybrid();
    on.model.noise.jitter = 0.05;
    on.model.noise.spike_every = 9;
    let render = |seed: u64| {
        let ran = lab::run(
            &on,
            Request {
                seed,
                ..profile(Detail::Brief, &on)
            },
        );
        by_name("json")
            .unwrap()
            .render(&ran.report, &Options::default())
            .unwrap()
    };
    assert!(render(1) == render(1));
    assert!(render(1) != render(2));
}

#[test]
fn chains_follow_the_seed() {
    let on = machines::plain();
    let seeds = |seed: u64| -> Vec<u64> {
        let plan = lab::plan(
            &on,
            Request {
                seed,
                ..profile(Detail::Sweep, &on)
            },
        )
        .unwrap();
        let chain = |work: &Work| match work {
            Work::Chase(w) => Some(w.seed),
            _ => None,
        };
        plan.points
            .iter()
            .filter_map(|p| chain(p.work.as_ref().ok()?))
            .collect()
    };
    let one = seeds(1);
    let two = seeds(2);
    assert_eq!(one, seeds(1));
    assert!(one.len() > 10 && one.iter().zip(&two).all(|(a, b)| a != b));
}

/// The screen has levels, operations, trust and findings of a machine with two CPUs, quiet and
/// busy.
#[test]
fn the_default_screen_has_at_most_24_lines() {
    let quiet = machines::plain();
    let mut busy = quiet.clone();
    busy.model.noise.jitter = 0.2;
    busy.model.noise.spike_every = 2;
    busy.model.noise.steal = 0.1;
    busy.model.granted = 0.4;
    for on in [quiet, busy] {
        let in_default = EXPERIMENTS
            .iter()
            .filter(|row| row.least.is_some_and(|least| least <= Detail::Levels));
        let experiments = in_default.map(|row| (row.in_profile)(Detail::Levels));
        let requested = Request {
            profile: "default".to_owned(),
            ..request(experiments.collect(), &on)
        };
        let report = lab::run(&on, requested).report;
        let saved = SavedReport {
            name: "last".to_owned(),
            is_readable: true,
        };
        for width in [80, 100] {
            let options = Options {
                width: Some(width),
                saved_to: Some(saved.clone()),
                bars: true,
                ..Options::default()
            };
            let screen = by_name("table")
                .expect("a format")
                .render(&report, &options);
            let screen = String::from_utf8(screen.expect("a screen")).expect("text");
            let most = if width == 100 { 24 } else { 30 };
            assert!(screen.lines().count() <= most, "{width}:\n{screen}");
            let tables = screen.lines().filter(|line| line.starts_with("level"));
            assert_eq!(tables.count(), 1, "{width}:\n{screen}");
            assert!(!screen.contains('…'), "{width}:\n{screen}");
        }
    }
}
