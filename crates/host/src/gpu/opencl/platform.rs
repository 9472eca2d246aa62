//! Lists the devices of all OpenCL platforms, with their facts.

use super::calls::{
    Calls, DEVICE_ERROR_CORRECTION_SUPPORT, DEVICE_GLOBAL_MEM_CACHE_SIZE,
    DEVICE_GLOBAL_MEM_CACHELINE_SIZE, DEVICE_GLOBAL_MEM_SIZE, DEVICE_HOST_UNIFIED_MEMORY,
    DEVICE_LOCAL_MEM_SIZE, DEVICE_MAX_CLOCK_FREQUENCY, DEVICE_MAX_COMPUTE_UNITS,
    DEVICE_MAX_MEM_ALLOC_SIZE, DEVICE_NAME, DEVICE_PCI_BUS_INFO, DEVICE_PCI_BUS_NVIDIA,
    DEVICE_PCI_DOMAIN_NVIDIA, DEVICE_PCI_SLOT_NVIDIA, DEVICE_TOPOLOGY_AMD, DEVICE_TYPE,
    DEVICE_TYPE_ALL, DEVICE_VENDOR, DEVICE_VERSION, DRIVER_VERSION, Handle, PLATFORM_NAME, check,
};
use report::{Fact, GpuFacts};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use units::error::Result;
use units::{Bytes, Hertz};

/// Result code of a query if the platform has no device. This is no failure.
const DEVICE_NOT_FOUND: c_int = -1;

/// A device with its facts and the library that reaches it.
pub struct Found {
    pub calls: Arc<Calls>,
    pub platform: Handle,
    pub device: Handle,
    pub facts: GpuFacts,
}

/// Name of the library that finds the drivers of all vendors on this system.
fn library() -> &'static str {
    match std::env::consts::OS {
        "windows" => "OpenCL.dll",
        "macos" => "/System/Library/Frameworks/OpenCL.framework/OpenCL",
        "linux" => "libOpenCL.so.1",
        _ => "libOpenCL.so",
    }
}

/// Facts about all devices.
///
/// # Errors
/// The library cannot be opened, or a driver failed.
pub fn devices() -> Result<Vec<GpuFacts>> {
    Ok(find()?.into_iter().map(|found| found.facts).collect())
}

/// All devices of all platforms, in the order in which the drivers list them.
pub fn find() -> Result<Vec<Found>> {
    let calls = Arc::new(Calls::open(library())?);
    let platforms = listed(|room, list, count| {
        // SAFETY: `list` has room for `room` handles, or is null for 0.
        unsafe { (calls.get_platform_ids)(room, list, count) }
    })?;
    let mut all = Vec::new();
    for platform in platforms {
        let devices = listed(|room, list, count| {
            // SAFETY: the platform is valid; `list` has room for `room` handles, or is null for 0.
            unsafe { (calls.get_device_ids)(platform, DEVICE_TYPE_ALL, room, list, count) }
        })?;
        for device in devices {
            let facts = facts(&calls, platform, device, all.len() as u32);
            all.push(Found {
                calls: Arc::clone(&calls),
                platform,
                device,
                facts,
            });
        }
    }
    Ok(all)
}

/// All handles that `query` lists. The first call of `query` returns their number.
fn listed(query: impl Fn(c_uint, *mut Handle, *mut c_uint) -> c_int) -> Result<Vec<Handle>> {
    let mut count = 0;
    let code = query(0, null_mut(), &raw mut count);
    if code == DEVICE_NOT_FOUND {
        return Ok(Vec::new());
    }
    check(code, "list the devices")?;
    let mut handles = vec![null_mut(); count as usize];
    check(
        query(count, handles.as_mut_ptr(), &raw mut count),
        "list the devices",
    )?;
    handles.truncate(count as usize);
    Ok(handles)
}

/// Reads facts about one device.
struct Facts<'a> {
    calls: &'a Calls,
    device: Handle,
}

impl Facts<'_> {
    /// The number that the driver reports for `key`; `None` if the driver does not know the key.
    fn number(&self, key: c_uint) -> Option<u64> {
        // Numbers have 4 or 8 bytes. Both are read correctly on little-endian machines, and no
        // other machine has an OpenCL driver.
        let mut number = 0u64;
        // SAFETY: the driver writes at most 8 bytes.
        let code = unsafe {
            (self.calls.get_device_info)(
                self.device,
                key,
                size_of::<u64>(),
                (&raw mut number).cast(),
                null_mut(),
            )
        };
        (code == 0).then_some(number)
    }

    /// The bytes that the driver reports for `key`; `None` if the driver does not know the key.
    fn bytes<const N: usize>(&self, key: c_uint) -> Option<[u8; N]> {
        let mut bytes = [0u8; N];
        // SAFETY: the driver writes at most N bytes.
        let code = unsafe {
            (self.calls.get_device_info)(self.device, key, N, bytes.as_mut_ptr().cast(), null_mut())
        };
        (code == 0).then_some(bytes)
    }

    fn text(&self, key: c_uint) -> Option<String> {
        text(|room, data, length| {
            // SAFETY: `data` has `room` bytes.
            unsafe { (self.calls.get_device_info)(self.device, key, room, data, length) }
        })
    }

    /// The number for `key` (a query and its name), converted to a fact. Unknown if the driver does
    /// not report the number, or if `convert` returns `None`.
    fn fact<T>(&self, key: (c_uint, &str), convert: impl Fn(u64) -> Option<T>) -> Fact<T> {
        let (number, name) = key;
        match self.number(number).and_then(convert) {
            Some(value) => Fact::known(value, format!("OpenCL, {name}")),
            None => Fact::unknown(format!("OpenCL does not give {name}")),
        }
    }
}

/// The text that `query` writes; `None` if `query` fails.
fn text(query: impl Fn(usize, *mut c_void, *mut usize) -> c_int) -> Option<String> {
    let mut bytes = vec![0u8; 1024];
    let mut length = 0;
    let code = query(bytes.len(), bytes.as_mut_ptr().cast(), &raw mut length);
    if code != 0 {
        return None;
    }
    bytes.truncate(length.min(bytes.len()));
    let text = String::from_utf8_lossy(&bytes);
    Some(text.trim_matches(['\0', ' ']).to_owned())
}

/// Address of a device on the PCI bus. Older drivers only report it through an extension of their
/// vendor.
fn pci_address(of_device: &Facts<'_>) -> Fact<String> {
    let address = |domain: u32, bus: u32, device: u32, function: u32| {
        format!("{domain:04x}:{bus:02x}:{device:02x}.{function}")
    };
    if let Some(info) = of_device.bytes::<16>(DEVICE_PCI_BUS_INFO) {
        let [domain, bus, device, function] = words(info);
        let address = address(domain, bus, device, function);
        return Fact::known(address, "OpenCL, CL_DEVICE_PCI_BUS_INFO_KHR");
    }
    let number = |key| of_device.number(key).and_then(|n| u32::try_from(n).ok());
    if let Some((bus, slot)) = number(DEVICE_PCI_BUS_NVIDIA).zip(number(DEVICE_PCI_SLOT_NVIDIA)) {
        // Old drivers do not report the domain.
        let domain = number(DEVICE_PCI_DOMAIN_NVIDIA).unwrap_or(0);
        let address = address(domain, bus, slot >> 3, slot & 7);
        return Fact::known(address, "OpenCL, CL_DEVICE_PCI_BUS_ID_NV");
    }
    // The first bytes are the type 1 (PCI Express). The last three bytes are bus, device and
    // function.
    if let Some([1, 0, 0, 0, .., bus, device, function]) =
        of_device.bytes::<24>(DEVICE_TOPOLOGY_AMD)
    {
        let [bus, device, function] = [bus, device, function].map(u32::from);
        return Fact::known(
            address(0, bus, device, function),
            "OpenCL, CL_DEVICE_TOPOLOGY_AMD",
        );
    }
    Fact::unknown("OpenCL does not give an address on the PCI bus")
}

/// Splits 16 bytes into four numbers of 32 bits.
fn words(bytes: [u8; 16]) -> [u32; 4] {
    std::array::from_fn(|index| {
        let mut word = [0; 4];
        word.copy_from_slice(&bytes[index * 4..index * 4 + 4]);
        u32::from_ne_bytes(word)
    })
}

fn facts(calls: &Calls, platform: Handle, device: Handle, number: u32) -> GpuFacts {
    let of_device = Facts { calls, device };
    let platform = text(|room, data, length| {
        // SAFETY: the platform is valid, `data` has `room` bytes.
        unsafe { (calls.get_platform_info)(platform, PLATFORM_NAME, room, data, length) }
    });
    let unnamed = || "unknown".to_owned();
    let kind = match of_device.number(DEVICE_TYPE).unwrap_or(0) {
        bits if bits & 4 != 0 => "gpu",
        bits if bits & 2 != 0 => "cpu",
        bits if bits & 8 != 0 => "accelerator",
        _ => "other",
    };
    let words = [
        platform,
        of_device.text(DEVICE_VERSION),
        of_device.text(DRIVER_VERSION),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    let driver = if words.is_empty() {
        Fact::unknown("OpenCL does not give CL_DRIVER_VERSION")
    } else {
        Fact::known(
            words.join(", "),
            "OpenCL, CL_PLATFORM_NAME, CL_DEVICE_VERSION, CL_DRIVER_VERSION",
        )
    };
    let bytes = |n: u64| (n > 0).then_some(Bytes(n));
    let flag = |n: u64| Some(n != 0);
    GpuFacts {
        number,
        name: of_device.text(DEVICE_NAME).unwrap_or_else(unnamed),
        vendor: of_device.text(DEVICE_VENDOR).unwrap_or_else(unnamed),
        kind: kind.to_owned(),
        interface: "opencl".to_owned(),
        driver,
        memory: of_device.fact((DEVICE_GLOBAL_MEM_SIZE, "CL_DEVICE_GLOBAL_MEM_SIZE"), bytes),
        largest_allocation: of_device.fact(
            (DEVICE_MAX_MEM_ALLOC_SIZE, "CL_DEVICE_MAX_MEM_ALLOC_SIZE"),
            bytes,
        ),
        cache: of_device.fact(
            (
                DEVICE_GLOBAL_MEM_CACHE_SIZE,
                "CL_DEVICE_GLOBAL_MEM_CACHE_SIZE",
            ),
            bytes,
        ),
        line: of_device.fact(
            (
                DEVICE_GLOBAL_MEM_CACHELINE_SIZE,
                "CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE",
            ),
            |n| bytes(n & 0xFFFF_FFFF),
        ),
        local_memory: of_device.fact((DEVICE_LOCAL_MEM_SIZE, "CL_DEVICE_LOCAL_MEM_SIZE"), bytes),
        compute_units: of_device.fact(
            (DEVICE_MAX_COMPUTE_UNITS, "CL_DEVICE_MAX_COMPUTE_UNITS"),
            |n| u32::try_from(n).ok().filter(|&n| n > 0),
        ),
        clock: of_device.fact(
            (DEVICE_MAX_CLOCK_FREQUENCY, "CL_DEVICE_MAX_CLOCK_FREQUENCY"),
            |n| (n > 0).then_some(Hertz(n as f64 * 1e6)),
        ),
        ecc: of_device.fact(
            (
                DEVICE_ERROR_CORRECTION_SUPPORT,
                "CL_DEVICE_ERROR_CORRECTION_SUPPORT",
            ),
            flag,
        ),
        shares_host_memory: of_device.fact(
            (DEVICE_HOST_UNIFIED_MEMORY, "CL_DEVICE_HOST_UNIFIED_MEMORY"),
            flag,
        ),
        pci_address: pci_address(&of_device),
        code: Fact::unknown("kernels are compiled when the device is measured"),
        ..GpuFacts::unknown("OpenCL does not give it")
    }
}
