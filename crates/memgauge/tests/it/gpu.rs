//! Tests `memgauge gpu` and `memgauge list gpus` on the first device of this machine, if a driver
//! offers one. `.ci/run` installs pocl, whose device is the CPU.

use crate::helper::{LIMIT, finish, folder, json, program, put, read, typed};
use serde_json::Value;
use std::process::Command;

/// The devices of this machine. `None` without a driver; the program must then print one line about
/// it.
fn devices() -> Option<Vec<Value>> {
    let run = typed("list gpus --format json", folder().path());
    if run.code != Some(0) {
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.contains("cannot open the driver"), "{run:?}");
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
        return None;
    }
    Some(json(&run.stdout).as_array().expect("a list").clone())
}

#[test]
fn a_machine_without_a_gpu_says_so_in_one_line() {
    let folder = folder();
    let has_gpu = devices().is_some_and(|all| all.iter().any(|d| d["kind"] == "gpu"));
    if !has_gpu {
        let run = typed("gpu", folder.path());
        assert_eq!(run.code, Some(1), "{run:?}");
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    }
}

#[test]
fn requests_that_no_device_meets_are_refused() {
    let folder = folder();
    let Some(all) = devices() else { return };
    let beyond = format!("gpu --devices {}", all.len() + 1);
    let rows = [
        (beyond.as_str(), "no such device"),
        ("gpu --devices x", "--devices"),
        ("gpu --measure speed", "--measure"),
        ("gpu --measure latency --ops read", "option without effect"),
        ("gpu --devices 0 --groups 0", "type --groups 1"),
        ("gpu --devices 0 --model-size 1", "type --model-size 8GB"),
        ("gpu --ops write --model-size 8GB", "option without effect"),
        ("run --only gpu-latency", "type memgauge gpu"),
    ];
    for (line, words) in rows {
        let run = typed(line, folder.path());
        assert_eq!(run.code, Some(2), "{line}: {run:?}");
        assert!(run.stderr.contains(words), "{line}: {run:?}");
    }
}

#[test]
fn a_device_is_measured_with_its_facts() {
    let folder = folder();
    let Some(first) = devices().and_then(|all| all.first().cloned()) else {
        return;
    };
    let line = "--ops read,triad --sizes 64KiB,1 --groups 1 --transfer-sizes 4KiB,100 --model-size 1GB \
                --samples 6 --budget 40s -o r.json";
    let run = typed(&format!("gpu --devices 0 {line}"), folder.path());
    assert_eq!(run.code, Some(0), "{run:?}");
    let report = json(&read(&folder.path().join("r.json")));
    assert_eq!(
        report["provenance"]["host"]["gpus"][0]["name"],
        first["name"]
    );
    let code = report["provenance"]["host"]["gpus"][0]["code"]["value"].as_str();
    assert_eq!(code.map(str::len), Some(16));
    let datasets = report["datasets"].as_array().expect("datasets");
    let names: Vec<&str> = datasets
        .iter()
        .filter_map(|dataset| dataset["experiment"].as_str())
        .collect();
    let all = [
        "bandwidth",
        "latency",
        "tlb",
        "local",
        "atomics",
        "transfers",
    ];
    assert_eq!(names, all.map(|name| format!("gpu-{name}")));
    for dataset in datasets {
        for point in dataset["points"].as_array().expect("points") {
            let size = point["coordinates"]["size_bytes"].as_u64().unwrap_or(4096);
            let outcome = &point["outcome"];
            // 1 B and 100 B are too small for a device.
            let expected = if size <= 100 {
                "unsupported"
            } else {
                "measured"
            };
            assert_eq!(outcome["status"], expected, "{point}");
            if expected == "measured" {
                assert!(
                    outcome["summary"]["median"]
                        .as_f64()
                        .is_some_and(|m| m > 0.0)
                );
            }
        }
    }
    let kinds = kinds(&report);
    for kind in ["gpu-local", "gpu-atomics", "gpu-transfers"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    // 64 KiB fit into a cache, so there are no findings about the memory.
    for kind in ["gpu-memory", "gpu-tokens", "gpu-groups"] {
        assert!(!kinds.contains(&kind), "{kind}: {kinds:?}");
    }
}

/// Kinds of the findings of a report.
fn kinds(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().expect("findings");
    let kinds = findings.iter().map(|finding| finding["kind"].as_str());
    kinds.map(|kind| kind.expect("a kind")).collect()
}

#[test]
fn findings_about_memory_need_a_working_set_beyond_the_cache() {
    let folder = folder();
    let Some(first) = devices().and_then(|all| all.first().cloned()) else {
        return;
    };
    let Some(cache) = first["cache"]["value"].as_u64() else {
        return;
    };
    let line = format!(
        "gpu --devices 0 --measure bandwidth --ops read --sizes {} --groups 1 --model-size 1GB \
         --samples 6 --budget 60s -o r.json",
        cache * 4
    );
    let run = typed(&line, folder.path());
    let report = json(&read(&folder.path().join("r.json")));
    let points = report["datasets"][0]["points"].as_array().expect("points");
    assert_eq!(points.len(), 2, "{run:?}");
    let kinds = kinds(&report);
    let all = points.iter().all(|p| p["outcome"]["status"] == "measured");
    assert_eq!(all, kinds.contains(&"gpu-memory"), "{kinds:?}");
    assert_eq!(all, kinds.contains(&"gpu-tokens"), "{kinds:?}");
    let per_token = report["findings"].as_array().expect("findings").iter();
    for finding in per_token.filter(|finding| finding["kind"] == "gpu-tokens") {
        let tokens = finding["values"]["tokens_per_second"]
            .as_f64()
            .expect("a number");
        let median = |p: &Value| {
            p["outcome"]["summary"]["median"]
                .as_f64()
                .expect("a number")
        };
        let fastest = points.iter().map(median).fold(0.0, f64::max);
        assert!(
            (tokens - fastest / 1e9).abs() < 1e-6 * tokens,
            "{tokens} {fastest}"
        );
    }
}

/// Source of a library that reports the first device of this machine as a GPU. All other functions
/// are those of the OpenCL library.
const CALLED_A_GPU: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
typedef int (*query)(void *, unsigned, size_t, void *, size_t *);
int clGetDeviceInfo(void *device, unsigned key, size_t room, void *value, size_t *length) {
    query real = (query)dlsym(RTLD_NEXT, "clGetDeviceInfo");
    int code = real(device, key, room, value, length);
    if (code == 0 && key == 0x1000 && value) *(unsigned long long *)value = 4;
    return code;
}
"#;

/// Makes a folder with this library, for `LD_LIBRARY_PATH`. `None` without OpenCL or a C compiler.
fn with_a_gpu() -> Option<tempfile::TempDir> {
    let real = "/usr/lib/x86_64-linux-gnu/libOpenCL.so.1";
    let mut bytes = std::fs::read(real).ok()?;
    // The real library gets another name, because the loader loads only one library of each name.
    let [name, other] = [&b"libOpenCL.so.1\0"[..], b"libOpenCX.so.1\0"];
    for at in 0..bytes.len() - name.len() {
        if bytes[at..].starts_with(name) {
            bytes[at..at + name.len()].copy_from_slice(other);
        }
    }
    let folder = folder();
    put(folder.path(), "libOpenCX.so.1", &bytes);
    put(folder.path(), "shim.c", CALLED_A_GPU.as_bytes());
    let status = Command::new("cc")
        .current_dir(folder.path())
        .args(["-shared", "-fPIC", "-o", "libOpenCL.so.1", "shim.c"])
        .args(["-Wl,--no-as-needed", "./libOpenCX.so.1"])
        .status()
        .ok()?;
    assert!(status.success(), "the library cannot be built");
    Some(folder)
}

#[test]
fn a_gpu_is_part_of_a_session_about_the_machine() {
    let Some(gpu) = devices().and_then(|_| with_a_gpu()) else {
        return;
    };
    let folder = folder();
    let start = |line: &str| {
        let mut command = program(folder.path());
        command.env("LD_LIBRARY_PATH", gpu.path());
        command.args(line.split_whitespace());
        finish(command, LIMIT)
    };
    let listed = start("list gpus --format json");
    assert_eq!(json(&listed.stdout)[0]["kind"], "gpu", "{listed:?}");
    let run = start("--budget 8s -o r.json");
    assert!(matches!(run.code, Some(0 | 3)), "{run:?}");
    let report = json(&read(&folder.path().join("r.json")));
    assert_eq!(report["provenance"]["host"]["gpus"][0]["kind"], "gpu");
    let datasets = report["datasets"].as_array().expect("datasets");
    let named = |name: &str| datasets.iter().find(|d| d["experiment"] == name);
    for (name, points) in [
        ("gpu-bandwidth", 3),
        ("gpu-latency", 2),
        ("gpu-transfers", 6),
    ] {
        let planned = &named(name).expect("a dataset")["points"];
        assert_eq!(planned.as_array().map(Vec::len), Some(points), "{name}");
    }
    // Other sessions do not measure the GPU.
    for line in ["--only latency", "--profile quick"] {
        let plan = start(&format!("run {line} --dry-run --format json"));
        assert_eq!(plan.code, Some(0), "{line}: {plan:?}");
        assert!(!plan.stdout.contains("gpu-"), "{line}: {plan:?}");
    }
}

/// pocl reports the CPU as two devices if a variable requests it.
#[test]
fn copies_between_two_devices_are_measured_in_both_directions() {
    if devices().is_none() {
        return;
    }
    let folder = folder();
    let start = |line: &str| {
        let mut command = program(folder.path());
        command.env("POCL_DEVICES", "pthread basic");
        command.args(line.split_whitespace());
        finish(command, LIMIT)
    };
    let listed = start("list gpus --format json");
    if json(&listed.stdout).as_array().map_or(0, Vec::len) < 2 {
        return;
    }
    let run = start(
        "gpu --devices 0,1 --measure peers --transfer-sizes 4KiB,1MiB,100 --samples 6 --budget 40s \
         -o r.json",
    );
    assert_eq!(run.code, Some(0), "{run:?}");
    let report = json(&read(&folder.path().join("r.json")));
    let points = report["datasets"][0]["points"].as_array().expect("points");
    let ways: Vec<(u64, u64)> = points
        .iter()
        .filter(|point| point["outcome"]["status"] == "measured")
        .map(|point| {
            let number = |axis: &str| point["coordinates"][axis].as_u64().expect("a number");
            (number("device"), number("peer"))
        })
        .collect();
    assert_eq!(ways, [(0, 1), (0, 1), (1, 0), (1, 0)]);
    assert!(kinds(&report).contains(&"gpu-peers"));
    let alone = start("gpu --devices 0 --measure peers");
    assert_eq!(alone.code, Some(2), "{alone:?}");
    assert!(alone.stderr.contains("--devices 0,1"), "{alone:?}");
}

#[test]
fn an_interrupted_session_on_a_device_is_continued() {
    if devices().is_none_or(|all| all.is_empty()) {
        return;
    }
    let folder = folder();
    let line = "gpu --devices 0 --measure local,atomics --samples 6 --budget 40s -o r.json";
    let run = typed(line, folder.path());
    assert_eq!(run.code, Some(0), "{run:?}");
    // The report is changed into the report of a session that was interrupted before its last
    // point.
    let file = folder.path().join("r.json");
    let mut report = json(&read(&file));
    report["status"] = "interrupted".into();
    let datasets = report["datasets"].as_array_mut().expect("datasets");
    let points = datasets.iter_mut().flat_map(|d| d["points"].as_array_mut());
    let last = points.flatten().last().expect("a point");
    last["outcome"] = serde_json::json!({"status": "interrupted", "reason": "test"});
    put(folder.path(), "r.json", report.to_string().as_bytes());
    let run = typed(&format!("{line} --resume r.json"), folder.path());
    assert_eq!(run.code, Some(0), "{run:?}");
    let report = json(&read(&file));
    assert_eq!(report["status"], "complete");
    let datasets = report["datasets"].as_array().expect("datasets");
    let points = datasets
        .iter()
        .flat_map(|d| d["points"].as_array())
        .flatten();
    let outcomes: Vec<&Value> = points.map(|p| &p["outcome"]["status"]).collect();
    assert_eq!(outcomes, ["measured"; 3]);
}

/// The process for drivers gets no request to end here, as if the program had been killed.
#[test]
fn the_process_for_drivers_ends_with_its_program() {
    let run = typed("--serve-gpu-drivers", folder().path());
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(run.stdout, "");
}
