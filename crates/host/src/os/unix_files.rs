//! Files on macOS and FreeBSD.

#[cfg(feature = "storage")]
pub use super::plain_engines::*;
pub use super::plain_files::{
    create_unnamed, device_block, device_bytes, direct_alignment, forget_cached, give_name,
    is_sole_user, reserve,
};
pub use super::posix_files::{
    EBADF, EINVAL, EIO, create_vanishing, descriptor, file_numbers, file_size_limit, free_space,
    open_file, read_at, write_at,
};
pub use super::posix_mapping::{FileMapping, current_size, file_mapping_availability};

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Converts the result of fcntl: the error of the call for -1, else `Ok`.
fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Turns direct I/O on or off: F_NOCACHE on macOS, O_DIRECT on FreeBSD.
pub fn set_direct(file: &File, direct: bool) -> io::Result<()> {
    let descriptor = file.as_raw_fd();
    // SAFETY: reads the flags of a descriptor that is open.
    let flags = check(unsafe { libc::fcntl(descriptor, libc::F_GETFL) })?;
    // Files are opened with O_NONBLOCK, which is cleared because transfers have to wait.
    let flags = flags & !libc::O_NONBLOCK;
    #[cfg(target_os = "macos")]
    // SAFETY: sets a mark on a descriptor that is open.
    check(unsafe { libc::fcntl(descriptor, libc::F_NOCACHE, libc::c_int::from(direct)) })?;
    #[cfg(not(target_os = "macos"))]
    let flags = flags & !libc::O_DIRECT | if direct { libc::O_DIRECT } else { 0 };
    // SAFETY: sets the flags of a descriptor that is open.
    check(unsafe { libc::fcntl(descriptor, libc::F_SETFL, flags) }).map(drop)
}
