//! The stop request: a flag that signals set and the measuring loops poll.

use super::os;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use units::error::{Error, Result};

/// Signals within this time, in ns, count as one stop request.
const ONE_REQUEST_NS: u64 = 200_000_000;

/// Handles the signal `signal`. The first signal sets `flag`. A signal less than [`ONE_REQUEST_NS`]
/// after the first one does nothing. A later signal ends the process with exit code 128 + `signal`.
/// `first` is the time of the first signal in ns, or 0 if there was none.
fn heard(flag: &StopFlag, first: &AtomicU64, signal: i32) {
    let now = os::monotonic_ns().max(1);
    match first.compare_exchange(0, now, Ordering::SeqCst, Ordering::SeqCst) {
        Ok(_) => flag.set(),
        Err(before) if now.saturating_sub(before) < ONE_REQUEST_NS => {}
        Err(_) => signal_hook::low_level::exit(128 + signal),
    }
}

/// A flag that is set when the session should end. All clones share one flag.
#[derive(Debug, Clone)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that the first SIGINT, SIGTERM or SIGHUP sets. A second signal ends the process at
    /// once with exit code 128 + its number. Signals within 0.2 s count as one, because one request
    /// may send two. For example, `timeout` signals the process and its group, and both kernel and
    /// shell signal that a terminal was closed. A signal that is already ignored (`nohup`) stays
    /// ignored. On Windows, events of the console (Ctrl-C, Ctrl-Break, a closed window, the end of
    /// the user's session) count like SIGINT. This function must be called only once in a process.
    ///
    /// # Errors
    /// The system did not install a handler.
    pub fn on_signals() -> Result<StopFlag> {
        let flag = StopFlag::never();
        let first = Arc::new(AtomicU64::new(0));
        let on_event = {
            let first = Arc::clone(&first);
            let flag = flag.clone();
            move || heard(&flag, &first, signal_hook::consts::SIGINT)
        };
        os::on_console_events(on_event).map_err(|e| {
            Error::failure(format!(
                "cannot listen for events of the console: {e}; run without a console"
            ))
        })?;
        for signal in os::stop_signals() {
            let wrong = |e: std::io::Error| {
                Error::failure(format!(
                    "cannot listen for signal {signal}: {e}; another handler may be in the way"
                ))
            };
            let first = Arc::clone(&first);
            let flag = flag.clone();
            let on_signal = move || heard(&flag, &first, signal);
            // SAFETY: the handler does what handlers may do: it reads a clock, changes atomics and
            // calls _exit. It neither allocates nor locks nor panics.
            unsafe { signal_hook::low_level::register(signal, on_signal) }.map_err(wrong)?;
        }
        Ok(flag)
    }

    /// A flag that no signal sets.
    pub fn never() -> StopFlag {
        StopFlag(Arc::new(AtomicBool::new(false)))
    }

    /// Requests the end of the session.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// True if the end of the session was requested. The call is one load, so it is cheap enough
    /// for every sample.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Makes writes beyond the limit on file size (`ulimit -f`) fail with an error. Without this
/// handler, the signal SIGXFSZ would end the process.
///
/// # Errors
/// The system did not install a handler.
pub fn report_file_limit() -> Result<()> {
    let Some(signal) = os::file_limit_signal() else {
        return Ok(());
    };
    // Nobody reads this flag. Any handler suffices to keep the process alive.
    signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))
        .map(drop)
        .map_err(|e| Error::failure(format!("cannot listen for signal {signal}: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_are_one_flag() {
        let flag = StopFlag::never();
        let other = flag.clone();
        assert!(!other.is_set());
        flag.set();
        assert!(other.is_set());
        assert!(!StopFlag::never().is_set());
    }

    /// Not a test of its own. The next test starts it as a child process, which sends itself three
    /// signals.
    #[test]
    #[ignore = "ends the process"]
    fn child_that_is_told_twice() {
        let flag = StopFlag::on_signals().unwrap();
        // SIGINT is not used, because shells make background programs ignore it.
        signal_hook::low_level::raise(signal_hook::consts::SIGTERM).unwrap();
        assert!(flag.is_set());
        // A signal right after the first one belongs to the same stop request.
        signal_hook::low_level::raise(signal_hook::consts::SIGHUP).unwrap();
        std::thread::sleep(std::time::Duration::from_nanos(ONE_REQUEST_NS + 50_000_000));
        signal_hook::low_level::raise(signal_hook::consts::SIGTERM).unwrap();
        unreachable!("the second signal ends the process");
    }

    #[test]
    fn the_first_signal_sets_the_flag_and_the_second_ends_the_process() {
        // A child process receives the signals, because handlers cannot be removed, and other tests
        // must stay interruptible.
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                &crate::tests::name_of(module_path!(), "child_that_is_told_twice"),
            ])
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(128 + signal_hook::consts::SIGTERM));
    }

    /// Not a test of its own. The next test starts it as a child process, as `nohup` starts
    /// programs.
    #[test]
    #[ignore = "needs a process whose starter ignores SIGHUP"]
    fn child_that_must_not_hear_a_hangup() {
        let flag = StopFlag::on_signals().unwrap();
        signal_hook::low_level::raise(libc::SIGHUP).unwrap();
        assert!(!flag.is_set());
    }

    #[test]
    fn a_signal_that_the_starter_ignores_stays_ignored() {
        let child = &crate::tests::name_of(module_path!(), "child_that_must_not_hear_a_hangup");
        let output = std::process::Command::new("sh")
            .args(["-c", "trap '' HUP; exec \"$0\" --ignored --exact \"$1\""])
            .arg(std::env::current_exe().unwrap())
            .arg(child)
            .output()
            .unwrap();
        assert!(
            String::from_utf8_lossy(&output.stdout).contains("1 passed"),
            "{output:?}"
        );
    }
}
