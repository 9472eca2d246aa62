//! The table row of a register set for one contract.

use super::stream_call::StreamCode;

/// The table row of a register set for one contract: a kernel, or the reason why there is none.
#[derive(Debug, Clone, Copy)]
#[allow(dead_code, reason = "not every architecture has rows of every kind")]
pub(super) enum Row {
    /// Machine code.
    Code(StreamCode),
    /// A function that checks for a further feature that the set does not need, the name of this
    /// feature, and the machine code.
    Needs(fn() -> bool, &'static str, StreamCode),
    /// Code of the C library, without a digest.
    ReferenceKernel(StreamCode),
    /// Reason why the instruction set cannot do the operation.
    Unsupported(&'static str),
}

impl Row {
    /// The machine code, if it is assembly of this program, whose digest is part of a report.
    /// `None` for code of the C library and for unsupported rows.
    pub(super) fn assembly(self) -> Option<StreamCode> {
        match self {
            Row::Code(code) | Row::Needs(_, _, code) => Some(code),
            Row::ReferenceKernel(_) | Row::Unsupported(_) => None,
        }
    }
}

/// Message that a kernel cannot run here, because the features `needs` are missing.
pub(super) fn lacks(needs: &str) -> String {
    format!("this processor or system lacks {needs}")
}
