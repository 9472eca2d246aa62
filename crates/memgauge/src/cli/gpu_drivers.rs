//! Starts the process in which `memgauge gpu` opens drivers.
//!
//! The process runs this program again. A statically linked program cannot open libraries, so it
//! carries another program that can.

use super::exit::Exit;
use host::gpu::{DriverLimits, DriverProcesses, DriverProgram, DriversHere, serve};
use std::ffi::OsString;
use units::error::{Error, Result};

/// First argument that makes this program open drivers for another process. Users do not type it.
const SERVE: &str = "--serve-gpu-drivers";

/// The program that opens drivers, packed by zlib. `None` unless this program is statically linked
/// and carries it. `.ci/release` makes it.
#[cfg(all(feature = "embedded-driver", target_env = "musl"))]
const EMBEDDED: Option<&[u8]> = {
    #[cfg(target_arch = "x86_64")]
    const PROGRAM: &[u8] = include_bytes!(concat!(env!("MEMGAUGE_GPU_DRIVERS"), "/x86_64"));
    #[cfg(target_arch = "aarch64")]
    const PROGRAM: &[u8] = include_bytes!(concat!(env!("MEMGAUGE_GPU_DRIVERS"), "/aarch64"));
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    const PROGRAM: &[u8] = &[];
    if PROGRAM.is_empty() {
        None
    } else {
        Some(PROGRAM)
    }
};
#[cfg(not(all(feature = "embedded-driver", target_env = "musl")))]
const EMBEDDED: Option<&[u8]> = None;

/// True if the C library is part of this program, as in releases for Linux. Such a program cannot
/// open libraries.
const IS_STATIC: bool = cfg!(all(target_env = "musl", target_feature = "crt-static"));

/// Access to the drivers of this machine.
///
/// # Errors
/// This program is statically linked and carries no program for drivers.
pub fn drivers() -> Result<DriverProcesses> {
    let program = match EMBEDDED {
        Some(packed) => DriverProgram::Embedded(unpacked(packed)?),
        None if IS_STATIC => {
            return Err(Error::failure(
                "cannot open drivers: this program is statically linked; build it with cargo on \
                 this machine",
            ));
        }
        None => {
            let path = std::env::current_exe()
                .map_err(|why| Error::failure(format!("cannot find this program: {why}")))?;
            DriverProgram::File(path, vec![SERVE.into()])
        }
    };
    Ok(DriverProcesses {
        program,
        limits: DriverLimits::default(),
    })
}

/// Unpacks bytes that zlib packed.
///
/// # Errors
/// The bytes are damaged: this program was changed after it was built.
fn unpacked(packed: &[u8]) -> Result<Vec<u8>> {
    miniz_oxide::inflate::decompress_to_vec_zlib(packed)
        .map_err(|why| Error::failure(format!("the program for drivers is damaged: {why}")))
}

/// Opens drivers for another process if `arguments` request it. `None` if they do not.
pub fn serve_if_asked(arguments: &[OsString]) -> Option<Result<Exit>> {
    if arguments.get(1).is_none_or(|first| first != SERVE) {
        return None;
    }
    let served = serve(&DriversHere, std::io::stdin(), std::io::stdout());
    Some(served.map(|()| Exit::Done))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_program_for_drivers_is_an_error() {
        // The output of `zlib.compress(b"memgauge")` in Python.
        let packed = [
            0x78, 0x9c, 0xcb, 0x4d, 0xcd, 0x4d, 0x4f, 0x2c, 0x4d, 0x4f, 0x05, 0x00, 0x0e, 0xda,
            0x03, 0x49,
        ];
        assert_eq!(unpacked(&packed).expect("whole"), b"memgauge");
        assert!(unpacked(&packed[..8]).is_err());
        assert!(unpacked(&[]).is_err());
    }
}
