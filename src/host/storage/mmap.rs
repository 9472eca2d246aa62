//! Copies from and to a mapping of the file.

use super::{EngineSettings, IoEngine, Target};
use crate::error::{Error, Result};

/// Comes with the next steps of this branch.
pub(super) fn availability() -> std::result::Result<(), String> {
    Err("not built yet".to_owned())
}

pub(super) fn open(_targets: &[Target], _settings: &EngineSettings) -> Result<Box<dyn IoEngine>> {
    Err(Error::usage("cannot use engine mmap: not built yet; use --engine sync"))
}
