//! The measured instructions: contracts of the kernels, rows of machine code for each instruction
//! set, and the only safe ways to run them.
//!
//! A [`Contract`] defines once, for all instruction sets, what a kernel does to memory. A [`Set`]
//! is one register width of one instruction set. Its rows are assembly in a skeleton shared by the
//! set. `StreamRows` has a field for every contract, so a set without one of them does not compile.
//! An operation that an instruction set cannot do is an explicit `Row::Unsupported` with its
//! reason.

mod abi;
mod calibrate;
mod catalogue;
mod chase;
mod contract;
mod digest;
mod handoff;
mod instructions;
mod libc;
mod lines;
mod locks;
#[cfg(test)]
#[path = "tests/loops.rs"]
mod loop_tests;
mod mixer;
mod oracle;
mod row;
mod select;
mod sets;
mod stream;
mod stream_call;
mod table;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod x86_shared;

#[cfg(target_arch = "aarch64")]
#[path = "aarch64/mod.rs"]
mod native;
#[cfg(target_arch = "arm")]
#[path = "arm/mod.rs"]
mod native;
#[cfg(target_arch = "riscv64")]
#[path = "riscv64/mod.rs"]
mod native;
#[cfg(target_arch = "x86")]
#[path = "x86/mod.rs"]
mod native;
#[cfg(target_arch = "x86_64")]
#[path = "x86_64/mod.rs"]
mod native;

#[cfg(not(any(
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "riscv64",
    target_arch = "x86",
    target_arch = "x86_64"
)))]
compile_error!(
    "memgauge has no kernels for this architecture; other instruction sets need a folder of rows in crates/kernels/src"
);

pub use calibrate::{CoreReference, REFERENCE_INSTRUCTIONS_PER_BLOCK, dependent_adds};
pub use catalogue::{Listing, catalogue};
pub use chase::{
    Chain, ClosedPart, HOPS_PER_BLOCK, MAX_WALKERS, UnverifiedChain, Walk, chase_code,
    chase_digest, chase_name, hops_per_block,
};
pub use contract::{AccessOrder, CONTRACTS, CodeOrigin, Contract, Does, Family, Operation, Policy};
pub use handoff::HandOff;
pub use instructions::{
    Instruction, InstructionKernel, ListedInstruction, Scratch, Timing, all_instructions,
    instruction,
};
pub use locks::{ListedLock, LockKernel, LockOperation, SharedLine, all_locks, lock};
pub use mixer::Mixer;
pub use oracle::{apply as oracle, visit};
pub use select::{Width, all_rows, select, sets};
pub use sets::{KernelRow, Set, SetId};
pub use stream::{StreamKernel, StreamWalk};
pub use stream_call::{BLOCK_BYTES, PREFETCH_DISTANCE};
pub use table::{IndexTable, LINE_BYTES, LONGEST_ORDERED};
