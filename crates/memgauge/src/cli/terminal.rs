//! Output to the terminal, and words as a shell takes them.

use std::io::Write;
use units::error::{Error, Result};

/// Writes `bytes` to standard output and flushes them, so that a full disk is noticed. A reader
/// that went away is no error: it has what it wanted.
pub fn to_stdout(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("cannot write to standard output", &e))
        }
        _ => Ok(()),
    }
}

/// A line for people on standard error; who closed it does not want it.
pub fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The columns of the terminal that standard output is; none where it is none.
pub fn terminal_width() -> Option<u16> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0)
}

/// `word` as a shell takes it for one word.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,:=+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
