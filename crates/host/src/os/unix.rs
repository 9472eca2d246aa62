//! macOS and FreeBSD: POSIX and sysctl calls. Other functions are those of systems without a module
//! of their own.

pub use super::portable::{
    Region, hardware_capabilities, jiffies_per_second, node_of_each, page_counts, resident_bytes,
    running_cpu, share_one_heap, stop_signals, thread_noise, zeroed_block,
};

pub use super::unix_files::*;

use super::MemoryLimit;
use std::ffi::CStr;
use std::mem::{MaybeUninit, size_of};

/// Size of the base page in bytes.
pub fn page_size() -> usize {
    // SAFETY: sysconf takes a number and returns a number.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size)
        .ok()
        .filter(|size| size.is_power_of_two())
        .unwrap_or(4096)
}

/// A number of 32 or 64 bits that the kernel has under `name`.
fn kernel_number(name: &CStr) -> Option<u64> {
    let mut value = 0u64;
    let mut size = size_of::<u64>();
    // SAFETY: the kernel writes at most `size` bytes to the value, and nothing is set.
    let result = unsafe {
        libc::sysctlbyname(
            name.as_ptr(),
            (&raw mut value).cast(),
            &mut size,
            std::ptr::null_mut(),
            0,
        )
    };
    // A shorter number fills the low half: all systems here are little-endian.
    (result == 0 && (size == 4 || size == 8)).then_some(value)
}

/// Physical memory of the machine, in bytes.
pub fn physical_memory() -> Option<u64> {
    kernel_number(if cfg!(target_os = "macos") {
        c"hw.memsize"
    } else {
        c"hw.physmem"
    })
}

/// Free memory, in bytes.
pub fn free_memory() -> Option<u64> {
    let pages = if cfg!(target_os = "macos") {
        c"vm.page_free_count"
    } else {
        c"vm.stats.vm.v_free_count"
    };
    kernel_number(pages)?.checked_mul(page_size() as u64)
}

/// True if the program was translated from another instruction set (Rosetta 2 on Apple's
/// processors).
pub fn translated() -> bool {
    cfg!(target_os = "macos") && kernel_number(c"sysctl.proc_translated") == Some(1)
}

/// False: macOS takes hints about threads that belong together, but does not let a program choose a
/// CPU.
#[cfg(target_os = "macos")]
pub const CAN_PIN: bool = false;

/// Stubs, since macOS cannot pin threads (see [`CAN_PIN`]).
#[cfg(target_os = "macos")]
pub use super::portable::{AFFINITY_CALL, allowed_cpus, pin_to};

#[cfg(target_os = "freebsd")]
pub use self::cpuset::{AFFINITY_CALL, CAN_PIN, allowed_cpus, pin_to};

/// Affinity of the calling thread by cpuset_getaffinity(2).
#[cfg(target_os = "freebsd")]
mod cpuset {
    use std::io;
    use std::mem::{MaybeUninit, size_of};

    /// True: FreeBSD can pin threads.
    pub const CAN_PIN: bool = true;

    /// Name of the call that returns the CPUs a thread may run on.
    pub const AFFINITY_CALL: &str = "cpuset_getaffinity";

    /// Id of the calling thread.
    const THIS_THREAD: libc::id_t = -1;

    /// CPUs that the calling thread may run on, in rising order.
    pub fn allowed_cpus() -> Option<Vec<u32>> {
        let mut set = MaybeUninit::<libc::cpuset_t>::zeroed();
        // SAFETY: the kernel fills the set, whose size is passed.
        let result = unsafe {
            libc::cpuset_getaffinity(
                libc::CPU_LEVEL_WHICH,
                libc::CPU_WHICH_TID,
                THIS_THREAD,
                size_of::<libc::cpuset_t>(),
                set.as_mut_ptr(),
            )
        };
        // SAFETY: zeros are a set without members.
        let set = unsafe { set.assume_init() };
        // SAFETY: the number is below the size of the set.
        let member = |cpu: &u32| unsafe { libc::CPU_ISSET(*cpu as usize, &set) };
        (result == 0).then(|| {
            (0..8 * size_of::<libc::cpuset_t>() as u32)
                .filter(member)
                .collect()
        })
    }

    /// Pins the calling thread to `cpu`.
    pub fn pin_to(cpu: u32) -> io::Result<()> {
        if cpu as usize >= 8 * size_of::<libc::cpuset_t>() {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        // SAFETY: zeros are a set without members; the number is below its size; the kernel only
        // reads it.
        let result = unsafe {
            let mut set = MaybeUninit::<libc::cpuset_t>::zeroed().assume_init();
            libc::CPU_SET(cpu as usize, &mut set);
            libc::cpuset_setaffinity(
                libc::CPU_LEVEL_WHICH,
                libc::CPU_WHICH_TID,
                THIS_THREAD,
                size_of::<libc::cpuset_t>(),
                &set,
            )
        };
        if result == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
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
