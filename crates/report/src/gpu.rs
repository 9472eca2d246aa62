//! Facts about devices with memory of their own.

use super::fact::Fact;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Hertz};

/// A device that a driver offers for computations: a GPU, an accelerator, or the CPUs themselves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GpuFacts {
    /// Number of the device, in the order in which its driver lists devices.
    pub number: u32,
    /// Name of the device, from its driver.
    pub name: String,
    /// Vendor of the device, from its driver.
    pub vendor: String,
    /// `gpu`, `cpu`, `accelerator` or `other`.
    pub kind: String,
    /// Programming interface that reaches the device: `opencl`.
    pub interface: String,
    /// Name and version of the driver.
    pub driver: Fact<String>,
    /// Memory of the device. For a CPU, a part of the main memory.
    pub memory: Fact<Bytes>,
    /// Largest single allocation.
    pub largest_allocation: Fact<Bytes>,
    /// Cache that all compute units share.
    pub cache: Fact<Bytes>,
    /// Size of a line of that cache.
    pub line: Fact<Bytes>,
    /// Memory that the work-items of a work-group share, per compute unit.
    pub local_memory: Fact<Bytes>,
    /// Compute units: streaming multiprocessors, compute units, or CPUs.
    pub compute_units: Fact<u32>,
    /// Highest clock rate of the compute units.
    pub clock: Fact<Hertz>,
    /// True if errors in the memory are corrected (ECC).
    pub ecc: Fact<bool>,
    /// True if the device uses the main memory of the machine.
    pub shares_host_memory: Fact<bool>,
    /// Digest of the code that the driver made of the kernels: the first 16 digits of its SHA-256.
    pub code: Fact<String>,
}
