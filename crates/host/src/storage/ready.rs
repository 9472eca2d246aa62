//! Common part of engines: requests that may be carried out, and completions that wait to be
//! reaped.

use super::{INVALID, IoBuffers, IoCompletion, IoRequest};
use crate::counter;
use std::collections::VecDeque;
use std::ptr::NonNull;

/// Completions that are known but not reaped yet.
#[derive(Debug, Default)]
pub(crate) struct Ready(VecDeque<IoCompletion>);

impl Ready {
    /// Notes the end of an operation at this moment.
    pub(crate) fn ended(&mut self, tag: u64, result: Result<usize, i32>) {
        self.0.push_back(IoCompletion {
            tag,
            result,
            at: counter::ticks(),
        });
    }

    /// Notes a request that no engine can carry out.
    pub(crate) fn refused(&mut self, tag: u64) {
        self.ended(tag, Err(INVALID));
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.0.len()
    }

    /// Hands all of them over.
    pub(crate) fn drain(&mut self, into: &mut Vec<IoCompletion>) {
        into.extend(self.0.drain(..));
    }
}

/// Whether a request can be carried out.
pub(crate) enum Admission {
    /// Data moves to or from this address; the slot is lent.
    Move(NonNull<u8>),
    /// A sync, which needs no buffer.
    Sync,
    /// It names something that there is not.
    Refused,
}

impl Admission {
    /// Judges a request for an engine of `targets` targets, and lends the slot of one that moves
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
        // Systems count offsets with a sign, and some take a negative one for "where the file
        // stands".
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
