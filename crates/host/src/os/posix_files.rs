//! Files on systems with POSIX calls: opening, positioned transfers, metadata, limits.

use super::files::{DeviceNumber, FileKind, FileNumbers, OpenHow};
use std::ffi::CString;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// "Invalid argument".
pub const EINVAL: i32 = libc::EINVAL;

/// "Bad file descriptor": the error for writing to a file that was opened for reading.
pub const EBADF: i32 = libc::EBADF;

/// "Input/output error".
pub const EIO: i32 = libc::EIO;

/// Opens `path`. Opening a pipe does not wait for its other end, and opening a terminal does not
/// make it the controlling terminal.
pub fn open_file(path: &Path, how: &OpenHow) -> io::Result<File> {
    let mut flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    flags |= if how.follow_links {
        0
    } else {
        libc::O_NOFOLLOW
    };
    flags |= if how.claim { libc::O_EXCL } else { 0 };
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(how.write)
        .create_new(how.create_new)
        .mode(0o600)
        .custom_flags(flags);
    options.open(path)
}

/// Creates a file that is deleted when it is closed, even by the end of the process. The name
/// `path` only exists for a moment.
pub fn create_vanishing(path: &Path) -> io::Result<File> {
    let file = open_file(
        path,
        &OpenHow {
            write: true,
            create_new: true,
            ..OpenHow::default()
        },
    )?;
    std::fs::remove_file(path)?;
    Ok(file)
}

/// Reads bytes at `offset`, perhaps fewer than requested.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match file.read_at(buffer, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Writes bytes at `offset`, perhaps fewer than requested.
pub fn write_at(file: &File, buffer: &[u8], offset: u64) -> io::Result<usize> {
    loop {
        match file.write_at(buffer, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Kind of a file, and the numbers that identify it.
pub fn file_numbers(metadata: &Metadata) -> FileNumbers {
    let kind = metadata.file_type();
    let kind = if kind.is_file() {
        FileKind::Regular
    } else if kind.is_block_device() {
        FileKind::BlockDevice
    } else if kind.is_dir() {
        FileKind::Directory
    } else if kind.is_char_device() {
        FileKind::CharacterDevice
    } else if kind.is_fifo() {
        FileKind::Pipe
    } else if kind.is_socket() {
        FileKind::Socket
    } else {
        FileKind::Other
    };
    FileNumbers {
        kind,
        size: metadata.len(),
        device: device_number(metadata.dev()),
        special: device_number(metadata.rdev()),
        inode: metadata.ino(),
        // The unit is 512 bytes, whatever the file system's block size is (stat(3type)).
        allocated: Some(metadata.blocks().saturating_mul(512)),
    }
}

fn device_number(number: u64) -> DeviceNumber {
    let number = number as libc::dev_t;
    DeviceNumber {
        major: libc::major(number) as u32,
        minor: libc::minor(number) as u32,
    }
}

/// Bytes that this user may still write to the file system of `path`; `None` if the call fails.
pub fn free_space(path: &Path) -> Option<u64> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut system = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path ends in a zero byte; the kernel fills the structure when it returns 0, and
    // it is read only then.
    let system = unsafe {
        if libc::statvfs(path.as_ptr(), system.as_mut_ptr()) != 0 {
            return None;
        }
        system.assume_init()
    };
    #[allow(clippy::unnecessary_cast)] // their widths differ between systems
    (system.f_bavail as u64).checked_mul(system.f_frsize as u64)
}

/// Size in bytes of the largest file that this process may write (`ulimit -f`); `None` without a
/// limit.
pub fn file_size_limit() -> Option<u64> {
    let mut limit = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: the kernel fills the whole structure when it returns 0, and it is read only then.
    let soft = unsafe {
        if libc::getrlimit(libc::RLIMIT_FSIZE, limit.as_mut_ptr()) != 0 {
            return None;
        }
        limit.assume_init().rlim_cur
    };
    #[allow(clippy::useless_conversion)] // signed or 32 bits wide on some systems
    u64::try_from(soft)
        .ok()
        .filter(|_| soft != libc::RLIM_INFINITY)
}

/// File descriptor of the file.
pub fn descriptor(file: &File) -> Option<i32> {
    Some(file.as_raw_fd())
}
