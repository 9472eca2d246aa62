//! Reads and writes files of expectations.

use super::target::{put, reason};
use super::terminal::{quoted, tell};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use units::counted;
use units::error::{Error, Result};
use verdict::Expectations;

/// Largest file of expectations, in bytes.
const MAX_EXPECTATIONS: u64 = 256 << 20;

/// Reads a file of expectations. A file that is missing or invalid is an error.
pub fn read(path: &Path) -> Result<Expectations> {
    let refused = |why: &str| {
        Error::usage(format!(
            "cannot read the expectations: '{}': {why}; a file of --write-expectations is needed; \
             type its name",
            path.display()
        ))
    };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_EXPECTATIONS).read_to_end(&mut bytes))
        .map_err(|e| refused(&reason(&e)))?;
    let read: Expectations =
        serde_json::from_slice(&bytes).map_err(|e| refused(&format!("no expectations: {e}")))?;
    match read.fault() {
        None => Ok(read),
        Some(fault) => Err(refused(&fault)),
    }
}

/// Writes the expectations `learned` from a fleet to the file at `path`.
pub fn write(path: &Path, learned: &Expectations) -> Result<()> {
    let file = put(Some(path), |_| {
        let mut bytes = serde_json::to_vec_pretty(learned)
            .map_err(|e| Error::failure(format!("cannot write the expectations: {e}")))?;
        bytes.push(b'\n');
        Ok(bytes)
    })?;
    if file {
        tell(&format!(
            "memgauge: expectations of {} in {}; to use them: memgauge fleet FOLDER --expect {}",
            counted(learned.len(), "group"),
            path.display(),
            quoted(&path.to_string_lossy())
        ));
    }
    Ok(())
}
