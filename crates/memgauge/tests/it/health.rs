//! Tests `memgauge health` as a scheduler starts it.

use crate::helper::{Finished, LIMIT, finish, folder, json, names, program, put, read, typed};
use serde_json::Value;
use std::fs::File;
use std::path::Path;

/// The shortest health check. Its figures are real, but too few for anything but these tests.
const SHORT: &str = "health --samples 3 --budget 60s";

/// Node and job of a process that Slurm started.
const SLURM: &[(&str, &str)] = &[
    ("SLURM_JOB_ID", "17"),
    ("SLURMD_NODENAME", "n3"),
    ("SLURM_PROCID", "5"),
];

/// Exit codes.
const DONE: i32 = 0;
const USAGE: i32 = 2;
const INCOMPLETE: i32 = 3;
const SLOW: i32 = 4;

/// Runs the program in `folder`, which is also the temporary folder, with some variables.
fn launched(words: &str, folder: &Path, variables: &[(&str, &str)]) -> Finished {
    let mut command = program(folder);
    command
        .args(words.split_whitespace())
        .env("TMPDIR", folder)
        .envs(variables.iter().copied());
    finish(command, LIMIT)
}

fn run(words: &str, folder: &Path, variables: &[(&str, &str)], code: i32) -> Finished {
    let run = launched(words, folder, variables);
    assert_eq!(run.code, Some(code), "{words}: {run:?}");
    assert!(!run.panicked(), "{run:?}");
    run
}

/// Writes expectations that are `factor` times as fast as the expectations in `folder`.
fn scaled(folder: &Path, name: &str, factor: f64) {
    fn scale(value: &mut Value, factor: f64) {
        match value {
            Value::Array(all) => all.iter_mut().for_each(|one| scale(one, factor)),
            Value::Object(fields) => {
                let is_rate = fields.get("higher_is_better").and_then(Value::as_bool);
                for side in ["slow", "fast"] {
                    let Some(median) = fields.get_mut(side).and_then(|s| s.get_mut("median"))
                    else {
                        continue;
                    };
                    let own = median.as_f64().expect("a number");
                    *median = match is_rate {
                        Some(true) => (own * factor).into(),
                        _ => (own / factor).into(),
                    };
                }
                fields.values_mut().for_each(|one| scale(one, factor));
            }
            _ => {}
        }
    }
    let mut expected = json(&read(&folder.join("expected.json")));
    scale(&mut expected, factor);
    put(folder, name, expected.to_string().as_bytes());
}

#[test]
fn a_machine_is_judged_by_what_is_expected_of_it() {
    let folder = folder();
    let place = folder.path();
    let first = run(&format!("{SHORT} -o own.json"), place, SLURM, DONE);
    assert_eq!(first.stdout.lines().count(), 1, "{first:?}");
    assert!(first.stdout.starts_with("n3: not judged: "), "{first:?}");
    let own = read(&place.join("own.json"));
    let report = json(&own);
    assert_eq!(report["health"]["state"], "not-judged");
    assert_eq!(report["health"]["method"], "health-1");
    let launch = &report["provenance"]["launch"];
    assert_eq!(launch["launcher"], "slurm");
    assert_eq!(launch["rank"], 5);
    std::fs::create_dir(place.join("good")).expect("a folder");
    for name in ["n1", "n2", "n3"] {
        let text = own.replace("\"n3\"", &format!("\"{name}\""));
        put(place, &format!("good/{name}.json"), text.as_bytes());
    }
    let learned = "fleet good --least-nodes 3 --write-expectations expected.json";
    run(learned, place, &[], DONE);
    scaled(place, "fast.json", 100.0);
    scaled(place, "slow.json", 0.01);

    let slow = run(
        &format!("{SHORT} --expect fast.json -o s.json"),
        place,
        SLURM,
        SLOW,
    );
    assert!(slow.stdout.starts_with("n3: slow: "), "{slow:?}");
    let health = &json(&read(&place.join("s.json")))["health"];
    assert_eq!(health["state"], "slow");
    assert_eq!(health["digest"], report["health"]["digest"]);
    let figures = health["slower"].as_array().expect("figures");
    let is_slow = |figure: &&Value| figure["is_slow"] == true;
    let confirmed: Vec<&Value> = figures.iter().filter(is_slow).collect();
    assert!(!confirmed.is_empty(), "{health}");
    assert!(
        confirmed.iter().all(|figure| figure["again"].is_f64()),
        "{health}"
    );

    let words = format!("{SHORT} --expect slow.json -o f.json");
    let fast = run(&words, place, SLURM, DONE);
    assert!(fast.stdout.starts_with("n3: unusual: "), "{fast:?}");

    let unknown = expectations_of_other_hardware(place);
    let words = format!("{SHORT} --expect {unknown} -o u.json");
    let unknown = run(&words, place, SLURM, INCOMPLETE);
    assert!(
        unknown.stdout.starts_with("n3: inconclusive: "),
        "{unknown:?}"
    );
    assert!(
        unknown.stdout.contains("--write-expectations"),
        "{unknown:?}"
    );
}

/// Writes expectations for other hardware: the digest of their group differs.
fn expectations_of_other_hardware(folder: &Path) -> &'static str {
    let mut expected = json(&read(&folder.join("expected.json")));
    expected["groups"][0]["digest"] = "00000000".into();
    put(folder, "other.json", expected.to_string().as_bytes());
    "other.json"
}

#[test]
fn one_process_of_a_machine_measures() {
    let folder = folder();
    let place = folder.path();
    let words = format!("{SHORT} -o %r.json");
    for local in [
        [("SLURM_JOB_ID", "1"), ("SLURM_LOCALID", "3")],
        [
            ("OMPI_COMM_WORLD_RANK", "7"),
            ("OMPI_COMM_WORLD_LOCAL_RANK", "1"),
        ],
        [("MPI_LOCALRANKID", "1"), ("PMI_RANK", "1")],
    ] {
        let idle = run(&words, place, &local, DONE);
        assert!(idle.stderr.contains("--all-ranks"), "{idle:?}");
        assert_eq!(idle.stdout, "");
    }
    // If the launcher gives no local ranks, a lock decides which process measures.
    let lock = File::create(place.join("memgauge-health-n3.lock")).expect("a file");
    lock.lock().expect("a lock");
    let idle = run(&words, place, SLURM, DONE);
    assert!(idle.stderr.contains("another health check"), "{idle:?}");
    assert_eq!(names(place), ["memgauge-health-n3.lock"]);
    let all = format!("{SHORT} --all-ranks -o %h-%j-%r.json");
    run(&all, place, SLURM, DONE);
    let report = json(&read(&place.join("n3-17-5.json")));
    assert_eq!(report["provenance"]["launch"]["all_ranks"], true);
    drop(lock);
    run(&format!("{SHORT} -o own.json"), place, SLURM, DONE);
    assert!(place.join("own.json").exists());
}

#[test]
fn without_a_launcher_the_lock_is_that_of_the_host() {
    let folder = folder();
    let place = folder.path();
    run(&format!("{SHORT} -o first.json"), place, &[], DONE);
    let names = names(place);
    let is_lock = |name: &&String| name.ends_with(".lock");
    let name = names.iter().find(is_lock).expect("a lock");
    let lock = File::open(place.join(name)).expect("a file");
    lock.lock().expect("a lock");
    let idle = run(&format!("{SHORT} -o second.json"), place, &[], DONE);
    assert!(idle.stderr.contains("another health check"), "{idle:?}");
    assert!(!place.join("second.json").exists());
    let all = format!("{SHORT} --all-ranks -o second.json");
    run(&all, place, &[], DONE);
    assert!(place.join("second.json").exists());
}

#[test]
fn wrong_requests_are_refused_before_anything_is_measured() {
    let folder = folder();
    for words in [
        "health --expect none.json",
        "health --start-at 99999999999",
        "health --start-at yesterday",
        "health --false-alarms 2",
        "health --floor 5%",
        "health -o %x.json",
        "latency -o %",
    ] {
        let refused = run(words, folder.path(), &[], USAGE);
        assert_eq!(refused.stdout, "", "{words}");
    }
    let past = typed(
        "health --start-at 2001-01-01T00:00:00Z --dry-run",
        folder.path(),
    );
    assert_eq!(past.code, Some(DONE), "{past:?}");
}
