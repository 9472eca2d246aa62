//! Clocks, names, limits and counts of a process by POSIX calls: Linux, macOS and FreeBSD.

use super::MemoryLimit;
#[cfg(not(target_os = "macos"))]
use crate::thread_noise::ThreadNoise;
use std::ffi::CStr;
use std::mem::MaybeUninit;

/// A monotonic clock. Its rate is never adjusted, except on FreeBSD, which has no clock without
/// adjustments.
#[cfg(not(target_os = "freebsd"))]
const EVEN_CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC_RAW;
#[cfg(target_os = "freebsd")]
const EVEN_CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;

/// Size of the base page in bytes.
pub fn page_size() -> usize {
    // SAFETY: sysconf takes a number and returns a number.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size)
        .ok()
        .filter(|size| size.is_power_of_two())
        .unwrap_or(4096)
}

/// Time of `clock` in ns; `None` if the system has no such clock.
fn clock_ns(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes one timespec.
    let result = unsafe { libc::clock_gettime(clock, &mut time) };
    (result == 0).then(|| {
        (time.tv_sec as u64)
            .wrapping_mul(1_000_000_000)
            .wrapping_add(time.tv_nsec as u64)
    })
}

/// Nanoseconds since some point in the past, on the monotonic clock `EVEN_CLOCK`.
pub fn monotonic_ns() -> u64 {
    clock_ns(EVEN_CLOCK).unwrap_or_default()
}

/// CPU time of all threads of this process together, in ns.
pub fn process_cpu_ns() -> Option<u64> {
    clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time of the calling thread in ns, system calls included; `None` if there is no such clock.
pub fn thread_cpu_ns() -> Option<u64> {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Page faults and context switches of the calling thread since it started; `None` if the call
/// fails.
#[cfg(not(target_os = "macos"))]
pub fn thread_noise() -> Option<ThreadNoise> {
    const RUSAGE_THREAD: libc::c_int = 1; // the crate leaves it out on Android
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the kernel fills the whole structure when it returns 0, and it is read only then.
    let usage = unsafe {
        if libc::getrusage(RUSAGE_THREAD, usage.as_mut_ptr()) != 0 {
            return None;
        }
        usage.assume_init()
    };
    let count = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
    Some(ThreadNoise {
        minor_faults: count(usage.ru_minflt),
        major_faults: count(usage.ru_majflt),
        voluntary_switches: count(usage.ru_nvcsw),
        involuntary_switches: count(usage.ru_nivcsw),
    })
}

/// Soft limits on address space, on private writable memory and on locked memory.
#[allow(
    clippy::useless_conversion,
    reason = "32 bits wide on 32-bit systems, signed on FreeBSD"
)]
pub fn memory_limits() -> Vec<MemoryLimit> {
    let limit = |resource| {
        let mut limit = MaybeUninit::<libc::rlimit>::uninit();
        // SAFETY: the kernel fills the whole structure when it returns 0, and it is read only then.
        let limit = unsafe {
            (libc::getrlimit(resource, limit.as_mut_ptr()) == 0).then(|| limit.assume_init())
        };
        let soft = limit
            .map(|limit| limit.rlim_cur)
            .filter(|&soft| soft != libc::RLIM_INFINITY);
        soft.and_then(|soft| u64::try_from(soft).ok())
    };
    vec![
        ("RLIMIT_AS", limit(libc::RLIMIT_AS)),
        ("RLIMIT_DATA", limit(libc::RLIMIT_DATA)),
        ("RLIMIT_MEMLOCK", limit(libc::RLIMIT_MEMLOCK)),
    ]
}

/// The name that uname returns in `field`; `None` if the call fails.
fn name(field: fn(&libc::utsname) -> *const libc::c_char) -> Option<String> {
    let mut names = MaybeUninit::<libc::utsname>::uninit();
    // SAFETY: the kernel fills the whole structure unless it returns -1, each field ended by a zero
    // byte.
    let text = unsafe {
        if libc::uname(names.as_mut_ptr()) == -1 {
            return None;
        }
        CStr::from_ptr(field(names.assume_init_ref()))
            .to_string_lossy()
            .into_owned()
    };
    Some(text).filter(|text| !text.is_empty())
}

/// Release of the kernel.
pub fn kernel_release() -> Option<String> {
    name(|names| names.release.as_ptr())
}

/// Host name.
pub fn host_name() -> Option<String> {
    name(|names| names.nodename.as_ptr())
}

/// Signal that a write beyond the limit on file size raises. It ends a process that has no handler
/// for it.
pub fn file_limit_signal() -> Option<i32> {
    Some(libc::SIGXFSZ)
}
