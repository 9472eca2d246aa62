//! Tests whether a file is a block device.

use crate::os;
use crate::os::files::FileKind;
use std::fs::File;

/// True if `file` is a disk or a partition. False for other kinds of files, or if the kind is
/// unknown.
pub fn is_block_device(file: &File) -> bool {
    file.metadata()
        .is_ok_and(|metadata| os::file_numbers(&metadata).kind == FileKind::BlockDevice)
}
