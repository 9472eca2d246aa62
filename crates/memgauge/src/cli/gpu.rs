//! The command `memgauge gpu`, and the devices for `memgauge list gpus`.

use super::common_options::MachineOptions;
use super::exit::Exit;
use super::gpu_drivers::drivers;
use super::gpu_options::GpuOptions;
use super::measure::{Defaults, measure};
use super::sampling::default_sampling;
use super::terminal::terminal_width;
use gpu::{GpuRunner, chosen_devices, width};
use host::gpu::Drivers;
use report::GpuFacts;
use units::error::Result;

/// Runs `memgauge gpu`. `words` is the command line.
pub fn gpu(options: GpuOptions, words: Vec<String>) -> Result<Exit> {
    let GpuOptions { settings, common } = options;
    let drivers = drivers()?;
    let chosen = chosen_devices(&settings, &drivers.devices()?)?;
    // Opening a device compiles its kernels. The devices are opened first, so that a failure is
    // reported before anything is measured.
    let opened = chosen.iter().map(|device| {
        let opened = drivers.open(device.number, width(device))?;
        Ok(opened.facts().clone())
    });
    let devices = opened.collect::<Result<Vec<GpuFacts>>>()?;
    let experiments = gpu::experiments(&settings, &devices);
    let runner = GpuRunner::new(&devices, Box::new(drivers));
    measure(
        experiments,
        &common,
        &MachineOptions::default(),
        Defaults {
            external: Some(Box::new(|_| Ok(Box::new(runner)))),
            gpus: devices,
            ..Defaults::new("gpu", default_sampling())
        },
        words,
    )
}

/// All devices as a table, one block of facts for each.
pub fn table(devices: &[GpuFacts]) -> String {
    if devices.is_empty() {
        return "The drivers of this machine list no device.\n".to_owned();
    }
    render::gpu_table(devices, terminal_width())
}
