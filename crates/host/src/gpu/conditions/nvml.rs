//! Conditions of NVIDIA's GPUs, from their driver's library NVML. Source of names, types and
//! numbers: *NVML API Reference Guide*, R550.

use super::super::library::open_library;
use super::sensors::{GpuConditions, Sensors, Slowdown};
use libloading::Library;
use report::{Fact, GpuFacts};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr::null_mut;
use units::error::{Error, Result};
use units::{Bytes, Hertz};

/// Handle of a device, which the library returns.
type Handle = *mut c_void;

/// Numbers by which NVML identifies the clocks of the compute units and of the memory.
const CORE_CLOCK: c_uint = 0;
const MEMORY_CLOCK: c_uint = 2;

/// Number by which NVML identifies the temperature sensor of the device.
const DEVICE_SENSOR: c_uint = 0;

/// Result code that means that the caller has too little room for the list of processes.
const NO_ROOM: c_int = 7;

/// Bits in the set of reasons for lower clocks.
const HEAT: c_ulonglong = 0x20 | 0x40;
const POWER_SUPPLY: c_ulonglong = 0x80;
const HEAT_OR_POWER: c_ulonglong = 0x8;
const POWER_LIMIT: c_ulonglong = 0x4;

/// Name of the library on this system.
pub fn library() -> &'static str {
    match std::env::consts::OS {
        "windows" => "nvml.dll",
        _ => "libnvidia-ml.so.1",
    }
}

/// Sizes of a device's memory in bytes, in the order in which the library writes them.
#[repr(C)]
#[derive(Debug, Default)]
struct Memory {
    total: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// One device, with the library that describes it.
#[derive(Debug)]
pub struct Nvml {
    library: Library,
    device: Handle,
}

impl Nvml {
    /// Opens the library called `name` and finds the device with this address on the PCI bus.
    ///
    /// # Errors
    /// There is no such library or no such device, or the driver is too old.
    pub fn open(name: &str, address: &str) -> Result<Self> {
        let library = open_library(name)
            .map_err(|why| Error::failure(format!("cannot open {name}: {why}")))?;
        type Init = unsafe extern "C" fn() -> c_int;
        type ByAddress = unsafe extern "C" fn(*const c_char, *mut Handle) -> c_int;
        let too_old = || Error::failure(format!("{name} is too old: it lacks a function"));
        // SAFETY: the guide declares the function with this type.
        let init: Init = unsafe { function(&library, c"nvmlInit_v2") }.ok_or_else(too_old)?;
        // SAFETY: no preconditions.
        succeeded(unsafe { init() }, "initialise")?;
        // From here on, dropping `found` shuts the library down.
        let mut found = Self {
            library,
            device: null_mut(),
        };
        // SAFETY: the guide declares the function with this type.
        let by_address: ByAddress =
            unsafe { found.function(c"nvmlDeviceGetHandleByPciBusId_v2") }.ok_or_else(too_old)?;
        let address = CString::new(address).map_err(|why| Error::failure(why.to_string()))?;
        // SAFETY: the address ends with a zero byte; the handle outlives the call.
        let code = unsafe { by_address(address.as_ptr(), &raw mut found.device) };
        succeeded(code, "find the device")?;
        Ok(found)
    }

    /// The function called `name`; `None` if this version of the library lacks it.
    ///
    /// # Safety
    /// `F` has to be the type of the function.
    unsafe fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        // SAFETY: the caller vouches for the type. The library stays open as long as `self`.
        unsafe { function(&self.library, name) }
    }

    /// A number about the device, which the function `name` writes. `None` if the function is
    /// missing or fails.
    fn number(&self, name: &CStr) -> Option<c_uint> {
        type Get = unsafe extern "C" fn(Handle, *mut c_uint) -> c_int;
        // SAFETY: callers name functions of this type.
        let get: Get = unsafe { self.function(name) }?;
        let mut number = 0;
        // SAFETY: the device is valid, the number outlives the call.
        (unsafe { get(self.device, &raw mut number) } == 0).then_some(number)
    }

    /// A number about the device, which the function `name` writes for the argument `choice`.
    /// `None` if the function is missing or fails.
    fn chosen(&self, name: &CStr, choice: c_uint) -> Option<c_uint> {
        type Get = unsafe extern "C" fn(Handle, c_uint, *mut c_uint) -> c_int;
        // SAFETY: callers name functions of this type.
        let get: Get = unsafe { self.function(name) }?;
        let mut number = 0;
        // SAFETY: the device is valid, the number outlives the call.
        (unsafe { get(self.device, choice, &raw mut number) } == 0).then_some(number)
    }

    /// The present value of a setting that is on or off. The function `name` writes this value, and
    /// the value after the next restart. `None` if the function is missing or fails.
    fn setting(&self, name: &CStr) -> Option<bool> {
        type Get = unsafe extern "C" fn(Handle, *mut c_uint, *mut c_uint) -> c_int;
        // SAFETY: callers name functions of this type.
        let get: Get = unsafe { self.function(name) }?;
        let (mut now, mut later) = (0, 0);
        // SAFETY: the device is valid, the numbers outlive the call.
        (unsafe { get(self.device, &raw mut now, &raw mut later) } == 0).then_some(now != 0)
    }

    fn slowdown(&self) -> Option<Slowdown> {
        type Get = unsafe extern "C" fn(Handle, *mut c_ulonglong) -> c_int;
        // SAFETY: the guide declares the function with this type.
        let get: Get = unsafe { self.function(c"nvmlDeviceGetCurrentClocksThrottleReasons") }?;
        let mut bits = 0;
        // SAFETY: the device is valid, the number outlives the call.
        if unsafe { get(self.device, &raw mut bits) } != 0 {
            return None;
        }
        let reasons = [
            (HEAT, Slowdown::Heat),
            (POWER_SUPPLY, Slowdown::PowerSupply),
            (HEAT_OR_POWER, Slowdown::HeatOrPower),
            (POWER_LIMIT, Slowdown::PowerLimit),
        ];
        let mut reasons = reasons.into_iter().filter(|(bit, _)| bits & bit != 0);
        reasons.next().map(|(_, slowdown)| slowdown)
    }

    fn memory_used(&self) -> Option<Bytes> {
        type Get = unsafe extern "C" fn(Handle, *mut Memory) -> c_int;
        // SAFETY: the guide declares the function with this type.
        let get: Get = unsafe { self.function(c"nvmlDeviceGetMemoryInfo") }?;
        let mut memory = Memory::default();
        // SAFETY: the device is valid, the structure outlives the call.
        (unsafe { get(self.device, &raw mut memory) } == 0).then_some(Bytes(memory.used))
    }

    /// Number of other programs that compute on the device. The driver's list of programs includes
    /// this process. If the list is empty, the driver hides programs, as in a container. The result
    /// is then `None`.
    fn other_programs(&self) -> Option<u32> {
        // On Windows, the list includes the desktop, so the number is of no use.
        if std::env::consts::OS == "windows" {
            return None;
        }
        type Get = unsafe extern "C" fn(Handle, *mut c_uint, *mut c_void) -> c_int;
        let names = [
            c"nvmlDeviceGetComputeRunningProcesses_v3",
            c"nvmlDeviceGetComputeRunningProcesses_v2",
            c"nvmlDeviceGetComputeRunningProcesses",
        ];
        // SAFETY: all versions have this type. They only differ in the entries of the list, for
        // which no room is given.
        let get: Get = unsafe { names.iter().find_map(|name| self.function(name)) }?;
        let mut count = 0;
        // SAFETY: the device is valid. With no room, only the number is written.
        let code = unsafe { get(self.device, &raw mut count, null_mut()) };
        (code == 0 || code == NO_ROOM)
            .then(|| count.checked_sub(1))
            .flatten()
    }
}

impl Drop for Nvml {
    fn drop(&mut self) {
        type Shutdown = unsafe extern "C" fn() -> c_int;
        // SAFETY: the guide declares the function with this type. The library was initialised.
        unsafe {
            if let Some(shutdown) = self.function::<Shutdown>(c"nvmlShutdown") {
                shutdown();
            }
        }
    }
}

/// The function of `library` called `name`; `None` if the library lacks it.
///
/// # Safety
/// `F` has to be the type of the function. The function may only be called while the library is
/// open.
unsafe fn function<F: Copy>(library: &Library, name: &CStr) -> Option<F> {
    // SAFETY: the caller vouches for the type.
    let found = unsafe { library.get::<F>(name.to_bytes_with_nul()) };
    found.ok().map(|function| *function)
}

/// Turns a result code of the library into an error. `tried` says what was tried.
///
/// # Errors
/// The code is not 0.
fn succeeded(code: c_int, tried: &str) -> Result<()> {
    if code == 0 {
        Ok(())
    } else {
        Err(Error::failure(format!("cannot {tried}: NVML error {code}")))
    }
}

/// A fact from the function `source` of the library. Unknown if `value` is `None`.
fn fact<T>(value: Option<T>, source: &str) -> Fact<T> {
    match value {
        Some(value) => Fact::known(value, format!("NVML, {source}")),
        None => Fact::unknown(format!("NVML does not give {source}")),
    }
}

fn megahertz(number: c_uint) -> Hertz {
    Hertz(f64::from(number) * 1e6)
}

impl Sensors for Nvml {
    fn complete(&self, facts: &mut GpuFacts) {
        facts.bus_width = fact(
            self.number(c"nvmlDeviceGetMemoryBusWidth"),
            "nvmlDeviceGetMemoryBusWidth",
        );
        let clock = self.chosen(c"nvmlDeviceGetMaxClockInfo", MEMORY_CLOCK);
        facts.memory_clock = fact(clock.map(megahertz), "nvmlDeviceGetMaxClockInfo");
        let limit = self.number(c"nvmlDeviceGetEnforcedPowerLimit");
        facts.power_limit = fact(
            limit.map(|milliwatts| f64::from(milliwatts) / 1e3),
            "nvmlDeviceGetEnforcedPowerLimit",
        );
        facts.partitioned = fact(
            self.setting(c"nvmlDeviceGetMigMode"),
            "nvmlDeviceGetMigMode",
        );
        if let Some(ecc) = self.setting(c"nvmlDeviceGetEccMode") {
            facts.ecc = Fact::known(ecc, "NVML, nvmlDeviceGetEccMode");
        }
    }

    fn conditions(&self) -> GpuConditions {
        let clock = |kind| self.chosen(c"nvmlDeviceGetClockInfo", kind).map(megahertz);
        let celsius = self.chosen(c"nvmlDeviceGetTemperature", DEVICE_SENSOR);
        let milliwatts = self.number(c"nvmlDeviceGetPowerUsage");
        GpuConditions {
            core_clock: clock(CORE_CLOCK),
            memory_clock: clock(MEMORY_CLOCK),
            celsius: celsius.map(f64::from),
            watts: milliwatts.map(|milliwatts| f64::from(milliwatts) / 1e3),
            slowdown: self.slowdown(),
            other_programs: self.other_programs(),
            memory_used: self.memory_used(),
        }
    }
}

#[cfg(test)]
mod tests;
