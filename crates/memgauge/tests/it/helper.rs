//! Runs the program as a user would, in a folder of its own, with a time limit.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

/// Time limit of a test. No test measures as long, so a program that takes this long hangs.
pub const LIMIT: Duration = Duration::from_secs(120);

/// Results of a program that ended.
#[derive(Debug)]
pub struct Finished {
    /// Exit code; `None` after a signal or a timeout.
    pub code: Option<i32>,
    /// Standard output; invalid UTF-8 is replaced.
    pub stdout: String,
    /// All of standard error.
    pub stderr: String,
    /// True if the program was ended at the time limit.
    pub timed_out: bool,
}

impl Finished {
    /// True if the program shows a panic to the user.
    pub fn panicked(&self) -> bool {
        self.stderr.contains("panicked") || self.stderr.contains("RUST_BACKTRACE")
    }
}

/// Number of CPUs that the program may use.
pub fn cpus() -> usize {
    thread::available_parallelism().map_or(1, |n| n.get())
}

/// Makes the command that runs the program under test in `folder`.
pub fn program(folder: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    at_home(&mut command, folder);
    command
}

/// Path of the program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_memgauge");

/// Makes `command` run in `folder` and save sessions in the folder [`state`], never in the real
/// home folder.
pub fn at_home(command: &mut Command, folder: &Path) {
    let state = state_root(folder);
    command
        .current_dir(folder)
        .env("XDG_STATE_HOME", &state)
        .env("HOME", &state)
        .env("LOCALAPPDATA", &state);
}

/// Runs `line` in a shell in `folder`, with the program's path as `$M`.
#[cfg(unix)]
pub fn shell(line: &str, folder: &Path) -> Finished {
    finish(shell_command(line, folder), LIMIT)
}

/// Makes the command for [`shell`] without running it.
#[cfg(unix)]
pub fn shell_command(line: &str, folder: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("M", PROGRAM);
    at_home(&mut command, folder);
    command
}

/// Folder of saved sessions for a program that runs in `folder`. It lies outside of `folder`, whose
/// files tests count.
pub fn state(folder: &Path) -> PathBuf {
    state_root(folder).join("memgauge")
}

fn state_root(folder: &Path) -> PathBuf {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("state");
        // Removes files of earlier tests.
        let _ = std::fs::remove_dir_all(&root);
        root
    });
    ROOT.join(folder.file_name().unwrap_or_default())
}

/// Runs the program under test with `args` in `folder`, with nothing on its standard input.
pub fn memgauge(args: &[&str], folder: &Path) -> Finished {
    let mut command = program(folder);
    command.args(args);
    finish(command, LIMIT)
}

/// Runs the program in `folder` with `words`, which are separated by blanks.
pub fn typed(words: &str, folder: &Path) -> Finished {
    memgauge(&words.split_whitespace().collect::<Vec<_>>(), folder)
}

/// Makes a new folder for a test.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Names of the files in `folder`, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into())
        .collect();
    names.sort();
    names
}

/// Reads a text file.
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a text file")
}

/// Parses `text` as JSON.
pub fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

/// Prints that a test or a part of a test is skipped, and why. The line bypasses the capture of
/// output, so it is always visible.
pub fn skipped(test: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {why}");
}

/// Writes a file into `folder`.
pub fn put(folder: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(folder.join(name), bytes).expect("a file can be written");
}

/// Runs `command` to its end or to `limit`. The output is read while it runs, so that a full pipe
/// cannot stop it.
pub fn finish(command: Command, limit: Duration) -> Finished {
    Running::start(command).end(limit)
}

/// A running program whose output is collected. The program is killed when this value is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdout: Option<thread::JoinHandle<String>>,
    stderr: Option<thread::JoinHandle<String>>,
}

impl Running {
    /// Starts `command` with nothing on its standard input.
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut running = Self::start_with_stdout(command);
        running.stdout = Some(read_aside(running.child.stdout.take()));
        running
    }

    /// Starts `command`, whose standard output is not collected.
    pub fn start_with_stdout(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        // A process that another test forks may still have a new copy of the program open for
        // writing. The start is then tried again.
        let busy = |e: &std::io::Error| e.kind() == std::io::ErrorKind::ExecutableFileBusy;
        let mut child = command.spawn();
        for _ in 0..100 {
            if !child.as_ref().is_err_and(busy) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
            child = command.spawn();
        }
        let mut child = child.expect("the program starts");
        let stderr = Some(read_aside(child.stderr.take()));
        Self {
            child,
            stdout: None,
            stderr,
        }
    }

    /// Process id.
    #[cfg(unix)]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal: `INT`, `KILL`.
    #[cfg(unix)]
    pub fn signal(&self, name: &str) {
        let sent = Command::new("sh")
            .args(["-c", &format!("kill -s {name} {}", self.child.id())])
            .status();
        assert!(
            sent.is_ok_and(|s| s.success()),
            "the program was there to be sent {name}"
        );
    }

    /// Waits until `condition` is true. Fails if the program ends first, or if [`LIMIT`] is over.
    #[allow(
        clippy::disallowed_methods,
        reason = "a limit on waiting, nothing is measured"
    )]
    pub fn wait_until(&mut self, what: &str, condition: impl Fn() -> bool) {
        let start = Instant::now();
        while !condition() {
            let ended = self
                .child
                .try_wait()
                .expect("the program can be waited for");
            assert!(
                ended.is_none(),
                "the program ended before {what}: {ended:?}"
            );
            assert!(start.elapsed() < LIMIT, "no sign of {what}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for the program's end, or kills it at `limit`.
    pub fn end(mut self, limit: Duration) -> Finished {
        let status = wait(&mut self.child, limit);
        let text = |reader: Option<thread::JoinHandle<String>>| {
            reader.map(|r| r.join().expect("reading ends"))
        };
        Finished {
            code: status.and_then(|s| s.code()),
            stdout: text(self.stdout.take()).unwrap_or_default(),
            stderr: text(self.stderr.take()).unwrap_or_default(),
            timed_out: status.is_none(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // After `end` the program has ended already, so errors are ignored.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_aside(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // If reading fails, the text before the error is kept.
            let _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Exit status of `child`; `None` if it was killed at `limit`.
#[allow(
    clippy::disallowed_methods,
    reason = "a limit on waiting, nothing is measured"
)]
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
        assert_eq!(
            (run.code, run.stdout.as_str(), run.stderr.as_str()),
            (None, "out\n", "err\n")
        );
    }
}
