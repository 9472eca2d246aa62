//! Engine with one system call per operation: pread, pwrite, fsync, fdatasync.

use super::{
    Admission, EngineSettings, IO_ERROR, IoBuffers, IoCompletion, IoEngine, IoRequest, Ready,
    Target, Transfer,
};
use crate::os;
use std::fs::File;
use std::io;
use std::ptr::NonNull;
use units::error::Result;

struct Sync {
    targets: Vec<Target>,
    buffers: IoBuffers,
    ready: Ready,
}

/// Always `Ok`, because every system has these calls.
pub(super) fn availability() -> std::result::Result<(), String> {
    Ok(())
}

pub(super) fn open(targets: &[Target], settings: &EngineSettings) -> Result<Box<dyn IoEngine>> {
    let buffers = IoBuffers::new(settings.depth, settings.block, settings.misalign)?;
    Ok(Box::new(Sync {
        targets: targets.to_vec(),
        buffers,
        ready: Ready::default(),
    }))
}

impl IoEngine for Sync {
    fn submit(&mut self, requests: &[IoRequest]) -> Result<usize> {
        let Some(request) = requests
            .first()
            .filter(|_| self.ready.waiting() < self.buffers.slots())
        else {
            return Ok(0);
        };
        let result = match Admission::admit(request, self.targets.len(), &mut self.buffers) {
            Admission::Refused => {
                self.ready.refused(request.tag);
                return Ok(1);
            }
            Admission::Sync => synchronize(self.targets[request.target].file(), request.transfer),
            Admission::Move(address) => {
                let result = transfer(self.targets[request.target].file(), request, address);
                self.buffers.give_back(request.slot);
                result
            }
        };
        self.ready
            .ended(request.tag, result.map_err(|error| number_of(&error)));
        Ok(1)
    }

    fn reap(&mut self, _least: usize, into: &mut Vec<IoCompletion>) -> Result<()> {
        self.ready.drain(into);
        Ok(())
    }

    fn buffers(&mut self) -> &mut IoBuffers {
        &mut self.buffers
    }
}

/// Carries out one pread or pwrite. The buffer at `address` must be lent to this operation and have
/// room for the bytes of `request`.
fn transfer(file: &File, request: &IoRequest, address: NonNull<u8>) -> io::Result<usize> {
    // SAFETY: the slot is lent to this operation alone and holds at least `bytes` initialized
    // bytes.
    let buffer = unsafe { std::slice::from_raw_parts_mut(address.as_ptr(), request.bytes) };
    match request.transfer {
        Transfer::Write => os::write_at(file, buffer, request.offset),
        _ => os::read_at(file, buffer, request.offset),
    }
}

/// Calls fsync or fdatasync. If a signal interrupts the call, it is repeated.
pub(crate) fn synchronize(file: &File, transfer: Transfer) -> io::Result<usize> {
    loop {
        let result = if transfer == Transfer::Sync {
            file.sync_all()
        } else {
            file.sync_data()
        };
        match result {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other.map(|()| 0),
        }
    }
}

/// The system's error number of `error`; EIO if it has none.
pub(crate) fn number_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(IO_ERROR)
}
