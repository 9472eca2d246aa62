//! Windows: processors and memory. Other functions are those of systems without a module of their
//! own.
//!
//! A thread is pinned within its group of at most 64 CPUs (SetThreadAffinityMask); CPUs of other
//! groups are not offered.

pub use super::plain_files::*;
pub use super::portable::{
    Region, elevated, file_limit_signal, hardware_capabilities, host_name, jiffies_per_second,
    kernel_release, memory_limits, monotonic_ns, node_of_each, page_counts, process_cpu_ns,
    resident_bytes, share_one_heap, stop_signals, thread_cpu_ns, thread_noise, translated,
    zeroed_block,
};

use std::io;
use std::mem::{MaybeUninit, size_of};
use windows_sys::Win32::System::SystemInformation::{
    GetSystemInfo, GlobalMemoryStatusEx, MEMORYSTATUSEX, SYSTEM_INFO,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentProcessorNumber, GetCurrentThread, GetProcessAffinityMask,
    SetThreadAffinityMask,
};

/// True: Windows can pin threads.
pub const CAN_PIN: bool = true;

/// Size of the base page in bytes.
pub fn page_size() -> usize {
    let mut system = MaybeUninit::<SYSTEM_INFO>::zeroed();
    // SAFETY: the call fills the structure; zeros are a valid value of it.
    let system = unsafe {
        GetSystemInfo(system.as_mut_ptr());
        system.assume_init()
    };
    usize::try_from(system.dwPageSize)
        .ok()
        .filter(|size| size.is_power_of_two())
        .unwrap_or(4096)
}

/// Physical memory in bytes: total and available.
fn memory() -> Option<(u64, u64)> {
    let mut status = MEMORYSTATUSEX {
        dwLength: size_of::<MEMORYSTATUSEX>() as u32,
        ..Default::default()
    };
    // SAFETY: the structure contains its length, and the call writes no more.
    let told = unsafe { GlobalMemoryStatusEx(&mut status) } != 0;
    told.then_some((status.ullTotalPhys, status.ullAvailPhys))
}

/// Physical memory of the machine, in bytes.
pub fn physical_memory() -> Option<u64> {
    memory().map(|(all, _)| all)
}

/// Memory that is available without evicting other programs, in bytes.
pub fn free_memory() -> Option<u64> {
    memory().map(|(_, available)| available)
}

/// Name of the call that returns the CPUs a thread may run on.
pub const AFFINITY_CALL: &str = "SetThreadAffinityMask";

/// CPUs of a mask, in rising order.
fn cpus(mask: usize) -> Vec<u32> {
    (0..usize::BITS)
        .filter(|cpu| mask >> cpu & 1 == 1)
        .collect()
}

/// CPUs of the process, as a mask; `None` if its threads are in several groups.
fn process_mask() -> Option<usize> {
    let mut process = 0;
    let mut system = 0;
    // SAFETY: the handle is the calling process's own; the call writes two masks.
    let told =
        unsafe { GetProcessAffinityMask(GetCurrentProcess(), &mut process, &mut system) } != 0;
    // Zero means that the process has threads in several groups.
    (told && process != 0).then_some(process)
}

/// CPUs that the calling thread may run on, in rising order.
///
/// Windows returns a thread's mask only when it is changed. The mask is set to all CPUs of the
/// process for a moment, and restored.
pub fn allowed_cpus() -> Option<Vec<u32>> {
    let process = process_mask()?;
    // SAFETY: the handle is the calling thread's own; masks are numbers.
    let before = unsafe { SetThreadAffinityMask(GetCurrentThread(), process) };
    if before == 0 {
        return None;
    }
    // SAFETY: as above.
    unsafe { SetThreadAffinityMask(GetCurrentThread(), before) };
    Some(cpus(before & process))
}

/// Pins the calling thread to `cpu`.
pub fn pin_to(cpu: u32) -> io::Result<()> {
    let Some(mask) = 1usize.checked_shl(cpu) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    // SAFETY: the handle is the calling thread's own; masks are numbers.
    if unsafe { SetThreadAffinityMask(GetCurrentThread(), mask) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// CPU that the calling thread runs on at this moment, within its group.
pub fn running_cpu() -> Option<u32> {
    // SAFETY: no arguments; returns a number.
    Some(unsafe { GetCurrentProcessorNumber() })
}
