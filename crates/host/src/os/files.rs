//! Types that the file calls of all systems share.

/// Options for opening a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenHow {
    /// Open for reading and writing, not for reading only.
    pub write: bool,
    /// Make the file; fail if the name is taken.
    pub create_new: bool,
    /// Follow a symbolic link at the end of the path.
    pub follow_links: bool,
    /// Claim a block device for this process alone (Linux: open(2), O_EXCL without O_CREAT).
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

/// Number of a device in the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeviceNumber {
    /// Number of the driver.
    pub major: u32,
    /// Number of the device among those of the driver.
    pub minor: u32,
}

/// Kind of a file, and the numbers that identify it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileNumbers {
    /// Kind of the file.
    pub kind: FileKind,
    /// Size in bytes; 0 for devices.
    pub size: u64,
    /// Device that contains the file.
    pub device: DeviceNumber,
    /// Device that the file represents.
    pub special: DeviceNumber,
    /// Inode number on the containing device.
    pub inode: u64,
    /// Bytes allocated by the file system; `None` if it does not report them.
    pub allocated: Option<u64>,
}

/// Alignment that direct I/O needs, in bytes; zeros if the file system uses its cache for direct
/// I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)] // told by Linux only
pub struct DirectAlignment {
    /// Alignment of buffer addresses.
    pub memory: u32,
    /// Alignment of offsets and lengths.
    pub offset: u32,
}
