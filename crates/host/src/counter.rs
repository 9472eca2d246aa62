//! Clocks: the raw counter that times samples, the monotonic clock that calibrates the raw counter,
//! the date, and sleeping.

use super::os;
use std::sync::OnceLock;
use std::time::Duration;
use units::Nanos;

/// Reads the raw counter. The length of a tick is unknown here. The crate `engine` measures it
/// (calibration).
///
/// - x86: the time-stamp counter, read after a load fence. By then all earlier loads are complete,
///   while earlier stores may still be on their way to the cache (Intel SDM vol. 2B, RDTSC).
/// - 64-bit Arm: the virtual counter, read after an ISB, which waits for all earlier instructions
///   except their stores. Without an ISB the counter may be read too early (Arm ARM, CNTVCT_EL0).
/// - 64-bit RISC-V: the `time` register, which Linux lets programs read, after a fence that waits
///   for all earlier loads.
/// - Elsewhere: the monotonic clock in ns.
///
/// The counters of Arm and RISC-V tick at tens of MHz to 1 GHz. The crate `engine` makes samples
/// long enough for this resolution.
#[inline]
pub fn ticks() -> u64 {
    raw_ticks()
}

/// Name of the counter behind [`ticks`]: `tsc`, `cntvct`, `rdtime` or `monotonic`.
pub fn ticks_name() -> &'static str {
    if cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
        "tsc"
    } else if cfg!(target_arch = "aarch64") {
        "cntvct"
    } else if cfg!(target_arch = "riscv64") {
        "rdtime"
    } else {
        "monotonic"
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn raw_ticks() -> u64 {
    // SAFETY: every x86-64 processor has both instructions, and neither touches memory.
    unsafe {
        std::arch::x86_64::_mm_lfence();
        std::arch::x86_64::_rdtsc()
    }
}

#[cfg(target_arch = "x86")]
#[inline]
fn raw_ticks() -> u64 {
    // SAFETY: the i686 target has SSE2 (the fence) and the counter; neither touches memory.
    unsafe {
        std::arch::x86::_mm_lfence();
        std::arch::x86::_rdtsc()
    }
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn raw_ticks() -> u64 {
    let ticks: u64;
    // SAFETY: every system for 64-bit Arm lets programs read the virtual counter. The instructions
    // do not touch memory. The option `nomem` is left out, so that the compiler moves no memory
    // accesses across them.
    unsafe {
        std::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) ticks, options(nostack, preserves_flags))
    };
    ticks
}

#[cfg(target_arch = "riscv64")]
#[inline]
fn raw_ticks() -> u64 {
    let ticks: u64;
    // SAFETY: RV64GC has the register (Zicntr), and systems emulate it on cores that lack it. The
    // instructions do not touch memory. The option `nomem` is left out, so that the compiler moves
    // no memory accesses across them.
    unsafe {
        std::arch::asm!("fence r, r", "rdtime {}", out(reg) ticks, options(nostack, preserves_flags))
    };
    ticks
}

#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "x86",
    target_arch = "aarch64",
    target_arch = "riscv64"
)))]
#[inline]
fn raw_ticks() -> u64 {
    os::monotonic_ns()
}

/// Time since the first call in this process, on a clock whose rate is never adjusted
/// (`CLOCK_MONOTONIC_RAW` on Linux).
pub fn monotonic() -> Nanos {
    // The time is relative to the first call, so that an f64 resolves 1 ns for months.
    static START: OnceLock<u64> = OnceLock::new();
    let now = os::monotonic_ns();
    Nanos(now.saturating_sub(*START.get_or_init(|| now)) as f64)
}

/// CPU time of the calling thread, system calls included; `None` if the system does not report it.
pub fn thread_cpu() -> Option<Nanos> {
    os::thread_cpu_ns().map(|ns| Nanos(ns as f64))
}

/// Current date and time in RFC 3339, UTC, to the second.
pub fn wall_clock() -> String {
    utc_text(time::OffsetDateTime::now_utc())
}

/// The date and time `age` before now, in the format of [`wall_clock`].
pub fn wall_clock_before(age: Nanos) -> String {
    let age = time::Duration::seconds_f64(age.secs().clamp(0.0, 1e12));
    let then = time::OffsetDateTime::now_utc().checked_sub(age);
    utc_text(then.unwrap_or(time::OffsetDateTime::UNIX_EPOCH))
}

fn utc_text(moment: time::OffsetDateTime) -> String {
    let text = moment.replace_nanosecond(0).ok().and_then(|moment| {
        moment
            .format(&time::format_description::well_known::Rfc3339)
            .ok()
    });
    text.unwrap_or_else(|| "unknown".to_owned())
}

/// Current date and time for file names, with digits and `T` only: `20261121T044200`.
pub fn wall_clock_stamp() -> String {
    let text = wall_clock();
    text.trim_end_matches('Z')
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .collect()
}

/// Current Unix time: seconds since the beginning of 1970, UTC.
pub fn unix_time() -> f64 {
    time::OffsetDateTime::now_utc().unix_timestamp_nanos() as f64 * 1e-9
}

/// The Unix time in seconds of the date and time `text`, in RFC 3339. `None` if `text` is not in
/// this format.
pub fn unix_time_of(text: &str) -> Option<f64> {
    let format = &time::format_description::well_known::Rfc3339;
    let at = time::OffsetDateTime::parse(text.trim(), format).ok()?;
    Some(at.unix_timestamp_nanos() as f64 * 1e-9)
}

/// A seed for random numbers that differs between sessions.
pub fn seed() -> u64 {
    let now = time::OffsetDateTime::now_utc();
    now.unix_timestamp_nanos() as u64 ^ (u64::from(std::process::id()) << 40)
}

/// Lets the calling thread sleep for at least `time`. Returns at once if `time` is not positive.
pub fn sleep(time: Nanos) {
    if time.0 > 0.0 {
        std::thread::sleep(Duration::try_from_secs_f64(time.secs()).unwrap_or(Duration::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_advance_and_sleeping_takes_its_time() {
        let clock = monotonic();
        let counter = ticks();
        sleep(Nanos::from_millis(2.0));
        assert!(monotonic() - clock >= Nanos::from_millis(1.9));
        assert!(ticks() > counter);
    }

    #[test]
    fn odd_lengths_of_sleep_return_at_once() {
        for odd in [f64::NAN, -1.0, f64::NEG_INFINITY, 0.0] {
            sleep(Nanos(odd));
        }
    }
}
