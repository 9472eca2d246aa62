//! Engine that copies from and to a mapping of the file. Page faults transfer the data.

use super::{
    Admission, EngineSettings, IoBuffers, IoCompletion, IoEngine, IoRequest, Ready, Target,
    TargetKind, Transfer, number_of, synchronize,
};
use crate::os;
use std::io;
use std::ptr::NonNull;
use units::error::{Error, Result};

struct Mmap {
    mappings: Vec<os::FileMapping>,
    targets: Vec<Target>,
    buffers: IoBuffers,
    ready: Ready,
}

/// `Ok` if this system can map files. The error is the reason why not.
pub(super) fn availability() -> std::result::Result<(), String> {
    os::file_mapping_availability()
}

pub(super) fn open(targets: &[Target], settings: &EngineSettings) -> Result<Box<dyn IoEngine>> {
    let map = |target: &Target| {
        os::FileMapping::map(target.file(), target.size(), target.is_writable()).map_err(|error| {
            let path = target.path().display();
            Error::failure(format!(
                "cannot map {path} into memory: {error}; use --engine sync"
            ))
        })
    };
    let mappings = targets.iter().map(map).collect::<Result<_>>()?;
    let buffers = IoBuffers::new(settings.depth, settings.block, settings.misalign)?;
    Ok(Box::new(Mmap {
        mappings,
        targets: targets.to_vec(),
        buffers,
        ready: Ready::default(),
    }))
}

impl Mmap {
    /// Carries out a valid request. `address` is the address of its buffer; `None` for a sync.
    fn carry_out(&self, request: &IoRequest, address: Option<NonNull<u8>>) -> io::Result<usize> {
        let target = &self.targets[request.target];
        let mapping = &self.mappings[request.target];
        let Some(address) = address else {
            if target.is_writable() {
                mapping.sync()?;
            }
            return synchronize(target.file(), request.transfer);
        };
        // Accesses to pages after the end of a file raise a signal, and the rest of the last page
        // is not part of the file.
        let size = match target.kind() {
            TargetKind::BlockDevice => target.size(),
            _ => os::current_size(target.file())?.min(target.size()),
        };
        let bytes = size
            .saturating_sub(request.offset)
            .min(request.bytes as u64) as usize;
        if bytes == 0 {
            return Ok(0);
        }
        let offset = usize::try_from(request.offset)
            .map_err(|_| io::Error::from_raw_os_error(os::EINVAL))?;
        // SAFETY: the slot is lent to this operation alone and holds at least `bytes` initialized
        // bytes.
        let buffer = unsafe { std::slice::from_raw_parts_mut(address.as_ptr(), bytes) };
        match request.transfer {
            Transfer::Write if !target.is_writable() => {
                return Err(io::Error::from_raw_os_error(os::EBADF));
            }
            Transfer::Write => mapping.write(offset, buffer)?,
            _ => mapping.read(offset, buffer)?,
        }
        Ok(bytes)
    }
}

impl IoEngine for Mmap {
    fn submit(&mut self, requests: &[IoRequest]) -> Result<usize> {
        let Some(request) = requests
            .first()
            .filter(|_| self.ready.waiting() < self.buffers.slots())
        else {
            return Ok(0);
        };
        let address = match Admission::admit(request, self.targets.len(), &mut self.buffers) {
            Admission::Refused => {
                self.ready.refused(request.tag);
                return Ok(1);
            }
            Admission::Sync => None,
            Admission::Move(address) => Some(address),
        };
        let result = self.carry_out(request, address);
        if address.is_some() {
            self.buffers.give_back(request.slot);
        }
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
