//! FreeBSD: affinity of threads, memory, busy time, and reported facts.

use super::super::freebsd_answers as answers;
use super::super::sysctl::Sysctl;
use super::{Kernel, load};
use crate::reported::{Reported, Told};
use std::io;
use std::mem::{MaybeUninit, size_of};

pub use super::super::portable::{ask_for_speed, translated};

/// True if threads can be pinned to CPUs, as on FreeBSD.
pub const CAN_PIN: bool = true;

/// Name of the call that returns the CPUs a thread may run on.
pub const AFFINITY_CALL: &str = "cpuset_getaffinity";

/// Identifier that means the calling thread.
const THIS_THREAD: libc::id_t = -1;

/// CPUs that the calling thread may run on, in rising order; `None` if the call fails.
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
/// CPU that the calling thread runs on at this moment (FreeBSD 13.1 and later).
pub fn running_cpu() -> Option<u32> {
    // SAFETY: no arguments; returns a number.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Memory in bytes that is free or only contains cached files.
pub fn free_memory() -> Option<u64> {
    let pages = |name: &str| Kernel.number(name);
    let free = pages("vm.stats.vm.v_free_count")?;
    let inactive = pages("vm.stats.vm.v_inactive_count").unwrap_or(0);
    free.checked_add(inactive)?
        .checked_mul(super::page_size() as u64)
}

/// Number of counts per second in kern.cp_time. It is `stathz`, the fourth number of kern.clockrate
/// (struct clockinfo: hz, tick, spare, stathz, profhz).
fn counts_per_second() -> Option<u64> {
    let bytes = Kernel.bytes("kern.clockrate")?;
    let field: [u8; 4] = bytes.get(12..16)?.try_into().ok()?;
    u64::try_from(i32::from_ne_bytes(field)).ok()
}

/// Total busy time of all CPUs since the start of the system, in ns.
pub fn busy_ns() -> Option<f64> {
    answers::busy_ns(&Kernel.numbers("kern.cp_time"), counts_per_second()?)
}

/// Page sizes in bytes, in rising order.
fn page_sizes() -> Vec<u64> {
    unsafe extern "C" {
        /// getpagesizes(3), which the crate `libc` lacks.
        fn getpagesizes(sizes: *mut usize, count: libc::c_int) -> libc::c_int;
    }
    let mut sizes = [0usize; 8];
    // SAFETY: the call writes at most as many numbers as are named.
    let count = unsafe { getpagesizes(sizes.as_mut_ptr(), sizes.len() as libc::c_int) };
    let count = usize::try_from(count).unwrap_or(0);
    sizes.iter().take(count).map(|&size| size as u64).collect()
}

/// All facts that FreeBSD reports by calls.
pub fn reported() -> Reported {
    let named = |name: &str| -> Option<Told<String>> {
        Some((Kernel.text(name)?, format!("sysctl {name}")))
    };
    Reported {
        topology: answers::topology(&Kernel, allowed_cpus()),
        model_name: named("hw.model"),
        hypervisor: answers::hypervisor(&Kernel)
            .map(|name| (name, "sysctl kern.vm_guest".to_owned())),
        pages: Some(answers::pages(&Kernel, &page_sizes())),
        load: load(),
        ..Reported::default()
    }
}
