//! The GPUs that a session about the whole machine measures, too.

use super::gpu_drivers::drivers_within;
use super::output::tell;
use experiments::Experiment;
use gpu::{GpuRunner, brief_experiments, width};
use host::gpu::Drivers;
use report::GpuFacts;
use std::time::Duration;
use units::counted;
use units::error::{Error, Result};

/// Work on GPUs that is part of a session about the machine.
pub(super) struct OnGpus {
    pub(super) experiments: Vec<Box<dyn Experiment>>,
    pub(super) devices: Vec<GpuFacts>,
    pub(super) runner: GpuRunner,
}

/// How long the drivers may take to list and to open the GPUs of a session about the machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Few points about every GPU that no other program uses. `None` without a GPU. A GPU that cannot be
/// measured is told, and left out.
pub(super) fn of_machine() -> Option<OnGpus> {
    let drivers = drivers_within(PATIENCE).ok()?;
    let lasting = super::gpu_drivers::drivers().ok()?;
    let listed = drivers.devices().ok()?;
    let mut devices = Vec::new();
    for device in listed.iter().filter(|device| device.kind == "gpu") {
        match free(device, drivers.as_ref()) {
            Ok(facts) => devices.push(facts),
            Err(why) => tell(&format!(
                "memgauge: note: GPU {} ({}) is left out: {why}",
                device.number, device.name
            )),
        }
    }
    (!devices.is_empty()).then(|| OnGpus {
        experiments: brief_experiments(&devices),
        runner: GpuRunner::new(&devices, lasting),
        devices,
    })
}

/// Facts about the opened device.
///
/// # Errors
/// Its driver failed, or other programs use it.
fn free(device: &GpuFacts, drivers: &dyn Drivers) -> Result<GpuFacts> {
    let mut opened = drivers.open(device.number, width(device))?;
    if let Some(count @ 1..) = opened.conditions().other_programs {
        let programs = counted(count, "other program");
        return Err(Error::failure(format!(
            "used by {programs}; to measure it anyway, type memgauge gpu --devices {}",
            device.number
        )));
    }
    Ok(opened.facts().clone())
}
