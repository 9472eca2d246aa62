//! Runs the program in difficult places: full disks, closed outputs, one CPU, little memory, no
//! /sys.
//!
//! A test that the system does not allow (no root, a missing tool) is skipped, and the reason is
//! printed.
#![cfg(target_os = "linux")]

use crate::helper::{
    Finished, LIMIT, PROGRAM, Running, cpus, finish, folder, json, names, program, read, shell,
    skipped,
};
use report::SCHEMA_VERSION;
use std::fs;
use std::path::{Path, PathBuf};

/// A session that takes a fraction of a second.
const SHORT: &str = "bandwidth --ops read,copy --sizes 16KiB --threads 1 --samples 3 --budget 20s";

/// True if `line` succeeds in a shell. Otherwise prints that `test` is skipped.
fn possible(test: &str, line: &str) -> bool {
    let run = shell(line, folder().path());
    if run.code != Some(0) {
        skipped(
            test,
            &format!("`{line}` does not work here: {}", run.stderr.trim()),
        );
    }
    run.code == Some(0)
}

/// Asserts that the program ended with `code`, in time and without a panic.
fn ends_with(code: i32, run: &Finished) {
    assert!(
        run.code == Some(code) && !run.timed_out && !run.panicked(),
        "{run:?}"
    );
}

/// Asserts that the program printed a report. On a busy machine there may be no time for all
/// points.
fn reports(run: &Finished) {
    assert!(
        matches!(run.code, Some(0 | 3)) && !run.timed_out && !run.panicked(),
        "{run:?}"
    );
}

/// Asserts that the program ended with the code 1 and one line that contains `what`.
fn fails_in_one_line(what: &str, run: &Finished) {
    ends_with(1, run);
    let one = run.stderr.starts_with("memgauge: ") && run.stderr.lines().count() == 1;
    assert!(one && run.stderr.contains(what), "{run:?}");
}

fn is_report(path: &Path) -> serde_json::Value {
    let report = json(&read(path));
    assert_eq!(report["schema_version"], SCHEMA_VERSION);
    report
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let answers = [
        "list kernels",
        "list host",
        "generate man",
        "generate completions zsh",
        "--help",
        "--dry-run",
    ];
    for words in answers.iter().copied().chain([SHORT]) {
        let folder = folder();
        // The file has the exit code of the program rather than of the pipe. The reader has ended
        // before the program writes.
        let run = shell(
            &format!("(sleep 0.1; \"$M\" {words}; echo $? > code) | true"),
            folder.path(),
        );
        assert!(run.stderr.is_empty(), "{words}: {run:?}");
        assert_eq!(read(&folder.path().join("code")).trim(), "0", "{words}");
    }
    let folder = folder();
    let run = shell(
        &format!("\"$M\" {SHORT} -o r.json | head -n 1"),
        folder.path(),
    );
    ends_with(0, &run);
    assert_eq!((run.stdout.lines().count(), run.stderr.as_str()), (1, ""));
    is_report(&folder.path().join("r.json"));
}

#[test]
fn closed_outputs_are_no_reason_to_panic() {
    let folder = folder();
    let run = shell(&format!("\"$M\" {SHORT} -o r.json >&-"), folder.path());
    ends_with(0, &run);
    is_report(&folder.path().join("r.json"));
    ends_with(2, &shell("\"$M\" bandwidth --ops x 2>&-", folder.path()));
    ends_with(
        0,
        &shell(&format!("\"$M\" {SHORT} -o - 2>&- <&-"), folder.path()),
    );
}

#[test]
fn a_full_standard_output_does_not_cost_the_report() {
    let folder = folder();
    let run = shell(
        &format!("\"$M\" {SHORT} -o r.json > /dev/full"),
        folder.path(),
    );
    fails_in_one_line("cannot write to standard output: ", &run);
    is_report(&folder.path().join("r.json"));
    assert_eq!(names(folder.path()), ["r.json"]);
    for words in [
        "list host",
        "generate schema",
        "--help",
        "--version",
        "--dry-run",
    ] {
        fails_in_one_line(
            "cannot write to standard output",
            &shell(&format!("\"$M\" {words} > /dev/full"), folder.path()),
        );
    }
}

#[test]
fn a_full_disk_does_not_cost_the_result() {
    if !possible(
        "a full disk",
        "unshare -m sh -c 'mkdir d && mount -t tmpfs -o size=64k none d'",
    ) {
        return;
    }
    let folder = folder();
    let line = format!(
        "mkdir d; exec unshare -m sh -c 'mount -t tmpfs -o size=16k none d && cd d && dd \
         if=/dev/zero of=fill bs=4k count=3 2>&-; \"$M\" {SHORT} -o r.json; code=$?; ls >&2; exit \
         $code'"
    );
    let run = shell(&line, folder.path());
    ends_with(1, &run);
    assert!(
        run.stdout.contains("copy") && run.stdout.contains("GB/s"),
        "the result is still printed: {run:?}"
    );
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert!(
        lines.contains(
            &"memgauge: cannot save the result: 'r.json': no space left on device; type -o with a \
                 place that has room for it"
        ),
        "{run:?}"
    );
    assert!(
        !run.stderr.contains(".tmp") && !run.stderr.contains(".check"),
        "temporary files stay: {run:?}"
    );
    assert!(!lines.contains(&"r.json"), "half a report stays: {run:?}");
}

#[test]
fn a_limit_on_file_sizes_does_not_cost_the_result() {
    if !possible("a limit on file sizes", "prlimit --fsize=100000 true") {
        return;
    }
    let folder = folder();
    ends_with(
        0,
        &shell(
            &format!("\"$M\" {SHORT} --repeat 4 -o r.json"),
            folder.path(),
        ),
    );
    let run = shell(
        "exec prlimit --fsize=700 \"$M\" report r.json -o again.json",
        folder.path(),
    );
    fails_in_one_line("cannot save the result: 'again.json'", &run);
    assert_eq!(names(folder.path()), ["r.json"]);
    // There is room for no line of the journal, or for its first line only.
    let lines = shell("\"$M\" report r.json --format jsonl", folder.path()).stdout;
    let first = lines.lines().next().expect("a run").len();
    fs::remove_file(folder.path().join("r.json")).expect("it can be removed");
    for (limit, left) in [(700, vec![]), (first + 900, vec!["r.json.journal.jsonl"])] {
        let run = shell(
            &format!("exec prlimit --fsize={limit} \"$M\" {SHORT} --repeat 4 -o r.json"),
            folder.path(),
        );
        ends_with(1, &run);
        assert!(
            run.stderr
                .contains("memgauge: cannot save the result: 'r.json': file too large"),
            "{run:?}"
        );
        assert!(
            run.stdout.contains("GB/s"),
            "the result is still printed: {run:?}"
        );
        assert_eq!(names(folder.path()), left);
        for file in left {
            let text = read(&folder.path().join(file));
            assert!(
                text.ends_with('\n') && text.lines().all(|l| json(l).is_object()),
                "whole lines stay"
            );
            assert!(
                run.stderr
                    .contains("the points finished while there was room are in"),
                "{run:?}"
            );
            let words = format!("\"$M\" {SHORT} --repeat 4 --resume r.json.journal.jsonl");
            ends_with(0, &shell(&words, folder.path()));
            assert_eq!(outcomes(&folder.path().join("r.json")), (8, 0, 0));
            assert_eq!(names(folder.path()), ["r.json"]);
        }
    }
}

#[test]
fn files_of_the_system_are_written_to_and_not_replaced() {
    let folder = folder();
    // Root could damage the machine. It gets a /dev of its own, which ends with the process.
    let own = "unshare -m sh -c 'mount -t tmpfs none /dev && ln -s /proc/self/fd /dev/fd && ln -s \
         fd/1 /dev/stdout'";
    let root = shell("id -u", folder.path()).stdout.trim() == "0";
    if root && !possible("files of the system", own) {
        return;
    }
    let within = |redirected: &str| {
        let line = format!(
            "\"$M\" {SHORT} --format csv {redirected}; code=$?; test -L /dev/stdout && exit $code"
        );
        let whole = own.replace(
            "fd/1 /dev/stdout",
            &format!("fd/1 /dev/stdout && {{ {line}; }}"),
        );
        shell(if root { &whole } else { &line }, folder.path())
    };
    ends_with(0, &within("-o /dev/fd/3 3> three > one"));
    assert_eq!(
        read(&folder.path().join("three")),
        read(&folder.path().join("one"))
    );
    ends_with(0, &within("-o /dev/stdout > one"));
    assert_eq!(
        read(&folder.path().join("one")).lines().count(),
        3,
        "once, not twice"
    );
    assert_eq!(names(folder.path()), ["one", "three"]);
    let run = shell(
        &format!("\"$M\" {SHORT} --format csv -o /dev/full"),
        folder.path(),
    );
    fails_in_one_line("cannot save the result: '/dev/full'", &run);
}

#[test]
fn a_folder_that_may_not_be_written_does_not_stop_a_run() {
    let folder = folder();
    let locked = folder.path().join("locked");
    fs::create_dir(&locked).expect("a folder");
    let copy = folder.path().join("memgauge");
    fs::copy(PROGRAM, &copy).expect("a copy that others may run");
    let open = folder.path().join("open");
    fs::create_dir(&open).expect("a folder");
    let modes = format!(
        "chmod 777 open && chmod 755 {} && chmod 755 {} && chmod 555 locked",
        folder.path().display(),
        copy.display()
    );
    ends_with(0, &shell(&modes, folder.path()));
    // Root may write anywhere, so the program runs as another user.
    let root = shell("id -u", folder.path()).stdout.trim() == "0";
    let prefix = if root {
        "setpriv --reuid 65534 --regid 65534 --clear-groups "
    } else {
        ""
    };
    if root
        && !possible(
            "a folder that may not be written",
            &format!("{prefix} true"),
        )
    {
        return;
    }
    // Neither the folder of saved sessions nor the working directory may be written. In the second
    // case, the folder for temporary files may not be written either.
    let line = format!(
        "XDG_STATE_HOME=/proc/none {prefix}{} {SHORT}",
        copy.display()
    );
    for (line, saved) in [
        (format!("TMPDIR={} {line}", open.display()), 1),
        (format!("TMPDIR=/proc {line}"), 0),
    ] {
        let run = shell(&line, &locked);
        ends_with(0, &run);
        assert!(run.stdout.contains("GB/s"), "{run:?}");
        assert!(
            run.stderr
                .starts_with("memgauge: note: cannot save in the folder of runs: "),
            "{run:?}"
        );
        assert_eq!(
            (run.stderr.lines().count(), names(&open).len()),
            (1, saved),
            "{run:?}"
        );
        names(&open)
            .iter()
            .for_each(|name| fs::remove_file(open.join(name)).expect("a report"));
    }
    let run = shell(
        &format!("{prefix}{} {SHORT} -o r.json", copy.display()),
        &locked,
    );
    ends_with(2, &run);
    assert!(
        run.stderr
            .contains("cannot write the result: 'r.json': permission denied; type -o"),
        "{run:?}"
    );
    assert_eq!(names(&locked), Vec::<String>::new());
}

#[test]
fn a_cpuset_of_one_cpu() {
    let first = "taskset -pc $$ | sed 's/.*: //; s/[-,].*//'";
    if !possible("one CPU", &format!("taskset -c $({first}) true")) {
        return;
    }
    let folder = folder();
    let one = |words: &str| {
        shell(
            &format!("exec taskset -c $({first}) \"$M\" {words}"),
            folder.path(),
        )
    };
    let run = one(
        "bandwidth --ops read --sizes 16KiB --threads 1,all --samples 3 --budget 60s -o r.json",
    );
    ends_with(0, &run);
    let report = is_report(&folder.path().join("r.json"));
    let points = report["datasets"][0]["points"].as_array().expect("points");
    assert_eq!(
        points.len(),
        1,
        "all of one CPU is one thread, which is measured once"
    );
    ends_with(
        0,
        &one("run --profile quick --only latency --budget 60s -o -"),
    );
    let run = one("bandwidth --threads 2");
    ends_with(2, &run);
    assert!(run.stderr.contains("too many threads: 2; 1"), "{run:?}");
    if cpus() > 1 {
        let other = shell(
            &format!("exec taskset -c $({first}) \"$M\" bandwidth --cpus 0,1"),
            folder.path(),
        );
        ends_with(2, &other);
        assert!(other.stderr.contains("this process may use"), "{other:?}");
    }
}

/// Number of points in a saved report that were measured, skipped with a reason, or failed.
fn outcomes(path: &Path) -> (usize, usize, usize) {
    let report = is_report(path);
    let all: Vec<_> = report["datasets"]
        .as_array()
        .expect("datasets")
        .iter()
        .flat_map(|d| d["points"].as_array())
        .collect();
    let with = |status: &str| {
        all.iter()
            .flat_map(|p| p.iter())
            .filter(|p| p["outcome"]["status"] == status)
            .count()
    };
    (with("measured"), with("skipped"), with("failed"))
}

#[test]
fn little_address_space_shortens_the_plan_and_nothing_fails() {
    if !possible("little address space", "prlimit --as=419430400 true") {
        return;
    }
    for (mib, only) in [(400_u64, "bandwidth,latency"), (60, "latency")] {
        let folder = folder();
        let run = shell(
            &format!(
                "exec prlimit --as={} \"$M\" run --profile quick --only {only} --budget 10s -o \
                 r.json",
                mib << 20
            ),
            folder.path(),
        );
        reports(&run);
        let (measured, skipped, failed) = outcomes(&folder.path().join("r.json"));
        assert!(
            measured > 0 && failed == 0,
            "{mib} MiB: {measured} measured, {skipped} skipped, {failed} failed"
        );
    }
}

/// A control group for memory, which is removed when dropped.
struct Group {
    folder: PathBuf,
    limit: &'static str,
}

impl Group {
    /// Makes a group with a limit of `bytes`, in version 1 or 2 of control groups. `None` if the
    /// system does not allow it.
    fn new(name: &str, bytes: u64) -> Option<Group> {
        let name = format!("memgauge-test-{name}-{}", std::process::id());
        let kinds = [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ];
        for (root, limit) in kinds {
            let group = Group {
                folder: Path::new(root).join(&name),
                limit,
            };
            let made = Path::new(root).is_dir() && fs::create_dir(&group.folder).is_ok();
            if made && fs::write(group.folder.join(limit), bytes.to_string()).is_ok() {
                return Some(group);
            }
        }
        None
    }

    /// Number of processes that the kernel killed in the group for lack of memory.
    fn kills(&self) -> u64 {
        let file = if self.limit == "memory.max" {
            "memory.events"
        } else {
            "memory.oom_control"
        };
        let text = fs::read_to_string(self.folder.join(file)).unwrap_or_default();
        let line = text.lines().find_map(|l| l.strip_prefix("oom_kill "));
        line.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // All members have ended. An error is ignored, because the group may not exist.
        let _ = fs::remove_dir(&self.folder);
    }
}

#[test]
fn a_control_group_of_256_mib_is_kept_to() {
    let Some(group) = Group::new("limit", 256 << 20) else {
        skipped(
            "a control group of 256 MiB",
            "cannot make one, which takes root and a writable /sys/fs/cgroup",
        );
        return;
    };
    let folder = folder();
    let procs = group.folder.join("cgroup.procs");
    for words in [
        "run --profile quick --budget 10s",
        "latency --sizes 64KiB,100MiB --samples 3 --budget 10s",
    ] {
        let line = format!(
            "echo $$ > {} && exec \"$M\" {words} -o r.json",
            procs.display()
        );
        let run = shell(&line, folder.path());
        reports(&run);
        let (measured, _, failed) = outcomes(&folder.path().join("r.json"));
        assert!(measured > 0 && failed == 0, "{run:?}");
        let memory = &is_report(&folder.path().join("r.json"))["provenance"]["host"]["memory"];
        assert!(
            memory["usable"]["value"]
                .as_u64()
                .is_some_and(|b| b < 256 << 20),
            "{memory}"
        );
    }
    let line = format!(
        "echo $$ > {} && exec \"$M\" bandwidth --sizes 300MiB",
        procs.display()
    );
    let run = shell(&line, folder.path());
    ends_with(2, &run);
    assert!(run.stderr.contains("too much memory: 300 MiB"), "{run:?}");
    assert_eq!(group.kills(), 0);
}

/// The kernel kills, without notice, a session that exceeds its group's memory. The journal has the
/// finished points.
#[test]
fn a_run_killed_for_want_of_memory_can_be_continued() {
    let Some(group) = Group::new("kill", 24 << 20) else {
        skipped(
            "a kill for want of memory",
            "cannot make a control group: that takes root and a writable /sys/fs/cgroup",
        );
        return;
    };
    let folder = folder();
    let words = "bandwidth --ops read --sizes 64MiB --threads 1 --pages 4k --samples 3 --repeat 3 \
         --cooldown 100ms --budget 1h";
    let mut command = program(folder.path());
    command.args(words.split(' ')).args(["-o", "r.json"]);
    let mut running = Running::start(command);
    let journal = folder.path().join("r.json.journal.jsonl");
    // The journal has the line of the session and a line of the first point. Each of the three
    // points has memory of its own.
    running.wait_until("a point", || {
        fs::read_to_string(&journal).is_ok_and(|text| text.matches('\n').count() >= 2)
    });
    // Memory that is mapped already still counts in the old group. Memory that is mapped from now
    // on counts in this group.
    fs::write(group.folder.join("cgroup.procs"), running.id().to_string())
        .expect("it can be moved");
    let run = running.end(LIMIT);
    assert_eq!(
        (run.code, run.timed_out, group.kills()),
        (None, false, 1),
        "{run:?}"
    );
    assert_eq!(names(folder.path()), ["r.json.journal.jsonl"]);
    let shown = shell(
        "\"$M\" report r.json.journal.jsonl --format csv",
        folder.path(),
    );
    ends_with(0, &shown);
    assert_eq!(
        shown
            .stdout
            .lines()
            .filter(|line| line.contains(",measured,"))
            .count(),
        1,
        "{shown:?}"
    );
    ends_with(
        0,
        &shell(
            &format!("\"$M\" {words} --resume r.json.journal.jsonl"),
            folder.path(),
        ),
    );
    assert_eq!(outcomes(&folder.path().join("r.json")), (3, 0, 0));
    assert_eq!(names(folder.path()), ["r.json"]);
}

#[test]
fn a_folder_that_goes_away_does_not_cost_the_report() {
    let folder = folder();
    fs::create_dir(folder.path().join("sub")).expect("a folder");
    let mut command = program(folder.path());
    let words = SHORT.replace("20s", "1h");
    command.args(format!("{words} --repeat 9 --cooldown 20ms -o sub/r.json").split_whitespace());
    let mut running = Running::start(command);
    let journal = folder.path().join("sub/r.json.journal.jsonl");
    running.wait_until("the journal", || journal.exists());
    fs::remove_dir_all(folder.path().join("sub")).expect("it can be removed");
    let run = running.end(LIMIT);
    fails_in_one_line(
        "cannot save the result: 'sub/r.json': no such file or directory; it is in",
        &run,
    );
    assert!(
        run.stdout.contains("GB/s"),
        "the result is still printed: {run:?}"
    );
    assert_eq!(names(folder.path()), ["r.json"]);
    assert_eq!(outcomes(&folder.path().join("r.json")), (18, 0, 0));
    // If the result can go neither to its folder nor to a file in the working directory, it is only
    // printed.
    fs::create_dir(folder.path().join("sub")).expect("a folder");
    let short = format!("mv sub gone & \"$M\" {SHORT} -o sub/r.json --cooldown 100ms");
    let run = shell(&short, folder.path());
    ends_with(
        if run.stderr.starts_with("memgauge: cannot write") {
            2
        } else {
            1
        },
        &run,
    );
    assert_eq!(names(folder.path()), ["gone", "r.json"]);
}

#[test]
fn without_sys_or_proc_it_falls_back_and_says_so() {
    if !possible(
        "masked /sys and /proc",
        "unshare -m sh -c 'mount -t tmpfs none /sys'",
    ) {
        return;
    }
    let whole = "run --profile quick --only latency --budget 10s";
    for (masked, hidden, words) in [
        ("/sys", "caches", SHORT),
        ("/proc", "memory", SHORT),
        ("/sys /proc", "CPUs", whole),
    ] {
        let folder = folder();
        let masks: String = masked
            .split(' ')
            .map(|at| format!("mount -t tmpfs none {at} && "))
            .collect();
        let within = |words: &str| {
            shell(
                &format!("exec unshare -m sh -c '{masks} exec \"$M\" {words}'"),
                folder.path(),
            )
        };
        let run = within(&format!("{words} -o r.json"));
        reports(&run);
        let report = is_report(&folder.path().join("r.json"));
        let findings: Vec<&str> = report["findings"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|f| f["text"].as_str())
            .collect();
        let said = format!("The system hides facts about its {hidden}");
        assert!(
            findings.iter().any(|f| f.starts_with(&said)),
            "{masked}: {findings:?}"
        );
        let (measured, _, failed) = outcomes(&folder.path().join("r.json"));
        assert!(measured > 0 && failed == 0, "{masked}: {run:?}");
        for words in [
            "list host",
            "list host --format json",
            "list kernels",
            "--dry-run",
        ] {
            ends_with(0, &within(words));
        }
    }
}

#[test]
fn base_pages_do_without_any_others() {
    let folder = folder();
    let mut command = program(folder.path());
    command.args(
        "bandwidth --ops read --sizes 4MiB --threads 1 --pages 4k --samples 3 --budget 60s \
             -o r.json"
            .split(' '),
    );
    ends_with(0, &finish(command, LIMIT));
    let point = &is_report(&folder.path().join("r.json"))["datasets"][0]["points"][0];
    assert_eq!(point["coordinates"]["pages"], "4k");
}
