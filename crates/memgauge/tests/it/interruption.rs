//! Tests signals to a real session: it ends soon, and no finished point is lost.
#![cfg(unix)]

use crate::helper::{
    Finished, LIMIT, PROGRAM, Running, at_home, finish, folder, json, names, program, read, skipped,
};
use report::SCHEMA_VERSION;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// A session that takes minutes, but whose first points are finished at once.
const LONG: &str = "bandwidth --ops read --sizes 16KiB --threads 1 --samples 3 --repeat 900 \
     --cooldown 50ms --budget 1h -o r.json";

/// Time within which the program must end. It is far longer than the second that is promised,
/// because the machine may be busy.
const SOON: Duration = Duration::from_secs(10);

const JOURNAL: &str = "r.json.journal.jsonl";

/// Starts a session and waits until its journal has `lines` lines.
fn started(words: &str, folder: &Path, lines: usize) -> Running {
    let mut command = program(folder);
    command.args(words.split_whitespace());
    let mut running = Running::start(command);
    wait_for_journal(&mut running, folder, lines);
    running
}

fn wait_for_journal(running: &mut Running, folder: &Path, lines: usize) {
    let journal = folder.join(JOURNAL);
    let there =
        || std::fs::read_to_string(&journal).is_ok_and(|text| text.matches('\n').count() >= lines);
    running.wait_until("its journal", there);
}

/// Checks the results of an interrupted session: a report that says so, the table, one line, and no
/// journal. Returns the points of the report.
fn ended_well(run: &Finished, folder: &Path) -> Vec<Value> {
    assert!(!run.timed_out && !run.panicked(), "{run:?}");
    assert_eq!(run.code, Some(3), "{run:?}");
    let told = run.stderr.strip_prefix(
        "memgauge: interrupted: finished points are in the result; to continue, type ",
    );
    let again = told.expect("how to continue");
    assert!(
        again.starts_with("memgauge ") && again.ends_with(" --resume r.json\n"),
        "{run:?}"
    );
    assert!(
        run.stdout.contains("INTERRUPTED") && run.stdout.contains("r.json"),
        "{run:?}"
    );
    assert_eq!(
        names(folder),
        ["r.json"],
        "the report is saved and the journal gone"
    );
    let report = json(&read(&folder.join("r.json")));
    assert_eq!(report["status"], "interrupted");
    report["datasets"][0]["points"]
        .as_array()
        .expect("points")
        .clone()
}

#[test]
fn each_signal_ends_a_run_soon_and_keeps_what_is_finished() {
    for signal in ["INT", "TERM", "HUP"] {
        let folder = folder();
        // The journal has the line of the session, and four lines for each of two points: one for
        // each of three rounds and a last one.
        let running = started(LONG, folder.path(), 9);
        running.signal(signal);
        let points = ended_well(&running.end(SOON), folder.path());
        let with = |status: &str| {
            points
                .iter()
                .filter(|p| p["outcome"]["status"] == status)
                .count()
        };
        assert_eq!(points.len(), 900);
        assert!(
            with("measured") >= 2,
            "points in the journal are in the report"
        );
        assert!(with("interrupted") > 0 && with("measured") + with("interrupted") == 900);
        let reason = |p: &Value| {
            p["outcome"]["reason"]
                .as_str()
                .is_some_and(|r| r.contains("interrupted"))
        };
        assert!(
            points
                .iter()
                .filter(|p| p["outcome"]["status"] == "interrupted")
                .all(reason)
        );
    }
}

/// Tests the command `timeout`, which scripts and schedulers use. If the whole group gets the
/// signal, it can come twice, and the second signal would end the program at once.
#[test]
fn a_timeout_leaves_the_report() {
    if !Command::new("timeout")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
    {
        skipped("a timeout", "there is no `timeout` here");
        return;
    }
    let folder = folder();
    let mut command = Command::new("timeout");
    let words = LONG.split_whitespace();
    command.args(["-s", "TERM", "1", PROGRAM]).args(words);
    let mut run = finish(
        {
            at_home(&mut command, folder.path());
            command
        },
        LIMIT,
    );
    assert_eq!(run.code, Some(124), "{run:?}");
    run.code = Some(3);
    ended_well(&run, folder.path());
}

/// A session cannot be continued from a table, so its journal stays next to the table.
#[test]
fn what_cannot_be_read_back_keeps_its_journal() {
    let folder = folder();
    let mut command = program(folder.path());
    command.args(LONG.replace("r.json", "r.csv").split_whitespace());
    let mut running = Running::start(command);
    let journal = folder.path().join("r.csv.journal.jsonl");
    let there =
        || std::fs::read_to_string(&journal).is_ok_and(|text| text.matches('\n').count() >= 4);
    running.wait_until("its journal", there);
    running.signal("INT");
    let run = running.end(SOON);
    assert!(
        run.code == Some(3) && run.stderr.ends_with(" --resume r.csv.journal.jsonl\n"),
        "{run:?}"
    );
    assert_eq!(names(folder.path()), ["r.csv", "r.csv.journal.jsonl"]);
    let last = read(&journal)
        .lines()
        .last()
        .map(json)
        .expect("a last line");
    assert_eq!(
        (last["line"].as_str(), last["status"].as_str()),
        (Some("end"), Some("interrupted"))
    );
}

#[test]
fn a_pause_can_be_interrupted() {
    let folder = folder();
    let words = LONG.replace("50ms", "30s").replace("900", "2");
    let running = started(&words, folder.path(), 1);
    thread::sleep(Duration::from_millis(100));
    running.signal("INT");
    ended_well(&running.end(SOON), folder.path());
}

#[test]
fn mapping_memory_and_building_a_chain_can_be_interrupted() {
    // Base pages take longest to map. The signal may come at any stage.
    let large = ["bandwidth --ops read --threads 1", "latency --stride 64"];
    for words in large {
        for wait in [0, 150, 700] {
            let folder = folder();
            let words =
                format!("{words} --sizes 768MiB --pages 4k --repeat 20 --budget 1h -o r.json");
            let running = started(&words, folder.path(), 1);
            thread::sleep(Duration::from_millis(wait));
            running.signal("INT");
            ended_well(&running.end(SOON), folder.path());
        }
    }
}

#[test]
fn an_interrupted_default_run_shows_the_hierarchy_as_far_as_it_got() {
    let folder = folder();
    let running = started("-o r.json", folder.path(), 1);
    running.signal("TERM");
    let points = ended_well(&running.end(SOON), folder.path());
    assert!(points.len() > 3);
}

#[test]
fn a_second_signal_ends_at_once() {
    let folder = folder();
    let mut command = program(folder.path());
    // The result has more JSON than a pipe holds, and nobody reads it. The program therefore cannot
    // end after the first signal.
    let words = "bandwidth --sizes 4KiB..160KiB:1KiB --ops read,write,copy --threads 1 --format \
         json --budget 1h --cooldown 20ms -o r.json";
    command
        .args(words.split_whitespace())
        .stdout(Stdio::piped());
    let mut running = Running::start_with_stdout(command);
    wait_for_journal(&mut running, folder.path(), 1);
    running.signal("INT");
    running.wait_until("the saved report", || folder.path().join("r.json").exists());
    thread::sleep(Duration::from_millis(400));
    running.signal("INT");
    let run = running.end(SOON);
    assert_eq!((run.code, run.panicked()), (Some(130), false), "{run:?}");
    assert_eq!(
        json(&read(&folder.path().join("r.json")))["status"],
        "interrupted"
    );
}

#[test]
fn a_killed_run_leaves_its_finished_points() {
    let folder = folder();
    let running = started(LONG, folder.path(), 4);
    running.signal("KILL");
    let run = running.end(LIMIT);
    assert_eq!((run.code, run.timed_out), (None, false), "{run:?}");
    assert_eq!(names(folder.path()), [JOURNAL]);
    let text = read(&folder.path().join(JOURNAL));
    // Only the last line, which was being written, may be incomplete.
    let whole: Vec<Value> = text[..=text.rfind('\n').expect("a line")]
        .lines()
        .map(json)
        .collect();
    assert_eq!(
        (
            whole[0]["line"].as_str(),
            whole[0]["schema_version"].as_u64()
        ),
        (Some("run"), Some(u64::from(SCHEMA_VERSION)))
    );
    assert!(whole[0]["provenance"]["command_line"].is_array());
    assert!(
        whole.len() >= 4
            && whole[1..]
                .iter()
                .all(|l| l["point"]["outcome"]["status"] == "measured")
    );
}
