//! Tests that files of earlier sessions stay: journals, reports, and the folder of saved sessions.
#![cfg(unix)]

use crate::helper::{
    Finished, LIMIT, Running, folder, json, memgauge, names, program, put, read, shell,
    shell_command, state, typed,
};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A session that takes a moment.
const SHORT: &str = "bandwidth --ops read --sizes 16KiB --threads 1 --samples 3 --budget 20s";

/// A session whose first points are finished at once, but which takes much longer.
const LONG: &str = "bandwidth --ops read --sizes 16KiB --threads 1 --samples 3 --repeat 30 \
     --cooldown 15ms --budget 1h";

fn ends_with(code: i32, run: &Finished) {
    assert!(
        run.code == Some(code) && !run.timed_out && !run.panicked(),
        "{run:?}"
    );
}

/// Starts a session and waits until its journal has `lines` lines.
fn started(words: &str, folder: &Path, journal: &Path, lines: usize) -> Running {
    let mut command = program(folder);
    command.args(words.split_whitespace());
    let mut running = Running::start(command);
    let there =
        || std::fs::read_to_string(journal).is_ok_and(|text| text.matches('\n').count() >= lines);
    running.wait_until("its journal", there);
    running
}

/// Starts a session and kills it when its journal has nine lines.
fn killed(words: &str, folder: &Path, journal: &Path) {
    let running = started(words, folder, journal, 9);
    running.signal("KILL");
    running.end(LIMIT);
}

/// The journal in the folder of saved sessions; `None` if there is none.
fn only_journal(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(state(folder))
        .ok()?
        .flatten()
        .map(|entry| entry.path());
    entries
        .into_iter()
        .find(|path| path.to_string_lossy().ends_with(".journal.jsonl"))
}

fn measured(report: &Value) -> usize {
    let points = report["datasets"][0]["points"].as_array().expect("points");
    points
        .iter()
        .filter(|p| p["outcome"]["status"] == "measured")
        .count()
}

#[test]
fn a_restart_keeps_the_journal_of_a_killed_run_and_says_how_to_continue() {
    let folder = folder();
    let at = folder.path();
    let journal = at.join("r.json.journal.jsonl");
    killed(&format!("{LONG} -o r.json"), at, &journal);
    let before = read(&journal);
    // A second session is killed too. Each session has a journal of its own.
    killed(
        &format!("{LONG} -o r.json"),
        at,
        &at.join("r.json.journal-2.jsonl"),
    );
    assert_eq!(read(&journal), before, "nothing of the first one is lost");
    let run = typed(&format!("{SHORT} -o r.json"), at);
    ends_with(0, &run);
    let both = ["r.json", "r.json.journal-2.jsonl", "r.json.journal.jsonl"];
    assert_eq!(names(at), both);
    let again = format!("type memgauge {LONG} -o r.json --resume r.json.journal.jsonl");
    assert!(
        run.stderr.contains(&again) && run.stderr.lines().count() == 2,
        "{run:?}"
    );
    // The advice works. The report that another session wrote in between is kept.
    let words = again.strip_prefix("type memgauge ").expect("a command");
    let run = typed(words, at);
    ends_with(0, &run);
    assert_eq!(names(at), ["r.1.json", "r.json", "r.json.journal-2.jsonl"]);
    assert_eq!(measured(&json(&read(&at.join("r.json")))), 30);
    assert_eq!(measured(&json(&read(&at.join("r.1.json")))), 1);
    ends_with(
        0,
        &typed(&format!("{LONG} --resume r.json.journal-2.jsonl"), at),
    );
    assert_eq!(names(at), ["r.1.json", "r.2.json", "r.json"]);
}

#[test]
fn two_runs_at_once_keep_out_of_each_others_way() {
    let folder = folder();
    let at = folder.path();
    let journal = at.join("r.json.journal.jsonl");
    let first = started(&format!("{LONG} -o r.json"), at, &journal, 2);
    let refused = typed(&format!("{LONG} --resume r.json.journal.jsonl"), at);
    ends_with(2, &refused);
    assert!(
        refused.stderr.contains("its session is running"),
        "{refused:?}"
    );
    let second = typed(&format!("{SHORT} -o r.json"), at);
    ends_with(0, &second);
    assert!(
        second
            .stderr
            .contains("another session for r.json is running"),
        "{second:?}"
    );
    assert!(journal.exists(), "the journal of the other run");
    first.signal("INT");
    ends_with(3, &first.end(LIMIT));
    assert_eq!(names(at), ["r.1.json", "r.json"], "both reports");
    assert_eq!(measured(&json(&read(&at.join("r.1.json")))), 1);
}

#[test]
fn an_earlier_result_of_any_form_is_kept() {
    for name in ["r.json", "r.csv", "r.svg", "r.txt", "r.html"] {
        let folder = folder();
        let at = folder.path();
        ends_with(0, &typed(&format!("{SHORT} -o {name}"), at));
        let before = std::fs::read(at.join(name)).expect("a result");
        let run = typed(&format!("{SHORT} -o {name}"), at);
        ends_with(0, &run);
        let kept = name.replacen("r.", "r.1.", 1);
        assert_eq!(
            std::fs::read(at.join(&kept)).expect("the earlier one"),
            before
        );
        assert!(
            run.stderr.contains(&kept) && names(at).len() == 2,
            "{run:?}"
        );
    }
    // Pictures are overwritten, because they can be made again. Reports are never overwritten.
    let folder = folder();
    let at = folder.path();
    for name in ["a.json", "b.json"] {
        ends_with(0, &typed(&format!("{SHORT} -o {name}"), at));
    }
    let before = read(&at.join("b.json"));
    for words in [
        "report a.json -o x.svg",
        "report b.json -o x.svg",
        "report a.json -o a.json",
    ] {
        ends_with(0, &typed(words, at));
    }
    assert_eq!(names(at), ["a.json", "b.json", "x.svg"]);
    ends_with(0, &typed("report a.json -o b.json", at));
    ends_with(0, &typed("compare a.json b.json -o a.json", at));
    assert_eq!(
        names(at),
        ["a.1.json", "a.json", "b.1.json", "b.json", "x.svg"]
    );
    assert_eq!(read(&at.join("b.1.json")), before);
}

/// Points are measured in rounds. A session that is killed early therefore has some rounds of many
/// points and all rounds of none.
#[test]
fn a_continuation_that_is_killed_at_once_loses_nothing() {
    let folder = folder();
    let at = folder.path();
    let words = "bandwidth --ops read --sizes 4KiB..40KiB:4KiB --threads 1 --samples 60 \
         --cooldown 30ms --budget 1h";
    let journal = at.join("r.json.journal.jsonl");
    let running = started(&format!("{words} -o r.json"), at, &journal, 15);
    running.signal("KILL");
    running.end(LIMIT);
    let shown = |file: &str| {
        measured(&json(
            &typed(&format!("report {file} --format json"), at).stdout,
        ))
    };
    let before = shown("r.json.journal.jsonl");
    assert!(before >= 8, "{before}");
    let mut command = program(at);
    command
        .args(words.split(' '))
        .args(["--resume", "r.json.journal.jsonl"]);
    let running = Running::start(command);
    std::thread::sleep(std::time::Duration::from_millis(700));
    running.signal("KILL");
    running.end(LIMIT);
    assert_eq!(shown("r.json.journal.jsonl"), before);
    let old = read(&journal);
    // The continuation is interrupted rather than killed. Its report has fewer points than the
    // journal, which therefore stays.
    let mut command = program(at);
    command
        .args(words.split(' '))
        .args(["--resume", "r.json.journal.jsonl"]);
    let mut running = Running::start(command);
    running.wait_until("a new journal", || {
        std::fs::read_to_string(&journal).is_ok_and(|text| text != old)
    });
    running.signal("INT");
    let run = running.end(LIMIT);
    ends_with(3, &run);
    if shown("r.json") < before {
        assert_eq!(shown("r.json.journal.jsonl"), before);
        assert!(
            run.stderr.ends_with(" --resume r.json.journal.jsonl\n"),
            "{run:?}"
        );
    }
}

#[test]
fn pipes_and_devices_are_written_to() {
    let folder = folder();
    let at = folder.path();
    let run = typed(&format!("{SHORT} -o /dev/null"), at);
    ends_with(0, &run);
    assert!(
        run.stdout.contains("GB/s") && run.stderr.is_empty(),
        "{run:?}"
    );
    // The reader of a pipe sees one writer, and gets the whole report.
    let run = shell(
        &format!("mkfifo p; cat p > copy & \"$M\" {SHORT} -o p; code=$?; wait; rm p; exit $code"),
        at,
    );
    ends_with(0, &run);
    assert_eq!(measured(&json(&read(&at.join("copy")))), 1);
    ends_with(
        0,
        &shell(
            "mkfifo p; cat p > again & \"$M\" report copy -o p --format json; wait; rm p",
            at,
        ),
    );
    assert_eq!(measured(&json(&read(&at.join("again")))), 1);
    let run = typed(&format!("{SHORT} --format json -o /dev/fd/1"), at);
    ends_with(0, &run);
    assert_eq!(measured(&json(&run.stdout)), 1);
    assert_eq!(names(at), ["again", "copy"]);
    assert!(
        !state(at).exists(),
        "what has a place is not saved a second time"
    );
}

#[test]
fn runs_without_a_name_are_listed_shown_and_compared() {
    let folder = folder();
    let at = folder.path();
    let run = typed("list runs", at);
    ends_with(0, &run);
    assert!(run.stdout.starts_with("no runs in "), "{run:?}");
    let run = typed("report last", at);
    ends_with(2, &run);
    assert!(
        run.stderr.starts_with("memgauge: no such run: 'last'; "),
        "{run:?}"
    );
    ends_with(0, &typed(SHORT, at));
    ends_with(0, &typed(&SHORT.replace("16KiB", "24KiB"), at));
    let size = |name: &str| {
        let report = json(&typed(&format!("report {name} --format json"), at).stdout);
        report["datasets"][0]["points"][0]["coordinates"]["size_bytes"].as_u64()
    };
    assert_eq!(
        (size("last"), size("last~1"), size("last~0")),
        (Some(24 << 10), Some(16 << 10), Some(24 << 10))
    );
    ends_with(2, &typed("report last~2", at));
    ends_with(4, &typed("compare last~1 last", at));
    ends_with(0, &typed("compare last last~0", at));
    let list = json(&typed("list runs --format json", at).stdout);
    let names_of: Vec<&str> = list
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|run| run["name"].as_str())
        .collect();
    assert_eq!(names_of, ["last", "last~1"]);
    assert!(
        list[0]["command"]
            .as_str()
            .is_some_and(|words| words.contains("24KiB"))
    );
    assert!(
        Path::new(list[0]["file"].as_str().expect("a file")).is_file()
            && list[0]["started"].is_string()
    );
    let table = typed("list runs", at);
    assert!(
        table.stdout.contains("last~1") && table.stdout.contains("24KiB"),
        "{table:?}"
    );
    // A file with the name `last` takes precedence.
    put(
        at,
        "last",
        read(Path::new(list[1]["file"].as_str().expect("a file"))).as_bytes(),
    );
    assert_eq!(size("last"), Some(16 << 10));
    assert_eq!(names(at), ["last"]);
}

#[test]
fn the_last_run_is_continued_by_name() {
    let folder = folder();
    let at = folder.path();
    let mut command = program(at);
    command.args(LONG.split_whitespace());
    let mut running = Running::start(command);
    running.wait_until("its journal", || {
        only_journal(at).is_some_and(|journal| read(&journal).matches('\n').count() >= 9)
    });
    let list = json(&typed("list runs --format json", at).stdout);
    assert_eq!(
        (&list[0]["name"], list[0]["verdict"].as_str()),
        (&Value::Null, Some("under way"))
    );
    running.signal("KILL");
    running.end(LIMIT);
    let list = json(&typed("list runs --format json", at).stdout);
    assert!(
        list[0]["verdict"]
            .as_str()
            .is_some_and(|verdict| verdict.starts_with("unfinished")),
        "{list}"
    );
    assert_eq!(typed("report last", at).code, Some(0));
    ends_with(0, &typed(SHORT, at));
    let refused = memgauge(&["bandwidth", "--resume", "last"], at);
    ends_with(2, &refused);
    assert!(refused.stderr.contains("--resume last~1"), "{refused:?}");
    ends_with(0, &typed(&format!("{LONG} --resume last~1"), at));
    assert_eq!(only_journal(at), None, "its points are in its report");
    let report = json(&typed("report last~1 --format json", at).stdout);
    assert_eq!(
        (measured(&report), report["status"].as_str()),
        (30, Some("complete"))
    );
}

#[test]
fn the_folder_of_runs_follows_the_environment() {
    let folder = folder();
    let at = folder.path();
    let mut command = shell_command(&format!("\"$M\" {SHORT}"), at);
    command.env_remove("XDG_STATE_HOME").env("HOME", at);
    let run = crate::helper::finish(command, LIMIT);
    ends_with(0, &run);
    assert_eq!(
        names(&at.join(if cfg!(target_os = "macos") {
            "Library"
        } else {
            ".local/state/memgauge"
        }))
        .len(),
        1
    );
    // The folder of saved sessions cannot be made. The report goes to the working directory, and
    // the user is told.
    std::fs::write(at.join("file"), "").expect("a file");
    let mut command = shell_command(&format!("\"$M\" {SHORT}"), at);
    command.env("XDG_STATE_HOME", at.join("file"));
    let run = crate::helper::finish(command, LIMIT);
    ends_with(0, &run);
    assert!(
        run.stderr.contains("cannot save in the folder of runs") && run.stderr.lines().count() == 1,
        "{run:?}"
    );
    assert_eq!(
        names(at)
            .iter()
            .filter(|name| name.starts_with("memgauge-"))
            .count(),
        1
    );
    // A dry run makes no folder.
    let plan = typed(&format!("{SHORT} --dry-run"), at);
    assert!(
        plan.code == Some(0) && plan.stdout.contains("-bandwidth.json") && !state(at).exists(),
        "{plan:?}"
    );
}

#[test]
fn a_recording_of_a_run_that_is_continued_gets_a_name_of_its_own() {
    let folder = folder();
    let at = folder.path();
    put(at, "data", &[7; 1 << 20]);
    let words = "io data --buffered --time 150ms --repeat 16 --budget 1h --trace t.csv";
    killed(
        &format!("{words} -o r.json"),
        at,
        &at.join("r.json.journal.jsonl"),
    );
    let run = typed(&format!("{words} --resume r.json.journal.jsonl"), at);
    ends_with(0, &run);
    assert_eq!(names(at), ["data", "r.json", "t.1.csv", "t.csv"]);
}
