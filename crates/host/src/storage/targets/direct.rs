//! Sets up direct I/O: checks that transfers bypass the page cache, and finds their alignment.

use super::{Direct, device::DeviceFacts};
use crate::os;
use crate::storage::IoBuffers;
use std::fs::File;
use std::io;

/// File systems whose data are only in the page cache, even if they accept direct I/O.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "rootfs", "hugetlbfs"];

/// Turns direct I/O on if `wanted` and if a test read works. Otherwise turns it off. Returns the
/// outcome.
pub(super) fn establish(file: &File, wanted: bool, facts: &DeviceFacts) -> io::Result<Direct> {
    if !wanted {
        os::set_direct(file, false)?;
        return Ok(Direct::NotAsked);
    }
    let name = facts.file_system.as_deref().unwrap_or("the file system");
    let refused = |why: String| os::set_direct(file, false).map(|()| Direct::Refused(why));
    if IN_MEMORY.contains(&name) {
        return refused(format!("{name} keeps its files in memory"));
    }
    if let Err(error) = os::set_direct(file, true) {
        return refused(format!("{name} refuses direct I/O ({error})"));
    }
    let candidates = match os::direct_alignment(file) {
        Some(told) if told.offset == 0 => {
            return refused(format!("{name} serves direct I/O through the page cache"));
        }
        Some(told) => vec![(told.memory.max(1) as usize, told.offset as usize)],
        None => {
            let block = os::device_block(file)
                .or(facts.logical_block)
                .map(|block| block as usize);
            let mut guesses: Vec<(usize, usize)> = block
                .into_iter()
                .chain([512, 4096])
                .map(|b| (b, b))
                .collect();
            guesses.dedup();
            guesses
        }
    };
    for (memory, offset) in candidates {
        if reads(file, offset) {
            return Ok(Direct::Granted { memory, offset });
        }
    }
    refused(format!(
        "{name} accepts direct I/O, but refuses to read with it"
    ))
}

/// True if the file can be read in blocks of `block` bytes. An error of the medium counts as
/// success.
fn reads(file: &File, block: usize) -> bool {
    let Ok(mut buffers) = IoBuffers::new(1, block.max(1), 0) else {
        return false;
    };
    let Some(buffer) = buffers.slot_mut(0) else {
        return false;
    };
    match os::read_at(file, buffer, 0) {
        Ok(_) => true,
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
        ),
    }
}
