//! Pinning threads to CPUs.

use super::os;
use units::CpuList;
use units::error::{Error, Result};

/// True if programs can choose the CPU of a thread on this system.
pub fn can_pin() -> bool {
    os::CAN_PIN
}

/// Pins the calling thread to `cpu`, and verifies the result.
///
/// # Errors
/// The CPU does not exist or is outside this process's cpuset. The system set other CPUs than
/// requested.
pub fn pin_current_thread(cpu: u32) -> Result<()> {
    let before = current_affinity();
    let allowed = match &before {
        Some(list) => format!("the CPUs allowed are {list}; name one of these"),
        None => "this system does not report which CPUs are allowed; run without \
            pinning"
            .to_owned(),
    };
    os::pin_to(cpu)
        .map_err(|e| Error::failure(format!("cannot pin a thread to CPU {cpu}: {e}; {allowed}")))?;
    match current_affinity() {
        Some(list) if list.0 == [cpu] => Ok(()),
        Some(list) => Err(Error::failure(format!(
            "cannot pin a thread to CPU {cpu}: the system left it on {list}; {allowed}"
        ))),
        None => Err(Error::failure(format!(
            "cannot pin a thread to CPU {cpu}: it cannot be read back; {allowed}"
        ))),
    }
}

/// Requests that the system does not slow down the calling thread. On macOS, the function also
/// requests a core of the kind `kind`. On Macs with Intel's processors, it requests that the thread
/// shares no cache with threads that passed another `cpu`. `kind` is the kind of core in the facts;
/// `None` if all cores are alike. True if the system accepted the request, although it may still
/// not follow it. Always false on Linux, which needs no such request.
pub fn ask_for_speed(cpu: u32, kind: Option<&str>) -> bool {
    os::ask_for_speed(cpu, kind)
}

/// CPU that the calling thread runs on at this moment; `None` if the system does not report it. The
/// call takes a few ns, which is cheap enough for every sample.
pub fn current_cpu() -> Option<u32> {
    os::running_cpu()
}

/// CPUs that the calling thread may run on, in rising order; `None` if the system does not report
/// them.
pub fn current_affinity() -> Option<CpuList> {
    os::allowed_cpus().map(CpuList)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `body` on a thread of its own, so that pinning affects no other test.
    fn apart(body: impl FnOnce() + Send + 'static) {
        std::thread::spawn(body).join().unwrap();
    }

    #[test]
    fn a_thread_runs_where_it_is_pinned() {
        apart(|| {
            for cpu in current_affinity().unwrap().0 {
                pin_current_thread(cpu).unwrap();
                assert_eq!(current_cpu(), Some(cpu));
                assert_eq!(current_affinity(), Some(CpuList(vec![cpu])));
                // The thread is restricted to one CPU now, but may widen its affinity again.
            }
        });
    }

    #[test]
    fn a_cpu_that_is_not_there_is_refused_with_what_is_allowed() {
        apart(|| {
            let before = current_affinity().unwrap();
            for cpu in [100_000, 1 << 20, u32::MAX] {
                let message = pin_current_thread(cpu).unwrap_err().to_string();
                assert!(
                    message.starts_with(&format!("cannot pin a thread to CPU {cpu}: ")),
                    "{message}"
                );
                assert!(
                    message.contains(&format!("the CPUs allowed are {before}; ")),
                    "{message}"
                );
                assert_eq!(
                    current_affinity(),
                    Some(before.clone()),
                    "a refusal leaves the thread where it was"
                );
            }
        });
    }
}
