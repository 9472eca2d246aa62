//! Reference measurements of a core. A chain of register additions shows the core clock: every
//! processor of the last decades does one per cycle. Independent instructions show how many the
//! core issues per cycle. They are fewer if another hardware thread uses the core.

use super::native;

/// Instructions per block of a reference measurement.
pub const REFERENCE_INSTRUCTIONS_PER_BLOCK: u64 = 128;

/// A reference measurement of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreReference {
    /// Each instruction needs the result of the previous one.
    ///
    /// The additions are register plus register, because some cores (Golden Cove and later) fold
    /// additions of a constant away at rename.
    DependentAdds,
    /// Instructions that do not need each other.
    Independent,
}

impl CoreReference {
    /// Both measurements.
    pub const ALL: [CoreReference; 2] = [CoreReference::DependentAdds, CoreReference::Independent];

    /// Name in lists of kernels.
    pub fn name(self) -> &'static str {
        match self {
            CoreReference::DependentAdds => "dependent-adds",
            CoreReference::Independent => "independent",
        }
    }

    /// Does `blocks` × [`REFERENCE_INSTRUCTIONS_PER_BLOCK`] of its instructions.
    pub fn run(self, blocks: u64) {
        let mut left = blocks;
        while left > 0 {
            let part = usize::try_from(left).unwrap_or(usize::MAX);
            // SAFETY: the code touches registers only, uses baseline instructions only, and ends
            // after `part` iterations, at least one.
            unsafe { (self.kernel())(part) };
            left -= part as u64;
        }
    }

    /// Digest of the machine code.
    pub fn digest(self) -> Option<String> {
        // SAFETY: it is a kernel.
        unsafe { super::digest::digest_of(self.kernel() as *const u8) }
    }

    /// The machine code.
    pub fn code(self) -> Option<Vec<u8>> {
        // SAFETY: it is a kernel.
        unsafe { super::digest::body_of(self.kernel() as *const u8) }
    }

    pub(super) fn kernel(self) -> super::abi::kernel_fn!(usize) {
        match self {
            CoreReference::DependentAdds => native::DEPENDENT_ADDS,
            CoreReference::Independent => native::INDEPENDENT,
        }
    }
}

/// Does `blocks` × [`REFERENCE_INSTRUCTIONS_PER_BLOCK`] dependent additions.
pub fn dependent_adds(blocks: u64) {
    CoreReference::DependentAdds.run(blocks);
}
