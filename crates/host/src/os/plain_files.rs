//! Files on systems without POSIX calls. A function that such a system lacks returns `None` or an
//! error of kind `Unsupported`.

use super::files::{DeviceNumber, DirectAlignment, FileKind, FileNumbers, OpenHow};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// "Invalid argument": ERROR_INVALID_PARAMETER on Windows.
pub const EINVAL: i32 = if cfg!(windows) { 87 } else { 22 };

/// "Bad file descriptor", the error for writing to a file that was opened for reading:
/// ERROR_ACCESS_DENIED on Windows.
pub const EBADF: i32 = if cfg!(windows) { 5 } else { 9 };

/// "Input/output error": ERROR_IO_DEVICE on Windows.
pub const EIO: i32 = if cfg!(windows) { 1117 } else { 5 };

/// Opens `path`. A symbolic link is detected before opening, since no flag of `open` rejects links.
pub fn open_file(path: &Path, how: &OpenHow) -> io::Result<File> {
    if how.claim {
        return Err(io::ErrorKind::Unsupported.into());
    }
    if !how.follow_links && !how.create_new && std::fs::symlink_metadata(path)?.is_symlink() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is a symbolic link",
        ));
    }
    OpenOptions::new()
        .read(true)
        .write(how.write)
        .create_new(how.create_new)
        .open(path)
}

/// Creates a file that is deleted when it is closed, even by the end of the process
/// (FILE_FLAG_DELETE_ON_CLOSE).
#[cfg(windows)]
pub fn create_vanishing(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const DELETE_ON_CLOSE: u32 = 0x0400_0000;
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .custom_flags(DELETE_ON_CLOSE)
        .open(path)
}

/// Not implemented on this system: returns an error of kind `Unsupported`.
#[cfg(not(windows))]
pub fn create_vanishing(_path: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Not implemented on this system: returns an error of kind `Unsupported`.
pub fn create_unnamed(_path: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Not implemented on this system: returns an error of kind `Unsupported`.
pub fn give_name(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Reads bytes at `offset`, perhaps fewer than requested.
#[cfg(windows)]
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// Writes bytes at `offset`, perhaps fewer than requested.
#[cfg(windows)]
pub fn write_at(file: &File, buffer: &[u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, buffer, offset)
}

/// Reads bytes at `offset`, perhaps fewer than requested.
#[cfg(unix)]
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

/// Writes bytes at `offset`, perhaps fewer than requested.
#[cfg(unix)]
pub fn write_at(file: &File, buffer: &[u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, buffer, offset)
}

/// Not supported: the standard library has no positioned transfers on this system.
#[cfg(not(any(unix, windows)))]
pub fn read_at(_file: &File, _buffer: &mut [u8], _offset: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Not supported: the standard library has no positioned transfers on this system.
#[cfg(not(any(unix, windows)))]
pub fn write_at(_file: &File, _buffer: &[u8], _offset: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Kind of a file. All numbers that identify the file are 0, which means unknown.
pub fn file_numbers(metadata: &Metadata) -> FileNumbers {
    let kind = if metadata.is_file() {
        FileKind::Regular
    } else if metadata.is_dir() {
        FileKind::Directory
    } else {
        FileKind::Other
    };
    FileNumbers {
        kind,
        size: metadata.len(),
        device: DeviceNumber::default(),
        special: DeviceNumber::default(),
        inode: 0,
        allocated: None,
    }
}

/// Always `None`: the standard library does not report this value.
pub fn free_space(_path: &Path) -> Option<u64> {
    None
}

/// Always `None`: the standard library does not report this value.
pub fn file_size_limit() -> Option<u64> {
    None
}

/// Not implemented on this system: returns `None`.
pub fn descriptor(_file: &File) -> Option<i32> {
    None
}

/// Not implemented on this system: direct I/O can only be turned off.
pub fn set_direct(_file: &File, direct: bool) -> io::Result<()> {
    if direct {
        Err(io::ErrorKind::Unsupported.into())
    } else {
        Ok(())
    }
}

/// Not implemented on this system: returns `None`.
pub fn direct_alignment(_file: &File) -> Option<DirectAlignment> {
    None
}

/// Not implemented on this system: returns an error of kind `Unsupported`. The system allocates
/// space when data are written.
pub fn reserve(_file: &File, _bytes: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Not implemented on this system: returns an error of kind `Unsupported`.
pub fn forget_cached(_file: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Not implemented on this system: returns an error of kind `Unsupported`.
pub fn is_sole_user(_file: &File) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Not implemented on this system: returns an error of kind `Unsupported`.
pub fn device_bytes(_file: &File) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Not implemented on this system: returns `None`.
pub fn device_block(_file: &File) -> Option<u32> {
    None
}

/// Always an error: the standard library has no mappings.
pub fn file_mapping_availability() -> std::result::Result<(), String> {
    Err("mapping files is not implemented for this system".to_owned())
}

/// Size of a file at this moment, in bytes.
pub fn current_size(file: &File) -> io::Result<u64> {
    file.metadata().map(|metadata| metadata.len())
}

/// Stub type without values, because this system has no mappings of files.
#[derive(Debug)]
pub enum FileMapping {}

impl FileMapping {
    /// Always an error of kind `Unsupported`.
    pub fn map(_file: &File, _length: u64, _writable: bool) -> io::Result<FileMapping> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Cannot be called, because this type has no values.
    pub fn read(&self, _offset: usize, _to: &mut [u8]) -> io::Result<()> {
        match *self {}
    }

    /// Cannot be called, because this type has no values.
    pub fn write(&self, _offset: usize, _from: &[u8]) -> io::Result<()> {
        match *self {}
    }

    /// Cannot be called, because this type has no values.
    pub fn sync(&self) -> io::Result<()> {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_and_written_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let new = OpenHow {
            write: true,
            create_new: true,
            ..OpenHow::default()
        };
        let file = open_file(&path, &new).unwrap();
        assert_eq!(write_at(&file, b"abcdef", 2).unwrap(), 6);
        assert_eq!(
            open_file(&path, &new).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        let mut buffer = [0; 4];
        assert_eq!(read_at(&file, &mut buffer, 5).unwrap(), 3);
        assert_eq!(&buffer, b"def\0");
        assert_eq!(current_size(&file).unwrap(), 8);
        let numbers = file_numbers(&file.metadata().unwrap());
        assert_eq!((numbers.kind, numbers.size), (FileKind::Regular, 8));
        assert_eq!(
            file_numbers(&folder.path().metadata().unwrap()).kind,
            FileKind::Directory
        );
        assert!(set_direct(&file, false).is_ok() && set_direct(&file, true).is_err());
        let reading = open_file(&path, &OpenHow::default()).unwrap();
        assert!(write_at(&reading, b"x", 0).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_on_request_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let link = folder.path().join("link");
        std::fs::write(&path, "x").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(open_file(&link, &OpenHow::default()).is_err());
        assert!(
            open_file(
                &link,
                &OpenHow {
                    follow_links: true,
                    ..OpenHow::default()
                }
            )
            .is_ok()
        );
    }
}
