//! Test for block devices.

use crate::os;
use crate::os::files::FileKind;
use std::fs::File;

/// True if `file` is a disk or a partition; `false` if the system does not say.
pub fn is_block_device(file: &File) -> bool {
    file.metadata()
        .is_ok_and(|metadata| os::file_numbers(&metadata).kind == FileKind::BlockDevice)
}
