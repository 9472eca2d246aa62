//! The trait of sensors, and the conditions that they read.

use report::GpuFacts;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use units::{Bytes, Hertz};

/// Reason why a device lowers its clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Slowdown {
    /// The device is too hot.
    Heat,
    /// The power supply of the device cannot give enough power.
    PowerSupply,
    /// The reason is heat or power. The device does not report which.
    HeatOrPower,
    /// The device reached its limit of power, which may be usual under load.
    PowerLimit,
}

/// Conditions of a device at a moment. A field is `None` if the value is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct GpuConditions {
    /// Clock rate of the compute units.
    pub core_clock: Option<Hertz>,
    /// Clock rate of the memory.
    pub memory_clock: Option<Hertz>,
    /// Temperature in degrees Celsius.
    pub celsius: Option<f64>,
    /// Electric power that the device draws, in W.
    pub watts: Option<f64>,
    /// Reason for lower clocks; `None` if there is none, or if it is unknown.
    pub slowdown: Option<Slowdown>,
    /// Number of other programs that compute on the device.
    pub other_programs: Option<u32>,
    /// Memory of the device that all programs together use.
    pub memory_used: Option<Bytes>,
}

/// Reads the conditions of one device.
pub trait Sensors: Debug {
    /// Adds to `facts` the facts that the driver of the device knows.
    fn complete(&self, facts: &mut GpuFacts);

    /// Present conditions of the device.
    fn conditions(&self) -> GpuConditions;
}
