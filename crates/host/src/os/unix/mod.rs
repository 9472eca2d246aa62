//! macOS and FreeBSD: POSIX and sysctl calls. Other functions are those of systems without a module
//! of their own.

#[cfg(target_os = "freebsd")]
mod freebsd;
#[cfg(target_os = "freebsd")]
pub use freebsd::*;

#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
pub use macos::*;

mod memory;

pub use super::portable::{
    hardware_capabilities, jiffies_per_second, node_of_each, on_console_events, share_one_heap,
    stop_signals, zeroed_block,
};
pub use super::unix_files::*;
pub use memory::{Region, page_counts, resident_bytes};

use super::MemoryLimit;
use super::sysctl::Sysctl;
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;

/// False: the system describes itself by calls.
pub const HAS_SYSTEM_FILES: bool = false;

/// Name of the call that returns the size of physical memory.
pub const MEMORY_CALL: &str = "sysctl";

/// Name of the call that returns the release of the kernel and the host name.
pub const NAME_CALL: &str = "uname";

/// Size of the base page in bytes.
pub fn page_size() -> usize {
    // SAFETY: sysconf takes a number and returns a number.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size)
        .ok()
        .filter(|size| size.is_power_of_two())
        .unwrap_or(4096)
}

/// The kernel of this machine.
struct Kernel;

impl Kernel {
    /// Bytes that the kernel has under `name`.
    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let name = CString::new(name).ok()?;
        let ask = |value: *mut libc::c_void, length: &mut usize| {
            // SAFETY: the name ends with a zero; the kernel writes at most `length` bytes to the
            // value, or only the length if there is no value; nothing is set.
            unsafe {
                libc::sysctlbyname(name.as_ptr(), value, length, std::ptr::null_mut(), 0) == 0
            }
        };
        let mut length = 0;
        if !ask(std::ptr::null_mut(), &mut length) {
            return None;
        }
        let mut value = vec![0u8; length];
        if !ask(value.as_mut_ptr().cast(), &mut length) {
            return None;
        }
        value.truncate(length);
        Some(value)
    }
}

impl Sysctl for Kernel {
    fn number(&self, name: &str) -> Option<u64> {
        let bytes = self.bytes(name)?;
        let short: Option<[u8; 4]> = bytes.as_slice().try_into().ok();
        let long: Option<[u8; 8]> = bytes.as_slice().try_into().ok();
        let short = short.map(|bytes| u64::from(u32::from_ne_bytes(bytes)));
        short.or_else(|| long.map(u64::from_ne_bytes))
    }

    fn text(&self, name: &str) -> Option<String> {
        let bytes = self.bytes(name)?;
        let end = bytes.iter().position(|&byte| byte == 0);
        let text = String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]);
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn numbers(&self, name: &str) -> Vec<u64> {
        let bytes = self.bytes(name).unwrap_or_default();
        bytes
            .chunks_exact(8)
            .map(|chunk| u64::from_ne_bytes(chunk.try_into().unwrap_or_default()))
            .collect()
    }
}

/// Physical memory of the machine, in bytes.
pub fn physical_memory() -> Option<u64> {
    Kernel.number(if cfg!(target_os = "macos") {
        "hw.memsize"
    } else {
        "hw.physmem"
    })
}

/// Load average over one minute, with the name of the call.
fn load() -> Option<(f64, String)> {
    let mut averages = [0f64; 1];
    // SAFETY: the call writes as many numbers as are named.
    let count = unsafe { libc::getloadavg(averages.as_mut_ptr(), 1) };
    (count == 1).then(|| (averages[0], "getloadavg".to_owned()))
}

/// Soft limits on address space, on private writable memory and on locked memory.
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

/// True if the program has rights that its caller lacks: it is set-user-ID or set-group-ID.
pub fn elevated() -> bool {
    // SAFETY: no arguments; return numbers.
    unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() }
}

/// One of the names that uname returns.
fn name(of: fn(&libc::utsname) -> *const libc::c_char) -> Option<String> {
    let mut names = MaybeUninit::<libc::utsname>::uninit();
    // SAFETY: the kernel fills the whole structure unless it returns -1, each field ended by a zero
    // byte.
    let text = unsafe {
        if libc::uname(names.as_mut_ptr()) == -1 {
            return None;
        }
        CStr::from_ptr(of(names.assume_init_ref()))
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

/// Nanoseconds since some point in the past, on an even clock.
pub fn monotonic_ns() -> u64 {
    #[cfg(target_os = "macos")]
    const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC_RAW;
    #[cfg(not(target_os = "macos"))]
    const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes one timespec.
    unsafe { libc::clock_gettime(CLOCK, &mut time) };
    (time.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec as u64)
}

/// CPU time of this process, all threads together, in ns.
pub fn process_cpu_ns() -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes one timespec.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    (result == 0).then(|| {
        (time.tv_sec as u64)
            .wrapping_mul(1_000_000_000)
            .wrapping_add(time.tv_nsec as u64)
    })
}

/// CPU time of the calling thread in ns, system calls included.
pub fn thread_cpu_ns() -> Option<u64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes one timespec.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    (result == 0).then(|| {
        (time.tv_sec as u64)
            .wrapping_mul(1_000_000_000)
            .wrapping_add(time.tv_nsec as u64)
    })
}

/// Signal that ends a process whose file grows beyond its limit, unless it is handled.
pub fn file_limit_signal() -> Option<i32> {
    Some(libc::SIGXFSZ)
}
