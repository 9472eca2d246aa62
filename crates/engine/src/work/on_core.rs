//! Work on cores and on single cache lines: instructions, locks, hand-offs.

use kernels::{HandOff, Instruction, LockOperation, Timing};

/// One thread that repeats an instruction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstructionWork {
    /// Which one.
    pub instruction: Instruction,
    /// Independent ones, or each waiting for the one before.
    pub timing: Timing,
    /// The CPU that does it.
    pub cpu: u32,
}

/// Threads that repeat an operation on a shared line, or each on its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockWork {
    /// Operation of the threads.
    pub operation: LockOperation,
    /// One thread on each of these CPUs.
    pub cpus: Vec<u32>,
    /// Whether all do it on the same line.
    pub shared: bool,
    /// Dependent additions inside.
    pub inside: u32,
    /// Dependent additions between one operation and the next.
    pub between: u32,
}

/// Two threads that hand a value to and fro.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandOffWork {
    /// How they take and answer it.
    pub kernel: HandOff,
    /// The CPU of the one that starts every round trip, and that of the one that answers.
    pub cpus: [u32; 2],
    /// Cache lines that serve in turn, half of them first touched by each of the two.
    pub lines: u32,
}
