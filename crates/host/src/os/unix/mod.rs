//! macOS and FreeBSD, through POSIX and sysctl calls. All other functions come from the module
//! `portable`.

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
    c_library, hardware_capabilities, jiffies_per_second, node_of_each, on_console_events,
    share_one_heap, stop_signals, zeroed_block,
};
pub use super::posix_process::*;
pub use super::unix_files::*;
pub use memory::{Region, page_counts, resident_bytes};

use super::sysctl::Sysctl;
use std::ffi::CString;

/// True if `/proc` and `/sys` describe the machine. These systems report by calls instead.
pub const HAS_SYSTEM_FILES: bool = false;

/// Name of the call that returns the size of physical memory.
pub const MEMORY_CALL: &str = "sysctl";

/// Name of the call that returns the release of the kernel and the host name.
pub const NAME_CALL: &str = "uname";

/// The kernel of this machine as a source of values.
struct Kernel;

impl Kernel {
    /// The value with the name `name` as bytes; `None` if the kernel does not know the name.
    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let name = CString::new(name).ok()?;
        let ask = |value: *mut libc::c_void, length: &mut usize| {
            // SAFETY: the name ends with a zero. The kernel writes at most `length` bytes to the
            // value, or only the length if the value is null. No value is set.
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

/// Load average over one minute, and the name of the call as its source.
fn load() -> Option<(f64, String)> {
    let mut averages = [0f64; 1];
    // SAFETY: the call writes as many numbers as are named.
    let count = unsafe { libc::getloadavg(averages.as_mut_ptr(), 1) };
    (count == 1).then(|| (averages[0], "getloadavg".to_owned()))
}

/// True if the program has rights that its caller lacks: it is set-user-ID or set-group-ID.
pub fn elevated() -> bool {
    // SAFETY: no arguments; return numbers.
    unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() }
}
