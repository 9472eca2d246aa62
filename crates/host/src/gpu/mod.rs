//! Devices with memory of their own: how they are listed, and how kernels run on them.
//!
//! [`Drivers`] list the devices and open them: in this process, or in one of their own. A
//! [`GpuDevice`] has buffers, runs the kernels of `kernels.cl`, and moves data from and to the main
//! memory. [`Call`] says what a kernel does to a buffer, and is checked against the size of the
//! buffer before it runs.

mod call;
mod contents;
mod device;
mod driver_process;
mod opencl;
mod pci;

pub use call::{Call, Count, GpuBuffer, LocalRead, Stream, StreamOperation};
pub use contents::{filled, is_filled};
pub use device::{Direction, GpuDevice, HostMemory, SOURCE, Timing, Transfer};
pub use driver_process::{DriverLimits, DriverProcesses, DriverProgram, open_over, serve};

use crate::facts::SystemFiles;
use report::GpuFacts;
use std::fmt::Debug;
use units::error::Result;

/// A way to the drivers of this machine.
pub trait Drivers: Debug {
    /// Facts about all devices of all drivers.
    ///
    /// # Errors
    /// No driver can be opened; the reason.
    fn devices(&self) -> Result<Vec<GpuFacts>>;

    /// Opens device `number` of [`Drivers::devices`] and builds the kernels for it. A word of the
    /// kernels has `width` lanes of 64 bits: 2 or 8.
    ///
    /// # Errors
    /// There is no such device, or its driver failed.
    fn open(&self, number: u32, width: u32) -> Result<Box<dyn GpuDevice>>;
}

/// Drivers in this process.
#[derive(Debug, Clone, Copy)]
pub struct DriversHere;

impl Drivers for DriversHere {
    fn devices(&self) -> Result<Vec<GpuFacts>> {
        let mut all = opencl::devices()?;
        for device in &mut all {
            pci::complete(device, &SystemFiles::real());
        }
        Ok(all)
    }

    fn open(&self, number: u32, width: u32) -> Result<Box<dyn GpuDevice>> {
        let mut device = opencl::open(number, width)?;
        pci::complete(device.facts_mut(), &SystemFiles::real());
        Ok(Box::new(device))
    }
}
