//! Flags that the file calls of all systems share.

/// How a file is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenHow {
    /// For reading and writing, instead of for reading only.
    pub write: bool,
    /// Make the file; fail where the name is taken.
    pub create_new: bool,
    /// Go through a symbolic link at the end of the path.
    pub follow_links: bool,
    /// Claim a block device for this process alone (Linux: open(2), O_EXCL without O_CREAT).
    pub claim: bool,
}

/// Kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)] // Windows has fewer
pub enum FileKind {
    /// A file with bytes.
    Regular,
    /// A disk, or a part of one.
    BlockDevice,
    /// A device without blocks: a terminal, `/dev/zero`.
    CharacterDevice,
    /// A folder.
    Directory,
    /// A FIFO.
    Pipe,
    /// A socket.
    Socket,
    /// Anything else.
    Other,
}

/// Kind of a file, and the numbers that identify it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileNumbers {
    /// Kind of the file.
    pub kind: FileKind,
    /// Bytes; 0 for devices.
    pub size: u64,
    /// Major and minor number of the device that it lies on.
    pub device: (u32, u32),
    /// Major and minor number of the device that it is.
    pub special: (u32, u32),
    /// Its number on that device.
    pub inode: u64,
    /// Bytes that the file system has given out for it; `None` where that is not told.
    pub allocated: Option<u64>,
}

/// Alignment that direct I/O needs, in bytes; zeros if the file system uses its cache for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)] // told by Linux only
pub struct DirectAlignment {
    /// Addresses of buffers are multiples of this.
    pub memory: u32,
    /// Offsets and lengths are multiples of this.
    pub offset: u32,
}
