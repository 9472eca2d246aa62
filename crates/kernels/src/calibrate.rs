//! Reference measurements of a core. A chain of dependent register additions takes one clock cycle
//! per addition on every processor of the last decades. The time of the chain therefore gives the
//! core clock. Independent instructions give the number of instructions issued per clock cycle.
//! This number drops if another hardware thread uses the core.

use super::native;

/// Number of instructions in a block: one iteration of the loop of a reference measurement.
pub const REFERENCE_INSTRUCTIONS_PER_BLOCK: u64 = 128;

/// A reference measurement of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreReference {
    /// Additions in one chain: each addition needs the result of the previous addition.
    ///
    /// The operands are two registers, because some cores (Golden Cove and later) eliminate
    /// additions of a constant at register renaming.
    DependentAdds,
    /// Instructions that do not depend on each other.
    Independent,
}

impl CoreReference {
    /// Every reference measurement.
    pub const ALL: [CoreReference; 2] = [CoreReference::DependentAdds, CoreReference::Independent];

    /// Name in lists of kernels.
    pub fn name(self) -> &'static str {
        match self {
            CoreReference::DependentAdds => "dependent-adds",
            CoreReference::Independent => "independent",
        }
    }

    /// Executes `blocks` × [`REFERENCE_INSTRUCTIONS_PER_BLOCK`] instructions of this measurement.
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

    /// Digest of the machine code of this measurement; `None` if the end mark is missing.
    pub fn digest(self) -> Option<String> {
        // SAFETY: the address is that of a kernel.
        unsafe { super::digest::digest_of(self.kernel() as *const u8) }
    }

    /// The machine code of this measurement; `None` if the end mark is missing.
    pub fn code(self) -> Option<Vec<u8>> {
        // SAFETY: the address is that of a kernel.
        unsafe { super::digest::body_of(self.kernel() as *const u8) }
    }

    pub(super) fn kernel(self) -> super::abi::kernel_fn!(usize) {
        match self {
            CoreReference::DependentAdds => native::DEPENDENT_ADDS,
            CoreReference::Independent => native::INDEPENDENT,
        }
    }
}

/// Executes `blocks` × [`REFERENCE_INSTRUCTIONS_PER_BLOCK`] dependent additions.
pub fn dependent_adds(blocks: u64) {
    CoreReference::DependentAdds.run(blocks);
}
