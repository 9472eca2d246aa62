//! Tests sessions in control groups of this system that leave them less than the machine has: a
//! quota of CPU time, a set of CPUs with holes, little memory. No figure is checked. If no group
//! can be made (no root, a read-only /sys/fs/cgroup), the test prints so.
#![cfg(target_os = "linux")]

use crate::helper::{Finished, LIMIT, cpus, finish, folder, json, shell_command, skipped, typed};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Options for a session of a few samples.
const SHORT: &str = "--samples 3 --budget 20s --format json -o -";

/// A control group that this process made, which is removed when dropped.
struct Group(PathBuf);

impl Group {
    /// Makes a group of version 1 below the `controller`, or of version 2. `first` and `second` are
    /// the files and texts of its settings in version 1 and 2. The group is named after its `test`.
    /// `None` if the rights or the system do not allow it; the reason is printed.
    fn new(
        test: &str,
        controller: &str,
        first: &[(&str, &str)],
        second: &[(&str, &str)],
    ) -> Option<Self> {
        let root = Path::new("/sys/fs/cgroup");
        for (root, settings) in [(root.join(controller), first), (root.to_owned(), second)] {
            let group = Self(root.join(format!(
                "memgauge-{}-{}",
                test.replace(' ', "-"),
                std::process::id()
            )));
            if fs::create_dir(&group.0).is_err() {
                continue;
            }
            // If a setting fails, the group is dropped and thereby removed.
            if settings
                .iter()
                .all(|(file, text)| fs::write(group.0.join(file), text).is_ok())
            {
                return Some(group);
            }
        }
        skipped(
            test,
            "cannot make such a control group: that takes root and a writable /sys/fs/cgroup",
        );
        None
    }

    /// Runs the program as the only member of the group. `words` are separated by blanks.
    fn run(&self, words: &str, folder: &Path) -> Finished {
        let line = format!("echo $$ > \"$GROUP/cgroup.procs\" && exec \"$M\" {words}");
        let mut command = shell_command(&line, folder);
        command.env("GROUP", &self.0);
        finish(command, LIMIT)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The last member may have ended only a moment ago, so the removal is repeated.
        for _ in 0..50 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

fn ends_well(run: &Finished) {
    assert!(
        run.code == Some(0) && !run.timed_out && !run.panicked(),
        "{run:?}"
    );
}

fn points(report: &Value) -> Vec<Value> {
    report["datasets"]
        .as_array()
        .expect("datasets")
        .iter()
        .flat_map(|d| d["points"].as_array().expect("points"))
        .cloned()
        .collect()
}

fn threads(point: &Value) -> u64 {
    point["coordinates"]["threads"]
        .as_u64()
        .expect("a number of threads")
}

/// A group with a quota of one and a half CPUs.
fn quota(test: &str) -> Option<Group> {
    if cpus() < 2 {
        skipped(test, "one cpu only");
        return None;
    }
    let first = [
        ("cpu.cfs_period_us", "100000"),
        ("cpu.cfs_quota_us", "150000"),
    ];
    Group::new(test, "cpu", &first, &[("cpu.max", "150000 100000")])
}

#[test]
fn what_a_quota_would_stop_is_named_and_not_measured_as_memory() {
    let Some(group) = quota("a quota of one and a half cpus") else {
        return;
    };
    let folder = folder();
    let run = group.run(
        &format!("scaling --threads 1,2 --sizes 16KiB --width widest {SHORT}"),
        folder.path(),
    );
    ends_well(&run);
    assert!(
        run.stderr
            .contains("memgauge: note: scaling: the control group allows 1.5 cpus' worth"),
        "{run:?}"
    );
    let traffic =
        "--cpu 0 --traffic-cpus 1 --mixes 100:0 --pauses 0 --points 0 --size 64KiB --pages 4k";
    let traffic = group.run(&format!("loaded-latency {traffic} {SHORT}"), folder.path());
    ends_well(&traffic);
    let (one, two): (Vec<Value>, Vec<Value>) = [&run, &traffic]
        .into_iter()
        .flat_map(|run| points(&json(&run.stdout)))
        .partition(|point| {
            point["coordinates"]["mix"] == "idle"
                || point["coordinates"]["mix"].is_null() && threads(point) == 1
        });
    assert_eq!((one.len(), two.len()), (2, 2));
    assert!(
        one.iter()
            .all(|point| point["outcome"]["status"] == "measured"),
        "{one:?}"
    );
    for point in two {
        let outcome = &point["outcome"];
        assert_eq!(outcome["status"], "unsupported", "{point}");
        let reason = outcome["reason"].as_str().expect("a reason");
        assert!(
            reason.contains("1.5 cpus' worth of time") && reason.contains("/sys/fs/cgroup"),
            "{reason}"
        );
    }
}

#[test]
fn a_quota_is_told_beside_what_is_measured_in_spite_of_it() {
    let Some(group) = quota("a quota beside bandwidth") else {
        return;
    };
    let folder = folder();
    let run = group.run(
        &format!("bandwidth --ops read --threads all --sizes 16KiB --width widest {SHORT}"),
        folder.path(),
    );
    // Two threads with the time of one and a half CPUs may not run at the same time within a
    // sample. The point then fails.
    assert!(
        matches!(run.code, Some(0 | 1 | 3)) && !run.timed_out && !run.panicked(),
        "{run:?}"
    );
    let report = json(&run.stdout);
    assert_eq!(
        report["provenance"]["host"]["system"]["cpu_quota"]["value"],
        1.5
    );
    let said = report["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .find(|f| f["kind"] == "cpu-quota")
        .expect("a finding");
    let text = said["text"].as_str().expect("a text");
    assert!(
        text.contains("1.5 CPUs (/sys/fs/cgroup") && text.contains("more than 1 thread"),
        "{text}"
    );
}

/// The CPUs that the program may use, from its list of facts.
fn allowed(run: &Finished) -> Vec<u64> {
    let host = json(&run.stdout);
    let cpus = host["topology"]["cpus"].as_array().expect("cpus").iter();
    cpus.filter(|cpu| cpu["allowed"] == true)
        .filter_map(|cpu| cpu["id"].as_u64())
        .collect()
}

#[test]
fn a_set_of_cpus_with_holes_is_all_that_is_used() {
    let test = "a cpuset with holes";
    let folder = folder();
    let all = allowed(&typed("list host --format json", folder.path()));
    let kept: Vec<u64> = all.iter().copied().skip(1).step_by(2).collect();
    let (Some(first), Some(hole)) = (kept.first(), all.first()) else {
        return skipped(test, "one cpu only");
    };
    let list = kept
        .iter()
        .map(u64::to_string)
        .collect::<Vec<_>>()
        .join(",");
    let mems = fs::read_to_string("/sys/fs/cgroup/cpuset/cpuset.mems").unwrap_or_default();
    let settings = [("cpuset.cpus", list.as_str()), ("cpuset.mems", mems.trim())];
    let Some(group) = Group::new(test, "cpuset", &settings, &settings[..1]) else {
        return;
    };
    let host = group.run("list host --format json", folder.path());
    ends_well(&host);
    assert_eq!(allowed(&host), kept);
    let run = group.run(
        &format!("scaling --sizes 16KiB --width widest --oversubscribe {SHORT}"),
        folder.path(),
    );
    ends_well(&run);
    let measured = points(&json(&run.stdout));
    assert!(
        measured
            .iter()
            .any(|point| threads(point) == kept.len() as u64)
    );
    for point in measured
        .iter()
        .filter(|point| point["outcome"]["status"] == "measured")
    {
        let used = point["outcome"]["evidence"]["cpus"]
            .as_array()
            .expect("cpus");
        assert!(
            used.iter()
                .all(|cpu| cpu.as_u64().is_some_and(|cpu| kept.contains(&cpu))),
            "{used:?}"
        );
    }
    let run = group.run(&format!("bandwidth --cpus {hole}"), folder.path());
    assert_eq!(
        (run.code, run.stderr.lines().count()),
        (Some(2), 1),
        "{run:?}"
    );
    assert!(
        run.stderr.contains(&format!(
            "cpu not allowed: {hole}; this process may use {first}"
        )),
        "{run:?}"
    );
    if kept.len() == 1 {
        let run = group.run(
            &format!("loaded-latency --size 64KiB --pages 4k {SHORT}"),
            folder.path(),
        );
        ends_well(&run);
        let report = json(&run.stdout);
        let alone = points(&report)
            .into_iter()
            .filter(|point| point["outcome"]["status"] == "measured");
        assert_eq!(
            alone
                .map(|point| point["coordinates"]["mix"].clone())
                .collect::<Vec<Value>>(),
            ["idle"]
        );
    }
}
