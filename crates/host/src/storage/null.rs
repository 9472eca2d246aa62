//! Engine that transfers no data. Every operation is complete at once.

use super::{
    Admission, EngineSettings, IoBuffers, IoCompletion, IoEngine, IoRequest, Ready, Target,
};
use units::error::Result;

struct Null {
    targets: usize,
    buffers: IoBuffers,
    ready: Ready,
}

/// Always `Ok`, because the engine needs nothing from the system.
pub(super) fn availability() -> std::result::Result<(), String> {
    Ok(())
}

pub(super) fn open(targets: &[Target], settings: &EngineSettings) -> Result<Box<dyn IoEngine>> {
    let buffers = IoBuffers::new(settings.depth, settings.block, settings.misalign)?;
    Ok(Box::new(Null {
        targets: targets.len(),
        buffers,
        ready: Ready::default(),
    }))
}

impl IoEngine for Null {
    fn submit(&mut self, requests: &[IoRequest]) -> Result<usize> {
        let room = self.buffers.slots().saturating_sub(self.ready.waiting());
        let taken = &requests[..room.min(requests.len())];
        for request in taken {
            match Admission::admit(request, self.targets, &mut self.buffers) {
                Admission::Move(_) => {
                    self.buffers.give_back(request.slot);
                    self.ready.ended(request.tag, Ok(request.bytes));
                }
                Admission::Sync => self.ready.ended(request.tag, Ok(0)),
                Admission::Refused => self.ready.refused(request.tag),
            }
        }
        Ok(taken.len())
    }

    fn reap(&mut self, _least: usize, into: &mut Vec<IoCompletion>) -> Result<()> {
        self.ready.drain(into);
        Ok(())
    }

    fn buffers(&mut self) -> &mut IoBuffers {
        &mut self.buffers
    }
}
