//! Types of the functions on files, common to all systems.

/// Options for opening a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenHow {
    /// Opens for reading and writing instead of reading only.
    pub write: bool,
    /// Creates the file. Opening fails if the name exists.
    pub create_new: bool,
    /// Follows a symbolic link at the end of the path.
    pub follow_links: bool,
    /// Claims a block device for this process alone (Linux: open(2), O_EXCL without O_CREAT).
    pub claim: bool,
}

/// Kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)] // Windows has fewer
pub enum FileKind {
    /// A regular file.
    Regular,
    /// A disk or a partition.
    BlockDevice,
    /// A character device: a terminal, `/dev/zero`.
    CharacterDevice,
    /// A folder.
    Directory,
    /// A FIFO.
    Pipe,
    /// A socket.
    Socket,
    /// Any other kind.
    Other,
}

/// The number by which the system identifies a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeviceNumber {
    /// Number of the driver.
    pub major: u32,
    /// Number of the device among the devices of the driver.
    pub minor: u32,
}

/// Kind of a file, and the numbers that identify it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileNumbers {
    /// Kind of the file.
    pub kind: FileKind,
    /// Size in bytes; 0 for devices.
    pub size: u64,
    /// Number of the device that contains the file.
    pub device: DeviceNumber,
    /// Number of the device that the file represents, if it is a device.
    pub special: DeviceNumber,
    /// Inode number on the containing device.
    pub inode: u64,
    /// Bytes allocated by the file system; `None` if it does not report them.
    pub allocated: Option<u64>,
}

/// Alignment that direct I/O needs, in bytes. Both fields are 0 if direct I/O on this file system
/// uses the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)] // told by Linux only
pub struct DirectAlignment {
    /// Alignment of buffer addresses.
    pub memory: u32,
    /// Alignment of offsets and lengths.
    pub offset: u32,
}
