//! Common part of engines: validation of requests, and completions that wait to be reaped.

use super::{INVALID, IoBuffers, IoCompletion, IoRequest};
use crate::counter;
use std::collections::VecDeque;
use std::ptr::NonNull;

/// Completions that were not reaped yet.
#[derive(Debug, Default)]
pub(crate) struct Ready(VecDeque<IoCompletion>);

impl Ready {
    /// Records the end of an operation at this moment.
    pub(crate) fn ended(&mut self, tag: u64, result: Result<usize, i32>) {
        self.0.push_back(IoCompletion {
            tag,
            result,
            at: counter::ticks(),
        });
    }

    /// Records an invalid request.
    pub(crate) fn refused(&mut self, tag: u64) {
        self.ended(tag, Err(INVALID));
    }

    /// Number of completions.
    pub(crate) fn waiting(&self) -> usize {
        self.0.len()
    }

    /// Hands over all completions.
    pub(crate) fn drain(&mut self, into: &mut Vec<IoCompletion>) {
        into.extend(self.0.drain(..));
    }
}

/// Result of validating a request.
pub(crate) enum Admission {
    /// Valid transfer from or to this address; the slot is lent.
    Move(NonNull<u8>),
    /// Valid sync, which needs no buffer.
    Sync,
    /// Invalid request.
    Refused,
}

impl Admission {
    /// Validates a request for an engine with `targets` targets, and lends the slot if it moves
    /// data.
    pub(crate) fn admit(request: &IoRequest, targets: usize, buffers: &mut IoBuffers) -> Admission {
        let known = request.target < targets;
        if !request.transfer.moves_data() {
            return if known {
                Admission::Sync
            } else {
                Admission::Refused
            };
        }
        // Systems use signed offsets, and some take a negative one as "at the current position".
        let end = request.offset.checked_add(request.bytes as u64);
        let sound = known
            && request.bytes <= buffers.block()
            && end.is_some_and(|end| i64::try_from(end).is_ok());
        match sound.then(|| buffers.lend(request.slot)).flatten() {
            Some(address) => Admission::Move(address),
            None => Admission::Refused,
        }
    }
}
