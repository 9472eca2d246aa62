//! The GPUs in a session about the whole machine.

use super::gpu_drivers::drivers;
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

/// Longest wait for a reply of the drivers while GPUs are listed and opened in a session about the
/// whole machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Makes a few points about every GPU that no other program is known to use. If the session
/// continues another one, the devices of that session (`earlier`) are measured instead. A GPU that
/// cannot be measured is reported to the user and left out. `None` if no GPU is left.
pub(super) fn of_machine(earlier: Option<&[GpuFacts]>) -> Option<OnGpus> {
    let lasting = drivers().ok()?;
    let mut brief = lasting.clone();
    brief.limits.reply = PATIENCE;
    let listed = brief.try_devices().unwrap_or_else(|why| {
        tell(&format!("memgauge: note: no GPU is measured: {why}"));
        None
    })?;
    let is_wanted = |device: &&GpuFacts| match earlier {
        Some(earlier) => earlier.iter().any(|one| one.number == device.number),
        None => device.kind == "gpu",
    };
    let mut devices = Vec::new();
    for device in listed.iter().filter(is_wanted) {
        match opened(device, &brief, earlier.is_some()) {
            Ok(facts) => devices.push(facts),
            Err(why) => tell(&format!(
                "memgauge: note: GPU {} ({}) is left out: {why}",
                device.number, device.name
            )),
        }
    }
    (!devices.is_empty()).then(|| OnGpus {
        experiments: brief_experiments(&devices),
        runner: GpuRunner::new(&devices, Box::new(lasting)),
        devices,
    })
}

/// Opens the device and returns facts about it.
///
/// # Errors
/// Its driver failed, or other programs use it and it may not be shared.
fn opened(device: &GpuFacts, drivers: &dyn Drivers, may_be_shared: bool) -> Result<GpuFacts> {
    let mut opened = drivers.open(device.number, width(device))?;
    let others = opened.conditions().other_programs;
    if let Some(count @ 1..) = others.filter(|_| !may_be_shared) {
        let programs = counted(count, "other program");
        return Err(Error::failure(format!(
            "used by {programs}; to measure it anyway, type memgauge gpu --devices {}",
            device.number
        )));
    }
    Ok(opened.facts().clone())
}
