//! Windows: processors and clocks. Memory, topology and other facts are in modules of their own.
//! The oldest supported versions are Windows 10 and Windows Server 2016, as for Rust's standard
//! library. Newer calls may fail.
//!
//! Windows numbers CPUs within groups of at most 64. CPU `n` of group `g` has number `64 g + n`
//! here. This number does not depend on the CPUs of other groups, and other tools (hwloc) use it
//! too. There are gaps in the numbers if a group has fewer than 64 CPUs.

mod console;
mod machine;
mod memory;
mod registry;
mod topology;

pub use super::plain_files::*;
pub use super::portable::{
    c_library, elevated, file_limit_signal, hardware_capabilities, jiffies_per_second,
    memory_limits, share_one_heap, stop_signals, thread_noise, translated, zeroed_block,
};
pub use console::on_console_events;
pub use machine::{busy_ns, host_name, kernel_release, reported};
pub use memory::{Region, node_of_each, page_counts, resident_bytes};

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::sync::OnceLock;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Kernel::PROCESSOR_NUMBER;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::SystemInformation::{
    GROUP_AFFINITY, GetSystemInfo, GlobalMemoryStatusEx, MEMORYSTATUSEX, SYSTEM_INFO,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentProcessorNumberEx, GetCurrentThread, GetProcessTimes,
    GetThreadGroupAffinity, GetThreadTimes, SetThreadGroupAffinity, SetThreadInformation,
    THREAD_POWER_THROTTLING_CURRENT_VERSION, THREAD_POWER_THROTTLING_EXECUTION_SPEED,
    THREAD_POWER_THROTTLING_STATE, ThreadPowerThrottling,
};
use windows_sys::Win32::System::WindowsProgramming::QueryThreadCycleTime;

/// True if threads can be pinned to CPUs, as on Windows.
pub const CAN_PIN: bool = true;

/// True if `/proc` and `/sys` describe the machine. Windows reports by calls instead.
pub const HAS_SYSTEM_FILES: bool = false;

/// Name of the call that returns the CPUs a thread may run on.
pub const AFFINITY_CALL: &str = "GetThreadGroupAffinity";

/// Name of the call that returns the size of physical memory.
pub const MEMORY_CALL: &str = "GlobalMemoryStatusEx";

/// Name of the calls that return the release of the kernel and the host name.
pub const NAME_CALL: &str = "RtlGetVersion and GetComputerNameEx";

/// Largest number of CPUs in a group.
const GROUP_SIZE: u32 = 64;

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

/// Sizes of physical memory and of the commit limit; `None` if the call fails.
fn memory_status() -> Option<MEMORYSTATUSEX> {
    let mut status = MEMORYSTATUSEX {
        dwLength: size_of::<MEMORYSTATUSEX>() as u32,
        ..Default::default()
    };
    // SAFETY: the structure contains its length, and the call writes no more.
    let told = unsafe { GlobalMemoryStatusEx(&mut status) } != 0;
    told.then_some(status)
}

/// Physical memory of the machine, in bytes.
pub fn physical_memory() -> Option<u64> {
    memory_status().map(|status| status.ullTotalPhys)
}

/// Memory in bytes that can be allocated without paging out other programs.
pub fn free_memory() -> Option<u64> {
    memory_status().map(|status| status.ullAvailPhys.min(status.ullAvailPageFile))
}

/// Numbers of the CPUs in `affinity`, in rising order.
fn cpus_of(affinity: &GROUP_AFFINITY) -> Vec<u32> {
    (0..usize::BITS)
        .filter(|cpu| affinity.Mask >> cpu & 1 == 1)
        .map(|cpu| u32::from(affinity.Group) * GROUP_SIZE + cpu)
        .collect()
}

/// CPUs that the calling thread may run on, in rising order; `None` if the call fails. All of them
/// are in one group.
pub fn allowed_cpus() -> Option<Vec<u32>> {
    let mut affinity = GROUP_AFFINITY::default();
    // SAFETY: the handle is the calling thread's own; the call fills the structure.
    let told = unsafe { GetThreadGroupAffinity(GetCurrentThread(), &mut affinity) } != 0;
    told.then(|| cpus_of(&affinity))
}

/// Pins the calling thread to `cpu`, which may be in any group.
pub fn pin_to(cpu: u32) -> io::Result<()> {
    let group = u16::try_from(cpu / GROUP_SIZE).ok();
    let mask = 1usize.checked_shl(cpu % GROUP_SIZE);
    let (Some(group), Some(mask)) = (group, mask) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let affinity = GROUP_AFFINITY {
        Mask: mask,
        Group: group,
        ..Default::default()
    };
    // SAFETY: the handle is the calling thread's own; the call reads the structure.
    let done =
        unsafe { SetThreadGroupAffinity(GetCurrentThread(), &affinity, std::ptr::null_mut()) != 0 };
    if done {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// CPU that the calling thread runs on at this moment.
pub fn running_cpu() -> Option<u32> {
    let mut number = PROCESSOR_NUMBER::default();
    // SAFETY: the call fills the structure.
    unsafe { GetCurrentProcessorNumberEx(&mut number) };
    Some(u32::from(number.Group) * GROUP_SIZE + u32::from(number.Number))
}

/// Requests that power saving does not slow down the calling thread (Windows 10 1709 and later).
/// True if the system accepted the request. The arguments are unused, because threads are pinned.
pub fn ask_for_speed(_cpu: u32, _kind: Option<&str>) -> bool {
    let state = THREAD_POWER_THROTTLING_STATE {
        Version: THREAD_POWER_THROTTLING_CURRENT_VERSION,
        ControlMask: THREAD_POWER_THROTTLING_EXECUTION_SPEED,
        StateMask: 0,
    };
    // SAFETY: the handle is the calling thread's own; the call reads the structure, whose size is
    // passed.
    unsafe {
        SetThreadInformation(
            GetCurrentThread(),
            ThreadPowerThrottling,
            (&raw const state).cast(),
            size_of::<THREAD_POWER_THROTTLING_STATE>() as u32,
        ) != 0
    }
}

/// Frequency of the performance counter in Hz; `None` if the call fails.
fn performance_rate() -> Option<u64> {
    static RATE: OnceLock<Option<u64>> = OnceLock::new();
    *RATE.get_or_init(|| {
        let mut rate = 0i64;
        // SAFETY: the call writes a number.
        let told = unsafe { QueryPerformanceFrequency(&mut rate) } != 0;
        u64::try_from(rate).ok().filter(|&rate| told && rate > 0)
    })
}

/// Nanoseconds since some point in the past, from the performance counter, whose rate is never
/// adjusted.
pub fn monotonic_ns() -> u64 {
    let Some(rate) = performance_rate() else {
        return super::portable::monotonic_ns();
    };
    let mut ticks = 0i64;
    // SAFETY: the call writes a number.
    unsafe { QueryPerformanceCounter(&mut ticks) };
    // The product has 128 bits, because ticks times a billion may exceed 64 bits.
    let ns = u128::from(ticks.unsigned_abs()) * 1_000_000_000 / u128::from(rate);
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// Converts a time of Windows, which has a unit of 100 ns, to ns.
fn nanoseconds(time: &FILETIME) -> u64 {
    let steps = u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    steps.saturating_mul(100)
}

/// CPU time in ns: the sum of the times in kernel mode and user mode. `read` writes four times:
/// creation, exit, kernel mode and user mode. `None` if `read` fails.
fn cpu_time(read: impl FnOnce(&mut [FILETIME; 4]) -> bool) -> Option<u64> {
    let mut times = [FILETIME::default(); 4];
    read(&mut times).then(|| nanoseconds(&times[2]).saturating_add(nanoseconds(&times[3])))
}

/// CPU time of all threads of this process together, in ns.
pub fn process_cpu_ns() -> Option<u64> {
    cpu_time(|[created, ended, kernel, user]| {
        // SAFETY: the handle is the calling process's own; the call writes four times.
        unsafe { GetProcessTimes(GetCurrentProcess(), created, ended, kernel, user) != 0 }
    })
}

/// CPU cycles that the calling thread has used, system calls included. `None` if Windows does not
/// count them.
fn thread_cycles() -> Option<u64> {
    let mut cycles = 0;
    // SAFETY: the handle is the calling thread's own; the call writes a number.
    let told = unsafe { QueryThreadCycleTime(GetCurrentThread(), &mut cycles) } != 0;
    (told && cycles > 0).then_some(cycles)
}

/// CPU cycles per ns that a running thread uses. The result is the highest of several short
/// measurements, because an interruption only lowers it. `None` if Windows does not count cycles.
fn cycle_rate() -> Option<f64> {
    const READINGS: usize = 5;
    const LENGTH_NS: u64 = 1_000_000;
    static RATE: OnceLock<Option<f64>> = OnceLock::new();
    let one = || {
        let start = monotonic_ns();
        let cycles = thread_cycles()?;
        while monotonic_ns().saturating_sub(start) < LENGTH_NS {
            std::hint::spin_loop();
        }
        let cycles = thread_cycles()?.checked_sub(cycles)?;
        Some(cycles as f64 / monotonic_ns().saturating_sub(start) as f64)
    };
    *RATE.get_or_init(|| {
        let rates: Option<Vec<f64>> = (0..READINGS).map(|_| one()).collect();
        rates?
            .into_iter()
            .reduce(f64::max)
            .filter(|&rate| rate > 0.0)
    })
}

/// CPU time of the calling thread in ns, system calls included, derived from its cycles. If these
/// are unknown, the source is the thread's times, which Windows updates every 15.6 ms.
pub fn thread_cpu_ns() -> Option<u64> {
    if let (Some(rate), Some(cycles)) = (cycle_rate(), thread_cycles()) {
        return Some((cycles as f64 / rate) as u64);
    }
    cpu_time(|[created, ended, kernel, user]| {
        // SAFETY: the handle is the calling thread's own; the call writes four times.
        unsafe { GetThreadTimes(GetCurrentThread(), created, ended, kernel, user) != 0 }
    })
}
