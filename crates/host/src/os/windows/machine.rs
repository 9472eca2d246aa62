//! Names, limits and conditions of a Windows machine.

use super::memory::{enable_large_pages, large_page};
use super::topology::topology;
use super::{ask_for_speed, memory_status, nanoseconds, registry};
use crate::reported::{Conditions, Reported, ReportedPages, Told};
use report::{Fact, Swap};
use std::mem::size_of;
use units::Bytes;
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::JobObjects::{
    JOB_OBJECT_CPU_RATE_CONTROL_ENABLE, JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP,
    JOB_OBJECT_CPU_RATE_CONTROL_MIN_MAX_RATE, JOB_OBJECT_LIMIT_JOB_MEMORY,
    JOB_OBJECT_LIMIT_PROCESS_MEMORY, JOBOBJECT_CPU_RATE_CONTROL_INFORMATION,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JOBOBJECTINFOCLASS, JobObjectCpuRateControlInformation,
    JobObjectExtendedLimitInformation, QueryInformationJobObject,
};
use windows_sys::Win32::System::Power::{GetSystemPowerStatus, SYSTEM_POWER_STATUS};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::SystemInformation::{
    ComputerNameDnsHostname, GetComputerNameExW, GetSystemFirmwareTable, OSVERSIONINFOW, RSMB,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetSystemTimes};

/// Version and build number of Windows, such as `10.0.19045`.
pub fn kernel_release() -> Option<String> {
    let mut version = OSVERSIONINFOW {
        dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32,
        ..Default::default()
    };
    // SAFETY: the structure contains its length, and the call writes no more. Unlike GetVersionEx,
    // the call does not depend on the versions that the program declares to support.
    let result = unsafe { RtlGetVersion(&mut version) };
    (result == 0).then(|| {
        format!(
            "{}.{}.{}",
            version.dwMajorVersion, version.dwMinorVersion, version.dwBuildNumber
        )
    })
}

/// Host name.
pub fn host_name() -> Option<String> {
    let mut name = [0u16; 256];
    let mut length = name.len() as u32;
    // SAFETY: the call writes at most `length` characters, with a zero at the end.
    let told =
        unsafe { GetComputerNameExW(ComputerNameDnsHostname, name.as_mut_ptr(), &mut length) };
    if told == 0 {
        return None;
    }
    registry::text_of(&name)
}

/// Total busy time of all CPUs since the start of the system, in ns.
pub fn busy_ns() -> Option<f64> {
    let mut times = [FILETIME::default(); 3];
    let [idle, kernel, user] = &mut times;
    // SAFETY: the call writes three times.
    let told = unsafe { GetSystemTimes(idle, kernel, user) } != 0;
    let [idle, kernel, user] = times.map(|time| nanoseconds(&time));
    // Kernel time includes idle time.
    let busy = kernel.saturating_add(user).checked_sub(idle)?;
    told.then_some(busy as f64)
}

/// Reads the information `class` about the job object of this process. `None` if the process is in
/// no job or the call fails. `T` has to be the structure of `class`, made of numbers.
fn job<T: Default>(class: JOBOBJECTINFOCLASS) -> Option<T> {
    let mut value = T::default();
    // SAFETY: no handle means the job of the calling process; the call writes at most the size of
    // the structure.
    let told = unsafe {
        QueryInformationJobObject(
            std::ptr::null_mut(),
            class,
            (&raw mut value).cast(),
            size_of::<T>() as u32,
            std::ptr::null_mut(),
        )
    };
    (told != 0).then_some(value)
}

/// Number of CPUs that the job's hard limit on CPU time allows, of the `cpus` CPUs in the machine.
/// `None` without a hard limit.
fn cpu_quota(cpus: usize) -> Option<Told<f64>> {
    let limit: JOBOBJECT_CPU_RATE_CONTROL_INFORMATION = job(JobObjectCpuRateControlInformation)?;
    let has = |flag: u32| limit.ControlFlags & flag != 0;
    if !has(JOB_OBJECT_CPU_RATE_CONTROL_ENABLE) {
        return None;
    }
    // A rate is in hundredths of a percent of the CPU time of all CPUs. SAFETY: all parts of the
    // union are numbers.
    let rate = unsafe {
        if has(JOB_OBJECT_CPU_RATE_CONTROL_MIN_MAX_RATE) {
            u32::from(limit.Anonymous.Anonymous.MaxRate)
        } else if has(JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP) {
            limit.Anonymous.CpuRate
        } else {
            return None;
        }
    };
    let quota = f64::from(rate) / 10_000.0 * cpus as f64;
    (1..10_000)
        .contains(&rate)
        .then(|| (quota, "job object, CPU rate control".to_owned()))
}

/// Memory that the tighter of the job's limits leaves to this process; `None` without a limit.
fn memory_left() -> Option<Told<Bytes>> {
    let limits: JOBOBJECT_EXTENDED_LIMIT_INFORMATION = job(JobObjectExtendedLimitInformation)?;
    let mut used = PROCESS_MEMORY_COUNTERS::default();
    let size = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    // SAFETY: the handle is the calling process's own; the call writes at most `size` bytes.
    let told = unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), &mut used, size) } != 0;
    let committed = if told { used.PagefileUsage } else { 0 };
    let flags = limits.BasicLimitInformation.LimitFlags;
    let of_flag = |flag: u32, limit: usize| (flags & flag != 0).then_some(limit);
    let limit = [
        of_flag(JOB_OBJECT_LIMIT_PROCESS_MEMORY, limits.ProcessMemoryLimit),
        of_flag(JOB_OBJECT_LIMIT_JOB_MEMORY, limits.JobMemoryLimit),
    ]
    .into_iter()
    .flatten()
    .min()?;
    let source = format!(
        "job object, memory limit {}, {} in use by this process",
        Bytes(limit as u64),
        Bytes(committed as u64)
    );
    Some((Bytes(limit.saturating_sub(committed) as u64), source))
}

/// Power source, and whether the battery saver is on.
fn conditions() -> Conditions {
    const CALL: &str = "GetSystemPowerStatus";
    let mut status = SYSTEM_POWER_STATUS::default();
    // SAFETY: the call fills the structure.
    let told = unsafe { GetSystemPowerStatus(&mut status) } != 0;
    let unknown = || format!("{CALL} does not say");
    Conditions {
        power_source: match status.ACLineStatus {
            0 if told => Fact::known("battery".to_owned(), CALL),
            1 if told => Fact::known("mains".to_owned(), CALL),
            _ => Fact::unknown(unknown()),
        },
        power_saving: match status.SystemStatusFlag {
            flag @ (0 | 1) if told => Fact::known(flag == 1, format!("{CALL}, battery saver")),
            _ => Fact::unknown(unknown()),
        },
        thermal_state: Fact::unknown("Windows reports it to administrators only (WMI)"),
        memory_pressure: Fact::unknown("Windows has no such level; see available memory"),
    }
}

/// Facts about large pages, which Windows only grants on request and with a privilege.
fn pages() -> ReportedPages {
    let size = match large_page() {
        Some(size) => Fact::known(Bytes(size), "GetLargePageMinimum"),
        None => Fact::unknown("this processor or system has no large pages"),
    };
    let pools = match enable_large_pages() {
        Ok(()) => "Windows has no pools; large pages are made on request (--pages huge)".to_owned(),
        Err(error) => format!("Windows has no pools; {error}"),
    };
    ReportedPages {
        mode: Fact::known(
            "none".to_owned(),
            "Windows gives large pages on request only, never by itself",
        ),
        size,
        pools: Fact::unknown(pools),
    }
}

/// Swap space: the commit limit minus physical memory. `None` unless this difference is zero,
/// because Windows does not report the used part of the swap space.
fn swap() -> Option<Told<Swap>> {
    let status = memory_status()?;
    let total = status.ullTotalPageFile.checked_sub(status.ullTotalPhys)?;
    (total == 0).then(|| {
        let none = Swap {
            total: Bytes(0),
            used: Bytes(0),
        };
        (none, "GlobalMemoryStatusEx, no paging file".to_owned())
    })
}

/// The texts `names` of the registry key `key`, joined by spaces, and the source. `None` if the key
/// has none of them.
fn texts(key: &str, names: &[&str]) -> Option<Told<String>> {
    let words: Vec<String> = names
        .iter()
        .filter_map(|name| registry::text(key, name))
        .collect();
    (!words.is_empty()).then(|| (words.join(" "), format!("registry, {key}")))
}

/// The SMBIOS tables, without the header of 8 bytes that the call puts before them.
fn firmware_tables() -> Option<Told<Vec<u8>>> {
    const HEADER: usize = 8;
    // SAFETY: without a buffer the call only returns the length that it needs.
    let length = unsafe { GetSystemFirmwareTable(RSMB, 0, std::ptr::null_mut(), 0) };
    let mut bytes = vec![0u8; length as usize];
    // SAFETY: the call writes at most `length` bytes.
    let written = unsafe { GetSystemFirmwareTable(RSMB, 0, bytes.as_mut_ptr(), length) };
    if written != length || bytes.len() <= HEADER {
        return None;
    }
    bytes.drain(..HEADER);
    Some((bytes, "GetSystemFirmwareTable".to_owned()))
}

/// All facts that Windows reports by calls.
pub fn reported() -> Reported {
    let topology = topology();
    let cpus = topology
        .as_ref()
        .map_or(0, |topology| topology.online.len());
    let throttling = "power throttling off";
    Reported {
        model_name: texts(registry::FIRST_CPU, &["ProcessorNameString"]),
        microcode: registry::microcode()
            .map(|revision| (revision, format!("registry, {}", registry::FIRST_CPU))),
        firmware: texts(
            registry::FIRMWARE,
            &["BIOSVendor", "BIOSVersion", "BIOSReleaseDate"],
        ),
        machine: texts(
            registry::FIRMWARE,
            &["SystemManufacturer", "SystemProductName"],
        ),
        firmware_tables: firmware_tables(),
        pages: Some(pages()),
        cpu_quota: cpu_quota(cpus),
        memory_left: memory_left(),
        swap: swap(),
        conditions: Some(conditions()),
        thread_request: Some(match ask_for_speed(0, None) {
            true => Fact::known(
                throttling.to_owned(),
                "SetThreadInformation, ThreadPowerThrottling, accepted",
            ),
            false => Fact::unknown(
                "SetThreadInformation refuses ThreadPowerThrottling, as before Windows 10 1709",
            ),
        }),
        topology,
        ..Reported::default()
    }
}
