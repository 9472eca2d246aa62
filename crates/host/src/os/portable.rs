//! Systems without a module of their own. The standard library does the work. Functions that it
//! lacks return `None`, a default, or an error of kind `Unsupported`.

use super::{MemoryLimit, PageCounts};
use crate::reported::Reported;
use crate::thread_noise::ThreadNoise;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::time::Instant;

/// Size of the base page in bytes: the smallest size on the supported architectures.
pub fn page_size() -> usize {
    4096
}

/// Always `None`: the standard library does not report this value.
pub fn physical_memory() -> Option<u64> {
    None
}

/// Always `None`: the standard library does not report this value.
pub fn free_memory() -> Option<u64> {
    None
}

/// Always `None`: the standard library does not report this value.
pub fn allowed_cpus() -> Option<Vec<u32>> {
    None
}

/// Name of the call that returns the CPUs a thread may run on.
pub const AFFINITY_CALL: &str = "none";

/// Always false: `/proc` and `/sys` do not describe the machine on these systems.
pub const HAS_SYSTEM_FILES: bool = false;

/// Name of the call that returns the size of physical memory.
pub const MEMORY_CALL: &str = "none";

/// Name of the call that returns the release of the kernel and the host name.
pub const NAME_CALL: &str = "none";

/// Empty: the standard library reports no facts about the machine.
pub fn reported() -> Reported {
    Reported::default()
}

/// Always `None`: the standard library does not report this value.
pub fn busy_ns() -> Option<f64> {
    None
}

/// Always false: this system has no known request about the speed of a thread.
pub fn ask_for_speed(_cpu: u32, _kind: Option<&str>) -> bool {
    false
}

/// Does nothing, because only signals request the end of the program here.
pub fn on_console_events(_heard: impl Fn() + Send + Sync + 'static) -> io::Result<()> {
    Ok(())
}

/// True if threads can be pinned to CPUs. The standard library cannot do that.
pub const CAN_PIN: bool = false;

/// Not supported by the standard library.
pub fn pin_to(_cpu: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Always `None`: the standard library does not report this value.
pub fn running_cpu() -> Option<u32> {
    None
}

/// Empty: the standard library does not report limits.
pub fn memory_limits() -> Vec<MemoryLimit> {
    Vec::new()
}

/// Always `None`: the standard library does not report this value.
pub fn kernel_release() -> Option<String> {
    None
}

/// Always `None`: the standard library does not report this value.
pub fn host_name() -> Option<String> {
    None
}

/// Nanoseconds on the standard library's monotonic clock since the first call.
#[allow(clippy::disallowed_methods)] // the counter's home on systems without a clock of their own here
pub fn monotonic_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let now = Instant::now();
    u64::try_from(
        now.saturating_duration_since(*START.get_or_init(|| now))
            .as_nanos(),
    )
    .unwrap_or(u64::MAX)
}

/// Always `None`: the standard library does not count page faults and context switches.
pub fn thread_noise() -> Option<ThreadNoise> {
    None
}

/// Always `None`: the standard library does not report this value.
pub fn process_cpu_ns() -> Option<u64> {
    None
}

/// Always `None`: the standard library does not report this value.
pub fn thread_cpu_ns() -> Option<u64> {
    None
}

/// `None`: there is no `/proc/stat`.
pub fn jiffies_per_second() -> Option<f64> {
    None
}

/// Signals that request the program to stop: SIGINT and SIGTERM, which every system has.
pub fn stop_signals() -> Vec<i32> {
    vec![signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM]
}

/// Does nothing, because no C library on these systems is known to need it.
pub fn share_one_heap() {}

/// Name of the C library. It only contains the name of the system, whose version is also the
/// version of the library.
pub fn c_library() -> String {
    format!("C library of {}", std::env::consts::OS)
}

/// Always `None`: the system has no signal for the limit on file size, or the signal is unknown.
pub fn file_limit_signal() -> Option<i32> {
    None
}

/// Always zeros: the system does not pass hardware capabilities to programs.
pub fn hardware_capabilities() -> [u64; 2] {
    [0; 2]
}

/// Not implemented on this system: returns `None`.
pub fn zeroed_block() -> Option<u64> {
    None
}

/// Not implemented on this system: returns false.
pub fn translated() -> bool {
    false
}

/// Not implemented on this system: returns false.
pub fn elevated() -> bool {
    false
}

/// Memory from the allocator, without guards.
#[derive(Debug)]
pub struct Region {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a Region is an address range that it alone owns; which thread frees it does not matter.
unsafe impl Send for Region {}
// SAFETY: its methods only hand out the address.
unsafe impl Sync for Region {}

impl Region {
    /// Allocates `length` bytes (not 0) at a multiple of `align`. An error if `huge` is given,
    /// because pools of huge pages are not supported. `_node` is ignored.
    pub fn map(
        length: usize,
        align: usize,
        huge: Option<u64>,
        _node: Option<u32>,
    ) -> io::Result<Region> {
        if huge.is_some() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let layout =
            Layout::from_size_align(length, align).map_err(|_| io::ErrorKind::InvalidInput)?;
        if layout.size() == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: the layout is valid and not empty.
        let start =
            NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Region { start, layout })
    }

    /// Address of the first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Allocated bytes.
    pub fn length(&self) -> usize {
        self.layout.size()
    }

    /// 0: there are no guards.
    pub fn guard(&self) -> usize {
        0
    }

    /// Always an error of kind `Unsupported`.
    pub fn advise_huge(&self, _wanted: bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Always an error of kind `Unsupported`.
    pub fn place(&self, _place: &crate::memory::Place) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: allocated by `map` with this layout, and freed once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// Always an error of kind `Unsupported`.
pub fn page_counts(_range: &Range<usize>) -> io::Result<PageCounts> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Always an error of kind `Unsupported`.
pub fn resident_bytes(_range: &Range<usize>) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Always an error of kind `Unsupported`.
pub fn node_of_each(_addresses: &[usize]) -> io::Result<Vec<i32>> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_and_writable_to_its_end() {
        let region = Region::map(8192, 4096, None, None).unwrap();
        assert_eq!(region.start().as_ptr() as usize % 4096, 0);
        // SAFETY: inside the region, which no other code knows.
        unsafe { region.start().add(region.length() - 1).write(1) };
        assert!(Region::map(0, 4096, None, None).is_err());
        assert!(Region::map(usize::MAX, 4096, None, None).is_err());
        assert_eq!(
            Region::map(4096, 4096, Some(1 << 21), None)
                .unwrap_err()
                .kind(),
            io::ErrorKind::Unsupported
        );
    }

    #[test]
    fn the_clock_never_goes_back() {
        let first = monotonic_ns();
        assert!(monotonic_ns() >= first);
    }
}
