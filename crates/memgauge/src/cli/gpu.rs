//! `memgauge gpu`, and the devices for `memgauge list gpus`.

use super::common_options::MachineOptions;
use super::exit::Exit;
use super::gpu_drivers::drivers;
use super::gpu_options::GpuOptions;
use super::measure::{Defaults, measure};
use super::sampling::default_sampling;
use super::terminal::terminal_width;
use gpu::{GpuRunner, chosen_devices, experiments, width};
use report::{Fact, GpuFacts};
use std::fmt::Display;
use units::error::Result;

/// `memgauge gpu`
pub fn gpu(options: GpuOptions, words: Vec<String>) -> Result<Exit> {
    let GpuOptions { settings, common } = options;
    let drivers = drivers()?;
    let chosen = chosen_devices(&settings, &drivers.devices()?)?;
    // Opening a device compiles the kernels. A failure is told before anything is measured.
    let opened = chosen.iter().map(|device| {
        let opened = drivers.open(device.number, width(device))?;
        Ok(opened.facts().clone())
    });
    let devices = opened.collect::<Result<Vec<GpuFacts>>>()?;
    let experiments = experiments(&settings, &devices);
    let runner = GpuRunner::new(&devices, drivers);
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
    let mut rows = Vec::new();
    for device in devices {
        let number = device.number.to_string();
        rows.push(vec![
            number,
            "name".to_owned(),
            device.name.clone(),
            String::new(),
        ]);
        let mut fact = |name: &str, value: Option<String>, source: &str| {
            let value = value.unwrap_or_else(|| "unknown".to_owned());
            rows.push(vec![
                String::new(),
                name.to_owned(),
                value,
                source.to_owned(),
            ]);
        };
        fact("vendor", Some(device.vendor.clone()), "");
        fact("kind", Some(device.kind.clone()), "");
        fact("interface", Some(device.interface.clone()), "");
        fact("driver", shown(&device.driver), &device.driver.source);
        fact("memory", shown(&device.memory), &device.memory.source);
        fact(
            "largest allocation",
            shown(&device.largest_allocation),
            &device.largest_allocation.source,
        );
        fact("shared cache", shown(&device.cache), &device.cache.source);
        fact("cache line", shown(&device.line), &device.line.source);
        fact(
            "local memory",
            shown(&device.local_memory),
            &device.local_memory.source,
        );
        fact(
            "compute units",
            shown(&device.compute_units),
            &device.compute_units.source,
        );
        fact("clock", shown(&device.clock), &device.clock.source);
        let yes = |fact: &Fact<bool>| {
            fact.get()
                .map(|&yes| if yes { "yes" } else { "no" }.to_owned())
        };
        fact("error correction", yes(&device.ecc), &device.ecc.source);
        fact(
            "PCI address",
            shown(&device.pci_address),
            &device.pci_address.source,
        );
        fact("link", shown(&device.link), &device.link.source);
        fact(
            "NUMA node",
            shown(&device.numa_node),
            &device.numa_node.source,
        );
        fact(
            "uses main memory",
            yes(&device.shares_host_memory),
            &device.shares_host_memory.source,
        );
    }
    render::list_table(
        &["device", "fact", "value", "source"],
        &rows,
        terminal_width(),
    )
}

fn shown<T: Display>(fact: &Fact<T>) -> Option<String> {
    fact.get().map(ToString::to_string)
}
