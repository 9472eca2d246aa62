//! Common parts of engines: the validation of requests, and the completions that wait to be reaped.

use super::{INVALID, IoBuffers, IoCompletion, IoRequest};
use crate::counter;
use std::collections::VecDeque;
use std::ptr::NonNull;

/// Completions that have not been reaped.
#[derive(Debug, Default)]
pub(crate) struct Ready(VecDeque<IoCompletion>);

impl Ready {
    /// Records that the operation with the tag `tag` ended now.
    pub(crate) fn ended(&mut self, tag: u64, result: Result<usize, i32>) {
        self.0.push_back(IoCompletion {
            tag,
            result,
            at: counter::ticks(),
        });
    }

    /// Records a completion with the error [`INVALID`] for an invalid request.
    pub(crate) fn refused(&mut self, tag: u64) {
        self.ended(tag, Err(INVALID));
    }

    /// Number of completions that wait to be reaped.
    pub(crate) fn waiting(&self) -> usize {
        self.0.len()
    }

    /// Moves all completions to `into`.
    pub(crate) fn drain(&mut self, into: &mut Vec<IoCompletion>) {
        into.extend(self.0.drain(..));
    }
}

/// Result of validating a request.
pub(crate) enum Admission {
    /// The request is a valid transfer from or to this address, and its buffer was lent.
    Move(NonNull<u8>),
    /// The request is a valid sync, which needs no buffer.
    Sync,
    /// The request is invalid.
    Refused,
}

impl Admission {
    /// Validates `request` for an engine with `targets` targets. Lends the buffer of its slot if
    /// the request transfers data.
    pub(crate) fn admit(request: &IoRequest, targets: usize, buffers: &mut IoBuffers) -> Admission {
        let known = request.target < targets;
        if !request.transfer.moves_data() {
            return if known {
                Admission::Sync
            } else {
                Admission::Refused
            };
        }
        // Systems use signed offsets, and on some a negative offset means the current position.
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
