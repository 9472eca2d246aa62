//! Reference measurements of a core. A chain of register additions, one per cycle on every
//! processor of the last decades, shows its clock. Independent instructions show how many it begins
//! per cycle, which is fewer if another hardware thread uses the core.

use super::native;

/// Instructions per block of a reference measurement.
pub const REFERENCE_INSTRUCTIONS_PER_BLOCK: u64 = 128;

/// Reference measurement of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreReference {
    /// Each instruction needs the one before it.
    ///
    /// Register plus register: additions of a constant are folded away at rename by some cores
    /// (Golden Cove on).
    DependentAdds,
    /// None needs another one.
    Independent,
}

impl CoreReference {
    /// Both.
    pub const ALL: [CoreReference; 2] = [CoreReference::DependentAdds, CoreReference::Independent];

    /// Its name in lists of kernels.
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
            // SAFETY: touches registers only, uses baseline instructions only, and ends after
            // `part` turns, at least one.
            unsafe { (self.kernel())(part) };
            left -= part as u64;
        }
    }

    /// Digest of its machine code.
    pub fn digest(self) -> Option<String> {
        // SAFETY: it is a kernel.
        unsafe { super::digest::digest_of(self.kernel() as *const u8) }
    }

    /// Its machine code.
    pub fn code(self) -> Option<Vec<u8>> {
        // SAFETY: it is a kernel.
        unsafe { super::digest::body_of(self.kernel() as *const u8) }
    }

    pub(super) fn kernel(self) -> super::abi::kernel_fn!(usize) {
        match self {
            CoreReference::DependentAdds => native::ADD,
            CoreReference::Independent => native::ISSUE,
        }
    }
}

/// Does `blocks` × [`REFERENCE_INSTRUCTIONS_PER_BLOCK`] additions, each of which needs the one
/// before it.
pub fn dependent_adds(blocks: u64) {
    CoreReference::DependentAdds.run(blocks);
}
