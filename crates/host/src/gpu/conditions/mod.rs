//! Conditions of a device: clocks, heat, power, and other programs that use it.
//!
//! NVIDIA's driver reports the conditions through a library (NVML), and AMD's driver through files
//! of Linux.

mod amd;
mod nvml;
mod sensors;

pub use sensors::{GpuConditions, Sensors, Slowdown};

use crate::facts::SystemFiles;
use nvml::Nvml;
use report::GpuFacts;

/// The sensors of a device; `None` if no driver that is known here reports any.
pub fn sensors_of(facts: &GpuFacts, files: &SystemFiles) -> Option<Box<dyn Sensors>> {
    let address = facts.pci_address.get()?;
    if let Some(found) = amd::AmdFiles::new(address, files) {
        return Some(Box::new(found));
    }
    let found = Nvml::open(nvml::library(), address).ok()?;
    Some(Box::new(found))
}
