//! Work on cores and on single cache lines: instructions, operations on shared lines, hand-offs.

use kernels::{HandOff, Instruction, LockOperation, Timing};

/// One thread that repeats an instruction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstructionWork {
    /// The repeated instruction.
    pub instruction: Instruction,
    /// Says whether the instructions are independent, or each waits for the result of the previous
    /// one.
    pub timing: Timing,
    /// CPU of the thread.
    pub cpu: u32,
}

/// Threads that repeat an operation, all on one shared cache line or each on its own cache line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockWork {
    /// The repeated operation.
    pub operation: LockOperation,
    /// CPUs with one thread each.
    pub cpus: Vec<u32>,
    /// True if all threads use the same line, false if each thread has its own line.
    pub shared: bool,
    /// Number of dependent additions inside the operation, for example while a lock is held.
    pub inside: u32,
    /// Number of dependent additions between two operations.
    pub between: u32,
}

/// Two threads that hand a value back and forth.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandOffWork {
    /// Instructions with which the threads hand over the value.
    pub kernel: HandOff,
    /// CPU of the thread that starts every round trip, then CPU of the thread that answers.
    pub cpus: [u32; 2],
    /// Number of cache lines that are used in turn. Each thread is the first to touch half of them.
    pub lines: u32,
}
