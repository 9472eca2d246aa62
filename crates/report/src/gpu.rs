//! Facts about devices with memory of their own.

use super::fact::Fact;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use units::{Bytes, BytesPerSecond, Hertz};

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
    /// Size of the device's memory. If the device is a CPU, this memory is a part of the main
    /// memory.
    pub memory: Fact<Bytes>,
    /// Size of the largest allocation that the driver allows.
    pub largest_allocation: Fact<Bytes>,
    /// Size of the cache that all compute units share.
    pub cache: Fact<Bytes>,
    /// Size of a line of that cache.
    pub line: Fact<Bytes>,
    /// Size of the local memory of each compute unit. The work-items of a work-group share this
    /// memory.
    pub local_memory: Fact<Bytes>,
    /// Number of streaming multiprocessors, compute units or CPUs, depending on the device.
    pub compute_units: Fact<u32>,
    /// Highest clock rate of the compute units.
    pub clock: Fact<Hertz>,
    /// True if errors in the memory are corrected (ECC).
    pub ecc: Fact<bool>,
    /// True if the device uses the main memory of the machine.
    pub shares_host_memory: Fact<bool>,
    /// Width of the bus between the device and its memory, in bits.
    #[serde(default)]
    pub bus_width: Fact<u32>,
    /// Highest clock rate of the memory.
    #[serde(default)]
    pub memory_clock: Fact<Hertz>,
    /// Limit of the device's power, in W.
    #[serde(default)]
    pub power_limit: Fact<f64>,
    /// True if the device is one part of a divided GPU (MIG).
    #[serde(default)]
    pub partitioned: Fact<bool>,
    /// Address of the device on the PCI bus: `0000:65:00.0`.
    #[serde(default)]
    pub pci_address: Fact<String>,
    /// Link between the device and the machine.
    #[serde(default)]
    pub link: Fact<PciLink>,
    /// NUMA node that the device is attached to.
    #[serde(default)]
    pub numa_node: Fact<u32>,
    /// Digest of the code that the driver compiled from the kernels: the first 16 digits of its
    /// SHA-256.
    pub code: Fact<String>,
}

impl GpuFacts {
    /// Facts of a device about which nothing is known; `reason` says why.
    pub fn unknown(reason: &str) -> Self {
        let word = || "unknown".to_owned();
        GpuFacts {
            number: 0,
            name: word(),
            vendor: word(),
            kind: "other".to_owned(),
            interface: word(),
            driver: Fact::unknown(reason),
            memory: Fact::unknown(reason),
            largest_allocation: Fact::unknown(reason),
            cache: Fact::unknown(reason),
            line: Fact::unknown(reason),
            local_memory: Fact::unknown(reason),
            compute_units: Fact::unknown(reason),
            clock: Fact::unknown(reason),
            ecc: Fact::unknown(reason),
            shares_host_memory: Fact::unknown(reason),
            bus_width: Fact::unknown(reason),
            memory_clock: Fact::unknown(reason),
            power_limit: Fact::unknown(reason),
            partitioned: Fact::unknown(reason),
            pci_address: Fact::unknown(reason),
            link: Fact::unknown(reason),
            numa_node: Fact::unknown(reason),
            code: Fact::unknown(reason),
        }
    }
}

impl GpuFacts {
    /// Highest possible bandwidth of the memory: two transfers per clock cycle on the whole width
    /// of the bus. `None` if the bus width or the memory clock is unknown, or if the device is one
    /// part of a divided GPU.
    pub fn memory_peak(&self) -> Option<BytesPerSecond> {
        if self.partitioned.get() == Some(&true) {
            return None;
        }
        let bytes = f64::from(*self.bus_width.get()?) / 8.0;
        Some(BytesPerSecond(2.0 * self.memory_clock.get()?.0 * bytes))
    }
}

/// A PCI Express link.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PciLink {
    /// Rate on which both ends of the link agreed. Many devices lower this rate while they are
    /// idle.
    pub current: PciRate,
    /// Highest rate that the device supports.
    pub highest: PciRate,
}

/// Rate of a PCI Express link.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PciRate {
    /// Transfers per second of each lane, in GT/s.
    pub gigatransfers: f64,
    /// Number of lanes.
    pub lanes: u32,
}

impl PciLink {
    /// Highest rate that this link can reach: the device's highest transfer rate, with the number
    /// of lanes that the link has now.
    pub fn possible(self) -> PciRate {
        PciRate {
            gigatransfers: self.highest.gigatransfers,
            lanes: self.current.lanes,
        }
    }
}

impl PciRate {
    /// Generation of PCI Express that has this transfer rate, and the share of transferred bits
    /// that is payload. Source: PCI Express Base Specification 6.0, sections 2.1 and 4.2.
    fn generation(self) -> (&'static str, f64) {
        const EIGHT_OF_TEN: f64 = 8.0 / 10.0;
        const MOST_OF_130: f64 = 128.0 / 130.0;
        // A flit, the fixed unit of transfer since PCI Express 6.0, has 256 B. It carries 236 B of
        // packets.
        const FLITS: f64 = 236.0 / 256.0;
        match self.gigatransfers {
            rate if rate < 4.0 => ("1.0", EIGHT_OF_TEN),
            rate if rate < 6.0 => ("2.0", EIGHT_OF_TEN),
            rate if rate < 12.0 => ("3.0", MOST_OF_130),
            rate if rate < 24.0 => ("4.0", MOST_OF_130),
            rate if rate < 48.0 => ("5.0", MOST_OF_130),
            rate if rate < 96.0 => ("6.0", FLITS),
            _ => ("7.0", FLITS),
        }
    }

    /// Bytes per second in one direction, headers of packets included.
    pub fn bandwidth(self) -> BytesPerSecond {
        let (_, payload) = self.generation();
        BytesPerSecond(self.gigatransfers * 1e9 * f64::from(self.lanes) * payload / 8.0)
    }
}

impl fmt::Display for PciRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PCIe {} x{}", self.generation().0, self.lanes)
    }
}

impl fmt::Display for PciLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {} at most", self.current, self.highest)
    }
}
