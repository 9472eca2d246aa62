//! Stubs for the storage engines that only Linux has.

use crate::storage::{EngineSettings, IoEngine, Target};
use units::error::{Error, Result};

/// Always an error: the engine exists on Linux only.
pub fn native_aio_availability() -> std::result::Result<(), String> {
    Err("it exists on Linux only".to_owned())
}

/// Always an error: the engine exists on Linux only.
pub fn open_native_aio(
    _targets: &[Target],
    _settings: &EngineSettings,
) -> Result<Box<dyn IoEngine>> {
    Err(Error::usage(
        "cannot use engine aio: it exists on Linux only; use --engine sync",
    ))
}

/// Always an error: the engine exists on 64-bit Linux only.
pub fn io_uring_availability() -> std::result::Result<(), String> {
    Err("it is used on 64-bit Linux only".to_owned())
}

/// Always an error: the engine exists on 64-bit Linux only.
pub fn open_io_uring(_targets: &[Target], _settings: &EngineSettings) -> Result<Box<dyn IoEngine>> {
    Err(Error::usage(
        "cannot use engine io_uring: it is used on 64-bit Linux only; use --engine aio or \
         --engine sync",
    ))
}
