//! Tests with a library that has the functions of NVML and recorded answers. The C compiler that
//! links Rust programs builds it.

use super::super::sensors::{GpuConditions, Sensors, Slowdown};
use super::Nvml;
use report::GpuFacts;
use std::path::{Path, PathBuf};
use std::process::Command;
use units::{Bytes, Hertz};

/// Functions of a driver of today. Each test defines the answers that differ from the usual ones.
const TODAY: &str = r#"
#include <string.h>
typedef struct { unsigned long long total, free, used; } memory;
#ifndef REASONS
#define REASONS 0
#endif
#ifndef PROCESSES
#define PROCESSES 1
#endif
#ifndef LOST
#define LOST 0
#endif
static int device;
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **found) {
    *found = &device;
    return strcmp(address, "0000:65:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetMemoryBusWidth(void *d, unsigned *bits) { *bits = 5120; return LOST; }
int nvmlDeviceGetMaxClockInfo(void *d, unsigned kind, unsigned *rate) {
    *rate = kind == 2 ? 2619 : 1980;
    return LOST;
}
int nvmlDeviceGetClockInfo(void *d, unsigned kind, unsigned *rate) {
    *rate = kind == 2 ? 2619 : 1755;
    return LOST;
}
int nvmlDeviceGetTemperature(void *d, unsigned sensor, unsigned *degrees) {
    *degrees = 41;
    return sensor == 0 ? LOST : 2;
}
int nvmlDeviceGetPowerUsage(void *d, unsigned *milliwatts) { *milliwatts = 312500; return LOST; }
int nvmlDeviceGetEnforcedPowerLimit(void *d, unsigned *milliwatts) {
    *milliwatts = 700000;
    return LOST;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *bits) {
    *bits = REASONS;
    return LOST;
}
int nvmlDeviceGetMemoryInfo(void *d, memory *m) {
    m->total = 3;
    m->free = 1;
    m->used = 2;
    return LOST;
}
int nvmlDeviceGetMigMode(void *d, unsigned *now, unsigned *later) {
    *now = 1;
    *later = 0;
    return LOST;
}
int nvmlDeviceGetEccMode(void *d, unsigned *now, unsigned *later) {
    *now = 0;
    *later = 1;
    return LOST;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *count, void *list) {
    *count = PROCESSES;
    return LOST ? LOST : PROCESSES ? 7 : 0;
}
"#;

/// Functions of a driver of 2012.
const OLD: &str = "int nvmlInit(void) { return 0; }";

/// A library that was built from C code.
struct Built {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Built {
    /// Builds `source` with these definitions of the preprocessor. `None` without a C compiler.
    fn new(source: &str, definitions: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let text = folder.path().join("answers.c");
        std::fs::write(&text, source).expect("a file");
        let path = folder.path().join("libanswers.so");
        let status = Command::new("cc")
            .args(["-shared", "-fPIC", "-w"])
            .args(definitions)
            .arg("-o")
            .args([Path::new(&path), &text])
            .status()
            .ok()?;
        assert!(status.success(), "the library cannot be built");
        Some(Self {
            _folder: folder,
            path,
        })
    }

    fn name(&self) -> &str {
        self.path.to_str().expect("a plain path")
    }
}

/// Conditions of a device whose library was built with these definitions. `None` without a C
/// compiler.
fn conditions(definitions: &[&str]) -> Option<GpuConditions> {
    let built = Built::new(TODAY, definitions)?;
    let device = Nvml::open(built.name(), "0000:65:00.0").expect("a device");
    Some(device.conditions())
}

/// Conditions according to the usual answers of the library.
fn usual() -> GpuConditions {
    GpuConditions {
        core_clock: Some(Hertz(1.755e9)),
        memory_clock: Some(Hertz(2.619e9)),
        celsius: Some(41.0),
        watts: Some(312.5),
        slowdown: None,
        other_programs: Some(0),
        memory_used: Some(Bytes(2)),
    }
}

#[test]
fn conditions_are_read_with_their_units() {
    let slowed = |slowdown| GpuConditions {
        slowdown: Some(slowdown),
        ..usual()
    };
    let programs = |other_programs| GpuConditions {
        other_programs,
        ..usual()
    };
    let rows = [
        ("-DREASONS=0", usual()),
        // These bits mean that the device is idle, or that its user set the clocks.
        ("-DREASONS=0x3", usual()),
        ("-DREASONS=0x20", slowed(Slowdown::Heat)),
        ("-DREASONS=0x44", slowed(Slowdown::Heat)),
        ("-DREASONS=0x88", slowed(Slowdown::PowerSupply)),
        // Older devices do not report whether heat or power is the reason.
        ("-DREASONS=0xc", slowed(Slowdown::HeatOrPower)),
        ("-DREASONS=0x4", slowed(Slowdown::PowerLimit)),
        ("-DPROCESSES=3", programs(Some(2))),
        // In a container, the driver lists no process.
        ("-DPROCESSES=0", programs(None)),
        // This code means that the device fell off the bus.
        ("-DLOST=15", GpuConditions::default()),
    ];
    for (definition, expected) in rows {
        let Some(seen) = conditions(&[definition]) else {
            return;
        };
        assert_eq!(seen, expected, "{definition}");
    }
}

#[test]
fn facts_are_completed_with_their_source() {
    let Some(built) = Built::new(TODAY, &[]) else {
        return;
    };
    let device = Nvml::open(built.name(), "0000:65:00.0").expect("a device");
    let mut facts = GpuFacts::unknown("test");
    device.complete(&mut facts);
    assert_eq!(facts.bus_width.get(), Some(&5120));
    assert_eq!(facts.memory_clock.get(), Some(&Hertz(2.619e9)));
    assert_eq!(facts.power_limit.get(), Some(&700.0));
    assert_eq!(facts.partitioned.get(), Some(&true));
    // The present setting counts, and not the setting after a restart.
    assert_eq!(facts.ecc.get(), Some(&false));
    // Two transfers per clock cycle on 640 B: the figure that NVIDIA publishes for an H100 SXM.
    assert_eq!(facts.memory_peak(), None, "a share of a device");
    facts.partitioned.value = Some(false);
    let peak = facts.memory_peak().expect("a peak");
    assert!((peak.0 - 3.352e12).abs() < 1e9, "{peak:?}");
}

#[test]
fn libraries_that_cannot_be_used_are_errors() {
    let Some(built) = Built::new(TODAY, &[]) else {
        return;
    };
    assert!(Nvml::open(built.name(), "0000:01:00.0").is_err());
    assert!(Nvml::open("libmemgauge-none.so", "0000:65:00.0").is_err());
    let old = Built::new(OLD, &[]).expect("a C compiler");
    let why = Nvml::open(old.name(), "0000:65:00.0").expect_err("too old");
    assert!(why.to_string().contains("too old"), "{why}");
}
