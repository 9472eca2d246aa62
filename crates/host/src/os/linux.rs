//! Linux: facts and control of processors, threads, signals and rights. Memory and files are in
//! modules of their own.

#[cfg(feature = "storage")]
mod aio;
mod files;
mod memory;
#[cfg(feature = "storage")]
mod operations;
#[cfg(all(
    feature = "storage",
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
))]
mod uring;

#[cfg(feature = "storage")]
pub use aio::*;
pub use files::*;
#[cfg(all(
    feature = "storage",
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
))]
pub use uring::*;

// Android does not allow io_uring, and the crate `io-uring` has no bindings for 32-bit machines.
#[cfg(all(
    feature = "storage",
    not(all(
        target_os = "linux",
        any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64"
        )
    ))
))]
pub use super::plain_engines::{io_uring_availability, open_io_uring};
pub use memory::{Region, node_of_each, page_counts, resident_bytes};

pub use super::portable::{ask_for_speed, busy_ns, on_console_events, reported};
pub use super::posix_process::*;

use std::io;
use std::mem::MaybeUninit;

/// Number of CPUs that the affinity masks below have room for.
const CPU_BITS: usize = 1 << 17;

/// Physical memory of the machine in bytes; `None` if the system does not report it.
pub fn physical_memory() -> Option<u64> {
    // SAFETY: sysconf takes a number and returns a number.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    u64::try_from(pages)
        .ok()
        .filter(|&pages| pages > 0)?
        .checked_mul(page_size() as u64)
}

/// Free memory in bytes. Page cache does not count as free.
pub fn free_memory() -> Option<u64> {
    // SAFETY: sysconf takes a number and returns a number.
    let pages = unsafe { libc::sysconf(libc::_SC_AVPHYS_PAGES) };
    u64::try_from(pages).ok()?.checked_mul(page_size() as u64)
}

/// True if `/proc` and `/sys` describe the machine, as on Linux.
pub const HAS_SYSTEM_FILES: bool = true;

/// Name of the call that returns the size of physical memory.
pub const MEMORY_CALL: &str = "sysconf";

/// Name of the call that returns the release of the kernel and the host name.
pub const NAME_CALL: &str = "uname";

/// Name of the call that returns the CPUs a thread may run on.
pub const AFFINITY_CALL: &str = "sched_getaffinity";

/// CPUs that the calling thread may run on, in rising order; `None` if the call fails.
pub fn allowed_cpus() -> Option<Vec<u32>> {
    let mut mask = vec![0u64; CPU_BITS / 64];
    // SAFETY: the mask is CPU_BITS / 8 bytes long, and the kernel writes no more.
    let result = unsafe { libc::sched_getaffinity(0, CPU_BITS / 8, mask.as_mut_ptr().cast()) };
    if result != 0 {
        return None;
    }
    let mut cpus = Vec::new();
    // Most words of the mask are zero and are skipped.
    for (nth, &word) in mask.iter().enumerate().filter(|&(_, &word)| word != 0) {
        let set = (0..64).filter(|bit| word >> bit & 1 == 1);
        cpus.extend(set.map(|bit| nth as u32 * 64 + bit));
    }
    Some(cpus)
}

/// True if threads can be pinned to CPUs, as on Linux.
pub const CAN_PIN: bool = true;

/// Pins the calling thread to `cpu`.
pub fn pin_to(cpu: u32) -> io::Result<()> {
    let mut mask = vec![0u64; CPU_BITS / 64];
    match mask.get_mut(cpu as usize / 64) {
        Some(word) => *word = 1 << (cpu % 64),
        None => return Err(io::Error::from_raw_os_error(libc::EINVAL)),
    }
    // SAFETY: the mask is CPU_BITS / 8 bytes long and the kernel only reads it.
    check(unsafe { libc::sched_setaffinity(0, CPU_BITS / 8, mask.as_ptr().cast()) })
}

/// CPU that the calling thread runs on at this moment; `None` if the call fails.
pub fn running_cpu() -> Option<u32> {
    // SAFETY: no arguments; returns a number.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Number of jiffies per second. A jiffy is the unit of the times in `/proc/stat`.
pub fn jiffies_per_second() -> Option<f64> {
    // SAFETY: sysconf takes a number and returns a number.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    (ticks > 0).then_some(ticks as f64)
}

/// Signals that request the program to stop. Signals that are ignored since its start (`nohup`) are
/// left out.
pub fn stop_signals() -> Vec<i32> {
    let ignored = |signal: &i32| {
        let mut action = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: with a null new action the call only reads; it fills the structure when it
        // returns 0.
        unsafe {
            libc::sigaction(*signal, std::ptr::null(), action.as_mut_ptr()) == 0
                && action.assume_init().sa_sigaction == libc::SIG_IGN
        }
    };
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP]
        .into_iter()
        .filter(|signal| !ignored(signal))
        .collect()
}

/// Makes all threads share one heap. By default, the C library reserves 64 MiB or more of address
/// space for each thread.
pub fn share_one_heap() {
    // SAFETY: mallopt changes a setting of the allocator under the allocator's own lock; 1 is a
    // number of arenas.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Name and version of the C library that memset and memcpy belong to.
pub fn c_library() -> String {
    if cfg!(target_feature = "crt-static") {
        return "part of the static program".to_owned();
    }
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: returns a constant string that ends with a zero.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        format!("GNU C library {}", version.to_string_lossy())
    }
    #[cfg(not(target_env = "gnu"))]
    match std::env::consts::OS {
        "android" => "Bionic".to_owned(),
        _ => "musl".to_owned(),
    }
}

/// The two words of hardware capabilities (`AT_HWCAP`, `AT_HWCAP2`) that the kernel passes to every
/// program.
pub fn hardware_capabilities() -> [u64; 2] {
    [libc::AT_HWCAP, libc::AT_HWCAP2].map(|entry| {
        // SAFETY: looks a number up in a table that the C library keeps.
        let word = unsafe { libc::getauxval(entry) };
        #[allow(clippy::useless_conversion)] // 32 bits wide on 32-bit systems
        u64::from(word)
    })
}

/// Number of bytes that one `cbo.zero` instruction sets to zero; `None` if programs may not use it.
/// The source is riscv_hwprobe (Linux 6.4 and later, Documentation/arch/riscv/hwprobe.rst).
#[cfg(target_arch = "riscv64")]
pub fn zeroed_block() -> Option<u64> {
    const HWPROBE: libc::c_long = 258;
    const EXTENSIONS: i64 = 4;
    const ZICBOZ: u64 = 1 << 6;
    const BLOCK_SIZE: i64 = 6;
    // Pairs of key and value. The kernel replaces a key that it does not know by -1.
    let mut pairs =
        [(EXTENSIONS, 0u64), (BLOCK_SIZE, 0u64)].map(|(key, value)| [key as u64, value]);
    // SAFETY: the kernel writes to the pairs only; no CPU set means all CPUs; no flags.
    let result = unsafe {
        libc::syscall(
            HWPROBE,
            pairs.as_mut_ptr(),
            pairs.len(),
            0usize,
            std::ptr::null::<libc::c_ulong>(),
            0u32,
        )
    };
    let [[first, extensions], [second, block]] = pairs;
    let told = result == 0 && first == EXTENSIONS as u64 && second == BLOCK_SIZE as u64;
    (told && extensions & ZICBOZ != 0).then_some(block)
}

/// Always `None`, because only RISC-V has `cbo.zero`.
#[cfg(not(target_arch = "riscv64"))]
pub fn zeroed_block() -> Option<u64> {
    None
}

/// Always false: Linux does not report that a program is translated from another instruction set.
pub fn translated() -> bool {
    false
}

/// True if the program has rights that its caller lacks: it is set-user-ID or set-group-ID, or its
/// file has capabilities.
///
/// The kernel's flag for this (AT_SECURE, getauxval(3)) is not sufficient. Security modules also
/// set this flag if a program only changes its security domain, as services and containers do.
pub fn elevated() -> bool {
    // SAFETY: looks a number up in a table that the C library keeps.
    let secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    // SAFETY: no arguments; return numbers.
    let (user, group) = unsafe {
        (
            (libc::getuid(), libc::geteuid()),
            (libc::getgid(), libc::getegid()),
        )
    };
    secure
        && (user.0 != user.1
            || group.0 != group.1
            || (user.1 != 0 && permitted_capabilities() != 0))
}

/// Mask of this process's permitted capabilities (capget(2)); 0 if the kernel does not report them.
fn permitted_capabilities() -> u64 {
    const VERSION_3: u32 = 0x2008_0522;
    let mut header = [VERSION_3, 0];
    // Effective, permitted and inheritable capabilities, the low half first.
    let mut data = [[0u32; 3]; 2];
    // SAFETY: the kernel reads and writes the header of two words, and writes two records of three
    // words.
    let result = unsafe { libc::syscall(libc::SYS_capget, header.as_mut_ptr(), data.as_mut_ptr()) };
    if result == 0 {
        u64::from(data[0][1]) | u64::from(data[1][1]) << 32
    } else {
        0
    }
}

/// Converts the result of a system call: `Ok` for 0, else the error of the call.
fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
