//! Row of a set for one contract.

use super::stream_call::StreamCode;

/// Row of a set for one contract: its code, or the reason why there is none.
#[derive(Debug, Clone, Copy)]
#[allow(dead_code, reason = "not every architecture has rows of every kind")]
pub(super) enum Row {
    /// Machine code.
    Code(StreamCode),
    /// Machine code that needs more than its set: the check of the additional feature, and its
    /// name.
    Needs(fn() -> bool, &'static str, StreamCode),
    /// Code of the C library, without a digest.
    ReferenceKernel(StreamCode),
    /// The instruction set cannot do the operation; the reason.
    Unsupported(&'static str),
}

impl Row {
    /// The machine code whose digest is part of a report; `None` for other rows.
    pub(super) fn assembly(self) -> Option<StreamCode> {
        match self {
            Row::Code(code) | Row::Needs(_, _, code) => Some(code),
            Row::ReferenceKernel(_) | Row::Unsupported(_) => None,
        }
    }
}

/// Reason why a kernel that needs `needs` cannot run here.
pub(super) fn lacks(needs: &str) -> String {
    format!("this processor or system lacks {needs}")
}
