//! Runs the program as a user would, in a folder of its own, and never waits for it longer than a limit.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any test asks the program to measure: a run that takes this long hangs.
pub const LIMIT: Duration = Duration::from_secs(120);

/// What a finished run left behind.
#[derive(Debug)]
pub struct Finished {
    /// The exit code; `None` after a signal or when the limit was reached.
    pub code: Option<i32>,
    /// All of standard output; what is not UTF-8 is replaced.
    pub stdout: String,
    /// All of standard error.
    pub stderr: String,
    /// Whether the run was ended because it reached the limit.
    pub timed_out: bool,
}

impl Finished {
    /// Whether the program ended in a way that shows its insides to the user.
    pub fn panicked(&self) -> bool {
        self.stderr.contains("panicked") || self.stderr.contains("RUST_BACKTRACE")
    }
}

/// CPUs that a run may use.
pub fn cpus() -> usize {
    thread::available_parallelism().map_or(1, |n| n.get())
}

/// The program under test, to be run in `folder`.
pub fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memgauge"));
    command.current_dir(folder);
    command
}

/// Runs the program under test with `args` in `folder`, with nothing on its standard input.
pub fn memgauge(args: &[&str], folder: &Path) -> Finished {
    let mut command = program(folder);
    command.args(args);
    finish(command, LIMIT)
}

/// Runs the program with words separated by blanks.
pub fn typed(words: &str, folder: &Path) -> Finished {
    memgauge(&words.split_whitespace().collect::<Vec<_>>(), folder)
}

/// Writes a file into `folder`.
pub fn put(folder: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(folder.join(name), bytes).expect("a file can be written");
}

/// Runs `command` to its end or to `limit`. The output is read while it runs, so that a full pipe cannot stop it.
pub fn finish(mut command: Command, limit: Duration) -> Finished {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let stdout = read_aside(child.stdout.take());
    let stderr = read_aside(child.stderr.take());
    let status = wait(&mut child, limit);
    Finished {
        code: status.and_then(|s| s.code()),
        stdout: stdout.join().expect("reading ends"),
        stderr: stderr.join().expect("reading ends"),
        timed_out: status.is_none(),
    }
}

fn read_aside(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What was read before an error is still worth showing.
            let _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The status of `child`, `None` when it had to be ended at `limit`.
#[allow(clippy::disallowed_methods, reason = "a limit on waiting, nothing is measured")]
fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("the program can be waited for") {
            return Some(status);
        }
        if start.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_its_own_folder_and_ends() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let run = memgauge(&["--version"], folder.path());
        assert!(!run.timed_out);
        assert!(run.code.is_some(), "{run:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_hanging_run_is_ended_and_its_output_kept() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exec sleep 60"]);
        let run = finish(command, Duration::from_millis(300));
        assert!(run.timed_out);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (None, "out\n", "err\n"));
    }
}
