//! What the real machine has ready for the next samples.

use super::handoff::HandOffRun;
use super::loaded::LoadedRun;
use super::runs::{ChaseRun, InstructionRun, LockRun, StreamRun};
use std::sync::Arc;

/// What the next samples run on.
#[derive(Debug, Clone)]
pub(super) enum Prepared {
    Stream(Arc<StreamRun>),
    Chase(Arc<ChaseRun>),
    Instruction(Arc<InstructionRun>),
    Lock(Arc<LockRun>),
    HandOff(Arc<HandOffRun>),
    Loaded(Arc<LoadedRun>),
}

impl Prepared {
    /// How far what streams stands in its pass over memory, from 0 to 1; `None` where nothing does.
    pub fn share(&self) -> Option<f64> {
        match self {
            Prepared::Stream(run) => Some(run.share()),
            Prepared::Loaded(run) => Some(run.share()),
            _ => None,
        }
    }

    /// Lets what streams begin at this share of a pass.
    pub fn start_at(&self, share: f64) {
        match self {
            Prepared::Stream(run) => run.start_at(share),
            Prepared::Loaded(run) => run.start_at(share),
            _ => {}
        }
    }
}
