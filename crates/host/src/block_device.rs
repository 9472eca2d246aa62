//! Whether a file is a device.

use crate::os;
use crate::os::files::FileKind;
use std::fs::File;

/// Whether `file` is a disk or a part of one; `false` where the system does not tell.
pub fn is_block_device(file: &File) -> bool {
    file.metadata()
        .is_ok_and(|metadata| os::file_numbers(&metadata).kind == FileKind::BlockDevice)
}
