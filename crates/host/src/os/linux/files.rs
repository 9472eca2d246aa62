//! Linux: direct I/O, unnamed files, leases and block devices.

use super::check;
use crate::os::files::DirectAlignment;
use crate::os::posix_files;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

pub use crate::os::posix_mapping::{FileMapping, current_size, file_mapping_availability};
pub use posix_files::{
    EBADF, EINVAL, EIO, descriptor, file_numbers, file_size_limit, free_space, open_file, read_at,
    write_at,
};

/// Creates a file without a name in the folder of `path` (O_TMPFILE). The system deletes the file
/// when it is closed, even by the end of the process. The error is `Unsupported` if the file system
/// cannot create such files.
pub fn create_unnamed(path: &Path) -> io::Result<File> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .mode(0o600)
        .custom_flags(libc::O_TMPFILE);
    options
        .open(folder)
        .map_err(|error| match error.raw_os_error() {
            // Kernels and file systems without O_TMPFILE try to open the folder itself, which fails
            // with these errors.
            Some(libc::EOPNOTSUPP | libc::EISDIR | libc::EINVAL) => {
                io::ErrorKind::Unsupported.into()
            }
            _ => error,
        })
}

/// Creates a file that is deleted when it is closed, even by the end of the process. The name
/// `path` exists for a moment at most.
pub fn create_vanishing(path: &Path) -> io::Result<File> {
    match create_unnamed(path) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            posix_files::create_vanishing(path)
        }
        other => other,
    }
}

/// Gives the name `path`, which must not exist, to an unnamed file (open(2), O_TMPFILE).
pub fn give_name(file: &File, path: &Path) -> io::Result<()> {
    let text = |bytes: &[u8]| CString::new(bytes).map_err(|_| io::ErrorKind::InvalidInput);
    let from = text(format!("/proc/self/fd/{}", file.as_raw_fd()).as_bytes())?;
    let to = text(path.as_os_str().as_bytes())?;
    // SAFETY: both paths end in a zero byte; the kernel only reads them.
    check(unsafe {
        libc::linkat(
            libc::AT_FDCWD,
            from.as_ptr(),
            libc::AT_FDCWD,
            to.as_ptr(),
            libc::AT_SYMLINK_FOLLOW,
        )
    })
}

/// Turns direct I/O on or off. The error is `InvalidInput` if the file system does not support it.
pub fn set_direct(file: &File, direct: bool) -> io::Result<()> {
    // SAFETY: reads and writes the flags of a descriptor that is open.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    if flags == -1 {
        return Err(io::Error::last_os_error());
    }
    // Files are opened with O_NONBLOCK, which is cleared because transfers have to wait.
    let flags =
        flags & !libc::O_NONBLOCK & !libc::O_DIRECT | if direct { libc::O_DIRECT } else { 0 };
    // SAFETY: as above.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags) })
}

/// Alignment that direct I/O needs for this file; `None` if the kernel does not report it. Linux
/// 6.1 and newer report it for block devices and some file systems: statx(2), STATX_DIOALIGN.
pub fn direct_alignment(file: &File) -> Option<DirectAlignment> {
    const STATX_DIOALIGN: u32 = 0x2000;
    /// The needed fields of `struct statx` in linux/stat.h, which older C libraries lack.
    #[repr(C, align(8))]
    struct Statx {
        mask: u32,
        unused: [u8; 148],
        memory: u32,
        offset: u32,
        rest: [u8; 96],
    }
    const { assert!(size_of::<Statx>() == 256) };
    let mut answer = Statx {
        mask: 0,
        unused: [0; 148],
        memory: 0,
        offset: 0,
        rest: [0; 96],
    };
    // SAFETY: the kernel writes the 256 bytes of its structure to ours; the path is empty, so that
    // the descriptor counts.
    let result = unsafe {
        libc::syscall(
            libc::SYS_statx,
            file.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            STATX_DIOALIGN,
            &raw mut answer,
        )
    };
    let told = result == 0 && answer.mask & STATX_DIOALIGN != 0;
    told.then_some(DirectAlignment {
        memory: answer.memory,
        offset: answer.offset,
    })
}

/// Allocates space for the first `bytes` bytes of the file, so that later writes have it.
pub fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    let bytes =
        libc::off64_t::try_from(bytes).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))?;
    // SAFETY: changes the extent of a file that is open for writing.
    check(unsafe { libc::fallocate64(file.as_raw_fd(), 0, 0, bytes) })
}

/// Drops the file's pages from the page cache, except pages that are not written back yet.
pub fn forget_cached(file: &File) -> io::Result<()> {
    // SAFETY: advice about a descriptor that is open.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// True if no other process has the file open. The test takes a write lease (fcntl(2), F_SETLEASE),
/// which the kernel only grants in this case, and gives the lease back at once. An error if the
/// file system has no leases or the file belongs to another user.
pub fn is_sole_user(file: &File) -> io::Result<bool> {
    let descriptor = file.as_raw_fd();
    // SAFETY: sets the signal for another process waiting for the lease. SIGURG is ignored by
    // default, while SIGIO would end the process.
    check(unsafe { libc::fcntl(descriptor, F_SETSIG, libc::SIGURG) })?;
    // SAFETY: takes a lease on a descriptor that is open.
    let taken = check(unsafe { libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_WRLCK) });
    match taken {
        Ok(()) => {
            // SAFETY: returns the lease.
            check(unsafe { libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_UNLCK) })?;
            Ok(true)
        }
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Command of fcntl(2) that sets the signal of a lease. The crate `libc` lacks it for some systems.
const F_SETSIG: libc::c_int = 10;

/// Size of a block device in bytes (ioctl BLKGETSIZE64 of linux/fs.h).
pub fn device_bytes(file: &File) -> io::Result<u64> {
    let mut bytes = 0u64;
    // SAFETY: the kernel writes one 64-bit number, whatever the width of the size_t in the
    // request's name.
    check(unsafe { libc::ioctl(file.as_raw_fd(), BLKGETSIZE64 as _, &raw mut bytes) })?;
    Ok(bytes)
}

/// `_IOR(0x12, 114, size_t)`: two bits of direction, 14 of size, 8 of type, 8 of number. The
/// encoding differs on MIPS, PowerPC and SPARC, for which memgauge has no kernels.
const BLKGETSIZE64: u64 = 2 << 30 | (size_of::<usize>() as u64) << 16 | 0x12 << 8 | 114;

/// Size of a block device's smallest transfer in bytes (ioctl BLKSSZGET of linux/fs.h: `_IO(0x12,
/// 104)`).
pub fn device_block(file: &File) -> Option<u32> {
    const BLKSSZGET: u64 = 0x12 << 8 | 104;
    let mut bytes: libc::c_int = 0;
    // SAFETY: the kernel writes one int.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), BLKSSZGET as _, &raw mut bytes) };
    u32::try_from(bytes)
        .ok()
        .filter(|bytes| result == 0 && bytes.is_power_of_two())
}

#[cfg(test)]
#[cfg(feature = "storage")]
pub mod tests {
    use crate::storage::{Access, Opening, Target};
    use std::io::{PipeReader, PipeWriter};
    use tempfile::TempDir;

    /// A file of one block, open for reading, with its folder.
    pub fn target() -> (TempDir, Target) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        std::fs::write(&path, [0; 4096]).unwrap();
        let target = Target::open(
            &path,
            &Opening {
                access: Access::Read,
                direct: false,
                ..Opening::default()
            },
        );
        (folder, target.unwrap())
    }

    /// Two ends of a pipe. A poll of it never completes while both ends exist.
    pub fn hanging() -> (PipeWriter, PipeReader) {
        let (read, write) = std::io::pipe().unwrap();
        (write, read)
    }
}
