//! Output to the terminal, and words quoted for a shell.

use std::io::Write;
use units::error::{Error, Result};

/// Writes `bytes` to standard output and flushes them, so that an error such as a full disk is
/// noticed. A closed pipe is no error, because its reader needs no more data.
pub fn to_stdout(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("cannot write to standard output", &e))
        }
        _ => Ok(()),
    }
}

/// Prints `line` on standard error. The line is lost if standard error is closed.
pub fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Columns of the terminal on standard output; `None` if standard output is no terminal.
pub fn terminal_width() -> Option<u16> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0)
}

/// Returns `word`, quoted if a shell would not read it as one word.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,:=+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
