//! Lists devices with memory of their own, and runs kernels on them.
//!
//! [`Drivers`] list the devices and open them, in this process or in a separate process. A
//! [`GpuDevice`] has buffers, runs the kernels of `kernels.cl`, and moves data from and to the main
//! memory. [`Call`] says what a kernel does to a buffer, and is checked against the size of the
//! buffer before it runs.

mod call;
mod conditions;
mod contents;
mod device;
mod driver_process;
mod library;
mod opencl;
mod pci;

pub use call::{Call, Count, GpuBuffer, LocalRead, Stream, StreamOperation};
pub use conditions::{GpuConditions, Slowdown};
pub use contents::{filled, is_filled};
pub use device::{Direction, GpuDevice, HostMemory, PeerCopy, SOURCE, Timing, Transfer};
pub use driver_process::{DriverLimits, DriverProcesses, DriverProgram, open_over, serve};

use crate::facts::SystemFiles;
use conditions::{Sensors, sensors_of};
use report::GpuFacts;
use std::fmt::Debug;
use units::error::Result;

/// Access to the drivers of this machine.
pub trait Drivers: Debug {
    /// Facts about all devices of all drivers.
    ///
    /// # Errors
    /// No driver can be opened. The text is the reason.
    fn devices(&self) -> Result<Vec<GpuFacts>>;

    /// Opens device `number` of [`Drivers::devices`] and builds the kernels for it. A word of the
    /// kernels has `width` lanes of 64 bits: 2 or 8.
    ///
    /// # Errors
    /// There is no such device, or its driver failed.
    fn open(&self, number: u32, width: u32) -> Result<Box<dyn GpuDevice>>;

    /// Opens device `number` with device `peer`, so that data can be copied from one to the other.
    ///
    /// # Errors
    /// A device does not exist, its driver failed, or the devices have different drivers.
    fn open_pair(&self, number: u32, peer: u32, width: u32) -> Result<Box<dyn GpuDevice>>;
}

/// Opens drivers in this process.
#[derive(Debug, Clone, Copy)]
pub struct DriversHere;

impl Drivers for DriversHere {
    fn devices(&self) -> Result<Vec<GpuFacts>> {
        let mut all = opencl::devices()?;
        for device in &mut all {
            complete(device);
        }
        Ok(all)
    }

    fn open(&self, number: u32, width: u32) -> Result<Box<dyn GpuDevice>> {
        open_here(number, None, width)
    }

    fn open_pair(&self, number: u32, peer: u32, width: u32) -> Result<Box<dyn GpuDevice>> {
        open_here(number, Some(peer), width)
    }
}

/// Opens a device, with its peer if there is one, in this process.
fn open_here(number: u32, peer: Option<u32>, width: u32) -> Result<Box<dyn GpuDevice>> {
    let mut device = opencl::open(number, peer, width)?;
    let sensors = complete(device.facts_mut());
    device.set_sensors(sensors);
    Ok(Box::new(device))
}

/// Adds to `facts` the facts that OpenCL does not report. Returns the device's sensors; `None` if
/// the device has none.
fn complete(facts: &mut GpuFacts) -> Option<Box<dyn Sensors>> {
    let files = SystemFiles::real();
    pci::complete(facts, &files);
    let sensors = sensors_of(facts, &files);
    if let Some(sensors) = &sensors {
        sensors.complete(facts);
    }
    sensors
}
