//! Devices with memory of their own: how they are listed, and how kernels run on them.
//!
//! [`devices`] lists the devices of every driver. A [`GpuDevice`] has buffers, runs the kernels of
//! `kernels.cl`, and moves data from and to the main memory. [`Call`] says what a kernel does to a
//! buffer, and is checked against the size of the buffer before it runs.

mod call;
mod device;
mod opencl;

pub use call::{Call, Count, GpuBuffer, LocalRead, Stream, StreamOperation};
pub use device::{Direction, GpuDevice, HostMemory, SOURCE, Timing, Transfer};

use report::GpuFacts;
use units::error::Result;

/// Facts about all devices of all drivers.
///
/// # Errors
/// No driver can be opened; the reason.
pub fn devices() -> Result<Vec<GpuFacts>> {
    opencl::devices()
}

/// Opens device `number` of [`devices`] and builds the kernels for it. A word of the kernels has
/// `width` lanes of 64 bits: 2 or 8.
///
/// # Errors
/// There is no such device, or its driver failed.
pub fn open(number: u32, width: u32) -> Result<Box<dyn GpuDevice>> {
    opencl::open(number, width)
}
